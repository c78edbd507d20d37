# SPDX-License-Identifier: MIT
"""Chunks of several extents: made by lists in BLOCKSIZE and SHARD, the block size is the largest,
and windows across uneven edges read and write as a numpy model says."""
import json

import numpy as np
import pytest
from conftest import opened
from osgeo import gdal

HEIGHT, WIDTH = 90, 70
MONTHS = [[31, 1], [28, 1], [31, 1]]


def create(path, bands=1, **options):
    options = [f"{name}={value}" for name, value in options.items()]
    return gdal.GetDriverByName("Zarr3").Create(str(path), WIDTH, HEIGHT, bands, gdal.GDT_Int32, options)


def grid_of(path):
    documents = [json.loads(p.read_text()) for p in path.rglob("zarr.json")]
    return [d["chunk_grid"]["configuration"] for d in documents if len(d.get("shape", [])) >= 2]


def shapes(*lists):
    return [{"kind": "inline", "chunk_shapes": list(lists)}]


def fill(dataset, seed=1):
    """Random windows of random values, and the model of what was written."""
    random, model = np.random.default_rng(seed), np.zeros((dataset.RasterCount, HEIGHT, WIDTH), "i4")
    for _ in range(25):
        band = int(random.integers(0, dataset.RasterCount))
        y, x = int(random.integers(0, HEIGHT)), int(random.integers(0, WIDTH))
        values = random.integers(1, 1000, (int(random.integers(1, HEIGHT - y + 1)),
                                           int(random.integers(1, WIDTH - x + 1)))).astype("i4")
        dataset.GetRasterBand(band + 1).WriteArray(values, x, y)
        model[band, y:y + values.shape[0], x:x + values.shape[1]] = values
    return model


def check(path, model, seed=2):
    random, dataset = np.random.default_rng(seed), opened(path)
    for band in range(dataset.RasterCount):
        assert (dataset.GetRasterBand(band + 1).ReadAsArray() == model[band]).all()
    for _ in range(25):
        y, x = int(random.integers(0, HEIGHT)), int(random.integers(0, WIDTH))
        h, w = int(random.integers(1, HEIGHT - y + 1)), int(random.integers(1, WIDTH - x + 1))
        assert (dataset.ReadAsArray(x, y, w, h).reshape(-1, h, w) == model[:, y:y + h, x:x + w]).all()
    return dataset


CASES = {
    "rows": ({"BLOCKSIZE": "[31,28,31],64"}, shapes([31, 28, 31], 64), [64, 31]),
    "runs": ({"BLOCKSIZE": "[[30,3]],[10,[20,3]]"}, shapes([[30, 3]], [10, [20, 3]]), [20, 30]),
    "beyond": ({"BLOCKSIZE": "[50,60],[[7,100]]"}, shapes([50, 60], [[7, 100]]), [7, 60]),
    "shards": ({"BLOCKSIZE": "10,5", "SHARD": "[30,60],[20,[10,5]]"}, shapes([30, 60], [20, [10, 5]]), [5, 10]),
    "deflate": ({"BLOCKSIZE": "[31,28,31],[1,69]", "COMPRESS": "GZIP"}, shapes([31, 28, 31], [1, 69]), [69, 31]),
}


@pytest.mark.parametrize("bands", [1, 3])
@pytest.mark.parametrize("name", CASES)
def test_created_written_read(name, bands, tmp_path):
    options, grid, block = CASES[name]
    if bands > 1:
        grid = shapes(1, *grid[0]["chunk_shapes"])
    dataset = create(tmp_path / "x.zarr", bands, **options)
    model = fill(dataset)
    dataset = None
    assert grid_of(tmp_path / "x.zarr") == grid
    dataset = check(tmp_path / "x.zarr", model)
    assert dataset.GetRasterBand(1).GetBlockSize() == block


def test_updated(tmp_path):
    dataset = create(tmp_path / "x.zarr", BLOCKSIZE="[31,28,31],[64,6]")
    dataset.GetRasterBand(1).Fill(3)
    dataset = None
    dataset = gdal.OpenEx(str(tmp_path / "x.zarr"), gdal.OF_RASTER | gdal.OF_UPDATE)
    model = np.full((1, HEIGHT, WIDTH), 3, "i4")
    model[0, 20:70, 60:68] = 9
    dataset.GetRasterBand(1).WriteArray(model[0, 20:70, 60:68], 60, 20)
    assert (dataset.ReadAsArray() == model[0]).all()
    dataset = None
    check(tmp_path / "x.zarr", model)


def test_one_extent_for_each_dimension_and_bands_last(tmp_path):
    dataset = create(tmp_path / "x.zarr", 4, BLOCKSIZE="[31,28,31],16,[1,3]", INTERLEAVE="PIXEL")
    model = fill(dataset)
    dataset = None
    assert grid_of(tmp_path / "x.zarr") == shapes([31, 28, 31], 16, [1, 3])
    check(tmp_path / "x.zarr", model)


def test_copied(tmp_path):
    source = gdal.GetDriverByName("MEM").Create("", WIDTH, HEIGHT, 2, gdal.GDT_Int32)
    model = fill(source)
    gdal.GetDriverByName("Zarr3").CreateCopy(str(tmp_path / "x.zarr"), source,
                                             options=["BLOCKSIZE=[31,28,31],[64,6]"])
    assert grid_of(tmp_path / "x.zarr") == shapes(1, [31, 28, 31], [64, 6])
    check(tmp_path / "x.zarr", model)


@pytest.mark.parametrize("options, message", [
    ({"BLOCKSIZE": "[31,28],64"}, "59 elements, expected at least the 90"),
    ({"BLOCKSIZE": "[],64"}, "is not of the form"),
    ({"BLOCKSIZE": "[31,28,31]"}, "is not of the form"),
    ({"BLOCKSIZE": "[31,28,0],64"}, "is not of the form"),
    ({"BLOCKSIZE": "[31,[28,1,1],31],64"}, "is not of the form"),
    ({"BLOCKSIZE": "[31,28,31,64"}, "is not of the form"),
    ({"BLOCKSIZE": "[90],[70],1,1"}, "has 4 extents"),
    ({"BLOCKSIZE": "[31,28,31],64", "SHARD": "93,64"}, "give the lists to SHARD"),
    ({"BLOCKSIZE": "10,10", "SHARD": "[30,65],70"}, "is no multiple of the block"),
])
def test_refused(options, message, tmp_path):
    with pytest.raises(RuntimeError, match=message):
        create(tmp_path / "x.zarr", **options)
    assert not (tmp_path / "x.zarr").exists()
