# SPDX-License-Identifier: MIT
"""Tiles of a GeoTIFF become chunks, or inner chunks of shards, without being encoded again, where
the file's compression is the copy's codec. Pixels are always those of the source."""
import random
import struct

import numpy as np
import pytest
import zarr
from conftest import Errors, opened
from numcodecs import Zstd
from osgeo import gdal

HEIGHT, WIDTH = 700, 900  # no multiples of a tile


def pixels(bands, dtype="u2", height=HEIGHT, width=WIDTH):
    y, x = np.mgrid[:height, :width]
    return np.stack([(x * (band + 1) + y * 7) % 250 for band in range(bands)]).astype(dtype)


def make_tiff(path, data, *options, sparse=None, mask=False):
    code = gdal.GetDriverByName("GTiff")
    kind = {"u1": gdal.GDT_Byte, "i1": gdal.GDT_Int8, "u2": gdal.GDT_UInt16, "i4": gdal.GDT_Int32,
            "f4": gdal.GDT_Float32, "f8": gdal.GDT_Float64, "c8": gdal.GDT_CFloat32}[data.dtype.str[1:]]
    bands, height, width = data.shape
    given = list(options) + (["SPARSE_OK=TRUE"] if sparse else [])
    with code.Create(str(path), width, height, bands, kind, given) as dataset:
        for i in range(bands):
            if sparse:
                dataset.GetRasterBand(i + 1).WriteArray(data[i, :256, :256])
            else:
                dataset.GetRasterBand(i + 1).WriteArray(data[i])
        if mask:
            dataset.CreateMaskBand(gdal.GMF_PER_DATASET)
            dataset.GetRasterBand(1).GetMaskBand().WriteArray((data[0] % 2 * 255).astype("u1"))
    return str(path)


def copy(source, target, *options):
    """Copies, and tells whether tiles were moved, and else why not."""
    with gdal.config_option("CPL_DEBUG", "ZARR3"), Errors() as log:
        made = gdal.GetDriverByName("Zarr3").CreateCopy(str(target), gdal.Open(source),
                                                        options=list(options))
        assert made is not None, log.seen
        made.Close()
    assert not log.failures
    ways = [text for _, text in log.seen if "moved as they are" in text or "decoded and enc" in text]
    assert ways
    fallen = [text for _, text in log.seen if "cannot be moved" in text]
    return "moved" in ways[0] and not fallen, (ways + fallen)[-1]


def same(source, target):
    expected, got = gdal.Open(source).ReadAsArray(), opened(target).ReadAsArray()
    assert np.array_equal(expected, got, equal_nan=got.dtype.kind in "fc")
    array = next(array for _, array in zarr.open_group(str(target), mode="r").arrays())
    elements = array[...]
    if array.ndim == 3 and array.shape[0] != expected.shape[0]:
        elements = np.moveaxis(elements, 2, 0)
    assert np.array_equal(elements, expected, equal_nan=elements.dtype.kind in "fc")
    return array


MOVED = {
    "zstd": (["COMPRESS=ZSTD"], []),
    "deflate": (["COMPRESS=DEFLATE"], ["COMPRESS=GZIP"]),
    "checksum": (["COMPRESS=ZSTD"], ["CHECKSUM=YES"]),
    "unsharded": (["COMPRESS=ZSTD"], ["SHARD=OFF"]),
    "shard": (["COMPRESS=DEFLATE"], ["COMPRESS=GZIP", "SHARD=512x1024"]),
}


@pytest.mark.parametrize("bands", [1, 3])
@pytest.mark.parametrize("case", MOVED)
def test_tiles_are_moved(tmp_path, case, bands):
    made, options = MOVED[case]
    source = make_tiff(tmp_path / "a.tif", pixels(bands), "TILED=YES", "INTERLEAVE=BAND", *made)
    moved, reason = copy(source, tmp_path / "a.zarr", *options)
    assert moved, reason
    array = same(source, tmp_path / "a.zarr")
    assert array.chunks[-2:] == (256, 256)


