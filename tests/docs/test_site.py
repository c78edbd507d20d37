# SPDX-License-Identifier: MIT
"""The site of the pages, as tools/docs builds it: without warnings, and with what a page needs of its parts."""
import os
import re
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])


@pytest.fixture(scope="module")
def site():
    built = subprocess.run([SOURCE / "tools/docs"], check=False, capture_output=True, text=True, timeout=1800)
    if built.returncode == 3:
        pytest.skip(f"the site is not built: {built.stderr.strip().splitlines()[-1]}")
    assert built.returncode == 0, built.stdout + built.stderr
    return SOURCE / "build/docs"


def test_each_page_is_in_it(site):
    pages = [path.relative_to(SOURCE) for path in (SOURCE / "docs").rglob("*.md")]
    assert len(pages) > 25
    assert [str(page) for page in pages if not (site / page.with_suffix(".html")).exists()] == []
    assert "docs/index.html" in (site / "index.html").read_text()


@pytest.mark.parametrize("name", ["zb_array_read", "zb_read.start", "ZB_EIO", "zb_writer_open", "zb_store_ops"])
def test_the_headers_are_in_it(site, name):
    text = (site / "docs/reference/c-interface.html").read_text()
    assert f'id="c.{name}"' in text or f'.{name}"' in text, name


def test_pictures_are_in_it(site):
    assert "start-waves.png" in {path.name for path in (site / "_images").iterdir()}


def test_code_in_comments_of_headers_is_code(site):
    text = (site / "docs/reference/c-interface.html").read_text()
    blocks = [re.sub("<.*?>", "", block) for block in re.findall("<pre>.*?</pre>", text, re.DOTALL)]
    assert [block for block in blocks if block.startswith("zb_chain_of(source, &amp;chain, &amp;err);\nzb_encoded")]


def test_options_are_as_they_are_written(site):
    assert "With --json standard output" in (site / "docs/program.html").read_text()
