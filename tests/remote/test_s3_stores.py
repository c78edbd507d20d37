# SPDX-License-Identifier: MIT
"""Stores in S3: signatures, credentials, regions, errors, listings."""

import json
import os
import pathlib
import stat

import numpy
import pytest
import zarr

from conftest import make_store, run
from programs import HASTY
from remote_store import RemoteStore, ZarrbridgeError
from simserver import SimServer
from sims3 import S3

SECRET = "canary/Secret+Key"
TOKEN = "canary-token/" + "t" * 700 + "=="


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    """No credentials but those of the test."""
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def serve(tmp_path):
    """A function that starts a server with the bucket "bucket" and a store in it."""
    running = []

    def start(consolidated=True, **options):
        folder = tmp_path / "served"
        make_store(folder / "bucket/a b/s.zarr", consolidated)
        server = SimServer(folder, answer=S3({"AKID": SECRET, "TEMP": (SECRET, TOKEN)}, **options))
        server.start()
        running.append(server)
        server.s3 = server.answer
        server.host = server.url.replace("127.0.0.1", "localhost")
        return server

    yield start
    for server in running:
        server.stop()


NAME = "s3://bucket/a b/s.zarr"


def keys(server, **more):
    return {"AWS_ENDPOINT_URL": server.url, "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": SECRET} | more


def check(*arguments, **environment):
    """Runs, and looks for secrets in what is printed."""
    status, lines, words = run(*arguments, **environment)
    assert "canary" not in "\n".join(lines) + words
    return status, lines, words


def refuses(said, *arguments, **environment):
    """It fails, and says why. An unreadable root is a line of the listing."""
    status, lines, words = check(*arguments, **environment)
    assert status in (1, 2), (status, words)
    assert said in "\n".join(lines) + words, (lines, words)


LISTED = [["group", "/"], ["group", "/below"], ["array", "/below/deep"], ["array", "/plain"],
          ["array", "/sharded"]]


def listed(lines):
    return [line.split()[:2] for line in lines]


# ---- Requests

def test_signed_requests(serve):
    server = serve()
    status, lines, words = check("ls", NAME, **keys(server))
    assert (status, listed(lines)) == (0, LISTED), words
    assert server.s3.verified == len(server.take_log())


def test_temporary_credentials(serve):
    server = serve()
    more = {"AWS_ACCESS_KEY_ID": "TEMP", "AWS_SESSION_TOKEN": TOKEN}
    assert check("ls", NAME, **keys(server, **more))[0] == 0
    assert server.s3.verified


def test_chunks_are_read(serve, monkeypatch):
    server = serve()
    for name, value in keys(server).items():
        monkeypatch.setenv(name, value)
    with RemoteStore(NAME) as remote:
        whole = remote.read("sharded", (64, 64), "i4")
        assert (whole == numpy.arange(64 * 64).reshape(64, 64)).all()
        assert (remote.read("plain", (10,), "f8") == numpy.arange(10) / 2).all()


def test_strange_keys_are_signed(serve):
    server = serve()
    for name in ("a=b@c'(d)!e~g&h%41 é", "x?y#z", "*;,:$"):
        make_store(server.folder / "bucket" / name)
        status, lines, words = check("ls", f"s3://bucket/{name}#", **keys(server))
        assert (status, listed(lines)) == (0, LISTED), (name, words)


@pytest.mark.parametrize("style", ["path_style=0", "path_style=1", ""])
def test_places_of_the_bucket(serve, style):
    """Of a service at an endpoint the path is the default; an address has no hosts below it."""
    server = serve()
    more = keys(server) | {"AWS_ENDPOINT_URL": server.host}
    assert check("ls", f"{NAME}#{style}", **more)[0] == 0
    host = server.take_log()[0].headers["host"]
    assert host.startswith("bucket.localhost:" if style == "path_style=0" else "localhost:")


def test_a_service_below_a_path_is_asked_there(serve):
    server = serve()
    assert check("ls", NAME, **keys(server, AWS_ENDPOINT_URL=server.url + "/storage/"))[0] != 0
    assert server.take_log()[0].path.startswith("/storage/bucket/")


def test_anonymous(serve):
    server = serve(public=True)
    assert check("ls", NAME + "#anon=1", **keys(server))[0] == 0
    assert check("ls", NAME, AWS_ENDPOINT_URL=server.url, AWS_NO_SIGN_REQUEST="true")[0] == 0
    assert check("ls", NAME, AWS_ENDPOINT_URL=server.url)[0] == 0
    assert server.s3.verified == 0


