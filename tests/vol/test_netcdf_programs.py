# SPDX-License-Identifier: MIT
"""Programs of netCDF, on a native file and on a door: the same calls, the same answers, and a store that other Zarr
programs open."""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import zarr
from conftest import environment, put, run_python, tool

netCDF4 = pytest.importorskip("netCDF4")
xarray = pytest.importorskip("xarray")


def new_door(folder, name="door"):
    """A door to an empty store."""
    store = folder / f"{name}.zarr"
    zarr.open_group(store, mode="w", zarr_format=3)
    subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], "door", store, folder / f"{name}.nc"], check=True,
                   capture_output=True)
    return folder / f"{name}.nc"


@pytest.fixture
def both(tmp_path):
    """A file that is to be made, and a door."""
    if not shutil.which("ncdump"):
        pytest.skip("netcdf-bin is not installed: no ncdump")
    return tmp_path / "native.nc", new_door(tmp_path)


def dump(path):
    return tool("ncdump", "-n", "t", path, connector="zarr")


def same(paths):
    """What ncdump tells of both; xarray opens each group of the store."""
    texts = [dump(path) for path in paths]
    assert texts[1] == texts[0]
    store = paths[1].with_suffix(".zarr")
    for document in store.rglob("zarr.json"):
        if '"group"' in document.read_text():
            with xarray.open_zarr(document.parent, consolidated=False, decode_times=False) as opened:
                opened.load()
    return texts[0]


def array(paths, name):
    return zarr.open_array(paths[1].with_suffix(".zarr") / name, mode="r")


# ---- Unlimited dimensions ----

def test_variables_are_as_long_as_their_unlimited_dimension(both):
    """netCDF makes only those longer that it writes, and reads fill values behind the end of the others."""
    for path in both:
        with netCDF4.Dataset(path, "w") as f:
            for name, size in (("time", None), ("x", 2), ("n", None)):
                f.createDimension(name, size)
            f.createVariable("time", "f8", ("time",))[:] = [0, 1, 2]
            f.createVariable("some", "f4", ("time", "x"), fill_value=-1)[:2] = 5
            f.createVariable("never", "i4", ("x", "time"))
            group = f.createGroup("g")
            group.createVariable("words", str, ("time",))[1] = "one"
            group.createVariable("two", "u1", ("n", "time"))[3] = [1]
            f.sync()
            f["g/two"][0, 4] = 7
        with netCDF4.Dataset(path, "a") as f:
            f["never"][:, 5] = 3
            f.createVariable("new", "f4", ("n", "x"))
    text = same(both)
    assert "time = UNLIMITED ; // (6 currently)" in text
    assert [array(both, name).shape for name in ("time", "some", "never", "g/words", "g/two", "new")] == [
        (6,), (6, 2), (2, 6), (6,), (4, 6), (4, 2)]
    assert array(both, "some")[:].tolist() == 2 * [[5, 5]] + 4 * [[-1, -1]]
    assert not list((both[1].with_suffix(".zarr") / "new").glob("c*"))  # longer without a chunk


def test_lengths_that_a_kill_has_left_apart(both):
    """The next program of netCDF that writes goes on; one that only reads changes nothing."""
    for path in both:
        with netCDF4.Dataset(path, "w") as f:
            f.createDimension("time", None)
            f.createVariable("time", "f8", ("time",))[:] = [0, 1, 2]
            f.createVariable("v", "i4", ("time",), fill_value=9)[:] = [1, 2, 3]
    array_of = zarr.open_array(both[1].with_suffix(".zarr") / "v", mode="r+")
    array_of.resize((2,))
    with netCDF4.Dataset(both[1]) as f:
        assert f["v"].shape == (3,) and array(both, "v").shape == (2,)
    for path in both:
        with netCDF4.Dataset(path, "a") as f:
            f["v"][2] = 8
            f.title = "t"
    same(both)


