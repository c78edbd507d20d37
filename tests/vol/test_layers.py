# SPDX-License-Identifier: MIT
"""The layers of the connector stand in one order, and each part of its structs has one owner."""
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "hdf5-vol/src"

# From the lowest to the highest. A file includes headers of its own layer and of those before it. The folders of the
# second layer are the subjects of an open file: each node has parts of most of them, and the sources among them call
# each other in no circle (core/layers).
LAYERS = [{"hdf5", "types"},
          {"file", "tree", "waiting", "links", "scales", "netcdf", "dataset", "attributes", "objects"},
          {"data", "exchange"}, {"create"}, {"copy", "encoded"}, {"callbacks", "ranks"}]
FOLDERS = {folder for layer in LAYERS for folder in layer}

# The structs that are made of parts: the header, the line above the parts, and what sources call one.
STRUCTS = [
    ("tree/node.h", "/* Nodes of any kind. */",
     r"(?:\b(?:node|group|dataset|owner|loose|top|parent|child|from|copy|array)|\(\*out\))->"),
    ("tree/tree.h", "/* Parts of one owner each", r"\bfile->"),
]


def files(pattern="*.[ch]"):
    return sorted(SOURCE.rglob(pattern))


def layer_of(folder):
    return next(number for number, layer in enumerate(LAYERS) if folder in layer)


def test_each_file_has_a_layer():
    assert {path.relative_to(SOURCE).parts[:-1] for path in files()} == {(folder,) for folder in FOLDERS}


def test_includes_look_down():
    wrong = []
    for path in files():
        folder = path.parent.name
        for other in re.findall(r'^#include "(\w+)/[^"]+"', path.read_text(), re.MULTILINE):
            if other != "zarrbridge" and layer_of(other) > layer_of(folder):
                wrong.append(f"{folder}/{path.name} includes a header of {other}")
    assert wrong == []


def parts(header, above):
    """The owner of each part of a struct, as the header names it: {member: source}."""
    text = (SOURCE / header).read_text()
    text = text[text.index(above):]
    text = text[:text.index("\n};")]
    lines = [line for line in text.splitlines() if re.search(r"\w+(\[\w+\])?;", line)]
    owners = dict(re.findall(r"(\w+)(?:\[\w+\])?;\s*/\* (\w+/\w+\.c)\b", text))
    assert len(owners) == len(lines) >= 10, "each part names its owner in a comment"
    return owners


@pytest.mark.parametrize("header, above, called", STRUCTS)
def test_parts_are_touched_by_their_owners(header, above, called):
    wrong = []
    for member, owner in parts(header, above).items():
        assert (SOURCE / owner).is_file()
        for path in files("*.c"):
            source = path.relative_to(SOURCE).as_posix()
            # node_life.c has the parts of a node freed, handle.c those of a file
            if source not in (owner, "tree/node_life.c", "file/handle.c") and re.search(rf"{called}{member}\b", path.read_text()):
                wrong.append(f"{source} touches {member}, which is of {owner}")
    assert wrong == []


def test_each_claim_has_its_reason_on_the_page():
    """What the connector says of itself without being it is in one table, and behind one switch each."""
    claims = re.findall(r"#define (VOL_CLAIM_\w+) 1\b", (SOURCE / "hdf5/claims.h").read_text())
    table = [line for line in (SOURCE.parents[1] / "docs/registration.md").read_text().splitlines()
             if line.startswith("| ") and "VOL_CLAIM" in line]
    assert sorted(re.findall(r"VOL_CLAIM_\w+", " ".join(table))) == sorted(claims) and len(table) == len(claims) == 4
    for claim in claims:
        assert any(claim in path.read_text() for path in files("*.c")), claim


def test_the_number_stands_in_one_place():
    """A registered number replaces it there, and on the page that holds the request."""
    number, = re.findall(r"#define VOL_VALUE (\d+)\b", (SOURCE / "callbacks/classes.h").read_text())
    said = [path.name for path in files() if re.search(rf"\b{number}\b", path.read_text())]
    assert said == ["classes.h"]
    page = (SOURCE.parents[1] / "docs/registration.md").read_text()
    assert f"It is {number} " in page
