# SPDX-License-Identifier: MIT
"""The place on the map through the multidimensional API: copies, views, other shapes."""
import numpy as np
import pytest
import zarr
from conftest import Errors, opened, put, run
from mdim import opened_mdim
from osgeo import gdal, osr

SPATIAL = {"uuid": "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4", "name": "spatial:"}
UPRIGHT = (500000, 10, 0, 5000000, 0, -10)
ROTATED = (500000, 10, 1, 5000000, 2, -10)
PIXELS = np.arange(50 * 70, dtype="f4").reshape(50, 70)
UTM = osr.SpatialReference()
UTM.ImportFromEPSG(32725)


def raster(path, place=UPRIGHT, gcps=False):
    """A raster of ours with statistics and categories."""
    source = gdal.GetDriverByName("MEM").Create("", 70, 50, 1, gdal.GDT_Float32)
    source.SetSpatialRef(UTM)
    if gcps:
        source.SetGCPs([gdal.GCP(0, 0, 0, 0, 0), gdal.GCP(9, 0, 0, 70, 0), gdal.GCP(0, 9, 0, 0, 50)],
                       UTM)
    else:
        source.SetGeoTransform(place)
    source.WriteArray(PIXELS)
    source.GetRasterBand(1).SetCategoryNames(["sea", "land"])
    gdal.GetDriverByName("Zarr3").CreateCopy(str(path), source, options=["ARRAY_NAME=t"]).Close()
    with gdal.OpenEx(str(path), gdal.OF_UPDATE) as dataset:
        dataset.GetRasterBand(1).ComputeStatistics(False)
    assert opened(path).GetRasterBand(1).GetMetadataItem("STATISTICS_MEAN")


def names(array, *options):
    return {item.GetName() for item in array.GetAttributes(list(options))}


def test_what_holds_for_all_rows_and_columns_is_not_listed(tmp_path):
    raster(tmp_path / "a.zarr", gcps=True)
    raster(tmp_path / "b.zarr")
    for name in ("a", "b"):
        dataset, root = opened_mdim(tmp_path / f"{name}.zarr")
        array = root.OpenMDArray("t")
        assert names(array) - {"COLOR_INTERPRETATION"} == {"zarrbridge:gdal"}
        listed = {item.GetName(): item.Read() for item in array.GetAttributes()}["zarrbridge:gdal"]
        assert "sea" in listed and "STATISTICS" not in listed and "GCP" not in listed
        assert "STATISTICS" in array.GetAttribute("zarrbridge:gdal").Read()
    assert {"spatial:transform", "spatial:shape", "zarr_conventions"} <= names(array, "SHOW_ALL=YES")
    assert array.GetAttribute("spatial:shape").Read() == (50, 70)


@pytest.mark.parametrize("view, expected", [
    ("[::-1,:]", (500000, 10, 0, 4999500, 0, 10)), ("[:,::-1]", (500700, -10, 0, 5000000, 0, -10)),
    ("[10:20,5:15]", (500050, 10, 0, 4999900, 0, -10)), ("[:,:]", UPRIGHT)])
def test_views_lie_where_their_pixels_lie(tmp_path, view, expected):
    raster(tmp_path / "a.zarr")
    out = tmp_path / "b.zarr"
    run("gdalmdimtranslate", "-array", f"name=t,view={view}", tmp_path / "a.zarr", out)
    found = opened(out)
    assert found.GetGeoTransform() == expected
    assert found.GetSpatialRef().GetAuthorityCode(None) == "32725"
    assert found.GetRasterBand(1).GetMetadataItem("STATISTICS_MEAN") is None
    assert found.GetRasterBand(1).GetCategoryNames() == ["sea", "land"]
    assert not [name for name in zarr.open(out)["t"].attrs if name.startswith("spatial:")]


def test_subsets_lie_where_their_pixels_lie(tmp_path):
    raster(tmp_path / "a.zarr")
    run("gdalmdimtranslate", "-subset", "x(500100,500200)", "-subset", "y(4999700,4999900)",
        tmp_path / "a.zarr", tmp_path / "b.zarr")
    assert opened(tmp_path / "b.zarr").GetGeoTransform() == (500100, 10, 0, 4999900, 0, -10)


