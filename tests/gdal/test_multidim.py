# SPDX-License-Identifier: MIT
"""GDAL's multidimensional programs and its newer ones with the plugin installed: commands that work
without it work with it, and the result opens."""
import os
import shutil
import subprocess

import numpy as np
import pytest
import zarr
from osgeo import gdal, osr

from conftest import DATA, Errors, opened, put, run, sub

NETCDF = DATA / "reduced.nc"
NEW = int(gdal.VersionInfo()) >= 3120000
only_new = pytest.mark.skipif(not NEW, reason="GDAL %s has no such program" % gdal.__version__)


def multidimensional(path):
    return gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER)


def same_arrays(path, expected_path=NETCDF):
    """The copy has the source's groups, arrays, dimensions, units and attributes, by the API that
    made it."""
    dataset, source = multidimensional(path), multidimensional(expected_path)
    same_groups(dataset.GetRootGroup(), source.GetRootGroup())
    return dataset.GetDriver().ShortName


def same_groups(found, expected):
    assert attributes(found) == attributes(expected)
    assert sorted(found.GetMDArrayNames() or []) == sorted(expected.GetMDArrayNames() or [])
    for name in expected.GetMDArrayNames() or []:
        same_array(found.OpenMDArray(name), expected.OpenMDArray(name))
    assert sorted(found.GetGroupNames() or []) == sorted(expected.GetGroupNames() or [])
    for name in expected.GetGroupNames() or []:
        same_groups(found.OpenGroup(name), expected.OpenGroup(name))


def attributes(owner):
    """Their values; what the netCDF driver tells of its file is not the file's."""
    return {item.GetName(): plain(item.Read()) for item in owner.GetAttributes()
            if not item.GetName().startswith("_NC")}


def plain(value):
    """Lists of one element are single ones in netCDF, and JSON has no NaN that is itself."""
    items = value if isinstance(value, (list, tuple)) else [value]
    items = ["NaN" if item != item else item for item in items]
    return items if len(items) > 1 else items[0]


def axes(array):
    return [(dimension.GetName(), dimension.GetSize(), dimension.GetType(), dimension.GetDirection(),
             dimension.GetIndexingVariable() and dimension.GetIndexingVariable().GetFullName())
            for dimension in array.GetDimensions()]


def same_array(found, expected):
    name = expected.GetFullName()
    assert axes(found) == axes(expected), name
    assert attributes(found) == attributes(expected), name
    assert (found.GetUnit(), found.GetScale(), found.GetOffset()) == \
        (expected.GetUnit(), expected.GetScale(), expected.GetOffset()), name
    if expected.GetDataType().GetClass() == gdal.GEDTC_STRING:
        assert found.Read() == expected.Read(), name
        return
    assert found.GetDataType().GetNumericDataType() == expected.GetDataType().GetNumericDataType()
    assert str(found.GetNoDataValue()) == str(expected.GetNoDataValue()), name
    assert np.array_equal(found.ReadAsArray(), expected.ReadAsArray(), equal_nan=True), name
    if expected.GetSpatialRef() is not None:
        same = found.GetSpatialRef().IsSame(expected.GetSpatialRef(), ["CRITERION=EQUIVALENT"])
        assert same, name


def test_mdimtranslate(tmp_path):
    path = tmp_path / "out.zarr"
    run("gdalmdimtranslate", NETCDF, path)
    assert same_arrays(path) == "Zarr3"
    raster, expected = gdal.Open(sub(str(path), "sst")), gdal.Open('NETCDF:"%s":sst' % NETCDF)
    rows = slice(None, None, -1) if raster.GetGeoTransform()[5] > 0 else slice(None)
    assert (raster.ReadAsArray()[..., rows, :] == expected.ReadAsArray()).all()


@pytest.mark.parametrize("suffix", ["zarr", "nc"])
def test_dimensions_without_names(suffix, tmp_path):
    """As zarr-python makes arrays; and a name that stands for two lengths."""
    source, copy = tmp_path / "in.zarr", tmp_path / f"copy.{suffix}"
    group = zarr.open_group(source, mode="w")
    below = group.create_group("below")
    for name, shape in (("a", (10,)), ("b", (6, 7)), ("c", (10, 6))):
        put(group, name, np.arange(np.prod(shape)).reshape(shape))
    put(below, "d", np.arange(3))
    put(group, "named", np.arange(5), dims=["x"])
    put(group, "namesake", np.arange(4), dims=["x"])
    run("gdalmdimtranslate", source, copy)
    found, expected = (multidimensional(path).GetRootGroup() for path in (copy, source))
    for name in ("/a", "/b", "/c", "/below/d", "/named", "/namesake"):
        assert np.array_equal(found.OpenMDArrayFromFullname(name).ReadAsArray(),
                              expected.OpenMDArrayFromFullname(name).ReadAsArray()), name


