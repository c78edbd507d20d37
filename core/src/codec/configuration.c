/* SPDX-License-Identifier: MIT */
#include "codec/configuration.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fails with "<name> is <value>, must be <expected>". Hostile values can be long: they are cut. */
static enum zb_code wrong_value(const zb_json *value, const char *expected, zb_error *err) {
    char *text = zb_json_print(value);
    enum zb_code code = zb_fail(err, ZB_EFORMAT, "%s is %.60s, must be %s", zb_json_name(value),
                                text ? text : "?", expected);
    free(text);
    return code;
}

static bool contains(const char *const *names, size_t count, const char *name, size_t *which) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            if (which)
                *which = i;
            return true;
        }
    }
    return false;
}

enum zb_code zb__configuration_members(const zb_json *configuration, const char *const *names,
                                       size_t count, zb_error *err) {
    if (!configuration)
        return ZB_OK;
    for (const zb_json *member = zb_json_first(configuration); member;
         member = zb_json_next(member)) {
        if (!contains(names, count, zb_json_name(member), NULL))
            return zb_fail(err, ZB_EUNSUPPORTED, "configuration member \"%.60s\" is not known",
                           zb_json_name(member));
    }
    return ZB_OK;
}

enum zb_code zb__configuration_integer(const zb_json *configuration, const char *name, int64_t low,
                                       int64_t high, zb_error *err) {
    const zb_json *value = zb_json_get(configuration, name);
    int64_t number;
    if (!value || (zb_json_int64(value, &number) && number >= low && number <= high))
        return ZB_OK;
    char expected[80];
    snprintf(expected, sizeof expected, "an integer from %" PRId64 " to %" PRId64, low, high);
    return wrong_value(value, expected, err);
}

enum zb_code zb__configuration_choice(const zb_json *configuration, const char *name,
                                      const char *const *names, size_t count, size_t *which,
                                      zb_error *err) {
    const zb_json *value = zb_json_get(configuration, name);
    if (!value)
        return ZB_OK;
    const char *text = zb_json_string(value);
    if (text && contains(names, count, text, which))
        return ZB_OK;
    char expected[160];
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof expected; i++)
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%s\"%s\"",
                                 i ? " or " : "", names[i]);
    return wrong_value(value, expected, err);
}

enum zb_code zb__configuration_bool(const zb_json *configuration, const char *name, zb_error *err) {
    const zb_json *value = zb_json_get(configuration, name);
    if (!value || zb_json_kind_of(value) == ZB_JSON_BOOL)
        return ZB_OK;
    return wrong_value(value, "true or false", err);
}
