# SPDX-License-Identifier: MIT
"""The same plugin with other libhdf5: those inside the wheels of h5py (1.14.6 and 2.0.0), and two
of them in one process. The wheels are installed once, under build/packages; without a package index
these tests are skipped and say so."""

import os
import re
import shutil
import sys

import pytest
import zarr
from conftest import run, run_new_python
from test_passthrough import WRITE, same_outcomes
from test_safety import HAZARD, LEFT_OPEN, THREADS
from test_search import SEARCH_IS_DECLINED

sys.path += [os.environ["ZARRBRIDGE_SOURCE_DIR"] + folder for folder in ("/tests/remote", "/tests/interop")]
from simserver import SimServer, make_certificate  # noqa: E402
from sims3 import S3  # noqa: E402
from venvs import venv  # noqa: E402

WHEELS = {
    "h5py_3_14": (["h5py==3.14.0", "numpy==2.5.5", "pytest==9.2.0"], "1.14.6"),
    "h5py_3_16": (["h5py==3.16.0", "numpy==2.5.5", "pytest==9.2.0"], "2.0.0"),
    "two_libraries": (["h5py==3.14.0", "numpy==2.5.5", "netCDF4==1.7.5.1.post1"], "1.14.6"),
}

CHECK = r"""
import sys, h5py, numpy as np
assert h5py.version.hdf5_version == sys.argv[2], h5py.version.hdf5_version
A = (np.arange(512 * 512) % 30000).astype("i2").reshape(512, 512)
B = (np.arange(6000) * 0.5).astype("f4").reshape(10, 20, 30)
f = h5py.File(sys.argv[1], "r"); d = f["a"]
assert list(f) == ["a", "c", "e", "g", "nc", "types"] and len(f["types"]) == 13
seen = []; f.visititems(lambda n, o: seen.append(n)); assert len(seen) == 26
assert d.shape == A.shape and d.dtype == A.dtype and d.chunks == (64, 64) and d.fillvalue == -5
assert d.compression == "gzip" and [x.label for x in d.dims] == ["yy", "xx"]
for s in (np.s_[...], np.s_[10:200:3, 7], np.s_[::2, ::3], np.s_[[1, 5, 300]], np.s_[:, [2, 400]]):
    assert np.array_equal(d[s], A[s])
assert np.array_equal(d[A % 7 == 0], A[A % 7 == 0]) and np.array_equal(f["g/b"][...], B)
assert np.array_equal(d.astype(">f8")[5:7], A[5:7])
assert list(f["c"][...]) == [n - 1j * n for n in range(5)] and f["e"].dtype == bool
assert f["types/f2"].dtype == np.dtype("f2") and f["types/f2"][3] == 3 and f["g/s"][()] == 3.25
assert dict(f["g"].attrs) == {"gn": 7} and f.attrs["title"] == "hello wörld" and f.attrs["n"] == 42
assert list(f.attrs) == ["title", "n", "v", "flag", "list"]
assert list(f.attrs["list"]) == ["x", "yy", "zzz"]
assert f[d.ref] == d and f["nc/v"].dims[0][0] == f["nc/y"] and f["nc/x"].is_scale
assert "zz" not in f and "g/b" in f and f.get("a", getclass=True) is h5py.Dataset
try: f["zz"]
except KeyError as e: assert "doesn't exist" in str(e)
held = f["g/b"]; f.close(); assert not held
keep = h5py.File(sys.argv[1])["a"]; print("done")
"""

WRITING = r"""
import sys, h5py, numpy as np
path, version = sys.argv[1:]
assert h5py.version.hdf5_version == version
data = np.arange(600, dtype="i4").reshape(20, 30)
with h5py.File(path, "w") as f:
    d = f.create_dataset("g/d", data=data, chunks=(7, 8), compression="gzip", shuffle=True,
                         maxshape=(None, 30), fillvalue=-1)
    d[3, 4] = 99; d[::4, 5] = np.arange(5); d[data % 50 == 7] = 5
    assert d[3, 4] == 99 and d[4, 5] == 1
    d.resize((22, 30)); assert d[21, 0] == -1
    d.attrs["units"] = "m"; d.attrs["n"] = [1, 2]; f.attrs["flag"] = True; d.attrs["n"] = 7
    f["x"] = np.arange(30.0); f["c"] = np.arange(3) * 1j; f["b"] = np.array([True, False])
    f["x"].make_scale(); d.dims[1].attach_scale(f["x"]); d.dims[0].label = "y"
    f["s"] = 2.5; f.move("g", "h"); f.copy("h", "copy"); del f["s"]
    f["t"] = ["text", "dé"]; assert f["t"].asstr()[1] == "dé"
    f.create_dataset("e", (2,), h5py.enum_dtype({"A": 0, "B": 1})); f["l"] = h5py.SoftLink("/x")
    for bad in (lambda: f.create_group("x"),
                lambda: f.create_dataset("z", (4,), "i4", chunks=(2,), compression="lzf")):
        try: bad()
        except (ValueError, OSError, TypeError): pass
        else: raise AssertionError("accepted")
with h5py.File(path, "a") as f:
    assert sorted(f) == ["b", "c", "copy", "e", "h", "l", "t", "x"] and f["h/d"].dims[1][0] == f["x"]
    f["h/d"][0, 0] = 1000
with h5py.File(path + ".h5", "w") as n, h5py.File(path, "r+") as f:
    f.copy("h", n); n["h/d"].attrs["back"] = 1; f.copy(n["h"], "returned")
    assert (f["returned/d"][...] == f["h/d"][...]).all() and f["returned/d"].attrs["back"] == 1
left_open = h5py.File(path, "r+"); left_open["h/d"][1, 1] = 77; dataset = left_open["h/d"]
print("done")
"""

