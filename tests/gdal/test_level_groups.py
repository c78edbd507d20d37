# SPDX-License-Identifier: MIT
"""Pyramids whose levels are all groups (OVERVIEW_LAYOUT=GROUPS), as xarray.open_datatree() reads them."""
import json
import os
import pathlib
import shutil

import numpy as np
import pytest
import xarray
import zarr
from osgeo import gdal

from conftest import Errors, edit, extension, opened, put, run, sub
from mdim import opened_mdim
from test_overviews import BIG, DRIVER, PLACE, UTM, VALUES, expected, files, layout, levels_of, made, \
    sizes, source, update

GROUPS = "OVERVIEW_LAYOUT=GROUPS"
SMALL = [GROUPS, "BLOCKSIZE=32x32"]


def tree_of(path, **options):
    if not hasattr(xarray, "open_datatree"):
        pytest.skip("this xarray has no open_datatree()")
    return xarray.open_datatree(path, engine="zarr", **options)


def groups(path):
    return sorted(name for name in os.listdir(path)
                  if os.path.isdir(os.path.join(path, name)) and not name.startswith("."))


def assets(path):
    return [entry["asset"] for entry in layout(path)]


@pytest.mark.parametrize("bands", [1, 3])
def test_a_copy(tmp_path, bands):
    path = str(tmp_path / "r.zarr")
    original = source(BIG, bands=bands)
    DRIVER.CreateCopy(path, original, options=[GROUPS, "OVERVIEWS=AUTO",
                                               "OVERVIEW_RESAMPLING=AVERAGE"]).Close()
    assert groups(path) == assets(path) == ["0", "1", "2"]
    assert sizes(opened(path)) == [(550, 300), (275, 150)]
    assert opened(path).GetGeoTransform() == PLACE and opened(path).GetSubDatasets() == []
    for band in range(1, bands + 1):
        for found, wanted in zip(levels_of(path, band), expected(original, "AVERAGE", [2, 4], band),
                                 strict=True):
            assert (found == wanted).all()


@pytest.mark.parametrize("consolidated", [True, False])
def test_xarray_opens_the_tree(tmp_path, consolidated):
    path = str(tmp_path / "r.zarr")
    DRIVER.CreateCopy(path, source(BIG), options=[
        GROUPS, "OVERVIEWS=AUTO", "CREATE_CONSOLIDATED_METADATA=" + str(consolidated)]).Close()
    tree = tree_of(path, consolidated=consolidated)
    assert sorted(tree.children) == ["0", "1", "2"] and not tree.coords
    for name, factor in (("0", 1), ("1", 2), ("2", 4)):
        assert (tree[name]["r"].values == BIG[::factor, ::factor]).all()
        assert tree[name]["r"].dims == ("y", "x") and "spatial_ref" in tree[name].coords
        assert float(tree[name]["x"][0]) == 500 + 5 * factor
    run("gdaladdo", "-q", path, "3")
    run("gdal_edit.py", "-a_nodata", "7", path)
    assert sorted(tree_of(path, consolidated=consolidated).children) == ["0", "1", "2", "3"]


def test_a_tree_needs_no_levels(tmp_path):
    path = made(tmp_path / "r.zarr", SMALL)
    assert groups(path) == ["0"] and assets(path) == ["0"]
    assert (opened(path).ReadAsArray() == VALUES).all() and sizes(opened(path)) == []
    assert (tree_of(path, consolidated=False)["0"]["r"].values == VALUES).all()


def test_the_list_follows_the_convention(tmp_path):
    path = made(tmp_path / "r.zarr", SMALL)
    run("gdaladdo", "-q", "-r", "average", path, "2")
    fine, coarse = layout(path)
    assert (fine["asset"], coarse["asset"], coarse["derived_from"]) == ("0", "1", "0")
    assert "derived_from" not in fine and fine["transform"]["scale"] == [1, 1]
    assert fine["spatial:shape"] == [70, 101] and coarse["spatial:shape"] == [35, 51]
    assert coarse["spatial:transform"] == [10 * 101 / 51, 0, 500, 0, -20, 9000]
    assert coarse["resampling_method"] == "average"


