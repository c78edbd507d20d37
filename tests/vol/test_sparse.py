# SPDX-License-Identifier: MIT
"""Copies visit the stored chunks alone. The datasets here are so large that no copy of all elements would end."""

import h5py
import numpy as np
import pytest
from property_lists import insert_numbers

HUGE = (1 << 24, 1 << 22)  # 2^46 elements
CHUNK = (1 << 10, 1 << 10)
PLACES = [(0, 0), (5000, 70000), (5000, 70000 + (1 << 10)), (HUGE[0] - 1, HUGE[1] - 1)]


def chunks_on_disk(array):
    return sum(1 for path in array.rglob("*") if path.is_file() and path.name != "zarr.json")


def write_places(data):
    for number, place in enumerate(PLACES):
        data[place] = number + 1


def check_places(data, fill):
    for number, place in enumerate(PLACES):
        assert data[place] == number + 1
    assert data[1, 1] == fill and data[HUGE[0] // 2, HUGE[1] // 2] == fill
    assert (data[5000, 69998:70003] == [fill, fill, 2, fill, fill]).all()


@pytest.mark.parametrize("dtype, fill", [("i4", None), ("f8", -1.5), (">u2", 7)])
def test_huge_from_hdf5(tmp_path, dtype, fill):
    with h5py.File(tmp_path / "x.h5", "w") as source, h5py.File(tmp_path / "y.zarr", "w") as target:
        write_places(source.create_dataset("d", HUGE, dtype, chunks=CHUNK, fillvalue=fill))
        stored = source["d"].id.get_num_chunks()
        target.copy(source["d"], "d")
        check_places(target["d"], fill or 0)
        target.flush()
        assert chunks_on_disk(tmp_path / "y.zarr" / "d") <= stored


def test_nothing_written(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as source, h5py.File(tmp_path / "y.zarr", "w") as target:
        source.create_dataset("chunked", HUGE, "f4", chunks=CHUNK, fillvalue=3)
        source.create_dataset("contiguous", HUGE, "f4")
        for name, fill in (("chunked", 3), ("contiguous", 0)):
            target.copy(source[name], name)
            assert target[name][9, 9] == fill and chunks_on_disk(tmp_path / "y.zarr" / name) == 0


@pytest.mark.parametrize("shards", [None, (1 << 11, 1 << 11)], ids=["chunks", "shards"])
@pytest.mark.parametrize("fill", [None, -2])
def test_large_from_store(tmp_path, shards, fill):
    """2^38 elements in 2^18 chunks."""
    shape = (1 << 19, 1 << 19)
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if shards:
        insert_numbers(dcpl, b"zarr:shard_shape", shards)
    with h5py.File(tmp_path / "x.zarr", "w") as source, h5py.File(tmp_path / "y.h5", "w") as target:
        data = source.create_dataset("d", shape, "i4", chunks=CHUNK, fillvalue=fill, dcpl=dcpl)
        data[70000, 5] = 1
        data[0, shape[1] - 1] = 2
        source.copy("d", target)
        assert target["d"][70000, 5] == 1 and target["d"][0, -1] == 2 and target["d"][1, 1] == (fill or 0)
        assert target["d"].id.get_num_chunks() <= 32  # those of the two shards, which the option shards makes, too


def test_huge_from_store(tmp_path):
    """2^46 elements in 2^26 chunks, and 10^12 in 10^10 shards."""
    with h5py.File(tmp_path / "x.zarr", "w") as source, h5py.File(tmp_path / "y.h5", "w") as target:
        write_places(source.create_dataset("d", HUGE, "i4", chunks=CHUNK, fillvalue=6))
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        insert_numbers(dcpl, b"zarr:shard_shape", (10, 10))
        tiny = source.create_dataset("tiny", (10**6, 10**6), "u1", chunks=(1, 1), dcpl=dcpl)
        tiny[0, 0], tiny[999_999, 5], tiny[7, 999_999] = 1, 2, 3
        for name in ("d", "tiny"):
            source.copy(name, target)
        check_places(target["d"], 6)
        tiny = target["tiny"]
        assert [tiny[0, 0], tiny[999_999, 5], tiny[7, 999_999], tiny[1, 1]] == [1, 2, 3, 0]
        assert tiny.id.get_num_chunks() <= 400  # those of the shards


@pytest.mark.parametrize("kinds", [("h5", "zarr"), ("zarr", "h5")], ids="-".join)
@pytest.mark.parametrize("seed", range(6))
def test_like_the_source(tmp_path, kinds, seed):
    """Random chunks of random grids, edges included, of which the two sides may differ."""
    random = np.random.default_rng(seed)
    names = [tmp_path / f"{at}.{kind}" for at, kind in enumerate(kinds)]
    with h5py.File(names[0], "w") as source, h5py.File(names[1], "w") as target:
        for number in range(12):
            ndim = int(random.integers(1, 4))
            shape = tuple(int(n) for n in random.integers(1, 40, ndim))
            chunk = tuple(int(random.integers(1, n + 1)) for n in shape)
            fill = random.choice([0, 9])
            data = source.create_dataset(f"d{number}", shape, "i2", chunks=chunk, fillvalue=fill)
            for _ in range(int(random.integers(0, 5))):
                data[tuple(int(random.integers(n)) for n in shape)] = int(random.integers(1, 100))
            target.copy(data, data.name)
            assert (target[data.name][...] == data[...]).all()


def test_damaged_chunk_is_no_missing_one(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as source:
        source.create_dataset("d", (100,), "i4", chunks=(10,))[35] = 1
    chunk = tmp_path / "x.zarr" / "d" / "c" / "7"
    chunk.mkdir()
    with h5py.File(tmp_path / "x.zarr") as source, h5py.File(tmp_path / "y.h5", "w") as target:
        with pytest.raises(RuntimeError, match="array /d, chunk c/7"):
            source.copy("d", target)
