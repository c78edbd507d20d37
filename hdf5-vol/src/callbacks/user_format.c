/* SPDX-License-Identifier: MIT */
/*
 * A user-defined format of netCDF-C, from its version 4.10.1 on: three lines of `.ncrc` name this
 * library, the function at the end of this file, and the first byte of x.zarr/zarr.json. netCDF
 * opens such files by the table of functions that it gets here.
 *
 * The table is that of netCDF's own functions for HDF5 files, but for those that open and create:
 * they see to it that netCDF reaches the connector, without the variable HDF5_VOL_CONNECTOR, and
 * call netCDF's own. Files that are no stores are opened, or refused, as HDF5 does that.
 *
 * Nothing of netCDF is linked: its functions are those of the library that calls.
 */
#include "callbacks/classes.h"
#include "file/names.h"
#include "zarrbridge/location.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- netCDF's table (netcdf_dispatch.h) ---- */

#define TABLE_VERSION 5
#define TABLE_FUNCTIONS 77

#define NC_OK 0
#define NC_ENOTNC (-51)
#define NC_ENOMEM (-61)
#define NC_EHDFERR (-101)
#define NC_ENOTBUILT (-128)

typedef struct nc_table nc_table;
typedef int nc_open(const char *path, int mode, int basepe, size_t *chunk_size, void *parameters,
                    const nc_table *table, int ncid);
typedef int nc_create(const char *path, int mode, size_t initial_size, int basepe,
                      size_t *chunk_size, void *parameters, const nc_table *table, int ncid);

struct nc_table {
    int model;
    int version;
    nc_create *create;
    nc_open *open;
    void (*others[TABLE_FUNCTIONS - 2])(void);
};

/* A libnetcdf that has asked. It keeps the table for the life of the process. */
typedef struct netcdf {
    nc_table table; /* the first member: netCDF hands it back */
    /* The variable that leads to its functions for HDF5 files. It is set when netCDF has started,
       which is after it has read .ncrc. */
    const nc_table *const *native;
    const void *hdf5; /* an address in the libhdf5 that it calls */
} netcdf;

/* ---- Access lists ---- */

/*
 * netCDF makes the access list of a file itself, and HDF5 has no call to say what connector new
 * lists name. So the id of the class of such lists, a variable of HDF5, leads to a class of our own
 * until netCDF makes its list: that is of both classes, and names the connector. That is the next
 * call of HDF5 that netCDF makes, so the time is short in which another thread that calls the same
 * libhdf5 (netCDF has no use for threads itself) would be told that its access list is none.
 */
typedef struct access_lists {
    h5_lib *lib;
    hid_t connector, class, before;
    pthread_t thread;
} access_lists;

static void set_class(const h5_lib *lib, hid_t class) {
    *(hid_t *)(uintptr_t)lib->H5P_CLS_FILE_ACCESS_ID_g = class;
}

/* Where HDF5 has started with HDF5_VOL_CONNECTOR its lists do, and have options. */
static bool names_connector(const access_lists *lists, hid_t list) {
    hid_t named = -1;
    int difference = 1;
    if (lists->lib->H5Pget_vol_id(list, &named) < 0)
        return false;
    const bool is_known =
        lists->lib->H5VLcmp_connector_cls(&difference, named, lists->connector) >= 0;
    lists->lib->H5VLclose(named);
    return is_known && difference == 0;
}

/* HDF5 calls this with a list of our class that it has made. */
static herr_t name_connector(hid_t list, void *context) {
    const access_lists *lists = context;
    if (!pthread_equal(lists->thread, pthread_self())) /* not netCDF's */
        return 0;
    set_class(lists->lib, lists->before);
    return names_connector(lists, list) ? 0 : lists->lib->H5Pset_vol(list, lists->connector, NULL);
}

/* One list at a time: two would take each other's class for that of before. */
static pthread_mutex_t lists_lock = PTHREAD_MUTEX_INITIALIZER;

static void end_lists(access_lists *lists) {
    if (lists->class >= 0) {
        set_class(lists->lib, lists->before);
        lists->lib->H5Pclose_class(lists->class);
    }
    if (lists->connector >= 0)
        lists->lib->H5VLclose(lists->connector);
    pthread_mutex_unlock(&lists_lock);
}

