# SPDX-License-Identifier: MIT
"""Events of the kernel's, for tests that go on when another thread or process has come to where it waits."""

import platform
import subprocess
import threading
import time
from pathlib import Path

# The system calls in which a wait is: for a lock of flock(); for another thread; between two looks at what another
# process does, a lock of the directory store among them.
NUMBERS = {"x86_64": {"flock": 73, "futex": 202, "clock_nanosleep": 230},
           "aarch64": {"flock": 32, "futex": 98, "clock_nanosleep": 115}}
SECONDS = 300  # on the slowest machine


def threads_of(process):
    """The folders in /proc of a process's threads and of its children's."""
    for task in Path(f"/proc/{process}/task").iterdir():
        yield task
        for child in (task / "children").read_text().split():
            yield from threads_of(child)


def look(task, number):
    """The call that the thread is inside, with its arguments and its place; "" when it is in none of that number."""
    try:
        words = (task / "syscall").read_text().split()
    except (FileNotFoundError, ProcessLookupError):  # it has ended
        return ""
    # The interpreter waits for its own lock again and again, each time for a while.
    is_for_a_while = len(words) > 4 and number == NUMBERS[platform.machine()]["futex"] and int(words[4], 16)
    return " ".join(words) if words[0] == str(number) and not is_for_a_while else ""


def find(folders, number):
    """The waits in such a call among those of threads; none where a process has just ended."""
    try:
        return {(folder, found) for folder in folders if (found := look(folder, number))}
    except (FileNotFoundError, ProcessLookupError):
        return set()


def await_call(call, where):
    """Returns when a thread waits in that call: `where` is a thread of this process, or a child (subprocess.Popen), of
    which any thread, or any thread of its own children, may do so. What lasts for a moment only is not meant: two
    looks find the same."""
    number, before = NUMBERS[platform.machine()][call], set()
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        if isinstance(where, subprocess.Popen):
            is_there, folders = where.poll() is None, threads_of(where.pid)
        else:
            is_there, folders = where.is_alive(), [Path(f"/proc/self/task/{where.native_id}")]
        assert is_there, f"it has ended, and not waited in {call}"
        now = find(folders, number)
        if now & before:
            return
        before = now
        time.sleep(0.001)
    raise AssertionError(f"it does not wait in {call}")


def await_idle_threads():
    """Returns when all threads of this process but the one that calls have been seen to wait for another one."""
    number, until = NUMBERS[platform.machine()]["futex"], time.monotonic() + SECONDS
    left = {folder for folder in Path("/proc/self/task").iterdir() if int(folder.name) != threading.get_native_id()}
    while left:
        left = {folder for folder in left if folder.exists() and not look(folder, number)}
        assert time.monotonic() < until, "a thread is never idle"
        time.sleep(0.001)
