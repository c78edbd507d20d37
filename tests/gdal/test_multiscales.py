# SPDX-License-Identifier: MIT
"""Pyramids of both conventions as overviews."""
import numpy as np
import pytest
from osgeo import gdal

from conftest import opened, put, run, sub

UUID = "d35379db-88df-4056-af3a-620245f8e347"
SPATIAL = "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4"
FULL = np.arange(64 * 96, dtype="uint16").reshape(64, 96)
LEVELS = [FULL, FULL[::2, ::2] + 10000, FULL[::4, ::4] + 20000]


def convention(layout, **more):
    return {"zarr_conventions": [{"uuid": UUID}, {"uuid": SPATIAL}],
            "multiscales": {"layout": layout}, **more}


def check(dataset):
    """Three levels, each with its own pixels, used when a smaller picture is asked for."""
    assert (dataset.ReadAsArray() == FULL).all()
    band = dataset.GetRasterBand(1)
    sizes = [(band.GetOverview(i).XSize, band.GetOverview(i).YSize)
             for i in range(band.GetOverviewCount())]
    assert sizes == [(48, 32), (24, 16)]
    for level in (1, 2):
        assert (band.GetOverview(level - 1).ReadAsArray() == LEVELS[level]).all()
        size = LEVELS[level].shape
        shown = band.ReadAsArray(buf_xsize=size[1], buf_ysize=size[0])
        assert (shown == LEVELS[level]).all()


def test_convention_with_array_assets(store):
    path, root = store
    for i, level in enumerate(LEVELS):
        put(root, str(i), level, chunks=(16, 16))
    root.update_attributes(convention([{"asset": "0"}, {"asset": "1", "derived_from": "0"},
                                       {"asset": "2", "derived_from": "1"}]))
    for name in (path, path + "/0", sub(path, "0")):
        check(opened(name))
    coarse = opened(sub(path, "1"))
    assert (coarse.ReadAsArray() == LEVELS[1]).all()
    assert coarse.GetRasterBand(1).GetOverviewCount() == 1


def test_convention_with_group_assets(store):
    path, root = store
    for i, level in enumerate(LEVELS):
        group = root.create_group("r%d" % i)
        put(group, "b1", level)
        put(group, "b2", level + 1)
    root.update_attributes(convention([{"asset": "r0"}, {"asset": "r1"}, {"asset": "r2"}]))
    dataset = opened(path)
    assert [name for name, _ in dataset.GetSubDatasets()] == [sub(path, "r0/b1"),
                                                              sub(path, "r0/b2")]
    check(opened(sub(path, "r0/b1")))


@pytest.mark.parametrize("names", [("r10m", "r20m", "r60m"), ("z", "m", "a")])
def test_variables_that_begin_at_a_coarser_level_are_listed(store, names):
    """Bands of Sentinel-2 have resolutions of 10, 20 and 60 m."""
    path, root = store
    groups = [root.create_group(name) for name in names]
    for level, bands in enumerate([["b02"], ["b02", "b05"], ["b01", "b02", "b05"]]):
        for band in bands:
            put(groups[level], band, LEVELS[level], dims=("y", "x"))
        put(groups[level], "x", np.arange(float(LEVELS[level].shape[1])), dims=("x",))
    root.update_attributes(convention([{"asset": name} for name in names]))
    fine, middle, coarse = names
    for options in {}, {"LIST_ALL_ARRAYS": "YES"}:
        listed = {name for name, _ in opened(path, **options).GetSubDatasets()}
        expected = {sub(path, fine + "/b02"), sub(path, middle + "/b05"), sub(path, coarse + "/b01")}
        assert listed == expected | ({sub(path, fine + "/x")} if options else set())
    check(opened(sub(path, fine + "/b02")))
    dataset = opened(sub(path, middle + "/b05"))
    assert dataset.GetRasterBand(1).GetOverviewCount() == 1
    assert (dataset.GetRasterBand(1).GetOverview(0).ReadAsArray() == LEVELS[2]).all()
    assert opened(sub(path, coarse + "/b01")).GetRasterBand(1).GetOverviewCount() == 0


def test_convention_needs_its_uuid(store):
    path, root = store
    for i, level in enumerate(LEVELS):
        put(root, str(i), level)
    root.update_attributes({"multiscales": {"layout": [{"asset": "0"}, {"asset": "1"}]}})
    assert len(opened(path).GetSubDatasets()) == 3


