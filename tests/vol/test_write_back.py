# SPDX-License-Identifier: MIT
"""When attributes get into the store: together at a flush, a close, and before what needs the
document; and what happens when that fails, or other programs change the node meanwhile."""

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from conftest import environment


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.zarr"


def attributes(path, name=""):
    return json.loads((Path(path) / name / "zarr.json").read_text()).get("attributes", {})


def plain(path, name=""):
    """The attributes without those that only the connector knows."""
    found = attributes(path, name)
    found.pop("_hdf5", None)
    return found


def document_id(path, name=""):
    """Each change of a document puts a new file in its place."""
    info = os.stat(Path(path) / name / "zarr.json")
    return info.st_ino, info.st_mtime_ns


def c_flush(function, node):
    """A call that h5py does not have."""
    maps = Path("/proc/self/maps").read_text().split()
    library = ctypes.CDLL(next(word for word in maps if "/libhdf5" in word and "_hl" not in word
                               and "vol_zarr" not in word))
    call = getattr(library, function)
    call.argtypes = [ctypes.c_int64]
    assert call(node.id.id) >= 0


@pytest.fixture
def f(path):
    with h5py.File(path, "w") as file:
        file.create_group("g", track_order=True)
        file.create_dataset("g/d", data=np.arange(4), maxshape=(None,), chunks=(2,))
        file.flush()
        yield file


FLUSHES = {
    "file": ("g/d", lambda f: f.flush()), "group": ("g", lambda f: c_flush("H5Gflush", f["g"])),
    "object": ("g/d", lambda f: c_flush("H5Oflush", f["g/d"])),
    "group_above": ("g/d", lambda f: c_flush("H5Gflush", f["g"])),
    "dataset": ("g/d", lambda f: f["g/d"].flush()), "refresh": ("g/d", lambda f: f["g/d"].refresh()),
    "resize": ("g/d", lambda f: f["g/d"].resize((5,))), "root": ("", lambda f: f.flush()),
}


@pytest.mark.parametrize("way", FLUSHES)
def test_flushes_store_all_in_one_document(path, f, way):
    name, flush = FLUSHES[way]
    before = document_id(path, name)
    for i in range(200):
        f[name or "/"].attrs[f"a{i}"] = np.int16(i)
    del f[name or "/"].attrs["a7"]
    assert document_id(path, name) == before and "a0" not in attributes(path, name)
    want = {f"a{i}": i for i in range(200) if i != 7}
    assert dict(f[name or "/"].attrs) == want
    flush(f)
    got = attributes(path, name)
    assert list(json.loads(got.pop("_hdf5"))["attributes"]) == list(got) and got == want
    if way != "resize":
        after = document_id(path, name)
        flush(f)
        assert document_id(path, name) == after


@pytest.mark.parametrize("act, name", [
    (lambda f: f.copy("g", "h"), "h/d"), (lambda f: f.move("g", "h"), "h/d"),
    (lambda f: f.copy("g/d", "e"), "e"), (lambda f: f.move("g/d", "e"), "e"),
    (lambda f: f.copy("g/d", f, name="e", without_attrs=True), None),
])
def test_copies_and_moves_take_them_along(path, f, act, name):
    f["g/d"].attrs["a"] = np.int8(5)
    act(f)
    f.flush()
    assert attributes(path, name or "e").get("a") == (5 if name else None)
    if name:
        assert f[name].attrs["a"].dtype == "i1"


def test_deleted_nodes_take_them_along(path, f):
    f["g/d"].attrs["a"] = 5
    d = f["g/d"]
    g = f["g"]
    del f["g"]
    f.flush()
    d.attrs["b"] = 6  # a dataset that has ids lives on
    assert dict(d.attrs) == {"a": 5, "b": 6}
    with pytest.raises(OSError):
        g.attrs["b"] = 6
    assert not (path / "g").exists()


def test_copies_into_hdf5_files_have_them(tmp_path, path, f):
    f["g/d"].attrs["a"] = np.int8(5)
    with h5py.File(tmp_path / "n.h5", "w") as native:
        f.copy("g", native)
        assert native["g/d"].attrs["a"] == 5 and native["g/d"].attrs["a"].dtype == "i1"


def test_all_handles_of_the_process_see_them(path, f):
    f["g"].attrs["a"] = 5
    with h5py.File(path, "r") as other:
        assert other["g"].attrs["a"] == 5


def test_closing_stores_them(path):
    f = h5py.File(path, "w")
    group = f.create_group("g")
    f.close()
    assert not group
    with h5py.File(path, "r+") as f:
        f["g"].attrs["a"] = 5
    assert plain(path, "g") == {"a": 5}


def test_values_that_no_document_can_hold_together(path, f):
    """Each is below the limit attribute_bytes, and all together are above document_bytes."""
    texts = {f"large{i}": "xyz"[i % 3] * 1040000 for i in range(20)}
    f["g"].attrs["before"] = 1
    for name, text in texts.items():
        f["g"].attrs[name] = text
    f["g"].attrs["after"] = 2
    f.flush()
    assert os.stat(path / "g/zarr.json").st_size < 15 << 20
    with h5py.File(path) as again:
        for file in (f, again):
            assert dict(file["g"].attrs) == {"before": 1, **texts, "after": 2}


