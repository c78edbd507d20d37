# SPDX-License-Identifier: MIT
"""The binary interface of libzarrbridge is the one that packaging/abi/zarrbridge.txt lists."""

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])
LIBRARY = Path(os.environ["ZARRBRIDGE_BUILD_DIR"]) / "core/libzarrbridge.so"
LISTED = (SOURCE / "packaging/abi/zarrbridge.txt").read_text().splitlines()
CHANGED = ("the interface differs from packaging/abi/zarrbridge.txt. Programs that are compiled already would meet it: "
           "after a release that needs a new minor version. Then `packaging/abi/list LIBRARY core/include` makes the "
           "list anew")


def exported():
    told = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", LIBRARY],
                          check=True, capture_output=True, text=True).stdout
    return [line.split()[-1] for line in told.splitlines()]


def test_symbols():
    node = re.search(r"symbols (\S+)$", LISTED[0])[1]
    names = [re.search(r"(?:\*|[ ])(zb_\w+)\(", line)[1] for line in LISTED if re.match(r"[^:]*\(", line)]
    assert sorted(exported()) == sorted([node, *(f"{name}@@{node}" for name in names)]), CHANGED


def test_every_name_carries_the_minor_version():
    """The SONAME, the node of the symbols and the headers say the same."""
    numbers = dict(re.findall(r"define ZB_VERSION_(\w+) (\d+)$",
                              (SOURCE / "core/include/zarrbridge/version.h").read_text(), re.M))
    minor = f"{numbers['MAJOR']}.{numbers['MINOR']}"
    assert LISTED[0] == f"library libzarrbridge.so.{minor}, symbols ZARRBRIDGE_{minor}"
    dynamic = subprocess.run(["readelf", "-dW", LIBRARY], check=True, capture_output=True, text=True).stdout
    assert re.search(r"SONAME.*\[(.*)\]", dynamic)[1] == f"libzarrbridge.so.{minor}"
    assert f'define ZB_VERSION "{minor}.{numbers["PATCH"]}"' in \
        (SOURCE / "core/include/zarrbridge/version.h").read_text()


@pytest.mark.skipif(not shutil.which("abidw"), reason="there is no abidw (package abigail-tools)")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the list is that of x86-64")
def test_types():
    sections = subprocess.run(["readelf", "-SW", LIBRARY], check=True, capture_output=True, text=True).stdout
    if ".debug_info" not in sections:
        pytest.skip("this build has no debug information")
    now = subprocess.run([SOURCE / "packaging/abi/list", LIBRARY, SOURCE / "core/include"],
                         check=True, capture_output=True, text=True).stdout.splitlines()
    assert now == LISTED, CHANGED
