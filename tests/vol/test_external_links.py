# SPDX-License-Identifier: MIT
"""External links between .h5 files and stores, where the library lets a connector follow them: those
in a store."""

import ctypes

import h5py
import numpy as np
import pytest
from conftest import environment, forked, run, tool
from test_links import side

LIBRARY = ctypes.CDLL(h5py.h5p.__file__)
LIBRARY.H5Oopen_by_idx.restype = ctypes.c_int64
LIBRARY.H5Oopen_by_idx.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_int, ctypes.c_int,
                                   ctypes.c_ulonglong, ctypes.c_int64]


def open_by_index(group, path, index):
    """The id of an object, in the order of names."""
    return LIBRARY.H5Oopen_by_idx(group.id.id, path, h5py.h5.INDEX_NAME, h5py.h5.ITER_INC, index, 0)


@pytest.fixture(params=["x.h5", "x.zarr"])
def path(request, tmp_path):
    return tmp_path / request.param


@pytest.fixture(params=["t.h5", "t.zarr"])
def target(request, tmp_path):
    path = tmp_path / request.param
    with h5py.File(path, "w") as f:
        f["g/d"] = np.arange(5)
        f["g"].attrs["a"] = 7
        f["g/text"] = "words"
        f["back"] = h5py.SoftLink("/g/d")
    return path


def test_the_link_itself(path, tmp_path):
    with h5py.File(path, "w") as f:
        f["ext"] = h5py.ExternalLink("t.h5", "/g/d")
        f["g/none"] = h5py.ExternalLink("not there.h5", "x")
    for mode in ("r+", "r"):
        with h5py.File(path, mode) as f:
            link = f.get("ext", getlink=True)
            assert isinstance(link, h5py.ExternalLink)
            assert (link.filename, link.path) == ("t.h5", "/g/d")
            assert f.get("ext", getclass=True, getlink=True) is h5py.ExternalLink
            info = f.id.links.get_info(b"ext")
            assert (info.type, info.u) == (h5py.h5l.TYPE_EXTERNAL, 1 + 5 + 5)
            assert f.id.links.get_val(b"g/none") == (b"not there.h5", b"x")
            assert list(f) == ["ext", "g"]
            with pytest.raises((KeyError, OSError)):
                f["g/none"]
            seen = []
            f.visit(seen.append)
            assert seen == ["g"]
            if mode == "r+":
                f.move("ext", "g/ext")
                f.copy("g", "h")
                del f["g/ext"]
                f.move("h/ext", "ext")
                del f["h"]
    out = tool("h5ls", "-r", path, connector="zarr")
    assert "External Link {t.h5//g/d}" in out
    assert "EXTERNAL_LINK" in tool("h5dump", path, connector="zarr")
    for name in ("y.h5", "y.zarr"):
        tool("h5repack", path, tmp_path / name, connector="zarr")
        with h5py.File(tmp_path / name, "r") as f:
            assert f.get("g/none", getlink=True).filename == "not there.h5"


def test_opening(tmp_path, target):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        f["ext"] = h5py.ExternalLink(target.name, "/g/d")
        f["group"] = h5py.ExternalLink(target.name, "g")
        f["soft"] = h5py.SoftLink("group/d")
        f["via"] = h5py.ExternalLink(target.name, "back")
        f["lost"] = h5py.ExternalLink(target.name, "nothing")
        f["absolute"] = h5py.ExternalLink(str(target), "/g/d")
    with h5py.File(path, "r") as f:
        for name in ("ext", "group/d", "soft", "via", "absolute"):
            assert list(f[name]) == [0, 1, 2, 3, 4], name
            assert name in f and f.get(name, getclass=True) is h5py.Dataset
        assert f["ext"] == f["group"]["d"] and f["ext"].file.filename == str(target)
        assert f["group"].attrs["a"] == 7 and sorted(f["group"]) == ["d", "text"]
        assert f["group/text"].asstr()[()] == "words"
        assert f.get("lost") is None
        with pytest.raises(KeyError):
            f["lost"]
        held = f["ext"]
    assert held and list(held) == [0, 1, 2, 3, 4]  # it keeps its file open
    held = link = None
    with h5py.File(path, "r+") as f:
        f["ext"][0] = 9
        f["group"].create_group("new")
        f["group/d"][1] = 8
    with h5py.File(target, "r") as f:
        assert list(f["g/d"]) == [9, 8, 2, 3, 4] and "new" in f["g"]


