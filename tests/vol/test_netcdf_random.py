# SPDX-License-Identifier: MIT
"""Random programs of netCDF, each on a native file and on a door: after each reopening both tell the same, and the
arrays of the store hold what netCDF reads, with one length for each name of a dimension. Links have native numbers, and
attributes the native order where HDF5 keeps one.

ZARRBRIDGE_PROGRAMS: how many are run; ZARRBRIDGE_SEED: the first one."""

import json
import os
import random
import shutil

import h5py
import numpy as np
import pytest
import zarr
from conftest import run
from test_netcdf_programs import new_door

netCDF4 = pytest.importorskip("netCDF4")

NUMBERS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")
TEXTS = ("", "a", "text", "grün", "two words")


class Native(Exception):
    """netCDF refuses it, or its own file is broken by it: the program ends here."""


def groups_of(f):
    found = [f]
    for group in f.groups.values():
        found += groups_of(group)
    return found


def path_of(group):
    return group.path.strip("/")


# ---- What is told ----

def plain(value):
    """Values that compare as they are stored: NaN is itself, and types count."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return [plain(v) for v in value.ravel()]
    if isinstance(value, np.ndarray | np.generic) and value.dtype.names:
        return np.shape(value), repr(value.tolist())  # without what lies between members
    if isinstance(value, np.ndarray | np.generic):
        return str(value.dtype), np.shape(value), np.asarray(value).tobytes()
    return value


def attributes(of, ordered):
    found = [(name, plain(of.getncattr(name))) for name in of.ncattrs()]
    return found if ordered else sorted(found)


def variable(v, ordered):
    v.set_auto_maskandscale(False)
    # netCDF chooses chunks by the length of the scale, which in its own files may be shorter than the dimension
    chunks = None if any(d.isunlimited() for d in v.get_dims()) else v.chunking()
    kind = v.datatype if isinstance(v.datatype, np.dtype) or v.datatype is str else v.datatype.name
    return (str(kind), [d.name for d in v.get_dims()], [path_of(d.group()) for d in v.get_dims()], v.shape, chunks,
            sorted((v.filters() or {}).items()), attributes(v, ordered), plain(v[...]))


def told(f, tracked):
    """`tracked`: the objects whose attributes have an order."""
    return [(path_of(g), attributes(g, path_of(g) in tracked),
             [(n, len(d), d.isunlimited()) for n, d in g.dimensions.items()],
             list(g.enumtypes), list(g.cmptypes), list(g.vltypes),
             [(n, variable(v, f"{path_of(g)}/{n}".strip("/") in tracked)) for n, v in g.variables.items()])
            for g in groups_of(f)]


def orders(path):
    """The groups with their links in the order of creation, and what keeps the order of its attributes. netCDF asks HDF5
    for that where it makes a file, and not where it adds to one: in its own files such attributes lie as there was room
    in the header."""
    links, tracked = {}, set()
    with h5py.File(path) as f:
        def look(name):
            opened = h5py.h5o.open(f.id, name.encode())
            if isinstance(opened, h5py.h5g.GroupID):
                names = []
                opened.links.iterate(names.append, idx_type=h5py.h5.INDEX_CRT_ORDER)
                links[name] = [(one, opened.links.get_info(one).corder) for one in names]
            if not isinstance(opened, h5py.h5t.TypeID) and opened.get_create_plist().get_attr_creation_order():
                tracked.add(name.strip("/"))
        look("/")
        f.visit(look)
    return links, tracked


def check_store(store, f):
    """What other Zarr programs see. netCDF's reader is the door's."""
    for group in groups_of(f):
        lengths = {}
        for name, v in group.variables.items():
            place = store / path_of(group) / name
            if not place.is_dir():  # a name that no node of Zarr can have
                continue
            document = json.loads((place / "zarr.json").read_text())  # zarr-python has no texts of a fixed size
            assert tuple(document["shape"]) == v.shape, name
            for dimension, length in zip(document.get("dimension_names") or (), v.shape):
                own = dimension is None or dimension in group.dimensions or dimension == name
                assert not own or lengths.setdefault(dimension, length) == length, (name, dimension)
            if isinstance(v.datatype, np.dtype) and v.dtype.kind in "iuf":
                v.set_auto_maskandscale(False)
                array = zarr.open_array(place, mode="r")
                assert array[...].tobytes() == np.asarray(v[...]).tobytes(), name


# ---- Steps: each draws once, and returns what is done to both files ----

class Program:
    def __init__(self, seed):
        self.rng, self.count, self.renamed = random.Random(seed), 0, set()

    def new_name(self, kind):
        self.count += 1
        odd = self.rng.random()
        return f"{'.' if odd < 0.03 else '__' if odd < 0.06 else ''}{kind}{self.count}{' é' if odd > 0.97 else ''}"

    def group(self, f):
        return path_of(self.rng.choice(groups_of(f)))

    def dimension(self, f):
        where, name, size = self.group(f), self.new_name("d"), self.rng.choice((None, None, 1, 2, 3, 5))
        return lambda f: at(f, where).createDimension(name, size)

    def visible(self, group):
        """The dimensions by their names, the nearest of each."""
        found = {}
        while group is not None:
            found = {**group.dimensions, **found}
            group = group.parent
        return found

    def variable(self, f):
        rng, where = self.rng, self.group(f)
        group = at(f, where)
        seen = self.visible(group)
        dims = rng.sample(sorted(seen), min(len(seen), rng.randrange(4)))
        # netCDF puts the fill values behind a variable's end into wrong places unless its first dimension grows alone.
        endless = [d for d in dims if seen[d].isunlimited()]
        dims = (*endless[:1], *(d for d in dims if d not in endless))
        name = dims[0] if dims and dims[0] in group.dimensions and dims[0] not in group.variables and rng.random() < 0.5 \
            and dims[0] not in self.renamed else self.new_name("v")
        kind = rng.choice((*NUMBERS, *NUMBERS, "S1", str))
        types = [t for g in groups_of(f) for t in (*g.enumtypes.values(), *g.cmptypes.values(), *g.vltypes.values())]
        pick = rng.randrange(len(types)) if types and rng.random() < 0.25 else None
        if pick is not None:  # netCDF has no fill value for what lies behind the end of these
            dims = tuple(d for d in dims if not seen[d].isunlimited())
            name = self.new_name("v")
        options = {}
        if kind in NUMBERS and pick is None:
            if rng.random() < 0.3:
                options["fill_value"] = np.array(rng.randrange(100)).astype(kind)[()]
            if dims and rng.random() < 0.3:
                options |= {"compression": "zlib", "complevel": rng.randrange(1, 9), "shuffle": rng.random() < 0.5,
                            "fletcher32": rng.random() < 0.3}
            if dims and rng.random() < 0.3:
                options["chunksizes"] = [rng.randrange(1, 1 + (len(seen[d]) or 4)) if not seen[d].isunlimited()
                                         else rng.randrange(1, 5) for d in dims]

        def act(f):
            own = [t for g in groups_of(f) for t in (*g.enumtypes.values(), *g.cmptypes.values(), *g.vltypes.values())]
            at(f, where).createVariable(name, kind if pick is None else own[pick], dims, **options)
        return act

    def some_variable(self, f):
        found = [(path_of(g), n) for g in groups_of(f) for n in g.variables]
        return self.rng.choice(found) if found else None

    def write(self, f):
        rng, which = self.rng, self.some_variable(f)
        if not which:
            return None
        v = at(f, which[0]).variables[which[1]]
        ends = [rng.randrange(1, 5) if d.isunlimited() else len(d) for d in v.get_dims()]
        starts = [rng.randrange(0, end) if rng.random() < 0.4 else 0 for end in ends]
        if isinstance(v.datatype, netCDF4.CompoundType | netCDF4.EnumType | netCDF4.VLType):
            starts = [0] * len(ends)
        shape, numbers = [e - s for s, e in zip(starts, ends)], rng.randrange(100)
        count = int(np.prod(shape)) if shape else 1
        if v.datatype is str:
            data = np.array([TEXTS[(numbers + i) % len(TEXTS)] for i in range(count)], object).reshape(shape)
        elif isinstance(v.datatype, netCDF4.VLType):
            data = np.empty(count, object)
            for i in range(count):
                data[i] = np.arange((numbers + i) % 4, dtype="i4")
            data = data.reshape(shape)
        elif isinstance(v.datatype, netCDF4.CompoundType):
            data = np.zeros(shape, v.datatype.dtype)
            data["a"] = numbers
        elif isinstance(v.datatype, netCDF4.EnumType):
            data = np.full(shape, numbers % 3, v.datatype.dtype)
        elif v.dtype.kind == "S":
            data = np.full(shape, b"abc"[numbers % 3:][:1], "S1")
        else:
            data = (np.arange(count) + numbers).astype(v.dtype).reshape(shape)
        window = tuple(slice(s, e) for s, e in zip(starts, ends))

        def act(f):
            v = at(f, which[0]).variables[which[1]]
            v.set_auto_maskandscale(False)
            v[window if window else Ellipsis] = data if shape or data.dtype.kind == "O" and v.datatype is not str else data[()]
        return act

    def value(self):
        rng = self.rng
        kind = rng.choice(NUMBERS)
        return rng.choice([rng.choice(TEXTS), 7, 2.5, np.arange(rng.randrange(1, 4)).astype(kind),
                           np.array(5).astype(kind)[()], ["one", "two"], float("nan"), b"bytes"])

    def owner(self, f):
        which = self.some_variable(f) if self.rng.random() < 0.6 else None
        return which or (self.group(f), None)

    def set_attribute(self, f):
        owner, name, value = self.owner(f), self.new_name("a"), self.value()
        return lambda f: of(f, owner).setncattr(name, value)

    def attribute(self, f):
        owner = self.owner(f)
        names = [n for n in of(f, owner).ncattrs() if n != "_FillValue"]
        return (owner, self.rng.choice(names)) if names else (None, None)

    def replace_attribute(self, f):
        owner, name = self.attribute(f)
        value = self.value()
        return name and (lambda f: of(f, owner).setncattr(name, value))

    def delete_attribute(self, f):
        owner, name = self.attribute(f)
        return name and (lambda f: of(f, owner).delncattr(name))

    def rename_attribute(self, f):
        owner, name = self.attribute(f)
        to = self.new_name("r")
        return name and (lambda f: of(f, owner).renameAttribute(name, to))

    def pack(self, f):
        which = self.some_variable(f)
        return which and (lambda f: of(f, which).setncatts({"scale_factor": 0.5, "add_offset": 2.0}))

    def new_group(self, f):
        where, name = self.group(f), self.new_name("g")
        return lambda f: at(f, where).createGroup(name)

    def new_type(self, f):
        where, name, kind = self.group(f), self.new_name("t"), self.rng.randrange(3)

        def act(f):
            if kind == 0:
                at(f, where).createEnumType("i1", name, {"off": 0, "on": 1, "x": 2})
            elif kind == 1:
                at(f, where).createCompoundType(np.dtype([("a", "i4"), ("b", "f8")]), name)
            else:
                at(f, where).createVLType("i4", name)
        return act

    def rename_dimension(self, f):
        """One that has no coordinate: netCDF loses the values of those."""
        where = self.group(f)
        names = [n for n in at(f, where).dimensions if n not in at(f, where).variables]
        if not names or self.renamed:
            return None
        name, to = self.rng.choice(names), self.new_name("n")
        self.renamed |= {name, to}
        return lambda f: at(f, where).renameDimension(name, to)

    def rename_variable(self, f):
        which = self.some_variable(f)
        if not which or which[1] in at(f, which[0]).dimensions:
            return None
        to = self.new_name("w")
        return lambda f: at(f, which[0]).renameVariable(which[1], to)

    def sync(self, f):
        return lambda f: f.sync()

    STEPS = [(dimension, 4), (variable, 8), (write, 12), (set_attribute, 5), (replace_attribute, 2), (delete_attribute, 2),
             (rename_attribute, 2), (pack, 1), (new_group, 1), (new_type, 1), (rename_dimension, 1), (rename_variable, 1),
             (sync, 2)]

    def step(self, f):
        act = None
        while act is None:
            act = self.rng.choices([s for s, _ in self.STEPS], [w for _, w in self.STEPS])[0](self, f)
        return act


def at(f, path):
    return f[path] if path else f


def of(f, owner):
    return at(f, owner[0]) if owner[1] is None else at(f, owner[0]).variables[owner[1]]


def difference(native, ours):
    """The first part in which they differ, of lists within lists."""
    if isinstance(native, list | tuple) and isinstance(ours, list | tuple) and len(native) == len(ours):
        for a, b in zip(native, ours):
            if a != b:
                return [native[0] if isinstance(native[0], str) else "", *difference(a, b)]
    return [native, ours]


def on_native(act, *arguments):
    try:
        return act(*arguments)
    except Exception as error:
        raise Native(repr(error)) from error


def compare(paths):
    links, tracked = on_native(orders, paths[0])
    our_links, our_tracked = orders(paths[1])
    assert our_links == links and our_tracked >= tracked
    with on_native(netCDF4.Dataset, paths[0]) as f:
        native = on_native(told, f, tracked)
    with netCDF4.Dataset(paths[1]) as f:
        ours = told(f, tracked)
        assert ours == native, difference(native, ours)
        check_store(paths[1].with_suffix(".zarr"), f)


def run_program(seed, folder, parts=3, steps=9, text=False):
    """How many steps were done."""
    program, paths, done = Program(seed), (folder / f"{seed}.nc", new_door(folder, f"door{seed}")), 0
    try:
        for part in range(parts):
            files = []
            try:
                files += [on_native(netCDF4.Dataset, paths[0], "w" if part == 0 else "a")]
                files += [netCDF4.Dataset(paths[1], "w" if part == 0 else "a")]
                for _ in range(steps):
                    act = program.step(files[0])
                    on_native(act, files[0])
                    act(files[1])
                    done += 1
                on_native(files[0].close)
                files[1].close()
            finally:
                for f in files:
                    if f.isopen():
                        try:
                            f.close()
                        except RuntimeError:
                            pass
            compare(paths)
        if text:
            # ncdump ends at an enum's value that has no name, as a fill value.
            native, ours = (run(["ncdump", "-n", "t", path], connector="zarr") for path in paths)
            assert ours.returncode == native.returncode
            assert sorted(ours.stdout.splitlines()) == sorted(native.stdout.splitlines())
    except Native:
        pass
    finally:
        paths[0].unlink(missing_ok=True)
        paths[1].unlink()
        shutil.rmtree(paths[1].with_suffix(".zarr"))
    return done


def test_random_programs(tmp_path):
    first, count = int(os.environ.get("ZARRBRIDGE_SEED", 1)), int(os.environ.get("ZARRBRIDGE_PROGRAMS", 10))
    steps = 0
    for seed in range(first, first + count):
        try:
            steps += run_program(seed, tmp_path, text=seed % 10 == 0)
        except Exception as error:
            raise AssertionError(f"program {seed}: {error!r}") from error
    assert steps > 15 * count
