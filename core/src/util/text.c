/* SPDX-License-Identifier: MIT */
/* Growing text. The capacity doubles, so that writing stays linear in the length of the text. */
#include "util/text.h"

#include "util/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void zb__text_fail(zb__text *text) {
    free(text->data);
    *text = (zb__text){.failed = 1};
}

/* Makes room for count more bytes and the NUL behind them. */
static int reserve(zb__text *text, size_t count) {
    if (text->failed)
        return 0;
    if (text->capacity - text->size > count)
        return 1;
    size_t capacity = 2 * text->capacity + count + 64;
    char *grown = realloc(text->data, capacity);
    if (!grown) {
        zb__text_fail(text);
        return 0;
    }
    text->data = grown;
    text->capacity = capacity;
    return 1;
}

void zb__text_expect(zb__text *text, size_t bytes) {
    size_t capacity;
    char *data = text->data || text->failed ? NULL : zb__pages_alloc(bytes, &capacity);
    if (data)
        *text = (zb__text){.data = data, .capacity = capacity};
}

void zb__text_put(zb__text *text, const char *bytes, size_t count) {
    if (!reserve(text, count))
        return;
    memcpy(text->data + text->size, bytes, count);
    text->size += count;
    text->data[text->size] = '\0';
}

void zb__text_add(zb__text *text, const char *string) {
    zb__text_put(text, string, strlen(string));
}

void zb__text_addf(zb__text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int count = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (count < 0 || !reserve(text, (size_t)count))
        return;
    va_start(args, format);
    vsnprintf(text->data + text->size, (size_t)count + 1, format, args);
    va_end(args);
    text->size += (size_t)count;
}

void zb__text_add_line(zb__text *text, unsigned level) {
    const size_t spaces = 2 * (size_t)level;
    if (!reserve(text, spaces + 1))
        return;
    text->data[text->size] = '\n';
    memset(text->data + text->size + 1, ' ', spaces);
    text->size += spaces + 1;
    text->data[text->size] = '\0';
}

char *zb__text_take(zb__text *text, size_t *size) {
    zb__text_put(text, "", 0); /* also an empty text is a string */
    char *data = text->data;
    if (size)
        *size = text->size;
    *text = (zb__text){.failed = 0};
    return data;
}
