# SPDX-License-Identifier: MIT
"""Writes rows of an int32 array through h5py or GDAL, as orders come in:

    plugin_writer.py h5py|gdal

reads lines `PATH ARRAY VALUE ROW ...` and answers each with `done`. Every row is written by a file
or dataset of its own. An error ends the program with a message and status 1.
"""
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "actors"))
from closing import close


def by_h5py(path, array, rows, values):
    import h5py
    with h5py.File(path, "r+") as file:
        dataset = file[array]
        for row, value in zip(rows, values):
            dataset[row, :] = value
        file.flush()


def by_gdal(path, array, rows, values):
    from osgeo import gdal
    gdal.UseExceptions()
    dataset = gdal.OpenEx(f"{path}/{array}", gdal.OF_RASTER | gdal.OF_UPDATE,
                          allowed_drivers=["Zarr3"])
    for row, value in zip(rows, values):
        line = np.full((1, dataset.RasterXSize), value, "i4")
        dataset.GetRasterBand(1).WriteArray(line, 0, row)
    close(dataset)


def obey(library, line):
    write = {"h5py": by_h5py, "gdal": by_gdal}[library]
    path, array, value, *rows = line.split()
    rows = [int(row) for row in rows]
    if value == "each":  # a file of its own for each row
        for row in rows:
            write(path, array, [row], [100 + row])
    else:  # all rows by one file
        write(path, array, rows, [int(value) + row for row in rows])


def main():
    for line in sys.stdin:
        obey(sys.argv[1], line)
        print("done", flush=True)


if __name__ == "__main__":
    main()
