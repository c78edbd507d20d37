# SPDX-License-Identifier: MIT
"""The codecs named numcodecs.* against zarr-python and numcodecs, both ways: what zarr-python
writes is read by the core, and what the core encodes is decoded by both."""

import json
import warnings

import numcodecs
import numpy as np
import pytest
import refcodec
import zarr
from libzarrbridge import Store, Writer
from round_peers import read_zarr_python
from test_encode import encode, run_check, samples

try:  # from zarr-python 3.1 on they are its own
    import zarr.codecs.numcodecs as zarr3
except ImportError:
    zarr3 = pytest.importorskip("numcodecs.zarr3", reason="there are no numcodecs for Zarr v3")
warnings.filterwarnings("ignore", message="Numcodecs codecs are not")

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}

BYTES = {
    "gzip": [{}, {"level": 9}],
    "zstd": [{}, {"level": 7, "checksum": True}],
    "blosc": [{}, {"cname": "zstd", "shuffle": 2}, {"cname": "snappy"}, {"shuffle": -1}],
    "lz4": [{}, {"acceleration": 50}],
    "bz2": [{}, {"level": 9}],
    "lzma": [{}, {"preset": 0, "check": 0}, {"format": 2}, {"format": 3, "filters": [{"id": 33}]},
             {"format": 3, "filters": [{"id": 3, "dist": 4}, {"id": 4}, {"id": 33, "preset": 1}]},
             {"format": 3, "filters": [{"id": 2**62 + 1, "dict_size": 65536, "lc": 1, "mf": 3}]}],
    "shuffle": [{}, {"elementsize": 2}, {"elementsize": 1}],
    "fletcher32": [{}],
    "crc32": [{}, {"location": "end"}],
    "adler32": [{}, {"location": "end"}],
    "crc32c": [{}, {"location": "start"}],
    "jenkins_lookup3": [{}, {"initval": 12345}],
}
CASES = [(name, conf) for name, settings in BYTES.items() for conf in settings]


@pytest.mark.parametrize("name,conf", CASES, ids=str)
def test_core_encodes(name, conf, tmp_path):
    codec = {"name": f"numcodecs.{name}", "configuration": conf}
    arrays = {
        sample: (refcodec.array_document((20000,), "int32", (20000,), [LITTLE, codec], 0), values)
        for sample, values in samples().items()
    }
    encode(tmp_path, arrays)
    # zarr-python shuffles by the array's element where the document says nothing.
    peer = numcodecs.get_codec({"id": name, **conf})
    for sample, (_, values) in arrays.items():
        data = (tmp_path / "x.zarr" / sample / "c" / "0").read_bytes()
        assert bytes(peer.decode(data)) == values.tobytes()
        assert (read_zarr_python(tmp_path / "x.zarr" / sample) == values).all()
        if name in ("shuffle", "fletcher32", "crc32", "adler32", "crc32c", "jenkins_lookup3"):
            assert data == bytes(peer.encode(values))


@pytest.mark.parametrize("name,conf", CASES, ids=str)
def test_zarr_python_encodes(name, conf, tmp_path):
    classes = {c.codec_name: c for c in vars(zarr3).values() if hasattr(c, "codec_name")}
    codec = classes[f"numcodecs.{name}"](**conf)
    rows = []
    for dtype in ("uint8", "int16", "float64"):
        values = (np.arange(7 * 33) % 50).astype(dtype).reshape(7, 33)
        for shards in (None, (8, 32)):
            if dtype == "uint8" and conf.get("elementsize") == 2:
                values = values[:6, :32]
            label = f"{dtype}-{'shards' if shards else 'plain'}"
            array = zarr.create_array(tmp_path / "x.zarr", name=label, shape=values.shape,
                                      chunks=(4, 16), shards=shards, dtype=dtype,
                                      compressors=[codec])  # fmt: skip
            array[...] = values
            np.save(tmp_path / f"{label}.npy", values)
            rows.append({"store": "x.zarr", "array": label, "expected": f"{label}.npy"})
    (tmp_path / "manifest.json").write_text(json.dumps(rows))
    run_check(tmp_path / "manifest.json")


