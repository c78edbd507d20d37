# SPDX-License-Identifier: MIT
"""Some differential tests (README.md). A new seed may meet a fault of another library that nobody has seen yet."""

import os
import subprocess
import sys
from pathlib import Path

import diff_cases
import diff_cases_v2
import diff_codecs
import diff_types
import pytest
from length import SEED, by_length

HERE = Path(__file__).parent
SANITIZED = "LD_PRELOAD" in os.environ
# Fewer under a sanitizer, whose runtime can be had in the machine's own Python alone.
COUNT = by_length(200, 100 if SANITIZED else 1000)


def test_libraries_read_the_same(pytestconfig):
    program = "diff_run.py" if SANITIZED else "differential.py"
    done = subprocess.run([sys.executable, HERE / program, str(COUNT), "--seed", str(SEED)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
    with pytestconfig.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(done.stdout[-8000:])
    assert done.returncode == 0, f"ZARRBRIDGE_SEED={SEED}"


def test_cases_have_every_part():
    """A line of a table that no case uses would test nothing."""
    cases = [diff_cases.Case(1, index) for index in range(3000)]
    used = {name for case in cases for name in diff_codecs.names(case.chain)}
    tables = diff_codecs.COMMON + diff_codecs.COMPRESSORS + diff_codecs.FILTERS
    assert not {c.name for c in tables + diff_codecs.SERIALIZERS} - used
    assert not {t.name for t in diff_types.TYPES} - {case.type.name for case in cases}
    assert any(case.runs for case in cases) and any(0 in case.shape for case in cases)
    assert {len(case.shape) for case in cases} == set(range(6))
    assert {len(case.levels) for case in cases} == {1, 2, 3}
    old = [diff_cases_v2.CaseV2(1, index) for index in range(1000)]
    used = {codec["name"] for case in old for codec in case.chain}
    assert not {c.name for c in diff_codecs.V2_COMPRESSORS + diff_codecs.V2_FILTERS} - used


@pytest.mark.parametrize("index", [0, 7])
def test_a_case_is_repeated(index):
    """Everything follows from the seed and the index."""
    kind = diff_cases_v2.CaseV2 if index % 8 == 7 else diff_cases.Case
    one, two = kind(5, index), kind(5, index)
    assert one.document() == two.document() and repr(one.model) == repr(two.model)
    assert [repr(c) for c in one.changes()] == [repr(c) for c in two.changes()]
