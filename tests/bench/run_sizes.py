#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Large rasters into each format and back, by gdal_translate and gdalmdimtranslate: seconds of processors, size and
peak of memory. Prints Markdown.

    run_sizes.py BUILD_DIRECTORY [--data DIRECTORY] [--side N] [--rounds N] [--only WORD] [--formats NAME,NAME]

picture    side x side, three bands of bytes, whose noise has nothing in common
scene      side x side, three bands of a Landsat scene of tests/data, warped to a finer grid
dem        side x side, Float32
stack      365 bands of Int16, each side / 10 x side / 10
cube       24 x 10 x side / 20 x side / 20 Float32, four dimensions, from netCDF

All are written with zstd of level 3; sources are tiled GeoTIFFs (deflate), so that no copy moves encoded tiles. The
side of 20000 takes some 8 GB in --data (else BUILD_DIRECTORY/bench-sizes) and most of an hour; --side 2000 shows in a
minute that all of it works. Formats take turns in each round; the least time and memory of all rounds count, and the
time is that of all threads, user and system. GDAL's own Zarr driver is there where it writes shards (3.13)."""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

TIFF = "-co TILED=YES -co COMPRESS=ZSTD -co ZSTD_LEVEL=3 -co BIGTIFF=IF_SAFER"
FORMATS = {
    "Zarr3": ("zarr", "-co COMPRESS=ZSTD {predictor} {order}"),
    "Zarr": ("own.zarr", "-co FORMAT=ZARR_V3 -co COMPRESS=ZSTD -co BLOCKSIZE={block} -co SHARD_CHUNK_SHAPE={inner}"),
    "GTiff": ("tif", TIFF + " {predictor}"),
    "COG": ("cog.tif", "-co COMPRESS=ZSTD -co LEVEL=3 -co OVERVIEWS=NONE -co BIGTIFF=IF_SAFER {predictor_cog}"),
    "netCDF": ("nc", "-co FORMAT=NC4C -co COMPRESS=DEFLATE"),
}
CUBES = {"Zarr3": ("zarr", ""), "Zarr": ("own.zarr", "-co FORMAT=ZARR_V3"), "netCDF": ("nc", "")}
PLAIN = {"predictor": "", "predictor_cog": "", "order": ""}
FLOATS = PLAIN | {"predictor": "-co PREDICTOR=3", "predictor_cog": "-co PREDICTOR=YES"}
PIXEL = PLAIN | {"order": "-co INTERLEAVE=PIXEL"}  # as GTiff and COG, and as a copy without COMPRESS has it
CASES = {"picture": PIXEL | {"block": "3,4096,4096", "inner": "1,512,512"},
         "scene": PLAIN | {"block": "3,4096,4096", "inner": "1,512,512"},
         "dem": FLOATS | {"block": "4096,4096", "inner": "512,512"},
         "stack": PLAIN | {"block": "1,2048,2048", "inner": "1,512,512"}}

SCENE = Path(__file__).resolve().parents[1] / "data/L7_ETMs.tif"
WARP = ("gdalwarp -q -r cubic -b 3 -b 2 -b 1 -co TILED=YES -co COMPRESS=DEFLATE -co ZLEVEL=1 "
        "-co BIGTIFF=IF_SAFER")

MAKE = r"""
import sys; import numpy as np; from osgeo import gdal; gdal.UseExceptions()
name, side, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
noise = np.random.default_rng(1)
count, extent, kind = {"picture": (3, side, gdal.GDT_Byte), "dem": (1, side, gdal.GDT_Float32),
                       "stack": (365, side // 10, gdal.GDT_Int16)}[name]
raster = gdal.GetDriverByName("GTiff").Create(path, extent, extent, count, kind,
                                              ["TILED=YES", "COMPRESS=DEFLATE", "ZLEVEL=1", "BIGTIFF=IF_SAFER"])
raster.SetGeoTransform((500000, 10, 0, 5000000, 0, -10))
x = np.arange(extent, dtype="f4")[None]
for top in range(0, extent, 512):
    rows = min(512, extent - top)
    y = np.arange(top, top + rows, dtype="f4")[:, None]
    for band in range(count):
        values = 120 + 90 * np.sin(x / (300 + 4 * band)) * np.cos(y / (200 + 3 * band))
        values = values + noise.normal(0, 0.3 if name == "dem" else 3, values.shape).astype("f4")
        raster.GetRasterBand(band + 1).WriteArray(values if name == "dem" else np.rint(values.clip(0, 255)), 0, top)
"""

