# SPDX-License-Identifier: MIT
"""Who says where a raster lies: all sources against each other, and what other programs make of the same data. The
driver tells its sources, in their order, by CPL_DEBUG: a new one without a line here fails."""
import itertools
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray
from osgeo import gdal, osr

from conftest import opened, put, run, sub

PROJ = {"uuid": "f17cb550-5864-4468-aeb7-f3180cfb622f"}
SPATIAL = {"uuid": "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4"}
PLANE = np.arange(48, dtype="float32").reshape(6, 8)
PAGE = Path(__file__).parents[2] / "docs" / "gdal.md"
TOLD = re.compile(r"ZARR3: /(\S*): (CRS|place) (by|not by) '([^']*)'(?:: (.*))?$")


def told(path, **options):
    """What is found, and the sources that were asked for it: {"CRS": [(name, reason)], ...}."""
    lines = {"CRS": [], "place": []}

    def note(kind, number, text):
        match = TOLD.match(text)
        if match:
            lines[match[2]].append((match[4], match[5]))

    gdal.PushErrorHandler(note)
    gdal.SetConfigOption("CPL_DEBUG", "ZARR3")
    try:
        dataset = opened(path, **options)
        srs, place = dataset.GetSpatialRef(), dataset.GetGeoTransform(can_return_null=True)
    finally:
        gdal.SetConfigOption("CPL_DEBUG", None)
        gdal.PopErrorHandler()
    return srs and srs.GetAuthorityCode(None), place, lines


def wkt(code):
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(code)
    return srs.ExportToWkt(["FORMAT=WKT2_2019"])


class Store:
    """What a combination of sources puts into a store; all of it is written at the end."""

    def __init__(self):
        self.array, self.group, self.others = {}, {}, {}

    def declare(self, attributes, convention):
        attributes.setdefault("zarr_conventions", []).append(convention)

    def write(self, root, sources):
        for source in sources:
            source(self)
        root.update_attributes(self.group)
        put(root, "t", PLANE, self.array, ("y", "x"))
        for name, (values, attributes, dims) in self.others.items():
            put(root, name, np.asarray(values), attributes, dims)


# ---- CRS: each says another code ----

def proj(s):
    s.declare(s.array, PROJ)
    s.array["proj:code"] = "EPSG:32601"


def proj_of_group(s):
    s.declare(s.group, PROJ)
    s.group["proj:code"] = "EPSG:32602"


def mapping(s):
    s.array["grid_mapping"] = "gm"
    s.others.setdefault("gm", (np.int64(0), {}, ()))[1]["crs_wkt"] = wkt(32603)


def gdal_attribute(s):
    s.array["_CRS"] = wkt(32604)


def stac(s):
    s.array["proj:epsg"] = 32605


def epsg(s):
    s.array["coordinates"] = "epsg"
    s.others["epsg"] = (np.int64(32606), {}, ())


def degrees(s):
    for name, values, units in (("x", 10 + np.arange(8.0), "degrees_east"),
                                ("y", 50 - np.arange(6.0), "degrees_north")):
        s.others[name] = (values, {"units": units}, (name,))


def eopf(s):
    s.group["stac_discovery"] = {"properties": {"proj:epsg": 32608}}


CRS = {"proj": (proj, "32601"), "proj of a group": (proj_of_group, "32602"), "grid mapping": (mapping, "32603"),
       "_CRS": (gdal_attribute, "32604"), "proj of STAC": (stac, "32605"), "coordinate epsg": (epsg, "32606"),
       "degrees east and north": (degrees, "4326"), "EOPF": (eopf, "32608")}


# ---- Places: each puts it elsewhere ----

def ome(s):
    s.group["ome"] = {"version": "0.5", "multiscales": [{
        "axes": [{"name": "y", "type": "space"}, {"name": "x", "type": "space"}],
        "datasets": [{"path": "t", "coordinateTransformations": [
            {"type": "scale", "scale": [0.5, 0.25]}, {"type": "translation", "translation": [7, 3]}]}]}]}


def spatial(s):
    s.declare(s.array, SPATIAL)
    s.array.update({"spatial:dimensions": ["y", "x"], "spatial:transform": [10, 0, 1000, 0, -10, 2000]})


def geotransform(s):
    s.array["grid_mapping"] = "gm"
    s.others.setdefault("gm", (np.int64(0), {}, ()))[1]["GeoTransform"] = "3000 10 0 4000 0 -10"


