# SPDX-License-Identifier: MIT
"""Object references in datasets and attributes: paths in the store, and what copies make of them."""

import ctypes
import json
import warnings

import h5py
import numpy as np
import pytest
import zarr
from conftest import run, tool
from property_lists import library
from test_created_types import document
from test_nested_types import plain

ROW = np.dtype([("n", "i4"), ("to", h5py.ref_dtype)])


def fill(path, nested=True):
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(3)
        file.create_group("g")
        file["g/y"] = 5.0
        file.create_group("g/t")
        refs = file.create_dataset("refs", (2, 2), h5py.ref_dtype, chunks=(1, 2))
        refs[0, 0], refs[1, 1], refs[1, 0] = file["g"].ref, file["g/y"].ref, file["g/t"].ref
        file.create_dataset("one", data=file["x"].ref, dtype=h5py.ref_dtype)
        file["x"].attrs["to"] = file["g"].ref
        file["x"].attrs["rows"] = np.array([(1, file["g"].ref), (2, h5py.Reference())], ROW)
        file["g"].attrs["up"] = file.ref
        if nested:
            file.create_dataset("rows", data=np.array([(1, file["x"].ref), (2, h5py.Reference())], ROW))
            lists = file.create_dataset("lists", (2,), h5py.vlen_dtype(h5py.ref_dtype))
            lists[1] = np.array([file["x"].ref, file["g"].ref], object)
    return path


def names(group, nested=True):
    """Where all references lead."""
    file = group.file

    def name(ref):
        return file[ref].name if ref else None

    found = {"refs": [[name(ref) for ref in row] for row in group["refs"][...]], "one": name(group["one"][()]),
             "to": name(group["x"].attrs["to"]), "rows of x": [name(row["to"]) for row in group["x"].attrs["rows"]]}
    if nested:
        found["rows"] = [name(ref) for ref in group["rows"]["to"]]
        found["lists"] = [[name(ref) for ref in refs] for refs in group["lists"][...]]
    return found


def wanted(above="", nested=True):
    g, x = f"{above}/g", f"{above}/x"
    found = {"refs": [[g, None], [f"{g}/t", f"{g}/y"]], "one": x, "to": g, "rows of x": [g, None]}
    if nested:
        found |= {"rows": [x, None], "lists": [[], [x, g]]}
    return found


def test_kept(tmp_path):
    path = fill(tmp_path / "x.zarr")
    for mode in ("r", "r+"):
        with h5py.File(path, mode) as file:
            assert names(file) == wanted() and file["refs"].dtype == h5py.ref_dtype
            assert file["refs"].id.get_type() == h5py.h5t.STD_REF_OBJ
            assert not file["refs"][0, 1] and file[file["refs"][1, 1]][()] == 5.0
            assert file[file["g"].attrs["up"]] == file["/"]


def test_what_zarr_programs_see(tmp_path):
    path = fill(tmp_path / "x.zarr")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        group = zarr.open_group(str(path), mode="r+")
        assert group["refs"][:].tolist() == [["/g", ""], ["/g/t", "/g/y"]] and group["one"][()] == "/x"
        assert [json.loads(text) for text in group["rows"][:]] == [{"n": 1, "to": "/x"}, {"n": 2, "to": None}]
        assert json.loads(group["lists"][:][1]) == ["/x", "/g"]
        group["refs"][0, 1] = "x"  # relative to the root
        group["refs"][0, 0] = "/gone"
    assert document(path, "refs")["data_type"] == "string"
    with h5py.File(path, "r") as file:
        assert file[file["refs"][0, 1]].name == "/x" and not file["refs"][0, 0]


