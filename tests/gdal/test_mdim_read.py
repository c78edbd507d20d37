# SPDX-License-Identifier: MIT
"""Stores of other programs through GDAL's multidimensional API."""
import json
import shutil

import numpy as np
import pytest
import zarr
from osgeo import gdal, osr

from conftest import Errors, edit, put, run
from mdim import opened_mdim, put_bytes

NUMBERS = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
           "float16", "float32", "float64", "complex64", "complex128"]


def values_of(dtype, *shape):
    data = np.arange(np.prod(shape)).reshape(shape)
    return (data % 2 if dtype == "bool" else data).astype(dtype)


def float64():
    return gdal.ExtendedDataType.Create(gdal.GDT_Float64)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_numbers(store, dtype):
    path, root = store
    data = values_of(dtype, 3, 4, 5)
    put(root, "a", data, chunks=(2, 2, 2), dims=["t", "y", "x"])
    _, group = opened_mdim(path)
    array = group.OpenMDArray("a")
    assert array.GetBlockSize() == [2, 2, 2]
    assert np.array_equal(array.ReadAsArray(), data)
    assert np.array_equal(array.ReadAsArray([1, 1, 2], [2, 3, 2]), data[1:, 1:, 2:4])
    if "complex" not in dtype:
        assert np.array_equal(array.ReadAsArray(buffer_datatype=float64()), data.astype("f8"))


@pytest.mark.parametrize("dtype", ["int16", "float64"])
@pytest.mark.parametrize("view, index", [
    ("[::-1]", np.s_[::-1]),
    ("[::2,3:0:-2]", np.s_[::2, 3:0:-2]),
    ("[1,...,::-3]", np.s_[1, ..., ::-3]),
    ("[2,1,4]", np.s_[2, 1, 4]),
    ("[-1,:,newaxis,0]", np.s_[-1, :, None, 0])])
def test_views(store, dtype, view, index):
    path, root = store
    data = values_of(dtype, 3, 4, 5)
    put(root, "a", data, chunks=(2, 3, 2))
    _, group = opened_mdim(path)
    found = group.OpenMDArray("a").GetView(view)
    assert np.array_equal(found.ReadAsArray(), data[index])
    as_float = found.ReadAsArray(buffer_datatype=float64())
    assert np.array_equal(as_float, data[index].astype("f8"))


def test_transposed_and_strided(store):
    path, root = store
    data = values_of("int32", 3, 4, 5)
    put(root, "a", data, chunks=(2, 3, 2))
    _, group = opened_mdim(path)
    array = group.OpenMDArray("a")
    assert np.array_equal(array.Transpose([2, 0, 1]).ReadAsArray(), data.transpose(2, 0, 1))
    raw = array.Read(array_start_idx=[2, 3, 4], count=[3, 2, 2], array_step=[-1, -2, -3],
                     buffer_stride=[1, 3, 6])
    assert np.array_equal(np.frombuffer(bytes(raw), "i4").reshape(2, 2, 3),
                          data[::-1, 3::-2, 4::-3].transpose(2, 1, 0))


def test_large_conversions_go_in_parts(store):
    """More than is converted at once: every part lands where it belongs."""
    path, root = store
    data = np.arange(5000 * 2048, dtype="f8").reshape(5000, 2048)
    put(root, "a", data, chunks=(700, 2048))
    _, group = opened_mdim(path)
    kind = gdal.ExtendedDataType.Create(gdal.GDT_Int32)
    found = group.OpenMDArray("a").GetView("[::-1]").ReadAsArray(buffer_datatype=kind)
    assert np.array_equal(found, data[::-1].astype("i4"))


def test_scalars_and_shards(store):
    path, root = store
    put(root, "scalar", np.float32(2.5))
    data = values_of("uint16", 64, 64)
    put(root, "sharded", data, chunks=(8, 8), shards=(32, 32))
    _, group = opened_mdim(path)
    assert group.OpenMDArray("scalar").ReadAsArray() == 2.5
    sharded = group.OpenMDArray("sharded")
    assert sharded.GetBlockSize() == [8, 8]
    info = sharded.GetStructuralInfo()
    assert info["SHARD_SIZE"] == "32,32" and info["DATA_TYPE"] == "uint16"
    assert json.loads(info["CODECS"])[0]["name"] == "sharding_indexed"
    assert np.array_equal(sharded.ReadAsArray([5, 6], [40, 50]), data[5:45, 6:56])


