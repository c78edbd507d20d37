# SPDX-License-Identifier: MIT
"""The reference encoder against zarr-python: zarr-python reads the stores that refcodec writes.

The stores of the cross product that only refcodec can write are worth as much as this agreement.
Left out are stores that zarr-python 3.0.6 cannot read: r<bits> types, parts of nested shards.
"""

import numpy as np
import product
import pytest
import refcodec
import zarr


def test_crc32c_vectors():
    vectors = {
        b"": 0,
        b"123456789": 0xE3069283,
        bytes(32): 0x8A9136AA,
        b"\xff" * 32: 0x62A8AB43,
        bytes(range(32)): 0x46DD794E,
    }
    assert {data: refcodec.crc32c(data) for data in vectors} == vectors


def test_transpose_vector():
    codecs = [{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes"}]
    data = refcodec.encode_chain(codecs, np.arange(6, dtype="<i2").reshape(2, 3), 0)
    assert data.hex() == "000003000100040002000500"


@pytest.mark.parametrize("data_type", [t for t in product.DATA_TYPES if t[0] != "r"])
def test_peer_reads_what_we_write(data_type, tmp_path):
    fill = product.fill_value(data_type)
    count = 0
    for codec, nesting, layout, cname in product.combinations(data_type):
        if nesting == "nested" and layout in ("ragged", "5d"):
            continue
        folder = tmp_path / f"{codec}-{nesting}-{layout}"
        values = product.expected(data_type, layout)
        document = product.document(data_type, codec, nesting, layout, cname)
        refcodec.write_array(folder, document, values, fill)
        read = np.asarray(zarr.open_array(str(folder), mode="r")[...])
        assert read.tobytes() == values.tobytes(), folder.name
        count += 1
    assert count > 100
