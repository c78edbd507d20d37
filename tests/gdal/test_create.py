# SPDX-License-Identifier: MIT
"""Create() and writing pixels: every order, type and form, checked by zarr-python."""
import ctypes
import json
import os
import random
import shutil

import numpy as np
import pytest
import zarr
from osgeo import gdal, gdal_array

from conftest import Errors, opened, run_python

DRIVER = gdal.GetDriverByName("Zarr3")
SHAPES = [[], ["INTERLEAVE=PIXEL"], ["SHARD=512x256", "BLOCKSIZE=64x128"],
          ["INTERLEAVE=PIXEL", "SHARD=256x512", "BLOCKSIZE=128,64", "COMPRESS=BLOSC"],
          ["BLOCKSIZE=3,100,90", "SHARD=3,200,180", "COMPRESS=GZIP", "LEVEL=1"]]
WIDTH, HEIGHT = 700, 500
CUBE = np.random.default_rng(1).integers(0, 60000, (3, HEIGHT, WIDTH), dtype="u2")


def create(path, bands=3, type=gdal.GDT_UInt16, options=(), width=WIDTH, height=HEIGHT):
    return DRIVER.Create(str(path), width, height, bands, type, list(options))


def by_zarr(path, options=(), name="r"):
    """Bands first, as zarr-python reads it."""
    data = zarr.open_array(str(path) + "/" + name, mode="r")[:]
    return np.moveaxis(data, 2, 0) if "INTERLEAVE=PIXEL" in options else data


def windows(width, height, seed):
    tiles = [(x, y, min(width, WIDTH - x), min(height, HEIGHT - y))
             for x in range(0, WIDTH, width) for y in range(0, HEIGHT, height)]
    random.Random(seed).shuffle(tiles)
    return tiles


@pytest.mark.parametrize("options", SHAPES)
@pytest.mark.parametrize("width,height", [(77, 131), (WIDTH, 1), (256, 256), (WIDTH, HEIGHT)])
def test_windows_in_any_order(tmp_path, options, width, height):
    path = tmp_path / "r.zarr"
    dataset = create(path, options=options)
    for i, (x, y, w, h) in enumerate(windows(width, height, 1)):
        if i % 2:
            dataset.WriteArray(CUBE[:, y:y + h, x:x + w], x, y)
        else:
            for band in range(3):
                dataset.GetRasterBand(band + 1).WriteArray(CUBE[band, y:y + h, x:x + w], x, y)
    assert dataset.Close() == gdal.CE_None
    assert (by_zarr(path, options) == CUBE).all()
    assert (opened(path).ReadAsArray() == CUBE).all()


@pytest.mark.parametrize("options", SHAPES)
def test_reads_see_what_was_just_written(tmp_path, options):
    path = tmp_path / "r.zarr"
    dataset = create(path, options=options)
    expected = np.zeros_like(CUBE)
    rng = random.Random(2)
    for _ in range(60):
        w, h = rng.randint(1, 300), rng.randint(1, 200)
        x, y = rng.randint(0, WIDTH - w), rng.randint(0, HEIGHT - h)
        part = np.random.default_rng(rng.randint(0, 999)).integers(0, 9999, (3, h, w), dtype="u2")
        expected[:, y:y + h, x:x + w] = part
        if rng.random() < 0.5:
            dataset.WriteArray(part, x, y)
        else:
            for band in range(3):
                dataset.GetRasterBand(band + 1).WriteArray(part[band], x, y)
        x, y = rng.randint(0, WIDTH - 50), rng.randint(0, HEIGHT - 50)
        if rng.random() < 0.6:
            assert (dataset.ReadAsArray(x, y, 50, 50) == expected[:, y:y + 50, x:x + 50]).all()
        elif rng.random() < 0.2:
            assert (dataset.ReadAsArray() == expected).all()
    dataset = None
    assert (by_zarr(path, options) == expected).all()


