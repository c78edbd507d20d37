# SPDX-License-Identifier: MIT
"""Several hard links to one object. Each test that takes `path` runs on a .h5 file, and on a store."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from conftest import build_dir, environment, run, run_python, tool
from test_links import side
from test_refresh import refresh

sys.path.append(os.environ["ZARRBRIDGE_SOURCE_DIR"] + "/tests/support")
from held import lock_hierarchy  # noqa: E402
from waiting import await_call  # noqa: E402


@pytest.fixture(params=["x.h5", "x.zarr"])
def path(request, tmp_path):
    return tmp_path / request.param


def count(f, name):
    return h5py.h5o.get_info(f.id, name.encode()).rc


def fill(f):
    f["g/d"] = np.arange(4)
    f["also"] = f["g/d"]
    f["z/again"] = f["g/d"]
    f["g2"] = f["g"]


def names(f):
    """All objects by the first names that a walk gives, and all links."""
    objects, links = [], []
    f.visit(objects.append)
    f.visit_links(links.append)
    return objects, links


def test_hard_links(path):
    with h5py.File(path, "w") as f:
        fill(f)
    for mode in ("r+", "r"):
        with h5py.File(path, mode) as f:
            assert list(f) == ["also", "g", "g2", "z"]
            d = f["g/d"]
            for name in ("also", "z/again", "g2/d"):
                assert f[name] == d and list(f[name]) == [0, 1, 2, 3]
                assert isinstance(f.get(name, getlink=True), h5py.HardLink)
                assert count(f, name) == 3
            assert f["g2"] == f["g"] and count(f, "g") == 2 and count(f, "z") == 1
            assert f.id.links.get_info(b"also").u == h5py.h5o.get_info(d.id).addr
            assert f.get("also", getclass=True) is h5py.Dataset and "g2/d" in f
            assert f[d.ref] == d
            assert names(f) == (["also", "g", "z"], ["also", "g", "g/d", "g2", "z", "z/again"])


def test_names_may_go_in_any_order(path):
    order = ["g/d", "also", "z/again"]
    for first in range(3):
        for second in range(3):
            if first == second:
                continue
            with h5py.File(path, "w") as f:
                fill(f)
                del f["g2"]
                held = f["also"]
                for i, left in ((first, 2), (second, 1)):
                    del f[order[i]]
                    assert order[i] not in f
                    for name in order:
                        if name in f:
                            assert count(f, name) == left and list(f[name]) == list(held)
                held[0] = 7
                last, = (name for name in order if name in f)
            with h5py.File(path, "r+") as f:
                assert [name for name in order if name in f] == [last]
                assert list(f[last]) == [7, 1, 2, 3] and count(f, last) == 1
                del f[last]
            with h5py.File(path, "r") as f:
                assert [name for name in order if name in f] == []


def test_objects_in_a_group_that_goes(path):
    with h5py.File(path, "w") as f:
        fill(f)
        f["g/sub/deep"] = 5
        f["kept"] = f["g/sub"]
        f["g/back"] = f["z"]
        assert count(f, "z") == 2
        del f["g2"], f["g"]
        assert count(f, "z") == 1
        assert list(f["also"]) == [0, 1, 2, 3] and f["kept/deep"][()] == 5
        assert f["also"] == f["z/again"] and count(f, "also") == 2
    with h5py.File(path, "r") as f:
        assert list(f) == ["also", "kept", "z"] and count(f, "also") == 2
        assert f["also"] == f["z/again"] and f["kept/deep"][()] == 5 and count(f, "kept") == 1


def test_moves(path):
    with h5py.File(path, "w") as f:
        fill(f)
        f.move("also", "z/also")
        f.move("g", "z/inner")
        assert f["z/also"] == f["z/inner/d"] == f["g2/d"] and count(f, "z/also") == 3
        f.move("z", "y")
        f.flush()
        assert f["y/also"] == f["y/inner/d"] == f["y/again"]
    with h5py.File(path, "r+") as f:
        assert list(f) == ["g2", "y"] and list(f["y"]) == ["again", "also", "inner"]
        assert f["y/also"] == f["y/inner/d"] == f["y/again"] == f["g2/d"]
        assert count(f, "y/also") == 3 and count(f, "g2") == 2
        f.id.links.move(b"g2", f["y"].id, b"g3")
        assert f["y/g3"] == f["y/inner"]


def test_circles_end(path, tmp_path):
    with h5py.File(path, "w") as f:
        f["g/d"] = 1
        f["g/self"] = f["g"]
        f["g/sub/up"] = f["g"]
        f["root"] = f["/"]
        assert f["g/self/self/sub/up/d"][()] == 1 and count(f, "g") == 3
        assert f["root"] == f["/"] and count(f, "root") == 2
        assert names(f) == (["g", "g/d", "g/sub"],
                            ["g", "g/d", "g/self", "g/sub", "g/sub/up", "root"])
        f.copy("g", "copy")
        assert f["copy/self"] == f["copy/sub/up"] == f["copy"] and f["copy"] != f["g"]
        assert count(f, "copy") == 3 and count(f, "g") == 3
        for other in ("a.h5", "a.zarr"):
            with h5py.File(tmp_path / other, "w") as to:
                f.copy("g", to, "copied")
                assert to["copied/self"] == to["copied/sub/up"] == to["copied"]
                assert count(to, "copied") == 3 and to["copied/self/d"][()] == 1
    with h5py.File(path, "r+") as f:
        assert f["copy/self/self/d"][()] == 1
        del f["copy"], f["g"]
        assert list(f) == ["root"]
    tool("h5ls", "-r", path, connector="zarr")


def test_copies_hold_each_object_once(path, tmp_path):
    with h5py.File(path, "w") as f, h5py.File(tmp_path / "o.zarr", "w") as zarr_file, \
            h5py.File(tmp_path / "o.h5", "w") as native:
        fill(f)
        f["z/once"] = f["g/d"]
        f["z/group"] = f["g"]
        for to in (f, zarr_file, native):
            f.copy("z", to, "copy")
            copy = to["copy"]
            assert list(copy) == ["again", "group", "once"]
            assert copy["again"] == copy["once"] == copy["group/d"]
            assert count(to, "copy/again") == 3
            copy["again"][0] = 9
        assert f["g/d"][0] == 0 and count(f, "g/d") == 4
    for other in (path, tmp_path / "o.zarr", tmp_path / "o.h5"):
        with h5py.File(other, "r") as f:
            assert list(f["copy/group/d"]) == [9, 1, 2, 3] and count(f, "copy/again") == 3


def test_soft_links_to_one_object_become_one_copy(path):
    with h5py.File(path, "w") as f:
        f["g/d"] = 1
        f["s/a"], f["s/b"] = h5py.SoftLink("/g/d"), h5py.SoftLink("/g")
        f.copy("s", "copy", expand_soft=True)
        assert f["copy/a"] == f["copy/b/d"] != f["g/d"] and count(f, "copy/a") == 2


def test_refused(path, tmp_path):
    with h5py.File(path, "w") as f, h5py.File(tmp_path / "o.zarr", "w") as other:
        fill(f)
        for name in ("g/d", "also", "g2"):
            with pytest.raises((OSError, RuntimeError, ValueError), match="exists"):
                f[name] = f["z"]
        with pytest.raises(Exception):
            other["d"] = f["g/d"]
        assert list(other) == []


def test_tools(path, tmp_path):
    with h5py.File(path, "w") as f:
        fill(f)
        f["g/self"] = f["g"]
    listing = tool("h5ls", "-r", path, connector="zarr")
    assert "same as /also" in listing and "same as /g" in listing
    assert 'HARDLINK "/also"' in tool("h5dump", path, connector="zarr")
    for name in ("y.h5", "y.zarr"):
        tool("h5repack", path, tmp_path / name, connector="zarr")
        tool("h5diff", path, tmp_path / name, connector="zarr")
        assert tool("h5ls", "-r", tmp_path / name, connector="zarr") == listing
        with h5py.File(tmp_path / name, "r") as f:
            assert count(f, "also") == 3 and count(f, "g") == 3
            assert f["also"] == f["z/again"] == f["g2/d"]


# ---- In the store ----


def test_form(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        fill(f)
        f["g/self"] = f["g"]
    assert side(path)["links"] == {"also": {"hard": "g/d"}, "g2": {"hard": "g"}}
    assert side(path / "z")["links"] == {"again": {"hard": "../g/d"}}
    assert side(path / "g")["links"] == {"self": {"hard": "."}}
    assert sorted(side(path / "g/d")["names"]) == ["../../also", "../../z/again"]
    assert sorted(side(path / "g")["names"]) == ["../g2", "self"]
    root = zarr.open_group(path, mode="r")
    assert sorted(root.keys()) == ["g", "z"] and list(root["g"].keys()) == ["d"]
    with h5py.File(path, "r+") as f:
        del f["g/d"]
    assert sorted(zarr.open_group(path, mode="r").keys()) == ["also", "g", "z"]
    # The node is still called g/d, and what leads to it and from it goes by that name.
    assert side(path)["moved"] == {"g/d": "also"}
    assert side(path / "also")["names"] == ["../../z/again"]
    assert side(path / "z")["links"] == {"again": {"hard": "../g/d"}}


def test_a_group_inside_the_store(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        f["g/in/d"] = np.arange(3)
        f["g/near"] = f["g/in/d"]
        f["d"] = 1
        f["g/far"] = f["d"]
    for mode in ("r", "r+"):
        with h5py.File(path / "g", mode) as f:
            assert list(f) == ["far", "in", "near"]
            assert f["near"] == f["in/d"] and count(f, "near") == 2
            assert f.get("far") is None
            assert f.get("far", getlink=True).path == "../d"
            if mode == "r+":
                f.move("in", "moved")
                assert f["near"] == f["moved/d"]
    with h5py.File(path, "r") as f:
        assert f["g/far"] == f["d"] and f["g/near"] == f["g/moved/d"]


def test_nodes_that_others_change(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        fill(f)
    shutil.move(path / "g/d", path / "elsewhere")
    with h5py.File(path, "r+") as f:
        assert "g/d" not in f and list(f["elsewhere"]) == [0, 1, 2, 3]
        assert f.get("also", getlink=True).path == "g/d" and f.get("also") is None
        with pytest.raises(KeyError):
            f["also"]
        assert count(f, "elsewhere") == 1
        assert names(f)[0] == ["elsewhere", "g", "z"]
    zarr.open_group(path, mode="r+").create_array("z/again", shape=(1,), dtype="i4")
    with h5py.File(path, "r+") as f:
        assert f["z/again"].shape == (1,)
    shutil.move(path / "elsewhere", path / "g/d")  # is found again by what is left
    with h5py.File(path, "r+") as f:
        assert f["also"] == f["g/d"]
    with h5py.File(path, "r") as f:
        assert count(f, "also") == 2


def test_a_copy_by_another_program(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        f["g/d"] = 1
        f["g/alias"] = f["g/d"]
        f["out"] = f["g/d"]
    shutil.copytree(path / "g", path / "h")
    with h5py.File(path, "r") as f:
        assert f["h/alias"] == f["h/d"] != f["g/d"] and f["out"] == f["g/d"]
        assert count(f, "h/d") == 2 and count(f, "g/d") == 3


def test_many(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", data=1)
        for i in range(2000):
            f[f"group/l{i}"] = d
        assert count(f, "d") == 2001 and len(f["group"]) == 2000
    with h5py.File(path, "r+") as f:
        assert count(f, "group/l77") == 2001 and f["group/l1999"] == f["d"]
        del f["d"]
    with h5py.File(path, "r") as f:
        assert count(f, "group/l77") == 2000


def test_random_changes(tmp_path):
    """The same calls on both kinds of files have the same effect."""
    rng = np.random.default_rng(11)
    native, store = (h5py.File(tmp_path / name, "w") for name in ("r.h5", "r.zarr"))
    parts = ["a", "b", "c", "d"]
    log = []

    def choose():
        return "/".join(rng.choice(parts, rng.integers(1, 4)))

    def step(f, kind, one, two):
        try:
            if kind == "data":
                f[one] = np.arange(3)
            elif kind == "group":
                f.create_group(one)
            elif kind == "hard":
                f[one] = f[two]
            elif kind == "soft":
                f[one] = h5py.SoftLink("/" + two)
            elif kind == "move":
                f.move(one, two)
            elif kind == "delete":
                del f[one]
        except (KeyError, ValueError, OSError, RuntimeError, TypeError) as e:
            return None if "into itself" in str(e) else False
        return True

    def picture(f):
        objects = []
        f.visititems(lambda name, o: objects.append((name, type(o).__name__)))
        links = []
        f.visititems_links(lambda name, link: links.append(
            (name, type(link).__name__, getattr(link, "path", None))))
        return objects, links

    def check_counts(f):
        """HDF5's own files count links in objects that nothing leads to any more; a store has none."""
        links = {}
        f.visititems_links(lambda name, link: isinstance(link, h5py.HardLink) and links.setdefault(
            h5py.h5o.get_info(f.id, name.encode()).addr, []).append(name))
        for known in links.values():
            is_root = f[known[0]] == f["/"]
            assert {count(f, name) for name in known} == {len(known) + is_root}, known

    for _ in range(1500):
        kind = rng.choice(["data", "group", "hard", "hard", "soft", "move", "delete", "delete"])
        one, two = choose(), choose()
        log.append((kind, one, two))
        before = picture(native)
        done = step(store, kind, one, two)
        if done is None:  # HDF5 loses what is moved below itself; groups on the way stay
            step(native, "group", two.rpartition("/")[0], None)
            continue
        assert step(native, kind, one, two) == done, (before, log[-1], done)
        ours, theirs = picture(store), picture(native)
        assert ours == theirs, (log[-1], before)
        check_counts(store)
        if rng.random() < 0.05:
            for f in (native, store):
                f.close()
            native, store = (h5py.File(tmp_path / name, "r+") for name in ("r.h5", "r.zarr"))
            assert picture(store) == picture(native), log[-5:]
    native.close()
    store.close()


