# SPDX-License-Identifier: MIT
"""Arrays of strings, written by us and read by zarr-python, and the other way round: plain and in
shards, compressed or not, written in parts, with chunks that are not stored."""

import warnings

import numpy as np
import pytest
import zarr
from libzarrbridge import TEXT, Store, Writer

warnings.filterwarnings("ignore")

SHAPE, FILL = (9, 11), "füll"
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


def read_all(store, path):
    """All elements, as objects."""
    values = np.empty(SHAPE, object)
    store.read_into(path, None, None, values, TEXT)
    return values


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
        writer.write((3, 4), None, more, TEXT)
    assert (read_all(store, "a") == model).all()
    assert (zarr.open_array(tmp_path / "a", mode="r")[:] == model).all()
    store.close()


@pytest.mark.parametrize("name", CASES)
def test_ours_by_them(name, tmp_path):
    case, store = CASES[name], Store(tmp_path)
    store.create_array("a", SHAPE, case["chunks"], object, FILL, shards=case.get("shards"),
                       codecs=[] if "compressors" in case else None, element=TEXT)
    model = np.full(SHAPE, FILL, dtype=object)
    with Writer(store, "a") as writer:
        for start, shape, seed in [((0, 0), (4, 10), 3), ((2, 7), (5, 4), 4), ((8, 0), (1, 3), 5)]:
            box = tuple(slice(a, a + n) for a, n in zip(start, shape))
            model[box] = texts(shape, seed)
            writer.write(start, None, model[box], TEXT)
    array = zarr.open_array(tmp_path / "a", mode="r")
    assert array.fill_value == FILL
    assert (array[:] == model).all()
    assert (read_all(store, "a") == model).all()
    store.close()
