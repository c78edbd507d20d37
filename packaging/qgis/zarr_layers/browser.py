# SPDX-License-Identifier: MIT
"""The browser shows a store once, as a dataset, and what is dropped onto the map is opened by its meaning."""

from qgis.core import Qgis, QgsDataItemProvider, QgsMimeDataUtils
from qgis.gui import QgsCustomDropHandler

from . import driver, names


class StoresAreNoFolders(QgsDataItemProvider):
    """Tells QGIS that directories of stores are its own: they are no folders then, and the item by which GDAL shows
    them as datasets is the only one."""

    def name(self):
        return "zarr_layers"

    def capabilities(self):
        return Qgis.DataItemProviderCapability.NoCapabilities

    def createDataItem(self, path, parentItem):  # noqa: N802, N803  QGIS's names
        return None

    def handlesDirectoryPath(self, path):  # noqa: N802
        return driver.is_there() and names.is_directory(path)


class Drops(QgsCustomDropHandler):
    """Stores that are dropped onto the window: by a directory, a document, an archive, or the text of a URL."""

    def __init__(self, open_name):
        super().__init__()
        self.open_name = open_name

    def canHandleMimeData(self, data):  # noqa: N802
        return bool(self.urls(data))

    def handleMimeDataV2(self, data):  # noqa: N802
        found = self.urls(data)
        for name in found:
            self.open_name(name)
        return bool(found)

    def handleFileDrop(self, file):  # noqa: N802
        """A zarr.json stands for its directory, so that the layer is not called "zarr"."""
        if not names.is_store(file) or not driver.is_there():
            return False
        self.open_name(names.from_text(file))
        return True

    @staticmethod
    def urls(data):
        """Names of stores on servers; QGIS itself takes local files only, and its own items are of its own kind."""
        if QgsMimeDataUtils.isUriList(data):
            return []
        texts = [url.toString() for url in data.urls()] or (data.text().split() if data.hasText() else [])
        return [names.from_text(text) for text in texts if names.is_url(text) and names.is_store(text)]
