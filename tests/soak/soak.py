# SPDX-License-Identifier: MIT
"""Mixed use of stores, for minutes or hours: README.md.

    soak.py [MINUTES] [--seed N] [--only PROFILE ...] [--logs DIRECTORY]

Without MINUTES it takes what the length of tests says (tests/support/length.py): 30 seconds of the profiles that found
most, or two minutes of all.
"""
import argparse
import collections
import contextlib
import os
import pathlib
import random
import sys
import threading
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "actors"), str(TESTS / "support")]

import filesystems  # noqa: E402
import profiles  # noqa: E402
from account import Account  # noqa: E402
from actors import Actor  # noqa: E402
from check import Check  # noqa: E402
from history import Node  # noqa: E402
from length import SEED, by_length  # noqa: E402

ROUND = 8.0  # seconds


class Round:
    """One store, one crew, some seconds."""

    def __init__(self, profile, seed, store, shim, log):
        self.profile, self.seed, self.shim = profile, seed, shim
        self.account = Account(store, log)
        self.over = threading.Event()
        self.claimed, self.claiming = set(), threading.Lock()
        self.random = random.Random(seed)
        self.workers = []

    # ---- Paths that one changer decides about

    def claim(self, *paths):
        with self.claiming:
            if self.claimed.intersection(paths):
                return False
            self.claimed.update(paths)
            return True

    def give_back(self, *paths):
        with self.claiming:
            self.claimed.difference_update(paths)

    # ---- The round

    def make_store(self):
        account = self.account
        maker = Actor("c")

        def ask(*words):
            answer = maker.ask(*words)
            assert answer.ok, answer
            return account.now()

        ask("open", "s", account.store)
        for path, chunk, codecs in (("a/plain", None, "gzip"), ("a/shard", "16x16", "zstd"),
                                    ("a/crc", "16x16", "crc")):
            inner = "4x4" if chunk else "8x8"
            node = Node((32, 32), (16, 16) if chunk else (8, 8))
            begun = account.world.create(None, path, node, account.now())
            token = account.token(0)
            begun.append((node.writes, node.writes.begin(None, (0, 0), (32, 32), token,
                                                         account.now())))
            ask("create", "s", path, "32x32", inner, chunk or "-", codecs)
            ask("write", "s", path, "0,0", "32x32", token)
            account.acknowledge(begun, ask("flush", "s", path))
        begun = account.world.create(None, "m", Node(), account.now())
        account.acknowledge(begun, ask("group", "s", "m"))
        maker.end()

    def hire(self, trade, kind, **options):
        self.workers.append(trade(self, len(self.workers) + 1, kind, **options))

    def run(self, place, seconds):
        self.profile.crew(self.hire)
        for worker in self.workers:
            worker.start()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(0.15)
            if self.profile.kills and self.random.random() < 0.5:
                self.account.counts["kills"] += self.random.choice(self.workers).kill()
            if self.profile.stops:
                self.random.choice(self.workers).stand_still(self.random.random() / 5)
            self.profile.trouble(place, self.random)
        self.over.set()
        for worker in self.workers:
            worker.join(600)
            if worker.is_alive():
                self.account.find("hang", worker.name, "does not come to its end")
                worker.kill()
        self.profile.end_trouble(place)

    def judge(self):
        for finding in Check(self.account, self.account.store, self.account.now()).all():
            self.account.find(finding.kind, "at the end", finding.text)


class Tally:
    """A profile's line of the table."""

    def __init__(self, name):
        self.name, self.rounds, self.skipped = name, 0, None
        self.counts, self.errors = collections.Counter(), collections.Counter()
        self.findings = []

    def add(self, round_):
        self.rounds += 1
        self.counts += round_.account.counts
        self.errors += round_.account.errors
        self.findings += round_.account.findings

    def show(self):
        if self.skipped:
            print(f"{self.name:13} skipped: {self.skipped}")
            return
        count = self.counts
        print(f"{self.name:13} {self.rounds:6} {count['writes']:7} {count['attributes']:6} "
              f"{count['changes']:8} {count['reads']:7} {count['kills']:6} "
              f"{sum(self.errors.values()):8} {len(self.findings):9}")
        kinds = collections.Counter(kind for kind, _ in self.findings)
        for kind, number in kinds.most_common():
            first = next(text for other, text in self.findings if other == kind)
            print(f"    {number} x {kind}, first: {first[:400]}")


def run_round(name, number, seed, seconds, logs, tally):
    profile = profiles.ALL[name]
    path = logs / f"{name}-{number}.log"
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(open(path, "w"))
        place = stack.enter_context(profile.place(number))
        shim = profile.shim(place, number)
        store = os.path.join(place, "x.zarr")
        round_ = Round(profile, f"{seed} {name} {number}", store, shim, log)
        round_.make_store()
        round_.account.store = os.path.join(stack.enter_context(profile.above(place)), "x.zarr")
        profile.prepare(round_.account.store)
        round_.run(place, seconds)
        round_.judge()
        tally.add(round_)
    if not round_.account.findings:
        path.unlink()


def main():
    parser = argparse.ArgumentParser(prog="soak")
    parser.add_argument("minutes", type=float, nargs="?")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--only", choices=profiles.ALL, nargs="+")
    parser.add_argument("--logs", type=pathlib.Path, help="of rounds with findings")
    options = parser.parse_args()
    os.umask(0o022)
    filesystems.why_no_mounts()  # now, since earlier threads do not see mounts
    logs = options.logs or pathlib.Path("soak-logs")
    logs.mkdir(parents=True, exist_ok=True)
    names = options.only or list(profiles.ALL)
    if options.minutes is None:
        options.minutes, options.seed = by_length(0.5, 2.0, 60.0), SEED
        names = by_length(list(profiles.SHORT), names)
    elif options.seed is None:
        options.seed = random.randrange(1 << 32)
    tallies = []
    print(f"seed {options.seed}, logs of rounds with findings in {logs}", flush=True)
    print("profile       rounds  writes  attrs  changes   reads  kills  refused  findings")
    for name in names:
        tally = Tally(name)
        tallies.append(tally)
        until = time.monotonic() + options.minutes * 60 / len(names)
        try:
            while tally.rounds == 0 or time.monotonic() + ROUND / 2 < until:
                seconds = min(ROUND, max(2.0, until - time.monotonic()))
                run_round(name, tally.rounds, options.seed, seconds, logs, tally)
        except profiles.Lacks as lacks:
            tally.skipped = str(lacks)
        tally.show()
        sys.stdout.flush()
    return any(tally.findings for tally in tallies)


if __name__ == "__main__":
    sys.exit(main())