def test_links_behind_one(tmp_path, target):
    """The same from an .h5 file, whose external links lead to .h5 files alone."""
    names = [b"group/d", b"again/group/d", b"group/soft", b"group/lost", b"whole/g/d", b"group/d/"]
    told = {}
    with h5py.File(target, "r+") as f:
        f["g/soft"] = h5py.SoftLink("d")
    for suffix in [".zarr"] + [".h5"] * (target.suffix == ".h5"):
        with h5py.File(tmp_path / f"x{suffix}", "w") as f:
            f["group"] = h5py.ExternalLink(target.name, "g")
            f["data"] = h5py.ExternalLink(target.name, "/g/d")
            f["whole"] = h5py.ExternalLink(target.name, "/")
            f["again"] = h5py.ExternalLink(f"x{suffix}", "/")
            f["nowhere"] = h5py.ExternalLink("no file", "/")
        with h5py.File(tmp_path / f"x{suffix}", "r") as f:
            told[suffix] = [f.id.links.exists(name) and f.id.links.get_info(name).type for name in names]
            assert f.get("group/soft", getlink=True).path == "d"
            assert isinstance(f.get("group/d", getlink=True), h5py.HardLink)
            for call, name in ((f.id.links.get_info, b"group/lost"), (f.id.links.get_info, b"nowhere/x"),
                               (f.id.links.get_info, b"data/x"), (f.id.links.get_val, b"data/x"),
                               (f.id.links.exists, b"nowhere/x")):
                with pytest.raises((KeyError, RuntimeError, OSError)):
                    call(name)
    hard, soft = h5py.h5l.TYPE_HARD, h5py.h5l.TYPE_SOFT
    assert told == dict.fromkeys(told, [hard, hard, soft, False, hard, hard])


def exists(f, name):
    """None: an error."""
    try:
        return h5py.h5o.exists_by_name(f.id, name.encode())
    except RuntimeError:
        return None


def test_existence_is_asked_of_links(tmp_path):
    """A link leads to an object or not. Where no such link is, HDF5 gives an error, or from 1.14.6 on says so."""
    missing = False if h5py.version.hdf5_version_tuple >= (1, 14, 6) else None
    want = {".": True, "g": True, "g/d": True, "to": True, "to/g": True, "data": True, "lost": False, "to none": False,
            "no object": False, "no file": False, "to/soft": False, "to/g/no file": False}
    want |= dict.fromkeys(["no", "g/no", "to/no", "to/g/no"], missing)
    want |= dict.fromkeys(["no/no", "g/d/no", "lost/x", "round", "to/no/no", "to/g/d/no", "data/x", "no file/x",
                           "no object/x", "to/soft/x", "to/g/no file/x"], None)
    for suffix in (".h5", ".zarr"):
        with h5py.File(tmp_path / f"t{suffix}", "w") as f:
            f["g/d"] = 1
            f["soft"], f["g/no file"] = h5py.SoftLink("/nowhere"), h5py.ExternalLink("none", "/")
        with h5py.File(tmp_path / f"x{suffix}", "w") as f:
            f["g/d"] = 1
            f["lost"], f["to none"], f["round"] = map(h5py.SoftLink, ("/nowhere", "no object", "/round"))
            for name, path in (("to", "/"), ("data", "/g/d"), ("no object", "/no")):
                f[name] = h5py.ExternalLink(f"t{suffix}", path)
            f["no file"] = h5py.ExternalLink("none", "/")
            assert {name: exists(f, name) for name in want} == want


