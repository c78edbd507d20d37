#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tells what the one thread that drives all requests reaches on a fast link, 10 Gbit/s by 50 ms unless
another one is given: MB/s of the first read in a process and of the next one, which knows the link, and
processor seconds for each GB of both, of that thread, of all threads and of the server.

    remote_thread.py BUILD_DIRECTORY --data DIRECTORY [--rtt SECONDS] [--bandwidth BYTES/S, 0: no bound]
                     [--flight MIB ...] [--rounds N]

`flight` are bytes under way (ZARRBRIDGE_REMOTE_FLIGHT_BYTES), the window twice as many; 0 leaves both as they are
without these variables. The array has 512 MiB
in 8 shards, not compressed, so that little is to be decoded; it is read whole. The server is
tests/remote/simserver.py: where its seconds and those of the threads come to all that the machine has, the
machine is the bound, and only the seconds for each GB tell something."""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
GB = 1e9
SIDE = 8192  # of a shard
SHARDS = 8


def make(folder):
    import zarr

    store = folder / "raw.zarr"
    if store.exists():
        return
    array = zarr.create_array(store, shape=(SIDE * SHARDS, SIDE), dtype="u1", chunks=(SIDE // 8, SIDE // 8),
                              shards=(SIDE, SIDE), compressors=None)
    values = np.random.default_rng(1).integers(0, 256, (SIDE, SIDE)).astype("u1")
    for shard in range(SHARDS):
        array[shard * SIDE:(shard + 1) * SIDE] = values


def seconds_of(folder):
    """Of the processor, and the name, of a process or a thread."""
    name, _, rest = (folder / "stat").read_text().partition("(")[2].rpartition(")")
    return name, sum(map(int, rest.split()[11:13])) / os.sysconf("SC_CLK_TCK")


def read(url):
    sys.path.insert(0, str(HERE.parent / "remote"))
    from remote_store import RemoteStore

    whole = np.ones((SIDE * SHARDS, SIDE), "u1")
    with RemoteStore(url) as store:
        store.read("", (1, 1), "u1")
        walls, all_before = [], time.process_time()
        for _ in range(2):
            begun = time.perf_counter()
            store.read_into("", (0, 0), (1, 1), whole)
            walls.append(time.perf_counter() - begun)
        spent = time.process_time() - all_before
        threads = [seconds_of(task) for task in Path("/proc/self/task").iterdir()]
    print(json.dumps({"first": walls[0], "next": walls[1], "all": spent, "thread": dict(threads)["zarrbridge-io"],
                      "bytes": whole.nbytes}))


def measure(chosen, build, flight):
    """The line of the least time for both reads."""
    best = None
    link = ["--bandwidth", str(chosen.bandwidth)] if chosen.bandwidth else []
    for _ in range(chosen.rounds):
        server = subprocess.Popen(
            [sys.executable, HERE.parent / "remote/simserver.py", chosen.data, "--rtt", str(chosen.rtt),
             "--handshake", "0", "--mapped", *link], stdout=subprocess.PIPE, text=True)
        try:
            url = server.stdout.readline().strip() + "/raw.zarr"
            environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")} | {
                "ZARRBRIDGE_BUILD_DIR": str(build), "ZARRBRIDGE_SOURCE_DIR": str(HERE.parents[1]),
                "ZARRBRIDGE_CACHE_BYTES": "0"}
            if flight:
                environment |= {"ZARRBRIDGE_REMOTE_FLIGHT_BYTES": str(flight << 20),
                                "ZARRBRIDGE_REMOTE_WINDOW_BYTES": str(flight << 21)}
            line = json.loads(subprocess.run([sys.executable, __file__, "--read", url], env=environment,
                                             stdout=subprocess.PIPE, check=True).stdout)
            line["server"] = seconds_of(Path("/proc", str(server.pid)))[1]
        finally:
            server.terminate()
            server.wait()
        if best is None or line["first"] + line["next"] < best["first"] + best["next"]:
            best = line
    return best


def main():
    if sys.argv[1:2] == ["--read"]:
        return read(sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rtt", type=float, default=0.05)
    parser.add_argument("--bandwidth", type=float, default=1.25e9)
    parser.add_argument("--flight", type=int, nargs="*", default=[0, 32, 64, 128])
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    chosen.data.mkdir(parents=True, exist_ok=True)
    make(chosen.data)
    print("| MiB under way | MB/s, first | MB/s, next | s/GB, the thread | all threads | the server |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for flight in chosen.flight:
        line = measure(chosen, chosen.build.resolve(), flight)
        amount = line["bytes"] / GB
        rates = " | ".join(f"{1e3 * amount / line[read]:.0f}" for read in ("first", "next"))
        costs = " | ".join(f"{line[name] / amount / 2:.2f}" for name in ("thread", "all", "server"))
        print(f"| {flight or 'default'} | {rates} | {costs} |", flush=True)
    return None


if __name__ == "__main__":
    main()
