# SPDX-License-Identifier: MIT
"""Requests of every shape against numpy, and reads that the caches must make unnecessary."""
import pathlib

import numpy as np
import pytest
from osgeo import gdal

from conftest import opened, put

RNG = np.random.default_rng(5)
PLANE = RNG.integers(0, 60000, (150, 210)).astype("uint16")
CUBE = RNG.integers(0, 60000, (4, 150, 210)).astype("uint16")
WINDOWS = [(0, 0, 210, 150), (0, 0, 210, 1), (0, 149, 210, 1), (5, 7, 1, 1), (209, 149, 1, 1),
           (0, 32, 210, 64), (32, 32, 64, 32), (31, 31, 34, 34), (3, 0, 1, 150), (100, 90, 110, 60)]


@pytest.fixture(params=["sharded", "chunked", "transposed"])
def plane(store, request):
    path, root = store
    options = {"sharded": dict(chunks=(32, 32), shards=(64, 96)), "chunked": dict(chunks=(40, 27)),
               "transposed": dict(chunks=(32, 32), dims=("x", "y"))}[request.param]
    data = PLANE.T if request.param == "transposed" else PLANE
    put(root, "t", data, **options)
    return opened(path)


@pytest.mark.parametrize("window", WINDOWS)
def test_windows(plane, window):
    x, y, width, height = window
    expected = PLANE[y:y + height, x:x + width]
    for _ in range(2):
        assert (plane.ReadAsArray(*window) == expected).all()


@pytest.mark.parametrize("kind", [gdal.GDT_Byte, gdal.GDT_Int16, gdal.GDT_UInt32, gdal.GDT_Float32,
                                  gdal.GDT_Float64, gdal.GDT_CFloat32])
def test_conversion_is_that_of_gdal(plane, kind):
    """The direct way, which converts in the core, and the cached one agree with GDAL's MEM."""
    memory = gdal.GetDriverByName("MEM").CreateCopy("", plane)
    for window in WINDOWS:
        expected = memory.ReadAsArray(*window, buf_type=kind)
        assert (plane.ReadAsArray(*window, buf_type=kind) == expected).all()


def test_float_to_integer_is_rounded_by_gdal(store):
    path, root = store
    data = np.array([[0.5, 1.5, -0.5, 2.4999, 300, -300, np.nan, np.inf] * 8] * 8)
    put(root, "t", data, chunks=(4, 4))
    dataset = opened(path)
    memory = gdal.GetDriverByName("MEM").CreateCopy("", dataset)
    for kind in (gdal.GDT_Byte, gdal.GDT_Int16, gdal.GDT_Float32, gdal.GDT_UInt64):
        assert np.array_equal(dataset.ReadAsArray(buf_type=kind),
                              memory.ReadAsArray(buf_type=kind), equal_nan=True)


@pytest.mark.parametrize("method", ["near", "bilinear", "average", "cubic", "mode"])
@pytest.mark.parametrize("size", [(21, 15), (70, 50), (105, 75), (420, 300), (7, 149)])
def test_resampling_is_that_of_gdal(plane, method, size):
    memory = gdal.GetDriverByName("MEM").CreateCopy("", plane)
    method = {"near": gdal.GRIORA_NearestNeighbour, "bilinear": gdal.GRIORA_Bilinear,
              "average": gdal.GRIORA_Average, "cubic": gdal.GRIORA_Cubic,
              "mode": gdal.GRIORA_Mode}[method]
    for window in [(0, 0, 210, 150), (13, 17, 180, 101)]:
        options = dict(buf_xsize=size[0], buf_ysize=size[1], resample_alg=method)
        assert (plane.ReadAsArray(*window, **options) ==
                memory.ReadAsArray(*window, **options)).all()


@pytest.mark.parametrize("chunks", [(1, 32, 32), (4, 32, 32), (1, 150, 210)])
@pytest.mark.parametrize("method", [gdal.GRIORA_NearestNeighbour, gdal.GRIORA_Bilinear,
                                    gdal.GRIORA_Cubic, gdal.GRIORA_Average])
