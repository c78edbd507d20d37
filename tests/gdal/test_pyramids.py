# SPDX-License-Identifier: MIT
"""`zarrbridge pyramid` (zb_pyramid_build) makes what gdaladdo makes through the driver: pixels, masks, places,
documents."""
import json
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest
import zarr
from osgeo import gdal, osr

from conftest import opened, put, run

DRIVER = gdal.GetDriverByName("Zarr3")
TYPES = {gdal.GDT_Byte: "u1", gdal.GDT_Int8: "i1", gdal.GDT_UInt16: "u2", gdal.GDT_Int16: "i2", gdal.GDT_UInt32: "u4",
         gdal.GDT_Int32: "i4", gdal.GDT_Int64: "i8", gdal.GDT_UInt64: "u8", gdal.GDT_Float32: "f4",
         gdal.GDT_Float64: "f8"}
UTM = osr.SpatialReference()
UTM.ImportFromEPSG(32725)


def zarrbridge(*arguments):
    done = subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], "pyramid", *map(str, arguments)], capture_output=True,
                          text=True, timeout=600)
    return done.returncode, done.stderr


def values(random, kind, height, width, few):
    kind = np.dtype(kind)
    if few:  # so that some are more frequent than others
        return random.integers(0, 5, (height, width)).astype(kind)
    if kind.kind == "f":
        return (random.standard_normal((height, width)) * 1000).astype(kind)
    info = np.iinfo(kind)
    return random.integers(max(info.min, -30000), min(info.max, 60000), (height, width), dtype=kind, endpoint=True)


def make(path, gdal_type, width=101, height=70, bands=1, nodata=None, options=("BLOCKSIZE=32x32",), mask=False,
         few=False):
    """A raster of random pixels; its first eight rows and columns, and others here and there, are not valid."""
    random = np.random.default_rng(width + height)
    source = gdal.GetDriverByName("MEM").Create("", width, height, bands, gdal_type)
    for i in range(bands):
        pixels = values(random, TYPES[gdal_type], height, width, few)
        if nodata is not None:
            pixels[random.random((height, width)) < 0.3] = nodata
            pixels[:8, :8] = nodata
            source.GetRasterBand(i + 1).SetNoDataValue(nodata)
        source.GetRasterBand(i + 1).WriteArray(pixels)
    if mask:
        source.CreateMaskBand(gdal.GMF_PER_DATASET)
        valid = (random.random((height, width)) < 0.5).astype("u1") * 255
        valid[:8, :8] = 0
        source.GetRasterBand(1).GetMaskBand().WriteArray(valid)
    source.SetGeoTransform((500, 10, 0, 9000, 0, -10))
    source.SetSpatialRef(UTM)
    DRIVER.CreateCopy(str(path), source, options=list(options)).Close()
    return str(path)


def documents(path):
    """All documents of a store. Codecs of masks differ in a configuration that bytes of one have no use for."""
    found = {}
    for file in pathlib.Path(path).rglob("zarr.json"):
        document = json.loads(file.read_text())
        document.pop("consolidated_metadata", None)
        if file.parent.name.endswith("_mask"):
            document.pop("codecs")
        found[str(file.parent.relative_to(path))] = document
    return found


SUMS_DIFFER = int(gdal.VersionInfo()) >= 3110000  # newer versions add the pixels of an average in another order


