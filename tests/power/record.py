# SPDX-License-Identifier: MIT
"""Runs actors on a disk that keeps a log, and keeps account of the promises to them.

README.md lists the promise of each acknowledgement; the rules are Party.promise_*.
"""
import os

from actors import Actor
from history import FILL, Node, World


class Refused(Exception):
    """An actor reports an error where no error is expected."""


class Party:
    """One actor and the store that it has open. Every call returns when the actor has answered."""

    def __init__(self, recording, kind, sync, strategy="rewrite", **options):
        self.recording, self.kind, self.sync, self.strategy = recording, kind, sync, strategy
        self.actor = Actor(kind, sync=sync, strategy=strategy, **options)
        self.documents = []  # (register, event) that are not promised yet
        self.writes = {}     # the same for each handle, by its name
        self.writers = set() # names of handles that have a writer
        self.world = recording.world
        makes_root = kind == "h5py" and self.world.at("").latest is None
        begun = self.world.create(self, "", Node(), recording.now()) if makes_root else []
        self.change(begun, "open", recording.store, sync, strategy)

    def ask(self, command, *words):
        """Begins and ends at known places in the log."""
        answer = self.actor.ask(command, "s", *words)
        if not answer.ok:
            raise Refused(f"{self.kind}: {command} {' '.join(map(str, words))}: {answer!r}")
        return self.recording.now()

    def change(self, begun, command, *words):
        """A change of documents, of which `begun` tells the consequences."""
        if self.sync == "none" and command != "move":
            self.recording.weak_nodes |= {event.value for _, event in begun
                                          if isinstance(getattr(event, "value", None), Node)}
        now = self.ask(command, *words)
        for _, event in begun:
            event.end = now
        if not (self.kind == "gdal" and command in ("move", "delete")):  # they are never promised
            self.documents += begun

    def node(self, path):
        return self.world.at(path.partition("#")[0]).latest

    # ---- Changes

    def group(self, path):
        begun = self.world.create(self, path, Node(), self.recording.now())
        self.change(begun, "group", path)

    def create(self, path, shape=(16, 16), chunk=(4, 4), shard=(8, 8), codecs="gzip"):
        node = Node(shape, shard or chunk, fill=0 if self.kind == "gdal" else FILL)
        begun = self.world.create(self, path, node, self.recording.now())
        self.change(begun, "create", path, by(shape), by(chunk), by(shard) if shard else "-",
                    codecs)

    def replace(self, path, shape, token, chunk=(4, 4), shard=(8, 8)):
        """A copy by GDAL takes the place of a whole store."""
        self.arrive("replace", path, shape, token, chunk, shard, is_new_store=True)
        self.promise_documents()

    def take(self, path, shape, token, chunk=(4, 4), shard=(8, 8)):
        """A new array, of encoded chunks that are moved; returning promises it, but with h5py. In a
        store that is there already it may be seen with fill before they come."""
        is_new_store = self.kind != "h5py" and self.world.at("").latest is None
        self.arrive("import", path, shape, token, chunk, shard, is_new_store)
        if self.kind != "h5py":
            self.promise_documents()

    def arrive(self, command, path, shape, token, chunk, shard, is_new_store):
        now = self.recording.now()
        node = Node(shape, shard)
        begun = self.world.delete(self, "", now) if is_new_store else []
        begun += self.world.create(self, path, node, now)
        if is_new_store:
            node.writes.events.clear()  # it comes with its elements
        begun.append((node.writes, node.writes.begin(self, (0, 0), shape, token, now)))
        self.change(begun, command, path, by(shape), by(chunk), by(shard), token)

    def attr(self, path):
        text = f"v{self.recording.token()}"
        register = self.node(path).attribute("title")
        begun = [(register, register.begin(self, text, self.recording.now()))]
        self.change(begun, "attr", path, "title", f'"{text}"')

    def resize(self, path, shape):
        """Flush before: the copy does not see data that wait in a writer."""
        begun = self.world.resize(self, self.node(path), shape, self.recording.now())
        self.change(begun, "resize", path, by(shape))
        self.writers.discard(path)

    def copy(self, source, target):
        self.change(self.world.copy(self, source, target, self.recording.now()), "copy", source,
                    target)

    def move(self, source, target):
        begun = self.world.move(self, source, target, self.recording.now())
        self.recording.moves.append((self.recording.now(), source, target))
        self.change(begun, "move", source, target)

    def delete(self, path):
        self.change(self.world.delete(self, path, self.recording.now()), "delete", path)

    def write(self, path, corner, size):
        token, node = self.recording.token(), self.node(path)
        event = node.writes.begin((self, path), corner, size, token, self.recording.now())
        self.ask("write", path, by(corner, ","), by(size), token)
        self.writers.add(path)
        self.writes.setdefault(path, []).append((node.writes, event))
        self.recording.note_write(node, corner, size, self)

    # ---- Acknowledgements

    def promise_documents(self):
        self.promise(self.documents)
        self.documents = []

    def promise_writes(self, path):
        written = self.writes.get(path, [])
        for _, event in written:
            event.end = self.recording.now()
        if self.sync != "none":
            self.promise(self.writes.pop(path, []))

    def promise(self, done):
        now = self.recording.now()
        for register, event in done:
            register.acknowledge(event, now)
        self.recording.promised += len(done)
        self.recording.stops.append(now)

    def flush(self, path):
        """zb_writer_flush, H5Fflush, GDALDataset::FlushCache."""
        self.ask("flush", path)
        self.promise_flushed([path])

    def promise_flushed(self, paths):
        """The writes of these handles, and with one of them all documents that were put before;
        with h5py, whose file is flushed, everything."""
        if self.kind == "h5py":
            paths = list(self.writes)
        for path in paths:
            self.promise_writes(path)
        through_writer = self.kind != "c" or self.writers.intersection(paths)
        if self.sync != "none" and through_writer:
            self.promise_documents()

    def docs(self):
        """zb_hierarchy_flush alone."""
        self.ask("docs")
        self.promise_documents()

    def sync_all(self):
        """All handles of the actor, with zb_hierarchy_flush last."""
        self.ask("sync")
        self.promise_flushed(list(self.writes))
        if self.kind == "c":
            self.promise_documents()

    def compact(self, path):
        self.ask("compact", path)

    def close(self):
        """Closes writers, files and datasets. A zb_hierarchy that is released promises nothing more."""
        self.ask("close")
        self.promise_flushed(list(self.writers))
        self.actor.end()