def test_options_in_the_name(serve):
    server = serve(region="eu-x-1")
    endpoint = server.url.replace(":", "%3A")
    status, _, words = check("ls", f"{NAME}#endpoint={endpoint}&region=eu-x-1", AWS_ACCESS_KEY_ID="AKID",
                             AWS_SECRET_ACCESS_KEY=SECRET)
    assert status == 0, words
    assert all(request.status == 200 for request in server.take_log())
    for options, said in (("secret_access_key=canary", "credentials stand in the environment"),
                          ("anon=canary", "neither yes nor no"), ("region=%00canary", "needs a value"),
                          ("endpoint=canary", "no https://"), ("region=a.canary/", "not valid")):
        refuses(said, "ls", f"{NAME}#{options}")


def test_requester_pays(serve):
    server = serve(requester_pays=True)
    assert check("ls", NAME, **keys(server))[0] != 0
    assert check("ls", NAME + "#requester_pays", **keys(server))[0] == 0
    assert check("ls", NAME, **keys(server, AWS_REQUEST_PAYER="requester"))[0] == 0


# ---- What replies teach

@pytest.mark.parametrize("redirects", [False, True])
def test_the_region_is_corrected(serve, redirects):
    server = serve(region="eu-west-3", redirects=redirects)
    status, lines, words = check("ls", NAME, **keys(server))
    assert (status, listed(lines)) == (0, LISTED), words
    log = server.take_log()
    assert [request.status for request in log if request.status != 200] == [301 if redirects else 400]


def test_a_region_that_is_never_right(serve):
    server = serve(region="bad region")
    refuses("AuthorizationHeaderMalformed", "ls", NAME, **keys(server))
    assert len(server.take_log()) < 4


@pytest.mark.parametrize("clock", [7200, -7200])
def test_the_clock_is_corrected(serve, clock):
    server = serve(clock=clock)
    status, _, words = check("ls", NAME, **keys(server))
    assert status == 0, words
    assert [request.status for request in server.take_log()].count(403) == 1


# ---- Errors

@pytest.mark.parametrize("change,said", [
    ({"AWS_ACCESS_KEY_ID": "OTHER"}, "InvalidAccessKeyId"),
    ({"AWS_SECRET_ACCESS_KEY": "canary-other"}, "SignatureDoesNotMatch"),
    ({"AWS_ACCESS_KEY_ID": "TEMP"}, "InvalidToken"),
    ({"AWS_ACCESS_KEY_ID": ""}, "one is missing"),
    ({"AWS_SECRET_ACCESS_KEY": "canary\nX: y"}, "no credentials have")])
def test_wrong_credentials(serve, change, said):
    server = serve()
    for option in ("", "#missing_403=1"):  # which does not hide them
        refuses(said, "ls", NAME + option, **keys(server, **change))
    assert len(server.take_log()) <= 4


def test_denied(serve):
    server = serve()
    refuses("403, AccessDenied): no credentials were found", "ls", NAME, AWS_ENDPOINT_URL=server.url)
    refuses("not signed (anon=1)", "ls", NAME + "#anon=1", **keys(server))


def test_no_bucket(serve):
    refuses("no bucket 'other'", "ls", "s3://other/s.zarr", **keys(serve()))


def test_no_store(serve):
    refuses("s3://bucket/none.zarr", "ls", "s3://bucket/none.zarr", **keys(serve()))


def test_missing_chunks(serve, monkeypatch):
    """Of a bucket whose users may not know which keys it has, only on request."""
    server = serve(hides=True)
    for name, value in keys(server).items():
        monkeypatch.setenv(name, value)
    (server.folder / "bucket/a b/s.zarr/plain/c/1").unlink()
    with RemoteStore(NAME) as remote, pytest.raises(ZarrbridgeError, match="missing_403=1"):
        remote.read("plain", (10,), "f8")
    with RemoteStore(NAME + "#missing_403=1") as remote:
        assert list(remote.read("plain", (10,), "f8")) == [0, .5, 1, 1.5, 0, 0, 0, 0, 4, 4.5]


