# SPDX-License-Identifier: MIT
"""The attribute `_hdf5`, which only the HDF5 connector understands: hidden, and true in copies."""
import json
import math

import pytest
from osgeo import gdal

from conftest import Errors, run_h5py, sub
from mdim import opened_mdim

MAKE = """
import h5py, numpy, sys
with h5py.File(sys.argv[1], "w") as f:
    f.create_dataset("y", data=numpy.arange(4.0)).make_scale("y")
    f.create_dataset("x", data=numpy.arange(5.0)).make_scale("x")
    colours = h5py.enum_dtype({"RED": 0, "BLUE": 3}, "i2")
    a = f.create_dataset("a", (4, 5), colours, maxshape=(None, 5), chunks=(2, 5))
    a[...] = 3
    a.dims[0].attach_scale(f["y"]); a.dims[1].attach_scale(f["x"])
    a.attrs["small"] = numpy.int16(7)
    a.attrs["text"] = "NaN"
    a.attrs["number"] = float("nan")
    a.attrs["list"] = numpy.array([1, 2], "u1")
    a.attrs["to"] = f["y"].ref
    f["alias"] = a
    f.create_group("g", track_order=True).attrs["short"] = numpy.float32(0.5)
    f["g"].create_dataset("only", data=numpy.zeros(1))
"""

SHOW = """
import h5py, json, sys
with h5py.File(sys.argv[1]) as f:
    a = f[sys.argv[2]]
    print(json.dumps({"type": h5py.check_enum_dtype(a.dtype), "max": a.maxshape,
                      "attributes": {n: [str(a.attrs.get_id(n).dtype), str(v)]
                                     for n, v in a.attrs.items() if n != "DIMENSION_LIST"}}))
"""

TYPES = {"small": ["int16", "7"], "text": ["object", "NaN"], "number": ["float64", "nan"],
         "list": ["uint8", "[1 2]"]}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "x.zarr"
    run_h5py(MAKE, path)
    return path


def side(node):
    attributes = json.loads((node / "zarr.json").read_text())["attributes"]
    return json.loads(attributes.get("_hdf5", "{}"))


def shown(path, array):
    seen = json.loads(run_h5py(SHOW, path, array))
    seen["attributes"] = {name: value for name, value in seen["attributes"].items()
                          if name in TYPES}
    return seen


def test_users_and_other_formats_see_nothing_of_it(path, tmp_path):
    with gdal.OpenEx(sub(path, "a"), gdal.OF_RASTER) as raster:
        assert "_hdf5" not in raster.GetMetadata()
        assert "_hdf5" not in raster.GetMetadata("GROUP")
        tiff = gdal.GetDriverByName("GTiff").CreateCopy(str(tmp_path / "a.tif"), raster)
        assert tiff.GetMetadataItem("small") == "7"
        assert "_hdf5" not in tiff.GetMetadata()
    group = opened_mdim(path)[1]
    assert "_hdf5" not in [one.GetName() for one in group.GetAttributes()]
    array = group.OpenMDArray("a")
    assert "_hdf5" not in [one.GetName() for one in array.GetAttributes()]
    assert "_hdf5" in [one.GetName() for one in array.GetAttributes(["SHOW_ALL=YES"])]


@pytest.mark.parametrize("levels", [False, True])
def test_a_copy_of_a_raster_has_the_types(path, tmp_path, levels):
    copy = tmp_path / "copy.zarr"
    options = ["ARRAY_NAME=a", "COMPRESS=NONE"]
    gdal.Translate(str(copy), sub(path, "a"), format="Zarr3",
                   creationOptions=options + (["OVERVIEWS=AUTO"] if levels else []))
    if levels:
        with gdal.OpenEx(str(copy), gdal.OF_UPDATE) as raster:
            raster.BuildOverviews("NEAREST", [2])
    places = ["a", "ovr_2x/a"] if levels else ["a"]
    for place in places:
        assert set(side(copy / place)) - {"creation"} == \
            {"version", "type", "attributes"} | ({"maxshape"} if place == "a" else set())
        seen = shown(copy, place)
        assert seen["attributes"] == TYPES
        assert seen["type"] == {"RED": 0, "BLUE": 3}
    assert json.loads((copy / "a" / "zarr.json").read_text())["attributes"]["small"] == 7


def test_a_copy_of_the_hierarchy_has_the_types(path, tmp_path):
    copy = tmp_path / "copy.zarr"
    gdal.MultiDimTranslate(str(copy), str(path), format="Zarr3")
    seen = shown(copy, "a")
    assert seen["attributes"] == TYPES
    assert seen["type"] == {"RED": 0, "BLUE": 3} and seen["max"] == [None, 5]
    assert "order" not in side(copy / "g")
    program = ("import h5py, sys\n"
               "with h5py.File(sys.argv[1]) as f:\n"
               "    print(f['g'].attrs['short'].dtype, *sorted(f))\n")
    assert run_h5py(program, copy) == "float32 a g x y\n"


