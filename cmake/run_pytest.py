# SPDX-License-Identifier: MIT
"""Runs pytest for a CTest entry. The exit status is pytest's, but ALL_SKIPPED when tests were skipped
and nothing else became of any test: CTest counts such an entry as skipped. The printed summary does
not serve for that, since it can say "1 skipped, 1 error", and tests print what they like.

Plugins that the machine's Python happens to have are not loaded: no test needs one, and Hypothesis takes more
time to import than pytest itself.

Each run has a folder of its own for its tests' folders (tmp_path). What tests that pass leave there is removed:
hundreds of MB in some files. Pytest's own numbered folders would not serve: where they are removed, the number and
the lock of one run can become those of another that goes on. A run that fails, or is killed, leaves its folder until
the same entry of the same build runs again."""
import fcntl
import glob
import hashlib
import importlib.metadata
import os
import shutil
import sys
import tempfile

import pytest

ALL_SKIPPED = 77  # SKIP_RETURN_CODE in TestPython.cmake
TESTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests")
NEWEST_ZARR = (3, 4)
OTHER = ("passed", "failed", "error", "xfailed", "xpassed")


class Outcomes:
    only_skipped = False

    def pytest_terminal_summary(self, terminalreporter):
        stats = terminalreporter.stats
        self.only_skipped = "skipped" in stats and not any(stats.get(kind) for kind in OTHER)


class Folders:
    """Empties the folder of each test whose setup, call and teardown passed. The path stays, and so is that of
    no later test: what GDAL caches by path, size and second of an archive would be taken for the later test's."""

    passed = False

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = (yield).get_result()
        self.passed = report.passed and (self.passed or report.when == "setup")
        folder = item.funcargs.get("tmp_path")
        if report.when == "teardown" and self.passed and folder:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(exist_ok=True)


def lock(folder):
    """Locks the folder until this process ends; false where another run has it."""
    try:
        fcntl.flock(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def make_folder(arguments):
    """A new folder, in place of those that runs of the same entry left. It gets its name when it is locked."""
    names = (os.environ.get(name, "") for name in ("ZARRBRIDGE_BUILD_DIR", "ZARRBRIDGE_TEST"))
    entry = "\0".join([*names, *arguments])
    start = os.path.join(tempfile.gettempdir(), f"zarrbridge-{hashlib.sha256(entry.encode()).hexdigest()[:8]}-")
    for old in glob.glob(glob.escape(start) + "*"):
        if lock(old):
            shutil.rmtree(old, ignore_errors=True)
    made = tempfile.mkdtemp(prefix="zarrbridge-new-")
    lock(made)
    folder = start + made.rpartition("-")[2]
    os.rename(made, folder)
    return folder


def with_newest_zarr(arguments):
    """Goes on in an interpreter that has that zarr-python, if this one has an older one. Returns ALL_SKIPPED where
    there is none."""
    if tuple(map(int, importlib.metadata.version("zarr").split(".")[:2])) >= NEWEST_ZARR:
        return None
    sys.path.append(os.path.join(TESTS, "interop"))
    from peer_packages import Missing, python_with_zarrs

    try:
        python = python_with_zarrs("%d.%d" % NEWEST_ZARR)
    except Missing as missing:
        print("SKIPPED:", missing)
        return ALL_SKIPPED
    os.execv(python, [python, __file__, *arguments])


def main(arguments):
    if "ZARRBRIDGE_TEST_PEERS" in os.environ and with_newest_zarr(arguments):
        return ALL_SKIPPED
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    outcomes = Outcomes()
    folder = make_folder(arguments)
    # Pytest makes its base anew, which would end the lock.
    base = os.path.join(folder, "t")
    status = pytest.main([*arguments, "--basetemp", base, "-o", "tmp_path_retention_policy=all"],
                         plugins=[outcomes, Folders()])
    # A file that skips itself as a whole leaves no test to collect.
    harmless = status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if harmless or not any(files for _, _, files in os.walk(folder)):
        shutil.rmtree(folder, ignore_errors=True)
    else:
        print("The folders of tests that failed are in", folder)
    return ALL_SKIPPED if harmless and outcomes.only_skipped else int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
