# SPDX-License-Identifier: MIT
"""`zarrbridge doctor`: each thing that it finds, in an installation that is wrong in this way, and its silence in one
that is not."""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile

import pytest
import zarr
from doctors import (BUILD, CONNECTOR, DRIVER, FAKES, PROGRAM, ask_gdal, ask_hdf5, ask_path, ask_python, ask_self,
                     ask_variable, doctor, patched)

SOURCE = pathlib.Path(os.environ["ZARRBRIDGE_SOURCE_DIR"])
NAMED = {"HDF5_VOL_CONNECTOR": "zarr"}
SHIM = {"LD_PRELOAD": f"{os.environ.get('LD_PRELOAD', '')}:{FAKES}/libdoctor-fake-place.so".lstrip(":")}


@pytest.fixture(scope="module")
def sound():
    """The answer where nothing is wrong; HDF5 2.x must be told of the connector."""
    return doctor(variables=NAMED)


def script(path, text):
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return {"PATH": path.parent}


# ---- The form


def test_nothing_is_wrong_here(sound):
    assert sound.status == 0 and not sound.findings("warning", "error"), sound.lines
    assert sound.summary["errors"] == sound.summary["warnings"] == 0
    assert {line["subject"] for line in sound.lines} >= {"self", "limits", "network", "variable", "hdf5", "gdal",
                                                         "python"}
    assert re.search(r"hdf5.*connector loads", sound.text) and "Zarr3 is driver" in sound.text


def test_text_for_people(sound):
    variables = {"PATH": "/nothing", "HDF5_VOL_CONNECTOR": "zar", "HDF5_PLUGIN_PATH": str(CONNECTOR.parent)}
    done = subprocess.run([PROGRAM, "doctor"], env=variables, capture_output=True, text=True)
    assert done.returncode == 2
    assert re.search(r'^  ERROR   HDF5_VOL_CONNECTOR="zar" names no.*\n          -> write ', done.stdout, re.M)
    assert re.search(rf"^self      zarrbridge {re.escape(sound.summary['version'])}, ", done.stdout, re.M)
    assert re.search(r"^[1-9]\d* errors?, \d+ warnings?$", done.stderr, re.M)


@pytest.mark.parametrize("kind,status", [("warning", 1), ("error", 2)])
def test_exit_status(kind, status):
    name = {"warning": {"ZARRBRIDGE_CACHE_BYTE": "1"}, "error": {"HDF5_PLUGIN_PRELOAD": "::"}}[kind]
    assert doctor(variables={**NAMED, **name}).status == status


# ---- The environment


def test_mistyped_variables(sound):
    answer = ask_variable(variables={
        "ZARRBRIDGE_CACHE_BYTE": "1", "ZARRBRIDGE_FROBNICATE": "1", "HDF5_PLUGINS_PATH": "/x",
        "GDAL_DRIVERS_PATH": "/x", "GDAL_DATA": "/x", "HDF5_DRIVER": "sec2"})
    assert answer.of("ZARRBRIDGE_CACHE_BYTE", "warning")["advice"] == "write ZARRBRIDGE_CACHE_BYTES"
    assert "unset it" in answer.of("ZARRBRIDGE_FROBNICATE", "warning")["advice"]
    assert answer.of("HDF5_PLUGINS_PATH", "warning")["advice"] == "write HDF5_PLUGIN_PATH"
    assert answer.of("GDAL_DRIVERS_PATH", "warning")["advice"] == "write GDAL_DRIVER_PATH"
    answer.lacks("GDAL_DATA")
    answer.lacks("HDF5_DRIVER")
    sound.lacks("is no variable")


