# SPDX-License-Identifier: MIT
"""Copies and deletions that fail: what they leave in the store, in the open file, and of other programs.

test_links.py has the reasons why copies fail.
"""

import json
import shutil
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from conftest import build_dir, run, run_python
from test_hard_links import preload


@pytest.fixture
def source(tmp_path):
    """Its group g cannot be copied into a store: Zarr has no codec for the last object."""
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as f:
        f["g/d"] = np.arange(200_000)
        f.create_dataset("g/y", (9,), "i4", chunks=(9,), compression="lzf")[...] = 7
    return path


class Meanwhile:
    """A file that HDF5 reads. A read calls `act` once `path` is there."""

    def __init__(self, source, path, act):
        self.file, self.path, self.act = open(source, "rb"), path, act  # noqa: SIM115

    def __getattr__(self, name):
        return getattr(self.file, name)

    def readinto(self, buffer):
        if self.act and self.path.exists():
            act, self.act = self.act, None
            act()
        return self.file.readinto(buffer)


def test_a_copy_that_fails_leaves_the_nodes_of_other_programs(tmp_path, source):
    """Another program has stored a dataset in a group that the copy has made on its way."""
    path = tmp_path / "y.zarr"
    with h5py.File(path, "w"):
        pass
    meanwhile = Meanwhile(source, path / "on/the/zarr.json", lambda: run_python("""
import sys, h5py
with h5py.File(sys.argv[1], "r+") as f:
    f["on/the/theirs"] = [1, 2]
""", path, connector="zarr"))
    with h5py.File(meanwhile, "r") as f, h5py.File(path, "r+") as other:
        with pytest.raises(RuntimeError, match="lzf"):
            f.copy("g", other, "on/the/way")
    assert not meanwhile.act
    with h5py.File(path, "r") as other:
        assert list(other["on/the"]) == ["theirs"] and list(other["on/the/theirs"]) == [1, 2]


def test_a_node_that_cannot_be_deleted_stays_in_the_file(tmp_path):
    """It is of version 2, and has no zarr.json."""
    path = tmp_path / "x.zarr"
    zarr.open_group(path, mode="w", zarr_format=3).create_group("g")
    zarr.create_array(path / "old", shape=(3,), dtype="i4", zarr_format=2)[...] = [1, 2, 3]
    with h5py.File(path, "r+") as f:
        assert sorted(f) == ["g", "old"]  # it knows them all
        with pytest.raises(KeyError, match="version 2"):
            del f["old"]
        assert "old" in f and list(f["old"]) == [1, 2, 3]
        del f["g"]
        assert list(f) == ["old"]


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
def test_data_of_a_node_that_cannot_be_deleted_are_not_lost_in_silence(tmp_path):
    """Consolidated metadata alone describe it, so that they cannot be stored."""
    path = tmp_path / "x.zarr"
    zarr.open_group(path, mode="w", zarr_format=3).create_array("y", shape=(9,), chunks=(9,), dtype="i4")
    zarr.consolidate_metadata(path)
    (path / "y/zarr.json").unlink()
    f = h5py.File(path, "r+")
    f["y"][0] = 99
    with pytest.raises(KeyError, match="only the consolidated metadata"):
        del f["y"]
    assert "y" in f
    with pytest.raises(RuntimeError, match="array /y, chunk c/0"):
        f.close()


def touch(f, name):
    """Data and an attribute that wait."""
    f[name][0] = 9
    f[name].attrs["a"] = 1


KNOWN = {
    "open": lambda f, name: f[name],
    "closed": lambda f, name: f[name] and None,
    "waiting": touch,
}


@pytest.mark.parametrize("name", ["d", "g/d"])
@pytest.mark.parametrize("known", KNOWN)
def test_a_node_that_another_program_has_deleted_can_be_deleted(tmp_path, known, name):
    """Its place is free for another one."""
    path, top = tmp_path / "x.zarr", name.split("/")[0]
    with h5py.File(path, "w") as f:
        f[name] = [1, 2, 3]
        f["kept"] = 5
    with h5py.File(path, "r+") as f:
        held = KNOWN[known](f, name)
        shutil.rmtree(path / top)
        del f[top]
        assert top not in f and list(f) == ["kept"]
        f[name] = [4]
        assert list(f[name]) == [4]
        del held
    with h5py.File(path, "r") as f:
        assert list(f[name]) == [4] and f[name].attrs.keys() == set()


