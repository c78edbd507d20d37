# SPDX-License-Identifier: MIT
"""Metadata items come back as they were set, whatever is in names, values and domains."""
import numpy as np
import pytest
import zarr
from osgeo import gdal

from conftest import Errors, opened, put, run, run_python

DRIVER = gdal.GetDriverByName("Zarr3")

ITEMS = {"a:b": "v", "a": "1", ":c": "2", "a:b:c": ":", "d:": "", "": "no name", "empty": "",
         " lead": " blank", "tail ": "blank ", "e": "x=y", "line\nbreak": "1\n 2", "ä": "ß",
         "<&>": '<&>"', "zarr": "null", "long" * 100: "l" * 5000, "tab": "\tq"}
DOMAINS = ["", "D", "a:b", "MY DOMAIN", "ä", "<x>"]


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "r.zarr")


def new(path):
    return DRIVER.Create(path, 4, 4, 1, gdal.GDT_Byte)


def objects(dataset):
    return [dataset, dataset.GetRasterBand(1)]


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("one_by_one", [False, True])
def test_items_come_back(path, domain, one_by_one):
    dataset = new(path)
    for one in objects(dataset):
        if one_by_one:
            for name, value in ITEMS.items():
                assert one.SetMetadataItem(name, value, domain) == gdal.CE_None
        else:
            assert one.SetMetadata(ITEMS, domain) == gdal.CE_None
    del one
    dataset.Close()
    for _ in range(2): # the second time they have been written by a dataset that read them
        with opened(path) as dataset:
            for one in objects(dataset):
                assert one.GetMetadata(domain) == ITEMS
                for name, value in ITEMS.items():
                    assert one.GetMetadataItem(name, domain) == value, name
            del one
        with gdal.Open(path, gdal.GA_Update) as dataset:
            dataset.SetMetadataItem("k", "v", "OTHER")
            dataset.GetRasterBand(1).SetMetadataItem("k", "v", "OTHER")


@pytest.mark.parametrize("domain", ["", "D"])
def test_items_are_unset_by_their_whole_name(path, domain):
    new(path).Close()
    with gdal.Open(path, gdal.GA_Update) as dataset:
        for one in objects(dataset):
            one.SetMetadata({"a:b": "1", "a": "2", "a:c": "3"}, domain)
    for name, left in (("a", {"a:b": "1", "a:c": "3"}), ("a:b", {"a:c": "3"}), ("a:c", {})):
        with gdal.Open(path, gdal.GA_Update) as dataset:
            for one in objects(dataset):
                assert one.SetMetadataItem(name, None, domain) == gdal.CE_None
        with opened(path) as dataset:
            assert [one.GetMetadata(domain) for one in objects(dataset)] == [left, left]


def test_copies_keep_items(path, tmp_path):
    dataset = new(path)
    for domain in DOMAINS:
        for one in objects(dataset):
            one.SetMetadata(ITEMS, domain)
    dataset.Close()
    copy = str(tmp_path / "copy.zarr")
    gdal.Translate(copy, path, format="Zarr3")
    with opened(copy) as dataset:
        for domain in DOMAINS:
            for one in objects(dataset):
                assert one.GetMetadata(domain) == ITEMS, domain


def test_attributes_with_colons_are_items(store):
    path, group = store
    put(group, "t", [[1, 2]], {"stac:version": "1.0", "stac": 2, "zarrbridge:has_crs": False,
                               "proj:code": "EPSG:4326"}, ("y", "x"))
    group.attrs["eo:cloud"] = 5
    with gdal.Open(path, gdal.GA_Update) as dataset:
        assert dataset.GetMetadata() == {"stac:version": "1.0", "stac": "2"}
        assert dataset.GetMetadataItem("stac") == "2"
        assert dataset.GetMetadata("GROUP") == {"eo:cloud": "5"}
        dataset.SetMetadataItem("stac", "3")
    attributes = dict(zarr.open_group(path)["t"].attrs)
    assert (attributes["stac:version"], attributes["stac"]) == ("1.0", 3)


@pytest.mark.parametrize("domain", ["", "D"])
def test_what_is_not_utf8_is_latin_1(path, domain):
    dataset = new(path)
    for one in objects(dataset):
        one.SetMetadata([b"n\xe4me=v\xffl"], domain)
    dataset.FlushCache()
    del one
    dataset.Close()
    with opened(path) as dataset:
        assert [one.GetMetadata(domain) for one in objects(dataset)] == [{"näme": "vÿl"}] * 2


