# SPDX-License-Identifier: MIT
"""zarr-cli, as the community's conformance tests call it, on arrays that zarr-python wrote."""

import json
import os
import subprocess
import warnings

import numpy as np
import pytest
import zarr

warnings.filterwarnings("ignore")

ARRAYS = {
    "bool": np.arange(6).reshape(2, 3) % 2 == 0,
    "int32": np.arange(30, dtype="i4").reshape(5, 6) - 7,
    "int64": np.array([[2**63 - 1, -(2**63)], [0, 1]]),
    "uint64": np.array([2**64 - 1, 0], dtype="u8"),
    "float32": np.array([[[0.1], [-0.0]]], dtype="f4"),
    "float64": np.array([0.1, 1e300, 5e-324]),
    "scalar": np.array(513, dtype="i2"),
    "empty": np.empty((3, 0), dtype="i4"),
}


def zarr_cli(path):
    return subprocess.run([os.environ["ZARRBRIDGE_ZARR_CLI"], f"--array_path={path}"],
                          capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ARRAYS)
def test_prints_elements(tmp_path, name):
    values = ARRAYS[name]
    path = str(tmp_path / f"{name}.zarr")
    array = zarr.create_array(path, shape=values.shape, dtype=values.dtype,
                              chunks=tuple(max(n // 2, 1) for n in values.shape))
    array[...] = values
    done = zarr_cli(path)
    assert (done.returncode, done.stderr) == (0, "")
    got = [json.loads(line) for line in done.stdout.splitlines()]
    assert np.array_equal(np.array(got, dtype=values.dtype), values.ravel())


def test_prints_strings(tmp_path):
    path = str(tmp_path / "s.zarr")
    zarr.create_array(path, shape=(3,), chunks=(2,), dtype="str")[...] = ["a", "", "dé\"\n"]
    assert [json.loads(line) for line in zarr_cli(path).stdout.splitlines()] == [
        "a", "", "dé\"\n"]


def test_failures_are_told(tmp_path):
    zarr.create_group(str(tmp_path / "g.zarr"))
    for path, said in ((tmp_path / "g.zarr", "group"), (tmp_path / "none", "none")):
        done = zarr_cli(path)
        assert done.returncode == 1 and said in done.stderr and not done.stdout
