# SPDX-License-Identifier: MIT
"""Arrays of text: no rasters, listed with the reason; their siblings stay as usable as without
them, and coordinates of text name bands."""

import json
import os
import struct

import numpy as np
import pytest
import zarr
from osgeo import gdal

from conftest import Errors, opened, put, run, sub

CUBE = np.arange(3 * 4 * 5, dtype="i2").reshape(3, 4, 5)
NAMES = ["B02", "Grün", "a longer name"]


def put_text(group, name, data, dims=None, **options):
    data = np.array(data, dtype=object)
    options.setdefault("fill_value", "")
    array = group.create_array(name, shape=data.shape, dtype=str, dimension_names=dims, **options)
    array[...] = data
    return array


def fixed(name, length):
    return {"name": name, "configuration": {"length_bytes": length}}


def counted(texts):
    return struct.pack("<I", len(texts)) + b"".join(struct.pack("<I", len(text)) + text for text in texts)


BYTES = [name.encode() for name in NAMES]
# All types of text: data type, its array->bytes codec, and the one chunk.
TEXTS = {
    "string": ("string", {"name": "vlen-utf8"}, counted(BYTES)),
    "fixed": (fixed("fixed_length_utf32", 64), {"name": "bytes", "configuration": {"endian": "little"}},
              np.array(NAMES, "<U16").tobytes()),
    "null_terminated": (fixed("null_terminated_bytes", 14), {"name": "bytes"}, np.array(BYTES, "S14").tobytes()),
    "latin_1": (fixed("null_terminated_bytes", 14), {"name": "bytes"},
                np.array([name.encode("latin-1") for name in NAMES], "S14").tobytes()),
    "bytes": ("bytes", {"name": "vlen-bytes"}, counted(BYTES)),
}


def put_labels(path, kind, name="band"):
    """Coordinates of a dimension, of a type that zarr-python 3.0 does not write."""
    data_type, codec, chunk = TEXTS[kind]
    os.makedirs("%s/%s/c" % (path, name))
    with open("%s/%s/c/0" % (path, name), "wb") as file:
        file.write(chunk)
    with open("%s/%s/zarr.json" % (path, name), "w") as file:
        json.dump({"zarr_format": 3, "node_type": "array", "shape": [3], "data_type": data_type, "fill_value": "",
                   "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}}, "codecs": [codec],
                   "chunk_key_encoding": {"name": "default"}, "dimension_names": [name], "attributes": {}}, file)


def test_siblings_stay_usable(store):
    path, root = store
    put(root, "v", CUBE[0], dims=("y", "x"))
    put_text(root, "plane", [["a", "b"], ["c", "d"]])
    put_text(root, "line", ["a", "b"])
    put_text(root, "scalar", "a")
    dataset = opened(path)
    assert np.array_equal(dataset.ReadAsArray(), CUBE[0]), "the one raster opens"
    reasons = dataset.GetMetadata_Dict("ZARR3_UNREADABLE")
    assert sorted(reasons) == ["/line", "/plane", "/scalar"]
    assert set(reasons.values()) == {"its elements are text (string), of which GDAL makes no bands"}
    put(root, "w", CUBE[1], dims=("y", "x"))
    dataset = opened(path, LIST_ALL_ARRAYS="YES")
    assert [name.rsplit(":", 1)[-1].strip('"/') for name, _ in dataset.GetSubDatasets()] == ["v", "w"]
    assert sorted(dataset.GetMetadata_Dict("ZARR3_UNREADABLE")) == ["/line", "/plane", "/scalar"]
    for name in ("plane", "line", "scalar"):
        with Errors() as errors:
            assert gdal.Open(sub(path, name)) is None
        assert "array /" + name in errors.failures[0] and "are text" in errors.failures[0]


def test_a_group_of_text_alone_says_so(store):
    path, root = store
    put_text(root, "plane", [["a", "b"], ["c", "d"]])
    with Errors() as errors:
        assert gdal.Open(path) is None
    assert "no array of two or more dimensions; /plane: its elements are text" in errors.failures[0]