CHUNKS = r"""
import sys, h5py, numpy as np
folder, version = sys.argv[1:]
assert h5py.version.hdf5_version == version
data = np.arange(40 * 30, dtype="i8").reshape(40, 30)
for n, options in enumerate(({}, {"compression": "gzip"}, {"shuffle": True, "fletcher32": True})):
    with h5py.File(f"{folder}/{n}.h5", "w") as native, h5py.File(f"{folder}/{n}.zarr", "w") as store:
        made = [f.create_dataset("d", data=data, chunks=(8, 10), **options) for f in (native, store)]
        (mask, want), (_, got) = (d.id.read_direct_chunk((8, 10)) for d in made)
        assert mask == 0 and got == want
        out = bytearray(len(want)); made[1].id.read_direct_chunk((8, 10), out=out); assert out == want
        try: made[1].id.read_direct_chunk((8, 10), out=bytearray(len(want) - 1))
        except (OSError, ValueError): pass
        else: raise AssertionError("too little room")
        for d in made:
            d.id.write_direct_chunk((32, 20), want, 0)
        for bad in (b"", want[:-5], b"?" * 1000):
            try: made[1].id.write_direct_chunk((0, 0), bad, 0)
            except (OSError, ValueError): pass
            else: raise AssertionError("accepted")
        now = data.copy(); now[32:, 20:] = data[8:16, 10:20]
        assert all(np.array_equal(d[...], now) for d in made)
    with h5py.File(f"{folder}/{n}.zarr", "r") as store:
        assert np.array_equal(store["d"][...], now)
print("done")
"""


@pytest.fixture(params=WHEELS)
def wheel(request):
    """(name, interpreter, version of its libhdf5); installs the wheels on first use."""
    packages, version = WHEELS[request.param]
    return request.param, venv(request.param, *packages), version


def test_by_variable(wheel, tree):
    _, python, version = wheel
    assert run_new_python(CHECK, tree, version, python=python, connector="zarr") == "done\n"


def test_by_search(wheel, tree, tmp_path):
    """HDF5 1.14 finds the store; on 2.x the connector keeps out of a search that would crash."""
    _, python, version = wheel
    if version.startswith("1."):
        assert run_new_python(CHECK, tree, version, python=python, connector=None) == "done\n"
    else:
        assert run_new_python(SEARCH_IS_DECLINED, tree, tmp_path, python=python,
                          connector=None) == "done\n"


def test_writing(wheel, tmp_path):
    """Stores written with another libhdf5 are read by zarr-python here."""
    _, python, version = wheel
    path = tmp_path / "w.zarr"
    assert run_new_python(WRITING, path, version, python=python, connector="zarr") == "done\n"
    group = zarr.open_group(str(path), mode="r")
    array = group["h/d"]
    attributes = {name: value for name, value in array.attrs.items() if name != "_hdf5"}
    assert array.shape == (22, 30) and attributes == {"units": "m", "n": 7}
    assert (array[0, 0], array[1, 1], array[3, 4], array[21, 0]) == (1000, 77, 99, -1)
    assert array.metadata.dimension_names == ("y", "x") and group.attrs["flag"] is True
    assert list(group["c"][...]) == [0, 1j, 2j] and list(group["b"][...]) == [True, False]


def test_direct_chunks(wheel, tmp_path):
    """HDF5 2 lays the arguments of these calls out in another way."""
    _, python, version = wheel
    assert run_new_python(CHUNKS, tmp_path, version, python=python, connector="zarr") == "done\n"


def ways_of(version):
    """Of opening a store by its name alone."""
    return (None, "zarr") if version.startswith("1.") else ("zarr",)


