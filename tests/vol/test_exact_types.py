# SPDX-License-Identifier: MIT
"""HDF5 types that Zarr has no word for: stored as plain arrays, with the type kept beside them."""

import json
import random
import shutil

import h5py
import numpy as np
import pytest
from conftest import tool
from test_created_types import ALIGNED, COMPOUND, document, same, small_type, string_type, values_of
from test_types import put

T = h5py.h5t


def enum_type(base, members):
    kind = T.enum_create(base)
    for name, value in members.items():
        kind.enum_insert(name.encode(), value)
    return kind


def opaque_type(size, tag):
    kind = T.create(T.OPAQUE, size)
    kind.set_tag(tag)
    return kind


def compound_type(size, *members):
    kind = T.create(T.COMPOUND, size)
    for name, offset, member in members:
        kind.insert(name.encode(), offset, member)
    return kind


def bits_type(base, size, precision, offset=0):
    kind = base.copy()
    kind.set_precision(precision)
    kind.set_offset(offset)
    kind.set_size(size)
    return kind


def float_type(size, exponent, mantissa, bias):
    kind = T.IEEE_F32LE.copy()
    kind.set_fields(8 * size - 1, mantissa, exponent, 0, mantissa)
    kind.set_precision(8 * size)
    kind.set_size(size)
    kind.set_ebias(bias)
    return kind


THREE_BYTES, SHIFTED = bits_type(T.STD_I32LE, 3, 24), bits_type(T.STD_U32BE, 4, 17, 7)
COLOURS = {"RED": 0, "GREEN": 1, "BLUE": 250}
KINDS = {
    "enum": (enum_type(T.STD_U8LE, COLOURS), "uint8"),
    "enum_big": (enum_type(T.STD_I32BE, {"LOW": -(2**31), "b": 7, "\u00e9": 2**31 - 1}), "int32"),
    "bits": (T.STD_B16LE, "uint16"),
    "bits_big": (T.STD_B32BE, "uint32"),
    "big_int": (T.STD_I16BE, "int16"),
    "big_float": (T.IEEE_F64BE, "float64"),
    "seconds": (T.UNIX_D32LE, "int32"),
    "seconds_big": (T.UNIX_D64BE, "int64"),
    "compound_of_seconds": (compound_type(9, ("n", 0, T.STD_I8LE), ("t", 1, T.UNIX_D64LE)), "struct"),
    "tagged": (opaque_type(3, b"a tag"), "raw_bytes"),
    "time": (opaque_type(8, b"NUMPY:<M8[us]"), "numpy.datetime64"),
    "string_c": (string_type(4, T.STR_NULLTERM, T.CSET_ASCII), "null_terminated_bytes"),
    "string_f": (string_type(4, T.STR_SPACEPAD, T.CSET_UTF8), "null_terminated_bytes"),
    "compound": (compound_type(32, ("z", 8, T.IEEE_F64BE), ("a", 1, T.STD_I16LE),
                               ("e", 20, enum_type(T.STD_I8LE, {"A": -1, "B": 2})), ("t", 21, opaque_type(2, b"t")),
                               ("n", 24, T.array_create(T.STD_I16BE, (2,)))), "struct"),
    "array": (T.array_create(T.STD_I16BE, (2, 3)), "raw_bytes"),
    "array_of_compounds": (T.array_create(compound_type(6, ("a", 0, T.STD_I16LE), ("b", 2, T.STD_U32BE)), (2,)),
                           "raw_bytes"),
    "int24": (THREE_BYTES, "raw_bytes"),
    "uint40_big": (bits_type(T.STD_U64BE, 5, 40), "raw_bytes"),
    "int12": (bits_type(T.STD_I16LE, 2, 12), "raw_bytes"),
    "shifted": (SHIFTED, "raw_bytes"),
    "compound_of_odd": (compound_type(12, ("a", 1, THREE_BYTES), ("b", 6, SHIFTED)), "struct"),
    "array_of_odd": (T.array_create(THREE_BYTES, (2,)), "raw_bytes"),
    "float24": (float_type(3, 7, 16, 63), "raw_bytes"),
    "long_double": (T.NATIVE_LDOUBLE, "raw_bytes"),
    "compound_of_floats": (compound_type(20, ("a", 1, float_type(3, 7, 16, 63)), ("b", 4, T.NATIVE_LDOUBLE)),
                           "struct"),
    "float8": (small_type(T.IEEE_F32LE, 1, 4, 3, 7), "float8_e4m3"),
}


