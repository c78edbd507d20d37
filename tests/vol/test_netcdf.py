# SPDX-License-Identifier: MIT
"""What netCDF libraries keep in HDF5: named dimensions, some of them without a variable, unlimited
ones, groups that inherit them. Programs get the same answers from a store as from an .h5 file."""

import json
import os
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from conftest import run, run_python, tool

h5netcdf = pytest.importorskip("h5netcdf")
xarray = pytest.importorskip("xarray")


@pytest.fixture
def both(tmp_path):
    return [str(tmp_path / "a.nc"), str(tmp_path / "a.zarr")]


def make(path):
    with h5netcdf.File(path, "w") as f:
        f.dimensions = {"time": None, "x": 4, "band": 2, "unused": 7}
        group = f.create_group("g")
        group.dimensions = {"k": 3}
        f.create_variable("x", ("x",), "f8", data=np.arange(4.0))
        f.create_variable("v", ("time", "x"), "f4")
        f.resize_dimension("time", 3)
        f["v"][...] = 1
        group.create_variable("w", ("time", "k", "x", "band"), "i2")
        f.create_variable("s", ("x",), dtype=h5py.string_dtype())[...] = np.array(
            ["a", "bb", "", "ö"], object)


def told(path):
    """What h5netcdf and h5py tell."""
    with h5netcdf.File(path, "r") as f:
        found = [{name: (d.size, d.isunlimited()) for name, d in group.dimensions.items()}
                 for group in (f, f["g"])]
        found += [(v.shape, v.dimensions) for v in (f["v"], f["s"], f["g/w"])]
        found += [sorted(f), sorted(f["g"]), f["v"][...].tolist(), f["s"][...].tolist()]
    with h5py.File(path, "r") as f:
        for group in (f, f["g"]):
            for name, d in sorted(group.items()):
                if isinstance(d, h5py.Dataset):
                    found.append((name, d.dtype.str, d.shape, d.maxshape, sorted(d.attrs)))
                    found.append(sorted((f[ref].name, dim)
                                        for ref, dim in d.attrs.get("REFERENCE_LIST", [])))
    return found


def arrays(path):
    return sorted(str(p.parent.relative_to(path)) for p in Path(path).rglob("zarr.json"))


def same(paths):
    answers = [told(path) for path in paths]
    assert answers[0] == answers[1]
    return answers[0]


def test_dimensions_without_variables_are_kept(both):
    for path in both:
        make(path)
    answer = same(both)
    assert answer[0] == {"time": (3, True), "x": (4, False), "band": (2, False),
                         "unused": (7, False)} and answer[1] == {"k": (3, False)}
    assert arrays(both[1]) == [".", "g", "g/w", "s", "v", "x"]
    assert zarr.open_group(both[1], mode="r")["g/w"].metadata.dimension_names == (
        "time", "k", "x", "band")


def test_a_dimension_grows_with_all_its_variables(both):
    for path in both:
        make(path)
        for size in (5, 6):
            with h5netcdf.File(path, "a") as f:
                f.resize_dimension("time", size)
                f["v"][size - 1] = size
    assert same(both)[0]["time"] == (6, True)


def test_groups_are_moved_and_copied_with_their_dimensions(both, tmp_path):
    other = str(tmp_path / "b.zarr")
    for path in both:
        make(path)
        with h5py.File(path, "r+") as f:
            f.move("g", "deep/er/g")
            f.move("deep", "h")
            w = f["h/er/g/w"]
            assert [dim[0].name for dim in w.dims] == ["/time", "/h/er/g/k", "/x", "/band"]
        with h5py.File(path, "r+") as f:
            f.move("h/er/g", "g")
            assert [dim[0].name for dim in f["g/w"].dims] == ["/time", "/g/k", "/x", "/band"]
    same(both)
    with h5py.File(both[1], "r") as f, h5py.File(other, "w") as g:
        f.copy(f["/"], g, name="all")
    with h5py.File(other, "r") as g:
        assert [dim[0].name for dim in g["all/g/w"].dims] == [
            "/all/time", "/all/g/k", "/all/x", "/all/band"]


def test_h5repack_there_and_back(both, tmp_path):
    make(both[0])
    back = str(tmp_path / "back.nc")
    tool("h5repack", both[0], both[1], connector="zarr")
    tool("h5repack", both[1], back, connector="zarr")
    same(both)
    same([both[0], back])
    for pair in ((both[0], both[1]), (both[0], back)):  # dimensions have no elements to compare
        done = run(["h5diff", *pair], "zarr")
        assert done.returncode == 0 and "difference" not in done.stdout, done.stdout + done.stderr
    assert arrays(both[1]) == [".", "g", "g/w", "s", "v", "x"]


NETCDF_C = r"""
import sys, netCDF4
def tell(group):
    print({n: (len(d), d.isunlimited()) for n, d in group.dimensions.items()})
    for name, v in group.variables.items(): print(name, v.dimensions, v.shape, v[...].tolist())
    for sub in group.groups.values(): tell(sub)
with netCDF4.Dataset(sys.argv[1]) as d: tell(d)
"""


