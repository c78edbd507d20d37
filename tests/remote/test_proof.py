# SPDX-License-Identifier: MIT
"""Many reads from a server that fails one request in ten: each ends with the right bytes or an error, and with a
few requests more. ZARRBRIDGE_PROOF="RUNS MEGABYTES" makes as many as that."""

import hashlib
import os
import subprocess
import sys

import numpy
import zarr

from length import by_length

RUNS, MEGABYTES = map(int, os.environ.get("ZARRBRIDGE_PROOF", by_length("3 4", "6 4", "200 100")).split())
TRIES = 6  # as the limit remote_tries
CHANCE = 0.1

# Tried again, and then an error.
MENDED = [("status", {"code": 503}), ("status", {"code": 500}), ("status", {"code": 429}), ("reset", {}),
          ("cut", {"after": 3000})]
# An error at once: the server does not keep to the rules.
FINAL = [("short", {"bytes": 100}), ("whole", {}), ("gzip", {}),
         ("headers", {"headers": {"Content-Range": None}}),
         ("headers", {"headers": {"ETag": '"another"'}})]

# A process of its own, with no cache of the run before.
READ = r"""
import sys, hashlib
sys.path.insert(0, sys.argv[1])
from remote_store import RemoteStore, ZarrbridgeError
try:
    with RemoteStore(sys.argv[2]) as store:
        for name in "sharded", "plain":
            size = int(sys.argv[3])
            print(name, hashlib.sha256(store.read(name, (size, 1024), "u2")).hexdigest(), flush=True)
except ZarrbridgeError as error:
    print("error", error)
"""


def make(path):
    """Two arrays of noise, each of half the size; and the hash of their elements."""
    rows = MEGABYTES * 2**20 // 2 // 2 // 1024
    data = numpy.random.default_rng(5).integers(0, 65535, (rows, 1024), "u2")
    group = zarr.open_group(path, mode="w")
    for name, options in (("sharded", {"chunks": (64, 128), "shards": (256, 512)}),
                          ("plain", {"chunks": (128, 256)})):
        group.create_array(name, shape=data.shape, dtype="u2", compressors=None, **options)[:] = data
    zarr.consolidate_metadata(path)
    return rows, data


def read(server, rows):
    """What a process prints, in words."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", READ, os.path.dirname(__file__),
         server.url + "/p.zarr", str(rows)],
        capture_output=True, text=True, check=True)
    return [line.split(" ", 1) for line in done.stdout.splitlines()]


def fail(server, faults, chance):
    """Each of them has the same part of the chance."""
    for kind, options in faults:
        server.fault("/p.zarr", kind, chance=chance / len(faults), **options)


def test_right_bytes_or_an_error(server):
    """One request in ten fails, so many of them for good that about half of the runs are errors. More
    runs follow until both have come."""
    rows, data = make(server.folder / "p.zarr")
    right = hashlib.sha256(data).hexdigest()
    assert read(server, rows) == [["sharded", right], ["plain", right]]
    usual = len(server.take_log())
    final = min(0.7 / usual, CHANCE / 2)
    whole = failed = faults = run = 0
    while run < RUNS or (not (whole and failed) and run < 8 * RUNS):
        server.heal()
        server.random.seed(run)
        fail(server, MENDED, CHANCE - final)
        fail(server, FINAL, final)
        lines = read(server, rows)
        run += 1
        for word, rest in lines:
            assert word == "error" or rest == right, f"run {run}: other bytes in {word}"
        assert lines[-1][0] == "error" or len(lines) == 2, lines
        log = server.take_log()
        assert len(log) <= TRIES * usual, f"run {run} took {len(log)} requests"
        whole, failed = whole + (lines[-1][0] != "error"), failed + (lines[-1][0] == "error")
        faults += sum(request.status != 206 and request.status != 200 for request in log)
    print(f"{run} runs of {MEGABYTES} MB: {whole} right, {failed} errors, {faults} requests refused or reset")
    assert faults and whole and failed


def test_faults_that_can_be_mended_cost_no_read(server):
    """Of those that the server says to try again, none is an error in these runs."""
    rows, data = make(server.folder / "p.zarr")
    fail(server, MENDED, CHANCE)
    right = hashlib.sha256(data).hexdigest()
    for run in range(max(2, RUNS // 4)):
        server.random.seed(run)
        assert read(server, rows) == [["sharded", right], ["plain", right]]
