# SPDX-License-Identifier: MIT
"""Races, kills and failing system calls through h5py and GDAL: they must keep the core's promises.

The results are read through zarr-python.
"""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import zarr

from length import by_length

HERE = pathlib.Path(__file__).resolve().parent
SHIM = "libzb-fault-shim.so"
SHIM_PLACE = os.path.join(os.environ["ZARRBRIDGE_BUILD_DIR"], "tests", "fault")
LIBRARIES = [name for name, option in (("h5py", "ZARRBRIDGE_TEST_H5PY"),
                                       ("gdal", "ZARRBRIDGE_TEST_GDAL")) if option in os.environ]
STRIPS, PARTIES = 80, 8
ROUNDS = by_length(10, 20, 100)


def environment(**more):
    return {**os.environ, "HDF5_VOL_CONNECTOR": "zarr", **more}


def start(library, **more):
    return subprocess.Popen([sys.executable, HERE / "plugin_writer.py", library], text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=environment(**more))


def make(path, rows, shard_rows, width=64, value=0):
    """Row r holds value + r; an inner chunk is one row."""
    array = zarr.create_group(str(path), zarr_format=3, overwrite=True).create_array(
        "a", shape=(rows, width), chunks=(1, width), shards=(shard_rows, width), dtype="i4",
        fill_value=-1)
    if value:
        array[...] = value + np.arange(rows, dtype="i4")[:, None]


def strips(path, rows, value):
    """The rows that hold value + row."""
    data = zarr.open_array(f"{path}/a", mode="r")[...]
    return (data == value + np.arange(rows)[:, None]).all(axis=1)


@pytest.fixture
def place(tmp_path_factory):
    """In memory where that is possible: syncs cost nothing there."""
    if os.access("/dev/shm", os.W_OK):
        import tempfile
        with tempfile.TemporaryDirectory(dir="/dev/shm") as path:
            yield pathlib.Path(path)
    else:
        yield tmp_path_factory.mktemp("stores")


@pytest.mark.parametrize("library", LIBRARIES)
def test_disjoint_strips(place, library):
    """8 processes write disjoint inner chunks of one shard: all must be there, each time."""
    writers = [start(library) for _ in range(PARTIES)]
    try:
        for number in range(ROUNDS):
            path = place / f"{number}.zarr"
            make(path, STRIPS, STRIPS)
            for i, writer in enumerate(writers):
                rows = " ".join(str(row) for row in range(i, STRIPS, PARTIES))
                writer.stdin.write(f"{path} a each {rows}\n")
                writer.stdin.flush()
            for writer in writers:
                if writer.stdout.readline() != "done\n":
                    pytest.fail(writer.communicate()[1])
            assert strips(path, STRIPS, 100).sum() == STRIPS, f"round {number}"
            assert not list(path.rglob(".*.zb-*")), "names are left over"
    finally:
        for writer in writers:
            writer.communicate()


# ---- Kills and errors: rows 0 to 15 of 24 are overwritten, in two shards of 12.

ROWS, SHARD, WRITTEN = 24, 12, 16
OLD, NEW = 1000, 5000


def joined(variable, entry):
    """The entry behind those that the variable has."""
    return ":".join(filter(None, [os.environ.get(variable, ""), entry]))


def overwrite(library, path, shim=None, report=None):
    """Runs the writer under the shim; returns its exit status and its output."""
    more = {}
    if shim:
        # By its name: a space in a path would end an entry of LD_PRELOAD.
        more = {"LD_PRELOAD": joined("LD_PRELOAD", SHIM),
                "LD_LIBRARY_PATH": joined("LD_LIBRARY_PATH", SHIM_PLACE),
                "ZB_SHIM": f"{shim}:{path}"}
    if report:
        more["ZB_SHIM_REPORT"] = str(report)
    writer = start(library, **more)
    rows = " ".join(str(row) for row in range(WRITTEN))
    said = writer.communicate(f"{path} a {NEW} {rows}\n")
    return writer.returncode, said[1]


def check(path, finished):
    """Each shard is old or new; with `finished`, new."""
    new, old = strips(path, ROWS, NEW), strips(path, ROWS, OLD)
    for first in range(0, ROWS, SHARD):
        written = np.arange(first, first + SHARD) < WRITTEN
        part = slice(first, first + SHARD)
        is_new = (new[part] == written).all() and (old[part] == ~written).all()
        assert is_new or (not finished and old[part].all()), f"the shard of row {first} is torn"


def points(calls, count):
    """`count` of the calls; half as many in short tests, all in full ones."""
    return range(1, calls + 1, max(1, calls // by_length(max(1, count // 2), count, calls)))


def killed(status, nth, calls):
    """Whether call `nth` killed the run. Threads that wait for each other make the number of calls
    differ by a few from run to run: one that ends before call `nth` is whole, and rare."""
    assert status == -9 or (status == 0 and nth > calls * 0.9), (status, nth, calls)
    return status == -9


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("trouble", ["kill-before", "kill-after", "fail", "fail-from", "full"])
def test_trouble(place, library, trouble):
    path, report = place / "x.zarr", place / "report"
    make(path, ROWS, SHARD, value=OLD)
    mode = "count" if trouble.startswith("kill") else trouble
    status, said = overwrite(library, path, f"{mode}:{2**63}:5", report)
    assert status == 0, said
    check(path, finished=True)
    calls, struck = map(int, report.read_text().split())
    assert calls >= 4 and struck == 0
    surfaced = 0
    for nth in points(calls, 4):
        make(path, ROWS, SHARD, value=OLD)
        status, said = overwrite(library, path, f"{trouble}:{nth}:5", report)
        if trouble.startswith("kill"):
            killed(status, nth, calls)
        else:
            assert status in (0, 1), said  # an exception, no crash
            assert status == 0 or "rror" in said
            surfaced += status == 1
        check(path, finished=status == 0)
        status, said = overwrite(library, path)
        assert status == 0, said
        check(path, finished=True)
    assert trouble.startswith("kill") or surfaced > 0
