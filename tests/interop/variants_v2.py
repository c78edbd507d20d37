# SPDX-License-Identifier: MIT
"""Arrays of Zarr version 2, by zarr-python and, where that cannot write a form, by its documents.

`write(folder)` makes one store and yields (name, values, why) for each array in it.
"""

import json

import numcodecs
import numpy as np
import zarr

TYPES = ["|b1", "|i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8", "|u1", "<u2", ">u2", "<u4", ">u4",
         "<u8", ">u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "<c8", ">c8", "<c16", ">c16"]
COMPRESSORS = {
    "none": None,
    "zlib": numcodecs.Zlib(3),
    "gzip": numcodecs.GZip(5),
    "zstd": numcodecs.Zstd(1),
    "blosc_lz4": numcodecs.Blosc("lz4", 5, numcodecs.Blosc.SHUFFLE),
    "blosc_zstd": numcodecs.Blosc("zstd", 3, numcodecs.Blosc.BITSHUFFLE),
    "blosc_auto": numcodecs.Blosc("lz4hc", 3, numcodecs.Blosc.AUTOSHUFFLE),
    "blosc_zlib": numcodecs.Blosc("zlib", 3, numcodecs.Blosc.NOSHUFFLE),
    "lz4": numcodecs.LZ4(),
    "lzma": numcodecs.LZMA(),
    "bz2": numcodecs.BZ2(3),
}
FILTERS = {
    "delta": [numcodecs.Delta("<i4")],
    "shuffle": [numcodecs.Shuffle(4)],
    "delta_shuffle": [numcodecs.Delta("<i4"), numcodecs.Shuffle(4)],
    "fixedscaleoffset": [numcodecs.FixedScaleOffset(3, 1, "<i4", "<i8")],
    "astype": [numcodecs.AsType("<i8", "<i4")],
    "fletcher32": [numcodecs.Fletcher32()],
    "crc32": [numcodecs.CRC32()],
    "adler32": [numcodecs.Adler32()],
}
# Shapes that divide into chunks evenly and not, one larger than the array, no dimension.
LAYOUTS = {
    "2d": ((20, 30), (8, 7)),
    "3d": ((3, 10, 11), (2, 4, 16)),
    "1d": ((100,), (33,)),
    "0d": ((), ()),
}


def numbers(shape, dtype):
    """Values of which the last chunk is all fill (zero)."""
    count = int(np.prod(shape))
    values = np.arange(1, count + 1)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * values[::-1]
    if np.dtype(dtype).kind == "b":
        values = values % 3 == 0
    with np.errstate(over="ignore"):
        values = values.astype(np.dtype(dtype), casting="unsafe")
    return values.reshape(shape)


def native(values):
    """In the order of bytes that the values are compared in."""
    return values.astype(values.dtype.newbyteorder("<"))


def _put(root, name, values, chunks, **more):
    array = zarr.create_array(root.store, name=name, shape=values.shape, chunks=chunks,
                              dtype=values.dtype, zarr_format=2,
                              **{"fill_value": 0, "filters": None, **more})
    array[...] = values
    return name, native(values)


def _edit(folder, name, **members):
    """Changes members of a .zarray; a value of ... takes one out."""
    path = folder / name / ".zarray"
    document = json.loads(path.read_text()) | members
    path.write_text(json.dumps({k: v for k, v in document.items() if v is not ...}))


def _products(root):
    for dtype in TYPES:
        for order in "CF":
            name = f"{np.dtype(dtype).name}_{'be' if dtype[0] == '>' else 'le'}_{order}"
            yield *_put(root, name, numbers((6, 7, 5), dtype), (4, 3, 5), order=order,
                        compressors=COMPRESSORS["zlib"]), "types and orders"
    for word, compressor in COMPRESSORS.items():
        for layout, (shape, chunks) in LAYOUTS.items():
            values = numbers(shape, "<i4")
            yield *_put(root, f"{word}_{layout}", values, chunks,
                        compressors=compressor), "compressors"
    for word, filters in FILTERS.items():
        for order in "CF":
            yield *_put(root, f"{word}_{order}", numbers((20, 30), "<i4"), (8, 7), order=order,
                        filters=filters, compressors=COMPRESSORS["zstd"]), "filters"


def _forms(root, folder):
    values = numbers((9, 10), "<i4")
    chunks, plain = (4, 5), {"compressors": None}
    yield *_put(root, "slash", values, chunks, **plain,
                chunk_key_encoding={"name": "v2", "separator": "/"}), "keys 0/1"
    yield *_put(root, "dot", values, chunks, **plain), "no dimension_separator"
    _edit(folder, "dot", dimension_separator=...)
    yield *_put(root, "bare", values, chunks, **plain), "no filters, no compressor; others unknown"
    _edit(folder, "bare", filters=..., compressor=..., _NCZARR_ARRAY={"storage": "chunked"})
    yield *_put(root, "empty_filters", values, chunks, **plain), "filters: []"
    _edit(folder, "empty_filters", filters=[])
    yield *_put(root, "no_attributes", values, chunks, **plain), "no .zattrs"
    (folder / "no_attributes" / ".zattrs").unlink()
    yield *_put(root, "extra_keys", values, chunks, compressors=numcodecs.Zstd(1)), "odd members"
    _edit(folder, "extra_keys", compressor={"id": "zstd", "level": 1, "checksum": "NO ",
                                            "typesize": [4]})
    floats = np.where(numbers((9, 10), "<i4") % 3 == 0, np.nan, 1.5).astype("<f4")
    floats[8:, :] = np.nan
    yield *_put(root, "nan_fill", floats, chunks, fill_value=np.nan, **plain), '"NaN"'
    yield *_put(root, "bare_nan_fill", floats, chunks, fill_value=np.nan, **plain), "NaN"
    path = folder / "bare_nan_fill" / ".zarray"
    path.write_text(path.read_text().replace('"NaN"', "NaN"))
    sevens = np.full((9, 10), 7, "<i4")
    yield *_put(root, "list_fill", sevens, chunks, fill_value=7, **plain), "[7]: NCZarr"
    _edit(folder, "list_fill", fill_value=[7])
    yield *_put(root, "null_fill", np.zeros((9, 10), "<i4"), chunks, **plain), "null reads as zero"
    _edit(folder, "null_fill", fill_value=None)


def write(folder):
    """All of them, in one store with consolidated metadata."""
    root = zarr.open_group(folder, mode="w", zarr_format=2)
    yield from _products(root)
    yield from _forms(root, folder)
