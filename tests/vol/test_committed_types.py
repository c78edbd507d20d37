# SPDX-License-Identifier: MIT
"""Named (committed) datatypes: empty groups to Zarr readers."""

import ctypes
import json
import random

import h5py
import numpy as np
import pytest
from conftest import SEARCHES, run_python, tool
from property_lists import library
from test_exact_types import KINDS, mutate

T = h5py.h5t
MORE = {"int": T.NATIVE_INT32, "text": h5py.h5t.py_create(h5py.string_dtype(), logical=True),
        "sequence": T.vlen_create(T.STD_I16BE), "reference": T.STD_REF_OBJ}
ALL = {**{name: kind for name, (kind, _) in KINDS.items()}, **MORE}


def commit(file, name, kind):
    kind = kind.copy()
    kind.commit(file.id, name.encode())
    return kind


@pytest.fixture
def store(tmp_path):
    for name in ("x.zarr", "a.h5"):
        with h5py.File(tmp_path / name, "w") as file:
            for key, kind in ALL.items():
                commit(file, key, kind)
            file.create_group("g")
            file["g/t"] = np.dtype([("a", "i2"), ("b", "f8")])
            file["g/t"].attrs["note"] = 7
            file.create_dataset("g/d", (3,), file["g/t"])[1] = (1, 2.5)
    return tmp_path / "x.zarr"


@pytest.mark.parametrize("suffix", ["zarr", "h5"])
def test_types_that_cannot_change_are_refused(tmp_path, suffix):
    """The whole process has them: committed once, they would lead to an object of that file for good."""
    locked = T.NATIVE_INT16.copy()
    locked.lock()
    with h5py.File(tmp_path / f"x.{suffix}", "w") as file:
        for kind in (T.NATIVE_INT64, T.IEEE_F32BE, locked):
            with pytest.raises(Exception):
                kind.commit(file.id, b"t")
            library.H5Tcommit_anon.argtypes = [ctypes.c_int64] * 4
            assert library.H5Tcommit_anon(file.id.id, kind.id, 0, 0) < 0
            assert not kind.committed()
        assert list(file) == []
        kept = file.create_dataset("d", (2,), T.NATIVE_INT64.dtype).id.get_type()
        kept.commit(file.id, b"of a dataset")
        assert kept.committed() and kept.equal(T.NATIVE_INT64)
    with h5py.File(tmp_path / "y.h5", "w") as file:
        h5py.h5d.create(file.id, b"d", T.NATIVE_INT64, h5py.h5s.create_simple((2,)))
        assert file["d"][0] == 0


@pytest.mark.parametrize("suffix", ["zarr", "h5"])
def test_old_calls_take_their_ids(tmp_path, suffix):
    with h5py.File(tmp_path / f"x.{suffix}", "w") as file:
        made = commit(file, "t", T.NATIVE_INT32)
        file["of"] = h5py.Empty(file["t"].dtype)
        for kind in (made, file["t"].id):
            by_id, by_name = h5py.h5o.get_info(kind), h5py.h5o.get_info(file.id, b"t")
            assert by_id.type == h5py.h5o.TYPE_NAMED_DATATYPE and by_id.addr == by_name.addr
            assert by_id.fileno == h5py.h5o.get_info(file.id).fileno
            assert h5py.h5g.get_objinfo(kind).type == h5py.h5g.TYPE


def test_a_type_of_a_store_in_a_file_that_the_connector_does_not_see(store):
    """HDF5 does not ask about it: what it makes must not take other elements in silence."""
    if not SEARCHES:
        pytest.skip("this HDF5 finds no connector by itself")
    run_python("""
import h5py, numpy, sys
store, native = h5py.File(sys.argv[1], "r"), h5py.File(sys.argv[2], "w")
number = store["int"]
made = h5py.h5d.create(native.id, b"d", number.id, h5py.h5s.create_simple((3,)))
try:
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, numpy.arange(3, dtype="i4"))
    raise SystemExit("written")
except (OSError, TypeError):
    pass
assert b"H5Tcopy" in made.get_type().get_tag()
h5py.h5d.create(native.id, b"e", number.id.copy(), h5py.h5s.create_simple((3,)))
native["e"][...] = [4, 5, 6]
assert list(native["e"]) == [4, 5, 6]
native.move("e", "moved")
""", store, store.parent / "y.h5", connector=None)


