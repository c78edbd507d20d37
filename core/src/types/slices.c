/* SPDX-License-Identifier: MIT */
/* Text and bytes of any length: elements are slices. Nothing needs to be aligned. */
#include <stdlib.h>
#include <string.h>

#include "types/kinds.h"
#include "util/json_writer.h"
#include "util/utf8.h"

static zb_slice load(const void *element) {
    zb_slice slice;
    memcpy(&slice, element, sizeof slice);
    return slice;
}

static const char *measure_bytes(zb_dtype dtype, const char *element, zb_dtype to,
                                 uint64_t *bytes) {
    const zb_slice slice = load(element);
    (void)dtype, (void)to;
    if ((!slice.data && slice.size > 0) || __builtin_add_overflow(*bytes, slice.size, bytes) ||
        *bytes > SIZE_MAX / 2)
        return "is longer than memory";
    return NULL;
}

static const char *measure_text(zb_dtype dtype, const char *element, zb_dtype to, uint64_t *bytes) {
    const char *problem = measure_bytes(dtype, element, to, bytes);
    const zb_slice slice = load(element);
    return problem || zb__is_utf8(slice.data, slice.size) ? problem : ZB__NO_TEXT;
}

/* ---- Fill values -------------------------------------------------------------------------- */

/* The text stays in the document. */
static enum zb_code parse_text(zb__fill *fill, const zb_json *value, zb_dtype dtype, void *out) {
    const char *text = zb_json_string(value);
    (void)dtype;
    if (!text)
        return zb__fill_expect(fill, "a string");
    zb_slice slice = {.data = text, .size = strlen(text)};
    memcpy(out, &slice, sizeof slice);
    return ZB_OK;
}

/* NULs are not read back. */
static bool is_text(zb_dtype dtype, const void *element) {
    const zb_slice slice = load(element);
    (void)dtype;
    return slice.size == 0 || (slice.data && !memchr(slice.data, 0, slice.size) &&
                               zb__is_utf8(slice.data, slice.size));
}

static void print_text(zb_json_writer *w, zb_dtype dtype, const void *element) {
    const zb_slice slice = load(element);
    (void)dtype;
    zb__json_write_text(w, slice.size ? slice.data : "", slice.size);
}

static enum zb_code parse_bytes(zb__fill *fill, const zb_json *value, zb_dtype dtype, void *out) {
    zb_slice slice;
    enum zb_code code = zb__fill_bytes(fill, value, &slice);
    (void)dtype;
    if (!code)
        memcpy(out, &slice, sizeof slice);
    return code;
}

static void print_bytes(zb_json_writer *w, zb_dtype dtype, const void *element) {
    (void)dtype;
    zb__fill_print_bytes(w, load(element));
}

/* ---- The rows ----------------------------------------------------------------------------- */

const zb__kind zb__kind_string = {
    .kind = ZB_KIND_STRING,
    .names = (const zb__type_name[]){{"string", sizeof(zb_slice), NULL, NULL}, {0}},
    .name = "string",
    .objects = "vlen-utf8",
    .fill_parse = parse_text,
    .fill_print = print_text,
    .fill_fits = is_text,
    .measure = measure_text,
};

const zb__kind zb__kind_bytes = {
    .kind = ZB_KIND_BYTES,
    .names = (const zb__type_name[]){{"bytes", sizeof(zb_slice), NULL, NULL},
                                     /* zarr-python's, and that of zarrs */
                                     {"variable_length_bytes", sizeof(zb_slice), NULL, NULL},
                                     {"binary", sizeof(zb_slice), NULL, NULL},
                                     {0}},
    .name = "bytes",
    .objects = "vlen-bytes",
    .fill_parse = parse_bytes,
    .fill_print = print_bytes,
    .measure = measure_bytes,
};