def test_netcdf_and_back(tmp_path):
    store, back = tmp_path / "out.zarr", tmp_path / "back.nc"
    run("gdalmdimtranslate", NETCDF, store)
    run("gdalmdimtranslate", store, back)
    assert same_arrays(back) == "netCDF"


def test_netcdf_with_all_that_it_can_have_and_back(tmp_path):
    """Groups, dimensions without coordinates, text, all types of numbers, a CRS, nodata."""
    source, store, back = (tmp_path / name for name in ("in.nc", "out.zarr", "back.nc"))
    dataset = gdal.GetDriverByName("netCDF").CreateMultiDimensional(str(source), [], [])
    fill_netcdf(dataset.GetRootGroup())
    del dataset
    run("gdalmdimtranslate", source, store)
    assert same_arrays(store, source) == "Zarr3"
    run("gdalmdimtranslate", store, back)
    assert same_arrays(back, source) == "netCDF"
    assert same_arrays(back, store) == "netCDF"


def fill_netcdf(group):
    kind = gdal.ExtendedDataType.Create
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(32631)
    y = group.CreateDimension("y", gdal.DIM_TYPE_HORIZONTAL_Y, "", 3)
    x = group.CreateDimension("x", gdal.DIM_TYPE_HORIZONTAL_X, "", 4)
    free = group.CreateDimension("free", "", "", 2)
    for dimension, values in ((y, [30.0, 20, 10]), (x, [1.0, 2, 3, 4])):
        name = dimension.GetName()
        variable = group.CreateMDArray(name, [dimension], kind(gdal.GDT_Float64))
        variable.Write(np.array(values))
        variable.SetUnit("m")
        text = gdal.ExtendedDataType.CreateString()
        standard = f"projection_{name}_coordinate"
        variable.CreateAttribute("standard_name", [], text).Write(standard)
        variable.CreateAttribute("axis", [], text).Write(name.upper())
    map_ = group.CreateMDArray("map", [free, y, x], kind(gdal.GDT_Int16))
    map_.SetNoDataValueDouble(-1)
    map_.SetScale(0.1)
    map_.SetOffset(5)
    map_.SetSpatialRef(srs)
    map_.Write(np.arange(24, dtype="i2").reshape(2, 3, 4))
    map_.CreateAttribute("range", [2], kind(gdal.GDT_Float64)).Write([0.25, 7.5])
    map_.CreateAttribute("count", [], kind(gdal.GDT_Int32)).Write(3)
    inner = group.CreateGroup("inner").CreateGroup("deep")
    inner.CreateAttribute("title", [], gdal.ExtendedDataType.CreateString()).Write("été")
    for code, dtype in ((gdal.GDT_Byte, "u1"), (gdal.GDT_UInt16, "u2"), (gdal.GDT_Int32, "i4"),
                        (gdal.GDT_UInt32, "u4"), (gdal.GDT_Int64, "i8"), (gdal.GDT_UInt64, "u8"),
                        (gdal.GDT_Float32, "f4"), (gdal.GDT_Float64, "f8")):
        array = inner.CreateMDArray(dtype, [free], kind(code))
        array.Write(np.array([1, 100], dtype))
    array = inner.CreateMDArray("texts", [free], gdal.ExtendedDataType.CreateString())
    array.Write(["ab", "çd"])


def test_mdimtranslate_by_the_library(tmp_path):
    path = str(tmp_path / "out.zarr")
    dataset = gdal.MultiDimTranslate(path, str(NETCDF))
    assert dataset.GetDriver().ShortName == "Zarr3" and dataset.GetRootGroup() is not None
    dataset = None
    same_arrays(path)


