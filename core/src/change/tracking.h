/* SPDX-License-Identifier: MIT */
/* Groups that keep track of nodes that move (the public moved.h), by their documents. */
#ifndef ZB_CHANGE_TRACKING_H
#define ZB_CHANGE_TRACKING_H

#include "extension/moved.h"
#include "node/edit.h"

/* What a group's document says. */
typedef struct zb__tracking {
    zb_hdf5_extension *extension;
    zb_moved *moved; /* NULL: it does not keep track */
} zb__tracking;

/* Freed with zb__tracking_free, also after an error. */
enum zb_code zb__tracking_load(const zb__document *document, zb__tracking *out, zb_error *err);
void zb__tracking_free(zb__tracking *group);

/* Puts the names as they are now into the document, or another value of the attribute (malloc'ed
   JSON text, which it takes over). ZB_ELIMIT for a document that could not be opened. */
enum zb_code zb__tracking_set(zb__document *document, const zb__tracking *group, zb_error *err);
enum zb_code zb__tracking_set_value(zb__document *document, char *value, zb_error *err);

/* Settles what a killed move has left in a group, before a node comes or goes below it. Under the
   lock of changes; groups above have lost their blocks. */
enum zb_code zb__tracking_settle(zb_hierarchy *hierarchy, const char *path, zb_error *err);

#endif
