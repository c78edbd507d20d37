# SPDX-License-Identifier: MIT
"""With HDF5_VOL_CONNECTOR=zarr, other files behave as if the connector were not there."""

import re
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import run, run_new_python

WRITE = r"""
import sys, h5py, numpy as np
folder = sys.argv[1]
p = folder + "/n.h5"
f = h5py.File(p, "w")
f["x"] = np.arange(10)
f.create_dataset("ch", data=np.arange(10000.).reshape(100, 100), chunks=(10, 10), shuffle=True,
                 compression="gzip", fletcher32=True, maxshape=(None, 100))
f["ch"].resize((120, 100)); f["ch"][100:] = 7
f.create_dataset("vs", data=["a", "bb", "ccc"], dtype=h5py.string_dtype()); f["vs"][1] = "changed"
f.create_dataset("vl", (3,), dtype=h5py.vlen_dtype("i4")); f["vl"][0] = [1, 2, 3]
assert list(f["vl"][0]) == [1, 2, 3]
f.attrs["s"] = "text"; f.attrs["l"] = ["q", "w"]; f.attrs["r"] = f["x"].ref
f["x"].attrs.create("vv", data=["a", "b"], dtype=h5py.string_dtype())
f["x"].attrs.modify("vv", ["c", "d"]); f["x"].attrs["gone"] = 1; del f["x"].attrs["gone"]
f["x"].attrs["old"] = 1; f["x"].attrs.rename("old", "new") if hasattr(f.attrs, "rename") else None
f["T"] = np.dtype([("a", "i4"), ("b", "f8")])
f.create_dataset("td", (3,), dtype=f["T"]); assert f["td"].id.get_type().committed()
g = f.create_group("g/h/i"); g["soft"] = h5py.SoftLink("/x"); g["hard"] = f["x"]
f["ext"] = h5py.ExternalLink("other.h5", "/z")
assert g["soft"][3] == 3 and g["hard"][3] == 3
assert isinstance(f.get("ext", getlink=True), h5py.ExternalLink)
f.move("x", "y"); f["z"] = f["y"]; del f["z"]; f.copy("ch", "ch2"); f.copy(f["g"], "gg")
assert sorted(f) == ["T", "ch", "ch2", "ext", "g", "gg", "td", "vl", "vs", "y"]
names = []; f.visititems(lambda n, o: names.append(n)); assert "g/h/i" in names
o = h5py.File(folder + "/other.h5", "w"); o["z"] = 5; o.close(); assert f["ext"][()] == 5
f["rr"] = np.array([f["y"].ref, f["g"].ref], dtype=h5py.ref_dtype); assert f[f["rr"][1]] == f["g"]
region = f["ch"].regionref[0:2, 3:5]; assert f["ch"][region].size == 4; f.attrs["reg"] = region
f.create_dataset("obj", (2,), dtype=h5py.regionref_dtype); f["obj"][0] = region
assert f["ch"][f["obj"][0]].size == 4
f.flush(); f["ch"].flush(); f["ch"].refresh()
f["y"].make_scale("nm"); f["ch"].dims[1].label = "lab"
f.create_dataset("s100", data=np.arange(100)).make_scale("ss")
f["ch"].dims[1].attach_scale(f["s100"])
assert list(f["ch"].dims[1].keys()) == ["ss"]
assert f["ch"].id.get_num_chunks() == 120
f["ch"].id.get_chunk_info(3); f["ch"].id.read_direct_chunk((0, 0))
layout = h5py.VirtualLayout((2, 10), "i8"); layout[0] = h5py.VirtualSource(f["y"])
f.create_virtual_dataset("vd", layout, fillvalue=-1)
assert f["vd"][0, 3] == 3 and f["vd"][1, 3] == -1
assert f == f["/"].file and h5py.h5f.get_obj_count(f.id, h5py.h5f.OBJ_ALL) > 0
held = f["g"]; f.close(); assert not held
f = h5py.File(p, "r+"); assert f["ch"][110, 5] == 7 and f["vs"][1] == b"changed"
assert f[f.attrs["r"]].name == "/y"; f["new"] = 1; f.create_group("m")
o = h5py.File(folder + "/other.h5", "r"); assert o != f and o == o["/"].file
o.close(); f.close()
f = h5py.File(p, "a"); f.require_dataset("x9", (3,), "i4"); f.close()
h5py.File(folder + "/b.h5", "x").close()
f = h5py.File(folder + "/c.h5", "w", driver="core", backing_store=False); f["q"] = 1; f.close()
f = h5py.File(folder + "/lv.h5", "w", libver="latest", track_order=True, userblock_size=512)
f["q"] = np.arange(5); assert f.userblock_size == 512 and f.libver[0] != "earliest"; f.close()
f = h5py.File(folder + "/sw.h5", "w", libver="latest")
q = f.create_dataset("q", (5,), maxshape=(None,), chunks=(5,), dtype="f4"); f.swmr_mode = True
q.resize((6,)); q.flush(); r = h5py.File(folder + "/sw.h5", "r", libver="latest", swmr=True)
r["q"].refresh(); assert r["q"].shape == (6,); r.close(); f.close()
assert h5py.is_hdf5(p) and not h5py.is_hdf5(__file__ if "__file__" in globals() else sys.executable)
open(folder + "/junk", "wb").write(b"x" * 1000)
for name, error in (("junk", OSError), ("none.h5", FileNotFoundError)):
    try: h5py.File(folder + "/" + name, "r")
    except error: pass
    else: raise AssertionError(name)
keep = h5py.File(p); kept = keep["ch"]    # left open at exit
"""

