# SPDX-License-Identifier: MIT
"""Parts of chunks of datasets that are closed wait for the flush or close of their file, as in HDF5."""

import h5py
import numpy as np
import pytest
import zarr
from conftest import run_new_python, run_python

# Each f[name] opens the dataset, and closes it.
REOPENED = """
import sys, h5py, numpy as np
def written():
    return next(int(line.split()[1]) for line in open("/proc/self/io") if line.startswith("wchar"))
f = h5py.File(sys.argv[1], "r+")
before = written()
for i in range(8):
    for name in "ab":
        f[name][8 * i:8 * i + 8] = np.random.default_rng(i).integers(0, 2**60, (8, 256))
f.flush()
print(written() - before)
f["a"][0, 0] = -1
"""


@pytest.fixture
def shards(tmp_path):
    """Two arrays of one shard each, of eight inner chunks."""
    root = zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=3)
    for name in "ab":
        root.create_array(name, shape=(64, 256), dtype="i8", chunks=(8, 256), shards=(64, 256))
    return tmp_path / "x.zarr"


def stored(store, name="a"):
    """As another program sees it."""
    return zarr.open(store, mode="r")[name][...]


def shard_size(shards):
    return sum((shards / name / "c/0/0").stat().st_size for name in "ab")


def random_blocks():
    return np.concatenate([np.random.default_rng(i).integers(0, 2**60, (8, 256)) for i in range(8)])


@pytest.mark.parametrize("end", ["f.close()", "", "sys.exit(0)"])
def test_each_shard_is_stored_once(shards, end):
    """Closing the file stores what waits, and so does each normal end of a program."""
    written = int(run_new_python(REOPENED + end, shards))
    assert shard_size(shards) / 2 < written < 1.5 * shard_size(shards)
    want = random_blocks()
    assert (stored(shards, "b") == want).all()
    want[0, 0] = -1
    assert (stored(shards) == want).all()


def test_a_kill_loses_what_waits(shards):
    """Reading it stores it, as a flush does."""
    run_python("import sys, os, h5py\n"
               "f = h5py.File(sys.argv[1], 'r+')\n"
               "f['a'][0, 1] = 7; f.flush(); f['a'][1, 1] = 8\n"
               "f['b'][2, 1] = 9; assert f['b'][2, 1] == 9; os._exit(0)", shards)
    assert stored(shards, "b")[2, 1] == 9
    assert list(stored(shards)[:2, 1]) == [7, 0]


@pytest.mark.parametrize("store", [
    lambda f: f.flush(),
    lambda f: f["a"].id.flush(),
    lambda f: h5py.h5f.flush(f["a"].id),
    lambda f: f["a"].id.refresh(),
    lambda f: f["a"].resize((63, 256)),
    lambda f: f.copy("a", "c"),
    lambda f: h5py.File(f.filename + "/a", "r").close(),
    lambda f: f["a"][0],
])
def test_what_waits_is_stored_before(shards, store):
    with h5py.File(shards, "r+") as f:
        f["a"][5, 1] = 7
        assert stored(shards)[5, 1] == 0
        store(f)
        assert stored(shards)[5, 1] == 7


def test_all_handles_of_the_process_see_it(shards):
    with h5py.File(shards, "r+") as f, h5py.File(shards, "r+") as other:
        f["a"][5, 1] = 7
        assert other["a"][5, 1] == 7
        other["a"][6, 1] = 8
        f["a"][4, 1] = 6
        with h5py.File(shards, "r") as reader:
            assert list(reader["a"][4:7, 1]) == [6, 7, 8]
        other["a"][3, 1] = 5
        with h5py.File(shards / "a", "r") as part:
            assert list(part["a"][3:7, 1]) == [5, 6, 7, 8]
    assert list(stored(shards)[3:7, 1]) == [5, 6, 7, 8]


@pytest.mark.parametrize("change", [
    lambda f: f.move("a", "c"),
    lambda f: (f.copy("a", "c"), f.__delitem__("a")),
    lambda f: (f.__setitem__("c", f["a"]), f.__delitem__("a")),
    lambda f: (f["a"].attrs.__setitem__("x", 1), f.flush(), f.move("a", "c")),
])
def test_it_goes_with_its_dataset(shards, change):
    with h5py.File(shards, "r+") as f:
        f["a"][5, 1] = 7
        change(f)
        f["c"][6, 1] = 8
        assert list(f["c"][4:7, 1]) == [0, 7, 8]
    assert list(stored(shards, "c")[4:7, 1]) == [0, 7, 8]


def test_that_of_a_deleted_dataset_is_forgotten(shards):
    with h5py.File(shards, "r+") as f:
        f["a"][5, 1] = 7
        del f["a"]
        f.create_dataset("a", (64, 256), "i8", chunks=(8, 256))
        f["a"][6, 1] = 8
    assert list(stored(shards)[4:7, 1]) == [0, 0, 8]


def test_a_dataset_that_is_closed_last_is_stored_then(shards):
    """Nothing else could tell of its errors."""
    f = h5py.File(shards, "r+")
    dataset = f["a"].id
    f.id.close()
    dataset.write(h5py.h5s.create_simple((1, 256)), one_row(5), np.full(256, 7))
    assert (stored(shards)[5] == 0).all()
    del dataset
    assert (stored(shards)[5] == 7).all()


def one_row(number):
    space = h5py.h5s.create_simple((64, 256))
    space.select_hyperslab((number, 0), (1, 256))
    return space


def test_half_of_the_budget_is_left_to_others(shards, monkeypatch):
    monkeypatch.setenv("ZARRBRIDGE_WRITE_CACHE_BYTES", "100000")
    code = ("import sys, os, h5py\n"
            "f = h5py.File(sys.argv[1], 'r+')\n"
            "for i in range(8):\n"
            "    for name in 'ab': f[name][8 * i, 0] = i + 1\n"
            "os._exit(0)")
    run_new_python(code, shards)
    for name in "ab":
        assert np.count_nonzero(stored(shards, name)[::8, 0]) >= 4


def test_a_forked_child_stores_its_own_and_not_its_parents(shards):
    """What waited at the fork is the parent's to store: stored once more by a child that ends later, it would hide
    what the parent has stored since. What the child writes it stores as it closes the dataset."""
    run_new_python("""
import os, sys, h5py
f = h5py.File(sys.argv[1], "r+")
f["a"][5, 1] = 7
ends, parent = os.pipe()
child = os.fork()
if child == 0:
    f["b"][6, 1] = 8
    os.read(ends, 1)
    f.close()
    os._exit(0)
f["a"][5, 1] = 9
f.flush()
os.write(parent, b"x")
assert os.waitpid(child, 0)[1] == 0
f.close()
""", shards)
    assert stored(shards)[5, 1] == 9 and stored(shards, "b")[6, 1] == 8


def test_errors_are_told_by_flush_and_close(shards):
    """Nothing is lost in silence, and flushing can be tried again."""
    f = h5py.File(shards, "r+")
    f["a"][5, 1] = 7
    chunk = shards / "a" / "c"
    chunk.write_bytes(b"in the way of the directory")
    for call in f.flush, f.flush:
        with pytest.raises((OSError, RuntimeError)):
            call()
    chunk.unlink()
    f.flush()
    assert stored(shards)[5, 1] == 7
    f["b"][5, 1] = 8
    (shards / "b" / "c").write_bytes(b"in the way")
    with pytest.raises((OSError, RuntimeError)):
        f.close()
    f.close()
