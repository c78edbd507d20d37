# SPDX-License-Identifier: MIT
"""Conversions that change no encoding: encoded chunks move between HDF5 files and stores, as they are or in another
wrapping. Elements stay the same whatever the filters, masks, edges and fills are."""

import ctypes
import random
import zlib

import h5py
import numpy as np
import pytest
import zarr
from conftest import run, tool
from numcodecs import Blosc, Zstd
from property_lists import library

ZSTD, BLOSC = 32015, 32001
SHAPE, CHUNK = (20, 30), (8, 10)
PLACES = [(y, x) for y in (0, 8, 16) for x in (0, 10, 20)]
DATA = (np.arange(600) * 7 % 1000).astype("i4").reshape(SHAPE)


def whole(data, place, fill=0):
    """The chunk there, with fill values beyond the edge."""
    out = np.full(CHUNK, fill, data.dtype)
    part = data[place[0]:place[0] + CHUNK[0], place[1]:place[1] + CHUNK[1]]
    out[:part.shape[0], :part.shape[1]] = part
    return out


def create_with_filter(file, number, values, dtype="i4"):
    """This libhdf5 need not have the filter: chunks are written directly."""
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dcpl.set_chunk(CHUNK)
    dcpl.set_filter(number, h5py.h5z.FLAG_OPTIONAL, values)
    space = h5py.h5s.create_simple(SHAPE)
    h5py.h5d.create(file.id, b"d", h5py.h5t.py_create(np.dtype(dtype)), space, dcpl)
    return file["d"]


def make(path, kind, data=DATA):
    with h5py.File(path, "w") as file:
        if kind in ("zstd", "blosc"):
            number, values = (ZSTD, (3,)) if kind == "zstd" else (BLOSC, (2, 2, 4, 320, 5, 1, 1))
            encode = (Zstd(3) if kind == "zstd" else Blosc("lz4", 5, Blosc.SHUFFLE)).encode
            dataset = create_with_filter(file, number, values)
            for place in PLACES:
                dataset.id.write_direct_chunk(place, encode(whole(data, place)))
            return
        options = {"gzip": {"compression": "gzip", "compression_opts": 7},
                   "both": {"compression": "gzip", "shuffle": True},
                   "all": {"compression": "gzip", "shuffle": True, "fletcher32": True},
                   "fletcher": {"fletcher32": True}, "plain": {}, "shuffle": {"shuffle": True},
                   "big": {"dtype": ">i4", "compression": "gzip"}}[kind]
        file.create_dataset("d", data=data, chunks=CHUNK, **options)


def chunks_of(path):
    with h5py.File(path) as file:
        return {place: file["d"].id.read_direct_chunk(place)[1] for place in PLACES}


