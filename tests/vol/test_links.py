# SPDX-License-Identifier: MIT
"""Links that are no node's place. What HDF5's own files do is done with them first: each test that
takes `path` runs on a .h5 file and on a store."""

import ctypes
import json
import re
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from conftest import run, run_python, tool
from property_lists import library

INC, DEC = h5py.h5.ITER_INC, h5py.h5.ITER_DEC
PROBLEMS = (KeyError, ValueError, OSError, RuntimeError)


@pytest.fixture(params=["x.h5", "x.zarr"])
def path(request, tmp_path):
    return tmp_path / request.param


def side(node):
    """What the document of a node keeps for HDF5."""
    attributes = json.loads(Path(node, "zarr.json").read_text())["attributes"]
    return json.loads(attributes["_hdf5"])


def fill(f):
    f["d"] = np.arange(4)
    f["g/e"] = np.arange(6.0)
    f["soft"] = h5py.SoftLink("/g/e")
    f["group"] = h5py.SoftLink("g")
    f["g/near"] = h5py.SoftLink("e")
    f["g/far"] = h5py.SoftLink("/d")
    f["dangling"] = h5py.SoftLink("/nowhere/at all")


def test_soft_links(path):
    with h5py.File(path, "w") as f:
        fill(f)
    for mode in ("r+", "r"):
        with h5py.File(path, mode) as f:
            assert list(f) == ["d", "dangling", "g", "group", "soft"]
            assert list(f["g"]) == ["e", "far", "near"]
            for name in ("soft", "group/e", "g/near", "group/near"):
                assert f[name] == f["g/e"] and list(f[name]) == list(range(6))
            assert f["group"] == f["g"] and f["g/far"] == f["d"] and f["group/far"] == f["d"]
            link = f.get("soft", getlink=True)
            assert isinstance(link, h5py.SoftLink) and link.path == "/g/e"
            assert f.get("group/near", getlink=True).path == "e"
            assert f.get("soft", getclass=True) is h5py.Dataset
            assert f.get("dangling", getlink=True).path == "/nowhere/at all"
            assert f.get("dangling") is None
            assert "soft" in f and "group/near" in f
            assert f.id.links.exists(b"dangling")
            with pytest.raises(KeyError):
                f["dangling"]
            with pytest.raises(KeyError):
                f["dangling/x"]


def test_information(path):
    with h5py.File(path, "w") as f:
        fill(f)
        info = f.id.links.get_info(b"soft")
        assert (info.type, info.u) == (h5py.h5l.TYPE_SOFT, 5)
        assert f.id.links.get_info(b"d").type == h5py.h5l.TYPE_HARD
        assert f.id.links.get_val(b"dangling") == b"/nowhere/at all"
        assert f.id.get_linkval(b"soft") == b"/g/e"
        assert h5py.h5g.get_objinfo(f.id, b"soft", follow_link=False).type == h5py.h5g.LINK
        assert h5py.h5g.get_objinfo(f.id, b"soft").type == h5py.h5g.DATASET
        assert f.id.get_num_objs() == 5 and f.id.get_objname_by_idx(4) == b"soft"
        assert h5py.h5o.exists_by_name(f.id, b"soft")
        f["lost"] = h5py.SoftLink("/lost one")
        assert not h5py.h5o.exists_by_name(f.id, b"lost")
        assert h5py.h5o.get_info(f.id, b"soft").rc == 1


@pytest.mark.parametrize("target, there", [
    ("/g/e", True), ("group/e", True), ("/", True), ("/nothing", False), ("g/nothing", False), ("g/nothing//", False),
    ("soft to nothing", False), ("/none/x", None), ("none/x", None), ("/d/x", None), ("/g/e/x/y", None),
    ("dangling", None), ("soft to nothing/x", None), ("to", None)])
def test_what_a_soft_link_leads_to_exists_or_not_or_has_no_group(path, target, there):
    with h5py.File(path, "w") as f:
        fill(f)
        f["soft to nothing"], f["to"] = h5py.SoftLink("/nothing"), h5py.SoftLink(target)
        if there is None:
            with pytest.raises((KeyError, RuntimeError, OSError)):
                h5py.h5o.exists_by_name(f.id, b"to")
        else:
            assert h5py.h5o.exists_by_name(f.id, b"to") == there
        assert f.id.links.exists(b"to")


