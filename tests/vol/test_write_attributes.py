# SPDX-License-Identifier: MIT
"""Attributes and dimension scales written by h5py, as JSON in the store and as HDF5 sees them."""

import ctypes
import json
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from property_lists import library


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "x.zarr")


def document(path, name=""):
    """The document, without what only HDF5 programs see (test_attribute_types.py)."""
    found = json.loads((Path(path) / name / "zarr.json").read_text())
    found.get("attributes", {}).pop("_hdf5", None)
    return found


VALUES = {
    "int": (3, 3), "negative": (np.int8(-5), -5), "most": (np.uint64(2**64 - 1), 2**64 - 1),
    "float": (0.1, 0.1), "whole": (2.0, 2.0), "single": (np.float32(0.1), 0.1),
    "half": (np.float16(0.5), 0.5), "large": (1e300, 1e300), "tiny": (5e-324, 5e-324),
    "true": (True, True), "flags": (np.array([True, False]), [True, False]),
    "text": ("hällo \"✓\" \n\\", "hällo \"✓\" \n\\"), "empty": ("", ""),
    "bytes": (np.bytes_(b"abc"), "abc"), "texts": (["a", "", "ö"], ["a", "", "ö"]),
    "fixed": (np.array([b"ab", b"c"], "S4"), ["ab", "c"]),
    "list": ([1, 2, 3], [1, 2, 3]), "one": ([7], [7]), "big_endian": (np.arange(3, dtype=">i2"),
                                                                   [0, 1, 2]),
    "matrix": (np.arange(6).reshape(2, 3), [[0, 1, 2], [3, 4, 5]]),
    "cube": (np.ones((1, 2, 1)), [[[1.0], [1.0]]]), "words": (np.array([["a", "b"]], object),
                                                              [["a", "b"]]),
    "nan": (np.nan, "NaN"), "inf": ([1.5, -np.inf], [1.5, "-Infinity"]), "nothing": (
        h5py.Empty("f4"), None), "no_elements": (np.zeros(0, "i4"), []),
}


def same(got, want):
    if isinstance(want, str):
        return got == want
    want = np.asarray(want)
    equal_nan = want.dtype.kind == "f"
    return np.shape(got) == want.shape and np.array_equal(got, want, equal_nan=equal_nan)


@pytest.mark.parametrize("on", ["/", "g", "d"])
def test_values(path, on):
    with h5py.File(path, "w") as f:
        f.create_group("g")
        f.create_dataset("d", (3,), "f4")
        for name, (value, _) in VALUES.items():
            f[on].attrs[name] = value
        assert list(f[on].attrs) == sorted(VALUES)  # no order is tracked
        for name, (value, _) in VALUES.items():  # while it is open, as it was written
            got = f[on].attrs[name]
            assert type(got) is type(value) or same(got, value), name
            if hasattr(value, "dtype"):
                assert got.dtype == value.dtype, name
    written = document(path, on.strip("/"))["attributes"]
    assert written == {name: value for name, (_, value) in VALUES.items()}
    assert [type(v) for v in written.values()] == [type(v) for _, v in VALUES.values()]
    node = zarr.open(path, mode="r")
    seen = dict((node if on == "/" else node[on]).attrs)
    assert "version" in json.loads(seen.pop("_hdf5")) and seen == written
    with h5py.File(path, "r") as f:
        for name, (value, _) in VALUES.items():
            got = f[on].attrs[name]
            assert got == value if name == "nothing" else same(got, value), name


def test_values_without_a_form(path):
    with h5py.File(path, "w") as f:
        with pytest.raises(OSError, match="region"):
            f.attrs.create("a", f.create_dataset("d", (3,)).regionref[:1])
        assert "a" not in f.attrs
        assert dict(f.attrs) == {}
    assert not document(path).get("attributes")


