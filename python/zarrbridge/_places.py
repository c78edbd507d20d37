# SPDX-License-Identifier: MIT
"""Where the files of this package are, and the environment variables that lead programs to them.

    bin/zarrbridge                          the program
    lib/hdf5/libhdf5_vol_zarr.so            the connector, alone in its folder, since HDF5 opens every file there
    lib/gdal/gdal_Zarr3-3.12.so             the driver for one minor version of GDAL, before it is patched (_gdal.py)
    lib/zarrbridge/libzarrbridge_remote.so  what the two load at the first URL

An installation from a distribution has none of these: its HDF5 and GDAL find the plugins by themselves."""
import os

FOLDER = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(FOLDER, "bin", "zarrbridge")
LIB = os.path.join(FOLDER, "lib")
HDF5_PLUGINS = os.path.join(LIB, "hdf5")
GDAL_PLUGINS = os.path.join(LIB, "gdal")
# Compiled into HDF5 unless its builder has another; the variable takes the place of it.
HDF5_DEFAULT_PLUGINS = "/usr/local/hdf5/lib/plugin"

_exported = {}  # the variables that export_env has set, with their values before


def _is_program(path):
    """Not a script: it may be the command of this package."""
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF" and os.access(path, os.X_OK)
    except OSError:
        return False


def find_program():
    """That of the package; where it has none, a distribution's, on PATH."""
    places = [PROGRAM, *(os.path.join(folder, "zarrbridge") for folder in os.get_exec_path())]
    return next(filter(_is_program, places), None)


def in_front(folder, folders):
    """The value of a variable like PATH, with the folder first and the others kept."""
    return os.pathsep.join([folder, *(f for f in folders.split(os.pathsep) if f and f != folder)])


def _set(name, value):
    _exported.setdefault(name, os.environ.get(name))
    os.environ[name] = value


def export_env():
    """Sets the variables by which child processes (Dask workers, mpirun, h5ls, gdalinfo) open stores: HDF5_PLUGIN_PATH,
    HDF5_VOL_CONNECTOR and GDAL_DRIVER_PATH, with the folders of this package before those that are there. HDF5 in this
    process has read them at its start; GDAL reads its one when it registers its drivers. Returns what it has set."""
    from zarrbridge import _gdal

    if os.path.isdir(HDF5_PLUGINS):
        _set("HDF5_PLUGIN_PATH", in_front(HDF5_PLUGINS, os.environ.get("HDF5_PLUGIN_PATH", HDF5_DEFAULT_PLUGINS)))
    if not os.environ.get("HDF5_VOL_CONNECTOR"):
        _set("HDF5_VOL_CONNECTOR", "zarr")
    drivers = _gdal.prepare()
    if drivers:
        _set("GDAL_DRIVER_PATH", in_front(drivers, os.environ.get("GDAL_DRIVER_PATH", "")))
    return {name: os.environ[name] for name in _exported}


def unexport_env():
    while _exported:
        name, before = _exported.popitem()
        if before is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = before
