#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sizes and times of float rasters, which the driver's default form, its other forms and GeoTIFFs hold.

    tests/bench/run_float_sizes.py build/release [--side 4096] [--rounds 3]

The rasters are the elevations and the Landsat band of tests/data, warped to a finer grid as terrain models are made:
their last bits are noise. Each form is written and read by GDAL in turns; told are the best processor times."""
import argparse
import os
import pathlib
import shutil
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data"
TIFF = ["TILED=YES", "BLOCKXSIZE=512", "BLOCKYSIZE=512"]
FORMS = {
    "Zarr3": ("Zarr3", []),
    "Zarr3, COMPRESS=ZSTD": ("Zarr3", ["COMPRESS=ZSTD"]),
    "Zarr3, COMPRESS=DEFLATE PREDICTOR=3": ("Zarr3", ["COMPRESS=DEFLATE", "PREDICTOR=3"]),
    "Zarr3, PREDICTOR=DELTA": ("Zarr3", ["PREDICTOR=DELTA"]),
    "GTiff, ZSTD": ("GTiff", TIFF + ["COMPRESS=ZSTD"]),
    "GTiff, ZSTD PREDICTOR=2": ("GTiff", TIFF + ["COMPRESS=ZSTD", "PREDICTOR=2"]),
    "GTiff, ZSTD PREDICTOR=3": ("GTiff", TIFF + ["COMPRESS=ZSTD", "PREDICTOR=3"]),
    "GTiff, DEFLATE PREDICTOR=3": ("GTiff", TIFF + ["COMPRESS=DEFLATE", "PREDICTOR=3"]),
}
RASTERS = {"elevation": ("olinda_dem_utm25s.tif", "Float32", 1), "elevation, float64": ("olinda_dem_utm25s.tif", "Float64", 1),
           "reflectance": ("L7_ETMs.tif", "Float32", 1e-4)}


def make(gdal, file, kind, factor, side):
    warped = gdal.Warp("", str(DATA / file), format="MEM", width=side, height=side, resampleAlg="cubicspline",
                       outputType=gdal.GetDataTypeByName(kind))
    one = gdal.Translate("", warped, format="MEM", bandList=[1])
    if factor != 1:
        one.GetRasterBand(1).WriteArray(one.ReadAsArray() * factor)
    return one


def size_of(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)


def timed(call):
    start = time.process_time()
    call()
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--side", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    os.environ["GDAL_DRIVER_PATH"] = str(options.build.resolve() / "gdal-driver" / "plugins")
    from osgeo import gdal
    gdal.UseExceptions()
    print("| raster | form | size | of the values | write | read |\n| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for name, (file, kind, factor) in RASTERS.items():
            source = make(gdal, file, kind, factor, options.side)
            raw = options.side**2 * (gdal.GetDataTypeSize(source.GetRasterBand(1).DataType) // 8)
            best = {form: [1e9, 1e9, 0] for form in FORMS}
            for _ in range(options.rounds):
                for form, (driver, creation) in FORMS.items():
                    path = os.path.join(folder, "r.zarr" if driver == "Zarr3" else "r.tif")
                    shutil.rmtree(path, ignore_errors=True)
                    write = timed(lambda: gdal.Translate(path, source, format=driver, creationOptions=creation))
                    read = timed(lambda: gdal.Open(path).ReadAsArray())
                    best[form] = [min(best[form][0], write), min(best[form][1], read), size_of(path)]
            for form, (write, read, size) in best.items():
                print(f"| {name} | {form} | {size / 1e6:.1f} MB | {size / raw:.3f} | {write:.2f} s | {read:.2f} s |")


if __name__ == "__main__":
    main()
