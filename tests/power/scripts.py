# SPDX-License-Identifier: MIT
"""The commands of actors before the loss of power. Each script has the content before (`old`,
durable when the disk's log begins) and the changes (`run`)."""
import os

from history import Node
from record import by

WHOLE = (0, 0)


def old_arrays(recording, consolidated=False):
    """A store that has been there for long: /g with three arrays, and /g/sub."""
    if consolidated:
        put_block(recording)
    maker = recording.party("c", "none")
    maker.group("g")
    maker.create("g/plain", chunk=(8, 8), shard=None)
    maker.create("g/shard", codecs="crc")
    maker.create("g/long", shape=(32, 8), chunk=(4, 8), shard=(8, 8), codecs="zstd")
    maker.group("g/sub")
    maker.create("g/sub/deep", shape=(8, 8), chunk=(8, 8), shard=None, codecs="raw")
    for path in ("g/plain", "g/shard", "g/long", "g/sub/deep"):
        maker.write(path, WHOLE, maker.node(path).shape.latest)
        maker.attr(path)
    maker.close()


def old_consolidated(recording):
    old_arrays(recording, consolidated=True)


def put_block(recording):
    """An empty store with consolidated metadata, as another library leaves it."""
    os.makedirs(recording.store)
    with open(os.path.join(recording.store, "zarr.json"), "w") as file:
        file.write('{"zarr_format":3,"node_type":"group","consolidated_metadata":{"kind":"inline",'
                   '"must_understand":false,"metadata":{}}}')
    for register, event in recording.world.create(None, "", Node(), recording.now()):
        register.acknowledge(event, recording.now())


def nothing(recording):
    """No store."""


# ---- Through C


def make_store(recording, sync):
    """A new store, and the usual first changes of programs."""
    writer = recording.party("c", sync)
    writer.group("g")
    writer.attr("g")
    writer.create("g/a", codecs="zstd")
    recording.bystander()
    writer.write("g/a", WHOLE, (16, 16))
    writer.flush("g/a")
    writer.write("g/a", (3, 3), (7, 9))
    recording.bystander()
    writer.flush("g/a")
    writer.create("h/b", chunk=(8, 8), shard=None, codecs="raw")
    writer.docs()
    writer.write("h/b", WHOLE, (16, 16))
    writer.attr("g/a")
    writer.attr("h/b")
    recording.bystander()
    writer.sync_all()
    writer.attr("g/a")
    writer.docs()
    writer.close()


def c_new_close(recording):
    make_store(recording, "close")


def c_new_always(recording):
    make_store(recording, "always")


def c_change(recording):
    """Shapes and attributes of arrays that have been there for long."""
    writer = recording.party("c", "close")
    writer.resize("g/plain", (24, 16))
    recording.bystander()
    writer.write("g/plain", (16, 0), (8, 16))
    writer.flush("g/plain")
    writer.attr("g/shard")
    writer.attr("")
    recording.bystander()
    writer.docs()
    writer.resize("g/shard", (9, 7))
    recording.bystander()
    writer.docs()
    writer.resize("g/shard", (16, 16))
    recording.bystander()
    writer.write("g/shard", (8, 8), (8, 8))
    writer.flush("g/shard")
    writer.attr("g/sub/deep")
    recording.bystander()
    writer.close()


def c_none(recording):
    """These writes come without a promise; the content before them stays."""
    writer = recording.party("c", "none")
    writer.resize("g/plain", (24, 16))
    recording.bystander()
    writer.attr("g/shard")
    recording.bystander()
    writer.resize("g/long", (16, 8))
    recording.bystander()
    writer.write("g/shard", (2, 2), (5, 5))
    writer.flush("g/shard")
    recording.bystander()
    writer.create("g/new")
    writer.write("g/new", WHOLE, (16, 16))
    writer.flush("g/new")
    recording.bystander()
    writer.attr("g")
    recording.bystander()
    writer.close()


def c_parts(recording):
    """Parts of chunks and shards, fill over them, compacting."""
    writer = recording.party("c", "close")
    for number in range(3):
        writer.write("g/shard", (number, 3), (9, 9 - number))
        writer.write("g/plain", (2, number), (7, 6))
        writer.flush("g/shard")
        recording.bystander()
        writer.flush("g/plain")
    writer.write("g/long", (8, 0), (16, 8))
    recording.bystander()
    writer.close()
    always = recording.party("c", "always")
    for number in range(3):
        always.write("g/shard", (5 + number, 1), (4, 8))
        recording.bystander()
        always.flush("g/shard")
    always.close()


