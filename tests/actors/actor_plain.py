# SPDX-License-Identifier: MIT
"""An actor that writes Zarr as plain files: README.md. It tests the tests. With `sync=always` each
file is made durable before it takes the place of another, and then its name; with any other it is
only written and renamed, which looks the same as long as the power stays."""
import json
import os

from serve import FILL, box, pair, serve, values


def sync_directory(path):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(fd)
    os.close(fd)


class PlainActor:
    def do_open(self, session, path, sync="none", *options):
        self.root, self.careful = path, sync == "always"
        self.make_directory(path)

    def make_directory(self, path):
        if not os.path.isdir(path):
            self.make_directory(os.path.dirname(path))
            os.mkdir(path)
            if self.careful:
                sync_directory(os.path.dirname(path))

    def put(self, key, data):
        name = os.path.join(self.root, key)
        directory = os.path.dirname(name)
        self.make_directory(directory)
        temporary = f"{self.root}.new"  # beside the store, where it disturbs no reader
        with open(temporary, "wb") as file:
            file.write(data)
            if self.careful:
                file.flush()
                os.fsync(file.fileno())
        os.rename(temporary, name)
        if self.careful:
            sync_directory(directory)

    def get(self, path):
        with open(os.path.join(self.root, path, "zarr.json")) as file:
            return json.load(file)

    def put_document(self, path, document):
        self.put(os.path.join(path, "zarr.json"), json.dumps(document).encode())

    def do_group(self, session, path):
        parts = path.split("/")
        for count in range(len(parts) + 1):
            group = "/".join(parts[:count])
            if not os.path.exists(os.path.join(self.root, group, "zarr.json")):
                self.put_document(group, {"zarr_format": 3, "node_type": "group"})

    def do_create(self, session, path, shape, chunk, shard, codecs):
        self.put_document(path, {
            "zarr_format": 3, "node_type": "array", "shape": pair(shape), "data_type": "int64",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": pair(chunk)}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": FILL, "attributes": {},
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]})

    def do_attr(self, session, path, name, value):
        document = self.get(path)
        document["attributes"][name] = json.loads(value)
        self.put_document(path, document)

    def do_write(self, session, path, corner, size, token):
        """Whole chunks only."""
        rows, columns = box(corner, size)
        high, wide = self.get(path)["chunk_grid"]["configuration"]["chunk_shape"]
        for row in range(rows.start, rows.stop, high):
            for column in range(columns.start, columns.stop, wide):
                where = slice(row, row + high), slice(column, column + wide)
                self.put(f"{path}/c/{row // high}/{column // wide}",
                         values(where, token).astype("<i8").tobytes())

    def do_flush(self, session, path):
        """A careful actor has done it already; the careless one only claims so."""

    def do_close(self, session):
        """The same."""


if __name__ == "__main__":
    serve(PlainActor())
