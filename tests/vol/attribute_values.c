/* SPDX-License-Identifier: MIT */
#include "attribute_values.h"

#include <stdlib.h>
#include <string.h>

#define GUARD 64

/* ---- Buffers with a guard ---- */

guarded new_guarded(size_t size) {
    guarded made = {size, malloc(size + 2 * GUARD)};
    memset(made.all, 0xa5, size + 2 * GUARD);
    return made;
}

void *data_of(guarded *buffer) {
    return buffer->all + GUARD;
}

void check_guard(const guarded *buffer) {
    for (size_t i = 0; i < GUARD; i++) {
        assert_int_equal(buffer->all[i], 0xa5);
        assert_int_equal(buffer->all[GUARD + buffer->size + i], 0xa5);
    }
}

void free_guarded(guarded *buffer) {
    check_guard(buffer);
    free(buffer->all);
}

/* ---- Types and dataspaces ---- */

hid_t text(size_t size, H5T_str_t padding, H5T_cset_t set) {
    hid_t type = H5Tcopy(H5T_C_S1);
    assert_true(H5Tset_size(type, size) >= 0 && H5Tset_cset(type, set) >= 0);
    if (size != H5T_VARIABLE)
        assert_true(H5Tset_strpad(type, padding) >= 0);
    return type;
}

static hid_t boolean(void) {
    const int8_t no = 0, yes = 1;
    hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    H5Tenum_insert(type, "FALSE", &no);
    H5Tenum_insert(type, "TRUE", &yes);
    return type;
}

void make_types(hid_t types[TYPES]) {
    const hid_t plain[] = {H5T_STD_I8LE,   H5T_STD_U8BE,  H5T_STD_I16BE,  H5T_STD_U16LE,
                           H5T_STD_I32LE,  H5T_STD_U32BE, H5T_STD_I64LE,  H5T_STD_U64LE,
                           H5T_STD_I64BE,  H5T_STD_U64BE, H5T_IEEE_F32LE, H5T_IEEE_F32BE,
                           H5T_IEEE_F64LE, H5T_IEEE_F64BE};
    size_t n = 0;
    for (; n < sizeof plain / sizeof plain[0]; n++)
        types[n] = H5Tcopy(plain[n]);
    types[n++] = text(5, H5T_STR_NULLTERM, H5T_CSET_ASCII);
    types[n++] = text(5, H5T_STR_NULLPAD, H5T_CSET_UTF8);
    types[n++] = text(7, H5T_STR_SPACEPAD, H5T_CSET_ASCII);
    types[n++] = text(H5T_VARIABLE, H5T_STR_NULLTERM, H5T_CSET_ASCII);
    types[n++] = text(H5T_VARIABLE, H5T_STR_NULLTERM, H5T_CSET_UTF8);
    types[n++] = boolean();
    assert_int_equal(n, TYPES);
}

void make_spaces(hid_t spaces[SPACES]) {
    const hsize_t six[] = {6}, one[] = {1}, matrix[] = {2, 3}, nothing[] = {0}, empty[] = {0, 3};
    spaces[0] = H5Screate(H5S_SCALAR);
    spaces[1] = H5Screate_simple(1, six, NULL);
    spaces[2] = H5Screate_simple(1, one, NULL);
    spaces[3] = H5Screate_simple(2, matrix, NULL);
    spaces[4] = H5Screate_simple(1, nothing, NULL);
    spaces[5] = H5Screate_simple(2, empty, NULL);
    spaces[6] = H5Screate(H5S_NULL);
}

/* ---- Values ---- */

int is_variable(hid_t type) {
    return H5Tis_variable_str(type) > 0;
}

size_t bytes_of(hid_t type, hid_t space) {
    return (size_t)H5Sget_simple_extent_npoints(space) * H5Tget_size(type);
}

void fill(hid_t type, size_t count, void *out) {
    static const char *const texts[] = {"NaN", "b", "", "d\"d", "Infinity", "ff"};
    const size_t size = H5Tget_size(type);
    unsigned char *at = out;
    for (size_t i = 0; i < count; i++, at += size) {
        if (is_variable(type)) {
            const char *element = texts[i % 6];
            memcpy(at, &element, sizeof element);
        } else if (H5Tget_class(type) == H5T_STRING) {
            memset(at, H5Tget_strpad(type) == H5T_STR_SPACEPAD ? ' ' : 0, size);
            memcpy(at, texts[i % 6], strlen(texts[i % 6]) < size ? strlen(texts[i % 6]) : size);
        } else if (H5Tget_class(type) == H5T_ENUM) {
            *at = i % 2;
        } else {
            const long long values[] = {-1, 1, 100, 255, -128, 65535};
            unsigned char element[8];
            memcpy(element, &values[i % 6], 8);
            assert_true(H5Tconvert(H5T_NATIVE_LLONG, type, 1, element, NULL, H5P_DEFAULT) >= 0);
            memcpy(at, element, size);
        }
    }
}

static int same_element(hid_t type, const unsigned char *a, const unsigned char *b) {
    const char *left, *right;
    if (!is_variable(type))
        return memcmp(a, b, H5Tget_size(type)) == 0;
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return strcmp(left ? left : "", right ? right : "") == 0;
}

void assert_same(hid_t type, hid_t space, const void *a, const void *b) {
    const size_t size = H5Tget_size(type), count = (size_t)H5Sget_simple_extent_npoints(space);
    const unsigned char *left = a, *right = b;
    for (size_t i = 0; i < count; i++)
        assert_true(same_element(type, left + i * size, right + i * size));
}

void reclaim(hid_t type, hid_t space, guarded *buffer) {
    if (is_variable(type) && H5Sget_simple_extent_type(space) != H5S_NULL)
        H5Treclaim(type, space, H5P_DEFAULT, data_of(buffer));
}
