/* SPDX-License-Identifier: MIT */
/* Property lists: see property_lists.h. */
#include "hdf5/property_lists.h"

#include "hdf5/errors.h"
#include "hdf5/mpi.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* The commonest lists, without a call. */
static bool is_default(const h5_lib *lib, hid_t list, hid_t class) {
    const struct {
        const hid_t *list, *class;
    } of[] = {
        {lib->H5P_LST_LINK_CREATE_ID_g, lib->H5P_CLS_LINK_CREATE_ID_g},
        {lib->H5P_LST_GROUP_CREATE_ID_g, lib->H5P_CLS_GROUP_CREATE_ID_g},
        {lib->H5P_LST_GROUP_ACCESS_ID_g, lib->H5P_CLS_GROUP_ACCESS_ID_g},
        {lib->H5P_LST_DATASET_CREATE_ID_g, lib->H5P_CLS_DATASET_CREATE_ID_g},
        {lib->H5P_LST_DATASET_ACCESS_ID_g, lib->H5P_CLS_DATASET_ACCESS_ID_g},
    };
    const hid_t by_default = 0; /* H5P_DEFAULT, a macro that may call the library */
    if (list == by_default || list == *lib->H5P_LST_LINK_ACCESS_ID_g ||
        list == *lib->H5P_LST_ATTRIBUTE_ACCESS_ID_g)
        return true;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (list == *of[i].list)
            return class == *of[i].class;
    return false;
}

bool vol_list_check(h5_lib *lib, hid_t list, hid_t class) {
    if (is_default(lib, list, class))
        return true;
    if (lib->H5Pisa_class(list, class) > 0)
        return true;
    VOL_PUSH(lib, VOL, BADTYPE, "a property list is not valid, or of another class");
    return false;
}

/* ---- Lists of files ---- */

/* ---- File drivers ---- */

/* HDF5 has no stable names for the ids of its drivers, so that one is asked from a list which has
   been given that driver. */
static bool has_driver(h5_lib *lib, hid_t driver, herr_t (*set)(hid_t fapl)) {
    hid_t other = lib->H5Pcreate(*lib->H5P_CLS_FILE_ACCESS_ID_g);
    bool same = other >= 0 && set(other) >= 0 && lib->H5Pget_driver(other) == driver;
    vol_release_id(lib, other);
    return same;
}

static bool is_core(h5_lib *lib, hid_t driver) {
    hid_t other = lib->H5Pcreate(*lib->H5P_CLS_FILE_ACCESS_ID_g);
    bool same = other >= 0 && lib->H5Pset_fapl_core(other, 4096, true) >= 0 &&
                lib->H5Pget_driver(other) == driver;
    vol_release_id(lib, other);
    return same;
}

static enum vol_driver kind_of_core(h5_lib *lib, hid_t fapl) {
    size_t increment, image = 0;
    bool backing = true;
    if (lib->H5Pget_file_image(fapl, NULL, &image) >= 0 && image > 0)
        return VOL_DRIVER_IMAGE;
    bool in_memory = lib->H5Pget_fapl_core(fapl, &increment, &backing) >= 0 && !backing;
    return in_memory ? VOL_DRIVER_MEMORY : VOL_DRIVER_FILE;
}

enum vol_driver vol_fapl_driver(h5_lib *lib, hid_t fapl) {
    hid_t usual = *lib->H5P_LST_FILE_ACCESS_ID_g;
    if (fapl == usual)
        return VOL_DRIVER_FILE;
    hid_t driver = lib->H5Pget_driver(fapl);
    if (driver == lib->H5Pget_driver(usual) || h5_mpi_is_driver(lib, driver) ||
        has_driver(lib, driver, lib->H5Pset_fapl_sec2) ||
        has_driver(lib, driver, lib->H5Pset_fapl_stdio))
        return VOL_DRIVER_FILE;
    return is_core(lib, driver) ? kind_of_core(lib, fapl) : VOL_DRIVER_OTHER;
}

bool vol_fapl_is_sec2(h5_lib *lib, hid_t fapl) {
    return has_driver(lib, lib->H5Pget_driver(fapl), lib->H5Pset_fapl_sec2);
}

static bool check_driver(h5_lib *lib, hid_t fapl, bool writable) {
    const enum vol_driver driver = vol_fapl_driver(lib, fapl);
    if (driver == VOL_DRIVER_OTHER)
        VOL_PUSH(lib, FILE, UNSUPPORTED,
                 "the file driver of this access list keeps HDF5's own format; a Zarr store is a "
                 "directory, and wants the default driver (or sec2, stdio, core)");
    else if (driver == VOL_DRIVER_MEMORY && writable)
        VOL_PUSH(
            lib, FILE, UNSUPPORTED,
            "changes of a Zarr store cannot stay in memory (H5Pset_fapl_core without a backing "
            "store): open it for reading, or copy it first");
    else
        return true;
    return false;
}

/* ---- Other properties ---- */

static bool writes_cache_log(h5_lib *lib, hid_t fapl) {
    bool enabled = false;
    size_t size = 0;
    return lib->H5Pexist(fapl, "use_mdc_logging") > 0 &&
           lib->H5Pget_size(fapl, "use_mdc_logging", &size) >= 0 && size == sizeof enabled &&
           lib->H5Pget(fapl, "use_mdc_logging", &enabled) >= 0 && enabled;
}

