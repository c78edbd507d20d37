/* SPDX-License-Identifier: MIT */
/* Ids and the objects behind them: see open_ids.h. */
#include "objects/open_ids.h"

#include "hdf5/shadows.h"

#include <stdint.h>
#include <stdlib.h>

/* ---- Matching ---- */

/* While `capturing`, get_object answers with the object itself and notes it: that is how ids are
   matched with our objects (H5VLobject would else return the shadow). */
static _Thread_local bool capturing;
static _Thread_local const vol_object *captured;

typedef struct id_query {
    h5_lib *lib;
    const vol_object *object; /* whose file; NULL for all Zarr objects */
    bool local;               /* only ids of the same open handle */
    size_t max, count;
    hid_t *ids; /* may be NULL */
} id_query;

/* H5VLobject fails on ids that no connector has; that is fine. */
const vol_object *vol_object_of_id(h5_lib *lib, hid_t id) {
    if (lib->H5Iget_type(id) == H5I_DATATYPE && lib->H5Tcommitted(id) <= 0)
        return NULL;
    capturing = true;
    captured = NULL;
    lib->H5VLobject(id);
    capturing = false;
    return captured;
}

/* Called for each id of one type. */
static herr_t match_id(hid_t id, void *context) {
    id_query *query = context;
    const vol_object *found = vol_object_of_id(query->lib, id);
    if (!found || !found->file)
        return 0;
    const vol_object *object = query->object;
    if (object && (query->local ? found->handle != object->handle
                                : found->file->number != object->file->number))
        return 0;
    if (query->ids) {
        if (query->count == query->max)
            return 1; /* enough: ends the iteration */
        query->ids[query->count] = id;
    }
    query->count++;
    return 0;
}

static void match_ids(id_query *query, unsigned types) {
    static const struct {
        unsigned flag;
        H5I_type_t type;
    } kinds[] = {{H5F_OBJ_FILE, H5I_FILE},
                 {H5F_OBJ_GROUP, H5I_GROUP},
                 {H5F_OBJ_DATASET, H5I_DATASET},
                 {H5F_OBJ_DATATYPE, H5I_DATATYPE},
                 {H5F_OBJ_ATTR, H5I_ATTR}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (types & kinds[i].flag)
            query->lib->H5Iiterate(kinds[i].type, match_id, query);
}

size_t vol_object_ids(const vol_object *object, unsigned types, size_t max, hid_t *ids) {
    id_query query = {.lib = object->lib,
                      .object = object,
                      .local = (types & H5F_OBJ_LOCAL) != 0,
                      .max = max,
                      .ids = ids};
    match_ids(&query, types);
    return query.count;
}

/* ---- Files ---- */

typedef struct file_query {
    h5_lib *lib;
    const vol_object *object;
    bool found;
} file_query;

static bool can_write(h5_lib *lib, hid_t file) {
    unsigned flags = 0;
    return lib->H5Fget_intent(file, &flags) >= 0 && (flags & H5_ACC_RDWR);
}

static herr_t match_file(hid_t id, void *context) {
    file_query *query = context;
    const vol_object *other = vol_object_of_id(query->lib, id);
    const bool is_own = other && other->file && other->file->number == query->object->file->number;
    query->found = !is_own && can_write(query->lib, id);
    return query->found;
}

bool vol_object_another_is_written(const vol_object *object) {
    file_query query = {.lib = object->lib, .object = object};
    object->lib->H5Iiterate(H5I_FILE, match_file, &query);
    return query.found;
}

/* ---- Closing ---- */

/* Of all stores, or of the handle of an object. */
static void close_ids(h5_lib *lib, const vol_object *object, unsigned types) {
    hid_t *ids = lib->live ? calloc(lib->live + 1, sizeof *ids) : NULL;
    id_query query = {
        .lib = lib, .object = object, .local = object != NULL, .max = lib->live + 1, .ids = ids};
    if (ids)
        match_ids(&query, types);
    for (size_t i = 0; ids && i < query.count; i++)
        while (lib->H5Iis_valid(ids[i]) > 0 && lib->H5Idec_ref(ids[i]) > 0)
            continue;
    free(ids);
}

void vol_object_close_all(const vol_object *object) {
    close_ids(object->lib, object, H5F_OBJ_ATTR);
    close_ids(object->lib, object, H5F_OBJ_DATASET);
    close_ids(object->lib, object, H5F_OBJ_DATATYPE);
    close_ids(object->lib, object, H5F_OBJ_GROUP);
}

/* HDF5 is about to terminate: ids of stores that the program left open must go now, while the
   library still works, and with the last of them the shadows. Files go last, since closing one
   tells what could not be stored. Ids of other files are HDF5's to close, in its own order. */
static void at_close(void *context) {
    h5_lib *lib = context;
    lib->stopping = true;
    close_ids(lib, NULL, H5F_OBJ_ATTR);
    close_ids(lib, NULL, H5F_OBJ_DATASET);
    close_ids(lib, NULL, H5F_OBJ_DATATYPE);
    close_ids(lib, NULL, H5F_OBJ_GROUP);
    close_ids(lib, NULL, H5F_OBJ_FILE);
    vol_shadows_drop(lib);
    h5_lib_stop(lib);
}

void vol_start(h5_lib *lib) {
    h5_lib_start(lib, at_close);
}

void vol_watch(h5_lib *lib) {
    h5_lib_watch(lib, at_close);
}

/* ---- Wrapping ---- */

/* For HDF5's own needs, and for native code that walks all ids. While HDF5 shuts down with several
   handles on one file it also walks ids whose objects it has freed, and hands over what is left in
   their memory: it is returned unseen. */
static void *wrap_get_object(const void *p) {
    const vol_object *object = p;
    if (!vol_is_ours(p))
        return (void *)(uintptr_t)p;
    if (capturing) {
        captured = object;
        return (void *)(uintptr_t)p;
    }
    if (object->under)
        return object->under;
    void *shadow = vol_shadow_of(object->lib, object->type);
    return shadow ? shadow : (void *)(uintptr_t)p;
}

/* HDF5 asks at each call. Of a native object the context is its library: HDF5's own connector has
   no context of its own. Of a store there is none: nothing of it is wrapped. */
static herr_t wrap_get_context(const void *p, void **context_out) {
    const vol_object *object = p;
    *context_out = object->under ? object->lib : NULL;
    return 0;
}

/* HDF5 hands over a native object to be given an id; it needs our head in front. */
static void *wrap_object(void *p, H5I_type_t type, void *context) {
    return context && !vol_is_ours(p) ? vol_object_wrap(context, type, p) : p;
}

/* The reverse, for good: our head goes. */
static void *wrap_unwrap(void *p) {
    vol_object *object = p;
    if (!object->under)
        return p;
    void *under = object->under;
    vol_object_free(object);
    return under;
}

static herr_t wrap_free_context(void *context) {
    (void)context; /* borrowed */
    return 0;
}

const H5VL_wrap_class_t vol_wrap_class = {
    .get_object = wrap_get_object,
    .get_wrap_ctx = wrap_get_context,
    .wrap_object = wrap_object,
    .unwrap_object = wrap_unwrap,
    .free_wrap_ctx = wrap_free_context,
};
