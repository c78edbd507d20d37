# SPDX-License-Identifier: MIT
"""Runs inside QGIS (qgis --code): uses its windows as a person would, and tells what came of it.

QGIS_TRY names a JSON file with the names of stores; the results go beside it, `results.json`, a value or an error for
each scenario, and a picture of the screen for each `shot`. test_qgis_windows.py starts it.
"""

import faulthandler
import json
import os
import sys
import time
import traceback

from qgis.core import Qgis, QgsApplication, QgsProject, QgsRasterLayer, QgsSingleBandGrayRenderer
from qgis.gui import QgsBrowserTreeView, QgsFileWidget
from qgis.PyQt.QtCore import QEventLoop, QMimeData, QModelIndex, QPoint, QPointF, Qt, QTimer, QUrl
from qgis.PyQt.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from qgis.PyQt.QtTest import QTest
from qgis.PyQt.QtWidgets import QAction, QApplication, QComboBox, QDockWidget, QTreeWidget
from qgis.utils import iface, plugins, unloadPlugin

given_path = os.environ["QGIS_TRY"]
PATIENCE = int(os.environ.get("QGIS_TRY_PATIENCE", "60"))
with open(given_path, encoding="utf-8") as given_file:
    GIVEN = json.load(given_file)
FOLDER = os.path.dirname(given_path)
faulthandler.enable() # QGIS's own handler tells nothing of Python
faulthandler.dump_traceback_later(10 * PATIENCE, exit=True)


raised = [] # by the plugin where QGIS called it; QGIS would show a window that waits for a click
sys.excepthook = lambda *error: raised.append("".join(traceback.format_exception(*error)))


def spin():
    """One turn of the event loop."""
    QApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 50)


def wait(holds, what):
    """Until the condition holds."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert not raised, raised.pop()
        assert time.monotonic() < end, f"waited for {what}"
        spin()


def drawn():
    """Waits until the map is drawn."""
    canvas = iface.mapCanvas()
    canvas.refreshAllLayers()
    spin()
    wait(lambda: not canvas.isDrawing(), "the map")


def shot(name, widget=None):
    """A picture of the screen, or of a window on it."""
    iface.messageBar().clearWidgets()
    for _ in range(5):
        spin()
    screen = QGuiApplication.primaryScreen()
    picture = screen.grabWindow(0)
    if widget is not None:
        corner = widget.mapToGlobal(QPoint(0, 0))
        picture = picture.copy(corner.x(), corner.y(), widget.width(), widget.height())
    assert picture.save(os.path.join(FOLDER, name + ".png"))


def map_pixels():
    """The map's picture, as bytes."""
    image = iface.mapCanvas().grab().toImage()
    bits = image.constBits()
    bits.setsize(image.sizeInBytes())
    return bytes(bits)


def clear():
    """A new project."""
    iface.newProject(False)
    spin()


def layers():
    """Those of the project by name."""
    return {layer.name(): layer for layer in QgsProject.instance().mapLayers().values()}


def drop(urls):
    """Drops onto the map what a file manager or a web browser gives."""
    data = QMimeData()
    data.setUrls(urls)
    how = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    place = iface.mapCanvas().rect().center()
    enter = QDragEnterEvent(place, *how) # it chooses who gets what is dropped
    QApplication.sendEvent(iface.mainWindow(), enter)
    assert enter.isAccepted()
    QApplication.sendEvent(iface.mainWindow(), QDropEvent(QPointF(place), *how))


def drop_and_wait(url):
    """The layer that comes of it."""
    clear()
    drop([url])
    wait(layers, "a layer of " + url.toString())
    layer, = layers().values()
    iface.setActiveLayer(layer)
    return layer


def told(layer):
    """What a test compares."""
    renderer = layer.renderer()
    times = layer.temporalProperties()
    ranges = times.fixedRangePerBand() if times.isActive() else {}
    return {"name": layer.name(), "source": layer.source(), "valid": layer.isValid(), "bands": layer.bandCount(),
            "renderer": renderer.type(), "uses": list(renderer.usesBands()),
            "times": {str(band): one.begin().toString(Qt.DateFormat.ISODate) for band, one in ranges.items()}}


