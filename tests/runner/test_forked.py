# SPDX-License-Identifier: MIT
"""Children that are forked (tests/support/forked.py) do what `python -c` does, and find HDF5 and GDAL as if none had
run before."""

import os
import subprocess
import sys
import threading

import pytest

import forked

PROGRAMS = {
    "argv": "import sys; print(sys.argv, sys.path, sys.flags, __name__, '__file__' in globals())",
    "main": "import sys; print(sys.modules['__main__'].__dict__ is globals(),"
            "sorted(globals().keys() - {'__annotations__'}), __builtins__)",
    "status": "import sys; print('said'); sys.exit(3)",
    "words": "import sys; sys.exit('no such thing')",
    "aborted": "import os; print('lost'); os.abort()",
    "killed": "import os; print('kept', flush=True); os.kill(os.getpid(), 9)",
    "ended": "import os; print('lost'); os._exit(2)",
    "both": "import os; print('a'); os.write(1, b'first'); os.write(2, b'b\\r\\n')",
    "much": "import sys; print('x' * 3000000); print('y' * 3000000, file=sys.stderr)",
    "input": "import sys; print(repr(sys.stdin.read()))",
    "streams": "import sys; print(sys.stdout, sys.stderr, sys.stdout.seekable())",
    "descriptors": "import os; print(sorted(os.listdir('/proc/self/fd')))",
    "threads": "import os, numpy; print(os.listdir('/proc/self/task') == [str(os.getpid())])",
    "signals": "import signal; print([signal.getsignal(n) for n in range(1, 32)], signal.pthread_sigmask(0, []))",
    "warning": "import warnings; warnings.warn('canary')",
    "exit": "import atexit; atexit.register(print, 'exit')\n"
            "class Thing:\n    def __del__(self): print('gone')\nkept = Thing()",
    "cycle": "class Thing:\n    def __del__(self): print('gone')\nkept = Thing(); kept.me = kept; del kept",
    "thread": "import threading, time\ndef end(): time.sleep(0.05); print('end')\nthreading.Thread(target=end).start()",
    "child": "import os, sys\nif os.fork() == 0: print('child'); sys.exit()\nprint(os.wait()[1])",
    "libraries": "import sys; print([name for name in ('h5py', 'osgeo') if name in sys.modules])",
}


def real(code, *arguments, options=("-W", "ignore"), **more):
    return subprocess.run([sys.executable, *options, "-c", code, *arguments], capture_output=True, text=True, **more)


def outcome(done):
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_as_of_a_new_interpreter(name, tmp_path):
    environment = os.environ | forked.WITHOUT_THREADS  # those that OpenBLAS starts are not in question
    expected = outcome(real(PROGRAMS[name], "one", "two", env=environment))
    for _ in range(2):
        assert outcome(forked.run(PROGRAMS[name], "one", "two", env=environment)) == expected


@pytest.mark.parametrize("code", ["1 / 0", "def f(", "raise KeyboardInterrupt", "import none"])
def test_errors_are_told_with_their_place(code):
    done, expected = forked.run(code), real(code)
    assert done.returncode == expected.returncode and done.stderr.endswith(expected.stderr.splitlines()[-1] + "\n")
    assert 'File "<string>", line 1' in done.stderr


def test_options_of_the_interpreter():
    for options in ((), ("-W", "ignore"), ("-W", "error"), ("-O",)):
        code = "import warnings, sys; assert False; print(sys.warnoptions); warnings.warn('canary')"
        done, expected = forked.run(code, options=options), real(code, options=options)
        assert outcome(done)[:2] == outcome(expected)[:2] and ("canary" in done.stderr) == ("canary" in expected.stderr)


def test_folder_and_environment(tmp_path):
    """The interpreter's own variables and the loader's, too."""
    code = "import os, sys, time; print(os.getcwd(), sorted(os.environ.items()), time.tzname, sys.stdout.encoding)"
    for more in {}, {"HDF5_VOL_CONNECTOR": "x"}, {"TZ": "Asia/Tokyo"}, {"PYTHONIOENCODING": "latin-1"}:
        environment = os.environ | more
        assert outcome(forked.run(code, env=environment, cwd=tmp_path)) == \
            outcome(real(code, env=environment, cwd=tmp_path))


def test_one_that_hangs_is_killed():
    with pytest.raises(subprocess.TimeoutExpired):
        forked.run("import time; print('a', flush=True); time.sleep(600)", timeout=0.1)
    assert forked.run("print('next')").stdout == "next\n"


def test_children_run_side_by_side(tmp_path):
    """Each waits for the other."""
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        os.mkfifo(path)
    code = "import sys, os; a = os.open(sys.argv[1], os.O_RDWR); b = os.open(sys.argv[2], os.O_RDWR)\n" \
           "os.write(b, b'x'); print(os.read(a, 1))"
    said = []
    other = threading.Thread(target=lambda: said.append(forked.run(code, *paths[::-1], timeout=600).stdout))
    other.start()
    said.append(forked.run(code, *paths, timeout=600).stdout)
    other.join()
    assert said == 2 * ["b'x'\n"]


WRITES = """
import sys, h5py
print(h5py.h5.get_libversion()[0] > 0)
file = h5py.File(sys.argv[1], "w")
file["a"] = range(5)  # neither flushed nor closed
"""


@pytest.mark.skipif(not os.path.isdir(os.environ["HDF5_PLUGIN_PATH"]), reason="the HDF5 connector is not built")
def test_hdf5_starts_in_the_child(tmp_path):
    """With its own environment, and it ends there."""
    pytest.importorskip("h5py")
    for connector, made in ("native", "is_file"), ("zarr", "is_dir"), ("native", "is_file"):
        path = tmp_path / (made + str(len(list(tmp_path.iterdir()))) + ".zarr")
        done = forked.run(WRITES, path, env=os.environ | {"HDF5_VOL_CONNECTOR": connector})
        assert outcome(done) == (0, "True\n", "") and getattr(path, made)()
        for reader in forked.run, real:
            done = reader("import sys, h5py; print(h5py.File(sys.argv[1])['a'][:])", str(path),
                          env=os.environ | {"HDF5_VOL_CONNECTOR": connector})
            assert outcome(done) == (0, "[0 1 2 3 4]\n", "")
    done = forked.run("import h5py", env=os.environ | {"HDF5_VOL_CONNECTOR": "zarr", "HDF5_PLUGIN_PATH": "/none"})
    assert done.returncode != 0 or "rror" in done.stderr


def test_gdal_loads_its_drivers_in_the_child():
    pytest.importorskip("osgeo")
    code = "from osgeo import gdal; print(gdal.GetDriverByName('Zarr3') is not None, gdal.GetConfigOption('GDAL_X'))"
    for path, found in (os.environ["GDAL_DRIVER_PATH"], os.path.isdir(os.environ["GDAL_DRIVER_PATH"])), ("/none", False):
        done = forked.run(code, env=os.environ | {"GDAL_DRIVER_PATH": path, "GDAL_X": path})
        assert done.stdout == f"{found} {path}\n"
