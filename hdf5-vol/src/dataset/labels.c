/* SPDX-License-Identifier: MIT */
/* See labels.h. */
#include "dataset/labels.h"

#include "hdf5/text.h"
#include "tree/side.h"

#include "zarrbridge/read.h"

#include <stdlib.h>
#include <string.h>

/* Names of bands and stations are short. */
#define MOST_BYTES ((uint64_t)1 << 20)

bool vol_node_is_label(vol_node *dataset) {
    const zb_array_info *info = zb_node_array(dataset->zarr);
    return info && info->ndim == 1 && info->dimension_names && info->dimension_names[0] &&
           strcmp(info->dimension_names[0], zb_node_name(dataset->zarr)) == 0 &&
           !vol_side_get(dataset, ZB_HDF5_CREATION);
}

/* A text that fills its element ends with the next one: so all of them are looked at as one. */
static const char *encoding_of(char *bytes, uint64_t size) {
    for (uint64_t i = 0; i < size; i++)
        if (bytes[i] == '\0')
            bytes[i] = ' ';
    return vol_text_is_utf8(bytes) ? VOL_ENCODING_UTF8 : VOL_ENCODING_LATIN1;
}

static const char *look(const vol_node *dataset, const zb_array_info *info) {
    const uint64_t start = 0;
    uint64_t size;
    if (__builtin_mul_overflow(info->shape[0], (uint64_t)info->dtype.size, &size) ||
        size > MOST_BYTES)
        return NULL;
    char *bytes = calloc(1, size + 1);
    const zb_read read = {.node = dataset->zarr,
                          .start = &start,
                          .count = info->shape,
                          .view = {bytes, info->dtype, NULL, NULL}};
    const bool is_read = bytes && (size == 0 || zb_array_read(&read, 1, NULL) == ZB_OK);
    const char *encoding = is_read ? encoding_of(bytes, size) : NULL;
    free(bytes);
    return encoding;
}

const char *vol_label_encoding(vol_node *dataset) {
    const zb_array_info *info = zb_node_array(dataset->zarr);
    if (info->dtype.kind == ZB_KIND_UTF32)
        return VOL_ENCODING_UTF8;
    return info->dtype.kind == ZB_KIND_CHARS && vol_node_is_label(dataset) ? look(dataset, info)
                                                                           : NULL;
}
