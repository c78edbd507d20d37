/* SPDX-License-Identifier: MIT */
/*
 * Objects: making, freeing, finding. The order of things in here was learnt from crashes;
 * object.h and hdf5/shadows.h say what HDF5 does that makes it necessary.
 */
#include "objects/object.h"

#include "hdf5/errors.h"
#include "hdf5/shadows.h"
#include "model/links.h"
#include "model/tokens.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* While `capturing`, get_object answers with the object itself and notes it: that is how ids are
   matched with our objects (H5VLobject would else return the shadow). */
static _Thread_local bool capturing;
static _Thread_local const vol_object *captured;

/* ---- Making and freeing ---- */

/* calloc also sets `zero`, the word that native code may look at. */
static vol_object *object_new(h5_lib *lib, H5I_type_t type) {
    vol_object *object = calloc(1, sizeof *object);
    if (object) {
        object->magic = VOL_MAGIC;
        object->type = type;
        object->lib = lib;
    }
    return object;
}

vol_object *vol_object_new(vol_handle *handle, vol_node *node, H5I_type_t type) {
    h5_lib *lib = handle->file->lib;
    vol_object *object = object_new(lib, type);
    if (!object) {
        VOL_PUSH(lib, SYM, CANTOPENOBJ, "no memory to open '%s'", node->path);
        return NULL;
    }
    object->handle = vol_handle_retain(handle);
    object->file = handle->file;
    object->node = node;
    lib->live++;
    handle->files += type == H5I_FILE;
    if (type == H5I_DATASET) {
        node->opened++;
        if (!node->told)
            vol_node_tell_shape(node);
    }
    return object;
}

static H5I_type_t id_type_of(const vol_node *node) {
    return node->kind == VOL_DATASET ? H5I_DATASET : H5I_GROUP;
}

vol_object *vol_object_of_node(vol_handle *handle, vol_node *node) {
    return vol_object_new(handle, node, id_type_of(node));
}

bool vol_may_write(const vol_object *object, const char *what) {
    h5_lib *lib = object->lib;
    if (!object->handle->writable) {
        VOL_PUSH(lib, VOL, WRITEERROR,
                 "cannot %s: '%s' was opened read-only (errno = %d, error message = '%s')", what,
                 object->file->path, EROFS, strerror(EROFS));
        return false;
    }
    if (object->node->loose && !object->node->own_store) {
        VOL_PUSH(lib, VOL, WRITEERROR, "cannot %s: '%s' has been deleted", what,
                 object->node->path);
        return false;
    }
    return true;
}

vol_object *vol_object_pass(h5_lib *lib, H5I_type_t type, void *under) {
    vol_object *object = under ? object_new(lib, type) : NULL;
    if (object)
        object->under = under;
    return object;
}

/* ---- Freeing ---- */

/* An attribute's id leaves the list that attributes/ids.c keeps. */
static void forget_attr(vol_object *object) {
    vol_object **link = &object->node->open_attrs;
    while (*link && *link != object)
        link = &(*link)->next_attr;
    if (*link)
        *link = object->next_attr;
    free(object->attr);
}

void vol_object_free(vol_object *object) {
    if (object->file) {
        h5_lib *lib = object->lib;
        vol_handle *handle = object->handle;
        handle->files -= object->type == H5I_FILE;
        if (object->type == H5I_DATASET)
            object->node->opened--;
        if (object->type == H5I_ATTR)
            forget_attr(object);
        object->file = NULL; /* HDF5 may ask the dying object once more */
        vol_handle_release(handle);
        /* Native code asks get_object for this object once more while the shadows close. */
        if (--lib->live == 0)
            vol_shadows_drop(lib);
    }
    object->magic = 0;
    free(object);
}

herr_t vol_object_closed(vol_object *object, herr_t result) {
    if (result >= 0)
        vol_object_free(object);
    return result;
}

/* HDF5 wraps what it registers by the context of the object at hand, which is ours here, so that
   wrap_object returns it as it is. */
hid_t vol_node_register(vol_handle *handle, vol_node *node) {
    vol_object *object = vol_object_of_node(handle, node);
    if (!object)
        return -1;
    hid_t id = object->lib->H5VLwrap_register(object, object->type);
    if (id < 0)
        vol_object_free(object);
    return id;
}

