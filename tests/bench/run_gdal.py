#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""GDAL's drivers beside each other, in one GDAL: this one, GDAL's own Zarr driver (of 3.13 or
later), GTiff and COG. Prints, in Markdown, each operation with its times.

    run_gdal.py BUILD_DIRECTORY [--data DIRECTORY] [--rounds N] [--passes N] [--only WORD]

The rasters (0.5 GB: a terrain and the same with levels, a picture of three bands by pixel, with zstd
and uncompressed) are made on the first run, in BUILD_DIRECTORY/bench-gdal unless --data says
otherwise, and written anew on each. Each driver reads them with one thread and with two, in
processes of their own, with a GDAL_CACHEMAX of 1 GiB; the least of all rounds and passes counts.

whole      all bands at once
aligned    300 windows of 256^2 that are a block each, time for one
windows    300 windows of 256^2 anywhere, time for one
overview   windows of 1024^2, 2048^2 and 4096^2 as 256^2 pixels, time for one; levels of 2, 4, ...
multidim   all of the array by the multidimensional API
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from goals import print_times
from peers import WINDOWS, Timer, corners

SIDE = 8192, 4096  # of the terrain and of the picture, in pixels
STORE = ["COMPRESS=ZSTD", "BLOCKSIZE=256x256", "SHARD=2048x2048"]
TIFF = ["TILED=YES", "BLOCKXSIZE=256", "BLOCKYSIZE=256", "COMPRESS=ZSTD", "ZSTD_LEVEL=3",
        "NUM_THREADS=2"]
COG = ["COMPRESS=ZSTD", "LEVEL=3", "BLOCKSIZE=256", "RESAMPLING=AVERAGE", "NUM_THREADS=2"]
LEVELS = ["OVERVIEWS=AUTO", "OVERVIEW_RESAMPLING=AVERAGE"]
OPERATIONS = {"terrain": ("whole", "aligned", "windows", "multidim"),
              "picture": ("whole", "aligned", "windows"),
              "picture-raw": ("whole", "aligned", "windows"), "levels": ("overview",)}
# The file of each raster for a driver.
FILES = {"Zarr3": "{}.zarr", "Zarr": "{}.zarr", "GTiff": "{}.tif", "COG": "{}.cog.tif"}
READERS = [(driver, raster) for raster in ("terrain", "picture", "picture-raw")
           for driver in ("Zarr3", "Zarr", "GTiff")]
READERS += [(driver, "levels") for driver in ("Zarr3", "Zarr", "COG")]
THREADS = 1, 2


# ---- The rasters --------------------------------------------------------------------------------

def terrain():
    from make_data import terrain as values
    return values()[None]


def picture():
    """Three bands of bytes, smooth with noise, as photographs are."""
    import numpy as np

    y, x = np.ogrid[0:SIDE[1], 0:SIDE[1]]
    noise = np.random.default_rng(20230327)
    bands = [128 + 90 * np.sin(x / (300 + 40 * i)) * np.cos(y / (200 + 30 * i)) for i in range(3)]
    return np.stack([band + noise.normal(0, 3, band.shape) for band in bands]).clip(0, 255) \
        .astype("u1")


def memory_raster(values):
    from osgeo import gdal, gdal_array, osr

    dataset = gdal_array.OpenArray(values)
    place = osr.SpatialReference()
    place.ImportFromEPSG(32633)
    dataset.SetSpatialRef(place)
    dataset.SetGeoTransform((500000, 10, 0, 5000000, 0, -10))
    if dataset.RasterCount == 3:
        for i in range(3):
            dataset.GetRasterBand(i + 1).SetColorInterpretation(gdal.GCI_RedBand + i)
    return dataset


def make(directory):
    from osgeo import gdal

    gdal.UseExceptions()
    directory.mkdir(parents=True, exist_ok=True)
    pixel = ["INTERLEAVE=PIXEL"]
    recipes = [("terrain.zarr", "Zarr3", terrain, STORE), ("terrain.tif", "GTiff", terrain, TIFF),
               ("levels.zarr", "Zarr3", terrain, STORE + LEVELS),
               ("levels.cog.tif", "COG", terrain, COG),
               ("picture.zarr", "Zarr3", picture, STORE + pixel),
               ("picture.tif", "GTiff", picture, TIFF + pixel),
               ("picture-raw.zarr", "Zarr3", picture, ["COMPRESS=NONE", *STORE[1:], *pixel]),
               ("picture-raw.tif", "GTiff", picture, TIFF[:3] + pixel)]
    for name, driver, values, options in recipes:
        if not (directory / name).exists():
            if driver == "Zarr3":
                options = [*options, "ARRAY_NAME=" + name.split(".")[0]]
            partial = directory / ("partial-" + name)
            gdal.GetDriverByName(driver).CreateCopy(str(partial), memory_raster(values()),
                                                    options=options).Close()
            partial.rename(directory / name)
        write_anew(directory / name)


def write_anew(raster):
    """Writes each of its files whole, at once: the page cache keeps a file in the pieces in which it came. Out
    of pages of 4 KiB, in which some drivers write and the beginnings of files are read ahead, copying
    takes half as long again as out of large pieces, whatever is in them."""
    for path in [raster, *raster.rglob("*")]:
        if path.is_file():
            path.write_bytes(path.read_bytes())


# ---- One reader, in a process of its own --------------------------------------------------------

