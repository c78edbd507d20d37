# SPDX-License-Identifier: MIT
"""Copies and moves in one service: it copies the objects itself, and their bytes do not pass through the program."""

import contextlib
import json
import os
import shutil
import urllib.parse

import numpy as np
import pytest
import zarr

from conftest import run
from programs import output, python
from remote_store import RemoteStore, ZarrbridgeError, call, lib
from test_s3_parts import values
from test_s3_writing import let_another_make, serve  # noqa: F401  (a fixture)

NAME = "s3://bucket/a b/x.zarr"
SOURCE = "x-amz-copy-source"
VALUES = np.arange(1, 65, dtype="i4").reshape(8, 8)


def make(server, name="a b/x.zarr"):
    """A group with an array of four chunks, one of a shard, and a hidden one."""
    root = zarr.open_group(server.bucket / name, mode="w")
    group = root.create_group("g", attributes={"k": 1})
    group.create_array("a", shape=(8, 8), chunks=(2, 8), dtype="i4")[:] = VALUES
    group.create_array("s", shape=(8, 8), shards=(8, 8), chunks=(2, 8), dtype="i4")[:] = VALUES
    zarr.create_array(server.bucket / name / "g/__attribute.0123456789abcdef", shape=(1,), dtype="u1")[:] = 7
    return root


CHUNKS = ["a/c/0/0", "a/c/1/0", "a/c/2/0", "a/c/3/0", "s/c/0/0"]


def copy(from_path="g", to_path="h", name=NAME, to_name=None):
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(RemoteStore(name))
        target = stack.enter_context(RemoteStore(to_name)) if to_name else source
        call(lib.zb_node_copy, source.handle, from_path.encode(), target.handle, to_path.encode())


