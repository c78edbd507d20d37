#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes the data sets of the benchmark (about 2 GB, four minutes; skips what exists).

    make_data.py DIRECTORY

A     512^3 uint16, (x + y*y/32 + z*z*z) % 65536: raw and zstd in chunks of 256^3, zstd in shards of
      256^3 with inner chunks of 64^3, gzip in chunks of 64^3; A.h5 is native HDF5, gzip, 64^3.
dem   8192^2 int16, a terrain with noise that zstd halves: zstd in chunks of 512^2, and in shards of
      2048^2 with inner chunks of 256^2 as zstd, lz4 (blosc), gzip and raw; dem.tif is a GeoTIFF of
      zstd tiles of 256^2, dem.h5 native HDF5 with gzip.
big   49152^2 int16: the terrain's zstd shards 36 times, as hard links.
words 10^7 strings of 12 bytes in chunks of 10^5, raw and zstd; words.h5 is the same in native HDF5.
times 2^25 datetime64[ms] in chunks of 2^20, zstd; times.h5 is the same as int64, gzip, in native
      HDF5.
months a year of hours, 8760 x 120 x 128 int16, in rectilinear chunks: months by 60 by 64, zstd.
v2    dem as version 2, gzip in chunks of 512^2.
filters dem and, as float32, dem / 8 in chunks of 512^2 behind filters, zstd.

