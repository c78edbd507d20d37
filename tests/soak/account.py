# SPDX-License-Identifier: MIT
"""The account of a store: the changes, their actors, and the answers to them; shared by all threads
of a round."""
import collections
import contextlib
import json
import os
import threading
import time

from history import World, Writes


class Account:
    def __init__(self, store, log):
        self.store, self.log = store, log
        self.lock = threading.RLock()
        self.world = World()
        self.findings = []                     # (kind, text)
        self.counts = collections.Counter()    # successful calls
        self.errors = collections.Counter()    # allowed refusals
        self.tokens = collections.Counter()
        self.looking_since = {}                # reader -> the time at which it began to look
        self.cuts = collections.defaultdict(list)  # shape -> of shrinks that were killed half-way
        # Members that check.py asks of an account; they are always empty here.
        self.moves, self.weak, self.weak_nodes, self.live = [], set(), set(), set()

    def now(self):
        return time.monotonic_ns()

    def token(self, number):
        """Names the writer (its number, from 1) and the number of its write."""
        with self.lock:
            self.tokens[number] += 1
            return number << 20 | self.tokens[number]

    def note(self, who, text):
        with self.lock:
            self.log.write(f"{self.now()} {who} {text}\n")

    def find(self, kind, who, text):
        """An event that no rule allows."""
        with self.lock:
            self.findings.append((kind, f"{who}: {text}"))
            self.note(who, f"FINDING {kind}: {text}")

    def acknowledge(self, done, now):
        """(register, event) pairs count from now on."""
        with self.lock:
            for register, event in done:
                event.end = min(event.end, now)
                register.acknowledge(event, now)
                if isinstance(register, Writes):
                    register.forget(min([now, *self.looking_since.values()]))

    def acknowledge_resize(self, done, now):
        """A resize first finishes those that were killed before it."""
        with self.lock:
            self.acknowledge(done + self.cuts.pop(done[0][0], []), now)

    @contextlib.contextmanager
    def looking(self, who):
        """Keeps the events that may be seen from now on, until they have been judged."""
        with self.lock:
            self.looking_since[who] = begin = self.now()
        try:
            yield begin
        finally:
            with self.lock:
                del self.looking_since[who]

    def end(self, done, now):
        """The events can have no further effect."""
        with self.lock:
            for _, event in done:
                event.end = min(event.end, now)

    def nodes_at(self, path, first, last):
        """The nodes that may have been at a path between two moments; None stands for no node."""
        with self.lock:
            return list(dict.fromkeys(self.world.at(path).allowed(first, last)))

    def shapes_of(self, node, first, last):
        with self.lock:
            return set(node.shape.allowed(first, last))

    def exists(self, node, first, last):
        """Whether the node may have been at any path."""
        with self.lock:
            return any(node in register.allowed(first, last)
                       for register in self.world.paths.values())

    # ---- Changes without a known outcome

    def document(self, path):
        """The document that is there now, or None. An unreadable one is found at the end."""
        try:
            with open(os.path.join(self.store, path, "zarr.json")) as file:
                return json.load(file)
        except (OSError, ValueError):
            return None

    def look(self, who, begun, command, path, other):
        """After an error or a kill: finds out whether a change has been made. No other actor
        changes these paths meanwhile. What a shrink cut off may still be there, for handles of the
        larger shape, until the next resize finishes it."""
        now = self.now()
        document = self.document(path)
        if command == "create":
            made = document is not None
        elif command == "delete":
            made = document is None
        elif command == "move":
            made = document is None
            if made == (self.document(other) is None):
                begun = self.move_half_made(who, begun, made, now)
        else:
            made = document is not None and tuple(document["shape"]) == begun[0][1].value
        with self.lock:
            for register, event in begun:
                if not made and isinstance(register, Writes):
                    event.hidden_from[:] = now
                elif not made:
                    register.cancel(event, now)
            if made and command == "resize":
                self.acknowledge_resize(begun[:1], now)
                self.cuts[begun[0][0]] += begun[1:]
            elif made:
                self.acknowledge(begun, now)
            self.end(begun, now)

    def move_half_made(self, who, begun, lost, now):
        """A move that copies and then deletes leaves both when it is killed between: from then on
        they are two nodes. It always leaves at least one. Returns the changes that are still
        undecided."""
        target, source = begun
        if lost:
            self.find("lost", who, "a node is at neither end of a move")
            return []
        with self.lock:
            register, event = target
            twin = register.begin(who, event.value.copy(who, now), now)
            register.cancel(event, now)
            self.acknowledge([(register, twin)], now)
        return [source]