def test_only_the_absence_of_the_object_makes_a_missing_chunk(serve, monkeypatch):
    """As versitygw says 404 to a key's owner whom it does not know."""
    server = serve()
    for name, value in keys(server).items():
        monkeypatch.setenv(name, value)
    server.fault("/bucket/a b/s.zarr/plain/c/1", "status", code=404, times=1,
                 body=b"<Error><Code>XAdminUserNotFound</Code></Error>")
    with RemoteStore(NAME) as remote:
        with pytest.raises(ZarrbridgeError, match="HTTP status 404, XAdminUserNotFound"):
            remote.read("plain", (10,), "f8")
        assert list(remote.read("plain", (10,), "f8")) == [i / 2 for i in range(10)]


def test_a_busy_server(serve):
    server = serve()
    body = b"<Error><Code>SlowDown</Code></Error>"
    server.fault("/bucket/a b/s.zarr/zarr.json", "status", code=503, body=body, times=2)
    assert check("ls", NAME, **keys(server))[0] == 0
    server.fault("/bucket/a b/s.zarr/zarr.json", "status", code=503, body=body)
    refuses("503, SlowDown, after 2 tries", "ls", NAME, **keys(server), ZARRBRIDGE_REMOTE_TRIES=2)


def test_requests(serve):
    """One for a consolidated store; else a listing of each group, and a request for each document."""
    server = serve()
    assert check("ls", NAME, **keys(server))[0] == 0
    assert [(r.path, r.query) for r in server.take_log()] == [("/bucket/a b/s.zarr/zarr.json", "")]
    make_store(server.folder / "bucket/u.zarr", consolidated=False)
    assert check("ls", "s3://bucket/u.zarr", **keys(server))[0] == 0
    log = server.take_log()
    assert sorted(r.path for r in log if not r.query) == sorted(
        f"/bucket/u.zarr/{name}zarr.json" for name in ("", "below/", "below/deep/", "plain/", "sharded/"))
    assert sorted(r.query for r in log if r.query) == [
        f"delimiter=%2F&list-type=2&prefix=u.zarr%2F{name}" for name in ("", "below%2F")]


# ---- Listings

@pytest.mark.parametrize("page", [1, 2, 1000])
def test_stores_are_listed(serve, page):
    server = serve(consolidated=False, page=page)
    status, lines, words = check("ls", NAME, **keys(server))
    assert (status, listed(lines)) == (0, LISTED), words


@pytest.mark.parametrize("page", [3, 1000])
def test_names_in_listings(serve, page):
    """Keys before and behind those of a prefix, names that XML has to escape, and pages that end with a
    name that older versions of libcurl cannot name in a query."""
    server = serve(consolidated=False, page=page)
    store = server.folder / "bucket/a b/s.zarr"
    names = ["plain!", "plain0", "a&b<c>", "é", "p %41", "p+a", "p+b"]
    for name in names:
        zarr.create_array(store / name, shape=(1,), dtype="u1")
    status, lines, words = check("ls", NAME, **keys(server))
    assert status == 0, words
    assert len(lines) == len(LISTED) + len(names), lines
    for name in names:
        assert sum(f" /{name} " in line + " " for line in lines) == 1, (name, lines)


def test_a_plus_in_the_prefix(serve, monkeypatch):
    """Is read, and listed where libcurl can; else the error says what it needs."""
    server = serve(consolidated=False)
    make_store(server.folder / "bucket/a+b.zarr", consolidated=False)
    for name, value in keys(server).items():
        monkeypatch.setenv(name, value)
    with RemoteStore("s3://bucket/a+b.zarr") as remote:
        assert list(remote.read("below/deep", (3,), "u1")) == [1, 2, 3]
    status, lines, words = check("ls", "s3://bucket/a+b.zarr")
    if status == 0:
        assert listed(lines) == LISTED
    else:
        assert "8.19" in words, words
    server.s3.public = True
    status, lines, words = check("ls", "s3://bucket/a+b.zarr#anon=1")
    assert (status, listed(lines)) == (0, LISTED), words


@pytest.mark.parametrize("body", [
    b"", b"<x/>", b"<html><body>Login", b"<ListBucketResult></ListBucketResult>",
    b"<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
    b"<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>other</Key></Contents>"
    b"</ListBucketResult>",
    b'<!DOCTYPE x [<!ENTITY a "aaaa">]><ListBucketResult><IsTruncated>false</IsTruncated>'
    b"</ListBucketResult>"])
def test_lists_that_are_none(serve, body):
    server = serve(consolidated=False)
    server.fault("/bucket", "body", skip=1, body=body)
    status, _, words = check("ls", NAME, **keys(server))
    assert status != 0
    assert "list" in words or "document type" in words, words


# ---- Credentials

