# SPDX-License-Identifier: MIT
"""What another program puts between two requests of ours is neither replaced nor erased: on the edge of an array that
it makes longer, beyond the edge of one that it makes longer again, in an array that it makes anew."""

import ctypes
import json
import os
import random
import subprocess
import sys

import numpy as np
import pytest

from length import SEED, by_length
from remote_store import RemoteStore, Writer, ZarrbridgeError, call, lib
from test_s3_writing import NAME, array, serve  # noqa: F401  (serve is a fixture)

HERE = os.path.dirname(os.path.abspath(__file__))
STORE = "a b/x.zarr"


def create(rows, chunk=4, width=8):
    with RemoteStore(NAME) as store:
        store.create_group("")
        store.create_array("a", (rows, width), (chunk, width), "<i4")


def write(first, values, width=8):
    values = np.asarray(values, "<i4")[:, None].repeat(width, 1)
    with RemoteStore(NAME) as store, Writer(store, "a") as writer:
        writer.write((first, 0), (1, 1), values)
        writer.flush()


def resize(rows, width=8):
    with RemoteStore(NAME) as store:
        store.resize("a", (rows, width))


def delete():
    with RemoteStore(NAME) as store:
        store.delete("a")


def make(rows):
    with RemoteStore(NAME) as store:
        store.create_array("a", (rows, 8), (4, 8), "<i4")


class Other:
    """Another program, which does one thing and ends; error() is what it has said, if it has failed."""

    def __init__(self, what):
        code = f"import sys\nsys.path.insert(0, sys.argv[1])\nfrom test_s3_races import *\n{what}"
        self.process = subprocess.Popen([sys.executable, "-c", code, HERE], text=True, stderr=subprocess.PIPE)

    def error(self):
        words = self.process.communicate()[1]
        assert not self.process.returncode or "ZarrbridgeError" in words, words
        return words if self.process.returncode else None


def rows(server):
    found = array(server)[...]
    assert (found == found[:, :1]).all()
    return found[:, 0].tolist()


# ---- The edge


@pytest.mark.parametrize("width, there_before", [(8, False), (8, True), (1 << 18, True)],
                         ids=["new", "there", "large"])
def test_a_chunk_on_the_edge_takes_nothing_from_rows_that_another_has_added(serve, width, there_before):  # noqa: F811
    """It is whole for a program that knows the old shape alone."""
    server = serve()
    create(2, width=width)
    if there_before:
        write(0, [8, 9], width)
    gate = server.hold_first("/a/c/0", ("PUT",))
    other = Other(f"write(0, [1, 2], {width})")
    gate.wait()
    resize(4, width)
    write(2, [3, 4], width)
    gate.open()
    assert other.error() is None
    assert rows(server) == [1, 2, 3, 4]


def test_a_chunk_on_the_edge_that_becomes_fill_takes_nothing_either(serve):  # noqa: F811
    server = serve()
    create(2)
    write(0, [8, 9])
    gate = server.hold_first("/a/c/0", ("PUT", "DELETE"))
    other = Other("write(0, [0, 0])")
    gate.wait()
    resize(4)
    write(2, [3, 4])
    gate.open()
    assert other.error() is None
    assert rows(server) == [0, 0, 3, 4]


def test_a_chunk_on_the_edge_costs_no_request_where_none_is(serve):  # noqa: F811
    server = serve()
    create(6)
    server.take_log()
    write(0, [1, 2, 3, 4, 5, 6])
    puts = {r.path[-3:]: r.headers.get("if-none-match") for r in server.take_log() if "/c/" in r.path}
    assert puts == {"0/0": None, "1/0": "*"}
    write(0, [6, 5, 4, 3, 2, 1])
    chunk = [(r.method, r.status) for r in server.take_log() if r.path.endswith("/c/1/0")]
    assert chunk == [("PUT", 412), ("GET", 206), ("PUT", 200)]
    assert rows(server) == [6, 5, 4, 3, 2, 1]


