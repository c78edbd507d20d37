# SPDX-License-Identifier: MIT
"""Other libraries' packages, installed in build/packages at their first use. Each function
raises Missing, with the reason, where they cannot be had: that skips a test, and fails none."""

import shutil
import subprocess
import sys
from pathlib import Path

from venvs import ENVIRONMENT, PACKAGES, alone, run_installer

HERE = Path(__file__).parent
TOOLS = HERE.parents[1] / "tools"
NUMCODECS = "numcodecs==0.16.1"
NPM = ["zarrita@0.7", "@zarrita/storage@0.2"]


class Missing(Exception):
    pass


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env=ENVIRONMENT, **options)


def installs(lock, *command, seconds=120, **options):
    """The output of the command; None where it fails, or waits in vain for a package index."""
    try:
        done = run_installer(lock, command, seconds, **options)
    except subprocess.TimeoutExpired:
        return None
    return None if done.returncode else done.stdout.strip()


def zarrita(script):
    """The command that runs the script, a copy of which lies beside the packages, and its folder."""
    folder = PACKAGES / "npm"
    if not shutil.which("node") or not shutil.which("npm"):
        raise Missing("zarrita.js: no node or npm")
    marker, content = folder / "installed", "\n".join(NPM)
    with alone(folder) as lock:
        if not marker.exists() or marker.read_text() != content:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            if installs(lock, "npm", "install", "--no-audit", "--no-fund", "--fetch-retries=1",
                        "--fetch-timeout=20000", "--prefix", folder, *NPM, cwd=folder) is None:
                shutil.rmtree(folder)
                raise Missing("zarrita.js cannot be installed")
            marker.write_text(content)
        shutil.copy(HERE / script, folder)
    return ["node", str(folder / script)], str(folder)


def numcodecs_fixtures():
    """The folder of arrays that versions of numcodecs have encoded, from the source of one of them."""
    folder = PACKAGES / "numcodecs"
    with alone(folder) as lock:
        found = sorted(folder.glob("*/fixture"))
        if not found:
            folder.mkdir(exist_ok=True)
            if installs(lock, sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
                        "--retries", "1", "--timeout", "20", "--no-deps", "--no-binary", "numcodecs", "--dest", folder,
                        NUMCODECS, seconds=600) is None:
                raise Missing(f"the source of {NUMCODECS} cannot be had")
            (archive,) = folder.glob("*.tar.gz")
            shutil.unpack_archive(archive, folder, filter="data")
            found = sorted(folder.glob("*/fixture"))
    return found[0]


def python_with_zarrs(zarr=None):
    """A Python with zarrs, TensorStore and that zarr-python."""
    folder = PACKAGES / (f"venv-peers-{zarr}" if zarr else "venv-peers")
    with alone(folder) as lock:
        python = installs(lock, TOOLS / "bench-venv", folder, *([zarr] if zarr else []))
    if python is None:
        raise Missing("zarrs and TensorStore cannot be installed")
    return python
