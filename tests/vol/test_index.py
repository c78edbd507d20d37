# SPDX-License-Identifier: MIT
"""`zarrbridge index`: one file is an HDF5 file and the shard of an array. HDF5's programs, zarr-python and other
readers see the same elements in it, and what they do to it is never read as if it were whole."""

import ctypes
import json
import os
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from conftest import environment, run_new_python, tool
from numcodecs import Blosc, Zstd
from property_lists import library

SHAPE, CHUNK = (20, 30), (8, 10)
DATA = (np.arange(600) * 7 % 1000).astype("i4").reshape(SHAPE)
OPTIONS = {
    "plain": {}, "gzip": {"compression": "gzip"}, "shuffle": {"shuffle": True, "compression": "gzip"},
    "all": {"shuffle": True, "compression": "gzip", "fletcher32": True}, "fletcher": {"fletcher32": True},
    "big": {"dtype": ">i4", "compression": "gzip"}, "double": {"dtype": "f8"}, "contiguous": {"chunks": None},
    "growing": {"maxshape": (None, 30)}, "fill": {"fillvalue": -3},
}
FILTERS = {"zstd": (32015, (3,), Zstd(3)), "blosc": (32001, (2, 2, 4, 320, 5, 1, 1), Blosc("lz4", 5, 1))}


def index(*arguments, status=0):
    done = subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], "index", *map(str, arguments)], capture_output=True,
                          text=True, env=environment("zarr", True), check=False)
    assert done.returncode == status, done.stderr
    return done.stderr


def verify(store):
    done = subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], "verify", str(store)], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout + done.stderr


def make(path, kind, name="g/d", **more):
    with h5py.File(path, "a", **more) as file:
        if kind in OPTIONS:
            options = {"chunks": CHUNK, **OPTIONS[kind]}
            dataset = file.create_dataset(name, SHAPE, options.pop("dtype", "i4"), **options)
            dataset[:12 if kind == "fill" else None] = DATA[:12 if kind == "fill" else None]
        else:  # this libhdf5 need not have the filter: chunks are written directly
            number, values, codec = FILTERS[kind]
            dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            dcpl.set_chunk(CHUNK)
            dcpl.set_filter(number, h5py.h5z.FLAG_OPTIONAL, values)
            file.require_group("g")
            h5py.h5d.create(file.id, name.encode(), h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple(SHAPE), dcpl)
            dataset = file[name]
            for y in range(0, 20, 8):
                for x in range(0, 30, 10):
                    chunk = np.zeros(CHUNK, "i4")
                    part = DATA[y:y + 8, x:x + 10]
                    chunk[:len(part)] = part
                    dataset.id.write_direct_chunk((y, x), codec.encode(chunk))
        dataset.attrs["units"] = "m"
    return path


def expected(kind):
    out = DATA.copy()
    if kind == "fill":
        out[12:] = -3
    return out


@pytest.mark.parametrize("kind", [*OPTIONS, *FILTERS])
def test_both_read_one_file(tmp_path, kind):
    """No byte is copied, and nothing but an index is added. Zarr's readers take windows and the whole; h5dump finds
    the file as it was."""
    path, store = make(tmp_path / "d.h5", kind), tmp_path / "d.zarr"
    before = path.read_bytes()
    shown = tool("h5dump", path) if kind in OPTIONS else ""
    index(path, "/g/d", store)
    count = 1 if kind == "contiguous" else 9
    after = path.read_bytes()
    assert after[:len(before)] == before and len(after) == len(before) + 16 * count + 4
    assert os.path.samefile(path, store / "g/d/c/0/0")
    assert verify(store)[0] == 0
    array = zarr.open_array(str(store / "g/d"), mode="r")
    assert np.array_equal(array[:], expected(kind)) and array.attrs["units"] == "m"
    assert np.array_equal(array[5:13, 8:25], expected(kind)[5:13, 8:25])
    with h5py.File(store) as file:
        assert np.array_equal(file["g/d"][:], expected(kind))
    if kind in OPTIONS:
        with h5py.File(path) as file:
            assert np.array_equal(file["g/d"][:], expected(kind))
        assert tool("h5dump", path) == shown


