# SPDX-License-Identifier: MIT
"""netCDF-C 4.10.1, which the wheel of netCDF4 carries, opens stores by the lines that `zarrbridge netcdf --setup`
writes: without a door, and without an environment variable. The wheel is installed once, under build/packages; without
a package index these tests are skipped and say so."""

import ctypes
import errno
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import zarr

import forked
from venvs import venv

sys.path.append(os.environ["ZARRBRIDGE_SOURCE_DIR"] + "/tests/remote")
from simserver import SimServer  # noqa: E402

BUILD = os.environ["ZARRBRIDGE_BUILD_DIR"]
PROGRAM = os.environ["ZARRBRIDGE_PROGRAM"]
CONNECTOR = f"{BUILD}/hdf5-vol/plugins/libhdf5_vol_zarr.so"
DATA = np.arange(6 * 8 * 10, dtype="f4").reshape(6, 8, 10)

# All that netCDF tells of a file, but for what says how it is stored.
DUMP = r"""
import sys, netCDF4
def text(value):
    return value if isinstance(value, str) else [v.tolist() if hasattr(v, "tolist") else v for v in (value,)][0]
def dump(group):
    out = {"attributes": {name: text(group.getncattr(name)) for name in group.ncattrs()},
           "dimensions": {name: len(d) for name, d in group.dimensions.items()}, "variables": {},
           "groups": {name: dump(member) for name, member in group.groups.items()}}
    for name, v in group.variables.items():
        v.set_auto_mask(False)
        out["variables"][name] = [str(v.dtype), v.dimensions, v.chunking(), v[...].tolist(),
                                  {name: text(v.getncattr(name)) for name in v.ncattrs()}]
    return out
"""


@pytest.fixture(scope="module")
def python():
    found = venv("netcdf", "netCDF4==1.7.5.1", system=True)
    assert forked.run("import netCDF4; print(netCDF4.__netcdf4libversion__)", python=found).stdout == "4.10.1\n"
    return found


@pytest.fixture
def run(python, tmp_path):
    """Runs lines in the Python with the wheel, by a .ncrc that leads to the connector. The last line is the error."""
    subprocess.run([PROGRAM, "netcdf", "--setup", "--library", CONNECTOR], check=True, capture_output=True,
                   env=os.environ | {"NCRCENV_HOME": str(tmp_path)})
    clean = {k: v for k, v in os.environ.items() if not k.startswith("HDF5_")} | {"NCRCENV_HOME": str(tmp_path)}

    def run(code, *arguments, **variables):
        done = forked.run("import sys, json, netCDF4\n" + code, *map(str, arguments), python=python,
                          env=clean | variables, cwd=tmp_path)
        return (done.stdout if done.returncode == 0 else done.stderr.strip().splitlines()[-1]).strip()
    return run


def write(path):
    root = zarr.open_group(str(path), mode="w", zarr_format=3, attributes={"title": "stores"})
    for name, data, dimensions in (("t", DATA, ("time", "y", "x")), ("x", np.arange(10.0), ("x",)),
                                   ("deep/n", np.arange(5), ("k",))):
        array = root.create_array(name, shape=data.shape, dtype=data.dtype, dimension_names=dimensions,
                                  chunks=(1, 4, 5)[-data.ndim:], shards=(3, 8, 10) if data.ndim == 3 else None,
                                  attributes={"units": "K"})
        array[...] = data
    return path


def test_values_and_groups(run, tmp_path):
    store = write(tmp_path / "x.zarr")
    told = json.loads(run(DUMP + "print(json.dumps(dump(netCDF4.Dataset(sys.argv[1]))))", store / "zarr.json"))
    assert told["variables"]["t"] == ["float32", ["time", "y", "x"], [1, 4, 5], DATA.tolist(), {"units": "K"}]
    assert told["dimensions"] == {"time": 6, "y": 8, "x": 10} and told["attributes"] == {"title": "stores"}
    assert told["groups"]["deep"]["variables"]["n"][3] == list(range(5))
    assert run("print(netCDF4.Dataset(sys.argv[1])['n'][3])", store / "deep/zarr.json") == "3"


def test_the_dump_is_that_of_the_door(run, tmp_path):
    store = write(tmp_path / "x.zarr")
    subprocess.run([PROGRAM, "door", store], check=True, capture_output=True)
    code = DUMP + "print(json.dumps(dump(netCDF4.Dataset(sys.argv[1]))))"
    by_door = run(code, tmp_path / "x.nc", HDF5_VOL_CONNECTOR="zarr", HDF5_PLUGIN_PATH=os.path.dirname(CONNECTOR))
    assert run(code, store / "zarr.json") == by_door and '"variables"' in by_door


