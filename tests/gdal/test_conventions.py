# SPDX-License-Identifier: MIT
"""The conventions proj:, spatial: and multiscales together, declared and stated where their
published examples have them: on the group of a pyramid whose levels are groups, or above."""
import re

import numpy as np
import pytest
import zarr
from osgeo import gdal, osr

from conftest import edit, opened, put, sub

PROJ = {"uuid": "f17cb550-5864-4468-aeb7-f3180cfb622f"}
SPATIAL = {"uuid": "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4"}
MULTISCALES = {"uuid": "d35379db-88df-4056-af3a-620245f8e347"}
ALL = [MULTISCALES, PROJ, SPATIAL]
FULL = np.arange(120 * 240, dtype="uint16").reshape(120, 240)
SCALES = {"r10m": 1, "r20m": 2, "r60m": 6}
BOX = [500000.0, 4998800.0, 502400.0, 5000000.0]


def transform(scale):
    return [10.0 * scale, 0.0, 500000.0, 0.0, -10.0 * scale, 5000000.0]


def geotransform(scale):
    return (500000, 10 * scale, 0, 5000000, 0, -10 * scale)


def layout(entry):
    """The levels as the examples list them; entry(scale) gives the members that tell a level's
    place."""
    first, *others = SCALES
    levels = [{"asset": first, "transform": {"scale": [1.0, 1.0]}, **entry(1)}]
    for name in others:
        levels.append({"asset": name, "derived_from": first,
                       "transform": {"scale": [float(SCALES[name])] * 2, "translation": [0.0, 0.0]},
                       **entry(SCALES[name])})
    return {"layout": levels}


def by_entries(scale):
    shape = FULL[::scale, ::scale].shape
    return {"spatial:shape": list(shape), "spatial:transform": transform(scale)}


def pyramid(root, entry=by_entries, dims=("Y", "X"), arrays=("b02", "b03"), attributes=None):
    root.update_attributes({
        "zarr_conventions": ALL, "multiscales": layout(entry), "proj:code": "EPSG:32633",
        "spatial:dimensions": ["Y", "X"], "spatial:bbox": BOX, **(attributes or {})})
    for name, scale in SCALES.items():
        level = root.create_group(name)
        for number, array in enumerate(arrays):
            put(level, array, FULL[::scale, ::scale] + number, dims=dims)


def code(dataset):
    srs = dataset.GetSpatialRef()
    return srs.GetAuthorityCode(None) if srs else None


def place(dataset):
    return code(dataset), dataset.GetGeoTransform(can_return_null=True)


FORMS = {
    "an entry for each level": (by_entries, None),
    "entries without shapes": (lambda scale: {"spatial:transform": transform(scale)}, None),
    "the group's box": (lambda scale: {}, None),
    "the group's transform and box": (lambda scale: {}, {"spatial:transform": transform(1)}),
}


@pytest.mark.parametrize("dims", [("Y", "X"), ("y", "x"), None], ids=str)
@pytest.mark.parametrize("form", FORMS)
def test_levels_that_are_groups(store, form, dims):
    path, root = store
    entry, attributes = FORMS[form]
    pyramid(root, entry, dims, attributes=attributes)
    for name, scale in SCALES.items():
        for address in (sub(path, name + "/b02"), path + "/" + name + "/b03"):
            assert place(opened(address)) == ("32633", geotransform(scale)), (name, address)
    dataset = opened(sub(path, "r10m/b02"))
    assert (dataset.GetRasterBand(1).GetOverview(0).ReadAsArray() == FULL[::2, ::2]).all()


def test_a_pyramid_of_one_array_in_each_level_opens_by_its_group(store):
    path, root = store
    pyramid(root, arrays=("data",))
    dataset = opened(path)
    assert place(dataset) == ("32633", geotransform(1))
    assert dataset.GetRasterBand(1).GetOverviewCount() == 2


def test_levels_that_are_arrays_inside_groups(store):
    path, root = store
    pyramid(root, arrays=("data",))
    levels = [{**entry, "asset": entry["asset"] + "/data"}
              for entry in layout(by_entries)["layout"]]
    root.update_attributes({"multiscales": {"layout": levels}})
    dataset = opened(path)
    assert place(dataset) == ("32633", geotransform(1))
    assert place(opened(sub(path, "r60m/data"))) == ("32633", geotransform(6))


def test_a_pyramid_below_the_root_and_levels_further_down(store):
    path, root = store
    middle = root.create_group("measurements").create_group("reflectance")
    pyramid(middle.create_group("levels"), arrays=("data",))
    levels = [{**entry, "asset": "levels/" + entry["asset"]}
              for entry in layout(by_entries)["layout"]]
    middle.update_attributes({**middle["levels"].attrs, "multiscales": {"layout": levels}})
    edit(path + "/measurements/reflectance/levels", lambda document: document.pop("attributes"))
    name = "measurements/reflectance/levels/r20m/data"
    assert place(opened(sub(path, name))) == ("32633", geotransform(2))


def test_nodes_of_levels(store):
    """Registration is said once, on the group, for all entries; or by an entry."""
    path, root = store
    pyramid(root, attributes={"spatial:registration": "node"})
    for scale, name in ((1, "r10m"), (6, "r60m")):
        step = 10 * scale
        expected = (500000 - step / 2, step, 0, 5000000 + step / 2, 0, -step)
        level = opened(sub(path, name + "/b02"))
        assert level.GetGeoTransform() == expected
        assert level.GetMetadataItem("AREA_OR_POINT") == "Point"
    pyramid_entries = layout(lambda scale: {**by_entries(scale), "spatial:registration": "pixel"})
    root.update_attributes({"multiscales": pyramid_entries})
    assert opened(sub(path, "r60m/b02")).GetGeoTransform() == geotransform(6)


