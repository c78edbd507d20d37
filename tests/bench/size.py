#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What stores of many nodes cost: time, processor time and the memory of whole processes.

    tests/bench/size.py build/release [--nodes 100000] [--scratch DIR] [--only WORD]

prints the rows of docs/performance.md, "Size". The stores are made in a folder of their own and
removed again; documents are hard links to a few files. Needs h5py, and h5ls for its row."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GROUP = {"zarr_format": 3, "node_type": "group", "attributes": {}}
ARRAY = {"zarr_format": 3, "node_type": "array", "shape": [10, 20], "data_type": "float32",
         "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10, 20]}},
         "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
         "fill_value": 0.0,
         "codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
                    {"name": "zstd", "configuration": {"level": 0, "checksum": False}}],
         "attributes": {"units": "K", "long_name": "temperature"}}
MOST_LINKS = 30000  # file systems limit the hard links to one file


class Links:
    """Writes one text again and again."""

    def __init__(self, document):
        self.text = json.dumps(document)
        self.last, self.count = None, 0

    def put(self, path):
        if self.count % MOST_LINKS == 0:
            path.write_text(self.text)
            self.last = path
        else:
            os.link(self.last, path)
        self.count += 1


def make_tree(root, nodes, width=1000):
    """Groups of `width` nodes, themselves included."""
    arrays, groups = Links(ARRAY), Links(GROUP)
    root.mkdir()
    groups.put(root / "zarr.json")
    names = []
    for g in range(nodes // width):
        group = root / f"g{g:04}"
        group.mkdir()
        groups.put(group / "zarr.json")
        names.append(group.name)
        for a in range(width - 1):
            array = group / f"a{a:06}"
            array.mkdir()
            arrays.put(array / "zarr.json")
            names.append(f"{group.name}/{array.name}")
    return names


def consolidate(root, names):
    """As zarr-python does it, with its indentation."""
    def block(metadata):
        return {"kind": "inline", "must_understand": False, "metadata": metadata}
    inside = GROUP | {"consolidated_metadata": block({})}
    entries = {name: ARRAY if "/" in name else inside for name in names}
    (root / "zarr.json").unlink()
    (root / "zarr.json").write_text(
        json.dumps(GROUP | {"consolidated_metadata": block(entries)}, indent=2))


def run(name, command, env):
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=env, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    process.returncode = status
    if status:
        sys.exit(f"{name}: {command} failed")
    cpu = usage.ru_utime + usage.ru_stime
    print(f"| {name} | {wall:.2f} s | {cpu:.2f} s | {usage.ru_maxrss / 1024:.0f} MiB |", flush=True)
    return output


ATTRIBUTE = """
import h5py, resource, sys, time
def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
with h5py.File(sys.argv[1], "r+") as file:
    array = file[sys.argv[2]]
    for i in range(3):
        wall, used = time.monotonic(), cpu()
        array.attrs["units"] = f"unit {i}"
        file.flush()
        row = time.monotonic() - wall, cpu() - used
    print("| h5py, one attribute and a flush, consolidated | %.2f s | %.2f s | %.0f MiB |"
          % (*row, peak()))
"""

VISIT = """
import h5py, sys
with h5py.File(sys.argv[1], "r") as file:
    count = [0]
    def see(name, node):
        count[0] += 1
    file.visititems(see)
    print(count[0])
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--nodes", type=int, default=100000)
    parser.add_argument("--scratch", type=Path)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    env = os.environ | {"HDF5_PLUGIN_PATH": str(args.build.resolve() / "hdf5-vol" / "plugins"),
                        "HDF5_VOL_CONNECTOR": "zarr"}
    scratch = Path(tempfile.mkdtemp(prefix="zarrbridge-size-", dir=args.scratch))
    try:
        root = scratch / "tree.zarr"
        names = make_tree(root, args.nodes)
        rows = [("h5ls -r", ["h5ls", "-r", str(root)]),
                ("h5py visititems", [sys.executable, "-c", VISIT, str(root)])]
        print(f"| {args.nodes} nodes | time | processor | memory |\n| --- | ---: | ---: | ---: |")
        for name, command in rows:
            if args.only in name:
                run(name, command, env)
        if args.only in "attribute":
            consolidate(root, names)
            print(subprocess.run([sys.executable, "-c", ATTRIBUTE, str(root), names[-1]], env=env,
                                 stdout=subprocess.PIPE, text=True, check=True).stdout, end="")
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