def test_change(path):
    with h5py.File(path, "w") as f:
        a = f.attrs
        for name in "abcd":
            a[name] = 1
        a["b"] = "new type"  # h5py makes a new one, at the end
        a.modify("c", 7)
        with pytest.raises(TypeError):  # h5py's rule: the shape stays
            a.modify("a", [1, 2])
        del a["d"]
        h5py.h5a.rename(f.id, b"c", b"e")
        assert dict(a) == {"a": 1, "b": "new type", "e": 7} and list(a) == ["a", "b", "e"]
        for wrong, error in ((lambda: a.__delitem__("zz"), KeyError),
                             (lambda: h5py.h5a.rename(f.id, b"zz", b"y"), Exception),
                             (lambda: h5py.h5a.rename(f.id, b"a", b"b"), Exception)):
            with pytest.raises(error):
                wrong()
        h5py.h5a.delete(f.id, index=0)
        assert list(a) == ["b", "e"]
        kept = h5py.h5a.open(f.id, b"b")
        del a["b"]
        with pytest.raises(Exception, match="deleted"):
            kept.read(np.zeros(1))
    assert document(path)["attributes"] == {"e": 7}


def test_what_others_wrote_survives(path):
    with h5py.File(path, "w") as f:
        f.attrs["ours"] = 1
    text = document(path)
    text["attributes"] = {"theirs": {"deep": [1, {"x": None}]}, **text["attributes"]}
    (Path(path) / "zarr.json").write_text(json.dumps(text))
    with h5py.File(path, "r+") as f:
        f.attrs["ours"] = 2
    assert document(path)["attributes"] == {"theirs": {"deep": [1, {"x": None}]}, "ours": 2}


def test_consolidated_metadata_stay_current(path):
    with h5py.File(path, "w") as f:
        f.create_dataset("g/d", data=np.arange(3), chunks=(3,), maxshape=(None,))
    zarr.consolidate_metadata(path)
    with h5py.File(path, "r+") as f:
        f["g/d"].attrs["n"] = 5
        f["g/e"] = 1
        f["g/d"].resize((4,))
        f.move("g/d", "g/moved")
    group = zarr.open_consolidated(path)
    assert sorted(group["g"].keys()) == ["e", "moved"]
    assert group["g/moved"].shape == (4,) and group["g/moved"].attrs["n"] == 5


@pytest.mark.parametrize("dtype, value, written", [
    ("f4", -9999.0, "AAAAAICHw8A="), ("f8", np.nan, "AAAAAAAA+H8="), ("i2", -1, -1),
    ("u1", 255, 255), ("f2", -9999.0, "AAAAAACIw8A=")])
@pytest.mark.parametrize("shape", [(), (1,)])
def test_fill_value_attribute(path, dtype, value, written, shape):
    """The attribute is as xarray writes and reads it; netCDF-4 gives it one dimension."""
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (3,), dtype)
        d.attrs["_FillValue"] = np.full(shape, value, dtype)
        assert d.attrs["_FillValue"].dtype == dtype
    assert document(path, "d")["attributes"] == {"_FillValue": written}
    with h5py.File(path, "r") as f:
        assert np.array_equal(f["d"].attrs["_FillValue"], np.full(shape, value, dtype),
                              equal_nan=dtype[0] == "f")


# ---- Dimensions


def names(path, name):
    return document(path, name).get("dimension_names")


def test_labels(path):
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (3, 4))
        d.dims[1].label = "x"
        assert [dim.label for dim in d.dims] == ["", "x"]
        assert names(path, "d") == [None, "x"]
        d.dims[0].label = "y"
    assert names(path, "d") == ["y", "x"]
    with h5py.File(path, "r+") as f:
        assert [dim.label for dim in f["d"].dims] == ["y", "x"]
        del f["d"].attrs["DIMENSION_LABELS"]
    assert names(path, "d") is None
    assert "DIMENSION_LABELS" not in document(path, "d").get("attributes", {})


def test_scales_give_the_dimensions_their_names(path):
    with h5py.File(path, "w") as f:
        f["x"], f["y"], f["d"] = np.arange(4.0), np.arange(3.0), np.zeros((3, 4))
        d = f["d"]
        f["x"].make_scale()
        f["y"].make_scale("the y axis")
        d.dims[1].attach_scale(f["x"])
        d.dims[0].attach_scale(f["y"])
    assert names(path, "x") == ["x"] and names(path, "d") == ["y", "x"]
    for name in ("d", "x", "y"):
        assert not document(path, name)["attributes"]
    with h5py.File(path, "r+") as f:
        other = f.create_dataset("other", (4,))
        other.dims[0].attach_scale(f["x"])
        other.dims[0].detach_scale(f["x"])
        assert len(other.dims[0]) == 0
    assert names(path, "d") == ["y", "x"] and names(path, "other") is None


