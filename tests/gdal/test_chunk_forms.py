# SPDX-License-Identifier: MIT
"""The keys of chunks, and the order of elements in them, as creation options ask for them."""
import json

import numpy as np
import pytest
import zarr
from conftest import Errors
from mdim import add, new_mdim
from osgeo import gdal, gdal_array

DRIVER = gdal.GetDriverByName("Zarr3")
PIXELS = np.arange(20 * 30, dtype="u2").reshape(20, 30)
SUFFIX = {"name": "suffix", "configuration": {"suffix": ".bin", "base_encoding": {
    "name": "default", "configuration": {"separator": "."}}}}


def created(path, *options):
    """The store, and the array's document."""
    source = gdal_array.OpenArray(PIXELS)
    DRIVER.CreateCopy(str(path), source, options=["ARRAY_NAME=t", "BLOCKSIZE=16x16", *options])
    return json.loads((path / "t" / "zarr.json").read_text())


@pytest.mark.parametrize("options,name,separator,key", [
    ([], "default", "/", "c/1/0"), (["DIM_SEPARATOR=."], "default", ".", "c.1.0"),
    (["CHUNK_KEY_ENCODING=default", "DIM_SEPARATOR=/"], "default", "/", "c/1/0"),
    (["CHUNK_KEY_ENCODING=V2"], "v2", ".", "1.0"),
    (["CHUNK_KEY_ENCODING=v2", "DIM_SEPARATOR=/"], "v2", "/", "1/0")])
def test_keys(tmp_path, options, name, separator, key):
    path = tmp_path / "x.zarr"
    encoding = created(path, *options)["chunk_key_encoding"]
    assert encoding == {"name": name, "configuration": {"separator": separator}}
    assert (path / "t" / key).is_file()
    assert (gdal.Open(str(path)).ReadAsArray() == PIXELS).all()
    assert (zarr.open_group(str(path), mode="r")["t"][...] == PIXELS).all()


def test_keys_as_json(tmp_path):
    path = tmp_path / "x.zarr"
    document = created(path, "CHUNK_KEY_ENCODING=" + json.dumps(SUFFIX))
    assert document["chunk_key_encoding"] == SUFFIX
    assert (path / "t" / "c.1.0.bin").is_file()
    assert (gdal.Open(str(path)).ReadAsArray() == PIXELS).all()


def test_levels_have_the_keys_of_their_raster(tmp_path):
    path = tmp_path / "x.zarr"
    created(path, "CHUNK_KEY_ENCODING=V2")
    with gdal.Open(str(path), gdal.GA_Update) as dataset:
        dataset.BuildOverviews("NEAREST", [2])
    level = json.loads((path / "ovr_2x" / "t" / "zarr.json").read_text())
    assert level["chunk_key_encoding"]["name"] == "v2"


@pytest.mark.parametrize("options,codecs", [
    (["COMPRESS=NONE"], ["transpose", "bytes"]),
    (["COMPRESS=GZIP"], ["transpose", "bytes", "gzip"])])
def test_fortran_order(tmp_path, options, codecs):
    path = tmp_path / "x.zarr"
    document = created(path, "CHUNK_MEMORY_LAYOUT=F", *options)
    assert [codec["name"] for codec in document["codecs"]] == codecs
    assert document["codecs"][0]["configuration"] == {"order": [1, 0]}
    assert (zarr.open_group(str(path), mode="r")["t"][...] == PIXELS).all()
    if options == ["COMPRESS=NONE"]:
        stored = np.frombuffer((path / "t" / "c" / "0" / "0").read_bytes(), "<u2")
        assert (stored.reshape(16, 16).T == PIXELS[:16, :16]).all()


def test_fortran_order_in_shards_and_of_more_dimensions(tmp_path):
    path, data = tmp_path / "m.zarr", np.arange(4 * 6 * 8, dtype="i4").reshape(4, 6, 8)
    dataset, group = new_mdim(path)
    add(group, "t", data, None, ["CHUNK_MEMORY_LAYOUT=F", "BLOCKSIZE=2,3,4", "SHARD=4,6,8"])
    add(group, "line", data[0, 0], None, ["CHUNK_MEMORY_LAYOUT=F"])
    del group
    dataset.Close()
    read = zarr.open_group(str(path), mode="r")
    assert (read["t"][...] == data).all() and (read["line"][...] == data[0, 0]).all()
    inner = json.loads((path / "t" / "zarr.json").read_text())["codecs"][0]["configuration"]
    assert inner["codecs"][0]["configuration"] == {"order": [2, 1, 0]}
    line = json.loads((path / "line" / "zarr.json").read_text())
    assert line["codecs"][0]["name"] == "bytes"


@pytest.mark.parametrize("options,word", [
    (["CHUNK_KEY_ENCODING=V3"], "CHUNK_KEY_ENCODING=V3"),
    (["CHUNK_KEY_ENCODING={}", "DIM_SEPARATOR=."], "DIM_SEPARATOR"),
    (["CHUNK_KEY_ENCODING={\"name\":\"mine\"}"], "mine"),
    (["CHUNK_MEMORY_LAYOUT=F", "CODECS=[\"bytes\"]"], "CODECS")])
def test_what_is_refused(tmp_path, options, word):
    path = tmp_path / "x.zarr"
    with Errors() as errors:
        assert DRIVER.CreateCopy(str(path), gdal_array.OpenArray(PIXELS), options=options) is None
    assert any(word in text for text in errors.failures)
    assert not path.exists()
