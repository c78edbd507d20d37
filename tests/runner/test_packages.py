# SPDX-License-Identifier: MIT
"""tests/interop/venvs.py, peer_packages.py: an installation that was interrupted or failed counts as none, and
goes on alone. The installers are stand-ins."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, os.environ["ZARRBRIDGE_SOURCE_DIR"] + "/tests/interop")
import differential  # noqa: E402
import peer_packages  # noqa: E402
import venvs  # noqa: E402

sys.path.append(os.environ["ZARRBRIDGE_SOURCE_DIR"] + "/tests/support")
from waiting import await_call  # noqa: E402

SCRIPT = "zarrita.mjs"
WORKS = 'mkdir -p node_modules/zarrita; echo "$*" >>{0}/calls'


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """The folder of the packages; npm has to be made."""
    for module in (venvs, peer_packages):
        monkeypatch.setattr(module, "PACKAGES", tmp_path / "packages")
    venvs.install.cache_clear()
    (tmp_path / "bin").mkdir()
    monkeypatch.setitem(venvs.ENVIRONMENT, "PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    program(tmp_path / "bin" / "node", "exit 0")
    return tmp_path / "packages"


def program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def npm(packages, text):
    program(packages.parent / "bin" / "npm", text.format(packages.parent))


def calls(packages):
    return (packages.parent / "calls").read_text().count("zarrita@")


def test_npm_is_asked_once_for_each_list_of_packages(packages, monkeypatch):
    npm(packages, WORKS)
    for expected in (1, 1):
        peer_packages.zarrita(SCRIPT)
        assert calls(packages) == expected
    monkeypatch.setattr(peer_packages, "NPM", ["zarrita@0.8"])
    peer_packages.zarrita(SCRIPT)
    assert calls(packages) == 2


def test_npm_that_is_killed_has_installed_nothing(packages):
    (packages / "npm" / "node_modules" / "zarrita").mkdir(parents=True)  # as it leaves it
    npm(packages, WORKS)
    peer_packages.zarrita(SCRIPT)
    assert calls(packages) == 1


@pytest.mark.parametrize("text, problem", [
    ("kill -9 $$", "status -9$"), ("echo 'no index' >&2; exit 2", "status 2: no index")])
def test_an_installer_that_dies_says_how(packages, text, problem, monkeypatch):
    program(packages.parent / "bin" / "python", text)
    monkeypatch.setattr(sys, "executable", str(packages.parent / "bin" / "python"))
    with pytest.raises(pytest.skip.Exception, match=f"package could not be installed: {problem}"):
        venvs.venv("dies", "package")


def test_an_installer_ends_with_all_its_processes(packages):
    """At the timeout. The lock is theirs as well, which tells that they have ended."""
    with venvs.alone(packages / "slow") as lock, pytest.raises(subprocess.TimeoutExpired):
        venvs.run_installer(lock, ["sh", "-c", "sleep 1000 & sleep 1000"], 0.5)
    with venvs.alone(packages / "slow"):
        pass


def test_the_lock_is_that_of_the_installer_when_the_test_is_killed(packages):
    started, end = packages.parent / "started", packages.parent / "end"
    waits = f"touch {started}; while [ ! -e {end} ]; do sleep 0.05; done; touch {started}.ended"
    code = ("import sys, pathlib; sys.path.insert(0, sys.argv[1]); import venvs\n"
            "with venvs.alone(pathlib.Path(sys.argv[2])) as lock:\n"
            "    venvs.run_installer(lock, ['sh', '-c', sys.argv[3]], 100)")
    with subprocess.Popen([sys.executable, "-c", code, Path(venvs.__file__).parent,
                           packages / "slow", waits]) as test:
        deadline = time.monotonic() + 300
        while not started.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        test.kill()

    def let_it_end():
        await_call("flock", threading.main_thread())
        end.touch()

    threading.Thread(target=let_it_end).start()
    with venvs.alone(packages / "slow"):
        assert Path(f"{started}.ended").exists()


def test_packages_of_a_read_only_checkout_are_in_the_build(tmp_path, monkeypatch):
    monkeypatch.setenv("ZARRBRIDGE_BUILD_DIR", str(tmp_path))
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert venvs.place() == tmp_path / "packages"


def test_a_machine_without_dpkg_has_no_chroot(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(peer_packages.Missing, match="dpkg-query"):
        differential.gdal_of_forky(tmp_path)
