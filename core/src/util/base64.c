/* SPDX-License-Identifier: MIT */
/* Four digits of 6 bits, the first one on top, are three bytes. The last four may end in one '=',
   two bytes, or two, one byte. */
#include "util/base64.h"

#include <string.h>

#include "util/bytes.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static size_t padding_of(const char *text, size_t length) {
    if (length == 0 || text[length - 1] != '=')
        return 0;
    return length > 1 && text[length - 2] == '=' ? 2 : 1;
}

size_t zb__base64_bytes(const char *text) {
    const size_t length = strlen(text);
    return length < 4 ? 0 : length / 4 * 3 - padding_of(text, length);
}

bool zb__base64_decode(const char *text, uint8_t *out) {
    const size_t length = strlen(text), digits = length - padding_of(text, length);
    uint32_t bits = 0;
    unsigned held = 0; /* bits that wait for the rest of their byte */
    if (length % 4 != 0)
        return false;
    for (size_t i = 0; i < digits; i++) {
        const char *at = strchr(alphabet, text[i]);
        if (!at)
            return false;
        bits = bits << 6 | (uint32_t)(at - alphabet);
        held += 6;
        if (held >= 8) {
            held -= 8;
            *out++ = (uint8_t)(bits >> held);
        }
    }
    return true;
}

void zb__base64_encode(const uint8_t *bytes, size_t size, char *text) {
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const uint32_t bits = (uint32_t)bytes[i] << 16 |
                              (uint32_t)(left > 1 ? bytes[i + 1] : 0) << 8 |
                              (left > 2 ? bytes[i + 2] : 0);
        for (unsigned digit = 0; digit < 4; digit++)
            *text++ = digit <= left ? alphabet[bits >> (18 - 6 * digit) & 63] : '=';
    }
    *text = '\0';
}

bool zb__base64_to_double(const char *text, double *out) {
    uint8_t bytes[9];
    if (strlen(text) != ZB__BASE64_SIZE - 1 || zb__base64_bytes(text) != sizeof *out ||
        !zb__base64_decode(text, bytes))
        return false;
    const uint64_t bits = zb__load_le64(bytes);
    memcpy(out, &bits, sizeof *out);
    return true;
}

const char *zb__base64_from_double(double value, char text[ZB__BASE64_SIZE]) {
    uint64_t bits;
    uint8_t bytes[sizeof value];
    memcpy(&bits, &value, sizeof bits);
    zb__store_le32(bytes, (uint32_t)bits);
    zb__store_le32(bytes + 4, (uint32_t)(bits >> 32));
    zb__base64_encode(bytes, sizeof bytes, text);
    return text;
}
