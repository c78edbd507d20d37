# SPDX-License-Identifier: MIT
"""Writers of S3 that are killed at each of their requests, before it is carried out and after: every object
is the old or the new one, a reader finds the old or the new state, other nodes are as they were, and the next
writer can do the change."""

import ctypes as c
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import zarr

from length import by_length
from remote_store import RemoteStore, Store, Writer, ZarrbridgeError, call, lib
from test_s3_writing import serve  # noqa: F401  (a fixture)

NAME = "s3://bucket/x.zarr"
ALL = by_length(False, False, True)
VALUES = np.arange(1, 65, dtype="i4").reshape(8, 8)


def make(path, consolidated):
    """Arrays of a shard and of chunks, and a group with one more."""
    root = zarr.open_group(path, mode="w", attributes={"k": 1})
    root.create_array("shard", shape=(8, 8), shards=(8, 8), chunks=(2, 8), dtype="i4")[:] = VALUES
    root.create_array("chunks", shape=(8, 8), chunks=(2, 8), dtype="i4")[:] = VALUES
    group = root.create_group("g", attributes={"k": 2})
    group.create_array("d", shape=(6,), chunks=(2,), dtype="i4", attributes={"k": 3})[:] = VALUES[0, :6]
    group.create_array("e", shape=(8, 8), shards=(4, 8), chunks=(2, 8), dtype="i4")[:] = VALUES
    if consolidated:
        zarr.consolidate_metadata(path)


# ---- Changes. Each is done by a process of its own, and done again by the next one.


def write(path, row, rows, value):
    def change(store):
        with Writer(store, path) as writer:
            writer.write((row, 0), (1, 1), np.full((rows, 8), value, "i4"))

    return change


def create(store):
    store.create_array("g/new", (8, 8), (2, 8), "i4", attributes={"k": 4})


def create_and_write(store):
    """What is there already stays, as with programs that open for appending."""
    def unless_there(make, path, *arguments, **options):
        try:
            lib.zb_node_release(store.open(path))
        except ZarrbridgeError:
            make(path, *arguments, **options)

    unless_there(store.create_group, "new/below")
    unless_there(store.create_array, "new/below/a", (8, 8), (2, 8), "i4", shards=(4, 8))
    write("new/below/a", 0, 8, 7)(store)


def set_attributes(store):
    store.set_attribute("", "k", 10)
    store.set_attribute("g", "k", 20)
    store.set_attribute("g/d", "k", 30)


def move(store):
    """What was killed may have left both: then the copy is whole, and the source is one too many."""
    try:
        store.move("g", "h")
    except ZarrbridgeError as error:
        if "there is a node at /h already" not in str(error):
            raise
        store.delete("g")


def copy(store):
    """Of a group of another store."""
    local = Store()
    local.create_group("", {"k": 5})
    local.create_array("a", (8, 8), (2, 8), "i4")
    write("a", 0, 8, 9)(local)
    local.create_array("b/c", (8, 8), (2, 8), "i4", shards=(4, 8))
    write("b/c", 0, 8, 9)(local)
    call(lib.zb_node_copy, local.handle, b"", store.handle, b"h")
    local.close()


def copy_inside(store):
    """As a move, which erases the source besides. Of what was killed the documents may be whole."""
    try:
        call(lib.zb_node_copy, store.handle, b"g", store.handle, b"h")
    except ZarrbridgeError as error:
        if "there is a node at /h already" not in str(error):
            raise


def consolidate(store):
    call(lib.zb_group_consolidate, store.handle, b"")


CHANGES = {
    "a whole chunk": write("chunks", 2, 2, 100),
    "a part of a chunk": write("chunks", 3, 1, 100),
    "a part of a shard": write("shard", 3, 1, 100),
    "a whole shard": write("shard", 0, 8, 100),
    "several chunks": write("chunks", 0, 8, 100),
    "create": create,
    "create and write": create_and_write,
    "attributes": set_attributes,
    "shrink": lambda store: store.resize("chunks", (3, 8)),
    "shrink a shard": lambda store: store.resize("shard", (3, 8)),
    "grow": lambda store: store.resize("chunks", (11, 8)),
    "delete an array": lambda store: store.delete("chunks"),
    "delete a group": lambda store: store.delete("g"),
    "delete all": lambda store: store.delete(""),
    "move": move,
    "copy": copy,
    "copy inside": copy_inside,
    "consolidate": consolidate,
}


def do(name):
    with RemoteStore(NAME) as store:
        CHANGES[name](store)
        call(lib.zb_hierarchy_flush, store.handle)


class Entry(c.Structure):
    """The beginning of zb_entry."""

    _fields_ = [("path", c.c_char_p), ("array", c.c_void_p), ("format", c.c_int), ("reason", c.c_char_p)]


