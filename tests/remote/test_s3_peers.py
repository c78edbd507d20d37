# SPDX-License-Identifier: MIT
"""Second opinions: the server of our own beside botocore, and stores in moto's S3. Each test is skipped
where its peer is not installed."""

import os
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request

import numpy
import pytest

import sims3
from conftest import make_store, run
from remote_store import RemoteStore


def test_signatures_are_those_of_botocore():
    """Else server and client could agree on something wrong."""
    pytest.importorskip("botocore")
    from botocore.auth import S3SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    paths = ["/bucket/a%20b/x%2By%3Dz/%C3%A9~-_.", "/bucket?list-type=2&prefix=a%2Fb%2Bc%20d&delimiter=%2F", "/"]
    for path in paths:
        request = AWSRequest("GET", "http://host:9000" + path,
                             headers={"Range": "bytes=0-9", "x-amz-request-payer": "requester"})
        S3SigV4Auth(Credentials("AKID", "secret/+", "token"), "s3", "eu-west-1").add_auth(request)
        headers = {name.lower(): value for name, value in request.headers.items()} | {"host": "host:9000"}
        _, _, _, signed, given = sims3.AUTHORIZATION.fullmatch(headers["authorization"]).groups()
        parts = urllib.parse.urlsplit(path)
        canonical = sims3.canonical_request("GET", parts.path, parts.query, headers, signed.split(";"),
                                            headers["x-amz-content-sha256"])
        assert sims3.signature("secret/+", headers["x-amz-date"], "eu-west-1", canonical) == given, path


@pytest.fixture
def moto(tmp_path):
    """The URL of a server with an empty bucket."""
    program = shutil.which("moto_server")
    if not program:
        pytest.skip("there is no moto_server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "PYTHONPATH", "PYTHONHOME")}
    with open(tmp_path / "moto.log", "w") as log:
        server = subprocess.Popen([program, "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log,
                                  env=environment)
    url = f"http://127.0.0.1:{port}"
    try:
        for left in range(300, -1, -1):
            try:
                put(url + "/bucket", b"")
                break
            except OSError:
                if server.poll() is not None:
                    pytest.skip("moto_server does not run: " + (tmp_path / "moto.log").read_text()[-200:])
                assert left, "moto does not answer"
                time.sleep(0.1)
        yield url
    finally:
        server.terminate()
        server.wait()


def put(url, data):
    request = urllib.request.Request(url, data=data, method="PUT",
                                     headers={"Content-Type": "application/octet-stream"})
    with urllib.request.urlopen(request, timeout=30) as reply:
        reply.read()


@pytest.mark.parametrize("consolidated", [True, False])
def test_stores_in_moto(moto, tmp_path, monkeypatch, consolidated):
    root = make_store(tmp_path / "s.zarr", consolidated)
    for path in root.rglob("*"):
        if path.is_file():
            put(f"{moto}/bucket/a%20b/s.zarr/{urllib.parse.quote(str(path.relative_to(root)))}", path.read_bytes())
    for name, value in {"AWS_ENDPOINT_URL": moto, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
                        "AWS_REGION": "us-east-1", "HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    local, remote = run("ls", root), run("ls", "s3://bucket/a b/s.zarr")
    assert remote == local
    with RemoteStore("s3://bucket/a b/s.zarr") as store:
        whole = store.read("sharded", (64, 64), "i4")
        assert (whole == numpy.arange(64 * 64).reshape(64, 64)).all()
        window = store.read("sharded", (3, 2), "i4", (31, 40))
        assert (window == whole[31:34, 40:42]).all()
    status, lines, words = run("ls", "s3://none/x.zarr")
    assert status in (1, 2)
    assert "there is no bucket 'none'" in "\n".join(lines) + words