def test_kept(store):
    with h5py.File(store, "r") as file:
        for name, kind in ALL.items():
            opened = file[name]
            assert isinstance(opened, h5py.Datatype) and opened.id.committed() and opened.id == kind, name
            assert file.get(name, getclass=True) is h5py.Datatype and opened.name == f"/{name}"
        assert file["g/t"].dtype == np.dtype([("a", "i2"), ("b", "f8")]) and dict(file["g/t"].attrs) == {"note": 7}
        assert file["g/d"][1].tolist() == (1, 2.5)
        seen = []
        file.visititems(lambda name, item: seen.append((name, type(item).__name__)))
        assert ("g/t", "Datatype") in seen and len(seen) == len(ALL) + 3
        with pytest.raises((OSError, ValueError, KeyError)):
            h5py.h5g.open(file.id, b"int")
        with pytest.raises((OSError, ValueError, KeyError)):
            h5py.h5d.open(file.id, b"int")
        with pytest.raises((OSError, ValueError, KeyError, TypeError)):
            h5py.h5t.open(file.id, b"g")
    assert json.loads((store / "int/zarr.json").read_text())["node_type"] == "group"


def test_changed(store):
    with h5py.File(store, "r+") as file:
        file.move("int", "g/moved")
        file.copy("g/t", "copy")
        del file["text"]
        with pytest.raises(KeyError, match="name already exists"):
            commit(file, "g/moved", T.NATIVE_INT8)
        file["copy"].attrs["more"] = "x"
    with h5py.File(store, "r") as file:
        assert "text" not in file and "int" not in file and file["g/moved"].id == T.NATIVE_INT32
        assert dict(file["copy"].attrs) == {"note": 7, "more": "x"} and file["copy"] == file["copy"]


def test_copied(store, tmp_path):
    tool("h5repack", store, tmp_path / "b.h5", connector="zarr")
    tool("h5repack", tmp_path / "a.h5", tmp_path / "c.zarr", connector="zarr")
    tool("h5copy", "-i", tmp_path / "a.h5", "-o", tmp_path / "d.zarr", "-s", "/g", "-d", "/g", connector="zarr")
    for name in ("b.h5", "c.zarr", "d.zarr"):
        with h5py.File(tmp_path / name, "r") as file:
            assert file["g/t"].id.committed() and dict(file["g/t"].attrs) == {"note": 7}, name
            for key in ALL if name != "d.zarr" else ():
                assert file[key].id == ALL[key], (name, key)


def test_hostile(store):
    """A group whose attribute tells no type is a group."""
    path, random_ = store / "compound/zarr.json", random.Random("named")
    made = json.loads(path.read_text())
    side = made["attributes"]["_hdf5"]
    for _ in range(150):
        made["attributes"] = {"_hdf5": mutate(side, random_)}
        path.write_text(json.dumps(made))
        with h5py.File(store, "r") as file:
            kind = file.get("compound", getclass=True)
            assert kind in (h5py.Group, h5py.Datatype)
            if kind is h5py.Datatype:
                assert file["compound"].id.get_size() > 0


def fill_links(path):
    with h5py.File(path, "w") as file:
        file["t"] = np.dtype([("a", "i2"), ("s", h5py.string_dtype())])
        file["g/i"] = np.dtype("<i4")
        file.create_dataset("d", (3,), file["t"])[0] = (1, "x")
        file.create_dataset("g/n", (3,), file["g/i"])
        file.create_dataset("plain", (3,), "i4")
        file.attrs.create("at", 5, dtype=file["g/i"])
        file["d"].attrs.create("at", np.array([(2, b"q")], file["t"].dtype), dtype=file["t"])
        file.attrs["plain"] = np.int32(7)
    return path


def attribute_type(owner, name):
    return h5py.h5a.open(owner.id, name.encode()).get_type()


