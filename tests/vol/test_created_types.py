# SPDX-License-Identifier: MIT
"""Datasets made from HDF5 types other than numbers: text of a fixed size, compounds, times of h5py's,
floats of few bits; and every type that is shown, made again from what is shown."""

import base64
import json

import h5py
import numpy as np
import pytest
from conftest import tool
from test_types import FIELDS, STORED, length_type, put, time_type

UTF8, ASCII = h5py.string_dtype("utf-8", 6), h5py.string_dtype("ascii", 6)


def document(path, name="d"):
    return json.loads((path / name / "zarr.json").read_text())


def string_type(size, padding, charset):
    kind = h5py.h5t.TypeID.copy(h5py.h5t.C_S1)
    kind.set_size(size)
    kind.set_strpad(padding)
    kind.set_cset(charset)
    return kind


@pytest.mark.parametrize("kind, charset", [(ASCII, "ascii"), (UTF8, "utf-8"), (np.dtype("S6"), "ascii")])
def test_text(kind, charset, tmp_path):
    path, words = tmp_path / "x.zarr", [b"abc", b"", "d\u00e9\u00fc".encode(), b"sixsix"]
    with h5py.File(path, "w") as file:
        data = file.create_dataset("d", data=np.array(words, "S6"), dtype=kind, fillvalue=b"fill")
        data[1] = b"x"
    words[1] = b"x"
    made = document(path)
    assert made["data_type"] == {"name": "null_terminated_bytes", "configuration": {"length_bytes": 6}}
    assert base64.b64decode(made["fill_value"]).rstrip(b"\0") == b"fill"
    with h5py.File(path, "r+") as file:
        data = file["d"]
        assert data.dtype == np.dtype("S6") and list(data[...]) == words and data.fillvalue == b"fill"
        assert h5py.check_string_dtype(data.dtype).encoding == charset and not data.attrs
        data[0] = b"again"
        assert list(data[:2]) == [b"again", b"x"]
        if charset == "utf-8":
            assert data.asstr()[2] == "d\u00e9\u00fc"


@pytest.mark.parametrize("padding", [h5py.h5t.STR_NULLTERM, h5py.h5t.STR_NULLPAD, h5py.h5t.STR_SPACEPAD])
@pytest.mark.parametrize("charset", [h5py.h5t.CSET_ASCII, h5py.h5t.CSET_UTF8])
@pytest.mark.parametrize("other", [h5py.h5t.CSET_ASCII, h5py.h5t.CSET_UTF8])
def test_paddings_and_character_sets(padding, charset, other, tmp_path):
    """Text of any character set in memory, where HDF5 itself converts none."""
    blank = b" " if padding == h5py.h5t.STR_SPACEPAD else b"\0"
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        data = h5py.h5d.create(file.id, b"d", string_type(5, padding, charset), h5py.h5s.create_simple((2,)))
        memory = np.array([b"ab".ljust(5, blank), b"abcd".ljust(5, blank)], "V5")
        data.write(h5py.h5s.ALL, h5py.h5s.ALL, memory, string_type(5, padding, other))
        got = np.empty(2, "V5")
        data.read(h5py.h5s.ALL, h5py.h5s.ALL, got, string_type(5, padding, other))
        assert got.tobytes() == memory.tobytes()
        data.read(h5py.h5s.ALL, h5py.h5s.ALL, got, string_type(5, h5py.h5t.STR_NULLPAD, charset))
        assert got.tobytes() == b"ab\0\0\0abcd\0"


INNER = np.dtype([("u", "S3"), ("ok", "?"), ("z", "c8")])
COMPOUND = np.dtype({"names": ["b", "a", "in", "raw", "h"],
                     "formats": ["<i2", ">f8", INNER, "V3", "<f2"],
                     "offsets": [40, 8, 16, 32, 0], "itemsize": 48})
ALIGNED = np.dtype([("x", "i1"), ("y", "f8"), ("n", [("p", "u2"), ("q", "i4")])], align=True)


