# SPDX-License-Identifier: MIT
"""An actor through h5py: README.md. HDF5_VOL_CONNECTOR must name the connector and its options
(sync, strategy, shards), which hold for the whole process."""
import json
import os
import tempfile

import h5py

from serve import FILL, box, pair, serve, values


class H5pyActor:
    def __init__(self):
        self.files = {}

    def node(self, session, path):
        path = path.partition("#")[0]
        return self.files[session][path or "/"]

    def do_open(self, session, path, *options):
        exists = os.path.exists(os.path.join(path, "zarr.json"))
        self.files[session] = h5py.File(path, "r+" if exists else "w")

    def do_close(self, session):
        self.files.pop(session).close()

    def do_sync(self, session):
        self.files[session].flush()

    def do_flush(self, session, path):
        self.do_sync(session)

    def do_docs(self, session):
        self.do_sync(session)

    def do_forget(self, session, path):
        """h5py looks a path up each time it is named."""

    def do_group(self, session, path):
        self.files[session].create_group(path)

    def do_create(self, session, path, shape, chunk, shard, codecs):
        self.files[session].create_dataset(
            path, pair(shape), "i8", chunks=pair(chunk), maxshape=(None, None), fillvalue=FILL,
            compression={"gzip": "gzip"}.get(codecs), fletcher32=codecs == "crc")

    def do_import(self, session, path, shape, chunk, shard, token):
        """A dataset of an HDF5 file, whose chunks are moved as they are encoded."""
        rows, columns = pair(shape)
        with tempfile.TemporaryDirectory() as place:
            with h5py.File(os.path.join(place, "x.h5"), "w") as file:
                file.create_dataset(
                    "a", data=values((slice(0, rows), slice(0, columns)), token),
                    chunks=pair(chunk), compression="gzip", fillvalue=FILL)
                file.copy("a", self.files[session], path)

    def do_attr(self, session, path, name, value):
        """h5py's `attrs[name] = value` is three steps, between which there is no such attribute;
        modify() is one."""
        self.node(session, path).attrs.modify(name, json.loads(value))

    def do_resize(self, session, path, shape):
        self.node(session, path).resize(pair(shape))

    def do_copy(self, session, source, target):
        self.files[session].copy(source, target)

    def do_move(self, session, source, target):
        self.files[session].move(source, target)

    def do_delete(self, session, path):
        del self.files[session][path]

    def do_write(self, session, path, corner, size, token):
        where = box(corner, size)
        self.node(session, path)[where] = values(where, token)

    def do_read(self, session, path, corner, size):
        return self.node(session, path)[box(corner, size)]


if __name__ == "__main__":
    serve(H5pyActor())
