# SPDX-License-Identifier: MIT
"""The driver for rasterio's wheel: a copy with the name of that wheel's library in it, in the user's cache. Here with a
file in the place of the driver; test_wheel.py has the true one."""
import os
import sys
import tempfile

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
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
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
    assert sorted(os.listdir(os.path.dirname(os.path.dirname(path)))) == ["gdal", "zarrbridge"]


def test_another_content_has_a_folder_of_its_own(places):
    """Two environments with one version of the package and different builds do not take turns at one file."""
    first = _gdal.prepare()
    (places / "lib/gdal/gdal_Zarr3-3.12.so").write_bytes(b"newer\0" + _gdal.PLACEHOLDER + b"\0after")
    assert content(_gdal.prepare()).startswith(b"newer") and content(first).startswith(b"before")


def test_a_damaged_copy_is_replaced(places):
    path = os.path.join(_gdal.prepare(), "gdal_Zarr3.so")
    with open(path, "wb") as file:
        file.write(b"before")
    assert content(_gdal.prepare()).endswith(b"after")


def others_may_write(cache):
    (cache / "zarrbridge").mkdir(parents=True)
    (cache / "zarrbridge").chmod(0o777)


def is_anothers(cache):
    (cache / "zarrbridge").mkdir(parents=True)
    os.chown(cache / "zarrbridge", 4242, 4242)


def is_a_link(cache):
    (cache / "elsewhere").mkdir(parents=True)
    (cache / "zarrbridge").symlink_to("elsewhere")


@pytest.mark.parametrize("make", [lambda cache: cache.touch(), others_may_write, is_anothers, is_a_link])
def test_a_cache_that_cannot_be_used(places, make):
    """One folder of the user's among the temporary files then, not a new one each time."""
    if make is is_anothers and os.geteuid():
        pytest.skip("root alone gives folders away")
    make(places / "cache")
    folder = _gdal.prepare()
    assert content(folder).endswith(b"after") and _gdal.prepare() == folder
    own, = (places / "temporary").iterdir()
    assert own.name == f"zarrbridge-{os.geteuid()}" and own.stat().st_mode & 0o777 == 0o700


def test_no_folder_can_be_used(places):
    """Others can make that name among the temporary files: it is refused, too."""
    others_may_write(places / "cache")
    (places / "temporary" / f"zarrbridge-{os.geteuid()}").symlink_to(places / "cache")
    with pytest.raises(OSError, match="XDG_CACHE_HOME"):
        _gdal.prepare()


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