def test_mdimtranslate_of_parts(tmp_path):
    path = tmp_path / "out.zarr"
    run("gdalmdimtranslate", "-array", "name=sst,view=[0,0,::-1,10:20]", "-co",
        "ARRAY:IF(DIM=2):BLOCKSIZE=9,10", "-co", "ARRAY:COMPRESS=GZIP", NETCDF, path)
    array = multidimensional(path).GetRootGroup().OpenMDArray("sst")
    source = multidimensional(NETCDF).GetRootGroup().OpenMDArray("sst")
    assert np.array_equal(array.ReadAsArray(), source.ReadAsArray()[0, 0, ::-1, 10:20])
    assert array.GetBlockSize() == [9, 10] and "gzip" in array.GetStructuralInfo()["CODECS"]


def test_version_2_is_left_to_the_own_driver(tmp_path):
    path = tmp_path / "out.zarr"
    done = subprocess.run(["gdalmdimtranslate", "-co", "FORMAT=ZARR_V2", NETCDF, path], capture_output=True, text=True)
    said = [line for line in done.stderr.splitlines() if "Several drivers matching" not in line]  # GDAL 3.13
    assert done.returncode == 0 and not said
    dataset, source = multidimensional(path), multidimensional(NETCDF)
    assert dataset.GetDriver().ShortName == "Zarr" and (path / ".zgroup").exists()
    found, expected = (item.GetRootGroup().OpenMDArray("sst") for item in (dataset, source))
    assert np.array_equal(found.ReadAsArray(), expected.ReadAsArray())


