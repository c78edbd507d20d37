# SPDX-License-Identifier: MIT
"""Appending beside other programs: by the operation zarr:append, as docs/hdf5.md shows it for h5py, and by
loops over H5Dset_extent. Nothing is lost, doubled or empty, and no handle sticks."""

import collections
import re
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from length import by_length

PAGE = Path(__file__).parents[2] / "docs/hdf5.md"
RECIPE = re.search(r"### Appending.*?```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]
exec(RECIPE)  # pylint: disable=exec-used


def make(path, rows=0, chunk=64, **more):
    with h5py.File(path, "w") as f:
        f.create_dataset("d", shape=(rows,), maxshape=(None,), chunks=(chunk,), dtype="i4", **more)


def grow_elsewhere(path, length, value=None):
    """As another program does it, with that value in the new rows."""
    array = zarr.open_array(f"{path}/d", mode="r+")
    before = array.shape[0]
    array.resize((length,))
    if value is not None:
        array[before:] = value


def stored(path, name="d"):
    return list(zarr.open_array(f"{path}/{name}", mode="r")[...])


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "a.zarr")


APPENDER = RECIPE + """
import sys
path, me, count, style = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
f = h5py.File(path, "r+")
d = f["d"]

def longer():
    while True:
        row = d.shape[0]
        try:
            d.resize(row + 1, axis=0)
            return row
        except (OSError, RuntimeError) as error:
            assert "shape" in str(error), error
            d.id.refresh()

for i in range(count):
    value = me * 1000 + i + 1
    if style == "append":
        append((d, [value]))
    else:
        d[longer()] = value
    if i % 3 == 0 or style == "resize":
        f.flush()
f.close()
"""


@pytest.mark.parametrize("style, processes, count",
                         [("append", 8, by_length(12, 100)), ("resize", 4, by_length(8, 40))])
def test_many_processes_append_each_value_once(path, style, processes, count):
    make(path)
    running = [subprocess.Popen([sys.executable, "-c", APPENDER, path, str(i), str(count), style],
                                stderr=subprocess.PIPE, text=True) for i in range(processes)]
    for one in running:
        _, err = one.communicate()
        assert one.returncode == 0, err
    seen = collections.Counter(int(v) for v in stored(path))
    wanted = {i * 1000 + k + 1 for i in range(processes) for k in range(count)}
    assert set(seen) == wanted and set(seen.values()) == {1}


def test_datasets_grow_together(path):
    make(path)
    with h5py.File(path, "r+") as f:
        f.create_dataset("t", shape=(1,), maxshape=(None,), chunks=(8,), dtype="f8")
        f.create_dataset("two", shape=(0, 3), maxshape=(None, 3), chunks=(4, 3), dtype="i2")
        held = f["d"], f["two"]
        assert append((f["t"], [0.5, 1.5]), (held[0], [1, 2]), (held[1], [[1] * 3, [2] * 3])) == 1
        grow_elsewhere(path, 9, 9)
        assert append((held[0], [3]), (f["t"], [2.5])) == 9
        assert held[0].shape == (10,) and f["t"].shape == (10,)
    assert stored(path) == [0, 1, 2, 9, 9, 9, 9, 9, 9, 3]
    assert stored(path, "t") == [0, 0.5, 1.5] + [0] * 6 + [2.5]
    assert np.array(stored(path, "two")).tolist() == [[0] * 3, [1] * 3, [2] * 3]


