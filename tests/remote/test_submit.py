# SPDX-License-Identifier: MIT
"""Many requests at once: how many, in which pieces, and how they end."""

import os
import pathlib
import random
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

from remote_store import DONE, FROM_END, WHOLE, Answer, Fetch, Range, RemoteStore, free
from simserver import SimServer

MIB = 1 << 20


@pytest.fixture
def folder(server):
    (server.folder / "s.zarr").mkdir()
    return server.folder / "s.zarr"


@pytest.fixture
def remote(server, folder):
    with RemoteStore(server.url + "/s.zarr") as store:
        yield store


def whole(key):
    return Fetch(key=key.encode(), range=Range(length=WHOLE), most=1 << 30)


def fill(folder, count, size=1000):
    data = [os.urandom(size) for _ in range(count)]
    for i, content in enumerate(data):
        (folder / str(i)).write_bytes(content)
    return data


def test_64_requests_at_once(server, folder, remote):
    data = fill(folder, 200)
    gate = server.hold(count=64)
    answers = remote.fetch_all([whole(str(i)) for i in range(200)])
    assert [answer.data for answer in answers] == data
    assert gate.was_met and server.most_busy == 64
    assert len(server.log) == 200


def test_a_long_range_comes_in_parts(server, folder, remote):
    data = os.urandom(9 * MIB)
    (folder / "k").write_bytes(data)
    handle = remote.open_object("k")
    server.take_log()
    answer = remote.fetch("", 0, WHOLE, handle)
    assert answer.data == data
    log = server.take_log()
    assert len(log) == 5
    assert all("if-match" in request.headers for request in log)
    remote.close_object(handle)
    answer = remote.fetch("k", MIB, 5 * MIB)
    assert answer.data == data[MIB:6 * MIB]
    assert len(server.take_log()) == 3
    answer = remote.fetch("k", 6 * MIB, 5 * MIB)
    assert answer.data == data[6 * MIB:], "less at the object's end"
    assert remote.fetch("k").data == data
    assert remote.fetch("k", FROM_END, 8 * MIB).data == data[MIB:]


def test_parts_are_of_one_version(server, folder, remote):
    (folder / "k").write_bytes(bytes(5 * MIB))
    server.fault("/s.zarr/k", "headers", times=1, skip=1, headers={"ETag": '"another"'})
    answer = remote.fetch("k", 0, 5 * MIB)
    assert (answer.code, answer.data) == ("ECONFLICT", b"")


def test_bytes_under_way_are_bounded(server, folder, remote):
    """32 MiB, in parts of 2 MiB, until a reply has told of the link; without a bound there would be 50, which begin
    together. Requests of others that come to the server behind them are answered before these are counted."""
    (folder / "k").write_bytes(bytes(100 * MIB))
    (folder / "other").touch()
    handle = remote.open_object("k")
    gate, most = server.hold("/k$"), []

    def let_go():
        gate.wait(16)
        remote.cancel(1)  # of nothing: the thread that begins requests has had a turn
        for _ in range(50):
            urllib.request.urlopen(server.url + "/s.zarr/other").close()
        most.append(gate.most)
        gate.open()

    watcher = threading.Thread(target=let_go)
    watcher.start()
    assert remote.fetch("", 0, WHOLE, handle).got == 100 * MIB
    watcher.join()
    assert most == [16]
    remote.close_object(handle)


def test_a_server_that_has_too_much_to_do(server, folder, remote):
    fill(folder, 128)
    server.rtt = 0.1
    server.fault("/", "status", times=64, code=503, headers={"Retry-After": "0"})
    answers = remote.fetch_all([whole(str(i)) for i in range(128)])
    assert all(answer.code == "OK" for answer in answers)
    server.most_busy = 0
    remote.fetch_all([whole(str(i)) for i in range(128)])
    assert server.most_busy < 64


def test_stores_take_turns(server, folder, remote):
    fill(folder, 500)
    ended, over = [], threading.Event()
    many, one = [whole(str(i)) for i in range(500)], whole("3")

    def note(_, fetch):
        ended.append(fetch.contents.key)
        if len(ended) == 501:
            over.set()

    done, gate = DONE(note), server.hold()
    with RemoteStore(server.url + "/s.zarr") as other:
        remote.submit(many, done)
        gate.wait(64)
        other.submit([one], done)
        gate.open()
        assert over.wait(gate.SECONDS)
        remote.release(Answer(one, True))
    at = [i for i, request in enumerate(server.log) if request.path == "/s.zarr/3"]
    assert max(at) < 300, "the second store has not waited for the first one's requests"
    for fetch in many:
        remote.release(Answer(fetch, True))


# ---- cancel


def test_cancel(server, folder, remote):
    fill(folder, 100)
    gate, called = server.hold(), []
    done = DONE(lambda context, fetch: called.append(context))
    fetches = [whole(str(i)) for i in range(100)]
    remote.submit(fetches, done, 1)
    gate.wait(64)
    remote.cancel(1)
    assert called == [] and gate.inside == 64, "it has not waited for a reply"
    gate.open()
    assert remote.fetch("5").code == "OK", "and the store goes on"
    assert called == []
    for fetch in fetches:
        free(fetch.range.buffer)


def test_cancel_ends_no_others(server, folder, remote):
    data = fill(folder, 2)
    gate, answers = server.hold(), []
    other = threading.Thread(target=lambda: answers.append(remote.fetch("1")))
    fetch = whole("0")
    done = DONE(lambda context, fetch: None)
    remote.submit([fetch], done, 7)
    other.start()
    gate.wait(2)
    remote.cancel(7)
    gate.open()
    other.join()
    assert answers[0].data == data[1]
    free(fetch.range.buffer)


