# SPDX-License-Identifier: MIT
"""Memory is bounded by the cache, not by the size of the read. Peak resident sizes of whole
processes."""
import os
import subprocess
import sys

import numpy as np
import pytest
import zarr

from conftest import put

MIB = 2**20
# The cache and the 32 MiB that the threads' buffers and the heap may take; h5py's start is measured.
BOUND = (64 + 32) * MIB

SCRIPT = """
import sys, h5py
def status(field):
    return int(open("/proc/self/status").read().split(field + ":")[1].split()[0]) * 1024
with h5py.File(sys.argv[1], "r") as file:
    data = file["t"]
    before = status("VmRSS")
    for _ in range(3):
        assert (data[::8, ::8, ::8] == 7).all()
    print(status("VmHWM") - before)
"""


@pytest.mark.skipif("ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ,
                    reason="sanitizers use several times the memory")
def test_a_box_over_more_than_the_cache_again(tmp_path):
    """192 MiB decoded, of which a part is cached when the next read begins: cached chunks must not
    stay in memory beside those that replace them."""
    path = str(tmp_path / "s.zarr")
    root = zarr.open_group(path, mode="w", zarr_format=3)
    put(root, "t", np.full((192, 1024, 1024), 7, "u1"), chunks=(64, 64, 64),
        shards=(192, 1024, 1024))
    done = subprocess.run([sys.executable, "-c", SCRIPT, path], stdout=subprocess.PIPE, text=True,
                          check=True, env=os.environ | {"ZARRBRIDGE_NUM_THREADS": "2"})
    assert int(done.stdout) < BOUND