def test_text(store):
    path, root = store
    texts = np.array(["a", "été", "", "x" * 1000], dtype=object)
    array = root.create_array("s", shape=(4,), dtype=str, chunks=(3,))
    array[...] = texts
    _, group = opened_mdim(path)
    found = group.OpenMDArray("s")
    assert found.GetDataType().GetClass() == gdal.GEDTC_STRING
    assert found.Read() == list(texts)
    assert found.GetView("[::-2]").Read() == list(texts[::-2])


def test_text_with_a_nul_is_refused(store):
    path, root = store
    array = root.create_array("s", shape=(2,), dtype=str)
    array[...] = np.array(["a\0b", "c"], dtype=object)
    _, group = opened_mdim(path)
    with Errors() as errors:
        assert group.OpenMDArray("s").Read() is None
    assert "NUL" in errors.failures[0]


def test_text_of_a_fixed_length(tmp_path):
    zarr.create_group(store=str(tmp_path / "x.zarr"), zarr_format=3)
    stored = np.array([b"abc", b"de"], "S3")
    put_bytes(tmp_path / "x.zarr", "c", {"name": "null_terminated_bytes",
                                         "configuration": {"length_bytes": 3}}, "", stored)
    codes = np.array(["\u00e9x", "yz"], "<U2")
    put_bytes(tmp_path / "x.zarr", "u", {"name": "fixed_length_utf32",
                                         "configuration": {"length_bytes": 8}}, "", codes)
    _, group = opened_mdim(tmp_path / "x.zarr", update=True)
    assert group.OpenMDArray("c").Read() == ["abc", "de"]
    assert group.OpenMDArray("u").Read() == ["\u00e9x", "yz"]
    with Errors() as errors:
        assert group.OpenMDArray("c").Write(["x", "y"]) != gdal.CE_None
    assert "read and not written" in errors.failures[0]


def test_structs(tmp_path):
    path = tmp_path / "x.zarr"
    zarr.create_group(store=str(path), zarr_format=3)
    dtype = np.dtype([("x", "<i2"), ("name", "S4"), ("y", "<f8")])
    plain = np.dtype([("x", "<i2"), ("y", "<f8")])
    values = np.array([(1, b"one", 2.5), (3, b"four", 4.5)], dtype)

    def fields(*names):
        types = {"x": "int16", "y": "float64",
                 "name": {"name": "null_terminated_bytes", "configuration": {"length_bytes": 4}}}
        return {"name": "struct", "configuration": {
            "fields": [{"name": name, "data_type": types[name]} for name in names]}}

    put_bytes(path, "text", fields("x", "name", "y"), "AAAAAAAAAAAAAAAAAAA=", values)
    put_bytes(path, "plain", fields("x", "y"), "AAAAAAAAAAAAAA==",
              np.array([(1, 2.5), (3, 4.5)], plain))
    _, group = opened_mdim(path)
    array = group.OpenMDArray("plain")
    kind = array.GetDataType()
    assert kind.GetClass() == gdal.GEDTC_COMPOUND
    offsets = [component.GetOffset() for component in kind.GetComponents()]
    assert [component.GetName() for component in kind.GetComponents()] == ["x", "y"]
    memory = np.dtype({"names": ["x", "y"], "formats": ["i2", "f8"], "offsets": offsets,
                       "itemsize": kind.GetSize()})
    found = np.frombuffer(bytes(array.Read()), memory)
    assert found["x"].tolist() == [1, 3] and found["y"].tolist() == [2.5, 4.5]
    assert group.OpenMDArray("text").GetView("['name']").Read() == ["one", "four"]
    assert group.OpenMDArray("text").GetView("['y']").ReadAsArray().tolist() == [2.5, 4.5]


def test_times(tmp_path):
    path = tmp_path / "x.zarr"
    zarr.create_group(store=str(path), zarr_format=3)
    values = np.array([1, -(2**63), 3], "<i8")
    put_bytes(path, "time", {"name": "numpy.datetime64",
                             "configuration": {"unit": "D", "scale_factor": 1}}, "NaT", values,
              ["time"])
    _, group = opened_mdim(path)
    array = group.OpenMDArray("time")
    assert array.GetDataType().GetNumericDataType() == gdal.GDT_Int64
    assert array.GetUnit() == "days since 1970-01-01"
    assert array.GetNoDataValueAsInt64() == -(2**63)
    assert np.array_equal(array.ReadAsArray(), values)
    assert array.GetStructuralInfo()["DATA_TYPE"] == "numpy.datetime64[D]"
    assert array.GetDimensions()[0].GetType() == gdal.DIM_TYPE_TEMPORAL


