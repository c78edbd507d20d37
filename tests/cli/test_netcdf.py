# SPDX-License-Identifier: MIT
"""`zarrbridge netcdf`: its lines of .ncrc, and no others. interop/netcdf_plugin has what netCDF makes of them."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

LIBRARY = os.path.join(os.environ["ZARRBRIDGE_BUILD_DIR"], "hdf5-vol/plugins/libhdf5_vol_zarr.so")
pytestmark = pytest.mark.skipif(not os.path.exists(LIBRARY), reason="the connector is not built")


def netcdf(home, *arguments, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NCRCENV_")}
    return subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], "netcdf", *map(str, arguments)], text=True,
                          capture_output=True, timeout=600, env=environment | {"HOME": str(home)} | variables)


def lines(*slots, library=LIBRARY):
    formats = [(slot, magic) for slot, magic in zip(slots, ("{", "PK"))]
    return "".join(["# zarrbridge netcdf --setup: begin\n",
                    *(f"NETCDF.UDF{slot}.LIBRARY={library}\nNETCDF.UDF{slot}.INIT=zarrbridge_netcdf\n"
                      f"NETCDF.UDF{slot}.MAGIC={magic}\n" for slot, magic in formats),
                    "# zarrbridge netcdf --setup: end\n"])


def test_setup_and_remove(tmp_path):
    rc = tmp_path / ".ncrc"
    assert netcdf(tmp_path).returncode == 1
    assert netcdf(tmp_path, "--setup").stdout.startswith(f"{rc}: netCDF 4.10.1 and later open")
    assert rc.read_text() == lines(0, 1)
    assert json.loads(netcdf(tmp_path, "--json").stdout) == {"file": str(rc), "library": LIBRARY}
    assert netcdf(tmp_path, "--setup").returncode == 0 and rc.read_text() == lines(0, 1)
    assert netcdf(tmp_path, "--remove").returncode == 0 and os.listdir(tmp_path) == []
    assert netcdf(tmp_path, "--remove").returncode == 0


def test_other_lines_stay(tmp_path):
    rc, text = tmp_path / ".ncrc", b"# mine \xff\r\n NETCDF.UDF0.LIBRARY=/x.so\n\nHTTP.TIMEOUT=5\n[https://h]A=B"
    rc.write_bytes(text)
    rc.chmod(0o600)
    assert netcdf(tmp_path, "--setup").returncode == 0
    assert rc.read_bytes() == lines(1, 2).encode() + text and rc.stat().st_mode & 0o777 == 0o600
    between = rc.read_bytes().replace(b"NETCDF.UDF2.INIT", b"KEPT=1\nNETCDF.UDF2.INIT")
    rc.write_bytes(between)
    assert netcdf(tmp_path, "--remove").returncode == 0
    assert rc.read_bytes() == b"KEPT=1\n" + text


def test_the_file_that_netcdf_reads(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "real").write_text("A=B\n")
    (tmp_path / "other/.ncrc").symlink_to(tmp_path / "real")
    assert netcdf(tmp_path, "--setup", NCRCENV_HOME=str(tmp_path / "other")).returncode == 0
    assert (tmp_path / "real").read_text() == lines(0, 1) + "A=B\n"
    assert netcdf(tmp_path, "--setup", NCRCENV_RC=str(tmp_path / "named")).returncode == 0
    assert (tmp_path / "named").read_text() == lines(0, 1)
    assert (tmp_path / "other/.ncrc").is_symlink() and not (tmp_path / ".ncrc").exists()
    assert "NCRCENV_IGNORE" in netcdf(tmp_path, NCRCENV_IGNORE="1").stdout


@pytest.mark.parametrize("folder", ["lib/hdf5", None], ids=["wheel", "prefix"])
def test_an_installed_program_finds_its_connector(tmp_path, folder):
    """Before any other: in the wheel, and below a prefix (the machine's folder of libraries is in the program)."""
    program = shutil.copy(os.environ["ZARRBRIDGE_PROGRAM"], tmp_path / "zarrbridge")
    if folder is None:
        text = next(text for text in Path(program).read_bytes().split(b"\0") if text.endswith(b"/zarrbridge/hdf5"))
        folder = text.decode().removeprefix("../")
    for part in ("bin", folder):
        (tmp_path / part).mkdir(parents=True)
    shutil.move(program, tmp_path / "bin")
    library = shutil.copy(LIBRARY, tmp_path / folder)
    done = subprocess.run([tmp_path / "bin/zarrbridge", "netcdf", "--setup"], capture_output=True, text=True,
                          env=os.environ | {"NCRCENV_RC": str(tmp_path / "rc")})
    assert done.returncode == 0 and (tmp_path / "rc").read_text() == lines(0, 1, library=library), done.stderr


def test_what_cannot_be_done_changes_nothing(tmp_path):
    rc = tmp_path / ".ncrc"
    blank = tmp_path / "with blank"
    blank.mkdir()
    shutil.copy(LIBRARY, blank)
    for arguments, message in (
            (["--library", blank / "libhdf5_vol_zarr.so"], "no name with a blank"),
            (["--library", tmp_path / "none.so"], "no "),
            (["--library", shutil.which("true")], "does not load")):
        done = netcdf(tmp_path, "--setup", *arguments)
        assert (done.returncode, rc.exists()) == (2, False) and message in done.stderr, done.stderr
    for text, message in (("".join(f"NETCDF.UDF{slot}.MAGIC=x\n" for slot in range(9)), "no place"),
                          ("# zarrbridge netcdf --setup: begin\nA=B\n", "by hand"), ("A\0B", "no text")):
        rc.write_text(text)
        for option in ("--setup", "--remove") if "place" not in message else ("--setup",):
            done = netcdf(tmp_path, option)
            assert (done.returncode, rc.read_text()) == (2, text) and message in done.stderr, done.stderr
    rc.write_text(lines(0, 1, library="/gone/libhdf5_vol_zarr.so"))
    assert netcdf(tmp_path).returncode == 2
    assert netcdf(tmp_path, "--setup", "--remove").returncode == netcdf(tmp_path, "--library", "x").returncode == 2


def test_line_ends_of_windows(tmp_path):
    """netCDF takes the CR for a part of the library's name: that is told, and mended."""
    rc = tmp_path / ".ncrc"
    rc.write_bytes(lines(0, 1).replace("\n", "\r\n").encode() + b"A=B\r\n")
    done = netcdf(tmp_path)
    assert done.returncode == 2 and "CR LF" in done.stderr
    assert netcdf(tmp_path, "--setup").returncode == 0 and rc.read_bytes() == lines(0, 1).encode() + b"A=B\r\n"
    rc.write_bytes(lines(0, 1).replace("\n", "\r\n").encode() + b"A=B\r\n")
    assert netcdf(tmp_path, "--remove").returncode == 0 and rc.read_bytes() == b"A=B\r\n"


def test_a_link_to_nothing_stays(tmp_path):
    rc = tmp_path / ".ncrc"
    rc.symlink_to(tmp_path / "gone")
    for arguments in ([], ["--setup"], ["--remove"]):
        done = netcdf(tmp_path, *arguments)
        assert done.returncode == 2 and "link to a file that is not there" in done.stderr
        assert os.listdir(tmp_path) == [".ncrc"] and rc.is_symlink()


def test_a_library_that_crashes_ends_nothing(tmp_path):
    source = tmp_path / "crash.c"
    source.write_text("#include <signal.h>\n__attribute__((constructor)) static void go(void) { raise(SIGKILL); }\n")
    subprocess.run([shutil.which("cc") or "gcc", "-shared", "-fPIC", "-o", tmp_path / "crash.so", source], check=True)
    done = netcdf(tmp_path, "--setup", "--library", tmp_path / "crash.so")
    assert done.returncode == 2 and "crashes" in done.stderr and not (tmp_path / ".ncrc").exists()
