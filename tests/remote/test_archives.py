# SPDX-License-Identifier: MIT
"""Zip archives on servers: by their names in GDAL's programs, in few requests, and never old or missing bytes for
new ones."""

import os
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest

from programs import HASTY, output, python, run
from remote_store import RemoteStore

MAKE = r"""
import sys
import numpy as np
from osgeo import gdal, osr
gdal.UseExceptions()
size, factor = int(sys.argv[2]), int(sys.argv[3])
place = osr.SpatialReference()
place.ImportFromEPSG(32725)
d = gdal.GetDriverByName("MEM").Create("", size, size, 1, gdal.GDT_UInt16)
d.SetSpatialRef(place)
d.SetGeoTransform((500000, 10, 0, 9000000, 0, -10))
d.WriteArray(np.random.default_rng(1).integers(0, 60000, (size, size), "u2") // factor)
gdal.GetDriverByName("Zarr3").CreateCopy(sys.argv[1], d, options=[
    "CREATE_CONSOLIDATED_METADATA=YES", "COMPRESS=NONE", "BLOCKSIZE=64x64", *sys.argv[4:]])
"""

READ = r"""
import sys; from osgeo import gdal; gdal.UseExceptions()
d = gdal.Open(sys.argv[1])
print(d.GetDriver().ShortName, d.GetGeoTransform()[0], d.GetSpatialRef().GetAuthorityCode(None),
      d.RasterXSize, int(d.ReadAsArray().astype("u8").sum()))
"""
SMALL, LARGE = 64, 512  # below and above the bytes that come with the opening


def make(server, size, *options, name="r.zarr.zip", factor=1):
    python(MAKE, server.folder / name, size, factor, *options)
    hour_ago = time.time() - 3600  # one that was made just now may change without a sign
    os.utime(server.folder / name, (hour_ago, hour_ago))
    server.take_log()
    return f"{server.url}/{name}"


def expected(size, factor=1):
    values = np.random.default_rng(1).integers(0, 60000, (size, size), "u2") // factor
    return f"Zarr3 500000.0 32725 {size} {int(values.astype('u8').sum())}"


FORMS = ["{}", "{}/r", "ZARR3:{}", 'ZARR3:"{}":/r', "/vsicurl/{}", "/vsicurl/{}/r", "ZARR3:/vsicurl/{}",
         'ZARR3:"/vsicurl/{}":/r', "ZARR3:/vsicurl/{}:/r"]


@pytest.mark.parametrize("way", [None, "own", "vsi"])
@pytest.mark.parametrize("form", FORMS)
def test_it_opens_by_its_name(server, form, way):
    url = make(server, LARGE)
    assert python(READ, form.format(url), ZARR3_REMOTE=way).strip() == expected(LARGE)
    paths = {request.path for request in server.take_log()}
    assert paths <= {"/r.zarr.zip", form[9:].replace("{}", "/r.zarr.zip")}  # GDAL itself asks for a virtual name


def test_it_needs_no_name_of_a_store_behind_the_prefix(server):
    url = make(server, SMALL, "ARRAY_NAME=r", name="r.zip")
    for form in "ZARR3:{}", "ZARR3:/vsicurl/{}", "ZARR3:/vsicurl/{}:/r", 'ZARR3:"{}":/r':
        assert python(READ, form.format(url)).strip() == expected(SMALL), form


def test_zipped_ome_zarr(server):
    url = make(server, SMALL, name="r.ozx")
    for form in FORMS:
        assert python(READ, form.format(url)).strip() == expected(SMALL), form


