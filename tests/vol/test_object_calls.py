# SPDX-License-Identifier: MIT
"""Comments of objects, and the ids of committed datatypes among those of a file."""

import ctypes
import json
import os
import time

import h5py
import numpy as np
import pytest
import zarr
from conftest import tool
from property_lists import library


def comment(of):
    """By the object's id, with the length that HDF5 tells."""
    library.H5Oget_comment.restype = ctypes.c_ssize_t
    library.H5Oget_comment.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_size_t]
    length = library.H5Oget_comment(of.id.id, None, 0)
    assert length >= 0
    text = ctypes.create_string_buffer(length + 1)
    assert library.H5Oget_comment(of.id.id, text, length + 1) == length
    return text.value


def set_comment(of, text):
    library.H5Oset_comment.argtypes = [ctypes.c_int64, ctypes.c_char_p]
    return library.H5Oset_comment(of.id.id, text)


def by_name(of, name, text=None):
    if text is not None:
        library.H5Oset_comment_by_name.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64]
        return library.H5Oset_comment_by_name(of.id.id, name, text, 0)
    library.H5Oget_comment_by_name.restype = ctypes.c_ssize_t
    library.H5Oget_comment_by_name.argtypes = [ctypes.c_int64, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t,
                                               ctypes.c_int64]
    found = ctypes.create_string_buffer(300)
    assert library.H5Oget_comment_by_name(of.id.id, name, found, 300, 0) >= 0
    return found.value


@pytest.fixture(params=["x.zarr", "x.h5"])
def path(request, tmp_path):
    path = tmp_path / request.param
    with h5py.File(path, "w") as f:
        f.create_group("g")
        f["g/d"] = np.arange(3)
        f["t"] = np.dtype("i2")
    return path


def test_a_comment_fills_a_buffer_of_its_length(path):
    with h5py.File(path, "w") as f:
        set_comment(f["/"], b"some text")
        for size in (0, 3, 9, 10, 12):
            buffer = ctypes.create_string_buffer(b"." * 12, 13)
            assert comment(f["/"]) == b"some text"
            assert library.H5Oget_comment(f["/"].id.id, buffer, size) == 9
            assert buffer.raw.split(b"\0")[0][:size] == b"some text"[:size]
            assert size > 9 or buffer.raw[size:12] == b"." * (12 - size)


def test_older_calls_tell_the_number_of_links(path):
    with h5py.File(path, "w") as f:
        f["d"] = 1
        f["g/again"] = f["d"]
        f["soft"], f["external"] = h5py.SoftLink("/d"), h5py.ExternalLink("a.h5", "b")
        f["type"] = np.dtype("i2")
        f.create_dataset("typed", (2,), f["type"])
        links = {name: h5py.h5g.get_objinfo(f.id, name.encode(), follow_link=False).nlink
                 for name in ("d", "g/again", "g", "soft", "external", "type", "/")}
        assert links == {"d": 2, "g/again": 2, "g": 1, "soft": 0, "external": 0, "type": 2, "/": 1}
        assert h5py.h5g.get_objinfo(f.id, b"soft").nlink == 2


def test_comments_are_kept(path):
    texts = {"/": b"the root", "g": "gr\u00fcn".encode(), "g/d": b'"{}\\\n' * 50, "t": b"a type"}
    with h5py.File(path, "r+") as f:
        for name, text in texts.items():
            of = f[name]
            assert comment(of) == b"" and set_comment(of, text) >= 0 and comment(of) == text
        assert by_name(f, b"g/d") == texts["g/d"]
    with h5py.File(path, "r+") as f:
        for name, text in texts.items():
            of = f[name]
            assert comment(of) == text and "_hdf5" not in f["g"].attrs
        assert by_name(f, b"g/d", b"another") >= 0 and by_name(f["g"], b"d") == b"another"
        of = f["g"]
        assert set_comment(of, b"") >= 0 and comment(of) == b""
        f.move("g/d", "moved")
        f.copy("moved", "copied")
    with h5py.File(path, "r") as f:
        assert by_name(f, b"moved") == by_name(f, b"copied") == b"another" and by_name(f, b"g") == b""
        of = f["g"]
        assert set_comment(of, b"not now") < 0 and comment(of) == b""


def test_their_form(tmp_path):
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        of = f.create_group("g")
        set_comment(of, b"said")
        assert set_comment(of, b"\xff") < 0 and comment(of) == b"said"  # no UTF-8
    side = json.loads(zarr.open_group(path, mode="r")["g"].attrs["_hdf5"])
    assert side["comment"] == "said"


