# SPDX-License-Identifier: MIT
"""Documents that must be refused when their node is opened: (name, why, zarr.json, codes).

Each is one member away from a document that reads. `codes` are the error codes that may come
(without ZB_); where the specification leaves no doubt it is one.
"""

import copy
import json

import refcodec
from product import shard
from variants_metadata import ABSENT, CRC32C, LITTLE

GZIP = {"name": "gzip", "configuration": {"level": 5}}
FORMAT, UNSUPPORTED, LIMIT = ["EFORMAT"], ["EUNSUPPORTED"], ["ELIMIT"]


def good_document():
    """4 x 6 int32 in chunks of 2 x 3."""
    return refcodec.array_document((4, 6), "int32", (2, 3), [LITTLE], 0) | {"attributes": {}}


def _with(codes, name, why, **members):
    document = good_document() | members
    kept = {key: value for key, value in document.items() if value is not ABSENT}
    return name, why, json.dumps(kept), codes


def _grid(*chunk_shape):
    return {"name": "regular", "configuration": {"chunk_shape": list(chunk_shape)}}


def _sharded(**configuration):
    codec = copy.deepcopy(shard((1, 3), [LITTLE]))
    conf = codec["configuration"] | configuration
    codec["configuration"] = {key: value for key, value in conf.items() if value is not ABSENT}
    return [codec]


def _member_cases():
    for member in ("zarr_format", "node_type", "shape", "data_type", "chunk_grid",
                   "chunk_key_encoding"):
        yield _with(FORMAT, f"without_{member}", "a required member is missing", **{member: ABSENT})
    yield _with(FORMAT, "format_text", 'zarr_format is the text "3"', zarr_format="3")
    yield _with(UNSUPPORTED, "format_4", "a later format", zarr_format=4)
    yield _with(FORMAT, "node_type_other", "neither array nor group", node_type="table")
    yield _with(FORMAT, "attributes_list", "attributes is no object", attributes=[1])
    yield _with(UNSUPPORTED, "transformer", "a storage transformer",
                storage_transformers=[{"name": "x"}])
    yield _with(UNSUPPORTED, "unknown_member", "a member that must be understood",
                made_by={"name": "x"})
    yield _with(UNSUPPORTED, "unknown_member_true", "a member that says that it must be understood",
                made_by={"name": "x", "must_understand": True})
    yield _with(UNSUPPORTED, "unknown_member_text", "a member that is no object", made_by="x")
    yield _with(FORMAT, "names_too_few", "one name for two dimensions", dimension_names=["y"])
    yield _with(FORMAT, "names_too_many", "three names", dimension_names=["z", "y", "x"])
    yield _with(FORMAT, "names_number", "a number for a name", dimension_names=["y", 1])
    yield _with(UNSUPPORTED, "dtype_unknown", "a type that no one knows", data_type="int128")
    yield _with(FORMAT, "dtype_bytes", "bytes of any length in a codec for elements of one size",
                data_type="variable_length_bytes", fill_value="")
    yield _with(FORMAT, "dtype_string", "strings in a codec for numbers",
                data_type="string", fill_value="")
    yield _with(UNSUPPORTED, "grid_unknown", "a grid that this version does not read",
                chunk_grid={"name": "hexagonal", "configuration": {}})
    yield _with(UNSUPPORTED, "keys_unknown", "an unknown key encoding",
                chunk_key_encoding={"name": "hashed"})
    yield _with(UNSUPPORTED, "keys_suffix_path", "a suffix that would build other paths",
                chunk_key_encoding={"name": "suffix", "configuration": {
                    "suffix": "/../../x", "base_encoding": {"name": "default"}}})
    yield _with(FORMAT, "keys_fanout_1", "directories of one entry",
                chunk_key_encoding={"name": "fanout", "configuration": {"max_children": 1}})
    yield _with(FORMAT, "keys_separator", "a separator that would build other paths",
                chunk_key_encoding={"name": "default", "configuration": {"separator": "/../"}})


def _size_cases():
    yield _with(FORMAT, "shape_negative", "a negative extent", shape=[4, -6])
    yield _with(FORMAT, "shape_fraction", "an extent with a fraction", shape=[4, 1.5])
    yield _with(FORMAT, "shape_text", "an extent as text", shape=[4, "6"])
    yield _with(FORMAT, "shape_1e300", "an extent of 1e300", shape=[4, 1e300])
    yield _with(FORMAT, "shape_2_64", "an extent of 2^64", shape=[4, 2**64])
    yield _with(LIMIT, "shape_2_63", "an extent of 2^63", shape=[1, 2**63])
    yield _with(LIMIT, "shape_2_62", "2^62 rows of 24 bytes", shape=[2**62, 6])
    yield _with(LIMIT, "shape_product", "extents whose product overflows", shape=[2**62, 2**62])
    yield _with(LIMIT, "ndim_33", "more dimensions than HDF5 has", shape=[1] * 33,
                chunk_grid=_grid(*[1] * 33))
    yield _with(FORMAT, "chunk_zero", "a chunk of no elements", chunk_grid=_grid(2, 0))
    yield _with(FORMAT, "chunk_negative", "a negative chunk edge", chunk_grid=_grid(2, -3))
    yield _with(FORMAT, "chunk_ndim", "a chunk of other dimensions", chunk_grid=_grid(2, 3, 1))
    yield _with(LIMIT, "chunk_huge", "a chunk of 2^62 elements", chunk_grid=_grid(2**31, 2**31))
    yield _with(LIMIT, "chunk_overflow", "a chunk whose size overflows",
                chunk_grid=_grid(2**62, 2**62))
    yield _with(LIMIT, "inner_huge", "a sharded array's inner chunk of 2^40 bytes",
                chunk_grid=_grid(2**20, 2**20), codecs=_sharded(chunk_shape=[2**19, 2**19]))
    yield _with(LIMIT, "index_huge", "a shard of 2^40 inner chunks",
                chunk_grid=_grid(2**20, 2**20), codecs=_sharded(chunk_shape=[1, 1]))
    yield _with(FORMAT, "raw_7_bits", "r7", data_type="r7", fill_value=[0])


