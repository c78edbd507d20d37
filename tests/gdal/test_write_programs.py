# SPDX-License-Identifier: MIT
"""GDAL's programs and rasterio writing stores; xarray, rioxarray and GDAL's own driver reading
these stores."""
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import xarray
import zarr
from osgeo import gdal

from conftest import DATA, FIND_PROJ, opened, run, run_python

sys.path.append(os.environ["ZARRBRIDGE_SOURCE_DIR"] + "/tests/interop")
from venvs import venv  # noqa: E402

LANDSAT = DATA / "L7_ETMs.tif"
ELEVATION = DATA / "olinda_dem_utm25s.tif"


def test_translate_with_shards(tmp_path):
    path = tmp_path / "out.zarr"
    run("gdal_translate", "-q", "-of", "Zarr3", "-co", "SHARD=128x64", "-co", "BLOCKSIZE=32,64",
        "-co", "COMPRESS=ZSTD", "-co", "LEVEL=3", LANDSAT, path)
    source = gdal.Open(str(LANDSAT))
    array = zarr.open_array(str(path) + "/out", mode="r")
    assert array.shards == (1, 64, 128) and array.chunks == (1, 32, 64)
    assert (array[:] == source.ReadAsArray()).all()
    assert opened(path).GetMetadataItem("SHARD_SIZE", "IMAGE_STRUCTURE") == "128x64"


def test_the_format_is_known_by_the_suffix(tmp_path):
    run("gdal_translate", "-q", ELEVATION, tmp_path / "out.zarr")
    assert opened(tmp_path / "out.zarr").RasterXSize == gdal.Open(str(ELEVATION)).RasterXSize


@pytest.mark.parametrize("file", [LANDSAT, ELEVATION])
def test_gdalcompare_finds_no_difference(tmp_path, file):
    run("gdal_translate", "-q", file, tmp_path / "a.tif")  # with metadata of its own driver
    run("gdal_translate", "-q", tmp_path / "a.tif", tmp_path / "a.zarr")
    result = subprocess.run(["gdalcompare.py", "-skip_binary", tmp_path / "a.tif",
                             tmp_path / "a.zarr"], capture_output=True, text=True)
    assert "SRS" not in result.stdout, result.stdout
    assert result.returncode == 0 and "Differences Found: 0" in result.stdout, result.stdout


def test_epochs_by_programs(tmp_path):
    path = tmp_path / "a.zarr"
    run("gdal_translate", "-q", "-a_srs", "EPSG:9000", "-a_coord_epoch", "2020.5", ELEVATION, path)
    assert opened(path).GetSpatialRef().GetCoordinateEpoch() == 2020.5
    assert "Coordinate epoch: 2020.5" in run("gdalinfo", path)
    run("gdal_translate", "-q", path, tmp_path / "back.tif")
    assert gdal.Open(str(tmp_path / "back.tif")).GetSpatialRef().GetCoordinateEpoch() == 2020.5
    run("gdal_edit.py", "-a_srs", "EPSG:9000", "-a_coord_epoch", "1999.25", path)
    assert opened(path).GetSpatialRef().GetCoordinateEpoch() == 1999.25


def differences(before, after):
    """Lines of gdalinfo about the raster itself that differ."""
    def lines(path):
        text = run("gdalinfo", path).splitlines()
        start = next(i for i, line in enumerate(text) if line.startswith("Size is"))
        return [line.split(" Type=")[-1] for line in text[start:]
                if not line.strip().startswith(("COMPRESSION", "INTERLEAVE", "SHARD_SIZE",
                                                "Overviews", "Image Structure"))]
    return set(lines(before)) ^ set(lines(after))


@pytest.mark.parametrize("file", [LANDSAT, ELEVATION])
def test_gdalinfo_says_the_same(tmp_path, file):
    run("gdal_translate", "-q", "-a_nodata", "3", file, tmp_path / "a.tif")
    run("gdal_translate", "-q", "-of", "Zarr3", tmp_path / "a.tif", tmp_path / "a.zarr")
    assert differences(tmp_path / "a.tif", tmp_path / "a.zarr") == set()


@pytest.mark.skipif(shutil.which("gdal") is None, reason="GDAL before 3.11 has no program gdal")
def test_the_one_program_for_all(tmp_path):
    path, warped = tmp_path / "a.zarr", tmp_path / "c.zarr"
    for again in ([], ["--overwrite"]):
        run("gdal", "raster", "convert", "-f", "Zarr3", "--co", "SHARD=128x128", "--co",
            "BLOCKSIZE=64x64", *again, LANDSAT, path)
        assert differences(LANDSAT, path) == set()
    assert json.loads(run("gdal", "raster", "info", "--format", "json", path))[
        "driverShortName"] == "Zarr3"
    run("gdal", "raster", "edit", "--nodata", "3", path)
    assert opened(path).GetRasterBand(6).GetNoDataValue() == 3
    run("gdal", "raster", "reproject", "-f", "Zarr3", "--dst-crs", "EPSG:4326", path, warped)
    assert opened(warped).GetSpatialRef().IsGeographic()


