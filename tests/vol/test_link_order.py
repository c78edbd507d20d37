# SPDX-License-Identifier: MIT
"""The order in which links were made. Each test that takes `path` runs on a .h5 file, and on a
store."""

import ctypes
import json
import zipfile

import h5py
import pytest
import zarr
from conftest import run_python, tool
from test_links import side

CRT, NAME = h5py.h5.INDEX_CRT_ORDER, h5py.h5.INDEX_NAME
LIBRARY = ctypes.CDLL(h5py.h5p.__file__)
LIBRARY.H5Lget_name_by_idx.restype = ctypes.c_ssize_t
LIBRARY.H5Lget_name_by_idx.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_int, ctypes.c_int,
                                       ctypes.c_ulonglong, ctypes.c_char_p, ctypes.c_size_t,
                                       ctypes.c_int64]
NAMES = ["zeta", "alpha", "mid", "beta", "omega"]


@pytest.fixture(params=["x.h5", "x.zarr"])
def path(request, tmp_path):
    return tmp_path / request.param


def fill(group):
    group["zeta"] = 1
    group.create_group("alpha")
    group["mid"] = h5py.SoftLink("zeta")
    group["beta"] = group["zeta"]
    group["omega"] = h5py.ExternalLink("t.h5", "d")


def iterated(group, index, order=h5py.h5.ITER_INC):
    names = []
    group.id.links.iterate(lambda name: names.append(name.decode()), idx_type=index, order=order)
    return names


def name_at(group, index, at):
    """H5Lget_name_by_idx, which h5py has for the order of names only."""
    name = ctypes.create_string_buffer(100)
    length = LIBRARY.H5Lget_name_by_idx(group.id.id, b".", index, h5py.h5.ITER_INC, at, name,
                                        100, 0)
    return name.value.decode() if length >= 0 else None


def test_track_order(path):
    with h5py.File(path, "w", track_order=True) as f:
        fill(f)
        g = f.create_group("g", track_order=True)
        fill(g)
        fill(f.create_group("plain", track_order=False))
    for mode in ("r+", "r"):
        with h5py.File(path, mode) as f:
            assert list(f) == [*NAMES, "g", "plain"]
            assert list(f["g"]) == NAMES and list(reversed(f["g"])) == NAMES[::-1]
            assert list(f["plain"]) == sorted(NAMES)
            assert iterated(f["g"], CRT) == NAMES and iterated(f["g"], NAME) == sorted(NAMES)
            assert iterated(f["g"], CRT, h5py.h5.ITER_DEC) == NAMES[::-1]
            tracked, indexed = h5py.h5p.CRT_ORDER_TRACKED, h5py.h5p.CRT_ORDER_INDEXED
            assert f["g"].id.get_create_plist().get_link_creation_order() == tracked | indexed
            root = h5py.h5g.open(f.id, b"/")
            assert root.get_create_plist().get_link_creation_order() == tracked | indexed
            assert f["plain"].id.get_create_plist().get_link_creation_order() == 0
            g, plain = f["g"], f["plain"]
            info = g.id.links.get_info(b"mid")
            assert info.corder_valid and info.corder == 2
            assert not plain.id.links.get_info(b"mid").corder_valid
            with pytest.raises(Exception, match="not tracked|can't|unable|terat"):
                iterated(plain, CRT)
            assert [name_at(g, CRT, i) for i in range(5)] == NAMES
            assert [name_at(g, NAME, i) for i in range(5)] == sorted(NAMES)
            assert name_at(plain, CRT, 0) is None and name_at(g, CRT, 5) is None


def test_changes(path):
    with h5py.File(path, "w", track_order=True) as f:
        fill(f)
        del f["mid"]
        f.move("alpha", "renamed")
        f["aa"] = 5
        assert list(f) == ["zeta", "beta", "omega", "renamed", "aa"]
    with h5py.File(path, "r+") as f:
        assert list(f) == ["zeta", "beta", "omega", "renamed", "aa"]
        f["a last one"] = 6
        f["renamed/inner"] = 1
        del f["zeta"]  # its node goes on under its other name
        assert list(f) == ["beta", "omega", "renamed", "aa", "a last one"]
    with h5py.File(path, "r") as f:
        assert list(f) == ["beta", "omega", "renamed", "aa", "a last one"]


