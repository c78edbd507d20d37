# SPDX-License-Identifier: MIT
"""Stores of plain JSON and raw chunks, each with the answers that both plugins must give.

No writer's library takes part, so that the documents are exactly those given here. Each store has
an array to ask about; `STORES` names it with the expected answers.
"""

import base64
import json
import math
import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

TYPES = {"int8": "i1", "int16": "<i2", "int32": "<i4", "int64": "<i8", "uint8": "u1",
         "uint16": "<u2", "uint64": "<u8", "float16": "<f2", "float32": "<f4", "float64": "<f8"}
T = [10.0, 20.0, 40.0]
Y = [5.0, 4.0, 3.0, 2.0]
X = [100.0, 110.0, 120.0, 130.0, 140.0]


@dataclass
class Array:
    data: object
    dims: object = None
    dtype: str = "float64"
    fill: object = 0
    attributes: dict = field(default_factory=dict)


@dataclass
class Store:
    """`nodes`: arrays by path; a dict is a group's attributes, a str the text of a document."""
    nodes: dict
    array: str = "v"
    coordinates: dict = field(default_factory=dict)  # dimension: (path, values), or None
    fill_value: object = ...  # the attribute _FillValue in h5py; ...: do not ask
    nodata: object = ...  # the nodata value in GDAL
    attributes: dict = field(default_factory=dict)  # name: (as h5py has it, as GDAL has it)


def document_of(node):
    if isinstance(node, str):
        return node
    if isinstance(node, dict):
        return json.dumps({"zarr_format": 3, "node_type": "group", "attributes": node})
    data = np.asarray(node.data, TYPES[node.dtype])
    chunk = [max(n, 1) for n in data.shape]
    document = {
        "zarr_format": 3, "node_type": "array", "shape": list(data.shape), "data_type": node.dtype,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": node.fill,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": node.attributes}
    if node.dims is not None:
        document["dimension_names"] = list(node.dims)
    return json.dumps(document)


def write(root, store):
    """Writes the documents and the chunks; groups above each node are made."""
    for path, node in store.nodes.items():
        here = Path(root, path)
        here.mkdir(parents=True, exist_ok=True)
        (here / "zarr.json").write_text(document_of(node))
        if isinstance(node, Array):
            data = np.asarray(node.data, TYPES[node.dtype])
            chunk = here.joinpath("c", *["0"] * data.ndim)
            chunk.parent.mkdir(parents=True, exist_ok=True)
            chunk.write_bytes(data.tobytes())
        for above in here.relative_to(root).parents:
            document = Path(root, above, "zarr.json")
            if not document.exists():
                document.write_text(document_of({}))


# ---- Coordinates

def cube(**options):
    return Array(np.arange(60.0).reshape(3, 4, 5), ("t", "y", "x"), **options)


def axes(group=""):
    """Good coordinates for y and x, so that the answer depends on t."""
    return {group + "y": Array(Y, ("y",)), group + "x": Array(X, ("x",))}


def found_at(path, values=T, group=""):
    return {"t": (path, values), "y": (group + "y", Y), "x": (group + "x", X)}


GOOD = Array(T, ("t",))
LONGER = Array([1.0, 2.0, 3.0, 4.0], ("t",))
NONE = {"t": None}

