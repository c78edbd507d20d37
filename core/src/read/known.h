/* SPDX-License-Identifier: MIT */
/*
 * What is known of stored chunks without asking: the version that answered last, or that there was
 * none. Each answer of a store that takes requests (zb_store_submit) is noted here, since asking
 * again costs a way to a server and back.
 *
 * What is known may be old. While it is *fresh* (hierarchy/age.h) it is as good as an answer.
 * Otherwise it is only a guess, which the answer to the next request confirms or refutes.
 */
#ifndef ZB_READ_KNOWN_H
#define ZB_READ_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "hierarchy/age.h"
#include "read/leaf.h"

typedef struct zb__known {
    zb_object_info info;
    bool is_missing;
    zb__age age; /* of the answer */
} zb__known;

/* Fills *out with what is known of the stored chunk; false when nothing is. Nothing is known of
   stored chunks that are read past the caches. */
bool zb__known_find(const zb__stored_chunk *chunk, zb__known *out);

bool zb__known_is_fresh(const zb__stored_chunk *chunk, const zb__known *known);

/* Notes an answer; info: NULL when there is no object. Of an object whose version cannot be told
   apart nothing is noted. changes: of the store,
   before it was asked (zb_store_changes). */
void zb__known_note(const zb__stored_chunk *chunk, const zb_object_info *info, uint64_t changes);

/* After an answer that refuted it. */
void zb__known_forget(const zb__stored_chunk *chunk);

#endif