def test_walks(path):
    with h5py.File(path, "w") as f:
        fill(f)
        objects, links, both = [], [], []
        f.visit(objects.append)
        f.visit_links(links.append)
        f.visititems_links(lambda name, link: both.append((name, type(link).__name__)))
    assert objects == ["d", "g", "g/e"]
    assert links == ["d", "dangling", "g", "g/e", "g/far", "g/near", "group", "soft"]
    assert dict(both)["g/far"] == "SoftLink" and dict(both)["g/e"] == "HardLink"


def test_chains_and_circles_end(path):
    with h5py.File(path, "w") as f:
        f["d"] = 1
        for i in range(17):
            f[f"c{i}"] = h5py.SoftLink(f"c{i - 1}" if i else "d")
        f["round"] = h5py.SoftLink("round")
        f["a"], f["b"] = h5py.SoftLink("b/x"), h5py.SoftLink("a/x")
        assert f["c15"][()] == 1
        for name in ("c16", "round", "a"):
            with pytest.raises(Exception, match="too many"):
                f[name]
        lapl = h5py.h5p.create(h5py.h5p.LINK_ACCESS)
        lapl.set_nlinks(17)
        assert h5py.h5o.open(f.id, b"c16", lapl)
        lapl.set_nlinks(2)
        with pytest.raises(Exception, match="too many"):
            h5py.h5o.open(f.id, b"c2", lapl)


def test_move_copy_and_delete(path):
    with h5py.File(path, "w") as f:
        fill(f)
        f.move("soft", "g/moved")
        assert "soft" not in f and f["g/moved"] == f["g/e"]
        f.move("g/near", "g/nearer")
        assert f.get("g/nearer", getlink=True).path == "e"
        f.id.links.move(b"dangling", f.id, b"new/dangling", lcpl=f._lcpl)
        assert f.get("new/dangling", getlink=True).path == "/nowhere/at all"
        del f["g/far"]
        assert list(f["g"]) == ["e", "moved", "nearer"] and list(f["d"]) == [0, 1, 2, 3]
        del f["d"]
    with h5py.File(path, "r+") as f:
        assert list(f["g"]) == ["e", "moved", "nearer"] and list(f) == ["g", "group", "new"]
        for name in list(f["g"]):
            if name != "e":
                del f["g"][name]
        del f["group"], f["new"]
    with h5py.File(path, "r") as f:
        assert list(f) == ["g"] and list(f["g"]) == ["e"]


def test_names_are_one_set(path):
    with h5py.File(path, "w") as f:
        fill(f)
        for make in (lambda: f.create_group("soft"), lambda: f.create_dataset("dangling", data=1),
                     lambda: f.__setitem__("d", h5py.SoftLink("g")),
                     lambda: f.__setitem__("soft", h5py.SoftLink("g")),
                     lambda: f.move("d", "soft"), lambda: f.copy("d", "dangling")):
            with pytest.raises((ValueError, OSError, RuntimeError)):
                make()
        assert isinstance(f.get("soft", getlink=True), h5py.SoftLink)
        f.create_group("group/made")
        f["group/data"] = 5
        assert f["g/made"] and f["g/data"][()] == 5
        f["group/made/new/link"] = h5py.SoftLink("/d")
        assert list(f["g/made/new/link"]) == [0, 1, 2, 3]
        with pytest.raises((ValueError, KeyError)):
            f.create_group("dangling/x")


