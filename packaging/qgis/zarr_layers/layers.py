# SPDX-License-Identifier: MIT
"""Layers of QGIS: how they are made of stores, drawn, and placed in time."""

from osgeo import gdal
from qgis.core import (Qgis, QgsColorRampShader, QgsDateTimeRange, QgsInterval, QgsMultiBandColorRenderer, QgsProject,
                       QgsProviderRegistry, QgsRasterLayer, QgsRasterShader,
                       QgsSingleBandPseudoColorRenderer, QgsStyle)
from qgis.PyQt.QtCore import QDate, QDateTime, QFile, QTime, QTimeZone

from . import bands, driver, names, store

DRESSED = "zarr_layers/dressed"
SAMPLE = 250000  # pixels that statistics are made of
SOME, FEW = 12, 3  # of bands; few of those on a server
UNITS = {"months": Qgis.TemporalUnit.Months, "days": Qgis.TemporalUnit.Days, "hours": Qgis.TemporalUnit.Hours,
         "minutes": Qgis.TemporalUnit.Minutes, "seconds": Qgis.TemporalUnit.Seconds}


def make(name, title):
    """A layer of a name of GDAL, not yet in the project; StoreError where it is not valid."""
    layer = QgsRasterLayer(name, title, "gdal")
    if not layer.isValid():
        raise store.StoreError(layer.error().summary() or f"{name} is no raster")
    return layer


def add(layer, project=None):
    """Puts it into the project, drawn as its bands mean."""
    dress(layer)
    (project or QgsProject.instance()).addMapLayer(layer)
    return layer


def file_name(layer):
    """GDAL's name of a layer, and its open options."""
    parts = QgsProviderRegistry.instance().decodeUri("gdal", layer.source())
    name = "".join(parts.get(part) or "" for part in ("vsiPrefix", "path", "vsiSuffix"))
    return name, list(parts.get("openOptions") or [])


def is_ours(layer):
    """True for a raster that the driver has opened."""
    if not isinstance(layer, QgsRasterLayer) or layer.providerType() != "gdal" or not layer.isValid():
        return False
    name, _ = file_name(layer)
    # To identify a name opens nothing, and asks no server.
    return name.startswith("vrt://" + names.PREFIX) or \
        gdal.IdentifyDriverEx(name, gdal.OF_RASTER, [driver.NAME]) is not None


def read_bands(layer):
    """What GDAL says of a layer's bands; StoreError where it cannot be opened again."""
    name, options = file_name(layer)
    with gdal.ExceptionMgr(useExceptions=True):
        try:
            return store.read_bands(gdal.OpenEx(name, gdal.OF_RASTER, open_options=options))
        except RuntimeError as error:
            raise store.StoreError(str(error)) from error


def dress_new(layers):
    """Of layers that have just been added by hand, those of stores get their meaning. Styles that users saved stay."""
    changed = []
    for layer in layers:
        if is_ours(layer) and not layer.customProperty(DRESSED) and not QFile.exists(layer.styleURI()):
            try:
                dress(layer)
            except store.StoreError:
                continue
            layer.triggerRepaint()
            changed.append(layer)
    return changed


def keep(layer, _element=None):
    """A layer of a project that is being read, before it is added: its style is the user's."""
    layer.setCustomProperty(DRESSED, True)


def dress(layer):
    """Sets renderer and temporal properties by what the bands mean."""
    told = read_bands(layer)
    kind = bands.drawing(told)
    if kind == "colours":
        draw_colours(layer, bands.colours(told))
    elif kind == "ramp":
        draw_ramp(layer, len(told))
    set_times(layer, bands.steps(told))
    keep(layer)


def draw_colours(layer, numbers):
    """Red, green and blue of these bands, stretched as QGIS's settings say for their type."""
    layer.setRenderer(QgsMultiBandColorRenderer(layer.dataProvider(), *numbers))
    layer.setDefaultContrastEnhancement()


def draw_ramp(layer, count):
    """Band 1 by a colour ramp between the smallest and largest value of some bands, since others are shown later."""
    provider = layer.dataProvider()
    flags = Qgis.RasterBandStatistic.Min | Qgis.RasterBandStatistic.Max
    numbers = bands.spread(count, FEW if names.is_url(names.split(file_name(layer)[0])[0]) else SOME)
    found = [provider.bandStatistics(number, flags, layer.extent(), SAMPLE // len(numbers)) for number in numbers]
    low, high = min(one.minimumValue for one in found), max(one.maximumValue for one in found)
    if not low < high: # no pixel with a value, or one value only
        low, high = (low, low + 1) if low == high else (0, 1)
    shade = QgsColorRampShader(low, high, QgsStyle.defaultStyle().colorRamp("Viridis"),
                               Qgis.ShaderInterpolationMethod.Linear, Qgis.ShaderClassificationMethod.Continuous)
    shade.classifyColorRamp(5, 1, layer.extent(), provider)
    shader = QgsRasterShader(low, high)
    shader.setRasterShaderFunction(shade)
    renderer = QgsSingleBandPseudoColorRenderer(provider, 1, shader)
    renderer.setClassificationMin(low)
    renderer.setClassificationMax(high)
    layer.setRenderer(renderer)


def date_time(time):
    """UTC, as the driver's times are."""
    return QDateTime(QDate(time.year, time.month, time.day),
                     QTime(time.hour, time.minute, time.second, time.microsecond // 1000), QTimeZone.utc())


def set_times(layer, ranges):
    """Each band is shown in its own range of time."""
    if not ranges:
        return
    times = layer.temporalProperties()
    times.setMode(Qgis.RasterTemporalMode.FixedRangePerBand)
    times.setFixedRangePerBand({number: QgsDateTimeRange(date_time(begin), date_time(end), True, False)
                                for number, (begin, end) in ranges.items()})
    times.setIsActive(True)


def fill_controller(controller, layer):
    """Extent and step of the temporal controller are those of a layer; False for a layer without times."""
    times = layer.temporalProperties()
    ranges = sorted(times.fixedRangePerBand().values(), key=lambda one: one.begin()) if times.isActive() else []
    if not ranges:
        return False
    # QGIS counts a frame that begins where the extent ends: here the last one.
    controller.setTemporalExtents(QgsDateTimeRange(ranges[0].begin(), ranges[-1].begin()))
    count, unit = bands.interval([one.begin().toPyDateTime() for one in ranges]) if len(ranges) > 1 else (1, "days")
    if count:
        controller.setFrameDuration(QgsInterval(count, UNITS[unit]))
    else:
        controller.setAvailableTemporalRanges(ranges)
        controller.setFrameDuration(QgsInterval(1, Qgis.TemporalUnit.IrregularStep))
    controller.setNavigationMode(Qgis.TemporalNavigationMode.Animated)
    controller.setCurrentFrameNumber(0)
    return True
