/* SPDX-License-Identifier: MIT */
/* Chunk keys, as the specification spells them. */
#include "array/keys.h"

#include "array/array.h"
#include "node/node.h"
#include "support/check.h"
#include "util/json_writer.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

static void spells_keys(void **state) {
    (void)state;
    static const struct {
        enum zb__key_form form;
        char separator;
        uint32_t ndim;
        uint64_t index[3];
        const char *key;
    } rows[] = {
        {ZB__KEYS_DEFAULT, '/', 0, {0}, "c"},
        {ZB__KEYS_DEFAULT, '.', 0, {0}, "c"},
        {ZB__KEYS_V2, '.', 0, {0}, "0"},
        {ZB__KEYS_V2, '/', 0, {0}, "0"},
        {ZB__KEYS_DEFAULT, '/', 1, {7}, "c/7"},
        {ZB__KEYS_DEFAULT, '.', 1, {7}, "c.7"},
        {ZB__KEYS_V2, '.', 1, {7}, "7"},
        {ZB__KEYS_DEFAULT, '/', 3, {1, 0, 23}, "c/1/0/23"},
        {ZB__KEYS_DEFAULT, '.', 3, {1, 0, 23}, "c.1.0.23"},
        {ZB__KEYS_V2, '/', 3, {1, 0, 23}, "1/0/23"},
        {ZB__KEYS_V2, '.', 3, {10, 100, 1000}, "10.100.1000"},
        {ZB__KEYS_DEFAULT, '/', 1, {UINT64_MAX}, "c/18446744073709551615"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb__key_encoding keys = {.form = rows[i].form, .separator = rows[i].separator};
        char text[ZB__CHUNK_KEY_MAX];
        zb__chunk_key(&keys, rows[i].ndim, rows[i].index, text);
        assert_string_equal(text, rows[i].key);
        uint64_t index[3] = {0};
        assert_true(zb__chunk_key_parse(&keys, rows[i].ndim, text, index));
        assert_memory_equal(index, rows[i].index, sizeof index);
    }
}

/* An encoding from the text of a document. */
static zb__key_encoding keys_of(const char *text) {
    zb_json *value;
    zb_error err;
    zb__key_encoding keys;
    ASSERT_OK(zb_json_parse(text, strlen(text), &value, &err), err);
    ASSERT_OK(zb__keys_parse(value, &keys, &err), err);
    zb_json_free(value);
    return keys;
}

#define FANOUT(n) "{\"name\":\"fanout\",\"configuration\":{\"max_children\":" #n "}}"
#define SUFFIX(suffix, base)                                                                       \
    "{\"name\":\"suffix\",\"configuration\":{\"suffix\":\"" suffix "\",\"base_encoding\":" base "}}"
#define DOTTED "{\"name\":\"default\",\"configuration\":{\"separator\":\".\"}}"
#define V2 "{\"name\":\"v2\",\"configuration\":{\"separator\":\".\"}}"

/* The examples of the two proposals are among the rows. */
static void spells_proposed_keys(void **state) {
    (void)state;
    static const struct {
        const char *encoding;
        uint32_t ndim;
        uint64_t index[4];
        const char *key;
    } rows[] = {
        {"\"fanout\"", 0, {0}, "c"},
        {FANOUT(1000), 1, {0}, "c/0/000"},
        {FANOUT(1000), 1, {12}, "c/0/012"},
        {FANOUT(1000), 1, {1234567}, "c/2/001/234/567"},
        {FANOUT(1000), 4, {1234, 5, 0, 6789012}, "c/1/001/234/0/005/0/000/2/006/789/012"},
        {FANOUT(1999), 1, {1000}, "c/1/001/000"},
        {FANOUT(100), 2, {99, 100}, "c/0/99/1/01/00"},
        {FANOUT(999), 1, {UINT64_MAX}, "c/9/18/44/67/44/07/37/09/55/16/15"},
        {FANOUT(18446744073709551615), 1, {7}, "c/0/0000000000000000007"},
        {SUFFIX(".tiff", "{\"name\":\"default\"}"), 2, {1, 2}, "c/1/2.tiff"},
        {SUFFIX(".tiff", DOTTED), 2, {1, 2}, "c.1.2.tiff"},
        {SUFFIX(".shard.zip", "\"v2\""), 2, {1, 2}, "1.2.shard.zip"},
        {SUFFIX(".tiff", "\"default\""), 0, {0}, "c.tiff"},
        {SUFFIX(".tiff", "\"v2\""), 0, {0}, "0.tiff"},
        {SUFFIX("", "\"default\""), 1, {3}, "c/3"},
        {SUFFIX("5", "\"default\""), 1, {15}, "c/155"},
        {SUFFIX(".5", DOTTED), 2, {1, 5}, "c.1.5.5"},
        {SUFFIX(".b", SUFFIX(".a", "\"fanout\"")), 2, {1, 2000}, "c/0/001/1/002/000.a.b"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        zb__key_encoding keys = keys_of(rows[i].encoding);
        char text[ZB__CHUNK_KEY_MAX];
        zb__chunk_key(&keys, rows[i].ndim, rows[i].index, text);
        assert_string_equal(text, rows[i].key);
        uint64_t index[4] = {0};
        assert_true(zb__chunk_key_parse(&keys, rows[i].ndim, text, index));
        assert_memory_equal(index, rows[i].index, sizeof index);
    }
}

/* Each index has one key: a second spelling would be an object that no read ever finds. */
static void refuses_other_names(void **state) {
    (void)state;
    static const struct {
        const char *encoding;
        uint32_t ndim;
        const char *text;
    } rows[] = {
        {"\"default\"", 1, ""},
        {"\"default\"", 1, "c"},
        {"\"default\"", 1, "c/"},
        {"\"default\"", 1, "c/01"},
        {"\"default\"", 1, "c.1"},
        {"\"default\"", 1, "c/1/"},
        {"\"default\"", 1, "c/1x"},
        {"\"default\"", 1, "c/18446744073709551616"},
        {"\"default\"", 2, "c/1"},
        {"\"default\"", 0, "c/"},
        {"\"v2\"", 0, "1"},
        {"\"v2\"", 0, "00"},
        {"\"v2\"", 1, "c/1"},
        {"\"v2\"", 2, "1.2.3"},
        {"\"fanout\"", 1, "c/0/00"},
        {"\"fanout\"", 1, "c/0/0000"},
        {"\"fanout\"", 1, "c/0/000/"},
        {"\"fanout\"", 1, "c/0/000/0/000"},
        {"\"fanout\"", 1, "c/1/000/001"},
        {"\"fanout\"", 1, "c/1/001"},
        {"\"fanout\"", 1, "c/01/001/000"},
        {"\"fanout\"", 1, "c/0"},
        {"\"fanout\"", 1, "c"},
        {"\"fanout\"", 0, "c/0/000"},
        {"\"fanout\"", 1, "c/0/0x0"},
        {"\"fanout\"", 1, "c/6/018/446/744/073/709/551/616"},
        {"\"fanout\"", 1, "c/18446744073709551615/001"},
        {SUFFIX(".tiff", "\"default\""), 2, "c/1/2"},
        {SUFFIX(".tiff", "\"default\""), 2, "c/1/2.tif"},
        {SUFFIX(".tiff", "\"default\""), 2, "c/1.tiff/2.tiff"},
        {SUFFIX(".tiff", "\"default\""), 2, "c/1.tiff"},
        {SUFFIX(".tiff", "\"default\""), 0, ".tiff"},
        {SUFFIX("5", "\"default\""), 1, "c/5"},
        {SUFFIX("5", "\"default\""), 1, "c/015"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        zb__key_encoding keys = keys_of(rows[i].encoding);
        uint64_t index[2];
        if (zb__chunk_key_parse(&keys, rows[i].ndim, rows[i].text, index))
            fail_msg("%s: \"%s\" is a key", rows[i].encoding, rows[i].text);
    }
}

/* Walks go down into these directories alone. */
static void tells_directories(void **state) {
    (void)state;
    static const struct {
        const char *encoding, *in, *out;
    } rows[] = {
        {"\"default\"", "c", "c0"},
        {"\"default\"", "c", "0"},
        {DOTTED, NULL, "c"},
        {"\"v2\"", NULL, "0"},
        {"\"fanout\"", "c", "c.x"},
        {V2, NULL, "1"},
        {"{\"name\":\"v2\",\"configuration\":{\"separator\":\"/\"}}", "10", "c"},
        {"{\"name\":\"v2\",\"configuration\":{\"separator\":\"/\"}}", "0", "00"},
        {SUFFIX(".x", "\"default\""), "c", "c.x"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        zb__key_encoding keys = keys_of(rows[i].encoding);
        assert_true(!rows[i].in || zb__chunk_key_enters(&keys, rows[i].in));
        assert_false(zb__chunk_key_enters(&keys, rows[i].out));
    }
}

/* What is written says the same, in the form that the proposals have it. */
static void prints_encodings(void **state) {
    (void)state;
    static const struct {
        const char *text, *printed;
    } rows[] = {
        {"\"default\"", "{\"name\":\"default\",\"configuration\":{\"separator\":\"/\"}}"},
        {"{\"type\":\"v2\"}", V2},
        {DOTTED, DOTTED},
        {"\"fanout\"", FANOUT(1000)},
        {FANOUT(12345), FANOUT(10000)},
        {SUFFIX(".x", V2), SUFFIX(".x", V2)},
        {SUFFIX(".y", SUFFIX(".x", FANOUT(100))), SUFFIX(".x.y", FANOUT(100))},
        {SUFFIX("", DOTTED), DOTTED},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        zb__key_encoding keys = keys_of(rows[i].text);
        zb_json_writer w = {.level = 0};
        zb__keys_print(&w, &keys);
        assert_string_equal(w.text.data, rows[i].printed);
        zb__key_encoding again = keys_of(w.text.data);
        assert_true(zb__keys_same(&keys, &again));
        free(w.text.data);
        zb__key_encoding other = keys_of(SUFFIX(".z", FANOUT(100)));
        assert_false(zb__keys_same(&keys, &other));
    }
}

#define LONG "0123456789012345678901234567890123456789012345678901234567890123"

static void refuses_encodings(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum zb_code code;
        const char *message;
    } rows[] = {
        {FANOUT(99), ZB_EFORMAT, "max_children is 99, expected an integer from 100 up"},
        {FANOUT(-100), ZB_EFORMAT, "max_children is -100"},
        {FANOUT(1e3), ZB_EFORMAT, "max_children is 1e3"},
        {FANOUT(18446744073709551616), ZB_EFORMAT, "max_children is 18446744073709551616"},
        {FANOUT("1000"), ZB_EFORMAT, "max_children is \"1000\""},
        {"{\"name\":\"fanout\",\"configuration\":{\"separator\":\"/\"}}", ZB_EUNSUPPORTED,
         "separator"},
        {"\"suffix\"", ZB_EFORMAT, "suffix without a base_encoding"},
        {"{\"name\":\"suffix\",\"configuration\":{\"base_encoding\":\"v2\"}}", ZB_EFORMAT,
         "suffix is missing"},
        {"{\"name\":\"suffix\",\"configuration\":{\"suffix\":1,\"base_encoding\":\"v2\"}}",
         ZB_EFORMAT, "suffix is 1, expected a text"},
        {SUFFIX(".x", "\"hashed\""), ZB_EUNSUPPORTED, "\"hashed\" is not supported"},
        {SUFFIX("/x", "\"v2\""), ZB_EUNSUPPORTED, "suffixes with slashes"},
        {SUFFIX("\\\\x", "\"v2\""), ZB_EUNSUPPORTED, "suffixes with slashes"},
        {SUFFIX("\\u007f", "\"v2\""), ZB_EUNSUPPORTED, "control"},
        {SUFFIX("\\n", "\"v2\""), ZB_EUNSUPPORTED, "control"},
        {SUFFIX(LONG "x", "\"v2\""), ZB_EUNSUPPORTED, "more than 64 bytes"},
        {SUFFIX("x", SUFFIX(LONG, "\"v2\"")), ZB_EUNSUPPORTED, "more than 64 bytes"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        zb_json *value;
        zb_error err;
        zb__key_encoding keys;
        ASSERT_OK(zb_json_parse(rows[i].text, strlen(rows[i].text), &value, &err), err);
        ASSERT_FAILS(zb__keys_parse(value, &keys, &err), rows[i].code, err, rows[i].message);
        zb_json_free(value);
    }
}

static void has_room_for_the_longest(void **state) {
    (void)state;
    uint64_t index[ZB_MAX_NDIM];
    for (size_t d = 0; d < ZB_MAX_NDIM; d++)
        index[d] = UINT64_MAX;
    size_t longest = 0;
    for (uint8_t digits = 2; digits <= 19; digits++) {
        zb__key_encoding keys = {
            .form = ZB__KEYS_FANOUT, .separator = '/', .digits = digits, .suffix = LONG};
        char text[ZB__CHUNK_KEY_MAX];
        uint64_t back[ZB_MAX_NDIM];
        zb__chunk_key(&keys, ZB_MAX_NDIM, index, text);
        assert_true(zb__chunk_key_parse(&keys, ZB_MAX_NDIM, text, back));
        assert_memory_equal(back, index, sizeof index);
        if (strlen(text) > longest)
            longest = strlen(text);
    }
    assert_int_equal(longest, ZB__CHUNK_KEY_MAX - 1);
}

static void puts_the_path_before(void **state) {
    (void)state;
    zb__array array = {.info = {.ndim = 2}, .keys = {.separator = '/'}};
    char root[] = "";
    char path[] = "a/b";
    const uint64_t index[2] = {3, 4};
    zb_node node = {.path = root, .array = &array};
    char *key = zb__array_chunk_key(&node, index);
    assert_string_equal(key, "c/3/4");
    free(key);
    node.path = path;
    key = zb__array_chunk_key(&node, index);
    assert_string_equal(key, "a/b/c/3/4");
    free(key);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spells_keys),
        cmocka_unit_test(spells_proposed_keys),
        cmocka_unit_test(refuses_other_names),
        cmocka_unit_test(tells_directories),
        cmocka_unit_test(prints_encodings),
        cmocka_unit_test(refuses_encodings),
        cmocka_unit_test(has_room_for_the_longest),
        cmocka_unit_test(puts_the_path_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
