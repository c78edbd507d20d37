# SPDX-License-Identifier: MIT
"""The calls of zarrbridge/write.h that the tests need, through ctypes: nodes in a store in memory
or in a directory, a store in memory written out as a directory for other programs, and boxes
written and read as numpy arrays of any layout.

The library is the one in the build directory that ZARRBRIDGE_BUILD_DIR names.
"""

import ctypes as c
import json
import os
from pathlib import Path

import numpy as np

# A process that serves another library to the tests has no build, and needs the types alone.
BUILD = os.environ.get("ZARRBRIDGE_BUILD_DIR")
lib = c.CDLL(BUILD + "/core/libzarrbridge.so") if BUILD else None
if lib:
    lib.zb_hierarchy_store.restype = c.c_void_p

KINDS = {"b": 0, "i": 1, "u": 2, "f": 3, "c": 4, "V": 5, "M": 9, "m": 10, "S": 11, "U": 12}
STRUCT = 8  # ZB_KIND_STRUCT
UNITS = ["generic", "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]


class Dtype(c.Structure):
    """zb_dtype"""

    _fields_ = [("kind", c.c_int), ("size", c.c_uint32), ("swapped", c.c_bool), ("detail", c.c_void_p)]


class Run(c.Structure):
    """zb_chunk_run"""

    _fields_ = [("extent", c.c_uint64), ("count", c.c_uint64)]


class Runs(c.Structure):
    """zb_chunk_runs"""

    _fields_ = [("run", c.POINTER(Run)), ("count", c.c_size_t)]


class Field(c.Structure):
    """zb_field"""

    _fields_ = [("name", c.c_char_p), ("offset", c.c_uint32), ("dtype", Dtype)]


class Detail(c.Structure):
    """zb_dtype_detail"""

    _fields_ = [("fields", c.POINTER(Field)), ("field_count", c.c_size_t), ("unit", c.c_int),
                ("scale", c.c_uint32), ("format", c.c_int)]


class Spec(c.Structure):
    """zb_array_spec"""

    _fields_ = [
        ("ndim", c.c_uint32),
        ("shape", c.POINTER(c.c_uint64)),
        ("inner_shape", c.POINTER(c.c_uint64)),
        ("shard_shape", c.POINTER(c.c_uint64)),
        ("chunk_runs", c.POINTER(Runs)),
        ("dtype", Dtype),
        ("fill_value", c.c_void_p),
        ("codecs", c.c_char_p),
        ("dimension_names", c.POINTER(c.c_char_p)),
        ("attributes", c.c_char_p),
        ("separator", c.c_char),
        ("key_encoding", c.c_char_p),
    ]


class Write(c.Structure):
    """zb_write"""

    _fields_ = [
        ("start", c.POINTER(c.c_uint64)),
        ("count", c.POINTER(c.c_uint64)),
        ("step", c.POINTER(c.c_uint64)),
        ("data", c.c_void_p),
        ("dtype", Dtype),
        ("strides", c.POINTER(c.c_int64)),
    ]


class View(c.Structure):
    """zb_view"""

    _fields_ = [("data", c.c_void_p), ("dtype", Dtype), ("strides", c.POINTER(c.c_int64)),
                ("values", c.c_void_p)]


class Read(c.Structure):
    """zb_read"""

    _fields_ = [
        ("node", c.c_void_p),
        ("start", c.POINTER(c.c_uint64)),
        ("count", c.POINTER(c.c_uint64)),
        ("step", c.POINTER(c.c_uint64)),
        ("view", View),
        ("is_ahead", c.c_bool),
    ]


class Slice(c.Structure):
    """zb_slice"""

    _fields_ = [("data", c.c_char_p), ("size", c.c_size_t)]


class Error(c.Structure):
    """zb_error"""

    _fields_ = [("code", c.c_int), ("sys_errno", c.c_int), ("message", c.c_char * 512)]


class ListEntry(c.Structure):
    """zb_list_entry"""

    _fields_ = [("name", c.c_char_p), ("is_prefix", c.c_bool), ("is_link", c.c_bool),
                ("leads_back", c.c_bool)]


LIST_FN = c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(ListEntry))


class ZarrbridgeError(Exception):
    pass


def call(function, *arguments):
    """Calls function(..., &err); an error becomes an exception with its message."""
    error = Error()
    if function(*arguments, c.byref(error)):
        raise ZarrbridgeError(error.message.decode())


def shape_of(values):
    return (c.c_uint64 * len(values))(*values) if values is not None else None


