# SPDX-License-Identifier: MIT
"""`import zarrbridge` with the system's h5py and xarray, and the connector of this build: what opens as a store, and
that nothing else changes. Each program is a process of its own, since HDF5 reads its variables once."""
import functools
import http.server
import os
import subprocess
import sys
import threading

import pytest

pytest.importorskip("h5py")

WRITE = """
with h5py.File("x.zarr", "w") as file: file["t"] = [1.5, 2.5]
assert h5py.File("x.zarr")["t"][1] == 2.5
"""


def run(script, folder, *arguments, python=sys.executable, **variables):
    environment = {**os.environ, **variables}
    environment.pop("HDF5_VOL_CONNECTOR", None)
    environment.update(variables)
    done = subprocess.run([python, "-c", script, *map(str, arguments)], cwd=folder, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_import_loads_nothing(tmp_path):
    """What Python has not loaded itself: neither the libraries nor the modules that are slow to import."""
    loaded = run("import sys; before = set(sys.modules); import zarrbridge; print(*sorted(set(sys.modules) - before))",
                 tmp_path)
    assert loaded.split() == ["zarrbridge", "zarrbridge._hooks", "zarrbridge._places"]


def test_doors_are_followed(tmp_path):
    """And a small file that is none stays what it is."""
    run("import zarrbridge, h5py" + WRITE, tmp_path)
    subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], "door", "x.zarr"], cwd=tmp_path, check=True)
    run("""
import zarrbridge, h5py
with h5py.File("small.h5", "w") as file: file["t"] = 7
assert h5py.File("x.nc")["t"][1] == 2.5 and h5py.File("small.h5")["t"][()] == 7
""", tmp_path)


@pytest.mark.parametrize("imports", ["import zarrbridge, h5py", "import h5py, zarrbridge"])
def test_either_order(tmp_path, imports):
    run(imports + WRITE, tmp_path)
    assert (tmp_path / "x.zarr/zarr.json").is_file()


def test_without_the_import_it_is_a_file(tmp_path):
    run("import h5py" + WRITE, tmp_path)
    assert (tmp_path / "x.zarr").is_file()


def test_other_files_have_nothing_of_it(tmp_path):
    """Not even the connector is loaded, and a file that is missing does not load it, before or after a store was open:
    a package with a plugin of its own keeps it out of HDF5's search."""
    plugin, = os.listdir(os.environ["HDF5_PLUGIN_PATH"])
    (tmp_path / "own").mkdir()
    os.symlink(os.path.join(os.environ["HDF5_PLUGIN_PATH"], plugin), tmp_path / "own" / plugin)
    run("""
import zarrbridge, zarrbridge._places, h5py
zarrbridge._places.HDF5_PLUGINS = "own"
paths = [h5py.h5pl.get(i) for i in range(h5py.h5pl.size())]
with h5py.File("x.h5", "w") as file: file["t"] = 1
assert h5py.File("x.h5", "a")["t"][()] == 1
try: h5py.File("missing.h5")
except FileNotFoundError: pass
h5py.File("x.h5", "w", driver="core").close()
assert "libhdf5_vol_zarr" not in open("/proc/self/maps").read()
h5py.File("y.zarr", "w").close()
assert "libhdf5_vol_zarr" in open("/proc/self/maps").read()
assert paths == [h5py.h5pl.get(i) for i in range(h5py.h5pl.size())]
""", tmp_path, HDF5_PLUGIN_PATH="/nowhere")


# Names and modes, for an empty folder with a store old.zarr, an HDF5 file file.zarr and an empty file empty.zarr.
CREATED = [("a.zarr", "w"), ("a.zarr/", "w"), ("a.zarr", "a"), ("a.zarr", "x"), ("a.h5", "w"), ("a.h5", "a"),
           ("a.zarr.h5", "w"), ("zarr", "w"), ("a.zarr.zip", "w"), ("a.ozx", "w"), ("a.zip", "w"),
           ("a.Zarr", "w"), ("a.ZARR.ZIP", "w"),
           ("old.zarr/sub", "w"), ("old.zarr/new/sub", "a"), ("old.zarr", "w"), ("old.zarr", "a"), ("old.zarr", "x"),
           ("file.zarr", "a"), ("file.zarr", "w"), ("empty.zarr", "w"), ("folder/a.h5", "w"), ("folder/a.zarr", "w")]
