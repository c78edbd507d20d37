#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs the whole benchmark and prints, in Markdown, every goal with its times.

    run.py BUILD_DIRECTORY [--data DIRECTORY] [--rounds N] [--passes N] [--only WORD] [--big]
           [--lines FILE]

BUILD_DIRECTORY holds zb-bench and the plugins (a release build). The data sets (1.3 GB) are made on
the first run, in BUILD_DIRECTORY/bench-data unless --data says otherwise. All numbers of a table
come from one run on one machine with a warm page cache: each program measures each thing --rounds
times and all programs run --passes times, so that a slow minute of the machine does not hit a
single program; the least time counts. No test depends on these times. --only keeps the data sets
whose name holds WORD, --big adds gdal_translate of a raster of 4.8 GB, --lines keeps the raw JSON
lines.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from goals import (A, DEM, GDAL_CACHE_MIB, GDAL_STORES, H5PY_KINDS, H5PY_STORES, KINDS, READING,
                   WINDOW_GOALS, peers_of, print_tables)

HERE = Path(__file__).resolve().parent


class Bench:
    """Runs programs and keeps their measurements: (peer, dataset, what) -> line."""

    def __init__(self, options):
        self.options = options
        self.build = options.build.resolve()
        self.data = (options.data or self.build / "bench-data").resolve()
        self.lines = {}
        self.skipped = []
        self.environment = os.environ | {
            "HDF5_PLUGIN_PATH": str(self.build / "hdf5-vol" / "plugins"),
            "GDAL_DRIVER_PATH": str(self.build / "gdal-driver" / "plugins"),
            "GDAL_CACHEMAX": str(GDAL_CACHE_MIB),
            "PYTHONWARNINGS": "ignore",
            "ZARR_ARRAY__RECTILINEAR_CHUNKS": "True",
        }

    def wants(self, dataset):
        return self.options.only in dataset

    def run(self, *command):
        """Runs a program that prints JSON lines, and takes them in."""
        command = [str(word) for word in command]
        print("..", *command[-3:], file=sys.stderr, flush=True)
        done = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            self.skip(f"`{' '.join(command[-3:])}` failed")
        for text in done.stdout.splitlines():
            line = json.loads(text)
            line["dataset"] = line["dataset"].removesuffix(".zarr")
            self.keep(line)
            if self.options.lines:
                with open(self.options.lines, "a") as file:
                    file.write(json.dumps(line) + "\n")

    def keep(self, line):
        """The least time and the most memory of all passes."""
        kept = self.lines.setdefault((line["peer"], line["dataset"], line["what"]), line)
        for field, choose in ("ms", min), ("cpu", min), ("extra", max):
            if field in line:
                kept[field] = choose(kept[field], line[field])

    def get(self, peer, dataset, what, field="ms"):
        return self.lines.get((peer, dataset, what), {}).get(field)

    def measure(self):
        venv = subprocess.run([HERE.parents[1] / "tools" / "bench-venv", self.data / "venv"],
                              stdout=subprocess.PIPE, text=True)
        self.has_venv = venv.returncode == 0
        self.python = venv.stdout.strip() if self.has_venv else sys.executable
        if not self.has_venv:
            self.skip("zarr-python 3.4, zarrs and TensorStore: they could not be installed")
        subprocess.run([self.python, HERE / "make_data.py", self.data], check=True,
                       env=self.environment, stdout=sys.stderr)
        for _ in range(self.options.passes):
            for command in self.programs():
                self.run(*command, self.options.rounds)

    def datasets(self):
        """The wanted ones. Those that make_data.py has left out are not there."""
        for dataset in filter(self.wants, A | DEM | KINDS):
            if (self.data / f"{dataset}.zarr").exists():
                yield dataset
            else:
                self.skip(f"{dataset}: only zarr-python 3.4 can write it")

    def peers(self, dataset):
        """zarr-python, and what is installed beside it."""
        return ("zarr-python", *(peers_of(dataset) if self.has_venv else ()))

    def skip(self, text):
        if text not in self.skipped:
            self.skipped.append(text)

    def find(self, name):
        for path in (self.build / "tests" / "bench" / name, self.build / name):
            if path.exists():
                return path
        sys.exit(f"no {name} in {self.build}: build with -DZARRBRIDGE_BUILD_BENCH=ON")


class ReadBench(Bench):
    def measure(self):
        super().measure()
        if self.options.big:
            self.measure_big()

    def programs(self):
        """The commands, without the rounds: programs that are compared run one after the other."""
        own_driver = self.own_driver()
        core, peers = self.find("zb-bench"), HERE / "peers.py"
        through_h5py = H5PY_STORES | H5PY_KINDS
        for dataset in self.datasets():
            store = self.data / f"{dataset}.zarr"
            yield core, store
            if dataset in through_h5py:
                yield self.python, peers, "h5py", store
            for peer in self.peers(dataset):
                yield self.python, peers, peer, store
            if dataset in GDAL_STORES:
                yield self.python, peers, "gdal", store
            if own_driver and dataset in WINDOW_GOALS:
                for peer in ("windows-ours", "windows-own"):
                    yield self.python, peers, peer, store
        for peer, stores in (("h5py", through_h5py), ("gdal", GDAL_STORES)):
            for file in sorted({stores[name] for name in self.datasets() if name in stores}):
                yield self.python, peers, peer, self.data / file

    def own_driver(self):
        """Whether GDAL's own Zarr driver reads sharded version 3."""
        version = subprocess.run(["gdalinfo", "--version"], capture_output=True, text=True).stdout
        version = version.split()[1].rstrip(",")
        if tuple(map(int, version.split(".")[:2])) >= (3, 13):
            return True
        self.skip(f"GDAL's own Zarr driver: that of GDAL {version} reads no shards, 3.13's does")
        return False

    def measure_big(self):
        """gdal_translate of a raster far larger than memory should be: its peak, less that of
        gdal_translate with next to nothing to do."""
        target = self.data / "big.tif"
        command = ["gdal_translate", "-q", "-co", "TILED=YES", "-co", "COMPRESS=ZSTD", "-co",
                   "ZSTD_LEVEL=1", "-co", "BIGTIFF=YES", "-co", "NUM_THREADS=2",
                   str(self.data / "big.zarr"), str(target)]
        small = self.peak_of(*command, "-srcwin", "0", "0", "16", "16")
        large = self.peak_of(*command)
        target.unlink(missing_ok=True)
        if small and large:
            self.lines["gdal+ours", "big", "translate"] = {"extra": large - small}

    def peak_of(self, *command):
        """The peak of a program's resident bytes, or None when it failed."""
        print("..", *command, file=sys.stderr, flush=True)
        process = subprocess.Popen(command, env=self.environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            self.skip(f"`{' '.join(command)}` failed")
            return None
        return usage.ru_maxrss * 1024


def parser(text):
    result = argparse.ArgumentParser(description=text.split("\n")[0])
    result.add_argument("build", type=Path)
    result.add_argument("--data", type=Path)
    result.add_argument("--rounds", type=int, default=3)
    result.add_argument("--passes", type=int, default=2)
    result.add_argument("--only", default="")
    result.add_argument("--lines", type=Path)
    return result


def main():
    options = parser(__doc__)
    options.add_argument("--big", action="store_true", help="gdal_translate of 4.8 GB as well")
    bench = ReadBench(options.parse_args())
    bench.measure()
    print_tables(bench, READING)


if __name__ == "__main__":
    main()
