# SPDX-License-Identifier: MIT
"""Programs that write and read at the same time in SWMR mode (single writer, multiple readers)."""

import h5py
import numpy as np
import pytest
from conftest import run_python

KINDS = ("h5", "zarr")
READER = """
import sys, h5py
with h5py.File(sys.argv[1], "r", libver="latest", swmr=True) as f:
    assert f.swmr_mode
    print(f["d"].shape[0], f["d"][...].tolist())
"""


def make(path):
    file = h5py.File(path, "w", libver="latest")
    return file, file.create_dataset("d", (0,), "i4", maxshape=(None,), chunks=(2,))


@pytest.mark.parametrize("kind", KINDS)
def test_modes(tmp_path, kind):
    file, _ = make(tmp_path / f"x.{kind}")
    assert not file.swmr_mode
    with pytest.raises(ValueError):
        file.swmr_mode = False
    file.swmr_mode = True
    assert file.swmr_mode and file.id.get_intent() & h5py.h5f.ACC_SWMR_WRITE
    with pytest.raises(ValueError):
        file.swmr_mode = False
    with pytest.raises((RuntimeError, ValueError)):
        file.id.start_swmr_write()
    assert file.swmr_mode
    file.close()
    for swmr in (False, True):
        with h5py.File(tmp_path / f"x.{kind}", libver="latest", swmr=swmr) as file:
            assert file.swmr_mode is swmr
            with pytest.raises((ValueError, RuntimeError)):
                file.swmr_mode = not swmr
            assert file.swmr_mode is swmr
    with h5py.File(tmp_path / f"x.{kind}", "r+", libver="latest") as file:
        assert not file.swmr_mode


@pytest.mark.parametrize("kind", KINDS)
def test_opened_for_it(tmp_path, kind):
    path = tmp_path / f"x.{kind}"
    make(path)[0].close()
    fapl = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    fapl.set_libver_bounds(h5py.h5f.LIBVER_LATEST, h5py.h5f.LIBVER_LATEST)
    flags = h5py.h5f.ACC_RDWR | h5py.h5f.ACC_SWMR_WRITE
    with h5py.File(h5py.h5f.open(bytes(path), flags, fapl)) as file:
        assert file.swmr_mode and file.id.get_intent() == flags
        file["d"].resize((2,))
        file["d"][:] = 5
    with h5py.File(path) as file:
        assert list(file["d"]) == [5, 5]


@pytest.mark.parametrize("kind", KINDS)
def test_readers_see_what_was_flushed(tmp_path, kind):
    path = tmp_path / f"x.{kind}"
    file, data = make(path)
    file.swmr_mode = True
    for length in (4, 5, 8):
        data.resize((length,))
        data[:] = np.arange(length)
        data.flush()
        assert run_python(READER, path).split() == f"{length} {list(range(length))}".split()
        data.refresh()
        assert list(data) == list(range(length))
    file.close()


def test_a_file_that_is_read_does_not_start_to_write(tmp_path):
    make(tmp_path / "x.zarr")[0].close()
    with h5py.File(tmp_path / "x.zarr") as file:
        with pytest.raises(RuntimeError, match="start to write in SWMR mode"):
            file.id.start_swmr_write()