def long_doubles(count):
    """Their bytes, with zeros where the processor has none."""
    out = (np.arange(count, dtype=np.longdouble) / 7).view("u1").reshape(count, -1)
    if np.finfo(np.longdouble).nmant == 63:
        out[:, 10:] = 0
    return out


def stored_bytes(kind, count):
    """Elements of the type itself, none of them with a value that the type has not."""
    out = np.random.default_rng(5).integers(0, 256, (count, kind.get_size()), "u1")
    if kind.get_class() == T.ENUM:
        values = [kind.get_member_value(i) for i in range(kind.get_nmembers())]
        base = kind.get_super().dtype
        out = np.array(values, base)[np.arange(count) % len(values)].view("u1").reshape(count, -1)
    if kind == KINDS["int12"][0]:
        out[:, 1] &= 15
    if kind == SHIFTED:
        out[:] &= np.array([0, 255, 255, 128], "u1")
    if kind == KINDS["compound_of_odd"][0]:
        out[:] &= np.array([0, 255, 255, 255, 0, 0, 0, 255, 255, 128, 0, 0], "u1")
    if kind == KINDS["compound"][0]:
        out[:, [0, 3, 4, 5, 6, 7, 16, 17, 18, 19, 23, 28, 29, 30, 31]] = 0  # between the members
        out[:, 20] = np.array([255, 2], "u1")[np.arange(count) % 2]
        out[:, 8:16] = np.arange(count, dtype=">f8").view("u1").reshape(count, 8)
    if kind.get_class() == T.STRING:
        out = out % 26 + 65
        out[:, -1] = 32 if kind.get_strpad() == T.STR_SPACEPAD else 0
    if kind == KINDS["float24"][0]:
        out[:, 2] &= 63  # no infinity, no NaN
    elif kind == KINDS["compound_of_floats"][0]:
        out[:, :4] = np.arange(4 * count).reshape(count, 4) % 60
        out[:, 0] = 0
        out[:, 4:] = long_doubles(count)
    elif kind == T.NATIVE_LDOUBLE:
        out = long_doubles(count)
    elif kind.get_class() == T.FLOAT:
        out = np.arange(count, dtype=">f8" if kind.get_size() == 8 else "u1").view("u1").reshape(count, -1)
    return np.ascontiguousarray(out)


def elements(raw):
    return raw.view(f"V{raw.shape[1]}").reshape(-1)


def make(file, name, kind, raw):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((3,))
    data = h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create_simple((len(raw),)), plist)
    data.write(h5py.h5s.ALL, h5py.h5s.ALL, elements(raw), kind)
    return data


def read(data, kind):
    got = np.zeros(data.shape, f"V{kind.get_size()}")
    data.read(h5py.h5s.ALL, h5py.h5s.ALL, got, kind)
    return got


