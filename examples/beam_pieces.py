# SPDX-License-Identifier: MIT
"""Beam: elements that are pieces of whole shards, here by the direct runner. python3 beam_pieces.py x.zarr"""
import sys

import apache_beam as beam
import h5py
import numpy as np

import zarrbridge.dask as zd

path, *options = sys.argv[1:]
with h5py.File(path, "w", driver="zarr", shards=(128, 128)) as store:
    store.create_dataset("field", (256, 320), "i4", chunks=(32, 32), compression="gzip")


def write(piece, target):
    rows, columns = np.ogrid[piece.slices]
    target[piece.slices] = rows * 1000 + columns


target = zd.H5Target(path, "field")
with beam.Pipeline(argv=options) as pipeline:
    _ = pipeline | beam.Create(zd.plan(path, "field")) | beam.Reshuffle() | beam.Map(write, target)
