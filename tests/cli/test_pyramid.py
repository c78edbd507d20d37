# SPDX-License-Identifier: MIT
"""`zarrbridge pyramid` on stores that zarr-python wrote: what it makes, refuses and leaves. (gdal_pyramids compares it
with gdaladdo.)"""

import os
import subprocess

import h5py
import numpy as np
import pytest
import zarr

VALUES = np.arange(40 * 60, dtype="i4").reshape(40, 60)


def run(*arguments):
    done = subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], "pyramid", *map(str, arguments)], capture_output=True,
                          text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr


def put(root, name, data, **options):
    array = root.create_array(name, shape=data.shape, dtype=data.dtype, **options)
    array[...] = data


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "x.zarr"
    put(zarr.create_group(store=str(path), zarr_format=3), "a", VALUES, chunks=(8, 8), shards=(16, 16),
        dimension_names=["y", "x"], attributes={"units": "m"})
    return path


def files(path):
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*")
            if file.is_file() and not file.name.endswith(".zb-lock")}


def test_levels(store):
    assert run(store / "a", "--factors", "2,4", "--method", "average") == (
        0, "", f"{store}/a has 2 levels: /ovr_2x/a, /ovr_4x/a\n")
    root = zarr.open_group(str(store), mode="r")
    half = root["ovr_2x/a"]
    assert half.shape == (20, 30) and half.dtype == "i4" and dict(half.attrs) == {"units": "m"}
    assert half.metadata.dimension_names == ("y", "x") and half.chunks == (8, 8) and half.shards == (16, 16)
    mean = VALUES.reshape(20, 2, 30, 2).mean(axis=(1, 3))
    assert (half[:] == np.floor(mean + 0.5)).all()
    layout = root.attrs["multiscales"]["layout"]
    assert [entry["asset"] for entry in layout] == ["a", "ovr_2x/a", "ovr_4x/a"]
    assert layout[2]["transform"] == {"scale": [4.0, 4.0], "translation": [1.5, 1.5]}
    # No side is longer than 256.
    assert run(store / "a") == (0, "", f"{store}/a has 2 levels: /ovr_2x/a, /ovr_4x/a\n")
    assert sorted(root.group_keys()) == ["ovr_2x", "ovr_4x"]
    assert run(store / "a", "--clean") == (0, "", "2 levels removed\n")
    assert "a has no levels: no side is longer" in run(store / "a")[2]


@pytest.mark.skipif("ZARRBRIDGE_TEST_H5PY" not in os.environ, reason="built without the connector")
def test_h5py_sees_the_levels(store):
    assert run(store / "a", "--factors", "2")[0] == 0
    with h5py.File(str(store)) as file:
        assert (file["ovr_2x/a"][:] == VALUES[::2, ::2]).all()


def test_clean_leaves_the_store_as_it_was(store):
    before = files(store)
    assert run(store / "a", "--min-size", "10")[0] == 0
    assert files(store) != before
    assert run("--clean", store / "a") == (0, "", "3 levels removed\n")
    assert files(store).keys() == before.keys()
    assert not dict(zarr.open_group(str(store), mode="r").attrs)
    assert run("--clean", store / "a") == (0, "", "0 levels removed\n")


def test_consolidated_metadata_stay_current(store):
    zarr.consolidate_metadata(str(store))
    assert run(store / "a", "--factors", "2")[0] == 0
    assert "ovr_2x/a" in zarr.open_consolidated(str(store)).metadata.consolidated_metadata.flattened_metadata


def test_a_second_array_of_the_group(store):
    root = zarr.open_group(str(store))
    put(root, "b", VALUES, chunks=(8, 8))
    assert run(store / "a", "--factors", "2")[0] == run(store / "b", "--factors", "2")[0] == 0
    assert sorted(root.group_keys()) == ["ovr_2x", "ovr_2x_b"]
    assert run(store / "a", "--clean")[0] == 0
    assert sorted(root.group_keys()) == ["ovr_2x_b"]
    assert (root["ovr_2x_b/b"][:] == VALUES[::2, ::2]).all()


def test_what_killed_processes_left_goes(store):
    """Names of groups in the making have the number of the process, which is no more."""
    left = store / "ovr_2x.999999999-0.zarr3-new"
    put(zarr.open_group(str(store)), "ovr_2x.999999999-0.zarr3-new/a", VALUES[:20, :30])
    assert left.exists()
    assert run(store / "a", "--clean")[0] == 0
    assert not left.exists()


def test_a_damaged_chunk_leaves_nothing(store):
    shard = store / "a" / "c" / "0" / "0"
    shard.write_bytes(b"damaged")
    before = files(store)
    status, _, message = run(store / "a", "--factors", "2", "--method", "average")
    assert status == 2 and "a" in message
    assert files(store) == before


@pytest.mark.parametrize("arguments, said", [
    ([], "takes 1 argument, and got 0"), (["a", "b"], "takes 1 argument, and got 2"), (["a", "--factors"], "--factors"),
    (["a", "--factors", "2,,4"], "--factors"), (["a", "--factors", "-2"], "--factors"),
    (["a", "--min-size", "0"], "--min-size"), (["a", "--method", "lanczos"], "gdaladdo -r lanczos"),
    (["a", "--method", "best"], "nearest, average and mode"), (["a", "--fast"], "unrecognized option '--fast'"),
    (["no.zarr/a"], "no.zarr")])
def test_wrong_arguments(tmp_path, arguments, said):
    status, printed, message = run(*arguments)
    assert status == 2 and said in message and printed == ""


def test_what_is_no_raster(store, tmp_path):
    root = zarr.open_group(str(store))
    put(root, "line", np.arange(9))
    assert "rows and columns" in run(store / "line", "--factors", "2")[2]
    assert "is a group" in run(store, "--factors", "2")[2]
    put(zarr.create_group(store=str(tmp_path / "old.zarr"), zarr_format=2), "a", VALUES)
    assert "zarrbridge copy" in run(tmp_path / "old.zarr" / "a", "--factors", "2")[2]


def test_archives_are_not_changed(store, tmp_path):
    archive = tmp_path / "x.zarr.zip"
    subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], "copy", store, archive], check=True, capture_output=True)
    before = archive.read_bytes()
    status, _, message = run(archive, "--factors", "2")
    assert status == 2 and message.startswith("zarrbridge: ")
    assert archive.read_bytes() == before
