#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs the whole benchmark and prints, in Markdown, every goal with what was measured.

    run.py BUILD_DIRECTORY [--data DIRECTORY] [--rounds N] [--only WORD] [--big] [--lines FILE]

BUILD_DIRECTORY holds zb-bench and the plugins (a release build). The data sets (1.3 GB) are made on
the first run, in BUILD_DIRECTORY/bench-data unless --data says otherwise. All numbers of a table
come from one run on one machine with a warm page cache; it decides nothing by itself: timings are
no tests. --only keeps the data sets whose name holds WORD, --big adds gdal_translate of a raster of
4.8 GB, --lines keeps the raw JSON lines.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MIB = 2**20

A = ["A-raw", "A-zstd", "A-shards-zstd", "A-gzip"]
DEM = ["dem-chunked-zstd", "dem-shards-zstd", "dem-shards-lz4", "dem-shards-gzip", "dem-shards-raw"]
WINDOW_GOALS = {"dem-shards-zstd": 0.6, "dem-shards-gzip": 0.6, "dem-shards-lz4": 0.5,
                "dem-shards-raw": 0.5}
H5PY_STORES = {"A-gzip": "A.h5", "A-shards-zstd": "A.h5", "dem-shards-zstd": "dem.h5"}
GDAL_STORES = {"dem-shards-zstd": "dem.tif"}
CACHE_MIB = 64  # GDAL_CACHEMAX for both GDAL drivers


