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


def test_property_lists_of_another_class_are_refused(tree):
    wrong = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    with h5py.File(tree, "r+") as f:
        for call in (
            lambda: h5py.h5o.open(f.id, b"a", lapl=wrong),
            lambda: h5py.h5o.copy(f.id, b"a", f.id, b"z", copypl=wrong),
            lambda: h5py.h5g.create(f.id, b"z", lcpl=wrong),
            lambda: h5py.h5a.exists(f.id, b"n", obj_name=b"a", lapl=wrong),
        ):
            with pytest.raises(Exception, match="property list|find property in skip list"):
                call()
        assert "z" not in f


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