def values_of(kind):
    out = np.zeros(4, kind)
    if kind == COMPOUND:
        out["a"], out["b"], out["h"] = [1.5, -2, np.inf, 0], range(4), [0.5, 1, 2, 3]
        out["in"]["u"], out["in"]["ok"], out["in"]["z"] = [b"a", b"bcd", b"", b"zz"], [1, 0, 1, 0], 1 - 2j
        out["raw"] = [b"\1\2\3", b"", b"\xff", b"q"]
    else:
        out["x"], out["y"], out["n"]["p"], out["n"]["q"] = range(4), [0.5, 1, 2, 3], range(9, 13), -7
    return out


def same(got, want):
    if want.dtype.names:
        return got.dtype.names is not None and all(same(got[name], want[name]) for name in want.dtype.names)
    return got.tolist() == want.tolist()


@pytest.mark.parametrize("kind", [COMPOUND, ALIGNED], ids=["nested", "aligned"])
def test_compounds(kind, tmp_path):
    path, values = tmp_path / "x.zarr", values_of(kind)
    with h5py.File(path, "w") as file:
        data = file.create_dataset("d", (6,), kind, chunks=(4,), fillvalue=values[1])
        data[:4] = values
        assert same(data[:4], values)
        assert same(data[4:], values[[1, 1]])
    with h5py.File(path, "r+") as file:
        data = file["d"]
        assert same(data[:4], values) and same(data[4:], values[[1, 1]])
        name = kind.names[1]
        data[1:3, name] = [8, 9]
        values[name][1:3] = [8, 9]
        assert same(data[:4], values)
        like = file.create_dataset("like", (4,), data.dtype)
        like[...] = data[:4]
        assert same(like[...], values) and document(path, "like")["data_type"] == document(path)["data_type"]
    assert document(path)["data_type"]["name"] == "struct"


