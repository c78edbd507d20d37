# SPDX-License-Identifier: MIT
"""Names that no Zarr node can have are kept in a form of their own, which other readers see."""

import random

import h5py
import numpy as np
import pytest
import zarr
from conftest import tool

FORMS = {"..": "%2E.", "...": "%2E..", "__init": "%5F_init", "back\\slash": "back%5Cslash",
         "zarr.json": "%7Aarr.json", "line\n": "line%0A", "\x7f%": "%7F%25", "%5F_x": "%255F_x",
         "%255F_x": "%25255F_x", "__%": "%5F_%25", ".zattrs": "%2Ezattrs", ".0.zb-journal": "%2E0.zb-journal",
         ".a.1.2.zb-tmp": "%2Ea.1.2.zb-tmp", "__attribute.0123456789abcdef": "%5F_attribute.0123456789abcdef"}
PLAIN = [".hidden", "..a", "%2Ehidden", "_x", "a.b", "100%", "%20", "%2E", "%2ex", "%2Fx", "%", "%2", "%25", "a%5Cb%zz", "zarr.json2", "gr\u00fcn"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.zarr"


@pytest.mark.parametrize("name", FORMS)
def test_forms(path, name):
    form = FORMS[name]
    with h5py.File(path, "w") as f:
        f.create_group(name).attrs["a"] = name
        f.create_dataset("g/" + name + "/d", data=[1, 2])
        assert list(f) == sorted([name, "g"]) and f[name].name == "/" + name
    root = zarr.open_group(path, mode="r")
    assert sorted(root.group_keys()) == sorted([form, "g"])
    assert root[form].attrs["a"] == name and list(root["g/" + form + "/d"][:]) == [1, 2]
    with h5py.File(path, "r") as f:
        assert name in f and form not in f
        assert list(f) == sorted([name, "g"]) and list(f["g"]) == [name]
        assert list(f[f"g/{name}/d"]) == [1, 2] and f[name].attrs["a"] == name
        names = []
        f.visit(names.append)
        assert f"g/{name}/d" in names


@pytest.mark.parametrize("name", PLAIN)
def test_others_stay_as_they_are(path, name):
    with h5py.File(path, "w") as f:
        f.create_group(name)
    assert list(zarr.open_group(path, mode="r").group_keys()) == [name]
    with h5py.File(path, "r") as f:
        assert list(f) == [name] and name in f


def test_names_of_others_are_found_as_listed(path):
    """No two nodes of a group show the same name, and each is opened by the one that it shows."""
    root = zarr.open_group(path, mode="w")
    source = random.Random(3)
    stored = set(FORMS.values()) | set(PLAIN)
    pieces = ["%", "%25", "%2E", "2E", "25", "5C", "%5F_", "x", ".", "%7Aarr.json", "%0A", "%00", "%E9"]
    while len(stored) < 400:
        name = "".join(source.choices(pieces, k=source.randint(1, 5)))
        if not name.startswith("."):
            stored.add(name)
    for name in stored:
        root.create_group(name, attributes={"stored": name})
    with h5py.File(path, "r") as f:
        shown = list(f)
        assert len(set(shown)) == len(stored)
        assert {f[name].attrs["stored"] for name in shown} == stored
    with h5py.File(path, "r") as f:  # by name, before anything is listed
        for name in source.sample(shown, 100):
            assert f[name].attrs["stored"] in stored


def test_changes(path):
    with h5py.File(path, "w") as f:
        d = f.create_dataset(".d", data=np.arange(4))
        f["plain"] = 1
        f.move("plain", "__moved")
        f.move("__moved", "back")
        f.copy("back", ".copy")
        f["link"] = d
        f["soft"] = h5py.SoftLink("/.d")
        f["refs"] = np.array([d.ref], h5py.ref_dtype)
        f.create_group(".g").create_group("__in")
        f.copy(".g", "g")
        with pytest.raises(ValueError, match="exists"):
            f.create_group(".g")
        del f[".copy"]
    with h5py.File(path, "r+") as f:
        assert list(f) == [".d", ".g", "back", "g", "link", "refs", "soft"] and list(f["g"]) == ["__in"]
        assert list(f["soft"]) == list(f["link"]) == list(f[f["refs"][0]]) == [0, 1, 2, 3]
        assert f["link"] == f[".d"]
        f.move(".d", "..")
        assert f["link"] == f[".."]
        del f[".."]  # the other hard link is the node's place now
        f["__again"] = f["link"]
        del f["link"]
    with h5py.File(path, "r") as f:
        assert list(f["__again"]) == [0, 1, 2, 3] and "%5F_again" not in f


def test_scales_have_them(path):
    with h5py.File(path, "w") as f:
        f["g/.x"] = np.arange(3.0)
        f["g/.x"].make_scale(".x")
        f["g/__v"] = np.zeros(3)
        f["g/__v"].dims[0].attach_scale(f["g/.x"])
        f.move("g", ".h")
    with h5py.File(path, "r") as f:
        assert f[".h/__v"].dims[0][0] == f[".h/.x"] and f[".h/.x"].is_scale


def test_tools(tmp_path, path):
    with h5py.File(tmp_path / "x.h5", "w") as f:
        for name in FORMS:
            f["g/" + name] = np.arange(3)
            f["g"][name].attrs["of"] = f["g"][name].ref
        f[".soft"] = h5py.SoftLink("/g/..")
    tool("h5repack", tmp_path / "x.h5", path, connector="zarr")
    tool("h5repack", path, tmp_path / "y.h5", connector="zarr")
    tool("h5diff", tmp_path / "x.h5", tmp_path / "y.h5", connector="zarr")
    tool("h5diff", tmp_path / "x.h5", path, connector="zarr")
    with h5py.File(tmp_path / "y.h5", "r") as f:
        assert sorted(f["g"]) == sorted(FORMS)


def test_nodes_that_others_made_under_reserved_names(path):
    """They are listed, and changed as all others."""
    root = zarr.open_group(path, mode="w")
    for name in ("__g", "__moved", ".hidden", "__xarray_dataarray_variable__"):
        root.create_group(name, attributes={"n": 1})
    with h5py.File(path, "r+") as f:
        assert f["__g"].attrs["n"] == 1  # before the group is listed
        f["__g"].attrs["n"] = 2
        f["__g/below"] = [1, 2]
        assert list(f) == [".hidden", "__g", "__moved", "__xarray_dataarray_variable__"]
        with pytest.raises(ValueError, match="exists"):
            f.create_group("__g")
        f.copy("__g", "copy")
        f.move("__moved", "__new")
        del f["__xarray_dataarray_variable__"]
    assert sorted(zarr.open_group(path, mode="r").group_keys()) == ["%5F_new", ".hidden", "__g", "copy"]
    with h5py.File(path, "r+") as f:
        assert list(f) == [".hidden", "__g", "__new", "copy"]
        assert f["__g"].attrs["n"] == 2 and list(f["__g/below"]) == list(f["copy/below"]) == [1, 2]
        del f["__g"]
        assert "__g" not in f
    assert sorted(path.glob("*/zarr.json")) == [path / n / "zarr.json" for n in ("%5F_new", ".hidden", "copy")]


@pytest.mark.parametrize("listed", [True, False])
def test_a_name_and_its_form(path, listed):
    """Both nodes are there, under names that differ."""
    root = zarr.open_group(path, mode="w")
    for name in ("__x", "%5F_x"):
        root.create_group(name, attributes={"stored": name})
    with h5py.File(path, "r+") as f:
        if not listed:
            assert f["__x"].attrs["stored"] == "%5F_x"
        assert list(f) == ["%5F_x", "__x"]
        assert [f[name].attrs["stored"] for name in f] == ["__x", "%5F_x"]
        del f["%5F_x"]
        assert list(f) == ["__x"]
    assert list(zarr.open_group(path, mode="r").group_keys()) == ["%5F_x"]


def test_h5repack_of_a_store_of_xarray(path, tmp_path):
    """xarray's name for an array without a name is one that the specification reserves."""
    root = zarr.open_group(path, mode="w")
    root.create_array("__xarray_dataarray_variable__", shape=(4,), dtype="i4", dimension_names=("x",))[:] = [1, 2, 3, 4]
    tool("h5repack", path, tmp_path / "y.h5", connector="zarr")
    with h5py.File(tmp_path / "y.h5", "r") as f:
        assert list(f["__xarray_dataarray_variable__"]) == [1, 2, 3, 4]


def test_long_names(path):
    with h5py.File(path, "w") as f:
        f.create_group("__" + 251 * "x")
        with pytest.raises((ValueError, OSError)):
            f.create_group("__" + 252 * "x")
        assert list(f) == ["__" + 251 * "x"]


def test_the_character_set_is_that_of_the_letters(path, tmp_path):
    def attribute_sets(group):
        return [h5py.h5a.get_info(group.id, name.encode()).cset for name in ("a", "\u00fc")]

    expected = [h5py.h5t.CSET_ASCII, h5py.h5t.CSET_UTF8]
    with h5py.File(path, "w") as f:
        f.create_group("abc")
        f["gr\u00fcn"] = h5py.SoftLink("/abc")
        f.attrs["a"] = f.attrs["\u00fc"] = 1
        assert [f.id.links.get_info(name.encode()).cset for name in ("abc", "gr\u00fcn")] == expected
        assert attribute_sets(f) == expected
    with h5py.File(path, "r") as f, h5py.File(tmp_path / "copy.h5", "w") as copy:
        f.copy("/", copy, "top")
        assert attribute_sets(copy["top"]) == expected
