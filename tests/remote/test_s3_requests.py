# SPDX-License-Identifier: MIT
"""What changes of stores in S3 ask for."""

import numpy as np
import zarr

from remote_store import RemoteStore, call, lib
from test_s3_writing import serve  # noqa: F401  (a fixture)

NAME = "s3://bucket/x.zarr"
ROOT = "/bucket/x.zarr"


# ---- All levels at once


def test_a_group_is_erased_by_pages(serve):  # noqa: F811
    """Its own document first, then those below it, and chunks at last."""
    server = serve(page=7)
    root = zarr.open_group(server.bucket / "x.zarr", mode="w")
    group = root.create_group("g")
    for name in ("a", "b", "z"):
        group.create_array(name, shape=(4, 4), chunks=(2, 2), dtype="i4")[:] = 1
    root.create_array("g2", shape=(4,), dtype="i4")[:] = 2
    with RemoteStore(NAME) as store:
        store.delete("g")
    erased = [r.path.removeprefix(ROOT + "/g/") for r in server.take_log()
              if r.method == "DELETE" and ROOT in r.path and "test" not in r.path]
    assert erased[0] == "zarr.json" and sorted(erased[1:4]) == ["a/zarr.json", "b/zarr.json", "z/zarr.json"]
    assert len(erased) == 16 and not (server.bucket / "x.zarr/g").exists()
    assert (zarr.open_array(server.bucket / "x.zarr/g2")[...] == 2).all()


def test_an_array_is_copied_by_pages(serve):  # noqa: F811
    server = serve(page=3)
    root = zarr.open_group(server.bucket / "x.zarr", mode="w")
    array = root.create_array("a", shape=(6, 6), chunks=(2, 2), dtype="i4")
    array[:] = np.arange(36).reshape(6, 6)
    with RemoteStore(NAME) as store:
        call(lib.zb_node_copy, store.handle, b"a", store.handle, b"b")
        call(lib.zb_store_flush, store.handle)
    assert (zarr.open_array(server.bucket / "x.zarr/b")[...] == array[...]).all()
    lists = [r for r in server.take_log() if "list-type" in r.query and "%2Fa%2F" in r.query]
    assert len(lists) == 4, "ten keys"
