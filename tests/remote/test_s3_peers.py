# SPDX-License-Identifier: MIT
"""Second opinions: the server of our own beside botocore, and stores in servers of others that speak S3.
tools/s3-peers installs those; each test is skipped where its peer is not there."""

import concurrent.futures
import datetime
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import numpy
import pytest
import zarr

import sims3
from conftest import make_store, run
from remote_store import RemoteStore, Writer, ZarrbridgeError, call, lib
from simserver import free_port
from test_s3_requests import KEYS, PREFIXES

PEERS = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"]) / "build/s3-peers"
REGION = "us-east-1"


def test_signatures_are_those_of_botocore(monkeypatch):
    """Else server and client could agree on something wrong."""
    for packages in PEERS.glob("moto/lib/python3*/site-packages"):  # moto brings it along
        monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    pytest.importorskip("botocore")
    from botocore.auth import S3SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    paths = ["/bucket/a%20b/x%2By%3Dz/%C3%A9~-_.", "/bucket?list-type=2&prefix=a%2Fb%2Bc%20d&delimiter=%2F", "/"]
    for path in paths:
        request = AWSRequest("GET", "http://host:9000" + path,
                             headers={"Range": "bytes=0-9", "x-amz-request-payer": "requester"})
        S3SigV4Auth(Credentials("AKID", "secret/+", "token"), "s3", "eu-west-1").add_auth(request)
        headers = {name.lower(): value for name, value in request.headers.items()} | {"host": "host:9000"}
        _, _, _, signed, given = sims3.AUTHORIZATION.fullmatch(headers["authorization"]).groups()
        parts = urllib.parse.urlsplit(path)
        canonical = sims3.canonical_request("GET", parts.path, parts.query, headers, signed.split(";"),
                                            headers["x-amz-content-sha256"])
        assert sims3.signature("secret/+", headers["x-amz-date"], "eu-west-1", canonical) == given, path


class Peer:
    """A server of others. command: {port}, {folder}, {sidecar} for what describes the files in it,
    and {key}, {secret} where it is told them, if not by variables of the environment: names.
    verifies: which variables it refuses when they are wrong. is_open: a bucket is public from the beginning.
    suffixes: it answers ranges that count from the end."""

    def __init__(self, name, program, command, key="AKIDPEER", secret="canary/Secret+Key",
                 verifies=("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"), is_open=False, suffixes=True, lists=True,
                 names=()):
        self.name, self.program, self.command = name, program, command
        self.key, self.secret, self.verifies = key, secret, verifies
        self.is_open, self.suffixes, self.lists = is_open, suffixes, lists
        self.environment = dict(zip(names, (key, secret)))
        self.url = self.process = None

    def find(self):
        return shutil.which(PEERS / self.program) or shutil.which(Path(self.program).name)

    def start(self, folder):
        port = free_port()
        data = folder / "data"
        data.mkdir()
        words = {"port": port, "folder": data, "sidecar": folder / "sidecar", "key": self.key, "secret": self.secret}
        environment = {k: v for k, v in os.environ.items()
                       if k not in ("LD_PRELOAD", "PYTHONPATH", "PYTHONHOME") and not k.startswith("AWS_")}
        self.url = f"http://127.0.0.1:{port}"
        with open(folder / "log", "w") as log:
            self.process = subprocess.Popen(
                [self.find(), *(word.format(**words) for word in self.command)], stdout=log, stderr=log,
                env=environment | self.environment, cwd=folder)
        for left in range(600, -1, -1):
            try:
                self.put("/bucket", b"")
                return
            except OSError as failure:
                if self.process.poll() is not None:
                    pytest.skip(f"{self.name} does not run: " + (folder / "log").read_text()[-200:])
                assert left and getattr(failure, "code", 503) == 503, failure  # it begins
                time.sleep(0.1)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()

    def ask(self, method, path, query="", data=None, extra=()):
        """The reply's headers and body; a request with our own signature, and nothing of ours besides."""
        payload = hashlib.sha256(data or b"").hexdigest()
        date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        headers = {"host": self.url.removeprefix("http://"), "x-amz-content-sha256": payload, "x-amz-date": date}
        signed = sorted(headers)
        given = sims3.signature(self.secret, date, REGION, sims3.canonical_request(
            method, path, query, headers, signed, payload))
        headers["Authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={self.key}/{date[:8]}/{REGION}/s3/aws4_request, "
            f"SignedHeaders={';'.join(signed)}, Signature={given}")
        headers |= {"Content-Type": "application/octet-stream"} | dict(extra)
        request = urllib.request.Request(f"{self.url}{path}?{query}".rstrip("?"), data=data, method=method,
                                         headers=headers)
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.headers, reply.read()

    def put(self, path, data=b"", query=""):
        self.ask("PUT", path, query, data)

    def put_store(self, root, prefix):
        for path in root.rglob("*"):
            if path.is_file():
                key = urllib.parse.quote(f"{prefix}/{path.relative_to(root)}", safe="/-_.~")
                self.put("/bucket/" + key, path.read_bytes())


