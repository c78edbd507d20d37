# SPDX-License-Identifier: MIT
"""Every preset and every switch gives a build that can be configured."""

import os
import subprocess

import pytest

SOURCE = os.environ["ZARRBRIDGE_SOURCE_DIR"]
BUILD = os.environ["ZARRBRIDGE_BUILD_DIR"]


def configure(folder, *options, **variables):
    done = subprocess.run(["cmake", "-S", SOURCE, "-B", str(folder), *map(str, options)], cwd=SOURCE,
                          capture_output=True, text=True, check=False, env=os.environ | variables)
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


@pytest.mark.skipif(subprocess.run(["pkg-config", "--exists", "hdf5-serial"], check=False).returncode != 0,
                    reason="HDF5 has one flavour here")
def test_where_hdf5_is_that_for_mpi_the_serial_one_is_used(tmp_path):
    """The flavour for MPI has headers that include one of MPI."""
    headers = tmp_path / "include"
    headers.mkdir()
    (headers / "H5pubconf.h").write_text("#define H5_HAVE_PARALLEL 1\n")
    (headers / "hdf5.h").write_text("#include <no_mpi_here.h>\n")
    (tmp_path / "hdf5.pc").write_text(
        f"Name: HDF5\nDescription: HDF5 for MPI\nVersion: 1.14.5\nCflags: -I{headers}\nLibs: -lhdf5_for_mpi\n")
    parts = (f"-DZARRBRIDGE_BUILD_{part}=OFF" for part in ("GDAL_DRIVER", "TESTS", "BENCH"))
    configure(tmp_path / "build", *parts, PKG_CONFIG_PATH=str(tmp_path))
