# SPDX-License-Identifier: MIT
"""Names of stores, arrays and slices: what people type, choose or drop, and what GDAL opens for it."""

import os
import re
from urllib.parse import unquote, urlsplit

ARCHIVES = (".zarr.zip", ".ozx")
DOCUMENT = "zarr.json"
PREFIX = "ZARR3:"


def is_url(text):
    """A URL of a server or bucket, or a name of GDAL's file systems."""
    return bool(re.match(r"(https?|s3|az|gs)://|/vsi", text))


def from_text(text):
    """The name of a store or array for a text that a user gave: a path, a URL, either in quotes or by its document."""
    name = text.strip().strip("\"'")
    if name.startswith("file://"):
        name = unquote(urlsplit(name).path)
    elif not is_url(name) and not name.startswith(PREFIX):
        name = os.path.expanduser(name)
    if name.endswith("/" + DOCUMENT):
        name = name[:-len(DOCUMENT)]
    return name.rstrip("/") or name


def is_store(name):
    """True for what is a store, or an array or group in one, without a look at any server."""
    if name.startswith(PREFIX):
        return True
    if is_url(name):
        parts = urlsplit(name).path.split("/")
        return parts[-1] == DOCUMENT or any(part.endswith((".zarr", *ARCHIVES)) for part in parts)
    return is_directory(name) or (os.path.isfile(name) and (
        os.path.basename(name) == DOCUMENT or name.endswith(ARCHIVES)))


def is_directory(path):
    """True for a directory that is a store of version 3, or a node in one."""
    return os.path.isfile(os.path.join(path, DOCUMENT))


def source(store, array="", indices=()):
    """GDAL's name of an array, or of a range of its slices: one index or (first, last) for each further dimension."""
    if not array and not indices:
        return f'{PREFIX}"{store}"'
    ranges = [f"{index[0]}-{index[1]}" if isinstance(index, tuple) and index[0] != index[1]
              else str(index[0] if isinstance(index, tuple) else index) for index in indices]
    return f'{PREFIX}"{store}":' + ":".join([array if array.startswith("/") else "/" + array, *ranges])


def with_options(name, **options):
    """The name as QGIS keeps it, with GDAL's open options."""
    return name + "".join(f"|option:{key}={value}" for key, value in options.items())


def split(name):
    """The store and the array of a name with or without quotes; the array is "" for a whole store."""
    found = re.fullmatch(re.escape(PREFIX) + r'"(.*)"(?::(/.*))?', name) or \
        re.fullmatch(re.escape(PREFIX) + r"(.*?)(?::(/(?!/).*))?", name)
    return (found[1], found[2] or "") if found else (name, "")


def title(store, array=""):
    """What a layer is called: the store, and the array's name where there are several."""
    base = os.path.basename(urlsplit(store).path if "://" in store else store)
    for ending in (*ARCHIVES, ".zarr"):
        base = base[:-len(ending)] if base.endswith(ending) else base
    return f"{base}: {array.strip('/')}" if array.strip("/") else base
