# SPDX-License-Identifier: MIT
"""Update mode: pixels and properties of stores, also of those that other programs wrote."""
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
import xarray
import zarr
from osgeo import gdal, osr

from conftest import DATA, Errors, edit, opened, put, run, sub

VALUES = np.arange(20 * 30, dtype="u2").reshape(20, 30)
CUBE = np.arange(3 * 20 * 30, dtype="i4").reshape(3, 20, 30)
UTM = osr.SpatialReference()
UTM.ImportFromEPSG(32725)


def update(path, **options):
    dataset = gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE,
                          open_options=["%s=%s" % item for item in options.items()])
    assert dataset.GetDriver().ShortName == "Zarr3"
    return dataset


def attributes(path):
    return json.load(open(path + "/zarr.json"))["attributes"]


@pytest.mark.parametrize("options", [dict(chunks=(8, 8)), dict(chunks=(4, 8), shards=(16, 16)),
                                     dict(chunks=(20, 30), compressors=None)])
@pytest.mark.parametrize("dtype", ["u2", "f4", "c16", "bool"])
def test_pixels_of_a_foreign_store(store, options, dtype):
    path, root = store
    data = (VALUES % 2 if dtype == "bool" else VALUES).astype(dtype)
    put(root, "t", data, **options)
    dataset = update(path)
    dataset.WriteArray((data[3:9, 5:20] != 0).astype("u1") if dtype == "bool"
                       else data[3:9, 5:20] * 2, 5, 3)
    if dtype != "bool":
        data[3:9, 5:20] *= 2
    assert (dataset.ReadAsArray() == data).all()
    assert dataset.Close() == gdal.CE_None
    assert (root["t"][:] == data).all() and (opened(path).ReadAsArray() == data).all()


def test_float16_is_written_as_its_nearest(store):
    path, root = store
    put(root, "t", np.zeros((4, 5), "f2"))
    dataset = update(path)
    dataset.WriteArray(np.full((4, 5), 1.00001, "f4"))
    dataset = None
    assert (root["t"][:] == 1).all()


def test_a_slice_and_other_dimension_orders(store):
    path, root = store
    put(root, "t", CUBE, dims=("time", "y", "x"), chunks=(2, 8, 8))
    put(root, "last", np.moveaxis(CUBE, 0, 2), dims=("y", "x", "band"), chunks=(8, 8, 3))
    dataset = update(sub(path, "t", 1))
    dataset.WriteArray(CUBE[1] * 2)
    dataset = None
    dataset = update(sub(path, "last"))
    dataset.GetRasterBand(3).WriteArray(CUBE[2] * 5)
    dataset = None
    assert (root["t"][:] == CUBE * np.array([1, 2, 1])[:, None, None]).all()
    assert (root["last"][:] == np.moveaxis(CUBE * np.array([1, 1, 5])[:, None, None], 0, 2)).all()


def test_nothing_changed_nothing_written(store):
    path, root = store
    put(root, "t", VALUES, {"units": "K", "grid_mapping": "crs"}, ("y", "x"))
    before = {name: os.stat(os.path.join(folder, name)).st_mtime_ns
              for folder, _, names in os.walk(path) for name in names}
    dataset = update(path)
    dataset.ReadAsArray()
    dataset.GetRasterBand(1).GetMetadata()
    dataset.FlushCache()
    dataset = None
    after = {name: os.stat(os.path.join(folder, name)).st_mtime_ns
             for folder, _, names in os.walk(path) for name in names}
    assert before == after


def test_metadata_items_keep_others_and_their_kinds(store):
    path, root = store
    put(root, "t", VALUES, {"b": 5, "a": "x", "list": [1, 2], "c": True, "odd:name": 1,
                            "units": "K", "gone": 1})
    dataset = update(path)
    dataset.SetMetadataItem("b", "6")
    dataset.SetMetadataItem("new", "7")
    dataset.SetMetadataItem("gone", None)
    dataset.SetMetadataItem("c", "maybe")
    dataset = None
    assert attributes(path + "/t") == {"b": 6, "a": "x", "list": [1, 2], "c": "maybe",
                                       "odd:name": 1, "units": "K", "new": "7"}
    dataset = update(path)
    dataset.SetMetadata({"only": "this"})
    dataset = None
    assert attributes(path + "/t") == {"units": "K", "only": "this"}


