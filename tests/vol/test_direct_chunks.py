# SPDX-License-Identifier: MIT
"""H5Dread_chunk and H5Dwrite_chunk: the bytes are those that an HDF5 file with the same creation list
holds, whatever codecs the store has."""

import zlib
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from property_lists import insert_numbers

DATA = (np.arange(20 * 30) * 7 % 1000).astype("i4").reshape(20, 30)
KINDS = {
    "plain": {}, "gzip": {"compression": "gzip", "compression_opts": 5}, "shuffle": {"shuffle": True},
    "both": {"compression": "gzip", "shuffle": True}, "fletcher": {"fletcher32": True},
    "all": {"compression": "gzip", "shuffle": True, "fletcher32": True},
    "big": {"dtype": ">f8"}, "fill": {"fillvalue": -3},
    "enum": {"dtype": h5py.enum_dtype({"A": 0, "B": 999}, "u2")}, "text": {"dtype": "S4"},
    "compound": {"dtype": np.dtype([("a", "i2"), ("b", ">f4")])},
}


def elements(kind):
    dtype = np.dtype(KINDS[kind].get("dtype", "i4"))
    if dtype.kind == "V":
        both = np.zeros(DATA.shape, dtype)
        both["a"], both["b"] = DATA, DATA / 3
        return both
    return DATA.astype(dtype)


def make(path, kind, **more):
    file = h5py.File(path, "w")
    options = {"dtype": "i4", "chunks": (8, 10), "maxshape": (None, None), **KINDS[kind], **more}
    return file, file.create_dataset("d", DATA.shape, **options)


PLACES = [(y, x) for y in (0, 8, 16) for x in (0, 10, 20)]


@pytest.mark.parametrize("kind", KINDS)
def test_as_in_hdf5(kind, tmp_path):
    native_file, native = make(tmp_path / "x.h5", kind)
    store_file, store = make(tmp_path / "x.zarr", kind)
    with native_file, store_file:
        for data in (native, store):
            data[...] = elements(kind)
        for place in PLACES:
            mask, want = native.id.read_direct_chunk(place)
            got_mask, got = store.id.read_direct_chunk(place)
            assert (got_mask, len(got)) == (mask, len(want))
            assert got == want, place
            assert store.id.get_chunk_info_by_coord(place).size == len(want)
            room = bytearray(len(want))
            assert store.id.read_direct_chunk(place, out=room)[0] == mask and bytes(room) == want


@pytest.mark.parametrize("kind", KINDS)
def test_from_file_to_store_and_back(kind, tmp_path):
    native_file, native = make(tmp_path / "x.h5", kind)
    store_file, store = make(tmp_path / "x.zarr", kind)
    back_file, back = make(tmp_path / "y.h5", kind)
    want = elements(kind)
    with native_file, store_file, back_file:
        native[...] = want
        for place in PLACES:
            store.id.write_direct_chunk(place, native.id.read_direct_chunk(place)[1])
            back.id.write_direct_chunk(place, store.id.read_direct_chunk(place)[1])
        assert np.array_equal(store[...], want) and np.array_equal(back[...], want)
    with h5py.File(tmp_path / "x.zarr", "r") as file:
        assert np.array_equal(file["d"][...], want)
    if kind in ("plain", "gzip", "both", "all", "fill"):
        assert np.array_equal(zarr.open_group(tmp_path / "x.zarr", mode="r")["d"][...], want)


def test_in_shards(tmp_path):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((8, 10))
    plist.set_deflate(3)
    insert_numbers(plist, b"zarr:shard_shape", (16, 20))
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        made = h5py.h5d.create(file.id, b"d", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple(DATA.shape), plist)
        chunk = np.full((8, 10), 6, "i4")
        made.write_direct_chunk((8, 10), zlib.compress(chunk.tobytes()))
        data = h5py.Dataset(made)
        assert (data[8:16, 10:20] == 6).all() and data[...].sum() == 6 * 80
        assert zlib.decompress(made.read_direct_chunk((8, 10))[1]) == chunk.tobytes()
        with pytest.raises(Exception, match="not been written|read chunk|chunk"):
            made.read_direct_chunk((0, 20))
    assert (zarr.open_group(tmp_path / "x.zarr", mode="r")["d"][8:16, 10:20] == 6).all()


def test_chunks_of_other_programs(tmp_path):
    """Codecs without a filter: the list shows none, and the chunk is its elements."""
    root = zarr.open_group(tmp_path / "x.zarr", mode="w")
    array = root.create_array("d", shape=(5,), chunks=(9,), dtype=">i2", fill_value=4,
                              filters=[zarr.codecs.TransposeCodec(order=(0,))],
                              compressors=[zarr.codecs.GzipCodec(level=1), zarr.codecs.Crc32cCodec()])
    array[...] = np.arange(5)
    with h5py.File(tmp_path / "x.zarr", "r") as file:
        of = file["d"].id
        assert of.get_create_plist().get_chunk() == (5,)  # cut to the array
        assert np.array_equal(file["d"][...], np.arange(5))
        size = of.get_chunk_info_by_coord((0,)).size
        assert len(of.read_direct_chunk((0,))[1]) == size


