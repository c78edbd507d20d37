# SPDX-License-Identifier: MIT
"""Coordinates of text, of all types that zarr-python writes, are text to xarray by h5netcdf: it selects by them."""

import json
import struct

import h5py
import numpy as np
import pytest
from conftest import run_python

NAMES = ["blue", "gr\u00fcn", "near infrared"]


def length(name, size):
    return {"name": name, "configuration": {"length_bytes": size}}


def counted(texts):
    return struct.pack("<I", len(texts)) + b"".join(struct.pack("<I", len(text)) + text for text in texts)


def fixed(encoding, size=14):
    return np.array([name.encode(encoding) for name in NAMES], "S%d" % size).tobytes()


BYTES = [name.encode() for name in NAMES]
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
# Data type, its array->bytes codec, and the one chunk.
TEXTS = {
    "string": ("string", {"name": "vlen-utf8"}, counted(BYTES)),
    "fixed": (length("fixed_length_utf32", 52), LITTLE, np.array(NAMES, "<U13").tobytes()),
    "null_terminated": (length("null_terminated_bytes", 14), {"name": "bytes"}, fixed("utf-8")),
    "full": (length("null_terminated_bytes", 13), {"name": "bytes"}, fixed("utf-8", 13)),
    "latin_1": (length("null_terminated_bytes", 14), {"name": "bytes"}, fixed("latin-1")),
    "bytes": ("bytes", {"name": "vlen-bytes"}, counted(BYTES)),
    "variable_length_bytes": ("variable_length_bytes", {"name": "vlen-bytes"}, counted(BYTES)),
}


def put(path, name, data_type, codec, chunk, shape, dimensions, fill):
    stored = path / name / "c" / "/".join("0" for _ in shape)
    stored.parent.mkdir(parents=True)
    stored.write_bytes(chunk)
    (path / name / "zarr.json").write_text(json.dumps({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type, "fill_value": fill,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}}, "codecs": [codec],
        "chunk_key_encoding": {"name": "default"}, "dimension_names": dimensions, "attributes": {}}))


def make(path, kind):
    path.mkdir()
    (path / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group", "attributes": {}}')
    put(path, "band", *TEXTS[kind], [3], ["band"], "")
    put(path, "v", "int16", LITTLE, np.arange(12, dtype="<i2").tobytes(), [3, 4], ["band", "x"], 0)
    put(path, "x", "int16", LITTLE, np.arange(4, dtype="<i2").tobytes(), [4], ["x"], 0)
    return path


SELECT = r"""
import sys, xarray
with xarray.open_dataset(sys.argv[1], engine="h5netcdf") as d:
    assert d.band.values.tolist() == ["blue", "gr\u00fcn", "near infrared"], d.band.values
    assert d.sel(band="gr\u00fcn").v.values.tolist() == [4, 5, 6, 7]
    assert d.sel(band="near infrared").v.values.tolist() == [8, 9, 10, 11]
print("ok")
"""


@pytest.mark.parametrize("kind", TEXTS)
def test_xarray_selects_by_text(tmp_path, kind):
    pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    assert run_python(SELECT, make(tmp_path / "x.zarr", kind)) == "ok\n"


def test_what_tells_the_encoding(tmp_path):
    """It is no attribute of the store, and says nothing of bytes that name nothing."""
    path = make(tmp_path / "x.zarr", "fixed")
    put(path, "data", *TEXTS["null_terminated"], [3], ["band"], "")
    with h5py.File(path, "r+") as file:
        assert file["band"].attrs["_Encoding"] == "utf-8"
        assert "_Encoding" not in file["data"].attrs and "_Encoding" not in file["v"].attrs
        file["band"].attrs["a"] = 1
    assert json.loads((path / "band" / "zarr.json").read_text())["attributes"].keys() - {"_hdf5"} == {"a"}
    for kind, encoding in (("null_terminated", "utf-8"), ("full", "utf-8"), ("latin_1", "latin-1")):
        with h5py.File(make(tmp_path / (kind + ".zarr"), kind)) as file:
            assert file["band"].attrs["_Encoding"] == encoding


def test_datasets_of_hdf5_programs_show_what_they_were_made_with(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as file:
        file["band"] = np.array(BYTES)
        file["band"].make_scale("band")
    with h5py.File(tmp_path / "x.zarr") as file:
        assert file["band"].dtype.kind == "S" and "_Encoding" not in file["band"].attrs


def test_bytes_that_name_nothing_stay_sequences(tmp_path):
    path = make(tmp_path / "x.zarr", "bytes")
    put(path, "data", *TEXTS["bytes"], [3], ["band"], "")
    with h5py.File(path) as file:
        assert h5py.check_vlen_dtype(file["data"].dtype) == np.uint8
        assert h5py.check_string_dtype(file["band"].dtype).encoding == "utf-8"
        assert file["band"].asstr()[...].tolist() == NAMES


NETCDF = r"""
import sys, xarray
with xarray.open_dataset(sys.argv[1], engine="h5netcdf") as d:
    assert d.v.dims == ("band", "x") and "_ARRAY_DIMENSIONS" not in d.v.attrs, d.v
    d.to_netcdf(sys.argv[2], engine="netcdf4")
print("ok")
"""


def test_names_that_are_repeated_in_version_2_form(tmp_path):
    """netCDF refuses an attribute `_ARRAY_DIMENSIONS`. One that says something else is shown."""
    pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    path = make(tmp_path / "x.zarr", "string")
    for name, names in (("v", ["band", "x"]), ("band", ["band"]), ("x", ["other"])):
        document = json.loads((path / name / "zarr.json").read_text())
        document["attributes"]["_ARRAY_DIMENSIONS"] = names
        (path / name / "zarr.json").write_text(json.dumps(document))
    with h5py.File(path) as file:
        assert list(file["x"].attrs["_ARRAY_DIMENSIONS"]) == ["other"]
        del document["attributes"]["_ARRAY_DIMENSIONS"]
    (path / "x" / "zarr.json").write_text(json.dumps(document))
    assert run_python(NETCDF, path, tmp_path / "x.nc") == "ok\n"
