/* SPDX-License-Identifier: MIT */
/*
 * `doctor`: Python's packages, which may bring libraries of HDF5 and GDAL of their own. Each is
 * imported in an interpreter of its own: the python3 that is first on the search path.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "zarrbridge/limits.h"

static const char list_packages[] =
    "import sys, importlib.metadata as metadata\n"
    "print('python=' + sys.version.split()[0])\n"
    "print('place=' + sys.executable)\n"
    "for name in ('h5py', 'netCDF4', 'xarray', 'rasterio', 'zarr', 'zarrbridge'):\n"
    "    try: print(name + '=' + metadata.version(name))\n"
    "    except Exception: pass\n";

static const char ask_h5py[] =
    "import h5py, os\n"
    "print('hdf5=' + h5py.version.hdf5_version)\n"
    "here = os.path.dirname(h5py.__file__)\n"
    "print('kind=' + ('wheel' if os.path.isdir(here + '.libs') else 'built here'))\n"
    "found = [h5py.h5pl.get(i).decode() for i in range(h5py.h5pl.size())]\n"
    "for place in found: print('plugins=' + place)\n"
    "for place in found:\n"
    "    if os.path.exists(os.path.join(place, 'libhdf5_vol_zarr.so')): print('connector=' + "
    "place)\n";

/* The package may have no driver for this GDAL. */
static const char ask_rasterio[] =
    "import rasterio\n"
    "print('gdal=' + rasterio.__gdal_version__)\n"
    "with rasterio.Env() as e: print('driver=%d' % ('Zarr3' in e.drivers()))\n"
    "try:\n"
    "    import zarrbridge\n"
    "    with rasterio.Env() as e: print('after=%d' % ('Zarr3' in e.drivers()))\n"
    "except ImportError: pass\n";

static doctor_probe run_python(const doctor *d, const char *code) {
    return doctor_run(d, (const char *const[]){"python3", "-W", "ignore", "-c", code, NULL});
}

/* True if the package was imported, and tells of itself. */
static bool is_answered(doctor *d, const doctor_probe *probe, const char *package) {
    char *what = doctor_print("python3 with import %s", package);
    char *words = doctor_probe_words(probe);
    const bool crashed = doctor_find_crash(d, probe, what);
    if (!crashed && probe->status != 0)
        doctor_find(d, DOCTOR_ERROR, "import %s fails: %s -> install the package again", package,
                    words ? words : "no reason is given");
    free(words);
    free(what);
    return !crashed && probe->status == 0;
}

static void judge_h5py(doctor *d, const char *hdf5, bool has_connector, bool has_package) {
    const bool is_old = strncmp(hdf5, "1.", 2) == 0 && strtol(hdf5 + 2, NULL, 10) < 14;
    const bool is_v2 = strncmp(hdf5, "1.", 2) != 0;
    if (is_old)
        doctor_find(d, DOCTOR_NOTE,
                    "h5py has HDF5 %s, which has no place for the connector -> pip install -U h5py",
                    hdf5);
    else if (has_package)
        doctor_fact(d, "h5py opens stores after: import zarrbridge");
    else if (!has_connector && doctor_connector_is_named())
        doctor_find(d, DOCTOR_ERROR,
                    "HDF5_VOL_CONNECTOR names the connector zarr, and h5py's HDF5 %s does not find "
                    "it: h5py makes HDF5 files called x.zarr, and 3.16 crashes -> export "
                    "HDF5_PLUGIN_PATH=DIRECTORY of libhdf5_vol_zarr.so, or unset the variable",
                    hdf5);
    else if (!has_connector)
        doctor_find(
            d, DOCTOR_WARN,
            "h5py's HDF5 %s finds no libhdf5_vol_zarr.so -> install the wheel of zarrbridge "
            "and import it first, or export HDF5_PLUGIN_PATH=DIRECTORY of that file",
            hdf5);
    else if (is_v2 && !doctor_connector_is_named())
        doctor_find(d, DOCTOR_WARN,
                    "h5py's HDF5 %s asks the connector only when it is named: stores do not open "
                    "-> export HDF5_VOL_CONNECTOR=zarr, or install the wheel of "
                    "zarrbridge and import it first",
                    hdf5);
}

static void check_h5py(doctor *d, const char *version, bool has_package) {
    doctor_probe probe = run_python(d, ask_h5py);
    if (is_answered(d, &probe, "h5py")) {
        char *hdf5 = doctor_probe_value(&probe, "hdf5", 0);
        char *kind = doctor_probe_value(&probe, "kind", 0);
        char *connector = doctor_probe_value(&probe, "connector", 0);
        doctor_fact(d, "h5py %s (%s, HDF5 %s)", version, kind ? kind : "", hdf5 ? hdf5 : "");
        if (hdf5)
            judge_h5py(d, hdf5, connector != NULL, has_package);
        free(connector);
        free(kind);
        free(hdf5);
    }
    doctor_probe_clear(&probe);
}

static void check_rasterio(doctor *d, const char *version, bool has_package) {
    doctor_probe probe = run_python(d, ask_rasterio);
    if (is_answered(d, &probe, "rasterio")) {
        char *gdal = doctor_probe_value(&probe, "gdal", 0);
        const bool has_driver = doctor_probe_number(&probe, "driver") == 1;
        const bool after_import = doctor_probe_number(&probe, "after") == 1;
        doctor_fact(d, "rasterio %s (GDAL %s)   %s", version, gdal ? gdal : "",
                    has_driver     ? "has the driver Zarr3"
                    : after_import ? "has the driver Zarr3 after: import zarrbridge"
                                   : "has no driver Zarr3");
        if (!has_driver && !after_import)
            doctor_find(d, DOCTOR_WARN,
                        "rasterio's GDAL %s has no driver Zarr3%s -> install a wheel of "
                        "zarrbridge that has it and import it first, or export "
                        "GDAL_DRIVER_PATH=DIRECTORY of a gdal_Zarr3.so for this version",
                        gdal ? gdal : "", has_package ? ", also not after import zarrbridge" : "");
        free(gdal);
    }
    doctor_probe_clear(&probe);
}

void doctor_python(doctor *d) {
    doctor_probe probe = run_python(d, list_packages);
    doctor_begin(d, "python");
    if (probe.is_absent) {
        doctor_fact(d, "there is no python3");
    } else if (is_answered(d, &probe, "importlib.metadata")) {
        char *python = doctor_probe_value(&probe, "python", 0);
        char *place = doctor_probe_value(&probe, "place", 0);
        char *h5py = doctor_probe_value(&probe, "h5py", 0);
        char *rasterio = doctor_probe_value(&probe, "rasterio", 0);
        char *package = doctor_probe_value(&probe, "zarrbridge", 0);
        doctor_fact(d, "%s   %s", python ? python : "", place ? place : "");
        if (package && strcmp(package, zb_version()) != 0)
            doctor_find(d, DOCTOR_WARN,
                        "the package zarrbridge is %s, this program %s -> install both of one "
                        "build",
                        package, zb_version());
        if (h5py)
            check_h5py(d, h5py, package != NULL);
        if (rasterio)
            check_rasterio(d, rasterio, package != NULL);
        free(package);
        free(rasterio);
        free(h5py);
        free(place);
        free(python);
    }
    doctor_probe_clear(&probe);
}
