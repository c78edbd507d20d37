# SPDX-License-Identifier: MIT
"""xarray: xarray.open_dataset("x.zarr", engine="zarrbridge"), and open_datatree, by h5netcdf with the driver zarr.

After `import zarrbridge.xarray` datasets have two functions that write into a store which is there:

    ds.zarrbridge.append("x.zarr", "time")                             behind what any program has appended
    ds.zarrbridge.write_region("x.zarr", {"time": slice(0, 10)})       in place of what is there

Any number of programs may call them at once, and Dask's blocks need not be aligned."""
import importlib.util
import inspect
import os

import xarray
from xarray.backends import H5netcdfBackendEntrypoint

import zarrbridge
from zarrbridge import _dataset, _names


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
    # xarray asks for the names, and does not find them in keywords.
    open_dataset_parameters = tuple(inspect.signature(H5netcdfBackendEntrypoint.open_dataset).parameters)[1:]

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


@xarray.register_dataset_accessor("zarrbridge")
class ZarrbridgeAccessor:
    """Writes into variables that a store has, with its types and encodings. Attributes are not changed. Variables
    without the dimensions that are written have to be as they are in the store."""

    def __init__(self, dataset):
        self._dataset = dataset

    def append(self, path, dim, group=None, compute=True):
        """Appends along a dimension all variables that have it. Gives the place of the first new element; with
        compute=False, where there are arrays of Dask, what writes those when it is computed."""
        return _dataset.append(self._dataset, path, dim, group, compute, ZarrbridgeBackendEntrypoint)

    def write_region(self, path, region="auto", group=None, compute=True):
        """Writes the dataset to a slice of each dimension in `region`; "auto", of one or of all: to where the labels
        are that it has."""
        return _dataset.write_region(self._dataset, path, region, group, compute, ZarrbridgeBackendEntrypoint)
