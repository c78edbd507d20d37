# SPDX-License-Identifier: MIT
"""The helpers that the connector's tests share: a store with a bit of everything, and running
programs."""

import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr

import forked

RAMP = (np.arange(512 * 512) % 30000).astype("i2").reshape(512, 512)
CUBE = (np.arange(6000) * 0.5).astype("f4").reshape(10, 20, 30)
NUMERIC = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")

ROOT_ATTRIBUTES = {
    "title": "hello wörld",
    "n": 42,
    "v": [1.5, 2.5, 3.5],
    "flag": True,
    "list": ["x", "yy", "zzz"],
}


def put(group, name, data, **options):
    """Writes an array into a group with zarr-python and returns it."""
    data = np.asarray(data)
    options.setdefault("chunks", data.shape)
    array = group.create_array(name, shape=data.shape, dtype=data.dtype, **options)
    array[...] = data
    return array


def numbers(dtype):
    """Ten values that each numeric type can hold, and that differ between types."""
    data = np.arange(10).astype(dtype)
    return data * (1 - 2j) if data.dtype.kind == "c" else data


def write_tree(path):
    """The store that most tests read; RAMP and CUBE are its larger arrays."""
    root = zarr.open_group(str(path), mode="w", zarr_format=3, attributes=ROOT_ATTRIBUTES)
    put(root, "a", RAMP, chunks=(64, 64), shards=(256, 256), fill_value=-5,
        compressors=zarr.codecs.GzipCodec(level=3), dimension_names=("yy", "xx"),
        attributes={"scale": 0.5, "units": "yy"})
    put(root, "c", np.arange(5) - 1j * np.arange(5))
    put(root, "e", np.array([0, 1, 0, 1], bool), chunks=(3,))
    group = root.create_group("g", attributes={"gn": 7})
    put(group, "b", CUBE, chunks=(5, 10, 30))
    put(group, "s", 3.25)
    put(group.create_group("sub"), "deep", np.arange(7, dtype="i4") * 10, chunks=(3,))
    types = root.create_group("types")
    for dtype in NUMERIC:
        put(types, dtype, numbers(dtype), chunks=(4,))
    nc = root.create_group("nc")
    put(nc, "x", np.linspace(0, 3, 4), dimension_names=("x",))
    put(nc, "y", np.arange(3, dtype="i4") * 10, dimension_names=("y",))
    put(nc, "v", (np.arange(12) * 0.5).astype("f4").reshape(3, 4), chunks=(3, 2),
        dimension_names=("y", "x"), attributes={"units": "K"})
    return path


OBJECTS = ["a", "c", "e", "g", "g/b", "g/s", "g/sub", "g/sub/deep", "nc", "nc/v", "nc/x", "nc/y",
           "types"] + sorted(f"types/{dtype}" for dtype in NUMERIC)
MEMBERS = sorted(name for name in OBJECTS if "/" not in name)


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """The path of the store that write_tree makes; no test changes it."""
    return str(write_tree(tmp_path_factory.mktemp("tree") / "z.zarr"))


@pytest.fixture
def new_store(tmp_path):
    """A function that makes a group store, with attributes, and returns (path, group)."""

    def make(name="new.zarr", **options):
        path = tmp_path / name
        return str(path), zarr.open_group(str(path), mode="w", zarr_format=3, **options)

    return make


# The value of HDF5_VOL_CONNECTOR with which this library finds a store: on 1.14 its plugin search
# does, on 2.x the connector stays out of that.
SEARCHES = h5py.version.hdf5_version_tuple < (2,)
FINDS = None if SEARCHES else "zarr"
WAYS = [None, "zarr"] if SEARCHES else ["zarr"]


def environment(connector=FINDS, plugins=True):
    """This process's environment with other HDF5 settings: plugins=False hides the connector."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("HDF5_")}
    env["HDF5_PLUGIN_PATH"] = os.environ["HDF5_PLUGIN_PATH"] if plugins else "/nonexistent"
    if connector and plugins:
        env["HDF5_VOL_CONNECTOR"] = connector
    return env


@pytest.fixture
def store(tmp_path):
    """The path of a store with an empty root."""
    path = tmp_path / "s.zarr"
    path.mkdir()
    (path / "zarr.json").write_text('{"zarr_format":3,"node_type":"group","attributes":{}}')
    return path


def run(command, connector=FINDS, plugins=True, cwd=None, timeout=1200):
    """Runs a program; returns the result of subprocess.run, with text output. The timeout is for
    programs that hang; a slow machine under sanitizers may take its time."""
    env = environment(connector, plugins)
    return subprocess.run([str(word) for word in command], env=env, cwd=cwd, timeout=timeout,
                          capture_output=True, text=True, check=False)


def output(done):
    """Of code that must succeed in silence."""
    assert done.returncode == 0 and not done.stderr, f"{done.returncode}\n{done.stderr}"
    return done.stdout


def run_python(code, *arguments, connector=FINDS, plugins=True, cwd=None, timeout=1200):
    """Runs code in a process of its own, forked from an interpreter in which HDF5 has never been started; returns its
    output."""
    return output(forked.run(code, *arguments, env=environment(connector, plugins), cwd=cwd, timeout=timeout))


def run_new_python(code, *arguments, python=sys.executable, **options):
    """The same in a new interpreter."""
    return output(run([python, "-W", "ignore", "-c", code, *arguments], **options))


def tool(*command, connector=FINDS, **options):
    """Runs an HDF5 tool that must succeed; returns its output."""
    done = run(command, connector=connector, **options)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def build_dir():
    return Path(os.environ["ZARRBRIDGE_BUILD_DIR"])
