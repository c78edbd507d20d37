# SPDX-License-Identifier: MIT
"""A second Zarr v3 encoder, small and slow, for the stores that zarr-python cannot write.

zarr-python 3.0.6 refuses r<bits> types, big-endian or transposed shard indexes, bare-string names
and, of course, everything broken. This module writes such stores from the metadata document
itself: the `codecs` member drives the encoder, so that document and chunk bytes always agree
unless a test wants them not to. test_refcodec.py compares it with zarr-python where both can.

Written from the specification, in Python, on purpose without a line shared with the core that it
tests. Of the codec libraries only the compressors are borrowed (zlib, numcodecs).
"""

import itertools
import json
import math
import struct
import zlib
from pathlib import Path

import numcodecs
import numpy as np

MISSING = 2**64 - 1  # offset and size of an inner chunk that is all fill value


def _crc32c_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC32C = _crc32c_table()


def crc32c(data):
    """Castagnoli CRC as a number."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC32C[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def gzip_member(data, level=5, flags=0, extra=b""):
    """One gzip member; flags and extra are the header's FLG byte and the fields that it
    announces."""
    deflate = zlib.compressobj(level, zlib.DEFLATED, -15)
    body = deflate.compress(data) + deflate.flush()
    header = struct.pack("<BBBBIBB", 0x1F, 0x8B, 8, flags, 0, 0, 255) + extra
    return header + body + struct.pack("<II", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def numpy_dtype(name):
    """numpy's type for a Zarr core data type, little-endian."""
    if name[0] == "r" and name[1:].isdigit():
        return np.dtype(f"V{int(name[1:]) // 8}")
    return np.dtype(name).newbyteorder("<")


def fill_json(value, dtype):
    """A fill value in the form the specification gives it in a document."""
    if dtype.kind == "V":
        return list(np.asarray(value, dtype).tobytes())
    if dtype.kind == "b":
        return bool(value)
    if dtype.kind in "iu":
        return int(value)
    if dtype.kind == "c":
        half = np.dtype(f"f{dtype.itemsize // 2}")
        return [fill_json(part, half) for part in (np.real(value), np.imag(value))]
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def is_fill(array, fill):
    """Bit for bit, so that NaN equals NaN and -0.0 differs from 0.0."""
    full = np.full(array.shape, fill, array.dtype)
    return np.ascontiguousarray(array).tobytes() == full.tobytes()


def encode_bytes(codec, data, itemsize):
    """One bytes-to-bytes codec."""
    name, conf = codec["name"], codec.get("configuration", {})
    if name == "crc32c":
        return data + struct.pack("<I", crc32c(data))
    if name == "gzip":
        return gzip_member(data, conf.get("level", 5))
    if name == "numcodecs.zlib":
        return bytes(numcodecs.Zlib(conf.get("level", 1)).encode(data))
    if name == "zstd":
        return bytes(numcodecs.Zstd(conf.get("level", 0), conf.get("checksum", False)).encode(data))
    if name == "blosc":
        shuffle = ["noshuffle", "shuffle", "bitshuffle"].index(conf["shuffle"])
        blosc = numcodecs.Blosc(conf["cname"], conf["clevel"], shuffle, conf.get("blocksize", 0))
        # Blosc takes the element size from the buffer it is given, for which any type will do.
        width = itemsize if itemsize in (2, 4, 8, 16) else 1
        return bytes(blosc.encode(np.frombuffer(data, f"V{width}" if width == 16 else f"u{width}")))
    raise ValueError(f"no encoder for codec {name}")