@pytest.mark.parametrize("ends", [("x.zarr", "x.h5"), ("x.h5", "x.zarr"), ("x.zarr", "y.zarr")])
def test_copies_keep_them(tmp_path, ends):
    first, second = (tmp_path / end for end in ends)
    texts = {"g": b"a group", "g/d": "gr\u00fcn".encode(), "g/t": b"a type", "g/without": b""}
    with h5py.File(first, "w") as f, h5py.File(second, "w") as g:
        f.create_group("g")
        f["g/d"] = np.arange(3)
        f["g/t"] = np.dtype("i2")
        f["g/without"] = 1
        for name, text in texts.items():
            of = f[name]
            assert set_comment(of, text) >= 0
        f.copy("g", g)
        f.copy("g/d", g, "bare", without_attrs=True)
        assert by_name(g, b"bare") == texts["g/d"]
    with h5py.File(second, "r") as g:
        for name, text in texts.items():
            of = g[name]
            assert comment(of) == text


def test_text_without_a_form_is_refused(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as f, h5py.File(tmp_path / "x.zarr", "w") as g:
        of = f.create_group("g")
        assert set_comment(of, b"\xff") >= 0
        with pytest.raises(RuntimeError, match="comment"):
            f.copy("g", g)


def test_tools_keep_them(tmp_path):
    """As they do between HDF5 files: h5repack leaves out those of groups."""
    said = {}
    with h5py.File(tmp_path / "x.h5", "w") as f:
        f["g/d"] = np.arange(3)
        for name in ("g", "g/d"):
            of = f[name]
            assert set_comment(of, name.encode()) >= 0
    for end in ("native.h5", "x.zarr", "back.h5"):
        source = "x.zarr" if end == "back.h5" else "x.h5"
        tool("h5repack", tmp_path / source, tmp_path / end, connector="zarr")
        new = "by_copy_" + end[0]
        tool("h5copy", "-i", tmp_path / source, "-o", tmp_path / end, "-s", "g", "-d", new, connector="zarr")
        with h5py.File(tmp_path / end, "r") as f:
            said[end] = [by_name(f, name.encode()) for name in ("g", "g/d", new, new + "/d")]
    assert said["native.h5"][1] == b"g/d"
    assert said["native.h5"] == said["x.zarr"]
    assert said["back.h5"][1] == said["back.h5"][3] == b"g/d"


def test_tools_show_them(path):
    with h5py.File(path, "r+") as f:
        of = f["g/d"]
        assert set_comment(of, b"a remark") >= 0
    for command in (["h5dump", "-A"], ["h5ls", "-r", "-v"]):
        assert '"a remark"' in tool(*command, path)


def test_objects_tell_what_they_can_do(path):
    """H5VLquery_optional: subclasses and operations of H5VLconnector.h and H5VLnative.h."""
    query = library.H5VLquery_optional
    query.argtypes = [ctypes.c_int64, ctypes.c_int, ctypes.c_int, ctypes.c_void_p]
    dataset, group, of_object = 4, 7, 9

    def told(of, subclass, operation):
        flags = ctypes.c_uint64()
        assert query(of.id.id, subclass, operation, ctypes.byref(flags)) >= 0
        return flags.value

    def can(of, subclass, operation):
        return bool(told(of, subclass, operation) & 1)

    with h5py.File(path) as f:
        of = f["g/d"]
        chunks, get_vlen_size, get_offset = range(1, 8), 8, 9
        supported, read_data, query_metadata = 1, 2, 8
        assert all(can(of, dataset, operation) for operation in chunks)
        kinds = supported | read_data | query_metadata
        assert told(of, dataset, get_vlen_size) & kinds == supported | query_metadata
        assert can(of, dataset, get_offset) == (path.suffix == ".h5")
        assert all(can(of, of_object, comments) for comments in (0, 1))
        assert all(can(f["g"], group, of_groups) for of_groups in (0, 1))


def test_committed_types_are_counted(path):
    with h5py.File(path, "r") as f:
        kind, group = f["t"], f["g"]
        assert h5py.h5f.get_obj_count(f.id, h5py.h5f.OBJ_DATATYPE) == 1
        assert [one.id for one in h5py.h5f.get_obj_ids(f.id, h5py.h5f.OBJ_DATATYPE)] == [kind.id.id]
        assert h5py.h5f.get_obj_count(f.id, h5py.h5f.OBJ_ALL) == 3
        other = h5py.h5t.NATIVE_INT32.copy()  # of no file
        assert h5py.h5f.get_obj_count(f.id, h5py.h5f.OBJ_DATATYPE) == 1 and other and group


KINDS = {"number": "<i2", "swapped": ">f8", "half": "f2", "complex": "c8", "bool": bool, "bytes": "S5", "raw": "V7",
         "text": h5py.string_dtype(), "enum": h5py.enum_dtype({"a": 1, "b": 2}), "sequence": h5py.vlen_dtype("i4"),
         "reference": h5py.ref_dtype, "compound": [("a", "i4"), ("b", "f2")], "time": h5py.opaque_dtype("M8[s]"),
         "nested": [("a", h5py.string_dtype()), ("b", "i4")]}


def test_types_that_no_program_opened_are_not_counted(path):
    """Of all files: HDF5 counts every id of a type that somebody has made."""
    def count():
        everything = [h5py.h5f.OBJ_ALL, h5py.h5f.OBJ_DATATYPE]
        return [h5py.h5f.get_obj_count(h5py.h5f.OBJ_ALL, one) for one in everything]

    before = count()
    with h5py.File(path, "r+") as f:
        for name, kind in KINDS.items():
            f.create_dataset("of " + name, (3,), dtype=kind)[()]
            if name != "sequence":
                f.attrs.create(name, f["of " + name][()], dtype=kind)
    with h5py.File(path, "r+") as f:
        datasets = [f["of " + name] for name in KINDS]
        for dataset in datasets:
            value = dataset[()]
            if dataset.name not in ("/of sequence", "/of reference", "/of nested"):
                dataset[...] = value
        assert len(list(f.attrs.values())) == len(KINDS) - 1
        del value, dataset
        assert count() == [before[0] + 1 + len(datasets), before[1]]
        datasets.clear()
    assert count() == before


def test_closing_closes_them(path):
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_fclose_degree(h5py.h5f.CLOSE_STRONG)
    f = h5py.h5f.open(bytes(path), h5py.h5f.ACC_RDONLY, access)
    kind = h5py.h5t.open(f, b"t")
    assert kind.valid
    f.close()
    assert not kind.valid
    access.set_fclose_degree(h5py.h5f.CLOSE_SEMI)
    f = h5py.h5f.open(bytes(path), h5py.h5f.ACC_RDONLY, access)
    kind = h5py.h5t.open(f, b"t")
    with pytest.raises(RuntimeError, match="open"):
        f.close()
    del kind
    f.close()


class Info(ctypes.Structure):
    _fields_ = [("file", ctypes.c_ulong), ("token", ctypes.c_ubyte * 16), ("type", ctypes.c_int),
                ("references", ctypes.c_uint), ("accessed", ctypes.c_int64), ("modified", ctypes.c_int64),
                ("changed", ctypes.c_int64), ("made", ctypes.c_int64), ("attributes", ctypes.c_uint64)]


def info(of):
    found, everything = Info(), 0xf
    library.H5Oget_info3.argtypes = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_uint]
    assert library.H5Oget_info3(of.id.id, ctypes.byref(found), everything) >= 0
    return found


