# SPDX-License-Identifier: MIT
"""Stores behind https and http, read by the program zarrbridge."""

import shutil
import threading

import numpy
import pytest
import zarr

from conftest import make_store, run
from programs import HASTY
from remote_store import RemoteStore, ZarrbridgeError, lib
from simserver import SimServer
from waiting import await_call


def paths(server):
    return [request.path for request in server.take_log()]


def test_a_store_is_listed(server, store):
    status, lines, _ = run("ls", store)
    assert status == 0
    assert [line.split()[:2] for line in lines] == [
        ["group", "/"], ["group", "/below"], ["array", "/below/deep"], ["array", "/plain"],
        ["array", "/sharded"]]


def test_a_store_is_verified(server, store):
    status, lines, summary = run("verify", store)
    assert (status, lines) == (0, []), summary
    local = run("verify", server.folder / "s.zarr")[2]
    assert summary == local, "the same objects and bytes"
    shard = server.folder / "s.zarr/sharded/c/1/0"
    shard.write_bytes(shard.read_bytes()[:-1])
    (server.folder / "s.zarr/plain/c/1").write_bytes(b"")
    server.fault("/s.zarr/below/deep/c/0", "status", code=403)
    status, lines, _ = run("verify", store)
    assert status == 1
    assert sorted(line.split(":")[0] for line in lines) == [
        "damaged   sharded/c/1/0", "truncated plain/c/1", "unchecked below/deep/c/0"]


def test_what_a_server_withholds_is_not_called_damaged(server, store):
    """Whoever deletes what is damaged would delete good data."""
    server.fault("/s.zarr/plain/c/1", "status", code=503)
    server.fault("/s.zarr/sharded/c/0/1", "headers", headers={"Content-Encoding": "x"})
    status, lines, _ = run("verify", store, **HASTY)
    assert status == 1
    assert sorted(line.split(":")[0] for line in lines) == [
        "unchecked plain/c/1", "unchecked sharded/c/0/1"], lines


def test_arrays_are_read(store):
    with RemoteStore(store) as remote:
        whole = remote.read("sharded", (64, 64), "i4")
        assert (whole == numpy.arange(64 * 64).reshape(64, 64)).all()
        window = remote.read("sharded", (3, 2), "i4", (31, 40))
        assert (window == whole[31:34, 40:42]).all()
        assert (remote.read("plain", (10,), "f8") == numpy.arange(10) / 2).all()
        assert (remote.read("below/deep", (3,), "u1") == [1, 2, 3]).all()


def open_together(server, nodes):
    """The documents that threads ask for, each of which opens the node of one (store, path); and what they say of
    failures. Replies are held back until all threads wait."""
    gate, failures = server.hold(), []

    def open_node(store, path):
        try:
            lib.zb_node_release(store.open(path))
        except ZarrbridgeError as failure:
            failures.append(str(failure))

    running = [threading.Thread(target=open_node, args=node) for node in nodes]
    for thread in running:
        thread.start()
    for thread in running:
        await_call("futex", thread)
    gate.open()
    for thread in running:
        thread.join()
    return sorted((r.path.removeprefix("/s.zarr/"), r.query) for r in server.take_log()), failures


def test_threads_share_the_request_for_a_document(tmp_path):
    make_store(tmp_path / "s.zarr")
    plain, sharded = ("plain/zarr.json", ""), ("sharded/zarr.json", "")
    with SimServer(tmp_path) as server, RemoteStore(server.url + "/s.zarr") as remote, \
            RemoteStore(server.url + "/s.zarr") as other, RemoteStore(server.url + "/s.zarr?a") as third:
        nodes = [(remote, "plain"), (remote, "sharded")] * 8
        assert open_together(server, nodes) == ([plain, sharded], [])
        assert open_together(server, nodes[::2]) == ([plain], []), "asked again afterwards"
        asked, failures = open_together(server, [(store, "plain") for store in (remote, other, other, third)])
        assert asked == [plain, (plain[0], "a")] and not failures
        asked, failures = open_together(server, [(remote, "none")] * 8)
        assert asked.count(("none/zarr.json", "")) == 1 and len(failures) == 8
        server.fault("/s.zarr/plain", "status", code=403)
        asked, failures = open_together(server, nodes[::2])
        assert len(asked) == 1 and len(failures) == 8 and all("403" in text for text in failures)


def make_older(path, consolidated=True):
    """A store of version 2 with an array in its root, and one in a group."""
    group = zarr.open_group(path, mode="w", zarr_format=2)
    group.attrs["title"] = "old"
    for name, parent in ("a", group), ("b", group.create_group("below")):
        array = parent.create_array(name, shape=(6, 4), chunks=(3, 2), dtype="int16")
        array[:] = numpy.arange(24).reshape(6, 4)
        array.attrs["units"] = "K"
    if consolidated:
        zarr.consolidate_metadata(path, zarr_format=2)


