# SPDX-License-Identifier: MIT
"""Named (committed) datatypes: empty groups to Zarr readers."""

import json
import random

import h5py
import numpy as np
import pytest
from conftest import run, tool
from test_exact_types import KINDS, mutate

T = h5py.h5t
MORE = {"int": T.NATIVE_INT32, "text": h5py.h5t.py_create(h5py.string_dtype(), logical=True),
        "sequence": T.vlen_create(T.STD_I16BE), "reference": T.STD_REF_OBJ}
ALL = {**{name: kind for name, (kind, _) in KINDS.items()}, **MORE}


def commit(file, name, kind):
    kind = kind.copy()
    kind.commit(file.id, name.encode())
    return kind


@pytest.fixture
def store(tmp_path):
    for name in ("x.zarr", "a.h5"):
        with h5py.File(tmp_path / name, "w") as file:
            for key, kind in ALL.items():
                commit(file, key, kind)
            file.create_group("g")
            file["g/t"] = np.dtype([("a", "i2"), ("b", "f8")])
            file["g/t"].attrs["note"] = 7
            file.create_dataset("g/d", (3,), file["g/t"])[1] = (1, 2.5)
    return tmp_path / "x.zarr"


def test_kept(store):
    with h5py.File(store, "r") as file:
        for name, kind in ALL.items():
            opened = file[name]
            assert isinstance(opened, h5py.Datatype) and opened.id.committed() and opened.id == kind, name
            assert file.get(name, getclass=True) is h5py.Datatype and opened.name == f"/{name}"
        assert file["g/t"].dtype == np.dtype([("a", "i2"), ("b", "f8")]) and dict(file["g/t"].attrs) == {"note": 7}
        assert file["g/d"][1].tolist() == (1, 2.5)
        seen = []
        file.visititems(lambda name, item: seen.append((name, type(item).__name__)))
        assert ("g/t", "Datatype") in seen and len(seen) == len(ALL) + 3
        with pytest.raises((OSError, ValueError, KeyError)):
            h5py.h5g.open(file.id, b"int")
        with pytest.raises((OSError, ValueError, KeyError)):
            h5py.h5d.open(file.id, b"int")
        with pytest.raises((OSError, ValueError, KeyError, TypeError)):
            h5py.h5t.open(file.id, b"g")
    assert json.loads((store / "int/zarr.json").read_text())["node_type"] == "group"


def test_changed(store):
    with h5py.File(store, "r+") as file:
        file.move("int", "g/moved")
        file.copy("g/t", "copy")
        del file["text"]
        with pytest.raises(KeyError, match="name already exists"):
            commit(file, "g/moved", T.NATIVE_INT8)
        file["copy"].attrs["more"] = "x"
    with h5py.File(store, "r") as file:
        assert "text" not in file and "int" not in file and file["g/moved"].id == T.NATIVE_INT32
        assert dict(file["copy"].attrs) == {"note": 7, "more": "x"} and file["copy"] == file["copy"]


def test_copied(store, tmp_path):
    tool("h5repack", store, tmp_path / "b.h5", connector="zarr")
    tool("h5repack", tmp_path / "a.h5", tmp_path / "c.zarr", connector="zarr")
    tool("h5copy", "-i", tmp_path / "a.h5", "-o", tmp_path / "d.zarr", "-s", "/g", "-d", "/g", connector="zarr")
    for name in ("b.h5", "c.zarr", "d.zarr"):
        with h5py.File(tmp_path / name, "r") as file:
            assert file["g/t"].id.committed() and dict(file["g/t"].attrs) == {"note": 7}, name
            for key in ALL if name != "d.zarr" else ():
                assert file[key].id == ALL[key], (name, key)


def test_refused(store, tmp_path):
    """What would lose the type."""
    done = run(["h5copy", "--enable-error-stack", "-i", store, "-o", tmp_path / "e.h5", "-s", "/int", "-d", "/int"],
               "zarr")
    assert done.returncode != 0 and "but by h5repack" in done.stderr


def test_hostile(store):
    """A group whose attribute tells no type is a group."""
    path, random_ = store / "compound/zarr.json", random.Random("named")
    made = json.loads(path.read_text())
    side = made["attributes"]["_hdf5"]
    for _ in range(150):
        made["attributes"] = {"_hdf5": mutate(side, random_)}
        path.write_text(json.dumps(made))
        with h5py.File(store, "r") as file:
            kind = file.get("compound", getclass=True)
            assert kind in (h5py.Group, h5py.Datatype)
            if kind is h5py.Datatype:
                assert file["compound"].id.get_size() > 0