@pytest.mark.skipif(int(gdal.VersionInfo()) < 3120000, reason="gdal dataset is of GDAL 3.12")
def test_the_one_program_for_whole_stores(tmp_path):
    path, copy = tmp_path / "a.zarr", tmp_path / "b.zarr"
    run("gdal_translate", "-q", "-of", "Zarr3", LANDSAT, path)
    run("gdal", "dataset", "copy", path, copy)
    assert (opened(copy).ReadAsArray() == gdal.Open(str(LANDSAT)).ReadAsArray()).all()
    run("gdal", "dataset", "delete", path)
    run("gdal", "dataset", "rename", copy, path)
    assert os.listdir(tmp_path) == ["a.zarr"]


@pytest.mark.parametrize("options", [[], ["-co", "SHARD=128x128", "-co", "BLOCKSIZE=64x64"],
                                     ["-co", "INTERLEAVE=PIXEL", "-wm", "1"]])
@pytest.mark.parametrize("file", [LANDSAT, ELEVATION])
def test_warp(tmp_path, file, options):
    command = ["gdalwarp", "-q", "-t_srs", "EPSG:4326", "-r", "bilinear", "-dstnodata", "0"]
    theirs = options[2 * len([o for o in options if o == "-co"]):]
    run(*command, *theirs, "-of", "GTiff", file, tmp_path / "w.tif")
    run(*command, *options, "-of", "Zarr3", file, tmp_path / "w.zarr")
    ours, tiff = opened(tmp_path / "w.zarr"), gdal.Open(str(tmp_path / "w.tif"))
    assert (ours.ReadAsArray() == tiff.ReadAsArray()).all()
    assert ours.GetGeoTransform() == tiff.GetGeoTransform()
    assert ours.GetSpatialRef().IsSame(tiff.GetSpatialRef())
    assert ours.GetRasterBand(1).GetNoDataValue() == 0


def test_warp_into_a_store_that_is_there(tmp_path):
    """Two halves, the second one into the store that the first one left."""
    for suffix, options in (("tif", []), ("zarr", ["-of", "Zarr3", "-co", "SHARD=128x128",
                                                   "-co", "BLOCKSIZE=64x64"])):
        path = tmp_path / ("w." + suffix)
        whole = gdal.Open(str(LANDSAT))
        t = whole.GetGeoTransform()
        extent = [t[0], t[3] + 352 * t[5], t[0] + 349 * t[1], t[3]]
        run("gdal_translate", "-q", "-srcwin", "0", "0", "349", "190", LANDSAT, tmp_path / "n.tif")
        run("gdal_translate", "-q", "-srcwin", "0", "160", "349", "192", LANDSAT,
            tmp_path / "s.tif")
        run("gdalwarp", "-q", "-te", *extent, "-ts", "349", "352", *options, tmp_path / "n.tif",
            path)
        run("gdalwarp", "-q", tmp_path / "s.tif", path)
    assert (opened(tmp_path / "w.zarr").ReadAsArray() == whole.ReadAsArray()).all()
    assert (gdal.Open(str(tmp_path / "w.tif")).ReadAsArray() == whole.ReadAsArray()).all()


def test_gdal_calc_and_overwriting(tmp_path):
    path = tmp_path / "c.zarr"
    for factor in (2, 3):
        run("gdal_calc.py", "--quiet", "--overwrite", "--format=Zarr3", "--type=Float32", "-A",
            ELEVATION, "--outfile=%s" % path, "--calc=A*%d" % factor)
    expected = gdal.Open(str(ELEVATION)).ReadAsArray().astype("f4") * 3
    assert (opened(path).ReadAsArray() == expected).all()