def test_compounds_in_order_of_members(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        file.create_dataset("d", (1,), COMPOUND)
    fields = document(tmp_path / "x.zarr")["data_type"]["configuration"]["fields"]
    assert [f["name"] for f in fields] == ["b", "a", "in", "raw", "h"]


def test_zarr_python_reads_compounds(tmp_path):
    """The packed chunk is numpy's packed array."""
    path, values = tmp_path / "x.zarr", values_of(ALIGNED)
    with h5py.File(path, "w") as file:
        file.create_dataset("d", data=values, chunks=(4,))
    packed = np.dtype([("x", "i1"), ("y", "<f8"), ("n", [("p", "<u2"), ("q", "<i4")])])
    assert (path / "d/c/0").read_bytes() == values.astype(packed).tobytes()


@pytest.mark.parametrize("kind", ["<M8[ns]", ">M8[D]", "<m8[10us]", ">m8[s]"])
def test_times(kind, tmp_path):
    path, dtype = tmp_path / "x.zarr", np.dtype(kind)
    values = np.array([5, -7, 0, 2**40], "i8").astype("i8").view(dtype.newbyteorder("=")).astype(dtype)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["d"] = values.astype(h5py.opaque_dtype(dtype))
    with h5py.File(path, "w") as file:
        data = file.create_dataset("d", data=values.astype(h5py.opaque_dtype(dtype)))
        got = np.empty(4, dtype)
        data.id.read(h5py.h5s.ALL, h5py.h5s.ALL, got, h5py.h5t.py_create(h5py.opaque_dtype(dtype), logical=True))
        assert (got == values).all()
    tool("h5repack", tmp_path / "a.h5", tmp_path / "b.zarr", connector="zarr")
    unit, count = np.datetime_data(dtype)
    name = "numpy.datetime64" if dtype.kind == "M" else "numpy.timedelta64"
    for store in (path, tmp_path / "b.zarr"):
        assert document(store)["data_type"] == {"name": name, "configuration": {"unit": unit, "scale_factor": count}}
        with h5py.File(store, "r") as file:
            assert file["d"].dtype == dtype and (file["d"][...] == values).all() and not file["d"].attrs


def test_times_of_another_unit_are_refused(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        data = file.create_dataset("d", (2,), h5py.opaque_dtype(np.dtype("M8[s]")))
        with pytest.raises(OSError, match="conversion path"):
            data.id.write(h5py.h5s.ALL, h5py.h5s.ALL, np.zeros(2, "M8[ms]"),
                          h5py.h5t.py_create(h5py.opaque_dtype(np.dtype("M8[ms]")), logical=True))


def small_type(base, size, exponent, mantissa, bias):
    kind = h5py.h5t.TypeID.copy(base)
    kind.set_fields(8 * size - 1, mantissa, exponent, 0, mantissa)
    kind.set_size(size)
    kind.set_ebias(bias)
    return kind


@pytest.mark.parametrize("name, base, parts", [
    ("bfloat16", h5py.h5t.IEEE_F32LE, (2, 8, 7, 127)), ("bfloat16", h5py.h5t.IEEE_F32BE, (2, 8, 7, 127)),
    ("float8_e3m4", h5py.h5t.IEEE_F32LE, (1, 3, 4, 3)), ("float8_e4m3", h5py.h5t.IEEE_F32LE, (1, 4, 3, 7)),
    ("float8_e5m2", h5py.h5t.IEEE_F32LE, (1, 5, 2, 15)),
])
def test_small_floats(name, base, parts, tmp_path):
    path, kind = tmp_path / "x.zarr", small_type(base, *parts)
    values = np.array([1, -1.5, 0.25, 3, np.inf, 0], "f4")
    for where in (path, tmp_path / "a.h5"):
        with h5py.File(where, "w") as file:
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_fill_value(np.array(1.5, "f4"))
            data = h5py.h5d.create(file.id, b"d", kind, h5py.h5s.create_simple((6,)), plist)
            data.write(h5py.h5s.ALL, h5py.h5s.ALL, values)
    tool("h5repack", tmp_path / "a.h5", tmp_path / "b.zarr", connector="zarr")
    for store in (path, tmp_path / "b.zarr"):
        made = document(store)
        assert made["data_type"] == name and made["fill_value"] == 1.5
        with h5py.File(store, "r") as file:
            assert file["d"].id.get_type() == kind and (file["d"][...] == values).all()


def test_half_complex(tmp_path):
    kind = np.dtype([("r", "f2"), ("i", "f2")])
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        file.create_dataset("d", data=np.array([(1, 2), (3, 4)], kind))
        assert file["d"][...].tolist() == [(1, 2), (3, 4)]
    assert document(tmp_path / "x.zarr")["data_type"] == "complex_float16"


@pytest.mark.parametrize("kind, words", [
    ([("a", "i4"), ("s", h5py.string_dtype()), ("o", h5py.regionref_dtype)], "references to regions"),
    ([("o", h5py.regionref_dtype)], "references to regions"),
])
def test_members_without_a_form(kind, words, tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        with pytest.raises((ValueError, OSError), match=words):
            file.create_dataset("d", (2,), np.dtype(kind))
        assert list(file) == []


def test_many_members_are_refused(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        kind = h5py.h5t.NATIVE_INT8
        for _ in range(40):
            outer = h5py.h5t.create(h5py.h5t.COMPOUND, kind.get_size())
            outer.insert(b"in", 0, kind)
            kind = outer
        with pytest.raises((ValueError, OSError), match="is too large"):
            h5py.h5d.create(file.id, b"d", kind, h5py.h5s.create_simple((1,)))


@pytest.fixture
def shown(tmp_path):
    """A store with an array of each kind of type; all of 4 elements."""
    path = tmp_path / "s.zarr"
    path.mkdir()
    (path / "zarr.json").write_text('{"zarr_format":3,"node_type":"group","attributes":{}}')
    put(path, "bool", "bool", True, b"\0\1", 2)
    put(path, "u4", "uint32", 7, np.array([1, 2], "<u4").tobytes(), 2)
    put(path, "f2", "float16", "NaN", np.array([1, 2], "<f2").tobytes(), 2)
    put(path, "c8", "complex64", [1, 2], np.array([1, 2j], "<c8").tobytes(), 2)
    put(path, "ch", "complex_float16", [1, 2], np.array([1, 2, 3, 4], "<f2").tobytes(), 2)
    put(path, "raw", {"name": "raw_bytes", "configuration": {"length_bytes": 3}}, [1, 2, 3], b"abcdef", 2)
    put(path, "time", time_type("datetime64", "s"), "NaT", np.array([5, -7], "<i8").tobytes(), 2)
    put(path, "text", length_type("fixed_length_utf32", 12), "\u00fc", np.array(["\u00e9x", "abc"], "<U3").tobytes(), 2)
    put(path, "chars", length_type("null_terminated_bytes", 3), "eHk=", b"ab\0cde", 2)
    put(path, "bf", "bfloat16", 1.5, np.array([0x3F80, 0xC010], "<u2").tobytes(), 2)
    put(path, "i4", "int4", -8, b"\x07\xff", 2)
    put(path, "c5", "complex_float8_e5m2", [1, "Infinity"], b"\x3c\xbc\x00\x40", 2)
    values = np.array([(1, ("a\u00e9", 0x3FC0, True), 7, 0.5), (-2, ("", 0xC000, False), -1, 2.5)], STORED)
    put(path, "st", {"name": "struct", "configuration": {"fields": FIELDS}},
        base64.b64encode(values[1:].tobytes()).decode(), values.tobytes(), 2)
    with h5py.File(path, "r+") as file:
        file.create_dataset("string", data=["a", "\u00e9", "", "b"], dtype=h5py.string_dtype())
        file.create_dataset("bytes", (4,), h5py.vlen_dtype(np.uint8))[1] = np.arange(5, dtype="u1")
    return path


def plain(data):
    """The bytes of each element, of any length too."""
    return [v if isinstance(v, bytes) else v.tobytes() for v in data[...]]


def test_each_type_shown_makes_a_dataset(shown):
    with h5py.File(shown, "r+") as file:
        for name in list(file):
            old = file[name]
            kinds = {"dtype": file.create_dataset(f"{name}_dtype", (4,), old.dtype).id,
                     "type": h5py.h5d.create(file.id, f"{name}_type".encode(), old.id.get_type(), old.id.get_space(),
                                             old.id.get_create_plist())}
            for new in map(h5py.Dataset, kinds.values()):
                assert new.dtype == old.dtype, name
                assert new.id.get_type() == old.id.get_type(), name
                new[...] = old[...]
                assert plain(new) == plain(old), name
            assert plain(file[f"{name}_type"]) == plain(old), name


def test_each_type_is_copied(shown, tmp_path):
    """h5repack (which copies nodes, or, with a filter, elements) and h5copy, store to store, and to an HDF5
    file and back."""
    tool("h5repack", shown, tmp_path / "a.zarr", connector="zarr")
    tool("h5repack", "-f", "GZIP=1", shown, tmp_path / "b.zarr", connector="zarr")
    tool("h5repack", shown, tmp_path / "c.h5", connector="zarr")
    tool("h5repack", tmp_path / "c.h5", tmp_path / "d.zarr", connector="zarr")
    with h5py.File(shown, "r") as file:
        for name in file:
            tool("h5copy", "-i", shown, "-o", tmp_path / "e.zarr", "-s", f"/{name}", "-d", f"/{name}", connector="zarr")
            tool("h5copy", "-i", tmp_path / "c.h5", "-o", tmp_path / "f.zarr", "-s", f"/{name}", "-d", f"/{name}",
                 connector="zarr")
        for other in ("a.zarr", "b.zarr", "c.h5", "d.zarr", "e.zarr", "f.zarr"):
            with h5py.File(tmp_path / other, "r") as copied:
                assert sorted(copied) == sorted(file)
                for name in file:
                    assert plain(copied[name]) == plain(file[name]), (other, name)
                    assert copied[name].dtype == file[name].dtype, (other, name)
            tool("h5diff", tmp_path / "c.h5", tmp_path / "d.zarr", f"/{name}", f"/{name}", connector="zarr")
