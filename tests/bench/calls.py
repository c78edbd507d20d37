#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What one call of HDF5 costs on a store, beside the same call on an HDF5 file.

    calls.py BUILD_DIRECTORY [--count 1000] [--names 10000] [--rounds 5] [--scratch DIR]

prints the tables of docs/performance.md, "Calls": microseconds for each call, of the processor and
of the clock, the least of some rounds. Both kinds take turns, each in a process of its own. The
first table is h5py's; its last row is what the file system alone takes for a new node: a directory
with a document in it. Rows with nothing written are what Python, h5py and all calls of HDF5 but
H5Dwrite take. The second one is of calls on ordinary HDF5 files, without the connector, with its
directory in HDF5_PLUGIN_PATH, and with HDF5_VOL_CONNECTOR as well. The third one puts the system
calls of a new group, without any work between them, beside a group in an HDF5 file."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

# row -> the goal: what it may cost at most, in times of the native call
GOALS = {"attribute set": 3, "group": 3, "dataset": 3, "dataset with maxshape": 3,
         "first listing, a name": 2, "small read": 1.3, "small read, chunked": 1.3}
FLOOR = "file system alone"

CHILD = """
import json, os, sys, time
import h5py, numpy

place, count, names = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rows = {}

class timed:
    def __init__(self, what, calls):
        self.what, self.calls = what, calls
    def __enter__(self):
        self.wall, self.cpu = time.perf_counter(), time.process_time()
    def __exit__(self, *_):
        cpu, wall = time.process_time() - self.cpu, time.perf_counter() - self.wall
        rows[self.what] = [1e6 * cpu / self.calls, 1e6 * wall / self.calls]

def fill(what, make):
    with h5py.File(f"{place}/{what}.store", "w") as f, timed(what, count):
        for i in range(count):
            make(f, i)
        f.flush()

def attribute(f, i):
    f.attrs[f"a{i}"] = i

def group(f, i):
    f.create_group(f"g{i}")

def dataset(f, i):
    f.create_dataset(f"d{i}", shape=(10,), dtype="i4")

def extendible(f, i):
    f.create_dataset(f"d{i}", shape=(10,), maxshape=(None,), chunks=(10,), dtype="i4")

def append(data, i):
    data.resize((i + 1,))
    data[i] = i

fill("attribute set", attribute)
fill("group", group)
fill("dataset", dataset)
fill("dataset with maxshape", extendible)

with h5py.File(f"{place}/rows.store", "w") as f:
    data = f.create_dataset("d", (0,), maxshape=(None,), chunks=(1000,), dtype="f8")
    with timed("append a row", count):
        for i in range(count):
            append(data, i)
        f.flush()

with h5py.File(f"{place}/names.store", "w") as f:
    for i in range(names):
        f.create_dataset(f"d{i}", shape=(10,), chunks=(10,), dtype="i4")
with h5py.File(f"{place}/names.store") as f, timed("first listing, a name", names):
    assert len(list(f)) == names

with h5py.File(f"{place}/data.store", "w") as f:
    f["a"] = numpy.arange(10000)
    f.create_dataset("chunked", data=numpy.arange(10000), chunks=(1000,), compression="gzip")
with h5py.File(f"{place}/data.store") as f:
    with timed("open a dataset and read", count):
        for i in range(count):
            f["a"][:10]
    for what, name in ("small read", "a"), ("small read, chunked", "chunked"):
        data = f[name]
        data[:10]
        time.sleep(0.1)  # until its files are old enough to be kept in memory
        with timed(what, 5 * count):
            for i in range(5 * count):
                data[10:20]

class Silent(h5py.h5d.DatasetID):
    def write(self, *_, **__):
        pass

with h5py.File(f"{place}/large.store", "w") as f:
    written = numpy.random.default_rng(1).integers(1, 256, (count, 1 << 16), "u1")
    def filled(what):
        return f.create_dataset(what, written.shape, "u1", chunks=(8, 1 << 16))
    def write_rows(data):
        for i in range(count):
            data[i] = written[i]
        f.flush()
    data = filled("whole")
    with timed("rows of 64 KiB in one call, each", count):
        data[...] = written
        f.flush()
    data = filled("rows")
    with timed("rows of 64 KiB, one by one", count):
        write_rows(data)
    data = filled("low level")
    memory, file = h5py.h5s.create_simple((1, 1 << 16)), data.id.get_space()
    with timed("the same, h5py's low-level write", count):
        for i in range(count):
            file.select_hyperslab((i, 0), (1, 1 << 16))
            data.id.write(memory, file, written[i])
        f.flush()
    data = filled("silent")
    h5py.h5i.inc_ref(data.id)
    data._id = Silent(data.id.id)
    with timed("the same, with nothing written", count):
        write_rows(data)

os.mkdir(f"{place}/bare")
with timed("FLOOR", count):
    for i in range(count):
        os.mkdir(f"{place}/bare/{i}")
        file = os.open(f"{place}/bare/{i}/t", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        os.write(file, bytes(500))
        os.close(file)
        os.rename(f"{place}/bare/{i}/t", f"{place}/bare/{i}/zarr.json")
print(json.dumps(rows))
""".replace("FLOOR", FLOOR)