def controller():
    """The temporal controller."""
    return iface.mapCanvas().temporalController()


def dock(name):
    """A panel, which is shown."""
    found = iface.mainWindow().findChild(QDockWidget, name)
    if found is None:
        known = [one.objectName() for one in iface.mainWindow().findChildren(QDockWidget)]
        raise LookupError(f"no {name} among {known}")
    found.setVisible(True)
    found.raise_()
    spin()
    return found


def hide_docks(*but):
    """Only these panels are in the picture, besides the layers."""
    for one in iface.mainWindow().findChildren(QDockWidget):
        one.setVisible(one.objectName() in ("Layers", *but))


def try_the_plugin_and_the_driver():
    plugin = plugins["zarr_layers"]
    plugin.tell_driver()
    bar = iface.messageBar().currentItem().text()
    iface.messageBar().clearWidgets()
    in_menu = plugin.action in iface.addLayerMenu().actions()
    return {"bar": bar, "in_menu": in_menu, "icon": not plugin.action.icon().isNull()}


def try_drop_a_directory():
    layer = drop_and_wait(QUrl.fromLocalFile(GIVEN["stack"]))
    navigation = controller()
    extents = navigation.temporalExtents()
    iface.zoomToActiveLayer()
    hide_docks()
    drawn()
    shot("load")
    return {**told(layer), "begin": extents.begin().toString(Qt.DateFormat.ISODate),
            "end": extents.end().toString(Qt.DateFormat.ISODate), "frames": navigation.totalFrameCount(),
            "mode": navigation.navigationMode() == Qgis.TemporalNavigationMode.Animated}


def try_animate():
    drop_and_wait(QUrl.fromLocalFile(GIVEN["stack"]))
    iface.zoomToActiveLayer()
    hide_docks()
    for one in iface.mainWindow().findChildren(QDockWidget):
        if "emporal" in one.objectName():
            one.setVisible(True)
    pixels, ranges = [], []
    for number in (0, 3, 6):
        controller().setCurrentFrameNumber(number)
        drawn()
        pixels.append(map_pixels())
        ranges.append(iface.mapCanvas().temporalRange().begin().toString(Qt.DateFormat.ISODate))
        shot(f"frame-{number}")
    return {"different": len(set(pixels)), "ranges": ranges}


def try_drop_a_document():
    return told(drop_and_wait(QUrl.fromLocalFile(GIVEN["stack"] + "/zarr.json")))


def try_drop_an_archive():
    return told(drop_and_wait(QUrl.fromLocalFile(GIVEN["archive"])))


def try_drop_a_url():
    layer = drop_and_wait(QUrl(GIVEN["url"]))
    iface.zoomToActiveLayer()
    hide_docks()
    drawn()
    dialog = plugins["zarr_layers"].show_dialog(GIVEN["url"])
    dialog.setGeometry(420, 160, 700, 440)
    shot("url")
    dialog.close()
    return told(layer)


def try_drop_a_store_of_several():
    clear()
    drop([QUrl.fromLocalFile(GIVEN["climate"])])
    plugin = plugins["zarr_layers"]
    wait(lambda: plugin.dialog is not None and plugin.dialog.name.text() == GIVEN["climate"] and
         plugin.dialog.add_button.isEnabled(), "the window with the arrays")
    dialog = plugin.dialog
    dialog.resize(820, 470)
    found = dialog.tree.findItems("ta", Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchRecursive)
    dialog.tree.setCurrentItem(found[0])
    dialog.ranges[0][0].setCurrentIndex(2)
    dialog.ranges[0][1].setCurrentIndex(7)
    dialog.ranges[1][0].setCurrentIndex(1)
    rows = [[item.text(column) for column in range(5)] for item in
            (dialog.tree.topLevelItem(row) for row in range(dialog.tree.topLevelItemCount()))]
    iface.mainWindow().lower()
    dialog.raise_()
    shot("add-layer", dialog)
    QTest.mouseClick(dialog.add_button, Qt.MouseButton.LeftButton)
    wait(layers, "the layer")
    dialog.close()
    return {"rows": rows, "layer": told(next(iter(layers().values()))), "message": dialog.message.text()}


