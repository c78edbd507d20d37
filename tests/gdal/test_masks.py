# SPDX-License-Identifier: MIT
"""Masks are arrays in the store, beside the rasters that they belong to."""
import os
import shutil

import numpy as np
import pytest
import zarr
from osgeo import gdal, osr

from conftest import Errors, extension, known, opened, put, sub

DRIVER = gdal.GetDriverByName("Zarr3")
UTM = osr.SpatialReference()
UTM.ImportFromEPSG(32725)
VALUES = np.arange(600, dtype="uint16").reshape(20, 30)
VALID = np.where(VALUES % 7 == 0, 0, 255).astype("uint8")


def source(bands=1, valid=VALID):
    dataset = gdal.GetDriverByName("MEM").Create("", 30, 20, bands, gdal.GDT_UInt16)
    for i in range(bands):
        dataset.GetRasterBand(i + 1).WriteArray(VALUES + i)
    dataset.SetSpatialRef(UTM)
    dataset.SetGeoTransform((100, 10, 0, 200, 0, -20))
    dataset.CreateMaskBand(gdal.GMF_PER_DATASET)
    dataset.GetRasterBand(1).GetMaskBand().WriteArray(valid)
    return dataset


def check(dataset, valid=VALID):
    for i in range(dataset.RasterCount):
        band = dataset.GetRasterBand(i + 1)
        assert band.GetMaskFlags() == gdal.GMF_PER_DATASET
        mask = band.GetMaskBand()
        assert mask.IsMaskBand() and mask.DataType == gdal.GDT_Byte
        assert (mask.ReadAsArray() == valid).all()


def update(path):
    return gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE)


@pytest.mark.parametrize("options", [[], ["INTERLEAVE=PIXEL"], ["SHARD=16x16", "BLOCKSIZE=8x8"],
                                     ["BLOCKSIZE=[[12,2],8],30", "ARRAY_NAME=mine"]])
@pytest.mark.parametrize("bands", [1, 3])
def test_a_copy_keeps_the_mask(tmp_path, options, bands):
    if bands == 3 and "mine" in options[-1:]:
        options = ["BLOCKSIZE=3,[12,8],30"]
    steps = []
    DRIVER.CreateCopy(str(tmp_path / "r.zarr"), source(bands), strict=1, options=options,
                      callback=lambda done, *_: steps.append(done) or 1).Close()
    assert steps == sorted(steps) and steps[-1] == 1
    assert os.listdir(tmp_path) == ["r.zarr"]
    shutil.move(tmp_path / "r.zarr", tmp_path / "elsewhere.zarr")
    dataset = opened(tmp_path / "elsewhere.zarr")
    assert dataset.RasterCount == bands and dataset.GetSpatialRef().IsSame(UTM)
    check(dataset)
    DRIVER.CreateCopy(str(tmp_path / "again.zarr"), dataset, strict=1).Close()
    check(opened(tmp_path / "again.zarr"))


def test_the_array_is_what_other_programs_can_read(tmp_path):
    DRIVER.CreateCopy(str(tmp_path / "r.zarr"), source(2)).Close()
    group = zarr.open_group(str(tmp_path / "r.zarr"), mode="r")
    mask = group["r_mask"]
    assert known(group["r"].attrs) == {"mask": "r_mask"}
    assert (mask[...] == VALID).all() and mask.metadata.dimension_names == ("y", "x")
    assert known(mask.attrs) == {"mask_of": "r"}
    assert {name: value for name, value in mask.attrs.items() if not name.startswith("zarrbridge")} == {
        "long_name": "mask of r", "flag_values": [0, 255], "flag_meanings": "invalid valid"}
    xarray = pytest.importorskip("xarray")
    dataset = xarray.open_zarr(str(tmp_path / "r.zarr"), consolidated=False)
    assert (dataset["r_mask"].dims, dataset["r"].dims) == (("y", "x"), ("band", "y", "x"))


def test_masks_are_made_and_changed_in_update_mode(store):
    path, root = store
    put(root, "t", np.stack([VALUES, VALUES]), dims=("time", "y", "x"), chunks=(1, 8, 8))
    put(root, "t_mask", VALUES)
    dataset = update(sub(path, "t"))
    assert dataset.GetRasterBand(1).GetMaskFlags() == gdal.GMF_ALL_VALID
    assert dataset.CreateMaskBand(gdal.GMF_PER_DATASET) == gdal.CE_None
    mask = dataset.GetRasterBand(2).GetMaskBand()
    assert not mask.ReadAsArray().any()
    mask.WriteArray(VALID)
    check(dataset)
    dataset.FlushCache()
    check(opened(sub(path, "t")))
    dataset = mask = None
    assert known(zarr.open_array(path + "/t", mode="r").attrs) == {"mask": "t_mask2"}
    check(opened(sub(path, "t")))
    check(opened(sub(path, "t", 1)))
    dataset = update(sub(path, "t"))
    dataset.GetRasterBand(1).GetMaskBand().Fill(255)
    dataset = None
    check(opened(sub(path, "t")), np.full((20, 30), 255))
    assert (zarr.open_array(path + "/t_mask", mode="r")[...] == VALUES).all()


def test_a_changed_mask_changes_statistics(tmp_path):
    path = tmp_path / "r.zarr"
    DRIVER.CreateCopy(str(path), source()).Close()
    dataset = update(path)
    dataset.GetRasterBand(1).ComputeStatistics(False)
    dataset = None
    # GDAL 3.13 leaves masked pixels out.
    assert opened(path).GetRasterBand(1).GetMetadataItem("STATISTICS_MINIMUM") in ("0", "1")
    dataset = update(path)
    dataset.GetRasterBand(1).GetMaskBand().Fill(255)
    dataset = None
    assert opened(path).GetRasterBand(1).GetMetadataItem("STATISTICS_MINIMUM") is None