def test_a_level_overrides_its_pyramid(store):
    path, root = store
    pyramid(root, lambda scale: {})
    root["r20m"].update_attributes({
        "zarr_conventions": [PROJ, SPATIAL], "proj:code": "EPSG:32725",
        "spatial:transform": [20.0, 0.0, 7.0, 0.0, -20.0, 9.0]})
    assert place(opened(sub(path, "r20m/b02"))) == ("32725", (7, 20, 0, 9, 0, -20))
    assert place(opened(sub(path, "r10m/b02"))) == ("32633", geotransform(1))


def test_dimensions_of_the_pyramid_choose_the_axes(store):
    path, root = store
    pyramid(root, lambda scale: {}, dims=("b", "a"), attributes={"spatial:dimensions": ["a", "b"]})
    dataset = opened(sub(path, "r20m/b02"))
    assert (dataset.ReadAsArray() == FULL[::2, ::2].T).all()


def test_arrays_beside_a_pyramid_have_no_share_in_it(store):
    path, root = store
    pyramid(root)
    put(root.create_group("quality"), "mask", FULL, dims=("Y", "X"))
    assert place(opened(sub(path, "quality/mask"))) == (None, None)


@pytest.mark.parametrize("dims", [("time", "station"), ("X", "corner"), ("X", "Y2")], ids=str)
def test_arrays_without_the_groups_dimensions_are_no_map(store, dims):
    """Bounds of coordinates, tables: they are two-dimensional and lie in the same group."""
    path, root = store
    pyramid(root)
    root.update_attributes({"spatial:transform": transform(1)})
    put(root, "other", np.zeros((5, 2)), dims=dims)
    put(root["r10m"], "other", np.zeros((5, 2)), dims=dims)
    assert place(opened(sub(path, "other"))) == ("32633", None)
    assert place(opened(sub(path, "r10m/other"))) == ("32633", None)


def test_declared_once_at_the_root(store):
    """The places of an array and of a group have the meaning that the root declares."""
    path, root = store
    root.update_attributes({"zarr_conventions": ALL})
    said = {"proj:code": "EPSG:32633", "spatial:dimensions": ["Y", "X"],
            "spatial:transform": transform(1)}
    put(root.create_group("a").create_group("b"), "t", FULL, said, dims=("Y", "X"))
    assert place(opened(sub(path, "a/b/t"))) == ("32633", geotransform(1))
    assert place(opened(path + "/a/b/t")) == ("32633", geotransform(1))
    put(root.create_group("g", attributes=said), "t", FULL, dims=("Y", "X"))
    assert place(opened(sub(path, "g/t"))) == ("32633", geotransform(1))
    level = root.create_group("p")
    pyramid(level)
    edit(path + "/p", lambda document: document["attributes"].pop("zarr_conventions"))
    dataset = opened(sub(path, "p/r20m/b02"))
    assert place(dataset) == ("32633", geotransform(2))
    assert dataset.GetRasterBand(1).GetOverviewCount() == 1
    assert [name for name, _ in opened(path + "/p").GetSubDatasets()] == [
        sub(path + "/p", "r10m/b02"), sub(path + "/p", "r10m/b03")]


def test_a_declaration_reaches_down_not_sideways(store):
    path, root = store
    root.create_group("a").update_attributes({"zarr_conventions": ALL})
    put(root.create_group("b"), "t", FULL, {"proj:code": "EPSG:32633",
                                            "spatial:transform": transform(1)})
    assert place(opened(sub(path, "b/t"))) == (None, None)


def test_values_are_inherited_by_children_only(store):
    path, root = store
    root.update_attributes({"zarr_conventions": ALL, "proj:code": "EPSG:32633",
                            "spatial:transform": transform(1)})
    put(root.create_group("g"), "t", FULL)
    assert place(opened(sub(path, "g/t"))) == (None, None)


@pytest.mark.parametrize("crs, code", [("EPSG:32633", "EPSG:32633"), ("OGC:CRS84", None),
                                       ("IGNF:LAMB93", None), ("ESRI:54009", "ESRI:54009")])
def test_what_is_written_fulfils_the_conventions(tmp_path, crs, code):
    """Their schemas: https://github.com/zarr-conventions/spatial and zarr-experimental/geo-proj."""
    srs = osr.SpatialReference()
    srs.SetFromUserInput(crs)
    raster = gdal.GetDriverByName("MEM").Create("", 30, 20, 2, gdal.GDT_Byte)
    raster.SetSpatialRef(srs)
    raster.SetGeoTransform((5, 0.5, 0, 50, 0, -0.25))
    path = str(tmp_path / "r.zarr")
    gdal.GetDriverByName("Zarr3").CreateCopy(path, raster).Close()
    found = dict(zarr.open_array(path + "/r", mode="r").attrs)
    declared = {entry["uuid"]: set(entry) for entry in found["zarr_conventions"]}
    assert set(declared) == {PROJ["uuid"], SPATIAL["uuid"]}
    for members in declared.values():
        assert members == {"uuid", "schema_url", "spec_url", "name", "description"}
    assert found.get("proj:code") == code and found["proj:wkt2"]
    assert code is None or re.fullmatch("[A-Z]+:[0-9]+", code)
    assert found["spatial:dimensions"] == ["y", "x"] and found["spatial:shape"] == [20, 30]
    assert found["spatial:transform"] == [0.5, 0, 5, 0, -0.25, 50]
    assert found["spatial:bbox"] == [5, 45, 20, 50]
    assert opened(path).GetSpatialRef().IsSame(srs)
