# SPDX-License-Identifier: MIT
"""Documents that the core writes, read by zarr-python: every data type and fill value, codecs,
shards, names and attributes; and consolidated metadata kept as zarr-python itself would make it."""

import json
import warnings

import numpy as np
import pytest
import zarr
from libzarrbridge import Store, ZarrbridgeError

warnings.filterwarnings("ignore", category=UserWarning)

FINITE = {"f": [0.0, -0.0, 1.5, 0.1, -9999.0, 1e-7, 65504.0, np.nan, np.inf, -np.inf]}
TYPES = {
    "bool": [False, True],
    **{f"int{n}": [0, -1, -(2 ** (n - 1)), 2 ** (n - 1) - 1] for n in (8, 16, 32, 64)},
    **{f"uint{n}": [0, 1, 2**n - 1] for n in (8, 16, 32, 64)},
    "float16": FINITE["f"],
    "float32": FINITE["f"] + [3.4028234663852886e38, 1e-45, 16777216.0],
    "float64": FINITE["f"] + [1.7976931348623157e308, 5e-324, 0.30000000000000004],
    "complex64": [0, 1 - 2j, complex(np.nan, np.inf), complex(-np.inf, -0.0)],
    "complex128": [0, 0.1 + 0.2j, complex(np.nan, -np.inf)],
}
CASES = [(name, value) for name, values in TYPES.items() for value in values]


@pytest.fixture
def store():
    store = Store()
    yield store
    store.close()


def bits(value, dtype):
    return np.array(value, dtype).tobytes()


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("name,value", CASES, ids=lambda v: str(v))
def test_fill_values(store, tmp_path, name, value, order):
    dtype = np.dtype(name).newbyteorder(order)
    store.create_array("a", (5, 7), (2, 3), dtype, fill_value=value)
    array = zarr.open_array(store.write_to(tmp_path), path="a", mode="r")
    assert array.dtype == np.dtype(name)
    assert (array.shape, array.chunks) == ((5, 7), (2, 3))
    assert bits(array.metadata.fill_value, name) == bits(value, name)
    assert array[4:, 6:].tobytes() == bits(value, name)


CODECS = [
    None,
    [],
    ["crc32c"],
    [{"name": "zstd"}],
    [{"name": "gzip", "configuration": {"level": 1}}, {"name": "crc32c"}],
    [{"name": "numcodecs.zlib"}],
    [{"name": "blosc"}],
    [{"name": "blosc", "configuration": {"cname": "lz4", "shuffle": "bitshuffle", "clevel": 1}}],
]


@pytest.mark.parametrize("shards", [None, (4, 6)])
@pytest.mark.parametrize("codecs", CODECS, ids=json.dumps)
def test_peer_writes_into_our_array(store, tmp_path, codecs, shards):
    """The document is complete enough that another writer fills the array, and we can read it."""
    store.create_array("g/a", (5, 7), (2, 3), "float32", shards=shards, codecs=codecs,
                       names=["y", None], attributes={"units": "m", "z": [1.5, None]})
    array = zarr.open_array(store.write_to(tmp_path), path="g/a", mode="r+")
    assert array.metadata.dimension_names == ("y", None)
    assert dict(array.attrs) == {"units": "m", "z": [1.5, None]}
    assert array.chunks == (2, 3) and array.shards == shards
    values = np.arange(35, dtype="float32").reshape(5, 7)
    array[...] = values
    again = zarr.open_array(tmp_path, path="g/a", mode="r")
    assert (again[...] == values).all()


def test_scalar_and_empty(store, tmp_path):
    store.create_array("scalar", (), (), "int16", fill_value=3)
    store.create_array("empty", (0, 4), (1, 4), "int16", separator=".")
    root = zarr.open_group(store.write_to(tmp_path), mode="r")
    assert root["scalar"][()] == 3
    assert root["empty"].shape == (0, 4)


def test_groups(store, tmp_path):
    store.create_group("a/b", {"ü": "ß", "n": 2**70})
    root = zarr.open_group(store.write_to(tmp_path), mode="r")
    assert dict(root["a/b"].attrs) == {"ü": "ß", "n": 2**70}
    assert dict(root.attrs) == {}


def test_refused_attributes(store):
    """Python's json writes NaN, which is not JSON."""
    with pytest.raises(ZarrbridgeError, match="NaN is no JSON"):
        store.create_group("a", {"x": float("nan")})


def consolidated(path):
    # zarr-python leaves a bare NaN in the fill value of "a", which would not equal itself.
    document = json.loads((path / "zarr.json").read_text(), parse_constant=str)
    block = document["consolidated_metadata"]
    assert block["kind"] == "inline" and block["must_understand"] is False
    return block["metadata"]


def test_consolidated_like_peer(store, tmp_path):
    """zarr-python consolidates; we change nodes; the block equals the one that zarr-python makes of
    the result from nothing. Arrays are of types whose documents zarr-python would not phrase
    anew."""
    peer, ours, fresh = tmp_path / "peer", tmp_path / "ours", tmp_path / "fresh"
    root = zarr.create_group(peer, attributes={"made": "by peer"})
    root.create_array("b/x", shape=(4,), dtype="int32", chunks=(2,))
    root.create_array("a", shape=(4,), dtype="float64", chunks=(2,), fill_value=np.nan)
    root.create_group("gone")
    root.create_group("b/moved/deep")
    zarr.consolidate_metadata(peer)

    store.read_from(peer)
    store.create_array("b/new/y", (3, 3), (2, 2), "uint16", shards=(4, 4), names=["u", "v"])
    store.create_group("B", {"k": {"l": [1, 2]}})
    store.set_attribute("a", "units", "K")
    store.set_attribute("", "title", "root")
    store.resize("b/x", (40,))
    store.delete("gone")
    store.move("b/moved", "other")
    store.write_to(ours)
    store.write_to(fresh)
    zarr.consolidate_metadata(fresh)
    assert consolidated(ours) == consolidated(fresh)
    assert list(consolidated(ours)) == ["a", "B", "b", "other", "b/new", "b/x", "other/deep",
                                        "b/new/y"]
    assert consolidated(ours)["a"]["fill_value"] == "NaN"
    opened = zarr.open_group(ours, mode="r", use_consolidated=True)
    assert opened["b/x"].shape == (40,)
    assert dict(opened["a"].attrs) == {"units": "K"}
    assert sorted(opened) == ["B", "a", "b", "other"]
