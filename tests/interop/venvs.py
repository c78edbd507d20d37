# SPDX-License-Identifier: MIT
"""Python environments with packages from the index, for tests: each is installed at its first use, under
build/packages, and serves all builds of this checkout: they are 2.4 GB."""

import contextlib
import fcntl
import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = Path(__file__).resolve().parents[2] / "build" / "packages"
# The preloaded runtime of the sanitizers, if any, is for the plugins.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "ASAN_OPTIONS")}


@contextlib.contextmanager
def alone(folder):
    """No other test installs there meanwhile."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{folder}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


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
    with alone(folder):
        if marker.exists() and marker.read_text() == content:
            return python, None
        for step in steps:
            try:
                done = subprocess.run(step, env=ENVIRONMENT, timeout=300, capture_output=True,
                                      text=True, check=False)
            except subprocess.TimeoutExpired as slow:
                return None, str(slow)
            if done.returncode:
                return None, " ".join((done.stderr + done.stdout).strip().splitlines()[-1:])
        marker.write_text(content)
    return python, None


def venv(name, *packages, system=False):
    """The interpreter; skips the test where the packages cannot be had."""
    python, problem = install(name, *packages, system=system)
    if problem:
        pytest.skip(f"{' '.join(packages)} could not be installed: {problem}")
    return python