BOTH = r"""
import sys, h5py, numpy as np
folder, store = sys.argv[1:]
z = h5py.File(store, "r")
f = h5py.File(folder + "/n.h5", "r+")
assert z["a"][1, 1] == 513 and f["y"][3] == 3
f["from_zarr"] = z["a"][:]; f.close()
assert z["g/b"][1, 1, 1] > 0 and z["a"][2, 2] == 1026
f = h5py.File(folder + "/cp.h5", "w")
z.copy("a", f); z.copy(z["g"], f, "gg"); z.copy("nc", f, shallow=True); z.copy("c", f, "bare",
       without_attrs=True)
assert np.array_equal(f["a"][:], z["a"][:]) and f["a"].attrs["units"] == "yy"
assert f["gg/sub/deep"][3] == 30 and f["gg"].attrs["gn"] == 7
assert f["nc/v"].dims[0][0] == f["nc/y"] and f["nc/x"].is_scale
f.create_group("top"); z.copy("/", f["top"], "all"); z.copy("g", f["top"], "flat", shallow=True)
assert sorted(f["top/all"]) == sorted(z) and list(f["top/flat/sub"]) == []
z.copy("a", f["top"], "noattr", without_attrs=True); assert not f["top/noattr"].attrs
f.close()
left = h5py.File(store)["a"]    # left open at exit
"""


def test_everything_that_h5py_does(tmp_path):
    run_new_python(WRITE, tmp_path, connector="zarr")
    with h5py.File(tmp_path / "n.h5", "r") as f:  # with the native connector, in this process
        assert f["vs"][1] == b"changed" and list(f["vl"][0]) == [1, 2, 3]
        assert f["ch"][110, 5] == 7 and f["ch"].compression == "gzip" and f["ext"][()] == 5


def test_both_kinds_in_one_process(tmp_path, tree):
    run_new_python(WRITE, tmp_path, connector="zarr")
    run_new_python(BOTH, tmp_path, tree, connector="zarr")
    with h5py.File(tmp_path / "n.h5", "r") as f:
        assert f["from_zarr"].shape == (512, 512)
    with h5py.File(tmp_path / "cp.h5", "r") as f:
        assert f["top/all/nc/v"].dims[1][0] == f["top/all/nc/x"]


def outcomes(text):
    """{test: outcome} of a verbose pytest run."""
    found = re.findall(r"^(\S+::\S+) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)", text, re.M)
    return dict(found)


def same_outcomes(python, tests, cwd):
    """Runs h5py's own suite without and with the connector. A test that differs is run again, both
    ways: one that depends on time or on the machine may, one that we break does so each time."""
    command = [python, "-m", "pytest", "-v", "-p", "no:cacheprovider", "--tb=no", *tests]
    without = outcomes(run(command, plugins=False, cwd=cwd).stdout)
    assert len(without) > 700
    with_us = outcomes(run(command, connector="zarr", cwd=cwd).stdout)
    differs = {test for test in without | with_us if without.get(test) != with_us.get(test)}
    for _ in range(2):
        if not differs:
            return
        print("again, as their outcomes differ:", sorted(differs))
        again = outcomes(run(command, plugins=False, cwd=cwd).stdout)
        with_us = outcomes(run(command, connector="zarr", cwd=cwd).stdout)
        differs = {test for test in differs if again.get(test) != with_us.get(test)}
    assert not differs


def test_h5pys_own_suite_gives_the_same_results(tmp_path):
    tests = Path(h5py.h5.__file__).parent / "tests"
    if not tests.is_dir():
        pytest.skip(f"h5py's tests are not installed in {tests}")
    same_outcomes(sys.executable, [tests], tmp_path)


def test_options_of_the_connector(tree):
    code = "import sys, h5py; f = h5py.File(sys.argv[1]); print(len(f), f['a'][1, 1])"
    assert run_new_python(code, tree, connector="zarr native_compat=1") == "6 513\n"
    assert run_new_python("import sys, h5py; print(h5py.File(sys.argv[1])['a'][1, 1])", tree,
                      connector="zarr native_compat=0") == "513\n"
    listing = "import sys, h5py; list(h5py.File(sys.argv[1]))"
    done = run([sys.executable, "-c", listing, tree], connector="zarr native_compat=0")
    assert done.returncode == 1 and "native" in done.stderr.lower()
    done = run(["h5ls", tree], connector="zarr natve_compat=1")
    assert done.returncode != 0
