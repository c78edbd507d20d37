# SPDX-License-Identifier: MIT
"""CRS and geotransform from every source, in their order, compared with the positions at which
xarray would plot."""
import numpy as np
import pytest
import xarray
from osgeo import gdal, osr

from conftest import extension, opened, put, run, sub

PROJ = {"uuid": "f17cb550-5864-4468-aeb7-f3180cfb622f", "name": "proj:"}
SPATIAL = {"uuid": "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4", "name": "spatial:"}
SCHEMA_ONLY = {
    "schema_url": "https://raw.githubusercontent.com/zarr-experimental/geo-proj/v1/s.json"}
UTM = osr.SpatialReference()
UTM.ImportFromEPSG(32725)
WKT = UTM.ExportToWkt(["FORMAT=WKT2_2019"])
PLANE = np.arange(6 * 8, dtype="float32").reshape(6, 8)


def code(dataset):
    srs = dataset.GetSpatialRef()
    return srs.GetAuthorityCode(None) if srs else None


def raster(store, attributes=None, dims=("y", "x"), group=None, **coordinates):
    path, root = store
    if group:
        root.update_attributes(group)
    put(root, "t", PLANE, attributes, dims)
    for name, values in coordinates.items():
        put(root, name, np.asarray(values), dims=(name,))
    return opened(path)


def test_nothing_is_invented(store):
    dataset = raster(store)
    assert dataset.GetSpatialRef() is None
    assert dataset.GetGeoTransform(can_return_null=True) is None


@pytest.mark.parametrize("key,value", [
    ("proj:code", "EPSG:32725"), ("proj:wkt2", WKT),
    ("proj:projjson", None)])
def test_proj_convention(store, key, value):
    import json
    value = value or json.loads(UTM.ExportToPROJJSON())
    assert code(raster(store, {"zarr_conventions": [PROJ], key: value})) == "32725"


def test_proj_convention_by_schema_address(store):
    dataset = raster(store, {"zarr_conventions": [SCHEMA_ONLY], "proj:code": "EPSG:32725"})
    assert code(dataset) == "32725"


def test_proj_needs_its_declaration(store):
    for conventions in ([], [{"name": "proj:"}], [SPATIAL], "proj"):
        path, root = store
        put(root, "t", PLANE, {"zarr_conventions": conventions, "proj:code": "EPSG:32725"},
            overwrite=True)
        assert code(opened(path)) is None


def test_proj_is_inherited_and_overridden(store):
    group = {"zarr_conventions": [PROJ], "proj:code": "EPSG:32725"}
    assert code(raster(store, group=group)) == "32725"
    path, root = store
    put(root, "t", PLANE, {"zarr_conventions": [PROJ], "proj:code": "EPSG:3857"}, overwrite=True)
    assert code(opened(path)) == "3857"


def test_proj_reaches_direct_children_only(store):
    path, root = store
    root.update_attributes({"zarr_conventions": [PROJ], "proj:code": "EPSG:32725"})
    put(root.create_group("g"), "t", PLANE)
    assert code(opened(path)) is None


TRANSFORM = {"zarr_conventions": [SPATIAL], "spatial:dimensions": ["y", "x"],
             "spatial:transform": [10.0, 1.0, 500.0, 2.0, -20.0, 9000.0]}


def test_spatial_transform_is_affine_order(store):
    assert raster(store, TRANSFORM).GetGeoTransform() == (500, 10, 1, 9000, 2, -20)


def test_spatial_transform_of_nodes(store):
    dataset = raster(store, {**TRANSFORM, "spatial:registration": "node"})
    assert dataset.GetGeoTransform() == (500 - 5.5, 10, 1, 9000 + 9, 2, -20)


CELLS = {**TRANSFORM, "spatial:registration": "pixel"}
NODES = {**TRANSFORM, "spatial:registration": "node"}


@pytest.mark.parametrize("attributes, group, expected", [
    (None, None, None), (TRANSFORM, None, "Area"), (CELLS, None, "Area"), (NODES, None, "Point"),
    (None, NODES, "Point"), (CELLS, NODES, "Area"), (TRANSFORM, NODES, "Area"),
    # an item that a program has written counts, as all items do
    ({**CELLS, "AREA_OR_POINT": "Point"}, None, "Point")])
