# SPDX-License-Identifier: MIT
"""Recipes for package managers that are not here: their form, and that what they name exists."""

import os
import re
import subprocess
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
SOURCE = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])
VERSION = re.search(r"project\(zarrbridge VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
CONDA = SOURCE / "packaging/conda/recipe.yaml"
SPACK = SOURCE / "packaging/spack/spack_repo/zarrbridge/packages/zarrbridge/package.py"
CMAKE = "".join(path.read_text() for path in [SOURCE / "CMakeLists.txt", *SOURCE.glob("*/CMakeLists.txt"),
                                              *SOURCE.glob("cmake/*.cmake")])


def test_conda_has_three_outputs_of_this_version():
    recipe = yaml.safe_load(CONDA.read_text())
    assert recipe["schema_version"] == 1 and recipe["context"]["version"] == VERSION
    outputs = {output["package"]["name"]: output for output in recipe["outputs"]}
    assert set(outputs) == {"libzarrbridge", "hdf5-vol-zarr", "libgdal-zarr3"}
    for output in outputs.values():
        assert output["build"]["script"] and output["tests"]
        assert {"build", "host"} <= set(output["requirements"])


def test_spack_compiles_and_names_this_version():
    compile(SPACK.read_text(), SPACK.name, "exec")
    assert f'version("{VERSION}", tag="v{VERSION}")' in SPACK.read_text()
    assert yaml.safe_load((SPACK.parents[2] / "repo.yaml").read_text())["repo"]["namespace"] == "zarrbridge"


@pytest.mark.parametrize("recipe", [CONDA, SPACK, SOURCE / "packaging/deb/debian/rules", SOURCE / "packaging/cpack"],
                         ids=lambda path: path.name)
def test_options_exist(recipe):
    named = set(re.findall(r"(ZARRBRIDGE_[A-Z0-9_]+|HDF5_PLUGIN_INSTALL_DIR)", recipe.read_text()))
    assert named and all(re.search(rf"(?:option|set)\({name} ", CMAKE) for name in named)


def test_targets_and_components_exist():
    text = CONDA.read_text()
    for target in re.findall(r"--target (\S+)", text):
        assert f"({target} " in CMAKE
    assert set(re.findall(r"--component (\S+)", text)) < set(re.search(r"COMPONENTS_ALL (.*)\)", CMAKE)[1].split())


def test_forms_and_workflows_are_yaml():
    """Jobs run commands that are in the repository."""
    for path in [*(SOURCE / ".github").rglob("*.yml"), SOURCE / ".pre-commit-config.yaml", SOURCE / "CITATION.cff"]:
        assert yaml.safe_load(path.read_text()), path
    known = subprocess.run(["tools/package", "--kinds"], cwd=SOURCE, check=True, capture_output=True,
                           text=True).stdout.split()
    workflow = yaml.safe_load((SOURCE / ".github/workflows/ci.yml").read_text())
    commands = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    for tool, kind in re.findall(r"^((?:tools|packaging)/\S+) ?(\S*)", "\n".join(commands), re.M):
        assert os.access(SOURCE / tool, os.X_OK), tool
        assert tool != "tools/package" or kind in known
