# SPDX-License-Identifier: MIT
"""Stores in S3 by their names in programs that use HDF5 or GDAL."""

import os
import re
from pathlib import Path

import h5py
import pytest
import zarr

from conftest import make_store
from programs import HASTY, output, python, run, run_python
from sims3 import S3
from simserver import SimServer

FINDS = None if h5py.version.hdf5_version_tuple < (2,) else "zarr"
SECRET = "canary/Secret+Key"
NAME = "s3://bucket/a b/s.zarr"
# The tools of HDF5 2.x keep names that begin with s3:// for the driver ROS3.
FOR_TOOLS = NAME if FINDS is None else "zarr:" + NAME


@pytest.fixture
def service():
    return S3({"AKID": SECRET})


@pytest.fixture
def s3(tmp_path, service):
    """Variables with which programs reach a bucket with a store; no other ones of AWS are there."""
    make_store(tmp_path / "served/bucket/a b/s.zarr", consolidated=False)
    with SimServer(tmp_path / "served", answer=service) as server:
        variables = {name: None for name in os.environ if name.startswith("AWS_")}
        yield variables | HASTY | {
            "AWS_ENDPOINT_URL": server.url, "AWS_ACCESS_KEY_ID": "AKID", "HOME": tmp_path,
            "AWS_SECRET_ACCESS_KEY": SECRET, "HDF5_VOL_CONNECTOR": FINDS}


MEMBERS = ["/", "/below", "/below/deep", "/plain", "/sharded"]


@pytest.mark.parametrize("name", dict.fromkeys([FOR_TOOLS, "zarr:" + NAME, FOR_TOOLS + "/zarr.json"]))
def test_h5ls_lists_a_store_without_consolidated_metadata(s3, name):
    lines = output("h5ls", "-r", name, **s3).splitlines()
    assert [line.split()[0] for line in lines] == MEMBERS


def test_a_group_that_cannot_be_listed_is_told_by_h5ls_when_asked(s3, service):
    """h5ls goes on as if nothing were in it, and is content: the program zarrbridge is not."""
    listed = service.list

    def refuse(sim, folder, query):
        is_below = query.get("prefix") == ["a b/s.zarr/below/"]
        return service.error(503, "SlowDown") if is_below else listed(sim, folder, query)

    service.list = refuse
    done = run("h5ls", "-r", FOR_TOOLS, **s3, ZARRBRIDGE_VERBOSE="1")
    assert "group /below" in done.stderr and "503" in done.stderr
    assert not any(line.startswith("/below/deep") for line in done.stdout.splitlines())
    done = run(os.environ["ZARRBRIDGE_PROGRAM"], "ls", NAME, **s3)
    assert done.returncode != 0 and "503" in done.stdout + done.stderr


def test_a_node_opens(s3):
    assert "(0): 1, 2, 3" in output("h5dump", "-d", "/deep", FOR_TOOLS + "/below", **s3)


GONE = r"""
import os, sys, h5py
name, folder = sys.argv[1:]
data = h5py.File(name, "r")["plain"]
print(data[4])
os.rename(folder, folder + ".away")
try: print("said", data.id.get_num_chunks())
except Exception as error: print("deleted or moved" in str(error))
"""


def test_no_chunks_are_listed_where_the_store_has_gone(s3, tmp_path):
    said = python(GONE, NAME, tmp_path / "served/bucket/a b/s.zarr",
                  **s3 | {"HDF5_VOL_CONNECTOR": "zarr", "ZARRBRIDGE_REMOTE_FRESH_SECONDS": "0"})
    assert said.split() == ["2.0", "True"]


def test_h5repack_copies(s3, tmp_path):
    output("h5repack", NAME, tmp_path / "copy.h5", **s3 | {"HDF5_VOL_CONNECTOR": "zarr"})
    assert "{64, 64}" in output("h5ls", tmp_path / "copy.h5", **s3)


@pytest.mark.parametrize("form", [
    'ZARR3:"{}":/sharded', "{}/sharded", "ZARR3:{}:/sharded", "ZARR3:{}/sharded"])
def test_gdal(s3, form, tmp_path):
    assert "Size is 64, 64" in output("gdalinfo", form.format(NAME), **s3)
    output("gdal_translate", "-q", form.format(NAME), tmp_path / "o.tif", **s3)
    assert "Minimum=0.000, Maximum=4095.000" in output("gdalinfo", "-stats", tmp_path / "o.tif")


