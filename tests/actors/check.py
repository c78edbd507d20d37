# SPDX-License-Identifier: MIT
"""Checks a store that is not in use, with zarr-python and `zarrbridge verify`, and reports broken
promises. `account` knows the promises: its `world` (history.py), the moves, and the content without
any promise (tests/power/record.py, tests/soak/account.py). `place` is the time of the account at
which the store was left in this state."""
import json
import os
import subprocess

import numpy as np
import zarr

from actors import PROGRAM
from history import FILL


class Finding:
    """One broken promise. `kind` is for counting."""

    def __init__(self, kind, text):
        self.kind, self.text = kind, text

    def __str__(self):
        return f"{self.kind}: {self.text}"


def read_document(root, path):
    """The parsed document, None where there is none, or a text that describes its fault."""
    name = os.path.join(root, path, "zarr.json")
    try:
        with open(name, "rb") as file:
            text = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        document = json.loads(text)
        return document if isinstance(document, dict) else f"{len(text)} bytes, no object"
    except ValueError:
        return f"{len(text)} bytes, no JSON"


def fits(node, document, place):
    """Whether it is the document of this node, with an allowed shape and allowed attributes."""
    if document.get("node_type") != ("array" if node.is_array else "group"):
        return "it is the document of another kind of node"
    if node.is_array and tuple(document.get("shape", ())) not in node.shape.allowed(place):
        return f"shape {document.get('shape')}, allowed {node.shape.allowed(place)}"
    for name, register in node.attributes.items():
        value = document.get("attributes", {}).get(name)
        if value not in register.allowed(place):
            return f"attribute {name} is {value}, allowed {register.allowed(place)}"
    return None


class Verified:
    """The findings of `zarrbridge verify`: kinds and messages by key."""

    def __init__(self, root):
        done = subprocess.run([PROGRAM, "verify", root], capture_output=True, text=True)
        is_empty = "no group and no array" in done.stderr  # Check.nodes() tells whether it may be
        failed = (done.returncode > 1 or done.returncode < 0) and not is_empty
        self.failed = done.stderr.strip() if failed else None
        self.found = []
        for line in done.stdout.splitlines():
            kind, _, rest = line.partition(" ")
            key, _, message = rest.strip().partition(": ")
            self.found.append((kind, key, message))

    def damaged_chunks(self, path):
        """Indices of an array's chunks that cannot be read."""
        prefix = f"{path}/c/" if path else "c/"
        return {tuple(map(int, key[len(prefix):].split("/"))) for kind, key, _ in self.found
                if kind in ("damaged", "truncated") and key.startswith(prefix)}


