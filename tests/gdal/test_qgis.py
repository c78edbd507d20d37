# SPDX-License-Identifier: MIT
"""QGIS itself, without its window: its layers, its browser and its pictures on stores.

Runs where python3-qgis is installed. That is too large to be one of the packages that the other
tests need. QGIS brings its own error handlers and ends its process as it likes, so that each test
is a program of its own, which prints one line of JSON.
"""
import importlib.util
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from osgeo import gdal

from conftest import opened, put, sub
from test_multiscales import SPATIAL, UUID
from test_programs import LANDSAT, store_raster

pytestmark = pytest.mark.skipif(importlib.util.find_spec("qgis") is None,
                                reason="QGIS is not tried: python3-qgis is not installed")

PRELUDE = r"""
import json, os, sys
from qgis.core import *
from qgis.PyQt.QtCore import QSize
from qgis.PyQt.QtGui import QImage

arguments = json.loads(sys.argv[1])
application = QgsApplication([], False)
application.initQgis()

def layer(name):
    made = QgsRasterLayer(name, "layer")
    assert made.isValid(), (name, made.error().summary())
    return made

def plain(made, *bands):
    "Shows the pixels as they are, without a stretch."
    provider = made.dataProvider()
    if len(bands) == 3:
        made.setRenderer(QgsMultiBandColorRenderer(provider, *bands))
    else:
        made.setRenderer(QgsSingleBandGrayRenderer(provider, *bands))
    return made

def picture(made, width, height, extent=None, job=QgsMapRendererParallelJob):
    "Rows of [red, green, blue], as QGIS draws them."
    settings = QgsMapSettings()
    settings.setLayers([made] if isinstance(made, QgsRasterLayer) else made)
    settings.setDestinationCrs(settings.layers()[0].crs())
    settings.setOutputSize(QSize(width, height))
    settings.setExtent(extent or settings.layers()[0].extent())
    work = job(settings)
    work.start()
    work.waitForFinished()
    assert not work.errors(), [error.message for error in work.errors()]
    image = work.renderedImage().convertToFormat(QImage.Format_RGB888)
    line, bits = image.bytesPerLine(), image.constBits().asstring(image.sizeInBytes())
    return [[list(bits[y * line + 3 * x:][:3]) for x in range(width)] for y in range(height)]

def main():
"""
CODA = r"""
result = main()
QgsProject.instance().clear()
print(json.dumps(result))
sys.stdout.flush()
os._exit(0) # QGIS's own end waits for threads that Python has not joined
"""


def qgis(tmp_path, body, **arguments):
    """Runs the body of a function in QGIS; returns the body's result."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700, exist_ok=True)
    script = PRELUDE + "".join("    %s\n" % line for line in body.strip().splitlines()) + CODA
    done = subprocess.run([sys.executable, "-c", script, json.dumps(arguments)], capture_output=True, text=True,
                          env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "HOME": str(home),
                               "XDG_RUNTIME_DIR": str(home), "PYTHONWARNINGS": "ignore"})
    # QGIS asks GDAL to place rasters of any format that have none, and GDAL tells that it cannot.
    errors = [line for line in done.stderr.splitlines()
              if "ERROR" in line and "Unable to compute a transformation" not in line]
    assert done.returncode == 0 and not errors, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def files_in(path):
    return {os.path.join(folder, name): os.stat(os.path.join(folder, name)).st_mtime_ns
            for folder, _, names in os.walk(path) for name in names}


def landsat(root):
    return store_raster(root, "l7", LANDSAT, chunks=(1, 64, 64), shards=(6, 256, 256))


FACTS = """
made = layer(arguments["name"])
provider = made.dataProvider()
extent, centre = made.extent(), made.extent().center()
told = provider.bandStatistics(4)
values = provider.identify(centre, QgsRaster.IdentifyFormatValue).results()
block = provider.block(5, extent, made.width(), made.height())
return dict(
    crs=made.crs().authid(), bands=made.bandCount(), name=made.bandName(2),
    extent=[extent.xMinimum(), extent.yMinimum(), extent.xMaximum(), extent.yMaximum()],
    statistics=[told.minimumValue, told.maximumValue, told.mean],
    values=[values[band] for band in sorted(values)],
    pixels=[block.value(y, x) for y in (0, 101, 351) for x in (0, 77, 348)])
