#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Times one reader on one data set, in a process of its own, and prints JSON lines {"peer",
"dataset", "what", "ms", "cpu", "extra"}: the least of some rounds, each into a new buffer, the time
of all threads together, and the peak of resident bytes above those after opening, less the bytes
that were read.

    peers.py PEER PATH [ROUNDS]

PEER      what reads, and what it is asked to read
zarr-python, zarrs, tensorstore
          whole; windows-256: 300 random windows of 256^2 of a 2-D array, time for one
h5py      the same Python code on native HDF5 and, through our connector, on a Zarr store:
          whole; of a 3-D array also plane (every 64th, time for one), strided [::4, ::4, ::4] and
          windows-64 (1000 random windows of 64^3, time for one). Its lines are called hdf5 and
          h5py+ours.
gdal      the same for GeoTIFF and, through our driver, a Zarr store: whole-band, scanlines (512
          rows, one by one), windows-700 (300 random windows), hillshade and png (gdaldem and
          gdal_translate, with their start). Its lines are called gtiff and gdal+ours.
windows-ours, windows-own
          windows-256 (300 random ones, time for one) and windows-700 of a Zarr store through GDAL:
          by our driver, and by GDAL's own, which needs more cache than the above; both have 1 GiB.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

WINDOWS = 300


def random_numbers():
    """The generator of zb_bench.c, so that all readers see the same windows."""
    state = 12345
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield state >> 33


def corners(shape, edge, count):
    """Corners of `count` random windows of edge^n in an array of this shape."""
    numbers = random_numbers()
    return [tuple(next(numbers) % (n - edge + 1) for n in shape) for _ in range(count)]


def box(corner, edge):
    return tuple(slice(c, c + edge) for c in corner)


class Least:
    """The least of the times that blocks of code take."""

    def __init__(self):
        self.seconds = self.cpu = float("inf")

    def __enter__(self):
        self.begin = time.process_time(), time.perf_counter()

    def __exit__(self, *error):
        self.seconds = min(self.seconds, time.perf_counter() - self.begin[1])
        self.cpu = min(self.cpu, time.process_time() - self.begin[0])

    def values(self, per=1):
        return {"ms": round(self.seconds * 1e3 / per, 4), "cpu": round(self.cpu * 1e3 / per, 4)}


class Timer:
    def __init__(self, peer, dataset, rounds):
        self.peer, self.dataset, self.rounds = peer, dataset, rounds

    def report(self, what, **values):
        print(json.dumps({"peer": self.peer, "dataset": self.dataset, "what": what} | values),
              flush=True)

    def opened(self):
        """Called after opening and before reading: memory counts from here."""
        self.base = status("VmRSS")

    def time(self, what, function, per=1):
        """Reports the least time of one call, divided by `per`, and its memory."""
        least = Least()
        Path("/proc/self/clear_refs").write_text("5")  # the peak is measured from here on
        for _ in range(self.rounds):
            result = None
            with least:
                result = function()
        size = result.nbytes if result is not None else 0
        extra = max(0, status("VmHWM") - self.base - size)
        self.report(what, **least.values(per), extra=extra)

    def time_program(self, what, command):
        """Reports the least time of a program."""
        least = float("inf")
        for _ in range(self.rounds):
            begin = time.perf_counter()
            subprocess.run(command, check=True)
            least = min(least, time.perf_counter() - begin)
        self.report(what, ms=round(least * 1e3, 4))


def status(field):
    """VmRSS (resident) or VmHWM (its peak), in bytes."""
    text = Path("/proc/self/status").read_text()
    return int(text.split(field + ":")[1].split()[0]) * 1024


def time_array(timer, read):
    """whole and windows of every object that is indexed like numpy; `read` opens it and takes a
    key."""
    array = read()
    timer.opened()
    timer.time("whole", lambda: read()(...))
    if len(array.shape) == 2:
        places = corners(array.shape, 256, WINDOWS)

        def windows():
            array = read()
            for corner in places:
                result = array(box(corner, 256))
            return result

        timer.time("windows-256", windows, per=WINDOWS)


class Indexed:
    """A function of a key, with a shape."""

    def __init__(self, shape, function):
        self.shape, self.function = shape, function

    def __call__(self, key):
        return self.function(key)


def run_zarr_python(path, timer):
    import zarr

    def read():
        array = zarr.open_array(str(path), mode="r")
        return Indexed(array.shape, array.__getitem__)

    time_array(timer, read)


def run_zarrs(path, timer):
    import zarr
    import zarrs  # noqa: F401  (registers the pipeline)

    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    run_zarr_python(path, timer)


