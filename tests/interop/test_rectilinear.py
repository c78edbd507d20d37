# SPDX-License-Identifier: MIT
"""Chunks of several extents, both ways with zarr-python (3.4, where they are behind a switch), and
read through zarrs where that is installed: lists, runs and integers, chunks that reach over the
edge, shards of several extents, growing and shrinking by either side."""

import json

import numpy as np
import pytest

zarr = pytest.importorskip("zarr", minversion="3.4", reason="zarr-python before 3.4 has no rectilinear grid")
zarr.config.set({"array.rectilinear_chunks": True})

from libzarrbridge import Store, Writer  # noqa: E402

SHAPE = (10, 24)
CASES = {  # chunks for us: integers, or lists of [extent, count]
    "lists": {"edges": [[[3, 2], [4, 1]], [[5, 1], [12, 1], [7, 1]]]},
    "one_list": {"edges": [4, [[7, 2], [10, 1]]]},
    "one_chunk": {"edges": [[[10, 1]], [[24, 1]]]},
    "many": {"edges": [[[1, 10]], [[2, 12]]]},
    "shards": {"edges": [[[4, 1], [6, 1]], [[8, 1], [4, 1], [12, 1]]], "inner": (2, 4)},
    "one_shard_list": {"edges": [6, [[8, 2], [4, 2]]], "inner": (3, 4)},
}
COMPRESSED = {"raw": None, "zstd": {"name": "zstd", "configuration": {"level": 1}}}


def expanded(edges):
    """As zarr-python wants them."""
    return [e if isinstance(e, int) else [extent for extent, count in e for _ in range(count)] for e in edges]


def values(dtype="int32"):
    return (np.arange(SHAPE[0] * SHAPE[1]) * 7 + 1).astype(dtype).reshape(SHAPE)


def grid_of(path):
    return json.loads((path / "zarr.json").read_text())["chunk_grid"]


def theirs(path, case, codec):
    edges, inner = expanded(case["edges"]), case.get("inner")
    return zarr.create_array(path, shape=SHAPE, dtype="int32", fill_value=-1, compressors=codec,
                             chunks=inner or edges, **({"shards": edges} if inner else {}))


def ours(store, case, codec):
    edges, inner = case["edges"], case.get("inner")
    plain = [e if isinstance(e, int) else 1 for e in edges]
    runs = [None if isinstance(e, int) else e for e in edges]
    store.create_array("a", SHAPE, inner or plain, "int32", -1, shards=plain if inner else None,
                       codecs=[codec] if codec else [], runs=runs)


def read(store, shape=SHAPE, start=None):
    out = np.zeros(shape, "int32")
    store.read_into("a", start, None, out)
    return out


@pytest.mark.parametrize("codec", COMPRESSED)
@pytest.mark.parametrize("name", CASES)
def test_theirs_by_us(name, codec, tmp_path):
    array, model = theirs(tmp_path / "a", CASES[name], COMPRESSED[codec]), np.full(SHAPE, -1, "int32")
    array[1:9, 3:] = model[1:9, 3:] = values()[1:9, 3:]
    store = Store(tmp_path)
    assert (read(store) == model).all()
    assert (read(store, (5, 9), (2, 6)) == model[2:7, 6:15]).all()
    # A part by us, over theirs, across the edges of chunks.
    with Writer(store, "a") as writer:
        writer.write((2, 5), None, values()[:6, :15])
    model[2:8, 5:20] = values()[:6, :15]
    assert (read(store) == model).all()
    assert (zarr.open_array(tmp_path / "a", mode="r")[:] == model).all()
    store.close()


@pytest.mark.parametrize("codec", COMPRESSED)
@pytest.mark.parametrize("name", CASES)
def test_ours_by_them(name, codec, tmp_path):
    store = Store(tmp_path)
    ours(store, CASES[name], COMPRESSED[codec])
    with Writer(store, "a") as writer:
        writer.write((0, 0), None, values()[:7])
    model = values()
    model[7:] = -1
    array = zarr.open_array(tmp_path / "a", mode="r+")
    assert (array[:] == model).all()
    array[4:9, 6:21] = model[4:9, 6:21] = values()[4:9, 6:21] + 1
    assert (read(store) == model).all()
    store.close()


def test_documents_are_the_same(tmp_path):
    """The same runs, integers and order of members come of the same extents."""
    store = Store(tmp_path)
    for name in ("lists", "one_list", "shards"):
        theirs(tmp_path / "theirs" / name, CASES[name], None)
        case = CASES[name]
        ours(store, case, None)
        assert grid_of(tmp_path / "a") == grid_of(tmp_path / "theirs" / name)
        (tmp_path / "a" / "zarr.json").unlink()
    store.close()


def test_indexes_have_the_size_of_their_shard(tmp_path):
    store = Store(tmp_path)
    store.create_array("a", (12,), (2,), "int8", 0, shards=(2,), codecs=[], runs=[[[4, 1], [8, 1]]])
    with Writer(store, "a") as writer:
        writer.write((0,), None, np.arange(1, 13, dtype="int8"))
    assert [(tmp_path / "a/c" / str(i)).stat().st_size for i in (0, 1)] == [40, 76]
    store.close()


@pytest.mark.parametrize("name", ["lists", "one_list", "shards"])
def test_growing_and_shrinking(name, tmp_path):
    """The same grid comes of growing by either side, where the rest is whole inner chunks."""
    store, new = Store(tmp_path), (16, 32)
    ours(store, CASES[name], None)
    with Writer(store, "a") as writer:
        writer.write((0, 0), None, values())
    array = theirs(tmp_path / "b", CASES[name], None)
    array[:] = values()
    array.resize(new)
    store.resize("a", new)
    assert grid_of(tmp_path / "a") == grid_of(tmp_path / "b")
    model = np.full(new, -1, "int32")
    model[:10, :24] = values()
    assert (read(store, new) == model).all()
    assert (zarr.open_array(tmp_path / "a", mode="r")[:] == model).all()
    zarr.open_array(tmp_path / "a", mode="r+").resize((5, 20))
    assert (read(store, (5, 20)) == model[:5, :20]).all()
    store.resize("a", new)  # what zarr-python left beyond the edge does not come back
    model[5:, :] = -1
    model[:, 20:] = -1
    assert (read(store, new) == model).all()
    assert (zarr.open_array(tmp_path / "a", mode="r")[:] == model).all()
    store.close()


@pytest.mark.parametrize("name", CASES)
def test_ours_by_zarrs(name, tmp_path):
    """zarrs as zarr-python's codec pipeline: the chunks are decoded by it."""
    pytest.importorskip("zarrs")
    store = Store(tmp_path)
    ours(store, CASES[name], COMPRESSED["zstd"])
    with Writer(store, "a") as writer:
        writer.write((0, 0), None, values())
    with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}):
        assert (zarr.open_array(tmp_path / "a", mode="r")[:] == values()).all()
    store.close()