def test_every_variable_of_the_sources_is_known():
    names = set()
    for folder in ("core/src", "core/net", "hdf5-vol/src", "gdal-driver/src"):
        for path in (SOURCE / folder).rglob("*.[ch]*"):
            names |= set(re.findall(r'"(ZARRBRIDGE_[A-Z0-9_]+)"', path.read_text()))
    limits = re.findall(r'(?:LIMIT|SHARE)\(\w+, "(\w+)"', (SOURCE / "core/src/util/limits.c").read_text())
    names |= {"ZARRBRIDGE_" + name for name in limits}
    names.discard("ZARRBRIDGE_")
    assert len(names) > 30
    ask_variable(variables={**NAMED, **{name: "" for name in names}}).lacks("is no variable")


def test_secrets_are_not_told():
    secrets = {"AWS_SECRET_ACCESS_KEY": "hush-1", "AWS_SESSION_TOKEN": "hush-2", "AZURE_STORAGE_SAS_TOKEN": "hush-3", "GDAL_HTTP_BEARER": "hush-b",
               "GDAL_HTTP_USERPWD": "joe:hush-u", "HDF5_VOL_CONNECTOR": "zarr secret_key=hush-c",
               "https_proxy": "http://user:hush-4@proxy", "AZURE_STORAGE_CONNECTION_STRING": "hush-5",
               "GDAL_HTTP_HEADERS": "hush-6", "AWS_REGION": "eu-north-1"}
    answer = ask_variable(variables={**NAMED, **secrets})
    assert "hush-" not in answer.text and "AWS_SECRET_ACCESS_KEY is set" in answer.text
    assert "AWS_REGION=eu-north-1" in answer.text


def test_values_of_limits(sound):
    answer = ask_self(variables={**NAMED, "ZARRBRIDGE_CACHE_BYTES": "5x", "ZARRBRIDGE_CHUNK_BYTES": "4294967296"})
    assert "give it a number" in answer.of("ZARRBRIDGE_CACHE_BYTES", "warning")["advice"]
    assert "ZARRBRIDGE_CHUNK_BYTES=4294967296 in place of" in answer.text
    sound.lacks("decimal number")


def test_few_open_files(sound):
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
    assert "ulimit" in ask_self(variables=NAMED, preexec_fn=limit).of("only 100 files", "warning")["advice"]
    sound.lacks("files may be open")


@pytest.mark.parametrize("value", ["zar", "Zarr", "zarrbridge", "zarr;shards=4x4"])
def test_names_of_the_connector(value, sound):
    found = ask_variable(variables={"HDF5_VOL_CONNECTOR": value}).of("names no connector:", "error")
    assert "HDF5_VOL_CONNECTOR=zarr" in found["advice"]
    sound.lacks("names no connector:")
    ask_variable(variables={"HDF5_VOL_CONNECTOR": "zarr shards=auto"}).lacks("names no connector:")
    ask_variable(variables={"HDF5_VOL_CONNECTOR": "pass_through"}).lacks("names no connector:")


def test_directories_that_are_not_there(tmp_path, sound):
    paths = f"{CONNECTOR.parent}:{tmp_path}/no"
    found = ask_variable(variables={**NAMED, "HDF5_PLUGIN_PATH": paths}).of("cannot be read")
    assert f"{tmp_path}/no" in found["message"]
    sound.lacks("cannot be read")


def test_plugins_that_are_switched_off(sound):
    assert ask_variable(variables={"HDF5_PLUGIN_PRELOAD": "::"}).of("switches all plugins", "error")
    sound.lacks("switches all plugins")


def test_the_network_library(tmp_path, sound):
    remote = BUILD / "core/libzarrbridge_remote.so"
    if not remote.exists():
        pytest.skip("built without the network")
    answer = ask_self(variables={**NAMED, "ZARRBRIDGE_REMOTE_LIBRARY": tmp_path / "no.so"})
    assert "unset ZARRBRIDGE_REMOTE_LIBRARY" in answer.of("cannot open a URL", "error")["advice"]
    version = sound.summary["version"].encode()
    other = patched(remote, tmp_path / "other.so", (version + b"\0", b"9" * len(version) + b"\0"))
    answer = ask_self(variables={**NAMED, "ZARRBRIDGE_REMOTE_LIBRARY": other})
    assert "from one build" in answer.of("is not of zarrbridge", "error")["advice"]
    sound.lacks("cannot open a URL")


