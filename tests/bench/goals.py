# SPDX-License-Identifier: MIT
"""The data sets, the goals, and the tables that say which of them a run has met.

A goal is a row: an operation on a data set, our time, a reference from the same run, and the bound
on their ratio. To add one, yield it from a function below.
"""

import os

MIB = 2**20
GDAL_CACHE_MIB = 64  # GDAL_CACHEMAX of all GDAL programs here

# Bytes of a decoded chunk, of the innermost kind.
A = {"A-raw": 256**3 * 2, "A-zstd": 256**3 * 2, "A-shards-zstd": 64**3 * 2, "A-gzip": 64**3 * 2}
DEM = {"dem-chunked-zstd": 512**2 * 2, "dem-shards-zstd": 256**2 * 2,
       "dem-shards-lz4": 256**2 * 2, "dem-shards-gzip": 256**2 * 2, "dem-shards-raw": 256**2 * 2}
# The other forms of arrays; of words a chunk is its elements and their texts.
KINDS = {"words-raw": 10**5 * 32, "words-zstd": 10**5 * 32, "times-zstd": 2**20 * 8,
         "months-zstd": 744 * 60 * 64 * 2, "v2-gzip": 512**2 * 2, "filters-delta": 512**2 * 2,
         "filters-fixedscaleoffset": 512**2 * 4, "filters-bitround": 512**2 * 4,
         "filters-scale_offset": 512**2 * 4, "filters-shuffle": 512**2 * 4}
VERSION_2 = ["v2-gzip"]  # read only
CHUNK = A | DEM | KINDS | {"big": 256**2 * 2}
WRITTEN_CHUNK = {name: 32 * MIB if name in A else 8 * MIB for name in CHUNK if "shards" in name}
WRITE_CACHE = 256 * MIB  # the default of write_cache_bytes

WINDOW_GOALS = {"dem-shards-zstd": 0.6, "dem-shards-gzip": 0.6, "dem-shards-lz4": 0.5,
                "dem-shards-raw": 0.5}
H5PY_STORES = dict.fromkeys(A, "A.h5") | {"dem-shards-zstd": "dem.h5"}
H5PY_KINDS = {"words-zstd": "words.h5", "times-zstd": "times.h5"}
H5PY_WRITES = ["A-gzip", "dem-shards-gzip"]
GDAL_STORES = {"dem-shards-zstd": "dem.tif", "dem-chunked-zstd": "dem.tif"}


def peers_of(dataset):
    """The programs that are installed beside zarr-python and can read and write the data set."""
    strange = dataset in KINDS and dataset not in VERSION_2
    return ("zarrs",) if strange else ("zarrs", "tensorstore")


def best(pairs):
    """The (name, ms) with the least ms among those that were measured, or (None, None)."""
    return min((p for p in pairs if p[1]), key=lambda p: p[1], default=(None, None))


def core_goals(get):
    for name in A | DEM:
        ours = get("core", name, "whole")
        yield "core, whole", name, ours, "bare library", get("bare", name, "whole"), 1.15
        yield "core, whole", name, ours, "zarr-python", get("zarr-python", name, "whole"), 1.0
        rival = best((p, get(p, name, "whole")) for p in ("zarrs", "tensorstore"))
        yield "core, whole", name, ours, *rival, 1 / 1.7 if name in A else 1.0
    for name, goal in WINDOW_GOALS.items():
        rivals = ("zarr-python", "zarrs", "tensorstore", "windows-own")
        rival = best((p, get(p, name, "windows-256")) for p in rivals)
        yield "core, random 256^2 window", name, get("core", name, "windows-256"), *rival, goal
    for name in WINDOW_GOALS:  # the window is one inner chunk of a shard
        decode = get("bare", name, "window-decode")
        ours = get("core", name, "window-warm")
        yield ("core, warm 256^2 window", name, ours, "bare decoding + 0.03 ms",
               decode and decode + 0.03, 1.0)
    slowest = max(A | DEM, key=lambda name: get("core", name, "open") or 0)
    yield "core, open", slowest, get("core", slowest, "open"), "0.1 ms", 0.1, 1.0


def h5py_goals(get):
    for name, native in H5PY_STORES.items():
        core = get("core", name, "whole")
        ours = get("h5py+ours", name, "whole")
        yield "h5py `[...]`", name, ours, "1.15 core + 1 ms", core and 1.15 * core + 1, 1.0
        yield "h5py `[...]`", name, ours, f"native {native}", get("hdf5", native, "whole"), 0.25
        for what in ("plane", "strided", "windows-64") if name in A else ():
            yield (f"h5py {what}", name, get("h5py+ours", name, what), f"native {native}",
                   get("hdf5", native, what), 1.0)


def with_cpu(get, row, ours, reference, what):
    """A row that ends with the time of all threads, of ours and of the reference."""
    peers = get(*ours, what, "cpu"), get(*reference, what, "cpu")
    return (*row[:2], get(*ours, what), row[2], get(*reference, what), row[3], *peers)


def kind_goals(get, what="whole"):
    for name in KINDS:
        if what == "write" and name in VERSION_2:
            continue
        peers = [("bare", "bare library", 1.15)] if get("bare", name, what) else []
        peers += [(peer, peer, 1.0) for peer in ("zarr-python", *peers_of(name))]
        for peer, label, goal in peers:
            yield with_cpu(get, ("core, whole", name, label, goal), ("core", name), (peer, name),
                           what)


