# SPDX-License-Identifier: MIT
"""New stores, and changes of stores, through GDAL's multidimensional API."""
import json
import pathlib
import shutil

import numpy as np
import pytest
import zarr
from osgeo import gdal, osr

from conftest import Errors, known, put
from mdim import add, kind_of, new_mdim, opened_mdim

NUMBERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32",
           "float64", "complex64", "complex128"]


def document(path, node=""):
    return json.loads((pathlib.Path(path) / node / "zarr.json").read_text())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.zarr"


@pytest.mark.parametrize("dtype", NUMBERS)
def test_numbers(path, dtype):
    data = np.arange(24).reshape(2, 3, 4).astype(dtype)
    dataset, group = new_mdim(path)
    array = add(group, "a", data)
    assert np.array_equal(array.ReadAsArray(), data)
    del array, group, dataset
    assert np.array_equal(zarr.open_array(str(path / "a"))[...], data)
    assert document(path, "a")["dimension_names"] == ["a_0", "a_1", "a_2"]


def test_parts_with_steps(path):
    """Any part can be written, and read again before anything is closed."""
    dataset, group = new_mdim(path)
    expected = np.zeros((10, 12), "i4")
    array = add(group, "a", expected, options=["BLOCKSIZE=4,5"])
    part = np.arange(1, 13, dtype="i4").reshape(3, 4)
    array.Write(part.tobytes(), array_start_idx=[9, 1], count=[3, 4], array_step=[-3, 3])
    expected[9:2:-3, 1:11:3] = part
    assert np.array_equal(array.ReadAsArray(), expected)
    array.Write(part.T.copy().tobytes(), array_start_idx=[0, 0], count=[3, 4], buffer_stride=[1, 3])
    expected[:3, :4] = part
    assert np.array_equal(array.ReadAsArray([0, 0], [5, 6]), expected[:5, :6])
    array.Write(np.array([1.6, -2.4]).tobytes(), array_start_idx=[7, 7], count=[1, 2],
                buffer_datatype=kind_of("f8"))
    expected[7, 7:9] = [2, -2]
    del array, group, dataset
    assert np.array_equal(zarr.open_array(str(path / "a"))[...], expected)


def test_all_holders_of_an_array_see_what_one_writes(path):
    dataset, group = new_mdim(path)
    one = add(group, "a", np.zeros(100, "i2"))
    two = group.OpenMDArray("a")
    one.Write(np.ones(3, "i2").tobytes(), array_start_idx=[5], count=[3])
    assert two.ReadAsArray()[4:9].tolist() == [0, 1, 1, 1, 0]
    del dataset, group, one
    two.Write(np.ones(1, "i2").tobytes(), array_start_idx=[0], count=[1])
    del two
    assert zarr.open_array(str(path / "a"))[:9].tolist() == [1, 0, 0, 0, 0, 1, 1, 1, 0]


def test_text(path):
    dataset, group = new_mdim(path)
    kind = gdal.ExtendedDataType.CreateString()
    array = group.CreateMDArray("s", [group.CreateDimension("n", None, None, 3)], kind)
    texts = ["a", "été", "x" * 1000]
    assert array.Write(texts) == gdal.CE_None
    assert array.Read() == texts
    del array, group, dataset
    assert document(path, "s")["data_type"] == "string"
    assert list(zarr.open_array(str(path / "s"))[...]) == texts


def test_structs(path):
    component = gdal.EDTComponent.Create
    fields = [component("x", 0, kind_of("i2")), component("y", 8, kind_of("f8"))]
    kind = gdal.ExtendedDataType.CreateCompound("pair", 16, fields)
    dataset, group = new_mdim(path)
    array = group.CreateMDArray("s", [group.CreateDimension("n", None, None, 2)], kind)
    memory = np.dtype({"names": ["x", "y"], "formats": ["i2", "f8"], "offsets": [0, 8],
                       "itemsize": 16})
    values = np.array([(1, 2.5), (-3, 4.5)], memory)
    assert array.Write(values.tobytes()) == gdal.CE_None
    del array, group, dataset
    assert [field["name"] for field in
            document(path, "s")["data_type"]["configuration"]["fields"]] == ["x", "y"]
    _, group = opened_mdim(path)
    found = np.frombuffer(bytes(group.OpenMDArray("s").Read()), memory)
    assert found["x"].tolist() == [1, -3] and found["y"].tolist() == [2.5, 4.5]
    text = gdal.ExtendedDataType.CreateCompound(
        "t", 8, [component("s", 0, gdal.ExtendedDataType.CreateString())])
    dataset, group = opened_mdim(path, update=True)
    with Errors() as errors:
        assert group.CreateMDArray("t", [], text) is None
    assert "the field s is text" in errors.failures[0]


