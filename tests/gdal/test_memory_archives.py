# SPDX-License-Identifier: MIT
"""Zip archives in GDAL's memory files, by their own names: read, made, replaced, and handed on by rasterio."""
import io
import zipfile

import numpy as np
import pytest
from osgeo import gdal

from conftest import Errors, opened, run_python

DRIVER = gdal.GetDriverByName("Zarr3")
WANT = np.arange(600, dtype="uint8").reshape(20, 30)
NAME = "/vsimem/archives/r.zarr.zip"


@pytest.fixture(autouse=True)
def nothing_is_left():
    gdal.Mkdir("/vsimem/archives", 0o755)
    yield
    gdal.RmdirRecursive("/vsimem/archives")


def source(values=WANT):
    dataset = gdal.GetDriverByName("MEM").Create("", values.shape[1], values.shape[0], 1, gdal.GDT_Byte)
    dataset.WriteArray(values)
    return dataset


def files():
    return sorted(gdal.ReadDir("/vsimem/archives") or [])


def content(name=NAME):
    file = gdal.VSIFOpenL(name, "rb")
    data = gdal.VSIFReadL(1, gdal.VSIStatL(name).size, file)
    gdal.VSIFCloseL(file)
    return bytes(data)


def entries(name=NAME):
    with zipfile.ZipFile(io.BytesIO(content(name))) as archive:
        assert archive.testzip() is None
        return {entry: archive.read(entry) for entry in archive.namelist()}


def put_archive(objects, name=NAME, folder="", compression=zipfile.ZIP_STORED):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", compression) as archive:
        for entry, value in objects:
            archive.writestr(folder + entry, value)
    gdal.FileFromMemBuffer(name, data.getvalue())


@pytest.fixture
def objects(tmp_path):
    """Of a store, each twice: the last one counts."""
    path = str(tmp_path / "r.zarr.zip")
    parts = []
    for values in -WANT, WANT:
        DRIVER.CreateCopy(path, source(values))
        with zipfile.ZipFile(path) as archive:
            parts += [(entry, archive.read(entry)) for entry in archive.namelist()]
    return parts


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("name, folder", [(NAME, ""), (NAME, "r.zarr/"), ("/vsimem/archives/r.zip", "")])
def test_it_is_read_by_its_name(objects, name, folder, compression):
    put_archive(objects, name, folder, compression)
    for way in name, f'ZARR3:"{name}":/r', f"ZARR3:{name}", f"ZARR3:{name}:/r":
        dataset = opened(way)
        assert (dataset.ReadAsArray() == WANT).all() and dataset.GetFileList() == [name]
    group = gdal.OpenEx(name, gdal.OF_MULTIDIM_RASTER).GetRootGroup()
    assert group.OpenMDArray("r").Read() == WANT.tobytes()
    with pytest.raises(RuntimeError, match="stores are written to"):
        gdal.OpenEx(name, gdal.OF_RASTER | gdal.OF_UPDATE)


def test_what_is_no_store_is_left_to_others():
    put_archive([("a.txt", b"text")])
    with pytest.raises(RuntimeError, match="not recognized"):
        gdal.OpenEx(NAME, gdal.OF_RASTER)
    before = content()
    with pytest.raises(RuntimeError, match="no Zarr version 3 store"):
        DRIVER.Create(NAME, 4, 4)
    assert content() == before and files() == ["r.zarr.zip"]