def kind_write_goals(get):
    return kind_goals(get, "write")


def h5py_kind_goals(get):
    for name, native in H5PY_KINDS.items():
        yield with_cpu(get, ("h5py `[...]`", name, f"native {native}", 1.0), ("h5py+ours", name),
                       ("hdf5", native), "whole")


def gdal_goals(get):
    for name, native in GDAL_STORES.items():
        for what in ("whole-band", "scanlines", "windows-700", "hillshade", "png"):
            yield (f"GDAL {what}", name, get("gdal+ours", name, what), f"GTiff {native}",
                   get("gtiff", native, what), 1.3)
    for name, goal in WINDOW_GOALS.items():
        for what in ("windows-256", "windows-700"):
            own = get("windows-own", name, what)
            if own:
                yield (f"GDAL {what}, 1 GiB cache", name, get("windows-ours", name, what),
                       "its own driver", own, goal)


def read_memory(lines, threads):
    """Rows (what, data, bytes, bound): the most memory that any read of a program took on top of
    its result, and its bound: the cache of 64 MiB, two decoded chunks a thread and 32 MiB; through
    GDAL also its block cache."""
    most = {}
    for (peer, dataset, what), line in lines.items():
        objects = peer == "h5py+ours" and dataset in H5PY_KINDS  # Python's take the most
        if peer in ("core", "h5py+ours", "gdal+ours") and "extra" in line and not objects:
            row = peer, dataset
            most[row] = max(most.get(row, 0), line["extra"])
    for (peer, dataset), extra in most.items():
        gdal = GDAL_CACHE_MIB * MIB if peer == "gdal+ours" else 0
        yield f"{peer}, any read", dataset, extra, gdal + 96 * MIB + threads * 2 * CHUNK[dataset]


def write_goals(get):
    for name in A | DEM:
        ours = get("core", name, "write")
        yield "core, whole", name, ours, "bare library", get("bare", name, "write"), 1.15
        for peer in ("zarr-python", "zarrs", "tensorstore"):
            yield "core, whole", name, ours, peer, get(peer, name, "write"), 1.0
    for name in DEM:
        whole = get("core", name, "write")
        yield "core, row by row", name, get("core", name, "rows"), "core, whole", whole, 1.5


def plugin_write_goals(get):
    for name in H5PY_WRITES:
        yield ("h5py `create_dataset`, gzip", name, get("h5py+ours", name, "write"), "native HDF5",
               get("hdf5", name, "write"), 0.25)
    name = "dem.tif"
    yield ("gdal_translate to shards, zstd", name, get("gdal+ours", name, "translate"),
           "to tiled GTiff", get("gtiff", name, "translate"), 1.1)


def write_memory(lines, threads):
    """Rows as above: the write-back budget, two shards a thread and 64 MiB."""
    for (peer, dataset, what), line in lines.items():
        if peer == "core":
            chunk = WRITTEN_CHUNK.get(dataset, CHUNK[dataset])
            bound = WRITE_CACHE + threads * 2 * chunk + 64 * MIB
            yield f"core, {what}", dataset, line["extra"], bound


# The sources of a program's tables: functions that give goals, and one that gives the memory.
READING = (core_goals, h5py_goals, gdal_goals, kind_goals, h5py_kind_goals), read_memory
WRITING = (write_goals, plugin_write_goals, kind_write_goals), write_memory


def print_times(rows, wants):
    rows = [row for row in rows if wants(row[1]) and row[2] is not None]
    if not rows:
        return
    has_cpu = len(rows[0]) > 6
    cpu = [" CPU |", " ---: |"] if has_cpu else ["", ""]
    print(f"| what | data | ours |{cpu[0]} reference | |{cpu[0]} ratio | goal | met |")
    print(f"| --- | --- | ---: |{cpu[1]} --- | ---: |{cpu[1]} ---: | ---: | --- |")
    for what, dataset, ours, name, reference, goal, *used in rows:
        cpu = [f" {in_ms(ms)} |" if ms else " |" for ms in used] if has_cpu else ["", ""]
        if reference is None:
            print(f"| {what} | {dataset} | {in_ms(ours)} |{cpu[0]} not measured | |{cpu[1]} "
                  f"| {goal:.2f} | |")
            continue
        ratio = ours / reference
        met = "yes" if ratio <= goal else "**no**"
        print(f"| {what} | {dataset} | {in_ms(ours)} |{cpu[0]} {name} | {in_ms(reference)} |"
              f"{cpu[1]} {ratio:.2f} | {goal:.2f} | {met} |")
    print()


def in_ms(ms):
    return f"{ms:.0f} ms" if ms >= 100 else f"{ms:.3g} ms"


def print_memory(rows):
    print("| memory on top of the array | data | most | bound | met |")
    print("| --- | --- | ---: | ---: | --- |")
    for what, dataset, extra, bound in rows:
        met = "yes" if extra <= bound else "**no**"
        print(f"| {what} | {dataset} | {extra / MIB:.0f} MiB | {bound / MIB:.0f} MiB | {met} |")


def print_tables(bench, kind):
    goals, memory = kind
    for rows in goals:
        print_times(rows(bench.get), bench.wants)
    print_memory(memory(bench.lines, len(os.sched_getaffinity(0))))
    for text in bench.skipped:
        print(f"\nLeft out: {text}.")
