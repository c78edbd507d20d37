# SPDX-License-Identifier: MIT
"""Dask writes and reads stores from many processes without a lock: parts of one shard are merged under the store's own.

    store(x, "x.zarr", "a", shards=(512, 512))    makes the array, cuts x along its shards, and writes it
    from_store("x.zarr", "a")                     an array whose chunks are the shards
    H5Target("x.zarr", "a"), RasterTarget(path)   targets for dask.array.store(..., lock=False)
    NoLock()                                      for what asks for a lock before it writes by Dask, as rioxarray does
    plan("x.zarr", "a")                           the pieces of `zarrbridge plan`

A task that has ended has stored its block, and may be run again. The import loads neither Dask nor h5py nor rasterio."""
import functools
import json
import os
import subprocess
import threading
import uuid
from typing import NamedTuple

import zarrbridge  # noqa: F401  unpickling a target in a worker lets h5py and rasterio open stores there
from zarrbridge import _places

_OPEN_FILES = 8  # in each process


class Piece(NamedTuple):
    slices: tuple   # of the array
    is_whole: bool  # no other piece shares its shards


def _plan(path, name, *arguments):
    program = _places.find_program()
    if program is None:
        raise FileNotFoundError("the program zarrbridge is neither in this package nor on PATH")
    array = f"{os.fspath(path).rstrip('/')}/{name.strip('/')}"
    done = subprocess.run([program, "plan", "--json", array, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(done.stderr.strip())
    return json.loads(done.stdout)


def _unit(path, name):
    """The shape of a shard, or of a chunk where there are no shards."""
    return tuple(_plan(path, name, "--pieces", "1")["summary"]["unit"])


def plan(path, name, region=None, pieces=None):
    """Pieces that workers write alone: whole shards, one each or `pieces` in all; `region` is text, as "0:365,:"."""
    found = _plan(path, name, *([region] if region else []), *(["--pieces", str(pieces)] if pieces else []))
    return [Piece(tuple(map(slice, p["start"], p["stop"])), p["whole"]) for p in found["pieces"]]


@functools.lru_cache(maxsize=_OPEN_FILES)
def _dataset(process, token, path, name, mode):
    """Kept open for the target with this token, so that a later target never meets an array that is no more."""
    import h5py

    return h5py.File(path, mode, driver="zarr")[name]


class H5Target:
    """An array of a store, which each process opens for itself at its first block."""

    def __init__(self, path, name, mode="r+"):
        self.path, self.name, self.mode, self._token = os.fspath(path), name, mode, uuid.uuid4().hex
        dataset = self._open()
        self.shape, self.dtype, self.ndim = dataset.shape, dataset.dtype, dataset.ndim

    def _open(self):
        return _dataset(os.getpid(), self._token, self.path, self.name, self.mode)

    def __setitem__(self, key, value):
        """The flush stores the block before the task ends."""
        dataset = self._open()
        dataset[key] = value
        dataset.flush()

    def __getitem__(self, key):
        return self._open()[key]

    def __dask_tokenize__(self):
        return self._token


_raster_lock = threading.Lock()  # of this process: two datasets of one raster would each keep blocks of it


class RasterTarget:
    """A raster: rows and columns, or bands, rows and columns. Each block opens and closes it, for only that stores."""

    def __init__(self, path):
        import rasterio

        self.path = os.fspath(path)
        with rasterio.open(self.path) as raster:
            self.shape = (raster.count, raster.height, raster.width)
            self.dtype = raster.dtypes[0]

    def __setitem__(self, key, value):
        import rasterio
        from rasterio.windows import Window

        if len(key) == 2:
            key, value = (slice(0, 1), *key), value[None]
        if len(key) != 3 or not all(isinstance(k, slice) and k.step in (None, 1) for k in key):
            raise ValueError("a block of a raster is slices without a step: (rows, columns) or (bands, rows, columns)")
        bands, rows, columns = (range(*k.indices(n)) for k, n in zip(key, self.shape))
        window = Window(columns.start, rows.start, len(columns), len(rows))
        with _raster_lock, rasterio.open(self.path, "r+") as raster:
            raster.write(value, indexes=[band + 1 for band in bands], window=window)


class NoLock:
    """A lock that is always free."""

    def acquire(self, *arguments, **keywords):
        return True

    def release(self):
        pass

    def locked(self):
        return False

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


def _create(x, path, name, shards, create):
    import h5py

    options = {"shards": shards} if shards else {}
    with h5py.File(path, "a", driver="zarr", **options) as file:
        if name not in file:
            file.create_dataset(name, x.shape, x.dtype, **create)
        elif file[name].shape != x.shape or file[name].dtype != x.dtype:
            raise ValueError(f"{path} has an array {name} of {file[name].dtype} and {file[name].shape}, "
                             f"not of {x.dtype} and {x.shape}: take another name, or delete it")


def store(x, path, name, shards=None, align=True, compute=True, **create):
    """Writes a Dask array. An array that is not there is made here, once, with the keywords of h5py's create_dataset;
    one that is there keeps its form. Without `align` blocks stay as they are: slower where they cut shards, and right.
    With compute=False what it returns writes when it is computed."""
    import dask.array

    _create(x, path, name, shards, create)
    if align and x.ndim > 0:
        x = x.rechunk(_unit(path, name))
    return dask.array.store(x, H5Target(path, name), lock=False, compute=compute)


def from_store(path, name):
    """A Dask array whose chunks are the shards, or the chunks where there are no shards."""
    import dask.array

    return dask.array.from_array(H5Target(path, name, "r"), chunks=_unit(path, name), lock=False, fancy=False)