# ---- HDF5


def test_the_variable_without_the_plugin(tmp_path, sound):
    answer = ask_hdf5(variables={**NAMED, "HDF5_PLUGIN_PATH": tmp_path})
    found = [line for line in answer.findings("error") if "make HDF5 files called x.zarr" in line["message"]]
    assert found and all("unset the variable" in line["advice"] for line in found)
    answer = ask_hdf5(variables={"HDF5_PLUGIN_PATH": tmp_path})
    assert not answer.findings("error") and answer.findings("warning")
    sound.lacks("finds no libhdf5_vol_zarr.so")


def test_a_link_that_leads_nowhere(tmp_path, sound):
    shutil.copy(CONNECTOR, tmp_path)
    (tmp_path / "libold.so").symlink_to("no.so")
    found = [line for line in ask_hdf5(variables={**NAMED, "HDF5_PLUGIN_PATH": tmp_path}).findings("error")
             if "leads nowhere" in line["message"]]
    assert found and found[0]["advice"] == f"rm {tmp_path}/libold.so"
    sound.lacks("leads nowhere")


def test_a_newer_c_library(tmp_path, sound):
    content = CONNECTOR.read_bytes()
    needed = sorted(set(re.findall(rb"GLIBC_2\.\d\d\0", content)))[-1]
    patched(CONNECTOR, tmp_path / CONNECTOR.name, (needed, b"GLIBC_9.99\0"))
    found = [line for line in ask_hdf5(variables={**NAMED, "HDF5_PLUGIN_PATH": tmp_path}).findings("error")
             if "newer C library" in line["message"]]
    assert found and "GLIBC_9.99" in found[0]["message"] and "build it on this system" in found[0]["advice"]
    sound.lacks("newer C library")


def test_a_connector_of_another_version(tmp_path, sound):
    version = sound.summary["version"]
    sign = b"@(#)zarrbridge "
    patched(CONNECTOR, tmp_path / CONNECTOR.name, (sign + version.encode(), sign + b"9" * len(version)))
    found = [line for line in ask_hdf5(variables={**NAMED, "HDF5_PLUGIN_PATH": tmp_path}).findings("warning")
             if "one build" in line["advice"]]
    assert found and "of zarrbridge 999" in found[0]["message"]
    sound.lacks("of zarrbridge 9")


def fake_hdf5(tmp_path, **variables):
    library = tmp_path / "lib/libhdf5.so.999"
    library.parent.mkdir(exist_ok=True)
    shutil.copy(FAKES / "libdoctor-fake-hdf5.so", library)
    return ask_hdf5("--seconds", "5", variables={"LD_LIBRARY_PATH": library.parent, "FAKE_HDF5_VERSION": "2.1.0",
                                               **variables})


def test_signed_plugins_alone(tmp_path, sound):
    found = fake_hdf5(tmp_path, FAKE_HDF5="signed", **NAMED).of("loads signed plugins alone", "error")
    assert "HDF5_REQUIRE_SIGNED_PLUGINS" in found["advice"]
    sound.lacks("signed")


def test_a_connector_that_is_not_taken(tmp_path, sound):
    assert fake_hdf5(tmp_path, FAKE_HDF5="refuse", **NAMED).of("does not take", "error")
    sound.lacks("does not take")


def test_hdf5_2_without_the_variable(tmp_path):
    found = fake_hdf5(tmp_path).of("HDF5 2.1.0 asks the connector only", "warning")
    assert "HDF5_VOL_CONNECTOR=zarr" in found["advice"]
    fake_hdf5(tmp_path, **NAMED).lacks("2.1.0")


def test_an_old_hdf5(tmp_path, sound):
    fake_hdf5(tmp_path, FAKE_HDF5_VERSION="1.12.3").of("HDF5 1.12.3", "note")
    sound.lacks("HDF5 1.12.3")


