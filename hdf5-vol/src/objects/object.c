/* SPDX-License-Identifier: MIT */
/*
 * Objects: making and freeing. The order of things in here was learnt from crashes; object.h and
 * hdf5/shadows.h say what HDF5 does that makes it necessary.
 */
#include "objects/object.h"

#include "dataset/dataset.h"
#include "file/owners.h"
#include "hdf5/errors.h"
#include "hdf5/shadows.h"
#include "tree/loose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
    vol_node_pin(node);
    handle->files += type == H5I_FILE;
    if (type == H5I_DATASET)
        vol_node_add_id(node);
    if (type == H5I_ATTR) {
        object->next_attr = node->attr_ids;
        node->attr_ids = object;
    }
    return object;
}

vol_object *vol_node_attr_ids(const vol_node *node) {
    return node->attr_ids;
}

static H5I_type_t id_type_of(const vol_node *node) {
    return node->kind == VOL_DATASET    ? H5I_DATASET
           : node->kind == VOL_DATATYPE ? H5I_DATATYPE
                                        : H5I_GROUP;
}

vol_object *vol_object_of_node(vol_handle *handle, vol_node *node) {
    return vol_object_new(handle, node, id_type_of(node));
}

bool vol_may_write(const vol_object *object, const char *what) {
    h5_lib *lib = object->lib;
    if (!object->handle->writable) {
        VOL_PUSH(lib, VOL, WRITEERROR,
                 "cannot %s: '%s' was opened read-only (errno = %d, error message = '%s')", what,
                 object->file->shown, EROFS, strerror(EROFS));
        return false;
    }
    if (vol_node_is_gone(object->node)) {
        VOL_PUSH(lib, VOL, WRITEERROR, "cannot %s: '%s' has been deleted", what,
                 object->node->path);
        return false;
    }
    vol_owners_act(object->file,
                   object->handle->files > 0 ? object->handle->owner : VOL_OWNERS_EVERYONE);
    return true;
}

bool vol_may_change(const vol_object *object, const char *what) {
    if (!vol_may_write(object, what))
        return false;
    if (h5_ranks_lead(object->file->ranks))
        return true;
    VOL_PUSH(object->lib, VOL, WRITEERROR,
             "cannot %s: '%s' is open by several ranks, of which the first makes such changes",
             what, object->file->shown);
    return false;
}

bool vol_may_create(const vol_object *object, const char *name, const char *what) {
    return name ? vol_may_change(object, what) : vol_may_write(object, what);
}

void vol_native_close(h5_lib *lib, void *under, H5I_type_t type, hid_t dxpl) {
    hid_t saved = vol_stack_save(lib);
    if (type == H5I_FILE)
        lib->H5VLfile_close(under, lib->native, dxpl, NULL);
    else if (type == H5I_DATASET)
        lib->H5VLdataset_close(under, lib->native, dxpl, NULL);
    else if (type == H5I_DATATYPE)
        lib->H5VLdatatype_close(under, lib->native, dxpl, NULL);
    else if (type == H5I_ATTR)
        lib->H5VLattr_close(under, lib->native, dxpl, NULL);
    else
        lib->H5VLgroup_close(under, lib->native, dxpl, NULL);
    vol_stack_restore(lib, saved);
}

vol_object *vol_object_wrap(h5_lib *lib, H5I_type_t type, void *under) {
    vol_object *object = object_new(lib, type);
    if (object)
        object->under = under;
    return object;
}

vol_object *vol_object_pass(h5_lib *lib, H5I_type_t type, void *under) {
    vol_object *object = under ? vol_object_wrap(lib, type, under) : NULL;
    if (under && !object) {
        VOL_PUSH(lib, VOL, CANTOPENOBJ, "no memory for an object of an HDF5 file");
        vol_native_close(lib, under, type, *lib->H5P_LST_DATASET_XFER_ID_g);
    }
    return object;
}

/* ---- Freeing ---- */

static void forget_attr(vol_object *object) {
    vol_object **link = &object->node->attr_ids;
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
            vol_node_drop_id(object->node);
        if (object->type == H5I_ATTR)
            forget_attr(object);
        if (object->dapl > 0)
            vol_release_id(lib, object->dapl);
        object->file = NULL; /* HDF5 may ask the dying object once more */
        vol_node_unpin(object->node);
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

/* ---- Values for HDF5 ---- */

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

H5T_cset_t vol_charset_of(const char *name) {
    while ((unsigned char)*name > 0 && (unsigned char)*name < 0x80)
        name++;
    return *name ? H5T_CSET_UTF8 : H5T_CSET_ASCII;
}

bool vol_charset_is_needed(const char *name, H5T_cset_t cset) {
    return cset == H5T_CSET_UTF8 && vol_charset_of(name) == H5T_CSET_ASCII;
}
