# SPDX-License-Identifier: MIT
"""Options of the connector for writing, given after its name."""

import numpy as np
import pytest
import zarr
from conftest import put, run, run_python

CUT = """
import sys, json, h5py, numpy as np
with h5py.File(sys.argv[1], "w") as f:
    f.create_dataset("given", (100, 100), "i4", chunks=(10, 10))
    f.create_dataset("free", (100, 100), "i4")
    f.create_dataset("line", (100,), "i4")
    f["given"][...] = f["free"][...] = np.arange(10000).reshape(100, 100)
    assert (f["given"][...] == f["free"][...]).all()
for name in ("given", "free", "line"):
    a = json.load(open(f"{sys.argv[1]}/{name}/zarr.json"))
    outer, first = a["chunk_grid"]["configuration"]["chunk_shape"], a["codecs"][0]
    sharded = first["name"] == "sharding_indexed"
    print(name, outer if sharded else None,
          first["configuration"]["chunk_shape"] if sharded else outer)
"""


@pytest.mark.parametrize("options, want", [
    ("", ["given None [10, 10]", "free None [100, 100]", "line None [100]"]),
    ("chunks=20x50", ["given None [10, 10]", "free None [20, 50]", "line None [100]"]),
    ("shards=45x100;chunks=7x50",
     ["given [50, 100] [10, 10]", "free [49, 100] [7, 50]", "line None [100]"]),
    ("under_vol=0;under_info={};shards=off;chunks=8 sync=close",
     ["given None [10, 10]", "free None [100, 100]", "line None [8]"]),
    ("sync=always", ["given None [10, 10]", "free None [100, 100]", "line None [100]"]),
])
def test_options(tmp_path, options, want):
    out = run_python(CUT, tmp_path / "x.zarr", connector=f"zarr {options}")
    assert out.splitlines() == want


SHOWN = """
import sys, h5py
with h5py.File(sys.argv[1], "r+") as f:
    d = f["d"]
    calls = [d.id.get_num_chunks, lambda: d.id.get_chunk_info(0), lambda: d.id.read_direct_chunk((0, 4)),
             lambda: d.id.write_direct_chunk((0, 4), bytes(256)), lambda: d.id.chunk_iter(print)]
    print(d.chunks)
    for call in calls:
        try:
            print(call())
        except (OSError, RuntimeError) as error:
            print("show=shards" in str(error))
"""


def test_places_of_chunks_are_not_told_for_shards(tmp_path):
    """Inner chunks begin where no shown chunk does: what was read or written there was no chunk."""
    a = zarr.open_group(tmp_path / "x.zarr", mode="w").create_array("d", shape=(16, 16), shards=(8, 8),
                                                                    chunks=(4, 4), dtype="i4")
    a[...] = 1
    out = run_python(SHOWN, tmp_path / "x.zarr", connector="zarr show=shards")
    assert out.splitlines() == ["(8, 8)"] + ["True"] * 5
    assert (a[...] == 1).all()


WRONG = ["store=some", "shards=", "shards=0x3", "shards=8x", "chunks=off", "sync=yes", "shards", "chunk=8",
         "strategy=old", "chunks=99999999999999999999", "shard=64x64", "sync=close;nativ_compat=0",
         "under_vol=0;" + "x" * 200, "chunks=" + "1x" * 40 + "1"]

REFUSED = """
import sys, h5py
for name in ("x.zarr", "n.h5"):
    for mode in "wxar":
        try:
            h5py.File(sys.argv[1] + "/" + name, mode)
        except OSError as error:
            assert f"no option '{sys.argv[2][:60]}" in str(error), error
        else:
            raise AssertionError(name + mode)
"""


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_options(tmp_path, wrong):
    """Wrong options open and create nothing: above all, no HDF5 file under a store's name."""
    done = run(["h5ls", "--vol-name=zarr", f"--vol-info={wrong}", tmp_path], None)
    assert done.returncode != 0
    run_python(REFUSED, tmp_path, wrong.split(";")[-1], connector=f"zarr {wrong}")
    assert not list(tmp_path.iterdir())


