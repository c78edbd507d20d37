# SPDX-License-Identifier: MIT
"""Memory is bounded by the cache, not by the size of the read. Peak resident sizes of whole
processes."""
import json
import os
import subprocess
import sys
import zipfile

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


BOMB = """
import sys, h5py
def status(field):
    return int(open("/proc/self/status").read().split(field + ":")[1].split()[0]) * 1024
with h5py.File(sys.argv[1], "r") as file:
    assert file["fine"][3] == 7
    before = status("VmHWM")
    for name in "raw", "packed", "shards", "document":
        try:
            said = str(file[name][()])  # a node that cannot be read is a text that tells why
        except OSError as error:
            said = str(error)
        print(any(text in said for text in sys.argv[2:]) or f"{name}: {said}")
    print(status("VmHWM") - before < 64 << 20)
"""

# Bytes that a compressed entry of an archive holds more than its key may.
MUCH = 256


@pytest.mark.skipif("ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ,
                    reason="sanitizers use several times the memory")
def test_bombs_in_archives_stay_packed(tmp_path):
    """A small archive whose entries are large: of each, the size is compared with what its key may hold before it is
    unpacked."""
    codecs = {"raw": [{"name": "bytes"}], "fine": [{"name": "bytes"}],
              "packed": [{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 1}}],
              "shards": [{"name": "sharding_indexed", "configuration": {
                  "chunk_shape": [5], "codecs": [{"name": "bytes"}],
                  "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}}]}
    with zipfile.ZipFile(tmp_path / "x.zarr.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zarr.json", json.dumps({"zarr_format": 3, "node_type": "group"}))
        for name, chain in codecs.items():
            archive.writestr(f"{name}/zarr.json", json.dumps({
                "zarr_format": 3, "node_type": "array", "shape": [10], "data_type": "uint8", "fill_value": 0,
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10]}},
                "chunk_key_encoding": {"name": "default"}, "codecs": chain}))
        archive.writestr("fine/c/0", bytes([7] * 10))
        for key in "raw/c/0", "packed/c/0", "shards/c/0", "document/zarr.json":
            with archive.open(key, "w", force_zip64=True) as entry:
                for _ in range(MUCH):
                    entry.write(b" " * MIB)
    done = subprocess.run([sys.executable, "-c", BOMB, tmp_path / "x.zarr.zip", "expected 10", "more than the",
                           "limit"], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.split("\n")[:5] == ["True"] * 5
