#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Programs of netCDF on stores, through doors, beside the same data in a netCDF-4 file with gzip. Prints a table in
Markdown.

    run_netcdf.py BUILD_DIRECTORY [--data DIRECTORY] [--pairs N] [--only WORD]

The data (temperatures of 120 days on a grid of half a degree, 124 MB decoded) are made on the first run, in
BUILD_DIRECTORY/bench-netcdf unless --data says otherwise. A process reads the store, and then one the file, N times;
each time is that of the whole process, from its start to its end. The ratio is the median of those of the pairs, and
the times are the least ones: elapsed, and of the processor."""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

SHAPE, CHUNK, SHARD = (120, 360, 720), (1, 180, 360), (30, 360, 720)
LONG = 30, 90, 180  # chunks of many days, of which programs ask for one after the other
SMALL = 12, 18, 36
DIMENSIONS = ("time", "lat", "lon")
MANY = 200  # variables of another store, which are small
# Each file has the chunks of the store that it is made of, with gzip of level 4.
STORES = {"gzip": "shards, gzip", "zstd": "shards, zstd", "chunks": "chunks, gzip", "long": "shards, gzip, 30 days"}
VARIABLES = {"many": f"{MANY} variables"}
FILES = {"gzip": "native.nc", "zstd": "native.nc", "chunks": "native.nc", "long": "long-native.nc",
         "many": "many-native.nc"}
OPERATIONS = {
    "`ncdump -h`": ("ncdump -h {}", STORES | VARIABLES),
    "`ncks`, a window": ("ncks -h -O -4 -v t -d time,40,59 -d lat,100,159 -d lon,200,319 {} out.nc", STORES),
    "`ncks`, a day": ("ncks -h -O -4 -v t -d time,50 {} out.nc", STORES),
    "`ncks`, all": ("ncks -h -O -4 {} out.nc", VARIABLES),
    "`cdo timmean`": ("cdo -s -f nc4 timmean {} out.nc", STORES | VARIABLES),
}


class Times(NamedTuple):
    elapsed: float
    processor: float


def temperatures(shape):
    """Smooth, with noise, rounded as packed data are."""
    import numpy as np

    day, lat, lon = np.ogrid[0:shape[0], -90:90:shape[1] * 1j, 0:360:shape[2] * 1j]
    noise = np.random.default_rng(20230327).normal(0, 1, shape)
    values = 288 - 40 * np.sin(np.radians(lat)) ** 2 + 8 * np.sin(np.radians(3 * lon + 6 * day)) + noise
    return (values * 16).round().astype("f4") / 16


def write_store(path, shape, variables, compressor, chunk, shards):
    import numpy as np
    import zarr

    root = zarr.open_group(path, mode="w", zarr_format=3, attributes={"title": "bench", "Conventions": "CF-1.8"})
    units = {"time": "days since 2000-01-01", "lat": "degrees_north", "lon": "degrees_east"}
    places = {"time": np.arange(shape[0], dtype="f8"), "lat": np.linspace(-90, 90, shape[1]),
              "lon": np.linspace(0, 360, shape[2], endpoint=False)}
    for name, place in places.items():
        array = root.create_array(name, shape=place.shape, dtype="f8", dimension_names=(name,),
                                  attributes={"units": units[name], "standard_name": name})
        array[...] = place
    for name, values in variables.items():
        array = root.create_array(name, shape=shape, dtype="f4", chunks=chunk, shards=shards,
                                  dimension_names=DIMENSIONS, attributes={"units": "K", "long_name": "temperature"},
                                  compressors=compressor)
        array[...] = values


def write_native(directory, name, native, chunk):
    """By nccopy, of the store."""
    chunks = ",".join(f"{n}/{s}" for n, s in zip(DIMENSIONS, chunk))
    subprocess.run(["nccopy", "-4", "-d", "4", "-c", chunks, name + ".nc", "partial.nc"], cwd=directory, check=True,
                   env=with_connector())
    (directory / "partial.nc").rename(directory / native)


def make(directory, program):
    from zarr.codecs import BloscCodec, GzipCodec

    directory.mkdir(parents=True, exist_ok=True)
    gzip, zstd = GzipCodec(level=4), BloscCodec(cname="zstd", clevel=3, shuffle="shuffle")
    recipes = {"gzip": (SHAPE, gzip, CHUNK, SHARD), "zstd": (SHAPE, zstd, CHUNK, SHARD),
               "chunks": (SHAPE, gzip, CHUNK, None), "long": (SHAPE, gzip, LONG, SHARD),
               "many": (SMALL, gzip, (1, *SMALL[1:]), SMALL)}
    for name, (shape, compressor, chunk, shards) in recipes.items():
        store, partial = directory / (name + ".zarr"), directory / ("partial-" + name)
        if not store.exists():
            shutil.rmtree(partial, ignore_errors=True)
            values = temperatures(shape)
            variables = {f"t{i}": values + i for i in range(MANY)} if name == "many" else {"t": values}
            write_store(partial, shape, variables, compressor, chunk, shards)
            partial.rename(store)
        if not store.with_suffix(".nc").exists():
            subprocess.run([program, "door", store.name], cwd=directory, check=True, stdout=subprocess.DEVNULL)
        if not (directory / FILES[name]).exists():
            write_native(directory, name, FILES[name], chunk)


BUILD = None


def plain():
    return {name: value for name, value in os.environ.items() if not name.startswith("HDF5_")}


def with_connector():
    return plain() | {"HDF5_PLUGIN_PATH": str(BUILD / "hdf5-vol/plugins"), "HDF5_VOL_CONNECTOR": "zarr"}


def run(line, directory, environment):
    begin = time.perf_counter()
    process = subprocess.Popen(line.split(), cwd=directory, env=environment, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    elapsed = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{line}: {process.returncode}")
    return Times(1000 * elapsed, 1000 * (usage.ru_utime + usage.ru_stime))


def least(times):
    return Times(*(min(column) for column in zip(*times)))


def measure(line, store, directory, pairs):
    (directory / "out.nc").unlink(missing_ok=True)
    found = [(run(line.format(store + ".nc"), directory, with_connector()),
              run(line.format(FILES[store]), directory, plain())) for _ in range(pairs + 1)][1:]
    ratios = [statistics.median(ours[i] / theirs[i] for ours, theirs in found) for i in range(2)]
    return least(ours for ours, _ in found), least(theirs for _, theirs in found), ratios


def main():
    global BUILD
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    BUILD = arguments.build.resolve()
    directory = (arguments.data or BUILD / "bench-netcdf").resolve()
    make(directory, BUILD / "core/zarrbridge")
    print("| operation | store | door, ms | file, ms | ratio | processor: door, ms | file, ms | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for operation, (line, stores) in OPERATIONS.items():
        if not shutil.which(line.split()[0]):
            print(f"{line.split()[0]} is not installed", file=sys.stderr)
            continue
        for store, kind in stores.items():
            if arguments.only in operation + kind:
                ours, theirs, ratios = measure(line, store, directory, arguments.pairs)
                print(f"| {operation} | {kind} | {ours.elapsed:.0f} | {theirs.elapsed:.0f} | {ratios[0]:.2f} "
                      f"| {ours.processor:.0f} | {theirs.processor:.0f} | {ratios[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
