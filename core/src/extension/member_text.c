/* SPDX-License-Identifier: MIT */
#include "extension/member_text.h"

#include <stdlib.h>
#include <string.h>

#define VERSION 1
#define VERSION_NAME "version"

/* The JSON parser bounds depth and values, and the document's limit bounds the text. */
enum zb_code zb__members_parse(const zb_json *value, zb_json **out) {
    const char *text = zb_json_string(value);
    zb_json *object = NULL;
    *out = NULL;
    const enum zb_code code = text ? zb_json_parse(text, strlen(text), &object, NULL) : ZB_EFORMAT;
    if (code)
        return code == ZB_ENOMEM ? code : ZB_OK;
    if (zb_json_kind_of(object) == ZB_JSON_OBJECT)
        *out = object;
    else
        zb_json_free(object);
    return ZB_OK;
}

bool zb__members_are_known(const zb_json *object) {
    uint64_t version;
    return zb_json_uint64(zb_json_get(object, VERSION_NAME), &version) && version == VERSION;
}

bool zb__member_is_version(const zb_json *member) {
    return strcmp(zb_json_name(member), VERSION_NAME) == 0;
}

zb_json_writer *zb__members_begin(void) {
    zb_json_writer *object = zb_json_writer_new();
    zb_json_begin_object(object);
    zb_json_write_name(object, VERSION_NAME);
    zb_json_write_uint64(object, VERSION);
    return object;
}

char *zb__members_end(zb_json_writer *object) {
    zb_json_end_object(object);
    char *text = zb_json_writer_end(object, NULL);
    zb_json_writer *string = text ? zb_json_writer_new() : NULL;
    zb_json_write_string(string, text ? text : "");
    free(text);
    return zb_json_writer_end(string, NULL);
}

void zb__members_put(zb_json_writer *out, const zb_json *member) {
    zb_json_write_name(out, zb_json_name(member));
    zb_json_write_value(out, member);
}
