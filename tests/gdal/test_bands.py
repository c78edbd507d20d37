# SPDX-License-Identifier: MIT
"""Arrays of more than two dimensions as bands: axes, order, slices, the properties of each band."""
import json

import numpy as np
import pytest
import zarr
from osgeo import gdal

from conftest import Errors, opened, put, sub

CUBE = np.arange(3 * 20 * 30, dtype="uint16").reshape(3, 20, 30)


def bands(dataset):
    return dataset.ReadAsArray().reshape(dataset.RasterCount, dataset.RasterYSize,
                                         dataset.RasterXSize)


def test_leading_dimensions_are_bands_last_one_fastest(store):
    path, root = store
    five = np.arange(2 * 3 * 2 * 4 * 5, dtype="int32").reshape(2, 3, 2, 4, 5)
    put(root, "t", five, chunks=(1, 2, 2, 3, 3))
    dataset = opened(path)
    assert (dataset.RasterCount, dataset.RasterYSize, dataset.RasterXSize) == (12, 4, 5)
    assert (bands(dataset) == five.reshape(12, 4, 5)).all()
    assert dataset.GetRasterBand(8).GetMetadata() == {
        "DIM_dim0_INDEX": "1", "DIM_dim1_INDEX": "0", "DIM_dim2_INDEX": "1"}


def test_the_domain_of_a_band_s_items_is_listed(store):
    path, root = store
    put(root, "plain", np.zeros((4, 5), "u1"))
    put(root, "t", np.zeros((2, 4, 5), "u1"))
    plain, cube = opened(sub(path, "plain")), opened(sub(path, "t"))
    assert not plain.GetRasterBand(1).GetMetadataDomainList()
    band = cube.GetRasterBand(2)
    assert band.GetMetadataDomainList() == [""] and band.GetMetadata()


@pytest.mark.parametrize("dims,order", [
    (("t", "y", "x"), (0, 1, 2)), (("x", "y", "t"), (2, 1, 0)), (("lat", "t", "lon"), (1, 0, 2)),
    (("row", "col", "z"), (2, 0, 1)), (("y", "x", "band"), (2, 0, 1)),
    (("a", "b", "channel"), (2, 0, 1)), (("a", "b", "c3"), (0, 1, 2))])
def test_axes_by_dimension_names(store, dims, order):
    path, root = store
    cube = np.arange(4 * 5 * 6, dtype="u1").reshape(4, 5, 6)
    put(root, "t", cube, dims=dims, chunks=(2, 3, 4))
    assert (bands(opened(path)) == cube.transpose(order)).all()


def test_axes_by_cf_attributes_of_coordinates(store):
    path, root = store
    cube = np.arange(4 * 5 * 6, dtype="u1").reshape(4, 5, 6)
    put(root, "t", cube, dims=("e", "n", "s"))
    put(root, "e", np.arange(4.0), {"axis": "X"}, ("e",))
    put(root, "n", np.arange(5.0), {"units": "degrees_north"}, ("n",))
    assert (bands(opened(path)) == cube.transpose(2, 1, 0)).all()


def test_axes_by_options(store):
    path, root = store
    cube = np.arange(4 * 5 * 6, dtype="u1").reshape(4, 5, 6)
    put(root, "t", cube, dims=("t", "y", "x"), chunks=(2, 3, 4))
    assert (bands(opened(path, DIM_X="t", DIM_Y="x")) == cube.transpose(1, 2, 0)).all()
    assert (bands(opened(path, DIM_X="0", DIM_Y="1")) == cube.transpose(2, 1, 0)).all()
    assert (bands(opened(path, DIM_Y="t")) == cube.transpose(1, 0, 2)).all()
    for options in ({"DIM_X": "nix"}, {"DIM_X": "3"}, {"DIM_X": "y", "DIM_Y": "1"}):
        with Errors() as errors:
            assert gdal.OpenEx(path, open_options=["%s=%s" % i for i in options.items()]) is None
        assert len(errors.failures) == 1 and "DIM_X" in errors.failures[0]


def test_unnamed_pictures_are_band_last(store):
    path, root = store
    picture = np.arange(16 * 20 * 3, dtype="u2").astype("u1").reshape(16, 20, 3)
    put(root, "t", picture, chunks=(8, 8, 3))
    dataset = opened(path)
    assert (bands(dataset) == picture.transpose(2, 0, 1)).all()
    assert dataset.GetMetadataItem("INTERLEAVE", "IMAGE_STRUCTURE") == "PIXEL"
    colours = [dataset.GetRasterBand(i).GetColorInterpretation() for i in (1, 2, 3)]
    assert colours == [gdal.GCI_RedBand, gdal.GCI_GreenBand, gdal.GCI_BlueBand]


