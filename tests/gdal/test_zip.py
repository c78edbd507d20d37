# SPDX-License-Identifier: MIT
"""Zip archives in which a name stands twice, as zarr-python makes them when something is changed:
the last entry counts, by the archive's directory, for every kind of entry."""
import io
import os
import struct
import warnings
import zipfile

import numpy as np
import pytest
import xarray
import zarr
from osgeo import gdal, osr

from conftest import Errors, opened, put, run, sub

PLANE = np.arange(60 * 80, dtype="uint16").reshape(60, 80)
UTM = osr.SpatialReference()
UTM.ImportFromEPSG(32725)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of duplicate names
        yield


def zip_store(path, compression=zipfile.ZIP_STORED):
    return zarr.storage.ZipStore(path, mode="w", compression=compression)


KINDS = {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED}


def check(root, expected, name="t"):
    for address in ("/vsizip/" + root, 'ZARR3:"/vsizip/%s":/%s' % (root, name),
                    "/vsizip/{%s}" % root):
        dataset = opened(address)
        assert (dataset.ReadAsArray() == expected).all()
        assert (dataset.ReadAsArray(33, 17, 30, 40) == expected[17:57, 33:63]).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, dict(chunks=(20, 20)),
                                     dict(chunks=(10, 10), shards=(20, 40))])
def test_chunks_that_were_written_again(tmp_path, kind, options):
    path = str(tmp_path / "x.zip")
    with zip_store(path, KINDS[kind]) as store:
        array = put(zarr.create_group(store=store, zarr_format=3), "t", PLANE, **options)
        array[:] = PLANE * 3
        array[5:30, 7:50] = 9
    expected = PLANE * 3
    expected[5:30, 7:50] = 9
    check(path, expected)
    with zipfile.ZipFile(path) as file:
        assert len(file.namelist()) > len(set(file.namelist()))


def test_the_last_of_many(tmp_path):
    path = str(tmp_path / "x.zip")
    with zip_store(path) as store:
        array = put(zarr.create_group(store=store, zarr_format=3), "t", PLANE, compressors=None)
        for factor in range(2, 9):
            array[:] = PLANE * factor
    check(path, PLANE * 8)


@pytest.mark.parametrize("kind", KINDS)
def test_attributes_and_groups(tmp_path, kind):
    path = str(tmp_path / "x.zip")
    with zip_store(path, KINDS[kind]) as store:
        root = zarr.create_group(store=store, zarr_format=3)
        put(root, "t", PLANE, {"title": "old", "_FillValue": 1}, ("y", "x"))
        root["t"].update_attributes({"title": "new", "_FillValue": 7, "grid_mapping": "crs",
                                     "units": "K"})
        put(root, "crs", np.int64(0))
        root["crs"].update_attributes({"crs_wkt": UTM.ExportToWkt(),
                                       "GeoTransform": "500 10 0 9000 0 -10"})
        root.update_attributes({"source": "group"})
    dataset = opened("/vsizip/" + path)
    band = dataset.GetRasterBand(1)
    assert dataset.GetMetadataItem("title") == "new" and band.GetUnitType() == "K"
    assert band.GetNoDataValue() == 7
    assert dataset.GetSpatialRef().GetAuthorityCode(None) == "32725"
    assert dataset.GetGeoTransform() == (500, 10, 0, 9000, 0, -10)
    assert dataset.GetMetadata("GROUP") == {"source": "group"}


def test_what_xarray_writes(tmp_path):
    """xarray creates first and sets attributes afterwards: all of them were lost."""
    path = str(tmp_path / "x.zip")
    data = xarray.Dataset(
        {"t": (("y", "x"), PLANE.astype("f4"), {"units": "K", "grid_mapping": "spatial_ref"})},
        {"x": 505 + 10. * np.arange(80), "y": 8995 - 10. * np.arange(60),
         "spatial_ref": ((), 0, {"crs_wkt": UTM.ExportToWkt()})}, {"title": "all"})
    with zip_store(path) as store:
        data.to_zarr(store, zarr_format=3, consolidated=False)
    dataset = opened("/vsizip/" + path)
    assert dataset.GetSpatialRef().IsSame(UTM)
    assert dataset.GetGeoTransform() == (500, 10, 0, 9000, 0, -10)
    assert dataset.GetRasterBand(1).GetUnitType() == "K"
    assert dataset.GetMetadata("GROUP")["title"] == "all"
    assert (dataset.ReadAsArray() == PLANE).all()


