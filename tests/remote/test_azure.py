# SPDX-License-Identifier: MIT
"""Stores in Azure Blob Storage, on its emulator Azurite (tools/s3-peers azurite), without which tests are skipped."""

import ctypes
import http.client
import http.server
import json
import os
import subprocess
import sys
import threading
import urllib.parse

import numpy
import pytest
import zarr

from azurite import ACCOUNT, CONTAINER, KEY, Azurite, find, shared_access_signature
from conftest import make_store, run
from programs import output, python
from programs import run as run_program
from remote_store import FROM_END, RemoteStore, Writer, ZarrbridgeError, call, lib

NAME = f"az://{CONTAINER}/w.zarr"


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    if not find():
        pytest.skip("there is no Azurite, or no node (tools/s3-peers azurite)")
    folder = tmp_path_factory.mktemp("azurite")
    running = Azurite(folder)
    try:
        if not running.wait():
            pytest.skip("Azurite does not run: " + running.log.read_text()[-200:])
        yield running
    finally:
        running.stop()


VARIABLES = ("ACCOUNT", "KEY", "ACCESS_KEY", "SAS_TOKEN", "CONNECTION_STRING")


@pytest.fixture
def azure(process, monkeypatch):
    """An empty container, which the environment tells of."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "AZURE_"))]:
        monkeypatch.delenv(name)
    process.ask("DELETE", f"/{CONTAINER}", "restype=container")
    process.make_container(CONTAINER)
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING",
                       f"AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint={process.url};")
    monkeypatch.setenv("ZARRBRIDGE_REMOTE_TRIES", "2")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")  # says nothing of Azure
    return process


def said(*arguments, **environment):
    status, lines, words = run(*arguments, **environment)
    return status, "\n".join(lines) + words


# ---- Reading


@pytest.mark.parametrize("consolidated", [True, False])
def test_a_store_is_listed_as_it_is_locally(azure, tmp_path, consolidated):
    root = make_store(tmp_path / "s.zarr", consolidated)
    azure.put_store(root, "a b+c/s.zarr")
    name = f"az://{CONTAINER}/a b+c/s.zarr"
    assert run("ls", name) == run("ls", root)
    assert run("verify", name)[0] == 0


def test_h5py_reads_a_store(azure, tmp_path):
    azure.put_store(make_store(tmp_path / "s.zarr"), "s.zarr")
    code = "import sys, h5py; f = h5py.File(sys.argv[1]); print(f['sharded'][:].sum(), f['below/deep'][:].tolist())"
    assert python(code, f"az://{CONTAINER}/s.zarr", HDF5_VOL_CONNECTOR="zarr").split() == [
        str(64 * 64 * (64 * 64 - 1) // 2), "[1,", "2,", "3]"]


def test_the_end_of_an_object_is_read_without_its_size(azure, tmp_path):
    """Azure takes no range that counts from the end."""
    azure.put_store(make_store(tmp_path / "s.zarr"), "s.zarr")
    azure.put("s.zarr/plain/c/7", b"")
    with RemoteStore(f"az://{CONTAINER}/s.zarr") as store:
        whole = (tmp_path / "s.zarr/plain/c/0").read_bytes()
        for length in (1, 16, len(whole), 1000):
            answer = store.fetch("plain/c/0", FROM_END, length)
            assert (answer.code, answer.data) == ("OK", whole[-length:]) and answer.size == len(whole)
        for offset in (FROM_END, 0):
            answer = store.fetch("plain/c/7", offset, 8)
            assert (answer.code, answer.data, answer.size) == ("OK", b"", 0), answer.message
        assert store.fetch("plain/c/8", FROM_END, 8).code == "ENOTFOUND"


ODD = ["a b", "x+y", "é~", "a=b&c;d", "100%25", "(q)*'!", "@:,$", "<x>", "日本", "zz"]


def test_odd_names_are_listed_and_read(azure, tmp_path):
    root = zarr.open_group(tmp_path / "o.zarr", mode="w")
    for i, name in enumerate(ODD):
        root.create_array(name, shape=(2,), dtype="u1", compressors=None)[:] = [i, 100]
    name = f"az://{CONTAINER}/odd names/o.zarr"
    status, words = said("copy", tmp_path / "o.zarr", name)
    assert status == 0, words
    assert run("ls", name) == run("ls", tmp_path / "o.zarr")
    with RemoteStore(name) as store:
        for i, name in enumerate(ODD):
            assert list(store.read(name, (2,), "u1")) == [i, 100]


PAGE = """<?xml version="1.0"?><EnumerationResults><Blobs>%s</Blobs><NextMarker>%s</NextMarker></EnumerationResults>"""
BLOB = "<Blob><Name>w.zarr/g/%s</Name><Properties><Etag>0x1</Etag></Properties></Blob>"
BELOW = "<BlobPrefix><Name>w.zarr/g/%s/</Name></BlobPrefix>"


class Pages(http.server.BaseHTTPRequestHandler):
    """Three pages of names, the second of which is empty; each has a marker of the next one."""
    pages = {None: (BLOB % "a" + BELOW % "b", "two+/&amp;="), "two+/&=": ("", "three"), "three": (BLOB % "c", "")}
    asked = []

    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        self.asked.append(query)
        body = (PAGE % self.pages[query.get("marker", [None])[0]]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


class Entry(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("is_prefix", ctypes.c_bool)]


def names_in(store, prefix):
    found = []
    told = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Entry))(
        lambda _, entry: found.append((entry[0].name.decode(), entry[0].is_prefix)) or 0)
    call(lib.zb_store_list, store.store, prefix.encode(), told, None)
    return found


def test_listings_of_several_pages():
    """Which may be empty before the last one."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with RemoteStore(f"{NAME}#anon=1&account=x&endpoint=http://127.0.0.1:{server.server_port}") as store:
            assert names_in(store, "g") == [("a", False), ("b", True), ("c", False)]
            Pages.pages = Pages.pages | {"three": ("", "three")}
            with pytest.raises(ZarrbridgeError, match="does not go on"):
                names_in(store, "g")
            Pages.pages = {None: (BLOB.replace("/g/", "/h/") % "a", "")}
            with pytest.raises(ZarrbridgeError, match="not asked for"):
                names_in(store, "g")
    finally:
        server.shutdown()
        server.server_close()
    assert Pages.asked[0] == {"restype": ["container"], "comp": ["list"], "prefix": ["w.zarr/g/"], "delimiter": ["/"]}


