/* SPDX-License-Identifier: MIT */
/*
 * The form that the extensions of nodes share: an attribute whose value is a text, and in the text
 * a JSON object of members with a version. Programs that copy attributes then copy a string.
 */
#ifndef ZB_EXTENSION_MEMBER_TEXT_H
#define ZB_EXTENSION_MEMBER_TEXT_H

#include "zarrbridge/json.h"

/* The object in an attribute's value (NULL: there is none), for zb_json_free, of whatever version.
   *out is NULL when there is none. ZB_ENOMEM alone. */
enum zb_code zb__members_parse(const zb_json *value, zb_json **out);

/* True if this version of the library knows what the members of the object mean. */
bool zb__members_are_known(const zb_json *object);

/* True for the version itself, which says nothing of the node. */
bool zb__member_is_version(const zb_json *member);

/* An object of this version, begun; and ended, as the JSON of a text (malloc'ed), or NULL when
   memory ran out. */
zb_json_writer *zb__members_begin(void);
char *zb__members_end(zb_json_writer *object);

/* Writes a member as it was parsed. */
void zb__members_put(zb_json_writer *out, const zb_json *member);

#endif
