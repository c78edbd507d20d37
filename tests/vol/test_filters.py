# SPDX-License-Identifier: MIT
"""Codecs as HDF5's filters: of version 2 and 3, those that HDF5 must have a plugin for, and h5dump
and h5repack with filters."""

import ctypes
import json

import h5py
import numpy as np
import pytest
import zarr
from conftest import build_dir, run, tool
from property_lists import library
from test_codecs import create

DATA = (np.arange(400, dtype="i4") % 50).reshape(20, 20)

FUNCTION = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_uint, ctypes.c_size_t, ctypes.c_void_p,
                            ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p)


class FilterClass(ctypes.Structure):
    _fields_ = [("version", ctypes.c_int), ("id", ctypes.c_int), ("encoder_present", ctypes.c_uint),
                ("decoder_present", ctypes.c_uint), ("name", ctypes.c_char_p),
                ("can_apply", ctypes.c_void_p), ("set_local", ctypes.c_void_p), ("filter", FUNCTION)]


@pytest.fixture
def registered():
    """HDF5 with filters 307, 32001, 32004 and 32015, which do nothing: they are only shown."""
    call = FUNCTION(lambda flags, count, values, size, room, data: size)
    library.H5Zregister.argtypes = [ctypes.c_void_p]
    library.H5Zunregister.argtypes = [ctypes.c_int]
    ids = (307, 32001, 32004, 32015)
    classes = [FilterClass(1, number, 1, 1, b"test", None, None, call) for number in ids]
    for one in classes:
        assert library.H5Zregister(ctypes.byref(one)) >= 0
    yield
    for number in ids:
        assert library.H5Zunregister(number) >= 0


def pipeline(dataset):
    plist = dataset.id.get_create_plist()
    return [(code, values) for code, _, values, _ in map(plist.get_filter, range(plist.get_nfilters()))]


def codec(name, **configuration):
    return {"name": name, "configuration": configuration}


# Codecs behind bytes, and the filters: shuffle and blosc tell the size of elements,
# blosc that of chunks, too.
SHOWN = {
    "gzip": ([codec("gzip", level=7)], [(1, (7,))]),
    "zstd": ([codec("zstd", level=5, checksum=False)], [(32015, (5,))]),
    "numcodecs": ([codec("numcodecs.shuffle", elementsize=4), codec("numcodecs.zlib", level=2)], [(2, ()), (1, (2,))]),
    "fletcher32": ([codec("numcodecs.fletcher32")], [(3, ())]),
    "crc32c": ([codec("gzip", level=1), {"name": "crc32c"}], [(1, (1,)), (3, ())]),
    "blosc": ([codec("blosc", cname="lz4", clevel=3, shuffle="bitshuffle", typesize=4, blocksize=0)],
              [(32001, (2, 2, 4, 480, 3, 2, 1))]),
    "blosc as filters": ([codec("blosc", cname="zlib", clevel=3, shuffle="shuffle", typesize=4, blocksize=0)],
                         [(2, ()), (1, (3,))]),
    "numcodecs.blosc": ([codec("numcodecs.blosc", cname="zstd", clevel=9, shuffle=-1)],
                        [(32001, (2, 2, 4, 480, 9, 1, 5))]),
    "numcodecs.blosc by default": ([codec("numcodecs.blosc")], [(32001, (2, 2, 4, 480, 5, 1, 1))]),
    "lz4": ([codec("numcodecs.lz4", acceleration=1)], [(32004, ())]),
    "no form": ([codec("numcodecs.adler32")], []),
}


@pytest.mark.parametrize("case", SHOWN)
def test_shown(case, tmp_path, registered):
    chain, filters = SHOWN[case]
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as file:
        create(file, [codec("bytes", endian="little"), *chain])
    with h5py.File(path, "r") as file:
        got = pipeline(file["d"])
        assert [code for code, _ in got] == [code for code, _ in filters]
        for (number, values), (_, want) in zip(got, filters):
            assert number == 2 or values == want


def test_filters_without_a_plugin_are_not_shown(tmp_path):
    """h5repack and h5diff would pass the dataset over."""
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        create(file, [codec("bytes", endian="little"), codec("zstd", level=5, checksum=False)])
        assert pipeline(file["d"]) == []


def test_version_2(tmp_path):
    from numcodecs import Shuffle, Zlib

    array = zarr.create_array(tmp_path / "x.zarr", shape=DATA.shape, chunks=(7, 20), dtype="i4", zarr_format=2,
                              filters=[Shuffle(4)], compressors=Zlib(3), fill_value=0)
    array[...] = DATA
    with h5py.File(tmp_path / "x.zarr", "r") as file:
        (data,) = file.values()
        assert (data.compression, data.compression_opts, data.shuffle, data.fletcher32) == ("gzip", 3, True, False)
        assert (data[...] == DATA).all()
    tool("h5repack", tmp_path / "x.zarr", tmp_path / "y.h5", connector="zarr")
    with h5py.File(tmp_path / "y.h5", "r") as file:
        (data,) = file.values()
        assert (data.compression, data.compression_opts, data.shuffle) == ("gzip", 3, True)
        assert (data[...] == DATA).all()
    tool("h5repack", tmp_path / "x.zarr", tmp_path / "z.zarr", connector="zarr")
    (copied,) = zarr.open_group(str(tmp_path / "z.zarr"), mode="r").arrays()
    assert (copied[1][...] == DATA).all()



