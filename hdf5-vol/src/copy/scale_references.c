/* SPDX-License-Identifier: MIT */
/* References of dimension scales in copies: see scale_references.h. */
#include "copy/scale_references.h"

#include "attributes/reference_kinds.h"
#include "attributes/write.h"
#include "dataset/edit_dataset.h"
#include "hdf5/errors.h"
#include "scales/scales.h"

#include <stdlib.h>
#include <string.h>

static bool is_reference(h5_lib *lib, hid_t type) {
    return lib->H5Tequal(type, *lib->H5T_STD_REF_OBJ_g) > 0;
}

/* Where in a compound its only reference lies. */
static bool find_member(h5_lib *lib, hid_t type, size_t *offset) {
    int found = 0;
    if (lib->H5Tget_class(type) != H5T_COMPOUND)
        return false;
    for (int i = 0; i < lib->H5Tget_nmembers(type); i++) {
        hid_t member = lib->H5Tget_member_type(type, (unsigned)i);
        if (is_reference(lib, member)) {
            *offset = lib->H5Tget_member_offset(type, (unsigned)i);
            found++;
        } else if (lib->H5Tdetect_class(member, H5T_REFERENCE) > 0) {
            found = 2;
        }
        vol_release_id(lib, member);
    }
    return found == 1;
}

static bool is_list(h5_lib *lib, hid_t type) {
    if (lib->H5Tget_class(type) != H5T_VLEN)
        return false;
    hid_t base = lib->H5Tget_super(type);
    const bool is_old = is_reference(lib, base);
    vol_release_id(lib, base);
    return is_old;
}

bool vol_scale_refs_are(h5_lib *lib, const char *name, hid_t type) {
    size_t offset;
    if (strcmp(name, VOL_SCALE_LIST) == 0)
        return is_list(lib, type);
    return strcmp(name, VOL_SCALE_BACK) == 0 && find_member(lib, type, &offset);
}

/* Lists, and behind them all that they point at. */
static void *convert_lists(size_t count, const hvl_t *lists, vol_new_address address,
                           void *context) {
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += lists[i].len;
    hvl_t *out = calloc(1, count * sizeof *out + total * sizeof(uint64_t) + 1);
    uint64_t *to = (uint64_t *)(out + count);
    for (size_t i = 0; out && i < count; i++) {
        out[i].p = to;
        for (size_t n = 0; n < lists[i].len; n++)
            if ((*to = address(context, ((const uint64_t *)lists[i].p)[n]))) {
                out[i].len++;
                to++;
            }
    }
    return out;
}

void *vol_scale_refs_convert(h5_lib *lib, hid_t type, size_t *count, const void *elements,
                             vol_new_address address, void *context) {
    const size_t size = lib->H5Tget_size(type), all = *count;
    size_t offset = 0;
    if (!find_member(lib, type, &offset))
        return convert_lists(all, elements, address, context);
    char *out = calloc(all + 1, size);
    *count = 0;
    for (size_t i = 0; out && i < all; i++) {
        char *to = out + *count * size;
        uint64_t at;
        memcpy(to, (const char *)elements + i * size, size);
        memcpy(&at, to + offset, sizeof at);
        at = address(context, at);
        memcpy(to + offset, &at, sizeof at);
        *count += at != 0;
    }
    return out;
}

bool vol_scale_refs_any(h5_lib *lib, hid_t type, size_t count, const void *elements) {
    const hvl_t *lists = elements;
    size_t offset, total = 0;
    if (find_member(lib, type, &offset))
        return count > 0;
    for (size_t i = 0; i < count; i++)
        total += lists[i].len;
    return total > 0;
}

/* ---- From an HDF5 file ---- */

/* An attribute as it was read. */
struct vol_scales_read {
    struct vol_scales_read *next;
    vol_node *node;
    const vol_map *made; /* of the objects of its file */
    char *name;
    hid_t type, space;
    size_t count;
    void *elements; /* NULL where only the names are of use */
    hid_t old_type; /* references of the new kind: the elements with old ones, in one */
    void *old;      /* block; what else they point at is that of `elements`. NULL: none */
    char *target[ZB_MAX_NDIM]; /* of DIMENSION_LIST: the name of each dimension's first scale */
};

