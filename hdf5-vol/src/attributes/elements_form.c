/* SPDX-License-Identifier: MIT */
/* Types taken apart: see elements.h. */
#include "attributes/elements.h"

#include "types/type_json.h"
#include "hdf5/errors.h"
#include "types/types.h"

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
