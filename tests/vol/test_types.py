# SPDX-License-Identifier: MIT
"""Datasets of the types that HDF5 has no name for: times, text of a fixed size, structs, numbers of
few bits; documents and chunks as zarr-python 3.4 and the registry of extensions have them."""

import base64
import json
import subprocess

import h5py
import numpy as np
import pytest
from conftest import run, tool


def put(path, name, data_type, fill, chunk, count, endian="little"):
    """An array of 2 * count elements, of which the first half is in a chunk."""
    folder = path / name
    (folder / "c").mkdir(parents=True)
    (folder / "zarr.json").write_text(json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": [2 * count], "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [count]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": fill, "attributes": {},
        "codecs": [{"name": "bytes", "configuration": {"endian": endian}}]}))
    (folder / "c" / "0").write_bytes(chunk)


def time_type(name, unit, scale=1):
    return {"name": f"numpy.{name}", "configuration": {"unit": unit, "scale_factor": scale}}


def length_type(name, length):
    return {"name": name, "configuration": {"length_bytes": length}}


@pytest.mark.parametrize("name, unit, scale, units", [
    ("datetime64", "ns", 1, "nanoseconds since 1970-01-01"),
    ("datetime64", "D", 1, "days since 1970-01-01"),
    ("datetime64", "us", 10, "10 microseconds since 1970-01-01"),
    ("datetime64", "M", 1, "numpy.datetime64[M]"),
    ("timedelta64", "h", 6, "6 hours"),
    ("timedelta64", "generic", 1, "numpy.timedelta64[generic]"),
])
def test_times(store, name, unit, scale, units):
    put(store, "t", time_type(name, unit, scale), "NaT", np.array([5, -7], ">i8").tobytes(), 2, "big")
    with h5py.File(store, "r") as f:
        assert f["t"].dtype == np.dtype("i8") and f["t"].fillvalue == -(2**63)
        assert list(f["t"][...]) == [5, -7, -(2**63), -(2**63)]
        assert f["t"].attrs["units"] == units
        assert f["t"].attrs.get("calendar") == (
            "proleptic_gregorian" if name == "datetime64" else None)
    with h5py.File(store, "r+") as f:
        f["t"][2] = 99
    with h5py.File(store, "r") as f:
        assert list(f["t"][1:3]) == [-7, 99]


def test_units_of_the_document_win(store):
    put(store, "t", time_type("datetime64", "s"), 0, bytes(16), 2)
    document = json.loads((store / "t" / "zarr.json").read_text())
    document["attributes"] = {"units": "s", "calendar": "standard"}
    (store / "t" / "zarr.json").write_text(json.dumps(document))
    with h5py.File(store, "r") as f:
        assert dict(f["t"].attrs) == {"units": "s", "calendar": "standard",
                                      "zarr:data_type": "numpy.datetime64[s]"}


def test_xarray_decodes_times(store):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    put(store, "t", time_type("datetime64", "s"), 0, np.array([0, 86400], "<i8").tobytes(), 2)
    with xarray.open_dataset(store, engine="h5netcdf", phony_dims="sort") as data:
        assert data["t"].values[1] == np.datetime64("1970-01-02")


def test_text(store):
    put(store, "u", length_type("fixed_length_utf32", 12), "\u00fc",
        np.array(["\u00e9\U0001d11e", "abc"], ">U3").tobytes(), 2, "big")
    put(store, "s", length_type("null_terminated_bytes", 3), base64.b64encode(b"xy").decode(),
        b"ab\0cde", 2)
    with h5py.File(store, "r") as f:
        assert list(f["u"].asstr()[...]) == ["\u00e9\U0001d11e", "abc", "\u00fc", "\u00fc"]
        assert f["u"].dtype == np.dtype("S12") and f["s"].dtype == np.dtype("S3")
        assert list(f["s"][...]) == [b"ab", b"cde", b"xy", b"xy"]
        assert f["s"].fillvalue == b"xy"
        wide = np.empty(4, "S5")
        f["s"].read_direct(wide)
        assert list(wide) == [b"ab", b"cde", b"xy", b"xy"]
    with h5py.File(store, "r+") as f:
        f["s"][2] = b"q"
    with h5py.File(store, "r") as f:
        assert list(f["s"][...]) == [b"ab", b"cde", b"q", b"xy"]


FIELDS = [["x", "int32"], ["in", {"name": "struct", "configuration": {"fields": [
    {"name": "u", "data_type": length_type("fixed_length_utf32", 8)},
    {"name": "b", "data_type": "bfloat16"}, {"name": "ok", "data_type": "bool"}]}}],
    ["t", time_type("datetime64", "s")], ["y", "float64"]]
STORED = np.dtype([("x", "<i4"), ("in", [("u", "<U2"), ("b", "<u2"), ("ok", "?")]), ("t", "<i8"),
                   ("y", "<f8")])