def _fill_cases():
    bad = {
        "too_large": ("int8", 128), "too_small": ("int8", -129), "negative": ("uint16", -1),
        "uint64_over": ("uint64", 2**64), "fraction": ("int32", 1.5), "text": ("int32", "seven"),
        "hex_short": ("float32", "0x3f80"), "hex_long": ("float32", "0x3f80000000"),
        "hex_digits": ("float32", "0x3f8000zz"), "float_word": ("float64", "nothing"),
        "complex_one": ("complex64", [1.0]), "complex_text": ("complex64", ["a", 1]),
        "raw_short": ("r24", [1, 2]), "raw_256": ("r8", [256]), "bool_2": ("bool", 2),
        "object": ("int32", {"value": 1}),
    }  # fmt: skip
    for name, (data_type, value) in bad.items():
        yield _with(FORMAT, f"fill_{name}", f"{value!r} for {data_type}", data_type=data_type,
                    fill_value=value)


def _codec_cases():
    yield _with(FORMAT, "codecs_object", "codecs: {}", codecs={})
    yield _with(FORMAT, "codecs_null", "codecs: null", codecs=None)
    yield _with(FORMAT, "codecs_late", "compression in front of bytes", codecs=[GZIP, LITTLE])
    yield _with(FORMAT, "codecs_two_bytes", "two array-to-bytes codecs", codecs=[LITTLE, LITTLE])
    yield _with(FORMAT, "transpose_late", "transpose after bytes",
                codecs=[LITTLE, {"name": "transpose", "configuration": {"order": [1, 0]}}])
    orders = {"repeated": [0, 0], "short": [0], "large": [0, 2], "negative": [0, -1]}
    for name, order in orders.items():
        yield _with(FORMAT, f"transpose_{name}", f"order {order}",
                    codecs=[{"name": "transpose", "configuration": {"order": order}}, LITTLE])
    yield _with(UNSUPPORTED, "codec_unknown", "a codec that no one knows",
                codecs=[LITTLE, {"name": "squeeze"}])
    yield _with(UNSUPPORTED, "codec_ignorable", "an unknown codec that asks to be ignored",
                codecs=[LITTLE, {"name": "squeeze", "must_understand": False}])
    yield _with(LIMIT, "codecs_many", "1000 checksums", codecs=[LITTLE] + [CRC32C] * 1000)
    yield _with(FORMAT, "endian_word", "a byte order that does not exist",
                codecs=[{"name": "bytes", "configuration": {"endian": "middle"}}])


def _sharding_cases():
    yield _with(FORMAT, "inner_zero", "an inner chunk of no elements",
                codecs=_sharded(chunk_shape=[1, 0]))
    yield _with(FORMAT, "inner_ndim", "inner chunks of other dimensions",
                codecs=_sharded(chunk_shape=[1]))
    for member in ("chunk_shape", "codecs"):
        yield _with(FORMAT, f"shard_without_{member}", "a required member is missing",
                    codecs=_sharded(**{member: ABSENT}))
    yield _with(FORMAT, "index_location", "neither start nor end",
                codecs=_sharded(index_location="middle"))
    yield _with(FORMAT, "index_compressed", "an index whose size cannot be known",
                codecs=_sharded(index_codecs=[LITTLE, GZIP]))
    yield _with(FORMAT, "shard_codecs_empty", "inner chunks without codecs",
                codecs=_sharded(codecs=[]))
    deep = [LITTLE]
    for _ in range(5):
        deep = [shard((2, 3), deep)]
    yield _with(LIMIT, "shard_depth_5", "five levels of shards", codecs=deep)
    deep = [LITTLE]
    for _ in range(12):
        deep = [shard((2, 3), deep)]
    yield _with(LIMIT, "shard_depth_12", "twelve levels of shards", codecs=deep)


def _text_cases():
    good = json.dumps(good_document())
    yield "json_empty", "an empty document", "", FORMAT
    yield "json_cut", "a document cut short", good[: len(good) // 2], FORMAT
    yield "json_tail", "text after the document", good + "]", FORMAT
    yield "json_list", "a list", "[]", FORMAT
    yield "json_twice", "shape said twice", good[:-1] + ', "shape": [9]}', FORMAT
    start = good.encode()[:-1]
    yield "json_not_utf8", "bytes that are no UTF-8", start + b', "\xff": {}}', FORMAT
    yield "json_nul", "a NUL byte", start + b"\0}", FORMAT
    yield "json_4_mib_of_lists", "four million open brackets", "[" * 4 * 2**20, LIMIT
    # The root may carry consolidated metadata, hence its larger limit: 64 MiB.
    padding = " " * (129 * 2**20)
    yield "json_129_mib", "a document of 129 MiB", padding + good, LIMIT


def cases():
    for part in (_member_cases, _size_cases, _fill_cases, _codec_cases, _sharding_cases,
                 _text_cases):
        yield from part()
