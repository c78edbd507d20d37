# SPDX-License-Identifier: MIT
"""Files, groups and links written by h5py; zarr-python checks the content of the store."""

import json
import os

import h5py
import numpy as np
import pytest
import zarr
from conftest import put, run_python


def members(path):
    return sorted(name for name, _ in zarr.open_group(str(path), mode="r").members(max_depth=None))


def test_modes(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "x") as f:
        assert f.mode == "r+" and list(f) == [] and f.filename == str(path)
        f["a"] = 1
    assert json.loads((path / "zarr.json").read_text())["node_type"] == "group"
    with pytest.raises(FileExistsError):
        h5py.File(path, "x")
    with h5py.File(path, "a") as f:
        f["b"] = 2
    with h5py.File(path, "r+") as f:
        assert list(f) == ["a", "b"]
        f["c"] = 3
    with h5py.File(path, "r") as f:
        assert f.mode == "r" and [f[name][()] for name in f] == [1, 2, 3]
    with h5py.File(path, "w") as f:
        assert list(f) == []
    assert members(path) == [] and not (path / "a").exists()
    with h5py.File(tmp_path / "new.zarr", "a") as f:
        f.create_group("g")
    assert members(tmp_path / "new.zarr") == ["g"]


def test_other_names_stay_hdf5(tmp_path):
    for name in ("a.h5", "zarr", "x.zarr.h5"):
        with h5py.File(tmp_path / name, "w") as f:
            f["x"] = 1
        assert (tmp_path / name).read_bytes()[:4] == b"\x89HDF"


@pytest.mark.parametrize("mode", ["w", "x"])
def test_nothing_that_is_no_zarr_node_is_replaced(tmp_path, mode):
    folder, file, old = (tmp_path / name for name in ("d.zarr", "f.zarr", "v2.zarr"))
    folder.mkdir()
    (folder / "precious").write_text("data")
    file.write_text("data")
    old.mkdir()
    (old / ".zgroup").write_text('{"zarr_format": 2}')
    for path in (folder, file, old):
        with pytest.raises(FileExistsError):
            h5py.File(path, mode)
    assert (folder / "precious").read_text() == file.read_text() == "data"
    assert (old / ".zgroup").exists()


@pytest.mark.parametrize("text", ["", "my own notes", '{"zarr_format": 2}', '{"zarr_format": 31}'])
def test_a_zarr_json_of_something_else_is_not_replaced(tmp_path, text):
    path = tmp_path / "x.zarr"
    path.mkdir()
    (path / "zarr.json").write_text(text)
    with pytest.raises(FileExistsError):
        h5py.File(path, "w")
    assert (path / "zarr.json").read_text() == text


@pytest.mark.parametrize("text", ['{"zarr_format": 3', '{"zarr_format": 3, "node_type": "later"}'])
def test_a_damaged_store_is_replaced(tmp_path, text):
    path = tmp_path / "x.zarr"
    path.mkdir()
    (path / "zarr.json").write_text(text)
    with h5py.File(path, "w") as f:
        f["a"] = 1
    assert members(path) == ["a"]


