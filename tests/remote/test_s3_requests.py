# SPDX-License-Identifier: MIT
"""What changes of stores in S3 ask for: how many requests, that one answer serves for several questions, and
that what another program does meanwhile is seen all the same."""

import ctypes
import json
import os
import re
import sys

import h5py
import numpy as np
import pytest
import zarr
from osgeo import gdal

from conftest import run
from programs import output, python
from remote_store import RemoteStore, Writer, ZarrbridgeError, call, lib
from simserver import Gate
from test_s3_writing import let_another_make, serve  # noqa: F401  (a fixture)

gdal.UseExceptions()
NAME = "s3://bucket/x.zarr"
ROOT = "/bucket/x.zarr"
lib.zb_store_is_absent.restype = ctypes.c_bool


def kinds(log):
    """The requests, in order, with what is asked for; names of GDAL's have the number of a process."""
    def kind(r):
        prefix = "&prefix=x.zarr%2F"
        at = r.query.partition(prefix)[2].replace("%2F", "/") if r.query else r.path.removeprefix(ROOT)[1:]
        return ("LIST" if r.query else r.method, at)

    return [kind(r) for r in log if "zarrbridge-test" not in r.path]


def probes(log):
    return len([r for r in log if "zarrbridge-test" in r.path])


# ---- How many


H5PY = """
import sys, h5py
with h5py.File(sys.argv[1], "a") as file:
    for name in sys.argv[2:]:
        file[name] = range(9)
"""


def test_a_dataset_that_h5py_makes(serve):  # noqa: F811
    if not os.environ.get("HDF5_PLUGIN_PATH"):
        pytest.skip("the connector is not built")
    server = serve()
    zarr.open_group(server.bucket / "x.zarr", mode="w")
    python(H5PY, NAME, "a", HDF5_VOL_CONNECTOR="zarr")
    log = server.take_log()
    asked = kinds(log)
    assert asked[-8:-1] == [
        ("GET", "zarr.json"), ("GET", ".zarrbridge-consolidated"), ("LIST", "a"),  # under the lock
        ("PUT", "a/.zarrbridge-copy"), ("PUT", "a/c/0"), ("PUT", "a/zarr.json"), ("DELETE", "a/.zarrbridge-copy")]
    if h5py.version.hdf5_version_tuple < (2,):
        assert asked[:2] == [("GET", "zarr.json"), ("LIST", "a")] and len(asked) == 10  # the file, the name
    assert len(asked) <= 12 and probes(log) == 5
    puts = {r.path: r.headers.get("if-none-match") for r in log if r.method == "PUT" and ROOT + "/a/" in r.path}
    del puts[ROOT + "/a/.zarrbridge-copy"]
    assert puts == {ROOT + "/a/c/0": None, ROOT + "/a/zarr.json": "*"}
    python(H5PY, NAME, "b", "c", HDF5_VOL_CONNECTOR="zarr")
    assert len(kinds(server.take_log())) <= 21
    assert (zarr.open_array(server.bucket / "x.zarr/c")[...] == np.arange(9)).all()


@pytest.mark.parametrize("sync", ["NONE", "CLOSE", "ALWAYS"])
def test_levels_that_gdaladdo_makes(serve, tmp_path, sync):  # noqa: F811
    if not os.environ.get("GDAL_DRIVER_PATH"):
        pytest.skip("the driver is not built")
    server = serve()
    raster = gdal.GetDriverByName("GTiff").Create(str(tmp_path / "in.tif"), 96, 96, 2, gdal.GDT_Int16)
    raster.GetRasterBand(1).Fill(3)
    del raster
    output("gdal_translate", "-q", "-of", "Zarr3", tmp_path / "in.tif", NAME)
    server.take_log()
    output("gdaladdo", "-q", "-oo", "SYNC=" + sync, NAME, "2", "4")
    log = server.take_log()
    assert len(log) <= 114  # with a look for each coordinate of the raster
    assert kinds(log).count(("DELETE", ".zarrbridge-consolidated")) == 1  # nothing is consolidated in between
    assert gdal.Open(str(server.bucket / "x.zarr")).GetRasterBand(1).GetOverviewCount() == 2