def test_metadata_items_keep_blanks(tmp_path):
    path = str(tmp_path / "x.zarr")
    source = gdal.GetDriverByName("MEM").Create("", 4, 4, 2)
    source.SetMetadata({"a ": "  first", "b": "\ttab", "c": "last "})
    source.GetRasterBand(2).SetMetadata({"of a band": " v "})
    gdal.GetDriverByName("Zarr3").CreateCopy(path, source).Close()
    dataset = gdal.Open(path, gdal.GA_Update)
    assert dataset.GetMetadata() == source.GetMetadata()
    assert dataset.GetRasterBand(2).GetMetadata() == {"of a band": " v "}
    dataset.SetMetadataItem("d", " later")
    dataset.GetRasterBand(1).SetMetadata({"e": "\n"})
    dataset.Close()
    dataset = gdal.Open(path)
    assert dataset.GetMetadata() == {**source.GetMetadata(), "d": " later"}
    assert dataset.GetRasterBand(1).GetMetadata() == {"e": "\n"}


def test_unknown_members_and_consolidated_metadata_survive(store):
    path, root = store
    put(root, "t", VALUES)
    zarr.consolidate_metadata(path)
    edit(path + "/t", lambda d: d.update({"later": {"must_understand": False, "n": 1}}))
    dataset = update(path)
    dataset.SetMetadataItem("k", "v")
    dataset.SetSpatialRef(UTM)
    dataset = None
    document = json.load(open(path + "/t/zarr.json"))
    assert document["later"] == {"must_understand": False, "n": 1}
    entry = json.load(open(path + "/zarr.json")).get("consolidated_metadata")
    assert entry is None or entry["metadata"]["t"]["attributes"]["k"] == "v"


def test_band_properties(store):
    path, root = store
    put(root, "t", CUBE)
    dataset = update(path)
    for i in (1, 2, 3):
        band = dataset.GetRasterBand(i)
        band.SetScale(2)
        band.SetOffset(i)
        band.SetUnitType("K")
    dataset.GetRasterBand(2).SetDescription("two")
    dataset.GetRasterBand(2).SetMetadataItem("k", "v")
    dataset.GetRasterBand(1).SetColorInterpretation(gdal.GCI_RedBand)
    assert dataset.GetRasterBand(2).GetDescription() == "two"
    dataset = None
    found = attributes(path + "/t")
    assert found == {"scale_factor": 2, "offsets": [1, 2, 3], "units": "K",
                     "long_name": ["", "two", ""], "band_metadata": [{}, {"k": "v"}, {}],
                     "COLOR_INTERPRETATION": ["Red", "Undefined", "Undefined"]}
    dataset = opened(sub(path, "t", 1))
    band = dataset.GetRasterBand(1)
    assert (band.GetDescription(), band.GetOffset(), band.GetMetadataItem("k")) == ("two", 2, "v")
    dataset = update(path)
    for i in (1, 2, 3):
        dataset.GetRasterBand(i).SetOffset(0)
        dataset.GetRasterBand(i).SetDescription("")
        dataset.GetRasterBand(i).SetMetadata({})
    dataset = None
    assert set(attributes(path + "/t")) == {"scale_factor", "units", "COLOR_INTERPRETATION"}


def test_numbers_that_nobody_changed_keep_their_spelling(store):
    """GDAL knows doubles only; a 2 that was written as an integer stays one."""
    path, root = store
    put(root, "t", CUBE, {"scale_factor": 2, "offsets": [1, 2, 3]})
    before = pathlib.Path(path, "t", "zarr.json").read_text()
    dataset = update(path)
    dataset.GetRasterBand(1).SetUnitType("K")
    dataset = None
    after = json.loads(pathlib.Path(path, "t", "zarr.json").read_text())["attributes"]
    assert json.loads(before)["attributes"].items() <= after.items() and "units" in after
    assert type(after["scale_factor"]) is int and type(after["offsets"][0]) is int


