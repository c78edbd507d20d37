# SPDX-License-Identifier: MIT
"""Zip archives that HDF5 and GDAL programs make: committed when they are closed, old or new after a failure or a
kill, and read by other programs."""
import os
import signal
import subprocess
import sys
import time
import zipfile

import h5py
import numpy as np
import pytest
import zarr
from osgeo import gdal

gdal.UseExceptions()
WANT = np.arange(64 * 48, dtype="i4").reshape(64, 48)
DRIVER = gdal.GetDriverByName("Zarr3")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "r.zarr.zip"


def write_h5py(path, values=WANT):
    with h5py.File(path, "w") as f:
        f.attrs["title"] = "packed"
        f.create_dataset("g/d", data=values, chunks=(10, 20))


def source(values=WANT):
    dataset = gdal.GetDriverByName("MEM").Create("", values.shape[1], values.shape[0], 1, gdal.GDT_Int32)
    dataset.WriteArray(values)
    return dataset


def write_gdal(path, values=WANT):
    DRIVER.CreateCopy(str(path), source(values))


def values_of(path, node):
    with zarr.storage.ZipStore(path, mode="r") as store:
        return zarr.open_group(store, mode="r")[node][:]


def compute_statistics(name):
    """Which GDAL keeps beside the archive."""
    dataset = gdal.Open(name)
    dataset.GetRasterBand(1).ComputeStatistics(False)
    dataset.Close()


WRITERS = {"h5py": (write_h5py, "g/d"), "GDAL": (write_gdal, "r")}
every_writer = pytest.mark.parametrize("write, node", WRITERS.values(), ids=WRITERS)


def raster_is_old(path):
    return (gdal.Open(str(path)).ReadAsArray() == WANT).all()


@every_writer
def test_other_programs_read_it(path, write, node):
    write(path)
    archive = zipfile.ZipFile(path)
    assert archive.testzip() is None and len(archive.namelist()) == len(set(archive.namelist()))
    assert (values_of(path, node) == WANT).all()
    with h5py.File(path) as f:
        assert (f[node][:] == WANT).all()
    assert (gdal.Open(f"ZARR3:{path}:/{node}").ReadAsArray() == WANT).all()
    assert os.listdir(path.parent) == [path.name]


@every_writer
def test_another_takes_its_place(path, write, node):
    write(path)
    compute_statistics(f"ZARR3:{path}:/{node}")
    write(path, -WANT)
    assert (values_of(path, node) == -WANT).all()
    if write is write_gdal:  # which has a place for statistics of the old one
        assert os.listdir(path.parent) == [path.name]


def test_h5py_makes_it_at_the_flush_and_at_the_end(path):
    with h5py.File(path, "w") as f:
        f["a"] = WANT
        assert not path.exists()
        f.flush()
        assert (values_of(path, "a") == WANT).all()
        before = path.stat().st_ino
        f.flush()
        assert path.stat().st_ino == before  # nothing has changed
        f["b"] = 2 * WANT
        with pytest.raises(OSError, match="is open already"):
            h5py.File(path, "w")
        assert (h5py.File(path, "r+")["b"][:] == 2 * WANT).all()  # the same file once more
    assert (values_of(path, "b") == 2 * WANT).all()


def test_h5py_keeps_what_is_there(path):
    write_h5py(path)
    for mode in ("x", "a", "r+"):
        with pytest.raises(OSError):
            h5py.File(path, mode)
    assert (values_of(path, "g/d") == WANT).all()
    path.write_text("no archive")
    with pytest.raises(OSError, match="stays as it is"):
        h5py.File(path, "w")
    with pytest.raises(RuntimeError, match="stays as it is"):
        write_gdal(path)
    assert path.read_text() == "no archive" and os.listdir(path.parent) == [path.name]


