/* SPDX-License-Identifier: MIT */
/* Bytes in fill values: for the kinds that have such. */
#include "types/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "util/base64.h"
#include "util/json_writer.h"

static enum zb_code from_list(zb__fill *fill, const zb_json *value, uint8_t *byte) {
    for (const zb_json *item = zb_json_first(value); item; item = zb_json_next(item)) {
        uint64_t number;
        if (!zb_json_uint64(item, &number) || number > 255)
            return zb__fill_expect(fill, "a list of integers from 0 to 255");
        *byte++ = (uint8_t)number;
    }
    return ZB_OK;
}

enum zb_code zb__fill_bytes(zb__fill *fill, const zb_json *value, zb_slice *out) {
    const bool is_list = zb_json_kind_of(value) == ZB_JSON_ARRAY;
    const char *text = zb_json_string(value);
    if (!text && !is_list)
        return zb__fill_expect(fill, "base64 text or a list of integers from 0 to 255");
    out->size = is_list ? zb_json_count(value) : zb__base64_bytes(text);
    /* A text that is not base64 may be shorter or longer than its length says. */
    uint8_t *bytes = zb__arena_alloc(fill->memory, is_list ? out->size + 1 : strlen(text) + 1);
    out->data = (const char *)bytes;
    if (!bytes)
        return zb_fail(fill->err, ZB_ENOMEM, "out of memory for a fill value of %zu bytes",
                       out->size);
    if (is_list)
        return from_list(fill, value, bytes);
    return zb__base64_decode(text, bytes) ? ZB_OK : zb__fill_expect(fill, "base64 text");
}

void zb__fill_print_bytes(zb_json_writer *w, zb_slice bytes) {
    char *text = malloc(zb__base64_length(bytes.size) + 1);
    w->text.failed = w->text.failed || !text;
    if (!text)
        return;
    zb__base64_encode((const uint8_t *)bytes.data, bytes.size, text);
    zb_json_write_string(w, text);
    free(text);
}
