/* SPDX-License-Identifier: MIT */
/* Digits of 6 bits each, the first one on top. 8 bytes are 10 digits and 4 bits of an eleventh. */
#include "base/base64.h"

#include <stdint.h>
#include <string.h>

#define DIGITS 11

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The bytes of a little-endian double as a number with the first byte on top. */
static uint64_t turned(uint64_t bits) {
    uint64_t result = 0;
    for (int i = 0; i < 8; i++)
        result |= (bits >> (8 * i) & 255) << (56 - 8 * i);
    return result;
}

/* The value of a digit; 64 for what is none. */
static unsigned digit_of(char c) {
    const char *at = c ? strchr(alphabet, c) : NULL;
    return at ? (unsigned)(at - alphabet) : 64;
}

/* Each group of four digits is three bytes; of the last group, two or one with padding. */
bool zb__base64_decode(const char *text, uint8_t *out, size_t size) {
    size_t length = strlen(text);
    if (length % 4 != 0 || length / 4 != size / 3 + (size % 3 != 0))
        return false;
    for (size_t at = 0; at < size; at += 3, text += 4) {
        size_t count = size - at < 3 ? size - at : 3; /* bytes of this group */
        uint32_t word = 0;
        for (size_t i = 0; i < 4; i++) {
            unsigned digit = i <= count ? digit_of(text[i]) : text[i] == '=' ? 0 : 64;
            if (digit > 63)
                return false;
            word = word << 6 | digit;
        }
        for (size_t i = 0; i < count; i++)
            out[at + i] = (uint8_t)(word >> (16 - 8 * i));
    }
    return true;
}

const char *zb__base64_encode(const uint8_t *bytes, size_t size, char *text) {
    char *out = text;
    for (size_t at = 0; at < size; at += 3) {
        size_t count = size - at < 3 ? size - at : 3;
        uint32_t word = 0;
        for (size_t i = 0; i < 3; i++)
            word = word << 8 | (i < count ? bytes[at + i] : 0);
        for (size_t i = 0; i < 4; i++)
            *out++ = i <= count ? alphabet[word >> (18 - 6 * i) & 63] : '=';
    }
    *out = '\0';
    return text;
}

/* The two bits of the last digit that are not data may be anything, as other readers have it. */
bool zb__base64_to_double(const char *text, double *out) {
    uint64_t word = 0;
    if (strlen(text) != ZB__BASE64_SIZE - 1 || text[DIGITS] != '=')
        return false;
    for (int i = 0; i < DIGITS; i++) {
        const uint64_t digit = digit_of(text[i]);
        if (digit > 63)
            return false;
        word = i < DIGITS - 1 ? word << 6 | digit : word << 4 | digit >> 2;
    }
    word = turned(word);
    memcpy(out, &word, sizeof word);
    return true;
}

const char *zb__base64_from_double(double value, char text[ZB__BASE64_SIZE]) {
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    word = turned(word);
    for (int i = 0; i < DIGITS - 1; i++)
        text[i] = alphabet[word >> (58 - 6 * i) & 63];
    text[DIGITS - 1] = alphabet[(word & 15) << 2];
    text[DIGITS] = '=';
    text[DIGITS + 1] = '\0';
    return text;
}
