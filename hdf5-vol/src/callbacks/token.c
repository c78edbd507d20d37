/* SPDX-License-Identifier: MIT */
/* Tokens (addresses of objects), and blobs, which only the native connector's variable-length
   data use. */
#include "callbacks/classes.h"
#include "hdf5/errors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static herr_t vol_token_compare(void *obj, const H5O_token_t *a, const H5O_token_t *b, int *order) {
    const vol_object *object = obj;
    if (object->under)
        return object->lib->H5VLtoken_cmp(object->under, object->lib->native, a, b, order);
    uint64_t left = vol_token_get(a), right = vol_token_get(b);
    *order = (left > right) - (left < right);
    return 0;
}

#define TOKEN_TEXT_SIZE 24 /* 20 digits and the NUL */

/* The text must come from HDF5's own allocator: the program frees it with H5free_memory. */
static herr_t vol_token_to_text(void *obj, H5I_type_t type, const H5O_token_t *token, char **text) {
    const vol_object *object = obj;
    h5_lib *lib = object->lib;
    if (object->under)
        return lib->H5VLtoken_to_str(object->under, type, lib->native, token, text);
    *text = lib->H5allocate_memory(TOKEN_TEXT_SIZE, false);
    if (!*text)
        return -1;
    snprintf(*text, TOKEN_TEXT_SIZE, "%" PRIu64, vol_token_get(token));
    return 0;
}

static herr_t vol_token_from_text(void *obj, H5I_type_t type, const char *text,
                                  H5O_token_t *token) {
    const vol_object *object = obj;
    if (object->under)
        return object->lib->H5VLtoken_from_str(object->under, type, object->lib->native, text,
                                               token);
    char *end;
    vol_token_set(token, strtoull(text, &end, 10));
    return end > text && !*end ? 0 : -1;
}

const H5VL_token_class_t vol_token_class = {
    .cmp = vol_token_compare,
    .to_str = vol_token_to_text,
    .from_str = vol_token_from_text,
};

static herr_t vol_blob_put(void *obj, const void *data, size_t size, void *id, void *context) {
    const vol_object *object = obj;
    if (object->under)
        return object->lib->H5VLblob_put(object->under, object->lib->native, data, size, id,
                                         context);
    return vol_refuse(object->lib, "storing a blob");
}

static herr_t vol_blob_get(void *obj, const void *id, void *data, size_t size, void *context) {
    const vol_object *object = obj;
    if (object->under)
        return object->lib->H5VLblob_get(object->under, object->lib->native, id, data, size,
                                         context);
    return vol_refuse(object->lib, "reading a blob");
}

static herr_t vol_blob_specific(void *obj, void *id, H5VL_blob_specific_args_t *args) {
    const vol_object *object = obj;
    if (object->under)
        return object->lib->H5VLblob_specific(object->under, object->lib->native, id, args);
    return vol_refuse(object->lib, "this operation on a blob");
}

static herr_t vol_blob_optional(void *obj, void *id, H5VL_optional_args_t *args) {
    const vol_object *object = obj;
    if (object->under)
        return object->lib->H5VLblob_optional(object->under, object->lib->native, id, args);
    return vol_refuse(object->lib, "this operation on a blob");
}

const H5VL_blob_class_t vol_blob_class = {
    .put = vol_blob_put,
    .get = vol_blob_get,
    .specific = vol_blob_specific,
    .optional = vol_blob_optional,
};
