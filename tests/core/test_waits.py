# SPDX-License-Identifier: MIT
"""Waits for servers and for locks go through util/wait.c, so that a thread can end them (zarrbridge/stop.h). Each
source of the core that sleeps in another way has a reason here.

ZARRBRIDGE_SOURCE is the source tree.
"""
import os
import re
from pathlib import Path

CORE = Path(os.environ["ZARRBRIDGE_SOURCE"]) / "core"
SLEEPS = re.compile(r"\b(pthread_cond_\w*wait|nanosleep|clock_nanosleep|usleep|sleep|poll|ppoll|select|epoll_wait|"
                    r"curl_multi_poll|curl_multi_wait|sem_\w*wait)\s*\(")

REASONS = {
    "src/util/wait.c": "is the way",
    "src/util/back_off.c": "for a write, and for renames again: changes that were begun",
    "src/util/lane.c": "threads wait for work, and a caller for its lane, whose work is ended where it waits",
    "src/util/pool.c": "threads of the pool wait for work, and a caller for threads that compute",
    "src/store/fetch.c": "threads wait for work; what is cancelled waits for reads that are under way",
    "src/store/staging.c": "removes the directory of a store: a change that was begun",
    "src/read/retry.c": "a second at most",
    "src/write/budget.c": "a write",
    "src/change/copy_object.c": "a copy",
    "cli/doctor_peers.c": "processes meet by files, for as long as --seconds says",
    "cli/doctor_probe.c": "a child process, likewise",
    "cli/progress.c": "the thread that draws, until its call ends",
    "net/io.c": "the thread of the requests itself; waits for that thread, which answers at once; the end of a store",
    "net/cred_process.c": "polls for as long as the asking thread may (zb__is_stopped)",
    "net/s3_copy.c": "a change that was begun",
    "net/s3_parts.c": "a change that was begun",
}


def test_no_other_source_sleeps():
    found = {}
    for path in sorted(CORE.rglob("*.c")):
        lines = [line.strip() for line in path.read_text().splitlines() if SLEEPS.search(line)]
        if lines:
            found[path.relative_to(CORE).as_posix()] = lines
    assert {name: lines for name, lines in found.items() if name not in REASONS} == {}
    assert set(REASONS) == set(found), "reasons that nobody needs any more"
