# SPDX-License-Identifier: MIT
"""Levels of pyramids as overviews of multidimensional arrays, and where blocks lie in the store."""
import json

import numpy as np
import pytest
import zarr
from conftest import Errors, opened, put, sub
from mdim import opened_mdim
from osgeo import gdal, osr

needs_overviews = pytest.mark.skipif(not hasattr(gdal.MDArray, "BuildOverviews"),
                                     reason="GDAL 3.13 has them")
needs_blocks = pytest.mark.skipif(not hasattr(gdal.MDArray, "GetRawBlockInfo"),
                                  reason="GDAL 3.12 has it")
PIXELS = np.arange(40 * 60, dtype="f4").reshape(40, 60)


def raster(path, *options):
    source = gdal.GetDriverByName("MEM").Create("", 60, 40, 1, gdal.GDT_Float32)
    source.SetGeoTransform((100, 10, 0, 900, 0, -10))
    source.WriteArray(PIXELS)
    gdal.GetDriverByName("Zarr3").CreateCopy(str(path), source, options=["ARRAY_NAME=t", *options])


@needs_overviews
def test_levels_are_overviews(tmp_path):
    path = tmp_path / "x.zarr"
    raster(path)
    with gdal.Open(str(path), gdal.GA_Update) as dataset:
        dataset.BuildOverviews("AVERAGE", [2, 4])
    dataset, group = opened_mdim(path)
    array = group.OpenMDArray("t")
    names = [array.GetOverview(i).GetFullName() for i in range(array.GetOverviewCount())]
    assert names == ["/ovr_2x/t", "/ovr_4x/t"]
    half = array.GetOverview(0)
    assert (half.ReadAsArray() == PIXELS.reshape(20, 2, 30, 2).mean((1, 3))).all()
    assert [half.GetOverview(i).GetFullName() for i in range(half.GetOverviewCount())] == names[1:]
    for index in (-1, 2):
        with Errors():
            assert array.GetOverview(index) is None
    assert group.OpenMDArray("x").GetOverviewCount() == 0


@needs_overviews
def test_overviews_are_made_and_removed(tmp_path):
    path = tmp_path / "x.zarr"
    raster(path)
    dataset, group = opened_mdim(path, update=True)
    array = group.OpenMDArray("t")
    assert array.GetOverviewCount() == 0 and not group.GetGroupNames()
    assert array.Write(PIXELS + 1) == gdal.CE_None  # waits for the flush
    assert array.BuildOverviews("NEAREST", [2]) == gdal.CE_None
    assert array.GetOverviewCount() == 1 and group.GetGroupNames() == ["ovr_2x"]
    assert (array.GetOverview(0).ReadAsArray() == PIXELS[::2, ::2] + 1).all()
    assert (zarr.open_group(str(path), mode="r")["ovr_2x/t"][...] == PIXELS[::2, ::2] + 1).all()
    assert array.BuildOverviews("NONE", []) == gdal.CE_None
    assert array.GetOverviewCount() == 0 and not (path / "ovr_2x").exists()
    with Errors() as errors:
        assert group.OpenMDArray("x").BuildOverviews("NEAREST", [2]) != gdal.CE_None
    assert "fewer than two dimensions" in errors.failures[0]


def test_levels_in_groups_beside_their_array(store):
    """As GDAL's own driver lists them."""
    path, group = store
    put(group, "t", np.arange(64, dtype="u1").reshape(8, 8), dims=["y", "x"])
    put(group.create_group("ovr_2x"), "t", np.full((4, 4), 9, "u1"), dims=["y", "x"])
    group.attrs.update({
        "zarr_conventions": [{"uuid": "d35379db-88df-4056-af3a-620245f8e347",
                              "name": "multiscales"}],
        "multiscales": {"layout": [{"asset": "t"}, {"asset": "ovr_2x", "derived_from": "t"}]}})
    dataset = gdal.Open(f'ZARR3:"{path}":/t')
    band = dataset.GetRasterBand(1)
    assert band.GetOverviewCount() == 1 and (band.GetOverview(0).ReadAsArray() == 9).all()
    if hasattr(gdal.MDArray, "GetOverviewCount"):
        dataset, root = opened_mdim(path)
        array = root.OpenMDArray("t")
        assert array.GetOverview(0).GetFullName() == "/ovr_2x/t"


def bytes_at(info):
    with open(info.GetFilename(), "rb") as file:
        file.seek(info.GetOffset())
        return file.read(info.GetSize())


