# SPDX-License-Identifier: MIT
"""What names an array or a dimension follows when it is renamed, or the renaming is refused."""
import json
import pathlib

import numpy as np
import pytest
import zarr
from osgeo import gdal, osr

from conftest import Errors, edit, known, opened, put, run_python, sub
from mdim import opened_mdim

DRIVER = gdal.GetDriverByName("Zarr3")
PLACE = (500000.0, 10.0, 0.0, 6000000.0, 0.0, -10.0)


def document(path, node=""):
    return json.loads((pathlib.Path(path) / node / "zarr.json").read_text())


def attributes(path, node=""):
    return document(path, node).get("attributes", {})


@pytest.fixture
def raster(tmp_path):
    """A raster with a place, a mask and coordinates."""
    path = str(tmp_path / "r.zarr")
    dataset = DRIVER.Create(path, 20, 10, 1, gdal.GDT_Byte)
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(32632)
    dataset.SetSpatialRef(srs)
    dataset.SetGeoTransform(PLACE)
    dataset.GetRasterBand(1).WriteArray(np.arange(200, dtype="u1").reshape(10, 20))
    dataset.CreateMaskBand(gdal.GMF_PER_DATASET)
    dataset.GetRasterBand(1).GetMaskBand().Fill(255)
    dataset.Close()
    return path


def rename_dimensions(path, names):
    dataset, group = opened_mdim(path, update=True)
    for node, name in names.items():
        dimension = group.OpenMDArray(node).GetDimensions()[0]
        assert dimension.Rename(name) == gdal.CE_None
        assert group.OpenMDArray(node).Rename(name) == gdal.CE_None
    del dimension, group, dataset


def is_in_place(path):
    with opened(path) as dataset:
        assert dataset.GetGeoTransform() == PLACE
        assert dataset.GetSpatialRef().GetAuthorityCode(None) == "32632"
        assert (dataset.RasterXSize, dataset.RasterYSize) == (20, 10)
        assert dataset.GetRasterBand(1).GetMaskFlags() == gdal.GMF_PER_DATASET
    return True


def test_a_renamed_dimension_keeps_the_place(raster):
    """By its attributes, by those of its group, and by its coordinates; xarray agrees."""
    rename_dimensions(raster, {"x": "over", "y": "down"})
    for node in ("", "r"):
        assert attributes(raster, node)["spatial:dimensions"] == ["down", "over"], node
    assert document(raster, "r")["dimension_names"] == ["down", "over"]
    known = document(raster)["consolidated_metadata"]["metadata"]
    assert known["r"] == document(raster, "r") and "over" in known and "x" not in known
    assert is_in_place(raster)
    xarray = pytest.importorskip("xarray")
    with xarray.open_zarr(raster) as found:
        assert found["r"].dims == ("down", "over") and found["over"].values[0] == 500005


def test_a_renamed_grid_mapping_is_still_found(raster):
    dataset, group = opened_mdim(raster, update=True)
    assert group.OpenMDArray("spatial_ref", ["SHOW_ALL=YES"]).Rename("here") == gdal.CE_None
    del group, dataset
    assert attributes(raster, "r")["grid_mapping"] == "here"
    assert attributes(raster, "r")["coordinates"] == "here"

    def drop(text):
        for name in [name for name in text["attributes"] if name.startswith(("proj:", "zarr_"))]:
            del text["attributes"][name]
    for node in ("", "r"):
        edit(f"{raster}/{node}", drop)
    assert is_in_place(raster)


@pytest.mark.parametrize("by_gdalmanage", [False, True])
def test_a_renamed_mask_is_still_the_mask(raster, by_gdalmanage):
    if by_gdalmanage:
        DRIVER.Rename(sub(raster, "hidden"), sub(raster, "r_mask"))
    else:
        dataset, group = opened_mdim(raster, update=True)
        assert group.OpenMDArray("r_mask").Rename("hidden") == gdal.CE_None
        del group, dataset
    assert known(attributes(raster, "r"))["mask"] == "hidden"
    assert is_in_place(raster)


CF = {"coordinates": "lon  height", "bounds": "height", "ancillary_variables": "flags height",
      "grid_mapping": "height: lon lat other: height", "cell_measures": "height: height",
      "formula_terms": "a: height height: b", "cell_methods": "height: lon: mean (height x)"}
CF_AFTER = {"coordinates": "lon  z", "bounds": "z", "ancillary_variables": "flags z",
            "grid_mapping": "z: lon lat other: z", "cell_measures": "height: z",
            "formula_terms": "a: z height: b", "cell_methods": "z: lon: mean (height x)"}


