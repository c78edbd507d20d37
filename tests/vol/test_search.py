# SPDX-License-Identifier: MIT
"""A plugin directory with our connector changes nothing for what is not Zarr."""

import os
import re

from conftest import run_python

# The sanitizers look for other things, and make a failing open cost milliseconds.
COUNT = 500 if "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ else 10_000

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
os.mkdir(folder + "/directory"); os.mkdir(folder + "/v2.zarr")
open(folder + "/v2.zarr/.zgroup", "w").write('{"zarr_format": 2}')
"""


def test_ten_thousand_opens_give_what_they_gave_without_us(tmp_path):
    """10 000 opens of each: .h5 files, missing ones, garbage, directories."""
    results = []
    for plugins in (False, True):
        folder = tmp_path / ("with" if plugins else "without")
        folder.mkdir()
        run_python(NATIVE, folder)
        out = run_python(OPEN_MANY, folder, COUNT, plugins=plugins)
        results.append(re.sub(re.escape(str(folder)), "FOLDER", out))
    assert results[0] == results[1] and "opened ['s', 'x']" in results[0]
    assert results[0].count(f", {COUNT})") == 9


def test_the_search_finds_stores_between_other_files(tree, tmp_path):
    code = r"""
import sys, h5py
store, folder = sys.argv[1:]
for i in range(100):
    with h5py.File(store) as f: assert f["a"][1, 1] == 513
    try: h5py.File(folder + "/missing.h5")
    except FileNotFoundError: pass
    with h5py.File(folder + "/n.h5", "w") as f: f["x"] = i
with h5py.File(store) as z, h5py.File(folder + "/n.h5") as f: print(f["x"][()], z["a"][2, 2])
"""
    assert run_python(code, tree, tmp_path) == "99 1026\n"
