#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes stores that are broken or hostile, and the acceptable outcomes of each.

    bad_stores.py OUT           (about 3 s, 125 MB; does nothing when OUT holds them already)

    OUT/metadata.zarr           a group whose children's documents are wrong: bad_metadata.py
    OUT/root_<name>.zarr        the wrong JSON texts again, as roots
    OUT/<family>.zarr           groups of arrays whose chunk c/0/0 is wrong: bad_chunks.py
    OUT/paths.zarr              links, pipes and names that lead out of the store
    OUT/outside.zarr            where they lead: an array of 42s that must never be seen
    OUT/manifest.json           [{store, array, stage, expect, why, expected}, ...]

`stage` is open, read, or list. `expect` lists the acceptable outcomes: error codes without ZB_,
"values" (the elements of the .npy file `expected`), "other values" (any; the format has no
checksum), "children" (the names in `expected`).
"""

import json
import os
import shutil
import sys
from pathlib import Path

import bad_chunks
import bad_metadata
import numpy as np
import refcodec
from variants_metadata import LITTLE


def row(store, array, stage, expect, why, expected=None):
    return {"store": store, "array": array, "stage": stage, "expect": expect, "why": why,
            "expected": expected}


def write_metadata(out):
    """Each wrong document below one group; the wrong texts as roots too."""
    refcodec.write_group(out / "metadata.zarr")
    for name, why, text, codes in bad_metadata.cases():
        if len(text) < 16 * 2**20:
            refcodec.write_object(out / "metadata.zarr" / name / "zarr.json", text)
            yield row("metadata.zarr", name, "open", codes, why)
        if name.startswith("json_"):
            refcodec.write_object(out / f"root_{name}.zarr" / "zarr.json", text)
            yield row(f"root_{name}.zarr", "", "open", codes, why)


def write_chunks(out):
    """Each wrong chunk in an array of its own."""
    for case in bad_chunks.cases():
        store = out / f"{case.family}.zarr"
        if not store.exists():
            refcodec.write_group(store)
        document = refcodec.array_document((1, case.shape), case.data_type, (1, case.chunk),
                                           case.codecs, 0)
        refcodec.write_document(store / case.name, document)
        refcodec.write_object(store / case.name / "c" / "0" / "0", case.data)
        expected = None
        if "values" in case.codes:
            path = out / "expected" / f"{case.family}-{case.name}.npy"
            path.parent.mkdir(exist_ok=True)
            np.save(path, case.values)
            expected = str(path.relative_to(out))
        yield row(store.name, case.name, "read", case.codes, case.why, expected)


def _small_array(folder, value):
    document = refcodec.array_document((4,), "int32", (4,), [LITTLE], 0)
    refcodec.write_array(folder, document, np.full(4, value, "<i4"), 0)


def write_paths(out):
    """A group from which every way out is tried."""
    outside, store = out / "outside.zarr", out / "paths.zarr"
    _small_array(outside, 42)
    refcodec.write_group(store)
    _small_array(store / "good", 7)
    np.save(out / "good.npy", np.full(4, 7, "<i4"))

    for path in ("../outside.zarr", "good/../../outside.zarr", "..", ".", "good/.", "good//",
                 "/good", "./good"):
        yield row("paths.zarr", path, "open", ["EINVAL"], "a path with an empty, . or .. part")
    os.symlink("../outside.zarr", store / "link_out")
    yield row("paths.zarr", "link_out", "open", ["EINVAL"], "a link to another store")
    os.symlink(outside, store / "link_absolute")
    yield row("paths.zarr", "link_absolute", "open", ["EINVAL"], "an absolute link")
    os.symlink("loop", store / "loop")
    yield row("paths.zarr", "loop", "open", ["EINVAL", "EIO"], "a link to itself")
    (store / "document_link").mkdir()
    os.symlink("../../outside.zarr/zarr.json", store / "document_link" / "zarr.json")
    yield row("paths.zarr", "document_link", "open", ["EINVAL"], "a zarr.json that is a link out")
    (store / "document_pipe").mkdir()
    os.mkfifo(store / "document_pipe" / "zarr.json")
    yield row("paths.zarr", "document_pipe", "open", ["EINVAL"], "a zarr.json that is a pipe")
    os.symlink("good", store / "link_in")
    yield row("paths.zarr", "link_in", "read", ["values"], "a link inside the store", "good.npy")

    for name, target, why in (
        ("chunk_link", "../../../outside.zarr/c/0", "a chunk that is a link out"),
        ("chunk_absolute", str(outside / "c" / "0"), "a chunk that is an absolute link"),
        ("chunk_device", "/dev/zero", "a chunk that is a link to a device"),
    ):
        _small_array(store / name, 1)
        (store / name / "c" / "0").unlink()
        os.symlink(target, store / name / "c" / "0")
        yield row("paths.zarr", name, "read", ["EINVAL"], why)
    _small_array(store / "chunk_folder_link", 1)
    shutil.rmtree(store / "chunk_folder_link" / "c")
    os.symlink("../../outside.zarr/c", store / "chunk_folder_link" / "c")
    yield row("paths.zarr", "chunk_folder_link", "read", ["EINVAL"], "a link on the way to a chunk")
    _small_array(store / "chunk_pipe", 1)
    (store / "chunk_pipe" / "c" / "0").unlink()
    os.mkfifo(store / "chunk_pipe" / "c" / "0")
    yield row("paths.zarr", "chunk_pipe", "read", ["EINVAL"], "a chunk that is a pipe")
    _small_array(store / "chunk_link_in", 1)
    (store / "chunk_link_in" / "c" / "0").unlink()
    os.symlink("../../good/c/0", store / "chunk_link_in" / "c" / "0")
    yield row("paths.zarr", "chunk_link_in", "read", ["values"], "a chunk that is a link inside",
              "good.npy")
    yield from write_consolidated(out)


def write_consolidated(out):
    """Consolidated metadata that names nodes outside the store."""
    document = refcodec.array_document((4,), "int32", (4,), [LITTLE], 0)
    names = ["../outside.zarr", "/etc", "a/../../outside.zarr", "", ".", "good"]
    block = {"kind": "inline", "must_understand": False,
             "metadata": {name: document for name in names}}
    refcodec.write_group(out / "consolidated.zarr", consolidated_metadata=block)
    _small_array(out / "consolidated.zarr" / "good", 7)
    yield row("consolidated.zarr", "", "list", ["children"],
              "consolidated metadata with names outside the store", ["good"])
    yield row("consolidated.zarr", "../outside.zarr", "open", ["EINVAL"],
              "a name that the consolidated metadata promise")


def main(out):
    manifest = out / "manifest.json"
    sources = [Path(__file__), *Path(__file__).parent.glob("*.py")]
    if manifest.exists() and manifest.stat().st_mtime > max(s.stat().st_mtime for s in sources):
        return
    if out.exists():
        for entry in [*out.glob("*.zarr"), out / "expected"]:
            shutil.rmtree(entry, ignore_errors=True)
    rows = []
    for write in (write_metadata, write_chunks, write_paths):
        rows += write(out)
    names = [(r["store"], r["array"]) for r in rows]
    assert len(set(names)) == len(names), "two cases of one name"
    manifest.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
    print(f"{len(rows)} bad nodes in {out}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
