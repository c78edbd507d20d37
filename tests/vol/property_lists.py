# SPDX-License-Identifier: MIT
"""Properties of creation lists that HDF5 does not know: h5py has no calls for them."""

import ctypes

import h5py

library = ctypes.CDLL(h5py.h5p.__file__)
library.H5Pinsert2.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p] + \
    [ctypes.c_void_p] * 6
library.H5Pexist.argtypes = [ctypes.c_int64, ctypes.c_char_p]
library.H5Pget_size.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t)]
library.H5Pget.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p]


def insert_bytes(plist, name, value):
    buffer = ctypes.create_string_buffer(value, len(value))
    assert library.H5Pinsert2(plist.id, name, len(value), buffer, *[None] * 6) >= 0


def insert_numbers(plist, name, values):
    row = (ctypes.c_uint64 * len(values))(*values)
    assert library.H5Pinsert2(plist.id, name, ctypes.sizeof(row), row, *[None] * 6) >= 0


def property_of(plist, name):
    """A property as bytes, or None."""
    size = ctypes.c_size_t()
    if library.H5Pexist(plist.id, name) <= 0:
        return None
    assert library.H5Pget_size(plist.id, name, ctypes.byref(size)) >= 0
    value = ctypes.create_string_buffer(size.value)
    assert library.H5Pget(plist.id, name, value) >= 0
    return value.raw
