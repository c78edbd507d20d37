# SPDX-License-Identifier: MIT
"""Each promise in docs names tests that show it: entries of CTest and, after a comma, tests in them.
This test checks that they exist."""
import os
import re
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

SOURCE = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])
PAGES = ["writing.md", "security.md", "correctness-issues.md", "format-checklist.md"]


@pytest.fixture(scope="module")
def entries():
    listed = subprocess.run([os.environ["ZARRBRIDGE_CTEST"], "-N"], check=True, text=True,
                            capture_output=True, cwd=os.environ["ZARRBRIDGE_BUILD_DIR"]).stdout
    return set(re.findall(r"^ *Test +#\d+: (\S+)$", listed, re.M))


@pytest.fixture(scope="module")
def words():
    """Names of functions, and of scenarios in tables, in the tests' sources."""
    found = set()
    for path in (SOURCE / "tests").rglob("*"):
        if path.suffix in (".c", ".cpp", ".py"):
            found.update(re.findall(r"\w+", path.read_text()))
    return found


def named(page):
    """(entry, tests) of each row of tables whose last column is of tests."""
    table = False
    for line in (SOURCE / "docs" / page).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[-1] in ("test", "tests"):
            table = True
        elif not line.startswith("|"):
            table = False
        elif table and "---" not in cells[-1]:
            assert "`" in cells[-1], f"{page}: no test shows: {cells[0]}"
            for part in cells[-1].split(";"):
                group = re.findall(r"`([^`]+)`", part)
                rest = re.sub(r"`[^`]+`|\([^)]*\)", "", part)
                yield cells[0], group, re.findall(r"\w+", rest)


@pytest.mark.parametrize("page", PAGES)
def test_named_tests_exist(page, entries, words):
    rows = list(named(page))
    assert len(rows) > 5
    for promise, group, tests in rows:
        for pattern in group:
            assert any(fnmatch(entry, pattern) for entry in entries), f"{pattern}, for: {promise}"
        for test in tests:
            assert test in words, f"{test}, for: {promise}"


def test_the_checklist_leaves_nothing_open():
    """Each rule says whether it is read and written, also by the plugins, and they are counted."""
    number = 0
    rules = 0
    for line in (SOURCE / "docs" / "format-checklist.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or cells[0] in ("#", "---"):
            number = 0
            continue
        number += 1
        rules += 1
        assert len(cells) == 7 and all(cells), line
        assert cells[0] == str(number), line
    assert rules > 80


def test_the_gate_shows_each_promise():
    """In the table of tests/README.md, the gate's column names entries that the gate runs, and the other one entries
    that there are."""
    ctest = [os.environ["ZARRBRIDGE_CTEST"], "-N"]
    rows = [line.strip("|").split("|") for line in (SOURCE / "tests" / "README.md").read_text().splitlines()
            if line.startswith("|") and line.count("|") == 4]
    promises = [row for row in rows if row[0].strip() != "promise" and "---" not in row[0]]
    assert len(promises) > 15
    for column, options in (1, ["-LE", "^long$"]), (2, []):
        listed = subprocess.run(ctest + options, check=True, text=True, capture_output=True,
                                cwd=os.environ["ZARRBRIDGE_BUILD_DIR"]).stdout
        there = re.findall(r"^ *Test +#\d+: (\S+)$", listed, re.M)
        for row in promises:
            names = re.findall(r"`([^`]+)`", row[column])
            assert names or column == 2, f"nothing in the gate shows: {row[0]}"
            for name in names:
                assert any(fnmatch(entry, name) for entry in there), f"{name}, for: {row[0]}"
