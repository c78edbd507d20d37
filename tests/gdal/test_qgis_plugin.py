# SPDX-License-Identifier: MIT
"""The plugin of QGIS (packaging/qgis), without QGIS: names, what bands mean, what is in a store, and its package."""

import configparser
import os
import re
import subprocess
import sys
import zipfile
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from osgeo import gdal

from conftest import put

SOURCE = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])
PLUGIN = SOURCE / "packaging/qgis/zarr_layers"
sys.path.append(str(PLUGIN.parent))
from zarr_layers import bands, driver, names, store as stores  # noqa: E402
from zarr_layers.bands import Band  # noqa: E402


@pytest.mark.parametrize("text, name", [
    (" /d/x.zarr/ ", "/d/x.zarr"), ('"/d/x.zarr"', "/d/x.zarr"), ("/d/x.zarr/zarr.json", "/d/x.zarr"),
    ("file:///d/a%20b.zarr", "/d/a b.zarr"), ("https://h/x.zarr/zarr.json", "https://h/x.zarr"),
    ("s3://b/x.zarr/", "s3://b/x.zarr"), ('ZARR3:"/d/x.zarr":/t', 'ZARR3:"/d/x.zarr":/t'), ("/", "/")])
def test_names_of_what_people_give(text, name):
    assert names.from_text(text) == name


def test_stores_are_told_from_other_things(store, tmp_path):
    path, root = store
    put(root, "t", np.zeros((4, 5), "f4"))
    for name in (path, path + "/zarr.json", path + "/t", "https://h/a/x.zarr/t", "s3://b/x.zarr.zip", "ZARR3:x"):
        assert names.is_store(name), name
    (tmp_path / "other.json").write_text("{}")
    for name in (str(tmp_path), str(tmp_path / "other.json"), str(tmp_path / "no.zarr"), "https://h/x.tif"):
        assert not names.is_store(name), name


def test_names_of_slices_are_those_that_the_driver_opens(store):
    path, root = store
    put(root, "t", np.arange(5 * 3 * 4 * 6).reshape(5, 3, 4, 6), dims=("time", "level", "y", "x"))
    name = names.source(path, "/t", [(1, 3), (2, 2)])
    assert name.endswith(':/t:1-3:2') and names.split(names.source(path, "t")) == (path, "/t")
    dataset = gdal.Open(name)
    assert dataset.RasterCount == 3
    assert np.array_equal(dataset.ReadAsArray(), np.arange(5 * 3 * 4 * 6).reshape(5, 3, 4, 6)[1:4, 2])
    assert names.title("/d/x.zarr.zip", "/t") == "x: t" and names.title("https://h/x.zarr?a=b") == "x"


@pytest.mark.parametrize("name, parts", [
    ('ZARR3:"/d/a:b.zarr":/t:1', ("/d/a:b.zarr", "/t:1")), ("ZARR3:/d/x.zarr", ("/d/x.zarr", "")),
    ("ZARR3:https://h:80/x.zarr:/tas", ("https://h:80/x.zarr", "/tas")), ("/d/x.zarr", ("/d/x.zarr", ""))])
def test_names_are_split_with_and_without_quotes(name, parts):
    assert names.split(name) == parts


def test_names_without_quotes_open(store):
    path, root = store
    put(root, "t", np.zeros((4, 5), "f4"))
    for name in (f"ZARR3:{path}", f"ZARR3:{path}:/t"):
        only, = stores.arrays(name)
        assert stores.open_raster(names.source(only.store, only.path)).RasterXSize == 5


def stack(*times, **more):
    return [Band(f"time={time}", {"DIM_time_INDEX": str(index), "DIM_time_VALUE": str(index), "DIM_time_TIME": time},
                 is_float=True, **more) for index, time in enumerate(times)]


def test_each_step_lasts_until_the_next():
    shown = bands.steps(stack("2025-01-31", "2025-02-28", "2025-03-31"))
    assert shown == {1: (datetime(2025, 1, 31), datetime(2025, 2, 28)),
                     2: (datetime(2025, 2, 28), datetime(2025, 3, 31)),
                     3: (datetime(2025, 3, 31), datetime(2025, 4, 30))}
    shown = bands.steps(stack("2025-01-01T00:00:00Z", "2025-01-01T06:00:00Z"))
    assert shown[2] == (datetime(2025, 1, 1, 6), datetime(2025, 1, 1, 12))
    assert bands.steps(stack("2025-01-05")) == {1: (datetime(2025, 1, 5), datetime(2025, 1, 6))}
    assert bands.steps([Band("depth=5 m", {"DIM_depth_INDEX": "0"})]) == {}
    # The order of bands need not be that of the times.
    assert bands.steps(stack("2025-01-02", "2025-01-01"))[1][0] == datetime(2025, 1, 2)


