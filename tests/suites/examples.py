# SPDX-License-Identifier: MIT
"""HDF5's examples in C and Fortran, each natively and with every new file a store."""
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from running import STORES, reason, run

FOLDERS = ("C/H5D", "C/H5G", "C/H5T", "C/H5VDS", "C/TUTR", "FORTRAN/H5D", "FORTRAN/H5G", "FORTRAN/H5T",
           "FORTRAN/TUTR")
FIRST = ("h5_crtdat", "h5_write", "h5_extend_write")  # write what others read
SECONDS = 30  # an example that goes on with what it could not create may read what is no number


def build(source, work, programs):
    """The program, or None. The wrappers of HDF5 link libhdf5.a unless told, which finds no plugins."""
    wrapper = "h5cc" if source.suffix == ".c" else "h5fc"
    program = programs / source.stem
    try:
        done = subprocess.run([wrapper, "-shlib", "-w", f"-I{work}", "-o", program, source],
                              cwd=programs, capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return program if done.returncode == 0 else None


def version_header(work):
    """The header of the Fortran examples, which their build makes of a template."""
    numbers = subprocess.run(["pkg-config", "--modversion", "hdf5"], check=True, capture_output=True,
                             text=True).stdout.strip().split(".")
    lines = [f"#define H5_VERS_{name} {number}" for name, number in zip(("MAJOR", "MINOR"), numbers)]
    lines.append("#define H5_VERSION_GE(a,b,c) (((H5_VERS_MAJOR==a)&&(H5_VERS_MINOR>=b))||(H5_VERS_MAJOR>a))")
    (work / "h5_version.h").write_text("\n".join(lines) + "\n")


def outcome(native, ours):
    """A word, and the reason."""
    if native == ours:
        return "identical", ""
    if "HDF5-DIAG" in ours[1] and "HDF5-DIAG" not in native[1]:
        return "refused", reason(ours[1])
    lines = [line for line in ours[1].split("\n") if line not in native[1].split("\n")]
    return ("HANGS" if ours[0] is None else "differs"), " ".join(lines[:2])


def run_folder(examples, folder, work):
    places = {connector: work / folder / str(bool(connector)) for connector in (None, STORES)}
    programs = work / folder / "programs"
    programs.mkdir(parents=True)
    for place in places.values():
        for name in ("red", "blue", "u2w"):
            (place / name).mkdir(parents=True)
        for path in (examples / folder).glob("*.h5"):
            shutil.copy(path, place)
    sources = [path for path in (examples / folder).iterdir() if path.suffix in (".c", ".f90", ".F90")]
    for source in sorted(sources, key=lambda path: (path.stem not in FIRST, path)):
        program = build(source, work, programs)
        if not program:
            yield source, "not built", ""
            continue
        native, ours = (run([program], place, connector, SECONDS)
                        for connector, place in places.items())
        yield source, *outcome(native, ours)


def examples(checkout):
    """Prints what becomes of each; returns the number of those that differ or hang."""
    root = next(path for path in (checkout / "HDF5Examples", checkout) if (path / "C").is_dir())
    outcomes = Counter()
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        version_header(work)
        for folder in FOLDERS:
            if not (root / folder).is_dir():
                continue
            for source, word, why in run_folder(root, folder, work):
                outcomes[word] += 1
                if word != "identical":
                    why = re.sub(r"[^ -~]", "?", str(why))
                    print(f"{word:12} {folder}/{source.name} {why[:120]}", flush=True)
    print(", ".join(f"{count} {word}" for word, count in outcomes.most_common()))
    return outcomes["differs"] + outcomes["HANGS"]
