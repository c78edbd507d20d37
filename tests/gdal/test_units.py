# SPDX-License-Identifier: MIT
"""The meaning of coordinates and pixels: units of coordinates that are not those of the CRS, and
signs that `_Unsigned` gives. Compared with GDAL's netCDF driver, which has read both for long."""
import netCDF4
import numpy as np
import pytest
import xarray
from osgeo import gdal, osr

from conftest import Errors, opened, put, sub

PLANE = np.arange(6 * 8, dtype="int16").reshape(6, 8)
X, Y = 100 + 2.0 * np.arange(8), 62 - 2.0 * np.arange(6)
LAMBERT = {"grid_mapping_name": "lambert_conformal_conic", "standard_parallel": [63.0, 63.0],
           "longitude_of_central_meridian": 15.0, "latitude_of_projection_origin": 63.0,
           "earth_radius": 6371000.0}
HEIGHT = 35786023.0
GEOSTATIONARY = {"grid_mapping_name": "geostationary", "perspective_point_height": HEIGHT,
                 "semi_major_axis": 6378137.0, "semi_minor_axis": 6356752.31414,
                 "longitude_of_projection_origin": -75.0, "latitude_of_projection_origin": 0.0,
                 "sweep_angle_axis": "x"}


def wkt(definition):
    srs = osr.SpatialReference()
    srs.SetFromUserInput(definition)
    return srs.ExportToWkt(["FORMAT=WKT2_2019"])


UTM = {"crs_wkt": wkt("EPSG:32633")}
SATELLITE = {"crs_wkt": wkt("+proj=geos +h=35786023 +lon_0=-75 +sweep=x +ellps=GRS80")}


def write(store, mapping, units, x=X, y=Y, **attributes):
    path, root = store
    put(root, "t", PLANE, {"grid_mapping": "crs", **attributes}, ("y", "x"))
    put(root, "crs", np.int64(0), mapping)
    for name, values in (("x", x), ("y", y)):
        put(root, name, np.asarray(values), {
            "units": units, "standard_name": "projection_%s_coordinate" % name}, (name,))
    return path


def by_netcdf(tmp_path, mapping, units, x=X, y=Y):
    """The same raster as a netCDF file, opened by GDAL's driver for these."""
    path = str(tmp_path / "same.nc")
    with netCDF4.Dataset(path, "w") as file:
        for name, values in (("y", y), ("x", x)):
            file.createDimension(name, len(values))
            variable = file.createVariable(name, "f8", (name,))
            variable[:] = values
            variable.setncatts({"units": units,
                                "standard_name": "projection_%s_coordinate" % name})
        file.createVariable("crs", "i4", ()).setncatts(mapping)
        file.createVariable("t", "i2", ("y", "x"), fill_value=False).setncatts(
            {"grid_mapping": "crs"})
    with Errors():  # it complains of angles, and converts them
        return gdal.Open('NETCDF:"%s":t' % path)


@pytest.mark.parametrize("mapping,units,scale", [
    (LAMBERT, "m", 1), (LAMBERT, "km", 1), (GEOSTATIONARY, "rad", 1e-4),
    (GEOSTATIONARY, "radian", 1e-4), (GEOSTATIONARY, "microradian", 100)])
def test_units_as_gdals_netcdf_driver_has_them(store, tmp_path, mapping, units, scale):
    found = opened(write(store, mapping, units, X * scale, Y * scale))
    expected = by_netcdf(tmp_path, mapping, units, X * scale, Y * scale)
    assert np.allclose(found.GetGeoTransform(), expected.GetGeoTransform(), rtol=1e-9)
    assert found.GetSpatialRef().IsSame(expected.GetSpatialRef())
    assert found.GetSpatialRef().GetLinearUnits() == 1


METRES = np.array([99.0, 2, 0, 63, 0, -2])


@pytest.mark.parametrize("mapping,units,factor", [
    (UTM, "km", 1000), (UTM, "kilometers", 1000), (UTM, "1000 m", 1000), (UTM, "m", 1),
    (UTM, "metres", 1), (UTM, "cm", 0.01), (UTM, "US_survey_foot", 1200 / 3937),
    (UTM, "furlong", 1), (UTM, "", 1), (UTM, "1e999 m", 1), (UTM, "-1 km", 1), (UTM, "degrees", 1),
    ({"crs_wkt": wkt("EPSG:2225")}, "m", 3937 / 1200),
    ({"crs_wkt": wkt("EPSG:2225")}, "US_survey_foot", 1),
    ({"crs_wkt": wkt("EPSG:4326")}, "radians", 180 / np.pi),
    ({"crs_wkt": wkt("EPSG:4326")}, "degrees_north", 1), ({"crs_wkt": wkt("EPSG:4326")}, "km", 1),
    (SATELLITE, "rad", HEIGHT), (SATELLITE, "m", 1), (SATELLITE, "km", 1000),
    ({"crs_wkt": wkt("+proj=utm +zone=33 +units=km")}, "km", 1),
    ({"crs_wkt": wkt("+proj=utm +zone=33 +units=km")}, "m", 0.001)])
