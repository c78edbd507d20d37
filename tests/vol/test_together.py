# SPDX-License-Identifier: MIT
"""Programs that start together on one new store, and programs whose objects another one replaces.
Processes wait for one another at a pipe, so that they go at the same moment."""
import json
import os
import subprocess
import sys

import h5py
import numpy as np
import pytest

ROUNDS = int(os.environ.get("ZARRBRIDGE_ROUNDS", "10"))
PROCESSES = 4


class Team:
    """Processes that do one step of Python at the same moment, again and again: a line of JSON in,
    one out. Importing h5py takes longer than the step."""
    LOOP = """
import json, os, sys, h5py
for line in sys.stdin:
    words = json.loads(line)
    try:
        exec(words["code"], {"h5py": h5py, "os": os, **words})
        said = "ok"
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    print(json.dumps(said), flush=True)
"""

    def __init__(self, size=PROCESSES):
        self.all = [subprocess.Popen([sys.executable, "-c", self.LOOP], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True) for _ in range(size)]

    def __enter__(self):
        self.do("pass")
        return self

    def __exit__(self, *_):
        for one in self.all:
            one.stdin.close()
        for one in self.all:
            one.wait()

    def do(self, code, **words):
        """What each has said. A step may be a list: one for each."""
        codes = code if isinstance(code, list) else [code] * len(self.all)
        for rank, (one, text) in enumerate(zip(self.all, codes, strict=True)):
            print(json.dumps({"code": text, "rank": rank, **words}), file=one.stdin, flush=True)
        return [json.loads(one.stdout.readline()) for one in self.all]


def names(folder):
    return sorted(os.listdir(folder))


def test_mode_a_and_require_dataset_succeed_for_all(tmp_path):
    step = """
with h5py.File(path, "a") as f:
    d = f.require_dataset("g/a", (8, 8), "f4", chunks=(4, 4))
    d[2 * rank:2 * rank + 2] = rank + 1
"""
    with Team() as team:
        for turn in range(ROUNDS):
            path = tmp_path / f"{turn}.zarr"
            assert team.do(step, path=str(path)) == ["ok"] * PROCESSES
            with h5py.File(path) as f:
                assert (f["g/a"][:, 0] == np.repeat([1, 2, 3, 4], 2)).all()
    assert names(tmp_path) == sorted(f"{turn}.zarr" for turn in range(ROUNDS))


def test_groups_on_the_way_and_attributes(tmp_path):
    step = """
with h5py.File(path, "a") as f:
    f.require_group("a/b/c")
    f.require_group("a").attrs[str(rank)] = rank
    f.require_dataset(f"a/b/c/{rank}", (4,), "i2")[...] = rank
"""
    with Team() as team:
        for turn in range(ROUNDS):
            path = str(tmp_path / f"{turn}.zarr")
            assert team.do(step, path=path) == ["ok"] * PROCESSES
            with h5py.File(path) as f:
                assert dict(f["a"].attrs) == {str(rank): rank for rank in range(PROCESSES)}
                assert [f[f"a/b/c/{rank}"][0] for rank in range(PROCESSES)] == [0, 1, 2, 3]


def test_creation_is_exclusive_where_nothing_was_asked(tmp_path):
    """Mode x, and create_dataset without a question before it: one winner each."""
    with Team() as team:
        for turn in range(ROUNDS):
            path = str(tmp_path / f"{turn}.zarr")
            said = team.do("h5py.File(path, 'x').close()", path=path)
            assert said.count("ok") == 1 and all(
                one == "ok" or one.startswith("FileExistsError") for one in said), said
            said = team.do("with h5py.File(path, 'r+') as f: f.create_dataset('d', (4,), 'i4')", path=path)
            assert said.count("ok") == 1 and all(
                one == "ok" or one.startswith("ValueError") for one in said), said


def test_another_dataset_of_the_name_is_no_success(tmp_path):
    """Whoever comes second and wants another shape, type or layout is told so."""
    steps = ["with h5py.File(path, 'a') as f: f.require_dataset('d', (4,), 'i4')",
             "with h5py.File(path, 'a') as f: f.require_dataset('d', (5,), 'i4')"] * 2
    with Team() as team:
        for turn in range(ROUNDS):
            path = str(tmp_path / f"{turn}.zarr")
            said = team.do(steps, path=path)
            with h5py.File(path) as f:
                winner = f["d"].shape == (5,)
            assert [one == "ok" for one in said] == [False, True] * 2 if winner else [True, False] * 2