def test_programs_that_are_not_netcdf_keep_their_lengths(tmp_path):
    """What h5py has resized is what it reads."""
    import h5py
    with h5py.File(tmp_path / "h.zarr", "w") as f:
        f.create_dataset("t", (3,), maxshape=(None,)).make_scale()
        f.create_dataset("v", (2,), maxshape=(None,)).dims[0].attach_scale(f["t"])
        f.flush()
        assert f["v"].shape == (2,)
    assert zarr.open_array(tmp_path / "h.zarr/v", mode="r").shape == (2,)


def test_a_loaded_netcdf_makes_no_program_netcdf(tmp_path):
    """As GDAL loads one. A program's close degree alone, which netCDF sets, too, tells nothing."""
    import h5py
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_fclose_degree(h5py.h5f.CLOSE_WEAK)
    with h5py.File(h5py.h5f.create(str(tmp_path / "h.zarr").encode(), fapl=access)) as f:
        f.create_dataset("t", (3,), maxshape=(None,)).make_scale()
        f.create_dataset("v", (2,), maxshape=(None,)).dims[0].attach_scale(f["t"])
    assert zarr.open_array(tmp_path / "h.zarr/v", mode="r").shape == (2,)


def test_transfer_lists_of_others_act_beside_netcdf(tmp_path):
    """Those of netCDF ask for nothing, and are not looked at. The store is open by both: what counts is who asks."""
    import h5py
    library = ctypes.CDLL(h5py.h5p.__file__)
    path = new_door(tmp_path)
    doubled = h5py.h5p.create(h5py.h5p.DATASET_XFER)
    assert library.H5Pset_data_transform(ctypes.c_int64(doubled.id), b"2*x") >= 0
    everything, values = h5py.h5s.ALL, np.arange(3, dtype="i4")
    with netCDF4.Dataset(path, "a") as ours:
        ours.createDimension("x", 3)
        ours.createVariable("v", "i4", ("x",))[:] = values
        ours.sync()
        with h5py.File(path.with_suffix(".zarr"), "r+") as theirs:
            read = np.empty(3, "i4")
            theirs["v"].id.read(everything, everything, read, dxpl=doubled)
            assert read.tolist() == [0, 2, 4]
            theirs["v"].id.write(everything, everything, values, dxpl=doubled)
        assert ours["v"][:].tolist() == [0, 2, 4]
        ours["v"][:] = values
    with h5py.File(path.with_suffix(".zarr"), "r") as theirs, netCDF4.Dataset(path) as ours:
        theirs["v"].id.read(everything, everything, read, dxpl=doubled)
        assert read.tolist() == [0, 2, 4] and ours["v"][:].tolist() == [0, 1, 2]


# ---- Two programs at once ----

OTHER = """
import sys, netCDF4
with netCDF4.Dataset(sys.argv[1], "a") as f:
    f["b"][3] = 14
    f.sync()
    f["b"][4] = 15
    f.createVariable("theirs", "i4", ("time", "x"))[1] = 7
    f.tb = 1
"""


def test_two_programs_add_to_different_variables(tmp_path):
    """Each lengthens what the other one writes, and knows an older length of it."""
    path = new_door(tmp_path)
    with netCDF4.Dataset(path, "w") as f:
        f.createDimension("time", None)
        f.createDimension("x", 2)
        for name in ("a", "b", "time"):
            f.createVariable(name, "i4", ("time",), fill_value=-1)[:] = [1, 2, 3]
    with netCDF4.Dataset(path, "a") as f:
        f["a"][3:7] = [4, 5, 6, 7]
        f.sync()
        f["a"][6] = 70
        run_python(OTHER, path, connector="zarr")
        f["b"][7] = 17
        f["a"][7] = 8
        f.createVariable("ours", "i4", ("time", "x"))[0] = 6
        f.ta = 1
    with netCDF4.Dataset(path) as f:
        assert f["a"][:].tolist() == [1, 2, 3, 4, 5, 6, 70, 8]
        assert f["b"][:].filled().tolist() == [1, 2, 3, 14, 15, -1, -1, 17]
        assert f["theirs"].dimensions == f["ours"].dimensions == ("time", "x") and (f.ta, f.tb) == (1, 1)
        assert {v.shape[0] for v in f.variables.values()} == {8}
        assert f["theirs"][1].tolist() == [7, 7] and f["ours"][0].tolist() == [6, 6]
    with netCDF4.Dataset(path, "a") as f:
        f.title = "what was made since the first one opened it is lengthened by the next one that writes"
    for name in ("a", "b", "ours", "theirs", "time"):
        assert zarr.open_array(path.with_suffix(".zarr") / name, mode="r").shape[0] == 8