def test_bands_of_a_slice_are_not_changed_alone(store):
    path, root = store
    put(root, "t", CUBE)
    dataset = update(sub(path, "t", 1))
    with Errors() as errors:
        assert dataset.GetRasterBand(1).SetUnitType("K") != gdal.CE_None
    assert "this is a slice" in errors.failures[0]


def test_positions_stay_derived(store):
    path, root = store
    put(root, "t", CUBE, {"long_name": "temperature"}, ("time", "y", "x"))
    put(root, "time", np.array([0, 1, 2]), {"units": "days since 2000-01-01"}, ("time",))
    dataset = update(path)
    dataset.GetRasterBand(2).SetMetadata(dataset.GetRasterBand(2).GetMetadata())
    dataset.SetMetadataItem("x", "y")
    dataset = None
    assert attributes(path + "/t") == {"long_name": "temperature", "x": "y"}
    dataset = opened(path)
    assert dataset.GetRasterBand(2).GetDescription() == "time=2000-01-02"


@pytest.mark.parametrize("dtype,value,stored", [
    ("u1", 7, 7), ("i8", -2**62, -2**62), ("u8", 2**64 - 1, 2**64 - 1), ("f4", -9999, None),
    ("f8", float("nan"), None)])
def test_nodata(store, dtype, value, stored):
    path, root = store
    put(root, "t", np.ones((4, 5), dtype), dims=("y", "x"))
    dataset = update(path)
    dataset.GetRasterBand(1).SetNoDataValue(value)
    dataset = None
    dataset = opened(path)
    assert str(dataset.GetRasterBand(1).GetNoDataValue()) in (str(value), str(float(value)))
    found = attributes(path + "/t")["_FillValue"]
    assert found == stored if stored is not None else isinstance(found, str)
    seen = xarray.open_zarr(path, consolidated=False, mask_and_scale=False)["t"].attrs["_FillValue"]
    assert str(seen) == str(np.dtype(dtype).type(value))
    dataset = update(path)
    dataset.GetRasterBand(1).DeleteNoDataValue()
    dataset = None
    assert attributes(path + "/t") == {}


def test_nodata_that_does_not_fit(store):
    path, root = store
    put(root, "t", VALUES, fill_value=9)
    dataset = update(path)
    with Errors() as errors:
        assert dataset.GetRasterBand(1).SetNoDataValue(-1) != gdal.CE_None
    assert "uint16" in errors.failures[0]
    assert dataset.GetRasterBand(1).GetNoDataValue() == 9


def test_one_nodata_value_for_all_bands(store):
    path, root = store
    put(root, "t", CUBE)
    dataset = update(path)
    with Errors() as errors:
        for band, value in ((1, 5), (2, 5), (3, 6)):
            dataset.GetRasterBand(band).SetNoDataValue(value)
    assert len(errors.seen) == 1 and "6 replaces" in errors.seen[0][1]
    assert dataset.GetRasterBand(1).GetNoDataValue() == 6


def test_georeferencing_is_written_and_removed(store):
    path, root = store
    put(root, "t", VALUES, dims=("y", "x"))
    dataset = update(path)
    dataset.SetSpatialRef(UTM)
    dataset.SetGeoTransform((100, 10, 0, 200, 0, -20))
    dataset = None
    dataset = opened(path)
    assert dataset.GetGeoTransform() == (100, 10, 0, 200, 0, -20)
    assert dataset.GetSpatialRef().IsSame(UTM)
    data = xarray.open_zarr(path, consolidated=False)["t"]
    assert list(data["x"].values[:2]) == [105, 115] and list(data["y"].values[:2]) == [190, 170]
    assert data["spatial_ref"].attrs["grid_mapping_name"] == "transverse_mercator"
    dataset = update(path)
    dataset.SetGeoTransform((100, 10, 1, 200, 2, -20))
    dataset = None
    assert opened(path).GetGeoTransform() == (100, 10, 1, 200, 2, -20)
    assert sorted(name for name in os.listdir(path) if name[0] != ".") == [
        "spatial_ref", "t", "zarr.json"]
    dataset = update(path)
    dataset.SetGeoTransform((0, 1, 0, 0, 0, 1))
    dataset.SetSpatialRef(None)
    dataset = None
    assert attributes(path + "/t") == {}
    assert sorted(name for name in os.listdir(path) if name[0] != ".") == ["t", "zarr.json"]