def test_a_raster_of_version_2_is_refused(tmp_path):
    """gdalmdimtranslate copies it as gdal_translate does, where a program may have named this driver."""
    command = ["gdalmdimtranslate", "-co", "FORMAT=ZARR_V2", DATA / "L7_ETMs.tif", tmp_path / "out.zarr"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "-of Zarr writes version 2" in done.stderr
    assert not os.listdir(tmp_path)


def test_mdimtranslate_to_version_3(tmp_path):
    path = tmp_path / "out.zarr"
    run("gdalmdimtranslate", "-co", "FORMAT=ZARR_V3", NETCDF, path)
    assert same_arrays(path) == "Zarr3"


@only_new
def test_mdim_convert(tmp_path):
    path = tmp_path / "out.zarr"
    run("gdal", "mdim", "convert", NETCDF, path)
    same_arrays(path)
    run("gdal", "mdim", "convert", "--overwrite", "--co", "FORMAT=ZARR_V3", NETCDF, path)
    assert opened(sub(str(path), "sst")) is not None
    assert "sst" in run("gdal", "mdim", "info", path)


def test_a_copy_replaces_a_store_and_nothing_else(tmp_path):
    path = tmp_path / "out.zarr"
    run("gdal_translate", "-q", DATA / "olinda_dem_utm25s.tif", path)
    run("gdalmdimtranslate", NETCDF, path)
    same_arrays(path)
    assert not (path / "out").exists() and os.listdir(tmp_path) == ["out.zarr"]
    other = tmp_path / "other.zarr"
    other.mkdir()
    (other / "mine").write_text("mine")
    result = subprocess.run(["gdalmdimtranslate", NETCDF, other], capture_output=True, text=True)
    assert result.returncode != 0 and "stays as it is" in result.stderr
    assert os.listdir(other) == ["mine"]


def test_a_copy_that_fails_leaves_the_old_store(tmp_path):
    path = tmp_path / "out.zarr"
    run("gdalmdimtranslate", NETCDF, path)
    with Errors():
        found = gdal.MultiDimTranslate(str(path), str(NETCDF), arraySpecs=["sst"],
                                       callback=lambda *_: 0)
    assert found is None
    same_arrays(path)
    assert os.listdir(tmp_path) == ["out.zarr"]


def test_a_copy_of_a_damaged_source_is_no_copy(tmp_path):
    """GDAL itself calls an array copied of which a part could not be read: the rest would be fill values."""
    path, source = tmp_path / "out.zarr", tmp_path / "source.zarr"
    array = zarr.create_array(str(source), name="t", shape=(40, 50), chunks=(10, 10), dtype="i4", fill_value=7)
    array[...] = 1
    (source / "t/c/2/3").write_bytes(b"cut")
    run("gdalmdimtranslate", NETCDF, path)
    for options in ([], ["-array", "t"], ["-array", "name=t,view=[::2,:]"]):
        result = subprocess.run(["gdalmdimtranslate", *options, source, path], capture_output=True, text=True)
        assert result.returncode != 0 and "not all elements could be copied" in result.stderr
    same_arrays(path)
    assert sorted(os.listdir(tmp_path)) == ["out.zarr", "source.zarr"]
    run("gdalmdimtranslate", "-array", "name=t,view=[0:20,:]", source, path)
    assert (zarr.open_array(str(path), path="t", mode="r")[...] == 1).all()


def test_a_copy_without_any_array_is_no_copy(tmp_path):
    """The name of the array in the copy is the whole path, where `dstname` does not say another one."""
    path, source = tmp_path / "out.zarr", tmp_path / "source.zarr"
    zarr.create_array(str(source), name="g/t", shape=(4,), dtype="i4")[...] = 1
    result = subprocess.run(["gdalmdimtranslate", "-array", "name=/g/t", source, path], capture_output=True,
                            text=True)
    assert result.returncode != 0 and "dstname=array" in result.stderr and str(path) in result.stderr
    assert os.listdir(tmp_path) == ["source.zarr"]
    run("gdalmdimtranslate", "-array", "name=/g/t,dstname=t", source, path)
    assert zarr.open_array(str(path), path="t", mode="r")[...].tolist() == [1, 1, 1, 1]


def test_a_copy_tells_what_it_lacks(tmp_path):
    """Strict copies do not lack anything."""
    h5py = pytest.importorskip("h5py")
    path, source = tmp_path / "out.zarr", tmp_path / "source.h5"
    with h5py.File(source, "w") as file:
        file["g/t"] = np.arange(4)
        file["table"] = np.array([(1, b"a")], [("n", "i4"), ("text", "S4")])
    result = subprocess.run(["gdalmdimtranslate", source, path], capture_output=True, text=True)
    assert result.returncode == 0 and "array table cannot be created" in result.stderr and "the copy lacks them" in result.stderr
    assert zarr.open_array(str(path), path="g/t", mode="r")[...].tolist() == [0, 1, 2, 3]
    strict = tmp_path / "strict.zarr"
    with Errors() as errors:
        file = gdal.OpenEx(str(source), gdal.OF_MULTIDIM_RASTER)
        assert gdal.GetDriverByName("Zarr3").CreateCopy(str(strict), file, strict=1) is None
    assert errors.failures
    assert not strict.exists()


@only_new
def test_raster_convert_appends(tmp_path):
    path = tmp_path / "a.zarr"
    files = {"one": "olinda_dem_utm25s.tif", "two": "L7_ETMs.tif", "three": "L7_ETMs.tif"}
    for name, file in files.items():
        run("gdal", "raster", "convert", "-q", *(["--append"] if name != "one" else []), "--co",
            "ARRAY_NAME=" + name, DATA / file, path)
    for name, file in files.items():
        source, found = gdal.Open(str(DATA / file)), opened(sub(str(path), name))
        assert (found.ReadAsArray() == source.ReadAsArray()).all()
        assert found.GetGeoTransform() == source.GetGeoTransform()
    arrays = set(zarr.open_group(str(path), mode="r").array_keys())
    assert {"one", "two", "three"} <= arrays
    again = ["gdal", "raster", "convert", "-q", "--append", "--co", "ARRAY_NAME=two"]
    result = subprocess.run([*again, DATA / files["one"], path], capture_output=True, text=True)
    assert result.returncode != 0 and "exists already" in result.stderr


@only_new
def test_raster_create_appends(tmp_path):
    path = tmp_path / "a.zarr"
    common = ["gdal", "raster", "create", "-q", "--size", "30,20", "--ot", "Int16"]
    run(*common, "--co", "ARRAY_NAME=one", "--burn", "5", path)
    run(*common, "--append", "--co", "ARRAY_NAME=two", "--burn", "7", path)
    for name, value in (("one", 5), ("two", 7)):
        dataset = opened(sub(str(path), name))
        assert (dataset.ReadAsArray() == value).all()


@pytest.mark.skipif(shutil.which("gdalcompare.py") is None, reason="no gdalcompare.py")
def test_programs_still_choose_this_driver_for_rasters(tmp_path):
    run("gdal_translate", "-q", DATA / "L7_ETMs.tif", tmp_path / "a.zarr")
    run("gdal_translate", "-q", tmp_path / "a.zarr", tmp_path / "b.zarr")
    assert (opened(tmp_path / "b.zarr").ReadAsArray()
            == gdal.Open(str(DATA / "L7_ETMs.tif")).ReadAsArray()).all()
