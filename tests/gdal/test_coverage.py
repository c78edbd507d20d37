# SPDX-License-Identifier: MIT
"""GetDataCoverageStatus(): which parts of a raster are stored."""
import numpy as np
import pytest
from osgeo import gdal

from conftest import opened, put, sub

DATA, EMPTY = gdal.GDAL_DATA_COVERAGE_STATUS_DATA, gdal.GDAL_DATA_COVERAGE_STATUS_EMPTY
UNKNOWN = gdal.GDAL_DATA_COVERAGE_STATUS_UNIMPLEMENTED | DATA


def status(dataset, *window, band=1, stop=0):
    return dataset.GetRasterBand(band).GetDataCoverageStatus(*window, stop)


@pytest.mark.parametrize("options", [{"chunks": (1, 8, 10)},
                                     {"chunks": (1, 4, 10), "shards": (2, 8, 20)}])
def test_chunks_that_are_not_stored_are_empty(store, options):
    path, root = store
    array = root.create_array("t", shape=(2, 20, 30), dtype="u1", fill_value=0, **options)
    array[1, 0:8, 0:10] = 7
    dataset = opened(path)
    assert status(dataset, 0, 0, 30, 20, band=1) == [EMPTY, 0]
    flags, percent = status(dataset, 0, 0, 30, 20, band=2)
    assert flags == DATA | EMPTY and percent == pytest.approx(100 * 80 / 600)
    assert status(dataset, 2, 3, 5, 5, band=2) == [DATA, 100]
    flags, percent = status(dataset, 9, 7, 2, 2, band=2)
    assert flags == DATA | EMPTY and percent == 25
    assert status(dataset, 10, 0, 20, 20, band=2) == [EMPTY, 0]
    assert status(dataset, 0, 0, 30, 20, band=2, stop=DATA)[0] == DATA
    assert status(opened(sub(path, "t", 1)), 0, 0, 10, 8) == [DATA, 100]


def test_chunks_of_several_extents(tmp_path):
    path = str(tmp_path / "r.zarr")
    values = np.zeros((20, 30), "u1")
    values[:5] = 1
    source = gdal.GetDriverByName("MEM").Create("", 30, 20)
    source.WriteArray(values)
    gdal.GetDriverByName("Zarr3").CreateCopy(path, source, options=["BLOCKSIZE=[5,12,3],30"]).Close()
    assert status(opened(path), 0, 0, 30, 20) == [DATA | EMPTY, 25]
    assert status(opened(path), 3, 5, 7, 15) == [EMPTY, 0]


def test_rows_and_dense_arrays(store):
    path, root = store
    put(root, "t", np.arange(1, 31, dtype="u1"), chunks=(10,))
    assert status(opened(sub(path, "t")), 0, 0, 30, 1) == [DATA, 100]


def test_where_the_answer_would_cost_too_much(store):
    path, root = store
    put(root, "t", np.ones((4, 4), "u1"))
    dataset = gdal.OpenEx(path, gdal.OF_RASTER | gdal.OF_UPDATE)
    assert status(dataset, 0, 0, 4, 4)[0] == UNKNOWN


def test_damage_is_left_to_reading(store):
    path, root = store
    array = root.create_array("t", shape=(8, 8), dtype="u1", chunks=(4, 4), shards=(8, 8))
    array[...] = 1
    with open(path + "/t/c/0/0", "r+b") as file:
        file.seek(-2, 2)
        file.write(b"xx")
    assert status(opened(path), 0, 0, 8, 8)[0] == UNKNOWN


def test_a_store_that_was_replaced_is_not_empty(tmp_path):
    """gdal_translate asks before it reads. Of a store that another process had replaced it took all
    blocks for empty, and wrote nodata in silence."""
    path = str(tmp_path / "r.zarr")
    source = gdal.GetDriverByName("MEM").Create("", 30, 20)
    source.WriteArray(np.ones((20, 30), "u1"))
    driver = gdal.GetDriverByName("Zarr3")
    driver.CreateCopy(path, source).Close()
    old = opened(path)
    assert status(old, 0, 0, 30, 20) == [DATA, 100]
    driver.CreateCopy(path, source).Close()
    assert status(old, 0, 0, 30, 20)[0] == UNKNOWN
    with pytest.raises(RuntimeError, match="open it again"):
        gdal.Translate(str(tmp_path / "r.tif"), old)
    assert status(opened(path), 0, 0, 30, 20) == [DATA, 100]
