# SPDX-License-Identifier: MIT
"""Chunks that the core encoded, read by zarr-python, numcodecs and our own reader.

`zb-check --encode` fills arrays, of which this test writes the documents, through the core's
encoder, without its writer. The arrays are those of the cross product of make_stores.py, and one
for each setting of each codec.
"""

import json
import os
import subprocess
from pathlib import Path

import numcodecs
import numcodecs.blosc
import numpy as np
import product
import pytest
import refcodec
import zarr
from round_peers import read_zarr_python

CHECK = Path(os.environ["ZARRBRIDGE_BUILD_DIR"]) / "tests" / "interop" / "zb-check"


def run_check(*arguments):
    # The preloaded runtime of the sanitizers, if any, is for Python.
    environment = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "ASAN_OPTIONS")}
    done = subprocess.run([CHECK, *arguments], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def encode(folder, arrays):
    """Writes {name: (document, values)} into folder/x.zarr and folder/manifest.json, has the core
    encode the chunks, and its reader compare them with the values."""
    rows = []
    refcodec.write_group(folder / "x.zarr")
    for name, (document, values) in arrays.items():
        refcodec.write_document(folder / "x.zarr" / name, document)
        chunk_shape = document["chunk_grid"]["configuration"]["chunk_shape"]
        for cell in refcodec.chunk_cells(values.shape, chunk_shape):
            key = refcodec.chunk_key(cell, document["chunk_key_encoding"])
            (folder / "x.zarr" / name / key).parent.mkdir(parents=True, exist_ok=True)
        np.save(folder / f"{name}.npy", values)
        rows.append({"store": "x.zarr", "array": name, "expected": f"{name}.npy"})
    (folder / "manifest.json").write_text(json.dumps(rows))
    run_check("--encode", folder / "manifest.json")
    run_check(folder / "manifest.json")


def objects(path):
    """{key: bytes} of an array's chunks."""
    files = (f for f in path.rglob("*") if f.is_file() and f.name != "zarr.json")
    return {str(f.relative_to(path)): f.read_bytes() for f in files}


def assert_same_objects(folder, name, document, values, fill):
    """The reference encoder makes the same objects."""
    refcodec.write_array(folder / "reference" / name, document, values, fill)
    assert objects(folder / "x.zarr" / name) == objects(folder / "reference" / name), name


@pytest.mark.parametrize("data_type", product.DATA_TYPES)
def test_cross_product(data_type, tmp_path):
    """Every codec, nesting and layout. Where nothing compresses, the objects are the reference
    encoder's, byte for byte; zarr-python reads all types and codecs that it knows."""
    arrays, exact, by_peer = {}, [], []
    for codec, nesting, layout, cname in product.combinations(data_type):
        name = f"{codec}-{nesting}-{layout}"
        document = product.document(data_type, codec, nesting, layout, cname)
        arrays[name] = document, product.expected(data_type, layout)
        if codec in ("raw", "crc32c", "transpose"):
            exact.append(name)
        if not data_type.startswith("r") and not (layout == "0d" and nesting != "plain"):
            by_peer.append(name)
    encode(tmp_path, arrays)
    for name in by_peer:
        values = read_zarr_python(tmp_path / "x.zarr" / name)
        assert values.tobytes() == arrays[name][1].tobytes(), name
    for name in exact:
        assert_same_objects(tmp_path, name, *arrays[name], product.fill_value(data_type))
    assert len(exact) == 60
    assert data_type.startswith("r") or len(by_peer) == 153


LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
BIG = {"name": "bytes", "configuration": {"endian": "big"}}
CRC = {"name": "crc32c"}
SHUFFLES = ["noshuffle", "shuffle", "bitshuffle"]


def zstd(level, checksum=False):
    return {"name": "zstd", "configuration": {"level": level, "checksum": checksum}}


def gzip(level):
    return {"name": "gzip", "configuration": {"level": level}}


def blosc(cname, clevel, shuffle, typesize, blocksize=0):
    conf = dict(cname=cname, clevel=clevel, shuffle=shuffle, typesize=typesize, blocksize=blocksize)
    return {"name": "blosc", "configuration": conf}


def samples():
    """Chunks of 20000 elements of 4 bytes: constant, random, a ramp, text."""
    rng = np.random.default_rng(4)
    text = np.frombuffer(b"a shard is a chunk that holds inner chunks; " * 2000, "<i4")[:20000]
    return {
        "constant": np.full(20000, 5, "<i4"),
        "random": rng.integers(-(2**31), 2**31, 20000, "<i4"),
        "ramp": np.arange(20000, dtype="<i4") // 3,
        "text": text,
    }


def encode_settings(folder, codecs):
    """One array for each codec and sample; yields (codec, values, object, array's path)."""
    arrays = {
        f"{i}-{name}": (
            refcodec.array_document((20000,), "int32", (20000,), [LITTLE, codec], 0), values
        )
        for i, codec in enumerate(codecs)
        for name, values in samples().items()
    }  # fmt: skip
    encode(folder, arrays)
    for name, (document, values) in arrays.items():
        path = folder / "x.zarr" / name
        yield document["codecs"][1], values, (path / "c" / "0").read_bytes(), path


def test_zstd_settings(tmp_path):
    """Every kind of level; the frame says its content's size, and has a checksum when told to."""
    codecs = [zstd(n, c) for n in (-131072, -5, 0, 1, 3, 9, 22) for c in (False, True)]
    for codec, values, data, path in encode_settings(tmp_path, codecs):
        conf = codec["configuration"]
        assert numcodecs.Zstd().decode(data) == values.tobytes()
        assert bool(data[4] & 4) == conf["checksum"]
        assert data[4] >> 6 > 0  # the size of the content is there
        assert (read_zarr_python(path) == values).all()


def test_gzip_settings(tmp_path):
    for _, values, data, path in encode_settings(tmp_path, [gzip(n) for n in range(10)]):
        assert numcodecs.GZip().decode(data) == values.tobytes()
        assert (read_zarr_python(path) == values).all()


def test_zlib_settings(tmp_path):
    """zarr-python reads the chunks that we encode, and has the same codec in its document."""
    codecs = [{"name": "numcodecs.zlib", "configuration": {"level": n}} for n in range(-1, 10)]
    for codec, values, data, path in encode_settings(tmp_path, codecs):
        assert numcodecs.Zlib().decode(data) == values.tobytes()
        assert (read_zarr_python(path) == values).all()
        written = zarr.open_array(path, mode="r").metadata.to_dict()["codecs"][-1]
        assert written == codec


@pytest.mark.parametrize("cname", product.BLOSC_NAMES)
def test_blosc_settings(cname, tmp_path):
    codecs = [blosc(cname, n, s, 4) for n in (0, 1, 5, 9) for s in SHUFFLES]
    codecs += [blosc(cname, 3, s, t, b) for s in SHUFFLES for t, b in ((1, 0), (8, 1024), (3, 999))]
    library = {"lz4hc": "LZ4", "lz4": "LZ4", "zlib": "Zlib", "zstd": "Zstd", "blosclz": "BloscLZ"}
    for codec, values, data, path in encode_settings(tmp_path, codecs):
        conf = codec["configuration"]
        assert numcodecs.Blosc().decode(data) == values.tobytes()
        typesize, shuffle, stored = numcodecs.blosc._cbuffer_metainfo(data)
        assert typesize == conf["typesize"]
        if not stored:
            assert numcodecs.blosc.cbuffer_complib(data) == library[cname]
            # libblosc drops a shuffle of single bytes.
            assert SHUFFLES[shuffle] == conf["shuffle"] or conf["typesize"] == 1
        assert (read_zarr_python(path) == values).all()


def test_chains(tmp_path):
    """Long chains, and shards with codecs around them or inside of each other."""
    turn = {"name": "transpose", "configuration": {"order": [2, 0, 1]}}
    shard = product.shard
    big_index = [{"name": "transpose", "configuration": {"order": [3, 1, 0, 2]}}, BIG, CRC]
    chains = {
        "long": [BIG, gzip(1), CRC, zstd(1), CRC],
        "turned": [turn, BIG, zstd(3)],
        "zlib": [LITTLE, {"name": "numcodecs.zlib", "configuration": {"level": 2}}, CRC],
        "around": [shard([2, 3, 4], [LITTLE, zstd(3)]), zstd(1), CRC],
        "nested_around": [shard([4, 6, 4], [shard([2, 3, 4], [LITTLE]), gzip(2)]), zstd(1)],
    }
    # Chains that zarr-python 3.0.6 refuses. No codec in them compresses, so that the bytes can be
    # compared.
    exact = {
        "turned_shard": [turn, shard([8, 2, 3], [turn, BIG, CRC], "start"), CRC],
        "nested": [shard([4, 6, 4], [turn, shard([2, 2, 3], [turn, BIG, CRC], "start")], "end")],
        "index": [shard([2, 3, 4], [LITTLE], "end", big_index)],
    }
    values = np.arange(7 * 11 * 13, dtype="<i2").reshape(7, 11, 13)
    values[:, 6:, :] = -1
    arrays = {
        name: (refcodec.array_document(values.shape, "int16", (4, 6, 8), chain, -1), values)
        for name, chain in (chains | exact).items()
    }
    encode(tmp_path, arrays)
    for name, array in arrays.items():
        assert len(objects(tmp_path / "x.zarr" / name)) == 4, name  # the others are all fill
        if name in exact:
            assert_same_objects(tmp_path, name, *array, -1)
        else:
            values_there = read_zarr_python(tmp_path / "x.zarr" / name)
            assert values_there.tobytes() == values.tobytes(), name