def test_a_node_that_core_makes_and_opens(serve):  # noqa: F811
    server = serve()
    with RemoteStore(NAME) as store:
        store.create_group("")
        server.take_log()
        store.create_array("a", (4, 4), (2, 4), "i4")
        assert kinds(server.take_log()) == [("GET", "zarr.json"), ("GET", ".zarrbridge-consolidated"), ("LIST", "a"),
                                            ("PUT", "a/zarr.json")]
        store.create_array("b/c", (4, 4), (2, 4), "i4")
        assert kinds(server.take_log()) == [
            ("GET", "zarr.json"), ("GET", ".zarrbridge-consolidated"), ("GET", "b/zarr.json"), ("LIST", "b"),
            ("LIST", "b/c"), ("PUT", "b/zarr.json"), ("PUT", "b/c/zarr.json")]


def test_a_move(serve):  # noqa: F811
    server = serve()
    root = zarr.open_group(server.bucket / "x.zarr", mode="w")
    root.create_array("a", shape=(4, 4), chunks=(2, 2), dtype="i4")[:] = 1
    with RemoteStore(NAME) as store:
        store.move("a", "b")
        log = server.take_log()
    chunks = [f"c/{i}/{j}" for i in (0, 1) for j in (0, 1)]
    asked = kinds(log)
    assert asked[:6] == [("GET", "zarr.json"), ("GET", ".zarrbridge-consolidated"), ("GET", "a/zarr.json"),
                         ("LIST", "b"), ("PUT", "b/.zarrbridge-copy"), ("LIST", "a/")]
    assert asked[6] == ("PUT", "b/c/0/0")  # which tells whether the service copies
    assert sorted(asked[7:10]) == [("PUT", "b/c/0/1"), ("PUT", "b/c/1/0"), ("PUT", "b/c/1/1")]
    assert asked[10:15] == [("GET", "a/zarr.json"), ("PUT", "b/zarr.json"), ("DELETE", "b/.zarrbridge-copy"),
                            ("DELETE", "a/zarr.json"), ("LIST", "a/")]
    assert asked[15] == ("HEAD", "a/zarr.json")  # no other program has made a node there
    assert sorted(asked[16:]) == [("DELETE", "a/" + chunk) for chunk in chunks]


def test_a_part_of_a_shard(serve):  # noqa: F811
    """The inner chunks that it keeps come together, in the order of their bytes, which zarr-python makes another one
    than that of their index."""
    server = serve()
    root = zarr.open_group(server.bucket / "x.zarr", mode="w")
    array = root.create_array("a", shape=(512, 512), shards=(512, 512), chunks=(32, 32), dtype="i4")
    array[:] = values = np.random.default_rng(0).integers(0, 1 << 30, (512, 512), "i4")
    with RemoteStore(NAME) as store, Writer(store, "a") as writer:
        server.take_log()
        writer.write((250, 250), (1, 1), np.full((1, 1), 7, "i4"))
        writer.flush()
        asked = [at for at in kinds(server.take_log()) if "zarr.json" not in at[1]]
    values[250, 250] = 7
    assert (zarr.open_array(server.bucket / "x.zarr/a")[...] == values).all()
    # A journal, which a store has that was copied with it; the object's head; the index; what lies before and behind
    # the inner chunk; the index and the inner chunk, which is read like any other; the new shard.
    assert asked[0] == ("GET", "a/c/0/.0.zb-journal") and asked[-1] == ("PUT", "a/c/0/0")
    assert set(asked[1:-1]) == {("GET", "a/c/0/0")} and len(asked) <= 8


