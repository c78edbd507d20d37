# SPDX-License-Identifier: MIT
"""A whole array that is read over the network takes the cache, the window and the threads' buffers, however
much of it there is. Peak resident sizes of whole processes."""

import os
import shutil
import sys

import numpy as np
import pytest
import zarr

from programs import output

MIB = 2**20
SIDE = 2048  # a shard has 4 MiB, decoded and stored
SHARDS = 6  # along each dimension: 144 MiB
# Small enough that a read without them would take more than twice the bound.
LIMITS = {"ZARRBRIDGE_CACHE_BYTES": 8 * MIB, "ZARRBRIDGE_REMOTE_WINDOW_BYTES": 16 * MIB,
          "ZARRBRIDGE_REMOTE_FLIGHT_BYTES": 8 * MIB, "ZARRBRIDGE_NUM_THREADS": 2,
          "GDAL_CACHEMAX": 8 * MIB}
# Cache and window, and what the threads' buffers, the connections and the heap may take.
BOUND = (8 + 16 + 32) * MIB

pytestmark = pytest.mark.skipif("ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ,
                                reason="sanitizers use several times the memory")

# The result is touched before, so that it is in none of the sizes.
BEGIN = """
import sys, numpy as np
url, side, shards = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
whole = np.full((side * shards,) * 2, 255, "u1")
def status(field):
    return int(open("/proc/self/status").read().split(field + ":")[1].split()[0]) * 1024
"""
END = """
peak = status("VmHWM") - before
shard = np.random.default_rng(1).integers(0, 250, (side, side)).astype("u1")
assert all((whole[y:y + side, x:x + side] == shard).all()
           for y in range(0, side * shards, side) for x in range(0, side * shards, side))
print(peak)
"""
READERS = {
    "core": """
import os
sys.path.insert(0, os.environ["ZARRBRIDGE_SOURCE_DIR"] + "/tests/remote")
from remote_store import RemoteStore
with RemoteStore(url) as store:
    store.read("small", (1,), "u1")
    before = status("VmRSS")
    store.read_into("t", (0, 0), (1, 1), whole)
""",
    "h5py": """
import h5py
with h5py.File("zarr:" + url, "r") as file:
    file["small"][...]
    before = status("VmRSS")
    file["t"].read_direct(whole)
""",
    "GDAL": """
from osgeo import gdal
gdal.UseExceptions()
gdal.Open(f'ZARR3:"{url}":/small').ReadAsArray()
dataset = gdal.Open(f'ZARR3:"{url}":/t')
before = status("VmRSS")
dataset.ReadAsArray(buf_obj=whole)
""",
}


@pytest.fixture
def url(server):
    """A store of many shards, which all hold the same: one is written, the others are its copies."""
    folder = server.folder / "m.zarr"
    root = zarr.open_group(folder, mode="w")
    root.create_array("small", shape=(1,), dtype="u1")[:] = 1
    array = root.create_array("t", shape=(SIDE * SHARDS,) * 2, dtype="u1", chunks=(256, 256),
                              shards=(SIDE, SIDE), compressors=zarr.codecs.ZstdCodec(level=1))
    array[:SIDE, :SIDE] = np.random.default_rng(1).integers(0, 250, (SIDE, SIDE))
    for place in np.ndindex(SHARDS, SHARDS):
        copy = folder.joinpath("t", "c", *map(str, place))
        copy.parent.mkdir(exist_ok=True)
        if any(place):
            shutil.copyfile(folder / "t/c/0/0", copy)
    zarr.consolidate_metadata(folder)
    return server.url + "/m.zarr"


@pytest.mark.parametrize("reader", READERS)
def test_a_whole_read_stays_within_cache_and_window(server, url, reader):
    stored = sum(path.stat().st_size for path in server.folder.rglob("*") if path.is_file())
    assert stored > 2 * BOUND
    peak = int(output(sys.executable, "-c", BEGIN + READERS[reader] + END, url, SIDE, SHARDS,
                      HDF5_VOL_CONNECTOR="zarr", **LIMITS))
    assert peak < BOUND, f"{peak / MIB:.0f} MiB"