def test_walks_of_many_nodes_keep_aliases(path):
    """Nodes that a walk has left are forgotten in files that are read; ends of links are not."""
    with h5py.File(path, "w") as f:
        for i in range(12):
            for j in range(250):
                f.create_group(f"g{i:02}/n{j:03}")
        for i in range(12):
            f[f"g{i:02}/soft"] = h5py.SoftLink(f"/g{i:02}/n003")
            f[f"all/a{i:02}"] = f[f"g{i:02}/n007"]
            f[f"g{i:02}/back"] = f[f"g{(i + 5) % 12:02}"]
        f["zz/first"] = f["g00/n001"]
    with h5py.File(path) as f:
        held = f["all/a04"]
        walks = []
        for _ in range(3):
            objects, links = [], []
            f.visit(objects.append)
            f.visit_links(links.append)
            walks.append((sorted(objects), sorted(links)))
            assert f["all/a03"] == f["g03/n007"] and f["zz/first"] == f["g00/n001"]
            assert f["g11/back/n007"] == f["all/a04"] == held
            assert f["g02/soft"] == f["g02/n003"]
            assert h5py.h5o.get_info(f["g06/n007"].id).rc == 2
    assert walks[0] == walks[1] == walks[2]
    objects, links = walks[0]
    assert len(objects) == 12 * 251 + 2
    assert len(links) == len(objects) + 12 * 3 + 1


