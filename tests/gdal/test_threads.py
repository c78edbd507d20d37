# SPDX-License-Identifier: MIT
"""Many threads: one thread-safe dataset, and one dataset for each thread."""
import json
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from osgeo import gdal

from conftest import opened, put, run_python

CUBE = np.random.default_rng(2).integers(0, 60000, (3, 300, 400)).astype("uint16")


@pytest.fixture
def path(store):
    put(store[1], "t", CUBE, chunks=(1, 32, 32), shards=(3, 128, 128))
    return store[0]


def look(dataset, seed):
    random = np.random.default_rng(seed)
    for _ in range(25):
        x, y = int(random.integers(0, 390)), int(random.integers(0, 290))
        width, height = int(random.integers(1, 401 - x)), int(random.integers(1, 301 - y))
        shown = dataset.ReadAsArray(x, y, width, height)
        assert (shown == CUBE[:, y:y + height, x:x + width]).all()
    return True


def test_thread_safe_dataset(path):
    dataset = gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_THREAD_SAFE)
    assert dataset.GetDriver().ShortName == "Zarr3" and dataset.IsThreadSafe(gdal.OF_RASTER)
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda seed: look(dataset, seed), range(16)))


def test_threads_share_what_has_been_read(path):
    """Threads do not open the name anew: the group's document is gone here."""
    dataset = gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_THREAD_SAFE)
    os.rename(path + "/zarr.json", path + "/away")
    with ThreadPoolExecutor(4) as pool:
        for shown in pool.map(lambda _: dataset.GetRasterBand(2).ReadAsArray(), range(8)):
            assert (shown == CUBE[1]).all()
    os.rename(path + "/away", path + "/zarr.json")


def test_thread_safe_dataset_keeps_its_open_options(path):
    dataset = gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_THREAD_SAFE,
                          open_options=["DIM_X=1", "DIM_Y=2"])
    with ThreadPoolExecutor(4) as pool:
        for shown in pool.map(lambda _: dataset.ReadAsArray(), range(4)):
            assert (shown == CUBE.transpose(0, 2, 1)).all()


def test_a_dataset_for_each_thread(path):
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda seed: look(opened(path), seed), range(16)))


COUNT = r"""
import os, sys
from osgeo import gdal
gdal.UseExceptions()
dataset = gdal.Open(sys.argv[1])
before = len(os.listdir("/proc/self/task"))
dataset.ReadAsArray()
print(1 + len(os.listdir("/proc/self/task")) - before)
"""


def test_thread_count(store):
    """GDAL_NUM_THREADS governs the core's threads too; its own variable goes before."""
    path, root = store
    put(root, "t", np.tile(CUBE, (1, 8, 8)), chunks=(1, 256, 256))

    def threads(**environment):
        return int(run_python(COUNT, path, OPENBLAS_NUM_THREADS="1", **environment))
    assert threads(GDAL_NUM_THREADS="1") == 1
    assert threads(GDAL_NUM_THREADS="4") == 4
    assert threads(GDAL_NUM_THREADS="4", ZARRBRIDGE_NUM_THREADS="2") == 2


INHERIT = r"""
import subprocess, sys
from osgeo import gdal
gdal.UseExceptions()
gdal.Open(sys.argv[1]).ReadAsArray()
print(subprocess.run(["printenv", "ZARRBRIDGE_NUM_THREADS"], capture_output=True, text=True).stdout)
"""


def test_the_environment_stays_the_programs_own(path):
    """Other threads may read it meanwhile, and its children inherit it."""
    assert run_python(INHERIT, path, GDAL_NUM_THREADS="4").strip() == ""


def test_small_cache(path):
    before = gdal.GetCacheMax()
    gdal.SetCacheMax(200000)
    try:
        test_thread_safe_dataset(path)
    finally:
        gdal.SetCacheMax(before)


def fill_value(path):
    return json.loads(open(path + "/data/zarr.json").read())["fill_value"]


@pytest.mark.parametrize("how", ["resampled", "filled", "dataset"])
def test_a_new_array_is_settled_by_the_thread_that_writes(tmp_path, how):
    """Blocks wait in GDAL's cache, which any thread may write. What the first write asks of the dataset is
    done before they wait: the array has its nodata value then, and in the store no pixel."""
    path = str(tmp_path / "x.zarr")
    dataset = gdal.GetDriverByName("Zarr3").Create(path, 64, 64, 1, gdal.GDT_Int16, ["BLOCKXSIZE=16", "BLOCKYSIZE=16"])
    band = dataset.GetRasterBand(1)
    band.SetNoDataValue(7)
    assert fill_value(path) == 0
    if how == "filled":
        band.Fill(3)
    else:
        pixels = np.full((8, 8), 3, "int16").tobytes()
        target = band if how == "resampled" else dataset
        assert target.WriteRaster(0, 0, 16, 16, pixels, 8, 8, buf_type=gdal.GDT_Int16) == 0
    assert fill_value(path) == 7 and not os.path.exists(path + "/data/c")
    dataset.Close()
    written = opened(path).ReadAsArray()
    assert (written[:16, :16] == 3).all() and (written[16:, 16:] == (3 if how == "filled" else 7)).all()


FLUSHED = r"""
import sys, threading
from osgeo import gdal
gdal.UseExceptions()
gdal.SetCacheMax(1 << 20)
driver = gdal.GetDriverByName("Zarr3")
side, rounds = 1024, 4


def write(number):
    for turn in range(rounds):
        name = f"{sys.argv[1]}/{number}-{turn}.zarr"
        dataset = driver.Create(name, side, side, 1, gdal.GDT_Int16, ["BLOCKXSIZE=64", "BLOCKYSIZE=64"])
        band = dataset.GetRasterBand(1)
        band.SetNoDataValue(number)
        band.Fill(100 * number + turn)  # by way of the cache, which holds half of one raster
        dataset.Close()
        assert (gdal.Open(name).ReadAsArray() == 100 * number + turn).all(), (number, turn)


threads = [threading.Thread(target=write, args=[number]) for number in range(1, 5)]
failed = []
threading.excepthook = lambda failure: failed.append(failure)
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("failed" if failed else "good", *(str(f.exc_value) for f in failed))
"""


def test_blocks_that_other_threads_write(tmp_path):
    assert run_python(FLUSHED, str(tmp_path), GDAL_NUM_THREADS="4").split()[0] == "good"
