# SPDX-License-Identifier: MIT
"""The content that a store may have, given the actors' commands and the answers to them.

Time is any growing number: the place in the log of a disk (tests/power) or a clock (tests/soak). A
change (an *event*) begins when the actor gets the command, ends when it can have no further effect,
and counts from the moment it was acknowledged. At a time t an event may be seen when it had begun,
unless another one that follows it was acknowledged by t. So the last acknowledged event is seen, or
a later one, and nothing else.
"""
import itertools
import math

import numpy as np

FILL = -1
SIDE = 128  # elements of an array along each dimension, at the most

NEVER = math.inf
ALWAYS = -math.inf


class Event:
    numbers = itertools.count()

    def __init__(self, who, begin, end=NEVER):
        self.who, self.begin, self.end, self.counts_from = who, begin, end, NEVER
        self.number = next(Event.numbers)

    def follows(self, other):
        """Whether it came after the other: by the clock, or because one handle does one thing after
        the other."""
        return self is not other and (self.begin >= other.end or
                                      (self.who == other.who and self.number > other.number))


class Register:
    """One value: the node at a path, an array's shape, or an attribute."""

    def __init__(self, value):
        first = Event(None, ALWAYS, ALWAYS)
        first.value, first.hidden_from = value, NEVER
        self.events = [first]

    @property
    def latest(self):
        """The value when all events have come to their end."""
        return next(event.value for event in reversed(self.events) if event.hidden_from == NEVER)

    def begin(self, who, value, now):
        event = Event(who, now)
        event.value, event.hidden_from = value, NEVER
        self.events.append(event)
        return event

    def acknowledge(self, event, now):
        event.counts_from = min(event.counts_from, now)
        for other in self.events:
            if event.follows(other):
                other.hidden_from = min(other.hidden_from, now)

    def cancel(self, event, now):
        """It has turned out that it did not happen."""
        event.end, event.hidden_from = now, now

    def allowed(self, first, last=None):
        """The values that a look between `first` and `last` may find."""
        last = first if last is None else last
        return [event.value for event in self.events
                if event.begin <= last and event.hidden_from > first]

    def forget(self, before):
        """Drops events that a look from `before` on cannot find any more."""
        self.events = [event for event in self.events
                       if event.hidden_from > before]

    def copy(self, who, now):
        """For a copy in progress: any value that the source has meanwhile."""
        twin = Register(self.latest)
        twin.events = []
        for value in self.allowed(now):
            twin.begin(who, value, now).end = now
        return twin


class Writes:
    """The elements of an array, each with all of its writers."""

    def __init__(self, fill=FILL, filled=True):
        self.events, self.fill = [], fill
        if filled:
            self.begin(None, (0, 0), (SIDE, SIDE), "fill", ALWAYS).end = ALWAYS

    def begin(self, who, corner, size, token, now):
        event = Event(who, now)
        event.box = tuple(slice(start, start + count) for start, count in zip(corner, size))
        rows, columns = (np.arange(part.start, part.stop) for part in event.box)
        event.values = (np.full((len(rows), len(columns)), self.fill, "i8") if token == "fill" else
                        int(token) * 65536 + rows[:, None] * 256 + columns)
        event.hidden_from = np.full(event.values.shape, NEVER)
        self.events.append(event)
        return event

    def acknowledge(self, event, now):
        event.counts_from = min(event.counts_from, now)
        for other in self.events:
            if not event.follows(other):
                continue
            common = [slice(max(a.start, b.start), min(a.stop, b.stop))
                      for a, b in zip(event.box, other.box)]
            if all(part.start < part.stop for part in common):
                inside = tuple(slice(part.start - own.start, part.stop - own.start)
                               for part, own in zip(common, other.box))
                np.minimum(other.hidden_from[inside], now, out=other.hidden_from[inside])

    def forget(self, before):
        self.events = [event for event in self.events if (event.hidden_from > before).any()]

    def copy(self, who, now):
        twin = Writes(self.fill, filled=False)
        for event in self.events:
            seen = event.hidden_from > now
            if seen.any():
                corner = [part.start for part in event.box]
                clone = twin.begin(who, corner, event.values.shape, "fill", now)
                clone.values, clone.end = event.values, now
                clone.hidden_from = np.where(seen, NEVER, ALWAYS)
        return twin

    def wrong(self, data, first, last=None):
        """The elements of an array that no visible write explains."""
        last = first if last is None else last
        right = np.zeros(data.shape, bool)
        for event in self.events:
            if event.begin > last:
                continue
            part = data[event.box]
            rows, columns = part.shape
            right[event.box] |= ((part == event.values[:rows, :columns]) &
                                 (event.hidden_from[:rows, :columns] > first))
        return ~right

    def describe(self, row, column, first, last):
        """The writes of one element that a look between `first` and `last` may find, for a log."""
        return ", ".join(
            f"{int(event.values[row - event.box[0].start, column - event.box[1].start]) >> 16} (begun "
            f"{event.begin}, counts from {event.counts_from})"
            for event in self.events
            if event.begin <= last and event.box[0].start <= row < event.box[0].stop and
            event.box[1].start <= column < event.box[1].stop and
            event.hidden_from[row - event.box[0].start, column - event.box[1].start] > first)


