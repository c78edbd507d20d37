# SPDX-License-Identifier: MIT
"""Arrays of times, text and bytes of a fixed size, and structs, written by us and read by
zarr-python, and the other way round: plain and in shards, compressed or not, in both byte orders,
with chunks that are not stored."""

import json
import warnings

import numpy as np
import pytest
import zarr
from libzarrbridge import Store, Writer

if tuple(int(part) for part in zarr.__version__.split(".")[:2]) < (3, 2):
    pytest.skip(f"zarr-python {zarr.__version__} has none of these types: 3.2 is the first",
                allow_module_level=True)
warnings.filterwarnings("ignore")

SHAPE = (7, 9)
NESTED = np.dtype([("a", "f8"), ("in", [("x", "i2"), ("u", "U2")]), ("t", "M8[s]"), ("s", "S3")])
TYPES = {
    "datetime_ns": (np.dtype("M8[ns]"), np.datetime64("NaT")),
    "datetime_10us": (np.dtype("M8[10us]"), np.datetime64(70, "10us")),
    "datetime_day": (np.dtype("M8[D]"), np.datetime64("2024-02-29")),
    "datetime": (np.dtype("M8"), np.datetime64("NaT")),
    "timedelta": (np.dtype("m8[6h]"), np.timedelta64(-2, "6h")),
    "bytes": (np.dtype("S5"), b"ab"),
    "raw": (np.dtype("V6"), np.void(b"\x01\x02\xff\x00\x05\x00")),
    "text": (np.dtype("U3"), "\u00e9\U0001d11e"),
    "struct": (np.dtype([("x", "i4"), ("y", "f4")]), (7, 0.5)),
    "nested": (NESTED, (1.5, (-3, "\u00fc"), np.datetime64(5, "s"), b"z")),
}
CASES = {
    "plain": {"chunks": (4, 5)},
    "raw": {"chunks": (4, 5), "compressors": None},
    "shards": {"chunks": (2, 5), "shards": (4, 10)},
}


def values_of(dtype, shape, seed):
    random = np.random.default_rng(seed)
    if dtype.names:
        values = np.zeros(shape, dtype)
        for i, name in enumerate(dtype.names):
            values[name] = values_of(dtype[name], shape, seed + i)
        return values
    if dtype.kind == "U":
        texts = ["", "a", "\u65e5\u672c", "\U0001d11e", "xyz"]
        return np.array([t[: dtype.itemsize // 4] for t in texts])[
            random.integers(0, 5, shape)].astype(dtype)
    if dtype.kind == "S":
        return np.array([b"", b"q", b"ab\xff", b"hello"])[random.integers(0, 4, shape)].astype(dtype)
    if dtype.kind in "Mm":
        return random.integers(-(10**9), 10**9, shape).view(dtype)
    if dtype.kind == "V":
        return random.integers(0, 256, (*shape, dtype.itemsize), np.uint8).view(dtype)[..., 0]
    return random.integers(-100, 100, shape).astype(dtype)


def same(a, b):
    """By bytes: NaT is not equal to itself."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def scalar(dtype, fill):
    return np.array([fill], dtype) if dtype.names else np.array([fill]).astype(dtype)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", TYPES)
def test_theirs_by_us(name, case, tmp_path):
    dtype, fill = TYPES[name]
    fill = scalar(dtype, fill)
    array = zarr.create_array(tmp_path / "a", shape=SHAPE, dtype=dtype, fill_value=fill[0],
                              **CASES[case])
    model = np.full(SHAPE, fill[0], dtype)
    model[1:4, :6] = values_of(dtype, (3, 6), 1)
    array[1:4, :6] = model[1:4, :6]
    store = Store(tmp_path)
    got = np.empty(SHAPE, dtype)
    store.read_into("a", (0, 0), None, got)
    assert same(got, model)
    # And a part of it by us, over theirs.
    more = values_of(dtype, (3, 4), 2)
    model[2:5, 4:8] = more
    with Writer(store, "a") as writer:
        writer.write((2, 4), None, more)
    store.read_into("a", (0, 0), None, got)
    assert same(got, model)
    assert same(zarr.open_array(tmp_path / "a", mode="r")[:], model)
    store.close()


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", TYPES)
def test_ours_by_them(name, case, order, tmp_path):
    dtype, fill = TYPES[name]
    fill = scalar(dtype, fill)
    store = Store(tmp_path)
    store.create_array("a", SHAPE, CASES[case]["chunks"], dtype.newbyteorder(order), fill[0],
                       CASES[case].get("shards"), [] if "compressors" in CASES[case] else None)
    model = np.full(SHAPE, fill[0], dtype)
    with Writer(store, "a") as writer:
        for start, shape, seed in [((0, 0), (4, 5), 3), ((2, 7), (4, 2), 4), ((6, 0), (1, 3), 5)]:
            box = tuple(slice(a, a + n) for a, n in zip(start, shape))
            model[box] = values_of(dtype, shape, seed)
            writer.write(start, None, model[box])
    array = zarr.open_array(tmp_path / "a", mode="r")
    assert same(scalar(dtype, array.fill_value), fill)
    assert same(array[:].astype(dtype), model)
    store.close()


@pytest.mark.parametrize("fill", ["AQAAAAAAgD8=", {"x": 1, "y": 1.0}])
@pytest.mark.parametrize("name", ["struct", "structured"])
def test_old_and_new_forms_of_structs(name, fill, tmp_path):
    """The name that zarr-python wrote before 3.2, with pairs, and base64 as fill value."""
    zarr.create_array(tmp_path / "a", shape=(3,), chunks=(2,), dtype=TYPES["struct"][0])
    path = tmp_path / "a" / "zarr.json"
    document = json.loads(path.read_text())
    fields = [["x", "int32"], ["y", "float32"]]
    if name == "struct":
        fields = [{"name": n, "data_type": t} for n, t in fields]
    document.update(data_type={"name": name, "configuration": {"fields": fields}}, fill_value=fill)
    path.write_text(json.dumps(document))
    store = Store(tmp_path)
    got = np.empty(3, TYPES["struct"][0])
    store.read_into("a", (0,), None, got)
    store.close()
    assert got.tolist() == zarr.open_array(tmp_path / "a", mode="r")[:].tolist()


def test_one_field(tmp_path):
    array = zarr.create_array(tmp_path / "a", shape=SHAPE, chunks=(4, 5), dtype=NESTED)
    model = values_of(NESTED, SHAPE, 9)
    array[:] = model
    store = Store(tmp_path)
    got = np.empty(SHAPE, [("t", "M8[s]")])
    store.read_into("a", (0, 0), None, got)
    assert same(got["t"].copy(), model["t"].copy())
    got = np.zeros(SHAPE, np.dtype({"names": ["in", "a"], "formats": [[("x", "f8")], ">f4"],
                                    "offsets": [8, 0], "itemsize": 24}))
    store.read_into("a", (0, 0), None, got)
    assert (got["in"]["x"] == model["in"]["x"]).all() and (got["a"] == model["a"]).all()
    store.close()
