# SPDX-License-Identifier: MIT
"""Programs that insist on a file, on stores of all libraries through doors: they print, and write, what they do with a
native copy of the same data. The copy has the values that zarr-python reads.

A row of PROGRAMS is a line for the shell, in a folder where x.nc is a door or that copy. In the gate some run on the
first of their stores, and ncdump on all; `tools/test --all` runs each on all of them."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np
import pytest
import zarr
from conftest import environment, run_new_python, run_python

from door_stores import MAKERS, T
from length import by_length

sys.path.append(os.environ["ZARRBRIDGE_SOURCE_DIR"] + "/tests/interop")
from venvs import venv  # noqa: E402

ALL = tuple(MAKERS)
CUBES = ("xarray", "netcdf", "zarr", "h5py")  # where t has a time
GROWS = ("netcdf", "h5py")  # and that is an unlimited dimension
WITHOUT_GROUPS = ("xarray",)

# Prints all that there is, with its values.
NETCDF4 = """
import sys, netCDF4, numpy as np
def show(group):
    print(group.path, {name: (len(d), d.isunlimited()) for name, d in group.dimensions.items()}, group.__dict__)
    print(sorted(group.enumtypes), sorted(group.cmptypes))
    for name, v in group.variables.items():
        print(name, v.dtype, v.dimensions, v.shape, v.__dict__)
        print(np.asarray(v[...]).tolist())
    for child in group.groups.values(): show(child)
with netCDF4.Dataset(sys.argv[1]) as file: show(file)
"""

NETCDF4_APPENDS = """
import sys, netCDF4
with netCDF4.Dataset(sys.argv[1], "a") as file:
    t = file["t"]
    t.units = "degC"; t[0] = 7; t[6] = 8; file["packed"][6] = 9
    t.new = [1.5, 2.5]; file.renameVariable("t", "u"); file.createVariable("v", "i4", ("lat",))[:] = range(8)
    group = file.createGroup("late"); group.note = "é"
"""

XARRAY = """
import sys, xarray
with xarray.open_dataset("x.nc", engine="netcdf4", CHUNKS) as data:
    print(sorted(data.variables), dict(data.sizes), data.attrs, data.t.attrs, data.time.values)
    mean = data[["t"]].mean("time").load()
    print(mean.t.values.tolist(), float(data.t[2:4, 1:].sum()))
    mean.to_netcdf("out.nc", engine="netcdf4", format="NETCDF4")
"""

FORTRAN = """
program reads
  use netcdf
  implicit none
  integer :: file, id, count, i, dimensions(8), length(3)
  character(len=80) :: name, units
  real, allocatable :: t(:, :, :)
  call check(nf90_open("x.nc", nf90_nowrite, file))
  call check(nf90_inq_varid(file, "t", id))
  call check(nf90_inquire_variable(file, id, ndims=count, dimids=dimensions))
  do i = 1, count
    call check(nf90_inquire_dimension(file, dimensions(i), name, length(i)))
    print *, trim(name), length(i)
  end do
  allocate (t(length(1), length(2), length(3)))
  call check(nf90_get_var(file, id, t))
  print *, t
  units = ""
  call check(nf90_get_att(file, id, "units", units))
  print *, trim(units)
  call check(nf90_create("out.nc", nf90_netcdf4, file))
  call check(nf90_def_dim(file, "x", length(1), dimensions(1)))
  call check(nf90_def_dim(file, "y", length(2), dimensions(2)))
  call check(nf90_def_var(file, "t", nf90_real, dimensions(1:2), id, deflate_level=2))
  call check(nf90_put_att(file, id, "units", trim(units)))
  call check(nf90_put_var(file, id, t(:, :, 2)))
  call check(nf90_close(file))
contains
  subroutine check(status)
    integer, intent(in) :: status
    if (status /= nf90_noerr) then
      print *, trim(nf90_strerror(status))
      stop 1
    end if
  end subroutine