def below(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def copies(log):
    """Sources and targets of the copies that the service was asked for."""
    return [(urllib.parse.unquote(r.headers[SOURCE]), r.path.removeprefix("/bucket/")) for r in log
            if SOURCE in r.headers]


def carried(log, status=200):
    """The chunks that the program has put."""
    return [r.path for r in log if r.method == "PUT" and "/c/" in r.path and SOURCE not in r.headers
            and r.status == status]


def is_read(log):
    return [r.path for r in log if r.method == "GET" and "/c/" in r.path]


@pytest.mark.parametrize("move", [False, True])
def test_the_service_copies(serve, move):  # noqa: F811
    server = serve()
    make(server)
    before = below(server.bucket / "a b/x.zarr/g")
    if move:
        with RemoteStore(NAME) as store:
            store.move("g", "h")
    else:
        copy()
    log = server.take_log()
    expected = [*CHUNKS, "__attribute.0123456789abcdef/c/0", "__attribute.0123456789abcdef/zarr.json"]
    place = "bucket/a b/x.zarr/"
    assert sorted(copies(log)) == sorted((f"{place}g/{key}", f"a b/x.zarr/h/{key}") for key in expected)
    assert not is_read(log) and not carried(log)
    assert all(not r.body for r in log if SOURCE in r.headers)
    assert below(server.bucket / "a b/x.zarr/h") == before
    assert (server.bucket / "a b/x.zarr/g").exists() != move


def test_an_array_in_another_store_of_the_bucket(serve):  # noqa: F811
    server = serve()
    make(server)
    zarr.open_group(server.bucket / "y.zarr", mode="w")
    copy("g/a", "new", to_name="s3://bucket/y.zarr")
    log = server.take_log()
    assert len(copies(log)) == 4 and not is_read(log)
    assert (zarr.open_array(server.bucket / "y.zarr/new")[...] == VALUES).all()


def test_an_array_of_another_bucket(serve):  # noqa: F811
    server = serve()
    make(server)
    zarr.open_group(server.bucket.parent / "other/y.zarr", mode="w")
    copy("g/a", "new", to_name="s3://other/y.zarr")
    assert len(copies(server.take_log())) == 4
    assert (zarr.open_array(server.bucket.parent / "other/y.zarr/new")[...] == VALUES).all()


def test_the_program_copies_a_store(serve):  # noqa: F811
    """Into a new one, whose documents are held until its end."""
    server = serve()
    make(server)
    assert run("copy", NAME, "s3://bucket/y.zarr")[0] == 0
    log = server.take_log()
    assert len(copies(log)) == 7 - 1 and not is_read(log), "the document of the hidden array is read"
    assert below(server.bucket / "y.zarr") == below(server.bucket / "a b/x.zarr")


def test_another_service_is_not_asked(serve, tmp_path, monkeypatch):  # noqa: F811
    """It has not the object. The store's options say where it is."""
    server = serve()
    make(server)
    other = server.url.replace("127.0.0.1", "localhost")
    zarr.open_group(server.bucket / "y.zarr", mode="w")
    copy("g/a", "new", to_name=f"s3://bucket/y.zarr#endpoint={other}&path_style=1")
    log = server.take_log()
    assert not copies(log) and len(carried(log)) == 4
    assert (zarr.open_array(server.bucket / "y.zarr/new")[...] == VALUES).all()


ODD = ["a b", "x+y", "é~", "a=b&c;d", "100%", "100%25", "(q)*'!", "@:,$", "<x>", "日本", "what?", "n#1"]


def test_odd_names(serve):  # noqa: F811
    server = serve()
    root = zarr.open_group(server.bucket / "odd + names/o.zarr", mode="w").create_group("g")
    for i, name in enumerate(ODD):
        root.create_array(name, shape=(2,), dtype="u1", compressors=None)[:] = [i, 100]
    server.answer.public = True  # names with a plus are listed unsigned by each libcurl
    name = "s3://bucket/odd + names/o.zarr#anon=1"
    copy(name=name)
    assert len(copies(server.take_log())) == len(ODD)
    assert below(server.bucket / "odd + names/o.zarr/h") == below(server.bucket / "odd + names/o.zarr/g")


def test_odd_names_are_signed(serve):  # noqa: F811
    server = serve()
    root = zarr.open_group(server.bucket / "o.zarr", mode="w")
    names = [name for name in ODD if "+" not in name]
    for i, name in enumerate(names):
        root.create_array("g/" + name, shape=(2,), dtype="u1", compressors=None)[:] = [i, 100]
    copy(name="s3://bucket/o.zarr")
    assert len(copies(server.take_log())) == len(names)
    assert below(server.bucket / "o.zarr/h") == below(server.bucket / "o.zarr/g")


# ---- Many at once


@pytest.fixture
def many(serve):  # noqa: F811
    """A server with an array of 40 chunks, and a group of as many arrays."""
    server = serve()
    group = zarr.open_group(server.bucket / "m.zarr", mode="w")
    group.create_array("a", shape=(40, 4), chunks=(1, 4), dtype="i4", compressors=None)[:] = 1 + np.arange(160).reshape(40, 4)
    for i in range(40):
        group.create_array(f"g/{i}", shape=(2,), dtype="i4")[:] = i + 1
    return server


MANY = "s3://bucket/m.zarr"


TENS = "/[123][0-9]/"  # thirty of the forty: the first ones may go alone


def side_by_side(server, fn, method, pattern):
    """The requests, nine of which, of those of the method and the pattern, were there at once."""
    server.take_log()
    gate = server.hold(pattern, method, count=9)
    fn()
    assert gate.was_met, f"{gate.most} at once"
    return server.take_log()


def test_chunks_are_copied_side_by_side(many):
    log = side_by_side(many, lambda: copy("a", "b", MANY), "PUT", "b/c" + TENS)
    assert len(copies(log)) == 40
    assert below(many.bucket / "m.zarr/a") == below(many.bucket / "m.zarr/b")


def test_arrays_are_copied_side_by_side(many):
    """And their documents, the group's at last."""
    log = side_by_side(many, lambda: copy("g", "h", MANY), "PUT", "h" + TENS + "c/0")
    assert len(copies(log)) == 40
    puts = [r for r in log if r.method == "PUT" and r.path.endswith("/zarr.json")]
    assert len(puts) == 41 and puts[-1].path == "/bucket/m.zarr/h/zarr.json"
    assert puts[-1].begun >= max(r.ended for r in puts[:-1])
    assert min(r.begun for r in puts) >= max(r.ended for r in log if SOURCE in r.headers)
    assert below(many.bucket / "m.zarr/g") == below(many.bucket / "m.zarr/h")


def test_carried_chunks_go_side_by_side(many):
    many.answer.copies = (501, "NotImplemented")
    log = side_by_side(many, lambda: copy("a", "b", MANY), "PUT", "b/c" + TENS)
    assert len(copies(log)) == 1 and len(carried(log)) == 40
    assert below(many.bucket / "m.zarr/a") == below(many.bucket / "m.zarr/b")


@pytest.mark.parametrize("source", [0, 1])
def test_the_program_copies_side_by_side(many, tmp_path, source):
    """To the service, and back."""
    names = [tmp_path / "l.zarr", "s3://bucket/n.zarr"]
    shutil.copytree(many.bucket / "m.zarr", many.bucket / "n.zarr" if source else names[0])
    side_by_side(many, lambda: run("copy", names[source], names[1 - source]), "GET" if source else "PUT",
                 "n.zarr/a/c" + TENS)
    assert below(tmp_path / "l.zarr") == below(many.bucket / "n.zarr")


def test_a_failure_among_many(many):
    """Nothing of the copy stays, and what was not begun is not begun any more."""
    change = many.answer.change

    def refuse(sim, request, path):
        failing = request.method == "PUT" and path == many.bucket / "m.zarr/b/c/7/0"
        return many.answer.error(400, "Odd") if failing else change(sim, request, path)

    many.answer.change = refuse
    with pytest.raises(ZarrbridgeError, match="b/c/7/0: HTTP status 400"):
        copy("a", "b", MANY)
    assert not (many.bucket / "m.zarr/b").exists()
    assert (zarr.open_array(many.bucket / "m.zarr/a")[...] == 1 + np.arange(160).reshape(40, 4)).all()


@pytest.mark.parametrize("path, objects", [("", 40), ("a", 40)])
def test_a_store_is_erased_side_by_side(many, path, objects):
    """The root's document first, then the others, and chunks at last. The root may be an array."""
    name = f"{MANY}/{path}".rstrip("/")

    def delete():
        with RemoteStore(name) as store:
            store.delete("")

    log = side_by_side(many, delete, "DELETE", "a/c" + TENS)
    gone = [r for r in log if r.method == "DELETE" and "zarrbridge" not in r.path]
    assert gone[0].path == f"/bucket/m.zarr/{path}/zarr.json".replace("//", "/") and gone[0].ended <= gone[1].begun
    chunks = [r for r in gone if "/c/" in r.path]
    assert len(chunks) >= objects
    assert min(r.begun for r in chunks) >= max(r.ended for r in gone[:42] if "/c/" not in r.path)
    assert not (many.bucket / "m.zarr" / path).exists()


def test_an_array_that_shrinks_and_grows(many):
    """Its chunks are listed, where that takes fewer requests than to ask for each, and erased side by side."""
    with RemoteStore(MANY) as store:
        log = side_by_side(many, lambda: store.resize("a", (3, 4)), "DELETE", "a/c" + TENS)
        assert len([r for r in log if r.method == "DELETE" and "/c/" in r.path]) == 37
        assert len(log) < 37 + 16
        store.resize("a", (40, 4))
        assert len(many.take_log()) < 12
        assert store.read("a", (40, 4), "i4")[:, 0].tolist() == [1, 5, 9] + [0] * 37


# ---- What services do not do


@pytest.mark.parametrize("how, asks", [
    ((501, "NotImplemented"), 1), ((405, "MethodNotAllowed"), 1), ((403, "AccessDenied"), 1), ("ignored", 1),
    ((400, "InvalidArgument"), 7)])
def test_a_service_that_does_not_copy(serve, how, asks):  # noqa: F811
    """The bytes are carried. A bad request may be one for this object alone."""
    server = serve(copies=how)
    make(server)
    copy()
    log = server.take_log()
    assert len([r for r in log if SOURCE in r.headers]) == asks
    assert len(carried(log)) == 6
    assert below(server.bucket / "a b/x.zarr/h") == below(server.bucket / "a b/x.zarr/g")


def test_an_object_that_is_too_large(serve):  # noqa: F811
    """For the service to copy it, and no reason to put it in parts: it is carried, and the others are not."""
    server = serve()
    make(server)
    size = max((server.bucket / "a b/x.zarr/g" / key).stat().st_size for key in CHUNKS)
    server.answer.copy_most = size - 1
    copy()
    log = server.take_log()
    assert 0 < len(carried(log)) < 6 and len(copies(log)) == 7
    assert below(server.bucket / "a b/x.zarr/h") == below(server.bucket / "a b/x.zarr/g")


@pytest.mark.parametrize("fault", [dict(kind="status", code=503), dict(kind="cut", after=0), dict(kind="reset")])
def test_a_fault_that_passes(serve, fault):  # noqa: F811
    server = serve()
    make(server)
    server.fault("/bucket/a b/x.zarr/h/a/c", method="PUT", times=1, **fault)
    copy()
    log = server.take_log()
    assert len(copies(log)) == 8 and not carried(log)
    assert below(server.bucket / "a b/x.zarr/h") == below(server.bucket / "a b/x.zarr/g")


def test_an_error_that_comes_as_a_success(serve):  # noqa: F811
    """The service has answered with 200 when it finds that it cannot."""
    server = serve(copy_failures=2)
    make(server)
    copy()
    log = server.take_log()
    assert len(copies(log)) == 9 and not carried(log)
    assert below(server.bucket / "a b/x.zarr/h") == below(server.bucket / "a b/x.zarr/g")
    server.answer.copy_failures = 100
    with pytest.raises(ZarrbridgeError, match="/k/.*: the service could not copy it: InternalError"):
        copy(to_path="k")
    assert not (server.bucket / "a b/x.zarr/k").exists(), "a part of a copy stays"


def test_a_source_that_goes_away(serve):  # noqa: F811
    """After it was listed: an error, and no array that has lost a chunk."""
    server = serve()
    make(server)
    change = server.answer.change

    def lose(sim, request, path):
        if SOURCE in request.headers and path.parts[-4:] == ("a", "c", "1", "0"):
            (server.bucket / "a b/x.zarr/g/a/c/1/0").unlink()
        return change(sim, request, path)

    server.answer.change = lose
    with pytest.raises(ZarrbridgeError, match="g/a/c/1/0: there is no such object"):
        copy()
    assert not (server.bucket / "a b/x.zarr/h").exists()


def test_a_copy_that_fails_at_its_last_document_leaves_nothing(serve):  # noqa: F811
    server = serve()
    make(server)
    change = server.answer.change

    def refuse(sim, request, path):
        if request.method == "PUT" and path == server.bucket / "a b/x.zarr/h/zarr.json":
            return server.answer.error(403, "AccessDenied")
        return change(sim, request, path)

    server.answer.change = refuse
    with pytest.raises(ZarrbridgeError, match="403"):
        copy()
    assert not (server.bucket / "a b/x.zarr/h").exists()


def test_a_node_that_another_program_makes_where_a_copy_goes(serve):  # noqa: F811
    """It stays, and so does the source of a move."""
    server = serve()
    root = zarr.open_group(server.bucket / "a b/x.zarr", mode="w")
    root.create_array("a", shape=(4,), chunks=(2,), dtype="i4")[:] = 1
    place = server.bucket / "a b/x.zarr/b"
    let_another_make(server, place)
    with RemoteStore(NAME) as store, pytest.raises(ZarrbridgeError, match="another program has changed the object"):
        store.move("a", "b")
    assert json.loads((place / "zarr.json").read_bytes())["attributes"] == {"whose": "theirs"}
    assert (zarr.open_array(server.bucket / "a b/x.zarr/a")[...] == 1).all()


def test_the_id_of_a_write_goes_along(serve):  # noqa: F811
    """It tells a writer whose reply was lost that the bytes are its own, wherever they have been moved."""
    server = serve()
    make(server)
    path = server.bucket / "a b/x.zarr/g/s/c/0/0"
    server.answer.store(server, path, path.read_bytes(), "id-of-a-write")
    copy()
    assert server.answer.marks[server.bucket / "a b/x.zarr/h/s/c/0/0"][1] == "id-of-a-write"


# ---- In parts (of 5 MiB here), which is what an object needs that is too large for one request


def make_large(server, **options):
    data = values()
    root = zarr.open_group(server.bucket / "a b/x.zarr", mode="w")
    root.create_array("g/a", shape=data.shape, shards=data.shape, chunks=(1, data.shape[1]), dtype="u1",
                      compressors=None)[:] = data
    path = server.bucket / "a b/x.zarr/g/a/c/0/0"
    server.answer.store(server, path, path.read_bytes(), "id-of-a-write")
    server.answer.copy_most = 10 << 20
    return path


def target(server):
    return server.bucket / "a b/x.zarr/h/a/c/0/0"


def test_a_large_object_is_copied_in_parts(serve, monkeypatch):  # noqa: F811
    server = serve()
    path = make_large(server)
    copy()
    log = server.take_log()
    parts = [r for r in log if SOURCE in r.headers and "partNumber" in r.query]
    assert len(parts) == 5 and all(r.headers[SOURCE + "-if-match"] and not r.body for r in parts)
    assert not is_read(log) and not carried(log) and not server.answer.uploads
    assert target(server).read_bytes() == path.read_bytes()
    assert server.answer.marks[target(server)][1] == "id-of-a-write"


def test_a_large_object_that_changes_meanwhile_is_copied_anew(serve):  # noqa: F811
    server = serve()
    path = make_large(server)
    upload, left = server.answer.upload, [1]
    other = bytes(reversed(path.read_bytes()))

    def change(sim, request, at):
        if left[0] and "partNumber=3" in request.query:
            left[0] = 0
            server.answer.store(sim, path, other, None)
        return upload(sim, request, at)

    server.answer.upload = change
    copy()
    assert target(server).read_bytes() == other and not server.answer.uploads


def test_a_part_that_fails_as_a_success(serve):  # noqa: F811
    server = serve()
    path = make_large(server)
    server.answer.copy_failures = 1
    copy()
    assert target(server).read_bytes() == path.read_bytes() and not server.answer.uploads
    server.answer.copy_failures = 1000
    with pytest.raises(ZarrbridgeError, match="no good ETag for a part"):
        copy(to_path="k")
    assert not (server.bucket / "a b/x.zarr/k").exists() and not server.answer.uploads


def test_a_large_object_of_a_service_without_parts(serve):  # noqa: F811
    server = serve(multipart=False)
    path = make_large(server)
    copy()
    assert len(carried(server.take_log())) == 1
    assert target(server).read_bytes() == path.read_bytes()


# ---- Programs


H5PY = """
import sys, h5py
with h5py.File(sys.argv[1], "a") as file:
    file.move("g", "h")
    file.copy("h/a", "k")
    print(file["h/a"][3, 0], file["k"][3, 0])
"""


def test_h5py(serve):  # noqa: F811
    if not os.environ.get("HDF5_PLUGIN_PATH"):
        pytest.skip("the connector is not built")
    server = serve()
    make(server)
    assert python(H5PY, NAME, HDF5_VOL_CONNECTOR="zarr").split() == ["25", "25"]
    log = server.take_log()
    assert len(copies(log)) == 7 + 4 and not carried(log)
    assert (zarr.open_array(server.bucket / "a b/x.zarr/k")[...] == VALUES).all()
    assert not (server.bucket / "a b/x.zarr/g").exists()


GDAL = """
import sys
from osgeo import gdal
gdal.UseExceptions()
root = gdal.OpenEx(sys.argv[1], gdal.OF_MULTIDIM_RASTER | gdal.OF_UPDATE).GetRootGroup()
root.OpenGroup("g").OpenMDArray("a").Rename("named")
"""


def test_gdal(serve):  # noqa: F811
    if not os.environ.get("GDAL_DRIVER_PATH"):
        pytest.skip("the driver is not built")
    server = serve()
    make(server)
    python(GDAL, NAME)
    log = server.take_log()
    assert len(copies(log)) == 4 and not carried(log) and not is_read(log)
    assert (zarr.open_array(server.bucket / "a b/x.zarr/g/named")[...] == VALUES).all()
    output("gdalmanage", "copy", "-f", "Zarr3", NAME, "s3://bucket/copy.zarr")
    log = server.take_log()
    assert len(copies(log)) == 6 and not carried(log) and not is_read(log)
    assert below(server.bucket / "copy.zarr") == below(server.bucket / "a b/x.zarr")
