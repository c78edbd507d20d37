# SPDX-License-Identifier: MIT
"""Writing text that the store has as code points (numpy's `U`, fixed_length_utf32): HDF5 sees UTF-8
in as many bytes."""

import base64
import ctypes

import h5py
import numpy as np
import pytest
from conftest import run, tool
from property_lists import library
from test_types import FIELDS, STORED, length_type, put

CLEF = "\U0001d11e"
ALL = h5py.h5s.ALL


def text_array(store, endian="little", count=4):
    """2 * count texts of at most 3 characters, of which the first half is stored."""
    order = "<" if endian == "little" else ">"
    put(store, "u", length_type("fixed_length_utf32", 12), "\u00fc",
        np.array(["\u00e9" + CLEF, "abc"] + [""] * (count - 2), order + "U3").tobytes(), count, endian)


def texts(store):
    with h5py.File(store, "r") as f:
        return list(f["u"].asstr()[...])


def fixed(size, padding=h5py.h5t.STR_NULLPAD, cset=h5py.h5t.CSET_UTF8):
    made = h5py.h5t.C_S1.copy()
    made.set_size(size)
    made.set_strpad(padding)
    made.set_cset(cset)
    return made


def write_variable(data, memory, of_file, values):
    """Text of any length, which h5py would convert by itself: what HDF5 returns."""
    pointers = (ctypes.c_char_p * len(values))(*values)
    kind = h5py.h5t.py_create(h5py.string_dtype(), logical=True)
    return library.H5Dwrite(data.id, kind.id, memory.id, of_file.id, 0, pointers)


def read_variable(data, memory, of_file, count):
    pointers, kind = (ctypes.c_char_p * count)(), h5py.h5t.py_create(h5py.string_dtype(), logical=True)
    size = ctypes.c_uint64()
    assert library.H5Dread(data.id, kind.id, memory.id, of_file.id, 0, pointers) >= 0
    assert library.H5Dvlen_get_buf_size(data.id, kind.id, of_file.id, ctypes.byref(size)) >= 0
    seen = list(pointers)
    assert library.H5Treclaim(kind.id, memory.id, 0, pointers) >= 0
    assert size.value == sum(len(text) + 1 for text in seen)
    return seen


@pytest.fixture(autouse=True)
def signatures():
    library.H5Dwrite.argtypes = library.H5Dread.argtypes = [ctypes.c_int64] * 5 + [ctypes.c_void_p]
    library.H5Dwrite_multi.argtypes = (
        [ctypes.c_size_t] + [ctypes.c_void_p] * 4 + [ctypes.c_int64, ctypes.c_void_p])
    library.H5Dvlen_get_buf_size.argtypes = library.H5Treclaim.argtypes = (
        [ctypes.c_int64] * 3 + [ctypes.c_void_p])


@pytest.mark.parametrize("endian", ["little", "big"])
def test_text_is_written(store, endian):
    text_array(store, endian)
    with h5py.File(store, "r+") as f:
        f["u"][1] = 3 * CLEF
        f["u"][2:5] = ["x", "", "\u00e9\u00e9\u00e9"]
        f["u"][[0, 7]] = np.array([b"abc", "\u20ac".encode()])
        assert f["u"].dtype == np.dtype("S12")
    want = ["abc", 3 * CLEF, "x", "", "\u00e9\u00e9\u00e9", "\u00fc", "\u00fc", "\u20ac"]
    assert texts(store) == want
    order = "<" if endian == "little" else ">"  # what numpy and zarr-python read
    chunks = b"".join((store / "u" / "c" / name).read_bytes() for name in "01")
    assert list(np.frombuffer(chunks, order + "U3")) == want
    with h5py.File(store, "r+") as f:  # as the text of another size, with blanks, of any length
        of_file = h5py.h5s.create_simple((8,))
        of_file.select_hyperslab((0,), (3,), (2,))
        memory = h5py.h5s.create_simple((3,))
        for kind, data in ((fixed(5, h5py.h5t.STR_SPACEPAD), np.array([b"a b  ", b"     ", b"c    "])),
                           (fixed(30, h5py.h5t.STR_NULLTERM, h5py.h5t.CSET_ASCII),
                            np.array([b"a b\0zzz", b"", b"c"], "S30")),
                           (None, [b"a b", None, b"c"])):
            f["u"][0:5:2] = [b"?", b"?", b"?"]
            if kind:
                f["u"].id.write(memory, of_file, data, kind)
            else:
                assert write_variable(f["u"].id, memory, of_file, data) >= 0
            assert list(f["u"].asstr()[:6]) == ["a b", want[1], "", want[3], "c", want[5]]
        assert read_variable(f["u"].id, memory, of_file, 3) == [b"a b", b"", b"c"]


