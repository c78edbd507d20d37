# SPDX-License-Identifier: MIT
"""Ctrl-C in programs that use HDF5: it ends what waits for a server or for a lock, in every place where a call waits;
the same handle then tells the truth. What has been begun to change is done to its end."""

import fcntl
import itertools
import os
import queue
import signal
import struct
import subprocess
import sys
import threading

import h5py
import pytest
import zarr

from conftest import make_store
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
    except KeyboardInterrupt: return "KeyboardInterrupt"
    except Exception as error: return f"{type(error).__name__}: {error}"
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
    (OPEN, "list(f)"),
    (OPEN, VISIT),
    (OPEN, "f['below'].attrs['note']"),
    (OPEN, "f['below/deep'].shape"),
    (OPEN, "('below/deep' in f, 'below/none' in f)"),
    (OPEN, "[f[name].name for name in ('below', 'plain')]"),
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
                assert program.answer() == "KeyboardInterrupt", action
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


