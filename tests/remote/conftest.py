# SPDX-License-Identifier: MIT
"""Servers and stores for the tests of stores on the network."""

import os
import pathlib
import subprocess
import sys

import numpy
import pytest
import zarr

sys.path.append(os.environ["ZARRBRIDGE_SOURCE_DIR"] + "/tests/support")

from simserver import Gate, SimServer, make_certificate

PROXIES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")


# A process that stands still on a busy machine is no server that hangs, and a request that a gate holds back is not
# to be given up. The library reads it when a test file loads it.
os.environ.setdefault("ZARRBRIDGE_REMOTE_STALL_SECONDS", str(2 * Gate.SECONDS))


@pytest.fixture(scope="session", autouse=True)
def direct():
    """Requests go to the servers of the tests without a proxy between, and trust the system's
    authorities."""
    for name in PROXIES + ("AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "GDAL_CURL_CA_BUNDLE"):
        os.environ.pop(name, None)


@pytest.fixture
def server(tmp_path):
    """Serves the folder tmp_path/served."""
    folder = tmp_path / "served"
    folder.mkdir()
    with SimServer(folder) as running:
        yield running


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def tls_server(tmp_path, certificate):
    folder = tmp_path / "served"
    folder.mkdir(exist_ok=True)
    with SimServer(folder, certificate=certificate) as running:
        running.ca_file = certificate[0]
        yield running


def make_store(path, consolidated=True):
    """A group with an array in shards, one in chunks, and a group with one more."""
    group = zarr.open_group(path, mode="w")
    sharded = group.create_array("sharded", shape=(64, 64), chunks=(8, 8), shards=(32, 32),
                                 dtype="int32")
    sharded[:] = numpy.arange(64 * 64).reshape(64, 64)
    plain = group.create_array("plain", shape=(10,), chunks=(4,), dtype="float64", compressors=None)
    plain[:] = numpy.arange(10) / 2
    inner = group.create_group("below").create_array("deep", shape=(3,), dtype="uint8")
    inner[:] = [1, 2, 3]
    if consolidated:
        zarr.consolidate_metadata(path)
    return pathlib.Path(path)


@pytest.fixture
def store(server):
    """The URL of a store that the server serves; its folder is server.folder / "s.zarr"."""
    make_store(server.folder / "s.zarr")
    return server.url + "/s.zarr"


def run(*arguments, **environment):
    """The program zarrbridge: status, lines, standard error."""
    done = subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], *map(str, arguments)],
                          capture_output=True, text=True, timeout=600,
                          env=os.environ | {k: str(v) for k, v in environment.items()})
    return done.returncode, done.stdout.splitlines(), done.stderr
