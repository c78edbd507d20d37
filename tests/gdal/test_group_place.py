# SPDX-License-Identifier: MIT
"""A new group repeats what its rasters say of their place, as long as it is the same for all, for
programs that look at groups alone. No reader may take it for another array's place."""
import json
import pathlib

import numpy as np
import pytest
import xarray
import zarr
from osgeo import gdal

from conftest import Errors, edit, opened, put, run, sub
from test_append import by_copy, by_create, files, placed
from test_conventions import PROJ, SPATIAL
from test_copy import ROTATED, UPRIGHT, UTM, WGS84

DRIVER = gdal.GetDriverByName("Zarr3")
CRS = ["proj:code", "proj:wkt2"]
EXTENT = ["spatial:bbox", "spatial:dimensions"]
SHIFTED = (UPRIGHT[0] + 1000, *UPRIGHT[1:])


def made(path, source=None, *options):
    DRIVER.CreateCopy(str(path), source or placed(), options=["ARRAY_NAME=one", *options]).Close()
    return str(path)


def attributes(path, node=""):
    return json.loads((pathlib.Path(path) / node / "zarr.json").read_text())["attributes"]


def said(path, node=""):
    """What the group says of a place; all that it declares, it says."""
    found = attributes(path, node)
    declared = [entry["uuid"] for entry in found.get("zarr_conventions", [])]
    names = sorted(name for name in found if name.startswith(("proj:", "spatial:")))
    assert (PROJ["uuid"] in declared) == any(name in CRS for name in names)
    assert (SPATIAL["uuid"] in declared) == any(name in EXTENT for name in names)
    return names


def agrees(path, array, node=""):
    group, own = attributes(path, node), attributes(path, f"{node}/{array}" if node else array)
    return all(group[name] == own[name] for name in said(path, node))


@pytest.mark.parametrize("consolidated", ["YES", "NO"])
def test_a_new_store_repeats_the_place_of_its_raster(tmp_path, consolidated):
    path = made(tmp_path / "s.zarr", None, "CREATE_CONSOLIDATED_METADATA=" + consolidated)
    assert said(path) == CRS + EXTENT and agrees(path, "one")
    group = attributes(path)
    # What geozarr-toolkit 0.1.2 asks of a group, and the convention forbids on one.
    assert len(group["spatial:dimensions"]) == 2 and len(group["spatial:bbox"]) == 4
    assert not {"spatial:transform", "spatial:shape", "spatial:registration"} & set(group)
    assert "spatial:transform" in attributes(path, "one")


def test_programs_that_create_first_and_place_later(tmp_path):
    dataset = DRIVER.Create(str(tmp_path / "s.zarr"), 7, 5, 1, options=["ARRAY_NAME=one"])
    dataset.WriteArray(np.zeros((5, 7), np.uint8))
    dataset.FlushCache()
    assert said(tmp_path / "s.zarr") == []
    dataset.SetSpatialRef(WGS84)
    dataset.SetGeoTransform((5, 0.5, 0, 50, 0, -0.25))
    dataset.Close()
    assert said(tmp_path / "s.zarr") == CRS + EXTENT and agrees(tmp_path / "s.zarr", "one")
    nowhere = made(tmp_path / "n.zarr", placed(srs=None, transform=None))
    assert attributes(nowhere) == {}


def test_a_new_group_in_a_hierarchy_and_what_is_consolidated_above(tmp_path):
    path = made(tmp_path / "s.zarr")
    below = DRIVER.CreateCopy(path + "/sub", placed(srs=WGS84), options=["ARRAY_NAME=two"])
    below.Close()
    assert agrees(path, "two", "sub") and said(path, "sub") == CRS + EXTENT
    assert agrees(path, "one") and said(path) == CRS + EXTENT
    whole = zarr.open_consolidated(path)
    assert dict(whole["sub"].attrs) == attributes(path, "sub")
    gdal.OpenEx(sub(path, "sub/two"), gdal.OF_UPDATE).SetGeoTransform(SHIFTED)
    assert agrees(path, "two", "sub")
    assert dict(zarr.open_consolidated(path)["sub"].attrs) == attributes(path, "sub")


@pytest.mark.parametrize("way", [by_copy, by_create])
@pytest.mark.parametrize("other, left", [
    ({}, CRS + EXTENT), ({"transform": SHIFTED}, CRS), ({"srs": WGS84}, EXTENT),
    ({"srs": None, "transform": None}, []), ({"srs": WGS84, "transform": SHIFTED}, [])])