@pytest.mark.parametrize("name", ["int24", "uint40_big", "int12", "shifted"])
def test_numbers_of_odd_sizes(name, tmp_path):
    """HDF5 converts them; a fill value is one of them."""
    kind, values = KINDS[name][0], np.array([3, 2000, 0 if name[0] in "us" else -7], "i8")
    for path in (tmp_path / "x.zarr", tmp_path / "a.h5"):
        with h5py.File(path, "w") as file:
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_chunk((2,))
            plist.set_fill_value(np.array(5, "i4"))
            data = h5py.h5d.create(file.id, b"d", kind, h5py.h5s.create_simple((6,)), plist)
            some = data.get_space()
            some.select_hyperslab((0,), (3,))
            data.write(h5py.h5s.create_simple((3,)), some, values)
        with h5py.File(path, "r") as file:
            got = np.zeros(6, "i8")
            file["d"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, got)
            assert got.tolist() == [*values, 5, 5, 5] and file["d"].id.get_type() == kind
    made = document(tmp_path / "x.zarr")
    assert made["data_type"] == {"name": "raw_bytes", "configuration": {"length_bytes": kind.get_size()}}
    tool("h5diff", tmp_path / "a.h5", tmp_path / "x.zarr", connector="zarr")


def test_enumeration_of_odd_size(tmp_path):
    """As it is: HDF5 1.14.5 reads beyond the members when it converts values that are none of them."""
    kind, raw = enum_type(THREE_BYTES, {"A": 1, "B": 2}), np.array([[1, 0, 0], [2, 0, 0]], "u1")
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        make(file, "d", kind, raw)
    with h5py.File(tmp_path / "x.zarr", "r") as file:
        assert file["d"].id.get_type() == kind and read(file["d"].id, kind).tobytes() == raw.tobytes()
    assert document(tmp_path / "x.zarr")["data_type"]["name"] == "raw_bytes"


@pytest.fixture(params=KINDS)
def kept(request, tmp_path):
    kind, name = KINDS[request.param]
    raw = stored_bytes(kind, 7)
    for path in (tmp_path / "x.zarr", tmp_path / "a.h5"):
        with h5py.File(path, "w") as file:
            make(file, "d", kind, raw)
    return kind, name, raw, tmp_path


def test_type_and_values(kept):
    kind, name, raw, folder = kept
    made = document(folder / "x.zarr")
    stored = made["data_type"]
    assert (stored if isinstance(stored, str) else stored["name"]) == name
    with h5py.File(folder / "x.zarr", "r+") as file:
        data = file["d"].id
        assert data.get_type() == kind and "_hdf5" not in file["d"].attrs
        assert read(data, kind).tobytes() == raw.tobytes()
        some = h5py.h5s.create_simple((7,))
        some.select_elements(np.array([[6], [0], [3]]))
        got = np.zeros(3, f"V{kind.get_size()}")
        data.read(h5py.h5s.create_simple((3,)), some, got, kind)
        assert got.tobytes() == raw[[6, 0, 3]].tobytes()
        data.write(h5py.h5s.create_simple((3,)), some, elements(raw[:3]), kind)
        raw = raw.copy()
        raw[[6, 0, 3]] = raw[:3]
    with h5py.File(folder / "x.zarr", "r") as file:
        assert read(file["d"].id, kind).tobytes() == raw.tobytes()


def test_way_there_and_back(kept):
    """H5Ocopy, h5repack in both directions, and h5diff."""
    kind, _, raw, folder = kept
    made = ["e.zarr", "f.h5"]
    tool("h5copy", "-i", folder / "a.h5", "-o", folder / "e.zarr", "-s", "/d", "-d", "/d", connector="zarr")
    tool("h5copy", "-i", folder / "e.zarr", "-o", folder / "f.h5", "-s", "/d", "-d", "/d", connector="zarr")
    if kind.detect_class(T.TIME) or kind.get_class() == T.TIME:  # which h5repack and h5diff cannot read
        return check_copies(kind, raw, folder, made)
    tool("h5repack", folder / "a.h5", folder / "b.zarr", connector="zarr")
    tool("h5repack", "-f", "GZIP=1", folder / "b.zarr", folder / "c.zarr", connector="zarr")
    tool("h5repack", folder / "c.zarr", folder / "d.h5", connector="zarr")
    check_copies(kind, raw, folder, [*made, "b.zarr", "c.zarr", "d.h5"])
    for other in ("d.h5", "f.h5"):
        tool("h5diff", folder / "a.h5", folder / other, "/d", "/d")


