# SPDX-License-Identifier: MIT
"""dimension_names as HDF5 dimension labels and scales, and the coordinates that xarray makes of
them."""

from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import put, run_python


@pytest.fixture
def f(tree):
    with h5py.File(tree, "r") as file:
        yield file


def test_labels(f):
    assert [dim.label for dim in f["a"].dims] == ["yy", "xx"]
    assert [dim.label for dim in f["nc/v"].dims] == ["y", "x"]
    assert "DIMENSION_LABELS" not in f["g/b"].attrs and f["g/b"].dims[0].label == ""


def test_scales(f):
    v = f["nc/v"]
    assert f["nc/x"].is_scale and f["nc/y"].is_scale and not v.is_scale and not f["a"].is_scale
    assert [list(dim.keys()) for dim in v.dims] == [["y"], ["x"]]
    assert v.dims[0][0] == f["nc/y"] and v.dims[1]["x"] == f["nc/x"]
    assert list(v.dims[0]["y"]) == [0, 10, 20]
    assert "DIMENSION_LIST" not in f["a"].attrs and len(f["a"].dims[0]) == 0


def test_a_dimension_without_a_name_or_scale_leaves_all_without(new_store):
    """netCDF libraries refuse arrays of which only some dimensions have a scale."""
    path, group = new_store()
    put(group, "d", np.zeros((2, 3)), dimension_names=(None, "k"))
    put(group, "e", np.zeros((3, 2)), dimension_names=("k", "other"))
    put(group, "f", np.zeros(3), dimension_names=("k",))
    put(group, "none", np.zeros(2))
    put(group, "k", np.arange(3), dimension_names=("k",))
    with h5py.File(path, "r") as f:
        assert [dim.label for dim in f["d"].dims] == ["", "k"]
        assert [len(dim) for dim in f["d"].dims] == [len(dim) for dim in f["e"].dims] == [0, 0]
        assert f["f"].dims[0][0] == f["k"] and dict(f["none"].attrs) == {}


def test_scales_of_outer_groups_and_other_lengths(new_store):
    """As in netCDF: the nearest group upwards. A namesake of another length does not count."""
    path, group = new_store()
    put(group, "t", np.arange(4), dimension_names=("t",))
    inner = group.create_group("a/b")
    put(inner, "v", np.zeros((4, 2)), dimension_names=("t", "u"))
    put(inner, "u", np.arange(2), dimension_names=("u",))
    put(inner, "longer", np.zeros(5), dimension_names=("t",))
    put(inner, "w", np.zeros(4), dimension_names=("../t",))
    with h5py.File(path, "r") as f:
        v = f["a/b/v"]
        assert v.dims[0][0] == f["t"] and v.dims[1][0] == f["a/b/u"]
        assert len(f["a/b/w"].dims[0]) == len(f["a/b/longer"].dims[0]) == 0


def test_namesakes_that_do_not_fit_are_passed(new_store):
    """Arrays with more dimensions, with none, or of another dimension do not count: the coordinate
    lies further up."""
    path, group = new_store()
    put(group, "x", np.arange(4), dimension_names=("x",))
    for name, data, dims in (("two", np.zeros((4, 4)), ("x", "y")), ("none", 1.0, None),
                             ("other", np.zeros(4), ("lon",)), ("empty", None, None)):
        inner = group.create_group(name)
        put(inner, "v", np.zeros(4), dimension_names=("x",))
        if data is not None:
            put(inner, "x", data, dimension_names=dims)
    with h5py.File(path, "r") as f:
        assert [f[name]["v"].dims[0][0] == f["x"] for name in ("two", "none", "other", "empty")] == [
            True] * 4


def test_a_coordinate_whose_dimension_has_no_name(new_store):
    """A name beside the array that it fits can mean nothing else; further up it can."""
    path, group = new_store()
    put(group, "v", np.zeros((2, 4)), dimension_names=("y", "x"))
    put(group, "x", np.arange(4.0))
    put(group, "y", np.arange(2.0), dimension_names=("y",))
    put(group, "z", np.arange(4.0))
    put(group.create_group("g"), "w", np.zeros(4), dimension_names=("x",))
    with h5py.File(path, "r") as f:
        assert f["x"].is_scale and dict(f["z"].attrs) == {}
        assert f["v"].dims[1][0] == f["x"] and f["v"].dims[1].keys() == ["x"]
        assert len(f["g/w"].dims[0]) == 0
    with h5py.File(path, "r+") as f:
        f["x"].make_scale()
        assert f["x"].is_scale
    with h5py.File(path, "r") as f:
        assert f["g/w"].dims[0][0] == f["x"]


