# SPDX-License-Identifier: MIT
"""Documents that the core writes are valid under Zarr 3.0 as well as 3.1: the members that both
know, every extension point as an object with the members that its specification asks for, no
must_understand, data types as bare strings, fill values in the common grammar."""

import base64
import json
import re

import pytest
import trips
from libzarrbridge import Store

ARRAYS = 300
REQUIRED = {"zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding",
            "fill_value", "codecs"}  # fmt: skip
OPTIONAL = {"attributes", "dimension_names", "storage_transformers"}


def refuse(token):
    raise AssertionError(f"{token} is no JSON")


def load(text):
    """Strict: zarr-python's bare NaN is refused, and a member that occurs twice."""

    def once(pairs):
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=once)


def is_count(value, least=0):
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def check_extension(value, names):
    """An object with a name and a configuration, no more; returns both."""
    assert isinstance(value, dict) and set(value) <= {"name", "configuration"}, value
    assert value["name"] in names, value
    conf = value.get("configuration", {})
    assert isinstance(conf, dict)
    return value["name"], conf


def check_number(value, data_type):
    if data_type == "bool":
        assert isinstance(value, bool)
    elif data_type.startswith(("int", "uint")):
        bits, signed = int(data_type.lstrip("uint")), data_type[0] == "i"
        assert is_count(value, -(2**bits))
        assert -(2 ** (bits - 1)) * signed <= value < 2 ** (bits - signed)
    elif isinstance(value, str):
        digits = int(re.fullmatch(r"[a-z]+(\d+)", data_type)[1]) // 4
        assert value in ("NaN", "Infinity", "-Infinity") or re.fullmatch(
            rf"0x[0-9a-fA-F]{{{digits}}}", value)
    else:
        assert isinstance(value, (int, float)) and not isinstance(value, bool)


def check_fill(value, data_type):
    if isinstance(data_type, dict):
        assert data_type["name"] == "raw_bytes"
        size = data_type["configuration"]["length_bytes"]
        assert len(base64.b64decode(value, validate=True)) == size
    elif data_type.startswith("complex"):
        assert isinstance(value, list) and len(value) == 2
        for part in value:
            check_number(part, f"float{int(data_type[7:]) // 2}")
    else:
        check_number(value, data_type)


def check_codec(name, conf, chunk_shape, item):
    """The members that each codec's specification requires, and no others."""
    if name == "bytes":
        assert set(conf) == ({"endian"} if item > 1 else set())
        assert conf.get("endian", "little") in ("little", "big")
    elif name == "gzip":
        assert set(conf) == {"level"} and 0 <= conf["level"] <= 9
    elif name == "numcodecs.zlib":
        assert set(conf) == {"level"} and -1 <= conf["level"] <= 9
    elif name == "zstd":
        assert set(conf) == {"level", "checksum"} and isinstance(conf["checksum"], bool)
        assert -131072 <= conf["level"] <= 22
    elif name == "blosc":
        assert set(conf) == {"cname", "clevel", "shuffle", "typesize", "blocksize"}
        assert conf["shuffle"] in ("noshuffle", "shuffle", "bitshuffle")
        assert is_count(conf["typesize"], 1) and is_count(conf["blocksize"])
    elif name == "crc32c":
        assert conf == {}
    elif name == "sharding_indexed":
        assert set(conf) == {"chunk_shape", "codecs", "index_codecs", "index_location"}
        assert all(n % m == 0 for n, m in zip(chunk_shape, conf["chunk_shape"], strict=True))
        check_codecs(conf["codecs"], conf["chunk_shape"], item)
        check_codecs(conf["index_codecs"], [*chunk_shape, 2], 8)
        assert conf["index_location"] in ("start", "end")


def check_codecs(codecs, chunk_shape, item):
    """One codec makes bytes of the array; all behind it work on bytes."""
    kinds = []
    for codec in codecs:
        name, conf = check_extension(codec, {"bytes", "gzip", "zstd", "blosc", "crc32c",
                                             "numcodecs.zlib", "sharding_indexed"})  # fmt: skip
        check_codec(name, conf, chunk_shape, item)
        kinds.append(name in ("bytes", "sharding_indexed"))
    assert kinds == [True] + [False] * (len(kinds) - 1)


def check_array(document, item):
    assert REQUIRED <= set(document) <= REQUIRED | OPTIONAL
    assert document["zarr_format"] == 3 and document["node_type"] == "array"
    assert document.get("storage_transformers", []) == []
    if not isinstance(document["data_type"], str):
        assert set(document["data_type"]) == {"name", "configuration"}
    assert all(is_count(n) for n in document["shape"])
    _, grid = check_extension(document["chunk_grid"], {"regular"})
    assert set(grid) == {"chunk_shape"} and all(is_count(n, 1) for n in grid["chunk_shape"])
    assert len(grid["chunk_shape"]) == len(document["shape"])
    _, key = check_extension(document["chunk_key_encoding"], {"default"})
    assert set(key) == {"separator"} and key["separator"] in ("/", ".")
    check_fill(document["fill_value"], document["data_type"])
    check_codecs(document["codecs"], grid["chunk_shape"], item)
    names = document.get("dimension_names", [None] * len(document["shape"]))
    assert len(names) == len(document["shape"])
    assert all(name is None or isinstance(name, str) for name in names)


@pytest.fixture
def store():
    store = Store()
    yield store
    store.close()


def test_arrays(store):
    plain = 0
    for number in range(ARRAYS):
        case = trips.Case("documents", number)
        if not case.is_plain():
            continue
        plain += 1
        case.create(store, f"a{number}")
        document = load(store.get(f"a{number}/zarr.json"))
        try:
            check_array(document, case.dtype.itemsize)
        except AssertionError as error:
            raise AssertionError(f"{case}: {json.dumps(document)}") from error
        assert document["shape"] == list(case.shape)
        assert document["data_type"] == case.type
    assert plain > ARRAYS / 4


def test_defaults_and_attributes(store):
    """Members that the caller leaves out are in the document; raw types; names and attributes."""
    store.create_array("a", (5, 7), (2, 3), "V3", fill_value=b"\x01\x02\x03", names=["y", None],
                       attributes={"units": "m"}, codecs=["crc32c", {"name": "blosc"}])
    document = load(store.get("a/zarr.json"))
    check_array(document, 1)
    assert document["data_type"] == {"name": "raw_bytes", "configuration": {"length_bytes": 3}}
    assert document["fill_value"] == "AQID"
    store.create_array("b", (), (), "float32", codecs=[{"name": "gzip"}, {"name": "zstd"}])
    check_array(load(store.get("b/zarr.json")), 4)
    store.resize("a", (9, 9))
    store.set_attribute("a", "more", [1])
    check_array(load(store.get("a/zarr.json")), 1)


def test_groups(store):
    store.create_group("g", {"x": 1})
    for key, members in (("zarr.json", set()), ("g/zarr.json", {"attributes"})):
        document = load(store.get(key))
        assert set(document) - {"attributes"} == {"zarr_format", "node_type"}
        assert members <= set(document)
        assert (document["zarr_format"], document["node_type"]) == (3, "group")
