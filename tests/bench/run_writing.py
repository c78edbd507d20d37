#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs the benchmark of writing and prints, in Markdown, every goal with its times.

    run_writing.py BUILD_DIRECTORY [--data DIRECTORY] [--scratch DIRECTORY] [--rounds N]
                   [--passes N] [--only WORD] [--lines FILE]

As run.py, whose data sets are written again here: by zb-write-bench, by other writers and through
the plugins, all in one new folder below DATA (or --scratch), none with syncing.
"""

import tempfile
from pathlib import Path

import run
from goals import H5PY_WRITES, VERSION_2, WRITING, print_tables


class WriteBench(run.Bench):
    def measure(self):
        self.data.mkdir(parents=True, exist_ok=True)
        place = self.options.scratch or self.data
        with tempfile.TemporaryDirectory(dir=place, prefix="writing-") as self.scratch:
            super().measure()

    def programs(self):
        core, peers = self.find("zb-write-bench"), run.HERE / "write_peers.py"
        for dataset in self.datasets():
            if dataset in VERSION_2:
                continue
            store = self.data / f"{dataset}.zarr"
            yield core, store, self.scratch
            if dataset in H5PY_WRITES:
                yield self.python, peers, "h5py", store, self.scratch
            for peer in self.peers(dataset):
                yield self.python, peers, peer, store, self.scratch
        if self.wants("dem.tif"):
            yield self.python, peers, "gdal", self.data / "dem.tif", self.scratch


def main():
    parser = run.parser(__doc__)
    parser.add_argument("--scratch", type=Path)
    bench = WriteBench(parser.parse_args())
    bench.measure()
    print_tables(bench, WRITING)


if __name__ == "__main__":
    main()
