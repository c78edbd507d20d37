# SPDX-License-Identifier: MIT
"""Deleting, renaming and copying stores: all their files, and nothing else."""
import os
import subprocess

import numpy as np
import pytest
import zarr
from osgeo import gdal

from conftest import Errors, opened, put, run, sub

VALUES = np.arange(20 * 30, dtype="u2").reshape(20, 30)
DRIVER = gdal.GetDriverByName("Zarr3")


def names_in(path):
    """Sorted, without the core's lock files."""
    return sorted(name for name in os.listdir(path) if not name.endswith(".zb-lock"))


def test_delete_takes_the_overviews_of_an_array_that_is_a_store(tmp_path):
    """A new raster at that place would show the old levels."""
    path = str(tmp_path / "x.zarr")
    zarr.create_array(path, shape=(64, 64), dtype="u1", dimension_names=("y", "x"))[...] = 7
    run("gdaladdo", "-q", path, "2")
    assert (tmp_path / "x.zarr.ovr").exists()
    gdal.GetDriverByName("Zarr3").Delete(path)
    assert not (tmp_path / "x.zarr.ovr").exists()


def put_with_statistics(store):
    path, root = store
    put(root, "t", VALUES)
    with opened(path) as dataset:
        dataset.GetRasterBand(1).ComputeStatistics(False)
    return path


def put_with_side_files(store):
    path, root = store
    put(root, "t", VALUES)
    dataset = opened(path)
    dataset.GetRasterBand(1).ComputeStatistics(False)
    dataset.BuildOverviews("NEAREST", [2])
    return path


def test_delete_takes_the_store_and_its_sidecars(store, tmp_path):
    path = put_with_side_files(store)
    (tmp_path / "x.zarr.txt").write_text("mine")
    (tmp_path / "x.zarr2").mkdir()
    assert {"x.zarr.aux.xml", "x.zarr.t.ovr"} <= set(names_in(tmp_path))
    assert DRIVER.Delete(path) == gdal.CE_None
    assert names_in(tmp_path) == ["x.zarr.txt", "x.zarr2"]


def test_delete_leaves_other_files(store):
    path, root = store
    put(root, "t", VALUES)
    os.mkdir(path + "/notes")
    open(path + "/notes/a.txt", "w").close()
    open(path + "/.hidden", "w").close()
    with Errors() as errors:
        assert DRIVER.Delete(path) == gdal.CE_None
    assert "the directory stays" in errors.seen[0][1]
    assert names_in(path) == [".hidden", "notes"] and os.path.exists(path + "/notes/a.txt")


def test_delete_of_a_node(store):
    path, root = store
    put(root, "t", VALUES)
    put(root.create_group("g"), "u", VALUES)
    zarr.consolidate_metadata(path)
    assert DRIVER.Delete(sub(path, "g")) == gdal.CE_None
    assert DRIVER.Delete(path + "/t") == gdal.CE_None
    assert names_in(path) == ["zarr.json"]
    assert list(zarr.open_group(path, mode="r").members()) == []


def test_links_to_the_directory_itself(store, tmp_path):
    """Two links in each directory make 2^n paths: no walk goes there."""
    path, root = store
    put(root.create_group("g"), "t", VALUES)
    for below in ("", "g", "g/t", "g/t/c"):
        for name in ("x", "y"):
            os.symlink(".", os.path.join(path, below, name))
    info = subprocess.run(["gdalinfo", path], capture_output=True, text=True, timeout=600)
    assert info.returncode == 0 and info.stdout.count("/t\n") + info.stdout.count('/t"') <= 2
    assert (opened(path).ReadAsArray() == VALUES).all()
    assert len(opened(path).GetFileList()) < 20
    assert DRIVER.CopyFiles(str(tmp_path / "copy.zarr"), path) == gdal.CE_None
    assert (opened(str(tmp_path / "copy.zarr")).ReadAsArray() == VALUES).all()
    deleted = subprocess.run(["gdalmanage", "delete", path], capture_output=True, text=True,
                             timeout=600)
    assert deleted.returncode == 0, deleted.stderr
    assert not os.path.exists(path) or names_in(path) == ["x", "y"]


@pytest.mark.parametrize("make", [
    lambda path: os.mkdir(path), lambda path: open(path, "w").close()])
def test_what_is_no_store_is_not_deleted(tmp_path, make):
    path = str(tmp_path / "y.zarr")
    make(path)
    with Errors() as errors:
        assert DRIVER.Delete(path) != gdal.CE_None
        assert DRIVER.Rename(path + "2", path) != gdal.CE_None
        assert DRIVER.CopyFiles(path + "2", path) != gdal.CE_None
    assert len(errors.failures) >= 3
    assert names_in(tmp_path) == ["y.zarr"]


def test_rename_a_store(store, tmp_path):
    path = put_with_statistics(store)
    new = str(tmp_path / "new.zarr")
    assert DRIVER.Rename(new, path) == gdal.CE_None
    assert names_in(tmp_path) == ["new.zarr", "new.zarr.aux.xml"]
    assert (opened(new).ReadAsArray() == VALUES).all()
    dataset = opened(new)
    assert dataset.GetRasterBand(1).GetMetadataItem("STATISTICS_MAXIMUM") == "599"


