# SPDX-License-Identifier: MIT
"""Programs that keep their data in HDF5, unchanged, on stores: each script runs on an HDF5 file, too, and prints the
same. Their packages are installed once, under build/packages; without a package index these tests are skipped
and say so."""

import os
import subprocess
import sys

import h5py
import numpy as np
import pytest
import zarr
from conftest import run_new_python

sys.path.append(os.environ["ZARRBRIDGE_SOURCE_DIR"] + "/tests/interop")
from venvs import venv  # noqa: E402

PACKAGES = ("anndata==0.13.4", "mat73==0.65", "nexusformat==2.1.0", "pandas==3.1.1", "pynwb==4.2.0", "tables==3.11.1")

ANNDATA = """
import sys, anndata as ad, numpy as np, pandas as pd, scipy.sparse as sp
words = np.array(["a", "\\u00fc", ""], object)
obs = pd.DataFrame({"c": pd.Categorical(["a", "b"] * 25), "n": np.arange(50.0), "s": [f"w{i}" for i in range(50)],
                    "b": [True, False] * 25}, index=[f"cell{i}" for i in range(50)])
a = ad.AnnData(sp.random(50, 20, 0.2, "csr", dtype="f4", random_state=0), obs,
               pd.DataFrame(index=[f"g{i}" for i in range(20)]))
a.obsm["p"], a.layers["d"], a.obsp["g"] = np.arange(150.0).reshape(50, 3), np.ones((50, 20)), sp.eye(50, format="csc")
a.uns["x"] = {"k": "v", "n": 3, "words": words, "nested": {"f": 1.5}, "rec": np.array([(1, 2.5)], "i4,f8")}
a.raw = a.copy()
a.write_h5ad(sys.argv[1], compression="gzip")
b = ad.read_h5ad(sys.argv[1])
assert (a.X != b.X).nnz == 0 and (a.raw.X != b.raw.X).nnz == 0 and (a.obsp["g"] != b.obsp["g"]).nnz == 0
pd.testing.assert_frame_equal(a.obs, b.obs); pd.testing.assert_frame_equal(a.var, b.var)
assert (a.obsm["p"] == b.obsm["p"]).all() and (a.layers["d"] == b.layers["d"]).all()
assert list(b.uns["x"]["words"]) == list(words) and b.uns["x"]["nested"] == {"f": 1.5}
backed = ad.read_h5ad(sys.argv[1], backed="r+")
print(type(backed.X).__name__, backed.X[3:5].toarray().sum(), b.uns["x"]["rec"], b.uns["x"]["k"])
backed.file.close()
"""

# PyTables opens regular files alone: that of a store is its document.
TABLES = """
import os, sys, numpy as np, tables as tb
path, again = sys.argv[1], sys.argv[1] + "/zarr.json" if sys.argv[1].endswith(".zarr") else sys.argv[1]
class Row(tb.IsDescription):
    name = tb.StringCol(8); n = tb.Int32Col(); x = tb.Float64Col(shape=(2,))
with tb.open_file(path, "w", title="T") as h:
    g = h.create_group("/", "g", "G"); t = h.create_table(g, "t", Row, filters=tb.Filters(5, "zlib"))
    for i in range(20):
        t.row["name"] = f"n{i}"; t.row["n"] = i; t.row["x"] = [i, 2 * i]; t.row.append()
    t.flush(); t.cols.n.create_index()
    a = h.create_array(g, "a", np.arange(12).reshape(3, 4)); a.attrs.q = {"pickled": 1}
    h.create_carray("/", "c", obj=np.ones((5, 5))); h.create_soft_link("/", "sl", "/g/a")
    h.create_earray("/", "e", tb.Float32Atom(), (0, 3)).append(np.ones((2, 3), "f4"))
    v = h.create_vlarray("/", "v", tb.Int32Atom()); v.append([1, 2, 3]); v.append([4])
with tb.open_file(again, "r+") as h:
    assert [r["n"] for r in h.root.g.t.where("n > 17")] == [18, 19] and h.root.v[0].tolist() == [1, 2, 3]
    h.root.e.append(np.zeros((1, 3), "f4")); h.root.g.t.remove_rows(0, 5)
    assert h.root.g.a.attrs.q == {"pickled": 1} and h.root.sl()[2, 3] == 11
with tb.open_file(again) as h:
    print(h.title, h.root.e.shape, h.root.g.t[0], h.root.g.t.nrows, [n._v_pathname for n in h.walk_nodes()])
"""

