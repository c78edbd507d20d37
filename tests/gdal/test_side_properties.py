# SPDX-License-Identifier: MIT
"""Properties that Zarr has no form for are in the store, as GDAL's XML, and go where it goes."""
import os
import shutil
import zipfile

import numpy as np
import pytest
import zarr
from osgeo import gdal, osr

from conftest import Errors, edit, opened, put, run_python, sub

DRIVER = gdal.GetDriverByName("Zarr3")
KEY = "zarrbridge:gdal"
UTM = osr.SpatialReference()
UTM.ImportFromEPSG(32725)
VALUES = np.arange(600, dtype="uint8").reshape(20, 30)
RPC = {"LINE_OFF": "1", "SAMP_OFF": "2", "HEIGHT_OFF": "0"}
XMP = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><a>ü &amp; b</a></x:xmpmeta>"


def table():
    colours = gdal.ColorTable()
    colours.SetColorEntry(3, (1, 2, 3, 255))
    return colours


def attribute_table():
    rat = gdal.RasterAttributeTable()
    rat.CreateColumn("class", gdal.GFT_String, gdal.GFU_Name)
    rat.CreateColumn("count", gdal.GFT_Integer, gdal.GFU_PixelCount)
    rat.SetRowCount(2)
    rat.SetValueAsString(1, 0, "forest \"ü\"")
    rat.SetValueAsInt(1, 1, 7)
    return rat


def adorn(dataset, band=1):
    """Gives the dataset one property of each kind."""
    dataset.SetGCPs([gdal.GCP(1, 2, 0.5, 3, 4, "info", "id")], UTM)
    dataset.SetMetadata(RPC, "RPC")
    dataset.SetMetadata([XMP], "xml:XMP")
    dataset.SetMetadataItem("SENSOR", "A=B", "MINE")
    band = dataset.GetRasterBand(band)
    band.SetColorTable(table())
    band.SetCategoryNames(["water", "wood"])
    band.SetDefaultRAT(attribute_table())
    band.SetStatistics(1.5, 9.25, 4.125, 2)
    band.SetDefaultHistogram(-0.5, 3.5, [4, 3, 2, 1])
    band.SetMetadataItem("CENTRAL_WAVELENGTH_UM", "0.665", "IMAGERY")


def check_dataset(dataset):
    gcp, = dataset.GetGCPs()
    assert (gcp.GCPX, gcp.GCPY, gcp.GCPZ, gcp.GCPPixel, gcp.GCPLine, gcp.Info, gcp.Id) == \
        (1, 2, 0.5, 3, 4, "info", "id")
    assert dataset.GetGCPSpatialRef().IsSame(UTM)
    assert dataset.GetMetadata("RPC") == RPC
    assert "ü &amp; b" in dataset.GetMetadata("xml:XMP")[0]
    assert dataset.GetMetadata("MINE") == {"SENSOR": "A=B"}


def check(dataset, band=1):
    check_dataset(dataset)
    band = dataset.GetRasterBand(band)
    assert band.GetColorTable().GetColorEntry(3) == (1, 2, 3, 255)
    assert band.GetColorInterpretation() == gdal.GCI_PaletteIndex
    assert band.GetCategoryNames() == ["water", "wood"]
    rat = band.GetDefaultRAT()
    assert rat.GetValueAsString(1, 0) == "forest \"ü\"" and rat.GetValueAsInt(1, 1) == 7
    assert band.GetStatistics(False, False) == [1.5, 9.25, 4.125, 2]
    assert band.GetDefaultHistogram(force=False)[:4] == (-0.5, 3.5, 4, [4, 3, 2, 1])
    assert band.GetMetadata("IMAGERY") == {"CENTRAL_WAVELENGTH_UM": "0.665"}


def source(bands=1):
    dataset = gdal.GetDriverByName("MEM").Create("", 30, 20, bands, gdal.GDT_Byte)
    for i in range(bands):
        dataset.GetRasterBand(i + 1).WriteArray(VALUES)
    return dataset


def update(path):
    return gdal.OpenEx(str(path), gdal.OF_RASTER | gdal.OF_UPDATE)


def stored(path):
    return zarr.open_array(str(path), mode="r").attrs.get(KEY)