def same(one, other):
    if one.dtype.kind == "f" and SUMS_DIFFER:
        near = 8 * np.finfo(one.dtype).eps * np.nanmax(np.abs(other), initial=0)
        return np.allclose(one, other, rtol=0, atol=near, equal_nan=True)
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def compare(tmp_path, method, factors, array=None, **how):
    """Makes levels of the same raster in both ways, and compares all that there is."""
    wanted = make(tmp_path / "gdal" / "r.zarr", **how)
    found = str(tmp_path / "core" / "r.zarr")
    shutil.copytree(wanted, found)
    dataset = gdal.OpenEx(wanted, gdal.OF_RASTER | gdal.OF_UPDATE)
    assert dataset.BuildOverviews(method.upper(), factors) == gdal.CE_None
    dataset.Close()
    status, told = zarrbridge(f"{found}/{array or 'r'}", "--factors", ",".join(map(str, factors)), "--method", method)
    assert status == 0, told
    first, second = opened(wanted), opened(found)
    for number in range(1, first.RasterCount + 1):
        count = first.GetRasterBand(number).GetOverviewCount()
        assert count == second.GetRasterBand(number).GetOverviewCount() == len(factors)
        for i in range(count):
            one, other = (data.GetRasterBand(number).GetOverview(i) for data in (first, second))
            assert same(one.ReadAsArray(), other.ReadAsArray()), (number, i)
            assert same(one.GetMaskBand().ReadAsArray(), other.GetMaskBand().ReadAsArray())
            assert one.GetDataset().GetGeoTransform() == other.GetDataset().GetGeoTransform()
    assert documents(wanted) == documents(found)
    one, other = zarr.open(wanted), zarr.open(found)
    for coordinate in pathlib.Path(wanted).glob("*/[xy]/zarr.json"):
        name = str(coordinate.parent.relative_to(wanted))
        assert np.allclose(one[name][:], other[name][:], rtol=1e-12, atol=0)


def widths(path):
    dataset = opened(path)
    band = dataset.GetRasterBand(1)
    return [band.GetOverview(i).XSize for i in range(band.GetOverviewCount())]


@pytest.fixture(autouse=True)
def folders(tmp_path):
    (tmp_path / "gdal").mkdir()
    (tmp_path / "core").mkdir()


@pytest.mark.parametrize("method", ["nearest", "average", "mode"])
@pytest.mark.parametrize("kind", TYPES, ids=TYPES.get)
def test_all_types(tmp_path, kind, method):
    """Of sizes that do not divide, where windows have edges within pixels."""
    compare(tmp_path, method, [2, 4], gdal_type=kind, width=67, height=51, nodata=3, few=method == "mode")


@pytest.mark.parametrize("kind", [gdal.GDT_Byte, gdal.GDT_UInt16, gdal.GDT_Int16, gdal.GDT_Float32, gdal.GDT_Float64],
                         ids=TYPES.get)
def test_averages_of_four_pixels(tmp_path, kind):
    compare(tmp_path, "average", [2, 4], gdal_type=kind, width=124, height=64)


@pytest.mark.parametrize("method", ["nearest", "average"])
@pytest.mark.parametrize("mask", [False, True], ids=["bare", "masked"])
@pytest.mark.parametrize("options", [["BLOCKSIZE=32x32"], ["BLOCKSIZE=16x16", "SHARD=32x64"],
                                     ["INTERLEAVE=PIXEL", "BLOCKSIZE=32x32"],
                                     ["BLOCKSIZE=32x32", "OVERVIEW_LAYOUT=GROUPS"]],
                         ids=["bands", "shards", "pixels", "groups"])
def test_bands_masks_and_places(tmp_path, options, mask, method):
    array = "0/r" if options[-1].endswith("GROUPS") else "r"
    compare(tmp_path, method, [2, 3, 16], array=array, gdal_type=gdal.GDT_UInt16, bands=3, options=options, mask=mask,
            nodata=None if mask else 7)


def test_alpha(tmp_path):
    """What is transparent takes no part; the driver takes four bands of bytes for red, green, blue and alpha."""
    compare(tmp_path, "average", [2, 4], gdal_type=gdal.GDT_Byte, bands=4, few=True,
            options=["INTERLEAVE=PIXEL", "BLOCKSIZE=32x32"])


def test_several_tiles_of_several_shards(tmp_path):
    compare(tmp_path, "average", [2, 4, 8], gdal_type=gdal.GDT_UInt16, width=1030, height=700, bands=2,
            options=["BLOCKSIZE=64x64", "SHARD=256x256"])


