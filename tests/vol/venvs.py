# SPDX-License-Identifier: MIT
"""Python environments with packages from the index, for tests: each is installed once, under the build directory."""

import functools
import subprocess
import sys

from conftest import build_dir, run


@functools.cache
def install(name, *packages, system=False):
    """(interpreter, None), or (None, why the packages cannot be had here). Once in a run: a package
    index that does not answer is not asked again. With `system`, the packages of this interpreter
    are there, too."""
    folder = build_dir() / "tests" / "vol" / f"venv-{name}"
    python = folder / "bin" / "python"
    marker = folder / "installed"
    if marker.exists() and marker.read_text().split() == list(packages):
        return python, None
    site = ["--system-site-packages"] if system else []
    steps = ([sys.executable, "-m", "venv", "--clear", *site, folder],
             [python, "-m", "pip", "-q", "--disable-pip-version-check", "install", "--retries",
              "1", "--timeout", "10", "--only-binary", ":all:", *packages])
    for step in steps:
        try:
            done = run(step, timeout=300)
        except subprocess.TimeoutExpired as slow:
            return None, str(slow)
        if done.returncode:
            return None, " ".join((done.stderr + done.stdout).strip().splitlines()[-1:])
    marker.write_text(" ".join(packages))
    return python, None
