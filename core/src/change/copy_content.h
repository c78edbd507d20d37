/* SPDX-License-Identifier: MIT */
/*
 * What a copy of nodes brings to its place: objects and documents, or their removal. In this order
 * (copy.c) they come to it. On a network many objects are under way at once, and then many
 * documents of one depth.
 */
#ifndef ZB_CHANGE_COPY_CONTENT_H
#define ZB_CHANGE_COPY_CONTENT_H

#include <stdbool.h>

#include "change/change.h"
#include "change/copy.h"
#include "change/copy_object.h"
#include "util/lane.h"
#include "util/names.h"

/* What has become of a node's document at the target. */
enum zb__place {
    ZB__UNTOUCHED,
    ZB__TAKEN, /* it was put, or may have been */
    ZB__LOST,  /* another program has taken the place meanwhile; objects there are that program's */
};

typedef struct zb__copying {
    zb_hierarchy *from, *to;
    const char *from_path, *to_path;
    zb__older *older; /* NULL, or gets what is to be copied when a node is of version 2 */
    bool undo;        /* erase what was copied instead */
    bool move;
    bool moved;            /* moved at once, by renaming: nothing is left at from_path */
    unsigned char *places; /* enum zb__place of each of the nodes, or NULL: all are untouched */
    const zb__names *nodes;
    zb__names others; /* keys in the source of objects that belong to no node */
    zb__change *change;
    zb__object_copier copier;
    bool is_begun;        /* an object has been copied, or erased */
    bool is_many;         /* and many at once are from now on */
    zb__lane objects;     /* under way, where is_many */
    pthread_mutex_t lock; /* guards all below */
    zb__names documents;  /* keys of those of hidden arrays, which come behind their chunks */
} zb__copying;

/* Between them the functions below are called. from, to, and their paths are set before. */
void zb__copying_begin(zb__copying *copying);
void zb__copying_end(zb__copying *copying);

/* The key or path in the target for one in the source: malloc'ed, or NULL. */
char *zb__copy_target(const zb__copying *copying, const char *key);

/* The other objects, those of all arrays among the nodes, and of the hidden arrays of all nodes. */
enum zb_code zb__copy_objects(zb__copying *copying, zb_error *err);

/* The hidden arrays of one node. */
enum zb_code zb__copy_hidden(zb__copying *copying, const char *path, zb_error *err);

/* The documents of all nodes, children before parents. */
enum zb_code zb__copy_documents(zb__copying *copying, zb_error *err);

/* Erases a half copy after a failure; false when the store does not let us. */
bool zb__copy_undo(zb__copying *copying);

#endif
