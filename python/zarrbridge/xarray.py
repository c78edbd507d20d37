# SPDX-License-Identifier: MIT
"""xarray: xarray.open_dataset("x.zarr", engine="zarrbridge"), and open_datatree, by h5netcdf with the driver zarr."""
import importlib.util
import os

from xarray.backends import H5netcdfBackendEntrypoint

import zarrbridge
from zarrbridge import _names


def _name(name):
    """h5netcdf would give a bare URL to another library."""
    text = os.fspath(name) if isinstance(name, (str, os.PathLike)) else name
    if isinstance(text, str) and _names.is_url(text):
        return "zarr:" + text
    return text


def _keywords(keywords):
    """Dimensions that no array describes keep their names; those without a name get one."""
    options = {"netcdf_dimensions": 1, **(keywords.pop("driver_kwds", None) or {})}
    zarrbridge.enable()
    return {"phony_dims": "sort", **keywords, "driver": "zarr", "driver_kwds": options}


class ZarrbridgeBackendEntrypoint(H5netcdfBackendEntrypoint):
    """The engine "zarrbridge". The options of the connector are driver_kwds."""

    description = "Open Zarr v3 stores in Xarray by HDF5 and zarrbridge"
    url = ""

    def guess_can_open(self, filename_or_obj):
        """Where zarr-python is installed, its engine is the one for these names."""
        return (isinstance(filename_or_obj, (str, os.PathLike)) and importlib.util.find_spec("zarr") is None
                and os.fspath(filename_or_obj).rstrip("/").endswith(_names.SUFFIXES))

    def open_dataset(self, filename_or_obj, **keywords):
        return super().open_dataset(_name(filename_or_obj), **_keywords(keywords))

    def open_datatree(self, filename_or_obj, **keywords):
        return super().open_datatree(_name(filename_or_obj), **_keywords(keywords))

    def open_groups_as_dict(self, filename_or_obj, **keywords):
        return super().open_groups_as_dict(_name(filename_or_obj), **_keywords(keywords))
