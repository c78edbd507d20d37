# SPDX-License-Identifier: MIT
"""Python environments with packages from the index, for tests: each is installed at its first use, under
build/packages, and serves all builds of this checkout: they are 2.4 GB. They are under the build directory
where the checkout is read-only."""

import contextlib
import fcntl
import functools
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest


def place():
    shared = Path(__file__).resolve().parents[2] / "build" / "packages"
    there = next(path for path in (shared, *shared.parents) if path.exists())
    return shared if os.access(there, os.W_OK) else Path(os.environ["ZARRBRIDGE_BUILD_DIR"]) / "packages"


PACKAGES = place()
SECONDS = int(os.environ.get("ZARRBRIDGE_INSTALL_SECONDS", 300))  # of one step of an installation
# The preloaded runtime of the sanitizers, if any, is for the plugins.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "ASAN_OPTIONS")}


@contextlib.contextmanager
def alone(folder):
    """No other test installs there meanwhile. Gives the lock, for run_installer()."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock


def run_installer(lock, command, timeout, **options):
    """Like subprocess.run(). All processes of the command end at the timeout; they hold the lock, too, so that
    it is theirs until they end where this process is killed."""
    with subprocess.Popen([str(word) for word in command], env=ENVIRONMENT, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, start_new_session=True,
                          pass_fds=[lock.fileno()], **options) as process:
        try:
            output, errors = process.communicate(timeout=timeout)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


@functools.cache
def install(name, *packages, system=False):
    """(interpreter, None), or (None, why the packages cannot be had here). Once in a run: a package
    index that does not answer is not asked again. With `system`, the packages of this interpreter
    are there, too."""
    folder = PACKAGES / f"venv-{name}"
    python, marker = folder / "bin" / "python", folder / "installed"
    content = "\n".join([sys.executable, sys.version, *packages])
    site = ["--system-site-packages"] if system else []
    steps = ([sys.executable, "-m", "venv", "--clear", *site, folder],
             [python, "-m", "pip", "-q", "--disable-pip-version-check", "install", "--retries",
              "1", "--timeout", "10", "--only-binary", ":all:", *packages])
    with alone(folder) as lock:
        if marker.exists() and marker.read_text() == content:
            return python, None
        for step in steps:
            try:
                done = run_installer(lock, step, SECONDS)
            except subprocess.TimeoutExpired as slow:
                return None, str(slow)
            if done.returncode:
                said = (done.stderr + done.stdout).strip().splitlines()[-1:]
                return None, ": ".join([f"status {done.returncode}", *said])
        marker.write_text(content)
    return python, None


def venv(name, *packages, system=False):
    """The interpreter; skips the test where the packages cannot be had."""
    python, problem = install(name, *packages, system=system)
    if problem:
        pytest.skip(f"{' '.join(packages)} could not be installed: {problem}")
    return python
