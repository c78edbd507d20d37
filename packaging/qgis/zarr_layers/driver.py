# SPDX-License-Identifier: MIT
"""Is GDAL's driver Zarr3 there, and how to get it. No QGIS."""

import os

from osgeo import gdal

NAME = "Zarr3"
PAGE = "docs/qgis.md of zarrbridge"


def is_there():
    """True where GDAL has loaded the driver."""
    return gdal.GetDriverByName(NAME) is not None


def version():
    """GDAL's minor version, which a build of the driver fits: 3.10."""
    return ".".join(gdal.VersionInfo("RELEASE_NAME").split(".")[:2])


def told():
    """(whether it is there, what to tell the user)."""
    if is_there():
        return True, f"The driver {NAME} is installed (GDAL {version()})."
    return False, advice(version(), found_files(), conda=os.environ.get("CONDA_PREFIX", ""), windows=os.name == "nt")


def found_files():
    """Files of the driver that GDAL has not loaded."""
    folders = (gdal.GetConfigOption("GDAL_DRIVER_PATH") or "").split(os.pathsep)
    prefix = os.environ.get("CONDA_PREFIX") or "/usr"
    folders += [os.path.join(prefix, "lib", "gdalplugins"), "/usr/lib/x86_64-linux-gnu/gdalplugins"]
    paths = [os.path.join(folder, f"gdal_{NAME}.so") for folder in dict.fromkeys(folders) if folder]
    return [path for path in paths if os.path.exists(path)]


def advice(gdal_version, files, conda="", windows=False):
    """What to do without the driver, in a few lines."""
    lines = [f"GDAL {gdal_version} of this QGIS has no driver {NAME}."]
    if files:
        lines.append(f"{files[0]} is there, and was not loaded: it is of another version of GDAL than {gdal_version}. "
                     "Install the one that fits, and start QGIS again.")
    elif windows:
        lines.append("There is no build for Windows yet.")
    elif conda:
        lines.append("In this conda environment: build it with the environment's own GDAL, and set GDAL_DRIVER_PATH "
                     "to its folder before QGIS starts.")
    else:
        lines.append("On Debian: install the package gdal-plugin-zarr3 that `tools/package deb` makes, or build it: "
                     "`tools/install-deps && cmake --preset release && cmake --build --preset release && "
                     "sudo cmake --install build/release`. For one in another folder, set GDAL_DRIVER_PATH before "
                     "QGIS starts.")
    if tuple(int(part) for part in gdal_version.split(".")) < (3, 10):
        lines.append("The driver needs GDAL 3.10 or later.")
    return " ".join([*lines, f"More: {PAGE}."])
