# SPDX-License-Identifier: MIT
"""Rules of the format that no other test states by itself: names of nodes, groups without a
document, members that codecs do not know, and configurations that a stream contradicts. Through the
library and both plugins. docs/format-checklist.md lists all rules with their tests."""

import copy
import json

import h5py
import numcodecs
import numpy as np
import pytest
import refcodec
from libzarrbridge import Store, ZarrbridgeError
from osgeo import gdal
from product import shard

gdal.UseExceptions()
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
VALUES = np.arange(24, dtype="<i4").reshape(4, 6)


def document(codecs=(LITTLE,), **members):
    return refcodec.array_document((4, 6), "int32", (2, 3), list(codecs), 0) | members


def write(path, codecs=(LITTLE,), values=VALUES):
    refcodec.write_array(path, document(codecs), values, np.int32(0))


def by_library(root, path):
    out = np.zeros((4, 6), "<i4")
    Store(root).read_into(path, None, None, out)
    return out


def by_h5py(root, path):
    with h5py.File(root, "r") as file:
        return file[path][...]


def by_gdal(root, path):
    dataset = gdal.Open(f'ZARR3:"{root}":/{path}')
    return dataset.ReadAsArray()


READERS = [by_library, by_h5py, by_gdal]


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "s.zarr"
    path.mkdir()
    refcodec.write_document(path, {"zarr_format": 3, "node_type": "group"})
    return path


@pytest.mark.parametrize("reader", READERS)
def test_names_that_look_like_something_else(reader, store):
    """Names differ by case, and may be those that chunks have. The numbers tell them apart."""
    names = ["c", "C", "0", "c0", "zarr", "Straße", "STRASSE", "a b", "x.y", "-"]
    for i, name in enumerate(names):
        write(store / name, values=VALUES + i)
    for i, name in enumerate(names):
        assert (reader(store, name) == VALUES + i).all(), name
    with h5py.File(store, "r") as file:
        assert sorted(file) == sorted(names)


def test_groups_without_a_document(store):
    """They are no groups of the specification: not listed, but a path leads through."""
    write(store / "gap" / "a")
    write(store / "there")
    assert (by_library(store, "gap/a") == VALUES).all()
    with h5py.File(store, "r") as file:
        assert list(file) == ["there"]
    listed = gdal.Info(str(store), format="json")["metadata"].get("SUBDATASETS", {})
    assert not any("gap" in text for text in listed.values())
    assert (by_h5py(store / "gap" / "a", "a") == VALUES).all()
    assert (gdal.Open(f'ZARR3:"{store}":/gap/a').ReadAsArray() == VALUES).all()


def test_an_array_has_no_nodes_below(store):
    write(store / "a")
    write(store / "a" / "below")
    with h5py.File(store, "r") as file:
        assert list(file) == ["a"] and isinstance(file["a"], h5py.Dataset)
        found = []
        file.visit(found.append)
        assert found == ["a"]


@pytest.mark.parametrize("point", ["data_type", "chunk_grid", "chunk_key_encoding", "codecs"])
@pytest.mark.parametrize("flag", [True, False])
def test_must_understand_on_what_is_known(point, flag, store):
    write(store / "a")
    told = document()
    told[point] = {"name": "int32"} if point == "data_type" else told[point]
    target = told[point][0] if point == "codecs" else told[point]
    target["must_understand"] = flag
    refcodec.write_document(store / "a", told)
    for reader in READERS:
        assert (reader(store, "a") == VALUES).all()


@pytest.mark.parametrize("point", ["data_type", "chunk_grid", "chunk_key_encoding", "codecs"])
def test_what_is_not_known_is_refused_whatever_it_says(point, store):
    unknown = {"name": "no.such-thing", "must_understand": False}
    write(store / "a")
    refcodec.write_document(store / "a", document() | {
        point: [LITTLE, unknown] if point == "codecs" else unknown})
    with pytest.raises(ZarrbridgeError, match="no.such-thing"):
        by_library(store, "a")
    with pytest.raises(RuntimeError, match="no.such-thing"):
        by_gdal(store, "a")
    with h5py.File(store, "r") as file:  # a text that tells the reason
        assert "no.such-thing" in str(file["a"][()])


