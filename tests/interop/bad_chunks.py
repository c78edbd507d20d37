# SPDX-License-Identifier: MIT
"""Stored objects that must give an error when they are read, never fill values, never zeros.

`cases()` yields BadChunk objects: an array of one row, so that it is a raster too, whose object
c/0/0 holds given bytes. bad_stores.py writes them. They go from wrong entries of a shard's index
over cut and flipped bytes to the false claims of a compressed stream.
"""

import gzip
import struct
import zlib
from dataclasses import dataclass

import numcodecs
import numpy as np
import refcodec
from product import shard
from variants_encoding import shard_bytes
from variants_metadata import CRC32C, LITTLE

MISSING = refcodec.MISSING
BYTES = {"name": "bytes"}
ZLIB = {"name": "numcodecs.zlib", "configuration": {"level": 1}}
GZIP = {"name": "gzip", "configuration": {"level": 5}}
ZSTD = {"name": "zstd", "configuration": {"level": 1, "checksum": True}}
BLOSC = {"name": "blosc", "configuration": {"cname": "zlib", "clevel": 9, "shuffle": "noshuffle",
                                            "typesize": 1, "blocksize": 0}}
FORMAT, CHECKSUM, LIMIT = ["EFORMAT"], ["ECHECKSUM"], ["ELIMIT"]
DAMAGED = ["EFORMAT", "ECHECKSUM", "EUNSUPPORTED", "ELIMIT"]
BOMB = ["EFORMAT", "ELIMIT"]  # whichever bound is met first
PLAIN_INDEX = [LITTLE]


@dataclass
class BadChunk:
    family: str  # all arrays of one family lie in one group store
    name: str
    why: str
    codes: list  # error codes, without ZB_; "values": the right values are as good
    codecs: list
    data: bytes  # the bytes of c/0/0
    shape: int = 8  # columns
    chunk: int = 8  # columns of a chunk
    data_type: str = "int32"
    values: np.ndarray | None = None  # the right values, where codes hold "values"
    index: bool = False  # the shard's index is wrong: any read must fail


def _pairs(count=4):
    return [struct.pack("<ii", 10 * i, 10 * i + 1) for i in range(1, count + 1)]


NATURAL = [(0, 8), (8, 8), (16, 8), (24, 8)]


def _sharded(location="end", index_codecs=None, inner=(LITTLE,)):
    return [shard((1, 2), list(inner), location, index_codecs)]


def _index_cases():
    """Four inner chunks of two int32; entry 1 says something wrong."""
    wrong = {
        "offset_missing": ((MISSING, 8), "only the offset says missing"),
        "size_missing": ((8, MISSING), "only the size says missing"),
        "size_zero": ((8, 0), "an inner chunk of no bytes"),
        "size_short": ((8, 7), "an inner chunk one byte short"),
        "size_long": ((8, 9), "an inner chunk one byte long"),
        "beyond_end": ((1000, 8), "an inner chunk behind the object"),
        "over_the_end": ((96, 8), "an inner chunk that leaves the object"),
        "overflow": ((2**64 - 4, 8), "offset + size wraps around to 4"),
        "offset_2_63": ((2**63, 8), "an offset that is negative as a signed number"),
        "size_2_62": ((8, 2**62), "an inner chunk of 2^62 bytes"),
        "size_2_63": ((0, 2**63), "a size that is negative as a signed number"),
    }
    for name, (entry, why) in wrong.items():
        for location in ("end", "start"):
            shift = 4 * 16 + 4 if location == "start" else 0
            entries = [(offset + shift, size) for offset, size in NATURAL]
            entries[1] = entry
            data = shard_bytes(_pairs(), entries, location)
            yield BadChunk("index", f"{name}-{location}", why, FORMAT, _sharded(location), data)
    data = shard_bytes(_pairs(), NATURAL)
    yield BadChunk("index", "crc", "the index's checksum is wrong", CHECKSUM, _sharded(),
                   data[:-1] + bytes([data[-1] ^ 1]), index=True)
    yield BadChunk("index", "crc_missing", "an index without the checksum that it should have",
                   CHECKSUM, _sharded(), data[:-4], index=True)
    yield BadChunk("index", "empty_object", "a shard of no bytes", FORMAT, _sharded(), b"",
                   index=True)
    yield BadChunk("index", "empty_object_start", "a shard of no bytes", FORMAT, _sharded("start"),
                   b"", index=True)
    nested = [shard((1, 4), _sharded(), "end", PLAIN_INDEX)]
    inner = shard_bytes(_pairs(2), NATURAL[:2])
    broken = inner[:-1] + bytes([inner[-1] ^ 1])
    outer = inner + broken + struct.pack("<4Q", 0, len(inner), len(inner), len(broken))
    yield BadChunk("index", "nested_crc", "the index of an inner shard is damaged", CHECKSUM,
                   nested, outer)