def files_of(path):
    return {os.path.join(d, f)[len(path) + 1:]: open(os.path.join(d, f), "rb").read()
            for d, _, names in os.walk(path) for f in names}


@pytest.fixture
def old_and_new(store):
    """The files of two versions of a store."""
    path, root = store
    array = put(root, "t", PLANE, {"title": "old"}, chunks=(20, 40))
    old = files_of(path)
    array[:] = PLANE + 1
    array.update_attributes({"title": "new"})
    return old, files_of(path)


def check_versions(archive, inside=""):
    dataset = opened("/vsizip/%s%s" % (archive, inside))
    assert (dataset.ReadAsArray() == PLANE + 1).all()
    assert dataset.GetMetadataItem("title") == "new"


@pytest.mark.parametrize("first,second", [(0, 0), (0, 8), (8, 0), (8, 8)])
@pytest.mark.parametrize("folder", ["", "x.zarr", "a/b/c d"])
def test_stores_at_any_depth(tmp_path, old_and_new, folder, first, second):
    path = str(tmp_path / "x.zip")
    inside = folder and folder + "/"
    with zipfile.ZipFile(path, "w") as file:
        for number, files in enumerate(old_and_new):
            for name, content in files.items():
                file.writestr(inside + name, content, [first, second][number])
    check_versions(path, folder and "/" + folder)


def test_archives_by_other_names(tmp_path, old_and_new):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as file:
        for files in old_and_new:
            for name, content in files.items():
                file.writestr("s/" + name, content)
    data = path.read_bytes()
    (tmp_path / "other.bin").write_bytes(data)
    (tmp_path / "dir.zip").mkdir()
    (tmp_path / "dir.zip" / "y.ZIP").write_bytes(data)
    gdal.FileFromMemBuffer("/vsimem/z.zip", data)
    with zipfile.ZipFile(tmp_path / "outer.zip", "w") as file:
        file.write(path, "inner.zip")
    try:
        for name in ("/vsizip/{%s}/s" % (tmp_path / "other.bin"),
                     "/vsizip/%s/s" % (tmp_path / "dir.zip" / "y.ZIP"),
                     "/vsizip//vsimem/z.zip/s", "/vsizip/vsimem/z.zip/s",
                     "/vsizip/{/vsizip/{%s}/inner.zip}/s" % (tmp_path / "outer.zip")):
            dataset = opened(name)
            assert (dataset.ReadAsArray() == PLANE + 1).all(), name
            assert dataset.GetMetadataItem("title") == "new", name
    finally:
        gdal.Unlink("/vsimem/z.zip")


@pytest.mark.parametrize("form", ["comment", "front", "wide", "streamed",
                                  "stream and front"])
def test_forms_of_archives(tmp_path, old_and_new, form, monkeypatch):
    """A comment, something in front of it, fields for large archives, sizes behind the entries."""
    if "wide" in form:
        monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 40)
        monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 2)
    path = tmp_path / "x.zip"
    buffer = io.BytesIO()

    class Stream(io.RawIOBase):
        """An output that cannot seek makes zipfile write sizes behind."""
        def writable(self):
            return True

        def write(self, data):
            return buffer.write(data)

    with zipfile.ZipFile(Stream() if "stream" in form else buffer, "w") as file:
        for files in old_and_new:
            for name, content in files.items():
                file.writestr(name, content, zipfile.ZIP_DEFLATED if "stream" in form else None)
        file.comment = b"a comment" * 99 if form == "comment" else b""
    assert (b"PK\x06\x06" in buffer.getvalue()) == ("wide" in form)
    path.write_bytes((b"#!/bin/sh\n" * 50 if "front" in form else b"") + buffer.getvalue())
    check_versions(path)


@pytest.mark.parametrize("adjusted", [False, True])
def test_a_program_in_front_of_an_archive(tmp_path, adjusted):
    """Places in the archive count from its own beginning, or are those in the file."""
    path = tmp_path / "x.zarr.zip"
    array = zarr.create_array(tmp_path / "x.zarr", data=PLANE, chunks=(60, 80))
    stub = b"#!/bin/sh\nexit\n"
    buffer = io.BytesIO(stub if adjusted else b"")
    with zipfile.ZipFile(buffer, "a") as file:
        for name in ("zarr.json", "c/0/0"):
            file.write(tmp_path / "x.zarr" / name, name)
    path.write_bytes((b"" if adjusted else stub) + buffer.getvalue())
    assert array.shape == PLANE.shape and path.read_bytes().startswith(stub)
    for name in (str(path), "ZARR3:%s" % path):
        assert (opened(name).ReadAsArray() == PLANE).all()