def test_consolidated_metadata_of_version_2_serve_the_documents(server):
    make_older(server.folder / "o.zarr")
    with RemoteStore(server.url + "/o.zarr") as remote:
        lib.zb_node_release(remote.open(""))
        assert len(paths(server)) == 5, "zarr.json, .zarray, .zgroup, .zattrs, .zmetadata"
        for path in "a", "below/b":
            assert (remote.read(path, (6, 4), "i2") == numpy.arange(24).reshape(6, 4)).all()
        assert not [path for path in paths(server) if "/.z" in path or "zarr.json" in path]
    status, lines, _ = run("ls", server.url + "/o.zarr")
    assert status == 0 and [line.split()[:2] for line in lines] == [
        ["group", "/"], ["array", "/a"], ["group", "/below"], ["array", "/below/b"]]
    assert len(paths(server)) == 5


def test_a_node_of_version_2_that_is_not_understood_says_why(server):
    make_older(server.folder / "o.zarr")
    for name in ".zmetadata", "a/.zarray":
        file = server.folder / "o.zarr" / name
        file.write_text(file.read_text().replace('"<i2"', '"<q9"'))
    status, lines, _ = run("ls", server.url + "/o.zarr")
    assert status == 1 and any("unreadable /a" in " ".join(line.split()) and "q9" in line for line in lines)


def test_what_a_block_of_version_3_does_not_name_is_asked_for_once(server, store):
    with RemoteStore(store) as remote:
        lib.zb_node_release(remote.open(""))
        server.take_log()
        for path in "no", "below/no":
            try:
                remote.open(path)
            except ZarrbridgeError as error:
                assert "no" in str(error)
            else:
                raise AssertionError("there is such a node")
        assert paths(server) == ["/s.zarr/no/zarr.json", "/s.zarr/below/no/zarr.json"]


def test_missing_chunks_are_fill_values(server, store):
    (server.folder / "s.zarr/plain/c/1").unlink()
    with RemoteStore(store) as remote:
        assert list(remote.read("plain", (10,), "f8")) == [0, .5, 1, 1.5, 0, 0, 0, 0, 4, 4.5]


def test_what_is_read_is_what_the_directory_has(server, store):
    remote, local = run("ls", store), run("ls", server.folder / "s.zarr")
    assert remote == local


def test_requests(server, store):
    """Never a HEAD; a document is one request, and a small object another one."""
    with RemoteStore(store) as remote:
        remote.read("plain", (10,), "f8")
    assert sorted((r.method, r.path, r.range) for r in server.take_log()) == [
        ("GET", "/s.zarr/plain/c/0", "bytes=0-31"), ("GET", "/s.zarr/plain/c/1", "bytes=0-31"),
        ("GET", "/s.zarr/plain/c/2", "bytes=0-15"), ("GET", "/s.zarr/plain/zarr.json", None)]


def read_tiles(url):
    with RemoteStore(url + "/t.zarr") as remote:
        whole = numpy.arange(2048 * 2048, dtype="i4").reshape(2048, 2048)
        yield remote
        got = remote.read("", (9 * 128, 9 * 128), "i4", (512, 512))
        assert (got == whole[512:512 + 9 * 128, 512:512 + 9 * 128]).all()


def make_tiles(folder):
    """Four shards of 8 x 8 chunks of 64 KiB."""
    zarr.create_array(folder / "t.zarr", data=numpy.arange(2048 * 2048, dtype="i4").reshape(2048, 2048),
                      chunks=(128, 128), shards=(1024, 1024), compressors=None)


def data_ranges(log):
    """Without those of indexes, which count from the end, and of documents."""
    return [list(map(int, request.range[6:].split("-"))) for request in log
            if request.range and request.range[6] != "-"]


def test_tiles_of_four_shards_are_read_in_few_requests(tmp_path):
    """All go out together, so that bytes that nobody wants would save no time."""
    make_tiles(tmp_path)
    with SimServer(tmp_path, rtt=0.05) as server:
        for _ in read_tiles(server.url):
            assert server.take_log() == []
        log = server.take_log()
    assert len(log) <= 1 + 4 + 16, "the document, and 4 indexes and 16 ranges of data"
    assert sum(end + 1 - begin for begin, end in data_ranges(log)) <= 81 * 65536 + 16384


def test_a_slow_link_brings_no_bytes_that_nobody_wants(tmp_path):
    make_tiles(tmp_path)
    with SimServer(tmp_path, rtt=0.01, bandwidth=3e6) as server:
        for remote in read_tiles(server.url):
            remote.read("", (512, 1024), "i4", (1536, 0))  # 2 MiB tell the bandwidth
            server.take_log()
        spans = data_ranges(server.take_log())
        assert len(spans) > 12
        assert sum(end + 1 - begin for begin, end in spans) == 81 * 65536


