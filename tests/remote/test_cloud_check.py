# SPDX-License-Identifier: MIT
"""The script tools/cloud-check, on servers of our own."""

import os

import pytest

from conftest import make_store
from programs import run
from sims3 import S3
from simserver import SimServer

SCRIPT = os.path.join(os.environ["ZARRBRIDGE_SOURCE_DIR"], "tools/cloud-check")


@pytest.fixture
def s3(tmp_path):
    """Variables for a bucket with a store."""
    make_store(tmp_path / "served/bucket/s.zarr", consolidated=False)
    with SimServer(tmp_path / "served", answer=S3({"AKID": "canary"})) as server:
        variables = {name: None for name in os.environ if name.startswith("AWS_")}
        yield server, variables | {"AWS_ENDPOINT_URL": server.url, "AWS_ACCESS_KEY_ID": "AKID",
                                   "AWS_SECRET_ACCESS_KEY": "canary", "HOME": tmp_path}


def test_a_store_on_a_web_server(store):
    done = run(SCRIPT, store)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "5 nodes, 3 of them arrays" in done.stdout and "the same values" in done.stdout
    done = run(SCRIPT, store, "--array", "/sharded")
    assert done.returncode == 0 and "/sharded[0:64, 0:64], 16384 bytes" in done.stdout


def test_a_store_in_s3_is_read_and_not_written(s3):
    server, variables = s3
    done = run(SCRIPT, "s3://bucket/s.zarr", **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "canary" not in done.stdout + done.stderr
    assert {request.method for request in server.take_log()} <= {"GET", "HEAD"}


def test_what_fails_is_told(server, store):
    server.fault("/s.zarr/below/deep/c", "status", code=403)
    done = run(SCRIPT, store)
    assert done.returncode == 1 and "FAILED  a window by HDF5" in done.stderr and "403" in done.stderr
