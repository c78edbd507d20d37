"""The accessor of zarrbridge.xarray with the system's xarray and h5netcdf and the newest Dask: what several processes
append or write into regions is what zarr-python and xarray's own engine read."""
import os
import subprocess

import pytest
import venvs

for module in "h5py", "zarr", "xarray", "h5netcdf":
    pytest.importorskip(module)

HEAD = """
import os, subprocess, sys
import numpy as np, pandas as pd, xarray as xr
import zarrbridge.xarray

def dataset(first, days, value=None):
    time = pd.date_range("2020-01-01", periods=first + days)[first:]
    values = np.arange(first, first + days)[:, None] * 100 + np.arange(6)
    return xr.Dataset({"t": (("time", "x"), values / 4)}, {"time": time, "x": np.arange(6) * 10})

def make(first=0, days=3):
    encoding = {"t": {"dtype": "i2", "scale_factor": 0.25, "_FillValue": -1, "chunksizes": (4, 3)},
                "time": {"units": "days since 2020-01-01", "dtype": "i4"}}
    dataset(first, days).to_netcdf("x.zarr", engine="h5netcdf", unlimited_dims=["time"], encoding=encoding)

def stored():
    return xr.open_dataset("x.zarr", engine="zarr", consolidated=False).load()

def fails(words, act):
    try:
        act()
    except (ValueError, OSError) as error:
        assert words in str(error), error
    else:
        raise AssertionError("no error: " + words)
"""


@pytest.fixture(scope="module")
def python():
    return venvs.venv("dask", "dask[array]", "distributed", system=True)


