# SPDX-License-Identifier: MIT
"""Options as people type them for GeoTIFFs, beside GeoTIFFs."""
import json
import os

import numpy as np
import pytest
from osgeo import gdal

from conftest import DATA, Errors, opened, run

LANDSAT = DATA / "L7_ETMs.tif"
ELEVATION = DATA / "olinda_dem_utm25s.tif"


def codecs_of(path, array=None):
    array = array or os.path.basename(path).split(".")[0]
    document = json.load(open("%s/%s/zarr.json" % (path, array)))
    return [(codec["name"], codec.get("configuration", {})) for codec in document["codecs"]]


def size_of(path):
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)


@pytest.mark.parametrize("options,codec,settings", [
    ([], "blosc", {"cname": "zstd", "clevel": 2, "shuffle": "shuffle", "typesize": 4}),
    (["PREDICTOR=3"], "blosc", {"cname": "zstd", "clevel": 2, "shuffle": "shuffle"}),
    (["COMPRESS=ZSTD"], "zstd", {"level": 3}),
    (["ZSTD_LEVEL=9"], "zstd", {"level": 9}),
    (["PREDICTOR=1"], "zstd", {"level": 3}),
    (["COMPRESS=ZSTD", "PREDICTOR=2"], "blosc", {"cname": "zstd", "clevel": 2, "shuffle": "shuffle"}),
    (["COMPRESS=ZSTD", "PREDICTOR=3", "ZSTD_LEVEL=9"], "blosc", {"cname": "zstd", "clevel": 5}),
    (["COMPRESS=DEFLATE", "PREDICTOR=YES"], "blosc", {"cname": "zlib", "clevel": 6, "shuffle": "shuffle"}),
    (["COMPRESS=BLOSC", "PREDICTOR=3"], "blosc", {"cname": "lz4", "shuffle": "shuffle"}),
    (["CODECS=[\"zstd\"]"], "zstd", {}),
], ids=str)
def test_predictors_of_floats(tmp_path, options, codec, settings):
    path = str(tmp_path / "r.zarr")
    gdal.Translate(path, str(ELEVATION), format="Zarr3", creationOptions=options)
    (name, found), = [one for one in codecs_of(path) if one[0] != "bytes"]
    assert name == codec
    assert {key: found.get(key) for key in settings} == settings
    assert np.array_equal(opened(path).ReadAsArray(), gdal.Open(str(ELEVATION)).ReadAsArray())


def test_predictors_of_integers(tmp_path):
    """Bytes have nothing to sort, and integers are sorted where it is asked for."""
    for options, kind, codec in (([], "Int16", "zstd"), (["PREDICTOR=2"], "Int16", "blosc"),
                                 (["PREDICTOR=2"], "Byte", "zstd")):
        path = str(tmp_path / "r.zarr")
        run("gdal_translate", "-q", "-ot", kind,
            *sum((["-co", o] for o in options), []), LANDSAT, path)
        assert codecs_of(path)[-1][0] == codec, (options, kind)


INTEGERS = "numcodecs.delta", "bytes"
REALS = "numcodecs.astype", "numcodecs.delta", "bytes", "blosc"


@pytest.mark.parametrize("kind,options,codecs,sorting", [
    ("Float32", [], REALS, "bitshuffle"), ("Float64", ["ZSTD_LEVEL=9"], REALS, "bitshuffle"),
    ("Float32", ["COMPRESS=DEFLATE"], REALS, "shuffle"), ("Float32", ["COMPRESS=BLOSC"], REALS, "shuffle"),
    ("Int16", [], (*INTEGERS, "zstd"), None), ("Byte", ["COMPRESS=DEFLATE"], (*INTEGERS, "gzip"), None),
    ("UInt32", ["COMPRESS=BLOSC", "INTERLEAVE=PIXEL"], (*INTEGERS, "blosc"), "shuffle"),
    ("CFloat32", [], ("bytes", "blosc"), "bitshuffle")], ids=str)
def test_differences(tmp_path, kind, options, codecs, sorting):
    """Of floats those of the bits, which zarr-python reads, too: nothing is lost, not even what a NaN says."""
    path, odd = str(tmp_path / "r.zarr"), np.array([-0.0, np.nan, np.inf, 1e-40])
    source = gdal.Translate("", str(LANDSAT), format="MEM", outputType=gdal.GetDataTypeByName(kind))
    if kind.startswith("Float"):
        noisy = source.ReadAsArray() * np.pi
        noisy[1, 5, :4] = odd
        source.WriteArray(noisy)
    gdal.Translate(path, source, format="Zarr3", creationOptions=["PREDICTOR=DELTA", "BLOCKSIZE=128x128", "SHARD=512x512", *options])
    (_, shard), = codecs_of(path)
    inner = [(one["name"], one.get("configuration", {})) for one in shard["codecs"]]
    assert tuple(name for name, _ in inner) == codecs
    assert inner[-1][1].get("shuffle") == sorting
    assert opened(path).ReadAsArray().tobytes() == source.ReadAsArray().tobytes()
    zarr = pytest.importorskip("zarr")
    if kind != "CFloat32":
        found = zarr.open_array(path + "/r", mode="r")[...]
        found = np.moveaxis(found, -1, 0) if found.shape[-1] == 6 else found
        assert found.tobytes() == source.ReadAsArray().tobytes()


