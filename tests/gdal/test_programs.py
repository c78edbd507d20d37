# SPDX-License-Identifier: MIT
"""GDAL's programs and rasterio on real rasters, compared with their sources."""
import json
import math

import numpy as np
import pytest
import xarray
import zarr
from osgeo import gdal

from conftest import DATA, opened, put, run, run_python, sub

LANDSAT = DATA / "L7_ETMs.tif"
ELEVATION = DATA / "olinda_dem_utm25s.tif"


def store_raster(root, name, source, **options):
    """A GeoTIFF as rioxarray would write it: CF grid mapping and coordinates."""
    dataset = gdal.Open(str(source))
    data = dataset.ReadAsArray()
    t = dataset.GetGeoTransform()
    dims = ("band", "y", "x")[3 - data.ndim:]
    put(root, name, data, {"grid_mapping": "spatial_ref"}, dims, **options)
    put(root, "x", t[0] + t[1] * (np.arange(data.shape[-1]) + .5), dims=("x",))
    put(root, "y", t[3] + t[5] * (np.arange(data.shape[-2]) + .5), dims=("y",))
    put(root, "spatial_ref", np.int32(0), {
        "crs_wkt": dataset.GetSpatialRef().ExportToWkt(["FORMAT=WKT2_2019"]),
        "GeoTransform": " ".join(repr(v) for v in t)})
    return dataset


def same_raster(path, source):
    copy = gdal.Open(str(path))
    assert (copy.ReadAsArray() == source.ReadAsArray()).all()
    assert copy.GetGeoTransform() == source.GetGeoTransform()
    assert copy.GetSpatialRef().IsSame(source.GetSpatialRef())


@pytest.mark.parametrize("options", [
    dict(chunks=(1, 64, 64)), dict(chunks=(6, 50, 50)), dict(chunks=(1, 64, 64),
                                                             shards=(6, 128, 128))])
def test_landsat_to_geotiff_and_back_to_pixels(store, tmp_path, options):
    path, root = store
    source = store_raster(root, "l7", LANDSAT, **options)
    for creation in ([], ["-co", "TILED=YES", "-co", "INTERLEAVE=PIXEL"]):
        run("gdal_translate", "-q", *creation, path, tmp_path / "out.tif")
        same_raster(tmp_path / "out.tif", source)


def test_elevation_hillshade_and_warp(store, tmp_path):
    path, root = store
    source = store_raster(root, "dem", ELEVATION, chunks=(32, 32))
    for command in (["gdaldem", "hillshade", "-q", "-of", "GTiff"],
                    ["gdaldem", "slope", "-q", "-of", "GTiff"],
                    ["gdalwarp", "-q", "-overwrite", "-t_srs", "EPSG:4326", "-r", "bilinear"],
                    ["gdal_translate", "-q", "-outsize", "50%", "50%", "-r", "average"]):
        run(*command, path, tmp_path / "ours.tif")
        run(*command, ELEVATION, tmp_path / "theirs.tif")
        ours = gdal.Open(str(tmp_path / "ours.tif"))
        theirs = gdal.Open(str(tmp_path / "theirs.tif"))
        assert np.allclose(ours.GetGeoTransform(), theirs.GetGeoTransform())
        assert np.array_equal(ours.ReadAsArray(), theirs.ReadAsArray(), equal_nan=True), command
    assert source.RasterXSize == opened(path).RasterXSize


@pytest.mark.parametrize("file,variable,shape", [
    ("bcsd_obs_1999.nc", "tas", (12, 33, 81)), ("reduced.nc", "sst", (1, 1, 90, 180))])
