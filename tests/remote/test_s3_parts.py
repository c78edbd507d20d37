# SPDX-License-Identifier: MIT
"""Objects that go to S3 in parts: all or nothing, under the conditions of puts. The parts have 5 MiB here
(ZARRBRIDGE_REMOTE_PUT_BYTES)."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from remote_store import RemoteStore, Writer, ZarrbridgeError
from sims3 import Upload
from test_s3_writing import NAME, array, serve  # noqa: F401  (serve is a fixture)

ROWS, COLUMNS = 22, 1 << 20  # of one byte: 22 MiB, 5 parts
KEY = "/bucket/a b/x.zarr/a/c"


def values(seed=1):
    return np.random.default_rng(seed).integers(0, 255, (ROWS, COLUMNS), "u1")


def create(sharded=True):
    with RemoteStore(NAME) as store:
        store.create_group("")
        if sharded:
            store.create_array("a", (ROWS, COLUMNS), (1, COLUMNS), "u1", shards=(ROWS, COLUMNS))
        else:
            store.create_array("a", (ROWS, COLUMNS), (ROWS, COLUMNS), "u1", codecs=[{"name": "bytes"}])


def write(data, row=0):
    with RemoteStore(NAME) as store, Writer(store, "a") as writer:
        writer.write((row, 0), (1, 1), data)


def kinds(log):
    """The requests that change an array's chunks."""
    names = {("POST", "uploads"): "begin", ("PUT", "partNumber"): "part", ("POST", "uploadId"): "complete",
             ("DELETE", "uploadId"): "abort", ("PUT", ""): "put"}
    return [names[r.method, r.query.partition("=")[0]] for r in log
            if r.path.startswith(KEY) and r.method not in ("GET", "HEAD")]


@pytest.mark.parametrize("sharded", [True, False])
def test_a_large_object_goes_in_parts(serve, sharded):
    server = serve()
    create(sharded)
    data = values()
    server.take_log()
    write(data)
    log = [r for r in server.take_log() if r.path.startswith(KEY)]
    assert kinds(log) == ["begin"] + 5 * ["part"] + ["complete"]
    assert sorted(len(r.body) for r in log if "partNumber" in r.query)[1:] == 4 * [5 << 20]
    assert (array(server)[...] == data).all() and not server.answer.uploads
    data[7] = 3
    write(data[7:8], 7)  # the rest is read, and the object replaced if it is still that one
    last = [r for r in server.take_log() if r.path.startswith(KEY) and r.method == "POST"
            and r.query.startswith("uploadId")]
    assert [bool(r.headers.get("if-match")) for r in last] == [True]
    assert (array(server)[...] == data).all() and not server.answer.uploads
    left = sorted(p.name for p in server.bucket.rglob("*") if p.is_file())
    assert left == ["0", "zarr.json", "zarr.json"]


@pytest.mark.parametrize("slow", [1, 3])
def test_a_slow_part_holds_up_no_other(serve, slow):
    """Four parts are under way as long as there are so many: the fifth begins when one of them has ended."""
    server = serve()
    create()
    s3, data = server.answer, values()
    lock, fifth, waited, under_way, most = threading.Lock(), threading.Event(), [], [], []

    def answer(sim, request):
        if "partNumber" not in request.query or not request.path.startswith(KEY):
            return s3(sim, request)
        number = int(request.query.partition("partNumber=")[2].partition("&")[0])
        with lock:
            under_way.append(number)
            most.append(len(under_way))
        if number == 5:
            fifth.set()
        if number == slow:
            waited.append(fifth.wait(100))
        reply = s3(sim, request)
        with lock:
            under_way.remove(number)
        return reply

    server.answer = answer
    write(data)
    assert waited == [True] and max(most) <= 4
    assert (array(server)[...] == data).all() and not s3.uploads


REQUESTS = [("POST", 0), ("PUT", 2), ("POST", 1)]  # and how many of its method come before


@pytest.mark.parametrize("method, skip", REQUESTS)
@pytest.mark.parametrize("fault", [dict(kind="status", code=503), dict(kind="cut", after=0), dict(kind="lost"),
                                   dict(kind="reset")])
def test_a_fault_that_passes(serve, method, skip, fault):
    """But for "reset" the request was carried out, and its reply is lost."""
    server = serve()
    create()
    data = values()
    write(data)
    data[3] = 9
    server.fault(KEY, method=method, skip=skip, times=1, **fault)
    write(data[3:4], 3)
    assert (array(server)[...] == data).all()
    # One that was begun twice stays: its name was in the reply that was lost.
    assert len(server.answer.uploads) == (method == "POST" and skip == 0 and fault["kind"] != "reset")


