# SPDX-License-Identifier: MIT
"""The rule for nodata (docs/gdal.md), row by row."""
import base64
import math
import struct

import numpy as np
import pytest
import xarray
import zarr
from osgeo import gdal

from conftest import edit, extension, known, opened, put, run
from test_update import VALUES, attributes, update


def encoded(value):
    return base64.b64encode(struct.pack("<d", value)).decode()


MATRIX = [
    # type, fill value, attributes, nodata
    ("uint8", 0, {}, None),
    ("uint8", 255, {}, 255),
    ("uint8", 0, {"_FillValue": 7}, 7),
    ("uint8", 255, {"_FillValue": 7, "missing_value": 9}, 7),
    ("uint8", 255, {"missing_value": 9}, 9),
    ("uint8", 255, {"missing_value": [9]}, 9),
    ("uint8", 255, {"_FillValue": -1}, 255),
    ("uint8", 255, {"_FillValue": 1.5}, 255),
    ("uint8", 0, {"_CRS": {}}, 0),
    ("int8", -128, {}, -128),
    ("int16", 0, {"_FillValue": -999}, -999),
    ("int16", -32768, {}, -32768),
    ("uint16", 65535, {}, 65535),
    ("int32", -2**31, {}, -2**31),
    ("uint32", 2**32 - 1, {}, 2**32 - 1),
    ("int64", -2**63, {}, -2**63),
    ("int64", 0, {"_FillValue": 2**63 - 1}, 2**63 - 1),
    ("uint64", 2**64 - 1, {}, 2**64 - 1),
    ("uint64", 0, {"_FillValue": 2**63 + 1}, 2**63 + 1),
    ("float16", -9999, {}, -10000),
    ("float16", float("nan"), {}, float("nan")),
    ("float32", 0, {}, None),
    ("float32", float("nan"), {}, float("nan")),
    ("float32", -9999, {}, -9999),
    ("float32", 0, {"_FillValue": encoded(1e20)}, float(np.float32(1e20))),
    ("float32", 0, {"_FillValue": encoded(float("nan"))}, float("nan")),
    ("float32", 0, {"_FillValue": 1e20}, float(np.float32(1e20))),
    ("float32", 0, {"_FillValue": "NaN"}, float("nan")),
    ("float32", 0, {"_FillValue": "-Infinity"}, float("-inf")),
    ("float32", 0, {"_FillValue": "inf"}, float("inf")),
    ("float32", 0, {"_FillValue": "0xc61c3c00"}, -9999),
    ("float32", 0, {"_FillValue": 1e300}, None),
    ("float32", 0, {"_FillValue": encoded(1e300), "missing_value": -1}, -1),
    ("float16", 0, {"_FillValue": encoded(-9999.0)}, -10000),
    ("float16", 0, {"_FillValue": 1e6}, None),
    ("float32", 0, {"_FillValue": "no number"}, None),
    ("float32", 0, {"_FillValue": "QUJD"}, None),
    ("float64", 0, {"_FillValue": encoded(-1.7e308)}, -1.7e308),
    ("float64", 0, {"_FillValue": encoded(-9999.0), "missing_value": encoded(1.0)}, -9999),
    ("float64", float("inf"), {}, float("inf")),
    ("int16", 0, {"_FillValue": encoded(-5.0)}, -5),
    ("bool", True, {}, None),
    ("complex64", 0, {}, None),
    ("complex64", 1, {}, 1),
    ("complex64", 1 + 2j, {}, None),
    ("complex64", complex("nan+nanj"), {}, float("nan")),
    ("complex64", 1, {"zarrbridge:fill_value_is_nodata": False}, None),
    ("complex64", 1, extension(fill_value_is_nodata=False), None),
    ("complex64", 0, {"_FillValue": [encoded(-9999.0), encoded(0.0)]}, -9999),
    ("complex64", 5, {"_FillValue": [encoded(-9999.0), encoded(1.0)]}, None),
    ("complex128", 0, {"_FillValue": [-9999, 0]}, -9999),
    ("complex128", 0, {"_FillValue": -9999.5}, -9999.5),
    ("complex128", 0, {"_FillValue": [1, 0, 0], "missing_value": -1}, -1),
    ("complex128", 0, {"_FillValue": ["x", 0], "missing_value": ["NaN", 0]}, float("nan")),
]


@pytest.mark.parametrize("dtype,fill,attributes,expected", MATRIX)
def test_rule(store, dtype, fill, attributes, expected):
    path, root = store
    put(root, "t", np.zeros((3, 4), dtype), attributes, fill_value=fill)
    dataset = opened(path)
    nodata = dataset.GetRasterBand(1).GetNoDataValue()
    if expected is not None and math.isnan(expected):
        assert math.isnan(nodata)
    else:
        assert nodata == expected


