/* SPDX-License-Identifier: MIT */
/* Digits of 6 bits each, the first one on top. 8 bytes are 10 digits and 4 bits of an eleventh. */
#include "conventions/base64.h"

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

/* The two bits of the last digit that are not data may be anything, as other readers have it. */
bool zb__base64_to_double(const char *text, double *out) {
    uint64_t word = 0;
    if (strlen(text) != ZB__BASE64_SIZE - 1 || text[DIGITS] != '=')
        return false;
    for (int i = 0; i < DIGITS; i++) {
        const char *at = strchr(alphabet, text[i]);
        const uint64_t digit = at ? (uint64_t)(at - alphabet) : 64;
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
