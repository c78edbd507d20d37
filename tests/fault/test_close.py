# SPDX-License-Identifier: MIT
"""Errors while h5py flushes and closes: they are reported, and then the process can go on. The
tests run close_errors.py, in which each system call in turn fails, once or for a while."""
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
SHIM_PLACE = os.path.join(os.environ["ZARRBRIDGE_BUILD_DIR"], "tests", "fault")


def joined(variable, entry):
    return ":".join(filter(None, [os.environ.get(variable, ""), entry]))


@pytest.mark.parametrize("sync", ["none", "close", "always"])
@pytest.mark.parametrize("trouble", ["once", "until-flush", "until-close"])
def test_close(sync, trouble):
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        done = subprocess.run(
            [sys.executable, "-W", "error", HERE / "close_errors.py", folder, trouble],
            env={**os.environ, "HDF5_VOL_CONNECTOR": f"zarr sync={sync}",
                 "LD_PRELOAD": joined("LD_PRELOAD", "libzb-fault-shim.so"),
                 "LD_LIBRARY_PATH": joined("LD_LIBRARY_PATH", SHIM_PLACE)},
            capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.endswith("end\n"), done.stdout + done.stderr
    assert not done.stderr
    told = [line for line in done.stdout.splitlines() if "close" in line]
    # With "always", each write reports its own failure, and often nothing is left for the close.
    assert told or sync != "close"
