# SPDX-License-Identifier: MIT
"""tools/test: a step that cannot be taken on a machine is counted and says why; one that can be taken
and fails ends the run. The programs that the steps call are stand-ins here."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOOLS = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"]) / "tools"


class Machine:
    """A checkout with the real tools/test, and stand-ins for what it calls."""

    def __init__(self, folder):
        self.root, self.bin = folder / "checkout", folder / "bin"
        (self.root / "tools").mkdir(parents=True)
        self.bin.mkdir()
        for name in ("test", "format", "lib.sh"):
            shutil.copy(TOOLS / name, self.root / "tools")
        (self.root / ".clang-format-ignore").write_text("# none\n\n")
        for name in ("core", "hdf5-vol", "gdal-driver", "tests"):
            (self.root / name).mkdir()
            (self.root / name / "a.c").write_text("int a;\n")
        self.tool("install-deps", "exit 0")
        self.tool("test-in", "exit 0")
        self.program("id", "echo 0")
        self.program("python", "exit 0")
        self.program("clang-format-19", "[ $1 != --version ] || echo version 19.1.7")

    def tool(self, name, text):
        self._script(self.root / "tools" / name, text)

    def program(self, name, text):
        self._script(self.bin / name, text)

    def _script(self, path, text):
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)

    def test(self, *steps):
        """The exit status and the output, its last lines apart from the rest."""
        environment = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}",
                       "ZARRBRIDGE_PYTHON": "python", "CC": str(self.bin / "compiler")}
        done = subprocess.run([self.root / "tools" / "test", *steps], env=environment, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        head, _, tail = done.stdout.partition("\n== Steps: ")
        return done.returncode, head, tail.splitlines()


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_what_passes_is_counted(machine):
    status, _, end = machine.test("format", "forky")
    assert status == 0 and end == ["2 of 2 passed, 0 skipped"]


FAILS = 'echo "E: no network" >&2; exit 1'
NO_FORMATTER = "echo version 20.1.0"


@pytest.mark.parametrize("step, name, text, reason", [
    ("format", "install-deps", FAILS, "no clang-format 19: E: no network"),
    ("forky", "install-deps", FAILS, "no debootstrap: E: no network"),
    ("forky", "test-in", FAILS, "no chroot: E: no network"),
    ("forky", "test-in", '[ "$2" = true ] || { ' + FAILS + "; }",
     "its packages cannot be had: E: no network"),
])
def test_what_cannot_be_had_is_skipped(machine, step, name, text, reason):
    machine.program("clang-format-19", NO_FORMATTER)
    machine.program("clang-format", NO_FORMATTER)
    machine.tool(name, f"[ $# -gt 0 ] || exit 0\n{text}")  # the list of packages itself is there
    status, _, end = machine.test(step)
    assert status == 0 and end == ["0 of 1 passed, 1 skipped", f"{step}: {reason}"]


def test_a_user_makes_no_chroot(machine):
    machine.program("id", "echo 1000")
    assert machine.test("format", "forky")[2] == [
        "1 of 2 passed, 1 skipped", "forky: a chroot needs root"]


def test_programs_with_the_thread_sanitizer_may_not_start(machine):
    machine.program("compiler", f'''
while [ $1 != -o ]; do shift; done
cp {machine.bin}/program $2''')
    machine.program("program", 'echo "FATAL: unexpected memory mapping" >&2; exit 66')
    assert machine.test("tsan")[2] == [
        "0 of 1 passed, 1 skipped",
        "tsan: programs with the thread sanitizer do not start: FATAL: unexpected memory mapping"]


def test_tests_that_fail_in_the_chroot_fail(machine):
    machine.tool("test-in", '[ "$3" != plugins ]')
    status, head, end = machine.test("forky", "format")
    assert status != 0 and "== Format" not in head and end == []


def test_what_is_not_formatted_fails(machine):
    machine.program("clang-format-19", "[ $1 != --version ] || { echo version 19.1.7; exit; }\n"
                    "[[ $* = *--dry-run*core/a.c*gdal-driver/a.c*hdf5-vol/a.c*tests/a.c* ]] && exit 1")
    status, _, end = machine.test("format")
    assert status != 0 and end == []


def test_exempt_files_exist(machine):
    (machine.root / ".clang-format-ignore").write_text("# moved\ncore/b.c\n")
    status, head, end = machine.test("format")
    assert status != 0 and end == [] and "names core/b.c, which does not exist" in head


def test_what_is_missing_fails(machine):
    machine.tool("install-deps", FAILS)
    status, _, end = machine.test("format")
    assert status != 0 and end == []
