# SPDX-License-Identifier: MIT
"""GDAL programs that write to S3 by our own requests."""

import os

import pytest
import zarr
from osgeo import gdal

from programs import HASTY, output, python, run
from sims3 import S3
from simserver import SimServer

gdal.UseExceptions()
NAME = "s3://bucket/deep/new.zarr"
SIZE = 96


@pytest.fixture
def serve(tmp_path):
    """A server with an empty bucket; the variables by which programs reach it; a raster to be written."""
    place = tmp_path / "served/bucket"
    place.mkdir(parents=True)
    raster = gdal.GetDriverByName("GTiff").Create(str(tmp_path / "in.tif"), SIZE, SIZE, 2, gdal.GDT_Int16)
    raster.SetGeoTransform((500000, 10, 0, 9000, 0, -10))
    for band in (1, 2):
        pixels = bytes((3 * i + band) % 251 for i in range(2 * SIZE * SIZE))
        raster.GetRasterBand(band).WriteRaster(0, 0, SIZE, SIZE, pixels)
    del raster
    with SimServer(tmp_path / "served", answer=S3({"AKID": "canary-secret"})) as server:
        server.bucket = place
        variables = {name: None for name in os.environ if name.startswith("AWS_")}
        yield server, variables | HASTY | {
            "AWS_ENDPOINT_URL": server.url, "AWS_ACCESS_KEY_ID": "AKID", "HOME": tmp_path,
            "AWS_SECRET_ACCESS_KEY": "canary-secret"}


def translate(tmp_path, name, variables, *options, check=output):
    return check("gdal_translate", "-q", "-of", "Zarr3", "-co", "BLOCKSIZE=32x32", *options,
                 tmp_path / "in.tif", name, **variables)


def checksums(name, **variables):
    return [line.strip() for line in output("gdalinfo", "-checksum", name, **variables).splitlines()
            if "Checksum=" in line]


def objects(server):
    return sorted(str(p.relative_to(server.bucket)) for p in server.bucket.rglob("*") if p.is_file())


@pytest.mark.parametrize("options", [(), ("-co", "SHARD=64x64")])
def test_a_raster_is_written(serve, tmp_path, options):
    server, variables = serve
    translate(tmp_path, NAME, variables, *options)
    assert checksums(NAME, **variables) == checksums(tmp_path / "in.tif")
    assert checksums(server.bucket / "deep/new.zarr") == checksums(tmp_path / "in.tif")
    local = gdal.Open(str(server.bucket / "deep/new.zarr"))
    assert local.GetGeoTransform() == (500000, 10, 0, 9000, 0, -10)
    assert zarr.open_array(server.bucket / "deep/new.zarr/new").shape == (SIZE, SIZE, 2)
    assert all(name.startswith("deep/new.zarr/") and "test" not in name for name in objects(server))


def test_names_beside_a_raster_are_missed_once(serve, tmp_path):
    """Those of a CRS and of coordinates that it has not: after the first miss the names in the group are known."""
    server, variables = serve
    gdal.GetDriverByName("GTiff").Create(str(tmp_path / "bare.tif"), 8, 8, 2)
    output("gdal_translate", "-q", "-of", "Zarr3", tmp_path / "bare.tif", NAME, **variables)
    server.take_log()
    output("gdalinfo", NAME, **variables)
    log = server.take_log()
    missing = [r.path for r in log if r.status == 404 and r.path.endswith("zarr.json")]
    assert len(missing) <= 1 and len(log) <= 10, [(r.path, r.query) for r in log]


UPDATE = """
import sys
from osgeo import gdal
gdal.UseExceptions()
dataset = gdal.Open(sys.argv[1], gdal.GA_Update)
dataset.GetRasterBand(2).WriteRaster(40, 50, 2, 1, b"\\x07\\x00\\x09\\x00")
dataset.SetMetadataItem("PLACE", "here")
dataset.GetRasterBand(1).SetNoDataValue(-1)
del dataset
dataset = gdal.Open(sys.argv[1])
print(bytes(dataset.GetRasterBand(2).ReadRaster(40, 50, 2, 1)), dataset.GetMetadataItem("PLACE"),
      dataset.GetRasterBand(1).GetNoDataValue())
"""


def test_a_raster_is_changed(serve, tmp_path):
    server, variables = serve
    translate(tmp_path, NAME, variables, "-co", "SHARD=64x64")
    assert python(UPDATE, NAME, **variables).split("\n")[0] == "b'\\x07\\x00\\t\\x00' here -1.0"
    output("gdaladdo", "-q", "-r", "average", NAME, "2", "4", **variables)
    assert output("gdalinfo", NAME, **variables).count("Overviews: 48x48, 24x24") == 2
    output("gdaladdo", "-q", "-clean", NAME, **variables)
    assert not [name for name in objects(server) if "ovr_" in name]