@pytest.mark.parametrize("kind", ["u1", "i1", "u2", "i4", "f4", "f8", "c8"])
def test_types(tmp_path, kind):
    source = make_tiff(tmp_path / "a.tif", pixels(2, kind), "TILED=YES", "INTERLEAVE=BAND",
                       "COMPRESS=ZSTD")
    moved, reason = copy(source, tmp_path / "a.zarr")
    assert moved, reason
    same(source, tmp_path / "a.zarr")


def test_bands_pixel_by_pixel(tmp_path):
    source = make_tiff(tmp_path / "a.tif", pixels(3, "u1"), "TILED=YES", "INTERLEAVE=PIXEL",
                       "COMPRESS=DEFLATE")
    moved, reason = copy(source, tmp_path / "a.zarr", "COMPRESS=GZIP", "INTERLEAVE=PIXEL")
    assert moved, reason
    same(source, tmp_path / "a.zarr")
    moved, reason = copy(source, tmp_path / "b.zarr", "COMPRESS=GZIP", "BLOCKSIZE=256x256")
    assert not moved and "INTERLEAVE=PIXEL" in reason
    same(source, tmp_path / "b.zarr")


NOT_MOVED = {
    "raw": ([], ["COMPRESS=NONE"], "not compressed"),
    "predictor": (["COMPRESS=ZSTD", "PREDICTOR=2"], [], "predictor"),
    "lzw": (["COMPRESS=LZW"], [], "LZW"),
    "codec": (["COMPRESS=DEFLATE"], ["BLOCKSIZE=256x256"], "codecs differ"),
    "block": (["COMPRESS=ZSTD"], ["BLOCKSIZE=512x512"], "BLOCKSIZE"),
    "bits": (["COMPRESS=ZSTD", "NBITS=12"], [], "bits"),
    "shuffled": (["COMPRESS=ZSTD"], ["COMPRESS=BLOSC", "BLOCKSIZE=256x256"], "codecs differ"),
    "big endian": (["COMPRESS=ZSTD", "ENDIANNESS=BIG"], [], "codecs differ"),
}


@pytest.mark.parametrize("case", NOT_MOVED)
def test_reasons_against(tmp_path, case):
    made, options, expected = NOT_MOVED[case]
    source = make_tiff(tmp_path / "a.tif", pixels(2), "TILED=YES", "INTERLEAVE=BAND", *made)
    moved, reason = copy(source, tmp_path / "a.zarr", *options)
    assert not moved and expected in reason
    same(source, tmp_path / "a.zarr")


def test_strips_and_their_short_last_one(tmp_path):
    source = make_tiff(tmp_path / "a.tif", pixels(1), "BLOCKYSIZE=64", "COMPRESS=ZSTD")
    moved, reason = copy(source, tmp_path / "a.zarr", "BLOCKXSIZE=900", "BLOCKYSIZE=64", "SHARD=OFF")
    assert moved, reason
    same(source, tmp_path / "a.zarr")


def test_tiles_that_are_not_stored(tmp_path):
    source = make_tiff(tmp_path / "a.tif", pixels(2), "TILED=YES", "INTERLEAVE=BAND",
                       "COMPRESS=ZSTD", sparse=True)
    moved, reason = copy(source, tmp_path / "a.zarr", "SHARD=OFF")
    assert moved, reason
    same(source, tmp_path / "a.zarr")


def test_nodata_and_mask(tmp_path):
    source = make_tiff(tmp_path / "a.tif", pixels(1), "TILED=YES", "COMPRESS=ZSTD", sparse=True)
    with gdal.Open(source, gdal.GA_Update) as dataset:
        dataset.GetRasterBand(1).SetNoDataValue(77)
    moved, reason = copy(source, tmp_path / "a.zarr", "SHARD=OFF")
    assert moved, reason
    same(source, tmp_path / "a.zarr")
    with gdal.config_option("GDAL_TIFF_INTERNAL_MASK", "YES"):
        source = make_tiff(tmp_path / "b.tif", pixels(1), "TILED=YES", "COMPRESS=ZSTD", mask=True)
    moved, reason = copy(source, tmp_path / "b.zarr")
    assert moved, reason
    same(source, tmp_path / "b.zarr")
    masks = []
    for dataset in (gdal.Open(source), opened(tmp_path / "b.zarr")):
        masks.append(dataset.GetRasterBand(1).GetMaskBand().ReadAsArray())
    assert (masks[0] == masks[1]).all()


