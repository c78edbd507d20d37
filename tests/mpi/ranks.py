# SPDX-License-Identifier: MIT
"""Programs of several ranks: mpirun -n 4 python3 ranks.py PROGRAM PATH. A rank that finds something wrong fails."""
import contextlib
import itertools
import os
import resource
import signal
import subprocess
import sys

import h5py
import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.rank, world.size


def opened(path, mode="w"):
    return h5py.File(path, mode, driver="mpio", comm=world)


def say(text):
    """What each rank says, in the order of the ranks."""
    for line in world.gather(f"{rank}: {text}") or []:
        print(line, flush=True)


def error_of(act):
    try:
        act()
    except Exception as error:  # pylint: disable=broad-except
        return f"{type(error).__name__}: {error}"
    return "no error"


def example(path):
    """That of h5py's documentation, word for word but for the name of the file."""
    f = h5py.File(path, "w", driver="mpio", comm=MPI.COMM_WORLD)

    dset = f.create_dataset("test", (4,), dtype="i")
    dset[rank] = rank

    f.close()


def rows(path):
    """Each rank writes every fourth row of gzip chunks that all share, then reads all."""
    data = np.arange(64 * 50, dtype="i4").reshape(64, 50)
    with opened(path) as f:
        d = f.create_dataset("a", data.shape, "i4", chunks=(16, 25), compression="gzip")
        e = f.create_dataset("g/b", data.shape, "i4", chunks=(16, 25), compression="gzip")
        for row in range(rank, 64, size):
            d[row] = data[row]
        with e.collective:
            e[rank * 16:rank * 16 + 16] = data[rank * 16:rank * 16 + 16]
        f.flush()
        assert (d[...] == data).all() and (e[...] == data).all()
        with d.collective:
            assert (d[rank::size] == data[rank::size]).all()


def exchange(path):
    """Interleaved rows, of chunks and of shards, of types that differ between the ranks: the ranks together cover each
    chunk, and each sees at once what it has written."""
    data = np.arange(60 * 50, dtype="i4").reshape(60, 50)
    with opened(path) as f:
        d = f.create_dataset("chunks", data.shape, "i4", chunks=(16, 25), compression="gzip")
        s = f.create_dataset("shards", data.shape, "f8", chunks=data.shape)
        with d.collective:
            d[rank::size] = data[rank::size].astype(["i4", ">i4", "i8", "f4"][rank % 4])
            s[rank::size] = data[rank::size]
        assert (d[rank::size] == data[rank::size]).all() and (s[rank::size] == data[rank::size]).all()
        d[rank * 2] = -rank  # what is written later stays
        with d.collective:
            d[:, rank::size] = data[:, rank::size] + 1
        d[rank, rank] = -1
        assert d[rank, rank] == -1 and d[0, rank + size] == data[0, rank + size] + 1


def many_chunks(path):
    """More than one round of messages takes."""
    data = np.arange(size * 3000, dtype="u2").reshape(size, 3000)
    with opened(path) as f:
        d = f.create_dataset("a", data.shape, "u2", chunks=(size, 2), compression="gzip")
        with d.collective:
            d[rank] = data[rank]
        assert (d[...] == data).all()


def large_chunks(path):
    """Rounds that are full of bytes: 160 MiB, of which each rank gets 30."""
    data = np.arange(20 << 20, dtype="i8").reshape(2560, 8192)
    with opened(path) as f:
        d = f.create_dataset("a", data.shape, "i8", chunks=(128, 8192))
        with d.collective:
            d[rank::size] = data[rank::size]
        assert (d[...] == data).all()


