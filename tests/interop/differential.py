# SPDX-License-Identifier: MIT
"""Finds the other libraries, and starts diff_run.py with those that can be had. tools/differential
runs it; the options are those of diff_run.py."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from peer_packages import ENVIRONMENT, HERE, TOOLS, Missing, python_with_zarrs, zarrita

ZARR = "3.4"  # beside that of the machine, in the process that runs the cases
# Cases are many small files: in memory where there is a place for that.
MEMORY = "/dev/shm"


def gdal_of_forky(folder):
    """GDAL's driver in the chroot that tools/test-in has made, which sees the folder as /mnt."""
    root = Path(os.environ.get("ZARRBRIDGE_FORKY") or TOOLS.parent / "build" / "in-forky")
    if os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("dpkg-query"):
        raise Missing("GDAL 3.13: a chroot needs root, unshare and dpkg-query")
    # tools/test makes the chroot while this test may run: the first run may go without.
    installed = subprocess.run(
        ["dpkg-query", f"--admindir={root}/var/lib/dpkg", "-W", "-f", "${Status}", "python3-gdal"],
        capture_output=True, text=True, check=False).stdout
    if installed != "install ok installed":
        raise Missing("GDAL 3.13: no chroot; `tools/test-in forky tools/install-deps` makes it")
    script = ("mount --make-rprivate / && mount -t tmpfs tmpfs \"$1/mnt\" && mkdir \"$1/mnt/t\" "
              "\"$1/mnt/s\" && mount --bind \"$2\" \"$1/mnt/t\" && mount --bind \"$3\" \"$1/mnt/s\" "
              "&& exec chroot \"$1\" env -i LANG=C.UTF-8 PATH=/usr/bin:/bin "
              "PYTHONDONTWRITEBYTECODE=1 python3 /mnt/s/diff_serve.py gdal")
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-euc", script, "sh",
               str(root), str(folder), str(HERE)]  # fmt: skip
    return command, None, [str(folder), "/mnt/t"]


def served(folder):
    """The peers in processes of their own: as diff_run.py takes them."""
    ways = {
        "zarr-python of this machine": lambda: ([sys.executable, str(HERE / "diff_serve.py"),
                                                 "zarr-python"],),
        "zarrita": lambda: zarrita("diff_zarrita.mjs"),
        "gdal": lambda: gdal_of_forky(folder),
    }
    for name, find in ways.items():
        try:
            yield {"peer": name, "how": find()}
        except Missing as missing:
            print(f"skipped: {missing}", flush=True)


def main(*arguments):
    python = sys.executable
    try:
        python = python_with_zarrs(ZARR)
    except Missing as missing:
        print(f"skipped: {missing}; the machine's own zarr-python alone", flush=True)
    place = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="differential-", dir=place) as folder:
        environment = (os.environ if python == sys.executable else ENVIRONMENT) | {"TMPDIR": folder}
        command = [python, str(HERE / "diff_run.py"), *arguments,
                   "--served", json.dumps(list(served(folder)))]  # fmt: skip
        with subprocess.Popen(command, env=environment) as process:
            while True:
                try:
                    return process.wait()
                except KeyboardInterrupt:  # which reaches the cases, too: they still report
                    continue


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
