/* SPDX-License-Identifier: MIT */
/* Types that hosts of plugins lack. */
#include "zarrbridge/conventions.h"

static zb_dtype plain(enum zb_kind kind, uint32_t size) {
    return (zb_dtype){.kind = kind, .size = size};
}

static zb_dtype show_small(enum zb_format format) {
    if (format < ZB_FORMAT_INT2 || format > ZB_FORMAT_UINT4)
        return plain(ZB_KIND_FLOAT, sizeof(float));
    const bool is_signed = format == ZB_FORMAT_INT2 || format == ZB_FORMAT_INT4;
    return plain(is_signed ? ZB_KIND_INT : ZB_KIND_UINT, 1);
}

zb_dtype zb_dtype_shown(zb_dtype stored) {
    if (stored.kind == ZB_KIND_DATETIME || stored.kind == ZB_KIND_TIMEDELTA)
        return plain(ZB_KIND_INT, sizeof(int64_t));
    if (stored.kind == ZB_KIND_SMALL)
        return show_small(zb_dtype_format(stored));
    if (stored.kind == ZB_KIND_SMALL_COMPLEX)
        return plain(ZB_KIND_COMPLEX, 2 * sizeof(float));
    return stored;
}