def test_by_https(wheel, tree, tmp_path, monkeypatch):
    """libcurl and its TLS are the system's, beside what the wheel brings along."""
    _, python, version = wheel
    shutil.copytree(tree, tmp_path / "served/z.zarr")
    zarr.consolidate_metadata(tmp_path / "served/z.zarr")
    certificate = make_certificate(tmp_path)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CA_BUNDLE", str(certificate[0]))
    with SimServer(tmp_path / "served", certificate=certificate) as server:
        for way in ways_of(version):
            said = run_new_python(CHECK, server.url + "/z.zarr", version, python=python, connector=way)
            assert said == "done\n" and server.take_log()


def test_by_s3(wheel, tree, tmp_path, monkeypatch):
    _, python, version = wheel
    shutil.copytree(tree, tmp_path / "served/bucket/z.zarr")
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    s3 = S3({"AKID": "secret"})
    with SimServer(tmp_path / "served", answer=s3) as server:
        for name, value in {"AWS_ENDPOINT_URL": server.url, "AWS_ACCESS_KEY_ID": "AKID",
                            "AWS_SECRET_ACCESS_KEY": "secret", "HOME": str(tmp_path)}.items():
            monkeypatch.setenv(name, value)
        for way in ways_of(version):
            said = run_new_python(CHECK, "s3://bucket/z.zarr", version, python=python, connector=way)
            assert said == "done\n" and s3.verified


def test_safety(wheel, tree, tmp_path):
    _, python, _ = wheel
    assert run_new_python(HAZARD, tmp_path, tree, python=python, connector="zarr") == "done\n"
    assert run_new_python(LEFT_OPEN, tree, python=python, connector="zarr") == "513\n"
    assert run_new_python(THREADS, tree, python=python, connector="zarr") == "done\n"


def test_pass_through(wheel, tmp_path):
    _, python, _ = wheel
    run_new_python(WRITE, tmp_path, python=python, connector="zarr")


@pytest.mark.parametrize("wheel", ["h5py_3_14", "h5py_3_16"], indirect=True)
def test_suite_of_h5py(wheel, tmp_path):
    _, python, _ = wheel
    same_outcomes(python, ["--pyargs", "h5py"], tmp_path)


TWO = r"""
import os, re, sys, importlib, ctypes
order, store, folder = sys.argv[1:]
loaded = {name: importlib.import_module(name) for name in order.split(",")}
h5py, nc = loaded["h5py"], loaded["netCDF4"]
import numpy as np
assert h5py.version.hdf5_version != nc.__hdf5libversion__
f = h5py.File(store); assert f["a"][1, 1] == 513
p = folder + "/two.nc"
d = nc.Dataset(p, "w"); d.createDimension("x", 5); v = d.createVariable("v", "f4", ("x",))
v[:] = np.arange(5); v.units = "m"; s = d.createVariable("s", str, ("x",)); s[0] = "abc"; d.close()
d = nc.Dataset(p); assert list(d["v"][:]) == [0, 1, 2, 3, 4] and d["s"][0] == "abc"
with h5py.File(p) as g: assert g["v"][2] == 2
d.close()
maps = {line.split(maxsplit=5)[5].strip() for line in open("/proc/self/maps")
        if re.search(r"/libhdf5-[^/]*\.so", line)}
name = [m for m in maps if "netcdf4" in m.lower()][0]
lib = ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
i64, text = ctypes.c_int64, ctypes.c_char_p
for call, result, arguments in (
    ("H5Fopen", i64, [text, ctypes.c_uint, i64]), ("H5Dclose", ctypes.c_int, [i64]),
    ("H5Dopen2", i64, [i64, text, i64]), ("H5Fclose", ctypes.c_int, [i64]),
    ("H5Dread", ctypes.c_int, [i64] * 5 + [ctypes.c_void_p])):
    getattr(lib, call).restype = result; getattr(lib, call).argtypes = arguments
double = i64.in_dll(lib, "H5T_IEEE_F64LE_g").value
def with_the_other(path, out):
    h = lib.H5Fopen(store.encode(), 0, 0); d = lib.H5Dopen2(h, path, 0); assert h > 0 and d > 0
    assert lib.H5Dread(d, double, 0, 0, 0, out.ctypes.data) >= 0
    assert lib.H5Dclose(d) >= 0 and lib.H5Fclose(h) >= 0
    return out
assert with_the_other(b"/a", np.zeros((512, 512)))[1, 1] == 513 == f["a"][1, 1]
names = []    # a callback of one library that calls the other
f.visititems(lambda n, o: names.append(with_the_other(b"/g/s", np.zeros(())).item()))
assert names == [3.25] * 26
f.close(); keep = h5py.File(store)["g/b"]; print("done")
"""


@pytest.mark.parametrize("wheel", ["two_libraries"], indirect=True)
@pytest.mark.parametrize("order", ["h5py,netCDF4", "netCDF4,h5py"])
def test_two_in_one_process(wheel, tree, tmp_path, order):
    _, python, _ = wheel
    assert run_new_python(TWO, order, tree, tmp_path, python=python, connector="zarr") == "done\n"
