/* SPDX-License-Identifier: MIT */
/* Types taken apart: see elements.h. */
#include "attributes/elements.h"

#include "types/type_json.h"
#include "hdf5/errors.h"
#include "types/types.h"
#include "objects/paths.h"
#include "objects/token_search.h"
#include "objects/tokens.h"
#include "tree/map.h"

#include <stdlib.h>
#include <string.h>

#define DEEPEST 32

void vol_form_free(vol_form *form) {
    if (!form)
        return;
    for (size_t i = 0; form->member && i < form->count; i++) {
        free(form->member[i].name);
        vol_form_free(form->member[i].form);
    }
    free(form->member);
    vol_form_free(form->base);
    vol_release_id(form->lib, form->number > 0 ? form->number : -1); /* errors stay */
    free(form);
}

void vol_form_go_by_path(vol_form *form) {
    form->by_path = true;
    for (size_t i = 0; form->member && i < form->count; i++)
        vol_form_go_by_path(form->member[i].form);
    if (form->base)
        vol_form_go_by_path(form->base);
}

bool vol_form_has(const vol_form *form, enum vol_form_kind kind) {
    if (form->kind == kind)
        return true;
    for (size_t i = 0; form->member && i < form->count; i++)
        if (vol_form_has(form->member[i].form, kind))
            return true;
    return form->base && vol_form_has(form->base, kind);
}

bool vol_form_points(const vol_form *form) {
    if (form->kind == VOL_FORM_VLEN || (form->kind == VOL_FORM_TEXT && form->text.is_variable))
        return true;
    for (size_t i = 0; form->member && i < form->count; i++)
        if (vol_form_points(form->member[i].form))
            return true;
    return form->base && vol_form_points(form->base);
}

/* ---- Making ---- */

static enum zb_code fill(vol_form *form, hid_t type, unsigned depth, zb_error *err);

static enum zb_code fail(const char *what, zb_error *err) {
    return zb_fail(err, ZB_EUNSUPPORTED, "a Zarr store cannot hold %s", what);
}

static enum zb_code make(const vol_form *like, hid_t type, unsigned depth, vol_form **out,
                         zb_error *err) {
    if (depth >= DEEPEST)
        return fail("types that are nested so deeply", err);
    *out = calloc(1, sizeof **out);
    if (!*out)
        return zb_fail(err, ZB_ENOMEM, "no memory for a type");
    (*out)->lib = like->lib;
    (*out)->file = like->file;
    return fill(*out, type, depth, err);
}

static enum zb_code fill_number(vol_form *form, hid_t type, zb_error *err) {
    h5_lib *lib = form->lib;
    const H5T_class_t class = lib->H5Tget_class(type);
    if (form->size > (class == H5T_FLOAT ? VOL_LARGEST_FLOAT : sizeof(uint64_t)))
        return fail(class == H5T_FLOAT ? "floats of more than 64 bytes; write float64"
                                       : "integers of more than 64 bits; write two of 64 bits",
                    err);
    form->kind = class == H5T_FLOAT                       ? VOL_FORM_FLOAT
                 : lib->H5Tget_sign(type) == H5T_SGN_NONE ? VOL_FORM_UINT
                                                          : VOL_FORM_INT;
    form->number = lib->H5Tcopy(type);
    return form->number > 0 ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a type");
}

static enum zb_code fill_enum(vol_form *form, hid_t type, zb_error *err) {
    zb_dtype dtype;
    if (vol_type_to_dtype(form->lib, type, &dtype)) {
        form->kind = VOL_FORM_BOOL;
        return ZB_OK;
    }
    hid_t base = form->lib->H5Tget_super(type);
    enum zb_code code = fill_number(form, base, err);
    if (base >= 0)
        form->lib->H5Tclose(base);
    return code;
}

static enum zb_code fill_bits(vol_form *form, hid_t type) {
    form->kind = form->size > sizeof(uint64_t) ? VOL_FORM_OPAQUE : VOL_FORM_BITS;
    form->is_big_endian = form->lib->H5Tget_order(type) == H5T_ORDER_BE;
    return ZB_OK;
}

/* Seconds since 1970, which HDF5 converts to nothing: an integer of the same bytes stands for
   it. */
static enum zb_code fill_time(vol_form *form, hid_t type, zb_error *err) {
    const bool is_big = form->lib->H5Tget_order(type) == H5T_ORDER_BE;
    if (form->size != sizeof(int32_t) && form->size != sizeof(int64_t))
        return fill_bits(form, type);
    form->kind = VOL_FORM_INT;
    form->number =
        vol_type_of_text(form->lib, form->size == sizeof(int32_t) ? (is_big ? ">i4" : "<i4")
                                                                  : (is_big ? ">i8" : "<i8"));
    return form->number > 0 ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a type");
}