@pytest.mark.parametrize("options", [[], ["INTERLEAVE=PIXEL"]])
@pytest.mark.parametrize("bands", [1, 3])
def test_a_copy_has_them_in_the_store(tmp_path, options, bands):
    original = source(bands)
    adorn(original, bands)
    DRIVER.CreateCopy(str(tmp_path / "r.zarr"), original, options=options).Close()
    assert os.listdir(tmp_path) == ["r.zarr"]
    shutil.move(tmp_path / "r.zarr", tmp_path / "elsewhere")
    check(opened(tmp_path / "elsewhere"), bands)
    with zipfile.ZipFile(tmp_path / "r.zip", "w") as archive:
        for folder, _, files in os.walk(tmp_path / "elsewhere"):
            for name in files:
                path = os.path.join(folder, name)
                archive.write(path, os.path.relpath(path, tmp_path / "elsewhere"))
    check(opened("ZARR3:/vsizip/%s/r.zip" % tmp_path), bands)
    DRIVER.CreateCopy(str(tmp_path / "again.zarr"), opened(tmp_path / "elsewhere")).Close()
    check(opened(tmp_path / "again.zarr"), bands)


def test_they_are_set_and_unset_in_update_mode(store):
    path, root = store
    put(root, "t", VALUES, {"kept": 1})
    dataset = update(path)
    adorn(dataset)
    dataset.FlushCache()
    check(opened(path))
    dataset = None
    assert os.listdir(os.path.dirname(path)) == ["x.zarr"]
    check(opened(path))
    check(update(path))
    dataset = update(path)
    band = dataset.GetRasterBand(1)
    dataset.SetGCPs([], None)
    dataset.SetMetadata(None, "RPC")
    dataset.SetMetadata(None, "xml:XMP")
    dataset.SetMetadata(None, "MINE")
    band.SetColorTable(None)
    band.SetCategoryNames([])
    band.SetDefaultRAT(None)
    band.SetMetadata(None, "IMAGERY")
    dataset.ClearStatistics()
    dataset = band = None
    dataset = opened(path)
    band = dataset.GetRasterBand(1)
    assert dataset.GetGCPCount() == 0 and not dataset.GetMetadata("RPC")
    assert band.GetColorTable() is None and not band.GetCategoryNames()
    assert band.GetDefaultRAT() is None and not band.GetMetadata("IMAGERY")
    assert band.GetMetadataItem("STATISTICS_MAXIMUM") is None
    assert zarr.open_array(path + "/t", mode="r").attrs["kept"] == 1


def test_created_rasters_keep_them(tmp_path):
    dataset = DRIVER.Create(str(tmp_path / "r.zarr"), 30, 20, 2, gdal.GDT_Byte)
    dataset.GetRasterBand(1).SetNoDataValue(7)
    dataset.GetRasterBand(2).WriteArray(VALUES)
    adorn(dataset, 2)
    dataset = None
    assert os.listdir(tmp_path) == ["r.zarr"]
    check(opened(tmp_path / "r.zarr"), 2)


def test_reading_changes_no_store(store):
    path, root = store
    put(root, "t", VALUES)
    put(root, "u", VALUES)
    dataset = update(sub(path, "t"))
    adorn(dataset)
    dataset = None
    before = open(path + "/t/zarr.json").read()
    dataset = opened(sub(path, "t"))
    dataset.GetRasterBand(1).ComputeStatistics(False)
    dataset = None
    dataset = opened(sub(path, "u"))
    dataset.GetRasterBand(1).ComputeStatistics(False)
    dataset.SetMetadataItem("k", "v")
    dataset = None
    assert open(path + "/t/zarr.json").read() == before
    sidecar = open(path + ".aux.xml").read()
    assert "STATISTICS_MAXIMUM" in sidecar and "GCPList" not in sidecar and "RPC" not in sidecar
    dataset = opened(sub(path, "t"))
    check_dataset(dataset)
    band = dataset.GetRasterBand(1)
    assert band.GetMetadataItem("STATISTICS_MAXIMUM") == "255"
    assert band.GetColorTable().GetColorEntry(3) == (1, 2, 3, 255)
    assert band.GetDefaultHistogram(force=False)[:4] == (-0.5, 3.5, 4, [4, 3, 2, 1])
    dataset = band = None
    # A dataset for updating takes over what it changes, and leaves the rest to the file.
    for name in "t", "u":
        dataset = update(sub(path, name))
        dataset.GetRasterBand(1).SetCategoryNames(["other"])
        dataset = None
    assert "STATISTICS_MAXIMUM" in stored(path + "/t") and "RPC" in stored(path + "/t")
    sidecar = open(path + ".aux.xml").read()
    assert "STATISTICS" not in sidecar and '"k"' in sidecar
    assert opened(sub(path, "u")).GetMetadataItem("k") == "v"
    assert opened(sub(path, "u")).GetRasterBand(1).GetMetadataItem("STATISTICS_MAXIMUM") == "255"


