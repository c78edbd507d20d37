/* SPDX-License-Identifier: MIT */
/*
 * Checks of a codec's configuration. NULL stands for one without members.
 *
 * Readers differ in what they require: decoding needs none of gzip's, zstd's or blosc's members, and writers have
 * left some out, so a missing one is fine. A member that is there must be right, and one that is
 * unknown may change what the bytes mean, so it is refused.
 */
#ifndef ZB_CODEC_CONFIGURATION_H
#define ZB_CODEC_CONFIGURATION_H

#include <stddef.h>
#include <stdint.h>

#include "zarrbridge/error.h"
#include "zarrbridge/json.h"

/* ZB_EUNSUPPORTED unless every member's name is in names[0..count). */
enum zb_code zb__configuration_members(const zb_json *configuration, const char *const *names,
                                       size_t count, zb_error *err);

/* The member, when present, is an integer of that range. */
enum zb_code zb__configuration_integer(const zb_json *configuration, const char *name, int64_t low,
                                       int64_t high, zb_error *err);

/* The member, when present, is one of names[0..count); *which (if not NULL) tells which, and stays
   untouched when the member is missing. */
enum zb_code zb__configuration_choice(const zb_json *configuration, const char *name,
                                      const char *const *names, size_t count, size_t *which,
                                      zb_error *err);

/* The member, when present, is true or false. */
enum zb_code zb__configuration_bool(const zb_json *configuration, const char *name, zb_error *err);

#endif