def test_a_rotated_place_is_copied_with_the_whole_array_alone(tmp_path):
    raster(tmp_path / "a.zarr", ROTATED)
    run("gdalmdimtranslate", tmp_path / "a.zarr", tmp_path / "b.zarr")
    assert opened(tmp_path / "b.zarr").GetGeoTransform() == ROTATED
    run("gdalmdimtranslate", "-array", "name=t,view=[10:20,5:15]", tmp_path / "a.zarr",
        tmp_path / "c.zarr")
    assert opened(tmp_path / "c.zarr").GetGeoTransform(can_return_null=True) is None
    assert "spatial:transform" not in zarr.open(tmp_path / "c.zarr")["t"].attrs


# ---- Places without coordinate arrays ----


PLACES = {
    "transform": {"zarr_conventions": [SPATIAL], "spatial:transform": [10, 0, 500000, 0, -10, 5000000]},
    "box": {"zarr_conventions": [SPATIAL], "spatial:bbox": [500000, 4999500, 500700, 5000000]},
    "mapping": {"grid_mapping": "crs"}}


def bare(store, how="transform"):
    path, root = store
    put(root, "t", PIXELS, PLACES[how], ("y", "x"))
    put(root, "crs", np.int64(0), {"crs_wkt": UTM.ExportToWkt(),
                                   "GeoTransform": "500000 10 0 5000000 0 -10"})
    return path, root


@pytest.mark.parametrize("how", PLACES)
def test_a_place_without_coordinates_gives_indexing_variables(store, how):
    path, root = bare(store, how)
    dataset, group = opened_mdim(path)
    y, x = group.OpenMDArray("t").GetDimensions()
    for dimension, first, step in ((x, 500005, 10), (y, 4999995, -10)):
        values = dimension.GetIndexingVariable().ReadAsArray()
        assert (values == first + step * np.arange(dimension.GetSize())).all()
    assert group.GetMDArrayNames() == ["t", "x", "y"]
    assert not [name for name in names(group.OpenMDArray("t")) if name.startswith("spatial:")]
    assert group.OpenMDArray("x").ReadAsArray()[1] == 500015
    with Errors():
        assert group.OpenMDArray("z") is None
    classic = group.OpenMDArray("t").AsClassicDataset(1, 0)
    assert classic.GetGeoTransform() == UPRIGHT


@pytest.mark.parametrize("arguments", [(), ("-array", "t"), ("-array", "name=t,view=[10:20,5:15]")])
def test_copies_keep_a_place_without_coordinates(store, tmp_path, arguments):
    path, root = bare(store)
    expected = (500050, 10, 0, 4999900, 0, -10) if "view" in str(arguments) else UPRIGHT
    run("gdalmdimtranslate", *arguments, path, tmp_path / "b.zarr")
    assert opened(tmp_path / "b.zarr").GetGeoTransform() == expected
    if gdal.GetDriverByName("netCDF"):
        run("gdalmdimtranslate", *arguments, path, tmp_path / "b.nc")
        assert gdal.Open(f'NETCDF:"{tmp_path}/b.nc":t').GetGeoTransform() == expected


def test_two_places_of_one_dimension_are_no_coordinates(store):
    path, root = bare(store)
    put(root, "u", PIXELS, {**PLACES["transform"], "spatial:transform": [10, 0, 7, 0, -10, 5000000]},
        ("y", "x"))
    dataset, group = opened_mdim(path)
    assert group.GetMDArrayNames() == ["t", "u", "y"]
    y, x = group.OpenMDArray("u").GetDimensions()
    assert x.GetIndexingVariable() is None and y.GetIndexingVariable() is not None
    assert "spatial:transform" in names(group.OpenMDArray("u")), "nothing else tells it"


def test_arrays_without_a_place_have_no_indexing_variables(store):
    path, root = store
    put(root, "t", PIXELS, {"zarr_conventions": [SPATIAL], "spatial:dimensions": ["y", "x"]},
        ("y", "x"))
    dataset, group = opened_mdim(path)
    assert group.GetMDArrayNames() == ["t"]
    assert [d.GetIndexingVariable() for d in group.OpenMDArray("t").GetDimensions()] == [None, None]