def try_open_by_the_window():
    clear()
    plugin = plugins["zarr_layers"]
    plugin.action.trigger()
    dialog = plugin.dialog
    dialog.name.setText(GIVEN["levels"])
    QTest.keyClick(dialog.name, Qt.Key.Key_Return)
    assert not layers() and dialog.isVisible()
    levels = [dialog.level.itemText(row) for row in range(dialog.level.count())]
    dialog.level.setCurrentIndex(2)
    QTest.mouseClick(dialog.add_button, Qt.MouseButton.LeftButton)
    wait(layers, "the layer")
    layer, = layers().values()
    size = [layer.width(), layer.height()]
    dialog.name.setText(GIVEN["nothing"])
    QTest.keyClick(dialog.name, Qt.Key.Key_Return)
    message = dialog.message.text()
    dialog.close()
    return {"levels": levels, "size": size, "message": message}


def try_place_of_ome():
    clear()
    plugin = plugins["zarr_layers"]
    plugin.show_dialog(GIVEN["ome"])
    QTest.mouseClick(plugin.dialog.add_button, Qt.MouseButton.LeftButton)
    wait(layers, "the layer")
    plugin.dialog.close()
    layer, = layers().values()
    extent = layer.extent()
    return {**told(layer), "extent": [extent.xMinimum(), extent.yMinimum(), extent.xMaximum(), extent.yMaximum()]}


def try_colours():
    found = []
    for name in ("colours", "spectrum"):
        layer = drop_and_wait(QUrl.fromLocalFile(GIVEN[name]))
        stretch = layer.renderer().redContrastEnhancement()
        found.append({**told(layer), "stretched": stretch is not None and stretch.maximumValue() > 255})
    return found


def try_the_browser():
    view = next(one for one in iface.mainWindow().findChildren(QgsBrowserTreeView))
    panel = view.parent()
    while not isinstance(panel, QDockWidget):
        panel = panel.parent()
    hide_docks(panel.objectName())
    dock("Layers").setVisible(False)
    panel.raise_()
    model, folder, source = iface.browserModel(), os.path.dirname(GIVEN["climate"]), view.model()
    model.addFavoriteDirectory(folder, "data")

    def find(*path):
        """The index of an item, in the model; its parents are read, in the background, as a click does."""
        index = QModelIndex()
        for name in path:
            if model.canFetchMore(index):
                model.fetchMore(index)
            rows = [model.index(row, 0, index) for row in range(model.rowCount(index))]
            named = [one for one in rows if model.data(one) == name]
            if not named:
                return None
            index = named[0]
        return index

    ways = [("Favorites",), ("Favorites", "data"), ("Favorites", "data", os.path.basename(GIVEN["climate"])),
            ("Favorites", "data", os.path.basename(GIVEN["climate"]), "/tas")]
    wait(lambda: find(*ways[-1]) is not None, "the array in the browser")
    for way in ways[:3]:
        view.setExpanded(source.mapFromSource(find(*way)), True)
    view.setCurrentIndex(source.mapFromSource(find(*ways[2])))
    folder = find(*ways[1])
    shown = sorted(model.data(model.index(row, 0, folder)) for row in range(model.rowCount(folder)))
    iface.mainWindow().resizeDocks([panel], [420], Qt.Orientation.Horizontal)
    for _ in range(20):
        spin()
    shot("browser", panel)
    return shown


