#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times of conversions, beside the programs that people use for them.

    tests/bench/run_convert.py BUILD [--before BUILD] [--folder FOLDER] [--rounds 3] [--only WORDS] [--tiffs]

One run makes a raster of 67 MB as HDF5 files and stores, converts it in each way, and prints a table: the least wall
time and processor time of the rounds, in milliseconds, of whole processes. Ways take turns, so that a disturbance hits
all. --before: another build whose connector, driver and program are measured beside. --only: rows that have the words.
--tiffs: those of GeoTIFF alone, which need no zarr-python (GDAL's own driver of a later Debian, in a chroot).
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import h5py
import numpy as np

SHAPE, CHUNK, SHARD = (4096, 8192), (256, 256), (2048, 2048)

PYTHON_TO_STORE = """
import sys, h5py, zarr
with h5py.File(sys.argv[1]) as f:
    d = f["dem"]
    codec = {"gzip": zarr.codecs.GzipCodec(level=4), "raw": None}[sys.argv[3]]
    a = zarr.create_array(sys.argv[2], shape=d.shape, dtype=d.dtype, chunks=d.chunks, compressors=codec, fill_value=0)
    for y in range(0, d.shape[0], 2048):
        a[y:y + 2048] = d[y:y + 2048]
"""
PYTHON_RESHARD = """
import sys, zarr
s = zarr.open_array(sys.argv[1], mode="r")
shards = None if sys.argv[3] == "none" else (2048, 2048)
a = zarr.create_array(sys.argv[2], shape=s.shape, dtype=s.dtype, chunks=s.chunks, shards=shards,
                      compressors=s.compressors, fill_value=0)
for y in range(0, s.shape[0], 2048):
    a[y:y + 2048] = s[y:y + 2048]
"""
DECODE = "import sys, h5py, numpy as np; d = h5py.File(sys.argv[1])['dem']; o = np.empty(d.shape, d.dtype); d.read_direct(o)"


def make_raw(folder):
    x, y = np.arange(SHAPE[1]), np.arange(SHAPE[0])[:, None]
    noise = np.random.default_rng(1).normal(0, 3, SHAPE)
    data = (1500 + 800 * np.sin(x / 531) + 600 * np.cos(y / 377) + 90 * np.sin((x + y) / 41) + noise).astype("i2")
    with h5py.File(folder / "raw.h5", "w") as f:
        f.create_dataset("dem", data=data, chunks=CHUNK)
    return data


def make_data(folder, data):
    import zarr
    from numcodecs import Zstd
    options = {"gzip": {"compression": "gzip", "compression_opts": 4},
               "shuffle_gzip": {"compression": "gzip", "compression_opts": 4, "shuffle": True}}
    for name, more in options.items():
        with h5py.File(folder / f"{name}.h5", "w") as f:
            f.create_dataset("dem", data=data, chunks=CHUNK, **more)
    with h5py.File(folder / "zstd.h5", "w") as f:
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk(CHUNK)
        dcpl.set_filter(32015, h5py.h5z.FLAG_OPTIONAL, (3,))
        space = h5py.h5s.create_simple(SHAPE)
        h5py.h5d.create(f.id, b"dem", h5py.h5t.py_create(data.dtype), space, dcpl)
        for row in range(0, SHAPE[0], CHUNK[0]):
            for column in range(0, SHAPE[1], CHUNK[1]):
                part = np.ascontiguousarray(data[row:row + CHUNK[0], column:column + CHUNK[1]])
                f["dem"].id.write_direct_chunk((row, column), Zstd(3).encode(part))
    codecs = {"zstd": zarr.codecs.ZstdCodec(level=3), "raw": None, "gzip": zarr.codecs.GzipCodec(level=4),
              "blosc": zarr.codecs.BloscCodec(cname="lz4", shuffle="shuffle")}
    for name, codec in codecs.items():
        for kind, shards in (("chunks", None), ("shards", SHARD)):
            array = zarr.create_array(str(folder / f"{name}_{kind}.zarr"), shape=SHAPE, dtype="i2", chunks=CHUNK,
                                      shards=shards, compressors=codec, fill_value=0)
            array[...] = data


def make_tiffs(folder):
    from osgeo import gdal
    gdal.UseExceptions()
    with h5py.File(folder / "raw.h5") as f, gdal.GetDriverByName("MEM").Create(
            "", SHAPE[1], SHAPE[0], 1, gdal.GDT_Int16) as raster:
        raster.WriteArray(f["dem"][...])
        for name in ("zstd", "deflate"):
            for predictor in (1, 2):
                gdal.Translate(str(folder / f"{name}{predictor}.tif"), raster, creationOptions=[
                    "TILED=YES", "BLOCKXSIZE=512", "BLOCKYSIZE=512", f"COMPRESS={name.upper()}",
                    f"PREDICTOR={predictor}"]).Close()


class Bench:
    def __init__(self, args):
        self.folder, self.rounds = Path(args.folder), args.rounds
        self.builds = {"zarrbridge": Path(args.build).resolve()}
        if args.before:
            self.builds["before"] = Path(args.before).resolve()
        self.ways = []  # (row, column, command, environment, what it makes)

    def copy(self, row, result, made):
        """What cp takes for the same bytes into as many files."""
        self.add(row, "cp -r of the result", ["cp", "-r", result, made], made)

    def program(self, row, words, made):
        """The program of each build."""
        for name, build in self.builds.items():
            self.add(row, name, [build / "core/zarrbridge", *words], made)

    def add(self, row, column, command, made=None, **environment):
        self.ways.append((row, column, [str(word) for word in command], environment, made))

    def ours(self, row, command, made, before=True):
        """An HDF5 tool with the connector of each build."""
        for name, build in self.builds.items():
            if name == "before" and not before:
                continue
            self.add(row, name, command, made, HDF5_VOL_CONNECTOR="zarr",
                     HDF5_PLUGIN_PATH=str(build / "hdf5-vol/plugins"))

    def run(self, words):
        best = {}
        self.ways = [way for way in self.ways if words in way[0]]
        for _ in range(self.rounds):
            for row, column, command, environment, made in self.ways:
                if made:
                    shutil.rmtree(made, ignore_errors=True)
                    Path(made).unlink(missing_ok=True)
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                start = time.perf_counter()
                done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
                wall = time.perf_counter() - start
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                if done.returncode:
                    sys.exit(f"{row}, {column}: {' '.join(command)}\n{done.stdout}{done.stderr}")
                cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                old = best.get((row, column), (1e9, 1e9))
                best[row, column] = (min(old[0], wall), min(old[1], cpu))
        return best


def plan(bench):
    f, out = bench.folder, bench.folder / "out.zarr"
    file = bench.folder / "out.h5"  # the suffix says which it becomes
    for name in ("gzip", "shuffle_gzip", "zstd", "raw"):
        source, row = f / f"{name}.h5", f"{name}.h5 → store"
        bench.ours(row, ["h5repack", source, out], out, before=name != "zstd")  # it needed the filter's plug-in
        bench.add(row, "h5repack, file to file", ["h5repack", source, file], file)
        if name in ("zstd", "raw"):
            bench.copy(row, f / f"{name}_chunks.zarr", out)
        if name in ("gzip", "raw"):
            bench.add(row, "zarr-python", [sys.executable, "-c", PYTHON_TO_STORE, source, out, name], out)
        if name != "zstd":
            bench.add(row, "nccopy, file to file", ["nccopy", source, file], file)
            bench.add(row, "HDF5 decodes it", [sys.executable, "-c", DECODE, source])
    for name in ("gzip", "raw"):
        for kind in ("chunks", "shards"):
            row = f"store of {name} {kind} → .h5"
            bench.ours(row, ["h5repack", f / f"{name}_{kind}_group.zarr", file], file)
    for name in ("zstd", "blosc", "raw", "gzip"):
        for kind, other, shape in (("chunks", "shards", "2048,2048"), ("shards", "chunks", "none")):
            source, row = f / f"{name}_{kind}.zarr", f"{name}: {kind} → {other}"
            bench.program(row, ["copy", "-q", "--shards", shape, source, out], out)
            bench.add(row, "zarr-python", [sys.executable, "-c", PYTHON_RESHARD, source, out,
                                           "none" if shape == "none" else "x"], out)
            bench.copy(row, f / f"{name}_{other}.zarr", out)
    for kind in ("chunks", "shards"):
        source, row = f / f"raw_{kind}.zarr", f"raw {kind}, as they are"
        bench.program(row, ["copy", "-q", source, out], out)
        bench.copy(row, source, out)
    indexed = f / "indexed.h5"
    for name in ("gzip", "raw"):
        row, program = f"{name}.h5, index in place", bench.builds["zarrbridge"] / "core/zarrbridge"
        cut = f"rm -f {indexed}; cp {f / name}.h5 {indexed}"
        bench.add(row, "its copy", ["sh", "-c", cut], out)
        bench.add(row, "its copy, and zarrbridge index",
                  ["sh", "-c", f"{cut}; {program} index -q {indexed} dem {out}"], out,
                  HDF5_PLUGIN_PATH=str(bench.builds["zarrbridge"] / "hdf5-vol/plugins"))


def plan_tiffs(bench):
    from osgeo import gdal
    out = bench.folder / "out.zarr"
    for name, codec in (("zstd", "ZSTD"), ("deflate", "GZIP")):
        for predictor, words in ((1, ""), (2, ", predictor")):
            source, row = bench.folder / f"{name}{predictor}.tif", f"{name}{words} .tif → store"
            plan_tiff(bench, row, source, codec, out, gdal.VersionInfo() >= "3110000" or codec == "GZIP")


def plan_tiff(bench, row, source, codec, out, own):
    result = source.with_suffix(".zarr")
    for column, build in bench.builds.items():
        words = ["gdal_translate", "-q", "-of", "Zarr3", "-co", f"COMPRESS={codec}", source]
        path = {"GDAL_DRIVER_PATH": str(build / "gdal-driver/plugins")}
        bench.add(row, column, [*words, out], out, **path)
    subprocess.run([*words, result], env={**os.environ, **path}, check=True)
    bench.copy(row, result, out)
    if own:  # GDAL 3.10 knows no ZSTD for version 3
        bench.add(row, "GDAL's own driver", ["gdal_translate", "-q", "-of", "Zarr", "-co", "FORMAT=ZARR_V3", "-co",
                                             f"COMPRESS={codec}", "-co", "BLOCKSIZE=512,512", source, out], out)
    bench.add(row, "GDAL decodes it", ["gdal_translate", "-q", "-of", "MEM", source, "x"])
    bench.add(row, "gdalinfo", ["gdalinfo", source])


def make_groups(folder):
    """h5repack copies what is in a root group."""
    import zarr
    for name in ("gzip", "raw"):
        for kind in ("chunks", "shards"):
            target = folder / f"{name}_{kind}_group.zarr"
            zarr.open_group(str(target), mode="w")
            shutil.copytree(folder / f"{name}_{kind}.zarr", target / "dem")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--before")
    parser.add_argument("--folder", default="/dev/shm/zarrbridge-convert")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--tiffs", action="store_true")
    args = parser.parse_args()
    folder = Path(args.folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        data = make_raw(folder)
        make_tiffs(folder)
        bench = Bench(args)
        if not args.tiffs:
            make_data(folder, data)
            make_groups(folder)
            plan(bench)
        plan_tiffs(bench)
        best = bench.run(args.only)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    columns = list(dict.fromkeys(column for _, column in best))
    print("| ms, wall / processor |", " | ".join(columns), "|")
    print("| --- |" + " --- |" * len(columns))
    for row in dict.fromkeys(row for row, _ in best):
        cells = [f"{best[row, column][0] * 1e3:.0f} / {best[row, column][1] * 1e3:.0f}" if (row, column) in best else ""
                 for column in columns]
        print(f"| {row} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
