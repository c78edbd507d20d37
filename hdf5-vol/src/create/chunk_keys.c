/* SPDX-License-Identifier: MIT */
/* Chunk keys: see chunk_keys.h. */
#include "create/chunk_keys.h"

#include "create/text_property.h"

#include <stdlib.h>

/* By enum vol_chunk_keys. */
static const char *const encodings[] = {
    NULL, "{\"name\": \"default\", \"configuration\": {\"separator\": \".\"}}",
    "{\"name\": \"v2\", \"configuration\": {\"separator\": \".\"}}"};

/* The property wins over the option. The core says what is wrong with a text. */
enum zb_code vol_keys_take(h5_lib *lib, hid_t dcpl, const vol_options *options, vol_spec *out,
                           zb_error *err) {
    enum zb_code code = vol_text_property_read(lib, dcpl, VOL_KEYS_PROPERTY, &out->keys, err);
    out->spec.key_encoding = out->keys ? out->keys : encodings[options->chunk_keys];
    return code;
}

void vol_keys_add(h5_lib *lib, hid_t dcpl, const zb_node *array) {
    char *keys = zb_array_key_encoding(array);
    if (keys)
        vol_text_property_add(lib, dcpl, VOL_KEYS_PROPERTY, keys);
    free(keys);
}
