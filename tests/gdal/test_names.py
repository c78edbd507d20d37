# SPDX-License-Identifier: MIT
"""Names of nodes and of slices: every listed name opens, and an impossible one gives a clear
error."""
import numpy as np
import pytest
import zarr
from osgeo import gdal

from conftest import Errors, opened, put, run, sub

PLANE = np.arange(5 * 7, dtype="int16").reshape(5, 7)
CUBE = np.arange(3 * 5 * 7, dtype="int16").reshape(3, 5, 7) + 1000


def failure(name, **options):
    with Errors() as errors:
        assert gdal.OpenEx(name, gdal.OF_RASTER, open_options=[
            "%s=%s" % item for item in options.items()]) is None
    assert len(errors.failures) == 1, errors.failures
    return errors.failures[0]


NAMES = ["t:1", "t:", ":1", "t:1:2", "t:-1", "t 1", "a=b", "a\"b", "ü", "1", "-1", "t:01", "t/u:3"]


@pytest.mark.parametrize("name", NAMES)
def test_each_listed_name_opens(store, name):
    path, root = store
    put(root, name, PLANE)
    put(root, "other", PLANE + 1)
    names = [entry for entry, _ in opened(path).GetSubDatasets()]
    assert len(names) == 2
    found = [opened(entry).ReadAsArray().tolist() for entry in names]
    assert PLANE.tolist() in found and (PLANE + 1).tolist() in found
    assert (opened(sub(path, name)).ReadAsArray() == PLANE).all(), "the name alone, too"
    assert (opened(path + "/" + name).ReadAsArray() == PLANE).all()
    if '"' not in name:
        without_quotes = next(entry for entry in names if "other" not in entry).replace('"', "")
        assert (opened(without_quotes).ReadAsArray() == PLANE).all()


@pytest.mark.parametrize("name", ["t", "t:1", "g:2/t"])
def test_each_listed_slice_opens(store, name):
    path, root = store
    put(root, name, CUBE)
    names = [entry for entry, _ in opened(path, MULTIBAND="NO").GetSubDatasets()]
    assert len(names) == 3
    for index, entry in enumerate(names):
        assert (opened(entry).ReadAsArray() == CUBE[index]).all()
        assert (opened(sub(path, name, index)).ReadAsArray() == CUBE[index]).all()
    assert (opened(sub(path, name)).ReadAsArray() == CUBE).all()


def test_an_array_that_is_a_store_has_a_name_too(tmp_path, store):
    """The one that the multidimensional view lists, as in GDAL's own driver. A node that is there goes
    first."""
    path = str(tmp_path / "alone.zarr")
    zarr.create_array(path, data=CUBE, zarr_format=3, fill_value=0)
    group = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert group.GetMDArrayNames() == ["alone"]
    assert (opened(sub(path, "alone")).ReadAsArray() == CUBE).all()
    assert (opened(sub(path, "alone", 1)).ReadAsArray() == CUBE[1]).all()
    assert "other" in failure(sub(path, "other")) and "9" in failure(sub(path, "alone", 9))
    inside, root = store
    put(root, "t", CUBE)
    put(root.create_group("g"), "g", PLANE)
    assert (opened(sub(inside + "/t", "t", 2)).ReadAsArray() == CUBE[2]).all()
    assert (opened(sub(inside + "/g", "g")).ReadAsArray() == PLANE).all()
    assert "g/x" in failure(sub(inside + "/g", "x"))
    assert "/x" in failure(sub(inside, "x")), "the root x.zarr is a group"


def test_an_array_and_a_slice_of_one_name_are_told_apart(store):
    path, root = store
    put(root, "t", CUBE)
    put(root, "t:1", PLANE)
    message = failure(sub(path, "t:1"))
    assert "/t:1/" in message and "/t/:" in message
    assert (opened('ZARR3:"%s":/t:1/' % path).ReadAsArray() == PLANE).all()
    assert (opened('ZARR3:"%s":/t/:1' % path).ReadAsArray() == CUBE[1]).all()
    names = [entry for entry, _ in opened(path).GetSubDatasets()]
    assert [opened(entry).RasterCount for entry in names] == [3, 1]
    slices = [entry for entry, _ in opened(path + "/t", MULTIBAND="NO").GetSubDatasets()]
    for index, entry in enumerate(slices):
        assert (opened(entry).ReadAsArray() == CUBE[index]).all()
    # No slice of two indices, hence no doubt.
    put(root, "t:1:2", PLANE + 5)
    assert (opened(sub(path, "t:1:2")).ReadAsArray() == PLANE + 5).all()


