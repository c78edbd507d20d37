# SPDX-License-Identifier: MIT
"""The driver for rasterio's wheel: a copy with the name of that wheel's library in it, in the user's cache. Here with a
file in the place of the driver; test_wheel.py has the true one."""
import os
import sys

import pytest

from zarrbridge import _gdal, _places

LIBRARY = "libgdal-0badcafe.so.38.3.12.2"


@pytest.fixture(autouse=True)
def places(tmp_path, monkeypatch):
    """A package with a driver, a cache, and a rasterio with a GDAL of its own."""
    (tmp_path / "lib/gdal").mkdir(parents=True)
    (tmp_path / "lib/zarrbridge").mkdir()
    (tmp_path / "lib/gdal/gdal_Zarr3-3.12.so").write_bytes(b"before\0" + _gdal.PLACEHOLDER + b"\0after")
    (tmp_path / "site/rasterio").mkdir(parents=True)
    (tmp_path / "site/rasterio/__init__.py").touch()
    (tmp_path / "site/rasterio.libs").mkdir()
    (tmp_path / "site/rasterio.libs" / LIBRARY).touch()
    monkeypatch.setattr(_places, "LIB", str(tmp_path / "lib"))
    monkeypatch.setattr(_places, "GDAL_PLUGINS", str(tmp_path / "lib/gdal"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    monkeypatch.delitem(sys.modules, "rasterio", raising=False)
    return tmp_path


def content(folder):
    with open(os.path.join(folder, "gdal_Zarr3.so"), "rb") as file:
        return file.read()


def test_the_name_is_all_that_differs(places):
    name = LIBRARY.encode().ljust(len(_gdal.PLACEHOLDER), b"\0")
    assert content(_gdal.prepare()) == b"before\0" + name + b"\0after"


def test_the_way_to_the_network_library(places):
    """The core looks beside the driver's folder."""
    folder = _gdal.prepare()
    assert os.path.realpath(os.path.join(folder, "../zarrbridge")) == os.path.realpath(places / "lib/zarrbridge")
    assert os.listdir(folder) == ["gdal_Zarr3.so"]


def test_a_copy_is_made_once(places):
    path = os.path.join(_gdal.prepare(), "gdal_Zarr3.so")
    before = os.stat(path)
    assert os.stat(os.path.join(_gdal.prepare(), "gdal_Zarr3.so")).st_ino == before.st_ino


def test_a_damaged_copy_is_replaced(places):
    path = os.path.join(_gdal.prepare(), "gdal_Zarr3.so")
    with open(path, "wb") as file:
        file.write(b"before")
    assert content(_gdal.prepare()).endswith(b"after")


def test_a_cache_that_cannot_be_written(places, monkeypatch):
    (places / "cache").touch()
    folder = _gdal.prepare()
    assert content(folder).endswith(b"after") and not folder.startswith(str(places / "cache"))


def test_a_rasterio_with_another_gdal(places):
    os.rename(places / "site/rasterio.libs" / LIBRARY, places / "site/rasterio.libs/libgdal-0badcafe.so.39.3.13.0")
    assert _gdal.prepare() is None
    with pytest.raises(OSError, match="GDAL 3.13.*for 3.12"):
        _gdal.install(None)


def test_a_rasterio_of_the_system(places):
    """Its GDAL finds its drivers by itself."""
    os.unlink(places / "site/rasterio.libs" / LIBRARY)
    assert _gdal.prepare() is None
    _gdal.install(None)


def test_a_driver_without_the_placeholder(places):
    (places / "lib/gdal/gdal_Zarr3-3.12.so").write_bytes(b"nothing")
    with pytest.raises(OSError, match="cannot be made"):
        _gdal.prepare()