def test_what_gdal_has_no_type_for_is_told(tmp_path):
    path = tmp_path / "x.zarr"
    zarr.create_group(store=str(path), zarr_format=3)
    put_bytes(path, "raw", "r16", [0, 0], np.zeros(2, "<u2"))
    put_bytes(path, "good", "uint8", 0, np.zeros(2, "u1"))
    with Errors() as errors:
        _, group = opened_mdim(path)
        assert group.GetMDArrayNames() == ["good"]
        assert group.OpenMDArray("raw") is None
    assert any("'raw' is left out" in text for _, text in errors.seen)
    assert "r16" in errors.failures[0]


def test_dimensions_and_coordinates(store):
    path, root = store
    put(root, "x", [0.0, 0.5], {"units": "degrees_east"}, ["x"])
    put(root, "y", [3.0, 2.0, 1.0], {"units": "degrees_north"}, ["y"])
    put(root, "z", [1, 2], {"axis": "Z", "positive": "up"}, ["z"])
    put(root, "t", [1, 2], {"units": "days since 2000-01-01"}, ["t"])
    put(root, "a", np.zeros((2, 2, 3, 2)), dims=["t", "z", "y", "x"])
    put(root, "free", np.zeros((4, 5)), dims=["n", None])
    put(root, "namesake", np.zeros(7), dims=["y"])
    put(root.create_group("g"), "deep", np.zeros((3, 2, 4)), dims=["y", "x", "n"])
    _, group = opened_mdim(path)
    found = {dim.GetFullName(): (dim.GetSize(), dim.GetType(), dim.GetDirection())
             for dim in group.GetDimensions()}
    assert found == {
        "/t": (2, gdal.DIM_TYPE_TEMPORAL, ""), "/z": (2, gdal.DIM_TYPE_VERTICAL, "UP"),
        "/y": (3, gdal.DIM_TYPE_HORIZONTAL_Y, "NORTH"), "/n": (4, "", ""),
        "/x": (2, gdal.DIM_TYPE_HORIZONTAL_X, "EAST")}
    x = group.OpenMDArray("a").GetDimensions()[3]
    assert x.GetIndexingVariable().GetFullName() == "/x"
    assert x.GetIndexingVariable().ReadAsArray().tolist() == [0, 0.5]
    names = lambda array: [dim.GetFullName() for dim in array.GetDimensions()]  # noqa: E731
    assert names(group.OpenMDArray("free")) == ["/n", "dim1"]
    assert names(group.OpenMDArray("namesake")) == ["y"]
    assert names(group.OpenGroup("g").OpenMDArray("deep")) == ["/y", "/x", "/n"]


def test_attributes(store):
    path, root = store
    root.attrs.update({"title": "hi", "numbers": [1, 2], "big": 2**40, "huge": 2**64 - 1,
                       "real": 1.5, "nan": "NaN", "texts": ["a", "b"], "grid": [[1, 2], [3, 4]],
                       "flag": True, "object": {"a": [1]}, "null": None, "empty": []})
    put(root, "a", np.zeros(2), {"units": "m", "scale_factor": 0.5, "add_offset": 2,
                                 "_FillValue": -1.0, "comment": "c"})
    _, group = opened_mdim(path)
    found = {item.GetName(): item for item in group.GetAttributes()}
    kinds = {name: item.GetDataType().GetNumericDataType() for name, item in found.items()}
    assert found["title"].Read() == "hi" and found["texts"].Read() == ["a", "b"]
    assert found["numbers"].Read() == (1, 2) and kinds["numbers"] == gdal.GDT_Int32
    assert kinds["big"] == gdal.GDT_Int64 and kinds["huge"] == gdal.GDT_UInt64
    assert found["real"].Read() == 1.5 and np.isnan(found["nan"].Read())
    assert found["grid"].GetDimensionsSize() == [2, 2]
    assert list(found["grid"].ReadAsIntArray()) == [1, 2, 3, 4]
    texts = {name: found[name].ReadAsString() for name in ("flag", "object", "null", "empty")}
    assert texts == {"flag": "true", "object": '{"a":[1]}', "null": "null", "empty": "[]"}
    assert found["flag"].GetDataType().GetSubType() == gdal.GEDTST_JSON
    array = group.OpenMDArray("a")
    assert [item.GetName() for item in array.GetAttributes()] == ["comment"]
    assert len(array.GetAttributes(["SHOW_ALL=YES"])) == 5
    assert array.GetAttribute("units").Read() == "m"
    assert (array.GetUnit(), array.GetScale(), array.GetOffset()) == ("m", 0.5, 2)
    assert array.GetNoDataValueAsDouble() == -1