def test_another_raster_leaves_what_is_true_of_both(tmp_path, way, other, left):
    path = made(tmp_path / "s.zarr")
    way(path, placed(**other), "two").Close()
    assert said(path) == left and agrees(path, "one") and agrees(path, "two")
    found = opened(sub(path, "two"))
    assert (found.GetSpatialRef() is None) == ("srs" in other and other["srs"] is None)
    assert found.GetGeoTransform(can_return_null=True) == other.get("transform", UPRIGHT)
    DRIVER.Delete(sub(path, "two"))
    assert said(path) == CRS + EXTENT and agrees(path, "one")


def test_a_raster_that_waits_for_its_place_has_not_that_of_the_group(tmp_path):
    path = made(tmp_path / "s.zarr")
    waiting = DRIVER.Create(path, 4, 4, 1, options=["APPEND_SUBDATASET=YES", "ARRAY_NAME=two"])
    assert said(path) == []
    waiting.Close()
    assert said(path) == []


def test_group_and_raster_are_changed_together(tmp_path):
    path = made(tmp_path / "s.zarr")
    for change in (["-a_srs", "EPSG:3857"], ["-a_ullr", "10", "20", "30", "5"]):
        run("gdal_edit.py", *change, path)
        assert said(path) == CRS + EXTENT and agrees(path, "one")
    run("gdal_edit.py", "-a_srs", "", path)
    assert said(path) == EXTENT
    run("gdal_edit.py", "-unsetgt", path)
    assert said(path) == []
    run("gdal_edit.py", "-a_srs", "EPSG:3857", path)
    assert said(path) == CRS and agrees(path, "one")


def test_masks_and_levels_are_no_other_rasters(tmp_path):
    source = placed()
    source.CreateMaskBand(gdal.GMF_PER_DATASET)
    path = made(tmp_path / "s.zarr", source, "OVERVIEWS=AUTO")
    dataset = gdal.OpenEx(path, gdal.OF_UPDATE)
    dataset.BuildOverviews("NEAREST", [2])
    dataset.SetGeoTransform(SHIFTED)
    dataset.Close()
    assert said(path) == CRS + EXTENT and agrees(path, "one")
    assert "multiscales" in attributes(path)
    assert opened(path).GetRasterBand(1).GetOverview(0).GetDataset().GetSpatialRef().IsSame(UTM)
    run("gdaladdo", "-clean", path)
    assert "multiscales" not in attributes(path) and said(path) == CRS + EXTENT


def test_groups_of_others_are_left_alone(store):
    path, root = store
    put(root, "one", np.zeros((5, 7)), dims=["y", "x"])
    before = files(path)["zarr.json"]
    dataset = gdal.OpenEx(path, gdal.OF_UPDATE)
    dataset.SetSpatialRef(UTM)
    dataset.Close()
    assert files(path)["zarr.json"] == before
    root.update_attributes({"zarr_conventions": [PROJ], "proj:code": "EPSG:3857"})
    by_copy(path, placed(), "two").Close()
    assert attributes(path)["proj:code"] == "EPSG:3857"


def test_no_array_takes_it_for_its_own(tmp_path):
    path = made(tmp_path / "s.zarr", placed(transform=ROTATED))
    run("gdal_edit.py", "-a_srs", "", "-unsetgt", path)
    edit(path, lambda document: document["attributes"].update({
        "zarr_conventions": [PROJ, SPATIAL], "proj:code": "EPSG:32633",
        "spatial:dimensions": ["y", "x"], "spatial:bbox": [0, 0, 70, 50]}))
    assert opened(path).GetSpatialRef() is None
    assert opened(path).GetGeoTransform(can_return_null=True) is None
    edit(path, lambda document: document["attributes"].pop("zarrbridge:gdal"))
    assert opened(path).GetSpatialRef().GetAuthorityCode(None) == "32633"
    assert opened(path).GetGeoTransform(can_return_null=True) is not None


def test_what_xarray_crops_keeps_no_box(tmp_path):
    """Without coordinates, the box of the whole raster would squeeze it into a part."""
    path = made(tmp_path / "s.zarr", placed(transform=ROTATED))
    with xarray.open_zarr(path) as data:
        data.isel(x=slice(1, 4)).to_zarr(str(tmp_path / "part.zarr"), zarr_format=3)
    cropped = opened(tmp_path / "part.zarr").GetGeoTransform(can_return_null=True)
    assert cropped is None or cropped[2] != 0


