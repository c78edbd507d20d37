# SPDX-License-Identifier: MIT
"""Writes the seeds of fuzz_blosc and fuzz_codec: small streams of every form, from numcodecs.

    python3 make_corpus.py corpus
"""
import gzip
import pathlib
import struct
import sys
import zlib

import numpy
from numcodecs import blosc, zstd

ramp = (numpy.arange(600, dtype="<u4") * 3).tobytes()
text = b"a chunk is what a key holds; a shard is a chunk of chunks. " * 12


def write(folder, name, data):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def containers():
    shuffles = {"plain": blosc.NOSHUFFLE, "bytes": blosc.SHUFFLE, "bits": blosc.BITSHUFFLE}
    for compressor in (b"blosclz", b"lz4", b"zlib", b"zstd"):
        for name, shuffle in shuffles.items():
            data = bytes(1024) + ramp[:300] if compressor == b"blosclz" else ramp[:1203]
            array = numpy.frombuffer(data[: len(data) // 4 * 4], dtype="<u4")
            packed = blosc.compress(array, compressor, 9, shuffle, 640)
            yield f"{compressor.decode()}-{name}", packed
    noise = numpy.frombuffer(zlib.compress(ramp, 9), dtype="u1")
    yield "stored", blosc.compress(noise, b"lz4", 0, blosc.NOSHUFFLE)


def streams():
    """(name, number of the codec in fuzz_codec.c, stream, decoded size)"""
    yield "zstd", 0, zstd.compress(text, 3), len(text)
    yield "zstd-frames", 0, zstd.compress(text[:100], 1) + zstd.compress(ramp, 19), 100 + len(ramp)
    yield "zstd-blocks", 0, zstd.compress(bytes(300000) + text, 1), 300000 + len(text)
    yield "gzip", 1, gzip.compress(text, 9, mtime=0), len(text)
    members = gzip.compress(ramp, 1, mtime=0) + gzip.compress(b"", mtime=0)
    yield "gzip-members", 1, members, len(ramp)
    yield "crc32c", 3, b"123456789" + struct.pack("<I", 0xE3069283), 9


def main():
    root = pathlib.Path(sys.argv[1])
    for name, data in containers():
        write(root / "blosc", name, bytes(data))
        if name in ("lz4-bytes", "zstd-bits", "stored"):
            size = struct.unpack_from("<I", data, 4)[0]
            write(root / "codec", "blosc-" + name, head(2, size) + bytes(data))
    for name, number, data, size in streams():
        write(root / "codec", name, head(number, size) + data)


def head(number, size):
    return bytes([number | 4, size & 255, size >> 8 & 255, size >> 16, 60, 120])


main()