def test_times(tmp_path):
    """As in HDF5's own files of its first format, where only datasets have them."""
    before = int(time.time())
    for name in ("x.h5", "x.zarr"):
        with h5py.File(tmp_path / name, "w") as f:
            f.create_dataset("tracks", data=[1, 2], track_times=True)
            f.create_dataset("not", data=[1, 2], track_times=False)
            f["t"] = np.dtype("i2")
        with h5py.File(tmp_path / name, "r") as f:
            tracks, not_tracked = info(f["tracks"]), info(f["not"])
            assert before <= tracks.changed <= time.time() + 1
            assert tracks.accessed == tracks.modified == tracks.made == not_tracked.changed == 0
            assert h5py.h5g.get_objinfo(f["tracks"].id).mtime == tracks.changed
            assert h5py.h5g.get_objinfo(f["not"].id).mtime == 0
    ahead = before + 1000
    os.utime(tmp_path / "x.zarr/tracks/zarr.json", (ahead, ahead))
    with h5py.File(tmp_path / "x.zarr", "r+") as f:
        d = f["tracks"]
        assert info(d).changed == ahead
        d.attrs["n"] = 1
        f.flush()
        assert before <= info(d).changed <= time.time() + 1


def test_reference_counts_are_those_of_links(path):
    with h5py.File(path, "r+") as f:
        f["again"] = f["g/d"]
        assert info(f["g/d"]).references == 2 and info(f["again"]).references == 2
        del f["again"]
        assert info(f["g/d"]).references == 1


def change(of, function):
    call = getattr(library, function)
    call.argtypes = [ctypes.c_int64]
    return call(of.id.id)