end program
"""

R = """
library(ncdf4)
file <- nc_open("x.nc")
cat(gsub("[(](Chunking|Contiguous).*[)]", "", capture.output(print(file))), sep = "\\n")
print(ncvar_get(file, "t"))
print(ncatt_get(file, "t", "units"))
print(ncatt_get(file, 0))
x <- ncdim_def("x", "m", 1:4)
new <- nc_create("out.nc", ncvar_def("r", "K", x, -1), force_v4 = TRUE)
ncvar_put(new, "r", c(1, 2, 3, 4.5))
nc_close(new)
"""

FERRET = """use x.nc
show data
list/i=2:4/j=3/l=2 t
list/l=1:6 t[i=1,j=@ave]
exit
"""

GMT = "gmt begin map ps && gmt grdimage 'x.nc?t{}' -JX12c -B && gmt end && grep -v CreationDate map.ps"
CDO = "cdo -s --no_history -f nc4 "
OUT = " x.nc out.nc"


class Program(NamedTuple):
    line: str  # for the shell; what it writes is out.nc
    stores: tuple = CUBES
    needs: str | None = None  # words, instead of its first one
    writes_x: bool = False  # x.nc has changed then, too


PROGRAMS = {
    "ncdump": Program("ncdump x.nc", ALL),
    "ncdump-special": Program("ncdump -hs x.nc | grep -vE '_NCProperties|_SuperblockVersion|_Filter|_Codecs|_Storage"
                              "|_Endianness|_NoFill|_Shuffle|_DeflateLevel|_ChunkSizes'", ALL),
    "ncgen": Program("ncdump x.nc > x.cdl && ncgen -4 -o out.nc x.cdl", ("netcdf", "zarr", "xarray", "h5py")),
    "nccopy": Program("nccopy -4 -d 1 -s" + OUT, ("netcdf", "xarray", "zarr", "h5py", "gdal")),
    "nccopy-classic": Program("nccopy -V time,lat,lon,t -k classic" + OUT, ("xarray",)),
    "ncdump-times": Program("ncdump -v time,t -p 9,17 -t x.nc"),
    # NCO's ten
    "ncks": Program("ncks -h -4 -v t -d time,1,3 -d lat,,,2" + OUT),
    "ncks-groups": Program("ncks -h -4" + OUT, ("zarr", "xarray", "gdal")),
    "ncks-appends": Program("ncks -h -4 -v t x.nc out.nc && ncks -h -A -v lat,lon x.nc out.nc"),
    "ncatted": Program("ncatted -h -a units,t,o,c,degC -a title,global,d,, -a n,t,c,d,1.5" + OUT),
    "ncrename": Program("ncrename -h -a .units,unit x.nc && ncrename -h -v t,u -v .v,w -g g,h x.nc",
                        ("netcdf",), writes_x=True),
    "ncap2": Program("ncap2 -h -4 -v -s 'u=t*2; v=t.avg($time)'" + OUT),
    "ncpdq": Program("ncpdq -h -4 -v t -a lon,lat" + OUT),
    "ncwa": Program("ncwa -h -4 -v t -a lat,lon" + OUT),
    "ncbo": Program("ncbo -h -4 --op_typ=+ -v t x.nc x.nc out.nc"),
    "ncflint": Program("ncflint -h -4 -w 2,3 -v t x.nc x.nc out.nc"),
    "nces": Program("nces -h -4 -v t x.nc x.nc out.nc"),
    "ncecat": Program("ncecat -h -4 -v t x.nc x.nc out.nc"),
    "ncra": Program("ncra -h -4 -v t" + OUT, GROWS),
    "ncrcat": Program("ncrcat -h -4 -v t -d time,1,2 x.nc x.nc out.nc", GROWS),
    "nco-pipeline": Program("ncks -h -4 -v t --mk_rec_dmn time x.nc a.nc && ncrcat -h -4 a.nc a.nc b.nc && "
                            "ncra -h -4 --mro -d time,,,6,6 b.nc c.nc && ncwa -h -4 -a lat c.nc out.nc"),
    # CDO
    "cdo-info": Program("cdo -s sinfon x.nc | grep -v 'File format'; cdo -s infon x.nc; cdo -s showtimestamp x.nc; "
                        "cdo -s griddes -selname,t x.nc", ALL),
    "cdo-select": Program(CDO + "-selname,t -seltimestep,2/4 -sellonlatbox,30,200,-40,60" + OUT,
                          ("xarray", "netcdf", "h5py")),
    "cdo-timmean": Program(CDO + "timmean -selname,t" + OUT, ("xarray", "netcdf", "h5py")),
    "cdo-arithmetic": Program(CDO + "sub -mulc,2 -selname,t x.nc -addc,1 -selname,t x.nc out.nc"),
    "cdo-remap": Program(CDO + "remapbil,r20x10 -selname,t" + OUT),
    "cdo-merge": Program(CDO + "merge -chname,t,u -selname,t x.nc -selname,t x.nc out.nc"),
    "cdo-packed": Program(CDO + "fldmean -selname,packed" + OUT, ("xarray", "netcdf")),
    "cdo-pipeline": Program(CDO + "selname,t x.nc a.nc && " + CDO + "daymean a.nc b.nc && " + CDO +
                            "splitsel,3 b.nc c && " + CDO + "cat c*.nc d.nc && " + CDO + "zonmean d.nc out.nc",
                            ("xarray", "netcdf", "h5py")),
    "cdo-nco-nccopy": Program(CDO + "mulc,3 -selname,t x.nc a.nc && ncks -h -4 -d time,2 a.nc b.nc && "
                              "ncatted -h -a units,t,o,c,mK b.nc && nccopy -4 b.nc out.nc", ("xarray", "netcdf")),
    "gmt-grdinfo": Program("gmt grdinfo 'x.nc?t' | grep -v chunk_size", ("xarray", "netcdf", "zarr", "h5py", "gdal")),
    "gmt-grdimage": Program(GMT.format("[2]"), needs="gmt gs"),
    "gmt-grdimage-2d": Program(GMT.format(""), ("gdal",), "gmt gs"),
    "gmt-grdmath": Program("gmt grdmath 'x.nc?t[1]' 2 MUL = out.nc", needs="gmt"),
    "fortran": Program("$FORTRAN_PROGRAM", needs="nf-config"),
    "r-ncdf4": Program("Rscript r.R", ("xarray", "zarr", "h5py"), "Rscript"),
    "ferret": Program("FER_DIR=. FER_DATA=. FER_DSETS=. FER_DESCR=. FER_GRIDS=. FER_GO=. FER_PALETTE=. FER_FONTS=. "
                      "ferret_c -batch -nojnl < ferret.jnl 2>&1 | grep -v ' [0-9]*-[A-Z][a-z]*-[0-9]* [0-9]*:'",
                      needs="ferret_c"),
    "netcdf4": Program("$PYTHON netcdf4.py x.nc", ALL, "netCDF4"),
    "netcdf4-appends": Program("$PYTHON appends.py x.nc", ("netcdf",), "netCDF4", writes_x=True),
    "xarray": Program("$PYTHON xarray_netcdf4.py", ("xarray", "netcdf", "h5py"), "netCDF4"),
}
GATE = ("ncgen", "nccopy", "nces", "ncra", "nco-pipeline", "cdo-timmean", "cdo-nco-nccopy", "gmt-grdinfo", "fortran",
        "r-ncdf4", "netcdf4-appends", "xarray")  # vol_doors has more of NCO
EACH = [(name, store) for name, row in PROGRAMS.items() for store in row.stores]
PAIRS = by_length([(name, PROGRAMS[name].stores[0]) for name in GATE] + [("ncdump", store) for store in ALL], EACH)

SCRIPTS = {"netcdf4.py": NETCDF4, "appends.py": NETCDF4_APPENDS, "r.R": R, "fortran.f90": FORTRAN, "ferret.jnl": FERRET,
           "xarray_netcdf4.py": XARRAY.replace(", CHUNKS", ""), "with_dask.py": XARRAY.replace("CHUNKS", "chunks={'time': 2}")}
WAYS = {"door": environment("zarr store=door"), "native": environment(None, plugins=False)}


def is_there(needed):
    """A program, a module of this Python, or R's package."""
    if needed == "netCDF4":
        return subprocess.run([sys.executable, "-c", "import netCDF4"], capture_output=True).returncode == 0
    if needed == "Rscript" and shutil.which("Rscript"):
        return subprocess.run(["Rscript", "-e", "library(ncdf4)"], capture_output=True).returncode == 0
    return shutil.which(needed) is not None


