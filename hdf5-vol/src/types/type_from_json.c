/* SPDX-License-Identifier: MIT */
/* Types from JSON: see type_json.h. Ids are closed by vol_release_id, which leaves errors for
   vol_type_parse to look at. */
#include "types/type_json.h"

#include "hdf5/errors.h"
#include "types/types.h"

#include <string.h>

/* ---- Numbers without padding ---- */

hid_t vol_type_of_text(h5_lib *lib, const char *text) {
    if (strlen(text) != 3 || !strchr("<>", text[0]) || !strchr("iuf", text[1]) ||
        !strchr("1248", text[2]))
        return -1;
    const bool little = text[0] == '<';
    const zb_dtype dtype = {.kind = text[1] == 'i'   ? ZB_KIND_INT
                                    : text[1] == 'u' ? ZB_KIND_UINT
                                                     : ZB_KIND_FLOAT,
                            .size = (uint32_t)(text[2] - '0')};
    if (dtype.kind == ZB_KIND_FLOAT && dtype.size == 1)
        return -1;
    hid_t type = vol_type_new(lib, dtype);
    if (type >= 0 && lib->H5Tset_order(type, little ? H5T_ORDER_LE : H5T_ORDER_BE) < 0) {
        vol_release_id(lib, type);
        type = -1;
    }
    return type;
}

/* ---- Members ---- */

static hid_t parse(h5_lib *lib, const zb_json *json);

static bool get_size(const zb_json *json, const char *name, size_t *out) {
    uint64_t value;
    if (!zb_json_uint64(zb_json_get(json, name), &value) || value > INT32_MAX)
        return false;
    *out = (size_t)value;
    return true;
}

static bool get_pair(const zb_json *json, const char *name, size_t out[2]) {
    const zb_json *pair = zb_json_get(json, name), *first = zb_json_first(pair);
    uint64_t values[2];
    if (zb_json_kind_of(pair) != ZB_JSON_ARRAY || zb_json_count(pair) != 2 ||
        !zb_json_uint64(first, &values[0]) || !zb_json_uint64(zb_json_next(first), &values[1]) ||
        values[0] > INT32_MAX || values[1] > INT32_MAX)
        return false;
    out[0] = (size_t)values[0];
    out[1] = (size_t)values[1];
    return true;
}

static bool get_order(const zb_json *json, H5T_order_t *out) {
    const char *text = zb_json_string(zb_json_get(json, "order"));
    *out = text && *text == '>' ? H5T_ORDER_BE : H5T_ORDER_LE;
    return text && strlen(text) == 1 && strchr("<>", *text);
}

/* Precision and offset move within the size, so both are made small before it shrinks. */
static bool set_bits(h5_lib *lib, hid_t type, const zb_json *json) {
    size_t precision, offset, pad[2];
    H5T_order_t order;
    return get_size(json, "precision", &precision) && get_size(json, "offset", &offset) &&
           get_pair(json, "pad", pad) && get_order(json, &order) && pad[0] < H5T_NPAD &&
           pad[1] < H5T_NPAD && lib->H5Tset_order(type, order) >= 0 &&
           lib->H5Tset_precision(type, precision) >= 0 && lib->H5Tset_offset(type, offset) >= 0 &&
           lib->H5Tset_pad(type, (H5T_pad_t)pad[0], (H5T_pad_t)pad[1]) >= 0;
}

static bool set_integer(h5_lib *lib, hid_t type, const zb_json *json) {
    const bool is_signed = zb_json_bool(zb_json_get(json, "signed"));
    const H5T_class_t class = lib->H5Tget_class(type);
    return set_bits(lib, type, json) &&
           (class != H5T_INTEGER ||
            lib->H5Tset_sign(type, is_signed ? H5T_SGN_2 : H5T_SGN_NONE) >= 0);
}

static bool set_float(h5_lib *lib, hid_t type, const zb_json *json) {
    size_t sign, exponent[2], mantissa[2], bias, norm, inpad;
    return get_size(json, "sign", &sign) && get_pair(json, "exponent", exponent) &&
           get_pair(json, "mantissa", mantissa) && get_size(json, "bias", &bias) &&
           get_size(json, "norm", &norm) && get_size(json, "inpad", &inpad) &&
           norm <= H5T_NORM_NONE && inpad < H5T_NPAD && set_bits(lib, type, json) &&
           lib->H5Tset_fields(type, sign, exponent[0], exponent[1], mantissa[0], mantissa[1]) >=
               0 &&
           lib->H5Tset_ebias(type, bias) >= 0 && lib->H5Tset_norm(type, (H5T_norm_t)norm) >= 0 &&
           lib->H5Tset_inpad(type, (H5T_pad_t)inpad) >= 0;
}