def test_crs(store):
    path, root = store
    put(root, "x", [0.0, 1.0], {"axis": "X"}, ["x"])
    put(root, "y", [0.0, 1.0, 2.0], {"axis": "Y"}, ["y"])
    wkt = osr.SpatialReference()
    wkt.ImportFromEPSG(32631)
    put(root, "crs", 0, {"crs_wkt": wkt.ExportToWkt(["FORMAT=WKT2_2019"])})
    put(root, "a", np.zeros((2, 3, 2)), {"grid_mapping": "crs"}, ["t", "y", "x"])
    _, group = opened_mdim(path)
    assert group.GetMDArrayNames() == ["a", "x", "y"]
    assert "crs" in group.GetMDArrayNames(["SHOW_ALL=YES"])
    array = group.OpenMDArray("a")
    assert array.GetSpatialRef().IsSame(wkt, ["IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES"])
    assert array.GetSpatialRef().GetDataAxisToSRSAxisMapping() == [3, 2]
    assert array.GetAttributes() == []
    raster = array.AsClassicDataset(2, 1)
    assert (raster.RasterXSize, raster.RasterYSize, raster.RasterCount) == (2, 3, 2)
    assert raster.GetGeoTransform() == (-0.5, 1, 0, -0.5, 0, 1)
    assert raster.GetSpatialRef().GetAuthorityCode(None) == "32631"


def test_resampled(store):
    path, root = store
    put(root, "lon", [0.0, 1.0, 2.0, 3.0], {"units": "degrees_east"}, ["lon"])
    put(root, "lat", [2.0, 1.0, 0.0], {"units": "degrees_north"}, ["lat"])
    data = np.arange(24.0).reshape(2, 3, 4)
    put(root, "a", data, dims=["t", "lat", "lon"])
    _, group = opened_mdim(path)
    same = group.OpenMDArray("a").GetResampled([None] * 3, gdal.GRIORA_NearestNeighbour, None)
    assert np.array_equal(same.ReadAsArray(), data)


def test_coordinate_variables(store):
    path, root = store
    put(root, "lon", np.zeros((3, 2)), dims=["y", "x"])
    put(root, "lat", np.ones((3, 2)), dims=["y", "x"])
    put(root, "a", np.zeros((3, 2)), {"coordinates": "lat lon missing"}, ["y", "x"])
    _, group = opened_mdim(path)
    found = [item.GetName() for item in group.OpenMDArray("a").GetCoordinateVariables()]
    assert found == ["lat", "lon"]


def test_unsigned(store):
    path, root = store
    put(root, "a", np.array([-1, 5], "i1"), {"_Unsigned": "true", "_FillValue": -1})
    _, group = opened_mdim(path)
    array = group.OpenMDArray("a")
    assert array.GetDataType().GetNumericDataType() == gdal.GDT_Byte
    assert array.ReadAsArray().tolist() == [255, 5] and array.GetNoDataValueAsDouble() == 255


def test_one_array_by_its_name(store):
    path, root = store
    put(root.create_group("g"), "a", np.arange(4), dims=["x"])
    put(root["g"], "x", [0.0, 1, 2, 3], dims=["x"])
    for name in (f"{path}/g/a", f'ZARR3:"{path}":/g/a'):
        _, group = opened_mdim(name)
        assert group.GetMDArrayNames() == ["a"] and group.GetGroupNames() == []
        array = group.OpenMDArray("a")
        assert array.GetFullName() == "/a"
        assert array.ReadAsArray().tolist() == [0, 1, 2, 3]
        assert array.GetDimensions()[0].GetIndexingVariable().ReadAsArray().tolist() == [0, 1, 2, 3]


