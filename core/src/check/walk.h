/* SPDX-License-Identifier: MIT */
/* A walk over all names of a store, which tells the kind of each. */
#ifndef ZB_CHECK_WALK_H
#define ZB_CHECK_WALK_H

#include <stdbool.h>

#include "zarrbridge/check.h"
#include "zarrbridge/node.h"

/* The functions to call for each thing; an error ends the walk. Keys are whole. */
typedef struct zb__visitor {
    void *context;
    /* A directory, before its content. */
    enum zb_code (*directory)(void *context, const char *prefix, zb_error *err);
    enum zb_code (*node)(void *context, const zb_node *node, zb_error *err);
    /* A chunk or shard in the array's grid. May be NULL. */
    enum zb_code (*chunk)(void *context, const zb_node *array, const char *key,
                          const uint64_t *index, zb_error *err);
    /* The journal beside the chunk `key`. */
    enum zb_code (*journal)(void *context, const zb_node *array, const char *key, zb_error *err);
    /* The array was being shrunk. */
    enum zb_code (*resizing)(void *context, const zb_node *array, const char *key, zb_error *err);
    /* Any other object. May be NULL. */
    enum zb_code (*other)(void *context, enum zb_finding_kind kind, const char *key,
                          const char *message, zb_error *err);
} zb__visitor;

/* *is_missing: nothing is there, in a place that cannot be told from a mistyped one: nothing tells
   an empty place on the network from none. */
enum zb_code zb__check_walk(zb_hierarchy *hierarchy, const zb__visitor *visitor, bool *is_missing,
                            zb_error *err);

/* The walk over a store that cannot list names: over nodes that consolidated metadata name, and the
   chunks that their grids have. What nothing leads to is not met. */
enum zb_code zb__check_walk_named(zb_hierarchy *hierarchy, const zb__visitor *visitor,
                                  zb_error *err);

/* The error where nothing is there: ZB_ENOTFOUND. */
enum zb_code zb__check_missing(const zb_hierarchy *hierarchy, zb_error *err);

/* ---- Hidden arrays of attributes that no attribute names. */

/* Whether `node` is a hidden array of an attribute, and its owner, by the document that is stored
   now, does not name it in any attribute. False where the owner cannot be read: nobody knows
   then. */
enum zb_code zb__unnamed_is(zb_hierarchy *hierarchy, const zb_node *node, bool *is, zb_error *err);

#endif