CODECS = [
    {"name": "transpose", "configuration": {"order": [1, 0]}},
    LITTLE,
    {"name": "gzip", "configuration": {"level": 1}},
    {"name": "zstd", "configuration": {"level": 1, "checksum": False}},
    {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle",
                                        "typesize": 4, "blocksize": 0}},
    {"name": "crc32c", "configuration": {}},
    shard((1, 3), [LITTLE]),
    {"name": "packbits", "configuration": {}},
    {"name": "bitround", "configuration": {"keepbits": 9}},
    {"name": "scale_offset", "configuration": {"offset": 0, "scale": 1}},
    {"name": "cast_value", "configuration": {"data_type": "int32"}},
    {"name": "reshape", "configuration": {"shape": [-1]}},
    {"name": "numcodecs.zlib", "configuration": {"level": 1}},
    {"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}},
    {"name": "numcodecs.delta", "configuration": {"dtype": "<i4"}},
]


def chain_of(codec):
    array_to_bytes = codec["name"] in ("bytes", "sharding_indexed", "packbits")
    before = codec["name"] in ("transpose", "bitround", "scale_offset", "cast_value", "reshape",
                               "numcodecs.delta")
    return [codec] if array_to_bytes else [codec, LITTLE] if before else [LITTLE, codec]


@pytest.mark.parametrize("codec", CODECS, ids=lambda codec: codec["name"])
def test_unknown_members_of_a_codec_are_refused(codec, store):
    """They may change what the bytes mean. Without it the same codec opens."""
    (store / "a").mkdir()
    refcodec.write_document(store / "a", document(chain_of(codec)))
    by_library(store, "a")
    wrong = copy.deepcopy(codec)
    wrong["configuration"]["no_such_member"] = 1
    refcodec.write_document(store / "a", document(chain_of(wrong)))
    with pytest.raises(ZarrbridgeError, match="no_such_member"):
        by_library(store, "a")


@pytest.mark.parametrize("reader", READERS)
def test_the_stream_tells_how_it_was_compressed(reader, store):
    """The configuration of a compressor is for writers; a blosc container, a gzip stream and a zstd
    frame say themselves what they are."""
    told = {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 9, "shuffle": "noshuffle",
                                               "typesize": 1, "blocksize": 0}}
    streams = [(told, numcodecs.Blosc("zstd", 3, numcodecs.Blosc.SHUFFLE)),
               ({"name": "gzip", "configuration": {"level": 9}}, numcodecs.GZip(1)),
               ({"name": "zstd", "configuration": {"level": -5, "checksum": True}}, numcodecs.Zstd(19))]
    for i, (codec, encoder) in enumerate(streams):
        write(store / f"a{i}")
        refcodec.write_document(store / f"a{i}", document([LITTLE, codec]))
        for chunk in (store / f"a{i}" / "c").rglob("*"):
            if chunk.is_file():
                chunk.write_bytes(bytes(encoder.encode(np.frombuffer(chunk.read_bytes(), "<i4"))))
        assert (reader(store, f"a{i}") == VALUES).all(), codec["name"]


@pytest.mark.parametrize("name, codes", [("r8", 1), ("r16", 2), ("r24", 3)])
def test_raw_types_have_a_number_for_each_byte(name, codes, tmp_path):
    """The text of the specification says bits; all writers mean bytes."""
    (tmp_path / "a").mkdir()
    told = refcodec.array_document((3,), name, (2,), [{"name": "bytes"}], list(range(codes)))
    refcodec.write_document(tmp_path / "a", told)
    out = np.zeros(3, f"V{codes}")
    Store(tmp_path).read_into("a", None, None, out)
    assert out.tobytes() == bytes(range(codes)) * 3
    refcodec.write_document(tmp_path / "a", told | {"fill_value": [0] * (8 * codes)})
    with pytest.raises(ZarrbridgeError, match="fill_value"):
        Store(tmp_path).read_into("a", None, None, out)


def test_an_edit_writes_no_form_that_readers_refuse(store):
    """Bare names that are read stay as they stand; what is made new is in object form."""
    write(store / "a")
    refcodec.write_document(store / "a", document() | {"codecs": ["bytes"]} |
                            {"chunk_key_encoding": "default", "fill_value": 0})
    library = Store(store)
    library.set_attribute("a", "x", 1)
    told = json.loads((store / "a" / "zarr.json").read_text())
    assert told["codecs"] == ["bytes"] and told["chunk_key_encoding"] == "default"
    library.create_array("b", (4,), (2,), "int32", codecs=["crc32c"])
    made = json.loads((store / "b" / "zarr.json").read_text())
    for extension in [made["chunk_grid"], made["chunk_key_encoding"], *made["codecs"]]:
        assert isinstance(extension, dict) and "must_understand" not in extension
    assert made["data_type"] == "int32" and made["storage_transformers"] == []
