/* SPDX-License-Identifier: MIT */
/* The published vectors of FIPS 180-4 and RFC 4231, and blocks that end at every place. */
#include "sha256.h"
#include "support/check.h"

#include <stdio.h>

static const char *hex_of(const uint8_t digest[ZB__SHA256_BYTES]) {
    static char text[2 * ZB__SHA256_BYTES + 1];
    for (size_t i = 0; i < ZB__SHA256_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return text;
}

static const char *hash_of(const char *text) {
    uint8_t digest[ZB__SHA256_BYTES];
    zb__sha256 hash;
    zb__sha256_begin(&hash);
    zb__sha256_add(&hash, text, strlen(text));
    zb__sha256_end(&hash, digest);
    return hex_of(digest);
}

static void hashes(void **state) {
    (void)state;
    assert_string_equal(hash_of(""),
                        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_string_equal(hash_of("abc"),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_string_equal(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
                        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void a_million_bytes_in_pieces(void **state) {
    (void)state;
    char piece[1000];
    uint8_t digest[ZB__SHA256_BYTES];
    zb__sha256 hash;
    memset(piece, 'a', sizeof piece);
    zb__sha256_begin(&hash);
    for (size_t left = 1000000, next = 1; left; left -= next, next = next % 997 + 1) {
        next = next < left ? next : left;
        zb__sha256_add(&hash, piece, next);
    }
    zb__sha256_end(&hash, digest);
    assert_string_equal(hex_of(digest),
                        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static const char *hmac_of(const char *key, size_t key_size, const char *text) {
    uint8_t digest[ZB__SHA256_BYTES];
    zb__hmac_sha256(key, key_size, text, strlen(text), digest);
    return hex_of(digest);
}

static void keyed_hashes(void **state) {
    (void)state;
    char key[131];
    memset(key, 0x0b, 20);
    assert_string_equal(hmac_of(key, 20, "Hi There"),
                        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    assert_string_equal(hmac_of("Jefe", 4, "what do ya want for nothing?"),
                        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    assert_string_equal(
        hmac_of(key, sizeof key, "Test Using Larger Than Block-Size Key - Hash Key First"),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(hashes),
                                       cmocka_unit_test(a_million_bytes_in_pieces),
                                       cmocka_unit_test(keyed_hashes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
