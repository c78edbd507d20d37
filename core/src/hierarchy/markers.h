/* SPDX-License-Identifier: MIT */
/*
 * The names of what the library keeps in a store besides nodes and chunks. Markers and journals
 * stay there while a change goes on, so that the next process can finish or undo the change of a
 * process that was killed. No node is listed, and none can be created, under one of these names
 * (node/reserved.h). (The temporary files of the directory store are its own: store/fs_store.h.)
 */
#ifndef ZB_NODE_MARKERS_H
#define ZB_NODE_MARKERS_H

#include <stdbool.h>

#include "zarrbridge/sys/store.h"

/* Stands in an array's directory while chunks beyond its new shape are erased: the old shape
   (change/resize.c). */
#define ZB__MARKER_RESIZE ".zarrbridge-resize"

/* Stands at a path that a group is being copied to: the nodes below are not in a group yet
   (change/copy.c). So it does at the root of a store on the network that is being erased
   (change/remove.c). */
#define ZB__MARKER_COPY ".zarrbridge-copy"

/* Stands beside the document of a group whose block of consolidated metadata has been taken out,
   and will be put back (change/write_back.c). */
#define ZB__MARKER_CONSOLIDATED ".zarrbridge-consolidated"

/* Names in a store begin so whose objects are put to learn whether the service keeps to conditions,
   and erased at once (net/s3_ability.c). One stays where the writer was killed between: no
   listing of names shows it, and sweep() tells of it. */
#define ZB__TEST_OBJECT "zarrbridge-test-"

/* True for the name of one of these three. */
bool zb__marker_is_name(const char *name);

/* What the marker of this key says. *is_there: there is one; *is_ours: it holds this token and
   nothing else (never, for an empty token). */
enum zb_code zb__marker_look(zb_store *store, const char *key, const char *token, bool *is_there,
                             bool *is_ours, zb_error *err);

/* Stands beside a shard that is being changed in place: ".NAME.zb-journal" in the directory of NAME
   (write/journal.h). Both keys are malloc'ed, or NULL when memory runs out. */
char *zb__journal_key(const char *shard);
char *zb__journal_shard(const char *journal); /* the key must be a journal's */

/* True if this is the last part of a journal's key. */
bool zb__journal_is_name(const char *name);

/* Hidden arrays (zarrbridge/change.h) are called so, with 16 hexadecimal digits behind it. Nothing
   in such a name is escaped in JSON. */
#define ZB__HIDDEN "__attribute."
bool zb__hidden_is_name(const char *name);

/* Whether the library keeps a name for itself, by the exact forms of its names: temporary objects,
   locks, markers, journals, hidden arrays. No listing shows a node of such a name. All others are
   shown, also those that the specification reserves: xarray calls each array without a name
   "__xarray_dataarray_variable__". The name ends at its NUL or at a slash. */
bool zb__name_is_ours(const char *name);

/* The same of an object, which may also be one of ZB__TEST_OBJECT. */
bool zb__object_is_ours(const char *name);

#endif
