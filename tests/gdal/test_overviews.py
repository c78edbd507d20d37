# SPDX-License-Identifier: MIT
"""Overviews that GDAL makes are levels in the store, on the list of the convention "multiscales"."""
import ctypes
import json
import os
import struct
import subprocess

import numpy as np
import pytest
import xarray
import zarr
from osgeo import gdal, osr

from conftest import Errors, opened, put, run, sub

DRIVER = gdal.GetDriverByName("Zarr3")
UUID = "d35379db-88df-4056-af3a-620245f8e347"
UTM = osr.SpatialReference()
UTM.ImportFromEPSG(32725)
PLACE = (500, 10, 0, 9000, 0, -10)
VALUES = (np.add.outer(np.arange(70) * 3, np.arange(101)) % 200).astype("uint8")


def source(values=VALUES, bands=1, place=PLACE):
    """A raster in memory. Its bands differ by one."""
    kind = gdal.GDT_Byte if values.dtype == "uint8" else gdal.GDT_Float32
    dataset = gdal.GetDriverByName("MEM").Create("", values.shape[1], values.shape[0], bands, kind)
    for i in range(bands):
        dataset.GetRasterBand(i + 1).WriteArray(values + i)
    if place:
        dataset.SetGeoTransform(place)
        dataset.SetSpatialRef(UTM)
    return dataset


def made(path, options=("BLOCKSIZE=32x32",), **more):
    DRIVER.CreateCopy(str(path), source(**more), options=list(options)).Close()
    return str(path)


def update(path):
    return gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE)


def sizes(dataset, band=1):
    band = dataset.GetRasterBand(band)
    return [(band.GetOverview(i).XSize, band.GetOverview(i).YSize)
            for i in range(band.GetOverviewCount())]


def expected(original, method, factors, band=1, interleave="BAND"):
    """What GDAL's GeoTIFF driver makes of the same raster. Where columns do not divide, NEAREST takes
    others for all bands at once than for each."""
    path = "/vsimem/expected.tif"
    copy = gdal.GetDriverByName("GTiff").CreateCopy(path, original,
                                                    options=["INTERLEAVE=" + interleave])
    copy.BuildOverviews(method, factors)
    levels = [copy.GetRasterBand(band).GetOverview(i).ReadAsArray() for i in range(len(factors))]
    copy.Close()
    gdal.Unlink(path)
    return levels


def levels_of(path, band=1):
    dataset = opened(path)
    band = dataset.GetRasterBand(band)
    return [band.GetOverview(i).ReadAsArray() for i in range(band.GetOverviewCount())]


def layout(path):
    return zarr.open_group(path, mode="r").attrs["multiscales"]["layout"]


def files(path):
    """All files of a store with their contents; without the core's locks."""
    return {os.path.join(folder, name): open(os.path.join(folder, name), "rb").read()
            for folder, _, names in os.walk(path) for name in names
            if not name.endswith(".zb-lock")}


class Opens:
    """Counts how often a file is opened. The system joins events that are alike and follow one another,
    so that closing is watched, too."""
    OPEN, CLOSE = 0x20, 0x10  # IN_OPEN, IN_CLOSE_NOWRITE

    def __init__(self, path):
        libc = ctypes.CDLL(None)
        self.queue = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert libc.inotify_add_watch(self.queue, os.fsencode(path), self.OPEN | self.CLOSE) > 0

    def count(self):
        events = os.read(self.queue, 1 << 16)
        os.close(self.queue)
        return sum(mask & self.OPEN != 0 for _, mask, _, length in struct.iter_unpack("iIII", events)
                   if length == 0)


@pytest.mark.parametrize("method", ["NEAREST", "AVERAGE", "BILINEAR", "CUBIC", "MODE", "RMS"])
@pytest.mark.parametrize("options", [["BLOCKSIZE=32x32"], ["BLOCKSIZE=16x16", "SHARD=32x64"],
                                     ["INTERLEAVE=PIXEL", "COMPRESS=BLOSC", "BLOCKSIZE=32x32"]],
                         ids=["plain", "shards", "pixels"])
def test_levels_have_the_pixels_that_gdal_makes(tmp_path, method, options):
    path = made(tmp_path / "r.zarr", options, bands=3)
    dataset = update(path)
    assert dataset.BuildOverviews(method, [2, 4]) == gdal.CE_None
    dataset.Close()
    assert os.listdir(tmp_path) == ["r.zarr"]
    assert sizes(opened(path), 3) == [(51, 35), (26, 18)]
    for band in (1, 3):
        wanted = expected(source(bands=3), method, [2, 4], band,
                          "PIXEL" if "INTERLEAVE=PIXEL" in options else "BAND")
        for found, level in zip(levels_of(path, band), wanted, strict=True):
            assert (found == level).all()
    assert (opened(path).ReadAsArray() == np.stack([VALUES, VALUES + 1, VALUES + 2])).all()


