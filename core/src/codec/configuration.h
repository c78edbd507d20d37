/* SPDX-License-Identifier: MIT */
/*
 * Checks of the values in a codec's configuration; NULL stands for one without members.
 *
 * Decoding needs none of gzip's, zstd's or blosc's members, and some writers left them out, so a
 * missing one is fine. A member that is there must be right.
 */
#ifndef ZB_CODEC_CONFIGURATION_H
#define ZB_CODEC_CONFIGURATION_H

#include <stdint.h>

#include "zarrbridge/error.h"
#include "zarrbridge/json.h"

/* The member, when present, is an integer of that range. */
enum zb_code zb__configuration_integer(const zb_json *configuration, const char *name, int64_t low,
                                       int64_t high, zb_error *err);

/* The member, when present, is one of the strings in the NULL-terminated list. */
enum zb_code zb__configuration_choice(const zb_json *configuration, const char *name,
                                      const char *const *choices, zb_error *err);

/* The member, when present, is true or false. */
enum zb_code zb__configuration_bool(const zb_json *configuration, const char *name, zb_error *err);

#endif
