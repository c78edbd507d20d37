# SPDX-License-Identifier: MIT
"""JSON attributes as HDF5 attributes, by unmodified h5py."""

import base64
import json
import struct
from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import ROOT_ATTRIBUTES, put

NATIVE = {
    "zero": (0, np.int64), "minus": (-2**63, np.int64), "most": (2**63 - 1, np.int64),
    "above": (2**63, np.uint64), "all_bits": (2**64 - 1, np.uint64),
    "float": (0.1, np.float64), "large": (1e300, np.float64), "whole": (2.0, np.float64),
    "beyond": (2**64, np.float64), "yes": (True, np.bool_), "no": (False, np.bool_),
    "ints": ([3, -1, 2], np.int64), "wide": ([1, 2**64 - 1], np.uint64),
    "both_ends": ([-1, 2**64 - 1], np.float64), "mixed_numbers": ([1, 2.5], np.float64),
    "bools": ([True, False], np.bool_), "one": ([7], np.int64),
    "empty": ([], np.float64), "empties": ([[], []], np.float64),
}
AS_TEXT = {"object": {"a": [1, {"b": None}]}, "nested": [[1, 2], [3]], "mixed": [1, "a"],
           "with_null": [1, None], "bool_and_int": [True, 1], "partly_empty": [[], [1]],
           "list_in_empty": [[], [[]]]}
TEXTS = {"text": "hällo ✓", "empty_text": "", "texts": ["x", "", "ö" * 1000]}


@pytest.fixture
def f(new_store):
    values = {name: value for name, (value, _) in NATIVE.items()}
    path, _ = new_store(attributes={**values, **AS_TEXT, **TEXTS, "null": None})
    with h5py.File(path, "r") as file:
        yield file


def test_numbers_and_booleans(f):
    for name, (value, kind) in NATIVE.items():
        got = f.attrs[name]
        assert got.dtype == kind and got.shape == np.shape(value), name
        assert np.array_equal(got, np.array(value, kind)), name


def test_text(f):
    for name, value in TEXTS.items():
        got = f.attrs[name]
        assert (got if isinstance(value, str) else list(got)) == value


def test_the_rest_is_json_text(f):
    for name, value in AS_TEXT.items():
        assert json.loads(f.attrs[name]) == value and " " not in f.attrs[name]


def test_null_has_no_elements(f):
    """As many as the attribute had that HDF5 would store as null."""
    assert f.attrs["null"] == h5py.Empty("f8")


def test_order_is_the_documents(f, tree):
    assert list(f.attrs) == [*NATIVE, *AS_TEXT, *TEXTS, "null"]
    with h5py.File(tree, "r") as g:
        assert list(g.attrs) == list(ROOT_ATTRIBUTES)
        assert [n for n, _ in g.attrs.items()] == list(g.attrs.keys()) == list(ROOT_ATTRIBUTES)
        assert len(g.attrs.values()) == len(g.attrs) == len(ROOT_ATTRIBUTES)


def test_lookup(f):
    assert "zero" in f.attrs and "zz" not in f.attrs
    assert f.attrs.get("zero") == 0 and f.attrs.get("zz", 1) == 1
    with pytest.raises(KeyError, match="can't locate attribute"):
        f.attrs["zz"]
    attr = f.attrs.get_id("ints")
    assert (attr.name, attr.shape, attr.dtype) == (b"ints", (3,), np.dtype("i8"))
    assert h5py.h5a.get_num_attrs(f.id) == len(f.attrs)
    assert h5py.h5a.get_info(f.id, b"ints").data_size == 24
    names = sorted(f.attrs)
    by_index = [h5py.h5a.open(f.id, index=i, index_type=h5py.h5.INDEX_NAME).name.decode()
                for i in range(len(names))]
    assert by_index == names


def test_conversion(f):
    out = np.zeros(3, ">f4")
    f.attrs.get_id("ints").read(out)
    assert list(out) == [3, -1, 2]


def test_groups_and_datasets_have_their_own(tree):
    with h5py.File(tree, "r") as f:
        assert dict(f["g"].attrs) == {"gn": 7}
        assert f["a"].attrs["scale"] == 0.5 and f["a"].attrs["units"] == "yy"


def encoded(value):
    return base64.standard_b64encode(struct.pack("<d", value)).decode()


@pytest.mark.parametrize("dtype, written, want", [
    ("f4", encoded(np.nan), np.nan), ("f4", encoded(-9999.0), -9999), ("f8", encoded(0.1), 0.1),
    ("f8", "NaN", np.nan), ("f4", "-Infinity", -np.inf), ("f4", 1e20, 1e20), ("f8", -1, -1),
    ("i2", -32768, -32768), ("u1", 255, 255), ("u8", 2**64 - 1, 2**64 - 1),
    ("f2", encoded(-9999.0), -10000), ("f2", "Infinity", np.inf), ("f4", "inf", np.inf),
    ("f4", "0xc61c3c00", -9999), ("f8", [2.5], [2.5]), ("i2", [-1], [-1]), ("i4", -7.0, -7),
    ("i8", -2**63, -2**63),
])
def test_fill_value_has_the_arrays_type(new_store, dtype, written, want):
    path, group = new_store()
    put(group, "d", np.zeros(3, dtype), attributes={"_FillValue": 0, "other": written})
    document = Path(path) / "d" / "zarr.json"
    text = json.loads(document.read_text())
    text["attributes"]["_FillValue"] = written
    document.write_text(json.dumps(text))
    with h5py.File(path, "r") as f:
        got = f["d"].attrs["_FillValue"]
        assert got.dtype == dtype and np.array_equal(got, np.array(want, dtype), True)


@pytest.mark.parametrize("dtype, written", [("i2", 40000), ("u1", -1), ("f4", "none"),
                                            ("f4", "AAAA*AAA+H8="), ("i4", 1.5),
                                            ("f4", 1e300), ("f2", 1e6), ("f4", "0x7ff8"),
                                            ("c8", "NaN")])
def test_fill_values_that_do_not_fit_stay_as_they_are(new_store, dtype, written):
    path, group = new_store()
    put(group, "d", np.zeros(3, dtype), attributes={"_FillValue": written})
    with h5py.File(path, "r") as f:
        got = f["d"].attrs["_FillValue"]
        assert got == written or (written == "NaN" and np.isnan(got))


def test_many_are_iterated_over(tmp_path):
    """Each one once, in order; tests/bench/attributes.py times it."""
    expected = [f"a{i:05}" for i in range(8000)]
    with h5py.File(tmp_path / "x.zarr", "w") as f:
        f.attrs.update(dict.fromkeys(expected, 1))
    names = []
    with h5py.File(tmp_path / "x.zarr", "r") as f:
        h5py.h5a.iterate(f.id, lambda name: names.append(name.decode()) and None)
    assert names == expected