def test_colour_interpretation_attribute(store):
    path, root = store
    put(root, "t", CUBE, {"COLOR_INTERPRETATION": ["Alpha", "Blue", "Undefined"]})
    dataset = opened(path)
    colours = [dataset.GetRasterBand(i).GetColorInterpretation() for i in (1, 2, 3)]
    assert colours == [gdal.GCI_AlphaBand, gdal.GCI_BlueBand, gdal.GCI_Undefined]


@pytest.mark.parametrize("given", [["Palette", "Undefined"], None])
def test_a_palette_of_floats_is_kept(store, given):
    """It is not shown, as floats are no indices."""
    path, root = store
    put(root, "t", CUBE[:2].astype("f4"), given and {"COLOR_INTERPRETATION": given})
    with gdal.OpenEx(sub(path, "t"), gdal.OF_UPDATE) as dataset:
        if not given:
            dataset.GetRasterBand(1).SetColorInterpretation(gdal.GCI_PaletteIndex)
        dataset.GetRasterBand(2).SetColorInterpretation(gdal.GCI_AlphaBand)
        shown = [dataset.GetRasterBand(i).GetColorInterpretation() for i in (1, 2)]
    assert shown == [gdal.GCI_Undefined, gdal.GCI_AlphaBand]
    assert zarr.open_group(path, mode="r")["t"].attrs["COLOR_INTERPRETATION"] == ["Palette", "Alpha"]


def test_slices_by_index(store):
    path, root = store
    put(root, "t", CUBE, chunks=(2, 8, 8))
    for i in range(3):
        dataset = opened(sub(path, "t", i))
        assert dataset.RasterCount == 1 and (dataset.ReadAsArray() == CUBE[i]).all()
        assert dataset.GetRasterBand(1).GetMetadataItem("DIM_dim0_INDEX") == str(i)
    for indices in ((3,), (0, 0)):
        with Errors() as errors:
            assert gdal.Open(sub(path, "t", *indices)) is None
        assert len(errors.failures) == 1


def test_multiband_no_lists_slices(store):
    path, root = store
    put(root, "t", CUBE, dims=("level", "y", "x"))
    put(root, "level", np.array([10, 20, 50], "i4"), {"units": "hPa"}, ("level",))
    dataset = opened(path, MULTIBAND="NO")
    assert dataset.RasterCount == 0
    names, descriptions = zip(*dataset.GetSubDatasets())
    assert list(names) == [sub(path, "t", i) for i in range(3)]
    assert descriptions[2] == "/t at level=50 hPa"
    assert (opened(names[2]).ReadAsArray() == CUBE[2]).all()


def test_multiband_no_with_nothing_to_list(store):
    path, root = store
    root.create_array("t", shape=(3, 0, 5), dtype="u1", chunks=(1, 1, 5))
    root.create_array("u", shape=(70000, 2, 2), dtype="u1", chunks=(1, 2, 2))
    with Errors() as errors:
        assert gdal.OpenEx(path + "/t", open_options=["MULTIBAND=NO"]) is None
        assert gdal.OpenEx(path + "/u", open_options=["MULTIBAND=NO", "DIM_X=q"]) is None
    assert "extent 0" in errors.failures[0] and "DIM_X" in errors.failures[1]
    with Errors() as errors:
        listed = gdal.OpenEx(path + "/u", open_options=["MULTIBAND=NO"]).GetSubDatasets()
    assert len(listed) == 65536 and "70000" in errors.seen[0][1] and not errors.failures


def test_too_many_bands_name_the_ways_out(store):
    path, root = store
    root.create_array("t", shape=(300, 300, 2, 2), dtype="u1", chunks=(1, 1, 2, 2))
    with Errors() as errors:
        assert gdal.Open(path) is None
    assert "90000 bands" in errors.failures[0] and "MULTIBAND=NO" in errors.failures[0]
    assert opened(sub(path, "t", 299, 299)).RasterCount == 1
    root.create_array("u", shape=(65536, 2, 2), dtype="u1", chunks=(1, 2, 2))
    assert opened(sub(path, "u")).RasterCount == 65536


