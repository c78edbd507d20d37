# SPDX-License-Identifier: MIT
"""Cubed: blocks that are whole shards. Its own store() takes arrays of zarr-python alone; a function that writes its
block and gives one number back is for any target. python3 cubed_pieces.py x.zarr"""
import sys

import cubed
import cubed.array_api as xp
import h5py
import numpy as np

import zarrbridge.dask as zd

path = sys.argv[1]
shards = (128, 128)
with h5py.File(path, "w", driver="zarr", shards=shards) as store:
    store.create_dataset("field", (256, 320), "i4", chunks=(32, 32), compression="gzip")


def write(block, block_id):
    start = [i * n for i, n in zip(block_id, shards)]
    target[tuple(slice(i, i + n) for i, n in zip(start, block.shape))] = block
    return np.ones((1, 1), "i1")


target = zd.H5Target(path, "field")
rows = xp.reshape(xp.arange(256, chunks=128), (256, 1))
x = xp.astype(rows * 1000 + xp.arange(320, chunks=128), xp.int32)
done = cubed.map_blocks(write, x, dtype=xp.int8, chunks=tuple((1,) * len(n) for n in x.chunks))
done.compute()
