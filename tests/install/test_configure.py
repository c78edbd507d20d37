# SPDX-License-Identifier: MIT
"""Every preset and every switch gives a build that can be configured."""

import os
import subprocess

import pytest

SOURCE = os.environ["ZARRBRIDGE_SOURCE_DIR"]
BUILD = os.environ["ZARRBRIDGE_BUILD_DIR"]


def configure(folder, *options):
    done = subprocess.run(["cmake", "-S", SOURCE, "-B", str(folder), *map(str, options)],
                          cwd=SOURCE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {path.name for path in folder.iterdir() if path.is_dir()}


@pytest.mark.parametrize("preset", ["release", "dev", "asan", "tsan", "coverage"])
def test_preset(preset, tmp_path):
    assert {"core", "hdf5-vol", "gdal-driver", "tests"} <= configure(tmp_path, "--preset", preset)


@pytest.mark.parametrize("part,folder", [("HDF5_VOL", "hdf5-vol"), ("GDAL_DRIVER", "gdal-driver"),
                                         ("TESTS", None), ("BENCH", None)])
def test_without(part, folder, tmp_path):
    assert folder not in configure(tmp_path, f"-DZARRBRIDGE_BUILD_{part}=OFF")


def test_without_the_core_the_installed_one_is_used(tmp_path):
    prefix = tmp_path / "prefix"
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix, "--component", "core"],
                   check=True, capture_output=True)
    made = configure(tmp_path / "build", "-DZARRBRIDGE_BUILD_CORE=OFF",
                     f"-DCMAKE_PREFIX_PATH={prefix}")
    assert "core" not in made and {"hdf5-vol", "gdal-driver"} <= made
