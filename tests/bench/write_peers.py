#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Times one writer on one data set, in a process of its own, and prints JSON lines as peers.py
does: the least of some rounds, each into a new directory below SCRATCH, without syncing.

    write_peers.py PEER PATH SCRATCH [ROUNDS]

PEER      what writes, and what
zarr-python, zarrs, tensorstore
          write: the whole array at PATH again, under a copy of its zarr.json, so that all writers
          make the same chunks with the same codecs
"""

import shutil
import sys
import time
from pathlib import Path

import numpy as np
from peers import Timer


class Target:
    """A new directory for each round."""

    def __init__(self, source, folder):
        self.source, self.folder = source, folder

    def renew(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        shutil.copy(self.source / "zarr.json", self.folder)


def time_writing(timer, target, write):
    least = float("inf")
    for _ in range(timer.rounds):
        target.renew()
        begin = time.perf_counter()
        write()
        least = min(least, time.perf_counter() - begin)
    timer.report("write", ms=round(least * 1e3, 4))


def read_source(path):
    import zarr

    return np.asarray(zarr.open_array(str(path), mode="r")[...])


def run_zarr_python(source, target, timer):
    import zarr

    values = read_source(source)

    def write():
        zarr.open_array(str(target.folder), mode="r+")[...] = values

    time_writing(timer, target, write)
    check(target, values)


def run_zarrs(source, target, timer):
    import zarr
    import zarrs  # noqa: F401  (registers the pipeline)

    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    run_zarr_python(source, target, timer)


def run_tensorstore(source, target, timer):
    import tensorstore

    values = read_source(source)
    spec = {
        "driver": "zarr3",
        "kvstore": {"driver": "file", "path": str(target.folder)},
        "context": {"cache_pool": {"total_bytes_limit": 0}, "file_io_sync": False},
    }

    def write():
        array = tensorstore.open(spec, open=True).result()
        array.write(values).result()

    time_writing(timer, target, write)
    check(target, values)


def check(target, values):
    if not np.array_equal(read_source(target.folder), values):
        sys.exit(f"{target.folder} does not hold what was written")
    shutil.rmtree(target.folder)


RUNNERS = {
    "zarr-python": run_zarr_python,
    "zarrs": run_zarrs,
    "tensorstore": run_tensorstore,
}


def main(peer, path, scratch, rounds="3"):
    path = Path(path)
    target = Target(path, Path(scratch) / f"{peer}-{path.name}")
    RUNNERS[peer](path, target, Timer(peer, path.name, int(rounds)))


if __name__ == "__main__":
    main(*sys.argv[1:])