def test_only_tracked(path):
    with h5py.File(path, "w") as f:
        gcpl = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
        gcpl.set_link_creation_order(h5py.h5p.CRT_ORDER_TRACKED)
        h5py.h5g.create(f.id, b"g", gcpl=gcpl)
        fill(f["g"])
        h5py.h5g.create(f.id, b"empty", gcpl=gcpl)
    with h5py.File(path, "r") as f:
        for name in ("g", "empty"):
            flags = f[name].id.get_create_plist().get_link_creation_order()
            assert flags == h5py.h5p.CRT_ORDER_TRACKED
        assert iterated(f["g"], CRT) == NAMES


@pytest.mark.parametrize("to", ["o.h5", "o.zarr"])
def test_copies(path, to, tmp_path):
    with h5py.File(path, "w") as f, h5py.File(tmp_path / to, "w") as other:
        fill(f.create_group("g", track_order=True))
        f.copy("g", "copy")
        f.copy("g", other)
        f.copy("g", "shallow", shallow=True)
        f.copy("g", other, "shallow", shallow=True)
        assert list(f["copy"]) == list(f["shallow"]) == NAMES
        assert list(other["g"]) == list(other["shallow"]) == NAMES
    with h5py.File(path, "r") as f, h5py.File(tmp_path / to, "r") as other:
        assert list(f["copy"]) == list(f["shallow"]) == NAMES
        assert list(other["g"]) == list(other["shallow"]) == NAMES
    tool("h5dump", path, connector="zarr")
    tool("h5repack", path, tmp_path / ("r" + to), connector="zarr")
    with h5py.File(tmp_path / ("r" + to), "r") as f:
        assert f["g"].id.get_create_plist().get_link_creation_order() != 0


def test_new_links_of_shallow_copies_have_numbers_of_their_own(path):
    with h5py.File(path, "w") as f:
        g = f.create_group("g", track_order=True)
        g["soft"] = h5py.SoftLink("x")
        g.create_group("node")
        g["gone"] = h5py.SoftLink("x")
        del g["gone"]
        f.copy("g", "h", shallow=True)
        f["h/new"] = h5py.SoftLink("x")
        assert list(f["h"]) == ["soft", "node", "new"] and len(set(numbers(f["h"]).values())) == 3
    with h5py.File(path) as f:
        assert list(f["h"]) == ["soft", "node", "new"] and len(set(numbers(f["h"]).values())) == 3


LISTED = """
import sys, h5py
for path, mode in ((sys.argv[1], "r"), (sys.argv[2], "r"), (sys.argv[1], "r+")):
    with h5py.File(path, mode) as f:
        assert list(f) == ["v", "made", "a", "y", "x"], list(f)
        infos = [f.id.links.get_info(name.encode()) for name in f]
        assert [info.corder_valid and info.corder for info in infos] == [0, 1, 2, False, False]
        f["v"].id.refresh()
        h5py.h5f.flush(f.id)
        for name in ("v", "a"):
            assert f[name].id.get_space().get_simple_extent_ndims() == (name == "v") * 2
"""


def test_dimensions_that_are_only_shown_take_no_part(tmp_path):
    """A group that was only listed has not changed: nothing is stored, and no lock is asked for."""
    path, archive = tmp_path / "x.zarr", tmp_path / "x.zarr.zip"
    with h5py.File(path, "w", track_order=True) as f:
        f["v"] = [[1, 2, 3]]
        f.create_dataset("made", (7,), ">f4").make_scale(
            "This is a netCDF dimension but not a netCDF variable.         7")
        f["made"].attrs["_Netcdf4Dimid"] = 0
        f["a"] = 1
    document = json.loads((path / "v/zarr.json").read_text())
    (path / "v/zarr.json").write_text(json.dumps({**document, "dimension_names": ["y", "x"]}))
    with zipfile.ZipFile(archive, "w") as packed:
        for file in sorted(path.rglob("*")):
            if file.is_file() and not file.name.startswith("."):
                packed.write(file, file.relative_to(path))
    before = {file: file.is_file() and file.read_bytes() for file in tmp_path.rglob("*")}
    run_python(LISTED, path, archive, connector="zarr netcdf_dimensions=1")
    assert {file: file.is_file() and file.read_bytes() for file in tmp_path.rglob("*")} == before
    with h5py.File(path, "r+") as f:
        f["new"] = 1
    assert side(path)["order"] == ["v", "made", "a", "new"]


