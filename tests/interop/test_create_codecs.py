# SPDX-License-Identifier: MIT
"""Arrays created with codecs of every kind, written in parts by our writer, read by ourselves and by
zarr-python."""

import json

import numpy as np
import pytest
import zarr
from libzarrbridge import Store, Writer, ZarrbridgeError
from round_peers import read_zarr_python

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
TURN = {"name": "transpose", "configuration": {"order": [1, 0]}}
FIXED = {"name": "numcodecs.fixedscaleoffset",
         "configuration": {"offset": 0, "scale": 10, "dtype": "<f8", "astype": "<i2"}}
DELTA = {"name": "numcodecs.delta", "configuration": {"dtype": "<i2"}}
BITS = [{"name": "numcodecs.astype", "configuration": {"encode_dtype": "<f8", "decode_dtype": "<f8"}},
        {"name": "numcodecs.delta", "configuration": {"dtype": "<u8"}}]


def sharded(shape, codecs, **more):
    return {"name": "sharding_indexed",
            "configuration": {"chunk_shape": shape, "codecs": codecs, **more}}


# name: codecs, shards, does zarr-python 3.0 read it
CASES = {
    "filters": ([FIXED, DELTA, "zstd"], None, True),
    "differences_of_bits": ([*BITS, {"name": "blosc", "configuration": {
        "cname": "zstd", "clevel": 2, "shuffle": "bitshuffle"}}], (8, 8), True),
    "filters_in_shards": ([FIXED, "numcodecs.bz2", "crc32c"], (8, 8), True),
    "name_of_numcodecs": ([{"name": "numcodecs.bitround", "configuration": {"keepbits": 10}}], (8, 8),
                          True),
    "without_members": (["numcodecs.fletcher32"], (8, 8), True),
    "transpose": ([TURN, {"name": "gzip"}], None, True),
    "transpose_in_shards": ([TURN, "zstd"], (8, 8), True),
    "big_endian": ([{"name": "bytes", "configuration": {"endian": "big"}}, "zstd"], None, True),
    "whole_chain": ([TURN, LITTLE, "numcodecs.shuffle", "numcodecs.lz4"], None, True),
    "shard": ([sharded([2, 4], ["zstd"])], None, True),
    "shard_at_start": ([sharded([2, 2], [FIXED, "zstd"], index_location="start")], None, True),
    "around": ([sharded([2, 2], [LITTLE, "zstd"]), "numcodecs.zlib", "crc32c"], None, True),
    "nested": ([sharded([2, 4], [sharded([2, 2], ["numcodecs.lzma"]), "crc32c"])], None, True),
    "turned_nested": ([TURN, sharded([4, 2], [TURN, sharded([2, 2], [LITTLE])])], None, False),
    "cast": ([{"name": "cast_value", "configuration": {"data_type": "float32"}}], (8, 8), False),
    "cast_in_front": ([{"name": "cast_value", "configuration": {"data_type": "int32"}},
                       sharded([2, 2], ["zstd"])], None, False),
    "reshape": ([{"name": "reshape", "configuration": {"shape": [-1]}}, "zstd"], None, False),
    "packbits": ([{"name": "packbits"}, "zstd"], None, False),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_create_and_write(name, tmp_path):
    codecs, shards, by_peer = CASES[name]
    store = Store(tmp_path)
    store.create_array("a", (13, 10), (4, 4), "float64", shards=shards, codecs=codecs)
    values = np.arange(130, dtype="f8").reshape(13, 10)
    with Writer(store, "a") as writer:  # bands of rows and columns that cut chunks and units
        writer.write((0, 0), (1, 1), values[:3])
        writer.write((5, 0), (1, 1), values[5:])
    with Writer(store, "a") as writer:
        writer.write((3, 4), (1, 1), values[3:5, 4:])
    expected = values.copy()
    expected[3:5, :4] = 0
    ours = np.empty((13, 10))
    store.read_into("a", (0, 0), (1, 1), ours)
    assert ours.tobytes() == expected.tobytes()
    if by_peer:
        assert read_zarr_python(tmp_path / "a").tobytes() == expected.tobytes()
    if by_peer and name not in ("around", "nested"):  # which zarr-python 3.0 does not write
        # Reading has made the array as large as its chunks.
        array = zarr.open_array(tmp_path / "a", mode="r+")
        array[:13, :10] = values
        store.read_into("a", (0, 0), (1, 1), ours)
        assert ours.tobytes() == values.tobytes()
    document = json.loads((tmp_path / "a" / "zarr.json").read_text())
    assert all(isinstance(c, dict) for c in document["codecs"])


@pytest.mark.parametrize("codecs,shards,message", [
    ([LITTLE], (8, 8), "it is the whole pipeline"),
    (["zstd", "bytes"], None, "must come after the array-to-bytes codec"),
    ([sharded([3, 3], ["zstd"])], None, "expected a divisor"),
    ([sharded([2, 2], ["zstd"], depth=1)], None, "no option"),
    ([sharded([2, 2], "zstd")], None, "expected a list"),
    (["bitround"], None, "keepbits is missing"),
    (["gribberish"], None, "is not supported"),
], ids=str)  # fmt: skip
def test_refused(codecs, shards, message, tmp_path):
    store = Store(tmp_path)
    with pytest.raises(ZarrbridgeError, match=message):
        store.create_array("a", (13, 10), (4, 4), "float64", shards=shards, codecs=codecs)
    assert not (tmp_path / "a").exists()


def test_a_value_that_is_lost_is_refused(tmp_path):
    """numpy would store 70000 as 4464; the chunk stays as it was."""
    store = Store(tmp_path)
    codecs = [{"name": "numcodecs.astype", "configuration": {"encode_dtype": "<u2"}}]
    store.create_array("a", (4,), (4,), "int32", codecs=codecs)
    with Writer(store, "a") as writer:
        writer.write((0,), (1,), np.arange(4, dtype="i4"))
    with pytest.raises(ZarrbridgeError, match="70000 does not fit uint16"):
        with Writer(store, "a") as writer:
            writer.write((0,), (1,), np.array([1, 70000, 2, 3], "i4"))
    ours = np.empty(4, "i4")
    store.read_into("a", (0,), (1,), ours)
    assert ours.tolist() == [0, 1, 2, 3]
