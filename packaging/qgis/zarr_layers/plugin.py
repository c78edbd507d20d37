# SPDX-License-Identifier: MIT
"""What the plugin puts into QGIS: an action, what drops and the browser do, and the meaning of new layers."""

import os

from qgis.core import Qgis, QgsApplication, QgsProject
from qgis.PyQt.QtGui import QIcon
from qgis.PyQt.QtWidgets import QAction

from . import browser, driver, layers, names, store
from .dialog import AddDialog

ICON = os.path.join(os.path.dirname(__file__), "icon.svg")


class Plugin:
    """Made by QGIS when it starts, or when the plugin is switched on."""

    def __init__(self, iface):
        self.iface = iface
        self.action = self.check = self.dialog = self.drops = self.folders = None

    def initGui(self):  # noqa: N802  QGIS's name
        window = self.iface.mainWindow()
        self.action = QAction(QIcon(ICON), "Add Zarr Layer…", window)
        self.action.setObjectName("zarr_layers_add")
        self.action.triggered.connect(lambda: self.show_dialog())
        self.check = QAction("Is the driver for Zarr installed?", window)
        self.check.triggered.connect(self.tell_driver)
        self.iface.insertAddLayerAction(self.action)
        self.iface.addToolBarIcon(self.action)
        self.iface.addPluginToMenu("Zarr layers", self.action)
        self.iface.addPluginToMenu("Zarr layers", self.check)
        self.drops = browser.Drops(self.open_name)
        self.iface.registerCustomDropHandler(self.drops)
        self.folders = browser.StoresAreNoFolders()
        QgsApplication.dataItemProviderRegistry().addProvider(self.folders)
        QgsProject.instance().readMapLayer.connect(layers.keep)
        QgsProject.instance().legendLayersAdded.connect(self.dress)
        if not driver.is_there():
            self.tell_driver()

    def unload(self):
        QgsProject.instance().legendLayersAdded.disconnect(self.dress)
        QgsProject.instance().readMapLayer.disconnect(layers.keep)
        QgsApplication.dataItemProviderRegistry().removeProvider(self.folders)
        self.iface.unregisterCustomDropHandler(self.drops)
        self.iface.removeToolBarIcon(self.action)
        self.iface.removeAddLayerAction(self.action)
        for action in (self.action, self.check):
            self.iface.removePluginMenu("Zarr layers", action)
        if self.dialog is not None:
            self.dialog.close()
            self.dialog.deleteLater()
        self.action = self.check = self.dialog = self.drops = self.folders = None

    def tell_driver(self):
        """Whether it is there, in the bar above the map."""
        there, text = driver.told()
        self.iface.messageBar().pushMessage("Zarr", text, Qgis.MessageLevel.Success if there else
                                            Qgis.MessageLevel.Warning, 5 if there else 0)

    def show_dialog(self, name=""):
        """The window, with the store of that name."""
        if self.dialog is None:
            self.dialog = AddDialog(self.iface.mainWindow(), self.after)
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.take(name)
        return self.dialog

    def open_name(self, name):
        """What is dropped: one array is a layer at once, of several the user chooses."""
        try:
            found = store.arrays(name)
            if len(found) == 1:
                only = found[0]
                self.after(layers.add(layers.make(names.source(only.store, only.path),
                                                  names.title(only.store, only.path))), True)
            else:
                self.show_dialog(name)
        except store.StoreError as error:
            self.iface.messageBar().pushMessage("Zarr", str(error) if driver.is_there() else driver.told()[1],
                                                Qgis.MessageLevel.Critical, 0)

    def dress(self, added):
        """Layers that came by QGIS's own ways."""
        for layer in layers.dress_new(added):
            self.after(layer, True)

    def after(self, layer, with_controller):
        """The temporal controller is that of the last layer that has times."""
        controller = self.iface.mapCanvas().temporalController()
        if with_controller and controller is not None:
            layers.fill_controller(controller, layer)
