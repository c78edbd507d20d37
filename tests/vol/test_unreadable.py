# SPDX-License-Identifier: MIT
"""A node that cannot be read does not keep any program from the nodes beside it: it is a scalar
dataset that holds the reason as a text."""

import importlib.util
import json
import os
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from conftest import put, run_python, tool
from test_refresh import refresh

BAD = {"bad_codec": "lzma_of_mine", "bad_json": "line 1", "bad_type": "quaternion"}


def change(path, **members):
    document = json.loads(Path(path, "zarr.json").read_text())
    document.update(members)
    Path(path, "zarr.json").write_text(json.dumps(document))


@pytest.fixture
def path(tmp_path):
    """Coordinates and data as xarray writes them, and three nodes that cannot be read."""
    path = tmp_path / "z.zarr"
    root = zarr.open_group(path, mode="w", zarr_format=3, attributes={"title": "partly"})
    put(root, "x", np.arange(4.0), dimension_names=("x",))
    put(root, "good", np.arange(4.0) * 10, dimension_names=("x",), attributes={"units": "K"})
    for name in BAD:
        put(root, name, np.arange(4.0), dimension_names=("x",))
    put(root.create_group("sub"), "fine", np.arange(4.0), dimension_names=("x",))
    change(path / "bad_type", data_type="quaternion")
    change(path / "bad_codec", codecs=[{"name": "bytes"}, {"name": "lzma_of_mine"}])
    (path / "bad_json" / "zarr.json").write_text('{"zarr_format": 3,')
    return str(path)


def expect_reason(dataset, reason):
    assert dataset.shape == () and dataset.dtype.kind == "S"
    text = dataset[()].decode()
    assert text.startswith("cannot be read: ") and reason in text
    assert dataset.attrs["zarr:unreadable"] == text.removeprefix("cannot be read: ")


def test_h5py(path):
    with h5py.File(path, "r") as f:
        assert list(f) == sorted([*BAD, "good", "sub", "x"])
        for name, reason in BAD.items():
            expect_reason(f[name], reason)
            assert isinstance(f.get(name, getlink=True), h5py.HardLink)
            assert f.get(name, getclass=True) is h5py.Dataset
            assert f[f[name].ref] == f[name]
            with pytest.raises((KeyError, OSError), match=reason):
                f[name + "/below"]
        seen, links = [], []
        f.visititems(lambda name, o: seen.append(name))
        f.visit_links(links.append)
        assert seen == links == sorted([*BAD, "good", "sub", "sub/fine", "x"])
        assert [value is None for value in f.values()] == [False] * len(f)


def test_nothing_of_it_can_be_changed(path):
    before = Path(path, "bad_type", "zarr.json").read_text()
    with h5py.File(path, "r+") as f:
        bad = f["bad_type"]
        for attempt in (lambda: bad.write_direct(np.array(b"x", bad.dtype)),
                        lambda: bad.attrs.__setitem__("a", 1),
                        lambda: bad.attrs.__delitem__("zarr:unreadable"),
                        lambda: f.copy("bad_type", "copy")):
            with pytest.raises((OSError, KeyError, RuntimeError, ValueError), match="quaternion"):
                attempt()
        with pytest.raises((OSError, ValueError), match="exists"):
            f.create_group("bad_type")
        with pytest.raises((OSError, ValueError), match="quaternion"):
            f.create_group("bad_type/below")
        expect_reason(bad, "quaternion")
    assert Path(path, "bad_type", "zarr.json").read_text() == before
    assert not Path(path, "copy").exists()


def test_it_moves_goes_and_is_copied_as_it_is(path):
    before = Path(path, "bad_json", "zarr.json").read_text()
    with h5py.File(path, "r+") as f:
        f.move("bad_json", "sub/moved")
        expect_reason(f["sub/moved"], "line 1")
        f.copy("sub", "copy")
        assert list(f["copy"]) == ["fine", "moved"]
        expect_reason(f["copy/moved"], "line 1")
        f.move("sub", "again")
        expect_reason(f["again/moved"], "line 1")
        del f["again/moved"]
        assert list(f["again"]) == ["fine"]
    assert Path(path, "copy", "moved", "zarr.json").read_text() == before
    assert not Path(path, "again", "moved").exists()


def test_it_is_seen_once_it_can_be_read(path):
    document = Path(path, "good", "zarr.json").read_text()
    with h5py.File(path, "r") as f:
        expect_reason(f["bad_json"], "line 1")
        Path(path, "bad_json", "zarr.json").write_text(document)
        refresh(f["/"], "H5Grefresh")
        assert list(f["bad_json"][...]) == [0, 1, 2, 3]


