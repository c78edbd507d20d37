# SPDX-License-Identifier: MIT
"""CreateCopy(): all properties of a raster come back, and failures leave nothing."""
import json
import os

import numpy as np
import pytest
import zarr
from osgeo import gdal, osr

from conftest import DATA, Errors, known, opened, run

DRIVER = gdal.GetDriverByName("Zarr3")
UTM = osr.SpatialReference()
UTM.ImportFromEPSG(32725)
WGS84 = osr.SpatialReference()
WGS84.ImportFromEPSG(4326)
WGS84.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
UPRIGHT = (288776.25, 28.5, 0.0, 9120760.75, 0.0, -28.5)
ROTATED = (100.125, 3.0, 0.5, 200.25, 0.25, -2.0)
SOUTH_UP = (-180.0, 0.1, 0.0, -90.0, 0.0, 0.1)


def raster(bands=1, dtype=gdal.GDT_Int16, width=60, height=40):
    dataset = gdal.GetDriverByName("MEM").Create("", width, height, bands, dtype)
    for band in range(bands):
        values = (np.arange(height * width).reshape(height, width) * (band + 3)) % 119
        dataset.GetRasterBand(band + 1).WriteArray(values)
    return dataset


def copy(source, path, options=(), **more):
    dataset = DRIVER.CreateCopy(str(path), source, options=list(options), **more)
    dataset.Close()
    return opened(path)


def describe(dataset):
    """The properties of a raster that a program sees, except for its blocks."""
    bands = []
    for i in range(dataset.RasterCount):
        band = dataset.GetRasterBand(i + 1)
        bands.append((band.DataType, str(band.GetNoDataValue()), band.GetScale() or 1,
                      band.GetOffset() or 0, band.GetUnitType(), band.GetDescription(),
                      band.GetColorInterpretation(), band.GetMetadata(),
                      band.ReadAsArray().tolist()))
    srs = dataset.GetSpatialRef()
    return (dataset.GetGeoTransform(can_return_null=True),
            srs and srs.ExportToWkt(["FORMAT=WKT2_2019"]),
            {"AREA_OR_POINT": "Area", **dataset.GetMetadata()}, bands)  # a place in a store tells


@pytest.mark.parametrize("options", [[], ["INTERLEAVE=PIXEL"], ["SHARD=32x32", "BLOCKSIZE=16x16"]])
@pytest.mark.parametrize("bands", [1, 2, 4])
@pytest.mark.parametrize("srs,transform", [
    (UTM, UPRIGHT), (UTM, ROTATED), (WGS84, SOUTH_UP), (None, UPRIGHT), (UTM, None), (None, None)])
def test_everything_is_kept(tmp_path, options, bands, srs, transform):
    source = raster(bands)
    if srs:
        source.SetSpatialRef(srs)
    if transform:
        source.SetGeoTransform(transform)
    source.SetMetadata({"title": 'a "b" \\ c\n', "AREA_OR_POINT": "Point", "ü": "é",
                        "units": "no"})
    for i in range(bands):
        band = source.GetRasterBand(i + 1)
        band.SetNoDataValue(-7)
        band.SetDescription("band %d" % i)
        band.SetUnitType("K" if i else "m")
        band.SetScale(0.1 * (i + 1))
        band.SetOffset(-273.15)
        band.SetColorInterpretation(gdal.GCI_AlphaBand if i else gdal.GCI_BlueBand)
        band.SetMetadata({"wavelength": str(400 + i)} if i != 1 else {})
    expected = describe(source)
    del expected[2]["units"]  # the name of an attribute that means something else
    result = copy(source, tmp_path / "r.zarr", options)
    assert describe(result) == expected
    assert sorted(os.listdir(tmp_path)) == ["r.zarr"]


@pytest.mark.parametrize("definition", ["EPSG:9000", "EPSG:4326", "EPSG:7789", "EPSG:27700",
                                        "+proj=lcc +lat_1=40 +lat_2=50 +datum=WGS84 +type=crs"])
@pytest.mark.parametrize("bands", [1, 3])
def test_coordinate_epoch(tmp_path, definition, bands):
    srs = osr.SpatialReference()
    srs.SetFromUserInput(definition)
    srs.SetAxisMappingStrategy(osr.OAMS_TRADITIONAL_GIS_ORDER)
    srs.SetCoordinateEpoch(2020.5)
    source = raster(bands)
    source.SetSpatialRef(srs)
    source.SetGeoTransform(UPRIGHT)
    path = tmp_path / "r.zarr"
    found = copy(source, path).GetSpatialRef()
    assert found.GetCoordinateEpoch() == 2020.5 and found.IsSame(srs)
    dataset = gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE)
    dataset.SetGeoTransform(SOUTH_UP)  # the rest is written anew, too
    dataset = None
    assert opened(path).GetSpatialRef().GetCoordinateEpoch() == 2020.5
    dataset = gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE)
    srs.SetCoordinateEpoch(0)
    dataset.SetSpatialRef(srs)
    dataset = None
    assert opened(path).GetSpatialRef().GetCoordinateEpoch() == 0
    attributes = zarr.open_array(str(path / "r"), mode="r").attrs
    assert not known(attributes)