def test_arrays_of_the_other_view(tmp_path):
    path = made(tmp_path / "s.zarr")
    dataset = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    root = dataset.GetRootGroup()
    names = {attribute.GetName() for attribute in root.GetAttributes()}
    assert not names & {*CRS, *EXTENT, "zarr_conventions", "zarrbridge:gdal"}
    assert "proj:code" in {one.GetName() for one in root.GetAttributes(["SHOW_ALL=YES"])}
    dims = root.OpenMDArray("one").GetDimensions()
    root.CreateMDArray("line", dims[:1], gdal.ExtendedDataType.Create(gdal.GDT_Byte))
    assert said(path) == CRS + EXTENT
    plain = root.CreateMDArray("plain", dims, gdal.ExtendedDataType.Create(gdal.GDT_Byte))
    assert said(path) == []
    plain.SetSpatialRef(UTM)
    del plain, dims
    dataset.FlushCache()
    assert said(path) == CRS and agrees(path, "plain")
    root.DeleteMDArray("plain")
    assert said(path) == CRS + EXTENT
    one = root.OpenMDArray("one")
    one.SetSpatialRef(WGS84)
    one.Resize([9, 9])
    del one, root
    dataset.Close()
    assert said(path) == CRS + EXTENT and agrees(path, "one")
    assert attributes(path)["proj:code"] == "EPSG:4326"


def test_an_array_that_cannot_be_created_changes_nothing(tmp_path):
    path = made(tmp_path / "s.zarr")
    before = attributes(path)
    root = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE).GetRootGroup()
    dims = root.OpenMDArray("one").GetDimensions()
    with Errors() as errors:
        assert root.CreateMDArray("one", dims, gdal.ExtendedDataType.Create(gdal.GDT_Byte)) is None
    assert len(errors.seen) == 1 and said(path) == CRS + EXTENT
    assert attributes(path) == before


@pytest.fixture
def pair(tmp_path):
    """A store of two rasters that lie elsewhere, and a group in it with a raster like the first."""
    path = made(tmp_path / "s.zarr")
    by_copy(path, placed(transform=SHIFTED), "two").Close()
    DRIVER.CreateCopy(path + "/sub", placed(), options=["ARRAY_NAME=one"]).Close()
    assert said(path) == CRS and said(path, "sub") == CRS + EXTENT
    return path


def test_rasters_that_are_moved_count_in_their_new_group(pair):
    DRIVER.Rename(sub(pair, "sub/two"), sub(pair, "two"))
    assert said(pair) == CRS + EXTENT and agrees(pair, "one")
    assert said(pair, "sub") == CRS and agrees(pair, "one", "sub") and agrees(pair, "two", "sub")
    DRIVER.Rename(sub(pair, "sub/last"), sub(pair, "sub/two"))
    assert said(pair, "sub") == CRS and agrees(pair, "last", "sub")
    with pytest.raises(RuntimeError):
        DRIVER.Rename(sub(pair, "sub/one"), sub(pair, "one"))
    assert said(pair) == CRS + EXTENT and said(pair, "sub") == CRS


def test_rasters_that_are_copied_count_in_their_new_group(pair, tmp_path):
    DRIVER.CopyFiles(sub(pair, "sub/two"), sub(pair, "two"))
    assert said(pair) == CRS and said(pair, "sub") == CRS
    with pytest.raises(RuntimeError):
        DRIVER.CopyFiles(sub(pair, "sub/one"), sub(pair, "one"))
    assert said(pair, "sub") == CRS and agrees(pair, "two", "sub")
    DRIVER.CopyFiles(str(tmp_path / "whole.zarr"), pair)
    assert attributes(tmp_path / "whole.zarr") == attributes(pair)


@pytest.mark.parametrize("way", ["CreateCopy", "Create", "multidimensional"])
def test_a_group_that_replaces_a_raster_counts_no_more(pair, way):
    if way == "CreateCopy":
        DRIVER.CreateCopy(pair + "/two", placed(srs=WGS84)).Close()
    elif way == "Create":
        DRIVER.Create(pair + "/two", 4, 4, 1).Close()
    else:
        DRIVER.CreateMultiDimensional(pair + "/two")
    assert said(pair) == CRS + EXTENT and agrees(pair, "one")


def test_copies_of_the_other_view_repeat_nothing(tmp_path):
    path = made(tmp_path / "s.zarr")
    gdal.MultiDimTranslate(str(tmp_path / "t.zarr"), path, format="Zarr3",
                           arraySpecs=["name=one,view=[1:3,::2]"]).Close()
    assert said(tmp_path / "t.zarr") == []