def test_xarray(path, tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    with xarray.open_dataset(path, engine="h5netcdf") as ds:
        ds.load()
        assert list(ds["good"].values) == [0, 10, 20, 30] and ds["good"].attrs["units"] == "K"
        assert list(ds.coords) == ["x"] and ds.attrs["title"] == "partly"
        for name, reason in BAD.items():
            assert reason in ds[name].attrs["zarr:unreadable"]
        ds.to_netcdf(tmp_path / "out.nc", engine="h5netcdf")
    with xarray.open_dataset(tmp_path / "out.nc", engine="h5netcdf") as ds:
        assert list(ds["good"].values) == [0, 10, 20, 30]


def test_netcdf(path, tmp_path):
    """netCDF-C reads the copy that h5repack makes. Its HDF5 is another one than h5py's, perhaps, so it
    runs in a process of its own."""
    if importlib.util.find_spec("netCDF4") is None:
        pytest.skip("there is no netCDF4")
    tool("h5repack", path, tmp_path / "copy.h5", connector="zarr unreadable=text")
    code = """
import netCDF4, sys
print(list(netCDF4.Dataset(sys.argv[1])["good"][:]))
"""
    out = run_python(code, tmp_path / "copy.h5", connector=None, plugins=False)
    assert "30.0" in out


def fails(*command, connector="zarr"):
    """The command fails, and says which array cannot be read, and why."""
    done = subprocess.run(list(map(str, command)), env={**os.environ, "HDF5_VOL_CONNECTOR": connector},
                          capture_output=True, text=True)
    assert done.returncode != 0 and any(f"/{name}" in done.stderr for name in BAD), done.stderr


def test_a_text_is_no_copy_of_the_data(path, tmp_path):
    """Whatever way a program takes: H5Ocopy, or reading and writing where filters or layouts change."""
    fails("h5repack", "--enable-error-stack", path, tmp_path / "a.h5")
    fails("h5repack", "--enable-error-stack", "-f", "GZIP=1", path, tmp_path / "b.h5")
    fails("h5repack", "--enable-error-stack", "-l", "CONTI", path, tmp_path / "c.h5")
    fails("h5repack", "--enable-error-stack", "-f", "GZIP=1", path, tmp_path / "d.zarr")
    fails("h5repack", "--enable-error-stack", path, tmp_path / "e.zarr")
    fails("h5copy", "--enable-error-stack", "-i", path, "-o", tmp_path / "e.h5", "-s", "/", "-d", "all")
    fails("h5copy", "--enable-error-stack", "-i", path, "-o", tmp_path / "f.h5", "-s", "bad_type", "-d", "b")
    tool("h5copy", "-i", path, "-o", tmp_path / "f.h5", "-s", "good", "-d", "good", connector="zarr")
    with h5py.File(path, "r") as f, h5py.File(tmp_path / "g.h5", "w") as to:
        for attempt in (lambda: f.copy(f["/"], to, name="all"), lambda: f.copy("bad_codec", to),
                        lambda: to.create_dataset("d", data=f["bad_codec"][()])):
            with pytest.raises((OSError, RuntimeError), match="bad_"):
                attempt()
        assert "lzma_of_mine" in f["bad_codec"].attrs["zarr:unreadable"]


def test_looking_is_no_copying(path, tmp_path):
    """In the file itself, whatever it was opened for, and beside files that are only read."""
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f["x"] = 1
    with h5py.File(path, "r+") as f, h5py.File(path, "r+") as again, h5py.File(tmp_path / "a.h5", "r"):
        expect_reason(f["bad_codec"], "lzma_of_mine")
        expect_reason(again["bad_codec"], "lzma_of_mine")
    tool("h5dump", "-d", "/bad_codec", "-o", tmp_path / "text", path, connector="zarr")
    assert "lzma_of_mine" in (tmp_path / "text").read_text()


def test_h5repack_and_copies_into_hdf5(path, tmp_path):
    tool("h5repack", path, tmp_path / "repacked.h5", connector="zarr unreadable=text")
    native = {**os.environ, "HDF5_VOL_CONNECTOR": "zarr"}
    tool("h5copy", "-i", path, "-o", tmp_path / "copied.h5", "-s", "/", "-d", "all", connector="zarr unreadable=text")
    for file, group in (("repacked.h5", "/"), ("copied.h5", "all")):
        with h5py.File(tmp_path / file, "r") as f:
            assert list(f[group]["good"][...]) == [0, 10, 20, 30]
            assert list(f[group]["sub/fine"][...]) == [0, 1, 2, 3]
            for name, reason in BAD.items():
                expect_reason(f[group][name], reason)
    done = subprocess.run(["h5diff", path, tmp_path / "repacked.h5", "/good", "/good"], env=native)
    assert done.returncode == 0


def test_tools(path):
    out = tool("h5ls", "-r", path, connector="zarr")
    assert "/bad_json                Dataset {SCALAR}" in out and "/sub/fine" in out
    out = tool("h5dump", path, connector="zarr")
    assert "lzma_of_mine" in out and "30" in out
    tool("h5stat", path, connector="zarr")