def files(home, credentials="", config=""):
    folder = pathlib.Path(home) / ".aws"
    folder.mkdir(exist_ok=True)
    (folder / "credentials").write_text(credentials)
    (folder / "config").write_text(config)


def script(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def printed(**more):
    return json.dumps({"Version": 1, "AccessKeyId": "TEMP", "SecretAccessKey": SECRET,
                       "SessionToken": TOKEN} | more)


def test_files(serve, tmp_path):
    server = serve(region="mars-1")
    static = f"aws_access_key_id = TEMP\naws_secret_access_key = {SECRET}\naws_session_token={TOKEN}\n"
    files(tmp_path, f"[default]\naws_access_key_id = OTHER\naws_secret_access_key = x\n[work]\n{static}",
          f"[profile work]\nregion = mars-1\nendpoint_url = {server.url}\ns3 =\n  region = no\n")
    status, _, words = check("ls", NAME + "#profile=work")
    assert status == 0, words
    assert {request.status for request in server.take_log()} == {200}
    assert check("ls", NAME, AWS_PROFILE="work")[0] == 0
    refuses("InvalidAccessKeyId", "ls", NAME, AWS_ENDPOINT_URL=server.url)
    refuses("no file has the profile 'none'", "ls", NAME, AWS_PROFILE="none")
    wrong = keys(server, AWS_ACCESS_KEY_ID="OTHER")
    refuses("InvalidAccessKeyId", "ls", NAME, **wrong, AWS_PROFILE="work")
    assert check("ls", NAME + "#profile=work", **wrong)[0] == 0, "what the name says comes first"


def test_a_credential_process(serve, tmp_path):
    server = serve()
    program = script(tmp_path / "bin/get", f"echo run >> {tmp_path}/runs\ncat '{tmp_path}/answer'\n")
    files(tmp_path, config=f"[default]\nendpoint_url = {server.url}\ncredential_process = '{program}' x\n")
    (tmp_path / "answer").write_text(printed(Expiration="2099-01-01T00:00:00Z"))
    status, _, words = check("ls", NAME)
    assert status == 0, words
    assert (tmp_path / "runs").read_text() == "run\n"
    for answer, said in (("canary", "no JSON"), ("{}", "no AccessKeyId"), ("x" * 100000, "too much"),
                         (printed(Version=2), "version"), (printed(Expiration="soon"), "no time")):
        (tmp_path / "answer").write_text(answer)
        refuses(said, "ls", NAME)
    script(program, "echo canary >&2\nexit 3\n")
    refuses("ends with status 3", "ls", NAME)


@pytest.mark.parametrize("way", ["sso", "container"])
def test_the_aws_command_line(serve, tmp_path, way):
    """It speaks to all services that have credentials."""
    server = serve()
    program = script(tmp_path / "bin/aws", f"echo \"$*\" >> {tmp_path}/runs\ncat <<E\n{printed()}\nE\n")
    more = {"PATH": f"{program.parent}:{os.environ['PATH']}", "AWS_ENDPOINT_URL": server.url}
    if way == "sso":
        files(tmp_path, config="[profile x]\nsso_session = y\n")
        more["AWS_PROFILE"] = "x"
    else:
        more["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/x"
    status, _, words = check("ls", NAME, **more)
    assert status == 0, words
    assert (tmp_path / "runs").read_text() == {
        "sso": "--profile=x configure export-credentials --format process\n",
        "container": "configure export-credentials --format process\n"}[way]
    refuses("no such program", "ls", NAME, **more | {"PATH": str(tmp_path)})


def test_nothing_asks_the_metadata_service(serve, tmp_path):
    """Without a sign of Amazon's machines no program runs, which could ask it."""
    server = serve(public=True)
    program = script(tmp_path / "bin/aws", f"touch {tmp_path}/has_run\n")
    assert check("ls", NAME, AWS_ENDPOINT_URL=server.url, PATH=f"{program.parent}:{os.environ['PATH']}",
                 AWS_EC2_METADATA_DISABLED="true")[0] == 0
    assert not (tmp_path / "has_run").exists()


def test_expired_credentials_are_renewed_once(serve, tmp_path, monkeypatch):
    server = serve()
    answer = tmp_path / "answer"
    files(tmp_path, config=f"[default]\nendpoint_url={server.url}\ncredential_process=cat '{answer}'\n")
    answer.write_text(printed())
    with RemoteStore(NAME) as remote:
        assert list(remote.read("below/deep", (3,), "u1")) == [1, 2, 3]
        server.s3.keys["NEW"] = (SECRET, None)
        server.s3.expired.add("TEMP")
        answer.write_text(json.dumps({"Version": 1, "AccessKeyId": "NEW", "SecretAccessKey": SECRET}))
        server.take_log()
        assert (remote.read("plain", (10,), "f8") == numpy.arange(10) / 2).all()
        server.s3.expired.add("NEW")
        with pytest.raises(ZarrbridgeError, match="expired") as caught:
            remote.read("sharded", (64, 64), "i4")
        assert "canary" not in str(caught.value)
    assert sum(request.status == 400 for request in server.take_log()) <= 20


def test_credentials_of_files_are_read_again(serve, tmp_path):
    """A program of the user renews them there."""
    server = serve()
    text = "[default]\naws_access_key_id={}\naws_secret_access_key=" + SECRET + "\n"
    files(tmp_path, text.format("AKID"), f"[default]\nendpoint_url={server.url}\n")
    with RemoteStore(NAME) as remote:
        assert list(remote.read("below/deep", (3,), "u1")) == [1, 2, 3]
        server.s3.keys["NEW"] = (SECRET, None)
        server.s3.expired.add("AKID")
        files(tmp_path, text.format("NEW"), f"[default]\nendpoint_url={server.url}\n")
        assert (remote.read("plain", (10,), "f8") == numpy.arange(10) / 2).all()


# ---- Where requests go

def test_redirects_get_no_credentials(serve, tmp_path):
    """A Location is followed to no other host: it would get the session token."""
    other_folder = tmp_path / "other"
    other_folder.mkdir()
    server = serve()
    with SimServer(other_folder) as other:
        server.fault("/bucket", "status", code=307, headers={"Location": other.url + "/x"})
        temporary = keys(server, AWS_ACCESS_KEY_ID="TEMP", AWS_SESSION_TOKEN=TOKEN)
        refuses("served elsewhere", "ls", NAME, **temporary)
        assert other.take_log() == []


def test_users_in_urls_are_refused(serve):
    server = serve()
    for name in (server.url.replace("//", "//canary:canary@") + "/x.zarr",
                 server.url + "/x.zarr?X-Amz-Credential=canary&X-Amz-Signature=canary"):
        refuses("URL", "ls", name)


def test_repair_leaves_a_sound_store_as_it_is(serve):
    server = serve()
    files = {p: p.read_bytes() for p in server.folder.rglob("*") if p.is_file()}
    status, _, words = check("repair", NAME, **keys(server))
    assert status == 0, words
    assert {p: p.read_bytes() for p in server.folder.rglob("*") if p.is_file()} == files


@pytest.mark.parametrize("command", ["verify", "repair"])
def test_a_name_where_nothing_is_is_no_sound_store(serve, command):
    """A prefix without objects is what a mistyped name leads to."""
    server = serve()
    status, lines, words = check(command, NAME + "x", **keys(server))
    assert (status, lines) == (2, []) and "there is no store" in words and "a b/s.zarrx" in words
    assert check(command, NAME, **keys(server))[0] == 0
    (server.folder / "bucket/other").mkdir()
    (server.folder / "bucket/other/data").write_bytes(b"x")
    status, lines, words = check(command, "s3://bucket/other", **keys(server))
    assert (status, lines) == (2 if command == "verify" else 0, []), words
    assert command == "repair" or "is not a store" in words


def test_what_a_service_withholds_is_not_called_damaged(serve):
    server = serve(consolidated=False)
    for key, status in (("plain/c/1", 503), ("sharded/c/0/1", 403), ("below/deep/zarr.json", 503)):
        server.fault("/bucket/a b/s.zarr/" + key, "status", code=status)
    status, lines, _ = check("verify", NAME, **keys(server, **HASTY))
    assert status == 1
    assert sorted(line.split(":")[0] for line in lines) == [
        "unchecked below/deep/zarr.json", "unchecked plain/c/1", "unchecked sharded/c/0/1"], lines


def test_a_node_is_described_by_one_request(serve):
    """Its chunks are not asked for their sizes."""
    server = serve()
    status, lines, words = check("info", NAME + "/sharded", **keys(server))
    assert status == 0 and lines[0] == "array /sharded" and "  shards      (32, 32)" in lines, words
    assert not [line for line in lines if "stored" in line]
    assert [r.path for r in server.take_log()] == ["/bucket/a b/s.zarr/sharded/zarr.json"]
