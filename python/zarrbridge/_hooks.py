# SPDX-License-Identifier: MIT
"""Acts when h5py and rasterio are imported, or at once where they are there. Imports nothing that Python itself has not
loaded."""
import sys

_MODULES = {"h5py": "_h5", "rasterio": "_gdal"}


def _our(name):
    """The module that knows the one of that name; loaded when it is needed."""
    import importlib

    return importlib.import_module("zarrbridge." + _MODULES[name])


def _install(name):
    """A package that we cannot serve must still be imported."""
    try:
        _our(name).install(sys.modules[name])
    except Exception as error:
        import warnings

        warnings.warn(f"zarrbridge: {name} opens no Zarr stores: {error}", RuntimeWarning, stacklevel=2)


class _Loader:
    """A loader of another's, after which we act. What else is asked of it, that one answers."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        if name == "_loader":
            raise AttributeError(name)
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        if _finder in sys.meta_path:
            _install(module.__name__)


class _Finder:
    """First among the finders; it asks the others."""

    def find_spec(self, name, path=None, target=None):
        if name not in _MODULES:
            return None
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target) if finder is not self else None
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader)
                return spec
        return None


_finder = _Finder()


def enable():
    """Lets h5py and rasterio open Zarr stores, also when they are imported later. Importing this package does it."""
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
        for name in _MODULES:
            if name in sys.modules:
                _install(name)


def disable():
    """Takes back what enable() and export_env() have done. Files that are open stay so."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    for name in _MODULES:
        if name in sys.modules:
            _our(name).uninstall()
    from zarrbridge import _places

    _places.unexport_env()
