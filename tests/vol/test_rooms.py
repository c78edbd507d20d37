# SPDX-License-Identifier: MIT
"""The rooms of the connector stand in one order, and each part of a node has one owner."""
import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "hdf5-vol/src"

# From the lowest to the highest. A file includes headers of its own room and of those before it.
ROOMS = ["hdf5", "model", "objects", "attributes", "data", "create", "copy", "callbacks"]

# What sources call a node.
NODE = r"(?:\b(?:node|group|dataset|owner|loose|top|parent|child|from|copy|array)|\(\*out\))->"


def files(pattern="*.[ch]"):
    return sorted(SOURCE.rglob(pattern))


def test_each_file_has_a_room():
    assert {path.relative_to(SOURCE).parts[:-1] for path in files()} == {(room,) for room in ROOMS}


def test_includes_look_down():
    wrong = []
    for path in files():
        room = path.parent.name
        for other in re.findall(r'^#include "(\w+)/[^"]+"', path.read_text(), re.MULTILINE):
            if other != "zarrbridge" and ROOMS.index(other) > ROOMS.index(room):
                wrong.append(f"{room}/{path.name} includes a header of {other}")
    assert wrong == []


def parts():
    """The owner of each part of a node, as node.h names it: {member: source}."""
    text = (SOURCE / "model/node.h").read_text()
    text = text[text.index("/* Nodes of any kind. */"):]
    text = text[:text.index("\n};")]
    lines = [line for line in text.splitlines() if ";" in line]
    owners = dict(re.findall(r"(\w+);\s*/\* ([\w/]+\.c)\b", text))
    assert len(owners) == len(lines) > 10, "each part names its owner in a comment"
    return {member: owner if "/" in owner else f"model/{owner}" for member, owner in owners.items()}


def test_parts_of_a_node_are_touched_by_their_owners():
    wrong = []
    for member, owner in parts().items():
        assert (SOURCE / owner).is_file()
        for path in files("*.c"):
            source = path.relative_to(SOURCE).as_posix()
            if source not in (owner, "model/node.c") and re.search(rf"{NODE}{member}\b", path.read_text()):
                wrong.append(f"{source} touches {member}, which is of {owner}")
    assert wrong == []