def test_statistics_of_namesakes_stay_apart(store):
    path, root = store
    put(root, "t", CUBE)
    put(root, "t:1", PLANE)
    for name, expected in (("t:1/", PLANE), ("t/:1", CUBE[1])):
        run("gdalinfo", "-stats", 'ZARR3:"%s":/%s' % (path, name))
    for name, expected in (("t:1/", PLANE), ("t/:1", CUBE[1])):
        dataset = opened('ZARR3:"%s":/%s' % (path, name))
        assert float(dataset.GetRasterBand(1).GetMetadataItem("STATISTICS_MAXIMUM")) == \
            expected.max()


def test_indices_that_do_not_fit(store):
    path, root = store
    put(root, "t", np.zeros((2, 3, 4, 5), "i2"), dims=("time", "level", "y", "x"))
    put(root, "p", PLANE)
    cases = {
        "t:1": ("1 index", "2 dimensions"), "t:1:2:0": ("3 indices", "2 dimensions"),
        "t:2:0": ("index 2", "dimension 0 (time)", "extent is 2"),
        "t:1:3": ("index 3", "dimension 1 (level)", "extent is 3"),
        "t:-1:0": ("index -1", "from 0"), "t:1:-2": ("index -2", "from 0"),
        "t:99999999999999999999:0": ("index 99999999999999999999",),
        "p:0": ("1 index", "0 dimensions"), "no:1": ("/no",), "t:x": ("/t:x",),
        "t:1:x": ("/t:1:x",)}
    for name, words in cases.items():
        message = failure(sub(path, name))
        for word in words:
            assert word in message, (name, message)
    assert opened(sub(path, "t", 1, 2)).RasterCount == 1


def test_ranges_that_do_not_fit(store):
    path, root = store
    put(root, "t", CUBE)
    for name, words in {
            "t:0-3": ("index 3", "extent is 3"), "t:2-1": ("index 2-1", "FIRST-LAST"),
            "t:-2-1": ("index -2-1", "from 0"), "t:0--1": ("index 0--1", "from 0"),
            "t:0-99999999999999999999": ("index 0-9999",), "t:0-1:0": ("2 indices",),
            "t:0-1-2": ("/t:0-1-2",), "t:1-": ("/t:1-",)}.items():
        message = failure(sub(path, name))
        for word in words:
            assert word in message, (name, message)


def test_a_node_called_like_a_range(store):
    path, root = store
    put(root, "t", CUBE)
    put(root, "t:0-1", PLANE)
    assert "/t:0-1/" in failure(sub(path, "t:0-1"))
    assert (opened('ZARR3:"%s":/t:0-1/' % path).ReadAsArray() == PLANE).all()
    assert (opened('ZARR3:"%s":/t/:0-1' % path).ReadAsArray() == CUBE[:2]).all()


@pytest.mark.parametrize("chunks", [(1, 4, 4), (4, 5, 7), (3, 2, 3)], ids=str)
def test_ranges_are_bands(store, chunks):
    path, root = store
    data = np.arange(11 * 5 * 7, dtype="int16").reshape(11, 5, 7)
    put(root, "t", data, dims=("time", "y", "x"), chunks=chunks)
    put(root, "time", np.arange(11) * 10, dims=("time",))
    for first, last in ((0, 10), (2, 2), (3, 9), (5, 6)):
        name = '%s-%d' % (sub(path, "t", first), last)
        dataset = opened(name)
        assert dataset.RasterCount == last - first + 1
        assert (dataset.ReadAsArray().reshape(-1, 5, 7) == data[first:last + 1]).all()
        for band in range(dataset.RasterCount, 0, -1):  # by blocks, which bands share
            assert (opened(name).GetRasterBand(band).ReadAsArray(1, 2, 4, 3)
                    == data[first + band - 1, 2:5, 1:5]).all()
        assert (dataset.GetRasterBand(1).GetMetadataItem("DIM_time_INDEX") == str(first))
        assert dataset.GetRasterBand(dataset.RasterCount).GetDescription() == "time=%d" % (
            last * 10)


def test_ranges_open_what_has_too_many_bands(store):
    path, root = store
    array = root.create_array("t", shape=(70000, 2, 3), chunks=(70000, 2, 3), dtype="int32",
                              dimension_names=("time", "y", "x"))
    array[...] = np.arange(70000 * 6).reshape(70000, 2, 3)
    assert "i-j" in failure(sub(path, "t"))
    assert "65537 bands" in failure(sub(path, "t:0-65536"))
    dataset = opened(sub(path, "t:69000-69999"))
    assert dataset.RasterCount == 1000
    assert (dataset.ReadAsArray() == array[69000:]).all()
    assert dataset.GetRasterBand(1000).GetMetadataItem("DIM_time_INDEX") == "69999"


