# SPDX-License-Identifier: MIT
"""The Debian packages: built in a chroot of a release, installed, tested and purged in a new one."""

import os
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])


@pytest.mark.parametrize("suite", ["trixie", "forky"])
def test_packages(suite, tmp_path):
    base = subprocess.run([SOURCE / "tools/test-in", "--fresh", tmp_path, suite, "true"], capture_output=True,
                          text=True, check=False)
    if base.returncode:
        lines = (base.stdout + base.stderr).strip().splitlines() or ["no reason is told"]
        pytest.skip(f"no chroot of {suite}: {lines[-1]}")
    done = subprocess.run([SOURCE / "packaging/deb/check", suite], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    assert " packages installed, tested and purged" in done.stdout
    subprocess.run([SOURCE / "packaging/check", SOURCE / "build/dist" / f"deb-{suite}"], check=True)
