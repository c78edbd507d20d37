/* SPDX-License-Identifier: MIT */
/* Reading and writing DIMENSION_LIST: see reference_kinds.h. */
#include "attributes/reference_kinds.h"

#include "attributes/attributes.h"
#include "types/convert.h"
#include "hdf5/errors.h"
#include "types/types.h"
#include "objects/paths.h"
#include "objects/token_search.h"

#include <stdlib.h>
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
    if (vol_type_is_reference(lib, base, *lib->H5T_STD_REF_OBJ_g)) {
        result = read_lists(object, attr, -1, out, dxpl);
    } else if (vol_type_is_reference(lib, base, *lib->H5T_STD_REF_g)) {
        hid_t file_id = new_file_id(object->handle);
        if (file_id >= 0) {
            result = read_lists(object, attr, file_id, out, dxpl);
            lib->H5Idec_ref(file_id);
        }
    }
    lib->H5Tclose(base);
    return result;
}

/* Null references, which HDF5 does not destroy, are left. */
static void destroy(h5_lib *lib, size_t count, void *references, size_t stride) {
    static const H5R_ref_t null;
    for (size_t i = 0; i < count; i++) {
        H5R_ref_t one; /* the elements of a compound need not be aligned */
        memcpy(&one, (char *)references + i * stride, sizeof one);
        if (memcmp(&one, &null, sizeof one) != 0)
            lib->H5Rdestroy(&one);
        memset((char *)references + i * stride, 0, sizeof one);
    }
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
    if (result < 0)
        destroy(handle->file->lib, count, out, sizeof *out);
    handle->file->lib->H5Idec_ref(file_id);
    return result;
}

bool vol_refs_are_lists(h5_lib *lib, hid_t type, bool of_new) {
    if (lib->H5Tget_class(type) != H5T_VLEN)
        return false;
    hid_t base = lib->H5Tget_super(type);
    const hid_t kind = of_new ? *lib->H5T_STD_REF_g : *lib->H5T_STD_REF_OBJ_g;
    const bool are = vol_type_is_reference(lib, base, kind);
    vol_release_id(lib, base);
    return are;
}

herr_t vol_refs_read_new_lists(const vol_object *object, const vol_attr *attr, hvl_t *out,
                               hid_t dxpl) {
    const hvl_t *lists = attr->data;
    herr_t result = 0;
    memset(out, 0, attr->count * sizeof *out);
    for (size_t i = 0; i < attr->count && result >= 0; i++) {
        if (lists[i].len == 0)
            continue;
        H5R_ref_t *to = vol_vlen_alloc(object->lib, dxpl, lists[i].len * sizeof *to);
        if (!to) {
            result = -1;
            break;
        }
        out[i] = (hvl_t){.len = lists[i].len, .p = to};
        memset(to, 0, lists[i].len * sizeof *to);
        result = vol_refs_of_tokens(object->handle, lists[i].len, lists[i].p, to);
    }
    for (size_t i = 0; result < 0 && i < attr->count; i++)
        destroy(object->lib, out[i].len, out[i].p, sizeof(H5R_ref_t));
    return result;
}

static bool is_new(h5_lib *lib, hid_t type) {
    return vol_type_is_reference(lib, type, *lib->H5T_STD_REF_g);
}

/* Converts the members of a compound that are no references of the new kind. */
static herr_t convert_rest(h5_lib *lib, hid_t type, hid_t mem_type, const vol_attr *attr, void *out,
                           hid_t dxpl) {
    hid_t rest = lib->H5Tcreate(H5T_COMPOUND, lib->H5Tget_size(mem_type));
    herr_t result = rest < 0 ? -1 : 0;
    for (int i = 0; result >= 0 && i < lib->H5Tget_nmembers(mem_type); i++) {
        char *name = lib->H5Tget_member_name(mem_type, (unsigned)i);
        hid_t member = lib->H5Tget_member_type(mem_type, (unsigned)i);
        if (!is_new(lib, member))
            result = lib->H5Tinsert(rest, name, lib->H5Tget_member_offset(mem_type, (unsigned)i),
                                    member);
        lib->H5free_memory(name);
        vol_release_id(lib, member);
    }
    if (result >= 0 && lib->H5Tget_nmembers(rest) > 0)
        result = vol_convert(lib, type, rest, attr->count, attr->data, out, dxpl);
    vol_release_id(lib, rest);
    return result;
}