def test_append(run, tmp_path):
    store = write(tmp_path / "x.zarr")
    assert run("""
with netCDF4.Dataset(sys.argv[1], "a") as d:
    d["t"][0, 0] = 99; d.createVariable("new", "i4", ("y",))[:] = range(8); d.history = "appended"
""", store / "zarr.json") == ""
    root = zarr.open_group(str(store), mode="r")
    assert (root["t"][0, 0] == 99).all() and (root["t"][1:] == DATA[1:]).all()
    assert root["new"][:].tolist() == list(range(8)) and root.attrs["history"] == "appended"
    assert root["new"].metadata.dimension_names == ("y",)


def test_new_store(run, tmp_path):
    assert run("""
with netCDF4.Dataset(f"file://{sys.argv[1]}#mode=enhanced,udf0", "w") as d:
    d.createDimension("time", None); d.createVariable("v", "f8", ("time",))[:] = [1, 2, 3]
""", tmp_path / "new.zarr") == ""
    assert zarr.open_array(str(tmp_path / "new.zarr/v"), mode="r")[:].tolist() == [1, 2, 3]


def test_archive(run, tmp_path):
    with zarr.storage.ZipStore(tmp_path / "x.zarr.zip", mode="w") as store:
        root = zarr.create_group(store, zarr_format=3)
        root.create_array("v", shape=(3,), dtype="i4", chunks=(3,))[:] = [4, 5, 6]
    assert run("print(netCDF4.Dataset(sys.argv[1])['v'][:].tolist())", tmp_path / "x.zarr.zip") == "[4, 5, 6]"


def test_url(run, tmp_path):
    root = zarr.open_group(str(write(tmp_path / "x.zarr")))
    zarr.consolidate_metadata(root.store)
    with SimServer(tmp_path) as server:
        urls = [f"{server.url}/x.zarr/zarr.json#mode={mode}" for mode in ("bytes", "enhanced,udf0")]
        said = run("for name in sys.argv[1:]: print(netCDF4.Dataset(name)['t'][1, 2, 3])", *urls)
    assert said.split() == [str(DATA[1, 2, 3])] * 2


def test_what_is_no_store_is_refused_as_ever(run, tmp_path):
    store = write(tmp_path / "x.zarr")
    (tmp_path / "other.json").write_text('{"zarr_format": 3, "node_type": "group"}')
    (tmp_path / "none").mkdir()
    (tmp_path / "none/zarr.json").write_text('{"some": "thing"}')
    (store / "notes.json").write_text('{"some": "thing", "more": 1}')
    (tmp_path / "x.zip").write_bytes(b"PK\5\6" + bytes(18))
    names = ["other.json", "none/zarr.json", "x.zarr/notes.json", "x.zip", "x.zarr", "y.zarr/zarr.json"]
    said = run("""
for name in sys.argv[1:]:
    try: netCDF4.Dataset(name)
    except OSError as error: print(error.errno)
""", *names).split()
    assert said[:4] == ["-51"] * 4 and int(said[4]) in (-51, errno.EINVAL)  # netCDF looks for a file, not a directory
    assert said[5:] == [str(errno.ENOENT)]


def test_other_files_never_see_the_connector(run, tmp_path):
    assert run("""
store = netCDF4.Dataset("x.zarr/zarr.json")
with netCDF4.Dataset("y.zarr", "w") as d: d.createDimension("x", 3)
with netCDF4.Dataset("y.zarr") as d: print(len(d.dimensions["x"]))
with netCDF4.Dataset("c.nc", "w", format="NETCDF3_CLASSIC") as d: d.title = "classic"
print(netCDF4.Dataset("c.nc").title, store.title)
""", write(tmp_path / "x.zarr")) == "3\nclassic stores"
    assert (tmp_path / "y.zarr").read_bytes()[:4] == b"\211HDF"


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_variable_brings_options(run, tmp_path, when):
    """If HDF5 has started with it; one that is set later changes nothing."""
    option, code = "zarr netcdf_dimensions=0", "d = netCDF4.Dataset('x.zarr/zarr.json'); print(d['t'].dimensions[0])"
    write(tmp_path / "x.zarr")
    variables = {"HDF5_PLUGIN_PATH": os.path.dirname(CONNECTOR)}
    if when == "before":
        assert run(code, HDF5_VOL_CONNECTOR=option, **variables).startswith("phony_dim")
    else:
        assert run(f"import os; os.environ['HDF5_VOL_CONNECTOR'] = 'zarr'; {code}", **variables) == "time"


def test_a_library_that_is_no_netcdf_gets_nothing(capfd):
    """ctypes calls by a library without netCDF's table."""
    function = ctypes.CDLL(CONNECTOR).zarrbridge_netcdf
    function.restype = ctypes.c_void_p
    assert function() is None
    assert "no shared libnetcdf" in capfd.readouterr().err
