# SPDX-License-Identifier: MIT
"""Zarr layers: a plugin of QGIS for stores that GDAL's driver Zarr3 reads."""


def classFactory(iface):  # noqa: N802  QGIS's name
    """QGIS calls it; the parts without QGIS can be imported without this."""
    from .plugin import Plugin
    return Plugin(iface)
