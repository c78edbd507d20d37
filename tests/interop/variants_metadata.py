# SPDX-License-Identifier: MIT
"""Documents that other writers left behind and that must read: one small store for each.

The chunks are always the ordinary ones of an ordinary document; only the form of zarr.json varies.
`cases()` yields Case objects; make_stores.py writes them.
"""

import copy
from dataclasses import dataclass, field

import numpy as np
import refcodec

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
CRC32C = {"name": "crc32c"}


# Chunk key encodings that are proposed for the registry.
PROPOSED_KEYS = {
    "fanout": {"name": "fanout"},
    "fanout_100": {"name": "fanout", "configuration": {"max_children": 100}},
    "suffix": {"name": "suffix",
               "configuration": {"suffix": ".tiff", "base_encoding": {"name": "default"}}},
    "suffix_v2": {"name": "suffix",
                  "configuration": {"suffix": ".shard.zip", "base_encoding": {"name": "v2"}}},
    "suffix_fanout": {"name": "suffix",
                      "configuration": {"suffix": ".b", "base_encoding": {"name": "fanout"}}},
}


@dataclass
class Case:
    """One store: its root is an array that must read as `values`."""

    name: str
    why: str
    document: dict  # drives the encoder
    values: np.ndarray
    fill: object
    stored_document: dict | None = None  # the text of zarr.json when it is not `document`
    padding: object = None
    extra_keys: dict = field(default_factory=dict)  # key -> bytes, written over the encoder's


def base_values():
    """6 x 7 int32 whose chunk (1, 1) of 4 x 4 is nothing but the fill value 7."""
    values = np.arange(100, 142, dtype="<i4").reshape(6, 7)
    values[4:, 4:] = 7
    return values


def base_document(**members):
    return refcodec.array_document((6, 7), "int32", (4, 4), [LITTLE], 7) | members


def _edited(name, why, **members):
    """The base array whose document has these members (None: the member is absent)."""
    document = base_document()
    stored = copy.deepcopy(document) | members
    stored = {key: value for key, value in stored.items() if value is not ABSENT}
    return Case(name, why, document, base_values(), 7, stored)


ABSENT = object()  # a member to leave out, where None would be JSON null


def _one_byte(name, why, codecs):
    """uint8 behind a `bytes` codec spelled in some way."""
    values = np.arange(12, dtype="u1").reshape(3, 4)
    document = refcodec.array_document((3, 4), "uint8", (2, 3), [{"name": "bytes"}], 0)
    chain = copy.deepcopy(document)
    chain["codecs"] = codecs
    plain = [c if isinstance(c, dict) else {"name": c} for c in codecs]
    return Case(name, why, document | {"codecs": plain}, values, 0, chain)


def _fill(name, why, data_type, json_value, value):
    """An array of 4 whose second chunk is missing, so that the fill value shows."""
    dtype = refcodec.numpy_dtype(data_type)
    bits = isinstance(value, bytes)
    fill = np.frombuffer(value, dtype)[0] if bits else np.array(value, dtype)[()]
    values = np.frombuffer(b"\1" * 4 * dtype.itemsize, dtype).copy()
    values[2:] = fill
    document = refcodec.array_document((4,), data_type, (2,), [LITTLE], 0)
    stored = document | {"fill_value": json_value}
    if json_value is ABSENT:
        del stored["fill_value"]
    return Case(f"fill_{name}", why, document, values, fill, stored)


