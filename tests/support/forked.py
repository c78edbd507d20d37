# SPDX-License-Identifier: MIT
"""Runs Python code as `python -c` does, in a child that is forked from a server: an interpreter that has started
once and loaded what takes most of the time. run() is the only function of interest to tests.

What has an effect on other programs happens in the child: it gets the environment, imports h5py and GDAL, which
initialises HDF5 and loads plugins, and ends as any interpreter does. The server only imports modules that read nothing
of that, and links libhdf5 and libgdal. Tests of how processes start, of their memory, or of threads at a fork, start
real ones (subprocess).

A server runs one child at a time; a test program has one for each set of interpreter options and of variables that
are read when a process starts, and more only for children that run side by side. All end with the test program."""
import atexit
import builtins
import collections
import contextlib
import ctypes
import gc
import importlib
import importlib.util
import json
import linecache
import os
import pathlib
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time
import types

# What the loader, the C library and the interpreter read before the code runs, and the imported modules.
AT_START = ("ASAN_", "GLIBC_", "LANG", "LC_", "LD_", "LSAN_", "MALLOC_", "NUMPY_", "OMP_", "OPENBLAS_", "OPENSSL_",
            "PYTHON", "TSAN_", "TZ", "UBSAN_", "ZARR_")
MODULES = ("numpy", "zarr")
LIBRARIES = {"h5py": "h5f.*.so", "osgeo": "_gdal.*.so"}
WITHOUT_THREADS = {"OPENBLAS_NUM_THREADS": "1"}  # which numpy starts where it is built with OpenBLAS
PID = struct.Struct("i")


# ---- The test program's side


class Server:
    idle = collections.defaultdict(list)  # by its command and what it has read at its start

    def __init__(self, command, environment):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen([*command, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()],
                                            env=environment | WITHOUT_THREADS, stdout=subprocess.PIPE)
        atexit.register(self.end)

    def end(self):
        self.socket.close()
        self.process.wait()

    def start(self, request, output, errors):
        """The number of the child, whose output goes to these files."""
        with open(os.memfd_create("request"), "w+", encoding="utf-8") as file:
            json.dump(request, file)
            file.flush()
            socket.send_fds(self.socket, [b"."], [file.fileno(), 0, output, errors])
        return self.receive()

    def receive(self):
        message = self.socket.recv(PID.size)
        assert message, "the server of child Pythons has ended"
        return PID.unpack(message)[0]


def run(code, *arguments, python=sys.executable, options=("-W", "ignore"), env=None, cwd=None, timeout=None):
    """As subprocess.run([python, *options, "-c", code, *arguments], capture_output=True, text=True, ...)."""
    command = (str(python), *options)
    environment = {name: os.fspath(value) for name, value in (os.environ if env is None else env).items()}
    request = {"code": code, "arguments": [str(word) for word in arguments], "environment": environment,
               "folder": os.path.abspath(cwd or ".")}
    idle = Server.idle[command, tuple(sorted(pair for pair in environment.items() if pair[0].startswith(AT_START)))]
    server = idle.pop() if idle else Server(command, environment)
    (output, to_output), (errors, to_errors) = os.pipe(), os.pipe()
    try:
        child = server.start(request, to_output, to_errors)
    finally:
        os.close(to_output)
        os.close(to_errors)
    try:
        said = read_all([output, errors], timeout)
    except TimeoutError:
        os.kill(child, signal.SIGKILL)
        raise subprocess.TimeoutExpired([*command, "-c", code, *arguments], timeout) from None
    finally:
        os.close(output)
        os.close(errors)
        status = server.receive()
        idle.append(server)
    return subprocess.CompletedProcess([*command, "-c", code, *arguments], os.waitstatus_to_exitcode(status), *said)


def read_all(pipes, timeout):
    """The text that comes from each, until they end."""
    end = None if timeout is None else time.monotonic() + timeout
    found = {pipe: [] for pipe in pipes}
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(None if end is None else max(0, end - time.monotonic()))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                found[key.fd].append(os.read(key.fd, 1 << 16))
                if not found[key.fd][-1]:
                    selector.unregister(key.fd)
    return [b"".join(found[pipe]).decode().replace("\r\n", "\n") for pipe in pipes]


# ---- The server's side


def load(code):
    """Imports and links what the code is going to name. Modules stay out of collections of garbage: one at the end
    of each child would copy them all."""
    for name in MODULES:
        if name in code or name == "numpy":  # which h5py needs
            with contextlib.suppress(ImportError):  # the child tells
                importlib.import_module(name)
    for name in [name for name in LIBRARIES if name in code]:
        pattern, spec = LIBRARIES.pop(name), importlib.util.find_spec(name)
        # Debian has h5py for HDF5 with and without MPI, mpi and serial, and imports the latter.
        for path in sorted(pathlib.Path(spec.origin).parent.rglob(pattern))[-1:] if spec else []:
            ctypes.CDLL(path)
    gc.collect()
    gc.freeze()


def serve(descriptor):
    """Returns in each child, with the code that it runs as __main__."""
    with socket.socket(fileno=descriptor) as tests:
        while True:
            message, descriptors, _, _ = socket.recv_fds(tests, 1, 4)
            if not message:
                os._exit(0)
            with open(descriptors[0], encoding="utf-8") as file:
                file.seek(0)
                request = json.load(file)
            load(request["code"])
            assert len(os.listdir("/proc/self/task")) == 1, "a child would lack threads of its server"
            child = os.fork()
            if child == 0:
                break
            for one in descriptors[1:]:
                os.close(one)
            tests.send(PID.pack(child))
            tests.send(PID.pack(os.waitpid(child, 0)[1]))
    return become(request, descriptors[1:])


def become(request, descriptors):
    for number, one in enumerate(descriptors):
        os.dup2(one, number)
        os.close(one)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv[:] = ["-c", *request["arguments"]]
    sys.path[0] = ""
    # A module of its own, which is not frozen: what the code leaves in it goes at the end, as in any interpreter.
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__builtins__ = builtins
    code = request["code"]
    linecache.cache["<string>"] = (len(code), None, code.splitlines(True), "<string>")  # for tracebacks
    return compile(code, "<string>", "exec", dont_inherit=True), main.__dict__


if __name__ == "__main__":
    exec(*serve(int(sys.argv[1])))
