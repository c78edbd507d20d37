# SPDX-License-Identifier: MIT
"""A store behind a URL through the library's C interface: arrays, and requests (zb_fetch)."""

import ctypes as c
import os
import sys
import threading

import numpy as np

sys.path.insert(0, os.path.join(os.environ["ZARRBRIDGE_SOURCE_DIR"], "tests/interop"))

from libzarrbridge import TEXT, Error, Store, Writer, ZarrbridgeError, call, lib  # noqa: E402, F401

FROM_END = 2**64 - 1
WHOLE = 2**64 - 1
CODES = {0: "OK", -1: "EIO", -2: "ENOTFOUND", -3: "ENOMEM", -4: "EFORMAT", -5: "EUNSUPPORTED",
         -6: "EINVAL", -7: "ECHECKSUM", -8: "ELIMIT", -9: "ECONFLICT"}


class Range(c.Structure):
    _fields_ = [("offset", c.c_uint64), ("length", c.c_size_t), ("buffer", c.c_void_p),
                ("got", c.c_size_t)]


class Info(c.Structure):
    _fields_ = [("size", c.c_uint64), ("word", c.c_uint64 * 4), ("valid", c.c_bool),
                ("age", c.c_int64), ("is_packed", c.c_bool)]


class Fetch(c.Structure):
    pass


Fetch._fields_ = [("object", c.c_void_p), ("key", c.c_char_p), ("range", Range),
                  ("most", c.c_uint64), ("info", Info), ("code", c.c_int), ("error", Error),
                  ("next", c.POINTER(Fetch))]
DONE = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(Fetch))
free = c.CDLL(None).free
free.argtypes = [c.c_void_p]


class Answer:
    """What a fetch has come to; its handle, when it opened one, until close()."""

    def __init__(self, fetch, own):
        self.code, self.message = CODES[fetch.code], fetch.error.message.decode()
        self.size, self.got = fetch.info.size, fetch.range.got
        self.validator = tuple(fetch.info.word) if fetch.info.valid else None
        self.data = c.string_at(fetch.range.buffer, fetch.range.got) if fetch.range.buffer else b""
        self.object = fetch.object
        if own and fetch.range.buffer:
            free(fetch.range.buffer)

    def close(self):
        lib.zb_object_close(c.c_void_p(self.object))


class RemoteStore(Store):
    def __init__(self, url):
        self.handle = c.c_void_p()
        call(lib.zb_hierarchy_open, str(url).encode(), c.byref(self.handle))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def read(self, path, shape, dtype, start=None):
        values = np.empty(shape, dtype)
        self.read_into(path, start or (0,) * len(shape), (1,) * len(shape), values)
        return values

    def submit(self, fetches, done, context=None):
        """Keep `fetches` and `done` (a DONE) until all is over."""
        for fetch, following in zip(fetches, fetches[1:]):
            fetch.next = c.pointer(following)
        call(lib.zb_store_submit, self.store, c.byref(fetches[0]), done, context)

    def cancel(self, context=None):
        lib.zb_store_cancel(self.store, context)

    def fetch_all(self, fetches, timeout=100):
        left, over = [len(fetches)], threading.Event()

        def count(_, fetch):
            left[0] -= 1
            if left[0] == 0:
                over.set()

        done = DONE(count)
        self.submit(fetches, done)
        assert over.wait(timeout), "the store has not answered"
        return [Answer(fetch, True) for fetch in fetches]

    def fetch(self, key, offset=0, length=WHOLE, handle=None, most=1 << 30):
        """One request, by a key or a handle. A handle that it opens is closed."""
        fetch = Fetch(object=handle, key=key.encode(), range=Range(offset=offset, length=length),
                      most=most)
        answer = self.fetch_all([fetch])[0]
        if not handle and answer.object:
            answer.close()
        return answer

    def open_object(self, key):
        """The handle of an object."""
        handle, info = c.c_void_p(), Info()
        call(lib.zb_object_open, self.store, key.encode(), c.byref(handle), c.byref(info))
        return handle

    def close_object(self, handle):
        lib.zb_object_close(handle)

    def close_handle(self, address):
        lib.zb_object_close(c.c_void_p(address))

    def release(self, answer):
        if answer.object:
            answer.close()