RASTERIO = r"""
import sys, numpy, rasterio
from rasterio.windows import Window
with rasterio.open(sys.argv[1]) as s:
    data, profile = s.read(), s.profile
    for key in ("tiled", "compress", "blockxsize", "blockysize", "interleave"):
        profile.pop(key, None)
    profile.update(driver="Zarr3", nodata=255, shard="128x128", blocksize="64x64")
    with rasterio.open(sys.argv[2], "w", **profile) as d:
        for row in range(0, 352, 100):
            for col in range(0, 349, 90):
                w = Window(col, row, min(90, 349 - col), min(100, 352 - row))
                d.write(data[:, row:row + w.height, col:col + w.width], window=w)
        d.descriptions = tuple("b%d" % i for i in range(6))
        d.update_tags(a="1")
        d.update_tags(2, b="2")
        d.scales = (2.0,) * 6
        d.units = ("m",) * 6
    with rasterio.open(sys.argv[2], "r+") as d:
        assert d.driver == "Zarr3"
        d.write(255 - d.read(1, window=Window(3, 4, 5, 6)), 1, window=Window(3, 4, 5, 6))
    data[0, 4:10, 3:8] = 255 - data[0, 4:10, 3:8]
    with rasterio.open(sys.argv[2]) as d:
        assert (d.read() == data).all()
        assert d.crs == s.crs and d.transform == s.transform and d.nodata == 255
        assert d.descriptions == ("b0", "b1", "b2", "b3", "b4", "b5")
        assert d.tags()["a"] == "1" and d.tags(2)["b"] == "2"
        assert d.scales == (2.0,) * 6 and d.units == ("m",) * 6
        assert d.block_shapes == [(64, 64)] * 6
print("ok")
"""


def test_rasterio(tmp_path):
    assert run_python(RASTERIO, LANDSAT, tmp_path / "r.zarr").strip() == "ok"


def test_xarray(tmp_path):
    path = str(tmp_path / "dem.zarr")
    run("gdal_translate", "-q", "-of", "Zarr3", "-a_nodata", "7", "-a_scale", "2", "-a_offset",
        "5", ELEVATION, path)
    source = gdal.Open(str(ELEVATION))
    raw, t = source.ReadAsArray(), source.GetGeoTransform()
    data = xarray.open_zarr(path, consolidated=False)
    assert list(data.data_vars) == ["dem"] and set(data.coords) == {"x", "y", "spatial_ref"}
    assert np.allclose(data["x"], t[0] + t[1] * (np.arange(raw.shape[1]) + .5))
    assert np.allclose(data["y"], t[3] + t[5] * (np.arange(raw.shape[0]) + .5))
    expected = np.where(raw == 7, np.nan, raw * 2.0 + 5)
    assert np.array_equal(data["dem"].values, expected, equal_nan=True)
    assert data["x"].attrs["standard_name"] == "projection_x_coordinate"


TILED = r"""
import sys, rasterio
with rasterio.open(sys.argv[1]) as s:
    assert s.profile["tiled"] and s.profile["blockxsize"] == 128
    profile = {**s.profile, "driver": "Zarr3", "blocksize": "64x32"}
    for _ in range(2):  # the second one over the first
        with rasterio.open(sys.argv[2], "w", **profile) as d:
            d.write(s.read())
    with rasterio.open(sys.argv[2]) as d:
        assert (d.read() == s.read()).all()
        assert d.block_shapes == [(32, 64)] * 6, d.block_shapes
print("ok")
"""


def test_rasterio_in_memory():
    """rasterio chooses the name by an empty file."""
    rasterio = pytest.importorskip("rasterio")
    values = np.arange(600, dtype="uint8").reshape(20, 30)
    with rasterio.MemoryFile(ext=".zarr") as memory:
        with memory.open(driver="Zarr3", width=30, height=20, count=1, dtype="uint8") as dataset:
            dataset.write(values, 1)
        with rasterio.open(memory.name) as dataset:
            assert (dataset.read(1) == values).all()
        with rasterio.open(memory.name, "r+") as dataset:
            dataset.update_tags(a="b")
        with rasterio.open(memory.name) as dataset:
            assert dataset.tags() == {"a": "b"}


def test_files_in_memory_are_not_overwritten():
    gdal.FileFromMemBuffer("/vsimem/full.zarr", b"x")
    with pytest.raises(RuntimeError, match="no Zarr version 3 store"):
        gdal.GetDriverByName("Zarr3").Create("/vsimem/full.zarr", 4, 4)
    assert gdal.VSIStatL("/vsimem/full.zarr").size == 1
    gdal.Unlink("/vsimem/full.zarr")


def test_rasterio_with_the_profile_of_a_tiled_raster(tmp_path):
    """As rioxarray's to_raster() hands it on, beside the options of the caller."""
    run("gdal_translate", "-q", "-co", "TILED=YES", "-co", "BLOCKXSIZE=128", "-co",
        "BLOCKYSIZE=128", LANDSAT, tmp_path / "tiled.tif")
    assert run_python(TILED, tmp_path / "tiled.tif", tmp_path / "w.zarr").endswith("ok\n")


