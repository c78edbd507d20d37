# SPDX-License-Identifier: MIT
"""The stores of test_door_programs.py: of each library that makes some, with what programs of netCDF meet. As a
program: door_stores.py NAME PATH makes one."""

import shutil
import sys
import warnings

import numpy as np

T = (np.arange(6 * 8 * 10, dtype="f4") / 4).reshape(6, 8, 10)
TIME, LAT, LON = np.arange(6) * 24.0, np.linspace(-70, 70, 8), np.linspace(0, 324, 10)
COORDINATES = {
    "time": (TIME, {"units": "hours since 2000-01-01 00:00:00", "calendar": "standard", "standard_name": "time"}),
    "lat": (LAT, {"units": "degrees_north", "standard_name": "latitude", "axis": "Y"}),
    "lon": (LON, {"units": "degrees_east", "standard_name": "longitude", "axis": "X"}),
}
DIMENSIONS = ("time", "lat", "lon")


def by_xarray(path):
    """Shards, packed numbers, text."""
    import xarray
    words = np.array([f"row {i} ö" for i in range(8)], object)
    data = xarray.Dataset(
        {"t": (DIMENSIONS, T, {"units": "K", "long_name": "temperature", "empty": ""}),
         "packed": (DIMENSIONS, T, {"units": "m"}), "words": (("lat",), words)},
        {name: ((name,), values, attributes) for name, (values, attributes) in COORDINATES.items()},
        {"title": "by xarray", "Conventions": "CF-1.8"})
    none = {"_FillValue": None}
    packed = {"dtype": "i2", "scale_factor": 0.5, "add_offset": 10.0, "_FillValue": -999}
    data.to_zarr(path, zarr_format=3, encoding={
        "t": {"chunks": (1, 4, 5), "shards": (3, 8, 10)}, "packed": packed, "time": none, "lat": none, "lon": none})


def by_zarr(path):
    """Every number, groups, a scalar, a dimension of no length, shards, a dimension without a variable."""
    import zarr
    root = zarr.open_group(path, mode="w", zarr_format=3, attributes={"title": "by zarr-python", "list": [1, 2]})

    def put(group, name, data, dimensions, attributes=None, **options):
        data = np.asarray(data)
        array = group.create_array(name, shape=data.shape, dtype=data.dtype, dimension_names=dimensions,
                                   attributes=attributes, **options)
        array[...] = data

    for name, (values, attributes) in COORDINATES.items():
        put(root, name, values, (name,), attributes)
    put(root, "t", T, DIMENSIONS, {"units": "K"}, chunks=(1, 4, 5), shards=(3, 8, 10))
    for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f8"):
        put(root, kind, np.arange(8).astype(kind), ("lat",), chunks=(3,))
    put(root, "scalar", 7.5, ())
    put(root, "none", np.zeros((0, 8), "f4"), ("empty", "lat"), chunks=(1, 8))
    group = root.create_group("g", attributes={"deep": True, "words": ["a", "bb"]})
    put(group, "w", T[0], ("lat", "lon"), {"units": "m"}, chunks=(4, 4))
    put(group, "alone", np.arange(4), ("band",))


def by_netcdf(path):
    """Unlimited dimensions, one of them of no length; enums, compounds, texts, characters, groups."""
    import netCDF4
    with netCDF4.Dataset(path, "w") as file:
        file.title = "by netCDF"
        for name, size in (("time", None), ("lat", 8), ("lon", 10), ("never", None), ("nothing", 3), ("n", 4)):
            file.createDimension(name, size)
        for name, (values, attributes) in COORDINATES.items():
            variable = file.createVariable(name, "f8", (name,))
            variable.setncatts(attributes)
            variable[:] = values
        t = file.createVariable("t", "f4", DIMENSIONS, zlib=True, chunksizes=(1, 4, 5))
        t.units = "K"
        t[:] = T
        packed = file.createVariable("packed", "i2", DIMENSIONS, fill_value=-999)
        packed.scale_factor, packed.add_offset = 0.5, 10.0
        packed[:] = T
        file.createVariable("zero", "f4", ("never", "lon"))
        cloud = file.createEnumType("u1", "cloud", {"clear": 0, "low": 1, "high": 2})
        file.createVariable("c", cloud, ("lat",))[:] = np.arange(8) % 3
        pair = np.dtype([("a", "i4"), ("b", "f8")])
        pairs = file.createVariable("p", file.createCompoundType(pair, "pair"), ("lat",))
        pairs[:] = np.array([(i, i / 2) for i in range(8)], pair)
        file.createVariable("s", str, ("lat",))[:] = np.array([f"w{i}é" for i in range(8)], object)
        letters = np.array(["ab", "cdef", "g", ""] * 2, "S4")
        file.createVariable("letters", "S1", ("lat", "n"))[:] = netCDF4.stringtochar(letters)
        group = file.createGroup("g")
        group.createDimension("k", 3)
        group.createVariable("w", "f8", ("k", "lon"))[:] = np.arange(30).reshape(3, 10)
        group.deep = 1


def by_h5py(path):
    import h5py
    with h5py.File(path, "w") as file:
        file.attrs["title"] = "by h5py"
        for name, (values, attributes) in COORDINATES.items():
            file.create_dataset(name, data=values, maxshape=(None,) if name == "time" else None)
            file[name].attrs.update(attributes)
            file[name].make_scale(name)
        t = file.create_dataset("t", data=T, chunks=(1, 4, 5), compression="gzip", maxshape=(None, 8, 10))
        t.attrs["units"] = "K"
        for i, name in enumerate(DIMENSIONS):
            t.dims[i].attach_scale(file[name])
        file["bare"] = np.arange(12).reshape(3, 4)
        file["g/x"] = 1
        file["s"] = np.array(["a", "bb"], object)


def by_gdal(path):
    """A raster, which is called t, too."""
    from osgeo import gdal, osr
    gdal.UseExceptions()
    raster = gdal.GetDriverByName("MEM").Create("", 10, 8, 1, gdal.GDT_Float32)
    raster.GetRasterBand(1).WriteArray(T[0])
    raster.SetGeoTransform((0, 36, 0, 80, 0, -20))
    place = osr.SpatialReference()
    place.ImportFromEPSG(4326)
    raster.SetProjection(place.ExportToWkt())
    gdal.GetDriverByName("Zarr3").CreateCopy(path, raster, options=["ARRAY_NAME=t"])


MAKERS = {"xarray": by_xarray, "zarr": by_zarr, "netcdf": by_netcdf, "h5py": by_h5py, "gdal": by_gdal}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    shutil.rmtree(sys.argv[2], ignore_errors=True)
    MAKERS[sys.argv[1]](sys.argv[2])
