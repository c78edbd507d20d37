# SPDX-License-Identifier: MIT
"""Programs of chance that move, copy, delete and refer to objects, each on a native file and on a store, and what is
wanted of both after each step: test_moved_references.py."""

import ctypes
import random

import h5py
import numpy as np
from conftest import build_dir

KINDS = ("h5", "zarr")


def move_by_core(path, old, new):
    """zb_node_move of a store that no program has open; new None: zb_node_delete."""
    lib, store = ctypes.CDLL(str(build_dir() / "core/libzarrbridge.so")), ctypes.c_void_p()
    lib.zb_hierarchy_release.argtypes = [ctypes.c_void_p]
    assert lib.zb_hierarchy_open(str(path).encode(), ctypes.byref(store), None) == 0
    names = [name.encode() for name in (old, new) if name is not None]
    act = lib.zb_node_delete if new is None else lib.zb_node_move
    assert act(store, *names, None) == 0
    lib.zb_hierarchy_release(store)


PLACES = ("a", "b", "c", "g", "h", "g/a", "g/b", "h/a", "h/b", "g/h", "g/h/a", "h/g", "h/g/a")
# Of HDF5's own files: a move that it fails to do, and (2.2) an object that it cannot read any more.
FAULTS_OF_HDF5 = ("duplicate entry in cache", "message of unshareable class flagged as shareable")
SCALES = ("CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST")


def walk(group, prefix="", seen=None):
    """Paths of all hard links, in one order; what is below a group once."""
    seen = set() if seen is None else seen
    for name in sorted(group):
        node, path = group[name], prefix + name
        yield path, node
        if isinstance(node, h5py.Group) and node.id not in seen:
            seen.add(node.id)
            yield from walk(node, path + "/", seen)


def is_below(path, above):
    return (path + "/").startswith(above + "/")


class Program:
    """One file, to which the same steps are done as to the other one. Objects are known by the number in `n`."""

    def __init__(self, path):
        self.path, self.file, self.memory, self.session = path, h5py.File(path, "w"), {}, 0
        self.is_native = path.suffix == ".h5"
        self.file.create_group("z").attrs["n"] = 1
        self.file.attrs["r1"] = self.file["z"].ref  # from here on the store keeps track

    def reopen(self, between=None):
        self.file.close()
        if between:
            between(self.path)
        self.file = h5py.File(self.path, "r+")
        self.session += 1

    def numbers(self):
        return {path: int(node.attrs["n"]) for path, node in walk(self.file)}

    def number(self, ref):
        """Of the object behind a reference; None for nothing."""
        try:
            return int(self.file[ref].attrs["n"]) if ref else None
        except (ValueError, KeyError, OSError):
            return None

    def scales(self, node):
        return [self.number(ref) for ref in node.attrs["DIMENSION_LIST"][0]] if "DIMENSION_LIST" in node.attrs else []

    def type_of(self, one):
        """The number of the committed datatype that a dataset, or its attribute, was made with."""
        kind = one.get_type()
        return int(h5py.Datatype(kind).attrs["n"]) if kind.committed() else None

    def check(self, alive, wanted_scales, wanted_types):
        """What all leads to. What has gone is not followed in HDF5's own files."""
        found = {}
        for path, node in [("/", self.file["/"]), *walk(self.file)]:
            for name in (key for key in node.attrs if key.startswith("r")):
                wanted = int(name[1:])
                if self.is_native and wanted not in alive:
                    continue
                found[path, name] = self.number(node.attrs[name])
                assert found[path, name] == (wanted if wanted in alive else None), (path, name)
            if not isinstance(node, h5py.Dataset):
                continue
            number = int(node.attrs["n"])
            wanted = wanted_scales.get(number, [])
            there = [scale for scale in wanted if scale in alive]
            if there == wanted or not self.is_native:
                assert self.scales(node) == there, (path, there)
            for name, one in (("", node.id), ("t", node.attrs.get_id("t") if "t" in node.attrs else None)):
                kind = wanted_types.get((number, name))
                if one is not None and (kind in alive or not self.is_native):
                    assert self.type_of(one) == (kind if kind in alive else None), (path, name)
        for wanted, (ref, session) in self.memory.items():
            if self.is_native and wanted not in alive:
                continue
            number = self.number(ref)
            if self.is_native or session == self.session:
                assert number == (wanted if wanted in alive else None), wanted
            else:  # a store may have lost what a program has kept while it was closed
                assert number is None or (number == wanted and wanted in alive), (number, wanted)
        return found