def test_complex_integers(path):
    dataset, group = new_mdim(path)
    dimension = group.CreateDimension("n", None, None, 3)
    array = group.CreateMDArray("a", [dimension], gdal.ExtendedDataType.Create(gdal.GDT_CInt16))
    values = np.array([[1, -2], [32767, -32768], [-7, 0]], "i2")
    with Errors() as errors:
        assert array.SetNoDataValueRaw(np.array([-7, 3], "i2").tobytes()) != gdal.CE_None
    assert "no nodata value" in errors.failures[0]
    assert array.SetNoDataValueRaw(np.array([-7, 0], "i2").tobytes()) == gdal.CE_None
    array.Write(values.tobytes())
    array = group = dimension = dataset = None
    _, group = opened_mdim(path)
    array = group.OpenMDArray("a")
    assert array.GetDataType().GetNumericDataType() == gdal.GDT_CInt16
    assert bytes(array.Read()) == values.tobytes()
    assert array.GetNoDataValueAsRaw() == np.array([-7, 0], "i2").tobytes()


def test_options(path):
    dataset, group = new_mdim(path, "COMPRESS=GZIP")
    add(group, "plain", np.zeros((8, 8), "u1"))
    add(group, "sharded", np.zeros((8, 8), "u1"),
        options=["COMPRESS=NONE", "BLOCKSIZE=2,4", "SHARD=8,8", "DIM_SEPARATOR=."])
    add(group, "line", np.zeros(100, "u1"), options=["BLOCKSIZE=30", "CHECKSUM=YES"])
    with Errors() as errors:
        kind = kind_of("u1")
        dimensions = [group.CreateDimension(name, None, None, 3) for name in "qrs"]
        assert group.CreateMDArray("bad", dimensions, kind, ["BLOCKSIZE=2,2"]) is None
        assert group.CreateMDArray("bad", dimensions, kind, ["COMPRESS=FOO"]) is None
    assert "2 extents, the array has 3" in errors.failures[0] and "FOO" in errors.failures[1]
    del dataset, group
    codecs = lambda name: [codec["name"] for codec in document(path, name)["codecs"]]  # noqa: E731
    assert codecs("plain") == ["bytes", "gzip"] and codecs("sharded") == ["sharding_indexed"]
    assert codecs("line") == ["bytes", "gzip", "crc32c"]
    assert document(path, "line")["chunk_grid"]["configuration"]["chunk_shape"] == [30]
    assert document(path, "sharded")["chunk_key_encoding"]["configuration"]["separator"] == "."


def test_planes_are_cut_as_those_of_rasters(path):
    dataset, group = new_mdim(path)
    dimensions = [group.CreateDimension("t", gdal.DIM_TYPE_TEMPORAL, None, 4),
                  group.CreateDimension("y", gdal.DIM_TYPE_HORIZONTAL_Y, None, 2000),
                  group.CreateDimension("x", gdal.DIM_TYPE_HORIZONTAL_X, None, 3000)]
    array = group.CreateMDArray("a", dimensions, kind_of("f4"))
    assert array.GetBlockSize() == [1, 512, 512]
    array = group.CreateMDArray("b", dimensions, kind_of("f4"), ["BLOCKSIZE=100x50"])
    assert array.GetBlockSize() == [1, 50, 100]


def test_attributes(path):
    dataset, group = new_mdim(path)
    array = add(group, "a", np.zeros(2))
    text = gdal.ExtendedDataType.CreateString()
    for owner in (group, array):
        owner.CreateAttribute("text", [], text).Write("été")
        owner.CreateAttribute("texts", [2], text).Write(["a", "b"])
        owner.CreateAttribute("int", [], kind_of("i4")).Write(7)
        owner.CreateAttribute("reals", [2], kind_of("f8")).Write([1.0, np.nan])
        owner.CreateAttribute("float", [], kind_of("f4")).Write(0.1)
        owner.CreateAttribute("grid", [2, 2], kind_of("i4")).WriteRaw(np.arange(4, dtype="i4"))
        kind = gdal.ExtendedDataType.CreateString(0, gdal.GEDTST_JSON)
        owner.CreateAttribute("json", [], kind).Write('{"a": true}')
        with Errors() as errors:
            assert owner.CreateAttribute("text", [], text) is None
            assert owner.CreateAttribute("c", [], kind_of("c16")) is None
        assert "there is one" in errors.failures[0] and "real numbers" in errors.failures[1]
    array.GetAttribute("int").Write(8)
    array.GetAttribute("text").Rename("comment")
    assert array.DeleteAttribute("texts") == gdal.CE_None
    with Errors() as errors:
        assert array.DeleteAttribute("texts") != gdal.CE_None
    del owner, array, group, dataset
    expected = {"text": "été", "texts": ["a", "b"], "int": 7, "reals": [1.0, "NaN"],
                "float": float(np.float32(0.1)), "grid": [[0, 1], [2, 3]], "json": {"a": True}}
    assert document(path)["attributes"] == expected
    del expected["texts"]
    assert document(path, "a")["attributes"] == {
        **{name: value for name, value in expected.items() if name != "text"}, "int": 8,
        "comment": "été"}


