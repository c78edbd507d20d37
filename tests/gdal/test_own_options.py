# SPDX-License-Identifier: MIT
"""Creation options of GDAL's own Zarr driver, which its users bring along, and options that no
driver knows: understood, or refused before anything is touched."""
import json

import numpy as np
import pytest
import zarr
from osgeo import gdal

from conftest import Errors, opened
from test_append import DRIVER, files, placed, refused


@pytest.mark.parametrize("options,same", [
    (["FORMAT=ZARR_V3"], []), (["FORMAT=zarr_v3", "SINGLE_ARRAY=YES"], []),
    (["FILTER=NONE", "CHUNK_MEMORY_LAYOUT=C", "STRING_FORMAT=STRING"], []),
    (["GEOREFERENCING_CONVENTION=SPATIAL_PROJ"], []), (["GEOREFERENCING_CONVENTION=GDAL"], []),
    (["CREATE_CONSOLIDATED_METADATA=YES"], []), (["CREATE_ZMETADATA=YES"], []),
    (["CREATE_ZMETADATA=NO"], ["CREATE_CONSOLIDATED_METADATA=NO"]),
    (["CONVERT_TO_KERCHUNK_PARQUET_REFERENCE=NO"], []), (["APPEND_SUBDATASET=NO"], []),
    (["BLOCKSIZE=32,48", "SHARD_CHUNK_SHAPE=16,16"], ["SHARD=32,48", "BLOCKSIZE=16,16"]),
    (["BLOCKSIZE=2,32,48", "SHARD_CHUNK_SHAPE=1,16,16"],
     ["SHARD=2,32,48", "BLOCKSIZE=1,16,16"]),
    (["COMPRESS=ZSTD", "ZSTD_LEVEL=7", "GZIP_LEVEL=2"], ["LEVEL=7"]),
    (["ZSTD_LEVEL=9"], ["LEVEL=9"]),
    (["COMPRESS=GZIP", "GZIP_LEVEL=2"], ["COMPRESS=GZIP", "LEVEL=2"]),
    (["COMPRESS=BLOSC", "BLOSC_CLEVEL=2", "BLOSC_CNAME=zstd", "BLOSC_SHUFFLE=BIT",
      "BLOSC_NUM_THREADS=2", "BLOSC_BLOCKSIZE=0"],
     ["COMPRESS=BLOSC", "LEVEL=2", "BLOSC_CNAME=ZSTD", "BLOSC_SHUFFLE=BIT"]),
    (["COMPRESS=GZIP", "ZSTD_CHECKSUM=NO", "BLOSC_BLOCKSIZE=0"], ["COMPRESS=GZIP"])])
def test_options_that_are_understood(tmp_path, options, same):
    source = placed(2)
    with Errors() as errors:
        DRIVER.CreateCopy(str(tmp_path / "a.zarr"), source, options=["ARRAY_NAME=t", *options])
    assert not errors.failures
    assert [text for _, text in errors.seen if "does not support" in text] == []
    DRIVER.CreateCopy(str(tmp_path / "b.zarr"), source, options=["ARRAY_NAME=t", *same]).Close()
    assert files(tmp_path / "a.zarr") == files(tmp_path / "b.zarr")


@pytest.mark.parametrize("option,word", [
    ("FORMAT=ZARR_V2", "version 2"), ("FORMAT=ZARR_V4", "ZARR_V4"), ("FILTER=DELTA", "DELTA"),
    ("CHUNK_MEMORY_LAYOUT=K", "CHUNK_MEMORY_LAYOUT"), ("SINGLE_ARRAY=NO", "SINGLE_ARRAY"),
    ("CREATE_CONSOLIDATED_METADATA=ALL", "CREATE_CONSOLIDATED_METADATA"), ("SHARD_CHUNK_SHAPE=16,16", "BLOCKSIZE"),
    ("GEOREFERENCING_CONVENTION=NEW", "NEW"), ("BLOSC_BLOCKSIZE=4096", "COMPRESS=BLOSC"),
    ("BLOSC_BLOCKSIZE=-1", "BLOSC_BLOCKSIZE"), ("ZSTD_CHECKSUM=MAYBE", "ZSTD_CHECKSUM"),
    ("CONVERT_TO_KERCHUNK_PARQUET_REFERENCE=YES", "CONVERT_TO"),
    ("ZSTD_LEVEL=99", "0 to 22")])
