# SPDX-License-Identifier: MIT
"""An open file shows the changes of another program when it asks for them: H5Drefresh, H5Grefresh,
H5Orefresh."""

import ctypes
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from conftest import put


def refresh(thing, function):
    """h5py has H5Drefresh alone; libhdf5 is found through its modules."""
    call = getattr(ctypes.CDLL(h5py.h5p.__file__), function)
    call.argtypes = [ctypes.c_int64]
    return call(thing.id.id)


@pytest.fixture(params=["r", "r+"])
def opened(request, new_store):
    """The peer's view of a store, and ours."""
    path, group = new_store()
    put(group, "d", np.arange(10), chunks=(8,))
    put(group, "g/inner", np.arange(4))
    with h5py.File(path, request.param) as file:
        yield zarr.open_group(path, mode="r+"), file


def test_another_shape(opened):
    peer, ours = opened
    dataset = ours["d"]
    assert list(dataset) == list(range(10))
    peer["d"].resize((12,))
    peer["d"][10:] = [10, 11]
    dataset.id.refresh()
    assert dataset.id.shape == (12,)
    assert list(ours["d"][:]) == list(range(12))


def test_another_type(opened):
    """An array that was made anew with another type: no old bytes are read as new ones."""
    peer, ours = opened
    dataset = ours["d"]
    assert dataset.dtype == "i8"
    del peer["d"]
    put(peer, "d", np.linspace(0, 1, 6, dtype="f4"), chunks=(3,))
    with pytest.raises(OSError, match="made anew|has changed|another"):
        dataset[:]
    dataset.id.refresh()
    assert ours["d"].dtype == "f4" and ours["d"].chunks == (3,)  # h5py keeps the type of an id
    assert list(ours["d"][:]) == list(np.linspace(0, 1, 6, dtype="f4"))


def test_writing_goes_on(new_store):
    """After another program has resized, the refreshed dataset writes its edge."""
    path, group = new_store()
    put(group, "d", np.arange(10), chunks=(8,))
    with h5py.File(path, "r+") as file:
        dataset = file["d"]
        dataset[0] = 100
        file.flush()
        group["d"].resize((20,))
        dataset.id.refresh()
        dataset[19] = 119
        assert dataset[19] == 119
    stored = zarr.open_array(f"{path}/d", mode="r")[...]
    assert list(stored) == [100, *range(1, 10), *[0] * 9, 119]


def test_what_cannot_be_stored_is_told(new_store):
    path, group = new_store()
    put(group, "d", np.arange(10), chunks=(8,))
    file = h5py.File(path, "r+")
    dataset = file["d"]
    dataset[9] = 99
    group["d"].resize((9,))
    with pytest.raises(RuntimeError, match="shape"):
        dataset.id.refresh()
    with pytest.raises(RuntimeError, match="shape"):
        file.close()
    assert list(zarr.open_array(f"{path}/d", mode="r")[...]) == list(range(9))


def test_attributes(opened):
    peer, ours = opened
    assert "new" not in ours["d"].attrs
    peer["d"].attrs["new"] = 7
    peer.attrs["title"] = "other"
    ours["d"].id.refresh()
    assert ours["d"].attrs["new"] == 7
    assert refresh(ours["/"], "H5Orefresh") >= 0
    assert ours.attrs["title"] == "other"


def test_children(opened):
    peer, ours = opened
    group = ours["g"]
    assert list(group) == ["inner"] and list(ours) == ["d", "g"]
    put(peer, "g/more", np.arange(3))
    del peer["g/inner"]
    assert refresh(group, "H5Grefresh") >= 0
    assert list(group) == ["more"] and list(group["more"][:]) == [0, 1, 2]
    assert "inner" not in ours["g"]


def test_gone(opened):
    peer, ours = opened
    dataset = ours["d"]
    del peer["d"]
    with pytest.raises(RuntimeError, match="no node|zarr.json"):
        dataset.id.refresh()


def test_another_kind(opened):
    peer, ours = opened
    dataset = ours["d"]
    del peer["d"]
    peer.create_group("d")
    with pytest.raises(RuntimeError, match="another kind"):
        dataset.id.refresh()


def test_an_entry_that_could_not_be_read(opened):
    """The entry shows its new state, also when it is gone."""
    peer, ours = opened
    for name in ("mended", "gone"):
        put(peer, name, np.arange(3))
    store = Path(ours.filename)
    text = (store / "mended/zarr.json").read_text()
    for name in ("mended", "gone"):
        (store / name / "zarr.json").write_text("{")
    assert refresh(ours["/"], "H5Grefresh") >= 0
    assert set(ours) == {"d", "g", "gone", "mended"}
    assert "zarr:unreadable" in ours["mended"].attrs
    (store / "mended/zarr.json").write_text(text)
    (store / "gone/zarr.json").unlink()
    assert refresh(ours["/"], "H5Grefresh") >= 0
    assert set(ours) == {"d", "g", "mended"} and list(ours["mended"]) == [0, 1, 2]
