# SPDX-License-Identifier: MIT
"""GDAL's own Zarr driver as a peer of the differential tests, by its multidimensional interface."""

import numpy as np
from diff_peers import CORE, Absent, Peer, number


class Gdal(Peer):
    name, v2 = "gdal", True
    types = CORE

    def __init__(self):
        try:
            from osgeo import gdal
        except ImportError as error:
            raise Absent(str(error)) from None
        gdal.UseExceptions()
        self.gdal, self.version = gdal, gdal.__version__
        if number(self.version) < (3, 13):
            raise Absent(f"GDAL {self.version} is older than 3.13")
        known = gdal.GetDriverByName("Zarr").GetMetadataItem("COMPRESSORS").lower().split(",")
        self.codecs = {"bytes", "transpose", "sharding_indexed", "crc32c",
                       *({"gzip", "zstd", "blosc"} & set(known))}
        self.v2_codecs = {"gzip", "zstd", "blosc"} & set(known)
        self.v2_codecs |= {f"numcodecs.{name}" for name in ("zlib", "lz4", "lzma") if name in known}

    def read(self, path, windows, case):
        dataset = self.gdal.OpenEx(str(path), self.gdal.OF_MULTIDIM_RASTER, ["Zarr"])
        group = dataset.GetRootGroup()
        array = group.OpenMDArray(group.GetMDArrayNames()[0])
        found = []
        for start, step, count in windows:
            if 0 in count:
                found.append(np.zeros(count))
            elif not count:
                found.append(np.asarray(array.ReadAsArray()).reshape(()))
            else:
                found.append(array.ReadAsArray(list(start), list(count), list(step)))
        return found