def test_netcdf_c_reads_what_comes_back(both, tmp_path):
    pytest.importorskip("netCDF4")
    back = str(tmp_path / "back.nc")
    make(both[0])
    make(both[1])
    tool("h5repack", both[1], back, connector="zarr")
    texts = [run_python(NETCDF_C, path, plugins=False) for path in (both[0], back)]
    assert texts[0] == texts[1] and "'band': (2, False)" in texts[0]


def test_a_dimension_is_deleted_and_made_anew(both):
    for path in both:
        make(path)
        with h5py.File(path, "r+") as f:
            del f["unused"]
            f.create_dataset("unused", (9,), ">f4").make_scale(
                "This is a netCDF dimension but not a netCDF variable.         9")
            f["unused"].attrs["_Netcdf4Dimid"] = np.int32(3)
    assert same(both)[0]["unused"] == (9, False)
    for path in both:
        with h5py.File(path, "r+") as f:
            del f["unused"]
    assert "unused" not in same(both)[0]


def test_other_programs_change_the_store(both):
    """The length of an array counts more than that of a record, a node more than a record."""
    path = both[1]
    make(path)
    group = zarr.open_group(path, mode="r+")
    group["g/w"].resize((3, 5, 4, 2))
    group.create_array("unused", shape=(3,), dtype="i4")
    with h5py.File(path, "r") as f:
        assert f["g/k"].shape == (5,) and f["g/w"].dims[1][0] == f["g/k"]
        assert f["unused"].dtype == "i4" and not f["unused"].is_scale


@pytest.mark.parametrize("record", [
    {"band": 3}, {"band": {"length": -1, "attributes": {}}}, {"band": {"length": 2**64 - 1}},
    {"../out": {"length": 2, "attributes": {}}, "a/b": {"length": 2, "attributes": {}}},
    {"": {"length": 1, "attributes": {}}, "..": {"length": 1, "attributes": {}}}, [], "text",
    {".": {"length": 1, "attributes": {}}, "zero": {"length": 2, "attributes": []}},
])
def test_records_that_nobody_could_have_written_are_not_shown(tmp_path, record):
    path = tmp_path / "r.zarr"
    zarr.open_group(str(path), mode="w", zarr_format=3, attributes={
        "_hdf5": json.dumps({"version": 1, "dimensions": record})})
    with h5py.File(path, "r") as f:
        assert list(f) == []


def test_xarray_round_trip(tmp_path):
    """Unlimited dimensions, dimensions without coordinates, strings, times, coordinates with two
    dimensions, groups, appending."""
    path = str(tmp_path / "x.zarr")
    made = xarray.Dataset(
        {"t": (("time", "y"), np.arange(6.0).reshape(2, 3)),
         "n": (("y",), np.array(["a", "b", "ö"], object))},
        {"time": np.array(["2020-01-01", "2020-02-03"], "M8[ns]"),
         "lab": (("y", "z"), np.ones((3, 2)))})
    made.to_netcdf(path, engine="h5netcdf", unlimited_dims=["time"])
    part = made.rename(t="tt")[["tt"]]
    part.to_netcdf(path, mode="a", engine="h5netcdf", group="sub")
    with h5netcdf.File(path, "a") as f:
        f.resize_dimension("time", 3)
        f["t"][2] = 7
    with xarray.open_dataset(path, engine="h5netcdf") as got:
        assert got.encoding["unlimited_dims"] == {"time"} and got.sizes == {"time": 3, "y": 3,
                                                                            "z": 2}
        xarray.testing.assert_identical(got.isel(time=slice(2)).load(), made)
        assert (got["t"][2] == 7).all()
    with xarray.open_dataset(path, engine="h5netcdf", group="sub") as got:
        # later versions of h5netcdf resize what inherits the dimension, too
        xarray.testing.assert_identical(got.isel(time=slice(2)).load(), part)
    with xarray.open_zarr(path, consolidated=False) as got:
        assert got["t"].dims == ("time", "y") and "y" not in got.variables


CDL = """
netcdf t {
dimensions: time = UNLIMITED ; x = 3 ; unused = 2 ;
variables: float v(time, x) ; v:units = "m" ; v:_FillValue = -1.f ; double x(x) ; string s(x) ; char c(x) ;
           v:_ChunkSizes = 1, 3 ; v:_DeflateLevel = 4 ; v:_Shuffle = "true" ;
:title = "T" ; :list = 1s, 2s ;
data: v = 1,2,3,4,5,6 ; x = 0.5, 1, 2 ; s = "a", "bb", "" ; c = "abc" ;
group: g { dimensions: y = 2 ; variables: int w(y, x) ; byte y(y) ; data: w = 1,2,3,4,5,6 ; y = 1, 2 ; }
}
"""


