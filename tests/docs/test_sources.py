# SPDX-License-Identifier: MIT
"""Form of all C and C++ files: the width that tools/format gives code, for comments as well."""
import os
from pathlib import Path

import pytest

SOURCE = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])
WIDTH = 100
PLAIN = {name for name in (SOURCE / ".clang-format-ignore").read_text().split("\n") if name and name[0] != "#"}


@pytest.mark.parametrize("folder", ["core", "hdf5-vol", "gdal-driver", "tests"])
def test_lines_are_short(folder):
    files = [path for path in (SOURCE / folder).rglob("*")
             if path.suffix in (".c", ".h", ".cpp") and str(path.relative_to(SOURCE)) not in PLAIN]
    assert files
    long = [f"{path.relative_to(SOURCE)}:{number}: {len(line)} characters" for path in files
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1) if len(line) > WIDTH]
    assert not long, "\n".join(long)
