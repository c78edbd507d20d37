# SPDX-License-Identifier: MIT
"""A raster that takes the place of another one while programs read it: they see the old one, the new
one, or an error, and never fill values."""
import subprocess
import sys

import numpy as np
import pytest
import zarr
from osgeo import gdal

ROUNDS = 20

READER = r"""
import sys
import numpy as np
from osgeo import gdal
gdal.UseExceptions()
path, keeps = sys.argv[1], sys.argv[2] == "keeps"
open_it = lambda: gdal.OpenEx(path, gdal.OF_RASTER, allowed_drivers=["Zarr3"])
dataset, reads, errors = None, 0, 0
print("ready", flush=True)
while True:
    try:
        if dataset is None:
            dataset = open_it()
        shown = dataset.ReadAsArray()
    except RuntimeError:
        dataset, errors = None, errors + 1
        continue
    reads += 1
    values = np.unique(shown)
    assert (values >= 100).all() and len(values) == 1, f"read {values} after {reads} reads"
    if reads % 50 == 1:
        print(int(values[0]), flush=True)
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
    seen = set()
    for reader in readers:
        ended = reader.poll()
        reader.kill()
        out, err = reader.communicate()
        assert ended is None, err
        seen.update(out.split())
    assert (gdal.OpenEx(path).ReadAsArray() == 100 + ROUNDS).all()
    assert np.all([100 <= int(value) <= 100 + ROUNDS for value in seen]) and seen
