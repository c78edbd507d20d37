/* SPDX-License-Identifier: MIT */
/*
 * Changes of a node's attributes that wait to be stored.
 *
 * A program sets one attribute after the other, and each one would read, write and rename the
 * document. So changes wait in memory, and one change of the document stores them all: when the
 * file, or an object above, is flushed; when the file is closed; and before what needs the document
 * (copying, moving, refreshing). All questions about attributes look here first. What is kept in
 * the attribute `_hdf5` (side.h) waits here, too, so that an attribute and what HDF5 knows of it
 * are stored in one step.
 *
 * Errors that do not depend on the store (names, values, nodes that cannot be changed) are found
 * when a change is made; those of the store at the flush, as those of data are. After an error the
 * changes go on waiting.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_WAITING_WAITING_H
#define ZARRBRIDGE_HDF5_VOL_WAITING_WAITING_H

#include "tree/node.h"

#include "zarrbridge/zarrbridge.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- Lists of changes ---- */

/*
 * A list of changes of named JSON values: what is set or removed, the last change of each name. A
 * name is found in the same time in long lists as in short ones.
 */

typedef struct vol_change {
    const char *name;     /* NULL: of no use any more, as a later one has its name */
    const zb_json *value; /* a member called `name`; NULL: removed */
    bool anew;            /* was removed before it was set: it stands at the end */
    zb_json *object;      /* the owner of both; {"name": value} */
} vol_change;

/* All zeros is an empty list. */
typedef struct vol_changes {
    size_t count, capacity;
    vol_change *change; /* in their order */
    size_t *slot;       /* [4 * capacity]: 1 + a change whose name has that hash, or one before */
} vol_changes;

/* NULL when there is no change of that name. */
const vol_change *vol_changes_find(const vol_changes *changes, const char *name);

/* Sets a name to a value (JSON text), or removes it (NULL). ZB_EINVAL for a name that is no UTF-8,
   or a text that is no JSON. */
enum zb_code vol_changes_set(vol_changes *changes, const char *name, const char *json,
                             zb_error *err);

/* A copy of what a list says of a name, if it says anything: to take a later change back. */
typedef struct vol_former {
    bool is_change, anew;
    char *json; /* NULL: removed */
} vol_former;

/* False when memory runs out. */
bool vol_changes_remember(const vol_changes *changes, const char *name, vol_former *out);
void vol_changes_restore(vol_changes *changes, const char *name, const vol_former *former);

void vol_changes_clear(vol_changes *changes);

/* ---- Changes of one node ---- */

/* What waits for one node. */
typedef struct vol_waiting {
    vol_changes attributes;
    vol_changes members; /* of the object in `_hdf5`, but its member "attributes" */
    vol_changes entries; /* of that member */
    vol_changes links;   /* of its member "links" */
    char *
        *arrays; /* [array_count]: hidden arrays (large_attributes.h) that may be of no use later */
    size_t array_count;
    size_t bytes; /* of JSON text, about */
} vol_waiting;

/* An attribute as it will be stored: its value; NULL when there is none. Borrowed until the next
   change of the node. */
const zb_json *vol_attribute(const vol_node *node, const char *name);

/* All of them, each with its name, in the order in which they will stand: begin with all zeros.
   NULL at the end. Borrowed likewise. */
typedef struct vol_attribute_walk {
    const zb_json *document; /* the one of the document that was given last */
    size_t added;            /* changes that have been passed, once the document's are over */
    bool began;
} vol_attribute_walk;
const zb_json *vol_attribute_next(const vol_node *node, vol_attribute_walk *walk);

/* Whether attributes of a node can be changed at all. */
enum zb_code vol_waiting_check(const vol_node *node, zb_error *err);

/* What waits, made if need be; NULL when memory runs out. The second makes nothing: NULL also when
   nothing waits. */
vol_waiting *vol_waiting_get(vol_node *node);
static inline vol_waiting *vol_waiting_now(const vol_node *node) {
    return node->waiting;
}

/* Whether changes of what `_hdf5` says of the node itself, or of links, are among them. */
static inline bool vol_waiting_has_links(const vol_node *node) {
    return node->waiting && (node->waiting->links.count > 0 || node->waiting->members.count > 0);
}

/* Whether the document, with all that waits and so many bytes of JSON text more, would be nearly as
   large as one may be (the limit document_bytes). */
bool vol_waiting_crowds(vol_node *node, size_t bytes);

/* For node_life.c: the node has another document, of another size. */
void vol_waiting_document_changed(vol_node *node);

/* Forgets it. */
void vol_waiting_forget(vol_node *node);

/* Takes the names of the hidden arrays out of what waits; freed with the second. */
char **vol_waiting_take_arrays(vol_node *node, size_t *count);
void vol_waiting_free_arrays(char **arrays, size_t count);

#endif