class Check:
    def __init__(self, account, root, place):
        self.account, self.root, self.place = account, root, place
        self.findings = []

    def find(self, kind, text):
        self.findings.append(Finding(kind, text))

    def all(self):
        """Before repairing and after."""
        if not os.path.isdir(self.root):
            self.nodes(None, repaired=False)
            return self.findings
        verified = Verified(self.root)
        if verified.failed:
            self.find("verify fails", verified.failed)
        self.documents_of_nobody()
        self.consolidated()
        self.nodes(verified, repaired=False)
        done = subprocess.run([PROGRAM, "repair", self.root], capture_output=True, text=True)
        if done.returncode != 0:
            self.find("repair fails", done.stderr.strip())
        verified = Verified(self.root)
        before = len(self.findings)
        self.nodes(verified, repaired=True)
        if len(self.findings) == before:  # else both would say the same
            self.left_over(verified)
        return self.findings

    def documents_of_nobody(self):
        for directory, _, files in os.walk(self.root):
            path = os.path.relpath(directory, self.root).removeprefix(".")
            if "zarr.json" in files and ".zb-tmp" not in path and path not in \
                    self.account.world.paths:
                self.find("foreign node", f"/{path}")

    def consolidated(self):
        """The root's copy of all documents must describe an allowed state."""
        document = read_document(self.root, "")
        block = document.get("consolidated_metadata") if isinstance(document, dict) else None
        for path, inner in (block or {}).get("metadata", {}).items():
            register = self.account.world.paths.get(path)
            nodes = [node for node in register.allowed(self.place) if node] if register else []
            reasons = [fits(node, inner, self.place) for node in nodes]
            if not nodes or None not in reasons:
                self.find("wrong consolidated", f"/{path}: {' or '.join(reasons)}")

    def nodes(self, verified, repaired):
        found = {path: self.node(path, register, verified, repaired)
                 for path, register in self.account.world.paths.items()}
        for begun, source, target in self.account.moves:
            if begun > self.place:
                continue
            node = next(event.value for event in self.account.world.at(target).events
                        if event.begin >= begun)
            somewhere = any(node in register.allowed(self.place) and found[path]
                            for path, register in self.account.world.paths.items())
            may_be_gone = any(event.value is None and event.begin <= self.place
                              for event in self.account.world.at(target).events
                              if event.begin > begun)
            if not somewhere and not may_be_gone:
                self.find("lost", f"/{source} is not there any more, nor is /{target}")

    def node(self, path, register, verified, repaired):
        """Returns whether there is such a state."""
        when = ", repaired" if repaired else ""
        allowed = register.allowed(self.place)
        document = read_document(self.root, path)
        if isinstance(document, str):
            new = None in allowed
            if not (new and self.account.weak_nodes.issuperset(filter(None, allowed))):
                self.find("unreadable new document" if new else "unreadable document",
                          f"/{path}{when}: {document}")
            return True
        if document is None:
            if None not in allowed:
                self.find("lost", f"/{path}{when} is not there")
            return False
        reasons = []
        for node in allowed:
            if node is None:
                continue
            reason = fits(node, document, self.place)
            if reason is None and node.is_array:
                reason = self.elements(path, node, verified, repaired)
            if reason is None:
                return True
            reasons.append(reason)
        self.find("wrong" if reasons else "back", f"/{path}{when}: " +
                  (" or ".join(reasons) or "it had been deleted"))
        return True

    def elements(self, path, node, verified, repaired):
        """The fault of an array's elements, or None."""
        damaged = verified.damaged_chunks(path)
        excused = {chunk for of, chunk in self.account.weak if of is node}
        if node in self.account.live and not repaired and damaged:
            return None  # damaged chunks have no elements; repairing decides
        for chunk in damaged - excused:
            return f"chunk {chunk} is damaged"
        try:
            data = zarr.open_array(os.path.join(self.root, path), mode="r", zarr_format=3)
            values = read_around(data, damaged, node.chunk)
        except Exception as error:  # a reader of another project: any exception of it counts
            return f"zarr-python cannot read it: {error!r}"
        wrong = node.writes.wrong(values, self.place)
        for row, column in damaged:
            rows, columns = node.chunk
            wrong[row * rows:(row + 1) * rows, column * columns:(column + 1) * columns] = False
        if not wrong.any():
            return None
        row, column = np.argwhere(wrong)[0]
        return f"{wrong.sum()} elements wrong, the one at {row},{column} is " + tell(
            values[row, column])

    def left_over(self, verified):
        """After repairing, all findings belong to unfinished changes."""
        if verified.failed:
            self.find("verify fails", f"repaired: {verified.failed}")
        for kind, key, message in verified.found:
            weak = kind in ("damaged", "truncated") and (self.account.weak or
                                                         self.account.weak_nodes)
            note = os.path.basename(key) == ".zarrbridge-copy"  # the next node there clears it
            if not weak and not ((kind == "orphaned" or note) and self.is_open(key)):
                self.find("left over", f"repaired: {kind} {key}: {message}")

    def is_open(self, key):
        """Whether the node that owns a key may be missing, or may have another shape."""
        for path, register in self.account.world.paths.items():
            if path != "" and not key.startswith(path + "/"):
                continue
            allowed = register.allowed(self.place)
            if None in allowed and (path != "" or len(allowed) > 1):
                return True
            if any(node and node.is_array and len(set(node.shape.allowed(self.place))) > 1
                   for node in allowed) and path != "":
                return True
        return False


def read_around(array, damaged, chunk):
    """All elements of an array; undefined values where it cannot be read."""
    if not damaged:
        return array[...]
    values = np.zeros(array.shape, array.dtype)
    for row in range(0, array.shape[0], chunk[0]):
        for column in range(0, array.shape[1], chunk[1]):
            if (row // chunk[0], column // chunk[1]) not in damaged:
                where = slice(row, row + chunk[0]), slice(column, column + chunk[1])
                values[where] = array[where]
    return values


def tell(value):
    if value in (FILL, 0):
        return f"fill ({value})"
    return f"{value} (write {value >> 16} of row {value >> 8 & 255}, column {value & 255})"