def more(of):
    return change(of, "H5Oincr_refcount")


def less(of):
    return change(of, "H5Odecr_refcount")


def test_reference_counts_are_kept(path):
    names = ["g", "g/d", "t"]
    with h5py.File(path, "r+") as f:
        for name in names:
            assert more(f[name]) >= 0 and more(f[name]) >= 0 and info(f[name]).references == 3
            assert less(f[name]) >= 0 and info(f[name]).references == 2
        f["again"] = f["g/d"]
        f.copy("g", "copy")  # of the links alone
        assert [info(f[name]).references for name in ("copy", "copy/d")] == [1, 1]
    with h5py.File(path, "r+") as f:
        assert [info(f[name]).references for name in names] == [2, 3, 2]
        f.move("g", "moved")
        assert [info(f[name]).references for name in ("moved", "moved/d")] == [2, 3]
        del f["again"]
        assert less(f["moved/d"]) >= 0
    with h5py.File(path, "r") as f:
        assert [info(f[name]).references for name in ("moved", "moved/d", "t")] == [2, 1, 2]


def test_what_has_references_keeps_its_last_link(tmp_path):
    """In an HDF5 file the object would stay without one."""
    path = tmp_path / "x.zarr"
    with h5py.File(path, "w") as f:
        f["g/sub/d"], f["t"] = np.arange(3), np.dtype("i2")
        assert more(f["g/sub/d"]) >= 0 and more(f["t"]) >= 0
    with h5py.File(path, "r+") as f:
        for name in ("g", "g/sub", "g/sub/d", "t"):
            with pytest.raises(KeyError, match="references besides its links"):
                del f[name]
        assert list(f["g/sub/d"]) == [0, 1, 2] and f["t"].dtype == "i2"
        f["other"] = f["g/sub/d"]
        del f["g"]  # the dataset has another link
        assert list(f["other"]) == [0, 1, 2] and info(f["other"]).references == 2
        assert less(f["other"]) >= 0 and less(f["other"]) < 0  # a link is no such reference
        assert info(f["other"]).references == 1
        del f["other"]
        alone = f.create_dataset(None, data=1)
        assert more(alone) < 0 and more(f["t"]) >= 0
    with h5py.File(path, "r") as f:
        assert list(f) == ["t"] and info(f["t"]).references == 3 and more(f["t"]) < 0
    side = json.loads(json.loads((path / "t/zarr.json").read_text())["attributes"]["_hdf5"])
    assert side["references"] == 2


@pytest.mark.parametrize("kind", ["i4", "S3", "c8", "text", "lists", "refs", "rows", "names"])
def test_types_that_do_not_serve_are_refused_without_elements_too(tmp_path, kind):
    """Reading and writing nothing checks what it would be."""
    kinds = {"text": h5py.string_dtype(), "lists": h5py.vlen_dtype("i4"), "refs": h5py.ref_dtype,
             "rows": np.dtype([("n", "i4"), ("t", h5py.string_dtype())]), "names": h5py.enum_dtype({"A": 0, "B": 1})}
    transfers = [library.H5Dread, library.H5Dwrite]
    for call in transfers:
        call.argtypes = [ctypes.c_int64] * 5 + [ctypes.c_void_p]
    answers = {}
    for name in ("x.h5", "x.zarr"):
        with h5py.File(tmp_path / name, "w") as f:
            full = f.create_dataset("d", (3,), kinds.get(kind, kind))
            none = h5py.h5s.create_simple((3,))
            none.select_none()
            f.create_dataset("empty", (0,), kinds.get(kind, kind))
            f.create_dataset("null", data=h5py.Empty("i4" if kind in kinds else kind))
            types = {"itself": full.id.get_type(), "int": h5py.h5t.NATIVE_INT32, "double": h5py.h5t.NATIVE_DOUBLE,
                     "text": h5py.h5t.C_S1, "row": h5py.h5t.py_create(np.dtype([("n", "i4")])), "file": f.id,
                     "dataset": full.id}
            memory = {what: kind.id for what, kind in types.items()} | {"nothing": 0, "none": -1}
            sets = ((full, none.id), (f["empty"], 0), (f["null"], 0))
            answers[name] = {(what, number, of.name): call(of.id.id, type_id, space, space, 0, None) >= 0
                             for what, type_id in memory.items() for number, call in enumerate(transfers)
                             for of, space in sets}
    assert answers["x.h5"]["itself", 0, "/d"] and not answers["x.h5"]["none", 1, "/null"]
    different = {what: answer for what, answer in answers["x.zarr"].items() if answers["x.h5"][what] != answer}
    assert not different
