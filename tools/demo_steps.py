# SPDX-License-Identifier: MIT
"""The steps of tools/demo that need Python: python demo_steps.py STEP ARGUMENT...

make-landsat TIF STORE     a GeoTIFF as a sharded Zarr v3 group, written by xarray and zarr-python
make-climate NC STORE      a netCDF file's variables likewise
raster STORE               the name under which GDAL opens the store's first raster
compare OUT SOURCE         every pixel, the place and the projection of two rasters
compare-zarr OUT STORE ARRAY X Y
                           every pixel of OUT with zarr-python's reading of the window at X, Y
slice STORE                opens the store with h5py and prints some of its first array
"""

import os
import sys

import numpy as np


def sharded(dataset, store, chunk, shard):
    """Writes a dataset with its data variables sharded."""
    encoding = {name: {"chunks": chunk, "shards": shard} for name in dataset.data_vars
                if dataset[name].ndim == len(chunk)}
    dataset.to_zarr(store, mode="w", zarr_format=3, encoding=encoding, consolidated=False)


def make_landsat(source, store):
    import xarray
    from osgeo import gdal

    gdal.UseExceptions()
    image = gdal.Open(source)
    x0, dx, _, y0, _, dy = image.GetGeoTransform()
    coords = {
        "y": ("y", y0 + dy * (np.arange(image.RasterYSize) + 0.5), {"units": "m"}),
        "x": ("x", x0 + dx * (np.arange(image.RasterXSize) + 0.5), {"units": "m"}),
        "band": np.arange(1, image.RasterCount + 1),
    }
    attributes = {"long_name": "Landsat 7 ETM+", "grid_mapping": "spatial_ref"}
    dataset = xarray.Dataset({
        "landsat": (("band", "y", "x"), image.ReadAsArray(), attributes),
        "spatial_ref": ((), 0, {"crs_wkt": image.GetSpatialRef().ExportToWkt(["FORMAT=WKT2"])}),
    }, coords)
    sharded(dataset, store, (1, 64, 64), (6, 256, 256))


def make_climate(source, store):
    import xarray

    with xarray.open_dataset(source, decode_times=False) as dataset:
        dataset.load()
        for variable in dataset.variables.values():
            variable.encoding = {}  # netCDF's chunks and compression are not Zarr's
        sharded(dataset, store, (4, 16, 32), (12, 48, 96))


def raster(store):
    from osgeo import gdal

    gdal.UseExceptions()
    dataset = gdal.Open(store)
    print(dataset.GetMetadata("SUBDATASETS").get("SUBDATASET_1_NAME", store))


def pixels(path):
    from osgeo import gdal

    gdal.UseExceptions()
    dataset = gdal.Open(path)
    return dataset, dataset.ReadAsArray()


def report(ours, theirs, name):
    """Prints the verdict; NaN equals NaN."""
    if ours.shape != theirs.shape:
        sys.exit(f"the shapes differ: {ours.shape} and {theirs.shape}")
    different = ours != theirs
    if ours.dtype.kind in "fc":
        different &= ~(np.isnan(ours) & np.isnan(theirs))
    print(f"{ours.size} pixels compared with {name}: {np.count_nonzero(different)} differ")
    if different.any():
        sys.exit(1)


def compare(out, source):
    ours, our_pixels = pixels(out)
    theirs, their_pixels = pixels(source)
    report(our_pixels, their_pixels, source)
    if not np.allclose(ours.GetGeoTransform(), theirs.GetGeoTransform(), rtol=1e-9):
        sys.exit(f"geotransform: {ours.GetGeoTransform()} and {theirs.GetGeoTransform()}")
    if not ours.GetSpatialRef().IsSame(theirs.GetSpatialRef()):
        sys.exit("the projections differ")
    print("same geotransform, same projection")


def bands_last(whole, shape):
    """Whether GDAL shows the last dimension as bands: its rows and columns are those before."""
    size = (whole.RasterYSize, whole.RasterXSize)
    return len(shape) > 2 and size != shape[-2:] and size == shape[-3:-1]


def window_key(whole, shape, window, x, y):
    """The window's key in an array of this shape; one of less than two dimensions is one row."""
    ends = (slice(y, y + window[-2]), slice(x, x + window[-1]))
    if bands_last(whole, shape):
        return (..., *ends, slice(None))
    return (..., *ends[2 - min(len(shape), 2):])


def array_folder(whole, store, array):
    """The folder of the array that GDAL shows under the name of the store or of a subdataset."""
    documents = [name for name in whole.GetFileList() or [] if name.endswith("/zarr.json")]
    return f"{store}/{array}" if array or not documents else os.path.dirname(documents[0])


def compare_zarr(out, store, array, x, y):
    import zarr
    from osgeo import gdal

    _, ours = pixels(out)
    whole = gdal.Open(f'ZARR3:"{store}":{array}' if array else store)
    try:
        # The store's root, or the one raster in it: GDAL's first file tells.
        source = zarr.open(array_folder(whole, store, array), mode="r")
        window = np.asarray(source[window_key(whole, source.shape, ours.shape, int(x), int(y))])
        if bands_last(whole, source.shape):
            window = np.moveaxis(window, -1, -3)
    except Exception as error:  # zarr-python's readers raise all kinds of exceptions
        print(f"zarr-python {zarr.__version__} cannot read this array, so nothing was compared: "
              f"{type(error).__name__}: {error}")
        return
    report(ours, window.reshape(ours.shape), f"zarr-python {zarr.__version__}")


def show_slice(store):
    import h5py

    with h5py.File(store, "r") as file:
        names = []
        file.visititems(lambda name, node: names.append(name) if isinstance(node, h5py.Dataset)
                        else None)
        if not names:
            sys.exit("no array in this store can be read")
        name = max(names, key=lambda n: file[n].ndim)
        data = file[name]
        key = (*[0] * (data.ndim - 2), *[slice(n // 2, n // 2 + 4) for n in data.shape[-2:]])
        print(f">>> f = h5py.File({store!r}); d = f[{name!r}]")
        print(f">>> d\n{data!r}\n>>> d.chunks\n{data.chunks}")
        print(f">>> dict(d.attrs)\n{dict(data.attrs)}")
        text = ", ".join(str(k) if isinstance(k, int) else f"{k.start}:{k.stop}" for k in key)
        print(f">>> d[{text or '()'}]\n{data[key]}")


STEPS = {
    "make-landsat": make_landsat,
    "make-climate": make_climate,
    "raster": raster,
    "compare": compare,
    "compare-zarr": compare_zarr,
    "slice": show_slice,
}

if __name__ == "__main__":
    STEPS[sys.argv[1]](*sys.argv[2:])