@pytest.fixture(scope="module")
def have():
    found = {}

    def look(needed):
        if needed not in found:
            found[needed] = is_there(needed)
        if not found[needed]:
            pytest.skip(f"{needed} is not installed")

    return look


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    """A function: the folder of a store, which holds x.zarr, its door x.nc, and the native copy native.nc."""
    made = {}

    def make(name):
        if name in made:
            return made[name]
        if name == "gdal" and not Path(os.environ["GDAL_DRIVER_PATH"]).is_dir():
            pytest.skip("the GDAL driver is not built")
        folder = made[name] = tmp_path_factory.mktemp(name)
        here = str(Path(__file__).parent)
        code = f"import sys; sys.path.insert(0, {here!r}); import warnings; warnings.simplefilter('ignore')\n" \
               f"import door_stores; door_stores.MAKERS[{name!r}](sys.argv[1])"
        run_python(code, folder / "x.zarr", connector="zarr")
        subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], "door", folder / "x.zarr"], check=True, capture_output=True)
        subprocess.run(["nccopy", folder / "x.nc", folder / "native.nc"], check=True, env=environment("zarr"))
        return folder

    return make


@pytest.fixture(scope="module")
def fortran(tmp_path_factory):
    """A function: the path of the compiled program."""
    folder = tmp_path_factory.mktemp("fortran")

    def compile_it():
        program = folder / "reads"
        if not program.exists():
            if not shutil.which("gfortran"):
                pytest.skip("gfortran is not installed")
            (folder / "fortran.f90").write_text(FORTRAN)
            flags = subprocess.run(["nf-config", "--fflags", "--flibs"], check=True, capture_output=True, text=True)
            subprocess.run(["gfortran", "-o", program, folder / "fortran.f90", *flags.stdout.split()], check=True,
                           cwd=folder)
        return str(program)

    return compile_it


