/* SPDX-License-Identifier: MIT */
/* What the parts of a draft share. */
#ifndef ZB_CHANGE_DRAFT_STATE_H
#define ZB_CHANGE_DRAFT_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/token.h"
#include "zarrbridge/sys/hierarchy.h"

enum zb__draft_state {
    ZB__HOLDS,  /* all documents */
    ZB__SEALS,  /* those that are not stored yet: a seal has begun, and may have failed */
    ZB__PASSES, /* none */
};

typedef struct zb__draft {
    zb_store base;
    zb_seal seal;
    zb_store *inner, *held; /* one reference each; documents, in memory */
    zb_store *touched;      /* in memory: keys of documents of nodes at which something was put */
    zb_store *tried;        /* in memory: documents as they were last put into the inner store */
    bool was_empty;
    atomic_int state;     /* enum zb__draft_state */
    atomic_bool is_noted; /* the note stands at the root, with the token */
    atomic_bool has_left; /* what lies there is a killed program's; until a document is held. The
                             note is seen then, though it is this draft's by now */
    atomic_bool is_lost;  /* another program makes a store there, or has made one */
    char token[ZB__TOKEN_SIZE];
} zb__draft;

static inline zb__draft *zb__draft_of_seal(zb_seal *seal) {
    return (zb__draft *)(void *)((char *)seal - offsetof(zb__draft, seal));
}

static inline bool zb__draft_passes(const zb__draft *d) {
    return atomic_load(&d->state) == ZB__PASSES;
}

#endif