def test_gdal_names_are_read_by_us_where_that_is_asked_for(s3):
    name = NAME.replace("s3://", "/vsis3/") + "/sharded"
    said = output("gdalinfo", "ZARR3:" + name, **s3 | {"ZARR3_REMOTE": "own"})
    assert "Size is 64, 64" in said


ATTRIBUTE = "import sys, h5py; print(h5py.File(sys.argv[1], 'r')['w4'].attrs['x'])"


def test_datasets_beside_one_that_is_opened_are_asked_for_together(tmp_path):
    """Whether one of them names it as a dimension, all of them have to say."""
    group = zarr.open_group(tmp_path / "served/bucket/g.zarr", mode="w")
    for i in range(20):
        group.create_array(f"w{i}", shape=(i + 5,), dtype="u1").attrs["x"] = i
    with SimServer(tmp_path / "served", answer=S3({}, public=True)) as server:
        gate = server.hold("/w1./zarr.json", count=10)
        variables = {name: None for name in os.environ if name.startswith("AWS_")}
        said = python(ATTRIBUTE, (FINDS and "zarr:" or "") + "s3://bucket/g.zarr#anon=1",
                      **variables, AWS_ENDPOINT_URL=server.url, HOME=tmp_path,
                      HDF5_VOL_CONNECTOR="zarr")
        assert said.strip() == "4" and gate.was_met


# ---- Settings of the front ends, where the environment says nothing

@pytest.fixture
def bare(s3):
    """The variables without those of AWS, and what they said."""
    said = {name: s3[name] for name in s3 if name.startswith("AWS_") and s3[name]}
    return s3 | dict.fromkeys(said), said


