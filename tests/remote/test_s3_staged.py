# SPDX-License-Identifier: MIT
"""New stores in S3: chunks go there at once, documents when the store is flushed or closed, the root's last. Of two
programs that make one store one fails, and touches nothing of the other's."""

import os
import subprocess
import sys

import numpy as np
import pytest
import zarr

from test_s3_killed import elements, objects
from test_s3_writing import serve  # noqa: F401  (a fixture)

NAME = "s3://bucket/x.zarr"
NOTE = ".zarrbridge-copy"

STEPS = """
import sys, h5py, numpy
sys.stdin.reconfigure(line_buffering=True)
def wait(word):
    print(word, flush=True)
    sys.stdin.readline()
file = h5py.File(sys.argv[1], "w")
group = file.create_group("g")
group.attrs["k"] = "word"
for i in range(3):
    file.create_dataset(f"g/a{i}", data=numpy.full((8, 8), int(sys.argv[2]) + i), chunks=(2, 8))
    file[f"g/a{i}"].flush()
    wait(f"written {i}")
file.flush()
wait("flushed")
file["late"] = numpy.arange(3)
try:
    file.flush()
finally:
    wait("flushed again")
file.close()
"""


class Maker:
    """A program that makes the store, step by step."""

    def __init__(self, value, program=STEPS):
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", program, NAME, str(value)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"HDF5_VOL_CONNECTOR": "zarr"})

    def until(self, word):
        while (line := self.process.stdout.readline().strip()) != word:
            assert line, self.process.communicate()[1]
            self.go()

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self):
        """The status, and what was said of errors."""
        said = self.process.communicate("\n" * 10)[1]
        return self.process.returncode, said


def made(value):
    return {f"g/a{i}": np.full((8, 8), value + i).tolist() for i in range(3)}


def test_it_is_there_when_it_is_flushed(serve):  # noqa: F811
    server = serve()
    place, maker = server.bucket / "x.zarr", Maker(1)
    maker.until("written 1")
    assert [key for key in objects(place) if key.endswith("zarr.json")] == [] and NOTE in objects(place)
    assert any("g/a1/c/" in key for key in objects(place)), "chunks wait for the documents"
    server.take_log()
    maker.go()
    maker.until("flushed")
    assert elements(place) == made(1) and NOTE not in objects(place)
    assert zarr.open_group(place, mode="r")["g"].attrs["k"] == "word"
    puts = [request.path for request in server.take_log() if request.method == "PUT" and "zarr.json" in request.path]
    assert len(puts) == 5 and puts[-1] == "/bucket/x.zarr/zarr.json"
    maker.go()
    maker.until("flushed again")
    assert elements(place)["late"] == [0, 1, 2]
    assert maker.end()[0] == 0


@pytest.mark.parametrize("step", [f"written {i}" for i in range(3)])
def test_of_two_programs_one_fails(serve, step):  # noqa: F811
    """The later one takes the place over; the other one puts nothing more, and erases nothing."""
    server = serve()
    place, first = server.bucket / "x.zarr", Maker(1)
    first.until(step)
    second = Maker(100)
    second.until("written 1")
    first.go()
    status, said = first.end()
    assert status != 0 and "another program makes a store there" in said
    assert second.end()[0] == 0
    assert elements(place) == made(100) | {"late": [0, 1, 2]} and NOTE not in objects(place)


def test_a_store_that_another_program_has_finished_stays(serve):  # noqa: F811
    server = serve()
    place, first = server.bucket / "x.zarr", Maker(1)
    first.until("written 2")
    assert Maker(100).end()[0] == 0
    status, said = first.end()
    assert status != 0 and "another program makes a store there" in said
    assert elements(place) == made(100) | {"late": [0, 1, 2]}


def test_a_first_chunk_that_comes_late_replaces_nothing(serve):  # noqa: F811
    """The other program has begun later, and is done: its marker has gone."""
    server = serve()
    place, late = server.bucket / "x.zarr", Maker(1, STEPS.replace("group =", 'wait("open")\ngroup ='))
    late.until("open")
    assert Maker(100).end()[0] == 0
    status, said = late.end()
    assert status != 0 and "another program makes a store there" in said
    assert elements(place) == made(100) | {"late": [0, 1, 2]} and NOTE not in objects(place)