def test_netcdf_filters(tmp_path):
    """HDF5's shuffle, deflate and fletcher32, in the order in which netCDF files name them."""
    chain = [LITTLE, *({"name": f"numcodecs.{n}", "configuration": c} for n, c in
                       (("shuffle", {"elementsize": 4}), ("zlib", {"level": 4}),
                        ("fletcher32", {})))]  # fmt: skip
    values = samples()["ramp"]
    document = refcodec.array_document((20000,), "int32", (3000,), chain, 0)
    encode(tmp_path, {"a": (document, values)})
    assert (read_zarr_python(tmp_path / "x.zarr" / "a") == values).all()


ZFPY = [{}, {"mode": 5}, {"mode": 4, "tolerance": 0.01}, {"mode": 3, "precision": 20},
        {"mode": 2, "rate": 12}]  # fmt: skip


def zfpy_values(dtype, shape):
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) / 9) * 1000).astype(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("conf", ZFPY, ids=str)
def test_zfpy(conf, dtype, tmp_path):
    """What we decode is what zfpy decodes, bit by bit, of its chunks and of ours; and both encode
    the same bytes."""
    zfpy = pytest.importorskip("zfpy", reason="there is no zfpy")
    # numcodecs writes the mode 5, for which it has no name, where a setting is missing.
    peer = numcodecs.get_codec({"id": "zfpy", **(conf if conf.get("mode") != 5 else {})})
    store, rows = Store(tmp_path / "ours.zarr"), []
    for shape in ((20,), (7, 9), (3, 5, 6), (2, 3, 5, 4)):
        label, key = f"{len(shape)}d", "c/" + "/".join("0" * len(shape))
        chain = [{"name": "numcodecs.zfpy", "configuration": conf}]
        values = zfpy_values(dtype, shape)
        theirs = bytes(peer.encode(values))
        store.create_array(label, shape, shape, dtype, codecs=chain)
        with Writer(store, label) as writer:
            writer.write((0,) * len(shape), (1,) * len(shape), values)
        assert (tmp_path / "ours.zarr" / label / key).read_bytes() == theirs
        refcodec.write_document(tmp_path / "theirs.zarr" / label,
                                refcodec.array_document(shape, dtype, shape, chain, 0))  # fmt: skip
        (tmp_path / "theirs.zarr" / label / key).parent.mkdir(parents=True)
        (tmp_path / "theirs.zarr" / label / key).write_bytes(theirs)
        np.save(tmp_path / f"{label}.npy", zfpy.decompress_numpy(theirs))
        rows.append({"store": "theirs.zarr", "array": label, "expected": f"{label}.npy"})
        for writer in ("theirs", "ours"):
            read = read_zarr_python(tmp_path / f"{writer}.zarr" / label)
            assert read.tobytes() == zfpy.decompress_numpy(theirs).tobytes()
    (tmp_path / "manifest.json").write_text(json.dumps(rows))
    run_check(tmp_path / "manifest.json")


def test_zarr_python_zfpy(tmp_path):
    """Whole arrays of zarr-python, with partial chunks, in shards and of version 2."""
    pytest.importorskip("zfpy", reason="there is no zfpy")
    rows = []
    for label, shards in (("plain", None), ("shards", (8, 10))):
        values = zfpy_values("float64", (13, 11))
        array = zarr.create_array(tmp_path / "x.zarr", name=label, shape=values.shape,
                                  chunks=(4, 5), shards=shards, dtype="float64", compressors=None,
                                  serializer=zarr3.ZFPY(mode=4, tolerance=1e-3))  # fmt: skip
        array[...] = values
        np.save(tmp_path / f"{label}.npy", array[...])
        rows.append({"store": "x.zarr", "array": label, "expected": f"{label}.npy"})
    old = zarr.create_array(tmp_path / "old.zarr", name="v2", shape=(13, 11), chunks=(4, 5),
                            dtype="float64", zarr_format=2, filters=None,
                            compressors=numcodecs.get_codec({"id": "zfpy", "mode": 3,
                                                             "precision": 20}))  # fmt: skip
    old[...] = values
    np.save(tmp_path / "v2.npy", old[...])
    rows.append({"store": "old.zarr", "array": "v2", "expected": "v2.npy"})
    (tmp_path / "manifest.json").write_text(json.dumps(rows))
    run_check(tmp_path / "manifest.json")
