# SPDX-License-Identifier: MIT
"""The map in docs/architecture.md names every folder of sources, and each source says at its head what it is for."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOTS = ["core/src", "core/net", "core/cli", "hdf5-vol/src", "gdal-driver/src"]
LINES_MOST = 600


def page():
    return (ROOT / "docs" / "architecture.md").read_text()


def sources(root):
    return [path for path in (ROOT / root).rglob("*") if path.suffix in (".c", ".h", ".cpp")]


def test_the_map_names_each_folder():
    section = page().split("## Map\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| `([^`]+)` \| .* \| (.*) \|$", section, re.MULTILINE)
    folders = {path.parent.relative_to(ROOT).as_posix() for root in ROOTS for path in sources(root)}
    assert sorted(name for name, _ in rows) == sorted(folders)
    for folder, first in rows:
        for name in re.findall(r"`([^`]+)`", first):
            assert (ROOT / folder / name).exists() or (ROOT / "core/include/zarrbridge" / name).exists(), name


def test_it_can_be_read_at_once():
    assert len(page().splitlines()) <= LINES_MOST


def has_head(path):
    """Is there a comment before the first line of code?"""
    for line in path.read_text().splitlines()[1:]:
        if line.strip():
            return line.startswith(("/*", "//"))
    return False


@pytest.mark.parametrize("root", ROOTS)
def test_each_source_tells_its_purpose(root):
    heads = {path.with_suffix("") for path in sources(root) if has_head(path)}
    assert [path.name for path in sources(root) if path.with_suffix("") not in heads] == []