bool vol_scales_import_takes(const vol_node *node, const char *name) {
    return node->kind == VOL_DATASET &&
           (strcmp(name, VOL_SCALE_LIST) == 0 || strcmp(name, VOL_SCALE_BACK) == 0);
}

/* ---- Reading ---- */

/* The last part of the path that a reference leads to; malloc'ed, NULL when it leads nowhere. */
static char *name_of_target(h5_lib *lib, H5R_ref_t *reference) {
    char path[4096];
    vol_silence silence;
    vol_silence_begin(lib, &silence);
    ssize_t length = lib->H5Rget_obj_name(reference, H5P_DEFAULT, path, sizeof path);
    vol_silence_end(lib, &silence);
    const char *slash = length > 0 ? strrchr(path, '/') : NULL;
    return slash ? strdup(slash + 1) : NULL;
}

static herr_t read_targets(h5_lib *lib, hid_t attr, struct vol_scales_read *one) {
    hvl_t lists[ZB_MAX_NDIM] = {0};
    hid_t type = lib->H5Tvlen_create(*lib->H5T_STD_REF_g);
    herr_t result = lib->H5Aread(attr, type, lists);
    for (size_t d = 0; d < one->count && result >= 0; d++)
        one->target[d] = lists[d].len > 0 ? name_of_target(lib, lists[d].p) : NULL;
    if (result >= 0)
        lib->H5Treclaim(type, one->space, H5P_DEFAULT, lists);
    vol_release_id(lib, type);
    return result;
}

static herr_t read_elements(h5_lib *lib, hid_t attr, struct vol_scales_read *one) {
    if (vol_attr_zeros(lib, one->type, one->space, &one->elements) < 0)
        return -1;
    if (lib->H5Aread(attr, one->type, one->elements) >= 0)
        return 0;
    free(one->elements);
    one->elements = NULL;
    return -1;
}

/* The file of the references that are read. */
typedef struct from_file {
    h5_lib *lib;
    unsigned long number;
} from_file;

/* The address of what a reference of the new kind leads to; of no object where it leads nowhere, or
   into another file. */
static uint64_t address_of(void *context, const void *reference) {
    const from_file *from = context;
    h5_lib *lib = from->lib;
    H5R_ref_t copy;
    H5O_info2_t info;
    memcpy(&copy, reference, sizeof copy);
    vol_silence silence;
    vol_silence_begin(lib, &silence);
    hid_t object = lib->H5Ropen_object(&copy, H5P_DEFAULT, H5P_DEFAULT);
    const bool there = object >= 0 && lib->H5Oget_info3(object, &info, H5O_INFO_BASIC) >= 0 &&
                       info.fileno == from->number;
    vol_release_id(lib, object);
    vol_silence_end(lib, &silence);
    return there ? vol_token_get(&info.token) : UINT64_MAX;
}

static void free_elements(h5_lib *lib, struct vol_scales_read *one) {
    if (one->elements)
        lib->H5Treclaim(one->type, one->space, H5P_DEFAULT, one->elements);
    if (one->old)
        vol_release_id(lib, one->old_type);
    free(one->elements);
    free(one->old);
    one->elements = one->old = NULL;
}

/* Of both kinds the old one is kept. Attributes of other types are left out. */
static herr_t read_new(h5_lib *lib, hid_t attr, struct vol_scales_read *one, unsigned long file) {
    from_file from = {.lib = lib, .number = file};
    if (read_elements(lib, attr, one) < 0 ||
        vol_refs_convert_to_old(lib, one->type, one->count, one->elements, address_of, &from,
                                &one->old_type, &one->old) < 0)
        return -1;
    if (!vol_scale_refs_are(lib, one->name, one->old_type))
        free_elements(lib, one);
    return 0;
}

