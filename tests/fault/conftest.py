# SPDX-License-Identifier: MIT
"""Lets the tests here import the modules of tests/actors and tests/support."""
import pathlib
import sys

sys.path += [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("actors", "support")]
