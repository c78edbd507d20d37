# SPDX-License-Identifier: MIT
"""The table of what the wheel is made of, and the page of licences, say the same."""
import os
import pathlib
import re
import subprocess
import sys
import tomllib

import pytest

ROOT = pathlib.Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])
sys.path.insert(0, str(ROOT / "packaging/wheel"))
import fetch  # noqa: E402
import libraries  # noqa: E402


def test_each_library_has_a_source_with_a_sum():
    sources = {source["name"]: source for source in fetch.sources()}
    assert set(libraries.LIBRARIES) <= set(sources)
    for source in sources.values():
        assert re.fullmatch("[0-9a-f]{64}", source["sha256"]) and source["kind"] in ("source", "deb", "crate", "pip")


def test_third_party_names_each_licence():
    page = (ROOT / "THIRD_PARTY.md").read_text()
    for source in fetch.sources():
        if source["licence"] != "-":
            name, version = re.split("==?", source["package"], maxsplit=1)
            assert f"| {name} | {version} | {source['licence']} |" in page, source["package"]


def test_processors_are_asked_by_the_library_itself():
    """What zig links answers no to the compiler's own question (core/src/util/cpu.h)."""
    files = [path for folder in ("core", "hdf5-vol", "gdal-driver") for path in (ROOT / folder).rglob("*.[ch]*")]
    assert len(files) > 500
    assert [path for path in files if path.name != "cpu.h" and "__builtin_cpu_supports" in path.read_text()] == []


def test_one_version():
    cmake = re.search(r"project\(zarrbridge VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    package = re.search('__version__ = "(.*)"', (ROOT / "python/zarrbridge/__init__.py").read_text())[1]
    assert cmake == package == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_no_file_is_empty():
    """One that is empty was left behind by a program that ran in the source."""
    found = subprocess.run(["git", "ls-files", "-s"], cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip("this is no repository")
    of_nothing = subprocess.run(["git", "hash-object", "--stdin"], stdin=subprocess.DEVNULL, cwd=ROOT, text=True,
                                capture_output=True, check=True).stdout.strip()
    assert [line for line in found.stdout.splitlines() if of_nothing in line] == []
