#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Times one reader on the stores of run_remote.py behind a URL, and prints JSON lines {"what", "ms",
"requests", "bytes"}, the first of them {"version"}.

    remote_peers.py READER PART URL

READER    ours: the C library (ZARRBRIDGE_BUILD_DIR); h5py, gdal: through our plugins; obstore, fsspec:
          zarr-python with them; tensorstore; gdal-own-1, gdal-own-16: GDAL's driver Zarr, from GDAL 3.13
          on, with so many threads
PART      windows, shards, chunks, group

Exits with 3, after the reason, where the reader cannot be had."""

import ctypes as c
import json
import os
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np

WINDOW, TILES = 256, 9 * 256
CACHE = "268435456"  # of GDAL's blocks: less than its own driver needs here, and it fails


class Missing(Exception):
    pass


def window_of(array, start, count):
    return array[tuple(slice(s, s + n) for s, n in zip(start, count))]


class Ours:
    def __init__(self, url):
        os.environ.setdefault("ZARRBRIDGE_SOURCE_DIR", str(Path(__file__).resolve().parents[2]))
        sys.path.insert(0, os.environ["ZARRBRIDGE_SOURCE_DIR"] + "/tests/remote")
        import remote_store

        self.lib, self.url, self.remote = remote_store, url, None
        self.version = ""

    def open(self, path):
        self.remote = self.remote or self.lib.RemoteStore(self.url)
        node = c.c_void_p()
        self.lib.call(self.lib.lib.zb_node_open, self.remote.handle, path.encode(), c.byref(node))
        return node

    def read(self, node, start, count):
        lib, values = self.lib, np.empty(count, "i2")
        sys.path.insert(0, os.environ["ZARRBRIDGE_SOURCE_DIR"] + "/tests/interop")
        from libzarrbridge import Read, View, dtype_of, shape_of, strides_of

        view = View(values.ctypes.data, dtype_of(values.dtype), strides_of(values))
        read = Read(node, shape_of(start), shape_of(values.shape), shape_of((1, 1)), view)
        lib.call(lib.lib.zb_array_read, c.byref(read), c.c_size_t(1))
        return values

    def members(self, path):
        """Each entry is opened: its shape is known."""
        count = 0

        @c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_void_p)
        def take(_, entry):
            nonlocal count
            count += 1
            return 0

        self.remote = self.remote or self.lib.RemoteStore(self.url)
        self.lib.call(self.lib.lib.zb_node_each, self.remote.handle, path.encode(), take, None)
        return count - 1  # the group itself


class H5py:
    def __init__(self, url):
        os.environ["HDF5_VOL_CONNECTOR"] = "zarr"  # HDF5 looks when it is loaded
        import h5py

        self.h5py, self.url, self.files = h5py, url, []
        self.version = f"{h5py.version.version}, HDF5 {h5py.version.hdf5_version}"

    def open_file(self, path=""):
        self.files.append(self.h5py.File(self.url + path, "r"))
        return self.files[-1]

    def open(self, path):
        return self.open_file()[path]

    read = staticmethod(window_of)

    def members(self, path):
        return len([array.shape for array in self.open_file("/" + path).values()])


class Gdal:
    """Through our driver."""

    driver, config = "Zarr3", {}

    def __init__(self, url):
        from osgeo import gdal

        gdal.UseExceptions()
        for name, value in {"GDAL_CACHEMAX": CACHE, **self.config}.items():
            gdal.SetConfigOption(name, value)
        self.gdal, self.url, self.version = gdal, url, gdal.VersionInfo("RELEASE_NAME")

    def name_of(self, path):
        return f'ZARR3:"{self.url}":/{path}'

    def open(self, path):
        return self.gdal.OpenEx(self.name_of(path), allowed_drivers=[self.driver])

    def read(self, dataset, start, count):
        return dataset.ReadAsArray(start[1], start[0], count[1], count[0])

    def members(self, path):
        dataset = self.gdal.OpenEx(self.name_of(path), self.gdal.OF_MULTIDIM_RASTER,
                                   allowed_drivers=[self.driver])
        group = dataset.GetRootGroup()
        if path.split("/")[-1] in (group.GetGroupNames() or []):
            group = group.OpenGroup(path)
        return len([group.OpenMDArray(name).GetShape() for name in group.GetMDArrayNames()])


class GdalOwn(Gdal):
    driver = "Zarr"

    def __init__(self, url, threads):
        self.config = {"GDAL_NUM_THREADS": str(threads), "GDAL_DISABLE_READDIR_ON_OPEN": "EMPTY_DIR"}
        super().__init__(url)
        if int(self.gdal.VersionInfo()) < 3130000:
            raise Missing(f"GDAL is {self.version}, older than 3.13 (tools/test-in forky has it)")

    def name_of(self, path):
        return f'ZARR:"/vsicurl/{self.url}/{path}"'


class Zarr:
    """zarr-python; `self.store` is of the subclass."""

    def __init__(self, url):
        import zarr

        zarr.config.set({"async.concurrency": 64})
        self.zarr, self.store = zarr, self.make_store(zarr, url)
        self.version = "zarr " + zarr.__version__

    def open(self, path):
        return self.zarr.open_array(self.store, path=path, mode="r", zarr_format=3)

    read = staticmethod(window_of)

    def members(self, path):
        group = self.zarr.open_group(self.store, path=path, mode="r", zarr_format=3)
        return len([array.shape for _, array in group.arrays()])


class Obstore(Zarr):
    def make_store(self, zarr, url):
        from obstore.store import HTTPStore

        return zarr.storage.ObjectStore(
            HTTPStore.from_url(url, client_options={"allow_http": True}), read_only=True)


class Fsspec(Zarr):
    def make_store(self, zarr, url):
        return zarr.storage.FsspecStore.from_url(url, read_only=True)


class Tensorstore:
    members = None  # it has no groups

    def __init__(self, url):
        import tensorstore
        from importlib.metadata import version

        self.ts, self.url, self.version = tensorstore, url, version("tensorstore")
        self.context = tensorstore.Context({"cache_pool": {"total_bytes_limit": 0}})

    def open(self, path):
        spec = {"driver": "zarr3", "kvstore": {"driver": "http", "base_url": f"{self.url}/{path}/"}}
        return self.ts.open(spec, context=self.context, read=True, open=True).result()

    def read(self, array, start, count):
        return window_of(array, start, count).read().result()


READERS = {"ours": Ours, "h5py": H5py, "gdal": Gdal, "obstore": Obstore, "fsspec": Fsspec,
           "tensorstore": Tensorstore, "gdal-own-1": lambda url: GdalOwn(url, 1),
           "gdal-own-16": lambda url: GdalOwn(url, 16)}


class Timer:
    def __init__(self, url):
        self.url = url[:url.index("/", 8)]
        self.asked()

    def asked(self):
        with urllib.request.urlopen(self.url + "/.count") as reply:
            return json.load(reply)

    def time(self, what, work):
        begun = time.perf_counter()
        result = work()
        ms = (time.perf_counter() - begun) * 1000
        print(json.dumps({"what": what, "ms": ms} | self.asked()), flush=True)
        return result


def time_windows(timer, reader):
    array = timer.time("open", lambda: reader.open("shards"))
    for what, start in ("cold window", 512), ("next window", 1024):
        values = timer.time(what, lambda: reader.read(array, (start,) * 2, (WINDOW,) * 2))
        assert values.shape == (WINDOW, WINDOW)
    timer.time("tiles", lambda: reader.read(array, (4096 - TILES // 2 // 256 * 256,) * 2, (TILES,) * 2))


def time_whole(timer, reader, what, url):
    array = reader.open(what)
    timer.asked()
    whole = timer.time("whole " + what, lambda: reader.read(array, (0, 0), (8192, 8192)))
    with urllib.request.urlopen(url + "/sum.json") as reply:
        assert int(np.asarray(whole[::997, ::991], "i8").sum()) == json.load(reply)


def main():
    name, part, url = sys.argv[1:]
    timer = Timer(url)
    try:
        reader = READERS[name](url)
    except (ImportError, Missing) as reason:
        print(reason, file=sys.stderr)
        sys.exit(3)
    print(json.dumps({"version": reader.version}))
    timer.asked()
    if part == "windows":
        time_windows(timer, reader)
    elif part != "group":
        time_whole(timer, reader, part, url)
    elif reader.members:
        assert timer.time("group", lambda: reader.members("group")) == 50


if __name__ == "__main__":
    main()