def test_truncating_keeps_what_is_not_of_the_store(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        f["a/b"] = np.arange(3)
    (path / "notes.txt").write_text("mine")
    with h5py.File(path, "w") as f:
        pass
    assert members(path) == [] and (path / "notes.txt").read_text() == "mine"


def test_an_empty_directory_becomes_a_store(tmp_path):
    (tmp_path / "x.zarr").mkdir()
    with h5py.File(tmp_path / "x.zarr", "w") as f:
        f["a"] = 1
    assert members(tmp_path / "x.zarr") == ["a"]


def test_an_empty_file_is_replaced(tmp_path):
    """Programs make one to have a name for themselves: Python's tempfile does."""
    path = tmp_path / "x.zarr"
    path.touch()
    for mode in ("x", "w-"):
        with pytest.raises(FileExistsError):
            h5py.File(path, mode)
    assert path.is_file()
    with h5py.File(path, "w") as f:
        f["a"] = 1
    assert members(path) == ["a"]


def test_other_files_stay(tmp_path):
    path, target = tmp_path / "x.zarr", tmp_path / "target"
    target.touch()
    path.symlink_to(target)
    with pytest.raises(FileExistsError, match="stays as it is"):
        h5py.File(path, "w")
    assert path.is_symlink() and target.stat().st_size == 0
    path.unlink()
    path.write_text(" ")
    with pytest.raises(FileExistsError, match="stays as it is"):
        h5py.File(path, "w")
    assert path.read_text() == " "


def test_missing_folder(tmp_path):
    for mode in ("w", "x", "a"):
        with pytest.raises(FileNotFoundError):
            h5py.File(tmp_path / "no" / "x.zarr", mode)


def test_a_group_inside_a_store_as_file(tmp_path):
    """Groups above with consolidated metadata learn of it."""
    path = str(tmp_path / "x.zarr")
    with h5py.File(path, "w") as f:
        f["a"] = np.arange(3)
    zarr.consolidate_metadata(path)
    with h5py.File(path + "/sub", "w") as f:
        f["b"] = np.arange(4)
        f.attrs["n"] = 1
        assert list(f) == ["b"] and f["b"].name == "/b"
    with h5py.File(path + "/sub", "r+") as f:
        f["c"] = 5
    group = zarr.open_consolidated(path)
    assert sorted(n for n, _ in group.members(max_depth=None)) == ["a", "sub", "sub/b", "sub/c"]
    assert group["sub"].attrs["n"] == 1


def test_nodes_of_consolidated_metadata_alone_are_in_the_way(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        f["a"] = np.arange(3)
        f["g/b"] = np.arange(4)
    zarr.consolidate_metadata(str(path))
    for document in sorted(path.glob("*/**/zarr.json")):
        document.unlink()
    for listed in (False, True):
        with h5py.File(path, "r+") as f:
            assert not listed or sorted(f) == ["a", "g"]
            f.attrs["n"] = 1  # what was read of the root before is outdated
            for name in "a", "g", "g/b":
                with pytest.raises(ValueError, match=f"name already exists: '/{name}'"):
                    f.create_dataset(name, data=np.arange(2))
                with pytest.raises(ValueError, match=f"name already exists: '/{name}'"):
                    f.create_group(name)
    with h5py.File(path, "r") as f:
        assert list(f["a"]) == [0, 1, 2] and list(f["g/b"]) == [0, 1, 2, 3]


def test_groups(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        f.create_group("a/b/c")
        g = f.require_group("a/b")
        g.create_group("d")
        f["a"].require_group("b/d/e")
        with pytest.raises(ValueError, match="name already exists: '/a/b'"):
            f.create_group("a/b")
        with pytest.raises(KeyError):
            f["nope"]
        lcpl = h5py.h5p.create(h5py.h5p.LINK_CREATE)
        with pytest.raises(ValueError, match="no group 'p'"):  # without intermediate groups
            h5py.h5g.create(f.id, b"p/q", lcpl=lcpl)
        assert list(g) == ["c", "d"] and "p" not in f
    assert members(path) == ["a", "a/b", "a/b/c", "a/b/d", "a/b/d/e"]


def test_delete_move_copy(tmp_path):
    path = tmp_path / "x.zarr"
    data = np.arange(60).reshape(6, 10)
    with h5py.File(path, "w") as f:
        d = f.create_dataset("g/d", data=data, chunks=(4, 4))
        f["g/e/f"] = 1.5
        f["g"].attrs["n"] = 1
        d[0, 0] = 77  # waits in the writer when the group moves
        f.move("g", "new/place")
        assert d.name == "/new/place/d" and d[0, 0] == 77 and "g" not in f
        d[1, 1] = 78
        f.copy("new/place", "copy")
        f.copy(f["new/place/d"], f["copy"], name="again")
        f.copy("new", "shallow", shallow=True)
        f.copy("new/place", "bare", without_attrs=True)
        assert f["copy/d"][1, 1] == 78 and f["copy"].attrs["n"] == 1
        assert "n" not in f["bare"].attrs and list(f["shallow"]) == ["place"]
        assert list(f["shallow/place"]) == []
        for wrong in (lambda: f.move("copy", "copy/in"), lambda: f.copy("copy", "copy/in"),
                      lambda: f.move("copy", "new"), lambda: f.copy("copy", "new"),
                      lambda: f.move("nope", "x"), lambda: f.__delitem__("nope")):
            with pytest.raises((KeyError, ValueError, OSError, RuntimeError)):
                wrong()
        del f["new/place"]
        assert d[0, 0] == 77 and d[1, 1] == 78  # until it is closed: test_unlinked.py
        d[0, 0] = 1
        assert list(f["new"]) == []
    assert members(path) == ["bare", "bare/d", "bare/e", "bare/e/f", "copy", "copy/again", "copy/d",
                             "copy/e", "copy/e/f", "new", "shallow", "shallow/place"]
    want = data.copy()
    want[0, 0], want[1, 1] = 77, 78
    assert np.array_equal(zarr.open(str(path), mode="r")["copy/again"][...], want)


def test_deleting_forgets_what_waits(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (8,), "i4", chunks=(8,))
        d[0] = 1
        del f["d"]
        f.flush()
    assert not (path / "d").exists()


def test_copy_between_files(tmp_path):
    a, b, native = (tmp_path / name for name in ("a.zarr", "b.zarr", "n.h5"))
    with h5py.File(a, "w") as f, h5py.File(b, "w") as g, h5py.File(native, "w") as n:
        f.create_dataset("g/d", data=np.arange(10), chunks=(3,), compression="gzip")
        f["g/d"][2] = 22
        f.copy("g", g)
        f.copy("g/d", n, name="d")
        assert g["g/d"][2] == n["d"][2] == 22
    assert members(b) == ["g", "g/d"]


def test_names_for_datasets_made_without(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        f["p/q"] = np.arange(12).reshape(3, 4)
        loose = f.create_dataset(None, data=np.arange(5), chunks=(2,))
        loose[0] = 9
        assert loose.name is None and loose[0] == 9
        f["later"] = loose
        assert loose.name == "/later"
        loose[1] = 8
        f.create_dataset(None, data=1)  # never gets a name, leaves nothing
    assert members(path) == ["later", "p", "p/q"]
    assert list(zarr.open(str(path), mode="r")["later"][...]) == [9, 8, 2, 3, 4]


@pytest.mark.parametrize("kind", ("h5", "zarr"))
def test_names_for_groups_made_without(tmp_path, kind):
    path = tmp_path / f"x.{kind}"
    with h5py.File(path, "w") as f:
        loose = f.create_group(None, track_order=True)
        assert loose.name is None and len(loose) == 0
        loose.attrs["a"] = 1
        if kind == "zarr":
            for name in ("d", "g/d"):
                with pytest.raises(Exception, match="before it is linked"):
                    loose[name] = 1
        f.flush()
        f["later"] = loose
        assert loose.name == "/later"
        for name in "cab":
            loose[name] = 1
        f.create_group(None).attrs["a"] = 2  # never gets a name, leaves nothing
    with h5py.File(path) as f:
        assert list(f) == ["later"] and list(f["later"]) == ["c", "a", "b"] and f["later"].attrs["a"] == 1


def test_handles_on_one_file(tmp_path):
    """All handles on a store that is written see one state, as with HDF5's own files."""
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        d = f.create_dataset("d", (8,), "i4", chunks=(8,))
        with h5py.File(path, "r") as again:
            d[3] = 5
            f.create_group("late")
            assert again["d"][3] == 5 and list(again) == ["d", "late"]
            with pytest.raises(Exception, match="read-only"):
                again["d"][0] = 1
        with pytest.raises(OSError, match="open already"):
            h5py.File(path, "w")
        d2 = f["d"]
        d.id.close()
        d2[4] = 6
    assert list(zarr.open(str(path), mode="r")["d"][...]) == [0, 0, 0, 5, 6, 0, 0, 0]


@pytest.mark.parametrize("suffix", ["h5", "zarr"])
def test_what_is_open_for_reading_is_not_opened_for_writing(tmp_path, suffix):
    """By no name, and as long as there are objects; what is open for writing opens in each mode."""
    path, link = tmp_path / f"x.{suffix}", tmp_path / f"l.{suffix}"
    with h5py.File(path, "w") as f:
        f["d"] = 1
    link.symlink_to(path)
    for name in (path, link, os.path.relpath(path)):
        with h5py.File(path, "r"), h5py.File(name, "r"):
            for mode in ("r+", "a"):
                with pytest.raises(OSError, match="already open for read-only"):
                    h5py.File(name, mode)
        with h5py.File(path, "r+") as f, h5py.File(name, "r"), h5py.File(name, "r+") as again:
            again["d"][()] += 1
            assert f["d"][()] == again["d"][()]
    d = h5py.File(path, "r")["d"]
    with pytest.raises(OSError, match="already open for read-only"):
        h5py.File(link, "r+")
    del d
    with h5py.File(link, "r+") as f:
        assert f["d"][()] == 4


def test_an_array_as_file(new_store):
    path, group = new_store()
    put(group, "a", np.arange(6), chunks=(4,))
    with h5py.File(path + "/a", "r+") as f:
        f["a"][0] = 99
        f["a"].attrs["n"] = 1
        for wrong in (lambda: f.create_group("g"), lambda: f.__delitem__("a"),
                      lambda: f.attrs.__setitem__("n", 1)):
            with pytest.raises(Exception, match="single array|this array"):
                wrong()
    assert group["a"][0] == 99


def test_read_only_folder(tmp_path):
    """Root may write anywhere, so the process first gives up all capabilities. Not its user: pytest
    closes its folder to others again whenever another test starts."""
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        f["d"] = 1
    code = """
import ctypes, struct, sys, h5py
version_3_of_this_process = struct.pack("Ii", 0x20080522, 0)
assert ctypes.CDLL(None).capset(version_3_of_this_process, bytes(24)) == 0
h5py.File(sys.argv[1], "r").close()
for mode in ("r+", "a", "w"):
    try: h5py.File(sys.argv[1], mode)
    except PermissionError as e: print("refused")
"""
    os.chmod(path, 0o555)
    assert run_python(code, path, connector="zarr") == "refused\n" * 3
    assert h5py.File(path)["d"][()] == 1
