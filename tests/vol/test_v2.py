# SPDX-License-Identifier: MIT
"""Stores of Zarr version 2 by unmodified h5py: a real one, what is listed, what is refused.

interop/h5py compares the values of all types, orders, compressors and layouts.
"""

import json
import zipfile
from pathlib import Path

import h5py
import numcodecs
import numpy as np
import pytest
import zarr

DATA = Path(__file__).resolve().parent.parent / "data"


@pytest.fixture
def sea_ice(tmp_path):
    with zipfile.ZipFile(DATA / "sic_daily_sample.zarr.zip") as packed:
        packed.extractall(tmp_path)
    return str(tmp_path / "sic_daily_sample.zarr")


def test_a_real_store(sea_ice):
    expected = zarr.open_group(sea_ice, mode="r")
    with h5py.File(sea_ice, "r") as file:
        assert sorted(file) == ["latitude", "longitude", "siconc", "time"]
        assert file.attrs["Conventions"] == "CF-1.4"
        for name in file:
            assert np.array_equal(file[name][...], expected[name][...],
                                  equal_nan=file[name].dtype.kind == "f")
        ice = file["siconc"]
        assert [scale.label for scale in ice.dims] == ["time", "latitude", "longitude"]
        assert ice.dims[1][0] == file["latitude"]
        assert ice.attrs["_FillValue"] == -32767 and ice.attrs["_FillValue"].dtype == "i2"
        assert ice.fillvalue == -32767
        assert ice.attrs["scale_factor"] == 3.814813680946827e-05
        assert "_ARRAY_DIMENSIONS" not in ice.attrs
        assert np.isnan(file["time"].attrs["_FillValue"])


def test_xarray_reads_it_as_its_own_reader_does(sea_ice):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    with (xarray.open_dataset(sea_ice, engine="h5netcdf") as ours,
          xarray.open_zarr(sea_ice) as theirs):
        xarray.testing.assert_equal(ours.load(), theirs.load())
        assert set(ours.variables) == set(theirs.variables)


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "x.zarr"
    root = zarr.open_group(path, mode="w", zarr_format=2)
    good = root.create_array("good", shape=(4,), dtype="i4", attributes={"units": "m"})
    good[:] = range(4)
    root.create_array("g/below", shape=(2,), dtype="f8", fill_value=1.5)
    return path


TYPES = {
    "bytes": np.array([b"a", b"", b"abc"], dtype="S5"),
    "points": np.array(["a", "", "d\u00e9\U0001d11e"], dtype="<U5"),
    "big_points": np.array(["a", "", "d\u00e9"], dtype=">U5"),
    "times": np.array(["2026-11-22T10", "NaT", "1969-12-31T23"], dtype="<M8[h]"),
    "spans": np.array([1, -2, 3], dtype=">m8[s]"),
    "raw": np.array([b"\1\2\3", b"", b"\xff"], dtype="V3"),
    "struct": np.array([(1, 2.5), (-3, 0.0), (7, np.inf)], dtype=[("a", "<i2"), ("b", "<f8")]),
    "both_orders": np.array([(1, 2.5, (3, 4)), (-3, 0.0, (5, 6)), (7, np.inf, (8, -9))],
                            dtype=[("a", ">i4"), ("b", "<f8"), ("in", [("c", "|u1"), ("d", ">i2")])]),
}


@pytest.mark.parametrize("name", TYPES)
def test_types_that_are_no_numbers(tmp_path, name):
    values = TYPES[name]
    array = zarr.create_array(tmp_path / "x.zarr", shape=(3,), chunks=(2,), dtype=values.dtype,
                              zarr_format=2, filters=None, fill_value=None)
    array[...] = values
    with h5py.File(tmp_path / "x.zarr", "r") as file:
        (dataset,) = file.values()
        got = dataset[...]
        if name.endswith("points"):
            assert [text.decode() for text in got] == values.tolist()
        elif values.dtype.kind in "mM":
            native = values.astype(values.dtype.newbyteorder("="))
            assert got.dtype == "i8" and np.array_equal(got, native.view("i8"))
        else:
            native = values.astype(values.dtype.newbyteorder("="))
            assert np.array_equal(got, native) and got.dtype == native.dtype


