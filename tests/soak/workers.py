# SPDX-License-Identifier: MIT
"""The common part of threads that control one actor each."""
import random
import signal
import threading
import time

from actors import Actor, Gone, Hangs

SECONDS = 60  # for one answer: no lock is held for long


class Handle:
    """An array that an actor has open: which one it was, and of which shape, when it was opened."""

    def __init__(self, path, node, shape, since):
        self.path, self.node, self.shape, self.since = path, node, shape, since
        self.pending = []   # (register, event) of writes that are not flushed
        self.doubtful = []  # of failed calls, which may have an effect in part, now or later


class Worker(threading.Thread):
    """Does one thing after the other until the round is over. When its actor has been killed it
    starts another one."""

    def __init__(self, round_, number, kind, paths=None, prefix=(), **options):
        super().__init__(name=f"{type(self).__name__.lower()}-{number}-{kind}", daemon=True)
        self.round, self.account, self.profile = round_, round_.account, round_.profile
        self.number, self.kind = number, kind
        self.paths = paths or round_.profile.paths
        self.sync, self.strategy = options.get("sync", "none"), options.get("strategy", "rewrite")
        self.prefix = prefix
        self.random = random.Random(f"{round_.seed} {number}")
        self.handles, self.opened_at = {}, 0
        self.actor, self.killing, self.was_killed = None, threading.Lock(), False

    def run(self):
        try:
            while not self.round.over.is_set():
                self.survive(self.step)
            self.survive(self.finish)
        except Hangs as hangs:
            self.account.find("hang", self.name, str(hangs))
            self.actor.kill()
        except Exception as error:
            self.account.find("harness", self.name, repr(error))
            raise

    def survive(self, step):
        try:
            if self.actor or self.start_actor():
                step()
        except Gone as gone:
            self.bury(str(gone))

    def finish(self):
        self.close()

    # ---- The actor

    def start_actor(self):
        """Whether there is an actor now."""
        with self.killing:
            self.was_killed = False
            self.actor = Actor(self.kind, sync=self.sync, strategy=self.strategy,
                               shards="8x8", shim=self.round.shim, prefix=self.prefix)
        self.opened_at = self.account.now()
        answer = self.ask("open", self.account.store, self.sync, self.strategy)
        if not answer.ok:
            self.refused(answer, "open")
            self.let_go()
        return self.actor is not None

    def kill(self):
        """Called by other threads, and to let go."""
        with self.killing:
            if self.actor and not self.was_killed:
                self.was_killed = True
                self.actor.process.kill()
                return True
        return False

    def stand_still(self, seconds):
        """Called by another thread: the actor stops wherever it is, and goes on later."""
        with self.killing:
            if self.actor and not self.was_killed:
                self.actor.process.send_signal(signal.SIGSTOP)
                time.sleep(seconds)
                self.actor.process.send_signal(signal.SIGCONT)

    def let_go(self):
        """The end of an actor that cannot close its handles."""
        self.kill()
        self.bury("")

    def bury(self, said):
        """The actor is gone: its unfinished commands have no effect from now on."""
        status = self.actor.process.wait()
        if not self.was_killed:
            self.account.find("crash", self.name, f"status {status}: {said}")
        with self.killing:
            self.actor = None
        for handle in self.handles.values():
            self.account.end(handle.pending + handle.doubtful, self.account.now())
        self.handles = {}

    def ask(self, command, *words):
        answer = self.actor.ask(command, "s", *words, seconds=SECONDS)
        if command != "read" or not answer.ok:
            self.account.note(self.name, f"{command} {' '.join(map(str, words))} "
                              f"({answer.seconds:.3f} s): {answer!r}")
        return answer

    # ---- Errors

    def refused(self, answer, what, handle=None):
        """An error: it is counted where it is allowed, and is a finding elsewhere."""
        self.account.errors[answer.kind.partition(":")[0]] += 1
        if not self.profile.allows(answer, what) and not (handle and self.is_stale(handle)):
            self.account.find(self.profile.finding(answer), self.name,
                              f"{what} {handle.path if handle else ''}: {answer!r}")

    def is_stale(self, handle):
        """Whether, since the handle was opened, another node may have come to the path, or the
        array may have got another shape."""
        now = self.account.now()
        return (self.account.nodes_at(handle.path, handle.since, now) != [handle.node] or
                self.account.shapes_of(handle.node, handle.since, now) != {handle.shape})

    # ---- Handles

    def open(self, path):
        """A handle, or None: its array must be known for certain."""
        if path in self.handles:
            return self.handles[path]
        # An HDF5 file shows the nodes that it found when it first looked.
        since = self.opened_at if self.kind == "h5py" else self.account.now()
        answer = self.ask("read", path, "0,0", "1x1")
        now = self.account.now()
        nodes = self.account.nodes_at(path, since, now)
        shapes = self.account.shapes_of(nodes[0], since, now) if len(nodes) == 1 and nodes[0] else ()
        if len(shapes) == 1:
            handle = Handle(path, nodes[0], shapes.pop(), since)
            if answer.ok:
                self.handles[path] = handle
                return handle
            self.refused(answer, "open", handle)
        elif nodes == [None] and answer.ok:
            self.account.find("foreign node", self.name, f"/{path} is read, and not there")
        self.forget(path)  # the actor may have opened an array that it could not read
        return None

    def forget(self, path):
        """Closes a handle; h5py's goes with its file."""
        if self.kind == "h5py":
            return self.close()
        handle = self.handles.pop(path, None)
        answer = self.ask("forget", path)
        if handle:
            self.settle(answer, "forget", [handle])

    def close(self):
        """Closes everything, and the actor. One that cannot close is killed: libraries try again when
        their process ends."""
        answer = self.ask("close")
        if not answer.ok:
            self.refuse_settling(answer, "close", list(self.handles.values()))
            return self.let_go()
        handles, self.handles = list(self.handles.values()), {}
        self.settle(answer, "close", handles)
        with self.killing:
            actor, self.actor = self.actor, None
        if actor.end() != 0 and not self.was_killed:
            self.account.find("crash", self.name, f"at its end: {actor.said()}")

    def settle(self, answer, what, handles):
        """The writes of these handles have been stored now, or never will be."""
        now = self.account.now()
        for handle in handles:
            done, handle.pending = handle.pending, []
            self.account.end(done, now)
            if what != "flush":  # the handle is gone
                self.account.end(handle.doubtful, now)
            if answer.ok and done:
                self.account.acknowledge(done, now)
                self.account.counts["writes"] += len(done)
                self.check_place(handle, done)
        if not answer.ok:
            self.refuse_settling(answer, what, handles)

    def refuse_settling(self, answer, what, handles):
        self.refused(answer, what, next(filter(self.is_stale, handles),
                                        handles[0] if handles else None))

    def check_place(self, handle, done):
        """A write that cannot be stored is not acknowledged."""
        for _, event in done:
            if not hasattr(event, "box"):
                continue
            shapes = self.account.shapes_of(handle.node, event.begin, event.end)
            rows, columns = (part.stop for part in event.box)
            if not self.account.exists(handle.node, event.begin, event.end):
                self.account.find("stored nowhere", self.name, f"write {event.token} to "
                                  f"/{handle.path} was acknowledged; the array had been deleted")
            elif all(rows > shape[0] or columns > shape[1] for shape in shapes):
                self.account.find("stored nowhere", self.name, f"write {event.token} to "
                                  f"/{handle.path} was acknowledged; it lies beyond {shapes}")
                event.hidden_from[:] = event.end