APPEND = """
import os, sys, h5py, numpy as np
path = sys.argv[1]
with h5py.File(path, "r+") as f:
    size = lambda: os.path.getsize(path + "/d/c/0")
    before = size()
    f["d"][3] = 7
    f["d"].flush()
    assert f["d"][3] == 7 and f["d"][4] == 4
    print(size() - before)
"""


EVERY_NAME = """
import os, sys, h5py
os.chdir(sys.argv[1])
with h5py.File("a.h5", "w") as f:
    f["d"] = [1, 2, 3]
assert os.path.isfile("a.h5/zarr.json")
with h5py.File("a.h5", "w") as f:  # a store is replaced
    f["e"] = 1
with h5py.File("a.h5") as f:
    assert list(f) == ["e"]
with h5py.File("old.h5") as f:
    assert f["x"][()] == 7
try:
    h5py.File("old.h5", "w")
except OSError as error:
    assert "old.h5" in str(error), error
else:
    raise AssertionError("an HDF5 file was replaced")
"""


def test_store_all(tmp_path):
    """New files are stores under every name; HDF5 files stay."""
    run_python("import sys, h5py\nh5py.File(sys.argv[1], 'w')['x'] = 7", tmp_path / "old.h5")
    run_python(EVERY_NAME, tmp_path, connector="zarr store=all")


@pytest.mark.parametrize("strategy, grows", [("rewrite", False), ("append", True)])
def test_strategy(new_store, strategy, grows):
    """Appending leaves the old inner chunk in the shard."""
    path, group = new_store()
    put(group, "d", np.arange(1000), chunks=(100,), shards=(1000,), compressors=None)
    grown = int(run_python(APPEND, path, connector=f"zarr strategy={strategy}"))
    assert (grown >= 800) == grows
    assert list(group["d"][2:5]) == [2, 7, 4]


FLAGS = """
import ctypes, h5py
from h5py import h5p
library = ctypes.CDLL(h5p.__file__)
library.H5Pget_vol_cap_flags.argtypes = [ctypes.c_int64, ctypes.c_void_p]
library.H5VLregister_connector_by_name.argtypes = [ctypes.c_char_p, ctypes.c_int64]
library.H5VLregister_connector_by_name.restype = ctypes.c_int64
library.H5Pset_vol.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
fapl, flags = h5p.create(h5p.FILE_ACCESS), ctypes.c_uint64()
if %d:
    zarr = library.H5VLregister_connector_by_name(b"zarr", 0)
    assert zarr > 0 and library.H5Pset_vol(fapl.id, zarr, None) >= 0
assert library.H5Pget_vol_cap_flags(fapl.id, ctypes.byref(flags)) >= 0
print(flags.value)
"""
ATTR_BASIC = 0x0008


def flags(connector, explicit=False):
    return int(run_python(FLAGS % explicit, connector=connector))


def test_abilities_of_a_list():
    native, stores = flags(None), flags("zarr store=all")
    assert flags("zarr") == native and flags("zarr sync=close;store=auto") == native
    assert stores != native and stores & ATTR_BASIC and not stores & ~native & ~1  # 1: thread-safe
    assert flags(None, explicit=True) == stores


@pytest.mark.parametrize("value, printed", [("1", True), ("", False), ("0", False), (None, False)])
def test_messages_on_stderr(tmp_path, monkeypatch, value, printed):
    path = tmp_path / "x.zarr"
    put(zarr.open_group(str(path), mode="w", zarr_format=3), "d", np.arange(3))
    (path / "d" / "zarr.json").write_text("{")
    monkeypatch.delenv("ZARRBRIDGE_VERBOSE", raising=False)
    if value is not None:
        monkeypatch.setenv("ZARRBRIDGE_VERBOSE", value)
    done = run(["h5copy", "-i", path, "-o", tmp_path / "y.zarr", "-s", "d", "-d", "d"], "zarr")
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("zarrbridge: ")]
    assert any("zarr.json: line 1" in line for line in lines) if printed else not lines
