# SPDX-License-Identifier: MIT
"""QGIS in real windows under Xvfb: the driver and the plugin (packaging/qgis), used as a person uses them.

Runs where QGIS and Xvfb are installed; tests/package/test_qgis.py makes a machine with them. One QGIS does all that
qgis_windows.py says, and the tests look at what came of it. ZARRBRIDGE_PICTURES names a folder that gets the pictures
of the screen, for docs/qgis.md.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import zarr
from osgeo import gdal

from conftest import DATA, opened, put

sys.path.append(os.environ["ZARRBRIDGE_SOURCE_DIR"] + "/tests/remote")
from simserver import SimServer  # noqa: E402

SOURCE = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])
MISSING = [program for program in ("qgis", "Xvfb") if shutil.which(program) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"QGIS's windows are not tried: no {', '.join(MISSING)}")
MONTHS = ["1999-01-31", "1999-02-28", "1999-03-31", "1999-04-30", "1999-05-31", "1999-06-30", "1999-07-31",
          "1999-08-31", "1999-09-30", "1999-10-31", "1999-11-30", "1999-12-31"]


def make_stores(folder):
    """Each kind that people have, in a folder of their own, so that the browser shows nothing else."""
    stores = {"stack": "temperature", "colours": "landsat", "spectrum": "spectrum", "climate": "climate",
              "levels": "levels", "ome": "ome", "dem": "dem", "nothing": "nothing"}
    given = {key: str(folder / f"{name}.zarr") for key, name in stores.items()}
    given |= {"archive": str(folder / "dem.zarr.zip"), "saved": str(folder.parent / "saved.zarr")}
    zarr3 = gdal.GetDriverByName("Zarr3")
    climate = gdal.OpenEx(str(DATA / "bcsd_obs_1999.nc"), gdal.OF_MULTIDIM_RASTER)
    gdal.MultiDimTranslate(given["stack"], climate, format="Zarr3", arraySpecs=["tas"])
    gdal.MultiDimTranslate(given["climate"], climate, format="Zarr3")
    root = zarr.open_group(given["climate"], mode="r+")
    put(root, "level", np.array([1000., 850, 500]), {"units": "hPa"}, ("level",))
    tas = root["tas"][...]
    put(root, "ta", np.stack([tas, tas - 8, tas - 30], 1), {"long_name": "Air temperature", "units": "C"},
        ("time", "level", "latitude", "longitude"))
    zarr.consolidate_metadata(given["climate"])
    dem = gdal.Open(str(DATA / "olinda_dem_utm25s.tif"))
    for name in (given["dem"], given["archive"], given["levels"]):
        zarr3.CreateCopy(name, dem).Close()
    with gdal.Open(given["levels"], gdal.GA_Update) as raster:
        raster.BuildOverviews("AVERAGE", [2, 4])
    landsat = gdal.Open(str(DATA / "L7_ETMs.tif"))
    for name, options in (("colours", {}), ("spectrum", {"outputType": gdal.GDT_UInt16,
                                                         "scaleParams": [[0, 255, 0, 10200]]})):
        gdal.Translate(given[name], landsat, format="Zarr3", **options).Close()
    with gdal.Open(given["colours"], gdal.GA_Update) as copy:
        for number, colour in enumerate(("blue", "green", "red", "near infrared", "swir 1", "swir 2"), 1):
            copy.GetRasterBand(number).SetDescription(colour)
    with gdal.Open(given["spectrum"], gdal.GA_Update) as copy:
        for number, length in enumerate((482, 565, 660, 825, 1650, 2220), 1):
            copy.GetRasterBand(number).SetMetadata({"wavelength": str(length), "wavelength_unit": "nm"})
    image = zarr.create_group(given["ome"], zarr_format=3, attributes={"ome": {"version": "0.5", "multiscales": [{
        "axes": [{"name": "y", "type": "space", "unit": "micrometer"}, {"name": "x", "type": "space"}],
        "datasets": [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [0.5, 0.25]}]}]}]}})
    put(image, "0", np.arange(40 * 60, dtype="u2").reshape(40, 60), dims=("y", "x"))
    return given


def install_plugin(profile):
    """As QGIS installs a zip file; it is switched on by the settings."""
    made = subprocess.run([SOURCE / "tools/package", "qgis"], check=True, capture_output=True, text=True).stdout.strip()
    plugins = profile / "profiles/default/python/plugins"
    plugins.mkdir(parents=True)
    with zipfile.ZipFile(made) as archive:
        archive.extractall(plugins)
    settings = profile / "profiles/default/QGIS/QGIS3.ini"
    settings.parent.mkdir()
    settings.write_text("[PythonPlugins]\nzarr_layers=true\nprocessing=false\ngrassprovider=false\n"
                        "[qgis]\ncheckVersion=false\naskToSaveProjectChanges=false\nenableMacros=0\n"
                        "newsFeedDisabled=true\n[core]\nNewsFeed\\httpsfeedqgisorg\\disabled=true\n")


@contextlib.contextmanager
def screen():
    """The name of a display without a screen, which ends with its use."""
    ours, theirs = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(theirs), "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
                              pass_fds=(theirs,), stderr=subprocess.DEVNULL)
    os.close(theirs)
    with os.fdopen(ours) as said:
        display = ":" + said.readline().strip()
    try:
        yield display
    finally:
        server.terminate()
        server.wait()


@pytest.fixture(scope="module")
def used(tmp_path_factory):
    """The stores, and what came of each scenario of qgis_windows.py."""
    home = tmp_path_factory.mktemp("qgis")
    (home / "data").mkdir()
    given = make_stores(home / "data")
    install_plugin(home)
    with SimServer(home / "data") as server, screen() as display:
        given["url"] = server.url + "/temperature.zarr"
        (home / "given.json").write_text(json.dumps(given))
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        done = subprocess.run(
            ["qgis", "--noversioncheck", "--nologo", "--profiles-path", home, "--code",
             SOURCE / "tests/gdal/qgis_windows.py"], capture_output=True, text=True,
            env={**environment, "HOME": str(home), "XDG_RUNTIME_DIR": str(home), "QGIS_TRY": str(home / "given.json"),
                 "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}, check=False, timeout=1500)
    pictures = os.environ.get("ZARRBRIDGE_PICTURES")
    if pictures:
        for path in home.glob("*.png"):
            shutil.copy(path, pictures)
    (home / "qgis.log").write_text(done.stdout + done.stderr)
    assert (home / "results.json").exists(), (done.returncode, done.stdout[-3000:], done.stderr[-3000:])
    return given, json.loads((home / "results.json").read_text())


def came_of(used, name):
    """The value of a scenario; its error fails the test."""
    result = used[1].get(name, {"error": "QGIS ended before"})
    assert "error" not in result, result["error"]
    return result["value"]


def is_the_stack(told):
    """A layer for each month's band, drawn by a ramp."""
    assert told["valid"] and told["bands"] == 12
    assert told["renderer"] == "singlebandpseudocolor" and told["uses"] == [1]
    assert [told["times"][str(band)][:10] for band in range(1, 13)] == MONTHS