def c_many(recording):
    """More chunks than a store lets wait for a flush at once."""
    writer = recording.party("c", "close")
    writer.create("many", shape=(64, 64), chunk=(4, 4), shard=None, codecs="raw")
    writer.write("many", WHOLE, (64, 64))
    recording.bystander()
    writer.flush("many")
    writer.write("many", (0, 0), (32, 64))
    recording.bystander()
    writer.flush("many")
    writer.close()


def c_one_store(recording):
    """Two writers of one array through one store; a flush of either speaks for its own."""
    writer = recording.party("c", "close")
    for number in range(3):
        writer.write("g/shard", (0, number), (16, 3))
        writer.write("g/shard#2", (number, 8), (3, 8))
        recording.bystander()
        writer.flush("g/shard#2")
        writer.write("g/plain", WHOLE, (8, 16))
        writer.flush("g/shard")
    recording.bystander()
    writer.close()


def live(recording, path, strategy, sync):
    writer = recording.party("c", sync, strategy=strategy)
    for number in range(4):
        writer.write(path, (number, 1), (9, 6))
        recording.bystander()
        writer.flush(path)
    writer.resize(path, (36, 8))
    writer.write(path, (30, 0), (6, 8))
    writer.flush(path)
    if strategy == "append":
        writer.compact(path)
    recording.bystander()
    writer.close()


def c_append(recording):
    live(recording, "g/long", "append", "close")


def c_inplace(recording):
    live(recording, "g/shard", "inplace", "always")


def c_structure(recording):
    writer = recording.party("c", "close")
    writer.copy("g/shard", "g/twin")
    recording.bystander()
    writer.docs()
    writer.move("g/plain", "h/plain")
    recording.bystander()
    writer.docs()
    writer.delete("g/long")
    recording.bystander()
    writer.docs()
    writer.copy("g", "copies/g")
    recording.bystander()
    writer.docs()
    writer.create("g/long", shape=(8, 8), shard=None)
    writer.write("g/long", WHOLE, (8, 8))
    recording.bystander()
    writer.flush("g/long")
    writer.move("g/sub", "sub")
    writer.delete("copies")
    recording.bystander()
    writer.docs()
    writer.close()


def c_two(recording):
    """Two programs with one store; each is promised its own."""
    one, two = recording.party("c", "close"), recording.party("c", "always")
    for number in range(3):
        one.write("g/shard", (0, 0), (3, 16))
        two.write("g/shard", (3, 0), (5, 16))
        one.attr("g/shard")
        one.flush("g/shard")
        recording.bystander()
        two.attr("g/plain")
        two.flush("g/shard")
    one.create("g/one")
    two.create("g/two")
    recording.bystander()
    two.docs()
    one.write("g/one", WHOLE, (8, 16))
    one.flush("g/one")
    one.close()
    two.close()


# ---- Through the plugins


def h5py_new(recording, sync="close"):
    writer = recording.party("h5py", sync, shards="8x8")
    writer.group("g")
    writer.create("g/a")
    writer.attr("g")
    recording.bystander()
    writer.write("g/a", WHOLE, (16, 16))
    writer.flush("g/a")
    writer.write("g/a", (3, 3), (7, 9))
    writer.attr("g/a")
    recording.bystander()
    writer.flush("g/a")
    writer.create("h/b")
    writer.write("h/b", WHOLE, (16, 16))
    recording.bystander()
    writer.close()


def h5py_always(recording):
    h5py_new(recording, "always")


def h5py_change(recording):
    writer = recording.party("h5py", "close")
    writer.resize("g/plain", (24, 16))
    recording.bystander()
    writer.write("g/plain", (16, 0), (8, 16))
    writer.flush("g/plain")
    writer.attr("g/shard")
    writer.resize("g/shard", (9, 7))
    recording.bystander()
    writer.flush("g/shard")
    writer.move("g/long", "long")
    writer.copy("g/shard", "g/twin")
    recording.bystander()
    writer.flush("g/twin")
    writer.delete("g/plain")
    recording.bystander()
    writer.close()


