# SPDX-License-Identifier: MIT
"""The order in which attributes were made. Each test that takes `path` runs on a .h5 file, and on a
store."""

import json

import h5py
import numpy as np
import pytest
import zarr
from conftest import run_python
from test_links import side

CRT, NAME = h5py.h5.INDEX_CRT_ORDER, h5py.h5.INDEX_NAME


@pytest.fixture(params=["x.h5", "x.zarr"])
def path(request, tmp_path):
    return tmp_path / request.param


def numbers(obj):
    """The names of attributes in the order of creation, with their numbers."""
    names = []
    h5py.h5a.iterate(obj.id, lambda name: names.append(name), index_type=CRT)
    infos = [h5py.h5a.get_info(obj.id, name) for name in names]
    assert all(info.corder_valid for info in infos)
    assert sorted(names) == [h5py.h5a.get_info(obj.id, index=i, index_type=NAME) and name
                             for i, name in enumerate(sorted(names))]
    return {name.decode(): info.corder for name, info in zip(names, infos)}


def delete(obj, name):
    h5py.h5a.delete(obj.id, name.encode())


def rename(obj, old, new):
    h5py.h5a.rename(obj.id, old.encode(), new.encode())


def make(f, count=3, **options):
    group = f.create_group("g", track_order=True, **options)
    for name in "cabdefghijklm"[:count]:
        group.attrs.create(name, 1)
    return group


def test_the_native_order_is_that_of_creation(path):
    with h5py.File(path, "w") as f:
        group = f.create_group("g", track_order=False)
        for name in "cab":
            group.attrs.create(name, 1)
    with h5py.File(path) as f:
        names = []
        h5py.h5a.iterate(f["g"].id, names.append, index_type=NAME, order=h5py.h5.ITER_NATIVE)
        assert names == [b"c", b"a", b"b"]
        assert list(f["g"].attrs) == ["a", "b", "c"]


@pytest.mark.parametrize("count", [3, 13])  # HDF5 stores few and many of them in different ways
def test_numbers_have_gaps(path, count):
    with h5py.File(path, "w") as f:
        group = make(f, count)
        delete(group, "a")
        before = numbers(group)
        assert before["c"] == 0 and before["b"] == 2 and len(before) == count - 1
    with h5py.File(path, "r+") as f:
        group = f["g"]
        assert numbers(group) == before
        group.attrs.create("new", 1)
        assert numbers(group) == {**before, "new": count}
        delete(group, "new")
        assert numbers(group) == before
    with h5py.File(path, "r+") as f:
        f["g"].attrs.create("newer", 1)
        assert numbers(f["g"]) == {**before, "newer": count + 1}
    with h5py.File(path) as f:
        assert numbers(f["g"]) == {**before, "newer": count + 1}
        assert list(f["g"].attrs) == [*before, "newer"]


def test_a_renamed_attribute_keeps_its_number(path):
    with h5py.File(path, "w") as f:
        group = make(f)
        rename(group, "c", "z")
        assert numbers(group) == {"z": 0, "a": 1, "b": 2}
    with h5py.File(path, "r+") as f:
        assert list(numbers(f["g"]).items()) == [("z", 0), ("a", 1), ("b", 2)]
        rename(f["g"], "z", "y")
        delete(f["g"], "b")
        rename(f["g"], "a", "z")
        assert list(numbers(f["g"]).items()) == [("y", 0), ("z", 1)]
    with h5py.File(path) as f:
        assert list(numbers(f["g"]).items()) == [("y", 0), ("z", 1)]
        assert list(f["g"].attrs) == ["y", "z"]


def test_one_that_is_written_anew_keeps_its_number_and_one_that_is_made_anew_does_not(path):
    with h5py.File(path, "w") as f:
        group = make(f)
        h5py.h5a.open(group.id, b"c").write(np.array(5))
        assert numbers(group) == {"c": 0, "a": 1, "b": 2}
        delete(group, "a")
        group.attrs.create("a", 2)
    with h5py.File(path) as f:
        assert list(numbers(f["g"]).items()) == [("c", 0), ("b", 2), ("a", 3)]
        assert f["g"].attrs["c"] == 5


def test_numbers_begin_anew_without_attributes(path):
    with h5py.File(path, "w") as f:
        group = make(f)
        for name in "cab":
            delete(group, name)
        group.attrs.create("x", 1)
        assert numbers(group) == {"x": 0}
        delete(group, "x")
    with h5py.File(path, "r+") as f:
        f["g"].attrs.create("y", 1)
        assert numbers(f["g"]) == {"y": 0}


def test_one_that_was_never_written_has_had_a_number(path):
    with h5py.File(path, "w") as f:
        group = make(f)
        scalar = h5py.h5s.create(h5py.h5s.SCALAR)
        empty = h5py.h5a.create(group.id, b"never", h5py.h5t.NATIVE_INT32, scalar)
        delete(group, "never")
        del empty
    with h5py.File(path, "r+") as f:
        f["g"].attrs.create("x", 1)
        assert numbers(f["g"]) == {"c": 0, "a": 1, "b": 2, "x": 4}