def test_what_waits_is_seen(tmp_path):
    file, data = make(tmp_path / "x.zarr", "gzip")
    with file:
        data[:3, :3] = 5
        values = np.frombuffer(zlib.decompress(data.id.read_direct_chunk((0, 0))[1]), "i4").reshape(8, 10)
        assert (values[:3, :3] == 5).all() and values.sum() == 45
        data.id.write_direct_chunk((0, 0), zlib.compress(np.full((8, 10), 2, "i4").tobytes()))
        data[0, 0] = 1
        assert data[0, 0] == 1 and data[:8, :10].sum() == 2 * 80 - 1


@pytest.mark.parametrize("kind", ["plain", "gzip", "fletcher"])
def test_what_is_refused_changes_nothing(kind, tmp_path):
    file, data = make(tmp_path / "x.zarr", kind)
    with file:
        data[...] = DATA
        good = data.id.read_direct_chunk((0, 0))[1]
        for place, chunk, mask in [((0, 0), good + b"\0", 1), ((0, 0), good[:-3], 0), ((0, 0), b"", 0), ((1, 0), good, 0),
                                   ((24, 0), good, 0), ((0, 0), b"\0" + good, 0)]:
            with pytest.raises((OSError, ValueError, RuntimeError)):
                data.id.write_direct_chunk(place, chunk, mask)
        with pytest.raises(Exception):
            data.id.read_direct_chunk((1, 0))
        assert np.array_equal(data[...], DATA)
    with h5py.File(tmp_path / "x.zarr", "r") as file, pytest.raises(Exception, match="write|read-only|intent"):
        file["d"].id.write_direct_chunk((0, 0), good)


@pytest.mark.parametrize("name", ["x.h5", "x.zarr"])
def test_filters_that_were_not_applied(name, tmp_path):
    """Shuffle, gzip and fletcher32: 1, 2 and 4 of the mask."""
    tile = np.arange(80, dtype="i4").reshape(8, 10)
    shuffled = tile.view("u1").reshape(80, 4).T.tobytes()
    chunks = [(tile.tobytes(), 0xffffffff), (tile.tobytes(), 7), (shuffled, 6), (zlib.compress(shuffled), 4),
              (zlib.compress(tile.tobytes()), 5)]
    with h5py.File(tmp_path / name, "w") as file:
        data = file.create_dataset("d", (8, 50), "i4", chunks=(8, 10), shuffle=True, compression="gzip", fletcher32=True)
        for i, (chunk, mask) in enumerate(chunks):
            data.id.write_direct_chunk((0, 10 * i), chunk, mask)
        assert (data[...] == np.tile(tile, 5)).all()
    with h5py.File(tmp_path / name, "r") as file:
        assert (file["d"][...] == np.tile(tile, 5)).all()
        assert name == "x.h5" or file["d"].id.read_direct_chunk((0, 0))[0] == 0


@pytest.mark.parametrize("size", [4, 80 * 4 - 4, 80 * 4 + 4, 100_000])
@pytest.mark.parametrize("kind", ["gzip", "both"])
def test_a_stream_of_another_size_is_refused(kind, size, tmp_path):
    """HDF5 takes it: beyond a short one are bytes of the process's memory."""
    file, data = make(tmp_path / "x.zarr", kind)
    with file:
        data[...] = DATA
        with pytest.raises(Exception, match="the chunk's 320 bytes"):
            data.id.write_direct_chunk((0, 0), zlib.compress(b"\1" * size))
        assert np.array_equal(data[...], DATA)


@pytest.mark.parametrize("dtype", [h5py.string_dtype(), h5py.vlen_dtype("i4")], ids=str)
def test_elements_of_any_length_are_refused(dtype, tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        data = file.create_dataset("d", (4,), dtype, chunks=(2,))
        data[0] = "x" if h5py.check_string_dtype(dtype) else np.arange(3)
        for call in (lambda: data.id.read_direct_chunk((0,)), lambda: data.id.write_direct_chunk((0,), b"x" * 32)):
            with pytest.raises(Exception, match="directly"):
                call()


def test_contiguous_datasets_have_none(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        file["d"] = DATA
        with pytest.raises(Exception, match="not chunked"):
            file["d"].id.write_direct_chunk((0, 0), DATA.tobytes())


def test_a_damaged_chunk_is_an_error(tmp_path):
    file, data = make(tmp_path / "x.zarr", "gzip")
    with file:
        data[...] = DATA
    chunk = Path(tmp_path / "x.zarr/d/c/0/0")
    chunk.write_bytes(chunk.read_bytes()[:-9])
    with h5py.File(tmp_path / "x.zarr", "r") as file, pytest.raises((OSError, RuntimeError), match="chunk c/0/0"):
        file["d"].id.read_direct_chunk((0, 0))
