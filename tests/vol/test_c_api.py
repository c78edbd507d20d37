# SPDX-License-Identifier: MIT
"""Runs the C programs c_api.c and c_write.c (built by CMake)."""

import pytest
from conftest import WAYS, build_dir, run


@pytest.mark.parametrize("connector", WAYS)
def test_c_program(tree, connector):
    done = run([build_dir() / "tests" / "vol" / "vol-c-api", tree], connector)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "11 test(s) run" in done.stderr + done.stdout


@pytest.mark.parametrize("connector, count", [(None, 1), ("zarr", 7)])
def test_c_program_that_writes(tmp_path, connector, count):
    done = run([build_dir() / "tests" / "vol" / "vol-c-write", tmp_path], connector)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{count} test(s) run" in done.stderr + done.stdout