def test_gdaladdo(tmp_path):
    path = made(tmp_path / "r.zarr")
    run("gdaladdo", "-q", "-r", "average", path, "2", "4")
    assert "Overviews: 51x35, 26x18" in run("gdalinfo", path)
    run("gdal_translate", "-q", "-outsize", "51", "35", path, tmp_path / "small.tif")
    assert (gdal.Open(str(tmp_path / "small.tif")).ReadAsArray() == levels_of(path)[0]).all()
    run("gdaladdo", "-q", path, "8")
    assert sizes(opened(path)) == [(51, 35), (26, 18), (13, 9)]
    assert [entry.get("resampling_method") for entry in layout(path)] == [
        None, "average", "average", "nearest"]


def test_a_raster_with_levels_is_opened_by_one_look_at_its_document(tmp_path):
    """Neither the search for other rasters nor the list of levels, on which it is the first, takes another."""
    path = made(tmp_path / "r.zarr")
    run("gdaladdo", "-q", path, "2", "4")
    opens = Opens(tmp_path / "r.zarr" / "r" / "zarr.json")
    assert sizes(opened(path)) == [(51, 35), (26, 18)]
    assert opens.count() == 1


def test_clean_leaves_the_store_as_it_was(tmp_path):
    path = made(tmp_path / "r.zarr")
    before = files(path)
    run("gdaladdo", "-q", path, "2", "4")
    assert files(path) != before
    run("gdaladdo", "-q", "-clean", path)
    assert {name: json.loads(text) if name.endswith(".json") else text
            for name, text in files(path).items()} == {
        name: json.loads(text) if name.endswith(".json") else text
        for name, text in before.items()}
    assert sizes(opened(path)) == []


def test_the_list_follows_the_convention(tmp_path):
    path = made(tmp_path / "r.zarr")
    run("gdaladdo", "-q", path, "2")
    group = zarr.open_group(path, mode="r")
    assert UUID in [entry["uuid"] for entry in group.attrs["zarr_conventions"]]
    fine, coarse = layout(path)
    assert fine["asset"] == "r" and "derived_from" not in fine
    assert fine["spatial:transform"] == [10, 0, 500, 0, -10, 9000]
    assert (coarse["asset"], coarse["derived_from"]) == ("ovr_2x/r", "r")
    assert coarse["spatial:shape"] == [35, 51] and coarse["transform"]["scale"] == [2, 101 / 51]
    assert coarse["spatial:transform"] == [10 * 101 / 51, 0, 500, 0, -20, 9000]
    assert group["ovr_2x/r"].attrs["spatial:transform"] == coarse["spatial:transform"]


def test_each_level_has_its_place(tmp_path):
    path = made(tmp_path / "r.zarr")
    run("gdaladdo", "-q", path, "2", "5")
    for name, shape in (("ovr_2x", (35, 51)), ("ovr_5x", (14, 21))):
        for address in (path + "/" + name, sub(path, name + "/r")):
            level = opened(address)
            wanted = (500, 1010 / shape[1], 0, 9000, 0, -700 / shape[0])
            assert level.GetGeoTransform() == pytest.approx(wanted)
            assert level.GetSpatialRef().IsSame(UTM)
        table = xarray.open_zarr(path, group=name, consolidated=False)
        assert table["r"].shape == shape and table["r"].dims == ("y", "x")
        assert float(table["x"][0]) == pytest.approx(500 + 1010 / shape[1] / 2)
        assert float(table["y"][-1]) == pytest.approx(9000 - 700 + 700 / shape[0] / 2)
    assert xarray.open_zarr(path, consolidated=False)["r"].shape == VALUES.shape


def test_a_new_dataset(tmp_path):
    dataset = DRIVER.Create(str(tmp_path / "r.zarr"), 101, 70, 1, gdal.GDT_Byte)
    dataset.GetRasterBand(1).WriteArray(VALUES)
    dataset.GetRasterBand(1).SetNoDataValue(7)
    dataset.SetGeoTransform(PLACE)
    dataset.SetSpatialRef(UTM)
    dataset.BuildOverviews("NEAREST", [2])
    assert sizes(dataset) == [(51, 35)]
    dataset.Close()
    level = opened(tmp_path / "r.zarr" / "ovr_2x")
    assert level.GetSpatialRef().IsSame(UTM) and level.GetRasterBand(1).GetNoDataValue() == 7
    assert (levels_of(tmp_path / "r.zarr")[0] == expected(source(), "NEAREST", [2])[0]).all()


def test_statistics_of_the_raster_stay(tmp_path):
    path = made(tmp_path / "r.zarr")
    dataset = gdal.Open(path, gdal.GA_Update)
    known = dataset.GetRasterBand(1).ComputeStatistics(False)
    dataset.BuildOverviews("AVERAGE", [2])
    dataset.Close()
    dataset = gdal.Open(path)
    assert sizes(dataset)
    assert dataset.GetRasterBand(1).GetStatistics(False, False) == pytest.approx(known)
    assert os.listdir(tmp_path) == ["r.zarr"]  # no side file


