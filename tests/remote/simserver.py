# SPDX-License-Identifier: MIT
"""A web server for tests and benchmarks, on loopback: files of a folder, with ranges and ETags, behind
a simulated link, and with faults on demand.

In a test:

    with SimServer(folder, rtt=0.05, bandwidth=200e6) as server:
        server.fault("/x.zarr/c/", "status", code=503, times=2)
        ... server.url ...
        server.log      # a Request for each request

As a program: simserver.py FOLDER [--port N] [--rtt S] [--bandwidth BYTES/S] [--handshake N] [--mapped];
it prints its URL. A GET of /.count answers how many requests there were since the last one, their
bytes, and how many found their condition broken. `mapped` maps files in place of reading them for each request: for links of more than 500 MB/s, and
files that nobody changes.

The link: each reply begins one round trip after its request; a new connection takes one more, with TLS
two (`handshake`); bytes of all replies together go at the bandwidth, and bytes of requests at the same in
the other direction."""

import argparse
import contextlib
import dataclasses
import email.utils
import gzip
import http.server
import json
import mmap
import pathlib
import random
import re
import socket
import ssl
import struct
import subprocess
import threading
import time
import urllib.parse

PIECE = 65536


@dataclasses.dataclass
class Request:
    method: str
    path: str  # decoded, with leading slash, without the query
    query: str
    headers: dict
    status: int = 0
    sent: int = 0  # bytes of the reply's body
    taken: int = 0  # of the request's
    connection: int = 0
    begun: float = 0.0
    ended: float = 0.0  # when the last of the reply was about to go: a client cannot go on before

    @property
    def range(self):
        return self.headers.get("range")


@dataclasses.dataclass
class Fault:
    prefix: str
    kind: str
    times: float  # requests that it still is for
    skip: int  # requests before it begins
    method: str
    chance: float
    options: dict


