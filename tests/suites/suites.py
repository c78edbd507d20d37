# SPDX-License-Identifier: MIT
"""Runs other projects' suites with every new file a store, and natively beside it; prints counts,
and what fails on stores only. README.md says which suites there are."""
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from examples import examples
from gdal_zarr import gdal_zarr
from running import BY_NAME, STORES, reason, run

# ---- HDFGroup/vol-tests ---------------------------------------------------------------------------

# The serial flavour, also where "hdf5" is the one for MPI. Debian alone has this name.
HAS_FLAVOURS = subprocess.run(["pkg-config", "--exists", "hdf5-serial"], check=False).returncode == 0
HDF5 = "hdf5-serial" if HAS_FLAVOURS else "hdf5"
MODULES = ("file", "group", "dataset", "datatype", "attribute", "link", "object", "misc")


def build_vol_tests(checkout, work):
    """One program, with a seed of its own, since each run has other types. Its random types do not
    know of HDF5 2's complex numbers, and it compares connectors by their ids, which are no longer
    equal there."""
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", HDF5], check=True,
                           capture_output=True, text=True).stdout.split()
    version = subprocess.run(["pkg-config", "--modversion", HDF5], check=True,
                             capture_output=True, text=True).stdout
    (work / "h5vl_test_config.h").write_text("")
    sources = []
    for name in ("vol_test", "vol_test_util", *(f"vol_{m}_test" for m in (*MODULES, "async"))):
        text = (checkout / f"{name}.c").read_text().replace("(unsigned)HDtime(NULL)", "1")
        if version.startswith("2"):
            text = text.replace("rand() % H5T_NCLASSES", "rand() % 11")
            text = re.sub(r"if \(default_con_id != registered_con_id\)", "if (0)", text)
        (work / f"{name}.c").write_text(text)
        sources.append(work / f"{name}.c")
    program = work / "h5vl_test"
    subprocess.run(["cc", "-w", "-std=gnu17", f"-I{work}", f"-I{checkout}", *sources, "-o", program,
                    *flags, "-lm"], check=True)
    return program


def checks_of(text):
    """(title, outcome) of each check; messages may stand between the two."""
    title = ""
    for found in re.finditer(r"Testing (.+?)(?=  |PASSED|\*FAILED|$)|(PASSED|\*FAILED\*|-SKIP-)", text,
                             re.M):
        if found[2]:
            yield title, found[2]
        else:
            title = found[1]


def vol_tests(checkout):
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        program = build_vol_tests(checkout, work)
        print(f"{'module':12}{'stores: passed':>16}{'failed':>8}{'skipped':>9}{'native: passed':>17}")
        total = Counter()
        for module in MODULES:
            place = work / module
            place.mkdir()
            status, text = run([program, module], place, STORES)
            checks = list(checks_of(text))
            ours = Counter(outcome for _, outcome in checks)
            native = Counter(outcome for _, outcome in
                             checks_of(run([program, module], work)[1]))
            ended = "" if status in (0, 1) else f"   ended with {status}"
            print(f"{module:12}{ours['PASSED']:16}{ours['*FAILED*']:8}{ours['-SKIP-']:9}"
                  f"{native['PASSED']:17}{ended}")
            total += ours
            total["native"] += native["PASSED"]
            total["crashed"] += bool(ended)
            for title in (title for title, outcome in checks if outcome == "*FAILED*"):
                print(f"    fails: {title}")
    print(f"{'all':12}{total['PASSED']:16}{total['*FAILED*']:8}{total['-SKIP-']:9}"
          f"{total['native']:17}")
    return total["*FAILED*"] + total["crashed"]


# ---- h5py -----------------------------------------------------------------------------------------

def pytest_outcomes(text):
    """The outcome of each test, by its name."""
    return {name: outcome for name, outcome in
            re.findall(r"^(\S+::\S.*?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b", text, re.M)}


SECONDS = 3600


def h5py_tests(checkout):
    """The suite of a checkout, run against the h5py that is installed."""
    tests = next(path for path in (checkout / "h5py" / "tests", checkout / "tests", checkout)
                 if (path / "common.py").exists()).resolve()  # a package's modules know one path
    command = [sys.executable, "-m", "pytest", "-v", "--no-header", "--tb=no", "-p",
               "no:cacheprovider", tests]
    if subprocess.run([sys.executable, "-c", "import pytest_forked"],
                      stderr=subprocess.DEVNULL).returncode == 0:
        command.insert(3, "--forked")  # a crash costs one test
    with tempfile.TemporaryDirectory() as folder:
        ours = pytest_outcomes(run(command, folder, STORES, SECONDS)[1])
        native = pytest_outcomes(run(command, folder, None, SECONDS)[1])
    good = [name for name, outcome in native.items() if outcome == "PASSED"]
    bad = [name for name in good if ours.get(name) != "PASSED"]
    for name in bad:
        print(f"    {ours.get(name, 'MISSING')}: {name}")
    print(f"{len(good) - len(bad)} of the {len(good)} tests that pass natively pass on stores")
    return len(bad)


# ---- HDF5's test files ----------------------------------------------------------------------------

def convert(path, work):
    """What becomes of a file that h5repack goes there and back with: a word, and the reason. h5diff
    finds differences between some files and themselves, which do not count."""
    store, back, native = work / "x.zarr", work / "back.h5", work / "native.h5"
    if run(["h5repack", path, native], work)[0] != 0:
        return "not repackable natively", ""
    for source, target, problem in ((path, store, "refused"), (store, back, "not converted back")):
        status, text = run(["h5repack", "--enable-error-stack", source, target], work, BY_NAME, 300)
        if status is None:
            return "HANGS", ""
        if status != 0:
            return (problem if status > 0 else "CRASHED"), reason(text)
    status, text = run(["h5diff", path, back], work)
    if status in (0, run(["h5diff", path, native], work)[0]):
        return "same", ""
    return "DIFFERS", text.strip().split("\n")[0]


def hdf5_files(checkout):
    outcomes = Counter()
    for path in sorted(checkout.rglob("*.h5")):
        with tempfile.TemporaryDirectory() as folder:
            outcome, why = convert(path, Path(folder))
        outcomes[outcome] += 1
        print(f"{outcome:24} {path.relative_to(checkout)} {why[:120]}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common()))
    return sum(outcomes[word] for word in ("DIFFERS", "CRASHED", "HANGS", "not converted back"))


SUITES = {"vol-tests": vol_tests, "h5py": h5py_tests, "hdf5": hdf5_files, "examples": examples,
          "gdal": gdal_zarr}
FOLDERS = {"examples": "hdf5"}  # where they are not called like the suite


def main(folder, *names):
    bad = 0
    where = {name: Path(folder) / FOLDERS.get(name, name) for name in SUITES}
    for name in names or [name for name in SUITES if where[name].is_dir()]:
        print(f"== {name}", flush=True)
        bad += SUITES[name](where[name])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
