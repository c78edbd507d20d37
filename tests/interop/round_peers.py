# SPDX-License-Identifier: MIT
"""Other readers of our arrays.

    round_peers.py zarrs|tensorstore FOLDER OUT NAME...

reads the arrays FOLDER/NAME, each the root of a store, and writes the elements of each in C order
to OUT/NAME.bin, or the error to OUT/NAME.error. Its Python is the one of tools/bench-venv.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np


def read_zarr_python(path, padded=True):
    """The values by zarr-python. 3.0.6 cannot read a part of a nested shard, as at the edge of an
    array; padded: the array is made as large as its chunks before, and cut afterwards."""
    import refcodec
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


def read_zarrs(path):
    import zarr
    import zarrs  # noqa: F401  (registers the pipeline)

    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    warnings.simplefilter("ignore")
    return np.asarray(zarr.open_array(store=str(path), mode="r", zarr_format=3)[...])


def read_tensorstore(path):
    import tensorstore

    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path)}}
    values = tensorstore.open(spec, open=True, read=True).result().read().result()
    return np.asarray(values)


def main(reader, folder, out, *names):
    read = {"zarrs": read_zarrs, "tensorstore": read_tensorstore}[reader]
    for name in names:
        try:
            Path(out, f"{name}.bin").write_bytes(read(Path(folder, name)).tobytes())
        except Exception as error:  # the test judges every error of a reader
            Path(out, f"{name}.error").write_text(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main(*sys.argv[1:])
