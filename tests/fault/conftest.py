# SPDX-License-Identifier: MIT
"""Lets the tests here use what all users of actors share."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "actors"))
