# SPDX-License-Identifier: MIT
"""Lithops: functions that each write whole shards, here on this machine. python3 lithops_pieces.py x.zarr"""
import sys

import h5py
import lithops
import numpy as np

import zarrbridge.dask as zd

path = sys.argv[1]
with h5py.File(path, "w", driver="zarr", shards=(128, 128)) as store:
    store.create_dataset("field", (256, 320), "i4", chunks=(32, 32), compression="gzip")


def write(target, piece):
    rows, columns = np.ogrid[piece.slices]
    target[piece.slices] = rows * 1000 + columns


target = zd.H5Target(path, "field")
executor = lithops.LocalhostExecutor()
executor.map(write, [(target, piece) for piece in zd.plan(path, "field")])
executor.get_result()
