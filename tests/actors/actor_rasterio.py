# SPDX-License-Identifier: MIT
"""An actor through rasterio: README.md. It makes nothing. rasterio stores when a dataset is closed, and tells of no
error then: it is for places without faults."""
import json
import warnings

import rasterio
from rasterio.windows import Window

from serve import box, serve, values

warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)


class RasterioActor:
    def __init__(self):
        self.root, self.sync, self.datasets = {}, {}, {}

    def dataset(self, session, path):
        key = session, path
        if key not in self.datasets:
            self.datasets[key] = rasterio.open(f'ZARR3:"{self.root[session]}":/{path}', "r+", driver="Zarr3",
                                               SYNC=self.sync[session])
        return self.datasets[key]

    def do_open(self, session, path, sync="none", *options):
        self.root[session], self.sync[session] = path, sync.upper()

    def do_forget(self, session, path):
        if (session, path) in self.datasets:
            self.datasets.pop((session, path)).close()

    do_flush = do_forget  # the next use opens it again

    def do_close(self, session):
        for _, path in [key for key in self.datasets if key[0] == session]:
            self.do_forget(session, path)

    do_sync = do_close

    def do_attr(self, session, path, key, value):
        self.dataset(session, path).update_tags(**{key: str(json.loads(value))})

    def do_write(self, session, path, corner, size, token):
        rows, columns = where = box(corner, size)
        self.dataset(session, path).write(values(where, token), 1, window=self.window(rows, columns))

    def do_read(self, session, path, corner, size):
        return self.dataset(session, path).read(1, window=self.window(*box(corner, size)))

    @staticmethod
    def window(rows, columns):
        return Window(columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start)


if __name__ == "__main__":
    serve(RasterioActor())
