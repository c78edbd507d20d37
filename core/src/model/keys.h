/* SPDX-License-Identifier: MIT */
/* The keys of chunks. */
#ifndef ZB_MODEL_KEYS_H
#define ZB_MODEL_KEYS_H

#include "zarrbridge/dtype.h"

/* The form in which a chunk's place in the grid becomes its key. */
typedef struct zb__key_encoding {
    bool v2;        /* "0.1" instead of "c/0/1" */
    char separator; /* '/' or '.' */
    bool joined;    /* "c0/1" instead of "c/0/1", as drafts of the specification had it */
} zb__key_encoding;

/* Longest chunk key behind the node's path: "c" and 32 times a separator and 20 digits. */
#define ZB__CHUNK_KEY_MAX (1 + ZB_MAX_NDIM * 21 + 1)

/* Writes the key of the chunk at grid index[ndim], below the array's own path, into text. */
void zb__chunk_key(const zb__key_encoding *keys, uint32_t ndim, const uint64_t *index,
                   char text[ZB__CHUNK_KEY_MAX]);

/* Reads a chunk key below the array's path; false when the text is not one. */
bool zb__chunk_key_parse(const zb__key_encoding *keys, uint32_t ndim, const char *text,
                         uint64_t *index);

#endif