def free_port():
    """A port for a server that binds it itself, in a while. The kernel must not give it to a connection or to another
    server meanwhile, so that it is outside the range from which those come."""
    first = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.randrange(max(1024, first - 16384), first)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Gate:
    """Holds replies back until `count` of them wait at once, or until it is opened; from then on they pass. What
    begins together is seen by that, however late a thread or a process comes to its turn. The first wait that is
    too long opens it, and `was_met` says that so many never came. A client must have more patience: a request that
    it gives up and sends again counts twice."""

    SECONDS = 300  # of a server or a client that is waited for, on the slowest machine

    def __init__(self, chooses, count):
        self.chooses, self.count = chooses, count  # chooses: whether a request is held back
        self.inside, self.most, self.is_open, self.was_met = 0, 0, False, False
        self.changed = threading.Condition()  # its lock can be taken again by the thread that has it

    def enter(self):
        with self.changed:
            self.inside += 1
            self.most = max(self.most, self.inside)
            if not self.is_open:
                self.is_open = self.was_met = self.inside >= self.count
            self.changed.notify_all()
            if not self.changed.wait_for(lambda: self.is_open, self.SECONDS):
                self.open()
            self.inside -= 1

    def wait(self, count=1):
        """Until so many are held back."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.inside >= count, self.SECONDS), f"{self.inside} of {count} came"

    def open(self):
        with self.changed:
            self.is_open = True
            self.changed.notify_all()


class Link:
    """One direction, shared by all replies or requests: hands out the moments at which bytes have gone through."""

    # Seconds. A link does not wait for the thread that looks at what it has carried: bytes that follow others
    # went on while the thread was late, up to what lies in the buffers of the two sides.
    LATE = 0.005

    def __init__(self, bandwidth):
        self.bandwidth = bandwidth
        self.piece = max(PIECE, int((bandwidth or 0) / 1000))  # of a millisecond at least
        self.free = 0.0
        self.lock = threading.Lock()

    def carry(self, count, before=None):
        """Returns the moment at which the bytes have arrived. before: that of the bytes before them, of the
        same body."""
        if not self.bandwidth:
            return None
        with self.lock:
            now = time.monotonic()
            begun = now if before is None else min(now, max(before, now - self.LATE))
            arrival = self.free = max(self.free, begun) + count / self.bandwidth
        pause = arrival - time.monotonic()
        if pause > 0.0005:
            time.sleep(pause)
        return arrival


@dataclasses.dataclass
class Reply:
    status: int
    headers: dict
    data: object = b""  # bytes or a memoryview
    cut: object = None  # bytes of the body after which the connection ends
    rate: object = None  # bytes a second


def parse_range(text, size):
    """(first, last) of one range; None for what is to be ignored; False: not satisfiable."""
    match = re.fullmatch(r"bytes=(\d*)-(\d*)", text or "")
    if not match or match.group() == "bytes=-":
        return None
    first, last = match.groups()
    if not first:
        count = min(int(last), size)
        return (size - count, size - 1) if count else False
    first = int(first)
    last = min(int(last), size - 1) if last else size - 1
    return (first, last) if first <= last else False


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 60

    def setup(self):
        super().setup()
        with self.server.sim.lock:
            self.server.sim.connections += 1
            self.number = self.server.sim.connections
        self.is_new = True

    def log_message(self, *arguments):
        pass

    # ---- requests

    def do_GET(self):
        sim = self.server.sim
        parts = urllib.parse.urlsplit(self.path)
        request = Request(self.command, urllib.parse.unquote(parts.path), parts.query,
                          {name.lower(): value for name, value in self.headers.items()},
                          connection=self.number, begun=time.monotonic())
        trips = 1 + (sim.handshake if self.is_new else 0)
        self.is_new = False
        fault = sim.take_fault(request)
        with sim.lock:
            sim.log.append(request)
            sim.busy += 1
            sim.most_busy = max(sim.most_busy, sim.busy)
            gates = [gate for gate in sim.gates if gate.chooses(request)]
        for gate in gates:
            gate.enter()
        if sim.rtt:
            time.sleep(sim.rtt * trips)
        try:
            if fault and not self.before_reply(fault):
                return
            reply = self.answer(request)
            if fault:
                reply = self.spoil(fault, request, reply)
            if reply:
                self.send(request, reply)
        except OSError:
            self.close_connection = True
        finally:
            self.ends(request)

    do_HEAD = do_PUT = do_POST = do_DELETE = do_GET

    def ends(self, request):
        """Called before the last of the reply goes, after which the client may go on: what this thread
        does later counts for nothing."""
        with self.server.sim.lock:
            if not request.ended:
                request.ended = time.monotonic()
                self.server.sim.busy -= 1

    def read_body(self):
        """Of the request, whole: of a client that has gone none."""
        body, at = bytearray(int(self.headers.get("Content-Length") or 0)), 0
        uplink, arrival = self.server.sim.uplink, None
        while at < len(body):
            piece = memoryview(body)[at:at + uplink.piece]
            got = self.rfile.readinto(piece)
            if got < len(piece):
                raise ConnectionError("the client has gone")
            arrival = uplink.carry(got, arrival)
            at += got
        return body

    def answer(self, request):
        sim = self.server.sim
        if sim.answer:  # a server of another kind, built on this one
            reply = sim.answer(self, request)
            if reply is not None:
                return reply
        if request.method not in ("GET", "HEAD"):
            return Reply(405, {}, b"no")
        path = sim.path_of(request.path)
        try:
            data = sim.content(path)
            stat = path.stat()
        except OSError:
            return Reply(404, {"Content-Type": "text/plain"}, b"there is nothing here\n")
        return self.answer_data(request, data, stat)

    def answer_data(self, request, data, stat):
        sim = self.server.sim
        tag = sim.etag_of(stat)
        headers = {"Content-Type": "application/octet-stream"}
        if tag:
            headers["ETag"] = tag
        if sim.last_modified:
            headers["Last-Modified"] = email.utils.formatdate(stat.st_mtime, usegmt=True)
        asked = request.headers
        if "if-match" in asked and tag not in [t.strip() for t in asked["if-match"].split(",")]:
            return Reply(412, {}, b"changed\n")
        if tag and asked.get("if-none-match") == tag:
            return Reply(304, headers)
        span = parse_range(asked.get("range"), len(data)) if sim.ranges else None
        if span is False:
            return Reply(416, {"Content-Range": f"bytes */{len(data)}"} | headers, b"no such range\n")
        if span:
            headers["Content-Range"] = f"bytes {span[0]}-{span[1]}/{len(data)}"
            return Reply(206, headers, memoryview(data)[span[0]:span[1] + 1])
        return Reply(200, headers, data)

    # ---- faults

    def reset(self):
        """The connection ends as when a machine goes down."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raw = self.connection
        self.close_connection = True
        raw.close()

    def before_reply(self, fault):
        """False: there is no reply."""
        if fault.kind == "reset":
            self.wfile.flush()
            self.reset()
            return False
        if fault.kind == "kill" and not fault.options["served"]:
            fault.options["kill"]()
            self.close_connection = True
            return False
        if fault.kind == "hang":
            time.sleep(fault.options.get("seconds", 3600))
        if fault.kind == "raw":
            self.close_connection = True
            for piece in fault.options["pieces"]:
                self.wfile.write(piece)
            return False
        return True

    def spoil(self, fault, request, reply):
        options = fault.options
        if fault.kind == "status":
            reply = Reply(options["code"], dict(options.get("headers", {})),
                          options.get("body", b"trouble\n"))
        elif fault.kind == "headers":  # changes some; None takes one away
            for name, value in options["headers"].items():
                reply.headers.pop(name, None)
                if value is not None:
                    reply.headers[name] = value
        elif fault.kind == "lost":  # it was carried out, and the connection ends without a word
            self.close_connection = True
            return None
        elif fault.kind == "cut":
            reply.cut = options.get("after", 0)
        elif fault.kind == "slow":
            reply.rate = options["rate"]
        elif fault.kind == "short" and reply.status == 206:
            first = int(re.match(r"bytes (\d+)-", reply.headers["Content-Range"]).group(1))
            size = reply.headers["Content-Range"].split("/")[1]
            reply.data = reply.data[:options["bytes"]]
            reply.headers["Content-Range"] = f"bytes {first}-{first + len(reply.data) - 1}/{size}"
        elif fault.kind == "whole":  # takes no notice of the range
            del request.headers["range"]
            reply = self.answer(request)
        elif fault.kind == "gzip":
            reply.data = gzip.compress(bytes(reply.data))
            reply.headers["Content-Encoding"] = "gzip"
        elif fault.kind == "body":
            reply.data = options["body"]
            reply.headers |= options.get("headers", {})
        elif fault.kind == "kill":  # nobody hears it
            options["kill"]()
            self.close_connection = True
            return None
        return reply

    # ---- sending

    def send(self, request, reply):
        sim = self.server.sim
        request.status = reply.status
        headers = {"Content-Length": str(len(reply.data))} | reply.headers
        self.send_response(reply.status)
        for name, value in headers.items():
            if value is not None:
                self.send_header(name, value)
        if "Content-Length" not in {n for n, v in headers.items() if v is not None} \
                and "Transfer-Encoding" not in headers:
            self.close_connection = True
            self.send_header("Connection", "close")
        has_body = request.method != "HEAD" and reply.status != 304
        data = memoryview(reply.data if has_body else b"")
        end = len(data) if reply.cut is None else min(reply.cut, len(data))
        if end == 0:
            self.ends(request)
        self.end_headers()
        piece = sim.link.piece if not reply.rate else max(1, int(reply.rate / 20))
        arrival = None
        for at in range(0, end, piece):
            part = data[at:min(at + piece, end)]
            arrival = sim.link.carry(len(part), arrival)
            request.sent += len(part)
            if at + piece >= end:
                self.ends(request)
            self.wfile.write(part)
            if reply.rate:
                time.sleep(len(part) / reply.rate)
        if has_body and reply.cut is not None:
            self.wfile.flush()
            self.reset()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def get_request(self):
        connection, address = super().get_request()
        if self.sim.context:
            connection = self.sim.context.wrap_socket(connection, server_side=True,
                                                      do_handshake_on_connect=False)
        return connection, address

    def handle_error(self, request, client_address):
        pass  # clients go away