@pytest.mark.parametrize("filters, codecs, shown", [
    (["GZIP=5"], ["gzip"], ("gzip", 5, False, False)),
    (["SHUF", "GZIP=3"], ["blosc"], ("gzip", 3, True, False)),
    (["SHUF"], [], (None, None, True, False)),  # which `_hdf5` keeps, since it changes no data
    (["FLET"], ["crc32c"], (None, None, False, True)),
    (["SHUF", "GZIP=3", "FLET"], ["blosc", "crc32c"], ("gzip", 3, True, True)),
    (["NONE"], [], (None, None, False, False)),
])
@pytest.mark.parametrize("before", [{}, {"compression": "gzip", "shuffle": True}])
def test_h5repack(filters, codecs, shown, before, tmp_path):
    one, store, again, back = (tmp_path / name for name in ("a.h5", "b.zarr", "c.zarr", "d.h5"))
    words = [word for name in filters for word in ("-f", name)]
    with h5py.File(one, "w") as file:
        file.create_dataset("d", data=DATA, chunks=(7, 20), **before)
    tool("h5repack", *words, one, store, connector="zarr")
    tool("h5repack", one, tmp_path / "plain.zarr", connector="zarr")
    tool("h5repack", *words, tmp_path / "plain.zarr", again, connector="zarr")
    for path in (store, again):
        array = zarr.open_group(str(path), mode="r")["d"]
        assert [c.to_dict()["name"] for c in array.metadata.codecs[1:]] == codecs
        assert (array[...] == DATA).all()
    tool("h5repack", *words, tmp_path / "plain.zarr", back, connector="zarr")
    tool("h5repack", store, tmp_path / "kept.h5", connector="zarr")
    for path in (store, again, tmp_path / "kept.h5"):
        with h5py.File(path, "r") as file:
            data = file["d"]
            assert (data.compression, data.compression_opts, data.shuffle, data.fletcher32) == shown
            assert (data[...] == DATA).all()
    with h5py.File(back, "r") as file:
        assert file["d"].shuffle == ("SHUF" in filters) and (file["d"][...] == DATA).all()


@pytest.mark.parametrize("shape, chunk", [((5,), (10,)), ((5,), (3,)), ((40,), (10,))])
def test_a_list_is_used_again_for_other_chunks(shape, chunk, tmp_path, registered):
    """The bytes of a chunk among blosc's values are those of the dataset that the list is from."""
    chain = [codec("transpose", order=[0]), codec("bytes", endian="little"),
             codec("blosc", cname="lz4", clevel=3, shuffle="bitshuffle", typesize=4, blocksize=512)]
    array = {"zarr_format": 3, "node_type": "array", "shape": list(shape), "data_type": "int32", "fill_value": 0,
             "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunk)}},
             "chunk_key_encoding": {"name": "default"}, "codecs": chain}
    path = tmp_path / "x.zarr"
    (path / "d").mkdir(parents=True)
    (path / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
    (path / "d" / "zarr.json").write_text(json.dumps(array))
    with h5py.File(path, "r+") as file:
        same, other = (file["d"].id.get_create_plist() for _ in range(2))
        other.set_chunk((4,))
        kind, space = h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple(shape)
        h5py.h5d.create(file.id, b"same", kind, space, same)
        h5py.h5d.create(file.id, b"other", kind, space, other)
    for name in ("same", "other"):
        assert json.loads((path / name / "zarr.json").read_text())["codecs"] == chain, name


def test_values_that_filters_set(tmp_path):
    """Blosc writes the sizes of elements and chunks into its values, where PyTables reads them."""
    done = run([build_dir() / "tests" / "vol" / "vol-c-filter_values", tmp_path], "zarr")
    assert done.returncode == 0, done.stdout + done.stderr
    with h5py.File(tmp_path / "t.zarr", "r") as file:
        for name in file:
            document = json.loads((tmp_path / "t.zarr" / name / "zarr.json").read_text())
            assert document["codecs"][1]["configuration"]["blocksize"] == 0


def test_h5dump_prints_filters(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        file.create_dataset("d", data=DATA, chunks=(7, 20), compression=6, shuffle=True, fletcher32=True)
    shown = tool("h5dump", "-p", "-H", tmp_path / "x.zarr")
    assert "CHUNKED ( 7, 20 )" in shown and "COMPRESSION DEFLATE { LEVEL 6 }" in shown
    assert "PREPROCESSING SHUFFLE" in shown and "CHECKSUM FLETCHER32" in shown