@pytest.mark.parametrize("expand", [False, True])
def test_object_copy(path, expand):
    with h5py.File(path, "w") as f:
        fill(f)
        f["g/lost"] = h5py.SoftLink("/not there")
        f["g/up"] = h5py.SoftLink("/g/e")
        f.copy("g", "copy", expand_soft=expand)
        f.copy("soft", "plain")
        assert list(f["plain"]) == list(range(6))
        assert list(f["copy"]) == list(f["g"])
        kinds = {name: type(f.get("copy/" + name, getlink=True)) for name in f["copy"]}
        soft = h5py.HardLink if expand else h5py.SoftLink
        assert kinds == {"e": h5py.HardLink, "far": soft, "near": soft, "up": soft,
                         "lost": h5py.SoftLink}
        assert list(f["copy/far"]) == [0, 1, 2, 3] and list(f["copy/near"]) == list(range(6))
        f["copy/far"][0] = 9
        assert f["d"][0] == (0 if expand else 9)


@pytest.mark.parametrize("flags", ["shallow", "without_attrs"])
def test_object_copy_with_flags(path, flags):
    with h5py.File(path, "w") as f:
        fill(f)
        f["g"].attrs["a"] = 1
        f["g/below/link"] = h5py.SoftLink("/d")
        f.copy("g", "copy", **{flags: True})
        assert list(f["copy"]) == list(f["g"])
        assert list(f["copy/below"]) == ([] if flags == "shallow" else ["link"])
        assert list(f["copy"].attrs) == ([] if flags == "without_attrs" else ["a"])
        assert f.get("copy/far", getlink=True).path == "/d"


def test_tools(path, tmp_path):
    with h5py.File(path, "w") as f:
        fill(f)
    out = tool("h5ls", "-r", path, connector="zarr")
    assert "/soft                    Soft Link {/g/e}" in out
    assert "/dangling                Soft Link {/nowhere/at all}" in out
    out = tool("h5dump", path, connector="zarr")
    assert 'SOFTLINK "dangling" {\n      LINKTARGET "/nowhere/at all"' in out
    for name in ("y.h5", "y.zarr"):
        tool("h5repack", path, tmp_path / name, connector="zarr")
        tool("h5diff", path, tmp_path / name, connector="zarr")
        assert tool("h5ls", "-r", tmp_path / name, connector="zarr") == tool(
            "h5ls", "-r", path, connector="zarr")
        with h5py.File(tmp_path / name, "r") as f:
            assert f.get("dangling", getlink=True).path == "/nowhere/at all"
    with h5py.File(tmp_path / "y.zarr", "r+") as f:
        f["g/new"] = h5py.SoftLink("x")
        del f["soft"]
    done = run(["h5diff", "-r", path, tmp_path / "y.zarr"], connector="zarr")
    assert done.returncode == 1


@pytest.mark.parametrize("names", [("x.h5", "y.zarr"), ("x.zarr", "y.h5"), ("x.zarr", "y.zarr"), ("x.h5", "y.h5")])
def test_links_that_lead_nowhere_are_copied_as_they_are(tmp_path, names):
    source, target = (tmp_path / name for name in names)
    with h5py.File(source, "w") as f, h5py.File(target, "w") as other:
        f["g/lost"] = h5py.SoftLink("/not there")
        f["g/away"] = h5py.ExternalLink("none.h5", "/x")
        f["g/d"] = 5
        f["g/near"] = h5py.SoftLink("d")
        f.copy("g", other, expand_soft=True, expand_external=source.suffix == ".h5")
        kinds = {name: type(other["g"].get(name, getlink=True)) for name in other["g"]}
        assert kinds == {"d": h5py.HardLink, "near": h5py.HardLink, "lost": h5py.SoftLink,
                         "away": h5py.ExternalLink}
        assert other["g"].get("lost", getlink=True).path == "/not there"
        assert other["g"].get("away", getlink=True).filename == "none.h5"


HDF5_2_FAILS = pytest.mark.skipif(h5py.version.hdf5_version_tuple >= (2,), reason="HDF5 2 itself fails")


