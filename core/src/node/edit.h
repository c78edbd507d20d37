/* SPDX-License-Identifier: MIT */
/* Changes members of a JSON document's text and leaves every other byte as it is. */
#ifndef ZB_NODE_EDIT_H
#define ZB_NODE_EDIT_H

#include <stdbool.h>

#include "zarrbridge/json.h"

/* A document as it stands in a store, or will stand there. */
typedef struct zb__document {
    char *text; /* malloc'ed, NUL-terminated */
    size_t size;
    zb_json *json;   /* the text, parsed */
    bool is_outline; /* without the entries of consolidated metadata (zb__json_parse_outline) */
} zb__document;

/* Takes over text, which is freed on failure. `what` names it in messages. */
enum zb_code zb__document_parse(char *text, size_t size, const char *what, zb__document *out,
                                zb_error *err);
/* The same without the entries of consolidated metadata in the tree. Editing keeps it so. */
enum zb_code zb__document_outline(char *text, size_t size, const char *what, zb__document *out,
                                  zb_error *err);
void zb__document_free(zb__document *document); /* all zeros is allowed */

/* Replaces, adds or (value NULL) removes the member `name` of the object at the end of `path`
   (names from the document's root on); removing a missing member changes nothing. A new member goes
   before the sibling `before`, or to the end when `before` is NULL or missing. ZB_EFORMAT when path
   does not lead to an object. */
enum zb_code zb__document_edit(zb__document *document, const char *const *path, const char *name,
                               const zb_json *value, const char *before, zb_error *err);

/* Replaces such a member, which is there (ZB_EFORMAT), by a JSON text. */
enum zb_code zb__document_replace(zb__document *document, const char *const *path, const char *name,
                                  const char *json, zb_error *err);

/* A document that is like this one with another value of the member `name` of its root. */
enum zb_code zb__document_with(const zb__document *document, const char *name, const zb_json *value,
                               zb__document *out, zb_error *err);

/* A document that is like this one without the member `name` of its root. */
enum zb_code zb__document_without(const zb__document *document, const char *name, zb__document *out,
                                  zb_error *err);

/* A change of one member; value NULL removes it. */
typedef struct zb__member_edit {
    const char *name;
    const zb_json *value;
} zb__member_edit;

/* Makes many such changes of one object, in one pass over the text: as one after the other would,
   new members at the end, also those that were removed before. ZB_ENOTFOUND when a member to remove
   is missing; nothing is changed then. */
enum zb_code zb__document_edit_members(zb__document *document, const char *const *path,
                                       const zb__member_edit *edits, size_t count, zb_error *err);

#endif