def test_documents_that_spell_the_dimensions_otherwise_count(new_store):
    """Neighbours are looked through for the word, which JSON may write with escapes."""
    path, group = new_store()
    put(group, "v", np.zeros((2, 4)), dimension_names=("y", "x"))
    put(group, "x", np.arange(4.0))
    put(group, "z", np.arange(4.0))
    document = Path(path) / "v" / "zarr.json"
    text = document.read_text()
    assert text.count('"dimension_names"') == 1
    document.write_text(text.replace('"dimension_names"', r'"dimension_n\u0061mes"'))
    with h5py.File(path, "r") as f:
        assert f["x"].is_scale and not f["z"].is_scale


NETCDF = r"""
import sys, h5py, xarray, numpy as np
with h5py.File(sys.argv[1]) as f:
    assert list(f) == ["band", "v", "x", "y"] and f["band"].shape == (2,) and f["y"].is_scale
    assert f["v"].dims[0][0] == f["band"] and [d.label for d in f["v"].dims] == ["band", "y", "x"]
    assert (f["y"][...] == np.zeros(3)).all() and list(f["g"] if "g" in f else []) == []
with xarray.open_dataset(sys.argv[1], engine="h5netcdf") as d:
    assert dict(d.sizes) == {"band": 2, "y": 3, "x": 4} and list(d.coords) == ["x"], d
    assert d["v"].dims == ("band", "y", "x") and float(d["v"][1, 2, 3]) == 23
with h5py.File(sys.argv[1] + "/v") as f: assert list(f) == ["band", "v", "x", "y"]
print("done")
"""


def test_datasets_for_dimensions_on_request(new_store):
    path, group = new_store()
    put(group, "v", np.arange(24.0).reshape(2, 3, 4), dimension_names=("band", "y", "x"))
    put(group, "x", np.arange(4), dimension_names=("x",))
    assert run_python(NETCDF, path, connector="zarr netcdf_dimensions=1") == "done\n"


@pytest.fixture
def dataset(tmp_path):
    """A Dataset of xarray's, and the path of the store that xarray wrote it to."""
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    made = xarray.Dataset(
        {"t2m": (("time", "lat", "lon"), np.arange(24, dtype="f4").reshape(2, 3, 4),
                 {"units": "K", "long_name": "temperature"}),
         "mask": (("lat", "lon"), np.arange(12, dtype="i2").reshape(3, 4))},
        {"time": [0.0, 6.0], "lat": [10.0, 20.0, 30.0], "lon": np.arange(4) * 90.0},
        {"title": "made", "version": 3})
    made["t2m"][0, 0, 0] = np.nan
    path = str(tmp_path / "x.zarr")
    made.to_zarr(path, zarr_format=3, consolidated=False)
    return made, path


def test_xarray_reads_names_coordinates_and_missing_values(dataset):
    import xarray
    made, path = dataset
    with xarray.open_dataset(path, engine="h5netcdf") as got:
        xarray.testing.assert_equal(got, made)
        assert got["t2m"].dims == ("time", "lat", "lon") and got["t2m"].attrs["units"] == "K"
        assert got.attrs == {"title": "made", "version": 3}
        assert got["t2m"].dtype == "f4" and got["t2m"].encoding["_FillValue"].dtype == "f4"
        assert float(got.sel(lat=20, lon=90)["mask"]) == 5


def test_copies_keep_their_scales(dataset, tmp_path):
    """After H5Ocopy of the whole store into an .h5 file, xarray sees the same there."""
    import xarray
    from conftest import tool
    made, path = dataset
    copy = tmp_path / "y.h5"
    tool("h5repack", path, copy, connector="zarr")
    with h5py.File(copy, "r") as f:
        assert f["t2m"].dims[1][0] == f["lat"]
    with xarray.open_dataset(copy, engine="h5netcdf") as got:
        xarray.testing.assert_equal(got, made)
