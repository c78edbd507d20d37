/* SPDX-License-Identifier: MIT */
/* Types to JSON: see type_json.h. */
#include "types/type_json.h"

#include "hdf5/errors.h"
#include "types/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char order_letter(H5T_order_t order) {
    return order == H5T_ORDER_BE ? '>' : '<';
}

/* The short text of a number, if that is exact. */
static bool short_text(h5_lib *lib, hid_t type, char out[4]) {
    const H5T_class_t class = lib->H5Tget_class(type);
    const size_t size = lib->H5Tget_size(type);
    if ((class != H5T_INTEGER && class != H5T_FLOAT) || size == 0 || size > 8)
        return false;
    const char kind = class == H5T_FLOAT ? 'f' : lib->H5Tget_sign(type) == H5T_SGN_NONE ? 'u' : 'i';
    snprintf(out, 4, "%c%c%d", order_letter(lib->H5Tget_order(type)), kind, (int)size);
    hid_t same = vol_type_of_text(lib, out);
    const bool exact = same >= 0 && lib->H5Tequal(type, same) > 0;
    if (same >= 0)
        lib->H5Tclose(same);
    return exact;
}

/* ---- Printing ---- */

static void print(h5_lib *lib, hid_t type, zb_json_writer *out);

static void write_uint(zb_json_writer *out, const char *name, uint64_t value) {
    zb_json_write_name(out, name);
    zb_json_write_uint64(out, value);
}

static void write_text(zb_json_writer *out, const char *name, const char *text) {
    zb_json_write_name(out, name);
    zb_json_write_string(out, text);
}

static void write_pair(zb_json_writer *out, const char *name, uint64_t first, uint64_t second) {
    zb_json_write_name(out, name);
    zb_json_begin_array(out);
    zb_json_write_uint64(out, first);
    zb_json_write_uint64(out, second);
    zb_json_end_array(out);
}

/* What integers, bitfields, times and floats have in common. */
static void print_bits(h5_lib *lib, hid_t type, const char *class, zb_json_writer *out) {
    const char order[2] = {order_letter(lib->H5Tget_order(type)), '\0'};
    H5T_pad_t below = H5T_PAD_ZERO, above = H5T_PAD_ZERO;
    lib->H5Tget_pad(type, &below, &above);
    write_text(out, "class", class);
    write_uint(out, "size", lib->H5Tget_size(type));
    write_text(out, "order", order);
    write_uint(out, "precision", lib->H5Tget_precision(type));
    write_uint(out, "offset", (uint64_t)lib->H5Tget_offset(type));
    write_pair(out, "pad", (uint64_t)below, (uint64_t)above);
}

static void print_integer(h5_lib *lib, hid_t type, bool is_number, zb_json_writer *out) {
    print_bits(lib, type, is_number ? "integer" : "bitfield", out);
    zb_json_write_name(out, "signed");
    zb_json_write_bool(out, is_number && lib->H5Tget_sign(type) != H5T_SGN_NONE);
}

static void print_float(h5_lib *lib, hid_t type, zb_json_writer *out) {
    size_t sign = 0, exponent[2] = {0, 0}, mantissa[2] = {0, 0};
    print_bits(lib, type, "float", out);
    lib->H5Tget_fields(type, &sign, &exponent[0], &exponent[1], &mantissa[0], &mantissa[1]);
    write_uint(out, "sign", sign);
    write_pair(out, "exponent", exponent[0], exponent[1]);
    write_pair(out, "mantissa", mantissa[0], mantissa[1]);
    write_uint(out, "bias", lib->H5Tget_ebias(type));
    write_uint(out, "norm", (uint64_t)lib->H5Tget_norm(type));
    write_uint(out, "inpad", (uint64_t)lib->H5Tget_inpad(type));
}

static void print_string(h5_lib *lib, hid_t type, zb_json_writer *out) {
    write_text(out, "class", "string");
    if (lib->H5Tis_variable_str(type) > 0)
        write_text(out, "size", "variable");
    else
        write_uint(out, "size", lib->H5Tget_size(type));
    write_uint(out, "padding", (uint64_t)lib->H5Tget_strpad(type));
    write_uint(out, "charset", (uint64_t)lib->H5Tget_cset(type));
}

