# SPDX-License-Identifier: MIT
"""Complex integers, which are structs in the store, and nodata values of complex numbers."""
import json
import pathlib

import numpy as np
import pytest
import xarray
import zarr
from osgeo import gdal

from conftest import Errors, known, opened, run, sub
from test_nodata import encoded
from test_update import attributes, update

HEIGHT, WIDTH = 70, 90
KINDS = {gdal.GDT_CInt16: "i2", gdal.GDT_CInt32: "i4"}


def pairs(kind, bands=1):
    """Random bits: extremes included."""
    random = np.random.default_rng(7)
    size = np.dtype(KINDS[kind]).itemsize
    raw = random.integers(0, 256, (bands, HEIGHT, WIDTH, 2, size), dtype="u1")
    return raw.view(KINDS[kind])[..., 0]


def source(kind, values):
    dataset = gdal.GetDriverByName("MEM").Create("", WIDTH, HEIGHT, len(values), kind)
    for i, plane in enumerate(values):
        dataset.GetRasterBand(i + 1).WriteRaster(0, 0, WIDTH, HEIGHT, plane.tobytes())
    return dataset


def pixels(dataset, band, *window):
    shape = (window[3], window[2]) if window else (HEIGHT, WIDTH)
    raw = dataset.GetRasterBand(band).ReadRaster(*window)
    return np.frombuffer(raw, KINDS[dataset.GetRasterBand(band).DataType]).reshape(*shape, 2)


def document(path):
    return json.loads((pathlib.Path(path) / "zarr.json").read_text())


