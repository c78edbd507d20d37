/* SPDX-License-Identifier: MIT */
/* Stores that HDF5 would have to open by itself: see unasked.h. */
#include "callbacks/unasked.h"

#include "copy/links.h"
#include "file/find_store.h"
#include "file/linked_file.h"
#include "hdf5/errors.h"
#include "objects/locate.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The name of the .h5 file that holds an object; malloc'ed, or NULL. */
static char *holder_of(const vol_object *object, hid_t dxpl) {
    h5_lib *lib = object->lib;
    size_t length = 0;
    H5VL_file_get_args_t args = {.op_type = H5VL_FILE_GET_NAME,
                                 .args.get_name = {.type = object->type, .file_name_len = &length}};
    if (lib->H5VLfile_get(object->under, lib->native, &args, dxpl, NULL) < 0)
        return NULL;
    char *name = calloc(length + 1, 1);
    args.args.get_name.buf = name;
    args.args.get_name.buf_size = length + 1;
    if (name && lib->H5VLfile_get(object->under, lib->native, &args, dxpl, NULL) >= 0)
        return name;
    free(name);
    return NULL;
}

static bool is_store(const vol_object *object, const char *variable, const char *name, hid_t dxpl) {
    char *holder = holder_of(object, dxpl);
    char *path = holder ? vol_linked_file(variable, NULL, holder, name) : NULL;
    const bool found = path && vol_filename_leads(path);
    free(path);
    free(holder);
    return found;
}

/* ---- External links ---- */

/* The value of a native link, if it is an external one; malloc'ed. */
static void *external_value(const vol_object *object, const H5VL_loc_params_t *loc, hid_t dxpl,
                            vol_link_value *out) {
    h5_lib *lib = object->lib;
    H5L_info2_t info;
    H5VL_link_get_args_t args = {.op_type = H5VL_LINK_GET_INFO, .args.get_info.linfo = &info};
    if (lib->H5VLlink_get(object->under, loc, lib->native, &args, dxpl, NULL) < 0 ||
        info.type != H5L_TYPE_EXTERNAL)
        return NULL;
    const size_t size = info.u.val_size;
    void *packed = malloc(size);
    args = (H5VL_link_get_args_t){.op_type = H5VL_LINK_GET_VAL,
                                  .args.get_val = {.buf_size = size, .buf = packed}};
    if (packed && lib->H5VLlink_get(object->under, loc, lib->native, &args, dxpl, NULL) >= 0 &&
        vol_link_unpack(packed, size, out))
        return packed;
    free(packed);
    return NULL;
}

/* Tells of the first link on the way that leads to a store. */
static void look_along(const vol_object *object, const char *name, hid_t dxpl, atomic_bool *told) {
    char *prefix = strdup(name);
    const H5VL_loc_params_t loc = vol_loc_by_name(object->lib, object->type, prefix);
    for (size_t end = 0; prefix && name[end];) {
        end += strspn(name + end, "/");
        end += strcspn(name + end, "/");
        prefix[end] = '\0';
        vol_link_value value;
        void *packed = external_value(object, &loc, dxpl, &value);
        if (packed && is_store(object, "HDF5_EXT_PREFIX", value.file, dxpl) &&
            !atomic_exchange(told, true))
            vol_say("the external link '%s' of an .h5 file leads to the store '%s': HDF5 asks no "
                    "connector there, and cannot open it",
                    prefix, value.file);
        free(packed);
        prefix[end] = name[end];
    }
    free(prefix);
}

void vol_warn_of_link(const vol_object *object, const H5VL_loc_params_t *loc, const char *name,
                      hid_t dxpl, const void *under) {
    static atomic_bool told;
    if (!name && loc->type == H5VL_OBJECT_BY_NAME)
        name = loc->loc_data.loc_by_name.name;
    if (under || !name || !vol_is_verbose() || atomic_load(&told))
        return;
    hid_t saved = vol_stack_save(object->lib);
    look_along(object, name, dxpl, &told);
    vol_stack_restore(object->lib, saved);
}

/* ---- Virtual datasets ---- */

/* The first source that is a store, if any; malloc'ed. "." is the file itself. */
static char *store_among(const vol_object *object, hid_t dcpl, hid_t dxpl) {
    h5_lib *lib = object->lib;
    size_t count = 0;
    if (lib->H5Pget_virtual_count(dcpl, &count) < 0)
        return NULL;
    char *before = NULL;
    for (size_t i = 0; i < count; i++) {
        const ssize_t length = lib->H5Pget_virtual_filename(dcpl, i, NULL, 0);
        char *name = length > 0 ? calloc((size_t)length + 1, 1) : NULL;
        if (!name || lib->H5Pget_virtual_filename(dcpl, i, name, (size_t)length + 1) < 0 ||
            strcmp(name, ".") == 0 || (before && strcmp(name, before) == 0)) {
            free(name);
            continue;
        }
        free(before);
        before = name;
        if (is_store(object, "HDF5_VDS_PREFIX", name, dxpl))
            return name;
    }
    free(before);
    return NULL;
}

void vol_warn_of_sources(h5_lib *lib, hid_t dxpl, void *under) {
    static atomic_bool told;
    if (!under || !vol_is_verbose() || atomic_load(&told))
        return;
    hid_t saved = vol_stack_save(lib);
    H5VL_dataset_get_args_t args = {.op_type = H5VL_DATASET_GET_DCPL,
                                    .args.get_dcpl.dcpl_id = H5I_INVALID_HID};
    lib->H5VLdataset_get(under, lib->native, &args, dxpl, NULL);
    hid_t dcpl = args.args.get_dcpl.dcpl_id;
    const vol_object dataset = {.type = H5I_DATASET, .lib = lib, .under = under};
    char *name = dcpl >= 0 && lib->H5Pget_layout(dcpl) == H5D_VIRTUAL
                     ? store_among(&dataset, dcpl, dxpl)
                     : NULL;
    if (name && !atomic_exchange(&told, true))
        vol_say("a virtual dataset of an .h5 file has the store '%s' as a source: HDF5 asks no "
                "connector there, and gives fill values or an error; read the store itself",
                name);
    free(name);
    vol_release_id(lib, dcpl);
    vol_stack_restore(lib, saved);
}