def runs_of(lists):
    """For each dimension a list of [extent, count], or None."""
    if lists is None:
        return None
    return (Runs * len(lists))(*[Runs((Run * len(runs))(*[Run(*run) for run in runs]), len(runs))
                                 if runs else Runs() for runs in lists])


def strides_of(array):
    return (c.c_int64 * array.ndim)(*array.strides)


details = []  # of all dtypes: the library only points at them


def dtype_of(dtype):
    """Of a struct each field has its own byte order."""
    detail = None
    if dtype.kind in "Mm":
        unit, scale = np.datetime_data(dtype)
        detail = Detail(None, 0, UNITS.index(unit), scale, 0)
    elif dtype.names:
        fields = [Field(name.encode(), dtype.fields[name][1], dtype_of(dtype.fields[name][0]))
                  for name in dtype.names]
        detail = Detail((Field * len(fields))(*fields), len(fields), 0, 0, 0)
    if detail is None:
        return Dtype(KINDS[dtype.kind], dtype.itemsize, not dtype.isnative)
    details.append(detail)
    swapped = not dtype.names and not dtype.isnative
    return Dtype(STRUCT if dtype.names else KINDS[dtype.kind], dtype.itemsize, swapped,
                 c.addressof(detail))


TEXT = Dtype(6, c.sizeof(Slice), False, None)  # ZB_KIND_STRING
BYTES = Dtype(7, c.sizeof(Slice), False, None)


def slices_of(values):
    """Objects, str or bytes, as an array of Slice; keep it for as long as the library uses it."""
    encoded = [v.encode() if isinstance(v, str) else v for v in np.asarray(values).ravel()]
    return (Slice * len(encoded))(*[Slice(data, len(data)) for data in encoded])


def objects_of(slices, dtype):
    """The str or bytes of an array of Slice. A char pointer's own value would end at a NUL."""
    data = [c.string_at(c.c_void_p.from_buffer(s).value, s.size) if s.size else b"" for s in slices]
    values = np.empty(len(data), object)
    values[:] = [v.decode() for v in data] if dtype.kind == TEXT.kind else data
    return values


def fill_of(fill_value, dtype):
    """The address of a fill value, as an object to keep."""
    if dtype == object:
        return slices_of(np.array([fill_value], object))
    data = np.array(fill_value, dtype.newbyteorder("=")).tobytes()
    return c.create_string_buffer(data, len(data))


def text_of(value):
    return None if value is None else json.dumps(value).encode()


class Writer:
    """zb_writer with the default options; closes itself at the end of a `with` that did not fail.
    """

    def __init__(self, store, path):
        self.handle, node = c.c_void_p(), store.open(path)
        try:
            call(lib.zb_writer_open, node, None, c.byref(self.handle))
        finally:
            lib.zb_node_release(node)

    def __enter__(self):
        return self

    def __exit__(self, failed, *_):
        if failed:
            lib.zb_writer_abandon(self.handle)
        else:
            call(lib.zb_writer_close, self.handle)

    def write(self, start, step, values, dtype=None):
        """values: a numpy array of any strides and byte order; objects as TEXT or BYTES. dtype: the
        library's, where numpy has no such type."""
        slices = slices_of(values) if values.dtype == object else None
        write = Write(
            start=shape_of(start),
            count=shape_of(values.shape),
            step=shape_of(step),
            data=c.addressof(slices) if slices is not None else values.ctypes.data,
            dtype=dtype or dtype_of(values.dtype),
            strides=None if slices is not None else strides_of(values),
        )
        call(lib.zb_writer_write, self.handle, c.byref(write))

    def flush(self):
        call(lib.zb_writer_flush, self.handle)


