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


def numbers_of(function, plist, *kinds):
    """What a call gives that has a pointer for each number; of these ctypes."""
    values = [kind() for kind in kinds]
    call = getattr(library, function)
    call.argtypes = [ctypes.c_int64] + [ctypes.c_void_p] * len(kinds)
    assert call(plist.id, *map(ctypes.byref, values)) >= 0
    return tuple(value.value for value in values)


def set_numbers(function, plist, *values):
    """Calls with values of ctypes."""
    call = getattr(library, function)
    call.argtypes = [ctypes.c_int64] + [type(value) for value in values]
    assert call(plist.id, *values) >= 0


def filters_of(plist):
    """Number, flags and values of each filter of any creation list; h5py asks those of datasets alone."""
    library.H5Pget_nfilters.argtypes = [ctypes.c_int64]
    library.H5Pget_filter2.argtypes = [ctypes.c_int64, ctypes.c_uint] + [ctypes.c_void_p] * 3 + \
        [ctypes.c_size_t] + [ctypes.c_void_p] * 2
    found = []
    for i in range(library.H5Pget_nfilters(plist.id)):
        flags, count, values = ctypes.c_uint(), ctypes.c_size_t(20), (ctypes.c_uint * 20)()
        number = library.H5Pget_filter2(plist.id, i, ctypes.byref(flags), ctypes.byref(count), values, 0, None, None)
        assert number > 0
        found.append((number, flags.value, tuple(values[:count.value])))
    return found
