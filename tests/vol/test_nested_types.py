# SPDX-License-Identifier: MIT
"""Datasets of elements that point at others: text and sequences in compounds, arrays and sequences. To Zarr
programs they are texts of JSON."""

import json
import random
import warnings

import h5py
import numpy as np
import pytest
import zarr
from conftest import build_dir, run, tool
from test_created_types import document
from test_exact_types import mutate

TEXT, LONG_ASCII = h5py.string_dtype(), h5py.string_dtype("ascii")
INNER = np.dtype([("n", TEXT), ("k", "u1")])
TABLE = np.dtype([("a", ">i4"), ("s", LONG_ASCII), ("v", h5py.vlen_dtype("f4")), ("i", INNER), ("b", "?"),
                  ("e", h5py.string_dtype(length=5)), ("two", TEXT, (2,)), ("z", "c16")])


def table(count=5):
    rows = np.zeros(count, TABLE)
    for i in range(count):
        rows[i] = (i - 2, f"s{i}", np.arange(i, dtype="f4") * 1.5, (f"\u00fc{i}", i), i % 2, b"abc",
                   [b"x", f"y{i}".encode()], complex(i, -1))
    return rows


def texts():
    out = np.empty(3, object)
    out[:] = [np.array(["a", "bb\n\"q\""], object), np.array([], object), np.array(["\u00e9"], object)]
    return out