ATTACH = """
import sys, h5py
with h5py.File(sys.argv[1], "r+") as f:
    f["c"].dims[0].attach_scale(f["x"])
    f["d"].dims[1].attach_scale(f["y"])
    f["a"].dims[0].detach_scale(f["x"])
    f["c"].dims[0].attach_scale(f["no"])
"""


def test_two_programs_attach_to_one_scale(tmp_path):
    """And to two dimensions of one dataset, and to a dimension without a variable."""
    import h5py
    path = tmp_path / "s.zarr"
    with h5py.File(path, "w") as f:
        for name in "xyabc":
            f[name] = [1, 2, 3]
        f["d"] = 3 * [[1, 2, 3]]
        for name in "xy":
            f[name].make_scale(name)
        f.create_dataset("no", (3,), ">f4").make_scale(
            "This is a netCDF dimension but not a netCDF variable.         3")
        for name in ("x", "no"):
            f["a"].dims[0].attach_scale(f[name])
    with h5py.File(path, "r+") as f:
        f["b"].dims[0].attach_scale(f["x"])
        f["d"].dims[0].attach_scale(f["x"])
        f["b"].dims[0].attach_scale(f["no"])
        run_python(ATTACH, path, connector="zarr")
    with h5py.File(path) as f:
        back = {name: sorted((f[one].name, dim) for one, dim in f[name].attrs["REFERENCE_LIST"])
                for name in ("x", "y", "no")}
        assert back == {"x": [("/b", 0), ("/c", 0), ("/d", 0)], "y": [("/d", 1)],
                        "no": [("/a", 0), ("/b", 0), ("/c", 0)]}
        assert [len(d) for d in f["d"].dims] == [1, 1] and f["d"].dims[0][0] == f["x"] and f["d"].dims[1][0] == f["y"]
        assert [[s.name for s in f[n].dims[0].values()] for n in "abc"] == [["/no"], ["/x", "/no"], ["/x", "/no"]]
    assert zarr.open_array(path / "d", mode="r").metadata.dimension_names == ("x", "y")


DEFINES = """
import sys, netCDF4
path, name, group, length, two = *sys.argv[1:4], int(sys.argv[4]), sys.argv[5] == "two"
with netCDF4.Dataset(path, "a") as f:
    print("open", flush=True)
    sys.stdin.readline()
    g = f.createGroup(group) if group else f
    g.createDimension(name, length)
    g.createVariable("of_" + name, "i4", (name, "x"))[:] = length
    if two:
        g.createVariable(name, "f8", (name, "y"))[:] = length
"""


