# SPDX-License-Identifier: MIT
"""HTTP/2: reads by TLS share one connection, where the host speaks it."""
import os
import sys

import numpy
import pytest

sys.path.append(os.environ["ZARRBRIDGE_SOURCE_DIR"] + "/tests/interop")

import http2  # noqa: E402
from conftest import make_store  # noqa: E402
from remote_store import RemoteStore  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    make_store(folder / "s.zarr")
    numpy.arange(1 << 16).tofile(folder / "large")
    return folder


@pytest.fixture(scope="module")
def server(folder, certificate):
    with http2.serve(folder, *certificate) as running:
        yield running


def read(server, place="s.zarr"):
    """All of the store; and the requests."""
    server.take_log()
    with RemoteStore(f"{server.url}/{place}#ca_file={server.ca_file}") as remote:
        assert (remote.read("sharded", (64, 64), "i4") == numpy.arange(4096).reshape(64, 64)).all()
        assert (remote.read("plain", (10,), "f8") == numpy.arange(10) / 2).all()
    return server.take_log()


def test_requests_share_one_connection(server):
    log = read(server)
    assert len(log) > 6 and {version for _, version, _ in log} == {"2"}
    assert len({connection for *_, connection in log}) == 1


def test_a_host_without_it_is_asked_as_before(folder, certificate):
    with http2.serve(folder, *certificate, "http/1.1") as server:
        assert {version for _, version, _ in read(server)} == {"1.1"}


def test_a_reply_without_a_length_is_whole(server):
    """Its frames tell its end, which HTTP/1.1 with a connection that is closed cannot."""
    assert {version for _, version, _ in read(server, "unsized/s.zarr")} == {"2"}


def test_the_rest_of_a_reply_that_breaks_off_is_asked_for(folder, certificate):
    with http2.serve(folder, *certificate, "--keep-alive", "0.5") as server:
        with RemoteStore(f"{server.url}/cut#ca_file={server.ca_file}") as remote:
            assert remote.fetch("large").data == (folder / "large").read_bytes()
        log = server.take_log()
        assert [(path, version) for path, version, _ in log] == [("/cut/large", "2")] * 2