def try_identify():
    drop_and_wait(QUrl.fromLocalFile(GIVEN["stack"]))
    iface.zoomToActiveLayer()
    hide_docks()
    drawn()
    iface.actionIdentify().trigger()
    canvas = iface.mapCanvas()
    place = canvas.rect().center()
    QTest.mouseMove(canvas.viewport(), place)
    QTest.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)

    def results():
        return [one for one in iface.mainWindow().findChildren(QDockWidget)
                if "dentify" in one.objectName() and one.isVisible()]
    wait(results, "the results")
    spin()
    tree = results()[0].findChild(QTreeWidget)
    rows = []

    def walk(item):
        rows.append([item.text(0), item.text(1)])
        for row in range(item.childCount()):
            walk(item.child(row))
    wait(lambda: tree.topLevelItemCount() > 0, "values")
    for row in range(tree.topLevelItemCount()):
        walk(tree.topLevelItem(row))
    tree.resizeColumnToContents(0)
    shot("identify")
    results()[0].setVisible(False)
    return rows


def try_style():
    layer = drop_and_wait(QUrl.fromLocalFile(GIVEN["dem"]))
    iface.zoomToActiveLayer()
    hide_docks("LayerStyling")
    dock("LayerStyling")
    drawn()
    shot("style")
    shade = layer.renderer().shader().rasterShaderFunction()
    return {**told(layer), "low": shade.minimumValue(), "high": shade.maximumValue(),
            "ramp": shade.sourceColorRamp().type()}


def try_export():
    """Export > Save As, in the dialog."""
    layer = drop_and_wait(QUrl.fromLocalFile(GIVEN["dem"]))
    hide_docks()
    seen = {}

    def fill():
        dialog = QApplication.activeModalWidget()
        if dialog is None:
            QTimer.singleShot(200, fill)
            return
        try:
            formats = dialog.findChild(QComboBox, "mFormatComboBox")
            seen["format"] = formats.findText("Zarr version 3 (zarrbridge)")
            formats.setCurrentIndex(seen["format"])
            dialog.findChild(QgsFileWidget, "mFilename").setFilePath(GIVEN["saved"])
            for _ in range(5):
                spin()
            shot("export", dialog)
            dialog.accept()
        except Exception:  # pylint: disable=broad-except
            seen["error"] = traceback.format_exc()
            dialog.reject()

    QTimer.singleShot(200, fill)
    iface.mainWindow().findChild(QAction, "mActionLayerSaveAs").trigger()
    assert "error" not in seen, seen["error"]
    wait(lambda: len(layers()) > 1, "the saved layer")
    saved = [one for one in QgsProject.instance().mapLayers().values() if one.id() != layer.id()][0]
    return {**seen, "saved": told(saved), "was": told(layer)["uses"]}


def try_projects_keep_their_styles():
    """A layer that a user styled is not dressed again when its project is read."""
    layer = drop_and_wait(QUrl.fromLocalFile(GIVEN["dem"]))
    layer.setRenderer(QgsSingleBandGrayRenderer(layer.dataProvider(), 1))
    layer.removeCustomProperty("zarr_layers/dressed")
    path = os.path.join(FOLDER, "p.qgs")
    project = QgsProject.instance()
    assert project.write(path)
    clear()
    assert project.read(path)
    spin()
    return told(next(iter(layers().values())))["renderer"]


def try_unload():
    """The plugin leaves nothing behind."""
    clear()
    before = len(iface.addLayerMenu().actions())
    unloadPlugin("zarr_layers")
    layer = QgsRasterLayer(GIVEN["stack"], "x")
    QgsProject.instance().addMapLayer(layer)
    return {"actions": before - len(iface.addLayerMenu().actions()), "times": layer.temporalProperties().isActive()}


def main():
    iface.mainWindow().showNormal()
    iface.mainWindow().setGeometry(0, 0, 1280, 800)
    spin()
    results = {}
    wanted = os.environ.get("QGIS_TRY_ONLY", "").split()
    for name, scenario in list(globals().items()):
        if not name.startswith("try_") or (wanted and name not in wanted):
            continue
        try:
            results[name[4:]] = {"value": scenario()}
        except Exception:  # pylint: disable=broad-except
            results[name[4:]] = {"error": traceback.format_exc()}
            shot("failed-" + name)
        with open(os.path.join(FOLDER, "results.json"), "w", encoding="utf-8") as file:
            json.dump(results, file)
    sys.stdout.flush()
    os._exit(0)


QTimer.singleShot(1000, main)
