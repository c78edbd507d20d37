# SPDX-License-Identifier: MIT
"""Objects that cannot be read, and files that are only read: a clear error, with errno, and no
harm."""

import errno
import json
import os
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from conftest import put, run_python


def snapshot(path):
    return {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in Path(path).rglob("*")}


def test_read_only_files_refuse_every_change(tree):
    before = snapshot(tree)
    with h5py.File(tree, "r") as f:
        for change in (
            lambda: f.create_group("q"), lambda: f.create_dataset("q", data=1),
            lambda: f.attrs.__setitem__("q", 1), lambda: f.attrs.__delitem__("n"),
            lambda: f["a"].__setitem__(0, 1), lambda: f["a"].resize((1, 1)),
            lambda: f.__delitem__("a"), lambda: f.move("a", "b"), lambda: f.copy("a", "b"),
            lambda: f["a"].attrs.modify("units", "x"), lambda: f.attrs.modify("n", 2),
        ):
            with pytest.raises(Exception) as caught:
                change()
            assert "was opened read-only" in str(caught.value), caught.value
    assert snapshot(tree) == before


@pytest.fixture
def damaged(new_store):
    """A store with one array in one chunk, zstd and checksum; returns (path, chunk)."""
    path, group = new_store()
    put(group, "good", np.arange(5))
    put(group, "d", np.arange(1000), compressors=[zarr.codecs.ZstdCodec(level=1),
                                                  zarr.codecs.Crc32cCodec()])
    return path, Path(path) / "d" / "c" / "0"


def flip(chunk):
    content = bytearray(chunk.read_bytes())
    content[20] ^= 1
    chunk.write_bytes(content)


def truncate(chunk):
    chunk.write_bytes(chunk.read_bytes()[:-5])


@pytest.mark.parametrize("harm", [flip, truncate])
def test_damaged_chunk(damaged, harm):
    path, chunk = damaged
    harm(chunk)
    with h5py.File(path, "r") as f:
        for read in (lambda: f["d"][...], lambda: f["d"][::7], lambda: f["d"][[1, 5, 900]]):
            with pytest.raises(OSError, match="new.zarr.*array /d.*c/0") as caught:
                read()
            assert caught.value.errno
        assert list(f["good"][...]) == [0, 1, 2, 3, 4]


def change(path, **members):
    document = json.loads(Path(path, "zarr.json").read_text())
    document.update(members)
    Path(path, "zarr.json").write_text(json.dumps(document))


@pytest.fixture
def partly_readable(new_store):
    path, group = new_store()
    put(group, "good", np.arange(5))
    for name in ("bad_type", "bad_json", "bad_codec"):
        put(group, name, np.arange(5))
    put(group.create_group("sub"), "fine", np.arange(2))
    change(path + "/bad_type", data_type="quaternion")
    change(path + "/bad_codec", codecs=[{"name": "bytes"}, {"name": "lzma_of_mine"}])
    Path(path, "bad_json", "zarr.json").write_text('{"zarr_format": 3,')
    return path


def test_unreadable_nodes_are_listed_with_their_reason(partly_readable):
    with h5py.File(partly_readable, "r") as f:
        assert list(f) == ["bad_codec", "bad_json", "bad_type", "good", "sub"]
        for name, reason in (("bad_type", "quaternion"), ("bad_codec", "lzma_of_mine"),
                             ("bad_json", "line 1")):
            assert name in f.keys()
            with pytest.raises((KeyError, OSError), match=reason):
                f[name]
            link = f.get(name, getlink=True)
            assert isinstance(link, h5py.SoftLink) and reason in link.path
            with pytest.raises((KeyError, OSError), match=reason):
                f[name + "/below"]


def test_walks_pass_over_unreadable_nodes(partly_readable):
    with h5py.File(partly_readable, "r") as f:
        seen, links = [], []
        f.visititems(lambda name, o: seen.append(name))
        f.visit_links(links.append)
        assert seen == ["good", "sub", "sub/fine"]
        assert links == ["bad_codec", "bad_json", "bad_type", "good", "sub", "sub/fine"]