bool vol_fapl_check(h5_lib *lib, hid_t fapl, bool writable) {
    if (fapl == *lib->H5P_LST_FILE_ACCESS_ID_g)
        return true;
    if (!check_driver(lib, fapl, writable))
        return false;
    if (!writes_cache_log(lib, fapl))
        return true;
    vol_refuse(lib, "a log of the metadata cache (H5Pset_mdc_log_options)");
    return false;
}

/* ---- netCDF ---- */

typedef struct netcdf_search {
    unsigned skipped; /* that many libraries of the name come before */
    char *path;       /* malloc'ed */
} netcdf_search;

static int find_netcdf(struct dl_phdr_info *library, size_t size, void *context) {
    netcdf_search *search = context;
    const char *slash = strrchr(library->dlpi_name, '/');
    (void)size;
    if (strncmp(slash ? slash + 1 : library->dlpi_name, "libnetcdf", 9) != 0)
        return 0;
    if (search->skipped > 0) {
        search->skipped--;
        return 0;
    }
    search->path = strdup(library->dlpi_name);
    return 1;
}

/* The cache of chunks that netCDF gives its files: libraries that merely have netCDF loaded, as
   GDAL does, do not know it. */
typedef struct chunk_cache {
    size_t size, count;
} chunk_cache;

static bool is_cache_of(const char *path, const chunk_cache *cache) {
    typedef int get_chunk_cache(size_t *, size_t *, float *);
    chunk_cache own = {0};
    float preemption;
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    get_chunk_cache *get = NULL;
    if (library)
        *(void **)&get = dlsym(library, "nc_get_chunk_cache");
    const bool is_own = get && get(&own.size, &own.count, &preemption) == 0 &&
                        own.size == cache->size && own.count == cache->count;
    if (library)
        dlclose(library);
    return is_own;
}

bool vol_fapl_is_netcdf(h5_lib *lib, hid_t fapl) {
    H5F_close_degree_t degree = H5F_CLOSE_DEFAULT;
    chunk_cache cache;
    int unused;
    double preemption;
    bool is_netcdf = false;
    if (lib->H5Pget_fclose_degree(fapl, &degree) < 0 ||
        (degree != H5F_CLOSE_WEAK && degree != H5F_CLOSE_SEMI) ||
        lib->H5Pget_cache(fapl, &unused, &cache.count, &cache.size, &preemption) < 0)
        return false;
    for (unsigned i = 0; i < 8 && !is_netcdf; i++) {
        netcdf_search search = {.skipped = i};
        if (dl_iterate_phdr(find_netcdf, &search) == 0 || !search.path)
            break;
        is_netcdf = is_cache_of(search.path, &cache);
        free(search.path);
    }
    return is_netcdf;
}

bool vol_fapl_read(h5_lib *lib, hid_t fapl, vol_manners *out) {
    *out = (vol_manners){.close_degree = H5F_CLOSE_WEAK};
    if (fapl == *lib->H5P_LST_FILE_ACCESS_ID_g)
        return true;
    lib->H5Pget_fclose_degree(fapl, &out->close_degree);
    lib->H5Pget_object_flush_cb(fapl, &out->flushed, &out->flushed_context);
    if (out->close_degree == H5F_CLOSE_DEFAULT)
        out->close_degree = H5F_CLOSE_WEAK; /* as with HDF5's drivers for single files */
    out->list = lib->H5Pcopy(fapl);
    return out->list >= 0;
}

bool vol_manners_copy(h5_lib *lib, const vol_manners *from, vol_manners *out) {
    *out = *from;
    if (from->list > 0)
        out->list = lib->H5Pcopy(from->list);
    return out->list >= 0;
}

void vol_manners_clear(h5_lib *lib, vol_manners *manners) {
    if (manners->list > 0)
        vol_release_id(lib, manners->list);
    manners->list = 0;
}

hid_t vol_fapl_new(h5_lib *lib, const vol_manners *manners) {
    hid_t fapl = manners->list > 0 ? lib->H5Pcopy(manners->list)
                                   : lib->H5Pcreate(*lib->H5P_CLS_FILE_ACCESS_ID_g);
    if (fapl >= 0 && lib->H5Pset_fclose_degree(fapl, manners->close_degree) >= 0)
        return fapl;
    vol_release_id(lib, fapl);
    return -1;
}

bool vol_fcpl_check(h5_lib *lib, hid_t fcpl) {
    hsize_t block = 0;
    if (fcpl == *lib->H5P_LST_FILE_CREATE_ID_g)
        return true;
    if (lib->H5Pget_userblock(fcpl, &block) < 0)
        return false;
    if (block == 0)
        return true;
    vol_refuse(lib, "a user block (H5Pset_userblock)");
    return false;
}

bool vol_dapl_check(h5_lib *lib, hid_t dapl) {
    H5D_append_cb_t call = NULL;
    hsize_t boundary[H5S_MAX_RANK];
    if (dapl == H5P_DEFAULT || dapl == *lib->H5P_LST_DATASET_ACCESS_ID_g)
        return true;
    if (lib->H5Pget_append_flush(dapl, H5S_MAX_RANK, boundary, &call, NULL) < 0)
        return false;
    if (!call)
        return true;
    vol_refuse(lib, "a callback for appended data (H5Pset_append_flush)");
    return false;
}