def look():
    """What a reader finds, by the path of each node: attributes, and of an array its elements."""
    found = {}
    with RemoteStore(NAME) as store:

        @c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(Entry))
        def take(_, entry):
            assert not entry.contents.reason, entry.contents.reason
            path = entry.contents.path.decode()
            document = json.loads(store.get((path + "/zarr.json").lstrip("/")))
            found[path] = [document["attributes"]]
            if entry.contents.array:
                found[path].append(store.read(path, document["shape"], "i4").tolist())
            return 0

        try:
            call(lib.zb_node_each, store.handle, b"", take, None)
        except ZarrbridgeError as error:
            found["error"] = str(error)
    return found


# ---- Processes


# Forks itself for each order, so that libraries are loaded once: a change, or "look", the file for what it finds, and
# the server's variables. The child tells its id and waits for a word before it begins.
PARENT = r"""
import json, os, sys
sys.path.insert(0, sys.argv[1])
import test_s3_killed
while order := os.read(0, 4096):
    name, looked, variables = json.loads(order)
    child = os.fork()
    if child == 0:
        os.environ.update(variables)
        os.write(1, b"%d\n" % os.getpid())
        os.read(0, 1)
        status = 0
        try:
            if name == "look":
                with open(looked, "w") as file:
                    json.dump(test_s3_killed.look(), file)
            else:
                test_s3_killed.do(name)
        except BaseException as error:
            os.write(2, str(error).encode() + b"\n")
            status = 1
        os._exit(status)
    _, status = os.waitpid(child, 0)
    os.write(1, b"%d\n" % status)
"""


class Processes:
    def __init__(self, folder):
        self.looked, self.said = folder / "looked", folder / "said"
        with open(self.said, "w") as said:
            self.parent = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", PARENT, os.path.dirname(os.path.abspath(__file__))],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, bufsize=0)
        self.child = 0

    def do(self, name):
        """The status as of waitpid."""
        variables = {key: value for key, value in os.environ.items() if key == "HOME" or key.startswith("AWS_")}
        self.parent.stdin.write(json.dumps([name, str(self.looked), variables]).encode())
        self.child = int(self.parent.stdout.readline())
        self.parent.stdin.write(b"!")
        return int(self.parent.stdout.readline())

    def look(self):
        assert self.do("look") == 0, self.said.read_text()[-600:]
        return json.loads(self.looked.read_text())

    def kill(self):
        os.kill(self.child, signal.SIGKILL)

    def stop(self):
        self.parent.stdin.close()
        self.parent.wait()


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    running = Processes(tmp_path_factory.mktemp("processes"))
    yield running
    running.stop()


# ---- What is to be


def objects(root):
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def is_own(key):
    """Notes of changes that are not over, and what services are tested with."""
    return key.split("/")[-1].startswith((".", "zarrbridge-test-"))


def without_block(key, data):
    """A document without its consolidated metadata: they go before what they tell of is changed."""
    if data is None or not key.endswith("zarr.json"):
        return data
    return {name: value for name, value in json.loads(data).items() if name != "consolidated_metadata"}


def is_between(found, old, new, is_filled_later):
    """A node is as it was before or after; each element of an array that has kept its shape is."""
    if is_filled_later and found and new and not old:
        old = [new[0]] + [np.zeros_like(values).tolist() for values in new[1:]]
    if found in (old, new) or found is None or old is None or new is None:
        return found in (old, new)
    values, before, after = (np.array(node[1:]) for node in (found, old, new))
    return (found[0] in (old[0], new[0]) and values.shape == before.shape == after.shape
            and bool(np.all((values == before) | (values == after))))


def places_to_kill(log, number):
    """Kills that leave a state of their own come after requests that change something. A short test has one of
    these, by its number: the changes together have it at the beginning, in the middle and at the end."""
    places = [at for at, request in enumerate(log) if ALL or request.method != "GET"]
    return by_length([places[number * 7 % len(places)]], places)


