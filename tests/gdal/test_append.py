# SPDX-License-Identifier: MIT
"""APPEND_SUBDATASET=YES: one more array in a store, by CreateCopy(), Create() and programs; and the
options of GDAL's own Zarr driver, which its users bring along. No existing array is harmed."""
import os

import numpy as np
import pytest
import xarray
import zarr
from osgeo import gdal

from conftest import DATA, Errors, opened, run, sub
from test_copy import ROTATED, SOUTH_UP, UPRIGHT, UTM, WGS84, describe, raster

DRIVER = gdal.GetDriverByName("Zarr3")
APPEND = ["APPEND_SUBDATASET=YES"]


def placed(bands=1, srs=UTM, transform=UPRIGHT, **shape):
    source = raster(bands, **shape)
    if srs:
        source.SetSpatialRef(srs)
    if transform:
        source.SetGeoTransform(transform)
    return source


def files(path):
    """All that is in a directory, with contents: equal when nothing was touched."""
    found = {}
    for directory, names, leaves in os.walk(path):
        for name in leaves:
            full = os.path.join(directory, name)
            with open(full, "rb") as file:
                found[os.path.relpath(full, path)] = file.read()
        for name in names:
            found.setdefault(os.path.relpath(os.path.join(directory, name), path))
    return found


def by_copy(path, source, name, *options):
    return DRIVER.CreateCopy(str(path), source, options=[
        *APPEND, "ARRAY_NAME=" + name, *options])


def by_create(path, source, name, *options):
    """Appends as rasterio and gdalwarp do: the place first, then pixels."""
    dataset = DRIVER.Create(str(path), source.RasterXSize, source.RasterYSize, source.RasterCount,
                            source.GetRasterBand(1).DataType,
                            [*APPEND, "ARRAY_NAME=" + name, *options])
    if dataset is None:
        return None
    if source.GetSpatialRef():
        dataset.SetSpatialRef(source.GetSpatialRef())
    if source.GetGeoTransform(can_return_null=True):
        dataset.SetGeoTransform(source.GetGeoTransform())
    for i in range(source.RasterCount):
        given, band = source.GetRasterBand(i + 1), dataset.GetRasterBand(i + 1)
        if given.GetNoDataValue() is not None:
            band.SetNoDataValue(given.GetNoDataValue())
        band.SetColorInterpretation(given.GetColorInterpretation())
    dataset.WriteArray(source.ReadAsArray())
    return dataset


WAYS = [by_copy, by_create]


def checked(path, **expected):
    """Each array by its name equals its source, for us, zarr-python and xarray."""
    assert [name for name, _ in opened(path).GetSubDatasets()] == [
        sub(str(path), name) for name in sorted(expected)]
    group = zarr.open_group(str(path), mode="r")
    for name, source in expected.items():
        assert describe(opened(sub(str(path), name))) == describe(source), name
        values = np.squeeze(group[name][:])
        if values.shape[-1] == source.RasterCount > 1:
            values = np.moveaxis(values, 2, 0)
        assert (values == source.ReadAsArray()).all()
    with xarray.open_zarr(str(path), consolidated=False, mask_and_scale=False) as data:
        assert set(expected) <= set(data.variables)
        for name, source in expected.items():
            t, (y, x) = source.GetGeoTransform(can_return_null=True), data[name].dims[-2:]
            if data[name].shape[-1] == source.RasterCount > 1:
                y, x = data[name].dims[:2]
            if t is not None and not t[2]:
                assert np.allclose(data[x].values, t[0] + t[1] * (np.arange(len(data[x])) + .5))
                assert np.allclose(data[y].values, t[3] + t[5] * (np.arange(len(data[y])) + .5))
            else:
                assert x not in data.coords and y not in data.coords


@pytest.mark.parametrize("way", WAYS)
def test_three_arrays_in_one_store(tmp_path, way):
    path = tmp_path / "s.zarr"
    sources = {"one": placed(), "two": placed(), "six": placed(6, width=31, height=17)}
    DRIVER.CreateCopy(str(path), sources["one"],
                      options=["ARRAY_NAME=one", "CREATE_CONSOLIDATED_METADATA=NO"]).Close()
    before = files(path)
    for name in ("two", "six"):
        result = way(path, sources[name], name)
        assert (result.ReadAsArray() == sources[name].ReadAsArray()).all()
        assert result.Close() == gdal.CE_None
    checked(path, **sources)
    after = files(path)
    document = before.pop("zarr.json")
    assert {name: after[name] for name in before} == before
    assert after["zarr.json"] != document  # it repeats what is the same for all: test_group_place
    # Rasters of one grid share its coordinates.
    group = zarr.open_group(str(path), mode="r")
    assert group["two"].metadata.dimension_names == ("y", "x")
    assert group["six"].metadata.dimension_names == ("band", "six_y", "six_x")
    assert sorted(group.array_keys()) == [
        "one", "six", "six_x", "six_y", "spatial_ref", "two", "x", "y"]


