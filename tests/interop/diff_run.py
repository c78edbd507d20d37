# SPDX-License-Identifier: MIT
"""Differential tests: random arrays go through changes by us and by other libraries in turn, and
all of them read the same elements afterwards. README.md says how to run them.

    diff_run.py [CASES] [--seed N] [--only INDEX ...] [--served JSON] [--long]
"""

import argparse
import collections
import json
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

import numpy as np
import refcodec
from diff_cases import Case
from diff_cases_v2 import CaseV2
from diff_faults import FAULTS, explain
from diff_peers import Absent, TensorStore, ZarrPython, Zarrs
from diff_served import Served
from libzarrbridge import Store, Writer
from trips import slices

NAMES = ["zarr-python", "zarrs", "tensorstore"]  # of the peers that write
WINDOWS = 3


class Difference(Exception):
    """peer: whose fault it may be; None is us."""

    def __init__(self, peer, operation, what):
        super().__init__(what)
        self.peer, self.operation = peer, operation


class Ours:
    """The core, as one of the libraries."""

    name, version = "zarrbridge", "this one"

    def __init__(self, folder):
        self.store = Store(folder)

    def read(self, path, windows, case):
        found = []
        for window in windows:
            values = np.empty(window[2], case.dtype)
            self.store.read_into("a", window[0], window[1], values, case.element(values))
            found.append(values)
        return found

    def resize(self, path, shape):
        self.store.resize("a", shape)

    def write(self, box, values, element):
        with Writer(self.store, "a") as writer:
            writer.write(box[0], box[1], values, element)

    def close(self):
        self.store.close()


def label(peer):
    return f"{peer.name} {peer.version}"


def shown(value):
    """numpy cannot print all of its own times."""
    return f"{value.view('i8')} of time" if np.asarray(value).dtype.kind in "Mm" else repr(value)


def first_difference(case, got, expected):
    if np.shape(got) != np.shape(expected):
        return f"shape {np.shape(got)}, not {np.shape(expected)}"
    for at in np.ndindex(*np.shape(expected)):
        if case.type.bytes_of(got[at]) != case.type.bytes_of(expected[at]):
            return f"at {at} it is {shown(got[at])}, not {shown(expected[at])}"
    return "no element by itself"


class Run:
    """One case, from an empty folder to the last comparison."""

    def __init__(self, case, peers, folder, excluded):
        self.case, self.folder, self.path = case, folder, folder / "a"
        self.peers = [peer for peer in peers if not case.unknown_to(peer)]
        self.writers = {p.name: p for p in self.peers if p.writes and p.name not in excluded}
        self.log, self.read_faults = [], []
        # Apart from the case's own numbers, which are the same with other peers.
        self.actors = random.Random(f"actors {case.name}")
        self.shrunk_by_peers = set()  # dimensions

    def actor(self):
        """The library that makes the next change: a peer, or us (None)."""
        if self.case.version == 2:  # which we do not write
            return self.actors.choice(list(self.writers.values()))
        return self.writers.get(self.actors.choice([None, *NAMES]))

    def asked(self, peer, operation, function, *arguments):
        """Calls a peer's, or our, function; an error is a difference."""
        try:
            return function(*arguments)
        except Exception as error:  # of any library
            text = f"{type(error).__name__}: {error}"
            raise Difference(peer, operation, text) from error

    def compare(self, peer, operation, windows, found):
        for window, values in zip(windows, found):
            expected = self.case.model[slices(window)]
            same = np.shape(values) == np.shape(expected)
            if not same or self.case.type.bytes_of(values) != self.case.type.bytes_of(expected):
                what = first_difference(self.case, values, expected)
                raise Difference(peer, operation, f"other elements in {window}: {what}")

    def create(self):
        """The document is ours, a peer's, or written by hand."""
        if self.case.version == 2:
            self.case.create(self.path)
            return
        case, how = self.case, self.actors.choice(["hand", "ours", "zarr-python", "tensorstore"])
        document, creator = case.document(), self.writers.get(how)
        if how == "ours" and case.is_ours():
            self.log.append("created by zarrbridge")
            self.asked(None, "create", case.create, self.ours.store, "a")
        elif creator:
            self.log.append(f"document by {how}")
            self.asked(creator, "create", creator.create, self.path, document)
        else:
            refcodec.write_document(self.path, document)
        self.check(creator, "create")

    def check(self, actor, operation):
        """After each step we read the whole array, so that the step to blame is known."""
        windows = self.case.windows(0)
        found = self.asked(actor, operation, self.ours.read, self.path, windows, self.case)
        self.compare(actor, operation, windows, found)

    def change(self, kind, what):
        actor = self.actor() if kind == "write" else self.resizer(what)
        self.log.append(f"{kind} by {actor.name if actor else 'zarrbridge'}: {what}")
        if kind == "write":
            values = self.case.values(what[2])
            layout = self.case.in_layout(values)  # drawn in any case, so that cases stay the same
            self.case.put(what, values)
            if actor:
                self.asked(actor, kind, actor.write, self.path, what, values)
            else:
                self.asked(None, kind, self.ours.write, what, layout, self.case.element(layout))
        else:
            self.case.resized(what)
            resize = actor.resize if actor else self.ours.resize
            self.asked(actor, kind, resize, self.path, what)
        self.check(actor, kind)

    def resizer(self, shape):
        """A library that shrinks an array leaves elements beyond the edge, and sees them again when
        it grows the array itself. We clear them, so that such growing is ours."""
        actor, pairs = self.actor(), list(enumerate(zip(shape, self.case.shape)))
        grown = {d for d, (new, old) in pairs if new > old}
        if grown & self.shrunk_by_peers:
            actor = None
        if actor is None:
            self.shrunk_by_peers -= grown
        else:
            self.shrunk_by_peers |= {d for d, (new, old) in pairs if new < old}
        return actor

    def run(self):
        self.folder.mkdir(parents=True)
        self.ours = Ours(self.folder)
        try:
            self.ours.store.create_group("")
            self.create()
            for kind, what in self.case.changes():
                if self.case.version == 3 or self.writers:
                    self.change(kind, what)
            windows = self.case.windows(WINDOWS)
            found = self.asked(None, "read", self.ours.read, self.path, windows, self.case)
            self.compare(None, "read", windows, found)
            for peer in self.peers:
                self.read_by(peer, windows)
        finally:
            self.ours.close()

    def read_by(self, peer, windows):
        try:
            found = self.asked(peer, "read", peer.read, self.path, windows, self.case)
            self.compare(peer, "read", windows, found)
        except Difference as difference:
            fault = explain(peer, "read", self.case, str(difference))
            if not fault:
                raise
            self.read_faults.append(fault)