def test_a_library_that_crashes(tmp_path, sound):
    answer = fake_hdf5(tmp_path, FAKE_HDF5="crash", **NAMED)
    assert "libhdf5.so.999 crashed" in answer.of("crashed", "error")["message"]
    sound.lacks("crashed")


def test_a_library_that_hangs(tmp_path, sound):
    library = tmp_path / "lib/libhdf5.so.999"
    library.parent.mkdir()
    shutil.copy(FAKES / "libdoctor-fake-hdf5.so", library)
    answer = ask_hdf5("--seconds", "3", variables={"LD_LIBRARY_PATH": library.parent, "FAKE_HDF5": "hang",
                                                 "FAKE_HDF5_VERSION": "2.1.0", **NAMED})
    assert "--seconds" in answer.of("libhdf5.so.999 did not end within 3 seconds", "error")["advice"]
    sound.lacks("did not end")


@pytest.mark.parametrize("line,is_static", [("gcc -I/x /x/libhdf5_hl.a /x/libhdf5.a -lz", True),
                                            ("gcc -I/x -L/x -lhdf5_hl -lhdf5 -lz", False)])
def test_a_compiler_that_links_statically(tmp_path, line, is_static):
    answer = ask_hdf5(variables={**NAMED, **script(tmp_path / "bin/h5cc", f"echo {line}\n")})
    if is_static:
        assert answer.of("links HDF5 statically", "note")["advice"] == "h5cc -shlib"
        assert answer.status == 0
    else:
        answer.lacks("statically")


# ---- GDAL


def fake_gdal(tmp_path, drivers, **variables):
    library = tmp_path / "lib/libgdal.so.99"
    library.parent.mkdir(exist_ok=True)
    shutil.copy(FAKES / "libdoctor-fake-gdal.so", library)
    answer = ask_gdal(variables={**NAMED, "LD_LIBRARY_PATH": library.parent, "FAKE_GDAL_DRIVERS": drivers,
                               **variables})
    return answer


def test_a_path_that_hides(tmp_path, sound):
    plugin = tmp_path / "lib/gdalplugins/gdal_Zarr3.so"
    plugin.parent.mkdir(parents=True)
    shutil.copy(DRIVER, plugin)
    (tmp_path / "conda").mkdir()
    found = fake_gdal(tmp_path, "Zarr", GDAL_DRIVER_PATH=tmp_path / "conda").of(f"hides {plugin}", "error")
    assert found["advice"] == f"export GDAL_DRIVER_PATH={tmp_path}/conda:{plugin.parent}"
    sound.lacks("hides")


def test_a_directory_of_a_minor_version_that_hides(tmp_path):
    plugin = tmp_path / "lib/gdalplugins/gdal_Zarr3.so"
    (plugin.parent / "3.12").mkdir(parents=True)
    shutil.copy(DRIVER, plugin)
    found = fake_gdal(tmp_path, "Zarr", GDAL_DRIVER_PATH=None).of(f"3.12 hides {plugin}", "error")
    assert found["advice"].startswith(f"mv {plugin} ")


def test_a_driver_that_is_not_there(tmp_path, sound):
    assert fake_gdal(tmp_path, "Zarr", GDAL_DRIVER_PATH=None).of("GDAL 3.12.2", "warning")
    sound.lacks("finds no gdal_Zarr3.so")


def test_a_driver_for_another_gdal(tmp_path, sound):
    needed = re.search(rb"libgdal\.so\.\d\d", DRIVER.read_bytes()).group()
    patched(DRIVER, tmp_path / DRIVER.name, (needed, b"libgdal.so.77"))
    found = [line for line in ask_gdal(variables={**NAMED, "GDAL_DRIVER_PATH": tmp_path}).findings("error")
             if "another version of GDAL" in line["message"]]
    assert found and "libgdal.so.77" in found[0]["message"]
    sound.lacks("another version of GDAL")


