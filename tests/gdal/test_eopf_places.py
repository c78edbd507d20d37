# SPDX-License-Identifier: MIT
"""Places in ESA's EOPF products: control points of radar images, longitudes and latitudes that only EOPF's own
attributes name, and STAC's words for a CRS."""
import numpy as np
import pytest
from osgeo import gdal

from conftest import opened, put, run, sub

ITEM = {"stac_discovery": {"properties": {"platform": "sentinel-1a"}}}


def radar(root, product=True, **packed):
    """Its rows are times, its columns distances. Points lie on each 20th row and 30th column."""
    root.update_attributes(ITEM if product else {})
    image = root.create_group("S01_VV")
    measured, points = image.create_group("measurements"), image.create_group("conditions").create_group("gcp")
    put(measured, "grd", np.add.outer(np.arange(81), np.arange(91)).astype("uint16"),
        dims=("azimuth_time", "ground_range"))
    put(measured, "azimuth_time", 10**15 + 10**6 * np.arange(81), {"units": "nanoseconds since 2024-02-01"},
        dims=("azimuth_time",))
    put(measured, "ground_range", 10.0 * np.arange(91), dims=("ground_range",))
    line, pixel = np.arange(0, 81, 20), np.arange(0, 91, 30)
    put(points, "line", line.astype("uint32"), dims=("azimuth_time",))
    put(points, "pixel", pixel.astype("uint32"), dims=("ground_range",))
    for name, values in (("longitude", 10 + 0.01 * pixel - 0.002 * line[:, None]),
                         ("latitude", 50 - 0.01 * line[:, None] - 0.002 * pixel),
                         ("height", 5.0 + 0 * (pixel + line[:, None]))):
        put(points, name, values, dims=("azimuth_time", "ground_range"))
    return points


def test_control_points_of_a_radar_image(store, tmp_path):
    path, root = store
    radar(root)
    name = sub(path, "S01_VV/measurements/grd")
    dataset = opened(name)
    assert dataset.GetGeoTransform(can_return_null=True) is None
    assert dataset.GetGCPCount() == 20 and dataset.GetGCPSpatialRef().GetAuthorityCode(None) == "4326"
    last = dataset.GetGCPs()[-1]
    assert (last.GCPPixel, last.GCPLine, last.GCPZ) == (90, 80, 5)
    assert (last.GCPX, last.GCPY) == pytest.approx((10.74, 49.02))
    run("gdalwarp", "-q", "-order", "1", "-t_srs", "EPSG:4326", name, tmp_path / "w.tif")
    x, width, _, y, _, height = gdal.Open(str(tmp_path / "w.tif")).GetGeoTransform()
    assert abs(x - (10 - 0.16)) < 0.02 and abs(y - 50) < 0.02
    found = gdal.Open(str(tmp_path / "w.tif")).ReadAsArray()
    row, column = 40, 45
    at = 10 + 0.01 * column - 0.002 * row, 50 - 0.01 * row - 0.002 * column
    assert abs(int(found[int((at[1] - y) / height), int((at[0] - x) / width)]) - (row + column)) <= 2
    run("gdal_translate", "-q", name, tmp_path / "t.tif")
    assert gdal.Open(str(tmp_path / "t.tif")).GetGCPCount() == 20


def test_points_without_a_place_are_left_out(store):
    path, root = store
    points = radar(root)
    points["latitude"][1, 1] = np.nan
    assert opened(sub(path, "S01_VV/measurements/grd")).GetGCPCount() == 19


@pytest.mark.parametrize("spoil", ["no product", "another shape", "text"])
def test_others_are_no_control_points(store, spoil):
    path, root = store
    points = radar(root, product=spoil != "no product")
    if spoil == "another shape":
        put(points, "longitude", np.zeros((2, 2)), overwrite=True)
    elif spoil == "text":
        put(points, "latitude", np.full((5, 4), "north"), overwrite=True)
    assert opened(sub(path, "S01_VV/measurements/grd")).GetGCPCount() == 0


@pytest.mark.parametrize("on_group", [False, True])
def test_coordinates_that_only_eopf_names(store, on_group):
    """SLSTR: packed, and called so by no attribute of CF."""
    path, root = store
    root.update_attributes(ITEM)
    names = {"_eopf_attrs": {"coordinates": ["latitude", "longitude"], "dimensions": ["rows", "columns"]}}
    group = root.create_group("anadir", attributes=names if on_group else {})
    put(group, "s7", np.zeros((20, 30), "int16"), {} if on_group else names, dims=("rows", "columns"))
    for name, first in (("latitude", 50.0), ("longitude", 10.0)):
        put(group, name, (np.full((20, 30), first) * 1e6).astype("int32"), {"scale_factor": 1e-6},
            dims=("rows", "columns"))
    items = opened(sub(path, "anadir/s7")).GetMetadata("GEOLOCATION")
    for axis, value in (("X_DATASET", 10.0), ("Y_DATASET", 50.0)):
        assert (abs(gdal.Open(items[axis]).ReadAsArray() - value) < 1e-9).all()


@pytest.mark.parametrize("attributes, code", [
    ({"proj:epsg": 32632}, "32632"), ({"proj:epsg": "32632"}, "32632"), ({"proj:epsg": 999999}, None),
    ({"proj:wkt2": "EPSG:32632"}, "32632"), ({"proj:epsg": True}, None),
    ({"proj:code": "EPSG:32632"}, None), ({"proj:epsg": 32632, "zarr_conventions": [{"name": "x"}]}, None)], ids=str)
def test_stacs_words_on_an_array_that_declares_nothing(store, attributes, code):
    path, root = store
    put(root, "b02", np.zeros((6, 8)), attributes, dims=("y", "x"))
    srs = opened(path).GetSpatialRef()
    assert (srs and srs.GetAuthorityCode(None)) == code