def transform_attribute(s):
    s.array["_TRANSFORM"] = [10, 0, 5000, 0, -10, 6000, 0, 0, 1]


def plotted(x0=7005, y0=7995, step=10):
    def coordinates(s):
        s.others["x"] = (x0 + step * np.arange(8.0), {}, ("x",))
        s.others["y"] = (y0 - step * np.arange(6.0), {}, ("y",))
    return coordinates


PLACES = {"OME": (ome, (2.875, 0.25, 0, 6.75, 0, 0.5)), "spatial": (spatial, (1000, 10, 0, 2000, 0, -10)),
          "GeoTransform": (geotransform, (3000, 10, 0, 4000, 0, -10)),
          "_TRANSFORM": (transform_attribute, (5000, 10, 0, 6000, 0, -10)),
          "coordinates": (plotted(), (7000, 10, 0, 8000, 0, -10))}
STATED = ("spatial", "GeoTransform", "_TRANSFORM")


def test_the_sources_of_the_driver_are_those_of_this_matrix_and_of_the_page(store):
    path, root = store
    Store().write(root, [])
    srs, place, lines = told(path)
    assert (srs, place) == (None, None)
    assert [name for name, _ in lines["CRS"]] == list(CRS)
    assert [name for name, _ in lines["place"]] == list(PLACES)
    rows = re.findall(r"^\| \d+ \| `([^`]+)` \|", PAGE.read_text(), re.MULTILINE)
    assert rows == list(CRS) + list(PLACES)


@pytest.mark.parametrize("first, second", itertools.combinations(CRS, 2))
def test_the_first_crs_wins(store, first, second):
    path, root = store
    Store().write(root, [CRS[first][0], CRS[second][0]])
    srs, _, lines = told(path)
    assert srs == CRS[first][1]
    assert lines["CRS"][-1] == (first, None)


@pytest.mark.parametrize("name", CRS)
def test_each_crs_alone(store, name):
    path, root = store
    Store().write(root, [CRS[name][0]])
    assert told(path)[0] == CRS[name][1]


@pytest.mark.parametrize("first, second", itertools.combinations(PLACES, 2))
def test_the_first_place_wins_unless_coordinates_contradict_it(store, first, second):
    path, root = store
    Store().write(root, [PLACES[first][0], PLACES[second][0]])
    place = told(path, OME_PLACE="YES" if first == "OME" else "NO")[1]
    winner = second if second == "coordinates" and first in STATED else first
    assert place == PLACES[winner][1]


@pytest.mark.parametrize("name", PLACES)
def test_each_place_alone(store, name):
    path, root = store
    Store().write(root, [PLACES[name][0]])
    assert told(path, OME_PLACE="YES")[1] == PLACES[name][1]
    if name == "OME":
        assert told(path)[1] is None


def counted_from(first):
    def coordinates(s):
        s.others["x"] = (first + np.arange(8.0), {"units": "pixel"}, ("x",))
        s.others["y"] = (first + np.arange(6.0), {"units": "pixel"}, ("y",))
    return coordinates


def irregular(s):
    s.others["x"] = (np.arange(8.0) ** 2, {}, ("x",))
    s.others["y"] = (-np.arange(6.0), {}, ("y",))


def times(s):
    s.others["x"] = (1000 * np.arange(8.0), {}, ("x",))
    s.others["y"] = (np.arange(6.0), {"units": "days since 2000-01-01"}, ("y",))


@pytest.mark.parametrize("coordinates", [counted_from(0), counted_from(0.5), irregular, times],
                         ids=["from 0", "from 0.5", "irregular", "times"])
@pytest.mark.parametrize("name", STATED)
def test_coordinates_that_are_no_map_contradict_nothing(store, name, coordinates):
    path, root = store
    Store().write(root, [PLACES[name][0], coordinates])
    assert told(path)[1] == PLACES[name][1]


def test_a_place_that_is_left_behind_gives_way(store):
    """Of another shape."""
    path, root = store
    Store().write(root, [spatial, geotransform, lambda s: s.array.update({"spatial:shape": [60, 80]})])
    _, place, lines = told(path)
    assert place == PLACES["GeoTransform"][1]
    assert ("spatial", "it is for another shape") in lines["place"]