@pytest.mark.parametrize("to", [pytest.param("other.h5", marks=HDF5_2_FAILS), "other.zarr"])
def test_expanded_links_that_lead_in_a_circle_have_an_end(tmp_path, to):
    """Each object is copied once, also out of a file that an external link leads to."""
    with h5py.File(tmp_path / "far.h5", "w") as far:
        far["there/round"] = h5py.SoftLink("/there")
        far["there/back"] = h5py.ExternalLink("x.h5", "/g")
    with h5py.File(tmp_path / "x.h5", "w") as f, h5py.File(tmp_path / to, "w") as other:
        f["g/d"] = 5
        f["g/again"] = h5py.SoftLink("/g/d")
        f["g/below/up"] = h5py.SoftLink("/g")
        f["g/away"] = h5py.ExternalLink("far.h5", "/there")
        f.copy("g", other, expand_soft=True, expand_external=True)
        assert other["g/again"] == other["g/d"] and other["g/below/up"] == other["g"]
        assert other["g/away/round"] == other["g/away"] and other["g/away/back"] == other["g"]


@pytest.mark.parametrize("order", [False, True])
def test_an_expanded_link_takes_the_place_of_no_object(tmp_path, order):
    """Other Zarr programs find each object where its hard link is, also when a link to it comes first."""
    with h5py.File(tmp_path / "x.h5", "w") as f, h5py.File(tmp_path / "x.zarr", "w") as other:
        g = f.create_group("g", track_order=order)
        g["a"] = h5py.SoftLink("/g/z")
        g["data/inner/latest"] = h5py.SoftLink("/g/runs")
        g["axis"] = h5py.SoftLink("/g/x")
        g["z"] = [1, 2, 3]
        g["runs/one"] = [4]
        g["x"] = [1.0, 2.0]
        g["x"].make_scale()
        g["field"] = [5, 6]
        g["field"].dims[0].attach_scale(g["x"])
        g["out"] = h5py.SoftLink("/outside")
        f["outside/back"] = h5py.SoftLink("/outside")
        f["outside/z"] = h5py.SoftLink("/g/z")
        f["outside/deep/d"] = [7]
        f["outside/a"] = h5py.SoftLink("/outside/deep")
        f.copy("g", other, expand_soft=True)
        names = list(g)
        assert list(other["g"]) == names
    for form in ("r", "r+"):
        with h5py.File(tmp_path / "x.zarr", form) as other:
            assert list(other["g"]) == names
            for link, place in {"a": "z", "data/inner/latest": "runs", "axis": "x", "out/back": "out",
                                "out/z": "z", "out/a": "out/deep"}.items():
                assert other["g"][link] == other["g"][place] and other["g"][link].name == f"/g/{place}"
    group = zarr.open_group(tmp_path / "x.zarr", mode="r", use_consolidated=False)["g"]
    nodes = {name for name, _ in group.members(max_depth=None)}
    assert nodes == {"z", "data", "data/inner", "runs", "runs/one", "x", "field", "out", "out/deep", "out/deep/d"}
    assert list(group["z"][:]) == [1, 2, 3] and list(group["out/deep/d"][:]) == [7]
    assert group["x"].metadata.dimension_names == group["field"].metadata.dimension_names == ("x",)


def test_expanded_external_links_lead_to_one_copy_of_each_object(tmp_path):
    """Also when the file is opened anew for each of them, under another path, and in a circle of files."""
    (tmp_path / "again.h5").symlink_to("far0.h5")
    for i in range(40):
        with h5py.File(tmp_path / f"far{i}.h5", "w") as far:
            far["top/d"] = [i]
            far["top/next"] = h5py.ExternalLink(f"far{(i + 1) % 40}.h5", "/top")
            far["lone"] = [i]
    with h5py.File(tmp_path / "x.h5", "w") as f, h5py.File(tmp_path / "x.zarr", "w") as other:
        f["g/circle"] = h5py.ExternalLink("far0.h5", "/top")
        for i in range(4):
            f[f"g/many{i}"] = h5py.ExternalLink(f"far{i % 2}.h5", "/lone")
        f["g/other"] = h5py.ExternalLink("again.h5", "/lone")
        f.copy("g", other, expand_external=True)
        last = "g/circle" + "/next" * 39
        assert other[last + "/d"][0] == 39 and other[last + "/next"] == other["g/circle"]
    group = zarr.open_group(tmp_path / "x.zarr", mode="r", use_consolidated=False)["g"]
    assert {name for name, _ in group.members()} == {"circle", "many0", "many1"}
    assert [group[f"many{i}"][0] for i in range(2)] == [0, 1]


