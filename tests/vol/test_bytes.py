# SPDX-License-Identifier: MIT
"""Arrays of `bytes`: sequences of 8-bit unsigned integers in HDF5, read, written, made and copied."""

import base64
import ctypes
import json
import struct

import h5py
import numpy as np
import pytest
from conftest import tool
from property_lists import library

BYTES = h5py.vlen_dtype(np.uint8)
VALUES = [b"", b"\0", b"ab\0c", bytes(range(256)) * 5, b"\xff\xfe", b"z" * 7]


def chunk_of(values):
    return struct.pack("<I", len(values)) + b"".join(struct.pack("<I", len(v)) + v for v in values)


def put(path, values, fill=b"", data_type="bytes"):
    """An array of 2 * len(values) elements, of which the first half is in a chunk."""
    (path / "b/c").mkdir(parents=True)
    (path / "zarr.json").write_text('{"zarr_format":3,"node_type":"group"}')
    (path / "b/zarr.json").write_text(json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": [2 * len(values)], "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [len(values)]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": base64.b64encode(fill).decode(),
        "codecs": [{"name": "vlen-bytes"}]}))
    (path / "b/c/0").write_bytes(chunk_of(values))


def array(values):
    out = np.empty(len(values), object)
    out[:] = [np.frombuffer(value, "u1") for value in values]
    return out


def plain(elements):
    return [element.tobytes() for element in elements]


@pytest.mark.parametrize("data_type", ["bytes", "variable_length_bytes", "binary"])
def test_read(data_type, tmp_path):
    put(tmp_path / "x.zarr", VALUES, b"fi\0ll", data_type)
    with h5py.File(tmp_path / "x.zarr", "r") as file:
        data = file["b"]
        assert h5py.check_vlen_dtype(data.dtype) == np.uint8
        assert plain(data[...]) == VALUES + [b"fi\0ll"] * 6
        assert plain(data[1:9:3]) == [b"\0", b"\xff\xfe", b"fi\0ll"]
        assert plain(data[[0, 3, 7]]) == [b"", VALUES[3], b"fi\0ll"]
        assert data[2].tobytes() == b"ab\0c"
        size, space = ctypes.c_uint64(), data.id.get_space()
        library.H5Dvlen_get_buf_size.argtypes = [ctypes.c_int64] * 3 + [ctypes.c_void_p]
        assert library.H5Dvlen_get_buf_size(data.id.id, data.id.get_type().id, space.id, ctypes.byref(size)) >= 0
        assert size.value == sum(map(len, VALUES)) + 6 * 5
    shown = tool("h5dump", tmp_path / "x.zarr")
    assert "H5T_VLEN { H5T_STD_U8LE" in shown and "(97, 98, 0, 99)" in shown


