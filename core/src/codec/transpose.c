/* SPDX-License-Identifier: MIT */
/* The transpose codec: a permutation of a chunk's dimensions. */
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "util/json_excerpt.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

typedef struct transpose {
    uint32_t order[ZB_MAX_NDIM];
} transpose;

/* Reads `order`: a permutation, or "C" or "F", which older writers used for the identity and the
   reversal. */
static bool read_order(const zb_json *value, uint32_t ndim, uint32_t *order) {
    const char *text = zb_json_string(value);
    if (text && (strcmp(text, "C") == 0 || strcmp(text, "F") == 0)) {
        for (uint32_t i = 0; i < ndim; i++)
            order[i] = *text == 'C' ? i : ndim - 1 - i;
        return true;
    }
    if (zb_json_kind_of(value) != ZB_JSON_ARRAY || zb_json_count(value) != ndim)
        return false;
    uint64_t seen = 0, d;
    uint32_t i = 0;
    for (const zb_json *item = zb_json_first(value); item; item = zb_json_next(item)) {
        if (!zb_json_uint64(item, &d) || d >= ndim || seen >> d & 1)
            return false;
        seen |= (uint64_t)1 << d;
        order[i++] = (uint32_t)d;
    }
    return true;
}

static enum zb_code transpose_parse(const zb_json *configuration, const zb__binding *binding,
                                    void **state, zb_error *err) {
    transpose *t = zb__codec_new_state(sizeof *t, state, err);
    if (!t)
        return ZB_ENOMEM;
    const zb_json *value = zb_json_get(configuration, "order");
    char excerpt[ZB__BRIEF_SIZE];
    if (!read_order(value, binding->ndim, t->order))
        return zb_fail(err, ZB_EFORMAT, "order is %s, expected a permutation of %u dimensions",
                       zb__json_excerpt(value, excerpt), binding->ndim);
    return ZB_OK;
}

/* Dimension i after the codec is dimension order[i] before it. */
static void transpose_compose(const void *state, uint32_t ndim, uint32_t *axis) {
    const transpose *t = state;
    uint32_t before[ZB_MAX_NDIM];
    memcpy(before, axis, ndim * sizeof *axis);
    for (uint32_t i = 0; i < ndim; i++)
        axis[i] = before[t->order[i]];
}

static const char *const members[] = {"order", NULL};

const zb__codec_ops zb__codec_transpose = {
    .name = "transpose",
    .kind = ZB__ARRAY_TO_ARRAY,
    .members = members,
    .parse = transpose_parse,
    .free = free,
    .array = {.compose = transpose_compose},
};
