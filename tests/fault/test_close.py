# SPDX-License-Identifier: MIT
"""Errors while h5py flushes and closes: they are reported to the handle whose data they concern, and then
the process can go on. The tests run close_errors.py, in which each system call in turn fails, once or for a
while, and handle_losses.py, in which one of two handles cannot store its data."""
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


def run(program, sync, *arguments):
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        done = subprocess.run(
            [sys.executable, "-W", "error", HERE / program, folder, *arguments],
            env={**os.environ, "HDF5_VOL_CONNECTOR": f"zarr sync={sync}",
                 "LD_PRELOAD": joined("LD_PRELOAD", "libzb-fault-shim.so"),
                 "LD_LIBRARY_PATH": joined("LD_LIBRARY_PATH", SHIM_PLACE)},
            capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.endswith("end\n"), done.stdout + done.stderr
    return done


@pytest.mark.parametrize("sync", ["none", "close", "always"])
@pytest.mark.parametrize("trouble", ["once", "until-flush", "until-close"])
def test_close(sync, trouble):
    done = run("close_errors.py", sync, trouble)
    assert not done.stderr
    told = done.stdout.splitlines()
    # What waits of closed datasets is told of by the flush of their file, and while that fails by its close.
    assert any("flush" in line for line in told)
    assert trouble != "until-close" or any("close" in line for line in told)


@pytest.mark.parametrize("sync", ["none", "close", "always"])
def test_two_handles(sync):
    run("handle_losses.py", sync, sync)
