# SPDX-License-Identifier: MIT
"""Stores in zip archives: those of other programs, and ours, read by both sides."""
import os
import shutil
import subprocess
import sys
import zipfile

import h5py
import numpy as np
import pytest
import zarr
from osgeo import gdal

gdal.UseExceptions()
WANT = np.arange(64 * 48, dtype="i4").reshape(64, 48)


def fill(store):
    group = zarr.open_group(store, mode="w")
    group.attrs["title"] = "packed"
    array = group.create_array("g/plain", shape=WANT.shape, chunks=(10, 20), dtype="i4")
    array[:] = WANT
    sharded = group.create_array("sharded", shape=WANT.shape, chunks=(8, 8), shards=(32, 24),
                                 dtype="i4")
    sharded[:] = WANT


@pytest.fixture(params=["zarr-python", "shutil", "folder", "ours"])
def archive(request, tmp_path):
    path, directory = tmp_path / "x.zarr.zip", tmp_path / "d.zarr"
    if request.param == "zarr-python":
        with zarr.storage.ZipStore(path, mode="w") as store:
            fill(store)
        return path
    fill(directory)
    if request.param == "shutil":
        shutil.make_archive(tmp_path / "x.zarr", "zip", directory)  # deflated
    elif request.param == "folder":
        shutil.make_archive(tmp_path / "x.zarr", "zip", tmp_path, directory.name)
    else:
        run("copy", directory, path)
    shutil.rmtree(directory)
    return path


def run(*command, status=0):
    done = subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], *map(str, command)], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def test_h5py_and_gdal_read_it(archive):
    with h5py.File(archive) as f:
        assert sorted(f) == ["g", "sharded"] and f.attrs["title"] == "packed"
        for name in ("g/plain", "sharded"):
            assert (f[name][:] == WANT).all()
            assert (f[name][7:41:3, 5:] == WANT[7:41:3, 5:]).all()
    for name in (f"ZARR3:{archive}:/sharded", f'ZARR3:"{archive}":/g/plain'):
        assert (gdal.Open(name).ReadAsArray() == WANT).all()
    assert "4 nodes" in run("verify", archive)


def test_it_is_not_changed(archive):
    before = archive.read_bytes()
    with pytest.raises(OSError, match="is a zip archive, which is read but not changed"):
        h5py.File(archive, "r+")
    with pytest.raises(RuntimeError, match="stores are written to"):
        gdal.OpenEx(f"ZARR3:{archive}:/sharded", gdal.OF_RASTER | gdal.OF_UPDATE)
    assert "cannot be written" in run("repair", archive, status=2)
    assert archive.read_bytes() == before


def test_it_opens_by_its_name(tmp_path):
    """A raster without a name inside, statistics beside the archive, and no trace in it."""
    path = tmp_path / "x.zarr.zip"
    with zarr.storage.ZipStore(path, mode="w") as store:
        array = zarr.create_array(store, shape=WANT.shape, chunks=(10, 20), dtype="i4")
        array[:] = WANT
    dataset = gdal.Open(str(path))
    assert dataset.GetDriver().ShortName == "Zarr3"
    assert (dataset.ReadAsArray() == WANT).all()
    assert dataset.GetRasterBand(1).ComputeStatistics(False)[1] == WANT.max()
    dataset = None
    assert gdal.Open(str(path)).GetRasterBand(1).GetMinimum() == 0
    assert sorted(os.listdir(tmp_path)) == ["x.zarr.zip", "x.zarr.zip.aux.xml"]


def test_an_archive_that_grows(tmp_path):
    """zarr-python changes an archive by adding entries."""
    path = tmp_path / "x.zarr.zip"
    with zarr.storage.ZipStore(path, mode="w") as store:
        fill(store)
    with h5py.File(path) as f:
        assert f["sharded"][3, 4] == WANT[3, 4]
        with zarr.storage.ZipStore(path, mode="a") as store:
            zarr.open_array(store, path="sharded")[:] = -WANT
        assert (f["sharded"][:] == -WANT).all()
    assert len(zipfile.ZipFile(path).namelist()) > len(set(zipfile.ZipFile(path).namelist()))