def test_properties(path):
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(32631)
    dataset, group = new_mdim(path)
    y = group.CreateDimension("y", gdal.DIM_TYPE_HORIZONTAL_Y, None, 2)
    x = group.CreateDimension("x", gdal.DIM_TYPE_HORIZONTAL_X, None, 3)
    for dimension, values in ((y, [20.0, 10.0]), (x, [1.0, 2.0, 3.0])):
        coordinate = add(group, dimension.GetName(), values, [dimension])
        dimension.SetIndexingVariable(coordinate)
    array = group.CreateMDArray("a", [y, x], kind_of("i2"))
    assert array.SetNoDataValueDouble(-5) == gdal.CE_None
    assert array.SetUnit("K") == gdal.CE_None and array.SetScale(0.5) == gdal.CE_None
    assert array.SetOffset(3) == gdal.CE_None and array.SetSpatialRef(srs) == gdal.CE_None
    array.Write(np.ones((1, 3), "i2").tobytes(), array_start_idx=[0, 0], count=[1, 3])
    del coordinate, array, dimension, x, y, group, dataset
    attributes = document(path, "a")["attributes"]
    assert document(path, "a")["fill_value"] == -5
    assert (attributes["units"], attributes["scale_factor"], attributes["add_offset"],
            attributes["_FillValue"]) == ("K", 0.5, 3.0, -5)
    assert document(path, "x")["attributes"] == {"axis": "X"}
    raster = gdal.Open(str(path))
    assert raster.GetSpatialRef().GetAuthorityCode(None) == "32631"
    assert raster.GetGeoTransform() == (0.5, 1, 0, 25, 0, -10)
    assert raster.ReadAsArray().tolist() == [[1, 1, 1], [-5, -5, -5]]
    dataset, group = opened_mdim(path, update=True)
    array = group.OpenMDArray("a")
    assert array.GetSpatialRef().GetAuthorityCode(None) == "32631"
    assert (array.GetUnit(), array.GetScale(), array.GetOffset()) == ("K", 0.5, 3)
    assert array.GetNoDataValueAsDouble() == -5
    array.SetUnit("")
    array.DeleteNoDataValue()
    array.SetSpatialRef(None)
    assert array.GetUnit() == "" and array.GetNoDataValue() is None
    del array, group, dataset
    _, group = opened_mdim(path)
    assert group.OpenMDArray("a").GetSpatialRef() is None
    assert group.OpenMDArray("a").GetNoDataValue() is None
    assert group.OpenMDArray("x").ReadAsArray().tolist() == [1, 2, 3]


def test_a_crs_beside_a_place_that_stays(store):
    """Setting the CRS of an array in a store of another program leaves its coordinates alone."""
    path, root = store
    put(root, "x", [0.0, 1.0], dims=["x"])
    put(root, "y", [0.0, 1.0], dims=["y"])
    put(root, "crs", 0, {"crs_wkt": "", "GeoTransform": "5 1 0 5 0 1"})
    put(root, "a", np.zeros((2, 2)), {"grid_mapping": "crs"}, ["y", "x"])
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(4326)
    dataset, group = opened_mdim(path, update=True)
    group.OpenMDArray("a").SetSpatialRef(srs)
    del group, dataset
    assert root["x"][...].tolist() == [0, 1] and root["y"][...].tolist() == [0, 1]
    assert document(path, "crs")["attributes"]["GeoTransform"] == "5 1 0 5 0 1"
    assert gdal.Open(path).GetSpatialRef().GetAuthorityCode(None) == "4326"


def test_groups(path):
    dataset, group = new_mdim(path)
    deep = group.CreateGroup("g").CreateGroup("h")
    assert deep.GetFullName() == "/g/h"
    add(deep, "a", np.arange(3))
    with Errors() as errors:
        assert group.CreateGroup("g") is None and group.CreateGroup("a/b") is None
    assert len(errors.failures) == 2
    assert group.GetGroupNames() == ["g"]
    with Errors() as errors:
        assert group.OpenGroup("missing") is None and group.OpenMDArray("missing") is None
    assert [text for text in errors.failures if "does not exist" not in text] == []
    assert group.OpenMDArrayFromFullname("/g/h/a").ReadAsArray().tolist() == [0, 1, 2]
    del deep, group, dataset
    assert zarr.open_group(str(path))["g/h/a"][...].tolist() == [0, 1, 2]


def test_delete(path):
    dataset, group = new_mdim(path)
    array = add(group, "a", np.zeros(3))
    deep = add(group.CreateGroup("g"), "b", np.zeros(3))
    with Errors() as errors:
        assert group.DeleteGroup("a") != gdal.CE_None
        assert group.DeleteMDArray("missing") != gdal.CE_None
    assert len(errors.failures) == 2
    assert group.DeleteMDArray("a") == gdal.CE_None and group.DeleteGroup("g") == gdal.CE_None
    with Errors() as errors:
        assert array.Read() is None and deep.Write(np.zeros(3)) != gdal.CE_None
    assert len(errors.failures) == 2
    assert group.GetMDArrayNames() is None or group.GetMDArrayNames() == []
    add(group, "a", np.ones(2), [group.CreateDimension("new", None, None, 2)])
    del array, deep, group, dataset
    assert sorted(item.name for item in path.iterdir()) == ["a", "zarr.json"]


