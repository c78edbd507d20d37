# SPDX-License-Identifier: MIT
"""Many threads: one thread-safe dataset, and one dataset for each thread."""
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from osgeo import gdal

from conftest import opened, put, run_new_python

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
        return int(run_new_python(COUNT, path, OPENBLAS_NUM_THREADS="1", **environment))
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
    assert run_new_python(INHERIT, path, GDAL_NUM_THREADS="4").strip() == ""


def test_small_cache(path):
    before = gdal.GetCacheMax()
    gdal.SetCacheMax(200000)
    try:
        test_thread_safe_dataset(path)
    finally:
        gdal.SetCacheMax(before)
