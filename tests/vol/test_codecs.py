# SPDX-License-Identifier: MIT
"""Any chain of codecs by the property zarr:codecs: datasets made, read by zarr-python where it can,
the property given back where filters would make another chain, copies that keep it."""

import json

import h5py
import numpy as np
import pytest
import zarr
from conftest import tool
from property_lists import insert_bytes, insert_numbers, library, property_of

SHAPE, CHUNK = (24, 20), (12, 10)
DATA = (np.arange(480, dtype="i4") % 37).reshape(SHAPE)

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
BIG = {"name": "bytes", "configuration": {"endian": "big"}}
GZIP = {"name": "gzip", "configuration": {"level": 3}}
CRC = {"name": "crc32c"}
TRANSPOSE = {"name": "transpose", "configuration": {"order": [1, 0]}}
DELTA = {"name": "numcodecs.delta", "configuration": {"dtype": "<i4"}}


def shards(chunk, codecs):
    return {"name": "sharding_indexed", "configuration": {
        "chunk_shape": chunk, "codecs": codecs, "index_codecs": [BYTES, CRC], "index_location": "end"}}


# The chain, the shard shape of the list or None, and the innermost chunk and shard as shown.
CHAINS = {
    "transpose": ([TRANSPOSE, BYTES, GZIP], None, CHUNK, None),
    "big": ([BIG, GZIP], None, CHUNK, None),
    "without bytes": ([TRANSPOSE, GZIP, CRC], None, CHUNK, None),
    "numcodecs": ([BYTES, {"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}},
                   {"name": "numcodecs.zlib", "configuration": {"level": 2}}], None, CHUNK, None),
    "lzma": ([DELTA, BYTES, {"name": "numcodecs.lzma", "configuration": {}}], None, CHUNK, None),
    "shards": ([shards([6, 5], [BYTES, GZIP])], None, (6, 5), CHUNK),
    "filters in shards": ([DELTA, GZIP], (24, 20), CHUNK, (24, 20)),
    "shards by both": ([TRANSPOSE, shards([2, 4], [TRANSPOSE, BYTES])], (24, 20), (4, 2), (24, 20)),
    "nested": ([shards([6, 10], [shards([3, 5], [TRANSPOSE, BYTES, GZIP]), CRC])], None, (3, 5), CHUNK),
    "around": ([TRANSPOSE, shards([5, 6], [BYTES]), GZIP], None, (6, 5), CHUNK),
}


def create(file, codecs, shard=None, name=b"d", chunk=CHUNK, change=lambda plist: None, kind="i4"):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if chunk:
        plist.set_chunk(chunk)
    text = codecs if isinstance(codecs, bytes) else json.dumps(codecs).encode()
    insert_bytes(plist, b"zarr:codecs", text)
    if shard:
        insert_numbers(plist, b"zarr:shard_shape", shard)
    change(plist)
    return h5py.Dataset(h5py.h5d.create(file.id, name, h5py.h5t.py_create(np.dtype(kind)),
                                        h5py.h5s.create_simple(SHAPE), plist))


def chain_of(path, name="d"):
    return json.loads((path / name / "zarr.json").read_text())["codecs"]


def names(chain):
    return [(codec["name"], names(codec["configuration"]["codecs"]))
            if codec["name"] == "sharding_indexed" else codec["name"] for codec in chain]


def given(data, name=b"zarr:codecs"):
    value = property_of(data.id.get_create_plist(), name)
    return value and json.loads(value.rstrip(b"\0"))


@pytest.mark.parametrize("case", CHAINS)
def test_created_read_and_copied(case, tmp_path):
    codecs, shard, inner, outer = CHAINS[case]
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as file:
        data = create(file, codecs, shard, chunk=inner if shard else CHUNK)
        assert data.chunks == inner
        shape = property_of(data.id.get_create_plist(), b"zarr:shard_shape")
        assert (shape and tuple(np.frombuffer(shape, "u8"))) == outer
        data[...] = DATA
        data[3:7, 2:9] += 1
    want = DATA.copy()
    want[3:7, 2:9] += 1
    made = chain_of(path)
    flat = [codec["name"] for codec in codecs]
    if "bytes" in flat or "sharding_indexed" in flat:
        assert names(made) == names(codecs)
    with h5py.File(path, "r+") as file:
        assert (file["d"][...] == want).all()
        assert (given(file["d"]) is None) == (case == "shards")  # a list has words for that
        plist = file["d"].id.get_create_plist()
        again = h5py.Dataset(h5py.h5d.create(file.id, b"again", h5py.h5t.NATIVE_INT32,
                                             h5py.h5s.create_simple(SHAPE), plist))
        again[...] = want
        file.copy("d", "copy")
    assert chain_of(path, "again") == chain_of(path, "copy") == made
    with h5py.File(path, "r") as file:
        assert (file["again"][...] == want).all()
    tool("h5repack", path, tmp_path / "y.zarr", connector="zarr")
    assert chain_of(tmp_path / "y.zarr") == made
    with h5py.File(tmp_path / "y.zarr", "r") as file:
        assert (file["d"][...] == want).all() and file["d"].chunks == inner
    if case not in ("around",):  # zarr-python decodes shards behind a codec, and warns of it
        assert (zarr.open(str(path), mode="r")["d"][...] == want).all()


def test_text_may_end_with_a_nul(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        create(file, json.dumps([DELTA, GZIP]).encode() + b"\0")[...] = DATA
        assert (file["d"][...] == DATA).all()
    assert names(chain_of(tmp_path / "x.zarr")) == ["numcodecs.delta", "bytes", "gzip"]


def test_scalars_and_contiguous_datasets_have_chains(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        create(file, [TRANSPOSE, GZIP], chunk=None)[...] = DATA
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        insert_bytes(plist, b"zarr:codecs", json.dumps([BYTES, GZIP]).encode())
        h5py.h5d.create(file.id, b"s", h5py.h5t.NATIVE_INT32, h5py.h5s.create(h5py.h5s.SCALAR), plist)
        file["s"][()] = 5
        assert given(file["s"]) == [BYTES, GZIP]
    tool("h5repack", tmp_path / "x.zarr", tmp_path / "y.zarr", connector="zarr")
    assert names(chain_of(tmp_path / "y.zarr", "s")) == ["bytes", "gzip"]
    assert names(chain_of(tmp_path / "y.zarr")) == ["transpose", "bytes", "gzip"]


@pytest.mark.parametrize("options", [
    {}, {"compression": "gzip"}, {"compression": "gzip", "shuffle": True, "fletcher32": True},
])
def test_what_filters_say_needs_no_property(options, tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        file.create_dataset("d", data=DATA, chunks=CHUNK, **options)
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk(CHUNK)
        insert_numbers(plist, b"zarr:shard_shape", (24, 20))
        if options:
            plist.set_deflate(4)
        h5py.h5d.create(file.id, b"s", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple(SHAPE), plist)
    with h5py.File(tmp_path / "x.zarr", "r") as file:
        assert given(file["d"]) is None and given(file["s"]) is None


@pytest.mark.parametrize("codecs, change, message", [
    ([BYTES, GZIP], lambda p: p.set_deflate(5), "filters that are not those of the property zarr:codecs"),
    ([DELTA], lambda p: p.set_fletcher32(), "filters that are not those of the property zarr:codecs"),
    ([BYTES], lambda p: insert_numbers(p, b"zarr:shard_shape", (24, 20)),
     "not that of the innermost chunks"),
    ([shards([6, 5], [BYTES])], lambda p: insert_numbers(p, b"zarr:shard_shape", (24, 20)),
     "not that of the innermost chunks"),
    ([shards([7, 5], [BYTES])], lambda p: None, "property zarr:codecs: .*expected a divisor"),
    ([{"name": "no_such"}], lambda p: None, "property zarr:codecs: .*no_such"),
    (b"", lambda p: None, "property zarr:codecs: "),
    (b"[1", lambda p: None, "property zarr:codecs: "),
    (b'{"name": "gzip"}', lambda p: None, "property zarr:codecs: "),
    ([BYTES, BYTES], lambda p: None, "property zarr:codecs: "),
    ([{"name": "vlen-utf8"}], lambda p: None, "property zarr:codecs: "),
])
def test_refused(codecs, change, message, tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        with pytest.raises((ValueError, OSError), match=message):
            create(file, codecs, change=change)
        assert "d" not in file


def test_filters_that_agree_are_no_conflict(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        create(file, [TRANSPOSE, GZIP], change=lambda plist: plist.set_deflate(3))
    assert names(chain_of(tmp_path / "x.zarr")) == ["transpose", "bytes", "gzip"]


@pytest.mark.parametrize("case", ["transpose", "numcodecs", "shards", "filters in shards", "lzma"])
@pytest.mark.parametrize("filters, want", [("GZIP=5", "gzip"), ("FLET", "crc32c")])
def test_h5repack_sets_filters_in_place_of_a_chain(case, filters, want, tmp_path):
    codecs, shard, inner, outer = CHAINS[case]
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        create(file, codecs, shard)[...] = DATA
    tool("h5repack", "-f", filters, tmp_path / "x.zarr", tmp_path / "y.zarr", connector="zarr")
    made = names(chain_of(tmp_path / "y.zarr"))
    if outer:
        made = made[0][1]
    assert made == ["bytes", want]
    with h5py.File(tmp_path / "y.zarr", "r") as file:
        assert (file["d"][...] == DATA).all() and file["d"].chunks == inner


def test_h5repack_cuts_other_chunks_in_shards(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        create(file, [DELTA, GZIP], (24, 20))[...] = DATA
    tool("h5repack", "-l", "CHUNK=6x5", tmp_path / "x.zarr", tmp_path / "y.zarr", connector="zarr")
    assert names(chain_of(tmp_path / "y.zarr")) == [("sharding_indexed", ["numcodecs.delta", "bytes", "gzip"])]
    with h5py.File(tmp_path / "y.zarr", "r") as file:
        assert (file["d"][...] == DATA).all() and file["d"].chunks == (6, 5)
