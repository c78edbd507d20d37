/* SPDX-License-Identifier: MIT */
/* The names directly below a prefix of a hierarchy's store. */
#ifndef ZB_NODE_LISTING_H
#define ZB_NODE_LISTING_H

#include "util/names.h"
#include "util/text.h"
#include "zarrbridge/hierarchy.h"

/* The names directly below prefix, as the store lists them, at most `children`. The listing has
   ended when this returns, so that the names can be erased. */
enum zb_code zb__list(zb_hierarchy *hierarchy, const char *prefix, zb__names *out, zb_error *err);

/* The same apart: prefixes are names as above, links that lead back left out; objects are only told
   by their names, each ended by a NUL, and as many as there are. An array may have millions of
   chunks in one directory; each takes the bytes of its name. */
typedef struct zb__listing {
    zb__names prefixes;
    zb__text objects;
} zb__listing;

enum zb_code zb__list_apart(zb_hierarchy *hierarchy, const char *prefix, zb__listing *out,
                            zb_error *err);
/* The objects of all levels below prefix, by the rest of their keys. ZB_EUNSUPPORTED: the store
   lists level by level. */
enum zb_code zb__list_below(zb_hierarchy *hierarchy, const char *prefix, zb__listing *out,
                            zb_error *err);
void zb__listing_free(zb__listing *listing);

/* The name of an object behind this one, or the first (NULL); NULL behind the last. */
const char *zb__listing_next(const zb__listing *listing, const char *name);

#endif
