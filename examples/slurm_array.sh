#!/bin/sh
# SPDX-License-Identifier: MIT
# Slurm: a job array, of which each task writes whole shards. Make x.zarr/field first, then:
#     sbatch --array=0-3 slurm_array.sh x.zarr field
# The piece follows from the number of the task; doing one again stores the same.
box=$(zarrbridge plan "$1/$2" --pieces "$SLURM_ARRAY_TASK_COUNT" --piece "$SLURM_ARRAY_TASK_ID") || exit 1
[ -n "$box" ] || exit 0 # more tasks than shards
exec python3 - "$1" "$2" "$box" <<'END'
import sys

import h5py
import numpy as np

import zarrbridge

path, name, box = sys.argv[1:]
piece = tuple(slice(*map(int, part.split(":"))) for part in box.split(","))
with h5py.File(path, "r+", driver="zarr") as store:
    rows, columns = np.ogrid[piece]
    store[name][piece] = rows * 1000 + columns
END