/* Where the member of that name, a reference of the old kind, lies: -1 for one that is none. */
static ptrdiff_t offset_of_old(h5_lib *lib, hid_t type, const char *name) {
    const int index = name ? lib->H5Tget_member_index(type, name) : -1;
    hid_t member = index < 0 ? -1 : lib->H5Tget_member_type(type, (unsigned)index);
    const bool is_old = member >= 0 && vol_type_is_reference(lib, member, *lib->H5T_STD_REF_OBJ_g);
    vol_release_id(lib, member);
    return is_old ? (ptrdiff_t)lib->H5Tget_member_offset(type, (unsigned)index) : -1;
}

/* Member i of the program's elements. */
static herr_t read_new_member(const vol_object *object, const vol_attr *attr, hid_t type,
                              hid_t mem_type, unsigned i, char *out) {
    h5_lib *lib = object->lib;
    const size_t size = lib->H5Tget_size(type), to_size = lib->H5Tget_size(mem_type);
    char *name = lib->H5Tget_member_name(mem_type, i);
    const ptrdiff_t from = offset_of_old(lib, type, name);
    H5R_ref_t *references = malloc(attr->count * sizeof *references);
    uint64_t *tokens = malloc(attr->count * sizeof *tokens);
    herr_t result = from < 0 || !references || !tokens ? -1 : 0;
    for (size_t n = 0; result >= 0 && n < attr->count; n++)
        memcpy(&tokens[n], (const char *)attr->data + n * size + from, sizeof *tokens);
    if (result >= 0)
        result = vol_refs_of_tokens(object->handle, attr->count, tokens, references);
    out += lib->H5Tget_member_offset(mem_type, i);
    for (size_t n = 0; result >= 0 && n < attr->count; n++)
        memcpy(out + n * to_size, &references[n], sizeof *references);
    free(tokens);
    free(references);
    lib->H5free_memory(name);
    return result;
}

static void destroy_member(h5_lib *lib, size_t count, hid_t mem_type, unsigned i, void *out) {
    hid_t member = lib->H5Tget_member_type(mem_type, i);
    if (is_new(lib, member))
        destroy(lib, count, (char *)out + lib->H5Tget_member_offset(mem_type, i),
                lib->H5Tget_size(mem_type));
    vol_release_id(lib, member);
}

herr_t vol_refs_read_new_compounds(const vol_object *object, const vol_attr *attr, hid_t type,
                                   hid_t mem_type, void *out, hid_t dxpl) {
    h5_lib *lib = object->lib;
    herr_t result = convert_rest(lib, type, mem_type, attr, out, dxpl);
    int made = 0; /* members */
    while (result >= 0 && made < lib->H5Tget_nmembers(mem_type)) {
        hid_t member = lib->H5Tget_member_type(mem_type, (unsigned)made);
        if (is_new(lib, member))
            result = read_new_member(object, attr, type, mem_type, (unsigned)made, out);
        vol_release_id(lib, member);
        made += result >= 0;
    }
    while (result < 0 && made-- > 0)
        destroy_member(lib, attr->count, mem_type, (unsigned)made, out);
    return result;
}

/* ---- Writing ---- */

#define PATH_BYTES 4096 /* bytes of a path that a new reference may lead to */

/* 0 for a reference to no object of the file. */
static uint64_t token_of_new(void *context, const void *reference) {
    vol_file *file = context;
    char path[PATH_BYTES];
    H5R_ref_t copy; /* the elements of a compound need not be aligned */
    memcpy(&copy, reference, sizeof copy);
    hid_t stack = vol_stack_save(file->lib);
    const vol_node *node = file->lib->H5Rget_obj_name(&copy, H5P_DEFAULT, path, sizeof path) > 0
                               ? vol_node_find(file->root, path, NULL)
                               : NULL;
    vol_stack_restore(file->lib, stack);
    return node ? node->token : 0;
}

void vol_refs_to_tokens(vol_file *file, size_t count, const H5R_ref_t *references,
                        uint64_t *tokens) {
    for (size_t i = 0; i < count; i++)
        tokens[i] = token_of_new(file, &references[i]);
}

/* ---- Old kinds in place of new ones ---- */

bool vol_refs_are_new(h5_lib *lib, hid_t type) {
    const H5T_class_t class = lib->H5Tget_class(type);
    bool any = false;
    if (class == H5T_VLEN) {
        hid_t base = lib->H5Tget_super(type);
        any = is_new(lib, base);
        vol_release_id(lib, base);
    }
    for (int i = 0; class == H5T_COMPOUND && i < lib->H5Tget_nmembers(type); i++) {
        hid_t member = lib->H5Tget_member_type(type, (unsigned)i);
        any |= is_new(lib, member);
        vol_release_id(lib, member);
    }
    return any;
}