bool vol_is_ours(const void *p) {
    const vol_object *object = p;
    return object && !object->zero && object->magic == VOL_MAGIC;
}

/* ---- Locations ---- */

/* Links are in the order of their names whatever index is asked for: Zarr knows no other. */
static enum zb_code find_by_index(const vol_object *object, const H5VL_loc_by_idx_t *at,
                                  vol_found *out, zb_error *err) {
    vol_node *group = vol_node_find(object->node, at->name, err);
    if (!group)
        return err->code;
    enum zb_code code = vol_node_list(group, err);
    if (code)
        return code;
    if (at->n >= group->link_count)
        return zb_fail(err, ZB_ENOTFOUND, "group %s has %zu links, none with index %llu",
                       group->path, group->link_count, (unsigned long long)at->n);
    const size_t i = (size_t)at->n;
    out->link = group->link[at->order == H5_ITER_DEC ? group->link_count - 1 - i : i];
    out->node = out->link->node;
    return ZB_OK;
}

static enum zb_code find_location(const vol_object *object, const H5VL_loc_params_t *loc,
                                  vol_found *out, zb_error *err) {
    *out = (vol_found){.node = object->node};
    switch (loc->type) {
    case H5VL_OBJECT_BY_SELF:
        return ZB_OK;
    case H5VL_OBJECT_BY_NAME:
        return vol_path_find(object->node, loc->loc_data.loc_by_name.name, out, err);
    case H5VL_OBJECT_BY_TOKEN:
        out->node =
            vol_node_by_token(object->file, vol_token_get(loc->loc_data.loc_by_token.token), err);
        return out->node ? ZB_OK : err->code;
    case H5VL_OBJECT_BY_IDX:
        return find_by_index(object, &loc->loc_data.loc_by_idx, out, err);
    }
    return zb_fail(err, ZB_EINVAL, "unknown kind of location");
}

/* What the caller called it, for messages. */
static const char *location_name(const H5VL_loc_params_t *loc) {
    switch (loc->type) {
    case H5VL_OBJECT_BY_NAME:
        return loc->loc_data.loc_by_name.name;
    case H5VL_OBJECT_BY_IDX:
        return loc->loc_data.loc_by_idx.name;
    default:
        return ".";
    }
}

/* h5py makes a KeyError of H5E_NOTFOUND; the words are HDF5's own, which users know. */
static void push_not_found(h5_lib *lib, const char *name, const zb_error *err) {
    if (err->code == ZB_ENOTFOUND)
        VOL_PUSH(lib, SYM, NOTFOUND, "object '%s' doesn't exist", name);
    else
        VOL_PUSH_ZB(lib, SYM, CANTOPENOBJ, err);
}

bool vol_locate_link(const vol_object *object, const H5VL_loc_params_t *loc, vol_found *out) {
    zb_error err = {0};
    if (find_location(object, loc, out, &err) == ZB_OK)
        return true;
    push_not_found(object->lib, location_name(loc), &err);
    return false;
}

vol_node *vol_locate(const vol_object *object, const H5VL_loc_params_t *loc) {
    zb_error err = {0};
    vol_found found;
    if (!vol_locate_link(object, loc, &found))
        return NULL;
    if (!found.node) {
        vol_link_blame(found.link, &err);
        VOL_PUSH_ZB(object->lib, SYM, CANTOPENOBJ, &err);
    }
    return found.node;
}

vol_node *vol_locate_name(const vol_object *object, const H5VL_loc_params_t *loc,
                          const char *name) {
    zb_error err = {0};
    vol_node *base = vol_locate(object, loc);
    if (!base || !name)
        return base;
    vol_node *node = vol_node_find(base, name, &err);
    if (!node)
        push_not_found(object->lib, name, &err);
    return node;
}

bool vol_lookup(const vol_object *object, const H5VL_loc_params_t *loc, vol_found *out) {
    zb_error err = {0};
    if (find_location(object, loc, out, &err) == ZB_OK)
        return true;
    *out = (vol_found){.node = NULL};
    if (err.code == ZB_ENOTFOUND)
        return true;
    push_not_found(object->lib, location_name(loc), &err);
    return false;
}

