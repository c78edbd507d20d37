# SPDX-License-Identifier: MIT
"""Array-to-array codecs that change elements, and packbits, against zarr-python, both ways.

The values are such that a lossy codec gives them back, or are compared with what the peer reads. The
fill value is one of them, because chunks on the edge have it as their padding.
"""

import json

import numpy as np
import product
import pytest
import refcodec
import zarr
from test_encode import encode, run_check
from zarr.codecs import BytesCodec

try:  # from zarr-python 3.1 on they are its own
    import zarr.codecs.numcodecs as zarr3
except ImportError:
    zarr3 = pytest.importorskip("numcodecs.zarr3", reason="there are no numcodecs for Zarr v3")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
ZSTD = {"name": "zstd", "configuration": {"level": 1}}


def codec(name, **configuration):
    return {"name": name, "configuration": configuration}


def numcodecs(name, **configuration):
    return codec(f"numcodecs.{name}", **configuration)


RAMP = np.arange(7 * 11)
# name: (data type, values, filters)
NUMCODECS = {
    "delta": ("int32", RAMP * 3 - 50, [numcodecs("delta", dtype="<i4")]),
    "delta_narrow": ("int64", RAMP * 3 - 50, [numcodecs("delta", dtype="<i8", astype="<i2")]),
    "delta_wraps": ("uint8", RAMP * 37 % 256, [numcodecs("delta", dtype="|u1")]),
    "delta_unsigned": ("uint32", (RAMP - 40) ** 2, [numcodecs("delta", dtype="<u4", astype="<i2")]),
    "delta_float": ("float32", RAMP / 4, [numcodecs("delta", dtype="<f4")]),
    "delta_double": ("float64", RAMP / 4, [numcodecs("delta", dtype="<f8")]),
    "delta_half": ("float16", RAMP / 4, [numcodecs("delta", dtype="<f2")]),
    "fixed": ("float64", RAMP / 10 + 1000,
              [numcodecs("fixedscaleoffset", offset=1000, scale=10, dtype="<f8", astype="<u2")]),
    "fixed_single": ("float32", RAMP * 0.37,
                     [numcodecs("fixedscaleoffset", offset=1.1, scale=100.5, dtype="<f4",
                                astype="<i4")]),
    "fixed_integers": ("int16", RAMP + 1000,
                       [numcodecs("fixedscaleoffset", offset=1000, scale=1, dtype="<i2",
                                  astype="|u1")]),
    "fixed_stays_float": ("float32", RAMP * 0.37,
                          [numcodecs("fixedscaleoffset", offset=0, scale=4, dtype="<f4")]),
    "quantize": ("float64", np.sin(RAMP) * 100, [numcodecs("quantize", digits=2, dtype="<f8")]),
    "quantize_single": ("float32", np.sin(RAMP) * 1e4,
                        [numcodecs("quantize", digits=-2, dtype="<f4")]),
    "astype": ("float64", RAMP, [numcodecs("astype", encode_dtype="<i2", decode_dtype="<f8")]),
    "astype_wide": ("int8", RAMP, [numcodecs("astype", encode_dtype="<i8", decode_dtype="|i1")]),
    "bitround": ("float32", np.sin(RAMP), [numcodecs("bitround", keepbits=5)]),
    "bitround_half": ("float16", np.sin(RAMP), [numcodecs("bitround", keepbits=3)]),
    "bitround_double": ("float64", np.sin(RAMP), [numcodecs("bitround", keepbits=52)]),
    "two": ("float64", RAMP / 10,
            [numcodecs("fixedscaleoffset", offset=0, scale=10, dtype="<f8", astype="<i4"),
             numcodecs("delta", dtype="<i4", astype="<i2")]),
}  # fmt: skip


def instances(filters):
    classes = {c.codec_name: c for c in vars(zarr3).values() if hasattr(c, "codec_name")}
    return [classes[f["name"]](**f["configuration"]) for f in filters]


def check(folder, rows):
    (folder / "manifest.json").write_text(json.dumps(rows))
    run_check(folder / "manifest.json")


@pytest.mark.parametrize("name", NUMCODECS)
def test_zarr_python_encodes(name, tmp_path):
    """What zarr-python reads of its own arrays, we read, too; also in shards."""
    dtype, values, filters = NUMCODECS[name]
    values = values.astype(dtype).reshape(7, 11)
    rows = []
    for shards in (None, (6, 8)):
        label = "shards" if shards else "plain"
        array = zarr.create_array(tmp_path / "x.zarr", name=label, shape=values.shape,
                                  chunks=(3, 4), shards=shards, dtype=dtype, fill_value=values[0, 1],
                                  filters=instances(filters), serializer=BytesCodec())  # fmt: skip
        array[...] = values
        np.save(tmp_path / f"{label}.npy", array[...])
        rows.append({"store": "x.zarr", "array": label, "expected": f"{label}.npy"})
    check(tmp_path, rows)


