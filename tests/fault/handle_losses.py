# SPDX-License-Identifier: MIT
"""Two handles of one store in a process, of which one cannot store what it wrote: the other one's data
go on waiting, and are stored once they can be.

    handle_losses.py FOLDER SYNC

with the shim preloaded and HDF5_VOL_CONNECTOR set. An assertion fails when a handle loses data without
an error of its own, or hears of a loss of the other one.
"""
import ctypes
import errno
import itertools
import pathlib
import shutil
import sys

import h5py
import numpy as np
import zarr

SYNC = sys.argv[2]
FAIL_FROM, FULL = 5, 6
CAUSES = {"full": (FULL, 0), "read-only": (FAIL_FROM, errno.EROFS), "size limit": (FAIL_FROM, errno.EFBIG)}
VALUES = np.arange(1, 1001, dtype="u2")
LARGE = np.arange(30000, dtype="u2")

shim = ctypes.CDLL(None)
shim.shim_begin.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.c_int, ctypes.c_char_p]
shim.shim_struck.restype = ctypes.c_uint64


def make(path):
    shutil.rmtree(path, ignore_errors=True)
    group = zarr.create_group(str(path), zarr_format=3)
    for name in "ab":
        group.create_array(name, shape=(4000,), dtype="u2", chunks=(4000,))
    group.create_group("g")


# What waits in a handle: how it is written, and whether a new handle finds it. Datasets are returned,
# because closing one would store its data.

def write_data(file):
    dataset = file["b"]
    dataset[:1000] = VALUES
    return dataset


def write_attributes(file):
    file["b"].attrs["x"] = np.arange(3)
    file["g"].attrs["y"] = "t" * 3000


def write_large_attribute(file):
    file["g"].attrs["large"] = LARGE


def write_links(file):
    file["soft"] = h5py.SoftLink("/a")
    file["g/external"] = h5py.ExternalLink("q.h5", "/x")
    file["g/hard"] = file["b"]


def write_label(file):
    file["b"].dims[0].label = "label"


def write_unwritten_attribute(file):
    h5py.h5a.create(file["g"].id, b"unwritten", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((2,)))


WHATS = {
    "data": (write_data, lambda f: (f["b"][:1000] == VALUES).all()),
    "attributes": (write_attributes, lambda f: list(f["b"].attrs["x"]) == [0, 1, 2]
                   and f["g"].attrs["y"] == "t" * 3000),
    "large attribute": (write_large_attribute,
                        lambda f: "large" in f["g"].attrs and (f["g"].attrs["large"] == LARGE).all()),
    "links": (write_links, lambda f: f.get("soft", getlink=True).path == "/a" and "external" in f["g"]
              and f["g/hard"] == f["b"]),
    "label": (write_label, lambda f: f["b"].dims[0].label == "label"),
    "unwritten attribute": (write_unwritten_attribute, lambda f: list(f["g"].attrs["unwritten"]) == [0, 0]),
}


def is_stored(path, what):
    with h5py.File(path, "r") as file:
        try:
            return bool(WHATS[what][1](file))
        except (KeyError, AttributeError):
            return False


def data_of_a(path):
    with h5py.File(path, "r") as file:
        return (file["a"][:1000] == VALUES).all()


def fails(function):
    try:
        function()
    except (OSError, RuntimeError):
        return True
    return False


def begin(path, cause):
    mode, error = CAUSES[cause]
    shim.shim_begin(mode, 1, error, str(path).encode())


def end(case):
    assert shim.shim_struck() > 0, case
    shim.shim_end()


def open_two(path):
    make(path)
    first, second = h5py.File(path, "r+"), h5py.File(path, "r+")
    held = first["a"]  # closing it would store its data
    held[:1000] = VALUES
    return first, second, held


def first_close_fails(path, case):
    """The first handle is told at its close, and once. The second one is told nothing, and has all."""
    cause, what = case
    first, second, _held = open_two(path)
    _second_held = WHATS[what][0](second)
    begin(path, cause)
    told = fails(first.close)
    end(case)
    assert told, case
    told_again = fails(first.close)
    assert SYNC == "close" or not told_again, case
    flush_fails = fails(second.flush)
    check_rest(path, case, flush_fails)
    check_rest(path, case, fails(second.close) or flush_fails)


def check_rest(path, case, told):
    """A failed sync may have lost what had been given away for good (docs/writing.md, Durability)."""
    assert is_stored(path, case[1]) or told, case
    assert SYNC == "close" or not told, case


def second_close_fails(path, case):
    """The second handle is told of its loss, in its flush and its close; the first one has all."""
    cause, what = case
    first, second, _held = open_two(path)
    _second_held = WHATS[what][0](second)
    begin(path, cause)
    told = fails(second.flush), fails(second.close)
    end(case)
    assert all(told), (case, told)
    check_first(path, first, case)


def check_first(path, first, case):
    told = fails(first.close)
    assert data_of_a(path) or told, case
    assert SYNC == "close" or not told, case


def only_the_owner_is_told(path, case):
    """The second handle has nothing that waits. Its flush and close succeed, and take nothing away."""
    cause, _ = case
    first, second, _held = open_two(path)
    begin(path, cause)
    told = fails(second.flush), fails(second.close), fails(first.flush)
    end(case)
    assert told == (False, False, True), (case, told)
    check_first(path, first, case)


def one_array(path, case):
    """Both handles have written one array: what waits is the second one's, too."""
    cause, _ = case
    first, second, _held = open_two(path)
    second_held = second["a"]
    second_held[1000:1010] = 7
    begin(path, cause)
    told = fails(first.close)
    end(case)
    assert told, case
    told = fails(second.close)
    with h5py.File(path, "r") as file:
        assert (file["a"][1000:1010] == 7).all() or told, case
    assert SYNC == "close" or not told, case


def main():
    path = pathlib.Path(sys.argv[1]) / "x.zarr"
    for case in itertools.product(CAUSES, WHATS):
        first_close_fails(path, case)
        second_close_fails(path, case)
    for cause in CAUSES:
        one_array(path, (cause, None))
    only_the_owner_is_told(path, ("full", None))
    print("end")


if __name__ == "__main__":
    main()