@pytest.mark.parametrize("options, codecs", [
    ({}, ["vlen-bytes"]), ({"compression": "gzip", "shuffle": True, "chunks": (4,)}, ["vlen-bytes", "gzip"]),
])
def test_created_and_written(options, codecs, tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as file:
        data = file.create_dataset("b", (6,), BYTES, **options)
        data[...] = array(VALUES)
        data[1] = np.frombuffer(b"one", "u1")
        data[4:] = array([b"", b"last"])
    document = json.loads((path / "b/zarr.json").read_text())
    assert document["data_type"] == "bytes" and [c["name"] for c in document["codecs"]] == codecs
    with h5py.File(path, "r") as file:
        assert plain(file["b"][...]) == [b"", b"one", *VALUES[2:4], b"", b"last"]


def test_fill_value(tmp_path):
    class Sequence(ctypes.Structure):
        _fields_ = [("length", ctypes.c_size_t), ("data", ctypes.c_void_p)]

    content = ctypes.create_string_buffer(b"a\0b", 3)
    fill = Sequence(3, ctypes.addressof(content))
    plist, kind = h5py.h5p.create(h5py.h5p.DATASET_CREATE), h5py.h5t.vlen_create(h5py.h5t.NATIVE_UINT8)
    library.H5Pset_fill_value.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
    library.H5Pget_fill_value.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
    assert library.H5Pset_fill_value(plist.id, kind.id, ctypes.byref(fill)) >= 0
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        h5py.h5d.create(file.id, b"b", kind, h5py.h5s.create_simple((2,)), plist)
    assert json.loads((tmp_path / "x.zarr/b/zarr.json").read_text())["fill_value"] == base64.b64encode(b"a\0b").decode()
    with h5py.File(tmp_path / "x.zarr", "r") as file:
        assert plain(file["b"][...]) == [b"a\0b"] * 2
        got = Sequence()
        assert library.H5Pget_fill_value(file["b"].id.get_create_plist().id, kind.id, ctypes.byref(got)) >= 0
        assert ctypes.string_at(got.data, got.length) == b"a\0b"


def test_copied(tmp_path):
    put(tmp_path / "x.zarr", VALUES, b"f")
    tool("h5repack", tmp_path / "x.zarr", tmp_path / "y.h5", connector="zarr")
    tool("h5repack", tmp_path / "y.h5", tmp_path / "z.zarr", connector="zarr")
    tool("h5repack", "-f", "GZIP=1", tmp_path / "x.zarr", tmp_path / "g.zarr", connector="zarr")
    with h5py.File(tmp_path / "x.zarr", "r") as file, h5py.File(tmp_path / "c.h5", "w") as native, \
            h5py.File(tmp_path / "c.zarr", "w") as store:
        file.copy("b", native)
        native.copy("b", store)
        store.create_dataset("like", (2,), file["b"].dtype)[...] = array([b"q", b""])
        assert plain(store["like"][...]) == [b"q", b""]
    for name in ("y.h5", "z.zarr", "g.zarr", "c.h5", "c.zarr"):
        with h5py.File(tmp_path / name, "r") as file:
            assert plain(file["b"][...]) == VALUES + [b"f"] * 6, name


def test_transfer_lists(tmp_path):
    """With a list that is no default one HDF5 makes the elements."""
    put(tmp_path / "x.zarr", VALUES)
    plist = h5py.h5p.create(h5py.h5p.DATASET_XFER)
    assert library.H5Pset_buffer(ctypes.c_int64(plist.id), ctypes.c_size_t(1 << 20), None, None) >= 0
    with h5py.File(tmp_path / "x.zarr", "r+") as file:
        data, kind = file["b"], h5py.h5t.py_create(BYTES)
        got = np.empty(12, BYTES)
        data.id.read(h5py.h5s.ALL, h5py.h5s.ALL, got, kind, plist)
        assert plain(got[:6]) == VALUES
        new = np.empty(12, BYTES)
        new[:] = array(VALUES[::-1] * 2)
        data.id.write(h5py.h5s.ALL, h5py.h5s.ALL, new, kind, plist)
        assert plain(data[...]) == VALUES[::-1] * 2


def read_raw(data, kind):
    """The result of H5Dread, and whether its buffer was left alone. (h5py converts types by itself, and
    crashes on such, of HDF5's own files as well.)"""
    buffer = ctypes.create_string_buffer(b"-" * 512, 512)
    library.H5Dread.argtypes = [ctypes.c_int64] * 5 + [ctypes.c_void_p]
    result = library.H5Dread(data.id.id, kind.id, 0, 0, 0, buffer)
    return result, buffer.raw == b"-" * 512


@pytest.mark.parametrize("kind", [h5py.vlen_dtype("S1"), h5py.string_dtype(),
                                  np.dtype("S3"), np.dtype("u1")])
def test_other_types_in_memory(kind, tmp_path):
    put(tmp_path / "x.zarr", VALUES)
    with h5py.File(tmp_path / "x.zarr", "r") as file:
        result, untouched = read_raw(file["b"], h5py.h5t.py_create(kind, logical=True))
        assert result < 0 and untouched


def test_strings_are_no_bytes(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        file.create_dataset("s", data=["a", "b"], dtype=h5py.string_dtype())
        result, untouched = read_raw(file["s"], h5py.h5t.py_create(BYTES, logical=True))
        assert result < 0 and untouched


def test_a_damaged_chunk_gives_nothing(tmp_path):
    put(tmp_path / "x.zarr", VALUES)
    chunk = tmp_path / "x.zarr/b/c/0"
    chunk.write_bytes(chunk.read_bytes()[:-1])
    with h5py.File(tmp_path / "x.zarr", "r") as file:
        with pytest.raises(OSError, match="element 5 has 7 bytes where 6 are left"):
            file["b"][...]