/* The fields of a float have to lie within the precision at each step, so they begin small. A copy
   of a number, of the size and bits that the JSON says. */
static hid_t parse_bits(h5_lib *lib, hid_t like, const zb_json *json) {
    enum { LARGEST = 64 }; /* bytes; HDF5 has no number of more than 16 */
    size_t size;
    if (!get_size(json, "size", &size) || size == 0 || size > LARGEST)
        return -1;
    hid_t type = lib->H5Tcopy(like);
    const bool is_float = lib->H5Tget_class(type) == H5T_FLOAT;
    if (type >= 0 && (!is_float || lib->H5Tset_fields(type, 2, 1, 1, 0, 1) >= 0) &&
        lib->H5Tset_size(type, size) >= 0 &&
        (is_float ? set_float(lib, type, json) : set_integer(lib, type, json)))
        return type;
    vol_release_id(lib, type);
    return -1;
}

static hid_t parse_string(h5_lib *lib, const zb_json *json) {
    size_t size = H5T_VARIABLE, padding, charset;
    const char *text = zb_json_string(zb_json_get(json, "size"));
    if ((text ? strcmp(text, "variable") != 0 : !get_size(json, "size", &size) || size == 0) ||
        !get_size(json, "padding", &padding) || !get_size(json, "charset", &charset) ||
        padding > H5T_STR_SPACEPAD || charset > H5T_CSET_UTF8)
        return -1;
    hid_t type = vol_type_fixed_text(lib, size);
    if (lib->H5Tset_strpad(type, (H5T_str_t)padding) >= 0 &&
        lib->H5Tset_cset(type, (H5T_cset_t)charset) >= 0)
        return type;
    vol_release_id(lib, type);
    return -1;
}

static hid_t parse_opaque(h5_lib *lib, const zb_json *json) {
    size_t size;
    const char *tag = zb_json_string(zb_json_get(json, "tag"));
    if (!get_size(json, "size", &size) || size == 0 || !tag || strlen(tag) >= H5T_OPAQUE_TAG_MAX)
        return -1;
    hid_t type = lib->H5Tcreate(H5T_OPAQUE, size);
    if (type >= 0 && lib->H5Tset_tag(type, tag) < 0) {
        vol_release_id(lib, type);
        type = -1;
    }
    return type;
}

/* One member of a compound: [name, offset, type]. */
static bool insert_member(h5_lib *lib, hid_t type, const zb_json *member) {
    const zb_json *name = zb_json_first(member), *offset = zb_json_next(name);
    uint64_t at;
    if (zb_json_kind_of(member) != ZB_JSON_ARRAY || zb_json_count(member) != 3 ||
        !zb_json_string(name) || !zb_json_uint64(offset, &at) || at > INT32_MAX)
        return false;
    hid_t part = parse(lib, zb_json_next(offset));
    const bool good = part >= 0 && lib->H5Tinsert(type, zb_json_string(name), at, part) >= 0;
    vol_release_id(lib, part);
    return good;
}

static hid_t parse_compound(h5_lib *lib, const zb_json *json) {
    const zb_json *members = zb_json_get(json, "members");
    size_t size;
    if (!get_size(json, "size", &size) || size == 0 || zb_json_count(members) == 0)
        return -1;
    hid_t type = lib->H5Tcreate(H5T_COMPOUND, size);
    bool good = type >= 0;
    for (const zb_json *member = zb_json_first(members); member && good;
         member = zb_json_next(member))
        good = insert_member(lib, type, member);
    if (!good)
        vol_release_id(lib, type);
    return good ? type : -1;
}

/* One member of an enumeration: [name, integer], which the base has to hold. */
static bool insert_value(h5_lib *lib, hid_t type, hid_t base, const zb_json *member) {
    const zb_json *name = zb_json_first(member), *value = zb_json_next(name);
    const bool is_signed = lib->H5Tget_sign(base) != H5T_SGN_NONE;
    unsigned char data[64] = {0};
    int64_t number;
    uint64_t large;
    if (zb_json_kind_of(member) != ZB_JSON_ARRAY || zb_json_count(member) != 2 ||
        !zb_json_string(name) || lib->H5Tget_size(base) > sizeof data ||
        !(is_signed ? zb_json_int64(value, &number) : zb_json_uint64(value, &large)))
        return false;
    memcpy(data, is_signed ? (const void *)&number : (const void *)&large, sizeof number);
    return lib->H5Tconvert(is_signed ? *lib->H5T_NATIVE_INT64_g : *lib->H5T_NATIVE_UINT64_g, base,
                           1, data, NULL, *lib->H5P_LST_DATASET_XFER_ID_g) >= 0 &&
           lib->H5Tenum_insert(type, zb_json_string(name), data) >= 0;
}