def test_a_service_is_asked_once_in_a_process_whether_it_keeps_to_conditions(serve):  # noqa: F811
    """Each bucket, of each endpoint."""
    server = serve()
    (server.bucket.parent / "other").mkdir()
    for name, asked in {NAME: 5, "s3://bucket/y.zarr": 0, "s3://other/y.zarr": 5, NAME + "/below.zarr": 0}.items():
        with RemoteStore(name) as store:
            store.create_group("", {"k": 1})
        assert probes(server.take_log()) == asked, name


def test_the_files_of_an_h5py_program_share_the_answer(serve):  # noqa: F811
    if not os.environ.get("HDF5_PLUGIN_PATH"):
        pytest.skip("the connector is not built")
    server = serve()
    code = "import sys, h5py\nfor i in range(3):\n    with h5py.File(sys.argv[1] + str(i) + '.zarr', 'w') as f: f['a'] = 1"
    python(code, "s3://bucket/", HDF5_VOL_CONNECTOR="zarr")
    assert probes(server.take_log()) == 5
    assert zarr.open_array(server.bucket / "2.zarr/a")[...] == 1


def test_a_service_that_does_not_keep_to_conditions_is_asked_again(serve):  # noqa: F811
    """It may have been mended meanwhile."""
    server = serve(conditions=False)
    for _ in range(2):
        with RemoteStore(NAME) as store, pytest.raises(ZarrbridgeError, match="takes no notice of If-Match"):
            store.create_group("")
    server.answer.conditions = True
    with RemoteStore(NAME) as store:
        store.create_group("")


def test_a_question_for_conditions_without_an_answer_is_no_answer(serve):  # noqa: F811
    """The service is not called one that takes no notice of them where it was out of order for a moment."""
    server = serve()
    zarr.open_group(server.bucket / "x.zarr", mode="w")
    server.fault(ROOT + "/zarrbridge-test", method="PUT", kind="status", code=503, skip=1, times=1)
    status, _, words = run("consolidate", NAME, ZARRBRIDGE_REMOTE_TRIES=1)
    assert status and "HTTP status 503" in words and "takes no notice" not in words
    assert run("consolidate", NAME, ZARRBRIDGE_REMOTE_TRIES=1)[0] == 0


# ---- Walks


VISITED = """
import sys, h5py
names = []
with h5py.File(sys.argv[1], "r") as file:
    file.visititems(lambda name, node: names.append(name + str(getattr(node, "shape", ""))))
print(*names, sep="\\n")
"""

WALKED = """
import sys
from osgeo import gdal
gdal.UseExceptions()

def walk(group):
    for name in group.GetMDArrayNames():
        array = group.OpenMDArray(name)
        print(array.GetFullName(), array.GetShape(), array.GetSpatialRef())
    for name in group.GetGroupNames():
        walk(group.OpenGroup(name))

walk(gdal.OpenEx("ZARR3:" + sys.argv[1], gdal.OF_MULTIDIM_RASTER).GetRootGroup())
"""


def make_tree(path, groups=9):
    root = zarr.open_group(path, mode="w")
    for g in range(groups):
        group = root.create_group(f"g{g}")
        for a in range(10):
            group.create_array(f"a{a}", shape=(4 + a, 4), chunks=(2, 2), dtype="i4")


