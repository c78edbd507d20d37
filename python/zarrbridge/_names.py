# SPDX-License-Identifier: MIT
"""Which names h5py is to open as Zarr stores. The rule is that of the connector itself (docs/hdf5.md, "Opening a store"
and "Creating a store"), which gets no say in the matter before it is chosen."""
import os
import re

SCHEMES = ("https://", "http://", "s3://", "az://")
ARCHIVES = (".zarr.zip", ".ozx")
SUFFIXES = (".zarr", *ARCHIVES)
DOCUMENTS = ("zarr.json", ".zgroup", ".zarray", ".zmetadata")


# Also where a program has taken the name for a path, and put a directory before it.
_PREFIXED = re.compile(r"(?:^|/)zarr:(https?|s3|az):/", re.IGNORECASE)


def is_url(name):
    return name.lower().startswith(SCHEMES)


def _is_store_url(url):
    """A part of its path is named as stores are, or the last one is a document. Other URLs are not ours."""
    path = url.partition("://")[2]
    path = path.rpartition("#")[0] or path
    if not url.lower().startswith("s3:"):
        path = path.partition("?")[0]
    parts = path.rstrip("/").split("/")[1:]
    return bool(parts) and (parts[-1] in DOCUMENTS or any(part.lower().endswith(SUFFIXES) for part in parts))


def _in_store(path):
    """True for x.zarr/new and the like: there is a node above, or what is to become one."""
    above = os.path.dirname(path)
    return above != path and bool(above) and (
        above.lower().endswith(SUFFIXES) or any(os.path.isfile(os.path.join(above, name)) for name in DOCUMENTS)
        or _in_store(above))


def _is_door(path):
    """True for a small file that leads to a store (docs/doors.md)."""
    size = os.path.getsize(path)
    if not 27 < size <= 16384:
        return False
    try:
        with open(path, "rb") as file:
            return file.read(8) == b"\x89HDF\r\n\x1a\n" and file.read()[-27:].startswith(b"zarrbridge-door-1 ")
    except OSError:
        return False


def is_store(name, mode):
    """True if a file of that name, opened by h5py in that mode, is a Zarr store."""
    if is_url(name):
        return _is_store_url(name)
    if _PREFIXED.search(name):
        return True
    path = name.rstrip("/") or name
    if os.path.isdir(path):
        return True  # which HDF5's own format never is
    if os.path.isfile(path):
        # An HDF5 file that is called x.zarr stays one; the connector refuses to put a store in its place.
        return (os.path.basename(path) in DOCUMENTS or path.lower().endswith(ARCHIVES)
                or (path.lower().endswith(".zarr") and mode in ("w", "w-", "x")) or _is_door(path))
    return path.lower().endswith(SUFFIXES) or _in_store(path)