def test_null_fill_value_is_no_nodata(store):
    path, root = store
    put(root, "t", np.ones((3, 4), "u1"), {"_CRS": {}}, fill_value=9)
    edit(path + "/t", lambda document: document.update(fill_value=None))
    dataset = opened(path)
    assert dataset.GetRasterBand(1).GetNoDataValue() is None


def test_what_xarray_writes(tmp_path):
    """Packed integers and plain floats, with the attributes that xarray makes of them."""
    path = str(tmp_path / "x.zarr")
    values = np.array([[1.5, np.nan], [2.5, 3.5]])
    data = xarray.Dataset({"t": (("y", "x"), values)})
    data.to_zarr(path, zarr_format=3, consolidated=False, encoding={
        "t": {"dtype": "int16", "scale_factor": 0.5, "add_offset": 1.0, "_FillValue": -999}})
    dataset = opened(path)
    band = dataset.GetRasterBand(1)
    assert (band.GetNoDataValue(), band.GetScale(), band.GetOffset()) == (-999, 0.5, 1)
    raw = band.ReadAsArray()
    assert raw.tolist() == [[1, -999], [3, 5]]
    path = str(tmp_path / "y.zarr")
    data.to_zarr(path, zarr_format=3, consolidated=False)
    dataset = opened(path)
    band = dataset.GetRasterBand(1)
    assert math.isnan(band.GetNoDataValue()) and band.GetScale() is None
    assert np.array_equal(band.ReadAsArray(), values, equal_nan=True)


@pytest.mark.parametrize("fill,said", [
    (9, {}), (9, {"_FillValue": 9}), (9, {"missing_value": 8}), (0, {"_CRS": {}})])
def test_nodata_from_the_fill_value_is_unset_and_stays_so(store, fill, said):
    """The fill value itself cannot be changed: chunks that were never written read as it."""
    path, root = store
    put(root, "t", VALUES, said, ("y", "x"), fill_value=fill)
    for _ in range(2):  # a second time it changes nothing
        dataset = update(path)
        assert dataset.GetRasterBand(1).DeleteNoDataValue() == gdal.CE_None
        assert dataset.GetRasterBand(1).GetNoDataValue() is None
        assert dataset.Close() == gdal.CE_None
        assert opened(path).GetRasterBand(1).GetNoDataValue() is None
    assert root["t"].fill_value == fill
    told = attributes(path + "/t")
    assert known(told) == {"fill_value_is_nodata": False}
    told.pop("zarrbridge:gdal")
    assert told == {k: v for k, v in said.items() if k == "_CRS"}
    xarray.open_zarr(path, consolidated=False).close()
    dataset = update(path)
    dataset.SetMetadataItem("title", "t")
    dataset = None
    assert opened(path).GetRasterBand(1).GetNoDataValue() is None
    for value in (fill, 5):
        dataset = update(path)
        dataset.GetRasterBand(1).SetNoDataValue(value)
        dataset = None
        assert opened(path).GetRasterBand(1).GetNoDataValue() == value
        assert not known(attributes(path + "/t"))


def test_programs_unset_nodata(tmp_path):
    """Of a store that we have written, whose fill value is the nodata value."""
    source = gdal.GetDriverByName("MEM").Create("", 30, 20, 2, gdal.GDT_Int16)
    for band in (1, 2):
        source.GetRasterBand(band).SetNoDataValue(-7)
    commands = [["gdal_edit.py", "-unsetnodata"]]
    if int(gdal.VersionInfo()) >= 3130000:
        commands.append(["gdal", "raster", "edit", "--nodata", "none"])
    for command in commands:
        path = str(tmp_path / (command[0] + ".zarr"))
        gdal.GetDriverByName("Zarr3").CreateCopy(path, source).Close()
        assert opened(path).GetRasterBand(2).GetNoDataValue() == -7
        run(*command, path)
        dataset = opened(path)
        assert [dataset.GetRasterBand(i).GetNoDataValue() for i in (1, 2)] == [None, None]


def test_nodata_that_was_set_and_deleted_before_the_first_pixel(tmp_path):
    path = str(tmp_path / "n.zarr")
    dataset = gdal.GetDriverByName("Zarr3").Create(path, 30, 20, 1, gdal.GDT_Int16)
    dataset.GetRasterBand(1).SetNoDataValue(5)
    dataset.GetRasterBand(1).DeleteNoDataValue()
    dataset.GetRasterBand(1).WriteArray(np.ones((2, 3)), 1, 1)
    dataset = None
    assert opened(path).GetRasterBand(1).GetNoDataValue() is None
    assert zarr.open_array(path + "/n", mode="r").fill_value == 0
    assert attributes(path + "/n") == {}
