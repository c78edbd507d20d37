/* SPDX-License-Identifier: MIT */
/* Changes of attributes that are made of what the store has now. */
#ifndef ZARRBRIDGE_NODE_EDIT_H
#define ZARRBRIDGE_NODE_EDIT_H

#include "zarrbridge/change.h"
#include "zarrbridge/gdal_extension.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Edits that a function gives: the list and the texts `value` and `former` in it are malloc'ed, and
   freed by the caller of the function; names live as long as its context. All zeros is none. */
typedef struct zb_node_edits {
    zb_attribute_edit *edit;
    size_t count;
} zb_node_edits;
ZB_API void zb_node_edits_clear(zb_node_edits *edits);

/* Adds an edit, whose texts are taken over; false without memory. */
ZB_API bool zb_node_edits_add(zb_node_edits *edits, zb_attribute_edit edit);

/* Adds the edit by which an attribute gets a value (malloc'ed, taken over; NULL: it goes) that was
   made of the one among these attributes, and which counts only while that is the same. Nothing
   where there is neither. ZB_ENOMEM. */
ZB_API enum zb_code zb_node_edits_remake(zb_node_edits *edits, const zb_json *attributes,
                                         const char *name, char *value, zb_error *err);

/* Makes edits for the node as the store has it now. Called again when another program has changed
   something in between that an edit checks. */
typedef enum zb_code (*zb_node_edit_fn)(void *context, const zb_node *now, zb_node_edits *out,
                                        zb_error *err);

/* Changes a node's attributes: reads the node anew, and makes the edits that fn gives (none: *out
   is NULL), as zb_node_set_attributes. Where that finds another state than fn did (ZB_ECONFLICT, or
   ZB_ENOTFOUND for an attribute to remove), it begins again, ten times at most; then that is the
   error: the node was deleted, moved or made anew, or others change it all the time. *err is left
   alone where an attempt succeeds. */
ZB_API enum zb_code zb_node_edit(const zb_node *node, zb_node_edit_fn fn, void *context,
                                 zb_node **out, zb_error *err);

/* Adds the edits that change members of a node's GDAL extension, and make it one attribute where
   an earlier version has written it; none where the members are so already. Errors of
   zb_gdal_extension_change. */
ZB_API enum zb_code zb_gdal_edit(const zb_node *now, const zb_gdal_change *changes, size_t count,
                                 zb_node_edits *out, zb_error *err);

#ifdef __cplusplus
}
#endif
#endif
