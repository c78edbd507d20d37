# SPDX-License-Identifier: MIT
"""Azurite, the emulator of Azure Blob Storage, with requests of our own to it: tools/s3-peers installs it."""

import base64
import datetime
import hashlib
import hmac
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from simserver import free_port

PROGRAM = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"]) / "build/s3-peers/azurite/node_modules/.bin/azurite-blob"
VERSION = "2021-12-02"
ACCOUNT, CONTAINER = "testing", "box"
KEY = base64.b64encode(b"canary of a key that is no other's").decode()


def find():
    found = shutil.which(PROGRAM) or shutil.which("azurite-blob")
    return found if found and shutil.which("node") else None


def sign(text):
    return base64.b64encode(hmac.digest(base64.b64decode(KEY), text.encode(), hashlib.sha256)).decode()


def shared_access_signature(permissions="rwdlac", expires="2099-01-01T00:00:00Z"):
    """Of the account: a query."""
    fields = {"sp": permissions, "ss": "b", "srt": "sco", "st": "", "se": expires, "sip": "", "spr": "", "sv": VERSION,
              "ses": ""}
    text = "".join(word + "\n" for word in [ACCOUNT, *fields.values()])
    return urllib.parse.urlencode({k: v for k, v in fields.items() if v} | {"sig": sign(text)})


class Azurite:
    def __init__(self, folder):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/{ACCOUNT}"
        environment = {k: v for k, v in os.environ.items()
                       if k not in ("LD_PRELOAD", "PYTHONPATH", "PYTHONHOME") and not k.startswith("AZURE_")}
        self.log = folder / "log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [find(), "--inMemoryPersistence", "--silent", "--disableTelemetry", "--blobHost", "127.0.0.1",
                 "--blobPort", str(port)],
                stdout=log, stderr=log, cwd=folder, env=environment | {"AZURITE_ACCOUNTS": f"{ACCOUNT}:{KEY}"})

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def wait(self):
        """Until it answers: False where it has ended."""
        for left in range(600, -1, -1):
            try:
                self.make_container(CONTAINER)
                return True
            except OSError as failure:
                if self.process.poll() is not None:
                    return False
                assert left and not isinstance(failure, urllib.error.HTTPError), failure
                time.sleep(0.1)

    def ask(self, method, path, query="", data=None, extra=()):
        """The reply's headers and body. query: its names sorted, nothing in it encoded."""
        date = datetime.datetime.now(datetime.timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT")
        own = {"x-ms-date": date, "x-ms-version": VERSION} | dict(extra)
        kind = "application/octet-stream" if data is not None else ""
        whole = urllib.parse.urlsplit(self.url).path + path
        text = "\n".join([method, "", "", str(len(data)) if data else "", "", kind, "", "", "", "", "", ""]) + "\n"
        text += "".join(f"{name}:{own[name]}\n" for name in sorted(own))
        text += f"/{ACCOUNT}{whole}" + "".join("\n" + word.replace("=", ":", 1) for word in query.split("&") if word)
        headers = own | {"Authorization": f"SharedKey {ACCOUNT}:{sign(text)}"} | ({"Content-Type": kind} if kind else {})
        request = urllib.request.Request(f"{self.url}{path}?{query}".rstrip("?"), data=data, method=method,
                                         headers=headers)
        with urllib.request.urlopen(request, timeout=30) as reply:
            return reply.headers, reply.read()

    def make_container(self, name, extra=()):
        self.ask("PUT", "/" + name, "restype=container", extra=extra)

    def put(self, key, data, container=CONTAINER):
        path = f"/{container}/" + urllib.parse.quote(key, safe="/-_.~")
        self.ask("PUT", path, data=data, extra={"x-ms-blob-type": "BlockBlob"})

    def put_store(self, root, prefix, container=CONTAINER):
        for path in root.rglob("*"):
            if path.is_file():
                self.put(f"{prefix}/{path.relative_to(root)}", path.read_bytes(), container)

    def names(self):
        text = self.ask("GET", "/" + CONTAINER, "comp=list&restype=container")[1].decode()
        return [part.split("</Name>")[0] for part in text.split("<Name>")[1:]]
