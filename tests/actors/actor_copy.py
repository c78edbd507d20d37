# SPDX-License-Identifier: MIT
"""An actor that copies by the command-line tool: README.md."""
import os
import subprocess
import tempfile

import zarr

from actors import PROGRAM
from serve import FILL, pair, serve, values


class CopyActor:
    def do_open(self, session, path, *options):
        self.root = path

    def do_import(self, session, path, shape, chunk, shard, token):
        """An array without shards of another store gets shards: its chunks are moved."""
        rows, columns = pair(shape)
        with tempfile.TemporaryDirectory() as place:
            source = os.path.join(place, "x.zarr")
            array = zarr.create_array(source, name=path, shape=(rows, columns), chunks=pair(chunk),
                                      dtype="i8", fill_value=FILL)
            array[:] = values((slice(0, rows), slice(0, columns)), token)
            is_new = not os.path.exists(self.root)
            done = subprocess.run(
                [PROGRAM, "copy", "--verbose", "--shards", shard.replace("x", ","),
                 source if is_new else os.path.join(source, path),
                 self.root if is_new else os.path.join(self.root, path)],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode or "encoded chunks move" not in done.stdout:
                raise RuntimeError(done.stdout)

    def do_close(self, session):
        """Nothing is open."""


if __name__ == "__main__":
    serve(CopyActor())