class Bench:
    """Runs programs and keeps what they measured: (peer, dataset, what) -> line."""

    def __init__(self, options):
        self.options = options
        self.build = options.build.resolve()
        self.data = (options.data or self.build / "bench-data").resolve()
        self.lines = {}
        self.skipped = []
        self.environment = os.environ | {
            "HDF5_PLUGIN_PATH": str(self.build / "hdf5-vol" / "plugins"),
            "GDAL_DRIVER_PATH": str(self.build / "gdal-driver" / "plugins"),
            "GDAL_CACHEMAX": str(CACHE_MIB),
            "PYTHONWARNINGS": "ignore",
        }

    def wants(self, dataset):
        return self.options.only in dataset

    def run(self, *command):
        """Runs a program that prints JSON lines, and takes them in."""
        command = [str(word) for word in command]
        print("..", *command[-3:], file=sys.stderr, flush=True)
        done = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            self.skipped.append(f"`{' '.join(command[-3:])}` failed")
        for text in done.stdout.splitlines():
            line = json.loads(text)
            line["dataset"] = line["dataset"].removesuffix(".zarr")
            self.lines[line["peer"], line["dataset"], line["what"]] = line
            if self.options.lines:
                with open(self.options.lines, "a") as file:
                    file.write(json.dumps(line) + "\n")

    def get(self, peer, dataset, what, field="ms"):
        return self.lines.get((peer, dataset, what), {}).get(field)

    def prepare(self):
        """Makes what is missing of the data sets; returns the python with zarrs and TensorStore, or
        None."""
        subprocess.run([sys.executable, HERE / "make_data.py", self.data], check=True,
                       env=self.environment, stdout=sys.stderr)
        venv = subprocess.run([HERE.parents[1] / "tools" / "bench-venv", self.data / "venv"],
                              stdout=subprocess.PIPE, text=True)
        venv = venv.stdout.strip() if venv.returncode == 0 else None
        if not venv:
            self.skipped.append("zarrs and TensorStore: their packages could not be installed")
        return venv

    def measure(self):
        rounds = self.options.rounds
        venv = self.prepare()
        peers = HERE / "peers.py"
        core = self.find("zb-bench")
        for dataset in filter(self.wants, A + DEM):
            store = self.data / f"{dataset}.zarr"
            self.run(core, store, rounds)
            self.run(sys.executable, peers, "zarr-python", store, rounds)
            for peer in ("zarrs", "tensorstore") if venv else ():
                self.run(venv, peers, peer, store, rounds)
        for peer, stores in (("h5py", H5PY_STORES), ("gdal", GDAL_STORES)):
            wanted = [name for name in stores if self.wants(name)]
            for file in [f"{n}.zarr" for n in wanted] + sorted({stores[n] for n in wanted}):
                self.run(sys.executable, peers, peer, self.data / file, rounds)
        if self.options.big:
            self.measure_big()

    def find(self, name):
        for path in (self.build / "tests" / "bench" / name, self.build / name):
            if path.exists():
                return path
        sys.exit(f"no {name} in {self.build}: build with -DZARRBRIDGE_BUILD_BENCH=ON")

    def measure_big(self):
        """gdal_translate of a raster far larger than memory should be: its peak."""
        target = self.data / "big.tif"
        command = ["gdal_translate", "-q", "-co", "TILED=YES", "-co", "COMPRESS=ZSTD", "-co",
                   "ZSTD_LEVEL=1", "-co", "BIGTIFF=YES", "-co", "NUM_THREADS=2",
                   str(self.data / "big.zarr"), str(target)]
        print("..", *command, file=sys.stderr, flush=True)
        process = subprocess.Popen(command, env=self.environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            self.skipped.append("gdal_translate of big.zarr failed")
        else:
            self.lines["gdal+ours", "big", "peak"] = {"bytes": usage.ru_maxrss * 1024}
        target.unlink(missing_ok=True)


def best(pairs):
    """The (name, ms) with the least ms among those that were measured, or (None, None)."""
    return min((p for p in pairs if p[1]), key=lambda p: p[1], default=(None, None))


def goals(bench):
    """Rows (what, dataset, ours, reference's name, reference, goal): goal is a bound on the ratio
    ours/reference. ours or reference is None where it was not measured."""
    get = bench.get
    for name in A + DEM:
        ours = get("core", name, "whole")
        yield "core, whole", name, ours, "bare library", get("bare", name, "whole"), 1.15
        yield "core, whole", name, ours, "zarr-python", get("zarr-python", name, "whole"), 1.0
        rival = best((p, get(p, name, "whole")) for p in ("zarrs", "tensorstore"))
        yield "core, whole", name, ours, *rival, 1 / 1.7 if name in A else 1.0
    for name, goal in WINDOW_GOALS.items():
        rivals = ("zarr-python", "zarrs", "tensorstore")
        rival = best((p, get(p, name, "windows-256")) for p in rivals)
        yield "core, random 256^2 window", name, get("core", name, "windows-256"), *rival, goal
    for name in DEM[1:]:  # the window is one inner chunk of a shard
        decode = get("bare", name, "window-decode")
        ours = get("core", name, "window-warm")
        yield ("core, warm 256^2 window", name, ours, "bare decoding + 0.03 ms",
               decode and decode + 0.03, 1.0)
    for name in A + DEM:
        yield "core, open", name, get("core", name, "open"), "0.1 ms", 0.1, 1.0
    yield from plugin_goals(get)


def plugin_goals(get):
    for name, native in H5PY_STORES.items():
        core = get("core", name, "whole")
        ours = get("h5py+ours", name, "whole")
        yield ("h5py `[...]`", name, ours, "1.15 core + 1 ms", core and 1.15 * core + 1, 1.0)
        yield "h5py `[...]`", name, ours, f"native {native}", get("hdf5", native, "whole"), 0.25
        if native == "A.h5":
            for what in ("plane", "strided", "windows-64"):
                reference = get("hdf5", native, what)
                yield (f"h5py {what}", name, get("h5py+ours", name, what), f"native {native}",
                       reference, 1.0)
    for name, native in GDAL_STORES.items():
        for what in ("whole-band", "scanlines", "windows-700", "hillshade", "png"):
            yield (f"GDAL {what}", name, get("gdal+ours", name, what), f"GTiff {native}",
                   get("gtiff", native, what), 1.3)


def memory_rows(bench):
    """Rows (what, dataset, bytes, bound): destination + 64 MiB + 2 chunks a thread + 32 MiB, and
    through GDAL its block cache."""
    inner = {"A-gzip": 64**3 * 2, "A-shards-zstd": 64**3 * 2, "dem-shards-zstd": 256**2 * 2}
    for peer, names, more in (("h5py+ours", H5PY_STORES, 0),
                              ("gdal+ours", GDAL_STORES, CACHE_MIB * MIB)):
        for name in names:
            used = bench.get(peer, name, "peak", "bytes")
            size = bench.get(peer, name, "peak", "result") or 0
            yield peer, name, used, size + more + 96 * MIB + 4 * inner[name]
    # A process of its own, so GDAL itself (about 60 MiB) counts here.
    used = bench.get("gdal+ours", "big", "peak", "bytes")
    yield "gdal_translate, whole process", "big", used, (64 + 60) * MIB + 96 * MIB


def table(bench, goals, memory_rows, verb):
    print("| what | data | ours | reference | | ratio | goal | met |")
    print("| --- | --- | ---: | --- | ---: | ---: | ---: | --- |")
    for what, dataset, ours, name, reference, goal in goals(bench):
        if not bench.wants(dataset) or ours is None:
            continue
        if reference is None:
            print(f"| {what} | {dataset} | {ours:.3g} ms | not measured | | | {goal:.2f} | |")
            continue
        ratio = ours / reference
        met = "yes" if ratio <= goal else "**no**"
        print(f"| {what} | {dataset} | {ours:.3g} ms | {name} | {reference:.3g} ms | {ratio:.2f} "
              f"| {goal:.2f} | {met} |")
    print(f"\n| peak memory of {verb} | data | used | bound | met |")
    print("| --- | --- | ---: | ---: | --- |")
    for what, dataset, used, bound in memory_rows(bench):
        if used is not None:
            met = "yes" if used <= bound else "**no**"
            print(f"| {what} | {dataset} | {used / MIB:.0f} MiB | {bound / MIB:.0f} MiB | {met} |")
    for text in bench.skipped:
        print(f"\nLeft out: {text}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--big", action="store_true", help="gdal_translate of 4.8 GB as well")
    parser.add_argument("--lines", type=Path)
    bench = Bench(parser.parse_args())
    bench.measure()
    table(bench, goals, memory_rows, "a whole read")


if __name__ == "__main__":
    main()
