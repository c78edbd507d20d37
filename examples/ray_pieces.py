# SPDX-License-Identifier: MIT
"""Ray: tasks that each write whole shards. python3 ray_pieces.py x.zarr"""
import sys

import h5py
import numpy as np
import ray

import zarrbridge.dask as zd

path = sys.argv[1]
with h5py.File(path, "w", driver="zarr", shards=(128, 128)) as store:
    store.create_dataset("field", (256, 320), "i4", chunks=(32, 32), compression="gzip")


@ray.remote
def write(target, piece):
    rows, columns = np.ogrid[piece.slices]
    target[piece.slices] = rows * 1000 + columns


target = zd.H5Target(path, "field")
ray.init(num_cpus=2, include_dashboard=False)
ray.get([write.remote(target, piece) for piece in zd.plan(path, "field")])
