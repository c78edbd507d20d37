# SPDX-License-Identifier: MIT
"""Memory is bounded by the caches, not by the array. Peak resident sizes of whole processes."""
import os
import sys

import numpy as np
import pytest
from osgeo import gdal

from conftest import Errors, opened, run_new_python, sub

MIB = 2**20
# GDAL's block cache and the core's chunk cache, the threads' scratch, and room for the heap.
BOUND = (64 + 64 + 32) * MIB
# A fixed number, as each has memory of its own.
THREADS = "4"

instrumented = pytest.mark.skipif("ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ,
                                  reason="sanitizers use several times the memory")


def peak(*command, cache="64"):
    """Bytes, with a block cache of so many MB. A process starts with the peak of the one that forked it,
    so that a small one must stand between."""
    script = ("import resource, subprocess, sys\n"
              "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    return int(run_new_python(script, *command, GDAL_CACHEMAX=cache, ZARRBRIDGE_NUM_THREADS=THREADS,
                              OPENBLAS_NUM_THREADS="1")) * 1024


@pytest.fixture(scope="module")
def base():
    """The memory of a GDAL program before it opens anything."""
    return peak("gdalinfo", "--version")


@instrumented
def test_translating_a_huge_sparse_array(store, tmp_path, base):
    """49152^2, 4.8 GB decoded; only one shard of it exists."""
    path, root = store
    array = root.create_array("t", shape=(49152, 49152), dtype="u2", chunks=(512, 512),
                              shards=(4096, 4096), fill_value=3)
    array[8000:8010, 8000:8010] = 7
    out = str(tmp_path / "out.tif")
    used = peak("gdal_translate", "-q", "-co", "TILED=YES", "-co", "SPARSE_OK=YES", "-a_nodata",
                "3", path, out)
    assert used < base + BOUND
    dataset = gdal.Open(out)
    assert (dataset.ReadAsArray(8000, 8000, 10, 10) == 7).all()
    assert (dataset.ReadAsArray(7000, 7000, 10, 10) == 3).all()


@instrumented
@pytest.mark.parametrize("script", ["rows", "windows", "bands"])
def test_reading_dense_data(store, base, script):
    """400 MB decoded in 1 MiB chunks that barely compress, by the ways that caches could grow."""
    path, root = store
    noise = np.random.default_rng(1).integers(0, 255, (512, 2048), dtype="u1")
    array = root.create_array("t", shape=(4, 10240, 10240), dtype="u1", chunks=(1, 512, 2048),
                              shards=(1, 2048, 10240))
    for y in range(0, 10240, 2048):
        array[:, y:y + 2048] = np.broadcast_to(np.tile(noise, (4, 5)), (4, 2048, 10240))
    loop = {"rows": "for y in range(0, 10240, 64): d.GetRasterBand(1).ReadRaster(0, y, 10240, 1)",
            "windows": "for i in range(400): "
                       "d.GetRasterBand(2).ReadRaster(i * 23, i * 21, 700, 700)",
            "bands": "for i in range(400): d.ReadRaster(i * 23, i * 21, 700, 700)"}[script]
    used = peak(sys.executable, "-c", "from osgeo import gdal; gdal.UseExceptions()\n"
                "d = gdal.Open(%r)\n%s" % (path, loop))
    plain = peak(sys.executable, "-c", "from osgeo import gdal")
    assert used < plain + BOUND


def test_shapes_that_no_raster_has(store):
    path, root = store
    for name, shape in (("wide", (4, 2**31)), ("long", (2**62, 1)), ("deep", (2**60, 2, 2)),
                        ("most", (2**31 - 1, 2**31 - 1))):
        root.create_array(name, shape=shape, dtype="u1", chunks=(1,) * (len(shape) - 1) + (2,))
    for name, text in (("wide", "2147483648"), ("long", "4611686018427387904"),
                       ("deep", "1152921504606846976")):
        with Errors() as errors:
            assert gdal.Open(sub(path, name)) is None
        assert len(errors.failures) == 1 and text in errors.failures[0], errors.failures
        assert "array /" + name in errors.failures[0]
    dataset = opened(sub(path, "most"))
    assert (dataset.ReadAsArray(2**31 - 5, 2**31 - 5, 4, 4) == 0).all()
    assert opened(sub(path, "deep", 2**59)).RasterXSize == 2


@instrumented
def test_many_bands_cost_little(store, base):
    path, root = store
    root.create_array("t", shape=(65536, 4096, 4096), dtype="f8", chunks=(1, 256, 256))
    assert peak("gdal_translate", "-q", "-b", "65536", "-srcwin", "0", "0", "300", "300", path,
                "/vsimem/out.tif") < base + BOUND


@instrumented
def test_a_copy_takes_no_more_than_that_of_a_geotiff(tmp_path):
    """GDAL's cache keeps what was decoded of the source, all of it in the copy to a GeoTIFF. Here the cache lets go
    of what a row of shards (63 MB) has taken, and has room for two pieces of one shard. Without room for that row,
    the writer gathers it from rows of blocks."""
    source = str(tmp_path / "in.tif")
    raster = gdal.GetDriverByName("GTiff").Create(source, 10240, 10240, 3,
                                                  options=["TILED=YES", "COMPRESS=DEFLATE"])
    for number in 1, 2, 3:
        raster.GetRasterBand(number).Fill(number)
    raster.Close()
    for cache, more in ("400", 0), ("64", 56 * MIB):
        tiff = peak("gdal_translate", "-q", source, str(tmp_path / f"{cache}.tif"), cache=cache)
        used = peak("gdal_translate", "-q", "-of", "Zarr3", source, str(tmp_path / f"{cache}.zarr"), cache=cache)
        assert used <= tiff + more, (used / MIB, tiff / MIB)
