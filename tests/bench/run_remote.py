#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs the benchmark of stores on the network and prints, in Markdown, requests and times of each reader
beside the bound of the link.

    run_remote.py BUILD_DIRECTORY --data DIRECTORY [--peers PYTHON] [--rtt SECONDS ...]
                  [--bandwidth BYTES/S ...] [--matrix] [--only READER ...] [--parts reading|writing ...]
                  [--rounds N]

The server is tests/remote/simserver.py, on loopback; its link has the round-trip time and the bandwidth
that are given; --matrix takes 0, 20, 50, and 100 ms by 100, 200, and 400 MB/s. The stores, made once in
DIRECTORY, have 8192 x 8192 int16 in zstd: `shards` 16 shards of 2048 x 2048 with chunks of 256 x 256,
`chunks` 256 chunks of 512 x 512; `group` has 50 small arrays. Their metadata are consolidated.

PYTHON is an interpreter with zarr-python, obstore, fsspec, aiohttp, and tensorstore (tools/bench-venv);
without it they are taken from the one that runs this. GDAL's own driver reads Zarr version 3 from GDAL
3.13 on: tools/test-in forky has it. The last lines count the readers, and name those that are not there.

The last rows are of writing: 16384 x 16384 int16 in 16 shards of 4096 x 4096 (32 MiB) with chunks of 256 x
256, zstd 3, to an S3 of our own (tests/remote/sims3.py) behind such a link, which looks at no signature;
`its encoding` is the same to memory, and `processors busy` the time that all processors need for what the writer, and
the server, do: where that is more than the bound, the machine is the bound.

Each part of a reader runs in a process of its own, all take turns, and each time is the least of the
rounds."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from remote_thread import seconds_of

HERE = Path(__file__).resolve().parent
READERS = ["ours", "h5py", "gdal", "obstore", "fsspec", "tensorstore", "gdal-own-1", "gdal-own-16"]
OF_PYTHON = {"obstore", "fsspec", "tensorstore"}
PARTS = ["windows", "shards", "chunks", "group"]
WRITERS = ["ours", "obstore", "fsspec", "tensorstore"]
# The round trips that cannot be spared.
TRIPS = {"open": 1, "cold window": 2, "next window": 1, "tiles": 2, "whole shards": 2,
         "whole chunks": 2, "group": 1, "whole write": 2, "its encoding": 0}
MATRIX = {"rtt": [0, 0.02, 0.05, 0.1], "bandwidth": [100e6, 200e6, 400e6]}


def make(folder):
    """The store, once."""
    import zarr

    store = folder / "remote.zarr"
    if (store / "sum.json").exists():
        return
    numbers = np.random.default_rng(1)
    values = numbers.integers(0, 256, (8192, 8192)).astype("i2")
    root = zarr.open_group(store, mode="w")
    root.create_array("shards", shape=values.shape, dtype="i2", chunks=(256, 256),
                      shards=(2048, 2048))[:] = values
    root.create_array("chunks", shape=values.shape, dtype="i2", chunks=(512, 512))[:] = values
    group = root.create_group("group")
    for i in range(50):
        group.create_array(f"a{i}", shape=(100, 100), chunks=(10, 10), dtype="f4")
    zarr.consolidate_metadata(store, path="group")
    zarr.consolidate_metadata(store)
    (store / "sum.json").write_text(str(int(values[::997, ::991].astype("i8").sum())))


