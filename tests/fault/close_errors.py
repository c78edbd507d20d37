# SPDX-License-Identifier: MIT
"""Lets system calls fail while h5py writes and closes stores, one process for all of it:

    close_errors.py FOLDER once|until-flush|until-close

with the shim preloaded and HDF5_VOL_CONNECTOR set. Prints, for each call that was made to fail, the
call of h5py that raised an error. An assertion fails when data are lost without an error, or when
the process cannot go on after one.
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

OFF, COUNT, FAIL, FAIL_FROM = 0, 1, 4, 5
ROWS = 12
NAMES = ("whole", "parts", "shards")
shim = ctypes.CDLL(None)
shim.shim_begin.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.c_int, ctypes.c_char_p]
shim.shim_struck.restype = ctypes.c_uint64


def make(path):
    group = zarr.create_group(str(path), zarr_format=3)
    for name, more in (("whole", {"chunks": (4, 8)}), ("parts", {"chunks": (ROWS, 8)}),
                       ("shards", {"chunks": (2, 8), "shards": (6, 8)})):
        group.create_array(name, shape=(ROWS, 8), dtype="i4", fill_value=-1, **more)[...] = 1000


def values(name, number):
    return 10000 * number + np.arange(ROWS * 8, dtype="i4").reshape(ROWS, 8) + len(name)


def rows(name):
    """`parts` and `shards` are written in part, and merged with the stored chunks."""
    return slice(0, ROWS if name == "whole" else 5)


class Stored:
    """A store that is made anew for each call, and read by zarr-python. Most of the time of these tests would go into
    making, opening and reading it: it is a copy of the first one, its arrays stay open, since their documents do
    not change, which each look makes sure of, and zarr-python reads the same files once."""

    def __init__(self, folder):
        self.path, self.model = folder / "x.zarr", folder / "model.zarr"
        make(self.model)
        self.seen = {}
        self.documents = {name: self.document(self.model, name) for name in NAMES}
        self.renew()
        self.arrays = {name: zarr.open_array(f"{self.path}/{name}", mode="r") for name in NAMES}

    @staticmethod
    def document(path, name):
        return (path / name / "zarr.json").read_bytes()

    def renew(self):
        shutil.rmtree(self.path, ignore_errors=True)
        shutil.copytree(self.model, self.path, copy_function=shutil.copyfile)  # with times of now

    def look(self, files, read):
        known = tuple((path, path.read_bytes()) for path in sorted(files) if path.is_file())
        if known not in self.seen:
            self.seen[known] = read()
        return self.seen[known]

    def content(self, name):
        assert self.document(self.path, name) == self.documents[name], f"{name} has another document"
        return self.look((self.path / name).rglob("*"), lambda: self.arrays[name][...])

    def attribute(self):
        return self.look([self.path / "zarr.json"], lambda: zarr.open_group(str(self.path), mode="r").attrs["n"])


class Attempt:
    """Writes all arrays of a store once; notes the calls that raised an error."""

    def __init__(self):
        self.told = []

    def call(self, name, function, *arguments):
        try:
            return function(*arguments)
        except (OSError, KeyError, RuntimeError, ValueError) as error:
            self.told.append(name)
            assert "rror" in str(error) or "annot" in str(error) or "nable" in str(error), error
        return None

    def run(self, path, number, end_after):
        file = self.call("open", h5py.File, str(path), "r+")
        if file is None:
            shim.shim_end()
            return
        for name in NAMES:
            self.call(f"write {name}", self.write, file, name, number)
        self.call("attribute", file.attrs.__setitem__, "n", number)
        self.call("flush", file.flush)
        if end_after == "flush":
            shim.shim_end()
        self.call("second flush", file.flush)
        self.call("close", file.close)
        shim.shim_end()
        file.close()  # the second time is no error
        assert not file

    @staticmethod
    def write(file, name, number):
        file[name][rows(name)] = values(name, number)[rows(name)]


def check_stored(stored, attempt, number):
    """Data without a reported error are there; with an error at the close, each array is
    readable."""
    found = {name: stored.content(name) for name in NAMES}
    for name in NAMES:
        new = found[name][rows(name)] == values(name, number)[rows(name)]
        quiet = not {"open", "close", f"write {name}"} & set(attempt.told)
        assert new.all() or not quiet, f"{name} is lost without an error: {attempt.told}"
    if not {"open", "attribute", "close"} & set(attempt.told):
        assert stored.attribute() == number
    assert attempt.told or (found["whole"] >= 10000).all()


def check_goes_on(stored, number):
    """The same process reads the store, and writes it anew, as after a success."""
    with h5py.File(stored.path, "r") as file:
        for name in NAMES:
            assert file[name].shape == (ROWS, 8) and file[name][...].min() >= 5
    again = Attempt()
    again.run(stored.path, number, None)
    assert again.told == []
    for name in NAMES:
        assert (stored.content(name)[rows(name)] == values(name, number)[rows(name)]).all()


def main():
    folder, trouble = pathlib.Path(sys.argv[1]), sys.argv[2]
    mode = FAIL if trouble == "once" else FAIL_FROM
    stored = Stored(folder)
    for nth in itertools.count(1):
        number = 2 * (nth % 4) + 2  # other values than the calls before, but files that have been seen
        stored.renew()
        attempt = Attempt()
        shim.shim_begin(mode, nth, errno.EIO, str(stored.path).encode())
        attempt.run(stored.path, number, "flush" if trouble == "until-flush" else None)
        if not shim.shim_struck():
            break
        print(nth, ", ".join(attempt.told), flush=True)
        check_stored(stored, attempt, number)
        check_goes_on(stored, number + 1)
    print("end")


if __name__ == "__main__":
    main()
