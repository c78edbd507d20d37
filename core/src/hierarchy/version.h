/* SPDX-License-Identifier: MIT */
/* Versions of documents in one word. */
#ifndef ZB_HIERARCHY_VERSION_H
#define ZB_HIERARCHY_VERSION_H

#include "util/hash.h"
#include "zarrbridge/sys/store.h"

/* A version in one word, so that it can be kept without a lock; 0: not known for sure. */
static inline uint64_t zb__version_word(const zb_validator *v) {
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof v->word / sizeof *v->word; i++)
        hash = zb__hash_add(hash, v->word[i]);
    return v->valid ? (hash ? hash : 1) : 0;
}

#endif