@pytest.mark.parametrize("link, to", [(".h5", ".h5"), (".zarr", ".zarr"), (".zarr", ".h5")])
def test_copies_of_what_is_behind_a_link(link, to, tmp_path):
    with h5py.File(tmp_path / f"t{link}", "w") as f:
        f["g/d"] = np.arange(3)
        f["g/d"].attrs["a"] = 1
    with h5py.File(tmp_path / f"x{link}", "w") as f, h5py.File(tmp_path / f"y{to}", "w") as other:
        f["g"], f["soft"] = h5py.ExternalLink(f"t{link}", "/g"), h5py.SoftLink("g/d")
        for target in (f, other):
            for source in ("g", "g/d", "soft"):
                f.copy(source, target, "copy of " + source.replace("/", " "))
            for name in ("copy of g/d", "copy of g d", "copy of soft"):
                assert list(target[name]) == [0, 1, 2] and target[name].attrs["a"] == 1
            for lost in ("g/no", "none"):
                with pytest.raises(RuntimeError):
                    f.copy(lost, target, "nothing")


def test_copies_out_of_an_hdf5_file_want_the_object(tmp_path):
    with h5py.File(tmp_path / "t.h5", "w") as f:
        f["g/d"] = 1
    with h5py.File(tmp_path / "x.zarr", "w") as f:
        f["g"] = h5py.ExternalLink("t.h5", "/g")
        with pytest.raises(RuntimeError, match="open the object first"):
            f.copy("g", "copy")
        f.copy(f["g"], "copy")
        assert f["copy/d"][()] == 1


LINKS = ["d", "g", "t", "soft", "round", "no object", "no file", "text", "store"]


def chain(folder, first, second):
    """Files x, a and b: links of every kind in a lead on, to b or nowhere, and x leads to a."""
    with h5py.File(folder / "b.zarr", "w") as f:
        f["d"] = 7
    (folder / "text").write_text("no HDF5 file")
    with h5py.File(folder / "b.h5", "w") as f:
        f["d"], f["g/x"], f["g/e/y"], f["t"] = 5, 1, 2, np.dtype("i2")
        f["round"] = h5py.ExternalLink(second, "soft")
    with h5py.File(folder / second, "w") as f:
        for name in ("d", "g", "t", "round"):
            f[name] = h5py.ExternalLink("b.h5", name)
        f["soft"] = h5py.SoftLink("g/x")
        f["no object"] = h5py.ExternalLink("b.h5", "no")
        f["no file"] = h5py.ExternalLink("none.h5", "d")
        f["text"] = h5py.ExternalLink("text", "d")
        f["store"] = h5py.ExternalLink("b.zarr", "d")
    with h5py.File(folder / first, "w") as f:
        f["a"] = h5py.ExternalLink(second, "/")
        for name in LINKS:
            f[name] = h5py.ExternalLink(second, name)
    return folder / first


def outcome(call):
    """What a call gives, as a text that does not depend on the file."""
    try:
        value = call()
    except (KeyError, OSError, RuntimeError):
        return "error"
    if isinstance(value, h5py.Group):
        return sorted(value), value.file.filename
    if isinstance(value, h5py.Dataset):
        return int(value[()]), value.file.filename
    if isinstance(value, h5py.Datatype):
        return value.dtype.str
    return (value.filename, value.path) if isinstance(value, h5py.ExternalLink) else (
        value if isinstance(value, type) else repr(type(value)))


def follow(path):
    names = LINKS + ["a/" + name for name in LINKS] + ["a/g/x", "a/g/e", "a/g/e/y", "g/e"]
    told = {}
    with h5py.File(path, "r") as f:
        for name in names:
            coded = name.encode()
            told[name] = [outcome(call) for call in (
                lambda: f[name], lambda: f.get(name, getclass=True),
                lambda: f.get(name, getlink=True), lambda: str(name in f),
                lambda: {True: int, False: str}[h5py.h5o.exists_by_name(f.id, coded)],
                lambda: {True: int, False: str}[f.id.links.exists(coded)],
                lambda: f["a"][name.removeprefix("a/")])]
        return told


def test_chains_through_hdf5_files(tmp_path):
    """HDF5 follows the second link on its own; what it opens there is none of the store's."""
    told = follow(chain(tmp_path, "x.zarr", "a.h5"))
    assert told["d"][0] == (5, str(tmp_path / "b.h5")) and told["t"][0] == "<i2"
    assert told["soft"][0][0] == 1 and told["round"][0][0] == 1
    assert told["a/g/e"][0] != "error" and told["no object"][0] == told["store"][0] == "error"
    assert told == follow(chain(tmp_path, "x.h5", "a.h5"))