static herr_t push_nowhere(h5_lib *lib) {
    return VOL_PUSH(lib, ATTR, BADVALUE, "a reference leads to no object of this file");
}

/* How references become old ones. */
typedef struct replacing {
    h5_lib *lib;
    vol_ref_token token;
    void *context;
} replacing;

/* Lists, and behind them the tokens that they point at. */
static herr_t lists_to_old(const replacing *how, size_t count, const hvl_t *lists, void **old) {
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += lists[i].len;
    hvl_t *out = calloc(1, count * sizeof *out + total * sizeof(uint64_t) + 1);
    if (!out)
        return -1;
    uint64_t *token = (uint64_t *)(out + count);
    *old = out;
    for (size_t i = 0; i < count; i++) {
        out[i] = (hvl_t){.len = lists[i].len, .p = token};
        for (size_t n = 0; n < lists[i].len; n++, token++)
            if (!(*token = how->token(how->context, (const H5R_ref_t *)lists[i].p + n)))
                return push_nowhere(how->lib);
    }
    return 0;
}

/* A compound without gaps, its references replaced by `reference`; -1 on failure. */
static hid_t new_old_compound(h5_lib *lib, hid_t type, hid_t reference) {
    hid_t made = lib->H5Tcreate(H5T_COMPOUND, lib->H5Tget_size(type));
    size_t offset = 0;
    for (int i = 0; made >= 0 && i < lib->H5Tget_nmembers(type); i++) {
        char *name = lib->H5Tget_member_name(type, (unsigned)i);
        hid_t member = lib->H5Tget_member_type(type, (unsigned)i);
        const hid_t to = is_new(lib, member) ? reference : member;
        lib->H5Tinsert(made, name, offset, to);
        offset += lib->H5Tget_size(to);
        lib->H5free_memory(name);
        vol_release_id(lib, member);
    }
    if (made >= 0)
        lib->H5Tset_size(made, offset);
    return made;
}

hid_t vol_refs_old_type(h5_lib *lib, hid_t type) {
    const hid_t reference = *lib->H5T_STD_REF_OBJ_g;
    if (!vol_refs_are_new(lib, type))
        return lib->H5Tcopy(type);
    return lib->H5Tget_class(type) == H5T_VLEN ? lib->H5Tvlen_create(reference)
                                               : new_old_compound(lib, type, reference);
}

static herr_t compounds_to_old(const replacing *how, hid_t type, hid_t old_type, size_t count,
                               const char *elements, void **old) {
    h5_lib *lib = how->lib;
    const size_t size = lib->H5Tget_size(type), old_size = lib->H5Tget_size(old_type);
    char *out = calloc(count, old_size);
    *old = out;
    if (!out)
        return -1;
    for (int i = 0; i < lib->H5Tget_nmembers(type); i++) {
        const size_t from = lib->H5Tget_member_offset(type, (unsigned)i);
        const size_t to = lib->H5Tget_member_offset(old_type, (unsigned)i);
        hid_t member = lib->H5Tget_member_type(type, (unsigned)i);
        const bool is_reference = is_new(lib, member);
        const size_t bytes = lib->H5Tget_size(member);
        vol_release_id(lib, member);
        for (size_t n = 0; n < count; n++) {
            const char *element = elements + n * size + from;
            const uint64_t token = is_reference ? how->token(how->context, element) : 1;
            if (!token)
                return push_nowhere(lib);
            memcpy(out + n * old_size + to, is_reference ? (const char *)&token : element,
                   is_reference ? sizeof token : bytes);
        }
    }
    return 0;
}

herr_t vol_refs_convert_to_old(h5_lib *lib, hid_t type, size_t count, const void *elements,
                               vol_ref_token token, void *context, hid_t *old_type, void **old) {
    const replacing how = {.lib = lib, .token = token, .context = context};
    const bool is_list = lib->H5Tget_class(type) == H5T_VLEN;
    *old = NULL;
    *old_type = vol_refs_old_type(lib, type);
    herr_t result = -1;
    if (*old_type >= 0)
        result = is_list ? lists_to_old(&how, count, elements, old)
                         : compounds_to_old(&how, type, *old_type, count, elements, old);
    if (result >= 0)
        return 0;
    free(*old);
    *old = NULL;
    vol_release_id(lib, *old_type);
    return -1;
}

herr_t vol_refs_to_old(vol_file *file, hid_t type, size_t count, const void *elements,
                       hid_t *old_type, void **old) {
    return vol_refs_convert_to_old(file->lib, type, count, elements, token_of_new, file, old_type,
                                   old);
}
