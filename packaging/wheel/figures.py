# SPDX-License-Identifier: MIT
"""The figures of a wheel for docs/packaging.md: of each file its size, what it needs, the newest versions of the symbols
that it uses, and what it exports."""
import re
import subprocess


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=True).stdout


def newest(text, name):
    found = {tuple(map(int, version.split("."))) for version in re.findall(rf"\b{name}_(\d+(?:\.\d+)+)", text)}
    return f"{name} {'.'.join(map(str, max(found)))}" if found else ""


def describe(path):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", path))
    symbols = readelf("--dyn-syms", path)
    exported = [line for line in symbols.splitlines()
                if re.search(r"\b(GLOBAL|WEAK)\b", line) and " UND " not in line and " ABS " not in line]
    versions = [text for text in (newest(symbols, name) for name in ("GLIBC", "GLIBCXX", "CXXABI")) if text]
    return needed, versions, len(exported)


def table(tree, wheel):
    lines = [f"`{wheel.name}`: {wheel.stat().st_size:,} bytes", "",
             "| file | bytes | needs | newest symbols | exports |", "| --- | --- | --- | --- | --- |"]
    for path in sorted(path for path in tree.rglob("*") if path.is_file()):
        needed, versions, exported = describe(path)
        lines.append(f"| `{path.relative_to(tree)}` | {path.stat().st_size:,} | {', '.join(needed)} "
                     f"| {', '.join(versions)} | {exported} |")
    return "\n".join(lines)
