# SPDX-License-Identifier: MIT
"""A disk that keeps a log of all writes to it, and its content after a loss of power.

A disk has a cache of its own. A write survives when a *flush* came after it; of the other writes
each sector may have reached the plate or not, in any order. So a cut is a place in the log, and a
choice of the writes behind the last flush before it. Sectors have 4096 bytes, as on the disks of
today: ext4 and btrfs count on their superblocks being old or new.
"""
import os
import random
import struct
import subprocess
import sys

import fuse

HEAD = struct.Struct("<cQQ")  # W write, Z zeros, F flush; offset; bytes
BLOCK = 1 << 16               # bytes; the unit of the image in memory
SECTOR = 4096


class Recorder:
    """Keeps the disk in one file and appends each operation to another one."""

    def __init__(self, image, log):
        self.disk = os.open(image, os.O_RDWR | os.O_CLOEXEC)
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC)
        self.size = os.fstat(self.disk).st_size

    def note(self, what, offset=0, size=0, data=b""):
        os.writev(self.log, [HEAD.pack(what, offset, size), data])

    def read(self, offset, size):
        return os.pread(self.disk, size, offset)

    def write(self, offset, data):
        self.note(b"W", offset, len(data), data)
        os.pwrite(self.disk, data, offset)

    def zero(self, offset, size):
        self.note(b"Z", offset, size)
        while size > 0:
            done = os.pwrite(self.disk, bytes(min(size, BLOCK)), offset)
            offset, size = offset + done, size - done

    def flush(self):
        self.note(b"F")


class Disk:
    """The disk, present as the file `path` while the context lasts. Needs root."""

    def __init__(self, directory, image):
        self.directory, self.image, self.log = directory, image, f"{image}.log"
        self.path = os.path.join(directory, "disk")

    def __enter__(self):
        os.makedirs(self.directory, exist_ok=True)
        fd = fuse.mount(self.directory)
        # Not a fork: this process may have threads, and must go on while it waits for the disk.
        self.server = subprocess.Popen([sys.executable, __file__, self.image, self.log, str(fd)],
                                       pass_fds=[fd])
        os.close(fd)
        return self

    def __exit__(self, *error):
        subprocess.run(["umount", "-l", self.directory], check=True)
        self.server.wait()

    def now(self):
        """The place in the log: grows with each write."""
        return os.stat(self.log).st_size if os.path.exists(self.log) else 0


class Entry:
    def __init__(self, what, offset, size, data, end):
        self.what, self.offset, self.size, self.data, self.end = what, offset, size, data, end


def read_log(path):
    entries, at = [], 0
    with open(path, "rb") as file:
        log = memoryview(file.read())
    while at < len(log):
        what, offset, size = HEAD.unpack_from(log, at)
        at += HEAD.size
        data = log[at:at + size] if what == b"W" else None
        at += len(data) if data is not None else 0
        entries.append(Entry(what, offset, size, data, at))
    return entries


class Image:
    """The content of a disk: a dictionary of blocks, without blocks of zeros."""

    def __init__(self, path=None):
        self.blocks, self.size = {}, 0
        if path:
            self.size = os.stat(path).st_size
            with open(path, "rb") as file:
                for number in range(-(-self.size // BLOCK)):
                    block = file.read(BLOCK)
                    if block.count(0) != len(block):
                        self.blocks[number] = bytearray(block.ljust(BLOCK, b"\0"))

    def copy(self):
        twin = Image()
        twin.size = self.size
        twin.blocks = {number: bytearray(block) for number, block in self.blocks.items()}
        return twin

    def put(self, offset, size, data=None):
        """Zeros without data."""
        done = 0
        while done < size:
            number, start = divmod(offset + done, BLOCK)
            count = min(BLOCK - start, size - done)
            block = self.blocks.setdefault(number, bytearray(BLOCK))
            block[start:start + count] = data[done:done + count] if data else bytes(count)
            done += count

    def apply(self, entry):
        if entry.what != b"F":
            self.put(entry.offset, entry.size, entry.data)

    def save(self, path):
        with open(path, "wb") as file:
            file.truncate(self.size)
            for number, block in self.blocks.items():
                file.seek(number * BLOCK)
                file.write(block[:self.size - number * BLOCK])


class Cut:
    """A place in the log, and the fate of the writes that were not flushed: all are lost, all are
    kept, or each sector by chance (a seed)."""

    def __init__(self, end, fate):
        self.end, self.fate = end, fate

    def __str__(self):
        return f"{self.end}:{self.fate}"

    def apply(self, image, entry, chance):
        if self.fate == "kept":
            image.apply(entry)
        elif self.fate != "lost":
            whole, end = chance.random(), entry.offset + entry.size
            for sector in range(entry.offset // SECTOR, -(-end // SECTOR)):
                if whole < 0.4 or (whole < 0.8 and chance.random() < 0.5):
                    first, last = max(sector * SECTOR, entry.offset), min((sector + 1) * SECTOR, end)
                    part = slice(first - entry.offset, last - entry.offset)
                    image.put(first, last - first, entry.data[part] if entry.data else None)


def images(first, entries, cuts):
    """Yields each cut, in the order of the log, with the image that it leaves. `first`: the disk's
    content before the log."""
    flushed, pending, at = first.copy(), [], 0
    for cut in sorted(cuts, key=lambda cut: cut.end):
        while at < len(entries) and entries[at].end <= cut.end:
            entry = entries[at]
            at += 1
            if entry.what != b"F":
                pending.append(entry)
                continue
            for write in pending:
                flushed.apply(write)
            pending = []
        image, chance = flushed.copy(), random.Random(str(cut))
        for write in pending:
            cut.apply(image, write, chance)
        yield cut, image


def settled(entries, begin):
    """The places behind flushes that had something to flush: there the disk holds all writes for
    certain."""
    places, writes = [], False
    for entry in entries:
        if entry.what == b"F" and writes and entry.end > begin:
            places.append(entry.end)
        writes = entry.what != b"F" and (writes or entry.end > begin)
    return places


if __name__ == "__main__":
    fuse.serve(int(sys.argv[3]), Recorder(sys.argv[1], sys.argv[2]))
