# SPDX-License-Identifier: MIT
"""Writing to S3: whole objects, conditions, lost replies, and programs that write one shard."""

import contextlib
import ctypes
import hashlib
import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import zarr

from conftest import make_store, run
from length import SEED, by_length
from remote_store import TEXT, RemoteStore, Writer, ZarrbridgeError, call, lib
from simserver import SimServer
from sims3 import S3

NAME = "s3://bucket/a b/x.zarr"
INDEX_FIRST = [{"name": "sharding_indexed", "configuration": {
    "chunk_shape": [2, 8], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
    "index_location": "start"}}]


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """A function that starts a server with an empty bucket, for this process and its children."""
    running = []
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)

    def start(**options):
        (tmp_path / "served/bucket").mkdir(parents=True)
        server = SimServer(tmp_path / "served", answer=S3({"AKID": "secret"}, **options))
        server.start()
        running.append(server)
        for name, value in {"HOME": tmp_path, "AWS_ENDPOINT_URL": server.url, "AWS_ACCESS_KEY_ID": "AKID",
                            "AWS_SECRET_ACCESS_KEY": "secret"}.items():
            monkeypatch.setenv(name, str(value))
        server.bucket = tmp_path / "served/bucket"
        return server

    yield start
    for server in running:
        server.stop()


def let_another_make(server, place):
    """Another program makes a group at the place when this one's document is about to be put there."""
    change = server.answer.change

    def overtake(sim, request, at):
        if at == place / "zarr.json" and not at.exists():
            zarr.create_group(place, attributes={"whose": "theirs"})
        return change(sim, request, at)

    server.answer.change = overtake


def let_another_set(server, place):
    """Another program sets an attribute of the node at the place once, when this one's put is about to change it."""
    change = server.answer.change

    def overtake(sim, request, at):
        if at == place / "zarr.json":
            server.answer.change = change
            document = json.loads(at.read_bytes())
            document.setdefault("attributes", {})["theirs"] = 1
            server.answer.store(sim, at, json.dumps(document).encode(), None)
        return change(sim, request, at)

    server.answer.change = overtake


@contextlib.contextmanager
def turn_of(store):
    turn = ctypes.c_void_p()
    call(lib.zb_lock_scope_begin, store.handle, ctypes.byref(turn))
    try:
        yield
    finally:
        lib.zb_lock_scope_end(store.handle, ctypes.byref(turn))


def changes(server):
    return [r for r in server.take_log() if r.method in ("PUT", "DELETE")]


def array(server, path="a"):
    return zarr.open_array(server.bucket / "a b/x.zarr" / path, mode="r")


def create(chunks=(2, 8), **options):
    with RemoteStore(NAME) as store:
        store.create_group("")
        store.create_array("a", (8, 8), chunks, "<i4", **options)


def write(row, value, rows=1, **options):
    with RemoteStore(NAME) as store, Writer(store, "a") as writer:
        writer.write((row, 0), (1, 1), np.full((rows, 8), value, "<i4"), **options)
        writer.flush()


def test_the_program_copies_a_store(serve, tmp_path):
    server = serve()
    make_store(tmp_path / "local.zarr")
    status, _, words = run("copy", tmp_path / "local.zarr", "s3://bucket/x.zarr")
    assert status == 0, words
    for name in ("plain", "sharded", "below/deep"):
        np.testing.assert_array_equal(zarr.open_array(server.bucket / "x.zarr" / name, mode="r")[...],
                                      zarr.open_array(tmp_path / "local.zarr" / name, mode="r")[...])
    status, lines, words = run("verify", "s3://bucket/x.zarr")
    assert status == 0, (lines, words)


def test_services_can_compare_what_they_get(serve):
    """Each body's SHA-256 is signed, which a service compares: no other checksum is needed."""
    server = serve()
    create()
    write(0, 7, rows=2)
    puts = [r for r in server.take_log() if r.method == "PUT"]
    assert len(puts) >= 3 and all(
        r.headers["x-amz-content-sha256"] == hashlib.sha256(r.body).hexdigest() for r in puts)


def test_an_archive_is_not_written(serve, tmp_path):
    """Where none is, too: that it does not exist is no reason."""
    server = serve()
    make_store(tmp_path / "local.zarr")
    status, _, words = run("copy", tmp_path / "local.zarr", "s3://bucket/x.zarr.zip")
    assert status == 2 and "s3://bucket/x.zarr.zip: stores on web servers, and zip archives" in words
    assert changes(server) == []


