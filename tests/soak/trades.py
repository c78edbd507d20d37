# SPDX-License-Identifier: MIT
"""The trades of workers: writing, reading, changing the structure."""
import numpy as np

from actors import Gone
from history import Node
from workers import Worker


class Writer(Worker):
    """Writes boxes, and now and then an attribute."""

    def step(self):
        path = self.random.choice(self.paths)
        handle = self.open(path)
        for _ in range(self.random.randint(1, 3)):
            if not handle or not self.write(handle):
                return
        chance = self.random.random()
        if chance < 0.75:
            self.flush(handle)
        elif chance < 0.85 and path in self.profile.steady:
            self.attr(handle)
        elif chance < 0.9:
            self.forget(path)

    def box(self, handle):
        """A whole chunk, or something smaller that may lie in several."""
        extents = list(zip(handle.shape, handle.node.chunk))
        if self.random.random() < 0.3:
            corner = [self.random.randrange(0, side, chunk) for side, chunk in extents]
            return corner, [min(chunk, side - start)
                            for start, (side, chunk) in zip(corner, extents)]
        size = [self.random.randint(1, min(side, chunk)) for side, chunk in extents]
        return [self.random.randint(0, side - count)
                for count, (side, _) in zip(size, extents)], size

    def write(self, handle):
        corner, size = self.box(handle)
        token, writes = self.account.token(self.number), handle.node.writes
        with self.account.lock:
            event = writes.begin((self, handle), corner, size, token, self.account.now())
            event.token = token
        handle.pending.append((writes, event))
        answer = self.ask("write", handle.path, "%d,%d" % tuple(corner), "%dx%d" % tuple(size),
                          token)
        if not answer.ok:
            handle.doubtful.append(handle.pending.pop())
            self.refused(answer, "write", handle)
            self.forget(handle.path)
        return answer.ok

    def flush(self, handle):
        answer = self.ask("flush", handle.path)
        handles = list(self.handles.values()) if self.kind == "h5py" else [handle]
        if answer.ok:
            self.settle(answer, "flush", handles)
        else:
            self.refuse_settling(answer, "flush", handles)
        if not answer.ok or (self.is_stale(handle) and self.random.random() < 0.5):
            self.forget(handle.path)

    def attr(self, handle):
        name, text = f"t{self.random.randrange(3)}", f"v{self.account.token(self.number)}"
        with self.account.lock:
            register = handle.node.attribute(name)
            event = register.begin(self, text, self.account.now())
        answer = self.ask("attr", handle.path, name, f'"{text}"')
        if not answer.ok:
            self.account.end([(register, event)], self.account.now())
            self.refused(answer, "attr", handle)
        elif self.kind in ("gdal", "h5py", "rasterio"):  # the change waits until the dataset, or file, is flushed
            handle.pending.append((register, event))
            self.flush(handle)
        else:
            self.account.acknowledge([(register, event)], self.account.now())
            self.account.counts["attributes"] += 1


class Reader(Worker):
    """Reads whole arrays, and judges each element."""

    def step(self):
        path = self.random.choice(self.paths)
        handle = self.open(path)
        if not handle:
            return
        answer, wrong = self.look(handle)
        self.account.counts["reads"] += answer.ok
        if wrong:
            again = self.look(handle)  # it tells what is lost from what could not be seen for a moment
            self.account.note(self.name, f"read again: {again[1] or again[0]!r}")
        if not answer.ok:
            self.refused(answer, "read", handle)
        if not answer.ok or self.random.random() < 0.1:
            self.forget(path)

    def look(self, handle):
        """Reads the whole array. Returns the answer, and what is wrong with it (or None), which is a
        finding."""
        rows, columns = handle.shape
        with self.account.looking(self.name) as begin:
            answer = self.ask("read", handle.path, "0,0", f"{rows}x{columns}")
            if not answer.ok:
                return answer, None
            data = np.frombuffer(answer.data, "<i8").reshape(rows, columns)
            return answer, self.judge(handle, data, begin, self.account.now())

    def judge(self, handle, data, begin, end):
        """Each element is one that the array had meanwhile, or one of the array that took its
        place."""
        nodes = {handle.node, *self.account.nodes_at(handle.path, handle.since, end)} - {None}
        with self.account.lock:
            wrong = np.logical_and.reduce([node.writes.wrong(data, begin, end) for node in nodes])
        if not wrong.any():
            return None
        row, column = np.argwhere(wrong)[0]
        value = int(data[row, column])
        what = "fill" if value in (-1, 0) else f"write {value >> 16}"
        stale = ", deleted, moved or resized since," if self.is_stale(handle) else ""
        seen = "; ".join(node.writes.describe(row, column, begin, end) for node in nodes)
        text = (f"/{handle.path}{stale}: {wrong.sum()} of {wrong.size} elements; {what} at "
                f"{row},{column}, where a reader from {begin} to {end} may see {seen}")
        self.account.find("fill read" if what == "fill" else "wrong element read", self.name, text)
        return text


class Changer(Worker):
    """Creates, deletes, moves and resizes arrays. Two never change one path at once, so that the
    node at a path is known; at paths of one group they do."""

    def step(self):
        path, other = self.random.sample(self.profile.moving, 2)
        if not self.round.claim(path, other):
            return
        try:
            self.change(path, other)
        finally:
            self.round.give_back(path, other)

    def change(self, path, other):
        world = self.account.world
        with self.account.lock:
            node, there = world.at(path).latest, world.at(other).latest
        chance, side = self.random.random(), self.random.choice((12, 16, 24, 32))
        shape = f"{side}x{side}"
        if node is None:
            node = Node((side, side), (8, 8))
            self.do(lambda now: world.create(self, path, node, now),
                    "create", path, shape, "4x4", "8x8", "gzip")
        elif chance < 0.35:
            self.do(lambda now: world.delete(self, path, now), "delete", path)
        elif chance < 0.6 and there is None:
            self.move(node, path, other, chance < 0.45)
        elif chance < 0.9:
            self.do(lambda now: world.resize(self, node, (side, side), now), "resize", path, shape)

    def move(self, node, path, other, back):
        """Moves the array, and perhaps back at once."""
        world = self.account.world
        self.do(lambda now: world.move(self, path, other, now), "move", path, other)
        if back and self.actor and world.at(other).latest is node:
            self.do(lambda now: world.move(self, other, path, now), "move", other, path)

    def do(self, begin, command, *words):
        with self.account.lock:
            begun = begin(self.account.now())
        path, other = (*words, None)[:2]
        try:
            answer = self.ask(command, *words)
        except Gone:
            self.actor.process.wait()
            self.account.look(self.name, begun, command, path, other)
            raise
        if answer.ok:
            acknowledge = (self.account.acknowledge_resize if command == "resize" else
                           self.account.acknowledge)
            acknowledge(begun, self.account.now())
            self.account.counts["changes"] += 1
        else:
            self.refused(answer, command)
            self.account.look(self.name, begun, command, path, other)
        # The next change has to see the state after this one.
        self.close() if self.kind == "h5py" else self.ask("forget", path)


class Mover(Changer):
    """Moves arrays all the time, mostly back at once."""

    def change(self, path, other):
        with self.account.lock:
            node = self.account.world.at(path).latest
            there = self.account.world.at(other).latest
        if node and there is None and self.random.random() < 0.8:
            self.move(node, path, other, self.random.random() < 0.8)
        else:
            super().change(path, other)