def test_rename(path):
    dataset, group = new_mdim(path)
    inner = group.CreateGroup("g")
    array = add(inner, "a", np.arange(3))
    assert array.Rename("b") == gdal.CE_None and array.GetFullName() == "/g/b"
    assert inner.Rename("h") == gdal.CE_None and array.GetFullName() == "/h/b"
    assert array.ReadAsArray().tolist() == [0, 1, 2]
    array.Write(np.array([7]).tobytes(), array_start_idx=[1], count=[1])
    assert array.GetDimensions()[0].Rename("n") == gdal.CE_None
    assert array.GetDimensions()[0].GetFullName() == "/h/n"
    with Errors() as errors:
        assert array.Rename("x/y") != gdal.CE_None and group.Rename("r") != gdal.CE_None
    assert len(errors.failures) == 2
    assert inner.GetMDArrayNames() == ["b"]
    del array, inner, group, dataset
    found = zarr.open_group(str(path))["h/b"]
    assert found[...].tolist() == [0, 7, 2] and found.metadata.dimension_names == ("n",)


def test_a_dimension_without_an_array_is_not_renamed(path):
    """A program may hold it when its array has gone; one that it has made may have no array yet."""
    dataset, group = new_mdim(path)
    add(group, "a", np.arange(3))
    array = add(group, "b", np.arange(4))
    del array, group, dataset
    dataset = gdal.OpenEx(str(path), gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE)
    group = dataset.GetRootGroup()
    dimension = group.OpenMDArray("a").GetDimensions()[0]
    assert group.DeleteMDArray("a") == gdal.CE_None
    with Errors() as errors:
        assert dimension.Rename("n") != gdal.CE_None
    assert len(errors.failures) == 1 and "no array has it any more" in errors.failures[0]
    assert "n" not in [one.GetName() for one in group.GetDimensions()]
    made = group.CreateDimension("m", "", "", 2)
    assert made.Rename("n") == gdal.CE_None
    group.CreateMDArray("c", [made], gdal.ExtendedDataType.Create(gdal.GDT_Int16))
    assert made.Rename("o") == gdal.CE_None
    assert group.DeleteMDArray("c") == gdal.CE_None and made.Rename("p") == gdal.CE_None


def test_groups_list_new_names(path):
    dataset, group = new_mdim(path)
    inner = group.CreateGroup("g")
    array = add(inner, "a", np.arange(3))
    assert inner.GetMDArrayNames() == ["a"] and group.GetGroupNames() == ["g"]
    assert array.Rename("b") == gdal.CE_None and inner.GetMDArrayNames() == ["b"]
    assert inner.Rename("h") == gdal.CE_None and group.GetGroupNames() == ["h"]


def test_the_view_of_one_array_makes_nothing_else_after_a_rename(path):
    dataset, group = new_mdim(path)
    add(group, "a", np.arange(3))
    del group, dataset
    dataset, view = opened_mdim(path / "a", update=True)
    assert view.OpenMDArray("a").Rename("b") == gdal.CE_None
    with Errors() as errors:
        assert view.CreateGroup("g") is None
    assert "opened by its own name" in errors.failures[0] and not (path / "g").exists()


def test_what_a_program_holds_follows_a_new_name(path):
    dataset, group = new_mdim(path)
    inner = group.CreateGroup("g")
    of_group = inner.CreateAttribute("a", [], kind_of("i4"))
    below = inner.CreateGroup("deep").CreateAttribute("a", [], kind_of("i4"))
    array = add(inner, "t", np.arange(3))
    of_array = array.CreateAttribute("a", [], kind_of("i4"))
    gone = array.CreateAttribute("gone", [], kind_of("i4"))
    del gone
    assert array.Rename("u") == gdal.CE_None and of_array.GetFullName() == "/g/u/a"
    assert inner.Rename("h") == gdal.CE_None
    assert [held.GetFullName() for held in (of_group, below, of_array)] == [
        "/h/_GLOBAL_/a", "/h/deep/_GLOBAL_/a", "/h/u/a"]
    assert of_array.Write(7) == gdal.CE_None and of_array.Rename("b") == gdal.CE_None
    assert of_array.GetFullName() == "/h/u/b" and array.Rename("v") == gdal.CE_None
    assert of_array.GetFullName() == "/h/v/b" and below.Write(8) == gdal.CE_None
    del of_array, of_group, below, array, inner, group, dataset
    root = zarr.open_group(str(path))
    assert dict(root["h/v"].attrs) == {"b": 7, "gone": 0}
    assert dict(root["h"].attrs) == {"a": 0} and dict(root["h/deep"].attrs) == {"a": 8}