def test_the_group_above_says_where_all_lies(tmp_path):
    """rio-tiler asks that group, and takes the last level for the coarsest one."""
    path = made(tmp_path / "r.zarr", SMALL, bands=2)
    run("gdaladdo", "-q", path, "2", "4")
    root = zarr.open_group(path, mode="r")
    assert root.attrs["proj:code"] == "EPSG:32725"
    assert root.attrs["spatial:bbox"] == [500, 8300, 1510, 9000]
    for name in ("0", "1", "2"):
        assert "spatial:bbox" not in root[name].attrs
        assert root[name + "/r"].attrs["spatial:bbox"] == [500, 8300, 1510, 9000]
    with update(path) as dataset:
        dataset.SetGeoTransform((0, 2, 0, 5000, 0, -4))
    assert zarr.open_group(path, mode="r").attrs["spatial:bbox"] == [0, 4720, 202, 5000]


def test_levels_stand_in_the_order_of_their_sizes(tmp_path):
    path = made(tmp_path / "r.zarr", SMALL)
    run("gdaladdo", "-q", path, "2", "8")
    run("gdaladdo", "-q", path, "3", "5")
    assert sizes(opened(path)) == [(51, 35), (34, 24), (21, 14), (13, 9)]
    assert assets(path) == ["0", "1", "3", "4", "2"]
    assert [entry["spatial:shape"][1] for entry in layout(path)] == [101, 51, 34, 21, 13]
    assert (levels_of(path)[1] == expected(source(), "NEAREST", [3])[0]).all()


def test_gdaladdo_chooses_and_makes_anew_and_cleans(tmp_path):
    path = str(tmp_path / "r.zarr")
    DRIVER.CreateCopy(path, source(BIG), options=[GROUPS]).Close()
    before = {name: text for name, text in files(path).items() if not name.endswith("r.zarr/zarr.json")}
    run("gdaladdo", "-q", path)
    assert sizes(opened(path))[:2] == [(550, 300), (275, 150)]
    with update(path) as dataset:
        dataset.GetRasterBand(1).WriteArray(BIG[::-1].copy())
        dataset.BuildOverviews("NEAREST", [4])
    fine, coarse = levels_of(path)[:2]
    assert (fine == BIG[::2, ::2]).all(), "not on the list of those to be made"
    assert (coarse == BIG[::-1][::4, ::4]).all()
    assert groups(path) == [str(i) for i in range(len(assets(path)))]
    with update(path) as dataset:
        dataset.GetRasterBand(1).WriteArray(BIG)
    run("gdaladdo", "-q", "-clean", path)
    assert assets(path) == ["0"] and sizes(opened(path)) == []
    assert {name: text for name, text in files(path).items()
            if not name.endswith("r.zarr/zarr.json")} == before
    run("gdaladdo", "-q", path, "2")
    assert groups(path) == ["0", "1"] and sizes(opened(path)) == [(550, 300)]


def test_a_new_raster(tmp_path):
    path = str(tmp_path / "r.zarr")
    dataset = DRIVER.Create(path, 1100, 600, 2, gdal.GDT_Byte, options=[GROUPS, "OVERVIEWS=AUTO"])
    for band in (1, 2):
        dataset.GetRasterBand(band).WriteArray(BIG)
    dataset.GetRasterBand(1).SetNoDataValue(7)
    dataset.SetGeoTransform(PLACE)
    dataset.SetSpatialRef(UTM)
    dataset.Close()
    assert sizes(opened(path)) == [(550, 300), (275, 150)] and assets(path) == ["0", "1", "2"]
    for name in ("0", "1", "2"):
        level = opened(path + "/" + name)
        assert level.GetSpatialRef().IsSame(UTM) and level.GetGeoTransform()[0] == 500
        assert level.GetRasterBand(2).GetNoDataValue() == 7
    assert (levels_of(path, 2)[1] == BIG[::4, ::4]).all()


def test_overviews_of_the_source(tmp_path):
    original = gdal.GetDriverByName("GTiff").CreateCopy("/vsimem/o.tif", source(BIG, bands=2))
    original.BuildOverviews("NEAREST", [2, 4])
    for i, value in ((0, 3), (1, 5)):
        original.GetRasterBand(2).GetOverview(i).Fill(value)
    path = str(tmp_path / "r.zarr")
    DRIVER.CreateCopy(path, original, options=[GROUPS, "COPY_SRC_OVERVIEWS=YES"]).Close()
    original.Close()
    gdal.Unlink("/vsimem/o.tif")
    assert [set(np.unique(level)) for level in levels_of(path, 2)] == [{3}, {5}]
    assert groups(path) == ["0", "1", "2"]


