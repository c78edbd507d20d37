# SPDX-License-Identifier: MIT
"""References, hard links, dimension scales and committed datatypes follow the objects that they lead to, as in HDF5's own
files: through moves by whatever program, also of groups above, hard links, copies, deletions and reopening; and nothing
leads to another object that came later.

ZARRBRIDGE_PROGRAMS: how many random programs are run; ZARRBRIDGE_SEED: the first one."""

import json
import os
import shutil

import h5py
import numpy as np
import pytest
import zarr
from conftest import build_dir, run_python, tool
from test_created_types import document

pytest.register_assert_rewrite("moved_programs")
from moved_programs import KINDS, move_by_core, run_program  # noqa: E402



def extension(path, node=""):
    return json.loads(document(path, node)["attributes"].get("_hdf5", "{}"))


def refer(file, name, target):
    """A reference among a dataset's elements, one in an attribute, and one within a compound."""
    ref = file[target].ref
    file.create_dataset(name, data=np.array([ref], h5py.ref_dtype), dtype=h5py.ref_dtype)
    file[name].attrs["r"] = ref
    file[name].attrs["row"] = np.array([(1, ref)], np.dtype([("n", "i4"), ("to", h5py.ref_dtype)]))


def followed(file, name):
    """The values behind the three of them; None for nothing."""
    refs = [file[name][0], file[name].attrs["r"], file[name].attrs["row"]["to"][0]]
    found = {int(file[ref][()]) if ref else None for ref in refs}
    assert len(found) == 1
    return found.pop()


@pytest.fixture(params=KINDS)
def path(request, tmp_path):
    path = tmp_path / f"x.{request.param}"
    with h5py.File(path, "w") as file:
        file["g/d"] = 1
        refer(file, "refs", "g/d")
    return path


@pytest.mark.parametrize("old, new", [("g/d", "old"), ("g", "h"), ("g/d", "g/e")])
def test_move_and_a_new_object_there(path, old, new):
    with h5py.File(path, "r+") as file:
        before = file["g/d"].ref
        file.move(old, new)
        file["g/d"] = 2
        assert followed(file, "refs") == 1 and file[before][()] == 1
        refer(file, "others", "g/d")
        after = file["g/d"].ref
        assert file[after][()] == 2
    with h5py.File(path, "r+") as file:
        assert (followed(file, "refs"), followed(file, "others")) == (1, 2)
        assert file[before][()] == 1
        file.move("g/d", "third")
        file["g/d"] = 3
    with h5py.File(path, "r") as file:
        assert (followed(file, "refs"), followed(file, "others")) == (1, 2)


def test_swap(path):
    with h5py.File(path, "r+") as file:
        file["e"] = 2
        refer(file, "others", "e")
        file.move("e", "tmp")
        file.move("g/d", "e")
        file.move("tmp", "g/d")
    with h5py.File(path, "r") as file:
        assert (followed(file, "refs"), followed(file, "others")) == (1, 2)
        assert (file["e"][()], file["g/d"][()]) == (1, 2)


def test_there_and_back(path):
    with h5py.File(path, "r+") as file:
        file.move("g", "h")
        file.move("h/d", "d")
        file.move("h", "g")
        file.move("d", "g/d")
    with h5py.File(path, "r") as file:
        assert followed(file, "refs") == 1
    if path.suffix == ".zarr":
        assert extension(path)["moved"] == {}


def test_first_of_two_hard_links_is_deleted(path):
    with h5py.File(path, "r+") as file:
        file["e"] = file["g/d"]
        del file["g/d"]
        file["g/d"] = 2
        assert followed(file, "refs") == 1
    with h5py.File(path, "r") as file:
        assert followed(file, "refs") == 1 and file["e"][()] == 1


def test_deleted_and_made_anew(tmp_path):
    """HDF5 may find the new object at the old one's address; a store knows better."""
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as file:
        file["d"] = 1
        refer(file, "refs", "d")
        kept = file["d"].ref
    with h5py.File(path, "r+") as file:
        assert file[kept][()] == 1
        del file["d"]
        file["d"] = 2
        with pytest.raises((ValueError, KeyError)):
            file[kept]
        assert followed(file, "refs") is None
        refer(file, "others", "d")
    with h5py.File(path, "r") as file:
        assert followed(file, "refs") is None and followed(file, "others") == 2


