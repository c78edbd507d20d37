# SPDX-License-Identifier: MIT
"""Property lists of files, and of datasets' access: each property works as with HDF5's own files, changes no data, or
is refused."""

import ctypes
import os

import h5py
import numpy as np
import pytest
from property_lists import library

KINDS = ("h5", "zarr")
FLUSHED = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_void_p)
APPENDED = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
for function, arguments in {
        "H5Pset_object_flush_cb": [ctypes.c_int64, FLUSHED, ctypes.c_void_p],
        "H5Pset_append_flush": [ctypes.c_int64, ctypes.c_uint, ctypes.POINTER(ctypes.c_uint64), APPENDED,
                                ctypes.c_void_p],
        "H5Pset_mdc_log_options": [ctypes.c_int64, ctypes.c_bool, ctypes.c_char_p, ctypes.c_bool],
        "H5Pset_fapl_family": [ctypes.c_int64, ctypes.c_uint64, ctypes.c_int64],
        "H5Pset_fapl_stdio": [ctypes.c_int64],
        "H5Dopen2": [ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64],
        "H5Dflush": [ctypes.c_int64], "H5Gflush": [ctypes.c_int64], "H5Oflush": [ctypes.c_int64],
        "H5Fset_libver_bounds": [ctypes.c_int64, ctypes.c_int, ctypes.c_int],
        "H5Fclose": [ctypes.c_int64], "H5Dclose": [ctypes.c_int64], "H5Iis_valid": [ctypes.c_int64],
        "H5Fcreate": [ctypes.c_char_p, ctypes.c_uint, ctypes.c_int64, ctypes.c_int64],
        "H5Fopen": [ctypes.c_char_p, ctypes.c_uint, ctypes.c_int64]}.items():
    getattr(library, function).argtypes = arguments
for function in ("H5Dopen2", "H5Fcreate", "H5Fopen"):
    getattr(library, function).restype = ctypes.c_int64


def access_list(*, degree=None):
    fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    if degree is not None:
        fapl.set_fclose_degree(degree)
    return fapl


def make(path, **options):
    with h5py.File(path, "w", **options) as file:
        file.create_group("g")["d"] = np.arange(5)
    return path


# ---- Drivers