@pytest.mark.parametrize("domain", ["", "D"])
def test_all_items_are_unset(path, domain):
    dataset = new(path)
    for one in objects(dataset):
        one.SetMetadata({"a": "1", "b": "2"}, domain)
    dataset.Close()
    with gdal.Open(path, gdal.GA_Update) as dataset:
        for one in objects(dataset):
            assert one.GetMetadata(domain) == {"a": "1", "b": "2"}
            one.SetMetadata({}, domain)
            assert one.GetMetadata(domain) == {}
    with opened(path) as dataset:
        assert [one.GetMetadata(domain) for one in objects(dataset)] == [{}, {}]


@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize("domain, mode", [("", gdal.GA_ReadOnly), ("D", gdal.GA_ReadOnly),
                                          ("D", gdal.GA_Update)])
def test_sidecar_items_come_back(store, domain, one_by_one, mode):
    path, group = store
    put(group, "t", [[[1, 2]], [[3, 4]]], {}, ("time", "y", "x"))
    name = 'ZARR3:"%s":/t:1' % path
    for _ in range(2): # the second time by a dataset that has read them
        with gdal.Open(name, mode) as dataset:
            for one in objects(dataset):
                if one_by_one:
                    for key, value in ITEMS.items():
                        assert one.SetMetadataItem(key, value, domain) == gdal.CE_None
                else:
                    assert one.SetMetadata(ITEMS, domain) == gdal.CE_None
            del one
        with opened(name) as dataset:
            for one in objects(dataset):
                shown = one.GetMetadata(domain)
                assert {key: shown.get(key) for key in ITEMS} == ITEMS
            del one


def test_derived_items_stay_derived(store):
    path, group = store
    for name, unit in (("lat", "degrees_north"), ("lon", "degrees_east")):
        put(group, name, [[1.0, 2], [3, 4]], {"units": unit}, ("y", "x"))
    put(group, "t", [[1, 2], [3, 4]], {"coordinates": "lat lon"}, ("y", "x"))
    name = 'ZARR3:"%s":/t' % path
    with gdal.Open(name, gdal.GA_Update) as dataset:
        assert dataset.GetMetadata("GEOLOCATION")["X_BAND"] == "1"
        dataset.SetMetadataItem("own", "1", "GEOLOCATION")
        assert dataset.GetMetadataItem("own", "GEOLOCATION") == "1"
    text = zarr.open_group(path)["t"].attrs["zarrbridge:gdal"]
    assert "own" in text and "X_DATASET" not in text and "X_BAND" not in text
    with opened(name) as dataset:
        assert {"own", "X_BAND"} <= set(dataset.GetMetadata("GEOLOCATION"))


@pytest.mark.parametrize("domain", ["", "D"])
@pytest.mark.parametrize("mode", [gdal.GA_ReadOnly, gdal.GA_Update])
def test_items_are_found_by_their_whole_name(path, domain, mode):
    new(path).Close()
    with gdal.Open(path, mode) as dataset:
        for one in objects(dataset):
            one.SetMetadataItem("a:b", "v", domain)
            assert one.GetMetadataItem("a", domain) is None
            one.SetMetadataItem("a", "w", domain)
            one.SetMetadataItem("a:c", "x", domain)
            assert one.GetMetadata(domain) == {"a:b": "v", "a": "w", "a:c": "x"}
            assert one.SetMetadataItem("a", None, domain) == gdal.CE_None
            assert one.GetMetadata(domain) == {"a:b": "v", "a:c": "x"}


def test_values_in_the_store_leave_sidecar_items_of_longer_names(path):
    new(path).Close()
    with gdal.Open(path) as dataset:
        for one in objects(dataset):
            one.SetMetadata({"a:b": "sidecar", "a": "sidecar"})
    with gdal.Open(path, gdal.GA_Update) as dataset:
        for one in objects(dataset):
            one.SetMetadataItem("a", "store")
    with opened(path) as dataset:
        for one in objects(dataset):
            assert one.GetMetadata() == {"a:b": "sidecar", "a": "store"}


