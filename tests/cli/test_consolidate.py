# SPDX-License-Identifier: MIT
"""`zarrbridge consolidate`: a store gets the block that zarr-python makes, and keeps it current."""

import json
import os
import subprocess

import numpy as np
import zarr


def run(*arguments, **environment):
    done = subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], *map(str, arguments)], text=True,
                          capture_output=True, timeout=600, env=os.environ | environment)
    return done.returncode, done.stderr


def make(path):
    root = zarr.open_group(path, mode="w", zarr_format=3)
    root.attrs["title"] = "t"
    for name in ("b", "a/c", "a/D/e"):
        array = root.create_array(name, shape=(4,), chunks=(2,), dtype="i4")
        array[...] = np.arange(4)
    return root


def document(path):
    return json.loads((path / "zarr.json").read_text())


def test_block_is_that_of_zarr_python(tmp_path):
    make(tmp_path / "ours.zarr")
    make(tmp_path / "theirs.zarr")
    assert run("consolidate", tmp_path / "ours.zarr") == \
        (0, f"{tmp_path}/ours.zarr has consolidated metadata\n")
    zarr.consolidate_metadata(tmp_path / "theirs.zarr")
    assert document(tmp_path / "ours.zarr") == document(tmp_path / "theirs.zarr")
    root = zarr.open_consolidated(tmp_path / "ours.zarr")
    assert root["a/D/e"][:].tolist() == [0, 1, 2, 3]
    assert run("verify", tmp_path / "ours.zarr")[0] == 0


def test_group_and_a_second_time(tmp_path):
    path = tmp_path / "x.zarr"
    make(path)
    for _ in range(2):
        assert run("consolidate", path / "a")[0] == 0
        block = document(path / "a")["consolidated_metadata"]["metadata"]
        assert sorted(block) == ["D", "D/e", "c"]
    assert not document(path).get("consolidated_metadata")


def test_refused(tmp_path):
    path = tmp_path / "x.zarr"
    make(path)
    before = (path / "zarr.json").read_bytes()
    status, message = run("consolidate", path / "b")
    assert status == 2 and "only groups have consolidated metadata" in message
    status, message = run("consolidate", path / "none")
    assert status == 2 and "none" in message
    for name in ("b", "a/c"):
        zarr.open_array(path / name, mode="r+").attrs["long"] = "x" * 600_000
    status, message = run("consolidate", path, ZARRBRIDGE_CONSOLIDATED_BYTES="1048576")
    assert status == 2 and "consolidated_bytes" in message
    assert (path / "zarr.json").read_bytes() == before
    zarr.open_group(tmp_path / "old.zarr", mode="w", zarr_format=2)
    status, message = run("consolidate", tmp_path / "old.zarr")
    assert status == 2 and "version 2" in message


def test_nodes_without_documents_are_listed_and_kept(tmp_path):
    """Those of a store that has lost all documents but the root's, or never had them."""
    path = tmp_path / "x.zarr"
    make(path)
    assert run("consolidate", path)[0] == 0
    for name in ("a", "a/c", "a/D", "a/D/e", "b"):
        (path / name / "zarr.json").unlink()
    before = (path / "zarr.json").read_bytes()
    listed = subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], "ls", path], text=True,
                            capture_output=True, check=True).stdout
    assert [line.split()[1] for line in listed.splitlines()] == \
        ["/", "/a", "/a/D", "/a/D/e", "/a/c", "/b"]
    status, message = run("verify", path)
    assert status == 1
    run("repair", path)
    assert (path / "zarr.json").read_bytes() == before
    status, message = run("copy", path, tmp_path / "copy.zarr")
    assert status == 2 and "make a zip archive" in message
    assert not list(tmp_path.glob("copy.zarr/*"))
    assert run("copy", path, tmp_path / "copy.zarr.zip")[0] == 0
    copy = zarr.open_group(zarr.storage.ZipStore(tmp_path / "copy.zarr.zip", mode="r"), mode="r",
                           use_consolidated=True)
    assert copy["a/D/e"][:].tolist() == [0, 1, 2, 3]