# ---- Beyond the edge


@pytest.mark.parametrize("first, many", [("LIST", True), ("DELETE", True), ("DELETE", False)],
                         ids=["list", "listed", "asked"])
def test_a_shrink_takes_nothing_from_an_array_that_another_makes_longer_again(serve, first, many):  # noqa: F811
    server = serve()
    size = 4000 if many else 8
    create(size)
    write(4, [5, 6, 7, 8])
    write(size - 4, [1, 2, 3, 4])
    gate = server.hold_first("/a/c/1/0", ("DELETE",)) if first == "DELETE" else server.hold_first("/bucket$", ("GET",))
    other = Other("resize(4)")
    gate.wait()
    resize(size)
    write(4, [10, 11, 12, 13])
    gate.open()
    assert "another program" in other.error()
    assert rows(server)[4:8] == [10, 11, 12, 13] and not any(rows(server)[8:])


def shorten_as_others_do(server, rows_left):
    """The document alone: what lies beyond stays."""
    path = server.bucket / STORE / "a/zarr.json"
    document = json.loads(path.read_bytes())
    document["shape"][0] = rows_left
    server.answer.store(server, path, json.dumps(document).encode(), None)


@pytest.mark.parametrize("edge, key", [(4, "/a/c/1/0"), (6, "/a/c/1/0")], ids=["chunk", "part"])
def test_of_two_programs_that_make_an_array_longer_the_later_one_clears_nothing(serve, edge, key):  # noqa: F811
    """Something lies beyond the edge, which both have to clear before."""
    server = serve()
    create(8)
    write(4, [5, 6, 7, 8])
    shorten_as_others_do(server, edge)
    gate = server.hold_first(key, ("PUT", "DELETE"))
    other = Other("resize(8)")
    gate.wait()
    resize(8)
    assert rows(server) == [0] * 4 + ([0] * 4 if edge == 4 else [5, 6, 0, 0])
    write(edge, range(20, 28 - edge))
    gate.open()
    assert "another program" in other.error()
    assert rows(server)[edge:] == list(range(20, 28 - edge))


# ---- Another array in the place


@pytest.mark.parametrize("held", ["DELETE", "LIST"])
def test_a_deletion_takes_nothing_from_an_array_that_another_makes_there(serve, held):  # noqa: F811
    server = serve()
    create(8)
    write(0, range(1, 9))
    gate = server.hold_first("/a/c/", ("DELETE",)) if held == "DELETE" else hold_listing_after_deletion(server)
    other = Other("delete()")
    gate.wait()
    make(8)
    write(0, range(11, 19))
    gate.open()
    assert "another program" in other.error()
    assert rows(server) == list(range(11, 19))


def hold_listing_after_deletion(server):
    document = server.bucket / STORE / "a/zarr.json"
    left = iter([True])
    gate = server.hold("/bucket$")
    gate.chooses = lambda asked: asked.method == "GET" and "list-type" in asked.query and not document.exists() and \
        next(left, False)
    return gate


def test_a_program_that_makes_an_array_takes_nothing_from_another_that_was_faster(serve):  # noqa: F811
    """A killed deletion has left chunks at the place, which both clear away."""
    server = serve()
    create(8)
    write(0, range(1, 9))
    (server.bucket / STORE / "a/zarr.json").unlink()
    gate = server.hold_first("/a/c/", ("DELETE",))
    other = Other("make(8)")
    gate.wait()
    make(8)
    write(0, range(11, 19))
    gate.open()
    assert "another program" in other.error()
    assert rows(server) == list(range(11, 19))


def test_a_node_that_another_has_changed_is_not_deleted(serve):  # noqa: F811
    server = serve()
    create(8)
    gate = server.hold_first("/a/zarr.json", ("DELETE",))
    other = Other("delete()")
    gate.wait()
    with RemoteStore(NAME) as store:
        store.set_attribute("a", "theirs", 1)
    gate.open()
    assert "another program" in other.error()
    assert dict(array(server).attrs) == {"theirs": 1}