@pytest.mark.parametrize("options", [{}, {"chunks": (2,)}, {"chunks": (1,), "shards": (3,)}],
                         ids=str)
def test_bands_are_named_by_text(store, options):
    path, root = store
    put(root, "v", CUBE, dims=("band", "y", "x"))
    put_text(root, "band", NAMES, ("band",), **options)
    dataset = opened(path)
    assert np.array_equal(dataset.ReadAsArray(), CUBE)
    for number, name in enumerate(NAMES, 1):
        band = dataset.GetRasterBand(number)
        assert band.GetDescription() == name
        assert band.GetMetadata() == {"DIM_band_INDEX": str(number - 1), "DIM_band_VALUE": name}
    slices = gdal.OpenEx(path, open_options=["MULTIBAND=NO"]).GetSubDatasets()
    assert [text.rsplit(" at ", 1)[1] for _, text in slices] == NAMES


def test_text_along_other_dimensions(store):
    path, root = store
    put(root, "v", CUBE.reshape(3, 1, 4, 5), dims=("model", "time", "y", "x"))
    put_text(root, "model", NAMES, ("model",))
    put(root, "time", [3.5], dims=("time",))
    dataset = opened(path)
    band = dataset.GetRasterBand(2)
    assert band.GetDescription() == "model=Grün"
    assert band.GetMetadata()["DIM_model_VALUE"] == "Grün"
    assert band.GetMetadata()["DIM_time_VALUE"] == "3.5"


def test_text_that_gdal_cannot_hold_is_left_out(store):
    path, root = store
    put(root, "v", CUBE, dims=("model", "y", "x"))
    put_text(root, "model", ["good", "a\0b", ""], ("model",))
    dataset = opened(path)
    assert dataset.GetRasterBand(1).GetDescription() == "model=good"
    for number in (2, 3):
        assert dataset.GetRasterBand(number).GetDescription() == ""
        assert dataset.GetRasterBand(number).GetMetadata() == {"DIM_model_INDEX": str(number - 1)}


def test_text_is_no_place_of_columns_and_rows(store):
    """A coordinate of text for rows or columns gives no geotransform, and no error."""
    path, root = store
    put(root, "v", CUBE[0], dims=("y", "x"))
    put_text(root, "y", list("abcd"), ("y",))
    put(root, "x", np.arange(5.0), dims=("x",))
    with Errors() as errors:
        dataset = opened(path)
        assert dataset.GetGeoTransform(can_return_null=True) is None
    assert not errors.seen


@pytest.mark.parametrize("kind", TEXTS)
def test_bands_are_named_by_text_of_all_types(store, kind):
    path, root = store
    put(root, "v", CUBE, dims=("band", "y", "x"))
    put_labels(path, kind)
    with Errors() as errors:
        dataset = opened(path)
        bands = [dataset.GetRasterBand(number) for number in (1, 2, 3)]
        assert [band.GetDescription() for band in bands] == NAMES
        assert [band.GetMetadataItem("DIM_band_VALUE") for band in bands] == NAMES
    assert not errors.seen


@pytest.mark.parametrize("kind", TEXTS)
def test_coordinates_move_beside_text(store, kind):
    """Text is known to use neither rows nor columns, so that their coordinates belong to the raster alone."""
    path, root = store
    put(root, "v", CUBE, dims=("band", "y", "x"))
    for name, extent in (("y", 4), ("x", 5)):
        put(root, name, np.arange(float(extent)), dims=(name,))
    put_labels(path, kind)
    run("gdal_edit.py", "-a_ullr", "100", "200", "110", "192", path)
    assert opened(path).GetGeoTransform() == (100, 2, 0, 200, 0, -2)
    moved = zarr.open_group(path, mode="r")
    assert moved["x"][:].tolist() == [101, 103, 105, 107, 109]
    assert moved["y"][:].tolist() == [199, 197, 195, 193]
