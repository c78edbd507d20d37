/* SPDX-License-Identifier: MIT */
/* See stored_type.h. */
#include "types/stored_type.h"

#include "hdf5/errors.h"
#include "hdf5/times.h"
#include "types/types.h"
#include "zarrbridge/limits.h"

#include <stdlib.h>
#include <string.h>

static const bool host_is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

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
        {H5T_INTEGER, "integers of this size, or with unused bits; use 8, 16, 32 or 64 bits"},
        {H5T_FLOAT, "floats of more than 64 bytes; use float16, float32 or float64"},
        {H5T_ENUM, "enumerations of integers of more than 8 bytes; use 8, 16, 32 or 64 bits"},
        {H5T_BITFIELD, "bitfields of more than 64 bytes; use several"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].class == class)
            return zb_fail(err, ZB_EUNSUPPORTED, "Zarr has no data type for %s", reasons[i].what);
    return zb_fail(err, ZB_EUNSUPPORTED, "Zarr has no data type for this type");
}

/* ---- Compounds ---- */

/* One type in both forms. */
typedef struct form {
    zb_dtype view, stored;
} form;

static enum zb_code make_fixed(h5_lib *lib, hid_t type, unsigned depth, vol_element *out,
                               form *made, zb_error *err);

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
                                vol_element *out, zb_field *view, zb_field *stored, zb_error *err) {
    enum zb_code code = take_name(lib, type, member, out, &view->name, err);
    if (code)
        return code;
    form made;
    hid_t of = lib->H5Tget_member_type(type, member);
    code = make_fixed(lib, of, depth, out, &made, err);
    if (of >= 0)
        lib->H5Tclose(of);
    if (code)
        return zb_error_prefix(err, code, "member '%s'", view->name);
    stored->name = view->name;
    stored->dtype = made.stored;
    stored->dtype.swapped = false; /* structs are stored in the host's order */
    view->dtype = made.view;
    view->offset = (uint32_t)lib->H5Tget_member_offset(type, member);
    return ZB_OK;
}

/* Side by side, in HDF5's order, since Zarr has no gaps between fields. */
static void pack(zb_field *fields, size_t count, uint32_t *size) {
    *size = 0;
    for (size_t i = 0; i < count; i++) {
        fields[i].offset = *size; /* members lie apart in the compound: the sum is not larger */
        *size += fields[i].dtype.size;
    }
}

static int by_offset(const void *a, const void *b) {
    const zb_field *first = a, *second = b;
    return (first->offset > second->offset) - (first->offset < second->offset);
}

static bool set_fields(vol_element *out, zb_dtype *dtype, zb_field *fields, size_t count) {
    zb_dtype_detail *detail = own(out, 1, sizeof *detail);
    if (!detail)
        return false;
    detail->fields = fields;
    detail->field_count = count;
    dtype->kind = ZB_KIND_STRUCT;
    dtype->swapped = false;
    dtype->detail = detail;
    return true;
}

static enum zb_code make_struct(h5_lib *lib, hid_t type, unsigned depth, vol_element *out,
                                form *made, zb_error *err) {
    const int members = lib->H5Tget_nmembers(type);
    const size_t count = members > 0 ? (size_t)members : 0;
    if (count < 1 || count > zb_limits_get()->fields || depth == MAX_DEPTH)
        return zb_fail(err, ZB_ELIMIT, "a compound of %d members, in %u others, is too large",
                       members, depth);
    zb_field *view = own(out, count, sizeof *view), *stored = own(out, count, sizeof *stored);
    enum zb_code code = view && stored ? ZB_OK : fail_memory(err);
    for (unsigned i = 0; i < count && !code; i++)
        code = take_member(lib, type, i, depth + 1, out, &view[i], &stored[i], err);
    if (code)
        return code;
    made->view.size = (uint32_t)lib->H5Tget_size(type);
    pack(stored, count, &made->stored.size);
    qsort(view, count, sizeof *view, by_offset);
    return set_fields(out, &made->view, view, count) &&
                   set_fields(out, &made->stored, stored, count)
               ? ZB_OK
               : fail_memory(err);
}

/* ---- Elements of a fixed size ---- */

/* Integers, enumerations, times, bitfields and floats that no numbers of Zarr are (with padding, of
   3 bytes, long doubles) are bytes. HDF5's JSON (type_json.h) tells of those of up to 64 bytes, and
   HDF5 converts integers of up to 8. */
static bool make_padded(uint32_t largest, zb_dtype *dtype) {
    *dtype = (zb_dtype){.kind = ZB_KIND_RAW, .size = dtype->size};
    return dtype->size <= largest;
}

/* The integers that stand for the values of an enumeration. */
static bool make_base(h5_lib *lib, hid_t type, zb_dtype *dtype) {
    hid_t base = lib->H5Tget_super(type);
    const bool is_integer = base >= 0 && lib->H5Tget_class(base) == H5T_INTEGER;
    const bool is_plain = is_integer && vol_type_to_dtype(lib, base, dtype);
    vol_release_id(lib, base);
    return is_plain || (is_integer && make_padded(sizeof(uint64_t), dtype));
}

