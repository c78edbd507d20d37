#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs the benchmark of writing and prints, in Markdown, every goal with what was measured.

    run_writing.py BUILD_DIRECTORY [--data DIRECTORY] [--scratch DIRECTORY] [--rounds N]
                   [--only WORD] [--lines FILE]

As run.py, whose data sets are written again here: by zb-write-bench and by other writers, all below
one scratch folder (DATA/scratch unless --scratch says otherwise), none with syncing.
"""

import argparse
import shutil
import sys
from pathlib import Path

import run
from run import A, DEM, HERE, MIB, best

WRITE_CACHE = 256 * MIB  # the default of write_cache_bytes
SLABS = ["dem-shards-zstd", "dem-shards-gzip"]


class WriteBench(run.Bench):
    def measure(self):
        rounds = self.options.rounds
        venv = self.prepare()
        scratch = self.options.scratch or self.data / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        core, peers = self.find("zb-write-bench"), HERE / "write_peers.py"
        for dataset in filter(self.wants, A + DEM):
            store = self.data / f"{dataset}.zarr"
            self.run(core, store, scratch, rounds)
            self.run(sys.executable, peers, "zarr-python", store, scratch, rounds)
            for peer in ("zarrs", "tensorstore") if venv else ():
                self.run(venv, peers, peer, store, scratch, rounds)
        shutil.rmtree(scratch)


def goals(bench):
    """Rows as run.goals gives them."""
    get = bench.get
    for name in A + DEM:
        ours = get("core", name, "write")
        yield "core, whole", name, ours, "bare library", get("bare", name, "write"), 1.15
        for peer in ("zarr-python", "zarrs", "tensorstore"):
            yield "core, whole", name, ours, peer, get(peer, name, "write"), 1.0
    for name in DEM[1:]:
        whole = get("core", name, "write")
        yield "core, row by row", name, get("core", name, "rows"), "core, whole", whole, 1.5


def memory_rows(bench):
    """Rows (what, dataset, bytes, bound): write-back budget + 2 chunks a thread + 64 MiB."""
    chunk = {"A-raw": 32 * MIB, "A-zstd": 32 * MIB, "A-shards-zstd": 32 * MIB, "A-gzip": MIB // 2}
    for name in A + DEM:
        bound = WRITE_CACHE + 2 * 2 * chunk.get(name, 8 * MIB) + 64 * MIB
        for what in ("write", "rows", "columns"):
            yield what, name, bench.get("core", name, f"peak-{what}", "bytes"), bound


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--scratch", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--lines", type=Path)
    bench = WriteBench(parser.parse_args())
    bench.measure()
    run.table(bench, goals, memory_rows, "writing")


if __name__ == "__main__":
    main()