@pytest.mark.parametrize("way", ["ls", "visititems", "multidim", "gdalinfo"])
def test_a_walk_asks_for_many_nodes_at_once(serve, way):  # noqa: F811
    """For each document and each listing once, and no more."""
    needs = {"visititems": "HDF5_PLUGIN_PATH", "multidim": "GDAL_DRIVER_PATH", "gdalinfo": "GDAL_DRIVER_PATH"}
    if not os.environ.get(needs.get(way, "HOME")):
        pytest.skip("the plugin is not built")
    server = serve()
    make_tree(server.bucket / "x.zarr")
    # The first group is opened by itself; of the others, one after the other would have 10 at once.
    gate = server.hold("/g[1-8]/a./zarr.json", count=20)
    said = {"ls": lambda: "\n".join(run("ls", NAME)[1]),
            "visititems": lambda: python(VISITED, NAME, HDF5_VOL_CONNECTOR="zarr"),
            "multidim": lambda: python(WALKED, NAME), "gdalinfo": lambda: output("gdalinfo", NAME)}[way]()
    assert all(f"g{g}/a{a}" in said for g in range(9) for a in range(10))
    log = server.take_log()
    assert len(log) <= 100 + 10 + 2
    assert len({(r.path, r.query) for r in log}) >= 110
    assert gate.was_met


def test_a_walk_over_consolidated_metadata(serve):  # noqa: F811
    """One request; and one listing of each group where what may stand beside an array is looked for."""
    server = serve()
    make_tree(server.bucket / "x.zarr", groups=3)
    zarr.consolidate_metadata(server.bucket / "x.zarr")
    run("ls", NAME)
    assert len(server.take_log()) == 1
    if os.environ.get("GDAL_DRIVER_PATH"):
        assert len(python(WALKED, NAME).splitlines()) == 30
        assert len(server.take_log()) <= 1 + 4


def test_a_change_looks_at_many_nodes_at_once(serve):  # noqa: F811
    server = serve()
    make_tree(server.bucket / "x.zarr", groups=3)
    # After a walk, in which a group may come after the other, all documents are asked for again.
    gate = Gate(lambda asked: "/a" in asked.path and [r.path for r in server.log].count(asked.path) == 2, 20)
    server.gates.append(gate)
    assert run("consolidate", NAME)[0] == 0
    assert gate.was_met
    assert len(server.take_log()) <= 2 * 34 + 20
    block = json.loads((server.bucket / "x.zarr/zarr.json").read_bytes())["consolidated_metadata"]["metadata"]
    assert len(block) == 33 and block["g2/a9"]["shape"] == [13, 4]


# ---- Is there nothing?


KEYS = ["a!/x", "a+b", "a-1/c/0", "a.b/zarr.json", "b/c/0", "b0/x", "c", "d/e/f", "d.1/x", "dé/x", "e e/x"]
KEYS += [f"a-{i}/x" for i in range(20)] + [f"g!{i}" for i in range(20)] + ["g/x"] + [f"h!{i}" for i in range(20)]
PREFIXES = {"a": True, "a!": False, "a-1": False, "a-1/c": False, "a-1/c/0": False, "a-1/c/00": True, "a-": True,
            "a.": True, "a.b": False, "b": False, "b/c": False, "b/c/1": True, "b0": False, "c": False, "c/d": True,
            "d": False, "d/e": False, "d/f": True, "d.1": False, "dé": False, "é": True, "e e": False, "e": True,
            "g": False, "h": True, "z": True, "z/y": True}


@pytest.mark.parametrize("page", [1, 3, 1000])
def test_an_answer_is_never_wrong(serve, page):  # noqa: F811
    """Names beside a prefix that begin as it does come before those below it, or behind."""
    server = serve(page=page)
    for key in KEYS:
        path = server.bucket / "x.zarr" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"1")
    with RemoteStore(NAME) as store:
        for prefix, expected in PREFIXES.items():
            server.take_log()
            assert lib.zb_store_is_absent(store.store, prefix.encode()) == expected, prefix
            assert len(server.take_log()) <= 2


def test_what_cannot_be_known(serve):  # noqa: F811
    server = serve()
    zarr.open_group(server.bucket / "x.zarr", mode="w")
    with RemoteStore(NAME) as store:
        for body in (b"", b"<html/>", b"<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"):
            server.fault("/bucket", "body", times=2, body=body)
            assert not lib.zb_store_is_absent(store.store, b"a"), body
            server.heal()
        assert lib.zb_store_is_absent(store.store, b"a")