@pytest.mark.parametrize("there", [False, True])
def test_options_that_are_refused(tmp_path, option, word, there):
    path = tmp_path / "s.zarr"
    if there:
        DRIVER.CreateCopy(str(path), placed()).Close()
    refused(path, placed(), word, [option])


def test_what_compressors_are_told(tmp_path):
    """The options reach the compressed bytes, and zarr-python reads them."""
    def pixels(name, *options):
        path = tmp_path / name
        DRIVER.CreateCopy(str(path), placed(), options=["ARRAY_NAME=t", *options]).Close()
        assert np.array_equal(zarr.open_array(str(path / "t"))[...], opened(path).ReadAsArray())
        codecs = json.loads((path / "t/zarr.json").read_text())["codecs"]
        return codecs[-1]["configuration"], (path / "t/c/0/0").read_bytes()

    configuration, encoded = pixels("a.zarr", "ZSTD_CHECKSUM=YES", "ZSTD_LEVEL=5")
    assert configuration == {"level": 5, "checksum": True}
    assert encoded[4] & 4  # of the frame's descriptor
    configuration, encoded = pixels("b.zarr", "COMPRESS=BLOSC", "BLOSC_BLOCKSIZE=256")
    assert configuration["blocksize"] == 256
    assert int.from_bytes(encoded[8:12], "little") == 256
    for options in (["COMPRESS=GZIP", "ZSTD_CHECKSUM=YES"], ["COMPRESS=NONE", "BLOSC_BLOCKSIZE=8"]):
        refused(tmp_path / "c.zarr", placed(), "needs COMPRESS", options)
    refused(tmp_path / "c.zarr", placed(), "exclude", ["ZSTD_CHECKSUM=YES", "CODECS=[]"])


def test_a_store_is_not_replaced_on_an_option_that_nobody_knows(tmp_path):
    """An option may have been meant to keep the store, as a misspelt APPEND_SUBDATASET was."""
    path = tmp_path / "s.zarr"
    DRIVER.CreateCopy(str(path), placed()).Close()
    for option in ("APPEND_SUBDATASETS=YES", "ARAY_NAME=two", "OVERWRITE=NO"):
        refused(path, placed(), option.split("=")[0], [option])
    for option in ("NBITS=1", "DISCARD_LSB=2", "PIXELTYPE=SIGNEDBYTE", "SOURCE_ICC_PROFILE=AA=="):
        refused(path, placed(), "no option " + option.split("=")[0], [option])  # what is stored would be another
    # Where nothing is there it remains GDAL's warning, and profiles of GeoTIFFs remain usable.
    with Errors() as errors:
        DRIVER.CreateCopy(str(tmp_path / "t.zarr"), placed(), options=["ARAY_NAME=two"]).Close()
        DRIVER.CreateCopy(str(path), placed(2), options=[
            "TILED=YES", "BIGTIFF=IF_SAFER", "PREDICTOR=2", "PROFILE=BASELINE", "TFW=YES", "GEOTIFF_VERSION=1.1",
            "JPEG_QUALITY=80", "jxl_effort=3", "MAX_Z_ERROR=0.1"]).Close()
    assert not errors.failures
    assert opened(path).RasterCount == 2


def test_an_array_of_each_band_is_made_as_the_message_says(tmp_path):
    """GDAL's own driver lists such arrays as subdatasets, and reads none of them as bands."""
    path = tmp_path / "s.zarr"
    refused(path, placed(), "APPEND_SUBDATASET=YES", ["SINGLE_ARRAY=NO"])
    source = gdal.GetDriverByName("MEM").Create("", 6, 4, 3)
    for band in (1, 2, 3):
        source.GetRasterBand(band).Fill(band)
        more = ["APPEND_SUBDATASET=YES"] if band > 1 else []
        gdal.Translate(str(path), source, format="Zarr3", bandList=[band],
                       creationOptions=["ARRAY_NAME=Band%d" % band, *more]).Close()
    with opened(path) as dataset:
        names = [name for name, _ in dataset.GetSubDatasets()]
    assert [int(opened(name).ReadAsArray()[0, 0]) for name in names] == [1, 2, 3]
