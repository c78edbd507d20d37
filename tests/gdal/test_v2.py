# SPDX-License-Identifier: MIT
"""Stores of Zarr version 2: by the prefix, where GDAL's own driver cannot, and left to it elsewhere.

interop/gdal compares the values of all types, orders, compressors and layouts.
"""
import json
import shutil
import zipfile

import numpy as np
import pytest
import zarr
from osgeo import gdal

from conftest import DATA, Errors, run_python, sub

ARCHIVE = DATA / "sic_daily_sample.zarr.zip"


@pytest.fixture
def sea_ice(tmp_path):
    with zipfile.ZipFile(ARCHIVE) as packed:
        packed.extractall(tmp_path)
    return str(tmp_path / "sic_daily_sample.zarr")


@pytest.fixture
def old(tmp_path):
    """A store of version 2 with one raster."""
    path = tmp_path / "old.zarr"
    array = zarr.open_group(path, mode="w", zarr_format=2).create_array(
        "t", shape=(6, 7), chunks=(4, 4), dtype="u1", fill_value=0)
    array[:] = np.arange(42).reshape(6, 7)
    array.attrs.update({"_ARRAY_DIMENSIONS": ["y", "x"], "units": "m"})
    return path


@pytest.mark.parametrize("zipped", [False, True])
def test_a_real_store(sea_ice, zipped):
    name = f"/vsizip/{ARCHIVE}/sic_daily_sample.zarr" if zipped else sea_ice
    dataset = gdal.Open(f'ZARR3:"{name}":/siconc')
    assert dataset.GetDriver().ShortName == "Zarr3"
    assert dataset.GetMetadataItem("ZARR_FORMAT", "IMAGE_STRUCTURE") == "2"
    expected = zarr.open_group(sea_ice, mode="r")["siconc"][0]
    assert np.array_equal(dataset.ReadAsArray(), expected)
    band = dataset.GetRasterBand(1)
    assert band.GetNoDataValue() == -32767
    assert band.GetScale() == pytest.approx(3.814813680946827e-05)
    assert band.GetMetadataItem("DIM_time_TIME") == "2021-01-09"
    transform = dataset.GetGeoTransform()
    assert transform[0] == pytest.approx(-180.0416667) and transform[5] == pytest.approx(1 / 12)
    assert dataset.GetSpatialRef().IsGeographic()


def test_an_archive_opens_by_its_own_name(sea_ice, tmp_path):
    """GDAL's own driver, which version 2 is left to, opens none."""
    name = str(tmp_path / "x.zarr.zip")
    shutil.copy(ARCHIVE, name)
    dataset = gdal.Open(name)
    assert dataset.GetDriver().ShortName == "Zarr3"
    assert np.array_equal(dataset.ReadAsArray(), zarr.open_group(sea_ice, mode="r")["siconc"][0])
    group = gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert "siconc" in group.GetMDArrayNames()


def test_a_path_into_the_store_finds_what_lies_above(sea_ice):
    dataset = gdal.OpenEx(sea_ice + "/siconc", gdal.OF_RASTER, allowed_drivers=["Zarr3"])
    assert dataset.GetGeoTransform()[0] == pytest.approx(-180.0416667)
    assert dataset.GetFileList() == [sea_ice + "/siconc/.zarray"]


def test_zero_is_nodata_as_in_gdals_own_driver(old):
    ours = gdal.Open(sub(old, "t"))
    theirs = gdal.OpenEx(str(old / "t"), gdal.OF_RASTER, allowed_drivers=["Zarr"])
    assert ours.GetRasterBand(1).GetNoDataValue() == 0
    assert theirs.GetRasterBand(1).GetNoDataValue() == 0
    assert (ours.ReadAsArray() == theirs.ReadAsArray()).all()
    document = json.loads((old / "t/.zarray").read_text()) | {"fill_value": None}
    (old / "t/.zarray").write_text(json.dumps(document))
    assert gdal.Open(sub(old, "t")).GetRasterBand(1).GetNoDataValue() is None


@pytest.mark.parametrize("node", ["", "/t"])
def test_gdals_own_driver_goes_first(old, node):
    assert gdal.Open(f"{old}{node}").GetDriver().ShortName == "Zarr"
    assert gdal.IdentifyDriverEx(f"{old}{node}").ShortName == "Zarr"


