#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Times one reader on the stores of run_remote.py behind a URL, and prints JSON lines {"what", "ms",
"requests", "bytes"}.

    remote_peers.py READER URL

READER    ours: the C library (ZARRBRIDGE_BUILD_DIR); obstore: zarr-python with it; tensorstore
"""

import ctypes as c
import json
import os
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np

WINDOW, TILES = 256, 9 * 256


class Ours:
    def __init__(self, url):
        os.environ.setdefault("ZARRBRIDGE_SOURCE_DIR", str(Path(__file__).resolve().parents[2]))
        sys.path.insert(0, os.environ["ZARRBRIDGE_SOURCE_DIR"] + "/tests/remote")
        import remote_store

        self.lib, self.url, self.remote = remote_store, url, None

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


class Obstore:
    def __init__(self, url):
        import zarr
        from obstore.store import HTTPStore

        zarr.config.set({"async.concurrency": 64})
        self.zarr = zarr
        self.store = zarr.storage.ObjectStore(
            HTTPStore.from_url(url, client_options={"allow_http": True}), read_only=True)

    def open(self, path):
        return self.zarr.open_array(self.store, path=path, mode="r", zarr_format=3)

    def read(self, array, start, count):
        return array[tuple(slice(s, s + n) for s, n in zip(start, count))]

    def members(self, path):
        group = self.zarr.open_group(self.store, path=path, mode="r", zarr_format=3)
        return len([array.shape for _, array in group.arrays()])


class Tensorstore:
    def __init__(self, url):
        import tensorstore

        self.ts, self.url = tensorstore, url
        self.context = tensorstore.Context({"cache_pool": {"total_bytes_limit": 0}})

    def open(self, path):
        spec = {"driver": "zarr3", "kvstore": {"driver": "http", "base_url": f"{self.url}/{path}/"}}
        return self.ts.open(spec, context=self.context, read=True, open=True).result()

    def read(self, array, start, count):
        return array[tuple(slice(s, s + n) for s, n in zip(start, count))].read().result()

    members = None  # it has no groups


READERS = {"ours": Ours, "obstore": Obstore, "tensorstore": Tensorstore}


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


def main():
    name, url = sys.argv[1:]
    timer, reader = Timer(url), READERS[name](url)
    shards = timer.time("open", lambda: reader.open("shards"))
    right = timer.time("cold window", lambda: reader.read(shards, (512, 512), (WINDOW, WINDOW)))
    assert right.shape == (WINDOW, WINDOW)
    timer.time("next window", lambda: reader.read(shards, (1024, 1024), (WINDOW, WINDOW)))
    timer.time("tiles", lambda: reader.read(shards, (4096 - TILES // 2 // 256 * 256,) * 2, (TILES,) * 2))
    reader = READERS[name](url)
    for what in ("shards", "chunks"):
        array = reader.open(what)
        timer.asked()
        if name == "ours":
            reader.lib.lib.zb_cache_clear()
        whole = timer.time("whole " + what, lambda: reader.read(array, (0, 0), (8192, 8192)))
        assert int(np.asarray(whole[::997, ::991], "i8").sum()) == json.loads(
            urllib.request.urlopen(url + "/sum.json").read())
        timer.asked()
    if reader.members:
        reader = READERS[name](url)
        timer.asked()
        assert timer.time("group", lambda: reader.members("group")) == 50


if __name__ == "__main__":
    main()
