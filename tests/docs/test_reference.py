# SPDX-License-Identifier: MIT
"""The pages in docs/reference are those that tools/reference makes of the sources, and the tables that people write name
all that the sources have."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from test_pages import pages

SOURCE = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])


def text_of(path):
    return (SOURCE / path).read_text(encoding="utf-8")


def first_cells(page, heading=None):
    """The names in the first column of the tables of a page, or of one section."""
    text = text_of(page)
    if heading:
        text = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.M | re.S).group(1)
    rows = [line.strip("|").split(" | ")[0] for line in text.splitlines() if line.startswith("| ")]
    return {name for cell in rows for name in re.findall(r"`([^`]+)`", cell)}


def test_the_pages_are_up_to_date():
    subprocess.run([sys.executable, SOURCE / "tools/reference", "--check"], check=True)


@pytest.mark.parametrize("page, least", [("limits.md", 35), ("codecs.md", 40), ("gdal-options.md", 35)])
def test_the_pages_have_the_tables(page, least):
    assert len(first_cells(f"docs/reference/{page}")) >= least


def test_all_error_codes_are_explained():
    codes = set(re.findall(r"^ +(ZB_E\w+) = -", text_of("core/include/zarrbridge/error.h"), re.M))
    assert len(codes) == 10 and first_cells("docs/errors.md") == codes


def test_all_options_of_the_connector_are_explained():
    code = text_of("hdf5-vol/src/callbacks/info.c")
    told = first_cells("docs/hdf5.md", "Options")
    assert len(told) >= 11
    assert {name for name in told if f'"{name}"' not in code} == set()
    assert set(re.findall(r'strcmp\(name, "(\w+)"\)', code)) <= told


def test_all_data_types_are_explained():
    names = set()
    for path in (SOURCE / "core/src/types").glob("*.c"):
        for table in re.findall(r"\(const zb__type_name\[\]\)\{(.*?)\{0\}\}", path.read_text(encoding="utf-8"), re.S):
            names.update(re.findall(r'\{"([^"]+)"', table))
    ranges = {"int16", "int32", "uint16", "uint32"}  # the page has their ends
    assert len(names) > 20
    assert {name for name in names - ranges if f"`{name}`" not in text_of("docs/types.md")} == set()


def test_the_page_of_the_c_interface_has_all_headers():
    folder = SOURCE / "core/include/zarrbridge"
    headers = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.h"))
    assert sorted(re.findall(r"^## (.*)$", text_of("docs/reference/c-interface.md"), re.M)) == headers


def test_each_page_is_in_the_contents_of_the_site():
    """Sphinx warns of others, which is an error; this tells so at once."""
    listed = set()
    for page in ("docs/index.md", "docs/internals.md"):
        for block in re.findall(r"```\{toctree\}\n(.*?)```", text_of(page), re.S):
            named = [re.sub(r"^.* <(.*)>$", r"\1", line) for line in block.splitlines() if line and line[0] != ":"]
            listed.update(os.path.normpath(f"docs/{line}.md") for line in named)
    assert listed == set(pages()) - {"docs/index.md"}
