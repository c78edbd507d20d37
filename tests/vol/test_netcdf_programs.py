# SPDX-License-Identifier: MIT
"""Programs of netCDF, on a native file and on a door: the same calls, the same answers, and a store that other Zarr
programs open."""

import os
import shutil
import subprocess

import numpy as np
import pytest
import zarr
from conftest import tool

netCDF4 = pytest.importorskip("netCDF4")
xarray = pytest.importorskip("xarray")


def new_door(folder, name="door"):
    """A door to an empty store."""
    store = folder / f"{name}.zarr"
    zarr.open_group(store, mode="w", zarr_format=3)
    subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], "door", store, folder / f"{name}.nc"], check=True,
                   capture_output=True)
    return folder / f"{name}.nc"


@pytest.fixture
def both(tmp_path):
    """A file that is to be made, and a door."""
    if not shutil.which("ncdump"):
        pytest.skip("netcdf-bin is not installed: no ncdump")
    return tmp_path / "native.nc", new_door(tmp_path)


def dump(path):
    return tool("ncdump", "-n", "t", path, connector="zarr")


def same(paths):
    """What ncdump tells of both; xarray opens each group of the store."""
    texts = [dump(path) for path in paths]
    assert texts[1] == texts[0]
    store = paths[1].with_suffix(".zarr")
    for document in store.rglob("zarr.json"):
        if '"group"' in document.read_text():
            with xarray.open_zarr(document.parent, consolidated=False, decode_times=False) as opened:
                opened.load()
    return texts[0]


def array(paths, name):
    return zarr.open_array(paths[1].with_suffix(".zarr") / name, mode="r")


# ---- Unlimited dimensions ----

def test_variables_are_as_long_as_their_unlimited_dimension(both):
    """netCDF makes only those longer that it writes, and reads fill values behind the end of the others."""
    for path in both:
        with netCDF4.Dataset(path, "w") as f:
            for name, size in (("time", None), ("x", 2), ("n", None)):
                f.createDimension(name, size)
            f.createVariable("time", "f8", ("time",))[:] = [0, 1, 2]
            f.createVariable("some", "f4", ("time", "x"), fill_value=-1)[:2] = 5
            f.createVariable("never", "i4", ("x", "time"))
            group = f.createGroup("g")
            group.createVariable("words", str, ("time",))[1] = "one"
            group.createVariable("two", "u1", ("n", "time"))[3] = [1]
            f.sync()
            f["g/two"][0, 4] = 7
        with netCDF4.Dataset(path, "a") as f:
            f["never"][:, 5] = 3
            f.createVariable("new", "f4", ("n", "x"))
    text = same(both)
    assert "time = UNLIMITED ; // (6 currently)" in text
    assert [array(both, name).shape for name in ("time", "some", "never", "g/words", "g/two", "new")] == [
        (6,), (6, 2), (2, 6), (6,), (4, 6), (4, 2)]
    assert array(both, "some")[:].tolist() == 2 * [[5, 5]] + 4 * [[-1, -1]]
    assert not list((both[1].with_suffix(".zarr") / "new").glob("c*"))  # longer without a chunk


def test_lengths_that_a_kill_has_left_apart(both):
    """The next program of netCDF that writes goes on; one that only reads changes nothing."""
    for path in both:
        with netCDF4.Dataset(path, "w") as f:
            f.createDimension("time", None)
            f.createVariable("time", "f8", ("time",))[:] = [0, 1, 2]
            f.createVariable("v", "i4", ("time",), fill_value=9)[:] = [1, 2, 3]
    array_of = zarr.open_array(both[1].with_suffix(".zarr") / "v", mode="r+")
    array_of.resize((2,))
    with netCDF4.Dataset(both[1]) as f:
        assert f["v"].shape == (3,) and array(both, "v").shape == (2,)
    for path in both:
        with netCDF4.Dataset(path, "a") as f:
            f["v"][2] = 8
            f.title = "t"
    same(both)


def test_programs_that_are_not_netcdf_keep_their_lengths(tmp_path):
    """What h5py has resized is what it reads."""
    import h5py
    with h5py.File(tmp_path / "h.zarr", "w") as f:
        f.create_dataset("t", (3,), maxshape=(None,)).make_scale()
        f.create_dataset("v", (2,), maxshape=(None,)).dims[0].attach_scale(f["t"])
        f.flush()
        assert f["v"].shape == (2,)
    assert zarr.open_array(tmp_path / "h.zarr/v", mode="r").shape == (2,)