def test_a_driver_for_a_newer_c_library(tmp_path):
    needed = sorted(set(re.findall(rb"GLIBC_2\.\d\d\0", DRIVER.read_bytes())))[-1]
    patched(DRIVER, tmp_path / DRIVER.name, (needed, b"GLIBC_9.99\0"))
    found = ask_gdal(variables={**NAMED, "GDAL_DRIVER_PATH": tmp_path}).findings("error")
    assert any("newer C library" in line["message"] for line in found), found


def test_a_driver_of_another_version(tmp_path, sound):
    version = sound.summary["version"]
    sign = b"@(#)zarrbridge "
    patched(DRIVER, tmp_path / DRIVER.name, (sign + version.encode(), sign + b"9" * len(version)))
    found = ask_gdal(variables={**NAMED, "GDAL_DRIVER_PATH": tmp_path}).findings("warning")
    assert any("of zarrbridge 999" in line["message"] for line in found), found


@pytest.mark.parametrize("value,skips", [("Zarr3", True), ("JPEG zarr3", True), ("Zarr JPEG", False)])
def test_drivers_that_are_skipped(value, skips):
    answer = ask_gdal(variables={**NAMED, "GDAL_SKIP": value})
    if skips:
        assert "take it out" in answer.of("leaves Zarr3 out", "error")["advice"]
    else:
        answer.lacks("leaves Zarr3 out")


def test_the_order_of_drivers(tmp_path):
    assert "ZARR3:" in fake_gdal(tmp_path, "Zarr,Zarr3").of("is asked before Zarr3", "warning")["advice"]
    fake_gdal(tmp_path, "Zarr3,Zarr").lacks("is asked before")


# ---- Python


def fake_python(tmp_path, h5py="", rasterio="", packages=""):
    path = script(tmp_path / "bin/python3", f"""
case "$4" in
*metadata*) echo python=3.13.0; echo place=/x/python3; {packages or 'true'} ;;
*rasterio*) {rasterio or 'exit 1'} ;;
*h5py*) {h5py or 'exit 1'} ;;
esac
""")
    return path


H5PY = "echo h5py=3.16.0;"
RASTERIO = "echo rasterio=1.5.2;"
WHEEL = "echo hdf5=2.0.0; echo kind=wheel"


def test_h5py_that_finds_no_connector(tmp_path):
    path = fake_python(tmp_path, packages=H5PY, h5py=WHEEL)
    assert "3.16 crashes" in ask_python(variables={**NAMED, **path}).of("h5py's HDF5 2.0.0", "error")["message"]
    assert "wheel of zarrbridge" in ask_python(variables=path).of("h5py's HDF5 2.0.0 finds no", "warning")["advice"]
    path = fake_python(tmp_path, packages=H5PY, h5py=WHEEL + "; echo connector=/x")
    ask_python(variables={**NAMED, **path}).lacks("h5py's HDF5")
    assert "only when it is named" in ask_python(variables=path).of("h5py's HDF5 2.0.0", "warning")["message"]
    path = fake_python(tmp_path, packages=H5PY + "echo zarrbridge=0.1.0", h5py=WHEEL)
    ask_python(variables=path).lacks("h5py's HDF5")


def test_python_that_crashes_or_fails(tmp_path):
    path = fake_python(tmp_path, packages=H5PY, h5py="kill -ABRT $$")
    assert ask_python(variables=path).of("import h5py crashed", "error")
    path = fake_python(tmp_path, packages=H5PY, h5py="echo ImportError: broken >&2; exit 1")
    assert "ImportError: broken" in ask_python(variables=path).of("import h5py fails", "error")["message"]