def places(tmp_path, folder, own_store):
    """Two folders that look the same to a program: in one x.nc is a door, in the other the native copy."""
    for way in WAYS:
        (tmp_path / way).mkdir()
        for name, text in SCRIPTS.items():
            (tmp_path / way / name).write_text(text)
    shutil.copy(folder / "native.nc", tmp_path / "native/x.nc")
    if own_store:
        shutil.copytree(folder / "x.zarr", tmp_path / "door/x.zarr")
    else:
        (tmp_path / "door/x.zarr").symlink_to(folder / "x.zarr")
    subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], "door", "x.zarr", "x.nc"], check=True, cwd=tmp_path / "door",
                   capture_output=True)


def dumped(folder, way, name):
    if not (folder / name).exists():
        return None
    text = subprocess.run(["ncdump", name], cwd=folder, env=WAYS[way], capture_output=True, text=True)
    assert text.returncode == 0, text.stderr
    return text.stdout


def outcome(tmp_path, line, **variables):
    """What the line prints and leaves in each folder; in both at once."""
    running = {way: subprocess.Popen(["bash", "-c", "set -o pipefail; " + line], cwd=tmp_path / way, text=True,
                                     env=WAYS[way] | {"HOME": str(tmp_path / way), "PYTHON": sys.executable,
                                                     "PYTHONHASHSEED": "0"} | variables,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
               for way in WAYS}
    said = {way: process.communicate(timeout=1200) for way, process in running.items()}
    for way, process in running.items():
        assert process.returncode == 0, f"{way}: {line}\n{said[way][0][-2000:]}{said[way][1]}"
    return {way: said[way][0] for way in WAYS}


def check_same(tmp_path, line, writes_x=False, **variables):
    told = outcome(tmp_path, line, **variables)
    written = ["out.nc", "x.nc"] if writes_x else ["out.nc"]
    left = {way: [dumped(tmp_path / way, way, name) for name in written] for way in WAYS}
    assert told["door"] == told["native"]
    assert left["door"] == left["native"]
    assert told["native"] or any(left["native"])
    return left["native"]


@pytest.mark.parametrize("name, store", PAIRS)
def test_the_same_as_on_a_native_copy(have, folder_of, fortran, tmp_path, name, store):
    row = PROGRAMS[name]
    have("nccopy")
    for needed in (row.needs or row.line.split()[0]).split():
        have(needed)
    places(tmp_path, folder_of(store), row.writes_x)
    program = fortran() if name == "fortran" else ""
    left = check_same(tmp_path, row.line, row.writes_x, FORTRAN_PROGRAM=program)
    is_hdf5 = left[0] and (tmp_path / "native/out.nc").read_bytes()[:4] == b"\x89HDF"
    assert (tmp_path / "door/out.nc.zarr").is_dir() == bool(is_hdf5)


@pytest.mark.parametrize("store", ALL)
def test_the_native_copy_has_the_values_of_zarr_python(have, folder_of, store):
    have("nccopy")
    folder, compared = folder_of(store), set()
    with h5py.File(folder / "native.nc", "r") as native:
        for document in (folder / "x.zarr").rglob("zarr.json"):
            name = str(document.parent.relative_to(folder / "x.zarr"))
            kind = json.loads(document.read_text()).get("data_type")  # of groups: none
            if not isinstance(kind, str):  # zarr-python has not all of the others
                continue
            data = native[name].asstr() if kind == "string" else native[name]
            assert np.array_equal(zarr.open_array(document.parent, mode="r")[...], data[...]), name
            compared.add(name)
    assert "t" in compared


@pytest.mark.parametrize("name, line, values", [
    ("cdo", CDO + "timmean -selname,t" + OUT, T.mean(0, keepdims=True)),
    ("ncks", "ncks -h -4 -v t -d time,1,3 -d lon,4,5" + OUT, T[1:4, :, 4:6]),
    ("ncpdq", "ncpdq -h -4 -v t -a lon,lat" + OUT, T.swapaxes(1, 2)),
    ("nccopy", "nccopy -4" + OUT, T)])
def test_other_libraries_read_what_programs_write(have, folder_of, tmp_path, name, line, values):
    have("nccopy")
    have(name)
    places(tmp_path, folder_of("xarray"), False)
    subprocess.run(line.split(), cwd=tmp_path / "door", env=WAYS["door"], check=True, capture_output=True)
    array = zarr.open_group(tmp_path / "door/out.nc.zarr", mode="r")["t"]
    assert np.allclose(array[...].reshape(values.shape), values)


# ---- ncview's window ----

class Screen:
    """An X server without a screen, whose picture is a file (of xwd's format)."""

    def __init__(self, folder):
        self.file = folder / "Xvfb_screen0"
        ours, theirs = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(theirs), "-fbdir", str(folder), "-screen", "0",
                                        "640x800x24"], pass_fds=[theirs], stderr=subprocess.DEVNULL)
        os.close(theirs)
        with os.fdopen(ours) as pipe:
            self.display = ":" + pipe.readline().strip()

    def picture(self):
        data = np.frombuffer(self.file.read_bytes(), "u1")
        size, colors = int.from_bytes(data[:4].tobytes(), "big"), int.from_bytes(data[76:80].tobytes(), "big")
        return data[size + 12 * colors:][:640 * 800 * 4].reshape(800, 640, 4)[..., :3]

    def wait(self, is_right):
        """Whether there is such a picture within two minutes."""
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if is_right(self.picture()):
                return True
            time.sleep(0.05)
        return False

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.server.terminate()
        self.server.wait()


