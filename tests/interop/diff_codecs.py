# SPDX-License-Identifier: MIT
"""The codecs, grids and chunk keys of the differential tests. A codec is one line of a table."""

from dataclasses import dataclass
from typing import Callable

FLOATS = ("float32", "float64")
INTS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))


@dataclass
class Codec:
    name: str
    configuration: Callable | None = None  # of the case; its `random` picks, its `type` tells
    types: tuple = ()  # names of data types; empty: all
    tame: bool = False  # keeps integers of 0 to 100 alone
    outside: bool = False  # also in front of shards
    last: bool = False  # the elements behind have other dimensions
    first: bool = False  # only behind `bytes`: chunks of a fixed size alone

    def fits(self, case):
        return not self.types or case.type.name in self.types

    def make(self, case):
        configuration = self.configuration(case) if self.configuration else {}
        # A codec without members: some writers leave the configuration out, others have it empty.
        if not configuration and case.random.random() < 0.2:
            return {"name": self.name}
        return {"name": self.name, "configuration": configuration}


def blosc(case):
    pick = case.random.choice
    return {"cname": pick(["lz4", "lz4hc", "blosclz", "zstd", "zlib", "snappy"]),
            "clevel": pick([0, 1, 5, 9]), "blocksize": pick([0, 0, 128]),
            "shuffle": pick(["noshuffle", "shuffle", "bitshuffle"]),
            "typesize": case.dtype.itemsize}  # fmt: skip


def chosen(**members):
    """A configuration with one of the values for each member; None leaves it out."""
    def configuration(case):
        picked = {name: case.random.choice(values) for name, values in members.items()}
        return {name: value for name, value in picked.items() if value is not None}

    return configuration


def numpy_name(case):
    """Of version 3 the filters get elements in the machine's byte order, of version 2 as stored."""
    swapped = case.version == 2 and case.order == "big"
    return case.dtype.newbyteorder(">").str if swapped else case.dtype.str


def of_dtype(**members):
    """A configuration with numpy's name of the array's type, and these members."""
    return lambda case: {"dtype": numpy_name(case), **members}


# bytes -> bytes. The first stand for most real data, and are as frequent as all others together.
COMMON = [
    Codec("zstd", chosen(level=[-3, 0, 1, 3, 9], checksum=[False, False, True])),
    Codec("gzip", chosen(level=[0, 1, 5, 9])),
    Codec("blosc", blosc),
    Codec("crc32c"),
]
COMPRESSORS = [
    Codec("numcodecs.zlib", chosen(level=[None, 1, 9])),
    Codec("numcodecs.gzip", chosen(level=[None, 1, 9])),
    Codec("numcodecs.zstd", chosen(level=[None, 0, 5], checksum=[None, True])),
    Codec("numcodecs.blosc", chosen(cname=[None, "lz4", "zstd"], shuffle=[None, 0, 1, 2])),
    Codec("numcodecs.lz4", chosen(acceleration=[None, 1, 20])),
    Codec("numcodecs.bz2", chosen(level=[None, 1, 9])),
    Codec("numcodecs.lzma", chosen(preset=[None, 0, 3])),
    Codec("numcodecs.shuffle", lambda case: {"elementsize": case.dtype.itemsize},
          first=True),
    Codec("numcodecs.fletcher32"),
    Codec("numcodecs.crc32", chosen(location=[None, "end"])),
    Codec("numcodecs.adler32", chosen(location=[None, "end"])),
    Codec("numcodecs.crc32c", chosen(location=[None, "start"])),
    Codec("numcodecs.jenkins_lookup3", chosen(initval=[None, 12345])),
]

# array -> array, besides transpose.
FILTERS = [
    Codec("numcodecs.delta", of_dtype(), INTS),
    Codec("numcodecs.delta", of_dtype(), FLOATS, tame=True),
    Codec("numcodecs.fixedscaleoffset", of_dtype(offset=0, scale=4, astype="<i4"), FLOATS,
          tame=True),
    Codec("numcodecs.quantize", of_dtype(digits=2), FLOATS, tame=True),
    Codec("numcodecs.astype", lambda case: {"encode_dtype": "<f4", "decode_dtype": numpy_name(case)},
          ("float64",), tame=True),
    Codec("numcodecs.bitround", chosen(keepbits=[7, 10]), ("float16", *FLOATS), tame=True),
    Codec("numcodecs.packbits", None, ("bool",), last=True),
    Codec("bitround", chosen(keepbits=[7, 10]), ("float16", *FLOATS), tame=True, outside=True),
    Codec("scale_offset", chosen(offset=[None, 0, 1], scale=[None, 1, 2]), FLOATS, tame=True,
          outside=True),
    Codec("cast_value", chosen(data_type=["int32", "float32", "uint8"]), FLOATS, tame=True,
          outside=True),
    Codec("reshape", lambda case: {"shape": [-1]}, last=True),
]  # fmt: skip

# array -> bytes, besides `bytes`.
SERIALIZERS = [
    Codec("vlen-utf8", None, ("string",)),
    Codec("vlen-bytes", None, ("bytes", "variable_length_bytes")),
    Codec("packbits", chosen(padding_encoding=["none", "first_byte", "last_byte"]),
          ("bool", *INTS, "float32", "complex64")),
]  # fmt: skip

# Version 2: the compressor, a filter of bytes, and what else a document says.
V2_COMPRESSORS = [
    Codec("zstd", chosen(level=[0, 3])),
    Codec("numcodecs.zlib", chosen(level=[1, 9])),
    Codec("gzip", chosen(level=[1, 6])),
    Codec("blosc", chosen(cname=["lz4", "zstd", "blosclz", "lz4hc", "zlib"], clevel=[1, 5],
                          shuffle=[0, 1, 2], blocksize=[0])),
    Codec("numcodecs.bz2", chosen(level=[1, 9])),
    Codec("numcodecs.lzma", chosen(preset=[None, 0])),
    Codec("numcodecs.lz4", chosen(acceleration=[1, 20])),
]
V2_FILTERS = [
    Codec("numcodecs.shuffle", lambda case: {"elementsize": case.dtype.itemsize}),
    Codec("numcodecs.fletcher32"),
    Codec("numcodecs.crc32"),
    Codec("numcodecs.adler32"),
]
V2 = V2_COMPRESSORS + V2_FILTERS + FILTERS + SERIALIZERS
V2_FORMS = {"order": ["C", "C", "F"], "dimension_separator": [None, ".", "/"],
            "no_fill": [False, False, True]}  # fmt: skip

# Chunk keys: (name, configuration); None as configuration leaves it out.
KEYS = [
    ("default", {"separator": "/"}),
    ("default", {"separator": "/"}),
    ("default", {"separator": "."}),
    ("default", None),
    ("v2", {"separator": "."}),
    ("v2", {"separator": "/"}),
    ("v2", None),
]


def chains(codecs):
    """The chain, and those in its shards, from the outermost."""
    yield codecs
    for codec in codecs:
        if codec["name"] == "sharding_indexed":
            yield from chains(codec["configuration"]["codecs"])


def names(codecs):
    """The names of all codecs of a chain, those in shards included."""
    for chain in chains(codecs):
        yield from (codec["name"] for codec in chain)


def depth(codecs):
    """How many shards lie in one another."""
    return len(list(chains(codecs))) - 1


def follows(codecs, first, second):
    """Does, in one chain, a codec of the one set stand somewhere in front of one of the other?"""
    for chain in chains(codecs):
        found = [codec["name"] for codec in chain]
        if any(a in first and b in second for i, b in enumerate(found) for a in found[:i]):
            return True
    return False
