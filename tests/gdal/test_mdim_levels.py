# SPDX-License-Identifier: MIT
"""Levels of pyramids as overviews of multidimensional arrays, and where blocks lie in the store."""
import json

import numpy as np
import pytest
import zarr
from conftest import Errors, put
from mdim import opened_mdim
from osgeo import gdal

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
