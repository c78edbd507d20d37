# SPDX-License-Identifier: MIT
"""A chunk that cannot be stored when a file is closed is told once, and the process goes on: here
because another program has changed the array, in tests/fault because system calls fail. Each handle hears
of its own data."""

import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from conftest import put

# The class that h5py has for errors of flushing and closing, also of HDF5's own files.
CLOSING = RuntimeError


@pytest.fixture
def stale(new_store):
    """A store whose array another program makes larger while `file` has a part of its edge chunk."""
    path, group = new_store()
    put(group, "d", np.arange(10), chunks=(8,))
    put(group, "other", np.arange(4), chunks=(4,))
    file = h5py.File(path, "r+")
    held = file["d"], file["other"]  # closing a dataset would store it
    held[0][9] = 99
    held[1][1] = 11
    group["d"].resize((12,))
    yield path, file
    assert not any(held)


def check_new_handles(path):
    with h5py.File(path, "r") as f:
        assert f["d"].shape == (12,) and f["d"][9] == 9 and f["other"][1] == 11
    with h5py.File(path, "r+") as f:
        f["d"][9:12] = [90, 91, 92]
    assert list(zarr.open_array(f"{path}/d", mode="r")[8:]) == [8, 90, 91, 92]


def test_conflict_at_close(stale):
    path, f = stale
    with pytest.raises(CLOSING, match="shape"):
        f.close()
    f.close()
    assert not f
    check_new_handles(path)


def test_conflict_at_flush(stale):
    """Flushing can be tried again, and goes on failing; closing tells for the last time."""
    path, f = stale
    for _ in range(3):
        with pytest.raises(CLOSING, match="shape"):
            f.flush()
        for read in (np.s_[9], np.s_[:], np.s_[[0, 9]]):  # of the chunk that cannot be stored
            with pytest.raises(OSError, match="shape"):
                f["d"][read]
        assert f["d"][0] == 0 and f["other"][1] == 11
    with pytest.raises(CLOSING, match="shape"):
        f.close()
    check_new_handles(path)


def test_open_again_before_the_old_id_has_gone(stale):
    path, f = stale
    low = f.id.id
    with pytest.raises(CLOSING, match="shape"):
        f.close()
    with h5py.File(path, "r+") as g:  # the id of f is still there, and not in the way
        assert g.id.id != low and g["d"].shape == (12,)
        g["d"][11] = 5
    f.close()
    assert zarr.open_array(f"{path}/d", mode="r")[11] == 5


def test_replace_after_an_error(stale):
    path, f = stale
    with pytest.raises(CLOSING, match="shape"):
        f.close()
    with h5py.File(path, "w") as g:
        g["new"] = np.arange(3)
    f.close()
    assert list(zarr.open_group(path, mode="r")) == ["new"]


def test_second_handle(stale):
    """The first handle that is closed tells; the other one does not tell again."""
    path, f = stale
    g = h5py.File(path, "r+")
    assert g["other"][1] == 11
    with pytest.raises(CLOSING, match="shape"):
        f.close()
    assert list(g["other"][...]) == [0, 11, 2, 3]
    g.attrs["n"] = 1
    g.close()
    check_new_handles(path)
    assert zarr.open_group(path, mode="r").attrs["n"] == 1


def test_dataset_outlives_its_file(new_store, capfd):
    """The error goes to stderr when no handle is left."""
    path, group = new_store()
    put(group, "d", np.arange(10), chunks=(8,))
    f = h5py.File(path, "r+")
    low = h5py.h5d.open(f.id, b"d")
    h5py.h5f.FileID(f.id.id)  # keeps h5py from closing the dataset with the file
    f.id.close()
    data = np.array([99])
    space = low.get_space()
    space.select_hyperslab((9,), (1,))
    low.write(h5py.h5s.create_simple((1,)), space, data)
    group["d"].resize((12,))
    low.close()
    assert "are lost" in capfd.readouterr().err
    with h5py.File(path, "r+") as f:
        f["d"][9] = 90
    assert zarr.open_array(f"{path}/d", mode="r")[9] == 90


def test_an_id_of_the_same_file_tells_nothing(new_store):
    """H5Iget_file_id gives ids that come and go; only the last one closes the file."""
    path, group = new_store()
    put(group, "d", np.arange(10), chunks=(8,))
    f = h5py.File(path, "r+")
    held = f["d"]
    held[9] = 99
    group["d"].resize((12,))
    for _ in range(3):
        assert f["d"].file == f  # its id is closed without a word
    with pytest.raises(CLOSING, match="shape"):
        f.close()


class Blocked:
    """Two handles with data that wait, of arrays of which one cannot be written: a file is where its chunks
    belong."""

    def __init__(self, new_store):
        self.path, group = new_store()
        for name in "ab":
            group.create_array(name, shape=(100,), dtype="u1", chunks=(100,))
        group.create_group("g")
        self.first, self.second = h5py.File(self.path, "r+"), h5py.File(self.path, "r+")
        self.held = self.first["a"], self.second["b"]
        self.held[0][:10] = 1
        self.held[1][:20] = 2
        self.place = Path(self.path, "a", "c")
        self.place.write_bytes(b"")

    def unblock(self):
        self.place.unlink()

    def stored(self, name):
        return int(np.count_nonzero(zarr.open_array(f"{self.path}/{name}", mode="r")[...]))


@pytest.fixture
def blocked(new_store):
    return Blocked(new_store)


def test_what_waits_in_other_handles_is_kept(blocked):
    blocked.second["g"].attrs["n"] = 3
    blocked.second["b"].attrs["n"] = 4
    with pytest.raises(CLOSING, match="cannot"):
        blocked.first.close()
    blocked.unblock()
    blocked.second.flush()
    assert blocked.stored("b") == 20 and blocked.stored("a") == 0
    group = zarr.open_group(blocked.path, mode="r")
    assert group["g"].attrs["n"] == 3 and group["b"].attrs["n"] == 4
    blocked.second.close()


def test_a_loss_is_told_to_its_handle_alone(blocked):
    blocked.second.flush()
    blocked.second.close()
    assert blocked.stored("b") == 20
    with pytest.raises(CLOSING, match="cannot"):
        blocked.first.close()
    blocked.unblock()
    with h5py.File(blocked.path, "r+") as f:  # with a writer of its own
        f["a"][:5] = 3
    assert blocked.stored("a") == 5


def test_what_another_flush_could_not_store_goes_on_waiting(blocked):
    blocked.second.close()
    blocked.unblock()
    blocked.first.close()
    assert blocked.stored("a") == 10


def test_an_array_of_two_handles_goes_on_waiting(blocked):
    held = blocked.second["a"]
    held[50:] = 4
    with pytest.raises(CLOSING, match="cannot"):
        blocked.first.close()
    blocked.unblock()
    blocked.second.close()
    assert blocked.stored("a") == 60 and held is not None


def test_data_after_the_close_of_their_file_are_told_to_those_who_can_hear(blocked):
    blocked.unblock()
    low = h5py.h5d.open(blocked.first.id, b"a")
    h5py.h5f.FileID(blocked.first.id.id)  # keeps h5py from closing the dataset with the file
    blocked.first.id.close()
    assert blocked.stored("a") == 10
    space = low.get_space()
    space.select_hyperslab((40,), (1,))
    low.write(h5py.h5s.create_simple((1,)), space, np.array([9], "u1"))
    shutil.rmtree(blocked.place)
    blocked.place.write_bytes(b"")
    low.close()
    for call in (blocked.second.flush, blocked.second.close):
        with pytest.raises(CLOSING, match="cannot"):
            call()
