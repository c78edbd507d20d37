# SPDX-License-Identifier: MIT
"""GDAL's own tests of its Zarr driver, with this one in its place, and natively beside it. Those of
Zarr version 3 are counted; gdal_causes.txt says of those that fail why."""
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

SECONDS = 3600
PLUGINS = Path(os.environ["ZARRBRIDGE_BUILD_DIR"]) / "gdal-driver" / "plugins"
CAUSES = Path(__file__).with_name("gdal_causes.txt")
PARTS = ("conftest.py", "__init__.py", "pymod", "ogr/__init__.py", "ogr/conftest.py",
         "ogr/ogr_pg.py", "ogr/ogr_mssqlspatial.py", "gcore/data/byte.tif",
         "gcore/data/uint16.tif", "gdrivers/__init__.py", "gdrivers/conftest.py",
         "gdrivers/zarr_driver.py", "gdrivers/data/zarr",
         "gdrivers/data/byte.tif", "gdrivers/data/rgbsmall.tif", "gdrivers/data/utm.tif",
         "gdrivers/data/small_world.tif", "gdrivers/data/netcdf/expanded_form_of_grid_mapping.nc")
MARKERS = ("random_order require_32bit require_64bit require_curl require_creation_option "
           "require_driver require_geos require_proj require_run_on_demand slow xdist_group network")
ABOUT_V3 = re.compile(r'ZARR_V3|zarr/v3|zarr\.json|"zarr_format": 3|_v3')
OTHER_CASES = re.compile(r"ZARR_V2|\bV2\b|data/zarr/(?!v3)")  # of functions for both versions
ASKS_OTHER = {"text", "name", "option"}  # causes that are the own driver's, and no fault of data


def copy_parts(autotest, folder):
    """The suite writes beside its data, and wants a database of PROJ that nobody else changes."""
    for part in PARTS:
        source, target = autotest / part, folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        elif source.exists():
            shutil.copy2(source, target)
    (folder / "proj_grids").mkdir()
    database = folder / "gcore" / "tmp" / "proj_db_tmpdir"
    database.mkdir(parents=True)
    found = subprocess.run([sys.executable, "-c", "from osgeo import osr;"
                            "print('\\n'.join(osr.GetPROJSearchPaths()))"],
                           check=True, capture_output=True, text=True).stdout.split("\n")
    for path in found:
        if (Path(path) / "proj.db").exists():
            shutil.copy2(Path(path) / "proj.db", database)
            break
    markers = "".join(f"    {name}: of GDAL\n" for name in MARKERS.split())
    (folder / "pytest.ini").write_text("[pytest]\npython_files = *.py\ngdal_version = 3\n"
                                       "addopts = --strict-markers\nmarkers =\n" + markers)


def outcomes(folder, **environment):
    """The outcome of each case, and the text of the run. A crash costs one case, with
    pytest-forked."""
    command = [sys.executable, "-m", "pytest", "-v", "--no-header", "--tb=line", "-p",
               "no:cacheprovider", "gdrivers/zarr_driver.py"]
    if subprocess.run([sys.executable, "-c", "import pytest_forked"],
                      stderr=subprocess.DEVNULL, check=False).returncode == 0:
        command.insert(3, "--forked")
    env = {name: value for name, value in os.environ.items() if not name.startswith("GDAL_")}
    done = subprocess.run(command, cwd=folder, env=env | environment, timeout=SECONDS, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    return dict(re.findall(r"^gdrivers/zarr_driver\.py::(test_\S+.*?) (PASSED|FAILED|ERROR|SKIPPED)",
                           done.stdout, re.M)), done.stdout


def functions_of_v3(source):
    """The names of test functions that say so in their text, or in that of a helper they call."""
    lines = source.split("\n")
    texts = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno] + [one.lineno for one in node.decorator_list])
            texts[node.name] = "\n".join(lines[first - 1:node.end_lineno])

    def is_about_v3(name, seen=()):
        if ABOUT_V3.search(texts[name]):
            return True
        return any(is_about_v3(helper, (*seen, name)) for helper in texts
                   if helper.startswith("_") and helper not in seen and
                   re.search(rf"\b{helper}\(", texts[name]))

    return {name for name in texts if is_about_v3(name)}


def known_causes():
    """(the beginning of cases' names, cause)."""
    for line in CAUSES.read_text().split("\n"):
        if line and not line.startswith("#"):
            cause, name = line.split("  ")[0].split(None, 1)
            yield name, cause


def cause_of(case, causes):
    """The longest beginning that fits counts."""
    return max(((len(name), cause) for name, cause in causes if case.startswith(name)),
               default=(0, "UNKNOWN"))[1]


def gdal_zarr(checkout):
    """Prints the counts; returns the number of failures without a known cause."""
    autotest = checkout / "autotest"
    of_v3 = functions_of_v3((autotest / "gdrivers" / "zarr_driver.py").read_text())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "autotest"
        copy_parts(autotest, folder)
        native, text = outcomes(folder)
        if "PASSED" not in native.values():
            sys.exit("the suite does not run with this GDAL:\n" + text[-2000:])
        ours, _ = outcomes(folder, GDAL_DRIVER_PATH=str(PLUGINS), GDAL_ZARR3_TAKE_OVER="YES")
    good = [case for case, outcome in native.items() if outcome == "PASSED"]
    mine = [case for case in good
            if case.split("[")[0] in of_v3 and not OTHER_CASES.search(case)]
    causes = list(known_causes())
    failed = {case: cause_of(case, causes) for case in mine if ours.get(case) != "PASSED"}
    for case, cause in sorted(failed.items(), key=lambda item: (item[1], item[0])):
        print(f"    {cause:8} {case}")
    counts = Counter(failed.values())
    asked = len(mine) - sum(counts[cause] for cause in ASKS_OTHER)
    passed = len(mine) - len(failed)
    others = set(good) - set(mine)
    print(f"version 3: {passed} of {len(mine)} pass; " +
          ", ".join(f"{cause} {count}" for cause, count in counts.most_common()))
    print(f"           {passed} of the {asked} that ask for no text, name or option of GDAL's own "
          f"driver ({100 * passed / asked:.0f} %)")
    possible = asked - counts["more"]
    print(f"           {passed} of the {possible} of these that want no refusal of what works here "
          f"({100 * passed / possible:.0f} %)")
    print(f"others:    {sum(ours.get(case) == 'PASSED' for case in others)} of {len(others)} pass")
    return counts["UNKNOWN"]