def test_attributes_of_cf_name_a_renamed_array(store):
    path, group = store
    put(group, "height", np.float64(2))
    put(group, "a", np.zeros((2, 3)), CF, ("lat", "lon"))
    put(group, "column", np.zeros(3), {"cell_methods": "height: mean"}, ("height",))
    put(group.create_group("below"), "a", np.zeros((2, 3)), CF, ("lat", "lon"))
    near = group.create_group("near")
    put(near, "height", np.float64(2))
    put(near, "a", np.zeros((2, 3)), CF, ("lat", "lon"))
    dataset, root = opened_mdim(path, update=True)
    held = root.OpenMDArray("a")
    assert root.OpenMDArray("height").Rename("z") == gdal.CE_None
    assert held.GetAttribute("coordinates").Read() == "lon  z"
    with Errors() as errors:
        assert root.OpenMDArray("z").Rename("two words") != gdal.CE_None
    assert "without them" in errors.failures[0] and root.OpenMDArray("z") is not None
    del held, root, dataset
    assert attributes(path, "a") == CF_AFTER and attributes(path, "below/a") == CF_AFTER
    assert attributes(path, "near/a") == CF
    assert attributes(path, "column") == {"cell_methods": "height: mean"}


def test_methods_of_cells_name_a_renamed_dimension(store):
    path, group = store
    put(group, "a", np.zeros((2, 3)), {"cell_methods": "time: lon: mean"}, ("lat", "lon"))
    dataset, root = opened_mdim(path, update=True)
    assert root.OpenMDArray("a").GetDimensions()[1].Rename("x") == gdal.CE_None
    del root, dataset
    assert attributes(path, "a") == {"cell_methods": "time: x: mean"}


def test_the_dimensions_of_levels_keep_their_names(raster):
    with gdal.Open(raster, gdal.GA_Update) as dataset:
        dataset.BuildOverviews("NEAREST", [2])
    dataset, group = opened_mdim(raster, update=True)
    array = group.OpenMDArray("r")
    with Errors() as errors:
        assert array.GetDimensions()[0].Rename("down") != gdal.CE_None
        assert group.OpenGroup("ovr_2x").Rename("half") != gdal.CE_None
    assert "gdaladdo -clean" in errors.failures[0] and "list of levels" in errors.failures[1]
    del array, group, dataset
    with pytest.raises(RuntimeError, match="list of levels"):
        DRIVER.Rename(sub(raster, "half"), sub(raster, "ovr_2x"))
    with opened(raster) as dataset:
        assert dataset.GetRasterBand(1).GetOverviewCount() == 1


def test_levels_of_other_programs_keep_their_names(store):
    path, group = store
    for level in (0, 1):
        put(group, str(level), np.zeros((8 >> level, 8 >> level)), dims=("y", "x"))
    put(group, "other", np.zeros((8, 8)), dims=("y", "x"))
    group.attrs["ome"] = {"version": "0.5", "multiscales": [
        {"axes": [{"name": "y"}, {"name": "x"}], "datasets": [{"path": "0"}, {"path": "1"}]}]}
    dataset, root = opened_mdim(path, update=True)
    for name in ("0", "1"):
        with Errors() as errors:
            assert root.OpenMDArray(name).Rename("n") != gdal.CE_None
        assert "list of levels" in errors.failures[0]
    assert root.OpenMDArray("other").Rename("n") == gdal.CE_None


GEOMETRY = {"geometry": "height", "node_coordinates": "lon height", "node_count": "height",
            "part_node_count": "height", "interior_ring": "height"}


def test_geometries_of_cf_name_a_renamed_array(store):
    path, group = store
    put(group, "height", np.float64(2))
    put(group, "a", np.zeros(3), GEOMETRY)
    DRIVER.Rename(sub(path, "z"), sub(path, "height"))
    assert attributes(path, "a") == {name: text.replace("height", "z")
                                     for name, text in GEOMETRY.items()}


def test_an_array_of_a_group_without_a_document_is_renamed(store):
    path, group = store
    put(group.create_group("g"), "t", np.zeros(3), {"ancillary_variables": "t"})
    (pathlib.Path(path) / "g/zarr.json").unlink()
    assert DRIVER.Rename(sub(path, "g/u"), sub(path, "g/t")) == gdal.CE_None
    assert attributes(path, "g/u") == {"ancillary_variables": "u"}