def encode_shard(conf, chunk, fill):
    """sharding_indexed: inner chunks in C order, without gaps, and the index. Where they do not divide
    the shard, it cuts the last ones, as version 1.1 is proposed."""
    inner = conf["chunk_shape"]
    grid = [-(-n // m) for n, m in zip(chunk.shape, inner, strict=True)]
    index = np.full((*grid, 2), MISSING, "<u8")
    at_start = conf.get("index_location", "end") == "start"
    offset = len(encode_chain(conf["index_codecs"], index, 0)) if at_start else 0
    body = []
    for cell in np.ndindex(*grid):
        part = chunk[tuple(slice(i * m, (i + 1) * m) for i, m in zip(cell, inner))]
        if is_fill(part, fill):
            continue
        data = encode_chain(conf["codecs"], part, fill)
        index[cell] = offset, len(data)
        offset += len(data)
        body.append(data)
    encoded_index = encode_chain(conf["index_codecs"], index, 0)
    body.insert(0 if at_start else len(body), encoded_index)
    return b"".join(body)


def encode_chain(codecs, array, fill):
    """A chunk (or a shard's index) through a whole chain, in the order of the document."""
    data = None
    itemsize = array.dtype.itemsize
    for codec in codecs:
        name, conf = codec["name"], codec.get("configuration", {})
        if name == "transpose":
            array = array.transpose(conf["order"])
        elif name == "sharding_indexed":
            data = encode_shard(conf, array, fill)
        elif name in ("bytes", "endian"):
            order = ">" if conf.get("endian") == "big" else "<"
            data = array.astype(array.dtype.newbyteorder(order)).tobytes()
        else:
            data = encode_bytes(codec, data, itemsize)
    return data


def fanout_parts(number, width):
    """The number in parts of `width` digits, behind the number of cuts between them."""
    parts = -(-len(str(number)) // width)
    digits = str(number).zfill(parts * width)
    return [str(parts - 1), *(digits[i * width:(i + 1) * width] for i in range(parts))]


def chunk_key(cell, encoding):
    """Where a chunk lies under its array."""
    conf = encoding.get("configuration", {})
    if encoding["name"] == "suffix":
        return chunk_key(cell, conf["base_encoding"]) + conf["suffix"]
    if encoding["name"] == "fanout":
        return "/".join(["c", *(part for number in cell for part in fanout_parts(
            number, len(str(conf.get("max_children", 1000))) - 1))])
    if encoding["name"] == "v2":
        return conf.get("separator", ".").join(map(str, cell)) or "0"
    return conf.get("separator", "/").join(["c", *map(str, cell)])


def array_document(shape, data_type, chunk_shape, codecs, fill_value):
    """A zarr.json as a dict, with all the members that must be there."""
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunk_shape)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": fill_value,
        "codecs": codecs,
    }


def write_object(path, data):
    """Writes one key; str becomes UTF-8."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)


def write_document(folder, document):
    """Writes a node's zarr.json (a bare NaN in it stays one, as old writers left it)."""
    write_object(Path(folder) / "zarr.json", json.dumps(document))


def write_group(folder, **members):
    write_document(folder, {"zarr_format": 3, "node_type": "group", **members})


def chunk_cells(shape, chunk_shape):
    """All grid cells of a regular grid, in C order."""
    return itertools.product(*(range(-(-n // m)) for n, m in zip(shape, chunk_shape)))


def cut(values, cell, chunk_shape, padding):
    """One chunk of values, filled up to the full chunk shape at the array's far edges."""
    chunk = np.full(chunk_shape, padding, values.dtype)
    part = values[tuple(slice(i * m, (i + 1) * m) for i, m in zip(cell, chunk_shape))]
    chunk[tuple(slice(0, n) for n in part.shape)] = part
    return chunk


def write_array(folder, document, values, fill, padding=None):
    """Writes document and chunks; chunks that are all fill are left out. `padding` fills the chunks
    beyond the array's edge, by default the fill value (readers may not rely on it)."""
    chunk_shape = document["chunk_grid"]["configuration"]["chunk_shape"]
    write_document(folder, document)
    for cell in chunk_cells(values.shape, chunk_shape):
        chunk = cut(values, cell, chunk_shape, fill if padding is None else padding)
        if not is_fill(chunk, fill):
            data = encode_chain(document["codecs"], chunk, fill)
            write_object(Path(folder) / chunk_key(cell, document["chunk_key_encoding"]), data)