@pytest.mark.parametrize("beside", [False, True])
def test_overviews(tmp_path, beside):
    data = gdal.GetDriverByName("MEM").Create("", WIDTH, HEIGHT, 1, gdal.GDT_UInt16)
    data.WriteArray(pixels(1)[0])
    path = str(tmp_path / "a.tif")
    if beside:
        source = make_tiff(path, pixels(1), "TILED=YES", "COMPRESS=ZSTD")
        with gdal.config_option("COMPRESS_OVERVIEW", "ZSTD"):
            gdal.Open(source).BuildOverviews("NEAREST", [2, 4])
    else:
        gdal.Translate(path, data, options="-of COG -co COMPRESS=ZSTD -co BLOCKSIZE=256 -co PREDICTOR=NO")
    with gdal.config_option("CPL_DEBUG", "ZARR3"), Errors() as log:
        gdal.GetDriverByName("Zarr3").CreateCopy(str(tmp_path / "a.zarr"), gdal.Open(path),
                                                 options=["COPY_SRC_OVERVIEWS=YES"]).Close()
    from_file, from_store = gdal.Open(path), opened(tmp_path / "a.zarr")
    source, target = from_file.GetRasterBand(1), from_store.GetRasterBand(1)
    count = source.GetOverviewCount()
    assert target.GetOverviewCount() == count > 0
    for i in range(count):
        assert (target.GetOverview(i).ReadAsArray() == source.GetOverview(i).ReadAsArray()).all()
    moved = [text for _, text in log.seen if "moved as they are" in text]
    assert len(moved) == (1 if beside else 2)  # blocks of the other level are smaller than a tile