def test_writing_pixels_forgets_statistics(store):
    path, root = store
    put(root, "t", np.stack([VALUES, VALUES, VALUES]), dims=("time", "y", "x"))
    dataset = update(path)
    adorn(dataset, 1)
    adorn(dataset, 2)
    dataset = None
    dataset = update(sub(path, "t", 1))
    dataset.WriteArray(VALUES + 1)
    dataset = None
    dataset = opened(path)
    check(dataset, 1)
    band = dataset.GetRasterBand(2)
    assert band.GetMetadataItem("STATISTICS_MAXIMUM") is None
    assert band.GetDefaultHistogram(force=False) is None
    assert band.GetCategoryNames() == ["water", "wood"]
    dataset = band = None
    dataset = update(path)
    dataset.GetRasterBand(3).Fill(3)
    dataset = None
    dataset = opened(path)
    check_dataset(dataset)
    assert dataset.GetRasterBand(1).GetMetadataItem("STATISTICS_MAXIMUM") is None
    assert dataset.GetRasterBand(1).GetCategoryNames() == ["water", "wood"]


def test_statistics_are_those_of_the_pixels_before_them(tmp_path):
    """Blocks that wait in GDAL's cache have been written, too; what is written later is not in them."""
    path = str(tmp_path / "r.zarr")
    dataset = DRIVER.Create(path, 30, 20, 1, gdal.GDT_Byte)
    dataset.GetRasterBand(1).Fill(5)
    dataset.GetRasterBand(1).ComputeStatistics(False)
    dataset.GetRasterBand(1).GetDefaultHistogram()
    dataset = None
    dataset = opened(path)
    band = dataset.GetRasterBand(1)
    assert band.GetMetadataItem("STATISTICS_MEAN") == "5"
    assert band.GetDefaultHistogram(force=False)[3][5] == 600
    dataset = band = None
    dataset = update(path)
    dataset.GetRasterBand(1).Fill(7)
    dataset.GetRasterBand(1).ComputeStatistics(False)
    dataset = None
    assert opened(path).GetRasterBand(1).GetMetadataItem("STATISTICS_MEAN") == "7"
    dataset = update(path)
    dataset.WriteArray(VALUES)
    dataset.GetRasterBand(1).ComputeStatistics(False)
    dataset.WriteArray(VALUES * 0)
    dataset = None
    assert opened(path).GetRasterBand(1).GetMetadataItem("STATISTICS_MEAN") is None


def test_slices_show_those_of_their_band(store):
    path, root = store
    put(root, "t", np.stack([VALUES] * 6).reshape(2, 3, 20, 30), dims=("a", "b", "y", "x"))
    dataset = update(path)
    adorn(dataset, 5)
    dataset = None
    check(opened(sub(path, "t", 1, 1)))
    other = opened(sub(path, "t", 0, 1))
    check_dataset(other)
    assert other.GetRasterBand(1).GetColorTable() is None
    before = stored(path + "/t")
    dataset = update(sub(path, "t", 0, 1))
    dataset.GetRasterBand(1).SetCategoryNames(["slice"])
    dataset = None
    assert stored(path + "/t") == before
    assert opened(sub(path, "t", 0, 1)).GetRasterBand(1).GetCategoryNames() == ["slice"]


def test_arrays_of_one_group_have_their_own(tmp_path):
    path = str(tmp_path / "r.zarr")
    plain = source()
    DRIVER.CreateCopy(path, plain).Close()
    adorn(plain)
    DRIVER.CreateCopy(path, plain, options=["APPEND_SUBDATASET=YES", "ARRAY_NAME=two"]).Close()
    check(opened(sub(path, "two")))
    assert opened(sub(path, "r")).GetGCPCount() == 0
    assert os.listdir(tmp_path) == ["r.zarr"]


