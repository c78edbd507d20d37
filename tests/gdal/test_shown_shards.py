# SPDX-License-Identifier: MIT
"""The open option SHOW=SHARDS: GDAL's blocks are what programs may write at once without waiting."""

import numpy as np
import pytest
import zarr
from conftest import Errors, opened, sub
from osgeo import gdal

VALUES = np.arange(3 * 100 * 70, dtype="u2").reshape(3, 100, 70)


@pytest.fixture
def sharded(store):
    path, root = store
    root.create_array("a", shape=VALUES.shape, dtype="u2", chunks=(1, 10, 8), shards=(2, 40, 32))[...] = VALUES
    root.create_array("plain", shape=(100, 70), dtype="u2", chunks=(16, 24))
    return path


@pytest.mark.parametrize("show, block", [
    (None, [8, 10]), ("CHUNKS", [8, 10]), ("SHARDS", [32, 40]), ("shards", [32, 40])])
def test_blocks(sharded, show, block):
    dataset = opened(sub(sharded, "a"), **({"SHOW": show} if show else {}))
    for number in range(1, 4):
        band = dataset.GetRasterBand(number)
        assert band.GetBlockSize() == block
        for y in range(-(-100 // block[1])):
            for x in range(-(-70 // block[0])):
                raw = np.frombuffer(band.ReadBlock(x, y), "u2").reshape(block[::-1])
                part = VALUES[number - 1, y * block[1]:, x * block[0]:][:block[1], :block[0]]
                assert (raw[:part.shape[0], :part.shape[1]] == part).all()
    for window in ((0, 0, 70, 100), (5, 7, 1, 1), (31, 39, 2, 2), (32, 40, 32, 40), (0, 3, 70, 50)):
        x, y, width, height = window
        assert (dataset.ReadAsArray(*window) == VALUES[:, y:y + height, x:x + width]).all()
    assert (dataset.ReadAsArray(buf_xsize=35, buf_ysize=50) == VALUES[:, 1::2, 1::2]).all()
    assert dataset.GetRasterBand(2).ComputeStatistics(False)[:2] == [VALUES[1].min(), VALUES[1].max()]


def test_arrays_without_shards_are_as_they_were(sharded):
    assert opened(sub(sharded, "plain"), SHOW="SHARDS").GetRasterBand(1).GetBlockSize() == [24, 16]


def test_blocks_are_written(sharded):
    dataset = gdal.OpenEx(sub(sharded, "a"), gdal.OF_RASTER | gdal.OF_UPDATE, open_options=["SHOW=SHARDS"])
    dataset.GetRasterBand(3).WriteArray(np.full((40, 32), 7, "u2"), 32, 40)
    dataset.GetRasterBand(1).WriteArray(np.full((3, 5), 9, "u2"), 30, 38)
    want = VALUES.copy()
    want[2, 40:80, 32:64] = 7
    want[0, 38:41, 30:35] = 9
    assert (dataset.ReadAsArray() == want).all()
    dataset.Close()
    assert (zarr.open_group(sharded, mode="r")["a"][...] == want).all()


def test_multidimensional(sharded):
    for options, block in (([], [1, 10, 8]), (["SHOW=SHARDS"], [2, 40, 32])):
        dataset = gdal.OpenEx(sharded, gdal.OF_MULTIDIM_RASTER, open_options=options)
        array = dataset.GetRootGroup().OpenMDArray("a")
        assert array.GetBlockSize() == block and (array.ReadAsArray() == VALUES).all()
        if hasattr(array, "GetRawBlockInfo"):
            with Errors() as errors:
                info = array.GetRawBlockInfo([0, 0, 0])
            assert bool(errors.failures) == bool(options) and (options or info.GetSize() > 0)


def test_shards_larger_than_blocks_of_gdal(store):
    path, root = store
    root.create_array("a", shape=(65536, 65536), dtype="u2", chunks=(512, 512), shards=(32768, 32768))
    assert opened(path).GetRasterBand(1).GetBlockSize() == [512, 512]
    with Errors() as errors:
        assert gdal.OpenEx(path, gdal.OF_RASTER, open_options=["SHOW=SHARDS"]) is None
    assert "without SHOW=SHARDS" in errors.failures[0]


def test_rasterio_aligns_to_shards(sharded):
    rasterio = pytest.importorskip("rasterio")
    with rasterio.open(sub(sharded, "a"), SHOW="SHARDS") as dataset:
        assert dataset.block_shapes == [(40, 32)] * 3 and len(list(dataset.block_windows(1))) == 9