def test_rows_read_and_written_by_turns(tmp_path):
    """Rows are written as many programs edit in place; a chunk must not be stored for each row."""
    path = tmp_path / "r.zarr"
    dataset = create(path, 1, options=["SHARD=512x512", "BLOCKSIZE=128x128"])
    dataset.GetRasterBand(1).WriteArray(CUBE[0])
    band = dataset.GetRasterBand(1)
    for row in range(HEIGHT):
        band.WriteArray(band.ReadAsArray(0, row, WIDTH, 1) // 2, 0, row)
    dataset = None
    assert (by_zarr(path) == CUBE[0] // 2).all()


def write_block(band, x, y, block):
    """GDALWriteBlock(), which the Python bindings lack."""
    with open("/proc/self/maps") as maps:
        path = next(line.split()[-1] for line in maps if "/libgdal" in line)
    function = ctypes.CDLL(path).GDALWriteBlock
    function.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p]
    return function(int(band.this), x, y, block.ctypes.data)


@pytest.mark.parametrize("options", SHAPES[:4])
def test_block_interface(tmp_path, options):
    path = tmp_path / "r.zarr"
    dataset = create(path, options=options)
    width, height = dataset.GetRasterBand(1).GetBlockSize()
    for x in range(0, WIDTH, width):
        for y in range(0, HEIGHT, height):
            for band in range(3):
                block = np.zeros((height, width), "u2")
                part = CUBE[band, y:y + height, x:x + width]
                block[:part.shape[0], :part.shape[1]] = part
                assert write_block(dataset.GetRasterBand(band + 1), x // width, y // height,
                                   block) == gdal.CE_None
    assert dataset.FlushCache() == gdal.CE_None
    assert (by_zarr(path, options) == CUBE).all()


def test_strides_and_band_lists_of_any_kind(tmp_path):
    path = tmp_path / "r.zarr"
    dataset = create(path)
    pixels = np.ascontiguousarray(np.moveaxis(CUBE[::-1], 0, 2))
    dataset.WriteRaster(0, 0, WIDTH, HEIGHT, pixels.tobytes(), band_list=[3, 2, 1],
                        buf_pixel_space=6, buf_line_space=6 * WIDTH, buf_band_space=2)
    dataset = None
    assert (by_zarr(path) == CUBE).all()


@pytest.mark.parametrize("source", ["uint8", "int16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("target", ["uint8", "int8", "int32", "float32", "float64", "complex128"])
def test_conversion_is_that_of_gdal(tmp_path, source, target):
    data = np.linspace(-300, 300, 40 * 50).reshape(40, 50)
    with np.errstate(all="ignore"):
        data = data.astype(source)
    type = gdal_array.NumericTypeCodeToGDALTypeCode(np.dtype(target).type)
    memory = gdal.GetDriverByName("MEM").Create("", 50, 40, 1, type)
    memory.WriteArray(data)
    dataset = create(tmp_path / "r.zarr", 1, type, width=50, height=40)
    dataset.WriteArray(data)
    dataset = None
    assert (by_zarr(tmp_path / "r.zarr") == memory.ReadAsArray()).all()


def test_resampled_writes_are_those_of_gdal(tmp_path):
    memory = gdal.GetDriverByName("MEM").Create("", WIDTH, HEIGHT, 3, gdal.GDT_UInt16)
    ours = create(tmp_path / "r.zarr")
    small = np.ascontiguousarray(CUBE[:, ::3, ::5])
    for dataset in (memory, ours):
        dataset.WriteRaster(10, 20, 600, 400, small.tobytes(), small.shape[2], small.shape[1],
                            gdal.GDT_UInt16)
    assert (ours.ReadAsArray() == memory.ReadAsArray()).all()


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64",
                                   "int64", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("options", [[], ["SHARD=64x64", "BLOCKSIZE=32x32"]])
def test_types(tmp_path, dtype, options):
    path = tmp_path / "r.zarr"
    data = (np.arange(70 * 90).reshape(70, 90) % 120).astype(dtype)
    type = gdal_array.NumericTypeCodeToGDALTypeCode(data.dtype.type)
    dataset = create(path, 1, type, options, 90, 70)
    dataset.WriteArray(data)
    dataset = None
    array = zarr.open_array(str(path) + "/r", mode="r")
    assert array.dtype == dtype and (array[:] == data).all() and array.fill_value == 0
    dataset = opened(path)
    assert dataset.GetRasterBand(1).DataType == type


def shapes(path, name="r"):
    document = json.load(open("%s/%s/zarr.json" % (path, name)))
    chunk = document["chunk_grid"]["configuration"]["chunk_shape"]
    first = document["codecs"][0]
    inner = first["configuration"]["chunk_shape"] if first["name"] == "sharding_indexed" else None
    return chunk, inner


@pytest.mark.parametrize("width,height,bands,type,options,chunk,inner", [
    (5000, 4000, 3, gdal.GDT_Byte, ["INTERLEAVE=PIXEL"], [512, 512, 3], None),
    (5000, 4000, 3, gdal.GDT_Byte, [], [1, 512, 512], None),
    (300, 200, 1, gdal.GDT_Byte, [], [200, 300], None),
    (1000000, 1, 1, gdal.GDT_Byte, [], [1, 262144], None),
    (20000, 20000, 1, gdal.GDT_UInt16, [], [2048, 8192], [512, 512]),
    (20000, 20000, 3, gdal.GDT_Byte, ["INTERLEAVE=PIXEL"], [2048, 8192, 3], [512, 512, 3]),
    (512, 512, 1000, gdal.GDT_Float32, [], [32, 512, 512], [1, 512, 512]),
    (20000, 20000, 1, gdal.GDT_Byte, ["SHARD=OFF"], [512, 512], None),
    (3000, 3000, 300, gdal.GDT_Float32, ["INTERLEAVE=PIXEL"], None, [64, 128, 300]),
    (100, 100, 2, gdal.GDT_Byte, ["BLOCKXSIZE=64"], [1, 512, 64], None),
])
def test_default_shapes(tmp_path, width, height, bands, type, options, chunk, inner):
    create(tmp_path / "r.zarr", bands, type, options, width, height).Close()
    found = shapes(tmp_path / "r.zarr")
    assert chunk is None or found[0] == chunk
    assert inner is None and found[1] is None or found[1][-1] == inner[-1]
    if chunk is not None:
        assert found[1] == inner
    else:
        assert np.prod(found[1]) * 4 <= 16 << 20


@pytest.mark.parametrize("options,codecs", [
    ([], [{"name": "zstd", "configuration": {"level": 3, "checksum": False}}]),
    (["COMPRESS=NONE"], []), (["COMPRESS=NONE", "CHECKSUM=YES"], [{"name": "crc32c"}]),
    (["COMPRESS=GZIP"], [{"name": "gzip", "configuration": {"level": 6}}]),
    (["COMPRESS=zstd", "LEVEL=19"],
     [{"name": "zstd", "configuration": {"level": 19, "checksum": False}}]),
    (['CODECS=["numcodecs.shuffle", "numcodecs.lz4"]'],
     [{"name": "numcodecs.shuffle", "configuration": {"elementsize": 2}},
      {"name": "numcodecs.lz4", "configuration": {"acceleration": 1}}]),
    (["SHARD=OFF", 'CODECS=["bytes", "gzip"]'],
     [{"name": "gzip", "configuration": {"level": 5}}])])
def test_compression(tmp_path, options, codecs):
    dataset = create(tmp_path / "r.zarr", options=options)
    dataset.WriteArray(CUBE)
    dataset = None
    assert json.load(open(tmp_path / "r.zarr/r/zarr.json"))["codecs"][1:] == codecs
    assert (by_zarr(tmp_path / "r.zarr") == CUBE).all()


def test_codecs_excludes_compress(tmp_path):
    with Errors() as errors:
        assert create(tmp_path / "r.zarr", options=["CODECS=[]", "LEVEL=3"]) is None
    assert "LEVEL and CODECS exclude each other" in errors.failures[0]


def test_every_option_is_declared():
    declared = DRIVER.GetMetadataItem("DMD_CREATIONOPTIONLIST")
    for option in ("COMPRESS", "LEVEL", "BLOSC_CNAME", "BLOSC_SHUFFLE", "CODECS", "CHECKSUM", "BLOCKSIZE",
                   "BLOCKXSIZE", "BLOCKYSIZE", "SHARD", "INTERLEAVE", "ARRAY_NAME",
                   "DIM_SEPARATOR", "STORE_EMPTY", "SYNC"):
        assert "name='%s'" % option in declared


@pytest.mark.parametrize("option,word", [
    ("COMPRESS=FOO", "FOO"), ("LEVEL=99", "0 to 22"), ("LEVEL=x", "'x'"),
    ("SHARD=100x100", "multiple"),
    ("SHARD=many", "WIDTHxHEIGHT"), ("BLOCKSIZE=0x5", "'0'"), ("BLOCKSIZE=5", "ROWS,COLUMNS"),
    ("BLOCKSIZE=1,2,3,4", "4 extents"), ("BLOCKSIZE=99999x99999", "chunk_bytes"),
    ("INTERLEAVE=LINE", "LINE"), ("PHOTOMETRIC=MINISWHITE", "MINISBLACK, RGB"),
    ("ALPHA=PREMULTIPLIED", "PREMULTIPLIED is none of"), ("SYNC=SOON", "SOON"), ("BLOSC_CNAME=LZ4", "COMPRESS=BLOSC"),
    ("CHECKSUM=MAYBE", "MAYBE"), ("ARRAY_NAME=y", "names of other arrays"),
    ("CODECS=[", "codecs"), ('CODECS=["lzma"]', "lzma"), ('CODECS=["bitround"]', "keepbits"),
    ("ARRAY_NAME=a/b", "no slash"), ("DIM_SEPARATOR=-", "DIM_SEPARATOR")])
def test_bad_options_are_errors_and_leave_nothing(tmp_path, option, word):
    path = tmp_path / "r.zarr"
    with Errors() as errors:
        assert create(path, options=[option]) is None
    assert len(errors.failures) == 1 and word in errors.failures[0]
    assert os.listdir(tmp_path) == []


def test_blocks_of_the_source_give_way_to_those_asked_for(tmp_path):
    with Errors() as errors:
        create(tmp_path / "r.zarr", 1, options=[
            "BLOCKXSIZE=256", "BLOCKYSIZE=256", "BLOCKSIZE=100x50"]).Close()
    assert shapes(tmp_path / "r.zarr")[0] == [50, 100]
    assert not errors.failures and "BLOCKSIZE=100x50" in errors.seen[0][1]


def test_unknown_options_are_gdals_warning(tmp_path):
    with Errors() as errors:
        assert create(tmp_path / "r.zarr", options=["MAX_Z_ERROR=0.1"]) is not None
    assert not errors.failures and "MAX_Z_ERROR" in errors.seen[0][1]


def test_tiles_and_strips(tmp_path):
    """Profiles of GeoTIFFs have TILED, with the width of the raster as BLOCKXSIZE where it is NO."""
    with Errors() as errors:
        create(tmp_path / "t.zarr", 1, options=["TILED=YES"]).Close()
        create(tmp_path / "s.zarr", 1, options=["TILED=NO", "BLOCKXSIZE=700", "BLOCKYSIZE=9"]).Close()
        create(tmp_path / "b.zarr", 1, options=["TILED=NO", "BLOCKSIZE=700x9"]).Close()
        assert errors.seen == []
        create(tmp_path / "r.zarr", 1, options=["TILED=NO"]).Close()
    assert shapes(tmp_path / "s.zarr", "s")[0] == [9, 700]
    assert len(errors.seen) == 1 and "as BLOCKXSIZE" in errors.seen[0][1] and not errors.failures


def colours(dataset):
    return [band.GetColorInterpretation() for band in
            (dataset.GetRasterBand(i + 1) for i in range(dataset.RasterCount))]


def picture(bands, type, interpretations=()):
    source = gdal.GetDriverByName("MEM").Create("", 8, 8, bands, type)
    for i, colour in enumerate(interpretations):
        source.GetRasterBand(i + 1).SetColorInterpretation(colour)
    return source


RGB = [gdal.GCI_RedBand, gdal.GCI_GreenBand, gdal.GCI_BlueBand]


@pytest.mark.parametrize("layout", [[], ["INTERLEAVE=PIXEL"]])
@pytest.mark.parametrize("bands,type,options", [
    (3, gdal.GDT_UInt16, ["PHOTOMETRIC=RGB"]), (3, gdal.GDT_Byte, ["PHOTOMETRIC=MINISBLACK"]),
    (4, gdal.GDT_Byte, ["PHOTOMETRIC=RGB", "ALPHA=YES"]), (4, gdal.GDT_Byte, ["ALPHA=YES"]),
    (4, gdal.GDT_Byte, ["ALPHA=NO", "PHOTOMETRIC=RGB"]), (2, gdal.GDT_Byte, ["ALPHA=YES"]),
    (5, gdal.GDT_UInt16, ["PHOTOMETRIC=RGB", "ALPHA=NON-PREMULTIPLIED"]),
    (4, gdal.GDT_UInt16, ["PHOTOMETRIC=CMYK"]),
    (2, gdal.GDT_Byte, ["PHOTOMETRIC=MINISBLACK", "ALPHA=YES"]),
    (1, gdal.GDT_Byte, ["PHOTOMETRIC=PALETTE"])])
def test_colours_are_those_of_a_geotiff(tmp_path, layout, bands, type, options):
    """PHOTOMETRIC and ALPHA were ignored, with a warning."""
    gdal.GetDriverByName("GTiff").Create(str(tmp_path / "r.tif"), 8, 8, bands, type, options).Close()
    expected = colours(gdal.Open(str(tmp_path / "r.tif")))
    if options == ["ALPHA=YES"] and bands == 2:
        expected[0] = gdal.GCI_Undefined  # said by nobody
    with Errors() as errors:
        create(tmp_path / "r.zarr", bands, type, options + layout, 8, 8).Close()
    assert errors.seen == []
    assert colours(opened(tmp_path / "r.zarr")) == expected
    if options[0].startswith("PHOTOMETRIC"):
        assert copied(tmp_path, picture(bands, type), *options, *layout) == (expected, [])


Y, R, G, B, A, U = (gdal.GCI_GrayIndex, gdal.GCI_RedBand, gdal.GCI_GreenBand, gdal.GCI_BlueBand,
                    gdal.GCI_AlphaBand, gdal.GCI_Undefined)


def copied(tmp_path, source, *options):
    """The colours of a copy, and the texts of warnings."""
    with Errors() as errors:
        DRIVER.CreateCopy(str(tmp_path / "c.zarr"), source, options=list(options)).Close()
    assert errors.failures == []
    return colours(opened(tmp_path / "c.zarr")), [text for _, text in errors.seen]


@pytest.mark.parametrize("option", ["ALPHA=YES", "ALPHA=NO", "PHOTOMETRIC=RGB"])
@pytest.mark.parametrize("type", [gdal.GDT_Byte, gdal.GDT_UInt16])
@pytest.mark.parametrize("before", [
    [B, G, R], [B, G, R, U], [B, G, R, A], [R, G, B], [R, G, B, U], [R, G, B, A], [R, G, B, U, U],
    [R, G, B, U, A], [R, G, B, A, A], [Y, U], [Y, A], [Y, U, U], [Y, U, U, U], [Y, U, A], [Y, U, U, U, U]])
def test_colours_of_copies_are_those_of_geotiffs(tmp_path, before, type, option):
    """ALPHA alone exchanged red and blue."""
    source = picture(len(before), type, before)
    if option == "PHOTOMETRIC=RGB" and len(before) < 3:
        assert copied(tmp_path, source, option)[0] == before
        return
    gdal.GetDriverByName("GTiff").CreateCopy(str(tmp_path / "c.tif"), source, options=[option]).Close()
    found, warnings = copied(tmp_path, source, option)
    assert found == colours(gdal.Open(str(tmp_path / "c.tif")))
    lost = option.startswith("ALPHA") and (A in found) != (option == "ALPHA=YES")
    assert [option in text and "keep the colours of the source" in text for text in warnings] == [True] * lost


def test_where_copies_differ_from_geotiffs(tmp_path):
    """The options count where GeoTIFFs' do not: gray and alpha for colours, an alpha band that is not the last."""
    assert copied(tmp_path, picture(3, gdal.GDT_Byte, RGB), "PHOTOMETRIC=MINISBLACK") == ([Y, U, U], [])
    assert copied(tmp_path, picture(4, gdal.GDT_Byte, RGB + [A]), "PHOTOMETRIC=MINISBLACK") == ([Y, U, U, A], [])
    assert copied(tmp_path, picture(4, gdal.GDT_Byte, [B, G, R, A]), "PHOTOMETRIC=YCBCR") == (RGB + [A], [])
    assert copied(tmp_path, picture(5, gdal.GDT_Byte, RGB + [A, U]), "ALPHA=NO") == (RGB + [U, U], [])
    assert copied(tmp_path, picture(2, gdal.GDT_UInt16, [U, U]), "ALPHA=YES") == ([U, A], [])


@pytest.mark.parametrize("bands,options,word,expected", [
    (1, ["PHOTOMETRIC=RGB"], "they get no colours", [gdal.GCI_GrayIndex]),
    (3, ["PHOTOMETRIC=RGB", "ALPHA=YES"], "none is alpha", RGB)])
def test_too_few_bands_for_colours(tmp_path, bands, options, word, expected):
    with Errors() as errors:
        create(tmp_path / "r.zarr", bands, gdal.GDT_Byte, options, 8, 8).Close()
    assert len(errors.seen) == 1 and word in errors.seen[0][1] and not errors.failures
    assert colours(opened(tmp_path / "r.zarr")) == expected


@pytest.mark.parametrize("option", ["PHOTOMETRIC=RGB", "ALPHA=NO", "INTERLEAVE=PIXEL", "OVERVIEWS=AUTO",
                                    "COPY_SRC_OVERVIEWS=YES"])
def test_arrays_refuse_what_is_for_rasters(tmp_path, option):
    with Errors() as errors:
        assert DRIVER.CreateMultiDimensional(str(tmp_path / "r.zarr"), [], [option]) is None
    assert "for rasters" in errors.failures[0] and os.listdir(tmp_path) == []


@pytest.mark.parametrize("compressor", ["DEFLATE", "GZIP"])
@pytest.mark.parametrize("level", ["LEVEL", "ZLEVEL", "GZIP_LEVEL"])
def test_deflate_is_gzip(tmp_path, compressor, level):
    with Errors() as errors:
        create(tmp_path / "r.zarr", options=["COMPRESS=" + compressor, level + "=9"]).Close()
    assert errors.seen == []
    assert json.load(open(tmp_path / "r.zarr/r/zarr.json"))["codecs"][1:] == [
        {"name": "gzip", "configuration": {"level": 9}}]


@pytest.mark.parametrize("options,warning,level", [
    (["ZLEVEL=9"], "ZLEVEL has no effect without COMPRESS=GZIP", 3),
    (["COMPRESS=GZIP", "ZSTD_LEVEL=9"], "ZSTD_LEVEL has no effect without COMPRESS=ZSTD", 6),
    (["COMPRESS=NONE", "BLOSC_CLEVEL=9"], "BLOSC_CLEVEL has no effect without COMPRESS=BLOSC", None),
    (["COMPRESS=GZIP", "LEVEL=2", "ZLEVEL=9"], "LEVEL=2 is taken, and not ZLEVEL", 2)])
def test_levels_that_do_not_count_give_a_warning(tmp_path, options, warning, level):
    with Errors() as errors:
        create(tmp_path / "r.zarr", options=options).Close()
    assert [text for _, text in errors.seen] == [warning] and not errors.failures
    codecs = json.load(open(tmp_path / "r.zarr/r/zarr.json"))["codecs"]
    assert [codec["configuration"]["level"] for codec in codecs[1:]] == ([] if level is None else [level])


@pytest.mark.parametrize("level", ["ZLEVEL", "GZIP_LEVEL", "ZSTD_LEVEL", "BLOSC_CLEVEL"])
def test_levels_of_other_drivers_beside_codecs(tmp_path, level):
    with Errors() as errors:
        assert create(tmp_path / "r.zarr", options=["CODECS=[]", level + "=3"]) is None
    assert level + " and CODECS exclude each other" in errors.failures[0]


@pytest.mark.parametrize("compressor,option", [
    ("GZIP", "ZLEVEL=12"), ("DEFLATE", "GZIP_LEVEL=12"), ("ZSTD", "ZSTD_LEVEL=23"), ("BLOSC", "BLOSC_CLEVEL=10")])
def test_wrong_levels_are_told_by_their_own_names(tmp_path, compressor, option):
    with Errors() as errors:
        assert create(tmp_path / "r.zarr", options=["COMPRESS=" + compressor, option]) is None
    assert "%s is '%s'" % tuple(option.split("=")) in errors.failures[0]


def test_no_bands(tmp_path):
    with Errors() as errors:
        assert create(tmp_path / "r.zarr", 0, gdal.GDT_Byte) is None
    assert len(errors.failures) == 1 and "0 bands" in errors.failures[0]
    assert os.listdir(tmp_path) == []


def test_unwritten_pixels_are_nodata_and_take_no_room(tmp_path):
    path = tmp_path / "r.zarr"
    dataset = create(path, 2, gdal.GDT_Float32)
    dataset.GetRasterBand(1).SetNoDataValue(-9999)
    dataset.GetRasterBand(2).WriteArray(np.full((10, 10), 5, "f4"), 600, 10)
    dataset = None
    data = by_zarr(path)
    assert (data == -9999).sum() == data.size - 100
    chunks = [name for _, _, names in os.walk(path / "r" / "c") for name in names
              if not name.startswith(".")]
    assert chunks == ["1"]
    dataset = opened(path)
    assert dataset.GetRasterBand(2).GetNoDataValue() == -9999


def test_store_empty(tmp_path):
    create_all = create(tmp_path / "r.zarr", 1, options=["STORE_EMPTY=YES", "DIM_SEPARATOR=."])
    create_all.WriteArray(np.zeros((HEIGHT, WIDTH), "u2"))
    create_all = None
    assert sorted(n for n in os.listdir(tmp_path / "r.zarr/r") if not n.startswith(".")) == [
        "c.0.0", "c.0.1", "zarr.json"]


def test_create_needs_a_place(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "mine.txt").write_text("")
    (tmp_path / "empty").mkdir()
    for name, word in (("no/r.zarr", "No such file"), ("dir", "stays as it is"),
                       ("file/r.zarr", "Not a directory")):
        with Errors() as errors:
            assert create(tmp_path / name) is None
        assert len(errors.failures) == 1 and word in errors.failures[0], errors.failures
    assert create(tmp_path / "empty") is not None
    assert sorted(os.listdir(tmp_path / "dir")) == ["mine.txt"]
    create(tmp_path / "x.zip").Close()
    before = (tmp_path / "x.zip").read_bytes()
    with Errors() as errors:
        assert create("/vsizip/" + str(tmp_path / "x.zip") + "/r.zarr") is None
    assert "local directories" in errors.failures[0]
    assert (tmp_path / "x.zip").read_bytes() == before


@pytest.mark.parametrize("make", ["create", "copy"])
def test_an_empty_file_gives_way(tmp_path, make):
    """As programs make it to have a name for themselves: Python's tempfile."""
    path = tmp_path / "r.zarr"
    path.write_text("")
    if make == "create":
        create(path, 1).Close()
    else:
        source = gdal.GetDriverByName("MEM").Create("", WIDTH, HEIGHT)
        assert gdal.GetDriverByName("Zarr3").CreateCopy(str(path), source) is not None
    assert sorted(os.listdir(tmp_path)) == ["r.zarr"] and (path / "zarr.json").exists()


def test_create_replaces_a_store_but_not_other_files(tmp_path):
    path = tmp_path / "r.zarr"
    create(path, options=["ARRAY_NAME=old"]).Close()
    (path / "mine.txt").write_text("")
    (tmp_path / "r.zarr.aux.xml").write_text("<PAMDataset/>")
    create(path, 1).Close()
    assert sorted(n for n in os.listdir(path) if not n.startswith(".")) == [
        "mine.txt", "r", "zarr.json"]
    assert not (tmp_path / "r.zarr.aux.xml").exists()


def test_several_rasters_in_one_hierarchy(tmp_path):
    path = str(tmp_path / "r.zarr")
    create(path, 1, options=["ARRAY_NAME=a"]).Close()
    for name in (path + "/b", 'ZARR3:"%s":/deep/c' % path):
        dataset = create(name, 1)
        dataset.WriteArray(CUBE[1])
        assert dataset.Close() == gdal.CE_None
        assert (opened(name).ReadAsArray() == CUBE[1]).all()
    assert (zarr.open_array(path + "/deep/c/c", mode="r")[:] == CUBE[1]).all()
    assert len(opened(path).GetSubDatasets()) == 3


def test_failures_at_the_end_are_reported(tmp_path):
    """A read-only directory in the place of the chunks; run by another user where root may do
    anything."""
    path = tmp_path / "r.zarr"
    dataset = create(path, 1, options=["SHARD=512x512", "BLOCKSIZE=64x64"])
    dataset.WriteArray(CUBE[0][:100])
    (path / "r" / "c").write_text("a file where a directory must be")
    with Errors() as errors:
        assert dataset.FlushCache() == gdal.CE_Failure
        assert dataset.Close() == gdal.CE_Failure
    assert len(errors.failures) == 2 and "/r" in errors.failures[0], errors.failures


def test_datasets_write_on_threads_at_once(tmp_path):
    """Two datasets of one process write disjoint blocks of the same shards."""
    path = str(tmp_path / "r.zarr")
    create(path, 1, options=["SHARD=512x512", "BLOCKSIZE=64x64"]).Close()
    script = r"""
import sys, threading
import numpy as np
from osgeo import gdal
gdal.UseExceptions()
def work(first):
    ds = gdal.OpenEx(sys.argv[1], gdal.OF_RASTER | gdal.OF_UPDATE)
    for row in range(first, 500, 4):
        ds.WriteArray(np.full((1, 700), row + 1, 'u2'), 0, row)
    ds.Close()
threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
"""
    run_python(script, path)
    assert (by_zarr(path) == np.arange(1, HEIGHT + 1, dtype="u2")[:, None]).all()


@pytest.mark.parametrize("name", ["x.zarr", 'ZARR3:"x.zarr":/g/h'])
def test_what_is_created_can_be_opened_when_something_is_written(tmp_path, monkeypatch, name):
    """A VRT opens its sources at the first read, so gdalwarp onto the source itself finds an empty
    store, and made a raster of fill values of it."""
    monkeypatch.chdir(tmp_path)
    source = gdal.GetDriverByName("MEM").Create("", 30, 20, 1)
    source.GetRasterBand(1).Fill(7)
    DRIVER.CreateCopy(name, source).Close()
    absolute = name.replace("x.zarr", str(tmp_path / "x.zarr"))
    vrt = gdal.Translate("s.vrt", absolute, format="VRT")
    vrt = None
    lazy = gdal.Open("s.vrt")
    created = DRIVER.Create(name, 30, 20, 1)
    with Errors() as errors:
        assert vrt is None and lazy.ReadAsArray() is None and gdal.Open(name) is None
    assert "has written nothing to it yet" in errors.failures[0]
    created.GetRasterBand(1).Fill(3)
    created.FlushCache()
    assert gdal.Open(name).ReadAsArray().max() == 3
    # Programs of GDAL 3.13 delete what is there themselves.
    shutil.rmtree("x.zarr")
    created = DRIVER.Create(name, 30, 20, 1)
    with Errors() as errors:
        assert gdal.Open("s.vrt").ReadAsArray() is None
    assert "has written nothing to it yet" in errors.failures[0]
    created = None
    assert gdal.Open(name).ReadAsArray().max() == 0 and created is None


def test_a_copy_in_memory_onto_its_own_source_fails():
    source = gdal.GetDriverByName("MEM").Create("", 30, 20, 1)
    source.GetRasterBand(1).Fill(7)
    DRIVER.CreateCopy("/vsimem/own/x.zarr", source).Close()
    gdal.Translate("/vsimem/own/s.vrt", "/vsimem/own/x.zarr", format="VRT").FlushCache()
    vrt = gdal.Open("/vsimem/own/s.vrt")
    with Errors() as errors:
        assert DRIVER.CreateCopy("/vsimem/own/x.zarr", vrt) is None
    assert "made of what is there" in errors.failures[0] and vrt.ReadAsArray().max() == 7
    gdal.RmdirRecursive("/vsimem/own")


def test_too_many_columns_for_coordinates(tmp_path):
    path = tmp_path / "x.zarr"
    dataset = create(path, 1, gdal.GDT_Byte, width=(1 << 27) + 1, height=2)
    dataset.SetGeoTransform((5, 1e-6, 0, 7, 0, -1e-6))
    dataset.SetProjection("EPSG:4326")
    dataset.FlushCache()
    dataset = None
    assert sorted(zarr.open_group(path)) == ["data", "spatial_ref"] and dataset is None
    assert opened(path).GetGeoTransform() == (5, 1e-6, 0, 7, 0, -1e-6)


@pytest.mark.parametrize("name", ["a\\b.zarr", "a\nb.zarr", "a\x7f.zarr", "__a.zarr", ".a.zarr"])
def test_files_with_names_that_no_array_can_have(tmp_path, name):
    path = str(tmp_path / name)
    source = gdal.GetDriverByName("MEM").Create("", 3, 2)
    source.GetRasterBand(1).Fill(7)
    for make in (lambda: gdal.GetDriverByName("Zarr3").Create(path, 3, 2).Close(),
                 lambda: gdal.Translate(path, source, format="Zarr3").Close()):
        make()
        with opened(path) as dataset:
            assert dataset.GetFileList()[0].endswith("/data/zarr.json")
    with opened(path) as dataset:
        assert (dataset.ReadAsArray() == 7).all()