OTHER = """
import sys, h5py
with h5py.File(sys.argv[1], "r+") as f:
    f["theirs"] = f["d"]
    del f["gone"]
"""


def test_names_of_two_programs_are_merged(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        f["d"] = np.arange(3)
        f["early"] = f["gone"] = f["ours_gone"] = f["d"]
        f.flush()
        f["ours"] = f["d"]
        del f["ours_gone"]
        run_python(OTHER, path, connector="zarr")
    with h5py.File(path, "r+") as f:
        assert sorted(f) == ["d", "early", "ours", "theirs"] and count(f, "d") == 4
        for name in ("d", "early", "ours"):
            del f[name]
    with h5py.File(path, "r") as f:
        assert list(f) == ["theirs"] and list(f["theirs"]) == [0, 1, 2]


LINKS = """
import sys, h5py
with h5py.File(sys.argv[1], "r+") as f:
    f["theirs"] = f["g/d"]
    f["h/sub"] = f["g/sub"]
    f["g/new"] = [5, 6]
    f["h/new"] = f["g/new"]
"""


def put_and_list(file):
    """What is listed is known, so that another program's links are not."""
    file["g/d"], file["g/sub/e"], file["h/other"] = np.arange(3), np.arange(4), 1
    file.flush()
    assert list(file["g"]) == ["d", "sub"] and list(file["h"]) == ["other"]


@pytest.mark.parametrize("change", ["delete", "delete_group", "move", "move_group"])
def test_links_of_another_program_keep_what_we_delete_or_move(tmp_path, change):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        put_and_list(f)
        run_python(LINKS, path, connector="zarr")
        if change == "delete":
            del f["g/d"], f["g/sub"]
        elif change == "delete_group":
            del f["g"]
        elif change == "move":
            f.move("g/d", "moved")
            f.move("g/sub", "moved_sub")
        else:
            f.move("g", "h/g")
    with h5py.File(path, "r") as f:
        assert list(f["theirs"]) == [0, 1, 2] and list(f["h/sub/e"]) == [0, 1, 2, 3]
        assert list(f["h/new"]) == [5, 6]
        assert isinstance(f.get("theirs", getlink=True), h5py.HardLink)
        assert count(f, "theirs") == (1 if change.startswith("delete") else 2)


@pytest.mark.parametrize("source", ["g/sub", "g/d"])
def test_no_move_to_a_name_that_another_program_has_linked(tmp_path, source):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        put_and_list(f)
        run_python(LINKS.replace('f["g/sub"]', f'f["{source}"]'), path, connector="zarr")
        with pytest.raises(ValueError, match="name already exists: '/h/sub'"):
            f.move(source, "h/sub")
        assert sorted(f["h"]) == ["new", "other", "sub"]
        f["h"]["more"] = 2
    with h5py.File(path, "r") as f:
        assert sorted(f["h"]) == ["more", "new", "other", "sub"]
        assert f["h/sub"] == f[source] and list(f["g/sub/e"]) == [0, 1, 2, 3]
        assert list(f["g/d"]) == [0, 1, 2] and list(f["h/new"]) == [5, 6]


def test_deletions_store_what_is_read_anew_alone(tmp_path):
    """Neither the order of links in the group above, nor the names of a node that has gone meanwhile."""
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w", track_order=True) as f:
        for i in range(5):
            f[f"d{i}"] = i
        f.flush()
        before = side(path)
        del f["d0"], f["d1"]
        f["pending"] = f["d3"]
        (path / "d3").rename(tmp_path / "away")
        del f["d2"]
        assert {**side(path), "moved": None} == {**before, "moved": None}
        (tmp_path / "away").rename(path / "d3")
    with h5py.File(path, "r") as f:
        assert list(f) == ["d3", "d4", "pending"] and f["pending"] == f["d3"]


def test_reading_links_anew_changes_no_order(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        h = f.create_group("p/h", track_order=True)
        h["z"], h["link"], h["a"] = 1, h5py.SoftLink("z"), 2
        f.flush()
        before = (path / "p/h/zarr.json").stat().st_mtime_ns
        assert list(h) == ["z", "link", "a"]
        f.move("p", "q")
        f.flush()
        assert (path / "q/h/zarr.json").stat().st_mtime_ns == before
        assert list(h) == ["z", "link", "a"]


def test_moves_store_what_concerns_them_alone(tmp_path):
    """Links of other groups and names of other nodes go on waiting."""
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        fill(f)
        f["far/d"], f["holder/old"] = 1, h5py.SoftLink("x")
        f.flush()
        f["holder/new"] = f["far/d"]
        f["holder/soft"] = h5py.SoftLink("y")
        before = {name: (path / name / "zarr.json").read_text() for name in ("far/d", "holder")}
        f.move("g/d", "z/moved")
        assert {name: (path / name / "zarr.json").read_text() for name in before} == before
        for name in ("also", "z/again", "z/moved"):
            assert list(f[name]) == [0, 1, 2, 3] and count(f, name) == 3
    # What leads to the node goes by its name, which stays.
    assert side(path)["links"]["also"] == {"hard": "g/d"} and side(path)["moved"] == {"g/d": "z/moved"}
    with h5py.File(path, "r") as f:
        assert f["also"] == f["z/again"] == f["z/moved"] and f["holder/new"] == f["far/d"]
        assert sorted(f["holder"]) == ["new", "old", "soft"]


def test_a_move_stores_what_leads_to_the_node_at_once(tmp_path):
    path, copy = tmp_path / "x.zarr", tmp_path / "copy.zarr"
    with h5py.File(path, "w") as f:
        fill(f)
        f["h/sub/to_d"] = f["g/d"]
        f.move("g/d", "z/moved")
        f.move("h", "elsewhere")
        shutil.copytree(path, copy)
    with h5py.File(copy, "r") as f:
        assert f["also"] == f["z/again"] == f["z/moved"] == f["elsewhere/sub/to_d"]
        assert count(f, "also") == 4 and list(f["also"]) == [0, 1, 2, 3]


@pytest.mark.parametrize("asked", [False, True])
def test_a_refreshed_group_shows_new_hard_links_of_others_as_such(tmp_path, asked):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        put_and_list(f)
        dataset = f["g/d"] if asked else None
        assert count(f, "g/d") == 1
        run_python(LINKS, path, connector="zarr")
        for group in ("/", "h"):
            assert refresh(f[group], "H5Grefresh") >= 0
        for name in ("theirs", "h/sub"):
            assert isinstance(f.get(name, getlink=True), h5py.HardLink)
        assert f["theirs"] == f["g/d"] and count(f, "g/d") == 2 and f["h/sub"] == f["g/sub"]
        assert not asked or dataset == f["theirs"]
        assert list(f["g"]) == ["d", "sub"]  # it has not been refreshed


# ---- Programs at the same time ----

CHANGE = {"delete": 'del f["g/d"]', "delete_group": 'del f["g"]', "move": 'f.move("g/d", "moved")'}


def start(code, *arguments, **more):
    """A program that runs beside this one; its first line of output is awaited."""
    env = {**environment("zarr"), **more}
    child = subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], env=env, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout.readline() == "ready\n"
    return child


def finish(child):
    output, errors = child.communicate(timeout=600)
    assert child.returncode == 0, errors
    return output


def preload(library):
    assert library.exists(), "the loader goes on without it"
    return " ".join(filter(None, [os.environ.get("LD_PRELOAD"), str(library)]))


@pytest.mark.parametrize("change", CHANGE)
def test_a_link_that_is_made_while_a_change_begins_counts(tmp_path, change):
    """The change waits for its turn, and reads links after that."""
    path, linked = tmp_path / "x.zarr", tmp_path / "linked.zarr"
    with h5py.File(path, "w") as f:
        put_and_list(f)
    shutil.copytree(path, linked)
    with h5py.File(linked, "r+") as f:
        f["theirs"] = f["g/d"]
    lock = lock_hierarchy(path)
    child = start(f"""
import sys, h5py
with h5py.File(sys.argv[1], "r+") as f:
    list(f), list(f["g"]), f["g/d"].attrs
    print("ready", flush=True)
    {CHANGE[change]}
""", path)
    await_call("clock_nanosleep", child)  # it has read what it reads without a turn
    for document in ("zarr.json", "g/d/zarr.json"):
        shutil.copy(linked / document, path / document)
    os.close(lock)
    finish(child)
    with h5py.File(path, "r") as f:
        assert list(f["theirs"]) == [0, 1, 2]
        assert isinstance(f.get("theirs", getlink=True), h5py.HardLink)


@pytest.mark.parametrize("change", CHANGE)
def test_a_change_does_not_come_between_the_two_ends_of_a_link(tmp_path, change):
    """The program that makes the link has stored one of its two documents when another one changes it."""
    path, go = tmp_path / "x.zarr", tmp_path / "go"
    with h5py.File(path, "w") as f:
        put_and_list(f)
        f["first"] = f["h/other"]  # the root keeps track of names from now on, which the first link begins
    node = path / "g/d/zarr.json"
    before = node.read_text()
    shim = build_dir() / "tests/fault/libzb-fault-shim.so"
    child = start("""
import sys, h5py
f = h5py.File(sys.argv[1], "r+")
f["theirs"] = f["g/d"]
print("ready", flush=True)
f.close()
""", path, LD_PRELOAD=preload(shim), ZB_SHIM_ROOT=str(path / "zarr.json"), ZB_SHIM_UNTIL=str(go))
    while node.read_text() == before:
        assert child.poll() is None
        time.sleep(0.01)
    assert "theirs" not in side(path)["links"]
    other = start(f"""
import sys, h5py
with h5py.File(sys.argv[1], "r+") as f:
    print("ready", flush=True)
    {CHANGE[change]}
""", path)
    await_call("clock_nanosleep", other)  # for its turn
    assert "theirs" not in side(path)["links"]
    go.touch()
    finish(child)
    finish(other)
    with h5py.File(path, "r") as f:
        assert list(f["theirs"]) == [0, 1, 2]


def test_a_link_to_what_has_gone_is_an_error(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        put_and_list(f)
    child = start("""
import sys, h5py
f = h5py.File(sys.argv[1], "r+")
f["theirs"] = f["g/d"]
print("ready", flush=True)
sys.stdin.readline()
try:
    f.flush()
except Exception as e:
    print(e)
try:
    f.close()
except Exception as e:
    print("close")
""", path)
    run_python(f'import sys, h5py\nwith h5py.File(sys.argv[1], "r+") as f: del f["g/d"]', path,
               connector="zarr")
    assert finish(child).count("\n") == 2
    with h5py.File(path, "r") as f:
        assert list(f) == ["g", "h"]


@pytest.mark.parametrize("target", ["y.h5", "y.zarr", None])
def test_copies_have_what_waits_for_objects_elsewhere(tmp_path, target):
    """Links lead out of the group that is copied: what a program has just written there waits in memory."""
    with h5py.File(tmp_path / "x.zarr", "w") as f:
        f.create_group("g")
        for name in ("hard", "soft"):
            d = f.create_dataset(name, (6,), "i4")
            f["g/" + name] = d if name == "hard" else h5py.SoftLink("/soft")
            d[1] = 5
            d.attrs["a"] = 7
            h5py.h5a.create(d.id, b"unwritten", h5py.h5t.NATIVE_INT32, h5py.h5s.create(h5py.h5s.SCALAR))
        to = h5py.File(tmp_path / target, "w") if target else f
        f.copy("g", to, "copy", expand_soft=True)
        for name in ("hard", "soft"):
            assert to["copy"][name][:].tolist() == [0, 5, 0, 0, 0, 0]
            assert to["copy"][name].attrs["a"] == 7 and "unwritten" in to["copy"][name].attrs
        if target:
            to.close()