OUTCOMES = """
import h5py, os, shutil, sys
for name, mode in %r:
    shutil.rmtree("t", ignore_errors=True)
    os.makedirs("t/folder")
    os.chdir("t")
    shutil.copytree("../old.zarr", "old.zarr")
    shutil.copy("../file.h5", "file.zarr")
    open("empty.zarr", "w").close()
    try:
        with h5py.File(name, mode) as file: file["t"] = 1
        path = name.rstrip("/")
        said = "store" if os.path.isdir(path) or path.lower().endswith((".zarr.zip", ".ozx")) and \\
            open(path, "rb").read(2) == b"PK" else "file"
    except Exception as error:
        said = type(error).__name__
    print(name, mode, said)
    os.chdir("..")
"""


def test_the_rule_of_names_is_the_connectors(tmp_path):
    """What becomes a store after the import is what the connector, set by its variable, makes one."""
    run("import zarrbridge, h5py\nh5py.File('old.zarr', 'w').close()\n"
        "with h5py.File('file.h5', 'w') as file: file['a'] = 1", tmp_path)
    script = OUTCOMES % CREATED
    expected = run(script, tmp_path, HDF5_VOL_CONNECTOR="zarr").splitlines()
    assert run("import zarrbridge\n" + script, tmp_path).splitlines() == expected
    assert {line.split()[-1] for line in expected} >= {"store", "file", "FileExistsError"}


@pytest.mark.parametrize("name, is_store", [
    ("https://host/x.zarr", True), ("HTTPS://host/x.zarr/group/t", True), ("s3://bucket/a/x.zarr.zip", True),
    ("az://container/x.ozx", True), ("https://host/a/zarr.json", True), ("https://host/x.zarr?key=1#anon=1", True),
    ("https://host/x.Zarr", True), ("https://host/x.h5", False), ("https://host.zarr/x", False), ("https://host/x.h5?name=.zarr", False),
    ("zarr:https://host/x", True), ("/directory/zarr:https:/host/x", True), ("a-zarr:b.h5", False),
    ("zarr:file.h5", False)])
def test_which_urls_are_stores(name, is_store):
    """As docs/hdf5.md tells of the connector."""
    from zarrbridge import _names

    assert _names.is_store(name, "r") == is_store


def test_options(tmp_path):
    run("""
import zarrbridge, h5py, json
with h5py.File("x.zarr", "w", driver="zarr", shards=(8, 8), chunks="2x2", native_compat=True) as file:
    file.create_dataset("t", shape=(16, 16), dtype="f4")
grid = json.load(open("x.zarr/t/zarr.json"))["chunk_grid"]
assert grid["configuration"]["chunk_shape"] == [8, 8], grid
for wrong in ({"shardz": 1}, {"chunks": "a b"}, {"chunks": "8x8;sync=none"}):
    try: h5py.File("y.zarr", "w", driver="zarr", **wrong)
    except (OSError, ValueError) as error: assert next(iter(wrong)) in str(error), error
    else: assert False, wrong
with h5py.File("any.name", "w", driver="zarr", store="all") as file: file["t"] = 1
""", tmp_path)
    assert (tmp_path / "any.name/zarr.json").is_file()


def test_bytes_and_paths(tmp_path):
    run("""
import zarrbridge, h5py, pathlib
h5py.File(pathlib.Path("a.zarr"), "w").close()
h5py.File(b"b.zarr", "w").close()
h5py.File(pathlib.Path("a.zarr/zarr.json"), "r+")["t"] = 1
assert list(h5py.File("a.zarr")) == ["t"]
""", tmp_path)
    assert (tmp_path / "b.zarr").is_dir()


def test_url(tmp_path):
    run("import zarrbridge, h5py" + WRITE, tmp_path)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=tmp_path))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        run("import zarrbridge, h5py, sys\nassert h5py.File(sys.argv[1])['t'][1] == 2.5", tmp_path,
            f"http://127.0.0.1:{server.server_port}/x.zarr")
    finally:
        server.shutdown()
        server.server_close()