@pytest.mark.parametrize("again", [False, True])
def test_dimensions_of_a_group_have_different_names(path, again):
    dataset, group = new_mdim(path)
    one, two = (group.CreateDimension(name, None, None, 2) for name in "ab")
    array = add(group, "t", np.zeros((2, 2)), [one, two])
    if again:
        del array, one, two, group, dataset
        dataset, group = opened_mdim(path, update=True)
        one, two = group.OpenMDArray("t").GetDimensions()
    with Errors() as errors:
        assert one.Rename("b") != gdal.CE_None
    assert "a dimension of that name" in errors.failures[0] and one.GetFullName() == "/a"
    assert one.Rename("c") == gdal.CE_None and one.Rename("a") == gdal.CE_None


def test_an_array_with_levels_keeps_its_name(path):
    dataset, group = new_mdim(path)
    add(group, "t", np.zeros((40, 40)))
    del group, dataset
    with gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE) as raster:
        raster.BuildOverviews("NEAREST", [2])
    dataset, group = opened_mdim(path, update=True)
    with Errors() as errors:
        assert group.OpenMDArray("t").Rename("u") != gdal.CE_None
    assert "gdaladdo -clean" in errors.failures[0] and group.GetMDArrayNames() == ["t"]


def test_nodata_of_text(path):
    """It is the fill value, which a new array alone can be given."""
    dataset, group = new_mdim(path)
    dimension = group.CreateDimension("n", None, None, 3)
    array = group.CreateMDArray("t", [dimension], gdal.ExtendedDataType.CreateString())
    assert array.GetNoDataValueAsString() is None
    assert array.SetNoDataValueString("none") == gdal.CE_None
    assert array.GetNoDataValueAsString() == "none" and array.Read() == ["none"] * 3
    array.Write(["a"], array_start_idx=[0], count=[1])
    with Errors() as errors:
        assert array.SetNoDataValueString("other") != gdal.CE_None
    assert "before anything is written" in errors.failures[0]
    del array, group, dataset
    stored = zarr.open_array(str(path / "t"))
    assert stored.fill_value == "none" and list(stored[...]) == ["a", "none", "none"]
    dataset, group = opened_mdim(path, update=True)
    array = group.OpenMDArray("t")
    assert array.GetNoDataValueAsString() == "none"
    assert array.DeleteNoDataValue() == gdal.CE_None and array.GetNoDataValueAsString() is None
    del array, group, dataset
    array = opened_mdim(path, update=True)[1].OpenMDArray("t")
    assert array.GetNoDataValueAsString() is None and array.Read() == ["a", "none", "none"]
    assert array.SetNoDataValueString("none") == gdal.CE_None
    assert array.GetNoDataValueAsString() == "none"


def test_resize(path):
    """All arrays of a dimension get its new size, in other groups as well; the rest keep theirs."""
    dataset, group = new_mdim(path)
    t = group.CreateDimension("t", None, None, 3)
    time = add(group, "t", np.arange(3), [t])
    array = add(group, "a", np.ones((3, 2)), [t, group.CreateDimension("x", None, None, 2)])
    deep = add(group.CreateGroup("g"), "b", np.ones(3), [t])
    other = add(group, "other", np.ones(3))
    assert array.Resize([5, 2]) == gdal.CE_None
    assert t.GetSize() == 5 and time.GetDimensions()[0].GetSize() == 5
    array.Write(np.full((2, 2), 4.0).tobytes(), array_start_idx=[3, 0], count=[2, 2])
    assert array.ReadAsArray()[:, 0].tolist() == [1, 1, 1, 4, 4]
    assert deep.ReadAsArray().tolist() == [1, 1, 1, 0, 0]
    assert array.Resize([2, 2]) == gdal.CE_None
    with Errors() as errors:
        assert array.Resize([2]) != gdal.CE_None
    assert errors.failures
    del t, time, array, deep, other, group, dataset
    shapes = {name: zarr.open_array(str(path / name)).shape for name in ("t", "a", "g/b", "other")}
    assert shapes == {"t": (2,), "a": (2, 2), "g/b": (2,), "other": (3,)}


def test_growing_from_nothing(path):
    _, group = new_mdim(path)
    t = group.CreateDimension("t", None, None, 0)
    array = group.CreateMDArray("a", [t], kind_of("i2"))
    for step in range(3):
        assert array.Resize([step + 1]) == gdal.CE_None
        array.Write(np.array([step], "i2").tobytes(), array_start_idx=[step], count=[1])
    assert t.GetSize() == 3 and array.ReadAsArray().tolist() == [0, 1, 2]


