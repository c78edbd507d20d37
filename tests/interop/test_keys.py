# SPDX-License-Identifier: MIT
"""The proposed chunk key encodings, `suffix` and `fanout`: arrays created, written, listed, changed
and checked under such keys. interop/core, h5py and gdal read them from the reference encoder."""

import json
import os
import shutil
import subprocess

import numpy as np
import pytest
import refcodec
from libzarrbridge import Store, Writer, ZarrbridgeError
from variants_metadata import PROPOSED_KEYS

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
DOTS = {"name": "default", "configuration": {"separator": "."}}
ENCODINGS = PROPOSED_KEYS | {
    "v2": {"name": "v2", "configuration": {"separator": "."}},
    "suffix_digit": {"name": "suffix", "configuration": {"suffix": "0", "base_encoding": DOTS}},
}
SHAPE = (220, 5)


def program(*arguments):
    done = subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], *map(str, arguments)],
                          capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout


def stored(path):
    return {str(f.relative_to(path)) for f in path.rglob("*") if f.is_file()} - {"zarr.json"}


def keys(encoding, rows):
    cells = ((row, column) for row in rows for column in range(2))
    return {refcodec.chunk_key(cell, encoding) for cell in cells}


def read(store, shape):
    values = np.zeros(shape, "int32")
    store.read_into("a", None, None, values)
    return values


@pytest.fixture(params=ENCODINGS)
def encoding(request):
    return ENCODINGS[request.param]


@pytest.fixture
def store(encoding, tmp_path):
    """Rows 0 to 209 of chunks of 2 x 3; the last chunks are not stored."""
    store = Store(tmp_path)
    store.create_array("a", SHAPE, (2, 3), "int32", -1, codecs=[], keys=encoding)
    with Writer(store, "a") as writer:
        writer.write((0, 0), None, np.arange(1050, dtype="int32").reshape(210, 5))
    return store


def test_created_and_written(store, encoding, tmp_path):
    assert stored(tmp_path / "a") == keys(encoding, range(105))
    document = json.loads((tmp_path / "a/zarr.json").read_text())
    reference = refcodec.array_document(SHAPE, "int32", (2, 3), [LITTLE], -1)
    expected = np.full(SHAPE, -1, "int32")
    expected[:210] = np.arange(1050).reshape(210, 5)
    refcodec.write_array(tmp_path / "r", reference | {"chunk_key_encoding": encoding}, expected, -1)
    for key in stored(tmp_path / "r"):
        assert (tmp_path / "a" / key).read_bytes() == (tmp_path / "r" / key).read_bytes()
    assert document["chunk_key_encoding"]["name"] == encoding["name"]
    assert (read(store, SHAPE) == expected).all()


def test_walks_know_the_keys(store, encoding, tmp_path):
    """The room that chunks take, those beyond a smaller shape, a check, a copy, and deleting."""
    array = tmp_path / "a"
    assert store.storage_size("a") == 210 * 2 * 3 * 4
    assert program("verify", tmp_path) == (0, "")
    beyond = array / refcodec.chunk_key((500, 0), encoding)
    beyond.parent.mkdir(parents=True, exist_ok=True)
    beyond.write_bytes(b"x" * 24)
    (array / "c.notes").write_text("mine")
    status, lines = program("verify", tmp_path)
    assert status == 1 and lines.count("orphaned") == lines.count("foreign") == 1 and "beyond the array's shape" in lines
    (array / "c.notes").unlink()
    store.resize("a", (1002, 5))
    assert (read(store, (1002, 5))[1000:] == -1).all()  # growing has cleared it
    store.resize("a", (7, 5))
    assert stored(array) == keys(encoding, range(4))
    store.resize("a", SHAPE)
    assert (read(store, SHAPE)[7:] == -1).all()
    assert program("copy", tmp_path / "a", tmp_path / "copy")[0] == 0
    assert stored(tmp_path / "copy") == stored(array)
    shutil.rmtree(array / "c", ignore_errors=True)
    store.delete("a")
    assert not array.exists()


def test_shards_are_compacted(encoding, tmp_path):
    store = Store(tmp_path)
    store.create_array("a", (300, 4), (1, 2), "int32", 0, shards=(2, 4), codecs=["zstd"], keys=encoding)
    first = np.arange(1, 1201, dtype="int32").reshape(300, 4)
    for values in (first, first[:, ::-1] * 3):
        with Writer(store, "a") as writer:
            writer.write((0, 0), None, values[:, :2].copy())
            writer.flush()
            writer.write((0, 2), None, values[:, 2:].copy())
    before = store.storage_size("a")
    shard = tmp_path / "a" / refcodec.chunk_key((149, 0), encoding)
    data = shard.read_bytes()  # with 8 bytes that belong to no inner chunk
    index = np.frombuffer(data[-68:-4], "<u8").copy()
    body = b"garbage!" + data[:-68]
    index[::2] += 8
    shard.write_bytes(body + index.tobytes() + refcodec.crc32c(index.tobytes()).to_bytes(4, "little"))
    assert store.storage_size("a") == before + 8
    assert program("compact", tmp_path / "a")[0] == 0
    assert store.storage_size("a") <= before
    assert (read(store, (300, 4)) == first[:, ::-1] * 3).all()


@pytest.mark.parametrize("wrong, message", [
    ({"name": "hashed"}, "not supported"),
    ({"name": "fanout", "configuration": {"max_children": 7}}, "from 100 up"),
    ({"name": "suffix", "configuration": {"suffix": "/x", "base_encoding": DOTS}}, "slashes"),
    ({"name": "suffix", "configuration": {"suffix": ".x"}}, "without a base_encoding"),
])
def test_refused(wrong, message, tmp_path):
    with pytest.raises(ZarrbridgeError, match=message):
        Store(tmp_path).create_array("a", SHAPE, (2, 3), "int32", keys=wrong)
    assert not stored(tmp_path)


def test_zarr_python_with_the_encodings_registered(store, encoding, tmp_path):
    """zarr-python has a registry for encodings, into which these are put as they are proposed."""
    pytest.importorskip("zarr", minversion="3.4", reason="zarr-python before 3.4 has no such registry")
    import zarr
    from zarr.core.chunk_key_encodings import ChunkKeyEncoding
    from zarr.registry import register_chunk_key_encoding

    if encoding["name"] == "v2":
        pytest.skip("zarr-python has v2 itself")

    class Proposed(ChunkKeyEncoding):
        name = encoding["name"]

        def __init__(self, **configuration):
            object.__setattr__(self, "encoding", {"name": self.name, "configuration": configuration})

        @classmethod
        def from_dict(cls, data):
            return cls(**data.get("configuration", {}))

        def to_dict(self):
            return self.encoding

        def encode_chunk_key(self, chunk_coords):
            return refcodec.chunk_key(chunk_coords, self.encoding)

    register_chunk_key_encoding(Proposed.name, Proposed)
    array = zarr.open_array(tmp_path / "a", mode="r+")
    assert (array[:210] == np.arange(1050).reshape(210, 5)).all()
    array[200:] = 9
    assert (read(store, SHAPE)[200:] == 9).all()