def test_a_copy_that_fails_has_gone_where_another_program_deletes_it(tmp_path, source):
    path = tmp_path / "y.zarr"
    with h5py.File(path, "w"):
        pass
    meanwhile = Meanwhile(source, path / "copy/d/zarr.json", lambda: shutil.rmtree(path / "copy"))
    with h5py.File(meanwhile, "r") as f, h5py.File(path, "r+") as other:
        with pytest.raises(RuntimeError) as e:
            f.copy("g", other, "copy")
        assert not meanwhile.act and "could not be removed" not in str(e.value)
        assert list(other) == []
        other["copy"] = 5
    with h5py.File(path, "r") as other:
        assert other["copy"][()] == 5


@pytest.mark.parametrize("make", ["dataset", "group"])
def test_a_node_without_a_token_leaves_no_link(tmp_path, make):
    """Its path has the same hash as another one."""
    path = tmp_path / "x.zarr"
    first, second = "mOQNSZ96zA9rQS", "cP-D651juBHYQ6"
    with h5py.File(path, "w") as f:
        f[first] = 1
        with pytest.raises(ValueError, match="same hash"):
            f.create_group(second) if make == "group" else f.create_dataset(second, data=2)
        assert second not in f and list(f) == [first]
        assert f.get(second, getlink=True, default=None) is None
        assert not (path / second).exists()
        del f[first]
        f[second] = 2
    with h5py.File(path, "r") as f:
        assert list(f) == [second] and f[second][()] == 2


COPY = """
import sys, h5py
with h5py.File(sys.argv[1], "r") as f, h5py.File(sys.argv[2], "r+") as other:
    kept = other["kept"]
    try:
        f.copy(sys.argv[3], other, "copy")
    except Exception as e:
        print(e)
"""


@pytest.mark.parametrize("kind", ["d.zarr", "g.zarr", "d.h5", "g.h5"])
def test_a_copy_without_room_in_memory_leaves_nothing(tmp_path, monkeypatch, kind):
    """The root and another node fill what there is in the target."""
    source, path = tmp_path / f"x{Path(kind).suffix}", tmp_path / "y.zarr"
    with h5py.File(source, "w") as f, h5py.File(path, "w"):
        f["d"], f["g/below"] = [1, 2], 5
    zarr.open_group(path).create_group("kept")
    monkeypatch.setenv("ZARRBRIDGE_OPEN_NODES", "2")
    done = run_python(COPY, source, path, Path(kind).stem, connector="zarr")
    assert "y.zarr needs more than 2 nodes at once" in done
    assert sorted(one.name for one in path.iterdir() if not one.name.startswith(".")) == ["kept", "zarr.json"]


FAULTS = """
import ctypes, os, sys, h5py
shim = ctypes.CDLL(None)
FAIL, EIO = 4, 5
source, path = sys.argv[1:]
nth = struck = 1
with h5py.File(source, "r") as f:
    while struck:
        name = f"h{nth}"
        with h5py.File(path, "r+") as other:
            shim.shim_begin(FAIL, ctypes.c_uint64(nth), EIO, path.encode())
            try:
                f.copy("g", other, name)
            except RuntimeError:
                pass
            shim.shim_end()
            struck = shim.shim_struck()
            sys.stderr.write(f"{name} {name in other} {os.path.exists(f'{path}/{name}/zarr.json')}\\nEND\\n")
            sys.stderr.flush()
        nth += 1
"""