def test_a_nul_within_text_stays(store):
    """As a read gives it; HDF5 ends null-padded text there where the size is another one."""
    text_array(store)
    with h5py.File(store, "r+") as f:
        f["u"][0] = np.bytes_(b"a\0b")
        f["u"][1:2] = f["u"][0:1]
        space, one = h5py.h5s.create_simple((8,)), h5py.h5s.create_simple((1,))
        cases = [(fixed(size, cset=cset), b"a\0b") for size in (3, 5, 12, 16, 40)
                 for cset in (h5py.h5t.CSET_UTF8, h5py.h5t.CSET_ASCII)]
        cases += [(fixed(5, h5py.h5t.STR_SPACEPAD), b"a\0b  "), (fixed(5, h5py.h5t.STR_NULLTERM), b"a\0b")]
        for kind, text in cases:
            f["u"][2] = b"?"
            space.select_hyperslab((2,), (1,))
            f["u"].id.write(one, space, np.array([text], f"S{kind.get_size()}"), kind)
            ends = kind.get_strpad() == h5py.h5t.STR_NULLTERM
            assert f["u"][2] == (b"a" if ends else b"a\0b"), kind.get_size()
        with pytest.raises(OSError, match="has more characters"):
            f["u"][3] = np.bytes_(b"a\0bc")
        for kind, text in ((f["u"].id.get_type(), b"a\0b"), (fixed(20), b"a")):
            seen = np.zeros(8, f"S{kind.get_size()}")
            f["u"].id.read(ALL, ALL, seen, kind)
            assert seen[0] == text
    stored = np.frombuffer((store / "u" / "c" / "0").read_bytes(), "<U3")
    assert list(stored) == ["a\0b", "a\0b", "a", ""]


def test_a_nul_within_text_of_structs_stays(store):
    struct_array(store)
    with h5py.File(store, "r+") as f:
        d = f["d"]
        d[0] = np.array((5, (b"a\0", 1.5, True), 3, 4.5), d.dtype)
        d[1] = np.array((5, (b"\0b", 1.5, True), 3, 4.5), d.dtype)
        d[0] = d[1]
        inner = np.zeros(1, [("in", [("u", "S9")])])  # another size, and one member of them
        inner["in"]["u"] = b"\0c"
        space = h5py.h5s.create_simple((4,))
        space.select_hyperslab((1,), (1,))
        d.id.write(h5py.h5s.create_simple((1,)), space, inner)
        assert [d[i]["in"]["u"] for i in (0, 1)] == [b"\0b", b"\0c"]
    stored = np.frombuffer((store / "d" / "c" / "0").read_bytes(), STORED)
    assert list(stored["in"]["u"]) == ["\0b", "\0c"]


REFUSED = [
    (fixed(12), [b"abc", b"abcd"], "element 1 .*has more characters"),
    (fixed(40), [b"abc", 5 * CLEF.encode()], "element 1 .*has more characters"),
    (fixed(40), [b"abc", b"a" + 12 * b" " + b"b"], "element 1 .*has more characters"),
    (fixed(12), [b"abc", b"\xe9"], "element 1 .*is no UTF-8 text"),
    (fixed(16, h5py.h5t.STR_SPACEPAD), [b"abc".ljust(16), b"\xc3".ljust(16)], "is no UTF-8 text"),
    ("any", [b"abc", b"abcd"], "element 1 .*has more characters"),
    ("any", [b"abc", 1000 * b"\xc3\xa9"], "element 1 .*has more characters"),
    ("any", [b"abc", b"\xed\xa0\x80"], "element 1 .*is no UTF-8 text"),
]


@pytest.mark.parametrize("kind, data, message", REFUSED)
@pytest.mark.parametrize("point", [False, True])
def test_nothing_is_stored_of_text_that_does_not_fit(store, kind, data, message, point):
    text_array(store)
    before = texts(store)
    with h5py.File(store, "r+") as f:
        of_file = h5py.h5s.create_simple((8,))
        if point:
            of_file.select_elements(np.array([[0], [6]], "u8"))
        else:
            of_file.select_hyperslab((0,), (2,))
        memory = h5py.h5s.create_simple((2,))
        if kind == "any":
            assert write_variable(f["u"].id, memory, of_file, data) < 0
        else:
            with pytest.raises(OSError, match=message):
                f["u"].id.write(memory, of_file, np.array(data, f"S{kind.get_size()}"), kind)
        assert list(f["u"].asstr()[...]) == before
    assert texts(store) == before