def test_another_program_makes_the_array_larger(path):
    """What has been written stays. A new size that goes by the old one is refused, and the other's rows stay."""
    dataset, group = new_mdim(path)
    add(group, "a", np.ones(3, "i2"), [group.CreateDimension("t", None, None, 3)])
    del dataset, group
    dataset, group = opened_mdim(path, update=True)
    array = group.OpenMDArray("a")
    array.Write(np.array([7], "i2").tobytes(), array_start_idx=[1], count=[1])
    other = zarr.open_array(str(path / "a"), mode="r+")
    other.resize((5,))
    other[3:] = 9
    with Errors() as errors:
        assert array.Resize([4]) != gdal.CE_None
    assert "its shape has changed" in errors.failures[0]
    del array, group, dataset
    assert zarr.open_array(str(path / "a"))[...].tolist() == [1, 7, 1, 9, 9]
    array = opened_mdim(path, update=True)[1].OpenMDArray("a")
    assert array.Resize([6]) == gdal.CE_None
    assert array.ReadAsArray().tolist() == [1, 7, 1, 9, 9, 0]


def test_one_dimension_twice(path):
    _, group = new_mdim(path)
    n = group.CreateDimension("n", None, None, 3)
    array = add(group, "a", np.ones((3, 3)), [n, n])
    with Errors() as errors:
        assert array.Resize([3, 4]) != gdal.CE_None
    assert "two sizes" in errors.failures[0]
    assert array.Resize([2, 2]) == gdal.CE_None
    assert array.ReadAsArray().shape == (2, 2)


def test_what_an_array_could_not_store_fails_the_dataset(path):
    """Also when the program has let the array go before: else a copy would replace a whole store."""
    dataset, group = new_mdim(path)
    array = add(group, "a", np.zeros(8), options=["BLOCKSIZE=4"])
    array.Write(np.ones(1).tobytes(), array_start_idx=[1], count=[1])
    with Errors() as errors:
        shutil.rmtree(path / "a" / "c", ignore_errors=True)
        (path / "a" / "c").write_text("in the way")
        del array
        assert dataset.FlushCache() != gdal.CE_None
    assert errors.failures
    (path / "a" / "c").unlink()
    assert dataset.FlushCache() == gdal.CE_None


def test_update_keeps_what_it_does_not_know(store):
    path, root = store
    put(root, "a", np.zeros(3), {"extra": {"a": [1, 2]}}, ["x"])
    dataset, group = opened_mdim(path, update=True)
    array = group.OpenMDArray("a")
    array.Write(np.ones(3))
    array.SetUnit("m")
    del array, group, dataset
    assert document(path, "a")["attributes"] == {"extra": {"a": [1, 2]}, "units": "m"}
    assert root["a"][...].tolist() == [1, 1, 1]


def test_reading_changes_nothing(store):
    path, root = store
    put(root, "a", np.zeros(3))
    before = (pathlib.Path(path) / "zarr.json").read_bytes()
    _, group = opened_mdim(path)
    array = group.OpenMDArray("a")
    with Errors() as errors:
        assert array.Write(np.ones(3)) != gdal.CE_None and array.SetUnit("m") != gdal.CE_None
        assert group.CreateGroup("g") is None and group.DeleteMDArray("a") != gdal.CE_None
        assert group.CreateAttribute("a", [], kind_of("i4")) is None
        assert array.Resize([4]) != gdal.CE_None and array.Rename("b") != gdal.CE_None
    assert len(errors.failures) == 7
    assert (pathlib.Path(path) / "zarr.json").read_bytes() == before


def test_consolidated_metadata_stay_true(store):
    path, root = store
    put(root, "a", np.zeros(3))
    zarr.consolidate_metadata(path)
    dataset, group = opened_mdim(path, update=True)
    add(group, "b", np.ones(2))
    del group, dataset
    found = document(path)["consolidated_metadata"]["metadata"]
    assert sorted(found) == ["a", "b"]


def test_memory_files():
    dataset, group = new_mdim("/vsimem/mdim.zarr")
    add(group, "a", np.arange(4))
    del group, dataset
    _, group = opened_mdim("/vsimem/mdim.zarr")
    assert group.OpenMDArray("a").ReadAsArray().tolist() == [0, 1, 2, 3]
    gdal.GetDriverByName("Zarr3").Delete("/vsimem/mdim.zarr")


def test_other_directories_are_not_replaced(tmp_path):
    (tmp_path / "x.zarr").mkdir()
    (tmp_path / "x.zarr" / "mine.txt").write_text("mine")
    with Errors() as errors:
        driver = gdal.GetDriverByName("Zarr3")
        assert driver.CreateMultiDimensional(str(tmp_path / "x.zarr")) is None
    assert "stays as it is" in errors.failures[0]
    assert (tmp_path / "x.zarr" / "mine.txt").read_text() == "mine"


def as_raster(path, band=1):
    """What a raster's band says: its mean, and the names of its categories."""
    dataset = gdal.Open(str(path))
    band = dataset.GetRasterBand(band)
    return band.GetMetadataItem("STATISTICS_MEAN"), band.GetCategoryNames()


