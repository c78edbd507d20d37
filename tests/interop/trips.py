# SPDX-License-Identifier: MIT
"""Random arrays for the round trips: type, shape, chunks, shards, shards in shards, codecs, and the
boxes in which they are written.

All of a case follows from its number and the seed, which every failure names:

    ZARRBRIDGE_SEED=... ZARRBRIDGE_TEST_LENGTH=...   as printed, to run the same cases again
"""

import itertools
import json
import os
import random

import numpy as np
import refcodec
from length import SEED, by_length
from libzarrbridge import Store, Writer

# Cases in each direction; fewer under a sanitizer, whose runtime is preloaded.
COUNT = by_length(100, 200 if os.environ.get("LD_PRELOAD") else 1000)

TYPES = ["bool", *(f"{k}{n}" for k in ("int", "uint") for n in (8, 16, 32, 64)), "float16",
         "float32", "float64", "complex64", "complex128"]  # fmt: skip
ELEMENTS = 6000  # an array has at most about that many
CRC = {"name": "crc32c"}


def bytes_codec(order):
    return {"name": "bytes", "configuration": {"endian": order}}


class Case:
    def __init__(self, direction, number):
        self.name = f"{direction}-{number}"
        self.random = random.Random(f"{SEED} {self.name}")
        self.numbers = np.random.default_rng(self.random.randrange(2**32))
        self.type = self.random.choice(TYPES)
        self.dtype = np.dtype(self.type)
        self.choose_shapes()
        self.choose_codecs()
        self.fill = self.values(())[()]
        self.separator = self.random.choice("//.")
        self.model = np.full(self.shape, self.fill, self.dtype)

    def __str__(self):
        return (f"ZARRBRIDGE_SEED={SEED}, case {self.name}: {self.type} {self.shape}, levels "
                f"{self.levels}, separator '{self.separator}', fill {self.fill!r}, codecs "
                f"{json.dumps(self.codecs())}")  # fmt: skip

    # ---- The array ----

    def choose_shapes(self):
        """levels: the chunk, then the inner chunks of each depth."""
        pick = self.random
        ndim = pick.choice([0, 1, 1, 2, 2, 2, 3, 3, 4])
        edge = max(2, int(ELEMENTS ** (1 / ndim))) if ndim else 0
        self.shape = tuple(pick.randint(1, edge) for _ in range(ndim))
        depth = pick.choice([0, 1, 1, 1, 2]) if ndim else 0
        innermost = [pick.randint(1, max(1, n // pick.choice([1, 2, 4, 8]))) for n in self.shape]
        # Few enough chunks that a case is quick.
        while np.prod([-(-n // m) for n, m in zip(self.shape, innermost)]) > 80:
            d = pick.randrange(ndim)
            innermost[d] = min(2 * innermost[d], self.shape[d])
        self.levels = [tuple(innermost)]
        for _ in range(depth):
            self.levels.insert(0, tuple(m * pick.randint(1, 3) for m in self.levels[0]))

    def choose_codecs(self):
        pick = self.random
        self.order = pick.choice(["little", "little", "big"])
        self.bytes_codecs = [self.bytes_to_bytes() for _ in range(pick.choice([0, 1, 1, 1, 2]))]
        self.transpose = None
        if len(self.shape) > 1 and pick.random() < 0.3:
            self.transpose = pick.sample(range(len(self.shape)), len(self.shape))
        self.locations = [pick.choice(["end", "end", "start"]) for _ in self.levels[1:]]
        self.checked = [pick.random() < 0.8 for _ in self.levels[1:]]

    def bytes_to_bytes(self):
        pick = self.random
        name = pick.choice(["zstd", "zstd", "gzip", "blosc", "crc32c"])
        if name == "zstd":
            conf = {"level": pick.choice([-3, 0, 1, 3, 9]), "checksum": pick.random() < 0.3}
        elif name == "gzip":
            conf = {"level": pick.choice([0, 1, 5, 9])}
        elif name == "blosc":
            conf = {"cname": pick.choice(["lz4", "lz4hc", "blosclz", "zstd", "zlib"]),
                    "clevel": pick.choice([0, 1, 5, 9]), "blocksize": pick.choice([0, 0, 128]),
                    "shuffle": pick.choice(["noshuffle", "shuffle", "bitshuffle"]),
                    "typesize": self.dtype.itemsize}  # fmt: skip
        else:
            return CRC
        return {"name": name, "configuration": conf}

    def codecs(self):
        """The whole chain, as in a document."""
        chain = [bytes_codec(self.order), *self.bytes_codecs]
        if self.dtype.itemsize == 1:
            chain[0] = {"name": "bytes"}
        if self.transpose:
            chain.insert(0, {"name": "transpose", "configuration": {"order": self.transpose}})
        for inner, location, checked in zip(self.levels[:0:-1], self.locations, self.checked):
            conf = {"chunk_shape": list(inner), "codecs": chain, "index_location": location,
                    "index_codecs": [bytes_codec("little"), *([CRC] if checked else [])]}
            chain = [{"name": "sharding_indexed", "configuration": conf}]
        return chain

    def document(self, shape=None):
        document = refcodec.array_document(shape or self.shape, self.type, self.levels[0],
                                           self.codecs(), refcodec.fill_json(self.fill, self.dtype))
        document["chunk_key_encoding"]["configuration"]["separator"] = self.separator
        return document

    def is_plain(self):
        """True if zb_array_create can make it."""
        return (not self.transpose and len(self.levels) <= 2
                and self.locations in ([], ["end"]) and all(self.checked))  # fmt: skip

    # ---- The written elements ----

    def values(self, shape):
        """Random elements: few different ones, all bits, or all one (the fill value, once there is
        one)."""
        count = int(np.prod(shape, dtype=int))
        kind = self.random.randrange(4)
        if self.type == "bool":
            numbers = self.numbers.integers(0, 2, count).astype(bool)
        elif kind < 2:
            numbers = self.numbers.integers(0, 3, count).astype(self.dtype)
        else:
            raw = self.numbers.integers(0, 256, count * self.dtype.itemsize, "u1")
            numbers = raw.view(self.dtype)
            if self.dtype.kind in "fc":
                # Of all NaNs only the usual one: others have no name in a document.
                part = numbers.view(f"f{numbers.itemsize // (2 if self.dtype.kind == 'c' else 1)}")
                part[np.isnan(part)] = np.nan
        if kind == 3 and hasattr(self, "fill"):
            numbers[...] = self.fill
        return numbers.reshape(shape)

    def boxes(self, most):
        """Boxes (start, step, count), in one of the orders in which arrays are written."""
        kind = self.random.choice(["whole", "rows", "tiles", "any", "any", "any"])
        if kind == "whole" or not self.shape:
            return [((0,) * len(self.shape), (1,) * len(self.shape), self.shape)]
        if kind == "any":
            return [self.any_box() for _ in range(self.random.randint(1, most))]
        if kind == "rows":
            cell = (-(-self.shape[0] // most), *self.shape[1:])
        else:
            cell = [max(self.random.randint(1, n), -(-n // 3)) for n in self.shape]
        starts = itertools.product(*(range(0, n, m) for n, m in zip(self.shape, cell)))
        tiles = [(s, (1,) * len(s), tuple(min(m, n - a) for a, m, n in zip(s, cell, self.shape)))
                 for s in starts]  # fmt: skip
        self.random.shuffle(tiles)
        return tiles[:most] if self.random.random() < 0.3 else tiles

    def any_box(self):
        pick = self.random
        start = tuple(pick.randrange(n) for n in self.shape)
        step = tuple(pick.choice([1, 1, 1, pick.randint(1, 5)]) for _ in start)
        room = [(n - a - 1) // s + 1 for n, a, s in zip(self.shape, start, step)]
        return start, step, tuple(pick.randint(1, n) for n in room)

    def in_layout(self, values):
        """The same values in memory of another order, direction or byte order."""
        kind = self.random.randrange(5)
        if kind == 0:
            return np.asfortranarray(values)
        if kind == 1:
            return values.astype(values.dtype.newbyteorder())
        if kind == 2 and values.ndim:
            return np.flip(np.flip(values, 0).copy(), 0)
        if kind == 3 and values.ndim:
            return np.repeat(values, 2, axis=-1)[..., ::2]
        return values

    def put(self, box, values):
        self.model[slices(box)] = values

    def create(self, store, path):
        """By our own call, which makes the document."""
        store.create_array(path, self.shape, self.levels[-1],
                           self.dtype.newbyteorder("<" if self.order == "little" else ">"),
                           fill_value=self.fill, codecs=self.bytes_codecs,
                           shards=self.levels[0] if len(self.levels) > 1 else None,
                           separator=self.separator)  # fmt: skip

    def write(self, folder):
        """Writes the array "a" in a group at the root of a store, by us."""
        store = Store(folder)
        if self.is_plain():
            self.create(store, "a")
        else:
            store.create_group("")
            refcodec.write_document(folder / "a", self.document())
        with Writer(store, "a") as writer:
            for box in self.boxes(6):
                values = self.values(box[2])
                writer.write(box[0], box[1], self.in_layout(values))
                self.put(box, values)
                if self.random.random() < 0.2:
                    writer.flush()
        store.close()


def slices(box):
    """A box as an index of numpy and zarr-python."""
    start, step, count = box
    return tuple(slice(a, a + (n - 1) * s + 1, s) for a, s, n in zip(start, step, count))