def _codec_cases():
    yield _edited("codec_named_endian", "the bytes codec under its draft name",
                  codecs=[{"name": "endian", "configuration": {"endian": "little"}}])
    yield _edited("bytes_without_endian", "bytes without endian on a multi-byte type: little",
                  codecs=[{"name": "bytes"}])
    yield _one_byte("bytes_bare", "bytes without configuration", [{"name": "bytes"}])
    yield _one_byte("bytes_empty", "bytes with an empty configuration",
                    [{"name": "bytes", "configuration": {}}])
    yield _one_byte("bytes_endian", "bytes with endian on a one-byte type", [LITTLE])
    yield _one_byte("codecs_as_strings", "bare-string codecs", ["bytes", "crc32c"])
    yield _edited("codec_must_understand_true", "must_understand on a known codec",
                  codecs=[LITTLE | {"must_understand": True}])
    yield _edited("codec_must_understand_false", "must_understand: false on a known codec",
                  codecs=[LITTLE | {"must_understand": False}])
    values = base_values()
    for letter, order in (("C", [0, 1]), ("F", [1, 0])):
        chain = [{"name": "transpose", "configuration": {"order": order}}, LITTLE]
        stored = [{"name": "transpose", "configuration": {"order": letter}}, LITTLE]
        yield Case(f"transpose_{letter}", f'transpose order "{letter}", a form since removed',
                   base_document(codecs=chain), values, 7, base_document(codecs=stored))


def _member_cases():
    yield _edited("dtype_object", "data type in object form", data_type={"name": "int32"})
    yield _edited("dtype_object_empty", "data type in object form with a configuration",
                  data_type={"name": "int32", "configuration": {}})
    yield _edited("key_encoding_bare", "chunk_key_encoding without configuration",
                  chunk_key_encoding={"name": "default"})
    yield _edited("key_encoding_string", "chunk_key_encoding as a bare string",
                  chunk_key_encoding="default")
    yield _edited("key_encoding_empty", "chunk_key_encoding with an empty configuration",
                  chunk_key_encoding={"name": "default", "configuration": {}})
    v2 = base_document(chunk_key_encoding={"name": "v2"})
    yield Case("key_encoding_v2_bare", "v2 keys without configuration: dots", v2, base_values(), 7)
    for name in ("default", "v2"):
        for word, separator in (("dot", "."), ("slash", "/")):
            encoding = {"name": name, "configuration": {"separator": separator}}
            document = base_document(chunk_key_encoding=encoding)
            yield Case(f"keys_{name}_{word}", f"{name} keys with {separator!r}", document,
                       base_values(), 7)
    for word, encoding in PROPOSED_KEYS.items():
        document = base_document(chunk_key_encoding=encoding)
        yield Case(f"keys_{word}", f"keys as proposed: {encoding['name']}", document,
                   base_values(), 7)
    long = refcodec.array_document((1200,), "int32", (1,), [LITTLE], 0)
    yield Case("keys_fanout_cut", "numbers of chunks with more digits than a part",
               long | {"chunk_key_encoding": PROPOSED_KEYS["fanout_100"]},
               np.where(np.arange(1200) % 99 < 2, np.arange(1200), 0).astype("<i4"), 0)
    yield _edited("transformers_empty", "storage_transformers: []", storage_transformers=[])
    yield _edited("attributes_empty", "attributes: {}", attributes={})
    yield _edited("dimension_names_null", "dimension_names: null", dimension_names=None)
    yield _edited("dimension_names_partly", "one dimension without a name",
                  dimension_names=[None, "x"])
    yield _edited("dimension_names_empty", "an empty string is a name", dimension_names=["", "x"])
    yield _edited("dimension_names_twice", "the same name twice", dimension_names=["x", "x"])
    yield _edited("unknown_ignorable", "an unknown member that need not be understood",
                  made_by={"name": "something", "must_understand": False})