def test_netcdf_by_xarray(tmp_path, file, variable, shape):
    """Real climate data; both files are south-up, and map positions must be those of xarray."""
    path = str(tmp_path / "x.zarr")
    with xarray.open_dataset(DATA / file) as source:
        for name in source.variables:
            source[name].encoding.clear()
        source.to_zarr(path, zarr_format=3)
    data = xarray.open_zarr(path)[variable]
    assert data.shape == shape
    dataset = opened(sub(path, variable))
    shown = dataset.ReadAsArray().reshape(shape)
    assert np.array_equal(shown, data.values, equal_nan=True)
    t = dataset.GetGeoTransform()
    rows = data[data.dims[-2]].values
    assert rows[0] < rows[-1] and t[5] > 0
    assert np.allclose(t[3] + t[5] * (np.arange(shape[-2]) + .5), rows, atol=1e-4)
    assert np.allclose(t[0] + t[1] * (np.arange(shape[-1]) + .5), data[data.dims[-1]], atol=1e-4)
    assert dataset.GetSpatialRef().GetAuthorityCode(None) == "4326"
    if "time" in data.dims and shape[0] > 1:
        stated = [dataset.GetRasterBand(i + 1).GetMetadataItem("DIM_time_TIME")
                  for i in range(shape[0])]
        assert stated == [str(time)[:10] for time in data["time"].values]
    row, col = shape[-2] // 3, shape[-1] // 3
    out = str(tmp_path / "north.tif")
    run("gdalwarp", "-q", sub(path, variable), out)
    warped = gdal.Open(out)
    w = warped.GetGeoTransform()
    assert w[5] < 0
    y = int((float(rows[row]) - w[3]) / w[5])
    x = int((float(data[data.dims[-1]][col]) - w[0]) / w[1])
    band = warped.GetRasterBand(1).ReadAsArray(x, y, 1, 1)[0, 0]
    value = data.values.reshape(-1, *shape[-2:])[0, row, col]
    assert band == value or (math.isnan(band) and math.isnan(value))


def test_gdalinfo_as_json_with_statistics(store):
    path, root = store
    store_raster(root, "dem", ELEVATION, chunks=(32, 32))
    told = json.loads(run("gdalinfo", "-json", "-stats", path))
    band = told["bands"][0]
    data = gdal.Open(str(ELEVATION)).ReadAsArray()
    assert band["block"] == [32, 32]
    assert band["minimum"] == data.min() and band["maximum"] == data.max()
    assert told["driverShortName"] == "Zarr3"


RASTERIO = r"""
import json, sys, numpy, rasterio
with rasterio.open(sys.argv[1]) as d:
    with rasterio.open(sys.argv[2]) as s:
        assert d.driver == "Zarr3", d.driver
        assert d.crs == s.crs and d.transform == s.transform and d.bounds == s.bounds
        assert (d.read() == s.read()).all()
        assert d.dtypes == s.dtypes and d.count == 6
        window = ((33, 99), (120, 300))
        assert (d.read([6, 2], window=window) == s.read([6, 2], window=window)).all()
        assert d.block_shapes == [(64, 64)] * 6
        assert d.sample([(290000, 9115000)]).__next__().tolist() == \
               s.sample([(290000, 9115000)]).__next__().tolist()
print("ok")
"""


def test_rasterio(store):
    path, root = store
    store_raster(root, "l7", LANDSAT, chunks=(1, 64, 64), shards=(6, 128, 128))
    assert run_python(RASTERIO, path, LANDSAT).strip() == "ok"


def test_rasterio_metadata(store):
    path, root = store
    put(root, "t", np.zeros((2, 4, 5), "i2"),
        {"_FillValue": -9, "scale_factor": 0.1, "add_offset": 2, "units": "K", "source": "s"},
        ("time", "y", "x"))
    put(root, "time", np.array([0, 1]), {"units": "days since 2000-01-01"}, ("time",))
    put(root, "u", np.zeros((4, 5), "i2"))
    script = r"""
import sys, rasterio
with rasterio.open(sys.argv[1]) as d:
    names = d.subdatasets
print([name.split(":/")[-1] for name in names])
with rasterio.open(names[0]) as d:
    print(d.nodata, d.scales, d.offsets, d.units, d.descriptions, d.tags()["source"],
          d.tags(2)["DIM_time_TIME"], d.tags(ns="IMAGE_STRUCTURE")["INTERLEAVE"])
"""
    first, second = run_python(script, path).splitlines()
    assert first == "['t', 'u']"
    assert second == ("-9.0 (0.1, 0.1) (2.0, 2.0) ('K', 'K') "
                      "('time=2000-01-01', 'time=2000-01-02') s 2000-01-02 PIXEL")


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64",
                                   "int64", "float32", "float64", "complex64", "complex128"])
def test_translate_every_type(store, tmp_path, dtype):
    path, root = store
    data = (np.arange(40 * 30).reshape(40, 30) % 120).astype(dtype)
    put(root, "t", data, chunks=(16, 16))
    run("gdal_translate", "-q", path, tmp_path / "out.tif")
    written = gdal.Open(str(tmp_path / "out.tif")).ReadAsArray()
    assert written.dtype == data.dtype
    assert (written == zarr.open_array(path + "/t", mode="r")[:]).all()


def test_a_vrt_of_a_store(store, tmp_path):
    path, root = store
    source = store_raster(root, "dem", ELEVATION, chunks=(32, 32))
    run("gdalbuildvrt", "-q", tmp_path / "all.vrt", path)
    same_raster(tmp_path / "all.vrt", source)