def test_a_node_that_cannot_be_read_is_named(store):
    """Its attributes may name the array, and are not changed."""
    path, group = store
    put(group, "height", np.float64(2))
    put(group, "a", np.zeros(3), {"coordinates": "height"})
    edit(path + "/a", lambda text: text["codecs"].append({"name": "unknown"}))
    with Errors() as errors:
        assert DRIVER.Rename(sub(path, "z"), sub(path, "height")) == gdal.CE_None
    (kind, message), = errors.seen
    assert kind == gdal.CE_Warning and "/a cannot be read" in message and "/height" in message
    assert attributes(path, "a") == {"coordinates": "height"}


def test_the_dimensions_of_levels_of_other_programs_keep_their_names(store):
    path, group = store
    for level in (0, 1):
        put(group, str(level), np.zeros((8 >> level, 8 >> level)), dims=("y", "x"))
    group.attrs["ome"] = {"version": "0.5", "multiscales": [
        {"axes": [{"name": "y"}, {"name": "x"}], "datasets": [{"path": "0"}, {"path": "1"}]}]}
    dataset, root = opened_mdim(path, update=True)
    for name in ("0", "1"):
        array = root.OpenMDArray(name)
        with Errors() as errors:
            assert array.GetDimensions()[0].Rename("down") != gdal.CE_None
        assert "list of levels" in errors.failures[0]
    del array, root, dataset
    assert document(path, "0")["dimension_names"] == document(path, "1")["dimension_names"]


def test_a_group_places_the_arrays_whose_dimension_keeps_its_name(store):
    path, group = store
    group.attrs["spatial:dimensions"] = ["y", "x"]
    put(group, "a", np.zeros((4, 8)), dims=("y", "x"))
    put(group, "b", np.zeros((2, 4)), dims=("y", "x"))
    dataset, root = opened_mdim(path, update=True)
    with Errors() as errors:
        assert root.OpenMDArray("a").GetDimensions()[0].Rename("down") == gdal.CE_None
    (kind, message), = errors.seen
    assert kind == gdal.CE_Warning and "'y', which /b has" in message
    assert attributes(path)["spatial:dimensions"] == ["y", "x"]
    assert root.OpenMDArray("b").GetDimensions()[0].Rename("under") == gdal.CE_None
    assert attributes(path)["spatial:dimensions"] == ["under", "x"]
    del root, dataset


def linked(group):
    """A group `g` with a link into it, and one within it, as the HDF5 connector stores them."""
    inner = group.create_group("g")
    put(inner, "within", np.zeros(3), {"_hdf5": json.dumps({"version": 1, "names": ["../alias"]})})
    inner.attrs["_hdf5"] = json.dumps({"version": 1, "links": {"alias": {"hard": "within"}}})
    return inner


@pytest.mark.parametrize("links, names", [
    ({"out": {"hard": "../t"}}, None), ({"soft": {"soft": "/t"}}, "../../out")])
def test_what_hdf5_has_hard_links_to_keeps_its_name(store, links, names):
    """Those within a renamed group are relative, and stay true."""
    path, group = store
    inner = linked(group)
    put(group, "t", np.zeros(3))
    dataset, root = opened_mdim(path, update=True)
    with Errors() as errors:
        assert root.OpenGroup("g").OpenMDArray("within").Rename("u") != gdal.CE_None
    assert "/g/within has further hard links" in errors.failures[0]
    assert root.OpenGroup("g").Rename("h") == gdal.CE_None
    assert root.OpenGroup("h").Rename("g") == gdal.CE_None
    del root, dataset
    node = inner if names is None else inner["within"]
    entry = {"version": 1, "links": links, **({"names": [names]} if names else {})}
    node.attrs["_hdf5"] = json.dumps(entry)
    with pytest.raises(RuntimeError, match="further hard links"):
        DRIVER.Rename(sub(path, "h"), sub(path, "g"))
    assert (pathlib.Path(path) / "g/within/zarr.json").exists()


# ---- Dimensions that attributes name, of arrays that do not have them ----

def rename_dimension(path, node, index, name):
    dataset, root = opened_mdim(path, update=True)
    assert root.OpenMDArrayFromFullname("/" + node).GetDimensions()[index].Rename(name) == \
        gdal.CE_None
    del root, dataset


def put_named(group):
    """CF's arrays that name the dimension `lat`, and have others."""
    put(group, "point", np.zeros(3), {"compress": "lat lon"}, ("point",))
    put(group, "count", np.zeros(3), {"sample_dimension": "lat"}, ("station",))
    put(group, "index", np.zeros(3), {"instance_dimension": "lat"}, ("obs",))
    put(group, "interpolation", np.float64(0),
        {"tie_point_mapping": "lat: lat lat area  lon: lat points"})
    put(group, "mesh", np.float64(0), {"face_dimension": "lat", "edge_dimension": "latitude"})