def _fill_cases():
    yield _fill("null", "fill_value: null reads as zero", "int32", None, 0)
    yield _fill("absent", "no fill_value reads as zero", "float64", ABSENT, 0.0)
    yield _fill("integer_with_point", "7.0 for an integer", "int16", 7.0, 7)
    yield _fill("integer_as_text", '"7" for an integer', "int16", "7", 7)
    yield _fill("bool_as_1", "1 for a bool", "bool", 1, True)
    yield _fill("bool_as_0", "0 for a bool", "bool", 0, False)
    yield _fill("plus_infinity", '"+Infinity"', "float32", "+Infinity", np.inf)
    yield _fill("infinity", '"Infinity"', "float16", "Infinity", np.inf)
    yield _fill("minus_infinity", '"-Infinity"', "float64", "-Infinity", -np.inf)
    yield _fill("bare_nan", "the bare token NaN, which is not JSON", "float32", np.nan, np.nan)
    yield _fill("bare_minus_infinity", "the bare token -Infinity", "float64", -np.inf, -np.inf)
    yield _fill("nan", '"NaN" is the canonical quiet NaN', "float64", "NaN",
                bytes.fromhex("000000000000f87f"))
    yield _fill("hex_float32", "hex bits, most significant digit first", "float32", "0x3f800001",
                bytes.fromhex("0100803f"))
    yield _fill("hex_nan_payload", "a NaN with a payload", "float32", "0x7fc0beef",
                bytes.fromhex("efbec07f"))
    yield _fill("hex_float16", "hex bits of a half", "float16", "0x3c01", bytes.fromhex("013c"))
    yield _fill("hex_float64", "hex bits of a double", "float64", "0x3ff0000000000001",
                bytes.fromhex("010000000000f03f"))
    yield _fill("minus_zero", "-0.0 keeps its sign", "float64", -0.0, -0.0)
    yield _fill("integer_for_float", "an integer for a float", "float32", 3, 3.0)
    yield _fill("rounds_to_even", "16777217 is no float32", "float32", 16777217, 16777216.0)
    yield _fill("uint64_max", "2^64 - 1, which no double holds", "uint64", 2**64 - 1, 2**64 - 1)
    yield _fill("int64_min", "-2^63", "int64", -(2**63), -(2**63))
    yield _fill("int64_odd", "2^53 + 1", "int64", 2**53 + 1, 2**53 + 1)
    yield _fill("complex", "two parts in two forms", "complex64", ["-Infinity", 2],
                complex(-np.inf, 2))
    yield _fill("complex_plain", "a number for a complex type", "complex64", 1.5, 1.5)
    yield _fill("complex_hex", "hex bits in a part", "complex128", [1.5, "0x7ff8000000000001"],
                bytes.fromhex("000000000000f83f" "010000000000f87f"))
    yield _fill("raw", "one number for each byte", "r24", [1, 2, 255], b"\x01\x02\xff")


def _shape_cases():
    for name, shape in (("zero", (0,)), ("zero_rows", (0, 5)), ("zero_columns", (3, 0))):
        chunks = tuple(2 for _ in shape)
        document = refcodec.array_document(shape, "int32", chunks, [LITTLE], 1)
        yield Case(f"shape_{name}", "an empty dimension: no chunks, no elements", document,
                   np.zeros(shape, "<i4"), 1)
    document = refcodec.array_document((3, 2), "int32", (10, 10), [LITTLE], 1)
    yield Case("chunk_larger_than_array", "a chunk may be larger than its array", document,
               np.arange(6, dtype="<i4").reshape(3, 2), 1)
    document = base_document()
    yield Case("padding_is_junk", "what stands beyond the edge is not the fill value", document,
               base_values(), 7, padding=-77)
    ones = (1,) * 32
    document = refcodec.array_document(ones, "int32", ones, [LITTLE], 1)
    yield Case("ndim_32", "as many dimensions as HDF5 has", document, np.full(ones, 5, "<i4"), 1)
    document = refcodec.array_document((2, 2), "int32", (1, 1), [LITTLE], 1)
    keys = {"c/0/1": refcodec.encode_chain([LITTLE], np.ones((1, 1), "<i4"), 1)}
    yield Case("stored_fill", "a stored chunk may hold the fill value", document,
               np.array([[5, 1], [6, 7]], "<i4"), 1, extra_keys=keys)


def cases():
    yield from _codec_cases()
    yield from _member_cases()
    yield from _fill_cases()
    yield from _shape_cases()
