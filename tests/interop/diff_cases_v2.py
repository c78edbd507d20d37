# SPDX-License-Identifier: MIT
"""Cases of Zarr version 2: arrays that other libraries write and grow, and that we read."""

import base64
import json

import diff_types
import numpy as np
from diff_cases import Case
from diff_codecs import FILTERS, V2_COMPRESSORS, V2_FILTERS, V2_FORMS

STRING = next(t for t in diff_types.OTHERS if t.name == "string")
TYPES = diff_types.CORE * 3 + [STRING] + [t for t in diff_types.OTHERS if t.name in (
    "fixed_length_utf32", "null_terminated_bytes", "numpy.datetime64", "numpy.timedelta64")]


class CaseV2(Case):
    """The chain has the filters and the compressor, under the names that they have in version 3."""

    version = 2

    def types(self):
        return TYPES

    def choose_shapes(self):
        super().choose_shapes()
        self.levels, self.runs = self.levels[:1], None

    def choose_keys(self):
        self.forms = {name: self.random.choice(values) for name, values in V2_FORMS.items()}
        # Null leaves a time undefined: zero, or none at all.
        self.forms["no_fill"] &= self.dtype.kind not in "Mm"
        self.separator = self.forms["dimension_separator"] or "."
        self.keys = {"name": "v2"}

    def choose_chain(self):
        pick = self.random
        self.order = pick.choice(["little", "little", "big"])
        filters = [f for f in FILTERS + V2_FILTERS
                   if f.name.startswith("numcodecs.") and f.fits(self)]  # fmt: skip
        self.filters = []
        if self.dtype == object:
            self.filters = [{"name": "vlen-utf8"}]
        elif filters and pick.random() < 0.25:
            chosen = pick.choice(filters)
            self.tame = chosen.tame
            self.filters = [chosen.make(self)]
        self.compressors = [pick.choice(V2_COMPRESSORS).make(self)] if pick.random() < 0.8 else []
        return self.filters + self.compressors

    def values(self, shape):
        # A fill value of null is zero, and is chosen before there are others.
        if not hasattr(self, "fill") and self.forms["no_fill"]:
            return np.zeros(shape, self.dtype) if self.dtype != object else np.array("", object)
        return super().values(shape)

    def document(self, shape=None):
        by_id = [{"id": codec["name"].removeprefix("numcodecs."), **codec.get("configuration", {})}
                 for codec in self.chain]  # fmt: skip
        filters, compressors = by_id[: len(self.filters)], by_id[len(self.filters):]
        order = "<" if self.order == "little" else ">"
        dtype = "|O" if self.dtype == object else self.dtype.newbyteorder(order).str
        document = {"zarr_format": 2, "shape": list(self.shape), "chunks": list(self.levels[0]),
                    "dtype": dtype, "compressor": compressors[0] if compressors else None,
                    "fill_value": self.fill_json(), "order": self.forms["order"],
                    "filters": filters or None}  # fmt: skip
        if self.forms["dimension_separator"]:
            document["dimension_separator"] = self.separator
        return document

    def fill_json(self):
        if self.forms["no_fill"]:
            return None
        if self.dtype.kind == "S":
            return base64.b64encode(np.array(self.fill, self.dtype).tobytes()).decode()
        value = self.type.fill_json(self.fill)
        return -(2**63) if value == "NaT" else value

    def create(self, path):
        path.mkdir(parents=True)
        (path / ".zarray").write_text(json.dumps(self.document()))

    def is_ours(self):
        return False

    def another_shape(self):
        """Never shorter: what lies beyond the edge then is for us to clear, in version 3."""
        return tuple(max(pair) for pair in zip(super().another_shape(), self.shape))
