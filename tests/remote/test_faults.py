# SPDX-License-Identifier: MIT
"""Servers and links that fail: right bytes or an error that names what went wrong, never others.

The environment (CMakeLists.txt) gives 4 tries, and to each all the time that it may need. Replies that make no
progress are in test_stalls.py."""

import os
import re
import socket
import time

import pytest

from remote_store import FROM_END, RemoteStore
from simserver import SimServer

DATA = os.urandom(300_000)
TRIES = 4


@pytest.fixture
def remote(server):
    (server.folder / "s.zarr").mkdir()
    (server.folder / "s.zarr/k").write_bytes(DATA)
    (server.folder / "s.zarr/zarr.json").write_text('{"a": 1}')
    with RemoteStore(server.url + "/s.zarr") as store:
        yield store


def ask(remote, how):
    """One object in each way that there is: its answer, and the bytes that are right."""
    if how == "whole":
        return remote.fetch("k"), DATA
    if how == "range":
        return remote.fetch("k", 1000, 200_000), DATA[1000:201_000]
    return remote.fetch("k", FROM_END, 200_000), DATA[-200_000:]


WAYS = pytest.mark.parametrize("how", ["whole", "range", "suffix"])


# ---- faults that pass


@WAYS
@pytest.mark.parametrize("fault", [
    ("status", {"code": 500}), ("status", {"code": 502}), ("status", {"code": 503}),
    ("status", {"code": 504}), ("status", {"code": 429}), ("status", {"code": 408}),
    ("reset", {}), ("cut", {"after": 0}), ("cut", {"after": 70_000}), ("raw", {"pieces": [b""]})], ids=str)
def test_what_passes_is_tried_again(server, remote, how, fault):
    server.fault("/s.zarr/k", fault[0], times=2, **fault[1])
    answer, right = ask(remote, how)
    assert (answer.code, answer.data == right, answer.size) == ("OK", True, len(DATA)), answer.message


@WAYS
def test_the_rest_of_a_cut_reply_is_asked_for(server, remote, how):
    server.fault("/s.zarr/k", "cut", times=1, after=150_000)
    answer, right = ask(remote, how)
    assert (answer.code, answer.data == right) == ("OK", True), answer.message
    first, second = server.take_log()
    assert "if-match" not in first.headers
    assert second.headers["if-match"].startswith('"')
    begin, end = re.fullmatch(r"bytes=(\d+)-(\d*)", second.range).groups()
    assert int(begin) > {"whole": 0, "range": 1000, "suffix": 100_000}[how]
    assert first.sent + second.sent < len(right) + 150_000 <= 2 * len(right)


def test_a_cut_reply_of_an_object_that_was_replaced_begins_anew(server, remote):
    def replace(handler, request):
        if len(server.log) == 2:
            (server.folder / "s.zarr/k").write_bytes(DATA[::-1])

    server.answer = replace
    server.fault("/s.zarr/k", "cut", times=1, after=150_000)
    answer = remote.fetch("k", 0, len(DATA))
    assert answer.data == DATA[::-1]
    assert [r.status for r in server.log] == [206, 412, 206]


@pytest.mark.parametrize("etag", ["weak", None])
def test_without_a_strong_etag_a_cut_reply_is_not_continued(server, remote, etag):
    server.etag = etag
    server.fault("/s.zarr/k", "cut", times=1, after=150_000)
    assert remote.fetch("k", 0, len(DATA)).data == DATA
    assert [r.range for r in server.log] == [f"bytes=0-{len(DATA) - 1}"] * 2


def test_a_short_range_is_continued(server, remote):
    server.fault("/s.zarr/k", "short", times=2, bytes=1000)
    answer = remote.fetch("k", 50, 10_000)
    assert answer.data == DATA[50:10_050]
    assert [r.range for r in server.log] == ["bytes=50-10049", "bytes=1050-10049",
                                             "bytes=2050-10049"]


def test_the_server_says_when(server, remote):
    server.fault("/s.zarr/k", "status", times=1, code=503, headers={"Retry-After": "1"})
    begun = time.monotonic()
    assert remote.fetch("k").code == "OK"
    assert time.monotonic() - begun >= 1


# ---- faults that stay


@WAYS
@pytest.mark.parametrize("code", [500, 503])
def test_a_status_that_stays(server, remote, how, code):
    server.fault("/s.zarr/k", "status", code=code)
    answer, _ = ask(remote, how)
    assert (answer.code, answer.data) == ("EIO", b"")
    assert re.fullmatch(rf"{server.url}/s.zarr/k: HTTP status {code}, after {TRIES} tries in "
                        r"\d+\.\d s", answer.message)
    assert len(server.log) == TRIES


