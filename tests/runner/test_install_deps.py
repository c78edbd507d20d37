# SPDX-License-Identifier: MIT
"""tools/install-deps --build: GDAL's headers without what libgdal-dev draws in. The programs of apt are stand-ins."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOOL = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"]) / "tools/install-deps"
DEBIAN = Path("/etc/os-release").read_text().find("\nID=debian") >= 0
STAND_INS = {
    # All packages but libgdal-dev are installed, in a version that is new enough.
    "dpkg-query": 'case "$*" in *libgdal-dev*) exit 1 ;; esac\n'
                  'for name; do echo "installed $name 99:9"; done',
    "apt-get": 'case $1 in indextargets) exit 0 ;; esac\necho "$*" >>{0}/calls\n'
               '[ $1 != download ] || for name; do case $name in *=*) touch "${{name%%=*}}_$(cat {0}/version)_all.deb" ;; esac; done',
    "apt-cache": 'echo "  Candidate: $(cat {0}/version)"',
    "dpkg-deb": 'case $1 in -f) echo "libgdal36 (= 3.10), libboost-dev" ;;\n'
                '*) mkdir -p usr/share usr/include && touch "usr/include/$(basename $2)" ;; esac',
}

pytestmark = pytest.mark.skipif(not DEBIAN, reason="apt is Debian's")


@pytest.fixture
def run(tmp_path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "bin").mkdir()
    shutil.copy(TOOL, tmp_path / "tools")
    (tmp_path / "version").write_text("3.10")
    for name, text in STAND_INS.items():
        program = tmp_path / "bin" / name
        program.write_text("#!/bin/bash\n" + text.format(tmp_path) + "\n")
        program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}

    def call(*words):
        return subprocess.run([tmp_path / "tools/install-deps", *words], env=environment, cwd=tmp_path, capture_output=True,
                              text=True)
    return call


def files(tmp_path):
    return sorted(path.name for path in (tmp_path / "build/gdal").rglob("*") if path.is_file() and path.name != "log")


def test_headers_are_unpacked_once_for_each_version(run, tmp_path):
    for version, calls in (("3.10", 2), ("3.10", 2), ("3.13", 4)):
        (tmp_path / "version").write_text(version)
        done = run("--build")
        assert done.returncode == 0, done.stderr
        assert files(tmp_path) == [f"libgdal-dev_{version}_all.deb", f"libgdal36_{version}_all.deb", "version"]
        assert len((tmp_path / "calls").read_text().splitlines()) == calls


def test_a_download_that_fails_is_told_and_done_again(run, tmp_path):
    program = tmp_path / "bin/apt-get"
    works = program.read_text()
    program.write_text("#!/bin/bash\n[ $1 = indextargets ] || { echo 'E: no network' >&2; exit 100; }\n")
    done = run("--build")
    assert done.returncode == 1 and "E: no network" in done.stderr
    program.write_text(works)
    assert run("--build").returncode == 0 and "version" in files(tmp_path)


@pytest.mark.parametrize("words", [["--build", "--without-gdal"], ["--run"], ["--build", "--test"]])
def test_nothing_is_unpacked(run, tmp_path, words):
    run(*words)
    assert not (tmp_path / "build/gdal").exists()


@pytest.mark.parametrize("words", [["--without-gdal"], ["--test", "--build", "--without-gdal"], ["--builds"]])
def test_misuse(run, words):
    done = run(*words)
    assert done.returncode == 2 and "--without-gdal" in done.stderr
