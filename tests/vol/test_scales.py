# SPDX-License-Identifier: MIT
"""HDF5's dimension scales, whole: what h5py writes is there when the store is opened again, and other
Zarr programs find the names of the dimensions. All of it is compared with an .h5 file."""

import json
import random
import re
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from conftest import build_dir, put, run, run_python, tool

SCALES = {"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "DIMENSION_LABELS"}


def described(kind):
    """A type in words that do not depend on the version of its encoding."""
    if isinstance(kind, h5py.h5t.TypeCompoundID):
        return kind.get_size(), [(kind.get_member_name(i), kind.get_member_offset(i),
                                  described(kind.get_member_type(i)))
                                 for i in range(kind.get_nmembers())]
    return described(kind.get_super()) if isinstance(kind, h5py.h5t.TypeVlenID) else kind.encode()


def seen(f):
    """All that HDF5's scale functions tell of each dataset."""
    found = {}

    def look(name, d):
        if not isinstance(d, h5py.Dataset):
            return
        back = d.attrs.get("REFERENCE_LIST", [])
        found[name] = {
            "scale": d.is_scale,
            "name": d.attrs.get("NAME"),
            "attributes": sorted(SCALES & set(d.attrs)),
            "types": [(n, described(d.attrs.get_id(n).get_type()), d.attrs.get_id(n).shape)
                      for n in sorted(SCALES & set(d.attrs))],
            "dims": [(dim.label, [(key, scale.name) for key, scale in dim.items()])
                     for dim in d.dims],
            "back": sorted((f[ref].name, int(dim)) for ref, dim in back),
        }

    f.visititems(look)
    return found


@pytest.fixture
def both(tmp_path):
    """The paths of an .h5 file and of a store, to which a test does the same."""
    return [str(tmp_path / "a.h5"), str(tmp_path / "a.zarr")]


def same_in(paths):
    states = []
    for path in paths:
        with h5py.File(path, "r") as f:
            states.append(seen(f))
    assert states[0] == states[1]
    return states[0]


def names(path, name):
    return json.loads((Path(path) / name / "zarr.json").read_text()).get("dimension_names")


def make(f):
    for name, shape in (("x", 4), ("y", 3), ("o/y2", 3), ("two", (4, 2)), ("g/v", (3, 4)),
                        ("g/w", (3, 4)), ("h/u", (3, 4))):
        f.create_dataset(name, data=np.ones(shape))


def attach(f):
    for name, label in (("x", "lon"), ("y", ""), ("o/y2", "other"), ("two", "2-D")):
        f[name].make_scale(label)
    v, w = f["g/v"], f["g/w"]
    for dim, name in ((0, "y"), (0, "o/y2"), (1, "two")):
        v.dims[dim].attach_scale(f[name])
    v.dims[1].label = "apart"
    w.dims[1].attach_scale(f["x"])
    f["h/u"].dims[0].attach_scale(f["o/y2"])


def test_all_kinds_of_scales_are_kept(both):
    """Several for a dimension, on some dimensions only, of any group, with two dimensions; labels apart
    from names."""
    for path in both:
        with h5py.File(path, "w") as f:
            make(f)
            attach(f)
            state = seen(f)
    assert state == same_in(both)
    assert state["g/v"]["dims"][0][1] == [("", "/y"), ("other", "/o/y2")]
    assert names(both[1], "g/v") == ["y", "two"] and names(both[1], "g/w") == [None, "x"]
    assert names(both[1], "h/u") == ["y2", None] and names(both[1], "x") == ["x"]


def test_scales_of_names_that_no_zarr_node_can_have_are_kept(both):
    """The store has them under other names; dimensions are called as HDF5 calls the scales."""
    odd = [".x", "__x", "zarr.json", "o/.h", "a\\b", "p%2Eq", "c\x01"]
    for path in both:
        with h5py.File(path, "w") as f:
            d = f.create_dataset("d", data=np.ones((3,) * len(odd)))
            for i, name in enumerate(odd):
                f.create_dataset(name, data=np.ones(3)).make_scale(f"scale {i}")
                d.dims[i].attach_scale(f[name])
            f.create_dataset("e", data=np.ones(3)).dims[0].attach_scale(f["__x"])
            state = seen(f)
    assert state == same_in(both)
    assert [dim[1] for dim in state["d"]["dims"]] == [[(f"scale {i}", f"/{n}")] for i, n in enumerate(odd)]
    assert names(both[1], "e") == ["__x"]


def test_scales_are_detached_and_labels_replaced(both):
    for path in both:
        with h5py.File(path, "w") as f:
            make(f)
            attach(f)
        with h5py.File(path, "r+") as f:
            f["g/v"].dims[0].detach_scale(f["y"])
            f["g/w"].dims[1].detach_scale(f["x"])
            f["g/v"].dims[1].label = "new"
            assert not h5py.h5ds.is_attached(f["g/v"].id, f["y"].id, 0)
            assert h5py.h5ds.is_attached(f["g/v"].id, f["o/y2"].id, 0)
            assert h5py.h5ds.get_num_scales(f["g/v"].id, 0) == 1
    same_in(both)
    assert names(both[1], "g/v") == ["y2", "two"] and names(both[1], "g/w") is None


def test_scales_follow_moves(both):
    """References lead to the same datasets when those, or groups around them, are moved."""
    for path in both:
        with h5py.File(path, "w") as f:
            make(f)
            attach(f)
        with h5py.File(path, "r+") as f:
            f.move("o/y2", "g/y3")
            f.move("g", "k/deep/g")
            f.move("x", "lon")
            seen(f)
        with h5py.File(path, "r+") as f:
            f.move("k/deep", "top")
    state = same_in(both)
    assert state["top/g/v"]["dims"][0][1] == [("", "/y"), ("other", "/top/g/y3")]
    assert names(both[1], "top/g/w") == [None, "lon"] and names(both[1], "lon") == ["lon"]


def test_a_deleted_scale_is_off_all_lists(both):
    path = both[1]
    with h5py.File(path, "w") as f:
        make(f)
        attach(f)
        del f["o/y2"]
        here = seen(f)
    with h5py.File(path, "r+") as f:
        assert seen(f) == here
        assert [scale.name for scale in f["g/v"].dims[0].values()] == ["/y"]
        assert len(f["h/u"].dims[0]) == 0
        del f["g/v"]
        assert "REFERENCE_LIST" not in f["y"].attrs and "REFERENCE_LIST" not in f["two"].attrs


def test_copies_within_a_store(both):
    """A copy of a dataset is attached to the same scales; a group's copy to those that it contains."""
    path = both[1]
    with h5py.File(path, "w") as f:
        make(f)
        attach(f)
        f.copy("g/v", "deep/er/v")
        f.move("y", "g/y")  # which does not know of the copy
        f.copy("g", "copy")
    with h5py.File(path, "r") as f:
        assert [s.name for s in f["deep/er/v"].dims[0].values()] == ["/g/y", "/o/y2"]
        assert [s.name for s in f["copy/v"].dims[0].values()] == ["/copy/y", "/o/y2"]
        assert [s.name for s in f["g/v"].dims[0].values()] == ["/g/y", "/o/y2"]
        assert f["copy/v"].dims[1].label == "apart"


def test_a_dataset_in_another_file_has_no_scales_of_it(both, tmp_path):
    """As with HDF5, whose references become null. A namesake there is not taken for the scale."""
    other = str(tmp_path / "b.zarr")
    with h5py.File(both[1], "w") as f, h5py.File(other, "w") as g:
        make(f)
        attach(f)
        g.create_dataset("y", data=np.zeros(3))
        f.copy("g/v", g, name="h/v")
    with h5py.File(other, "r") as g:
        assert [len(dim) for dim in g["h/v"].dims] == [0, 0] and g["h/v"].dims[1].label == "apart"


@pytest.mark.parametrize("what", ["/", "g"])
def test_copies_between_hdf5_files_and_stores(both, tmp_path, what):
    with h5py.File(both[0], "w") as f:
        make(f)
        attach(f)
        f.move("y", "g/y")
    ends = [tmp_path / "there.zarr", tmp_path / "back.h5"]
    for source, target, name in ((both[0], ends[0], what), (ends[0], ends[1], "copy")):
        with h5py.File(source, "r") as f, h5py.File(target, "w") as g:
            f.copy(f[name], g, name="copy")
    state = same_in(ends)
    assert [key for key, _ in state["copy/g/v" if what == "/" else "copy/v"]["dims"][0][1]] == (
        ["", "other"] if what == "/" else [""])


def test_h5repack_there_and_back(both, tmp_path):
    with h5py.File(both[0], "w") as f:
        make(f)
        attach(f)
    back = str(tmp_path / "back.h5")
    tool("h5repack", both[0], both[1], connector="zarr")
    same_in(both)
    tool("h5repack", both[1], back, connector="zarr")
    same_in([both[0], back])
    for pair in ((both[0], both[1]), (both[0], back), (both[1], back)):
        done = run(["h5diff", "-v", *pair], "zarr")
        assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
        assert "comparable" not in done.stdout and set(
            re.findall(r"^(\d+) differences", done.stdout, re.M)) == {"0"}, done.stdout


def test_h5repack_between_stores(both, tmp_path):
    """It copies datasets without their attributes, and those one by one afterwards: names that a copy
    kept were labels and scales of its own."""
    again = str(tmp_path / "again.zarr")
    for path in both:
        with h5py.File(path, "w") as f:
            make(f)
            attach(f)
    tool("h5repack", both[1], again, connector="zarr")
    same_in([both[0], again])
    for name in ("x", "g/v", "g/w", "h/u"):
        assert names(again, name) == names(both[1], name)


@pytest.mark.parametrize("options", [[], ["-f", "GZIP=1"]])
def test_h5repack_of_a_store_of_another_program(tmp_path, options):
    root = zarr.open_group(tmp_path / "a.zarr", mode="w", zarr_format=3)
    for name, shape, dims in (("x", (4,), ["x"]), ("y", (3,), ["y"]), ("v", (3, 4), ["y", "x"]),
                              ("w", (3, 4), ["y", "none"]), ("g/y", (3,), ["y"]),
                              ("g/v", (3, 4), ["y", "x"]), ("t", (4, 4), ["x", None])):
        put(root.require_group(name.rpartition("/")[0]) if "/" in name else root,
            name.rpartition("/")[2], np.ones(shape), dimension_names=dims)
    tool("h5repack", *options, tmp_path / "a.zarr", tmp_path / "b.zarr", connector="zarr")
    for name in ("x", "y", "v", "w", "g/y", "g/v", "t"):
        assert names(tmp_path / "b.zarr", name) == names(tmp_path / "a.zarr", name)
    told = []
    for name in ("a.zarr", "b.zarr"):
        with h5py.File(tmp_path / name) as f:
            told.append({name: (one["attributes"], one["name"], [scales for _, scales in one["dims"]])
                         for name, one in seen(f).items()})
    assert told[0] == told[1]


def test_a_copy_without_attributes_has_no_scales(both, tmp_path):
    for path in both:
        with h5py.File(path, "w") as f:
            make(f)
            attach(f)
            f.copy("g/v", f, "here", without_attrs=True)
            f.copy("x", f, "there", without_attrs=True)
            assert not list(f["here"].attrs) and not list(f["there"].attrs)
            with h5py.File(tmp_path / f"other{Path(path).suffix}", "w") as other:
                f.copy("h/u", other, "v", without_attrs=True)
                assert not list(other["v"].attrs) and [d.label for d in other["v"].dims] == ["", ""]


def test_tools_print_the_references(both):
    for path in both:
        with h5py.File(path, "w") as f:
            make(f)
            attach(f)
    texts = [tool("h5dump", "-A", path, connector="zarr").split("\n", 1)[1] for path in both]
    assert texts[0].count("REFERENCE_LIST") == texts[1].count("REFERENCE_LIST") == 4
    assert [line for line in texts[1].splitlines() if "DATASET" in line and '"/' in line]
    tool("h5ls", "-rv", both[1], connector="zarr")


NEW_REFERENCES = r"""
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "w") as f:
    x, v = f.create_dataset("x", data=np.zeros(3)), f.create_dataset("v", data=np.zeros((3, 3)))
    x.make_scale("n")
    v.dims[0].attach_scale(x)
with h5py.File(sys.argv[1], "r") as f:
    x, v = f["x"], f["v"]
    assert h5py.h5ds.is_scale(x.id) and h5py.h5ds.get_num_scales(v.id, 0) == 1
"""


def test_scale_functions_that_write_references_of_the_new_kind_read_them(both):
    """HDF5's scale functions use them with connectors that are not its own."""
    run_python(NEW_REFERENCES, both[1], connector="zarr native_compat=0")
    run_python("""
import h5py, sys
with h5py.File(sys.argv[1], "r") as f:
    assert h5py.h5ds.is_attached(f["v"].id, f["x"].id, 0)
""", both[1], connector="zarr native_compat=0")
    assert tool("h5dump", "-A", both[1]).count("{ H5T_STD_REF }") == 2
    assert names(both[1], "v") == ["x", None]


# ---- Other programs' changes


def test_names_that_another_program_gives_win(both):
    path = both[1]
    with h5py.File(path, "w") as f:
        make(f)
        attach(f)
    document = Path(path) / "g/v/zarr.json"
    node = json.loads(document.read_text())
    node["dimension_names"] = ["row", "column"]
    document.write_text(json.dumps(node))
    with h5py.File(path, "r") as f:
        assert [dim.label for dim in f["g/v"].dims] == ["row", "column"]
        assert "DIMENSION_LIST" not in f["g/v"].attrs


@pytest.mark.parametrize("scales", [
    {"DIMENSION_LIST": {"type": {"class": "vlen", "base": "<i8"}, "shape": [2],
                        "value": [[1], [2]]}},
    {"DIMENSION_LIST": {"type": {"class": "vlen", "base": {"class": "reference", "kind": "object"}},
                        "shape": [5], "value": [["../x"]] * 5}},
    {"DIMENSION_LIST": {"type": {"class": "vlen", "base": {"class": "reference", "kind": "object"}},
                        "shape": [2], "value": [["../../../../../etc"], [None, 3, {"a": "../x"}]]}},
    {"REFERENCE_LIST": {"type": {"class": "compound", "size": 4096, "members": [
        ["dataset", 4000, {"class": "reference", "kind": "object"}]]},
        "shape": [1], "value": [{"dataset": "../x"}]}},
    {"REFERENCE_LIST": 3, "CLASS": [], "NAME": None, "DIMENSION_LABELS": {"value": ["a"]}},
    {"DIMENSION_LABELS": {"type": {"class": "string", "size": 900, "padding": 0, "charset": 0},
                          "shape": [2], "value": ["", ""]}},
    [], "text", None,
])
def test_scales_that_nobody_could_have_written_are_not_shown(new_store, scales):
    path, group = new_store()
    put(group, "x", np.zeros(2))
    array = put(group, "v", np.zeros((2, 2)))
    array.attrs["_hdf5"] = json.dumps({"version": 1, "scales": scales})
    with h5py.File(path, "r") as f:
        assert not SCALES & set(f["v"].attrs) and not f["v"].is_scale
        assert [(dim.label, len(dim)) for dim in f["v"].dims] == [("", 0)] * 2


# ---- Stores of other programs


def test_scales_are_added_to_an_array_of_another_program(new_store):
    """What was made of dimension_names before stays."""
    path, group = new_store()
    put(group, "v", np.zeros((2, 3)), dimension_names=("y", "x"))
    put(group, "x", np.arange(3), dimension_names=("x",))
    put(group, "y", np.arange(2), dimension_names=("y",))
    put(group, "z", np.arange(2))
    with h5py.File(path, "r+") as f:
        f["z"].make_scale("third")
        f["v"].dims[0].attach_scale(f["z"])
        assert [s.name for s in f["v"].dims[0].values()] == ["/y", "/z"]
    with h5py.File(path, "r") as f:
        assert [s.name for s in f["v"].dims[0].values()] == ["/y", "/z"]
        assert [s.name for s in f["v"].dims[1].values()] == ["/x"]
    assert names(path, "v") == ["y", "x"]


def test_a_name_that_would_mean_another_array_is_not_given(both):
    """xarray takes the nearest array of the dimension's name for its coordinate."""
    path = both[1]
    with h5py.File(path, "w") as f:
        for name in ("a/x", "b/x", "b/v"):
            f[name] = np.zeros(4)
        f["a/x"].make_scale()
        f["b/v"].dims[0].attach_scale(f["a/x"])
    assert names(path, "b/v") is None
    with h5py.File(path, "r") as f:
        assert f["b/v"].dims[0][0].name == "/a/x"


def test_what_is_no_scale_any_more(both):
    for path in both:
        with h5py.File(path, "w") as f:
            f["x"], f["v"] = np.zeros(4), np.zeros(4)
            f["x"].make_scale("n")
        with h5py.File(path, "r+") as f:
            del f["x"].attrs["CLASS"]
            f["v"].dims[0].label = "x"
    state = same_in(both)
    assert not state["x"]["scale"] and state["v"]["dims"] == [("x", [])]


# ---- Random sequences


def step(f, rng, datasets, count):
    """One random change that HDF5 allows, the same for each file of the same generator."""
    what = rng.choice(("make", "attach", "attach", "attach", "detach", "label", "move", "group",
                       "delete"))
    name = rng.choice(sorted(datasets))
    d = f[name]
    back = d.attrs.get("REFERENCE_LIST", [])
    if what == "make" and "DIMENSION_LIST" not in d.attrs and not d.is_scale:
        d.make_scale(rng.choice(("", "name", "longer name")))
    elif what == "attach" and not d.is_scale and d.ndim:
        scales = [s for s in sorted(datasets) if s != name and "DIMENSION_LIST" not in f[s].attrs]
        if scales:
            d.dims[rng.randrange(d.ndim)].attach_scale(f[rng.choice(scales)])
    elif what == "detach" and "DIMENSION_LIST" in d.attrs:
        dim = rng.choice([dim for dim in d.dims if len(dim)])
        dim.detach_scale(dim[rng.randrange(len(dim))])
    elif what == "label" and d.ndim:
        d.dims[rng.randrange(d.ndim)].label = rng.choice(("", "a", "text with ä", name[-1]))
    elif what == "move":
        new = f"{rng.choice(('', 'g/', 'g/h/', 'k/'))}n{count}"
        f.move(name, new)
        datasets.remove(name)
        datasets.add(new)
    elif what == "group" and "g" in f and rng.random() < 0.3:
        new = f"m{count}"
        f.move("g", new)
        moved = {n for n in datasets if n.startswith("g/")}
        datasets -= moved
        datasets |= {new + n[1:] for n in moved}
    elif what == "delete" and len(datasets) > 4 and not len(back) and "DIMENSION_LIST" not in d.attrs:
        # HDF5 would leave references that lead nowhere, or to the next object at that address.
        del f[name]
        datasets.remove(name)


# ---- References of the kind H5T_STD_REF


def new_scales(tmp_path, connector="zarr"):
    """The path of a file whose scales are attached by such references."""
    made = run([build_dir() / "tests" / "vol" / "vol-c-new_scales", tmp_path / "new.h5"], connector)
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "new.h5").read_bytes().count(b"new.h5") == 0, "a reference to another file"
    return tmp_path / "new.h5"


