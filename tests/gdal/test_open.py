# SPDX-License-Identifier: MIT
"""Names that open, the datasets that they open, and the operations that the driver refuses."""
import json
import os
import shutil

import numpy as np
import pytest
import zarr
from osgeo import gdal

from conftest import Errors, edit, opened, put, run, run_h5py, sub

VALUES = np.arange(20 * 30, dtype="uint16").reshape(20, 30)


def test_driver_is_registered_first_and_describes_itself():
    driver = gdal.GetDriverByName("Zarr3")
    assert gdal.GetDriver(0).ShortName == "Zarr3"
    assert driver.GetMetadataItem("DMD_EXTENSIONS") == "zarr zip ozx"
    assert driver.GetMetadataItem("DMD_CONNECTION_PREFIX") == "ZARR3:"
    assert driver.GetMetadataItem("DCAP_VIRTUALIO") == "YES"
    assert driver.GetMetadataItem("DCAP_CREATE") == "YES"
    assert driver.GetMetadataItem("DCAP_CREATECOPY") == "YES"
    for option in ("DIM_X", "DIM_Y", "MULTIBAND", "LIST_ALL_ARRAYS", "SHOW"):
        assert option in driver.GetMetadataItem("DMD_OPENOPTIONLIST")


def test_every_form_of_the_name(store):
    path, root = store
    put(root.create_group("deep"), "t", VALUES, chunks=(8, 8))
    for name in (path, path + "/", path + "/deep", path + "/deep/t", path + "/zarr.json",
                 path + "/deep/t/zarr.json", "ZARR3:" + path, "ZARR3:" + path + "/deep/t",
                 sub(path, "deep/t"), sub(path + "/deep", "t"), "zarr3:" + path,
                 'ZARR3:"%s":deep/t' % path, 'ZARR3:"%s"' % path, "ZARR3:%s:/deep/t" % path,
                 "ZARR3:%s/deep:/t" % path):
        dataset = opened(name)
        assert (dataset.ReadAsArray() == VALUES).all(), name
        assert dataset.GetDescription() == name


def test_odd_characters_in_names(tmp_path):
    path = str(tmp_path / 'a "b": c.zarr')
    root = zarr.create_group(store=path, zarr_format=3)
    put(root.create_group("d é"), 'q"r:s', VALUES)
    assert (opened(path).ReadAsArray() == VALUES).all()
    plain = str(tmp_path / "a b.zarr")
    shutil.copytree(path, plain)
    assert (opened(sub(plain, 'd é/q"r:s')).ReadAsArray() == VALUES).all()


def test_names_that_zarr_lacks_are_those_of_hdf5(store, tmp_path):
    path, root = store
    for name in ("a%5Cb", "%2E.", "100%25", "t%"):
        put(root, name, VALUES)
    put(root.create_group("g%5Ch"), "c%5Cd", VALUES)
    shown = ["..", "100%25", "a\\b", "t%"]
    listed = run_h5py("import h5py, json, sys\nprint(json.dumps(sorted(h5py.File(sys.argv[1], 'r'))))", path)
    assert json.loads(listed) == sorted([*shown, "g\\h"])
    group = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert sorted(group.GetMDArrayNames()) == shown and group.GetGroupNames() == ["g\\h"]
    for name in ("a\\b", "..", "a%5Cb"):
        assert group.OpenMDArray(name).Read() == VALUES.tobytes()
    array = group.OpenMDArrayFromFullname("/g\\h/c\\d")
    assert (array.GetName(), array.GetFullName()) == ("c\\d", "/g\\h/c\\d")
    assert (opened(sub(path, "a\\b")).ReadAsArray() == VALUES).all()
    assert (opened(sub(path, "g\\h/c\\d")).ReadAsArray() == VALUES).all()
    assert (opened(sub(path, "a%5Cb")).ReadAsArray() == VALUES).all()
    assert any("/a\\b (" in text for _, text in gdal.Open(path).GetSubDatasets())


def test_names_that_zarr_lacks_are_stored_as_by_hdf5(store):
    path, root = store
    put(root, "t", VALUES, dims=("y", "x"))
    with gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE) as dataset:
        group = dataset.GetRootGroup()
        made = group.CreateMDArray("a\\b", group.OpenMDArray("t").GetDimensions(),
                                   gdal.ExtendedDataType.Create(gdal.GDT_Byte))
        assert (made.GetName(), made.GetFullName()) == ("a\\b", "/a\\b")
        assert group.CreateGroup("__g").GetFullName() == "/__g"
        assert group.OpenMDArray("t").Rename("x\\t") == gdal.CE_None
        del made, group
    assert sorted(zarr.open_group(path, mode="r")) == ["%5F_g", "a%5Cb", "x%5Ct"]
    with gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE) as dataset:
        assert dataset.GetRootGroup().DeleteMDArray("a\\b") == gdal.CE_None
        assert dataset.GetRootGroup().DeleteGroup("__g") == gdal.CE_None
    assert sorted(zarr.open_group(path, mode="r")) == ["x%5Ct"]


def test_hidden_and_reserved_names(store, tmp_path):
    """xarray gives a name that the specification reserves to each array without one."""
    path, root = store
    for name in (".hidden", "__xarray_dataarray_variable__"):
        put(root, name, VALUES)
    group = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert sorted(group.GetMDArrayNames()) == [".hidden", "__xarray_dataarray_variable__"]
    assert (group.OpenMDArray("__xarray_dataarray_variable__").Read() == VALUES.tobytes())
    assert {name for name, _ in gdal.Open(path).GetSubDatasets()} == {
        f'ZARR3:"{path}":/{name}' for name in (".hidden", "__xarray_dataarray_variable__")}
    copy = gdal.MultiDimTranslate(str(tmp_path / "copy.nc"), path, format="netCDF")
    assert "__xarray_dataarray_variable__" in copy.GetRootGroup().GetMDArrayNames()
    shutil.rmtree(os.path.join(path, ".hidden"))
    assert (opened(path).ReadAsArray() == VALUES).all()