def test_coordinates_in_the_unit_of_the_crs(store, mapping, units, factor):
    dataset = opened(write(store, mapping, units))
    assert np.allclose(dataset.GetGeoTransform(), METRES * factor, rtol=1e-9)


def test_no_crs_no_unit(store):
    path, root = store
    put(root, "t", PLANE, dims=("y", "x"))
    put(root, "x", X, {"units": "km"}, ("x",))
    put(root, "y", Y, {"units": "km"}, ("y",))
    assert opened(path).GetGeoTransform() == tuple(METRES)


def test_a_false_easting_is_in_the_unit_of_the_coordinates(store):
    """CF says so."""
    dataset = opened(write(store, {**LAMBERT, "false_easting": 100.0}, "km"))
    assert dataset.GetSpatialRef().GetProjParm("false_easting") == 100000


def test_a_geotransform_beside_coordinates_in_kilometres(store):
    """A GeoTransform in metres agrees with the coordinates and wins, with its digits; one in
    kilometres does not."""
    path = write(store, {**UTM, "GeoTransform": "99000.5 2000 0 63000 0 -2000"}, "km")
    assert opened(path).GetGeoTransform() == (99000.5, 2000, 0, 63000, 0, -2000)
    put(store[1], "crs", np.int64(0), {**UTM, "GeoTransform": "99 2 0 63 0 -2"}, overwrite=True)
    assert opened(path).GetGeoTransform() == (99000, 2000, 0, 63000, 0, -2000)


def test_units_survive_an_edit(store):
    """Written coordinates are in the unit of the CRS, and read as such."""
    path = write(store, UTM, "km")
    dataset = gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_UPDATE)
    dataset.SetGeoTransform((5000, 1000, 0, 9000, 0, -1000))
    assert dataset.Close() == gdal.CE_None
    assert opened(path).GetGeoTransform() == (5000, 1000, 0, 9000, 0, -1000)
    data = xarray.open_zarr(path, consolidated=False)
    assert data["x"].values[0] == 5500 and data["x"].attrs["units"] == "m"


def test_coordinates_of_a_crs_in_grads(tmp_path):
    """They say their unit, so that a view, which keeps nothing else of the place, stays there."""
    path, part = str(tmp_path / "grads.zarr"), str(tmp_path / "part.zarr")
    source = gdal.GetDriverByName("MEM").Create("", 6, 5)
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(4807)
    source.SetSpatialRef(srs)
    source.SetGeoTransform((2, 0.5, 0, 50, 0, -0.5))
    gdal.GetDriverByName("Zarr3").CreateCopy(path, source).Close()
    assert opened(path).GetGeoTransform() == (2, 0.5, 0, 50, 0, -0.5)
    data = xarray.open_zarr(path, consolidated=False)
    assert data["x"].values[0] == 2.25 and data["x"].attrs["units"] == "0.9 degree"
    gdal.MultiDimTranslate(part, path, arraySpecs=["name=grads,view=[::-1,1:5]"])
    assert opened(part).GetGeoTransform() == pytest.approx((2.5, 0.5, 0, 47.5, 0, 0.5))


# stored type, _Unsigned, type of the pixels
SIGNS = [("int8", "true", "uint8"), ("int16", "true", "uint16"), ("int32", "true", "uint32"),
         ("int64", "true", "uint64"), ("uint8", "false", "int8"), ("uint16", "false", "int16"),
         ("int8", "TRUE", "uint8"), ("int8", "false", "int8"), ("uint8", "true", "uint8"),
         ("int8", True, "int8"), ("float32", "true", "float32"), ("int16", "yes", "int16")]


@pytest.mark.parametrize("stored,said,shown", SIGNS)
@pytest.mark.parametrize("options", [{}, dict(chunks=(4, 4), shards=(8, 8))], ids=["", "shards"])
def test_signs(store, stored, said, shown, options):
    path, root = store
    values = (np.arange(20 * 30) - 300).astype(stored).reshape(20, 30)
    put(root, "t", values, {"_Unsigned": said}, ("y", "x"), **options)
    dataset = opened(path)
    band = dataset.GetRasterBand(1)
    expected = values.view(shown)
    assert band.ReadAsArray().dtype == expected.dtype
    assert (band.ReadAsArray() == expected).all()
    assert (band.ReadAsArray(3, 4, 17, 11) == expected[4:15, 3:20]).all()
    for other in (gdal.GDT_Float64, gdal.GDT_Int32, gdal.GDT_Byte, gdal.GDT_Int16):
        memory = gdal.GetDriverByName("MEM").CreateCopy("", dataset)
        assert (band.ReadAsArray(buf_type=other)
                == memory.GetRasterBand(1).ReadAsArray(buf_type=other)).all()
    kind = gdal.GetDataTypeName(band.DataType)
    assert "_Unsigned" not in dataset.GetMetadata() and kind.lower() in (shown, "byte")
    assert "(%s)" % kind in describe_in_list(path, root)