def test_what_cannot_be_appended_to_is_refused(path, tmp_path, capfd):
    with h5py.File(path, "w") as f:
        f.create_dataset("fixed", data=np.arange(3))
        f.create_dataset("limited", shape=(3,), maxshape=(4,), chunks=(2,), dtype="i4")
        f.create_dataset("scalar", data=1)
        f.create_dataset("longer", shape=(4,), maxshape=(None,), chunks=(2,), dtype="i4")
        free = f.create_dataset("free", shape=(3,), maxshape=(None,), chunks=(2,), dtype="i4")
        for name in ("fixed", "scalar"):
            with pytest.raises(OSError):
                append((f[name], [1]))
        with pytest.raises(OSError):
            append((f["limited"], [1, 2]))
        assert "cannot exceed its maximal size (4)" in capfd.readouterr().err
        with pytest.raises(OSError):
            append((f["limited"], [4]), (f["longer"], [4]))
        with pytest.raises(OSError):
            append((free, [1]), (f["fixed"], [1]))
        with pytest.raises(OSError):
            append((free, [1]), (free, [1]))
        assert free.shape == (3,) and append((f["limited"], [4])) == 3
        with h5py.File(tmp_path / "x.h5", "w") as native:
            other = native.create_dataset("d", shape=(3,), maxshape=(None,), dtype="i4")
            with pytest.raises(OSError):
                append((free, [1]), (other, [1]))
            with pytest.raises(OSError):
                append((other, [1]))
    with h5py.File(path, "r") as f, pytest.raises(OSError):
        append((f["free"], [1]))
    assert stored(path, "free") == [0, 0, 0] and stored(path, "limited") == [0, 0, 0, 4]


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("before", [0, 1])
@pytest.mark.parametrize("behind", [1, 2])
def test_a_handle_goes_on_when_others_make_its_dataset_longer(path, rows, before, behind):
    """All steps of a handle succeed: each row is where its resize has put it."""
    make(path, chunk=256)
    f = h5py.File(path, "r+")
    d = f["d"]
    for i in range(rows):
        d.resize(i + 1, axis=0)
        d[i] = i + 1
        f.flush()
    for i in range(before):
        grow_elsewhere(path, rows + i + 1, 100 + rows + i)
    d.id.refresh()
    n = d.shape[0]
    d.resize(n + 1, axis=0)
    for i in range(behind):
        grow_elsewhere(path, n + i + 2, 101 + n + i)
    d[n] = 7
    assert d[n] == 7
    f.flush()
    d.id.refresh()
    assert d.shape == (n + 1 + behind,)
    f.close()
    wanted = list(range(1, rows + 1)) + [100 + rows] * before + [7] + [101 + n + i for i in range(behind)]
    assert stored(path) == wanted


def test_a_resize_by_an_outdated_shape_cuts_nothing_off(path):
    """Neither at once, nor when it is tried again, nor when a flush has brought the document of now in."""
    make(path, rows=10)
    f = h5py.File(path, "r+")
    d = f["d"]
    d.attrs["n"] = 1
    grow_elsewhere(path, 12, 5)
    for length in (11, 11, 12, 9):
        with pytest.raises((OSError, RuntimeError), match="shape"):
            d.resize((length,))
    f.flush()
    for length in (11, 12, 13):
        with pytest.raises((OSError, RuntimeError), match="shape"):
            d.resize((length,))
    d.id.refresh()
    assert list(d[10:]) == [5, 5]
    d.resize((11,))
    f.close()
    assert stored(path) == [0] * 10 + [5]


def test_fill_values_stay_where_a_program_is_killed(path):
    """Between the reservation and the elements."""
    make(path, fillvalue=-1)
    code = RECIPE + f"import os, signal\nf = h5py.File({path!r}, 'r+')\nreserve(2, f['d'])\n"
    assert subprocess.run([sys.executable, "-c", code + "os.kill(os.getpid(), signal.SIGKILL)"],
                          check=False).returncode == -9
    with h5py.File(path, "r+") as f:
        assert append((f["d"], [6])) == 2
    assert stored(path) == [-1, -1, 6]


def test_rows_of_another_program_are_shown_and_written(path):
    """After a flush that has brought the document of now in: of an attribute, without a refresh."""
    make(path, rows=1)
    with h5py.File(path, "r+") as f:
        d = f["d"]
        d[0] = 1
        d.attrs["n"] = 1
        grow_elsewhere(path, 3)
        f.flush()
        d[1:3] = [2, 3]
        assert append((d, [4])) == 3
    assert stored(path) == [1, 2, 3, 4]


def test_the_recipe_fits_the_header():
    header = (PAGE.parents[1] / "hdf5-vol/include/zarrbridge/hdf5.h").read_text()
    struct = re.search(r"typedef struct zb_hdf5_append \{(.*?)\}", header, re.DOTALL)[1]
    members = re.findall(r"(\w+);(?!.*\*/$)", re.sub(r"/\*.*?\*/", "", struct, flags=re.DOTALL))
    names = {"others": "with", "other_dims": "with_dim"}
    assert [names.get(name, name) for name, *_ in Append._fields_] == members
    assert 'ZB_HDF5_APPEND "zarr:append"' in header
