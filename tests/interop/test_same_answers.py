# SPDX-License-Identifier: MIT
"""One store has one meaning: coordinates, nodata and attributes through h5py and through GDAL.

Each answer is compared with the one that same_stores.py expects, and so the two with each other.
"""

import json

import h5py
import numpy as np
import pytest
from osgeo import gdal
from same_stores import STORES, write

gdal.UseExceptions()


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    """The expected answers, and the path of the store."""
    path = tmp_path / "x.zarr"
    write(path, STORES[request.param])
    return STORES[request.param], str(path)


def is_equal(got, expected):
    """Value and kind of type; NaN equals itself. Arrays with elements are expected as lists."""
    if isinstance(expected, np.ndarray):
        return got.shape == expected.shape and got.dtype == expected.dtype
    got = got.tolist() if isinstance(got, (np.ndarray, np.generic)) else got
    if isinstance(expected, list):
        return (isinstance(got, list) and len(got) == len(expected)
                and all(is_equal(a, b) for a, b in zip(got, expected)))
    return type(got) is type(expected) and (got == expected or got != got and expected != expected)


def is_same_number(got, expected):
    """Compares numbers of any types; None is not a number."""
    return got == expected or (None not in (got, expected) and got != got and expected != expected)


# ---- h5py

def unpacked(scale):
    factor, offset = (np.ravel(scale.attrs.get(name, default))[0]
                      for name, default in (("scale_factor", 1), ("add_offset", 0)))
    return [float(value) for value in scale[...].astype("f8") * factor + offset]


def h5py_coordinates(array):
    """By dimension: the path of its scale and the scale's values; None."""
    found = {}
    for dim in array.dims:
        found[dim.label] = (dim[0].name.lstrip("/"), unpacked(dim[0])) if len(dim) else None
    return found


def h5py_attribute(array, name):
    value = array.attrs.get(name)
    if value is None or isinstance(value, h5py.Empty):
        return None
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return value.tolist()
    return value


def test_h5py(store):
    expected, path = store
    with h5py.File(path, "r") as file:
        array = file[expected.array]
        coordinates = h5py_coordinates(array)
        for dim, value in expected.coordinates.items():
            assert coordinates[dim] == value, dim
        if expected.fill_value is not ...:
            got = h5py_attribute(array, "_FillValue")
            got = got[0] if isinstance(got, np.ndarray) else got
            assert is_equal(got, expected.fill_value), got
            if expected.nodata == expected.fill_value is not None:
                assert got.dtype == array.dtype
        for name, (value, _) in expected.attributes.items():
            assert name in array.attrs
            got = h5py_attribute(array, name)
            assert is_equal(got, value), (name, got)


# ---- GDAL

def gdal_coordinate(dataset, dim, length):
    """The values of one dimension's coordinate; None."""
    if dim in ("y", "x", "j", "i"):
        transform = dataset.GetGeoTransform(can_return_null=True)
        first, step = {"x": (0, 1), "i": (0, 1), "y": (3, 5), "j": (3, 5)}[dim]
        if transform is None:
            return None
        return [transform[first] + transform[step] * (i + 0.5) for i in range(length)]
    values = [dataset.GetRasterBand(i).GetMetadataItem("DIM_%s_VALUE" % dim)
              for i in range(1, dataset.RasterCount + 1)]
    return None if None in values else [float(value) for value in values]


def test_gdal(store):
    expected, path = store
    dataset = gdal.OpenEx(path + "/" + expected.array, gdal.OF_RASTER, allowed_drivers=["Zarr3"])
    for dim, value in expected.coordinates.items():
        values = None if value is None else value[1]
        assert gdal_coordinate(dataset, dim, len(values or [])) == values, dim
    if expected.nodata is not ...:
        assert is_same_number(dataset.GetRasterBand(1).GetNoDataValue(), expected.nodata)
    items = dataset.GetMetadata()
    for name, (_, text) in expected.attributes.items():
        assert items[name] == text, name


# ---- Both

def check_attribute(value, text):
    """GDAL's item is a text: as JSON, or as it is, it is the value that h5py has."""
    if isinstance(value, str) or value is None:
        assert text == ("null" if value is None else value)
        return
    value = np.asarray(value)
    parsed = text if text in ("NaN", "Infinity", "-Infinity") else json.loads(text)
    if value.dtype.kind == "f":
        assert np.array_equal(value, np.array(parsed, object).astype("f8"), equal_nan=True)
    else:
        assert value.tolist() == parsed


def test_both(store):
    expected, path = store
    dataset = gdal.OpenEx(path + "/" + expected.array, gdal.OF_RASTER, allowed_drivers=["Zarr3"])
    with h5py.File(path, "r") as file:
        array = file[expected.array]
        coordinates = h5py_coordinates(array)
        for dim in expected.coordinates:
            values = coordinates[dim][1] if coordinates[dim] else None
            assert gdal_coordinate(dataset, dim, len(values or [])) == values, dim
        nodata = dataset.GetRasterBand(1).GetNoDataValue()
        if nodata is not None and is_same_number(expected.nodata, expected.fill_value):
            assert is_same_number(nodata, np.ravel(array.attrs["_FillValue"])[0])
        if nodata is not None and expected.fill_value is None:
            assert is_same_number(nodata, array.fillvalue)
        for name in expected.attributes:
            check_attribute(h5py_attribute(array, name), dataset.GetMetadataItem(name))


def test_there_are_enough_stores():
    kinds = [name.split(":")[0] for name in STORES]
    assert len(STORES) >= 30 and {kinds.count(kind) >= 8 for kind in kinds} == {True}
