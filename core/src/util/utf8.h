/* SPDX-License-Identifier: MIT */
/* UTF-8 as RFC 3629 defines it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef ZB_UTIL_UTF8_H
#define ZB_UTIL_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at text[0..size), or 0 when there is no valid one. */
static inline size_t zb__utf8_length(const char *text, size_t size) {
    /* The smallest code point that needs 1, 2, 3 and 4 bytes. */
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (size == 0)
        return 0;
    uint8_t first = (uint8_t)text[0];
    if (first < 0x80)
        return 1;
    /* 0x80 to 0xbf continue a character, 0xc0 and 0xc1 could only begin overlong forms (which the
       comparison with `least` finds), 0xf5 and above would lead beyond U+10FFFF. */
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc0 || first > 0xf4 || size < length)
        return 0;
    uint32_t point = first & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        uint8_t next = (uint8_t)text[i];
        if ((next & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (next & 0x3f);
    }
    bool surrogate = point >= 0xd800 && point <= 0xdfff;
    return point < least[length] || surrogate || point > 0x10ffff ? 0 : length;
}

/* True if all of text[0..size) is UTF-8. */
bool zb__is_utf8(const char *text, size_t size);

/* The code point of a valid character of that many bytes. */
static inline uint32_t zb__utf8_get(const char *text, size_t length) {
    uint32_t point = (uint8_t)text[0] & (length > 1 ? 0x7fU >> length : 0x7fU);
    for (size_t i = 1; i < length; i++)
        point = point << 6 | ((uint8_t)text[i] & 0x3f);
    return point;
}

/* Writes a code point (no surrogate, at most U+10FFFF) to text, which has room for 4 bytes; returns
   the number taken. */
static inline size_t zb__utf8_put(char *text, uint32_t point) {
    if (point < 0x80) {
        text[0] = (char)point;
        return 1;
    }
    size_t length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--) {
        text[i] = (char)(0x80 | (point & 0x3f));
        point >>= 6;
    }
    /* 0xc0, 0xe0 or 0xf0: as many leading ones as there are bytes. */
    text[0] = (char)(0xf00U >> length | point);
    return length;
}

#endif