def test_disable_and_enable(tmp_path):
    run("""
import zarrbridge, h5py, os
zarrbridge.export_env()
zarrbridge.disable()
zarrbridge.disable()
assert "zarr" not in h5py.registered_drivers() and "HDF5_VOL_CONNECTOR" not in os.environ
h5py.File("a.zarr", "w").close()
assert os.path.isfile("a.zarr")
zarrbridge.enable()
zarrbridge.enable()
assert "zarr" in h5py.registered_drivers()
h5py.File("b.zarr", "w").close()
assert os.path.isdir("b.zarr")
""", tmp_path)


def test_child_processes(tmp_path):
    """export_env() keeps the folders that are there."""
    run("""
import os, subprocess, sys, zarrbridge
before = os.environ["HDF5_PLUGIN_PATH"]
print(zarrbridge.export_env())
assert os.environ["HDF5_PLUGIN_PATH"].endswith(before)
subprocess.run([sys.executable, "-c", "import h5py" + sys.argv[1]], check=True)
""", tmp_path, WRITE)
    assert (tmp_path / "x.zarr").is_dir()


def test_a_package_that_cannot_be_served_is_imported_all_the_same(tmp_path):
    (tmp_path / "h5py.py").write_text("answer = 42\n")
    said = run("import sys; sys.path.insert(0, ''); import zarrbridge, h5py; print(h5py.answer, h5py.__spec__.loader)",
               tmp_path)
    assert "42 <_frozen_importlib_external.SourceFileLoader" in said and "RuntimeWarning" in said


def test_enable_in_an_environment(tmp_path):
    """Only a person writes the file, and removes it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", tmp_path / "venv"],
                   check=True)
    python = str(tmp_path / "venv/bin/python")
    module = "import runpy, sys; sys.argv = ['zarrbridge', sys.argv[1]]; runpy.run_module('zarrbridge', run_name='__main__')"
    for command, kind in (("enable", "is_dir"), ("disable", "is_file")):
        run(module, tmp_path, command, python=python)
        run("import h5py, sys\nh5py.File(sys.argv[1], 'w').close()", tmp_path, f"{command}.zarr", python=python)
        assert getattr(tmp_path / f"{command}.zarr", kind)(), command


def test_the_program_is_that_on_path(tmp_path):
    """Where the package has none of its own; scripts are left out, since one of them may be what has led here."""
    for name in ("script", "program"):
        (tmp_path / name).mkdir()
    script = tmp_path / "script/zarrbridge"
    script.write_text(f"#!/bin/sh\nexec {sys.executable} -m zarrbridge \"$@\"\n")
    script.chmod(0o755)
    module = [sys.executable, "-m", "zarrbridge", "--version"]

    def path(*names):
        return {**os.environ, "PATH": os.pathsep.join(str(tmp_path / name) for name in names)}

    done = subprocess.run(module, env=path("script", "program"), stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1 and "on PATH" in done.stderr
    os.symlink(os.environ["ZARRBRIDGE_PROGRAM"], tmp_path / "program/zarrbridge")
    done = subprocess.run(module, env=path("script", "program"), stdout=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith("zarrbridge ")


def test_xarray(tmp_path):
    pytest.importorskip("h5netcdf")
    run("""
import h5py, zarrbridge, numpy, xarray
from zarrbridge.xarray import ZarrbridgeBackendEntrypoint as engine
with h5py.File("x.zarr", "w") as file:
    file["t"] = numpy.arange(6.0).reshape(2, 3)
    for i, name in enumerate("yx"): file["t"].dims[i].label = name
    file.create_group("below")["u"] = numpy.arange(3)
data = xarray.open_dataset("x.zarr", engine=engine)
assert data.t.dims == ("y", "x") and data.t[1, 2] == 5, data
assert xarray.open_dataset("x.zarr", engine=engine, group="below").u[2] == 2
tree = engine().open_groups_as_dict("x.zarr")
assert tree["/below"].u[1] == 1 and tree["/"].t[0, 1] == 1
""", tmp_path)
