# SPDX-License-Identifier: MIT
"""GDAL's multidimensional programs and its newer ones with the plugin installed: commands that work
without it work with it, and the result opens."""
import os
import shutil
import subprocess

import numpy as np
import pytest
import zarr
from osgeo import gdal

from conftest import DATA, Errors, opened, put, run, sub

NETCDF = DATA / "reduced.nc"
NEW = int(gdal.VersionInfo()) >= 3130000
only_new = pytest.mark.skipif(not NEW, reason="GDAL %s has no such program" % gdal.__version__)


def multidimensional(path):
    return gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)


def same_arrays(path):
    """The copy has the source's arrays, by the API that made it."""
    dataset, source = multidimensional(path), multidimensional(NETCDF)
    assert dataset.GetDriver().ShortName == "Zarr"
    found, expected = dataset.GetRootGroup(), source.GetRootGroup()
    assert sorted(found.GetMDArrayNames()) == sorted(expected.GetMDArrayNames())
    for name in expected.GetMDArrayNames():
        assert np.array_equal(found.OpenMDArray(name).ReadAsArray(),
                              expected.OpenMDArray(name).ReadAsArray(), equal_nan=True), name


def test_mdimtranslate(tmp_path):
    path = tmp_path / "out.zarr"
    run("gdalmdimtranslate", NETCDF, path)
    same_arrays(path)
    assert gdal.Open(str(path)) is not None


def test_mdimtranslate_by_the_library(tmp_path):
    path = str(tmp_path / "out.zarr")
    dataset = gdal.MultiDimTranslate(path, str(NETCDF))
    assert dataset.GetDriver().ShortName == "Zarr" and dataset.GetRootGroup() is not None
    dataset = None
    same_arrays(path)


def test_mdimtranslate_of_one_array(tmp_path):
    path = tmp_path / "out.zarr"
    run("gdalmdimtranslate", "-array", "sst", NETCDF, path)
    assert "sst" in multidimensional(path).GetRootGroup().GetMDArrayNames()


@only_new
def test_mdimtranslate_to_version_3(tmp_path):
    """Our driver then opens the store as rasters."""
    path = tmp_path / "out.zarr"
    run("gdalmdimtranslate", "-co", "FORMAT=ZARR_V3", NETCDF, path)
    expected = gdal.Open('NETCDF:"%s":sst' % NETCDF)
    found = opened(sub(str(path), "sst"))
    rows = slice(None, None, -1) if found.GetGeoTransform()[5] > 0 else slice(None)
    assert (found.ReadAsArray()[..., rows, :] == expected.ReadAsArray()).all()


@only_new
def test_mdim_convert(tmp_path):
    path = tmp_path / "out.zarr"
    run("gdal", "mdim", "convert", NETCDF, path)
    same_arrays(path)
    run("gdal", "mdim", "convert", "--overwrite", "--co", "FORMAT=ZARR_V3", NETCDF, path)
    assert opened(sub(str(path), "sst")) is not None
    assert "sst" in run("gdal", "mdim", "info", path)


def test_a_store_is_not_mixed_with_another(tmp_path):
    """GDAL's own driver refuses a directory that is there; ours does not clear it away."""
    path = tmp_path / "out.zarr"
    run("gdal_translate", "-q", DATA / "olinda_dem_utm25s.tif", path)
    before = sorted(os.walk(path))
    result = subprocess.run(["gdalmdimtranslate", NETCDF, path], capture_output=True, text=True)
    assert result.returncode != 0 and "ERROR" in result.stderr
    assert sorted(os.walk(path)) == before


def test_names_that_its_driver_does_not_take(tmp_path):
    with Errors() as errors:
        gdal.GetDriverByName("Zarr3").CreateCopy('ZARR3:"%s"' % (tmp_path / "x.zarr"),
                                                 multidimensional(NETCDF))
    assert "plain paths" in errors.failures[-1]
    assert os.listdir(tmp_path) == []


def test_multidimensional_opens_are_not_ours(store):
    path, root = store
    put(root, "t", np.ones((3, 4)))
    driver = gdal.GetDriverByName("Zarr3")
    assert driver.GetMetadataItem("DCAP_MULTIDIM_RASTER") is None
    assert driver.GetMetadataItem("DCAP_CREATE_MULTIDIMENSIONAL") is None
    with Errors():
        found = multidimensional(path)
    assert found is None or found.GetDriver().ShortName == "Zarr"


@only_new
def test_raster_convert_appends(tmp_path):
    path = tmp_path / "a.zarr"
    files = {"one": "olinda_dem_utm25s.tif", "two": "L7_ETMs.tif", "three": "L7_ETMs.tif"}
    for name, file in files.items():
        run("gdal", "raster", "convert", "-q", *(["--append"] if name != "one" else []), "--co",
            "ARRAY_NAME=" + name, DATA / file, path)
    for name, file in files.items():
        source, found = gdal.Open(str(DATA / file)), opened(sub(str(path), name))
        assert (found.ReadAsArray() == source.ReadAsArray()).all()
        assert found.GetGeoTransform() == source.GetGeoTransform()
    arrays = set(zarr.open_group(str(path), mode="r").array_keys())
    assert {"one", "two", "three"} <= arrays
    again = ["gdal", "raster", "convert", "-q", "--append", "--co", "ARRAY_NAME=two"]
    result = subprocess.run([*again, DATA / files["one"], path], capture_output=True, text=True)
    assert result.returncode != 0 and "exists already" in result.stderr


@only_new
def test_raster_create_appends(tmp_path):
    path = tmp_path / "a.zarr"
    common = ["gdal", "raster", "create", "-q", "--size", "30,20", "--ot", "Int16"]
    run(*common, "--co", "ARRAY_NAME=one", "--burn", "5", path)
    run(*common, "--append", "--co", "ARRAY_NAME=two", "--burn", "7", path)
    for name, value in (("one", 5), ("two", 7)):
        dataset = opened(sub(str(path), name))
        assert (dataset.ReadAsArray() == value).all()


@pytest.mark.skipif(shutil.which("gdalcompare.py") is None, reason="no gdalcompare.py")
def test_programs_still_choose_this_driver_for_rasters(tmp_path):
    run("gdal_translate", "-q", DATA / "L7_ETMs.tif", tmp_path / "a.zarr")
    run("gdal_translate", "-q", tmp_path / "a.zarr", tmp_path / "b.zarr")
    assert (opened(tmp_path / "b.zarr").ReadAsArray()
            == gdal.Open(str(DATA / "L7_ETMs.tif")).ReadAsArray()).all()
