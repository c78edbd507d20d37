# SPDX-License-Identifier: MIT
"""The command `zarrbridge`: the program, and two subcommands that belong to Python.

    zarrbridge enable      each Python of this environment does `import zarrbridge` when it starts
    zarrbridge disable     no longer"""
import os
import sys
import sysconfig

from zarrbridge import _places

FILE = "zarrbridge-enabled.pth"
# The package may be removed before the file is.
LINE = 'import sys; exec("try:\\n import zarrbridge\\nexcept ImportError:\\n pass")\n'


def _path():
    return os.path.join(sysconfig.get_paths()["purelib"], FILE)


def enable():
    path = _path()
    with open(path, "w", encoding="utf-8") as file:
        file.write(LINE)
    print(f"h5py and rasterio open Zarr stores in each Python of {sys.prefix}, without an import ({path})")


def disable():
    path = _path()
    if os.path.exists(path):
        os.unlink(path)
    print(f"h5py and rasterio open Zarr stores in the Pythons of {sys.prefix} after `import zarrbridge` alone")


def main():
    arguments = sys.argv[1:]
    if arguments in (["enable"], ["disable"]):
        try:
            enable() if arguments == ["enable"] else disable()
        except OSError as error:
            sys.exit(f"zarrbridge: {error}")
        return
    if arguments[:1] == ["doctor"]:  # which asks the Python that is the first one on PATH
        os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), *os.get_exec_path()])
    program = _places.find_program()
    if program is None:
        sys.exit("zarrbridge: the program is neither in this package nor on PATH")
    os.execv(program, ["zarrbridge", *arguments])


if __name__ == "__main__":
    main()