def attributes_of(path, object_path, connector="zarr"):
    """All that h5dump says of the attributes, without the names of files and groups."""
    text = tool("h5dump", "-A", "-d", object_path, path, connector=connector)
    top = object_path.rsplit("/", 1)[0]
    return text.split("DATASPACE", 1)[1].replace(f'"{path}{top}/', '"/')


OF_SCALES = ("v", "x", "x2", "y")


@pytest.mark.parametrize("connector", [None, "zarr"])
def test_copies_keep_the_kind_of_references(tmp_path, connector):
    """HDF5 asks the connector whether what a new reference refers to is in the same file."""
    new = new_scales(tmp_path, connector)
    with h5py.File(new) as source, h5py.File(tmp_path / "x.zarr", "w") as f:
        source.copy("/", f, "all")
    with h5py.File(tmp_path / "x.zarr") as f, h5py.File(tmp_path / "x.h5", "w") as copy:
        f.copy("all", copy)
    with h5py.File(tmp_path / "x.zarr") as f, h5py.File(tmp_path / "y.zarr", "w") as copy:
        f.copy("all", copy)
        copy.move("all/x2", "all/moved")
        copy.move("all/moved", "all/x2")
    expected = {name: attributes_of(new, "/" + name) for name in OF_SCALES}
    assert "{ H5T_STD_REF }" in expected["v"] and "{ H5T_STD_REF }" in expected["x2"]
    for path in ("x.zarr", "x.h5", "y.zarr"):
        assert expected == {name: attributes_of(tmp_path / path, "/all/" + name)
                            for name in OF_SCALES}, path
    assert (tmp_path / "x.h5").read_bytes().count(b"x.") == 0, "a reference to another file"
    for name in OF_SCALES:
        tool("h5diff", new, tmp_path / "x.h5", "/" + name, "/all/" + name, connector=connector)
    assert zarr.open_array(tmp_path / "x.zarr/all/v").metadata.dimension_names == ("x", "y")
    with h5py.File(tmp_path / "x.zarr") as f:
        assert "REFERENCE_LIST" not in f["all/two"].attrs, "it is of no type that HDF5 gives it"