def test_a_pyramid_of_groups(serve, tmp_path):
    server, variables = serve
    translate(tmp_path, NAME, variables, "-co", "OVERVIEW_LAYOUT=GROUPS")
    output("gdaladdo", "-q", "-r", "average", NAME, "2", "4", **variables)
    assert output("gdalinfo", NAME, **variables).count("Overviews: 48x48, 24x24") == 2
    assert [name for name in objects(server) if "/2/" in name] and not [
        name for name in objects(server) if "zarr3-new" in name]
    output("gdaladdo", "-q", "-clean", NAME, **variables)
    assert "Overviews" not in output("gdalinfo", NAME, **variables)


SIDE = """
import sys
from osgeo import gdal
gdal.UseExceptions()
dataset = gdal.Open(sys.argv[1], gdal.GA_Update)
colours = gdal.ColorTable()
colours.SetColorEntry(1, (10, 20, 30, 255))
dataset.GetRasterBand(1).SetColorTable(colours)
dataset.GetRasterBand(1).SetCategoryNames(["sea", "land"])
dataset.SetGCPs([gdal.GCP(1, 2, 0, 3, 4)], dataset.GetProjection())
dataset.BuildOverviews("NEAREST", [2])
dataset.GetRasterBand(1).ComputeStatistics(False)
del dataset
dataset = gdal.Open(sys.argv[1])
band = dataset.GetRasterBand(1)
print(band.GetColorTable().GetColorEntry(1), band.GetCategoryNames(), dataset.GetGCPCount(),
      band.GetMetadataItem("STATISTICS_MINIMUM") is not None, band.GetOverviewCount())
"""


def test_properties_of_no_form_in_zarr_are_kept(serve, tmp_path):
    server, variables = serve
    translate(tmp_path, NAME, variables)
    assert python(SIDE, NAME, cwd=tmp_path, **variables).strip() == (
        "(10, 20, 30, 255) ['sea', 'land'] 1 True 1")
    translate(tmp_path, "s3://bucket/copy.zarr", variables)
    output("gdal_translate", "-q", "-of", "Zarr3", NAME, "s3://bucket/copy.zarr", **variables)
    said = output("gdalinfo", "s3://bucket/copy.zarr", **variables)
    assert "GCP[" in said and "1: land" in said and "STATISTICS_MINIMUM" in said
    assert all(name.split("/")[-2] != "bucket" and ".aux" not in name for name in objects(server))


def test_what_was_there_is_replaced_if_it_is_a_store(serve, tmp_path):
    server, variables = serve
    translate(tmp_path, NAME, variables)
    translate(tmp_path, NAME, variables, "-b", "2")
    assert checksums(NAME, **variables) == checksums(tmp_path / "in.tif")[1:]
    (server.bucket / "other.zarr").mkdir()
    (server.bucket / "other.zarr/letter.txt").write_text("mine")
    done = translate(tmp_path, "s3://bucket/other.zarr", variables, check=run)
    assert done.returncode == 1 and "it stays as it is" in done.stderr
    assert [name for name in objects(server) if name.startswith("other")] == ["other.zarr/letter.txt"]


def test_rasters_are_appended(serve, tmp_path):
    server, variables = serve
    translate(tmp_path, NAME, variables)
    more = ("-co", "APPEND_SUBDATASET=YES", "-co", "ARRAY_NAME=more", "-b", "2")
    translate(tmp_path, NAME, variables, *more)
    assert translate(tmp_path, NAME, variables, *more, check=run).returncode == 1
    assert checksums(f"ZARR3:{NAME}:/more", **variables) == checksums(tmp_path / "in.tif")[1:]
    assert checksums(f"ZARR3:{NAME}:/new", **variables) == checksums(tmp_path / "in.tif")


def test_a_put_that_fails_is_an_error(serve, tmp_path):
    server, variables = serve
    server.fault("/bucket/deep/new.zarr/new/c/1/", "status", method="PUT", code=403)
    done = translate(tmp_path, NAME, variables, check=run)
    assert done.returncode == 1 and "ERROR" in done.stderr and "canary" not in done.stderr
    assert objects(server) == [], "half of a raster stays"


def put_is_of_the_root(request, path):
    return request.method == "PUT" and path.name == "zarr.json" and path.parent.name == "new.zarr"


@pytest.mark.parametrize("copies", [False, True])
def test_what_another_program_makes_meanwhile_stays(serve, tmp_path, copies):
    server, variables = serve
    if copies:
        translate(tmp_path, "s3://bucket/source.zarr", variables)
    change = server.answer.change

    def overtake(simserver, request, path):
        if put_is_of_the_root(request, path) and not path.exists():
            zarr.create_group(path.parent).create_array("theirs", shape=(3,), dtype="u1")[...] = 5
        return change(simserver, request, path)

    server.answer.change = overtake
    if copies:
        done = run("gdalmanage", "copy", "-f", "Zarr3", "s3://bucket/source.zarr", NAME, **variables)
    else:
        done = translate(tmp_path, NAME, variables, check=run)
    assert "ERROR" in done.stderr
    assert zarr.open_array(server.bucket / "deep/new.zarr/theirs")[...].tolist() == [5, 5, 5]