def masked_raster(bands, width, height):
    raster = gdal.GetDriverByName("MEM").Create("", width, height, bands, gdal.GDT_UInt16)
    data = pixels(bands, "u2", height, width)
    for i in range(bands):
        raster.GetRasterBand(i + 1).WriteArray(data[i])
    raster.CreateMaskBand(gdal.GMF_PER_DATASET)
    y, x = np.mgrid[:height, :width]
    raster.GetRasterBand(1).GetMaskBand().WriteArray(((x // 50 + y // 70) % 5 != 0).astype("u1") * 255)
    return raster


MASKED = {
    "beside": ("NO", "-co TILED=YES -co COMPRESS=ZSTD -co INTERLEAVE=BAND", None),
    "internal": ("YES", "-co TILED=YES -co COMPRESS=ZSTD -co INTERLEAVE=BAND", None),
    "overviews": ("YES", "-co TILED=YES -co COMPRESS=ZSTD -co INTERLEAVE=BAND", [2, 4]),
    "COG": ("YES", "-of COG -co COMPRESS=ZSTD -co BLOCKSIZE=256 -co PREDICTOR=NO", None),
}


@pytest.mark.parametrize("bands", [1, 3])
@pytest.mark.parametrize("case", MASKED)
def test_masks_do_not_keep_bands_from_moving(tmp_path, case, bands):
    """A mask has bits in the file, and bytes in the store: it alone is copied by its pixels."""
    width, height = 2050, 1541  # a COG has overviews of 1025 x 770, 512 x 385, 256 x 192
    place, made, factors = MASKED[case]
    path = str(tmp_path / "a.tif")
    with gdal.config_option("GDAL_TIFF_INTERNAL_MASK", place):
        gdal.Translate(path, masked_raster(bands, width, height), options=made).Close()
    if factors:
        options = {"COMPRESS_OVERVIEW": "ZSTD", "INTERLEAVE_OVERVIEW": "BAND"}
        with gdal.config_options(options), gdal.Open(path, gdal.GA_Update) as dataset:
            dataset.BuildOverviews("NEAREST", factors)
    options = ["COPY_SRC_OVERVIEWS=YES"]
    with gdal.config_option("CPL_DEBUG", "ZARR3"), Errors() as log:
        gdal.GetDriverByName("Zarr3").CreateCopy(str(tmp_path / "a.zarr"), gdal.Open(path),
                                                 options=options).Close()
    assert not log.failures
    texts = [text for _, text in log.seen]
    assert any("mask is copied by its pixels" in text for text in texts)
    each = 1 if case == "COG" else bands  # tiles of a COG have all bands
    counts = [int(text.split()[1]) for text in texts if "tiles have been moved" in text]
    levels = {"COG": [(9, 7), (5, 4), (2, 2)], "overviews": [(9, 7), (5, 4), (3, 2)]}.get(case, [(9, 7)])
    assert counts == [across * down * each for across, down in levels], texts

    from_file, from_store = gdal.Open(path), opened(tmp_path / "a.zarr")
    for band in range(1, bands + 1):
        source, target = from_file.GetRasterBand(band), from_store.GetRasterBand(band)
        count = source.GetOverviewCount()
        assert target.GetOverviewCount() == count
        for one, other in [(source, target)] + [(source.GetOverview(i), target.GetOverview(i)) for i in range(count)]:
            assert (one.ReadAsArray() == other.ReadAsArray()).all()
            assert (one.GetMaskBand().ReadAsArray() == other.GetMaskBand().ReadAsArray()).all()


def test_views_and_files_that_were_replaced(tmp_path):
    """Tiles are those of the pixels that the program sees."""
    source = make_tiff(tmp_path / "a.tif", pixels(1), "TILED=YES", "COMPRESS=ZSTD")
    with gdal.config_option("COMPRESS_OVERVIEW", "ZSTD"):
        gdal.Open(source).BuildOverviews("NEAREST", [2])
    view = gdal.OpenEx(source, open_options=["OVERVIEW_LEVEL=0"])
    made = gdal.GetDriverByName("Zarr3").CreateCopy(str(tmp_path / "v.zarr"), view)
    assert (made.ReadAsArray() == view.ReadAsArray()).all()

    held = gdal.Open(source)
    other = make_tiff(tmp_path / "b.tif", pixels(1)[:, ::-1], "TILED=YES", "COMPRESS=ZSTD")
    (tmp_path / "b.tif").rename(source)
    made = gdal.GetDriverByName("Zarr3").CreateCopy(str(tmp_path / "r.zarr"), held)
    assert (made.ReadAsArray() == pixels(1)).all() or (made.ReadAsArray() == pixels(1)[:, ::-1]).all()
    del other


def test_damaged_tiles_are_errors(tmp_path):
    source = make_tiff(tmp_path / "a.tif", pixels(1), "TILED=YES", "COMPRESS=DEFLATE")
    with gdal.Open(source) as dataset:
        items = ("BLOCK_OFFSET_1_1", "BLOCK_SIZE_1_1")
        place = [int(dataset.GetRasterBand(1).GetMetadataItem(item, "TIFF")) for item in items]
    with open(source, "r+b") as file:
        file.seek(place[0] + place[1] // 2)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 0x55]))
    with Errors() as log:
        made = gdal.GetDriverByName("Zarr3").CreateCopy(str(tmp_path / "a.zarr"), gdal.Open(source),
                                                        options=["COMPRESS=GZIP"])
    assert made is None and log.failures
    assert not (tmp_path / "a.zarr").exists()


def put_tile(path, number, frame):
    """Puts other bytes in place of a tile: behind the file's end."""
    with open(path, "r+b") as file:
        data = file.read()
        start, = struct.unpack_from("<I", data, 4)
        count, = struct.unpack_from("<H", data, start)
        for entry in range(start + 2, start + 2 + 12 * count, 12):
            tag, kind, tiles, place = struct.unpack_from("<HHII", data, entry)
            size = {3: 2, 4: 4}.get(kind)
            if tag in (324, 325):  # offsets, sizes
                assert tiles > 2  # they lie elsewhere
                file.seek(place + size * number)
                file.write((len(data) if tag == 324 else len(frame)).to_bytes(size, "little"))
        file.seek(len(data))
        file.write(frame)


def frame_of(content, checksum=False):
    """A frame as libtiff makes it, which does not tell its size."""
    frame = bytes(Zstd(3, checksum).encode(content))
    sizes = {0: 1, 1: 2, 2: 4, 3: 8}[frame[4] >> 6]
    assert frame[4] & 0x23 == 0x20  # a single segment, no dictionary
    return frame[:4] + bytes([frame[4] & 4, 0x58]) + frame[5 + sizes:]


def tile_frames(whole):
    noise = random.Random(3).randbytes(len(whole) - 7)
    return {
        "whole": frame_of(whole),
        "short": frame_of(whole[:-512]),
        "long": frame_of(whole + whole[:512]),
        "cut": frame_of(whole)[:-1],
        "garbage": frame_of(whole) + b"garbage",
        "noise": frame_of(noise),  # whose block tells that it is shorter
        "sum": frame_of(whole, True)[:-1] + b"x",
    }


@pytest.mark.parametrize("case", ["whole", "short", "long", "cut", "garbage", "noise", "sum"])
def test_frames_that_hold_something_else(tmp_path, case):
    """Frames of no stated size are not decoded. None passes as whole: it is found by the conversion, or by
    each reader of the copy."""
    data = pixels(1, height=768, width=768)
    source = make_tiff(tmp_path / "a.tif", data, "TILED=YES", "COMPRESS=ZSTD")
    put_tile(source, 4, tile_frames(data[0, 256:512, 256:512].tobytes())[case])
    target = tmp_path / "a.zarr"
    with Errors() as log:
        made = gdal.GetDriverByName("Zarr3").CreateCopy(str(target), gdal.Open(source), options=["SHARD=OFF"])
        if made:
            made.Close()
    if case in ("cut", "noise", "sum"):
        assert made is None and log.failures and not target.exists()
        return
    assert made and not log.failures
    array = next(array for _, array in zarr.open_group(str(target), mode="r").arrays())
    if case in ("short", "long"):
        with pytest.raises(RuntimeError, match="c/1/1: zstd"):
            opened(target).ReadAsArray()
        with pytest.raises(Exception):
            array[256:512, 256:512]
        assert (array[:256] == data[0, :256]).all()
    else:
        assert (opened(target).ReadAsArray() == data[0]).all() and (array[...] == data[0]).all()


def test_random_files_have_the_pixels_of_the_slow_way(tmp_path):
    """Any mixture of layouts, compressions and options gives the source's pixels."""
    dice = random.Random(20)
    count = 0
    for number in range(60):
        bands = dice.choice([1, 2, 4])
        width, height = dice.randint(1, 600), dice.randint(1, 600)
        kind = dice.choice(["u1", "u2", "f4"])
        compress = dice.choice(["ZSTD", "DEFLATE", "NONE", "LZW"])
        made = ["COMPRESS=" + compress, "INTERLEAVE=" + dice.choice(["BAND", "PIXEL"]),
                "ENDIANNESS=" + dice.choice(["LITTLE", "LITTLE", "BIG"])]
        block = dice.choice([16, 64, 128])
        if dice.random() < 0.7:
            made += ["TILED=YES", "BLOCKXSIZE=%d" % block, "BLOCKYSIZE=%d" % block]
        else:
            made += ["BLOCKYSIZE=%d" % block]
        source = make_tiff(tmp_path / ("%d.tif" % number), pixels(bands, kind, height, width), *made)
        options = ["COMPRESS=" + {"DEFLATE": "GZIP", "NONE": "NONE"}.get(compress, "ZSTD"),
                   "INTERLEAVE=" + made[1].partition("=")[2],
                   "BLOCKSIZE=%dx%d" % ((block, block) if "TILED=YES" in made else (width, block))]
        options += dice.choice([[], ["SHARD=OFF"], ["CHECKSUM=YES"]])
        if dice.random() < 0.2:
            options = [option for option in options if not option.startswith("BLOCKSIZE")]
        target = tmp_path / ("%d.zarr" % number)
        count += copy(source, target, *options)[0]
        same(source, target)
    assert count > 15
