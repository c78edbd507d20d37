# SPDX-License-Identifier: MIT
"""Creation options of GDAL's own Zarr driver, which its users bring along, and options that no
driver knows: understood, or refused before anything is touched."""
import pytest

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
    (["ZSTD_CHECKSUM=NO"], [])])
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
    ("GEOREFERENCING_CONVENTION=NEW", "NEW"), ("BLOSC_BLOCKSIZE=4096", "BLOSC_BLOCKSIZE"),
    ("CONVERT_TO_KERCHUNK_PARQUET_REFERENCE=YES", "CONVERT_TO"), ("ZSTD_CHECKSUM=YES", "CHECKSUM"),
    ("ZSTD_LEVEL=99", "0 to 22")])
@pytest.mark.parametrize("there", [False, True])
def test_options_that_are_refused(tmp_path, option, word, there):
    path = tmp_path / "s.zarr"
    if there:
        DRIVER.CreateCopy(str(path), placed()).Close()
    refused(path, placed(), word, [option])


def test_a_store_is_not_replaced_on_an_option_that_nobody_knows(tmp_path):
    """An option may have been meant to keep the store, as a misspelt APPEND_SUBDATASET was."""
    path = tmp_path / "s.zarr"
    DRIVER.CreateCopy(str(path), placed()).Close()
    for option in ("APPEND_SUBDATASETS=YES", "ARAY_NAME=two", "OVERWRITE=NO"):
        refused(path, placed(), option.split("=")[0], [option])
    # Where nothing is there it remains GDAL's warning, and profiles of GeoTIFFs remain usable.
    with Errors() as errors:
        DRIVER.CreateCopy(str(tmp_path / "t.zarr"), placed(), options=["ARAY_NAME=two"]).Close()
        DRIVER.CreateCopy(str(path), placed(2), options=["TILED=YES", "BIGTIFF=IF_SAFER"]).Close()
    assert not errors.failures
    assert opened(path).RasterCount == 2
