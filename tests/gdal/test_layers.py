# SPDX-License-Identifier: MIT
"""The layers of the GDAL driver stand in one order, and nothing looks up it."""
import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "gdal-driver"

# A file includes headers of its own layer and of those named here.
MAY_INCLUDE = {
    "base": set(),
    "store": {"base"},
    "options": {"base"},
    "array": {"base", "store"},
    "raster": {"base", "store", "array"},
    "geo": {"base", "store", "array", "raster"},
    "side": {"base", "store", "array"},
    "dataset": {"base", "store", "options", "array", "raster", "geo", "side"},
    "create": {"base", "store", "options", "array", "raster", "geo", "side", "dataset"},
    "multidim": {"base", "store", "options", "array", "raster", "geo", "side", "dataset", "create"},
    "driver": {"base", "store", "options", "array", "raster", "geo", "side", "dataset", "create",
               "multidim"},
}


def files():
    return sorted(SOURCE.joinpath("src").rglob("*.[ch]*"))


def test_each_file_has_a_room():
    assert {path.relative_to(SOURCE / "src").parts[:-1] for path in files()} == \
        {(layer,) for layer in MAY_INCLUDE}


def test_includes_look_down():
    wrong = []
    for path in files():
        layer = path.parent.name
        for header in re.findall(r'^#include "([^"]+/[^"]+)"', path.read_text(), re.MULTILINE):
            other = header.split("/")[0]
            if other != "zarrbridge" and other not in MAY_INCLUDE[layer] | {layer}:
                wrong.append(f"{layer}/{path.name} includes {header}")
    assert wrong == []


def test_all_sources_are_built():
    listed = set(re.findall(r"src/\S+\.cpp", (SOURCE / "CMakeLists.txt").read_text()))
    assert listed == {path.relative_to(SOURCE).as_posix() for path in files()
                      if path.suffix == ".cpp"}