def test_the_usual_factors_and_their_removal(tmp_path):
    """As gdaladdo, without levels: halves until both sides have at most so many pixels. --clean leaves nothing."""
    path = make(tmp_path / "r.zarr", gdal.GDT_Byte, width=700, height=300, mask=True)
    before = documents(path)
    assert zarrbridge(f"{path}/r")[0] == 0
    assert widths(path) == [350, 175]
    assert zarrbridge(f"{path}/r", "--min-size", "100")[0] == 0
    assert widths(path) == [350, 175, 88]
    status, told = zarrbridge(f"{path}/r", "--clean")
    assert (status, told) == (0, "3 levels removed\n")
    assert documents(path) == before


def test_gdaladdo_knows_the_levels(tmp_path):
    """What one has made the other makes anew, adds to and removes."""
    path = make(tmp_path / "r.zarr", gdal.GDT_Byte)
    before = documents(path)
    assert zarrbridge(f"{path}/r", "--factors", "2,4")[0] == 0
    run("gdaladdo", "-q", "-r", "average", path, "4", "8")
    names = ["ovr_2x", "ovr_4x", "ovr_8x"]
    assert sorted(name for name in os.listdir(path) if name.startswith("ovr_")) == names
    assert zarrbridge(f"{path}/r", "--factors", "8")[0] == 0
    entries = zarr.open_group(path).attrs["multiscales"]["layout"]
    assert [entry.get("resampling_method") for entry in entries] == [None, "nearest", "average", "nearest"]
    run("gdaladdo", "-q", "-clean", path)
    assert documents(path) == before


@pytest.mark.parametrize("name", ["sr.zarr", "bare.zarr"])
def test_arrays_of_other_programs(tmp_path, name):
    """Coordinates and a grid mapping place the raster, as xarray and rioxarray write them; or nothing does. A third
    dimension has a coordinate, too."""
    path = tmp_path / name
    root = zarr.create_group(store=str(path), zarr_format=3)
    put(root, "t", np.arange(2) * 5.0, dims=["t"])
    if name == "sr.zarr":
        put(root, "y", 900 - 10.0 * np.arange(40), {"units": "m"}, dims=["y"])
        put(root, "x", 500 + 10.0 * np.arange(60), {"units": "m"}, dims=["x"])
        put(root, "spatial_ref", 0, {"crs_wkt": UTM.ExportToWkt(), "GeoTransform": "495.0 10.0 0.0 905.0 0.0 -10.0"})
    put(root, "v", np.random.default_rng(1).random((2, 40, 60)), {"grid_mapping": "spatial_ref", "note": "n"},
        dims=["t", "y", "x"], chunks=(1, 16, 16))
    wanted = tmp_path / "gdal" / name
    shutil.copytree(path, wanted)
    dataset = gdal.OpenEx(f'ZARR3:"{wanted}":/v', gdal.OF_RASTER | gdal.OF_UPDATE)
    dataset.BuildOverviews("AVERAGE", [2])
    dataset.Close()
    assert zarrbridge(f"{path}/v", "--factors", "2", "--method", "average")[0] == 0
    levels = [gdal.Open(f'ZARR3:"{where}":/ovr_2x/v') for where in (wanted, path)]
    assert same(*(level.ReadAsArray() for level in levels))
    assert np.allclose(*(level.GetGeoTransform() for level in levels))
    assert levels[0].GetSpatialRef() is None or levels[1].GetSpatialRef().IsSame(levels[0].GetSpatialRef())
    assert zarr.open(str(path))["ovr_2x/v"].attrs["note"] == "n"
    assert list(zarr.open(str(path))["ovr_2x/t"][:]) == [0, 5]


def test_what_is_refused(tmp_path):
    path = make(tmp_path / "r.zarr", gdal.GDT_Byte)
    before = documents(path)
    for arguments, said in ((["--method", "cubic"], "gdaladdo -r cubic"), (["--factors", "1"], "nothing smaller"),
                            (["--factors", "2,x"], "--factors"), (["--level", "2"], "--level")):
        status, told = zarrbridge(f"{path}/r", *arguments)
        assert status == 2 and said in told, told
    assert "is a group" in zarrbridge(path)[1]
    assert documents(path) == before
