#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Shows how the time for attributes grows with their number: for N and for 4 N of one node.

    attributes.py BUILD_DIRECTORY [N]

Opening, listing, iterating and reading have to grow with the number; writing one by one (an eighth of them)
with its square, as each one writes the document anew. A ratio above its bound in the table points
to a step that searches where it should look up, or that makes something anew for each attribute;
the exit status is 1 then. The compared times are those of the processor, the least of three runs.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CHILD = """
import json, sys, time
import h5py
from pathlib import Path

place, count, written = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
times = {}

def timed(what, call):
    start = time.process_time()
    result = call()
    times[what] = time.process_time() - start
    return result

names = [f"attribute {i}" for i in range(count)]
(place / "many.zarr").mkdir()
(place / "many.zarr" / "zarr.json").write_text(json.dumps({
    "zarr_format": 3, "node_type": "group", "attributes": {name: 1 for name in names}}))
f = timed("open", lambda: h5py.File(place / "many.zarr"))
timed("list", lambda: list(f.attrs))
timed("iterate over", lambda: h5py.h5a.iterate(f.id, lambda name: None))
timed("read each by its name", lambda: [f.attrs[name] for name in names])
with h5py.File(place / "new.zarr", "w") as f:
    def write():
        for name in names[:written]:
            f.attrs[name] = 1
    timed("write one by one", write)
print(json.dumps(times))
"""

# step -> the largest ratio of the times for four times as many attributes
BOUNDS = {"open": 8, "list": 8, "iterate over": 8, "read each by its name": 8, "write one by one": 32}


def measure(build, count):
    best = {}
    environment = os.environ | {"HDF5_PLUGIN_PATH": str(build / "hdf5-vol" / "plugins"),
                                "HDF5_VOL_CONNECTOR": "zarr"}
    shm = Path("/dev/shm")
    for _ in range(3):
        with tempfile.TemporaryDirectory(dir=shm if shm.is_dir() else None) as place:
            done = subprocess.run([sys.executable, "-c", CHILD, place, str(count), str(count // 8)],
                                  env=environment, stdout=subprocess.PIPE, check=True, text=True)
        for what, seconds in json.loads(done.stdout).items():
            best[what] = min(seconds, best.get(what, seconds))
    return best


def main():
    build = Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    few, many = measure(build, count), measure(build, 4 * count)
    print(f"| h5py | {count} | {4 * count} | ratio | bound |\n|---|---|---|---|---|")
    failed = False
    for what, bound in BOUNDS.items():
        ratio = many[what] / few[what]
        failed |= ratio > bound
        print(f"| {what} | {few[what] * 1e3:.1f} ms | {many[what] * 1e3:.1f} ms | {ratio:.1f} | "
              f"{bound}{' MISSED' if ratio > bound else ''} |")
    sys.exit(failed)


if __name__ == "__main__":
    main()
