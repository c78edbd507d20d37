# SPDX-License-Identifier: MIT
"""Programs of netCDF on stores on the network, through a door: as on a native copy."""

import importlib.util
import json
import os
import shutil
import sys

import h5py
import numpy
import pytest
import zarr

from programs import HASTY, output, run
from sims3 import S3
from simserver import SimServer

SECRET = "canary/Secret+Key"
CUBE = numpy.arange(6 * 8 * 10, dtype="f4").reshape(6, 8, 10)
SMALLER = ["ncks", "-h", "-4", "-d", "time,1,3", "x.nc", "out.nc"]
NETCDF4 = """
import netCDF4
with netCDF4.Dataset("x.nc") as f:
    for name, v in f.variables.items(): print(name, v.dimensions, v.__dict__, v[...].tolist())
"""
R = 'library(ncdf4); f <- nc_open("x.nc"); print(ncvar_get(f, "t")); print(ncatt_get(f, 0))'
# Programs, and what is written as out.nc where it is in the line.
LINES = {
    "ncdump": ["ncdump", "x.nc"],
    "nccopy": ["nccopy", "-4", "x.nc", "out.nc"],
    "ncks": SMALLER,
    "ncra": ["ncra", "-h", "-4", "x.nc", "out.nc"],
    "ncrcat": ["ncrcat", "-h", "-4", "-d", "time,1,2", "x.nc", "x.nc", "out.nc"],
    "ncecat": ["ncecat", "-h", "-4", "x.nc", "x.nc", "out.nc"],
    "ncwa": ["ncwa", "-h", "-4", "-a", "lat", "x.nc", "out.nc"],
    "ncap2": ["ncap2", "-h", "-4", "-s", "u=t*2", "x.nc", "out.nc"],
    "ncpdq": ["ncpdq", "-h", "-4", "-a", "lon,lat", "x.nc", "out.nc"],
    "ncdiff": ["ncdiff", "-h", "-4", "x.nc", "x.nc", "out.nc"],
    "cdo": ["cdo", "-s", "--no_history", "-f", "nc4", "timmean", "x.nc", "out.nc"],
    "gmt": ["gmt", "grdinfo", "-L1", "x.nc?t[2]"],
    "Rscript": ["Rscript", "-e", R],
    "python3": [sys.executable, "-c", NETCDF4],
}


def make_cube(path):
    """With an unlimited dimension, as HDF5 programs make them: ncra and ncrcat need one."""
    root = zarr.open_group(path, mode="w", zarr_format=3, attributes={"title": "far"})
    dimensions = ("time", "lat", "lon")
    t = root.create_array("t", shape=CUBE.shape, chunks=(1, 4, 5), shards=(3, 8, 10), dtype="f4",
                          dimension_names=dimensions, attributes={"units": "K"})
    t[...] = CUBE
    units = ("days since 2000-01-01", "degrees_north", "degrees_east")
    for name, size, unit in zip(dimensions, CUBE.shape, units):
        array = root.create_array(name, shape=(size,), dtype="f8", dimension_names=(name,), attributes={"units": unit})
        array[...] = numpy.arange(size)
    for name, longest in (("t", [None, 8, 10]), ("time", [None])):
        root[name].attrs["_hdf5"] = json.dumps({"version": 1, "maxshape": longest})
    zarr.consolidate_metadata(path)


@pytest.fixture(params=["https", "s3"])
def far(request, tmp_path, certificate):
    """The name of a store on a server, and the variables with which programs reach it."""
    served = tmp_path / "served"
    served.mkdir()
    if request.param == "https":
        make_cube(served / "x.zarr")
        with SimServer(served, certificate=certificate) as server:
            yield server.url + "/x.zarr", HASTY | {"CURL_CA_BUNDLE": certificate[0]}
    else:
        (served / "bucket").mkdir()
        make_cube(served / "bucket/x.zarr")
        with SimServer(served, answer=S3({"AKID": SECRET})) as server:
            gone = {name: None for name in os.environ if name.startswith("AWS_")}
            yield "s3://bucket/x.zarr", gone | HASTY | {
                "AWS_ENDPOINT_URL": server.url, "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": SECRET,
                "HOME": tmp_path}


def is_there(name):
    if name == "python3":
        return importlib.util.find_spec("netCDF4") is not None
    if not shutil.which(name):
        return False
    return name != "Rscript" or run("Rscript", "-e", "library(ncdf4)").returncode == 0


@pytest.mark.parametrize("name", LINES)
def test_the_same_as_on_a_native_copy(far, tmp_path, name):
    for program in ("nccopy", name):
        if not is_there(program):
            pytest.skip(f"{program} is not installed")
    url, variables = far
    folders = [tmp_path / "door", tmp_path / "native"]
    for folder in folders:
        folder.mkdir()
    output(os.environ["ZARRBRIDGE_PROGRAM"], "door", url, "x.nc", cwd=folders[0], **variables)
    doors = variables | {"HDF5_VOL_CONNECTOR": "zarr"}
    output("nccopy", "x.nc", "../native/x.nc", cwd=folders[0], **doors)
    with h5py.File(folders[1] / "x.nc", "r") as copy:
        assert numpy.array_equal(copy["t"], CUBE) and copy["t"].maxshape == (None, 8, 10)
    native = {"HDF5_VOL_CONNECTOR": None}
    told = [output(*LINES[name], cwd=folder, **more) for folder, more in zip(folders, (doors, native))]
    assert told[0] == told[1]
    dumps = [output("ncdump", "out.nc" if "out.nc" in LINES[name] else "x.nc", cwd=folder, **more)
             for folder, more in zip(folders, (doors, native))]
    assert dumps[0] == dumps[1] and "title" in dumps[0]