def gdal_new(recording, sync="close"):
    writer = recording.party("gdal", sync)
    writer.create("g/a", shape=(32, 32), chunk=(16, 16), shard=None)
    recording.bystander()
    writer.write("g/a", WHOLE, (32, 32))
    writer.flush("g/a")
    writer.write("g/a", (3, 3), (17, 19))
    recording.bystander()
    writer.flush("g/a")
    writer.attr("g/a")
    recording.bystander()
    writer.flush("g/a")
    writer.create("h/b", shape=(32, 32), chunk=(16, 16), shard=(32, 32))
    writer.write("h/b", (0, 0), (20, 32))
    recording.bystander()
    writer.close()


def gdal_always(recording):
    gdal_new(recording, "always")


def gdal_change(recording):
    writer = recording.party("gdal", "close")
    writer.write("g/plain", (2, 2), (9, 9))
    writer.attr("g/plain")
    recording.bystander()
    writer.flush("g/plain")
    writer.write("g/shard", (1, 0), (7, 16))
    recording.bystander()
    writer.flush("g/shard")
    writer.attr("g/shard")
    recording.bystander()
    writer.close()


def gdal_copies(recording):
    writer = recording.party("gdal", "close")
    for _ in range(3):
        writer.replace("data", (32, 32), recording.token(), chunk=(16, 16), shard=(32, 32))
        recording.bystander()
    writer.write("data", (4, 4), (9, 9))
    writer.attr("data")
    recording.bystander()
    writer.flush("data")
    writer.close()


# ---- Encoded chunks that are moved into new arrays


def moved(recording, kind, chunk=(4, 4), shard=(8, 8)):
    writer = recording.party(kind, "close", **({"shards": by(shard)} if kind == "h5py" else {}))
    for number in range(3):
        writer.take(f"g/{number}", (32, 32), recording.token(), chunk, shard)
        recording.bystander()
        if kind == "h5py":
            writer.flush(f"g/{number}")
    writer.close()


def copy_moved(recording):
    moved(recording, "copy")


def h5py_moved(recording):
    moved(recording, "h5py")


def gdal_moved(recording):
    writer = recording.party("gdal", "close")
    writer.take("data", (64, 64), recording.token(), chunk=(16, 16), shard=(32, 32))
    recording.bystander()
    writer.close()


# ---- The harness itself: a writer with every sync that POSIX asks for, and one without


def control(recording, sync):
    writer = recording.party("plain", sync)
    writer.group("g")
    writer.create("g/a", shard=None, chunk=(8, 8))
    for number in range(3):
        writer.write("g/a", WHOLE, (16, 16))
        writer.attr("g/a")
        recording.bystander()
        writer.flush("g/a")
    writer.write("g/a", (8, 8), (8, 8))
    recording.bystander()
    writer.close()


def careful(recording):
    control(recording, "always")


def careless(recording):
    control(recording, "close")


SCRIPTS = {
    "c_new_close": (nothing, c_new_close),
    "c_new_always": (nothing, c_new_always),
    "c_change": (old_arrays, c_change),
    "c_change_consolidated": (old_consolidated, c_change),
    "c_none": (old_arrays, c_none),
    "c_parts": (old_arrays, c_parts),
    "c_many": (nothing, c_many),
    "c_one_store": (old_arrays, c_one_store),
    "c_append": (old_arrays, c_append),
    "c_inplace": (old_arrays, c_inplace),
    "c_structure": (old_arrays, c_structure),
    "c_structure_consolidated": (old_consolidated, c_structure),
    "c_two": (old_arrays, c_two),
    "h5py_new": (nothing, h5py_new),
    "h5py_always": (nothing, h5py_always),
    "h5py_change": (old_arrays, h5py_change),
    "gdal_new": (nothing, gdal_new),
    "gdal_always": (nothing, gdal_always),
    "gdal_change": (old_arrays, gdal_change),
    "gdal_copies": (nothing, gdal_copies),
    "copy_moved": (nothing, copy_moved),
    "h5py_moved": (nothing, h5py_moved),
    "gdal_moved": (nothing, gdal_moved),
}
CONTROLS = {"careful": (nothing, careful), "careless": (nothing, careless)}
SHORT = {"ext4": "c_change", "ext4-late": "h5py_change", "xfs": "c_structure_consolidated", "btrfs": "gdal_change"}
