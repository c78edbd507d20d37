# SPDX-License-Identifier: MIT
"""Runs the C programs c_api.c, c_write.c and others (built by CMake)."""

import os

import pytest
from conftest import WAYS, build_dir, run


@pytest.mark.parametrize("connector", WAYS)
def test_c_program(tree, connector):
    done = run([build_dir() / "tests" / "vol" / "vol-c-api", tree], connector)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "11 test(s) run" in done.stderr + done.stdout


@pytest.mark.parametrize("connector, count", [(None, 1), ("zarr", 9)])
def test_c_program_that_writes(tmp_path, connector, count):
    done = run([build_dir() / "tests" / "vol" / "vol-c-write", tmp_path], connector)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{count} test(s) run" in done.stderr + done.stdout


@pytest.mark.skipif("ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ,
                    reason="sanitizers have a malloc of their own")
def test_c_program_without_memory(tmp_path):
    done = run([build_dir() / "tests" / "vol" / "vol-c-memory", tmp_path], "zarr")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("program, count", [("attributes", 10), ("transfer", 12)])
def test_c_program_that_compares(tmp_path, program, count):
    """The program compares a store with an .h5 file."""
    done = run([build_dir() / "tests" / "vol" / f"vol-c-{program}", tmp_path], "zarr")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{count} test(s) run" in done.stderr + done.stdout