def test_each_level_has_its_own_transform(store):
    path, root = store
    layout = []
    for i, level in enumerate(LEVELS):
        put(root, str(i), level, dims=("y", "x"))
        size = 10.0 * 2**i
        layout.append({"asset": str(i), "spatial:transform": [size, 0, 500, 0, -size, 900]})
    root.update_attributes(convention(layout))
    for i in range(3):
        assert opened(sub(path, str(i))).GetGeoTransform() == (500, 10 * 2**i, 0, 900, 0,
                                                               -10 * 2**i)


def test_levels_derive_their_transform_from_the_box_of_the_group(store):
    path, root = store
    for i, level in enumerate(LEVELS):
        put(root, str(i), level)
    root.update_attributes(convention(
        [{"asset": str(i)} for i in range(3)],
        **{"spatial:transform": [10, 0, 500, 0, -10, 900], "spatial:bbox": [500, 260, 1460, 900]}))
    for i in range(3):
        assert opened(sub(path, str(i))).GetGeoTransform() == (500, 10 * 2**i, 0, 900, 0,
                                                               -10 * 2**i)


def test_groups_of_levels_keep_their_own_transform(store):
    path, root = store
    for i, level in enumerate(LEVELS):
        group = root.create_group("r%d" % i, attributes={
            "zarr_conventions": [{"uuid": SPATIAL}],
            "spatial:transform": [10.0 * 2**i, 0, 500, 0, -10.0 * 2**i, 900]})
        put(group, "b", level)
    root.update_attributes(convention([{"asset": "r%d" % i} for i in range(3)]))
    for i in range(3):
        assert opened(sub(path, "r%d/b" % i)).GetGeoTransform()[1] == 10 * 2**i


def test_families_of_one_list_are_pyramids_of_their_own(store):
    path, root = store
    for i, level in enumerate(LEVELS[:2]):
        for name in "ab":
            put(root, name + str(i), level, chunks=(16, 16))
    put(root, "c", FULL)
    root.update_attributes(convention([
        {"asset": "a0"}, {"asset": "b0"}, {"asset": "a1", "derived_from": "a0"},
        {"asset": "b1", "derived_from": "b0"}]))
    listed = [name for name, _ in opened(path).GetSubDatasets()]
    assert listed == [sub(path, name) for name in ("a0", "b0", "c")]
    for name in "ab":
        dataset = opened(sub(path, name + "0"))
        assert dataset.GetRasterBand(1).GetOverviewCount() == 1
        assert (dataset.GetRasterBand(1).GetOverview(0).ReadAsArray() == LEVELS[1]).all()
    assert opened(sub(path, "c")).GetRasterBand(1).GetOverviewCount() == 0


def test_entries_that_say_they_are_the_finest_are_of_pyramids_of_their_own(store):
    """The one of them has no coarser level yet. Without that word the list is one pyramid."""
    path, group = store
    for name, size in (("a", 16), ("b", 32), ("b2", 16)):
        put(group, name, np.zeros((size, size), "u1"), dims=("y", "x"))
    fine = {"transform": {"scale": [1, 1]}}
    entries = [{"asset": "b2", "derived_from": "b", "transform": {"scale": [2, 2]}}]
    group.attrs.update(convention([{"asset": "a", **fine}, {"asset": "b", **fine}, *entries]))
    assert [name for name, _ in opened(path).GetSubDatasets()] == [sub(path, "a"), sub(path, "b")]
    assert opened(sub(path, "a")).GetRasterBand(1).GetOverviewCount() == 0
    assert opened(sub(path, "b")).GetRasterBand(1).GetOverviewCount() == 1
    group.attrs.update(convention([{"asset": "b"}, {"asset": "a", **fine}, *entries]))
    assert opened(path).GetRasterBand(1).GetOverviewCount() == 2


@pytest.mark.parametrize("sources", [["0", "1", "2"], ["1", "2", "0"], [None, "2", "1"],
                                     ["9", 5, ""]], ids=str)
def test_links_that_lead_nowhere_or_round(store, sources):
    path, root = store
    for i, level in enumerate(LEVELS):
        put(root, str(i), level, chunks=(16, 16))
    root.update_attributes(convention([{"asset": str(i), "derived_from": source}
                                       for i, source in enumerate(sources)]))
    check(opened(sub(path, "0")))