def test_settings_of_gdal(bare):
    """As its users know them from /vsis3/."""
    variables, said = bare
    settings = {"AWS_S3_ENDPOINT": said["AWS_ENDPOINT_URL"].removeprefix("http://"), "AWS_HTTPS": "NO",
                "AWS_VIRTUAL_HOSTING": "FALSE", "AWS_ACCESS_KEY_ID": "AKID",
                "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "eu-west-1"}
    options = [word for name, value in settings.items() for word in ("--config", name, value)]
    name = f"ZARR3:{NAME}/sharded"
    assert "Size is 64, 64" in output("gdalinfo", *options, name, **variables)
    wrong = run("gdalinfo", *options, "--config", "AWS_SECRET_ACCESS_KEY", "canary-wrong", name, **variables)
    assert wrong.returncode == 1 and "SignatureDoesNotMatch" in wrong.stderr
    assert "canary" not in wrong.stdout + wrong.stderr
    half = run("gdalinfo", *options, "--config", "AWS_SECRET_ACCESS_KEY", "", name, **variables)
    assert half.returncode == 1 and "one is missing" in half.stderr


def test_a_key_of_gdal_beside_that_of_the_environment(bare):
    """Key, secret and token are one: a value that both say does not take the key apart."""
    variables, said = bare
    variables |= {"AWS_ENDPOINT_URL": said["AWS_ENDPOINT_URL"], "AWS_ACCESS_KEY_ID": "AKID",
                  "AWS_SECRET_ACCESS_KEY": "canary-wrong"}
    info = ["gdalinfo", f"ZARR3:{NAME}/sharded"]
    key = ["--config", "AWS_ACCESS_KEY_ID", "AKID"]
    secret = ["--config", "AWS_SECRET_ACCESS_KEY", SECRET]
    for options in (key + secret, secret):
        assert "Size is 64, 64" in output(*info, *options, **variables)
    variables["AWS_SECRET_ACCESS_KEY"] = SECRET
    token = run(*info, *key, "--config", "AWS_SESSION_TOKEN", "canary-token", **variables)
    assert token.returncode == 1 and "InvalidToken" in token.stderr, "it was sent"
    assert "canary" not in token.stdout + token.stderr
    mixed = run(*info, "--config", "AWS_ACCESS_KEY_ID", "OTHER", **variables)
    assert mixed.returncode == 1 and "one is missing" in mixed.stderr


def test_options_of_our_own_in_gdal(bare):
    variables, said = bare
    said_options = f"endpoint={said['AWS_ENDPOINT_URL']}"
    variables |= {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": SECRET}
    info = ["gdalinfo", f"ZARR3:{NAME}/sharded", "--config", "ZARR3_REMOTE_OPTIONS"]
    assert "Size is 64, 64" in output(*info, said_options, **variables)
    wrong = run(*info, said_options + "&secret=canary", **variables)
    assert wrong.returncode == 1 and "'secret' is no option" in wrong.stderr
    assert "canary" not in wrong.stderr


def test_options_of_the_connector(bare):
    variables, said = bare
    variables |= {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": SECRET}
    words = f"zarr remote=endpoint={said['AWS_ENDPOINT_URL']}"
    lines = output("h5ls", "-r", FOR_TOOLS, **variables | {"HDF5_VOL_CONNECTOR": words}).splitlines()
    assert [line.split()[0] for line in lines] == MEMBERS
    for wrong, why in ("&no=canary", "'no' is no option"), ("&anon=canary", "neither yes nor no"):
        code = "import sys, h5py; h5py.File(sys.argv[1], 'r')"
        done = run_python(code, NAME, **variables | {"HDF5_VOL_CONNECTOR": words + wrong})
        assert done.returncode == 1 and why in done.stderr and "canary" not in done.stderr


@pytest.mark.parametrize("command", [["h5ls", FOR_TOOLS], ["gdalinfo", NAME]])
def test_a_refusal_shows_no_secret(s3, command):
    wrong = s3 | {"AWS_SECRET_ACCESS_KEY": "canary-wrong", "ZARRBRIDGE_VERBOSE": "1"}
    done = run(*command, **wrong)
    assert "SignatureDoesNotMatch" in done.stdout + done.stderr
    assert done.returncode == 1 and "canary" not in done.stdout + done.stderr


WRITES = """
import sys, h5py
with h5py.File(sys.argv[1], "w") as f:
    f.create_dataset("g/a", data=range(12), chunks=(5,), dtype="<i4")
    f["g"].attrs["unit"] = "K"
with h5py.File(sys.argv[1], "a") as f:
    f["g/a"][3:7] = 9
    f["g/b"] = 1.5
    f.attrs["title"] = "all"
with h5py.File(sys.argv[1], "r+") as f:
    del f["g/b"]
try:
    h5py.File(sys.argv[1], "x")
    print("replaced")
except OSError:
    pass
with h5py.File(sys.argv[1]) as f:
    print(f["g/a"][:].tolist(), list(f["g"]), f["g"].attrs["unit"], f.attrs["title"])
with h5py.File(sys.argv[1], "w") as f:
    pass
with h5py.File(sys.argv[1]) as f:
    print(list(f), list(f.attrs))
"""


APPENDS = """
with h5py.File(sys.argv[1], "w") as f:
    d = f.create_dataset("d", data=[1, 2], maxshape=(None,), chunks=(4,), dtype="<i4")
    try:
        append((d, [3]))
    except OSError:
        print(d.shape)
    f.flush()
with h5py.File(sys.argv[1], "r+") as f:
    d = f["d"]
    try:
        append((d, [3]))
    except OSError:
        print(d.shape)
    for i in range(2, 6):
        d.resize(i + 1, axis=0)
        d[i] = i + 1
with h5py.File(sys.argv[1]) as f:
    print(f["d"][:].tolist())
"""


def test_one_program_alone_appends(s3):
    """No lock keeps others out, so that the operation for many programs is refused."""
    page = Path(os.environ["ZARRBRIDGE_SOURCE_DIR"], "docs/hdf5.md").read_text()
    recipe = re.search(r"### Appending.*?```python\n(.*?)```", page, re.DOTALL)[1]
    done = run_python(f"import sys\n{recipe}{APPENDS}", "s3://bucket/new.zarr",
                      **s3 | {"HDF5_VOL_CONNECTOR": "zarr"})
    assert done.stdout.splitlines() == ["(2,)", "(2,)", "[1, 2, 3, 4, 5, 6]"], done.stderr
    assert done.stderr.count("has no locks, so that programs cannot append at once") == 2


@pytest.mark.parametrize("name", ["s3://bucket/new.zarr", "zarr:s3://bucket/deep/er/new.zarr"])
def test_h5py_writes(s3, name):
    said = python(WRITES, name, **s3 | {"HDF5_VOL_CONNECTOR": "zarr"}).splitlines()
    assert said == ["[0, 1, 2, 9, 9, 9, 9, 7, 8, 9, 10, 11] ['a'] K all", "[] []"]