def test_https(tls_server, certificate):
    make_store(tls_server.folder / "s.zarr")
    url = tls_server.url + "/s.zarr"
    status, lines, _ = run("ls", url, SSL_CERT_FILE=certificate[0])
    assert (status, len(lines)) == (0, 5)
    status, lines, words = run("ls", url)
    assert (status, lines) == (2, [])
    assert "certificate" in words and "ca_file" in words
    assert tls_server.connections < 5, "and it was not tried again"


def test_a_zip_archive(server, tmp_path):
    make_store(tmp_path / "s.zarr")
    shutil.make_archive(server.folder / "s.zarr", "zip", tmp_path / "s.zarr")
    status, lines, words = run("ls", server.url + "/s.zarr.zip")
    assert (status, len(lines)) == (0, 5), words
    with RemoteStore(server.url + "/s.zarr.zip") as remote:
        assert (remote.read("below/deep", (3,), "u1") == [1, 2, 3]).all()
    server.take_log()
    assert run("ls", server.url + "/s.zarr.zip?token=1#missing_403=1")[0] == 0
    assert {(request.path, request.query) for request in server.take_log()} == {
        ("/s.zarr.zip", "token=1")}
    assert run("ls", "http://no-such-host.zip", ZARRBRIDGE_REMOTE_TRIES=1)[0] == 2


@pytest.mark.parametrize("command", ["ls", "verify"])
def test_no_archive(server, command):
    url = server.url + "/none.zarr.zip"
    status, _, words = run(command, url + "?token=1")
    assert status == 2 and f"{url}: there is no such object" in words and "gone" not in words
    server.fault("/none.zarr.zip", "status", code=403)
    status, _, words = run(command, url)
    assert status == 2 and "access is denied" in words


def test_strange_names_are_encoded(server):
    make_store(server.folder / "a b%+#é.zarr")
    assert run("ls", server.url + "/a%20b%25%2B%23%C3%A9.zarr")[0] == 0


def test_no_store(server):
    status, _, words = run("ls", server.url + "/none.zarr")
    assert status == 2
    assert "/none.zarr" in words


def test_nothing_is_written(store):
    for command, url in (("repair", store), ("compact", store + "/sharded")):
        status, _, words = run(command, url)
        assert status == 2
        assert "cannot be" in words, command


def test_without_the_library(store, tmp_path):
    status, _, words = run("ls", store, ZARRBRIDGE_REMOTE_LIBRARY=tmp_path / "none.so")
    assert status == 2
    assert "none.so" in words


def test_a_link_that_fails_often(server):
    """One request in ten meets a fault: what is read is right, or there is an error."""
    numbers = numpy.random.default_rng(5)
    values = numbers.integers(0, 4096, (1024, 1024)).astype("i4")
    group = zarr.open_group(server.folder / "f.zarr", mode="w")
    group.create_array("sharded", shape=values.shape, chunks=(64, 64), shards=(256, 256),
                       dtype="i4")[:] = values
    group.create_array("plain", shape=values.shape, chunks=(128, 128), dtype="i4")[:] = values
    for kind, options in (("status", {"code": 503, "headers": {"Retry-After": "0"}}),
                          ("status", {"code": 500}), ("reset", {}), ("cut", {"after": 0}),
                          ("cut", {"after": 3000}), ("short", {"bytes": 100})):
        server.fault("/f.zarr", kind, chance=0.1 / 6, **options)
    failures = 0
    with RemoteStore(server.url + "/f.zarr") as remote:
        for _ in range(10):
            for path in ("sharded", "plain"):
                lib.zb_cache_clear()
                try:
                    assert (remote.read(path, values.shape, "i4") == values).all()
                    assert (remote.read(path, (100, 90), "i4", (7, 400))
                            == values[7:107, 400:490]).all()
                except ZarrbridgeError:
                    failures += 1
    assert failures < 3
    assert len([r for r in server.log if r.status in (500, 503)]) > 10


def test_a_copy_to_a_url_is_refused(store, tmp_path):
    status, _, words = run("copy", tmp_path, store + "/copy")
    assert status == 2
    assert "read but not changed" in words and "local directory" in words


def test_limits_that_are_no_numbers_are_refused(server, store):
    """A bound that is mistyped would be passed over."""
    for value in ("-1", "ten", "5s"):
        status, _, words = run("ls", store, ZARRBRIDGE_REMOTE_FRESH_SECONDS=value)
        assert status == 2 and "ZARRBRIDGE_REMOTE_FRESH_SECONDS is neither a number nor inf" in words
        assert run("ls", server.folder / "s.zarr", ZARRBRIDGE_REMOTE_FRESH_SECONDS=value)[0] == 0
    assert server.take_log() == []
    for value in ("inf", "0", ""):
        assert run("ls", store, ZARRBRIDGE_REMOTE_FRESH_SECONDS=value)[0] == 0