def check_copies(kind, raw, folder, made):
    for other in made:
        with h5py.File(folder / other, "r") as file:
            assert file["d"].id.get_type() == kind, other
            assert read(file["d"].id, kind).tobytes() == raw.tobytes(), other


def test_memory_types_as_in_hdf5(kept):
    """What HDF5 converts, and what it refuses: enumerations and bitfields to integers and so on."""
    kind, _, _, folder = kept
    for memory in (T.NATIVE_INT32, T.NATIVE_DOUBLE, T.NATIVE_B32, KINDS["enum"][0], opaque_type(3, b"a tag")):
        answers = []
        for name in ("a.h5", "x.zarr"):
            with h5py.File(folder / name, "r+") as file:
                got = np.zeros(7, f"V{memory.get_size()}")
                try:
                    file["d"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, got, memory)
                except (OSError, TypeError):
                    got = None
                try:
                    file["d"].id.write(h5py.h5s.ALL, h5py.h5s.ALL, np.zeros(7, f"V{memory.get_size()}"), memory)
                    got = got, "written"
                except (OSError, TypeError):
                    got = got, "refused"
                answers.append(repr(got))
        assert answers[0] == answers[1], memory


@pytest.mark.parametrize("kind", [T.UNIX_D32LE, T.UNIX_D32BE, T.UNIX_D64LE, T.UNIX_D64BE])
def test_attributes_of_seconds(kind, tmp_path):
    """Times of the class H5T_TIME, as PyTables writes them."""
    order = ">" if kind in (T.UNIX_D32BE, T.UNIX_D64BE) else "<"
    raw = elements(np.array([-3, 0, 2**31 - 1], f"{order}i{kind.get_size()}").view("u1").reshape(3, -1))
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        group = file.create_group("g")
        h5py.h5a.create(group.id, b"t", kind, h5py.h5s.create_simple((3,))).write(raw, kind)
        with h5py.File(tmp_path / "y.h5", "w") as other:
            file.copy("g", other)
    assert document(tmp_path / "x.zarr", "g")["attributes"]["t"] == [-3, 0, 2**31 - 1]
    for name in ("x.zarr", "y.h5"):
        with h5py.File(tmp_path / name, "r") as file:
            attribute, got = h5py.h5a.open(file["g"].id, b"t"), np.zeros(3, raw.dtype)
            attribute.read(got, kind)
            assert attribute.get_type() == kind and got.tobytes() == raw.tobytes()


def test_h5py_enumerations(tmp_path):
    kind = h5py.enum_dtype({"OFF": 0, "ON": 5}, "i2")
    for path in (tmp_path / "x.zarr", tmp_path / "a.h5"):
        with h5py.File(path, "w") as file:
            file.create_dataset("d", (4,), kind, fillvalue=5, chunks=(2,))[:2] = [0, 5]
            file.create_dataset("s", data=5, dtype=kind)
        with h5py.File(path, "r") as file:
            assert h5py.check_enum_dtype(file["d"].dtype) == {"OFF": 0, "ON": 5}
            assert file["d"][...].tolist() == [0, 5, 5, 5] and file["d"].fillvalue == 5 and file["s"][()] == 5
    made = document(tmp_path / "x.zarr")
    assert made["data_type"] == "int16" and made["fill_value"] == 5
    side = json.loads(made["attributes"]["_hdf5"])
    assert side["type"] == {"class": "enum", "base": "<i2", "members": [["OFF", 0], ["ON", 5]]}