@pytest.mark.parametrize("endian", ["little", "big"])
def test_structs(store, tmp_path, endian):
    values = np.array([(1, ("a\u00e9", 0x3FC0, True), 7, 0.5), (-2, ("", 0xC000, False), -1, 2.5)],
                      STORED)
    put(store, "d", {"name": "structured", "configuration": {"fields": FIELDS}},
        base64.b64encode(values[1:].astype(STORED.newbyteorder(endian)).tobytes()).decode(),
        values.astype(STORED.newbyteorder(endian)).tobytes(), 2, endian)
    want = [(1, ("a\u00e9".encode(), 1.5, True), 7, 0.5), (-2, (b"", -2.0, False), -1, 2.5)]
    with h5py.File(store, "r") as f:
        got = f["d"][...]
        assert got.dtype["in"]["b"] == np.float32 and got.dtype["in"]["ok"] == bool
        assert [v.item() for v in got] == [want[0], want[1], want[1], want[1]]
        assert list(f["d"]["y"]) == [0.5, 2.5, 2.5, 2.5]
        assert list(f["d"].fields(["y", "x"])[0]) == [0.5, 1]
    with h5py.File(store, "r") as f, h5py.File(tmp_path / "n.h5", "w") as native:
        f.copy("d", native)
    with h5py.File(tmp_path / "n.h5", "r") as native:
        assert [v.item() for v in native["d"][...]] == [want[0], want[1], want[1], want[1]]


def test_members_are_written_alone(store):
    fields = [["x", "int32"], ["b", "bfloat16"], ["s", length_type("null_terminated_bytes", 2)]]
    put(store, "d", {"name": "struct", "configuration": {"fields": fields}},
        {"x": 5, "b": 0.5, "s": "YQ=="}, np.array([1, 2], "<i4").view("V4").astype("V8").tobytes(), 2)
    with h5py.File(store, "r+") as f:
        f["d"][1:3, "x"] = [77, 78]
        assert f["d"][2].item() == (78, 0.5, b"a")
        f["d"][3] = (9, 1.5, b"zz")
    with h5py.File(store, "r") as f:
        assert [v.item() for v in f["d"][...]] == [(1, 0, b""), (77, 0, b""), (78, 0.5, b"a"),
                                                   (9, 1.5, b"zz")]


def test_small_numbers(store):
    put(store, "b", "bfloat16", 1.5, np.array([0x3F80, 0xC010], ">u2").tobytes(), 2, "big")
    put(store, "e", "float8_e4m3fn", "NaN", b"\x38\xfe", 2)
    put(store, "i", "int4", -8, b"\x07\xff", 2)
    put(store, "u", "uint2", 3, b"\x02\xfd", 2)
    put(store, "c", "complex_float8_e5m2", [1, "Infinity"], b"\x3c\xbc\x00\x40", 2)
    put(store, "h", "complex_float16", [1, 2], np.array([1, 2, 3, 4], "<f2").tobytes(), 2)
    with h5py.File(store, "r") as f:
        assert f["b"].dtype == np.float32 and list(f["b"][...]) == [1, -2.25, 1.5, 1.5]
        assert f["e"].dtype == np.float32 and list(f["e"][:2]) == [1, -448] and np.isnan(f["e"][2:]).all()
        assert f["e"].attrs["zarr:data_type"] == "float8_e4m3fn"
        assert f["i"].dtype == np.int8 and list(f["i"][...]) == [7, -1, -8, -8]
        assert f["u"].dtype == np.uint8 and list(f["u"][...]) == [2, 1, 3, 3]
        assert f["c"].dtype == np.complex64
        assert list(f["c"][...]) == [1 - 1j, 2j, complex(1, np.inf), complex(1, np.inf)]
        parts = np.empty(4, [("r", "f4"), ("i", "f4")])
        f["h"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, parts, h5py.h5t.py_create(parts.dtype))
        assert list(parts["r"]) == [1, 3, 1, 1] and list(parts["i"]) == [2, 4, 2, 2]
    with h5py.File(store, "r+") as f:
        f["b"][3] = 2.0
        assert f["b"][3] == 2


def test_a_type_in_memory_is_what_it_is_at_each_call(store):
    """A copy of a predefined type, which a program changes between two calls."""
    put(store, "i", "int32", 0, np.array([-2, 770], "<i4").tobytes(), 2)
    with h5py.File(store, "r+") as f:
        data, memory = f["i"].id, h5py.h5t.NATIVE_INT32.copy()
        every, seen = h5py.h5s.ALL, np.zeros(4, "i4")
        data.read(every, every, seen, memory)
        assert list(seen) == [-2, 770, 0, 0]
        memory.set_order(h5py.h5t.ORDER_BE)
        data.read(every, every, seen, memory)
        assert list(seen.view(">i4")) == [-2, 770, 0, 0]
        data.write(every, every, np.array([1, 2, 3, 4], ">i4"), memory)
        assert list(f["i"][...]) == [1, 2, 3, 4]
        memory.set_order(h5py.h5t.ORDER_LE)
        memory.set_sign(h5py.h5t.SGN_NONE)
        data.write(every, every, np.array([2**32 - 1, 7, 8, 9], "u4"), memory)
        assert list(f["i"][...]) == [2**31 - 1, 7, 8, 9]
        memory.set_precision(5)
        data.read(every, every, seen, memory)
        assert list(seen) == [31, 7, 8, 9]


