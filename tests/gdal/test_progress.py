# SPDX-License-Identifier: MIT
"""Programs hear how far a long request has come, and may cancel it."""
import numpy as np
import pytest
from conftest import Errors, put
from osgeo import gdal

ROWS, COLUMNS = 9000, 4096  # more than one strip


class Listener:
    """Notes what it is told, and cancels from a fraction on."""

    def __init__(self, last=2.0):
        self.told = []
        self.last = last

    def __call__(self, done, text, data):
        self.told.append(done)
        return done < self.last


@pytest.fixture(name="large")
def large_store(store):
    path, group = store
    data = np.arange(ROWS * COLUMNS, dtype="u4").astype("u1").reshape(ROWS, COLUMNS)
    put(group, "t", data, chunks=(500, 512), fill_value=0)
    return path, data


@pytest.mark.parametrize("whole", [False, True])
def test_reads(large, whole):
    path, data = large
    dataset = gdal.Open(path)
    source = dataset if whole else dataset.GetRasterBand(1)
    for top, left in ((0, 0), (123, 7)):
        listener = Listener()
        pixels = source.ReadAsArray(left, top, COLUMNS - left, ROWS - top, callback=listener)
        assert (pixels == data[top:, left:]).all()
        assert len(listener.told) >= 2 and listener.told == sorted(listener.told)
        assert listener.told[-1] == 1 and len(set(listener.told)) >= 2
    with Errors() as errors:
        assert source.ReadAsArray(callback=Listener(0.1)) is None
    assert any("cancelled" in text for text in errors.failures)


def test_making_overviews_can_be_cancelled(large):
    path, _ = large
    with gdal.Open(path, gdal.GA_Update) as dataset:
        listener = Listener(0.3)
        with Errors():
            assert dataset.BuildOverviews("AVERAGE", [2, 4], callback=listener) != gdal.CE_None
        assert 0 < max(listener.told) < 1
    assert gdal.Open(path).GetRasterBand(1).GetOverviewCount() == 0


def test_multidimensional_copies_can_be_cancelled(large, tmp_path):
    path, _ = large
    source = gdal.OpenEx(path, gdal.OF_MULTIDIM_RASTER)
    driver, listener = gdal.GetDriverByName("Zarr3"), Listener(0.4)
    with Errors():
        assert driver.CreateCopy(str(tmp_path / "no.zarr"), source, callback=listener) is None
    assert 0 < len(listener.told) and not (tmp_path / "no.zarr").exists()
    assert not list(tmp_path.glob(".*no.zarr*"))
