# SPDX-License-Identifier: MIT
"""Coarse clocks: where time stamps are whole seconds, two versions of a chunk can look alike. A
chunk that one process has read and kept must not pass for one that another process has put there
since.

On ext4 with inodes of 128 bytes (root only), where inode numbers come back as well: after an even
number of rewrites a file has the number, the size and the times of the first one. And on any file
system under the shim.
"""
import contextlib
import os
import pathlib
import tempfile
import time

import numpy as np
import pytest

import filesystems
from actors import Actor

SYSTEM = filesystems.ALL["ext4-seconds"]
ATTEMPTS_FOR = 120  # seconds, to get all done within one of them: a busy machine needs many attempts

# The array has 7x7 elements in one shard of 8x8 with inner chunks of 4x4; the last of them, on the
# edge, is the one under test.
LAST, WHOLE = ("4,4", "3x3"), ("0,0", "7x7")


class Place:
    """A directory with a coarse clock."""

    def __init__(self, path, seconds, shim=None):
        self.path, self.seconds, self.shim = path, seconds, shim
        self.store = os.path.join(path, "x.zarr")
        self.actors = []

    def actor(self, strategy="rewrite"):
        actor = Actor("c", shim=self.shim)
        self.actors.append(actor)
        ask(actor, "open", self.store, "none", strategy)
        return actor

    def stamp(self, key):
        """All properties that tell one version of a file from another here."""
        st = os.stat(os.path.join(self.store, key))
        return (st.st_ino, st.st_size, int(st.st_mtime) // self.seconds,
                int(st.st_ctime) // self.seconds)

    def send_home(self):
        for actor in self.actors:
            actor.kill()
        self.actors.clear()

    def wait_for_tick(self):
        """Waits until the clock's next step has just begun."""
        begin = time.time() // self.seconds
        while time.time() // self.seconds == begin:
            time.sleep(0.002)


@pytest.fixture
def place(request, tmp_path_factory):
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(tempfile.TemporaryDirectory(
            dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
        if request.param == "ext4":
            reason = filesystems.what_lacks(SYSTEM)
            if reason:
                pytest.skip(reason)
            image = pathlib.Path(path) / "image"
            SYSTEM.format(image)
            there = Place(stack.enter_context(filesystems.mounted(image, f"{path}/disk")), 1)
        else:
            seconds = int(request.param.removeprefix("shim-"))
            there = Place(path, seconds, {"ZB_SHIM_ROOT": path, "ZB_SHIM_CLOCK": str(seconds)})
        stack.callback(there.send_home)
        yield there


def ask(actor, command, *words):
    answer = actor.ask(command, "s", *words)
    assert answer.ok, f"{command}: {answer!r}"
    return answer.data


def read(actor, corner, size):
    """The write that each element comes from."""
    rows, columns = map(int, size.split("x"))
    return np.frombuffer(ask(actor, "read", "a", corner, size), "<i8").reshape(rows, columns) >> 16


def change(actor, token, box):
    ask(actor, "write", "a", *box, token)
    ask(actor, "flush", "a")


def make(place, strategy):
    """The array in its first version. Inner chunks, and so all versions, are of one size."""
    actor = place.actor(strategy)
    if os.path.exists(os.path.join(place.store, "a")):
        ask(actor, "delete", "a")
    ask(actor, "create", "a", "7x7", "4x4", "8x8", "crc")
    change(actor, 1, WHOLE)
    if strategy == "inplace":
        change(actor, 2, LAST)
    else:
        change(actor, 2, WHOLE)
    return actor


CHANGES = 6  # one of which gives a version that looks like the first: in place the first change,
             # by rewriting the second, when the inode number comes back
CASES = [("ext4", "inplace"), ("ext4", "rewrite"), ("shim-1", "inplace"), ("shim-2", "inplace")]


def two_alike(place, strategy):
    """A process that has read a part of the last inner chunk (thrice, so that the rest is worth
    keeping) and one that has changed it since, so that the file system shows no difference. Returns
    both, and the number of the last write."""
    until = time.monotonic() + ATTEMPTS_FOR
    while time.monotonic() < until:
        place.wait_for_tick()
        writer, reader = make(place, strategy), place.actor()
        before = place.stamp("a/c/0/0")
        time.sleep(0.15)
        for _ in range(3):
            assert (read(reader, "4,4", "1x1") == 2).all()
        for token in range(3, 3 + CHANGES):
            change(writer, token, LAST)
            if place.stamp("a/c/0/0") == before:
                return reader, writer, token
        place.send_home()
    pytest.fail("no version ever looked like the first: is the machine too slow?")


@pytest.mark.parametrize("place, way", CASES, indirect=["place"])
def test_readers_see_the_last_version(place, way):
    reader, _, last = two_alike(place, way)
    for corner in ("4,4", "5,5", "6,6", "4,4"):
        assert (read(reader, corner, "1x1") == last).all(), "what was flushed is not read"
    time.sleep(place.seconds + 1.1)
    assert (read(reader, "4,6", "1x1") == last).all(), "what was flushed is not read for ever"


@pytest.mark.parametrize("place, way", CASES, indirect=["place"])
def test_merging_keeps_what_others_wrote(place, way):
    """The reader writes, too: a part of the inner chunk that another process has changed."""
    one, _, last = two_alike(place, way)
    change(one, 9, ("4,4", "1x2"))
    expected = np.full((3, 3), last)
    expected[0, :2] = 9
    found = read(place.actor(), *LAST)
    assert (found == expected).all(), f"an acknowledged write is gone:\n{found}"