def by(pair, separator="x"):
    return separator.join(map(str, pair))


class Recording:
    """One disk, one store, and the promises about it, each with its place in the log."""

    def __init__(self, disk, directory):
        self.disk, self.directory = disk, directory
        self.store = os.path.join(directory, "x.zarr")
        self.world = World()
        self.moves = []         # (place, source, target)
        self.weak = set()       # (node, chunk): written without any promise
        self.weak_nodes = set() # made without any promise
        self.live = set()       # nodes of which shards were changed in place
        self.stops = []         # places of acknowledgements
        self.tokens = self.promised = 0
        self.parties = []

    def now(self):
        return self.disk.now()

    def token(self):
        self.tokens += 1
        return self.tokens

    def party(self, kind, sync, **options):
        party = Party(self, kind, sync, **options)
        self.parties.append(party)
        return party

    def note_write(self, node, corner, size, party):
        if party.strategy != "rewrite":
            self.live.add(node)
        if party.sync == "none":
            first = [start // extent for start, extent in zip(corner, node.chunk)]
            last = [-(-(start + count) // extent)
                    for start, count, extent in zip(corner, size, node.chunk)]
            self.weak |= {(node, (row, column)) for row in range(first[0], last[0])
                          for column in range(first[1], last[1])}

    def bystander(self):
        """Another program makes a file of its own durable. That takes all names on the disk along,
        on ext4 and xfs, but not the content of files."""
        with open(os.path.join(self.directory, "bystander"), "ab") as file:
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())

    def settle(self):
        """The file system has been unmounted: all writes of all programs are on disk."""
        for party in self.parties:
            party.promise(party.documents)
            for written in party.writes.values():
                party.promise(written)
        self.parties.clear()
        self.weak.clear()
        self.weak_nodes.clear()
        self.live.clear()
        self.moves.clear()
        self.stops.clear()

    def end(self):
        for party in self.parties:
            party.actor.kill()
