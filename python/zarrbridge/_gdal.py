# SPDX-License-Identifier: MIT
"""rasterio: the driver Zarr3 in the GDAL that its wheel brings.

That library is called libgdal-<8 digits>.so.<version>, with other digits in each build, while a driver has to name the
library that it uses. Ours names a placeholder. A copy with the true name in its place lies in the user's cache, in a
folder that is called by the copy's content and thus serves all processes; the name is all that differs.

A rasterio without a library of its own (Debian, conda) uses the system's GDAL, which finds its drivers by itself."""
import ctypes
import hashlib
import os
import re
import stat
import tempfile

from zarrbridge import _places

PLACEHOLDER = b"libgdal-placeholder-of-zarrbridge.so"
LIBRARY = re.compile(r"libgdal-[0-9a-f]{8}\.so(\.\d+)?\.(?P<minor>\d+\.\d+)\.\d+")

_plugin = None  # the driver in this process


def _find_library():
    """The file name of the GDAL in rasterio's wheel, and its minor version; None where there is none."""
    from importlib.util import find_spec

    rasterio = find_spec("rasterio")
    if rasterio is None or not rasterio.origin:
        return None
    folder = os.path.join(os.path.dirname(os.path.dirname(rasterio.origin)), "rasterio.libs")
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        match = LIBRARY.fullmatch(name)
        if match:
            return name, match["minor"]
    return None


def _patched(minor, library):
    with open(os.path.join(_places.GDAL_PLUGINS, f"gdal_Zarr3-{minor}.so"), "rb") as file:
        content = file.read()
    name = os.fsencode(library)
    if content.count(PLACEHOLDER) != 1 or len(name) > len(PLACEHOLDER):
        raise OSError(f"the driver cannot be made for {library}")
    return content.replace(PLACEHOLDER, name.ljust(len(PLACEHOLDER), b"\0"))


def _has(path, content):
    try:
        with open(path, "rb") as file:
            return file.read() == content
    except OSError:
        return False


def _make_own(folder):
    """A folder in which nobody but this user writes: code is loaded from there."""
    try:
        os.mkdir(folder, mode=0o700)
    except FileExistsError:
        pass
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise PermissionError(f"{folder} can be written by others")


def _put(folder, path, make):
    """What `make` makes takes the place of the path, whole or not at all. It is not made in the driver's own folder:
    GDAL takes every file there for a driver."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        new = os.path.join(scratch, "new")
        make(new)
        os.rename(new, path)


def _write_file(path, content):
    with open(path, "wb") as file:
        file.write(content)


def _write(base, content):
    """The path of the driver below `base`; beside it is the way to what it loads at the first URL, where the core looks:
    ../zarrbridge/."""
    folder = os.path.join(base, hashlib.sha256(content).hexdigest()[:32])
    path, remote = os.path.join(folder, "gdal", "gdal_Zarr3.so"), os.path.join(folder, "zarrbridge")
    os.makedirs(os.path.dirname(base), mode=0o700, exist_ok=True)
    for part in (base, folder, os.path.dirname(path)):
        _make_own(part)
    if not _has(path, content):
        _put(folder, path, lambda new: _write_file(new, content))
    target = os.path.join(_places.LIB, "zarrbridge")
    if not os.path.islink(remote) or os.readlink(remote) != target:
        _put(folder, remote, lambda new: os.symlink(target, new))
    return path


def _bases():
    """The user's cache, and where there is none a folder of the user's among the temporary files, which all processes
    share as well."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return (os.path.join(cache, "zarrbridge"), os.path.join(tempfile.gettempdir(), f"zarrbridge-{os.geteuid()}"))


def _plugin_for(minor, library):
    """The path of the driver for it."""
    content, failed = _patched(minor, library), []
    for base in _bases():
        try:
            return _write(base, content)
        except OSError as error:
            failed.append(str(error))
    raise OSError(f"no folder for its driver ({'; '.join(failed)}). XDG_CACHE_HOME may name one")


def _minors():
    names = os.listdir(_places.GDAL_PLUGINS) if os.path.isdir(_places.GDAL_PLUGINS) else []
    return sorted(name[len("gdal_Zarr3-"):-len(".so")] for name in names)


def prepare():
    """The folder with the driver for the GDAL in rasterio's wheel; None where there is none."""
    found = _find_library()
    if not found or found[1] not in _minors():
        return None
    return os.path.dirname(_plugin_for(found[1], found[0]))


def _put_before_own(gdal):
    """GDAL asks its drivers in the order in which they were registered, and its own would take the stores."""
    for name in ("GDALGetDriverByName", "GDALGetDriver"):
        getattr(gdal, name).restype = ctypes.c_void_p
    for name in ("GDALDeregisterDriver", "GDALRegisterDriver"):
        getattr(gdal, name).argtypes = [ctypes.c_void_p]
    own = gdal.GDALGetDriverByName(b"Zarr")
    if own:
        gdal.GDALDeregisterDriver(own)
        gdal.GDALRegisterDriver(own)


def install(rasterio):
    global _plugin
    found = _find_library()
    if _plugin or not found:
        return
    library, minor = found
    if minor not in _minors():
        raise OSError(f"it has GDAL {minor}, and there are drivers for {' and '.join(_minors()) or 'none'} here")
    # rasterio has loaded its GDAL: the driver's need is met by that one.
    plugin = ctypes.CDLL(_plugin_for(minor, library))
    plugin.GDALRegister_Zarr3()
    _put_before_own(plugin)
    _plugin = plugin


def uninstall():
    global _plugin
    if _plugin:
        _plugin.GDALGetDriverByName.restype = ctypes.c_void_p
        ours = _plugin.GDALGetDriverByName(b"Zarr3")
        if ours:
            _plugin.GDALDeregisterDriver(ctypes.c_void_p(ours))
        _plugin = None
