/* SPDX-License-Identifier: MIT */
/* Bytes in attributes, as base64: see zarrbridge/conventions.h. */
#include <stdlib.h>

#include "base/base64.h"
#include "zarrbridge/conventions.h"

char *zb_base64_print(const void *bytes, size_t size) {
    char *text = malloc(zb__base64_length(size) + 1);
    if (text)
        zb__base64_encode(bytes, size, text);
    return text;
}

void *zb_base64_parse(const char *text, size_t *size) {
    *size = zb__base64_bytes(text);
    void *bytes = malloc(*size ? *size : 1);
    if (bytes && zb__base64_decode(text, bytes))
        return bytes;
    free(bytes);
    return NULL;
}