@needs_blocks
def test_blocks_in_files_and_in_shards(store):
    path, group = store
    data = np.arange(64, dtype=">u2").reshape(8, 8)
    put(group, "plain", data, chunks=(4, 4), compressors=None)
    put(group, "shards", data.astype("<u2"), chunks=(2, 4), shards=(4, 8), compressors=None)
    dataset, root = opened_mdim(path)
    info = root.OpenMDArray("plain").GetRawBlockInfo([1, 0])
    assert info.GetFilename() == f"{path}/plain/c/1/0" and info.GetOffset() == 0
    kinds = {"BIG": ">u2", "LITTLE": "<u2"}
    endian = dict(item.split("=") for item in info.GetInfo())["ENDIANNESS"]
    assert (np.frombuffer(bytes_at(info), kinds[endian]).reshape(4, 4) == data[4:, :4]).all()
    shards = root.OpenMDArray("shards")
    for row in range(4):
        for column in range(2):
            info = shards.GetRawBlockInfo([row, column])
            assert info.GetFilename() == f"{path}/shards/c/{row // 2}/0"
            assert set(info.GetInfo()) == {"ENDIANNESS=LITTLE", "CHUNK_TYPE=INNER"}
            block = data[2 * row:2 * row + 2, 4 * column:4 * column + 4]
            assert (np.frombuffer(bytes_at(info), "<u2").reshape(2, 4) == block).all()


@needs_blocks
def test_what_has_to_be_undone_is_told(store):
    path, group = store
    put(group, "gzip", np.zeros((4, 4), "u1"), chunks=(4, 4), fill_value=1,
        compressors=[zarr.codecs.GzipCodec(level=4)])
    put(group, "turned", np.zeros((4, 4), "u2"), chunks=(4, 4), fill_value=1, compressors=None,
        filters=[zarr.codecs.TransposeCodec(order=(1, 0))])
    put(group, "sums", np.zeros((4, 4), "u1"), chunks=(4, 4), fill_value=1,
        compressors=[zarr.codecs.Crc32cCodec()])
    dataset, root = opened_mdim(path)

    def items(name):
        return dict(item.split("=", 1) for item in root.OpenMDArray(name).GetRawBlockInfo(
            [0, 0]).GetInfo())

    assert json.loads(items("gzip")["COMPRESSOR"]) == {"name": "gzip",
                                                       "configuration": {"level": 4}}
    assert items("turned") == {"ENDIANNESS": "LITTLE", "TRANSPOSE_ORDER": "[1,0]"}
    assert [codec["name"] for codec in json.loads(items("sums")["CODECS"])] == ["bytes", "crc32c"]


@needs_blocks
def test_blocks_that_are_missing_or_wait(tmp_path):
    path = tmp_path / "x.zarr"
    raster(path, "BLOCKSIZE=20x20", "COMPRESS=NONE")
    (path / "t" / "c" / "0" / "1").unlink()
    dataset, group = opened_mdim(path, update=True)
    array = group.OpenMDArray("t")
    info = array.GetRawBlockInfo([0, 1])
    assert info.GetFilename() is None and info.GetSize() == 0
    array.Write(np.full((20, 20), 7, "f4"), array_start_idx=[0, 20], count=[20, 20])
    info = array.GetRawBlockInfo([0, 1])
    assert (np.frombuffer(bytes_at(info), "<f4") == 7).all()
    with Errors() as errors:
        assert array.GetRawBlockInfo([2, 0]) is None
    assert "invalid block coordinate 2 for dimension 0" in errors.failures[0]


# ---- Changes of an array that has levels ----


def leveled(path, width=361, height=181):
    """A raster in degrees with a mask, statistics and a level of half its size."""
    source = gdal.GetDriverByName("MEM").Create("", width, height, 1, gdal.GDT_Float32)
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(4326)
    source.SetSpatialRef(srs)
    source.SetGeoTransform((-180.5, 1, 0, 90.5, 0, -1))
    source.WriteArray(np.arange(width * height, dtype="f4").reshape(height, width))
    source.CreateMaskBand(gdal.GMF_PER_DATASET)
    source.GetRasterBand(1).GetMaskBand().Fill(255)
    gdal.GetDriverByName("Zarr3").CreateCopy(path, source, options=["ARRAY_NAME=t"]).Close()
    with gdal.OpenEx(path, gdal.OF_UPDATE) as dataset:
        dataset.GetRasterBand(1).ComputeStatistics(False)
        dataset.BuildOverviews("NEAREST", [2])


def without_levels(path):
    with gdal.OpenEx(path, gdal.OF_UPDATE) as dataset:
        dataset.BuildOverviews("NONE", [])


def test_an_array_with_levels_keeps_its_size(tmp_path):
    path = str(tmp_path / "x.zarr")
    leveled(path)
    dataset, root = opened_mdim(path, update=True)
    with Errors() as errors:
        assert root.OpenMDArray("t").Resize([100, 361]) != gdal.CE_None
    assert len(errors.failures) == 1 and "gdaladdo -clean" in errors.failures[0]
    del dataset, root
    assert opened(path).RasterYSize == 181 and opened(path).GetRasterBand(1).GetOverviewCount() == 1
    assert opened(path).GetGeoTransform() == (-180.5, 1, 0, 90.5, 0, -1)


@pytest.mark.parametrize("height, box", [(100, [-180.5, -9.5, 180.5, 90.5]),
                                         (200, [-180.5, -109.5, 180.5, 90.5])])
