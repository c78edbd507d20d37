# SPDX-License-Identifier: MIT
"""`zarrbridge copy` from a web server, which lists nothing."""

import filecmp
import shutil

import numpy
import pytest
import zarr

from conftest import make_store, run
from programs import HASTY, asked

ATTRIBUTE = "__attribute.00000000000000"


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def is_same(a, b):
    names = files(a)
    return names == files(b) and filecmp.cmpfiles(a, b, names, shallow=False)[1:] == ([], [])


def test_a_store_is_copied_object_by_object(server, store, tmp_path):
    (server.folder / "s.zarr/sharded/c/0/1").unlink()  # is missing in the copy, too
    status, _, message = run("copy", store, tmp_path / "x.zarr")
    assert status == 0, message
    assert is_same(server.folder / "s.zarr", tmp_path / "x.zarr")
    paths = asked(server)
    assert len([path for path in paths if "/c/" in path]) == 4 + 3 + 1  # one for each chunk of the grids
    assert run("verify", tmp_path / "x.zarr")[0] == 0


@pytest.mark.parametrize("consolidated", [True, False])
def test_an_array_needs_no_consolidated_metadata(server, consolidated, tmp_path):
    make_store(server.folder / "y.zarr", consolidated)
    status, _, message = run("copy", f"{server.url}/y.zarr/sharded", tmp_path / "x.zarr")
    assert status == 0 and is_same(server.folder / "y.zarr/sharded", tmp_path / "x.zarr"), message


def test_a_group_does(server, tmp_path):
    make_store(server.folder / "y.zarr", False)
    status, _, message = run("copy", f"{server.url}/y.zarr", tmp_path / "x.zarr")
    assert status == 2 and "no consolidated metadata tells them" in message
    assert files(tmp_path / "x.zarr") == []


def test_hidden_arrays_come_along(server, tmp_path):
    """Those that attributes name; a name without an array is left to the reader of the attribute."""
    served = make_store(server.folder / "y.zarr", False)
    for node in (".", "below", "plain"):
        shutil.copytree(served / "plain", served / node / (ATTRIBUTE + "01"))
        shutil.copytree(served / "plain", served / node / (ATTRIBUTE + "02"))
        zarr.open(served, path="" if node == "." else node, mode="r+").attrs.update(
            {"large": {"array": ATTRIBUTE + "01"}, "lost": {"array": ATTRIBUTE + "03"}, "text": '"__attribute.'})
    zarr.consolidate_metadata(served)
    status, _, message = run("copy", f"{server.url}/y.zarr", tmp_path / "x.zarr")
    assert status == 0, message
    for node in (".", "below", "plain"):
        shutil.rmtree(served / node / (ATTRIBUTE + "02"))
    assert is_same(served, tmp_path / "x.zarr")


@pytest.mark.parametrize("node", ["", "/a", "/below/b"])
def test_version_2_becomes_version_3(server, node, tmp_path):
    served = server.folder / "y.zarr"
    group = zarr.open_group(served, mode="w", zarr_format=2, attributes={"title": "old"})
    for name, shape in (("a", (7, 5)), ("below/b", (9,))):
        array = group.create_array(name, shape=shape, chunks=(2,) * len(shape), dtype=">i4", fill_value=7)
        array[1:5] = 3
    zarr.consolidate_metadata(served, zarr_format=2)
    status, _, message = run("copy", f"{server.url}/y.zarr{node}", tmp_path / "x.zarr")
    assert status == 0, message
    assert run("copy", f"{served}{node}", tmp_path / "z.zarr")[0] == 0
    assert is_same(tmp_path / "z.zarr", tmp_path / "x.zarr") and len(files(tmp_path / "x.zarr")) > 3


def test_chunks_come_at_once(server, tmp_path):
    data = numpy.arange(64)
    array = zarr.create_array(server.folder / "y.zarr", shape=(64,), chunks=(1,), dtype=data.dtype)
    array[:] = data
    gate = server.hold("/y.zarr/c/", count=8)
    first = []  # goes alone: whichever comes first of those that are there

    def follows(asked):
        if "/y.zarr/c/" not in asked.path or asked.path.endswith("/c/0"):
            return False
        first.append(asked.path)
        return asked.path != first[0]

    gate.chooses = follows
    status, _, message = run("copy", f"{server.url}/y.zarr", tmp_path / "x.zarr")
    assert status == 0 and (zarr.open(tmp_path / "x.zarr")[:] == data).all(), message
    assert gate.was_met


def test_a_grid_without_end_is_refused(server, tmp_path):
    zarr.create_array(server.folder / "y.zarr", shape=(1 << 40,), chunks=(1,), dtype="u1")
    status, _, message = run("copy", f"{server.url}/y.zarr", tmp_path / "x.zarr")
    assert status == 2 and "more than 1048576 chunks to ask for" in message
    assert files(tmp_path / "x.zarr") == []


def test_a_failure_leaves_nothing(server, store, tmp_path):
    server.fault("/s.zarr/sharded/c/1", "status", code=500)
    status, _, message = run("copy", store, tmp_path / "x.zarr", **HASTY)
    assert status == 2 and "status 500" in message and files(tmp_path / "x.zarr") == [], message
    server.heal()
    status, _, message = run("copy", store, tmp_path / "x.zarr")
    assert status == 0 and is_same(server.folder / "s.zarr", tmp_path / "x.zarr"), message


def test_nodes_that_cannot_be_read_are_told(server, tmp_path):
    served = make_store(server.folder / "y.zarr", False)
    document = served / "plain/zarr.json"
    document.write_text(document.read_text().replace('"float64"', '"float4096"'))
    status, _, message = run("copy", f"{server.url}/y.zarr/plain", tmp_path / "x.zarr")
    assert status == 2 and "float4096" in message and files(tmp_path / "x.zarr") == []