def test_times_at_the_end_of_pythons():
    last = datetime.max
    assert bands.steps(stack("9999-12-31")) == {1: (datetime(9999, 12, 31), last)}
    assert bands.steps(stack("9999-11-30", "9999-12-31"))[2] == (datetime(9999, 12, 31), last)
    assert bands.steps(stack("2000-01-01", "9999-12-31"))[2] == (datetime(9999, 12, 31), last)
    assert [bands.parse_time(text) for text in ("0000-01-01", "2016-12-31T23:59:60Z", "soon")] == 3 * [None]


def test_of_other_dimensions_the_first_band_is_shown():
    four = [Band("", {"DIM_time_INDEX": str(t), "DIM_time_TIME": f"2025-01-0{t + 1}", "DIM_level_INDEX": str(level)})
            for t in range(2) for level in range(1, 4)]
    assert sorted(bands.steps(four)) == [1, 4]


@pytest.mark.parametrize("times, step", [
    (["2025-01-15", "2025-02-15", "2025-03-15"], (1, "months")), (["2024-01-01", "2025-01-01"], (12, "months")),
    (["2025-01-01", "2025-01-09", "2025-01-17"], (8, "days")), (["2025-01-01T00:30:00", "2025-01-01T01:00:00"],
                                                                (30, "minutes")),
    (["2025-01-01", "2025-01-02", "2025-01-05"], (0, ""))])
def test_the_step_of_the_controller(times, step):
    assert bands.interval([bands.parse_time(time) for time in times]) == step


def test_colours_by_names_interpretation_and_wavelengths():
    named = [Band(f"band={word}", {"DIM_band_INDEX": str(index), "DIM_band_VALUE": word})
             for index, word in enumerate(["blue", "green", "red", "nir"])]
    assert bands.colours(named) == (3, 2, 1) and bands.drawing(named) == "colours"
    assert bands.colours([Band(colour=colour) for colour in ("alpha", "red", "green", "blue")]) == (2, 3, 4)
    spectrum = [Band(items={"DIM_wavelength_INDEX": str(index), "DIM_wavelength_VALUE": str(length),
                            "DIM_wavelength_UNIT": "nm"}) for index, length in enumerate((443, 482, 561, 655, 865))]
    assert bands.colours(spectrum) == (4, 3, 2)
    assert bands.colours([Band(wavelength=length) for length in ("0.49", "0.56", "0.665")]) == (3, 2, 1)
    assert bands.colours(spectrum[:3]) is None and bands.colours([]) is None


def test_stacks_and_fields_get_a_ramp_and_others_stay_as_they_are():
    assert bands.drawing(stack("2025-01-01", "2025-02-01", "2025-03-01")) == "ramp"
    assert bands.drawing([Band(items={"DIM_depth_INDEX": str(index)}) for index in range(4)]) == "ramp"
    assert bands.drawing([Band(is_float=True)]) == "ramp"
    assert bands.drawing([Band()]) == "" and bands.drawing([Band(colour="palette", is_float=True)]) == ""
    assert bands.drawing([Band(items={"DIM_band_INDEX": str(index)}) for index in range(6)]) == ""


def test_some_bands_stand_for_all():
    assert bands.spread(12, 12) == list(range(1, 13)) and bands.spread(1, 3) == [1] and bands.spread(2, 3) == [1, 2]
    assert bands.spread(365, 3) == [1, 183, 365]


def climate(root):
    put(root, "time", np.array([0., 31, 59]), {"units": "days since 2025-01-01", "calendar": "standard"}, ("time",))
    put(root, "level", np.array([1000., 500]), {"units": "hPa"}, ("level",))
    put(root, "ta", np.zeros((3, 2, 8, 12), "f4"), {"long_name": "Air temperature", "units": "K"},
        ("time", "level", "lat", "lon"))
    put(root.create_group("fixed"), "orog", np.zeros((8, 12), "i2"), dims=("lat", "lon"))


