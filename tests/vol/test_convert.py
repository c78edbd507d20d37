# SPDX-License-Identifier: MIT
"""Whole files into stores and back: h5repack, and xarray with h5netcdf."""

import json
import os
import subprocess

import h5py
import numpy as np
import pytest
import zarr
from conftest import NUMERIC, environment, run, tool


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An HDF5 file with everything that has a form in Zarr and that HDF5 can compare."""
    path = tmp_path_factory.mktemp("made") / "made.h5"
    rng = np.random.default_rng(5)
    with h5py.File(path, "w") as f:
        for i, dtype in enumerate([*NUMERIC, "?", ">i4", ">f8"]):
            data = (rng.random((13, 17)) * 100).astype(dtype)
            options = {"chunks": (5, 7), "compression": "gzip", "shuffle": True} if i % 2 else {}
            d = f.create_dataset("types/" + dtype.replace(">", "be"), data=data, **options)
            d.attrs.update({"n": 3, "v": [1.5, 2], "s": "text", "list": ["a", "b"], "b": True,
                            "eye": np.eye(3), "small": np.int16(7), "nan": np.nan})
        f["scalar"] = 3.5
        f.create_dataset("fill", (20,), "i4", data=np.arange(20), chunks=(6,), fillvalue=-3)
        f.create_dataset("sparse", (50, 50), "f4", chunks=(10, 10), fillvalue=7)
        f["sparse"][3, 4] = 1
        f.create_group("g/h/empty")
        f.create_dataset("big", data=rng.integers(0, 99, (900, 700)), chunks=(100, 300),
                         fletcher32=True)
        f["x"], f["y"], f["v"] = np.arange(5.0), np.arange(4.0), np.ones((5, 4))
        for dim, name in enumerate("xy"):
            f[name].make_scale(name)
            f["v"].dims[dim].attach_scale(f[name])
    return path


def equal(connector, *command):
    done = run(["h5diff", *command], connector)
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr


@pytest.mark.parametrize("way", ["option", "variable"])
def test_h5repack_there_and_back(made, tmp_path, way):
    store, back = tmp_path / "out.zarr", tmp_path / "back.h5"
    option, connector = (["--dst-vol-name=zarr"], None) if way == "option" else ([], "zarr")
    tool("h5repack", *option, made, store, connector=connector)
    equal("zarr", made, store)
    option = ["--src-vol-name=zarr"] if way == "option" else []
    tool("h5repack", *option, store, back, connector=connector)
    equal(None, made, back)
    equal("zarr", store, back)
    group = zarr.open_group(str(store), mode="r")
    with h5py.File(made) as f:
        def check(name, o):
            if isinstance(o, h5py.Dataset):
                assert np.array_equal(group[name][...], o[()]), name
                assert o.chunks in (None, group[name].chunks), name
                assert group[name].fill_value == o.fillvalue, name
        f.visititems(check)
        with h5py.File(back) as b:
            assert b["types/f4"].compression == f["types/f4"].compression
            assert b["types/f8"].shuffle == f["types/f8"].shuffle
            assert b["v"].dims[1][0] == b["y"]


def test_types_of_zarr_come_back_by_the_variable_alone(tmp_path):
    """With the option h5repack makes each dataset by its HDF5 type, writes its elements, and comes to its attributes
    last of all: the connector is not told in time. The attribute stays, so that the next copy can."""
    units = {"units": "seconds since 1970-01-01", "calendar": "proleptic_gregorian",
             "zarr:data_type": "numpy.datetime64[s]"}
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f["t"] = np.arange(5)
        f["t"].attrs.update(units)
    tool("h5repack", "--dst-vol-name=zarr", tmp_path / "a.h5", tmp_path / "b.zarr")
    tool("h5repack", tmp_path / "b.zarr", tmp_path / "c.h5", connector="zarr")
    tool("h5repack", tmp_path / "c.h5", tmp_path / "d.zarr", connector="zarr")
    made, again = (json.loads((tmp_path / name / "t/zarr.json").read_text()) for name in ("b.zarr", "d.zarr"))
    assert made["data_type"] == "int64" and units.items() <= made["attributes"].items()
    assert again["data_type"] == {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}


def test_h5repack_with_other_filters_and_chunks(made, tmp_path):
    store = tmp_path / "out.zarr"
    tool("h5repack", "-l", "big:CHUNK=64x64", "-f", "big:GZIP=2", made, store, connector="zarr")
    array = zarr.open(str(store), mode="r")["big"]
    assert array.chunks == (64, 64) and array.metadata.codecs[1].to_dict()["name"] == "gzip"
    equal("zarr", made, store)


def test_h5repack_from_store_to_store_keeps_shards(tmp_path):
    source, target = tmp_path / "a.zarr", tmp_path / "b.zarr"
    array = zarr.open_group(str(source), mode="w").create_array(
        "d", shape=(100, 100), dtype="i4", chunks=(10, 10), shards=(50, 50))
    array[...] = np.arange(10000).reshape(100, 100)
    tool("h5repack", source, target, connector="zarr")
    copied = zarr.open(str(target), mode="r")["d"]
    assert (copied.chunks, copied.shards) == ((10, 10), (50, 50))
    equal("zarr", source, target)


@pytest.mark.parametrize("make, words", [
    (lambda f: f.create_dataset("e", (4,), "f4", chunks=(4,), scaleoffset=2), "scaleoffset"),
    (lambda f: f.create_dataset("z", (4,), "i4", chunks=(4,), compression="lzf"), "lzf"),
    (lambda f: f.attrs.create("c", f.create_dataset("d", (3,)).regionref[:1]), "region"),
])
def test_h5repack_says_what_has_no_form(tmp_path, make, words):
    with h5py.File(tmp_path / "in.h5", "w") as f:
        make(f)
    done = run(["h5repack", "--enable-error-stack", tmp_path / "in.h5", tmp_path / "out.zarr"],
               "zarr")
    assert done.returncode != 0 and words in done.stderr


def test_h5copy_within_and_out_of_stores(made, tmp_path):
    store = tmp_path / "out.zarr"
    tool("h5repack", made, store, connector="zarr")
    tool("h5copy", "-i", store, "-o", store, "-s", "/types", "-d", "/again", connector="zarr")
    tool("h5copy", "-p", "-i", store, "-o", tmp_path / "n.h5", "-s", "/big", "-d", "/p/big",
         connector="zarr")
    equal("zarr", store, tmp_path / "n.h5", "/big", "/p/big")
    equal("zarr", store, store, "/types", "/again")


XARRAY = """
import sys, numpy as np, xarray as xr
path = sys.argv[1]
made = xr.Dataset(
    {"t2m": (("time", "lat", "lon"), np.arange(24, dtype="f4").reshape(2, 3, 4),
             {"units": "K", "long_name": "temperature"}),
     "mask": (("lat", "lon"), np.arange(12, dtype="i2").reshape(3, 4)),
     "bands": (("band", "lat"), np.ones((2, 3)))},
    {"time": np.array(["2001-01-01", "2001-01-02"], "M8[ns]"), "lat": [10.0, 20.0, 30.0],
     "lon": np.arange(4) * 90.0}, {"title": "made", "version": 3})
