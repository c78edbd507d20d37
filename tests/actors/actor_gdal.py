# SPDX-License-Identifier: MIT
"""An actor through GDAL: README.md. A dataset stays open from its first use until it is forgotten;
`create` makes a raster, of fill value 0, in the group that is the node's parent and belongs to it
alone."""
import json
import posixpath

from osgeo import gdal

from closing import close
from serve import FILL, box, pair, serve, values

gdal.UseExceptions()


def name(root, node):
    return f'ZARR3:"{root}":/{node}'


class GdalActor:
    def __init__(self):
        self.root, self.sync, self.strategy, self.datasets = {}, {}, {}, {}
        self.driver = gdal.GetDriverByName("Zarr3")

    def dataset(self, session, path):
        key = session, path
        if key not in self.datasets:
            self.datasets[key] = gdal.OpenEx(
                name(self.root[session], path.partition("#")[0]), gdal.OF_RASTER | gdal.OF_UPDATE,
                allowed_drivers=["Zarr3"], open_options=[f"SYNC={self.sync[session]}"])
        return self.datasets[key]

    def each_of(self, session):
        return [key for key in self.datasets if key[0] == session]

    def do_open(self, session, path, sync="none", *options):
        self.root[session], self.sync[session] = path, sync.upper()

    def do_close(self, session):
        for key in self.each_of(session):
            close(self.datasets.pop(key))

    def do_forget(self, session, path):
        if (session, path) in self.datasets:
            close(self.datasets.pop((session, path)))

    def do_flush(self, session, path):
        self.dataset(session, path).FlushCache()

    def do_sync(self, session):
        for key in self.each_of(session):
            self.datasets[key].FlushCache()

    def options(self, session, chunk, shard, array):
        shards = [f"SHARD={shard.replace('x', ',')}"] if shard != "-" else ["SHARD=OFF"]
        return [f"BLOCKSIZE={chunk.replace('x', ',')}", f"ARRAY_NAME={array}",
                f"SYNC={self.sync[session]}", *shards]

    def target(self, session, path):
        group, array = posixpath.split(path)
        root = self.root[session]
        return (name(root, group) if group else root), array

    def do_create(self, session, path, shape, chunk, shard, codecs):
        rows, columns = pair(shape)
        target, array = self.target(session, path)
        self.datasets[session, path] = self.driver.Create(
            target, columns, rows, 1, gdal.GDT_Int64, self.options(session, chunk, shard, array))

    def do_replace(self, session, path, shape, chunk, shard, token):
        """A copy of a raster takes the place of the present node."""
        rows, columns = pair(shape)
        source = gdal.GetDriverByName("MEM").Create("", columns, rows, 1, gdal.GDT_Int64)
        source.GetRasterBand(1).SetNoDataValue(FILL)
        source.GetRasterBand(1).WriteArray(values((slice(0, rows), slice(0, columns)), token))
        self.copy_of(source, session, path, chunk, shard)

    def do_import(self, session, path, shape, chunk, shard, token):
        """A GeoTIFF whose tiles are moved as they are encoded, into a store that is new."""
        rows, columns = pair(shape)
        name = f"/vsimem/{token}.tif"
        tiles = [f"BLOCKYSIZE={pair(chunk)[0]}", f"BLOCKXSIZE={pair(chunk)[1]}"]
        file = gdal.GetDriverByName("GTiff").Create(
            name, columns, rows, 1, gdal.GDT_Int64, ["TILED=YES", "COMPRESS=ZSTD", *tiles])
        file.GetRasterBand(1).WriteArray(values((slice(0, rows), slice(0, columns)), token))
        close(file)
        self.copy_of(gdal.Open(name), session, path, chunk, shard)
        gdal.Unlink(name)

    def copy_of(self, source, session, path, chunk, shard):
        target, array = self.target(session, path)
        close(self.driver.CreateCopy(target, source,
                                     options=self.options(session, chunk, shard, array)))

    def do_attr(self, session, path, key, value):
        self.dataset(session, path).SetMetadataItem(key, str(json.loads(value)))

    def do_delete(self, session, path):
        self.driver.Delete(name(self.root[session], path))

    def do_move(self, session, source, target):
        self.driver.Rename(name(self.root[session], target), name(self.root[session], source))

    def do_write(self, session, path, corner, size, token):
        rows, columns = where = box(corner, size)
        self.dataset(session, path).GetRasterBand(1).WriteArray(values(where, token),
                                                                columns.start, rows.start)

    def do_read(self, session, path, corner, size):
        rows, columns = box(corner, size)
        return self.dataset(session, path).GetRasterBand(1).ReadAsArray(
            columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start)


if __name__ == "__main__":
    serve(GdalActor())