def test_the_tree_of_a_store_has_shapes_and_times(store):
    path, root = store
    climate(root)
    orog, ta = stores.arrays(path)
    assert (orog.path, orog.shape, orog.type) == ("/fixed/orog", "8x12", "Int16")
    assert (ta.path, ta.shape, ta.type, ta.title) == ("/ta", "3x2x8x12", "Float32", "Air temperature, K")
    details = ta.details()
    assert [(one.name, one.labels) for one in details.dimensions] == [
        ("time", ["2025-01-01", "2025-02-01", "2025-03-01"]), ("level", ["1000 hPa", "500 hPa"])]
    assert details.times == "2025-01-01 – 2025-03-01" and details.count == 6
    assert orog.details().dimensions == [] and orog.details().times == "" and orog.details().levels == [(12, 8)]
    only, = stores.arrays(path + "/ta")
    assert only.details().times == details.times and only.shape == "6x8x12"


def test_levels_of_pyramids(tmp_path):
    path = str(tmp_path / "x.zarr")
    gdal.GetDriverByName("Zarr3").CreateCopy(path, gdal.GetDriverByName("MEM").Create("", 64, 32)).Close()
    with gdal.Open(path, gdal.GA_Update) as dataset:
        dataset.BuildOverviews("NEAREST", [2, 4])
    only, = stores.arrays(path)
    assert only.details().levels == [(64, 32), (32, 16), (16, 8)]


def test_what_cannot_be_opened_says_why(tmp_path):
    with pytest.raises(stores.StoreError, match="no.zarr"):
        stores.arrays(str(tmp_path / "no.zarr"))


def ome(version, **more):
    image = {"axes": [{"name": "c"}, {"name": "y"}, {"name": "x"}], "datasets": [
        {"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1, 0.5, 0.25]},
                                                    {"type": "translation", "translation": [0, 10, 20]}]}], **more}
    return {"multiscales": [image]} if version == 0.4 else {"ome": {"version": str(version), "multiscales": [image]}}


def test_place_by_the_scales_of_ome(store):
    path, root = store
    put(root, "0", np.zeros((2, 8, 16), "u2"), dims=("c", "y", "x"))
    root.update_attributes(ome(0.5))
    only, = stores.arrays(path)
    bounds = only.details().bounds
    assert bounds == (19.875, -9.75, 23.875, -13.75)
    placed = gdal.Open(stores.placed(names.source(only.store, only.path), bounds))
    assert placed.GetGeoTransform() == (19.875, 0.25, 0, -9.75, 0, -0.5) and placed.RasterCount == 2
    assert stores.bounds_of(ome(0.4), "0", 16, 8) == bounds
    doubled = ome(0.5, coordinateTransformations=[{"type": "scale", "scale": [1, 2, 2]}])
    assert stores.bounds_of(doubled, "0", 16, 8) == tuple(2 * number for number in bounds)
    for broken in ({}, {"ome": []}, {"ome": "{"}, {"multiscales": [{"axes": ["x"], "datasets": []}]}):
        assert stores.bounds_of(broken, "0", 16, 8) is None


def test_the_check_of_the_driver():
    there, text = driver.told()
    assert there and "Zarr3" in text
    assert "gdal-plugin-zarr3" in driver.advice("3.10", [])
    assert "of another version" in driver.advice("3.11", ["/x/gdal_Zarr3.so"])
    assert "conda" in driver.advice("3.12", [], conda="/c") and "Windows" in driver.advice("3.12", [], windows=True)
    assert "3.10 or later" in driver.advice("3.6", [])


def test_its_package_is_what_the_repository_takes():
    """Pure Python, with the metadata that QGIS's repository asks for, of this version; twice the same bytes."""
    command = [SOURCE / "tools/package", "qgis", "--repository", "https://example.org/z"]
    made = [Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()).read_bytes()
            for _ in range(2)]
    assert made[0] == made[1]
    path = next((SOURCE / "build/dist/qgis").glob("zarr_layers-*.zip"))
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert {name.rsplit(".")[-1] for name in files} == {"py", "txt", "svg", "zarr_layers/LICENSE"}
    assert {os.path.dirname(name) for name in files} == {"zarr_layers"} and sum(map(len, files.values())) < 200000
    read = configparser.ConfigParser()
    read.read_string(files["zarr_layers/metadata.txt"].decode())
    general = read["general"]
    for key in ("name", "qgisMinimumVersion", "description", "about", "version", "author", "email", "tracker",
                "repository", "license", "icon"):
        assert general[key], key
    version = re.search(r"project\(zarrbridge VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
    assert general["version"] == version and general["tracker"] == "https://example.org/z/issues"
    for name, text in files.items():
        if name.endswith(".py"):
            compile(text, name, "exec")
            assert b"PyQt5" not in text and b"PyQt6" not in text, name
