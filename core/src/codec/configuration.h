/* SPDX-License-Identifier: MIT */
/*
 * The values in a codec's configuration; NULL stands for one without members.
 *
 * Decoding needs none of gzip's, zstd's or blosc's members, and some writers left them out, so a
 * missing one is fine: *out keeps the default that the caller put there. A member that is there
 * must be right.
 */
#ifndef ZB_CODEC_CONFIGURATION_H
#define ZB_CODEC_CONFIGURATION_H

#include <stdbool.h>
#include <stdint.h>

#include "zarrbridge/json.h"

/* An integer of that range, which fits an int. */
enum zb_code zb__configuration_integer(const zb_json *configuration, const char *name, int low,
                                       int high, int *out, zb_error *err);

/* Makes the state of a codec that has such an integer and nothing else: an int, which is
   `otherwise` where the member is missing. */
enum zb_code zb__configuration_state(const zb_json *configuration, const char *name, int low,
                                     int high, int otherwise, void **state, zb_error *err);

/* One of the strings in the NULL-terminated list; *out gets its place there. */
enum zb_code zb__configuration_choice(const zb_json *configuration, const char *name,
                                      const char *const *choices, size_t *out, zb_error *err);

/* The member, or NULL where it is missing or null, which numcodecs writes for what is not set. */
const zb_json *zb__configuration_given(const zb_json *configuration, const char *name);

/* True or false. */
enum zb_code zb__configuration_bool(const zb_json *configuration, const char *name, bool *out,
                                    zb_error *err);

#endif