MAKE_CUBE = r"""
import sys; import numpy as np; from osgeo import gdal; gdal.UseExceptions()
side, path = int(sys.argv[1]) // 20, sys.argv[2]
root = gdal.GetDriverByName("netCDF").CreateMultiDimensional(path).GetRootGroup()
shape = (24, 10, side, side)
dims = [root.CreateDimension(name, None, None, extent) for name, extent in zip(("time", "level", "lat", "lon"), shape)]
array = root.CreateMDArray("t", dims, gdal.ExtendedDataType.Create(gdal.GDT_Float32), ["COMPRESS=DEFLATE", "ZLEVEL=1"])
y, x = np.ogrid[0:side, 0:side]
for step in range(24):
    values = np.stack([280 + 20 * np.sin(x / 90 + step / 9) * np.cos(y / 70 + level) for level in range(10)])
    array.Write(values.astype("f4")[None], [step, 0, 0, 0], [1, 10, side, side])
"""


def run(command):
    """Seconds of processors, and MB at the peak."""
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))}: failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def size(path):
    files = [path] if path.is_file() else path.rglob("*")
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def remove(path):
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def measure(program, source, target, back, options):
    """One turn of one format: there, size, and back."""
    remove(target)
    seconds, peak = run([program, "-q", *options, source, target])
    remove(back[1])
    row = (seconds, size(target), peak, *run([program, "-q", *back[0].split(), target, back[1]]))
    remove(back[1])
    remove(target)
    return row


def formats_of(case, own, wanted):
    """Names, suffixes and options."""
    for driver, (suffix, words) in (CUBES if case == "cube" else FORMATS).items():
        # netCDF has a variable for each band, which gdal_translate does not put together again.
        if driver == "Zarr" and not own or driver == "netCDF" and case in ("picture", "stack"):
            continue
        if not wanted or driver in wanted:
            yield driver, suffix, words.format(**CASES.get(case, {})).split()


def has_own_shards():
    said = subprocess.run(["gdalinfo", "--format", "Zarr"], capture_output=True, text=True, check=False).stdout
    return "SHARD_CHUNK_SHAPE" in said


def source_of(case, side, data):
    path = data / f"{case}-{side}.{'nc' if case == 'cube' else 'tif'}"
    if not path.exists():
        made = path.with_suffix(".part" + path.suffix)
        words = [sys.executable, "-c", *((MAKE_CUBE, side) if case == "cube" else (MAKE, case, side)), made]
        if case == "scene":
            words = [*WARP.split(), "-ts", side, side, SCENE, made]
        subprocess.run([str(word) for word in words], check=True)
        made.rename(path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--side", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--formats", type=lambda text: text.split(","))
    options = parser.parse_args()
    data = options.data or options.build / "bench-sizes"
    data.mkdir(parents=True, exist_ok=True)
    os.environ["GDAL_DRIVER_PATH"] = str(options.build.resolve() / "gdal-driver/plugins")
    os.environ.setdefault("GDAL_NUM_THREADS", "2")
    own = has_own_shards()
    print("| raster | format | write, s of processors | size, MB | peak, MB | read, s of processors | peak, MB |\n"
          "| --- | --- | --- | --- | --- | --- | --- |")
    for case in (*CASES, "cube"):
        if options.only not in case:
            continue
        source = source_of(case, options.side, data)
        program = "gdalmdimtranslate" if case == "cube" else "gdal_translate"
        back = ("-of netCDF", data / "back.nc") if case == "cube" else ("-of GTiff " + TIFF, data / "back.tif")
        turns = {}
        for _ in range(options.rounds):
            for driver, suffix, words in formats_of(case, own, options.formats):
                row = measure(program, source, data / f"out.{suffix}", back, ["-of", driver, *words])
                turns.setdefault(driver, []).append(row)
        for driver, rows in turns.items():
            row = [min(column) for column in zip(*rows)]
            print(f"| {case} | {driver} | {row[0]:.2f} | {row[1]:.0f} | {row[2]:.0f} | {row[3]:.2f} | {row[4]:.0f} |",
                  flush=True)


if __name__ == "__main__":
    main()