def defining(path, *arguments):
    """A program that has opened the file, and goes on when its input ends."""
    started = subprocess.Popen([sys.executable, "-c", DEFINES, path, *map(str, arguments)], env=environment("zarr"),
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert started.stdout.readline() == "open\n"
    return started


@pytest.mark.parametrize("group", ["", "g"])
@pytest.mark.parametrize("kinds", ["one one", "two two", "one two", "two one"])
def test_two_programs_define_dimensions(tmp_path, kinds, group):
    """netCDF gives both one number, by which it finds the dimensions of variables."""
    path, (first, second) = new_door(tmp_path), kinds.split()
    with netCDF4.Dataset(path, "w") as f:
        f.createDimension("x", 2)
        f.createDimension("y", 3)
    programs = [defining(path, "p", "", 4, first), defining(path, "q", group, 7, second)]
    for program in programs:
        program.communicate("\n")
        assert program.returncode == 0

    def check():
        with netCDF4.Dataset(path) as f:
            at_q = f[group] if group else f
            lengths = {name: len(d) for name, d in {**f.dimensions, **at_q.dimensions}.items()}
            assert lengths | {"r": 5} == {"x": 2, "y": 3, "p": 4, "q": 7, "r": 5}
            for at, name, length, kind in ((f, "p", 4, first), (at_q, "q", 7, second)):
                v = at["of_" + name]
                assert v.dimensions == (name, "x") and v[:].tolist() == length * [2 * [length]]
                assert kind == "one" or (at[name].dimensions == (name, "y") and at[name].shape == (length, 3))

    check()
    store = path.with_suffix(".zarr")
    before = {p: p.read_bytes() for p in store.rglob("zarr.json")}
    check()
    assert before == {p: p.read_bytes() for p in store.rglob("zarr.json")}
    with netCDF4.Dataset(path, "a") as f:  # stores other numbers, and goes on behind them
        f.createDimension("r", 5)
        f.createVariable("of_r", "i4", ("r", "p"))[:] = 5
        f.createVariable("r", "i4", ("r", "x"))[:] = 5
    check()
    with netCDF4.Dataset(path) as f:
        assert f["of_r"].dimensions == ("r", "p") and f["r"].dimensions == ("r", "x")
    names = {p.parent.name: zarr.open_array(p.parent, mode="r").metadata.dimension_names
             for p in store.rglob("zarr.json") if '"array"' in p.read_text()}
    assert names["of_p"] == ("p", "x") and names["of_q"] == ("q", "x") and names["of_r"] == ("r", "p")


# ---- Other models and formats ----

def test_the_classic_model(both):
    """It is kept, and what it does not allow is refused in the words of a native file."""
    words = []
    for path in both:
        with netCDF4.Dataset(path, "w", format="NETCDF4_CLASSIC") as f:
            f.createDimension("time", None)
            f.createVariable("v", "f4", ("time",))[:] = [1, 2]
        with netCDF4.Dataset(path, "a") as f:
            assert f.data_model == "NETCDF4_CLASSIC"
            f["v"][2] = 3
            f.setncattr("late", "text")
            for act in (lambda: f.createGroup("g"), lambda: f.createDimension("t2", None)):
                with pytest.raises(RuntimeError) as refused:
                    act()
                words.append(str(refused.value))
    assert words[:2] == words[2:] and "strict nc3" in words[0]
    same(both)
    assert tool("ncdump", "-k", both[1], connector="zarr") == tool("ncdump", "-k", both[0], connector="zarr")


OLD_FORMAT = """
import sys, netCDF4
try:
    netCDF4.Dataset(sys.argv[1], "w", format=sys.argv[2])
except PermissionError:
    print("refused")
"""


@pytest.mark.parametrize("kind", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"])
def test_files_of_netcdf_3_over_a_door_are_refused(kind):
    """They ask no HDF5: that nobody may write the door keeps them from it. netCDF itself then removes what it could
    not write, as it does with a file; the store stays. Root may write, and is not asked here."""
    with tempfile.TemporaryDirectory() as folder:
        path, native = new_door(Path(folder)), Path(folder) / "native.nc"
        native.write_bytes(path.read_bytes())
        native.chmod(0o444)
        os.chmod(folder, 0o777)
        store = path.with_suffix(".zarr") / "zarr.json"
        before = store.read_bytes()
        for one in (native, path):
            done = subprocess.run([sys.executable, "-c", OLD_FORMAT, one, kind], text=True, capture_output=True,
                                  env=environment("zarr"), **({"user": 65534} if os.geteuid() == 0 else {}))
            assert done.stdout == "refused\n", done.stderr
        assert path.exists() == native.exists() and store.read_bytes() == before


def test_parallel_calls_say_why(tmp_path):
    """Of a netCDF without MPI, which is asked before any file is."""
    library = ctypes.CDLL(netCDF4._netCDF4.__file__)
    library.nc_strerror.restype = ctypes.c_char_p
    path, number = str(new_door(tmp_path)).encode(), ctypes.c_int()
    code = library.nc_open_par(path, 0, 0, 0, ctypes.byref(number))
    if code == 0:
        pytest.skip("this netCDF is built with MPI")
    assert b"Parallel operation" in library.nc_strerror(code)


# ---- Dimensions of one name ----

def test_a_group_has_a_dimension_called_as_one_above(both):
    """A variable below has that of above, made before its group had one, and there is no array of that name."""
    for path in both:
        with netCDF4.Dataset(path, "w") as f:
            f.createDimension("b", 5)
            group = f.createGroup("h")
            group.createVariable("v", "i4", ("b",))[:] = 1
            f.sync()
            group.createDimension("b", 3)
            group.createVariable("w", "i4", ("b",))[:] = 2
    text = dump(both[0])
    assert dump(both[1]) == text and "int v(/b)" in text and "int w(b)" in text


# ---- Stores that netCDF has not made ----

def foreign(folder, coordinates):
    """A store as zarr-python makes one, with a door, and a native copy of it."""
    root = zarr.open_group(folder / "door.zarr", mode="w", zarr_format=3, attributes={"title": "t"})
    put(root, "t", np.arange(24.).reshape(2, 3, 4), dimension_names=("time", "y", "x"), attributes={"units": "K"})
    put(root, "u", np.arange(6.).reshape(2, 3), dimension_names=("time", "y"))
    for name, size in (("time", 2), ("y", 3), ("x", 4)):
        if name in coordinates:
            put(root, name, np.arange(size) * 1.5, dimension_names=(name,))
    group = root.create_group("g")
    put(group, "w", np.arange(4.), dimension_names=("x",))
    put(group, "k", np.arange(12.).reshape(3, 4), dimension_names=("z", "x"))
    subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], "door", folder / "door.zarr", folder / "door.nc"], check=True,
                   capture_output=True)
    tool("nccopy", folder / "door.nc", folder / "native.nc", connector="zarr")
    return folder / "native.nc", folder / "door.nc"