@WAYS
def test_a_connection_that_always_ends(server, remote, how):
    server.fault("/s.zarr/k", "cut", after=0)
    answer, _ = ask(remote, how)
    assert answer.code == "EIO"
    assert f"after {TRIES} tries" in answer.message


def test_nobody_listens():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with RemoteStore(f"http://127.0.0.1:{unused.getsockname()[1]}/s.zarr") as remote:
            answer = remote.fetch("k")
    assert answer.code == "EIO"
    assert f"after {TRIES} tries" in answer.message


@pytest.mark.parametrize("proxy", ["http://user:canary@127.0.0.1:99999999", "foo://user:canary@127.0.0.1:1"])
def test_a_proxy_that_is_not_understood(server, remote, monkeypatch, proxy):
    """An error at once, without the password that may stand in its URL."""
    monkeypatch.setenv("http_proxy", proxy)
    answer = remote.fetch("k")
    assert answer.code == "EIO" and "proxy" in answer.message and "canary" not in answer.message
    assert "after" not in answer.message and not server.log


def test_no_such_host():
    with RemoteStore("http://no-such-host.invalid/s.zarr") as remote:
        answer = remote.fetch("k")
    assert answer.code == "EIO"
    assert "no-such-host.invalid" in answer.message


@pytest.mark.parametrize("code, want", [(400, "HTTP status 400"), (401, "HTTP status 401"),
                                        (403, "#missing_403=1"), (501, "HTTP status 501")])
def test_what_does_not_pass_is_not_tried_again(server, remote, code, want):
    server.fault("/s.zarr/k", "status", code=code)
    answer = remote.fetch("k")
    assert answer.code == "EIO"
    assert want in answer.message
    assert len(server.log) == 1


@pytest.mark.parametrize("code", [404, 410])
def test_missing(server, remote, code):
    server.fault("/s.zarr/k", "status", code=code)
    assert remote.fetch("k").code == "ENOTFOUND"
    assert remote.fetch("k", FROM_END, 10).code == "ENOTFOUND"
    assert len(server.log) == 2


def test_403_may_mean_missing(server, remote):
    server.fault("/s.zarr/none", "status", code=403)
    assert remote.fetch("none").code == "EIO"
    with RemoteStore(server.url + "/s.zarr#missing_403=1") as lenient:
        assert lenient.fetch("none").code == "ENOTFOUND"
        assert lenient.fetch("k").data == DATA


def test_a_query_goes_along_and_into_no_message(server, remote):
    codes = [404, 403, 400, 500, 302]
    with RemoteStore(server.url + "/s.zarr?token=canary#missing_403=0") as store:
        assert store.fetch("k").data == DATA
        for code in codes:
            server.heal()
            server.fault("/s.zarr/k", "status", code=code, body=b"<Code>canary</Code>",
                         headers={"Location": "ftp://canary/"})
            answer = store.fetch("k")
            assert answer.code != "OK"
            assert "canary" not in answer.message
        server.heal()
        for headers in ({"Content-Range": "canary"}, {"Content-Type": "multipart/canary"}):
            server.fault("/s.zarr/k", "headers", headers=headers)
            assert "canary" not in store.fetch("k", 0, 10).message
    assert {request.query for request in server.log} == {"token=canary"}


# ---- replies that are not the answer


@pytest.mark.parametrize("headers, want", [
    ({"Content-Range": None}, "without a valid Content-Range"),
    ({"Content-Range": "bytes 0-9/x"}, "without a valid Content-Range"),
    ({"Content-Range": "bytes 1000-201000/300000"}, "another range"),
    ({"Content-Range": "bytes 1001-201000/300000"}, "another range"),
    ({"Content-Range": "bytes 0-199999/300000"}, "another range"),
    ({"Content-Range": "bytes 1000-200999/*"}, "does not tell the object's size"),
    ({"Content-Range": "bytes 1000-190999/300000"}, "length"),
    ({"Content-Type": "multipart/byteranges; boundary=x"}, "several parts"),
    ({"Content-Encoding": "gzip"}, "another encoding")], ids=str)
def test_a_range_that_is_not_the_one(server, remote, headers, want):
    server.fault("/s.zarr/k", "headers", headers=headers)
    answer = remote.fetch("k", 1000, 200_000)
    assert (answer.code, answer.data) == ("EIO", b"")
    assert want in answer.message
    assert len(server.log) == 1, "and it is not tried again"


def test_a_suffix_that_is_not_the_end(server, remote):
    server.fault("/s.zarr/k", "body", body=DATA[:100],
                 headers={"Content-Range": f"bytes 0-99/{len(DATA)}"})
    answer = remote.fetch("k", FROM_END, 100)
    assert answer.code == "EIO"
    assert "another range" in answer.message


@WAYS
def test_all_for_a_range(server, remote, how):
    """A server that answers no ranges."""
    server.ranges = False
    answer, right = ask(remote, how)
    assert (answer.code, answer.data == right, answer.size) == ("OK", True, len(DATA))


