# SPDX-License-Identifier: MIT
"""GDAL's own Zarr driver beside ours. From GDAL 3.13 on it reads and writes version 3 with shards:
each reads the other's stores, with pixels, CRS and geotransform."""
import json

import numpy as np
import pytest
import zarr
from osgeo import gdal

from conftest import DATA, Errors, opened, run, run_python
from test_copy import ROTATED, SOUTH_UP, UPRIGHT, UTM, WGS84, describe, raster

OURS = gdal.GetDriverByName("Zarr3")
OWN = gdal.GetDriverByName("Zarr")
KNOWS_VERSION_3 = int(gdal.VersionInfo()) >= 3130000
only_new = pytest.mark.skipif(
    not KNOWS_VERSION_3, reason="the Zarr driver of GDAL %s does not know version 3 with shards; "
    "that of 3.13 does" % gdal.__version__)

PLACES = {"projected": (UTM, UPRIGHT), "rotated": (UTM, ROTATED), "geographic": (WGS84, SOUTH_UP),
          "without CRS": (None, UPRIGHT), "without place": (UTM, None), "nowhere": (None, None)}
LAYOUTS = {"plain": [], "interleaved": ["INTERLEAVE=PIXEL"],
           "sharded": ["SHARD=32x32", "BLOCKSIZE=16x16"],
           "interleaved shards": ["INTERLEAVE=PIXEL", "SHARD=32x32", "BLOCKSIZE=16x16"],
           "gzip": ["COMPRESS=GZIP", "CHECKSUM=YES"],
           "blosc": ["COMPRESS=BLOSC", "DIM_SEPARATOR=."],
           "stored": ["COMPRESS=NONE", "STORE_EMPTY=YES"]}


def by_own_driver(path, **options):
    return gdal.OpenEx(str(path), gdal.OF_RASTER, allowed_drivers=["Zarr"],
                       open_options=["%s=%s" % item for item in options.items()])


def placed(place, bands, dtype=gdal.GDT_Int16, nodata=None):
    srs, transform = PLACES[place]
    source = raster(bands, dtype)
    if srs:
        source.SetSpatialRef(srs)
    if transform:
        source.SetGeoTransform(transform)
    for i in range(bands if nodata is not None else 0):
        source.GetRasterBand(i + 1).SetNoDataValue(nodata)
    return source


def place_of(dataset):
    srs = dataset.GetSpatialRef()
    return dataset.GetGeoTransform(can_return_null=True), srs


def same_place(found, expected):
    if found[0] != expected[0] or (found[1] is None) != (expected[1] is None):
        return False
    # Without coordinates, which dimension is which axis is but a guess.
    options = [] if expected[0] else ["IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES"]
    return found[1] is None or bool(found[1].IsSame(expected[1], options))


def nodata_of(dataset):
    return {str(dataset.GetRasterBand(i + 1).GetNoDataValue()) for i in range(dataset.RasterCount)}


@only_new
@pytest.mark.parametrize("bands", [1, 3])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("place", PLACES)
def test_it_reads_what_we_write(tmp_path, place, layout, bands):
    """GDAL's driver takes fill_value for nodata, hence zero where none was set. Where no
    coordinates say which dimension is which, it must be told that bands are the last one."""
    options = {}
    if bands > 1 and "interleaved" in layout and place not in ("projected", "geographic"):
        options = {"DIM_X": "x", "DIM_Y": "y"}
    for nodata, expected in ((None, "0.0"), (-7, "-7.0")):
        source = placed(place, bands, nodata=nodata)
        path = tmp_path / ("%s.zarr" % nodata)
        OURS.CreateCopy(str(path), source, options=LAYOUTS[layout]).Close()
        found = by_own_driver(path, **options)
        assert found.GetDriver().ShortName == "Zarr"
        assert (found.ReadAsArray() == source.ReadAsArray()).all()
        assert same_place(place_of(found), place_of(source)), place_of(found)
        assert nodata_of(found) == {expected}