@pytest.mark.parametrize("node", ["", "/t"])
def test_without_gdals_own_driver_ours_opens(old, node):
    script = ("import sys\nfrom osgeo import gdal\ngdal.UseExceptions()\n"
              "print(gdal.Open(sys.argv[1]).GetDriver().ShortName)")
    assert run_python(script, f"{old}{node}", GDAL_SKIP="Zarr").strip() == "Zarr3"


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return (crc ^ 0xFFFFFFFF).to_bytes(4, "little")


@pytest.mark.parametrize("node", ["", "/t"])
def test_ours_opens_what_gdals_own_driver_cannot_decode(old, node):
    document = json.loads((old / "t/.zarray").read_text())
    (old / "t/.zarray").write_text(json.dumps(document | {"chunks": [6, 7], "compressor":
                                                          {"id": "crc32c", "location": "end"}}))
    values = bytes(range(42))
    (old / "t/0.0").write_bytes(values + crc32c(values))
    dataset = gdal.Open(f"{old}{node}")
    assert dataset.GetDriver().ShortName == "Zarr3"
    assert dataset.ReadAsArray().tobytes() == values
    (old / "t/0.0").write_bytes(values + b"1234")
    with Errors() as errors:
        assert gdal.Open(f"{old}{node}").ReadAsArray() is None
    assert "crc32c" in errors.seen[-1][1]


def test_the_prefix_opens_a_group(old):
    assert gdal.Open(f'ZARR3:"{old}"').RasterXSize == 7
    assert gdal.Open(sub(old, "t")).GetRasterBand(1).GetUnitType() == "m"


@pytest.mark.parametrize("name", ["", "t"])
def test_updating_is_refused(old, name):
    with Errors() as errors:
        assert gdal.OpenEx(sub(old, name), gdal.OF_RASTER | gdal.OF_UPDATE) is None
    assert "zarrbridge copy" in errors.seen[-1][1]


def test_deleting_and_renaming_are_refused(old):
    driver = gdal.GetDriverByName("Zarr3")
    with Errors() as errors:
        assert driver.Delete(str(old)) != 0
        assert driver.Rename(str(old) + "2", str(old)) != 0
        assert driver.Delete(sub(old, "t")) != 0
        assert driver.Delete(sub(old, "")) != 0
        assert driver.Rename(sub(old, "new"), sub(old, "t")) != 0
    assert all("zarrbridge copy" in text for _, text in errors.seen), errors.seen
    assert gdal.Open(sub(old, "t")).RasterXSize == 7


def test_nothing_is_created_inside(old):
    """GDAL itself may delete, by its own driver, what lies where a copy is to go: 3.13 does, 3.10
    does not. What is left is the old store or the new one."""
    source = gdal.GetDriverByName("MEM").Create("", 5, 5)
    with Errors() as errors:
        made = gdal.GetDriverByName("Zarr3").CreateCopy(str(old), source)
    documents = list(old.rglob("zarr.json"))
    if made is None:
        assert errors.seen and not documents
    else:
        assert documents and not list(old.rglob(".z*"))


def test_a_copy_of_the_store_is_of_version_3(old, tmp_path):
    new = tmp_path / "new.zarr"
    assert gdal.GetDriverByName("Zarr3").CopyFiles(str(new), sub(old, "")) == 0
    dataset = gdal.Open(str(new))
    assert dataset.GetDriver().ShortName == "Zarr3"
    assert (dataset.ReadAsArray() == np.arange(42).reshape(6, 7)).all()
    assert dataset.GetRasterBand(1).GetNoDataValue() == 0


def test_unreadable_arrays_are_told(old):
    (old / "bad").mkdir()
    (old / "bad/.zarray").write_text((old / "t/.zarray").read_text().replace("|u1", "<f16"))
    dataset = gdal.Open(f'ZARR3:"{old}"')
    texts = [text for domain in dataset.GetMetadataDomainList()
             for text in dataset.GetMetadata_List(domain) or []]
    assert any('dtype "<f16" is not supported' in str(text) for text in texts)
