# SPDX-License-Identifier: MIT
"""The helpers that the GDAL tests share: writing stores, opening them, and looking at errors."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pytest
import zarr
from osgeo import gdal

import forked

gdal.UseExceptions()

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"


def pytest_sessionstart(session):
    if gdal.GetDriverByName("Zarr3") is None:
        pytest.exit("the Zarr3 plugin is not loaded; run through ctest or set GDAL_DRIVER_PATH", 1)


@pytest.fixture
def store(tmp_path):
    """A new store's path and its root group."""
    path = tmp_path / "x.zarr"
    return str(path), zarr.create_group(store=str(path), zarr_format=3)


@pytest.fixture
def open_path():
    """A directory that other users reach. pytest closes those above tmp_path to them."""
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        os.chmod(directory, 0o755)
        yield pathlib.Path(directory)


def put(group, name, data, attributes=None, dims=None, **options):
    """Writes an array into a group, by zarr-python."""
    data = np.asarray(data)
    array = group.create_array(name, shape=data.shape, dtype=data.dtype, dimension_names=dims,
                               attributes=attributes or {}, **options)
    array[...] = data
    return array


def edit(path, change):
    """Rewrites a zarr.json: change(document) alters it in place."""
    path = pathlib.Path(path) / "zarr.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def known(attributes):
    """The members of the GDAL extension among attributes (docs/gdal-extension.md)."""
    members = json.loads(attributes.get("zarrbridge:gdal", '{"version": 1}'))
    assert members.pop("version") == 1
    assert not [name for name in attributes if name.startswith("zarrbridge:") and name != "zarrbridge:gdal"]
    return members


def extension(**members):
    """The attribute with these members."""
    return {"zarrbridge:gdal": json.dumps({"version": 1, **members})}


def sub(path, node, *indices):
    return 'ZARR3:"%s":/%s%s' % (path, node, "".join(":%d" % i for i in indices))


def opened(path, **options):
    """Opens a raster and makes sure that it is ours."""
    dataset = gdal.OpenEx(str(path), gdal.OF_RASTER,
                          open_options=["%s=%s" % item for item in options.items()])
    assert dataset.GetDriver().ShortName == "Zarr3"
    return dataset


# The beginning of programs in virtual environments that see Debian's pyproj, which looks for PROJ's
# data in the environment.
FIND_PROJ = """
import sys
from pyproj import datadir, exceptions
try:
    datadir.get_data_dir()
except exceptions.DataDirError:
    datadir.set_data_dir(sys.base_prefix + "/share/proj")
"""


def run_h5py(program, path, *arguments):
    """What a program that uses h5py prints, which opens stores by the connector."""
    pytest.importorskip("h5py")
    if not os.path.isdir(os.environ.get("HDF5_PLUGIN_PATH", "")):
        pytest.skip("the HDF5 connector is not built")
    result = forked.run(program, path, *arguments, env={**os.environ, "HDF5_VOL_CONNECTOR": "zarr"})
    assert result.returncode == 0, result.stderr
    return result.stdout


class Errors:
    """The errors that GDAL reports while it is active, as (class, message)."""

    def __enter__(self):
        self.seen = []
        gdal.PushErrorHandler(lambda kind, number, text: self.seen.append((kind, text)))
        gdal.DontUseExceptions()
        return self

    def __exit__(self, *exception):
        gdal.UseExceptions()
        gdal.PopErrorHandler()

    @property
    def failures(self):
        return [text for kind, text in self.seen if kind >= gdal.CE_Failure]


def succeeded(result):
    """What a GDAL program printed, which must not tell of an error, though some of them go on."""
    assert result.returncode == 0 and "ERROR" not in result.stderr, result.stderr
    return result.stdout


def run(*command, **environment):
    return succeeded(subprocess.run([str(part) for part in command], capture_output=True, text=True,
                                    env={**os.environ, **environment}))


def run_python(script, *arguments, **environment):
    """In a process of its own, which loads GDAL and its drivers itself."""
    return succeeded(forked.run(script, *arguments, env={**os.environ, **environment}))


def run_new_python(script, *arguments, **environment):
    """In a new interpreter."""
    return run(sys.executable, "-c", script, *arguments, **environment)
