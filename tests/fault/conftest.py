# SPDX-License-Identifier: MIT
"""Lets the tests here import the modules of tests/actors."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "actors"))
