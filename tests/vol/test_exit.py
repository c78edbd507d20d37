# SPDX-License-Identifier: MIT
"""Programs that end while they have ids open leave the files that they leave without the connector.

c_exit.c does what its words say; here the words are made, at random.
"""

import os
import random
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import build_dir, run, tool
from length import SEED

PROGRAM = build_dir() / "tests" / "vol" / "vol-c-exit"
UNLOADER = build_dir() / "tests" / "vol" / "vol-c-unload"
FORTRAN = build_dir() / "tests" / "vol" / "vol-f-exit"
ENDS = ["return", "exit", "thread", "close", "again", "atexit-early", "atexit-late",
        "atclose-early", "atclose-late"]


# ---- Words ----

class Script:
    """Words for c_exit.c, valid by construction. `h5`: may use objects for which a store has no
    form."""

    def __init__(self, chance, names, h5):
        self.chance, self.h5 = chance, h5
        self.words, self.ids, self.names, self.taken = [], [], list(names), 0
        self.create()

    def add(self, word, **about):
        self.words.append(word)
        if about:
            self.ids.append(dict(about, refs=1))

    def pick(self, *kinds):
        """The number of an open id of these kinds, or None."""
        open_ids = [i for i, one in enumerate(self.ids) if one["refs"] > 0 and one["kind"] in kinds]
        return self.chance.choice(open_ids) if open_ids else None

    def name(self):
        self.taken += 1
        return "nm"[self.taken % 2] * (self.taken % 3 + 1) + str(self.taken)

    def create(self):
        name, latest = self.names.pop(0), self.h5 and self.chance.random() < 0.3
        self.add(f"{'latest' if latest else 'create'}:{name}", kind="file", path="/", file=name)

    def below(self, kind, make):
        at = self.pick("file", "group")
        if at is not None:
            one = self.ids[at]
            name = self.name()
            path = f"{one['path']}{name}" if one["path"] == "/" else f"{one['path']}/{name}"
            self.add(make(at, name), kind=kind, path=path, file=one["file"])

    def dataset(self):
        kinds = ["contiguous", "chunked", "deflate", "scalar"]
        kind = self.chance.choice(kinds + ["compact", "text", "textchunks"] * self.h5)
        self.below("grows" if kind in ("chunked", "deflate") else "data",
                   lambda at, name: f"data:{at}:{name}:{kind}")

    def typed(self):
        kind = self.pick("type")
        at = self.pick("file", "group")
        if kind is not None and at is not None and self.ids[kind]["file"] == self.ids[at]["file"]:
            self.add(f"typed:{at}:{self.name()}:{kind}", kind="data", path=None,
                     file=self.ids[at]["file"])

    def attribute(self):
        at = self.pick("file", "group", "data", "grows", *["type"] * self.h5)
        if at is not None:
            kind = self.chance.choice(["int", "int", "unwritten"] + ["text"] * self.h5)
            self.add(f"attr:{at}:{self.name()}:{kind}", kind="attr", path=None)

    def once_more(self):
        """The same object by another id."""
        one = self.pick("group", "data", "grows", *["type"] * self.h5)
        at = self.pick("file")
        if one is not None and at is not None and self.ids[one]["path"] and \
                self.ids[one]["file"] == self.ids[at]["file"]:
            self.add(f"object:{at}:{self.ids[one]['path']}",
                     **{k: v for k, v in self.ids[one].items() if k != "refs"})

    def again(self):
        at = self.pick("file")
        if at is not None:
            name = self.ids[at]["file"]
            self.add(self.chance.choice([f"reopen:{at}", f"open:{name}"]), kind="file", path="/",
                     file=name)

    def change(self):
        at = self.pick("grows")
        if at is not None:
            self.add(f"{self.chance.choice(['write', 'write', 'extend'])}:{at}")

    def hold(self):
        """An id or a reference that is not an object."""
        data, attr = self.pick("data", "grows"), self.pick("attr")
        what = self.chance.choice(["get", "info", "ref"])
        if what == "get" and data is not None:
            self.add(f"get:{data}", kind="space", path=None)
        elif what == "info" and attr is not None:
            self.add(f"info:{attr}", kind="of attr", path=None)
        elif what == "ref" and data is not None and self.ids[data]["path"]:
            at = self.pick("file")
            if at is not None and self.ids[at]["file"] == self.ids[data]["file"]:
                self.add(f"ref:{at}:{self.ids[data]['path']}")

    def count(self):
        at = self.pick("file", "group", "data", "grows", "attr", *["type"] * self.h5)
        if at is not None:
            self.ids[at]["refs"] += 1
            self.add(f"dup:{at}")

    def close(self):
        at = self.pick("file", "group", "data", "grows", "attr", "space", "of attr", "type")
        if at is not None:
            self.ids[at]["refs"] -= 1
            self.add(f"close:{at}")

    def close_handles(self):
        """Leaves two ids on a file, or one on each of several: with more, HDF5 1.14.5 looks at
        memory that it has freed, when it ends."""
        files = {one["file"] for one in self.ids if one["kind"] == "file"}
        left = dict.fromkeys(files, 2 if len(files) == 1 else 1)
        for i, one in enumerate(self.ids):
            if one["kind"] == "file" and one["refs"] > 0:
                left[one["file"]] -= 1
                if left[one["file"]] < 0:
                    self.words += [f"close:{i}"] * one["refs"]
                    one["refs"] = 0

    def flush(self):
        at = self.pick("file")
        if at is not None:
            self.add(f"flush:{at}")

    def grow(self, length):
        for _ in range(length):
            if self.names and self.chance.random() < 0.1:
                self.create()
            steps = [self.dataset] * 4 + [self.attribute] * 3 + [self.change] * 3 + \
                [self.close] * 3 + [self.once_more, self.again, self.hold, self.count, self.flush]
            steps += [lambda: self.below("group", lambda at, name: f"group:{at}:{name}")] * 2
            if self.h5:
                steps += [lambda: self.below("type", lambda at, name: f"type:{at}:{name}"),
                          self.typed]
            self.chance.choice(steps)()
        while self.names:
            self.create()
        self.close_handles()
        later = self.pick("grows")
        return self.words + ([f"later:{later}"] if later is not None else [])