static enum zb_code fill_reference(vol_form *form, hid_t type, zb_error *err) {
    form->kind = VOL_FORM_REFERENCE;
    vol_moved_outdate(form->file); /* another program may have moved what references lead to */
    if (vol_type_is_reference(form->lib, type, *form->lib->H5T_STD_REF_OBJ_g))
        return ZB_OK;
    return fail("references to regions, or of the kind H5T_STD_REF; write references to objects "
                "(H5T_STD_REF_OBJ), or paths as strings",
                err);
}

static enum zb_code fill_compound(vol_form *form, hid_t type, unsigned depth, zb_error *err) {
    h5_lib *lib = form->lib;
    const int count = lib->H5Tget_nmembers(type);
    enum zb_code code = ZB_OK;
    form->kind = VOL_FORM_COMPOUND;
    form->member = calloc(count > 0 ? (size_t)count : 1, sizeof *form->member);
    if (!form->member || count <= 0)
        return zb_fail(err, ZB_ENOMEM, "no memory for a compound");
    for (int i = 0; i < count && !code; i++) {
        vol_form_member *member = &form->member[form->count++];
        char *name = lib->H5Tget_member_name(type, (unsigned)i);
        hid_t part = lib->H5Tget_member_type(type, (unsigned)i);
        member->name = name ? strdup(name) : NULL;
        member->offset = lib->H5Tget_member_offset(type, (unsigned)i);
        code = member->name && part >= 0 ? make(form, part, depth + 1, &member->form, err)
                                         : zb_fail(err, ZB_ENOMEM, "no memory for a compound");
        lib->H5free_memory(name);
        if (part >= 0)
            lib->H5Tclose(part);
    }
    return code;
}

static enum zb_code fill_base(vol_form *form, hid_t type, unsigned depth, zb_error *err) {
    hid_t base = form->lib->H5Tget_super(type);
    enum zb_code code = make(form, base, depth + 1, &form->base, err);
    if (base >= 0)
        form->lib->H5Tclose(base);
    return code;
}

static enum zb_code fill_array(vol_form *form, hid_t type, unsigned depth, zb_error *err) {
    hsize_t dims[H5S_MAX_RANK];
    const int ndim = form->lib->H5Tget_array_ndims(type);
    form->kind = VOL_FORM_ARRAY;
    if (ndim <= 0 || ndim > ZB_MAX_NDIM || form->lib->H5Tget_array_dims2(type, dims) < 0)
        return fail("this array type", err);
    form->ndim = (uint32_t)ndim;
    form->count = 1;
    for (int d = 0; d < ndim; d++)
        form->count *= (size_t)(form->dims[d] = dims[d]);
    return fill_base(form, type, depth, err);
}

/* Recursion is bounded by DEEPEST. */
static enum zb_code fill(vol_form *form, hid_t type, unsigned depth, zb_error *err) {
    const int class = form->lib->H5Tget_class(type);
    form->size = form->lib->H5Tget_size(type);
    if (form->size == 0)
        return fail("this type", err);
    switch (class) {
    case H5T_INTEGER:
    case H5T_FLOAT:
        return fill_number(form, type, err);
    case H5T_ENUM:
        return fill_enum(form, type, err);
    case H5T_BITFIELD:
        return fill_bits(form, type);
    case H5T_TIME:
        return fill_time(form, type, err);
    case H5T_OPAQUE:
        form->kind = VOL_FORM_OPAQUE;
        return ZB_OK;
    case H5T_STRING:
        form->kind = VOL_FORM_TEXT;
        return vol_text_form_of(form->lib, type, &form->text) ? ZB_OK : fail("this type", err);
    case H5T_REFERENCE:
        return fill_reference(form, type, err);
    case H5T_COMPOUND:
        return fill_compound(form, type, depth, err);
    case H5T_ARRAY:
        return fill_array(form, type, depth, err);
    case H5T_VLEN:
        form->kind = VOL_FORM_VLEN;
        return fill_base(form, type, depth, err);
    case H5_CLASS_COMPLEX:
        form->kind = VOL_FORM_ARRAY;
        form->ndim = 1;
        form->count = (size_t)(form->dims[0] = 2);
        return fill_base(form, type, depth, err);
    default:
        return fail("this type", err);
    }
}

enum zb_code vol_form_new(vol_file *file, hid_t type, vol_form **out, zb_error *err) {
    const vol_form like = {.lib = file->lib, .file = file};
    *out = NULL;
    enum zb_code code = make(&like, type, 0, out, err);
    if (!code)
        return ZB_OK;
    vol_form_free(*out);
    *out = NULL;
    return code;
}

bool vol_form_new_list(const vol_form *form, uint64_t length, char *element, hvl_t *out) {
    const size_t size = form->base->size;
    if (length > VOL_ATTR_LARGEST / size)
        return false;
    *out = (hvl_t){.len = (size_t)length, .p = length ? calloc((size_t)length, size) : NULL};
    if (length && !out->p)
        return false;
    memcpy(element, out, sizeof *out);
    return true;
}