def test_h5repack_there_and_back_keeps_the_kind_of_references(tmp_path):
    """Also of attributes that have the name and a type of their own."""
    new, store, back = new_scales(tmp_path), tmp_path / "x.zarr", tmp_path / "back.h5"
    tool("h5repack", new, store, connector="zarr")
    tool("h5repack", store, back, connector="zarr")
    for name in OF_SCALES + ("two", "texts"):
        expected = attributes_of(new, "/" + name)
        assert expected == attributes_of(store, "/" + name), name
        # references that h5repack writes lead into the file that it has read, also natively
        assert expected == attributes_of(back, "/" + name).replace(f'"{store}/', '"/'), name
    assert "H5T_STD_REF }" in expected and "a text that is not short" in expected
    for other in (store, back):
        assert "differences" not in tool("h5diff", new, other, connector="zarr")


def described_kinds(path, stored, memory, connector="zarr"):
    done = run([build_dir() / "tests" / "vol" / "vol-c-reference_kinds", path, stored, memory], connector)
    return done.returncode, done.stdout


@pytest.mark.parametrize("stored, memory", [("old", "old"), ("old", "new"), ("new", "new"),
                                            ("new", "old")])
def test_references_of_both_kinds_in_memory(tmp_path, stored, memory):
    """HDF5 crashes when it writes old references into new ones, and reads such as others."""
    new, store = new_scales(tmp_path), tmp_path / "x.zarr"
    tool("h5repack", new, store, connector="zarr")
    expected = (0, "DIMENSION_LIST /x 0\nREFERENCE_LIST /x 5\n")
    if (stored, memory) != ("new", "old"):
        assert described_kinds(new, stored, memory, None) == expected
    assert described_kinds(store, stored, memory) == expected
    kinds = {"old": "{ H5T_STD_REF_OBJECT }", "new": "{ H5T_STD_REF }"}
    assert kinds[stored] in attributes_of(store, "/v") and kinds[stored] in attributes_of(store, "/left")


