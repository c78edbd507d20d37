# SPDX-License-Identifier: MIT
"""Runs the blocks of README's quick start, from top to bottom, in one directory.

The plugins come from the build tree. The C library is installed below a scratch directory, since
the blocks find it by pkg-config.
"""
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SOURCE = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])
BUILD = os.environ["ZARRBRIDGE_BUILD_DIR"]

# What stands around the lines of the C block, in a program of its own. The store holds four
# elements.
PROGRAM = r"""
#include <stdio.h>
#include <zarrbridge/zarrbridge.h>
int main(void) {
    zb_error err = {.message = ""};
    zb_store *store = NULL;
    zb_node *node = NULL;
    double values[4] = {0};
%s
    printf("%%g %%g %%g %%g\n", values[0], values[1], values[2], values[3]);
    zb_node_release(node);
    zb_store_release(store);
    return err.message[0] != 0;
}
"""


def blocks():
    """(language, text) of each fenced block of the quick start."""
    text = (SOURCE / "README.md").read_text()
    start = re.search(r"^## Quick start\n(.*?)^## ", text, re.M | re.S).group(1)
    return re.findall(r"^```(\w+)\n(.*?)^```$", start, re.M | re.S)


class Reader:
    """A person who types the blocks into one shell, and keeps what it exports."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, *command):
        done = subprocess.run([str(word) for word in command], cwd=self.folder, check=False,
                              env=self.environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def sh(self, text):
        for name, value in re.findall(r"^export (\w+)=(\S+)$", text, re.M):
            self.environment[name] = value
        # QGIS opens a window; tests/gdal/test_qgis.py shows its layers without one.
        return self.run("bash", "-euo", "pipefail", "-c", re.sub(r"^qgis .*$", "", text, flags=re.M))

    def python(self, text):
        told = self.run(sys.executable, "-c", text)
        assert told.splitlines() == re.findall(r"^print\(.*  # (.*)$", text, re.M)
        return told

    def c(self, text):
        (self.folder / "lines.c").write_text(PROGRAM % textwrap.indent(text, "    "))
        flags = self.run("pkg-config", "--cflags", "--libs", "zarrbridge").split()
        self.run("cc", "-Wall", "-Werror", "-o", "lines", "lines.c", *flags)
        return self.run("./lines")


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """(language, text, output) of each block."""
    reader = Reader(tmp_path_factory.mktemp("reader"))
    (reader.folder / "tests").symlink_to(SOURCE / "tests")
    prefix = tmp_path_factory.mktemp("prefix")
    reader.run("cmake", "--install", BUILD, "--prefix", prefix, "--component", "core")
    reader.environment["PKG_CONFIG_PATH"] = str(next(prefix.rglob("zarrbridge.pc")).parent)
    reader.environment["LD_LIBRARY_PATH"] = str(next(prefix.rglob("libzarrbridge.so")).parent)
    return [(language, text, getattr(reader, language)(text)) for language, text in blocks()]


def output_of(outputs, wanted):
    """What the one block printed that holds the wanted text."""
    (found,) = [told for _, text, told in outputs if wanted in text]
    return found


def test_each_kind_of_program_has_a_block():
    assert {language for language, _ in blocks()} == {"sh", "python", "c"}
    assert all(len(text.splitlines()) <= 3 for _, text in blocks())


def test_h5py_reads_what_it_wrote(outputs):
    assert output_of(outputs, "import h5py") == "[1.5 2.5]\n"


def test_gdal_makes_a_store(outputs):
    assert "Driver: Zarr3/" in output_of(outputs, "gdalinfo landsat.zarr")


def test_qgis_has_the_driver(outputs):
    assert "Zarr3 -raster-" in output_of(outputs, "qgis landsat.zarr")


def test_c_reads_the_store_of_h5py(outputs):
    assert output_of(outputs, "zb_array_read") == "1.5 2.5 3.5 4.5\n"
    assert output_of(outputs, "./sum") == "12\n"


def test_quoted_steps_are_those_of_the_demo():
    quoted = re.findall(r"^    == (.*)$", (SOURCE / "README.md").read_text(), re.M)
    demo = (SOURCE / "tools" / "demo").read_text()
    assert quoted
    for heading in quoted:
        assert f"step '{heading}'" in demo, heading