PANDAS = """
import sys, numpy as np, pandas as pd
path, again = sys.argv[1], sys.argv[1] + "/zarr.json" if sys.argv[1].endswith(".zarr") else sys.argv[1]
df = pd.DataFrame({"a": np.arange(5), "b": list("vwxyz"), "c": np.linspace(0, 1, 5),
                   "t": pd.date_range("2020", periods=5)})
with pd.HDFStore(path, "w") as h:
    h.put("fixed", df, track_times=False); h.put("series", df["c"], track_times=False)
    h.put("table", df, format="table", data_columns=["a"], track_times=False); h.append("table", df)
with pd.HDFStore(again, "a") as h:
    h.append("table", df[:2]); h.put("late", df["a"], track_times=False)
pd.testing.assert_frame_equal(pd.read_hdf(again, "fixed"), df)
pd.testing.assert_series_equal(pd.read_hdf(again, "series"), df["c"])
with pd.HDFStore(again, "r") as h:
    print(h.keys(), len(h["table"]), h.select("table", "a > 2"), h["late"].sum())
"""

NEXUS = """
import sys, numpy as np
from nexusformat.nexus import *
x = np.arange(10.0)
e = NXentry(NXdata(NXfield(x**2, name="y", units="counts"), NXfield(x, name="x")),
            sample=NXsample(temperature=NXfield(40.0, units="K"), name="s"), title="t")
e["link"] = NXlink("data/x")
NXroot(e).save(sys.argv[1], "w")
r = nxload(sys.argv[1], "rw"); r.entry.sample.temperature = 50.0; r.entry["new"] = NXfield(np.eye(3)); r = None
r = nxload(sys.argv[1]); print(r.entry.tree, r.entry.data.y.nxdata, r.entry.new.nxdata.trace())
"""

MAT73 = """
import logging, sys, h5py, mat73, numpy as np
logging.disable()  # it warns of names that do not end in .mat
def put(where, name, data, kind, **attributes):
    where[name] = data
    for key, value in (attributes | {"MATLAB_class": np.bytes_(kind)}).items():
        where[name].attrs[key] = value
with h5py.File(sys.argv[1], "w") as f:
    put(f, "x", np.arange(6.0).reshape(2, 3), "double"); put(f, "b", np.uint8([[1]]), "logical")
    put(f, "s", np.frombuffer("hello".encode("utf-16le"), "u2").reshape(5, 1), "char", MATLAB_int_decode=np.int32(2))
    put(f, "st/a", np.ones((1, 1)), "double"); f["st"].attrs["MATLAB_class"] = np.bytes_("struct")
print(mat73.loadmat(sys.argv[1]))
"""

PYNWB = """
import sys, warnings, numpy as np; warnings.simplefilter("ignore")
from datetime import datetime, timezone
from pynwb import NWBFile, NWBHDF5IO, TimeSeries
n = NWBFile("s", "id1", datetime(2020, 1, 1, tzinfo=timezone.utc), experimenter=["A B"])
n.add_acquisition(TimeSeries(name="t", data=np.arange(100.0), unit="m", rate=10.0))
n.add_trial_column("c", "d"); n.add_trial(0.0, 1.0, c="x"); n.add_trial(1.0, 2.0, c="y")
g = n.create_electrode_group("eg", "x", "l", n.create_device(name="dev"))
for _ in range(4): n.add_electrode(group=g, location="l")
n.add_unit(spike_times=[1.0, 2.0]); n.add_unit(spike_times=[1.0, 2.0, 3.0])
with NWBHDF5IO(sys.argv[1], "w") as io: io.write(n)
with NWBHDF5IO(sys.argv[1], "r") as io:
    m = io.read()
    print(m.acquisition["t"].data[:].sum(), m.trials[:], m.units["spike_times"][1], m.electrodes[:]["location"])
"""

