# SPDX-License-Identifier: MIT
"""Arrays of text: no rasters, listed with the reason; their siblings stay as usable as without
them, and coordinates of text name bands."""

import numpy as np
import pytest
from osgeo import gdal

from conftest import Errors, opened, put, sub

CUBE = np.arange(3 * 4 * 5, dtype="i2").reshape(3, 4, 5)
NAMES = ["B02", "Grün", "a longer name"]


def put_text(group, name, data, dims=None, **options):
    data = np.array(data, dtype=object)
    options.setdefault("fill_value", "")
    array = group.create_array(name, shape=data.shape, dtype=str, dimension_names=dims, **options)
    array[...] = data
    return array


def test_siblings_stay_usable(store):
    path, root = store
    put(root, "v", CUBE[0], dims=("y", "x"))
    put_text(root, "plane", [["a", "b"], ["c", "d"]])
    put_text(root, "line", ["a", "b"])
    put_text(root, "scalar", "a")
    dataset = opened(path)
    assert np.array_equal(dataset.ReadAsArray(), CUBE[0]), "the one raster opens"
    reasons = dataset.GetMetadata_Dict("ZARR3_UNREADABLE")
    assert sorted(reasons) == ["/line", "/plane", "/scalar"]
    assert set(reasons.values()) == {"its elements are text (string), of which GDAL makes no bands"}
    put(root, "w", CUBE[1], dims=("y", "x"))
    dataset = opened(path, LIST_ALL_ARRAYS="YES")
    assert [name.rsplit(":", 1)[-1].strip('"/') for name, _ in dataset.GetSubDatasets()] == ["v", "w"]
    assert sorted(dataset.GetMetadata_Dict("ZARR3_UNREADABLE")) == ["/line", "/plane", "/scalar"]
    for name in ("plane", "line", "scalar"):
        with Errors() as errors:
            assert gdal.Open(sub(path, name)) is None
        assert "array /" + name in errors.failures[0] and "are text" in errors.failures[0]


def test_a_group_of_text_alone_says_so(store):
    path, root = store
    put_text(root, "plane", [["a", "b"], ["c", "d"]])
    with Errors() as errors:
        assert gdal.Open(path) is None
    assert "no array of two or more dimensions; /plane: its elements are text" in errors.failures[0]


@pytest.mark.parametrize("options", [{}, {"chunks": (2,)}, {"chunks": (1,), "shards": (3,)}],
                         ids=str)
def test_bands_are_named_by_text(store, options):
    path, root = store
    put(root, "v", CUBE, dims=("band", "y", "x"))
    put_text(root, "band", NAMES, ("band",), **options)
    dataset = opened(path)
    assert np.array_equal(dataset.ReadAsArray(), CUBE)
    for number, name in enumerate(NAMES, 1):
        band = dataset.GetRasterBand(number)
        assert band.GetDescription() == name
        assert band.GetMetadata() == {"DIM_band_INDEX": str(number - 1), "DIM_band_VALUE": name}
    slices = gdal.OpenEx(path, open_options=["MULTIBAND=NO"]).GetSubDatasets()
    assert [text.rsplit(" at ", 1)[1] for _, text in slices] == NAMES


def test_text_along_other_dimensions(store):
    path, root = store
    put(root, "v", CUBE.reshape(3, 1, 4, 5), dims=("model", "time", "y", "x"))
    put_text(root, "model", NAMES, ("model",))
    put(root, "time", [3.5], dims=("time",))
    dataset = opened(path)
    band = dataset.GetRasterBand(2)
    assert band.GetDescription() == "model=Grün"
    assert band.GetMetadata()["DIM_model_VALUE"] == "Grün"
    assert band.GetMetadata()["DIM_time_VALUE"] == "3.5"


def test_text_that_gdal_cannot_hold_is_left_out(store):
    path, root = store
    put(root, "v", CUBE, dims=("model", "y", "x"))
    put_text(root, "model", ["good", "a\0b", ""], ("model",))
    dataset = opened(path)
    assert dataset.GetRasterBand(1).GetDescription() == "model=good"
    for number in (2, 3):
        assert dataset.GetRasterBand(number).GetDescription() == ""
        assert dataset.GetRasterBand(number).GetMetadata() == {"DIM_model_INDEX": str(number - 1)}


def test_text_is_no_place_of_columns_and_rows(store):
    """A coordinate of text for rows or columns gives no geotransform, and no error."""
    path, root = store
    put(root, "v", CUBE[0], dims=("y", "x"))
    put_text(root, "y", list("abcd"), ("y",))
    put(root, "x", np.arange(5.0), dims=("x",))
    with Errors() as errors:
        dataset = opened(path)
        assert dataset.GetGeoTransform(can_return_null=True) is None
    assert not errors.seen
