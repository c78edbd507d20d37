/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4) and HMAC (RFC 2104) with it, for signatures that libcurl does not make. */
#ifndef ZB_NET_SHA256_H
#define ZB_NET_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define ZB__SHA256_BYTES 32

typedef struct zb__sha256 {
    uint32_t state[8];
    uint64_t size;     /* bytes so far */
    uint8_t block[64]; /* the size % 64 bytes that are no whole block yet */
} zb__sha256;

void zb__sha256_begin(zb__sha256 *hash);
void zb__sha256_add(zb__sha256 *hash, const void *data, size_t size);
void zb__sha256_end(zb__sha256 *hash, uint8_t digest[ZB__SHA256_BYTES]);

void zb__hmac_sha256(const void *key, size_t key_size, const void *data, size_t size,
                     uint8_t digest[ZB__SHA256_BYTES]);

#endif
