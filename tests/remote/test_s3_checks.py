# SPDX-License-Identifier: MIT
"""Before a chunk is put, the array's document is looked at. Of a chunk of a MiB and more that goes along with the
body, the end of which waits for the answer."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from remote_store import RemoteStore, Writer, ZarrbridgeError
from test_s3_writing import NAME, array, serve  # noqa: F401  (serve is a fixture)

DOCUMENT, CHUNKS = "/bucket/a b/x.zarr/a/zarr.json", "/bucket/a b/x.zarr/a/c/"
LARGE, HELD_BACK = 4 << 20, 256 << 10


def create(chunks=1, size=LARGE):
    with RemoteStore(NAME) as store:
        store.create_group("")
        store.create_array("a", (chunks, size), (1, size), "u1", codecs=[{"name": "bytes"}])


def write(chunks=1, size=LARGE, meanwhile=lambda: None):
    """A writer has looked at the document before: what comes next are its puts. Calls `meanwhile` between."""
    values = np.arange(chunks, dtype="u1")[:, None] + np.ones((1, size), "u1")
    with RemoteStore(NAME) as store, Writer(store, "a") as writer:
        meanwhile()
        writer.write((0, 0), (1, 1), values)
    return values


class Order:
    """Takes down what the server does. It answers a look at the document when all of a body has come but for its end,
    and the client has gone on with other requests since."""

    def __init__(self, server):
        self.s3, self.server = server.answer, server
        self.steps, self.met, self.left = [], [], LARGE
        self.is_near_its_end = threading.Event()
        self.piece = server.uplink.piece

    def watch(self):
        self.server.take_log()
        self.server.answer, self.server.uplink = self.answer, self

    def carry(self, count, before=None):
        """As of a link, for what comes of bodies."""
        self.left -= count
        if self.left <= 2 * HELD_BACK:
            self.is_near_its_end.set()

    def answer(self, handler, request):
        if request.path.startswith(CHUNKS) and request.method == "PUT":
            reply = self.s3(handler, request)  # which takes the body
            self.steps.append("put")
            return reply
        if request.path == DOCUMENT and request.method == "GET":
            self.met.append(self.is_near_its_end.wait(100))
            with RemoteStore(NAME) as other:
                for _ in range(50):
                    other.fetch("none")
            self.look(handler, request)
            reply = self.s3(handler, request)
            self.steps.append("look")
            return reply
        return self.s3(handler, request)

    def look(self, handler, request):
        pass


def test_the_look_goes_along_and_the_end_of_the_body_waits_for_it(serve):
    server = serve()
    create()
    order = Order(server)
    values = write(meanwhile=order.watch)
    assert order.met == [True] and order.steps == ["look", "put"]
    assert (array(server)[...] == values).all()


def test_a_small_body_is_not_begun_before_its_look(serve):
    server = serve()
    create(size=1 << 16)
    order = Order(server)
    order.is_near_its_end.set()
    write(size=1 << 16, meanwhile=order.watch)
    paths = [r.path for r in server.take_log() if r.path in (DOCUMENT, CHUNKS + "0/0")]
    assert paths == [DOCUMENT, CHUNKS + "0/0"] and order.steps == ["look", "put"]


@pytest.mark.parametrize("others", ["delete", "replace", "refuse"])
def test_what_is_refused_is_never_put(serve, others):
    """The array goes while the body is on its way."""
    server = serve()
    create()
    document = server.bucket / "a b/x.zarr/a/zarr.json"
    text = document.read_text()

    def look(handler, request):
        if others == "replace":
            document.write_text(text.replace('"uint8"', '"int8"'))
        elif others == "delete":
            document.unlink(missing_ok=True)

    order = Order(server)
    order.look = look
    if others == "refuse":
        server.fault(DOCUMENT, "status", code=403, skip=1)
    words = {"delete": "has been deleted or moved", "replace": "another node has taken the place", "refuse": "403"}
    with pytest.raises(ZarrbridgeError, match=words[others]):
        write(meanwhile=order.watch)
    assert order.met and all(order.met) and "put" not in order.steps
    assert not (server.bucket / "a b/x.zarr/a/c").exists()
    server.answer = order.s3
    server.heal()
    document.write_text(text)
    values = write()
    assert (array(server)[...] == values).all()


@pytest.mark.parametrize("fault", [dict(kind="status", code=503), dict(kind="cut", after=0), dict(kind="reset")])
@pytest.mark.parametrize("path, method", [(CHUNKS, "PUT"), (DOCUMENT, "GET")])
def test_a_fault_that_passes(serve, path, method, fault):
    server = serve()
    create()
    values = write(meanwhile=lambda: server.fault(path, method=method, times=1, **fault))
    assert (array(server)[...] == values).all()


def test_a_look_that_takes_its_time(serve):
    """Three tries of it, between which the body's end waits."""
    server = serve()
    create()
    values = write(meanwhile=lambda: server.fault(DOCUMENT, "status", code=503, times=3))
    assert (array(server)[...] == values).all()
    assert len([r for r in server.take_log() if r.path.startswith(CHUNKS)]) == 1


WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
from test_s3_checks import write
write(12)
"""


def puts(server):
    """Of chunks, since the last look."""
    return sum(request.path.startswith(CHUNKS) and request.method == "PUT" for request in server.take_log())


@pytest.mark.parametrize("limits", [{"REQUESTS": 1}, {"REQUESTS": 2}, {"FLIGHT_BYTES": 1 << 20}])
def test_bodies_that_wait_leave_their_room_to_the_looks(serve, limits):
    """Four puts at once, and fewer requests that there may be. A body that gave up its turn only after the time
    for one without progress would be put again."""
    server = serve()
    create(12)
    limits = {f"ZARRBRIDGE_REMOTE_{name}": str(value) for name, value in limits.items()}
    here = os.path.dirname(os.path.abspath(__file__))
    server.take_log()
    subprocess.run([sys.executable, "-c", WRITER, here], env=os.environ | limits, check=True)
    assert puts(server) == 12
    assert array(server)[:, 7].tolist() == list(range(1, 13))


def test_a_server_that_is_busy_does_not_keep_the_looks_from_going_out(serve):
    """The width of a store's line is halved by 503s, down to one."""
    server = serve()
    create(12)
    values = write(12, meanwhile=lambda: server.fault(CHUNKS, "status", code=503, times=8, method="PUT"))
    assert puts(server) == 8 + 12
    assert (array(server)[...] == values).all()
