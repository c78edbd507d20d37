# SPDX-License-Identifier: MIT
"""Arrays of strings, written by us and read by zarr-python, and the other way round: plain and in
shards, compressed or not, written in parts, with chunks that are not stored."""

import ctypes as c
import warnings

import numpy as np
import pytest
import zarr
from libzarrbridge import Dtype, Read, Spec, Store, View, Write, Writer, call, lib, shape_of

warnings.filterwarnings("ignore")

SHAPE, FILL = (9, 11), "füll"
STRING = 6  # ZB_KIND_STRING


class Slice(c.Structure):
    """zb_slice"""

    _fields_ = [("data", c.c_char_p), ("size", c.c_size_t)]


DTYPE = Dtype(STRING, c.sizeof(Slice), False, None)
CASES = {
    "plain": {"chunks": (4, 5)},
    "raw": {"chunks": (4, 5), "compressors": None},
    "shards": {"chunks": (2, 5), "shards": (4, 10)},
    "raw_shards": {"chunks": (2, 5), "shards": (4, 10), "compressors": None},
}


def texts(shape, seed):
    random = np.random.default_rng(seed)
    alphabet = list("aé日𝄞 \"\\\n")
    values = np.empty(shape, dtype=object)
    for at in np.ndindex(*shape):
        values[at] = "".join(random.choice(alphabet, random.integers(0, 40)))
    return values


def slices(values):
    encoded = [value.encode() for value in values.ravel()]
    return (Slice * len(encoded))(*[Slice(text, len(text)) for text in encoded])


def read_all(store, path):
    """All elements by zb_array_read, as objects."""
    node, values, got = store.open(path), c.c_void_p(), (Slice * (SHAPE[0] * SHAPE[1]))()
    try:
        call(lib.zb_values_new, c.byref(values))
        view = View(c.addressof(got), DTYPE, None, values)
        read = Read(node, None, None, None, view)
        call(lib.zb_array_read, c.byref(read), c.c_size_t(1))
        pointer = c.c_void_p.from_buffer
        out = [c.string_at(pointer(s).value, s.size).decode() if s.size else "" for s in got]
    finally:
        lib.zb_values_free(values)
        lib.zb_node_release(node)
    return np.array(out, dtype=object).reshape(SHAPE)


def write_box(writer, start, values):
    elements = slices(values)
    write = Write(start=shape_of(start), count=shape_of(values.shape), step=None,
                  data=c.addressof(elements), dtype=DTYPE, strides=None)
    call(lib.zb_writer_write, writer.handle, c.byref(write))


@pytest.mark.parametrize("name", CASES)
def test_theirs_by_us(name, tmp_path):
    model = np.full(SHAPE, FILL, dtype=object)
    array = zarr.create_array(tmp_path / "a", shape=SHAPE, dtype=str, fill_value=FILL, **CASES[name])
    model[1:8, :6] = texts((7, 6), 1)
    array[1:8, :6] = model[1:8, :6]
    store = Store(tmp_path)
    assert (read_all(store, "a") == model).all()
    # And a part of it by us, over theirs.
    more = texts((5, 7), 2)
    model[3:8, 4:11] = more
    with Writer(store, "a") as writer:
        write_box(writer, (3, 4), more)
    assert (read_all(store, "a") == model).all()
    assert (zarr.open_array(tmp_path / "a", mode="r")[:] == model).all()
    store.close()


@pytest.mark.parametrize("name", CASES)
def test_ours_by_them(name, tmp_path):
    case, fill = CASES[name], FILL.encode()
    one, node = Slice(fill, len(fill)), c.c_void_p()
    spec = Spec(
        ndim=2, shape=shape_of(SHAPE), inner_shape=shape_of(case["chunks"]),
        shard_shape=shape_of(case.get("shards")), dtype=DTYPE,
        fill_value=c.cast(c.byref(one), c.c_void_p),
        codecs=None if "compressors" not in case else b"[]")
    store = Store(tmp_path)
    call(lib.zb_array_create, store.handle, b"a", c.byref(spec), c.byref(node))
    lib.zb_node_release(node)
    model = np.full(SHAPE, FILL, dtype=object)
    with Writer(store, "a") as writer:
        for start, shape, seed in [((0, 0), (4, 10), 3), ((2, 7), (5, 4), 4), ((8, 0), (1, 3), 5)]:
            box = tuple(slice(a, a + n) for a, n in zip(start, shape))
            model[box] = texts(shape, seed)
            write_box(writer, start, model[box])
    array = zarr.open_array(tmp_path / "a", mode="r")
    assert array.fill_value == FILL
    assert (array[:] == model).all()
    assert (read_all(store, "a") == model).all()
    store.close()
