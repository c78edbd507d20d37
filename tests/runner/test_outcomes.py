# SPDX-License-Identifier: MIT
"""zarrbridge_add_pytest (cmake/TestPython.cmake): what CTest says of a pytest file. An entry counts as
skipped when each of its tests was; anything that went wrong fails it, whatever was skipped besides."""

import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

SOURCE = os.environ["ZARRBRIDGE_SOURCE_DIR"]

PASSES = "def test_passes(): pass\n"
FAILS = "def test_fails(): assert False\n"
SKIPS = "def test_skips(): pytest.skip('no such thing here')\n"
EXPECTED = "@pytest.mark.xfail(strict=True)\ndef test_known(): assert False\n"
UNEXPECTED = "@pytest.mark.xfail(strict=True)\ndef test_mended(): pass\n"
SET_UP = "@pytest.fixture\ndef broken(): raise OSError\ndef test_set_up(broken): pass\n"
TEAR_DOWN = """
@pytest.fixture
def broken():
    yield
    raise OSError
def test_tear_down(broken): pytest.skip('no such thing here')
"""
SPEAKS = "def test_speaks():\n    print('\\n1 skipped in 0.01s')\n    assert False\n"
CRASHES = """
def test_crashes(tmp_path):
    (tmp_path / "crashed").touch()
    os.abort()
"""
ENDS = "def test_ends(): os._exit(1)\n"
ALONE = "def test_alone(pytestconfig): assert not pytestconfig.pluginmanager.list_plugin_distinfo()\n"
FOLDERS = """
made = []
def fill(folder):
    assert folder not in made
    made.append(folder)
    (folder / "file").touch()
@pytest.mark.parametrize("n", range(3))
def test_with_a_name_that_pytest_cuts(n, tmp_path): fill(tmp_path)
@pytest.mark.xfail(strict=True)
def test_known(tmp_path):
    fill(tmp_path)
    assert False
def test_folders(): assert [(path / "file").exists() for path in made] == 3 * [False] + [True]
"""
SETS_UP = """
@pytest.fixture
def broken(tmp_path):
    (tmp_path / "set_up").touch()
    made.append(tmp_path)
    raise OSError
def test_set_up(broken): pass
@pytest.mark.parametrize("n", range(2))
def test_set_up_(n, tmp_path): fill(tmp_path)
"""
TEARS_DOWN = """
@pytest.fixture
def broken(tmp_path):
    yield
    (tmp_path / "torn_down").touch()
    raise OSError
def test_tears_down(broken): pass
"""
LEAVES = "def test_leaves(tmp_path):\n    (tmp_path / 'left').touch()\n    assert False\n"

