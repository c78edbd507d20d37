# SPDX-License-Identifier: MIT
"""The GDAL extension: one attribute of a node, also of stores in which earlier versions had several."""
import json

import numpy as np
import pytest
import zarr
from conftest import Errors, edit, extension, known, opened, put, run, sub
from mdim import opened_mdim
from osgeo import gdal

VALUES = np.arange(600, dtype="uint8").reshape(20, 30)
PAM = "<PAMDataset><PAMRasterBand band=\"1\"><CategoryNames><Category>sea</Category></CategoryNames>" \
      "</PAMRasterBand></PAMDataset>"
SEVERAL = {"zarrbridge:gdal": PAM, "zarrbridge:mask": "m", "zarrbridge:has_crs": False,
           "zarrbridge:fill_value_is_nodata": False, "zarrbridge:coordinate_epoch": 2020.5}
MEMBERS = {"pam": PAM, "mask": "m", "has_crs": False, "fill_value_is_nodata": False, "coordinate_epoch": 2020.5}


def attributes(path, array="t"):
    return dict(zarr.open_array(f"{path}/{array}", mode="r").attrs)


def update(path):
    return gdal.OpenEx(sub(path, "t"), gdal.OF_RASTER | gdal.OF_UPDATE)


def made(store, said):
    path, root = store
    put(root, "t", VALUES, said, ("y", "x"), fill_value=7)
    put(root, "m", (VALUES > 5).astype("uint8") * 255, None, ("y", "x"))
    put(root, "spatial_ref", np.int64(0), {"crs_wkt": "LOCAL_CS[\"a\"]"})
    return path


@pytest.mark.parametrize("said", [SEVERAL, extension(**MEMBERS)], ids=["several", "one"])
def test_both_forms_are_read_alike(store, said):
    dataset = opened(sub(made(store, said), "t"))
    band = dataset.GetRasterBand(1)
    assert dataset.GetMetadata() == {} and dataset.GetSpatialRef() is None
    assert band.GetCategoryNames() == ["sea"] and band.GetNoDataValue() is None
    assert band.GetMaskFlags() == gdal.GMF_PER_DATASET
    assert (band.GetMaskBand().ReadAsArray() == (VALUES > 5) * 255).all()


@pytest.mark.parametrize("said", [SEVERAL, extension(**MEMBERS)], ids=["several", "one"])
def test_a_session_without_changes_changes_nothing(store, said):
    path = made(store, {**said, "a": 1})
    before = open(path + "/t/zarr.json", "rb").read()
    dataset = update(path)
    dataset.GetRasterBand(1).GetMaskFlags()
    assert dataset.Close() == gdal.CE_None
    assert open(path + "/t/zarr.json", "rb").read() == before


def test_several_become_one_when_one_changes(store):
    path = made(store, {**SEVERAL, "a": 1})
    with update(path) as dataset:
        dataset.GetRasterBand(1).SetNoDataValue(9)
    assert known(attributes(path)) == {name: value for name, value in MEMBERS.items()
                                       if name != "fill_value_is_nodata"}
    assert attributes(path)["a"] == 1
    with update(path) as dataset:
        dataset.GetRasterBand(1).SetCategoryNames([])
    assert known(attributes(path)) == {"mask": "m", "has_crs": False, "coordinate_epoch": 2020.5}


def test_two_programs_change_a_member_each(store):
    path = made(store, extension(mask="m"))
    first, second = update(path), update(path)
    first.GetRasterBand(1).SetCategoryNames(["sea"])
    second.GetRasterBand(1).DeleteNoDataValue()
    assert first.Close() == gdal.CE_None and second.Close() == gdal.CE_None
    members = known(attributes(path))
    assert "sea" in members.pop("pam") and members == {"mask": "m", "fill_value_is_nodata": False}


def test_members_of_later_versions_stay(store):
    path = made(store, extension(mask="m", later=[1, {"a": None}]))
    with update(path) as dataset:
        dataset.GetRasterBand(1).SetCategoryNames(["sea"])
    members = known(attributes(path))
    assert "sea" in members.pop("pam") and members == {"mask": "m", "later": [1, {"a": None}]}


def test_another_version_is_not_changed(store):
    other = {"zarrbridge:gdal": json.dumps({"version": 2, "mask": "m"})}
    path = made(store, other)
    assert opened(sub(path, "t")).GetRasterBand(1).GetMaskFlags() != gdal.GMF_PER_DATASET
    with Errors() as errors:
        dataset = update(path)
        dataset.GetRasterBand(1).SetCategoryNames(["sea"])
        dataset.Close()
    assert "another version" in errors.failures[0] and "zarrbridge:gdal" in errors.failures[0]
    assert attributes(path) == other


@pytest.mark.parametrize("said", [SEVERAL, extension(**MEMBERS)], ids=["several", "one"])
def test_copies_of_arrays_take_what_holds_for_them(store, tmp_path, said):
    path = made(store, said)
    dataset, group = opened_mdim(path)
    shown = [one for one in group.OpenMDArray("t").GetAttributes() if one.GetName().startswith("zarrbridge:")]
    assert [one.GetName() for one in shown] == ["zarrbridge:gdal"]
    members = json.loads(shown[0].Read())
    assert "sea" in members.pop("pam") and members == {"version": 1, "mask": "m"}
    del shown, group, dataset
    run("gdalmdimtranslate", path, tmp_path / "copy.zarr")
    members = known(attributes(tmp_path / "copy.zarr"))
    assert "sea" in members["pam"] and members["mask"] == "m"
    copy = opened(sub(tmp_path / "copy.zarr", "t"))
    assert copy.GetSpatialRef() is None
    assert copy.GetRasterBand(1).GetMaskFlags() == gdal.GMF_PER_DATASET


def test_a_level_group_of_an_earlier_version_is_one(tmp_path):
    source = gdal.GetDriverByName("MEM").Create("", 64, 64)
    path = str(tmp_path / "r.zarr")
    gdal.GetDriverByName("Zarr3").CreateCopy(path, source, options=["OVERVIEW_LAYOUT=GROUPS"]).Close()
    run("gdaladdo", "-q", path, "2")
    said = known(dict(zarr.open_group(path + "/1", mode="r").attrs))
    assert said == {"level_of": {"raster": "0/r", "group": "1"}}

    def as_before(document):
        document["attributes"] = {"zarrbridge:level_of": said["level_of"]}

    edit(path + "/1", as_before)
    edit(path, lambda document: document.pop("consolidated_metadata", None))
    assert opened(sub(path, "0/r")).GetRasterBand(1).GetOverviewCount() == 1
    run("gdaladdo", "-q", "-clean", sub(path, "0/r"))
    assert sorted(zarr.open_group(path, mode="r")) == ["0"]
