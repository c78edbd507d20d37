# SPDX-License-Identifier: MIT
"""Groups: when one array stands for a group, and how several are listed."""
import json
import shutil

import numpy as np
from osgeo import gdal

from conftest import Errors, edit, opened, put, sub

PLANE = np.arange(6 * 8, dtype="float32").reshape(6, 8)


def listed(dataset):
    return [name.split(":/")[-1] for name, _ in dataset.GetSubDatasets()]


def test_one_raster_with_its_coordinates_opens_as_itself(store):
    path, root = store
    put(root, "t", PLANE, {"coordinates": "lat2d lon2d", "grid_mapping": "crs"}, ("y", "x"))
    put(root, "x", np.arange(8.0), {"bounds": "x_bnds"}, ("x",))
    put(root, "y", np.arange(6.0), dims=("y",))
    put(root, "x_bnds", np.zeros((8, 2)), dims=("x", "nv"))
    put(root, "lat2d", PLANE)
    put(root, "lon2d", PLANE)
    put(root, "crs", np.int32(0), {"grid_mapping_name": "latitude_longitude"})
    dataset = opened(path)
    assert dataset.RasterCount == 1 and not dataset.GetSubDatasets()


def test_several_arrays_are_listed_with_descriptions(store):
    path, root = store
    root.update_attributes({"title": "A title"})
    put(root, "b", np.zeros((3, 6, 8), "i2"), {"long_name": "Bee", "units": "K"})
    put(root, "a", PLANE, {"coordinates": "c"})
    put(root, "c", PLANE)
    put(root, "x", np.arange(8.0), dims=("x",))
    put(root.create_group("deep").create_group("er"), "t", PLANE)
    dataset = opened(path)
    assert dataset.RasterCount == 0
    assert dataset.GetMetadata() == {"title": "A title"}
    assert dataset.GetSubDatasets() == [
        (sub(path, "a"), "[6x8] /a (Float32)"),
        (sub(path, "b"), "[3x6x8] /b (Int16): Bee, K"),
        (sub(path, "deep/er/t"), "[6x8] /deep/er/t (Float32)"),
        (sub(path, "c"), "[6x8] /c (Float32)")]
    for name, _ in dataset.GetSubDatasets():
        assert opened(name).RasterXSize == 8
    assert listed(opened(path, LIST_ALL_ARRAYS="YES")) == ["a", "b", "deep/er/t", "c", "x"]


def test_a_level_that_is_on_no_list_is_told(store):
    """A group of another name is one like all others, and so is one without a raster of that name."""
    path, root = store
    put(root, "t", PLANE)
    put(root.create_group("ovr_2x"), "t", PLANE[::2, ::2])
    dataset = opened(path)
    assert dataset.RasterXSize == 8
    reasons = dataset.GetMetadata_Dict("ZARR3_UNREADABLE")
    assert list(reasons) == ["/ovr_2x"] and "on no list" in reasons["/ovr_2x"]
    put(root.create_group("ovr_x"), "t", PLANE)
    put(root.create_group("ovr_4x"), "u", PLANE)
    assert listed(opened(path)) == ["ovr_4x/u", "ovr_x/t", "t"]


def test_describing_reads_metadata_only(store):
    """Chunks that are damaged do not matter to a listing."""
    path, root = store
    for name in "ab":
        put(root, name, PLANE, chunks=(6, 8))
        with open("%s/%s/c/0/0" % (path, name), "wb") as chunk:
            chunk.write(b"damaged")
    assert listed(opened(path)) == ["a", "b"]


def test_what_cannot_be_read_is_listed_with_its_reason(store):
    path, root = store
    put(root, "good", PLANE)
    for name in ("codec", "type", "json"):
        put(root, name, PLANE)
    edit(path + "/codec", lambda d: d["codecs"].append({"name": "no_such_codec"}))
    edit(path + "/type",
         lambda d: d.update(data_type="r24", fill_value=[0, 0, 0], codecs=["bytes"]))
    with open(path + "/json/zarr.json", "w") as file:
        file.write('{"zarr_format": 3, ')
    root.create_array("empty", shape=(0, 5), dtype="u1", chunks=(1, 5))
    root.create_array("huge", shape=(2**62, 1), dtype="u1", chunks=(1, 1))
    dataset = opened(path)
    assert dataset.RasterXSize == 8, "the one readable array opens"
    reasons = dataset.GetMetadata_Dict("ZARR3_UNREADABLE")
    assert sorted(reasons) == ["/codec", "/empty", "/huge", "/json", "/type"]
    assert "no_such_codec" in reasons["/codec"]
    assert "r24" in reasons["/type"]
    assert "extent 0" in reasons["/empty"]
    assert str(2**62) in reasons["/huge"] and str(2**31 - 1) in reasons["/huge"]
    with Errors() as errors:
        for name in ("codec", "type", "empty", "huge"):
            assert gdal.Open(sub(path, name)) is None
    assert len(errors.failures) == 4
    assert all("array /" + name in text for name, text in
               zip(("codec", "type", "empty", "huge"), errors.failures)), errors.failures