def appended(path, change):
    with netCDF4.Dataset(path, "a") as f:
        change(f)


def new_variable(name, *dimensions):
    def change(f):
        f.createVariable(name, "i4", dimensions)[:] = 3
    return change


CHANGES = [
    [lambda f: f.renameDimension("x", "lon")],
    [lambda f: f.renameVariable("t", "temp"), lambda f: f.renameDimension("y", "lat")],
    [new_variable("n", "x", "y"), lambda f: f.renameDimension("x", "lon"), new_variable("m", "lon")],
    [lambda f: f.createDimension("more", 5), new_variable("x2", "x", "more")],
    [new_variable("z", "y")],
    [lambda f: f["u"].setncattr("a", 1), lambda f: f.delncattr("title"), lambda f: f["u"].renameAttribute("a", "b")],
]


@pytest.mark.parametrize("coordinates, number", [
    *(("time y x", i) for i in range(len(CHANGES))), ("time", 1), ("time", 2), ("", 0), ("", 3)])
def test_netcdf_changes_stores_of_others(tmp_path, coordinates, number):
    paths = foreign(tmp_path, coordinates.split())
    same(paths)
    for change in CHANGES[number]:
        for path in paths:
            appended(path, change)
        same(paths)


@pytest.mark.parametrize("words", [
    ["ncrename", "-h", "-O", "-d", "x,lon"], ["ncrename", "-h", "-O", "-v", "x,lon"],
    ["ncrename", "-h", "-O", "-d", "y,lat", "-v", "t,temp"], ["ncatted", "-h", "-a", "units,x,o,c,m"]], ids=" ".join)
def test_nco_changes_stores_of_others(tmp_path, words):
    if not shutil.which("ncrename"):
        pytest.skip("nco is not installed: no ncrename")
    paths = foreign(tmp_path, ("time", "y", "x"))
    for path in paths:
        tool(*words, path, connector="zarr", cwd=tmp_path)
    same(paths)


def dimensions_of(path):
    """The scales of each dataset by their names, and what the root's reference leads to."""
    import h5py
    told = {}
    with h5py.File(path, "r") as f:
        f.visititems(lambda name, node: told.__setitem__(
            name, [[s.name for s in d.values()] for d in node.dims]
            if isinstance(node, h5py.Dataset) and not node.is_scale else sorted(getattr(node, "keys", list)())))
        return told, f[f.attrs["ref"]].name if f.attrs["ref"] else None


