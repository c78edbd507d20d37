# SPDX-License-Identifier: MIT
"""Rasters of times and of numbers of few bits, times as the coordinate of bands, and types that GDAL
does not have."""

import numpy as np
import pytest
from mdim import put_bytes
from osgeo import gdal

gdal.UseExceptions()


def time_type(unit, scale=1, name="datetime64"):
    return {"name": f"numpy.{name}", "configuration": {"unit": unit, "scale_factor": scale}}


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "s.zarr"
    path.mkdir()
    (path / "zarr.json").write_text('{"zarr_format":3,"node_type":"group","attributes":{}}')
    return path


def opened(path, name):
    return gdal.OpenEx(f'ZARR3:"{path}":/{name}', allowed_drivers=["Zarr3"])


def test_times(store):
    values = np.array([[1, -2, 3], [4, 2**62 + 1, -(2**63)]], "<i8")
    put_bytes(store, "t", time_type("ns"), "NaT", values)
    dataset = opened(store, "t")
    band = dataset.GetRasterBand(1)
    assert band.DataType == gdal.GDT_Int64 and band.GetNoDataValue() == -(2**63)
    assert (band.ReadAsArray() == values).all()
    assert (band.ReadAsArray(1, 0, 2, 2) == values[:, 1:]).all()
    assert (band.ReadAsArray(buf_type=gdal.GDT_Float64)[0] == [1, -2, 3]).all()


@pytest.mark.parametrize("data_type, stored, gdal_type, values, fill", [
    ("bfloat16", np.array([[0x3F80, 0xC010]], "<u2"), gdal.GDT_Float32, [1, -2.25], 0),
    ("float8_e4m3", np.array([[0x38, 0x01]], "u1"), gdal.GDT_Float32, [1, 2**-9], 0),
    ("float8_e4m3fn", np.array([[0x38, 0xFE]], "u1"), gdal.GDT_Float32, [1, -448], 0),
    ("int4", np.array([[0x07, 0xFF]], "u1"), gdal.GDT_Int8, [7, -1], 0),
    ("uint2", np.array([[0x02, 0xFD]], "u1"), gdal.GDT_Byte, [2, 1], 0),
    ("complex_float8_e5m2", np.array([[0xBC3C, 0x4000]], "<u2"), gdal.GDT_CFloat32, [1 - 1j, 2j],
     [0, 0]),
    ("complex_float16", np.array([[1, 2, 3, 4]], "<f2").view("<u4"),
     getattr(gdal, "GDT_CFloat16", gdal.GDT_CFloat32), [1 + 2j, 3 + 4j], [0, 0]),
])
def test_small_numbers(store, data_type, stored, gdal_type, values, fill):
    put_bytes(store, "b", data_type, fill, stored)
    dataset = opened(store, "b")
    band = dataset.GetRasterBand(1)
    assert band.DataType == gdal_type
    assert list(band.ReadAsArray()[0]) == values
    assert list(band.ReadAsArray(buf_type=gdal.GDT_CFloat64)[0]) == values


def test_small_numbers_are_written(store):
    put_bytes(store, "b", "bfloat16", 0, np.zeros((2, 2), "<u2"))
    with gdal.OpenEx(f'ZARR3:"{store}":/b', gdal.OF_UPDATE, allowed_drivers=["Zarr3"]) as dataset:
        dataset.GetRasterBand(1).WriteArray(np.array([[1.5, -2], [1 + 2**-9, 4]], "f4"))
    got = opened(store, "b").ReadAsArray()
    assert (got == [[1.5, -2], [1, 4]]).all()


@pytest.mark.parametrize("unit, scale, counts, times", [
    ("D", 1, [0, 19782], ["1970-01-01", "2024-02-29"]),
    ("ns", 1, [10**18, -(2**63)], ["2001-09-09T01:46:40", None]),
    ("s", 60, [1, 1441], ["1970-01-01T00:01:00", "1970-01-02T00:01:00"]),
    ("W", 1, [0, 1], ["1970-01-01", "1970-01-08"]),
    ("M", 1, [0, 1], [None, None]),
])
def test_times_of_bands(store, unit, scale, counts, times):
    put_bytes(store, "time", time_type(unit, scale), "NaT", np.array(counts, "<i8"), ["time"])
    put_bytes(store, "v", "uint8", 0, np.zeros((2, 3, 4), "u1"), ["time", "y", "x"])
    dataset = opened(store, "v")
    for number, time in enumerate(times):
        assert dataset.GetRasterBand(number + 1).GetMetadataItem("DIM_time_TIME") == time


@pytest.mark.parametrize("data_type, fill, size, word", [
    ({"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}, "", 8,
     "fixed_length_utf32"),
    ({"name": "null_terminated_bytes", "configuration": {"length_bytes": 2}}, "", 2,
     "null_terminated_bytes"),
    ({"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "int16"}]}},
     {"a": 0}, 2, "struct"),
    ({"name": "raw_bytes", "configuration": {"length_bytes": 3}}, "AAAA", 3, "r24"),
])
def test_types_that_gdal_lacks(store, data_type, fill, size, word):
    put_bytes(store, "good", "uint8", 0, np.zeros((2, 3), "u1"))
    put_bytes(store, "text", data_type, fill, np.zeros((2, 3), f"V{size}"))
    dataset = gdal.OpenEx(str(store), allowed_drivers=["Zarr3"])
    assert dataset.RasterXSize == 3, "the one readable array opens"
    assert word in dataset.GetMetadata_Dict("ZARR3_UNREADABLE")["/text"]
    with pytest.raises(RuntimeError, match=word):
        opened(store, "text")
