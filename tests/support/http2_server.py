# SPDX-License-Identifier: MIT
"""A web server that speaks HTTP/2, for tests: files of a folder, with ranges. Needs hypercorn.

    http2_server.py FOLDER CERTIFICATE KEY [--keep-alive SECONDS] [PROTOCOL ...]

prints its URL, and serves until its standard input ends. The protocols, in the order of preference, are those that it
offers in the handshake (ALPN): h2 and http/1.1. A GET of /.log answers with the requests since the last one, each as
[path, version of HTTP, connection]. Below /unsized no length is told; below /cut the first reply for each file, of
those that are longer than half of PIECE, is broken off behind its first half: its connection ends when it has been
kept alive for so long."""
import argparse
import asyncio
import json
import os
import pathlib
import re
import socket
import sys
import threading

from hypercorn.asyncio import serve
from hypercorn.config import Config

PIECE = 65536


class Files:
    def __init__(self, folder):
        self.folder, self.log, self.cut = pathlib.Path(folder), [], set()

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            await self.answer(scope, send)

    async def answer(self, scope, send):
        path = scope["path"]
        if path == "/.log":
            log, self.log = self.log, []
            return await self.reply(send, 200, json.dumps(log).encode())
        self.log.append([path, scope["http_version"], scope["client"][1]])
        kind, _, name = path[1:].partition("/")
        file = self.folder / (name if kind in ("unsized", "cut") else path[1:])
        if not file.is_file():
            return await self.reply(send, 404, b"")
        content = file.read_bytes()
        wanted = re.fullmatch(rb"bytes=(\d*)-(\d*)", dict(scope["headers"]).get(b"range", b""))
        status, headers = 200, [(b"etag", b'"%d"' % file.stat().st_mtime_ns)]
        if wanted:
            first, last = (int(number) if number else None for number in wanted.groups())
            begin = max(0, len(content) - last) if first is None else first
            end = len(content) if first is None or last is None else min(len(content), last + 1)
            status = 206
            headers.append((b"content-range", b"bytes %d-%d/%d" % (begin, end - 1, len(content))))
            content = content[begin:end]
        if kind == "cut" and path not in self.cut and len(content) > PIECE // 2:
            self.cut.add(path)
            await self.begin(send, status, [*headers, (b"content-length", b"%d" % len(content))])
            await send({"type": "http.response.body", "body": content[:len(content) // 2], "more_body": True})
            raise ConnectionError("broken off")
        return await self.reply(send, status, content, headers, kind != "unsized" and scope["method"] != "HEAD")

    async def begin(self, send, status, headers):
        await send({"type": "http.response.start", "status": status, "headers": headers})

    async def reply(self, send, status, content, headers=(), sized=True):
        await self.begin(send, status, [*headers, (b"content-length", b"%d" % len(content))] if sized else [*headers])
        for at in range(0, len(content), PIECE):
            await send({"type": "http.response.body", "body": content[at:at + PIECE], "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def end_with_input():
    """At once: connections that clients keep would hold up hypercorn's own end."""
    sys.stdin.read()
    os._exit(0)


def main():
    parser = argparse.ArgumentParser()
    for name in ("folder", "certificate", "key"):
        parser.add_argument(name)
    parser.add_argument("--keep-alive", type=float, default=3600)
    parser.add_argument("protocols", nargs="*")
    arguments = parser.parse_args()
    listening = socket.create_server(("127.0.0.1", 0))
    config = Config()
    config.bind = [f"fd://{listening.fileno()}"]
    config.certfile, config.keyfile, config.errorlog = arguments.certificate, arguments.key, None
    config.alpn_protocols = arguments.protocols or ["h2", "http/1.1"]
    config.keep_alive_timeout = arguments.keep_alive
    print(f"https://localhost:{listening.getsockname()[1]}", flush=True)
    threading.Thread(target=end_with_input, daemon=True).start()
    asyncio.run(serve(Files(arguments.folder), config))


if __name__ == "__main__":
    main()