# ---- Writing

H5PY = """
import sys, numpy, h5py
with h5py.File(sys.argv[1], "w") as f:
    f.create_dataset("g/a", data=numpy.arange(1000).reshape(10, 100), chunks=(4, 30))
    f["g"].attrs["k"] = "word"
with h5py.File(sys.argv[1], "a") as f:
    f["g/a"][3, 5:7] = -1
    f.move("g", "h")
with h5py.File(sys.argv[1], "r") as f:
    print(f["h/a"][:].sum(), f["h"].attrs["k"], list(f))
"""


def test_h5py_writes_a_store(azure):
    expected = 1000 * 999 // 2 - 305 - 306 - 2
    assert python(H5PY, NAME, HDF5_VOL_CONNECTOR="zarr").split() == [str(expected), "word", "['h']"]
    assert run("verify", NAME)[0] == 0


def test_gdal_writes_a_raster(azure, tmp_path):
    from osgeo import gdal
    image = gdal.GetDriverByName("GTiff").Create(str(tmp_path / "in.tif"), 100, 70, 1)
    image.GetRasterBand(1).WriteArray(numpy.arange(7000).reshape(70, 100) % 251)
    image = None
    output("gdal_translate", "-q", "-of", "Zarr3", "-co", "BLOCKSIZE=32x32", tmp_path / "in.tif", NAME)
    words = output("gdalinfo", "-checksum", NAME)
    assert "Size is 100, 70" in words
    assert [line for line in words.splitlines() if "Checksum" in line] == [
        line for line in output("gdalinfo", "-checksum", tmp_path / "in.tif").splitlines() if "Checksum" in line]
    output("gdaladdo", NAME, "2")
    output("gdalmanage", "delete", "-f", "Zarr3", NAME)
    assert azure.names() == []


def test_settings_of_gdal(azure, tmp_path, monkeypatch):
    azure.put_store(make_store(tmp_path / "s.zarr"), "s.zarr")
    monkeypatch.delenv("AZURE_STORAGE_CONNECTION_STRING")
    name = f"ZARR3:az://{CONTAINER}/s.zarr#endpoint={azure.url}"
    config = ["--config", "AZURE_STORAGE_ACCOUNT", ACCOUNT, "--config", "AZURE_STORAGE_ACCESS_KEY", KEY]
    assert "Size is 64, 64" in output("gdalinfo", name, *config)
    done = run_program("gdalinfo", name, *config[:3])
    assert done.returncode and "neither a key nor a SAS" in done.stderr