class SimServer:
    """etag: "strong", "weak" or None. answer: called with the handler and each request; a Reply that
    it returns is sent. certificate: (file, key) for TLS."""

    def __init__(self, folder, rtt=0.0, bandwidth=None, etag="strong", last_modified=True,
                 ranges=True, answer=None, certificate=None, port=0, handshake=None,
                 mapped=False):
        self.mapped = mapped
        self.folder = pathlib.Path(folder)
        self.rtt, self.link, self.uplink = rtt, Link(bandwidth), Link(bandwidth)
        self.etag, self.last_modified, self.ranges = etag, last_modified, ranges
        self.answer, self.port = answer, port
        self.tls = bool(certificate)
        self.handshake = handshake if handshake is not None else 2 if certificate else 1
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*map(str, certificate))
        self.lock = threading.Lock()
        self.log, self.faults, self.gates, self.connections = [], [], [], 0
        self.busy = self.most_busy = 0  # requests at once
        self.random = random.Random(1)
        self.server = self.thread = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.stop()

    ports = set()  # of this process

    def listen(self):
        """On a port that no server of this process has had: the library remembers what a server can do."""
        refused = []
        while True:
            server = Server(("127.0.0.1", self.port), Handler)
            if self.port or server.server_address[1] not in self.ports:
                break
            refused.append(server)
        for other in refused:
            other.server_close()
        self.ports.add(server.server_address[1])
        return server

    def start(self):
        self.server = self.listen()
        self.server.sim = self
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever,
                                       kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def stop(self):
        for gate in self.gates:
            gate.open()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    @property
    def url(self):
        name = "localhost" if self.tls else "127.0.0.1"
        return f"{'https' if self.tls else 'http'}://{name}:{self.port}"

    def path_of(self, path):
        parts = [part for part in path.split("/") if part]
        return self.folder.joinpath(*parts) if ".." not in parts else self.folder / "no"

    def content(self, path):
        if not self.mapped or not path.stat().st_size:
            return path.read_bytes()
        with open(path, "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def etag_of(self, stat):
        if not self.etag:
            return None
        tag = f'"{stat.st_ino:x}-{stat.st_mtime_ns:x}-{stat.st_size:x}"'
        return "W/" + tag if self.etag == "weak" else tag

    # ---- faults and log

    def fault(self, prefix, kind, times=float("inf"), skip=0, method="GET", chance=1.0, **options):
        """For requests whose path begins with the prefix: the first `skip` are spared, the next `times`
        meet it, each by this chance. method: None for any. "kill" calls `kill` before the request is carried
        out, or after, when it is `served`."""
        added = Fault(prefix, kind, times, skip, method, chance, options)
        with self.lock:
            self.faults.append(added)
        return added

    def heal(self):
        with self.lock:
            self.faults.clear()

    def hold(self, pattern="", method="GET", count=float("inf")):
        """A gate for requests in whose path the pattern is found."""
        gate = Gate(lambda asked: asked.method == method and re.search(pattern, asked.path), count)
        with self.lock:
            self.gates.append(gate)
        return gate

    def hold_first(self, pattern, methods):
        """A gate that holds back one request alone: the first of these methods in whose path the pattern is."""
        left = iter([True])
        gate = Gate(lambda asked: asked.method in methods and re.search(pattern, asked.path) and next(left, False),
                    float("inf"))
        with self.lock:
            self.gates.append(gate)
        return gate

    def take_fault(self, request):
        with self.lock:
            for fault in self.faults:
                if not request.path.startswith(fault.prefix) or fault.method not in (None, request.method):
                    continue
                if fault.chance < 1 and self.random.random() >= fault.chance:
                    continue
                if fault.skip > 0:
                    fault.skip -= 1
                elif fault.times > 0:
                    fault.times -= 1
                    return fault
        return None

    def take_log(self):
        """The requests since the last call."""
        with self.lock:
            taken, self.log = self.log, []
        return taken


def make_certificate(folder):
    """(file, key) of a certificate for localhost that is its own authority."""
    file, key = pathlib.Path(folder, "cert.pem"), pathlib.Path(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                    "-keyout", key, "-out", file], check=True, capture_output=True)
    return file, key


def count(handler, request):
    """The answer to /.count."""
    sim = handler.server.sim
    if request.path != "/.count":
        return None
    log = [asked for asked in sim.take_log() if asked is not request]
    answer = {"requests": len(log), "bytes": sum(asked.sent for asked in log),
              "taken": sum(asked.taken for asked in log),
              "conflicts": sum(asked.status == 412 for asked in log)}
    return Reply(200, {}, json.dumps(answer).encode())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--rtt", type=float, default=0.0)
    parser.add_argument("--bandwidth", type=float)
    parser.add_argument("--handshake", type=int)
    parser.add_argument("--mapped", action="store_true")
    chosen = parser.parse_args()
    with SimServer(chosen.folder, chosen.rtt, chosen.bandwidth, port=chosen.port, answer=count,
                   handshake=chosen.handshake, mapped=chosen.mapped) as server:
        print(server.url, flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
