/* SPDX-License-Identifier: MIT */
/*
 * Text that grows while it is written. A lack of memory is remembered instead of reported at each
 * step: the writer goes on, and the end of the work asks once (zb__text_take).
 */
#ifndef ZB_UTIL_TEXT_H
#define ZB_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "zarrbridge/error.h"

/* Either may be NULL, which is the same as NULL alone. */
static inline bool zb__text_same(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* All zeros is an empty text. */
typedef struct zb__text {
    char *data; /* NUL-terminated once something was written */
    size_t size, capacity;
    int failed; /* memory ran out; data is NULL from then on */
} zb__text;

/* For an empty text of which it is known that it will have about so many bytes: they are touched
   once, in huge pages where there are many. */
void zb__text_expect(zb__text *text, size_t bytes);

/* Memory has run out for a part of it. */
void zb__text_fail(zb__text *text);

void zb__text_put(zb__text *text, const char *bytes, size_t count);
void zb__text_add(zb__text *text, const char *string);
void zb__text_addf(zb__text *text, const char *format, ...) ZB_PRINTF(2, 3);

/* A line break and the indentation of this level, two blanks each. */
void zb__text_add_line(zb__text *text, unsigned level);

/* Hands the text over to the caller, which frees it; NULL when memory has run out. size may be
   NULL. */
char *zb__text_take(zb__text *text, size_t *size);

#endif
