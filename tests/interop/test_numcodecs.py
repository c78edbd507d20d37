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
    "lzma": [{}, {"preset": 0, "check": 0}, {"format": 2}],
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