POLICY = b"""{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": "*",
  "Action": ["s3:GetObject", "s3:ListBucket"],
  "Resource": ["arn:aws:s3:::bucket", "arn:aws:s3:::bucket/*"]}]}"""


def peers():
    return [
        Peer("minio", "minio/minio", ["server", "{folder}", "--address", "127.0.0.1:{port}",
                                      "--console-address", "127.0.0.1:0"],
             names=("MINIO_ROOT_USER", "MINIO_ROOT_PASSWORD")),
        Peer("moto", "moto/bin/moto_server", ["-H", "127.0.0.1", "-p", "{port}"], verifies=()),
        Peer("versitygw", "versitygw/versitygw",
             ["--access", "{key}", "--secret", "{secret}", "--port", "127.0.0.1:{port}", "--region", REGION,
              "posix", "--sidecar", "{sidecar}", "{folder}"]),
        Peer("s3rver", "s3rver/node_modules/.bin/s3rver",
             ["-d", "{folder}", "-a", "127.0.0.1", "-p", "{port}", "--no-vhost-buckets"],
             key="S3RVER", secret="S3RVER", verifies=("AWS_ACCESS_KEY_ID",), is_open=True, suffixes=False, lists=False),
    ]


@pytest.fixture(params=peers(), ids=lambda peer: peer.name)
def peer(request, tmp_path, monkeypatch):
    """A server with an empty bucket, which the environment tells of."""
    found = request.param
    if not found.find():
        pytest.skip(f"there is no {found.name} (tools/s3-peers)")
    folder = tmp_path / "server"
    (folder / "sidecar").mkdir(parents=True)
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    try:
        found.start(folder)
        for name, value in {"AWS_ENDPOINT_URL": found.url, "AWS_ACCESS_KEY_ID": found.key,
                            "AWS_SECRET_ACCESS_KEY": found.secret, "AWS_REGION": REGION,
                            "HOME": str(tmp_path), "ZARRBRIDGE_REMOTE_TRIES": "2"}.items():
            monkeypatch.setenv(name, value)
        yield found
    finally:
        found.stop()


@pytest.mark.parametrize("consolidated", [True, False])
def test_a_store_is_listed_as_it_is_locally(peer, tmp_path, consolidated):
    root = make_store(tmp_path / "s.zarr", consolidated)
    peer.put_store(root, "a b/s.zarr")
    status, lines, words = run("ls", "s3://bucket/a b/s.zarr")
    assert (status, lines, words) == run("ls", root) and lines


def test_chunks_and_ranges(peer, tmp_path):
    """Of a shard that is larger than what is asked for with its index."""
    root, whole = make_store(tmp_path / "s.zarr"), numpy.arange(256 * 256).reshape(256, 256)
    zarr.open_group(root).create_array("big", shape=whole.shape, chunks=(32, 32), shards=whole.shape, dtype="i4",
                                       compressors=None)[:] = whole
    peer.put_store(root, "s.zarr")
    with RemoteStore("s3://bucket/s.zarr") as store:
        answer = store.fetch("plain/c/0", 8, 16)
        assert answer.code == "OK" and (numpy.frombuffer(answer.data, "f8") == [0.5, 1]).all()
        assert (store.read("plain", (10,), "f8") == numpy.arange(10) / 2).all()
        if peer.suffixes:
            assert (store.read("big", (31, 40), "i4", (3, 182)) == whole[3:34, 182:222]).all()
            assert (store.read("big", whole.shape, "i4") == whole).all()
        else:  # it answers with the beginning
            with pytest.raises(ZarrbridgeError, match="another range"):
                store.read("big", (31, 40), "i4", (3, 182))


ODD = ["a b", "x+y", "é~", "a=b&c;d", "100%", "100%25", "(q)*'!", "@:,$", "<x>", "日本", "zz"]