@pytest.mark.parametrize("value, place", [
    ([10, 0, 5000, 0, -10, 6000], (5000, 10, 0, 6000, 0, -10)),
    ([10, 0, 5000, 0, -10, 6000, 0, 0, 1], (5000, 10, 0, 6000, 0, -10)),
    ([5000, 10, 0, 6000, 0, -10], (5000, 10, 0, 6000, 0, -10)),
    ([10, 1, 5000, 2, -10, 6000], (5000, 10, 1, 6000, 2, -10)),
    ([10, 0, 5000, 0, -10, 6000, 1, 0, 1], None), ([0] * 6, None), ("text", None)], ids=str)
def test_the_attribute_transform(store, value, place):
    path, root = store
    Store().write(root, [lambda s: s.array.update({"_TRANSFORM": value})])
    assert told(path)[1] == place


# ---- Grid mappings ----

CONE = {"grid_mapping_name": "lambert_conformal_conic", "standard_parallel": [30.0, 60.0],
        "longitude_of_central_meridian": -97.0, "latitude_of_projection_origin": 40.0, "earth_radius": 6370000.0}


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("value", [np.int32(0), b"", "", b"crs", np.array("crs", "U3"), np.array(b"a", "S1"),
                                   np.array([b"a"], "S1"), np.array(["x"], "U1")], ids=repr)