def test_groups_with_nothing_to_show_say_so(store):
    path, root = store
    with Errors() as errors:
        assert gdal.Open(path) is None
    assert len(errors.failures) == 1 and "no array" in errors.failures[0]
    put(root, "x", np.arange(8.0))
    put(root, "bad", PLANE)
    edit(path + "/bad", lambda d: d.update(data_type="int3"))
    with Errors() as errors:
        assert gdal.Open(path) is None
    assert "LIST_ALL_ARRAYS" in errors.failures[0] and "int3" in errors.failures[0]
    assert listed(opened(path, LIST_ALL_ARRAYS="YES")) == ["x"]


def test_deep_hierarchies_end(store):
    path, root = store
    group = root
    for _ in range(20):
        group = group.create_group("g")
    put(group, "t", PLANE)
    put(root, "a", PLANE)
    put(root, "b", PLANE)
    with Errors() as errors:
        dataset = gdal.Open(path)
        assert listed(dataset) == ["a", "b"]
    assert len(errors.seen) == 1 and "only a part" in errors.seen[0][1]
    assert opened(sub(path, "g/" * 20 + "t")).RasterXSize == 8


def test_group_attributes_of_an_array(store):
    path, root = store
    root.update_attributes({"title": "A title", "history": "made", "History": "kept apart"})
    put(root, "t", PLANE, {"own": 1})
    dataset = opened(path)
    assert dataset.GetMetadata() == {"own": "1"}
    assert dataset.GetMetadata_List("GROUP") == ["title=A title", "history=made",
                                                 "History=kept apart"]
    assert "GROUP" in dataset.GetMetadataDomainList()
    assert json.loads(dataset.GetMetadata_List("json:zarr.json")[0])["attributes"] == {"own": 1}


def test_names_begin_with_the_path_that_was_opened(store):
    """QGIS shows the text after that path as the layer's name."""
    path, root = store
    put(root, "a", PLANE)
    group = root.create_group("g")
    put(group, "b", np.zeros((3, 6, 8), "i2"))
    put(group.create_group("h"), "c", PLANE)
    put(group, "d", PLANE)
    for name, start, nodes in (
            (path, path, ["a", "g/b", "g/d", "g/h/c"]),
            (path + "/", path, ["a", "g/b", "g/d", "g/h/c"]),
            (path + "/zarr.json", path + "/zarr.json", ["a", "g/b", "g/d", "g/h/c"]),
            (path + "/g", path + "/g", ["b", "d", "h/c"]),
            (path + "/g/zarr.json", path + "/g/zarr.json", ["b", "d", "h/c"]),
            (sub(path, "g"), path, ["g/b", "g/d", "g/h/c"]),
            ("ZARR3:" + path + "/zarr.json:/g", path + "/zarr.json", ["g/b", "g/d", "g/h/c"])):
        names = [name for name, _ in opened(name).GetSubDatasets()]
        assert names == [sub(start, node) for node in nodes], name
        for name in names:
            assert opened(name).RasterXSize == 8
            assert opened(name.replace('"', "")).RasterXSize == 8, "as rasterio asks"
    for name in (path + "/g/b", path + "/g/b/zarr.json", sub(path + "/g", "b")):
        start = path + "/g" if name.startswith("ZARR3:") else path
        node = "b" if name.startswith("ZARR3:") else "g/b"
        names = [name for name, _ in opened(name, MULTIBAND="NO").GetSubDatasets()]
        assert names == [sub(start, node, i) for i in range(3)]
        for name in names:
            assert opened(name).RasterCount == 1


def test_hidden_arrays_are_not_listed(store):
    """Large attributes of HDF5 programs lie in arrays whose names the specification reserves."""
    path, root = store
    hidden = "__attribute.0123456789abcdef"
    put(root, "a", PLANE)
    put(root, "b", PLANE)
    put(root.create_group("g"), "c", PLANE)
    put(root, "stray", PLANE)
    for owner in (path, path + "/a", path + "/g"):
        shutil.copytree(path + "/stray", "%s/%s" % (owner, hidden))
    shutil.rmtree(path + "/stray")
    assert listed(opened(path)) == ["a", "b", "g/c"]
    assert listed(opened(path, LIST_ALL_ARRAYS="YES")) == ["a", "b", "g/c"]
    assert "__attribute" not in gdal.Info(path)
    group = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert group.GetMDArrayNames() == ["a", "b"] and group.GetGroupNames() == ["g"]
    below = group.OpenGroup("g")
    assert below.GetMDArrayNames() == ["c"] and not below.GetGroupNames()
    assert "__attribute" not in json.dumps(gdal.MultiDimInfo(path))
