/* SPDX-License-Identifier: MIT */
/* The filters of raw lzma streams, which say nothing of themselves, as Python's lzma names them. */
#ifndef ZB_CODEC_LZMA_FILTERS_H
#define ZB_CODEC_LZMA_FILTERS_H

#include <lzma.h>

#include "zarrbridge/json.h"

/* A chain of filters, which point into it. */
typedef struct zb__lzma_filters {
    lzma_filter list[LZMA_FILTERS_MAX + 1];
    union {
        lzma_options_lzma lzma;
        lzma_options_delta delta;
        lzma_options_bcj bcj;
    } options[LZMA_FILTERS_MAX];
} zb__lzma_filters;

/* Reads a list of objects with "id" and what goes with it. Refuses a chain that liblzma cannot
   decode or encode. `out` stays where it is. */
enum zb_code zb__lzma_filters_parse(const zb_json *list, zb__lzma_filters *out, zb_error *err);

/* True if two chains decode alike: settings of the search do not matter. */
bool zb__lzma_filters_same(const zb__lzma_filters *a, const zb__lzma_filters *b);

#endif