def _cut_cases():
    """One shard at each length it can be cut to."""
    for location in ("end", "start"):
        shift = 4 * 16 + 4 if location == "start" else 0
        entries = [(offset + shift, size) for offset, size in NATURAL]
        data = shard_bytes(_pairs(), entries, location)
        for length in range(len(data)):
            too_short = length < 68
            codes = FORMAT if too_short or location == "start" else CHECKSUM
            yield BadChunk(f"cut_{location}", str(length), f"a shard cut to {length} bytes", codes,
                           _sharded(location), data[:length], index=too_short or location == "end")


def _flip_cases():
    """One bit of each byte of an index, and of compressed chunks."""
    for location in ("end", "start"):
        shift = 4 * 16 + 4 if location == "start" else 0
        data = shard_bytes(_pairs(), [(o + shift, n) for o, n in NATURAL], location)
        first = 0 if location == "start" else len(data) - 68
        for at in range(first, first + 68):
            flipped = bytearray(data)
            flipped[at] ^= 1 << at % 8
            yield BadChunk(f"flip_{location}", str(at), "one bit of the index is wrong", CHECKSUM,
                           _sharded(location), bytes(flipped), index=True)
    values = (np.arange(200, dtype="<i4").reshape(1, 200) * 7) % 50
    for codec in (GZIP, ZSTD, CRC32C, BLOSC | {"configuration": BLOSC["configuration"] | {
            "cname": "lz4", "shuffle": "shuffle", "typesize": 4}}):
        data = refcodec.encode_chain([LITTLE, codec], values, 0)
        # A blosc frame has no checksum: a flipped bit may well be other values.
        if codec["name"] == "blosc":
            places, codes = range(16), [*DAMAGED, "values", "other values"]
        else:
            places, codes = range(len(data)), [*DAMAGED, "values"]
        if codec["name"] == "crc32c":
            places, codes = range(0, len(data), 16), CHECKSUM
        for at in places:
            flipped = bytearray(data)
            flipped[at] ^= 1 << at % 8
            yield BadChunk(f"flip_{codec['name']}", str(at), "one bit of the stored chunk is wrong",
                           codes, [LITTLE, codec], bytes(flipped), 200, 200, values=values)


