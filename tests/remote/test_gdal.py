# SPDX-License-Identifier: MIT
"""Stores behind URLs in programs that use GDAL."""

import os
import subprocess
import sys

import numpy as np
import pytest
import zarr

from conftest import make_store
from programs import HASTY, IMPATIENT, asked, output, python, run, run_python

PLANE = np.arange(60 * 80, dtype="u2").reshape(60, 80)


def put(group, name, data, **options):
    array = group.create_array(name, shape=data.shape, dtype=data.dtype, **options)
    array[...] = data


@pytest.fixture
def raster(server):
    """The URL of a store with one raster, as this driver writes it: with coordinates and a CRS."""
    root = zarr.create_group(server.folder / "r.zarr")
    put(root, "t", PLANE, chunks=(10, 10), shards=(20, 40), dimension_names=("y", "x"),
        attributes={"grid_mapping": "spatial_ref", "_FillValue": 7})
    put(root, "x", 5.0 + 10 * np.arange(80), dimension_names=("x",))
    put(root, "y", 5.0 - 10 * np.arange(60), dimension_names=("y",))
    root.create_array("spatial_ref", shape=(), dtype="i4", attributes={"spatial_epsg": 32725,
        "crs_wkt": WKT})
    zarr.consolidate_metadata(root.store)
    return server.url + "/r.zarr"


WKT = python("from osgeo import osr; s = osr.SpatialReference(); s.ImportFromEPSG(32725);"
             "print(s.ExportToWkt())").strip()

READ = r"""
import sys
import numpy as np
from osgeo import gdal
gdal.UseExceptions()
data = np.arange(60 * 80, dtype="u2").reshape(60, 80)
d = gdal.Open(sys.argv[1])
assert d.GetDriver().ShortName == "Zarr3"
assert (d.ReadAsArray() == data).all() and (d.ReadAsArray(33, 17, 30, 40) == data[17:57, 33:63]).all()
assert d.GetGeoTransform() == (0, 10, 0, 10, 0, -10) and "32725" in d.GetProjection()
assert not d.GetFileList()
assert d.GetRasterBand(1).ComputeStatistics(False)[1] == 4799
"""


@pytest.mark.parametrize("form", [
    "{}", "{}/", "{}/zarr.json", "{}/t", "{}/t/zarr.json", "ZARR3:{}", 'ZARR3:"{}":/t',
    "ZARR3:{}:/t"])
