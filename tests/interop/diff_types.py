# SPDX-License-Identifier: MIT
"""The data types of the differential tests: the name in a document, the elements in numpy's memory,
random elements, and fill values as JSON.

Numbers of few bits are their codes in memory, as integers without a sign; elements of any length
are objects. A type is one line in TYPES.
"""

import base64
import ctypes
from dataclasses import dataclass, field

import numpy as np
import refcodec
from libzarrbridge import Detail, Dtype, dtype_of

# Members of zb_kind and zb_format.
STRING, BYTES, SMALL, SMALL_COMPLEX = 6, 7, 13, 14
FORMATS = ["", "int2", "int4", "uint2", "uint4", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn",
           "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2",
           "float8_e5m2fnuz", "float8_e8m0fnu", "bfloat16"]  # fmt: skip
BITS = {"int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "float4_e2m1fn": 4, "float6_e2m3fn": 6,
        "float6_e3m2fn": 6, "bfloat16": 16}  # fmt: skip
TEXTS = ["", "a", "xyz", "\u65e5\u672c", "\U0001d11e", "two words", "\"\\\n"]


def boxed(values):
    """An array of them. numpy takes NULs off the end of bytes or a text that stands alone;
    zarr-python puts such a one, read from a shard, into an array within an array."""
    if isinstance(values, (bytes, str)):
        box = np.empty((), object)
        box[()] = values
        return box
    array = np.asarray(values)
    is_wrapped = array.dtype == object and not array.ndim and isinstance(array[()], np.ndarray)
    return array[()] if is_wrapped else array


