# SPDX-License-Identifier: MIT
"""Datasets by unmodified h5py: properties, types, and every kind of selection against NumPy."""

import ctypes

import h5py
import numpy as np
import pytest
import zarr
from conftest import CUBE, NUMERIC, RAMP, numbers, put
from property_lists import property_of


@pytest.fixture
def f(tree):
    with h5py.File(tree, "r") as file:
        yield file


def test_properties(f):
    d = f["a"]
    assert (d.shape, d.dtype, d.chunks, d.fillvalue) == ((512, 512), np.dtype("<i2"), (64, 64), -5)
    assert (d.maxshape, d.size, d.ndim, d.nbytes, len(d)) == ((512, 512), 512 * 512, 2, 524288, 512)
    assert (d.compression, d.compression_opts, d.shuffle, d.fletcher32) == ("gzip", 3, False, False)
    assert d.scaleoffset is None and d.external is None and not d.is_virtual
    assert f["g/b"].chunks == (5, 10, 30) and f["g/b"].fillvalue == 0
    assert f["g/s"].shape == () and f["g/s"].chunks is None
    assert d.id.get_num_chunks() == 64 and d.id.get_offset() is None
    assert 0 < d.id.get_storage_size() < 1 << 20


def test_chunk_is_cut_to_the_array(new_store):
    path, group = new_store()
    put(group, "d", np.zeros((10, 300)), chunks=(64, 64))
    with h5py.File(path, "r") as f:
        assert f["d"].chunks == (10, 64)


def test_shard_shape_is_a_property(f):
    shape = property_of(f["a"].id.get_create_plist(), b"zarr:shard_shape")
    assert list(np.frombuffer(shape, "u8")) == [256, 256]
    assert property_of(f["g/b"].id.get_create_plist(), b"zarr:shard_shape") is None


@pytest.mark.parametrize("codec, filters", [
    (zarr.codecs.GzipCodec(level=7), {"gzip": 7}),
    (None, {}),
])
def test_filters(new_store, codec, filters):
    path, group = new_store()
    put(group, "d", np.zeros(100), compressors=codec)
    with h5py.File(path, "r") as f:
        d = f["d"]
        assert (d.compression, d.compression_opts) == (
            next(iter(filters.items())) if filters else (None, None))


def test_checksum_is_shown_as_fletcher32(new_store):
    path, group = new_store()
    put(group, "d", np.zeros(100), compressors=[zarr.codecs.Crc32cCodec()])
    with h5py.File(path, "r") as f:
        assert f["d"].fletcher32


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_filters_of_netcdf_are_shown(new_store):
    """As references to netCDF files have them."""
    from numcodecs import zarr3

    path, group = new_store()
    put(group, "d", np.arange(100), compressors=[zarr3.Shuffle(elementsize=8), zarr3.Zlib(level=4),
                                                 zarr3.Fletcher32()])
    put(group, "default", np.arange(100), compressors=[zarr3.Zlib()])
    with h5py.File(path, "r") as f:
        d = f["d"]
        assert (d.compression, d.compression_opts, d.shuffle, d.fletcher32) == ("gzip", 4, True, True)
        assert (f["default"].compression_opts, f["default"].shuffle) == (1, False)
        assert np.array_equal(d[...], np.arange(100)) and np.array_equal(f["default"][...], d[...])


@pytest.mark.parametrize("dtype", NUMERIC)
def test_types(f, dtype):
    d = f["types"][dtype]
    assert d.dtype == np.dtype(dtype)
    assert np.array_equal(d[...], numbers(dtype)) and d[3] == numbers(dtype)[3]


def test_bool(f):
    d = f["e"]
    assert d.dtype == bool and list(d[...]) == [False, True, False, True] and d[1]
    assert list(d.astype("u1")[...]) == [0, 1, 0, 1]


def test_complex_and_its_parts(f):
    d = f["c"]
    want = np.arange(5) - 1j * np.arange(5)
    assert np.array_equal(d[...], want) and d[2] == 2 - 2j
    assert np.array_equal(d.astype("c8")[...], want.astype("c8"))
    assert np.array_equal(d.astype(">c16")[1:], want[1:])
    one = np.zeros(5, [("i", "f8")])  # one member of the compound: HDF5's conversion
    d.id.read(h5py.h5s.ALL, h5py.h5s.ALL, one, h5py.h5t.py_create(one.dtype))
    assert np.array_equal(one["i"], want.imag)
    swapped = np.dtype([("i", "f8"), ("r", "f8")])
    out = np.zeros(5, swapped)
    d.id.read(h5py.h5s.ALL, h5py.h5s.ALL, out, h5py.h5t.py_create(swapped))
    assert np.array_equal(out["r"], want.real) and np.array_equal(out["i"], want.imag)