def test_form(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w", track_order=True) as f:
        f["b"] = 1
        f["a"] = h5py.SoftLink("b")
    kept = side(path)
    assert kept["links"] == {"a": {"soft": "b"}} and kept["order"] == ["b", "a"]
    zarr.open_group(path, mode="r+").create_array("0 new", shape=(1,), dtype="i4")
    with h5py.File(path, "r+") as f:
        assert list(f) == ["b", "a", "0 new"]
        f["c"] = 1
    assert side(path)["order"] == ["b", "a", "0 new", "c"]


def test_many(tmp_path):
    path = tmp_path / "x.zarr"
    names = [f"n{i * 7919 % 3000}" for i in range(3000)]
    with h5py.File(path, "w", track_order=True) as f:
        for name in names:
            f[name] = h5py.SoftLink("x")
    with h5py.File(path, "r") as f:
        assert list(f) == names


def test_numbers_begin_anew_in_an_empty_group(path):
    with h5py.File(path, "w", track_order=True) as f:
        for empty in (lambda g, name: f.move(f"g/{name}", f"moved_{name}"), lambda g, name: g.__delitem__(name)):
            g = f.create_group("g", track_order=True)
            for name in NAMES:
                g[name] = h5py.SoftLink("x")
            del g["alpha"]
            g["alpha"] = h5py.SoftLink("x")
            assert g.id.links.get_info(b"alpha").corder == len(NAMES)
            for name in NAMES:
                empty(g, name)
            g["later"] = h5py.SoftLink("x")
            assert g.id.links.get_info(b"later").corder == 0
            del f["g"]


def test_a_group_whose_only_link_is_renamed_was_never_empty(path):
    with h5py.File(path, "w", track_order=True) as f:
        f["a/y"] = 1
        f.move("a", "b")
        f["c"] = 1
        assert numbers(f) == {"b": 1, "c": 2}
        f["b"].move("y", "z")
        del f["c"]
        f.move("b", "d")
    with h5py.File(path, "r+") as f:
        assert numbers(f) == {"d": 3} and numbers(f["d"]) == {"z": 1}
        f.move("d", "e")
        f["f"] = 1
    with h5py.File(path) as f:
        assert numbers(f) == {"e": 4, "f": 5}


def test_too_many_are_refused(tmp_path, monkeypatch):
    with h5py.File(tmp_path / "x.zarr", "w", track_order=True) as f:
        with pytest.raises(Exception, match="order of the links"):
            for i in range(80):
                f[f"{i}" + "n" * 80000] = h5py.SoftLink("target")
        count = len(f)
    with h5py.File(tmp_path / "x.zarr", "r") as f:
        assert len(f) == count > 5


OTHER = """
import sys, h5py
with h5py.File(sys.argv[1], "r+") as f:
    f["b"] = 1
    f["a"] = h5py.SoftLink("b")
    del f["gone"]
"""


def test_orders_of_two_programs_are_merged(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w", track_order=True) as f:
        for name in ("z", "gone", "ours_gone"):
            f[name] = h5py.SoftLink("o")
        f.flush()
        f["y"] = h5py.SoftLink("o")
        del f["ours_gone"]
        f["x"] = h5py.SoftLink("o")
        run_python(OTHER, path, connector="zarr")
    assert side(path)["order"] == ["z", 1, 1, "y", "x", "b", "a"]
    with h5py.File(path) as f:
        assert list(f) == ["z", "y", "x", "b", "a"]


def test_groups_made_on_the_way(path):
    """They have their places in the order of their group, and keep an order of their own if it does."""
    with h5py.File(path, "w", track_order=True) as f:
        f["zeta/y"] = 1
        f["zeta/b"] = f["alpha/w/e"] = f["alpha/w/a"] = f["mid"] = 2
        plain = f.create_group("plain", track_order=False)
        plain["way/y"] = plain["way/b"] = 1
    with h5py.File(path) as f:
        assert list(f) == ["zeta", "alpha", "mid", "plain"]
        assert list(f["zeta"]) == ["y", "b"] and list(f["alpha/w"]) == ["e", "a"]
        assert list(f["plain/way"]) == ["b", "y"]


def test_a_file_that_was_closed_empty_goes_on_keeping_the_order(path):
    h5py.File(path, "w", track_order=True).close()
    with h5py.File(path, "r+") as f:
        f["zeta"] = f["alpha"] = 1
    with h5py.File(path, "r+") as f:
        f["mid"] = 1
        assert list(f) == ["zeta", "alpha", "mid"]


@pytest.mark.parametrize("tracks", [False, True])
def test_groups_made_on_the_way_keep_no_order_of_attributes(path, tracks):
    with h5py.File(path, "w", track_order=tracks) as f:
        f["way/d"] = 1
        f["way"].attrs["b"] = f["way"].attrs["a"] = 1
    with h5py.File(path) as f:
        assert f["way"].id.get_create_plist().get_attr_creation_order() == 0
        assert list(f["way"].attrs) == ["a", "b"]


def test_a_link_knows_its_place_before_the_others_are_asked_for(path):
    with h5py.File(path, "w", track_order=True) as f:
        f["g/b"] = f["g/a"] = f["d"] = 1
        f["soft"] = h5py.SoftLink("d")
    for names in (["g/a", "soft"], ["d", "g/b"]):
        with h5py.File(path) as f:
            seen = [f.id.links.get_info(name.encode()) for name in names]
            assert [(info.corder_valid, info.corder) for info in seen] == \
                [(True, {"g/b": 0, "g/a": 1, "g": 0, "d": 1, "soft": 2}[name]) for name in names]


def numbers(group):
    return {name: group.id.links.get_info(name.encode()).corder for name in group}


def test_numbers_have_gaps_also_when_the_file_is_opened_again(path):
    with h5py.File(path, "w", track_order=True) as f:
        fill(f)
        del f["alpha"]
        del f["omega"]
        seen = numbers(f)
        assert seen == {"zeta": 0, "mid": 2, "beta": 3}
    with h5py.File(path, "r+") as f:
        assert numbers(f) == seen
        f["new"] = 1
        assert numbers(f) == {**seen, "new": 5}
        del f["zeta"]  # its node takes the place of "beta"
    with h5py.File(path, "r+") as f:
        assert numbers(f) == {"mid": 2, "beta": 3, "new": 5}
        f["newer"] = 1
        assert numbers(f)["newer"] == 6
        f.copy("new", "copy")
        assert numbers(f)["copy"] == 7


def test_the_form_of_numbers(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w", track_order=True) as f:
        fill(f)
        for name in ("alpha", "mid", "omega"):
            del f[name]
    assert side(path)["order"] == ["zeta", 2, "beta", 1]


@pytest.mark.parametrize("kept", [[2**64, "b"], [2**63, 2**63, "b"], ["b", "b", None, [1]], [2**30] * 9 + ["b"]])
def test_hostile_numbers(tmp_path, kept):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w", track_order=True) as f:
        f["a"] = f["b"] = 1
    document = json.loads((path / "zarr.json").read_text())
    document["attributes"]["_hdf5"] = json.dumps({"version": 1, "order": kept})
    (path / "zarr.json").write_text(json.dumps(document))
    with h5py.File(path, "r+") as f:
        assert list(f) == ["b", "a"]
        f["c"] = 1
        assert list(f) == ["b", "a", "c"] and len(set(numbers(f).values())) == 3
    with h5py.File(path) as f:
        assert list(f) == ["b", "a", "c"]
