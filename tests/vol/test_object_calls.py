# SPDX-License-Identifier: MIT
"""Comments of objects, and the ids of named datatypes among those of a file."""

import ctypes
import json

import h5py
import numpy as np
import pytest
import zarr
from property_lists import library


def comment(of):
    """By the object's id, with the length that HDF5 tells."""
    library.H5Oget_comment.restype = ctypes.c_ssize_t
    library.H5Oget_comment.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_size_t]
    length = library.H5Oget_comment(of.id.id, None, 0)
    assert length >= 0
    text = ctypes.create_string_buffer(length + 1)
    assert library.H5Oget_comment(of.id.id, text, length + 1) == length
    return text.value


def set_comment(of, text):
    library.H5Oset_comment.argtypes = [ctypes.c_int64, ctypes.c_char_p]
    return library.H5Oset_comment(of.id.id, text)


def by_name(of, name, text=None):
    if text is not None:
        library.H5Oset_comment_by_name.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64]
        return library.H5Oset_comment_by_name(of.id.id, name, text, 0)
    library.H5Oget_comment_by_name.restype = ctypes.c_ssize_t
    library.H5Oget_comment_by_name.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t,
                                               ctypes.c_int64]
    found = ctypes.create_string_buffer(300)
    assert library.H5Oget_comment_by_name(of.id.id, name, found, 300, 0) >= 0
    return found.value


@pytest.fixture(params=["x.zarr", "x.h5"])
def path(request, tmp_path):
    path = tmp_path / request.param
    with h5py.File(path, "w") as f:
        f.create_group("g")
        f["g/d"] = np.arange(3)
        f["t"] = np.dtype("i2")
    return path


def test_comments_are_kept(path):
    texts = {"/": b"the root", "g": "gr\u00fcn".encode(), "g/d": b'"{}\\\n' * 50, "t": b"a type"}
    with h5py.File(path, "r+") as f:
        for name, text in texts.items():
            of = f[name]
            assert comment(of) == b"" and set_comment(of, text) >= 0 and comment(of) == text
        assert by_name(f, b"g/d") == texts["g/d"]
    with h5py.File(path, "r+") as f:
        for name, text in texts.items():
            of = f[name]
            assert comment(of) == text and "_hdf5" not in f["g"].attrs
        assert by_name(f, b"g/d", b"another") >= 0 and by_name(f["g"], b"d") == b"another"
        of = f["g"]
        assert set_comment(of, b"") >= 0 and comment(of) == b""
        f.move("g/d", "moved")
        f.copy("moved", "copied")
    with h5py.File(path, "r") as f:
        assert by_name(f, b"moved") == by_name(f, b"copied") == b"another" and by_name(f, b"g") == b""
        of = f["g"]
        assert set_comment(of, b"not now") < 0 and comment(of) == b""


def test_their_form(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        of = f.create_group("g")
        set_comment(of, b"said")
        assert set_comment(of, b"\xff") < 0 and comment(of) == b"said"  # no UTF-8
    side = json.loads(zarr.open_group(path, mode="r")["g"].attrs["_hdf5"])
    assert side["comment"] == "said"


def test_named_types_are_counted(path):
    with h5py.File(path, "r") as f:
        kind, group = f["t"], f["g"]
        assert h5py.h5f.get_obj_count(f.id, h5py.h5f.OBJ_DATATYPE) == 1
        assert [one.id for one in h5py.h5f.get_obj_ids(f.id, h5py.h5f.OBJ_DATATYPE)] == [kind.id.id]
        assert h5py.h5f.get_obj_count(f.id, h5py.h5f.OBJ_ALL) == 3
        other = h5py.h5t.NATIVE_INT32.copy()  # of no file
        assert h5py.h5f.get_obj_count(f.id, h5py.h5f.OBJ_DATATYPE) == 1 and other and group


def test_closing_closes_them(path):
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    f = h5py.h5f.open(bytes(path), h5py.h5f.ACC_RDONLY, access)
    kind = h5py.h5t.open(f, b"t")
    assert kind.valid
    f.close()
    assert not kind.valid
    access.set_fclose_degree(h5py.h5f.CLOSE_SEMI)
    f = h5py.h5f.open(bytes(path), h5py.h5f.ACC_RDONLY, access)
    kind = h5py.h5t.open(f, b"t")
    with pytest.raises(RuntimeError, match="open"):
        f.close()
    del kind
    f.close()