def random_boxes(path):
    """All ranks know all boxes: what is in the dataset afterwards is known, whoever has stored it."""
    random = np.random.default_rng(int(os.environ["ZARRBRIDGE_SEED"]))
    shape = tuple(int(n) for n in random.integers(1, 40, random.integers(1, 4)))
    chunks = tuple(int(random.integers(1, n + 1)) for n in shape)
    model = np.zeros(shape, "i4")
    with opened(path) as f:
        d = f.create_dataset("a", shape, "i4", chunks=chunks, compression="gzip")
        for step in range(6):
            axis = int(random.integers(len(shape)))
            kind, together = random.integers(4), random.random() < 0.8
            for r in range(size):
                n = shape[axis]
                part = [slice(None)] * len(shape)
                if kind == 0:
                    part[axis] = slice(r, n, size)  # interleaved
                elif kind == 1:
                    part[axis] = slice(n * r // size, n * (r + 1) // size)  # blocks
                elif kind == 2:
                    part[axis] = slice(r * 2, n, size * 2)  # with gaps
                else:
                    part[axis] = np.flatnonzero(np.arange(n) // 2 % size == r)  # no box with steps
                part = tuple(part)
                wanted = random.integers(0, 1000, model[part].shape, "i4")
                model[part] = wanted
                if r == rank:
                    own = part, wanted
            with d.collective if together else contextlib.nullcontext():
                write(d, *own)
            part, wanted = own
            assert wanted.size == 0 or (d[part] == wanted).all(), (shape, chunks, step, kind, together)
            f.flush()
            assert (d[...] == model).all(), (shape, chunks, step, kind, together)
            world.barrier()


def write(dataset, part, data):
    """h5py makes no call for an empty selection, which the others would wait for."""
    if data.size > 0:
        dataset[part] = data
        return
    space = dataset.id.get_space()
    space.select_none()
    dataset.id.write(space, space, np.zeros(1, "i4"), dxpl=dataset._dxpl)


def one_cannot(path):
    """A selection that one rank makes, and cannot be written, fails the call on all; the file goes on."""
    with opened(path) as f:
        d = f.create_dataset("a", (size, 8), "i4", chunks=(size, 8))
        d[rank] = 7
        f.flush()
        space = h5py.h5s.create_simple((size + 8, 8))
        space.select_hyperslab((rank + (8 if rank == 2 else 0), 0), (1, 8))
        with d.collective:
            say(error_of(lambda: d.id.write(h5py.h5s.create_simple((8,)), space, np.zeros(8, "i4"), dxpl=d._dxpl)))
        assert (d[...] == 7).all()
        with d.collective:
            d[:, rank::size] = rank
        assert (d[0, rank::size] == rank).all()


def full(path):
    """One owner cannot store what it has got: the error is the same on all, and the file goes on."""
    data = np.random.default_rng(1).integers(0, 256, (size * 4, 4000), "u1")
    with opened(path) as f:
        d = f.create_dataset("a", data.shape, "u1", chunks=(size, 4000), compression="gzip")
        if rank == 1:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, -1))
        with d.collective:
            say(error_of(lambda: d.__setitem__(slice(rank, None, size), data[rank::size])))
        if rank == 1:
            resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
        with d.collective:
            d[rank::size] = data[rank::size]


def grow(path):
    """A dataset gets longer, and shorter; others see that at once, and what was written stays."""
    with opened(path) as f:
        d = f.create_dataset("t", (0, 8), "f8", maxshape=(None, 8), chunks=(4, 8), compression="gzip")
        for step in range(10):
            d.resize(size * (step + 1), axis=0)
            assert d.shape == (size * (step + 1), 8)
            d[size * step + rank] = step * 100 + rank
        f.flush()
        wanted = [s * 100 + r for s in range(10) for r in range(size)]
        assert (d[:, 3] == wanted).all()
        d.resize(size * 5, axis=0)
        assert d.shape == (size * 5, 8) and (d[:, 3] == wanted[:size * 5]).all()


def attributes(path):
    with opened(path) as f:
        f.attrs["title"] = "four ranks"
        d = f.create_dataset("a", (size,), "i4")
        d.attrs["list"] = np.arange(5)
        d.attrs["list"] = np.arange(6.0)  # which h5py makes under a name of its own
        d.attrs["gone"] = 1
        del d.attrs["gone"]
        f.flush()
        d.attrs["after"] = 2
        assert sorted(d.attrs) == ["after", "list"] and f.attrs["title"] == "four ranks"
        g = f.create_group("g")
        g.attrs["in"] = "g"
    with opened(path, "r+") as f:
        assert (f["a"].attrs["list"] == np.arange(6.0)).all() and f["a"].attrs["after"] == 2
        assert f["g"].attrs["in"] == "g" and "gone" not in f["a"].attrs
        f["a"].attrs.modify("after", 3)
    with opened(path, "r") as f:
        assert f["a"].attrs["after"] == 3


def hierarchy(path):
    """Groups, links, types, copies, moves and deletions, also of what ranks hold open."""
    with opened(path) as f:
        g = f.create_group("x/y")
        d = g.create_dataset("d", (size,), "i4")
        d[rank] = rank
        f["anonymous"] = np.arange(6)
        f["soft"] = h5py.SoftLink("/x/y/d")
        f["other"] = h5py.ExternalLink("elsewhere.zarr", "/a")
        f["hard"] = d
        f["type"] = np.dtype("i2")
        f.flush()
        assert (f["soft"][...] == range(size)).all() and (f["hard"][...] == range(size)).all()
        assert (f["anonymous"][...] == range(6)).all() and f["type"].dtype == "i2"
        f.move("x/y/d", "x/moved")
        assert d.name == "/x/moved" and "d" not in g
        d[rank] = rank * 10
        f.copy("x", "copy")
        assert (f["copy/moved"][...] == np.arange(size) * 10).all()
        del f["hard"], f["anonymous"], f["soft"]
        assert sorted(f) == ["copy", "other", "type", "x"]
        again = f.require_group("x/y")
        assert again == g
        f.require_dataset("x/r", (3,), "f4")[...] = rank
        del f["x/moved"]
        assert sorted(f["x"]) == ["r", "y"]