zarr-python, h5py and GDAL's own GTiff driver make all of it, without this project. The sets from
words on need zarr-python 3.4; an older one leaves them out.
"""

import json
import os
import shutil
import sys
import time
from pathlib import Path

import h5py
import numpy as np
import zarr
from osgeo import gdal

gdal.UseExceptions()

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
ZSTD = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}
GZIP = {"name": "gzip", "configuration": {"level": 5}}
LZ4 = {
    "name": "blosc",
    "configuration": {
        "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 2, "blocksize": 0,
    },
}  # fmt: skip

# name: chunk edge, inner chunk edge or None, the codecs after `bytes`
ZARR = {
    "A-raw": (256, None, []),
    "A-zstd": (256, None, [ZSTD]),
    "A-shards-zstd": (256, 64, [ZSTD]),
    "A-gzip": (64, None, [GZIP]),
    "dem-chunked-zstd": (512, None, [ZSTD]),
    "dem-shards-zstd": (2048, 256, [ZSTD]),
    "dem-shards-lz4": (2048, 256, [LZ4]),
    "dem-shards-gzip": (2048, 256, [GZIP]),
    "dem-shards-raw": (2048, 256, []),
}
# name: the codecs before and after `bytes`, and does it hold floats
FILTERS = {
    "filters-delta": ([{"name": "numcodecs.delta", "configuration": {"dtype": "<i2"}}], [], False),
    "filters-fixedscaleoffset": (
        [{"name": "numcodecs.fixedscaleoffset",
          "configuration": {"offset": 0, "scale": 8, "dtype": "<f4", "astype": "<i2"}}], [], True),
    "filters-bitround": (
        [{"name": "numcodecs.bitround", "configuration": {"keepbits": 10}}], [], True),
    "filters-scale_offset": (
        [{"name": "scale_offset", "configuration": {"offset": 0, "scale": 8}},
         {"name": "cast_value", "configuration": {"data_type": "int16"}}], [], True),
    "filters-shuffle": (
        [], [{"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}}], True),
}  # fmt: skip
MONTHS = [24 * days for days in (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)]
BIG_TILES = 6  # the big terrain is this many times the terrain in each direction


def volume():
    """A as a numpy array, indexed [z, y, x]."""
    n = np.arange(512, dtype=np.uint32)
    values = n[None, None, :] + (n * n // 32)[None, :, None] + (n * n * n)[:, None, None]
    return (values % 65536).astype("<u2")


def terrain():
    """The elevation model, indexed [y, x]; the same noise in each run."""
    size = 8192
    x = np.arange(size, dtype=np.float32)[None, :]
    y = np.arange(size, dtype=np.float32)[:, None]
    values = 1500 + 800 * np.sin(x / 531) + 600 * np.cos(y / 377) + 90 * np.sin((x + y) / 41)
    noise = np.random.default_rng(20230323).standard_normal((size, size), dtype=np.float32)
    return (values + 3 * noise).astype("<i2")


def words():
    """Names of stations, in no order that compresses well."""
    numbers = np.random.default_rng(20230324).integers(0, 10000, 10**7)
    names = np.array([f"station-{i:04d}" for i in range(10000)], dtype=np.dtypes.StringDType())
    return names[numbers]


def times():
    """Milliseconds of events a second or so apart."""
    gaps = np.random.default_rng(20230325).integers(1, 2000, 2**25)
    return (np.cumsum(gaps) + 1_600_000_000_000).astype("datetime64[ms]")


def months():
    """A year of hourly fields, indexed [hour, y, x]."""
    hour = np.arange(sum(MONTHS), dtype=np.float32)[:, None, None]
    y, x = np.ogrid[0:120, 0:128]
    noise = np.random.default_rng(20230326).standard_normal((120, 128), dtype=np.float32)
    values = 2000 * np.cos(hour / 1394) + 500 * np.sin(hour / 3.82) + 9 * y + 5 * np.sin(x / 9.0)
    return (values + 40 * noise).astype("<i2")


VALUES = {"A": volume, "dem": terrain, "words": words, "times": times, "months": months}


def write_kind(path, values, chunks, codecs, **options):
    """One array of the forms that zarr-python 3.4 knows."""
    array = zarr.create_array(store=str(path), shape=values.shape, chunks=chunks,
                              dtype=values.dtype, compressors=codecs, **options)
    array[...] = values


def write_filtered(path, values, before, after, is_float):
    values = values / np.float32(8) if is_float else values
    array = zarr.create(store=str(path), shape=values.shape, chunks=(512, 512), dtype=values.dtype,
                        codecs=[*before, BYTES, *after, ZSTD], fill_value=0, zarr_format=3)
    array[...] = values


def write_words_h5(path, values):
    with h5py.File(path, "w") as file:
        file.create_dataset("data", data=values.astype(object), dtype=h5py.string_dtype(),
                            chunks=(10**5,))


def write_zarr(path, values, chunk, inner, compressors):
    """One array at the root of its own store."""
    codecs = [BYTES, *compressors]
    if inner:
        conf = {"chunk_shape": [inner] * values.ndim, "codecs": codecs}
        conf |= {"index_codecs": [BYTES, {"name": "crc32c"}], "index_location": "end"}
        codecs = [{"name": "sharding_indexed", "configuration": conf}]
    array = zarr.create(store=str(path), shape=values.shape, chunks=[chunk] * values.ndim,
                        dtype=values.dtype, codecs=codecs, fill_value=0, zarr_format=3)
    # Shard after shard, since zarr-python holds everything that one call writes in memory.
    for start in range(0, values.shape[0], chunk):
        array[start : start + chunk] = values[start : start + chunk]


def write_h5(path, values, chunks):
    with h5py.File(path, "w") as file:
        file.create_dataset("data", data=values, chunks=chunks, compression="gzip",
                            compression_opts=5)


def write_tif(path, values):
    options = ["TILED=YES", "BLOCKXSIZE=256", "BLOCKYSIZE=256", "COMPRESS=ZSTD", "ZSTD_LEVEL=3",
               "NUM_THREADS=2"]
    height, width = values.shape
    dataset = gdal.GetDriverByName("GTiff").Create(str(path), width, height, 1, gdal.GDT_Int16,
                                                   options)
    dataset.GetRasterBand(1).WriteArray(values)
    dataset.Close()


def write_big(path, shards):
    """The terrain repeated: every shard is a hard link to one of `shards`."""
    document = json.loads((shards / "zarr.json").read_text())
    document["shape"] = [n * BIG_TILES for n in document["shape"]]
    path.mkdir()
    (path / "zarr.json").write_text(json.dumps(document))
    side = sum(1 for _ in (shards / "c").iterdir())
    for row in range(side * BIG_TILES):
        (path / "c" / str(row)).mkdir(parents=True)
        for column in range(side * BIG_TILES):
            source = shards / "c" / str(row % side) / str(column % side)
            os.link(source, path / "c" / str(row) / str(column))


def kinds(directory):
    """As below, of the sets that need zarr-python 3.4."""
    import numcodecs

    zarr.config.set({"array.rectilinear_chunks": True})
    for name, codecs in ("words-raw", []), ("words-zstd", [ZSTD]):
        yield directory / f"{name}.zarr", lambda path, data, codecs=codecs: (
            write_kind(path, data("words"), (10**5,), codecs, fill_value=""))
    yield directory / "words.h5", lambda path, data: write_words_h5(path, data("words"))
    yield directory / "times-zstd.zarr", lambda path, data: (
        write_kind(path, data("times"), (2**20,), [ZSTD]))
    yield directory / "times.h5", lambda path, data: (
        write_h5(path, data("times").astype("<i8"), (2**20,)))
    yield directory / "months-zstd.zarr", lambda path, data: (
        write_kind(path, data("months"), [MONTHS, 60, 64], [ZSTD]))
    yield directory / "v2-gzip.zarr", lambda path, data: (
        write_kind(path, data("dem"), (512, 512), numcodecs.GZip(5), zarr_format=2))
    for name, (before, after, is_float) in FILTERS.items():
        yield directory / f"{name}.zarr", lambda path, data, a=before, b=after, c=is_float: (
            write_filtered(path, data("dem"), a, b, c))


def recipes(directory):
    """The files to make: path -> function of (temporary path, values by name)."""
    for name, (chunk, inner, codecs) in ZARR.items():
        letter = name.split("-")[0]
        yield directory / f"{name}.zarr", lambda path, data, a=letter, b=(chunk, inner, codecs): (
            write_zarr(path, data(a), *b))
    yield directory / "A.h5", lambda path, data: write_h5(path, data("A"), (64, 64, 64))
    yield directory / "dem.h5", lambda path, data: write_h5(path, data("dem"), (256, 256))
    yield directory / "dem.tif", lambda path, data: write_tif(path, data("dem"))
    yield directory / "big.zarr", lambda path, _: (
        write_big(path, directory / "dem-shards-zstd.zarr"))
    if tuple(map(int, zarr.__version__.split(".")[:2])) >= (3, 4):
        yield from kinds(directory)


def main(directory):
    directory.mkdir(parents=True, exist_ok=True)
    made = {}

    def data(name):
        if name not in made:
            made.clear()
            made[name] = VALUES[name]()
        return made[name]

    for path, write in recipes(directory):
        if path.exists():
            continue
        # Made under another name first, so that a file under its own name is whole.
        partial = directory / ("partial-" + path.name)
        shutil.rmtree(partial, ignore_errors=True)
        begin = time.monotonic()
        write(partial, data)
        partial.rename(path)
        print(f"{path.name}: {time.monotonic() - begin:.1f} s", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
