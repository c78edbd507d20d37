# SPDX-License-Identifier: MIT
"""Starts actors (README.md) and talks to them."""
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("ZARRBRIDGE_BUILD_DIR", HERE.parents[1] / "build/release"))
PROGRAM = BUILD / "core/zarrbridge"
SHIM = "libzb-fault-shim.so"


class Gone(Exception):
    """The actor's process has ended."""


class Hangs(Exception):
    """The actor did not answer in time."""


class Answer:
    """`ok`, or the kind and the message of the error; the bytes that were read; the duration in
    seconds."""

    seconds = 0.0

    def __init__(self, ok, kind="", text="", data=b""):
        self.ok, self.kind, self.text, self.data = ok, kind, text, data

    def __repr__(self):
        return "ok" if self.ok else f"{self.kind}: {self.text}"


def command_of(kind):
    if kind == "c":
        return [str(BUILD / "tests/actors/zb-actor")]
    return [sys.executable, str(HERE / f"actor_{kind}.py")]


def joined(variable, entry):
    """The entry behind those that the variable has."""
    return ":".join(filter(None, [os.environ.get(variable, ""), entry]))


def environment(kind, sync="none", strategy="rewrite", shards=None, shim=None):
    """Variables of the environment for the plugins and for the shim."""
    options = f"zarr sync={sync};strategy={strategy}" + (f";shards={shards}" if shards else "")
    more = {"HDF5_VOL_CONNECTOR": options,
            "HDF5_PLUGIN_PATH": str(BUILD / "hdf5-vol/plugins"),
            "GDAL_DRIVER_PATH": str(BUILD / "gdal-driver/plugins"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "GDAL_PAM_ENABLED": "NO"}
    if shim:
        # By its name: a space in a path would end an entry of LD_PRELOAD.
        more |= {"LD_PRELOAD": joined("LD_PRELOAD", SHIM),
                 "LD_LIBRARY_PATH": joined("LD_LIBRARY_PATH", str(BUILD / "tests/fault")), **shim}
    return {**os.environ, **more}


class Actor:
    """A process that obeys commands. `prefix` is a command that runs it (setpriv, say)."""

    def __init__(self, kind, prefix=(), **options):
        self.kind = kind
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([*prefix, *command_of(kind)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors, bufsize=0,
                                        env=environment(kind, **options))
        self.buffer = b""

    def _more(self, until):
        fd = self.process.stdout.fileno()
        if not select.select([fd], [], [], max(0.0, until - time.monotonic()))[0]:
            raise Hangs(f"{self.kind} actor {self.process.pid} does not answer")
        piece = os.read(fd, 1 << 20)
        if not piece:
            raise Gone(f"{self.kind} actor {self.process.pid} is gone: {self.said()}")
        self.buffer += piece

    def send(self, *words):
        try:
            self.process.stdin.write((" ".join(map(str, words)) + "\n").encode())
        except BrokenPipeError:
            raise Gone(f"{self.kind} actor {self.process.pid} is gone: {self.said()}") from None

    def receive(self, seconds=300):
        until = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            self._more(until)
        line, _, self.buffer = self.buffer.partition(b"\n")
        what, _, rest = line.decode(errors="replace").partition(" ")
        if what == "error":
            kind, _, text = rest.partition(" ")
            if kind == "USAGE":
                raise ValueError(text)
            return Answer(False, kind, text)
        size = int(rest) if what == "bytes" else 0
        while len(self.buffer) < size:
            self._more(until)
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return Answer(True, data=data)

    def ask(self, *words, seconds=300):
        begin = time.monotonic()
        self.send(*words)
        answer = self.receive(seconds)
        answer.seconds = time.monotonic() - begin
        return answer

    def said(self):
        """The end of its standard error."""
        self.errors.flush()
        self.errors.seek(0)
        return self.errors.read()[-2000:].decode(errors="replace")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        """Closes its input, so that it ends; returns its exit status."""
        self.process.stdin.close()
        try:
            return self.process.wait(300)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Hangs(f"{self.kind} actor does not end") from None