def test_a_raster_opens_by_its_url(raster, form, tmp_path):
    python(READ, form.format(raster), cwd=tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["served"], "nothing is written"


@pytest.mark.parametrize("form", ["ZARR3:{}", 'ZARR3:"{}":/t', "{}/zarr.json"])
def test_any_url_opens_behind_the_prefix(server, raster, form):
    (server.folder / "r.zarr").rename(server.folder / "r")
    python(READ, form.format(server.url + "/r"))


PROGRAMS = {
    "gdalinfo": "gdalinfo {url}",
    "gdal_translate": "gdal_translate -q {url} out.tif",
    "gdalwarp": "gdalwarp -q -t_srs EPSG:4326 {url} out.tif",
    "gdalmdiminfo": "gdalmdiminfo {url}",
    "gdal_translate to a store": "gdal_translate -q -of Zarr3 {url} out.zarr",
    "gdalmdimtranslate": "gdalmdimtranslate -q -of Zarr3 {url} out.zarr",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_do_what_they_do_with_a_directory(server, raster, program, tmp_path):
    local = str(server.folder / "r.zarr")
    results = []
    for name in raster, local:
        folder = tmp_path / str(len(results))
        folder.mkdir()
        said = output(*PROGRAMS[program].format(url=name).split(), cwd=folder)
        lines = [line for line in said.replace(name, "NAME").splitlines() if "Files:" not in line]
        made = folder / ("out.zarr" if "out.zarr" in PROGRAMS[program] else "out.tif")
        pixels = python(READ_ANY, made) if made.exists() else ""
        results.append((lines, pixels))
    assert results[0] == results[1] and (results[0][0] or results[0][1])


READ_ANY = r"""
import sys; from osgeo import gdal; gdal.UseExceptions()
d = gdal.Open(sys.argv[1]); print(d.GetGeoTransform(), d.GetProjection(), d.ReadAsArray().tolist())
"""

RASTERIO = r"""
import sys, rasterio
with rasterio.open(sys.argv[1]) as d: print(d.crs, d.shape, int(d.read(1)[59, 79]), d.driver)
"""


@pytest.mark.parametrize("form, settings", [
    ("ZARR3:{}", {}), ('ZARR3:"{}":/t', {}), ("{}", {}), ("{}", {"ZARR3_REMOTE": "own"})])
def test_rasterio(raster, form, settings):
    """rasterio makes /vsicurl/https://... of a bare URL."""
    pytest.importorskip("rasterio")
    assert python(RASTERIO, form.format(raster), **settings).strip() == \
        "EPSG:32725 (60, 80) 4799 Zarr3"


COLOURED = r"""
import sys; from osgeo import gdal; gdal.UseExceptions()
d = gdal.GetDriverByName("Zarr3").Create(sys.argv[1], 8, 8)
colours = gdal.ColorTable()
colours.SetColorEntry(1, (10, 20, 30, 255))
d.GetRasterBand(1).SetColorTable(colours)
d.GetRasterBand(1).SetCategoryNames(["sea", "land"])
d.GetRasterBand(1).SetMetadataItem("STATISTICS_MEAN", "7.5")
"""

COLOURS = r"""
import sys; from osgeo import gdal; gdal.UseExceptions()
d = gdal.Open(sys.argv[1]); band = d.GetRasterBand(1)
print(band.GetColorTable().GetColorEntry(1), band.GetCategoryNames(), band.GetMetadataItem("STATISTICS_MEAN"))
"""


def test_what_a_store_says_of_colours_and_classes_is_shown(server):
    python(COLOURED, server.folder / "c.zarr")
    for root in server.folder, server.url:
        for name in (f"{root}/c.zarr/c", f'ZARR3:"{root}/c.zarr":/c'):
            assert python(COLOURS, name).strip() == "(10, 20, 30, 255) ['sea', 'land'] 7.5", name


LIST = r"""
import sys; from osgeo import gdal; gdal.UseExceptions()
d = gdal.Open(sys.argv[1])
for name, _ in d.GetSubDatasets():
    d = gdal.Open(name); print(name.replace(sys.argv[1], "URL"), d.GetDriver().ShortName, d.RasterXSize)
"""


def test_subdatasets(server):
    root = zarr.create_group(server.folder / "g.zarr")
    put(root, "a", PLANE)
    put(root.create_group("below"), "b", PLANE[:, :50])
    zarr.consolidate_metadata(root.store)
    url = server.url + "/g.zarr"
    lines = ['ZARR3:"URL":/a Zarr3 80', 'ZARR3:"URL":/below/b Zarr3 50']
    assert python(LIST, url).splitlines() == lines
    assert python(LIST, url + "?sig=x#missing_403=1").splitlines() == lines
    assert {request.query for request in server.take_log()} == {"", "sig=x"}
    assert python(LIST, url + "/zarr.json").splitlines() == lines


OPEN = r"""
import sys; from osgeo import gdal; gdal.UseExceptions()
d = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER if len(sys.argv) > 2 else gdal.OF_RASTER)
"""


def test_requests_of_an_open(server, store):
    python(OPEN, store, "multidimensional")
    assert asked(server) == ["/s.zarr/zarr.json"]
    for form in ["{}", "{}/sharded", 'ZARR3:"{}":/sharded', "{}/zarr.json"]:
        output("gdalinfo", form.format(store))  # asks for the CRS and the place, too
        assert asked(server) == ["/s.zarr/zarr.json"], form


def test_requests_of_an_open_of_any_url(server, store):
    """Behind the prefix it need not be named as stores are."""
    (server.folder / "s.zarr").rename(server.folder / "s")
    output("gdalinfo", 'ZARR3:"%s/s":/sharded' % server.url)
    assert asked(server) == ["/s/zarr.json"]


def test_requests_of_an_open_without_consolidated_metadata(server):
    """What is not known to be absent is asked for."""
    make_store(server.folder / "p.zarr", consolidated=False)
    output("gdalinfo", server.url + "/p.zarr/sharded")
    documents = [path for path in asked(server) if path.endswith("zarr.json")]
    assert sorted(documents) == ["/p.zarr/crs/zarr.json", "/p.zarr/sharded/zarr.json",
                                 "/p.zarr/spatial_ref/zarr.json", "/p.zarr/zarr.json"]


WITH_LEVELS = r"""
import sys; from osgeo import gdal, osr; gdal.UseExceptions()
place = osr.SpatialReference(); place.ImportFromEPSG(32725)
d = gdal.GetDriverByName("MEM").Create("", 300, 200, 2)
d.SetSpatialRef(place); d.SetGeoTransform((500000, 10, 0, 9000000, 0, -10))
common = ["CREATE_CONSOLIDATED_METADATA=YES", "BLOCKSIZE=64x64"]
driver = gdal.GetDriverByName("Zarr3")
driver.CreateCopy(sys.argv[1] + "/one.zarr", d, options=common).Close()
gdal.OpenEx(sys.argv[1] + "/one.zarr", gdal.OF_UPDATE).BuildOverviews("AVERAGE", [2, 4])
driver.CreateCopy(sys.argv[1] + "/groups.zarr", d, options=["OVERVIEW_LAYOUT=GROUPS", *common]).Close()
gdal.OpenEx(sys.argv[1] + "/groups.zarr", gdal.OF_UPDATE).BuildOverviews("AVERAGE", [2, 4])
driver.CreateCopy(sys.argv[1] + "/two.zarr", d, options=["ARRAY_NAME=a", *common]).Close()
driver.CreateCopy(sys.argv[1] + "/two.zarr", d, options=["ARRAY_NAME=b", "APPEND_SUBDATASET=YES"]).Close()
"""

DECIMATED = r"""
import sys; from osgeo import gdal; gdal.UseExceptions()
d = gdal.Open(sys.argv[1]); d.ReadAsArray(buf_xsize=75, buf_ysize=50)
assert d.GetRasterBand(1).GetOverviewCount() == 2 and d.GetSpatialRef() and d.GetRasterBand(1).GetMaskFlags()
"""


def test_the_roots_list_answers_for_all_that_is_below(server):
    """Levels, the multidimensional view, and what is not there included: the root's document is asked for, once."""
    python(WITH_LEVELS, server.folder)
    for name, commands in {
            "one.zarr": [["gdalinfo", "{}"], ["gdalinfo", 'ZARR3:"{}":/one'], ["gdalmdiminfo", "-detailed", "{}"],
                         ["gdalinfo", "{}/ovr_2x/one"], [DECIMATED, "{}"]],
            "groups.zarr": [["gdalinfo", "{}"], ["gdalinfo", 'ZARR3:"{}":/0/groups'], ["gdalinfo", "{}/1"],
                            ["gdalmdiminfo", "{}"], [DECIMATED, "{}"]],
            "two.zarr": [["gdalinfo", "{}"], ["gdalinfo", 'ZARR3:"{}":/b'], ["gdalinfo", 'ZARR3:"{}":/b:1'],
                         ["gdalmdiminfo", "{}"]]}.items():
        for command in commands:
            server.take_log()
            program = python if command[0] == DECIMATED else output
            program(*[word.replace("{}", f"{server.url}/{name}") for word in command])
            documents = [path for path in asked(server) if "/c/" not in path and not path.endswith("/c")]
            assert documents == [f"/{name}/zarr.json"], (command, documents)


@pytest.mark.parametrize("command", [["gdalinfo", "{}"], ["gdalmdiminfo", "{}"], ["gdalinfo", "{}/one"]])
def test_requests_of_an_open_of_levels_by_gdal(server, command):
    python(WITH_LEVELS, server.folder)
    server.take_log()
    output(*[word.replace("{}", f"/vsicurl/{server.url}/one.zarr") for word in command])
    log = [(request.method, request.path) for request in server.take_log()]
    assert len([path for _, path in log if "/c/" not in path]) <= 4, log
    assert not [path for _, path in log if path.endswith(("band/zarr.json", "one/zarr.json"))], log


def test_a_node_that_the_list_does_not_have_opens_by_its_name(server, store):
    """And so do those around it: the list is old."""
    group = zarr.open_group(server.folder / "s.zarr", mode="r+", use_consolidated=False)
    put(group, "t", PLANE, dimension_names=("y", "x"))
    put(group, "x", 5.0 + 10 * np.arange(80), dimension_names=("x",))
    put(group, "y", 5.0 - 10 * np.arange(60), dimension_names=("y",))
    assert "Origin = (0.000000000000000,10.000000000000000)" in output("gdalinfo", 'ZARR3:"%s":/t' % store)
    assert run("gdalinfo", 'ZARR3:"%s":/none' % store).returncode == 1


def test_a_root_that_is_not_there_is_asked_for_once(server):
    make_store(server.folder / "p.zarr", consolidated=False)
    assert run("gdalinfo", server.url + "/p.zarr/none.zarr/a").returncode == 1
    assert asked(server).count("/p.zarr/none.zarr/zarr.json") == 1


@pytest.mark.parametrize("form, most", [("{}/t", 3), ("/vsicurl/{}/t", 6), ("/vsicurl/{}", 7)])
def test_requests_for_coordinates(server, raster, form, most):
    """The place by attributes is compared with them: a request for each, and by GDAL two at most."""
    root = zarr.open_group(server.folder / "r.zarr", use_consolidated=False)
    root["t"].update_attributes({
        "zarr_conventions": [{"uuid": "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4"}],
        "spatial:transform": [10, 0, 0, 0, -10, 10]})
    zarr.consolidate_metadata(root.store)
    output("gdalinfo", form.format(raster))
    paths = [request.path for request in server.take_log()]
    assert len(paths) <= most, paths
    assert 1 <= sum(path.startswith("/r.zarr/x/c") for path in paths) <= 2, paths
    assert not [path for path in paths if path.endswith(("/x/zarr.json", "/y/zarr.json"))]


ROWS = r"""
import sys; from osgeo import gdal; gdal.UseExceptions()
d = gdal.Open(sys.argv[1])
for y in range(d.RasterYSize): d.ReadAsArray(0, y, d.RasterXSize, 1)
"""


def test_rows_of_all_bands_take_a_request_for_a_row_of_chunks(server):
    """GDAL asks for them block by block, which once made each block a round trip. A row of chunks lies together here:
    zarr-python writes several rows in Morton order."""
    root = zarr.create_group(server.folder / "p.zarr")
    put(root, "p", np.random.default_rng(1).integers(0, 255, (64, 640, 3), "u1"),
        chunks=(32, 64, 3), shards=(32, 640, 3), dimension_names=("y", "x", "band"))
    python(ROWS, server.url + "/p.zarr/p")
    data = [request for request in server.take_log() if "/c/" in request.path]
    assert len(data) <= 3, [(request.path, request.range) for request in data]


BLOCKS = r"""
import sys; from osgeo import gdal; gdal.UseExceptions()
gdal.SetCacheMax(int(sys.argv[3]))
d = gdal.Open(sys.argv[1])
w, h = d.GetRasterBand(1).GetBlockSize()
total, bands = 0, [d.GetRasterBand(b) for b in range(1, d.RasterCount + 1)]
if sys.argv[2] == "advised": bands[0].AdviseRead(0, 0, d.RasterXSize, d.RasterYSize)
if sys.argv[2] == "strange": bands[0].AdviseRead(-5, 7, 10 * d.RasterXSize, 3)
if sys.argv[2] == "statistics":
    total = sum(band.ComputeStatistics(False)[2] for band in bands) * d.RasterXSize * d.RasterYSize
else:
    step = 1 if sys.argv[2] != "apart" else 3
    for y in range(0, d.RasterYSize, h * step):
        for x in range(0, d.RasterXSize, w * step):
            for band in bands:
                total += int(band.ReadAsArray(x, y, w, h).astype("u8").sum())
print(round(total))
"""


@pytest.mark.parametrize("way, cache, most", [
    ("statistics", 64 << 20, 24), ("windows", 64 << 20, 24), ("advised", 64 << 20, 8),
    ("windows", 100000, 200), ("strange", 64 << 20, 24), ("apart", 64 << 20, 49)])
@pytest.mark.parametrize("choice", ["own", "vsi"])
def test_a_raster_that_is_read_block_by_block(server, way, cache, most, choice):
    """256 blocks of 2 KiB in a shard; blocks that lie apart load nothing besides."""
    data = np.random.default_rng(1).integers(0, 60000, (512, 512), "u2")
    root = zarr.create_group(server.folder / "p.zarr")
    put(root, "p", data, chunks=(32, 32), shards=(512, 512), compressors=None)
    zarr.consolidate_metadata(root.store)
    parts = data.reshape(16, 32, 16, 32)[::3, :, ::3] if way == "apart" else data
    said = python(BLOCKS, server.url + "/p.zarr/p", way, cache, ZARR3_REMOTE=choice)
    assert int(said) == parts.astype("u8").sum()
    log = [request for request in server.take_log() if "/c/" in request.path]
    assert len(log) <= most + (choice == "vsi") * 20, [request.range for request in log]
    if way == "apart" and choice == "own":
        assert sum(request.sent for request in log) < data.nbytes


def test_bands_that_are_read_block_by_block_go_on_together(server):
    data = np.random.default_rng(1).integers(0, 60000, (3, 256, 256), "u2")
    root = zarr.create_group(server.folder / "p.zarr")
    put(root, "p", data, chunks=(1, 32, 32), compressors=None)
    zarr.consolidate_metadata(root.store)
    gate = server.hold("/p.zarr/p/c/0/1/", count=8)  # behind the row by which the order of reading is known
    said = python(BLOCKS, server.url + "/p.zarr/p", "windows", 64 << 20)
    assert int(said) == data.astype("u8").sum()
    paths = [path for path in asked(server) if "/c/" in path]
    assert len(paths) == len(set(paths)) == 192 and gate.was_met


REFERENCES = r"""
import sys
from osgeo import gdal
gdal.UseExceptions()
group = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER).GetRootGroup()
for name in "abc":
    assert group.OpenMDArray(name).GetSpatialRef().GetAuthorityCode(None) == "32725"
"""


def test_crs_of_arrays_take_no_chunks(server):
    """Also of those that state one by two ways: only where the two differ, the coordinates tell."""
    root = zarr.create_group(server.folder / "r.zarr")
    for name in "abc":
        put(root, name, PLANE, dimension_names=("y", "x"), attributes={
            "grid_mapping": "spatial_ref", "proj:code": "EPSG:32725", "spatial:dimensions": ["y", "x"],
            "spatial:transform": [10, 0, 0, 0, -10, 10], "zarr_conventions": [
                {"uuid": "f17cb550-5864-4468-aeb7-f3180cfb622f"}, {"uuid": "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4"}]})
    put(root, "x", 5.0 + 10 * np.arange(80), dimension_names=("x",))
    put(root, "y", 5.0 - 10 * np.arange(60), dimension_names=("y",))
    root.create_array("spatial_ref", shape=(), dtype="i4", attributes={"crs_wkt": WKT})
    zarr.consolidate_metadata(root.store)
    python(REFERENCES, server.url + "/r.zarr")
    assert asked(server) == ["/r.zarr/zarr.json"]


COVERAGE = r"""
import sys; from osgeo import gdal; gdal.UseExceptions()
d = gdal.Open(sys.argv[1])
print(d.GetRasterBand(1).GetDataCoverageStatus(0, 0, d.RasterXSize, d.RasterYSize))
gdal.Translate(sys.argv[2], d, creationOptions=["SPARSE_OK=YES"]) if len(sys.argv) > 2 else None
"""


@pytest.mark.parametrize("choice", ["own", "vsi"])
def test_coverage_is_not_asked_for_over_the_network(server, choice, tmp_path):
    """Each chunk would be a round trip, one after the other; reading takes them side by side."""
    root = zarr.create_group(server.folder / "e.zarr")
    root.create_array("e", shape=(60, 80), dtype="u2", chunks=(10, 10))
    zarr.consolidate_metadata(root.store)
    url = server.url + "/e.zarr/e"
    assert python(COVERAGE, url, ZARR3_REMOTE=choice).startswith("[3, ")  # not known, data
    assert not [path for path in asked(server) if "/c/" in path]
    python(COVERAGE, url, tmp_path / "o.tif", ZARR3_REMOTE="own")
    assert len([path for path in asked(server) if "/c/" in path]) == 48


# ---- By GDAL's own requests

def test_gdal_can_do_the_requests(server, raster):
    python(READ, raster, ZARR3_REMOTE="vsi")
    assert {request.headers["user-agent"].split("/")[0] for request in server.take_log()} == {"GDAL"}
    python(READ.replace("not d.GetFileList()", "True"), "/vsicurl/" + raster, ZARR3_REMOTE="own")


def test_virtual_names_are_known_without_the_prefix(raster):
    python(READ.replace("not d.GetFileList()", "True"), "/vsicurl/" + raster)


@pytest.mark.parametrize("node, most", [("", 4), ("/sharded", 3)])
def test_requests_of_an_open_by_gdal(server, store, node, most):
    output("gdalinfo", "/vsicurl/" + store + node)
    log = server.take_log()
    assert len(log) <= most, [(request.method, request.path) for request in log]
    assert not [request for request in log if request.path.endswith("/sharded/zarr.json")]


PIXELS = r"""
import sys; from osgeo import gdal; gdal.UseExceptions()
d = gdal.Open(sys.argv[1])
print("OPEN")
print(int(d.ReadAsArray().astype("u8").sum()))
"""

HTML = b"<html>please sign in</html>"
FAULTS = {
    "500": ("status", {"code": 500}), "503": ("status", {"code": 503}),
    "429": ("status", {"code": 429}), "403": ("status", {"code": 403}),
    "401": ("status", {"code": 401}), "400": ("status", {"code": 400}),
    "404 for GET alone": ("status", {"code": 404}), "416": ("status", {"code": 416}),
    "204": ("status", {"code": 204, "body": b""}),
    "a redirection to nowhere": ("status", {"code": 302}),
    "a redirection in a circle": ("status", {"code": 302, "headers": {"Location": "0"}}),
    "cut before the body": ("cut", {"after": 0}), "cut in the body": ("cut", {"after": 40}),
    "a short body": ("short", {"bytes": 40}), "reset": ("reset", {}),
    "all in place of a range": ("whole", {}), "gzip": ("gzip", {}),
    "HTML in place of a range": ("body", {"body": HTML}),
    "HTML and 200": ("status", {"code": 200, "body": HTML}),
    "no HTTP": ("raw", {"pieces": [b"SSH-2.0-x\r\n"]}),
    "an endless head": ("raw", {"pieces": [b"HTTP/1.1 200 OK\r\n"] + 200 * [b"X: " + 4096 * b"x"]}),
    "a wait": ("hang", {}),
}


@pytest.fixture
def chunks(server):
    """The name of an array in GDAL's file systems, its path on the server, and the sum of its pixels."""
    root = zarr.create_group(server.folder / "f.zarr")
    put(root, "t", PLANE, chunks=(30, 40))
    put(root, "raw", PLANE, chunks=(30, 40), compressors=None)
    zarr.consolidate_metadata(root.store)
    return 'ZARR3:"/vsicurl/%s/f.zarr":/' % server.url, "/f.zarr/", int(PLANE.astype("u8").sum())


@pytest.mark.parametrize("array", ["t", "raw"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_chunk_that_gdal_cannot_get_is_an_error(server, chunks, array, fault):
    """Never fill, and never other pixels."""
    name, path, _ = chunks
    kind, options = FAULTS[fault]
    server.fault(path + array + "/c/1/0", kind, **options)
    patience = 5 if kind == "hang" else 60  # seconds: a server on a busy machine may stand still for one
    done = run_python(PIXELS, name + array, GDAL_HTTP_TIMEOUT=patience)
    assert done.stdout == "OPEN\n" and "c/1/0" in done.stderr, done.stdout + done.stderr


@pytest.mark.parametrize("fault", ["500", "cut in the body", "short body once"])
def test_a_chunk_that_gdal_gets_at_the_second_time(server, chunks, fault):
    """What came at first is forgotten."""
    name, path, total = chunks
    kind, options = FAULTS.get(fault, ("short", {"bytes": 40}))
    server.fault(path + "t/c/1/0", kind, times=1, **options)
    assert python(PIXELS, name + "t").split() == ["OPEN", str(total)]
    methods = [asked.method for asked in server.take_log() if asked.path == path + "t/c/1/0"]
    assert methods == ["GET", "HEAD", "GET"]


@pytest.mark.parametrize("array", ["t", "raw"])
def test_gdal_asks_once_for_a_chunk(server, chunks, array):
    name, path, total = chunks
    assert python(PIXELS, name + array).split() == ["OPEN", str(total)]
    data = [asked.method for asked in server.take_log() if path + array + "/c/" in asked.path]
    assert data == 4 * ["GET"]


@pytest.mark.parametrize("choice, words", [("both", "expected own or vsi"), ("vsi", "query")])
def test_bad_choices_are_errors(server, raster, choice, words):
    done = run("gdalinfo", raster + "?sig=canary", ZARR3_REMOTE=choice)
    errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    assert done.returncode == 1 and words in errors[0] and "canary" not in errors[0]
    assert asked(server) == []


CLOUDS = {
    "/vsigs/": {"CPL_GS_ENDPOINT": "{url}/", "GS_NO_SIGN_REQUEST": "YES"},
    "/vsiaz/": {"AZURE_STORAGE_CONNECTION_STRING": "DefaultEndpointsProtocol=http;AccountName=a;"
                "BlobEndpoint={url};SharedAccessSignature=sig=canary"},
}


@pytest.mark.parametrize("form", ['ZARR3:"{}":/t', "{}/t", "{}"])
@pytest.mark.parametrize("system", CLOUDS)
def test_systems_that_gdal_alone_knows(server, raster, system, form):
    """Google Cloud Storage and Azure: GDAL signs, and asks its own server for them."""
    (server.folder / "bucket").mkdir()
    (server.folder / "r.zarr").rename(server.folder / "bucket/r.zarr")
    settings = {name: value.format(url=server.url) for name, value in CLOUDS[system].items()}
    name = form.format(system + "bucket/r.zarr")
    python(READ.replace("not d.GetFileList()", "True"), name, **settings)
    log = server.take_log()
    assert any("/bucket/r.zarr/t/c/" in request.path for request in log)
    server.fault("/bucket/r.zarr/t/c/1/1", "status", code=403)
    done = run_python(READ, name, **settings)
    assert done.returncode == 1 and "c/1/1" in done.stderr and "canary" not in done.stderr


# ---- GDAL's settings, for our requests

def test_headers_go_to_the_named_host_alone(server, raster):
    python(READ, raster, GDAL_HTTP_HEADERS='X-One: a,"X-Two: b, c"', GDAL_HTTP_BEARER="canary")
    for request in server.take_log():
        assert request.headers["x-one"] == "a" and request.headers["x-two"] == "b, c"
        assert request.headers["authorization"] == "Bearer canary"
    away = server.url.replace("127.0.0.1", "localhost")
    server.fault("/r.zarr/t/c", "status", code=302, times=1, headers={"Location": away + "/r.zarr/t/c/0/0"})
    run_python(READ, raster, GDAL_HTTP_BEARER="canary")
    led = [request for request in server.take_log() if request.headers["host"].startswith("localhost")]
    assert led and not any("authorization" in request.headers for request in led)


@pytest.mark.parametrize("headers", ["canary", "Range: canary"])
def test_headers_that_cannot_be_sent_are_errors(server, raster, headers):
    said = failure(OPEN, raster, GDAL_HTTP_HEADERS=headers)
    assert "header" in said and "canary" not in said and asked(server) == []


def test_settings_of_a_path(server, raster):
    code = "from osgeo import gdal; import sys\n" \
        "gdal.SetPathSpecificOption('/vsicurl/' + sys.argv[1], 'GDAL_HTTP_BEARER', 'x')\n" + READ
    python(code, raster)
    assert {request.headers.get("authorization") for request in server.take_log()} == {"Bearer x"}


def test_a_proxy(server, raster):
    """It gets the requests for all hosts."""
    name = raster.replace("127.0.0.1", "host.invalid")
    python(READ, name, GDAL_HTTP_PROXY=server.url)
    assert server.take_log()
    said = failure(OPEN, name, GDAL_HTTP_PROXY="http://u:canary@127.0.0.1:1")
    assert "no password" in said and "canary" not in said


def test_authorities(tls_server, certificate):
    make_store(tls_server.folder / "s.zarr")
    for name in "GDAL_CURL_CA_BUNDLE", "CURL_CA_BUNDLE":
        python(f"from osgeo import gdal; gdal.SetConfigOption('{name}', '{certificate[0]}')\n" + OPEN,
               tls_server.url + "/s.zarr")


# ---- What is none of our business, and what cannot be done

IDENTIFY = r"""
import sys; from osgeo import gdal
gdal.DontUseExceptions(); gdal.PushErrorHandler("CPLQuietErrorHandler")
d = gdal.IdentifyDriverEx(sys.argv[1], gdal.OF_RASTER, ["Zarr3"]); print(d.ShortName if d else None)
"""


def test_identifying_a_url_contacts_nobody(server, raster):
    assert python(IDENTIFY, raster).strip() == "Zarr3"
    assert python(IDENTIFY, server.url + "/r.tif").strip() == "None"
    assert python(IDENTIFY, server.url + "/r.tif?x.zarr").strip() == "None"
    assert asked(server) == []


@pytest.mark.parametrize("command", [
    "gdal_translate -q -of Zarr3 {local} {url}", "gdalmdimtranslate -of Zarr3 {local} {url}",
    "gdalmanage delete {url}", "gdalmanage rename {url} new.zarr", "gdalmanage copy {local} {url}",
    "gdal_edit.py -a_nodata 1 {url}", 'gdal_translate -q -of Zarr3 {local} ZARR3:"{url}":/g'])
@pytest.mark.parametrize("query", ["", "?sig=canary"])
def test_writing_is_refused(server, raster, command, query, tmp_path):
    local = server.folder / "r.zarr"
    before = {p: p.read_bytes() for p in local.rglob("*") if p.is_file()}
    done = run(*command.format(url=raster + query, local=local).split(), cwd=tmp_path)
    said = done.stderr + done.stdout
    assert "local" in said and ("ERROR" in said or done.returncode != 0)
    assert "canary" not in "".join(line for line in said.splitlines() if "ERROR" in line)
    assert before == {p: p.read_bytes() for p in local.rglob("*") if p.is_file()}
    assert [p.name for p in tmp_path.iterdir()] == ["served"]


# ---- Faults: an error with the host and what it said, never other data

def failure(code, url, **environment):
    done = run_python(code, url, **(HASTY | environment))
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr.strip().splitlines()[-1]


def test_no_such_store(server):
    said = failure(OPEN, server.url + "/no.zarr")
    assert "127.0.0.1" in said and "no.zarr" in said
    assert all(request.method == "GET" for request in server.take_log()), "only ours"


def test_a_refused_connection():
    said = failure(OPEN, "http://127.0.0.1:1/x.zarr")
    assert "127.0.0.1" in said and "onnect" in said and "after 2 tries" in said


def test_a_server_that_fails_for_good(server, raster):
    server.fault("/r.zarr/zarr.json", "status", code=503)
    said = failure(OPEN, raster)
    assert "503" in said and "127.0.0.1" in said
    assert asked(server) == 2 * ["/r.zarr/zarr.json"]


@pytest.mark.parametrize("form", ["{}/t", 'ZARR3:"{}":/t', 'ZARR3:"{}":/t:1'])
def test_a_server_that_fails_is_waited_for_once(server, raster, form):
    """All names are of one request's tries: the root, the node, and what a name may mean besides."""
    server.fault("/r.zarr", "status", code=503)
    assert "503" in failure(OPEN, form.format(raster))
    assert asked(server) == 2 * ["/r.zarr/zarr.json"]


def test_a_node_opens_below_a_root_that_may_not_be_read(server, raster):
    server.fault("/r.zarr/zarr.json", "status", code=403)
    python(OPEN, raster + "/t")


def test_a_server_that_fails_once(server, raster):
    server.fault("/r.zarr", "status", code=500, times=1)
    server.fault("/r.zarr/t/c", "cut", after=5, times=1)
    python(READ, raster)


@pytest.mark.parametrize("kind, options, words", [
    ("status", {"code": 500}, "500"), ("status", {"code": 403}, "403"),
    ("cut", {"after": 7}, "t/c/1/1"), ("hang", {}, "t/c/1/1")])
def test_a_shard_that_cannot_be_had_is_an_error(server, raster, kind, options, words):
    server.fault("/r.zarr/t/c/1/1", kind, **options)
    said = failure(READ, raster, **IMPATIENT if kind == "hang" else {})
    assert words in said and "t/c/1/1" in said and "127.0.0.1" in said
    assert asked(server).count("/r.zarr/t/c/1/1") == (1 if words == "403" else 2)


def test_https(tls_server, certificate):
    make_store(tls_server.folder / "s.zarr")
    url = tls_server.url + "/s.zarr"
    python(OPEN, url, SSL_CERT_FILE=certificate[0])
    said = failure(OPEN, url)
    assert "certificate" in said


# ---- Progress, and requests that are cancelled

LISTEN = r"""
import sys
from osgeo import gdal
gdal.UseExceptions()
d = gdal.Open(sys.argv[1])
way, stop = sys.argv[2], int(sys.argv[3])
told = []
def listen(done, text, data):
    told.append(done)
    print("told", flush=True)
    return len(told) < stop
try:
    if way == "dataset": d.ReadAsArray(callback=listen)
    if way == "direct": d.GetRasterBand(1).ReadAsArray(callback=listen)
    if way == "blocks": d.GetRasterBand(1).ReadAsArray(1, 1, 50, 50, callback=listen)
    print("done", len(told), told == sorted(told), told[-1])
except RuntimeError as error:
    print("cancelled" if "cancelled" in str(error) else error, len(told), told[-1] < 1)
"""


def read_with_progress(raster, way, stop, meanwhile):
    """The last words of a program that is told of its read's progress and stops it at the call of that number. `meanwhile`
    comes after its first call."""
    reader = subprocess.Popen([sys.executable, "-W", "ignore", "-c", LISTEN, raster, way, str(stop)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    first = reader.stdout.readline()
    meanwhile()
    said = reader.stdout.read()
    assert reader.wait() == 0 and first == "told\n", first + said
    return said.splitlines()[-1].split()


@pytest.mark.parametrize("way", ["dataset", "direct", "blocks"])
def test_progress_of_a_read(server, raster, way):
    """Before a reply has come, too; and of one that takes no time."""
    gate = server.hold("/r.zarr/t/c")
    for calls in (2, 1):
        said = read_with_progress(raster, way, 1 << 30, gate.open)
        assert said[0] == "done" and int(said[1]) >= calls and said[2:] == ["True", "1.0"]


@pytest.mark.parametrize("way", ["dataset", "direct", "blocks"])
def test_a_read_of_a_server_that_hangs_is_cancelled(server, raster, way):
    """While it still hangs."""
    gate = server.hold("/r.zarr/t/c")
    assert read_with_progress(raster, way, 2, lambda: None) == ["cancelled", "2", "True"]
    assert gate.inside and not any(request.ended for request in server.log if "/t/c/" in request.path)
