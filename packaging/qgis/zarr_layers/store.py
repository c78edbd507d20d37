# SPDX-License-Identifier: MIT
"""What is in a store, as the driver Zarr3 of GDAL tells it. No QGIS."""

import json
import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from osgeo import gdal

from . import bands, names

# Arrays whose bands are looked at when a store is opened; those of others when they are chosen.
EAGER = 32


class StoreError(Exception):
    """What the driver says of a store that it cannot open."""


class Dimension(NamedTuple):
    """One besides rows and columns: its name, and the label and time of each index."""
    name: str
    labels: List[str]
    is_time: bool


class Details(NamedTuple):
    """What the dialog offers of an array."""
    dimensions: List[Dimension]
    levels: List[Tuple[int, int]]  # columns and rows, the finest first
    count: int  # of bands
    bounds: Optional[Tuple[float, float, float, float]]  # by OME's scales: left, top, right, bottom

    @property
    def times(self):
        """The first and the last time; "" without times."""
        labels = next((one.labels for one in self.dimensions if one.is_time), None)
        return f"{labels[0]} – {labels[-1]}" if labels else ""


class Array:
    """An array of a store."""

    def __init__(self, store, path, shape, type_name, title):
        self.store, self.path, self.shape, self.type, self.title = store, path, shape, type_name, title
        self._details = None

    def details(self) -> Details:
        """Opens it at the first call; StoreError where the driver refuses."""
        if self._details is None:
            self._details = look(self.store, self.path)
        return self._details


def open_raster(name):
    """The dataset; StoreError with the driver's reason."""
    with gdal.ExceptionMgr(useExceptions=True):
        try:
            return gdal.OpenEx(name, gdal.OF_RASTER, allowed_drivers=["Zarr3", "VRT"])
        except RuntimeError as error:
            raise StoreError(str(error)) from error


def arrays(name) -> List[Array]:
    """The rasters of a store, a group or an array; levels of pyramids and coordinates are left out by the driver."""
    dataset = open_raster(name if name.startswith(names.PREFIX) else names.source(name))
    listed = dataset.GetMetadata("SUBDATASETS")
    if not listed:
        return [Array(*names.split(name), shape_of(dataset), type_of(dataset), dataset.GetMetadataItem("long_name")
                      or "")]
    found = []
    for number in range(1, len(listed) // 2 + 1):
        store, path = names.split(listed[f"SUBDATASET_{number}_NAME"])
        said = re.match(r"\[([\dx]+)\] .* \(([^()]*)\)(?:: (.*))?$", listed[f"SUBDATASET_{number}_DESC"])
        found.append(Array(store, path, *(said.groups("") if said else ("", "", ""))))
    return found


def shape_of(dataset):
    """As the list of arrays tells it: 12x180x360."""
    bands_part = [str(dataset.RasterCount)] if dataset.RasterCount > 1 else []
    return "x".join([*bands_part, str(dataset.RasterYSize), str(dataset.RasterXSize)])


def type_of(dataset):
    """GDAL's name of the pixels' type."""
    return gdal.GetDataTypeName(dataset.GetRasterBand(1).DataType)


def look(store, path) -> Details:
    """Opens one array."""
    dataset = open_raster(names.source(store, path))
    first = dataset.GetRasterBand(1)
    levels = [(dataset.RasterXSize, dataset.RasterYSize)]
    for number in range(first.GetOverviewCount()):
        level = first.GetOverview(number)
        levels.append((level.XSize, level.YSize))
    return Details(dimensions(read_bands(dataset)), levels, dataset.RasterCount,
                   ome_bounds(store, path, dataset.RasterXSize, dataset.RasterYSize))


def read_bands(dataset) -> List[bands.Band]:
    """All bands of an open raster."""
    told = []
    for number in range(1, dataset.RasterCount + 1):
        band = dataset.GetRasterBand(number)
        told.append(bands.Band(
            band.GetDescription(), band.GetMetadata(),
            gdal.GetColorInterpretationName(band.GetColorInterpretation()).lower(),
            gdal.GetDataTypeName(band.DataType) in ("Float16", "Float32", "Float64"),
            band.GetMetadataItem("CENTRAL_WAVELENGTH_UM", "IMAGERY") or ""))
    return told


def dimensions(told) -> List[Dimension]:
    """By the places of the bands."""
    labels: Dict[str, Dict[int, str]] = {}
    timed = set()
    for band in told:
        for place in bands.places(band):
            labels.setdefault(place.dimension, {})[place.index] = place.label
            if place.time is not None:
                timed.add(place.dimension)
    return [Dimension(name, [found[index] for index in sorted(found)], name in timed)
            for name, found in labels.items()]


def ome_bounds(store, path, columns, rows):
    """The bounds of an image of OME-Zarr by the scale and translation of its finest level, y upwards; None without."""
    group, _, level = path.strip("/").rpartition("/")
    with gdal.ExceptionMgr(useExceptions=True):
        try:
            root = gdal.OpenEx(store, gdal.OF_MULTIDIM_RASTER, allowed_drivers=["Zarr3"]).GetRootGroup()
            node = root.OpenGroupFromFullname("/" + group) if group else root
            attributes = {attribute.GetName(): attribute.Read() for attribute in node.GetAttributes()
                          if attribute.GetName() in ("ome", "multiscales")}
        except (RuntimeError, AttributeError):
            return None
    return bounds_of(attributes, level, columns, rows)


def bounds_of(attributes, level, columns, rows):
    """The same, of a group's attributes: objects, or their JSON."""
    try:
        read = {key: json.loads(value) if isinstance(value, str) else value for key, value in attributes.items()}
        image = (read.get("ome") or read)["multiscales"][0]
        axes = [axis if isinstance(axis, str) else axis["name"] for axis in image["axes"]]
        listed = {entry["path"].strip("/"): entry for entry in image["datasets"]}
        entry = listed.get(level) or image["datasets"][0]
        scale, shift = [1.0] * len(axes), [0.0] * len(axes)
        for change in [*entry.get("coordinateTransformations", []), *image.get("coordinateTransformations", [])]:
            if change["type"] == "scale":
                scale = [a * b for a, b in zip(scale, change["scale"])]
                shift = [a * b for a, b in zip(shift, change["scale"])]
            elif change["type"] == "translation":
                shift = [a + b for a, b in zip(shift, change["translation"])]
        x, y = axes.index("x"), axes.index("y")
    except (KeyError, ValueError, IndexError, TypeError, AttributeError):
        return None
    # A translation is where the centre of the first pixel lies.
    left, top = shift[x] - scale[x] / 2, -(shift[y] - scale[y] / 2)
    return left, top, left + scale[x] * columns, top - scale[y] * rows


def placed(name, bounds):
    """The name of the same raster with these bounds."""
    return f"vrt://{name}?a_ullr=" + ",".join(repr(float(number)) for number in bounds)