def assert_linked(file):
    for data, kind in (("d", "t"), ("g/n", "g/i")):
        found = file[data].id.get_type()
        assert found.committed() and found == file[kind].id, data
    assert not file["plain"].id.get_type().committed() and not attribute_type(file, "plain").committed()
    assert attribute_type(file, "at").committed() and attribute_type(file["d"], "at") == file["t"].id
    assert file["d"][0]["s"] == b"x" and file.attrs["at"] == 5 and file["d"].attrs["at"][0]["s"] == b"q"


def test_datasets_and_attributes_of_committed_types(tmp_path):
    """Their types are the named ones: H5Tcommitted says so, and h5dump names them."""
    for name in ("a.h5", "x.zarr"):
        path = fill_links(tmp_path / name)
        for mode in ("r", "r+"):
            with h5py.File(path, mode) as file:
                assert_linked(file)
        assert 'DATATYPE  "/g/i"' in tool("h5dump", "-H", path, connector="zarr")
    tool("h5diff", tmp_path / "a.h5", tmp_path / "x.zarr", connector="zarr")
    tool("h5repack", tmp_path / "a.h5", tmp_path / "b.zarr", connector="zarr")
    tool("h5repack", tmp_path / "b.zarr", tmp_path / "c.h5", connector="zarr")
    for name in ("b.zarr", "c.h5"):
        with h5py.File(tmp_path / name, "r") as file:
            assert_linked(file)


def count(file, name):
    return h5py.h5o.get_info(file.id, name.encode()).rc


@pytest.mark.parametrize("suffix", ["zarr", "h5"])
def test_users_are_counted(tmp_path, suffix):
    """Datasets and attributes refer to their type, as links do."""
    path = tmp_path / f"x.{suffix}"
    with h5py.File(path, "w") as file:
        for name in ("t", "u"):
            file[name] = np.dtype("i4")
        assert count(file, "t") == count(file, "u") == 1
        file.create_dataset("g/d", (3,), file["t"])
        assert count(file, "t") == 2
        file.attrs.create("a", 1, dtype=file["t"])
        file["g/d"].attrs.create("b", 2, dtype=file["t"])
        file["t"].attrs.create("c", 3, dtype=file["u"])
        assert (count(file, "t"), count(file, "u"), count(file, "g/d")) == (4, 2, 1)
        del file.attrs["a"]
        assert count(file, "t") == 3
        file["g/d"].attrs.create("b", 4, dtype="f8")
        assert count(file, "t") == 2
        h5py.h5a.create(file["g"].id, b"unwritten", file["t"].id, h5py.h5s.create(h5py.h5s.SCALAR))
        assert count(file, "t") == 3
    for mode in ("r", "r+"):
        with h5py.File(path, mode) as file:
            assert (count(file, "t"), count(file, "u"), count(file, "g/d"), count(file, "/")) == (3, 2, 1, 1)
            met = {}
            h5py.h5o.visit(file.id, lambda name, info: met.update({name: info.rc}), info=True)
            assert met == {b"g": 1, b"g/d": 1, b"t": 3, b"u": 2}
    with h5py.File(path, "r+") as file:
        file["more"] = file["t"]
        assert count(file, "t") == 4
        data = file["g/d"]
        del file["g"]
        assert count(file, "t") == 3 and data.id.get_type().committed()
        data.id._close()
        assert count(file, "t") == 2
        space = h5py.h5s.create(h5py.h5s.SCALAR)
        loose = h5py.h5d.create(file.id, None, file["t"].id, space)
        assert count(file, "t") == 3
        loose._close()
        assert count(file, "t") == 2


def test_users_in_large_trees(tmp_path):
    """More nodes than a walk leaves in memory, and users that other programs have broken."""
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        file["t"] = np.dtype("i4")
        for g in range(3):
            for d in range(800):
                file.create_dataset(f"g{g}/d{d:03}", (), file["t"] if d % 2 else "i4")
    (tmp_path / "x.zarr/g1/d001/zarr.json").write_text("{")
    for mode in ("r", "r+"):
        with h5py.File(tmp_path / "x.zarr", mode) as file:
            kind = file["t"]
            assert [h5py.h5o.get_info(kind.id).rc for _ in range(2)] == [1200] * 2
            assert kind.id.committed() and file["g2/d001"].id.get_type().committed()