def test_packing(tmp_path):
    directory, path = tmp_path / "x.zarr", tmp_path / "x.zarr.zip"
    fill(directory)
    assert "is a copy" in run("copy", directory, path)
    assert "already" in run("copy", directory, path, status=2)
    archive = zipfile.ZipFile(path)
    assert archive.testzip() is None
    assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
    with zarr.storage.ZipStore(path, mode="r") as store:
        assert (zarr.open_group(store, mode="r")["sharded"][:] == WANT).all()
    assert path.stat().st_mode & 0o777 == 0o666 & ~current_umask()
    run("copy", directory / "g", tmp_path / "g.zip")
    with h5py.File(tmp_path / "g.zip") as f:
        assert list(f) == ["plain"]
    run("copy", path, tmp_path / "back.zarr")
    with h5py.File(tmp_path / "back.zarr") as f:
        assert (f["sharded"][:] == WANT).all()
    (tmp_path / "other").mkdir()
    run("copy", tmp_path / "other", tmp_path / "no.zip", status=2)
    assert sorted(os.listdir(tmp_path)) == ["back.zarr", "g.zip", "other", "x.zarr",
                                             "x.zarr.zip"]


def test_zipped_ome_zarr(tmp_path):
    """OME's RFC 9: *.ozx, with a comment that tells the version."""
    path, directory = tmp_path / "x.ozx", tmp_path / "x.zarr"
    fill(directory)
    run("copy", directory, path)
    with zipfile.ZipFile(path, "a") as packed:
        packed.comment = b'{"ome": {"version": "0.5"}}'
    with h5py.File(path) as f:
        assert (f["g/plain"][:] == WANT).all()
    for name in (f"{path}/sharded", f"ZARR3:{path}:/sharded", f"/vsizip/{{{path}}}/sharded"):
        assert (gdal.Open(name).ReadAsArray() == WANT).all()
    names = [name for name, _ in gdal.Open(str(path)).GetSubDatasets()]
    assert len(names) == 2 and (gdal.Open(names[1]).ReadAsArray() == WANT).all()
    memory = "/vsimem/x.ozx"
    gdal.FileFromMemBuffer(memory, path.read_bytes())
    assert (gdal.Open(memory + "/sharded").ReadAsArray() == WANT).all()
    gdal.Unlink(memory)


@pytest.mark.parametrize("name", ["new.ozx", "/vsimem/new.ozx"])
def test_a_new_raster_named_so_is_one_file(tmp_path, name):
    path = name if name.startswith("/") else str(tmp_path / name)
    source = gdal.GetDriverByName("MEM").Create("", 48, 64, 1, gdal.GDT_Int32)
    source.WriteArray(WANT)
    gdal.GetDriverByName("Zarr3").CreateCopy(path, source).Close()
    assert not gdal.VSIStatL(path).IsDirectory()
    assert (gdal.Open(path).ReadAsArray() == WANT).all()
    gdal.GetDriverByName("Zarr3").Delete(path)
    assert gdal.VSIStatL(path) is None


def test_a_new_hdf5_file_named_so_is_one_file(tmp_path):
    program = "import h5py, sys; h5py.File(sys.argv[1], 'w')['d'] = range(9)"
    path = tmp_path / "new.ozx"
    subprocess.run([sys.executable, "-c", program, path], check=True, env={**os.environ, "HDF5_VOL_CONNECTOR": "zarr"})
    with zarr.storage.ZipStore(path, mode="r") as store:
        assert (zarr.open_array(store, path="d", mode="r")[:] == range(9)).all()


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_other_archives_are_left_alone(tmp_path):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "no store")
    with pytest.raises(OSError):
        h5py.File(path)
    with pytest.raises(RuntimeError, match="not recognized"):
        gdal.Open(str(path))