def test_core_without_backing_store_writes_nothing(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w", driver="core", backing_store=False) as file:
        file["d"] = [1, 2]
        assert list(file["d"]) == [1, 2] and file.driver == "core"
    assert os.listdir(tmp_path) == []


def test_core_without_backing_store_never_changes_a_store(tmp_path):
    path = make(tmp_path / "x.zarr")
    with h5py.File(path, "w", driver="core", backing_store=False) as file:
        assert list(file) == []
    with pytest.raises(OSError, match="cannot stay in memory"):
        h5py.File(path, "r+", driver="core", backing_store=False)
    with h5py.File(path, "r", driver="core", backing_store=False) as file:
        assert list(file["g/d"]) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("options", [{"driver": "core"}, {"driver": "sec2"}, {"driver": "stdio"}], ids=str)
def test_drivers_of_plain_files(tmp_path, options):
    path = make(tmp_path / "x.zarr", **options)
    assert (path / "zarr.json").exists()
    for mode in ("r", "r+"):
        with h5py.File(path, mode, **options) as file:
            assert list(file["g/d"]) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("options", [{"driver": "split"}, {"driver": "family", "memb_size": 1 << 20}], ids=str)
def test_other_drivers_are_refused(tmp_path, options):
    with pytest.raises(OSError, match="file driver"):
        h5py.File(tmp_path / "x.zarr", "w", **options)
    assert os.listdir(tmp_path) == []
    path = make(tmp_path / "x.zarr")
    for mode in ("r", "r+", "w"):
        with pytest.raises(OSError, match="file driver"):
            h5py.File(path, mode, **options)
    assert list(h5py.File(path)["g/d"]) == [0, 1, 2, 3, 4]


def test_image_instead_of_a_store(tmp_path):
    path = make(tmp_path / "x.zarr")
    image = make(tmp_path / "x.h5").read_bytes()
    fapl = access_list()
    fapl.set_fapl_core(backing_store=False)
    fapl.set_file_image(image)
    with h5py.File(h5py.h5f.open(bytes(path), h5py.h5f.ACC_RDWR, fapl)) as file:
        file["g/d"][...] = 7
    assert list(h5py.File(path)["g/d"]) == [0, 1, 2, 3, 4]


# ---- Creation


def test_user_block_is_refused(tmp_path):
    with pytest.raises(OSError, match="user block"):
        h5py.File(tmp_path / "x.zarr", "w", userblock_size=512)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("options", [{"fs_strategy": "page", "fs_page_size": 4096, "fs_persist": True},
                                     {"fs_strategy": "fsm"}, {"libver": "latest"}, {"libver": ("v108", "v110")},
                                     {"rdcc_nbytes": 1 << 20, "rdcc_nslots": 7}, {"locking": False},
                                     {"alignment_threshold": 1000, "alignment_interval": 4096},
                                     {"meta_block_size": 1 << 16}, {"page_buf_size": 1 << 16}], ids=str)
def test_properties_that_change_no_data(tmp_path, options):
    path = make(tmp_path / "x.zarr", **options)
    assert list(h5py.File(path)["g/d"]) == [0, 1, 2, 3, 4]


def test_log_of_the_metadata_cache_is_refused(tmp_path):
    path = make(tmp_path / "x.zarr")
    fapl = access_list()
    assert library.H5Pset_mdc_log_options(fapl.id, True, bytes(tmp_path / "log"), False) >= 0
    with pytest.raises(OSError, match="H5Pset_mdc_log_options"):
        h5py.h5f.open(bytes(path), h5py.h5f.ACC_RDONLY, fapl)
    assert not (tmp_path / "log").exists()


# ---- Closing


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("degree", [h5py.h5f.CLOSE_WEAK, h5py.h5f.CLOSE_SEMI, h5py.h5f.CLOSE_STRONG,
                                    h5py.h5f.CLOSE_DEFAULT])
@pytest.mark.parametrize("flags", [0, 1], ids=["read", "write"])
def test_close_degree(tmp_path, kind, degree, flags):
    path, fapl = make(tmp_path / f"x.{kind}"), access_list(degree=degree)
    file = library.H5Fopen(bytes(path), flags, fapl.id)
    data = library.H5Dopen2(file, b"g/d", 0)
    assert file > 0 and data > 0
    closed = library.H5Fclose(file)
    assert (closed < 0) == (degree == h5py.h5f.CLOSE_SEMI)
    assert (library.H5Iis_valid(data) > 0) == (degree != h5py.h5f.CLOSE_STRONG)
    if degree != h5py.h5f.CLOSE_STRONG:
        assert library.H5Dclose(data) >= 0
    if degree == h5py.h5f.CLOSE_SEMI:
        assert library.H5Fclose(file) >= 0
    with h5py.File(path, "r+") as again:  # nothing holds it any more
        again["g/d"][0] = 9


@pytest.mark.parametrize("kind", KINDS)
def test_strong_close_stores_what_waits(tmp_path, kind):
    path = make(tmp_path / f"x.{kind}")
    file = h5py.h5f.open(bytes(path), h5py.h5f.ACC_RDWR, access_list(degree=h5py.h5f.CLOSE_STRONG))
    data = h5py.h5d.open(file, b"g/d")
    h5py.Dataset(data)[1] = 8
    file.close()
    assert not data.valid
    assert list(h5py.File(path)["g/d"]) == [0, 8, 2, 3, 4]


@pytest.mark.parametrize("kind", KINDS)
def test_close_degree_is_told(tmp_path, kind):
    path = make(tmp_path / f"x.{kind}")
    for degree in (h5py.h5f.CLOSE_DEFAULT, h5py.h5f.CLOSE_SEMI, h5py.h5f.CLOSE_STRONG):
        file = h5py.h5f.open(bytes(path), h5py.h5f.ACC_RDONLY, access_list(degree=degree))
        told = degree or h5py.h5f.CLOSE_WEAK
        assert file.get_access_plist().get_fclose_degree() == told
        again = file.reopen()
        assert again.get_access_plist().get_fclose_degree() == told
        again.close()
        file.close()


# ---- Asking for the list


LISTS = {"core": ({"driver": "core"}, lambda fapl: fapl.get_driver() == h5py.h5fd.CORE),
         "stdio": ({"driver": "stdio"}, lambda fapl: fapl.get_driver() == h5py.h5fd.STDIO),
         "libver": ({"libver": ("v108", "v110")}, lambda fapl: fapl.get_libver_bounds()),
         "cache": ({"rdcc_nbytes": 1024, "rdcc_nslots": 125, "rdcc_w0": 0.25}, lambda fapl: fapl.get_cache()),
         "alignment": ({"alignment_threshold": 9, "alignment_interval": 4096}, lambda fapl: fapl.get_alignment()),
         "meta": ({"meta_block_size": 4096}, lambda fapl: fapl.get_meta_block_size()),
         "locking": ({"locking": False}, lambda fapl: fapl.get_file_locking()),
         "nothing": ({}, lambda fapl: (fapl.get_driver(), fapl.get_libver_bounds(), fapl.get_cache(),
                                       fapl.get_alignment(), fapl.get_meta_block_size(),
                                       fapl.get_file_locking(), fapl.get_fclose_degree()))}


@pytest.mark.parametrize("name", LISTS)
def test_the_access_list_is_told(tmp_path, name):
    options, ask = LISTS[name]
    told = []
    for kind in KINDS:
        for mode in ("w", "r+", "r"):
            with h5py.File(tmp_path / f"x.{kind}", mode, **options) as file:
                again = file.id.reopen()
                told.append((ask(file.id.get_access_plist()), ask(again.get_access_plist())))
                again.close()
    assert told[:3] == told[3:]
    assert told[0][0] is not False


def test_the_list_that_is_told_opens_another_store(tmp_path):
    make(tmp_path / "y.zarr")
    with h5py.File(make(tmp_path / "x.h5"), "r+", libver="latest") as file:
        latest = file.libver[0]
    with h5py.File(make(tmp_path / "x.zarr"), libver="latest") as file:
        fapl = file.id.get_access_plist()
    with h5py.File(h5py.h5f.open(bytes(tmp_path / "y.zarr"), h5py.h5f.ACC_RDWR, fapl)) as file:
        file["g/d"][0] = 3
        assert file.libver[0] == latest and list(file["g/d"]) == [3, 1, 2, 3, 4]


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_of_an_open_file(kind, tmp_path):
    """H5Fset_libver_bounds: accepted as in an access list."""
    with h5py.File(make(tmp_path / f"x.{kind}"), "r+") as file:
        assert library.H5Fset_libver_bounds(file.id.id, 1, 2) >= 0
        file["new"] = 1
    with h5py.File(tmp_path / f"x.{kind}") as file:
        assert file["new"][()] == 1


# ---- Callbacks


@pytest.mark.parametrize("kind", KINDS)
def test_flush_callback(tmp_path, kind):
    path = make(tmp_path / f"x.{kind}")
    seen = []

    def flushed(number, context):
        seen.append((number, context))
        return 0

    call, fapl = FLUSHED(flushed), access_list()
    assert library.H5Pset_object_flush_cb(fapl.id, call, 77) >= 0
    with h5py.File(h5py.h5f.open(bytes(path), h5py.h5f.ACC_RDWR, fapl)) as file:
        data, group = file["g/d"].id, file["g"].id
        data_number, group_number = data.id, group.id
        assert library.H5Dflush(data.id) >= 0 and library.H5Gflush(group.id) >= 0
        assert library.H5Oflush(data.id) >= 0
        file.flush()
    assert seen == [(data_number, 77), (group_number, 77), (data_number, 77)]


@pytest.mark.parametrize("kind", KINDS)
def test_flush_callback_that_fails(tmp_path, kind):
    path, call, fapl = make(tmp_path / f"x.{kind}"), FLUSHED(lambda number, context: -1), access_list()
    assert library.H5Pset_object_flush_cb(fapl.id, call, None) >= 0
    with h5py.File(h5py.h5f.open(bytes(path), h5py.h5f.ACC_RDWR, fapl)) as file:
        data = file["g/d"].id
        assert library.H5Dflush(data.id) < 0


def test_append_callback_is_refused(tmp_path):
    path, call = tmp_path / "x.zarr", APPENDED(lambda number, dims, context: 0)
    with h5py.File(path, "w") as file:
        file.create_dataset("d", (4,), chunks=(2,), maxshape=(None,))
        dapl = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
        assert library.H5Pset_append_flush(dapl.id, 1, (ctypes.c_uint64 * 1)(2), call, None) >= 0
        with pytest.raises(Exception, match="H5Pset_append_flush"):
            h5py.h5d.open(file.id, b"d", dapl)
        with pytest.raises(Exception, match="H5Pset_append_flush"):
            h5py.h5d.create(file.id, b"e", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((4,)), None, dapl=dapl)
        assert list(file) == ["d"]


def test_expanding_references_is_refused(tmp_path):
    with h5py.File(make(tmp_path / "x.zarr"), "r+") as file:
        with pytest.raises(Exception, match="H5O_COPY_EXPAND_REFERENCE_FLAG"):
            file.copy("g", "h", expand_refs=True)
        assert list(file) == ["g"]


def test_access_properties_that_change_no_data(tmp_path):
    dapl = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
    dapl.set_chunk_cache(11, 1 << 16, 0.5)
    dapl.set_efile_prefix(b"/nowhere")
    dapl.set_virtual_prefix(b"/nowhere")
    path = make(tmp_path / "x.zarr")
    with h5py.File(path) as file:
        assert list(h5py.Dataset(h5py.h5d.open(file.id, b"g/d", dapl))) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("kind", KINDS)
def test_the_access_list_of_a_dataset_is_told(tmp_path, kind):
    dapl = h5py.h5p.create(h5py.h5p.DATASET_ACCESS)
    dapl.set_chunk_cache(11, 1 << 16, 0.5)
    dapl.set_efile_prefix(b"/nowhere")
    with h5py.File(make(tmp_path / f"x.{kind}"), "r+") as file:
        made = file.create_dataset("made", (4,), "i4", chunks=(2,), virtual_prefix="/virtual")
        plain = h5py.h5d.open(file.id, b"g/d")
        assert made.id.get_access_plist().get_virtual_prefix() == b"/virtual"
        del made
        opened = h5py.h5d.open(file.id, b"made", dapl)
        dapl.set_efile_prefix(b"/changed/later")
        told = opened.get_access_plist()
        assert told.get_efile_prefix() == b"/nowhere" and told.get_chunk_cache() == (11, 1 << 16, 0.5)
        assert plain.get_access_plist().get_efile_prefix() == b""
        with pytest.raises(KeyError):
            h5py.h5d.open(file.id, b"missing", dapl)