def test_the_plugin_finds_the_driver(used):
    told = came_of(used, "the_plugin_and_the_driver")
    assert "Zarr3 is installed" in told["bar"] and told["in_menu"] and told["icon"]


def test_a_dropped_stack_fills_the_temporal_controller(used):
    told = came_of(used, "drop_a_directory")
    is_the_stack(told)
    assert told["name"] == "temperature" and told["mode"]
    assert told["begin"][:10] == "1999-01-31" and told["end"][:10] == "1999-12-31" and told["frames"] == 12


def test_frames_show_the_bands_of_their_times(used):
    told = came_of(used, "animate")
    assert told["different"] == 3
    assert [time[:7] for time in told["ranges"]] == ["1999-01", "1999-04", "1999-07"]


@pytest.mark.parametrize("way", ["drop_a_document", "drop_a_url"])
def test_documents_and_urls_are_dropped(used, way):
    told = came_of(used, way)
    is_the_stack(told)
    assert told["name"] == "temperature"


def test_an_archive_is_dropped(used):
    told = came_of(used, "drop_an_archive")
    assert told["valid"] and told["name"] == "dem" and told["renderer"] == "singlebandpseudocolor"


def test_of_several_arrays_the_window_offers_slices_and_times(used):
    told = came_of(used, "drop_a_store_of_several")
    rows = {row[0]: row[1:] for row in told["rows"]}
    assert rows["ta"] == ["12 × 3 × 33 × 81", "Float32", "1999-01-31 – 1999-12-31", "Air temperature, C"]
    assert set(rows) >= {"pr", "ta", "tas"}
    assert told["layer"]["source"].endswith(':/ta:2-7:1"') or told["layer"]["source"].endswith(":/ta:2-7:1")
    assert [time[:10] for time in told["layer"]["times"].values()] == MONTHS[2:8]
    assert told["message"] == "Added climate: ta"


def test_a_level_of_a_pyramid_is_chosen(used):
    told = came_of(used, "open_by_the_window")
    assert told["levels"][1:] == ["111 × 111", "56 × 56", "28 × 28"] and told["size"] == [56, 56]
    assert "nothing.zarr" in told["message"]


def test_an_image_lies_where_its_scales_say(used):
    told = came_of(used, "place_of_ome")
    assert told["valid"] and told["extent"] == [-0.125, -19.75, 14.875, 0.25]


def test_bands_with_names_of_colours_or_wavelengths_are_drawn_as_these(used):
    named, measured = came_of(used, "colours")
    assert named["renderer"] == measured["renderer"] == "multibandcolor"
    assert named["uses"] == measured["uses"] == [3, 2, 1]
    assert not named["stretched"] and measured["stretched"]


def test_the_browser_shows_each_store_once(used):
    shown = came_of(used, "the_browser")
    for name in ("climate.zarr", "dem.zarr", "dem.zarr.zip", "temperature.zarr"):
        assert shown.count(name) == 1, shown


def test_identify_tells_values(used):
    rows = came_of(used, "identify")
    assert any(row[0].startswith("Band 0") or "1999-" in row[0] for row in rows), rows


def test_a_field_of_floats_has_a_ramp(used):
    told = came_of(used, "style")
    data = gdal.Open(str(DATA / "olinda_dem_utm25s.tif")).ReadAsArray()
    assert told["renderer"] == "singlebandpseudocolor" and told["ramp"] == "gradient"
    assert np.allclose([told["low"], told["high"]], [data.min(), data.max()])


def test_the_dialog_saves_a_store(used):
    told = came_of(used, "export")
    assert told["saved"]["valid"]
    saved = opened(used[0]["saved"])
    assert np.array_equal(saved.ReadAsArray(), gdal.Open(str(DATA / "olinda_dem_utm25s.tif")).ReadAsArray())


def test_styles_of_projects_stay(used):
    assert came_of(used, "projects_keep_their_styles") == "singlebandgray"


def test_the_plugin_leaves_nothing_behind(used):
    assert came_of(used, "unload") == {"actions": 1, "times": False}