@only_new
@pytest.mark.parametrize("file", ["L7_ETMs.tif", "olinda_dem_utm25s.tif"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_its_gdalinfo_says_what_ours_does(tmp_path, file, layout):
    """GDAL's programs show the store as a user of a GDAL without our driver sees it."""
    path = tmp_path / "r.zarr"
    run("gdal_translate", "-q", *[word for option in LAYOUTS[layout] for word in ("-co", option)],
        DATA / file, path)
    told = []
    for name in (DATA / file, path):
        own = name == path
        info = json.loads(run("gdalinfo", "-json", "-checksum", name,
                              **({"GDAL_SKIP": "Zarr3"} if own else {})))
        assert info["driverShortName"] == ("Zarr" if own else "GTiff")
        told.append((info["size"], np.round(info["geoTransform"], 7).tolist(),
                     info["stac"].get("proj:epsg"),
                     info["stac"].get("proj:projjson", {}).get("name"),
                     [(band["type"], band["checksum"]) for band in info["bands"]]))
    assert told[0] == told[1]


TYPES = ("Byte Int8 UInt16 Int16 UInt32 Int32 UInt64 Int64 Float16 Float32 Float64 CFloat32 "
         "CFloat64").split()
WRITTEN = {"plain": [], "zstd": ["COMPRESS=ZSTD"],
           "gzip": ["COMPRESS=GZIP", "CHUNK_MEMORY_LAYOUT=F"],
           "blosc": ["COMPRESS=BLOSC"], "interleaved": ["INTERLEAVE=PIXEL"],
           "sharded": ["COMPRESS=ZSTD", "BLOCKSIZE=32,32", "SHARD_CHUNK_SHAPE=16,16"],
           "conventions": ["GEOREFERENCING_CONVENTION=SPATIAL_PROJ"]}


def written_by_it(path, source, options):
    with Errors() as errors:  # it warns of its own option for shards
        result = OWN.CreateCopy(str(path), source, 0, options=["FORMAT=ZARR_V3", *options])
        assert result is not None, errors.seen
        result = None
        assert not errors.failures, errors.seen


@only_new
@pytest.mark.parametrize("layout", WRITTEN)
@pytest.mark.parametrize("dtype", TYPES)
def test_we_read_what_it_writes(tmp_path, dtype, layout):
    """Without nodata GDAL's driver writes "fill_value": null for integers and NaN for floats."""
    if dtype.startswith("C"):  # no nodata for complex numbers
        wanted = {None: "None"}
    else:
        wanted = {None: "nan" if dtype.startswith("F") else "None", 7: "7", 0: "0"}
    dtype = gdal.GetDataTypeByName(dtype)
    if layout == "conventions" and 0 in wanted:
        wanted[0] = "None"  # no attribute says that GDAL wrote it, see docs/gdal.md
    for nodata, expected in wanted.items():
        source = placed("projected", 1, dtype, nodata)
        path = tmp_path / ("%s.zarr" % nodata)
        written_by_it(path, source, WRITTEN[layout])
        found = opened(path)
        assert found.GetRasterBand(1).DataType == dtype
        assert (found.ReadAsArray() == source.ReadAsArray()).all()
        assert same_place(place_of(found), place_of(source)), place_of(found)
        assert {text.removesuffix(".0") for text in nodata_of(found)} == {expected}


@only_new
@pytest.mark.parametrize("place, layout", [
    (place, layout) for place in PLACES for layout in WRITTEN
    if layout == "conventions" or place != "rotated" and layout != "sharded"])
def test_we_read_its_bands(tmp_path, place, layout):
    """Our driver reads the bands as GDAL's reads them: that one drops the CRS of several bands
    unless they have nodata, and cannot store a rotated transform but by the conventions."""
    for nodata in (None, 7):
        source = placed(place, 3, nodata=nodata)
        path = tmp_path / ("%s.zarr" % nodata)
        written_by_it(path, source, WRITTEN[layout])
        found, again = opened(path), by_own_driver(path)
        assert (found.ReadAsArray() == source.ReadAsArray()).all()
        assert (again.ReadAsArray() == source.ReadAsArray()).all()
        assert same_place(place_of(found), place_of(again)), (place_of(found), place_of(again))


READ_BY_IT = """
import sys
from osgeo import gdal
gdal.UseExceptions()
d = gdal.OpenEx(sys.argv[1], gdal.OF_RASTER, allowed_drivers=["Zarr"])
print(d.ReadAsArray().tobytes().hex())
"""


@only_new
@pytest.mark.parametrize("writer", ["ours", "its"])
def test_each_updates_shards_of_the_other(tmp_path, writer):
    """Runs in processes of their own: GDAL's driver keeps indexes of shards that have changed."""
    path = tmp_path / "r.zarr"
    source = placed("projected", 1, nodata=-7)  # else zarr-python refuses its null
    if writer == "ours":
        OURS.CreateCopy(str(path), source, options=LAYOUTS["sharded"]).Close()
    else:
        written_by_it(path, source, WRITTEN["sharded"])
    expected = source.ReadAsArray()
    patch = np.full((20, 25), -3, "i2")
    for driver, x, y in (("Zarr3", 3, 5), ("Zarr", 30, 11), ("Zarr3", 17, 18)):
        expected[y:y + 20, x:x + 25] = patch + x
        dataset = gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE, allowed_drivers=[driver])
        dataset.GetRasterBand(1).WriteArray(patch + x, x, y)
        dataset.Close()
        assert (opened(path).ReadAsArray() == expected).all()
        assert run_python(READ_BY_IT, path).strip() == expected.tobytes().hex()
    array = zarr.open_array(str(path / "r"), mode="r")
    assert (array[...] == expected).all()


def test_names_without_prefix_are_ours_and_each_prefix_reaches_its_driver(tmp_path):
    path = str(tmp_path / "r.zarr")
    OURS.CreateCopy(path, raster()).Close()
    for name in (path, path + "/zarr.json", path + "/r", "ZARR3:" + path, 'ZARR3:"%s":/r' % path):
        assert gdal.Open(name).GetDriver().ShortName == "Zarr3"
        assert gdal.IdentifyDriver(name).ShortName == "Zarr3"
    own = 'ZARR:"%s":/r' % path
    assert gdal.IdentifyDriver(own).ShortName == "Zarr"
    if KNOWS_VERSION_3:
        assert gdal.Open(own).GetDriver().ShortName == "Zarr"
        told = run("gdalinfo", "-if", "Zarr", path)
        assert "Driver: Zarr/Zarr" in told


@pytest.mark.parametrize("driver", ["GTiff", "Zarr", "ENVI"])
def test_other_drivers_do_not_delete_a_store(tmp_path, driver):
    """GDAL 3.13 would have the directory deleted before it finds that the driver refuses
    directories."""
    path = tmp_path / "r.zarr"
    source = raster(2)
    OURS.CreateCopy(str(path), source).Close()
    for write in (lambda: gdal.Translate(str(path), source, format=driver),
                  lambda: gdal.GetDriverByName(driver).CreateCopy(str(path), source),
                  lambda: gdal.GetDriverByName(driver).Create(str(path), 10, 10)):
        with Errors() as errors:
            assert write() is None
        assert errors.failures
        assert describe(opened(path)) == describe(source)
    assert OURS.Delete(str(path)) == gdal.CE_None
    assert not path.exists()


def test_a_program_deletes_after_gdal_has_cleared_the_way(tmp_path):
    """GDAL's calls before the deletion tell the two apart."""
    path = tmp_path / "r.zarr"
    source = raster()
    for _ in range(2):
        OURS.CreateCopy(str(path), source).Close()
        run("gdal_translate", "-q", DATA / "L7_ETMs.tif", path)
        assert gdal.IdentifyDriver(str(path)).ShortName == "Zarr3"
        assert gdal.IdentifyDriver(str(path)).Delete(str(path)) == gdal.CE_None
        assert not path.exists()
    OURS.CreateCopy(str(path), source).Close()
    run("gdalmanage", "delete", path)
    assert not path.exists()