def scripts(count, salt, names, h5):
    """(words without an end, end), all ends equally often."""
    chance = random.Random(f"{SEED} {salt}")
    for number in range(count):
        yield Script(chance, names, h5).grow(chance.randint(2, 14)), ENDS[number % len(ENDS)]


# ---- Running them ----

def ended(folder, words, connector, program=PROGRAM):
    """Runs the words in a folder of their own."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return run([program, *words], connector, plugins=connector is not None, cwd=folder)


def succeeded(done, words):
    assert done.returncode == 0 and not done.stderr, f"{words}\n{done.stderr}"


def same_file(tmp_path, number, words, name, program=PROGRAM):
    """The same bytes in NUMBER-native and NUMBER-ours. A file that has other bytes each time (a time
    in it) is compared by its size and its content."""
    a, b = (tmp_path / f"{number}-{whose}" / name for whose in ("native", "ours"))
    if a.read_bytes() == b.read_bytes():
        return
    assert a.stat().st_size == b.stat().st_size, f"{words}: {name}"
    tool("h5diff", a, b, connector=None)
    while time.time() < int((a.stat().st_mtime) + 1):  # a second is the unit of such times
        time.sleep(0.01)
    again = tmp_path / f"{number}-again"
    ended(again, words, None, program)
    assert (again / name).read_bytes() != a.read_bytes(), f"{words}: {name}"


def compare(tmp_path, number, words, program=PROGRAM):
    """Both runs succeed in silence, and leave the same files."""
    native, ours = tmp_path / f"{number}-native", tmp_path / f"{number}-ours"
    succeeded(ended(native, words, None, program), words)
    succeeded(ended(ours, words, "zarr", program), words)
    names = sorted(os.listdir(native))
    assert names and names == sorted(os.listdir(ours)), words
    for name in names:
        same_file(tmp_path, number, words, name, program)
    shutil.rmtree(native)
    shutil.rmtree(ours)


def same_data(tmp_path, number, words):
    """The store that the words leave has the content of the .h5 file that they leave without us."""
    native, ours = tmp_path / f"{number}-native", tmp_path / f"{number}-ours"
    plain = [word.replace(".zarr", ".h5z") for word in words]
    succeeded(ended(native, plain, None), words)
    succeeded(ended(ours, words, "zarr"), words)
    for name in os.listdir(native):
        if name.endswith(".h5z"):
            done = run(["h5diff", native / name, ours / name.replace(".h5z", ".zarr")], "zarr")
            assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        else:
            same_file(tmp_path, number, plain, name)
    shutil.rmtree(native)
    shutil.rmtree(ours)


def each(tasks):
    """Runs functions side by side; programs that start take most of the time."""
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for done in [pool.submit(task) for task in tasks]:
            done.result()


def test_h5_files(tmp_path):
    """One file or two, every kind of id, every end: at least 200 of them."""
    cases = list(scripts(140, "one", ["one.h5"], True)) + \
        list(scripts(80, "two", ["one.h5", "two.h5"], True))
    assert len(cases) >= 200
    each([lambda n=n, w=words + [end]: compare(tmp_path, n, w)
          for n, (words, end) in enumerate(cases)])


def test_each_kind_of_id_alone(tmp_path):
    """All ids but one are closed: each kind alone, with each end."""
    words = ["create:a.h5", "group:0:g", "data:1:d:chunked", "attr:2:a:int", "attr:0:u:unwritten",
             "type:0:T", "typed:1:t:5", "get:2", "info:3", "data:0:v:text"]
    cases = []
    for kept in range(len(words)):
        closes = [f"close:{i}" for i in reversed(range(len(words))) if i != kept]
        cases += [words + closes + [end] for end in ENDS]
    each([lambda n=n, w=case: compare(tmp_path, n, w) for n, case in enumerate(cases)])


def test_mounted_and_referenced(tmp_path):
    words = ["create:a.h5", "group:0:g", "create:b.h5", "data:2:d:deflate", "mount:0:g:2",
             "object:0:/g/d", "ref:0:/g", "write:3", "dup:2", "dup:2"]
    for number, end in enumerate(ENDS):
        compare(tmp_path, number, words + ["later:3", end])


def test_unloading(tmp_path):
    """A program that unloads libhdf5 finds its files closed by that, and may load it again."""
    cases = [words + [end] for words, end in scripts(18, "unload", ["one.h5"], True)
             if end in ("return", "close", "again")]
    cases.append(["create:a.h5", "group:0:g", "data:1:d:chunked", "write:2", "return"])
    each([lambda n=n, w=words: compare(tmp_path, n, w, UNLOADER)
          for n, words in enumerate(cases)])


def test_stores(tmp_path):
    each([lambda n=n, w=words + [end]: same_data(tmp_path, n, w)
          for n, (words, end) in enumerate(scripts(54, "store", ["one.zarr"], False))])


def test_stores_and_files(tmp_path):
    each([lambda n=n, w=words + [end]: same_data(tmp_path, n, w)
          for n, (words, end) in enumerate(scripts(36, "both", ["a.h5", "b.zarr"], False))])


# ---- Other languages ----

@pytest.mark.skipif(not FORTRAN.exists(), reason="there is no Fortran compiler, or no HDF5 for it")
@pytest.mark.parametrize("end", ["end", "stop", "h5close"])
@pytest.mark.parametrize("closed", ["nothing", "dataset", "file"])
def test_fortran(tmp_path, end, closed):
    compare(tmp_path, 0, [closed, end], FORTRAN)


PYTHON = """
import sys, h5py, numpy as np
keep, end = sys.argv[1:]
low = h5py.h5f.create(b"a.h5")
f = h5py.File(low)
g = f.create_group("g")
g.attrs["x"] = np.arange(3)
plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE); plist.set_chunk((4,))
plist.set_obj_track_times(False)
d = h5py.Dataset(h5py.h5d.create(g.id, b"d", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((10,)),
                                 plist))
d[...] = np.arange(10); d[3] = 33
t = h5py.h5t.STD_I16BE.copy(); t.commit(f.id, b"T")
ids = {"file": f, "group": g, "dataset": d, "type": t, "everything": (f, g, d, t, low), "none": None}
held = ids[keep]
class Cycle: pass
cycle = Cycle(); cycle.self, cycle.held = cycle, held
if keep != "everything":
    del low, f, g, d, t, ids
if end == "thread":
    import threading; threading.Thread(target=lambda: held).start()
if end == "exit":
    sys.exit(0)
"""


@pytest.mark.parametrize("keep", ["file", "group", "dataset", "type", "everything", "none"])
@pytest.mark.parametrize("end", ["normal", "thread", "exit"])
def test_interpreter(tmp_path, keep, end):
    """An interpreter that ends while h5py's objects are alive, also in cycles."""
    compare(tmp_path, 0, ["-W", "ignore", "-c", PYTHON, keep, end], sys.executable)