"""


@pytest.mark.parametrize("form", ["%s", "%s/zarr.json", "ZARR3:%s", 'ZARR3:"%s":/l7', "%s/l7"])
def test_a_layer_is_what_the_raster_is(store, tmp_path, form):
    path, root = store
    source = landsat(root)
    told = qgis(tmp_path, FACTS, name=form % path)
    data, t = source.ReadAsArray(), source.GetGeoTransform()
    assert told["crs"] == "EPSG:31985" and told["bands"] == 6
    assert np.allclose(told["extent"], [t[0], t[3] + 352 * t[5], t[0] + 349 * t[1], t[3]])
    assert told["statistics"][:2] == [data[3].min(), data[3].max()]
    assert abs(told["statistics"][2] - data[3].mean()) < 1e-9
    # The centre lies in the middle of column 174 and on the edge of two rows.
    assert told["values"] in (data[:, 175, 174].tolist(), data[:, 176, 174].tolist())
    assert told["pixels"] == [data[4, y, x] for y in (0, 101, 351) for x in (0, 77, 348)]
    assert told["name"].startswith("Band 2")


@pytest.mark.parametrize("name", ["x.zarr.zip", "x.ozx"])
def test_an_archive_is_a_layer(tmp_path, name):
    path = str(tmp_path / name)
    gdal.GetDriverByName("Zarr3").CreateCopy(path, gdal.Open(str(LANDSAT))).Close()
    assert os.path.isfile(path)
    ours, theirs = qgis(tmp_path, """
registry = QgsProviderRegistry.instance()
assert len(registry.querySublayers(arguments["names"][0])) == 1
return [picture(plain(layer(name), 3, 2, 1), 349, 352) for name in arguments["names"]]
""", names=[path, str(LANDSAT)])
    assert ours == theirs


def test_it_draws_what_it_draws_of_a_geotiff(store, tmp_path):
    path, root = store
    source = landsat(root)
    ours, theirs = qgis(tmp_path, """
return [picture(plain(layer(name), 3, 2, 1), 349, 352) for name in arguments["names"]]
""", names=[path, str(LANDSAT)])
    assert ours == theirs
    # QGIS fits the picture into its size, which may shift it by a pixel.
    drawn, data = np.array(ours)[10:300, 10:300], np.moveaxis(source.ReadAsArray()[[2, 1, 0]], 0, -1)
    agree = max((drawn == data[10 + y:300 + y, 10 + x:300 + x]).mean()
                for y in (-1, 0, 1) for x in (-1, 0, 1))
    assert agree > 0.5


def test_it_draws_three_scales_as_of_a_geotiff(tmp_path):
    """Zoomed out by levels, pixel by pixel, and zoomed in."""
    names = [str(tmp_path / "x.zarr"), str(tmp_path / "x.tif")]
    for name, driver in zip(names, ["Zarr3", "GTiff"]):
        gdal.GetDriverByName(driver).CreateCopy(name, gdal.Open(str(LANDSAT))).FlushCache()
        gdal.Open(name, gdal.GA_Update).BuildOverviews("AVERAGE", [2, 4])
    ours, theirs = qgis(tmp_path, """
told = []
for name in arguments["names"]:
    made = plain(layer(name), 3, 2, 1)
    near = made.extent()
    near.scale(1 / 8)
    told.append([picture(made, 87, 88), picture(made, 349, 352), picture(made, 200, 200, near)])
return told
""", names=names)
    assert ours == theirs
    assert all(len(set(map(tuple, sum(shown, [])))) > 50 for shown in ours)


def test_it_builds_levels_in_the_store(tmp_path):
    path = str(tmp_path / "x.zarr")
    gdal.GetDriverByName("Zarr3").CreateCopy(path, gdal.Open(str(LANDSAT))).FlushCache()
    said, known = qgis(tmp_path, """
