#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What it costs that several processes write one store. Prints a table in Markdown.

    run_distributed.py BUILD_DIRECTORY [--pairs N] [--only WORD] [--scratch DIRECTORY]

Each row is a ratio of two runs that take turns, N times: the median of the ratios of the pairs, elapsed and of the
processors of all processes, and the least times of both. Processes have started, and have their data in memory,
when the clock begins. The data are 32 MiB of float64, gzip of level 1, in shards of 2 MiB with chunks of 128 KiB.
Dask and zarr-python are the newest, with zarrs, from the index; h5py and rasterio are the system's. Rows whose
programs are not there are left out, and say so. The lock of a shard has rows of its own (zb-lock-bench): all that a
writer does to take and give it back, without a server's answers, 1000 times, beside the least that a shard of 64 MiB
can take, of which nothing is compressed."""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "interop"), str(TESTS / "support")]

HEAD = """
import os, subprocess, sys, time
import numpy as np
N, SHARD, CHUNK = 2048, 512, 128
path = sys.argv[1]

def block(rows, columns):
    y, x = np.ogrid[rows, columns]
    return np.floor(np.sin(y / 50) * 1000 + x * 7 % 1000).astype("f8")

def make():
    import h5py
    with h5py.File(path, "w") as f:
        f.create_dataset("a", (N, N), "f8", chunks=(CHUNK, CHUNK), compression="gzip", compression_opts=1)

def windows(shift):
    edges = [0, *range(shift or SHARD, N, SHARD), N]
    return [(slice(*r), slice(*c)) for r in zip(edges, edges[1:]) for c in zip(edges, edges[1:])]