def test_nothing_but_the_store_is_left(serve):
    server = serve()
    create()
    write(0, 7, rows=2)
    names = sorted(str(p.relative_to(server.bucket)) for p in server.bucket.rglob("*") if p.is_file())
    assert names == ["a b/x.zarr/a/c/0/0", "a b/x.zarr/a/zarr.json", "a b/x.zarr/zarr.json"]


def test_a_part_of_a_shard_is_put_under_the_condition_that_it_is_the_one_read(serve):
    server = serve()
    create(shards=(8, 8))
    write(0, 1)
    first = [r for r in changes(server) if "/c/" in r.path]
    write(5, 2)
    second = [r for r in changes(server) if "/c/" in r.path]
    assert [r.headers.get("if-none-match") for r in first] == ["*"]
    assert len(second) == 1 and second[0].headers["if-match"]
    assert array(server)[:, 0].tolist() == [1, 0, 0, 0, 0, 2, 0, 0]


def test_a_document_that_another_has_made_is_not_replaced(serve):
    server = serve()
    create()
    with RemoteStore(NAME) as store:
        with pytest.raises(ZarrbridgeError):
            store.create_array("a", (8, 8), (2, 8), "<i4")
        store.delete("a")
    assert sorted(p.name for p in server.bucket.rglob("*")) == ["a b", "x.zarr", "zarr.json"]


def attributes(server, path=""):
    return dict(zarr.open_group(server.bucket / "a b/x.zarr" / path, mode="r").attrs)


def test_in_a_turn_a_change_that_another_has_overtaken_can_be_made_again(serve):
    """What is read anew is what the next put replaces, and no other version."""
    server = serve()
    create()
    with RemoteStore(NAME) as store, turn_of(store):
        store.set_attribute("", "before", 1)
        let_another_set(server, server.bucket / "a b/x.zarr")
        with pytest.raises(ZarrbridgeError, match="another program"):
            store.set_attribute("", "ours", 1)
        store.set_attribute("", "ours", 1)
        let_another_set(server, server.bucket / "a b/x.zarr")
        with pytest.raises(ZarrbridgeError, match="another program"):
            store.set_attribute("", "ours", 2)
    assert attributes(server) == {"before": 1, "theirs": 1, "ours": 1}


def test_a_shrink_that_another_has_overtaken_erases_nothing(serve):
    """The document, under its condition, goes before the chunks, which have none."""
    server = serve()
    create()
    write(6, 7)
    chunk = server.bucket / "a b/x.zarr/a/c/3/0"
    with RemoteStore(NAME) as store:
        let_another_set(server, server.bucket / "a b/x.zarr/a")
        with pytest.raises(ZarrbridgeError, match="another program"):
            store.resize("a", (2, 8))
    assert chunk.is_file() and array(server)[:, 0].tolist() == [0, 0, 0, 0, 0, 0, 7, 0]
    with RemoteStore(NAME) as store:
        store.resize("a", (2, 8))
    assert not chunk.exists() and array(server).shape == (2, 8)


def test_in_a_turn_a_node_that_another_has_made_can_be_changed(serve):
    server = serve()
    create()
    let_another_make(server, server.bucket / "a b/x.zarr/g")
    with RemoteStore(NAME) as store, turn_of(store):
        with pytest.raises(ZarrbridgeError, match="another program"):
            store.create_group("g")
        store.set_attribute("g", "ours", 1)
    assert attributes(server, "g") == {"whose": "theirs", "ours": 1}


def set_attribute(path, value):
    with RemoteStore(NAME) as store:
        store.set_attribute(path, "ours", value)


def make_group(path):
    with RemoteStore(NAME) as store:
        store.create_group(path)


@pytest.mark.parametrize("fault", [dict(kind="status", code=503), dict(kind="cut", after=0),
                                   dict(kind="reset")])
def test_a_lost_reply_is_settled(serve, fault):
    """The first try of the put was carried out, except with a reset; its reply is lost."""
    server = serve()
    create(shards=(8, 8))
    write(0, 1)
    server.take_log()
    server.fault("/bucket/a b/x.zarr/a/c", method="PUT", times=1, **fault)
    write(5, 2)
    assert len([r for r in changes(server) if "/c/" in r.path]) >= 2 - (fault["kind"] == "cut")
    assert array(server)[:, 0].tolist() == [1, 0, 0, 0, 0, 2, 0, 0]


@pytest.mark.parametrize("change, key", [
    (lambda: write(5, 2), "a/c/0/0"), (lambda: write(0, 0), "a/c/0/0"),
    (lambda: set_attribute("a", 1), "a/zarr.json"), (lambda: make_group("g"), "g/zarr.json")],
    ids=["chunk", "chunk_of_fill_values", "document", "new_document"])