def test_who_may_not_list_is_refused_once(serve):  # noqa: F811
    server = serve()
    zarr.open_group(server.bucket / "x.zarr", mode="w")
    server.answer.list = lambda *_: server.answer.error(403, "AccessDenied")
    with RemoteStore(NAME) as store:
        for _ in range(3):
            assert not lib.zb_store_is_absent(store.store, b"a")
    assert len(server.take_log()) == 1


# ---- Others are seen


@pytest.mark.parametrize("path, theirs", [("a", "a"), ("b/c", "b"), ("b/c", "b/c")])
def test_a_node_that_another_program_makes_meanwhile(serve, path, theirs):  # noqa: F811
    """After it was found that nothing is there: the put has a condition, though that object was not asked for."""
    server = serve()
    zarr.open_group(server.bucket / "x.zarr", mode="w")
    place = server.bucket / "x.zarr" / theirs
    let_another_make(server, place)
    with RemoteStore(NAME) as store, pytest.raises(ZarrbridgeError, match="another program has changed the object"):
        store.create_array(path, (4,), (2,), "i4")
    assert json.loads((place / "zarr.json").read_bytes())["attributes"] == {"whose": "theirs"}


@pytest.mark.parametrize("left, said", [
    ({"a/zarr.json": b'{"zarr_format":3,"node_type":"group"}'}, "there is a node at /a already"),
    ({"a/.zgroup": b'{"zarr_format":2}'}, "is Zarr version 2"), ({"a/b/.zgroup": b'{"zarr_format":2}'}, "version 2"),
    ({"a/b/zarr.json": b'{"zarr_format":3,"node_type":"group"}'}, "there is a node below")])
def test_what_is_there_is_found(serve, left, said):  # noqa: F811
    server = serve()
    zarr.open_group(server.bucket / "x.zarr", mode="w")
    for key, data in left.items():
        path = server.bucket / "x.zarr" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    with RemoteStore(NAME) as store, pytest.raises(ZarrbridgeError, match=said):
        store.create_array("a", (4,), (2,), "i4")


def test_chunks_that_a_killed_program_has_left_are_erased(serve):  # noqa: F811
    server = serve()
    zarr.open_group(server.bucket / "x.zarr", mode="w")
    (server.bucket / "x.zarr/a/c").mkdir(parents=True)
    (server.bucket / "x.zarr/a/c/0").write_bytes(b"old")
    with RemoteStore(NAME) as store:
        store.create_array("a", (4,), (2,), "i4")
    assert sorted(p.name for p in (server.bucket / "x.zarr/a").rglob("*")) == ["zarr.json"]


def test_an_own_put_is_known_and_the_put_of_another_program_is_seen(serve):  # noqa: F811
    """A chunk is not put into an array that has been replaced since this program made it."""
    server = serve()
    with RemoteStore(NAME) as store:
        store.create_group("")
        store.create_array("a", (4,), (2,), "i4")
        with Writer(store, "a") as writer:
            writer.write((0,), (1,), np.ones(2, "i4"))
            writer.flush()
            zarr.create_array(server.bucket / "x.zarr/a", shape=(4,), chunks=(2,), dtype="f8", overwrite=True)
            with pytest.raises(ZarrbridgeError, match="another node has taken the place"):
                writer.write((0,), (1,), np.ones(2, "i4"))
                writer.flush()
            call(lib.zb_hierarchy_flush, store.handle)
    assert not (server.bucket / "x.zarr/a/c").exists()


# ---- Version 2


def test_version_2_is_read_by_as_many_requests(serve):  # noqa: F811
    """But for one, by which the first node of a store is found."""
    server = serve()
    root = zarr.open_group(server.bucket / "x.zarr", mode="w", zarr_format=2)
    for name in "ab":
        root.create_array(name, shape=(4,), chunks=(2,), dtype="i4")[:] = 1
    with RemoteStore(NAME) as store:
        store.open("a")
        assert kinds(server.take_log()) == [("GET", "a/zarr.json"), ("LIST", "a"), ("GET", "a/.zarray"),
                                            ("GET", "a/.zattrs")]
        store.open("b")
        assert kinds(server.take_log()) == [("GET", "b/zarr.json"), ("GET", "b/.zarray"), ("GET", "b/.zattrs")]


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


