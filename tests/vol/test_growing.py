# SPDX-License-Identifier: MIT
"""Growing datasets that other writers have shrunk without refilling: what lies beyond the old edge
reads as the fill value, in chunks, shards and shards of shards, and only chunks on the edge are
written. Data wait while their dataset grows."""

import json
import os

import h5py
import numpy as np
import pytest
import zarr
from conftest import run_python
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


# ---- Data that wait while their dataset grows ----

KINDS = {
    "numbers": {"dtype": "i4", "chunks": (10,)},
    "gzip": {"dtype": "f8", "chunks": (10,), "compression": "gzip"},
    "text": {"dtype": h5py.string_dtype(), "chunks": (10,)},
    "rows": {"dtype": "i4", "chunks": (10, 4), "rest": (6,)},
}


def appended(file, kind):
    options = dict(KINDS[kind])
    rest = options.pop("rest", ())
    return file.create_dataset("a", (0, *rest), maxshape=(None, *rest), **options)


def append(data, first, last):
    """One row after the other, numbered from 1."""
    for i in range(first, last):
        data.resize(i + 1, axis=0)
        data[i] = str(i + 1) if h5py.check_string_dtype(data.dtype) else i + 1


def chunks(path):
    """The bytes of each chunk."""
    return {name: (path / "a" / name).read_bytes() for name in files(path)}


def rows(path):
    """What zarr-python reads, as numbers, 0 for the fill value."""
    values = zarr.open_array(str(path), path="a", mode="r")[...]
    values = values if values.ndim == 1 else values[:, 0]
    return [int(value or 0) for value in values]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_are_appended_wait_for_the_flush(tmp_path, kind):
    path = tmp_path / "z.zarr"
    with h5py.File(path, "w") as file:
        data = appended(file, kind)
        append(data, 0, 2)
        first = chunks(path)
        append(data, 2, 10)
        assert chunks(path) == first  # the row that was all of its chunk
        append(data, 10, 17)
        file.flush()
        assert rows(path) == list(range(1, 18))
        stored = chunks(path)
        append(data, 17, 20)
        assert chunks(path) == stored
        assert int(np.ravel(data[18])[0]) == 19  # what is read is stored before
        append(data, 20, 25)
        data.resize(23, axis=0)  # and what shrinks
        append(data, 23, 24)
    assert rows(path) == list(range(1, 25))


@pytest.mark.parametrize("options", ["", " sync=close", " sync=always"])
def test_a_kill_loses_only_rows_that_were_not_flushed(tmp_path, options):
    code = """
import os, sys, h5py
sys.path.insert(0, sys.argv[2])
from test_growing import append, appended
file = h5py.File(sys.argv[1], "w")
data = appended(file, "gzip")
append(data, 0, 13)
file.flush()
append(data, 13, 16)
os._exit(0)
"""
    path = tmp_path / "z.zarr"
    run_python(code, path, os.path.dirname(__file__), connector=f"zarr{options}")
    left = rows(path)
    assert left[:13] == list(range(1, 14)) and len(left) == 16
    assert all(value in (0, i + 1) for i, value in enumerate(left))
    with h5py.File(path, "r+") as file:
        append(file["a"], 13, 20)
    assert rows(path) == list(range(1, 21))


def test_rows_that_wait_are_merged_with_those_of_another_program(tmp_path):
    """It has made the array larger meanwhile: the next resize fails until the program has looked, and the data
    wait on."""
    path = tmp_path / "z.zarr"
    with h5py.File(path, "w") as file:
        data = appended(file, "numbers")
        append(data, 0, 3)
        other = zarr.open_array(str(path), path="a", mode="r+")
        other.resize((5,))
        other[3:5] = [40, 50]
        with pytest.raises(Exception, match="changed the shape"):
            data.resize((4,))
        assert data.shape == (3,)
        data.refresh()
        assert data.shape == (5,)
        assert list(data) == [1, 2, 3, 40, 50]
        append(data, 5, 7)
    assert rows(path) == [1, 2, 3, 40, 50, 6, 7]
