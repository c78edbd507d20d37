# SPDX-License-Identifier: MIT
"""The loop of an actor in Python: reads commands, one a line, and answers each (README.md)."""
import sys

import numpy as np

FILL = -1


def pair(text):
    return tuple(int(part) for part in text.replace("x", ",").split(","))


def box(corner, size):
    """Slices of rows and columns."""
    (row, column), (rows, columns) = pair(corner), pair(size)
    return slice(row, row + rows), slice(column, column + columns)


def values(where, token):
    """The elements of a write: boxes.c explains their values."""
    rows, columns = (np.arange(part.start, part.stop, dtype="i8") for part in where)
    if token == "fill":
        return np.full((len(rows), len(columns)), FILL, "i8")
    return int(token) * 65536 + rows[:, None] * 256 + columns


def say(text, data=b""):
    sys.stdout.buffer.write(text.encode() + b"\n" + data)
    sys.stdout.buffer.flush()


def one_line(text):
    return " ".join(str(text).split())


def name_of(error):
    """The kind of an error: its class, and errno where there is one."""
    number = getattr(error, "errno", None)
    return type(error).__name__ + (f":{number}" if number else "")


def serve(actor):
    """Calls actor.COMMAND(*words) for each line; the elements that it returns are sent."""
    for line in sys.stdin:
        command, *words = line.split()
        try:
            elements = getattr(actor, f"do_{command}")(*words)
        except Exception as error:  # any exception of the library is the answer
            say(f"error {name_of(error)} {one_line(error)}")
        else:
            data = b"" if elements is None else np.ascontiguousarray(elements, "<i8").tobytes()
            say("ok" if elements is None else f"bytes {len(data)}", data)
