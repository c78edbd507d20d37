# SPDX-License-Identifier: MIT
"""File systems in files: small ones, mounted by loop devices. Needs root."""
import contextlib
import functools
import os
import shutil
import subprocess

MIB = 1 << 20


class FileSystem:
    def __init__(self, name, size, make, options="", again="", package=""):
        self.name, self.size, self.make = name, size, make
        self.options = options  # while actors write
        self.again = again      # when a cut is looked at
        self.package = package

    def format(self, image):
        with open(image, "wb") as file:
            file.truncate(self.size)
        run([*self.make, image])


EXT4 = ["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"]

ALL = {system.name: system for system in (
    # The usual default: a rename over a file makes ext4 write the new one's content first.
    FileSystem("ext4", 48 * MIB, EXT4, "commit=600", package="e2fsprogs"),
    # The least that POSIX allows: nothing is written before a sync asks for it.
    FileSystem("ext4-late", 48 * MIB, EXT4, "commit=600,noauto_da_alloc", package="e2fsprogs"),
    FileSystem("xfs", 300 * MIB, ["mkfs.xfs", "-q", "-f", "-K"], again="nouuid",
               package="xfsprogs"),
    FileSystem("btrfs", 120 * MIB, ["mkfs.btrfs", "-q", "-f", "-K"], "commit=300",
               package="btrfs-progs"),
    # Inodes without room for nanoseconds: time stamps are whole seconds.
    FileSystem("ext4-seconds", 48 * MIB, [*EXT4, "-I", "128"], package="e2fsprogs"),
)}
DISKS = ("ext4", "ext4-late", "xfs", "btrfs")  # those that lose power


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")


@functools.cache
def why_no_mounts():
    """The reason why nothing can be mounted here, or None. From now on, mounts belong to this
    thread and its children alone, and end with them. It has to be called before there are other
    threads."""
    if os.geteuid() != 0:
        return "only root mounts file systems"
    try:
        os.unshare(os.CLONE_NEWNS)
        run(["mount", "--make-rprivate", "/"])
    except (OSError, RuntimeError) as error:
        return f"nothing can be mounted here: {error}"
    return None


def what_lacks(system, *devices):
    """The reason why the file system, or one of the devices, is missing here; or None."""
    if why_no_mounts():
        return why_no_mounts()
    for device in ("/dev/loop-control", *devices):
        if not os.access(device, os.R_OK | os.W_OK):
            return f"there is no {device}"
    if shutil.which(system.make[0]) is None:
        return f"there is no {system.make[0]} (package {system.package})"
    kind = system.make[0].removeprefix("mkfs.")
    if shutil.which("modprobe"):
        subprocess.run(["modprobe", "-q", kind])  # built-in ones are in the list
    with open("/proc/filesystems") as file:
        if kind not in file.read().split():
            return f"the kernel has no {kind}"
    return None


@contextlib.contextmanager
def mounted(file, directory, options=""):
    os.makedirs(directory, exist_ok=True)
    run(["mount", "-o", ",".join(filter(None, ["loop", options])), file, directory])
    try:
        yield directory
    finally:
        run(["umount", directory])
