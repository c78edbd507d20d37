/* SPDX-License-Identifier: MIT */
/* See element.h. */
#include "create/element.h"

#include "hdf5/times.h"
#include "hdf5/types.h"
#include "zarrbridge/limits.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 32 /* of compounds in compounds: they are walked by recursion */

void vol_element_clear(vol_element *element) {
    for (size_t i = 0; i < element->owned_count; i++)
        free(element->owned[i]);
    free(element->owned);
    *element = (vol_element){.owned = NULL};
}

/* Zeroed memory that lives as long as the element; NULL without memory. */
static void *own(vol_element *element, size_t count, size_t size) {
    void **owned = realloc(element->owned, (element->owned_count + 1) * sizeof *owned);
    if (!owned)
        return NULL;
    element->owned = owned;
    void *made = calloc(count, size);
    if (made)
        owned[element->owned_count++] = made;
    return made;
}

static enum zb_code fail_memory(zb_error *err) {
    return zb_fail(err, ZB_ENOMEM, "no memory for a data type");
}

static enum zb_code fail_type(H5T_class_t class, zb_error *err) {
    static const struct {
        H5T_class_t class;
        const char *what;
    } reasons[] = {
        {H5T_INTEGER, "integers of this size or with padding bits; use 8, 16, 32 or 64 bits"},
        {H5T_FLOAT, "floats of this size or layout; use float16, float32 or float64"},
        {H5T_STRING, "variable-length strings in compounds; use strings of a fixed length"},
        {H5T_ENUM, "enumerations other than bool; store the integers"},
        {H5T_BITFIELD, "bitfields; use unsigned integers"},
        {H5T_OPAQUE, "opaque members with a tag; use integers, or members without a tag"},
        {H5T_REFERENCE, "references; store paths as attributes"},
        {H5T_VLEN, "variable-length elements other than 8-bit unsigned integers; store one long "
                   "array and the start of each part"},
        {H5T_ARRAY, "array elements; give the dataset more dimensions"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].class == class)
            return zb_fail(err, ZB_EUNSUPPORTED, "Zarr has no data type for %s", reasons[i].what);
    return zb_fail(err, ZB_EUNSUPPORTED, "Zarr has no data type for this type");
}

/* ---- Compounds ---- */

static enum zb_code make_fixed(h5_lib *lib, hid_t type, unsigned depth, vol_element *out,
                               zb_dtype *dtype, zb_error *err);

static enum zb_code take_name(h5_lib *lib, hid_t type, unsigned member, vol_element *out,
                              const char **name, zb_error *err) {
    char *text = lib->H5Tget_member_name(type, member);
    char *kept = text ? own(out, strlen(text) + 1, 1) : NULL;
    if (kept)
        memcpy(kept, text, strlen(text));
    lib->H5free_memory(text);
    *name = kept;
    return kept ? ZB_OK : fail_memory(err);
}

static enum zb_code take_member(h5_lib *lib, hid_t type, unsigned member, unsigned depth,
                                vol_element *out, zb_field *field, zb_error *err) {
    enum zb_code code = take_name(lib, type, member, out, &field->name, err);
    if (code)
        return code;
    hid_t of = lib->H5Tget_member_type(type, member);
    code = make_fixed(lib, of, depth, out, &field->dtype, err);
    if (of >= 0)
        lib->H5Tclose(of);
    field->dtype.swapped = false; /* structs are stored in the host's order */
    return code ? zb_error_prefix(err, code, "member '%s'", field->name) : ZB_OK;
}

/* Side by side, in HDF5's order, since Zarr has no gaps between fields. */
static void pack(zb_field *fields, size_t count, uint32_t *size) {
    *size = 0;
    for (size_t i = 0; i < count; i++) {
        fields[i].offset = *size; /* members lie apart in the compound: the sum is not larger */
        *size += fields[i].dtype.size;
    }
}

static enum zb_code make_struct(h5_lib *lib, hid_t type, unsigned depth, vol_element *out,
                                zb_dtype *dtype, zb_error *err) {
    const int count = lib->H5Tget_nmembers(type);
    if (count < 1 || (uint64_t)count > zb_limits_get()->fields || depth == MAX_DEPTH)
        return zb_fail(err, ZB_ELIMIT, "a compound of %d members, in %u others, is too large",
                       count, depth);
    zb_dtype_detail *detail = own(out, 1, sizeof *detail);
    zb_field *fields = own(out, (size_t)count, sizeof *fields);
    enum zb_code code = detail && fields ? ZB_OK : fail_memory(err);
    for (unsigned i = 0; i < (unsigned)count && !code; i++)
        code = take_member(lib, type, i, depth + 1, out, &fields[i], err);
    if (code)
        return code;
    *dtype = (zb_dtype){.kind = ZB_KIND_STRUCT, .detail = detail};
    pack(fields, (size_t)count, &dtype->size);
    detail->fields = fields;
    detail->field_count = (size_t)count;
    return ZB_OK;
}

