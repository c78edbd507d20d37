# SPDX-License-Identifier: MIT
"""A node opens by the name of its document, of either version, wherever the store lies."""
import functools
import http.server
import threading
import warnings
import zipfile

import numpy as np
import pytest
import zarr
from osgeo import gdal

from conftest import Errors
from test_vsi import Handler

PLANE = np.arange(20 * 30, dtype="uint8").reshape(20, 30)
# The store's kind (group, array) and version, and names in it that all lead to the plane.
NAMES = {
    ("g", 3): ["", "/zarr.json", "/tas", "/tas/zarr.json"],
    ("a", 3): ["", "/zarr.json"],
    ("g", 2): ["", "/.zgroup", "/.zmetadata", "/tas", "/tas/.zarray"],
    ("a", 2): ["", "/.zarray"],
}


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Stores as directories, archives and on a web server: {kind of place: name with two blanks}."""
    folder = tmp_path_factory.mktemp("stores")
    for kind, version in NAMES:
        path = folder / f"{kind}{version}.zarr"
        if kind == "g":
            zarr.create_group(path, zarr_format=version)
            zarr.create_array(path, name="tas", data=PLANE, compressors=None,
                              zarr_format=version)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of version 3
                zarr.consolidate_metadata(path, zarr_format=version)
        else:
            zarr.create_array(path, data=PLANE, compressors=None, zarr_format=version)
        with zipfile.ZipFile(f"{path}.zip", "w") as archive:
            for file in path.rglob("*"):
                if file.is_file():
                    archive.write(file, file.relative_to(path))
        gdal.CopyFile(f"{path}.zip", f"/vsimem/docs/{path.name}.zip")
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever).start()
    web = f"http://127.0.0.1:{server.server_port}/"
    yield {"directory": f"{folder}/%s.zarr%s", "archive": f"{folder}/%s.zarr.zip%s",
           "in memory": "/vsimem/docs/%s.zarr.zip%s", "vsizip": f"/vsizip/{folder}/%s.zarr.zip%s",
           "web": web + "%s.zarr%s", "vsicurl": "/vsicurl/" + web + "%s.zarr%s",
           "archive on the web": web + "%s.zarr.zip%s"}
    server.shutdown()
    server.server_close()
    gdal.RmdirRecursive("/vsimem/docs")


@pytest.mark.parametrize("store", NAMES, ids=lambda store: "%s%d" % store)
@pytest.mark.parametrize("place", ["directory", "archive", "in memory", "vsizip", "web", "vsicurl",
                                   "archive on the web"])
def test_each_name_opens(places, store, place):
    for inner in NAMES[store]:
        name = places[place] % ("%s%d" % store, inner)
        for form in ("%s", "ZARR3:%s", 'ZARR3:"%s"'):
            dataset = gdal.Open(form % name)
            assert (dataset.ReadAsArray() == PLANE).all(), form % name
            view = gdal.OpenEx(form % name, gdal.OF_MULTIDIM_RASTER)
            assert "tas" in view.GetRootGroup().GetMDArrayNames() or inner or store[0] == "a"


def test_a_document_of_another_kind_is_none_of_ours(tmp_path):
    """What has such a name and no content of Zarr is left to other drivers, in silence."""
    (tmp_path / ".zgroup").write_text("this is no JSON")
    (tmp_path / "notes.zip").mkdir()
    for name in (tmp_path / ".zgroup", tmp_path / "notes.zip/inner", tmp_path / "no.zip/inner"):
        with Errors() as errors:
            assert gdal.OpenEx(str(name), allowed_drivers=["Zarr3"]) is None
        assert not errors.seen
