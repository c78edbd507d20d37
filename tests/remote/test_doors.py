# SPDX-License-Identifier: MIT
"""Doors to stores on the network, by the programs that need them, and stores with odd names behind them."""

import os
import shutil
from urllib.parse import quote

import pytest
import zarr

from conftest import make_store
from programs import HASTY, output, run
from sims3 import S3
from simserver import SimServer

PROGRAM = os.environ["ZARRBRIDGE_PROGRAM"]
SECRET = "canary/Secret+Key"
NAMES = ["plain.zarr", "with blank.zarr", "ä ö.zarr", "50%.zarr", "a&b=c.zarr", "quote'\"(1).zarr", "a~b,c;d@e.zarr"]


def dump(path, **variables):
    """What ncdump tells, but for the file's name."""
    return output("ncdump", path, **variables, HDF5_VOL_CONNECTOR=variables.get("connector", "zarr")).split("\n", 1)[1]


def local(folder, name, tmp_path):
    """The same by a door to the directory."""
    output(PROGRAM, "door", folder / name, tmp_path / "local.nc")
    text = dump(tmp_path / "local.nc")
    assert "sharded =" in text and "group: below" in text
    return text


needs_ncdump = pytest.mark.skipif(not shutil.which("ncdump"), reason="ncdump is not installed")


@needs_ncdump
@pytest.mark.parametrize("name", [*NAMES, "a+b.zarr"])  # in S3 a plus needs libcurl 8.19
def test_ncdump_by_a_door_to_https(tls_server, certificate, tmp_path, name):
    make_store(tls_server.folder / name)
    trusted = {"SSL_CERT_FILE": certificate[0]}
    output(PROGRAM, "door", f"{tls_server.url}/{quote(name)}", tmp_path / "far.nc", **trusted)
    assert dump(tmp_path / "far.nc", **trusted) == local(tls_server.folder, name, tmp_path)
    assert run("ncdump", tmp_path / "far.nc", HDF5_VOL_CONNECTOR="zarr", **HASTY).returncode != 0  # unknown authority


@pytest.fixture
def s3(tmp_path):
    with SimServer(tmp_path / "served", answer=S3({"AKID": SECRET})) as server:
        variables = {name: None for name in os.environ if name.startswith("AWS_")}
        yield variables | HASTY | {"AWS_ENDPOINT_URL": server.url, "AWS_ACCESS_KEY_ID": "AKID", "HOME": tmp_path,
                                   "AWS_SECRET_ACCESS_KEY": SECRET}


@needs_ncdump
@pytest.mark.parametrize("name", NAMES)
def test_ncdump_by_a_door_to_s3(s3, tmp_path, name):
    folder = tmp_path / "served/bucket/in a folder"
    make_store(folder / name, consolidated=False)
    output(PROGRAM, "door", f"s3://bucket/in a folder/{name}", tmp_path / "far.nc", **s3)
    assert dump(tmp_path / "far.nc", **s3) == local(folder, name, tmp_path)


@needs_ncdump
def test_doors_of_others_lead_to_hosts_by_an_option(server, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("needs root")
    make_store(server.folder / "s.zarr")
    output(PROGRAM, "door", f"{server.url}/s.zarr", tmp_path / "far.nc")
    os.chown(tmp_path / "far.nc", 12345, 12345)
    server.log.clear()
    assert run("ncdump", tmp_path / "far.nc", HDF5_VOL_CONNECTOR="zarr").returncode != 0 and not server.log
    assert "sharded =" in dump(tmp_path / "far.nc", connector="zarr doors=any")


@needs_ncdump
def test_a_door_to_s3_writes(s3, tmp_path):
    """NCO changes an attribute in the bucket."""
    if not shutil.which("ncatted"):
        pytest.skip("NCO is not installed")
    folder = tmp_path / "served/bucket/with blank.zarr"
    make_store(folder, consolidated=False)
    output(PROGRAM, "door", "s3://bucket/with blank.zarr", tmp_path / "far.nc", **s3)
    output("ncatted", "-h", "-a", "units,plain,c,c,K", tmp_path / "far.nc", **s3, HDF5_VOL_CONNECTOR="zarr",
           cwd=tmp_path)
    assert zarr.open_group(str(folder), mode="r")["plain"].attrs["units"] == "K"