def test_arrays_of_others_are_left_alone(store):
    path, root = store
    mapping = {"crs_wkt": UTM.ExportToWkt()}
    put(root, "t", VALUES, {"grid_mapping": "crs"}, ("y", "x"))
    put(root, "u", VALUES, {"grid_mapping": "crs"}, ("y", "x"))
    put(root, "crs", np.int64(0), mapping)
    put(root, "x", np.arange(30.0), dims=("x",))
    put(root, "y", np.arange(20.0), dims=("y",))
    wgs84 = osr.SpatialReference()
    wgs84.ImportFromEPSG(4326)
    dataset = update(sub(path, "t"))
    dataset.SetSpatialRef(wgs84)
    dataset.SetGeoTransform((0, 2, 0, 40, 0, -2))
    with Errors() as errors:
        assert dataset.Close() == gdal.CE_None
    assert sum("stays as it is" in text for _, text in errors.seen) == 2
    assert opened(sub(path, "t")).GetSpatialRef().IsGeographic()
    assert opened(sub(path, "t")).GetGeoTransform() == (0, 2, 0, 40, 0, -2)
    assert opened(sub(path, "u")).GetSpatialRef().IsSame(UTM)
    assert opened(sub(path, "u")).GetGeoTransform() == (-.5, 1, 0, -.5, 0, 1)
    assert attributes(path + "/t")["grid_mapping"] == "spatial_ref_t"


@pytest.mark.parametrize("name", ["data", "../up", "a/b", "missing", "crs: x y"])
def test_a_grid_mapping_that_is_none_is_not_touched(store, name):
    path, root = store
    put(root, "t", VALUES, {"grid_mapping": name, "coordinates": ["odd"], "zarr_conventions": 5},
        ("y", "x"))
    put(root, "data", VALUES, dims=("r", "c"))
    put(root, "x", VALUES, dims=("r", "x"))
    dataset = update(sub(path, "t"))
    dataset.SetSpatialRef(UTM)
    dataset.SetGeoTransform((100, 10, 0, 200, 0, -20))
    assert dataset.Close() == gdal.CE_None
    assert (root["data"][:] == VALUES).all() and (root["x"][:] == VALUES).all()
    dataset = opened(sub(path, "t"))
    assert dataset.GetSpatialRef().IsSame(UTM)
    assert dataset.GetGeoTransform() == (100, 10, 0, 200, 0, -20)
    assert attributes(path + "/t")["grid_mapping"] == "spatial_ref_t"
    assert attributes(path + "/t")["coordinates"] == ["odd"]


def test_a_root_array_has_no_neighbours(tmp_path):
    path = str(tmp_path / "t.zarr")
    zarr.create_array(store=path, data=VALUES, zarr_format=3)
    dataset = update(path)
    dataset.SetSpatialRef(UTM)
    dataset.SetGeoTransform((100, 10, 0, 200, 0, -20))
    dataset.WriteArray(VALUES + 1)
    dataset = None
    dataset = opened(path)
    assert dataset.GetSpatialRef().IsSame(UTM) and (dataset.ReadAsArray() == VALUES + 1).all()
    assert dataset.GetGeoTransform() == (100, 10, 0, 200, 0, -20)
    assert sorted(name for name in os.listdir(path) if name[0] != ".") == ["c", "zarr.json"]


def test_an_item_of_the_sidecar_gives_way(store):
    path, root = store
    put(root, "t", VALUES)
    dataset = opened(path)
    dataset.SetMetadataItem("k", "old")
    dataset.GetRasterBand(1).SetMetadataItem("k", "old")
    dataset = None
    dataset = update(path)
    dataset.SetMetadataItem("k", "new")
    dataset.GetRasterBand(1).SetMetadataItem("k", "new")
    dataset = None
    dataset = opened(path)
    assert dataset.GetMetadataItem("k") == "new"
    assert dataset.GetRasterBand(1).GetMetadataItem("k") == "new"