# It takes no file whose name does not end in .h5.
KERAS_PACKAGES = ("keras==3.15.1", "jax==0.12.0.1", "scipy==1.18.1")

KERAS = """
import os, sys
os.environ["KERAS_BACKEND"] = "numpy"  # which takes some functions from jax
import keras, numpy as np
def model():
    keras.utils.set_random_seed(1)
    dense = [keras.layers.Dense(n, activation="relu") for n in (8, 2)]
    return keras.Sequential([keras.layers.Input((4,)), dense[0], keras.layers.BatchNormalization(), dense[1]])
a, b = model(), model()
a.set_weights([w + np.float32(0.1) for w in a.get_weights()])
a.save_weights(sys.argv[1] + ".weights.h5"); b.load_weights(sys.argv[1] + ".weights.h5")
keras.saving.save_model(a, sys.argv[1] + ".h5")
c = keras.saving.load_model(sys.argv[1] + ".h5", compile=False)
assert all((w == v).all() and (w == u).all() for w, v, u in zip(a.get_weights(), b.get_weights(), c.get_weights()))
print(os.path.isdir(sys.argv[1] + ".h5"), a.predict(np.ones((1, 4), "f4"), verbose=0).tolist())
"""

# These three open files alone, and add no suffix to their names.
DOOR_PACKAGES = ("cooler==0.11.0", "gwpy==4.1.0", "h5io==0.2.5")

H5IO = """
import sys, h5io, numpy as np
h5io.write_hdf5(sys.argv[1], {"a": np.arange(4), "b": [1, "x\u00e9", None], "c": {"d": 1.5}}, overwrite=True)
print(h5io.read_hdf5(sys.argv[1]))
"""

# Its read() opens the file itself, and hands h5py a Python file: that shows the door.
GWPY = """
import sys, h5py, numpy as np
from gwpy.timeseries import TimeSeries
TimeSeries(np.arange(16.0), sample_rate=4, t0=10, unit="m", name="n").write(sys.argv[1], path="s")
TimeSeries(np.ones(8), name="more").write(sys.argv[1], path="g/more", append=True)
with h5py.File(sys.argv[1]) as file:
    print(repr(TimeSeries.read(file, "s")), repr(TimeSeries.read(file, "g/more")))
"""

COOLER = """
import sys, cooler, numpy as np, pandas as pd
bins = pd.DataFrame({"chrom": ["a"] * 4 + ["b"] * 3, "start": [0, 10, 20, 30, 0, 10, 20],
                     "end": [10, 20, 30, 40, 10, 20, 30]})
pixels = pd.DataFrame({"bin1_id": [0, 0, 1, 5], "bin2_id": [0, 3, 2, 6], "count": [5, 1, 2, 9]})
cooler.create_cooler(sys.argv[1], bins, pixels, ordered=True)
made = cooler.Cooler(sys.argv[1])
print(made.info["nbins"], made.chromsizes.to_dict(), made.matrix(balance=False)[:].tolist(), made.pixels()[:])
cooler.balance_cooler(made, min_nnz=0, mad_max=0, store=True, ignore_diags=0)
print(made.bins()[:])
"""

FILE_PROGRAMS = {"tables": TABLES, "pandas": PANDAS, "h5io": H5IO, "gwpy": GWPY, "cooler": COOLER}

PROGRAMS = {"anndata": ANNDATA, "tables": TABLES, "pandas": PANDAS, "nexusformat": NEXUS, "mat73": MAT73,
            "pynwb": PYNWB}

VIEWER_PACKAGES = ("silx==3.1.3", "h5glance==0.9.0")

