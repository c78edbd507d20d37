# SPDX-License-Identifier: MIT
"""A plugin directory with our connector changes nothing for files that are not Zarr."""

import os
import re

import pytest
from conftest import SEARCHES, run, run_new_python
from length import by_length

# The sanitizers look for other things, and make a failing open cost milliseconds.
COUNT = 500 if "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ else by_length(1000, 10_000)

OPEN_MANY = r"""
import sys, re, os, h5py, collections
folder, count = sys.argv[1], int(sys.argv[2])
def attempt(name, mode="r"):
    try:
        with h5py.File(f"{folder}/{name}", mode) as f: return f"opened {list(f)}"
    except OSError as e:
        text = re.sub(r"time = [^,]*|0x[0-9a-f]+", "", str(e))
        return f"{type(e).__name__} {e.errno} {text}"
for name in os.listdir(folder) + ["missing.h5", "missing.zarr", "no/such.h5"]:
    seen = collections.Counter(attempt(name) for _ in range(count))
    print(name, sorted(seen.items()))
for name in os.listdir(folder):
    print(name, attempt(name, "r+"))
print(attempt("created.h5", "a"), attempt("created2.zarr", "w"), h5py.is_hdf5(folder + "/n.h5"))
"""

NATIVE = r"""
import sys, os, h5py, numpy as np
folder = sys.argv[1]
with h5py.File(folder + "/n.h5", "w") as f: f["x"] = np.arange(5); f["s"] = ["a"]
open(folder + "/garbage.h5", "wb").write(os.urandom(4096))
open(folder + "/empty.h5", "wb")
open(folder + "/almost.h5", "wb").write(b"\x89HDF\r\n\x1a\n" + b"\x00" * 600)
os.mkdir(folder + "/directory"); os.mkdir(folder + "/attributes.zarr")
open(folder + "/attributes.zarr/.zattrs", "w").write("{}")
"""


def test_thousands_of_opens_give_what_they_gave_without_us(tmp_path):
    """Opens of .h5 files, missing ones, garbage, directories. Of one that is called like a store the reason is told."""
    results = []
    for plugins, count in ((False, 10), (True, COUNT)):
        folder = tmp_path / ("with" if plugins else "without")
        folder.mkdir()
        run_new_python(NATIVE, folder, connector=None)
        out = run_new_python(OPEN_MANY, folder, count, connector=None, plugins=plugins)
        assert out.count(f", {count})") == 9
        said = re.findall(r"attributes.zarr .*IsADirectoryError 21.*", out)
        assert len(said) == 2 and all(("this is not a Zarr store" in line) == (plugins and SEARCHES) for line in said)
        results.append(re.sub(r"(attributes.zarr ).*", r"\1fails", out).replace(str(folder), "FOLDER")
                       .replace(f", {count})", ", COUNT)"))
    assert results[0] == results[1] and "opened ['s', 'x']" in results[0]


SEARCH = r"""
import sys, h5py
store, folder = sys.argv[1:]
for i in range(100):
    with h5py.File(store) as f: assert f["a"][1, 1] == 513
    try: h5py.File(folder + "/missing.h5")
    except FileNotFoundError: pass
    with h5py.File(folder + "/n.h5", "w") as f: f["x"] = i
with h5py.File(store) as z, h5py.File(folder + "/n.h5") as f: assert f["x"][()] == 99
print("done")
"""

SEARCH_IS_DECLINED = r"""
import os, sys, h5py
store, folder = sys.argv[1:]
for _ in range(50):
    try: h5py.File(store)
    except IsADirectoryError: pass
    else: raise AssertionError("opened")
    with h5py.File(folder + "/n.h5", "w") as f: f["x"] = 1
    with h5py.File(folder + "/n.h5") as f: assert list(f) == ["x"]
    try: h5py.File(folder + "/missing.h5")
    except FileNotFoundError: pass
print("done")
"""


def test_the_search_between_other_files(tree, tmp_path):
    """HDF5 1.14 finds the store; on 2.x the connector keeps out of a search that would crash."""
    code = SEARCH if SEARCHES else SEARCH_IS_DECLINED
    assert run_new_python(code, tree, tmp_path, connector=None) == "done\n"


@pytest.mark.skipif(not SEARCHES, reason="HDF5 2.x finds no store")
@pytest.mark.parametrize("command", ["h5ls -r", "h5dump -H", "h5stat"])
def test_tools_end_well_on_a_store_that_does_not_open(store, command):
    """They try one file driver after the other; a search with some of these, which found the store,
    once left a list behind with which HDF5 crashed at the end."""
    (store / "zarr.json").write_text('{"zarr_format": 3,')
    done = run([*command.split(), store], connector=None)
    assert done.returncode == 1 and "unable to open file" in done.stderr, done


@pytest.mark.skipif(SEARCHES, reason="HDF5 1.14 finds the store: test_tools.py")
@pytest.mark.parametrize("command", [
    "h5ls -r STORE", "h5dump -H STORE", "h5stat STORE", "h5diff STORE n.h5", "h5diff n.h5 STORE",
    "h5repack STORE new.h5", "h5copy -i STORE -o new.h5 -s /a -d /a"])
def test_tools_that_find_no_store_say_so(tree, tmp_path, command):
    """Such programs pause the error stack, by which the connector knew the search: once, they
    crashed."""
    run_new_python(NATIVE, tmp_path, connector=None)
    done = run([tree if word == "STORE" else word for word in command.split()], connector=None,
               cwd=tmp_path)
    assert done.returncode in (1, 2), (done.returncode, done.stderr)
    assert re.search("open|repacking", done.stderr + done.stdout)