def test_link_to_a_type_that_has_gone(tmp_path):
    """The type itself stays. Another one under the name is not taken for it."""
    path = fill_links(tmp_path / "x.zarr")
    with h5py.File(path, "r+") as file:
        file.attrs.modify("at", 6)
        assert attribute_type(file, "at").committed() and file.attrs["at"] == 6
        del file["t"], file["g/i"]
        file["t"] = np.dtype("f8")
    with h5py.File(path, "r") as file:
        for owner in (file["d"], file["g/n"]):
            assert not owner.id.get_type().committed()
        assert file["d"].dtype.names == ("a", "s") and file["g/n"].dtype == "<i4" and file.attrs["at"] == 6
        assert not attribute_type(file, "at").committed()


def test_hostile_links_to_types(tmp_path):
    path = fill_links(tmp_path / "x.zarr")
    document = path / "g/n/zarr.json"
    for link in ("/", ".", "", "/d", "/g", "/gone", "../../..", "/g/i/x", 7, None, ["/t"], "/t", "x" * 5000):
        made = json.loads(document.read_text())
        made["attributes"]["_hdf5"] = json.dumps({"version": 1, "named": link})
        document.write_text(json.dumps(made))
        with h5py.File(path, "r") as file:
            kind = file["g/n"].id.get_type()
            assert not kind.committed() and kind == h5py.h5t.STD_I32LE, link


def test_copies_into_hdf5_files(tmp_path):
    path = fill_links(tmp_path / "x.zarr")
    with h5py.File(path, "r+") as file:
        file["t"].attrs["note"] = "on a type"
    tool("h5copy", "-i", path, "-o", tmp_path / "a.h5", "-s", "/", "-d", "/all", connector="zarr")
    tool("h5copy", "-i", path, "-o", tmp_path / "a.h5", "-s", "/t", "-d", "/alone", connector="zarr")
    with h5py.File(path, "r") as store, h5py.File(tmp_path / "a.h5", "r") as file:
        for name in ("all/t", "alone"):
            assert file[name].id.committed() and file[name].id == store["t"].id
            assert file[name].attrs["note"] == "on a type"
        assert file["all/g/i"].id == store["g/i"].id and file["all/d"].id.get_type() == store["d"].id.get_type()


@pytest.mark.parametrize("names", [("x.zarr", "y.h5"), ("x.h5", "y.zarr"), ("x.zarr", "y.zarr")])
def test_types_of_another_file(names, tmp_path):
    """A dataset or an attribute of such a type gets a copy of it, as in HDF5."""
    kind = np.dtype([("a", "i4"), ("b", "f8")])
    with h5py.File(tmp_path / names[0], "w") as one, h5py.File(tmp_path / names[1], "w") as other:
        one["t"] = kind
        data = other.create_dataset("d", data=np.ones(2, kind), dtype=one["t"])
        other.attrs.create("a", np.ones(3, kind), dtype=one["t"])
        assert data.dtype == kind and not data.id.get_type().committed()
        one["d"] = np.zeros(2, kind)
    with h5py.File(tmp_path / names[1], "r") as other:
        assert (other["d"][()] == np.ones(2, kind)).all() and (other.attrs["a"] == np.ones(3, kind)).all()


def type_of(item):
    """Whether the type of a dataset, or of its attribute "of", is a named one, and the name."""
    kind = item.id.get_type() if isinstance(item, h5py.Dataset) else h5py.h5a.open(item.id, b"of").get_type()
    name = h5py.h5i.get_name(kind) if kind.committed() else None
    return name.decode() if name else None