RENAMED = {"point": {"compress": "north lon"}, "count": {"sample_dimension": "north"},
           "index": {"instance_dimension": "north"},
           "interpolation": {"tie_point_mapping": "north: lat north area  lon: lat points"},
           "mesh": {"face_dimension": "north", "edge_dimension": "latitude"}}


def test_attributes_name_a_renamed_dimension_that_the_array_lacks(store):
    path, group = store
    put(group, "a", np.zeros((2, 4)), {"cell_methods": "lat: mean"}, ("lat", "lon"))
    put_named(group)
    put_named(group.create_group("below"))
    near = group.create_group("near")
    put(near, "a", np.zeros((5, 4)), dims=("lat", "lon"))
    put_named(near)
    rename_dimension(path, "a", 0, "north")
    for node, expected in RENAMED.items():
        assert attributes(path, node) == expected
        assert attributes(path, "below/" + node) == expected
        assert attributes(path, "near/" + node) != expected
    assert attributes(path, "a") == {"cell_methods": "north: mean"}
    assert document(path, "near/a")["dimension_names"] == ["lat", "lon"]


def test_a_list_of_dimensions_refuses_a_name_with_blanks(store):
    path, group = store
    put(group, "a", np.zeros((2, 4)), dims=("lat", "lon"))
    put(group, "point", np.zeros(3), {"compress": "lat lon"}, ("point",))
    dataset, root = opened_mdim(path, update=True)
    with Errors() as errors:
        assert root.OpenMDArray("a").GetDimensions()[0].Rename("two words") != gdal.CE_None
    assert "choose a name without them" in errors.failures[0]
    del root, dataset
    assert document(path, "a")["dimension_names"] == ["lat", "lon"]


def test_of_two_dimensions_of_a_name_attributes_keep_it(store):
    path, group = store
    put(group, "a", np.zeros((2, 4)), dims=("lat", "lon"))
    put(group, "lat", np.arange(2.0), dims=("lat",))
    put(group, "b", np.zeros((3, 4)), dims=("lat", "lon"))
    put(group, "point", np.zeros(3), {"compress": "lat lon"}, ("point",))
    dataset, root = opened_mdim(path, update=True)
    with Errors() as errors:
        assert root.OpenMDArray("a").GetDimensions()[0].Rename("north") == gdal.CE_None
    del root, dataset
    assert any("/point names a dimension 'lat'" in text for _, text in errors.seen)
    assert attributes(path, "point") == {"compress": "lat lon"}


# ---- Paths ----

BY_PATH = {"coordinates": "/g/height ../g/height g/height", "bounds": "/g/heights",
           "grid_mapping": "/g/height: lat lon", "cell_measures": "area: ./g/height"}


@pytest.mark.parametrize("by_gdalmanage", [False, True])
def test_paths_lead_to_a_renamed_array(store, by_gdalmanage):
    """From everywhere, as CF 1.8 has them; bare names only from its group and below."""
    path, group = store
    put(group.create_group("g"), "height", np.float64(2))
    put(group["g"], "in", np.zeros(3), {"coordinates": "../g/height height"})
    put(group.create_group("h"), "a", np.zeros(3), {**BY_PATH, "ancillary_variables": "height"})
    put(group, "a", np.zeros(3), BY_PATH)
    if by_gdalmanage:
        DRIVER.Rename(sub(path, "g/z"), sub(path, "g/height"))
    else:
        dataset, root = opened_mdim(path, update=True)
        assert root.OpenGroup("g").OpenMDArray("height").Rename("z") == gdal.CE_None
        del root, dataset
    assert attributes(path, "g/in") == {"coordinates": "../g/z z"}
    assert attributes(path, "h/a") == {
        "coordinates": "/g/z ../g/z g/height", "bounds": "/g/heights",
        "grid_mapping": "/g/z: lat lon", "cell_measures": "area: ./g/height",
        "ancillary_variables": "height"}
    assert attributes(path, "a") == {
        "coordinates": "/g/z ../g/z g/z", "bounds": "/g/heights",
        "grid_mapping": "/g/z: lat lon", "cell_measures": "area: ./g/z"}