class Node:
    """A group or an array; it stays itself when it is moved."""

    def __init__(self, shape=None, chunk=None, fill=FILL):
        self.is_array = shape is not None
        self.chunk = chunk  # what one key holds
        self.shape = Register(shape)
        self.attributes = {}
        self.writes = Writes(fill) if self.is_array else None

    def attribute(self, name):
        return self.attributes.setdefault(name, Register(None))

    def copy(self, who, now):
        twin = Node()
        twin.is_array, twin.chunk = self.is_array, self.chunk
        twin.shape = self.shape.copy(who, now)
        twin.attributes = {name: register.copy(who, now)
                           for name, register in self.attributes.items()}
        twin.writes = self.writes.copy(who, now) if self.is_array else None
        return twin


def above(path):
    """The paths of the groups above, the root's first."""
    parts = path.split("/") if path else []
    return ["/".join(parts[:count]) for count in range(len(parts))]


def is_below(path, group):
    return group == "" or path == group or path.startswith(group + "/")


class World:
    """One store: what may be at each path."""

    def __init__(self):
        self.paths = {}

    def at(self, path):
        return self.paths.setdefault(path, Register(None))

    def below(self, path):
        """The paths of nodes at and below a path."""
        return [other for other in list(self.paths)
                if is_below(other, path) and self.paths[other].latest is not None]

    # Methods that change nodes return (register, event) pairs, one for each event that was begun.

    def put(self, who, path, node, now):
        return self.at(path), self.at(path).begin(who, node, now)

    def create_above(self, who, path, now):
        return [self.put(who, group, Node(), now) for group in above(path)
                if self.at(group).latest is None]

    def create(self, who, path, node, now):
        return self.create_above(who, path, now) + [self.put(who, path, node, now)]

    def delete(self, who, path, now):
        return [self.put(who, other, None, now) for other in self.below(path)]

    def copy(self, who, source, target, now):
        return self.create_above(who, target, now) + [
            self.put(who, target + path[len(source):], self.at(path).latest.copy(who, now), now)
            for path in self.below(source)]

    def move(self, who, source, target, now):
        begun = self.create_above(who, target, now)
        for path in self.below(source):
            begun.append(self.put(who, target + path[len(source):], self.at(path).latest, now))
            begun.append(self.put(who, path, None, now))
        return begun

    def resize(self, who, node, shape, now):
        """Elements beyond a smaller shape are fill when the array grows again."""
        old = node.shape.latest
        begun = [(node.shape, node.shape.begin(who, shape, now))]
        for corner, size in (((shape[0], 0), (SIDE - shape[0], SIDE)),
                             ((0, shape[1]), (SIDE, SIDE - shape[1]))):
            if any(after < before for after, before in zip(shape, old)):
                begun.append((node.writes, node.writes.begin(who, corner, size, "fill", now)))
        return begun