def test_what_a_predictor_excludes(tmp_path):
    """No checksum is lost in silence, and no predictor."""
    path, source = str(tmp_path / "r.zarr"), gdal.Open(str(ELEVATION))
    create = gdal.GetDriverByName("Zarr3").CreateCopy
    with pytest.raises(RuntimeError, match="CHECKSUM=YES goes with it"):
        create(path, source, options=["COMPRESS=ZSTD", "ZSTD_CHECKSUM=YES", "PREDICTOR=3"])
    create(path, source, options=["PREDICTOR=3", "CHECKSUM=YES"]).Close()
    assert [name for name, _ in codecs_of(path)] == ["bytes", "blosc", "crc32c"]
    with Errors() as errors:
        create(path, source, options=["CODECS=[\"zstd\"]", "PREDICTOR=3"]).Close()
    assert "PREDICTOR has no effect with CODECS" in [text for _, text in errors.seen]


def smooth():
    """A float DEM whose last bits say little, as those that have been warped."""
    return gdal.Warp("", str(ELEVATION), format="MEM", width=512, height=512, resampleAlg="cubicspline")


def test_floats_are_about_as_large_as_geotiffs(tmp_path):
    dem = smooth()
    sizes = {}
    for name, driver, options in (("d.zarr", "Zarr3", []), ("p.zarr", "Zarr3", ["PREDICTOR=3"]),
                                  ("delta.zarr", "Zarr3", ["PREDICTOR=DELTA"]),
                                  ("d.tif", "GTiff", ["COMPRESS=ZSTD", "PREDICTOR=3", "TILED=YES"])):
        gdal.Translate(str(tmp_path / name), dem, format=driver, creationOptions=options)
        path = tmp_path / name
        sizes[name] = size_of(path / name.split(".")[0]) if path.is_dir() else path.stat().st_size
    assert sizes["d.zarr"] <= 1.2 * sizes["d.tif"] and sizes["p.zarr"] == sizes["d.zarr"], sizes
    assert sizes["delta.zarr"] <= 1.02 * sizes["d.tif"], sizes


def test_tiles_of_floats_are_moved_as_they_are(tmp_path):
    """A GeoTIFF whose tiles are zstd without a predictor needs no encoding."""
    run("gdal_translate", "-q", "-co", "TILED=YES", "-co", "BLOCKXSIZE=128", "-co", "BLOCKYSIZE=128", "-co",
        "COMPRESS=ZSTD", ELEVATION, tmp_path / "t.tif")
    gdal.Translate(str(tmp_path / "t.zarr"), str(tmp_path / "t.tif"), format="Zarr3")
    assert codecs_of(str(tmp_path / "t.zarr"))[-1][0] == "zstd"


@pytest.mark.parametrize("name,codec", [
    ("LZW", "zstd"), ("PACKBITS", "zstd"), ("LZMA", "zstd"), ("JPEG", "zstd"), ("LERC_ZSTD", "zstd"),
    ("LERC_DEFLATE", "gzip")])
def test_other_compressors_become_the_nearest(tmp_path, name, codec):
    path = str(tmp_path / "r.zarr")
    with Errors() as errors:
        gdal.Translate(path, str(LANDSAT), format="Zarr3", creationOptions=["COMPRESS=" + name])
    assert not errors.failures
    assert any("COMPRESS=%s cannot be had" % name in text for _, text in errors.seen), errors.seen
    assert codecs_of(path)[-1][0] == codec
    assert np.array_equal(opened(path).ReadAsArray(), gdal.Open(str(LANDSAT)).ReadAsArray())


def test_compressors_that_nobody_has_are_errors(tmp_path):
    with Errors() as errors:
        gdal.Translate(str(tmp_path / "r.zarr"), str(LANDSAT), format="Zarr3", creationOptions=["COMPRESS=FOO"])
    assert "FOO" in errors.failures[0] and not (tmp_path / "r.zarr").exists()


@pytest.mark.parametrize("name", ["o.zarr.zip", "o.ozx", "o.zip"])
def test_archives_are_guessed_by_their_names(tmp_path, name):
    run("gdal_translate", "-q", ELEVATION, tmp_path / name)
    assert (tmp_path / name).read_bytes()[:2] == b"PK"
    assert opened(tmp_path / name).RasterXSize == gdal.Open(str(ELEVATION)).RasterXSize


def test_archives_of_other_drivers_stay_theirs(tmp_path):
    run("gdal_translate", "-q", "-b", "1", LANDSAT, tmp_path / "o.gpkg.zip")
    assert gdal.Open(str(tmp_path / "o.gpkg.zip")).GetDriver().ShortName == "GPKG"