@pytest.mark.parametrize("new_refs", [
    3, "<i4", {"class": "reference", "kind": "any"}, {"class": "vlen", "base": "<i8"},
    {"class": "compound", "size": 72, "members": [["dataset", 0, {"class": "reference", "kind": "any"}]]},
    {"class": "vlen", "base": {"class": "vlen", "base": {"class": "reference", "kind": "any"}}},
    {"class": "vlen", "base": {"class": "reference", "kind": "region"}}])
def test_a_note_of_the_kind_that_does_not_fit_is_none(tmp_path, new_refs):
    store = tmp_path / "x.zarr"
    tool("h5repack", new_scales(tmp_path), store, connector="zarr")
    document = store / "v/zarr.json"
    node = json.loads(document.read_text())
    side = json.loads(node["attributes"]["_hdf5"])
    side["scales"]["DIMENSION_LIST"]["new_refs"] = new_refs
    node["attributes"]["_hdf5"] = json.dumps(side)
    document.write_text(json.dumps(node))
    with h5py.File(store) as f:
        assert [[scale.name for scale in dimension.values()] for dimension in f["v"].dims] == [
            ["/x", "/x2"], ["/y"]]


@pytest.mark.parametrize("seed", range(12))
def test_random_changes(tmp_path, seed):
    paths = [str(tmp_path / "r.h5"), str(tmp_path / "r.zarr")]
    states = []
    for path in paths:
        rng = random.Random(seed)
        datasets, trail = set(), []
        with h5py.File(path, "w") as f:
            for i in range(9):
                name = f"{rng.choice(('', 'g/', 'g/h/', 'k/'))}d{i}"
                f.create_dataset(name, data=np.zeros((2,) * rng.randrange(1, 4)))
                datasets.add(name)
        for session in range(8):
            with h5py.File(path, "r+") as f:
                for i in range(8):
                    step(f, rng, datasets, 8 * session + i)
                trail.append(seen(f))
            with h5py.File(path, "r") as f:
                trail.append(seen(f))
        states.append(trail)
    for n, (native, ours) in enumerate(zip(*states)):
        assert native == ours, n
    store = zarr.open_group(paths[1], mode="r")
    assert all(array.shape for _, array in store.arrays())


