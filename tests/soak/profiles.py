# SPDX-License-Identifier: MIT
"""Profiles: the place of a round, its actors, and the errors that are not findings."""
import contextlib
import importlib.util
import os
import pathlib
import shutil
import tempfile

import filesystems
from trades import Changer, Mover, Reader, Writer

PLAIN, SHARD, CRC = "a/plain", "a/shard", "a/crc"
STEADY = (PLAIN, SHARD, CRC)
MOVING = tuple(f"m/{number}" for number in range(5))
USERS, GROUP = (61001, 61002), 61000

# The kinds of errors that refuse a call, in C, h5py and GDAL.
CONFLICT = ("ZB_ECONFLICT", "ZB_EUNSUPPORTED", "OSError", "KeyError", "RuntimeError")


def is_damage(answer):
    """Whether an error reports a damaged shard. (74 is EBADMSG.)"""
    return answer.kind in ("ZB_ECHECKSUM", "ZB_EFORMAT", "OSError:74") or any(
        said in answer.text for said in ("crc32c", "damaged data"))


class Lacks(Exception):
    """The reason why a profile is not available here."""


class Profile:
    steady, moving = STEADY, MOVING
    kills = False
    stops = False

    @property
    def paths(self):
        return (*self.steady, *self.moving)

    @contextlib.contextmanager
    def place(self, number):
        """The directory of round `number`."""
        with tempfile.TemporaryDirectory(prefix="soak-") as path:
            yield path

    def shim(self, place, number):
        """The shim's variables for the actors."""
        return None

    @contextlib.contextmanager
    def above(self, place):
        """The path at which actors use the store that was made in the place."""
        yield place

    def trouble(self, place, chance):
        """Called every moment while actors are at work."""

    def end_trouble(self, place):
        """Called when the actors have finished."""

    def prepare(self, store):
        """Called when the store is made and not yet in use."""

    def allows(self, answer, what):
        """Whether this error is allowed."""
        return False

    def finding(self, answer):
        """The kind of finding that an error is."""
        return "error"

    def crew(self, hire):
        """hire(trade, kind, options)"""
        hire(Writer, "c", sync="none")
        hire(Writer, "c", sync="close")
        hire(Writer, "h5py", sync="none")
        hire(Writer, "gdal", paths=self.steady)
        hire(Changer, "c")
        hire(Changer, "c", sync="close")
        hire(Reader, "c")
        hire(Reader, "c")
        hire(Reader, "h5py")
        # From a shard that is replaced meanwhile, zarr-python takes the index and the chunks of two
        # versions.
        hire(Reader, "zarr", paths=(PLAIN,))


class Plain(Profile):
    """No faults."""


class Strategies(Profile):
    """Append, in place and rewriting by turns, in the same shards. A reader that finds a mixture
    tries again for a second; only then may it give up."""

    def allows(self, answer, what):
        return what in ("read", "open") and is_damage(answer) and answer.seconds >= 1

    def finding(self, answer):
        return "gave up early" if is_damage(answer) else "error"

    def crew(self, hire):
        sharded = (SHARD, CRC, *self.moving)
        hire(Writer, "c", sync="none", strategy="append", paths=sharded)
        hire(Writer, "c", sync="none", strategy="inplace", paths=(CRC,))
        hire(Writer, "c", sync="close", strategy="rewrite")
        hire(Writer, "h5py", strategy="append", paths=(SHARD, CRC))
        hire(Writer, "gdal", paths=self.steady)
        hire(Changer, "c")
        hire(Reader, "c")
        hire(Reader, "h5py")
        hire(Reader, "gdal", paths=self.steady)


class Kills(Profile):
    """Processes are killed, with all strategies. A shard that was being changed in place is damaged
    until the next writer comes; reading it is an error."""
    kills = True

    def allows(self, answer, what):
        return what in ("read", "open") and is_damage(answer)

    def crew(self, hire):
        sharded = (SHARD, CRC, *self.moving)
        hire(Writer, "c", sync="none")
        hire(Writer, "c", sync="close", strategy="append", paths=sharded)
        hire(Writer, "c", sync="always", strategy="inplace", paths=(CRC,))
        hire(Writer, "h5py")
        hire(Writer, "gdal", paths=self.steady)
        hire(Changer, "c")
        hire(Changer, "h5py")
        hire(Reader, "c")
        hire(Reader, "h5py")


class Writers(Profile):
    """Eight writers through all libraries, whose boxes meet in the same chunks and shards, and which are killed."""
    kills = True
    moving = ()

    @contextlib.contextmanager
    def place(self, number):
        if importlib.util.find_spec("rasterio") is None:
            raise Lacks("there is no rasterio")
        with super().place(number) as path:
            yield path

    def crew(self, hire):
        for sync in "none", "none", "close":
            hire(Writer, "c", sync=sync)
        for kind in "h5py", "h5py", "gdal", "rasterio", "rasterio":
            hire(Writer, kind)


class Moves(Profile):
    """Arrays are moved, deleted and made anew all the time, while processes stand still for a moment
    wherever they are: between a check of a writer and its put, say."""
    steady = ()
    stops = True

    def crew(self, hire):
        hire(Writer, "c", sync="none")
        hire(Writer, "c", sync="close")
        hire(Writer, "c", sync="none", strategy="append")
        hire(Writer, "h5py", sync="none")
        hire(Mover, "c")
        hire(Mover, "c")
        hire(Mover, "h5py")
        hire(Reader, "c")
        hire(Reader, "h5py")