MOVES = [("d", "e"), ("t", "g/tt"), ("e", "d"), ("g", "h"), ("d", "h/d"), ("h/d", "h/i/d"), ("h/tt", "t")]


def test_hdf5_moves_dimensions_without_a_variable(both):
    """Into other groups, too, and to a name that another one had: all that leads to them follows."""
    import h5py
    for path in both:
        with netCDF4.Dataset(path, "w") as f:
            f.createDimension("d", 3)
            f.createDimension("t", None)
            f.createVariable("v", "i4", ("d",))[:] = 1
            f.createGroup("g").createVariable("w", "i4", ("t", "d"))[:2] = 2
        with h5py.File(path, "r+") as f:
            f.create_group("g/i")
            f.attrs.create("ref", f["d"].ref, dtype=h5py.ref_dtype)
    for source, target in MOVES:
        for path in both:
            with h5py.File(path, "r+") as f:
                f.move(source, target)
                if source == "h/d":
                    f.move("h/tt", "d")
                    f.move("d", "h/tt")
        assert dimensions_of(both[1]) == dimensions_of(both[0])
    told, ref = dimensions_of(both[1])
    assert ref == "/h/i/d" and told["h/w"] == [["/t"], ["/h/i/d"]] and told["v"] == [["/h/i/d"]]
    assert array(both, "h/w").metadata.dimension_names == ("t", "d")
    assert zarr.open_array(both[1].with_suffix(".zarr") / "v", mode="r").metadata.dimension_names == ("d",)
    for path in both:
        with h5py.File(path, "r+") as f:
            f.move("h/i/d", "e")
    same(both)


def test_a_reference_to_a_deleted_dimension_is_null(both):
    """Whatever is made at its path later."""
    import h5py
    with netCDF4.Dataset(both[1], "w") as f:
        f.createDimension("d", 3)
        f.createVariable("v", "i4", ("d",))[:] = 1
    with h5py.File(both[1], "r+") as f:
        f.attrs.create("ref", f["d"].ref, dtype=h5py.ref_dtype)
        del f["d"]
        f["d"] = [1, 2]
        with pytest.raises(KeyError, match="doesn't exist"):
            f[f.attrs["ref"]]
    with h5py.File(both[1]) as f:
        assert not f.attrs["ref"] and len(f["v"].dims[0]) == 0


MOVED = """
import sys, h5py
with h5py.File(sys.argv[1], "r+") as f:
    f.move("x", "y2")
"""


def test_a_moved_dimension_of_names_alone(tmp_path):
    """What zarr-python has made: the arrays that name it are stated before it moves."""
    paths = foreign(tmp_path, ("time",))
    for path in paths:
        run_python(MOVED, path, connector="zarr netcdf_dimensions=1")
    assert "y2 = 4 ;" in same(paths)


KILLED = """
import os, sys, h5py
f = h5py.File(sys.argv[1], "r+")
f.move("d", "e")
os.kill(os.getpid(), 9)
"""


def test_a_killed_program_leaves_what_leads_to_a_moved_dimension(both):
    import h5py
    with netCDF4.Dataset(both[1], "w") as f:
        f.createDimension("d", 3)
        f.createVariable("v", "i4", ("d",))[:] = 1
    killed = subprocess.run([sys.executable, "-c", KILLED, both[1]], env=environment("zarr"))
    assert killed.returncode == -9
    with h5py.File(both[1]) as f:
        assert [s.name for s in f["v"].dims[0].values()] == ["/e"]
    same([both[1], both[1]])


