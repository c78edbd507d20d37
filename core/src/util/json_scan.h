/* SPDX-License-Identifier: MIT */
/* The words of JSON text: white space, strings, numbers. json_parse.c puts them together. */
#ifndef ZB_UTIL_JSON_SCAN_H
#define ZB_UTIL_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "util/arena.h"
#include "zarrbridge/error.h"

/* Functions that return a code, or tell whether something stood here, begin at `at` and leave it
   behind the last byte that they have read. */
typedef struct zb__scanner {
    const char *text;
    size_t size;
    size_t at;        /* next byte to look at; at most size */
    zb__arena *arena; /* of all that is handed out */
    bool is_lenient;  /* escapes of characters that a text cannot hold stay as they are */
    bool is_strange;  /* there was one since this was set to false */
    zb_error *err;
} zb__scanner;

/* Fails with the place of byte `at`. Columns count bytes, from 1. */
enum zb_code zb__scan_fail(zb__scanner *s, enum zb_code code, size_t at, const char *format, ...)
    ZB_PRINTF(4, 5);
/* "found X, expected ...": X is the text at the current place. */
enum zb_code zb__scan_expected(zb__scanner *s, const char *expected);
enum zb_code zb__scan_no_memory(zb__scanner *s);

/* The next byte, or 0 (which is refused everywhere) at the end. */
static inline char zb__scan_peek(const zb__scanner *s) {
    return s->at < s->size ? s->text[s->at] : '\0';
}

/* White space, of which there may be none. */
void zb__scan_spaces(zb__scanner *s);

static inline void zb__scan_space(zb__scanner *s) {
    if (s->at < s->size && (unsigned char)s->text[s->at] <= ' ')
        zb__scan_spaces(s);
}

/* Skips white space, and the character when it follows. */
static inline bool zb__scan_take(zb__scanner *s, char c) {
    zb__scan_space(s);
    const bool there = zb__scan_peek(s) == c;
    s->at += there;
    return there;
}

/* Skips the word when it stands here; the caller judges what follows, so that "nulll" fails at its
   last letter. */
bool zb__scan_word(zb__scanner *s, const char *word);

/* A string, from its opening quote on: its text. */
enum zb_code zb__scan_string(zb__scanner *s, char **out);

/* The same two, which are checked and not handed out. */
enum zb_code zb__scan_skip_string(zb__scanner *s);
enum zb_code zb__scan_skip_number(zb__scanner *s);

/* A number: its token, byte by byte, so that "1.50" and "1.5" stay different. */
enum zb_code zb__scan_number(zb__scanner *s, char **out);

#endif
