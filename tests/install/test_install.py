# SPDX-License-Identifier: MIT
"""Installs into scratch folders and uses what is there: by pkg-config and find_package, from a
folder that was moved, the plugins in the places that HDF5 and GDAL name themselves, and without root in a
folder of one's own. Removes it."""

import os
import re
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


def own_folder(folder):
    """Installs the whole into a folder of one's own. Returns what the program said, and the variables in that."""
    said = run("cmake", "--install", BUILD, "--prefix", folder)
    return said, dict(re.findall(r"export (\w+)=(\S+)$", said, re.M))


def test_without_root_all_is_in_the_folder_and_the_variables_are_told(store, tmp_path):
    said, variables = own_folder(tmp_path / "z")
    places = re.findall(r"^-- (?:Installing|Up-to-date): (\S+)$", said, re.M)
    assert len(places) > 50 and all(place.startswith(f"{tmp_path}/z/") for place in places)
    assert set(variables) == {"HDF5_PLUGIN_PATH", "GDAL_DRIVER_PATH"}
    assert all(len(os.listdir(folder)) == 1 for folder in variables.values())
    assert "Dataset {12, 10}" in run("h5ls", "--vol-name=zarr", "-r", store, **variables)
    assert "Driver: Zarr3/" in run("gdalinfo", store, **variables)
    documents = tmp_path / "z/share/doc/zarrbridge"
    assert {"LICENSE", "README.md", "CHANGELOG.md"} <= set(os.listdir(documents))
    # Pages whose links lead to each other.
    assert (documents / re.search(r"\]\((docs/[^)#]+\.md)", (documents / "README.md").read_text())[1]).is_file()


def test_urls_open_from_the_plugin_in_ones_own_folder(tmp_path):
    """The connector finds the library that speaks to hosts; nobody listens at the port of this one."""
    _, variables = own_folder(tmp_path / "z")
    if not list((tmp_path / "z").rglob("libzarrbridge_remote.so")):
        pytest.skip("this build is without libcurl")
    done = subprocess.run([sys.executable, "-c", "import h5py; h5py.File('http://127.0.0.1:9/x.zarr')"],
                          env={**ENVIRONMENT, **variables, "HDF5_VOL_CONNECTOR": "zarr",
                               "ZARRBRIDGE_REMOTE_TRIES": "1", "no_proxy": "*"},
                          capture_output=True, text=True, check=False)
    assert "after 1 try" in done.stdout + done.stderr


def test_uninstall_leaves_what_is_others(tmp_path):
    """A build of its own: the list of files is in the build folder, and other tests install from that one."""
    run("cmake", "-S", os.environ["ZARRBRIDGE_SOURCE_DIR"], "-B", tmp_path / "build",
        *(f"-DZARRBRIDGE_BUILD_{part}=OFF" for part in ("CORE", "HDF5_VOL", "GDAL_DRIVER", "TESTS", "BENCH")))
    prefix = tmp_path / "z"
    other = prefix / "share/doc/zarrbridge/docs/mine.md"
    other.parent.mkdir(parents=True)
    other.touch()
    run("cmake", "--install", tmp_path / "build", "--prefix", prefix)
    assert len(list(prefix.rglob("*.md"))) > 5
    run("cmake", "--build", tmp_path / "build", "--target", "uninstall")
    assert [path for path in prefix.rglob("*") if path.is_file()] == [other]
    assert "Nothing" in run("cmake", "--build", tmp_path / "build", "--target", "uninstall")


@pytest.mark.parametrize("choice,prefix,is_own", [("auto", "/usr/local", False), ("auto", "/opt/z", True),
                                                  ("system", "/opt/z", False), ("prefix", "/usr", True)])
def test_where_plugins_go(choice, prefix, is_own, tmp_path):
    """The script that decides, by itself."""
    source = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])
    values = {"system_folder": "/system", "ZARRBRIDGE_INSTALL_PLUGINS": choice, "CMAKE_INSTALL_LIBDIR": "lib",
              "library": "hdf5", "variable": "V"}
    script = tmp_path / "place.cmake"
    script.write_text(re.sub(r"@(\w+)@", lambda name: values[name[1]],
                             (source / "cmake/PluginPlace.cmake.in").read_text())
                      + 'message("${zarrbridge_plugin_folder}")')
    done = subprocess.run(["cmake", f"-DCMAKE_INSTALL_PREFIX={prefix}", "-P", script],
                          check=True, capture_output=True, text=True)
    assert done.stderr.strip() == (f"{prefix}/lib/zarrbridge/hdf5"[1:] if is_own else "system")