@pytest.mark.parametrize("code", [2154, 3035, 3413, 3857, 4326, 4979, 9000, 27700, 32633, 32725])
@pytest.mark.parametrize("form", [None, "DEFAULT", "WKT2_2015"])
def test_a_copy_has_the_codes_of_the_crs_and_of_its_parts(tmp_path, code, form):
    """GDAL 3.10's gdalcompare.py goes by these codes. Programs like rasterio set CRSs as WKT 1,
    which knows no ensembles of datums, and neither does WKT 2:2015."""
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(code)
    if form:
        srs.ImportFromWkt(srs.ExportToWkt(["FORMAT=" + form]))
    source = raster(2)
    source.SetSpatialRef(srs)
    source.SetGeoTransform(UPRIGHT)
    whole = osr.SpatialReference()
    whole.ImportFromEPSG(code)
    for _ in range(2):
        result = copy(source, tmp_path / "r.zarr")
        assert result.GetProjection() == whole.ExportToWkt()
        source = gdal.GetDriverByName("MEM").CreateCopy("", result)


@pytest.mark.parametrize("base", ["WGS84", "NAD83", "EPSG:4258", "NAD27"])
def test_a_copy_has_the_codes_of_parts_where_the_crs_has_none(tmp_path, base):
    srs = osr.SpatialReference()
    srs.SetProjCS("mine")
    srs.SetWellKnownGeogCS(base)
    srs.SetTM(0, 9.5, 1, 100, 0)
    source = raster(2)
    source.SetSpatialRef(srs)
    source.SetGeoTransform(UPRIGHT)
    result = copy(source, tmp_path / "r.zarr")
    assert 'AUTHORITY["EPSG","9122"]' in source.GetProjection()
    assert result.GetProjection() == source.GetProjection()
    assert result.GetSpatialRef().IsSame(srs)


def test_a_changed_definition_keeps_its_changes(tmp_path):
    """The definition counts, though it has the code of another CRS."""
    srs = osr.SpatialReference()
    srs.ImportFromWkt(UTM.ExportToWkt(["FORMAT=WKT2_2019"]).replace("-33,", "-33.5,"))
    assert srs.GetAuthorityCode(None) == "32725"
    source = raster()
    source.SetSpatialRef(srs)
    found = copy(source, tmp_path / "r.zarr").GetSpatialRef()
    assert found.GetProjParm("central_meridian") == -33.5


def test_nothing_is_invented(tmp_path):
    source = raster(3)
    assert describe(copy(source, tmp_path / "r.zarr")) == describe(source)
    attributes = zarr.open_array(str(tmp_path / "r.zarr/r"), mode="r").attrs
    assert dict(attributes) == {}


@pytest.mark.parametrize("dtype,value", [
    (gdal.GDT_Byte, 0), (gdal.GDT_Byte, 255), (gdal.GDT_Int8, -128), (gdal.GDT_UInt32, 2**32 - 1),
    (gdal.GDT_Float32, -9999), (gdal.GDT_Float32, float("nan")), (gdal.GDT_Float64, 1e300),
    (gdal.GDT_Float32, float("-inf")), (gdal.GDT_Int64, -2**63), (gdal.GDT_UInt64, 2**64 - 1)])
def test_nodata(tmp_path, dtype, value):
    source = raster(2, dtype)
    for i in (1, 2):
        source.GetRasterBand(i).SetNoDataValue(value)
    result = copy(source, tmp_path / "r.zarr")
    for i in (1, 2):
        assert str(result.GetRasterBand(i).GetNoDataValue()) == str(
            source.GetRasterBand(i).GetNoDataValue())
    array = zarr.open_array(str(tmp_path / "r.zarr/r"), mode="r")
    assert str(array.fill_value) == str(array.dtype.type(value))


def test_zero_is_no_nodata_unless_it_was(tmp_path):
    source = raster()
    source.SetSpatialRef(UTM)
    assert copy(source, tmp_path / "r.zarr").GetRasterBand(1).GetNoDataValue() is None