@pytest.mark.parametrize("bad", range(3))
def test_nothing_is_stored_of_several_datasets(store, bad):
    """Of any dataset of the call: of a fixed length, of any length, in structs."""
    text_array(store)
    struct_array(store)
    rows = [np.array([b"new"] * 8, "S5"), [b"new"] * 8, np.zeros(4, [("in", [("u", "S9")])])]
    rows[2]["in"]["u"] = b"n"
    any_length = h5py.h5t.py_create(h5py.string_dtype(), logical=True)
    kinds = [fixed(5), any_length, h5py.h5t.py_create(rows[2].dtype)]
    with h5py.File(store, "r+") as f:
        f.copy("u", "v")

    def write(f):
        pointers = (ctypes.c_char_p * 8)(*rows[1])
        buffers = (ctypes.c_void_p * 3)(rows[0].ctypes.data, ctypes.addressof(pointers),
                                        rows[2].ctypes.data)
        opened = [f[name].id for name in "uvd"]
        ids = [(ctypes.c_int64 * 3)(*values) for values in
               ([data.id for data in opened], [kind.id for kind in kinds], [0] * 3)]
        return library.H5Dwrite_multi(3, ids[0], ids[1], ids[2], ids[2], 0, buffers)

    good = rows[bad][-1].copy() if bad != 1 else rows[1][-1]
    rows[bad][-1] = ((b"toolong",),) if bad == 2 else b"long"
    with h5py.File(store, "r+") as f:
        before = [f[name][...].tolist() for name in "uvd"]
        assert write(f) < 0
        assert [f[name][...].tolist() for name in "uvd"] == before
        rows[bad][-1] = good
        assert write(f) >= 0
        assert set(f["u"][...]) == set(f["v"][...]) == {b"new"} and set(f["d"]["in"]["u"]) == {b"n"}


def test_a_bad_text_far_behind_keeps_all_back(store):
    """More elements than go through a work buffer at once."""
    count = 500_000
    text_array(store, count=count)
    data = np.full(2 * count, b"new", "S20")
    data[-1] = b"four"
    with h5py.File(store, "r+") as f:
        with pytest.raises(OSError, match=f"element {2 * count - 1} "):
            f["u"].id.write(ALL, ALL, data, fixed(20))
        assert list(f["u"].asstr()[:3]) == ["\u00e9" + CLEF, "abc", ""]
        data[-1] = b"for"
        f["u"].id.write(ALL, ALL, data, fixed(20))
        assert set(f["u"][:-1]) == {b"new"} and f["u"][-1] == b"for"


def struct_array(store, endian="little"):
    values = np.array([(1, ("a\u00e9", 0x3FC0, True), 7, 0.5), (-2, ("\ud800", 0xC000, False), -1, 2.5)],
                      STORED).astype(STORED.newbyteorder(endian))
    fill = np.array([(9, ("zz", 0, True), 8, 1.5)], STORED.newbyteorder(endian))
    put(store, "d", {"name": "struct", "configuration": {"fields": FIELDS}},
        base64.b64encode(fill.tobytes()).decode(), values.tobytes(), 2, endian)


@pytest.mark.parametrize("endian", ["little", "big"])
def test_structs(store, endian):
    struct_array(store, endian)
    with h5py.File(store, "r+") as f:
        d = f["d"]
        d[2] = np.array((5, ("\u00fc".encode(), 1.5, True), 3, 4.5), d.dtype)
        d[0:4:3, "x"] = [77, 78]
        assert d[0].item() == (77, ("a\u00e9".encode(), 1.5, True), 7, 0.5)
        assert d[3].item() == (78, (b"zz", 0, True), 8, 1.5)
        assert d[2].item() == (5, ("\u00fc".encode(), 1.5, True), 3, 4.5)
        inner = np.zeros(1, [("in", [("u", "S9")])])
        one = h5py.h5s.create_simple((4,))
        one.select_hyperslab((3,), (1,))
        for bad, message in ((b"abc", "has more characters"), (b"\xff", "is no UTF-8")):
            inner["in"]["u"] = bad
            with pytest.raises(OSError, match=message):
                d.id.write(h5py.h5s.create_simple((1,)), one, inner)
        inner["in"]["u"] = CLEF.encode()
        with pytest.raises(OSError):
            d.id.write(h5py.h5s.create_simple((1,)), one, np.zeros(1, [("in", [("u", "i4")])]))
        d.id.write(h5py.h5s.create_simple((1,)), one, inner)
        assert d[3].item() == (78, (CLEF.encode(), 0, True), 8, 1.5)


