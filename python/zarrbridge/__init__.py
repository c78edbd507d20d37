# SPDX-License-Identifier: MIT
"""Zarr v3 for programs that speak HDF5 or GDAL.

After `import zarrbridge`, before or after h5py and rasterio, h5py.File("x.zarr") and rasterio.open("x.zarr") open Zarr
stores. Nothing else changes: names that are no stores are opened as ever.

    zarrbridge.disable()       takes all of that back; zarrbridge.enable() brings it again
    zarrbridge.export_env()    lets child processes, in any language, do the same

The import loads neither h5py nor rasterio nor HDF5 nor GDAL."""
from zarrbridge._hooks import disable, enable
from zarrbridge._places import export_env

__all__ = ["disable", "enable", "export_env"]
__version__ = "0.1.0"

enable()