static bool begin_lists(const netcdf *nc, access_lists *lists) {
    unsigned version[3];
    h5_lib *lib = h5_lib_bind(nc->hdf5);
    if (!lib || lib->H5get_libversion(&version[0], &version[1], &version[2]) < 0) /* starts HDF5 */
        return false;
    vol_start(lib);
    pthread_mutex_lock(&lists_lock);
    *lists = (access_lists){.lib = lib,
                            .connector = lib->H5VLregister_connector(vol_class_of(lib), 0),
                            .before = *lib->H5P_CLS_FILE_ACCESS_ID_g,
                            .thread = pthread_self()};
    lists->class = lists->connector < 0
                       ? -1
                       : lib->H5Pcreate_class(lists->before, "file access of a Zarr store",
                                              name_connector, lists, NULL, NULL, NULL, NULL);
    if (lists->class >= 0)
        set_class(lib, lists->class);
    else
        end_lists(lists);
    return lists->class >= 0;
}

/* ---- Names ---- */

/* A URL ends with what tells netCDF its format (#mode=udf0), and may be that of a file here.
   malloc'ed. */
static char *plain_name(const char *path) {
    static const char file[] = "file://";
    const bool is_file = strncmp(path, file, sizeof file - 1) == 0;
    if (!is_file && !zb_name_is_url(path))
        return strdup(path);
    return strndup(path + (is_file ? sizeof file - 1 : 0),
                   strcspn(path, "#") - (is_file ? sizeof file - 1 : 0));
}

static bool is_store(const char *name) {
    char *plain = vol_filename_plain(name);
    const bool is =
        plain && vol_filename_is_zarr(plain) && vol_filename_look(plain, NULL, NULL) == ZB_OK;
    free(plain);
    return is;
}

/* ---- The functions ---- */

/* netCDF's own functions, and in the table all that are not ours. NULL where they cannot be used:
   before netCDF has started, or in a later version with another table. */
static const nc_table *own_functions(netcdf *nc) {
    const nc_table *own = *nc->native;
    if (!own || own->version != TABLE_VERSION)
        return NULL;
    memcpy(nc->table.others, own->others, sizeof own->others);
    return own;
}

static int open_file(const char *path, int mode, int basepe, size_t *chunk_size, void *parameters,
                     const nc_table *table, int ncid) {
    netcdf *nc = (netcdf *)(uintptr_t)table;
    access_lists lists;
    const nc_table *own = own_functions(nc);
    if (!own || !begin_lists(nc, &lists))
        return NC_ENOTBUILT;
    char *name = plain_name(path);
    int status =
        name ? own->open(name, mode, basepe, chunk_size, parameters, table, ncid) : NC_ENOMEM;
    end_lists(&lists);
    if (status == NC_EHDFERR && !is_store(name))
        status = NC_ENOTNC;
    free(name);
    return status;
}

static int create_file(const char *path, int mode, size_t initial_size, int basepe,
                       size_t *chunk_size, void *parameters, const nc_table *table, int ncid) {
    netcdf *nc = (netcdf *)(uintptr_t)table;
    access_lists lists;
    const nc_table *own = own_functions(nc);
    if (!own || !begin_lists(nc, &lists))
        return NC_ENOTBUILT;
    char *name = plain_name(path);
    const int status =
        name ? own->create(name, mode, initial_size, basepe, chunk_size, parameters, table, ncid)
             : NC_ENOMEM;
    end_lists(&lists);
    free(name);
    return status;
}

/* ---- The entry point ---- */

static netcdf *refuse(const char *why) {
    fprintf(
        stderr,
        "zarrbridge: Zarr stores are not opened by netCDF: %s. `zarrbridge netcdf --remove` takes "
        "its lines out of .ncrc\n",
        why);
    return NULL;
}

static netcdf *make(void *library) {
    netcdf *nc = calloc(1, sizeof *nc);
    if (!nc)
        return refuse("no memory");
    nc->native = dlsym(library, "HDF5_dispatch_table");
    nc->hdf5 = dlsym(library, "H5open"); /* in the libraries that it depends on, too */
    if (nc->native && nc->hdf5 && (!*nc->native || (*nc->native)->version == TABLE_VERSION)) {
        nc->table.version = TABLE_VERSION; /* netCDF compares it with its own */
        nc->table.create = create_file;
        nc->table.open = open_file;
        return nc;
    }
    const bool is_built = nc->native && nc->hdf5;
    free(nc);
    return refuse(is_built ? "its table of functions is of a version that is not known"
                           : "the library that asks is no shared libnetcdf with HDF5");
}

/* Called by netCDF when it starts, by its name in .ncrc. The table, or NULL. */
H5PLUGIN_DLL const void *zarrbridge_netcdf(void);

H5PLUGIN_DLL const void *zarrbridge_netcdf(void) {
    Dl_info info;
    void *library = dladdr(__builtin_return_address(0), &info)
                        ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                        : NULL;
    const netcdf *nc = library ? make(library) : refuse("the library that asks is not known");
    if (library)
        dlclose(library);
    return nc ? &nc->table : NULL;
}
