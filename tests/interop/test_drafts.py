# SPDX-License-Identifier: MIT
"""Forms of documents and shards from before the specification was final, which are read: the
sharding draft of March 2023 without index_codecs, in both of its forms, and drafts' key encodings."""

import json
import struct

import numpy as np
import product
import pytest
import refcodec
from libzarrbridge import Store, Writer, ZarrbridgeError
from test_encode import run_check

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
VALUES = np.arange(7 * 11, dtype="<i4").reshape(7, 11)
GZIP = {"name": "gzip", "configuration": {"level": 5}}


def write(folder, name, document, values, change_document, change_object=lambda data: data):
    """A reference array, with its document and objects changed to the older form."""
    path = folder / "x.zarr" / name
    refcodec.write_array(path, document, values, 0)
    changed = json.loads((path / "zarr.json").read_text())
    change_document(changed)
    (path / "zarr.json").write_text(json.dumps(changed))
    for f in path.rglob("*"):
        if f.is_file() and f.name != "zarr.json":
            f.write_bytes(change_object(f.read_bytes()))
    np.save(folder / f"{name}.npy", values)
    (folder / "manifest.json").write_text(
        json.dumps([{"store": "x.zarr", "array": name, "expected": f"{name}.npy"}])
    )


def without(*members):
    def change(document):
        for member in members:
            del document["codecs"][0]["configuration"][member]
    return change


@pytest.mark.parametrize("codecs", [[LITTLE], [LITTLE, GZIP], [GZIP], [], None], ids=json.dumps)
@pytest.mark.parametrize("raw", [True, False], ids=["raw", "checksum"])
def test_sharding_draft(codecs, raw, tmp_path):
    """The index as the draft had it, or as zarr-python writes it where the document is silent.
    [3:4, 3:4] lies in a shard of which one inner chunk is missing."""
    values = VALUES.copy()
    values[:3, :4] = 0
    chain = [LITTLE, GZIP] if codecs and GZIP in codecs else [LITTLE]
    document = refcodec.array_document(values.shape, "int32", (6, 8),
                                       [product.shard([3, 4], chain)], 0)

    def older(document):
        without("index_codecs", "index_location")(document)
        configuration = document["codecs"][0]["configuration"]
        configuration["codecs"] = codecs
        if codecs is None:
            del configuration["codecs"]

    write(tmp_path, "a", document, values, older, lambda data: data[:-4] if raw else data)
    run_check(tmp_path / "manifest.json")


def at_top(codecs):
    def change(document):
        document["codecs"] = codecs
        if codecs is None:
            del document["codecs"]
    return change


TURN = {"name": "transpose", "configuration": {"order": [1, 0]}}


@pytest.mark.parametrize("codecs", [[GZIP], [], None, [TURN], [TURN, GZIP], ["gzip", "crc32c"]],
                         ids=json.dumps)
def test_no_array_to_bytes_codec(codecs, tmp_path):
    """The core specification took little-endian bytes for it until July 2023, and an empty list for
    a missing one."""
    named = [{"name": c} if isinstance(c, str) else c for c in codecs or []]
    at = len([c for c in named if c == TURN])
    document = refcodec.array_document(VALUES.shape, "int32", (3, 4),
                                       [*named[:at], LITTLE, *named[at:]], 0)
    write(tmp_path, "a", document, VALUES, at_top(codecs))
    run_check(tmp_path / "manifest.json")


def test_written_as_it_stands(tmp_path):
    """Writing keeps the document; the chunks have the codecs that it says."""
    document = refcodec.array_document(VALUES.shape, "int32", (3, 4), [LITTLE, GZIP], 0)
    write(tmp_path, "a", document, VALUES, at_top([GZIP]))
    before = (tmp_path / "x.zarr" / "a" / "zarr.json").read_bytes()
    changed = VALUES.copy()
    changed[2:5, 3:9] = 7
    with Writer(Store(tmp_path / "x.zarr"), "a") as writer:
        writer.write((2, 3), (1, 1), changed[2:5, 3:9])
    assert (tmp_path / "x.zarr" / "a" / "zarr.json").read_bytes() == before
    np.save(tmp_path / "a.npy", changed)
    run_check(tmp_path / "manifest.json")


@pytest.mark.parametrize("codecs", [[], [GZIP]], ids=json.dumps)
def test_text_needs_its_codec(codecs, tmp_path):
    """Text had no default form."""
    document = refcodec.array_document((3,), "int32", (3,), codecs, 0)
    refcodec.write_document(tmp_path / "x.zarr" / "a",
                            document | {"data_type": "string", "fill_value": ""})
    with pytest.raises(ZarrbridgeError, match="elements of a fixed size alone"):
        Store(tmp_path / "x.zarr").open("a")


def test_one_inner_chunk(tmp_path):
    """A shard of few bytes: a raw index alone, of chunks that are all missing, and one chunk."""
    values = np.array([5, 0], "<i4")
    document = refcodec.array_document((2,), "int32", (1,), [product.shard([1], [LITTLE])], 0)
    write(tmp_path, "a", document, values, without("index_codecs", "index_location"),
          lambda data: data[:-4])
    missing = tmp_path / "x.zarr" / "a" / "c" / "1"
    missing.write_bytes(struct.pack("<QQ", 2**64 - 1, 2**64 - 1))
    run_check(tmp_path / "manifest.json")


def test_a_damaged_index_is_no_fill(tmp_path):
    """A checksum that does not match makes the index raw; its numbers then leave the shard."""
    document = refcodec.array_document((7, 11), "int32", (6, 8),
                                       [product.shard([3, 4], [LITTLE])], 0)
    write(tmp_path, "a", document, VALUES, without("index_codecs", "index_location"),
          lambda data: data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(AssertionError, match="index"):
        run_check(tmp_path / "manifest.json")


@pytest.mark.parametrize("encoding", [{"type": "default"}, {"type": "default", "separator": "/"},
                                      {"type": "v2", "separator": "/"}, {"type": "v2"}],
                         ids=json.dumps)  # fmt: skip
def test_key_encoding_by_type(encoding, tmp_path):
    document = refcodec.array_document((7, 11), "int32", (3, 4), [LITTLE], 0)
    name = encoding["type"]
    separator = encoding.get("separator", "/" if name == "default" else ".")
    document["chunk_key_encoding"] = {"name": name, "configuration": {"separator": separator}}
    write(tmp_path, "a", document, VALUES, lambda d: d.update(chunk_key_encoding=encoding))
    run_check(tmp_path / "manifest.json")


def test_writing_is_refused(tmp_path):
    """The form of the index is not known, so that an existing array stays as it is."""
    from libzarrbridge import Store, Writer, ZarrbridgeError

    document = refcodec.array_document((7, 11), "int32", (6, 8),
                                       [product.shard([3, 4], [LITTLE])], 0)
    write(tmp_path, "a", document, VALUES, without("index_codecs", "index_location"))
    store = Store(tmp_path / "x.zarr")
    with pytest.raises(ZarrbridgeError, match="draft of March 2023"):
        with Writer(store, "a") as writer:
            writer.write((0, 0), None, np.ones((1, 1), "<i4"))
    before = {f: f.read_bytes() for f in tmp_path.rglob("*") if f.is_file()}
    for shape in ((4, 4), (9, 11)):  # refused before anything has changed
        with pytest.raises(ZarrbridgeError, match="draft of March 2023"):
            store.resize("a", shape)
    store.close()  # the lock's file goes
    assert {f: f.read_bytes() for f in tmp_path.rglob("*") if f.is_file()} == before
