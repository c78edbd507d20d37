# SPDX-License-Identifier: MIT
"""The fixtures of numcodecs: arrays that many of its versions have encoded. They are not copied into
this tree: the source of numcodecs is downloaded at its first use.

Each chunk becomes an array of version 2, so that ids and configurations are those of numcodecs, and
what the core reads is what numcodecs decodes. Encoders of one answer give the same bytes."""

import json

import numcodecs
import numpy as np
import pytest
import refcodec
from peer_packages import Missing, numcodecs_fixtures
from test_encode import encode, run_check

try:
    FIXTURE = numcodecs_fixtures()
except Missing as missing:
    pytest.skip(str(missing), allow_module_level=True)
BYTES = {"adler32", "blosc", "bz2", "crc32", "crc32c", "gzip", "lz4", "lzma", "shuffle", "zlib", "zstd"}
ARRAYS = {"astype", "delta", "fixedscaleoffset", "packbits", "quantize"}
TEXTS = {"vlen-utf8", "vlen-bytes"}  # arrays of objects, which numpy stores as pickles
REFUSED = {"categorize", "json", "json2", "msgpack", "msgpack2", "pcodec", "pickle", "vlen-array", "base64"}
LOSSY = {"astype"}
SAME_BYTES = {"adler32", "crc32", "crc32c", "shuffle", "delta", "packbits", "astype"}
# numcodecs adds up bools with `or`, so that what it decodes is not what it has encoded.
CODECS = sorted(p.parent for p in FIXTURE.rglob("config.json") if "delta/bool" not in str(p))


def name_of(folder):
    return str(folder.relative_to(FIXTURE))


def chunks(folder):
    """(number, array, chunk); an empty array is no chunk of version 2."""
    for file in sorted(folder.glob("encoded.*.dat")):
        number = file.name.split(".")[1]
        array = np.load(folder.parent / f"array.{number}.npy", allow_pickle=False)
        if array.size and array.dtype.kind in "biufmM":  # numbers, which zb-check compares
            yield number, array, file.read_bytes()


def write_v2(path, array, dtype, chunk, **codecs):
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    document = {"zarr_format": 2, "shape": list(array.shape), "chunks": list(array.shape),
                "dtype": dtype, "order": order, "fill_value": None, "compressor": None,
                "filters": None} | codecs  # fmt: skip
    path.mkdir(parents=True)
    (path / ".zarray").write_text(json.dumps(document))
    (path / ".".join("0" * array.ndim)).write_bytes(chunk)


def expected_of(conf, array, chunk):
    """What numcodecs makes of it: another array where the codec loses something."""
    decoded = np.frombuffer(bytes(numcodecs.get_codec(conf).decode(chunk)), "u1")
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    values = np.frombuffer(decoded.tobytes(), array.dtype).reshape(array.shape, order=order)
    values = values.view("<i8") if array.dtype.kind in "mM" else values
    return np.ascontiguousarray(values, values.dtype.newbyteorder("<"))


def config_of(folder):
    return json.loads((folder / "config.json").read_text())


@pytest.mark.parametrize("folder", [f for f in CODECS if config_of(f)["id"] in
                                    BYTES | ARRAYS | {"zfpy"}], ids=name_of)  # fmt: skip
def test_decodes(folder, tmp_path):
    conf, rows = config_of(folder), []
    if conf["id"] == "zfpy":
        pytest.importorskip("zfpy", reason="there is no zfpy")
    for number, array, chunk in chunks(folder):
        if conf["id"] == "zfpy" and array.flags.f_contiguous and not array.flags.c_contiguous:
            continue  # numcodecs refuses the order F by now
        place = {"filters": [conf]} if conf["id"] in ARRAYS else {"compressor": conf}
        dtype = array.dtype.str
        if array.dtype.kind in "mM":  # zb-check compares numbers
            dtype = "<i8"
        write_v2(tmp_path / "x.zarr" / number, array, dtype, chunk, **place)
        np.save(tmp_path / f"{number}.npy", expected_of(conf, array, chunk))
        rows.append({"store": "x.zarr", "array": number, "expected": f"{number}.npy"})
    assert rows
    (tmp_path / "x.zarr" / ".zgroup").write_text('{"zarr_format": 2}')
    (tmp_path / "manifest.json").write_text(json.dumps(rows))
    run_check(tmp_path / "manifest.json")


@pytest.mark.parametrize("folder", [f for f in CODECS if config_of(f)["id"] in SAME_BYTES],
                         ids=name_of)
def test_encodes(folder, tmp_path):
    conf = config_of(folder)
    codec = {"name": f"numcodecs.{conf['id']}",
             "configuration": {k: v for k, v in conf.items() if k != "id"}}
    wanted, arrays = {}, {}
    for number, array, chunk in chunks(folder):
        if array.dtype.kind not in "biuf" or array.dtype.byteorder == ">":
            continue
        if (expected_of(conf, array, chunk) != array).any():
            continue
        flat = array.reshape(-1, order="A")
        endian = [{"name": "bytes", "configuration": {"endian": "little"}}]
        chain = [codec, *endian] if conf["id"] in ARRAYS else [*endian, codec]
        if conf["id"] == "packbits":
            flat = flat.astype(bool)
        document = refcodec.array_document(flat.shape, flat.dtype.name, flat.shape, chain, 0)
        arrays[number], wanted[number] = (document, flat), chunk
    if not arrays:
        assert conf["id"] in LOSSY
        return
    encode(tmp_path, arrays)
    for number, chunk in wanted.items():
        assert (tmp_path / "x.zarr" / number / "c" / "0").read_bytes() == chunk


def test_all_codecs_are_known():
    known = BYTES | ARRAYS | TEXTS | REFUSED | {"zfpy"}
    assert {config_of(f)["id"] for f in CODECS} - known == set()
