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
    variable: bool = True  # also behind elements of any length

    def fits(self, case):
        return not self.types or case.type.name in self.types

    def make(self, case):
        configuration = self.configuration(case) if self.configuration else {}
        # A codec without members: one writer leaves the configuration out, another one has it empty.
        if not configuration and case.random.random() < 0.5:
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


def of_dtype(**members):
    """A configuration with numpy's name of the array's type, and these members."""
    return lambda case: {"dtype": case.dtype.str, **members}


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
    Codec("numcodecs.shuffle", lambda case: {"elementsize": case.dtype.itemsize}),
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
    Codec("numcodecs.fixedscaleoffset", of_dtype(offset=0, scale=4, astype="<i4"), FLOATS, tame=True),
    Codec("numcodecs.quantize", of_dtype(digits=2), FLOATS, tame=True),
    Codec("numcodecs.astype", lambda case: {"encode_dtype": "<f4", "decode_dtype": case.dtype.str},
          ("float64",), tame=True),
    Codec("numcodecs.bitround", chosen(keepbits=[7, 10]), ("float16", *FLOATS), tame=True),
    Codec("numcodecs.packbits", None, ("bool",)),
    Codec("bitround", chosen(keepbits=[7, 10]), ("float16", *FLOATS), tame=True, outside=True),
    Codec("scale_offset", chosen(offset=[None, 0, 1], scale=[None, 1, 2]), FLOATS, tame=True,
          outside=True),
    Codec("cast_value", chosen(data_type=["int32", "float32", "uint8"]), FLOATS, tame=True,
          outside=True),
    Codec("reshape", lambda case: {"shape": [-1]}),
]  # fmt: skip

# array -> bytes, besides `bytes`.
SERIALIZERS = [
    Codec("vlen-utf8", None, ("string",)),
    Codec("vlen-bytes", None, ("bytes", "variable_length_bytes")),
    Codec("packbits", chosen(padding_encoding=["none", "first_byte", "last_byte"]),
          ("bool", *INTS, "float32", "complex64")),
]  # fmt: skip

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


def names(codecs):
    """The names of all codecs of a chain, those in shards included."""
    for codec in codecs:
        yield codec["name"]
        yield from names(codec.get("configuration", {}).get("codecs", []))
