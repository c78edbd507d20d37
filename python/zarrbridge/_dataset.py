# SPDX-License-Identifier: MIT
"""The accessor `zarrbridge` of xarray's datasets: writing into variables that a store has (xarray.py)."""
import functools
import os
import warnings

import numpy as np
import xarray

# What a variable's encoding says of the meaning of its numbers: new ones have to mean the same.
_MEANING = ("scale_factor", "add_offset", "_FillValue", "missing_value")


def _same(one, other):
    return one is other or bool(np.all(np.asarray(one == other) | ((one != one) & (other != other))))


def _store_as(name, raw, given, encoded):
    """Encoded numbers in the type of the store. xarray and NumPy let integers wrap, and make some integer of NaN."""
    stored = encoded.astype(raw.dtype)
    scale, offset = raw.attrs.get("scale_factor"), raw.attrs.get("add_offset")
    if scale is None and offset is None:
        meant, step = stored, 1
    else:
        step = abs(1.0 if scale is None else scale)
        meant = stored * (1.0 if scale is None else scale) + (0.0 if offset is None else offset)
    is_nan = given != given
    wrong = (meant != given) & ~is_nan
    if given.dtype.kind == "f" or meant.dtype.kind == "f":
        wrong &= ~(np.abs(meant - given.astype("f8")) <= 0.5000001 * step)
    if "_FillValue" not in raw.attrs and "missing_value" not in raw.attrs:
        wrong |= is_nan
    if wrong.any():
        raise ValueError(f"{name} has {given[wrong].flat[0]}, which the store cannot hold as {raw.dtype}")
    return stored


class _Stored:
    """The variables of a group as they are in the store, and as xarray shows them."""

    def __init__(self, path, group, entry):
        self.path, self.group, self._entry = os.fspath(path), group, entry

    def __enter__(self):
        self.raw = xarray.open_dataset(self.path, engine=self._entry, group=self.group, decode_cf=False)
        self.shown = xarray.open_dataset(self.path, engine=self._entry, group=self.group)
        return self

    def __exit__(self, *error):
        self.shown.close()
        self.raw.close()

    def name(self, name):
        return f"{(self.group or '').rstrip('/')}/{name}"

    def encode(self, name, variable):
        """A variable as the store has it: its type, its units, its scale."""
        shown, raw = self.shown.variables[name], self.raw.variables[name]
        variable = variable.copy(deep=False)
        variable.encoding = dict(shown.encoding)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of other units, which are refused below
            encoded = xarray.conventions.encode_cf_variable(variable, name=name)
        if "units" in encoded.attrs and "units" not in variable.attrs:
            self._check_times(name, variable, encoded, raw)
        for key in _MEANING:
            if key in raw.attrs and not _same(encoded.attrs.get(key, raw.attrs[key]), raw.attrs[key]):
                raise ValueError(f"{name}: its values cannot be stored with {key} {raw.attrs[key]!r}, as the store has "
                                 f"it, but with {encoded.attrs[key]!r}")
        if not np.can_cast(encoded.dtype, raw.dtype, "same_kind"):
            raise ValueError(f"{name} has values of {encoded.dtype}, and {raw.dtype} in the store")
        if raw.dtype.kind not in "iu" or variable.dtype.kind not in "iufb":
            return encoded
        store_as = functools.partial(_store_as, name, xarray.Variable((), np.zeros((), raw.dtype), raw.attrs))
        if variable.chunks is None:
            data = store_as(variable.values, encoded.values)
        else:
            data = variable.data.map_blocks(store_as, encoded.data, dtype=raw.dtype)
        return xarray.Variable(encoded.dims, data, encoded.attrs, encoded.encoding)

    @staticmethod
    def _check_times(name, variable, encoded, raw):
        """Read with the store's units they are the same times."""
        stored = xarray.Variable(encoded.dims, encoded.values.astype(raw.dtype), raw.attrs)
        if not xarray.conventions.decode_cf_variable(name, stored).equals(variable):
            raise ValueError(f"{name} has times that cannot be stored in {raw.attrs.get('units')!r} as {raw.dtype}, as "
                             "the store has them")

    def choose(self, dataset, dims):
        """The names of what is written: variables with one of the dimensions. All others have to be as in the store."""
        chosen = []
        for name, variable in dataset.variables.items():
            if name not in self.shown.variables:
                raise ValueError(f"{name} is not in {self.path}{self.name('')}: make it first")
            stored = self.shown.variables[name]
            if variable.dims != stored.dims:
                raise ValueError(f"{name} has the dimensions {variable.dims}, and {stored.dims} in the store")
            for dim in set(variable.dims) - set(dims):
                if variable.sizes[dim] != stored.sizes[dim]:
                    raise ValueError(f"{name} has {variable.sizes[dim]} along {dim}, and {stored.sizes[dim]} in the "
                                     "store")
            if set(variable.dims) & set(dims):
                chosen.append(name)
            elif not variable.equals(stored):
                raise ValueError(f"{name} has none of the dimensions {tuple(dims)}, and other values than in the "
                                 "store: write it by itself, or drop it")
        if not chosen:
            raise ValueError(f"nothing has one of the dimensions {tuple(dims)}")
        return chosen