def test_netcdf_dimensions_are_no_arrays(path):
    """netCDF-4's form of a dimension without a coordinate: a name, not an array of zeros."""
    with h5py.File(path, "w") as f:
        f.attrs["_NCProperties"] = "version=2"
        band = f.create_dataset("band", (2,), ">f4")
        band.attrs["_Netcdf4Dimid"] = np.int32(0)
        band.make_scale("This is a netCDF dimension but not a netCDF variable.         2")
        d = f.create_dataset("d", data=np.ones(2))
        d.dims[0].attach_scale(band)
        assert list(f) == ["band", "d"] and f["band"].is_scale and f["d"].dims[0][0] == f["band"]
        assert f["band"].attrs["_Netcdf4Dimid"] == 0
    assert names(path, "d") == ["band"] and not (Path(path) / "band").exists()
    with h5py.File(path, "r") as f:
        assert list(f) == ["band", "d"] and f["d"].dims[0][0] == f["band"]


def test_many_attributes(path):
    """Names are found through a table, which follows additions, overwriting, renaming, deleting."""
    count = 500
    want = {f"k{i}": i for i in range(count)}
    with h5py.File(path, "w") as f:
        for i in range(count):
            f.attrs[f"k{i}"] = i
            assert f.attrs[f"k{i // 2}"] == i // 2 and f"k{i + 1}" not in f.attrs
        for i in range(0, count, 3):
            f.attrs[f"k{i}"] = want[f"k{i}"] = f"text {i}"
        for i in range(1, count, 10):
            del f.attrs[f"k{i}"]
            del want[f"k{i}"]
        for i in range(2, count, 50):
            h5py.h5a.rename(f.id, f"k{i}".encode(), f"new{i}".encode())
            assert f.attrs[f"new{i}"] == want[f"k{i}"] and f"k{i}" not in f.attrs
            want[f"new{i}"] = want.pop(f"k{i}")
            f.attrs[f"k{i}"] = want[f"k{i}"] = -i  # the old name is free
        assert dict(f.attrs) == want and sorted(f.attrs) == sorted(want)
    assert document(path)["attributes"] == want
    with h5py.File(path) as f:
        assert dict(f.attrs) == want and sorted(f.attrs) == sorted(want)


@pytest.mark.parametrize("name", ["x.h5", "x.zarr"])
def test_the_order_of_an_open_file_is_that_of_a_reopened_one(tmp_path, name):
    """Those of dimension scales have their places in it, too."""
    path = tmp_path / name
    with h5py.File(path, "w") as f:
        x = f.create_dataset("x", (3,), track_order=True)
        x.attrs["before"] = 1
        x.make_scale("x")
        for name in ("z", "a", "m"):
            x.attrs[name] = name
        x.attrs["a"] = 2  # anew: it goes to the end
        y = f.create_dataset("y", (3,), track_order=True)
        y.dims[0].label = "x"
        y.attrs["units"] = "K"
        open_order = [list(x.attrs), list(y.attrs)]
    with h5py.File(path, "r") as f:
        assert [list(f["x"].attrs), list(f["y"].attrs)] == open_order
    assert open_order == [["before", "CLASS", "NAME", "z", "m", "a"], ["DIMENSION_LABELS", "units"]]


@pytest.mark.parametrize("order", [0, 1, 3], ids=["none", "tracked", "indexed"])
@pytest.mark.parametrize("kind", ["group", "dataset", "file"])
def test_the_order_that_an_attribute_tells(tmp_path, kind, order):
    told = {}
    for name in ("x.h5", "x.zarr"):
        made = h5py.h5p.create(h5py.h5p.FILE_CREATE if kind == "file" else
                               h5py.h5p.GROUP_CREATE if kind == "group" else h5py.h5p.DATASET_CREATE)
        made.set_attr_creation_order(order)
        path = str(tmp_path / name).encode()
        with h5py.File(h5py.h5f.create(path, h5py.h5f.ACC_TRUNC, made if kind == "file" else None)) as f:
            if kind == "group":
                h5py.h5g.create(f.id, b"o", gcpl=made)
            elif kind == "dataset":
                h5py.h5d.create(f.id, b"o", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple((2,)), made)
            at = f if kind == "file" else f["o"]
            for number, attribute in enumerate("zbya"):
                at.attrs[attribute] = number
        with h5py.File(path, "r") as f:
            at = f if kind == "file" else f["o"]
            index = h5py.h5.INDEX_CRT_ORDER if order else h5py.h5.INDEX_NAME
            said = [h5py.h5a.get_info(at.id, attribute.encode()) for attribute in "zbya"]
            said += [h5py.h5a.get_info(at.id, index=n, index_type=index) for n in range(4)]
            h5py.h5a.iterate(at.id, lambda name, info: said.append(info), index_type=index, info=True)
            said.append(h5py.h5a.get_info(h5py.h5a.open(at.id, b"y")))
            told[name] = [(info.corder_valid, info.corder, info.data_size) for info in said]
    assert told["x.zarr"] == told["x.h5"] and len(told["x.h5"]) == 13