COORDINATES = {
    "beside": Store({"v": cube(), "t": GOOD, **axes()}, "v", found_at("t")),
    "in the parent": Store({"g/v": cube(), "t": GOOD, **axes()}, "g/v", found_at("t")),
    "two groups up": Store({"g/h/v": cube(), "t": GOOD, **axes("g/")}, "g/h/v",
                           found_at("t", group="g/")),
    "the nearer of two": Store({"g/v": cube(), "t": Array([1.0, 2.0, 3.0], ("t",)), "g/t": GOOD,
                                **axes()}, "g/v", found_at("g/t")),
    "not in a group below": Store({"v": cube(), "g/t": GOOD, **axes()}, "v", NONE),
    "none": Store({"v": cube(), **axes()}, "v", NONE),
    "another length": Store({"g/v": cube(), "g/t": LONGER, "t": GOOD, **axes()}, "g/v",
                            found_at("t")),
    "another length at two levels": Store(
        {"g/h/v": cube(), "g/h/t": LONGER, "g/t": Array([1.0], ("t",)), "t": GOOD, **axes()},
        "g/h/v", found_at("t")),
    "another length everywhere": Store({"g/v": cube(), "g/t": LONGER, "t": LONGER, **axes()},
                                       "g/v", NONE),
    "two dimensions": Store({"g/v": cube(), "g/t": Array(np.zeros((3, 2)), ("t", "b")), "t": GOOD,
                             **axes()}, "g/v", found_at("t")),
    "a scalar": Store({"g/v": cube(), "g/t": Array(7.0), "t": GOOD, **axes()}, "g/v",
                      found_at("t")),
    "along another dimension": Store({"g/v": cube(), "g/t": Array([7.0] * 3, ("time",)), "t": GOOD,
                                      **axes()}, "g/v", found_at("t")),
    "a group of that name": Store({"g/v": cube(), "g/t": {"a": 1}, "t": GOOD, **axes()}, "g/v",
                                  found_at("t")),
    "an unreadable node of that name": Store({"g/v": cube(), "g/t": "{", "t": GOOD, **axes()},
                                             "g/v", found_at("t")),
    "a dimension without a name beside": Store({"v": cube(), "t": Array(T), **axes()}, "v",
                                               found_at("t")),
    "a dimension that is null beside": Store({"v": cube(), "t": Array(T, (None,)), **axes()}, "v",
                                             found_at("t")),
    "a dimension without a name above": Store({"g/v": cube(), "t": Array(T), **axes()}, "g/v",
                                              NONE),
    "a path as a name": Store({"g/v": Array(np.zeros((3, 4, 5)), ("../t", "y", "x")), "t": GOOD,
                               **axes()}, "g/v", {"../t": None}),
    "two-dimensional coordinates": Store(
        {"v": Array(np.zeros((3, 4, 5)), ("t", "j", "i"), attributes={"coordinates": "lat lon"}),
         "t": GOOD, "lat": Array(np.zeros((4, 5)), ("j", "i")),
         "lon": Array(np.zeros((4, 5)), ("j", "i"))}, "v", {"j": None, "i": None}),
    "scaled": Store({"v": cube(), "t": Array([100, 200, 400], ("t",), "int16", attributes={
        "scale_factor": 0.5, "add_offset": 1.0}), **axes()}, "v", found_at("t", [51, 101, 201])),
    "scaled by a list of one": Store({"v": cube(), "t": Array([1, 2, 4], ("t",), "uint8",
        attributes={"scale_factor": [10]}), **axes()}, "v", found_at("t", [10, 20, 40])),
    "float32": Store({"v": cube(), "t": Array([0.1, 0.2, 0.4], ("t",), "float32"), **axes()}, "v",
                     found_at("t", [float(np.float32(t)) for t in (0.1, 0.2, 0.4)])),
}


# ---- Nodata

def encoded(value):
    return base64.standard_b64encode(struct.pack("<d", value)).decode()


def filled(dtype, attributes, fill_value, nodata, fill=0):
    """An array with these attributes; h5py shows the one value, GDAL the other."""
    return Store({"v": Array(np.zeros((2, 3)), ("y", "x"), dtype, fill, attributes)}, "v",
                 fill_value=fill_value, nodata=nodata)


def both(dtype, written, value):
    return filled(dtype, {"_FillValue": written}, value, value)


