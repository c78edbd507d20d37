#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs the benchmark of stores on the network and prints, in Markdown, requests and times of each reader
beside the bound of the link.

    run_remote.py BUILD_DIRECTORY --data DIRECTORY [--peers PYTHON] [--rtt SECONDS ...]
                  [--bandwidth BYTES/S ...] [--rounds N]

The server is tests/remote/simserver.py, on loopback; its link has the round-trip time and the bandwidth
that are given. PYTHON is an interpreter that has zarr with obstore, and tensorstore. The stores, made once
in DIRECTORY, have 8192 x 8192 int16 in zstd: `shards` 16 shards of 2048 x 2048 with chunks of 256 x 256,
`chunks` 256 chunks of 512 x 512; `group` has 50 small arrays and consolidated metadata.

Each reader runs in a process of its own, and each time is the least of the rounds."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROWS = ["open", "cold window", "next window", "tiles", "whole shards", "whole chunks", "group"]
TRIPS = {"open": 1, "cold window": 2, "next window": 1, "tiles": 2, "whole shards": 2,
         "whole chunks": 2, "group": 1}


def make(folder):
    """The store, once."""
    import zarr

    store = folder / "bench.zarr"
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
    (store / "sum.json").write_text(str(int(values[::997, ::991].astype("i8").sum())))


class Server:
    def __init__(self, folder, rtt, bandwidth):
        self.process = subprocess.Popen(
            [sys.executable, HERE.parent / "remote/simserver.py", folder, "--rtt", str(rtt),
             "--handshake", "0"] + (["--bandwidth", str(bandwidth)] if bandwidth else []),
            stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.terminate()
        self.process.wait()


def measure(python, reader, url, environment, rounds):
    """For each row the least time with its requests, and the bytes."""
    best = {}
    for _ in range(rounds):
        done = subprocess.run([python, HERE / "remote_peers.py", reader, url], env=environment,
                              capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{reader} failed: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        for line in map(json.loads, done.stdout.splitlines()):
            if line["what"] not in best or line["ms"] < best[line["what"]]["ms"]:
                best[line["what"]] = line
    return best


def print_table(rtt, bandwidth, results):
    speed = f"{bandwidth / 1e6:.0f} MB/s" if bandwidth else "no bound"
    print(f"\nRound trip {rtt * 1000:.0f} ms, link {speed}; requests / ms, and times the bound\n")
    print("| | " + " | ".join(["bound, ms", *results]) + " |")
    print("| --- |" + " --- |" * (len(results) + 1))
    for row in ROWS:
        ours = results["ours"].get(row)
        if not ours:
            continue
        bound = 1000 * (TRIPS[row] * rtt + (ours["bytes"] / bandwidth if bandwidth else 0))
        cells = []
        for lines in results.values():
            line = lines.get(row)
            ratio = f", {line['ms'] / bound:.2f}" if line and bound else ""
            cells.append(f"{line['requests']} / {line['ms']:.0f}{ratio}" if line else "")
        print(f"| {row} | {bound:.0f} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--peers")
    parser.add_argument("--rtt", type=float, nargs="*", default=[0.05])
    parser.add_argument("--bandwidth", type=float, nargs="*", default=[200e6])
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    chosen.data.mkdir(parents=True, exist_ok=True)
    make(chosen.data)
    environment = {name: value for name, value in os.environ.items()
                   if not name.lower().endswith("_proxy")}
    environment["ZARRBRIDGE_BUILD_DIR"] = str(chosen.build.resolve())
    for rtt in chosen.rtt:
        for bandwidth in chosen.bandwidth:
            with Server(chosen.data, rtt, bandwidth) as server:
                url = server.url + "/bench.zarr"
                results = {"ours": measure(sys.executable, "ours", url, environment, chosen.rounds)}
                for peer in ("obstore", "tensorstore") if chosen.peers else ():
                    results[peer] = measure(chosen.peers, peer, url, environment, chosen.rounds)
            print_table(rtt, bandwidth, results)


if __name__ == "__main__":
    main()
