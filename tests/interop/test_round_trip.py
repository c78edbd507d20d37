# SPDX-License-Identifier: MIT
"""Random arrays (trips.py), written by us and read by zarr-python, and the other way round."""

import shutil
import warnings

import numpy as np
import pytest
import refcodec
import trips
import zarr
from length import LENGTH
from libzarrbridge import Store
from round_peers import read_zarr_python

warnings.filterwarnings("ignore", category=UserWarning)

GROUPS = 10  # so that a failure leaves the other cases to be run


@pytest.fixture(scope="session", autouse=True)
def say_seed(pytestconfig):
    with pytestconfig.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(f"round trips: {trips.COUNT} in each direction, ZARRBRIDGE_SEED={trips.SEED}, {LENGTH}")


def numbers(group):
    return range(group, trips.COUNT, GROUPS)


@pytest.mark.parametrize("group", range(GROUPS))
def test_ours_by_peer(group, tmp_path):
    for number in numbers(group):
        case = trips.Case("ours", number)
        folder = tmp_path / "x.zarr"
        case.write(folder)
        values = read_zarr_python(folder / "a", padded=len(case.levels) > 2)
        assert values.tobytes() == case.model.tobytes(), str(case)
        shutil.rmtree(folder)


def write_peer(case, folder):
    """Writes as our own call does. zarr-python 3.0.6 cannot write a part of a nested shard, nor one
    without dimensions: such arrays are written whole, and as large as their chunks before they get
    their shape."""
    nested = len(case.levels) > 2
    shape = case.shape
    if nested:
        shape = tuple(-(-n // m) * m for n, m in zip(shape, case.levels[0]))
    refcodec.write_document(folder / "a", case.document(shape))
    array = zarr.open_array(store=folder / "a", mode="r+", zarr_format=3)
    if nested:
        case.model = case.values(case.shape)
        padded = np.full(shape, case.fill, case.dtype)
        padded[tuple(slice(0, n) for n in case.shape)] = case.model
        array[...] = padded
        refcodec.write_document(folder / "a", case.document())
        return
    for box in case.boxes(3):
        values = case.values(box[2])
        array[trips.slices(box)] = values
        case.put(box, values)


@pytest.mark.parametrize("group", range(GROUPS))
def test_peer_by_ours(group, tmp_path):
    for number in numbers(group):
        case = trips.Case("peer", number)
        folder = tmp_path / "x.zarr"
        write_peer(case, folder)
        store = Store(folder)
        whole = np.empty(case.shape, case.dtype)
        store.read_into("a", None, None, whole)
        assert whole.tobytes() == case.model.tobytes(), str(case)
        for _ in range(3 if case.shape else 0):
            box = case.any_box()
            part = case.in_layout(np.zeros(box[2], case.dtype))
            store.read_into("a", box[0], box[1], part)
            native = part.astype(case.dtype)
            assert native.tobytes() == case.model[trips.slices(box)].tobytes(), (str(case), box)
        store.close()
        shutil.rmtree(folder)
