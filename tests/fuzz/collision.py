# SPDX-License-Identifier: MIT
"""Two arrays whose documents have the same hash in core/src/hierarchy/cache_id.c, and whose chunks have the
same bytes: those of `a`, numbers, would be addresses and lengths of the texts of `b`."""
import gzip
import itertools
import json
import struct

ODD, MASK = 0x9e3779b97f4a7c15, (1 << 64) - 1


def mix(hash_, word):
    hash_ = (hash_ ^ word) * ODD & MASK
    return hash_ ^ hash_ >> 32


def hash_of(path, text):
    hash_ = 0
    for part in path, text:
        whole = len(part) // 8 * 8
        for at in range(0, whole, 8):
            hash_ = mix(hash_, int.from_bytes(part[at:at + 8], "little"))
        for byte in part[whole:]:
            hash_ = mix(hash_, byte)
    return hash_


def document(dtype, extent, serial, fill, length):
    """All but its end, with room in an attribute; a multiple of eight bytes."""
    text = json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": [extent], "data_type": dtype, "fill_value": fill,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [extent]}},
        "chunk_key_encoding": {"name": "default"},
        "codecs": [{"name": serial}, {"name": "gzip", "configuration": {"level": 1}}]})  # fmt: skip
    return (text[:-1] + ', "attributes": {"x": "').ljust(length, "p").encode()


def collision(address, size, count=64, length=400):
    """The two documents, and the chunk of both."""
    a = document("uint8", 16 * count, "bytes", 0, length) + b"any text, as it is here ."[:24]
    b = document("string", count, "vlen-utf8", "", length)
    before_last = hash_of(b"a", a)
    before_last = (before_last ^ before_last >> 32) * pow(ODD, -1, 1 << 64) & MASK
    for number in itertools.count():  # at the low end of a word, from where it changes all bits
        middle = b"%-16d" % number
        last = (before_last ^ hash_of(b"b", b + middle)).to_bytes(8, "little")
        if all(0x20 <= byte < 0x7f and byte not in b'"\\' for byte in last):
            break
    a, b = a + b'"}}', b + middle + last + b'"}}'
    assert len(a) == len(b) and hash_of(b"a", a) == hash_of(b"b", b) and json.loads(a) and json.loads(b)
    chunk = gzip.compress(struct.pack("<QQ", address, size) * count, 1, mtime=0)
    return a, b, chunk[:9] + b"\3" + chunk[10:]  # the system's number differs among versions of Python