static void print_opaque(h5_lib *lib, hid_t type, zb_json_writer *out) {
    char *tag = lib->H5Tget_tag(type);
    write_text(out, "class", "opaque");
    write_uint(out, "size", lib->H5Tget_size(type));
    write_text(out, "tag", tag ? tag : "");
    lib->H5free_memory(tag);
}

static void print_based(h5_lib *lib, hid_t type, const char *class, zb_json_writer *out) {
    hid_t base = lib->H5Tget_super(type);
    write_text(out, "class", class);
    zb_json_write_name(out, "base");
    print(lib, base, out);
    if (base >= 0)
        lib->H5Tclose(base);
}

static void print_compound(h5_lib *lib, hid_t type, zb_json_writer *out) {
    const int count = lib->H5Tget_nmembers(type);
    write_text(out, "class", "compound");
    write_uint(out, "size", lib->H5Tget_size(type));
    zb_json_write_name(out, "members");
    zb_json_begin_array(out);
    for (int i = 0; i < count; i++) {
        char *name = lib->H5Tget_member_name(type, (unsigned)i);
        hid_t member = lib->H5Tget_member_type(type, (unsigned)i);
        zb_json_begin_array(out);
        zb_json_write_string(out, name ? name : "");
        zb_json_write_uint64(out, lib->H5Tget_member_offset(type, (unsigned)i));
        print(lib, member, out);
        zb_json_end_array(out);
        lib->H5free_memory(name);
        if (member >= 0)
            lib->H5Tclose(member);
    }
    zb_json_end_array(out);
}

/* Values are integers of the host here, whatever the base is. */
static void print_value(h5_lib *lib, hid_t type, hid_t base, unsigned i, zb_json_writer *out) {
    const bool is_signed = lib->H5Tget_sign(base) != H5T_SGN_NONE;
    const size_t size = lib->H5Tget_size(base);
    uint64_t wide = 0;
    unsigned char *value = calloc(1, size > sizeof wide ? size : sizeof wide);
    if (value && lib->H5Tget_member_value(type, i, value) >= 0 &&
        lib->H5Tconvert(base, is_signed ? *lib->H5T_NATIVE_INT64_g : *lib->H5T_NATIVE_UINT64_g, 1,
                        value, NULL, *lib->H5P_LST_DATASET_XFER_ID_g) >= 0)
        memcpy(&wide, value, sizeof wide);
    if (is_signed)
        zb_json_write_int64(out, (int64_t)wide);
    else
        zb_json_write_uint64(out, wide);
    free(value);
}

static void print_enum(h5_lib *lib, hid_t type, zb_json_writer *out) {
    const int count = lib->H5Tget_nmembers(type);
    hid_t base = lib->H5Tget_super(type);
    print_based(lib, type, "enum", out);
    zb_json_write_name(out, "members");
    zb_json_begin_array(out);
    for (int i = 0; i < count; i++) {
        char *name = lib->H5Tget_member_name(type, (unsigned)i);
        zb_json_begin_array(out);
        zb_json_write_string(out, name ? name : "");
        print_value(lib, type, base, (unsigned)i, out);
        zb_json_end_array(out);
        lib->H5free_memory(name);
    }
    zb_json_end_array(out);
    if (base >= 0)
        lib->H5Tclose(base);
}

static void print_array(h5_lib *lib, hid_t type, zb_json_writer *out) {
    hsize_t dims[H5S_MAX_RANK];
    const int ndim = lib->H5Tget_array_ndims(type);
    print_based(lib, type, "array", out);
    zb_json_write_name(out, "shape");
    zb_json_begin_array(out);
    if (ndim > 0 && lib->H5Tget_array_dims2(type, dims) >= 0)
        for (int d = 0; d < ndim; d++)
            zb_json_write_uint64(out, dims[d]);
    zb_json_end_array(out);
}

