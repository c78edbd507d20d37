# SPDX-License-Identifier: MIT
"""What holds for copies holds in all directions: programs of chance make the same objects in an HDF5 file and in a
store, and copies of them into a store, from a store, and from a store into an HDF5 file have the same objects.

Links lead to datasets alone: what leads to a group above is refused in a store. Labels of dimensions are not compared:
only copies from HDF5 files keep the names of scales that are not copied as labels.

ZARRBRIDGE_PROGRAMS: how many programs are run; ZARRBRIDGE_SEED: the first one."""

import os
import random

import h5py
import numpy as np

KINDS, WEIGHTS = ("group", "dataset", "hard", "soft", "external", "type", "scale"), (30, 32, 10, 10, 4, 4, 10)
WAYS = (("s.h5", "a.zarr"), ("s.zarr", "b.zarr"), ("s.zarr", "c.h5"))


def add_dataset(group, name, chance, objects):
    kind = chance.choice(("i4", "f8", "S5", h5py.string_dtype(), h5py.ref_dtype))
    shape = chance.choice(((), (4,), (6, 5)))
    chunks = tuple(n // 2 for n in shape) if shape and kind in ("i4", "f8") else None
    filters = {"compression": "gzip"} if chunks and chance.random() < .5 else {}
    dataset = group.create_dataset(name, shape, kind, chunks=chunks, **filters)
    if chunks and chance.random() < .8:
        dataset[...] = np.arange(dataset.size).reshape(shape)
    elif h5py.check_ref_dtype(dataset.dtype) and shape:
        dataset[(0,) * len(shape)] = chance.choice(objects).ref
    return dataset


def attach(chance, datasets):
    """One of them becomes a scale of others."""
    numbers = [one for one in datasets if one.dtype.kind in "if" and one.ndim]
    lines = [one for one in numbers if one.ndim == 1 and not any(len(dim) for dim in one.dims)]
    if not lines:
        return
    scale = chance.choice(lines)
    if not scale.is_scale:
        scale.make_scale(chance.choice(("", "name")))
    for one in numbers:
        if not one.is_scale and chance.random() < .5:
            one.dims[chance.randrange(one.ndim)].attach_scale(scale)


def build(file, chance):
    groups, objects, datasets = [file], [file], []
    track = chance.random() < .6
    for i in range(chance.randint(4, 14)):
        group, name = chance.choice(groups), f"{chance.choice('abcdefghij')}{i}"
        what = chance.choices(KINDS, WEIGHTS)[0]
        if what == "group":
            groups.append(group.create_group(name, track_order=track))
            objects.append(groups[-1])
        elif what == "dataset":
            datasets.append(add_dataset(group, name, chance, objects))
            objects.append(datasets[-1])
        elif what == "hard" and datasets:
            group[name] = chance.choice(datasets)
        elif what == "soft":
            paths = [one.name for one in datasets] + ["/none", "none/x"]
            group[name] = h5py.SoftLink(chance.choice(paths))
        elif what == "external":
            group[name] = h5py.ExternalLink("other.h5", "/x")
        elif what == "type":
            group[name] = np.dtype("i4")
            objects.append(group[name])
        elif what == "scale":
            attach(chance, datasets)
    for one in objects:
        for _ in range(chance.randint(0, 2)):
            value = chance.choice((1, 2.5, "text", np.arange(3), chance.choice(objects).ref))
            one.attrs[f"at{chance.randint(0, 5)}"] = value


def shown(file, value):
    if isinstance(value, h5py.Reference):
        return file[value].name if value else None
    return [shown(file, one) for one in value.ravel()] if isinstance(value, np.ndarray) else str(value)


def content(file, group, path="", seen=None):
    """All links, by paths; each object once."""
    seen = {} if seen is None else seen
    found = {f"{path}/": list(group)}
    for name in sorted(group):
        at, link = f"{path}/{name}", group.get(name, getlink=True)
        if not isinstance(link, h5py.HardLink):
            found[at] = (link.path, getattr(link, "filename", None))
            continue
        one = group[name]
        if one.id in seen:
            found[at] = seen[one.id]
            continue
        seen[one.id] = at
        attributes = {key: shown(file, one.attrs[key]) for key in one.attrs if not key.startswith(("DIM", "REF"))}
        found[at] = [type(one).__name__, attributes]
        if isinstance(one, h5py.Dataset):
            found[at] += [str(one.dtype), one.maxshape, one.chunks, one.compression, shown(file, one[()]),
                          [[scale.name for scale in dim.values()] for dim in one.dims]]
        elif isinstance(one, h5py.Group):
            found.update(content(file, one, at, seen))
    return found


def copied(source, target, top, flags):
    try:
        with h5py.File(source, "r") as old, h5py.File(target, "w") as new:
            old.copy(old[top], new, "c", **flags)
    except RuntimeError as error:
        return type(error)
    with h5py.File(target, "r") as new:
        return content(new, new)


def run(seed, folder):
    names = []
    for source in ("s.h5", "s.zarr"):
        chance = random.Random(seed)
        with h5py.File(folder / source, "w", track_order=chance.random() < .5) as file:
            build(file, chance)
            names = ["/"]
            file.visit(names.append)
    top = chance.choice(sorted(names) + ["/"])
    flags = {flag: chance.random() < .3 for flag in ("shallow", "expand_soft", "without_attrs")}
    first, *others = [copied(folder / source, folder / target, top, flags) for source, target in WAYS]
    for other, way in zip(others, WAYS[1:], strict=True):
        assert other == first, f"program {seed}: {way}, {top}, {flags}"
    return first


def test_copies_are_the_same_in_all_directions(tmp_path):
    first, count = int(os.environ.get("ZARRBRIDGE_SEED", 1)), int(os.environ.get("ZARRBRIDGE_PROGRAMS", 20))
    results = []
    for seed in range(first, first + count):
        folder = tmp_path / str(seed)
        folder.mkdir()
        results.append(run(seed, folder))
    assert sum(isinstance(result, dict) for result in results) > count / 2