CASES = {
    "Passed": {"passes": PASSES, "passes_and_skips": PASSES + SKIPS, "xfails": SKIPS + EXPECTED,
               "loads_no_plugins_of_the_machine": ALONE, "removes_what_passed": FOLDERS},
    "Skipped": {"skips": SKIPS, "skips_twice": SKIPS + SKIPS.replace("skips", "again"),
                "skips_itself": "pytest.skip('none of it', allow_module_level=True)\n" + PASSES},
    "Failed": {"fails": FAILS, "fails_and_skips": SKIPS + FAILS, "set_up": SKIPS + SET_UP,
               "tear_down": TEAR_DOWN, "collection": SKIPS + "raise OSError\n",
               "mended": SKIPS + UNEXPECTED, "says_skipped": SKIPS + SPEAKS,
               "crashes": SKIPS + CRASHES, "ends": SKIPS + ENDS, "empty": "",
               "leaves": FOLDERS + LEAVES, "leaves_set_up": FOLDERS + SETS_UP,
               "leaves_torn_down": TEARS_DOWN},
}
EXPECTATIONS = {name: outcome for outcome, files in CASES.items() for name in files}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Where the tests of all cases have their folders."""
    return tmp_path_factory.mktemp("folders")


def run(build, folders, *options):
    subprocess.run(["ctest", "--test-dir", build, *options], check=False, capture_output=True,
                   env=os.environ | {"TMPDIR": str(folders)})


@pytest.fixture(scope="module")
def build(tmp_path_factory, folders):
    """The build directory, in which CTest has run all cases."""
    project, build = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("build")
    lines = ["cmake_minimum_required(VERSION 3.25)", "project(cases NONE)", "enable_testing()",
             f'list(APPEND CMAKE_MODULE_PATH "{SOURCE}/cmake")',
             'set(ZARRBRIDGE_TEST_FIND_CONNECTOR "")', "include(TestPython)"]
    for files in CASES.values():
        for name, text in files.items():
            (project / f"test_{name}.py").write_text("import os\nimport pytest\n" + text)
            lines.append(f"zarrbridge_add_pytest({name} test_{name}.py)")
    (project / "CMakeLists.txt").write_text("\n".join(lines))
    subprocess.run(["cmake", "-S", project, "-B", build, f"-DZARRBRIDGE_PYTHON={sys.executable}"],
                   check=True, capture_output=True)
    run(build, folders, "--output-junit", "said.xml")
    return build


@pytest.fixture(scope="module")
def outcomes(build):
    """What CTest says of each case, by name."""
    return {case.get("name"): outcome_of(case)
            for case in ElementTree.parse(build / "said.xml").iter("testcase")}


def outcome_of(case):
    if case.find("failure") is not None:
        return "Failed"
    return "Skipped" if case.find("skipped") is not None else "Passed"


@pytest.mark.parametrize("name", EXPECTATIONS)
def test_outcome(outcomes, name):
    assert outcomes[name] == EXPECTATIONS[name]


def test_every_case_ran(outcomes):
    assert outcomes.keys() == EXPECTATIONS.keys()


LEFT = ["crashed", "file", "file", "left", "set_up", "torn_down"]


def files_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_what_failed_alone_leaves_files(build, folders):
    assert files_in(folders) == LEFT
    log = (build / "Testing" / "Temporary" / "LastTest.log").read_text()
    said = re.findall("^The folders of tests that failed are in (.*)$", log, re.MULTILINE)
    assert len(said) == 3 and {Path(path).parent for path in said} == {folders}
    assert all(set(files_in(Path(path))) & set(LEFT) - {"crashed"} for path in said)


def test_the_next_run_replaces_what_the_last_one_left(build, folders):
    before = set(folders.iterdir())
    run(build, folders)
    assert files_in(folders) == LEFT and before.isdisjoint(folders.iterdir())


def test_the_folder_of_a_run_that_goes_on_stays(build, folders):
    going_on = next(path for path in folders.iterdir() if "torn_down" in files_in(path))
    descriptor = os.open(going_on, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    run(build, folders, "-R", "leaves_torn_down")
    assert files_in(going_on) == ["torn_down"] and files_in(folders).count("torn_down") == 2
    os.close(descriptor)


def test_a_build_without_that_python_has_no_tests_of_programs(tmp_path):
    (tmp_path / "test_passes.py").write_text(PASSES)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(cases NONE)\nenable_testing()\n"
        f'list(APPEND CMAKE_MODULE_PATH "{SOURCE}/cmake")\ninclude(TestPython)\n'
        "zarrbridge_add_pytest(passes test_passes.py)\n"
        'message(STATUS "reason: ${ZARRBRIDGE_NO_PYTHON}")\n')
    (tmp_path / "tools").symlink_to(f"{SOURCE}/tools")
    said = subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "build"], check=True, text=True,
                          capture_output=True, env=os.environ | {"ZARRBRIDGE_PYTHON": "/bin/false"})
    assert "reason: no Python with the modules" in said.stdout
    listed = subprocess.run(["ctest", "--test-dir", tmp_path / "build", "-N"], check=True, text=True,
                            capture_output=True).stdout
    assert "Total Tests: 0" in listed