def test_cancel_at_any_time(server, folder, remote):
    fill(folder, 30, 200_000)
    server.rtt = 0.01
    chance, seen = random.Random(1), []
    for round_ in range(30):
        called = []
        done = DONE(lambda context, fetch, called=called: called.append(fetch.contents.key))
        fetches = [whole(str(i)) for i in range(30)]
        remote.submit(fetches, done, round_ + 1)
        time.sleep(chance.random() * 0.08)
        remote.cancel(round_ + 1)
        seen.append((called, len(called), fetches, done))
        for fetch in fetches:
            free(fetch.range.buffer)
            if fetch.key in called and fetch.object:
                remote.close_handle(fetch.object)
    assert remote.fetch("0").code == "OK", "what was to come has come"
    assert all(len(called) == count for called, count, _, _ in seen)


# ---- one fault in ten


def test_one_fault_in_ten(server, folder, remote):
    data = fill(folder, 100, 100_000)
    chance = random.Random(3)
    kinds = [("status", {"code": 503, "headers": {"Retry-After": "0"}}), ("status", {"code": 500}),
             ("reset", {}), ("cut", {"after": 0}), ("cut", {"after": 40_000}),
             ("short", {"bytes": 500})]
    for _ in range(5):
        for i in chance.sample(range(100), 10):
            kind, options = chance.choice(kinds)
            server.fault(f"/s.zarr/{i}", kind, times=1, **options)
        answers = remote.fetch_all(
            [whole(str(i)) if i % 2 else Fetch(key=str(i).encode(), range=Range(100, 90_000))
             for i in range(100)])
        for i, answer in enumerate(answers):
            assert answer.data == (data[i] if i % 2 else data[i][100:90_100]), answer.message
            remote.release(answer)
        server.heal()


# ---- processes

PROGRAM = """
import os, signal, sys, threading, time
sys.path.insert(0, sys.argv[2])
from remote_store import *
remote = RemoteStore(sys.argv[1])
"""


def run_python(url, body):
    return subprocess.run([sys.executable, "-c", PROGRAM + body, url, str(pathlib.Path(__file__).parent)],
                          capture_output=True, text=True)


def test_fork(server, folder):
    """A child reads by itself, while its parent has requests under way."""
    data = fill(folder, 20, 50_000)
    server.rtt = 0.05
    done = run_python(server.url + "/s.zarr", """
import zlib
def sums():
    return [zlib.crc32(remote.fetch(str(i)).data) for i in range(20)]
got, begun = [], threading.Event()
def sum_all():
    assert remote.fetch("0").code == "OK"
    begun.set()
    got.append(sums())
thread = threading.Thread(target=sum_all)
thread.start()
begun.wait()
children = []
for _ in range(3):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, str(sums()).encode())
            os._exit(0)
        except BaseException as error:
            os.write(writing, repr(error).encode())
            os._exit(1)
    os.close(writing)
    children.append((child, reading))
for child, reading in children:
    text = b""
    while piece := os.read(reading, 65536):
        text += piece
    assert os.waitpid(child, 0)[1] == 0, text
    print(text.decode())
thread.join()
print(got[0])
print(sums())
""")
    import zlib
    want = str([zlib.crc32(content) for content in data])
    assert done.stdout.splitlines() == [want] * 5, done.stderr


@pytest.mark.parametrize("tls", [False, True])
def test_the_process_ends_in_mid_read(folder, server, certificate, tls):
    """It waits for no reply."""
    fill(folder, 4)
    with SimServer(server.folder, certificate=certificate if tls else None) as other:
        gate = other.hold("/s.zarr/1")
        watcher = threading.Thread(target=lambda: (gate.wait(), (folder / "under_way").touch()))
        watcher.start()
        os.environ["SSL_CERT_FILE"] = str(certificate[0])
        try:
            done = run_python(other.url + "/s.zarr", """
assert remote.fetch("0").code == "OK"
threading.Thread(target=lambda: remote.fetch("1"), daemon=True).start()
while remote.fetch("under_way").code != "OK": time.sleep(0.01)
""")
        finally:
            del os.environ["SSL_CERT_FILE"]
        watcher.join()
        assert done.returncode == 0, done.stderr
        assert gate.inside == 1 and [r.path for r in other.log].count("/s.zarr/1") == 1


def test_signals_are_for_the_program(server, folder):
    fill(folder, 1)
    done = run_python(server.url + "/s.zarr", """
remote.fetch("0")
for task in os.listdir("/proc/self/task"):
    status = dict(line.split(":", 1) for line in open(f"/proc/self/task/{task}/status"))
    if status["Name"].strip() == "zarrbridge-io":
        mask = int(status["SigBlk"], 16)
        print(all(mask >> (s - 1) & 1 for s in (signal.SIGINT, signal.SIGPIPE, signal.SIGALRM)))
""")
    assert done.stdout == "True\n", done.stderr


def test_the_thread_begins_with_the_first_request(server, folder):
    fill(folder, 1)
    done = run_python(server.url + "/s.zarr", """
def is_running():
    return "zarrbridge-io\\n" in [open(f"/proc/self/task/{task}/comm").read()
                                 for task in os.listdir("/proc/self/task")]
print(is_running())
remote.fetch("0")
print(is_running())
""")
    assert done.stdout == "False\nTrue\n", done.stderr
