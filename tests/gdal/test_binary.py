# SPDX-License-Identifier: MIT
"""The plugin file itself."""
import os
import subprocess
from pathlib import Path

PLUGIN = Path(os.environ["GDAL_DRIVER_PATH"]) / "gdal_Zarr3.so"


def test_exports_only_the_entry():
    """Neither the core nor instances of C++ templates, which would be shared with a program that has them, too."""
    defined = subprocess.run(["nm", "-D", "--defined-only", PLUGIN], check=True, capture_output=True, text=True).stdout
    assert [line.split()[-1] for line in defined.splitlines()] == ["GDALRegister_Zarr3"]