def order(path):
    with opened(path) as f:
        g = f.create_group("g", track_order=True)
        for name in "zebra", "apple", "mango":
            g.create_dataset(name, (2,), "i1")
        assert list(g) == ["zebra", "apple", "mango"]
    with opened(path, "r") as f:
        assert list(f["g"]) == ["zebra", "apple", "mango"]


def errors(path):
    """The same error on each rank, and the file goes on."""
    with opened(path) as f:
        f.create_dataset("a", (4,), "i4")
        say(error_of(lambda: f.create_dataset("a", (4,), "i4")))
        say(error_of(lambda: f.create_group("a")))
        say(error_of(lambda: f.create_dataset("missing", (4,), "c3")))
        say(error_of(lambda: f["a"].resize((9,))))
        say(error_of(lambda: f.move("nowhere", "b")))
        say(error_of(lambda: f.__delitem__("nowhere")))
        say(error_of(lambda: f.copy("nowhere", "b")))
        f.create_dataset("b", (4,), "i4")[rank] = rank
    say(error_of(lambda: opened(path, "x")))
    say(error_of(lambda: opened(path + ".absent.zarr", "r")))
    say(error_of(lambda: opened(path + "/no/such/place.zarr", "w")))
    say(error_of(lambda: opened(path + ".zip", "w")))


def one_fails(path):
    """One rank alone cannot open what the first has made: all fail, with its error."""
    if rank == 2:
        os.environ["ZARRBRIDGE_OPEN_NODES"] = "1"
    say(error_of(lambda: opened(path, "w").create_group("a/b/c/d")))


def again(path):
    """Truncated, exclusive, appended to, and opened by one rank alone."""
    for mode in "w", "w", "a", "r+", "r":
        with opened(path, mode) as f:
            if mode == "w":
                assert list(f) == []
                f["v"] = np.zeros(size)
            elif mode != "r":
                f["v"][rank] += 1
    world.barrier()
    if rank == 1:
        with h5py.File(path, "r") as f:
            assert (f["v"][...] == 2).all()
    world.barrier()
    halves = world.Split(rank % 2)
    with h5py.File(f"{path[:-5]}{rank % 2}.zarr", "w", driver="mpio", comm=halves) as f:
        f.create_dataset("v", (halves.size,), "i4")[halves.rank] = rank
    with h5py.File(f"{path[:-5]}-{rank}.zarr", "w", driver="mpio", comm=MPI.COMM_SELF) as f:
        f["v"] = rank


def atomic(path):
    with opened(path) as f:
        assert f.atomic is False
        f.atomic = True
        assert f.atomic is True
        d = f.create_dataset("a", (size, 100), "i4", chunks=(size, 100), compression="gzip")
        d[rank] = rank
        world.barrier()
        assert (d[...] == np.arange(size)[:, None]).all()


def native(path):
    """HDF5's own files are still HDF5's own."""
    with opened(path[:-5] + ".h5") as f:
        f.create_dataset("a", (size,), "i4")[rank] = rank
    with opened(path[:-5] + ".h5", "r") as f:
        assert (f["a"][...] == range(size)).all()


def killed(path):
    f = opened(path)
    d = f.create_dataset("a", (size, 10), "i4", chunks=(1, 10))
    d[rank] = rank + 1
    f.flush()
    if rank == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    f.create_group("never")  # MPI ends the job
    f.close()


def killed_exchanging(path):
    """Collective writes of chunks that all ranks share, until rank 2 dies: when it stores its first chunk of a round
    that the others wait in, or after so many seconds."""
    after = os.environ["ZARRBRIDGE_KILL"]
    with opened(path) as f:
        d = f.create_dataset("a", (size, 3000), "u2", chunks=(size, 2), compression="gzip")
        for value in itertools.count(1):
            if value == 2 and rank == 2 and after == "storing":
                signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
                resource.setrlimit(resource.RLIMIT_FSIZE, (10, -1))
            elif value == 2 and rank == 2:
                subprocess.Popen(["sh", "-c", f"sleep {after}; kill -9 {os.getpid()}"])
            with d.collective:
                d[rank] = value
            if value == 1:
                f.flush()


def leaves_open(path):
    f = opened(path)
    f.create_dataset("a", (size,), "i4")[rank] = rank
    f.attrs["b"] = 1


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