made["t2m"][0, 0, 0] = np.nan
encoding = {"t2m": {"zlib": True, "chunksizes": (1, 3, 4), "_FillValue": np.float32(-99)}}
made.to_netcdf(path, engine="h5netcdf", encoding=encoding, unlimited_dims=["time"])
with xr.open_dataset(path, engine="h5netcdf") as got:
    xr.testing.assert_identical(got, made)
got = xr.open_zarr(path, consolidated=False)
xr.testing.assert_equal(got, made)
assert got["t2m"].attrs["units"] == "K" and got["bands"].dims == ("band", "lat")
made[["mask"]].rename(mask="second").to_netcdf(path, engine="h5netcdf", mode="a")
with xr.open_dataset(path, engine="h5netcdf") as got:
    assert list(got) == ["t2m", "mask", "bands", "second"]  # as they were made
    xr.testing.assert_equal(got["second"].load(), made["mask"].rename("second"))
print("done")
"""


def test_xarray_writes_with_h5netcdf(tmp_path):
    pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    done = subprocess.run(
        [os.environ.get("PYTHON", "/usr/bin/python3"), "-W", "ignore", "-c", XARRAY,
         str(tmp_path / "x.zarr")], env=environment("zarr"), capture_output=True, text=True,
        timeout=600, check=False)
    assert done.stdout == "done\n", done.stderr
    assert not (tmp_path / "x.zarr" / "band").exists()