def _size_cases():
    """Chunks that decode to another size than their chunk shape says: 8 int32, 32 bytes."""
    right = bytes(range(32))
    for name, data in (("empty", b""), ("short", right[:-1]), ("long", right + b"x")):
        yield BadChunk("size", f"raw_{name}", "an uncompressed chunk of another size", FORMAT,
                       [LITTLE], data)
        for codec in (GZIP, ZSTD, BLOSC):
            encoded = refcodec.encode_bytes(codec, data, 1)
            yield BadChunk("size", f"{codec['name']}_{name}", "decodes to another size", FORMAT,
                           [LITTLE, codec], encoded)
        yield BadChunk("size", f"crc32c_{name}", "another size behind a right checksum", FORMAT,
                       [LITTLE, CRC32C], refcodec.encode_bytes(CRC32C, data, 1))
    for codec in (GZIP, ZSTD, BLOSC, CRC32C):
        yield BadChunk("size", f"{codec['name']}_no_bytes", "an object of no bytes", FORMAT,
                       [LITTLE, codec], b"")
        if codec is not CRC32C:
            encoded = refcodec.encode_bytes(codec, right, 1)
            yield BadChunk("size", f"{codec['name']}_cut", "a stream cut in half", FORMAT,
                           [LITTLE, codec], encoded[: len(encoded) // 2])
            yield BadChunk("size", f"{codec['name']}_tail", "bytes after the stream", DAMAGED,
                           [LITTLE, codec], encoded + b"trailing bytes")
    yield BadChunk("size", "crc32c", "a wrong checksum", CHECKSUM, [LITTLE, CRC32C],
                   right + b"\0\0\0\0")
    member = refcodec.gzip_member(right)
    yield BadChunk("size", "gzip_crc", "a wrong CRC-32", CHECKSUM, [LITTLE, GZIP],
                   member[:-8] + bytes([member[-8] ^ 1]) + member[-7:])
    stream = zlib.compress(right)
    yield BadChunk("size", "zlib_adler", "a wrong Adler-32", CHECKSUM, [LITTLE, ZLIB],
                   stream[:-1] + bytes([stream[-1] ^ 1]))
    yield BadChunk("size", "zlib_trailing", "a byte behind the stream", FORMAT, [LITTLE, ZLIB],
                   stream + b"x")
    yield BadChunk("size", "gzip_isize", "a trailer with another length", FORMAT, [LITTLE, GZIP],
                   member[:-4] + struct.pack("<I", 31))
    frame = refcodec.encode_bytes(ZSTD, right, 1)
    yield BadChunk("size", "zstd_checksum", "a wrong frame checksum", CHECKSUM, [LITTLE, ZSTD],
                   frame[:-1] + bytes([frame[-1] ^ 1]))


# ---- Bombs: streams that say little and become much ------------------------------------------


def _deflate_zeros(total):
    """A raw deflate stream of `total` zeros (a multiple of 1 MiB) without making them all."""
    flush = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = flush.compress(bytes(2**20)) + flush.flush(zlib.Z_FULL_FLUSH)
    return piece * (total // 2**20) + b"\x03\x00"


def _gzip_zeros(total):
    header = struct.pack("<BBBBIBB", 0x1F, 0x8B, 8, 0, 0, 0, 255)
    return header + _deflate_zeros(total) + struct.pack("<II", 0, total & 0xFFFFFFFF)


def _zstd_zeros(total, with_size):
    """A zstd frame of run-length blocks of 128 KiB."""
    blocks = total >> 17
    run = struct.pack("<I", (1 << 17) << 3 | 1 << 1)[:3] + b"\0"
    last = struct.pack("<I", (1 << 17) << 3 | 1 << 1 | 1)[:3] + b"\0"
    # 0xc0: eight bytes of content size; the window is 128 KiB either way.
    header = struct.pack("<IBB", 0xFD2FB528, 0xC0 if with_size else 0, 0x38)
    if with_size:
        header += struct.pack("<Q", total)
    return header + run * (blocks - 1) + last


def _blosc_frame(streams, decoded, block_size, compressor=3, typesize=1, size=None):
    """A blosc frame whose blocks are these streams, each unsplit (flag 0x10)."""
    starts, body = [], b""
    at = 16 + 4 * len(streams)
    for stream in streams:
        starts.append(at + len(body))
        body += struct.pack("<I", len(stream)) + stream
    size = at + len(body) if size is None else size
    flags = 0x10 | compressor << 5
    header = struct.pack("<BBBBIII", 2, 1, flags, typesize, decoded, block_size, size)
    return header + struct.pack(f"<{len(starts)}I", *starts) + body


def _bomb(name, why, codecs, data, chunk=1000):
    return BadChunk("bombs", name, why, BOMB, [BYTES, *codecs], data, chunk, chunk, "uint8")


def _bomb_cases():
    mib, gib = 2**20, 2**30
    for word, total in (("10_mb", 10 * mib), ("10_gb", 10 * gib)):
        stream = _gzip_zeros(total)
        yield _bomb(f"gzip_{word}", f"{len(stream)} bytes of gzip become {total}", [GZIP], stream)
        for known in (True, False):
            stream = _zstd_zeros(total, known)
            said = "says so" if known else "does not say so"
            yield _bomb(f"zstd_{word}_{'sized' if known else 'unsized'}",
                        f"{len(stream)} bytes of zstd become {total}, the frame {said}", [ZSTD],
                        stream)
    # A chunk of 16 MiB is allowed an object large enough for the whole bomb.
    large = 16 * mib
    yield _bomb("gzip_large_chunk", "10 GB for a chunk of 16 MiB", [GZIP], _gzip_zeros(10 * gib),
                large)
    yield _bomb("zstd_large_chunk", "10 GB for a chunk of 16 MiB", [ZSTD],
                _zstd_zeros(10 * gib, False), large)
    twice = gzip.compress(_gzip_zeros(10 * gib), 9)
    yield _bomb("gzip_gzip", f"{len(twice)} bytes, gzip in gzip, become 10 GB", [GZIP, GZIP], twice)
    yield _bomb("gzip_gzip_once", "the same, where the chain unpacks once", [GZIP], twice)
    thrice = gzip.compress(twice, 9)
    yield _bomb("gzip_three_times", f"{len(thrice)} bytes become 10 GB", [GZIP] * 3, thrice)
    twice = bytes(numcodecs.Zstd(19).encode(_zstd_zeros(10 * gib, True)))
    yield _bomb("zstd_zstd", f"{len(twice)} bytes, zstd in zstd, become 10 GB", [ZSTD, ZSTD], twice)
    yield _bomb("gzip_zstd", "zstd in gzip", [ZSTD, GZIP],
                gzip.compress(_zstd_zeros(10 * gib, False), 9))
    member = refcodec.gzip_member(b"")
    yield _bomb("gzip_empty_members", "3000 members without content", [GZIP], member * 3000)
    member = refcodec.gzip_member(b"\0" * 900)
    yield _bomb("gzip_members", "1500 members of 900 bytes", [GZIP], member * 1500)
    skippable = struct.pack("<II", 0x184D2A50, 0)
    yield _bomb("zstd_skippable", "8000 skippable frames and no content", [ZSTD], skippable * 8000)
    yield from _blosc_bombs()


def _blosc_bombs():
    zeros = zlib.compress(bytes(100 * 2**20), 9)
    claims = {
        "nbytes_2_gib": (_blosc_frame([b"x"], 2**31 - 17, 2**20), "the header says 2 GiB"),
        "block_2_gib": (_blosc_frame([zeros], 1000, 2**31 - 1), "a block of 2 GiB"),
        "block_zero": (_blosc_frame([zeros], 1000, 0), "a block of no bytes"),
        "block_negative": (_blosc_frame([zeros], 1000, 2**32 - 1), "a block of -1 bytes"),
        "stream": (_blosc_frame([zeros], 1000, 1000), "a block's stream becomes 100 MB"),
        "size_larger": (_blosc_frame([zeros], 1000, 1000, size=2**31), "cbytes beyond the object"),
        "many_blocks": (_blosc_frame([b"x"], 1000, 1), "1000 blocks, one start"),
        "copy_2_gib": (struct.pack("<BBBBIII", 2, 1, 2, 1, 2**31 - 17, 2**31 - 17, 2**31 - 1),
                       "a copy of 2 GiB in 16 bytes"),
    }  # fmt: skip
    for name, (frame, why) in claims.items():
        yield _bomb(f"blosc_{name}", why, [BLOSC], frame)
    for compressor, name in enumerate(("blosclz", "lz4", "snappy", "zlib", "zstd", "unknown")):
        frame = _blosc_frame([b"\xff" * 200], 1000, 1000, compressor)
        bomb = _bomb(f"blosc_garbage_{name}", "a block of 0xff", [BLOSC], frame)
        bomb.codes = ["EFORMAT", "EUNSUPPORTED"]
        yield bomb
    # blosclz match lengths are sums of bytes of 255: a long run of them overflows a signed sum.
    run = b"\x20" + b"A" + b"\xe0" + b"\xff" * (8 * 2**20) + b"\x00\x00"
    yield _bomb("blosc_blosclz_run", "a match length of two thousand million", [BLOSC],
                _blosc_frame([run], 4096, 4096, 0), 4096)
    # The same in a chunk that may be stored in that many bytes.
    large = 8 * 2**20
    yield _bomb("blosc_blosclz_run_large", "the same in a chunk of 8 MiB", [BLOSC],
                _blosc_frame([run], large, large, 0), large)


def cases():
    yield from _index_cases()
    yield from _cut_cases()
    yield from _flip_cases()
    yield from _size_cases()
    yield from _bomb_cases()