def test_chunks_parts_of_shards_and_documents_are_written(azure):
    values = numpy.arange(64, dtype="i4").reshape(8, 8)
    with RemoteStore(NAME) as store:
        store.create_array("a", (8, 8), (2, 8), "i4", shards=(8, 8))
        store.create_array("g/b", (8, 8), (2, 8), "i4")
        for path in ("a", "g/b"):
            with Writer(store, path) as writer:
                writer.write((0, 0), (1, 1), values)
            with Writer(store, path) as writer:
                writer.write((3, 0), (1, 1), values[:1] + 100)
    with RemoteStore(NAME) as store:
        store.set_attribute("g/b", "k", "word")
        store.resize("g/b", (4, 8))
        store.move("g", "h")
        store.delete("a")
    expected = values[:4].copy()
    expected[3] = values[0] + 100
    with RemoteStore(NAME) as store:
        assert (store.read("h/b", (4, 8), "i4") == expected).all()
        assert json.loads(store.get("h/b/zarr.json"))["attributes"] == {"k": "word"}
    assert [line.split()[1] for line in run("ls", NAME)[1]] == ["/", "/h", "/h/b"]
    assert not any("/a/" in name or "/g/" in name for name in azure.names())


WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy
from remote_store import RemoteStore, Writer
for row in range(int(sys.argv[3]), 16, 4):
    with RemoteStore(sys.argv[2]) as store, Writer(store, "a") as writer:
        writer.write((row, 0), (1, 1), numpy.full((1, 8), row + 1, "i4"))
"""


def test_programs_that_write_one_shard_lose_nothing(azure):
    with RemoteStore(NAME) as store:
        store.create_array("a", (16, 8), (1, 8), "i4", shards=(16, 8))
    here = os.path.dirname(os.path.abspath(__file__))
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, here, NAME, str(i)]) for i in range(4)]
    assert [writer.wait(timeout=300) for writer in writers] == [0] * 4
    with RemoteStore(NAME) as store:
        assert store.read("a", (16, 8), "i4")[:, 0].tolist() == list(range(1, 17))


def test_what_another_program_has_put_is_not_replaced(azure):
    """A document that another program has changed meanwhile, and an object that goes with the array's end."""
    with RemoteStore(NAME) as store, RemoteStore(NAME) as other:
        store.create_array("a", (8,), (2,), "u1")
        with Writer(store, "a") as writer:
            writer.write((0,), (1,), numpy.ones(8, "u1"))
        other.set_attribute("a", "k", "other")
        store.set_attribute("a", "l", "mine")
        document = json.loads(store.get("a/zarr.json"))
        assert document["attributes"] == {"k": "other", "l": "mine"}
        store.resize("a", (4,))
    assert [name for name in azure.names() if "/c/" in name] == ["w.zarr/a/c/0", "w.zarr/a/c/1"]


def test_a_store_is_copied_and_verified(azure, tmp_path):
    root = make_store(tmp_path / "s.zarr", consolidated=False)
    assert said("copy", root, NAME)[0] == 0
    assert run("ls", NAME)[1] == run("ls", root)[1] and run("verify", NAME)[0] == 0
    assert said("copy", NAME, tmp_path / "back.zarr")[0] == 0
    assert run("ls", tmp_path / "back.zarr")[1] == run("ls", root)[1]


