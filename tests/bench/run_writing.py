#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs the benchmark of writing and prints, in Markdown, every goal with what was measured.

    run_writing.py BUILD_DIRECTORY [--data DIRECTORY] [--scratch DIRECTORY] [--rounds N]
                   [--passes N] [--only WORD] [--lines FILE]

As run.py, whose data sets are written again here: by zb-write-bench and by other writers, all below
one scratch folder (DATA/scratch unless --scratch says otherwise), none with syncing.
"""

import shutil
import sys

import run
from goals import A, DEM, WRITING, print_tables


class WriteBench(run.Bench):
    def measure(self):
        self.scratch = self.options.scratch or self.data / "scratch"
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        super().measure()
        shutil.rmtree(self.scratch)

    def programs(self, venv):
        core, peers = self.find("zb-write-bench"), run.HERE / "write_peers.py"
        for dataset in filter(self.wants, A | DEM):
            store = self.data / f"{dataset}.zarr"
            yield core, store, self.scratch
            yield sys.executable, peers, "zarr-python", store, self.scratch
            for peer in ("zarrs", "tensorstore") if venv else ():
                yield venv, peers, peer, store, self.scratch


def main():
    parser = run.parser(__doc__)
    parser.add_argument("--scratch", type=run.Path)
    bench = WriteBench(parser.parse_args())
    bench.measure()
    print_tables(bench, WRITING)


if __name__ == "__main__":
    main()