made = layer(arguments["name"])
levels = made.dataProvider().buildPyramidList([2, 4])
for level in levels:
    level.setBuild(True)
said = made.dataProvider().buildPyramids(levels, "AVERAGE", QgsRaster.PyramidsInternal)
again = layer(arguments["name"])
return said, [level.getExists() for level in again.dataProvider().buildPyramidList([2, 4])]
""", name=path)
    assert not said and known == [True, True]
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".ovr")]
    assert {"ovr_2x", "ovr_4x"} <= set(os.listdir(path))
    like = gdal.GetDriverByName("MEM").CreateCopy("", gdal.Open(str(LANDSAT)))
    like.BuildOverviews("AVERAGE", [2])
    level = gdal.Open(path + "/ovr_2x").ReadAsArray()[0]
    assert np.array_equal(level, like.GetRasterBand(1).GetOverview(0).ReadAsArray())


def test_a_south_up_raster_is_drawn_north_up(store, tmp_path):
    path, root = store
    data = (np.arange(40 * 60).reshape(40, 60) % 251).astype("u1")
    put(root, "t", data, dims=("lat", "lon"), chunks=(16, 16))
    put(root, "lat", np.arange(40.) - 20, {"units": "degrees_north"}, ("lat",))
    put(root, "lon", np.arange(60.), {"units": "degrees_east"}, ("lon",))
    assert opened(path).GetGeoTransform()[5] == 1
    told = qgis(tmp_path, """
made = plain(layer(arguments["name"]), 1)
return [made.crs().authid(), made.extent().yMaximum(), picture(made, 60, 40)]
""", name=path)
    assert told[:2] == ["EPSG:4326", 19.5]
    assert np.array_equal(np.array(told[2])[:, :, 0], data[::-1])


def test_zoomed_out_it_draws_the_coarse_levels(store, tmp_path):
    path, root = store
    layout = []
    for level in range(4):
        size = 1024 >> level
        put(root, str(level), np.full((size, size), 50 * (level + 1), "u1"), dims=("y", "x"),
            chunks=(128, 128))
        step = 10.0 * 2**level
        layout.append({"asset": str(level), "spatial:transform": [step, 0, 0, 0, -step, 10240]})
    root.update_attributes({"zarr_conventions": [{"uuid": UUID}, {"uuid": SPATIAL}],
                            "multiscales": {"layout": layout}})
    told = qgis(tmp_path, """
made = plain(layer(arguments["name"]), 1)
known = [(level.xDim, level.exists) for level in made.dataProvider().buildPyramidList()]
shades = []
for part in (1, 2, 4, 8):
    extent = made.extent()
    extent.scale(1 / part)
    shades.append(sorted(set(pixel[0] for row in picture(made, 100, 100, extent) for pixel in row)))
return dict(known=known[:4], shades=shades)
""", name=path)
    assert told["known"] == [[512, True], [256, True], [128, True], [64, False]]
    assert told["shades"] == [[200], [150], [100], [50]]


def test_several_arrays_are_offered_by_name(store, tmp_path):
    path, root = store
    for group, name in ((root, "tas"), (root, "pr"), (root.create_group("deep"), "t"),
                        (root["deep"], "u")):
        put(group, name, np.zeros((6, 8), "f4"), {"long_name": "About " + name})
    body = """
registry = QgsProviderRegistry.instance()
options = QgsProviderSublayerDetails.LayerOptions(QgsProject.instance().transformContext())
return [[part.name(), part.description(), part.toLayer(options).isValid()]
        for part in registry.querySublayers(arguments["name"])]
"""
    for start, nodes in (("", ["deep/t", "deep/u", "pr", "tas"]), ("/deep", ["t", "u"])):
        for name in (path + start, path + start + "/zarr.json"):
            told = qgis(tmp_path, body, name=name)
            assert [part[0] for part in told] == ["/" + node for node in nodes]
            assert told[-1][1].endswith("(Float32): About " + nodes[-1])
            assert all(part[2] for part in told)


def test_the_browser_shows_a_store_with_its_layers(store, tmp_path):
    path, root = store
    put(root, "one", np.zeros((6, 8), "f4"))
    put(root, "two", np.zeros((6, 8), "f4"))
    told = qgis(tmp_path, """