NODATA = {
    "an integer": both("int16", -9999, -9999),
    "an integer as a float": both("int32", 7.0, 7),
    "an integer as a list": both("uint8", [255], 255),
    "the lowest int64": both("int64", -2**63, -2**63),
    "the highest uint64": both("uint64", 2**64 - 1, 2**64 - 1),
    "xarray's float32": both("float32", encoded(1e20), float(np.float32(1e20))),
    "xarray's float64": both("float64", encoded(0.1), 0.1),
    "xarray's NaN": both("float64", encoded(math.nan), math.nan),
    "xarray's float16": both("float16", encoded(-9999.0), -10000.0),
    "NaN as a word": both("float32", "NaN", math.nan),
    "an infinity as a word": both("float64", "-Infinity", -math.inf),
    "an infinity as Python prints it": both("float32", "inf", math.inf),
    "the bits of a float32": both("float32", "0xc61c3c00", -9999.0),
    "the bits of a float64": both("float64", "0x7ff8000000000000", math.nan),
    "a number for a float32": both("float32", 0.1, float(np.float32(0.1))),
    "one that bytes do not hold": filled("uint8", {"_FillValue": 300}, 300, None),
    "one that a float32 does not hold": filled("float32", {"_FillValue": 1e300}, 1e300, None),
    "one that is no number": filled("float32", {"_FillValue": "none"}, "none", None),
    "the second choice": filled("int16", {"_FillValue": 40000, "missing_value": -1}, 40000, -1),
    "a fill value alone": filled("int16", {}, None, -7, fill=-7),
    "a fill value of NaN": filled("float64", {}, None, math.nan, fill="NaN"),
    "a fill value of zero": filled("int16", {}, None, None),
    "a fill value beside an attribute": filled("int16", {"_FillValue": 5}, 5, 5, fill=-7),
    "the stored sign": filled("int8", {"_FillValue": -1, "_Unsigned": "true"}, -1, 255),
}


# ---- Attributes

def as_text(value):
    return value if isinstance(value, str) else json.dumps(
        value, separators=(",", ":"), ensure_ascii=False)


def attributes(**named):
    """Each: the JSON value, or (JSON value, as h5py has it, GDAL's text)."""
    written = {n: v[0] if isinstance(v, tuple) else v for n, v in named.items()}
    shown = {n: v[1:] if isinstance(v, tuple) else (v, as_text(v)) for n, v in named.items()}
    return Store({"v": Array(np.zeros((2, 3)), ("y", "x"), attributes=written)}, "v",
                 attributes=shown)


EMPTY = np.zeros(0)
ATTRIBUTES = {
    "numbers": attributes(one=1, minus=-1, half=0.5, whole=(2.0, 2.0, "2.0"),
                          large=(1e300, 1e300, "1e+300"), list=[1, 2, 3], floats=[1.5, 2.5],
                          mixed=([1, 2.5], [1.0, 2.5], "[1,2.5]"), single=[5]),
    "limits of integers": attributes(low=-2**63, high=2**63 - 1, beyond=2**64 - 1,
                                     list=[2**63, 1],
                                     far=(2**64, float(2**64), "18446744073709551616"),
                                     both=([-1, 2**63], [-1.0, float(2**63)],
                                           "[-1,9223372036854775808]")),
    "words for numbers": attributes(nan=("NaN", math.nan, "NaN"), up=("Infinity", math.inf,
                                                                      "Infinity"),
                                    down=("-Infinity", -math.inf, "-Infinity"),
                                    among=([1, "NaN"], [1.0, math.nan], '[1,"NaN"]'),
                                    texts=["NaN", "x"], other="nan", inf="inf"),
    "booleans": attributes(yes=True, no=False, list=[True, False],
                           mixed=([True, 1], "[true,1]", "[true,1]")),
    "texts": attributes(plain="abc", empty="", blank=" a ", quotes='a"b\\c', lines="a\nb",
                        accents="hé 日本 🌍", list=["a", "", "日"],
                        digits="123"),
    "nested lists": attributes(matrix=[[1, 2], [3, 4], [5, 6]], deep=[[["a"]]],
                               ragged=([[1], [2, 3]], "[[1],[2,3]]", "[[1],[2,3]]"),
                               partly=([[1], 2], "[[1],2]", "[[1],2]"),
                               kinds=([1, "a", None], '[1,"a",null]', '[1,"a",null]')),
    "nothing": attributes(null=(None, None, "null"), empty=([], EMPTY, "[]"),
                          empties=([[], []], EMPTY.reshape(2, 0), "[[],[]]")),
    "objects": attributes(empty=({}, "{}", "{}"),
                          nested=({"a": [1, {"b": None}], "c": "d"},
                                  '{"a":[1,{"b":null}],"c":"d"}', '{"a":[1,{"b":null}],"c":"d"}'),
                          list=([{"a": 1}], '[{"a":1}]', '[{"a":1}]')),
}

STORES = {**{"coordinate: " + name: store for name, store in COORDINATES.items()},
          **{"nodata: " + name: store for name, store in NODATA.items()},
          **{"attributes: " + name: store for name, store in ATTRIBUTES.items()}}