def test_a_store_that_is_an_array(tmp_path):
    path = tmp_path / "only.zarr"
    array = zarr.create_array(store=str(path), shape=(2, 3), dtype="i4")
    array[...] = np.arange(6).reshape(2, 3)
    _, group = opened_mdim(path)
    assert group.GetMDArrayNames() == ["only"]
    assert group.OpenMDArray("only").ReadAsArray().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_group_inside(store):
    path, root = store
    put(root, "x", [1.0, 2.0], dims=["x"])
    put(root.create_group("g"), "a", np.arange(2), dims=["x"])
    _, group = opened_mdim(f"{path}/g")
    array = group.OpenMDArrayFromFullname("/a")
    assert array.GetDimensions()[0].GetIndexingVariable().ReadAsArray().tolist() == [1, 2]


def test_slices_of_names_are_refused(store):
    path, root = store
    put(root, "a", np.zeros((2, 3, 4)))
    with Errors() as errors:
        assert gdal.OpenEx(f'ZARR3:"{path}":/a:1', gdal.OF_MULTIDIM_RASTER) is None
    assert "GetView" in errors.failures[0]


def test_uneven_chunks(store):
    path, root = store
    data = np.arange(10, dtype="u1")
    put(root, "a", data[:5], chunks=(5,))
    put(root, "b", data[:4], chunks=(4,))

    def uneven(document):
        document["shape"] = [9]
        document["chunk_grid"] = {"name": "rectilinear", "configuration": {
            "kind": "inline", "chunk_shapes": [[5, 4]]}}
        document["codecs"] = [{"name": "bytes"}]

    edit(f"{path}/a", uneven)
    (root.store.root / "a" / "c" / "0").write_bytes(data[:5].tobytes())
    (root.store.root / "a" / "c" / "1").write_bytes(data[5:9].tobytes())
    _, group = opened_mdim(path)
    array = group.OpenMDArray("a")
    assert array.GetBlockSize() == [0]
    assert array.ReadAsArray().tolist() == list(range(9))
    assert array.GetView("[7:2:-2]").ReadAsArray().tolist() == [7, 5, 3]


def test_damage_is_an_error(store):
    path, root = store
    put(root, "a", np.arange(100, dtype="i4"), chunks=(50,))
    (root.store.root / "a" / "c" / "1").write_bytes(b"damage")
    _, group = opened_mdim(path)
    with Errors() as errors:
        assert group.OpenMDArray("a").Read() is None
    assert "chunk" in errors.failures[0]


def test_info(store):
    path, root = store
    put(root, "a", np.arange(6).reshape(2, 3), {"units": "K"}, ["y", "x"])
    info = json.loads(run("gdalmdiminfo", "-detailed", path))
    assert info["driver"] == "Zarr3" and info["arrays"]["a"]["unit"] == "K"
    assert info["arrays"]["a"]["values"] == [[0, 1, 2], [3, 4, 5]]
    assert info["arrays"]["a"]["dimensions"] == ["/y", "/x"]


def test_memory_files_and_version_2(store):
    path, root = store
    put(root, "a", np.arange(6).reshape(2, 3))
    zarr2 = zarr.create_group(store=path + "2", zarr_format=2)
    zarr2.create_array("b", shape=(3,), dtype="i4")[...] = [1, 2, 3]
    shutil.make_archive(path, "zip", path)
    _, group = opened_mdim(f"/vsizip/{path}.zip")
    assert group.OpenMDArray("a").ReadAsArray().tolist() == [[0, 1, 2], [3, 4, 5]]
    dataset = gdal.OpenEx(path + "2", gdal.OF_MULTIDIM_RASTER, allowed_drivers=["Zarr3"])
    array = dataset.GetRootGroup().OpenMDArray("b")
    assert array.ReadAsArray().tolist() == [1, 2, 3]
    assert array.GetStructuralInfo()["ZARR_FORMAT"] == "2"


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("fill", [complex(1.5, -2), complex(float("nan"), 3), 0])
def test_complex_fill_values_are_nodata(store, dtype, fill):
    path, group = store
    put(group, "t", np.zeros((2, 2), dtype), fill_value=fill)
    dataset, root = opened_mdim(path)
    raw = root.OpenMDArray("t").GetNoDataValueAsRaw()
    expected = np.array([fill], dtype).tobytes()
    assert raw == (expected if fill else None)


def test_complex_fill_attribute_comes_before_the_fill_value(store):
    path, group = store
    array = put(group, "t", np.zeros((2, 2), "c16"), fill_value=3 + 4j)
    array.attrs["_FillValue"] = [1.5, -2]
    dataset, root = opened_mdim(path)
    assert root.OpenMDArray("t").GetNoDataValueAsRaw() == np.array([1.5 - 2j]).tobytes()
