#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Times one writer on one data set, in a process of its own, and prints JSON lines as peers.py
does: the least of some rounds, each into a new directory below SCRATCH, without syncing.

    write_peers.py PEER PATH SCRATCH [ROUNDS]

PEER      what writes, and what
zarr-python, zarrs, tensorstore
          write: the whole array at PATH again, under a copy of its zarr.json, so that all writers
          make the same chunks with the same codecs
h5py      write: the array at PATH as one dataset of a new file, in the same (inner) chunks with
          gzip 5, native and through our connector. Its lines are called hdf5 and h5py+ours.
gdal      translate: gdal_translate of the raster at PATH to a Zarr store of the same blocks, in
          shards of 2048^2, and to a GeoTIFF, both zstd 3. Its lines are called gdal+ours and gtiff.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from peers import Least, Timer


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


class Target:
    """A new directory for each round, with the document of the array at `source`."""

    def __init__(self, source, folder):
        self.source, self.folder = source, folder

    def renew(self):
        remove(self.folder)
        self.folder.mkdir(parents=True)
        shutil.copy(self.source / "zarr.json", self.folder)


def time_writing(timer, renew, write, what="write"):
    least = Least()
    for _ in range(timer.rounds):
        renew()
        with least:
            write()
    timer.report(what, **least.values())


def read_source(path):
    import zarr

    return np.asarray(zarr.open_array(str(path), mode="r")[...])


def run_zarr_python(source, target, timer):
    import zarr

    values = read_source(source)

    def write():
        zarr.open_array(str(target.folder), mode="r+")[...] = values

    time_writing(timer, target.renew, write)
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

    time_writing(timer, target.renew, write)
    check(target, values)


def check(target, values):
    if not np.array_equal(read_source(target.folder), values):
        sys.exit(f"{target.folder} does not hold what was written")
    remove(target.folder)


def run_h5py(source, target, timer):
    import zarr

    array = zarr.open_array(str(source), mode="r")
    # The connector takes files by the ending of their names, and native ones go past it.
    shards = "x".join(map(str, array.shards)) if array.shards else "off"
    os.environ["HDF5_VOL_CONNECTOR"] = f"zarr shards={shards}"
    import h5py

    values, chunks = array[...], array.chunks
    for peer, ending in (("hdf5", ".h5"), ("h5py+ours", ".zarr")):
        path = target.folder.with_name("h5py-" + source.stem + ending)

        def write(path=path):
            with h5py.File(path, "w") as file:
                file.create_dataset("data", data=values, chunks=chunks, compression="gzip",
                                    compression_opts=5)

        timer.peer = peer
        time_writing(timer, lambda path=path: remove(path), write)
        with h5py.File(path, "r") as file:
            if path.is_dir() != (ending == ".zarr") or not np.array_equal(file["data"], values):
                sys.exit(f"{path} is not what was to be written")
        remove(path)


def run_gdal(source, target, timer):
    zarr = ["-of", "Zarr3", "-co", "SHARD=2048x2048", "-co", "BLOCKSIZE=256,256", "-co",
            "COMPRESS=ZSTD", "-co", "LEVEL=3"]
    gtiff = ["-of", "GTiff", "-co", "TILED=YES", "-co", "BLOCKXSIZE=256", "-co", "BLOCKYSIZE=256",
             "-co", "COMPRESS=ZSTD", "-co", "ZSTD_LEVEL=3", "-co", "NUM_THREADS=2"]
    for peer, options, ending in (("gdal+ours", zarr, ".zarr"), ("gtiff", gtiff, ".tif")):
        path = target.folder.with_name("gdal-" + source.stem + ending)
        command = ["gdal_translate", "-q", *options, source, path]
        timer.peer = peer
        time_writing(timer, lambda path=path: remove(path),
                     lambda command=command: subprocess.run(command, check=True), "translate")
        remove(path)


RUNNERS = {
    "zarr-python": run_zarr_python,
    "zarrs": run_zarrs,
    "tensorstore": run_tensorstore,
    "h5py": run_h5py,
    "gdal": run_gdal,
}


def main(peer, path, scratch, rounds="3"):
    path = Path(path)
    target = Target(path, Path(scratch) / f"{peer}-{path.name}")
    RUNNERS[peer](path, target, Timer(peer, path.name, int(rounds)))


if __name__ == "__main__":
    main(*sys.argv[1:])
