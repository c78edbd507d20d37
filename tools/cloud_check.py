# SPDX-License-Identifier: MIT
"""The steps of tools/cloud-check. Exit status: 0 all is well, 1 something differs or fails."""

import argparse
import importlib.util
import os
import pathlib
import secrets
import subprocess
import sys
import tempfile
import time

import h5py
import numpy
from osgeo import gdal

MOST = 256  # of a window, along each dimension
PROGRAM = pathlib.Path(os.environ["ZARRBRIDGE_BUILD_DIR"], "core/zarrbridge")


def step(name, function, *arguments):
    """The result, and a line for it; a failure ends the check."""
    begun = time.monotonic()
    try:
        result, words = function(*arguments)
    except Exception as error:  # whatever a library says
        sys.exit(f"FAILED  {name}: {error}")
    print(f"ok      {name}: {words} ({time.monotonic() - begun:.2f} s)", flush=True)
    return result


def zarrbridge(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr or done.stdout).strip())
    return done.stdout


def arrays_of(url):
    lines = [line.split() for line in zarrbridge("ls", url).splitlines()]
    arrays = [words[1].strip("/") for words in lines if words[0] == "array"]
    return arrays, f"{len(lines)} nodes, {len(arrays)} of them arrays"


def window_of(shape):
    """A part from the middle."""
    return tuple(slice(n // 2 - min(n, MOST) // 2, n // 2 - min(n, MOST) // 2 + min(n, MOST))
                 if n else slice(0, 0) for n in shape)


def by_hdf5(url, path):
    with h5py.File("zarr:" + url, "r") as file:
        dataset = file[path] if path else file[list(file)[0]]
        window = window_of(dataset.shape)
        values = dataset[window]
    words = ", ".join(f"{part.start}:{part.stop}" for part in window)
    return (window, values), f"/{path}[{words}], {values.nbytes} bytes"


def by_gdal(url, path, window, values):
    gdal.UseExceptions()
    group = gdal.OpenEx("ZARR3:" + url, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    array = group.OpenMDArrayFromFullname("/" + path)
    got = array.ReadAsArray([s.start for s in window], [s.stop - s.start for s in window])
    return None, same(got, values)


def by_zarr_python(url, path, window, values):
    import zarr
    name = url.split("#")[0]
    options = {"anon": True} if "anon=1" in url else {}
    node = zarr.open(name, mode="r", storage_options=options if name.startswith("s3:") else None)
    return None, same(node[path][window] if path else node[window], values)


def same(got, values):
    if not numpy.array_equal(got, values, equal_nan=values.dtype.kind in "fc"):
        raise RuntimeError("other values than through HDF5")
    return "the same values"


def write(prefix):
    """A store of noise, copied there and read back."""
    name = f"{prefix.rstrip('/')}/zarrbridge-check-{secrets.token_hex(6)}.zarr"
    values = numpy.random.default_rng().integers(0, 65535, (300, 500), "u2")
    with tempfile.TemporaryDirectory() as folder:
        local = os.path.join(folder, "w.zarr")
        with h5py.File(local, "w") as file:
            file.create_dataset("noise", data=values, chunks=(100, 100))
        zarrbridge("copy", local, name)
    with h5py.File("zarr:" + name, "r") as file:
        same(file["noise"][...], values)
    return None, f"{name} was written and read back; it is left there"


def main():
    parser = argparse.ArgumentParser(prog="tools/cloud-check")
    parser.add_argument("url")
    parser.add_argument("--array", help="path of the array that is read; the first one else")
    parser.add_argument("--write", metavar="PREFIX", help="make a small store below this URL")
    chosen = parser.parse_args()
    arrays = step("list", arrays_of, chosen.url)
    if not arrays and chosen.array is None:
        sys.exit("FAILED  the store has no array")
    path = chosen.array.strip("/") if chosen.array is not None else arrays[0]
    window, values = step("a window by HDF5", by_hdf5, chosen.url, path)
    if path and values.dtype.kind in "iuf":
        step("the same by GDAL", by_gdal, chosen.url, path, window, values)
    needed = "s3fs" if chosen.url.startswith("s3:") else "aiohttp"
    if chosen.url.partition("#")[2] not in ("", "anon=1"):
        print("skipped the same by zarr-python: it does not know the options behind the '#'")
    elif all(importlib.util.find_spec(name) for name in ("zarr", "fsspec", needed)):
        step("the same by zarr-python", by_zarr_python, chosen.url, path, window, values)
    else:
        print(f"skipped the same by zarr-python: it or fsspec or {needed} is not installed")
    if chosen.write:
        step("writing", write, chosen.write)


if __name__ == "__main__":
    main()
