# SPDX-License-Identifier: MIT
"""The cross product: its members, and the encoding of each array.

    data type x codec x nesting x layout

Data types are all of the core specification that have a fixed size; a codec is a short chain; a
nesting says whether the chunks are shards, with the index where, how deep; a layout is a shape
with its chunk shapes. make_stores.py writes one array for each combination.
"""

import itertools

import numpy as np
import refcodec

DATA_TYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128", "r8", "r16", "r24", "r64",
]  # fmt: skip
CODECS = [
    "raw", "gzip", "zstd", "blosc_noshuffle", "blosc_shuffle", "blosc_bitshuffle", "crc32c",
    "transpose", "zlib",
]  # fmt: skip
NESTINGS = ["plain", "end", "start", "nested"]
BLOSC_NAMES = ["lz4", "zstd", "blosclz", "lz4hc", "zlib"]

# layout: shape, then the shapes of a chunk, an inner chunk and an inner chunk's inner chunk
LAYOUTS = {
    "even": ((64, 64), (32, 32), (16, 16), (8, 8)),
    "ragged": ((50, 45), (32, 32), (16, 16), (8, 8)),
    "0d": ((), (), (), ()),
    "1d": ((1000,), (400,), (200,), (100,)),
    "5d": ((3, 5, 2, 4, 7), (2, 4, 2, 4, 8), (2, 2, 1, 4, 4), (1, 2, 1, 2, 4)),
}

# One fill value for each type, chosen to be awkward: extremes, NaN, values that doubles lose.
FILLS = {
    "bool": True,
    "int8": -128,
    "int16": -9999,
    "int32": 2**31 - 1,
    "int64": -(2**63),
    "uint8": 255,
    "uint16": 7,
    "uint32": 2**32 - 1,
    "uint64": 2**64 - 1,
    "float16": np.nan,
    "float32": 0.1,
    "float64": np.nan,
    "complex64": complex(np.nan, 1.5),
    "complex128": complex(-1.0, np.inf),
    "r8": b"\x07",
    "r16": b"\x01\x02",
    "r24": b"\xff\x00\x10",
    "r64": bytes(range(8)),
}


def fill_value(data_type):
    """The fill value as one numpy element."""
    return np.array(FILLS[data_type], refcodec.numpy_dtype(data_type))[()]


def _pattern(dtype, count):
    """Compressible, but with no two neighbours equal, and with every special value of the type."""
    i = np.arange(count)
    if dtype.kind == "b":
        return i % 3 == 0
    if dtype.kind == "V":
        numbers = (i[:, None] * 5 + np.arange(dtype.itemsize)) % 256
        return numbers.astype("u1").copy().view(dtype).reshape(count)
    if dtype.kind in "iu":
        values = (i % 97 * 3 + i // 16).astype(dtype)
        special = [np.iinfo(dtype).min, np.iinfo(dtype).max]
    else:
        values = ((i - count / 3) * 0.375).astype(dtype)
        special = [np.nan, np.inf, -np.inf, -0.0, np.finfo(dtype).tiny]
        if dtype.kind == "c":
            values = values + 1j * (i % 31)
            special = [complex(a, b) for a, b in zip(special, reversed(special))]
    values[: min(count, len(special))] = special[:count]
    return values.astype(dtype)


def expected(data_type, layout):
    """The values of all arrays of this type and layout. One whole chunk and, in another, one inner
    chunk hold nothing but the fill value, so that both are missing from the store."""
    shape, chunk, inner, _ = LAYOUTS[layout]
    dtype = refcodec.numpy_dtype(data_type)
    if not shape:
        return _pattern(dtype, 20)[11:12].reshape(())  # an ordinary value, not the fill value
    values = _pattern(dtype, int(np.prod(shape))).reshape(shape)
    fill = fill_value(data_type)
    whole = [slice(0, n) for n in chunk]
    whole[0] = slice(chunk[0], 2 * chunk[0])
    part = [slice(0, n) for n in inner]
    part[-1] = slice(inner[-1], 2 * inner[-1])
    values[tuple(whole)] = fill
    values[tuple(part)] = fill
    return values


def _innermost(codec, dtype, ndim, blosc_name):
    endian = {"configuration": {"endian": "little"}} if dtype.itemsize > 1 else {}
    chain = [{"name": "bytes", **endian}]
    if codec == "transpose":
        order = [*range(1, ndim), 0] if ndim else []
        chain.insert(0, {"name": "transpose", "configuration": {"order": order}})
    elif codec == "gzip":
        chain.append({"name": "gzip", "configuration": {"level": 5}})
    elif codec == "zlib":
        chain.append({"name": "numcodecs.zlib", "configuration": {"level": 5}})
    elif codec == "zstd":
        chain.append({"name": "zstd", "configuration": {"level": 3, "checksum": True}})
    elif codec == "crc32c":
        chain.append({"name": "crc32c"})
    elif codec.startswith("blosc"):
        conf = {"cname": blosc_name, "clevel": 5, "shuffle": codec.split("_")[1]}
        conf |= {"typesize": dtype.itemsize, "blocksize": 0}
        chain.append({"name": "blosc", "configuration": conf})
    return chain


def shard(inner_shape, codecs, location="end", index_codecs=None):
    """A sharding_indexed codec in JSON form."""
    index_codecs = index_codecs or [
        {"name": "bytes", "configuration": {"endian": "little"}},
        {"name": "crc32c"},
    ]
    return {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": list(inner_shape),
            "codecs": codecs,
            "index_codecs": index_codecs,
            "index_location": location,
        },
    }


def codecs(data_type, codec, nesting, layout, blosc_name="lz4"):
    """The `codecs` member of one combination."""
    shape, _, inner, innermost = LAYOUTS[layout]
    chain = _innermost(codec, refcodec.numpy_dtype(data_type), len(shape), blosc_name)
    if nesting == "nested":
        return [shard(inner, [shard(innermost, chain, "start")], "end")]
    if nesting != "plain":
        return [shard(inner, chain, nesting)]
    return chain


def document(data_type, codec, nesting, layout, blosc_name="lz4"):
    """The zarr.json of one combination."""
    shape, chunk, _, _ = LAYOUTS[layout]
    fill = refcodec.fill_json(fill_value(data_type), refcodec.numpy_dtype(data_type))
    chain = codecs(data_type, codec, nesting, layout, blosc_name)
    return refcodec.array_document(shape, data_type, chunk, chain, fill)


def combinations(data_type):
    """All (codec, nesting, layout, blosc cname) of one type. The cname changes from array to
    array, so that each meets each shuffle and each nesting."""
    names = itertools.cycle(BLOSC_NAMES)
    for codec, nesting, layout in itertools.product(CODECS, NESTINGS, LAYOUTS):
        yield codec, nesting, layout, next(names) if codec.startswith("blosc") else None