@pytest.mark.parametrize("method, skip", REQUESTS)
def test_a_fault_that_stays_leaves_the_old_object(serve, method, skip):
    server = serve()
    create()
    write(values())
    before = (server.bucket / "a b/x.zarr/a/c/0/0").read_bytes()
    upload = server.answer.upload
    left = [skip]

    def refuse(sim, request, path):
        if request.method == method and KEY.endswith(str(path.parent.parent.name)):
            left[0] -= 1
            if left[0] < 0:
                return server.answer.error(403, "AccessDenied")
        return upload(sim, request, path)

    server.answer.upload = refuse
    with pytest.raises(ZarrbridgeError, match="a/c/0/0.*403"):
        write(values(2))
    assert (server.bucket / "a b/x.zarr/a/c/0/0").read_bytes() == before and not server.answer.uploads


def test_an_error_that_comes_as_a_success(serve):
    """The service has answered with 200 when it finds that it cannot."""
    server = serve()
    create()
    complete, times = server.answer.complete, [1]

    def fail(sim, request, upload):
        if upload.path.name != "0" or times[0] == 0:
            return complete(sim, request, upload)
        times[0] -= 1
        reply = server.answer.error(200, "InternalError")
        return reply

    server.answer.complete = fail
    data = values()
    write(data)
    assert (array(server)[...] == data).all()
    times[0] = 100
    with pytest.raises(ZarrbridgeError, match="could not make an object of its parts: InternalError"):
        write(values(2))
    assert (array(server)[...] == data).all() and not server.answer.uploads


def test_what_another_program_writes_meanwhile_is_not_lost(serve):
    server = serve()
    create()
    path = server.bucket / "a b/x.zarr/a/c/0/0"
    data = values()
    write(data)
    old = path.read_bytes()
    data[1] = 1
    write(data[1:2], 1)
    others = path.read_bytes()
    path.write_bytes(old)
    complete, left = server.answer.complete, [1]

    def meet(sim, request, upload):
        if left[0] and upload.path == path:
            left[0] = 0
            server.answer.store(sim, path, others, None)
        return complete(sim, request, upload)

    server.answer.complete = meet
    data[2] = 2
    server.take_log()
    write(data[2:3], 2)
    assert left == [0] and kinds(server.take_log()).count("complete") == 2
    assert (array(server)[...] == data).all() and not server.answer.uploads


@pytest.mark.parametrize("service", [dict(part_conditions=False), dict(multipart=False)])
def test_services_that_are_not_trusted_with_parts(serve, service):
    server = serve(**service)
    create()
    data = values()
    for row in (0, 5):  # a test, and then none
        data[row] = row
        server.take_log()
        write(data if row == 0 else data[row:row + 1], row)
        assert kinds(server.take_log()) == ["put"]
    assert (array(server)[...] == data).all()
    assert not [p for p in server.bucket.rglob("*") if "zarrbridge-test" in p.name]


def test_an_upload_that_libcurl_cannot_sign(serve):
    """Before 8.19 it signs a plus wrongly; the object then goes by one request."""
    server = serve()
    server.answer.upload_name = "Upload+{}"
    create()
    data = values()
    server.take_log()
    write(data)
    asked = kinds(server.take_log())
    assert asked in (["put"], ["begin"] + 5 * ["part"] + ["complete"])
    assert (array(server)[...] == data).all()


def spoil(server, query, change):
    """Replies to requests for the array's chunk whose query begins so are changed."""
    upload = server.answer.upload

    def answer(sim, request, path):
        reply = upload(sim, request, path)
        if request.query.startswith(query) and request.path.startswith(KEY):
            change(reply)
        return reply

    server.answer.upload = answer


@pytest.mark.parametrize("reply", [
    "<InitiateMultipartUploadResult><UploadId></UploadId></InitiateMultipartUploadResult>",
    "<InitiateMultipartUploadResult><UploadId>" + 1025 * "x" + "</UploadId></InitiateMultipartUploadResult>",
    "<Other><UploadId>1</UploadId></Other>", "<InitiateMultipartUploadResult>", ""],
    ids=["empty", "long", "other", "cut", "none"])
def test_bad_names_of_uploads_are_errors(serve, reply):
    server = serve()
    create()
    spoil(server, "uploads", lambda answer: setattr(answer, "data", reply.encode()))
    with pytest.raises(ZarrbridgeError, match="begins no upload in parts"):
        write(values())
    assert not (server.bucket / "a b/x.zarr/a/c").exists()


@pytest.mark.parametrize("tag", ['', 'x', 'W/"x"', '"<x>"', '"&x"'])
def test_bad_etags_of_parts_are_errors(serve, tag):
    server = serve()
    create()
    spoil(server, "partNumber=2", lambda answer: answer.headers.update(ETag=tag))
    with pytest.raises(ZarrbridgeError, match="no good ETag for a part"):
        write(values())
    assert not (server.bucket / "a b/x.zarr/a/c").exists() and not server.answer.uploads


