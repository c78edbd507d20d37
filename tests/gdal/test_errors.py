# SPDX-License-Identifier: MIT
"""Damage is one error that names store, array and chunk, however it is met; never wrong pixels."""
import pathlib
import subprocess

import numpy as np
import pytest
import zarr
from osgeo import gdal

from conftest import Errors, opened, put

PLANE = np.arange(60 * 80, dtype="uint16").reshape(60, 80)
READS = {
    "direct": lambda dataset: dataset.ReadAsArray(),
    "cached": lambda dataset: dataset.ReadAsArray(3, 3, 70, 50),
    "block": lambda dataset: dataset.GetRasterBand(1).ReadBlock(
        *(at // size for at, size in zip((79, 39), dataset.GetRasterBand(1).GetBlockSize()))),
    "converted": lambda dataset: dataset.ReadAsArray(buf_type=gdal.GDT_Byte),
    "resampled": lambda dataset: dataset.ReadAsArray(buf_xsize=40, buf_ysize=30),
}


@pytest.fixture(params=["chunk", "shard", "truncated", "empty"])
def damaged(store, request):
    path, root = store
    sharded = dict(chunks=(10, 10), shards=(20, 40)) if request.param == "shard" else {}
    put(root, "t", PLANE, **{"chunks": (20, 40), **sharded},
        compressors=[zarr.codecs.ZstdCodec(), zarr.codecs.Crc32cCodec()])
    chunk = pathlib.Path(path, "t", "c", "1", "1")
    data = bytearray(chunk.read_bytes())
    if request.param in ("chunk", "shard"):
        data[-20 if request.param == "shard" else 20] ^= 1
    chunk.write_bytes({"truncated": data[:30], "empty": b""}.get(request.param, data))
    return path


@pytest.mark.parametrize("read", READS)
def test_one_error_that_names_the_chunk(damaged, read):
    dataset = opened(damaged)
    with Errors() as errors:
        READS[read](dataset)
    assert len(errors.failures) == 1, errors.failures
    message = errors.failures[0]
    assert "store " + damaged in message and "array /t" in message
    assert "c/1/1" in message


def test_the_rest_stays_readable(damaged):
    dataset = opened(damaged)
    with Errors():
        assert dataset.ReadAsArray() is None
        assert dataset.ReadAsArray(1, 1, 79, 59) is None
    assert (dataset.ReadAsArray(0, 0, 80, 20) == PLANE[:20]).all()
    assert (dataset.ReadAsArray(1, 21, 38, 30) == PLANE[21:51, 1:39]).all()
    with Errors():
        assert dataset.ReadAsArray(1, 1, 79, 59) is None, "a failure must not be cached as pixels"


def test_programs_fail(damaged, tmp_path):
    out = tmp_path / "out.tif"
    result = subprocess.run(["gdal_translate", "-q", damaged, out], capture_output=True, text=True)
    assert result.returncode != 0 and "c/1/1" in result.stderr


def test_damaged_coordinates_cost_only_the_transform(store):
    path, root = store
    put(root, "t", PLANE, dims=("y", "x"))
    put(root, "x", np.arange(80.0), dims=("x",))
    put(root, "y", np.arange(60.0), dims=("y",))
    pathlib.Path(path, "x", "c", "0").write_bytes(b"damaged")
    dataset = opened(path)
    with Errors() as errors:
        assert dataset.GetGeoTransform(can_return_null=True) is None
    assert not errors.failures and "array /x" in errors.seen[0][1]
    assert (dataset.ReadAsArray() == PLANE).all()


def stands_in(chunk, what):
    """Puts something else in the chunk's place."""
    chunk.unlink()
    if what == "directory":
        chunk.mkdir()
    elif what == "full directory":
        chunk.mkdir()
        (chunk / "0").write_bytes(b"")
    elif what == "dangling link":
        chunk.symlink_to("nowhere")
    else:
        chunk.symlink_to(chunk.name)


@pytest.mark.parametrize("what", ["directory", "full directory", "dangling link", "loop"])
@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("read", READS)
def test_what_is_no_file_is_no_missing_chunk(store, read, sharded, what):
    path, root = store
    put(root, "t", PLANE, **(dict(chunks=(10, 10), shards=(20, 40)) if sharded
                             else dict(chunks=(20, 40))))
    stands_in(pathlib.Path(path, "t", "c", "1", "1"), what)
    dataset = opened(path)
    with Errors() as errors:
        READS[read](dataset)
    assert len(errors.failures) == 1, errors.failures
    assert "array /t" in errors.failures[0] and "c/1/1" in errors.failures[0]


def test_a_directory_in_the_place_of_a_document(store):
    path, root = store
    put(root, "t", PLANE)
    put(root, "u", PLANE + 1)
    document = pathlib.Path(path, "t", "zarr.json")
    document.unlink()
    document.mkdir()
    with Errors() as errors:
        assert gdal.OpenEx(path + "/t") is None
    assert errors.failures
    assert (opened(path).ReadAsArray() == PLANE + 1).all()


def test_links_out_of_the_store_are_refused(store, tmp_path):
    path, root = store
    put(root, "t", PLANE, chunks=(60, 80), compressors=None)
    chunk = pathlib.Path(path, "t", "c", "0", "0")
    chunk.rename(tmp_path / "outside")
    chunk.symlink_to(tmp_path / "outside")
    dataset = opened(path)
    with Errors() as errors:
        assert dataset.ReadAsArray() is None
    assert len(errors.failures) == 1