def test_levels_are_made_anew(tmp_path):
    path = made(tmp_path / "r.zarr")
    run("gdaladdo", "-q", path, "2", "4")
    dataset = update(path)
    dataset.GetRasterBand(1).WriteArray(VALUES[::-1].copy())
    dataset.BuildOverviews("NEAREST", [4])
    assert sizes(dataset) == [(51, 35), (26, 18)]
    dataset.Close()
    fine, coarse = levels_of(path)
    assert (fine == expected(source(), "NEAREST", [2])[0]).all(), "not on the list of those to be made"
    assert (coarse == expected(source(VALUES[::-1].copy()), "NEAREST", [4])[0]).all()
    assert sorted(name for name in os.listdir(path) if name[0] == "o") == ["ovr_2x", "ovr_4x"]


def test_nodata_is_left_out_of_averages(tmp_path):
    values = VALUES.astype("float32")
    values[3:9, 5:40] = -9999
    original = source(values)
    original.GetRasterBand(1).SetNoDataValue(-9999)
    path = str(tmp_path / "r.zarr")
    DRIVER.CreateCopy(path, original, options=["BLOCKSIZE=32x32"]).Close()
    run("gdaladdo", "-q", "-r", "average", path, "2", "4")
    for found, wanted in zip(levels_of(path), expected(original, "AVERAGE", [2, 4]), strict=True):
        assert (found == wanted).all()
    dataset = opened(path)
    assert dataset.GetRasterBand(1).GetOverview(0).GetNoDataValue() == -9999
    assert np.isnan(xarray.open_zarr(path, group="ovr_2x", consolidated=False)["r"][2, 5])