def test_they_do_not_hang_on_the_switch_of_sidecars(tmp_path):
    path = tmp_path / "r.zarr"
    script = """
import sys
from osgeo import gdal
gdal.UseExceptions()
dataset = gdal.GetDriverByName("MEM").Create("", 4, 4)
dataset.GetRasterBand(1).SetCategoryNames(["a"])
gdal.GetDriverByName("Zarr3").CreateCopy(sys.argv[1], dataset).Close()
dataset = gdal.Open(sys.argv[1])
assert dataset.GetRasterBand(1).GetCategoryNames() == ["a"]
dataset.GetRasterBand(1).ComputeStatistics(False)
"""
    run_python(script, path, GDAL_PAM_ENABLED="NO")
    assert os.listdir(tmp_path) == ["r.zarr"]
    assert opened(path).GetRasterBand(1).GetCategoryNames() == ["a"]


@pytest.mark.parametrize("value", [
    7, ["<PAMDataset/>"], "", "<PAMDataset", "<VRTDataset/>", "<PAMDataset/>",
    "<PAMDataset><PAMRasterBand/><PAMRasterBand band='99999999999999999999'/></PAMDataset>",
    "<a>" * 5000])
def test_what_is_no_such_xml_is_passed_over(store, value):
    path, root = store
    put(root, "t", VALUES, {KEY: value})
    with Errors() as errors:
        dataset = opened(path)
        assert (dataset.ReadAsArray() == VALUES).all()
        assert dataset.GetGCPCount() == 0
    assert errors.seen == []


def test_what_contradicts_the_store_is_passed_over(store):
    path, root = store
    put(root, "t", VALUES, {KEY: """<PAMDataset>
<SRS>EPSG:4326</SRS><GeoTransform>1,2,3,4,5,6</GeoTransform>
<Metadata><MDI key="a">b</MDI></Metadata>
<Metadata domain="SUBDATASETS"><MDI key="SUBDATASET_1_NAME">/etc/passwd</MDI></Metadata>
<Metadata domain="image_structure"><MDI key="NBITS">1</MDI></Metadata>
<Metadata domain="MINE"><MDI key="c">d</MDI></Metadata>
<PAMRasterBand band="1"><NoDataValue>5</NoDataValue><Description>other</Description>
<Metadata><MDI key="e">f</MDI><MDI key="STATISTICS_MEAN">5</MDI></Metadata>
<UnitType>m</UnitType><Scale>2</Scale></PAMRasterBand></PAMDataset>"""})
    dataset = opened(path)
    band = dataset.GetRasterBand(1)
    assert dataset.GetSpatialRef() is None
    assert dataset.GetGeoTransform(can_return_null=True) is None
    assert dataset.GetMetadata() == {} and dataset.GetMetadata("SUBDATASETS") == {}
    assert dataset.GetMetadataItem("NBITS", "IMAGE_STRUCTURE") is None
    assert dataset.GetMetadata("MINE") == {"c": "d"}
    assert band.GetNoDataValue() is None and band.GetDescription() == ""
    assert band.GetMetadata() == {"STATISTICS_MEAN": "5"}
    assert band.GetUnitType() == "" and band.GetScale() is None


def test_a_failed_copy_leaves_nothing(tmp_path):
    original = source()
    adorn(original)

    def cancel(*_):
        return 0

    with Errors():
        assert DRIVER.CreateCopy(str(tmp_path / "r.zarr"), original, callback=cancel) is None
    assert os.listdir(tmp_path) == []


def test_an_unknown_member_beside_them_stays(store):
    path, root = store
    put(root, "t", VALUES)
    edit(path + "/t", lambda document: document.update(extra={"must_understand": False}))
    dataset = update(path)
    adorn(dataset)
    dataset = None
    assert '"extra"' in open(path + "/t/zarr.json").read()


def test_control_points_keep_all_digits(tmp_path):
    """GDAL's own form has four decimals of a pixel."""
    points = [(0.1 + 0.2, -1e-7 / 3, 1 / 3, 3.0000123456789, 4.99999999), (1e6 / 7, 2, 0, 0, 1e-9)]

    def found(dataset):
        return [(gcp.GCPX, gcp.GCPY, gcp.GCPZ, gcp.GCPPixel, gcp.GCPLine)
                for gcp in dataset.GetGCPs()]

    memory = source()
    memory.SetGCPs([gdal.GCP(*point) for point in points], UTM)
    path = tmp_path / "x.zarr"
    assert found(DRIVER.CreateCopy(str(path), memory)) == points
    dataset = gdal.Open(str(path), gdal.GA_Update)
    dataset.SetMetadata(RPC, "RPC")
    del dataset
    dataset = opened(path)
    dataset.GetRasterBand(1).ComputeStatistics(False)
    assert found(dataset) == points
    del dataset
    assert "GCPList" not in (tmp_path / "x.zarr.aux.xml").read_text()


