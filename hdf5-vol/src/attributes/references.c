/* SPDX-License-Identifier: MIT */
/* Reading and writing DIMENSION_LIST: see references.h. */
#include "attributes/references.h"

#include "attributes/attributes.h"
#include "hdf5/errors.h"
#include "hdf5/types.h"
#include "model/paths.h"
#include "model/tokens.h"

#include <string.h>

/* The tools ask for references of the new kind. HDF5's conversion would need a type that knows
   its file (and crashes without), so they are made here one by one; file_id serves as their
   location. */
static herr_t make_new_reference(const vol_handle *handle, hid_t file_id, uint64_t token,
                                 H5R_ref_t *out) {
    vol_node *node = vol_node_by_token(handle->file, token, NULL);
    memset(out, 0, sizeof *out);
    if (!node)
        return -1;
    vol_node_pin(node); /* HDF5 comes back with its path */
    herr_t result = handle->file->lib->H5Rcreate_object(file_id, node->path, H5P_DEFAULT, out);
    vol_node_unpin(node);
    return result;
}

/* An id of the file, for the caller to let go of. */
static hid_t new_file_id(vol_handle *handle) {
    vol_object *file = vol_object_new(handle, handle->file->root, H5I_FILE);
    hid_t id = file ? handle->file->lib->H5VLwrap_register(file, H5I_FILE) : -1;
    if (id < 0 && file)
        vol_object_free(file);
    return id;
}

/* Without a file_id: old references, which are the tokens themselves. */
static herr_t read_lists(const vol_object *object, const vol_attr *attr, hid_t file_id, hvl_t *out,
                         hid_t dxpl) {
    const uint64_t *tokens = attr->data;
    const size_t size = file_id < 0 ? sizeof(uint64_t) : sizeof(H5R_ref_t);
    for (size_t i = 0; i < attr->count; i++) {
        out[i] = (hvl_t){0};
        if (tokens[i] == 0)
            continue;
        out[i].p = vol_vlen_alloc(object->lib, dxpl, size);
        if (!out[i].p)
            return -1;
        out[i].len = 1;
        if (file_id < 0)
            memcpy(out[i].p, &tokens[i], size);
        else if (make_new_reference(object->handle, file_id, tokens[i], out[i].p) < 0)
            return -1;
    }
    return 0;
}

herr_t vol_refs_read(const vol_object *object, const vol_attr *attr, hid_t mem_type, hvl_t *out,
                     hid_t dxpl) {
    h5_lib *lib = object->lib;
    herr_t result = -1;
    if (lib->H5Tget_class(mem_type) != H5T_VLEN)
        return -1;
    hid_t base = lib->H5Tget_super(mem_type);
    if (lib->H5Tequal(base, *lib->H5T_STD_REF_OBJ_g) > 0) {
        result = read_lists(object, attr, -1, out, dxpl);
    } else if (lib->H5Tequal(base, *lib->H5T_STD_REF_g) > 0) {
        hid_t file_id = new_file_id(object->handle);
        if (file_id >= 0) {
            result = read_lists(object, attr, file_id, out, dxpl);
            lib->H5Idec_ref(file_id);
        }
    }
    lib->H5Tclose(base);
    return result;
}

herr_t vol_refs_of_tokens(vol_handle *handle, size_t count, const uint64_t *tokens,
                          H5R_ref_t *out) {
    herr_t result = 0;
    hid_t file_id = new_file_id(handle);
    if (file_id < 0)
        return -1;
    memset(out, 0, count * sizeof *out);
    for (size_t i = 0; i < count && result >= 0; i++)
        if (tokens[i] && vol_node_by_token(handle->file, tokens[i], NULL))
            result = make_new_reference(handle, file_id, tokens[i], &out[i]);
    handle->file->lib->H5Idec_ref(file_id);
    return result;
}

/* ---- Writing ---- */

#define PATH_ROOM 4096 /* bytes of a path that a new reference may lead to */

static vol_node *node_of_reference(vol_file *file, bool is_old, void *reference) {
    char path[PATH_ROOM];
    uint64_t token;
    if (is_old) {
        memcpy(&token, reference, sizeof token);
        return vol_node_by_token(file, token, NULL);
    }
    if (file->lib->H5Rget_obj_name(reference, H5P_DEFAULT, path, sizeof path) <= 0)
        return NULL;
    return vol_node_find(file->root, path, NULL);
}

void vol_refs_to_tokens(vol_file *file, size_t count, const H5R_ref_t *references,
                        uint64_t *tokens) {
    hid_t stack = vol_stack_save(file->lib);
    for (size_t i = 0; i < count; i++) {
        const vol_node *node = node_of_reference(file, false, (void *)(uintptr_t)&references[i]);
        tokens[i] = node ? node->token : 0;
    }
    vol_stack_restore(file->lib, stack);
}

herr_t vol_refs_take(vol_file *file, hid_t type, size_t count, const hvl_t *lists,
                     vol_node **nodes) {
    h5_lib *lib = file->lib;
    hid_t base = lib->H5Tget_class(type) == H5T_VLEN ? lib->H5Tget_super(type) : -1;
    bool is_old = base >= 0 && lib->H5Tequal(base, *lib->H5T_STD_REF_OBJ_g) > 0;
    bool is_new = base >= 0 && !is_old && lib->H5Tequal(base, *lib->H5T_STD_REF_g) > 0;
    if (base >= 0)
        lib->H5Tclose(base);
    if (!is_old && !is_new) {
        VOL_PUSH(lib, ATTR, BADTYPE, "DIMENSION_LIST must hold lists of object references");
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        nodes[i] = NULL;
        if (lists[i].len == 0)
            continue;
        if (lists[i].len > 1) {
            VOL_PUSH(lib, ATTR, UNSUPPORTED,
                     "dimension %zu cannot have %zu scales: in Zarr a dimension has one name", i,
                     lists[i].len);
            return -1;
        }
        nodes[i] = node_of_reference(file, is_old, lists[i].p);
        if (!nodes[i]) {
            VOL_PUSH(lib, ATTR, BADVALUE, "the scale of dimension %zu is no object of this file",
                     i);
            return -1;
        }
    }
    return 0;
}
