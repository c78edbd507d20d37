# SPDX-License-Identifier: MIT
"""Blocks of one shard, with the file opened for each, on file systems that share blocks (XFS, btrfs; root only):
what is written is the blocks, and at every instant other programs read whole ones."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest
import zarr

import filesystems

WRITER = """
import sys, time
import h5py, numpy as np
path, first = sys.argv[1], int(sys.argv[2])
def written():
    return int(next(line for line in open("/proc/self/io") if line.startswith("wchar")).split()[1])
random = np.random.default_rng(first)
for turn in range(first, first + 64):
    rows, columns = (slice(64 * n, 64 * n + 64) for n in divmod(turn * 37 % 64, 8))
    block = random.integers(0, 1 << 62, (64, 64)) // 64 * 64 + turn % 64
    before = written()
    with h5py.File(path, "r+") as f:
        f["a"][rows, columns] = block
    print(turn, written() - before, flush=True)
"""


@pytest.fixture(params=["xfs", "btrfs"])
def place(request):
    system = filesystems.ALL[request.param]
    if (lack := filesystems.what_lacks(system)) is not None:
        pytest.skip(lack)
    with tempfile.TemporaryDirectory() as folder:
        image = os.path.join(folder, "image")
        system.format(image)
        with filesystems.mounted(image, os.path.join(folder, "place")) as mounted:
            yield pathlib.Path(mounted)


def writer(path, first):
    environment = {**os.environ, "HDF5_VOL_CONNECTOR": "zarr"}
    return subprocess.Popen([sys.executable, "-c", WRITER, path, str(first)], env=environment, text=True,
                            stdout=subprocess.PIPE)


def blocks(path):
    """Those of the array, as zarr-python reads them: each of one turn, or of none."""
    data = zarr.open(path, mode="r")["a"][:].reshape(8, 64, 8, 64).swapaxes(1, 2).reshape(64, -1) % 64
    assert (data == data[:, :1]).all()
    return data[:, 0]


def new_store(path):
    zarr.create_group(path).create_array("a", shape=(512, 512), chunks=(64, 64), shards=(512, 512), dtype="i8",
                                         compressors=None, fill_value=0)


def test_only_blocks_are_written(place):
    """Each block is 32 KiB; the index, and what closing a file writes, are 2."""
    path = place / "x.zarr"
    new_store(path)
    for first in range(0, 192, 64):
        done = writer(path, first)
        sizes = [int(line.split()[1]) for line in done.communicate()[0].splitlines()]
        assert done.returncode == 0 and len(sizes) == 64
        stored = (path / "a/c/0/0").stat().st_size
        assert stored < 1.5 * (2 << 20) + 70000
        # A block that was there already: the file is written whole, without what is in vain, every 32 blocks.
        assert sum(sizes) < 64 * 35000 + (2 << 20) * (2 * (first > 0)) + 300000
        assert (np.sort(blocks(path)) == np.arange(64)).all()


def test_readers_and_kills(place):
    path = place / "x.zarr"
    new_store(path)
    for turn in range(8):
        work = writer(path, turn * 64)
        end = time.monotonic() + 0.4 + 0.05 * turn
        while time.monotonic() < end and work.poll() is None:
            blocks(path)
        work.send_signal(signal.SIGKILL)
        work.communicate()
        blocks(path)