def test_a_store_in_a_folder_of_it(server):
    make(server, SMALL)
    with zipfile.ZipFile(server.folder / "r.zarr.zip") as old, \
            zipfile.ZipFile(server.folder / "f.zarr.zip", "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr("f.zarr/" + name, old.read(name))
    for form in "{}", "/vsicurl/{}":
        assert python(READ, form.format(server.url + "/f.zarr.zip")).strip() == expected(SMALL)


RASTERIO = r"""
import sys, rasterio
with rasterio.open(sys.argv[1]) as d: print(d.driver, d.crs, d.shape)
"""


@pytest.mark.parametrize("way", [None, "own", "vsi"])
def test_rasterio(server, way):
    pytest.importorskip("rasterio")
    url = make(server, SMALL)
    for form in "{}", "ZARR3:{}":
        assert python(RASTERIO, form.format(url), ZARR3_REMOTE=way).strip() == "Zarr3 EPSG:32725 (64, 64)"


def test_what_is_no_archive_is_not_ours(server):
    (server.folder / "x.zarr.zip").write_bytes(b"PKno archive" * 99)
    (server.folder / "y.zip").write_bytes(b"PK\3\4no archive" * 99)
    for name in "/x.zarr.zip", "/y.zip", "/none.zarr.zip":
        for form in "{}", "/vsicurl/{}":
            assert run("gdalinfo", form.format(server.url + name), **HASTY).returncode == 1


# ---- Requests

def ranges(server):
    return [(request.method, request.range) for request in server.take_log()]


@pytest.mark.parametrize("size, most", [(SMALL, 1), (LARGE, 4)])
def test_requests_of_an_open(server, size, most):
    """The end with the directory; the root's document; and what tells the place."""
    url = make(server, size)
    for form in "{}", "{}/r", 'ZARR3:"{}":/r':
        output("gdalinfo", form.format(url))
        log = ranges(server)
        assert len(log) <= most and log[0] == ("GET", "bytes=-65557"), (form, log)
    output("gdalmdiminfo", url)
    assert len(ranges(server)) <= most


def test_requests_of_an_open_by_gdal(server):
    """One more for its size, and one for the first bytes, by which GDAL knows it."""
    url = make(server, LARGE)
    for form in "/vsicurl/{}", "/vsicurl/{}/r", "ZARR3:/vsicurl/{}":
        output("gdalinfo", form.format(url))
        log = ranges(server)
        assert len(log) <= 6, (form, log)


def test_a_chunk_takes_one_request(server):
    """Its header comes with it; so does that of the array's document."""
    url = make(server, LARGE)
    with RemoteStore(url) as remote:
        server.take_log()
        for at in 64, 128:
            remote.read("r", (64, 64), "u2", (at, at))
            log = ranges(server)
            assert len(log) <= 2, log  # fewer in the last 64 KiB


def test_a_server_without_ranges_that_count_from_the_end(server):
    url = make(server, LARGE)
    for code in 400, 416, 501:
        server.fault("/r.zarr.zip", "status", code=code, times=1)
        assert python(READ, url).strip() == expected(LARGE), code
        server.heal()


# ---- Changes

OPEN_AND_WAIT = r"""
import sys; from osgeo import gdal; gdal.UseExceptions()
d = gdal.Open(sys.argv[1])
first = int(d.ReadAsArray(0, 0, 64, 64).astype("u8").sum())
print("READY", flush=True)
sys.stdin.readline()
print(int(d.ReadAsArray(256, 256, 64, 64).astype("u8").sum()))
"""


def values_of(factor):
    values = np.random.default_rng(1).integers(0, 60000, (LARGE, LARGE), "u2") // factor
    return int(values[256:320, 256:320].astype("u8").sum())


def after(server, change, url, **environment):
    """What a dataset reads that was open when the archive was changed."""
    reader = subprocess.Popen([sys.executable, "-W", "ignore", "-c", OPEN_AND_WAIT, url], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=os.environ | HASTY | environment)
    assert reader.stdout.readline() == "READY\n"
    change()
    return reader.communicate("\n")


@pytest.mark.parametrize("fresh", ["0", "10"])
def test_an_archive_that_was_replaced(server, fresh):
    url = make(server, LARGE)
    said, _ = after(server, lambda: make(server, LARGE, factor=3), url, ZARRBRIDGE_REMOTE_FRESH_SECONDS=fresh)
    assert said.strip() == str(values_of(3))


@pytest.mark.parametrize("fresh", ["0", "10"])
def test_an_archive_that_has_gone_is_no_missing_chunk(server, fresh):
    url = make(server, LARGE)
    said, errors = after(server, (server.folder / "r.zarr.zip").unlink, url, ZARRBRIDGE_REMOTE_FRESH_SECONDS=fresh)
    assert said == "" and "the zip archive has gone" in errors