def test_arrays(tmp_path):
    """As elements, in compounds, with a fill value, of another type in memory, and one member alone."""
    kinds = {"a": np.dtype((">f4", (2, 3))), "e": np.dtype((h5py.enum_dtype({"A": 1, "B": 2}, "i2"), (2,))),
             "c": np.dtype([("x", "<i2", (2,)), ("in", [("t", "S3", (2, 2)), ("y", "f8")])])}
    member = np.dtype(([("p", "i2"), ("q", "f4")], (3,)))
    answers = []
    for name in (tmp_path / "x.zarr", tmp_path / "a.h5"):
        with h5py.File(name, "w") as file:
            file.create_dataset("a", (3,), kinds["a"], chunks=(2,))[:2] = np.arange(12).reshape(2, 2, 3)
            file.create_dataset("e", (2,), kinds["e"])[...] = [[1, 2], [2, 1]]
            fill = np.zeros((), kinds["c"])
            fill["x"], fill["in"]["t"], fill["in"]["y"] = [5, 6], b"ab", 7
            data = file.create_dataset("c", (4,), kinds["c"], fillvalue=fill, chunks=(2,))
            data[1, "x"] = np.array([8, 9], "i2")
            some = file.create_dataset("m", (2,), member)
            some[...] = np.array([[(i, i / 2) for i in range(3)]] * 2, member.base)
        with h5py.File(name, "r") as file:
            assert {name: file[name].dtype for name in kinds} == kinds
            got = [file[o][...].tolist() for o in "aecm"] + [file["c"]["x"].tolist()]
            wide = np.zeros((3, 2, 3), "f8")
            file["a"].id.read(h5py.h5s.ALL, h5py.h5s.ALL, wide, T.array_create(T.NATIVE_DOUBLE, (2, 3)))
            answers.append(repr([*got, wide.tolist(), file["c"].fillvalue.tolist()]))
    assert answers[0] == answers[1]
    assert document(tmp_path / "x.zarr", "a")["data_type"]["name"] == "raw_bytes"


@pytest.mark.parametrize("kind", [COMPOUND, ALIGNED], ids=["nested", "aligned"])
def test_compounds_of_numpy(kind, tmp_path):
    """Offsets, byte orders and the size of the whole stay."""
    values = values_of(kind)
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        file.create_dataset("d", data=values, fillvalue=values[1])
        want = T.py_create(kind, logical=True)
        assert file["d"].id.get_type() == want
    with h5py.File(tmp_path / "x.zarr", "r") as file:
        assert file["d"].id.get_type() == want
        assert same(file["d"][...], values) and same(file["d"].fillvalue, values[1])


@pytest.mark.parametrize("padding", [h5py.h5t.STR_NULLTERM, h5py.h5t.STR_NULLPAD, h5py.h5t.STR_SPACEPAD])
def test_bytes_behind_a_nul(padding, tmp_path):
    """HDF5's own files keep them in attributes of fixed length; PyTables stores bytes with NULs so."""
    words = np.array([b"with \0 in it", b"\0abc", b"none"], "S12")
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(12)
    kind.set_strpad(padding)
    pair = h5py.h5t.create(h5py.h5t.COMPOUND, 24)
    pair.insert(b"a", 0, kind)
    pair.insert(b"b", 12, kind)

    def bytes_of(file):
        for name, count, stored in ((b"texts", 3, kind), (b"pairs", 1, pair)):
            got = np.zeros(count, f"V{stored.get_size()}")
            h5py.h5a.open(file.id, name).read(got, mtype=stored)
            yield got.tobytes()

    with h5py.File(tmp_path / "x.zarr", "w") as file:
        for name, count, stored in ((b"texts", 3, kind), (b"pairs", 1, pair)):
            space = h5py.h5s.create_simple((count,))
            data = words if stored is kind else words[:2].view("V24")
            h5py.h5a.create(file.id, name, stored, space).write(data, mtype=stored)
        assert list(bytes_of(file)) == [words.tobytes(), words[:2].tobytes()]
    tool("h5repack", tmp_path / "x.zarr", tmp_path / "y.h5", connector="zarr")
    for name in ("x.zarr", "y.h5"):
        with h5py.File(tmp_path / name, "r") as file:
            assert list(bytes_of(file)) == [words.tobytes(), words[:2].tobytes()], name


