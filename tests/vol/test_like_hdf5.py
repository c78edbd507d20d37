# SPDX-License-Identifier: MIT
"""Random operations on a store and on an HDF5 file: after each, both are the same. The seed of a
failure is in the test's name."""

import random

import h5py
import numpy as np
import pytest
import zarr
from length import SEED, by_length

NAMES = ["a", "b", "c", "a/x", "a/y", "b/x", "c/q", "a/x/z", "b/b"]


class Twins:
    """A Zarr store and an HDF5 file with the same operations on both."""

    def __init__(self, folder, seed):
        self.paths = [str(folder / "x.zarr"), str(folder / "x.h5")]
        self.files = [h5py.File(path, "w") for path in self.paths]
        self.choose = random.Random(seed)
        self.held = []  # objects of the store that stay open through all operations

    def both(self, operation):
        """Makes one operation on both; either both succeed or both fail."""
        outcomes = []
        for f in self.files:
            try:
                operation(f)
                outcomes.append("done")
            except (KeyError, ValueError, OSError, RuntimeError, TypeError) as problem:
                outcomes.append(f"{type(problem).__name__}: {problem}")
        assert (outcomes[0] == "done") == (outcomes[1] == "done"), outcomes

    def datasets(self):
        found = []
        self.files[1].visititems(
            lambda name, o: found.append(name) if isinstance(o, h5py.Dataset) else None)
        return found

    def compare(self):
        for f in self.files:
            f.seen = []
            f.visititems(lambda name, o, seen=f.seen: seen.append(name))
        assert self.files[0].seen == self.files[1].seen
        for name in self.files[0].seen:
            z, n = (f[name] for f in self.files)
            assert type(z) is type(n) and dict(z.attrs) == dict(n.attrs), name
            if isinstance(n, h5py.Dataset):
                assert np.array_equal(z[...], n[...]), name

    # ---- Operations

    def group(self, name, _):
        self.both(lambda f: f.create_group(name))

    def dataset(self, name, _):
        r = self.choose
        shape = tuple(r.randint(0, 9) for _ in range(r.randint(1, 3)))
        options = {"chunks": tuple(r.randint(1, 5) for _ in shape), "maxshape": (None,) * len(shape),
                   "dtype": r.choice(["i2", ">f8", "c8", "?"]),
                   "compression": r.choice([None, "gzip"]), "shuffle": r.random() < 0.5}
        self.both(lambda f: f.create_dataset(name, shape, **options))

    def write(self, *_):
        r, names = self.choose, self.datasets()
        if names:
            name = r.choice(names)
            old = self.files[1][name]
            box = tuple(slice(r.randint(0, n), None, r.randint(1, 3)) for n in old.shape)
            value = np.array(r.randint(0, 1), old.dtype)
            self.both(lambda f: f[name].__setitem__(box, value))
            assert np.array_equal(self.files[0][name][...], old[...])

    def resize(self, *_):
        r, names = self.choose, self.datasets()
        if names:
            name = r.choice(names)
            shape = tuple(r.randint(0, 12) for _ in self.files[1][name].shape)
            self.both(lambda f: f[name].resize(shape))

    def delete(self, name, _):
        self.both(lambda f: f.__delitem__(name))

    def move(self, name, other):
        if not other.startswith(name):
            self.both(lambda f: f.move(name, other))

    def copy(self, name, other):
        if not other.startswith(name):
            self.both(lambda f: f.copy(name, other))

    def set_attribute(self, name, _):
        value = self.choose.random()
        self.both(lambda f: f[name].attrs.__setitem__("k", value))

    def delete_attribute(self, name, _):
        self.both(lambda f: f[name].attrs.__delitem__("k"))

    def hold(self, name, _):
        """Open objects may be deleted or moved: using them gives data or an error, no more."""
        if name in self.files[0]:
            self.held.append(self.files[0][name])
        for o in self.held:
            try:
                o[...] if isinstance(o, h5py.Dataset) else list(o)
                list(o.attrs)
            except (KeyError, OSError, RuntimeError, ValueError):
                pass
        del self.held[:-5]

    def flush(self, *_):
        self.files[0].flush()

    def reopen(self, *_):
        self.held.clear()
        for f in self.files:
            f.close()
        self.files = [h5py.File(path, "r+") for path in self.paths]


OPERATIONS = ["group", "dataset", "write", "write", "write", "resize", "delete", "move", "copy",
              "set_attribute", "delete_attribute", "hold", "flush", "reopen", "compare"]


@pytest.mark.parametrize("seed", range(SEED, SEED + by_length(8, 8, 100)))
def test_same_as_hdf5(tmp_path, seed):
    twins = Twins(tmp_path, seed)
    for _ in range(250):
        operation = getattr(twins, twins.choose.choice(OPERATIONS))
        arguments = twins.choose.choice(NAMES), twins.choose.choice(NAMES)
        operation() if operation.__name__ == "compare" else operation(*arguments)
    twins.compare()
    twins.reopen()
    twins.compare()
    group = zarr.open_group(twins.paths[0], mode="r")
    for name in twins.datasets():
        assert np.array_equal(group[name][...], twins.files[1][name][...]), name
    for f in twins.files:
        f.close()