static void print_reference(h5_lib *lib, hid_t type, zb_json_writer *out) {
    const char *kind = lib->H5Tequal(type, *lib->H5T_STD_REF_OBJ_g) > 0       ? "object"
                       : lib->H5Tequal(type, *lib->H5T_STD_REF_DSETREG_g) > 0 ? "region"
                                                                              : "any";
    write_text(out, "class", "reference");
    write_text(out, "kind", kind);
}

static void print_class(h5_lib *lib, hid_t type, zb_json_writer *out) {
    const int class = lib->H5Tget_class(type);
    switch (class) {
    case H5T_INTEGER:
    case H5T_BITFIELD:
        print_integer(lib, type, class == H5T_INTEGER, out);
        break;
    case H5T_TIME:
        print_bits(lib, type, "time", out);
        break;
    case H5T_FLOAT:
        print_float(lib, type, out);
        break;
    case H5T_STRING:
        print_string(lib, type, out);
        break;
    case H5T_OPAQUE:
        print_opaque(lib, type, out);
        break;
    case H5T_COMPOUND:
        print_compound(lib, type, out);
        break;
    case H5T_ENUM:
        print_enum(lib, type, out);
        break;
    case H5T_VLEN:
        print_based(lib, type, "vlen", out);
        break;
    case H5T_ARRAY:
        print_array(lib, type, out);
        break;
    case H5T_REFERENCE:
        print_reference(lib, type, out);
        break;
    case H5_CLASS_COMPLEX:
        print_based(lib, type, "complex", out);
        break;
    default:
        write_text(out, "class", "unknown");
        break;
    }
}

static void print(h5_lib *lib, hid_t type, zb_json_writer *out) {
    char text[4];
    if (short_text(lib, type, text)) {
        zb_json_write_string(out, text);
        return;
    }
    zb_json_begin_object(out);
    print_class(lib, type, out);
    zb_json_end_object(out);
}

/* The proof that nothing is lost: the text is read again and compared. */
static bool is_exact(h5_lib *lib, hid_t type, const char *text, size_t size) {
    zb_json *json;
    if (zb_json_parse(text, size, &json, NULL) != ZB_OK)
        return false;
    bool lacks_memory;
    hid_t same = vol_type_parse(lib, json, &lacks_memory);
    const bool exact = same >= 0 && lib->H5Tequal(type, same) > 0;
    if (same >= 0)
        lib->H5Tclose(same);
    zb_json_free(json);
    return exact;
}

/* HDF5 makes no objects of a type without members, and so no copies of such an object. */
static bool lacks_members(h5_lib *lib, hid_t type) {
    const H5T_class_t class = lib->H5Tget_class(type);
    return (class == H5T_ENUM || class == H5T_COMPOUND) && lib->H5Tget_nmembers(type) == 0;
}

/* The floats of VAX: HDF5 makes none from what it tells of them. */
static enum zb_code fail_type(zb_error *err) {
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "the HDF5 type cannot be described in a store: take another one, to which HDF5 "
                   "converts the elements, such as H5T_NATIVE_DOUBLE for floats of VAX");
}

/* A copy is printed: to HDF5 the elements of a committed datatype that it has opened lie in a file,
   and so equal no other type. */
enum zb_code vol_type_print(h5_lib *lib, hid_t type, zb_json_writer *out, zb_error *err) {
    size_t size = 0;
    if (lacks_members(lib, type))
        return zb_fail(err, ZB_EINVAL, "a type of elements needs members: this one has none");
    hid_t stack = vol_stack_save(lib);
    zb_json_writer *writer = zb_json_writer_new();
    hid_t copy = lib->H5Tcopy(type);
    print(lib, copy, writer);
    char *text = zb_json_writer_end(writer, &size);
    const bool exact = text && is_exact(lib, copy, text, size);
    vol_release_id(lib, copy);
    vol_stack_restore(lib, stack);
    if (exact)
        zb_json_write_raw(out, text);
    free(text);
    if (exact)
        return ZB_OK;
    return text ? fail_type(err) : zb_fail(err, ZB_ENOMEM, "no memory for the text of a type");
}