def test_mode_x_after_mode_a_is_refused(tmp_path):
    """What this process has made itself is no other one's."""
    path = tmp_path / "x.zarr"
    h5py.File(path, "a").close()
    with pytest.raises(FileExistsError):
        h5py.File(path, "x")


def test_a_second_creation_of_a_name_is_refused(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as f:
        assert "g" not in f
        g = f.create_group("g")
        g.create_dataset("d", (4,), "i4")
        g.create_dataset("e", (4,), "i4")
        with pytest.raises(ValueError):
            g.create_dataset("d", (4,), "i4")
        with pytest.raises(ValueError):
            f.create_group("g")


DELETE = """
import ctypes
place = next(line.split()[-1] for line in open("/proc/self/maps") if "/libhdf5" in line and "_hl" not in line)
delete = ctypes.CDLL(place).H5Fdelete
delete.argtypes = [ctypes.c_char_p, ctypes.c_int64]
if delete(path.encode(), 0) < 0:
    raise OSError("not deleted")
"""


def test_a_store_is_whole_whenever_it_is_there(tmp_path):
    """Four processes make, replace and delete one store. One that is made has its maker's mark or
    none yet, and nothing but stores is ever left."""
    create = """
with h5py.File(path, mode) as f:
    f.attrs["by"] = rank
"""
    steps = [f"mode = 'x'\n{create}", f"mode = 'w'\n{create}", DELETE, f"mode = 'x'\n{create}"]
    path = str(tmp_path / "x.zarr")
    with Team() as team:
        for _ in range(ROUNDS):
            said = team.do(steps, path=path)
            assert any(one == "ok" for one in said), said
            assert not [one for one in said if "directory is empty" in one], said
            assert names(tmp_path) in ([], ["x.zarr"])
            if names(tmp_path):
                with h5py.File(path, "a") as f:
                    assert not list(f) and f.attrs.get("by", 0) in range(PROCESSES)
                assert names(path) == ["zarr.json"]


# ---- Objects that another program replaces ----------------------------------------------------------

@pytest.fixture
def other():
    with Team(1) as team:
        def do(path, code):
            assert team.do(f"with h5py.File(path, 'r+') as f:\n    {code}", path=str(path)) == ["ok"]
        yield do


@pytest.mark.parametrize("keeps", [True, False], ids=["open", "closed"])
def test_a_replaced_dataset_is_opened_anew(tmp_path, other, keeps):
    """The error says to open it again: that is enough, without opening the file again."""
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        old = f.create_dataset("a", (8,), "f4", chunks=(4,))
        old[...] = 1
        f.flush()
        other(path, "del f['a']; f.create_dataset('a', (6,), 'i4', chunks=(2,))[...] = 3")
        with pytest.raises(OSError):
            old[...]
        if not keeps:
            del old
        assert f["a"].shape == (6,) and f["a"].dtype == "i4" and f["a"].chunks == (2,)
        assert (f["a"][...] == 3).all()
        f["a"][...] = 4
        if keeps:
            with pytest.raises(OSError):
                old[...] = 5
    with h5py.File(path) as f:
        assert (f["a"][...] == 4).all()


def test_a_changed_shape_is_seen_after_a_refresh(tmp_path, other):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        d = f.create_dataset("b", (4,), "f4", chunks=(4,), maxshape=(None,))
        f.flush()
        other(path, "f['b'].resize((10,))")
        with pytest.raises(RuntimeError, match="refresh"):
            d.resize((12,))
        d.id.refresh()
        assert d.shape == (10,)
        d.resize((12,))
    with h5py.File(path) as f:
        assert f["b"].shape == (12,)


def test_a_name_that_is_taken_leads_to_what_has_taken_it(tmp_path, other):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        g = f.create_group("g")
        f.flush()
        other(path, "f.create_dataset('g/d', data=[1, 2])")
        with pytest.raises(ValueError, match="already exists"):
            g.create_dataset("d", data=[3])
        assert list(g["d"]) == [1, 2]
