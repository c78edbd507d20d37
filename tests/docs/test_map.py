# SPDX-License-Identifier: MIT
"""The maps in docs/architecture.md name every source of the core and the plugins, and nothing else."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAPS = {"Map of the core": "core/src", "Map of the HDF5 connector": "hdf5-vol/src",
        "Map of the network library": "core/remote", "Map of the GDAL driver": "gdal-driver/src"}


def named(title):
    """The names in the first column of a map, without endings."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    section = page.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    return [re.sub(r"\.\w+$", "", name) for name in re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)]


@pytest.mark.parametrize("title", MAPS)
def test_the_map_is_complete(title):
    folder = ROOT / MAPS[title]
    there = {path.relative_to(folder).with_suffix("").as_posix()
             for path in folder.rglob("*") if path.suffix in (".c", ".h", ".cpp")}
    names = named(title)
    assert len(names) == len(set(names))
    assert set(names) == there