def test_a_refused_change_leaves_the_one_before_it(path, f):
    """A large value is stored at once; when that fails, a smaller one that waited goes on waiting."""
    f["g"].attrs["a"] = "kept"
    f["g"].attrs["a"] = "stored"
    f.flush()
    f["g"].attrs.modify("a", "accepted")
    (path / "g").rename(path / "away")
    with pytest.raises(OSError):
        f["g"].attrs.modify("a", "refused" * 50000)
    (path / "away").rename(path / "g")
    assert f["g"].attrs["a"] == "accepted"
    f.flush()
    assert plain(path, "g") == {"a": "accepted"}


def test_a_large_number_of_large_ones(path, f):
    text = "y" * 10000
    for i in range(60):
        f["g"].attrs[f"a{i}"] = text
    f.flush()
    assert plain(path, "g") == {f"a{i}": text for i in range(60)}


def test_flush_tells_of_errors(tmp_path):
    path = tmp_path / "x.zarr"
    f = h5py.File(path, "w")
    f.create_group("g")
    f.flush()
    f["g"].attrs["a"] = 5
    shutil.rmtree(path / "g")
    for _ in range(2):
        with pytest.raises(Exception, match="flush"):
            f.flush()
    with pytest.raises(Exception):
        f.close()
    assert not (path / "g").exists()


KILLED = """
import os, signal, sys, h5py
f = h5py.File(sys.argv[1], "w")
f.attrs["early"] = 1
f.flush()
f.attrs["late"] = 2
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_program_loses_what_was_not_flushed(path):
    done = subprocess.run([sys.executable, "-c", KILLED, path], env=environment("zarr"), check=False)
    assert done.returncode == -signal.SIGKILL
    assert plain(path) == {"early": 1}


OTHER = """
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "r+") as f:
    f["g"].attrs["theirs"] = np.int16(3)
    f["g"].attrs["both"] = np.int16(4)
    del f["g"].attrs["gone"]
"""


def test_changes_of_two_programs_are_merged(path, f):
    g = f["g"]
    g.attrs["gone"] = np.int8(1)
    g.attrs["early"] = np.int8(1)
    f.flush()
    g.attrs["ours"] = np.int8(1)
    g.attrs["both"] = np.int8(2)
    del g.attrs["gone"]
    subprocess.run([sys.executable, "-c", OTHER, path], env=environment("zarr"), check=True)
    f.flush()
    got = attributes(path, "g")
    entries = json.loads(got.pop("_hdf5"))["attributes"]
    assert got == {"early": 1, "theirs": 3, "both": 2, "ours": 1}
    assert {name: entry["type"] for name, entry in entries.items()} == {
        "early": "<i1", "theirs": "<i2", "both": "<i1", "ours": "<i1"}


def test_the_order_is_that_of_making(path, f):
    g = f["g"]
    for name in "cab":
        g.attrs[name] = name
    f.flush()
    g.attrs["a"] = "anew"  # h5py makes a new one
    g.attrs["d"] = 1
    h5py.h5a.rename(g.id, b"c", b"e")
    assert list(g.attrs) == ["e", "b", "a", "d"]
    f.flush()
    assert list(plain(path, "g")) == ["b", "a", "d", "e"]  # what is renamed is made anew there
    g.attrs.modify("b", "same place")
    f.flush()
    assert attributes(path, "g")["b"] == "same place" and list(g.attrs) == ["e", "b", "a", "d"]


def test_programs_beside_see_them_after_a_flush(path, f):
    f["g/d"].attrs["a"] = [1, 2]
    assert "a" not in zarr.open_group(str(path), mode="r")["g/d"].attrs
    f.flush()
    assert zarr.open_group(str(path), mode="r")["g/d"].attrs["a"] == [1, 2]


def test_lists_follow_all_changes(path, f):
    """Gaps that removed attributes leave are closed, and names behind them are found."""
    g, want = f["g"], {}
    random = np.random.default_rng(11)
    for step in range(3000):
        name, other = (f"n{i}" for i in random.integers(0, 40, 2))
        act = random.integers(0, 4)
        if act == 0 and name in want and other not in want:
            h5py.h5a.rename(g.id, name.encode(), other.encode())
            want = {other if one == name else one: value for one, value in want.items()}
        elif act == 1 and name in want:
            del g.attrs[name]
            del want[name]
        else:
            g.attrs[name] = step
            want.pop(name, None)
            want[name] = step
        if step % 100 == 0:
            assert dict(g.attrs) == want and list(g.attrs) == list(want)
        if step % 700 == 0:
            f.flush()
            assert plain(path, "g") == want
    assert dict(g.attrs) == want and list(g.attrs) == list(want)
    f.flush()
    assert plain(path, "g") == want