def run_tensorstore(path, timer):
    import tensorstore

    spec = {
        "driver": "zarr3" if (path / "zarr.json").exists() else "zarr",
        "kvstore": {"driver": "file", "path": str(path)},
        "context": {"cache_pool": {"total_bytes_limit": 0}},
    }

    def read():
        array = tensorstore.open(spec, open=True, read=True).result()
        return Indexed(array.shape, lambda key: array[key].read().result())

    time_array(timer, read)


def run_h5py(path, timer):
    if path.suffix == ".zarr":
        os.environ["HDF5_VOL_CONNECTOR"] = "zarr"  # which HDF5 2.x needs
    import h5py

    timer.peer = "h5py+ours" if path.suffix == ".zarr" else "hdf5"
    file = h5py.File(path, "r")
    data = next(iter(file.values()))
    timer.opened()
    timer.time("whole", lambda: data[...])
    if data.ndim != 3:
        return

    def planes():
        for z in range(32, data.shape[0], 64):
            plane = data[z]
        return plane

    timer.time("plane", planes, per=data.shape[0] // 64)
    timer.time("strided", lambda: data[::4, ::4, ::4])
    places = corners(data.shape, 64, 1000)

    def windows():
        with h5py.File(path, "r") as file:
            data = next(iter(file.values()))
            for corner in places:
                result = data[box(corner, 64)]
        return result

    timer.time("windows-64", windows, per=len(places))


def run_gdal(path, timer):
    from osgeo import gdal

    gdal.UseExceptions()
    ours = path.suffix == ".zarr"
    timer.peer = "gdal+ours" if ours else "gtiff"

    def open_band():
        options = [] if ours else ["NUM_THREADS=2"]
        dataset = gdal.OpenEx(str(path), gdal.OF_RASTER, open_options=options)
        return dataset, dataset.GetRasterBand(1)

    dataset, band = open_band()
    driver = dataset.GetDriver().ShortName
    if driver != ("Zarr3" if ours else "GTiff"):
        sys.exit(f"{path} was opened by {driver}: is the driver in GDAL_DRIVER_PATH?")
    timer.opened()

    def whole():
        dataset, band = open_band()
        return band.ReadAsArray()

    def scanlines():
        dataset, band = open_band()
        for y in range(1000, 1512):
            row = band.ReadAsArray(0, y, dataset.RasterXSize, 1)
        return row

    places = corners((dataset.RasterYSize, dataset.RasterXSize), 700, WINDOWS)

    def windows():
        dataset, band = open_band()
        for y, x in places:
            window = band.ReadAsArray(x, y, 700, 700)
        return window

    timer.time("whole-band", whole)
    timer.time("scanlines", scanlines)
    timer.time("windows-700", windows)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        hillshade = ["gdaldem", "hillshade", "-q", path, f"{folder}/shade.tif"]
        timer.time_program("hillshade", hillshade)
        png = ["gdal_translate", "-q", "-of", "PNG", "-ot", "Byte", "-scale", "0", "3000", "-co",
               "ZLEVEL=1", path, f"{folder}/view.png"]
        timer.time_program("png", png)


def time_windows(path, timer, driver):
    from osgeo import gdal

    gdal.UseExceptions()
    gdal.SetCacheMax(2**30)

    def open_band():
        dataset = gdal.OpenEx(str(path), gdal.OF_RASTER, allowed_drivers=[driver])
        return dataset, dataset.GetRasterBand(1)

    dataset, band = open_band()
    timer.opened()
    for edge in (256, 700):
        places = corners((dataset.RasterYSize, dataset.RasterXSize), edge, WINDOWS)

        def windows():
            dataset, band = open_band()
            for y, x in places:
                window = band.ReadAsArray(x, y, edge, edge)
            return window

        timer.time(f"windows-{edge}", windows, per=WINDOWS if edge == 256 else 1)


def run_windows_ours(path, timer):
    time_windows(path, timer, "Zarr3")


def run_windows_own(path, timer):
    from osgeo import gdal

    for threads in "1", "2":  # either may be the better one
        gdal.SetConfigOption("GDAL_NUM_THREADS", threads)
        time_windows(path, timer, "Zarr")


RUNNERS = {
    "zarr-python": run_zarr_python,
    "zarrs": run_zarrs,
    "tensorstore": run_tensorstore,
    "h5py": run_h5py,
    "gdal": run_gdal,
    "windows-ours": run_windows_ours,
    "windows-own": run_windows_own,
}


def main(peer, path, rounds="3"):
    path = Path(path)
    RUNNERS[peer](path, Timer(peer, path.name, int(rounds)))


if __name__ == "__main__":
    main(*sys.argv[1:])