def test_what_others_change_shows_when_the_file_is_opened_again(path):
    """An open file shows the attributes that it found and its own changes. None of theirs is
    lost."""
    with h5py.File(path, "w", track_order=True) as f:
        f.attrs["ours"] = 1
        zarr.open_group(path, mode="r+").attrs["theirs"] = 2
        f.attrs["more"] = 3
        assert list(f.attrs) == ["ours", "more"]
    with h5py.File(path, "r") as f:
        assert dict(f.attrs) == {"ours": 1, "theirs": 2, "more": 3}


@pytest.mark.parametrize("to", ["o.h5", "o.zarr"])
@pytest.mark.parametrize("name", ["x.h5", "x.zarr"])
def test_copies_keep_the_order_of_attributes(tmp_path, name, to):
    names = ["zeta", "alpha", "mid", "beta"]
    with h5py.File(tmp_path / name, "w") as f, h5py.File(tmp_path / to, "w") as o:
        group = f.create_group("g", track_order=True)
        group.create_dataset("d", (2,), "i4", track_order=True)
        group.create_dataset("plain", (2,), "i4")
        for node in (group, group["d"], group["plain"]):
            for attribute in names:
                node.attrs[attribute] = 1
        f.copy("g", o)
        f.copy("g/d", o, "e")
    with h5py.File(tmp_path / to, "r") as o:
        assert list(o["g"].attrs) == list(o["g/d"].attrs) == list(o["e"].attrs) == names
        assert list(o["g/plain"].attrs) == sorted(names)


@pytest.mark.parametrize("name", ["x.h5", "x.zarr"])
@pytest.mark.parametrize("kind", ["plain", "text", "large"])
def test_members_that_are_not_written_keep_their_values(tmp_path, name, kind):
    """A program may write some members of a compound, at once and after the file was opened again."""
    if (name, kind) == ("x.h5", "large"):
        pytest.skip("HDF5's older file format has no such attributes")
    count = 1 << 17 if kind == "large" else 2
    fields = [("n", "i4"), ("x", "f8"), ("in", [("a", "i2"), ("b", "u1")])]
    if kind == "text":
        fields += [("t", h5py.string_dtype()), ("v", h5py.vlen_dtype("i2"))]
    rows = np.zeros(count, fields)
    rows["n"], rows["x"], rows["in"]["a"], rows["in"]["b"] = np.arange(count), 0.5, 7, 9
    if kind == "text":
        rows["t"], rows["v"][0], rows["v"][1] = ["one", "two"], np.arange(2, dtype="i2"), np.arange(3, dtype="i2")
    part = np.zeros(count, [("x", "f4"), ("in", [("a", "i4")])])
    in_memory = h5py.h5t.py_create(part.dtype)
    library.H5Awrite.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
    for opened in (False, True):
        with h5py.File(tmp_path / name, "r+" if opened else "w") as f:
            if not opened:
                f.attrs.create("rows", rows, dtype=rows.dtype)
            part["x"], part["in"]["a"] = 2.5 + opened, 70 + opened
            attribute = h5py.h5a.open(f.id, b"rows")
            assert library.H5Awrite(attribute.id, in_memory.id, part.ctypes.data) >= 0
            found = f.attrs["rows"]
            assert (found["n"] == rows["n"]).all() and (found["in"]["b"] == 9).all()
            assert (found["x"] == 2.5 + opened).all() and (found["in"]["a"] == 70 + opened).all()
            if kind == "text":
                assert list(found["t"]) == [b"one", b"two"] and [len(v) for v in found["v"]] == [2, 3]