files = QgsApplication.dataItemProviderRegistry().provider("files")
shown = []
for name in (arguments["name"], arguments["name"] + "/zarr.json"):
    item = files.createDataItem(name, None)
    parts = item.createChildren()
    shown.append([type(item).__name__, [[part.name(), part.uri()] for part in parts]])
return shown
""", name=path)
    assert told == [["QgsDataCollectionItem", [["/" + node, sub(start, node)]
                                               for node in ("one", "two")]]
                    for start in (path, path + "/zarr.json")]


def test_many_layers_at_once_and_nothing_left_in_the_store(store, tmp_path):
    """QGIS draws each layer in its own threads, all from one store, and keeps statistics."""
    path, root = store
    landsat(root)
    before = files_in(path)
    told = qgis(tmp_path, """
layers = [plain(layer(name), band) for band in (1, 4) for name in arguments["names"]]
for made in layers:
    made.dataProvider().bandStatistics(2)
    made.setOpacity(0.2)
once = picture(layers, 300, 300, None, QgsMapRendererSequentialJob)
same = all(picture(layers, 300, 300) == once for _ in range(5))
pyramids = layers[0].dataProvider().buildPyramidList()
for level in pyramids:
    level.setBuild(True)
problem = layers[0].dataProvider().buildPyramids(pyramids, "NEAREST")
again = layer(arguments["names"][0])
levels = again.dataProvider().buildPyramidList()
return [same, problem, [level.exists for level in levels]]
""", names=[path, path + "/zarr.json", sub(path, "l7"), path + "/l7"])
    assert told[:2] == [True, ""] and told[2] and all(told[2])
    assert files_in(path) == before
    beside = {name for name in os.listdir(tmp_path) if name.startswith("x.zarr.")}
    assert beside == {"x.zarr.aux.xml", "x.zarr.l7.ovr"}


def test_projects_find_moved_stores_by_their_directories(tmp_path, store):
    path, root = store
    os.mkdir(tmp_path / "a")
    put(root, "t", np.zeros((6, 8), "f4"))
    put(root, "u", np.zeros((6, 8), "f4"))
    shutil.move(path, tmp_path / "a" / "x.zarr")
    body = """
project = QgsProject.instance()
for name in arguments["names"]:
    project.addMapLayer(layer(arguments["a"] + name))
assert project.write(arguments["a"] + "/p.qgs")
project.clear()
os.rename(arguments["a"], arguments["b"])
assert project.read(arguments["b"] + "/p.qgs")
return sorted([made.source(), made.isValid()] for made in project.mapLayers().values())
"""
    a, b, names = str(tmp_path / "a"), str(tmp_path / "b"), ["/x.zarr/t", "/x.zarr/u/zarr.json"]
    assert qgis(tmp_path, body, a=a, b=b, names=names) == [[b + name, True] for name in names]


def test_it_saves_layers_as_zarr(store, tmp_path):
    path, root = store
    source = landsat(root)
    told = qgis(tmp_path, """
made = layer(arguments["name"])
writer = QgsRasterFileWriter(arguments["out"])
writer.setOutputFormat(QgsRasterFileWriter.driverForExtension("zarr"))
pipe = QgsRasterPipe()
pipe.set(made.dataProvider().clone())
return int(writer.writeRaster(pipe, made.width(), made.height(), made.extent(), made.crs(),
                              QgsCoordinateTransformContext()))
""", name=path, out=str(tmp_path / "saved.zarr"))
    assert told == 0
    saved = opened(tmp_path / "saved.zarr")
    assert np.array_equal(saved.ReadAsArray(), source.ReadAsArray())
    assert saved.GetSpatialRef().IsSame(source.GetSpatialRef())
    assert np.allclose(saved.GetGeoTransform(), source.GetGeoTransform())
    assert gdal.Info(saved, format="json")["driverShortName"] == "Zarr3"
