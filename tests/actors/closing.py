# SPDX-License-Identifier: MIT
"""Closing a GDAL dataset when that may fail."""


def close(dataset):
    try:
        dataset.Close()
    except RuntimeError:
        # GDAL's Python binding forgets only after a success that the dataset has gone, and would
        # free it once more.
        dataset.thisown = 0
        dataset.this = None
        raise