def test_a_place_and_statistics_follow_the_size(tmp_path, height, box):
    path = str(tmp_path / "x.zarr")
    leveled(path)
    without_levels(path)
    assert opened(path).GetRasterBand(1).GetMetadataItem("STATISTICS_MEAN")
    dataset, root = opened_mdim(path, update=True)
    assert root.OpenMDArray("t").Resize([height, 361]) == gdal.CE_None
    dataset.Close()
    del root
    found = opened(path)
    assert found.GetGeoTransform() == (-180.5, 1, 0, 90.5, 0, -1) and found.RasterYSize == height
    assert found.GetRasterBand(1).GetMetadataItem("STATISTICS_MEAN") is None
    attributes = zarr.open(path)["t"].attrs
    assert attributes["spatial:shape"] == [height, 361] and attributes["spatial:bbox"] == box


@pytest.mark.parametrize("shape", [(100, 361), (100, 200), (181, 180), (91, 181)])
def test_levels_of_another_size_are_no_overviews(tmp_path, shape):
    """Other programs resize an array and know nothing of its levels; the list still says the old
    shape."""
    path = str(tmp_path / "x.zarr")
    leveled(path)
    zarr.open(path)["t"].resize(shape)
    assert opened(path).GetRasterBand(1).GetOverviewCount() == 0
    with gdal.OpenEx(path, gdal.OF_UPDATE) as dataset:
        dataset.BuildOverviews("NEAREST", [2])
    found = opened(path)
    assert found.GetRasterBand(1).GetOverviewCount() == 1
    level = found.GetRasterBand(1).GetOverview(0)
    assert (level.YSize, level.XSize) == ((shape[0] + 1) // 2, (shape[1] + 1) // 2)
    assert np.abs(level.ReadAsArray() - found.ReadAsArray()[::2, ::2]).max() <= 362, "a row and a column"
    assert not (tmp_path / "x.zarr" / "ovr_2x_t").exists(), "the old one has gone"


def test_old_levels_can_be_removed(tmp_path):
    path = str(tmp_path / "x.zarr")
    leveled(path)
    zarr.open(path)["t"].resize((100, 361))
    without_levels(path)
    assert not (tmp_path / "x.zarr" / "ovr_2x").exists()
    assert "multiscales" not in zarr.open(path).attrs


@pytest.mark.parametrize("fine, coarse, fits", [
    ((100, 361), (91, 181), False), ((181, 361), (91, 181), True), ((181, 361), (90, 180), True),
    ((100, 100), (67, 67), True), ((100, 100), (100, 50), True), ((1000, 300), (500, 100), True),
    ((1000, 1000), (250, 250), True), ((101, 101), (25, 26), True), ((1000, 1000), (900, 500), False),
    ((10980, 10980), (1830, 1830), True), ((100, 100), (1, 1), True)])
def test_sizes_of_levels_by_other_writers(store, fine, coarse, fits):
    path, root = store
    put(root, "0", np.zeros(fine, "u1"))
    put(root, "1", np.zeros(coarse, "u1"))
    root.update_attributes({
        "zarr_conventions": [{"uuid": "d35379db-88df-4056-af3a-620245f8e347",
                              "name": "multiscales"}],
        "multiscales": {"layout": [{"asset": "0"}, {"asset": "1", "derived_from": "0"}]}})
    assert opened(path + "/0").GetRasterBand(1).GetOverviewCount() == fits


def test_levels_follow_the_crs_and_nodata(tmp_path):
    path = str(tmp_path / "x.zarr")
    leveled(path)
    dataset, root = opened_mdim(path, update=True)
    array = root.OpenMDArray("t")
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(4258)
    array.SetSpatialRef(srs)
    array.SetNoDataValueDouble(7)
    array.SetUnit("K")
    del array, root
    dataset.Close()
    found = opened(path)
    level = opened(sub(path, "ovr_2x/t"))
    assert level.GetSpatialRef().GetAuthorityCode(None) == "4258"
    assert level.GetRasterBand(1).GetNoDataValue() == 7
    assert level.GetRasterBand(1).GetUnitType() == "K"
    assert np.allclose(level.GetGeoTransform(), (-180.5, 361 / 181, 0, 90.5, 0, -181 / 91))
    assert found.GetRasterBand(1).GetOverview(0).GetNoDataValue() == 7


def test_deleting_an_array_deletes_what_belongs_to_it(tmp_path):
    path = str(tmp_path / "x.zarr")
    leveled(path)
    dataset, root = opened_mdim(path, update=True)
    level = root.OpenGroup("ovr_2x").OpenMDArray("t")
    assert root.DeleteMDArray("t") == gdal.CE_None
    assert root.GetGroupNames() in (None, [])
    assert set(root.GetMDArrayNames() or []) <= {"x", "y"}
    assert "multiscales" not in [item.GetName() for item in root.GetAttributes()]
    with Errors():
        assert level.Read() is None
    del level, root
    dataset.Close()
    assert set(zarr.open(path)) == {"x", "y", "spatial_ref"}
    assert "multiscales" not in zarr.open(path).attrs