def test_scales_behind_external_links_are_those_of_their_own_file(tmp_path):
    """Also where another object has the address of the scale, or of the dataset, in the file that is copied."""
    for name, letter in (("far.h5", "f"), ("c.h5", "c")):
        with h5py.File(tmp_path / name, "w") as f:
            f[f"g/{letter}d"] = np.zeros((2, 3), "i4")
            f[f"g/{letter}y"] = [1.0, 2.0]
            f[f"g/{letter}y"].make_scale()
            f[f"g/{letter}d"].dims[0].attach_scale(f[f"g/{letter}y"])
    with h5py.File(tmp_path / "c.h5", "r+") as f, h5py.File(tmp_path / "x.zarr", "w") as other:
        f["g/zz"] = h5py.ExternalLink("far.h5", "/g/fd")
        f["whole/zz"] = h5py.ExternalLink("far.h5", "/g")
        f.copy("g", other, expand_external=True)
        f.copy("whole", other, expand_external=True)
    with h5py.File(tmp_path / "x.zarr", "r") as other:
        assert len(other["g/zz"].dims[0]) == 0 and "DIMENSION_LIST" not in other["g/zz"].attrs
        assert other["g/cd"].dims[0][0] == other["g/cy"]
        assert list(other["g/cy"].attrs["REFERENCE_LIST"]["dimension"]) == [0]
        assert other[other["g/cy"].attrs["REFERENCE_LIST"]["dataset"][0]] == other["g/cd"]
        assert other["whole/zz/fd"].dims[0][0] == other["whole/zz/fy"]
    group = zarr.open_group(tmp_path / "x.zarr", mode="r", use_consolidated=False)
    assert group["g/zz"].metadata.dimension_names == ("fy", None)
    assert group["g/cd"].metadata.dimension_names == ("cy", None)
    assert group["whole/zz/fd"].metadata.dimension_names == ("fy", None)