@pytest.mark.parametrize("name", NUMCODECS)
def test_core_encodes(name, tmp_path):
    """The same objects as zarr-python's, which reads them as we do."""
    dtype, values, filters = NUMCODECS[name]
    values = values.astype(dtype).reshape(7, 11)
    array = zarr.create_array(tmp_path / "theirs.zarr", shape=values.shape, chunks=(3, 4),
                              dtype=dtype, fill_value=values[0, 1], filters=instances(filters),
                              serializer=BytesCodec(), compressors=None)  # fmt: skip
    array[...] = values
    expected = array[...]
    chain = [*filters, LITTLE]
    fill = expected[0, 1].item()
    documents = {
        "plain": refcodec.array_document((7, 11), dtype, (3, 4), chain, fill),
        "inside": refcodec.array_document((7, 11), dtype, (6, 8),
                                          [product.shard([3, 4], [*chain, ZSTD])], fill),
    }  # fmt: skip
    encode(tmp_path, {k: (d, expected) for k, d in documents.items()})
    for label in documents:
        ours = zarr.open_array(tmp_path / "x.zarr" / label, mode="r")[...]
        assert ours.tobytes() == expected.tobytes(), label
    theirs, ours = tmp_path / "theirs.zarr", tmp_path / "x.zarr" / "plain"
    again = zarr.open_array(theirs, mode="r+")
    again[...] = expected  # a lossy codec has had its effect
    for f in (theirs / "c").rglob("*"):
        if f.is_file():
            assert (ours / f.relative_to(theirs)).read_bytes() == f.read_bytes(), f


def test_numcodecs_packbits(tmp_path):
    """zarr-python 3 cannot write this codec through its chunk grid with every numcodecs; the chunk
    itself comes from numcodecs."""
    import numcodecs as library

    values = (RAMP * 7 % 3 == 0).reshape(7, 11)
    document = refcodec.array_document((7, 11), "bool", (7, 11),
                                       [codec("numcodecs.packbits"), {"name": "bytes"}], False)
    encode(tmp_path, {"a": (document, values)})
    data = (tmp_path / "x.zarr" / "a" / "c" / "0" / "0").read_bytes()
    assert data == bytes(library.PackBits().encode(values))


TURN = codec("transpose", order=[1, 0])
# name: (data type, values, codecs); none of them loses anything
REGISTERED = {
    "scale_offset": ("float32", RAMP / 4, [codec("scale_offset", offset=5, scale=4), LITTLE]),
    "scale_integers": ("int16", RAMP, [codec("scale_offset", offset=-3, scale=2), LITTLE]),
    "cast": ("float64", RAMP, [codec("cast_value", data_type="uint8"), {"name": "bytes"}]),
    "cast_map": ("float64", np.where(RAMP % 5, RAMP, np.nan),
                 [codec("cast_value", data_type="int16",
                        scalar_map={"encode": [["NaN", -1]], "decode": [[-1, "NaN"]]}), LITTLE]),
    "both": ("uint16", RAMP + 1000,
             [codec("scale_offset", offset=1000), codec("cast_value", data_type="uint8"),
              {"name": "bytes"}, ZSTD]),
    "cast_in_front_of_shards": ("float64", RAMP,
                                [codec("cast_value", data_type="int32"),
                                 product.shard([3, 4], [LITTLE, ZSTD])]),
    "cast_in_shards": ("float64", RAMP,
                       [product.shard([3, 4], [codec("cast_value", data_type="int32"), LITTLE])]),
    "turned": ("float64", RAMP, [TURN, codec("cast_value", data_type="int32"), LITTLE]),
}  # fmt: skip
OTHERS = {
    "packbits": ("bool", RAMP % 3 == 0, [{"name": "packbits"}]),
    "packbits_padded": ("bool", RAMP % 3 == 0, [codec("packbits", padding_encoding="last_byte")]),
    "packbits_part": ("uint16", RAMP * 8, [codec("packbits", first_bit=3, last_bit=9)]),
    "packbits_signed": ("int32", RAMP - 40,
                        [codec("packbits", last_bit=6, padding_encoding="first_byte"), ZSTD]),
    "bitround": ("float32", RAMP, [codec("bitround", keepbits=10), LITTLE]),
    "bitround_integers": ("int16", RAMP % 16 - 8, [codec("bitround", keepbits=4), LITTLE]),
    "reshape": ("int16", RAMP, [codec("reshape", shape=[[0], 2, -1]), LITTLE, ZSTD]),
    "reshape_turned": ("int16", RAMP, [codec("reshape", shape=[-1, 4]), TURN, LITTLE]),
    "squeezed_product": ("int16", RAMP, [codec("reshape", shape=[[0, 1]]), LITTLE]),
}  # fmt: skip


def arrays_of(table):
    for name, (dtype, values, chain) in table.items():
        values = values.astype(dtype).reshape(7, 11)
        yield name, (refcodec.array_document((7, 11), dtype, (6, 8), chain,
                                              values[0, 1].item()),
                     values)


@pytest.mark.parametrize("table", [REGISTERED, OTHERS], ids=["registered", "others"])
def test_we_read_what_we_encode(table, tmp_path):
    encode(tmp_path, dict(arrays_of(table)))


def test_zarr_python_reads(tmp_path):
    """scale_offset and cast_value came with zarr-python 3.4."""
    pytest.importorskip("zarr.codecs.scale_offset", reason="zarr-python knows no scale_offset")
    pytest.importorskip("cast_value_rs", reason="zarr-python's cast_value needs cast-value-rs")
    arrays = dict(arrays_of(REGISTERED))
    encode(tmp_path, arrays)
    for name, (_, values) in arrays.items():
        theirs = zarr.open_array(tmp_path / "x.zarr" / name, mode="r")[...]
        assert theirs.tobytes() == values.tobytes(), name
