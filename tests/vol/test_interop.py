# SPDX-License-Identifier: MIT
"""Every store that tests/interop makes, through h5py: the good ones give their values, the bad ones
an error that h5py turns into an exception, and never anything else."""

import json
import os
from pathlib import Path

import h5py
import numpy as np
import pytest

STORES = Path(os.environ["ZARRBRIDGE_BUILD_DIR"], "tests", "interop", "stores")
BAD = Path(os.environ["ZARRBRIDGE_BUILD_DIR"], "tests", "interop", "bad")


def rows(folder):
    return json.loads((folder / "manifest.json").read_text())


def by_store(manifest):
    groups = {}
    for row in manifest:
        groups.setdefault(row["store"], []).append(row)
    return groups


def same(got, want):
    if got.dtype.kind == "V":
        return got.tobytes() == want.tobytes()
    return got.dtype == want.dtype and np.array_equal(got, want, got.dtype.kind in "fc")


def test_values_of_the_cross_product():
    wrong, count = [], 0
    for store, members in by_store(rows(STORES)).items():
        with h5py.File(STORES / store, "r") as f:
            for row in members:
                name = row["array"] or next(iter(f))
                count += 1
                if not same(f[name][...], np.load(STORES / row["expected"])):
                    wrong.append((store, name))
    assert not wrong and count > 3000


def outcome(row):
    """What h5py does: a string, or the array that it reads."""
    path = BAD / row["store"]
    try:
        f = h5py.File(path, "r")
    except OSError as e:
        return "error" if e.errno else f"no errno: {e}"
    with f:
        if row["stage"] == "list":
            return sorted(name for name in f if f.get(name, getclass=True) is not None)
        name = row["array"] or next(iter(f))
        try:
            d = f[name]
        except KeyError as e:  # h5py's class for every object that cannot be opened
            return "error" if "errno = " in str(e) or "doesn't exist" in str(e) else str(e)
        if row["stage"] == "open":
            return "opened"
        try:
            return d[...]
        except OSError as e:
            return "error" if e.errno else f"no errno: {e}"


def acceptable(row, got):
    if isinstance(got, np.ndarray):
        wanted = "values" in row["expect"] and same(got, np.load(BAD / row["expected"]))
        return wanted or "other values" in row["expect"]
    if isinstance(got, list):
        return got == sorted(row["expected"])
    if got == "opened":  # HDF5 passes over "." and empty parts of a path
        return not {"", "."}.isdisjoint(row["array"].split("/"))
    return got == "error" and any(code.startswith("E") for code in row["expect"])


def test_outcomes_of_the_bad_stores():
    manifest = rows(BAD)
    wrong = [(row, str(got)[:200]) for row in manifest
             for got in [outcome(row)] if not acceptable(row, got)]
    assert not wrong, f"{len(wrong)} of {len(manifest)}: {wrong[:5]}"


def test_the_reason_is_told():
    row = next(r for r in rows(BAD) if r["stage"] == "open" and r["array"])
    with h5py.File(BAD / row["store"], "r") as f:
        with pytest.raises(KeyError, match="zarr.json|node|member") as caught:
            f[row["array"]]
        link = f.get(row["array"], getlink=True)
        assert link.path.startswith("cannot be read: ") and link.path[16:60] in str(caught.value)
