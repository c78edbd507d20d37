# SPDX-License-Identifier: MIT
"""Ctrl-C in programs that use HDF5: it ends each call that waits for a server or a lock, and the same handle then
tells the truth. What has been begun to change is done to its end."""

import ctypes
import itertools
import os
import queue
import signal
import subprocess
import sys
import threading

import pytest
import zarr

from conftest import make_store
from held import lock_hierarchy
from remote_store import RemoteStore, ZarrbridgeError, lib
from sims3 import S3
from simserver import Gate, SimServer

NAME = "s3://bucket/s.zarr"

# Lines of Python from the standard input, each of which it answers with a line: an expression's value, or its error.
PROGRAM = r"""
import signal, sys, h5py
told = []
if sys.argv[1] == "own": signal.signal(signal.SIGINT, lambda number, frame: told.append(number))
handler, known = signal.getsignal(signal.SIGINT), {"h5py": h5py, "told": told}
def answer(line):
    try: return repr(eval(line, known))
    except SyntaxError: exec(line, known)
    return "done"
print("ready", flush=True)
while line := sys.stdin.readline():
    try: said = answer(line)
    except BaseException as error: said = f"{type(error).__name__}: {error}"
    assert signal.getsignal(signal.SIGINT) is handler
    print(said.replace("\n", " "), flush=True)
"""
INTERRUPTED = "interrupted"


class Program:
    """Such a program. Its answers are read by a thread, so that one can be waited for besides something else."""

    def __init__(self, handler="own", **environment):
        env = os.environ | {"HDF5_VOL_CONNECTOR": "zarr"} | {k: str(v) for k, v in environment.items()}
        self.process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", PROGRAM, handler], env=env,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True)
        self.answers = queue.Queue()
        self.reader = threading.Thread(target=lambda: [self.answers.put(line) for line in self.process.stdout])
        self.reader.start()
        assert self.answer() == "ready"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.stdin.close()
        if error[0]:
            self.process.kill()
        status = self.process.wait(600)
        self.reader.join()
        assert error[0] or status == 0

    def begin(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self, seconds=Gate.SECONDS):
        return self.answers.get(timeout=seconds).rstrip("\n")

    def tell(self, line):
        self.begin(line)
        return self.answer()

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)


@pytest.fixture
def s3(tmp_path, monkeypatch):
    """A server with a store that is not consolidated."""
    store = make_store(tmp_path / "served/bucket/s.zarr", consolidated=False)
    zarr.open_group(store, mode="r+").attrs["note"] = "outer"
    zarr.open_group(store / "below", mode="r+").attrs["note"] = "inner"
    zarr.open_group(store / "below", mode="r+").create_group("empty")
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    with SimServer(tmp_path / "served", answer=S3({"AKID": "secret"})) as server:
        for name, value in {"HOME": tmp_path, "AWS_ENDPOINT_URL": server.url, "AWS_ACCESS_KEY_ID": "AKID",
                            "AWS_SECRET_ACCESS_KEY": "secret"}.items():
            monkeypatch.setenv(name, str(value))
        server.store = store
        yield server


def hold_one(server, number):
    """A gate for the request of that number from now on."""
    numbers = itertools.count()
    gate = Gate(lambda asked: next(numbers) == number, float("inf"))
    server.gates[:] = [gate]
    return gate


def held_or_answered(program, gate):
    """What the program says, or None once a request of it is held back."""
    while True:
        try:
            return program.answer(0.02)
        except queue.Empty:
            if gate.inside:
                return None


OPEN = f"f = h5py.File('{NAME}', 'r')"
VISIT = "(lambda names: (f.visit(names.append), names))([])[1]"


@pytest.mark.parametrize("before, action", [
    ("", f"(lambda f: (sorted(f.attrs), f.close()))(h5py.File('{NAME}', 'r'))"),
    (OPEN, VISIT),
    (OPEN, "f['below'].attrs['note']"),
    (OPEN, "f['below/deep'].shape"),
    (OPEN, "('below/deep' in f, 'below/none' in f)"),
    (OPEN, "sorted((n, len(v)) for n, v in f['below'].items())"),
    (OPEN, "f['sharded'].id.get_num_chunks()"),
])
def test_each_wait_for_a_server_is_ended(s3, before, action):
    """The server holds back the first request of a call, then the second one, and so on."""
    with Program() as program:
        if before:
            assert program.tell(before) == "done"
        right = program.tell(action)
        assert "Error" not in right
        for number in itertools.count():
            if before:
                assert program.tell("f.close()") == "None" and program.tell(before) == "done"
            gate = hold_one(s3, number)
            program.begin(action)
            said = held_or_answered(program, gate)
            if said is not None:
                assert said == right
                break
            program.interrupt()
            said = program.answer()
            assert INTERRUPTED in said, (number, said)
            gate.open()
            assert program.tell(action) == right, number
        assert number >= 1
        assert program.tell("len(told)") == str(number)


def test_a_call_that_waits_is_a_keyboard_interrupt_of_python(s3):
    with Program("pythons") as program:
        for action in (OPEN, VISIT, "f['below']", "f.attrs['note']"):
            gate = hold_one(s3, 0)
            program.begin(action)
            said = held_or_answered(program, gate)
            if said is None:
                program.interrupt()
                assert program.answer() == "KeyboardInterrupt: ", action
            gate.open()
            assert "Error" not in program.tell(action)