def test_chains_through_stores(tmp_path):
    told = follow(chain(tmp_path, "x.zarr", "a.zarr"))
    assert told["store"][0] == (7, str(tmp_path / "b.zarr"))
    assert told["a/g/e/y"][0][0] == 2 and told["no file"][0] == "error" and told["g"][0] != "error"


def test_names_are_those_of_the_link(tmp_path):
    with h5py.File(tmp_path / "t.h5", "w") as f:
        f["a"] = f["b"] = 1
        f["c"] = f["a"]
    with h5py.File(tmp_path / "x.zarr", "w") as f:
        for name in "abc":
            f[name] = h5py.ExternalLink("t.h5", name)
        assert f["a"].name == "/a" and f["c"].name == "/c" and f["a"] == f["c"]


def test_chains_are_written_through(tmp_path):
    with h5py.File(chain(tmp_path, "x.zarr", "a.h5"), "r+") as f:
        f["d"][()] = 6
        f["g"].create_group("new").attrs["n"] = 1
        held = f["a/g/x"]
    held[()] = 8
    held = None
    with h5py.File(tmp_path / "b.h5", "r+") as f:
        assert f["d"][()] == 6 and f["g/new"].attrs["n"] == 1 and f["g/x"][()] == 8


def test_chains_end(tmp_path):
    one, two = tmp_path / "one.zarr", tmp_path / "two.zarr"
    with h5py.File(one, "w") as f, h5py.File(two, "w") as g:
        f["round"] = h5py.ExternalLink("two.zarr", "round")
        g["round"] = h5py.ExternalLink("one.zarr", "round")
    with h5py.File(one, "r") as f:
        with pytest.raises(Exception, match="too many"):
            f["round"]


