# SPDX-License-Identifier: MIT
"""The other libraries of the differential tests, each as a class with the same methods:

    version          of the library, or of two
    unknown(case)    why the library is not asked at all: a type, codec or grid that it does not
                     have, by its own documentation. None when it should know all of the case
    read(path, windows, case)    the elements of boxes (start, step, count) of the array at a path
    write(path, box, values), resize(path, shape)   where `writes` is true

A library that is asked and then fails, or has other elements, has a fault: diff_faults.py. A peer
that is not there raises Absent when it is made.
"""

import warnings

import diff_codecs
import diff_types
import numpy as np
import refcodec
from trips import slices

CORE = {t.name for t in diff_types.CORE}
PLAIN = {"bytes", "transpose", "sharding_indexed", *(c.name for c in diff_codecs.COMMON)}
NUMCODECS = {c.name for c in diff_codecs.COMPRESSORS + diff_codecs.FILTERS
             if c.name.startswith("numcodecs.")}  # fmt: skip


class Absent(Exception):
    pass


def number(version):
    return tuple(int(part) for part in version.split(".")[:3] if part.isdigit())


class Peer:
    writes = False
    types, codecs, keys = CORE, PLAIN, {"default", "v2"}
    rectilinear, v2 = False, False
    v2_codecs = {c.name for c in diff_codecs.V2}
    lacks = ()  # pairs: members of codecs, with a value that it does not have

    def unknown(self, case):
        for name, value in self.lacks:
            if case.has_member(name, value):
                return f"{name} {value}"
        if case.version == 2 and not self.v2:
            return "version 2"
        if case.version == 2 and not self.v2_codecs.issuperset(diff_codecs.names(case.chain)):
            return "codecs of version 2"
        if case.type.name not in self.types:
            return f"type {case.type.name}"
        for name in diff_codecs.names(case.chain):
            if case.version == 3 and name not in self.codecs:
                return f"codec {name}"
        if case.runs and not self.rectilinear:
            return "rectilinear grid"
        if case.keys["name"] not in self.keys:
            return f"keys {case.keys['name']}"
        return None


class ZarrPython(Peer):
    name, writes, v2 = "zarr-python", True, True
    pipeline = "zarr.core.codec_pipeline.BatchedCodecPipeline"

    def __init__(self):
        try:
            import zarr
        except ImportError as error:
            raise Absent(str(error)) from None
        warnings.simplefilter("ignore")  # types and codecs outside the core specification
        self.zarr, self.version = zarr, zarr.__version__
        since = number(self.version)
        self.codecs = PLAIN | NUMCODECS | {"vlen-utf8", "vlen-bytes"}
        self.types = CORE | {"string", "bytes"}
        if since >= (3, 2):
            self.types = CORE | {
                "string", "variable_length_bytes", "raw_bytes", "fixed_length_utf32",
                "null_terminated_bytes", "numpy.datetime64", "numpy.timedelta64", "struct"}
        if since >= (3, 4):
            self.codecs = self.codecs | {"scale_offset"}
            self.rectilinear = True
            zarr.config.set({"array.rectilinear_chunks": True})
        from numcodecs import blosc

        if "snappy" not in blosc.list_compressors():
            self.lacks = [("cname", "snappy")]
        # One thread: cases are small.
        zarr.config.set({"async.concurrency": 1, "threading.max_workers": 1})

    def open(self, path, mode):
        with self.zarr.config.set({"codec_pipeline.path": self.pipeline}):
            return self.zarr.open_array(store=str(path), mode=mode)

    def create(self, path, document):
        """The same document, as the library spells it."""
        from zarr.core.buffer import default_buffer_prototype
        from zarr.core.metadata.v3 import ArrayV3Metadata

        made = ArrayV3Metadata.from_dict(document).to_buffer_dict(default_buffer_prototype())
        refcodec.write_object(path / "zarr.json", made["zarr.json"].to_bytes())

    def read(self, path, windows, case):
        array = self.open(path, "r")
        return [diff_types.boxed(array[slices(window)]) for window in windows]

    def write(self, path, box, values):
        # An object by itself, in place of an array of no dimensions with it.
        values = values[()] if values.dtype == object and not values.ndim else values
        self.open(path, "r+")[slices(box)] = values

    def resize(self, path, shape):
        self.open(path, "r+").resize(shape)


class Zarrs(ZarrPython):
    """zarr-python, whose chunks zarrs encodes and decodes."""

    name, pipeline = "zarrs", "zarrs.ZarrsCodecPipeline"
    v2 = False

    def __init__(self):
        super().__init__()
        try:
            import zarrs  # noqa: F401  (registers the pipeline)
        except ImportError as error:
            raise Absent(str(error)) from None
        from importlib.metadata import version

        self.version = version("zarrs")
        self.zarr.config.set({"threading.max_workers": 1})
        # What zarrs does not know, the pipeline leaves to zarr-python, which is a peer by itself.
        self.types = CORE | {"string", "raw_bytes"}
        self.codecs = PLAIN | {"vlen-utf8"}


class TensorStore(Peer):
    name, writes, v2 = "tensorstore", True, True
    v2_codecs = {"zstd", "blosc", "numcodecs.zlib", "numcodecs.bz2"}
    # Not raw_bytes: a document with it ends the whole process by a failed check (0.1.86).
    types = CORE | {"int2", "int4", "float4_e2m1fn", "bfloat16", "float8_e3m4",
                    "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
                    "float8_e8m0fnu"}  # fmt: skip

    def __init__(self):
        try:
            import tensorstore
        except ImportError as error:
            raise Absent(str(error)) from None
        from importlib.metadata import version

        self.tensorstore, self.version = tensorstore, version("tensorstore")
        self.context = tensorstore.Context({"data_copy_concurrency": {"limit": 1},
                                            "file_io_concurrency": {"limit": 1},
                                            "file_io_sync": False})  # fmt: skip

    def spec(self, path):
        driver = "zarr3" if (path / "zarr.json").exists() else "zarr"
        return {"driver": driver, "kvstore": {"driver": "file", "path": str(path) + "/"}}

    def open(self, path, **options):
        spec = self.spec(path)
        return self.tensorstore.open(spec, open=True, context=self.context, **options).result()

    def create(self, path, document):
        """By the library, which spells the document."""
        wanted = {k: v for k, v in document.items() if v is not None}
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path) + "/"}}
        spec["metadata"] = wanted
        self.tensorstore.open(spec, create=True, context=self.context).result()

    def read(self, path, windows, case):
        array = self.open(path, read=True)
        found = [array[slices(window)].read().result() for window in windows]
        return [self.elements(values, case) for values in found]

    def elements(self, values, case):
        values = np.asarray(values)
        return np.asarray(values, order="C").view(case.dtype) if case.type.small else values

    def write(self, path, box, values):
        array = self.open(path)
        if array.dtype.numpy_dtype.isbuiltin != 1:
            # Codes of small numbers are of integers' types in our memory.
            values = np.asarray(values, order="C").view(array.dtype.numpy_dtype)
        array[slices(box)].write(values).result()

    def resize(self, path, shape):
        self.open(path).resize(exclusive_max=list(shape)).result()
