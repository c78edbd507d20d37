# SPDX-License-Identifier: MIT
"""The metadata items by which GDAL's netCDF driver tells times and other coordinates of bands, beside that driver:
rioxarray and terra make coordinates of them."""
import json
import os
import shutil
import subprocess
import sys

import netCDF4
import numpy as np
import pytest
import xarray
from osgeo import gdal

from conftest import FIND_PROJ, opened, put, run, sub

sys.path.append(os.environ["ZARRBRIDGE_SOURCE_DIR"] + "/tests/interop")
from venvs import venv  # noqa: E402

TIMES = [0, 1, 2.5]


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """A netCDF file, and a store with the same made of it by xarray."""
    folder = tmp_path_factory.mktemp("stack")
    with netCDF4.Dataset(folder / "t.nc", "w") as file:
        for name, extent in (("time", 3), ("level", 2), ("one", 1), ("lat", 4), ("lon", 5)):
            file.createDimension(name, extent)
        for name, kind, values, attributes in (
                ("time", "f8", TIMES, {"units": "days since 2000-01-01", "calendar": "standard", "axis": "T"}),
                ("level", "i4", [500, 850], {"units": "hPa", "positive": "down"}),
                ("one", "i8", [7], {"units": "hours since 2000-01-01"}),
                ("lat", "f4", range(4), {"units": "degrees_north"}),
                ("lon", "f4", range(5), {"units": "degrees_east"})):
            variable = file.createVariable(name, kind, (name,))
            variable.setncatts(attributes)
            variable[:] = values
        for name, dimensions in (("tas", ("time",)), ("ta", ("time", "level")), ("single", ("one",))):
            file.createVariable(name, "f4", dimensions + ("lat", "lon"))[:] = 1
    with xarray.open_dataset(folder / "t.nc", decode_times=False) as source:
        source.to_zarr(folder / "t.zarr", zarr_format=3)
    return folder


def items_of(metadata, *dimensions):
    """Those of these dimensions."""
    return {name: value for name, value in metadata.items()
            if name.startswith("NETCDF_DIM_") or name.split("#")[0] in dimensions}


@pytest.mark.parametrize("array,dimensions", [("tas", ["time"]), ("single", ["one"])])
def test_items_are_those_of_the_netcdf_driver(stack, array, dimensions):
    ours, theirs = opened(sub(stack / "t.zarr", array)), gdal.Open("NETCDF:%s:%s" % (stack / "t.nc", array))
    assert items_of(ours.GetMetadata(), *dimensions) == items_of(theirs.GetMetadata(), *dimensions)
    assert ours.GetMetadataItem("NETCDF_DIM_EXTRA") == "{%s}" % dimensions[0]
    for band in range(1, ours.RasterCount + 1):
        for name in dimensions:
            item = "NETCDF_DIM_" + name
            assert ours.GetRasterBand(band).GetMetadataItem(item) == theirs.GetRasterBand(band).GetMetadataItem(item)


def test_two_dimensions_with_steps(stack):
    """The netCDF driver lists both, by which rioxarray takes the first for that of the bands, and fails."""
    ours, theirs = opened(sub(stack / "t.zarr", "ta")), gdal.Open("NETCDF:%s:ta" % (stack / "t.nc"))
    expected = items_of(theirs.GetMetadata(), "time", "level")
    assert expected.pop("NETCDF_DIM_EXTRA") == "{time,level}"
    assert items_of(ours.GetMetadata(), "time", "level") == expected
    assert ours.GetRasterBand(4).GetMetadataItem("NETCDF_DIM_level") == "850"
    assert opened(sub(stack / "t.zarr", "ta", 1, 0)).GetMetadataItem("NETCDF_DIM_time_VALUES") == "1"