static hid_t parse_enum(h5_lib *lib, hid_t base, const zb_json *json) {
    if (lib->H5Tget_class(base) != H5T_INTEGER)
        return -1;
    hid_t type = lib->H5Tenum_create(base);
    const zb_json *members = zb_json_get(json, "members");
    bool good = type >= 0;
    for (const zb_json *member = zb_json_first(members); member && good;
         member = zb_json_next(member))
        good = insert_value(lib, type, base, member);
    if (!good)
        vol_release_id(lib, type);
    return good ? type : -1;
}

static hid_t parse_array(h5_lib *lib, hid_t base, const zb_json *json) {
    hsize_t dims[H5S_MAX_RANK];
    const zb_json *shape = zb_json_get(json, "shape");
    uint64_t bytes = lib->H5Tget_size(base);
    unsigned ndim = 0;
    if (zb_json_count(shape) == 0 || zb_json_count(shape) > H5S_MAX_RANK)
        return -1;
    for (const zb_json *side = zb_json_first(shape); side; side = zb_json_next(side)) {
        uint64_t extent;
        if (!zb_json_uint64(side, &extent) || extent == 0 || extent > INT32_MAX / bytes)
            return -1;
        bytes *= extent;
        dims[ndim++] = extent;
    }
    return lib->H5Tarray_create2(base, ndim, dims);
}

static hid_t parse_complex(h5_lib *lib, hid_t base) {
    return lib->H5Tcomplex_create ? lib->H5Tcomplex_create(base) : -1;
}

static hid_t parse_based(h5_lib *lib, const char *class, const zb_json *json) {
    hid_t base = parse(lib, zb_json_get(json, "base"));
    hid_t type = base < 0                        ? -1
                 : strcmp(class, "enum") == 0    ? parse_enum(lib, base, json)
                 : strcmp(class, "array") == 0   ? parse_array(lib, base, json)
                 : strcmp(class, "vlen") == 0    ? lib->H5Tvlen_create(base)
                 : strcmp(class, "complex") == 0 ? parse_complex(lib, base)
                                                 : -1;
    vol_release_id(lib, base);
    return type;
}

static hid_t parse_reference(h5_lib *lib, const zb_json *json) {
    const char *kind = zb_json_string(zb_json_get(json, "kind"));
    if (!kind)
        return -1;
    if (strcmp(kind, "object") == 0)
        return lib->H5Tcopy(*lib->H5T_STD_REF_OBJ_g);
    if (strcmp(kind, "region") == 0)
        return lib->H5Tcopy(*lib->H5T_STD_REF_DSETREG_g);
    return strcmp(kind, "any") == 0 ? lib->H5Tcopy(*lib->H5T_STD_REF_g) : -1;
}

/* Recursion is as deep as the document, which json_depth limits. */
static hid_t parse(h5_lib *lib, const zb_json *json) {
    const char *text = zb_json_string(json);
    const char *class = zb_json_string(zb_json_get(json, "class"));
    if (text)
        return vol_type_of_text(lib, text);
    if (!class)
        return -1;
    if (strcmp(class, "integer") == 0)
        return parse_bits(lib, *lib->H5T_NATIVE_INT32_g, json);
    if (strcmp(class, "bitfield") == 0)
        return parse_bits(lib, *lib->H5T_STD_B32LE_g, json);
    if (strcmp(class, "time") == 0)
        return parse_bits(lib, *lib->H5T_UNIX_D32LE_g, json);
    if (strcmp(class, "float") == 0)
        return parse_bits(lib, *lib->H5T_IEEE_F64LE_g, json);
    if (strcmp(class, "string") == 0)
        return parse_string(lib, json);
    if (strcmp(class, "opaque") == 0)
        return parse_opaque(lib, json);
    if (strcmp(class, "compound") == 0)
        return parse_compound(lib, json);
    if (strcmp(class, "reference") == 0)
        return parse_reference(lib, json);
    return parse_based(lib, class, json);
}

hid_t vol_type_parse(h5_lib *lib, const zb_json *json, bool *lacks_memory) {
    hid_t stack = vol_stack_save(lib);
    hid_t type = parse(lib, json);
    *lacks_memory = type < 0 && vol_stack_lacks_memory(lib);
    vol_stack_restore(lib, stack);
    return type;
}