def describe_in_list(path, root):
    put(root, "other", PLANE)
    dataset = opened(path)
    return next(text for name, text in dataset.GetSubDatasets() if name.endswith("/t"))


@pytest.mark.parametrize("stored,fill,attributes,expected", [
    ("int8", 0, {"_FillValue": -1}, 255), ("int8", -1, {}, 255), ("int8", 0, {"_FillValue": 7}, 7),
    ("int8", 0, {"_FillValue": 255}, 255), ("int8", 0, {"_FillValue": 300}, None),
    ("int8", 0, {"missing_value": -128}, 128), ("int16", 0, {"_FillValue": -1}, 65535),
    ("int32", 0, {"_FillValue": -1}, 2**32 - 1), ("int64", 0, {"_FillValue": -1}, 2**64 - 1),
    ("int64", -2**63, {}, 2**63), ("int16", -9999, {}, 55537)])
def test_nodata_of_unsigned_pixels(store, stored, fill, attributes, expected):
    path, root = store
    put(root, "t", np.zeros((4, 5), stored), {"_Unsigned": "true", **attributes}, fill_value=fill)
    dataset = opened(path)
    assert dataset.GetRasterBand(1).GetNoDataValue() == expected


@pytest.mark.parametrize("stored,shown,value,written", [
    ("int8", "uint8", 255, -1), ("int8", "uint8", 7, 7), ("int16", "uint16", 40000, -25536),
    ("int64", "uint64", 2**64 - 2, -2)])
@np.errstate(over="ignore")
def test_writing_unsigned_pixels(store, stored, shown, value, written):
    path, root = store
    put(root, "t", np.zeros((20, 30), stored), {"_Unsigned": "true"}, ("y", "x"), chunks=(8, 8))
    dataset = gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_UPDATE)
    band = dataset.GetRasterBand(1)
    assert band.SetNoDataValue(value) == gdal.CE_None
    pixels = (np.arange(20 * 30, dtype="u8") + np.uint64(value)).astype(shown)
    pixels = pixels.reshape(20, 30)
    band.WriteArray(pixels)
    band.WriteArray(np.full((3, 5), 77.4), 2, 1)  # converted
    pixels[1:4, 2:7] = 77
    assert (band.ReadAsArray() == pixels).all()
    assert dataset.Close() == gdal.CE_None
    dataset = opened(path)
    assert (dataset.ReadAsArray() == pixels).all()
    assert dataset.GetRasterBand(1).GetNoDataValue() == value
    assert (root["t"][:] == pixels.view(stored)).all()
    assert dict(root["t"].attrs) == {"_Unsigned": "true", "_FillValue": written}
    with xarray.open_zarr(path, consolidated=False, mask_and_scale=False) as data:
        assert int(data["t"].attrs["_FillValue"]) == written


def test_nodata_is_checked_by_the_type_that_is_shown(store):
    path, root = store
    put(root, "t", np.zeros((4, 5), "int8"), {"_Unsigned": "true"})
    dataset = gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_UPDATE)
    with Errors() as errors:
        assert dataset.GetRasterBand(1).SetNoDataValue(-1) != gdal.CE_None
    assert "uint8" in errors.failures[0]


def test_a_copy_of_unsigned_pixels_is_unsigned(store, tmp_path):
    path, root = store
    values = np.arange(-20, 20, dtype="int8").reshape(5, 8)
    put(root, "t", values, {"_Unsigned": "true", "_FillValue": -1}, ("y", "x"))
    copy = str(tmp_path / "copy.zarr")
    gdal.GetDriverByName("Zarr3").CreateCopy(copy, opened(path)).Close()
    dataset = opened(copy)
    assert (dataset.ReadAsArray() == values.view("uint8")).all()
    assert dataset.GetRasterBand(1).GetNoDataValue() == 255


def test_unsigned_coordinates(store):
    path, root = store
    put(root, "t", np.zeros((3, 6, 200), "u1"), dims=("time", "y", "x"))
    put(root, "x", np.arange(50, 250).astype("uint8").view("int8"), {"_Unsigned": "true"}, ("x",))
    put(root, "y", np.arange(6).astype("int16"), {"_Unsigned": "true", "scale_factor": 2.0}, ("y",))
    put(root, "time", np.array([0, 128, 255], "uint8").view("int8"), {"_Unsigned": "true"},
        ("time",))
    dataset = opened(sub(path, "t"))
    assert dataset.GetGeoTransform() == (49.5, 1, 0, -1, 0, 2)
    assert dataset.GetRasterBand(3).GetMetadataItem("DIM_time_VALUE") == "255"
