# SPDX-License-Identifier: MIT
"""The broken and hostile stores of bad_stores.py through h5py and GDAL: an OSError with its errno,
one CPL error, and never a value that is wrong. The text of each error is tested by zb-check.

ZARRBRIDGE_BAD_STORES is the folder that bad_stores.py filled. One test for each of its groups.
"""

import errno
import json
import os
from collections import defaultdict
from pathlib import Path

import h5py
import numpy as np
import pytest
from osgeo import gdal

gdal.UseExceptions()

OUTSIDE = 42  # the elements of the array that no path may lead to
STORES = Path(os.environ["ZARRBRIDGE_BAD_STORES"])


def manifest():
    """The manifest's rows of nodes to open or read, by store; roots together."""
    rows = defaultdict(list)
    for row in json.loads((STORES / "manifest.json").read_text()):
        if row["stage"] != "list":
            rows[row["store"] if row["array"] else "roots"].append(row)
    return rows


ROWS = manifest()


def right_values(row, values):
    """Whether these are the values that the manifest allows beside an error."""
    if "other values" in row["expect"]:
        return True
    if set(row["array"].split("/")) & {"", ".", ".."}:
        # HDF5 and GDAL have rules of their own for such paths; they may end inside, not outside.
        return values is None or not np.any(values == OUTSIDE)
    if not row["expected"]:
        return False
    return np.array_equal(np.load(STORES / row["expected"]).ravel(), np.ravel(values))


def may_fail(row):
    return any(word[0] == "E" for word in row["expect"])


def names(row):
    return f"{row['store']}/{row['array']} ({row['why']})"


def h5py_problem(row):
    """None, or the fault in h5py's result for this row."""
    try:
        with h5py.File(str(STORES / row["store"]), "r") as file:
            node = file[row["array"]] if row["array"] else next(iter(file.values()))
            values = node[()] if isinstance(node, h5py.Dataset) else None
            if "zarr:unreadable" in node.attrs:
                text = f"cannot be read: {node.attrs['zarr:unreadable']}".encode()
                return None if row["stage"] == "open" and values == text else f"shown as {values}"
    except OSError as error:
        if not may_fail(row) or error.errno == errno.EISDIR:
            return str(error)
        return None if error.errno in errno.errorcode else f"no errno: {error}"
    except KeyError:
        # h5py's word for a member that cannot be opened
        return None if row["stage"] == "open" else "KeyError instead of OSError"
    return None if right_values(row, values) else f"read as {np.ravel(values)[:4]}"


def gdal_problem(row):
    """None, or the fault in GDAL's result for this row."""
    errors = []
    gdal.PushErrorHandler(lambda level, number, text: errors.append((level, text)))
    try:
        name = f'ZARR3:"{STORES / row["store"]}":/{row["array"]}'
        try:
            values = gdal.Open(name).ReadAsArray()
        except RuntimeError as error:
            failures = [text for level, text in errors if level >= gdal.CE_Failure]
            if not may_fail(row) or "No such file" in str(error):
                return str(error)
            if len(failures) > 1:
                return f"{len(failures)} errors: {failures}"
            return None if str(error) else "an error without text"
    finally:
        gdal.PopErrorHandler()
    return None if right_values(row, values) else f"read as {np.ravel(values)[:4]}"


def check(store, problem):
    wrong = [f"{names(row)}: {found}" for row in ROWS[store] if (found := problem(row))]
    assert not wrong, f"{len(wrong)} of {len(ROWS[store])}:\n" + "\n".join(wrong[:20])


@pytest.mark.parametrize("store", sorted(ROWS))
def test_h5py(store):
    check(store, h5py_problem)


@pytest.mark.parametrize("store", sorted(ROWS))
def test_gdal(store):
    check(store, gdal_problem)