def test_an_upload_that_the_service_drops_is_an_error(serve):
    """And is not taken for another program's change of the object."""
    server = serve()
    create()
    upload = server.answer.upload

    def drop(sim, request, path):
        if "partNumber=4" in request.query:
            server.answer.uploads.clear()
        return upload(sim, request, path)

    server.answer.upload = drop
    with pytest.raises(ZarrbridgeError, match="has dropped the upload"):
        write(values())
    assert not (server.bucket / "a b/x.zarr/a/c").exists()


def test_an_array_that_grows_meanwhile_keeps_what_is_written_there(serve):
    """A whole chunk has no condition: the array is looked at before the last request."""
    server = serve()
    with RemoteStore(NAME) as store:
        store.create_group("")
        store.create_array("a", (ROWS, COLUMNS), (1, COLUMNS), "u1", shards=(2 * ROWS, COLUMNS))
    upload, left = server.answer, [1]

    def meet(sim, request):
        if left[0] and "partNumber=3" in request.query and request.path.startswith(KEY):
            left[0] = 0
            subprocess.run([sys.executable, "-c", GROWER, os.path.dirname(__file__)], check=True)
        return upload(sim, request)

    server.answer = meet
    with pytest.raises(ZarrbridgeError, match="shape has changed"):
        write(values())
    assert left == [0] and not upload.uploads
    assert (array(server)[ROWS + 1] == 77).all()


@pytest.mark.parametrize("name", ["Upload.{}", "Upload+{}"])  # which not every libcurl can sign
@pytest.mark.parametrize("is_stored", [False, True])
def test_an_array_that_goes_meanwhile_gets_no_object(serve, name, is_stored):
    """It is looked at behind the parts and before they are made an object, and not in front of them as well. A part
    of a shard that is stored is written on a condition, whose words do not take the place of the look's."""
    server = serve()
    server.answer.upload_name = name
    create()
    data = values()
    if is_stored:
        write(data)
    path = server.bucket / "a b/x.zarr/a/c/0/0"
    before = path.read_bytes() if is_stored else None
    s3, steps, has_gone = server.answer, [], threading.Event()

    def meet(sim, request):
        if request.path.startswith(KEY) and request.method != "GET":
            steps.append(kinds([request])[0])
            (server.bucket / "a b/x.zarr/a/zarr.json").unlink(missing_ok=True)
            has_gone.set()
        elif request.path.endswith("a/zarr.json"):
            if steps or not is_stored:  # the first look at an array with a shard comes before any part of that
                has_gone.wait(100)
            steps.append("look")
        return s3(sim, request)

    with RemoteStore(NAME) as store, pytest.raises(ZarrbridgeError, match="has been deleted or moved"), \
            Writer(store, "a") as writer:
        server.answer = meet
        writer.write((0, 0), (1, 1), data[:5 if is_stored else ROWS] + 1)
        writer.flush()
    first = steps.index("begin" if "begin" in steps else "put")
    assert is_stored or first == 0
    assert "look" in steps[first:] and "complete" not in steps
    assert path not in [upload.path for upload in s3.uploads.values()]
    assert path.read_bytes() == before if is_stored else not path.exists()


GROWER = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy
from test_s3_parts import COLUMNS, NAME, ROWS, RemoteStore, write
with RemoteStore(NAME) as store:
    store.resize("a", (2 * ROWS, COLUMNS))
write(numpy.full((1, COLUMNS), 77, "u1"), ROWS + 1)
"""


WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
from test_s3_parts import values, write
print(flush=True)
write(values(2))
"""


@pytest.mark.parametrize("number", range(7))
def test_a_kill_leaves_the_old_object(serve, number):
    """The process is killed after its request of that number; the last one makes the object."""
    server = serve()
    create()
    write(values())
    old = (server.bucket / "a b/x.zarr/a/c/0/0").read_bytes()
    server.take_log()
    writer = subprocess.Popen([sys.executable, "-c", WRITER, os.path.dirname(__file__)],
                              stdout=subprocess.PIPE)
    writer.stdout.readline()
    upload, left = server.answer.upload, [number]

    def kill(sim, request, path):
        reply = upload(sim, request, path)
        if "test" not in path.name:
            left[0] -= 1
            if left[0] == -1:
                writer.send_signal(signal.SIGKILL)
                writer.wait()
        return reply

    server.answer.upload = kill
    assert writer.wait() == -signal.SIGKILL
    server.answer.upload = upload
    if number < 6:
        assert (server.bucket / "a b/x.zarr/a/c/0/0").read_bytes() == old
        assert all(isinstance(u, Upload) for u in server.answer.uploads.values())
    else:
        assert (array(server)[...] == values(2)).all()
    write(values(3))  # the next writer is not in the way of what is left
    assert (array(server)[...] == values(3)).all()