def test_times_of_their_own_type(store):
    """datetime64, as xarray writes it, has a unit by its type."""
    path, root = store
    put(root, "v", np.ones((2, 4, 5), "i2"), dims=("time", "y", "x"))
    put(root, "time", np.array([0, 86400], "i8"), dims=("time",))
    document = json.load(open(path + "/time/zarr.json"))
    document["data_type"] = {"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}
    json.dump(document, open(path + "/time/zarr.json", "w"))
    dataset = opened(path)
    assert items_of(dataset.GetMetadata(), "time") == {
        "NETCDF_DIM_EXTRA": "{time}", "NETCDF_DIM_time_DEF": "{2,10}", "NETCDF_DIM_time_VALUES": "{0,86400}",
        "time#units": "seconds since 1970-01-01", "time#calendar": "proleptic_gregorian"}
    assert [dataset.GetRasterBand(k).GetMetadataItem("DATE_TIME") for k in (1, 2)] == [
        "1970-01-01T00:00:00", "1970-01-02T00:00:00"]


@pytest.mark.parametrize("labels,listed", [
    (["blue", "green", "nir"], True), (["10m", "20m", "60m"], False), (["a,b", "c", "d"], False),
    (["infrared", "red", "blue"], False)], ids=str)
def test_texts_that_rioxarray_would_take_for_others_are_not_listed(store, labels, listed):
    path, root = store
    put(root, "v", np.ones((3, 4, 5), "i2"), dims=("kind", "y", "x"))
    array = root.create_array("kind", shape=(3,), dtype=str, dimension_names=("kind",), fill_value="")
    array[...] = np.array(labels, object)
    dataset = opened(path)
    expected = "{" + ",".join(labels) + "}" if listed else None
    assert dataset.GetMetadataItem("NETCDF_DIM_kind_VALUES") == expected
    assert (dataset.GetMetadataItem("NETCDF_DIM_EXTRA") == "{kind}") == listed
    assert dataset.GetRasterBand(1).GetMetadataItem("DIM_kind_VALUE") == labels[0]


def test_items_are_not_stored(stack, tmp_path):
    """They are the coordinates'. What the program adds is stored beside them."""
    shutil.copytree(stack / "t.zarr", tmp_path / "t.zarr")
    path = sub(tmp_path / "t.zarr", "tas")
    before = (tmp_path / "t.zarr" / "tas" / "zarr.json").read_text()
    run("gdal_edit.py", "-mo", "a=b", path)
    attributes = json.loads((tmp_path / "t.zarr" / "tas" / "zarr.json").read_text())["attributes"]
    assert attributes.pop("a") == "b" and attributes == json.loads(before)["attributes"]
    assert opened(path).GetMetadataItem("NETCDF_DIM_time_VALUES") == "{0,1,2.5}"


def test_own_items_of_these_names_win_and_can_be_taken_back(stack, tmp_path):
    shutil.copytree(stack / "t.zarr", tmp_path / "t.zarr")
    document = tmp_path / "t.zarr" / "tas" / "zarr.json"
    before, name = document.read_text(), sub(tmp_path / "t.zarr", "tas")
    derived = opened(name).GetMetadataItem("time#units")
    for back in (derived, None):
        for value in ("hours since 1970-01-01", back):
            with gdal.OpenEx(name, gdal.OF_UPDATE) as dataset:
                dataset.SetMetadataItem("time#units", value)
            assert opened(name).GetMetadataItem("time#units") == (value or derived)
        assert json.loads(document.read_text())["attributes"] == json.loads(before)["attributes"]


def test_long_texts_for_many_bands_are_no_item(store):
    """A document of a few bytes can give each band a long text."""
    path, root = store
    put(root, "v", np.zeros((400, 1, 1), "u1"), dims=("kind", "y", "x"))
    root.create_array("kind", shape=(400,), dtype=str, dimension_names=("kind",), fill_value="")
    document = json.load(open(path + "/kind/zarr.json"))
    document["fill_value"] = "x" * 100_000
    json.dump(document, open(path + "/kind/zarr.json", "w"))
    dataset = opened(path)
    assert "NETCDF_DIM_kind_VALUES" not in dataset.GetMetadata()
    assert dataset.GetRasterBand(400).GetMetadataItem("DIM_kind_VALUE") == "x" * 100_000


def test_copies_keep_them(stack, tmp_path):
    """As copies of netCDF files into GeoTIFFs do. One with fewer bands has none: they would not be its own."""
    source = opened(sub(stack / "t.zarr", "tas"))
    for driver, name in (("GTiff", "c.tif"), ("Zarr3", "c.zarr")):
        gdal.Translate(str(tmp_path / name), source, format=driver)
        copy = gdal.Open(str(tmp_path / name))
        assert copy.GetMetadataItem("NETCDF_DIM_time_VALUES") == "{0,1,2.5}"
        assert copy.GetRasterBand(3).GetMetadataItem("DATE_TIME") == "2000-01-03T12:00:00"
    gdal.Translate(str(tmp_path / "b.zarr"), source, format="Zarr3", bandList=[2])
    copy = gdal.Open(str(tmp_path / "b.zarr"))
    assert copy.GetMetadataItem("NETCDF_DIM_time_VALUES") is None
    assert copy.GetRasterBand(1).GetMetadataItem("DATE_TIME") == "2000-01-02"


RIOXARRAY = FIND_PROJ + r"""
import sys, rioxarray, warnings
warnings.simplefilter("ignore")
ours, theirs = (rioxarray.open_rasterio(name) for name in sys.argv[1:3])
assert ours.dims == theirs.dims == ("time", "y", "x"), (ours.dims, theirs.dims)
assert [str(t) for t in ours.time.values] == [str(t) for t in theirs.time.values], ours.time
assert str(ours.time.values[2]).startswith("2000-01-03"), ours.time
several = rioxarray.open_rasterio(sys.argv[3])
assert several.dims == ("band", "y", "x") and several.shape[0] == 6
print("ok")
"""


def test_rioxarray_has_times(stack):
    python = venv("rioxarray", "rioxarray==0.23.0", system=True)
    told = run(python, "-c", RIOXARRAY, sub(stack / "t.zarr", "tas"), "NETCDF:%s:tas" % (stack / "t.nc"),
               sub(stack / "t.zarr", "ta"))
    assert told.strip() == "ok"


def terra(program, *arguments):
    """What R prints."""
    if not shutil.which("Rscript"):
        pytest.skip("R is not installed (r-cran-terra)")
    result = subprocess.run(["Rscript", "-e", "if (!suppressMessages(require(terra))) quit(status=77)", "-e", program,
                             *map(str, arguments)], capture_output=True, text=True)
    if result.returncode == 77:
        pytest.skip("R's package terra is not installed (r-cran-terra)")
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


def test_terra_has_times(stack):
    program = 'a <- commandArgs(TRUE); for (n in a) cat(format(time(rast(n)), "%Y-%m-%d"), "\\n")'
    ours = terra(program, stack / "t.zarr" / "tas", "NETCDF:%s:tas" % (stack / "t.nc"))
    assert ours == 2 * ["2000-01-01", "2000-01-02", "2000-01-03"]


def test_terra_overwrites(stack, tmp_path):
    """terra removes the file before it asks GDAL, which goes with an archive and not with a directory; by the
    driver's prefix it sees no file, and a copy of the driver replaces the store."""
    program = """
a <- commandArgs(TRUE); r <- rast(nrows=4, ncols=5, vals=1:20); setwd(a[1])
for (n in c("w.zarr.zip", "ZARR3:w.zarr")) for (k in 1:2)
    writeRaster(k * r, n, filetype="Zarr3", overwrite=TRUE)
cat(values(rast("w.zarr.zip"))[20], values(rast("w.zarr"))[20])
"""
    assert terra(program, tmp_path) == ["40", "40"]
