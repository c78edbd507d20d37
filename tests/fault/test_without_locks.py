# SPDX-License-Identifier: MIT
"""New stores where no locks can be had: through h5py what is new and whole is stored, and changes are refused; GDAL
would have to change what it has made.

The results are read through zarr-python.
"""
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import zarr

SHIM = os.path.join(os.environ["ZARRBRIDGE_BUILD_DIR"], "tests", "fault", "libzb-fault-shim.so")
needs_h5py = pytest.mark.skipif("ZARRBRIDGE_TEST_H5PY" not in os.environ, reason="built without the connector")
needs_gdal = pytest.mark.skipif("ZARRBRIDGE_TEST_GDAL" not in os.environ, reason="built without the driver")


def run(place, code, error="ENOLCK", **more):
    """Runs a program whose `path` is that of a store on a file system without locks."""
    preloaded = " ".join(filter(None, [os.environ.get("LD_PRELOAD"), SHIM]))  # behind a sanitizer's runtime
    environment = {**os.environ, "HDF5_VOL_CONNECTOR": "zarr", "LD_PRELOAD": preloaded, "ZB_SHIM_ROOT": str(place),
                   "ZB_SHIM_LOCKS": error, "ZARRBRIDGE_LOCKS": "node", **more}
    head = f"import numpy as np\npath = {str(place / 's.zarr')!r}\n"
    done = subprocess.run([sys.executable, "-c", head + textwrap.dedent(code)], env=environment, text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


MAKE = """
    import h5py
    with h5py.File(path, "w") as f:
        f.create_dataset("a", data=np.arange(64).reshape(8, 8), chunks=(4, 8))
        b = f.create_dataset("g/h/b", shape=(8, 8), dtype="f4", chunks=(4, 4), compression="gzip", fillvalue=3)
        b[:4] = 2
        f.create_group("x/y")
    """


@needs_h5py
def test_new_files_hold_whole_chunks(tmp_path):
    run(tmp_path, MAKE, "ENOTSUPP")
    group = zarr.open_group(tmp_path / "s.zarr", mode="r")
    np.testing.assert_array_equal(group["a"][:], np.arange(64).reshape(8, 8))
    np.testing.assert_array_equal(group["g/h/b"][:], np.repeat([2, 3], 4)[:, None] + np.zeros(8))
    assert isinstance(group["x/y"], zarr.Group)
    assert not list(tmp_path.rglob(".*"))


@needs_h5py
def test_what_is_there_does_not_change(tmp_path):
    run(tmp_path, MAKE)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    refused = run(tmp_path, """
        import h5py
        def refused(fn, *args):
            try:
                fn(*args)
            except Exception as error:
                return "ZARRBRIDGE_LOCKS=none" in str(error)
        def in_file(fn, mode="r+"):
            with h5py.File(path, mode) as f:
                fn(f)
        def part(f):
            f["a"][0, 0] = 1
        print(refused(in_file, lambda f: f.attrs.__setitem__("k", 1)),
              refused(in_file, lambda f: f["a"].make_scale("q")),
              refused(in_file, lambda f: f.__delitem__("a")),
              refused(in_file, lambda f: f.move("a", "c")),
              refused(in_file, part),
              refused(in_file, lambda f: None, "w"))
        """)
    assert refused.split() == ["True"] * 6
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@needs_h5py
def test_who_is_alone_may_change_all(tmp_path):
    run(tmp_path, MAKE, ZARRBRIDGE_LOCKS="none")
    run(tmp_path, """
        import h5py
        with h5py.File(path, "r+") as f:
            f["a"][0, 0] = 9
            f["a"].make_scale("q")
            del f["g"]
        """, ZARRBRIDGE_LOCKS="none")
    group = zarr.open_group(tmp_path / "s.zarr", mode="r")
    assert group["a"][0, 0] == 9 and "g" not in group


@needs_gdal
def test_gdal_says_what_to_do_and_leaves_nothing(tmp_path):
    code = """
        from osgeo import gdal
        gdal.UseExceptions()
        source = gdal.GetDriverByName("MEM").Create("", 8, 8)
        try:
            gdal.Translate(path, source, format="Zarr3").Close()
        except RuntimeError as error:
            print(error)
        """
    assert "ZARRBRIDGE_LOCKS=none" in run(tmp_path, code)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert run(tmp_path, code, ZARRBRIDGE_LOCKS="none") == ""
    assert isinstance(zarr.open_group(tmp_path / "s.zarr", mode="r"), zarr.Group)
