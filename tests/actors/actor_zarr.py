# SPDX-License-Identifier: MIT
"""An actor that only reads, with zarr-python: README.md. It opens the array anew each time."""
import os

import zarr

from serve import box, serve


class ZarrActor:
    def do_open(self, session, path, *options):
        self.root = path

    def do_read(self, session, path, corner, size):
        array = zarr.open_array(os.path.join(self.root, path), mode="r", zarr_format=3)
        return array[box(corner, size)]

    def do_forget(self, session, path):
        """Nothing is kept."""

    def do_close(self, session):
        """Nothing is open."""


if __name__ == "__main__":
    serve(ZarrActor())