def test_what_cannot_be_kept_is_said(tmp_path):
    source = raster(2, gdal.GDT_Byte)
    source.GetRasterBand(1).SetNoDataValue(-9999)
    with Errors() as errors:
        loose = copy(source, tmp_path / "r.zarr", strict=0)
        assert loose.GetRasterBand(1).GetNoDataValue() is None
        loose = None
        assert not errors.failures
        assert DRIVER.CreateCopy(str(tmp_path / "s.zarr"), source, strict=1) is None
    assert "type cannot hold" in " ".join(text for _, text in errors.seen)
    assert os.listdir(tmp_path) == ["r.zarr"]


def test_nodata_of_one_band_is_not_the_other_ones(tmp_path):
    source = raster(2, gdal.GDT_Byte)
    source.GetRasterBand(1).SetNoDataValue(1)
    result = copy(source, tmp_path / "r.zarr", strict=1)
    assert [result.GetRasterBand(i).GetNoDataValue() for i in (1, 2)] == [1, None]


def test_bands_of_several_types_become_the_widest(tmp_path):
    vrt = gdal.BuildVRT("", [str(DATA / "L7_ETMs.tif")], bandList=[1])
    vrt.AddBand(gdal.GDT_Float32)
    assert copy(vrt, tmp_path / "r.zarr").GetRasterBand(1).DataType == gdal.GDT_Float32


@pytest.mark.parametrize("file", ["L7_ETMs.tif", "olinda_dem_utm25s.tif"])
@pytest.mark.parametrize("options", [[], ["INTERLEAVE=PIXEL", "BLOCKSIZE=100x100"],
                                     ["SHARD=128x192", "BLOCKSIZE=32x64"]])
def test_real_rasters(tmp_path, file, options):
    source = gdal.Open(str(DATA / file))
    expected = describe(source)
    assert describe(copy(source, tmp_path / "r.zarr", options)) == expected


def test_progress_and_cancelling(tmp_path):
    source = raster(1, gdal.GDT_Byte, 3000, 3000)
    seen = []
    options = ["BLOCKSIZE=3000x16", "SHARD=OFF"]
    dataset = DRIVER.CreateCopy(str(tmp_path / "r.zarr"), source, options=options,
                                callback=lambda done, text, data: seen.append(done) or 1)
    dataset = None
    assert seen[0] == 0 and seen[-1] == 1 and seen == sorted(seen)
    before = open(tmp_path / "r.zarr/r/zarr.json").read()
    for stop in (0, 1):
        with Errors() as errors:
            assert DRIVER.CreateCopy(str(tmp_path / "r.zarr"), raster(), options=["LEVEL=9"],
                                     callback=lambda done, text, data: done < stop) is None
        assert len(errors.failures) == 1 and "cancelled" in errors.failures[0]
        assert os.listdir(tmp_path) == ["r.zarr"]
        assert open(tmp_path / "r.zarr/r/zarr.json").read() == before
        with Errors() as errors:
            assert DRIVER.CreateCopy(str(tmp_path / "s.zarr"), raster(),
                                     callback=lambda done, text, data: done < stop) is None
        assert os.listdir(tmp_path) == ["r.zarr"]


def test_a_failed_copy_to_a_name_with_prefix_keeps_the_old_store(tmp_path):
    path = tmp_path / "r.zarr"
    source = raster(2)
    copy(source, path)
    with Errors() as errors:
        assert DRIVER.CreateCopy('ZARR3:"%s"' % path, raster(1), callback=lambda *_: 0) is None
    assert len(errors.failures) == 1 and "cancelled" in errors.failures[0]
    assert describe(opened(path)) == describe(source)
    assert os.listdir(tmp_path) == ["r.zarr"]


@pytest.mark.parametrize("place", ["", "/vsimem/failed/"])
def test_a_failed_copy_takes_the_groups_above_with_it(tmp_path, place):
    place = place or "%s/" % tmp_path
    for made, node in ((None, "a/b/tas"), ("a/other", "a/b/tas"), ("a/b", "a/b/tas")):
        path = place + "r.zarr"
        if made:
            DRIVER.CreateCopy('ZARR3:"%s":/%s' % (path, made), raster(1))
        before = gdal.ReadDirRecursive(path)
        with Errors() as errors:
            assert DRIVER.CreateCopy('ZARR3:"%s":/%s' % (path, node), raster(1),
                                     callback=lambda *_: 0) is None
        assert len(errors.failures) == 1 and "cancelled" in errors.failures[0]
        assert gdal.ReadDirRecursive(path) == before
        assert gdal.VSIStatL(path) is None or made


