#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What stores of many nodes cost: time, processor time and the memory of whole processes.

    tests/bench/size.py build/release [--nodes 100000] [--width 1000] [--chunks 1000000]
        [--scratch DIR] [--only WORD]

prints the rows of docs/performance.md, "Size", those whose name has the word. The stores are made in
a folder of their own and removed again; documents and chunks are hard links to a few files. Needs
h5py, and h5ls for its row."""
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


def make_tree(root, nodes, width):
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


def make_flat(root, extent, chunk, codecs):
    """A group with one array `a` of int32, without chunks."""
    codec_list = codecs or [{"name": "bytes", "configuration": {"endian": "little"}}]
    array = ARRAY | {"shape": [extent], "data_type": "int32", "fill_value": 0, "codecs": codec_list,
                     "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [chunk]}}}
    (root / "a" / "c").mkdir(parents=True)
    (root / "zarr.json").write_text(json.dumps(GROUP))
    (root / "a" / "zarr.json").write_text(json.dumps(array))


def make_chunks(root, count):
    """An array of `count` chunks in one directory."""
    make_flat(root, count, 1, None)
    chunks = Links(0)
    chunks.text = "1234"
    for i in range(count):
        chunks.put(root / "a" / "c" / str(i))


def make_shard(root, count):
    """An array of one shard that is not written yet, of `count` inner chunks of 16 elements."""
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    shard = {"chunk_shape": [16], "codecs": [little, ARRAY["codecs"][1]],
             "index_codecs": [little, {"name": "crc32c"}], "index_location": "end"}
    make_flat(root, 16 * count, 16 * count,
              [{"name": "sharding_indexed", "configuration": shard}])


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


MEMBER = """
import h5py, sys
with h5py.File(sys.argv[1], "r") as file:
    group = file["g0000"]
    names = list(group)
    print(len(names), group[names[len(names) // 2]].shape)
"""

STORAGE = """
import h5py, sys
with h5py.File(sys.argv[1], "r") as file:
    print(file["a"].id.get_storage_size())
"""

SHARD_WRITE = """
import h5py, numpy, sys
with h5py.File(sys.argv[1], "r+") as file:
    file["a"][:] = numpy.arange(file["a"].shape[0], dtype="int32")
"""

SHARD_PIECE = """
import h5py, sys
with h5py.File(sys.argv[1], "r") as file:
    at = file["a"].shape[0] // 2
    assert file["a"][at] == at
"""

SHARD_READ = """
import h5py, sys
with h5py.File(sys.argv[1], "r") as file:
    assert file["a"][:][-1] == file["a"].shape[0] - 1
"""


def measure_nodes(scratch, args, env):
    root = scratch / "tree.zarr"
    program = args.build.resolve() / "core" / "zarrbridge"
    rows = [("zarrbridge ls", [str(program), "ls", str(root)]),
            ("h5ls -r", ["h5ls", "-r", str(root)]),
            ("h5py visititems", [sys.executable, "-c", VISIT, str(root)]),
            ("h5py, names of a group and one member", [sys.executable, "-c", MEMBER, str(root)])]
    wanted = [row for row in rows if args.only in row[0]]
    print(f"| {args.nodes} nodes | time | processor | memory |\n| --- | ---: | ---: | ---: |")
    if not wanted and args.only not in "attribute":
        return
    names = make_tree(root, args.nodes, args.width)
    for name, command in wanted:
        run(name, command, env)
    if args.only in "attribute":
        consolidate(root, names)
        print(subprocess.run([sys.executable, "-c", ATTRIBUTE, str(root), names[-1]], env=env,
                             stdout=subprocess.PIPE, text=True, check=True).stdout, end="")


def measure_chunks(scratch, count, only, env):
    rows = [("storage size", STORAGE, make_chunks, "chunks.zarr"),
            ("shard, written", SHARD_WRITE, make_shard, "shard.zarr"),
            ("shard, one inner chunk", SHARD_PIECE, None, "shard.zarr"),
            ("shard, read", SHARD_READ, None, "shard.zarr")]
    # what the rows of a shard read is what the first of them writes
    for name, program, make, store in rows:
        if only not in name.split(",")[0]:
            continue
        if make:
            make(scratch / store, count)
        run(name, [sys.executable, "-c", program, str(scratch / store)], env)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--nodes", type=int, default=100000)
    parser.add_argument("--width", type=int, default=1000, help="nodes of a group, itself included")
    parser.add_argument("--chunks", type=int, default=1000000)
    parser.add_argument("--scratch", type=Path)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    env = os.environ | {"HDF5_PLUGIN_PATH": str(args.build.resolve() / "hdf5-vol" / "plugins"),
                        "HDF5_VOL_CONNECTOR": "zarr"}
    scratch = Path(tempfile.mkdtemp(prefix="zarrbridge-size-", dir=args.scratch))
    try:
        measure_nodes(scratch, args, env)
        measure_chunks(scratch, args.chunks, args.only, env)
    finally:
        shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