KINDS = {
    "the same": (UTM, UPRIGHT, 60, 40), "another place": (UTM, (0, 1, 0, 0, 0, -1), 60, 40),
    "another size": (UTM, UPRIGHT, 61, 40), "wider only": (UTM, UPRIGHT, 90, 40),
    "another CRS": (WGS84, SOUTH_UP, 60, 40), "another CRS in the same numbers":
    (WGS84, UPRIGHT, 60, 40), "no CRS": (None, UPRIGHT, 60, 40), "rotated": (UTM, ROTATED, 60, 40),
    "no place": (UTM, None, 60, 40), "nowhere": (None, None, 60, 40)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", ["the same", "nowhere", "rotated", "no CRS"])
def test_rasters_that_lie_elsewhere(tmp_path, first, second, way):
    """No array takes its georeference from another one, nor loses its own."""
    def of_kind(kind, bands):
        srs, transform, width, height = KINDS[kind]
        return placed(bands, srs, transform, width=width, height=height)

    path = tmp_path / "s.zarr"
    one, two = of_kind(first, 1), of_kind(second, 2)
    DRIVER.CreateCopy(str(path), one, options=["ARRAY_NAME=one"]).Close()
    with Errors() as errors:
        assert way(path, two, "two").Close() == gdal.CE_None
    assert errors.seen == []
    checked(path, one=one, two=two)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("options", [
    ["INTERLEAVE=PIXEL"], ["SHARD=32x32", "BLOCKSIZE=16x16"], ["COMPRESS=GZIP", "CHECKSUM=YES"],
    ["SYNC=CLOSE"]])
@pytest.mark.parametrize("place", ["another size", "nowhere", "rotated"])
def test_with_options(tmp_path, options, place, way):
    path = tmp_path / "s.zarr"
    srs, transform, width, height = KINDS[place]
    one, two = placed(2), placed(3, srs, transform, width=width, height=height)
    for i in (1, 2, 3):
        two.GetRasterBand(i).SetNoDataValue(-3)
    DRIVER.CreateCopy(str(path), one, options=["ARRAY_NAME=one"]).Close()
    assert way(path, two, "two", *options).Close() == gdal.CE_None
    checked(path, one=one, two=two)
    assert zarr.open_group(str(path), mode="r")["two"].fill_value == -3


def test_into_a_group_and_under_any_name_of_it(tmp_path):
    path = tmp_path / "s.zarr"
    zarr.create_group(store=str(path), zarr_format=3).create_group("a").create_group("b")
    source = placed()
    names = [str(path), str(path) + "/", str(path / "zarr.json"), 'ZARR3:"%s"' % path]
    for number, name in enumerate(names):
        assert by_copy(name, source, "t%d" % number).Close() == gdal.CE_None
    for number, name in enumerate([str(path / "a/b"), 'ZARR3:"%s":/a/b' % path]):
        assert by_copy(name, source, "u%d" % number).Close() == gdal.CE_None
    found = sorted(name for name, _ in zarr.open_group(str(path), mode="r").members(max_depth=None))
    assert [name for name in found if name[-2:] in ("t0", "t1", "t2", "t3", "u0", "u1")
            and "spatial" not in name] == ["a/b/u0", "a/b/u1", "t0", "t1", "t2", "t3"]
    for name in ("t0", "t3", "a/b/u0", "a/b/u1"):
        assert describe(opened(sub(str(path), name))) == describe(source)


def test_into_stores_that_others_wrote(tmp_path):
    """xarray's, with consolidated metadata; coordinates that are used stay as they are."""
    path = str(tmp_path / "s.zarr")
    source = placed(srs=None, transform=(0, 10, 0, 400, 0, -10))
    values = source.ReadAsArray()
    data = xarray.Dataset(
        {"tas": (("time", "y", "x"), np.stack([values, values + 1]).astype("f4"))},
        {"x": 5 + 10 * np.arange(60.), "y": 395 - 10 * np.arange(40.), "time": [0, 1]})
    data.to_zarr(path, zarr_format=3)
    before = files(path)
    by_copy(path, source, "two").Close()
    by_copy(path, placed(2, width=7, height=5), "three").Close()
    after = files(path)
    assert {name: text for name, text in after.items()
            if name in before and name != "zarr.json"} == {
                name: text for name, text in before.items() if name != "zarr.json"}
    with xarray.open_zarr(path) as found:  # by consolidated metadata
        assert {"tas", "two", "three"} <= set(found.variables)
        assert found["two"].dims == ("y", "x") and (found["two"].values == values).all()
        assert (found["tas"].values == data["tas"].values).all()
        assert set(found["tas"].indexes) == set(data["tas"].indexes)
    assert describe(opened(sub(path, "two"))) == describe(source)


@pytest.mark.parametrize("kind", KINDS)
def test_a_group_below_another_raster(tmp_path, kind):
    """Coordinates and grid mappings of groups above reach down to arrays that have none."""
    path = tmp_path / "s.zarr"
    srs, transform, width, height = KINDS[kind]
    one, two = placed(), placed(2, srs, transform, width=width, height=height)
    DRIVER.CreateCopy(str(path), one, options=["ARRAY_NAME=one"]).Close()
    DRIVER.CreateCopy(str(path / "below"), two).Close()
    assert describe(opened(path / "below")) == describe(two)
    assert describe(opened(sub(str(path), "one"))) == describe(one)
    assert by_copy(path / "below", one, "three").Close() == gdal.CE_None
    assert describe(opened(sub(str(path), "below/three"))) == describe(one)
    assert describe(opened(sub(str(path), "below/below"))) == describe(two)


def test_in_memory():
    path = "/vsimem/append/s.zarr"
    one, two = placed(), placed(2, WGS84, SOUTH_UP)
    try:
        DRIVER.CreateCopy(path, one, options=["ARRAY_NAME=one"]).Close()
        by_copy(path, two, "two").Close()
        assert describe(opened(sub(path, "one"))) == describe(one)
        assert describe(opened(sub(path, "two"))) == describe(two)
    finally:
        gdal.RmdirRecursive("/vsimem/append")


def test_the_new_array_is_what_is_returned(tmp_path):
    path = tmp_path / "s.zarr"
    DRIVER.CreateCopy(str(path), placed(), options=["ARRAY_NAME=one"]).Close()
    source = placed(2, width=5, height=4)
    for way, name in ((by_copy, "two"), (by_create, "three")):
        dataset = way(path, source, name)
        assert (dataset.RasterXSize, dataset.RasterCount) == (5, 2)
        dataset.GetRasterBand(1).WriteArray(np.full((2, 2), 77))
        dataset.FlushCache()
        again = gdal.Open(dataset.GetDescription())
        assert again.RasterCount == 2 and again.ReadAsArray()[0, 0, 0] == 77


def test_the_place_after_the_pixels(tmp_path):
    """Coordinates that are shared already stay then, and a warning says so."""
    path = tmp_path / "s.zarr"
    one = placed(srs=None, transform=None)
    DRIVER.CreateCopy(str(path), one, options=["ARRAY_NAME=one"]).Close()
    dataset = DRIVER.Create(str(path), 60, 40, 1, gdal.GDT_Int16, [*APPEND, "ARRAY_NAME=two"])
    dataset.WriteArray(one.ReadAsArray())
    dataset.FlushCache()
    dataset.SetSpatialRef(UTM)
    dataset.SetGeoTransform(UPRIGHT)
    assert dataset.Close() == gdal.CE_None
    assert opened(sub(str(path), "one")).GetGeoTransform(can_return_null=True) is None
    assert opened(sub(str(path), "two")).GetGeoTransform() == UPRIGHT


def test_properties_that_are_flushed_before_the_first_pixel(tmp_path):
    """Neither a nodata value nor another place may cost properties that were written before."""
    path = tmp_path / "s.zarr"
    DRIVER.CreateCopy(str(path), placed(), options=["ARRAY_NAME=one"]).Close()
    dataset = DRIVER.Create(str(path), 60, 40, 2, gdal.GDT_Int16, [*APPEND, "ARRAY_NAME=two"])
    dataset.SetMetadataItem("title", "t")
    dataset.GetRasterBand(2).SetDescription("d")
    dataset.FlushCache()
    dataset.SetSpatialRef(WGS84)
    dataset.SetGeoTransform(SOUTH_UP)
    dataset.FlushCache()
    dataset.GetRasterBand(1).SetNoDataValue(-5)
    dataset.FlushCache()
    dataset.GetRasterBand(1).WriteArray(np.full((3, 3), 8))
    assert dataset.Close() == gdal.CE_None
    found = opened(sub(str(path), "two"))
    assert found.GetMetadata() == {"title": "t", "AREA_OR_POINT": "Area"}
    assert found.GetGeoTransform() == SOUTH_UP
    assert found.GetSpatialRef().IsSame(WGS84)
    assert found.GetRasterBand(2).GetDescription() == "d"
    assert found.GetRasterBand(1).GetNoDataValue() == -5
    assert found.ReadAsArray().sum() == 9 * 8 - 5 * (2 * 60 * 40 - 9)


# ---- No existing array is harmed ----


def refused(path, source, word, options, way=None):
    before = files(os.path.dirname(path))
    for make in ((way,) if way else WAYS):
        with Errors() as errors:
            if make is by_copy:
                assert DRIVER.CreateCopy(str(path), source, options=options) is None
            else:
                assert DRIVER.Create(str(path), 60, 40, 1, gdal.GDT_Int16, options) is None
        assert len(errors.failures) == 1 and word in errors.failures[0], errors.failures
        assert files(os.path.dirname(path)) == before


@pytest.mark.parametrize("options,word", [
    (APPEND, "ARRAY_NAME"), ([*APPEND, "ARRAY_NAME=one"], "exists"),
    ([*APPEND, "ARRAY_NAME=x"], "names of other arrays"),
    ([*APPEND, "ARRAY_NAME=a/b"], "no slash"), ([*APPEND, "ARRAY_NAME=.a"], "name"),
    ([*APPEND, "ARRAY_NAME=__a"], "name"), ([*APPEND, "ARRAY_NAME=taken"], "taken_x"),
    ([*APPEND, "ARRAY_NAME=two", "FORMAT=ZARR_V2"], "version 2"),
    (["APPEND_SUBDATASET=MAYBE", "ARRAY_NAME=two"], "MAYBE"),
    ([*APPEND, "ARRAY_NAME=two", "COMPRESS=FOO"], "FOO"),
    ([*APPEND, "ARRAY_NAME=two", "SHARD=100x100"], "multiple"),
])
def test_what_is_refused_touches_nothing(tmp_path, options, word):
    path = tmp_path / "s.zarr"
    DRIVER.CreateCopy(str(path), placed(), options=["ARRAY_NAME=one"]).Close()
    zarr.open_group(str(path)).create_array("taken_x", shape=(3, 3), dtype="i2")
    refused(path, placed(), word, options)


def test_where_nothing_can_be_appended(tmp_path):
    (tmp_path / "empty.zarr").mkdir()
    (tmp_path / "file.zarr").write_text("mine")
    zarr.create_group(store=str(tmp_path / "old.zarr"), zarr_format=2)
    zarr.create_array(store=str(tmp_path / "array.zarr"), data=np.ones((3, 3)), zarr_format=3)
    options = [*APPEND, "ARRAY_NAME=two"]
    for name, word in (("missing.zarr", "no Zarr version 3 group"), ("empty.zarr", "no Zarr"),
                       ("file.zarr", "no Zarr"), ("old.zarr", "zarrbridge copy"),
                       ("array.zarr", "is an array"), ("missing/x.zarr", "no Zarr")):
        refused(tmp_path / name, placed(), word, options)


@pytest.mark.parametrize("stop", [0, 1])
def test_a_cancelled_copy_leaves_nothing_of_itself(tmp_path, stop):
    path = tmp_path / "s.zarr"
    DRIVER.CreateCopy(str(path), placed(), options=["ARRAY_NAME=one"]).Close()
    before = files(path)
    with Errors() as errors:
        assert DRIVER.CreateCopy(str(path), placed(3, WGS84, SOUTH_UP, width=600, height=600),
                                 options=[*APPEND, "ARRAY_NAME=two", "BLOCKSIZE=600x16"],
                                 callback=lambda done, text, data: done < stop) is None
    assert len(errors.failures) == 1 and "cancelled" in errors.failures[0]
    assert files(path) == before


def test_a_copy_that_fails_at_its_end_leaves_nothing_of_itself(tmp_path):
    """The array's coordinates are written last. Something stands in the way of the second one."""
    path = tmp_path / "s.zarr"
    DRIVER.CreateCopy(str(path), placed(), options=["ARRAY_NAME=one"]).Close()

    def stand_in_the_way(done, text, data):
        (path / "two_x").write_text("a file where a directory must be")
        return 1

    with Errors() as errors:
        assert DRIVER.CreateCopy(str(path), placed(1, WGS84, SOUTH_UP), callback=stand_in_the_way,
                                 options=[*APPEND, "ARRAY_NAME=two"]) is None
    assert errors.failures
    os.unlink(path / "two_x")
    assert [name for name in sorted(os.listdir(path)) if name[0] != "."] == [
        "one", "spatial_ref", "x", "y", "zarr.json"]
    assert describe(opened(path)) == describe(placed())


# ---- Programs ----


def test_translate(tmp_path):
    path = tmp_path / "x.zarr"
    command = ["gdal_translate", "-q", "-of", "Zarr3"]
    run(*command, "-co", "ARRAY_NAME=one", DATA / "olinda_dem_utm25s.tif", path)
    run(*command, "-co", "APPEND_SUBDATASET=YES", "-co", "ARRAY_NAME=two", DATA / "L7_ETMs.tif",
        path)
    run(*command, "-co", "APPEND_SUBDATASET=YES", "-co", "ARRAY_NAME=three", "-co",
        "FORMAT=ZARR_V3", "-outsize", "50%", "50%", DATA / "L7_ETMs.tif", path)
    for name, file in (("one", "olinda_dem_utm25s.tif"), ("two", "L7_ETMs.tif")):
        source, found = gdal.Open(str(DATA / file)), opened(sub(str(path), name))
        assert (found.ReadAsArray() == source.ReadAsArray()).all()
        assert found.GetGeoTransform() == source.GetGeoTransform()
        assert found.GetSpatialRef().IsSame(source.GetSpatialRef())
    assert len(opened(path).GetSubDatasets()) == 3


def test_warp(tmp_path):
    path = tmp_path / "x.zarr"
    run("gdal_translate", "-q", "-co", "ARRAY_NAME=one", DATA / "olinda_dem_utm25s.tif", path)
    run("gdalwarp", "-q", "-of", "Zarr3", "-t_srs", "EPSG:4326", "-co", "APPEND_SUBDATASET=YES",
        "-co", "ARRAY_NAME=warped", DATA / "olinda_dem_utm25s.tif", path)
    run("gdalwarp", "-q", "-t_srs", "EPSG:4326", DATA / "olinda_dem_utm25s.tif",
        tmp_path / "w.tif")
    source, found = gdal.Open(str(tmp_path / "w.tif")), opened(sub(str(path), "warped"))
    assert (found.ReadAsArray() == source.ReadAsArray()).all()
    assert found.GetGeoTransform() == source.GetGeoTransform()
    assert len(opened(path).GetSubDatasets()) == 2


def test_append_and_own_driver_agree(tmp_path):
    """GDAL's own driver reads an array that was appended, where it knows version 3."""
    if int(gdal.VersionInfo()) < 3130000:
        pytest.skip("the Zarr driver of GDAL %s does not know version 3" % gdal.__version__)
    path = tmp_path / "s.zarr"
    sources = {"one": placed(), "two": placed(), "six": placed(6, WGS84, SOUTH_UP, width=31)}
    for name, source in sources.items():
        options = ["ARRAY_NAME=" + name, *(APPEND if name != "one" else [])]
        DRIVER.CreateCopy(str(path), source, options=options).Close()
    for name, source in sources.items():
        found = gdal.Open('ZARR:"%s":/%s' % (path, name))
        assert (found.ReadAsArray() == source.ReadAsArray()).all()
        assert np.allclose(found.GetGeoTransform(), source.GetGeoTransform())


def test_arrays_that_gdals_own_driver_appended(tmp_path):
    """The names that GDAL's driver gives to dimensions are read, also where bands come last."""
    if int(gdal.VersionInfo()) < 3130000:
        pytest.skip("the Zarr driver of GDAL %s does not know version 3" % gdal.__version__)
    path = str(tmp_path / "s.zarr")
    own = gdal.GetDriverByName("Zarr")
    source = placed(3, width=31, height=17)
    for raster_, options in ((placed(), ["FORMAT=ZARR_V3", "ARRAY_NAME=one"]),
                             (source, [*APPEND, "ARRAY_NAME=two", "INTERLEAVE=PIXEL"])):
        dataset = own.Create(path, raster_.RasterXSize, raster_.RasterYSize, raster_.RasterCount,
                             gdal.GDT_Int16, options)
        dataset.WriteArray(raster_.ReadAsArray())
        dataset = None
    assert (opened(sub(path, "two")).ReadAsArray() == source.ReadAsArray()).all()
    assert (opened(sub(path, "one")).ReadAsArray() == placed().ReadAsArray()).all()