def _find(stored, dataset, dim):
    """The place of the dataset's labels along a dimension among those of the store."""
    if dim not in dataset.indexes or dim not in stored.shown.indexes:
        raise ValueError(f"{dim} has no labels to be found by: give a slice")
    places = stored.shown.indexes[dim].get_indexer(dataset.indexes[dim])
    if len(places) == 0 or (places != np.arange(places[0], places[0] + len(places))).any() or places[0] < 0:
        raise ValueError(f"the labels along {dim} do not follow each other in the store as they do here")
    return slice(int(places[0]), int(places[0]) + len(places))


def _take_region(stored, dataset, region):
    if region == "auto":
        region = {dim: "auto" for dim in dataset.dims}
    out = {}
    for dim, part in region.items():
        if dim not in dataset.dims:
            raise ValueError(f"there is no dimension {dim}")
        if part == "auto":
            part = _find(stored, dataset, dim)
        size = stored.shown.sizes[dim]
        start, stop, step = part.indices(size)
        if step != 1 or (part.stop is not None and part.stop > size) or stop - start != dataset.sizes[dim]:
            raise ValueError(f"{part} of {size} does not have the {dataset.sizes[dim]} elements along {dim}")
        out[dim] = slice(start, stop)
    return out


def _write(stored, encoded, region, compute):
    """Arrays of Dask are written by its workers, each part under the locks of its shards; others here."""
    import h5py
    from zarrbridge.dask import H5Target

    later, names, places = [], [], []
    with h5py.File(stored.path, "r+", driver="zarr") as file:
        for name, variable in encoded.items():
            place = tuple(region.get(dim, slice(None)) for dim in variable.dims)
            if variable.chunks is None:
                file[stored.name(name)][place] = variable.values
            else:
                later.append(variable.data)
                names.append(name)
                places.append(place)
    if not later:
        return None
    targets = [H5Target(stored.path, stored.name(name)) for name in names]
    import dask.array

    return dask.array.store(later, targets, regions=places, lock=False, compute=compute)


def append(dataset, path, dim, group, compute, entry):
    import h5py
    from zarrbridge._append import reserve

    with _Stored(path, group, entry) as stored:
        names = stored.choose(dataset, [dim])
        missing = [name for name, v in stored.shown.variables.items() if dim in v.dims and name not in names]
        if missing:
            raise ValueError(f"the store has {', '.join(missing)} along {dim}, too: append all together")
        encoded = {name: stored.encode(name, dataset.variables[name]) for name in names}
        count = dataset.sizes[dim]
    with h5py.File(stored.path, "r+", driver="zarr") as file:
        start = reserve(count, [file[stored.name(name)] for name in names],
                        [encoded[name].dims.index(dim) for name in names]) if count else 0
    done = _write(stored, encoded, {dim: slice(start, start + count)}, compute) if count else None
    return start if compute or done is None else done


def write_region(dataset, path, region, group, compute, entry):
    with _Stored(path, group, entry) as stored:
        region = _take_region(stored, dataset, region)
        encoded = {name: stored.encode(name, dataset.variables[name]) for name in stored.choose(dataset, region)}
    return _write(stored, encoded, region, compute)