class Full(Profile):
    """A disk that is full most of the time."""

    @contextlib.contextmanager
    def place(self, number):
        need_mounts()
        with super().place(number) as path:
            filesystems.run(["mount", "-t", "tmpfs", "-o", "size=700k", "soak", path])
            try:
                yield path
            finally:
                filesystems.run(["umount", "-l", path])

    def trouble(self, place, chance):
        """Takes the room away, or gives some back."""
        hog = os.path.join(place, "hog")
        if chance.random() < 0.4:
            self.end_trouble(place)
            return
        stat = os.statvfs(place)
        leave = chance.choice((0, 0, 1, 2, 5))
        with contextlib.suppress(OSError), open(hog, "ab") as file:
            file.write(bytes(max(0, stat.f_bavail - leave) * stat.f_bsize))

    def end_trouble(self, place):
        pathlib.Path(place, "hog").unlink(missing_ok=True)

    def allows(self, answer, what):
        return what != "read" and any(
            said in answer.text for said in ("No space", "an earlier flush failed"))


class Users(Profile):
    """Two users of one group, umask 022, in directories where both may write."""
    moving = ()

    @contextlib.contextmanager
    def place(self, number):
        if os.geteuid() != 0:
            raise Lacks("only root is several users")
        if not shutil.which("setpriv"):
            raise Lacks("there is no setpriv (package util-linux)")
        with super().place(number) as path:
            os.chmod(path, 0o755)
            yield path

    def prepare(self, store):
        for directory, _, _ in os.walk(store):
            os.chown(directory, 0, GROUP)
            os.chmod(directory, 0o2775)

    def crew(self, hire):
        one, other = (["setpriv", f"--reuid={user}", f"--regid={GROUP}", "--clear-groups", "--"]
                      for user in USERS)
        hire(Writer, "c", prefix=one)
        hire(Writer, "c", sync="close", prefix=other)
        hire(Writer, "h5py", prefix=one)
        hire(Writer, "gdal", prefix=other, paths=self.steady)
        hire(Reader, "c", prefix=one)
        hire(Reader, "c", prefix=other)


class UsersKilled(Users):
    """The same, and actors are killed: the files that one leaves must not block the other."""
    kills = True


class Clocks(Strategies):
    """Time stamps of one and of two seconds, with all strategies. Every third round, where
    possible, on a file system that really has such stamps and reuses inode numbers."""

    @contextlib.contextmanager
    def place(self, number):
        system = filesystems.ALL["ext4-seconds"]
        with super().place(number) as path:
            if number % 3 != 0 or filesystems.what_lacks(system):
                yield path
                return
            image = pathlib.Path(path) / "image"
            system.format(image)
            with filesystems.mounted(image, os.path.join(path, "disk")) as disk:
                yield disk

    def shim(self, place, number):
        return {"ZB_SHIM_ROOT": place, "ZB_SHIM_CLOCK": str(number % 3)} if number % 3 else None

    def crew(self, hire):
        hire(Writer, "c")
        hire(Writer, "c", strategy="inplace", paths=(CRC,))
        hire(Writer, "h5py")
        hire(Changer, "c")
        hire(Reader, "c")
        hire(Reader, "c")
        hire(Reader, "h5py")
        hire(Reader, "gdal", paths=self.steady)


class Locks(Profile):
    """There are no locks. Whole chunks are stored and new arrays made all the same; unsafe writes are refused."""

    def shim(self, place, number):
        error = ("ENOLCK", "ENOTSUPP", "ENOSYS")[number % 3]
        return {"ZB_SHIM_ROOT": place, "ZB_SHIM_LOCKS": error, "ZARRBRIDGE_LOCKS": "node"}

    def allows(self, answer, what):
        return what != "read" and answer.kind.partition(":")[0] in CONFLICT


class Overlay(Profile):
    """An overlay: directories of the lower layer cannot be renamed, files change their inodes."""

    @contextlib.contextmanager
    def place(self, number):
        need_mounts()
        with super().place(number) as path:
            for name in ("lower", "layers", "store"):
                os.mkdir(os.path.join(path, name))
            yield os.path.join(path, "lower")

    @contextlib.contextmanager
    def above(self, place):
        path = os.path.dirname(place)
        layers, store = os.path.join(path, "layers"), os.path.join(path, "store")
        filesystems.run(["mount", "-t", "tmpfs", "soak", layers])
        os.mkdir(os.path.join(layers, "upper"))
        os.mkdir(os.path.join(layers, "work"))
        filesystems.run(["mount", "-t", "overlay", "soak", "-o",
                         f"lowerdir={place},upperdir={layers}/upper,workdir={layers}/work", store])
        try:
            yield store
        finally:
            filesystems.run(["umount", "-l", store])
            filesystems.run(["umount", "-l", layers])


def need_mounts():
    if filesystems.why_no_mounts():
        raise Lacks(filesystems.why_no_mounts())


ALL = {"plain": Plain(), "strategies": Strategies(), "kills": Kills(), "writers": Writers(), "moves": Moves(),
       "full": Full(), "users": Users(), "users-killed": UsersKilled(), "clocks": Clocks(), "locks": Locks(),
       "overlay": Overlay()}
SHORT = ("kills", "moves")
