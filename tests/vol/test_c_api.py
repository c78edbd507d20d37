# SPDX-License-Identifier: MIT
"""Runs the C program c_api.c (built by CMake) on the tree."""

import pytest
from conftest import build_dir, run


@pytest.mark.parametrize("connector", [None, "zarr"])
def test_c_program(tree, connector):
    done = run([build_dir() / "tests" / "vol" / "vol-c-api", tree], connector)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "10 test(s) run" in done.stderr + done.stdout