@pytest.mark.parametrize("part", ["..", "."])
def test_a_key_with_dots_leads_to_no_other_object(serve, part):  # noqa: F811
    """S3 may have such keys, below a group that is erased; libcurl makes `a` of `g/../a`, and of `g/%2E%2E/a`."""
    server = serve()
    root = zarr.open_group(server.bucket / "x.zarr", mode="w")
    root.create_group("g")
    place = "a" if part == ".." else "g/a"
    root.create_array(place, shape=(4,), chunks=(2,), dtype="i4")[:] = 1
    listed = server.answer.list

    def list_more(sim, folder, query):
        reply = listed(sim, folder, query)
        if query["prefix"] == ["x.zarr/g/"] and "delimiter" not in query:
            odd = f"<Contents><Key>x.zarr/g/{part}/a/c/0</Key><Size>1</Size></Contents></ListBucketResult>".encode()
            reply.data = re.sub(b"<Contents><Key>x.zarr/g/a/c/0</Key>.*?</Contents>", b"", reply.data)
            reply.data = reply.data.replace(b"</ListBucketResult>", odd)
        return reply

    server.answer.list = list_more
    with RemoteStore(NAME) as store, pytest.raises(ZarrbridgeError, match=r"a part of the key is '\.' or '\.\.'"):
        store.delete("g")
    assert (server.bucket / "x.zarr" / place / "c/0").exists()


def test_an_array_is_copied_by_pages(serve):  # noqa: F811
    server = serve(page=3)
    root = zarr.open_group(server.bucket / "x.zarr", mode="w")
    array = root.create_array("a", shape=(6, 6), chunks=(2, 2), dtype="i4")
    array[:] = np.arange(36).reshape(6, 6)
    with RemoteStore(NAME) as store:
        call(lib.zb_node_copy, store.handle, b"a", store.handle, b"b")
        call(lib.zb_hierarchy_flush, store.handle)
    assert (zarr.open_array(server.bucket / "x.zarr/b")[...] == array[...]).all()
    lists = [r for r in server.take_log() if "list-type" in r.query and "%2Fa%2F" in r.query]
    assert len(lists) == 4, "ten keys"


LOCKS_OF_A_CHILD = """
import ctypes, os, sys, threading
from remote_store import RemoteStore, ZarrbridgeError, call, lib
store, held, done = RemoteStore(sys.argv[1]), threading.Event(), threading.Event()

def lock(key):
    taken = ctypes.c_void_p()
    call(lib.zb_store_lock, store.store, key, ctypes.byref(taken))
    return taken

def hold():
    taken = lock(b"theirs")
    held.set()
    done.wait()
    lib.zb_store_unlock(taken)

thread = threading.Thread(target=hold)
thread.start()
held.wait()
own, child = lock(b"own"), os.fork()
if child == 0:
    try:
        lock(b"theirs")
        lib.zb_store_unlock(own)
        lock(b"own")
        os._exit(0)
    finally:
        os._exit(1)
assert os.waitpid(child, 0)[1] == 0
try:
    lock(b"theirs")
    sys.exit("it is not held")
except ZarrbridgeError:
    done.set()
thread.join()
lock(b"theirs")
"""


def test_children_have_no_locks_of_other_threads(serve):  # noqa: F811
    serve()
    output(sys.executable, "-W", "ignore", "-c", LOCKS_OF_A_CHILD, NAME, ZARRBRIDGE_LOCK_SECONDS=0,
           PYTHONPATH=os.path.dirname(__file__))