def test_what_a_stale_listing_tells_goes_all_the_same(serve):  # noqa: F811
    """Services whose listings tell other ETags than their objects have: the object itself is asked."""
    server = serve()
    create(8)
    write(0, range(1, 9))
    server.answer.tag_of = lambda sim, path: '"other"'
    delete()
    assert not (server.bucket / STORE / "a").exists()


@pytest.mark.parametrize("change", [delete, lambda: resize(4)], ids=["delete", "shrink"])
def test_a_service_without_conditions_of_delete(serve, change):  # noqa: F811
    """Then DELETEs have none, and the document is looked at just before them."""
    server = serve(delete_conditions=False)
    create(8)
    write(0, range(1, 9))
    server.take_log()
    change()
    log = [r for r in server.take_log() if "zarrbridge-test" not in r.path]
    at = next(i for i, r in enumerate(log) if r.method == "DELETE" and "/c/" in r.path)
    assert log[at - 1].path.endswith("/a/zarr.json") and log[at - 1].method == "HEAD"
    assert not (server.bucket / STORE / "a/c/1").exists()


# ---- All together


RACER = """
import json, sys
sys.path.insert(0, sys.argv[1])
from test_s3_races import race
race(int(sys.argv[2]), int(sys.argv[3]))
"""


def resize_node(node, length):
    changed = ctypes.c_void_p()
    try:
        call(lib.zb_array_resize, node, (ctypes.c_uint64 * 2)(length, 8), ctypes.byref(changed))
        lib.zb_node_release(changed)
    finally:
        lib.zb_node_release(node)


def is_overtaken(refused):
    return any(words in str(refused) for words in ("another program", "shape has changed"))


def race(number, seed):
    """Adds rows at the end, and takes its own last one away again, as long as nobody else has added one. Tells what
    is there of its own by what it was told."""
    draw, own = random.Random(seed * 3 + number), {}
    for line in sys.stdin:
        for _ in range(6):
            with RemoteStore(NAME) as store:
                node = store.open("a")  # what another program changes from here on is a conflict
                length = json.loads(store.fetch("a/zarr.json").data)["shape"][0]
                try:
                    if length - 1 in own and draw.random() < 0.4:
                        resize_node(node, length - 1)
                        del own[length - 1]
                        continue
                    resize_node(node, length + 1)
                except ZarrbridgeError as refused:
                    assert is_overtaken(refused), refused
                    own.pop(length - 1, None)  # the array may be shorter, or not
                    continue
                value = number * 1000 + draw.randrange(1, 1000)
                try:
                    with Writer(store, "a") as writer:
                        writer.write((length, 0), (1, 1), np.full((1, 8), value, "<i4"))
                        writer.flush()
                    own[length] = value
                except ZarrbridgeError as refused:
                    own[length] = None
                    assert is_overtaken(refused), refused
        print(json.dumps(list(own.items())), flush=True)


def test_programs_that_make_an_array_longer_and_shorter_lose_no_row(serve):  # noqa: F811
    """Three at once. A row that is the only one in its chunk is put as a whole chunk, on the edge."""
    server = serve()
    create(1)
    racers = [subprocess.Popen([sys.executable, "-c", RACER, HERE, str(number), str(SEED)], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE) for number in range(3)]
    for _ in range(by_length(2, 20, 100)):
        for racer in racers:
            racer.stdin.write("go\n")
            racer.stdin.flush()
        told = [(row, value) for racer in racers for row, value in json.loads(racer.stdout.readline())]
        found = rows(server)
        lost = [(row, value) for row, value in told if value and (row >= len(found) or found[row] != value)]
        assert not lost, (lost, found, f"ZARRBRIDGE_SEED={SEED}")
    for racer in racers:
        racer.stdin.close()
        assert racer.wait() == 0