@dataclass
class Type:
    name: str  # in tables of types
    data_type: object  # in documents
    dtype: np.dtype  # in numpy's memory
    small: str = ""  # the format, for numbers of few bits
    members: dict = field(default_factory=dict)  # of a struct: the types of its fields

    def __post_init__(self):
        self.dtype = np.dtype(self.dtype)

    def library(self, order="="):
        """As a zb_dtype, of that byte order."""
        if self.dtype == object:
            return Dtype(STRING if self.name == "string" else BYTES, 16, False, None)
        if not self.small:
            return dtype_of(self.dtype.newbyteorder(order))
        if not hasattr(self, "detail"):
            self.detail = Detail(None, 0, 0, 0, FORMATS.index(self.small))
        kind = SMALL_COMPLEX if self.name.startswith("complex") else SMALL
        return Dtype(kind, self.dtype.itemsize, False, ctypes.addressof(self.detail))

    def fill_json(self, value):
        if self.name in ("string", "fixed_length_utf32"):
            return str(value)
        if self.dtype == object:
            return base64.b64encode(value).decode()
        if self.small:
            return self.small_json(np.array(value, self.dtype).tobytes())
        if self.dtype.kind in "Mm":
            number = int(np.array(value, self.dtype).view("i8"))
            return "NaT" if number == -(2**63) else number
        if self.dtype.names:
            return {name: member.fill_json(value[name]) for name, member in self.members.items()}
        if self.name.startswith("r") and self.name[1:].isdigit():
            return list(np.array(value, self.dtype).tobytes())
        if self.dtype.kind in "SV":
            return base64.b64encode(np.array(value, self.dtype).tobytes()).decode()
        return refcodec.fill_json(value, self.dtype)

    def small_json(self, data):
        size = 2 if self.small == "bfloat16" else 1
        codes = [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]
        bits = BITS.get(self.small, 8)
        if self.small.startswith(("int", "uint")):
            code = codes[0]
            return code - 2**bits if self.small[0] == "i" and code >> (bits - 1) else code
        texts = [f"0x{code:0{max(2, bits // 4)}x}" for code in codes]
        return texts if len(texts) == 2 else texts[0]

    # ---- Elements ----

    def random(self, numbers, count, kind, tame=False):
        """kind 0, 1: few different ones; else all bits. tame: integers of 0 to 100, which lossy
        codecs keep."""
        if tame and self.dtype.kind != "b":
            return numbers.integers(0, 101 if kind else 3, count).astype(self.dtype)
        if self.dtype == object:
            words = TEXTS if self.name == "string" else [text.encode() for text in TEXTS]
            values = np.empty(count, object)
            values[:] = [words[i] for i in numbers.integers(0, len(words) if kind else 2, count)]
            return values
        if self.dtype.kind == "b":
            return numbers.integers(0, 2, count).astype(bool)
        if self.dtype.kind == "U":
            texts = np.array([text[: self.dtype.itemsize // 4] for text in TEXTS], self.dtype)
            return texts[numbers.integers(0, len(texts), count)]
        if self.dtype.names:
            values = np.zeros(count, self.dtype)
            for name, member in self.members.items():
                values[name] = member.random(numbers, count, kind)
            return values
        if self.small:
            return self.small_random(numbers, count, kind)
        if kind < 2 and self.dtype.kind in "iufc":
            return numbers.integers(0, 3, count).astype(self.dtype)
        raw = numbers.integers(0, 256, count * self.dtype.itemsize, "u1").view(self.dtype)
        return canonical_nans(raw)

    def small_random(self, numbers, count, kind):
        """Numbers that are no NaN: another library may know one NaN alone."""
        codes = np.array(usual_codes(self.small), "u2" if self.small == "bfloat16" else "u1")
        parts = self.dtype.itemsize // codes.itemsize
        picked = codes[numbers.integers(0, len(codes) if kind > 1 else 3, count * parts)]
        return np.ascontiguousarray(picked).view(self.dtype)

    def bytes_of(self, values):
        """What is compared: two libraries' elements are the same where these bytes are."""
        values = boxed(values)
        if self.dtype == object:
            # Not numpy's own kinds of them, which print otherwise.
            return repr([str(v) if isinstance(v, str) else bytes(v)
                         for v in values.astype(object).ravel()]).encode()
        if self.small:
            mask = (1 << BITS.get(self.small, 8)) - 1
            unit = "u2" if self.small == "bfloat16" else "u1"
            return (np.ascontiguousarray(values).view(unit) & mask).tobytes()
        return canonical_nans(np.array(values.astype(self.dtype))).tobytes()


def canonical_nans(values):
    """Of all NaNs only the usual one, since others have no name in a document."""
    if values.dtype.kind in "fc":
        size = values.dtype.itemsize // (2 if values.dtype.kind == "c" else 1)
        part = values.reshape(-1).view(f"f{size}")
        part[np.isnan(part)] = np.nan
    return values


def usual_codes(name):
    """Codes of a format that stand for numbers; 0 first, no NaN, no infinity, no zero with a
    sign."""
    bits = BITS.get(name, 8)
    if name.startswith(("int", "uint", "float4", "float6")):
        signed_zero = 1 << (bits - 1) if name.startswith("float") else None
        return [code for code in range(1 << bits) if code != signed_zero]
    if name == "bfloat16":
        return [sign | code for code in range(0, 0x7F80, 37) for sign in (0, 0x8000)
                if code or not sign]  # fmt: skip
    if name == "float8_e8m0fnu":
        return list(range(255))
    # e5m2 has 4 codes that are none at its end, the rest fewer.
    return [sign | code for code in range(0x7C if "e5m2" in name else 0x70) for sign in (0, 0x80)
            if code or not sign]  # fmt: skip


def configured(name, **configuration):
    return {"name": name, "configuration": configuration}


def time_type(kind, unit, scale):
    name = {"M": "numpy.datetime64", "m": "numpy.timedelta64"}[kind]
    dtype = f"{kind}8" if unit == "generic" else f"{kind}8[{scale}{unit}]"
    return Type(name, configured(name, unit=unit, scale_factor=scale), dtype)


def struct_type(*fields):
    """fields: (name, the type's line in TYPES)."""
    dtype = np.dtype([(name, t.dtype) for name, t in fields])
    members = [{"name": name, "data_type": t.data_type} for name, t in fields]
    return Type("struct", configured("struct", fields=members), dtype, members=dict(fields))


def plain(name):
    return Type(name, name, name)


NUMBERS = [plain(name) for name in (
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
    "float64", "complex64", "complex128")]  # fmt: skip
INT32, FLOAT32 = NUMBERS[2], NUMBERS[9]
DAYS, CHARS = time_type("M", "D", 1), Type("null_terminated_bytes",
                                           configured("null_terminated_bytes", length_bytes=5), "S5")
CORE = [plain("bool"), *NUMBERS]
OTHERS = [
    Type("raw_bytes", configured("raw_bytes", length_bytes=3), "V3"),
    Type("r16", "r16", "V2"),
    Type("string", "string", object),
    Type("bytes", "bytes", object),
    Type("variable_length_bytes", "variable_length_bytes", object),
    Type("fixed_length_utf32", configured("fixed_length_utf32", length_bytes=12), "U3"),
    CHARS,
    DAYS,
    time_type("M", "ns", 1),
    time_type("M", "us", 10),
    time_type("m", "h", 6),
    time_type("M", "generic", 1),
    struct_type(("x", INT32), ("y", FLOAT32)),
    struct_type(("a", CHARS), ("t", DAYS), ("in", struct_type(("n", NUMBERS[1]), ("c", CORE[0])))),
    Type("complex_float32", "complex_float32", "complex64"),
    Type("complex_float64", "complex_float64", "complex128"),
    Type("complex_bfloat16", "complex_bfloat16", "u4", "bfloat16"),
    Type("complex_float8_e5m2", "complex_float8_e5m2", "u2", "float8_e5m2"),
    *[Type(name, name, "u2" if name == "bfloat16" else "u1", name) for name in FORMATS[1:]],
]
TYPES = CORE * 8 + OTHERS  # each type of the core is as frequent as eight others
