# SPDX-License-Identifier: MIT
"""Datasets and types that are deleted while they are open live on until the last id is closed, as in HDF5's own files."""

import h5py
import numpy as np
import pytest
from conftest import run_python

KINDS = ("h5", "zarr")
both = pytest.mark.parametrize("kind", KINDS)


@both
@pytest.mark.parametrize("options", [{"chunks": (3, 4)}, {"chunks": (3, 4), "compression": "gzip"}, {}], ids=str)
def test_reads_and_writes(tmp_path, kind, options):
    values = np.arange(48).reshape(6, 8)
    with h5py.File(tmp_path / f"x.{kind}", "w") as file:
        data = file.create_dataset("g/d", data=values, **options)
        data.attrs["a"] = "text"
        data[0, 0] = 100  # waits in memory
        assert h5py.h5o.get_info(data.id).rc == 1
        del file["g/d"]
        assert list(file["g"]) == [] and h5py.h5o.get_info(data.id).rc == 0
        assert data[0, 0] == 100 and (data[1:] == values[1:]).all() and data.attrs["a"] == "text"
        data[2:4, 1] = [7, 8]
        data.attrs["b"] = 5
        assert (data[1:5, 1] == [9, 7, 8, 33]).all() and data.attrs["b"] == 5
        data.id.close()
        assert not data
    with h5py.File(tmp_path / f"x.{kind}") as file:
        assert list(file["g"]) == []


@both
def test_group_with_open_datasets(tmp_path, kind):
    with h5py.File(tmp_path / f"x.{kind}", "w") as file:
        for name in ("g/a", "g/sub/b", "g/sub/c"):
            file[name] = np.full(9, ord(name[-1]))
        held = [file["g/a"], file["g/sub/b"]]
        del file["g"]
        assert [list(set(data[...])) for data in held] == [[97], [98]]
        held[1][3] = 1
        assert held[1][3] == 1
        assert list(file) == []
        file["g/a"] = [1, 2]  # another one at the same place
        assert list(file["g/a"]) == [1, 2] and held[0].shape == (9,) and held[0][0] == 97


@both
def test_linked_again(tmp_path, kind):
    with h5py.File(tmp_path / f"x.{kind}", "w") as file:
        data = file.create_dataset("d", (10,), "i4", chunks=(3,), maxshape=(None,), fillvalue=-1)
        data[2] = 5
        data.attrs["a"] = 1
        del file["d"]
        data.resize((12,))
        data[11] = 6
        file["e"] = data
        assert h5py.h5o.get_info(file["e"].id).rc == 1
    with h5py.File(tmp_path / f"x.{kind}") as file:
        assert list(file) == ["e"] and file["e"].attrs["a"] == 1
        assert list(file["e"]) == [-1, -1, 5] + 8 * [-1] + [6]


@both
def test_linked_again_out_of_a_deleted_group(tmp_path, kind):
    with h5py.File(tmp_path / f"x.{kind}", "w") as file:
        file["g/sub/d"], file["g/other"] = np.arange(3), 5
        data, other = file["g/sub/d"], file["g/other"]
        del file["g"]
        file["x"], file["y/z"] = data, other
        assert sorted(file) == ["x", "y"]
    with h5py.File(tmp_path / f"x.{kind}") as file:
        assert list(file["x"]) == [0, 1, 2] and file["y/z"][()] == 5


@both
def test_a_type_linked_again(tmp_path, kind):
    with h5py.File(tmp_path / f"x.{kind}", "w") as file:
        for name in ("t", "g/t"):
            file[name] = np.dtype([("a", "i4"), ("b", "f8")])
            file[name].attrs["a"] = np.arange(3)
        held = [file["t"], file["g/t"], file["t"]]
        held[0].attrs["waits"] = "text"
        del file["t"]
        del file["g"]
        assert [one.dtype.names for one in held] == 3 * [("a", "b")]
        assert list(held[2].attrs["a"]) == [0, 1, 2]
        held[0].attrs["later"] = 1
        file["again"], file["sub/t"] = held[:2]
        file["d"] = np.zeros(2, held[0].dtype)
    with h5py.File(tmp_path / f"x.{kind}") as file:
        assert sorted(file) == ["again", "d", "sub"]
        assert file["again"].dtype == file["sub/t"].dtype == np.dtype([("a", "i4"), ("b", "f8")])
        assert dict(file["again"].attrs) | {"a": 0} == {"a": 0, "waits": "text", "later": 1}
        assert list(file["sub/t"].attrs["a"]) == [0, 1, 2]


@both
def test_names(tmp_path, kind):
    with h5py.File(tmp_path / f"x.{kind}", "w") as file:
        file["d"], file["t"], file["g/d"] = 1, np.dtype("i2"), 2
        file["other"] = file["d"]
        data, named, group = file["d"], file["t"], file["g"]
        for name in ("t", "g"):
            del file[name]
        assert named.name is None and group.name is None
        del file["d"]
        assert file["other"].name == "/other"
        file["new"] = named
        assert named.name == "/new" and file["new"].name == "/new"
        del file["other"]
        assert data[()] == 1


@both
def test_two_ids(tmp_path, kind):
    with h5py.File(tmp_path / f"x.{kind}", "w") as file:
        file["d"] = np.arange(5)
        first, second = file["d"], h5py.Dataset(h5py.h5d.open(file.id, b"d"))
        del file["d"]
        first[0] = 9
        first.id.close()
        assert list(second) == [9, 1, 2, 3, 4]


@both
def test_object_without_a_name(tmp_path, kind):
    with h5py.File(tmp_path / f"x.{kind}", "w") as file:
        data = h5py.Dataset(h5py.h5d.create(file.id, None, h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple((4,))))
        data[...] = [1, 2, 3, 4]
        assert list(data) == [1, 2, 3, 4] and h5py.h5o.get_info(data.id).rc == 0
        file["named"] = data
        assert h5py.h5o.get_info(data.id).rc == 1 and list(file["named"]) == [1, 2, 3, 4]


MEMORY = """
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "w") as file:
    small, large = file.create_dataset("s", data=np.arange(1000)), file.create_dataset("l", (1 << 20,), "i8")
    large[...] = np.random.default_rng(1).integers(1 << 60, size=1 << 20)
    again = [file.create_dataset(f"n{i}", data=np.full(50000, i)) for i in range(40)]
    del file["l"], file["s"]
    assert list(small[:3]) == [0, 1, 2]
    for i, data in enumerate(again):  # each is given back before the next
        del file[f"n{i}"]
        assert data[7] == i
        data.id.close()
    try:
        large[0]
    except OSError as error:
        print(error)
"""


def test_memory_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setenv("ZARRBRIDGE_WRITE_CACHE_BYTES", str(1 << 20))
    assert "deleted" in run_python(MEMORY, str(tmp_path / "x.zarr"), connector="zarr")