def test_a_reference_within_what_moves(tmp_path):
    for kind in KINDS:
        with h5py.File(tmp_path / f"x.{kind}", "w") as file:
            file["g/d"] = 1
            refer(file, "g/refs", "g/d")
        with h5py.File(tmp_path / f"x.{kind}", "r+") as file:
            file.move("g", "h")
            file.copy("h", "c")
            assert followed(file, "h/refs") == 1
            file["h/d"][()] = 5
        with h5py.File(tmp_path / f"x.{kind}", "r") as file:
            assert followed(file, "h/refs") == 5 and file[file["c/refs"][0]][()] == 5  # the original's


def test_a_file_within_a_store(tmp_path):
    """References of a file whose root is a group of the store are relative to that group, which may move."""
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as file:
        file.create_group("a")
    with h5py.File(path / "a", "r+") as file:
        file["d"] = 1
        refer(file, "refs", "d")
    with h5py.File(path, "r+") as file:
        file.move("a/d", "a/e")
        file["a/d"] = 2
        file.move("a", "b")
    with h5py.File(path / "b", "r") as file:
        assert followed(file, "refs") == 1


def test_renamed_by_gdal(path):
    if path.suffix == ".zarr":
        run_python("""
from osgeo import gdal
gdal.UseExceptions()
import sys
root = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE, ["Zarr3"]).GetRootGroup()
root.OpenGroup("g").OpenMDArray("d").Rename("e")
""", path)
        with h5py.File(path, "r+") as file:
            file["g/d"] = 2
        with h5py.File(path, "r") as file:
            assert followed(file, "refs") == 1