class Forgetful(http.server.BaseHTTPRequestHandler):
    """Passes requests on to Azurite, and the reply of the first put with a condition to nobody."""
    protocol_version = "HTTP/1.1"
    forgot = 0

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        connection = http.client.HTTPConnection(self.server.behind)
        connection.request(self.command, self.path, body, dict(self.headers))
        reply = connection.getresponse()
        content = reply.read()
        if self.command == "PUT" and "If-None-Match" in self.headers and not Forgetful.forgot:
            Forgetful.forgot = reply.status
            self.close_connection = True
            return
        self.send_response(reply.status)
        for name, value in reply.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        self.send_header("Content-Length", reply.getheader("Content-Length") if self.command == "HEAD"
                         else str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_HEAD = do_PUT = do_DELETE = pass_on

    def log_message(self, *words):
        pass


def test_a_lost_reply_is_settled(azure):
    """By the random id that the object keeps: the second try finds the condition broken by the first one."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Forgetful)
    server.behind = urllib.parse.urlsplit(azure.url).netloc
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with RemoteStore(f"{NAME}#endpoint=http://127.0.0.1:{server.server_port}/{ACCOUNT}") as store:
            store.create_group("", {"k": 1})
        assert Forgetful.forgot == 201
    finally:
        server.shutdown()
        server.server_close()
    with RemoteStore(NAME) as store:
        assert json.loads(store.get("zarr.json"))["attributes"] == {"k": 1}


# ---- Accounts


def only(monkeypatch, **variables):
    for name in VARIABLES:
        monkeypatch.delenv("AZURE_STORAGE_" + name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv("AZURE_STORAGE_" + name, value)


@pytest.fixture
def store(azure, tmp_path):
    """A store, and its name with the place of the service."""
    azure.put_store(make_store(tmp_path / "s.zarr", consolidated=False), "s.zarr")
    return f"az://{CONTAINER}/s.zarr#endpoint={azure.url}"


@pytest.mark.parametrize("secret", [
    {"KEY": KEY}, {"ACCESS_KEY": KEY}, {"SAS_TOKEN": "?" + shared_access_signature()},
    {"SAS_TOKEN": shared_access_signature()}], ids=lambda secret: next(iter(secret)))
def test_where_secrets_may_stand(azure, store, monkeypatch, secret):
    only(monkeypatch, ACCOUNT=ACCOUNT, **secret)
    assert run("ls", store)[0] == 0
    status, words = said("copy", store, f"az://{CONTAINER}/t.zarr#endpoint={azure.url}")
    assert status == 0, words


def test_a_sas_in_a_connection_string(azure, store, monkeypatch):
    only(monkeypatch, CONNECTION_STRING=f"AccountName={ACCOUNT};BlobEndpoint={azure.url};"
                                        f"SharedAccessSignature={shared_access_signature()}")
    assert run("ls", f"az://{CONTAINER}/s.zarr")[0] == 0


OTHER_KEY = KEY[:-8] + "AAAAAAA="


@pytest.mark.parametrize("secret, expected", [
    ({"KEY": OTHER_KEY}, "AuthorizationFailure): the account's key is another one"),
    ({"KEY": "canary, no base64"}, "is no base64"),
    ({"SAS_TOKEN": shared_access_signature(expires="2001-01-01T00:00:00Z")}, "SAS) is not valid, has expired"),
    ({"SAS_TOKEN": shared_access_signature() + "#"}, "SAS) is not valid"),
    ({}, "neither a key nor a SAS")])
def test_secrets_that_are_refused_are_in_no_message(azure, store, monkeypatch, secret, expected):
    only(monkeypatch, ACCOUNT=ACCOUNT, **secret)
    status, words = said("ls", store)
    assert status and expected in words, words
    assert not any(text in words for text in (KEY[:12], OTHER_KEY[-12:], "canary", "sig="))


def test_a_sas_that_may_only_read(azure, store, monkeypatch):
    only(monkeypatch, ACCOUNT=ACCOUNT, SAS_TOKEN=shared_access_signature("rl"))
    assert run("ls", store)[0] == 0
    status, words = said("copy", store, f"az://{CONTAINER}/t.zarr#endpoint={azure.url}")
    assert status and "does not allow this" in words


def test_a_public_container_needs_no_account_s_key(azure, tmp_path, monkeypatch):
    azure.make_container("open", {"x-ms-blob-public-access": "container"})
    azure.put_store(make_store(tmp_path / "s.zarr", consolidated=False), "s.zarr", "open")
    name = f"az://open/s.zarr#anon=1&account={ACCOUNT}&endpoint={azure.url}"
    assert run("ls", name) == run("ls", tmp_path / "s.zarr")
    status, words = said("ls", name.replace("open/", CONTAINER + "/"))
    assert status and "the request was not signed" in words, words


def test_secrets_of_one_account_do_not_go_to_another_one(azure, store):
    """The environment's are those of its own account."""
    status, words = said("ls", store + "&account=another")
    assert status and "neither a key nor a SAS" in words, words
    done = run_program("gdalinfo", "ZARR3:" + store, "--config", "AZURE_STORAGE_ACCOUNT", "another")
    assert done.returncode and "neither a key nor a SAS" in done.stderr


def test_what_is_not_there(azure, monkeypatch):
    status, words = said("ls", "az://none/x.zarr")
    assert status and "there is no container 'none'" in words
    status, words = said("ls", f"az://{CONTAINER}/x.zarr")
    assert status and "x.zarr" in words
    only(monkeypatch)
    status, words = said("ls", f"az://{CONTAINER}/x.zarr")
    assert status and "account= in the name" in words


def test_a_dead_lease_is_no_change_by_another_program(azure):
    """A blob that somebody has leased is refused with the status of a condition that does not hold."""
    with RemoteStore(NAME) as store:
        store.create_group("", {"k": 1})
        azure.ask("PUT", f"/{CONTAINER}/w.zarr/zarr.json", "comp=lease",
                  extra={"x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1"})
        try:
            with pytest.raises(ZarrbridgeError, match="LeaseIdMissing"):
                store.set_attribute("", "k", "word")
        finally:
            azure.ask("PUT", f"/{CONTAINER}/w.zarr/zarr.json", "comp=lease",
                      extra={"x-ms-lease-action": "break", "x-ms-lease-break-period": "0"})
