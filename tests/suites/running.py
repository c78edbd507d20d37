# SPDX-License-Identifier: MIT
"""Running other projects' programs with stores and natively."""
import os
import re
import subprocess
from pathlib import Path

PLUGINS = Path(os.environ["ZARRBRIDGE_BUILD_DIR"]) / "hdf5-vol" / "plugins"
STORES = "zarr store=all"  # every new file is a store
BY_NAME = "zarr"  # those whose names end in .zarr


def environment(connector):
    """connector: None for HDF5 alone."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("HDF5_")}
    if connector:
        env |= {"HDF5_PLUGIN_PATH": str(PLUGINS), "HDF5_VOL_CONNECTOR": connector}
    return env


def run(command, folder, connector=None, seconds=1200):
    """(exit status, text); a command that hangs has status None."""
    try:
        done = subprocess.run([str(word) for word in command], cwd=folder, timeout=seconds,
                              env=environment(connector), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as hang:
        return None, (hang.stdout or b"").decode(errors="replace")


def reason(text):
    """Why a call was refused, from the error stacks in a text: the connector's words, or those of
    HDF5 about a filter."""
    told = re.findall(r"#\d+: \S+ line \d+ in \S+\(\): (.*)", text)
    known = [one for one in told if re.search(r"Zarr|store |errno|not registered", one)]
    return re.sub(r" \(errno.*", "", (known or told or [text.strip().split("\n")[-1]])[0])
