# SPDX-License-Identifier: MIT
"""Other readers of our arrays."""

import json
import warnings

import numpy as np
import refcodec


def read_zarr_python(path, padded=True):
    """The values by zarr-python. 3.0.6 cannot read a part of a nested shard, as at the edge of an
    array; padded: the array is made as large as its chunks before, and cut afterwards."""
    import zarr

    document = json.loads((path / "zarr.json").read_text())
    shape, chunk = document["shape"], document["chunk_grid"]["configuration"]["chunk_shape"]
    if padded:
        document["shape"] = [-(-n // m) * m for n, m in zip(shape, chunk)]
        refcodec.write_document(path, document)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # types and codecs outside the core specification
        values = zarr.open_array(store=str(path), mode="r", zarr_format=3)[...]
    return np.asarray(values)[tuple(slice(0, n) for n in shape)]