class Session:
    def __init__(self, seed, peers, folder):
        self.seed, self.peers, self.folder = seed, peers, Path(folder)
        self.met, self.reads, self.unknown = (collections.Counter() for _ in range(3))
        self.writes, self.failed, self.cases = collections.Counter(), [], 0

    def one(self, index, excluded=()):
        """Runs a case; again without a peer whose known fault spoils what it writes."""
        # One case in eight is of version 2.
        case = (CaseV2 if index % 8 == 7 else Case)(self.seed, index)
        run = Run(case, self.peers, self.folder / f"{index}-{len(excluded)}", excluded)
        try:
            run.run()
        except Difference as difference:
            peer, operation = difference.peer, difference.operation
            fault = peer and operation != "read" and explain(peer, operation, case, str(difference))
            if fault:
                self.met[str(fault)] += 1
                return self.one(index, (*excluded, peer.name))
            self.fail(run, difference)
        else:
            self.count(run)
        finally:
            shutil.rmtree(run.folder, ignore_errors=True)

    def count(self, run):
        for fault in run.read_faults:
            self.met[str(fault)] += 1
        for peer in self.peers:
            why = run.case.unknown_to(peer)
            if why:
                self.unknown[label(peer), why] += 1
            else:
                self.reads[label(peer)] += 1
        for line in run.log:
            if " by " in line:
                self.writes[line.split(" by ")[1].split(":")[0]] += 1

    def fail(self, run, difference):
        whose = difference.peer
        who = label(whose) if whose else "zarrbridge"
        path = run.path / "zarr.json"
        path = path if path.exists() else run.path / ".zarray"
        self.failed.append(run.case.index)
        print(f"\nDIFFERENCE in {run.case}\n  {who}, {difference.operation}: {str(difference)[:600]}\n"
              f"  repeat:  tools/differential --seed {self.seed} --only {run.case.index}\n"
              f"  changes: {'; '.join(run.log)}\n"
              f"  {path.name}: {json.dumps(json.loads(path.read_text())) if path.exists() else 'none'}",
              flush=True)  # fmt: skip
        if os.environ.get("ZARRBRIDGE_TRACEBACK"):
            traceback.print_exception(difference)

    def report(self, seconds, long):
        print(f"\n{self.cases} cases, seed {self.seed}, {seconds:.0f} s")
        for peer in self.peers:
            left = sum(n for (name, _), n in self.unknown.items() if name == label(peer))
            changes = f", {self.writes[peer.name]} changes by it" if peer.writes else ""
            print(f"  {label(peer)}: {self.reads[label(peer)]} read, {left} with a part that it does "
                  f"not have{changes}")  # fmt: skip
        print(f"  zarrbridge: {self.writes['zarrbridge']} changes by it")
        for text, count in self.met.most_common():
            print(f"  known fault, {count} times: {text}")
        names = {peer.name for peer in self.peers}
        for fault in FAULTS:
            if long and fault.peer in names and not self.met[str(fault)]:
                print(f"  known fault that no case met: {fault}")
        print(f"  differences: {len(self.failed)} {self.failed[:50]}")


def find_peers(served):
    """Those of this process, and those with one of their own; who is absent is told."""
    peers = []
    kinds = [(kind.name, kind) for kind in (ZarrPython, Zarrs, TensorStore)]
    for name, make in [*kinds, *((each["peer"], lambda e=each: Served(*e["how"])) for each in served)]:
        try:
            peer = make()
        except Absent as absent:
            print(f"skipped: {name}: {absent}")
            continue
        # Two processes may have one version of one library.
        if (peer.name, peer.version) not in [(p.name, p.version) for p in peers]:
            peers.append(peer)
    return peers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cases", nargs="?", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    parser.add_argument("--only", type=int, nargs="*")
    parser.add_argument("--served", type=json.loads, default=[],
                        help='peers in other processes: [{"peer": NAME, "how": [COMMAND, ...]}]')
    parser.add_argument("--long", action="store_true", help="report faults that no case met")
    options = parser.parse_args()
    peers = find_peers(options.served)
    print(f"differential: {options.cases} cases, seed {options.seed}, with "
          + ", ".join(map(label, peers)), flush=True)  # fmt: skip
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="differential-") as folder:
        session = Session(options.seed, peers, folder)
        try:
            for index in options.only or range(options.cases):
                session.one(index)
                session.cases += 1
        except KeyboardInterrupt:
            print("interrupted")
    session.report(time.monotonic() - began, options.long)
    sys.exit(bool(session.failed))


if __name__ == "__main__":
    main()