def test_it_is_made():
    assert (DRIVER.CreateCopy(NAME, source(), options=["OVERVIEWS=AUTO"]).ReadAsArray() == WANT).all()
    assert files() == ["r.zarr.zip"] and {"zarr.json", "r/zarr.json", "r/c/0/0"} <= entries().keys()
    dataset = DRIVER.Create(NAME, 30, 20, 1, gdal.GDT_Byte)
    dataset.WriteArray(WANT // 2)
    assert (opened(NAME).ReadAsArray() == WANT).all()  # until it is closed
    dataset.Close()
    assert (opened(NAME).ReadAsArray() == WANT // 2).all()
    again = gdal.MultiDimTranslate("/vsimem/archives/m.zarr.zip", NAME, format="Zarr3")
    assert again.GetRootGroup().OpenMDArray("r").Read() == (WANT // 2).tobytes()
    again = None
    assert files() == ["m.zarr.zip", "r.zarr.zip"]


@pytest.mark.parametrize("name", ["/vsizip/" + NAME, "/vsizip" + NAME, "/vsizip/{%s}" % NAME])
def test_gdals_name_for_it_makes_it_too(name):
    for values in -WANT, WANT:
        DRIVER.CreateCopy(name, source(values))
        assert (opened(NAME).ReadAsArray() == values).all() and (opened(name).ReadAsArray() == values).all()
    assert files() == ["r.zarr.zip"]
    DRIVER.Delete(name)
    assert files() == []


@pytest.mark.parametrize("folder", ["t.zarr", "a/b.zarr", "plain"])
@pytest.mark.parametrize("on_disk", [False, True])
def test_a_new_one_can_have_the_store_in_a_folder(tmp_path, folder, on_disk):
    """GDAL's name for it, as its own driver takes it."""
    archive = str(tmp_path / "n.zip") if on_disk else NAME
    name = f"/vsizip/{archive}/{folder}"
    with Errors() as errors:
        assert DRIVER.CreateCopy(name, source(), callback=lambda *_: 0) is None
    assert errors.failures and gdal.VSIStatL(archive) is None
    array = folder.split("/")[-1].removesuffix(".zarr")
    if folder == "plain":
        dataset = DRIVER.Create(name, 30, 20, 1, gdal.GDT_Byte)
        dataset.WriteArray(WANT)
        dataset.Close()
    else:
        assert (DRIVER.CreateCopy(name, source()).ReadAsArray() == WANT).all()
    assert f"{folder}/{array}/c/0/0" in gdal.ReadDirRecursive("/vsizip/" + archive)
    for entry in name, archive:
        assert (opened(entry).ReadAsArray() == WANT).all()
    with Errors() as errors:  # an archive that is there is not changed
        assert DRIVER.CreateCopy(f"/vsizip/{archive}/other.zarr", source()) is None
    assert "new zip archives" in errors.failures[0]
    other = archive.replace(".zip", ".other.zip")
    gdal.MultiDimTranslate(f"/vsizip/{other}/{folder}", name, format="Zarr3").Close()
    assert (opened(f"/vsizip/{other}/{folder}").ReadAsArray() == WANT).all()


def test_one_that_is_read_is_replaced():
    values = np.arange(2048 * 600, dtype="uint8").reshape(2048, 600)
    DRIVER.CreateCopy(NAME, source(values), options=["COMPRESS=NONE"])
    old = opened(NAME)
    assert (old.ReadAsArray(0, 0, 600, 10) == values[:10]).all()
    DRIVER.CreateCopy(NAME, source(255 - values), options=["COMPRESS=NONE"])
    assert (opened(NAME).ReadAsArray() == 255 - values).all()
    assert (old.ReadAsArray(0, 0, 600, 10) == values[:10]).all()


def test_a_copy_that_fails_leaves_the_old_one():
    DRIVER.CreateCopy(NAME, source())
    before = content()
    with Errors() as errors:
        assert DRIVER.CreateCopy(NAME, source(-WANT), callback=lambda *_: 0) is None
    assert errors.failures and content() == before and files() == ["r.zarr.zip"]


def test_it_is_copied_renamed_and_deleted():
    DRIVER.CreateCopy(NAME, source())
    DRIVER.CopyFiles("/vsimem/archives/d.zarr", NAME)
    DRIVER.CopyFiles("/vsimem/archives/c.zarr.zip", "/vsimem/archives/d.zarr")
    DRIVER.Rename("/vsimem/archives/n.zarr.zip", "/vsimem/archives/c.zarr.zip")
    for name in "d.zarr", "n.zarr.zip":
        assert (opened("/vsimem/archives/" + name).ReadAsArray() == WANT).all()
    assert entries("/vsimem/archives/n.zarr.zip") == entries()
    for name in "d.zarr", "n.zarr.zip", "r.zarr.zip":
        DRIVER.Delete("/vsimem/archives/" + name)
    assert files() == []


RASTERIO = """
import rasterio, numpy, sys, zipfile, io
values = numpy.arange(600, dtype="uint8").reshape(20, 30)
with rasterio.MemoryFile(ext=".zarr.zip") as memory:
    with memory.open(driver="Zarr3", width=30, height=20, count=1, dtype="uint8", crs="EPSG:32725",
                     transform=rasterio.Affine(10, 0, 5000, 0, -10, 9000)) as dataset:
        dataset.write(values, 1)
    with memory.open() as dataset:
        assert (dataset.read(1) == values).all() and dataset.crs == "EPSG:32725"
    packed = memory.read()
    assert zipfile.ZipFile(io.BytesIO(packed)).testzip() is None
    with rasterio.open(memory.name) as dataset:
        assert (dataset.read(1) == values).all()
with rasterio.MemoryFile(packed, ext=".zarr.zip") as memory:
    with memory.open() as dataset:
        assert (dataset.read(1) == values).all() and dataset.transform.c == 5000
open(sys.argv[1], "wb").write(packed)
with rasterio.open(sys.argv[1]) as dataset:
    assert (dataset.read(1) == values).all()
print("ok")
"""


def test_rasterio_hands_it_on(tmp_path):
    pytest.importorskip("rasterio")
    assert run_python(RASTERIO, tmp_path / "x.zarr.zip").endswith("ok\n")


@pytest.mark.parametrize("on_disk", [False, True])
def test_gdal_enters_other_names_in_braces_alone(tmp_path, on_disk):
    """Nothing is made that GDAL does not open by the name."""
    archive = str(tmp_path / "n.ozx") if on_disk else "/vsimem/archives/n.ozx"
    for name in (f"/vsizip/{archive}", f"/vsizip/{archive}/t.zarr"):
        with Errors() as errors:
            assert DRIVER.CreateCopy(name, source()) is None
        assert "/vsizip/{x.ozx}" in errors.failures[0] and gdal.VSIStatL(archive) is None
    name = "/vsizip/{%s}" % archive
    assert (DRIVER.CreateCopy(name, source()).ReadAsArray() == WANT).all()
    assert (opened(archive).ReadAsArray() == WANT).all()


def test_what_is_written_after_the_dataset_was_closed_is_not_lost_in_silence():
    """GDAL's objects outlive their dataset. The archive is packed again with the last of them, which has nobody
    to return a failure to."""
    dataset = DRIVER.CreateMultiDimensional(NAME)
    root = dataset.GetRootGroup()
    size = root.CreateDimension("x", "", "", 4)
    array = root.CreateMDArray("a", [size], gdal.ExtendedDataType.Create(gdal.GDT_Byte))
    dataset.Close()
    array.Write(np.full(4, 7, "uint8"))
    with Errors() as errors, gdal.config_option("CPL_TMPDIR", "/there/is/no/such/place"):
        del array, root, size, dataset
    assert any("/there/is/no/such/place" in text for text in errors.failures), errors.seen