# ---- Several handles ----

def updated(path):
    return gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_UPDATE)


def put_bands(store, bands=2):
    path, group = store
    put(group, "a", np.stack([VALUES] * bands), dims=["band", "y", "x"])
    return sub(path, "a")


CHANGES = {
    "points": lambda d: d.SetGCPs([gdal.GCP(1, 2, 0.5, 3, 4)], UTM),
    "rpc": lambda d: d.SetMetadata(RPC, "RPC"),
    "xmp": lambda d: d.SetMetadata([XMP], "xml:XMP"),
    "one item": lambda d: d.SetMetadataItem("ONE", "1", "MINE"),
    "another item": lambda d: d.SetMetadataItem("TWO", "2", "MINE"),
    "colours": lambda d: d.GetRasterBand(1).SetColorTable(table()),
    "names": lambda d: d.GetRasterBand(1).SetCategoryNames(["water", "wood"]),
    "table": lambda d: d.GetRasterBand(1).SetDefaultRAT(attribute_table()),
    "statistics": lambda d: d.GetRasterBand(1).SetStatistics(1.5, 9.25, 4.125, 2),
    "histogram": lambda d: d.GetRasterBand(1).SetDefaultHistogram(-0.5, 3.5, [4, 3, 2, 1]),
    "other band": lambda d: d.GetRasterBand(2).SetCategoryNames(["other"]),
}


def state_of(name):
    with opened(name) as dataset:
        one, two = dataset.GetRasterBand(1), dataset.GetRasterBand(2)
        return {"points": dataset.GetGCPCount(), "rpc": dataset.GetMetadata("RPC"),
                "xmp": bool(dataset.GetMetadata("xml:XMP")),
                "items": dataset.GetMetadata("MINE"),
                "colours": one.GetColorTable() is not None, "names": one.GetCategoryNames(),
                "table": one.GetDefaultRAT() is not None,
                "statistics": one.GetMetadataItem("STATISTICS_MINIMUM"),
                "histogram": "Histograms" in dataset.GetMetadata_List("json:zarr.json")[0],
                "other": two.GetCategoryNames()}


def full_state(store):
    name = put_bands(store)
    with updated(name) as dataset:
        for change in CHANGES.values():
            change(dataset)
    state = state_of(name)
    assert all(state.values())
    return state


@pytest.mark.parametrize("first", CHANGES)
def test_two_handles_keep_what_the_other_has_set(store, tmp_path, first):
    """Each property by itself: one handle sets one of them, the other one all others."""
    expected = full_state((str(tmp_path / "f.zarr"),
                           zarr.create_group(str(tmp_path / "f.zarr"), zarr_format=3)))
    for order in (1, -1):
        name = put_bands((store[0], store[1].create_group("g%d" % (order + 1))))
        name = name.replace(":/a", ":/g%d/a" % (order + 1))
        one, other = updated(name), updated(name)
        CHANGES[first](one)
        for key, change in CHANGES.items():
            if key != first:
                change(other)
        for handle in (one, other)[::order]:
            handle.Close()
        assert state_of(name) == expected


def test_what_one_handle_unsets_stays_unset(store):
    name = put_bands(store)
    with updated(name) as dataset:
        for change in CHANGES.values():
            change(dataset)
    one, other = updated(name), updated(name)
    one.GetRasterBand(1).SetCategoryNames([])
    one.SetMetadataItem("ONE", None, "MINE")
    other.SetMetadataItem("TWO", "new", "MINE")
    one.FlushCache()
    other.FlushCache()
    one.SetMetadataItem("THREE", "3", "MINE")
    other.Close()
    one.Close()
    state = state_of(name)
    assert not state["names"] and state["other"] == ["other"] and state["table"]
    assert state["items"] == {"TWO": "new", "THREE": "3"}


def test_of_one_property_the_last_value_counts(store):
    name = put_bands(store)
    one, other = updated(name), updated(name)
    one.GetRasterBand(1).SetCategoryNames(["a"])
    other.GetRasterBand(1).SetCategoryNames(["b"])
    other.Close()
    one.Close()
    assert state_of(name)["names"] == ["a"]