def test_hostile_paths(tmp_path):
    """They lead to an object of the store, or nowhere."""
    path = fill(tmp_path / "x.zarr")
    fill(tmp_path / "other.zarr")
    paths = ["../other.zarr/x", "/../other.zarr/x", "/x/../../other.zarr/g", "//", ".", "/x/y", "/g/./y", "/" * 4000,
             "/" + "x" * 5000, "\u00e9"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = zarr.open_group(str(path), mode="r+")["refs"]
        for text in paths:
            array[0, 0] = text
            with h5py.File(path, "r") as file:
                ref = file["refs"][0, 0]
                assert not ref or file[ref].name in ("/", "/x", "/g/y"), text
                assert file[file["refs"][1, 1]].name == "/g/y"


def test_moving_and_deleting(tmp_path):
    """References follow what moves, and are null when it has gone."""
    path = fill(tmp_path / "x.zarr")
    with h5py.File(path, "r+") as file:
        file.move("g/y", "moved")
        del file["x"]
    with h5py.File(path, "r+") as file:
        assert not file["one"][()] and file["refs"][0, 0]
        assert file[file["refs"][1, 1]].name == "/moved"
        file["refs"][1, 1] = file["moved"].ref
    with h5py.File(path, "r") as file:
        assert file[file["refs"][1, 1]].name == "/moved"


def test_lost_references_are_refused(tmp_path):
    path = fill(tmp_path / "x.zarr")
    with h5py.File(path, "r+") as file:
        loose = file.create_group(None)
        with pytest.raises(OSError, match="a reference to no object of this store"):
            file["refs"][0, 1] = loose.ref
        file["named"] = loose
        file["refs"][0, 1] = file["named"].ref
    with h5py.File(path, "r") as file:
        assert file[file["refs"][0, 1]].name == "/named"


@pytest.mark.parametrize("kind", [h5py.regionref_dtype, np.dtype([("r", h5py.regionref_dtype)]),
                                  h5py.vlen_dtype(h5py.regionref_dtype)])
def test_region_references_are_refused(kind, tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        with pytest.raises((OSError, ValueError), match="references to regions.*; write references to objects"):
            file.create_dataset("d", (2,), kind)
        assert list(file) == []


def test_h5repack(tmp_path):
    fill(tmp_path / "a.h5", nested=False)
    tool("h5repack", tmp_path / "a.h5", tmp_path / "b.zarr", connector="zarr")
    tool("h5repack", "-f", "GZIP=1", tmp_path / "b.zarr", tmp_path / "c.zarr", connector="zarr")
    tool("h5repack", tmp_path / "c.zarr", tmp_path / "d.h5", connector="zarr")
    for name in ("b.zarr", "c.zarr", "d.h5"):
        with h5py.File(tmp_path / name, "r") as file:
            assert names(file, nested=False) == wanted(nested=False), name
        tool("h5diff", tmp_path / "a.h5", tmp_path / name, connector="zarr")


def test_h5repack_refuses_what_it_would_spoil(tmp_path):
    """It hands on the addresses of references in compounds, which mean nothing in the other file."""
    fill(tmp_path / "a.h5")
    done = run(["h5repack", "--enable-error-stack", tmp_path / "a.h5", tmp_path / "b.zarr"], connector="zarr")
    assert done.returncode != 0 and "a reference to no object of this store" in done.stderr


def test_copies_with_the_flag(tmp_path):
    """H5O_COPY_EXPAND_REFERENCE_FLAG: references lead to the copies."""
    fill(tmp_path / "a.h5")
    for source, target, above in (("a.h5", "b.zarr", "/"), ("b.zarr", "c.h5", "/in")):
        tool("h5copy", "-f", "ref", "-i", tmp_path / source, "-o", tmp_path / target, "-s", above,
             "-d", "/in" if above == "/" else "/back", connector="zarr")
    for name, above in (("b.zarr", "/in"), ("c.h5", "/back")):
        with h5py.File(tmp_path / name, "r") as file:
            assert names(file[above]) == wanted(above), name
            assert file[file[above]["g"].attrs["up"]].name == above
    for source, path in (("a.h5", ""), ("b.zarr", "/in")):
        for name in ("refs", "rows", "x"):
            done = run(["h5copy", "--enable-error-stack", "-f", "ref", "-i", tmp_path / source, "-o",
                        tmp_path / ("d.zarr" if source == "a.h5" else "d.h5"), "-s", f"{path}/{name}", "-d", name],
                       connector="zarr")
            assert done.returncode != 0 and "which is not copied" in done.stderr, (source, name)


def test_copies_without_the_flag(tmp_path):
    """They are null, unless the object keeps its path on its way into a store."""
    fill(tmp_path / "a.h5")
    fill(tmp_path / "b.zarr")
    with h5py.File(tmp_path / "a.h5") as source, h5py.File(tmp_path / "c.zarr", "w") as target:
        source.copy("/", target, "other")
        assert not target["other/refs"][0, 0] and not target["other/x"].attrs["to"]
        assert [bool(ref) for ref in target["other/rows"]["to"]] == [False, False]
        for name in source:
            source.copy(name, target, name)
        assert names(target) == wanted()
    with h5py.File(tmp_path / "c.zarr") as file:
        assert names(file) == wanted()
    with h5py.File(tmp_path / "b.zarr") as source, h5py.File(tmp_path / "d.h5", "w") as target:
        for name in ("refs", "x", "g"):
            source.copy(name, target, name)
        assert not target["refs"][0, 0] and not target["x"].attrs["to"]
        with pytest.raises((OSError, RuntimeError), match="H5O_COPY_EXPAND_REFERENCE_FLAG"):
            source.copy("rows", target, "rows")
        source.copy("one", target, "one")
        assert not target["one"][()]


@pytest.mark.parametrize("suffix", ["zarr", "h5"])
def test_copies_in_another_file_lead_to_no_object_of_the_same_path(tmp_path, suffix):
    """References are null there, as in HDF5, unless what is copied keeps its path in a store."""
    fill(tmp_path / f"a.{suffix}")
    fill(tmp_path / f"b.{suffix}")
    with h5py.File(tmp_path / f"a.{suffix}") as source, h5py.File(tmp_path / f"b.{suffix}", "r+") as target:
        source.copy("/", target, "other")
        source.copy("refs", target, "g/copied")
        source.copy("one", target, "g/single")
        assert not target["other/refs"][0, 0] and not target["other/x"].attrs["to"]
        assert not target["g/copied"][0, 0] and not target["g/single"][()]
        if suffix == "zarr":  # HDF5 leaves the addresses of the other file in compounds
            assert [bool(ref) for ref in target["other/rows"]["to"]] == [False, False]
            assert plain(target["other/rows"]["n"]) == [1, 2]
        assert names(target) == wanted()
    with h5py.File(tmp_path / f"b.{suffix}") as file:
        assert not file["other/refs"][0, 0] and not file["other/x"].attrs["to"]
        assert not file["g/copied"][0, 0] and not file["g/single"][()]


def test_copies_from_store_to_store(tmp_path):
    """Paths are copied as they are where they are of the same file, or true in the other one."""
    fill(tmp_path / "a.zarr")
    with h5py.File(tmp_path / "a.zarr", "r+") as file:
        file.copy("rows", "again")
        assert plain(file["again"]["n"]) == [1, 2] and file[file["again"]["to"][0]].name == "/x"
        with h5py.File(tmp_path / "c.zarr", "w") as target:
            for name in file:
                if name != "again":
                    file.copy(name, target, name)
            assert names(target) == wanted()
        done = run(["h5copy", "--enable-error-stack", "-f", "ref", "-i", tmp_path / "a.zarr", "-o", tmp_path / "b.zarr",
                    "-s", "g", "-d", "g"], connector="zarr")
        assert done.returncode != 0 and "H5O_COPY_EXPAND_REFERENCE_FLAG" in done.stderr


class Sequence(ctypes.Structure):
    _fields_ = [("count", ctypes.c_size_t), ("items", ctypes.c_void_p)]


@pytest.mark.parametrize("name", ["x.zarr", "x.h5"])
def test_named_sequences_of_references(tmp_path, name):
    """Such a type serves for datasets and in memory also as it is opened, when HDF5 takes it for another one than those
    that programs make. (So does h5py, which has no dtype for it.)"""
    for call in (library.H5Dread, library.H5Dwrite):
        call.argtypes = [ctypes.c_int64] * 5 + [ctypes.c_void_p]
    space, seen = h5py.h5s.create_simple((2,)), []
    with h5py.File(tmp_path / name, "w") as file:
        h5py.h5t.py_create(h5py.vlen_dtype(h5py.ref_dtype), logical=True).commit(file.id, b"t")
        h5py.h5t.py_create(np.dtype([("to", h5py.vlen_dtype(h5py.ref_dtype))]), logical=True).commit(file.id, b"row")
        plain_lists = file.create_dataset("plain", (2,), h5py.vlen_dtype(h5py.ref_dtype))
        one = file.create_dataset("one", (2,), h5py.ref_dtype)
        one[...] = [file.ref, one.ref]
        given = np.zeros(2, "u8")
        assert library.H5Dread(one.id.id, h5py.h5t.STD_REF_OBJ.id, 0, 0, 0, given.ctypes.data) >= 0
        of_plain, *named = plain_lists.id.get_type(), h5py.h5t.open(file.id, b"t"), h5py.h5t.open(file.id, b"row")
        for number, kind in enumerate(named):
            dataset = h5py.h5d.create(file.id, str(number).encode(), kind, space)
            for of, memory in ((dataset, kind), (dataset, of_plain), (plain_lists.id, kind))[:1 if number else 3]:
                lists = (Sequence * 2)(Sequence(1, given.ctypes.data + 8), Sequence(2, given.ctypes.data))
                assert library.H5Dwrite(of.id, memory.id, 0, 0, 0, lists) >= 0
                found = (Sequence * 2)()
                assert library.H5Dread(of.id, memory.id, 0, 0, 0, found) >= 0
                seen.append([ctypes.string_at(one.items, 8 * one.count) for one in found])
    assert seen == [[given[1:].tobytes(), given.tobytes()]] * 4


@pytest.mark.parametrize("name", ["x.zarr", "x.h5"])
def test_references_are_no_numbers(tmp_path, name):
    """Nor are numbers references: HDF5 has no conversion between them, and none is made up."""
    numbers = np.dtype([("n", "i4"), ("to", "u8")])
    with h5py.File(tmp_path / name, "w") as file:
        one = file.create_dataset("one", (2,), h5py.ref_dtype)
        rows = file.create_dataset("rows", (2,), ROW)
        one[0], rows[0] = file.ref, (1, file.ref)
        for d, kind in ((one, np.dtype("u8")), (one, np.dtype("i4")), (rows, numbers)):
            in_memory, elements = h5py.h5t.py_create(kind), np.ones(2, kind)
            for call in (library.H5Dread, library.H5Dwrite):
                call.argtypes = [ctypes.c_int64] * 5 + [ctypes.c_void_p]
                assert call(d.id.id, in_memory.id, 0, 0, 0, elements.ctypes.data) < 0, (d.name, kind)
            assert (elements == np.ones(2, kind)).all()
        file.attrs.create("a", file.ref, dtype=h5py.ref_dtype)
        attribute, zero = h5py.h5a.open(file.id, b"a"), np.zeros((), "u8")
        library.H5Awrite.argtypes = [ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p]
        assert library.H5Awrite(attribute.id, h5py.h5t.NATIVE_UINT64.id, zero.ctypes.data) < 0
        assert file[one[0]] == file and file[rows[0]["to"]] == file and file[file.attrs["a"]] == file


@pytest.mark.parametrize("expand", [False, True])
def test_references_behind_external_links_are_those_of_their_own_file(tmp_path, expand):
    """They led to what has the same address in the file that is copied."""
    for name, letter in (("far.h5", "f"), ("c.h5", "c")):
        with h5py.File(tmp_path / name, "w") as f:
            f[f"g/{letter}d"] = [1, 2]
            ref = f[f"g/{letter}d"].ref
            f[f"g/{letter}refs"] = np.array([ref], h5py.ref_dtype)
            f[f"g/{letter}refs"].attrs["to"] = ref
            f[f"lone/{letter}refs"] = np.array([ref], h5py.ref_dtype)
    with h5py.File(tmp_path / "c.h5", "r+") as f, h5py.File(tmp_path / "x.zarr", "w") as other:
        f["g/zz"] = h5py.ExternalLink("far.h5", "/g")
        f.copy("g", other, expand_external=True, expand_refs=expand)
        for group, letter in ("g", "c"), ("g/zz", "f"):
            refs = other[f"{group}/{letter}refs"]
            for ref in refs[0], refs.attrs["to"]:
                # The path of the source's own objects stays.
                assert bool(ref) == (expand or letter == "c")
                assert not ref or other[ref] == other[f"{group}/{letter}d"]
        f["h/zz"] = h5py.ExternalLink("far.h5", "/lone")
        if expand:
            with pytest.raises((RuntimeError, OSError), match="far.h5' leads to an object elsewhere, which is not"):
                f.copy("h", other, "new/h", expand_external=True, expand_refs=True)
            assert "h" not in other and list(other["new"]) == []
        else:
            f.copy("h", other, expand_external=True)
            assert not other["h/zz/frefs"][0]


def test_references_lead_forward_to_what_expanded_links_lead_to(tmp_path):
    """In the file behind an external link, and in the source: what they lead to has its place only later."""
    with h5py.File(tmp_path / "far.h5", "w") as f:
        f["g/zz"], f["g/sub/deep"], f["out"] = [1, 2], [3], [4]
        f["g/aa"] = np.array([f["g/zz"].ref, f["g/sub/deep"].ref, f["g"].ref], h5py.ref_dtype)
        f["g"].attrs["to"], f["g/aa"].attrs["to"] = f["g/zz"].ref, f["g/sub"].ref
        rows = f.create_dataset("g/rows", (2,), ROW)
        rows[0], rows[1] = (1, f["g/zz"].ref), (2, rows.ref)
        f["lone/refs"] = np.array([f["out"].ref, None], h5py.ref_dtype)
    with h5py.File(tmp_path / "c.h5", "w") as f, h5py.File(tmp_path / "x.zarr", "w") as other:
        f["c/a"], f["c/b"] = h5py.ExternalLink("far.h5", "/lone"), h5py.ExternalLink("far.h5", "/out")
        f["c/g"] = h5py.ExternalLink("far.h5", "/g")
        f["outside/y"] = [9]
        f["c/own"] = np.array([f["outside/y"].ref, f["c"].ref], h5py.ref_dtype)
        f["c/z"] = h5py.SoftLink("/outside")
        f.copy("c", other, expand_soft=True, expand_external=True, expand_refs=True)
    with h5py.File(tmp_path / "x.zarr") as f:
        c = f["c"]

        def lead(refs):
            return [f[ref].name if ref else None for ref in refs]

        assert lead(c["g/aa"]) == ["/c/g/zz", "/c/g/sub/deep", "/c/g"] and lead(c["a/refs"]) == ["/c/b", None]
        assert lead([c["g"].attrs["to"], c["g/aa"].attrs["to"]]) == ["/c/g/zz", "/c/g/sub"]
        assert lead(c["g/rows"]["to"]) == ["/c/g/zz", "/c/g/rows"] and plain(c["g/rows"]["n"]) == [1, 2]
        assert lead(c["own"]) == ["/c/z/y", "/c"]
