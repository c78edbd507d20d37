# SPDX-License-Identifier: MIT
"""Every array of the cross product and every broken store, through GDAL.

The stores and what must come of them are made by tests/interop, in the build directory.
"""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from osgeo import gdal

from conftest import Errors

STORES = pathlib.Path(os.environ["ZARRBRIDGE_INTEROP_STORES"])
GOOD, BAD = STORES / "stores", STORES / "bad"


def entries(directory):
    return json.loads((directory / "manifest.json").read_text())


def name_of(directory, entry):
    return 'ZARR3:"%s":/%s' % (directory / entry["store"], entry["array"])


def as_bands(expected, raster):
    """The expected array as GDAL shows it: rows and columns last, or first before few samples."""
    if expected.ndim < 2:
        return expected.reshape(1, 1, -1)
    shape = (raster.RasterCount, raster.RasterYSize, raster.RasterXSize)
    if expected.shape[-2:] != shape[1:]:
        expected = np.moveaxis(expected, -1, 0)
    return expected.reshape(shape)


def compare(raster, expected):
    shown = raster.ReadAsArray().reshape(raster.RasterCount, raster.RasterYSize,
                                         raster.RasterXSize)
    wanted = as_bands(expected, raster)
    if wanted.dtype == np.float16 and shown.dtype != np.float16:
        wanted = wanted.astype(np.float32)
    if wanted.dtype == bool:
        wanted = wanted.astype(np.uint8)
    assert shown.dtype == wanted.dtype
    assert np.array_equal(shown, wanted, equal_nan=shown.dtype.kind in "fc")


def fits(expected):
    return expected.dtype.kind in "biufc" and 0 not in expected.shape


@pytest.mark.parametrize("store", sorted({entry["store"].split("/")[0] + "/" +
                                          entry["store"].split("/")[1][:5]
                                          for entry in entries(GOOD)}))
def test_cross_product_and_variants(store):
    compared = refused = 0
    for entry in entries(GOOD):
        if not entry["store"].startswith(store):
            continue
        expected = np.load(GOOD / entry["expected"])
        if fits(expected) and not entry["features"].get("data_type", "").startswith("r"):
            try:
                compare(gdal.Open(name_of(GOOD, entry)), expected)
            except Exception as error:
                raise AssertionError(entry) from error
            compared += 1
        else:
            with Errors() as errors:
                assert gdal.Open(name_of(GOOD, entry)) is None, entry
            assert len(errors.failures) == 1, (entry, errors.failures)
            assert "GDAL has no type" in errors.failures[0] or "extent 0" in errors.failures[0]
            refused += 1
    assert compared + refused > 0


SCRIPT = r"""
import json, sys
import numpy as np
from osgeo import gdal
gdal.DontUseExceptions()
seen = []
gdal.PushErrorHandler(lambda kind, number, text: seen.append([kind, text]))
for name, expected in json.load(sys.stdin):
    seen.clear()
    result = "refused"
    dataset = gdal.OpenEx(name, gdal.OF_RASTER)
    if dataset is not None:
        shown = dataset.ReadAsArray() if dataset.RasterCount else None
        result = "failed"
        if shown is not None:
            result = "read"
            wanted = np.load(expected) if expected else None
            if wanted is not None and wanted.size == shown.size:
                wanted = wanted.reshape(shown.shape)
                result = "values" if (shown == wanted).all() else "other values"
    print(json.dumps([result, [text for kind, text in seen if kind >= gdal.CE_Failure]]))
"""


def test_broken_stores_give_one_error_or_their_values():
    """One process reads them all: it must survive each."""
    wanted = [entry for entry in entries(BAD) if entry["stage"] in ("open", "read")]
    names = [(name_of(BAD, entry), entry["expected"] and str(BAD / entry["expected"]))
             for entry in wanted]
    process = subprocess.run([sys.executable, "-c", SCRIPT], input=json.dumps(names), text=True,
                             capture_output=True)
    assert process.returncode == 0, process.stderr
    results = [json.loads(line) for line in process.stdout.splitlines()]
    assert len(results) == len(wanted)
    for entry, (result, failures) in zip(wanted, results):
        if entry["array"].endswith("/"):
            assert result == "read", entry  # the driver takes slashes at the end of a name off
        elif result in ("values", "other values"):
            assert result in entry["expect"] and not failures, (entry, failures)
        else:
            assert result in ("refused", "failed"), (entry, result)
            assert any(code.startswith("E") for code in entry["expect"]), (entry, failures)
            assert len(failures) == 1, (entry, failures)