PEERS_PYTHON = Path(__file__).parents[2] / "build/packages/venv-peers-3.4/bin/python"
PEERS = {"zarrs": "import zarr, zarrs; zarr.config.set({'codec_pipeline.path': 'zarrs.ZarrsCodecPipeline'});"
                  "a = zarr.open_array(sys.argv[1], mode='r')[:]",
         "tensorstore": "import tensorstore as ts; a = ts.open({'driver': 'zarr3', 'kvstore': {'driver': 'file', "
                        "'path': sys.argv[1]}}).result().read().result()"}


@pytest.mark.parametrize("kind", ["plain", "contiguous", "big", "all", *FILTERS])
@pytest.mark.parametrize("peer", PEERS)
def test_peers(tmp_path, peer, kind):
    """Where interop/differential has installed them, or ZARRBRIDGE_PEERS names an interpreter that has them.
    TensorStore has registered codecs alone."""
    python = os.environ.get("ZARRBRIDGE_PEERS", PEERS_PYTHON)
    if not os.path.exists(python):
        pytest.skip("no interpreter with zarrs and tensorstore")
    if peer == "tensorstore" and kind in ("big", "all"):
        pytest.skip("TensorStore has no codecs of numcodecs")
    index(make(tmp_path / "d.h5", kind), "g/d", tmp_path / "d.zarr")
    code = f"import sys, numpy as np; {PEERS[peer]}; np.save(sys.argv[2], a)"
    subprocess.run([python, "-W", "ignore", "-c", code, tmp_path / "d.zarr/g/d", tmp_path / "a.npy"], check=True)
    assert np.array_equal(np.load(tmp_path / "a.npy"), DATA)


def test_user_block(tmp_path):
    """Chunks are found behind it, too; addresses count from the file's first byte."""
    for kind in ("gzip", "contiguous"):
        path = make(tmp_path / f"{kind}.h5", kind, userblock_size=1024)
        index(path, "g/d", tmp_path / f"{kind}.zarr")
        assert np.array_equal(zarr.open_array(str(tmp_path / f"{kind}.zarr/g/d"), mode="r")[:], DATA)


def test_hdf5_takes_the_index_off(tmp_path):
    """A program that opens the file for writing is not kept from it. The array is then an error, and no fill values;
    deleted and indexed again it shows what was written."""
    path, store = make(tmp_path / "d.h5", "gzip"), tmp_path / "d.zarr"
    index(path, "g/d", store)
    with h5py.File(path, "r+") as file:
        file["g/d"][3, 4] = 5000
    with pytest.raises(ValueError, match="[Cc]hecksum"):
        zarr.open_array(str(store / "g/d"), mode="r")[:]
    status, found = verify(store)
    assert status == 1 and "g/d" in found
    with h5py.File(store, "r+") as file:
        del file["g/d"]
    index(path, "g/d", store)
    assert zarr.open_array(str(store / "g/d"), mode="r")[3, 4] == 5000


def test_reading_keeps_it(tmp_path):
    path, store = make(tmp_path / "d.h5", "gzip"), tmp_path / "d.zarr"
    index(path, "g/d", store)
    before = path.read_bytes()
    tool("h5ls", "-r", path)
    with h5py.File(path) as file:
        assert file["g/d"][0, 1] == 7
    assert path.read_bytes() == before and verify(store)[0] == 0


def test_zarr_writers_leave_the_file(tmp_path):
    """Their shard takes the place of the name, whatever strategy they have."""
    for strategy in ("rewrite", "append"):
        path, store = make(tmp_path / f"{strategy}.h5", "plain"), tmp_path / f"{strategy}.zarr"
        index(path, "g/d", store)
        before = path.read_bytes()
        run_new_python("import h5py, sys; h5py.File(sys.argv[1], 'r+')['g/d'][0, 0] = 9", store,
                       connector=f"zarr strategy={strategy}")
        assert path.read_bytes() == before
        assert zarr.open_array(str(store / "g/d"), mode="r")[0, 0] == 9


def filter_mask(file):
    file.create_dataset("d", SHAPE, "i4", chunks=CHUNK, compression="gzip")
    file["d"].id.write_direct_chunk((0, 0), np.zeros(CHUNK, "i4").tobytes(), 1)