@pytest.mark.parametrize("kind", ["h5", "zarr"])
def test_the_error_of_a_copy_names_what_stays(tmp_path, monkeypatch, source, kind):
    """A call of the system fails besides, each in turn."""
    path = tmp_path / "y.zarr"
    with h5py.File(path, "w"):
        pass
    with h5py.File(tmp_path / "x.zarr", "w") as f:
        f["g/d"] = [1, 2]
        f["g/above"] = f["/"]  # which no copy of g can hold
    monkeypatch.setenv("LD_PRELOAD", preload(build_dir() / "tests/fault/libzb-fault-shim.so"))
    monkeypatch.setenv("ZARRBRIDGE_VERBOSE", "1")
    done = run([sys.executable, "-W", "ignore", "-c", FAULTS, source.with_suffix(f".{kind}"), path], connector="zarr")
    assert done.returncode == 0, done.stderr
    incomplete = deleted = 0
    for messages in done.stderr.split("END\n")[:-1]:
        name, in_file, in_store = messages.split("\n")[-2].split()
        is_named = f"'/{name}' is not complete, and could not be removed: delete it" in messages
        assert (in_file == "True") == (in_store == "True") == is_named, messages
        incomplete += is_named
        deleted += f"'{name}' is deleted, but its files stay" in messages
        assert not (is_named and "its files stay" in messages), messages
    assert incomplete > 0 and deleted > 0


# Each call of a change fails in turn. Prints the change's error and all objects, as lists of their hard links with the
# number of these and the object's values: before, after, and when the file is opened again.
CHANGES = """
import ctypes, json, shutil, sys, h5py
shim = ctypes.CDLL(None)
FAIL, EIO = 4, 5
path, prepare, change = sys.argv[1:]
nth = struck = 1

def objects(f):
    sets = {}
    def see(name):
        info, one = h5py.h5o.get_info(f.id, name.encode()), f[name]
        values = tuple(one[...].tolist()) if isinstance(one, h5py.Dataset) else None
        sets.setdefault((info.addr, info.rc, values), []).append(name)
    f.visit_links(see)
    return sorted([names, *key[1:]] for key, names in sets.items())

while struck:
    shutil.rmtree(path, ignore_errors=True)
    with h5py.File(path, "w") as f:
        exec(prepare)
    error = None
    with h5py.File(path, "r+") as f:
        before = objects(f)
        shim.shim_begin(FAIL, ctypes.c_uint64(nth), EIO, path.encode())
        try:
            exec(change)
        except Exception as e:
            error = str(e)
        shim.shim_end()
        struck = shim.shim_struck()
        after = objects(f)
    with h5py.File(path, "r") as f:
        print(json.dumps([error, before, after, objects(f)]))
    nth += 1
"""


@pytest.fixture
def faults(tmp_path, monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", preload(build_dir() / "tests/fault/libzb-fault-shim.so"))

    def check(prepare, change, done):
        """After each error all is as it was, or done."""
        kept = made = 0
        for line in run_python(CHANGES, tmp_path / "x.zarr", prepare, change, connector="zarr").splitlines():
            error, before, after, again = json.loads(line)
            assert again == after and after in (before, done), line
            assert error or after == done, line
            kept += after == before
            made += after == done
        assert kept > 10 and made > 0

    return check


def test_a_deletion_that_fails_keeps_all_hard_links(faults):
    """All or none of a group have gone. An object that has a name elsewhere is moved there before."""
    faults("""
f["y/a"], f["y/c"], f["y/g/d"], f["w"] = [1], [2], [3], [4]
f["y/b"], f["z"], f["y/g/e"] = f["y/a"], f["y/c"], f["w"]
""", "del f['y']", [[["w"], 1, [4]], [["z"], 1, [2]]])


def test_a_deletion_that_fails_keeps_objects_with_three_names(faults):
    """That one has moved, and its third name is not stored, is no reason to forget the first one."""
    faults("f['y/c'] = [1]; f['z1'] = f['z2'] = f['y/c']", "del f['y']", [[["z1", "z2"], 2, [1]]])


def test_a_new_dataset_that_cannot_be_opened_is_not_made(faults):
    """It is made without a name, and copied into the store."""
    faults("f['d'] = [0]", "f['new'] = [1, 2, 3]", [[["d"], 1, [0]], [["new"], 1, [1, 2, 3]]])


def test_objects_that_cannot_be_opened_at_a_new_place_return(faults):
    faults("f['g/d'], f['g/h/e'] = [1], [2]", "f.move('g', 'new')",
           [[["new"], 1, None], [["new/d"], 1, [1]], [["new/h"], 1, None], [["new/h/e"], 1, [2]]])