@pytest.mark.parametrize("domain", ["", "D"])
def test_cases_of_letters_make_two_items(path, domain):
    new(path).Close()
    both = ["History=1", "history=2"]
    for list_of in (both, both[::-1]):
        with gdal.Open(path, gdal.GA_Update) as dataset:
            for one in objects(dataset):
                one.SetMetadata(list_of, domain)
        for name in ("history", "History"):
            with gdal.Open(path, gdal.GA_Update) as dataset:
                for one in objects(dataset):
                    one.SetMetadataItem(name, "new " + name, domain)
        with opened(path) as dataset:
            for one in objects(dataset):
                assert one.GetMetadata(domain) == {"History": "new History",
                                                   "history": "new history"}


def test_utf8_beside_latin_1(path):
    dataset = new(path)
    for one in objects(dataset):
        one.SetMetadata([b"n\xe4me=v\xffl", "ä=ß".encode()], "D")
    one.SetCategoryNames(["Wälder"])
    del one
    dataset.Close()
    with opened(path) as dataset:
        assert [one.GetMetadata("D") for one in objects(dataset)] == [{"näme": "vÿl", "ä": "ß"}] * 2
        assert dataset.GetRasterBand(1).GetCategoryNames() == ["Wälder"]


@pytest.mark.parametrize("mode", [gdal.GA_ReadOnly, gdal.GA_Update])
def test_items_without_a_name(path, mode):
    new(path).Close()
    run_python("""if True:
        import ctypes, sys
        from osgeo import _gdal, gdal
        set_item = ctypes.CDLL(_gdal.__file__).GDALSetMetadataItem
        dataset = gdal.Open(sys.argv[1], int(sys.argv[2]))
        for one in (dataset, dataset.GetRasterBand(1)):
            for domain in (None, b"", b"D"):
                assert set_item(ctypes.c_void_p(int(one.this)), None, b"x", domain) == 0
                assert not one.GetMetadata((domain or b"").decode())
        """, path, mode)


def test_items_of_bands_keep_what_another_program_wrote(store):
    path, group = store
    put(group, "t", [[1, 2]], {"band_metadata": [{"a=b": "c", "n": 5, "t": "6", "l": [1, 2]}]},
        ("y", "x"))
    with gdal.Open(path, gdal.GA_Update) as dataset:
        band = dataset.GetRasterBand(1)
        assert band.GetMetadata() == {"n": "5", "t": "6", "l": "[1,2]"}
        band.SetMetadataItem("new", "7")
        del band
    assert zarr.open_group(path)["t"].attrs["band_metadata"] == [
        {"n": 5, "t": "6", "l": [1, 2], "new": "7", "a=b": "c"}]


def test_the_first_of_two_items_of_a_name_counts(path):
    dataset = new(path)
    for one in objects(dataset):
        one.SetMetadata(["a=1", "a=2"])
    del one
    dataset.Close()
    with opened(path) as dataset:
        assert dataset.GetRasterBand(1).GetMetadata() == {"a": "1"}


def test_names_of_conventions_are_warned_of_once(path):
    dataset = new(path)
    dataset.SetMetadata({"proj:code": "x", "zarrbridge:x": "y", "other": "z"})
    with Errors() as errors:
        dataset.FlushCache()
        dataset.SetMetadataItem("other", "w")
        dataset.FlushCache()
    assert [kind for kind, _ in errors.seen] == [gdal.CE_Warning] * 2
    assert "proj:code is not stored" in errors.seen[0][1]
    assert dataset.GetMetadata() == {"other": "w"}
    dataset.Close()


def test_names_in_the_form_of_version_2(store, tmp_path):
    """They are no items, and netCDF refuses such an attribute. dimension_names say what counts."""
    path, root = store
    put(root, "v", np.ones((4, 5), "i2"), {"_ARRAY_DIMENSIONS": ["a", "b"], "k": "w"}, ("y", "x"))
    assert opened(path).GetMetadata() == {"k": "w"}
    run("gdalmdimtranslate", "-of", "netCDF", path, tmp_path / "x.nc")
    run("gdal_translate", "-q", "-of", "netCDF", path, tmp_path / "y.nc")
    run("gdal_edit.py", "-mo", "k=w2", path)
    assert root["v"].attrs["_ARRAY_DIMENSIONS"] == ["a", "b"] and opened(path).GetMetadata() == {"k": "w2"}
