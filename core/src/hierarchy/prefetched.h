/* SPDX-License-Identifier: MIT */
/* A document that was read before its node is opened. */
#ifndef ZB_NODE_PREFETCHED_H
#define ZB_NODE_PREFETCHED_H

#include <stdbool.h>
#include <stddef.h>

#include "zarrbridge/sys/store.h"

/* A zarr.json that was read, or why it was not. */
typedef struct zb__prefetched_document {
    char *path; /* of its node */
    char *text; /* NULL unless code is ZB_OK */
    size_t size;
    int format; /* of the store's documents, with text */
    zb_object_info info;
    bool is_answer;       /* the store has been asked for this one */
    bool is_cached_block; /* it is of consolidated metadata */
    enum zb_code code;
    zb_error error;
} zb__prefetched_document;

#endif
