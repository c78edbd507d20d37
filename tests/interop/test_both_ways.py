# SPDX-License-Identifier: MIT
"""Conversions of real files by the short way, which moves encoded chunks, and by the long one, which decodes and
encodes all (ZARRBRIDGE_MOVE_CHUNKS=no), give the same elements. With ZARRBRIDGE_SUITES, a folder that has HDF5's source
as `hdf5` and GDAL's as `gdal`, their test files are taken, too; files that the long way cannot convert count as such,
and must not be converted by the short way either, unless a filter of HDF5's is missing, nor end a program."""

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import h5py
import pytest
import zarr

DATA = Path(__file__).parents[1] / "data"
SUITES = Path(os.environ.get("ZARRBRIDGE_SUITES", "/nonexistent"))
PROGRAM = os.environ["ZARRBRIDGE_PROGRAM"]
CRASHES = range(-64, 0)


def convert(*command, long=False):
    """The exit status."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("HDF5_VOL")} | {"HDF5_VOL_CONNECTOR": "zarr"}
    if long:
        env["ZARRBRIDGE_MOVE_CHUNKS"] = "no"
    done = subprocess.run([str(word) for word in command], env=env, capture_output=True, text=True, timeout=600,
                          check=False)
    assert done.returncode not in CRASHES, f"{command}: {done.returncode} {done.stderr}"
    return done.returncode


def differences(one, other):
    """What h5diff says, of stores and files alike."""
    env = os.environ | {"HDF5_VOL_CONNECTOR": "zarr"}
    done = subprocess.run(["h5diff", one, other], env=env, capture_output=True, text=True, timeout=600, check=False)
    return f"{done.stdout}{done.stderr}" if done.returncode else ""


def lacks_a_filter(path):
    """Whether HDF5 cannot decode a dataset of the file for want of a plug-in."""
    found = []

    def look(_, node):
        if isinstance(node, h5py.Dataset):
            filters = node.id.get_create_plist()
            found.extend(not h5py.h5z.filter_avail(filters.get_filter(i)[0]) for i in range(filters.get_nfilters()))

    with h5py.File(path) as file:
        file.visititems(look)
    return any(found)


def hdf5_both_ways(path, folder):
    """To a store and back: "same", or "refused", or "short" where only encoded chunks need no plug-in of HDF5's."""
    short, long = folder / "short.zarr", folder / "long.zarr"
    status = convert("h5repack", path, long, long=True)
    moved = convert("h5repack", path, short) == 0
    if status and moved and lacks_a_filter(path):
        arrays = [array for _, array in zarr.open_group(str(short), mode="r").arrays()]
        assert arrays and all(array[...].shape == array.shape for array in arrays)
        return "short"
    assert moved == (status == 0), path
    if status:
        return "refused"
    assert not differences(short, long), path
    back, slowly = folder / "short.h5", folder / "long.h5"
    status = convert("h5repack", short, slowly, long=True)
    assert (convert("h5repack", short, back) == 0) == (status == 0), path
    if status == 0:
        assert not differences(back, slowly), path
    return "same"


def pixels(path):
    """The checksums of all bands, their overviews and masks."""
    from osgeo import gdal

    gdal.UseExceptions()
    data = gdal.Open(str(path))
    out = []
    for i in range(data.RasterCount):
        band = data.GetRasterBand(i + 1)
        bands = [band, band.GetMaskBand(), *(band.GetOverview(k) for k in range(band.GetOverviewCount()))]
        out += [(b.XSize, b.YSize, b.Checksum()) for b in bands]
    return out


def tiff_both_ways(path, folder):
    options = "gdal_translate", "-q", "-of", "Zarr3"
    status = convert(*options, path, folder / "long.zarr", long=True)
    assert (convert(*options, path, folder / "short.zarr") == 0) == (status == 0), path
    if status:
        return "refused"
    assert pixels(folder / "short.zarr") == pixels(folder / "long.zarr"), path
    return "same"


def netcdf4(name, folder, *options):
    """A file of the classic format as one of HDF5's."""
    if not shutil.which("nccopy"):
        pytest.skip("no nccopy")
    env = {k: v for k, v in os.environ.items() if not k.startswith("HDF5_")}
    subprocess.run(["nccopy", "-k", "nc4", *options, DATA / name, folder / name], env=env, check=True)
    return folder / name


@pytest.mark.parametrize("options", [(), ("-d", "5"), ("-d", "5", "-s")])
@pytest.mark.parametrize("name", ["bcsd_obs_1999.nc", "reduced.nc"])
def test_netcdf(tmp_path, name, options):
    assert hdf5_both_ways(netcdf4(name, tmp_path, *options), tmp_path) == "same"


@pytest.mark.parametrize("options", [
    (), ("-co", "COMPRESS=DEFLATE", "-co", "TILED=YES"), ("-co", "COMPRESS=ZSTD", "-co", "TILED=YES"),
    ("-co", "COMPRESS=ZSTD", "-co", "TILED=YES", "-co", "INTERLEAVE=BAND"),
    ("-co", "COMPRESS=LZW", "-co", "PREDICTOR=2"), ("-of", "COG", "-co", "COMPRESS=DEFLATE", "-co", "PREDICTOR=NO")])
@pytest.mark.parametrize("name", ["L7_ETMs.tif", "olinda_dem_utm25s.tif"])
def test_tiff(tmp_path, name, options):
    made = tmp_path / "made.tif"
    if convert("gdal_translate", "-q", *options, DATA / name, made):
        pytest.skip("this GDAL does not make such a file")
    assert tiff_both_ways(made, tmp_path) == "same"


@pytest.mark.parametrize("shards", ["none", "auto", "12,64,128"])
def test_shards(tmp_path, shards):
    """Of a store that has been made of a file."""
    store = tmp_path / "s.zarr"
    assert convert("h5repack", netcdf4("bcsd_obs_1999.nc", tmp_path, "-d", "5"), store) == 0
    for name, long in (("short.zarr", False), ("long.zarr", True)):
        assert convert(PROGRAM, "copy", "--shards", shards, store, tmp_path / name, long=long) == 0
        assert not differences(store, tmp_path / name)


def all_of(files, both_ways, tmp_path, record_property):
    counts, wrong = Counter(), []
    for number, path in enumerate(files):
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            counts[both_ways(path, folder)] += 1
        except AssertionError as error:
            wrong.append(f"{path.name}: {error}"[:300])
        subprocess.run(["rm", "-rf", folder], check=True)
    print(dict(counts), wrong)
    record_property("counts", dict(counts))
    assert not wrong and counts["same"] + counts["short"] > 0


def is_hdf5(path):
    with open(path, "rb") as file:
        return file.read(8) == b"\x89HDF\r\n\x1a\n"


def test_files_of_hdf5(tmp_path, record_property):
    if not (SUITES / "hdf5").exists():
        pytest.skip("HDF5's source is not there: ZARRBRIDGE_SUITES")
    files = sorted(path for path in (SUITES / "hdf5").rglob("*.h5") if path.is_file() and is_hdf5(path))
    all_of(files, hdf5_both_ways, tmp_path, record_property)


def test_files_of_gdal(tmp_path, record_property):
    folder = SUITES / "gdal/autotest"
    if not folder.exists():
        pytest.skip("GDAL's source is not there: ZARRBRIDGE_SUITES")
    files = sorted(path for part in ("gcore/data", "gdrivers/data") for path in (folder / part).rglob("*.tif"))
    all_of(files, tiff_both_ways, tmp_path, record_property)