@pytest.mark.parametrize("method", ["NEAREST", "AVERAGE"])
def test_masks_have_levels(tmp_path, method):
    original = source()
    original.CreateMaskBand(gdal.GMF_PER_DATASET)
    valid = np.zeros(VALUES.shape, "uint8")
    valid[8:40, 8:64] = 255
    valid[50, 50] = valid[63, 95] = 255
    original.GetRasterBand(1).GetMaskBand().WriteArray(valid)
    path = str(tmp_path / "r.zarr")
    DRIVER.CreateCopy(path, original, options=["BLOCKSIZE=32x32"]).Close()
    run("gdaladdo", "-q", "-r", method, path, "2", "4", "32")
    dataset = opened(path)
    band = dataset.GetRasterBand(1)
    assert sizes(dataset) == [(51, 35), (26, 18), (4, 3)]
    mask = band.GetMaskBand()
    for i, factor in enumerate((2, 4, 32)):
        level = band.GetOverview(i)
        found = level.GetMaskBand().ReadAsArray()
        assert level.GetMaskFlags() == gdal.GMF_PER_DATASET
        assert (mask.GetOverview(i).ReadAsArray() == found).all()
        assert set(np.unique(found)) <= {0, 255}
    if method == "AVERAGE":
        for i, factor in enumerate((2, 4)):
            found = band.GetOverview(i).GetMaskBand().ReadAsArray()
            assert found[50 // factor, 50 // factor] == found[63 // factor, 95 // factor] == 255
            assert found[0, 0] == 0
    assert opened(path).GetSubDatasets() == []


def test_nearest_takes_pixels_and_mask_from_one_place(tmp_path):
    original = source(bands=3)
    original.CreateMaskBand(gdal.GMF_PER_DATASET)
    original.GetRasterBand(1).GetMaskBand().WriteArray((VALUES % 2 * 255).astype("uint8"))
    path = str(tmp_path / "r.zarr")
    DRIVER.CreateCopy(path, original, options=["INTERLEAVE=PIXEL"]).Close()
    run("gdaladdo", "-q", path, "2", "3")
    dataset = opened(path)
    for i in range(2):
        level = dataset.GetRasterBand(1).GetOverview(i)
        assert (level.GetMaskBand().ReadAsArray() == level.ReadAsArray() % 2 * 255).all()


@pytest.mark.parametrize("interleave", ["BAND", "PIXEL"])
@pytest.mark.parametrize("method", ["AVERAGE", "BILINEAR", "MODE"])
def test_alpha_bands_are_their_own_masks(tmp_path, method, interleave):
    """Where alpha is 0, the pixel has no part in the average: not in that of alpha, either."""
    original = source(bands=4)
    alpha = np.where(VALUES % 3, 255, 0).astype("u1")
    original.GetRasterBand(4).WriteArray(alpha)
    for band, colour in enumerate((gdal.GCI_RedBand, gdal.GCI_GreenBand, gdal.GCI_BlueBand,
                                   gdal.GCI_AlphaBand), 1):
        original.GetRasterBand(band).SetColorInterpretation(colour)
    path = str(tmp_path / "x.zarr")
    DRIVER.CreateCopy(path, original, options=["INTERLEAVE=" + interleave]).Close()
    dataset = update(path)
    dataset.BuildOverviews(method, [2])
    for band in range(1, 5):
        level, = expected(original, method, [2], band, interleave)
        assert np.array_equal(dataset.GetRasterBand(band).GetOverview(0).ReadAsArray(), level)
    assert dataset.GetRasterBand(4).IsMaskBand() and not dataset.GetRasterBand(1).IsMaskBand()


def test_colour_tables(tmp_path):
    """Averages are taken of colours."""
    original = source((VALUES % 4).astype("uint8"))
    colours = gdal.ColorTable()
    for i, colour in enumerate([(0, 0, 0), (255, 0, 0), (0, 255, 0), (255, 255, 0)]):
        colours.SetColorEntry(i, colour + (255,))
    original.GetRasterBand(1).SetColorTable(colours)
    for method in ("NEAREST", "MODE", "AVERAGE"):
        path = str(tmp_path / (method + ".zarr"))
        DRIVER.CreateCopy(path, original).Close()
        run("gdaladdo", "-q", "-r", method, path, "2")
        assert (levels_of(path)[0] == expected(original, method, [2])[0]).all()
        level = opened(path + "/ovr_2x")
        assert level.GetRasterBand(1).GetColorTable().GetColorEntry(3) == (255, 255, 0, 255)


@pytest.mark.parametrize("stated", [gdal.GCI_GrayIndex, gdal.GCI_PaletteIndex])
def test_colour_tables_of_floats_are_no_palettes(tmp_path, stated):
    """GRASS exports elevations so. Each level had numbers of table entries in place of averages."""
    values = VALUES.astype("f4") + 0.25
    path = made(tmp_path / "r.zarr", values=values)
    colours = gdal.ColorTable()
    colours.CreateColorRamp(0, (0, 0, 0), 255, (255, 0, 0))
    dataset = update(path)
    dataset.GetRasterBand(1).SetColorInterpretation(stated)
    dataset.GetRasterBand(1).SetColorTable(colours)
    dataset.BuildOverviews("AVERAGE", [2])
    dataset.Close()
    assert np.array_equal(levels_of(path)[0], expected(source(values), "AVERAGE", [2])[0])
    dataset = opened(path)
    band = dataset.GetRasterBand(1)
    assert band.GetColorInterpretation() == gdal.GCI_GrayIndex
    assert band.GetColorTable().GetColorEntry(255) == (255, 0, 0, 255)


def test_two_rasters_of_a_group(tmp_path):
    path = made(tmp_path / "r.zarr")
    other = (VALUES[:40, :60] + 1).copy()
    DRIVER.CreateCopy(path, source(other), options=["APPEND_SUBDATASET=YES", "ARRAY_NAME=s"]).Close()
    run("gdaladdo", "-q", sub(path, "r"), "2", "4")
    assert [name for name, _ in opened(path).GetSubDatasets()] == [sub(path, "r"), sub(path, "s")]
    run("gdaladdo", "-q", sub(path, "s"), "2")
    assert [name for name, _ in opened(path).GetSubDatasets()] == [sub(path, "r"), sub(path, "s")]
    assert sizes(opened(sub(path, "r"))) == [(51, 35), (26, 18)]
    assert sizes(opened(sub(path, "s"))) == [(30, 20)]
    assert (levels_of(sub(path, "s"))[0] == other[::2, ::2]).all()
    run("gdaladdo", "-q", "-clean", sub(path, "r"))
    assert sizes(opened(sub(path, "r"))) == [] and sizes(opened(sub(path, "s"))) == [(30, 20)]
    assert (opened(sub(path, "s")).ReadAsArray() == other).all()
    assert [entry["asset"] for entry in layout(path)] == ["s", "ovr_2x_s/s"]


def test_arrays_of_other_programs(store):
    path, root = store
    cube = np.arange(3 * 40 * 50, dtype="int16").reshape(3, 40, 50)
    group = root.create_group("g")
    put(group, "t", cube, {"scale_factor": 0.5, "note": "NaN"}, dims=("time", "lat", "lon"),
        chunks=(2, 16, 16), shards=(2, 32, 32))
    put(group, "time", np.arange(3.0), {"units": "days since 2000-01-01"}, dims=("time",))
    zarr.consolidate_metadata(path)
    run("gdaladdo", "-q", sub(path, "g/t"), "2", "4")
    dataset = opened(sub(path, "g/t"))
    assert sizes(dataset, 3) == [(25, 20), (13, 10)]
    assert (levels_of(sub(path, "g/t"), 3)[0] == cube[2, ::2, ::2]).all()
    level = zarr.open_group(path, mode="r")["g/ovr_2x/t"]
    assert level.shards == (2, 32, 32) and level.chunks == (2, 16, 16)
    assert dict(level.attrs) == {"scale_factor": 0.5, "note": "NaN"}
    assert level.metadata.dimension_names == ("time", "lat", "lon")
    dataset = opened(sub(path, "g/ovr_2x/t"))
    assert dataset.GetRasterBand(2).GetMetadataItem("DIM_time_VALUE") == "1"
    listed = zarr.open_consolidated(path).metadata.consolidated_metadata.flattened_metadata
    assert "g/ovr_2x/t" in listed


def test_unnamed_dimensions_get_names_in_levels(store):
    path, root = store
    put(root, "t", VALUES)
    run("gdaladdo", "-q", path, "2")
    assert zarr.open_array(path + "/ovr_2x/t", mode="r").metadata.dimension_names == ("y", "x")
    assert sizes(opened(path)) == [(51, 35)]


def test_coordinates_of_rasters_that_no_geotransform_places(store):
    """The middle of the cells that stand behind a cell; of unequal ones that of the middle one."""
    path, root = store
    along = {"units": "m", "scale_factor": 0.5, "axis": "X"}
    unequal = np.arange(70.0) ** 1.5
    put(root, "x", np.arange(101, dtype="i2"), along, ("x",))
    put(root, "y", unequal, dims=("y",))
    put(root, "q", VALUES, dims=("y", "x"))
    run("gdaladdo", "-q", path, "2")
    half = xarray.open_zarr(path, group="ovr_2x", consolidated=False)
    step = 101 / 51
    assert np.allclose(half.x, 0.5 * ((np.arange(51) + 0.5) * step - 0.5))
    assert half.x.attrs == {"units": "m", "axis": "X"}
    assert (half.y.values == unequal[1::2]).all() and half.q.shape == (35, 51)
    run("gdaladdo", "-q", "-clean", path)
    assert sorted(os.listdir(path)) == ["q", "x", "y", "zarr.json"]


@pytest.mark.parametrize("placed", [True, False])
def test_levels_have_the_coordinates_of_other_dimensions(store, placed):
    """A program that opens the group of a level looks no further."""
    path, root = store
    days = np.array([3, 5, 9], "i4")
    put(root, "time", days, {"units": "days since 2000-01-01"}, ("time",))
    put(root, "band", np.array(["red", "nir"], dtype=np.dtypes.StringDType()), dims=("band",))
    put(root, "t", np.stack([[VALUES] * 2] * 3), dims=("time", "band", "y", "x"))
    if placed:
        run("gdal_edit.py", "-a_srs", "EPSG:32725", "-a_ullr", "500", "9000", "1510", "8300", path)
    run("gdaladdo", "-q", path, "2")
    level = xarray.open_zarr(path, group="ovr_2x", consolidated=False)
    assert level.t.dims == ("time", "band", "y", "x") and level.band.values.tolist() == ["red", "nir"]
    assert [str(day)[:10] for day in level.time.values] == ["2000-01-04", "2000-01-06", "2000-01-10"]
    assert ("x" in level.coords) == placed
    assert opened(path + "/ovr_2x").GetRasterBand(2).GetMetadataItem("DIM_time_VALUE") == "3"
    run("gdaladdo", "-q", "-clean", path)
    assert "ovr_2x" not in os.listdir(path)
    assert sorted(set(os.listdir(path)) - {"x", "y", "spatial_ref"}) == \
        ["band", "t", "time", "zarr.json"]


def test_an_array_that_is_a_store_keeps_them_beside_it(tmp_path):
    path = str(tmp_path / "a.zarr")
    zarr.create_array(path, data=VALUES)
    run("gdaladdo", "-q", path, "2")
    assert os.path.exists(path + ".ovr") and sizes(opened(path)) == [(51, 35)]


def test_side_files_give_way(tmp_path):
    path = made(tmp_path / "r.zarr")
    run("gdaladdo", "-q", "-ro", path, "2")
    assert sorted(os.listdir(tmp_path)) == ["r.zarr", "r.zarr.r.ovr"]
    run("gdaladdo", "-q", path, "4")
    assert os.listdir(tmp_path) == ["r.zarr"] and sizes(opened(path)) == [(26, 18)]


def test_levels_of_other_programs_are_made_anew_and_not_removed(store):
    path, root = store
    for i in (0, 1):
        put(root, str(i), np.zeros((70 >> i, 100 >> i), "uint8") + i, {"mine": i}, chunks=(16, 16))
    root.update_attributes({"zarr_conventions": [{"uuid": UUID}], "multiscales": {
        "version": "1", "layout": [{"asset": "0", "own": 1}, {"asset": "1", "derived_from": "0"}]}})
    before = dict(root.attrs)
    run("gdaladdo", "-q", path, "2")
    assert (zarr.open_array(path + "/1", mode="r")[...] == 0).all()
    assert dict(zarr.open_array(path + "/1", mode="r").attrs) == {"mine": 1}
    assert dict(zarr.open_group(path, mode="r").attrs) == before
    with Errors() as errors:
        update(path).BuildOverviews("NEAREST", [])
    assert "is not removed" in errors.failures[0]
    run("gdaladdo", "-q", path, "4")
    assert [entry["asset"] for entry in layout(path)] == ["0", "1", "ovr_4x/0"]
    assert layout(path)[0]["own"] == 1 and sizes(opened(path)) == [(50, 35), (25, 18)]


@pytest.mark.parametrize("name", ["slice", "factor", "taken", "ome", "private"])
def test_refusals_change_nothing(store, name):
    path, root = store
    put(root, "t", np.stack([VALUES, VALUES]), chunks=(1, 32, 32))
    if name == "taken":
        root.create_group("ovr_2x")
        root.create_group("ovr_2x_t")
    if name == "ome":
        root.update_attributes({"ome": {"version": "0.5"}})
    if name == "private":
        root.update_attributes({"multiscales": 5})
    before = files(path)
    dataset = update(sub(path, "t", 0) if name == "slice" else sub(path, "t"))
    with Errors() as errors:
        assert dataset.BuildOverviews("NEAREST", [1] if name == "factor" else [2]) != gdal.CE_None
    what = "overviews" if name == "slice" else "levels"
    assert f"no {what} are made" in errors.failures[0]
    dataset.Close()
    assert files(path) == before


def test_overviews_of_one_band_are_refused(store):
    path, root = store
    put(root, "t", np.stack([VALUES, VALUES]), chunks=(1, 32, 32))
    before = files(path)
    result = subprocess.run(["gdaladdo", "-b", "1", path, "2"], capture_output=True, text=True)
    assert result.returncode != 0 and "of all bands together" in result.stderr
    assert files(path) == before


def test_an_interrupted_build_leaves_the_old_levels(tmp_path):
    path = made(tmp_path / "r.zarr")
    run("gdaladdo", "-q", path, "2")
    before = files(path)
    dataset = update(path)
    with Errors():
        assert dataset.BuildOverviews("AVERAGE", [2, 4],
                                      callback=lambda *_: 0) != gdal.CE_None
    dataset.Close()
    assert files(path) == before


def test_a_damaged_chunk_leaves_the_old_levels(tmp_path):
    path = made(tmp_path / "r.zarr")
    run("gdaladdo", "-q", path, "2")
    (tmp_path / "r.zarr/r/c/1/1").write_bytes(b"damage")
    before = files(path)
    dataset = update(path)
    with Errors() as errors:
        assert dataset.BuildOverviews("AVERAGE", [2, 4]) != gdal.CE_None
    assert errors.failures
    dataset.Close()
    assert files(path) == before


def test_programs_write_to_overviews(tmp_path):
    path = made(tmp_path / "r.zarr")
    run("gdaladdo", "-q", path, "2")
    dataset = update(path)
    level = dataset.GetRasterBand(1).GetOverview(0)
    level.WriteArray(np.full((35, 51), 9, "uint8"))
    dataset.Close()
    assert (levels_of(path)[0] == 9).all()
    assert (opened(path).ReadAsArray() == VALUES).all()


def test_levels_follow_their_raster(tmp_path):
    """What is set later holds for the levels, too."""
    path = made(tmp_path / "r.zarr", place=None)
    run("gdaladdo", "-q", path, "2")
    run("gdal_edit.py", "-a_srs", "EPSG:32725", "-a_ullr", "500", "9000", "1510", "8300",
        "-a_nodata", "3", "-scale", "0.5", path)
    level = opened(path + "/ovr_2x")
    assert level.GetGeoTransform() == pytest.approx((500, 1010 / 51, 0, 9000, 0, -20))
    assert level.GetSpatialRef().IsSame(UTM)
    assert level.GetRasterBand(1).GetNoDataValue() == 3
    assert level.GetRasterBand(1).GetScale() == 0.5
    assert layout(path)[1]["spatial:transform"] == pytest.approx([1010 / 51, 0, 500, 0, -20, 9000])
    assert layout(path)[1]["resampling_method"] == "nearest"


@pytest.mark.parametrize("method", ["NEAREST", "AUTO"])
def test_a_raster_with_levels_is_moved_and_unset(tmp_path, method):
    """Levels have coordinates of their own: the raster's are no less its own for them."""
    path = str(tmp_path / "r.zarr")
    options = ["OVERVIEWS=AUTO"] if method == "AUTO" else []
    DRIVER.CreateCopy(path, source(values=BIG), options=options).Close()
    if method != "AUTO":
        update(path).BuildOverviews(method, [2])
    with Errors() as errors:
        dataset = update(path)
        dataset.SetGeoTransform((0, 2, 0, 5000, 0, -4))
        dataset.Close()
    assert errors.seen == []
    group = zarr.open_group(path, mode="r")
    assert group["x"][:2].tolist() == [1, 3] and group["y"][:2].tolist() == [4998, 4994]
    assert group["ovr_2x/x"][:2].tolist() == [2, 6] and group["ovr_2x/y"][0] == 4996
    assert group["r"].attrs["grid_mapping"] == "spatial_ref"
    dataset = update(path)
    dataset.SetGeoTransform((0, 1, 0, 0, 0, 1))
    dataset.SetSpatialRef(None)
    dataset.Close()
    for name in (path, path + "/ovr_2x"):
        assert opened(name).GetGeoTransform(can_return_null=True) is None
        assert opened(name).GetSpatialRef() is None
    assert not {"x", "y", "spatial_ref"} & set(zarr.open_group(path, mode="r"))


def test_groups_below_that_use_the_coordinates_keep_them(store):
    """What lies below goes up to the nearest coordinates that fit, and to the grid mapping it names."""
    path, group = store
    for name in ("free", "uses"):
        inner = group.create_group(name)
        put(inner, "v", VALUES, dims=["y", "x"])
        if name == "free":
            put(inner, "x", np.arange(101.0), dims=["x"])
            put(inner, "y", np.arange(70.0), dims=["y"])
    del group["uses"]
    put(group, "r", VALUES, dims=["y", "x"])
    dataset = update(sub(path, "r"))
    dataset.SetGeoTransform(PLACE)
    dataset.SetSpatialRef(UTM)
    dataset.Close()
    assert group["x"][0] == 505
    put(group.create_group("uses"), "v", VALUES, {"grid_mapping": "spatial_ref"}, ["y", "x"])
    with Errors() as errors:
        dataset = update(sub(path, "r"))
        dataset.SetGeoTransform((0, 2, 0, 5000, 0, -4))
        dataset.Close()
    assert len(errors.seen) == 2 and "serves other arrays, too" in errors.seen[0][1]
    assert opened(sub(path, "uses/v")).GetGeoTransform() == PLACE
    assert opened(sub(path, "r")).GetGeoTransform() == (0, 2, 0, 5000, 0, -4)
    before = files(path)
    with Errors() as errors:
        dataset = update(sub(path, "r"))
        dataset.SetGeoTransform((0, 1, 0, 0, 0, 1))
        assert dataset.FlushCache() == gdal.CE_Failure
        dataset.Close()
    assert "the place cannot be unset" in errors.failures[0]
    assert files(path) == before


def test_in_memory():
    path = "/vsimem/r.zarr"
    dataset = DRIVER.CreateCopy(path, source())
    dataset.BuildOverviews("AVERAGE", [2])
    dataset.Close()
    assert (levels_of(path)[0] == expected(source(), "AVERAGE", [2])[0]).all()
    gdal.RmdirRecursive(path)


def test_deleting_an_array_takes_its_mask_and_its_levels(tmp_path):
    original = source()
    original.CreateMaskBand(gdal.GMF_PER_DATASET)
    path = str(tmp_path / "r.zarr")
    DRIVER.CreateCopy(path, original).Close()
    DRIVER.CreateCopy(path, source(), options=["APPEND_SUBDATASET=YES", "ARRAY_NAME=s"]).Close()
    run("gdaladdo", "-q", sub(path, "r"), "2")
    assert DRIVER.Delete(sub(path, "r")) == gdal.CE_None
    assert sorted(zarr.open_group(path, mode="r").keys()) == ["s", "spatial_ref", "x", "y"]
    assert "multiscales" not in zarr.open_group(path, mode="r").attrs


BIG = (np.add.outer(np.arange(600), np.arange(1100) // 3) % 251).astype("uint8")


def test_copies_with_overviews(tmp_path):
    path = str(tmp_path / "r.zarr")
    original = source(BIG)
    seen = []
    DRIVER.CreateCopy(path, original, options=["OVERVIEWS=AUTO", "OVERVIEW_RESAMPLING=AVERAGE"],
                      callback=lambda done, *_: seen.append(done) or 1).Close()
    assert sizes(opened(path)) == [(550, 300), (275, 150)]
    for found, wanted in zip(levels_of(path), expected(original, "AVERAGE", [2, 4]), strict=True):
        assert (found == wanted).all()
    assert seen == sorted(seen) and seen[-1] == 1
    assert os.listdir(tmp_path) == ["r.zarr"]
    DRIVER.CreateCopy(path, source(), options=["OVERVIEWS=AUTO"]).Close()
    assert sizes(opened(path)) == []


def test_copies_of_overviews(tmp_path):
    """The source's own, whatever is in them."""
    original = gdal.GetDriverByName("GTiff").CreateCopy("/vsimem/o.tif", source(BIG, bands=2))
    original.BuildOverviews("NEAREST", [2, 4])
    for i, value in ((0, 3), (1, 5)):
        original.GetRasterBand(2).GetOverview(i).Fill(value)
    path = str(tmp_path / "r.zarr")
    DRIVER.CreateCopy(path, original, options=["COPY_SRC_OVERVIEWS=YES"]).Close()
    original.Close()
    gdal.Unlink("/vsimem/o.tif")
    assert [set(np.unique(level)) for level in levels_of(path, 2)] == [{3}, {5}]
    assert (levels_of(path)[0] == BIG[::2, ::2]).all()
    assert all("resampling_method" not in entry for entry in layout(path))


def test_new_rasters_get_overviews_when_they_are_closed(tmp_path):
    path = str(tmp_path / "r.zarr")
    dataset = DRIVER.Create(path, 1100, 600, 1, gdal.GDT_Byte, options=["OVERVIEWS=AUTO"])
    dataset.GetRasterBand(1).WriteArray(BIG)
    dataset.Close()
    assert sizes(opened(path)) == [(550, 300), (275, 150)]
    assert (levels_of(path)[0] == BIG[::2, ::2]).all()


@pytest.mark.parametrize("options", [["OVERVIEWS=YES"], ["OVERVIEW_RESAMPLING=BEST"],
                                     ["OVERVIEWS=AUTO", "COPY_SRC_OVERVIEWS=YES"]])
def test_wrong_options(tmp_path, options):
    with Errors() as errors:
        assert DRIVER.CreateCopy(str(tmp_path / "r.zarr"), source(), options=options) is None
    assert "OVERVIEW" in errors.failures[0] and os.listdir(tmp_path) == []


def test_an_array_with_levels_keeps_its_name(tmp_path):
    path = made(tmp_path / "r.zarr")
    run("gdaladdo", "-q", path, "2")
    before = files(path)
    with Errors() as errors:
        assert DRIVER.Rename(sub(path, "q"), sub(path, "r")) != gdal.CE_None
    assert "gdaladdo -clean" in errors.failures[0] and files(path) == before
    run("gdaladdo", "-q", "-clean", path)
    assert DRIVER.Rename(sub(path, "q"), sub(path, "r")) == gdal.CE_None


def test_side_files_are_listed(tmp_path):
    path = made(tmp_path / "r.zarr")
    names = [path + "/r/zarr.json"]
    assert opened(path).GetFileList() == names
    run("gdaladdo", "-q", "-ro", path, "2")
    assert opened(path).GetFileList() == names + [path + ".r.ovr"]
    run("gdalinfo", "-stats", path)
    assert opened(path).GetFileList() == names + [path + ".aux.xml", path + ".r.ovr"]


def test_gdals_own_driver_reads_the_levels(tmp_path):
    if int(gdal.VersionInfo()) < 3130000:
        pytest.skip("GDAL's own driver knows no levels before 3.13")
    path = made(tmp_path / "out.zarr", options=["BLOCKSIZE=32x32", "ARRAY_NAME=t"])
    with update(path) as dataset:
        dataset.BuildOverviews("AVERAGE", [2, 4])
    with gdal.OpenEx(f'ZARR:"{path}":/t', allowed_drivers=["Zarr"]) as own, gdal.Open(path) as ours:
        assert sizes(own) == sizes(ours) != []
        for i in range(2):
            assert (own.GetRasterBand(1).GetOverview(i).ReadAsArray()
                    == ours.GetRasterBand(1).GetOverview(i).ReadAsArray()).all()


@pytest.mark.parametrize("method", ["NEAREST", "AVERAGE"])
def test_interleaved_complex_bands_keep_their_imaginary_parts(tmp_path, method):
    values = (VALUES + 1j * VALUES[::-1, ::-1]).astype("complex64")
    original = gdal.GetDriverByName("MEM").Create("", 101, 70, 2, gdal.GDT_CFloat32)
    original.GetRasterBand(1).WriteArray(values)
    original.GetRasterBand(2).WriteArray(values * 2)
    path = str(tmp_path / "o.zarr")
    DRIVER.CreateCopy(path, original, options=["BLOCKSIZE=32x32", "INTERLEAVE=PIXEL"]).Close()
    with update(path) as dataset:
        dataset.BuildOverviews(method, [2, 4])
    for band in (1, 2):
        for made_here, wanted in zip(levels_of(path, band), expected(original, method, [2, 4], band),
                                     strict=True):
            assert made_here.imag.any()
            np.testing.assert_array_equal(made_here, wanted)


@pytest.mark.parametrize("held", [False, True])
def test_levels_have_a_new_nodata_value_at_once(tmp_path, held):
    """Before anything is flushed, reads that resample a level go by it."""
    path = str(tmp_path / "r.zarr")
    data = np.where(np.arange(64) % 4 < 2, 100, 0).astype("u1")[None].repeat(64, 0)
    with gdal.GetDriverByName("Zarr3").Create(path, 64, 64, 1, gdal.GDT_Byte) as dataset:
        dataset.GetRasterBand(1).WriteArray(data)
    with gdal.Open(path, gdal.GA_Update) as dataset:
        dataset.BuildOverviews("NEAREST", [2])
    dataset = gdal.Open(path, gdal.GA_Update)
    band = dataset.GetRasterBand(1)
    level = band.GetOverview(0) if held else None

    def average():
        return band.ReadAsArray(buf_xsize=16, buf_ysize=16, resample_alg=gdal.GRIORA_Average)

    if held:
        assert np.unique(average()).tolist() == [50]
    band.SetNoDataValue(0)
    level = level or band.GetOverview(0)
    assert level.GetNoDataValue() == 0 and np.unique(average()).tolist() == [100]
    band.DeleteNoDataValue()
    assert level.GetNoDataValue() is None and np.unique(average()).tolist() == [50]
    band.SetNoDataValue(7)
    del band, level
    dataset.Close()
    with gdal.Open(path) as dataset:
        assert dataset.GetRasterBand(1).GetOverview(0).GetNoDataValue() == 7
