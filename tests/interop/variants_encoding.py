# SPDX-License-Identifier: MIT
"""Encodings that are legal and rare: one small store for each.

Byte orders, chains around sharding, every legal form of a shard's index, frames that only some
compressors write. `cases()` yields the same Case objects as variants_metadata.
"""

import struct
import zlib

import numcodecs
import numpy as np
import product
import refcodec
from variants_metadata import CRC32C, LITTLE, Case

BIG = {"name": "bytes", "configuration": {"endian": "big"}}
GZIP = {"name": "gzip", "configuration": {"level": 6}}
ZLIB = {"name": "numcodecs.zlib", "configuration": {"level": 3}}
ZSTD = {"name": "zstd", "configuration": {"level": 1}}
MISSING = refcodec.MISSING


def transpose(*order):
    return {"name": "transpose", "configuration": {"order": list(order)}}


def blosc(cname, shuffle, typesize, blocksize=0, clevel=5):
    conf = {"cname": cname, "clevel": clevel, "shuffle": shuffle, "typesize": typesize}
    return {"name": "blosc", "configuration": conf | {"blocksize": blocksize}}


def _numbers(shape, data_type="int32"):
    dtype = refcodec.numpy_dtype(data_type)
    return np.arange(1, np.prod(shape) + 1).reshape(shape).astype(dtype)


