#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Times one reader on the stores of run_remote.py behind a URL, and prints JSON lines {"what", "ms",
"requests", "bytes"}, the first of them {"version"}.

    remote_peers.py READER PART URL

READER    ours: the C library (ZARRBRIDGE_BUILD_DIR); h5py, gdal: through our plugins; obstore, fsspec:
          zarr-python with them; tensorstore; gdal-own-1, gdal-own-16: GDAL's driver Zarr, from GDAL 3.13
          on, with so many threads
PART      windows, shards, chunks, group; write: a whole array to s3://bucket on a server of sims3.py, at URL,
          by ours, obstore, fsspec (s3fs) and tensorstore; encode: ours, to memory

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
# Written: 16 shards of 32 MiB.
SIDE, SHARD, CHUNK = 16384, 4096, 256
KEYS = {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
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


    def new_array(self, store):
        store.create_group("")
        store.create_array("a", (SIDE, SIDE), (CHUNK, CHUNK), "<i2", shards=(SHARD, SHARD),
                           codecs=[{"name": "zstd", "configuration": {"level": 3, "checksum": False}}])

        writer = self.lib.Writer(store, "a")  # asks for the document, which other writers have as well

        def write(values):
            with writer:
                writer.write((0, 0), (1, 1), values)

        return write

    def new_remote(self, name):
        return self.new_array(self.lib.RemoteStore("s3://bucket/" + name))

    def new_in_memory(self):
        return self.new_array(self.lib.Store())


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
        self.zarr, self.endpoint = zarr, url
        self.store = self.make_store(zarr, url)
        self.version = "zarr " + zarr.__version__

    def open(self, path):
        return self.zarr.open_array(self.store, path=path, mode="r", zarr_format=3)

    read = staticmethod(window_of)

    def members(self, path):
        group = self.zarr.open_group(self.store, path=path, mode="r", zarr_format=3)
        return len([array.shape for _, array in group.arrays()])


    def new_remote(self, name):
        array = self.zarr.create_array(
            self.make_bucket(self.zarr, name), name="a", shape=(SIDE, SIDE), shards=(SHARD, SHARD), chunks=(CHUNK, CHUNK),
            dtype="i2", compressors=self.zarr.codecs.ZstdCodec(level=3), fill_value=0)

        def write(values):
            array[...] = values

        return write


class Obstore(Zarr):
    def make_bucket(self, zarr, name):
        from obstore.store import S3Store

        return zarr.storage.ObjectStore(S3Store(
            "bucket", prefix=name, endpoint=self.endpoint, region=KEYS["AWS_REGION"],
            access_key_id=KEYS["AWS_ACCESS_KEY_ID"], secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
            virtual_hosted_style_request=False, client_options={"allow_http": True}))

    def make_store(self, zarr, url):
        from obstore.store import HTTPStore

        return zarr.storage.ObjectStore(
            HTTPStore.from_url(url, client_options={"allow_http": True}), read_only=True)


class Fsspec(Zarr):
    def make_bucket(self, zarr, name):
        return zarr.storage.FsspecStore.from_url("s3://bucket/" + name, storage_options={
            "key": KEYS["AWS_ACCESS_KEY_ID"], "secret": KEYS["AWS_SECRET_ACCESS_KEY"],
            "client_kwargs": {"endpoint_url": self.endpoint}})

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


    def new_remote(self, name):
        codecs = [{"name": "sharding_indexed", "configuration": {
            "chunk_shape": [CHUNK, CHUNK], "codecs": [
                {"name": "bytes", "configuration": {"endian": "little"}},
                {"name": "zstd", "configuration": {"level": 3}}]}}]
        array = self.ts.open({
            "driver": "zarr3",
            "kvstore": {"driver": "s3", "bucket": "bucket", "path": name + "/a/", "endpoint": self.url,
                        "aws_region": KEYS["AWS_REGION"], "aws_credentials": {"type": "environment"}},
            "metadata": {"shape": [SIDE, SIDE], "data_type": "int16", "codecs": codecs, "chunk_grid": {
                "name": "regular", "configuration": {"chunk_shape": [SHARD, SHARD]}}},
        }, context=self.context, create=True).result()
        return lambda values: array.write(values).result()


READERS = {"ours": Ours, "h5py": H5py, "gdal": Gdal, "obstore": Obstore, "fsspec": Fsspec,
           "tensorstore": Tensorstore, "gdal-own-1": lambda url: GdalOwn(url, 1),
           "gdal-own-16": lambda url: GdalOwn(url, 16)}


class Timer:
    def __init__(self, url):
        self.url = "/".join(url.split("/")[:3])
        self.asked()

    def asked(self):
        with urllib.request.urlopen(self.url + "/.count") as reply:
            return json.load(reply)

    def time(self, what, work):
        begun, spent = time.perf_counter(), time.process_time()
        result = work()
        ms, spent = (time.perf_counter() - begun) * 1000, time.process_time() - spent
        print(json.dumps({"what": what, "ms": ms, "spent": spent} | self.asked()), flush=True)
        return result


def touch(size):
    """A virtual machine may give free memory back to its host, within seconds. To touch it again costs many times
    as much as to clear it, and only who comes first would pay: so each one touches what it is going to need."""
    np.ones(size, "u1")


def time_windows(timer, reader):
    array = timer.time("open", lambda: reader.open("shards"))
    for what, start in ("cold window", 512), ("next window", 1024):
        values = timer.time(what, lambda: reader.read(array, (start,) * 2, (WINDOW,) * 2))
        assert values.shape == (WINDOW, WINDOW)
    timer.time("tiles", lambda: reader.read(array, (4096 - TILES // 2 // 256 * 256,) * 2, (TILES,) * 2))


def time_whole(timer, reader, what, url):
    array = reader.open(what)
    touch(512 << 20)
    timer.asked()
    whole = timer.time("whole " + what, lambda: reader.read(array, (0, 0), (8192, 8192)))
    with urllib.request.urlopen(url + "/sum.json") as reply:
        assert int(np.asarray(whole[::997, ::991], "i8").sum()) == json.load(reply)


def time_write(timer, reader, part):
    import zarr

    values = np.random.default_rng(2).integers(0, 256, (SIDE, SIDE), "u1").astype("i2")
    name = "w.zarr"
    write = reader.new_in_memory() if part == "encode" else reader.new_remote(name)
    touch(1 << 30)
    timer.asked()
    timer.time({"write": "whole write", "encode": "its encoding"}[part], lambda: write(values))
    if part == "write":
        found = zarr.open_array(Path(os.environ["BUCKET"]) / name / "a", mode="r")
        for row in (0, SHARD + 7, SIDE - 1):
            assert (found[row] == values[row]).all(), f"row {row}"


def main():
    name, part, url = sys.argv[1:]
    os.environ.update(KEYS, AWS_ENDPOINT_URL=url)
    timer = Timer(url)
    try:
        reader = READERS[name](url)
    except (ImportError, Missing) as reason:
        print(reason, file=sys.stderr)
        sys.exit(3)
    print(json.dumps({"version": reader.version}))
    timer.asked()
    if part in ("write", "encode"):
        time_write(timer, reader, part)
    elif part == "windows":
        time_windows(timer, reader)
    elif part != "group":
        time_whole(timer, reader, part, url)
    elif reader.members:
        assert timer.time("group", lambda: reader.members("group")) == 50


if __name__ == "__main__":
    main()
