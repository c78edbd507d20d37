# SPDX-License-Identifier: MIT
"""OME-NGFF: levels of all its versions are overviews, and scale and translation are the place where one asks for it."""
import json
import os

import numpy as np
import pytest
import zarr

from conftest import opened, run, sub

FULL = np.add.outer(np.arange(64), np.arange(48)).astype("uint16")
LEVELS = [FULL, FULL[::2, ::2], FULL[::4, ::4]]
AXES = [{"name": "c", "type": "channel"}, {"name": "y", "type": "space", "unit": "micrometer"},
        {"name": "x", "type": "space", "unit": "micrometer"}]
# y, x of the centre of the first pixel, and from each pixel to the next
STEP, FIRST = (0.5, 0.25), (7.0, 3.0)
PLACES = [(3 - 0.125 * f, 0.25 * f, 0, 7 - 0.25 * f, 0, 0.5 * f) for f in (1, 2, 4)]


def transformations(factor, version):
    scale = {"type": "scale", "scale": [1.0, STEP[0] * factor, STEP[1] * factor]}
    move = {"type": "translation", "translation": [0.0, *FIRST]}
    if version != "0.6":
        return [scale, move]
    return [{"type": "sequence", "input": "s", "output": "physical", "transformations": [scale, move]}]


def image(version, shared=None):
    axes = {"axes": AXES}
    if version == "0.6":
        axes = {"coordinateSystems": [{"name": "other", "axes": AXES[::-1]}, {"name": "physical", "axes": AXES}]}
    found = {"name": "image", **axes, "datasets": [
        {"path": str(i), "coordinateTransformations": transformations(2**i, version)} for i in range(3)]}
    if version == "0.4":
        found["version"] = version
    if shared:
        found["coordinateTransformations"] = shared
    return found


def microscope(path, version, **more):
    format = 2 if version == "0.4" else 3
    root = zarr.create_group(path, zarr_format=format)
    for i, level in enumerate(LEVELS):
        array = root.create_array(str(i), shape=(2, *level.shape), dtype="uint16", chunks=(1, 16, 16),
                                  dimension_names=None if format == 2 else ("c", "y", "x"),
                                  attributes={"_ARRAY_DIMENSIONS": ["c", "y", "x"]} if format == 2 else {})
        array[...] = np.stack([level, level + 1])
    content = {"multiscales": [image(version, **more)], "omero": {"channels": [{"label": "DAPI"}, {"label": "GFP"}]}}
    if version == "0.4":
        content["omero"]["version"] = version
        root.update_attributes({**content, "mine": 1})
    else:
        root.update_attributes({"ome": {"version": version, **content}, "mine": 1})


@pytest.mark.parametrize("version", ["0.4", "0.5", "0.6"])
def test_levels_and_place(tmp_path, version):
    path = str(tmp_path / "x.zarr")
    microscope(path, version)
    dataset = opened("ZARR3:" + path)
    band = dataset.GetRasterBand(2)
    assert (dataset.RasterXSize, dataset.RasterYSize, dataset.RasterCount) == (48, 64, 2)
    assert [(band.GetOverview(i).ReadAsArray() == LEVELS[i + 1] + 1).all() for i in range(band.GetOverviewCount())] \
        == [True, True]
    assert band.GetDescription().endswith("GFP")
    assert dataset.GetGeoTransform(can_return_null=True) is None
    assert opened("ZARR3:" + path, OME_PLACE="YES").GetGeoTransform() == PLACES[0]
    for i, place in enumerate(PLACES):
        assert opened(sub(path, str(i)), OME_PLACE="YES").GetGeoTransform() == place


def test_transformations_of_the_image_are_applied_after_those_of_the_level(tmp_path):
    path = str(tmp_path / "x.zarr")
    microscope(path, "0.5", shared=[{"type": "scale", "scale": [1, 10, 100]}])
    assert opened(path, OME_PLACE="YES").GetGeoTransform() == (287.5, 25, 0, 67.5, 0, 5)


@pytest.mark.parametrize("spoil", [
    {"type": "rotation", "rotation": [[1, 0], [0, 1]]}, {"type": "scale", "scale": [1, 2]},
    {"type": "scale", "scale": [1, 0, 2]}, {"type": "scale", "path": "file"}, {"scale": [1, 1, 1]}, 5], ids=str)
def test_other_transformations_give_no_place(tmp_path, spoil):
    path = str(tmp_path / "x.zarr")
    microscope(path, "0.5", shared=[spoil])
    assert opened(path, OME_PLACE="YES").GetGeoTransform(can_return_null=True) is None


def test_the_option_is_no_place_for_others(store):
    path, root = store
    root.create_array("t", shape=(4, 5), dtype="u1", dimension_names=("y", "x"))
    assert opened(path, OME_PLACE="YES").GetGeoTransform(can_return_null=True) is None


def test_a_copy_of_an_early_image_is_one_of_today(tmp_path):
    """0.4 is of version 2 of Zarr; what the copy says of itself must be of version 3, too."""
    early, today = str(tmp_path / "a.zarr"), str(tmp_path / "b.zarr")
    microscope(early, "0.4")
    run(os.environ["ZARRBRIDGE_PROGRAM"], "copy", early, today)
    attributes = json.load(open(today + "/zarr.json"))["attributes"]
    expected = image("0.5")
    assert attributes == {"ome": {"version": "0.5", "multiscales": [expected],
                                  "omero": {"channels": [{"label": "DAPI"}, {"label": "GFP"}]}}, "mine": 1}
    assert opened(today, OME_PLACE="YES").GetGeoTransform() == PLACES[0]
    assert opened(today).GetRasterBand(1).GetOverviewCount() == 2