def test_a_reply_that_is_lost_with_its_connection_is_settled(serve, change, key):
    """libcurl sends a request again by itself whose connection has served others, and is closed without a reply: the
    second one finds the condition broken, by the first."""
    server = serve(delete_conditions=False)
    create(shards=(8, 8))
    write(0, 1)
    server.take_log()
    server.fault("/bucket/a b/x.zarr/" + key, "lost", method="PUT", times=1)
    change()
    assert [r.status for r in changes(server) if r.path.endswith(key)] == [0, 412]


def test_a_lost_reply_is_no_excuse_for_what_another_has_put(serve):
    server = serve()
    create()
    server.fault("/bucket/a b/x.zarr/a/zarr.json", "reset", method="PUT", times=1)
    let_another_set(server, server.bucket / "a b/x.zarr/a")
    with pytest.raises(ZarrbridgeError, match="another program"):
        set_attribute("a", 1)
    assert dict(array(server).attrs) == {"theirs": 1}


def test_a_put_that_fails_is_an_error_and_leaves_the_old_object(serve, monkeypatch):
    server = serve()
    create(shards=(8, 8))
    write(0, 1)
    server.fault("/bucket/a b/x.zarr/a/c", "status", method="PUT", code=403)
    before = (server.bucket / "a b/x.zarr/a/c/0/0").read_bytes()
    server.answer.change = lambda *_: server.answer.error(403, "AccessDenied")
    with pytest.raises(ZarrbridgeError, match="403"):
        write(5, 2)
    assert (server.bucket / "a b/x.zarr/a/c/0/0").read_bytes() == before


def test_of_many_puts_one_that_fails_is_an_error_and_the_others_are_whole(serve):
    """They are sent by threads of their own."""
    server = serve()
    with RemoteStore(NAME) as store:
        store.create_group("")
        store.create_array("a", (64, 8), (2, 8), "<i4")
        change = server.answer.change

        def refuse(sim, request, path):
            return server.answer.error(403, "AccessDenied") if path.parts[-2:] == ("7", "0") \
                else change(sim, request, path)

        server.answer.change = refuse
        values = np.arange(64 * 8, dtype="<i4").reshape(64, 8) + 1
        gate = server.hold("a/c/[12]./0", "PUT", count=2)
        with pytest.raises(ZarrbridgeError, match="a/c/7/0.*403"):
            with Writer(store, "a") as writer:
                writer.write((0, 0), (1, 1), values)
        server.answer.change = change
        assert gate.was_met
        found = array(server)[...].reshape(32, 16)
        expected = values.reshape(32, 16)
        assert all((chunk == right).all() or not chunk.any() for chunk, right in zip(found, expected))
        assert not found[7].any() and found[0].any()
        with Writer(store, "a") as writer:
            writer.write((0, 0), (1, 1), values)
        assert (array(server)[...] == values).all()


def test_a_service_without_conditions_is_not_trusted(serve):
    server = serve(conditions=False)
    with pytest.raises(ZarrbridgeError, match="takes no notice of If-Match") as refusal:
        create()
    assert "ZARRBRIDGE_LOCKS" not in str(refusal.value), "that is of no use in S3"
    assert [p for p in server.bucket.rglob("*") if p.is_file()] == []


EMPTIER = """
import sys
sys.path.insert(0, sys.argv[1])
from test_s3_writing import write
write(0, 0)
"""


@pytest.mark.parametrize("erases", [False, True])
@pytest.mark.parametrize("form", [dict(shards=(8, 8)), dict(codecs=INDEX_FIRST, chunks=(8, 8)), dict()],
                         ids=["shard", "index_at_the_start", "chunk"])
def test_a_merge_of_fill_values_takes_nothing_from_others(serve, form, erases):
    """One program clears the only row that is stored, while another one writes another row."""
    server = serve(delete_conditions=erases)
    create(**form)
    write(0, 5)
    here = os.path.dirname(os.path.abspath(__file__))
    gate = server.hold_first("/a/c/", ("PUT", "DELETE"))
    emptier = subprocess.Popen([sys.executable, "-c", EMPTIER, here])
    gate.wait()
    write(1, 7)
    gate.open()
    assert emptier.wait() == 0
    assert array(server)[:, 0].tolist() == [0, 7, 0, 0, 0, 0, 0, 0]
    assert any(r.status == 412 for r in server.take_log()), "it had to look again"
    write(1, 0)
    assert (server.bucket / "a b/x.zarr/a/c/0/0").exists() != erases
    assert not array(server)[...].any()
    with RemoteStore(NAME) as store:
        assert not store.read("a", (8, 8), "<i4").any()