@pytest.mark.parametrize("bands,colours", [
    ([1, 2, 3, 4], "red,green,blue,alpha"), ([3, 2, 1, 4], "blue,green,red,nir"), ([1, 2], "gray,alpha"), ([1], "pan")])
def test_colorinterp(tmp_path, bands, colours):
    told = {}
    for name in ("c.tif", "c.zarr"):
        run("gdal_translate", "-q", *sum((["-b", str(band)] for band in bands), []), "-colorinterp", colours, LANDSAT,
            tmp_path / name)
        run("gdal_edit.py", "-colorinterp_1", "undefined", tmp_path / name)
        dataset = gdal.Open(str(tmp_path / name))
        told[name] = [dataset.GetRasterBand(k).GetColorInterpretation() for k in range(2, len(bands) + 1)]
    assert told["c.tif"] == told["c.zarr"]


@pytest.mark.parametrize("kind", ["Byte", "UInt16", "Float32"])
def test_masks_of_any_band(tmp_path, kind):
    """-mask takes any band: what is not 0 is valid, and stored as 255."""
    run("gdal_translate", "-q", "-ot", kind, LANDSAT, tmp_path / "s.tif")
    source = gdal.Open(str(tmp_path / "s.tif"), gdal.GA_Update)
    source.GetRasterBand(4).WriteArray(np.zeros((50, 60), "u1"), 7, 9)
    source.Close()
    masks = {}
    for name in ("m.tif", "m.zarr"):
        run("gdal_translate", "-q", "-b", "1", "-mask", "4", tmp_path / "s.tif", tmp_path / name)
        dataset = gdal.Open(str(tmp_path / name))
        masks[name] = dataset.GetRasterBand(1).GetMaskBand().ReadAsArray()
    assert set(np.unique(masks["m.zarr"])) == {0, 255} and not masks["m.zarr"][9:59, 7:67].any()
    assert np.array_equal(masks["m.tif"], masks["m.zarr"])


def separate(folder, first, second):
    """gdalbuildvrt -separate of two rasters with these nodata values, None for none."""
    for name, nodata in (("a.tif", first), ("b.tif", second)):
        run("gdal_translate", "-q", *(["-a_nodata", nodata] if nodata is not None else []), ELEVATION, folder / name)
    run("gdalbuildvrt", "-q", "-separate", folder / "s.vrt", folder / "a.tif", folder / "b.tif")
    return folder / "s.vrt"


@pytest.mark.parametrize("first,second", [("0", "7"), ("nan", "7"), ("3", None), (None, "3"), ("5", "5")])
def test_nodata_of_each_band(tmp_path, first, second):
    vrt = separate(tmp_path, first, second)
    values, masks = {}, {}
    for name in ("s.tif", "s.zarr"):
        run("gdal_translate", "-q", vrt, tmp_path / name)
        dataset = gdal.Open(str(tmp_path / name))
        bands = [dataset.GetRasterBand(k) for k in (1, 2)]
        values[name] = [repr(band.GetNoDataValue()) for band in bands]
        masks[name] = [band.GetMaskBand().ReadAsArray() for band in bands]
    source = gdal.Open(str(vrt))
    assert values["s.zarr"] == [repr(source.GetRasterBand(k).GetNoDataValue()) for k in (1, 2)]
    for k in (0, 1):
        assert np.array_equal(masks["s.zarr"][k], source.GetRasterBand(k + 1).GetMaskBand().ReadAsArray())
    if None not in (first, second):  # a GeoTIFF gives a band without one that of the other
        assert values["s.tif"] == values["s.zarr"]


def test_nodata_of_each_band_in_levels_and_copies(tmp_path):
    vrt = separate(tmp_path, "0", "7")
    gdal.Translate(str(tmp_path / "s.zarr"), str(vrt), format="Zarr3", creationOptions=["OVERVIEWS=AUTO"], strict=True)
    run("gdaladdo", "-q", tmp_path / "s.zarr", "2")
    gdal.Translate(str(tmp_path / "c.zarr"), str(tmp_path / "s.zarr"), format="Zarr3")
    for name in ("s.zarr", "c.zarr"):
        dataset = opened(tmp_path / name)
        assert [dataset.GetRasterBand(k).GetNoDataValue() for k in (1, 2)] == [0, 7]
    levels = opened(tmp_path / "s.zarr")
    assert [levels.GetRasterBand(k).GetOverview(0).GetNoDataValue() for k in (1, 2)] == [0, 7]


def test_nodata_that_is_set_later_is_for_all_bands(tmp_path):
    run("gdal_translate", "-q", separate(tmp_path, "0", "7"), tmp_path / "s.zarr")
    run("gdal_edit.py", "-a_nodata", "9", tmp_path / "s.zarr")
    dataset = opened(tmp_path / "s.zarr")
    assert [dataset.GetRasterBand(k).GetNoDataValue() for k in (1, 2)] == [9, 9]
    run("gdal_edit.py", "-unsetnodata", tmp_path / "s.zarr")
    dataset = opened(tmp_path / "s.zarr")
    assert [dataset.GetRasterBand(k).GetNoDataValue() for k in (1, 2)] == [None, None]
