# SPDX-License-Identifier: MIT
"""The layers of the connector stand in one order, and each part of its structs has one owner."""
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "hdf5-vol/src"

# From the lowest to the highest. A file includes headers of its own layer and of those before it.
LAYERS = ["hdf5", "model", "objects", "attributes", "data", "create", "copy", "callbacks"]

# The structs that are made of parts: the header, the line above the parts, and what sources call one.
STRUCTS = [
    ("model/node.h", "/* Nodes of any kind. */",
     r"(?:\b(?:node|group|dataset|owner|loose|top|parent|child|from|copy|array)|\(\*out\))->"),
    ("model/tree.h", "/* Parts of one owner each", r"\bfile->"),
]


def files(pattern="*.[ch]"):
    return sorted(SOURCE.rglob(pattern))


def test_each_file_has_a_room():
    assert {path.relative_to(SOURCE).parts[:-1] for path in files()} == {(layer,) for layer in LAYERS}


def test_includes_look_down():
    wrong = []
    for path in files():
        layer = path.parent.name
        for other in re.findall(r'^#include "(\w+)/[^"]+"', path.read_text(), re.MULTILINE):
            if other != "zarrbridge" and LAYERS.index(other) > LAYERS.index(layer):
                wrong.append(f"{layer}/{path.name} includes a header of {other}")
    assert wrong == []


def parts(header, above):
    """The owner of each part of a struct, as the header names it: {member: source}."""
    text = (SOURCE / header).read_text()
    text = text[text.index(above):]
    text = text[:text.index("\n};")]
    lines = [line for line in text.splitlines() if re.search(r"\w+(\[\w+\])?;", line)]
    owners = dict(re.findall(r"(\w+)(?:\[\w+\])?;\s*/\* ([\w/]+\.c)\b", text))
    assert len(owners) == len(lines) >= 10, "each part names its owner in a comment"
    return {member: owner if "/" in owner else f"model/{owner}" for member, owner in owners.items()}


@pytest.mark.parametrize("header, above, called", STRUCTS)
def test_parts_are_touched_by_their_owners(header, above, called):
    wrong = []
    for member, owner in parts(header, above).items():
        assert (SOURCE / owner).is_file()
        for path in files("*.c"):
            source = path.relative_to(SOURCE).as_posix()
            # node_life.c has the parts of a node freed, handle.c those of a file
            if source not in (owner, "model/node_life.c", "model/handle.c") and re.search(rf"{called}{member}\b", path.read_text()):
                wrong.append(f"{source} touches {member}, which is of {owner}")
    assert wrong == []
