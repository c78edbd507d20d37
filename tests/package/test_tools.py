# SPDX-License-Identifier: MIT
"""tools/package: each kind tells its options when it is asked, and begins nothing. packaging/check looks into archives."""
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])
BUILDERS = ("cmake", "cpack", "dpkg-buildpackage", "apt-get", "git")


def kinds():
    done = subprocess.run([ROOT / "tools/package", "--kinds"], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize("kind", kinds())
def test_help_builds_nothing(kind, tmp_path):
    for name in BUILDERS:
        (tmp_path / name).write_text("#!/bin/sh\necho begun: $0 >&2\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run([ROOT / "tools/package", kind, "--help"], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert f"tools/package {kind}" in done.stdout
    wrong = subprocess.run([ROOT / "tools/package", kind, "--no-such-option"], env=environment, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, timeout=60)
    assert wrong.returncode == 2 and "begun" not in wrong.stderr, wrong.stderr


def test_check_takes_the_libraries_of_this_build(tmp_path):
    """What they export is what it allows."""
    build = pathlib.Path(os.environ["ZARRBRIDGE_BUILD_DIR"])
    libraries = [path for name in ("libzarrbridge.so.*.*.*", "libzarrbridge_remote.so", "libhdf5_vol_zarr.so", "gdal_Zarr3.so")
                 for folder in ("core", "hdf5-vol/plugins", "gdal-driver/plugins") for path in (build / folder).glob(name)]
    assert libraries
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    for path in libraries:
        subprocess.run(["strip", "-o", tmp_path / "in" / path.name, path], check=True)
    subprocess.run(["tar", "-czf", tmp_path / "out/x.tar.gz", "."], cwd=tmp_path / "in", check=True)
    done = subprocess.run([ROOT / "packaging/check", tmp_path / "out"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    assert "exports" not in done.stderr and all(path.name in done.stdout for path in libraries), done.stderr


def test_check_looks_into_an_archive(tmp_path):
    """A name with a blank and a quote is a name like others."""
    folder = tmp_path / "it's a folder"
    (tmp_path / "in").mkdir()
    folder.mkdir()
    (tmp_path / "in/a.c").write_text("int answer(void) { return 42; }\n")
    subprocess.run(["cc", "-g", "-shared", "-fPIC", "-o", "libzarrbridge.so", "a.c"], cwd=tmp_path / "in", check=True)
    subprocess.run(["tar", "-czf", folder / "x; exit.tar.gz", "."], cwd=tmp_path / "in", check=True)
    done = subprocess.run([ROOT / "packaging/check", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "is not stripped" in done.stderr and "exports answer" in done.stderr
    assert "libzarrbridge.so | 0.0" in done.stdout


def test_check_takes_the_zip_file_for_qgis():
    """All kinds that tools/release builds by default are checked."""
    made = subprocess.run([ROOT / "tools/package", "qgis"], stdout=subprocess.PIPE, text=True, check=True)
    archive = pathlib.Path(made.stdout.strip())
    done = subprocess.run([ROOT / "packaging/check", archive.parent, "0.1"], stdout=subprocess.PIPE, text=True, check=True)
    assert f"| {archive.name} |" in done.stdout
