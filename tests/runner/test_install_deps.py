# SPDX-License-Identifier: MIT
"""tools/install-deps --build: the headers of HDF5, curl and GDAL without what their packages draw in. The programs of
apt are stand-ins."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOOL = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"]) / "tools/install-deps"
DEBIAN = Path("/etc/os-release").read_text().find("\nID=debian") >= 0
STAND_INS = {
    # All packages but those of headers are installed, in a version that is new enough.
    "dpkg-query": 'case "$*" in "-W "*" libgdal-dev" | *" libhdf5-dev" | *" libcurl4-openssl-dev") exit 1 ;; esac\n'
                  'for name; do echo "installed $name 99:9"; done',
    "apt-get": 'case $1 in indextargets) exit 0 ;; esac\necho "$*" >>{0}/calls\n'
               '[ $1 != download ] || for name; do case $name in *=*) touch "${{name%%=*}}_$(cat {0}/version)_all.deb" ;; esac; done',
    "apt-cache": 'echo "  Candidate: $(cat {0}/version)"',
    "dpkg-deb": 'case $1 in -f) echo "libgdal36 (= 3.10), libboost-dev" ;;\n'
                '*) mkdir -p usr/share usr/include usr/lib/any/pkgconfig && touch "usr/include/$(basename $2)" ;; esac\n'
                'case $2 in libgdal36*) cp {0}/libgdal.so usr/lib/any/libgdal.so.36.3 ;;\n'
                'libcurl*) cp {0}/libcurl.pc usr/lib/any/pkgconfig; touch usr/lib/any/libcurl.a\n'
                'ln -s libcurl.so.4 usr/lib/any/libcurl.so ;; esac',
}

pytestmark = pytest.mark.skipif(not DEBIAN, reason="apt is Debian's")


@pytest.fixture
def run(tmp_path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "bin").mkdir()
    shutil.copy(TOOL, tmp_path / "tools")
    (tmp_path / "version").write_text("3.10")
    compile_c("int GDALOpen(void) { return 1; } int table[99999] = {1};", tmp_path / "libgdal.so",
              "-Wl,-soname,libgdal.so.36")
    (tmp_path / "libcurl.pc").write_text("prefix=/usr\nincludedir=/usr/include/any\nRequires.private: openssl\n"
                                         "Name: libcurl\nDescription: x\nVersion: 8.14\nCflags: -I${includedir}\n"
                                         "PluginDir=/usr/lib/plugins\n")
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
    return sorted(path.name for path in (tmp_path / "build/unpacked").rglob("*.deb"))


def compile_c(text, output, *options):
    subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", "-o", output, *options], input=text, text=True, check=True)


def test_headers_are_unpacked_once_for_each_version(run, tmp_path):
    for version, calls in (("3.10", 4), ("3.10", 4), ("3.13", 8)):
        (tmp_path / "version").write_text(version)
        done = run("--build")
        assert done.returncode == 0, done.stderr
        assert files(tmp_path) == [f"{name}_{version}_all.deb" for name in
                                   ("libcurl4-openssl-dev", "libgdal-dev", "libgdal36", "libhdf5-dev")]
        assert len((tmp_path / "calls").read_text().splitlines()) == calls


def test_a_download_that_fails_is_told_and_done_again(run, tmp_path):
    program = tmp_path / "bin/apt-get"
    works = program.read_text()
    program.write_text("#!/bin/bash\n[ $1 = indextargets ] || { echo 'E: no network' >&2; exit 100; }\n")
    done = run("--build")
    assert done.returncode == 1 and "E: no network" in done.stderr
    program.write_text(works)
    assert run("--build").returncode == 0 and (tmp_path / "build/unpacked/versions").exists()


def test_what_is_unpacked_can_be_linked_with(run, tmp_path):
    assert run("--build").returncode == 0
    lib = tmp_path / "build/unpacked/usr/lib/any"
    assert (lib / "libgdal.so.36.3").stat().st_size < 50_000 < (tmp_path / "libgdal.so").stat().st_size
    compile_c("extern int table[]; int GDALOpen(void); int f(void) { return GDALOpen() + table[0]; }",
              tmp_path / "plugin.so", lib / "libgdal.so.36.3", "-Wl,-z,defs")
    needs = subprocess.run(["objdump", "-p", tmp_path / "plugin.so"], capture_output=True, text=True, check=True).stdout
    assert "libgdal.so.36\n" in needs
    assert os.readlink(lib / "libcurl.so") == "/usr/lib/any/libcurl.so.4" and not (lib / "libcurl.a").exists()

    def ask(option):
        return subprocess.run(["pkg-config", option, "libcurl"], capture_output=True, text=True, check=True,
                              env={**os.environ, "PKG_CONFIG_LIBDIR": str(lib / "pkgconfig")}).stdout.strip()
    assert ask("--cflags") == f"-I{tmp_path}/build/unpacked/usr/include/any"
    assert ask("--variable=PluginDir") == "/usr/lib/plugins"


def test_without_gdal_its_headers_stay_away(run, tmp_path):
    assert run("--build", "--without-gdal").returncode == 0
    assert files(tmp_path) == ["libcurl4-openssl-dev_3.10_all.deb", "libhdf5-dev_3.10_all.deb"]


@pytest.mark.parametrize("words", [["--run"], ["--build", "--test"]])
def test_nothing_is_unpacked(run, tmp_path, words):
    run(*words)
    assert not (tmp_path / "build/unpacked").exists()


@pytest.mark.parametrize("words", [["--without-gdal"], ["--test", "--build", "--without-gdal"], ["--builds"]])
def test_misuse(run, words):
    done = run(*words)
    assert done.returncode == 2 and "--without-gdal" in done.stderr