def use_types(file):
    group = file.create_group("types")
    commit(group, "t", T.NATIVE_INT32)
    commit(group, "other", T.NATIVE_INT8)
    for name, kind in (("d", "t"), ("types/inside", "t"), ("far/away", "other"), ("plain", None)):
        file.create_dataset(name, (2,), file[f"types/{kind}"] if kind else "i4")
    file["plain"].attrs.create("of", 1, dtype=file["types/t"])
    file["far"].attrs.create("of", 1, dtype=file["types/other"])


def used(file):
    attribute = h5py.h5a.open(file["plain"].id, b"of").get_type()
    return {"d": type_of(file["d"]), "far/away": type_of(file["far/away"]), "far": type_of(file["far"]),
            "plain": h5py.h5i.get_name(attribute).decode() if attribute.committed() else None}


@pytest.mark.parametrize("name", ["x.zarr", "x.h5"])
@pytest.mark.parametrize("again", [False, True])
def test_moved_types_stay_those_of_what_was_made_with_them(tmp_path, name, again):
    with h5py.File(tmp_path / name, "w") as file:
        use_types(file)
    with h5py.File(tmp_path / name, "r+") as file:
        if again:
            assert used(file)["plain"] == "/types/t"
        file.move("types/t", "t2")
        file.move("types", "g/types")
        wanted = {"d": "/t2", "plain": "/t2", "far/away": "/g/types/other", "far": "/g/types/other"}
        assert used(file) == wanted and type_of(file["g/types/inside"]) == "/t2"
        file.move("far", "types")  # the old name, of another group
    with h5py.File(tmp_path / name, "r+") as file:
        file.move("types", "far")
        assert used(file) == wanted and type_of(file["g/types/inside"]) == "/t2"
        file["again"] = file["t2"]
        del file["t2"]  # the type goes on under its other name
    with h5py.File(tmp_path / name) as file:
        assert used(file) == {**wanted, "d": "/again", "plain": "/again"}


@pytest.mark.parametrize("name", ["x.zarr", "x.h5"])
@pytest.mark.parametrize("to", ["same", "other"])
def test_copies_have_the_types_that_were_copied_with_them(tmp_path, name, to):
    with h5py.File(tmp_path / name, "w") as file, h5py.File(tmp_path / f"o{name[1:]}", "w") as other:
        use_types(file)
        target = file if to == "same" else other
        file.copy("types", target, "g/copy")
        file.copy("far", target, "far2") if to == "same" else None
    with h5py.File(tmp_path / (name if to == "same" else f"o{name[1:]}")) as file:
        assert type_of(file["g/copy/inside"]) == "/g/copy/t"
        if to == "same":
            assert used(file)["d"] == type_of(file["types/inside"]) == "/types/t"


def test_shallow_copies_keep_types_that_are_not_in_them(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as file:
        for name in ("g/t", "g/sub/t"):
            file[name] = np.dtype("i4")
        for name in ("t", "sub/t"):
            file.create_dataset(f"g/of {name[:-2]}", (2,), file[f"g/{name}"])
        file.copy("g", "h", shallow=True)
        file.copy("g", "all")
    with h5py.File(path) as file:
        for group, types in (("h", ("/h/t", "/g/sub/t")), ("all", ("/all/t", "/all/sub/t"))):
            assert (type_of(file[f"{group}/of "]), type_of(file[f"{group}/of sub"])) == types


MOVE_MANY = """
import sys, h5py
with h5py.File(sys.argv[1], "r+") as file:
    file.move("types", "moved")
"""


def test_a_type_is_moved_with_all_its_users(tmp_path, monkeypatch):
    """They may be more than a file keeps in memory, and none of them changes."""
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as file:
        file["types/t"] = np.dtype("i4")
        for i in range(200):
            file.create_dataset(f"g{i % 10}/d{i}", (2,), file["types/t"])
        file.create_dataset("zz", (2,), file["types/t"])
    monkeypatch.setenv("ZARRBRIDGE_OPEN_NODES", "100")
    run_python(MOVE_MANY, path, connector="zarr")
    monkeypatch.delenv("ZARRBRIDGE_OPEN_NODES")
    with h5py.File(path) as file:
        for name in ("g9/d199", "g5/d195", "zz"):
            assert type_of(file[name]) == "/moved/t"