@pytest.mark.parametrize("content, code", [
    (b"", errno.EINVAL), (b"{", errno.EINVAL), (b'{"zarr_format": 3}', errno.EINVAL),
    (b'{"zarr_format": 2, "node_type": "group"}', errno.EINVAL),
    (b"[" * 100, errno.EFBIG), (b"\xff\xfe", errno.EINVAL),
])
def test_broken_root(tmp_path, content, code):
    store = tmp_path / "x.zarr"
    store.mkdir()
    (store / "zarr.json").write_bytes(content)
    with pytest.raises(OSError, match="x.zarr") as caught:
        h5py.File(store, "r")
    assert caught.value.errno in (code, errno.ENOTSUP), caught.value


def test_a_directory_called_zarr_json_is_no_store(tmp_path):
    store = tmp_path / "x.zarr"
    (store / "zarr.json").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        h5py.File(store, "r")


def test_nothing_there(tmp_path):
    for name in ("nope.zarr", "nope.h5", "no/such/folder.zarr"):
        with pytest.raises(FileNotFoundError):
            h5py.File(tmp_path / name, "r")


def test_endless_stores_end(new_store):
    """Symbolic links to a group's own group are not its children."""
    path, group = new_store()
    put(group, "d", np.arange(3))
    for name in ("a", "b"):
        os.symlink(".", Path(path, name))
    code = """
import sys, h5py
with h5py.File(sys.argv[1]) as f:
    assert list(f) == ["d"]
    found = []
    f.visit(found.append)
    print(found)
"""
    assert run_python(code, path) == "['d']\n"


def test_copies_of_endless_stores_end(new_store):
    """Such links are not copied, neither among groups nor among chunks."""
    path, group = new_store()
    put(group.create_group("g"), "d", np.arange(3))
    for below in ("", "g", "g/d", "g/d/c"):
        for name in ("x", "y"):
            os.symlink(".", Path(path, below, name))
    code = """
import sys, h5py
with h5py.File(sys.argv[1], "r+") as f:
    f.copy("g", "copy")
    f.copy("g/d", "g/e")
    found = []
    f.visit(found.append)
    print(found, f["copy/d"][:], f["g/e"][:])
    del f["g"], f["copy"]
    print(list(f))
"""
    assert run_python(code, path) == (
        "['copy', 'copy/d', 'g', 'g/d', 'g/e'] [0 1 2] [0 1 2]\n[]\n")
    assert sorted(os.listdir(path)) == ["x", "y", "zarr.json"]


def test_ladders_of_links_end(new_store):
    """Two links in each of 40 groups to the next one: 2^40 paths. Walks stop at a limit and say so."""
    path, group = new_store()
    for i in range(40):
        group.create_group(f"g{i}")
        for name in ("p", "q"):
            os.symlink(f"../g{i + 1}", Path(path, f"g{i}", name))
    group.create_group("g40")
    code = """
import sys, h5py
with h5py.File(sys.argv[1]) as f:
    for walk in (f.visit, f.visit_links):
        try: walk(lambda name: None)
        except Exception as e: print("limit nodes" in str(e))
"""
    os.environ["ZARRBRIDGE_NODES"] = "2000"
    try:
        assert run_python(code, path) == "True\nTrue\n"
    finally:
        del os.environ["ZARRBRIDGE_NODES"]


def test_entries_that_cannot_be_read_are_links_to_nothing(new_store):
    """Such an entry has a name and a reason, and no object. It can be moved and deleted all the same:
    both concern the name."""
    path, group = new_store()
    for name in ("bad", "g/bad"):
        put(group, name, np.zeros(2))
        Path(path, name, "zarr.json").write_text("{")
    with h5py.File(path, "r+") as f:
        assert f.get("bad", getlink=True).path.startswith("cannot be read: ")
        assert "bad" in f.id and f.get("bad") is None
        with pytest.raises(RuntimeError, match="line 1"):
            f.copy("bad", "copy")
        with pytest.raises((OSError, ValueError), match="exists"):
            f.create_group("bad")
        with pytest.raises((OSError, ValueError), match="line 1"):
            f.create_group("bad/below")
        f.move("bad", "g/moved")
        assert list(f) == ["g"] and list(f["g"]) == ["bad", "moved"]
        assert f["g"].get("moved", getlink=True).path.startswith("cannot be read: ")
        assert Path(path, "g/moved/zarr.json").read_text() == "{"
        del f["g/bad"]
        assert list(f["g"]) == ["moved"] and not Path(path, "g/bad").exists()
        f.move("g", "h")
        assert list(f["h"]) == ["moved"]
        with pytest.raises((OSError, KeyError), match="line 1"):
            f["h/moved"]
        del f["h"]
        assert list(f) == []