@pytest.mark.parametrize("method", ["NEAREST", "AVERAGE"])
def test_masks_lie_in_each_level(tmp_path, method):
    original = source()
    original.CreateMaskBand(gdal.GMF_PER_DATASET)
    valid = np.zeros(VALUES.shape, "uint8")
    valid[8:40, 8:64] = 255
    original.GetRasterBand(1).GetMaskBand().WriteArray(valid)
    path = str(tmp_path / "r.zarr")
    DRIVER.CreateCopy(path, original, options=SMALL).Close()
    run("gdaladdo", "-q", "-r", method, path, "2", "4")
    dataset = opened(path)
    assert dataset.GetSubDatasets() == [] and sizes(dataset) == [(51, 35), (26, 18)]
    for i in range(2):
        level = dataset.GetRasterBand(1).GetOverview(i)
        assert level.GetMaskFlags() == gdal.GMF_PER_DATASET
        assert level.GetMaskBand().ReadAsArray()[0, 0] == 0
        assert level.GetMaskBand().ReadAsArray()[5, 10] == 255
    assert "r_mask" in tree_of(path, consolidated=False)["1"].data_vars
    assert zarr.open_group(path, mode="r").attrs["spatial:bbox"] == [500, 8300, 1510, 9000]
    run("gdaladdo", "-q", "-clean", path)
    assert groups(path) == ["0"] and opened(path).GetRasterBand(1).GetMaskFlags() == gdal.GMF_PER_DATASET


@pytest.mark.parametrize("levels", [True, False])
def test_what_is_set_later(tmp_path, levels):
    path = made(tmp_path / "r.zarr", SMALL, place=None)
    if levels:
        run("gdaladdo", "-q", path, "2")
    run("gdal_edit.py", "-a_srs", "EPSG:32725", "-a_ullr", "500", "9000", "1510", "8300",
        "-a_nodata", "3", "-scale", "0.5", path)
    assert layout(path)[0]["spatial:transform"] == [10, 0, 500, 0, -10, 9000]
    if levels:
        level = opened(path + "/1")
        assert level.GetGeoTransform() == pytest.approx((500, 1010 / 51, 0, 9000, 0, -20))
        assert level.GetSpatialRef().IsSame(UTM) and level.GetRasterBand(1).GetScale() == 0.5
        assert level.GetRasterBand(1).GetNoDataValue() == 3
        assert layout(path)[1]["resampling_method"] == "nearest"
    with update(path) as dataset:
        dataset.SetGeoTransform((0, 1, 0, 0, 0, 1))
        dataset.SetSpatialRef(None)
    assert all("spatial:transform" not in entry for entry in layout(path))
    for name in (path, path + "/1") if levels else (path,):
        assert opened(name).GetGeoTransform(can_return_null=True) is None
        assert opened(name).GetSpatialRef() is None


