#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes the stores that every reader is compared on, with the values that they must give.

    make_stores.py OUT          (about 20 s; does nothing when OUT holds them already)

    OUT/product/<data type>.zarr    groups: one array for each codec, nesting and layout
    OUT/variants/<name>.zarr        one array each: documents and encodings that are legal and rare
    OUT/v2/all.zarr                 arrays of Zarr version 2
    OUT/expected/...npy             the values, little-endian, outside the stores
    OUT/manifest.json               [{store, array, expected, writer, features}, ...]; array is ""
                                    where the root is the array

The cross product is written by zarr-python, except for those that it refuses (r<bits> types,
sharded 0-d arrays), which like the variants comes from refcodec.py.
"""

import json
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import product
import refcodec
import variants_encoding
import variants_metadata
import variants_v2
import zarr

PEER = f"zarr-python {zarr.__version__}"


def save_expected(out, name, values):
    """Stores values under expected/ and returns the path relative to out."""
    path = out / "expected" / f"{name}.npy"
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, values)
    return str(path.relative_to(out))


def peer_writes(data_type, nesting, layout):
    """Whether zarr-python 3.0.6 can write this combination."""
    return not (data_type.startswith("r") or (layout == "0d" and nesting != "plain"))


def write_with_peer(store, name, document, values, fill):
    """The array of this document, every byte of it made by zarr-python."""
    array = zarr.create(
        store=store,
        path=name,
        shape=values.shape,
        chunks=document["chunk_grid"]["configuration"]["chunk_shape"],
        dtype=values.dtype,
        codecs=document["codecs"],
        fill_value=fill,
        zarr_format=3,
    )
    array[...] = values


def write_product(out):
    """The cross product; yields the manifest's rows."""
    for data_type in product.DATA_TYPES:
        folder = out / "product" / f"{data_type}.zarr"
        fill = product.fill_value(data_type)
        values = {layout: product.expected(data_type, layout) for layout in product.LAYOUTS}
        saved = {
            layout: save_expected(out, f"{data_type}-{layout}", v) for layout, v in values.items()
        }
        refcodec.write_group(folder, attributes={"data_type": data_type})
        store = zarr.storage.LocalStore(folder)
        for codec, nesting, layout, cname in product.combinations(data_type):
            name = f"{codec}-{nesting}-{layout}"
            document = product.document(data_type, codec, nesting, layout, cname)
            by_peer = peer_writes(data_type, nesting, layout)
            if by_peer:
                write_with_peer(store, name, document, values[layout], fill)
            else:
                refcodec.write_array(folder / name, document, values[layout], fill)
            features = {"data_type": data_type, "codec": codec, "nesting": nesting}
            yield {
                "store": str(folder.relative_to(out)),
                "array": name,
                "expected": saved[layout],
                "writer": PEER if by_peer else "refcodec",
                "features": features | {"layout": layout, "cname": cname},
            }


def write_case(out, case):
    """One variant; returns its row."""
    folder = out / "variants" / f"{case.name}.zarr"
    refcodec.write_array(folder, case.document, case.values, case.fill, case.padding)
    for key, data in case.extra_keys.items():
        refcodec.write_object(folder / key, data)
    if case.stored_document is not None:
        refcodec.write_document(folder, case.stored_document)
    return {
        "store": str(folder.relative_to(out)),
        "array": "",
        "expected": save_expected(out, f"variants/{case.name}", case.values),
        "writer": "refcodec",
        "features": {"variant": case.name, "why": case.why},
    }


def write_v2(out):
    """Arrays of Zarr version 2; yields the manifest's rows."""
    folder = out / "v2" / "all.zarr"
    for name, values, why in variants_v2.write(folder):
        yield {
            "store": str(folder.relative_to(out)),
            "array": name,
            "expected": save_expected(out, f"v2/{name}", values),
            "writer": PEER,
            "features": {"data_type": "v2", "variant": name, "why": why},
        }


def main(out):
    manifest = out / "manifest.json"
    sources = [Path(__file__), *Path(__file__).parent.glob("*.py")]
    if manifest.exists() and manifest.stat().st_mtime > max(s.stat().st_mtime for s in sources):
        return
    for name in ("product", "variants", "v2", "expected"):
        shutil.rmtree(out / name, ignore_errors=True)
    # zarr-python warns of every type and codec that is not in the core specification.
    warnings.simplefilter("ignore")
    rows = list(write_product(out))
    rows += list(write_v2(out))
    for module in (variants_metadata, variants_encoding):
        rows += [write_case(out, case) for case in module.cases()]
    names = [(row["store"], row["array"]) for row in rows]
    assert len(set(names)) == len(names), "two cases of one name"
    manifest.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
    by_peer = sum(row["writer"] == PEER for row in rows)
    print(f"{len(rows)} arrays in {out}, {by_peer} of them by {PEER}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