def change(path, **members):
    path.write_text(json.dumps(json.loads(path.read_text()) | members))


@pytest.mark.parametrize("compressor", [None, numcodecs.Blosc("lz4"), numcodecs.Zlib()])
@pytest.mark.parametrize("order", "CF")
def test_structs_whose_fields_have_both_byte_orders(tmp_path, order, compressor):
    dtype = np.dtype([("a", ">i4"), ("b", "<f8"), ("c", ">U2"), ("d", "<u2")])
    values = np.array([[(i, j / 2, f"{i}{j}", i * j) for j in range(7)] for i in range(5)], dtype)
    fill = np.array((9, 0.5, "é", 1), dtype)[()]
    array = zarr.create_array(tmp_path / "x.zarr", shape=(6, 7), chunks=(2, 3), dtype=dtype, order=order,
                              zarr_format=2, filters=None, compressors=compressor, fill_value=fill)
    array[:4] = values[:4]
    with h5py.File(tmp_path / "x.zarr", "r") as file:
        (dataset,) = file.values()
        got, part = dataset[...], dataset[1:4:2, 2:6]
        assert dataset["a"][3].tolist() == [3] * 7
        assert dataset.fillvalue[0] == 9
    for name in "abd":
        assert np.array_equal(got[name][:4], values[name][:4])
        assert np.array_equal(part[name], values[name][1:4:2, 2:6])
        assert (got[name][4:] == fill[name]).all()
    assert [text.decode() for text in got["c"][:4].flat] == values["c"][:4].flatten().tolist()
    assert {text.decode() for text in got["c"][4:].flat} == {"é"}


@pytest.mark.parametrize("members, reason", [
    ({"dtype": "<f16"}, 'dtype "<f16" is not supported'),
    ({"dtype": "|O", "filters": [{"id": "pickle"}]}, "never read"),
    ({"compressor": {"id": "no_such_codec"}}, '"numcodecs.no_such_codec" is not supported'),
    ({"shape": "4"}, "shape is"),
])
def test_an_array_that_cannot_be_read_spares_its_siblings(store, members, reason):
    (store / "bad").mkdir()
    (store / "bad/.zarray").write_text((store / "good/.zarray").read_text())
    change(store / "bad/.zarray", **members)
    with h5py.File(store, "r") as file:
        assert file["good"][:].tolist() == [0, 1, 2, 3]
        assert file["g/below"].fillvalue == 1.5
        assert reason in file["bad"][()].decode()
        assert file["bad"].attrs["zarr:unreadable"]
    with pytest.raises(OSError) as error:
        h5py.File(store / "bad", "r")
    assert reason in str(error.value)


def test_an_array_by_itself(store):
    with h5py.File(store / "good", "r") as file:
        assert file["good"][:].tolist() == [0, 1, 2, 3]


def test_consolidated_metadata_alone_do_not_hide_a_group(store):
    zarr.consolidate_metadata(store, zarr_format=2)
    (store / ".zgroup").unlink()
    with h5py.File(store, "r") as file:
        assert sorted(file) == ["g", "good"]


@pytest.mark.parametrize("mode", ["r+", "a"])
def test_opening_for_writing_is_refused(store, mode):
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    with pytest.raises(OSError, match="zarrbridge copy"):
        h5py.File(store, mode)
    assert {path: path.read_bytes() for path in store.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("mode", ["w", "w-", "x"])
def test_nothing_is_replaced(store, mode):
    with pytest.raises(OSError):
        h5py.File(store, mode)
    assert (store / "good/.zarray").exists() and not list(store.rglob("zarr.json"))