def test_text_of_any_length(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        file.create_dataset("d", data=[b"a", b"bc"], dtype=h5py.string_dtype("ascii"))
    with h5py.File(tmp_path / "x.zarr", "r") as file:
        assert h5py.check_string_dtype(file["d"].dtype).encoding == "ascii" and list(file["d"]) == [b"a", b"bc"]


ITEMS = {"i4": "<i4", "big": ">f8", "i1": "i1", "enum": h5py.enum_dtype({"A": 0, "B": 7}, "i2"),
         "compound": np.dtype([("a", "i1"), ("b", "f4")], align=True), "text": "S3"}


def sequences(base):
    kind = np.dtype(base)
    raw = np.random.default_rng(3).integers(1, 60, 40 * kind.itemsize, "u1")
    values = raw.view(kind) if kind.kind in "iS" else np.zeros(40, kind)
    if kind.kind == "f":
        values = np.arange(40).astype(kind)
    if kind.names:
        values["a"], values["b"] = np.arange(40), 0.5
    some = [values[:3], values[3:4], values[4:40]]
    return some if kind.names or kind.kind == "S" else [*some, values[:0]]  # h5py reads no empty ones of those


@pytest.mark.parametrize("base", ITEMS.values(), ids=ITEMS)
def test_sequences(base, tmp_path):
    path, kind, values = tmp_path / "x.zarr", h5py.vlen_dtype(np.dtype(base)), sequences(base)
    for name in (path, tmp_path / "a.h5"):
        with h5py.File(name, "w") as file:
            data = file.create_dataset("d", (len(values),), kind, chunks=(2,))
            for i, value in enumerate(values):
                data[i] = value
            file.create_dataset("s", (), kind)[()] = values[2]
    tool("h5repack", path, tmp_path / "b.h5", connector="zarr")
    tool("h5repack", "-f", "GZIP=1", tmp_path / "a.h5", tmp_path / "c.zarr", connector="zarr")
    for object_ in ("d", "s"):
        tool("h5copy", "-i", path, "-o", tmp_path / "d.h5", "-s", object_, "-d", object_, connector="zarr")
        tool("h5copy", "-i", tmp_path / "a.h5", "-o", tmp_path / "e.zarr", "-s", object_, "-d", object_, connector="zarr")
    with h5py.File(tmp_path / "a.h5", "r") as file:
        want = file["d"].id.get_type()
    for name in (path, tmp_path / "b.h5", tmp_path / "c.zarr", tmp_path / "d.h5", tmp_path / "e.zarr"):
        with h5py.File(name, "r") as file:
            assert file["d"].id.get_type() == want and h5py.check_vlen_dtype(file["d"].dtype) == np.dtype(base)
            assert [v.tobytes() for v in file["d"][...]] == [v.tobytes() for v in values], name
            assert file["s"][()].tobytes() == values[2].tobytes()
    for name in ("b.h5", "d.h5"):
        tool("h5diff", tmp_path / "a.h5", tmp_path / name)
    assert document(path)["data_type"] == "bytes"


def test_sequences_of_another_type_in_memory(tmp_path):
    """HDF5 converts each item."""
    answers = []
    for name in ("x.zarr", "a.h5"):
        with h5py.File(tmp_path / name, "w") as file:
            little, big = (file.create_dataset(o, (2,), h5py.vlen_dtype(f"{o}i2")) for o in "<>")
            little[0] = big[0] = np.array([1, -2, 300])
            little[1] = big[1] = np.arange(1000)
            got = [data.astype(h5py.vlen_dtype(kind))[...] for data in (little, big) for kind in ("f8", "i1", ">u4")]
            answers.append([[v.tolist() for v in values] for values in got])
    assert answers[0] == answers[1]


def test_sequences_that_end_within_an_item(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as file:
        file.create_dataset("d", (1,), h5py.vlen_dtype("u1"))[0] = np.arange(7, dtype="u1")
    made = document(path)
    made["attributes"] = {"_hdf5": '{"version": 1, "type": {"class": "vlen", "base": "<i4"}}'}
    (path / "d/zarr.json").write_text(json.dumps(made))
    with h5py.File(path, "r") as file, pytest.raises(OSError, match="7 bytes are no sequence of items of 4"):
        file["d"][...]


@pytest.mark.parametrize("kind", ["f4", ">i8", h5py.string_dtype(), h5py.enum_dtype({"A": 1}), "S3"])
def test_without_a_shape(kind, tmp_path):
    """h5py.Empty: an empty array to other readers."""
    path = tmp_path / "x.zarr"
    for name in (path, tmp_path / "a.h5"):
        with h5py.File(name, "w") as file:
            file.create_dataset("e", data=h5py.Empty(np.dtype(kind)))
            file.create_dataset("z", (0,), kind, chunks=(1,), maxshape=(None,))
    tool("h5repack", path, tmp_path / "b.h5", connector="zarr")
    tool("h5repack", tmp_path / "b.h5", tmp_path / "c.zarr", connector="zarr")
    tool("h5repack", "-f", "GZIP=1", tmp_path / "c.zarr", tmp_path / "d.zarr", connector="zarr")
    tool("h5copy", "-i", path, "-o", tmp_path / "e.h5", "-s", "/e", "-d", "/e", connector="zarr")
    for name in (path, tmp_path / "b.h5", tmp_path / "c.zarr", tmp_path / "d.zarr", tmp_path / "e.h5"):
        with h5py.File(name, "r") as file:
            assert file["e"].shape is None and file["e"].id.get_space().get_simple_extent_type() == h5py.h5s.NULL
            assert file["e"][()] == h5py.Empty(np.dtype(kind)) and file["e"].size is None
            assert "z" not in file or file["z"].shape == (0,)
    tool("h5diff", tmp_path / "a.h5", tmp_path / "b.h5")
    assert document(path, "e")["shape"] == [0]


def test_shape_counts_while_it_fits(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as file:
        file.create_dataset("d", data=h5py.Empty("i4"))
    made = document(path)
    made["shape"] = [3]
    (path / "d/zarr.json").write_text(json.dumps(made))
    with h5py.File(path, "r") as file:
        assert file["d"].shape == (3,) and file["d"][...].tolist() == [0, 0, 0]


def put_side(path, side, data_type="uint8", size=1):
    shutil.rmtree(path / "d", ignore_errors=True)
    put(path, "d", data_type, 0 if isinstance(data_type, str) else "AAA=", bytes(range(4 * size)), 4)
    made = document(path)
    made["attributes"] = {"_hdf5": side if isinstance(side, str) else json.dumps(side)}
    (path / "d/zarr.json").write_text(json.dumps(made))


ENUM = {"version": 1, "type": {"class": "enum", "base": "<u1", "members": [["A", 0], ["B", 1]]}}


def test_type_counts_while_it_fits(store):
    """Another program has made the array anew, of another type."""
    put_side(store, ENUM)
    with h5py.File(store, "r") as file:
        assert h5py.check_enum_dtype(file["d"].dtype) == {"A": 0, "B": 1}
    put_side(store, ENUM, "int16", 2)
    with h5py.File(store, "r") as file:
        assert file["d"].dtype == np.int16 and h5py.check_enum_dtype(file["d"].dtype) is None
        assert file["d"][0] == 256


def mutate(text, random_):
    text = list(text)
    for _ in range(random_.randrange(1, 5)):
        at = random_.randrange(len(text))
        choice = random_.randrange(4)
        if choice == 0:
            del text[at]
        elif choice == 1:
            text[at] = random_.choice('{}[]",:0123456789-<>ifu')
        elif choice == 2:
            text.insert(at, random_.choice(["0", "99999999999", "-1", "[", "null", '"<i4"']))
        else:
            end = random_.randrange(at, min(len(text), at + 20))
            text[at:at] = text[at:end]
    return "".join(text)


@pytest.mark.parametrize("name", KINDS)
def test_hostile_types(name, store):
    """The data are read whatever the attribute says, and in the bounds of the type that is shown."""
    kind, _ = KINDS[name]
    with h5py.File(store, "r+") as file:
        make(file, "d", kind, stored_bytes(kind, 4))
    made, random_ = document(store), random.Random(f"seed {name}")
    side = made["attributes"]["_hdf5"] if "_hdf5" in made.get("attributes", {}) else json.dumps(ENUM)
    for _ in range(60):
        made["attributes"] = {"_hdf5": mutate(side, random_)}
        (store / "d/zarr.json").write_text(json.dumps(made))
        with h5py.File(store, "r") as file:
            shown = file["d"].id.get_type()
            assert 0 < shown.get_size() < 2**31 and file["d"].shape == (4,)
            if shown.get_size() < 2**20:
                read(file["d"].id, shown)


@pytest.mark.parametrize("name", ["x.h5", "x.zarr"])
def test_floats_of_other_sizes(tmp_path, name):
    """What HDF5 reads and writes of them, in types of their own and in others."""
    path, wide = tmp_path / name, np.array([1, -2, 3, 0, np.inf, np.nan], np.longdouble) / 3
    wide[3] = np.longdouble("1e4000") if np.finfo(np.longdouble).maxexp > 1024 else 7
    with h5py.File(path, "w") as file:
        file.create_dataset("l", data=wide, chunks=(4,), compression="gzip")
        file.create_dataset("fill", (3,), np.longdouble, fillvalue=wide[0])[1] = 5
        file.create_dataset("c", data=wide[:4] + 2j)
        file.create_dataset("v", (1,), h5py.vlen_dtype(np.longdouble))[0] = wide[:4]
        for attribute, value in {"one": wide[0], "half": np.longdouble(0.5), "all": wide, "c": wide[:2] * 1j}.items():
            file.attrs[attribute] = value
        small = h5py.h5d.create(file.id, b"s", KINDS["float24"][0], h5py.h5s.create_simple((3,)))
        small.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([1.5, -2.25, 1e30]))
        attr = h5py.h5a.create(file.id, b"s", KINDS["float24"][0], h5py.h5s.create_simple((2,)))
        attr.write(np.array([0.25, -3]))
    with h5py.File(path, "r") as file:
        for key, want in {"l": wide, "c": wide[:4] + 2j, "fill": np.array([wide[0], 5, wide[0]])}.items():
            assert file[key].dtype == want.dtype and np.array_equal(file[key][...], want, equal_nan=True), key
        assert np.array_equal(file["v"][0], wide[:4]) and file["fill"].fillvalue == wide[0]
        assert np.array_equal(file["l"].astype("f8")[...], wide.astype("f8"), equal_nan=True)
        assert file.attrs["one"] == wide[0] and file.attrs["half"] == 0.5
        assert np.array_equal(file.attrs["all"], wide, equal_nan=True) and np.array_equal(file.attrs["c"], wide[:2] * 1j)
        assert file["s"][...].tolist() == [1.5, -2.25, np.inf] and file.attrs["s"].tolist() == [0.25, -3]
        for kind in (file["s"].id.get_type(), file.attrs.get_id("s").get_type()):
            assert kind == KINDS["float24"][0]


def test_floats_of_other_sizes_go_there_and_back(tmp_path):
    source, store, back = (tmp_path / name for name in ("a.h5", "b.zarr", "c.h5"))
    with h5py.File(source, "w") as file:
        for name in ("float24", "long_double", "compound_of_floats"):
            make(file, name, KINDS[name][0], stored_bytes(KINDS[name][0], 5))
        file.attrs["l"], file.attrs["c"] = np.longdouble(1) / 3, np.clongdouble(2 + 1j) / 3
    tool("h5repack", source, store, connector="zarr")
    tool("h5repack", store, back, connector="zarr")
    for other in (store, back):
        tool("h5diff", source, other, connector="zarr")
    assert json.loads((store / "zarr.json").read_text())["attributes"]["l"] == 1 / 3
