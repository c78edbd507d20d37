# SPDX-License-Identifier: MIT
"""Two-dimensional latitudes and longitudes, and a CRS whose code is a coordinate."""
import numpy as np
import pytest
from osgeo import gdal

from conftest import opened, put, run, sub

LONGITUDE = 10 + np.add.outer(np.arange(20) * 0.01, np.arange(30) * 0.1)
LATITUDE = 50 - np.add.outer(np.arange(20) * 0.1, np.arange(30) * 0.01)
VALUES = np.arange(600, dtype="int16").reshape(20, 30)


def swath(root, said=True, on_group=False, dims=("line", "pixel"), bands=None,
          east=None, north=None, name="lat lon"):
    group = root.create_group("g", attributes={"coordinates": name} if on_group else {})
    values = VALUES if bands is None else np.stack([VALUES] * bands)
    put(group, "t", values, {"coordinates": name} if said and not on_group else {},
        dims=("line", "pixel") if bands is None else ("n", "line", "pixel"))
    put(group, "lon", LONGITUDE, east or {"standard_name": "longitude"}, dims=dims)
    put(group, "lat", LATITUDE, north or {"units": "degrees_north"}, dims=dims)


@pytest.mark.parametrize("form", [{}, {"on_group": True}, {"bands": 2},
                                  {"east": {"units": "degrees_east"}},
                                  {"north": {"standard_name": "latitude"}}], ids=str)
def test_they_are_the_domain_geolocation(store, form):
    path, root = store
    swath(root, **form)
    dataset = opened(sub(path, "g/t"))
    assert "GEOLOCATION" in dataset.GetMetadataDomainList()
    items = dataset.GetMetadata("GEOLOCATION")
    assert (items["X_DATASET"], items["Y_DATASET"]) == (sub(path, "g/lon"), sub(path, "g/lat"))
    assert (gdal.Open(items["X_DATASET"]).ReadAsArray() == LONGITUDE).all()
    assert (gdal.Open(items["Y_DATASET"]).ReadAsArray() == LATITUDE).all()
    assert dataset.GetMetadataItem("GEOREFERENCING_CONVENTION", "GEOLOCATION") == "PIXEL_CENTER"


def test_gdalwarp_uses_them(store, tmp_path):
    path, root = store
    swath(root)
    run("gdalwarp", "-q", "-geoloc", "-t_srs", "EPSG:4326", "-dstnodata", "-1", sub(path, "g/t"),
        tmp_path / "out.tif")
    dataset = gdal.Open(str(tmp_path / "out.tif"))
    x, width, _, y, _, height = dataset.GetGeoTransform()
    column, row = int((LONGITUDE[10, 15] - x) / width), int((LATITUDE[10, 15] - y) / height)
    found = int(dataset.ReadAsArray()[row, column])
    assert abs(found // 30 - 10) <= 1 and abs(found % 30 - 15) <= 1


@pytest.mark.parametrize("form", [
    {"said": False}, {"dims": ("a", "b")}, {"name": "lon nothing"}, {"name": ""},
    {"east": {"standard_name": "projection_x_coordinate", "units": "m"}}], ids=str)
def test_others_are_not_taken_for_it(store, form):
    path, root = store
    swath(root, **form)
    dataset = opened(sub(path, "g/t"))
    assert "GEOLOCATION" not in dataset.GetMetadataDomainList()
    assert not dataset.GetMetadata("GEOLOCATION")


def test_a_geotransform_needs_no_geolocation(store):
    path, root = store
    swath(root)
    put(root["g"], "line", np.arange(20.0), dims=("line",))
    put(root["g"], "pixel", np.arange(30.0), dims=("pixel",))
    dataset = opened(sub(path, "g/t"))
    assert dataset.GetGeoTransform() == (-0.5, 1, 0, -0.5, 0, 1)
    assert not dataset.GetMetadata("GEOLOCATION")


def stack(root, code, said="epsg time"):
    """As stackstac's arrays come out of xarray."""
    put(root, "t", np.stack([VALUES] * 2), {"coordinates": said}, dims=("time", "y", "x"))
    put(root, "y", 9000 - 10.0 * np.arange(20), dims=("y",))
    put(root, "x", 500 + 10.0 * np.arange(30), dims=("x",))
    put(root, "epsg", code, dims=())


def test_the_coordinate_epsg(store):
    path, root = store
    stack(root, np.int64(32633))
    dataset = opened(sub(path, "t"))
    assert dataset.GetSpatialRef().GetAuthorityCode(None) == "32633"
    assert dataset.GetGeoTransform() == (495, 10, 0, 9005, 0, -10)


@pytest.mark.parametrize("code, said", [(np.int64(32633), "time"), (np.int64(5), "epsg"),
                                        (np.float64(32633.5), "epsg"), (np.int64(1024), "epsg"),
                                        (np.float64("nan"), "epsg")], ids=str)
def test_other_numbers_are_no_crs(store, code, said):
    path, root = store
    stack(root, code, said)
    assert opened(sub(path, "t")).GetSpatialRef() is None
