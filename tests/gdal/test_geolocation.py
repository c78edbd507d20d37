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


@pytest.mark.parametrize("form", [{}, {"on_group": True}, {"bands": 2}, {"said": False},
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
    {"said": False, "dims": ("a", "b")}, {"dims": ("a", "b")}, {"name": "lon nothing"}, {"name": ""},
    {"east": {"standard_name": "projection_x_coordinate", "units": "m"}}], ids=str)
def test_others_are_not_taken_for_it(store, form):
    path, root = store
    swath(root, **form)
    dataset = opened(sub(path, "g/t"))
    assert "GEOLOCATION" not in dataset.GetMetadataDomainList()
    assert not dataset.GetMetadata("GEOLOCATION")


@pytest.mark.parametrize("crs, placed", [({}, False), ({"_CRS": "EPSG:32632"}, True)])
def test_coordinates_without_a_crs_give_way_to_geolocation(store, crs, placed):
    """As in GDAL's netCDF driver: the coordinates of a rotated pole that it cannot import are no degrees of WGS 84."""
    path, root = store
    swath(root)
    root["g/t"].update_attributes(crs)
    put(root["g"], "line", np.arange(20.0), dims=("line",))
    put(root["g"], "pixel", np.arange(30.0), dims=("pixel",))
    dataset = opened(sub(path, "g/t"))
    assert dataset.GetGeoTransform(can_return_null=True) == ((-0.5, 1, 0, -0.5, 0, 1) if placed else None)
    assert bool(dataset.GetMetadata("GEOLOCATION")) is not placed


def test_packed_arrays_are_unpacked(store, tmp_path):
    path, root = store
    group = root.create_group("g")
    put(group, "t", VALUES, {"coordinates": "lat lon"}, dims=("line", "pixel"))
    for name, values in (("longitude", LONGITUDE), ("latitude", LATITUDE)):
        packed = np.round((values - 5) / 1e-4).astype("int32")
        packed[0, 0] = -1
        put(group, name[:3], packed, {"standard_name": name, "scale_factor": 1e-4, "add_offset": 5.0,
                                      "_FillValue": -1}, dims=("line", "pixel"))
    dataset = opened(sub(path, "g/t"))
    found = gdal.Open(dataset.GetMetadataItem("X_DATASET", "GEOLOCATION"))
    assert abs(found.ReadAsArray()[1:] - LONGITUDE[1:]).max() < 1e-4
    assert found.ReadAsArray()[0, 0] == found.GetRasterBand(1).GetNoDataValue()
    run("gdalwarp", "-q", "-geoloc", "-t_srs", "EPSG:4326", "-dstnodata", "-1", sub(path, "g/t"),
        tmp_path / "out.tif")
    x, width, _, y, _, height = gdal.Open(str(tmp_path / "out.tif")).GetGeoTransform()
    assert abs(x - LONGITUDE.min()) < 0.1 and abs(y - LATITUDE.max()) < 0.1


def gaussian(root, x, y):
    put(root, "t", np.add.outer(np.zeros(y.size), x).astype("float32"), dims=("lat", "lon"))
    put(root, "lon", x, {"units": "degrees_east", "standard_name": "longitude"}, dims=("lon",))
    put(root, "lat", y, {"units": "degrees_north", "standard_name": "latitude"}, dims=("lat",))


def test_latitudes_of_a_gaussian_grid(store, tmp_path):
    path, root = store
    y = np.degrees(np.arcsin(np.polynomial.legendre.leggauss(24)[0]))[::-1]
    y[5:] -= 0.3
    gaussian(root, np.arange(0.0, 96, 2), y)
    dataset = opened(path)
    items = dataset.GetMetadata("GEOLOCATION")
    assert dataset.GetGeoTransform(can_return_null=True) is None
    assert (items["X_DATASET"], items["Y_DATASET"]) == (sub(path, "lon"), sub(path, "lat"))
    run("gdalwarp", "-q", "-geoloc", "-t_srs", "EPSG:4326", "-te", "10", "-60", "80", "60", "-tr", "1", "1",
        path, tmp_path / "out.tif")
    found = gdal.Open(str(tmp_path / "out.tif")).ReadAsArray()[60, 20]
    assert abs(found - 30.5) <= 2


def test_a_single_row_has_no_arrays_of_places(store):
    path, root = store
    gaussian(root, np.arange(0.0, 96, 2), np.array([45.0]))
    dataset = opened(path)
    assert dataset.GetGeoTransform(can_return_null=True) is None and not dataset.GetMetadata("GEOLOCATION")


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
