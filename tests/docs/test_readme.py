# SPDX-License-Identifier: MIT
"""Runs the blocks of README's quick start, and the lines of its table, from top to bottom.

The plugins come from the build tree. The C library and the program are installed below a scratch
directory, since the blocks find the library by pkg-config.
"""
import os
import re
import sys
import textwrap
from pathlib import Path

import pytest
import zarr

sys.path.insert(0, str(Path(os.environ["ZARRBRIDGE_SOURCE_DIR"], "tests/remote")))
from reader import SOURCE, Reader, install_core  # noqa: E402
from simserver import SimServer  # noqa: E402

# What stands around the lines of the C block, in a program of its own. The store holds four
# elements.
PROGRAM = r"""
#include <stdio.h>
#include <zarrbridge/zarrbridge.h>
int main(void) {
    zb_error err = {.message = ""};
    zb_hierarchy *store = NULL;
    zb_node *node = NULL;
    double values[4] = {0};
%s
    printf("%%g %%g %%g %%g\n", values[0], values[1], values[2], values[3]);
    zb_node_release(node);
    zb_hierarchy_release(store);
    return err.message[0] != 0;
}
"""


def section(heading):
    text = (SOURCE / "README.md").read_text()
    return re.search(rf"^## {heading}\n(.*?)^## ", text, re.M | re.S).group(1)


def blocks():
    """(language, text) of each fenced block of the quick start."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", section("Quick start"), re.M | re.S)


def lines():
    """The complete commands and calls in the table's second column: those with an argument."""
    column = [row.split(" | ")[1] for row in
              re.findall(r"^\| (?!---).*$", section("Which line for which program"), re.M)]
    return [code for cell in column for code in re.findall(r"`([^`]+)`", cell)
            if re.match(r"(\S+ .*zarr|\w+\.\w+\()", code) and not code.startswith("#")]


class ReadmeReader(Reader):
    """README's C block is the body of a program."""

    def c(self, text):
        (self.folder / "lines.c").write_text(PROGRAM % textwrap.indent(text, "    "))
        flags = self.run("pkg-config", "--cflags", "--libs", "zarrbridge").split()
        self.run("cc", "-Wall", "-Werror", "-o", "lines", "lines.c", *flags)
        return self.run("./lines")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Variables that lead to an installation of the core."""
    return install_core(tmp_path_factory.mktemp("prefix"))


@pytest.fixture(scope="module")
def outputs(installed, tmp_path_factory):
    """(language, text, output) of each block."""
    reader = ReadmeReader(tmp_path_factory.mktemp("reader"), installed)
    (reader.folder / "tests").symlink_to(SOURCE / "tests")
    return [(language, text, getattr(reader, language)(text)) for language, text in blocks()]


def first_screen():
    """The lines of its last block, above the table."""
    text = (SOURCE / "README.md").read_text().split("## Which line for which program")[0]
    return re.findall(r"^    (\S.*)$", text.split("\nThen, ")[1], re.M)


def test_the_first_screen(installed, tmp_path):
    """Lines of a shell, and one of Python, for which the variable stands in place of the wheel's import."""
    reader = ReadmeReader(tmp_path, installed)
    (tmp_path / "tests").symlink_to(SOURCE / "tests")
    python, *shell = first_screen()
    assert python.startswith("import zarrbridge, h5py; ")
    reader.run("env", "HDF5_VOL_CONNECTOR=zarr", sys.executable, "-c", python.replace("zarrbridge, ", ""))
    assert (tmp_path / "x.zarr/t/zarr.json").exists()
    assert "/landsat" in "".join(reader.sh(line) for line in shell) and len(shell) == 2


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
    assert "Zarr3 -raster," in output_of(outputs, "qgis landsat.zarr")


def test_c_reads_the_store_of_h5py(outputs):
    assert output_of(outputs, "zb_array_read") == "1.5 2.5 3.5 4.5\n"
    assert output_of(outputs, "./sum") == "12\n"


@pytest.fixture(scope="module")
def reader(installed, tmp_path_factory):
    """A directory with the files that the table's lines start from."""
    folder = tmp_path_factory.mktemp("table")
    (folder / "in.tif").symlink_to(SOURCE / "tests" / "data" / "olinda_dem_utm25s.tif")
    group = zarr.open_group(folder / "x.zarr", mode="w")
    array = group.create_array("array", shape=(20, 30), chunks=(5, 5), shards=(10, 10),
                               dtype="int16", dimension_names=("y", "x"))
    array[...] = 7
    old = zarr.open_group(folder / "v2.zarr", mode="w", zarr_format=2)
    old.create_array("array", shape=(5,), dtype="int16")[...] = 7
    return ReadmeReader(folder, installed)


@pytest.fixture(scope="module")
def server(reader):
    """A web server for the reader's directory; the lines ask another program than this one, since a Python
    that waits in a library keeps its server waiting."""
    zarr.consolidate_metadata(reader.folder / "x.zarr")
    reader.environment["no_proxy"] = "127.0.0.1"
    with SimServer(reader.folder) as running:
        yield running


def test_the_table_has_lines_of_each_program():
    assert {re.match(r"(HDF5_VOL_CONNECTOR=zarr )?(\w+)", line).group(2) for line in lines()} == {
        "h5py", "h5ls", "h5dump", "h5repack", "xarray", "gdalinfo", "gdal_translate", "gdalwarp",
        "gdal_edit", "rasterio", "zarrbridge", "pkg"}


@pytest.mark.parametrize("line", lines())
def test_lines_of_the_table_work(line, reader, server):
    line = line.replace("https://host", server.url)
    called = re.match(r"(\w+)\.\w+\(", line)
    if called is None:
        reader.sh(line)
        return
    creates = ["env", "HDF5_VOL_CONNECTOR=zarr"] if line.startswith('h5py.File("new.zarr"') else []
    reader.run(*creates, sys.executable, "-c", f"import {called.group(1)}\nwith {line}: pass")


def test_quoted_steps_are_those_of_the_demo():
    quoted = re.findall(r"^    == (.*)$", (SOURCE / "README.md").read_text(), re.M)
    demo = (SOURCE / "tools" / "demo").read_text()
    assert quoted
    for heading in quoted:
        assert f"step '{heading}'" in demo, heading
