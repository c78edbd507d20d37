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


# What the headers of a newer C library, and those of a newer C++ library, use in place of what older ones have.
RENAMED = re.compile("__isoc23_.*|[fl]?stat(64)?|fstatat(64)?|mknod(at)?")
RENAMED_CXX = {"__libc_single_threaded", "pthread_cond_clockwait"}


def glibc_symbols(path, kinds):
    """The symbols of these kinds of nm, with the version of the C library that brought each."""
    done = subprocess.run(["nm", "-D", path], capture_output=True, text=True, check=True)
    for name, version in re.findall(rf" [{kinds}] (\w+)@@?GLIBC_([\d.]+)$", done.stdout, re.MULTILINE):
        yield name, tuple(map(int, version.split(".")))


def test_no_function_is_newer_than_the_c_library_of_the_wheel():
    """Else the wheel cannot be linked, which is found only after all of it has been compiled. A weak one may be newer."""
    wheel = tuple(map(int, re.search('GLIBC = "(.*)"', (ROOT / "packaging/wheel/build.py").read_text())[1].split(".")))
    loaded = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines()}
    of_c = [path for path in loaded if re.search(r"/(ld-linux[^/]*|lib[cm])\.so\.\d$", path)]
    old = {name for path in of_c for name, version in glibc_symbols(path, "A-TV-Zi") if version <= wheel}
    assert "pthread_create" in old and "strerrordesc_np" not in old
    build = pathlib.Path(os.environ["ZARRBRIDGE_BUILD_DIR"])
    ours = [*build.glob("core/libzarrbridge*.so"), *build.glob("*/plugins/*.so"), build / "core/zarrbridge"]
    assert len(ours) >= 3
    assert {(path.name, name) for path in ours for name, _ in glibc_symbols(path, "U")
            if name not in old and not RENAMED.fullmatch(name)
            and not ("gdal" in path.name and name in RENAMED_CXX)} == set()


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
