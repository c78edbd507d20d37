# SPDX-License-Identifier: MIT
"""The largest shape of a dataset, which the attribute `_hdf5` keeps."""

import json
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from conftest import environment, tool

SHAPES = {"fixed": ((3, 4), None), "rows": ((3, 4), (None, 4)), "both": ((3, 4), (None, None)),
          "some": ((3, 4), (10, 4)), "empty": ((0,), (None,)), "full": ((5,), (5,)),
          "nothing": ((), None)}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        for name, (shape, most) in SHAPES.items():
            f.create_dataset(name, shape, "i4", maxshape=most)
    return path


def most_of(name):
    shape, most = SHAPES[name]
    return shape if most is None else most


def member(path, name):
    attributes = json.loads((Path(path) / name / "zarr.json").read_text()).get("attributes", {})
    return json.loads(attributes.get("_hdf5", "{}")).get("maxshape")


def test_it_is_kept(path):
    for mode in ("r", "r+"):
        with h5py.File(path, mode) as f:
            for name in SHAPES:
                assert f[name].maxshape == most_of(name)
    assert member(path, "rows") == [None, 4] and member(path, "some") == [10, 4]
    assert member(path, "fixed") is None and member(path, "full") == [5]  # which has chunks, and may shrink


def test_it_comes_with_the_document(tmp_path):
    """One document for a new dataset: neither a flush nor the close writes it again."""
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        f.create_dataset("a", (3, 4), "i4", maxshape=(None, 4))
        f.create_dataset("text", (3,), h5py.string_dtype(), maxshape=(None,))
        assert member(path, "a") == [None, 4] and member(path, "text") == [None]
        before = [(path / name / "zarr.json").stat() for name in ("a", "text")]
        assert f["a"].maxshape == (None, 4)
        f.flush()
    after = [(path / name / "zarr.json").stat() for name in ("a", "text")]
    assert [(s.st_ino, s.st_ctime_ns) for s in after] == [(s.st_ino, s.st_ctime_ns) for s in before]


def test_resizing_keeps_to_it(path):
    with h5py.File(path, "r+") as f:
        f["rows"].resize((100, 4))
        f["some"].resize((10, 2))
        for name, shape in (("rows", (100, 5)), ("some", (11, 4))):
            with pytest.raises(Exception, match="unable to|cannot exceed|set extent|synchronously"):
                f[name].resize(shape)
    with h5py.File(path, "r") as f:
        assert f["rows"].shape == (100, 4) and f["rows"].maxshape == (None, 4)
        assert f["some"].shape == (10, 2) and f["some"].maxshape == (10, 4)


@pytest.mark.parametrize("text", ["[2, 4]", "[10]", "[10, 4, 4]", "[-1, 4]", "[1e3, 4]", "{}", "7",
                                  "[10, 18446744073709551615]", "[\"a\", 4]", "null"])
def test_what_does_not_fit_is_ignored(path, text):
    zarr.open_group(str(path), mode="r+")["some"].attrs["_hdf5"] = f'{{"version": 1, "maxshape": {text}}}'
    with h5py.File(path, "r+") as f:
        assert f["some"].maxshape == (3, 4)
        f["some"].resize((20, 4))


def test_an_array_that_has_outgrown_it(path):
    zarr.open_group(str(path), mode="r+")["some"].resize((20, 4))
    with h5py.File(path, "r") as f:
        assert f["some"].shape == f["some"].maxshape == (20, 4)


def test_copies_keep_it(tmp_path, path):
    made, back = tmp_path / "made.h5", tmp_path / "back.zarr"
    tool("h5repack", path, made, connector="zarr")
    tool("h5repack", made, back, connector="zarr")
    with h5py.File(path, "r+") as f:
        f.copy("rows", "again")
    for at in (made, back):
        with h5py.File(at, "r") as f:
            for name in SHAPES:
                assert f[name].maxshape == most_of(name)
    with h5py.File(path, "r") as f:
        assert f["again"].maxshape == (None, 4)


APPEND = """
import sys, numpy as np, h5netcdf, h5netcdf.legacyapi, xarray as xr
path = sys.argv[1]
with h5netcdf.File(path, "w") as f:
    f.dimensions = {"time": None, "x": 3}
    v = f.create_variable("v", ("time", "x"), "f4")
    f.resize_dimension("time", 2)
    v[...] = np.ones((2, 3))
with h5netcdf.legacyapi.Dataset(path, "a") as f:  # as netCDF4: a variable grows with its data
    assert f.dimensions["time"].isunlimited() and not f.dimensions["x"].isunlimited()
    f.variables["v"][2:4] = np.full((2, 3), 5)
with xr.open_dataset(path, engine="h5netcdf") as got:
    assert got.encoding["unlimited_dims"] == {"time"}
    assert got["v"].values.tolist() == [[1] * 3] * 2 + [[5] * 3] * 2
print("done")
"""


def test_h5netcdf_appends(tmp_path):
    pytest.importorskip("h5netcdf")
    pytest.importorskip("xarray")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", APPEND, str(tmp_path / "x.zarr")],
                          env=environment("zarr"), capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize("name", ["x.zarr", "x.h5"])
def test_a_fixed_shape_stays_the_largest(tmp_path, name):
    """Chunked datasets without a maxshape shrink, grow again up to what they were, and no further."""
    with h5py.File(tmp_path / name, "w") as f:
        f.create_dataset("d", data=np.arange(8), chunks=(3,))
        f.create_group("g")
    for size, good in ((9, False), (5, True), (8, True), (9, False), (0, True), (8, True)):
        with h5py.File(tmp_path / name, "r+") as f:
            if good:
                f["d"].resize((size,))
            else:
                with pytest.raises(Exception, match="maximal size"):
                    f["d"].resize((size,))
            assert f["d"].maxshape == (8,) and f["d"].chunks == (3,)
    with h5py.File(tmp_path / name, "r+") as f:
        assert list(f["d"]) == [0] * 8
        f.move("d", "g/d")
        f["g/d"].resize((2,))
        f.copy("g/d", "e")
        assert f["e"].maxshape == (8,)