def test_gdal_edit(store):
    path, root = store
    put(root, "t", CUBE, dims=("band", "y", "x"))
    run("gdal_edit.py", "-a_srs", "EPSG:32725", "-a_ullr", "0", "200", "300", "0", "-a_nodata", "5",
        "-mo", "A=1", "-scale", "2", "-offset", "3", "-units", "K", "-colorinterp_2", "green", path)
    dataset = opened(path)
    assert dataset.GetSpatialRef().IsSame(UTM)
    assert dataset.GetGeoTransform() == (0, 10, 0, 200, 0, -10)
    assert dataset.GetMetadata() == {"A": "1", "AREA_OR_POINT": "Area"}
    for i in (1, 2, 3):
        band = dataset.GetRasterBand(i)
        assert (band.GetNoDataValue(), band.GetScale(), band.GetOffset(), band.GetUnitType()) == (
            5, 2, 3, "K")
    assert dataset.GetRasterBand(2).GetColorInterpretation() == gdal.GCI_GreenBand
    run("gdal_edit.py", "-unsetgt", "-unsetnodata", "-unsetmd", "-a_srs", "None", path)
    dataset = opened(path)
    assert dataset.GetSpatialRef() is None and dataset.GetMetadata() == {}
    assert dataset.GetGeoTransform(can_return_null=True) is None
    assert dataset.GetRasterBand(1).GetNoDataValue() is None


def test_rasterize_into_a_store(store, tmp_path):
    path, root = store
    put(root, "t", VALUES, dims=("y", "x"))
    run("gdal_edit.py", "-a_ullr", "0", "20", "30", "0", path)
    shapes = tmp_path / "a.geojson"
    shapes.write_text(json.dumps({"type": "Polygon", "coordinates": [
        [[2, 3], [12, 3], [12, 9], [2, 9], [2, 3]]]}))
    run("gdal_rasterize", "-q", "-burn", "9", shapes, path)
    expected = VALUES.copy()
    expected[11:17, 2:12] = 9
    assert (root["t"][:] == expected).all()


def test_places_that_cannot_be_updated(store, tmp_path):
    path, root = store
    put(root, "t", VALUES)
    run("bash", "-c", "cd '%s' && /usr/bin/python3 -m zipfile -c a.zip x.zarr/" % tmp_path)
    with Errors() as errors:
        assert gdal.OpenEx("/vsizip/%s/a.zip/x.zarr" % tmp_path,
                           gdal.OF_RASTER | gdal.OF_UPDATE) is None
        assert gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_UPDATE,
                           open_options=["SYNC=SOON"]) is None
    assert "local directories" in errors.failures[-2] and "SOON" in errors.failures[-1]


@pytest.mark.parametrize("sync", ["NONE", "CLOSE", "ALWAYS"])
def test_sync(store, sync):
    path, root = store
    put(root, "t", VALUES, chunks=(8, 8), shards=(16, 16))
    dataset = update(path, SYNC=sync)
    dataset.WriteArray(VALUES[:5] + 1)
    assert (dataset.ReadAsArray()[:5] == VALUES[:5] + 1).all()
    assert dataset.Close() == gdal.CE_None
    assert (root["t"][:5] == VALUES[:5] + 1).all()


def test_real_raster_by_windows(tmp_path):
    """Half of a scene is replaced window by window; the other half keeps its bytes."""
    path = str(tmp_path / "r.zarr")
    source = gdal.Open(str(DATA / "L7_ETMs.tif"))
    gdal.Translate(path, source, format="Zarr3", creationOptions=["SHARD=64x64", "BLOCKSIZE=32x32"])
    kept = open(path + "/r/c/0/0/0", "rb").read()
    expected = source.ReadAsArray()
    dataset = update(path)
    for y in range(100, 352, 50):
        for x in range(100, 349, 40):
            w, h = min(40, 349 - x), min(50, 352 - y)
            part = dataset.ReadAsArray(x, y, w, h)
            dataset.WriteArray(255 - part, x, y)
            expected[:, y:y + h, x:x + w] = 255 - expected[:, y:y + h, x:x + w]
    dataset = None
    assert (opened(path).ReadAsArray() == expected).all()
    assert open(path + "/r/c/0/0/0", "rb").read() == kept