def _case(name, why, shape, chunk, codecs, data_type="int32", values=None, **more):
    """An array of consecutive numbers with a missing last chunk."""
    if values is None:
        values = _numbers(shape, data_type)
        last = tuple(slice((n - 1) // m * m, n) for n, m in zip(shape, chunk))
        values[last] = 0
    fill = refcodec.fill_json(0, values.dtype)
    document = refcodec.array_document(shape, data_type, chunk, codecs, fill)
    return Case(name, why, document, values, values.dtype.type(0), **more)


def _byte_order_cases():
    for data_type in ("int16", "int64", "uint32", "float16", "float64", "complex64", "complex128"):
        yield _case(f"big_{data_type}", "big-endian", (5, 6), (3, 4), [BIG, ZSTD], data_type)
    shuffled = blosc("lz4", "shuffle", 8)
    yield _case("big_shuffled", "big-endian behind a byte shuffle", (40, 30), (32, 16),
                [BIG, shuffled], "float64")
    yield _case("big_shard", "big-endian inner chunks", (9, 9), (8, 8),
                [product.shard((4, 4), [BIG, CRC32C])], "uint16")


def _transpose_cases():
    for order in ((0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
        name = "transpose_" + "".join(map(str, order))
        yield _case(name, "output dimension i is input dimension order[i]", (4, 5, 6), (2, 3, 4),
                    [transpose(*order), LITTLE])
    yield _case("transpose_twice", "two permutations in a row", (4, 5, 6), (2, 3, 4),
                [transpose(1, 2, 0), transpose(2, 1, 0), LITTLE])
    inner = [transpose(2, 0, 1), LITTLE, GZIP]
    yield _case("transpose_in_shard", "inner chunks transposed", (5, 7, 9), (4, 6, 8),
                [product.shard((2, 3, 4), inner)])
    yield _case("transpose_around_shard", "the shard is cut after the permutation", (5, 7, 9),
                (4, 6, 8), [transpose(1, 2, 0), product.shard((3, 4, 2), [LITTLE])])
    yield _case("transpose_everywhere", "permutations before and in the shard", (5, 7, 9),
                (4, 6, 8), [transpose(1, 2, 0), product.shard((3, 4, 2), inner, "start")])


def _shard_chain_cases():
    inner = product.shard((2, 3), [LITTLE])
    for word, codec in (("gzip", GZIP), ("zlib", ZLIB), ("zstd", ZSTD), ("crc32c", CRC32C),
                        ("blosc", blosc("lz4", "noshuffle", 1))):
        yield _case(f"shard_then_{word}", "a codec after the shard: no partial reads", (8, 9),
                    (4, 6), [inner, codec])
    yield _case("nested_then_gzip", "the inner shard is compressed as a whole", (16, 16), (8, 8),
                [product.shard((4, 4), [product.shard((2, 2), [LITTLE]), GZIP])])
    for outer in ("start", "end"):
        for within in ("start", "end"):
            deep = product.shard((2, 2), [LITTLE, ZSTD], within)
            yield _case(f"nested_{outer}_{within}", "both places of both indexes", (13, 11), (8, 8),
                        [product.shard((4, 4), [deep], outer)])
    chain = [LITTLE, CRC32C]
    for depth, edge in enumerate((1, 2, 4, 8), 1):
        chain = [product.shard((edge, edge), chain, "start" if depth % 2 else "end")]
        yield _case(f"nested_depth_{depth}", f"{depth} levels of shards", (20, 17), (16, 16), chain)
    middle = [transpose(1, 0), product.shard((2, 4), [transpose(1, 0), LITTLE])]
    yield _case("nested_transposed", "a permutation at each level", (9, 13), (8, 8),
                [transpose(1, 0), product.shard((4, 4), middle)])


def _index_cases():
    forms = {
        "big": [BIG, CRC32C],
        "plain": [LITTLE],
        "transposed": [transpose(2, 0, 1), LITTLE, CRC32C],
        "transposed_big": [transpose(1, 0, 2), BIG],
        "crc_twice": [LITTLE, CRC32C, CRC32C],
    }
    for word, index_codecs in forms.items():
        for location in ("start", "end"):
            yield _case(f"index_{word}_{location}", "a legal form of the index", (9, 12), (4, 6),
                        [product.shard((2, 3), [LITTLE], location, index_codecs)])
    document_codec = product.shard((2, 3), [LITTLE])
    stored = refcodec.array_document((9, 12), "int32", (4, 6), [document_codec], 0)
    bare = product.shard((2, 3), [LITTLE])
    del bare["configuration"]["index_location"]
    yield _case("index_location_absent", "the index is at the end", (9, 12), (4, 6),
                [document_codec], stored_document=stored | {"codecs": [bare]})


def _cut_cases():
    """Inner chunks that do not divide their shard (proposed for version 1.1 of the codec)."""
    chain = [LITTLE, ZSTD]
    yield _case("cut_rest", "the last inner chunk has the rest of the shard", (31,), (10,),
                [product.shard((8,), chain)])
    yield _case("cut_larger", "inner chunks larger than the shard", (12,), (5,),
                [product.shard((12,), [LITTLE])])
    for location in ("start", "end"):
        yield _case(f"cut_both_{location}", "a rest along both dimensions", (29, 26), (11, 7),
                    [product.shard((4, 3), chain, location)])
    yield _case("cut_one", "a rest along one dimension, bytes alone", (29, 26), (12, 7),
                [product.shard((4, 3), [LITTLE, CRC32C])])
    yield _case("cut_transposed", "the rest of a permuted shard, permuted inner chunks", (9, 11, 13),
                (5, 7, 9), [transpose(2, 0, 1), product.shard((4, 2, 5), [transpose(1, 2, 0), *chain])])
    yield _case("cut_then_gzip", "a codec behind such shards", (29, 26), (11, 7),
                [product.shard((4, 3), chain), GZIP])
    deep = product.shard((3, 2), chain)
    yield _case("cut_nested", "a rest at both levels, of which the inner one is cut twice", (40, 33),
                (17, 13), [product.shard((8, 5), [deep], "start")])
    yield _case("cut_nested_inside", "a rest at the inner level alone", (40, 33), (16, 10),
                [product.shard((8, 5), [deep])])
    yield _case("cut_big", "large inner chunks, read in parts", (900, 700), (500, 500),
                [product.shard((300, 140), [LITTLE, blosc("lz4", "shuffle", 4)])], "float32")
    yield _case("cut_bools", "elements of one byte", (29, 26), (11, 7),
                [product.shard((4, 3), [{"name": "bytes"}])], "uint8")


def shard_bytes(parts, entries, location="end", tail=b""):
    """A shard of `parts` laid one after the other with this index, which may say anything."""
    index = b"".join(struct.pack("<QQ", offset, size) for offset, size in entries)
    index += struct.pack("<I", refcodec.crc32c(index))
    body = b"".join(parts)
    return index + body + tail if location == "start" else body + tail + index


def _layout_cases():
    """Shards of four inner chunks of two int32 each, laid out as no encoder here would."""

    def shard_case(name, why, values, parts, entries, location="end"):
        data = shard_bytes(parts, entries, location)
        return _case(f"layout_{name}", why, (8,), (8,), [product.shard((2,), [LITTLE], location)],
                     values=np.array(values, "<i4"), extra_keys={"c/0": data})

    pairs = [struct.pack("<ii", a, a + 1) for a in (10, 20, 30, 40)]
    natural = [10, 11, 20, 21, 30, 31, 40, 41]
    yield shard_case("reversed", "inner chunks in reverse", natural, pairs[::-1],
                     [(24, 8), (16, 8), (8, 8), (0, 8)])
    yield shard_case("gaps", "unused bytes between inner chunks", natural,
                     [b"....", pairs[0], b"!", pairs[1], pairs[2], b"???", pairs[3], b"+"],
                     [(4, 8), (13, 8), (21, 8), (32, 8)])
    yield shard_case("shared", "two entries share a range", [10, 11, 10, 11, 30, 31, 40, 41],
                     [pairs[0], pairs[2], pairs[3]], [(0, 8), (0, 8), (8, 8), (16, 8)])
    yield shard_case("overlap", "two ranges overlap", [10, 11, 11, 30, 30, 31, 40, 41],
                     [pairs[0], pairs[2], pairs[3]], [(0, 8), (4, 8), (8, 8), (16, 8)])
    size = 4 * 16 + 4
    yield shard_case("into_index", "an entry points into the index", [0, 0, 8, 0, 0, 0, 0, 0],
                     [pairs[0]], [(0, 8), (8, 8), (MISSING, MISSING), (MISSING, MISSING)],
                     "start")
    yield shard_case("start_gap", "a gap after an index at the start", natural,
                     [b"....", *pairs],
                     [(size + 4 + 8 * i, 8) for i in range(4)], "start")
    yield shard_case("all_missing", "a shard without inner chunks", [0] * 8, [],
                     [(MISSING, MISSING)] * 4)


def _frame_cases():
    """Streams that are legal for their compressor, beyond those that our encoder makes."""
    values = np.arange(64, dtype="<i4")
    raw = values.tobytes()
    zstd = numcodecs.Zstd(3)

    def stream(name, why, codec, data):
        return _case(name, why, (64,), (64,), [LITTLE, codec], values=values,
                     extra_keys={"c/0": data})

    def frames(*parts):
        return b"".join(bytes(zstd.encode(part)) for part in parts)

    yield stream("zstd_two_frames", "concatenated frames", ZSTD, frames(raw[:100], raw[100:]))
    skippable = struct.pack("<II", 0x184D2A53, 5) + b"hello"
    yield stream("zstd_skippable", "a skippable frame between frames", ZSTD,
                 frames(raw[:64]) + skippable + frames(raw[64:]))
    yield stream("zstd_no_size", "a frame that does not tell its content's size", ZSTD,
                 zstd_raw_frame(raw))
    yield stream("gzip_two_members", "concatenated members", GZIP,
                 refcodec.gzip_member(raw[:9]) + refcodec.gzip_member(raw[9:]))
    yield stream("gzip_empty_member", "a member without content", GZIP,
                 refcodec.gzip_member(b"") + refcodec.gzip_member(raw))
    header = struct.pack("<H", 6) + b"XX\x02\x00ab" + b"name.bin\0" + b"a comment\0"
    fixed = struct.pack("<BBBBIBB", 0x1F, 0x8B, 8, 0x1E, 0, 0, 255)
    header += struct.pack("<H", zlib.crc32(fixed + header) & 0xFFFF)
    yield stream("gzip_all_flags", "extra field, name, comment and header CRC", GZIP,
                 refcodec.gzip_member(raw, flags=0x1E, extra=header))
    yield stream("zlib", "as zarr-python writes it", ZLIB, zlib.compress(raw, 3))
    yield stream("zlib_by_default", "zarr-python leaves the level out",
                 {"name": "numcodecs.zlib", "configuration": {}}, zlib.compress(raw, 1))
    yield stream("zlib_stored", "stored blocks", ZLIB, zlib.compress(raw, 0))
    yield stream("zlib_small_window", "a header with a window of 512 bytes", ZLIB,
                 zlib_of_window(raw, 9))
    yield stream("gzip_stored", "stored blocks", GZIP, refcodec.gzip_member(raw, level=0))


def zlib_of_window(data, bits):
    compressor = zlib.compressobj(wbits=bits)
    return compressor.compress(data) + compressor.flush()


def zstd_raw_frame(data):
    """A zstd frame of one raw block, with a window descriptor in place of a content size."""
    block = struct.pack("<I", len(data) << 3 | 1)[:3]
    return struct.pack("<IBB", 0xFD2FB528, 0, 0x38) + block + data


def _blosc_cases():
    """Frames of several blocks, which the small chunks of the cross product never have."""
    i = np.arange(300 * 200)
    values = ((i % 997) * 0.5 + i // 1000).astype("<f4").reshape(300, 200)
    noise = np.frombuffer(np.random.default_rng(7).bytes(4 * i.size), "<u4").reshape(300, 200)
    for cname in product.BLOSC_NAMES:
        for shuffle in ("noshuffle", "shuffle", "bitshuffle"):
            codec = blosc(cname, shuffle, 4, 16384)
            yield _case(f"blosc_{cname}_{shuffle}", "several blocks, the last one shorter",
                        (300, 200), (256, 128), [LITTLE, codec], "float32", values)
        codec = blosc(cname, "shuffle", 4, 8192)
        yield _case(f"blosc_{cname}_noise", "blocks that do not compress", (300, 200), (256, 128),
                    [LITTLE, codec], "uint32", noise)
        codec = blosc(cname, "noshuffle", 4, clevel=0)
        yield _case(f"blosc_{cname}_copied", "level 0: the frame is a copy", (300, 200),
                    (256, 128), [LITTLE, codec], "uint32", noise)


def _golden_case():
    """A shard that another writer made: 6 x 6 int16, shards of 4 x 4, inner chunks of 2 x 2,
    each compressed with zstd; only shard (1, 1) is stored."""
    data = bytes.fromhex("28b52ffd20084100001c001d0022002300" "0000000000000000"
                         "1100000000000000" + "ff" * 48 + "65234758")
    values = np.zeros((6, 6), "<i2")
    values[4:, 4:] = [[28, 29], [34, 35]]
    return _case("golden_shard", "a shard made by another writer", (6, 6), (4, 4),
                 [product.shard((2, 2), [LITTLE, ZSTD])], "int16", values,
                 extra_keys={"c/1/1": data})


def cases():
    yield from _byte_order_cases()
    yield from _transpose_cases()
    yield from _shard_chain_cases()
    yield from _index_cases()
    yield from _cut_cases()
    yield from _layout_cases()
    yield from _frame_cases()
    yield from _blosc_cases()
    yield _golden_case()