@pytest.mark.parametrize("slice_of", [False, True])
def test_pixels_take_statistics_that_another_handle_has_set(store, slice_of):
    """Of the pixels before: they would be wrong."""
    name = put_bands(store)
    writer = updated(name + ":0" if slice_of else name)
    with updated(name) as other:
        for key in ("statistics", "histogram", "names", "other band"):
            CHANGES[key](other)
        other.GetRasterBand(2).SetStatistics(1, 2, 1.5, 1)
    writer.GetRasterBand(1).WriteArray(VALUES + 1)
    writer.Close()
    state = state_of(name)
    assert not state["statistics"] and not state["histogram"]
    assert state["names"] == ["water", "wood"] and state["other"] == ["other"]
    with opened(name) as dataset:
        second = dataset.GetRasterBand(2).GetMetadataItem("STATISTICS_MEAN")
    assert second == ("1.5" if slice_of else None)


def test_statistics_of_an_array_and_names_of_a_band_both_stay(store):
    """By the multidimensional API and as a raster, at once."""
    name = put_bands(store)
    raster = updated(name)
    with gdal.OpenEx(store[0], gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE) as tree:
        array = tree.GetRootGroup().OpenMDArray("a")
        raster.GetRasterBand(1).SetCategoryNames(["water"])
        raster.FlushCache()
        assert array.ComputeStatistics() is not None
        del array
    raster.GetRasterBand(2).SetCategoryNames(["more"])
    raster.Close()
    text = zarr.open_group(store[0])["a"].attrs[KEY]
    assert "<Statistics>" in text and "water" in text and "more" in text


def test_statistics_of_two_handles_do_not_mix(store):
    """Approximate ones would be shown as exact."""
    name = put_bands(store)

    def approximate(dataset, mean):
        band = dataset.GetRasterBand(1)
        band.SetStatistics(1, 9, mean, 2)
        band.SetMetadataItem("STATISTICS_APPROXIMATE", "YES")
        band.SetMetadataItem("STATISTICS_VALID_PERCENT", "7")

    with updated(name) as dataset:
        approximate(dataset, 4)
    one = updated(name)
    with updated(name) as other:
        band = other.GetRasterBand(1)
        band.SetMetadata({})
        band.SetStatistics(0, 10, 5, 3)
        band.SetMetadataItem("STATISTICS_SKEWNESS", "1")
    with opened(name) as dataset:
        assert dataset.GetRasterBand(1).GetStatistics(False, False) == [0, 10, 5, 3]
    approximate(one, 4.5)
    one.GetRasterBand(2).SetCategoryNames(["x"])
    one.Close()
    with opened(name) as dataset:
        band = dataset.GetRasterBand(1)
        assert {key: value for key, value in band.GetMetadata().items()
                if key.startswith("STATISTICS_")} == {
            "STATISTICS_MINIMUM": "1", "STATISTICS_MAXIMUM": "9", "STATISTICS_MEAN": "4.5",
            "STATISTICS_STDDEV": "2", "STATISTICS_APPROXIMATE": "YES",
            "STATISTICS_VALID_PERCENT": "7"}
        assert band.GetStatistics(False, False) != [1, 9, 4.5, 2]


@pytest.mark.parametrize("domain", ["RPC", "GEOLOCATION"])
def test_sets_of_items_of_two_handles_do_not_mix(store, domain):
    name = put_bands(store)
    with updated(name) as dataset:
        dataset.SetMetadata({"A": "1", "B": "1", "C": "1"}, domain)
        dataset.SetMetadata({"A": "1", "B": "1"}, "MINE")
    one, other = updated(name), updated(name)
    other.SetMetadata({"A": "2", "B": "2", "D": "2"}, domain)
    other.SetMetadataItem("A", "2", "MINE")
    other.Close()
    one.SetMetadataItem("B", "3", domain)
    one.SetMetadataItem("B", "3", "MINE")
    one.Close()
    with opened(name) as dataset:
        assert dataset.GetMetadata(domain) == {"A": "1", "B": "3", "C": "1"}
        assert dataset.GetMetadata("MINE") == {"A": "2", "B": "3"}


def test_many_items_of_a_domain_are_merged_in_one_walk(store):
    name = put_bands(store)
    items = "".join('<MDI key="k%d">1</MDI>' % i for i in range(5000))
    edit(store[0] + "/a", lambda document: document["attributes"].update(
        {KEY: '<PAMDataset><Metadata domain="MINE">%s</Metadata></PAMDataset>' % items}))
    with updated(name) as dataset:
        dataset.SetMetadataItem("RATE", "2", "RPC")
    with opened(name) as dataset:
        assert len(dataset.GetMetadata("MINE")) == 5000 and dataset.GetMetadata("RPC")