def is_drawn(picture):
    """ncview's window is of few colours until it draws the map."""
    return len(np.unique(picture.reshape(-1, 3)[::7], axis=0)) > 30


def test_ncview_shows_the_same_picture(have, folder_of, tmp_path):
    for program in ("ncview", "Xvfb", "nccopy", "ncks"):
        have(program)
    places(tmp_path, folder_of("netcdf"), False)
    outcome(tmp_path, "ncks -h -4 -v t,time,lat,lon x.nc one.nc")
    pictures = {}
    for way in ("native", "door"):
        (tmp_path / "screen" / way).mkdir(parents=True)
        with Screen(tmp_path / "screen" / way) as screen:
            with subprocess.Popen(["ncview", "one.nc"], cwd=tmp_path / way, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                  env=WAYS[way] | {"DISPLAY": screen.display, "HOME": str(tmp_path)}) as ncview:
                assert screen.wait(is_drawn), f"{way}: ncview draws nothing"
                if way == "native":
                    last = [None]
                    assert screen.wait(lambda p: np.array_equal(last[0], p) or last.__setitem__(0, p))
                    pictures[way] = screen.picture()
                else:
                    assert screen.wait(lambda p: np.array_equal(p, pictures["native"])), "the pictures differ"
                ncview.terminate()


# ---- Packages of the index ----

WHEELS = ("netCDF4==1.7.5.1.post1", "dask==2026.8.0")


@pytest.mark.parametrize("store", by_length(("xarray",), ("xarray", "netcdf", "h5py")))
@pytest.mark.parametrize("script", ["netcdf4.py", "with_dask.py"])
def test_wheel_of_netcdf4(have, folder_of, tmp_path, script, store):
    have("nccopy")
    python = venv("netcdf4", *WHEELS, system=True)
    places(tmp_path, folder_of(store), False)
    check_same(tmp_path, f"'{python}' {script} x.nc")