def test_what_stays_of_a_raster_is_told(serve, tmp_path):
    server, variables = serve
    change = server.answer.change

    def refuse(simserver, request, path):
        if "test" not in path.name and ("/c/" in str(path) or request.method == "DELETE"):
            return server.answer.error(503, "ServiceUnavailable")
        return change(simserver, request, path)

    server.answer.change = refuse
    done = translate(tmp_path, NAME, variables, check=run)
    assert done.returncode == 1 and f"stays at {NAME}, /, and has to be deleted" in done.stderr


def test_options_are_no_part_of_an_array_s_name(serve, tmp_path):
    server, variables = serve
    name = f"s3://bucket/some.zarr#region=us-east-1&endpoint={server.url}"
    translate(tmp_path, name, variables | {"AWS_ENDPOINT_URL": None})
    assert zarr.open_array(server.bucket / "some.zarr/some").shape == (SIZE, SIZE, 2)


MDIM = """
import sys
from osgeo import gdal
gdal.UseExceptions()
root = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE).GetRootGroup()
array = root.OpenMDArray("in")
array.Write(b"\\x01\\x00" * 4, [0, 0, 0], [1, 2, 2])
array.Rename("named")
del array, root
array = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER).GetRootGroup().OpenMDArray("named")
print(array.Read([0, 0, 0], [1, 2, 2]) == b"\\x01\\x00" * 4)
"""


def test_the_multidimensional_api_writes(serve, tmp_path):
    server, variables = serve
    output("gdal_translate", "-q", "-of", "Zarr3", tmp_path / "in.tif", tmp_path / "in.zarr")
    output("gdalmdimtranslate", "-q", "-of", "Zarr3", tmp_path / "in.zarr", NAME, **variables)
    assert checksums(f"ZARR3:{NAME}:/in", **variables) == checksums(tmp_path / "in.tif")
    assert python(MDIM, NAME, **variables).split() == ["True"]


def test_stores_are_copied_and_deleted(serve, tmp_path):
    server, variables = serve
    translate(tmp_path, NAME, variables)
    output("gdalmanage", "copy", "-f", "Zarr3", NAME, "s3://bucket/copy.zarr", **variables)
    assert checksums("s3://bucket/copy.zarr", **variables) == checksums(tmp_path / "in.tif")
    assert "exists already" in run("gdalmanage", "copy", "-f", "Zarr3", NAME, "s3://bucket/copy.zarr",
                                   **variables).stderr
    assert "is not renamed" in run("gdalmanage", "rename", "-f", "Zarr3", NAME, "s3://bucket/x.zarr",
                                   **variables).stderr
    output("gdalmanage", "delete", "-f", "Zarr3", NAME, **variables)
    assert {name.split("/")[0] for name in objects(server)} == {"copy.zarr"}


@pytest.mark.parametrize("name, said", [
    ("https://localhost/new.zarr", "to local directories"), ("/vsis3/bucket/new.zarr", "s3:// names"),
    ("s3://bucket/new.zarr.zip", "to local directories")])
def test_other_places_are_refused(serve, tmp_path, name, said):
    server, variables = serve
    done = translate(tmp_path, name, variables, check=run)
    assert done.returncode == 1 and said in done.stderr
    assert objects(server) == [] and {request.method for request in server.take_log()} <= {"GET"}


def test_virtual_names_are_written_by_us_where_that_is_asked_for(serve, tmp_path):
    server, variables = serve
    translate(tmp_path, NAME.replace("s3://", "/vsis3/"), variables | {"ZARR3_REMOTE": "own"})
    assert checksums(NAME, **variables) == checksums(tmp_path / "in.tif")
    done = translate(tmp_path, NAME, variables | {"ZARR3_REMOTE": "vsi"}, check=run)
    assert done.returncode == 1 and "to local directories" in done.stderr


def test_credentials_that_are_refused(serve, tmp_path):
    server, variables = serve
    done = translate(tmp_path, NAME, variables | {"AWS_SECRET_ACCESS_KEY": "canary-other"}, check=run)
    assert done.returncode == 1 and "SignatureDoesNotMatch" in done.stderr
    assert "canary" not in done.stdout + done.stderr and objects(server) == []


def test_levels_are_made_and_removed_by_zarrbridge(serve, tmp_path):
    """Where levels take their places by copies, and locks keep nobody out: GDAL shows them, and no object is left."""
    server, variables = serve
    translate(tmp_path, NAME, variables)
    before = objects(server)
    program = os.environ["ZARRBRIDGE_PROGRAM"]
    output(program, "pyramid", f"{NAME}/new", "--factors", "2,4", "--method", "average", **variables)
    info = output("gdalinfo", NAME, **variables)
    assert "Overviews: 48x48, 24x24" in info, info
    assert not [name for name in objects(server) if "zarr3-new" in name]
    output(program, "pyramid", f"{NAME}/new", "--clean", **variables)
    assert objects(server) == before