CONVERSION = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64,
                              *[ctypes.c_void_p] * 3)


@pytest.mark.parametrize("answer", [1, -1])  # H5T_CONV_HANDLED, H5T_CONV_ABORT
@pytest.mark.parametrize("members", [["x", "in"], ["x"]])
def test_a_callback_is_called_once_for_an_element(store, answer, members):
    struct_array(store)
    kinds = {"x": ("x", "i8"), "in": ("in", [("u", "S9")])}
    rows = np.zeros(4, [kinds[name] for name in members])
    rows["x"] = [1, 2**40, 3, 2**41]
    calls = []

    def called(what, source, target, given, made, context):
        calls.append(ctypes.c_int64.from_address(given).value)
        ctypes.c_int32.from_address(made).value = 7
        return answer

    callback, plist = CONVERSION(called), h5py.h5p.create(h5py.h5p.DATASET_XFER)
    library.H5Pset_type_conv_cb.argtypes = [ctypes.c_int64, CONVERSION, ctypes.c_void_p]
    assert library.H5Pset_type_conv_cb(plist.id, callback, None) >= 0
    with h5py.File(store, "r+") as f:
        before = f["d"][...].tolist()
        if "in" in members:
            rows["in"]["u"][3] = b"long"
            with pytest.raises(OSError, match="element 3 .*has more characters"):
                f["d"].id.write(ALL, ALL, rows, dxpl=plist)
            assert f["d"][...].tolist() == before and calls == []
            rows["in"]["u"][3] = b"lo"
        if answer < 0:
            with pytest.raises(OSError):
                f["d"].id.write(ALL, ALL, rows, dxpl=plist)
            assert f["d"][...].tolist() == before and calls == [2**40]
        else:
            f["d"].id.write(ALL, ALL, rows, dxpl=plist)
            assert list(f["d"]["x"]) == [1, 7, 3, 7] and calls == [2**40, 2**41]


def test_what_is_no_text_stays_as_it_is(store):
    """A lone surrogate, which UTF-8 does not have, in a member that is not written."""
    struct_array(store)
    with h5py.File(store, "r+") as f:
        f["d"][1, "y"] = 9.5
        assert f["d"][1].item() == (-2, ("\ufffd".encode(), -2, False), -1, 9.5)
    stored = np.frombuffer((store / "d" / "c" / "0").read_bytes(), STORED)
    assert stored[1].item() == (-2, ("\ud800", 0xC000, False), -1, 9.5)


def test_growing_copies_and_direct_chunks(store, tmp_path):
    text_array(store)
    with h5py.File(store, "r+") as f:
        f["u"].resize((11,))
        f["u"][8:] = ["q", CLEF, "\u00fc\u00fc\u00fc"]
        f.copy("u", "copy")
        f["copy"][0] = "own"
        f["u"].id.write_direct_chunk((4,), np.array([b"ab", b"", b"c", b"d"], "S12").tobytes())
        with pytest.raises(OSError, match="has more characters"):
            f["u"].id.write_direct_chunk((4,), np.array([b"abcd", b"", b"c", b"d"], "S12").tobytes())
        f["u"].attrs["_FillValue"] = np.array("\u00e9".encode(), "S12")
        f["u"].attrs["note"] = "\u00e9" + CLEF
    want = ["\u00e9" + CLEF, "abc", "", "", "ab", "", "c", "d", "q", CLEF, "\u00fc\u00fc\u00fc"]
    assert texts(store) == want
    again, h5, back = tmp_path / "again.zarr", tmp_path / "x.h5", tmp_path / "back.zarr"
    tool("h5repack", store, again, connector="zarr")
    tool("h5repack", store, h5, connector="zarr")
    tool("h5repack", h5, back, connector="zarr")
    for path in (again, back):
        tool("h5diff", store, path, connector="zarr")
        assert '"fixed_length_utf32"' in (path / "u" / "zarr.json").read_text()
        with h5py.File(path, "r+") as f:
            assert f["u"].attrs["note"] == "\u00e9" + CLEF
            f["u"][1] = CLEF
            assert list(f["u"].asstr()[:2]) == ["\u00e9" + CLEF, CLEF]
    with h5py.File(h5, "r+") as f:
        f["u"][0] = b"abcd"
    done = tool_fails(h5, tmp_path / "no.zarr")
    assert "delete the attribute" in done


def tool_fails(source, target):
    done = run(["h5repack", "--enable-error-stack", source, target], connector="zarr")
    assert done.returncode != 0
    return done.stdout + done.stderr
