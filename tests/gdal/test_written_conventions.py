# SPDX-License-Identifier: MIT
"""Other programs accept the conventions that are written: the validators of zarr-cm, rioxarray and odc-geo."""
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from osgeo import gdal

from conftest import DATA, FIND_PROJ, put, run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "interop"))
from venvs import venv  # noqa: E402

LANDSAT, ELEVATION = DATA / "L7_ETMs.tif", DATA / "olinda_dem_utm25s.tif"
PACKAGES = ("zarr-cm==0.5.0", "rioxarray==0.23.0", "odc-geo==0.5.3", "dask==2026.8.0")

# Each convention that a node declares, by the validator of exactly the revision that it names.
VALIDATE = r"""
import json, sys, pathlib
import zarr_cm
from zarr_cm import multiscales, proj, spatial
modules = {m.UUID: m for m in (proj, spatial, multiscales)}
seen = {}
for store in sys.argv[1:]:
    for document in pathlib.Path(store).rglob("zarr.json"):
        node = json.loads(document.read_text())
        node.pop("consolidated_metadata", None)
        for entry in node.get("attributes", {}).get("zarr_conventions", []):
            module = modules[entry["uuid"]]
            assert entry == module.CMO, (document, entry)
            module.validate_node_metadata(node)
            seen[entry["name"]] = seen.get(entry["name"], 0) + 1
        zarr_cm.validate_all(node.get("attributes", {}))
print(json.dumps(seen))
"""


@pytest.fixture(scope="module")
def python():
    return venv("places", *PACKAGES, system=True)


def in_python(python, program, *arguments):
    # Its rasterio needs no plugin: ours may want a sanitizer's runtime.
    return run(python, "-c", program, *arguments, GDAL_DRIVER_PATH="disable", LD_PRELOAD="").strip()


def copied(tmp_path):
    run("gdal_translate", "-q", "-of", "Zarr3", LANDSAT, tmp_path / "a.zarr")


def rotated(tmp_path):
    run("gdal_translate", "-q", "-of", "Zarr3", "-a_gt", "500", "10", "1", "9000", "2", "-20", LANDSAT,
        tmp_path / "a.zarr")


def created(tmp_path):
    dataset = gdal.GetDriverByName("Zarr3").Create(str(tmp_path / "a.zarr"), 30, 20, 2)
    dataset.SetGeoTransform((5, 0.5, 0, 50, 0, -0.25))
    dataset.SetProjection("EPSG:4326")
    dataset.Close()


def levels(tmp_path):
    run("gdal_translate", "-q", "-of", "Zarr3", ELEVATION, tmp_path / "a.zarr")
    run("gdaladdo", "-q", tmp_path / "a.zarr", "2", "4")


def groups_of_levels(tmp_path):
    run("gdal_translate", "-q", "-of", "Zarr3", "-co", "OVERVIEW_LAYOUT=GROUPS", ELEVATION, tmp_path / "a.zarr")
    run("gdaladdo", "-q", tmp_path / "a.zarr", "2", "4")


def multidimensional(tmp_path):
    run("gdalmdimtranslate", "-q", ELEVATION, tmp_path / "a.zarr")


def edited(tmp_path):
    """A store that an older release of this driver has written, with addresses of no revision."""
    copied(tmp_path)
    for path in (tmp_path / "a.zarr").rglob("zarr.json"):
        path.write_text(path.read_text().replace("zarr-conventions/proj/refs/tags/v0.1", "zarr-experimental/geo-proj/v1"))
    dataset = gdal.OpenEx(str(tmp_path / "a.zarr"), gdal.OF_UPDATE)
    dataset.SetProjection("EPSG:32725")
    dataset.Close()


@pytest.mark.parametrize("make", [copied, rotated, created, levels, groups_of_levels, multidimensional, edited],
                         ids=lambda f: f.__name__)
def test_validators_accept_all_that_is_written(tmp_path, python, make):
    make(tmp_path)
    seen = json.loads(in_python(python, VALIDATE, tmp_path / "a.zarr"))
    assert seen["proj"] >= 1 and seen["spatial"] >= 1
    assert ("multiscales" in seen) == (make in (levels, groups_of_levels))


READ = FIND_PROJ + r"""
import sys, warnings
import rasterio, rioxarray, xarray, odc.geo.xr
for source, path, name in zip(sys.argv[1::3], sys.argv[2::3], sys.argv[3::3]):
    with rasterio.open(source) as s:
        data = xarray.open_zarr(path, consolidated=False, decode_coords="all")[name]
        assert data.rio.crs == s.crs, data.rio.crs
        assert data.rio.transform() == s.transform, data.rio.transform()
        if s.transform.is_rectilinear:
            box = data.odc.geobox
            assert box.crs == s.crs and box.shape == s.shape, box
            assert box.transform.almost_equals(s.transform, 1e-6), box.transform
print("ok")
"""


def test_rioxarray_and_odc_geo_put_it_where_it_lies(tmp_path, python):
    run("gdal_translate", "-q", "-a_gt", "500", "10", "1", "9000", "2", "-20", LANDSAT, tmp_path / "rot.tif")
    arguments = []
    for name, file in (("l7", LANDSAT), ("dem", ELEVATION), ("rot", tmp_path / "rot.tif")):
        path = tmp_path / (name + ".zarr")
        run("gdal_translate", "-q", "-of", "Zarr3", file, path)
        arguments += [file, path, name]
    assert in_python(python, READ, *arguments) == "ok"


ROTATED_BOX = r"""
import sys, numpy, xarray, odc.geo.xr
from affine import Affine
from odc.geo.geobox import GeoBox
box = GeoBox((60, 80), Affine.translation(5e5, 9e6) * Affine.rotation(20) * Affine.scale(30, -30), "EPSG:32725")
data = odc.geo.xr.wrap_xr(numpy.zeros(box.shape, "f4"), box)
data.to_dataset(name="t").to_zarr(sys.argv[1], zarr_format=3, consolidated=False)
print(*box.transform.to_gdal())
"""


def test_a_rotated_raster_of_odc_geo_has_the_place_of_its_mapping(tmp_path, python):
    """Its coordinates count pixels: 0.5, 1.5 ..."""
    path = str(tmp_path / "x.zarr")
    expected = [float(word) for word in in_python(python, ROTATED_BOX, path).split()]
    assert gdal.Open(path).GetGeoTransform() == pytest.approx(expected)


BY_CONVENTION = r"""
import sys, numpy, rioxarray, xarray
from affine import Affine
from rioxarray.enum import Convention
data = xarray.DataArray(numpy.zeros((60, 80), "f4"), dims=("y", "x"), name="t")
data = data.rio.write_crs("EPSG:32725", convention=Convention.ZARR)
data = data.rio.write_transform(Affine(30, 0, 5e5, 0, -30, 9e6), convention=Convention.ZARR)
data.to_dataset().to_zarr(sys.argv[1], zarr_format=3, consolidated=False)
"""


def test_conventions_of_rioxarray_are_read_by_their_uuid(tmp_path, python):
    """It calls them `proj:` and `spatial:`."""
    in_python(python, BY_CONVENTION, tmp_path / "x.zarr")
    attributes = json.loads((tmp_path / "x.zarr" / "t" / "zarr.json").read_text())["attributes"]
    assert {entry["name"] for entry in attributes["zarr_conventions"]} == {"proj:", "spatial:"}
    dataset = gdal.Open(str(tmp_path / "x.zarr"))
    assert dataset.GetGeoTransform() == (5e5, 30, 0, 9e6, 0, -30)
    assert dataset.GetSpatialRef().GetAuthorityCode(None) == "32725"