RIOXARRAY = r"""
import sys, rasterio, rioxarray, xarray
for source, path, name in zip(sys.argv[1::3], sys.argv[2::3], sys.argv[3::3]):
    with rasterio.open(source) as s:
        for options in ({}, {"decode_coords": "all"}):
            d = xarray.open_zarr(path, consolidated=False, **options)[name]
            assert d.rio.crs == s.crs, d.rio.crs
            assert d.rio.transform() == s.transform, d.rio.transform()
            assert d.rio.encoded_nodata == s.nodata or d.rio.nodata == s.nodata
print("ok")
"""


def test_rioxarray(tmp_path):
    python = venv("rioxarray", "rioxarray==0.23.0", system=True)
    arguments = []
    for name, file in (("l7", LANDSAT), ("dem", ELEVATION)):
        path = str(tmp_path / (name + ".zarr"))
        run("gdal_translate", "-q", "-of", "Zarr3", file, path)
        arguments += [file, path, name]
    # A rotated raster has no coordinates; the transform is in the grid mapping.
    run("gdal_translate", "-q", "-a_gt", "500", "10", "1", "9000", "2", "-20", LANDSAT,
        tmp_path / "rotated.tif")
    run("gdal_translate", "-q", "-of", "Zarr3", tmp_path / "rotated.tif", tmp_path / "rot.zarr")
    arguments += [tmp_path / "rotated.tif", tmp_path / "rot.zarr", "rot"]
    # Its rasterio reads the GeoTIFFs only, and needs no plugin: ours may want a sanitizer's runtime.
    assert run(python, "-c", RIOXARRAY, *arguments, GDAL_DRIVER_PATH="disable",
               LD_PRELOAD="").strip() == "ok"


TO_RASTER = FIND_PROJ + r"""
import sys, rasterio, rioxarray
tiled = rioxarray.open_rasterio(sys.argv[1])
tiled.rio.to_raster(sys.argv[2], driver="Zarr3", blocksize="64x32")
with rasterio.open(sys.argv[2]) as written:
    assert (written.read() == tiled.values).all() and written.crs == tiled.rio.crs
    assert written.transform.almost_equals(tiled.rio.transform(), 1e-6), written.transform
    assert written.block_shapes[0] == (32, 64), written.block_shapes
print("ok")
"""


def test_rioxarray_writes_a_tiled_raster(tmp_path):
    python = venv("rioxarray", "rioxarray==0.23.0", system=True)
    run("gdal_translate", "-q", "-co", "TILED=YES", LANDSAT, tmp_path / "tiled.tif")
    told = run(python, "-c", TO_RASTER, tmp_path / "tiled.tif", tmp_path / "w.zarr")
    assert told.strip() == "ok"


OWN_DRIVER = r"""
import sys, rasterio
with rasterio.open(sys.argv[1]) as s, rasterio.open(sys.argv[2]) as d:
    assert d.driver == "Zarr", d.driver
    assert d.crs == s.crs and d.transform.almost_equals(s.transform, 1e-6)
    assert d.nodata == s.nodata and (d.read() == s.read()).all()
print("ok", rasterio.__gdal_version__)
"""


def test_the_driver_of_a_later_gdal(tmp_path):
    """rasterio's wheel brings a GDAL whose own driver reads Zarr version 3."""
    python = venv("rasterio", "rasterio==1.5.2")
    for file in (LANDSAT, ELEVATION):
        run("gdal_translate", "-q", "-a_nodata", "9", file, tmp_path / "a.tif")
        run("gdal_translate", "-q", "-of", "Zarr3", tmp_path / "a.tif", tmp_path / "a.zarr")
        told = run(python, "-c", OWN_DRIVER, tmp_path / "a.tif", tmp_path / "a.zarr",
                   GDAL_DRIVER_PATH="disable", LD_PRELOAD="")
        assert told.startswith("ok")


def test_geographic_coordinates(tmp_path):
    path = str(tmp_path / "g.zarr")
    run("gdalwarp", "-q", "-t_srs", "EPSG:4326", "-of", "Zarr3", ELEVATION, path)
    data = xarray.open_zarr(path, consolidated=False)
    assert data["x"].attrs["units"] == "degrees_east"
    assert data["y"].attrs["standard_name"] == "latitude"
    found = json.load(open(path + "/g/zarr.json"))["attributes"]
    assert found["proj:code"] == "EPSG:4326" and found["spatial:dimensions"] == ["y", "x"]
    t = opened(path).GetGeoTransform()
    assert found["spatial:transform"] == [t[1], t[2], t[0], t[4], t[5], t[3]]
