# SPDX-License-Identifier: MIT
"""Compiles and runs the example of monthly chunks in docs/format-support.md, and looks at the array
that it makes: a month is a chunk, and what is written to a month lands in its object alone."""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE, BUILD = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"]), Path(os.environ["ZARRBRIDGE_BUILD_DIR"])

# What stands around the lines of the page. A month of ones is written to the array that it makes.
PROGRAM = r"""
#include <stdio.h>
#include <zarrbridge/zarrbridge.h>
#include <zarrbridge/change.h>
#include <zarrbridge/write.h>
static float ones[30 * 180 * 360];
int main(int argc, char **argv) {
    zb_error err = {.message = ""};
    zb_hierarchy *store = NULL;
    zb_node *array = NULL, *grown = NULL;
    zb_writer *writer = NULL;
    if (argc != 2 || zb_hierarchy_create(argv[1], NULL, &store, &err))
        return 2;
%s
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        ones[i] = 1;
    const uint64_t start[] = {90, 0, 0}, count[] = {30, 180, 360};
    const zb_write april = {.start = start, .count = count, .data = ones, .dtype = spec.dtype};
    if (!code && !(code = zb_writer_open(grown, NULL, &writer, &err)) &&
        !(code = zb_writer_write(writer, &april, &err)))
        code = zb_writer_close(writer, &err);
    puts(code ? err.message : "");
    for (uint64_t i = 0; i < zb_array_chunk_count(grown, ZB_GRID_CHUNKS, 0); i++)
        printf("%%d ", (int)zb_array_chunk_at(grown, ZB_GRID_CHUNKS, 0, i).extent);
    zb_node_release(array);
    zb_node_release(grown);
    zb_hierarchy_release(store);
    return code;
}
"""


def test_the_example_runs(tmp_path):
    page = (SOURCE / "docs" / "format-support.md").read_text()
    blocks = re.findall(r"^```c\n(.*?)^```$", page, re.M | re.S)
    assert len(blocks) == 1 and "months" in blocks[0]
    (tmp_path / "months.c").write_text(PROGRAM % blocks[0])
    subprocess.run([os.environ.get("CC", "cc"), "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-Wno-misleading-indentation",
                    "-I", SOURCE / "core/include", tmp_path / "months.c", "-o", tmp_path / "months", "-L", BUILD / "core", "-lzarrbridge",
                    f"-Wl,-rpath,{BUILD / 'core'}"], check=True)
    output = subprocess.run([tmp_path / "months", tmp_path / "x.zarr"], check=True, text=True,
                            capture_output=True).stdout
    assert output.split() == ["31", "28", "31", "30"]
    array = tmp_path / "x.zarr" / "t2m"
    document = json.loads((array / "zarr.json").read_text())
    assert document["shape"] == [120, 180, 360]
    assert document["chunk_grid"] == {"name": "rectilinear", "configuration": {
        "kind": "inline", "chunk_shapes": [[31, 28, 31, 30], 90, 90]}}
    assert {path.relative_to(array).parts[1] for path in array.glob("c/*/*/*")} == {"3"}


def test_h5py_reads_it_by_months(tmp_path):
    pytest.importorskip("h5py")
    if not (BUILD / "hdf5-vol").exists():
        pytest.skip("the HDF5 connector is not built")
    test_the_example_runs(tmp_path)
    script = ("import h5py, sys\n"
              "d = h5py.File(sys.argv[1], 'r')['t2m']\n"
              "print(d.chunks, float(d[:90].sum()), float(d[90:].mean()))")
    output = subprocess.run([sys.executable, "-c", script, tmp_path / "x.zarr"],
                            check=True, text=True, capture_output=True,
                            env=os.environ | {"HDF5_VOL_CONNECTOR": "zarr",
                                              "HDF5_PLUGIN_PATH": str(BUILD / "hdf5-vol/plugins")}).stdout
    assert output.split("\n")[0] == "(31, 90, 90) 0.0 1.0"