def test_signals_can_be_left_alone(s3):
    with Program(ZARRBRIDGE_INTERRUPT="no") as program:
        gate = hold_one(s3, 0)
        program.begin(OPEN)
        assert held_or_answered(program, gate) is None
        program.interrupt()
        gate.open()
        assert program.answer() == "done" and program.tell("told") == "[2]"


# ---- Requests that several threads wait for


class Stop(ctypes.Structure):
    _fields_ = [("fn", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)), ("context", ctypes.c_void_p)]


lib.zb_thread_may_stop.argtypes, lib.zb_thread_may_stop.restype = [Stop], Stop


class Reader(threading.Thread):
    """Reads a document. It is to stop as soon as `stops` is set; `waits` is set when it begins to wait."""

    def __init__(self, store):
        super().__init__()
        self.store, self.stops, self.waits, self.said = store, threading.Event(), threading.Event(), None
        self.start()

    def ask(self, context):
        self.waits.set()
        return self.stops.is_set()

    def run(self):
        stop = Stop(Stop._fields_[0][1](self.ask), None)
        lib.zb_thread_may_stop(stop)
        try:
            self.store.close_object(self.store.open_object("zarr.json"))
            self.said = "read"
        except ZarrbridgeError as error:
            self.said = str(error)

    def end(self):
        self.join(Gate.SECONDS)
        return self.said


@pytest.mark.parametrize("stopped", ["the one that asks", "the one that shares"])
def test_what_another_thread_waits_for_goes_on(server, stopped):
    """Two threads that ask for one document share one request."""
    make_store(server.folder / "s.zarr")
    with RemoteStore(f"{server.url}/s.zarr") as store:
        gate = server.hold("zarr.json")
        first = Reader(store)
        gate.wait(1)
        second = Reader(store)
        assert second.waits.wait(Gate.SECONDS) and gate.inside == 1
        impatient, patient = (first, second) if stopped == "the one that asks" else (second, first)
        impatient.stops.set()
        assert INTERRUPTED in impatient.end()
        assert patient.is_alive()
        gate.open()
        assert patient.end() == "read"


# ---- Changes


def interrupted(program):
    """The answer of a program that waits for a lock, which nobody sees from outside: it gets signals until then."""
    while True:
        program.interrupt()
        try:
            return program.answer(0.05)
        except queue.Empty:
            pass


@pytest.mark.parametrize("change, look", [
    ("f.create_group('new')", "'new' in f"),
    ("f.create_dataset('new', data=[1, 2, 3])", "'new' in f"),
    ("f.__delitem__('plain')", "'plain' in f"),
    ("f.move('plain', 'moved')", "'plain' in f"),
])
def test_a_change_that_waits_for_its_turn_is_ended(tmp_path, change, look):
    """Nothing of it is made, and it can be made again."""
    path = make_store(tmp_path / "s.zarr", consolidated=False)
    with Program(ZARRBRIDGE_LOCK_SECONDS=100000) as program:
        assert program.tell(f"f = h5py.File('{path}', 'r+')") == "done"
        before = program.tell(look)
        lock = lock_hierarchy(path)
        program.begin(change)
        assert INTERRUPTED in interrupted(program)
        os.close(lock)
        assert program.tell(look) == before
        assert "Error" not in program.tell(change)
        assert program.tell(look) == str(before == "False")
        assert program.tell("f.close()") == "None"
    assert "new" in change or "plain" not in zarr.open_group(path, mode="r")


# A part of each of its three chunks, which waits.
WRITE = "d.__setitem__(slice(1, 10, 4), [{0}, {0} + 1, {0} + 2])"


@pytest.mark.parametrize("end", ["f.flush()", "f.close()", "d.id.flush()",
                                 "(d.id.close(), f.flush())[1]", "(d.id.close(), f.close())[1]"])
def test_what_has_been_written_is_stored_all_the_same(s3, end):
    """Each put is held back in turn while the signal comes. The wait gives a library that would stop the time to do
    so; the right one is not in a hurry."""
    with Program() as program:
        for number in itertools.count():
            assert program.tell(f"f = h5py.File('{NAME}', 'r+'); d = f['plain']") == "done"
            assert program.tell(WRITE.format(number)) == "None"
            gate = hold_one(s3, number)
            program.begin(end)
            said = held_or_answered(program, gate)
            if said is None:
                program.interrupt()
                with pytest.raises(queue.Empty):
                    program.answer(0.5)
                gate.open()
                assert program.answer() == "None", number
            stored = zarr.open_group(s3.store, mode="r")["plain"][1::4]
            assert list(stored) == [number, number + 1, number + 2]
            assert program.tell("f.close()") == "None"
            if said is not None:
                break
        assert number >= 3, "a put of each chunk"


def test_what_has_been_begun_is_made(s3):
    """A dataset is there whole, or not at all, whichever request of its making the signal meets."""
    made = "f.create_dataset('new', data=[1, 2, 3], chunks=(2,)).name"
    with Program() as program:
        assert program.tell(f"f = h5py.File('{NAME}', 'r+')") == "done"
        for number in itertools.count():
            gate = hold_one(s3, number)
            program.begin(made)
            said = held_or_answered(program, gate)
            if said is not None:
                break
            program.interrupt()
            gate.open()
            said = program.answer()
            if INTERRUPTED in said:
                assert program.tell("'new' in f") == "False"
                assert program.tell(made) == "'/new'"
            assert program.tell("(f.flush(), list(f['new']))[1]") in ("[1, 2, 3]", "[np.int64(1), np.int64(2), "
                                                                     "np.int64(3)]")
            assert program.tell("f.__delitem__('new')") == "None"