def test_attributes_are_numbered_when_they_are_made(path):
    """And not when they are written."""
    scalar = h5py.h5s.create(h5py.h5s.SCALAR)
    with h5py.File(path, "w") as f:
        group = f.create_group("g", track_order=True)
        first = h5py.h5a.create(group.id, b"first", h5py.h5t.NATIVE_INT32, scalar)
        group.attrs.create("second", 1)
        first.write(np.array(1, "i4"))
        del first
    with h5py.File(path) as f:
        assert list(numbers(f["g"]).items()) == [("first", 0), ("second", 1)]


def test_attributes_of_scales_have_their_places(path):
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", data=[1, 2], track_order=True)
        x = f.create_dataset("x", data=[1, 2], track_order=True)
        x.attrs["units"] = "m"
        x.make_scale("x")
        d.dims[0].attach_scale(x)
        d.attrs["late"] = 1
        seen = numbers(d), numbers(x)
    with h5py.File(path) as f:
        assert seen == ({"DIMENSION_LIST": 0, "late": 1},
                        {"units": 0, "CLASS": 1, "NAME": 2, "REFERENCE_LIST": 3})
        assert (numbers(f["d"]), numbers(f["x"])) == seen
        assert list(f["d"].attrs) == ["DIMENSION_LIST", "late"]


@pytest.mark.parametrize("again", [False, True])
def test_made_attributes_do_not_keep_numbers_from_beginning_anew(tmp_path, again):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        x = f.create_dataset("x", data=[1, 2], track_order=True)
        x.attrs["a"] = x.attrs["b"] = 1
    document = json.loads((path / "x/zarr.json").read_text())
    (path / "x/zarr.json").write_text(json.dumps({**document, "dimension_names": ["x"]}))
    with h5py.File(path, "r+") as f:
        assert f["x"].is_scale
        assert h5py.h5a.get_info(f["x"].id, b"b").corder == 1
        delete(f["x"], "a")
        delete(f["x"], "b")
        if not again:
            f["x"].attrs["new"] = 1
    with h5py.File(path, "r+") as f:
        if again:
            f["x"].attrs["new"] = 1
        assert h5py.h5a.get_info(f["x"].id, b"new").corder == 0


def test_copies(path, tmp_path):
    with h5py.File(path, "w") as f:
        group = make(f)
        delete(group, "c")
        f.copy("g", "copy")
        f.copy("g", "bare", without_attrs=True)
        f["bare"].attrs["b"] = 1
        assert list(numbers(f["copy"])) == ["a", "b"] and list(numbers(f["bare"])) == ["b"]
    with h5py.File(path) as f:
        assert numbers(f["bare"]) == {"b": 0}
        assert list(numbers(f["copy"])) == ["a", "b"]


def test_form(tmp_path):
    """Nothing is kept as long as the document tells the numbers."""
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        make(f)
    assert side(path / "g").get("attribute_list") is None
    with h5py.File(path, "r+") as f:
        delete(f["g"], "a")
    assert side(path / "g")["attribute_list"] == ["c", 1, "b"]
    with h5py.File(path, "r+") as f:
        delete(f["g"], "b")
    assert side(path / "g")["attribute_list"] == ["c", 2]
    zarr.open_group(path, mode="r+")["g"].attrs["zarr"] = 1
    with h5py.File(path, "r+") as f:
        assert numbers(f["g"]) == {"c": 0, "zarr": 3}
        for name in ("c", "zarr"):
            delete(f["g"], name)
    assert "attribute_list" not in (zarr.open_group(path)["g"].attrs.get("_hdf5") or "")


@pytest.mark.parametrize("kept", [
    ["c", 2**64, "b"], ["c", 2**63, 2**63, "b"], ["c", -1, "b"], ["c", "c", None, [1], "b"], "c", {}, 7,
    [2**31] * 9])
def test_hostile_lists(tmp_path, kept):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        make(f)
    document = json.loads((path / "g" / "zarr.json").read_text())
    document["attributes"]["_hdf5"] = json.dumps({"version": 1, "attribute_list": kept})
    (path / "g" / "zarr.json").write_text(json.dumps(document))
    with h5py.File(path, "r+") as f:
        assert sorted(numbers(f["g"])) == ["a", "b", "c"]
        f["g"].attrs["last"] = 1
        assert list(numbers(f["g"]))[-1] == "last"
        assert len(set(numbers(f["g"]).values())) == 4


OTHER = """
import sys, h5py
with h5py.File(sys.argv[1], "r+") as f:
    f["g"].attrs["theirs"] = 1
    h5py.h5a.delete(f["g"].id, b"a")
"""


def test_lists_of_two_programs_are_merged(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        group = make(f)
        f.flush()
        group.attrs["ours"] = 1
        delete(group, "b")
        run_python(OTHER, path, connector="zarr")
    with h5py.File(path) as f:
        seen = numbers(f["g"])
        assert list(seen)[0] == "c" and sorted(seen) == ["c", "ours", "theirs"]
