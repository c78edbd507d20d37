# SPDX-License-Identifier: MIT
"""The stores of make_stores.py through h5py and GDAL: every array gives its values, bit for bit.

`zb-check` does the same for the core. ZARRBRIDGE_STORES is the folder that make_stores.py filled;
one test for each data type of the cross product, and one for all the variants.
"""

import json
import os
from collections import defaultdict
from pathlib import Path

import h5py
import numpy as np
import product
import pytest
from osgeo import gdal

gdal.UseExceptions()

STORES = Path(os.environ["ZARRBRIDGE_STORES"])
# Types that GDAL does not have; all others must open.
NOT_IN_GDAL = tuple(t for t in product.DATA_TYPES if t.startswith("r"))


def manifest():
    """The manifest's rows by data type, the variants under "variants"."""
    rows = defaultdict(list)
    for row in json.loads((STORES / "manifest.json").read_text()):
        rows[row["features"].get("data_type", "variants")].append(row)
    return rows


ROWS = manifest()


def differs(values, expected):
    """None, or the difference, where a type may be another but the bits may not."""
    if values.shape != expected.shape:
        return f"the shape is {values.shape}, expected {expected.shape}"
    if expected.dtype == np.float16 and values.dtype == np.float32:
        expected = expected.astype("f4")  # GDAL before 3.11 has no halves
    if expected.dtype == bool and values.dtype == np.uint8:
        expected = expected.view("u1")
    if values.dtype != expected.dtype:
        return f"the type is {values.dtype}, expected {expected.dtype}"
    if values.tobytes() == expected.tobytes():
        return None
    return f"the values differ: {values.ravel()[:4]}, expected {expected.ravel()[:4]}"


def read_h5py(row, files):
    """One array through the connector. `files` keeps the stores open from row to row."""
    path = str(STORES / row["store"])
    if path not in files:
        files.clear()
        files[path] = h5py.File(path, "r")
    file = files[path]
    data = file[row["array"]] if row["array"] else next(iter(file.values()))
    return np.asarray(data[()])


def read_gdal(row, expected):
    """One array through the driver, its bands folded back into the leading dimensions."""
    dataset = gdal.OpenEx(str(STORES / row["store"] / row["array"]), gdal.OF_RASTER,
                          allowed_drivers=["Zarr3"])
    values = dataset.ReadAsArray()
    assert values.size == expected.size, f"{values.shape} elements, expected {expected.shape}"
    return values.reshape(expected.shape)


def compare(rows, read):
    """Reads all rows and fails with every one that is wrong."""
    wrong = []
    for row in rows:
        expected = np.load(STORES / row["expected"])
        name = f"{row['store']}/{row['array']}"
        try:
            problem = differs(read(row, expected), expected)
        except (OSError, RuntimeError, KeyError, AssertionError) as error:
            problem = repr(error)
        if problem:
            wrong.append(f"{name}: {problem}")
    assert rows, "no array to compare"
    assert not wrong, f"{len(wrong)} of {len(rows)} arrays are wrong:\n" + "\n".join(wrong[:20])


@pytest.mark.parametrize("data_type", sorted(ROWS))
def test_h5py(data_type):
    files = {}
    compare(ROWS[data_type], lambda row, _: read_h5py(row, files))


@pytest.mark.parametrize("data_type", [t for t in sorted(ROWS) if t not in NOT_IN_GDAL])
def test_gdal(data_type):
    def has_raster(row):
        expected = np.load(STORES / row["expected"])
        return expected.size > 0 and expected.dtype.kind != "V"

    compare([row for row in ROWS[data_type] if has_raster(row)], read_gdal)
