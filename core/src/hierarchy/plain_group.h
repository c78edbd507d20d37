/* SPDX-License-Identifier: MIT */
/*
 * Groups above a change that this store has looked at and found plain: groups, without a block of
 * consolidated metadata. As long as the version of the document is the same, a change below need
 * not read it again: that costs one question to the file system in place of four, and no parsing,
 * which for a group of many attributes takes longer than all else. Nor need it look for a note of a
 * block that is owed (owed.h), which this store has joined then: a note is put before a document
 * loses its block, which makes another version of it. (Another store that joins later makes its
 * block of all documents, and so does this one, when it finds that its note has been replaced.)
 */
#ifndef ZB_CHANGE_PLAIN_GROUP_H
#define ZB_CHANGE_PLAIN_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "zarrbridge/error.h"
#include "zarrbridge/hierarchy.h"

/* *out: the document of the group at path as it is now, in one word. 0: there is none, it may
   change without another version, or asking for it costs a request. Any thread may call these. */
enum zb_code zb__plain_group_mark(zb_hierarchy *hierarchy, const char *path, uint64_t *out,
                                  zb_error *err);
/* True if the document of this mark was a plain group's. */
bool zb__plain_group_is_known(uint64_t mark);
/* The document that was read after the mark was taken is a plain group's. */
void zb__plain_group_remember(uint64_t mark);

#endif
