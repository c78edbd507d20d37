/* SPDX-License-Identifier: MIT */
/* Looking at long text. Nothing needs to be aligned. */
#include "util/utf8.h"

#include <string.h>

/* A word of bytes below 0x80 has none of these bits. */
#define NOT_ASCII UINT64_C(0x8080808080808080)

static uint64_t load_word(const char *text) {
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

/* The first byte of a word that is not all ASCII, or where the last whole word ends. Text that ends
   in the middle of a word is looked at by its last eight bytes: the answer is then its end. */
static size_t skip_ascii(const char *text, size_t at, size_t size) {
    const size_t word = sizeof(uint64_t);
    while (size - at >= word && !(load_word(text + at) & NOT_ASCII))
        at += word;
    if (at > 0 && size - at < word && size >= word && !(load_word(text + size - word) & NOT_ASCII))
        at = size;
    return at;
}

bool zb__is_utf8(const char *text, size_t size) {
    size_t at = skip_ascii(text, 0, size);
    while (at < size) {
        size_t length = zb__utf8_length(text + at, size - at);
        if (length == 0)
            return false;
        at += length;
        if (length == 1)
            at = skip_ascii(text, at, size);
    }
    return true;
}