def test_a_failed_copy_leaves_files_of_others(tmp_path):
    root = tmp_path / "r.zarr"
    DRIVER.CreateCopy('ZARR3:"%s":/a' % root, raster(1))
    (root / "b/c").mkdir(parents=True)
    (root / "b/c/notes.txt").write_text("of a person")
    with Errors() as errors:
        assert DRIVER.CreateCopy('ZARR3:"%s":/b/c/tas' % root, raster(1), callback=lambda *_: 0) is None
    assert len(errors.failures) == 1
    assert (root / "b/c/notes.txt").read_text() == "of a person" and not (root / "b/c/tas").exists()


def test_a_source_that_fails_leaves_nothing(tmp_path):
    gdal.Translate(str(tmp_path / "a.tif"), raster(1, gdal.GDT_Byte, 600, 600),
                   creationOptions=["COMPRESS=DEFLATE", "TILED=YES"])
    data = bytearray((tmp_path / "a.tif").read_bytes())
    data[-3000:-100] = bytes(2900)
    (tmp_path / "a.tif").write_bytes(data)
    source = gdal.Open(str(tmp_path / "a.tif"))
    with Errors() as errors:
        assert DRIVER.CreateCopy(str(tmp_path / "r.zarr"), source) is None
    assert errors.failures
    assert os.listdir(tmp_path) == ["a.tif"]


def test_overwriting_replaces_the_store_and_keeps_other_files(tmp_path):
    path = tmp_path / "r.zarr"
    first = copy(raster(2), path, ["ARRAY_NAME=first"])
    first.GetRasterBand(1).ComputeStatistics(False)
    first = None
    (path / "mine.txt").write_text("mine")
    (path / ".git").mkdir()
    assert os.path.exists(str(path) + ".aux.xml")
    source = raster(1)
    assert describe(copy(source, path)) == describe(source)
    assert sorted(os.listdir(path)) == [".git", "mine.txt", "r", "zarr.json"]
    assert os.listdir(tmp_path) == ["r.zarr"]


def test_a_store_onto_itself_and_through_a_link(tmp_path):
    path = tmp_path / "r.zarr"
    dataset = copy(raster(3), path)
    expected = describe(dataset)
    os.symlink(path, tmp_path / "link.zarr")
    assert describe(copy(dataset, tmp_path / "link.zarr", ["INTERLEAVE=PIXEL"])) == expected
    assert os.path.islink(tmp_path / "link.zarr")
    assert json.load(open(path / "r/zarr.json"))["shape"] == [40, 60, 3]


def test_killed_copies_are_cleaned_up(tmp_path):
    stale = tmp_path / ".r.zarr.0.zarrbridge-new"
    (stale / "r").mkdir(parents=True)
    other = tmp_path / ".s.zarr.0.zarrbridge-new"
    other.mkdir()
    os.utime(stale, (0, 0))
    os.utime(other, (0, 0))
    copy(raster(), tmp_path / "r.zarr")
    assert sorted(os.listdir(tmp_path)) == [other.name, "r.zarr"]


def test_in_memory(tmp_path):
    source = raster(3)
    source.SetSpatialRef(UTM)
    for _ in range(2):
        result = copy(source, "/vsimem/zarr3/r.zarr", ["SHARD=32x32", "BLOCKSIZE=16x16"])
        assert describe(result) == describe(source)
    with Errors():
        assert DRIVER.CreateCopy("/vsimem/zarr3/s.zarr", source, callback=lambda *_: 0) is None
    assert gdal.ReadDir("/vsimem/zarr3") == ["r.zarr"]
    result = None
    assert DRIVER.Delete("/vsimem/zarr3/r.zarr") == gdal.CE_None
    assert not gdal.ReadDir("/vsimem/zarr3")


def test_disk_full(tmp_path):
    """A file system of 2 MiB; making one needs rights that a test may not have."""
    import subprocess
    small = tmp_path / "small"
    small.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(small)],
                          capture_output=True)
    if made.returncode != 0:
        pytest.skip("cannot mount a tmpfs: " + made.stderr.decode().strip())
    try:
        copy(raster(), small / "r.zarr")
        before = describe(opened(small / "r.zarr"))
        noise = gdal.GetDriverByName("MEM").Create("", 3000, 3000, 1, gdal.GDT_Byte)
        noise.WriteArray(np.random.default_rng(1).integers(0, 255, (3000, 3000), dtype="u1"))
        with Errors() as errors:
            assert DRIVER.CreateCopy(str(small / "r.zarr"), noise) is None
        assert "No space left" in errors.failures[0]
        assert os.listdir(small) == ["r.zarr"]
        assert describe(opened(small / "r.zarr")) == before
    finally:
        run("umount", small)
