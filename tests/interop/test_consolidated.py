# SPDX-License-Identifier: MIT
"""Consolidated metadata while h5py and GDAL change a store: a block is in the store only while it is
true, it comes back once for each flush or close, and as zarr-python itself would make it."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import zarr

import forked

NOTE = ".zarrbridge-consolidated"
H5PY = "import h5py, numpy as np, os, signal, sys; f = h5py.File(sys.argv[1], 'r+')\n"
GDAL = """
from osgeo import gdal
import numpy as np, os, signal, sys
gdal.UseExceptions()
source = gdal.GetDriverByName('MEM').Create('', 5, 4, 1, gdal.GDT_UInt16)
source.WriteArray(np.full((4, 5), 7, 'u2'))
def append(name):
    out = gdal.GetDriverByName('Zarr3').CreateCopy(
        sys.argv[1], source, options=['APPEND_SUBDATASET=YES', 'ARRAY_NAME=' + name])
    return out
"""


@pytest.fixture
def path(tmp_path):
    path = str(tmp_path / "z.zarr")
    root = zarr.open_group(path, mode="w", zarr_format=3, attributes={"made": "by peer"})
    root.create_array("b/x", shape=(4,), dtype="int32", chunks=(2,))
    zarr.consolidate_metadata(path)
    return path


def document(path):
    with open(os.path.join(path, "zarr.json")) as file:
        return json.load(file)


def has_block(path):
    return bool(document(path).get("consolidated_metadata"))


def run(code, path, killed=False):
    environment = {**os.environ, "HDF5_VOL_CONNECTOR": "zarr"}
    done = forked.run(code, path, env=environment, timeout=600)
    assert done.returncode == (-9 if killed else 0), done.stderr
    return done.stdout


def expect_block(path):
    """The block is there, and zarr-python makes the same one of the nodes."""
    ours = document(path)["consolidated_metadata"]["metadata"]
    assert not os.path.exists(os.path.join(path, NOTE))
    zarr.consolidate_metadata(path)
    assert ours == document(path)["consolidated_metadata"]["metadata"]


def test_h5py(path):
    out = run(H5PY + """
def block():
    print('"metadata"' in open(sys.argv[1] + '/zarr.json').read())
f['b/x'].attrs['units'] = 'K'
for i in range(20):
    f.create_dataset(f'new/d{i}', data=np.arange(i + 1))
f.attrs['title'] = 'root'
block()
f.flush()
block()
del f['new/d3']
f.move('b/x', 'moved')
f['moved'].resize((9,))
block()
f.close()
block()
""", path)
    assert out.split() == ["False", "True", "False", "True"]
    expect_block(path)
    opened = zarr.open_group(path, mode="r", use_consolidated=True)
    assert dict(opened.attrs) == {"made": "by peer", "title": "root"}
    assert opened["moved"].shape == (9,) and len(opened["new"]) == 19


def test_gdal(path):
    pytest.importorskip("osgeo")
    run(GDAL + "for i in range(3): append(f'r{i}').Close()", path)
    expect_block(path)
    run(GDAL + """
out = gdal.OpenEx(f'ZARR3:"{sys.argv[1]}":/r1', gdal.OF_UPDATE)
out.SetMetadataItem('a', 'b')
out.GetRasterBand(1).SetNoDataValue(3)
out.Close()
""", path)
    expect_block(path)


KILL = "os.kill(os.getpid(), signal.SIGKILL)"


@pytest.mark.parametrize("code", [
    H5PY + "f.create_dataset('k', data=np.arange(4)); f['b/x'].attrs['a'] = 1\n" + KILL,
    H5PY + "f.create_dataset('k', data=np.arange(4)); f.flush()\n"
           "f.create_group('late')\n" + KILL,
    GDAL + "out = append('k')\nout.FlushCache()\nout.SetMetadataItem('a', 'b')\n"
           "out.FlushCache()\nappend('l')\n" + KILL,
], ids=["h5py", "h5py_flushed", "gdal"])
def test_killed(path, code):
    """What a killed writer leaves has no block that lies; the next writer puts it back."""
    if code.startswith("\nfrom osgeo"):
        pytest.importorskip("osgeo")
    run(code, path, killed=True)
    if has_block(path):
        expect_block(path)
    opened = zarr.open_group(path, mode="r")
    assert "k" in opened and "b/x" in opened
    run(H5PY + "f.create_group('next'); f.close()", path)
    expect_block(path)
    assert "k" in zarr.open_group(path, mode="r", use_consolidated=True)


def test_repair(path):
    run(H5PY + "f.create_group('g')\n" + KILL, path, killed=True)
    assert not has_block(path)
    program = os.path.join(os.environ["ZARRBRIDGE_BUILD_DIR"], "core", "zarrbridge")
    done = subprocess.run([program, "verify", path], capture_output=True, text=True)
    assert done.returncode == 1 and "consolidated metadata has been taken out" in done.stdout
    subprocess.run([program, "repair", path], check=True, capture_output=True)
    expect_block(path)
    assert subprocess.run([program, "verify", path], capture_output=True).returncode == 0


def test_the_time_for_each_node_does_not_grow(path):
    """By system calls, not by the clock: the root's document is written a few times in all."""
    values = np.arange(4)
    for i in range(300):
        zarr.create_array(path, name=f"p{i}", data=values)
    zarr.consolidate_metadata(path)
    out = run(H5PY + """
seen = set()
for i in range(200):
    f.create_group(f'g{i}')
    seen.add(os.stat(sys.argv[1] + '/zarr.json').st_ino)
print(len(seen))
f.close()
""", path)
    assert int(out) == 1
    expect_block(path)
