# SPDX-License-Identifier: MIT
"""Growing datasets that other writers have shrunk without refilling: what lies beyond the old edge
reads as the fill value, in chunks, shards and shards of shards, and only chunks on the edge are
written."""

import json
import os

import h5py
import numpy as np
import pytest
import zarr
from zarr.codecs import BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, ZstdCodec

FILL = -3


def sharding(inner, codecs):
    return ShardingCodec(chunk_shape=inner, codecs=codecs)


# The chunk's shape, and the codecs of an array of two dimensions.
LAYOUTS = {
    "raw": {"chunks": (8, 8), "compressors": None},
    "gzip": {"chunks": (8, 8), "compressors": GzipCodec()},
    "shards": {"chunks": (4, 2), "shards": (8, 8), "compressors": ZstdCodec()},
    "raw_shards": {"chunks": (4, 4), "shards": (16, 8), "compressors": None},
    "nested_shards": {
        "chunks": (16, 16), "compressors": None,
        "serializer": sharding((8, 8), [sharding((4, 2), [BytesCodec(), Crc32cCodec()])])},
}


def make(path, layout, shape=(20, 20)):
    """An array of ones; every program but this one has written it."""
    root = zarr.open_group(path, mode="w", zarr_format=3)
    array = root.create_array("a", shape=shape, dtype="i4", fill_value=FILL, **LAYOUTS[layout])
    array[...] = 1
    return array


def set_shape(path, shape):
    """As a writer that changes the document alone: its chunks keep all that they hold."""
    document = os.path.join(path, "a", "zarr.json")
    with open(document) as file:
        text = json.load(file)
    text["shape"] = list(shape)
    with open(document, "w") as file:
        json.dump(text, file)


def grow(path, shape):
    with h5py.File(path, "r+") as file:
        file["a"].id.set_extent(shape)
        return file["a"][...]


def check(path, layout, values, wanted):
    """What was read through h5py, and what zarr-python reads: but it cannot read a part of a shard
    that lies in a shard."""
    assert (values == wanted).all()
    if layout != "nested_shards":
        assert (zarr.open_array(path, path="a", mode="r")[...] == wanted).all()


def files(path):
    """The inode of each chunk: an object that is written again has another one."""
    found = {}
    for folder, _, names in os.walk(os.path.join(path, "a", "c")):
        for name in names:
            whole = os.path.join(folder, name)
            found[os.path.relpath(whole, os.path.join(path, "a"))] = os.stat(whole).st_ino
    return found


def expected(shape, kept):
    values = np.full(shape, FILL, "i4")
    values[tuple(slice(0, n) for n in kept)] = 1
    return values


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("small", [(4, 20), (20, 5), (6, 3), (1, 1), (8, 8), (17, 19)], ids=str)
def test_after_zarr_python_has_shrunk(tmp_path, layout, small):
    path = str(tmp_path / "z.zarr")
    make(path, layout).resize(small)
    check(path, layout, grow(path, (20, 20)), expected((20, 20), small))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("small", [(4, 20), (20, 5), (6, 3), (0, 7)], ids=str)
def test_after_another_writer_has_changed_the_shape_alone(tmp_path, layout, small):
    path = str(tmp_path / "z.zarr")
    make(path, layout)
    set_shape(path, small)
    for shape in (20, 20), (33, 40):
        check(path, layout, grow(path, shape), expected(shape, small))


def test_only_the_edge_is_written(tmp_path):
    path = str(tmp_path / "z.zarr")
    make(path, "gzip", (64, 64)).resize((60, 64))
    before = files(path)
    grow(path, (128, 64))
    after = files(path)
    changed = {name for name in before if after.get(name) != before[name]}
    assert changed == {f"c/7/{column}" for column in range(8)}
    assert after.keys() == before.keys()


def test_nothing_is_written_where_nothing_lies_beyond(tmp_path):
    path = str(tmp_path / "z.zarr")
    array = make(path, "gzip", (60, 60))
    array[...] = 1
    # Padding of the edge's chunks is fill already.
    before = files(path)
    grow(path, (128, 128))
    assert files(path) == before


def test_elements_written_after_growing_stay(tmp_path):
    path = str(tmp_path / "z.zarr")
    make(path, "shards").resize((6, 20))
    with h5py.File(path, "r+") as file:
        file["a"].id.set_extent((20, 20))
        file["a"][10:12, 3] = 9
        file["a"].id.set_extent((30, 20))
    values = expected((30, 20), (6, 20))
    values[10:12, 3] = 9
    assert (zarr.open_array(path, path="a", mode="r")[...] == values).all()