static bool make_bits(h5_lib *lib, hid_t type, enum zb_kind kind, zb_dtype *dtype) {
    const uint32_t size = dtype->size;
    dtype->kind = kind;
    dtype->swapped = size > 1 && (lib->H5Tget_order(type) == H5T_ORDER_LE) != host_is_little;
    return size == 1 || size == 2 || size == 4 || size == 8 || make_padded(64, dtype);
}

/* Types that have one form: bytes of the element that mean the same in the store. */
static bool make_plain(h5_lib *lib, hid_t type, zb_dtype *dtype) {
    const int class = lib->H5Tget_class(type);
    switch (class) {
    case H5T_INTEGER:
        return make_padded(sizeof(uint64_t), dtype);
    case H5T_FLOAT:
        return make_padded(64, dtype);
    case H5_CLASS_COMPLEX:
        return make_padded(2 * 64, dtype);
    case H5T_ENUM:
        return make_base(lib, type, dtype);
    case H5T_BITFIELD:
        return make_bits(lib, type, ZB_KIND_UINT, dtype);
    case H5T_TIME: /* seconds since 1970 */
        return make_bits(lib, type, ZB_KIND_INT, dtype);
    case H5T_OPAQUE:
        dtype->kind = ZB_KIND_RAW;
        return true;
    case H5T_STRING:
        dtype->kind = ZB_KIND_CHARS;
        return lib->H5Tis_variable_str(type) <= 0;
    case H5T_ARRAY: /* an element, or a field, has no dimensions of its own */
        dtype->kind = ZB_KIND_RAW;
        return true;
    default:
        return false;
    }
}

/* depth: the number of compounds around it. */
static enum zb_code make_fixed(h5_lib *lib, hid_t type, unsigned depth, vol_element *out,
                               form *made, zb_error *err) {
    const size_t size = lib->H5Tget_size(type);
    const H5T_class_t class = lib->H5Tget_class(type);
    zb_dtype dtype;
    if (size == 0 || size > INT32_MAX)
        return fail_type(class, err);
    if (!vol_type_to_dtype(lib, type, &dtype) && !vol_type_to_small(lib, type, &dtype)) {
        dtype = (zb_dtype){.size = (uint32_t)size};
        *made = (form){.view = dtype, .stored = dtype};
        if (class == H5T_COMPOUND)
            return make_struct(lib, type, depth, out, made, err);
        if (!make_plain(lib, type, &dtype))
            return fail_type(class, err);
    }
    *made = (form){.view = dtype, .stored = dtype};
    return ZB_OK;
}

/* ---- The whole ---- */

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
    out->view = out->dtype;
    return ZB_OK;
}

static bool make_variable(h5_lib *lib, hid_t type, zb_dtype *dtype) {
    const bool is_text = lib->H5Tget_class(type) == H5T_STRING && lib->H5Tis_variable_str(type) > 0;
    if (!is_text && vol_type_item(lib, type) == 0)
        return false;
    *dtype = (zb_dtype){.kind = is_text ? ZB_KIND_STRING : ZB_KIND_BYTES, .size = sizeof(zb_slice)};
    return true;
}

enum zb_code vol_element_make(h5_lib *lib, hid_t type, vol_element *out, zb_error *err) {
    bool is_time;
    *out = (vol_element){.owned = NULL};
    if (make_variable(lib, type, &out->dtype)) {
        out->view = out->dtype;
        return ZB_OK;
    }
    if (vol_type_has_pointers(lib, type)) {
        out->nested = true;
        out->dtype = out->view = (zb_dtype){.kind = ZB_KIND_STRING, .size = sizeof(zb_slice)};
        return ZB_OK;
    }
    enum zb_code code = make_time(lib, type, out, &is_time, err);
    if (code || is_time)
        return code;
    form made;
    code = make_fixed(lib, type, 0, out, &made, err);
    if (code)
        return code;
    out->dtype = made.stored;
    out->view = made.view;
    return ZB_OK;
}

/* ---- Fitting ---- */

/* Fields of both lie in the order of the store; the byte order is the codec's. */
static bool is_same(zb_dtype a, zb_dtype b) {
    size_t count, other;
    const zb_field *first = zb_dtype_fields(a, &count), *second = zb_dtype_fields(b, &other);
    if (a.kind != b.kind || a.size != b.size || count != other)
        return false;
    a.swapped = b.swapped = false;
    if (a.kind != ZB_KIND_STRUCT)
        return zb_dtype_equal(a, b);
    bool same = true;
    for (size_t i = 0; i < count && same; i++)
        same = first[i].offset == second[i].offset && strcmp(first[i].name, second[i].name) == 0 &&
               is_same(first[i].dtype, second[i].dtype);
    return same;
}

bool vol_element_fits(const vol_element *element, zb_dtype stored) {
    return is_same(element->dtype, stored);
}