def test_paths_lead_through_a_renamed_group(store):
    path, group = store
    put(group.create_group("g"), "height", np.float64(2))
    put(group["g"], "a", np.zeros(3), {"coordinates": "/g/height ../g/height height"})
    put(group, "a", np.zeros(3), {"coordinates": "/g/height g/height g"})
    dataset, root = opened_mdim(path, update=True)
    held = root.OpenGroup("g")
    assert held.Rename("n") == gdal.CE_None
    assert held.OpenMDArray("a").GetAttribute("coordinates").Read() == \
        "/n/height ../n/height height"
    del held, root, dataset
    assert attributes(path, "a") == {"coordinates": "/n/height n/height g"}


RENAME = """
import os, sys
from osgeo import gdal
gdal.DontUseExceptions()
gdal.PushErrorHandler(lambda kind, number, text: print(kind, text))
path, node, new, by_gdalmanage = sys.argv[1:]
if by_gdalmanage == "True":
    name = 'ZARR3:"%s":/' % path
    done = gdal.GetDriverByName("Zarr3").Rename(name + new, name + node)
else:
    dataset = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    array = dataset.GetRootGroup().OpenMDArrayFromFullname("/" + node)
    done = array.Rename(os.path.basename(new))
    del array, dataset
print("done" if done == gdal.CE_None else "failed")
"""


def rename_with_few_children(path, node, new, by_gdalmanage=True):
    """The lines that tell of errors, and of the end. The limit is one of a process."""
    return run_python(RENAME, path, node, new, by_gdalmanage,
                      ZARRBRIDGE_CHILDREN="15").splitlines()


@pytest.mark.parametrize("node", ["height", "g/height", "big/in/height"])
@pytest.mark.parametrize("by_gdalmanage", [False, True])
def test_a_group_that_cannot_be_listed_is_named(store, node, by_gdalmanage):
    """As one without the right to. The others follow all the same."""
    path, group = store
    inner = group.create_group("big").create_group("in")
    for owner in (group, group.create_group("g"), inner):
        put(owner, "height", np.float64(2))
        put(owner, "a", np.zeros(3), {"coordinates": "height /" + node})
    for i in range(20):
        put(group["big"], "n%d" % i, np.zeros(1), {"coordinates": "height"})
    new = str(pathlib.PurePath(node).parent / "z")
    message, end = rename_with_few_children(path, node, new, by_gdalmanage)
    assert message.startswith("%d /big cannot be read" % gdal.CE_Warning) and "/" + node in message
    assert end == "done"
    for one in ("", "g", "big/in"):
        beside = node == (one + "/height").lstrip("/")
        follows = one != "big/in" or beside
        assert attributes(path, (one + "/a").lstrip("/")) == {
            "coordinates": ("z" if beside else "height") + " /" + (new if follows else node)}
    assert attributes(path, "big/n3") == {"coordinates": "height"}


def test_a_group_that_cannot_be_listed_keeps_the_names_in_it(store):
    """The one of the array itself: bare names in it could not follow."""
    path, group = store
    g = group.create_group("g")
    for i in range(20):
        put(g, "n%d" % i, np.zeros(1))
    message, end = rename_with_few_children(path, "g/n3", "g/z")
    assert "the limit children" in message and end == "failed"
    assert (pathlib.Path(path) / "g/n3").exists()


# ---- Other lists of CF 1.11 ----

def test_more_lists_name_a_renamed_array(store):
    path, group = store
    put(group, "height", np.float64(2))
    put(group, "a", np.zeros(3), {
        "climatology": "height", "coordinate_interpolation": "height: lon: height",
        "interpolation_parameters": "ce: height height: b", "mesh": "height",
        "tie_point_mapping": "height: height height  x: height points",
        "face_node_connectivity": "height",
        "cell_methods": "area: mean where height over sea", "coordinates": "height"})
    put(group, "b", np.zeros(3), {"cell_methods": "area: mean where height"})
    DRIVER.Rename(sub(path, "z"), sub(path, "height"))
    assert attributes(path, "a") == {
        "climatology": "z", "coordinate_interpolation": "z: lon: z",
        "interpolation_parameters": "ce: z height: b", "mesh": "z",
        "tie_point_mapping": "height: z height  x: z points", "face_node_connectivity": "z",
        "cell_methods": "area: mean where z over sea", "coordinates": "z"}
    assert attributes(path, "b") == {"cell_methods": "area: mean where height"}


def test_hostile_lists_are_walked_once(store):
    path, group = store
    put(group, "height", np.float64(2))
    many = "where height " * 100000
    put(group, "a", np.zeros(3), {"cell_methods": many, "coordinates": "height",
                                  "bounds": "a/" * 500000})
    DRIVER.Rename(sub(path, "z"), sub(path, "height"))
    assert attributes(path, "a")["cell_methods"] == many.replace("height", "z")