def ome(root, levels, axes, **more):
    root.update_attributes({"ome": {"version": "0.5", **more, "multiscales": [{
        "axes": [{"name": name, "type": "space"} for name in axes],
        "datasets": [{"path": "s%d" % i, "coordinateTransformations": [
            {"type": "scale", "scale": [2.0**i] * len(axes)}]} for i in range(len(levels))]}]}})
    for i, level in enumerate(levels):
        put(root, "s%d" % i, level, chunks=(1,) * (level.ndim - 2) + (16, 16))


def test_ome(store):
    path, root = store
    ome(root, LEVELS, "yx")
    check(opened(path))
    check(opened(path + "/s0"))


def test_ome_channels_are_labelled_bands(store):
    path, root = store
    ome(root, [np.stack([level, level + 1])[None] for level in LEVELS], "tcyx",
        omero={"channels": [{"label": "DAPI"}, {"label": "GFP"}]})
    dataset = opened(path)
    assert dataset.RasterCount == 2
    assert dataset.GetRasterBand(2).GetOverviewCount() == 2
    assert (dataset.GetRasterBand(2).GetOverview(0).ReadAsArray() == LEVELS[1] + 1).all()


def test_ome_channel_labels_by_dimension_name(store):
    path, root = store
    root.update_attributes({"ome": {"version": "0.5", "omero": {
        "channels": [{"label": "DAPI"}, {"label": "GFP"}]}, "multiscales": [
            {"axes": [{"name": n} for n in "cyx"], "datasets": [{"path": "0"}]}]}})
    put(root, "0", np.zeros((2, 4, 4), "u1"), dims=("c", "y", "x"))
    dataset = opened(path)
    assert [dataset.GetRasterBand(i).GetDescription() for i in (1, 2)] == ["c=DAPI", "c=GFP"]


@pytest.mark.parametrize("spoil", ["type", "bands", "missing", "size"])
def test_levels_that_do_not_fit_are_left_out(store, spoil):
    path, root = store
    levels = [np.stack([level] * 2) for level in LEVELS]
    if spoil == "type":
        levels[1] = levels[1].astype("int32")
    if spoil == "bands":
        levels[1] = levels[1][:1]
    if spoil == "size":
        levels[1] = levels[0]
    ome(root, levels, "zyx")
    if spoil == "missing":
        del root["s1"]
    dataset = opened(path)
    band = dataset.GetRasterBand(1)
    assert band.GetOverviewCount() == 1 and band.GetOverview(0).XSize == 24


def test_external_overviews_stay_outside(store):
    """gdaladdo -ro, for arrays without a pyramid: one file beside the store for each array."""
    import os
    path, root = store
    put(root.create_group("g"), "a", FULL, chunks=(16, 16))
    put(root, "b", FULL + 1)
    before = sorted(os.walk(path))
    for name in (sub(path, "g/a"), sub(path, "b")):
        run("gdaladdo", "-q", "-ro", name, "2", "4")
    assert sorted(os.walk(path)) == before
    assert os.path.exists(path + ".g.a.ovr") and os.path.exists(path + ".b.ovr")
    for name, expected in ((sub(path, "g/a"), FULL), (path + "/b", FULL + 1)):
        dataset = opened(name)
        assert dataset.GetRasterBand(1).GetOverviewCount() == 2
        overview = dataset.GetRasterBand(1).GetOverview(1)
        assert (overview.XSize, overview.YSize) == (24, 16)
        assert abs(float(overview.ReadAsArray().mean()) - expected.mean()) < 200


def test_gdalinfo_and_translate_use_them(store, tmp_path):
    path, root = store
    ome(root, LEVELS, "yx")
    assert "Overviews: 48x32, 24x16" in run("gdalinfo", path)
    out = str(tmp_path / "small.tif")
    run("gdal_translate", "-q", "-outsize", "25%", "25%", path, out)
    assert (gdal.Open(out).ReadAsArray() == LEVELS[2]).all()


def ndpyramid(root, order, method="pyramid_coarsen", **more):
    """As the program writes it: a group for each level, each with coordinates of its own."""
    for place, level in enumerate(order):
        group = root.create_group(str(place))
        rows, columns = LEVELS[level].shape
        put(group, "t", LEVELS[level], dims=("y", "x"), chunks=(16, 16))
        put(group, "x", (np.arange(columns) + 0.5) * 2.0**level, dims=("x",))
        put(group, "y", (np.arange(rows) + 0.5) * -(2.0**level), dims=("y",))
    root.update_attributes({"multiscales": [{
        "datasets": [{"path": str(i), "pixels_per_tile": 16} for i in range(len(order))],
        "type": "reduce", "metadata": {"method": method, "version": "0.4", "args": [], **more}}]})