def test_odd_names_are_listed_and_read(peer, tmp_path):
    root = zarr.open_group(tmp_path / "o.zarr", mode="w")
    for i, name in enumerate(ODD):
        root.create_array(name, shape=(2,), dtype="u1", compressors=None)[:] = [i, 100]
    peer.put_store(tmp_path / "o.zarr", "odd names/o.zarr")
    local, remote = run("ls", tmp_path / "o.zarr"), run("ls", "s3://bucket/odd names/o.zarr")
    assert remote == local and len(local[1]) == len(ODD) + 1
    with RemoteStore("s3://bucket/odd names/o.zarr") as store:
        for i, name in enumerate(ODD):
            assert list(store.read(name, (2,), "u1")) == [i, 100]


def test_a_public_bucket(peer, tmp_path, monkeypatch):
    peer.put_store(make_store(tmp_path / "s.zarr", consolidated=False), "s.zarr")
    name = "s3://bucket/s.zarr#anon=1"
    if not peer.is_open:
        status, lines, words = run("ls", name)
        assert status and "403" in "\n".join(lines) + words
        peer.put("/bucket", POLICY, "policy=")
    assert run("ls", name) == run("ls", tmp_path / "s.zarr")


@pytest.mark.parametrize("variable, value", [
    ("AWS_SECRET_ACCESS_KEY", "canary-wrong"), ("AWS_ACCESS_KEY_ID", "canaryNOBODY")])
def test_wrong_credentials(peer, tmp_path, variable, value):
    if variable not in peer.verifies:
        pytest.skip(f"{peer.name} takes any {variable}")
    peer.put_store(make_store(tmp_path / "s.zarr"), "s.zarr")
    status, lines, words = run("ls", "s3://bucket/s.zarr", **{variable: value})
    said = "\n".join(lines) + words
    assert status and "HTTP status 40" in said and "canary" not in said


def test_what_is_not_there(peer, tmp_path):
    for name, words in {"s3://none/x.zarr": "there is no bucket 'none'", "s3://bucket/x.zarr": "x.zarr"}.items():
        status, lines, said = run("ls", name)
        assert status in (1, 2) and words in "\n".join(lines) + said


def test_that_nothing_is_there_is_told_by_a_listing(peer):
    """Of a few names, sorted by their bytes: a service that lists otherwise would be told apart here."""
    if not peer.lists:
        pytest.skip(f"{peer.name} leaves a folder out where the prefix is its name without the slash")
    for key in KEYS:
        peer.put("/bucket/x.zarr/" + urllib.parse.quote(key), b"1")
    with RemoteStore("s3://bucket/x.zarr") as store:
        found = {prefix: lib.zb_store_is_absent(store.store, prefix.encode()) for prefix in PREFIXES}
    assert found == PREFIXES


# ---- Writing


def write(path, start, values):
    with RemoteStore("s3://bucket/w.zarr") as store, Writer(store, path) as writer:
        writer.write(start, (1, 1), values)


def keeps_conditions(peer):
    """The service is asked by the first write; where it does not keep to conditions, nothing is written."""
    try:
        with RemoteStore("s3://bucket/w.zarr") as store:
            store.create_group("", {"k": 1})
    except ZarrbridgeError as error:
        assert "takes no notice of If-Match" in str(error), error
        return False
    return True


@pytest.fixture
def writable(peer):
    if not keeps_conditions(peer):
        pytest.skip(f"{peer.name} does not keep to the conditions of puts, and is not written to")
    return peer


def test_a_store_is_copied_to_it(writable, tmp_path):
    root = make_store(tmp_path / "s.zarr", consolidated=False)
    status, _, words = run("copy", root, "s3://bucket/copy.zarr")
    assert status == 0, words
    assert run("ls", "s3://bucket/copy.zarr")[1] == run("ls", root)[1]
    if writable.suffixes:
        assert run("verify", "s3://bucket/copy.zarr")[0] == 0


def test_chunks_parts_of_shards_and_documents_are_written(writable):
    values = numpy.arange(64, dtype="i4").reshape(8, 8)
    with RemoteStore("s3://bucket/w.zarr") as store:
        store.create_array("a", (8, 8), (2, 8), "i4", shards=(8, 8))
        store.create_array("g/b", (8, 8), (2, 8), "i4")
    for path in ("a", "g/b"):
        write(path, (0, 0), values)
        write(path, (3, 0), values[:1] + 100)
    with RemoteStore("s3://bucket/w.zarr") as store:
        store.set_attribute("g/b", "k", "word")
        store.resize("g/b", (4, 8))
        store.move("g", "h")
        store.delete("a")
    expected = values[:4].copy()
    expected[3] = values[0] + 100
    with RemoteStore("s3://bucket/w.zarr") as store:
        assert (store.read("h/b", (4, 8), "i4") == expected).all()
        assert json.loads(store.get("h/b/zarr.json"))["attributes"] == {"k": "word"}
    assert [line.split()[1] for line in run("ls", "s3://bucket/w.zarr")[1]] == ["/", "/h", "/h/b"]