@pytest.mark.parametrize("update", [True, False], ids=["store", "sidecar"])
def test_writing_forgets_statistics_of_rasters(path, update):
    dataset = gdal.GetDriverByName("Zarr3").Create(str(path), 30, 20, 1, gdal.GDT_Byte)
    dataset.WriteArray(np.full((20, 30), 8, "u1"))
    dataset = None
    dataset = gdal.OpenEx(str(path), gdal.OF_RASTER | (gdal.OF_UPDATE if update else 0))
    dataset.GetRasterBand(1).ComputeStatistics(False)
    dataset.GetRasterBand(1).SetCategoryNames(["a"])
    dataset = None
    assert as_raster(path) == ("8", ["a"])
    assert pathlib.Path(str(path) + ".aux.xml").exists() != update
    dataset, group = opened_mdim(path, update=True)
    group.OpenMDArray("data").Write(np.full((20, 30), 9, "u1"))
    del group, dataset
    assert as_raster(path) == (None, ["a"])


def test_statistics_of_arrays_are_kept_until_elements_are_written(path):
    dataset, group = new_mdim(path)
    array = add(group, "a", np.arange(24.0).reshape(2, 3, 4))
    assert array.GetStatistics(False, False) is None
    array.ComputeStatistics()
    del array, group, dataset
    statistics = opened_mdim(path)[1].OpenMDArray("a").GetStatistics(False, False)
    assert (statistics.min, statistics.max, statistics.mean) == (0, 23, 11.5)
    assert statistics.valid_count == 24 and statistics.std_dev == pytest.approx(6.922, abs=1e-3)
    raster = gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE)
    raster.GetRasterBand(2).SetCategoryNames(["x"])
    raster = None
    dataset, group = opened_mdim(path, update=True)
    array = group.OpenMDArray("a")
    assert array.GetStatistics(False, False).max == 23
    array.Write(np.array([50.0]).tobytes(), array_start_idx=[0, 0, 0], count=[1, 1, 1])
    assert array.GetStatistics(False, False) is None
    assert array.GetStatistics(False, True).max == 50
    dataset.ClearStatistics()
    assert array.GetStatistics(False, False) is None
    array.GetStatistics(False, True)
    del array, group, dataset
    assert opened_mdim(path)[1].OpenMDArray("a").GetStatistics(False, False).max == 50
    raster = gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE)
    assert raster.GetRasterBand(2).GetCategoryNames() == ["x"]
    raster.GetRasterBand(1).Fill(3)
    raster = None
    assert opened_mdim(path)[1].OpenMDArray("a").GetStatistics(False, False) is None
    assert as_raster(path, 2) == (None, ["x"])


def test_statistics_that_another_program_stores_between_two_writes_go(path):
    """Before a flush and after it."""
    dataset, group = new_mdim(path)
    add(group, "a", np.arange(6.0).reshape(2, 3))
    del group, dataset

    def others_store():
        other = gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE)
        other.GetRasterBand(1).SetStatistics(0, 5, 2.5, 1)
        other.Close()
        assert as_raster(path) == ("2.5", None)

    dataset, group = opened_mdim(path, update=True)
    array = group.OpenMDArray("a")
    array.Write(np.full((2, 3), 7.0))
    others_store()
    dataset.FlushCache()
    assert as_raster(path) == (None, None)
    others_store()
    array.Write(np.full((2, 3), 9.0))
    dataset.FlushCache()
    assert as_raster(path) == (None, None)
    others_store()
    del array, group, dataset
    assert as_raster(path) == ("2.5", None)


def test_attributes_of_json_are_json(path):
    dataset, group = new_mdim(path)
    json_text = gdal.ExtendedDataType.CreateString(0, gdal.GEDTST_JSON)
    attribute = group.CreateAttribute("a", [], json_text)
    assert attribute.Write('{"b": [true]}') == gdal.CE_None
    with Errors() as errors:
        assert attribute.Write("{b") != gdal.CE_None
    assert "no JSON" in errors.failures[0]
    assert attribute.Read() == {"b": [True]}
    assert document(path)["attributes"] == {"a": {"b": [True]}}


def test_an_array_has_a_name(path):
    dataset, group = new_mdim(path)
    with Errors() as errors:
        assert group.CreateMDArray("", [], kind_of("u1")) is None
    assert "a name has letters" in errors.failures[0]