def plain(value):
    """Any element as nested tuples and lists, with texts as bytes."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, np.void):
        return tuple(plain(value[name]) for name in value.dtype.names)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return plain(value[()])
    if isinstance(value, (np.ndarray, list, tuple)):
        return [plain(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


def fill(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("t", data=table(), chunks=(2,), maxshape=(None,))
        file.create_dataset("one", data=table()[3], dtype=TABLE)
        file.create_dataset("texts", (3,), h5py.vlen_dtype(TEXT))
        for i, words in enumerate(texts()):
            file["texts"][i] = words
        file.create_dataset("lists", (2,), h5py.vlen_dtype(np.dtype([("n", "i2"), ("s", TEXT)])))
        kind = h5py.h5t.array_create(h5py.h5t.py_create(TEXT, logical=True), (2,))
        h5py.h5d.create(file.id, b"pairs", kind, h5py.h5s.create_simple((3,)))
        file.create_dataset("empty", (0,), TABLE, maxshape=(None,))
        file.create_dataset("null", data=h5py.Empty(TABLE))


NAMES = ("t", "one", "texts", "lists", "pairs", "empty", "null")


@pytest.fixture
def both(tmp_path):
    for name in ("a.h5", "x.zarr"):
        fill(tmp_path / name)
    return tmp_path


def assert_same(a, b, names=NAMES):
    with h5py.File(a, "r") as left, h5py.File(b, "r") as right:
        for name in names:
            one, other = left[name], right[name]
            assert one.id.get_type() == other.id.get_type(), name
            assert one.shape == other.shape and one.maxshape == other.maxshape, name
            if name == "lists":  # which h5py cannot read; h5diff does
                continue
            if one.shape is not None:
                assert plain(one[...]) == plain(other[...]), name
            if one.shape:
                assert [plain(row) for row in one] == [plain(row) for row in other], name


def test_kept(both):
    assert_same(both / "a.h5", both / "x.zarr")
    with h5py.File(both / "x.zarr", "r") as file:
        assert plain(file["t"][...]) == plain(table()) and plain(file["texts"][...]) == plain(texts())
        assert plain(file["t"][1:4:2]) == plain(table()[1:4:2]) and plain(file["t"][[0, 3]]) == plain(table()[[0, 3]])
        assert plain(file["t"]["s"]) == plain(table()["s"]) and plain(file["t"]["a"]) == plain(table()["a"])
        assert file["t"].chunks == (2,) and dict(file["t"].attrs) == {}
    tool("h5diff", both / "a.h5", both / "x.zarr", connector="zarr")


def test_what_zarr_programs_see(both):
    made = document(both / "x.zarr", "t")
    assert made["data_type"] == "string" and made["fill_value"] == ""
    side = json.loads(made["attributes"]["_hdf5"])
    assert side["type"]["class"] == "compound" and side["type"]["members"][1][2]["size"] == "variable"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        group = zarr.open_group(str(both / "x.zarr"), mode="r")
        rows = [json.loads(text) for text in group["t"][:]]
        assert [json.loads(text) for text in group["texts"][:]] == [["a", "bb\n\"q\""], [], ["\u00e9"]]
        assert list(group["lists"][:]) == ["", ""]
    assert rows[3] == {"a": 1, "s": "s3", "v": [0.0, 1.5, 3.0], "i": {"n": "\u00fc3", "k": 3}, "b": True, "e": "abc",
                       "two": ["x", "y3"], "z": {"r": 3.0, "i": -1.0}}


def test_members_alone(both):
    """What is written of a member leaves the others."""
    for name in ("a.h5", "x.zarr"):
        with h5py.File(both / name, "r+") as file:
            data = file["t"]
            data["a"] = [9, 8, 7, 6, 5]
            some = data.id.get_space()
            some.select_hyperslab((1,), (2,))
            kind = np.dtype([("s", LONG_ASCII), ("other", "i4")])
            data.id.write(h5py.h5s.create_simple((2,)), some, np.array([("new", 1), ("longer than before", 2)], kind),
                          h5py.h5t.py_create(kind))
    assert_same(both / "a.h5", both / "x.zarr")
    with h5py.File(both / "x.zarr", "r") as file:
        assert file["t"]["a"].tolist() == [9, 8, 7, 6, 5] and file["t"][2]["s"] == b"longer than before"
        assert plain(file["t"]["v"]) == plain(table()["v"])


def test_growing(both):
    """Elements that were never written are zeros."""
    for name in ("a.h5", "x.zarr"):
        with h5py.File(both / name, "r+") as file:
            file["t"].resize((9,))
            file["t"][7] = table()[2]
    assert_same(both / "a.h5", both / "x.zarr", ("t",))
    with h5py.File(both / "x.zarr", "r") as file:
        empty = file["t"][8]
        assert empty["a"] == 0 and empty["s"] == b"" and empty["v"].size == 0 and plain(empty["i"]) == (b"", 0)


def test_bytes_that_json_does_not_give_back(tmp_path):
    """Text that is no UTF-8, and the payload of a NaN."""
    kind = np.dtype([("s", TEXT), ("x", "f8")])
    payload = np.array([0x7FF8000000000123], "u8").view("f8")[0]
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        data = file.create_dataset("d", (3,), kind)
        data[0], data[1], data[2] = (b"\xff\xfe", 1), (b"x", payload), (b"y", np.nan)
    with h5py.File(tmp_path / "x.zarr", "r") as file:
        got = file["d"][...]
        assert got["s"].tolist() == [b"\xff\xfe", b"x", b"y"]
        assert got["x"][1:2].view("u8")[0] == 0x7FF8000000000123
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stored = zarr.open_group(str(tmp_path / "x.zarr"), mode="r")["d"][:]
    assert stored[0].startswith('"') and stored[1].startswith('"') and json.loads(stored[2]) == {"s": "y", "x": "NaN"}


def test_way_there_and_back(both):
    """h5repack, H5Ocopy in both directions, and h5diff."""
    tool("h5repack", both / "a.h5", both / "b.zarr", connector="zarr")
    tool("h5repack", "-f", "GZIP=1", both / "b.zarr", both / "c.zarr", connector="zarr")
    tool("h5repack", both / "c.zarr", both / "d.h5", connector="zarr")
    for name in ("t", "one", "texts"):
        tool("h5copy", "-i", both / "a.h5", "-o", both / "e.zarr", "-s", name, "-d", name, connector="zarr")
        tool("h5copy", "-i", both / "e.zarr", "-o", both / "f.h5", "-s", name, "-d", name, connector="zarr")
    for other in ("b.zarr", "c.zarr", "d.h5"):
        assert_same(both / "a.h5", both / other)
        tool("h5diff", both / "a.h5", both / other, connector="zarr")
    for other in ("e.zarr", "f.h5"):
        assert_same(both / "a.h5", both / other, ("t", "one", "texts"))


def test_element_that_is_none(both):
    """The error names the element; others are read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zarr.open_group(str(both / "x.zarr"), mode="r+")["t"][3] = '{"a":1}'
    with h5py.File(both / "x.zarr", "r") as file:
        assert plain(file["t"][:3]) == plain(table()[:3])
        with pytest.raises(OSError, match=r"dataset '/t', element \[3\]: .*no element of the dataset's HDF5 type"):
            file["t"][...]


def test_hostile_elements(tmp_path):
    """Changed types and changed texts are read in the bounds of the type that is shown, or refused."""
    rows, path = table(2), tmp_path / "x.zarr"
    with h5py.File(path, "w") as file:
        file.create_dataset("d", data=rows)
    made, random_ = document(path, "d"), random.Random("nested")
    side = made["attributes"]["_hdf5"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = zarr.open_group(str(path), mode="r+")["d"]
        stored = array[:]
        for i in range(120):
            made["attributes"] = {"_hdf5": mutate(side, random_) if i % 2 else side}
            (path / "d/zarr.json").write_text(json.dumps(made))
            array[0] = mutate(stored[0], random_)
            with h5py.File(path, "r") as file:
                assert file["d"].shape == (2,)
                try:
                    file["d"][...]
                except (OSError, TypeError, ValueError):
                    pass
                if not i % 2:
                    assert plain(file["d"][1:]) == plain(rows[1:])


def test_c_program(tmp_path):
    done = run([build_dir() / "tests" / "vol" / "vol-c-nested", tmp_path], "zarr")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 test(s) run" in done.stderr + done.stdout