def test_windows_that_begin_or_end_within_a_pixel(store, tmp_path, chunks, method):
    """GDAL resamples them, also where the buffer has the window's size. (Its MEM driver does not.)"""
    path, root = store
    put(root, "t", CUBE, chunks=chunks)
    interleave = "INTERLEAVE=BAND" if chunks[0] == 1 else "INTERLEAVE=PIXEL"
    tiff = gdal.GetDriverByName("GTiff").CreateCopy(str(tmp_path / "t.tif"), opened(path), 0,
                                                    [interleave])
    tiff.FlushCache()
    for x, y, width, height in [(0.3, 0, 209.5, 150), (0, 0.4, 210, 149.5), (32.5, 31.75, 64, 32),
                                (0, 0, 209.5, 149.5)]:
        options = dict(buf_xsize=int(width + 0.5), buf_ysize=int(height + 0.5), resample_alg=method)
        dataset = opened(path)
        expected = tiff.ReadAsArray(x, y, width, height, **options)
        assert (dataset.ReadAsArray(x, y, width, height, **options) == expected).all()
        expected = tiff.GetRasterBand(2).ReadAsArray(x, y, width, height, **options)
        assert (opened(path).GetRasterBand(2).ReadAsArray(x, y, width, height, **options) ==
                expected).all()


@pytest.mark.parametrize("chunks", [(1, 32, 32), (4, 32, 32), (3, 150, 7)])
@pytest.mark.parametrize("order", [None, [1, 2, 3, 4], [4, 3, 2, 1], [2, 4, 1], [3], [2, 2, 3]])
@pytest.mark.parametrize("interleave", ["band", "pixel"])
def test_band_lists_and_interleaving(store, chunks, order, interleave):
    path, root = store
    put(root, "t", CUBE, chunks=chunks)
    dataset = opened(path)
    for window in WINDOWS:
        x, y, width, height = window
        chosen = [i - 1 for i in order] if order else range(4)
        expected = CUBE[list(chosen), y:y + height, x:x + width]
        shown = dataset.ReadAsArray(*window, band_list=order, interleave=interleave)
        if interleave == "pixel":
            shown = np.moveaxis(shown, -1, 0) if shown.ndim == 3 else shown
        assert (shown.reshape(expected.shape) == expected).all()


def test_user_strides(plane):
    """Pixels and lines far apart, with bytes between that must stay as they are."""
    for window in [(0, 0, 210, 150), (31, 31, 34, 34)]:
        x, y, width, height = window
        line = width * 5 + 3
        buffer = bytearray(b"\xee" * (line * height))
        plane.GetRasterBand(1).ReadRaster(*window, buf_pixel_space=5, buf_line_space=line,
                                          buf_obj=buffer)
        raw = np.frombuffer(buffer, "u1")
        for row in (0, height - 1):
            cells = raw[row * line:row * line + width * 5].reshape(width, 5)
            expected = PLANE[y + row, x:x + width]
            assert (cells[:, :2].copy().view("<u2").ravel() == expected).all()
            assert (cells[:, 2:] == 0xee).all()


