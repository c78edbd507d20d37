/* SPDX-License-Identifier: MIT */
#include "sha256.h"

#include <string.h>

#define BLOCK sizeof(((zb__sha256 *)NULL)->block)
#define PLACE_OF_LENGTH 56 /* in the last block */

/* FIPS 180-4, 4.2.2. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, unsigned bits) {
    return word >> bits | word << (32 - bits);
}

static void expand(const uint8_t block[BLOCK], uint32_t words[64]) {
    for (size_t i = 0; i < 16; i++)
        words[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
                   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (size_t i = 16; i < 64; i++) {
        const uint32_t a = words[i - 15], b = words[i - 2];
        words[i] = words[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + words[i - 7] +
                   (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
}

static void add_block(uint32_t state[8], const uint8_t block[BLOCK]) {
    uint32_t words[64], v[8];
    expand(block, words);
    memcpy(v, state, sizeof v);
    for (size_t i = 0; i < 64; i++) {
        const uint32_t a = v[0], e = v[4];
        const uint32_t choice = (e & v[5]) ^ (~e & v[6]);
        const uint32_t majority = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
        const uint32_t one = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice +
                             constants[i] + words[i];
        const uint32_t two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (size_t i = 0; i < 8; i++)
        state[i] += v[i];
}

void zb__sha256_begin(zb__sha256 *hash) {
    *hash = (zb__sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                   0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void zb__sha256_add(zb__sha256 *hash, const void *data, size_t size) {
    const uint8_t *from = data;
    while (size) {
        const size_t used = (size_t)(hash->size % BLOCK);
        const size_t count = size < BLOCK - used ? size : BLOCK - used;
        memcpy(hash->block + used, from, count);
        hash->size += count;
        from += count;
        size -= count;
        if (used + count == BLOCK)
            add_block(hash->state, hash->block);
    }
}

void zb__sha256_end(zb__sha256 *hash, uint8_t digest[ZB__SHA256_BYTES]) {
    static const uint8_t padding[BLOCK] = {0x80};
    const uint64_t bits = hash->size * 8;
    const size_t used = (size_t)(hash->size % BLOCK);
    uint8_t length[8];
    for (size_t i = 0; i < sizeof length; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    zb__sha256_add(hash, padding,
                   used < PLACE_OF_LENGTH ? PLACE_OF_LENGTH - used
                                          : BLOCK + PLACE_OF_LENGTH - used);
    zb__sha256_add(hash, length, sizeof length);
    for (size_t i = 0; i < ZB__SHA256_BYTES; i++)
        digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void zb__hmac_sha256(const void *key, size_t key_size, const void *data, size_t size,
                     uint8_t digest[ZB__SHA256_BYTES]) {
    uint8_t block[BLOCK] = {0};
    zb__sha256 hash;
    zb__sha256_begin(&hash);
    if (key_size > BLOCK) {
        zb__sha256_add(&hash, key, key_size);
        zb__sha256_end(&hash, block);
        zb__sha256_begin(&hash);
    } else if (key_size) {
        memcpy(block, key, key_size);
    }
    for (size_t i = 0; i < BLOCK; i++)
        block[i] ^= 0x36;
    zb__sha256_add(&hash, block, BLOCK);
    zb__sha256_add(&hash, data, size);
    zb__sha256_end(&hash, digest);
    for (size_t i = 0; i < BLOCK; i++)
        block[i] ^= 0x36 ^ 0x5c;
    zb__sha256_begin(&hash);
    zb__sha256_add(&hash, block, BLOCK);
    zb__sha256_add(&hash, digest, ZB__SHA256_BYTES);
    zb__sha256_end(&hash, digest);
    explicit_bzero(block, sizeof block);
    explicit_bzero(&hash, sizeof hash);
}