@pytest.mark.parametrize("document", ["g/a1/zarr.json", "g/zarr.json", "zarr.json"])
def test_a_flush_that_fails_is_made_up_for(serve, document):  # noqa: F811
    """The document may have been stored all the same. Those before it are changed like any other."""
    server = serve()
    place, maker = server.bucket / "x.zarr", Maker(1, STEPS.replace("file.flush()\nwait", """
try:
    file.flush()
except Exception:
    print("refused", flush=True)
    for i in range(3):
        file[f"g/a{i}"].attrs["more"] = i
wait"""))
    maker.until("written 2")
    server.fault("/bucket/x.zarr/" + document, "status", method="PUT", code=403, times=1)
    maker.go()
    maker.until("refused")
    assert maker.end()[0] == 0
    assert elements(place) == made(1) | {"late": [0, 1, 2]} and NOTE not in objects(place)
    assert [zarr.open_array(place / f"g/a{i}").attrs["more"] for i in range(3)] == [0, 1, 2]


LEAVES = """
import os, sys, h5py
file = h5py.File(sys.argv[1], "w")
file["a"] = range(int(sys.argv[2]))
file.flush()
file["b"] = range(7)
file["b"].flush()
print("flushed", flush=True)
sys.stdin.readline()
os._exit(1)
"""


MANY = f"""
import h5py
with h5py.File("{NAME}", "w") as file:
    for i in range(40):
        file[f"g{{i % 2}}/a{{i}}"] = [i]
"""


def test_documents_are_put_side_by_side(serve):  # noqa: F811
    """Those of one depth. Each has the condition that there is none yet; the root's comes last, alone."""
    server = serve()
    gate = server.hold("/a[123]./zarr.json", "PUT", count=9)
    assert Maker(0, MANY).end()[0] == 0 and gate.was_met
    puts = [r for r in server.take_log() if r.method == "PUT" and r.path.endswith("/zarr.json")]
    depths = [r.path.count("/") for r in puts]
    assert depths == [5] * 40 + [4] * 2 + [3] and all(r.headers["if-none-match"] == "*" for r in puts)
    assert puts[40].begun >= max(r.ended for r in puts[:40]) and puts[42].begun >= max(r.ended for r in puts[40:42])
    assert elements(server.bucket / "x.zarr") == {f"g{i % 2}/a{i}": [i] for i in range(40)}


def test_what_was_flushed_outlives_the_program(serve):  # noqa: F811
    """And goes on as any store."""
    server = serve()
    maker = Maker(5, LEAVES)
    maker.until("flushed")
    assert maker.end()[0] == 1
    assert elements(server.bucket / "x.zarr")["a"] == [0, 1, 2, 3, 4]


def test_a_note_in_a_store_that_is_complete(serve):  # noqa: F811
    """As a kill leaves it between the root's document and the note: a group that is added touches nothing else."""
    server = serve()
    assert Maker(1).end()[0] == 0
    place = server.bucket / "x.zarr"
    (place / NOTE).write_bytes(b"0" * 32)
    adds = f"""
import h5py
with h5py.File("{NAME}/new", "w") as file:
    file["b"] = [1, 2]
"""
    assert Maker(0, adds).end()[0] == 0
    assert elements(place) == made(1) | {"late": [0, 1, 2], "new/b": [1, 2]}


def test_a_program_that_loses_leaves_no_note(serve):  # noqa: F811
    """Here by a document that comes after its chunks."""
    server = serve()
    place, first = server.bucket / "x.zarr", Maker(1)
    first.until("written 2")
    zarr.open_group(place, mode="a").create_array("theirs", shape=(2,), dtype="u1")[...] = 3
    status, said = first.end()
    assert status != 0 and "another program makes a store there" in said
    assert NOTE not in objects(place) and elements(place)["theirs"] == [3, 3]