def test_a_side_file_that_cannot_be_renamed_is_told_of(store, tmp_path):
    path = put_with_statistics(store)
    new = str(tmp_path / "new.zarr")
    os.mkdir(new + ".aux.xml")
    (tmp_path / "new.zarr.aux.xml" / "file").touch()
    with Errors() as errors:
        assert DRIVER.Rename(new, path) != gdal.CE_None
    assert len(errors.failures) == 1
    assert "is renamed" in errors.failures[0] and "x.zarr.aux.xml" in errors.failures[0]
    assert (zarr.open_array(new + "/t", mode="r")[:] == VALUES).all()


def test_side_files_are_copied_with_a_store(store, tmp_path):
    path = put_with_side_files(store)
    new = str(tmp_path / "new.zarr")
    beside = [name for name in names_in(tmp_path) if name.startswith("x.zarr.")]
    assert len(beside) == 2 and DRIVER.CopyFiles(new, path) == gdal.CE_None
    assert names_in(tmp_path) == sorted(["new" + name[1:] for name in beside] + beside
                                        + ["new.zarr", "x.zarr"])
    dataset = opened(new)
    band = dataset.GetRasterBand(1)
    assert band.GetMetadataItem("STATISTICS_MAXIMUM") == "599" and band.GetOverviewCount() == 1


def test_rename_and_copy_overwrite_nothing(store, tmp_path):
    path, root = store
    put(root, "t", VALUES)
    other = str(tmp_path / "other.zarr")
    os.mkdir(other)
    with Errors() as errors:
        assert DRIVER.Rename(other, path) != gdal.CE_None
        assert DRIVER.CopyFiles(other, path) != gdal.CE_None
        assert DRIVER.Rename(sub(path, "u/v"), path) != gdal.CE_None
    assert len(errors.failures) == 3 and "exists" in errors.failures[0]
    assert names_in(tmp_path) == ["other.zarr", "x.zarr"] and os.listdir(other) == []


def test_rename_a_node(store):
    path, root = store
    put(root, "t", VALUES)
    assert DRIVER.Rename(sub(path, "g/u"), sub(path, "t")) == gdal.CE_None
    assert (zarr.open_array(path + "/g/u", mode="r")[:] == VALUES).all()
    assert names_in(path) == ["g", "zarr.json"]


def test_copy_a_store_and_a_node(store, tmp_path):
    path, root = store
    put(root, "t", VALUES, {"a": 1}, chunks=(8, 8), shards=(16, 16))
    new = str(tmp_path / "new.zarr")
    assert DRIVER.CopyFiles(new, path) == gdal.CE_None
    assert (opened(new).ReadAsArray() == VALUES).all()
    assert open(new + "/t/zarr.json").read() == open(path + "/t/zarr.json").read()
    assert DRIVER.CopyFiles(sub(new, "g/again"), sub(path, "t")) == gdal.CE_None
    assert (zarr.open_array(new + "/g/again", mode="r")[:] == VALUES).all()


def test_delete_takes_what_describes_an_appended_array(tmp_path):
    """Nothing is left that would keep its name from a new array; data of such a name stay."""
    path = str(tmp_path / "x.zarr")
    for name, corner in (("a", 0), ("b", 500), ("c", 500)):
        raster = gdal.GetDriverByName("MEM").Create("", 30, 20, 1, gdal.GDT_Byte)
        raster.SetGeoTransform((corner, 2, 0, 90 + corner, 0, -2))
        raster.SetProjection("EPSG:32725")
        # zarr-python, which changes the store below, would not keep a consolidated list current.
        kind = "APPEND_SUBDATASET=YES" if name != "a" else "CREATE_CONSOLIDATED_METADATA=NO"
        DRIVER.CreateCopy(path, raster, options=[kind, "ARRAY_NAME=" + name]).Close()
    root = zarr.open_group(path)
    del root["c"], root["c_x"]
    put(root, "c", VALUES, {"grid_mapping": "spatial_ref_b"}, ("b_y", "c_x"))
    put(root, "c_x", VALUES)
    assert {"b_x", "b_y", "spatial_ref_b"} <= set(root)
    run("gdalmanage", "delete", sub(path, "b"))
    assert sorted(root) == ["a", "b_y", "c", "c_x", "c_y", "spatial_ref", "spatial_ref_b",
                            "spatial_ref_c", "x", "y"]
    run("gdalmanage", "delete", sub(path, "c"))
    assert {"c_x", "c_y", "spatial_ref_c"} <= set(root) and "c" not in root


def test_delete_takes_the_copies_of_arrays_that_gdal_keeps(store, tmp_path):
    path, root = store
    put(root, "t", VALUES)
    dataset = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER)
    assert dataset.GetRootGroup().OpenMDArray("t").Cache()
    del dataset
    assert "x.zarr.gmac" in names_in(tmp_path)
    run("gdalmanage", "delete", path)
    assert names_in(tmp_path) == []
