/* SPDX-License-Identifier: MIT */
/* Converting elements: see convert.h. */
#include "types/convert.h"

#include "hdf5/errors.h"
#include "types/type_json.h"

#include <stdlib.h>
#include <string.h>

hid_t vol_type_without_references(h5_lib *lib, hid_t type) {
    static const char reference[] = "{\"class\":\"reference\",\"kind\":\"object\"}";
    static const char number[] = "\"<u8\"";
    size_t size;
    zb_json *json = NULL;
    if (lib->H5Tdetect_class(type, H5T_REFERENCE) <= 0)
        return lib->H5Tcopy(type);
    zb_json_writer *w = zb_json_writer_new();
    vol_type_print(lib, type, w, NULL);
    char *text = zb_json_writer_end(w, &size), *at = text;
    while (at && (at = strstr(at, reference))) { /* names are in quotes that are escaped there */
        memset(at, ' ', sizeof reference - 1);
        memcpy(at, number, sizeof number - 1);
    }
    hid_t plain = -1;
    bool lacks_memory;
    if (text && !strstr(text, "{\"class\":\"reference\"") &&
        zb_json_parse(text, size, &json, NULL) == ZB_OK)
        plain = vol_type_parse(lib, json, &lacks_memory);
    zb_json_free(json);
    free(text);
    return plain;
}

static bool super_agrees(h5_lib *lib, hid_t from, hid_t to);
static bool members_agree(h5_lib *lib, hid_t from, hid_t to);

/* Whether references become references alone. HDF5 has no conversion between them and anything
   else, but would convert the numbers that stand for them here. */
static bool references_agree(h5_lib *lib, hid_t from, hid_t to) {
    const H5T_class_t class = lib->H5Tget_class(from), other = lib->H5Tget_class(to);
    if (class == H5T_REFERENCE || other == H5T_REFERENCE)
        return class == other;
    if (class != other) /* HDF5 finds out */
        return true;
    if (class == H5T_COMPOUND)
        return members_agree(lib, from, to);
    return (class != H5T_ARRAY && class != H5T_VLEN) || super_agrees(lib, from, to);
}

static bool super_agrees(h5_lib *lib, hid_t from, hid_t to) {
    hid_t of_from = lib->H5Tget_super(from), of_to = lib->H5Tget_super(to);
    const bool agree = references_agree(lib, of_from, of_to);
    vol_release_id(lib, of_from);
    vol_release_id(lib, of_to);
    return agree;
}

/* Members are found by their names, as HDF5's conversion does it. */
static bool members_agree(h5_lib *lib, hid_t from, hid_t to) {
    const int count = lib->H5Tget_nmembers(to);
    bool agree = true;
    for (int i = 0; agree && i < count; i++) {
        char *name = lib->H5Tget_member_name(to, (unsigned)i);
        const int index = name ? lib->H5Tget_member_index(from, name) : -1;
        lib->H5free_memory(name);
        if (index < 0)
            continue;
        hid_t of_from = lib->H5Tget_member_type(from, (unsigned)index);
        hid_t of_to = lib->H5Tget_member_type(to, (unsigned)i);
        agree = references_agree(lib, of_from, of_to);
        vol_release_id(lib, of_from);
        vol_release_id(lib, of_to);
    }
    return agree;
}

herr_t vol_convert(h5_lib *lib, hid_t from_type, hid_t to_type, size_t count, const void *from,
                   void *to, hid_t dxpl) {
    const size_t from_size = lib->H5Tget_size(from_type), to_size = lib->H5Tget_size(to_type);
    const size_t larger = from_size > to_size ? from_size : to_size;
    hid_t plain_from = vol_type_without_references(lib, from_type);
    hid_t plain_to = vol_type_without_references(lib, to_type);
    void *work = calloc(count + 1, larger), *background = calloc(count + 1, larger);
    herr_t result = -1;
    if (work && background && plain_from >= 0 && plain_to >= 0 &&
        references_agree(lib, from_type, to_type)) {
        memcpy(work, from, count * from_size);
        memcpy(background, to, count * to_size);
        result = lib->H5Tconvert(plain_from, plain_to, count, work, background, dxpl);
    }
    if (result >= 0)
        memcpy(to, work, count * to_size);
    if (plain_from >= 0)
        lib->H5Tclose(plain_from);
    if (plain_to >= 0)
        lib->H5Tclose(plain_to);
    free(work);
    free(background);
    return result;
}
