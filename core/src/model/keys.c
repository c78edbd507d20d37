/* SPDX-License-Identifier: MIT */
/*
 * The keys of chunks: the grid index in decimal, in one of the two encodings of the specification.
 * "default" puts a "c" before all of it, so that chunks never share names with metadata; "v2" is
 * for data that came from version 2 of the format, and has no such prefix.
 */
#include "model/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends a number; returns the digits written. No printf, since a read may make thousands of keys.
 */
static size_t put_number(char *text, uint64_t number) {
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    for (size_t i = 0; i < count; i++)
        text[i] = digits[count - 1 - i];
    return count;
}

void zb__chunk_key(const zb__key_encoding *keys, uint32_t ndim, const uint64_t *index,
                   char text[ZB__CHUNK_KEY_MAX]) {
    size_t size = 0;
    /* The key is written without a check of the room: ZB__CHUNK_KEY_MAX fits the longest key. */
    if (!keys->v2)
        text[size++] = 'c';
    else if (ndim == 0)
        text[size++] = '0'; /* a scalar's only chunk */
    for (uint32_t d = 0; d < ndim; d++) {
        if (size > 0 && (d > 0 || !keys->joined))
            text[size++] = keys->separator;
        size += put_number(text + size, index[d]);
    }
    text[size] = '\0';
}
