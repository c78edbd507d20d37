# SPDX-License-Identifier: MIT
"""h5py: stores are opened by the connector, all other files as ever.

h5py opens each file through one function, make_fid, with a list of the file's access properties. Before it, the
connector is put into that list when the name is a store's. HDF5 loads the connector at the first such name, so that a
process without stores has nothing of it."""
import ctypes
import functools
import importlib
import os

from zarrbridge import _names, _places

_installed = None


class Door:
    """The HDF5 that h5py has, by its C functions, and the connector in it."""

    def __init__(self, h5py):
        self.h5py = h5py
        # The flavour that Debian's h5py has chosen, or h5py itself.
        base = h5py.h5f.__name__.rpartition(".")[0]
        self.files = importlib.import_module(h5py.File.__module__)
        self.lock = importlib.import_module(base + "._objects").phil
        self.hdf5 = self._find_hdf5(base)
        self.make_fid = self.files.make_fid
        self.connector = None

    @staticmethod
    def _find_hdf5(base):
        """Through an extension module that is linked to it: by its own name another libhdf5 could be found."""
        for name in ("defs", "_errors", "h5p"):
            path = importlib.import_module(f"{base}.{name}").__file__
            hdf5 = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_NOLOAD)
            if hasattr(hdf5, "H5Pset_vol"):
                break
        else:
            raise OSError("its HDF5 has no connectors (1.12 and later have them)")
        identifier, text, pointer = ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p
        for name, result, *arguments in (
                ("H5VLregister_connector_by_name", identifier, text, identifier),
                ("H5VLconnector_str_to_info", ctypes.c_int, text, identifier, ctypes.POINTER(pointer)),
                ("H5VLfree_connector_info", ctypes.c_int, identifier, pointer),
                ("H5VLclose", ctypes.c_int, identifier),
                ("H5VLcmp_connector_cls", ctypes.c_int, ctypes.POINTER(ctypes.c_int), identifier, identifier),
                ("H5Pget_vol_id", ctypes.c_int, identifier, ctypes.POINTER(identifier)),
                ("H5Pset_vol", ctypes.c_int, identifier, identifier, pointer)):
            function = getattr(hdf5, name)
            function.restype, function.argtypes = result, arguments
        return hdf5

    def _load(self):
        """The connector's id; HDF5 keeps it until the process ends. Our folder is in HDF5's search only meanwhile: that
        search looks at every file that HDF5 cannot open."""
        if self.connector is None:
            h5pl, ours = self.h5py.h5pl, os.path.isdir(_places.HDF5_PLUGINS)
            if ours:
                h5pl.prepend(os.fsencode(_places.HDF5_PLUGINS))
            try:
                found = self.hdf5.H5VLregister_connector_by_name(b"zarr", 0)
            finally:
                if ours:
                    h5pl.remove(0)
            if found < 0:
                raise OSError("HDF5 cannot load the connector zarr"
                              + (f" from {_places.HDF5_PLUGINS}" if ours else ": libhdf5_vol_zarr.so is in none of the "
                                 "folders where it looks for plugins (HDF5_PLUGIN_PATH)"))
            self.connector = found
        return self.connector

    def set_vol(self, plist, options):
        """Puts the connector into the list, with options as {name: value}."""
        with self.lock:
            connector, info = self._load(), ctypes.c_void_p()
            text = ";".join(f"{name}={_option(name, value)}" for name, value in options.items())
            if text and self.hdf5.H5VLconnector_str_to_info(text.encode(), connector, ctypes.byref(info)) < 0:
                raise ValueError(f"not options of the driver zarr: {text}")
            failed = self.hdf5.H5Pset_vol(plist.id, connector, info) < 0
            if info:
                self.hdf5.H5VLfree_connector_info(connector, info)
        if failed:
            raise OSError("HDF5 did not take the connector zarr")

    def is_chosen(self, plist):
        """True if the list has the connector already: by driver="zarr", or from the environment."""
        found, order = ctypes.c_int64(), ctypes.c_int(1)
        with self.lock:
            connector = self._load()
            if self.hdf5.H5Pget_vol_id(plist.id, ctypes.byref(found)) < 0:
                return False
            # In HDF5 2.x one connector has many identifiers.
            self.hdf5.H5VLcmp_connector_cls(ctypes.byref(order), found, connector)
            self.hdf5.H5VLclose(found)
        return order.value == 0


def _option(name, value):
    text = "x".join(map(str, value)) if isinstance(value, (tuple, list)) else str(int(value) if value in (True, False)
                                                                                  else value)
    if any(c in text for c in "; \t\n"):
        raise ValueError(f"the option {name} of the driver zarr has a blank or a semicolon: {text!r}")
    return text


def install(h5py):
    global _installed
    if _installed:
        return
    door = Door(h5py)

    @functools.wraps(door.make_fid)
    def make_fid(name, mode, userblock_size, fapl, *args, **kwargs):
        # Another driver than the default one has been asked for by the program.
        if fapl.get_driver() == h5py.h5fd.SEC2 and _names.is_store(os.fsdecode(name), mode) \
                and not door.is_chosen(fapl):
            door.set_vol(fapl, {})
        return door.make_fid(name, mode, userblock_size, fapl, *args, **kwargs)

    door.files.make_fid = make_fid
    door.files.register_driver("zarr", lambda plist, **options: door.set_vol(plist, options))
    _installed = door


def uninstall():
    global _installed
    if _installed:
        _installed.files.make_fid = _installed.make_fid
        _installed.files.unregister_driver("zarr")
        _installed = None