def test_ranges_of_two_dimensions_are_written(store):
    path, root = store
    data = np.arange(4 * 5 * 6 * 7, dtype="int32").reshape(4, 5, 6, 7)
    put(root, "t", data, dims=("time", "level", "y", "x"), chunks=(2, 3, 4, 5))
    dataset = gdal.OpenEx(sub(path, "t:1-2:2-4"), gdal.OF_UPDATE)
    assert dataset.RasterCount == 6
    assert (dataset.ReadAsArray() == data[1:3, 2:5].reshape(6, 6, 7)).all()
    dataset.GetRasterBand(4).WriteArray(np.full((2, 3), -9), 1, 1)
    with Errors() as errors:
        assert dataset.GetRasterBand(1).SetScale(2) != gdal.CE_None
    assert "this is a slice" in errors.failures[0]
    dataset = None
    data[2, 2, 1:3, 1:4] = -9
    assert (root["t"][...] == data).all()


def test_side_properties_of_a_range_are_those_of_its_bands(store):
    path, root = store
    put(root, "t", CUBE)
    dataset = gdal.OpenEx(sub(path, "t"), gdal.OF_UPDATE)
    for band in (1, 2, 3):
        dataset.GetRasterBand(band).SetStatistics(band, band + 1, 0, 0)
        dataset.GetRasterBand(band).SetCategoryNames(["c%d" % band])
    dataset = None
    dataset = gdal.OpenEx(sub(path, "t:1-2"), gdal.OF_UPDATE)
    assert [dataset.GetRasterBand(i).GetCategoryNames() for i in (1, 2)] == [["c2"], ["c3"]]
    dataset.GetRasterBand(2).WriteArray(PLANE)
    dataset = None
    dataset = opened(sub(path, "t"))
    assert [dataset.GetRasterBand(i).GetMetadataItem("STATISTICS_MINIMUM")
            for i in (1, 2, 3)] == ["1", None, None]


def test_writing_goes_by_the_same_names(store):
    path, root = store
    put(root, "t", CUBE)
    put(root, "t:1", PLANE)
    driver = gdal.GetDriverByName("Zarr3")
    for name in ("t:1", "t/:1"):  # the first may be either, the second is a slice
        with Errors() as errors:
            assert driver.Delete('ZARR3:"%s":/%s' % (path, name)) != gdal.CE_None
        assert errors.failures
    assert sorted(root.array_keys()) == ["t", "t:1"]
    assert driver.Delete('ZARR3:"%s":/t:1/' % path) == gdal.CE_None
    assert sorted(root.array_keys()) == ["t"]


def test_one_dimension_is_no_map(store):
    """A coordinate array in a group that lies somewhere, and that has levels."""
    path, root = store
    conventions = [{"uuid": uuid} for uuid in (
        "f17cb550-5864-4468-aeb7-f3180cfb622f", "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4",
        "d35379db-88df-4056-af3a-620245f8e347")]
    root.update_attributes({
        "zarr_conventions": conventions, "proj:code": "EPSG:32633", "spatial:bbox": [0, 0, 70, 50],
        "spatial:transform": [10, 0, 0, 0, -10, 50],
        "multiscales": {"layout": [{"asset": "a", "spatial:transform": [10, 0, 0, 0, -10, 50]},
                                   {"asset": "b", "spatial:transform": [20, 0, 0, 0, -20, 50]}]}})
    for level, step in (("a", 1), ("b", 2)):
        group = root.create_group(level)
        put(group, "t", PLANE[::step, ::step], dims=("y", "x"))
        put(group, "x", np.arange(0., 7., step), dims=("x",))
        put(group, "n", np.arange(0., 7., step))
        put(group, "zero", np.float64(step))
    for holder in (root, root["a"]):
        put(holder, "spatial_ref", np.int64(0), {"spatial_ref": "EPSG:32633"})
    put(root, "x", np.arange(7.), dims=("x",))
    for name in ("x", "a/x", "a/n", "a/zero"):
        dataset = opened(sub(path, name))
        assert dataset.GetGeoTransform(can_return_null=True) is None, name
        assert dataset.GetSpatialRef() is None, name
        assert dataset.GetRasterBand(1).GetOverviewCount() == 0, name
    assert opened(sub(path, "a/t")).GetGeoTransform() == (0, 10, 0, 50, 0, -10)


def test_nodes_that_would_be_shown_alike(tmp_path):
    """Each has a name: the one in the store, where another node is stored as it would be shown."""
    path = str(tmp_path / "n.zarr")
    root = zarr.open_group(path, mode="w", zarr_format=3)
    names = ["%5F_q", "__q", "a%5Cb", "x"]
    for i, name in enumerate(names):
        root.create_array(name, shape=(2,), dtype="u1", fill_value=i)
    shown = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER, allowed_drivers=["Zarr3"]).GetRootGroup()
    assert sorted(shown.GetMDArrayNames()) == ["%5F_q", "__q", "a\\b", "x"]
    for i, name in enumerate(names):
        assert list(shown.OpenMDArray(name).ReadAsArray()) == [i, i]