herr_t vol_scales_import_attr(vol_scales_import *import, hid_t attr, const char *name,
                              vol_node *node, const vol_imported_file *file) {
    h5_lib *lib = import->lib;
    const bool is_list = strcmp(name, VOL_SCALE_LIST) == 0;
    struct vol_scales_read *one = calloc(1, sizeof *one);
    if (!one || !(one->name = strdup(name))) {
        free(one);
        return VOL_PUSH(lib, ATTR, CANTCOPY, "no memory for attribute '%s'", name);
    }
    one->next = import->first;
    import->first = one;
    one->node = node;
    one->made = &file->by_address;
    one->type = lib->H5Aget_type(attr);
    one->space = lib->H5Aget_space(attr);
    const hssize_t count = lib->H5Sget_select_npoints(one->space);
    if (one->type < 0 || one->space < 0 || count < 0)
        return -1;
    one->count = (size_t)count;
    if (is_list && one->count != zb_node_array(node->zarr)->ndim)
        one->count = 0;
    if (one->count == 0)
        return 0;
    if (is_list && read_targets(lib, attr, one) < 0)
        return -1;
    if (vol_refs_are_new(lib, one->type))
        return read_new(lib, attr, one, file->number);
    return vol_scale_refs_are(lib, name, one->type) ? read_elements(lib, attr, one) : 0;
}

/* ---- Storing ---- */

static uint64_t token_of_copy(void *context, uint64_t address) {
    const vol_map *made = context;
    const vol_copied *copied = address ? vol_map_get(made, address) : NULL;
    return copied && copied->copy->kind == VOL_DATASET ? copied->copy->token : 0;
}

static herr_t store_elements(vol_scales_import *import, const struct vol_scales_read *one) {
    h5_lib *lib = import->lib;
    const hid_t type = one->old ? one->old_type : one->type;
    const void *elements = one->old ? one->old : one->elements;
    size_t count = one->count;
    void *data = vol_scale_refs_convert(lib, type, &count, elements, token_of_copy,
                                        (void *)(uintptr_t)one->made);
    const hsize_t extent = count;
    herr_t result = data ? 0 : -1;
    if (data && vol_scale_refs_any(lib, type, count, data)) {
        hid_t space = count == one->count ? lib->H5Scopy(one->space)
                                          : lib->H5Screate_simple(1, &extent, NULL);
        const vol_attr_value value = {
            .name = one->name, .type = type, .space = space, .dxpl = import->dxpl, .data = data};
        result = vol_attr_store(one->node, &value, one->type);
        vol_release_id(lib, space);
    }
    free(data);
    return result;
}

/* Dimensions that have got no name otherwise. */
static herr_t store_names(const struct vol_scales_read *one) {
    const zb_array_info *info = zb_node_array(one->node->zarr);
    const char *names[ZB_MAX_NDIM];
    bool any = false;
    zb_error err = {0};
    for (uint32_t d = 0; d < info->ndim; d++) {
        const char *now = info->dimension_names ? info->dimension_names[d] : NULL;
        names[d] = now ? now : one->target[d];
        any |= names[d] != now;
    }
    if (!any || vol_edit_dimension_names(one->node, names, &err) == ZB_OK)
        return 0;
    return vol_attr_push_failed(one->node->file->lib, "write", one->name, &err);
}

static void read_free(h5_lib *lib, struct vol_scales_read *one) {
    free_elements(lib, one);
    vol_release_id(lib, one->type);
    vol_release_id(lib, one->space);
    for (size_t d = 0; d < ZB_MAX_NDIM; d++)
        free(one->target[d]);
    free(one->name);
    free(one);
}

herr_t vol_scales_import_end(vol_scales_import *import, bool good) {
    herr_t result = 0;
    while (import->first) {
        struct vol_scales_read *one = import->first;
        import->first = one->next;
        if (good && result >= 0 && one->elements)
            result = store_elements(import, one);
        if (good && result >= 0)
            result = store_names(one);
        hid_t saved = vol_stack_save(import->lib);
        read_free(import->lib, one);
        vol_stack_restore(import->lib, saved);
    }
    return result;
}