def test_members_that_are_not_read_keep_their_values(f):
    """A compound with a member that the file lacks: HDF5 leaves it alone, so must we."""
    kind = np.dtype([("r", "f8"), ("other", "i4")])
    out = np.full(5, 7, kind)
    f["c"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, out, h5py.h5t.py_create(kind))
    assert list(out["r"]) == [0, 1, 2, 3, 4] and list(out["other"]) == [7] * 5


def test_raw_bytes(tmp_path):
    (tmp_path / "r.zarr" / "c").mkdir(parents=True)
    (tmp_path / "r.zarr" / "zarr.json").write_text(
        '{"zarr_format":3,"node_type":"array","shape":[2],"data_type":"r24","chunk_grid":'
        '{"name":"regular","configuration":{"chunk_shape":[2]}},"chunk_key_encoding":'
        '{"name":"default"},"fill_value":[1,2,3],"codecs":[{"name":"bytes"}],"attributes":{}}')
    (tmp_path / "r.zarr" / "c" / "0").write_bytes(b"abcdef")
    with h5py.File(tmp_path / "r.zarr", "r") as f:
        assert f["r"].dtype == np.dtype("V3")
        assert [bytes(v) for v in f["r"][...]] == [b"abc", b"def"]


@pytest.mark.parametrize("target", ["i1", "u1", "i4", "u8", "f2", "f4", "f8", ">i2", ">f8"])
def test_conversion_is_hdf5s(new_store, tmp_path, target):
    """Out of range, fractions and infinities: the same as from an HDF5 file. (HDF5's result for NaN
    depends on the machine; we make it 0.)"""
    sources = {
        "f8": [-1e300, -129.5, -0.6, 0.4, 127.9, 300, 65535.7, 2**40 + 0.5, 1e300],
        "f4": [0, np.inf, -np.inf, 1.5, -1.5, 300, -300, 3e38, 1e-40],
        "i8": [-2**63, -2**31 - 1, -129, -1, 0, 200, 65536, 2**53 + 1, 2**63 - 1],
        "u8": [0, 127, 128, 255, 256, 2**31, 2**53 + 1, 2**63, 2**64 - 1],
    }
    path, group = new_store()
    with h5py.File(tmp_path / "native.h5", "w") as native:
        for source, values in sources.items():
            data = np.array(values, source)
            put(group, source, data, chunks=(4,))
            native[source] = data
        with h5py.File(path, "r") as f:
            for source in sources:
                got, want = (x[source].astype(target)[...] for x in (f, native))
                assert np.array_equal(got, want, equal_nan=got.dtype.kind == "f"), (source, got)


def test_nan_becomes_zero(new_store):
    path, group = new_store()
    put(group, "d", np.array([np.nan, 1, -np.nan], "f4"))
    with h5py.File(path, "r") as f:
        assert list(f["d"].astype("i4")[...]) == list(f["d"].astype("u1")[...]) == [0, 1, 0]


def test_impossible_conversion(f):
    with pytest.raises((TypeError, OSError), match="conver"):
        f["a"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, np.zeros((512, 512), "S4"),
                       h5py.h5t.py_create(np.dtype("S4")))


SELECTIONS = [
    np.s_[...], np.s_[:], np.s_[()], np.s_[5], np.s_[-1, -1], np.s_[3, 4], np.s_[0:0],
    np.s_[10:200:3, 7], np.s_[100:400, 250:260], np.s_[::2, ::3], np.s_[::4, 511],
    np.s_[[1, 5, 300]], np.s_[:, [2, 400]], np.s_[[0, 1, 2, 511], 5:9], np.s_[7:8, ::200],
    np.s_[63:65, 255:257], np.s_[np.arange(512) % 5 == 0, 3],
]


@pytest.mark.parametrize("selection", SELECTIONS, ids=repr)
def test_selections(f, selection):
    got = f["a"][selection]
    assert np.array_equal(got, RAMP[selection]) and np.shape(got) == RAMP[selection].shape


def test_selections_of_a_cube(f):
    d = f["g/b"]
    assert np.array_equal(d[1:9:3, ..., 2], CUBE[1:9:3, ..., 2])
    assert np.array_equal(d[1, 2:4, [1, 5, 7]], CUBE[1, 2:4][:, [1, 5, 7]])
    assert np.array_equal(d[:, 3], CUBE[:, 3]) and np.array_equal(d[..., -1], CUBE[..., -1])


def test_masks(f):
    d = f["a"]
    mask = RAMP % 7 == 0
    assert np.array_equal(d[mask], RAMP[mask])
    assert d[np.zeros((512, 512), bool)].size == 0
    few = np.zeros((512, 512), bool)
    few[3, 4] = few[400, 1] = True
    assert list(d[few]) == list(RAMP[few])