def stored(store, place):
    return (store / "d/c" / str(place[0] // 8) / str(place[1] // 10)).read_bytes()


def inside_gzip(chunk):
    return chunk[10:-8]


def convert(source, target):
    """By h5repack; what the connector says of the way."""
    done = run(["env", "ZARRBRIDGE_VERBOSE=1", "h5repack", source, target], "zarr")
    assert done.returncode == 0, done.stderr
    return done.stderr


# What of HDF5's bytes stands where in the store's.
STAY = {"gzip": lambda old, new: inside_gzip(new) == old[2:-4],
        "both": lambda old, new: new[24:] == old,
        "all": lambda old, new: new[24:-4] == old[:-4],
        "fletcher": lambda old, new: new[:-4] == old[:-4],
        "plain": lambda old, new: new == old,
        "zstd": lambda old, new: new == old,
        "blosc": lambda old, new: new == old,
        "big": lambda old, new: inside_gzip(new) == old[2:-4]}


@pytest.mark.parametrize("kind", STAY)
def test_bytes_stay(kind, tmp_path):
    source, store, back = tmp_path / "x.h5", tmp_path / "x.zarr", tmp_path / "y.h5"
    make(source, kind)
    assert "/d: encoded chunks move" in convert(source, store)
    assert np.array_equal(zarr.open(str(store), mode="r")["d"][:], DATA)
    old = chunks_of(source)
    for place in PLACES:
        assert STAY[kind](old[place], stored(store, place)), place
    if kind in ("gzip", "both", "all", "fletcher", "plain"):
        assert "/d: encoded chunks move" in convert(store, back)
        assert chunks_of(back) == old
        with h5py.File(back) as file:
            assert np.array_equal(file["d"][:], DATA)


@pytest.mark.parametrize("kind", ["all", "zstd", "big"])
def test_shards_hold_them_as_inner_chunks(kind, tmp_path):
    source, store, back = tmp_path / "x.h5", tmp_path / "x.zarr", tmp_path / "y.h5"
    make(source, kind)
    tool("h5repack", source, store, connector="zarr shards=16x20")
    array = zarr.open(str(store), mode="r")["d"]
    assert (array.chunks, array.shards) == (CHUNK, (16, 20)) and np.array_equal(array[:], DATA)
    first = chunks_of(source)[0, 0]
    part = {"gzip": first[2:-4], "big": first[2:-4], "all": first[:-4], "fletcher": first[:-4]}.get(kind, first)
    assert part in (store / "d/c/0/0").read_bytes()
    if kind not in ("zstd", "blosc"):
        tool("h5repack", store, back, connector="zarr")
        with h5py.File(back) as file:
            assert np.array_equal(file["d"][:], DATA)


@pytest.mark.parametrize("kind", ["gzip", "both", "fletcher"])
def test_damage_is_an_error_that_names_the_chunk(kind, tmp_path):
    source, store = tmp_path / "x.h5", tmp_path / "x.zarr"
    make(source, kind)
    with h5py.File(source) as file:
        info = file["d"].id.get_chunk_info_by_coord((8, 20))
    with open(source, "r+b") as raw:
        raw.seek(info.byte_offset + info.size // 2)
        byte = raw.read(1)[0]
        raw.seek(-1, 1)
        raw.write(bytes([byte ^ 0x40]))
    done = run(["h5repack", "--enable-error-stack", source, store], "zarr")
    assert done.returncode != 0 and "chunk c/1/2" in done.stderr, done.stderr


def test_damage_in_a_store_is_an_error_that_names_the_chunk(tmp_path):
    store, back = tmp_path / "x.zarr", tmp_path / "y.h5"
    make(tmp_path / "x.h5", "gzip")
    tool("h5repack", tmp_path / "x.h5", store, connector="zarr")
    path = store / "d/c/1/2"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x40
    path.write_bytes(data)
    done = run(["h5repack", "--enable-error-stack", store, back], "zarr")
    assert done.returncode != 0 and "chunk c/1/2" in done.stderr, done.stderr


def test_filters_that_were_left_out(tmp_path):
    """Each chunk has a mask of its own."""
    source, store, back = tmp_path / "x.h5", tmp_path / "x.zarr", tmp_path / "y.h5"
    make(source, "all")
    with h5py.File(source, "r+") as file:
        dataset = file["d"]
        for place, mask in zip(PLACES, (7, 5, 6, 4, 0, 7, 3, 0, 7)):
            part = whole(DATA, place)
            data = part.tobytes()
            if not mask & 1:
                data = part.view("u1").reshape(-1, 4).T.tobytes()
            if not mask & 2:
                data = zlib.compress(data)
            if mask & 4:
                dataset.id.write_direct_chunk(place, data, mask)
        assert np.array_equal(dataset[:], DATA)
    tool("h5repack", source, store, connector="zarr")
    assert np.array_equal(zarr.open(str(store), mode="r")["d"][:], DATA)
    tool("h5repack", store, back, connector="zarr")
    with h5py.File(back) as file:
        assert np.array_equal(file["d"][:], DATA)


def test_edges_that_are_not_filtered(tmp_path):
    source, store = tmp_path / "x.h5", tmp_path / "x.zarr"
    with h5py.File(source, "w", libver="latest") as file:
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk(CHUNK)
        dcpl.set_shuffle()  # which looks like any other bytes
        assert library.H5Pset_chunk_opts(ctypes.c_int64(dcpl.id), 2) == 0
        h5py.h5d.create(file.id, b"d", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple(SHAPE), dcpl)
        file["d"][:] = DATA
    tool("h5repack", source, store, connector="zarr")
    assert np.array_equal(zarr.open(str(store), mode="r")["d"][:], DATA)


@pytest.mark.parametrize("shards", ["off", "16x20"])
@pytest.mark.parametrize("fill", [None, 5])
def test_unwritten_chunks_stay_so(fill, shards, tmp_path):
    source, store, back = tmp_path / "x.h5", tmp_path / "x.zarr", tmp_path / "y.h5"
    want = np.full(SHAPE, fill or 0, "i4")
    with h5py.File(source, "w") as file:
        dataset = file.create_dataset("d", SHAPE, "i4", chunks=CHUNK, compression="gzip", fillvalue=fill)
        dataset[9, 3] = want[9, 3] = 77
    tool("h5repack", source, store, connector=f"zarr shards={shards}")
    assert np.array_equal(zarr.open(str(store), mode="r")["d"][:], want)
    assert len([path for path in (store / "d/c").rglob("*") if path.is_file()]) == 1
    tool("h5repack", store, back, connector="zarr")
    with h5py.File(back) as file:
        assert np.array_equal(file["d"][:], want) and file["d"].id.get_num_chunks() == 1


def random_case(seed):
    """Options of a dataset, its elements, and the chunks that are not written."""
    rng = random.Random(seed)
    shape = tuple(rng.randrange(1, 40) for _ in range(2))
    options = {"chunks": tuple(min(extent, rng.choice([1, 3, 5, 8, 13])) for extent in shape)}
    if rng.random() < 0.7:
        options.update(compression="gzip", compression_opts=rng.randrange(10))
    options["shuffle"] = rng.random() < 0.5
    options["fletcher32"] = rng.random() < 0.4
    if rng.random() < 0.3:
        options["maxshape"] = (None, None)
    dtype = rng.choice(["u1", "i2", ">i2", "i4", "<f4", ">f8", "f2", "c8", "?"])
    if dtype not in ("c8", "?") and rng.random() < 0.5:
        options["fillvalue"] = rng.choice([0, 1, 9])
    noise = np.random.default_rng(seed)
    data = (noise.integers(0, rng.choice([2, 90]), shape) > 0 if dtype == "?"
            else noise.integers(0, rng.choice([2, 90]), shape)).astype(dtype)
    shards = rng.choice(["off", "auto", "x".join(str(extent * rng.choice([1, 2, 3]))
                                                 for extent in options["chunks"])])
    return options, data, rng.random() < 0.4, shards


def test_random_datasets(tmp_path):
    source, store, back = tmp_path / "x.h5", tmp_path / "x.zarr", tmp_path / "y.h5"
    cases = {}
    with h5py.File(source, "w") as file:
        for seed in range(40):
            options, data, is_sparse, shards = random_case(seed)
            group = file.require_group(shards)
            dataset = group.create_dataset(str(seed), data.shape, data.dtype, **options)
            if is_sparse:
                dataset[:3, :3] = data[:3, :3]
            else:
                dataset[...] = data
            cases[f"{shards}/{seed}"] = dataset[...]
        kinds = list(file)
    for shards in kinds:
        tool("h5copy", "-p", "-i", source, "-o", store, "-s", shards, "-d", shards, connector=f"zarr shards={shards}")
        tool("h5copy", "-p", "-i", store, "-o", back, "-s", shards, "-d", shards, connector="zarr")
    root = zarr.open(str(store), mode="r")
    with h5py.File(back) as file:
        for name, want in cases.items():
            assert np.array_equal(root[name][...], want), name
            assert np.array_equal(file[name][...], want), name


@pytest.mark.parametrize("options, data, said", [
    ({"chunks": (4, 4), "compression": "gzip"}, np.eye(9) > 0, "elements are copied: they are no plain numbers"),
    ({}, np.eye(9), "elements are copied: chunks differ"),
    ({"chunks": (4, 4), "shuffle": True}, np.eye(9), "chunks are decoded and encoded: codecs differ"),
])
def test_the_way_is_told(options, data, said, tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("d", data=data, **options)
    assert "zarrbridge: /d: " + said in convert(tmp_path / "x.h5", tmp_path / "x.zarr")
    assert np.array_equal(zarr.open(str(tmp_path / "x.zarr"), mode="r")["d"][:], data)