# Workers say when they are ready, begin at a word, and say what they have used.
def lead(count):
    workers = [subprocess.Popen([sys.executable, *sys.argv, str(i)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                text=True) for i in range(count)]
    for worker in workers:
        assert worker.stdout.readline() == "ready\\n"
    began = time.perf_counter()
    for worker in workers:
        worker.stdin.write("go\\n")
        worker.stdin.flush()
    used = [float(worker.stdout.readline()) for worker in workers]
    print(time.perf_counter() - began, sum(used))
    assert not any(worker.wait() for worker in workers)

def work(write):
    print("ready", flush=True)
    sys.stdin.readline()
    before = time.process_time()
    write()
    print(time.process_time() - before, flush=True)
"""
WRITE = HEAD + """
import h5py
def write():
    with h5py.File(path, "r+") as f:
        for box, data in parts:
            f["a"][box] = data
if len(sys.argv) == 3:
    make()
    lead(int(sys.argv[2]))
else:
    parts = [(box, block(*box)) for box in windows(0)[int(sys.argv[3])::int(sys.argv[2])]]
    work(write)
"""
RASTER = HEAD + """
import warnings
import rasterio
from rasterio.windows import Window
warnings.simplefilter("ignore")
def write():
    with rasterio.open(path, "r+") as raster:
        for box, data in parts:
            raster.write(data, 1, window=Window.from_slices(*box))
if len(sys.argv) == 3:
    with rasterio.open(path, "w", driver="Zarr3", width=N, height=N, count=1, dtype="float64", COMPRESS="GZIP",
                       BLOCKSIZE=f"{CHUNK},{CHUNK}", SHARD=f"{SHARD},{SHARD}"):
        pass
    lead(2)
else:
    parts = [(box, block(*box)) for box in windows(int(sys.argv[2]))[int(sys.argv[3])::2]]
    work(write)
"""
DASK = HEAD + """
import dask.array as da
import zarrbridge.dask as zd
from distributed import Client, LocalCluster, wait

def filled(shift):
    edges = [0, *range(shift or SHARD, N, SHARD), N]
    sizes = tuple(b - a for a, b in zip(edges, edges[1:]))
    def fill(block_info=None):
        return block(*(slice(*place) for place in block_info[None]["array-location"]))
    return da.map_blocks(fill, dtype="f8", chunks=(sizes, sizes))

def main(client):
    def used():
        return time.process_time() + sum(client.run(time.process_time).values())
    words = sys.argv[2:]
    x = filled(0 if words[0] == "to_zarr" else int(words[0])).persist()
    wait(x)
    if words[0] == "to_zarr":
        import zarr
        def set_up():
            import zarr
            if words[1] == "zarrs":
                zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
        set_up()
        client.run(set_up)
        target = zarr.create_array(path, name="a", shape=(N, N), dtype="f8", shards=(SHARD, SHARD),
                                   chunks=(CHUNK, CHUNK), compressors=zarr.codecs.GzipCodec(level=1), fill_value=0)
        store = lambda: x.to_zarr(target)
    else:
        make()
        target = zd.H5Target(path, "a")
        client.run(lambda: __import__("h5py") and None)
        store = lambda: da.store(x, target, lock=False)
    cpu, began = used(), time.perf_counter()
    store()
    print(time.perf_counter() - began, used() - cpu)

if __name__ == "__main__":
    with LocalCluster(2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster, \\
            Client(cluster) as client:
        main(client)
"""
RANKS = """
import sys, time
import h5py, numpy as np
from mpi4py import MPI
world = MPI.COMM_WORLD
N, rank, size = 2048, world.rank, world.size
y, x = np.ogrid[rank:N:size, 0:N]
rows = np.floor(np.sin(y / 50) * 1000 + x * 7 % 1000).astype("f8")
world.barrier()
began, before = time.perf_counter(), time.process_time()
with h5py.File(sys.argv[1], "w", driver="mpio", comm=world) as f:
    d = f.create_dataset("a", (N, N), "f8", chunks=(128, 128), compression="gzip", compression_opts=1)
    with d.collective:
        d[rank::size] = rows
used = world.allreduce(time.process_time() - before)
if rank == 0:
    print(time.perf_counter() - began, used)
"""

LOCK = """
import os, sys
program = os.path.join(os.environ["ZARRBRIDGE_BUILD_DIR"], "tests/bench/zb-lock-bench")
os.execv(program, [program, *sys.argv[1:]])
"""


class Run(NamedTuple):
    text: str
    words: tuple
    threads: int = 1
    name: str = "x.zarr"
    connector: str = "zarr shards=512x512"
    locks: str = ""  # ZARRBRIDGE_LOCKS
    start: tuple = ()  # before the interpreter
    python: str = sys.executable


class Row(NamedTuple):
    what: str
    goal: str
    ours: Run
    other: Run


class Place:
    def __init__(self, build, scratch):
        self.build, self.scratch = build, scratch

    def once(self, run):
        """Seconds of the writing: elapsed, and of all processors."""
        folder = Path(tempfile.mkdtemp(dir=self.scratch))
        (folder / "main.py").write_text(run.text)
        environment = {**os.environ, "HDF5_PLUGIN_PATH": str(self.build / "hdf5-vol/plugins"),
                       "GDAL_DRIVER_PATH": str(self.build / "gdal-driver/plugins"), "GDAL_PAM_ENABLED": "NO",
                       "PYTHONPATH": str(TESTS.parent / "python"), "HDF5_VOL_CONNECTOR": run.connector,
                       "ZARRBRIDGE_NUM_THREADS": str(run.threads), "ZARRBRIDGE_LOCKS": run.locks,
                       "OMP_NUM_THREADS": "1",
                       "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_pml": "ob1",
                       "OMPI_MCA_btl": "self,sm"}
        done = subprocess.run([*run.start, run.python, "main.py", run.name, *run.words], cwd=folder, env=environment,
                              capture_output=True, text=True, timeout=600, check=False)
        shutil.rmtree(folder)
        if done.returncode != 0:
            raise SystemExit(f"{run.words}: {done.stdout}{done.stderr}")
        elapsed, used = map(float, done.stdout.split()[-2:])
        return elapsed, used


def rows():
    """The rows that can be measured here; those that cannot are told on standard error."""
    yield Row("2 processes of 1 thread beside 1 of 2 threads, h5py, aligned", "≤ 1.11",
              Run(WRITE, ("2",)), Run(WRITE, ("1",), threads=2))
    yield Row("rasterio, 2 processes: windows that cut shards beside aligned ones", "≤ 3",
              Run(RASTER, ("300",)), Run(RASTER, ("0",)))
    for locks in "local", "shared":
        yield Row(f"1000 times lock + unlock, `{locks}`, beside storing one raw shard of 64 MiB", "≤ 1",
                  Run(LOCK, ("lock",), locks=locks), Run(LOCK, ("shard",), locks=locks))
    import venvs
    python, problem = venvs.install("dask-zarr", "dask[array]", "distributed", "zarr>=3.1", "zarrs", system=True)
    if problem:
        print(f"no rows of Dask: {problem}", file=sys.stderr)
    else:
        dask = Run(DASK, ("0",), python=str(python))
        yield Row("Dask, 2 processes: blocks that cut shards beside aligned ones", "≤ 3",
                  dask._replace(words=("300",)), dask)
        yield Row("Dask, 2 processes: `da.store` to a store beside `da.to_zarr`", "≤ 0.2", dask,
                  dask._replace(words=("to_zarr", "python")))
        yield Row("the same beside `da.to_zarr` with zarrs", "≤ 0.2", dask, dask._replace(words=("to_zarr", "zarrs")))
    mpirun = shutil.which("mpirun.openmpi")
    if not mpirun or not (Path(sys.prefix) / "lib/python3/dist-packages/h5py/_debian_h5py_mpi").is_dir():
        print("no rows of MPI: mpirun.openmpi or python3-h5py-mpi is missing", file=sys.stderr)
        return
    ranks = Run(RANKS, (), start=(mpirun, "-n", "4", "--oversubscribe"), connector="zarr")
    yield Row("4 ranks, collective, interleaved rows of gzip chunks, beside an HDF5 file", "≤ 1", ranks,
              ranks._replace(name="x.h5", connector=""))


def measure(place, row, pairs):
    times = [(place.once(row.ours), place.once(row.other)) for _ in range(pairs)]
    elapsed, used = (statistics.median(a[i] / b[i] for a, b in times) for i in (0, 1))
    least = [min(t[side][i] for t in times) for side in (0, 1) for i in (0, 1)]
    return (f"| {row.what} | {row.goal} | {elapsed:.2f} | {used:.2f} | {least[0]:.2f} s, {least[1]:.2f} s | "
            f"{least[2]:.2f} s, {least[3]:.2f} s |")


def main():
    parser = argparse.ArgumentParser(prog="run_distributed.py")
    parser.add_argument("build", type=Path)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--only", default="", metavar="WORD", help="rows with this word")
    parser.add_argument("--scratch", type=Path, help="a directory for the stores")
    options = parser.parse_args()
    os.environ.setdefault("ZARRBRIDGE_BUILD_DIR", str(options.build.resolve()))
    place = Place(options.build.resolve(), options.scratch)
    print("| what | goal | elapsed | processors | the first: elapsed, processors | the second |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for row in rows():
        if options.only in row.what:
            print(measure(place, row, options.pairs), flush=True)


if __name__ == "__main__":
    main()
