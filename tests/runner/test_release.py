# SPDX-License-Identifier: MIT
"""tools/release, with a stand-in for what builds: what stops it, what a dry run leaves, what a tag is made of."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])
TOLD = re.findall(r"^(\S+) \S*\^", re.search(r"<<LIST\n(.*?)\nLIST", (SOURCE / "tools/release").read_text(), re.S)[1],
                  re.M)
VERSION = re.search(r"project\(zarrbridge VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
NEXT = "7.8.9"


@pytest.fixture
def checkout(tmp_path):
    for name in ["tools/release", *(name for name in TOLD if (SOURCE / name).exists())]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SOURCE / name, tmp_path / name)
    script(tmp_path / "tools/package", '[ $1 = --kinds ] && { echo deb; echo tgz; exit; }\n'
           'echo "$1" >>build/built; mkdir -p build/dist/$1; echo $1 >build/dist/$1/zarrbridge.$1')
    script(tmp_path / "packaging/check", "echo checked $*")
    (tmp_path / "build").mkdir()
    (tmp_path / ".gitignore").write_text("/build/\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "All")
    return tmp_path


def script(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)


def git(folder, *words):
    return subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@y", *words], cwd=folder, check=True,
                          capture_output=True, text=True).stdout


def release(checkout, *words):
    author = {f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return subprocess.run(["tools/release", *words], cwd=checkout, env=os.environ | author, capture_output=True,
                          text=True, check=False)


def test_a_dry_run_builds_and_checks_and_leaves_no_trace(checkout):
    before = git(checkout, "log", "--format=%H")
    done = release(checkout, VERSION, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert f"checked build/dist/deb {VERSION}" in done.stdout and f"checked build/dist/tgz {VERSION}" in done.stdout
    out = checkout / f"build/release-{VERSION}"
    assert sorted(os.listdir(out)) == ["SHA256SUMS", "zarrbridge.deb", "zarrbridge.tgz"]
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=out, check=True)
    assert git(checkout, "log", "--format=%H") == before
    assert git(checkout, "status", "--porcelain") == git(checkout, "tag") == ""


def test_a_release_has_dates_and_a_tag(checkout):
    done = release(checkout, VERSION, "tgz")
    assert done.returncode == 0, done.stderr
    assert (checkout / "build/built").read_text() == "tgz\n"
    assert git(checkout, "tag", "--points-at", "HEAD") == f"v{VERSION}\n"
    assert git(checkout, "status", "--porcelain") == ""
    today = subprocess.run(["date", "-u", "+%F"], check=True, capture_output=True, text=True).stdout.strip()
    assert f"\n## [{VERSION}] - {today}\n" in (checkout / "CHANGELOG.md").read_text()
    assert f"date-released: {today}\n" in (checkout / "CITATION.cff").read_text()


@pytest.mark.parametrize("name", [name for name in TOLD if (SOURCE / name).exists()])
def test_each_file_that_names_another_version_stops_it(checkout, name):
    path = checkout / name
    text = path.read_text()
    path.write_text(text.replace(VERSION, NEXT).replace(".".join(VERSION.split(".")[:2]), "7.8"))
    assert path.read_text() != text
    done = release(checkout, VERSION, "--dry-run")
    assert done.returncode != 0 and name in done.stderr and not (checkout / "build/built").exists()


def test_what_else_stops_it(checkout):
    (checkout / "new").touch()
    assert "not committed" in release(checkout, VERSION).stderr
    (checkout / "new").unlink()
    git(checkout, "tag", f"v{VERSION}")
    assert "there already" in release(checkout, VERSION).stderr
    log = checkout / "CHANGELOG.md"
    log.write_text(log.read_text() + "- more\n\n" * 61)
    assert "60 are enough" in release(checkout, VERSION, "--dry-run").stderr
    assert release(checkout, "0.1").returncode == release(checkout).returncode == 2
    assert not (checkout / "build/built").exists()


def test_a_package_that_fails_its_check_stops_it(checkout):
    script(checkout / "packaging/check", "exit 1")
    git(checkout, "commit", "-qam", "Fail")
    assert release(checkout, VERSION).returncode != 0
    assert git(checkout, "tag") == ""


def test_the_workflow_calls_what_there_is():
    """Its tools, and those steps of tools/test that it names."""
    workflow = (SOURCE / ".github/workflows/ci.yml").read_text()
    called = set(re.findall(r"run: ((?:tools|packaging)/\S+)", workflow))
    assert called >= {"tools/test", "tools/package", "tools/docs"}
    assert all(os.access(SOURCE / name, os.X_OK) for name in called), called
    known = set(re.findall(r"^    (\S+)\) (?:test|build)", (SOURCE / "tools/test").read_text(), re.M))
    named = {step for line in re.findall(r'steps: "([^"]+)"', workflow) for step in line.split()}
    assert {"format", "release", "asan", "tsan", "plugins"} <= named and "format" in known
    assert named - {"release", "asan", "tsan"} <= known
    presets = (SOURCE / "CMakePresets.json").read_text()
    assert all(f'"name": "{step}"' in presets for step in named - known)