def test_prefixes(tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    with h5py.File(tmp_path / "deep" / "t.zarr", "w") as f:
        f["d"] = 3
    with h5py.File(tmp_path / "x.zarr", "w") as f:
        f["ext"] = h5py.ExternalLink("t.zarr", "d")
        assert f.get("ext") is None
        lapl = h5py.h5p.create(h5py.h5p.LINK_ACCESS)
        lapl.set_elink_prefix(str(tmp_path / "deep").encode())
        assert h5py.Dataset(h5py.h5o.open(f.id, b"ext", lapl))[()] == 3
    for prefix in (str(tmp_path / "deep"), f"/nowhere:{tmp_path}/deep", "${ORIGIN}/deep"):
        monkeypatch.setenv("HDF5_EXT_PREFIX", prefix)
        with h5py.File(tmp_path / "x.zarr", "r") as f:
            assert f["ext"][()] == 3


def test_links_that_lead_nowhere_are_no_objects(path, tmp_path):
    target = path.with_name("t" + path.suffix)
    with h5py.File(target, "w") as f:
        f["g/d"] = 1
    (tmp_path / "text").write_text("no HDF5 file")
    with h5py.File(path, "w") as f:
        f["g/none"] = h5py.ExternalLink("none.h5", "/d")
        f["g/text"] = h5py.ExternalLink("text", "/d")
        f["g/lost"] = h5py.ExternalLink(target.name, "/no")
        f["g/there"] = h5py.ExternalLink(target.name, "/g")
        for name in ("none", "text", "lost"):
            assert not h5py.h5o.exists_by_name(f.id, f"g/{name}".encode())
            assert f"g/{name}/d" not in f and name in f["g"]
        assert h5py.h5o.exists_by_name(f.id, b"g/there") and "g/there/d" in f and "g/there/e" not in f


@pytest.mark.parametrize("names", [("x.h5", "t.h5"), ("x.zarr", "t.h5"), ("x.zarr", "t.zarr")])
def test_the_access_list_goes_on(tmp_path, names):
    """As with HDF5's own files, the file of a link is opened as the one that holds it."""
    path, target = (tmp_path / name for name in names)
    with h5py.File(target, "w") as f:
        f["g/d"] = np.arange(5)
    with h5py.File(path, "w") as f:
        f["ext"] = h5py.ExternalLink(target.name, "/g/d")
    for locking, told in ((False, (0, 0)), (True, (1, 0))):
        with h5py.File(path, locking=locking) as f:
            with f["ext"].file as behind:
                assert behind.filename == str(target)
                assert behind.id.get_access_plist().get_file_locking() == told


def test_form_and_refusals(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        f["ext"] = h5py.ExternalLink("t.h5", "/g/d")
        for other in ("o.zarr", "o.h5"):
            with h5py.File(tmp_path / other, "w") as to:
                with pytest.raises(Exception, match="external link"):
                    f.copy(f["/"], to, "x", expand_external=True)
    assert side(path)["links"] == {"ext": {"external": ["t.h5", "/g/d"]}}


def test_a_link_in_an_hdf5_file_into_a_store(tmp_path):
    """HDF5 follows these itself, and asks no connector: docs/hdf5.md."""
    with h5py.File(tmp_path / "t.zarr", "w") as f:
        f["d"] = 1
    with h5py.File(tmp_path / "x.h5", "w") as f:
        f["ext"] = h5py.ExternalLink("t.zarr", "d")
        with pytest.raises((KeyError, OSError)):
            f["ext"]


TELLS = """
import sys, h5py
with h5py.File("x.h5", sys.argv[1]) as f:
    for name in sys.argv[2:]:
        try:
            f[name][()]
        except (KeyError, OSError):
            pass
"""


def told(folder, *arguments, verbose="1"):
    """What the names in x.h5 say on stderr when they are opened and read."""
    code = f"import os; os.environ['ZARRBRIDGE_VERBOSE'] = {verbose!r}\n" + TELLS
    done = forked.run(code, *arguments, env=environment("zarr"), cwd=folder)
    assert done.returncode == 0
    return done.stderr.splitlines()


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_stores_that_hdf5_does_not_ask_for(tmp_path, mode):
    """It follows external links in .h5 files, and reads the sources of virtual datasets, by itself."""
    for name in ("t.zarr", "t.h5"):
        with h5py.File(tmp_path / name, "w") as f:
            f["g/d"] = np.arange(5)
    with h5py.File(tmp_path / "x.h5", "w") as f:
        for kind in ("h5", "zarr"):
            f[f"g/{kind}"] = h5py.ExternalLink(f"t.{kind}", "/g")
            layout = h5py.VirtualLayout((5,), "i8")
            layout[:] = h5py.VirtualSource(f"t.{kind}", "g/d", (5,))
            f.create_virtual_dataset(f"virtual_{kind}", layout)
        f["lost"] = h5py.ExternalLink("none.zarr", "/g")
        f["own"] = np.arange(3)
    assert not told(tmp_path, mode, "g/h5/d", "virtual_h5", "lost", "own", "none", "g/none/x")
    link, virtual = told(tmp_path, mode, "g/zarr", "g/zarr/d", "virtual_zarr", "virtual_zarr")
    assert "external link 'g/zarr'" in link and "'t.zarr'" in link
    assert "virtual dataset" in virtual and "'t.zarr'" in virtual
    assert told(tmp_path, mode, "g/zarr/d") == [link]
    assert not told(tmp_path, mode, "g/zarr", "virtual_zarr", verbose="0")


def test_opening_by_index(tmp_path, target):
    """H5Oopen_by_idx and H5Oget_info_by_idx follow soft and external links as the calls by name do."""
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        f["g/a"] = h5py.ExternalLink(target.name, "/g/d")
        f["g/b"] = h5py.SoftLink("a")
        f["g/c"] = h5py.ExternalLink("none.h5", "/g/d")
        f["g/d"] = h5py.SoftLink("none")
        f["g/e"] = h5py.SoftLink("/g")
    with h5py.File(path) as f:
        for i in (0, 1):
            assert list(h5py.Dataset(h5py.h5d.DatasetID(open_by_index(f, b"g", i)))) == [0, 1, 2, 3, 4]
            info = h5py.h5o.get_info(f.id, index=i, obj_name=b"g")
            assert info.type == h5py.h5o.TYPE_DATASET
        assert h5py.Group(h5py.h5g.GroupID(open_by_index(f["g"], b".", 4))) == f["g"]
        for i in (2, 3, 5):
            assert open_by_index(f, b"g", i) < 0
            with pytest.raises((KeyError, OSError, ValueError, RuntimeError)):
                h5py.h5o.get_info(f.id, index=i, obj_name=b"g")
