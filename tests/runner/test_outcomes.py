# SPDX-License-Identifier: MIT
"""zarrbridge_add_pytest (cmake/TestPython.cmake): what CTest says of a pytest file. An entry counts as
skipped when each of its tests was; anything that went wrong fails it, whatever was skipped besides."""

import os
import subprocess
import sys
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
CRASHES = "def test_crashes(): os.abort()\n"
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
LEAVES = "def test_leaves(tmp_path):\n    (tmp_path / 'left').touch()\n    assert False\n"

CASES = {
    "Passed": {"passes": PASSES, "passes_and_skips": PASSES + SKIPS, "xfails": SKIPS + EXPECTED,
               "loads_no_plugins_of_the_machine": ALONE, "removes_what_passed": FOLDERS},
    "Skipped": {"skips": SKIPS, "skips_twice": SKIPS + SKIPS.replace("skips", "again"),
                "skips_itself": "pytest.skip('none of it', allow_module_level=True)\n" + PASSES},
    "Failed": {"fails": FAILS, "fails_and_skips": SKIPS + FAILS, "set_up": SKIPS + SET_UP,
               "tear_down": TEAR_DOWN, "collection": SKIPS + "raise OSError\n",
               "mended": SKIPS + UNEXPECTED, "says_skipped": SKIPS + SPEAKS,
               "crashes": SKIPS + CRASHES, "ends": SKIPS + ENDS, "empty": "", "leaves": FOLDERS + LEAVES},
}
EXPECTATIONS = {name: outcome for outcome, files in CASES.items() for name in files}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Where the tests of all cases have their folders."""
    return tmp_path_factory.mktemp("folders")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory, folders):
    """What CTest says of each case, by name."""
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
    subprocess.run(["ctest", "--test-dir", build, "--output-junit", "said.xml"], check=False,
                   capture_output=True, env=os.environ | {"TMPDIR": str(folders)})
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


def test_what_failed_alone_leaves_files(outcomes, folders):
    assert sorted(path.name for path in folders.rglob("*") if path.is_file()) == ["file", "left"]


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
