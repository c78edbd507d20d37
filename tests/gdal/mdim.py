# SPDX-License-Identifier: MIT
"""What the tests of the multidimensional API share."""
import json

import numpy as np
from osgeo import gdal, gdal_array


def opened_mdim(path, update=False):
    """Opens a store's root group and makes sure that it is ours; returns dataset and group."""
    flags = gdal.OF_MULTIDIM_RASTER | (gdal.OF_UPDATE if update else 0)
    dataset = gdal.OpenEx(str(path), flags)
    assert dataset.GetDriver().ShortName == "Zarr3"
    return dataset, dataset.GetRootGroup()


def put_bytes(path, name, data_type, fill, values, names=None, attributes=None):
    """An array of a type that zarr-python does not write: values is a numpy array of its bytes."""
    folder = path / name
    (folder / "c").mkdir(parents=True)
    (folder / "zarr.json").write_text(json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": values.shape, "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": values.shape}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
        "fill_value": fill, "attributes": attributes or {},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        **({"dimension_names": names} if names else {})}))
    (folder / ("c" + ".0" * values.ndim)).write_bytes(values.tobytes())


def new_mdim(path, *options):
    """Creates an empty multidimensional dataset; returns dataset and root group."""
    dataset = gdal.GetDriverByName("Zarr3").CreateMultiDimensional(str(path), [], list(options))
    return dataset, dataset.GetRootGroup()


def kind_of(dtype):
    """GDAL's type of numpy's."""
    code = gdal_array.NumericTypeCodeToGDALTypeCode(np.dtype(dtype).type)
    return gdal.ExtendedDataType.Create(code)


def add(group, name, data, dimensions=None, options=()):
    """Creates an array of numbers along the dimensions (new ones unless they are given) and writes
    it."""
    data = np.asarray(data)
    if dimensions is None:
        dimensions = [group.CreateDimension(f"{name}_{i}", None, None, size)
                      for i, size in enumerate(data.shape)]
    array = group.CreateMDArray(name, dimensions, kind_of(data.dtype), list(options))
    assert array.Write(data) == gdal.CE_None
    return array
