# SPDX-License-Identifier: MIT
"""Metadata items come back as they were set, whatever is in names, values and domains."""
import pytest
import zarr
from osgeo import gdal

from conftest import opened, put

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
