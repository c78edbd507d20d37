# SPDX-License-Identifier: MIT
"""Walks over links and attributes as C programs make them: the calls of HDF5 before 1.8, where a walk
begins, and where it tells that it has stopped. Each test runs on a .h5 file, and on a store."""

import ctypes

import h5py
import pytest

LIBRARY = ctypes.CDLL(h5py.h5p.__file__)
OLD_OPERATOR = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p)
OPERATOR = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p,
                            ctypes.c_void_p)
LIBRARY.H5Giterate.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.POINTER(ctypes.c_int),
                               OLD_OPERATOR, ctypes.c_void_p]
LIBRARY.H5Aiterate1.argtypes = [ctypes.c_int64, ctypes.POINTER(ctypes.c_uint), OLD_OPERATOR,
                                ctypes.c_void_p]
for call in (LIBRARY.H5Aiterate2, LIBRARY.H5Literate2):
    call.argtypes = [ctypes.c_int64, ctypes.c_int, ctypes.c_int,
                     ctypes.POINTER(ctypes.c_ulonglong), OPERATOR, ctypes.c_void_p]
NAMES = ["a", "b", "c", "d", "e"]
ERROR = -1


@pytest.fixture(params=["x.h5", "x.zarr"])
def group(request, tmp_path):
    """A group with links and attributes of these names."""
    with h5py.File(tmp_path / request.param, "w") as f:
        made = f.create_group("g")
        for name in NAMES:
            made.create_group(name)
            made.attrs[name] = 1
        f.create_group("empty")
        yield made


def stop_at(last, answer, seen):
    def visit(_owner, name, *_):
        seen.append(name.decode())
        return answer if seen[-1] == last else 0
    return visit


def walk_links_old(group, start, last="", answer=0, path=b"."):
    place, seen = ctypes.c_int(start), []
    result = LIBRARY.H5Giterate(group.id.id, path, place,
                                OLD_OPERATOR(stop_at(last, answer, seen)), None)
    return result, place.value, seen


def walk_attributes_old(group, start, last="", answer=0):
    place, seen = ctypes.c_uint(start), []
    result = LIBRARY.H5Aiterate1(group.id.id, place, OLD_OPERATOR(stop_at(last, answer, seen)),
                                 None)
    return result, place.value, seen


def walk(call, group, start, last="", answer=0):
    place, seen = ctypes.c_ulonglong(start), []
    result = call(group.id.id, h5py.h5.INDEX_NAME, h5py.h5.ITER_INC, place,
                  OPERATOR(stop_at(last, answer, seen)), None)
    return result, place.value, seen


def test_old_walks_over_links(group):
    assert walk_links_old(group, 0) == (0, 5, NAMES)
    assert walk_links_old(group.file, 1, path=b"g") == (0, 5, NAMES[1:])
    assert walk_links_old(group, 0, "b", 7) == (7, 2, NAMES[:2])
    assert walk_links_old(group, 2) == (0, 5, NAMES[2:])
    assert walk_links_old(group, 0, "b", ERROR) == (ERROR, 2, NAMES[:2])
    assert walk_links_old(group, 5) == (ERROR, 5, [])


def test_old_walks_over_attributes(group):
    assert walk_attributes_old(group, 0) == (0, 5, NAMES)
    assert walk_attributes_old(group, 1, "c", 7) == (7, 3, NAMES[1:3])
    assert walk_attributes_old(group, 1, "c", ERROR) == (ERROR, 3, NAMES[1:3])
    assert walk_attributes_old(group, 7) == (ERROR, 7, [])


def test_walks_over_links(group):
    assert walk(LIBRARY.H5Literate2, group, 1, "c", 7) == (7, 3, NAMES[1:3])
    assert walk(LIBRARY.H5Literate2, group, 1, "c", ERROR) == (ERROR, 1, NAMES[1:3])
    assert walk(LIBRARY.H5Literate2, group, 5) == (ERROR, 5, [])
    assert walk(LIBRARY.H5Literate2, group.file["empty"], 0) == (0, 0, [])


def test_walks_over_attributes(group):
    assert walk(LIBRARY.H5Aiterate2, group, 1, "c", 7) == (7, 3, NAMES[1:3])
    assert walk(LIBRARY.H5Aiterate2, group, 1, "c", ERROR) == (ERROR, 3, NAMES[1:3])
    assert walk(LIBRARY.H5Aiterate2, group, 5) == (ERROR, 5, [])
    assert walk(LIBRARY.H5Aiterate2, group.file["empty"], 0) == (0, 0, [])
    assert walk(LIBRARY.H5Aiterate2, group.file["empty"], 1) == (ERROR, 1, [])