def test_a_file_that_is_copied_is_not_known_by_its_path(tmp_path, monkeypatch):
    """HDF5 tells the path by which a file was opened, which leads elsewhere when the directory has changed."""
    for name, first in (("d1", 0), ("d2", 100)):
        (tmp_path / name).mkdir()
        with h5py.File(tmp_path / name / "a.h5", "w") as f:
            f["top/z"] = [first, first + 1]
            f["top/far"] = h5py.ExternalLink(str(tmp_path / "d2/a.h5"), "/top/z")
    monkeypatch.chdir(tmp_path / "d1")
    with h5py.File("a.h5", "r") as f, h5py.File(tmp_path / "x.zarr", "w") as other:
        monkeypatch.chdir(tmp_path / "d2")
        f.copy("top", other, expand_external=True)
        assert list(other["top/z"]) == [0, 1] and list(other["top/far"]) == [100, 101]


def test_links_that_lead_nowhere_are_copied_as_they_are(tmp_path):
    """In silence, also for programs that want each failure of HDF5 printed."""
    with h5py.File(tmp_path / "far.h5", "w") as f:
        f["d"] = 5
        f["gone"] = h5py.SoftLink("/none/x")
    soft = {"deep": "/none/x/y", "through": "/g/d/x", "twice": "deep", "over": "/g/e0/x"}
    external = [("none.h5", "/d"), ("none/far.h5", "/d"), ("far.h5", "/x"), ("far.h5", "/x/y"), ("far.h5", "/d/x"),
                ("far.h5", "/gone")]
    with h5py.File(tmp_path / "x.h5", "w") as f:
        f["g/d"] = 5
        f["g/to"] = h5py.SoftLink("/g/d")
        for name, to in soft.items():
            f[f"g/{name}"] = h5py.SoftLink(to)
        for i, to in enumerate(external):
            f[f"g/e{i}"] = h5py.ExternalLink(*to)
    done = run(["h5copy", "--enable-error-stack", "-f", "soft", "-f", "ext", "-i", tmp_path / "x.h5",
                "-o", tmp_path / "y.zarr", "-s", "/g", "-d", "/g"], connector="zarr")
    assert done.returncode == 0 and not re.search("H5[AOLR]|H5F_|H5Fopen|H5VL", done.stderr), done.stderr
    with h5py.File(tmp_path / "y.zarr", "r") as other:
        assert {name: other["g"].get(name, getlink=True).path for name in soft} == soft
        links = [other["g"].get(f"e{i}", getlink=True) for i in range(len(external))]
        assert [(link.filename, link.path) for link in links] == external
        assert other["g/to"] == other["g/d"]


@pytest.mark.parametrize("link", [
    h5py.SoftLink("/g/link"), h5py.SoftLink("/circle/x"), h5py.SoftLink("/bad/x"), h5py.ExternalLink("damaged.h5", "/d"),
    h5py.ExternalLink("empty.h5", "/d"), h5py.ExternalLink("directory", "/d"), h5py.ExternalLink("store.zarr", "/d"),
    h5py.ExternalLink("round.h5", "/d"), h5py.ExternalLink("far.h5", "/circle"), h5py.ExternalLink("far.h5", "/other")],
    ids=lambda link: getattr(link, "filename", "") + link.path)
