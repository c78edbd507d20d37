# SPDX-License-Identifier: MIT
"""The plugin file itself: bound to no libhdf5, and alone in its directory."""

import os
import subprocess
from pathlib import Path

PLUGIN = Path(os.environ["HDF5_PLUGIN_PATH"]) / "libhdf5_vol_zarr.so"


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_links_no_libhdf5():
    needed = [line for line in output("readelf", "-d", PLUGIN).splitlines() if "NEEDED" in line]
    assert needed and not [line for line in needed if "hdf5" in line]
    undefined = output("nm", "-D", "--undefined-only", PLUGIN).split()
    assert not [name for name in undefined if name.startswith("H5")]


def test_exports_only_the_entry_points():
    defined = output("nm", "-D", "--defined-only", PLUGIN).splitlines()
    assert sorted(line.split()[-1] for line in defined) == ["H5PLget_plugin_info", "H5PLget_plugin_type",
                                                            "zarrbridge_netcdf"]


def test_stays_loaded():
    assert "NODELETE" in output("readelf", "-d", PLUGIN)


def test_is_alone_in_its_directory():
    assert [p.name for p in PLUGIN.parent.iterdir()] == [PLUGIN.name]
