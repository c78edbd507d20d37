# SPDX-License-Identifier: MIT
"""Form of all Markdown pages: short lines, and links that lead somewhere."""
import os
import re
from pathlib import Path

import pytest

SOURCE = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])
WIDTH = 120


def pages():
    """The pages of the tree, as paths below SOURCE. Builds and hidden directories are not of the tree."""
    found = []
    for folder, names, files in os.walk(SOURCE):
        names[:] = [name for name in names if name != "build" and not name.startswith(".")]
        found += [str(Path(folder, file).relative_to(SOURCE)) for file in files
                  if file.endswith(".md")]
    return sorted(found)


def anchors(path):
    """The anchors that GitHub gives the headings of a page."""
    found = set()
    for heading in re.findall(r"^#+ +(.+)$", path.read_text(), re.M):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def links(text):
    """The targets of links and pictures outside of code."""
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)
    return re.findall(r"\]\(([^)\s]+)\)", prose)


def test_there_are_pages():
    assert {"README.md", "docs/writing.md", "tests/fuzz/README.md"} <= set(pages())


@pytest.mark.parametrize("page", pages())
def test_lines_are_short(page):
    """Rows of tables are exempt: Markdown cannot break them."""
    lines = enumerate((SOURCE / page).read_text().splitlines(), 1)
    long = [f"{page}:{number}: {len(line)} characters" for number, line in lines
            if len(line) > WIDTH and not line.startswith("|")]
    assert not long, "\n".join(long)


@pytest.mark.parametrize("page", pages())
def test_links_lead_somewhere(page):
    for link in links((SOURCE / page).read_text()):
        if "://" in link:
            continue  # other hosts are not asked
        name, _, anchor = link.partition("#")
        path = (SOURCE / page).parent / name if name else SOURCE / page
        assert path.exists(), f"{page}: no such file: {link}"
        if anchor:
            assert anchor in anchors(path), f"{page}: no such heading: {link}"