def test_band_metadata_values_units_and_dates(store):
    path, root = store
    put(root, "t", CUBE, {"units": "K", "scale_factor": 0.5, "add_offset": -1, "long_name": "temp",
                          "list": [1, 2.5], "nested": {"a": None}, "a:b": "an item", "a=b": "none"},
        ("time", "y", "x"))
    put(root, "time", np.array([0, 31, 59.5]), {"units": "days since 1999-01-01"}, ("time",))
    dataset = opened(path)
    band = dataset.GetRasterBand(3)
    assert band.GetMetadata() == {
        "DIM_time_INDEX": "2", "DIM_time_VALUE": "59.5", "DIM_time_TIME": "1999-03-01T12:00:00",
        "DIM_time_UNIT": "days since 1999-01-01", "NETCDF_DIM_time": "59.5", "DATE_TIME": "1999-03-01T12:00:00"}
    assert band.GetDescription() == "time=1999-03-01T12:00:00"
    assert dataset.GetRasterBand(2).GetDescription() == "time=1999-02-01"
    assert (band.GetScale(), band.GetOffset(), band.GetUnitType()) == (0.5, -1, "K")
    assert dataset.GetMetadata() == {
        "long_name": "temp", "list": "[1,2.5]", "nested": '{"a":null}', "a:b": "an item",
        "NETCDF_DIM_EXTRA": "{time}", "NETCDF_DIM_time_DEF": "{3,6}", "NETCDF_DIM_time_VALUES": "{0,31,59.5}",
        "time#units": "days since 1999-01-01"}
    document = json.loads(dataset.GetMetadata_List("json:zarr.json")[0])
    assert document["attributes"]["a=b"] == "none"


@pytest.mark.parametrize("value,units,calendar,text", [
    (0, "days since 1970-01-01", "", "1970-01-01"),
    (-1, "hours since 2000-03-01", "standard", "2000-02-29T23:00:00"),
    (366, "days since 2000-01-01T00:00:00Z", "gregorian", "2001-01-01"),
    (1e9, "seconds since 1970-1-1 0:0:0", "proleptic_gregorian", "2001-09-09T01:46:40"),
    (90, "minutes since 1999-12-31 23:00", "", "2000-01-01T00:30:00"),
    (1.5e12, "milliseconds since 1970-01-01", "", "2017-07-14T02:40:00"),
    (10, "days since 2000-01-01", "noleap", None),
    (10, "months since 2000-01-01", "", None),
    (10, "days since 1200-01-01", "", None),
    (1e30, "days since 2000-01-01", "", None),
    (float("nan"), "days since 2000-01-01", "", None),
    (10, "days since yesterday", "", None),
])
def test_dates(store, value, units, calendar, text):
    path, root = store
    attributes = {"units": units, **({"calendar": calendar} if calendar else {})}
    put(root, "t", np.zeros((1, 2, 2)), dims=("time", "y", "x"))
    put(root, "time", np.array([value], "f8"), attributes, ("time",))
    dataset = opened(path)
    assert dataset.GetRasterBand(1).GetMetadataItem("DIM_time_TIME") == text


def test_scalars_and_lines_open_by_name(store):
    path, root = store
    put(root, "scalar", np.float32(7.5))
    put(root, "line", np.arange(9, dtype="i2"), chunks=(4,))
    assert opened(sub(path, "scalar")).ReadAsArray().tolist() == [[7.5]]
    assert opened(sub(path, "line")).ReadAsArray().tolist() == [list(range(9))]


def test_lists_of_arrays_that_another_program_has_resized(store):
    """Each item stays with its band, along one dimension, and an edit keeps it."""
    path, root = store
    names = {"long_name": ["red", "green", "blue"], "scales": [2, 3, 4]}
    put(root, "t", np.zeros((3, 20, 30), "u1"), names, ("band", "y", "x"))
    root["t"].resize((5, 20, 30))
    dataset = opened(path)
    assert [dataset.GetRasterBand(i).GetDescription() for i in (1, 3, 4)] == ["red", "blue", ""]
    assert [dataset.GetRasterBand(i).GetScale() or 1 for i in (3, 4)] == [4, 1]
    dataset = gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_UPDATE)
    dataset.GetRasterBand(5).SetDescription("nir")
    dataset = None
    assert zarr.open_array(path + "/t", mode="r").attrs["long_name"] == \
        ["red", "green", "blue", "", "nir"]
    root["t"].resize((2, 20, 30))
    assert opened(path).RasterCount == 2
    dataset = opened(path)
    assert dataset.GetRasterBand(2).GetDescription() == "green"
    put(root, "q", np.zeros((2, 2, 20, 30), "u1"), {"long_name": ["a", "b"]}, ("a", "b", "y", "x"))
    dataset = opened(sub(path, "q"))
    assert "a" not in [dataset.GetRasterBand(i + 1).GetDescription() for i in range(4)]