def test_relative_names(store, monkeypatch):
    path, root = store
    put(root, "t", VALUES)
    monkeypatch.chdir(os.path.dirname(path))
    assert opened("x.zarr").RasterXSize == 30
    assert opened("./x.zarr/t").RasterXSize == 30
    monkeypatch.chdir(path)
    assert opened(".").RasterXSize == 30
    assert opened("t").RasterXSize == 30


def test_root_array(tmp_path):
    path = str(tmp_path / "t.zarr")
    zarr.create_array(store=path, data=VALUES, zarr_format=3)
    assert (opened(path).ReadAsArray() == VALUES).all()


def test_subdataset_info(store):
    path, root = store
    name = sub(path, "deep/t", 3)
    info = gdal.GetSubdatasetInfo(name)
    assert info.GetPathComponent() == path
    assert info.GetSubdatasetComponent() == "/deep/t:3"
    assert info.ModifyPathComponent("/b.zarr") == 'ZARR3:"/b.zarr":/deep/t:3'
    assert gdal.GetSubdatasetInfo("ZARR3:" + path) is None


def test_file_list_is_small_and_statistics_stay_outside(store):
    path, root = store
    for i in range(3):
        put(root, "a%d" % i, VALUES + i, chunks=(4, 4))
    before = sorted(os.walk(path))
    dataset = opened(sub(path, "a1"))
    assert dataset.GetFileList() == [path + "/a1/zarr.json"]
    band = dataset.GetRasterBand(1)
    assert band.ComputeStatistics(False)[:2] == [1, 600]
    dataset = band = None
    assert sorted(os.walk(path)) == before
    assert os.path.exists(path + ".aux.xml")
    assert opened(sub(path, "a1")).GetRasterBand(1).GetMetadataItem("STATISTICS_MAXIMUM") == "600"
    assert opened(sub(path, "a2")).GetRasterBand(1).GetMetadataItem("STATISTICS_MAXIMUM") is None
    assert "units" not in open(path + ".aux.xml").read()


def test_sidecar_holds_nothing_that_goes_stale(store):
    path, root = store
    cube = put(root, "t", np.stack([VALUES, VALUES + 1]), {"long_name": "old"}, ("time", "y", "x"))
    put(root, "time", np.array([0, 1]), {"units": "days since 2000-01-01"}, ("time",))
    dataset = opened(path)
    dataset.GetRasterBand(2).ComputeStatistics(False)
    assert dataset.GetRasterBand(2).GetMetadataItem("DIM_time_INDEX") == "1"
    dataset = None
    assert "DIM_time" not in open(path + ".aux.xml").read()
    root["time"].update_attributes({"units": "days since 2010-01-01"})
    cube.update_attributes({"long_name": "new"})
    dataset = opened(path)
    assert dataset.GetRasterBand(2).GetDescription() == "time=2010-01-02"
    assert dataset.GetMetadataItem("long_name") == "new"
    assert dataset.GetRasterBand(2).GetMetadataItem("STATISTICS_MAXIMUM") == "600"


def test_missing_things_behind_the_prefix_are_errors(store, tmp_path):
    path, root = store
    put(root, "t", VALUES)
    for name in (sub(path, "nothing"), sub(path, "t/below"), "ZARR3:" + str(tmp_path / "no.zarr"),
                 "ZARR3:", 'ZARR3:"%s":/t:0' % path, 'ZARR3:"%s"x' % path, 'ZARR3:"'):
        with Errors() as errors:
            assert gdal.Open(name) is None, name
        assert len(errors.failures) == 1, (name, errors.failures)


def test_unquoted_json_document_formats(store):
    path, root = store
    put(root, "t", VALUES)
    document = json.load(open(path + "/t/zarr.json"))
    with open(path + "/t/zarr.json", "w") as file:
        json.dump(document, file, indent=7)
    assert opened(path).RasterYSize == 20


def test_broken_version_3_document_is_an_error_with_its_reason(store):
    path, root = store
    put(root, "t", VALUES)
    edit(path + "/t", lambda document: document.update(shape=[-1, 30]))
    with Errors() as errors:
        assert gdal.Open(path + "/t") is None
    assert len(errors.failures) == 1 and "shape" in errors.failures[0]


def test_gdalinfo_lists_nothing_foreign(store):
    path, root = store
    put(root, "t", VALUES, dims=("y", "x"))
    text = run("gdalinfo", path)
    assert "Driver: Zarr3/" in text and "Size is 30, 20" in text
    assert "Type=UInt16" in text and "COMPRESSION=ZSTD" in text and "INTERLEAVE=BAND" in text


@pytest.mark.parametrize("with_index", [False, True])
def test_consolidated_metadata_makes_no_difference(store, with_index):
    path, root = store
    put(root, "t", VALUES)
    if with_index:
        zarr.consolidate_metadata(path)
    assert (opened(path).ReadAsArray() == VALUES).all()


def test_a_store_that_moved_still_opens(store, tmp_path):
    path, root = store
    put(root, "t", VALUES)
    shutil.move(path, str(tmp_path / "y.zarr"))
    assert opened(tmp_path / "y.zarr").RasterXSize == 30