def environment(build, place, directory, variable):
    env = {k: v for k, v in os.environ.items() if not k.startswith("HDF5_")}
    env["HDF5_PLUGIN_PATH"] = str(build / "hdf5-vol" / "plugins" if directory else place)
    if variable:
        env["HDF5_VOL_CONNECTOR"] = variable
    return env


def keep_least(best, rows):
    for what, times in rows.items():
        best[what] = [min(a, b) for a, b in zip(best.get(what, times), times)]


def run(command, env):
    done = subprocess.run([str(c) for c in command], env=env, stdout=subprocess.PIPE, check=True,
                          text=True)
    return done.stdout


def measure_python(build, args):
    best = [{}, {}]
    for _ in range(args.rounds):
        for ours in 0, 1:
            with tempfile.TemporaryDirectory(dir=args.scratch) as place:
                env = environment(build, place, ours, ours and "zarr store=all")
                keep_least(best[ours], json.loads(
                    run([sys.executable, "-c", CHILD, place, args.count, args.names], env)))
    native, ours = best
    print("| h5py, µs a call | HDF5 file | clock | store | clock | ratio | clock | goal |\n"
          "|---|---|---|---|---|---|---|---|")
    for what, (cpu, wall) in native.items():
        if what == FLOOR:
            print(f"| {what} | | | {ours[what][0]:.1f} | {ours[what][1]:.1f} | | | |")
            continue
        cpu_ours, wall_ours = ours[what]
        print(f"| {what} | {cpu:.1f} | {wall:.1f} | {cpu_ours:.1f} | {wall_ours:.1f} "
              f"| {cpu_ours / cpu:.2f} | {wall_ours / wall:.2f} | {GOALS.get(what, '')} |")


def measure_native(build, args):
    ways = [(False, None), (True, None), (True, "zarr")]
    best = [{}, {}, {}]
    for _ in range(args.rounds):
        for way, (directory, variable) in enumerate(ways):
            with tempfile.TemporaryDirectory(dir=args.scratch) as place:
                env = environment(build, place, directory, variable)
                lines = run([build / "tests/bench/zb-hdf5-calls", place, args.count], env)
            rows = [line.split("\t") for line in lines.splitlines()]
            keep_least(best[way], {name: [float(number)] for name, number in rows})
    print("\n| HDF5 file, µs of processor a call | no connector | its directory | the variable |\n"
          "|---|---|---|---|")
    for what, (number,) in best[0].items():
        print(f"| {what} | {number:.6g} | {best[1][what][0]:.6g} | {best[2][what][0]:.6g} |")


def measure_floor(build, args):
    best = {}
    for _ in range(args.rounds):
        with tempfile.TemporaryDirectory(dir=args.scratch) as place:
            lines = run([build / "tests/bench/zb-node-calls", place, args.count],
                        environment(build, place, False, None))
        rows = [line.split("\t") for line in lines.splitlines()]
        keep_least(best, {name: [float(number)] for name, number in rows})
    print("\n| a loop of C, µs of processor a group | |\n|---|---|")
    for what, (number,) in best.items():
        print(f"| {what} | {number:.1f} |")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build", type=Path)
    p.add_argument("--count", type=int, default=1000)
    p.add_argument("--names", type=int, default=10000)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--scratch", type=Path)
    args = p.parse_args()
    build = args.build.resolve()
    measure_python(build, args)
    measure_native(build, args)
    measure_floor(build, args)


if __name__ == "__main__":
    main()