def test_nothing_is_kept_without_references(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as file:
        file["d"] = 1
        file.move("d", "e")
        del file["e"]
    assert "moved" not in extension(path)


def test_levels_have_plain_names(tmp_path):
    """They are made under other names, which nobody else knows."""
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as file:
        file["d"] = np.zeros((600, 600), "f4")
        file["first"] = np.array([file["d"].ref], h5py.ref_dtype)
    tool(os.environ["ZARRBRIDGE_PROGRAM"], "pyramid", path / "d")
    assert extension(path)["moved"] == {}
    with h5py.File(path, "r+") as file:
        file["second"] = np.array([file["ovr_2x/d"].ref], h5py.ref_dtype)
        assert file[file["second"][0]].name == "/ovr_2x/d"
    assert zarr.open_array(path / "second", mode="r")[0] == "/ovr_2x/d"
    with h5py.File(path, "r+") as file:
        del file["d"]
        assert list(file) == ["first", "second"]
        with pytest.raises(ValueError):
            file[file["second"][0]]


def test_a_name_like_that_of_a_level_in_the_making(path):
    with h5py.File(path, "r+") as file:
        file["a.1-2.zarr3-new"] = 3
        refer(file, "to_a", "a.1-2.zarr3-new")
        file.move("a.1-2.zarr3-new", "b")
        file["a.1-2.zarr3-new"] = 4
    with h5py.File(path, "r") as file:
        assert followed(file, "to_a") == 3


def test_an_old_store(path):
    """One without the member works by paths until a reference is stored."""
    if path.suffix == ".zarr":
        text = (path / "zarr.json").read_text()
        node = json.loads(text)
        del node["attributes"]["_hdf5"]
        (path / "zarr.json").write_text(json.dumps(node))
        with h5py.File(path, "r+") as file:
            assert followed(file, "refs") == 1
            file.move("g/d", "e")
            assert followed(file, "refs") is None
            file["refs"][0] = file["e"].ref
            file.move("e", "f")
            file["e"] = 2
        with h5py.File(path, "r") as file:
            assert int(file[file["refs"][0]][()]) == 1


def test_copies_in_another_store(path):
    with h5py.File(path, "r+") as file:
        file.move("g/d", "g/e")
        file["g/d"] = 2
        with h5py.File(path.with_name("y" + path.suffix), "w") as other:
            file.copy("refs", other)
            other["g/d"] = 3
    with h5py.File(path.with_name("y" + path.suffix), "r") as other:
        assert not other["refs"][0] or path.suffix == ".h5"
    if path.suffix == ".zarr":
        tool("h5repack", path, path.with_name("z.zarr"), connector="zarr")
        with h5py.File(path.with_name("z.zarr"), "r") as other:
            assert int(other[other["refs"][0]][()]) == 1
        shutil.copytree(path, path.with_name("w.zarr"))
        with h5py.File(path.with_name("w.zarr"), "r") as other:
            assert followed(other, "refs") == 1


def test_consolidated_metadata_and_archives(path):
    if path.suffix == ".zarr":
        program = build_dir() / "core/zarrbridge"
        tool(program, "consolidate", path)
        with h5py.File(path, "r+") as file:
            file.move("g/d", "e")
            file["g/d"] = 2
        node = json.loads((path / "zarr.json").read_text())
        assert sorted(node["consolidated_metadata"]["metadata"]) == ["e", "g", "g/d", "refs"]
        tool(program, "copy", path, path.with_name("y.zip"))
        for name in (path, path.with_name("y.zip")):
            with h5py.File(name, "r") as file:
                assert followed(file, "refs") == 1 and file["e"][()] == 1
        tool(program, "verify", path)


def test_two_programs(path):
    """What another program has moved since the file was opened."""
    if path.suffix == ".zarr":
        with h5py.File(path, "r") as file:
            run_python("""
import h5py, sys
with h5py.File(sys.argv[1], "r+") as file:
    file.move("g/d", "e")
    file["g/d"] = 2
""", path)
            assert followed(file, "refs") == 1


def test_the_first_reference_is_another_programs(path):
    """The file was opened before the store kept track of anything."""
    if path.suffix == ".zarr":
        node = json.loads((path / "zarr.json").read_text())
        del node["attributes"]["_hdf5"]
        (path / "zarr.json").write_text(json.dumps(node))
        with h5py.File(path, "r") as file:
            assert file["refs"].shape == (1,)
            run_python("""
import h5py, sys
with h5py.File(sys.argv[1], "r+") as file:
    file.attrs["first"] = file["g/d"].ref
    file.move("g/d", "e")
    file["g/d"] = 2
""", path)
            assert followed(file, "refs") == 1


def test_a_root_that_cannot_be_read(path):
    """Where references lead now is not known then: an error, and not what an old table says."""
    if path.suffix == ".zarr":
        with h5py.File(path, "r") as file:
            refs = file["refs"]
            assert followed(file, "refs") == 1
            text = (path / "zarr.json").read_text()
            (path / "zarr.json").write_text(text[:-2])
            with pytest.raises((OSError, KeyError, ValueError, RuntimeError)):
                followed(file, "refs")
            assert refs.shape == (1,)
            (path / "zarr.json").write_text(text)
            assert followed(file, "refs") == 1


def test_references_beside_what_json_lacks(path):
    """Such elements are stored as bytes, in which a reference would be a number of this program's."""
    if path.suffix == ".zarr":
        kind = np.dtype([("x", "f8"), ("to", h5py.ref_dtype)])
        odd = np.array([0x7FF8000000001234], "u8").view("f8")
        with h5py.File(path, "r+") as file:
            rows = np.zeros(1, kind)
            rows["x"], rows["to"][0] = odd, h5py.Reference()
            file.create_dataset("rows", data=rows)  # a null reference is the same in all programs
            rows["to"][0] = file["g/d"].ref
            with pytest.raises(OSError, match="dataset of their own"):
                file["rows"][...] = rows
            rows["x"] = np.nan
            file["rows"][...] = rows
        with h5py.File(path, "r+") as file:
            file.move("g/d", "e")
            assert np.isnan(file["rows"]["x"][0]) and file[file["rows"]["to"][0]][()] == 1


def test_attributes_whose_elements_are_bytes(path):
    """What JSON lacks (the payload of a NaN, bytes behind the end of a text) is kept beside references that move."""
    lists = h5py.vlen_dtype(h5py.ref_dtype)
    kind = np.dtype([("x", "f8"), ("to", h5py.ref_dtype), ("two", h5py.ref_dtype, (2,)), ("null", h5py.ref_dtype)])
    odd = np.array([0x7FF8000000001234], "u8").view("f8")[0]
    with h5py.File(path, "r+") as file:
        to = file["g/d"].ref
        rows = np.zeros(2, kind)
        rows["x"] = odd
        for row in rows:
            row["to"], row["two"], row["null"] = to, [to, file["g"].ref], h5py.Reference()
        file.attrs["rows"] = rows
        deep = np.zeros(1, np.dtype([("x", "f8"), ("lists", lists)]))
        deep["x"], deep["lists"][0] = odd, np.array([to, to], h5py.ref_dtype)
        file.attrs["deep"] = deep

    def see(file):
        rows, deep = file.attrs["rows"], file.attrs["deep"]
        refs = [rows["to"][0], rows["two"][1][0], *deep["lists"][0]]
        assert not rows["null"][0] and file[rows["two"][0][1]] == file["h" if "h" in file else "g"]
        assert [value.view("u8") for value in (*rows["x"], *deep["x"])] == [0x7FF8000000001234] * 3
        return [int(file[ref][()]) for ref in refs]

    with h5py.File(path, "r+") as file:
        assert see(file) == [1] * 4
        file.move("g/d", "e")
        file["g/d"] = 2
        file.move("g", "h")
        assert see(file) == [1] * 4
    with h5py.File(path, "r+") as file:
        assert see(file) == [1] * 4
        del file["e"]
    if path.suffix == ".zarr":
        with h5py.File(path, "r") as file:
            rows = file.attrs["rows"]
            assert not rows["to"][0] and rows["two"][0][1] and rows["x"][0].view("u8") == 0x7FF8000000001234


def test_references_beside_a_text_that_json_cannot_say(path):
    """The text that stands for it is longer than the type, so that the references could not be told from it."""
    kind = np.dtype([("text", "S4"), ("to", h5py.ref_dtype)])
    with h5py.File(path, "r+") as file:
        rows = np.zeros(1, kind)
        rows["text"], rows["to"][0] = b"\xff\xfe\xfd\xfc", file["g/d"].ref
        if path.suffix == ".zarr":
            with pytest.raises(OSError, match="attribute of their own"):
                file.attrs["rows"] = rows
            rows["to"][0] = h5py.Reference()
        file.attrs["rows"] = rows
    with h5py.File(path, "r") as file:
        assert file.attrs["rows"]["text"][0] == b"\xff\xfe\xfd\xfc"


def test_names_that_zarr_lacks(path):
    """Paths of the store differ from those of the file then."""
    with h5py.File(path, "r+") as file:
        file.create_group("__x")
        file.move("g/d", "__x/a%b")
        file["g/d"] = 2
        refer(file, "others", "g/d")
        file.move("g/d", "__x/..c")
        file["g/d"] = 3
        refer(file, "third", "g/d")
    with h5py.File(path, "r") as file:
        assert [followed(file, name) for name in ("refs", "others", "third")] == [1, 2, 3]


# ---- Hard links, dimension scales and committed datatypes ----


def move_by_gdal(path, old, new):
    """Its renames stay within a group."""
    run_python("""
from osgeo import gdal
gdal.UseExceptions()
import sys
store, old, new = sys.argv[1:]
group = gdal.OpenEx(store, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE, ["Zarr3"]).GetRootGroup()
*above, name = old.split("/")
for part in above:
    group = group.OpenGroup(part)
one = group.OpenMDArray(name) if name in (group.GetMDArrayNames() or []) else group.OpenGroup(name)
one.Rename(new.split("/")[-1])
""", path, old, new)


def move_by_connector(path, old, new):
    with h5py.File(path, "r+") as file:
        file.move(old, new)


MOVES = {"connector": move_by_connector, "core": move_by_core, "gdal": move_by_gdal}


@pytest.fixture(params=sorted(MOVES))
def move(request):
    """Moves in a native file, where `path` is one, and in a store by one of its programs."""
    def act(path, old, new):
        (MOVES[request.param] if path.suffix == ".zarr" else move_by_connector)(path, old, new)
    return act


def both(tmp_path):
    return [tmp_path / f"x.{kind}" for kind in KINDS]


def make_linked(path):
    """A scale, a dataset with it and a committed type, each in a group of its own; and hard links of all three."""
    with h5py.File(path, "w") as file:
        file["s/x"] = [1, 2, 3]
        file["s/x"].make_scale("axis")
        file["t/kind"] = np.dtype("i2")
        file.create_dataset("g/d", data=[4, 5, 6], dtype=file["t/kind"])
        file["g/d"].attrs.create("a", 7, dtype=file["t/kind"])
        file["g/d"].dims[0].attach_scale(file["s/x"])
        file["h/x"], file["h/kind"], file["h/d"] = file["s/x"], file["t/kind"], file["g/d"]


def linked(path):
    """What leads where, by addresses that both kinds of file have: the first path of each object."""
    with h5py.File(path, "r") as file:
        first = {}
        for group in sorted(file):
            for name in sorted(file[group]):
                if file[group].get(name) is not None:
                    first.setdefault(h5py.h5o.get_info(file[group][name].id).addr, f"{group}/{name}")

        def called(one):
            return first[h5py.h5o.get_info(one if isinstance(one, h5py.h5t.TypeID) else one.id).addr]
        result = {}
        for group in sorted(file):
            for name in sorted(file[group]):
                one = file[group].get(name)
                if one is None:
                    result[group, name] = "nothing"
                    continue
                found = [called(one)]
                if isinstance(one, h5py.Dataset):
                    found.append([called(scale) for scale in one.dims[0].values()])
                    found.append(one.is_scale)
                    types = [one.id.get_type(), *(one.attrs.get_id(key).get_type() for key in one.attrs if key == "a")]
                    found += [called(kind) if kind.committed() else None for kind in types]
                result[group, name] = found
        return result


STEPS = {
    "the scale": [("s/x", "s/y")],
    "the dataset": [("g/d", "g/e")],
    "the type": [("t/kind", "t/sort")],
    "the groups": [("s", "s1"), ("g", "g1"), ("t", "t1"), ("h", "h1")],
    "all of it": [("s/x", "s/y"), ("s", "s1"), ("s1/y", "s1/x"), ("t/kind", "t/z"), ("g", "g1"), ("g1/d", "g1/e"), ("h", "h1")],
}


@pytest.mark.parametrize("steps", STEPS.values(), ids=list(STEPS))
def test_links_follow(tmp_path, move, steps):
    found = []
    for path in both(tmp_path):
        make_linked(path)
        for old, new in steps:
            move(path, old, new)
        found.append(linked(path))
    assert found[0] == found[1]


def test_what_comes_to_old_places(tmp_path, move):
    """Nothing that led to the old objects leads to the new ones, and what is said of these is kept apart."""
    found = []
    for path in both(tmp_path):
        make_linked(path)
        for group in "sgt":
            move(path, group, group + "1")
        with h5py.File(path, "r+") as file:
            file["s/x"], file["t/kind"] = [7, 8, 9], np.dtype("i2")
            file["s/x"].make_scale("other")
            file.create_dataset("g/d", data=[1, 1, 1], dtype=file["t/kind"])
            file["g/d"].dims[0].attach_scale(file["s/x"])
            file["i/d"] = file["g/d"]
        move(path, "s", "s2")
        move(path, "g", "g2")
        found.append(linked(path))
    assert found[0] == found[1]


def test_the_first_of_two_hard_links_goes(tmp_path, move):
    found = []
    for path in both(tmp_path):
        make_linked(path)
        move(path, "h", "k")
        with h5py.File(path, "r+") as file:
            del file["s/x"], file["g/d"], file["t/kind"]
            file["s/x"], file["t/kind"] = [0, 0, 0], np.dtype("i2")
        move(path, "k", "h")
        found.append(linked(path))
    assert found[0] == found[1]


def test_copies_of_what_has_moved(tmp_path, move):
    """What led to objects within leads to their copies, whatever these were called."""
    path = tmp_path / "x.zarr"
    make_linked(path)
    with h5py.File(path, "r+") as file:
        for name in "sgth":
            file.move(name, "all/" + name)
    move(path, "all/s/x", "all/s/y")
    move(path, "all/t/kind", "all/t/z")
    with h5py.File(path, "r+") as file:
        file.move("all/g/d", "all/s/d")
        file["all/g/d"] = [0, 0, 0]
        file.copy("all", "copy")
        del file["all"]
        for name in "sgth":
            file.move("copy/" + name, name)
    assert linked(path) == {
        ("g", "d"): ["g/d", [], False, None],
        ("h", "d"): ["h/d", ["h/x"], False, "h/kind", "h/kind"],
        ("h", "kind"): ["h/kind"],
        ("h", "x"): ["h/x", [], True, None],
        ("s", "d"): ["h/d", ["h/x"], False, "h/kind", "h/kind"],
        ("s", "y"): ["h/x", [], True, None],
        ("t", "z"): ["h/kind"],
    }


def test_a_copy_without_its_scale_gets_no_other_one(tmp_path):
    """The dimension keeps the name of the scale that has gone, and beside the copy is an array of that name."""
    for path in both(tmp_path):
        with h5py.File(path, "w") as file:
            file["a"], file["b"], file["g/a"] = [2, 2], [3, 3], [6, 6]
            file["a"].make_scale("axis")
            file["b"].dims[0].attach_scale(file["a"])
            del file["a"]
            file.copy("b", "g/b")
            del file["g/b"].attrs["DIMENSION_LIST"]
            assert "DIMENSION_LIST" not in file["g/b"].attrs
        with h5py.File(path, "r") as file:
            assert "DIMENSION_LIST" not in file["g/b"].attrs


def test_copies_of_a_group_with_a_further_link_to_a_type(tmp_path):
    """What was made with the type goes by the copy, wherever the type's first link is."""
    for path in both(tmp_path):
        with h5py.File(path, "w") as file:
            file["kind"] = np.dtype("i4")
            file["g/link"] = file["kind"]
            file["kind"].attrs["n"] = 1
            file.create_dataset("g/d", data=[1], dtype=file["g/link"])
            file.copy("g", "copy")
            file["copy/link"].attrs["n"] = 2
        with h5py.File(path, "r") as file:
            types = {name: h5py.Datatype(file[name].id.get_type()) for name in ("g/d", "copy/d")}
            assert {name: int(kind.attrs["n"]) for name, kind in types.items()} == {"g/d": 1, "copy/d": 2}


def test_names_of_links_may_lead_below_a_dataset(tmp_path):
    """Those of a copy are the original's, and what lies at their places is another matter."""
    for path in both(tmp_path):
        with h5py.File(path, "w") as file:
            file["b"] = 1
            file["g/b"] = file["b"]  # which so is copied with the group
            file.copy("g", "x")
            file["x/g"] = 2
        with h5py.File(path, "r+") as file:
            del file["x"]
            assert sorted(file) == ["b", "g"] and file["g/b"][()] == 1


def test_a_reopened_file_goes_on(tmp_path, move):
    """What is stored after moves is as good as what was before."""
    found = []
    for path in both(tmp_path):
        make_linked(path)
        move(path, "s", "s1")
        move(path, "g/d", "g/e")
        with h5py.File(path, "r+") as file:
            file["s1/z"] = [1, 2, 3]
            file["s1/z"].make_scale("second")
            file["g/e"].dims[0].attach_scale(file["s1/z"])
            file["h/z"], file["h/e"] = file["s1/z"], file["g/e"]
            file["g/e"].dims[0].detach_scale(file["s1/x"])
        move(path, "s1", "s")
        move(path, "g/e", "g/d")
        found.append(linked(path))
    assert found[0] == found[1]


def test_links_of_an_old_store(tmp_path):
    """One without the member: the connector's first move of what has links begins it."""
    found = []
    for path in both(tmp_path):
        make_linked(path)
        if path.suffix == ".zarr":
            node = json.loads((path / "zarr.json").read_text())
            assert json.loads(node["attributes"].pop("_hdf5"))["moved"] == {}
            (path / "zarr.json").write_text(json.dumps(node))
        before = linked(path)
        for old, new in (("t/kind", "t/z"), ("s", "s1"), ("g/d", "g/e"), ("h", "h1")):
            move_by_connector(path, old, new)
        found += [before, linked(path)]
    assert found[:2] == found[2:]


def test_gdal_renames_no_links_that_nothing_follows(tmp_path):
    """Nor does it in an old store, where they are paths."""
    path = tmp_path / "x.zarr"
    make_linked(path)
    node = json.loads((path / "zarr.json").read_text())
    del node["attributes"]["_hdf5"]
    (path / "zarr.json").write_text(json.dumps(node))
    with pytest.raises(AssertionError):
        move_by_gdal(path, "g/d", "g/e")
    assert linked(path)["h", "d"][0] == "g/d"


# ---- Random programs, of which each is run on a native file and on a store ----

def test_random_programs(tmp_path):
    first, count = int(os.environ.get("ZARRBRIDGE_SEED", 1)), int(os.environ.get("ZARRBRIDGE_PROGRAMS", 25))
    steps = 0
    for seed in range(first, first + count):
        try:
            steps += run_program(seed, tmp_path)
        except Exception as error:
            raise AssertionError(f"program {seed}: {error!r}") from error
        (tmp_path / f"{seed}.h5").unlink()
        shutil.rmtree(tmp_path / f"{seed}.zarr")
    assert steps > 20 * count