def test_attributes_without_a_value(path):
    """An attribute that is created is there, with 0 or no text until it is written: when attributes
    are asked for, when the dataset is flushed, and when the program lets go of it."""
    text = gdal.ExtendedDataType.CreateString()
    dataset, group = new_mdim(path)
    array = add(group.CreateGroup("g"), "a", np.zeros(2))
    inner = group.OpenGroup("g")
    for owner, node in ((inner, "g"), (array, "g/a")):
        held = owner.CreateAttribute("listed", [], text)
        assert "listed" not in document(path, node).get("attributes", {})
        with Errors() as errors:
            assert owner.CreateAttribute("listed", [], text) is None
        assert "there is one" in errors.failures[0]
        assert [one.GetName() for one in owner.GetAttributes()] == ["listed"]
        assert document(path, node)["attributes"] == {"listed": ""}
        flushed = owner.CreateAttribute("flushed", [2], kind_of("i4"))
        dataset.FlushCache()
        assert document(path, node)["attributes"]["flushed"] == [0, 0]
        left = owner.CreateAttribute("left", [], kind_of("f8"))
        del left
        assert document(path, node)["attributes"]["left"] == 0
        gone = owner.CreateAttribute("gone", [], text)
        assert owner.DeleteAttribute("gone") == gdal.CE_None
        moved = owner.CreateAttribute("moved", [], kind_of("i4"))
        assert moved.Rename("there") == gdal.CE_None
        json_text = owner.CreateAttribute("wrong", [],
                                          gdal.ExtendedDataType.CreateString(0, gdal.GEDTST_JSON))
        with Errors():
            assert json_text.Write("{") != gdal.CE_None
        del json_text, gone
        assert set(document(path, node)["attributes"]) == {"listed", "flushed", "left", "there"}
        held.Write("now")
        assert document(path, node)["attributes"]["listed"] == "now"
        del held, flushed, moved
    unwritten = array.CreateAttribute("late", [], kind_of("i4"))
    assert array.Rename("b") == gdal.CE_None and inner.Rename("h") == gdal.CE_None
    del unwritten, array, owner, inner, group, dataset
    assert document(path, "h/b")["attributes"]["late"] == 0


def test_deleted_attributes_stay_deleted(path):
    """A program that holds one cannot bring it back, nor one of an array or group that is gone."""
    dataset, group = new_mdim(path)
    inner = group.CreateGroup("g")
    array = add(inner, "a", np.zeros(2))
    for owner, node in ((inner, "g"), (array, "g/a")):
        held = owner.CreateAttribute("text", [], gdal.ExtendedDataType.CreateString())
        held.Write("old")
        again = owner.GetAttribute("text")
        assert owner.DeleteAttribute("text") == gdal.CE_None
        for one in (held, again):
            with Errors() as errors:
                assert one.Write("new") != gdal.CE_None
                assert one.Read() is None
                assert one.Rename("other") != gdal.CE_None
            assert all("has been deleted" in text for text in errors.failures)
            assert len(errors.failures) == 3
        assert "attributes" not in document(path, node) or not document(path, node)["attributes"]
        made = owner.CreateAttribute("text", [], gdal.ExtendedDataType.CreateString())
        assert made.Write("anew") == gdal.CE_None and made.Read() == "anew"
        del held, again, one, made
    of_group, of_array = inner.GetAttribute("text"), array.GetAttribute("text")
    unwritten = array.CreateAttribute("unwritten", [], kind_of("i4"))
    assert group.DeleteGroup("g") == gdal.CE_None
    with Errors() as errors:
        assert of_group.Write("x") != gdal.CE_None and of_array.Write("x") != gdal.CE_None
        assert not array.GetAttributes() and not inner.GetAttributes()
        assert array.GetAttribute("text") is None and inner.GetAttribute("text") is None
        del unwritten
    assert len(errors.failures) == 6
    assert all("has been deleted" in text for text in errors.failures)
    assert not (path / "g").exists()


def test_arrays_without_a_crs_get_none_from_others(path):
    """Not even from a grid mapping called `spatial_ref`, which rasters get that name none."""
    srs = osr.SpatialReference()
    srs.ImportFromEPSG(32631)
    data = np.ones((3, 4), "f4")
    dataset, group = new_mdim(path)
    first = add(group, "a", data)
    first.SetSpatialRef(srs)
    below = group.CreateGroup("g")
    later, changed = add(group, "b", data), add(group, "c", data)
    changed.SetSpatialRef(srs)
    deep = add(below, "d", data)
    assert later.GetSpatialRef() is None and deep.GetSpatialRef() is None
    del first, later, changed, deep, below, group, dataset
    dataset, group = opened_mdim(path)
    codes = {name: array.GetSpatialRef() and array.GetSpatialRef().GetAuthorityCode(None)
             for name, array in [(name, group.OpenMDArrayFromFullname(name))
                                 for name in ("/a", "/b", "/c", "/g/d")]}
    assert codes == {"/a": "32631", "/b": None, "/c": "32631", "/g/d": None}
    assert not group.OpenMDArray("b").GetAttributes()
    assert gdal.Open(f'ZARR3:"{path}":/b').GetSpatialRef() is None
    assert sorted(name for name in zarr.open(str(path)) if name.startswith("spatial")) == \
        ["spatial_ref"]
    del group, dataset
    dataset = gdal.OpenEx(f'ZARR3:"{path}":/b', gdal.OF_RASTER | gdal.OF_UPDATE)
    dataset.SetSpatialRef(srs)
    del dataset
    assert gdal.Open(f'ZARR3:"{path}":/b').GetSpatialRef().GetAuthorityCode(None) == "32631"
    assert not known(document(path, "b")["attributes"])