def plain_edges(file):
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dcpl.set_chunk(CHUNK)
    dcpl.set_deflate(1)
    assert library.H5Pset_chunk_opts(ctypes.c_int64(dcpl.id), 2) >= 0  # H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS
    h5py.h5d.create(file.id, b"d", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple(SHAPE), dcpl)
    file["d"][:] = DATA


def compact(file):
    dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    dcpl.set_layout(h5py.h5d.COMPACT)
    h5py.h5d.create(file.id, b"d", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple(SHAPE), dcpl)


REFUSED = {
    "filter mask": (filter_mask, "filter mask"),
    "edges": (plain_edges, "edge"),
    "compact": (compact, "compact"),
    "scalar": (lambda file: file.create_dataset("d", data=1), "scalar"),
    "empty": (lambda file: file.create_dataset("d", (0, 3), "i4", maxshape=(None, 3)), "no elements"),
    "text": (lambda file: file.create_dataset("d", data=["a", "b"]), "no plain numbers"),
    "bool": (lambda file: file.create_dataset("d", data=[True]), "no plain numbers"),
    "struct": (lambda file: file.create_dataset("d", data=np.zeros(3, "i4,f8")), "no plain numbers"),
    "lzf": (lambda file: file.create_dataset("d", data=DATA, compression="lzf"), "lzf"),
    "scaleoffset": (lambda file: file.create_dataset("d", data=DATA, scaleoffset=0), "scaleoffset"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused(tmp_path, what):
    """With the reason, and nothing is left of it."""
    build, reason = REFUSED[what]
    with h5py.File(tmp_path / "d.h5", "w") as file:
        build(file)
    before = (tmp_path / "d.h5").read_bytes()
    assert reason in index(tmp_path / "d.h5", "d", tmp_path / "d.zarr", status=2)
    assert not (tmp_path / "d.zarr").exists() and (tmp_path / "d.h5").read_bytes() == before


def can_share(folder):
    (folder / "a").write_bytes(b"x" * 5000)
    return subprocess.run(["cp", "--reflink=always", folder / "a", folder / "b"], capture_output=True,
                          check=False).returncode == 0


def test_second_dataset(tmp_path):
    """It gets blocks of its own name where the file system can, else the reason; the first one stays."""
    path, store = make(make(tmp_path / "d.h5", "gzip"), "plain", "other"), tmp_path / "d.zarr"
    index(path, "g/d", store)
    if can_share(tmp_path):
        index(path, "other", store)
        assert np.array_equal(zarr.open_array(str(store / "other"), mode="r")[:], DATA)
    else:
        assert "reflinks" in index(path, "other", store, status=2)
        assert not (store / "other").exists()
    assert np.array_equal(zarr.open_array(str(store / "g/d"), mode="r")[:], DATA)
    assert np.array_equal(h5py.File(path)["g/d"][:], DATA)


def test_mistakes(tmp_path):
    path, store = make(tmp_path / "d.h5", "gzip"), tmp_path / "d.zarr"
    assert "none.h5" in index(tmp_path / "none.h5", "d", store, status=2)
    assert "none" in index(path, "none", store, status=2)
    assert not store.exists()
    index(path, "g/d", store)
    index(path, "g/d", store, status=2)  # it is there
    assert verify(store)[0] == 0
    assert "in a store" in index(store, "g/d", tmp_path / "e.zarr", status=2)


def test_other_bytes_behind_the_end(tmp_path):
    """They are somebody's, and stay."""
    path = make(tmp_path / "d.h5", "gzip")
    with open(path, "ab") as file:
        file.write(b"mine")
    if can_share(tmp_path):
        index(path, "g/d", tmp_path / "d.zarr")
    else:
        assert "bytes behind" in index(path, "g/d", tmp_path / "d.zarr", status=2)
    assert path.read_bytes().endswith(b"mine")


def test_json(tmp_path):
    make(tmp_path / "d.h5", "gzip")
    done = subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], "index", "--json", tmp_path / "d.h5", "g/d",
                           tmp_path / "d.zarr"], capture_output=True, text=True, check=True,
                          env=environment("zarr", True))
    assert json.loads(done.stdout)["shard"] == "file"