def test_copies_and_moves(writable, tmp_path):
    """Which the service carries out, if it can: names with signs of all kinds go in a header."""
    root = zarr.open_group(tmp_path / "o.zarr", mode="w")
    names = [name for name in ODD if "+" not in name]
    for i, name in enumerate(names):
        root.create_array("g/" + name, shape=(2,), dtype="u1", compressors=None)[:] = [i, 100]
    writable.put_store(tmp_path / "o.zarr", "odd names/o.zarr")
    with RemoteStore("s3://bucket/odd names/o.zarr") as store:
        call(lib.zb_node_copy, store.handle, b"g", store.handle, b"h")
        store.move("g", "k")
        for group in ("h", "k"):
            for i, name in enumerate(names):
                assert list(store.read(f"{group}/{name}", (2,), "u1")) == [i, 100]


WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy
from remote_store import RemoteStore, Writer
for row in range(int(sys.argv[2]), 16, 4):
    with RemoteStore("s3://bucket/w.zarr") as store, Writer(store, "a") as writer:
        writer.write((row, 0), (1, 1), numpy.full((1, 8), row + 1, "i4"))
"""


def loses_puts(peer):
    """Do two puts on one condition both succeed when they come at once, or does the peer fail at them? Programs count
    together, by plain requests. One put at a time, as the connector's look at a service, shows nothing of it."""
    peer.put("/bucket/count", b"0")

    def count(_):
        for _ in range(20):
            while True:
                headers, text = peer.ask("GET", "/bucket/count")
                try:
                    peer.ask("PUT", "/bucket/count", data=b"%d" % (int(text) + 1), extra={"If-Match": headers["ETag"]})
                    break
                except urllib.error.HTTPError as error:
                    assert error.code in (409, 412), error

    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        try:
            list(threads.map(count, range(8)))
        except urllib.error.HTTPError as error:
            assert error.code == 500, error
            return True
    return int(peer.ask("GET", "/bucket/count")[1]) < 8 * 20


def test_programs_that_write_one_shard_lose_nothing(writable):
    if loses_puts(writable):
        pytest.skip(f"{writable.name} carries out several puts on one condition at once, or fails at them")
    with RemoteStore("s3://bucket/w.zarr") as store:
        store.create_array("a", (16, 8), (1, 8), "i4", shards=(16, 8))
    here = os.path.dirname(os.path.abspath(__file__))
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, here, str(i)]) for i in range(4)]
    assert [writer.wait(timeout=300) for writer in writers] == [0] * 4
    with RemoteStore("s3://bucket/w.zarr") as store:
        assert store.read("a", (16, 8), "i4")[:, 0].tolist() == list(range(1, 17))


def test_a_large_object_is_written(writable):
    """In parts, where the service keeps to conditions of those, too."""
    values = numpy.random.default_rng(1).integers(0, 255, (72, 1 << 20), "u1")
    with RemoteStore("s3://bucket/w.zarr") as store:
        store.create_array("a", values.shape, (1, 1 << 20), "u1", shards=values.shape)
    write("a", (0, 0), values)
    values[3] = 7
    write("a", (3, 0), values[3:4])
    with RemoteStore("s3://bucket/w.zarr") as store:
        assert (store.read("a", values.shape, "u1") == values).all()


def test_an_object_whose_body_does_not_end_is_not_stored(writable):
    """The end of a large body waits for a look at the array's document: it never comes where that has gone."""
    with RemoteStore("s3://bucket/w.zarr") as store:
        store.create_array("a", (2, 4 << 20), (1, 4 << 20), "u1", codecs=[{"name": "bytes"}])
        writer = Writer(store, "a")
        writer.write((0, 0), (1, 1), numpy.full((1, 4 << 20), 7, "u1"))
        with RemoteStore("s3://bucket/w.zarr") as other:
            other.delete("a")
        with pytest.raises(ZarrbridgeError, match="has been deleted or moved"), writer:
            writer.write((1, 0), (1, 1), numpy.full((1, 4 << 20), 7, "u1"))
    assert [line.split() for line in run("ls", "s3://bucket/w.zarr")[1]] == [["group", "/"]]
    assert [line for line in run("verify", "s3://bucket/w.zarr")[1] if "/c/" in line] == []