@pytest.mark.parametrize("program", ["ncgen", "nccopy"])
def test_programs_of_netcdf_write_stores(tmp_path, monkeypatch, program):
    """They open no directory, so that what they have written is compared by the tools of HDF5, and, on the way back,
    by ncdump."""
    # h5diff takes the length of strings that fill their type by strlen, also in HDF5's own files
    monkeypatch.setenv("ASAN_OPTIONS", os.environ.get("ASAN_OPTIONS", "") + ":intercept_strlen=0")
    missing = [name for name in ("ncgen", "nccopy", "ncdump") if not shutil.which(name)]
    if missing:
        pytest.skip(f"netcdf-bin is not installed: no {', '.join(missing)}")
    (tmp_path / "t.cdl").write_text(CDL)
    source, native, store, again, back = (
        tmp_path / name for name in ("t.nc", "x.nc", "x.zarr", "again.nc", "back.nc"))
    tool("ncgen", "-4", "-o", source, tmp_path / "t.cdl", connector=None)
    for path in (native, store):
        command = ["ncgen", "-4", "-o", path, tmp_path / "t.cdl"]
        tool(*(command if program == "ncgen" else ["nccopy", "-4", source, path]), connector="zarr")
    assert native.is_file() and arrays(store) == [".", "c", "g", "g/w", "g/y", "s", "v", "x"]
    tool("h5repack", native, again)
    tool("h5repack", store, back, connector="zarr")
    assert tool("h5diff", native, store, connector="zarr") == tool("h5diff", native, again)
    told = [tool("ncdump", "-n", "t", "-s", path, connector=None) for path in (again, back)]
    assert told[0] == told[1] and "v:_DeflateLevel = 4" in told[0]
    array = zarr.open_array(f"{store}/v", mode="r")
    assert array.metadata.dimension_names == ("time", "x") and array[:].tolist() == [[1, 2, 3], [4, 5, 6]]


def test_a_coordinate_of_several_dimensions_serves_groups_below(tmp_path):
    if not shutil.which("ncgen"):
        pytest.skip("netcdf-bin is not installed: no ncgen")
    (tmp_path / "t.cdl").write_text("""netcdf t {
        dimensions: x = 2 ; y = 3 ; variables: float x(x, y) ; group: g { variables: int w(y, x) ; } }""")
    found = []
    for name in ("a.nc", "a.zarr"):
        tool("ncgen", "-4", "-o", tmp_path / name, tmp_path / "t.cdl", connector="zarr")
        with h5py.File(tmp_path / name, "r") as f:
            f.visit(found.append)
            found.append([[scale.name for scale in dim.values()] for dim in f["g/w"].dims])
    assert found == 2 * ["g", "g/w", "x", "y", [["/y"], ["/x"]]]


def test_dimensions_of_a_sibling_group(both, tmp_path):
    """netCDF finds them by their numbers; datasets for them beside the variable would be dimensions of their own."""
    if not shutil.which("ncgen"):
        pytest.skip("netcdf-bin is not installed: no ncgen")
    back = tmp_path / "back.nc"
    (tmp_path / "s.cdl").write_text("""netcdf s {
        group: a { dimensions: d1 = 1 ; d2 = 2 ; variables: double d2(d2) ; data: d2 = 0.5, 1.5 ; }
        group: b { variables: int v(/a/d1, /a/d2) ; data: v = 1, 2 ; } }""")
    tool("ncgen", "-4", "-o", both[0], tmp_path / "s.cdl", connector=None)
    tool("h5repack", both[0], both[1], connector="zarr")
    tool("h5repack", both[1], back, connector="zarr")
    texts = [tool("ncdump", "-n", "s", path, connector=None) for path in (both[0], back)]
    assert texts[0] == texts[1] and "int v(/a/d1, /a/d2)" in texts[0]


@pytest.mark.parametrize("scale", ["s/x", "g/below/x", "gone"])
def test_a_scale_that_netcdf_does_not_find_takes_no_dimension_away(tmp_path, scale):
    """netCDF looks for the dimensions of a variable in its group and in those above."""
    path = tmp_path / "a.zarr"
    with h5py.File(path, "w") as f:
        place = "g/below/x" if scale == "gone" else scale
        f["g/d"] = np.arange(3)
        f[place] = [1.0, 2.0, 3.0]
        f[place].make_scale()
        f["g/d"].dims[0].attach_scale(f[place])
    if scale == "gone":
        shutil.rmtree(path / place)
    assert zarr.open_array(path / "g" / "d", mode="r").metadata.dimension_names == ("x",)
    run_python("""
import sys, h5netcdf
with h5netcdf.File(sys.argv[1], "r") as f:
    assert f["g"].dimensions["x"].size == 3
    assert sys.argv[2] == "gone" or f["g/d"].dimensions == ("x",)
""", path, scale, connector="zarr netcdf_dimensions=1")