/* ---- Elements of a fixed size ---- */

static enum zb_code make_opaque(h5_lib *lib, hid_t type, unsigned depth, zb_dtype *dtype,
                                zb_error *err) {
    char *tag = lib->H5Tget_tag(type);
    const bool is_tagged = tag && *tag;
    lib->H5free_memory(tag);
    if (is_tagged && depth > 0) /* HDF5 converts no opaque bytes into those of another tag */
        return fail_type(H5T_OPAQUE, err);
    *dtype = (zb_dtype){.kind = ZB_KIND_RAW, .size = dtype->size};
    return ZB_OK;
}

/* depth: the number of compounds around it. */
static enum zb_code make_fixed(h5_lib *lib, hid_t type, unsigned depth, vol_element *out,
                               zb_dtype *dtype, zb_error *err) {
    const size_t size = lib->H5Tget_size(type);
    const H5T_class_t class = lib->H5Tget_class(type);
    if (size == 0 || size > UINT32_MAX)
        return fail_type(class, err);
    if (vol_type_to_dtype(lib, type, dtype) || vol_type_to_small(lib, type, dtype))
        return ZB_OK;
    *dtype = (zb_dtype){.size = (uint32_t)size};
    if (class == H5T_COMPOUND)
        return make_struct(lib, type, depth, out, dtype, err);
    if (class == H5T_OPAQUE)
        return make_opaque(lib, type, depth, dtype, err);
    if (class != H5T_STRING || lib->H5Tis_variable_str(type) > 0)
        return fail_type(class, err);
    dtype->kind = ZB_KIND_CHARS;
    return ZB_OK;
}

/* ---- The whole ---- */

/* Has the type text of a fixed size of this character set, alone or in members? */
static bool has_charset(h5_lib *lib, hid_t type, H5T_cset_t charset) {
    const H5T_class_t class = lib->H5Tget_class(type);
    bool has = class == H5T_STRING && lib->H5Tget_cset(type) == charset;
    const int count = class == H5T_COMPOUND ? lib->H5Tget_nmembers(type) : 0;
    for (unsigned i = 0; count > 0 && i < (unsigned)count && !has; i++) {
        hid_t member = lib->H5Tget_member_type(type, i);
        has = member >= 0 && has_charset(lib, member, charset);
        if (member >= 0)
            lib->H5Tclose(member);
    }
    return has;
}

static enum zb_code make_time(h5_lib *lib, hid_t type, vol_element *out, bool *is_time,
                              zb_error *err) {
    zb_dtype_detail found;
    *is_time = vol_time_of(lib, type, &found, &out->dtype);
    if (!*is_time)
        return ZB_OK;
    zb_dtype_detail *detail = own(out, 1, sizeof *detail);
    if (!detail)
        return fail_memory(err);
    *detail = found;
    out->dtype.detail = detail;
    return ZB_OK;
}

enum zb_code vol_element_make(h5_lib *lib, hid_t type, vol_element *out, zb_error *err) {
    const bool is_string = lib->H5Tget_class(type) == H5T_STRING;
    bool is_time;
    *out = (vol_element){.owned = NULL};
    if (is_string && lib->H5Tis_variable_str(type) > 0) {
        out->dtype = (zb_dtype){.kind = ZB_KIND_STRING, .size = sizeof(zb_slice)};
        return ZB_OK;
    }
    if (vol_type_is_bytes(lib, type)) {
        out->dtype = (zb_dtype){.kind = ZB_KIND_BYTES, .size = sizeof(zb_slice)};
        return ZB_OK;
    }
    enum zb_code code = make_time(lib, type, out, &is_time, err);
    if (code || is_time)
        return code;
    code = make_fixed(lib, type, 0, out, &out->dtype, err);
    out->is_utf8 =
        !code && has_charset(lib, type, H5T_CSET_UTF8) && !has_charset(lib, type, H5T_CSET_ASCII);
    return code;
}