def test_items_of_others_stay(store):
    """Two programs change metadata of one array: each changes its own items alone."""
    path, root = store
    put(root, "t", VALUES)
    ours = update(path)
    for name in ("a", "b", "c"):
        ours.SetMetadataItem(name, "old")
    ours.FlushCache()
    other = update(path)
    other.SetMetadataItem("b", "other's")
    other.SetMetadataItem("d", "other's")
    assert other.Close() == gdal.CE_None
    ours.SetMetadataItem("a", "ours")
    ours.FlushCache()
    ours.SetMetadataItem("c", "ours")
    assert ours.Close() == gdal.CE_None
    items = opened(path).GetMetadata()
    assert [items.get(name) for name in "abcd"] == ["ours", "other's", "ours", "other's"]


@pytest.mark.parametrize("levels", [False, True])
def test_coordinates_without_a_geotransform_outlive_a_new_crs(store, levels):
    """They are data that nobody has asked to change."""
    path, group = store
    values = np.arange(600, dtype="u1").reshape(20, 30)
    put(group, "v", values, dims=("y", "x"))
    put(group, "y", np.arange(20.0) ** 1.5, dims=("y",))
    put(group, "x", np.arange(30.0) ** 1.3, dims=("x",))
    if levels:
        run("gdaladdo", "-q", path, "2")
    run("gdal_edit.py", "-a_srs", "EPSG:32725", path)
    for name in ("", "ovr_2x/")[:1 + levels]:
        found = zarr.open_group(path, mode="r")
        assert found[name + "x"].shape[0] == found[name + "v"].shape[1]
        assert found[name + "y"].shape[0] == found[name + "v"].shape[0]
        assert opened(sub(path, name + "v")).GetSpatialRef().GetAuthorityCode(None) == "32725"


def as_nobody(*command):
    return subprocess.run(command, capture_output=True, text=True, user="nobody", check=False)


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed, and so root")
@pytest.mark.parametrize("writable", [(), ("t",), ("", "g"), ("t", "g", "g/u")])
def test_rights_that_are_missing_are_told_at_opening(open_path, writable):
    """What is set is stored when a dataset is closed: gdal_edit.py does not see that fail, and ended with 0. Documents
    are changed under the lock in the root, pixels lie in the array's directory; a group may stand for its one array."""
    path = str(open_path / "x.zarr")
    root = zarr.create_group(store=path, zarr_format=3)
    put(root, "t", VALUES)
    put(root.create_group("g"), "u", VALUES)
    for node in writable:
        pathlib.Path(path, node).chmod(0o777)
    for name, array in ((path + "/t", "t"), (sub(path, "t"), "t"), (sub(path, "g"), "g/u"), (sub(path, "g/u"), "g/u")):
        lacking = [place for place in ("", array) if place not in writable]
        before = pathlib.Path(path, array, "zarr.json").read_bytes()
        done = as_nobody("gdal_edit.py", "-a_nodata", "5", name)
        place = path + "/" + lacking[0] if lacking[0] else path
        assert done.returncode != 0 and f"'{place}' for writing: Permission denied" in done.stderr
        assert pathlib.Path(path, array, "zarr.json").read_bytes() == before
        done = as_nobody("gdalinfo", name)
        assert done.returncode == 0, done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="another user is needed, and so root")
def test_rights_that_are_there_are_enough(open_path):
    path = str(open_path / "x.zarr")
    put(zarr.create_group(store=path, zarr_format=3), "t", VALUES)
    run("chown", "-R", "nobody", path)
    done = as_nobody("gdal_edit.py", "-a_nodata", "5", path)
    assert done.returncode == 0, done.stderr
    assert opened(path).GetRasterBand(1).GetNoDataValue() == 5
