# SPDX-License-Identifier: MIT
"""What is no Zarr store says what it is, through h5py, GDAL and the command line."""

import json
import os
import subprocess
import zipfile

import h5py
import pytest


def make_zip(path):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("data/zarr.txt", "{}")


def make_references(path):
    with open(path, "w") as file:
        json.dump({"version": 1, "refs": {".zgroup": "{}"}}, file)


def make_n5(path):
    os.mkdir(path)
    with open(os.path.join(path, "attributes.json"), "w") as file:
        file.write('{"n5": "2.5.0"}')


def make_icechunk(path):
    for name in ("refs/branch.main", "snapshots", "manifests"):
        os.makedirs(os.path.join(path, name))


KINDS = {
    "zip": ("x.zarr.zip", make_zip, "zip file"),
    "kerchunk": ("x.json", make_references, "kerchunk reference"),
    "n5": ("x.n5", make_n5, "N5"),
    "icechunk": ("x", make_icechunk, "Icechunk"),
}


@pytest.fixture(params=KINDS)
def foreign(request, tmp_path):
    name, make, text = KINDS[request.param]
    path = str(tmp_path / name)
    make(path)
    return path, text


def test_h5py(foreign):
    path, text = foreign
    with pytest.raises(OSError, match=text) as caught:
        h5py.File(path, "r")
    assert caught.value.errno and path in str(caught.value)
    assert not h5py.is_hdf5(path)


def test_other_files_have_hdf5s_own_errors(tmp_path):
    (tmp_path / "x.h5").write_text("no HDF5")
    with pytest.raises(OSError, match="signature not found"):
        h5py.File(tmp_path / "x.h5", "r")
    with pytest.raises(FileNotFoundError):
        h5py.File(tmp_path / "y.h5", "r")
    with pytest.raises(FileNotFoundError):
        h5py.File("https://example.invalid/x.h5", "r")


def test_gdal(foreign):
    gdal = pytest.importorskip("osgeo.gdal")
    gdal.UseExceptions()
    path, text = foreign
    with pytest.raises(RuntimeError, match=text):
        gdal.Open(f'ZARR3:"{path}"')


def test_command_line(foreign):
    path, text = foreign
    program = os.path.join(os.environ["ZARRBRIDGE_BUILD_DIR"], "core", "zarrbridge")
    done = subprocess.run([program, "verify", path], capture_output=True, text=True)
    assert done.returncode == 2 and text in done.stderr