def test_a_folder_is_no_missing_chunk(tmp_path):
    path = tmp_path / "x.zarr.zip"
    zarr.create_array(tmp_path / "x.zarr", data=PLANE, chunks=(60, 80))
    for folder in ("c/0/0/", "c/0/0/more"):
        with zipfile.ZipFile(path, "w") as file:
            file.write(tmp_path / "x.zarr/zarr.json", "zarr.json")
            file.writestr(folder, b"")
        with Errors() as errors:
            assert opened(path).ReadAsArray() is None
        assert len(errors.failures) == 1 and "directory" in errors.failures[0]


def test_an_archive_that_changes(tmp_path, old_and_new):
    path = str(tmp_path / "x.zip")
    with zipfile.ZipFile(path, "w") as file:
        for files in old_and_new:
            for name, content in files.items():
                file.writestr(name, content)
    check_versions(path)
    with zipfile.ZipFile(path, "a") as file:
        for name, content in old_and_new[0].items():
            file.writestr(name, content)
    dataset = opened("/vsizip/" + path)
    assert (dataset.ReadAsArray() == PLANE).all() and dataset.GetMetadataItem("title") == "old"


def test_a_directory_that_cannot_be_read_is_an_error(tmp_path, old_and_new):
    """Then the content behind its names is not known. GDAL finds the archive readable."""
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as file:
        for files in old_and_new:
            for name, content in files.items():
                file.writestr(name, content, zipfile.ZIP_DEFLATED)
    whole = bytearray(path.read_bytes())
    end = whole.rfind(b"PK\x05\x06")
    start = struct.unpack_from("<I", whole, end + 16)[0]
    seen = set()
    for at in [*range(start, end, 7), *range(end, len(whole))]:
        data = bytearray(whole)
        data[at] ^= 0xff
        path.write_bytes(data)
        os.utime(path, ns=(at * 10**9, at * 10**9))
        with Errors() as errors:
            dataset = gdal.Open("/vsizip/" + str(path))
            values = None if dataset is None else dataset.ReadAsArray()
        if values is None:
            seen.add("error")
        elif (values == PLANE + 1).all():
            seen.add("right")
        else:  # a name that was changed is another name: then the chunk is missing, or old
            assert set(np.unique(values - PLANE)) <= {0, 1} or (values == 0).any(), at
            seen.add("renamed")
    assert {"error", "right"} <= seen


@pytest.mark.parametrize("spoil", ["content", "method", "size", "encrypted", "header"])
def test_damaged_entries_are_errors(tmp_path, old_and_new, spoil):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as file:
        for files in old_and_new:
            for name, content in files.items():
                file.writestr(name, content, zipfile.ZIP_DEFLATED)
        info = file.getinfo("t/c/1/1")
    data = bytearray(path.read_bytes())
    entry = data.rfind(b"t/c/1/1") - 46  # in the directory
    assert data[entry:entry + 4] == b"PK\x01\x02"
    if spoil == "content":
        data[info.header_offset + 30 + len("t/c/1/1") + 9] ^= 0x10
    elif spoil == "method":
        data[entry + 10] = 93
    elif spoil == "size":
        struct.pack_into("<I", data, entry + 24, 1 << 31)
    elif spoil == "encrypted":
        data[entry + 8] |= 1
    else:
        struct.pack_into("<I", data, entry + 42, 5)
    path.write_bytes(data)
    dataset = opened("/vsizip/" + str(path))
    with Errors() as errors:
        assert dataset.ReadAsArray() is None
    assert len(errors.failures) == 1 and "c/1/1" in errors.failures[0]
    assert (dataset.ReadAsArray(0, 0, 80, 20) == PLANE[:20] + 1).all()


def test_programs(tmp_path, old_and_new):
    path = str(tmp_path / "x.zarr.zip")
    with zipfile.ZipFile(path, "w") as file:
        for files in old_and_new:
            for name, content in files.items():
                file.writestr(name, content)
    assert "title=new" in run("gdalinfo", "/vsizip/" + path)
    run("gdal_translate", "-q", "/vsizip/" + path, tmp_path / "out.tif")
    assert (gdal.Open(str(tmp_path / "out.tif")).ReadAsArray() == PLANE + 1).all()
    assert (opened(sub("/vsizip/" + path, "t")).ReadAsArray() == PLANE + 1).all()