@pytest.mark.parametrize("consolidated", [False, True], ids=["listed", "consolidated"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_writer_is_killed(serve, processes, tmp_path, name, consolidated):  # noqa: F811
    server = serve()
    store = server.bucket / "x.zarr"
    make(tmp_path / "old.zarr", consolidated)

    def renew():
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(tmp_path / "old.zarr", store)
        server.heal()

    renew()
    old, keys = processes.look(), objects(store)
    server.take_log()
    assert processes.do(name) == 0, processes.said.read_text()
    log = server.take_log()
    new, new_keys = processes.look(), objects(store)
    troubles = []
    for at in places_to_kill(log, list(CHANGES).index(name)):
        for served in (False, True) if ALL else (True,):
            renew()
            server.fault("/bucket", "kill", skip=at, times=1, method=None, served=served, kill=processes.kill)
            status = processes.do(name)
            server.heal()
            while server.busy:
                time.sleep(0.001)
            where = f"{'after' if served else 'before'} {log[at].method} {log[at].path}"
            for key, data in objects(store).items():
                known = [without_block(key, there.get(key)) for there in (keys, new_keys)]
                if not is_own(key) and without_block(key, data) not in known:
                    troubles.append(f"{where}: {key} is neither")
            found = processes.look()
            for path in set(old) | set(new) | set(found):
                if not is_between(found.get(path), old.get(path), new.get(path), name == "create and write"):
                    troubles.append(f"{where}: {path}: {found.get(path)}")
            again = processes.do(name)
            if again and found != new:
                troubles.append(f"{where}: again: {processes.said.read_text().splitlines()[-1][-200:]}")
            if not again and processes.look() != new:
                troubles.append(f"{where}: again: something else")
    assert not troubles, "\n".join(troubles)


# ---- Programs of others, which make a store of their own


def kill_program(server, command, variables, skip, method="PUT"):
    """Starts a program and kills it after so many changes. False where it had ended before."""
    started = queue.SimpleQueue()
    server.fault("/bucket", "kill", skip=skip, times=1, method=method, served=True,
                 kill=lambda: os.kill(started.get(), signal.SIGKILL))
    process = subprocess.Popen(list(map(str, command)), env=variables, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    started.put(process.pid)
    status = process.wait()
    server.heal()
    while server.busy:
        time.sleep(0.001)
    return status == -signal.SIGKILL


H5PY = """
import sys, h5py, numpy
with h5py.File(sys.argv[1], "w") as file:
    file.create_dataset("g/a", data=numpy.arange(1, 65).reshape(8, 8), chunks=(2, 8))
    file["g"].attrs["k"] = "word"
"""


def program(name, folder):
    if name == "gdal_translate":
        with open(folder / "in.asc", "w") as raster:
            raster.write("ncols 8\nnrows 8\nxllcorner 0\nyllcorner 0\ncellsize 1\n")
            np.savetxt(raster, VALUES, "%d")
        return ["gdal_translate", "-q", "-of", "Zarr3", "-co", "BLOCKSIZE=8x2", folder / "in.asc"]
    if name == "zarrbridge copy":
        make(folder / "from.zarr", False)
        return [os.environ["ZARRBRIDGE_PROGRAM"], "copy", folder / "from.zarr"]
    return [sys.executable, "-W", "ignore", "-c", H5PY]


STEP = by_length(4, 1)  # of the changes after which they are killed
PROGRAMS = {"zarrbridge copy": [], "gdal_translate": ["GDAL_DRIVER_PATH"], "h5py": ["HDF5_PLUGIN_PATH"]}


def elements(root):
    return {str(path.parent.relative_to(root)): zarr.open_array(path.parent, mode="r")[...].tolist()
            for path in root.rglob("zarr.json") if json.loads(path.read_bytes())["node_type"] == "array"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_makes_a_store_is_killed(serve, tmp_path, name):  # noqa: F811
    """Its store is there as a whole or does not open, and no element is wrong; the store beside it is as it was;
    the program can be run again."""
    if not all(os.environ.get(variable) for variable in PROGRAMS[name]):
        pytest.skip(f"{name} is not built")
    server, command = serve(), program(name, tmp_path)
    make(server.bucket / "beside.zarr", True)
    beside = objects(server.bucket / "beside.zarr")
    variables = os.environ | {"HDF5_VOL_CONNECTOR": "zarr"}
    subprocess.run(list(map(str, [*command, NAME])), env=variables, check=True)
    at, place = 0, server.bucket / "x.zarr"
    whole, troubles = elements(place), []
    shutil.rmtree(place)
    while kill_program(server, [*command, NAME], variables, at):
        found = elements(place)
        if (place / "zarr.json").exists() and found.keys() != whole.keys():
            troubles.append(f"after {at}: the store opens with {sorted(found)}")
        troubles += [f"after {at}: {path} {values}" for path, values in found.items() if values != whole[path]]
        before = sorted(objects(place))
        again = subprocess.run([*command, NAME], env=variables, capture_output=True, text=True, check=False)
        is_over = "there is a node at / already" in again.stderr  # of a copy
        if (again.returncode and not is_over) or elements(place) != whole:
            troubles.append(f"after {at}, {before}: again: {again.stderr[-200:]}")
        shutil.rmtree(place, ignore_errors=True)
        at += STEP
    assert at > 3 and not troubles, "\n".join(troubles)
    assert objects(server.bucket / "beside.zarr") == beside


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
@pytest.mark.parametrize("name", ["gdal_translate", "h5py"])
def test_a_program_that_replaces_a_store_is_killed(serve, tmp_path, name, method):  # noqa: F811
    """A store that opens is a whole one, and what is left of one that is half erased, or half made, does not keep
    the next one from its place."""
    if not all(os.environ.get(variable) for variable in PROGRAMS[name]):
        pytest.skip(f"{name} is not built")
    server, command = serve(), [*program(name, tmp_path), NAME]
    variables = os.environ | {"HDF5_VOL_CONNECTOR": "zarr"}
    place, old = server.bucket / "x.zarr", tmp_path / "old.zarr"
    subprocess.run(command, env=variables, check=True)
    shutil.copytree(place, old)
    whole, at = elements(old), 0
    while kill_program(server, command, variables, at, method):
        left = sorted(objects(place))
        assert not (place / "zarr.json").exists() or elements(place) == whole, (at, left)
        again = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        assert again.returncode == 0 and elements(place) == whole, (at, left, again.stderr)
        shutil.rmtree(place)
        shutil.copytree(old, place)
        at += STEP
    assert at > 3