def test_programs(store):
    put(store, "t", time_type("datetime64", "D"), "NaT", bytes(16), 2)
    put(store, "s", length_type("fixed_length_utf32", 8), "", bytes(16), 2)
    put(store, "d", {"name": "struct", "configuration": {"fields": FIELDS}},
        {"x": 1, "in": {"u": "z", "b": 1, "ok": True}, "t": 0, "y": 0}, bytes(62), 2)
    shown = subprocess.run(["h5dump", store], capture_output=True, text=True, check=True).stdout
    assert "STRSIZE 8" in shown and "days since 1970-01-01" in shown and '"ok"' in shown


def test_bools_are_true_or_false(store):
    put(store, "b", "bool", False, b"\x04\x00", 2)
    with h5py.File(store, "r") as f:
        assert f["b"][...].tobytes() == b"\1\0\0\0"


def stored_types(path):
    return {name: json.loads((path / name / "zarr.json").read_text())["data_type"]
            for name in ("b", "i", "u", "c", "t", "g")}


def put_kept(store):
    put(store, "b", "bfloat16", 1.5, np.array([0x3F80, 0x7FC1], "<u2").tobytes(), 2)
    put(store, "i", "int4", -8, b"\x07\xff", 2)
    put(store, "u", "uint2", 3, b"\x02\xfd", 2)
    put(store, "c", "complex_float8_e5m2", [1, "Infinity"], b"\x3c\xbc\x00\x40", 2)
    put(store, "t", time_type("datetime64", "us", 10), "NaT", bytes(16), 2)
    put(store, "g", time_type("timedelta64", "generic"), "NaT", bytes(16), 2)


def test_types_come_back_from_hdf5_files(store, tmp_path):
    """An attribute names the type, which is none of the store's."""
    put_kept(store)
    h5, back = tmp_path / "x.h5", tmp_path / "back.zarr"
    tool("h5repack", store, h5, connector="zarr")
    with h5py.File(h5, "r") as f:
        assert f["b"].attrs["zarr:data_type"] == "bfloat16"
        assert f["t"].attrs["zarr:data_type"] == "numpy.datetime64[10us]"
        assert f["t"].attrs["units"] == "10 microseconds since 1970-01-01"
    tool("h5repack", h5, back, connector="zarr")
    assert stored_types(back) == stored_types(store)
    for name in stored_types(back):
        document = json.loads((back / name / "zarr.json").read_text())
        assert not {"units", "calendar", "zarr:data_type"} & set(document.get("attributes", {}))
    with h5py.File(store, "r") as f, h5py.File(back, "r") as g:
        for name in stored_types(store):
            np.testing.assert_array_equal(f[name][...], g[name][...])
            assert dict(f[name].attrs) == dict(g[name].attrs)
            np.testing.assert_array_equal(f[name].fillvalue, g[name].fillvalue)
    compared = run(["h5diff", store, back], connector="zarr")
    assert compared.returncode == 0, compared.stdout


def test_kept_types_lose_nothing(store, tmp_path):
    """Elements that do not fit are refused; another HDF5 type, and copies by element, keep theirs."""
    put_kept(store)
    h5, back, again = (tmp_path / name for name in ("x.h5", "back.zarr", "again.zarr"))
    tool("h5repack", store, h5, connector="zarr")
    with h5py.File(h5, "r+") as f:
        f["b"][0] = 1.001
    done = run(["h5repack", "--enable-error-stack", h5, back], connector="zarr")
    assert done.returncode != 0 and "delete the attribute" in done.stdout + done.stderr
    with h5py.File(h5, "r+") as f:
        del f["b"].attrs["zarr:data_type"]
        del f["i"]
        f["i"] = np.array([100, 200], "i4")
        f["i"].attrs["zarr:data_type"] = "int4"
        f["u"].attrs["zarr:data_type"] = "nonsense"
    tool("h5repack", h5, again, connector="zarr")
    got = stored_types(again)
    assert (got["b"], got["i"], got["u"]) == ("float32", "int32", "uint8")
    assert got["c"] == "complex_float8_e5m2"
    with h5py.File(again, "r") as f:
        assert f["b"][0] == np.float32(1.001) and list(f["i"]) == [100, 200]
        assert f["i"].attrs["zarr:data_type"] == "int4"
