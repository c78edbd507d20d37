# SPDX-License-Identifier: MIT
"""Inner chunks that do not divide their shard, as proposed for version 1.1 of sharding_indexed: read
in random windows, shards of several extents too, and not written. interop/core, h5py and gdal read
whole arrays of these and other forms."""

import json
import os
import subprocess

import numpy as np
import product
import pytest
import refcodec
from libzarrbridge import Store, Writer, ZarrbridgeError
from variants_encoding import GZIP, LITTLE, ZSTD, transpose

SHAPE = (29, 26)
DEEP = product.shard((3, 2), [LITTLE, ZSTD])
CASES = {
    "plain": ((11, 7), [product.shard((4, 3), [LITTLE])]),
    "zstd": ((11, 7), [product.shard((4, 3), [LITTLE, ZSTD], "start")]),
    "transposed": ((11, 7), [transpose(1, 0), product.shard((3, 4), [transpose(1, 0), LITTLE])]),
    "nested": ((17, 13), [product.shard((8, 5), [DEEP])]),
    "nested_inside": ((16, 10), [product.shard((8, 5), [DEEP])]),
    "wrapped": ((11, 7), [product.shard((4, 3), [LITTLE, ZSTD]), GZIP]),
    "larger": ((11, 7), [product.shard((12, 3), [LITTLE])]),
}


def values():
    numbers = np.arange(SHAPE[0] * SHAPE[1], dtype="<i4").reshape(SHAPE)
    numbers[10:16, 5:12] = -1
    return numbers


def document(name):
    return refcodec.array_document(SHAPE, "int32", CASES[name][0], CASES[name][1], -1)


def program(*arguments):
    done = subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], *map(str, arguments)],
                          capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout


def check_windows(store, expected):
    random = np.random.default_rng(7)
    for _ in range(300):
        start = [int(random.integers(0, n)) for n in expected.shape]
        step = [int(random.integers(1, 4)) for _ in start]
        stop = [int(random.integers(a + 1, n + 1)) for a, n in zip(start, expected.shape)]
        window = expected[tuple(map(slice, start, stop, step))]
        ours = np.zeros(window.shape, "<i4")
        store.read_into("a", start, step, ours)
        assert (ours == window).all(), (start, stop, step)


@pytest.mark.parametrize("name", CASES)
def test_windows(name, tmp_path):
    refcodec.write_array(tmp_path / "a", document(name), values(), np.int32(-1))
    check_windows(Store(tmp_path), values())
    assert program("verify", tmp_path / "a") == (0, "")


@pytest.mark.parametrize("name", CASES)
def test_not_written(name, tmp_path):
    """Not in parts, not by a resize, and the objects stay as they are."""
    refcodec.write_array(tmp_path / "a", document(name), values(), np.int32(-1))
    before = {f: f.read_bytes() for f in tmp_path.rglob("*") if f.is_file()}
    store = Store(tmp_path)
    with pytest.raises(ZarrbridgeError, match="do not divide their shards.*only read"):
        with Writer(store, "a") as writer:
            writer.write((0, 0), None, np.ones((1, 1), "<i4"))
    for shape in ((5, 5), (40, 26)):
        with pytest.raises(ZarrbridgeError, match="only read"):
            store.resize("a", shape)
    with pytest.raises(ZarrbridgeError, match="only read"):
        store.compact("a")
    with pytest.raises(ZarrbridgeError, match="expected a divisor"):
        store.create_array("b", SHAPE, CASES[name][0], "int32", codecs=CASES[name][1])
    store.close()  # the lock's file goes
    assert {f: f.read_bytes() for f in tmp_path.rglob("*") if f.is_file()} == before


@pytest.mark.parametrize("name", ["plain", "zstd", "wrapped"])
def test_shards_of_several_extents(name, tmp_path):
    """Each shard has a rest of its own."""
    array, expected, edges = tmp_path / "a", values(), [[5, 11, 13], [3, 16, 7]]
    told = document(name)
    told["chunk_grid"] = {"name": "rectilinear",
                          "configuration": {"kind": "inline", "chunk_shapes": edges}}
    refcodec.write_document(array, told)
    for i, row in enumerate(np.split(expected, np.cumsum(edges[0])[:-1], 0)):
        for j, chunk in enumerate(np.split(row, np.cumsum(edges[1])[:-1], 1)):
            data = refcodec.encode_chain(told["codecs"], chunk, np.int32(-1))
            refcodec.write_object(array / f"c/{i}/{j}", data)
    check_windows(Store(tmp_path), expected)


def test_damage_has_a_place(tmp_path):
    refcodec.write_array(tmp_path / "a", document("zstd"), values(), np.int32(-1))
    shard = tmp_path / "a" / "c" / "0" / "0"
    shard.write_bytes(shard.read_bytes()[:-1])  # of the last inner chunk, which is cut twice
    with pytest.raises(ZarrbridgeError, match=r"shard c/0/0, inner chunk \(2,2\)"):
        Store(tmp_path).read_into("a", None, None, np.zeros(SHAPE, "<i4"))
    status, lines = program("verify", tmp_path / "a")
    assert status == 1 and "inner chunk (2,2)" in lines


def test_what_the_plugins_show(tmp_path):
    """The unit of such an array is the shard: chunks of HDF5, blocks of GDAL."""
    h5py = pytest.importorskip("h5py")
    gdal = pytest.importorskip("osgeo.gdal")
    refcodec.write_array(tmp_path / "s.zarr" / "a", document("zstd"), values(), np.int32(-1))
    refcodec.write_document(tmp_path / "s.zarr", {"zarr_format": 3, "node_type": "group"})
    with h5py.File(tmp_path / "s.zarr", "r") as file:
        array = file["a"]
        assert array.chunks == (11, 7)
        assert array.id.get_num_chunks() == 12
        # the bytes that direct calls give: HDF5 has no filter for codecs in shards
        assert array.id.get_chunk_info_by_coord((11, 14)).size == 11 * 7 * 4
        assert (array[3:25:2, 1:20] == values()[3:25:2, 1:20]).all()
    gdal.UseExceptions()
    dataset = gdal.Open(f"ZARR3:{tmp_path}/s.zarr:/a")
    band = dataset.GetRasterBand(1)
    assert band.GetBlockSize() == [7, 11]
    assert (band.ReadAsArray(5, 3, 20, 24) == values()[3:27, 5:25]).all()


def test_zarrs(tmp_path):
    """zarrs refuses such arrays until the proposal is accepted; then this test has to grow."""
    zarr = pytest.importorskip("zarr", minversion="3.1", reason="zarrs needs a newer zarr-python")
    pytest.importorskip("zarrs")
    refcodec.write_array(tmp_path / "a", document("zstd"), values(), np.int32(-1))
    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    with pytest.raises(Exception, match="(?i)divi"):
        zarr.open_array(tmp_path / "a", mode="r")[:]
    assert json.loads((tmp_path / "a/zarr.json").read_text())["codecs"]
