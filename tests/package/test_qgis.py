# SPDX-License-Identifier: MIT
"""QGIS with the driver and the plugin, in a chroot that gets QGIS from its release: 3.40 of trixie. That of forky,
3.44, is tried by the step forky of tools/test."""

import os
import re
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])


@pytest.mark.parametrize("suite", ["trixie"])
def test_qgis(suite):
    base = subprocess.run([SOURCE / "tools/test-in", suite, "true"], capture_output=True, text=True, check=False)
    if base.returncode:
        lines = (base.stdout + base.stderr).strip().splitlines() or ["no reason is told"]
        pytest.skip(f"no chroot of {suite}: {lines[-1]}")
    done = subprocess.run([SOURCE / "packaging/qgis/check", suite], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    assert re.search(r"^QGIS 3\.\d+", done.stdout, re.M) and "100% tests passed" in done.stdout
    assert "Skipped" not in done.stdout, done.stdout[-3000:]
