/* SPDX-License-Identifier: MIT */
#include "codec_words.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

/* Members whose value says enough without their name. */
static bool speaks_for_itself(const char *member) {
    return strcmp(member, "cname") == 0 || strcmp(member, "shuffle") == 0 ||
           strcmp(member, "dtype") == 0;
}

static void print_json(const zb_json *value) {
    char *text = zb_json_print(value);
    if (text)
        print_text(text);
    free(text);
}

static void print_member(const zb_json *member) {
    const char *name = zb_json_name(member), *text = zb_json_string(member);
    if (text && strcmp(name, "endian") == 0) {
        print_text(text);
        fputs("-endian", stdout);
        return;
    }
    const bool is_flag = zb_json_kind_of(member) == ZB_JSON_BOOL;
    if (!(text && speaks_for_itself(name)))
        print_text(strcmp(name, "clevel") == 0 ? "level" : name);
    if (is_flag)
        return;
    if (!(text && speaks_for_itself(name)))
        putchar(' ');
    if (text)
        print_text(text);
    else
        print_json(member);
}

/* A flag that is off, and what is null, say nothing. */
static bool is_said(const zb_json *member) {
    const enum zb_json_kind kind = zb_json_kind_of(member);
    return kind != ZB_JSON_NULL && (kind != ZB_JSON_BOOL || zb_json_bool(member));
}

static void print_codec(const zb_codec_info *codec) {
    bool any = false;
    print_text(codec->name);
    for (const zb_json *m = zb_json_first(codec->configuration); m; m = zb_json_next(m)) {
        if (!is_said(m))
            continue;
        fputs(any ? ", " : " (", stdout);
        print_member(m);
        any = true;
    }
    if (any)
        putchar(')');
}

/* The codecs of a shard's inner chunks follow it, one level deeper. */
void print_codecs(const zb_array_info *array) {
    uint32_t level = 0;
    for (size_t i = 0; i < array->codec_count; i++) {
        const zb_codec_info *codec = &array->codecs[i];
        for (; level > codec->shard_level; level--)
            putchar(']');
        if (i > 0 && array->codecs[i - 1].shard_level >= codec->shard_level)
            fputs(", ", stdout);
        level = codec->shard_level;
        if (i + 1 < array->codec_count && array->codecs[i + 1].shard_level > level)
            fputs("shards of [", stdout);
        else
            print_codec(codec);
    }
    for (; level > 0; level--)
        putchar(']');
    if (array->codec_count == 0)
        fputs("none", stdout);
}
