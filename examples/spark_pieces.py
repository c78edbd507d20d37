# SPDX-License-Identifier: MIT
"""Spark: partitions that each write whole shards. spark-submit spark_pieces.py x.zarr"""
import sys

import h5py
import numpy as np
from pyspark.sql import SparkSession

import zarrbridge.dask as zd

path = sys.argv[1]
with h5py.File(path, "w", driver="zarr", shards=(128, 128)) as store:
    store.create_dataset("field", (256, 320), "i4", chunks=(32, 32), compression="gzip")


def write(target, piece):
    rows, columns = np.ogrid[piece.slices]
    target[piece.slices] = rows * 1000 + columns


target = zd.H5Target(path, "field")
pieces = zd.plan(path, "field")
spark = SparkSession.builder.getOrCreate()
spark.sparkContext.parallelize(pieces, len(pieces)).foreach(lambda piece: write(target, piece))