def test_a_second_raster_has_a_pyramid_of_its_own(tmp_path):
    path = made(tmp_path / "r.zarr", SMALL)
    run("gdaladdo", "-q", path, "2")
    other = (BIG[:, :900] // 2).copy()
    copy = DRIVER.CreateCopy(path, source(other), options=[
        GROUPS, "APPEND_SUBDATASET=YES", "ARRAY_NAME=s", "OVERVIEWS=AUTO"])
    assert copy.GetDescription() == sub(path, "s") and (copy.ReadAsArray() == other).all()
    copy.Close()
    assert assets(path) == ["0", "1"] and assets(path + "/s") == ["0", "1"]
    assert [name for name, _ in opened(path).GetSubDatasets()] == [sub(path, "0/r"), sub(path, "s/0/s")]
    assert sizes(opened(sub(path, "s"))) == [(450, 300)]
    assert (tree_of(path, consolidated=False)["s/1/s"].values == other[::2, ::2]).all()
    before = files(path)
    with Errors() as errors:
        assert DRIVER.CreateCopy(path, source(), options=[
            GROUPS, "APPEND_SUBDATASET=YES", "ARRAY_NAME=s"]) is None
    assert "exists already" in errors.failures[0] and files(path) == before
    assert DRIVER.Delete(sub(path, "s")) == gdal.CE_None
    assert opened(path).GetSubDatasets() == [] and sizes(opened(path)) == [(51, 35)]


def test_an_appended_raster_takes_no_place_of_others(tmp_path):
    """Nodes in a group without a document, and files of users, stay; also when the copy fails."""
    path = made(tmp_path / "r.zarr", SMALL)
    put(zarr.create_group(path + "/s", zarr_format=3), "a", VALUES)
    os.remove(path + "/s/zarr.json")
    os.mkdir(path + "/t")
    (pathlib.Path(path) / "t" / "notes.txt").write_text("mine")
    before = files(path)
    for name in ("s", "t"):
        for done in (0, 1):
            with Errors() as errors:
                assert DRIVER.CreateCopy(path, source(), options=SMALL + [
                    "APPEND_SUBDATASET=YES", "ARRAY_NAME=" + name],
                    callback=lambda *_, go=done: go) is None
            assert "it stays as it is" in errors.failures[0] and files(path) == before


def test_a_pyramid_below_a_raster_with_coordinates(tmp_path):
    """xarray wants coordinates of one name to be the same below: levels have names of their own."""
    path = made(tmp_path / "r.zarr", ["BLOCKSIZE=32x32"])
    DRIVER.CreateCopy(path, source(BIG), options=[
        GROUPS, "APPEND_SUBDATASET=YES", "ARRAY_NAME=s", "OVERVIEWS=AUTO"]).Close()
    tree = tree_of(path, consolidated=False)
    assert (tree["s/2/s"].values == BIG[::4, ::4]).all() and "s_x" in tree["s/2"].coords
    assert opened(sub(path, "s")).GetGeoTransform() == PLACE


def test_an_array_beside_the_levels(tmp_path):
    """It may have levels in the other form, on the same list."""
    path = made(tmp_path / "r.zarr", SMALL)
    DRIVER.CreateCopy(path, source(BIG), options=["APPEND_SUBDATASET=YES", "ARRAY_NAME=s"]).Close()
    names = [sub(path, "0/r"), sub(path, "s")]
    for name, factors in ((names[1], [2, 4]), (names[0], [2])):
        update(name).BuildOverviews("NEAREST", factors)
        assert [found for found, _ in opened(path).GetSubDatasets()] == names
    assert sizes(opened(names[0])) == [(51, 35)] and sizes(opened(names[1])) == [(550, 300), (275, 150)]
    update(names[1]).BuildOverviews("NEAREST", [])
    assert assets(path) == ["0", "1"] and sizes(opened(names[0])) == [(51, 35)]


def test_another_raster_in_the_finest_group(tmp_path):
    """Its levels would lie in the same groups."""
    path = made(tmp_path / "r.zarr", SMALL)
    DRIVER.CreateCopy(path + "/0", source(), options=["APPEND_SUBDATASET=YES", "ARRAY_NAME=s"]).Close()
    before = files(path)
    for name in ("r", "s"):
        with Errors() as errors:
            assert update(sub(path, "0/" + name)).BuildOverviews("NEAREST", [2]) == gdal.CE_Failure
        assert "other rasters" in errors.failures[0]
    assert files(path) == before


@pytest.mark.parametrize("place", ["group", "zip", "memory"])
def test_other_places(tmp_path, place):
    path = {"group": sub(tmp_path / "h.zarr", "a/b"), "zip": str(tmp_path / "r.zarr.zip"),
            "memory": "/vsimem/level_groups.zarr"}[place]
    if place == "group":
        zarr.create_group(str(tmp_path / "h.zarr"), zarr_format=3)
    options = [GROUPS, "OVERVIEWS=AUTO", "ARRAY_NAME=v"]
    DRIVER.CreateCopy(path, source(BIG), options=options).Close()
    DRIVER.CreateCopy(path, source(BIG), options=options).Close()
    assert sizes(opened(path)) == [(550, 300), (275, 150)]
    assert (levels_of(path)[1] == BIG[::4, ::4]).all()
    if place == "group":
        assert sorted(tree_of(str(tmp_path / "h.zarr"), consolidated=False)["a/b"].children) == \
            ["0", "1", "2"]
    if place == "zip":
        with Errors() as errors:
            assert DRIVER.CreateCopy(path, source(), options=options + [
                "APPEND_SUBDATASET=YES"]) is None
        assert errors.failures and sizes(opened(path)) == [(550, 300), (275, 150)]
    if place == "memory":
        gdal.RmdirRecursive(path)


def test_names(tmp_path):
    """Nodes on the list keep theirs; the array of a raster without levels may have another one."""
    path = made(tmp_path / "r.zarr", SMALL)
    run("gdaladdo", "-q", path, "2")
    before = files(path)
    for old, new in (("0/r", "0/q"), ("0", "q"), ("1", "q"), ("1/r", "1/q")):
        with Errors() as errors:
            assert DRIVER.Rename(sub(path, new), sub(path, old)) != gdal.CE_None
        assert errors.failures and files(path) == before
    run("gdaladdo", "-q", "-clean", path)
    with Errors():
        assert DRIVER.Rename(sub(path, "q"), sub(path, "0")) != gdal.CE_None
    assert DRIVER.Rename(sub(path, "0/q"), sub(path, "0/r")) == gdal.CE_None
    run("gdaladdo", "-q", path, "2")
    assert sizes(opened(path)) == [(51, 35)] and zarr.open_array(path + "/1/q", mode="r").shape == (35, 51)


def test_deleting_the_raster_takes_its_levels(tmp_path):
    path = made(tmp_path / "r.zarr", SMALL)
    run("gdaladdo", "-q", path, "2", "4")
    assert DRIVER.Delete(sub(path, "0/r")) == gdal.CE_None
    assert groups(path) == ["0"]
    assert "multiscales" not in zarr.open_group(path, mode="r").attrs
    assert "spatial:bbox" not in zarr.open_group(path, mode="r").attrs


@pytest.mark.parametrize("options, names, said", [
    (["BLOCKSIZE=32x32"], ["ovr_2x", "ovr_2x_r"], "/ovr_2x and /ovr_2x_r are there"),
    (SMALL, [str(number) for number in range(1, 1000)], "/1 to /999 are there")])
def test_all_names_are_taken(tmp_path, options, names, said):
    path = made(tmp_path / "r.zarr", options)
    for name in names:
        os.mkdir(path + "/" + name)
        (pathlib.Path(path) / name / "notes.txt").write_text("mine")
    before = files(path)
    with Errors() as errors:
        assert update(path).BuildOverviews("NEAREST", [2]) == gdal.CE_Failure
    assert said in errors.failures[0] and files(path) == before
    os.remove(path + "/" + names[-1] + "/notes.txt")
    update(path).BuildOverviews("NEAREST", [2])
    assert assets(path)[1].split("/")[0] == names[-1]


@pytest.mark.parametrize("options, name", [(["BLOCKSIZE=32x32"], "ovr_2x"), (SMALL, "1")])
def test_a_name_that_cannot_be_looked_at(tmp_path, options, name):
    path = made(tmp_path / "r.zarr", options)
    os.symlink(name, path + "/" + name)
    before = sorted(os.listdir(path))
    with Errors() as errors:
        assert update(path).BuildOverviews("NEAREST", [2]) == gdal.CE_Failure
    assert "symbolic link" in errors.failures[0] and sorted(os.listdir(path)) == before


def test_levels_on_no_list_stand_for_nothing(tmp_path):
    """As a killed run leaves them: in their place, in the making, and without an array."""
    path = made(tmp_path / "r.zarr", SMALL)
    run("gdaladdo", "-q", path, "2", "4")
    os.rename(path + "/2", path + "/2.999999999-1.zarr3-new")
    edit(path, lambda document: document["attributes"]["multiscales"].update(
        layout=document["attributes"]["multiscales"]["layout"][:1]))
    edit(path, lambda document: document.pop("consolidated_metadata", None))
    begun = pathlib.Path(path) / "3.999999999-2.zarr3-new"
    begun.mkdir()
    (begun / "zarr.json").write_text(json.dumps({
        "zarr_format": 3, "node_type": "group", "attributes": {
            **extension(level_of={"raster": "0/r", "group": "3"})}}))
    (pathlib.Path(path) / "4.999999999-3.zarr3-new").mkdir()
    put(zarr.open_group(path).create_group("mine"), "r", VALUES)
    lost = "".join(opened(sub(path, "0/r")).GetMetadata("ZARR3_UNREADABLE") or []) + \
        json.dumps(opened(path).GetMetadata("ZARR3_UNREADABLE"))
    assert "/1" in lost and "/2.999999999-1.zarr3-new" in lost
    assert [name for name, _ in opened(path).GetSubDatasets()] == [sub(path, "0/r"), sub(path, "mine/r")]
    run("gdaladdo", "-q", sub(path, "0/r"), "2")
    assert sizes(opened(sub(path, "0/r"))) == [(51, 35)]
    run("gdaladdo", "-q", "-clean", sub(path, "0/r"))
    assert [name for name in groups(path) if not name.startswith("4.")] == ["0", "mine"]


@pytest.mark.parametrize("options, name", [(["BLOCKSIZE=32x32"], "ovr_2x"), (SMALL, "1")])
def test_levels_that_a_process_is_making_stay(tmp_path, options, name):
    path = made(tmp_path / "r.zarr", options)
    run("gdaladdo", "-q", path, "2")
    raster = opened(path).GetSubDatasets()[0][0] if opened(path).GetSubDatasets() else path
    making = f"{path}/{name}.{os.getpid()}-7.zarr3-new"
    os.rename(path + "/" + name, making)
    edit(path, lambda document: document.pop("consolidated_metadata", None))
    before = files(making)
    with update(raster) as dataset:
        assert dataset.BuildOverviews("NEAREST", []) == gdal.CE_None
    assert files(making) == before != {}


def test_the_list_has_gone(tmp_path):
    """xarray's to_zarr(mode="a") takes the attributes of the root away."""
    path = made(tmp_path / "r.zarr", SMALL)
    run("gdaladdo", "-q", path, "2", "4")
    edit(path, lambda document: document.update(attributes={}))
    edit(path, lambda document: document.pop("consolidated_metadata", None))
    assert "gdaladdo -clean" in opened(path).GetMetadata("ZARR3_UNREADABLE")["/1"]
    run("gdaladdo", "-q", sub(path, "0/r"), "2")
    assert assets(path) == ["0", "3"] and sizes(opened(sub(path, "0/r"))) == [(51, 35)]
    assert sorted(os.listdir(path + "/0")) == ["r", "spatial_ref", "x", "y", "zarr.json"]
    edit(path, lambda document: document.update(attributes={}))
    edit(path, lambda document: document.pop("consolidated_metadata", None))
    run("gdaladdo", "-q", "-clean", sub(path, "0/r"))
    assert groups(path) == ["0"]


def test_copies_of_levels_are_data(tmp_path):
    path = made(tmp_path / "r.zarr", SMALL)
    run("gdaladdo", "-q", path, "2")
    DRIVER.CopyFiles(sub(path, "mine"), sub(path, "1"))
    DRIVER.CopyFiles(sub(path, "7"), sub(path, "1"))
    names = [sub(path, "0/r"), sub(path, "7/r"), sub(path, "mine/r")]
    assert [name for name, _ in opened(path).GetSubDatasets()] == names
    run("gdaladdo", "-q", "-clean", names[0])
    assert groups(path) == ["0", "7", "mine"]


def test_levels_of_other_programs_are_added_to_and_not_removed(store):
    path, root = store
    for i in (0, 1):
        put(root.create_group(str(i)), "t", np.zeros((70 >> i, 100 >> i), "u1") + i, {"mine": i},
            ("y", "x"), chunks=(16, 16))
    root.update_attributes({
        "zarr_conventions": [{"uuid": "d35379db-88df-4056-af3a-620245f8e347"}],
        "multiscales": {"layout": [{"asset": "0"}, {"asset": "1", "derived_from": "0"}]}})
    run("gdaladdo", "-q", path, "2", "4")
    assert (zarr.open_array(path + "/1/t", mode="r")[...] == 0).all()
    assert dict(zarr.open_array(path + "/1/t", mode="r").attrs) == {"mine": 1}
    assert assets(path) == ["0", "1", "2"] and sizes(opened(path)) == [(50, 35), (25, 18)]
    with Errors() as errors:
        update(path).BuildOverviews("NEAREST", [])
    assert "is not removed" in errors.failures[0] and groups(path) == ["0", "1", "2"]


def listed(root, *names):
    """The list of another program."""
    root.update_attributes({
        "zarr_conventions": [{"uuid": "d35379db-88df-4056-af3a-620245f8e347"}],
        "multiscales": {"layout": [{"asset": name} for name in names]}})


@pytest.mark.parametrize("asset, arrays", [("r10m", ["r10m/b02", "r10m/b03"]), ("a/0", ["a/0/t"]),
                                           ("0", ["0/a/t"])])
def test_lists_of_other_programs_that_are_not_of_one_raster(store, asset, arrays):
    """Several rasters have the entry, or the array lies deeper: nothing is said of one of them."""
    path, root = store
    for array in arrays:
        group, _, name = array.rpartition("/")
        put(root.require_group(group), name, VALUES, dims=("y", "x"))
    listed(root, asset)
    documents = {name: text for name, text in files(path).items() if name.endswith("zarr.json")}
    run("gdal_edit.py", "-a_ullr", "500", "9000", "1510", "8300", sub(path, arrays[0]))
    assert opened(sub(path, arrays[0])).GetGeoTransform() == PLACE
    dataset, root = opened_mdim(path, update=True)
    array = root.OpenMDArrayFromFullname("/" + arrays[0])
    assert array.SetUnit("m") == gdal.CE_None
    del array, root
    dataset.Close()
    changed = [name for name in documents if files(path)[name] != documents[name]]
    assert changed == [os.path.join(path, arrays[0], "zarr.json")]


def test_the_order_of_sizes_along_a_chain(store):
    """Each level's scale is from the level before."""
    path, root = store
    entries = []
    for i, shape in enumerate([(64, 96), (32, 48), (16, 24)]):
        put(root.create_group(str(i)), "t", np.zeros(shape, "u1"), dims=("y", "x"))
        entries.append({"asset": str(i), "transform": {"scale": [2.0, 2.0] if i else [1.0, 1.0]}})
        if i:
            entries[i]["derived_from"] = str(i - 1)
    listed(root, "0")
    edit(path, lambda document: document["attributes"]["multiscales"].update(layout=entries))
    run("gdaladdo", "-q", path, "3")
    assert assets(path) == ["0", "1", "3", "2"]
    assert sizes(opened(path)) == [(48, 32), (32, 22), (24, 16)]


def test_a_list_that_goes_round(store):
    path, root = store
    for i in range(2):
        put(root.create_group(str(i)), "t", np.zeros((64 >> i, 96 >> i), "u1"), dims=("y", "x"))
    listed(root, "0", "1", "a", "b")
    edit(path, lambda document: [entry.update(derived_from=source, transform={"scale": [2.0, 2.0]})
                                 for entry, source in zip(
                                     document["attributes"]["multiscales"]["layout"][1:],
                                     ["0", "b", "a"], strict=True)])
    run("gdaladdo", "-q", path, "4")
    assert assets(path)[:2] == ["0", "1"] and "2" in assets(path)


def test_a_name_that_serves_again(tmp_path):
    """Its entry was of another size."""
    path = made(tmp_path / "r.zarr", SMALL)
    run("gdaladdo", "-q", path, "2", "4")
    shutil.rmtree(path + "/1")
    edit(path, lambda document: document.pop("consolidated_metadata", None))
    run("gdaladdo", "-q", path, "8")
    assert assets(path) == ["0", "2", "1"] and sizes(opened(path)) == [(26, 18), (13, 9)]
    assert layout(path)[2]["spatial:shape"] == [9, 13]


def test_an_array_of_another_program_in_a_level_stays_with_it(tmp_path):
    path = made(tmp_path / "r.zarr", SMALL)
    run("gdaladdo", "-q", path, "2")
    put(zarr.open_group(path + "/1"), "other", np.zeros((35, 51), "u1"), dims=("y", "x"))
    run("gdaladdo", "-q", "-clean", sub(path, "0/r"))
    assert assets(path) == ["0", "1"] and "r" not in zarr.open_group(path + "/1", mode="r")
    assert zarr.open_array(path + "/1/other", mode="r").shape == (35, 51)
    put(zarr.open_group(path + "/1"), "r", np.ones((35, 51), "u1"), dims=("y", "x"))
    with Errors() as errors:
        assert update(sub(path, "0/r")).BuildOverviews("NEAREST", []) == gdal.CE_Failure
    assert "another program" in errors.failures[0]
    assert (zarr.open_array(path + "/1/r", mode="r")[...] == 1).all()


def test_the_multidimensional_view(tmp_path):
    path = made(tmp_path / "r.zarr", SMALL)
    dataset, root = opened_mdim(path, update=True)
    array = root.OpenGroup("0").OpenMDArray("r")
    assert array.Resize([60, 101]) == gdal.CE_None and array.SetUnit("m") == gdal.CE_None
    del array, root
    dataset.Close()
    assert layout(path)[0]["spatial:shape"] == [60, 101] and assets(path) == ["0"]
    assert zarr.open_group(path, mode="r").attrs["spatial:bbox"] == [500, 8400, 1510, 9000]
    run("gdaladdo", "-q", path, "2")
    dataset, root = opened_mdim(path, update=True)
    array = root.OpenGroup("0").OpenMDArray("r")
    with Errors() as errors:
        assert array.Resize([70, 101]) != gdal.CE_None
    assert "gdaladdo -clean" in errors.failures[0]
    assert array.SetUnit("km") == gdal.CE_None
    if hasattr(array, "BuildOverviews"):
        assert array.BuildOverviews("NEAREST", [2, 4]) == gdal.CE_None
        assert [array.GetOverview(i).GetFullName() for i in range(2)] == ["/1/r", "/2/r"]
        assert root.GetGroupNames() == ["0", "1", "2"]
    del array
    dataset.Close()
    assert opened(path + "/1").GetRasterBand(1).GetUnitType() == "km"
    dataset, root = opened_mdim(path, update=True)
    assert root.OpenGroup("0").DeleteMDArray("r") == gdal.CE_None
    del root
    dataset.Close()
    assert groups(path) == ["0"] and "multiscales" not in zarr.open_group(path, mode="r").attrs


def test_an_interrupted_build_leaves_the_old_levels(tmp_path):
    path = made(tmp_path / "r.zarr", SMALL)
    run("gdaladdo", "-q", path, "2")
    before = files(path)
    dataset = update(path)
    with Errors():
        assert dataset.BuildOverviews("AVERAGE", [2, 4], callback=lambda *_: 0) != gdal.CE_None
    dataset.Close()
    assert files(path) == before


@pytest.mark.parametrize("append", [True, False])
def test_a_copy_that_is_cancelled_leaves_nothing(tmp_path, append):
    path = made(tmp_path / "h.zarr", SMALL)
    before = files(path)
    options = [GROUPS, "OVERVIEWS=AUTO"] + append * ["APPEND_SUBDATASET=YES", "ARRAY_NAME=s"]
    with Errors():
        assert DRIVER.CreateCopy(path if append else path + "/s", source(BIG), options=options,
                                 callback=lambda done, *_: int(done < 0.3)) is None
    assert files(path) == before


def test_a_wrong_value(tmp_path):
    with Errors() as errors:
        assert DRIVER.CreateCopy(str(tmp_path / "r.zarr"), source(), options=[
            "OVERVIEW_LAYOUT=TREE"]) is None
    assert "BESIDE, GROUPS" in errors.failures[0] and os.listdir(tmp_path) == []


def test_gdals_own_driver_reads_the_levels(tmp_path):
    if int(gdal.VersionInfo()) < 3130000:
        pytest.skip("GDAL's own driver knows no levels before 3.13")
    path = made(tmp_path / "out.zarr", options=SMALL + ["ARRAY_NAME=t"])
    with update(path) as dataset:
        dataset.BuildOverviews("AVERAGE", [2, 4])
    with gdal.OpenEx(f'ZARR:"{path}":/0/t', allowed_drivers=["Zarr"]) as own, gdal.Open(path) as ours:
        assert sizes(own) == sizes(ours) != []
        for i in range(2):
            assert (own.GetRasterBand(1).GetOverview(i).ReadAsArray()
                    == ours.GetRasterBand(1).GetOverview(i).ReadAsArray()).all()
