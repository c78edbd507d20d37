# SPDX-License-Identifier: MIT
"""The pages in docs/start: their form, and their blocks, run from top to bottom in one shell.

Blocks of sh and python run, and what a page shows of their output is compared; blocks of c and fortran are files that
they compile. A server of the reader's folder stands for the host that a page names. Blocks of console show what a test
cannot do: it installs nothing, and asks no other host. Blocks that draw run where matplotlib is installed."""
import importlib.util
import re
import shutil
import struct
import sys

import pytest

from reader import SOURCE, Reader, install_core

sys.path.insert(0, str(SOURCE / "tests/remote"))
from simserver import SimServer  # noqa: E402

PAGES = sorted(path.name for path in (SOURCE / "docs/start").glob("*.md") if path.name != "install.md")
WORDS = 1500
PICTURE_BYTES = 150_000
HOST = "https://data.example.org"


def text_of(page):
    return (SOURCE / "docs/start" / page).read_text()


def blocks(page):
    """(language, text) of each fenced block."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", text_of(page), re.M | re.S)


def draws(text):
    return "matplotlib" in text


def shown(told, wanted):
    """Are the lines of a page those of an output? Three dots stand for anything in a line, and alone for any lines."""
    lines = iter(told.splitlines())
    skips = False
    for line in wanted.splitlines():
        if line == "...":
            skips = True
            continue
        form = re.compile(".*".join(re.escape(part) for part in line.split("...")))
        found = next((one for one in lines if not skips or form.fullmatch(one)), None)
        if found is None or not form.fullmatch(found):
            return False
        skips = False
    return True


@pytest.mark.parametrize("told, wanted, right", [
    ("a\nb\nc\n", "a\nb\n", True), ("a\nb\nc\n", "a\nc\n", False), ("a\nb\nc\n", "a\n...\nc\n", True),
    ("a\nb\n", "b\n", False), ("a\nb\n", "a\n...\nd\n", False), ("x=17, y\n", "x=..., y\n", True), ("", "a\n", False)])
def test_outputs_are_compared(told, wanted, right):
    assert shown(told, wanted) == right


def test_there_is_a_page_for_each_reader():
    assert PAGES == ["c.md", "cluster.md", "gdal.md", "h5py.md", "netcdf.md", "server.md"]


@pytest.mark.parametrize("page", PAGES)
def test_form(page):
    """Short pages that begin with installing and a first success, and end with links."""
    text = text_of(page)
    assert len(text.split()) <= WORDS
    headings = re.findall(r"^## (.*)$", re.sub(r"```.*?```", "", text, flags=re.S), re.M)
    assert headings == ["Install", "First success", "Tasks", "When it fails", "Reference"]
    assert re.search(r"^!\[.+\]\(.+\.png\)", text.split("## Tasks")[0], re.M)
    assert {language for language, _ in blocks(page)} <= {"console", "sh", "text", "python", "c", "fortran"}


def test_pictures_are_small():
    for path in (SOURCE / "docs/images").glob("start-*.png"):
        head = path.read_bytes()[:24]
        assert head[:8] == b"\x89PNG\r\n\x1a\n" and path.stat().st_size <= PICTURE_BYTES, path.name
        width, height = struct.unpack(">II", head[16:])
        assert 200 <= width <= 1600 and 100 <= height <= 1200, path.name


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    return install_core(tmp_path_factory.mktemp("prefix"))


@pytest.fixture
def reader(installed, tmp_path):
    (tmp_path / "tests").symlink_to(SOURCE / "tests")
    made = Reader(tmp_path, installed)
    made.environment["no_proxy"] = "127.0.0.1"
    return made


def play(reader, page):
    """Runs the blocks of a page, but for those that draw."""
    told = ""
    with SimServer(reader.folder) as server:
        for language, text in blocks(page):
            if language in ("c", "fortran"):
                reader.file(text)
            elif language == "text":
                assert shown(told, text), f"{page} shows\n{text}\nand not\n{told}"
            elif language in ("sh", "python") and not draws(text):
                told = getattr(reader, language)(text.replace(HOST, server.url))


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_run(page, reader):
    play(reader, page)


def test_the_page_on_netcdf_runs(reader):
    for program in ("cdo", "gfortran", "ncks", "nf-config"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    play(reader, "../netcdf.md")


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed")
@pytest.mark.parametrize("page", [page for page in PAGES if any(draws(text) for _, text in blocks(page))])
def test_the_pictures_can_be_drawn(page, reader):
    reader.environment["MPLBACKEND"] = "agg"
    play(reader, page)
    for text in [text for _, text in blocks(page) if draws(text)]:
        reader.run("python3", "-c", text)
        assert (reader.folder / re.search(r'savefig\("([^"]+)"', text).group(1)).stat().st_size > 1000