class Model:
    """What is wanted of scales (lists of numbers) and types, by the numbers of datasets (and names of attributes)."""

    def __init__(self):
        self.scales, self.types, self.is_scale = {3: [2]}, {(6, ""): 4, (6, "t"): 4}, {2}


def begin(p):
    """So that all kinds of links are there from the first step on."""
    for number, (path, value) in enumerate((("a", [2, 2]), ("b", [3, 3]), ("c", np.dtype("i4")), ("g", None)), 2):
        p.file.create_group(path) if value is None else p.file.__setitem__(path, value)
        p.file[path].attrs["n"] = number
    p.file.create_dataset("g/a", data=[6, 6], dtype=p.file["c"]).attrs["n"] = 6
    p.file["g/a"].attrs.create("t", 5, dtype=p.file["c"])
    p.file["a"].make_scale("axis")
    p.file["b"].dims[0].attach_scale(p.file["a"])
    p.file["g/b"] = p.file["b"]


def is_place(store, path):
    """Whether a path of a store that is closed is where a node is, and no further link to it."""
    return (store / path / "zarr.json").exists()


def step(rng, files, model, count):
    """A step as a function of a Program; None where it makes no sense."""
    native = files[0].file
    numbers = files[0].numbers()  # of all hard links by their paths
    there = sorted(numbers)
    kinds = {path: type(native[path]) for path in there}
    kind = rng.choice(["make", "make", "group", "move", "move", "outside", "outside", "delete", "link", "link", "copy",
                       "refer", "refer", "remember", "reopen", "type", "typed", "typed", "attribute", "scale", "attach",
                       "attach", "attach", "detach"])
    place, free = rng.choice(PLACES), [path for path in PLACES if path not in numbers]
    source = rng.choice(there) if there else None
    above = place.rpartition("/")[0]
    fits = place in free and (not above or kinds.get(above) is h5py.Group)
    datasets = [path for path in there if kinds[path] is h5py.Dataset]
    types = [path for path in there if kinds[path] is h5py.Datatype]
    if kind == "reopen":
        return lambda p: p.reopen()
    if kind in ("make", "group", "type", "typed") and fits and (kind != "typed" or types):
        of = rng.choice(types) if kind == "typed" else "i4"
        if kind == "typed":
            model.types[count, ""] = numbers[of]

        def make(p):
            if kind == "type":
                p.file[place] = np.dtype("i4")
            elif kind == "group":
                p.file.create_group(place)
            else:
                p.file.create_dataset(place, data=[count] * 2, dtype=p.file[of] if kind == "typed" else of)
            p.file[place].attrs["n"] = count
        return make
    if not source:
        return None
    if kind == "remember":
        def remember(p):
            p.memory[int(p.file[source].attrs["n"])] = (p.file[source].ref, p.session)
        return remember
    if kind == "refer":
        holder = rng.choice(["/", *there])
        return lambda p: p.file[holder].attrs.__setitem__(f"r{int(p.file[source].attrs['n'])}", p.file[source].ref)
    if kind == "attribute" and datasets and types:
        holder, of = rng.choice(datasets), rng.choice(types)
        model.types[numbers[holder], "t"] = numbers[of]
        return lambda p: p.file[holder].attrs.create("t", 5, dtype=p.file[of])
    if kind in ("scale", "attach", "detach") and datasets:
        one = rng.choice(datasets)
        number, alive = numbers[one], set(numbers.values())
        if kind == "scale" and not model.scales.get(number) and number not in model.is_scale:
            model.is_scale.add(number)
            return lambda p: p.file[one].make_scale("axis")
        whole = {n for n in model.is_scale  # HDF5 follows all references of a scale back
                 if all(user in alive for user, listed in model.scales.items() if n in listed)}
        scales = [path for path in datasets if numbers[path] in whole and numbers[path] != number]
        listed = model.scales.get(number, [])
        if kind == "attach" and scales and number not in model.is_scale and all(n in alive for n in listed):
            scale = rng.choice(scales)
            if numbers[scale] not in listed:
                model.scales[number] = [*listed, numbers[scale]]
                return lambda p: p.file[one].dims[0].attach_scale(p.file[scale])
        if kind == "detach" and listed and all(n in alive and n in whole for n in listed):
            gone = rng.choice(listed)
            path = next(path for path in there if numbers[path] == gone)
            model.scales[number] = [n for n in listed if n != gone]
            return lambda p: p.file[one].dims[0].detach_scale(p.file[path])
        return None
    if kind == "delete" and rng.random() < 0.6:
        return lambda p: p.file.__delitem__(source)
    store = files[1]
    if kind == "outside" and rng.random() < 0.15:  # nothing in it may have a further link, for that would go, too
        inside = {number for path, number in numbers.items() if is_below(path, source)}
        if inside & {number for path, number in numbers.items() if not is_below(path, source)}:
            return None
        store.reopen()
        if not is_place(store.path, source):
            return None
        return lambda p: p.file.__delitem__(source) if p.is_native else p.reopen(lambda path: move_by_core(path, source, None))
    if not fits or is_below(place, source):
        return None
    if kind == "outside":  # the core moves nodes, and knows no other links
        store.reopen()
        if not is_place(store.path, source) or (above and not is_place(store.path, above)):
            return None
        return lambda p: p.file.move(source, place) if p.is_native else p.reopen(
            lambda path: move_by_core(path, source, place))
    if kind == "move":
        return lambda p: p.file.move(source, place)
    if kind == "link" and kinds[source] is not h5py.Group:
        return lambda p: p.file.__setitem__(place, p.file[source])
    if kind == "copy":
        def copy(p):
            p.file.copy(source, place)
            node, last = p.file[place], count
            nodes = [node] + ([n for _, n in walk(node)] if isinstance(node, h5py.Group) else [])
            typed = []
            for one in nodes:
                for name in [key for key in one.attrs if key.startswith("r") or key in SCALES or key == "t"]:
                    del one.attrs[name]  # HDF5 makes some of them null in copies
                if int(one.attrs["n"]) < count:
                    if isinstance(one, h5py.Dataset) and p.is_native and (int(one.attrs["n"]), "") in model.types:
                        typed.append((last, one.id))
                    one.attrs["n"] = last
                    last += 1
            for number, one in typed:  # the types that were copied with them have their numbers now
                model.types[number, ""] = p.type_of(one)
        return copy
    return None


def run_program(seed, folder, steps=30):
    rng, files, model = random.Random(seed), [Program(folder / f"{seed}.{kind}") for kind in KINDS], Model()
    done = 0
    try:
        for file in files:
            begin(file)
        for i in range(steps):
            act = None
            while act is None:
                act = step(rng, files, model, 100 * (i + 1))
            try:
                act(files[0])
                numbers = files[0].numbers()
            except (KeyError, ValueError) as error:
                if any(text in str(error) for text in FAULTS_OF_HDF5):
                    break
                raise
            done += 1
            act(files[1])
            assert files[1].numbers() == numbers
            if i % 4 == 3:
                alive = set(numbers.values())
                native, store = (file.check(alive, model.scales, model.types) for file in files)
                assert {key: store[key] for key in native} == native
    finally:
        for file in files:
            file.file.close()
    return done
