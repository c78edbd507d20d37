# SPDX-License-Identifier: MIT
"""Every data type that GDAL has, through every chain that zarr-python writes, value by value."""
import numpy as np
import pytest
import zarr
from osgeo import gdal

from conftest import opened, put, sub

TYPES = {
    "bool": gdal.GDT_Byte, "int8": gdal.GDT_Int8, "uint8": gdal.GDT_Byte,
    "int16": gdal.GDT_Int16, "uint16": gdal.GDT_UInt16, "int32": gdal.GDT_Int32,
    "uint32": gdal.GDT_UInt32, "int64": gdal.GDT_Int64, "uint64": gdal.GDT_UInt64,
    "float16": gdal.GDT_Float32 if gdal.VersionInfo() < "3110000" else gdal.GDT_Float16,
    "float32": gdal.GDT_Float32, "float64": gdal.GDT_Float64,
    "complex64": gdal.GDT_CFloat32, "complex128": gdal.GDT_CFloat64}


def values(dtype, shape, seed=1):
    """Random bits, NaNs and extremes included."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype == bool:
        return random.integers(0, 2, shape).astype(bool)
    raw = random.integers(0, 256, (*shape, dtype.itemsize), dtype="u1")
    return raw.view(dtype).reshape(shape)


def same(shown, stored):
    if stored.dtype == np.float16:
        stored = stored.astype("f4")
    return np.array_equal(shown, stored.astype(shown.dtype), equal_nan=stored.dtype.kind in "fc")


@pytest.mark.parametrize("dtype", TYPES)
def test_types(store, dtype):
    path, root = store
    data = values(dtype, (37, 53))
    put(root, "t", data, chunks=(16, 10))
    dataset = opened(path)
    assert dataset.GetRasterBand(1).DataType == TYPES[dtype]
    assert dataset.GetRasterBand(1).GetBlockSize() == [10, 16]
    assert same(dataset.ReadAsArray(), data)
    assert same(dataset.ReadAsArray(7, 3, 30, 20), data[3:23, 7:37])


CHAINS = {
    "raw": dict(compressors=None), "gzip": dict(compressors=zarr.codecs.GzipCodec()),
    "zstd": dict(compressors=zarr.codecs.ZstdCodec(checksum=True)),
    "blosc": dict(compressors=zarr.codecs.BloscCodec(cname="lz4", shuffle="shuffle")),
    "bitshuffle": dict(compressors=zarr.codecs.BloscCodec(cname="zstd", shuffle="bitshuffle")),
    "crc32c": dict(compressors=[zarr.codecs.ZstdCodec(), zarr.codecs.Crc32cCodec()]),
    "big": dict(serializer=zarr.codecs.BytesCodec(endian="big")),
    "transposed": dict(filters=zarr.codecs.TransposeCodec(order=(1, 0))),
    "shards": dict(shards=(32, 30)),
    "v2 keys": dict(chunk_key_encoding={"name": "v2", "separator": "/"}),
}


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "complex128"])
def test_chains(store, chain, dtype):
    path, root = store
    data = values(dtype, (37, 53))
    put(root, "t", data, chunks=(16, 10), **CHAINS[chain])
    dataset = opened(path)
    assert dataset.GetRasterBand(1).GetBlockSize() == [10, 16]
    assert same(dataset.ReadAsArray(), data)


def test_structure_is_told(store):
    path, root = store
    put(root, "a", np.zeros((64, 64), "u1"), chunks=(8, 16), shards=(32, 64),
        compressors=zarr.codecs.BloscCodec(cname="lz4"))
    structure = opened(sub(path, "a")).GetMetadata("IMAGE_STRUCTURE")
    assert structure == {"COMPRESSION": "BLOSC_LZ4", "INTERLEAVE": "BAND", "SHARD_SIZE": "64x32"}


def test_block_is_never_larger_than_the_raster(store):
    path, root = store
    put(root, "t", np.ones((5, 7), "u1"), chunks=(100, 1000))
    dataset = opened(path)
    assert dataset.GetRasterBand(1).GetBlockSize() == [7, 5]
    assert dataset.ReadAsArray().sum() == 35