void vol_token_set(H5O_token_t *token, uint64_t value) {
    memset(token, 0, sizeof *token);
    memcpy(token, &value, sizeof value);
}

uint64_t vol_token_get(const H5O_token_t *token) {
    uint64_t value;
    memcpy(&value, token, sizeof value);
    return value;
}

void vol_copy_name(const char *text, char *buffer, size_t size, size_t *length) {
    size_t full = strlen(text);
    if (buffer && size > 0) {
        size_t cut = full < size ? full : size - 1;
        memcpy(buffer, text, cut);
        buffer[cut] = '\0';
    }
    if (length)
        *length = full;
}

/* ---- Open ids ---- */

typedef struct id_query {
    h5_lib *lib;
    const vol_object *object; /* whose file; NULL for all Zarr objects */
    bool local;               /* only ids of the same open handle */
    size_t max, count;
    hid_t *ids; /* may be NULL */
} id_query;

/* Called for each id of one type. H5VLobject fails on ids that no connector has; that is fine. */
static herr_t match_id(hid_t id, void *context) {
    id_query *query = context;
    capturing = true;
    captured = NULL;
    query->lib->H5VLobject(id);
    capturing = false;
    const vol_object *found = captured;
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

/* Named types are left out: no Zarr object is one. */
static void match_ids(id_query *query, unsigned types) {
    static const struct {
        unsigned flag;
        H5I_type_t type;
    } kinds[] = {{H5F_OBJ_FILE, H5I_FILE},
                 {H5F_OBJ_GROUP, H5I_GROUP},
                 {H5F_OBJ_DATASET, H5I_DATASET},
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

/* ---- Shutdown ---- */

static void close_ids(h5_lib *lib, unsigned types) {
    hid_t *ids = lib->live ? calloc(lib->live + 1, sizeof *ids) : NULL;
    id_query query = {.lib = lib, .max = lib->live + 1, .ids = ids};
    if (ids)
        match_ids(&query, types);
    for (size_t i = 0; ids && i < query.count; i++)
        while (lib->H5Iis_valid(ids[i]) > 0 && lib->H5Idec_ref(ids[i]) > 0)
            continue;
    free(ids);
}

/* HDF5 is about to terminate: ids of stores that the program left open must go now, while the
   library still works, and with the last of them the shadows. Files go last, since closing one
   tells what could not be stored. Ids of other files are HDF5's to close, in its own order. */
static void at_close(void *context) {
    h5_lib *lib = context;
    lib->stopping = true;
    close_ids(lib, H5F_OBJ_ATTR);
    close_ids(lib, H5F_OBJ_DATASET);
    close_ids(lib, H5F_OBJ_GROUP);
    close_ids(lib, H5F_OBJ_FILE);
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

/* What wrap_object needs to know of the object in whose context it works. */
typedef struct wrap_context {
    h5_lib *lib;
    bool pass;
    void *under;
} wrap_context;

static herr_t wrap_get_context(const void *p, void **context_out) {
    const vol_object *object = p;
    wrap_context *context = calloc(1, sizeof *context);
    if (!context)
        return -1;
    context->lib = object->lib;
    context->pass = object->under != NULL;
    *context_out = context;
    if (object->under)
        return object->lib->H5VLget_wrap_ctx(object->under, object->lib->native, &context->under);
    return 0;
}

/* HDF5 hands over a native object to be given an id; it needs our head in front. */
static void *wrap_object(void *p, H5I_type_t type, void *context_in) {
    const wrap_context *context = context_in;
    if (!context || !context->pass || vol_is_ours(p))
        return p;
    return vol_object_pass(context->lib, type, p);
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

static herr_t wrap_free_context(void *context_in) {
    wrap_context *context = context_in;
    if (context->under)
        context->lib->H5VLfree_wrap_ctx(context->under, context->lib->native);
    free(context);
    return 0;
}

const H5VL_wrap_class_t vol_wrap_class = {
    .get_object = wrap_get_object,
    .get_wrap_ctx = wrap_get_context,
    .wrap_object = wrap_object,
    .unwrap_object = wrap_unwrap,
    .free_wrap_ctx = wrap_free_context,
};
