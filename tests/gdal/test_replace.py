# SPDX-License-Identifier: MIT
"""A raster that takes the place of another one while programs read it: they see the old one, the new
one, or an error, and never fill values."""
import os
import shutil
import subprocess
import sys
import tempfile
import threading

import numpy as np
import pytest
import zarr
from osgeo import gdal

sys.path.append(os.environ["ZARRBRIDGE_SOURCE_DIR"] + "/tests/support")
from waiting import await_call  # noqa: E402

ROUNDS = 20

READER = r"""
import sys
import numpy as np
from osgeo import gdal
gdal.UseExceptions()
path, keeps = sys.argv[1], sys.argv[2] == "keeps"
open_it = lambda: gdal.OpenEx(path, gdal.OF_RASTER, allowed_drivers=["Zarr3"])
dataset, reads, last = None, 0, None
print("ready", flush=True)
while True:
    try:
        if dataset is None:
            dataset = open_it()
        shown = dataset.ReadAsArray()
    except RuntimeError:
        dataset = None
        continue
    reads += 1
    values = np.unique(shown)
    assert (values >= 100).all() and len(values) == 1, f"read {values} after {reads} reads"
    if values[0] != last:
        last = values[0]
        print(int(last), flush=True)
    dataset = dataset if keeps and reads % 20 else None
    if dataset is not None:
        dataset.FlushCache()
        gdal.SetCacheMax(0)
"""


def raster(value):
    source = gdal.GetDriverByName("MEM").Create("", 200, 160, 1, gdal.GDT_Int16)
    source.GetRasterBand(1).Fill(value)
    return source


@pytest.mark.parametrize("node", ["", "g/t"])
@pytest.mark.parametrize("reading", ["keeps", "opens"])
def test_readers_of_a_raster_that_is_replaced(tmp_path, node, reading):
    root = str(tmp_path / "x.zarr")
    if node:
        zarr.create_group(root, zarr_format=3)
    path = f'ZARR3:"{root}":/{node}' if node else root
    driver = gdal.GetDriverByName("Zarr3")
    options = ["BLOCKSIZE=64,64", "COMPRESS=NONE"]
    driver.CreateCopy(path, raster(100), options=options).Close()
    readers = [subprocess.Popen([sys.executable, "-c", READER, path, reading],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
               for _ in range(2)]
    for reader in readers:
        assert reader.stdout.readline() == "ready\n"
    for value in range(101, 101 + ROUNDS):
        driver.CreateCopy(path, raster(value), options=options).Close()
    for reader in readers:
        seen = until_it_reads(reader, 100 + ROUNDS)
        assert all(100 <= value <= 100 + ROUNDS for value in seen)
    assert (gdal.OpenEx(path).ReadAsArray() == 100 + ROUNDS).all()


def until_it_reads(reader, last):
    """What a reader has printed until that value, at which it is ended."""
    seen = []
    for line in reader.stdout:
        seen.append(int(line))
        if seen[-1] == last:
            break
    reader.kill()
    errors = reader.communicate()[1]
    assert seen and seen[-1] == last, errors
    return seen


@pytest.fixture
def store_of_a_deleter(tmp_path):
    """A store in which another process takes the tree of a deleted node apart, once this one waits for that."""
    path = tmp_path / "x.zarr"
    gdal.GetDriverByName("Zarr3").CreateCopy(str(path), raster(100)).Close()
    name = f".t.{'a' * 16}.{'b' * 16}.zb-tmp"
    (path / name / "c").mkdir(parents=True)
    (path / name / "c" / "0").write_bytes(b"chunk")
    root = os.open(path, os.O_RDONLY)

    def take_apart():
        await_call("clock_nanosleep", threading.main_thread())
        shutil.rmtree(name, dir_fd=root)

    thread = threading.Thread(target=take_apart)
    thread.start()
    yield str(path), name
    thread.join()
    os.close(root)


def test_a_deletion_waits_for_what_others_delete_there(store_of_a_deleter):
    path, _ = store_of_a_deleter
    gdal.GetDriverByName("Zarr3").Delete(path)
    assert not os.path.exists(path)


def test_what_others_delete_does_not_come_into_the_new_raster(store_of_a_deleter):
    path, name = store_of_a_deleter
    gdal.GetDriverByName("Zarr3").CreateCopy(path, raster(7)).Close()
    assert not os.path.exists(os.path.join(path, name))
    assert os.listdir(os.path.dirname(path)) == ["x.zarr"]


REPLACER = r"""
import os, sys
from osgeo import gdal
gdal.UseExceptions()
driver = gdal.GetDriverByName("Zarr3")
source = gdal.GetDriverByName("MEM").Create("", 200, 160, 1, gdal.GDT_Int16)
source.GetRasterBand(1).Fill(7)
os.setegid(65534)
os.seteuid(65534)
try:
    driver.CreateCopy(sys.argv[1], source).Close()
except RuntimeError as error:
    print(error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="another user's files take root to make")
@pytest.mark.parametrize("closed, value", [("g/t", 100), ("g/t/t/c", 7)])
def test_a_raster_of_another_user(closed, value):
    """Either raster is there: the old one where it cannot be deleted, else the new one, though the
    other user's files stay."""
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.join(folder, "x.zarr")
        zarr.create_group(root, zarr_format=3).create_group("g")
        path = f'ZARR3:"{root}":/g/t'
        gdal.GetDriverByName("Zarr3").CreateCopy(path, raster(100)).Close()
        os.chmod(folder, 0o755)
        for where, _, _ in os.walk(root):
            os.chmod(where, 0o777)
        for where, _, _ in os.walk(os.path.join(root, closed)):
            os.chmod(where, 0o555)
        done = subprocess.run([sys.executable, "-c", REPLACER, path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=True)
        assert ("ermission" in done.stdout) == (value == 100), done
        for where, _, _ in os.walk(root):
            os.chmod(where, 0o777)
        dataset = gdal.OpenEx(path, allowed_drivers=["Zarr3"])
        assert (dataset.ReadAsArray() == value).all()
        assert not [name for name in os.listdir(os.path.join(root, "g")) if "zarr3-new" in name]