def test_much_more_than_the_range(server, remote):
    (server.folder / "s.zarr/big").write_bytes(bytes(2_000_000))
    server.ranges = False
    answer = remote.fetch("big", 100, 100)
    assert answer.code == "EIO"
    assert "does it answer range requests?" in answer.message


@pytest.mark.parametrize("head", [b"Content-Length: 3\r\nTransfer-Encoding: chunked",
                                  b"Transfer-Encoding: chunked\r\nContent-Length: 3"])
def test_a_length_beside_pieces_does_not_count(server, remote, head):
    server.fault("/s.zarr/k", "raw", pieces=[b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n5\r\nhello\r\n0\r\n\r\n"])
    answer = remote.fetch("k")
    assert answer.code == "OK" and answer.data == b"hello"


@pytest.mark.parametrize("lengths", [(3, 5), (5, 3)])
def test_lengths_that_differ(server, remote, lengths):
    head = "".join(f"Content-Length: {length}\r\n" for length in lengths)
    server.fault("/s.zarr/k", "raw", pieces=[f"HTTP/1.1 200 OK\r\n{head}\r\nhello".encode()])
    answer = remote.fetch("k")
    assert answer.code == "EIO" and not answer.data
    # Later versions of libcurl refuse such a head by themselves.
    assert "two lengths" in answer.message or "Content-Length" in answer.message


def test_no_length(server, remote):
    server.fault("/s.zarr/k", "headers", headers={"Content-Length": None})
    for answer in (remote.fetch("k"), remote.fetch("k", 0, len(DATA))):
        assert answer.code == "OK" and answer.data == DATA or "length" in answer.message


def test_too_long(server, remote):
    answer = remote.fetch("k", most=len(DATA) - 1)
    assert (answer.code, answer.data) == ("ELIMIT", b"")


def test_an_endless_head(server, remote):
    server.fault("/s.zarr/k", "raw",
                 pieces=[b"HTTP/1.1 200 OK\r\n"] + [b"X-Filler: " + b"x" * 500 + b"\r\n"] * 2000)
    answer = remote.fetch("k")
    assert answer.code == "EIO"
    assert "head" in answer.message


def test_an_endless_body(server, remote):
    server.fault("/s.zarr/k", "raw", pieces=[
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"] + [
        b"10000\r\n" + bytes(65536) + b"\r\n"] * 100)
    answer = remote.fetch("k", most=1_000_000)
    assert answer.code == "ELIMIT"


def test_no_http(server, remote):
    server.fault("/s.zarr/k", "raw", pieces=[b"SSH-2.0-OpenSSH_9\r\n"])
    assert remote.fetch("k").code == "EIO"


def test_a_page_for_a_document(server, remote):
    server.fault("/s.zarr/zarr.json", "body", body=b"<html>",
                 headers={"Content-Type": "text/html; charset=utf-8"})
    answer = remote.fetch("zarr.json")
    assert answer.code == "EFORMAT"
    assert "text/html" in answer.message


def test_documents_may_be_compressed_and_others_not(server, remote):
    server.fault("/s.zarr/", "gzip")
    assert remote.fetch("zarr.json").data == b'{"a": 1}'
    assert "gzip" in server.take_log()[0].headers["accept-encoding"]
    answer = remote.fetch("k")
    assert answer.code == "EIO"
    assert "encoding" in answer.message
    assert server.take_log()[0].headers["accept-encoding"] == "identity"


def test_a_compressed_document_that_swells(server, remote):
    (server.folder / "s.zarr/zarr.json").write_bytes(b" " * 1_000_000)
    server.fault("/s.zarr/", "gzip")
    assert remote.fetch("zarr.json", most=100_000).code == "ELIMIT"


# ---- ends of objects


def test_ranges_at_the_end(server, remote):
    size = len(DATA)
    assert remote.fetch("k", size - 5, 100).data == DATA[-5:]
    beyond = remote.fetch("k", size + 5, 100)
    assert (beyond.code, beyond.data, beyond.size) == ("OK", b"", size)
    assert remote.fetch("k", FROM_END, size + 100).data == DATA


@pytest.mark.parametrize("headers", [{}, {"Content-Range": f"bytes */{len(DATA)}"}], ids=["unsized", "sized"])
def test_a_server_that_takes_no_suffix_longer_than_the_object(server, remote, headers):
    """All of the object comes then, and a suffix that the object has is an error."""
    server.fault("/s.zarr/k", "status", times=1, code=416, headers=headers)
    assert remote.fetch("k", FROM_END, len(DATA) + 100).data == DATA
    assert [r.range for r in server.take_log()] == [f"bytes=-{len(DATA) + 100}", None]
    server.fault("/s.zarr/k", "status", code=416, headers=headers)
    answer = remote.fetch("k", FROM_END, 100)
    assert (answer.code, "416" in answer.message) == ("EIO", True)


def test_an_empty_object_of_a_server_that_takes_no_suffix(server, remote):
    (server.folder / "s.zarr/none").write_bytes(b"")
    server.fault("/s.zarr/none", "status", times=1, code=416)
    answer = remote.fetch("none", FROM_END, 10)
    assert (answer.code, answer.data, answer.size) == ("OK", b"", 0)


def test_an_empty_object(server, remote):
    (server.folder / "s.zarr/none").write_bytes(b"")
    for answer in (remote.fetch("none"), remote.fetch("none", 0, 10),
                   remote.fetch("none", FROM_END, 10)):
        assert (answer.code, answer.data, answer.size) == ("OK", b"", 0)


# ---- versions


def test_a_handle_stays_at_its_version(server, remote):
    handle = remote.open_object("k")
    assert remote.fetch("", 100_000, 50, handle).data == DATA[100_000:100_050]
    (server.folder / "s.zarr/k").write_bytes(DATA[::-1])
    answer = remote.fetch("", 100_000, 50, handle)
    assert answer.code == "ECONFLICT"
    assert server.log[-1].status == 412, "the server was told which version"
    remote.close_object(handle)


@pytest.mark.parametrize("etag", ["weak", None])
def test_versions_are_compared_where_the_server_does_not(server, remote, etag):
    server.etag = etag
    handle = remote.open_object("k")
    assert remote.fetch("", 100_000, 50, handle).data == DATA[100_000:100_050]
    path = server.folder / "s.zarr/k"
    path.write_bytes(DATA[::-1])
    os.utime(path, (1e9, 1e9))
    assert remote.fetch("", 100_000, 50, handle).code == "ECONFLICT"
    assert all("if-match" not in request.headers for request in server.log)
    remote.close_object(handle)


def test_validators(server, remote):
    path = server.folder / "s.zarr/k"
    first = remote.fetch("k", 0, 1)
    assert first.validator and first.validator == remote.fetch("k").validator
    path.write_bytes(DATA[::-1])
    assert remote.fetch("k").validator != first.validator
    server.etag = None
    assert remote.fetch("k").validator is None, "changed within the last two seconds"
    os.utime(path, (1e9, 1e9))
    assert remote.fetch("k").validator
    server.last_modified = False
    assert remote.fetch("k").validator is None


# ---- redirects


def test_redirects(server, remote, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other/x").write_bytes(DATA)
    with SimServer(tmp_path / "other") as other:
        server.fault("/s.zarr/k", "status", code=302, headers={"Location": other.url + "/x"})
        answer = remote.fetch("k", 10, 20)
        assert answer.data == DATA[10:30]
        assert other.log[0].range == "bytes=10-29"


@pytest.mark.parametrize("target, path", [
    ("/other place/é?a=b c", "/other place/é"), ("{url}/other place/é?a=b c", "/other place/é"),
    ("sub folder/é", "/s.zarr/sub folder/é"), ("/%20b%2F c", "/ b/ c")])
def test_targets_may_have_bytes_that_a_url_cannot_have(server, remote, target, path):
    """Servers write the name of a file as it is; what is encoded already stays."""
    written = target.format(url=server.url).encode().decode("latin-1")
    server.fault("/s.zarr/k", "status", code=302, headers={"Location": written})
    assert remote.fetch("k").code == "ENOTFOUND"
    assert [request.path for request in server.log] == ["/s.zarr/k", path]
    assert server.log[1].query == ("a=b+c" if "?" in target else "")


def test_a_redirect_to_the_same_place(server, remote):
    server.fault("/s.zarr/k", "status", code=307, headers={"Location": "/s.zarr/k"})
    answer = remote.fetch("k")
    assert "redirects" in answer.message
    assert len(server.log) == 6


@pytest.mark.parametrize("target", ["ftp://127.0.0.1/x", "file:///etc/passwd", ""])
def test_redirects_that_are_not_followed(server, remote, target):
    server.fault("/s.zarr/k", "status", code=302, headers={"Location": target})
    answer = remote.fetch("k")
    assert answer.code == "EIO" and "from https" not in answer.message
    assert len(server.log) < 7


def test_no_redirect_from_https_to_http(tls_server, certificate, tmp_path, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    (tls_server.folder / "k").write_bytes(DATA)
    with SimServer(tls_server.folder) as plain, RemoteStore(tls_server.url) as remote:
        assert remote.fetch("k").data == DATA
        tls_server.fault("/k", "status", code=302, headers={"Location": plain.url + "/k"})
        answer = remote.fetch("k")
        assert answer.code == "EIO"
        assert "https" in answer.message
        assert not plain.log