def test_iteration(f):
    d = f["a"]
    assert np.array_equal(next(iter(d)), RAMP[0])
    assert sum(int(d[s].sum(dtype="i8")) for s in d.iter_chunks()) == RAMP.sum(dtype="i8")
    assert np.array_equal(np.asarray(d), RAMP)
    assert np.array_equal(np.array(d, dtype="f4")[1], RAMP[1].astype("f4"))
    assert f["g/s"][()] == 3.25 and f["g/s"][...] == np.array(3.25)


def hyperslabs(extent, rng):
    """A random dataspace selection, and the flat indices of its elements in HDF5's order."""
    space = h5py.h5s.create_simple(extent)
    marks = np.zeros(extent, bool)
    for i in range(rng.integers(1, 4)):
        start, stride, count, block = [], [], [], []
        for n in extent:
            b = int(rng.integers(1, 4))
            step = b + int(rng.integers(0, 3))
            s = int(rng.integers(0, n - b + 1))
            c = int(rng.integers(1, (n - s - b) // step + 2))
            start.append(s), stride.append(step), count.append(c), block.append(b)
        grids = [np.concatenate([np.arange(s + k * t, s + k * t + b) for k in range(c)])
                 for s, t, c, b in zip(start, stride, count, block)]
        marks[np.ix_(*grids)] = True
        how = h5py.h5s.SELECT_OR if i else h5py.h5s.SELECT_SET
        space.select_hyperslab(tuple(start), tuple(count), tuple(stride), tuple(block), op=how)
    return space, np.flatnonzero(marks)


@pytest.mark.parametrize("seed", range(60))
def test_random_selections_on_both_sides(f, seed):
    """OR-ed hyperslabs with blocks, and points, in the file and in memory, with a conversion."""
    rng = np.random.default_rng(seed)
    d = f["g/b"]
    if seed % 3 == 2:
        picks = rng.permutation(CUBE.size)[:200]
        space = h5py.h5s.create_simple(CUBE.shape)
        space.select_elements(np.stack(np.unravel_index(picks, CUBE.shape), axis=1))
    else:
        space, picks = hyperslabs(CUBE.shape, rng)
    extent = (int(rng.integers(3, 9)), 2 * len(picks))
    memory = h5py.h5s.create_simple(extent)
    places = np.sort(rng.permutation(extent[0] * extent[1])[: len(picks)])
    if seed % 2:  # one run in memory
        places = np.arange(5, 5 + len(picks))
        memory = h5py.h5s.create_simple((places[-1] + 3,))
        memory.select_hyperslab((5,), (len(picks),))
        extent = (int(places[-1]) + 3,)
    else:
        memory.select_elements(np.stack(np.unravel_index(places, extent), axis=1))
    out = np.full(extent, -1, [np.float32, np.float64, np.dtype(">i4")][seed % 3])
    d.id.read(memory, space, out)
    want = np.full(out.size, -1, out.dtype)
    want[places] = CUBE.ravel()[picks]
    assert np.array_equal(out.ravel(), want)


@pytest.mark.parametrize("source, place", [
    (np.s_[10:20, 30:50], np.s_[1:11, 2:22]), (np.s_[::64, 3], np.s_[0, 0:8]),
    (np.s_[0:4, 0:512:4], np.s_[0:8:2, 2:130]), (np.s_[5], np.s_[:512, 1]),
])
def test_read_direct(f, source, place):
    for dtype in ("f8", ">i4"):
        out = np.zeros((600, 600), dtype)
        f["a"].read_direct(out, source, place)
        want = np.zeros((600, 600), dtype)
        want[place] = RAMP[source]
        assert np.array_equal(out, want)


def test_selection_errors(f):
    d = f["a"]
    out = np.zeros(10, "i2")
    small, wrong = h5py.h5s.create_simple((10,)), h5py.h5s.create_simple((100, 100))
    with pytest.raises((ValueError, OSError), match="100 .*elements|memory selection 10"):
        d.id.read(small, wrong, out)
    file = d.id.get_space()
    file.select_hyperslab((0, 0), (3, 3))
    with pytest.raises((ValueError, OSError), match="file selection has 9 elements"):
        d.id.read(small, file, out)


def test_missing_chunks_are_fill(new_store):
    path, group = new_store()
    group.create_array("d", shape=(100, 100), chunks=(10, 10), dtype="f4", fill_value=np.nan)
    with h5py.File(path, "r") as f:
        assert np.isnan(f["d"][5:50]).all() and np.isnan(f["d"].fillvalue)


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), (1,), (1, 1, 1, 1, 1, 1, 1)])
def test_odd_shapes(new_store, shape):
    path, group = new_store()
    put(group, "d", np.ones(shape), chunks=tuple(max(n, 1) for n in shape))
    with h5py.File(path, "r") as f:
        assert f["d"].shape == shape and np.array_equal(f["d"][...], np.ones(shape))