def test_registration_is_shown(store, attributes, group, expected):
    assert raster(store, attributes, group=group).GetMetadataItem("AREA_OR_POINT") == expected


def test_spatial_box(store):
    box = {"zarr_conventions": [SPATIAL], "spatial:bbox": [100, 200, 180, 260]}
    assert raster(store, box).GetGeoTransform() == (100, 10, 0, 260, 0, -10)


def test_spatial_is_inherited_unless_the_shape_differs(store):
    assert raster(store, group=TRANSFORM).GetGeoTransform() == (500, 10, 1, 9000, 2, -20)
    path, root = store
    root.update_attributes({**TRANSFORM, "spatial:shape": [60, 80]})
    assert opened(path).GetGeoTransform(can_return_null=True) is None
    root.update_attributes({**TRANSFORM, "spatial:shape": [6, 8]})
    assert opened(path).GetGeoTransform() == (500, 10, 1, 9000, 2, -20)


def test_spatial_dimensions_choose_the_axes(store):
    path, root = store
    put(root, "t", PLANE, {"zarr_conventions": [SPATIAL], "spatial:dimensions": ["a", "b"]},
        ("b", "a"))
    dataset = opened(path)
    assert (dataset.RasterXSize, dataset.RasterYSize) == (6, 8)
    assert (dataset.ReadAsArray() == PLANE.T).all()


def test_unusable_transforms_are_passed_over(store):
    for bad in ([0, 0, 500, 0, 0, 9], [1, 2, 3], [1, 0, float("nan"), 0, -1, 0], "1 0 0 0 1 0"):
        path, root = store
        put(root, "t", PLANE, {"zarr_conventions": [SPATIAL], "spatial:transform": bad},
            overwrite=True)
        assert opened(path).GetGeoTransform(can_return_null=True) is None


def grid_mapping(store, attributes, name="spatial_ref"):
    put(store[1], name, np.int64(0), attributes)


@pytest.mark.parametrize("attributes", [
    {"crs_wkt": WKT}, {"spatial_ref": WKT}, {"spatial_ref": "EPSG:32725"},
    {"grid_mapping_name": "transverse_mercator", "longitude_of_central_meridian": -33.0,
     "latitude_of_projection_origin": 0.0, "false_easting": 500000.0, "false_northing": 1e7,
     "scale_factor_at_central_meridian": 0.9996, "semi_major_axis": 6378137.0,
     "inverse_flattening": 298.257223563}])
def test_cf_grid_mapping(store, attributes):
    grid_mapping(store, attributes)
    srs = raster(store, {"grid_mapping": "spatial_ref"}).GetSpatialRef()
    assert srs.IsProjected() and srs.GetProjParm("central_meridian") == -33


def test_cf_grid_mapping_geotransform_and_extended_name(store):
    grid_mapping(store, {"crs_wkt": WKT, "GeoTransform": "500 10 0 9000 0 -20"}, "crs_utm")
    dataset = raster(store, {"grid_mapping": "crs_utm: x y"})
    assert code(dataset) == "32725"
    assert dataset.GetGeoTransform() == (500, 10, 0, 9000, 0, -20)


def test_spatial_ref_variable_is_found_without_the_attribute(store):
    grid_mapping(store, {"crs_wkt": WKT})
    assert code(raster(store)) == "32725"


@pytest.mark.parametrize("shape, shift, expected", [
    ([6, 8], 0, "3857"), ([5, 8], 0, "32725"), ([6, 8], 1000, "32725")])
