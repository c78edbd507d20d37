# SPDX-License-Identifier: MIT
"""The cases of the differential tests: an array of any form that the format allows, and the changes
that it goes through. All of a case follows from the seed and its index, whatever peers there are.

The classes grow out of those of the round trips (trips.py).
"""

import random

import diff_codecs
import diff_types
import numpy as np
import refcodec
import trips
from diff_codecs import COMMON, COMPRESSORS, FILTERS, KEYS, SERIALIZERS
from trips import CRC, bytes_codec

ELEMENTS = 1500  # an array has at most about that many
CHUNKS = 40  # so that a case is quick


class Case(trips.Case):
    """An array of version 3. `levels` are the shapes of a chunk and of the inner chunks of each
    depth; `runs` are lists of [extent, count] for each dimension, or None for a regular grid."""

    version = 3

    def __init__(self, seed, index):
        self.seed, self.name, self.index = seed, f"{seed}/{index}", index
        self.random = random.Random(f"differential {seed} {index}")
        self.numbers = np.random.default_rng(self.random.randrange(2**32))
        self.type = self.random.choice(self.types())
        self.dtype = self.type.dtype
        self.tame = False
        self.choose_shapes()
        self.choose_keys()
        self.chain = self.choose_chain()
        self.fill = self.values(())[()]
        self.model = np.full(self.shape, self.fill, self.dtype)
        self.first_shape = self.shape

    def types(self):
        return diff_types.TYPES

    def __str__(self):
        return f"case {self.index}: {self.type.name} {self.first_shape}"

    def unknown_to(self, peer):
        return peer.unknown(self)

    def element(self, values):
        """The library's type of values to be written, where numpy's does not say it."""
        plain = self.dtype != object and not self.type.small
        return None if plain else self.type.library()

    def has(self, *names):
        """Is one of these codecs in the chain?"""
        return any(name in names for name in diff_codecs.names(self.chain))

    def has_member(self, name, value):
        """Has a codec's configuration that member?"""
        return any(codec.get("configuration", {}).get(name) == value
                   for chain in diff_codecs.chains(self.chain) for codec in chain)  # fmt: skip

    # ---- The array ----

    def choose_shapes(self):
        pick = self.random
        ndim = pick.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 5])
        edge = max(2, int(ELEMENTS ** (1 / ndim))) if ndim else 0
        self.shape = tuple(pick.randint(1, edge) for _ in range(ndim))
        innermost = [pick.randint(1, max(1, n // pick.choice([1, 2, 4, 8]))) for n in self.shape]
        while np.prod([-(-n // m) for n, m in zip(self.shape, innermost)]) > CHUNKS:
            d = pick.randrange(ndim)
            innermost[d] = min(2 * innermost[d], self.shape[d])
        self.levels = [tuple(innermost)]
        for _ in range(pick.choice([0, 0, 0, 1, 1, 2]) if ndim else pick.choice([0, 0, 1])):
            self.levels.insert(0, tuple(m * pick.randint(1, 3) for m in self.levels[0]))
        self.runs = None
        if ndim and pick.random() < 0.15:
            self.runs = [self.choose_runs(d) for d in range(ndim)]
            if not any(self.runs):
                self.runs = None
        if ndim and pick.random() < 0.04:
            self.shape = tuple(0 if d == 0 or pick.random() < 0.3 else n
                               for d, n in enumerate(self.shape))

    def choose_runs(self, d):
        """Chunks of several extents along a dimension, which the inner chunks divide; or None."""
        if self.random.random() < 0.3:
            return None
        extent, chunk = self.shape[d], self.levels[0][d]
        unit = self.levels[1][d] if len(self.levels) > 1 else 1
        runs, total = [], 0
        while total < extent:
            size = max(unit, self.random.randint(1, 2 * chunk) // unit * unit)
            runs.append([size, self.random.choice([1, 1, 2])])
            total += size * runs[-1][1]
        return runs

    def choose_keys(self):
        name, configuration = self.random.choice(KEYS)
        self.keys = {"name": name}
        if configuration is not None:
            self.keys["configuration"] = configuration
        self.separator = (configuration or {}).get("separator", "/" if name == "default" else ".")

    # ---- Codecs ----

    def choose_chain(self):
        self.order = self.random.choice(["little", "little", "big"])
        return self.build(self.levels)

    def build(self, shapes):
        """The codecs of a chunk of shapes[0]; shapes[1:] are those of the shards in it."""
        pick, before = self.random, []
        ndim = len(shapes[0])
        if ndim > 1 and pick.random() < (0.25 if len(shapes) == 1 else 0.1):
            order = pick.sample(range(ndim), ndim)
            before.append({"name": "transpose", "configuration": {"order": order}})
            shapes = [tuple(shape[i] for i in order) for shape in shapes]
        if pick.random() < (0.25 if len(shapes) == 1 else 0.05) and not self.tame:
            before = self.with_filter(before, len(shapes) > 1)
        if len(shapes) == 1:
            narrowed = self.tame or any(codec["name"] != "transpose" for codec in before)
            chain = [*before, self.serializer()]
            for _ in range(pick.choice([0, 1, 1, 1, 2])):
                fixed = chain[-1]["name"] == "bytes" and not narrowed
                chain.append(self.compressor(fixed))
            return chain
        index = [bytes_codec(pick.choice(["little"] * 9 + ["big"]))]
        configuration = {"chunk_shape": list(shapes[1]), "codecs": self.build(shapes[1:]),
                         "index_codecs": index + [CRC] * (pick.random() < 0.8)}  # fmt: skip
        location = pick.choice(["end", "end", "start", None])
        if location:
            configuration["index_location"] = location
        behind = [self.compressor(False)] if pick.random() < 0.1 else []
        return [*before, {"name": "sharding_indexed", "configuration": configuration}, *behind]

    def with_filter(self, chain, outside):
        """The chain with a filter that suits, if one does, in front or behind."""
        fit = [f for f in FILTERS if f.fits(self) and (f.outside or not outside)]
        if not fit or self.dtype == object:
            return chain
        chosen = self.random.choice(fit)
        self.tame = chosen.tame
        late = self.random.random() < 0.5 or chosen.last
        return [*chain, chosen.make(self)] if late else [chosen.make(self), *chain]

    def serializer(self):
        fit = [s for s in SERIALIZERS if s.fits(self)]
        if self.dtype == object:
            return fit[0].make(self)
        if fit and self.random.random() < 0.1:
            return self.random.choice(fit).make(self)
        return {"name": "bytes"} if self.dtype.itemsize == 1 else bytes_codec(self.order)

    def compressor(self, first):
        """first: behind elements of a fixed size."""
        table = self.random.choice([COMMON, COMMON + COMPRESSORS])
        fit = [c for c in table if c.fits(self) and (first or not c.first)]
        return self.random.choice(fit).make(self)

    # ---- The document ----

    def grid(self):
        if not self.runs:
            return {"name": "regular", "configuration": {"chunk_shape": list(self.levels[0])}}
        shapes = [[run if run[1] > 1 else run[0] for run in runs] if runs else chunk
                  for runs, chunk in zip(self.runs, self.levels[0])]  # fmt: skip
        return {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": shapes}}

    def document(self, shape=None):
        document = refcodec.array_document(self.shape, self.type.data_type, self.levels[0],
                                           self.chain, self.type.fill_json(self.fill))
        return document | {"chunk_grid": self.grid(), "chunk_key_encoding": self.keys}

    def create(self, store, path):
        """By our own call, which makes the document."""
        store.create_array(path, self.shape, self.levels[0], self.dtype, self.fill,
                           codecs=self.chain, separator=self.separator, runs=self.runs,
                           element=self.type.library())

    def is_ours(self):
        """Can zb_array_create make it?"""
        return (self.keys["name"] == "default"
                and self.type.name not in ("r16", "variable_length_bytes"))  # fmt: skip

    # ---- Elements and changes ----

    def values(self, shape):
        kind = self.random.randrange(4)
        count = int(np.prod(shape, dtype=int))
        values = self.type.random(self.numbers, count, kind, self.tame).reshape(shape)
        if kind == 3 and hasattr(self, "fill"):
            values[...] = self.fill
        return values

    def in_layout(self, values):
        return values if values.dtype == object or self.type.small else super().in_layout(values)

    def changes(self):
        """What happens to the array, in order: ("write", box) and ("resize", shape). The caller
        makes each before it asks for the next."""
        pick = self.random
        for _ in range(pick.randint(1, 4)):
            if self.shape and pick.random() < 0.3:
                yield "resize", self.another_shape()
            if all(self.shape):
                yield from (("write", box) for box in self.boxes(3)[:4])

    def another_shape(self):
        """One extent longer, as an append makes it, or some longer or shorter."""
        shape = list(self.shape)
        axes = [0] if self.random.random() < 0.5 else range(len(shape))
        for d in axes:
            most = 2 * max(self.first_shape[d], 1) + 1
            shape[d] = self.random.randint(shape[d] if len(axes) == 1 else 1, max(most, shape[d]))
        while np.prod([-(-n // m) for n, m in zip(shape, self.levels[-1])]) > 3 * CHUNKS:
            longest = max(range(len(shape)), key=lambda d: shape[d] / self.levels[-1][d])
            shape[longest] = max(1, shape[longest] // 2)
        return tuple(shape)

    def resized(self, shape):
        """The model in another shape."""
        model = np.full(shape, self.fill, self.dtype)
        both = tuple(slice(0, min(a, b)) for a, b in zip(shape, self.shape))
        model[both] = self.model[both]
        self.model, self.shape = model, tuple(shape)

    def windows(self, count):
        """Boxes to be read: the whole array, and others with steps."""
        whole = (0,) * len(self.shape), (1,) * len(self.shape), self.shape
        if not self.shape or not all(self.shape):
            return [whole]
        return [whole, *(self.any_box() for _ in range(count))]