def run(python, body, folder):
    (folder / "main.py").write_text(HEAD + body)
    done = subprocess.run([python, "main.py"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=300, env={**os.environ, "HDF5_VOL_CONNECTOR": "zarr"}, check=False)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_append(python, tmp_path):
    """Of what is in memory, and of Dask's blocks, with the encodings of the store."""
    run(python, """
make()
assert dataset(3, 2).zarrbridge.append("x.zarr", "time") == 3
assert dataset(5, 4).chunk(time=1, x=4).zarrbridge.append("x.zarr", "time") == 5
later = dataset(9, 3).chunk(time=2).zarrbridge.append("x.zarr", "time", compute=False)
assert np.isnan(stored().t[9:]).all() and stored().sizes["time"] == 12
later.compute()
xr.testing.assert_equal(stored(), dataset(0, 12))
import zarr
array = zarr.open_array("x.zarr/t")
assert array.dtype == "i2" and array.attrs["scale_factor"] == 0.25
""", tmp_path)


def test_several_programs_append(python, tmp_path):
    """Each gets a place of its own, the same for data and time."""
    run(python, """
if len(sys.argv) == 1:
    make()
    others = [subprocess.Popen([sys.executable, "main.py", str(i)]) for i in range(4)]
    assert [other.wait() for other in others] == [0] * 4
    found = stored()
    assert found.sizes["time"] == 3 + 4 * 5 * 2
    xr.testing.assert_equal(found.sortby("time"), dataset(0, 43))
else:
    for turn in range(5):
        dataset(3 + (int(sys.argv[1]) * 5 + turn) * 2, 2).zarrbridge.append("x.zarr", "time")
""", tmp_path)


def test_regions(python, tmp_path):
    """By slices and by labels, also by processes whose blocks share chunks."""
    run(python, """
import dask
if __name__ == "__main__":
    make(days=12)
    new = dataset(0, 12)
    new["t"] += 1
    part = new.isel(time=slice(2, 5))
    part.zarrbridge.write_region("x.zarr", {"time": slice(2, 5)})
    wanted = dataset(0, 12)
    wanted.t[2:5] += 1
    xr.testing.assert_equal(stored(), wanted)
    new.isel(time=slice(5, 7), x=slice(1, 3)).zarrbridge.write_region("x.zarr")
    wanted.t[5:7, 1:3] += 1
    xr.testing.assert_equal(stored(), wanted)
    with dask.config.set(scheduler="processes", num_workers=2):
        new.chunk(time=5, x=2).zarrbridge.write_region("x.zarr", {"time": "auto"})
    xr.testing.assert_equal(stored(), new)
""", tmp_path)


def test_what_does_not_fit_is_refused(python, tmp_path):
    run(python, """
make()
more = dataset(3, 2)
append = lambda d: (lambda: d.zarrbridge.append("x.zarr", "time"))
fails("the store has time along time", append(more.drop_vars("time")))
fails("u is not in x.zarr/", append(more.assign(u=more.t)))
fails("has 5 along x", append(more.isel(x=slice(5))))
fails("x has none of the dimensions", append(more.assign_coords(x=np.arange(6))))
fails("dimensions ('x', 'time')", append(more.transpose("x", "time")))
hours = more.assign_coords(time=more.time + np.timedelta64(5, "h"))
fails("cannot be stored in 'days since 2020-01-01' as int32", append(hours))
fails("do not follow each other", lambda: more.zarrbridge.write_region("x.zarr"))
fails("does not have the 2 elements", lambda: more.zarrbridge.write_region("x.zarr", {"time": slice(0, 3)}))
fails("no dimension z", lambda: more.zarrbridge.write_region("x.zarr", {"z": slice(0, 3)}))
xr.testing.assert_equal(stored(), dataset(0, 3))
dataset(0, 3).to_netcdf("y.zarr", engine="h5netcdf")
fails("no dimension 0 that can grow", lambda: more.zarrbridge.append("y.zarr", "time"))
""", tmp_path)


def test_numbers_that_the_store_cannot_hold(python, tmp_path):
    """xarray packs and converts without a look at the range of the type."""
    run(python, """
make()
xr.Dataset({"n": (("time",), np.arange(3, dtype="i1"))}).to_netcdf("n.zarr", engine="h5netcdf", unlimited_dims=["time"])
for chunk in False, True:
    def append(values, path, name, dims):
        new = xr.Dataset({name: (dims, values)}) if name == "n" else dataset(3, 1).assign(t=(dims, values))
        new = new.chunk(time=1) if chunk else new
        return lambda: new.zarrbridge.append(path, "time")
    fails("n has 300, which the store cannot hold as int8", append([300], "n.zarr", "n", ("time",)))
    fails("n has -129.0", append([-129.0], "n.zarr", "n", ("time",)))
    fails("n has nan", append([np.nan], "n.zarr", "n", ("time",)))
    many = append(np.full((1, 6), 9e3), "x.zarr", "t", ("time", "x"))
    fails("t has 9000.0, which the store cannot hold as int16", many)
    append([-128.0], "n.zarr", "n", ("time",))()
    append(np.full((1, 6), np.nan), "x.zarr", "t", ("time", "x"))()
assert xr.open_dataset("n.zarr", engine="zarr", consolidated=False).n.values.tolist()[3] == -128
""", tmp_path)


def test_groups(python, tmp_path):
    run(python, """
dataset(0, 3).to_netcdf("x.zarr", engine="h5netcdf", unlimited_dims=["time"], group="a/b")
assert dataset(3, 1).zarrbridge.append("x.zarr", "time", group="a/b") == 3
found = xr.open_dataset("x.zarr", engine="zarr", consolidated=False, group="a/b")
xr.testing.assert_equal(found.load(), dataset(0, 4))
""", tmp_path)


def test_dimensions_without_labels(python, tmp_path):
    run(python, """
bare = dataset(0, 3).drop_vars(["time", "x"])
bare.to_netcdf("x.zarr", engine="h5netcdf", unlimited_dims=["time"])
assert dataset(3, 4).drop_vars(["time", "x"]).zarrbridge.append("x.zarr", "time") == 3
xr.testing.assert_equal(stored(), dataset(0, 7).drop_vars(["time", "x"]))
fails("no labels", lambda: bare.zarrbridge.write_region("x.zarr"))
(bare + 1).zarrbridge.write_region("x.zarr", {"time": slice(4, 7), "x": slice(None)})
wanted = dataset(0, 7).drop_vars(["time", "x"])
wanted.t[4:] = wanted.t[:3] + 1
xr.testing.assert_equal(stored(), wanted)
xr.testing.assert_equal(xr.open_dataset("x.zarr", engine="h5netcdf").load(), wanted)
""", tmp_path)