def test_created_rasters_get_masks(tmp_path):
    dataset = DRIVER.Create(str(tmp_path / "r.zarr"), 30, 20, 2, gdal.GDT_UInt16)
    dataset.CreateMaskBand(gdal.GMF_PER_DATASET)
    dataset.GetRasterBand(1).GetMaskBand().WriteArray(VALID)
    dataset.GetRasterBand(1).SetNoDataValue(3)
    dataset.SetSpatialRef(UTM)
    dataset.SetGeoTransform((100, 10, 0, 200, 0, -20))
    dataset.WriteArray(np.stack([VALUES, VALUES]))
    dataset = None
    assert os.listdir(tmp_path) == ["r.zarr"]
    dataset = opened(tmp_path / "r.zarr")
    assert dataset.GetRasterBand(1).GetNoDataValue() == 3  # the mask goes before it
    assert dataset.GetGeoTransform() == (100, 10, 0, 200, 0, -20)
    check(dataset)


def test_a_place_may_change_beside_a_mask(tmp_path):
    """The mask goes where its raster goes, and does not make its coordinates common ones."""
    path = tmp_path / "r.zarr"
    DRIVER.CreateCopy(str(path), source()).Close()
    dataset = update(path)
    with Errors() as errors:
        dataset.SetGeoTransform((0, 1, 0, 0, 0, -1))
        dataset = None
    assert errors.seen == []
    assert opened(path).GetGeoTransform() == (0, 1, 0, 0, 0, -1)
    assert zarr.open_array(str(path / "x"), mode="r")[0] == 0.5


def test_appended_rasters_have_masks_of_their_own(tmp_path):
    path = str(tmp_path / "r.zarr")
    options = ["APPEND_SUBDATASET=YES", "ARRAY_NAME=two"]
    DRIVER.CreateCopy(path, source()).Close()
    DRIVER.CreateCopy(path, source(1, 255 - VALID), options=options).Close()
    check(opened(sub(path, "r")))
    check(opened(sub(path, "two")), 255 - VALID)
    names = [name for name, _ in gdal.Open(path).GetSubDatasets()]
    assert [name.split("/")[-1] for name in names][:2] == ["r", "two"]
    before = sorted(os.listdir(path))
    with Errors():
        options[1] = "ARRAY_NAME=three"
        result = DRIVER.CreateCopy(path, source(), options=options,
                                   callback=lambda done, *_: done < 0.95)
        assert result is None
    assert sorted(os.listdir(path)) == before


def test_masks_of_single_bands_are_refused(tmp_path):
    vrt = gdal.GetDriverByName("VRT").Create("", 30, 20, 2, gdal.GDT_UInt16)
    vrt.GetRasterBand(1).CreateMaskBand(0)
    with Errors() as errors:
        assert DRIVER.CreateCopy(str(tmp_path / "r.zarr"), vrt, strict=1) is None
        assert "masks of single bands" in errors.failures[0]
        DRIVER.CreateCopy(str(tmp_path / "r.zarr"), vrt, strict=0).Close()
        dataset = update(tmp_path / "r.zarr")
        assert dataset.CreateMaskBand(0) != gdal.CE_None
        assert "one for all bands" in errors.failures[-1]
        assert dataset.CreateMaskBand(gdal.GMF_PER_DATASET) == gdal.CE_None
        assert dataset.GetRasterBand(1).CreateMaskBand(gdal.GMF_PER_DATASET) != gdal.CE_None
        assert "there is one already" in errors.failures[-1]
        dataset = None
    array = zarr.create_array(store=str(tmp_path / "a.zarr"), shape=(4, 4), dtype="u1")
    array[...] = 1
    with Errors() as errors:
        dataset = update(tmp_path / "a.zarr")
        assert dataset.CreateMaskBand(gdal.GMF_PER_DATASET) != gdal.CE_None
        assert "in a group" in errors.failures[-1]


@pytest.mark.parametrize("name", ["none", "small", "words", "t", "g", "../t", "", 5])
def test_what_is_no_mask_is_passed_over(store, name):
    path, root = store
    put(root, "t", VALUES.astype("uint8"), extension(mask=name))
    put(root, "small", VALID[:5])
    put(root, "words", VALUES)
    root.create_group("g")
    with Errors() as errors:
        dataset = opened(sub(path, "t"))
        band = dataset.GetRasterBand(1)
        assert band.GetMaskFlags() == gdal.GMF_ALL_VALID
        assert (band.GetMaskBand().ReadAsArray() == 255).all()
        assert not errors.failures
        assert bool(errors.seen) == (name in ("none", "small", "words", "t", "g"))


def test_rasterio_reads_and_writes_masks(tmp_path):
    rasterio = pytest.importorskip("rasterio")
    path = str(tmp_path / "r.zarr")
    with rasterio.open(path, "w", driver="Zarr3", width=30, height=20, count=2,
                       dtype="uint16") as dataset:
        dataset.write(np.stack([VALUES, VALUES]))
        dataset.write_mask(VALID)
    assert os.listdir(tmp_path) == ["r.zarr"]
    with rasterio.open(path) as dataset:
        assert (dataset.dataset_mask() == VALID).all()
        assert (dataset.read(1, masked=True).mask == (VALID == 0)).all()
