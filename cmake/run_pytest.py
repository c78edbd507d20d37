# SPDX-License-Identifier: MIT
"""Runs pytest for a CTest entry. The exit status is pytest's, but ALL_SKIPPED when tests were skipped
and nothing else became of any test: CTest counts such an entry as skipped. The printed summary does
not serve for that, since it can say "1 skipped, 1 error", and tests print what they like.

Plugins that the machine's Python happens to have are not loaded: no test needs one, and Hypothesis takes more
time to import than pytest itself.

Each run has a folder of its own for its tests' folders (tmp_path). Those of tests that pass are removed: hundreds
of MB in some files. Pytest's own numbered folders would not serve: where they are removed, the number and the lock
of one run can become those of another that goes on. What failed leaves its folder, and its name."""
import os
import shutil
import sys
import tempfile

import pytest

ALL_SKIPPED = 77  # SKIP_RETURN_CODE in TestPython.cmake
OTHER = ("passed", "failed", "error", "xfailed", "xpassed")


class Outcomes:
    only_skipped = False

    def pytest_terminal_summary(self, terminalreporter):
        stats = terminalreporter.stats
        self.only_skipped = "skipped" in stats and not any(stats.get(kind) for kind in OTHER)


class Folders:
    """The path of a test's folder is that of no later test, also where the folder was removed: what GDAL
    caches by path, size and second of an archive would be taken for the later test's."""

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_teardown(self, item):
        yield
        folder = item.funcargs.get("tmp_path")
        if folder:
            folder.mkdir(exist_ok=True)


def main(arguments):
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    outcomes = Outcomes()
    folder = tempfile.mkdtemp(prefix="zarrbridge-")
    kept = ["--basetemp", folder, "-o", "tmp_path_retention_policy=failed"]
    status = pytest.main(arguments + kept, plugins=[outcomes, Folders()])
    # A file that skips itself as a whole leaves no test to collect.
    harmless = status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if harmless or not os.listdir(folder):
        shutil.rmtree(folder, ignore_errors=True)
    else:
        print("The folders of tests that failed are in", folder)
    return ALL_SKIPPED if harmless and outcomes.only_skipped else int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
