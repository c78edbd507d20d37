# SPDX-License-Identifier: MIT
"""What the program says of itself: help, man pages, docs/program.md and completion, all from its table."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

PROGRAM = os.environ["ZARRBRIDGE_PROGRAM"]
PAGE = pathlib.Path(__file__).parents[2] / "docs/program.md"
# Without the library of a sanitizer.
OTHERS = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True).stdout


NAMES = run("help", "--names").split()


def options(name):
    return re.findall(r"^  (?:-\w|  ),? +--([\w-]+)", run(name, "--help"), re.M)


def test_the_page_is_current():
    """zarrbridge help --markdown > docs/program.md"""
    assert PAGE.read_text() == run("help", "--markdown")


def test_the_page_has_all_commands_and_options():
    page = PAGE.read_text()
    for name in NAMES:
        section = page.split(f"\n## {name}\n")[1].split("\n## ")[0] + page.split("\n## ")[0]
        for option in set(options(name)) - {"help", "usage", "version"}:
            assert f"--{option}" in section, (name, option)


def test_lines_fit():
    """argp breaks lines behind the 79th column, and knows nothing of columns of a table or of examples."""
    for line in run("--help").split("Commands:")[1].splitlines():
        assert len(line) < 80 and (re.match("  [a-z]+ +[a-z]", line) or not line.startswith("  ")), line
    for name in NAMES:
        examples = run(name, "--help").split("Examples:\n")[1].split("\nExit status")[0].splitlines()
        assert len(examples) % 2 == 0 and all(re.match("  zarrbridge|  source", line) for line in examples[::2])
        assert all(line.startswith("      ") for line in examples[1::2])


@pytest.mark.parametrize("name", NAMES)
def test_help_has_two_ways(name):
    assert run("help", name) == run(name, "--help") == run(name, "-h")


OUTPUTS = [["--help"], ["--version"], ["help"], ["help", "--man"], ["help", "--markdown"], ["help", "--names"],
           ["completion", "bash"], ["doctor", "--only", "self"], *([name, "--help"] for name in NAMES)]


@pytest.mark.parametrize("words", OUTPUTS, ids=" ".join)
def test_output_that_cannot_be_written(words):
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and done.stderr.splitlines().count("zarrbridge: cannot write to standard output") == 1
    done = subprocess.run([PROGRAM, *words], stdout=1, stderr=subprocess.PIPE, text=True, preexec_fn=lambda: os.close(1))
    assert done.returncode == 2 and "standard output" in done.stderr


@pytest.mark.skipif(not shutil.which("man"), reason="man is not installed")
@pytest.mark.parametrize("name", [None, *NAMES])
def test_man_pages(name, tmp_path):
    page = tmp_path / "page.1"
    page.write_text(run("help", "--man", *([name] if name else [])))
    shown = subprocess.run(["man", "--warnings=w", "-l", page], check=True, capture_output=True, text=True,
                           env={**OTHERS, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
    assert shown.stderr == ""
    sections = re.findall("^[A-Z][A-Z ]+$", shown.stdout, re.M)
    assert sections[:3] == ["NAME", "SYNOPSIS", "DESCRIPTION"] and "EXIT STATUS" in sections
    for option in options(name) if name else []:
        assert option in ("usage", "version") or f"--{option}" in shown.stdout
    if not name:
        assert all(f"zarrbridge-{each}(1)" in shown.stdout for each in NAMES)
        assert "ZARRBRIDGE_CHUNK_BYTES" in shown.stdout


COMPLETED = [(["c"], {"compact", "consolidate", "copy", "completion"}), (["ls", "--d"], {"--depth="}),
             (["ls", "--color="], {"auto", "always", "never"}),
             (["pyramid", "--method", "n"], {"nearest"}), (["help", "co"], {"compact", "consolidate", "copy", "completion"}),
             (["completion", ""], {"bash", "zsh", "fish"}), (["ls", ""], set())]


@pytest.mark.parametrize("words, offered", COMPLETED)
def test_bash_completes(words, offered, tmp_path):
    """bash takes the = for a word of its own."""
    (tmp_path / "script").write_text(run("completion", "bash"))
    words = [part for word in words for part in (re.split("(=)", word)[:2] if "=" in word else [word])]
    done = subprocess.run(
        ["bash", "-c", 'source "$0" && COMP_WORDS=(zarrbridge "$@") COMP_CWORD=$# && '
         '_zarrbridge 2>/dev/null; printf "%s\n" "${COMPREPLY[@]}"', tmp_path / "script", *words],
        check=True, capture_output=True, text=True, env=OTHERS)
    assert set(done.stdout.split()) == offered


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
@pytest.mark.parametrize("words, offered", COMPLETED[:-1])
def test_fish_completes(words, offered, tmp_path):
    (tmp_path / "script").write_text(run("completion", "fish"))
    done = subprocess.run(["fish", "-c", f"source {tmp_path}/script; complete -C 'zarrbridge {' '.join(words)}'"],
                          check=True, capture_output=True, text=True, env={**OTHERS, "HOME": str(tmp_path)})
    found = {line.split("\t")[0].removeprefix("--color=") for line in done.stdout.splitlines()}
    assert found == {word.rstrip("=") for word in offered}


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_zsh_takes_the_script(tmp_path):
    (tmp_path / "script").write_text(run("completion", "zsh"))
    done = subprocess.run(["zsh", "-f", "-c", f"autoload -Uz compinit; compinit -u -d {tmp_path}/dump; "
                           f"source {tmp_path}/script; print $_comps[zarrbridge]; whence -w _zarrbridge"],
                          check=True, capture_output=True, text=True, env=OTHERS)
    assert (done.stdout, done.stderr) == ("_zarrbridge\n_zarrbridge: function\n", "")