RACER = """
import json, random, sys
sys.path.insert(0, sys.argv[1])
from test_s3_writing import ZarrbridgeError, write
own, draw = range(int(sys.argv[2]), 8, 3), random.Random(sys.argv[2] + sys.argv[3])
for line in sys.stdin:
    done = []
    for _ in range(8):
        row, value = draw.choice(own), draw.choice([0, draw.randrange(1, 1000)])
        try:
            write(row, value)
            done.append((row, value, None))
        except ZarrbridgeError as refused:
            done.append((row, value, str(refused)))
    print(json.dumps(done), flush=True)
"""


@pytest.mark.parametrize("erases, form", [
    (False, dict(shards=(8, 8))), (True, dict(shards=(8, 8))), (False, dict(codecs=INDEX_FIRST, chunks=(8, 8))),
    (True, dict())], ids=["shard", "shard_erased", "index_at_the_start", "chunk_erased"])
def test_programs_that_set_and_clear_rows_of_one_shard_lose_none(serve, form, erases):
    """Three at once, each with rows of its own. What is there is what was acknowledged last, or refused since."""
    server = serve(delete_conditions=erases)
    create(**form)
    here, may_be = os.path.dirname(os.path.abspath(__file__)), {row: {0} for row in range(8)}
    refusals, racers = [], []
    for number in range(3):
        racers.append(subprocess.Popen([sys.executable, "-c", RACER, here, str(number), str(SEED)], text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    for _ in range(by_length(2, 30, 200)):
        for racer in racers:
            racer.stdin.write("go\n")
            racer.stdin.flush()
        for row, value, refusal in itertools.chain(*(json.loads(racer.stdout.readline()) for racer in racers)):
            may_be[row] = may_be[row] | {value} if refusal else {value}
            refusals += [refusal] if refusal else []
        found = array(server)[...]
        wrong = {row: (values.tolist(), may_be[row]) for row, values in enumerate(found)
                 if len(set(values.tolist())) != 1 or values[0] not in may_be[row]}
        assert not wrong, f"ZARRBRIDGE_SEED={SEED}"
    for racer in racers:
        racer.stdin.close()
        assert racer.wait() == 0
    assert all("ECONFLICT" in refusal for refusal in refusals), refusals


@pytest.mark.parametrize("shards", [None, (4,)])
def test_a_merge_of_fill_texts_says_so(serve, shards):
    """Where nothing can be erased under a condition: of elements whose bytes the chunk's form does not tell."""
    server = serve(delete_conditions=False)

    def write_texts(*texts):
        with RemoteStore(NAME) as store, Writer(store, "t") as writer:
            writer.write((0,), (1,), np.array(texts, object), TEXT)

    with RemoteStore(NAME) as store:
        store.create_group("")
        store.create_array("t", (4,), (2,), object, "none", shards=shards, element=TEXT)
    write_texts("text")
    write_texts("none")
    assert (server.bucket / "a b/x.zarr/t/c/0").is_file()
    assert zarr.open_array(server.bucket / "a b/x.zarr/t", mode="r")[...].tolist() == ["none"] * 4


def test_nothing_is_put_where_a_merge_of_fill_values_found_nothing(serve):
    server = serve()
    create(shards=(8, 8))
    server.take_log()
    write(0, 0)
    assert [r for r in changes(server) if "/c/" in r.path] == []


def test_whole_chunks_of_fill_values_are_erased(serve):
    """Nothing was read of them, so that there is no condition, as for whole chunks of other values."""
    server = serve()
    create()
    write(0, 5, rows=2)
    server.take_log()
    write(0, 0, rows=2)
    assert [r.method for r in changes(server) if "/c/" in r.path] == ["DELETE"]
    assert not (server.bucket / "a b/x.zarr/a/c").exists()


WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
from test_s3_writing import write
for value in range(1, 6):
    write(int(sys.argv[2]), 0)
    write(int(sys.argv[2]), value * 10 + int(sys.argv[2]))
"""


def test_programs_that_write_one_shard_lose_nothing(serve):
    server = serve()
    create(shards=(8, 8))
    here = os.path.dirname(os.path.abspath(__file__))
    gate = server.hold("/a/c/", "PUT", count=2)  # two of them have read the same version: one has to do it again
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, here, str(row)]) for row in (0, 1, 4, 7)]
    assert [w.wait() for w in writers] == [0, 0, 0, 0] and gate.was_met
    assert array(server)[:, 0].tolist() == [50, 51, 0, 0, 54, 0, 0, 57]
    assert any(r.status == 412 for r in server.take_log())
