# SPDX-License-Identifier: MIT
"""Doors: files that lead to a store, for programs that look for a regular HDF5 file first. What people do with
files happens to doors, too."""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

import h5py
import numpy as np
import pytest
import zarr
from conftest import environment, put, tool

import forked

PROGRAM = os.environ["ZARRBRIDGE_PROGRAM"]
DATA = np.arange(6 * 8 * 10, dtype="f4").reshape(6, 8, 10)


def write(path):
    """A store as xarray writes one."""
    root = zarr.open_group(str(path), mode="w", zarr_format=3, attributes={"title": "doors"})
    put(root, "t", DATA, chunks=(1, 4, 5), shards=(3, 8, 10), dimension_names=("time", "y", "x"),
        attributes={"units": "K"})
    for name, size in (("time", 6), ("y", 8), ("x", 10)):
        put(root, name, np.arange(size, dtype="f8"), dimension_names=(name,))
    return path


def door(*arguments):
    done = subprocess.run([PROGRAM, "door", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def door_to(path, target):
    """One that leads anywhere: the program looks whether there is a store."""
    door(write(path.parent / "near.zarr"), path)
    old = path.read_bytes()
    trailer = old.rindex(b"\n{")
    text = b'{"target":"%s","name":"%s","inode":"0"}\n' % (target.encode(), path.name.encode())
    path.unlink()
    path.write_bytes(old[:trailer + 1] + text + b"zarrbridge-door-1 %08d\n" % len(text))


@pytest.fixture
def pair(tmp_path):
    write(tmp_path / "x.zarr")
    door(tmp_path / "x.zarr")
    return tmp_path / "x.nc", tmp_path / "x.zarr"


def through(path, code="print(f['t'][...].sum(), dict(f.attrs))", mode="r", connector="zarr"):
    """What h5py tells of a file, in a process of its own."""
    done = forked.run(f"import h5py, sys\nwith h5py.File(sys.argv[1], {mode!r}) as f: {code}", str(path),
                      env=environment(connector))
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


GOOD = f"{DATA.sum()} {{'title': 'doors'}}"


def test_a_door_is_an_hdf5_file_for_everyone(pair):
    nc, _ = pair
    text = tool("h5dump", nc, connector=None, plugins=False)
    assert "leads_to" in text and '"x.zarr"' in text
    assert nc.stat().st_size < 2000 and nc.stat().st_mode & 0o222 == 0


def test_a_door_leads_to_its_store(pair):
    nc, store = pair
    assert through(nc) == GOOD
    assert door(nc).strip() == f"{nc} leads to {store}"


def test_door_and_store_move_together(pair, tmp_path):
    nc, store = pair
    away = tmp_path / "away"
    away.mkdir()
    nc.rename(away / "y.nc")
    assert f"'{away}/x.zarr', which is not there" in through(away / "y.nc")
    store.rename(away / "x.zarr")
    assert through(away / "y.nc") == GOOD
    (tmp_path / "link.nc").symlink_to(away / "y.nc")
    assert through(tmp_path / "link.nc") == GOOD


def test_a_copy_reads_the_same_store_and_writes_one_of_its_own(pair, tmp_path):
    nc, store = pair
    shutil.copy(nc, tmp_path / "copy.nc")
    assert through(tmp_path / "copy.nc") == GOOD
    assert not (tmp_path / "copy.nc.zarr").exists()
    assert through(tmp_path / "copy.nc", "f['t'][0] = 0; f.attrs['title'] = 'mine'", "r+") == ""
    assert through(nc) == GOOD
    assert "mine" in through(tmp_path / "copy.nc")
    assert (zarr.open_array(tmp_path / "copy.nc.zarr/t")[0] == 0).all()
    assert door(tmp_path / "copy.nc").strip() == f"{tmp_path}/copy.nc leads to {tmp_path}/copy.nc.zarr"
    nc.rename(tmp_path / "z.nc")  # no copy, and the store stays the same one
    assert through(tmp_path / "z.nc", "f['t'][0] = 1", "r+") == ""
    assert (zarr.open_array(store / "t")[0] == 1).all()


def test_a_restored_door_is_no_copy(pair, tmp_path):
    nc, store = pair
    shutil.copy(nc, tmp_path / "backup")
    nc.unlink()
    (tmp_path / "other").touch()  # the number of the file is not used again
    shutil.copy(tmp_path / "backup", nc)
    assert through(nc, "f.attrs['title'] = 'restored'", "r+") == ""
    assert zarr.open_group(store).attrs["title"] == "restored"


def test_w_replaces_the_store_and_never_the_door(pair):
    nc, store = pair
    before = nc.read_bytes()
    assert through(nc, "f['new'] = [1, 2]", "w") == ""
    assert nc.read_bytes() == before
    assert sorted(zarr.open_group(store)) == ["new"]
    assert "exists" in through(nc, "pass", "x")


def test_w_without_the_plugin_fails(pair, tmp_path):
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("root may write each file, and there is no setpriv")
        prefix = ["setpriv", "--reuid=65534", "--clear-groups"]
        os.chmod(tmp_path, 0o777)
    else:
        prefix = []
    nc, _ = pair
    done = subprocess.run([*prefix, "dd", "if=/dev/null", f"of={nc}"], capture_output=True, text=True)
    assert done.returncode != 0
    assert through(nc) == GOOD


def test_where_doors_lead(pair, tmp_path):
    """Another user's door leads beside or below itself alone, unless an option says more."""
    if os.geteuid() != 0:
        pytest.skip("only root makes files of other users")
    nc, store = pair
    (tmp_path / "d").mkdir()
    door(store, tmp_path / "d/far.nc")
    assert through(tmp_path / "d/far.nc") == GOOD
    for path in (tmp_path / "d/far.nc", nc):
        os.chown(path, 65534, 65534)
    assert through(nc) == GOOD
    assert "belongs to another user" in through(tmp_path / "d/far.nc")
    assert through(tmp_path / "d/far.nc", connector="zarr doors=any") == GOOD


def change(path, old, new):
    data = path.read_bytes()
    assert len(old) == len(new) and old in data
    os.chmod(path, 0o644)
    path.write_bytes(data.replace(old, new))


@pytest.mark.parametrize("old, new, message", [
    (b'"target":"x.zarr"', b'"target":"y.zarr"', "which is not there"),
    (b'"target":"x.zarr"', b'"target":""      ', "does not say where it leads"),
    (b'"target":"x.zarr"', b'"target":7       ', "does not say where it leads"),
    (b'{"target"', b'["target"', "the door"),
])
def test_broken_doors(pair, old, new, message):
    nc, _ = pair
    change(nc, old, new)
    assert message in through(nc)


def test_a_trailer_that_lies_makes_no_door(pair):
    nc, _ = pair
    change(nc, b"zarrbridge-door-1 000", b"zarrbridge-door-1 999")
    assert through(nc, "print(sorted(f.attrs))") == "['about', 'how', 'leads_to']"


def test_a_door_to_no_store(pair, tmp_path):
    nc, store = pair
    shutil.rmtree(store)
    store.mkdir()
    assert "is no Zarr store" in through(nc)


def test_doors_in_stores_and_to_nodes(pair, tmp_path):
    _, store = pair
    door(store, store / "in.nc")
    assert through(store / "in.nc") == GOOD
    zarr.open_group(store).create_group("g", attributes={"deep": 1})
    door(store / "g", tmp_path / "g.nc")
    assert through(tmp_path / "g.nc", "print(dict(f.attrs))").endswith("{'deep': np.int64(1)}")


def test_verify_says_where_doors_lead(pair, tmp_path):
    """Those in the store, which are no part of it; one to nothing is a finding that names both."""
    _, store = pair
    verify = [PROGRAM, "verify", store]
    door(store, store / "in.nc")
    door(store / "t", store / "t/t.nc")
    done = subprocess.run(verify, capture_output=True, text=True)
    assert done.returncode == 0 and "0 findings, 2 foreign files" in done.stderr
    assert f"foreign   in.nc: no part of the store: a door to '{store}'" in done.stdout
    (store / "in.nc").unlink()
    door_to(store / "in.nc", "gone.zarr")
    shutil.rmtree(store / "near.zarr")
    done = subprocess.run(verify, capture_output=True, text=True)
    assert done.returncode == 1 and "1 findings, 1 foreign files" in done.stderr
    assert f"damaged   in.nc: the door '{store}/in.nc' leads to '{store}/gone.zarr', which is not there" in done.stdout


def packed(store, path):
    done = subprocess.run([PROGRAM, "copy", "--door", store, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return path


def values_in_zip(path):
    with zarr.storage.ZipStore(path, mode="r") as archive:
        return zarr.open_group(archive, mode="r")["t"][...]


def test_an_archive_with_the_door_in_front(pair, tmp_path):
    """One file: an archive for Zarr's programs and all that read zip, an HDF5 file for others, a store for both."""
    path = packed(pair[1], tmp_path / "p.zarr.zip")
    assert path.read_bytes()[:4] == b"\211HDF" and path.stat().st_mode & 0o222 == 0
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None and "zarr.json" in archive.namelist()
        assert all(entry.header_offset > 0 for entry in archive.infolist())
    assert (values_in_zip(path) == DATA).all() and through(path) == GOOD
    assert "behind it, in the same file" in tool("h5dump", path, connector=None, plugins=False)
    assert subprocess.run([PROGRAM, "verify", path]).returncode == 0
    assert "changed" in through(path, "f['t'][0, 0, 0] = 1", "r+")
    if shutil.which("ncdump"):
        assert dump(path) == dump(pair[0])


def test_w_on_an_archive_that_may_not_be_written_fails(pair, tmp_path):
    """HDF5 would have to open the file for writing, though the rights of the directory let it be replaced."""
    path = packed(pair[1], tmp_path / "p.zarr.zip")
    before = path.read_bytes()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        copy = shutil.copy(path, folder)
        os.chmod(copy, 0o444)
        prefix = []
        if os.geteuid() == 0:
            if not shutil.which("setpriv"):
                pytest.skip("root may write each file, and there is no setpriv")
            prefix = ["setpriv", "--reuid=65534", "--clear-groups"]
            os.chown(folder, 65534, -1)
            os.chown(copy, 65534, -1)
        done = subprocess.run([*prefix, sys.executable, "-c", f"import h5py; h5py.File({str(copy)!r}, 'w')"],
                              env={**os.environ, "HDF5_VOL_CONNECTOR": "zarr"}, capture_output=True, text=True)
        assert done.returncode != 0 and "for writing" in done.stderr
        with open(copy, "rb") as file:
            assert file.read() == before


def test_hdf5_cuts_nothing_off_an_archive(pair, tmp_path):
    """Nobody may write it; root may open it so, and HDF5 leaves what lies behind its own part."""
    path = packed(pair[1], tmp_path / "p.zarr.zip")
    before = path.read_bytes()
    path.chmod(0o644)
    assert through(path, "pass", "r+", connector=None) in ("", GOOD) and path.read_bytes() == before
    done = subprocess.run([PROGRAM, "copy", "--door", pair[1], tmp_path / "y.zarr"], capture_output=True, text=True)
    assert done.returncode == 2 and "--door makes an archive" in done.stderr and not (tmp_path / "y.zarr").exists()


def test_gdal_reads_an_archive_with_a_door(pair, tmp_path):
    gdal = pytest.importorskip("osgeo.gdal")
    path = packed(pair[1], tmp_path / "p.zarr.zip")
    assert gdal.VSIStatL(f"/vsizip/{path}/t/zarr.json").size == (pair[1] / "t/zarr.json").stat().st_size


def test_external_links_pass_doors(pair, tmp_path):
    nc, _ = pair
    link = "f['t'] = h5py.ExternalLink('x.nc', '/t'); print(f['t'][...].sum())"
    assert through(tmp_path / "h.zarr", link, "w") == str(DATA.sum())


LINKS = """
f['link'] = h5py.ExternalLink('x.nc', '/t')
layout = h5py.VirtualLayout((6, 8, 10), 'f4'); layout[:] = h5py.VirtualSource('x.nc', 't', (6, 8, 10))
f.create_virtual_dataset('virtual', layout, fillvalue=-1)
"""
FOLLOW = """
try: f['link']
except KeyError: print('no link', end=' ')
print(f['virtual'][0, 0, :2].tolist())
"""


def test_hdf5_opens_links_of_its_files_by_itself(pair, tmp_path):
    """And sees the door alone: it asks no connector. Those who ask for it are told."""
    assert through(tmp_path / "l.h5", f"exec({LINKS!r})", "w") == ""
    done = forked.run(f"import h5py, sys\nwith h5py.File(sys.argv[1]) as f: exec({FOLLOW!r})", str(tmp_path / "l.h5"),
                      env=environment("zarr") | {"ZARRBRIDGE_VERBOSE": "1"})
    assert done.stdout.strip() == "no link [-1.0, -1.0]"
    assert "the external link 'link' of an .h5 file leads to the store 'x.nc'" in done.stderr
    assert "a virtual dataset of an .h5 file has the store 'x.nc' as a source" in done.stderr


def test_no_link_leads_through_a_door_to_a_host(tmp_path):
    """Nor through one that belongs to somebody else, where the program follows all doors."""
    link = "f['t'] = h5py.ExternalLink('far.nc', '/t'); f['t']"
    door_to(tmp_path / "far.nc", "https://127.0.0.1:9/x.zarr")
    for connector in ("zarr", "zarr doors=any"):
        assert "is not followed" in through(tmp_path / "h.zarr", link, "w", connector)
    if os.geteuid() == 0:
        os.chown(tmp_path / "far.nc", 65534, 65534)
        assert "is not followed" in through(tmp_path / "h.zarr", link, "w", "zarr doors=any")


def test_a_copy_behind_a_symbolic_link(pair, tmp_path):
    nc, _ = pair
    shutil.copy(nc, tmp_path / "b.nc")
    (tmp_path / "c.nc").symlink_to("b.nc")
    assert through(tmp_path / "c.nc", "f.attrs['title'] = 'mine'", "r+") == ""
    assert (tmp_path / "c.nc").is_symlink() and "mine" in through(tmp_path / "b.nc")
    assert through(nc) == GOOD


def test_files_in_memory_are_no_doors(tmp_path):
    code = "f['d'] = 1; print(f['d'][()])"
    done = forked.run(f"import h5py, sys\nwith h5py.File(sys.argv[1], 'w', driver='core', backing_store=False) as f: "
                      f"{code}", str(tmp_path / "m.nc"), env=environment("zarr store=door"))
    assert done.stdout == "1\n" and not list(tmp_path.iterdir()), done.stderr


def test_opening_other_files_costs_what_it_did(tmp_path):
    """One call of stat for a file that is too large to be a door, and a read of one that is not."""
    with h5py.File(tmp_path / "large.h5", "w", driver="sec2") as f:
        f["d"] = np.zeros(5000)
    with h5py.File(tmp_path / "small.h5", "w") as f:
        f["d"] = 1
    assert through(tmp_path / "large.h5", "print(f['d'][0])") == "0.0"
    assert through(tmp_path / "small.h5", "print(f['d'][()])") == "1"


# ---- Creating by name ----

@pytest.mark.parametrize("option, name, is_door", [
    ("store=door", "a.nc", True), ("store=door", "a.H5", True), ("store=door", "a.dat", False),
    ("store=door", "a.nc.pid12.ncks.tmp", True), ("door=beside", "a.dat", True), ("store=auto", "a.nc", False)])
def test_new_files_become_doors(tmp_path, option, name, is_door):
    assert through(tmp_path / name, "f['d'] = [1, 2, 3]", "w", f"zarr {option}") == ""
    stores = [p.name for p in tmp_path.iterdir() if p.is_dir()]
    assert stores == ([name.split(".pid")[0] + ".zarr"] if is_door else [])
    assert through(tmp_path / name, "print(f['d'][...])") == "[1 2 3]"


def test_new_doors_leave_what_is_there_alone(tmp_path):
    (tmp_path / "a.nc").write_bytes(b"some data")
    assert "content of its own" in through(tmp_path / "a.nc", "f['d'] = 1", "w", "zarr store=door")
    assert (tmp_path / "a.nc").read_bytes() == b"some data"
    write(tmp_path / "b.nc.zarr")
    assert through(tmp_path / "b.nc", "f['d'] = 1", "w", "zarr store=door") == ""
    assert "t" in zarr.open_group(tmp_path / "b.nc.zarr")
    assert "d" in zarr.open_group(tmp_path / "b.nc.2.zarr")
    assert "exists" in through(tmp_path / "b.nc", "pass", "x", "zarr store=door")


# ---- netCDF and its tools ----

def needs(program):
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")


def call(*words, connector="zarr", cwd=None):
    return tool(*words, connector=connector, cwd=cwd)


def dump(path, connector="zarr"):
    """The text of a file without its name."""
    return call("ncdump", path, connector=connector).split("\n", 1)[1]


@needs("ncdump")
@needs("nccopy")
def test_netcdf_reads(pair, tmp_path):
    nc, _ = pair
    call("nccopy", nc, tmp_path / "native.nc")
    assert (tmp_path / "native.nc").read_bytes()[:4] == b"\x89HDF"
    assert dump(nc) == dump(tmp_path / "native.nc", connector=None)


@needs("ncdump")
def test_strings_of_a_store_are_characters_to_netcdf(pair, tmp_path):
    """Fortran, GMT and ncview ask for them by functions that know no others. netCDF writes its own strings as lists,
    which stay so."""
    nc, store = pair
    t = zarr.open_array(store / "t")
    t.attrs.update(units="K", long="ö" * 300, empty="", words=["a"])
    text = call("ncdump", "-h", nc)
    lines = [line.strip() for line in text.splitlines() if "t:" in line]
    assert {'t:units = "K" ;', f't:long = "{"ö" * 300}" ;', 't:empty = "" ;', 'string t:words = "a" ;'} <= set(lines)
    assert ':title = "doors" ;' in text and "string :" not in text
    call("nccopy", nc, tmp_path / "native.nc")
    assert call("ncdump", "-h", tmp_path / "native.nc", connector=None).split("\n")[1:] == text.split("\n")[1:]
    assert through(nc, "print(f['t'].attrs['units'], f['t'].attrs.get_id('units').dtype)") == "K object"


EDITS = [
    ["ncatted", "-h", "-a", "units,t,o,c,degC"],
    ["ncatted", "-h", "-a", "foo,global,c,d,1.5", "-a", "title,global,d,,"],
    ["ncrename", "-h", "-v", "t,temperature"],
    ["ncrename", "-h", "-a", "t@units,unit"],
    ["ncks", "-h", "-O", "-d", "time,1,3"],
    ["ncks", "-h", "-O", "-v", "x,y"],
    ["ncap2", "-h", "-O", "-s", "u=t*2"],
    ["ncpdq", "-h", "-O", "-a", "x,y"],
    ["ncwa", "-h", "-O", "-a", "time"],
    ["ncflint", "-h", "-O", "-w", "2,3", "IN"],
    ["ncbo", "-h", "-O", "--op_typ=+", "IN"],
]


@needs("ncks")
@pytest.mark.parametrize("edit", EDITS, ids=[f"{e[0]}-{i}" for i, e in enumerate(EDITS)])
def test_nco_from_a_door_to_a_door(pair, tmp_path, edit):
    """As on a native copy, into a store and into a file."""
    nc, store = pair
    call("nccopy", nc, tmp_path / "native.nc")
    before = dump(nc)
    for source, target, connector in ((tmp_path / "native.nc", "n.nc", None),
                                      (nc, "z.nc", "zarr store=door"), (nc, "f.nc", "zarr")):
        words = [str(source) if word == "IN" else word for word in edit]
        call(*words, source, target, connector=connector, cwd=tmp_path)
    native = dump(tmp_path / "n.nc", connector=None)
    assert dump(tmp_path / "z.nc") == native
    assert dump(tmp_path / "f.nc") == native
    assert dump(nc) == before
    assert (tmp_path / "z.nc.zarr").is_dir()


@needs("ncatted")
def test_nco_edits_in_place(pair):
    nc, store = pair
    call("ncatted", "-h", "-a", "units,t,o,c,degC", nc)
    call("ncrename", "-h", "-v", "t,temperature", nc)
    call("ncks", "-h", "-O", "-d", "x,0,4", nc, nc, connector="zarr store=door")
    assert through(store, "print(f['temperature'].attrs['units'])") in ("degC", "b'degC'")
    text = dump(nc)
    assert 'temperature:units = "degC"' in text and "x = 5 ;" in text


@needs("cdo")
@pytest.mark.parametrize("operators", [["timmean"], ["mulc,2", "-seltimestep,2/4"], ["sellevidx,1"], ["timmax"]])
def test_cdo(pair, tmp_path, operators):
    nc, _ = pair
    call("nccopy", nc, tmp_path / "native.nc")
    chain = [operators[0], *operators[1:]]
    call("cdo", "-s", "-f", "nc4", "--no_history", *chain, tmp_path / "native.nc", tmp_path / "n.nc", connector=None)
    call("cdo", "-s", "-f", "nc4", "--no_history", *chain, nc, tmp_path / "z.nc", connector="zarr store=door")
    assert dump(tmp_path / "z.nc") == dump(tmp_path / "n.nc", connector=None)
    assert (tmp_path / "z.nc.zarr").is_dir()