SILX = """
import sys, silx.io
with silx.io.open(sys.argv[1]) as f:
    print(sorted(f["g"]), f["g/d"][()].tolist(), f["g"].attrs["a"])
print(silx.io.get_data(f"silx:{sys.argv[1]}?/g/d").tolist())
"""

H5GLANCE = """
import sys
from h5glance.terminal import main
for names in ([], ["g/d"]):
    main([sys.argv[1], *names])
"""

VIEWERS = {"silx": SILX, "h5glance": H5GLANCE}


@pytest.fixture(scope="module")
def python():
    return venv("programs", *PACKAGES, system=True)


@pytest.mark.parametrize("name", VIEWERS)
def test_viewers_show_what_a_path_to_a_file_leads_to(tmp_path, name):
    python = venv("viewers", *VIEWER_PACKAGES, system=True)
    for path in ("x.h5", "x.zarr", "x.zarr.zip"):
        with h5py.File(tmp_path / path, "w") as f:
            f["g/d"] = np.arange(4)
            f["g/text"] = "words"
            f["g"].attrs["a"] = 3
    subprocess.run([os.environ["ZARRBRIDGE_PROGRAM"], "door", tmp_path / "x.zarr"], check=True, capture_output=True)
    shown = [run_new_python(VIEWERS[name], tmp_path / path, python=python, connector="zarr").replace(str(tmp_path), "")
             for path in ("x.h5", "x.zarr/zarr.json", "x.zarr.zip", "x.nc")]
    assert "[0, 1, 2, 3]" in shown[0] or "[0 1 2 3]" in shown[0]
    for name in ("x.zarr.zip", "x.zarr", "x.nc"):
        shown = [text.replace(name, "x.h5") for text in shown]
    assert shown == 4 * shown[:1]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_as_on_an_hdf5_file(python, tmp_path, name):
    printed = [run_new_python(PROGRAMS[name], tmp_path / path, python=python, connector="zarr")
               for path in ("x.h5", "x.zarr")]
    assert printed[0] and printed[0] == printed[1]
    assert (tmp_path / "x.h5").is_file() and (tmp_path / "x.zarr" / "zarr.json").is_file()


@pytest.mark.parametrize("name", FILE_PROGRAMS)
def test_programs_that_insist_on_a_file_make_and_read_doors(tmp_path, request, name):
    has_own = name in PROGRAMS
    python = request.getfixturevalue("python") if has_own else venv("doors", *DOOR_PACKAGES, system=True)
    printed = []
    for way, connector in (("native", None), ("door", "zarr store=door")):
        (tmp_path / way).mkdir()
        printed.append(run_new_python(FILE_PROGRAMS[name], "x.h5", python=python, connector=connector,
                                      plugins=bool(connector), cwd=tmp_path / way))
    assert printed[0] and printed[0] == printed[1]
    assert (tmp_path / "native/x.h5").is_file() and (tmp_path / "door/x.h5.zarr").is_dir()


def test_keras_keeps_weights_and_models_in_stores(tmp_path):
    python = venv("keras", *KERAS_PACKAGES, system=True)
    code = KERAS.replace("import keras", "import logging; logging.disable(); import keras")  # it calls .h5 legacy
    native, stored = (run_new_python(code, tmp_path / name, python=python, connector=connector)
                      for name, connector in (("native", None), ("stored", "zarr store=all")))
    assert native.split(" ", 1) == ["False", stored.split(" ", 1)[1]] and stored.startswith("True ")
    group = zarr.open_group(str(tmp_path / "stored.weights.h5"), mode="r")
    assert group["layers/dense/vars/0"].shape == (4, 8)


def test_other_programs_read_a_table_of_pandas(python, tmp_path):
    run_new_python(PANDAS, tmp_path / "x.zarr", python=python, connector="zarr")
    array = zarr.open_group(str(tmp_path / "x.zarr"), mode="r")["series/values"]
    assert np.array_equal(array[...], np.linspace(0, 1, 5))