@pytest.mark.parametrize("options", [[], ["BLOCKSIZE=32x32", "SHARD=64x64", "INTERLEAVE=PIXEL"],
                                     ["COMPRESS=NONE"]], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_round_trip(tmp_path, kind, options):
    path = str(tmp_path / "c.zarr")
    values = pairs(kind, 2)
    gdal.GetDriverByName("Zarr3").CreateCopy(path, source(kind, values), options=options).Close()
    dataset = opened(path)
    for band in (1, 2):
        assert dataset.GetRasterBand(band).DataType == kind
        assert (pixels(dataset, band) == values[band - 1]).all()
        assert (pixels(dataset, band, 11, 13, 40, 37) == values[band - 1][13:50, 11:51]).all()
    as_floats = dataset.GetRasterBand(1).ReadAsArray(buf_type=gdal.GDT_CFloat64)
    assert (as_floats == values[0, ..., 0] + 1j * values[0, ..., 1]).all()
    name = "int16" if kind == gdal.GDT_CInt16 else "int32"
    assert document(path + "/c")["data_type"] == {"name": "struct", "configuration": {"fields": [
        {"name": "re", "data_type": name}, {"name": "im", "data_type": name}]}}
    assert not known(attributes(path + "/c"))


def test_pixels_are_changed_and_levels_made(tmp_path):
    path = str(tmp_path / "c.zarr")
    values = pairs(gdal.GDT_CInt16)
    gdal.GetDriverByName("Zarr3").CreateCopy(path, source(gdal.GDT_CInt16, values)).Close()
    dataset = update(path)
    dataset.GetRasterBand(1).WriteRaster(3, 5, 2, 1, np.array([1, 2, 3, 4], "i2").tobytes())
    dataset.GetRasterBand(1).WriteArray(np.array([[1.4 - 9j]]), 0, 0)  # converted by GDAL
    dataset = None
    values[0, 5, 3:5] = [[1, 2], [3, 4]]
    values[0, 0, 0] = [1, -9]
    assert (pixels(opened(path), 1) == values[0]).all()
    run("gdaladdo", "-q", path, "2")
    dataset = opened(path)
    level = dataset.GetRasterBand(1).GetOverview(0)
    assert level.DataType == gdal.GDT_CInt16
    found = np.frombuffer(level.ReadRaster(), "i2").reshape(35, 45, 2)
    assert {tuple(pair) for pair in found.reshape(-1, 2)} <= {
        tuple(pair) for pair in values[0].reshape(-1, 2)}


def write_structs(path, fields, values, **more):
    """As other programs write them, in the byte order that is asked for."""
    path.mkdir()
    (path / "zarr.json").write_text(json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": values.shape,
        "data_type": {"name": "struct", "configuration": {"fields": [
            {"name": name, "data_type": kind} for name, kind in fields]}},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": values.shape}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
        "fill_value": dict.fromkeys([name for name, _ in fields], 0),
        "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}], **more}))
    (path / "c.0.0").write_bytes(values.tobytes())


@pytest.mark.parametrize("names", [("re", "im"), ("real", "imag"), ("r", "i")])
def test_structs_of_other_programs(tmp_path, names):
    values = np.array([[(1, -2), (3, 4)]], [(names[0], ">i2"), (names[1], ">i2")])
    write_structs(tmp_path / "s.zarr", [(name, "int16") for name in names], values,
                  fill_value={names[0]: -5, names[1]: 0})
    dataset = opened(tmp_path / "s.zarr")
    assert dataset.GetRasterBand(1).DataType == gdal.GDT_CInt16
    assert np.frombuffer(dataset.ReadRaster(), "i2").tolist() == [1, -2, 3, 4]
    assert dataset.GetRasterBand(1).GetNoDataValue() == -5


@pytest.mark.parametrize("fields", [
    [("re", "int16"), ("im", "int32")], [("re", "uint16"), ("im", "uint16")],
    [("im", "int16"), ("re", "int16")], [("re", "int16")],
    [("re", "int16"), ("im", "int16"), ("x", "int16")]])
def test_other_structs_are_no_rasters(tmp_path, fields):
    values = np.zeros((1, 2), [(name, np.dtype(kind)) for name, kind in fields])
    write_structs(tmp_path / "s.zarr", fields, values)
    with Errors() as errors:
        assert gdal.Open(str(tmp_path / "s.zarr")) is None
    assert "GDAL has no type for struct" in errors.failures[0]


@pytest.mark.parametrize("kind,name,expected", [
    (gdal.GDT_CInt16, "nodata", [-7, 0]),
    (gdal.GDT_CFloat32, "_FillValue", [encoded(-7.0), encoded(0.0)]),
    (gdal.GDT_CFloat64, "_FillValue", [encoded(-7.0), encoded(0.0)])])
def test_nodata_is_written_and_unset(tmp_path, kind, name, expected):
    path = str(tmp_path / "c.zarr")
    dataset = gdal.GetDriverByName("Zarr3").Create(path, WIDTH, HEIGHT, 1, kind)
    dataset.GetRasterBand(1).SetNoDataValue(-7)
    dataset.GetRasterBand(1).WriteArray(np.array([[2 + 3j, -7 + 1j]]), 0, 0)
    dataset = None
    dataset = opened(path)
    assert dataset.GetRasterBand(1).GetNoDataValue() == -7
    # What was not written is nodata; GDAL compares real parts.
    assert dataset.GetRasterBand(1).GetMaskBand().ReadAsArray().sum() == 255
    values = dataset.GetRasterBand(1).ReadAsArray(buf_type=gdal.GDT_CFloat64)
    assert values[0, 0] == 2 + 3j and (values[1:] == -7).all()
    said = attributes(path + "/c")
    assert {**said, **known(said)}[name] == expected
    with Errors() as errors:
        dataset = update(path)
        dataset.GetRasterBand(1).SetNoDataValue(9)
        dataset = None
    assert not errors.failures
    assert opened(path).GetRasterBand(1).GetNoDataValue() == 9
    run("gdal_edit.py", "-unsetnodata", path)
    assert opened(path).GetRasterBand(1).GetNoDataValue() is None
    said = attributes(path + "/c")
    assert name not in {**said, **known(said)}


def test_nodata_that_complex_integers_cannot_have(tmp_path):
    dataset = gdal.GetDriverByName("Zarr3").Create(str(tmp_path / "c.zarr"), 9, 9, 1,
                                                   gdal.GDT_CInt16)
    with Errors() as errors:
        assert dataset.GetRasterBand(1).SetNoDataValue(40000) != gdal.CE_None
    assert "40000 is no value" in errors.failures[0]


def test_xarray_masks_complex_nodata(tmp_path):
    path = str(tmp_path / "c.zarr")
    dataset = gdal.GetDriverByName("Zarr3").Create(path, 4, 3, 1, gdal.GDT_CFloat32)
    dataset.GetRasterBand(1).SetNoDataValue(-7)
    dataset.GetRasterBand(1).WriteArray(np.array([[2 + 3j]]), 1, 1)
    dataset = None
    stored = zarr.open_array(path + "/c", mode="r")
    assert stored[1, 1] == 2 + 3j and stored.fill_value == -7
    if tuple(map(int, xarray.__version__.split(".")[:2])) < (2025, 5):
        pytest.skip("this xarray opens no complex array that has _FillValue")
    with xarray.open_zarr(path, consolidated=False) as data:
        assert np.isnan(data["c"].values).sum() == 11


@pytest.mark.skipif(gdal.VersionInfo() < "3110000", reason="GDAL has complex half floats since 3.11")
def test_complex_half_floats(tmp_path):
    path = str(tmp_path / "c.zarr")
    dataset = gdal.GetDriverByName("Zarr3").Create(path, 4, 3, 1, gdal.GDT_CFloat16)
    dataset.GetRasterBand(1).WriteArray(np.full((3, 4), 1.5 - 2j))
    dataset = None
    dataset = opened(sub(path, "c"))
    assert dataset.GetRasterBand(1).DataType == gdal.GDT_CFloat16
    assert (dataset.ReadAsArray() == 1.5 - 2j).all()
    assert document(path + "/c")["data_type"] == "complex_float16"
