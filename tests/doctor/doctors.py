# SPDX-License-Identifier: MIT
"""Runs `zarrbridge doctor` in an environment of which all is known."""
import functools
import json
import os
import pathlib
import subprocess

PROGRAM = os.environ["ZARRBRIDGE_PROGRAM"]
FAKES = pathlib.Path(os.environ["ZARRBRIDGE_FAKES"])
BUILD = pathlib.Path(os.environ["ZARRBRIDGE_BUILD_DIR"])
CONNECTOR = BUILD / "hdf5-vol/plugins/libhdf5_vol_zarr.so"
DRIVER = BUILD / "gdal-driver/plugins/gdal_Zarr3.so"

# Without Python and h5cc, unless a test makes some.
SOUND = {"PATH": "/nothing", "HDF5_PLUGIN_PATH": CONNECTOR.parent, "GDAL_DRIVER_PATH": DRIVER.parent,
         **{name: value for name, value in os.environ.items() if name.startswith(("ASAN_", "UBSAN_", "LD_PRELOAD"))}}


def start(*arguments, variables=None, **options):
    environment = {name: str(value) for name, value in {**SOUND, **(variables or {})}.items() if value is not None}
    return subprocess.Popen([PROGRAM, "doctor", "--json", *map(str, arguments)], env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


class Answer:
    def __init__(self, process):
        out, err = process.communicate(timeout=300)
        self.status = process.returncode
        assert self.status in (0, 1, 2), (self.status, out, err)
        document = json.loads(out)
        self.lines, self.summary = document["lines"], document["summary"]
        self.text = out + err

    def findings(self, *kinds):
        return [line for line in self.lines if line["kind"] in (kinds or ("note", "warning", "error"))]

    def of(self, words, kind=None):
        """The only finding with these words, whose advice is its last part."""
        found = [line for line in self.findings() if words in line["message"] and kind in (None, line["kind"])]
        assert len(found) == 1, (words, self.lines)
        assert found[0]["advice"], found
        return found[0]

    def lacks(self, words):
        assert not [line for line in self.findings() if words in line["message"]], self.lines


def doctor(*arguments, variables=None, **options):
    return Answer(start(*arguments, variables=variables, **options))


ask_self, ask_variable, ask_hdf5, ask_gdal, ask_python, ask_path = (
    functools.partial(doctor, "--only", subject) for subject in ("self", "variable", "hdf5", "gdal", "python", "path"))


def patched(source, target, *pairs):
    """A copy of a file in which texts are replaced by others of the same length."""
    content = source.read_bytes()
    for old, new in pairs:
        assert len(old) == len(new) and old in content, old
        content = content.replace(old, new)
    target.parent.mkdir(exist_ok=True, parents=True)
    target.write_bytes(content)
    return target
