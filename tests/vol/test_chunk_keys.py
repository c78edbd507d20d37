# SPDX-License-Identifier: MIT
"""The keys of chunks by the property zarr:chunk_key_encoding and the option chunk_keys."""

import json
import subprocess
import sys

import h5py
import numpy as np
import pytest
import zarr
from conftest import environment, tool
from property_lists import insert_bytes, property_of

DATA = np.arange(24, dtype="i4").reshape(4, 6)


def encoding(name, **configuration):
    return {"name": name, "configuration": configuration}


ENCODINGS = {
    "c.1.2": encoding("default", separator="."),
    "1.2": encoding("v2", separator="."),
    "1/2": encoding("v2", separator="/"),
    "c/1/2.bin": encoding("suffix", suffix=".bin", base_encoding=encoding("default", separator="/")),
}


def create(path, text, chunk=(2, 2)):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk(chunk)
    insert_bytes(plist, b"zarr:chunk_key_encoding", text)
    with h5py.File(path, "w") as f:
        made = h5py.h5d.create(f.id, b"d", h5py.h5t.NATIVE_INT32,
                               h5py.h5s.create_simple(DATA.shape), plist)
        h5py.Dataset(made)[...] = DATA


@pytest.mark.parametrize("key", ENCODINGS)
def test_property(tmp_path, key):
    path, copy = tmp_path / "x.zarr", tmp_path / "copy.zarr"
    create(path, json.dumps(ENCODINGS[key]).encode())
    assert (path / "d" / key).is_file()
    assert len([p for p in (path / "d").rglob("*") if p.is_file()]) == 7
    assert json.loads((path / "d/zarr.json").read_text())["chunk_key_encoding"] == ENCODINGS[key]
    if "suffix" not in key and "bin" not in key:
        assert (zarr.open_array(str(path), path="d", mode="r")[:] == DATA).all()
    with h5py.File(path) as f:
        assert (f["d"][:] == DATA).all()
        shown = property_of(f["d"].id.get_create_plist(), b"zarr:chunk_key_encoding")
        assert json.loads(shown.rstrip(b"\0")) == ENCODINGS[key]
    tool("h5repack", "-f", "GZIP=1", path, copy, connector="zarr")  # element by element
    assert (copy / "d" / key).is_file()
    with h5py.File(copy) as f:
        assert (f["d"][:] == DATA).all()


def test_usual_keys_have_no_property(tmp_path):
    with h5py.File(tmp_path / "x.zarr", "w") as f:
        plist = f.create_dataset("d", data=DATA, chunks=(2, 2)).id.get_create_plist()
        assert property_of(plist, b"zarr:chunk_key_encoding") is None
    assert (tmp_path / "x.zarr/d/c/1/2").is_file()


@pytest.mark.parametrize("text", [b"{", b"7", b'{"name": "unknown"}',
                                  b'{"name": "v2", "configuration": {"separator": "x"}}'])
def test_refused(tmp_path, text):
    with pytest.raises((ValueError, OSError, RuntimeError, NotImplementedError)):
        create(tmp_path / "x.zarr", text)
    assert not (tmp_path / "x.zarr/d").exists()


@pytest.mark.parametrize("word, key", [("slashes", "c/1/2"), ("dots", "c.1.2"), ("v2", "1.2")])
def test_option(tmp_path, word, key):
    code = ("import h5py, numpy as np, sys\n"
            "with h5py.File(sys.argv[1], 'w') as f:\n"
            "    f.create_dataset('d', data=np.ones((4, 6)), chunks=(2, 2))\n")
    env = environment(f"zarr chunk_keys={word}")
    subprocess.run([sys.executable, "-c", code, tmp_path / "x.zarr"], env=env, check=True)
    assert (tmp_path / "x.zarr/d" / key).is_file()
    wrong = environment("zarr chunk_keys=commas")
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "y.zarr"], env=wrong,
                          capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "chunk_keys=commas" in done.stderr