class Server:
    def __init__(self, folder, rtt, bandwidth, program="simserver.py", options=("--handshake", "0"), path=""):
        self.process = subprocess.Popen(
            [sys.executable, HERE.parent / "remote" / program, folder, "--rtt", str(rtt), *options]
            + (["--bandwidth", str(bandwidth)] if bandwidth else []),
            stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip() + path

    def spent(self):
        """Processor seconds."""
        return seconds_of(Path("/proc", str(self.process.pid)))[1]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.terminate()
        self.process.wait()


class Results:
    """best: by reader and row, the line of the least time; versions: by reader; missing: why a reader
    or a part of it is not there."""

    def __init__(self):
        self.best, self.versions, self.missing = {}, {}, {}

    def take(self, reader, part, done, served=0):
        """served: processor seconds of the server."""
        if done.returncode == 3:
            self.missing[reader] = done.stderr.strip().splitlines()[-1]
        elif done.returncode:
            self.missing[f"{reader}, {part}"] = (done.stderr.strip().splitlines() or ["no words"])[-1]
        for line in map(json.loads, done.stdout.splitlines()):
            if "version" in line:
                self.versions[reader] = line["version"]
                self.best.setdefault(reader, {})
                continue
            line["served"] = served
            known = self.best[reader].get(line["what"])
            if not known or line["ms"] < known["ms"]:
                self.best[reader][line["what"]] = line


def run_part(chosen, reader, part, server, environment, results):
    if reader in results.missing or f"{reader}, {part}" in results.missing:
        return
    python = chosen.peers if reader in OF_PYTHON else sys.executable
    before = server.spent()
    done = subprocess.run([python, HERE / "remote_peers.py", reader, part, server.url], env=environment,
                          capture_output=True, text=True, check=False)
    results.take(reader, part, done, server.spent() - before)


def measure_reading(chosen, server, environment, results):
    for _ in range(chosen.rounds):
        for part in PARTS:
            for reader in chosen.only:
                run_part(chosen, reader, part, server, environment, results)


def measure_writing(chosen, rtt, bandwidth, environment, results):
    """Each writer into an empty bucket."""
    with tempfile.TemporaryDirectory(dir=chosen.data, prefix="writing-") as folder:
        bucket = Path(folder, "bucket")
        bucket.mkdir()
        with Server(folder, rtt, bandwidth, "sims3.py", ["--trusting"]) as server:
            for _ in range(chosen.rounds):
                for part, writers in (("write", WRITERS), ("encode", ["ours"])):
                    for writer in [name for name in chosen.only if name in writers]:
                        run_part(chosen, writer, part, server, environment | {"BUCKET": str(bucket)}, results)
                        shutil.rmtree(bucket)
                        bucket.mkdir()


def print_table(rtt, bandwidth, results):
    speed = f"{bandwidth / 1e6:.0f} MB/s" if bandwidth else "no bound"
    print(f"\nRound trip {rtt * 1000:.0f} ms, link {speed}; requests / ms, and times the bound\n")
    print("| | " + " | ".join(["bound, ms", *results.best]) + " |")
    print("| --- |" + " ---: |" * (len(results.best) + 1))
    for row, trips in TRIPS.items():
        lines = [reader.get(row) for reader in results.best.values()]
        if not any(lines):
            continue
        fewest = min((line["bytes"] + line["taken"] for line in lines if line), default=0)
        bound = 1000 * (trips * rtt + (fewest / bandwidth if bandwidth else 0))
        cells = []
        for line in lines:
            ratio = f", {line['ms'] / bound:.2f}" if line and bound else ""
            cells.append(f"{line['requests']} / {line['ms']:.0f}{ratio}" if line else "")
        print(f"| {row} | {bound:.0f} | " + " | ".join(cells) + " |")
        if row == "whole write":
            busy = [[f"{1000 * line[who] / os.cpu_count():.0f}" for who in ("spent", "served")] if line else []
                    for line in lines]
            print("| processors busy | | " + " | ".join(" + ".join(two) for two in busy) + " |")
    print(f"\n{len(results.best)} readers: "
          + "; ".join(f"{name} {version}".strip() for name, version in results.versions.items()))
    for name, reason in results.missing.items():
        print(f"not there: {name}: {reason}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--peers", default=sys.executable)
    parser.add_argument("--rtt", type=float, nargs="*", default=[0.05])
    parser.add_argument("--bandwidth", type=float, nargs="*", default=[200e6])
    parser.add_argument("--matrix", action="store_true")
    parser.add_argument("--only", nargs="*", choices=READERS, default=READERS)
    parser.add_argument("--parts", nargs="*", choices=["reading", "writing"], default=["reading", "writing"])
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    if chosen.matrix:
        chosen.rtt, chosen.bandwidth = MATRIX["rtt"], MATRIX["bandwidth"]
    chosen.data.mkdir(parents=True, exist_ok=True)
    if "reading" in chosen.parts:
        make(chosen.data)
    environment = {name: value for name, value in os.environ.items()
                   if not name.lower().endswith("_proxy")}
    build = chosen.build.resolve()
    environment |= {"ZARRBRIDGE_BUILD_DIR": str(build),
                    "HDF5_PLUGIN_PATH": str(build / "hdf5-vol/plugins"),
                    "GDAL_DRIVER_PATH": str(build / "gdal-driver/plugins")}
    for rtt in chosen.rtt:
        for bandwidth in chosen.bandwidth:
            results = Results()
            if "reading" in chosen.parts:
                with Server(chosen.data, rtt, bandwidth, path="/remote.zarr") as server:
                    measure_reading(chosen, server, environment, results)
            if "writing" in chosen.parts:
                measure_writing(chosen, rtt, bandwidth, environment, results)
            print_table(rtt, bandwidth, results)


if __name__ == "__main__":
    main()