def test_what_holds_for_the_source_alone_stays_there(path, tmp_path):
    """Links, references and scales are paths, which lead elsewhere from another place."""
    assert {"names", "scales"} <= set(side(path / "a")) and "links" in side(path)
    copy = tmp_path / "part.zarr"
    gdal.MultiDimTranslate(str(copy), str(path), format="Zarr3", arraySpecs=["name=/a,dstname=b"])
    gdal.Translate(str(tmp_path / "r.zarr"), sub(path, "a"), format="Zarr3")
    for node in (copy, copy / "b", tmp_path / "r.zarr" / "r"):
        assert not {"names", "scales", "links", "order", "references"} & set(side(node))
        assert "to" not in side(node).get("attributes", {})


def test_no_program_of_gdal_makes_one(tmp_path):
    """As copies of older versions carry one."""
    source = gdal.GetDriverByName("MEM").Create("", 3, 2)
    source.SetMetadata({"_hdf5": '{"version":1,"names":["../b"]}', "other": "1"})
    with Errors() as errors:
        gdal.Translate(str(tmp_path / "r.zarr"), source, format="Zarr3")
    assert ["what HDF5 knows of another array" in text for _, text in errors.seen] == [True]
    assert side(tmp_path / "r.zarr" / "r") == {}
    dataset, group = opened_mdim(tmp_path / "r.zarr", update=True)
    with Errors() as errors:
        assert group.CreateAttribute("_hdf5", [], gdal.ExtendedDataType.CreateString()) is None
    assert "choose another one" in errors.seen[0][1]
    del group, dataset


@pytest.mark.parametrize("change", [
    lambda owner: owner.GetAttribute("_hdf5").Write("{}"),
    lambda owner: owner.GetAttribute("_hdf5").Rename("other"),
    lambda owner: owner.GetAttribute("mine").Rename("_hdf5"),
    lambda owner: owner.DeleteAttribute("_hdf5")])
@pytest.mark.parametrize("array", ["", "a"])
def test_no_program_of_gdal_changes_it(path, change, array):
    dataset, group = opened_mdim(path, update=True)
    owner = group.OpenMDArray(array) if array else group
    owner.CreateAttribute("mine", [], gdal.ExtendedDataType.CreateString()).Write("x")
    before = (path / array / "zarr.json").read_text()
    with Errors() as errors:
        assert change(owner) != gdal.CE_None
    assert "stays as it is: change that by HDF5" in errors.failures[0]
    owner = group = dataset = None
    assert (path / array / "zarr.json").read_text() == before


LINK = """
import h5py, numpy, sys
with h5py.File(sys.argv[1], "r+") as f:
    level = f["ovr_2x/a"]
    f["ovr_2x"].create_dataset("scale", data=numpy.arange(2.0)).make_scale("scale")
    level.dims[0].attach_scale(f["ovr_2x/scale"])
    f["alias"] = level
"""


def test_a_level_keeps_what_hdf5_has_made_there(path, tmp_path):
    """It takes the types of the raster's attributes, as they change."""
    copy = tmp_path / "copy.zarr"
    gdal.Translate(str(copy), sub(path, "a"), format="Zarr3",
                   creationOptions=["ARRAY_NAME=a", "COMPRESS=NONE"])
    with gdal.OpenEx(str(copy), gdal.OF_UPDATE) as raster:
        raster.BuildOverviews("NEAREST", [2])
    run_h5py(LINK, copy)
    before = side(copy / "ovr_2x/a")
    assert {"names", "scales"} <= set(before) and "text" in before["attributes"]
    with gdal.OpenEx(str(copy), gdal.OF_UPDATE) as raster:
        raster.SetMetadataItem("text", None)
        raster.SetMetadataItem("new", "Infinity")
    after = side(copy / "ovr_2x/a")
    entries = {name: entry for name, entry in before.pop("attributes").items() if name != "text"}
    assert after.pop("attributes") == {**entries, "new": side(copy / "a")["attributes"]["new"]}
    assert after == before
    assert run_h5py("import h5py, sys\nwith h5py.File(sys.argv[1]) as f:\n    a = f['alias']\n"
                    "    print(*[scale.name for scale in a.dims[0].values()], a.attrs['new'])\n",
                    copy) == "/ovr_2x/y /ovr_2x/scale Infinity\n"


def value_of(path, name):
    array = opened_mdim(path)[1].OpenMDArray("r")
    return array.GetAttribute(name).Read()


def test_new_items_that_read_as_numbers_are_text(tmp_path):
    """Several at once. A number of a store stays one, whatever its value."""
    path = tmp_path / "r.zarr"
    source = gdal.GetDriverByName("MEM").Create("", 3, 2)
    source.SetMetadata({"a": "NaN", "b": "Infinity", "c": "north", "d": "3"})
    gdal.Translate(str(path), source, format="Zarr3")
    assert [value_of(path, name) for name in "abcd"] == ["NaN", "Infinity", "north", "3"]
    dataset, group = opened_mdim(path, update=True)
    number = gdal.ExtendedDataType.Create(gdal.GDT_Float64)
    group.OpenMDArray("r").CreateAttribute("n", [], number).Write(math.nan)
    group = dataset = None
    with gdal.OpenEx(str(path), gdal.OF_UPDATE) as raster:
        raster.SetMetadata({"a": "-Infinity", "c": "NaN", "n": "Infinity"})
    assert [value_of(path, name) for name in "acn"] == ["-Infinity", "NaN", math.inf]
    assert set(side(path / "r")["attributes"]) == {"a", "c"}
