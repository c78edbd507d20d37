# SPDX-License-Identifier: MIT
"""Packs the inputs that fuzzing found: one archive for each target, found/NAME.zip. The members are
stored as they are, in the order of their names, without dates, so that the same inputs make the
same bytes. replay.c reads exactly this form.

    python3 archive.py pack FOLDER ARCHIVE      all files of the folder
    python3 archive.py unpack ARCHIVE FOLDER    into a folder that is made when there is none
"""
import pathlib
import sys
import zipfile


def pack(folder, archive):
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as out:
        for path in sorted(path for path in pathlib.Path(folder).iterdir() if path.is_file()):
            out.writestr(zipfile.ZipInfo(path.name), path.read_bytes())


def unpack(archive, folder):
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)


if __name__ == "__main__":
    {"pack": pack, "unpack": unpack}[sys.argv[1]](*sys.argv[2:])