def test_rasterio_without_the_driver(tmp_path):
    path = fake_python(tmp_path, packages=RASTERIO, rasterio="echo gdal=3.12.2; echo driver=0")
    found = ask_python(variables={**NAMED, **path}).of("rasterio's GDAL 3.12.2 has no driver", "warning")
    assert "wheel of zarrbridge" in found["advice"]
    path = fake_python(tmp_path, packages=RASTERIO, rasterio="echo gdal=3.12.2; echo driver=1")
    ask_python(variables={**NAMED, **path}).lacks("rasterio's GDAL")


@pytest.mark.parametrize("after", [True, False])
def test_rasterio_with_the_wheel(tmp_path, after):
    """Which has drivers for some versions of GDAL alone."""
    path = fake_python(tmp_path, packages=RASTERIO + "echo zarrbridge=0.1.0",
                       rasterio=f"echo gdal=3.13.0; echo driver=0; echo after={after:d}")
    answer = ask_python(variables={**NAMED, **path})
    if after:
        answer.lacks("rasterio's GDAL")
        assert "after: import zarrbridge" in answer.text
    else:
        assert answer.of("GDAL 3.13.0 has no driver Zarr3, also not after import zarrbridge", "warning")


def test_a_package_of_another_version(tmp_path):
    path = fake_python(tmp_path, packages="echo zarrbridge=0.0.9")
    assert "install both of one build" in ask_python(variables={**NAMED, **path}).of("0.0.9", "warning")["advice"]


def test_the_python_that_is_here():
    python = pathlib.Path(shutil.which("python3", path="/usr/bin") or "")
    if python == pathlib.Path():
        pytest.skip("no python3 of the system")
    answer = ask_python(variables={**NAMED, "PATH": python.parent})
    assert any(line["subject"] == "python" and line["kind"] == "fact" for line in answer.lines)
    assert not [line for line in answer.findings("error") if line["subject"] == "python"], answer.lines


# ---- A path


@pytest.fixture
def store(tmp_path):
    group = zarr.open_group(tmp_path / "s.zarr", mode="w")
    group.create_array("a", shape=(8,), chunks=(4,), dtype="int16")[:] = 1
    return tmp_path / "s.zarr"


def at(path, **variables):
    return ask_path(path, variables={**NAMED, **variables})


def test_a_store(store):
    before = sorted(store.rglob("*"))
    answer = at(store)
    assert answer.status == 0, answer.lines
    assert "locks, links and renaming work; times of files: 1 ns" in answer.text
    assert "a group of version 3" in answer.text and "an array of version 3" in at(store / "a").text
    assert sorted(store.rglob("*")) == before


def test_no_store(tmp_path, store):
    (tmp_path / "empty.zarr").mkdir()
    assert "empty.zarr/zarr.json" in at(tmp_path / "empty.zarr").of("no node opens here", "warning")["message"]
    at(tmp_path).of("no node opens here", "note")
    at(tmp_path / "no.zarr").of("no node opens here", "warning")
    at(store).lacks("no node opens here")


@pytest.mark.parametrize("options,is_wrong", [("rw,nolock", True), ("rw,local_lock=all", True),
                                              ("rw,local_lock=none", False)])
def test_nfs(store, tmp_path, options, is_wrong):
    mounts = tmp_path / "mounts"
    mounts.write_text("1 1 0:1 / / rw - ext4 /dev/x rw\n"
                      f"2 1 0:2 / {store} rw,relatime shared:1 - nfs4 host:/x {options}\n")
    answer = at(store, FAKE_MAGIC="6969", FAKE_MOUNTS=mounts, **SHIM)
    assert "--peers" in answer.of("several machines can write here", "note")["advice"]
    if is_wrong:
        assert "without nolock" in answer.of("locks that other machines do not see", "warning")["advice"]
    else:
        answer.lacks("locks that other machines do not see")


