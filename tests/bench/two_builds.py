#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compares two builds of this project: what a change has done to reading, writing, calls and the network.

    two_builds.py BEFORE AFTER --data DIRECTORY [--parts reading writing calls network] [--rounds N] [--only WORD]

BEFORE and AFTER are release builds. DIRECTORY has the data sets of make_data.py; the network's store
is made there. Both builds take turns, row by row, and which of them begins changes with each round; each time is
the least of the rounds. It prints one table in Markdown: the times and their ratio. A row that got slower
by more than 3 % is measured again, twice as often, before it is printed; it is marked if it stays so. The
programs that run are those of each build's own source tree."""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import calls
from run_remote import PARTS, Server, make

SLOWER = 1.03


def lines_of(command, env):
    done = subprocess.run([str(word) for word in command], env=env, stdout=subprocess.PIPE, check=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def tree(build):
    """The source tree of a build: the C interface that Python's programs call may have changed."""
    cache = (build / "CMakeCache.txt").read_text().splitlines()
    home, = (line for line in cache if line.startswith("CMAKE_HOME_DIRECTORY"))
    return Path(home.partition("=")[2])


def environment(build):
    return {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")} | {
        "ZARRBRIDGE_BUILD_DIR": str(build), "ZARRBRIDGE_SOURCE_DIR": str(tree(build)),
        "HDF5_PLUGIN_PATH": str(build / "hdf5-vol/plugins"),
        "GDAL_DRIVER_PATH": str(build / "gdal-driver/plugins")}


def of_core(program, store, *arguments):
    """A job: the rows of a program of tests/bench on a store."""
    def job(build):
        command = build / "tests/bench" / program, store, *arguments, 2
        return {f"{line['what']} | {line['dataset'].removesuffix('.zarr')}": line["ms"]
                for line in lines_of(command, environment(build)) if line["peer"] == "core"}
    return job


def of_calls(build):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        env = calls.environment(build, place, True, "zarr store=all")
        rows, = lines_of([sys.executable, "-c", calls.CHILD, place, 1000, 10000], env)
    return {f"{what} | h5py": cpu / 1000 for what, (cpu, _) in rows.items() if what != calls.FLOOR}


def of_network(reader, part, url, bucket=None):
    """bucket: the server's folder, which is emptied before each run."""
    def job(build):
        env = environment(build)
        if bucket:
            shutil.rmtree(bucket, ignore_errors=True)
            bucket.mkdir()
            env["BUCKET"] = str(bucket)
        command = sys.executable, tree(build) / "tests/bench/remote_peers.py", reader, part, url
        return {f"{line['what']} | {reader}": line["ms"] for line in lines_of(command, env) if "what" in line}
    return job


def stores(options):
    found = sorted(options.data.glob("*.zarr"))
    return [s for s in found if options.only in s.name and s.name not in ("remote.zarr", "big.zarr")]


def jobs(options, cleanup):
    """(part, function of a build that gives the rows of one run)"""
    if "reading" in options.parts:
        for store in stores(options):
            yield "reading", of_core("zb-bench", store)
    if "writing" in options.parts:
        scratch = cleanup.enter_context(tempfile.TemporaryDirectory(dir="/dev/shm"))
        for store in stores(options):
            if not store.name.startswith("v2"):
                yield "writing", of_core("zb-write-bench", store, scratch)
    if "calls" in options.parts:
        yield "calls", of_calls
    if "network" in options.parts:
        make(options.data)
        server = cleanup.enter_context(Server(options.data, 0.02, 200e6, path="/remote.zarr"))
        for reader in "ours", "h5py", "gdal":
            for part in PARTS:
                yield "network", of_network(reader, part, server.url)
        folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory(dir=options.data, prefix="writing-")))
        bucket = folder / "bucket"
        bucket.mkdir()
        server = cleanup.enter_context(Server(folder, 0.02, 200e6, "sims3.py", ["--trusting"]))
        yield "network", of_network("ours", "write", server.url, bucket)


def measure(job, builds, rounds, best):
    for i in range(rounds):
        for which in (0, 1) if i % 2 == 0 else (1, 0):
            for row, ms in job(builds[which]).items():
                times = best.setdefault(row, [float("inf")] * 2)
                times[which] = min(times[which], ms)


def is_slower(times):
    return times[1] > SLOWER * times[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs=2, type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--parts", nargs="*", default=["reading", "writing", "calls", "network"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    builds = [build.resolve() for build in options.builds]
    print("| | what | data | before, ms | after, ms | ratio |\n| --- | --- | --- | ---: | ---: | ---: |")
    slower = total = 0
    with contextlib.ExitStack() as cleanup:
        for part, job in jobs(options, cleanup):
            best = {}
            measure(job, builds, options.rounds, best)
            if any(is_slower(times) for times in best.values()):
                measure(job, builds, 2 * options.rounds, best)
            for row, (before, after) in best.items():
                mark = " slower" if is_slower((before, after)) else ""
                print(f"| {part} | {row} | {before:.4g} | {after:.4g} | {after / before:.3f}{mark} |", flush=True)
                slower, total = slower + bool(mark), total + 1
    print(f"\n{total} rows, {slower} of them slower by more than {SLOWER - 1:.0%}")


if __name__ == "__main__":
    main()
