# SPDX-License-Identifier: MIT
"""A person who types the blocks of a page into one shell."""
import os
import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])
BUILD = os.environ["ZARRBRIDGE_BUILD_DIR"]


def install_core(prefix):
    """Installs the library and the program below a folder; returns the variables that lead there."""
    subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix, "--component", "core"],
                   check=True, capture_output=True)
    return {"PKG_CONFIG_PATH": str(next(prefix.rglob("zarrbridge.pc")).parent),
            "LD_LIBRARY_PATH": str(next(prefix.rglob("libzarrbridge.so")).parent),
            "PATH": f"{prefix / 'bin'}:{os.environ['PATH']}"}


class Reader:
    """Works in a folder and keeps the variables that it exports. The tests' Python is its python3."""

    def __init__(self, folder, installed):
        self.folder = folder
        programs = folder / ".bin"
        programs.mkdir()
        (programs / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (programs / "python3").chmod(0o755)
        self.environment = {**os.environ, **installed}
        self.environment["PATH"] = f"{programs}:{self.environment['PATH']}"

    def run(self, *command):
        done = subprocess.run([str(word) for word in command], cwd=self.folder, check=False,
                              env=self.environment, capture_output=True, text=True, timeout=1200)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def sh(self, text):
        for name, value in re.findall(r"^export (\w+)=(\S+)$", text, re.M):
            self.environment[name] = value
        # QGIS opens a window; tests/gdal/test_qgis.py shows its layers without one.
        return self.run("bash", "-euo", "pipefail", "-c", re.sub(r"^qgis .*$", "", text, flags=re.M))

    def python(self, text):
        """What a block prints stands behind its calls of print."""
        told = self.run("python3", "-c", text)
        expected = re.findall(r"^ *print\(.*  # (.*)$", text, re.M)
        assert told.splitlines() == expected, f"{text}\nprints\n{told}"
        return told

    def file(self, text):
        """A block of a compiled language is a file, whose name stands in its first line."""
        name = re.match(r"(?:/\*|!) ([\w.]+)", text).group(1)
        (self.folder / name).write_text(text)
        return ""
