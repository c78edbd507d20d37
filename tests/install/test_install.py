# SPDX-License-Identifier: MIT
"""Installs into scratch folders and uses what is there: by pkg-config and find_package, from a
folder that was moved, and the plugins in the places that HDF5 and GDAL name themselves."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr

BUILD = os.environ["ZARRBRIDGE_BUILD_DIR"]
CONSUMER = Path(__file__).parent / "consumer"
# What CTest says about the build tree must not help.
ENVIRONMENT = {k: v for k, v in os.environ.items()
               if k not in ("HDF5_PLUGIN_PATH", "GDAL_DRIVER_PATH", "DESTDIR")}


def run(*command, **environment):
    done = subprocess.run([str(word) for word in command], env={**ENVIRONMENT, **environment},
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A sharded array of 12 x 10 ones and twos, whose sum is 180."""
    path = tmp_path_factory.mktemp("store") / "x.zarr"
    array = zarr.create_array(store=str(path), name="t", shape=(12, 10), dtype="f8",
                              chunks=(3, 5), shards=(6, 10))
    array[...] = np.repeat([1, 2], 60).reshape(12, 10)
    return str(path)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """The core alone, in a folder that is not where it was installed."""
    folder = tmp_path_factory.mktemp("prefix")
    run("cmake", "--install", BUILD, "--prefix", folder / "first", "--component", "core")
    os.rename(folder / "first", folder / "moved")
    return folder / "moved"


def test_by_pkg_config(prefix, store, tmp_path):
    where = next(prefix.rglob("zarrbridge.pc")).parent
    flags = run("pkg-config", "--cflags", "--libs", "zarrbridge", PKG_CONFIG_PATH=str(where))
    run("cc", CONSUMER / "consumer.c", "-o", tmp_path / "consumer", *flags.split())
    library = next(prefix.rglob("libzarrbridge.so")).parent
    assert run(tmp_path / "consumer", store, "t", LD_LIBRARY_PATH=str(library)) == "180\n"
    assert run("pkg-config", "--modversion", "zarrbridge", PKG_CONFIG_PATH=str(where)) == "0.1.0\n"


def test_texts_of_the_program(prefix):
    names = run(prefix / "bin/zarrbridge", "help", "--names").split()
    pages = {path.name for path in (prefix / "share/man/man1").iterdir()}
    assert pages == {"zarrbridge.1", *(f"zarrbridge-{name}.1" for name in names)}
    for shell, place in (("bash", "bash-completion/completions/zarrbridge"), ("zsh", "zsh/site-functions/_zarrbridge"),
                         ("fish", "fish/vendor_completions.d/zarrbridge.fish")):
        assert (prefix / "share" / place).read_text() == run(prefix / "bin/zarrbridge", "completion", shell)


def test_other_types_are_converted(prefix, tmp_path):
    """The program adds up doubles, whatever the store has; what has no sum is told."""
    where = next(prefix.rglob("zarrbridge.pc")).parent
    flags = run("pkg-config", "--cflags", "--libs", "zarrbridge", PKG_CONFIG_PATH=str(where))
    run("cc", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers", CONSUMER / "consumer.c", "-o",
        tmp_path / "consumer", *flags.split())
    library = str(next(prefix.rglob("libzarrbridge.so")).parent)
    group = zarr.open_group(tmp_path / "x.zarr", mode="w")
    for dtype in ("i2", "u1", "f4", "bool"):
        group.create_array(dtype, shape=(7, 3), chunks=(2, 2), dtype=dtype)[...] = np.ones((7, 3), dtype)
        assert run(tmp_path / "consumer", tmp_path / "x.zarr", dtype, LD_LIBRARY_PATH=library) == "21\n"
    group.create_array("c", shape=(2,), dtype="c16")
    for node, words in (("", "a group has no sum"), ("c", "complex128")):
        done = subprocess.run([tmp_path / "consumer", tmp_path / "x.zarr", node], capture_output=True, text=True,
                              env={**ENVIRONMENT, "LD_LIBRARY_PATH": library}, check=False)
        assert done.returncode == 1 and words in done.stderr, done.stderr


def test_by_find_package(prefix, store, tmp_path):
    run("cmake", "-S", CONSUMER, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path)
    assert run(tmp_path / "consumer", store, "t") == "180\n"
    assert run(tmp_path / "consumer-cpp", store) == "opened\n"


def test_urls_open_from_a_moved_folder(prefix):
    """The program finds the library that speaks to hosts; nobody listens at the port of this one."""
    if not list(prefix.rglob("libzarrbridge_remote.so")):
        pytest.skip("this build is without libcurl")
    done = subprocess.run([prefix / "bin/zarrbridge", "ls", "http://127.0.0.1:9/x.zarr"],
                          env={**ENVIRONMENT, "ZARRBRIDGE_REMOTE_TRIES": "1", "no_proxy": "*"},
                          capture_output=True, text=True, check=False)
    assert "after 1 try" in done.stdout + done.stderr


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """The whole, installed as a package builder does it: below DESTDIR."""
    folder = tmp_path_factory.mktemp("root")
    run("cmake", "--install", BUILD, DESTDIR=str(folder))
    return folder


def test_hdf5_plugin_is_where_hdf5_looks(root, store):
    """The folder is what HDF5 says when it is asked for its first one."""
    code = "import h5py; print(h5py.h5pl.get(0).decode())"
    place = Path(run(sys.executable, "-c", code).strip())
    folder = root / place.relative_to("/")
    assert [file.name for file in folder.iterdir()] == ["libhdf5_vol_zarr.so"]
    listing = run("h5ls", "--vol-name=zarr", "-r", store, HDF5_PLUGIN_PATH=str(folder))
    assert listing.split() == ["/", "Group", "/t", "Dataset", "{12,", "10}"]


def test_gdal_plugin_is_where_gdal_looks(root, store):
    place = Path(run("gdal-config", "--plugindir").strip())
    folder = root / place.relative_to("/")
    assert [file.name for file in folder.iterdir()] == ["gdal_Zarr3.so"]
    told = run("gdalinfo", store, GDAL_DRIVER_PATH=str(folder))
    assert "Driver: Zarr3/" in told and "Size is 10, 12" in told