def test_crs_that_a_reprojection_left_behind(store, shape, shift, expected):
    """rioxarray writes the grid mapping anew, and takes attributes of the raster before along."""
    grid_mapping(store, {"crs_wkt": WKT})
    attributes = {**TRANSFORM, "zarr_conventions": [PROJ, SPATIAL], "proj:code": "EPSG:3857",
                  "spatial:shape": shape, "grid_mapping": "spatial_ref"}
    attributes["spatial:transform"] = [10, 0, 500, 0, -20, 9000]
    assert code(raster(store, attributes, x=505.0 + 10 * np.arange(8) + shift,
                       y=8990.0 - 20 * np.arange(6))) == expected
    array = gdal.OpenEx(store[0], gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("t")
    assert array.GetSpatialRef().GetAuthorityCode(None) == expected


def test_a_crop_keeps_the_crs_that_says_more(store):
    """The parameters of CF give a CRS without a name or a code."""
    grid_mapping(store, {"grid_mapping_name": "transverse_mercator", "longitude_of_central_meridian": -33.0,
                         "latitude_of_projection_origin": 0.0, "false_easting": 500000.0, "false_northing": 1e7,
                         "scale_factor_at_central_meridian": 0.9996, "semi_major_axis": 6378137.0,
                         "inverse_flattening": 298.257223563})
    assert code(raster(store, {"zarr_conventions": [PROJ, SPATIAL], "proj:code": "EPSG:32725",
                               "spatial:shape": [60, 80], "grid_mapping": "spatial_ref"})) == "32725"


def test_geotransform_gives_way_to_coordinates_that_contradict_it(store):
    """xarray plots by coordinates; a GeoTransform that was not turned round with them does not
    count."""
    grid_mapping(store, {"crs_wkt": WKT, "GeoTransform": "0 10 0 60 0 -10"})
    dataset = raster(store, {"grid_mapping": "spatial_ref"},
                     x=5.0 + 10 * np.arange(8), y=5.0 + 10 * np.arange(6))
    assert dataset.GetGeoTransform() == (0, 10, 0, 0, 0, 10)


def test_geotransform_wins_over_coordinates_that_agree(store):
    grid_mapping(store, {"crs_wkt": WKT, "GeoTransform": "0.125 10 0 60 0 -10"})
    dataset = raster(store, {"grid_mapping": "spatial_ref"},
                     x=5.0 + 10 * np.arange(8), y=55.0 - 10 * np.arange(6))
    assert dataset.GetGeoTransform() == (0.125, 10, 0, 60, 0, -10)


@pytest.mark.parametrize("crs", [
    {"url": "http://www.opengis.net/def/crs/EPSG/0/32725"}, {"wkt": WKT},
    {"projjson": __import__("json").loads(UTM.ExportToPROJJSON())}])
def test_gdal_attribute(store, crs):
    assert code(raster(store, {"_CRS": crs})) == "32725"


def test_order_of_sources(store):
    """Each is dropped in turn and the next one answers."""
    path, root = store
    grid_mapping(store, {"spatial_ref": "EPSG:3857"})
    attributes = {"zarr_conventions": [PROJ], "proj:code": "EPSG:32725",
                  "grid_mapping": "spatial_ref", "_CRS": {"wkt": "EPSG:3395"}}
    seen = []
    for dropped in (None, "proj:code", "grid_mapping", "_CRS"):
        attributes.pop(dropped, None)
        if dropped == "grid_mapping":
            del root["spatial_ref"]
        put(root, "t", PLANE, attributes, overwrite=True)
        seen.append(code(opened(path)))
    assert seen == ["32725", "3857", "3395", None]


def test_hostile_definitions_reach_no_file(store, tmp_path):
    target = tmp_path / "crs.wkt"
    target.write_text(WKT)
    for text in (str(target), "file://" + str(target), "/vsicurl/http://localhost:1/x"):
        path, root = store
        put(root, "t", PLANE, {"zarr_conventions": [PROJ], "proj:wkt2": text}, overwrite=True)
        assert opened(path).GetSpatialRef() is None


def xarray_position(path, row, col):
    data = xarray.open_zarr(path, consolidated=False)["t"]
    return float(data[data.dims[1]][col]), float(data[data.dims[0]][row]), float(data[row, col])


@pytest.mark.parametrize("y", [55.0 - 10 * np.arange(6), 5.0 + 10 * np.arange(6)],
                         ids=["north-up", "south-up"])
@pytest.mark.parametrize("x", [5.0 + 10 * np.arange(8), 75.0 - 10 * np.arange(8)],
                         ids=["eastward", "westward"])
def test_coordinates_give_the_map_of_xarray(store, x, y):
    dataset = raster(store, x=x, y=y)
    t = dataset.GetGeoTransform()
    for row in (0, 2, 5):
        for col in (0, 3, 7):
            place = (t[0] + (col + .5) * t[1], t[3] + (row + .5) * t[5])
            value = dataset.ReadAsArray(col, row, 1, 1)[0, 0]
            assert (*place, value) == xarray_position(store[0], row, col)


def test_south_up_map_survives_gdalwarp(store, tmp_path):
    """The value at each map position is the same after GDAL has turned the raster north-up."""
    dataset = raster(store, {"_CRS": {"wkt": WKT}}, x=5.0 + 10 * np.arange(8),
                     y=5.0 + 10 * np.arange(6))
    assert dataset.GetGeoTransform()[5] == 10
    out = str(tmp_path / "warped.tif")
    run("gdalwarp", "-q", store[0], out)
    from osgeo import gdal
    warped = gdal.Open(out)
    assert warped.GetGeoTransform() == (0, 10, 0, 60, 0, -10)
    assert (warped.ReadAsArray() == PLANE[::-1]).all()


def test_coordinates_by_float32_and_packed_integers(store):
    lon = np.linspace(0.05, 359.95, 3600).astype("float32")
    path, root = store
    put(root, "t", np.zeros((4, 3600), "u1"), dims=("lat", "lon"))
    put(root, "lon", lon, {"units": "degrees_east"}, ("lon",))
    put(root, "lat", np.array([30, 20, 10, 0], "i2"),
        {"units": "degrees_north", "scale_factor": 0.01, "add_offset": 45.0}, ("lat",))
    dataset = opened(path)
    t = dataset.GetGeoTransform()
    assert np.allclose(t, (0, 0.1, 0, 45.35, 0, -0.1), atol=1e-5)
    assert code(dataset) == "4326"
    assert dataset.GetSpatialRef().GetDataAxisToSRSAxisMapping() == [2, 1]


def test_irregular_and_single_coordinates_give_no_transform(store):
    dataset = raster(store, x=np.array([0, 1, 2, 4, 8, 16, 32, 64.0]), y=np.arange(6.0))
    assert dataset.GetGeoTransform(can_return_null=True) is None
    path, root = store
    put(root, "one", np.zeros((1, 8)), dims=("z", "x"))
    assert opened(sub(path, "one")).GetGeoTransform(can_return_null=True) is None


def test_coordinates_of_groups_above(store):
    path, root = store
    put(root, "x", 5.0 + 10 * np.arange(8), dims=("x",))
    put(root, "y", 5.0 + 10 * np.arange(6), dims=("y",))
    put(root.create_group("g"), "t", PLANE, dims=("y", "x"))
    assert opened(path).GetGeoTransform() == (0, 10, 0, 0, 0, 10)
    assert opened(path + "/g/t").GetGeoTransform() == (0, 10, 0, 0, 0, 10)


@pytest.mark.parametrize("data, dims", [
    (np.arange(7.0), ("x",)),  # another length
    (np.zeros((8, 2)), ("x", "corner")),
    (np.float64(3), ()),
    (np.arange(8.0), ("lon",)),  # along another dimension
], ids=["length", "2-D", "scalar", "dimension"])
def test_namesakes_of_coordinates_are_passed(store, data, dims):
    path, root = store
    put(root, "x", 5.0 + 10 * np.arange(8), dims=("x",))
    put(root, "y", 5.0 + 10 * np.arange(6), dims=("y",))
    group = root.create_group("g")
    put(group, "t", PLANE, dims=("y", "x"))
    put(group, "x", data, dims=dims)
    assert opened(path + "/g/t").GetGeoTransform() == (0, 10, 0, 0, 0, 10)
    assert opened(path + "/g/t").GetMetadataItem("DIM_x_VALUE") is None


def test_coordinates_whose_dimensions_have_no_names(store):
    """Coordinates count beside the array that they fit, not further up."""
    path, root = store
    put(root, "x", 5.0 + 10 * np.arange(8))
    put(root, "y", 5.0 + 10 * np.arange(6))
    put(root, "t", PLANE, dims=("y", "x"))
    put(root.create_group("g"), "t", PLANE, dims=("y", "x"))
    assert opened(path + "/t").GetGeoTransform() == (0, 10, 0, 0, 0, 10)
    assert opened(path + "/g/t").GetGeoTransform(can_return_null=True) is None


ITRF = "EPSG:9000@2020.5"


@pytest.mark.parametrize("attributes", [
    {"proj:code": ITRF}, {"proj:code": "EPSG:9000", "zarrbridge:coordinate_epoch": 2020.5},
    {"proj:code": "EPSG:9000", **extension(coordinate_epoch=2020.5)},
    {"proj:wkt2": "COORDINATEMETADATA[%s,EPOCH[2020.5]]"},
    {"proj:projjson": {"type": "CoordinateMetadata", "coordinateEpoch": 2020.5}}])
def test_coordinate_epoch(store, attributes):
    import json
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(9000)
    for name, value in attributes.items():
        if name == "proj:wkt2":
            attributes = {name: value % srs.ExportToWkt(["FORMAT=WKT2_2019"])}
        elif name == "proj:projjson":
            attributes = {name: {**value, "crs": json.loads(srs.ExportToPROJJSON())}}
    found = raster(store, {"zarr_conventions": [PROJ], **attributes}).GetSpatialRef()
    assert found.GetCoordinateEpoch() == 2020.5 and found.GetAuthorityCode(None) == "9000"


def test_an_epoch_needs_a_dynamic_crs(store):
    """The epoch may be older than the CRS, which another program has changed."""
    attributes = {"zarr_conventions": [PROJ], "proj:code": "EPSG:2154",
                  "zarrbridge:coordinate_epoch": 2020.5}
    assert raster(store, attributes).GetSpatialRef().GetCoordinateEpoch() == 0


@pytest.mark.parametrize("bad", ["2020.5", None, [2020.5, 1], {}])
def test_an_epoch_is_a_number(store, bad):
    attributes = {"zarr_conventions": [PROJ], "proj:code": "EPSG:9000",
                  **extension(coordinate_epoch=bad)}
    assert raster(store, attributes).GetSpatialRef().GetCoordinateEpoch() == 0


# ---- Places that were left behind ----


def placed_store(path, width=70, height=50):
    """A raster of ours with all forms of its place; returns its values."""
    from osgeo import gdal
    source = gdal.GetDriverByName("MEM").Create("", width, height, 1, gdal.GDT_Float32)
    source.SetGeoTransform((500000, 10, 0, 5000000, 0, -10))
    source.SetSpatialRef(UTM)
    values = np.arange(width * height, dtype="f4").reshape(height, width)
    source.WriteArray(values)
    gdal.GetDriverByName("Zarr3").CreateCopy(path, source).Close()
    return values


@pytest.mark.parametrize("change, expected", [
    (lambda d: d.isel(x=slice(5, 15), y=slice(10, 20)), (500050, 10, 0, 4999900, 0, -10)),
    (lambda d: d.isel(x=slice(0, 50)), (500000, 10, 0, 5000000, 0, -10)),
    (lambda d: d.isel(x=slice(0, 70, 2), y=slice(0, 50, 2)),
     (499995, 20, 0, 5000005, 0, -20)),
    (lambda d: d.sortby("y"), (500000, 10, 0, 4999500, 0, 10)),
    (lambda d: d.isel(x=slice(None, None, -1)), (500700, -10, 0, 5000000, 0, -10)),
    (lambda d: d.isel(y=slice(7, 8)), (500000, 10, 0, 4999930, 0, -10)),
    (lambda d: d.isel(y=slice(7, 8), x=slice(5, 6)), (500050, 10, 0, 4999930, 0, -10)),
    (lambda d: d.assign_coords(x=d.x + 30), (500030, 10, 0, 5000000, 0, -10)),
    (lambda d: d.assign_coords(x=d.x + 4), (500000, 10, 0, 5000000, 0, -10)),
    (lambda d: d, (500000, 10, 0, 5000000, 0, -10)),
], ids=["cropped", "cropped at the end", "thinned", "sorted", "turned", "row", "pixel", "moved",
        "moved by less than half a pixel", "as it is"])
def test_a_place_that_xarray_has_left_behind(tmp_path, change, expected):
    """The attributes come along unchanged; only the coordinates tell where the data are now."""
    placed_store(str(tmp_path / "a.zarr"))
    data = xarray.open_zarr(str(tmp_path / "a.zarr"), consolidated=False)
    change(data).to_zarr(str(tmp_path / "b.zarr"), zarr_format=3, consolidated=False)
    assert opened(tmp_path / "b.zarr").GetGeoTransform() == expected


@pytest.mark.parametrize("place", [TRANSFORM, {"zarr_conventions": [SPATIAL],
                                               "spatial:bbox": [100, 200, 180, 260]}],
                         ids=["transform", "box"])
@pytest.mark.parametrize("on_group", [False, True], ids=["array", "group"])
def test_a_place_of_another_shape_does_not_count(store, place, on_group):
    path, root = store
    for shape, counts in (([6, 8], True), ([6, 9], False), ([60, 80], False)):
        stated = {**place, "spatial:shape": shape}
        root.update_attributes(stated if on_group else {})
        put(root, "t", PLANE, None if on_group else stated, ("y", "x"), overwrite=True)
        there = opened(path).GetGeoTransform(can_return_null=True)
        assert (there is not None) == counts


def test_irregular_and_damaged_coordinates_decide_nothing(store):
    upright = {**TRANSFORM, "spatial:transform": [10.0, 0, 500.0, 0, -20.0, 9000.0]}
    dataset = raster(store, upright, x=[0, 1, 2, 4, 8, 16, 32, 64.0], y=np.arange(6.0))
    assert dataset.GetGeoTransform() == (500, 10, 0, 9000, 0, -20)
    path, root = store
    put(root, "x", np.arange(8.0), dims=("x",), overwrite=True)
    import pathlib
    (pathlib.Path(path) / "x" / "c" / "0").write_bytes(b"broken")
    from conftest import Errors
    with Errors() as errors:
        assert opened(path).GetGeoTransform() == (500, 10, 0, 9000, 0, -20)
    assert not errors.seen


def test_numbers_of_pixels_are_no_place(store):
    """Some programs count rows and columns where a map has coordinates."""
    upright = {**TRANSFORM, "spatial:transform": [10.0, 0, 500.0, 0, -20.0, 9000.0]}
    dataset = raster(store, upright, x=np.arange(8), y=np.arange(6))
    assert dataset.GetGeoTransform() == (500, 10, 0, 9000, 0, -20)
    path, root = store
    put(root, "x", np.arange(1, 9), dims=("x",), overwrite=True)
    assert opened(path).GetGeoTransform() == (0.5, 1, 0, -0.5, 0, 1)


def test_a_place_that_was_set_against_shared_coordinates_counts(store):
    """They have to stay for other arrays. What they said then is noted, so that later changes of
    them count again."""
    from osgeo import gdal
    from conftest import Errors
    path, root = store
    for name in ("t", "u"):
        put(root, name, PLANE, dims=("y", "x"))
    put(root, "x", 5.0 + 10 * np.arange(8), dims=("x",))
    put(root, "y", 55.0 - 10 * np.arange(6), dims=("y",))
    for place in ((700, 10, 0, 900, 0, -10), (700, 10, 1, 900, 2, -10)):
        with Errors() as errors:
            dataset = gdal.OpenEx(sub(path, "t"), gdal.OF_UPDATE)
            dataset.SetGeoTransform(place)
            dataset.Close()
        assert "serves other arrays" in errors.seen[0][1] and not errors.failures
        assert opened(sub(path, "t")).GetGeoTransform() == place
        assert opened(sub(path, "u")).GetGeoTransform() == (0, 10, 0, 60, 0, -10)
    put(root, "x", 105.0 + 10 * np.arange(8), dims=("x",), overwrite=True)
    assert opened(sub(path, "t")).GetGeoTransform() == (100, 10, 0, 60, 0, -10)