def test_a_grid_mapping_of_any_type(tmp_path, value, version):
    path = str(tmp_path / "x.zarr")
    metres = {"units": "m"}
    dims = ("one",) if np.ndim(value) else ()
    data = xarray.Dataset({"v": (("y", "x"), PLANE, {"grid_mapping": "crs"}), "crs": (dims, value, CONE)},
                          coords={"x": ("x", 1000.0 * np.arange(8), metres),
                                  "y": ("y", 1000.0 * np.arange(6), metres)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data.to_zarr(path, zarr_format=version, consolidated=False)
    dataset = opened("ZARR3:" + path + ":/v")
    assert dataset.GetSpatialRef().GetProjParm("central_meridian") == -97
    group = gdal.OpenEx("ZARR3:" + path, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert group.OpenMDArray("v").GetSpatialRef().IsProjected()


def rotated(pole):
    """As CORDEX has it."""
    shape = (42, 60)
    x, y = -28.375 + 0.11 * np.arange(60), -23.375 + 0.11 * np.arange(42)
    return xarray.Dataset(
        {"tas": (("rlat", "rlon"), np.zeros(shape, "f4"), {"grid_mapping": "rotated_pole"}),
         "rotated_pole": ((), np.int32(0), pole)},
        coords={"lon": (("rlat", "rlon"), x + np.zeros(shape), {"units": "degrees_east"}),
                "lat": (("rlat", "rlon"), y[:, None] + np.zeros(shape), {"units": "degrees_north"}),
                "rlat": ("rlat", y, {"units": "degrees", "standard_name": "grid_latitude", "axis": "Y"}),
                "rlon": ("rlon", x, {"units": "degrees", "standard_name": "grid_longitude", "axis": "X"})})


POLE = {"grid_mapping_name": "rotated_latitude_longitude", "grid_north_pole_latitude": 39.25,
        "grid_north_pole_longitude": -162.0}


@pytest.mark.parametrize("mapping", [POLE, {"grid_mapping_name": "healpix", "healpix_nside": 4}, {
    "grid_mapping_name": "of nobody"}], ids=lambda m: m["grid_mapping_name"])
def test_a_mapping_that_gdal_cannot_import_lets_the_next_source_speak(tmp_path, mapping):
    path = str(tmp_path / "x.zarr")
    rotated(mapping).to_zarr(path, zarr_format=3, consolidated=False)
    dataset = opened(sub(path, "tas"))
    rotated(mapping).to_netcdf(tmp_path / "x.nc")
    theirs = gdal.Open("NETCDF:%s:tas" % (tmp_path / "x.nc")).GetSpatialRef()
    if theirs:  # GDAL 3.13 knows rotated poles
        assert dataset.GetSpatialRef().IsSame(theirs) and dataset.GetGeoTransform(can_return_null=True)
        return
    assert dataset.GetSpatialRef() is None
    assert dataset.GetGeoTransform(can_return_null=True) is None
    assert dataset.GetMetadataItem("X_DATASET", "GEOLOCATION") == sub(path, "lon")
    data = rotated(mapping)
    data["tas"].attrs["_CRS"] = wkt(3035)
    data.to_zarr(str(tmp_path / "y.zarr"), zarr_format=3, consolidated=False)
    srs, _, lines = told(sub(tmp_path / "y.zarr", "tas"))
    assert srs == "3035" and ("grid mapping", "GDAL makes no CRS of it") in lines["CRS"]


# ---- Beside GDAL's netCDF driver ----

def grid(y, x, dims=("lat", "lon"), y_attributes=None, x_attributes=None):
    north = {"units": "degrees_north", "standard_name": "latitude"}
    east = {"units": "degrees_east", "standard_name": "longitude"}
    y, x = np.asarray(y, "f8"), np.asarray(x, "f8")
    return xarray.Dataset({"t": (dims, np.zeros((y.size, x.size), "f4"))},
                          coords={dims[0]: (dims[0], y, y_attributes or north),
                                  dims[1]: (dims[1], x, x_attributes or east)})


ROWS = np.arange(50.0, 45, -1)
SAME = {
    "plain": grid(ROWS, np.arange(10)),
    "across 360": grid(ROWS, np.r_[300:360, 0:20]),
    "across 180": grid(ROWS, np.r_[170:180, -180:-170]),
    "a whole turn": grid(ROWS, np.arange(360)),
    "a single row": grid([45], np.arange(10)),
    "a single column": grid(np.arange(10), [45]),
    "two rows": grid([45, 44], np.arange(10)),
    "Gaussian": grid([80, 60, 35, 0, -35, -60, -80], np.arange(10)),
    "time and longitude": grid(np.arange(5), np.arange(10), ("time", "lon"),
                               {"units": "days since 2000-01-01", "standard_name": "time"}),
    "depth and longitude": grid(np.arange(5), np.arange(10), ("depth", "lon"), {"units": "m", "positive": "down"}),
    "height and longitude": grid(np.arange(5), np.arange(10), ("z", "lon"), {"units": "m"}),
    "bands and longitude": grid(np.arange(5), np.arange(10), ("band", "lon"), {"long_name": "band"}),
    "rotated pole": rotated(POLE).rename(tas="t"),
    "rotated pole of a sphere": rotated({**POLE, "earth_radius": 6371229.0}).rename(tas="t"),
}


@pytest.mark.skipif(gdal.GetDriverByName("netCDF") is None, reason="GDAL is built without netCDF")
@pytest.mark.parametrize("name", SAME)
def test_the_place_is_that_of_the_netcdf_driver(tmp_path, name):
    data, found = SAME[name], []
    data.to_netcdf(tmp_path / "x.nc", encoding={v: {"_FillValue": None} for v in data.variables})
    data.to_zarr(str(tmp_path / "x.zarr"), zarr_format=3, consolidated=False)
    with gdal.ExceptionMgr(useExceptions=False):
        gdal.PushErrorHandler("CPLQuietErrorHandler")
        for path in (f'NETCDF:"{tmp_path}/x.nc":t', sub(tmp_path / "x.zarr", "t")):
            dataset = gdal.Open(path)
            items = dataset.GetMetadata("GEOLOCATION")
            place = dataset.GetGeoTransform(can_return_null=True)
            arrays = [re.split("[:/]", items[axis])[-1] for axis in ("X_DATASET", "Y_DATASET") if items]
            if place and place[5] > 0:  # the netCDF driver turns rows round
                place = (*place[:3], place[3] + place[5] * dataset.RasterYSize, 0, -place[5])
            found.append((place and [round(number, 9) for number in place], arrays if not place else []))
            dataset = None
        gdal.PopErrorHandler()
    assert found[1] == found[0]


def test_longitudes_beyond_180_stay_as_xarray_plots_them(tmp_path):
    """The one difference from the netCDF driver, which moves them by a turn."""
    grid(ROWS, np.arange(200, 210)).to_zarr(str(tmp_path / "x.zarr"), zarr_format=3, consolidated=False)
    assert opened(tmp_path / "x.zarr").GetGeoTransform()[0] == 199.5


def test_cells_in_one_dimension_have_no_place(tmp_path):
    """Of healpix, whose cells GDAL's domain GEOLOCATION cannot place: it would lay times along latitudes."""
    data = xarray.Dataset({"t": (("time", "cell"), np.zeros((5, 10), "f4"))},
                          coords={"lat": ("cell", np.arange(10.0), {"standard_name": "latitude"}),
                                  "lon": ("cell", np.arange(10.0), {"standard_name": "longitude"})})
    data.to_zarr(str(tmp_path / "x.zarr"), zarr_format=3, consolidated=False)
    dataset = opened(sub(tmp_path / "x.zarr", "t"))
    assert dataset.GetGeoTransform(can_return_null=True) is None and not dataset.GetMetadata("GEOLOCATION")