@pytest.mark.parametrize("order,more", [
    ([0, 1, 2], dict(kwargs={"factors": [1, 2, 4], "dims": ["y", "x"]})),
    ([2, 1, 0], dict(kwargs={"factors": [4, 2, 1], "dims": ["y", "x"]})),
    ([1, 0, 2], dict(kwargs={"factors": [2, 1, 4]}, method="mine")),
    ([2, 1, 0], dict(kwargs={"levels": 3}, method="pyramid_reproject"))], ids=str)
def test_ndpyramid(store, order, more):
    path, root = store
    ndpyramid(root, order, **more)
    dataset = opened(path)
    check(dataset)
    assert dataset.GetGeoTransform() == (0, 1, 0, 0, 0, -1)
    coarse = opened(sub(path, "%d/t" % order.index(2)))
    assert coarse.GetGeoTransform() == (0, 4, 0, 0, 0, -4)
    assert coarse.GetRasterBand(1).GetOverviewCount() == 0


def test_lists_like_that_of_ndpyramid_mean_nothing(store):
    path, root = store
    ndpyramid(root, [0, 1, 2], "mine", kwargs={"levels": 3})
    assert len(opened(path).GetSubDatasets()) == 3


EOPF = {"stac_discovery": {"properties": {"proj:epsg": 32632}},
        "other_metadata": {"horizontal_CRS_code": "EPSG:32633"}}


def eopf(root, attributes):
    """A product of Sentinel-2: bands at the resolutions that they have."""
    root.update_attributes(attributes)
    above = root.create_group("measurements").create_group("reflectance")
    for name, level, bands in (("r10m", 0, ["b02"]), ("r20m", 1, ["b02", "b05"]),
                               ("r60m", 2, ["b01", "b02", "b05"])):
        group, size = above.create_group(name), 10.0 * 2**level
        for band in bands:
            put(group, band, LEVELS[level], dims=("y", "x"), chunks=(16, 16))
        put(group, "x", 500000 + (np.arange(LEVELS[level].shape[1]) + 0.5) * size, dims=("x",))
        put(group, "y", 9000 - (np.arange(LEVELS[level].shape[0]) + 0.5) * size, dims=("y",))
    cams = root.create_group("conditions")
    put(cams, "aod", np.ones((4, 4)), dims=("latitude", "longitude"))


def test_eopf(store):
    path, root = store
    eopf(root, EOPF)
    above = "measurements/reflectance/"
    listed = [name for name, _ in opened(path).GetSubDatasets()]
    assert sorted(listed) == sorted([sub(path, above + "r10m/b02"), sub(path, above + "r20m/b05"),
                                     sub(path, above + "r60m/b01"), sub(path, "conditions/aod")])
    dataset = opened(sub(path, above + "r10m/b02"))
    check(dataset)
    assert dataset.GetSpatialRef().GetAuthorityCode(None) == "32633"
    assert dataset.GetGeoTransform() == (500000, 10, 0, 9000, 0, -10)
    assert opened(sub(path, above + "r20m/b05")).GetRasterBand(1).GetOverviewCount() == 1
    assert opened(sub(path, above + "r60m/b01")).GetRasterBand(1).GetOverviewCount() == 0
    assert opened(sub(path, "conditions/aod")).GetSpatialRef() is None


@pytest.mark.parametrize("said,code", [
    ({"stac_discovery": {"properties": {"proj:epsg": 32632}}}, "32632"),
    ({"stac_discovery": {"properties": {"proj:code": "EPSG:32631", "proj:epsg": 32632}}}, "32631"),
    ({"stac_discovery": {"properties": {"proj:code": "/etc/passwd"}}}, None),
    ({"other_metadata": EOPF["other_metadata"]}, None)], ids=str)
def test_other_words_for_eopfs_crs(store, said, code):
    path, root = store
    eopf(root, said)
    srs = opened(sub(path, "measurements/reflectance/r10m/b02")).GetSpatialRef()
    assert (srs and srs.GetAuthorityCode(None)) == code


def test_groups_of_resolutions_elsewhere_are_no_levels(store):
    path, root = store
    eopf(root, {})
    assert len(opened(path).GetSubDatasets()) == 7
