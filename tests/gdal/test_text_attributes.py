# SPDX-License-Identifier: MIT
"""Attributes whose texts JSON cannot tell from numbers, in GDAL and in h5py."""
import json
import math
import pathlib

import pytest
from osgeo import gdal

from conftest import Errors, run_h5py
from mdim import new_mdim, opened_mdim


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.zarr"


def document(path):
    return json.loads((pathlib.Path(path) / "zarr.json").read_text())


def hdf5_sees(path):
    """The root's attributes as h5py shows them, by the connector; text as str."""
    program = ("import h5py, json, sys\n"
               "with h5py.File(sys.argv[1]) as f:\n"
               "    print(json.dumps({k: [str(f.attrs.get_id(k).dtype.kind), str(v)]\n"
               "                      for k, v in f.attrs.items()}))\n")
    return json.loads(run_h5py(program, path))


def attribute_values(path):
    group = opened_mdim(path)[1]
    return {a.GetName(): a.Read() for a in group.GetAttributes() if a.GetName() != "_hdf5"}


SPECIAL = {"text": "NaN", "texts": ["Infinity", "-Infinity"], "plain": "north", "number": math.nan}


def same(left, right):
    return repr(left).replace("(", "[").replace(")", "]") == \
        repr(right).replace("(", "[").replace(")", "]")


def write_special(group):
    for name, value in SPECIAL.items():
        text = gdal.ExtendedDataType.CreateString()
        kind = text if name != "number" else gdal.ExtendedDataType.Create(gdal.GDT_Float64)
        length = [len(value)] if isinstance(value, list) else []
        assert group.CreateAttribute(name, length, kind).Write(value) == gdal.CE_None


def test_texts_that_read_as_numbers_stay_texts(path):
    dataset, group = new_mdim(path)
    write_special(group)
    del group, dataset
    assert document(path)["attributes"]["text"] == "NaN"
    assert same(attribute_values(path), SPECIAL)
    # Whoever writes another value changes the type; a copy keeps it.
    copy = path.with_name("copy.zarr")
    gdal.MultiDimTranslate(str(copy), str(path), format="Zarr3")
    assert same(attribute_values(copy), SPECIAL)
    dataset, group = opened_mdim(copy, update=True)
    assert group.GetAttribute("text").Rename("renamed") == gdal.CE_None
    group.DeleteAttribute("texts")
    number = gdal.ExtendedDataType.Create(gdal.GDT_Float64)
    assert group.CreateAttribute("text", [], number).Write(math.inf) == gdal.CE_None
    assert group.CreateAttribute("texts", [2], number).Write([math.nan, math.inf]) == gdal.CE_None
    del group, dataset
    expected = {"plain": "north", "number": math.nan, "renamed": "NaN", "text": math.inf,
                "texts": [math.nan, math.inf]}
    assert same(attribute_values(copy), expected)


def test_h5py_sees_the_same_texts_and_numbers(path):
    dataset, group = new_mdim(path)
    write_special(group)
    del group, dataset
    assert hdf5_sees(path) == {"text": ["O", "NaN"], "texts": ["O", "['Infinity' '-Infinity']"],
                               "plain": ["O", "north"], "number": ["f", "nan"]}


def test_texts_of_h5py_are_texts(path):
    program = ("import h5py, sys\n"
               "with h5py.File(sys.argv[1], 'w') as f:\n"
               "    f.attrs.update(text='NaN', texts=['Infinity', '-Infinity'], plain='north',\n"
               "                   number=float('nan'))\n")
    run_h5py(program, path)
    assert same(attribute_values(path), SPECIAL)


def test_a_foreign_side_attribute_refuses_such_texts(path):
    """Numbers of other programs stay numbers, and nothing is written that would become one."""
    path.mkdir()
    (path / "zarr.json").write_text(json.dumps({
        "zarr_format": 3, "node_type": "group",
        "attributes": {"_hdf5": "mine", "number": "NaN", "numbers": [1, "NaN"]}}))
    dataset, group = opened_mdim(path, update=True)
    assert math.isnan(group.GetAttribute("number").Read())
    made = group.CreateAttribute("text", [], gdal.ExtendedDataType.CreateString())
    with Errors() as errors:
        assert made.Write("NaN") != gdal.CE_None
    assert "choose another text" in errors.seen[0][1]
    del made, group, dataset
    assert "text" not in document(path)["attributes"]


@pytest.mark.parametrize("name", ["u", "_FillValue"])
def test_a_renamed_text_leaves_no_type_behind(path, name):
    """A number that another program then gives the old name is a number."""
    dataset, group = new_mdim(path)
    write_special(group)
    assert group.GetAttribute("text").Rename(name) == gdal.CE_None
    del group, dataset
    entries = json.loads(document(path)["attributes"]["_hdf5"])["attributes"]
    assert set(entries) == {"texts"} | ({name} if name == "u" else set())
    edited = document(path)
    edited["attributes"]["text"] = "NaN"
    (path / "zarr.json").write_text(json.dumps(edited))
    assert math.isnan(attribute_values(path)["text"])


def test_a_renamed_attribute_keeps_its_type(path):
    """That of HDF5, which JSON has no word for."""
    program = ("import h5py, numpy, sys\n"
               "with h5py.File(sys.argv[1], 'w') as f:\n"
               "    f.attrs['old'] = numpy.int16(7)\n")
    run_h5py(program, path)
    dataset, group = opened_mdim(path, update=True)
    assert group.GetAttribute("old").Rename("new") == gdal.CE_None
    del group, dataset
    program = ("import h5py, sys\n"
               "with h5py.File(sys.argv[1]) as f:\n"
               "    print(f.attrs['new'].dtype, *f.attrs)\n")
    assert run_h5py(program, path) == "int16 new\n"


def test_what_hdf5_knows_outlives_a_new_list_of_items(path):
    """Else a text was a number again, and h5py's scales and types were gone."""
    with Errors():
        dataset, group = new_mdim(path)
        dimensions = [group.CreateDimension(name, None, None, 4) for name in "yx"]
        array = group.CreateMDArray("a", dimensions, gdal.ExtendedDataType.Create(gdal.GDT_Byte))
        array.CreateAttribute("t", [], gdal.ExtendedDataType.CreateString()).Write("NaN")
        array = group = dimensions = dataset = None
        with gdal.OpenEx(f'ZARR3:"{path}":/a', gdal.OF_RASTER | gdal.OF_UPDATE) as raster:
            raster.SetMetadata({"t": "NaN", "other": "1"})
    document = json.loads((path / "a" / "zarr.json").read_text())
    assert json.loads(document["attributes"]["_hdf5"])["attributes"].keys() == {"t"}
    assert document["attributes"]["other"] == "1"
    attribute = opened_mdim(path)[1].OpenMDArray("a").GetAttribute("t")
    assert attribute.Read() == "NaN"
