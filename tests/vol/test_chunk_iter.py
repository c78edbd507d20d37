# SPDX-License-Identifier: MIT
"""H5Dchunk_iter, H5Dget_num_chunks, H5Dget_chunk_info: the stored chunks of regular, sharded and uneven arrays, in the
order of the grid."""

import ctypes
import json

import h5py
import numpy as np
import pytest
from property_lists import library
from test_chunk_runs import chunk_info
from test_chunk_runs import create as create_uneven
from test_chunk_runs import flat
from test_codecs import BYTES, create, shards

VISIT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_uint64), ctypes.c_uint, ctypes.c_uint64,
                         ctypes.c_uint64, ctypes.c_void_p)
library.H5Dchunk_iter.argtypes = [ctypes.c_int64, ctypes.c_int64, VISIT, ctypes.c_void_p]


def chunks_of(data, answer=lambda seen: 0):
    """The result of the call, and offset and size of each chunk."""
    seen = []

    def visit(offset, mask, address, size, context):
        seen.append((tuple(offset[:len(data.shape)]), size))
        assert mask == 0 and 2**62 <= address < 2**63
        return answer(seen)

    return library.H5Dchunk_iter(data.id.id, 0, VISIT(visit), None), seen


def test_as_h5py_shows_them(tmp_path):
    """Without an address h5py hides the offset. Those that are told lead nowhere, and differ."""
    told = {}
    for suffix in ("h5", "zarr"):
        with h5py.File(tmp_path / f"x.{suffix}", "w") as file:
            data = file.create_dataset("d", (10, 6), "i4", chunks=(4, 3))
            data[0, 0] = data[9, 5] = data[5, 5] = 1
            listed, walked = [data.id.get_chunk_info(i) for i in range(3)], []
            data.id.chunk_iter(walked.append)
            named = [data.id.get_chunk_info_by_coord(info.chunk_offset) for info in listed]
            assert listed == walked == named
            told[suffix] = sorted((info.chunk_offset, info.filter_mask, info.size) for info in listed)
            addresses = [info.byte_offset for info in listed]
            assert data.id.get_chunk_info_by_coord((0, 3)).byte_offset is None
            assert data.id.get_offset() is None
    assert told["zarr"] == told["h5"] and addresses == [2**62, 2**62 + 3, 2**62 + 5]


def test_regular(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        data = file.create_dataset("d", (10, 6), "i4", chunks=(4, 3))
        assert chunks_of(data) == (0, [])
        data[0, 0] = data[9, 5] = data[5, 5] = 1
        assert chunks_of(data) == (0, [((0, 0), 48), ((4, 3), 48), ((8, 3), 48)])
        assert data.id.get_num_chunks() == 3
        assert [chunk_info(data, i) for i in range(3)] == [((0, 0), 48), ((4, 3), 48), ((8, 3), 48)]
        with pytest.raises(Exception, match="out of range"):
            data.id.get_chunk_info(3)
        file.create_dataset("none", (0, 6), "i4", chunks=(4, 3), maxshape=(None, 6))
        assert chunks_of(file["none"]) == (0, [])


def test_shards(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        data = create(file, [shards([6, 5], [BYTES])])
        data[7, 12] = 1
        assert chunks_of(data) == (0, [((6, 10), 120)])
        data[...] = 5
        result, seen = chunks_of(data)
        assert result == 0 and [at for at, _ in seen] == [(y, x) for y in range(0, 24, 6) for x in range(0, 20, 5)]


def test_uneven(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        data = create_uneven(file, flat([[3, 2], [4, 1]], [[5, 1], [14, 1], [7, 1]]), (1, 1))
        data[...] = 5
        assert chunks_of(data) == (0, [((y, x), h * w * 4) for y, h in ((0, 3), (3, 3), (6, 4))
                                       for x, w in ((0, 5), (5, 14), (19, 7))])


@pytest.mark.parametrize("answer", [1, -1])
def test_the_program_ends_it(answer, tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        data = file.create_dataset("d", data=np.arange(10), chunks=(2,))
        result, seen = chunks_of(data, lambda seen: answer if len(seen) == 2 else 0)
        assert (result < 0) == (answer < 0) and [at for at, _ in seen] == [(0,), (2,)]


def test_the_dataset_is_resized_meanwhile(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        data = file.create_dataset("d", data=np.arange(10), chunks=(2,), maxshape=(None,))

        def shrink(seen):
            if data.shape == (10,):
                data.resize((4,))
            return 0

        result, seen = chunks_of(data, shrink)
        assert result == 0 and [at for at, _ in seen] == [(0,), (2,)]


HUGE = {"zarr_format": 3, "node_type": "array", "shape": [10**6, 10**6], "data_type": "int32", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 1]}},
        "chunk_key_encoding": {"name": "default"}, "codecs": [BYTES]}  # 10^12 chunks
HUGE_SHARDS = HUGE | {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10, 10]}},
                      "codecs": [shards([1, 1], [BYTES])]}


@pytest.mark.parametrize("document", [HUGE, HUGE_SHARDS], ids=["chunks", "shards"])
def test_huge(document, tmp_path):
    """What is stored decides how long it takes, not the grid."""
    places = [(0, 0), (3, 999_999), (500_000, 17), (500_000, 18), (999_999, 999_999)]
    h5py.File(tmp_path / "x.zarr", "w").close()
    (tmp_path / "x.zarr" / "d").mkdir()
    (tmp_path / "x.zarr" / "d" / "zarr.json").write_text(json.dumps(document))
    with h5py.File(tmp_path / "x.zarr", "r+") as file:
        data = file["d"]
        assert data.id.get_num_chunks() == 0
        for place in places:
            data[place] = 7
        assert data.id.get_num_chunks() == len(places)  # a walk over the grid would take weeks
        assert [chunk_info(data, i) for i in range(len(places))] == [(at, 4) for at in places]
        assert chunks_of(data) == (0, [(at, 4) for at in places])


def test_the_list_follows_writes(tmp_path):
    """Places of the list, asked for one by one, with writes and a new shape between them."""
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        data = file.create_dataset("d", (10,), "i4", chunks=(2,), maxshape=(None,))
        data[4] = 1
        assert data.id.get_num_chunks() == 1 and chunk_info(data, 0) == ((4,), 8)
        data[0] = 1
        assert chunk_info(data, 0) == ((0,), 8) and chunk_info(data, 1) == ((4,), 8)
        data.resize((3,))
        assert data.id.get_num_chunks() == 1
        data.resize((8,))
        data[7] = 1
        assert chunk_info(data, 1) == ((6,), 8)