def test_the_directory_of_a_program_may_change(path, tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    with h5py.File("r.zarr.zip", "w") as f:
        monkeypatch.chdir("other")
        f["a"] = WANT
    assert (values_of(path, "a") == WANT).all() and not os.listdir(tmp_path / "other")


def test_h5py_deletes_it(path):
    write_h5py(path)
    subprocess.run(["h5delete", path], check=True, env=os.environ | {"HDF5_VOL_CONNECTOR": "zarr"})
    assert os.listdir(path.parent) == []


def test_gdal_makes_it_at_the_end(path):
    dataset = DRIVER.Create(str(path), 48, 64, 1, gdal.GDT_Int32)
    dataset.WriteArray(WANT)
    dataset.FlushCache()
    assert not path.exists()
    dataset.BuildOverviews("NEAREST", [2])
    dataset.Close()
    dataset = gdal.Open(str(path))
    assert (dataset.ReadAsArray() == WANT).all() and dataset.GetRasterBand(1).GetOverviewCount() == 1
    assert dataset.GetFileList() == [str(path)]


def test_gdal_makes_hierarchies(path):
    dataset = DRIVER.CreateMultiDimensional(str(path))
    root = dataset.GetRootGroup()
    dimension = root.CreateDimension("t", None, None, 5)
    array = root.CreateGroup("g").CreateMDArray("v", [dimension], gdal.ExtendedDataType.Create(gdal.GDT_Float64))
    array.Write(np.arange(5.0))
    del array, dimension, root
    dataset = None
    assert (values_of(path, "g/v") == np.arange(5)).all()
    again = gdal.MultiDimTranslate(str(path.parent / "y.zarr.zip"), str(path), format="Zarr3")
    assert again.GetRootGroup().OpenMDArrayFromFullname("/g/v").Read() == np.arange(5.0).tobytes()


@pytest.mark.parametrize("form", ["/vsizip/%s", "/vsizip/{%s}"])
def test_gdal_makes_it_by_its_name_for_archives(path, form):
    """As users of GDAL's own driver write them; another one takes its place, and is deleted."""
    name = form % path
    for values in -WANT, WANT:
        DRIVER.CreateCopy(name, source(values))
        assert (gdal.Open(name).ReadAsArray() == values).all()
    assert (values_of(path, "r") == WANT).all()
    gdal.MultiDimTranslate(form % path.with_name("m.zip"), name, format="Zarr3")
    assert (values_of(path.with_name("m.zip"), "r") == WANT).all()
    DRIVER.Delete(form % path.with_name("m.zip"))
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("archive", ["%s", "/vsimem/x.zarr.zip"])
def test_gdal_makes_no_parts_of_archives(path, archive):
    """Of those that are there."""
    archive = archive.replace("%s", str(path))
    DRIVER.CreateCopy(archive, source(WANT))
    with pytest.raises(RuntimeError, match="stores are written to local directories, to new zip archives"):
        DRIVER.CreateCopy(f"/vsizip/{archive}/x.zarr", source())
    assert (gdal.Open(archive).ReadAsArray() == WANT).all()
    DRIVER.Delete(archive)
    assert not os.listdir(path.parent)


def test_a_copy_that_fails_leaves_the_old_one(path):
    write_gdal(path)
    with pytest.raises(RuntimeError):
        DRIVER.CreateCopy(str(path), source(-WANT), callback=lambda *_: 0)
    with pytest.raises(RuntimeError, match="stores are written to"):
        DRIVER.CreateCopy(f'ZARR3:"{path}":/group', source(-WANT))
    assert raster_is_old(path) and os.listdir(path.parent) == [path.name]


def test_gdal_copies_renames_and_deletes_it(path, tmp_path):
    write_gdal(path)
    directory, second, third = (str(tmp_path / name) for name in ("y.zarr", "y.zarr.zip", "z.zarr.zip"))
    DRIVER.CopyFiles(directory, str(path))
    DRIVER.CopyFiles(second, directory)
    DRIVER.Rename(third, second)
    assert raster_is_old(directory) and raster_is_old(third) and not os.path.exists(second)
    with pytest.raises(RuntimeError, match="gdalmanage copy"):
        DRIVER.Rename(str(tmp_path / "u.zarr"), third)
    compute_statistics(third)
    DRIVER.Delete(third)
    assert sorted(os.listdir(tmp_path)) == ["r.zarr.zip", "y.zarr"]


KILLED = """
import sys, h5py, numpy
f = h5py.File(sys.argv[1], "w")
f["g/d"] = -numpy.arange(64 * 48, dtype="i4").reshape(64, 48)
print("ready", flush=True)
sys.stdin.read()
"""


def test_a_kill_leaves_the_old_one(path):
    """And the next program removes what it has left, unless it is young or its maker lives."""
    write_h5py(path)
    makers, names = [], []
    for _ in range(2):
        makers.append(subprocess.Popen([sys.executable, "-c", KILLED, path], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE))
        assert makers[-1].stdout.readline() == b"ready\n"
        names += [name for name in os.listdir(path.parent) if name not in (path.name, *names)]
    makers[0].send_signal(signal.SIGKILL)
    makers[0].wait()
    assert (values_of(path, "g/d") == WANT).all()
    left = [name for name in os.listdir(path.parent) if name != path.name]
    assert len(left) == 2
    write_h5py(path, 2 * WANT)
    assert len(os.listdir(path.parent)) == 3  # too young
    for name in left:
        os.utime(path.parent / name, (time.time() - 90,) * 2)
    write_h5py(path, 3 * WANT)
    assert [name for name in os.listdir(path.parent) if name != path.name] == [names[1]]
    makers[1].send_signal(signal.SIGTERM)
    makers[1].wait()
    assert (values_of(path, "g/d") == 3 * WANT).all()


FULL = """
import sys, h5py, numpy
with h5py.File(sys.argv[1], "w") as f:
    f["d"] = numpy.random.default_rng(1).integers(0, 255, 2 << 20, "u1")
"""


def test_a_full_disk_is_an_error(tmp_path):
    """There is room for the objects, and none for the archive."""
    small = tmp_path / "small"
    small.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", small], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip("cannot mount a tmpfs: " + made.stderr.strip())
    try:
        path = small / "x.zarr.zip"
        write_h5py(path)
        failed = subprocess.run([sys.executable, "-c", FULL, path], capture_output=True, text=True)
        assert failed.returncode != 0 and "No space left" in failed.stderr
        assert (values_of(path, "g/d") == WANT).all() and os.listdir(small) == [path.name]
    finally:
        subprocess.run(["umount", small], check=True)