def test_scales_of_names_are_detached_and_follow_moves(tmp_path):
    """h5py on what zarr-python has made: what names alone attach is among the references of a scale."""
    import h5py
    foreign(tmp_path, ("time", "y", "x"))
    store = tmp_path / "door.zarr"
    with h5py.File(store, "r+") as f:
        assert [(f[ref].name, dim) for ref, dim in f["x"].attrs["REFERENCE_LIST"]] == [("/g/w", 0), ("/t", 2)]
        assert "REFERENCE_LIST" not in list(f["x"].attrs)
        f["t"].dims[2].detach_scale(f["x"])
        assert [(f[ref].name, dim) for ref, dim in f["x"].attrs["REFERENCE_LIST"]] == [("/g/w", 0)]
        f.move("x", "lon")
        assert f["g/w"].dims[0][0] == f["lon"] and f["t"].dims[0][0] == f["time"]
        f["g/w"].dims[0].detach_scale(f["lon"])
        f["u"].dims[1].detach_scale(f["y"])
    with h5py.File(store, "r+") as f:
        assert "REFERENCE_LIST" not in f["lon"].attrs
        assert [(f[ref].name, dim) for ref, dim in f["y"].attrs["REFERENCE_LIST"]] == [("/t", 1)]
        assert h5py.h5ds.is_attached(f["t"].id, f["y"].id, 1)


# ---- Coordinates of two dimensions ----

@pytest.mark.parametrize("moved", ["a/w", "a/g"])
@pytest.mark.parametrize("target", ["b", "c"])
def test_what_moves_keeps_the_scales_of_its_names(tmp_path, moved, target):
    """Where its names lead to another array, or to none: HDF5's references go on to lead to the old one."""
    import h5py
    root = zarr.open_group(tmp_path / "m.zarr", mode="w", zarr_format=3)
    for group in ("a", "b", "c"):
        root.create_group(group)
    root["a"].create_group("g")
    for name, names in (("a/x", ("x",)), ("b/x", ("x",)), ("a/w", ("x",)), ("a/g/u", ("x",))):
        put(root, name, np.arange(3.), dimension_names=names)
    place = target + moved[1:]
    dataset = place + "/u" if moved == "a/g" else place
    for _ in range(2):
        with h5py.File(tmp_path / "m.zarr", "r+") as f:
            if moved in f:
                f.move(moved, place)
            assert f[dataset].dims[0][0] == f["a/x"]
            assert zarr.open_array(tmp_path / "m.zarr" / "a/x").shape == (3,)
    with h5py.File(tmp_path / "m.zarr", "r+") as f:
        f.move("b/x", "b/g2")
        f.move(dataset, moved + "2")
        assert f[moved + "2"].dims[0][0] == f["a/x"]


def test_coordinates_of_two_dimensions_have_names(both, tmp_path):
    """As FVCOM's siglay(siglay, node), and latitudes of curved grids: a scale has no scales itself."""
    def make(f):
        for name, size in (("siglay", 4), ("node", 6), ("t", None)):
            f.createDimension(name, size)
        for name, dimensions in (("siglay", ("siglay", "node")), ("v", ("siglay", "node")), ("node", ("siglay", "node"))):
            f.createVariable(name, "f4", dimensions)[:] = 1
        f.createGroup("g").createVariable("t", "f8", ("t", "node"))[2] = 3
        f["g"].createDimension("k", None)
        f["g"].createVariable("k", "f8", ("k", "t"))[1] = 3

    for path in both:
        with netCDF4.Dataset(path, "w") as f:
            make(f)
    same(both)
    names = {name: array(both, name).metadata.dimension_names for name in ("siglay", "v", "g/t", "g/k")}
    assert names == {"siglay": ("siglay", "node"), "v": ("siglay", "node"), "g/t": ("t", "node"), "g/k": ("k", "t")}
    assert array(both, "g/k").shape == (2, 3)
    for path in both:
        appended(path, lambda f: f.renameDimension("node", "n"))
    same(both)
    assert array(both, "siglay").metadata.dimension_names == ("siglay", "n")
    for name, words in (("a.zarr", ["h5repack"]), ("b.zarr", ["nccopy", "-4"])):
        tool(*words, both[0], tmp_path / name, connector="zarr")
        with xarray.open_zarr(tmp_path / name, consolidated=False) as opened:
            assert opened["siglay"].dims == ("siglay", "n")