/* ---- References ---- */

/* The path of an object that is still to come. */
static const char *path_to_come(const vol_form *form, uint64_t token) {
    return form->file->to_come ? vol_map_get(form->file->to_come, token) : NULL;
}

/* *node is the one that has the path; NULL for an object that is still to come. */
static const char *find_path(const vol_form *form, const void *element, const vol_node **node) {
    uint64_t token;
    memcpy(&token, element, sizeof token);
    const char *path = token ? path_to_come(form, token) : NULL;
    *node = path || !token ? NULL : vol_node_by_token(form->file, token, NULL);
    return *node && !(*node)->loose ? (*node)->path : path;
}

const char *vol_reference_path(const vol_form *form, const void *element) {
    const vol_node *node;
    return find_path(form, element, &node);
}

enum zb_code vol_reference_text(const vol_form *form, const void *element, char **text,
                                zb_error *err) {
    const vol_node *node;
    const char *path = find_path(form, element, &node);
    *text = NULL;
    if (path && !form->by_path)
        return vol_moved_refer(form->file, path, node && !node->is_dimension, text, err);
    if (path && !(*text = strdup(path)))
        return zb_fail(err, ZB_ENOMEM, "no memory for a reference");
    return ZB_OK;
}

/* A text that leads nowhere is a null reference; one that cannot be followed for another reason, as
   a limit, is none. Paths to come are not looked for: some of them stand for no node of the
   store. */
bool vol_reference_parse(const vol_form *form, const char *text, void *element) {
    zb_error err = {0};
    char *moved = form->by_path ? NULL : vol_moved_path(form->file, text, &err);
    if (err.code)
        return false;
    const char *path = form->by_path ? text : moved;
    uint64_t token = path ? vol_token_of_path(path) : 0;
    const bool comes = path && path_to_come(form, token) != NULL;
    const vol_node *node = comes || !path ? NULL : vol_node_find(form->file->root, path, &err);
    if (!comes)
        token = node ? node->token : 0;
    free(moved);
    memcpy(element, &token, sizeof token);
    return comes || node ||
           (err.code != ZB_ELIMIT && err.code != ZB_ENOMEM && err.code != ZB_ECANCELLED);
}

static bool visit_one(const vol_form *form, char *element, vol_reference_visit visit,
                      void *context) {
    uint64_t token, before;
    hvl_t list;
    if (form->kind == VOL_FORM_REFERENCE) {
        memcpy(&before, element, sizeof before); /* in a packed compound it lies anywhere */
        token = before;
        if (token && !visit(form, &token, context))
            return false;
        if (token != before) /* the program's memory may be one that cannot be written */
            memcpy(element, &token, sizeof token);
        return true;
    }
    if (form->kind == VOL_FORM_VLEN) {
        memcpy(&list, element, sizeof list);
        return !list.p || vol_elements_references(form->base, list.len, list.p, visit, context);
    }
    if (form->kind == VOL_FORM_ARRAY)
        return vol_elements_references(form->base, form->count, element, visit, context);
    for (size_t m = 0; form->member && m < form->count; m++)
        if (!vol_elements_references(form->member[m].form, 1, element + form->member[m].offset,
                                     visit, context))
            return false;
    return true;
}

bool vol_elements_references(const vol_form *form, size_t count, void *elements,
                             vol_reference_visit visit, void *context) {
    bool going = true;
    if (!vol_form_has(form, VOL_FORM_REFERENCE))
        return true;
    for (size_t i = 0; i < count && going; i++)
        going = visit_one(form, (char *)elements + i * form->size, visit, context);
    return going;
}

static bool take_lists(const vol_form *form, const char *element, const char *from) {
    hvl_t list, other;
    memcpy(&list, element, sizeof list);
    memcpy(&other, from, sizeof other);
    return list.len == other.len &&
           (list.len == 0 || vol_elements_take_references(form->base, list.len, list.p, other.p));
}

static bool take_one(const vol_form *form, char *element, const char *from) {
    if (form->kind == VOL_FORM_REFERENCE)
        memcpy(element, from, form->size);
    if (form->kind == VOL_FORM_VLEN)
        return take_lists(form, element, from);
    if (form->kind == VOL_FORM_ARRAY)
        return vol_elements_take_references(form->base, form->count, element, from);
    for (size_t m = 0; form->member && m < form->count; m++) {
        const size_t offset = form->member[m].offset;
        if (!vol_elements_take_references(form->member[m].form, 1, element + offset, from + offset))
            return false;
    }
    return true;
}

bool vol_elements_take_references(const vol_form *form, size_t count, void *elements,
                                  const void *from) {
    bool going = true;
    if (!vol_form_has(form, VOL_FORM_REFERENCE))
        return true;
    for (size_t i = 0; i < count && going; i++)
        going =
            take_one(form, (char *)elements + i * form->size, (const char *)from + i * form->size);
    return going;
}