def test_lustre(store, tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_text(f"2 1 0:2 / {store} rw - lustre host:/x rw,localflock\n")
    assert at(store, FAKE_MAGIC="0bd00bd0", FAKE_MOUNTS=mounts, **SHIM).of("localflock", "warning")
    at(store).lacks("localflock")


@pytest.mark.parametrize("answer,words", [("refuse", "a lock is refused"), ("grant", "given to another")])
def test_locks_that_do_not_work(store, answer, words):
    assert "another file system" in at(store, FAKE_LOCKS=answer, **SHIM).of(words, "error")["advice"]
    at(store).lacks(words)


@pytest.mark.parametrize("answer", ["never", "never-in-kernel"])
def test_a_file_system_that_does_not_answer(store, answer):
    answer = ask_path("--seconds", 1, store, variables={**NAMED, "FAKE_ANSWER": answer, **SHIM})
    assert answer.status == 2
    assert "does not answer" in answer.of("did not end within 1 seconds", "error")["advice"]


def test_a_check_that_crashes(store):
    assert at(store, FAKE_ANSWER="crash", **SHIM).of("crashed (Aborted)", "error")


def test_a_program_that_closes_its_output_and_stays(tmp_path, sound):
    """Its end is waited for, and no longer than is said."""
    stays = "exec >&- 2>&-; while kill -0 $PPID; do read -t 1 line; done"
    path = script(tmp_path / "python3", stays.replace("read -t 1 line", "/bin/sleep 0.1"))
    answer = ask_python("--seconds", 1, variables={**NAMED, **path})
    assert answer.of("did not end within 1 seconds", "error")


@pytest.mark.parametrize("words", [["--only", "path"], ["--only", "what"], ["--only", "self", "."],
                                   ["--only", "path", "--peers", "2", "."]])
def test_misuse_of_only(words):
    done = subprocess.run([PROGRAM, "doctor", *words], capture_output=True, text=True)
    assert done.returncode == 2 and "only" in done.stderr and not done.stdout


def test_coarse_times(store):
    assert at(store, FAKE_TIMES="coarse", **SHIM).of("keeps times of files", "warning")
    at(store).lacks("keeps times")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who becomes another user")
def test_a_directory_of_somebody_else():
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        os.chmod(place, 0o755)
        zarr.open_group(pathlib.Path(place) / "s.zarr", mode="w")
        answer = ask_path(place + "/s.zarr", variables=NAMED, user="nobody")
        assert "as the user who writes" in answer.of("cannot be written by this user", "note")["advice"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who mounts")
def test_a_full_file_system(tmp_path):
    code = f"mount -t tmpfs -o size=8m,nr_inodes=100 t {tmp_path} && exec {PROGRAM} doctor --json {tmp_path}"
    done = subprocess.run(["unshare", "-m", "sh", "-c", code], capture_output=True, text=True)
    if "lines" not in done.stdout:
        pytest.skip("no mount can be made here: " + done.stderr)
    assert "MiB left" in done.stdout and "more files alone" in done.stdout


def test_the_lines_of_netcdf(tmp_path):
    """What netCDF would complain about at each start."""
    rc = tmp_path / ".ncrc"

    def ask():
        return doctor("--only", "netcdf", variables={"HOME": tmp_path})

    def lines(library, end="\n"):
        return "".join(line + end for line in (
            "# zarrbridge netcdf --setup: begin", f"NETCDF.UDF0.LIBRARY={library}",
            "NETCDF.UDF0.INIT=zarrbridge_netcdf", "NETCDF.UDF0.MAGIC={", "# zarrbridge netcdf --setup: end"))

    assert not ask().findings() and "no lines of zarrbridge" in ask().lines[0]["message"]
    rc.write_text(lines(CONNECTOR))
    assert not ask().findings() and str(CONNECTOR) in ask().lines[0]["message"]
    rc.write_text(lines("/gone/libhdf5_vol_zarr.so"))
    assert "--setup" in ask().of("does not load", "warning")["advice"]
    rc.write_bytes(lines(CONNECTOR, end="\r\n").encode())
    ask().of("CR LF", "warning")
    rc.unlink()
    rc.symlink_to(tmp_path / "gone")
    ask().of("not there", "warning")