class Store:
    """A store in memory, or in a directory, which is made."""

    def __init__(self, directory=None):
        self.handle = c.c_void_p()
        if directory is None:
            call(lib.zb_hierarchy_new_mem, b"test", c.byref(self.handle))
        else:
            call(lib.zb_hierarchy_create, os.fsencode(directory), None, c.byref(self.handle))

    @property
    def store(self):
        """The store of its objects."""
        return c.c_void_p(lib.zb_hierarchy_store(self.handle))

    def open(self, path):
        """A node's handle, to be released."""
        node = c.c_void_p()
        call(lib.zb_node_open, self.handle, path.encode(), c.byref(node))
        return node

    def read_into(self, path, start, step, values, dtype=None):
        """Reads a box into a numpy array of any strides and byte order; dtype as in write()."""
        node, held, slices = self.open(path), c.c_void_p(), None
        view = View(values.ctypes.data, dtype or dtype_of(values.dtype), strides_of(values))
        if values.dtype == object:
            call(lib.zb_values_new, c.byref(held))
            slices = (Slice * values.size)()
            view = View(c.addressof(slices), dtype, None, held)
        read = Read(node, shape_of(start), shape_of(values.shape), shape_of(step), view)
        try:
            call(lib.zb_array_read, c.byref(read), c.c_size_t(1))
            if slices is not None:
                values[...] = objects_of(slices, dtype).reshape(values.shape)
        finally:
            if slices is not None:
                lib.zb_values_free(held)
            lib.zb_node_release(node)

    def close(self):
        lib.zb_hierarchy_release(self.handle)

    def create_group(self, path, attributes=None):
        node = c.c_void_p()
        call(lib.zb_group_create, self.handle, path.encode(), text_of(attributes), c.byref(node))
        lib.zb_node_release(node)

    def create_array(self, path, shape, chunks, dtype, fill_value=0, shards=None, codecs=None,
                     names=None, attributes=None, separator="/", runs=None, keys=None,
                     element=None):
        """dtype: of numpy; void means raw_bytes. Another byte order than the host's is stored so.
        element: the library's type, where numpy has no such type."""
        dtype = np.dtype(dtype)
        fill = fill_of(fill_value, dtype)
        encoded = [None if n is None else n.encode() for n in names or []]
        spec = Spec(
            ndim=len(shape),
            shape=shape_of(shape),
            inner_shape=shape_of(chunks),
            shard_shape=shape_of(shards),
            chunk_runs=runs_of(runs),
            dtype=element or dtype_of(dtype),
            fill_value=c.cast(fill, c.c_void_p),
            codecs=text_of(codecs),
            dimension_names=(c.c_char_p * len(encoded))(*encoded) if names else None,
            attributes=text_of(attributes),
            separator=b"\0" if keys else separator.encode(),
            key_encoding=json.dumps(keys).encode() if keys else None,
        )
        node = c.c_void_p()
        call(lib.zb_array_create, self.handle, path.encode(), c.byref(spec), c.byref(node))
        lib.zb_node_release(node)

    def set_attribute(self, path, name, value):
        node, changed = self.open(path), c.c_void_p()
        try:
            call(lib.zb_node_set_attribute, node, name.encode(), json.dumps(value).encode(),
                 c.byref(changed))
            lib.zb_node_release(changed)
        finally:
            lib.zb_node_release(node)

    def resize(self, path, shape):
        node, changed = self.open(path), c.c_void_p()
        try:
            call(lib.zb_array_resize, node, shape_of(shape), c.byref(changed))
            lib.zb_node_release(changed)
        finally:
            lib.zb_node_release(node)

    def compact(self, path):
        """Returns the bytes that are won."""
        won, node = c.c_uint64(), self.open(path)
        try:
            call(lib.zb_array_compact, node, None, c.byref(won))
        finally:
            lib.zb_node_release(node)
        return won.value

    def storage_size(self, path):
        """The bytes of the array's stored chunks."""
        size, node = c.c_uint64(), self.open(path)
        try:
            call(lib.zb_array_storage_size, node, c.byref(size))
        finally:
            lib.zb_node_release(node)
        return size.value

    def delete(self, path):
        call(lib.zb_node_delete, self.handle, path.encode())

    def move(self, source, target):
        call(lib.zb_node_move, self.handle, source.encode(), target.encode())

    def set(self, key, data):
        call(lib.zb_store_mem_set, self.store, key.encode(), data, c.c_size_t(len(data)))

    def get(self, key):
        data, size = c.c_void_p(), c.c_size_t()
        call(lib.zb_store_get, self.store, key.encode(), c.c_uint64(1 << 30), b"test",
             c.byref(data), c.byref(size), None)
        return c.string_at(data.value, size.value)

    def keys(self, prefix=""):
        """All keys below the prefix."""
        names = []

        def take(_, entry):
            name = entry.contents.name.decode()
            names.append((prefix + ("/" if prefix else "") + name, entry.contents.is_prefix))
            return 0

        call(lib.zb_store_list, self.store, prefix.encode(), LIST_FN(take), None)
        for name, is_prefix in names:
            if is_prefix:
                yield from self.keys(name)
            else:
                yield name

    def write_to(self, directory):
        """Writes each object as a file; returns the directory."""
        call(lib.zb_hierarchy_write_back, self.handle)
        for key in self.keys():
            path = Path(directory) / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.get(key))
        return directory

    def read_from(self, directory):
        for path in Path(directory).rglob("*"):
            if path.is_file():
                self.set(str(path.relative_to(directory)), path.read_bytes())