def test_what_is_there_and_cannot_be_opened_is_an_error_of_a_copy(tmp_path, link):
    """HDF5 copies an external link whenever it cannot follow it. A copy that fails leaves nothing."""
    (tmp_path / "damaged.h5").write_bytes(b"no file of HDF5's" * 100)
    (tmp_path / "empty.h5").touch()
    (tmp_path / "directory").mkdir()
    (tmp_path / "round.h5").symlink_to("round.h5")
    with h5py.File(tmp_path / "store.zarr", "w") as f:
        f["d"] = 1
    with h5py.File(tmp_path / "far.h5", "w") as f:
        f["circle"], f["other"] = h5py.SoftLink("/circle"), h5py.ExternalLink("damaged.h5", "/d")
    with h5py.File(tmp_path / "x.h5", "w") as f, h5py.File(tmp_path / "y.zarr", "w") as other:
        f["g/a/d"] = [1]
        f["g/again"] = f["g/a"]
        f["g/link"] = link
        f["circle"], f["bad"] = h5py.SoftLink("circle"), h5py.ExternalLink("damaged.h5", "/d")
    with h5py.File(tmp_path / "x.h5") as f, h5py.File(tmp_path / "y.zarr", "r+") as other:
        with pytest.raises((OSError, RuntimeError, KeyError)):
            f.copy("g", other, "new/g", expand_soft=True, expand_external=True)
        assert list(other) == ["new"] and list(other["new"]) == []  # made on the way
        f.copy("g", other)
        assert list(other["g"]) == ["a", "again", "link"] and other["g/again"] == other["g/a"]
    assert (tmp_path / "y.zarr/g/a/d/zarr.json").exists() and not (tmp_path / "y.zarr/new/g").exists()


@pytest.mark.parametrize("source, target", [("x.h5", "y.zarr"), ("x.zarr", "y.zarr"), ("x.zarr", "y.h5")])
def test_a_copy_that_fails_leaves_nothing(tmp_path, source, target):
    """The last object cannot be copied: a filter without a codec, a link to a group above, a damaged chunk."""
    with h5py.File(tmp_path / source, "w") as f:
        f["g/a/d"], f["g/b"], f["g/link"] = [1, 2], np.arange(9), h5py.SoftLink("a")
        f["g"].attrs["title"], f["g/again"] = "x" * 2000, f["g/a"]
        last = f.create_dataset("g/y", (9,), "i4", chunks=(9,), compression="lzf" if source == "x.h5" else "gzip")
        last[...] = 7
        if target == "y.zarr" and source == "x.zarr":
            f["g/z"] = f["/"]
    if target == "y.h5":
        (tmp_path / source / "g/y/c/0").write_bytes(b"damaged")
    with h5py.File(tmp_path / source) as f, h5py.File(tmp_path / target, "w") as other:
        other["before"] = 1
        with pytest.raises((OSError, RuntimeError)):
            f.copy("g", other, "h")
        assert list(other) == ["before"]
        with pytest.raises((OSError, RuntimeError)):
            f.copy("g", other, "on/the/way")
        assert list(other) == ["before", "on"] and list(other["on/the"]) == []
        f.copy("g/a", other, "h")
        assert list(other["h/d"]) == [1, 2]


@pytest.mark.parametrize("to", ["other.h5", "other.zarr"])
def test_a_copied_group_is_met_again_from_the_group_above(tmp_path, to):
    with h5py.File(tmp_path / "x.h5", "w") as f, h5py.File(tmp_path / to, "w") as other:
        f["above/g/d"] = 5
        f["above/g/up"] = f["above"]
        f.copy("above/g", other, "copy")
        assert other["copy/up/g"] == other["copy"] and list(other["copy/up"]) == ["g"]


@pytest.mark.parametrize("to", ["other.h5", "other.zarr"])
def test_copies_to_other_files(path, to, tmp_path):
    with h5py.File(path, "w") as f, h5py.File(tmp_path / to, "w") as other:
        fill(f)
        f.copy("g", other)
        assert list(other["g"]) == ["e", "far", "near"] and other["g/near"] == other["g/e"]
        assert other.get("g/far", getlink=True).path == "/d"
        f.copy("g", other, name="expanded", expand_soft=True)
        assert list(other["expanded/far"]) == [0, 1, 2, 3]
    with h5py.File(tmp_path / to, "r") as other:
        assert list(other["g"]) == ["e", "far", "near"] and other["g/near"] == other["g/e"]


# ---- In the store ----