def read(driver, path, threads, rounds):
    from osgeo import gdal

    gdal.UseExceptions()
    gdal.SetCacheMax(2**30)
    os.environ["ZARRBRIDGE_NUM_THREADS"] = threads
    gdal.SetConfigOption("GDAL_NUM_THREADS", threads)
    opener = "GTiff" if driver == "COG" else driver
    options = ["NUM_THREADS=" + threads] if opener == "GTiff" else []
    timer = Timer(f"{driver}-{threads}", path.name.split(".")[0], int(rounds))

    def opened():
        dataset = gdal.OpenEx(str(path), gdal.OF_RASTER, allowed_drivers=[opener],
                              open_options=options)
        if dataset.RasterCount == 0:  # the own driver opens a group
            dataset = gdal.OpenEx(dataset.GetSubDatasets()[0][0], gdal.OF_RASTER)
        return dataset

    dataset = opened()
    size = dataset.RasterYSize, dataset.RasterXSize
    timer.opened()
    anywhere = corners(size, 256, WINDOWS)

    buffer = dataset.ReadAsArray(0, 0, 256, 256)

    def windows(places, edge=256):
        dataset = opened()
        for y, x in places:
            dataset.ReadAsArray(x, y, edge, edge, buf_obj=buffer)
        return buffer

    def multidim():
        dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER, allowed_drivers=[opener])
        return dataset.GetRootGroup().OpenMDArray(timer.dataset).ReadAsArray()

    def overview():
        for edge in 1024, 2048, 4096:
            window = windows([(y // 8 * 8, x // 8 * 8)
                              for y, x in corners(size, edge, WINDOWS // 3)], edge)
        return window

    calls = {"whole": (lambda: opened().ReadAsArray(), 1),
             "aligned": (lambda: windows([(y // 256 * 256, x // 256 * 256)
                                          for y, x in anywhere]), WINDOWS),
             "windows": (lambda: windows(anywhere), WINDOWS),
             "overview": (overview, WINDOWS), "multidim": (multidim, 1)}
    for what in OPERATIONS[timer.dataset]:
        if what != "multidim" or opener != "GTiff":
            timer.time(what, *calls[what])


# ---- All of them --------------------------------------------------------------------------------

class Bench:
    def __init__(self, options):
        self.options = options
        self.build = options.build.resolve()
        self.data = (options.data or self.build / "bench-gdal").resolve()
        self.lines = {}
        # malloc() keeps what is freed, as it comes to do in programs that run for long: when it gives
        # pages back depends on all that a process has done before. Results of more than 32 MiB, too,
        # which it would give back each time, unless a block cache has left room for them.
        self.environment = os.environ | {
            "GDAL_DRIVER_PATH": str(self.build / "gdal-driver" / "plugins"),
            "MALLOC_TRIM_THRESHOLD_": str(2**30), "MALLOC_MMAP_MAX_": "0"}

    def run(self, *command, **environment):
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                              env=self.environment | environment, check=True)
        for line in map(json.loads, done.stdout.splitlines()):
            row = line["peer"], line["dataset"].removesuffix(".zarr"), line["what"]
            self.lines[row] = min(line["ms"], self.lines.get(row, line["ms"]))

    def measure(self, has_own):
        self.run(sys.executable, __file__, "--make", self.data)
        for _ in range(self.options.passes):
            for driver, raster in READERS:
                if driver == "Zarr" and not has_own or self.options.only not in raster:
                    continue
                for threads in THREADS:
                    print("..", driver, raster, threads, file=sys.stderr, flush=True)
                    self.run(sys.executable, __file__, "--read", driver,
                             self.data / FILES[driver].format(raster), threads,
                             self.options.rounds)
            if self.options.only in "terrain":
                for threads in THREADS:
                    self.run(self.build / "tests" / "bench" / "zb-bench",
                             self.data / "terrain.zarr" / "terrain", self.options.rounds,
                             ZARRBRIDGE_NUM_THREADS=str(threads))
                    self.lines[f"core-{threads}", "terrain", "multidim"] = self.lines.pop(
                        ("core", "terrain", "whole"))

    def goals(self):
        """Rows as goals.py has them."""
        bounds = {("whole", "Zarr"): 1 / 1.5, ("multidim", "core"): 1.15}
        peers = {"Zarr": "its own driver", "core": "the core"}
        for raster, operations in OPERATIONS.items():
            for what in operations:
                for peer in "Zarr", "GTiff", "COG", "core":
                    for threads in THREADS:
                        reference = self.lines.get((f"{peer}-{threads}", raster, what))
                        if reference:
                            yield (f"{what}, {threads} thread{'s' * (threads > 1)}", raster,
                                   self.lines[f"Zarr3-{threads}", raster, what],
                                   peers.get(peer, peer), reference,
                                   bounds.get((what, peer), 1.0))


def has_own_driver():
    version = subprocess.run(["gdalinfo", "--version"], capture_output=True, text=True,
                             check=True).stdout.split()[1].rstrip(",")
    if tuple(map(int, version.split(".")[:2])) >= (3, 13):
        return True
    print(f"Left out: GDAL's own Zarr driver: that of GDAL {version} reads no shards.\n")
    return False


def main():
    if sys.argv[1:2] == ["--make"]:
        return make(Path(sys.argv[2]))
    if sys.argv[1:2] == ["--read"]:
        return read(sys.argv[2], Path(sys.argv[3]), *sys.argv[4:])
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--only", default="")
    bench = Bench(parser.parse_args())
    bench.measure(has_own_driver())
    print_times(bench.goals(), lambda raster: True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
