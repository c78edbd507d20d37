/* SPDX-License-Identifier: MIT */
/* Values in codec configurations. Messages are of one form: "level is 12, expected ...". */
#include "codec/configuration.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "util/json_excerpt.h"
#include "zarrbridge/json.h"

static enum zb_code wrong_value(const zb_json *value, const char *expected, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    return zb_fail(err, ZB_EFORMAT, "%s is %s, expected %s", zb_json_name(value),
                   zb__json_excerpt(value, excerpt), expected);
}

enum zb_code zb__configuration_integer(const zb_json *configuration, const char *name, int low,
                                       int high, int *out, zb_error *err) {
    const zb_json *value = zb_json_get(configuration, name);
    int64_t number;
    if (!value)
        return ZB_OK;
    if (zb_json_int64(value, &number) && number >= low && number <= high) {
        *out = (int)number;
        return ZB_OK;
    }
    char expected[80];
    snprintf(expected, sizeof expected, "an integer from %d to %d", low, high);
    return wrong_value(value, expected, err);
}

enum zb_code zb__configuration_state(const zb_json *configuration, const char *name, int low,
                                     int high, int otherwise, void **state, zb_error *err) {
    int *number = zb__codec_new_state(sizeof *number, state, err);
    if (!number)
        return ZB_ENOMEM;
    *number = otherwise;
    return zb__configuration_integer(configuration, name, low, high, number, err);
}

enum zb_code zb__configuration_choice(const zb_json *configuration, const char *name,
                                      const char *const *choices, size_t *out, zb_error *err) {
    const zb_json *value = zb_json_get(configuration, name);
    const char *text = zb_json_string(value);
    if (!value)
        return ZB_OK;
    for (size_t i = 0; text && choices[i]; i++) {
        if (strcmp(text, choices[i]) == 0) {
            *out = i;
            return ZB_OK;
        }
    }
    char expected[160];
    size_t used = 0;
    for (size_t i = 0; choices[i] && used < sizeof expected; i++)
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%s\"%s\"",
                                 i ? " or " : "", choices[i]);
    return wrong_value(value, expected, err);
}

const zb_json *zb__configuration_given(const zb_json *configuration, const char *name) {
    const zb_json *value = zb_json_get(configuration, name);
    return zb_json_kind_of(value) == ZB_JSON_NULL ? NULL : value;
}

enum zb_code zb__configuration_bool(const zb_json *configuration, const char *name, bool *out,
                                    zb_error *err) {
    const zb_json *value = zb_json_get(configuration, name);
    if (!value)
        return ZB_OK;
    if (zb_json_kind_of(value) != ZB_JSON_BOOL)
        return wrong_value(value, "true or false", err);
    *out = zb_json_bool(value);
    return ZB_OK;
}

void zb__codec_free(zb__codec *codec) {
    if (codec->ops && codec->ops->free)
        codec->ops->free(codec->state);
    *codec = (zb__codec){.ops = NULL};
}

void *zb__codec_new_state(size_t size, void **state, zb_error *err) {
    *state = calloc(1, size);
    if (!*state)
        zb_fail(err, ZB_ENOMEM, "no memory for a codec");
    return *state;
}