def test_form(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        fill(f)
    assert side(path)["links"] == {
        "soft": {"soft": "/g/e"}, "group": {"soft": "g"}, "dangling": {"soft": "/nowhere/at all"}}
    assert side(path / "g")["links"] == {"near": {"soft": "e"}, "far": {"soft": "/d"}}
    root = zarr.open_group(path, mode="r")
    assert sorted(root.keys()) == ["d", "g"] and isinstance(root.attrs["_hdf5"], str)
    with h5py.File(path, "r+") as f:
        assert dict(f.attrs) == {}
        for name in ("soft", "group", "dangling"):
            del f[name]
    assert "links" not in side(path)


def test_a_node_hides_a_link(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        fill(f)
    zarr.open_group(path, mode="r+").create_array("soft", shape=(3,), dtype="i4", fill_value=7)
    with h5py.File(path, "r+") as f:
        assert list(f["soft"]) == [7, 7, 7]
        assert list(f) == ["d", "dangling", "g", "group", "soft"]
        assert isinstance(f.get("soft", getlink=True), h5py.HardLink)
        f["more"] = h5py.SoftLink("d")
    assert side(path)["links"]["soft"] == {"soft": "/g/e"}
    with h5py.File(path, "r+") as f:
        del f["soft"]
        assert list(f["soft"]) == list(range(6))  # the link is back


def test_links_are_stored_by_a_flush(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        f["a"] = h5py.SoftLink("b")
        f.flush()
        assert side(path)["links"] == {"a": {"soft": "b"}}
        f["g/c"] = h5py.SoftLink("b")
        f.move("g", "h")
        f.copy("h", "i")
    assert side(path / "h")["links"] == side(path / "i")["links"] == {"c": {"soft": "b"}}


OTHER = """
import sys, h5py
with h5py.File(sys.argv[1], "r+") as f:
    f["g/theirs"] = h5py.SoftLink("t")
    f["g/both"] = h5py.SoftLink("t")
    del f["g/gone"]
"""


def test_changes_of_two_programs_are_merged(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        for name in ("early", "gone", "ours_gone", "again"):
            f[f"g/{name}"] = h5py.SoftLink("o")
        f.flush()
        f["g/ours"] = h5py.SoftLink("o")
        f["g/both"] = h5py.SoftLink("o")
        for name in ("ours_gone", "again"):
            del f[f"g/{name}"]
        f["g/again"] = h5py.SoftLink("p")
        run_python(OTHER, path, connector="zarr")
    links = {name: entry["soft"] for name, entry in side(path / "g")["links"].items()}
    assert links == {"early": "o", "ours": "o", "both": "o", "again": "p", "theirs": "t"}
    with h5py.File(path) as f:
        assert sorted(f["g"]) == sorted(links)


def test_read_only(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        fill(f)
    with h5py.File(path, "r") as f:
        with pytest.raises(Exception, match="read-only"):
            f["new"] = h5py.SoftLink("d")
        with pytest.raises(Exception, match="read-only"):
            del f["soft"]


def test_what_cannot_be_kept_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        with pytest.raises(Exception, match="UTF-8"):
            f[b"bad\xff"] = h5py.SoftLink("d")
        with pytest.raises(Exception, match="UTF-8"):
            f.id.links.create_soft(b"name", b"bad\xff")
        for i in range(40):
            try:
                f[f"l{i}"] = h5py.SoftLink("x" * 300000)
            except (OSError, RuntimeError, ValueError) as e:
                assert "document_bytes" in str(e)
                break
        count = len(f)
    assert 5 < count < 40
    with h5py.File(path, "r+") as f:
        assert len(f) == count
    document = json.loads((path / "zarr.json").read_text())
    document["attributes"]["_hdf5"] = '{"version": 2}'
    (path / "zarr.json").write_text(json.dumps(document))
    with h5py.File(path, "r+") as f:
        assert list(f) == [] and list(f.attrs) == ["_hdf5"]
        with pytest.raises(Exception, match="of another program or version"):
            f["a"] = h5py.SoftLink("b")
    assert json.loads((path / "zarr.json").read_text()) == document


@pytest.mark.parametrize("name", ["x.h5", "x.zarr"])
def test_questions_about_no_group(tmp_path, name):
    """A link exists or not where a group could hold it; else the question is an error. A walk begins in the list."""
    with h5py.File(tmp_path / name, "w") as f:
        f["g/d"], f["lost"] = 1, h5py.SoftLink("nowhere")
        exists = f.id.links.exists
        assert exists(b"g/d") and exists(b"/g/d") and exists(b"lost") and exists(b"g/d/")
        assert not exists(b"no") and not exists(b"g/no") and not exists(b"/no")
        for missing in (b"no/x", b"g/no/x", b"lost/x", b"g/d/x", b"/no/x"):
            with pytest.raises((KeyError, RuntimeError, OSError)):
                exists(missing)
        assert "no/x" not in f and "g/d/x" not in f and "lost/x" not in f
        visit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)
        library.H5Literate2.argtypes = [ctypes.c_int64, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, visit,
                                        ctypes.c_void_p]
        seen = []
        for start, result in ((0, 0), (1, 0), (2, -1), (9, -1)):
            at = ctypes.c_uint64(start)
            walk = visit(lambda group, link, info, context: seen.append(link) or 0)
            assert library.H5Literate2(f.id.id, 0, 0, ctypes.byref(at), walk, None) == result, start
        assert seen == [b"g", b"lost", b"lost"]
        empty = f.create_group("empty")
        assert library.H5Literate2(empty.id.id, 0, 0, ctypes.byref(ctypes.c_uint64(0)), walk, None) == 0


@pytest.mark.parametrize("kind", ["x.h5", "x.zarr"])
def test_paths_that_end_in_the_group_itself_name_nothing_new(tmp_path, kind):
    with h5py.File(tmp_path / kind, "w") as f:
        f.create_group("g")
        for path in ("g/.", "new/.", "new/./", ".", "/."):
            with pytest.raises((ValueError, OSError, RuntimeError)):
                f.create_group(path)
            with pytest.raises((ValueError, OSError, RuntimeError)):
                f[path] = h5py.SoftLink("/g")
        f.create_group("g/./new/")
        assert list(f["g"]) == ["new"]



@pytest.mark.parametrize("name", [".", "./", "/.", "//", "g/.", "g/./", "s/.", "g/h/./"])
def test_paths_that_end_in_the_object_itself_name_no_link(path, name):
    """Least of all one that could be deleted or moved: HDF5 knows no link there."""
    with h5py.File(path, "w") as f:
        f["g/h/d"] = np.arange(3)
        f["s"] = h5py.SoftLink("g")
        for of in (f, f["g"], f["g/h"]):
            base = of.id
            if of.name != "/" and not name.startswith(("/", ".")):
                continue
            assert not base.links.exists(name.encode()) and f.id.links.exists(b"/")
            for call in (base.links.get_info, base.links.get_val, base.unlink,
                         lambda at, base=base: base.links.move(at, f.id, b"moved"),
                         lambda at, base=base: copy_link(base, at, f.id, b"copied")):
                with pytest.raises(PROBLEMS):
                    call(name.encode())
            assert h5py.h5o.open(base, name.encode()) and h5py.h5o.exists_by_name(base, name.encode())
        f.id.links.create_hard(b"second", f.id, b"g/.")
        assert f["second"] == f["g"]
        del f["second"]
    with h5py.File(path, "r") as f:
        assert list(f) == ["g", "s"] and list(f["g/h/d"]) == [0, 1, 2]


def copy_link(source, name, target, new_name):
    library.H5Lcopy.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64, ctypes.c_char_p] + [ctypes.c_int64] * 2
    if library.H5Lcopy(source.id, name, target.id, new_name, 0, 0) < 0:
        raise RuntimeError("H5Lcopy")


def test_the_paths_of_soft_links_have_single_slashes(path):
    given = {"g//h/": b"g/h", "//g": b"/g", "g///": b"g", "///": b"/", "./g/./h": b"./g/./h"}
    with h5py.File(path, "w") as f:
        f.create_group("g/h")
        for number, target in enumerate(given):
            f[str(number)] = h5py.SoftLink(target)
    with h5py.File(path, "r") as f:
        for number, target in enumerate(given.values()):
            name = str(number).encode()
            assert f.id.links.get_val(name) == target and f.id.links.get_info(name).u == len(target) + 1
            assert f[name]