def test_read_block(plane):
    band = plane.GetRasterBand(1)
    width, height = band.GetBlockSize()
    data = PLANE
    for by in range(-(-150 // height)):
        for bx in range(-(-210 // width)):
            block = np.frombuffer(band.ReadBlock(bx, by), "u2").reshape(height, width)
            expected = data[by * height:(by + 1) * height, bx * width:(bx + 1) * width]
            assert (block[:expected.shape[0], :expected.shape[1]] == expected).all()
            assert not block[expected.shape[0]:].any() and not block[:, expected.shape[1]:].any()


def spoil_chunks(path):
    for chunk in pathlib.Path(path).rglob("c/*"):
        if chunk.is_file():
            chunk.write_bytes(b"spoilt")


def test_rows_decode_each_chunk_once(store):
    """When a row of blocks has been read, the rest of its rows does not need the store any more."""
    path, root = store
    put(root, "t", PLANE, chunks=(150, 50), dims=("y", "x"))
    band = (dataset := opened(path)).GetRasterBand(1)
    assert (band.ReadAsArray(0, 0, 210, 1) == PLANE[:1]).all()
    spoil_chunks(path)
    for row in range(150):
        assert (band.ReadAsArray(0, row, 210, 1) == PLANE[row]).all()
    assert dataset.RasterCount == 1


@pytest.mark.parametrize("size", [10**9, 20000])
def test_rows_of_one_chunk_decode_it_once(store, size):
    """Even when the chunk is larger than GDAL's cache."""
    path, root = store
    put(root, "t", PLANE, chunks=(150, 210))
    before = gdal.GetCacheMax()
    gdal.SetCacheMax(size)
    try:
        band = (dataset := opened(path)).GetRasterBand(1)
        assert (band.ReadAsArray(0, 0, 210, 1) == PLANE[:1]).all()
        spoil_chunks(path)
        for row in range(150):
            assert (band.ReadAsArray(0, row, 210, 1) == PLANE[row]).all()
        assert dataset.RasterCount == 1
    finally:
        gdal.SetCacheMax(before)


def test_windows_decode_each_chunk_once(store):
    path, root = store
    put(root, "t", PLANE, chunks=(64, 64))
    dataset = opened(path)
    dataset.ReadAsArray(10, 10, 150, 130)
    spoil_chunks(path)
    for x, y in ((0, 0), (64, 64), (100, 20), (11, 99)):
        assert (dataset.ReadAsArray(x, y, 60, 30) == PLANE[y:y + 30, x:x + 60]).all()


def test_one_band_of_shared_chunks_brings_the_others(store):
    path, root = store
    picture = np.moveaxis(CUBE, 0, -1)
    put(root, "t", picture, chunks=(64, 64, 4), dims=("y", "x", "band"))
    dataset = opened(path)
    dataset.GetRasterBand(2).ReadAsArray(1, 1, 200, 140)
    spoil_chunks(path)
    for band in (1, 3, 4):
        shown = dataset.GetRasterBand(band).ReadAsArray(1, 1, 200, 140)
        assert (shown == CUBE[band - 1, 1:141, 1:201]).all()


def test_a_thumbnail_does_not_read_what_it_skips(store):
    path, root = store
    put(root, "t", PLANE, chunks=(10, 10))
    for chunk in pathlib.Path(path, "t", "c", "1").iterdir():
        chunk.write_bytes(b"spoilt")
    dataset = opened(path)
    thumbnail = dataset.ReadAsArray(buf_xsize=3, buf_ysize=3)
    assert (thumbnail == PLANE[25::50, 35::70]).all()


def test_another_process_rewrites_the_store(store):
    """A dataset opened after a rewrite sees it, also when old chunks were cached before."""
    path, root = store
    array = put(root, "t", PLANE, chunks=(64, 64), shards=(128, 128))
    assert (opened(path).ReadAsArray(3, 3, 100, 100) == PLANE[3:103, 3:103]).all()
    array[...] = PLANE[::-1]
    assert (opened(path).ReadAsArray(3, 3, 100, 100) == PLANE[::-1][3:103, 3:103]).all()


def test_missing_chunks_are_fill(store):
    path, root = store
    array = root.create_array("t", shape=(100, 100), dtype="i2", chunks=(30, 30), fill_value=-7)
    array[40:50, 40:50] = 3
    expected = np.full((100, 100), -7, "i2")
    expected[40:50, 40:50] = 3
    assert (opened(path).ReadAsArray() == expected).all()


def test_cache_smaller_than_a_row_of_blocks(store):
    """Conversion that only GDAL can do, with a cache that holds two blocks: still right."""
    path, root = store
    wide = RNG.random((64, 4096)) * 300
    put(root, "t", wide, chunks=(64, 256))
    before = gdal.GetCacheMax()
    gdal.SetCacheMax(300000)
    try:
        dataset = opened(path)
        memory = gdal.GetDriverByName("MEM").CreateCopy("", dataset)
        for window in [(0, 0, 4096, 64), (100, 3, 3900, 50), (0, 5, 4096, 1)]:
            for kind in (gdal.GDT_Byte, gdal.GDT_Float64):
                assert (dataset.ReadAsArray(*window, buf_type=kind) ==
                        memory.ReadAsArray(*window, buf_type=kind)).all()
    finally:
        gdal.SetCacheMax(before)
