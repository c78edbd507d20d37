# SPDX-License-Identifier: MIT
"""Datasets whose chunks have several extents: made by the property zarr:chunk_runs, written and
read across uneven edges as a numpy model says, shown by their largest chunk, copied and resized."""

import ctypes
import json
import subprocess

import h5py
import numpy as np
import pytest
from property_lists import insert_numbers, library, property_of

SHAPE = (10, 26)
ROWS, COLUMNS = [[3, 2], [4, 1]], [[5, 1], [14, 1], [7, 1]]


def chunk_info(data, number):
    """Offset and size by H5Dget_chunk_info."""
    offset, size = (ctypes.c_uint64 * len(data.shape))(), ctypes.c_uint64()
    mask, address = ctypes.c_uint(1), ctypes.c_uint64()
    library.H5Dget_chunk_info.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_uint64] + [ctypes.c_void_p] * 4
    assert library.H5Dget_chunk_info(data.id.id, data.id.get_space().id, number, offset, ctypes.byref(mask),
                                     ctypes.byref(address), ctypes.byref(size)) >= 0
    assert mask.value == 0 and 2**62 <= address.value < 2**63
    return tuple(offset), size.value


def runs_of(plist):
    """The property as a list, or None."""
    value = property_of(plist, b"zarr:chunk_runs")
    return value if value is None else np.frombuffer(value, "u8").tolist()


def flat(*dimensions):
    """The row of the property: the number of runs, then pairs."""
    return [number for runs in dimensions for number in [len(runs), *sum(runs, [])]]


def create(file, runs, chunk=(4, 8), shard=None, most=None, gzip=False):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk(chunk)
    plist.set_fill_value(np.array(-1, "i4"))
    if gzip:
        plist.set_deflate(1)
    insert_numbers(plist, b"zarr:chunk_runs", runs)
    if shard:
        insert_numbers(plist, b"zarr:shard_shape", shard)
    return h5py.Dataset(h5py.h5d.create(file.id, b"d", h5py.h5t.NATIVE_INT32,
                                        h5py.h5s.create_simple(SHAPE, most or SHAPE), plist))


def grid_of(path):
    return json.loads((path / "d/zarr.json").read_text())["chunk_grid"]


CASES = {
    "both": (flat(ROWS, COLUMNS), (1, 1), None, [[[3, 2], 4], [5, 14, 7]], (4, 14)),
    "columns": (flat([], COLUMNS), (4, 1), None, [4, [5, 14, 7]], (4, 14)),
    "shards": (flat([[4, 1], [6, 1]], [[8, 1], [12, 1], [8, 1]]), (2, 4), (2, 4), [[4, 6], [8, 12, 8]], (2, 4)),
}


@pytest.mark.parametrize("gzip", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_created_written_read(name, gzip, tmp_path):
    runs, chunk, shard, grid, largest = CASES[name]
    path, random, model = tmp_path / "x.zarr", np.random.default_rng(5), np.full(SHAPE, -1, "i4")
    with h5py.File(path, "w") as file:
        data = create(file, runs, chunk, shard, gzip=gzip)
        assert data.chunks == largest
        for _ in range(30):
            low = [int(random.integers(0, extent)) for extent in SHAPE]
            high = [int(random.integers(at, extent)) + 1 for at, extent in zip(low, SHAPE)]
            step = int(random.integers(1, 4))
            box = np.s_[low[0]:high[0], low[1]:high[1]:step]
            model[box] = values = random.integers(0, 1000, model[box].shape)
            data[box] = values
            assert (data[:] == model).all()
    assert grid_of(path)["configuration"] == {"kind": "inline", "chunk_shapes": grid}
    with h5py.File(path, "r") as file:
        data = file["d"]
        assert data.chunks == largest
        assert runs_of(data.id.get_create_plist()) == runs
        assert (data[:] == model).all()
        assert (data[2:8:2, 3:22] == model[2:8:2, 3:22]).all()
        rows = [0, 2, 3, 9]
        assert (data[rows, 4] == model[rows, 4]).all()


EDGES = {"both": ([3, 3, 4], [5, 14, 7]), "columns": ([4, 4, 4], [5, 14, 7]), "shards": ([2] * 5, [4] * 7)}


@pytest.mark.parametrize("name", CASES)
def test_single_chunks(name, tmp_path):
    """H5Dget_chunk_info tells each chunk's real place, and the bytes that it takes."""
    runs, chunk, shard, *_ = CASES[name]
    rows, columns = (np.cumsum([0, *edges])[:-1] for edges in EDGES[name])
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        data = create(file, runs, chunk, shard)
        data[:2, :4] = 5  # the first chunk alone
        assert data.id.get_num_chunks() == 1 and chunk_info(data, 0)[0] == (0, 0)
        whole = EDGES[name][0][0] * EDGES[name][1][0] * 4
        places = [(int(y), int(x)) for y in rows for x in columns]
        for number, offset in enumerate(places):
            assert data.id.get_chunk_info_by_coord(offset).size == (0 if number else whole)
        data[...] = 5
        assert data.id.get_num_chunks() == len(places)
        for number, offset in enumerate(places):
            assert chunk_info(data, number) == (offset, data.id.get_chunk_info_by_coord(offset).size)
        for wrong in ((1, 0), (0, 1), (int(rows[-1]), 27)):
            with pytest.raises(Exception, match="no chunk of '/d' begins at"):
                data.id.get_chunk_info_by_coord(wrong)
        with pytest.raises(Exception, match="out of range"):
            data.id.get_chunk_info(len(rows) * len(columns))


def test_lists_are_copied(tmp_path):
    """h5repack and h5copy keep the extents; a regular dataset has no such property."""
    runs, *_ = CASES["both"]
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        create(file, runs)[:] = 7
        file.create_dataset("plain", data=np.zeros(4), chunks=(2,))
        assert runs_of(file["plain"].id.get_create_plist()) is None
        file.copy("d", "copy")
        assert runs_of(file["copy"].id.get_create_plist()) == runs
    subprocess.run(["h5repack", "--src-vol-name=zarr", "--dst-vol-name=zarr", tmp_path / "x.zarr",
                    tmp_path / "y.zarr"], check=True)
    assert grid_of(tmp_path / "y.zarr") == grid_of(tmp_path / "x.zarr")


def test_resized(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        data = create(file, CASES["both"][0], most=(h5py.h5s.UNLIMITED, 26))
        data[:] = 3
        data.id.set_extent((12, 26))
        assert runs_of(file["d"].id.get_create_plist()) is not None
    assert grid_of(tmp_path / "x.zarr")["configuration"]["chunk_shapes"] == [[[3, 2], 4, 2], [5, 14, 7]]
    with h5py.File(tmp_path / "x.zarr") as file:
        assert (file["d"][:10] == 3).all() and (file["d"][10:] == -1).all()


@pytest.mark.parametrize("runs, message", [
    ([1, 3], "must hold for each dimension"),
    ([0], "must hold for each dimension"),
    ([0, 0, 0], "must hold for each dimension"),
    ([2**62, 3, 1, 0], "must hold for each dimension"),
    ([1, 3, 3, 0], "9 elements, expected at least the 10"),
    ([1, 0, 3, 0], "an extent or a count is 0"),
])
def test_malformed_rows_are_refused(runs, message, tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        with pytest.raises(Exception, match=message):
            create(file, runs)
        assert "d" not in file
