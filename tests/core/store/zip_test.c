/* SPDX-License-Identifier: MIT */
/* Zip archives as stores: archives that are written here byte by byte, in a store in memory. */
#include <libdeflate.h>

#include "support/check.h"
#include "zarrbridge/sys/store.h"

/* An archive that is being written. */
typedef struct archive {
    unsigned char data[1 << 17];
    size_t size;
    unsigned char records[1 << 14];
    size_t records_size;
    size_t count, before; /* bytes that no place in the archive counts */
    bool wide;
} archive;

static void add(unsigned char *to, size_t *size, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++, value >>= 8)
        to[(*size)++] = (unsigned char)value;
}

static void add_text(unsigned char *to, size_t *size, const void *text, size_t length) {
    memcpy(to + *size, text, length);
    *size += length;
}

typedef struct member {
    const char *name, *content;
    int method, flags; /* flags of zip; a method that the writer does not know leaves it stored */
    uint32_t wrong_crc;
} member;

static size_t deflate(const char *text, unsigned char *out, size_t capacity) {
    struct libdeflate_compressor *tool = libdeflate_alloc_compressor(6);
    const size_t size = libdeflate_deflate_compress(tool, text, strlen(text), out, capacity);
    libdeflate_free_compressor(tool);
    return size;
}

static void add_member(archive *a, const member *m) {
    unsigned char stored[4096];
    const size_t size = strlen(m->content), length = strlen(m->name);
    const uint32_t crc = libdeflate_crc32(0, m->content, size) ^ m->wrong_crc;
    size_t stored_size = size;
    if (m->method == 8)
        stored_size = deflate(m->content, stored, sizeof stored);
    else
        memcpy(stored, m->content, size);
    const uint64_t header = a->size - a->before;
    add(a->data, &a->size, 0x04034b50, 4);
    add(a->data, &a->size, 0, 22); /* what the directory tells */
    add(a->data, &a->size, length, 2);
    add(a->data, &a->size, 3, 2); /* an extension of its own */
    add_text(a->data, &a->size, m->name, length);
    add(a->data, &a->size, 0xabcdef, 3);
    add_text(a->data, &a->size, stored, stored_size);
    unsigned char *to = a->records;
    size_t *at = &a->records_size;
    add(to, at, 0x02014b50, 4);
    add(to, at, 0, 4);
    add(to, at, (uint64_t)m->flags, 2);
    add(to, at, (uint64_t)m->method, 2);
    add(to, at, 0, 4);
    add(to, at, crc, 4);
    add(to, at, a->wide ? UINT32_MAX : stored_size, 4);
    add(to, at, a->wide ? UINT32_MAX : size, 4);
    add(to, at, length, 2);
    add(to, at, a->wide ? 5 + 28 : 5, 2);
    add(to, at, 0, 10);
    add(to, at, a->wide ? UINT32_MAX : header, 4);
    add_text(to, at, m->name, length);
    add(to, at, 0x0001cafe, 4); /* an unknown extension in front of the wide one */
    add(to, at, 7, 1);
    if (a->wide) {
        add(to, at, 1 | 24 << 16, 4);
        add(to, at, size, 8);
        add(to, at, stored_size, 8);
        add(to, at, header, 8);
    }
    a->count++;
}

static void end(archive *a, const char *comment) {
    const uint64_t start = a->size - a->before;
    add_text(a->data, &a->size, a->records, a->records_size);
    if (a->wide) {
        const uint64_t wide_end = a->size - a->before;
        add(a->data, &a->size, 0x06064b50, 4);
        add(a->data, &a->size, 44, 8);
        add(a->data, &a->size, 0, 12);
        add(a->data, &a->size, a->count, 8);
        add(a->data, &a->size, a->count, 8);
        add(a->data, &a->size, a->records_size, 8);
        add(a->data, &a->size, start, 8);
        add(a->data, &a->size, 0x07064b50, 4);
        add(a->data, &a->size, 0, 4);
        add(a->data, &a->size, wide_end, 8);
        add(a->data, &a->size, 1, 4);
    }
    add(a->data, &a->size, 0x06054b50, 4);
    add(a->data, &a->size, 0, 4);
    add(a->data, &a->size, a->wide ? UINT16_MAX : a->count, 2);
    add(a->data, &a->size, a->wide ? UINT16_MAX : a->count, 2);
    add(a->data, &a->size, a->wide ? UINT32_MAX : a->records_size, 4);
    add(a->data, &a->size, a->wide ? UINT32_MAX : start, 4);
    add(a->data, &a->size, strlen(comment), 2);
    add_text(a->data, &a->size, comment, strlen(comment));
}

/* ---- Stores ---- */

static archive work;

static void put(zb_store *outer, const member *members, size_t count, bool wide, size_t before,
                const char *comment) {
    zb_error err;
    work = (archive){.wide = wide, .size = before, .before = before};
    for (size_t i = 0; i < count; i++)
        add_member(&work, &members[i]);
    end(&work, comment);
    ASSERT_OK(zb_store_mem_set(outer, "d/x.zip", work.data, work.size, &err), err);
}

static zb_store *new_outer(void) {
    zb_store *outer;
    zb_error err;
    ASSERT_OK(zb_store_new_mem("m", &outer, &err), err);
    return outer;
}

static enum zb_code open_zip(zb_store *outer, zb_store **out, zb_error *err) {
    return zb_store_open_zip(outer, "d/x.zip", NULL, "x.zip", out, err);
}

static void assert_holds(zb_store *store, const char *key, const char *expected) {
    zb_error err;
    char *data;
    size_t size;
    zb_object_info info, stat;
    ASSERT_OK(zb_store_get(store, key, 4096, "children", &data, &size, &info, &err), err);
    assert_string_equal(data, expected);
    ASSERT_OK(zb_store_stat(store, key, &stat, &err), err);
    assert_int_equal(stat.size, strlen(expected));
    assert_memory_equal(stat.validator.word, info.validator.word, sizeof stat.validator.word);
    free(data);
}

static int note(void *context, const zb_list_entry *entry) {
    char *text = context;
    snprintf(text + strlen(text), 400 - strlen(text), "%s%s ", entry->name,
             entry->is_prefix ? "/" : "");
    return 0;
}

static void assert_lists(zb_store *store, const char *prefix, const char *expected) {
    char text[400] = "";
    zb_error err;
    ASSERT_OK(zb_store_list(store, prefix, note, text, &err), err);
    assert_string_equal(text, expected);
}

#define PUT(outer, members, ...)                                                                   \
    put(outer, members, sizeof(members) / sizeof *(members), __VA_ARGS__)

/* ---- Tests ---- */

static void reads_all_forms(void **state) {
    (void)state;
    static const member members[] = {
        {"zarr.json", "{}", 0, 0, 0},    {"a/c/0", "first", 0, 0, 0}, {"a/", "", 0, 0, 0},
        {"a/zarr.json", "{a}", 8, 0, 0}, {"./b\\x", "deep", 8, 0, 0}, {"a-b", "beside", 0, 0, 0},
        {"a/c/0", "the last", 0, 0, 0},  {"a", "both", 0, 0, 0},      {"empty", "", 0, 0, 0},
        {"none/empty", "", 8, 0, 0},     {"f/", "", 0, 0, 0},
    };
    static const struct {
        bool wide;
        size_t before;
        const char *comment;
    } forms[] = {{false, 0, ""},
                 {false, 1000, "PK\5\6 in a comment"},
                 {true, 0, ""},
                 {true, 77, "a comment"}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        zb_store *outer = new_outer(), *store;
        zb_error err;
        PUT(outer, members, forms[i].wide, forms[i].before, forms[i].comment);
        ASSERT_OK(open_zip(outer, &store, &err), err);
        assert_holds(store, "zarr.json", "{}");
        assert_holds(store, "a/c/0", "the last");
        assert_holds(store, "a/zarr.json", "{a}");
        assert_holds(store, "b/x", "deep");
        assert_holds(store, "empty", "");
        assert_holds(store, "none/empty", "");
        assert_lists(store, "", "a/ a-b b/ empty f/ none/ zarr.json ");
        assert_lists(store, "a", "c/ zarr.json ");
        assert_lists(store, "a/c", "0 ");
        assert_lists(store, "no", "");
        assert_lists(store, "f", "");
        zb_object_info info;
        ASSERT_FAILS(zb_store_stat(store, "a/c", &info, &err), ZB_EINVAL, err, "a directory");
        ASSERT_FAILS(zb_store_stat(store, "f", &info, &err), ZB_EINVAL, err, "a directory");
        ASSERT_FAILS(zb_store_stat(store, "c/0", &info, &err), ZB_ENOTFOUND, err, "c/0");
        zb_store_release(store);
        zb_store_release(outer);
    }
}

static void reads_ranges(void **state) {
    (void)state;
    static const member members[] = {{"s", "0123456789", 0, 0, 0}, {"d", "0123456789", 8, 0, 0}};
    zb_store *outer = new_outer(), *store;
    zb_error err;
    PUT(outer, members, false, 0, "");
    ASSERT_OK(open_zip(outer, &store, &err), err);
    for (size_t i = 0; i < 2; i++) {
        zb_object *object;
        zb_object_info info;
        char buffers[40][8] = {{0}};
        zb_range ranges[40];
        for (uint64_t r = 0; r < 40; r++)
            ranges[r] = (zb_range){.offset = r % 13, .length = 4, .buffer = buffers[r]};
        ranges[39].offset = ZB_FROM_END;
        ASSERT_OK(zb_object_open(store, members[i].name, &object, &info, &err), err);
        ASSERT_OK(zb_object_read(object, ranges, 40, &err), err);
        for (size_t r = 0; r < 39; r++) {
            const size_t at = r % 13, got = at >= 10 ? 0 : at > 6 ? 10 - at : 4;
            assert_int_equal(ranges[r].got, got);
            assert_memory_equal(buffers[r], members[i].content + (got ? at : 0), got);
        }
        assert_int_equal(ranges[39].got, 4);
        assert_memory_equal(buffers[39], "6789", 4);
        zb_range whole = {.offset = ZB_FROM_END, .length = 40, .buffer = buffers};
        ASSERT_OK(zb_object_read(object, &whole, 1, &err), err);
        assert_int_equal(whole.got, 10);
        zb_object_close(object);
    }
    zb_store_release(store);
    zb_store_release(outer);
}

/* A store one folder down is found where it is alone. */
static void finds_the_root(void **state) {
    (void)state;
    static const member folder[] = {{"x.zarr/zarr.json", "{}", 0, 0, 0},
                                    {"x.zarr/a/zarr.json", "{a}", 0, 0, 0},
                                    {"__MACOSX/zarr", "", 0, 0, 0}};
    static const member two[] = {{"x/.zgroup", "{}", 0, 0, 0}, {"y/zarr.json", "{y}", 0, 0, 0}};
    static const member both[] = {{"a/zarr.json", "{a}", 0, 0, 0}, {"zarr.json", "{}", 0, 0, 0}};
    zb_store *outer = new_outer(), *store;
    zb_error err;
    PUT(outer, folder, false, 0, "");
    ASSERT_OK(open_zip(outer, &store, &err), err);
    assert_holds(store, "a/zarr.json", "{a}");
    assert_lists(store, "", "a/ zarr.json ");
    PUT(outer, two, false, 0, "");
    assert_lists(store, "", "x/ y/ ");
    assert_holds(store, "y/zarr.json", "{y}");
    PUT(outer, both, false, 0, "");
    assert_lists(store, "", "a/ zarr.json ");
    assert_holds(store, "a/zarr.json", "{a}");
    zb_store_release(store);
    zb_store_release(outer);
}

/* What was opened stays as it was; what is asked next is of the new archive. */
static void opens_a_folder(void **state) {
    (void)state;
    static const member members[] = {{"zarr.json", "{}", 0, 0, 0},
                                     {"a/b/zarr.json", "{b}", 0, 0, 0},
                                     {"a/b/c/0", "old", 0, 0, 0},
                                     {"a/b/c/0", "chunk", 8, 0, 0},
                                     {"a/bc", "beside", 0, 0, 0}};
    zb_store *outer = new_outer(), *store;
    zb_object_info info;
    zb_error err;
    PUT(outer, members, false, 0, "");
    ASSERT_OK(zb_store_open_zip(outer, "d/x.zip", "a/b", "x.zip", &store, &err), err);
    assert_holds(store, "zarr.json", "{b}");
    assert_holds(store, "c/0", "chunk");
    assert_lists(store, "", "c/ zarr.json ");
    zb_store_release(store);
    ASSERT_OK(zb_store_open_zip(outer, "d/x.zip", "a", "x.zip", &store, &err), err);
    ASSERT_FAILS(zb_store_stat(store, "zarr.json", &info, &err), ZB_ENOTFOUND, err, "zarr.json");
    assert_lists(store, "", "b/ bc ");
    zb_store_release(store);
    ASSERT_OK(zb_store_open_zip(outer, "d/x.zip", "", "x.zip", &store, &err), err);
    assert_holds(store, "zarr.json", "{}");
    zb_store_release(store);
    zb_store_release(outer);
}

static void follows_changes(void **state) {
    (void)state;
    static const member old[] = {{"a", "old", 0, 0, 0}}, new[] = {{"a", "newer", 0, 0, 0}};
    zb_store *outer = new_outer(), *store;
    zb_error err;
    zb_object *object;
    zb_object_info before, after;
    char buffer[8] = "";
    PUT(outer, old, false, 0, "");
    ASSERT_OK(open_zip(outer, &store, &err), err);
    ASSERT_OK(zb_object_open(store, "a", &object, &before, &err), err);
    PUT(outer, new, false, 0, "");
    assert_holds(store, "a", "newer");
    ASSERT_OK(zb_store_stat(store, "a", &after, &err), err);
    assert_memory_not_equal(before.validator.word, after.validator.word,
                            sizeof before.validator.word);
    zb_range range = {.length = 8, .buffer = buffer};
    ASSERT_OK(zb_object_read(object, &range, 1, &err), err);
    assert_string_equal(buffer, "old");
    zb_object_close(object);
    ASSERT_OK(zb_store_erase(outer, "d/x.zip", &err), err);
    ASSERT_FAILS(zb_store_stat(store, "a", &after, &err), ZB_EIO, err, "has gone");
    zb_store_release(store);
    zb_store_release(outer);
}

static void refuses_what_it_cannot_read(void **state) {
    (void)state;
    static const struct {
        member member;
        enum zb_code code;
        const char *text;
    } cases[] = {{{"a", "x", 0, 1, 0}, ZB_EUNSUPPORTED, "encrypted"},
                 {{"a", "x", 93, 0, 0}, ZB_EUNSUPPORTED, "method 93"}};
    zb_object *object;
    zb_object_info info;
    zb_error err;
    zb_store *outer = new_outer(), *store;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put(outer, &cases[i].member, 1, false, 0, "");
        ASSERT_OK(open_zip(outer, &store, &err), err);
        ASSERT_FAILS(zb_object_open(store, "a", &object, &info, &err), cases[i].code, err,
                     cases[i].text);
        ASSERT_FAILS(zb_store_erase(store, "a", &err), ZB_EUNSUPPORTED, err, "x.zip");
        zb_store_release(store);
    }
    zb_store_release(outer);
}

/* A compressed entry is unpacked when it is read: who opens it sees its size before. */
static void unpacks_at_the_first_read(void **state) {
    (void)state;
    static const member members[] = {{"wrong", "xyz", 8, 0, 1}, {"stored", "xyz", 0, 0, 0}};
    char buffer[4] = "";
    zb_range range = {.length = 3, .buffer = buffer};
    zb_object *object;
    zb_object_info info;
    zb_error err;
    zb_store *outer = new_outer(), *store;
    PUT(outer, members, false, 0, "");
    ASSERT_OK(open_zip(outer, &store, &err), err);
    ASSERT_OK(zb_object_open(store, "wrong", &object, &info, &err), err);
    assert_true(info.is_packed);
    assert_int_equal(info.size, 3);
    for (int times = 0; times < 2; times++)
        ASSERT_FAILS(zb_object_read(object, &range, 1, &err), ZB_ECHECKSUM, err, "checksum");
    zb_object_close(object);
    ASSERT_OK(zb_object_open(store, "stored", &object, &info, &err), err);
    assert_false(info.is_packed);
    ASSERT_OK(zb_object_read(object, &range, 1, &err), err);
    assert_string_equal(buffer, "xyz");
    zb_object_close(object);
    zb_store_release(store);
    zb_store_release(outer);
}

/* Of the same content, so that no checksum tells. */
static void knows_whose_content_it_is(void **state) {
    (void)state;
    static const member members[] = {{"a", "xyz", 0, 0, 0}, {"b", "xyz", 0, 0, 0}};
    static const unsigned char record[] = {0x50, 0x4b, 1, 2};
    zb_store *outer = new_outer(), *store;
    zb_object *object;
    zb_object_info info;
    zb_error err;
    PUT(outer, members, false, 0, "");
    unsigned char *first = memmem(work.data, work.size, record, sizeof record);
    const unsigned char *second = memmem(first + 1, 200, record, sizeof record);
    memcpy(first + 42, second + 42, 4);
    ASSERT_OK(zb_store_mem_set(outer, "d/x.zip", work.data, work.size, &err), err);
    ASSERT_OK(open_zip(outer, &store, &err), err);
    ASSERT_FAILS(zb_object_open(store, "a", &object, &info, &err), ZB_EFORMAT, err,
                 "an entry of another name");
    assert_holds(store, "b", "xyz");
    zb_store_release(store);
    zb_store_release(outer);
}

/* Each byte of an archive is cut off, or changed: the content is right, or there is an error. */
static void bears_damage(void **state) {
    (void)state;
    static const member members[] = {{"zarr.json", "{}", 0, 0, 0}, {"a/c/0", "content", 8, 0, 0}};
    zb_store *outer = new_outer(), *store;
    zb_error err;
    for (int wide = 0; wide < 2; wide++) {
        PUT(outer, members, wide, 0, "");
        archive whole = work;
        for (size_t i = 0; i < whole.size * 2; i++) {
            unsigned char changed[sizeof whole.data];
            const size_t size = i < whole.size ? i : whole.size;
            memcpy(changed, whole.data, whole.size);
            changed[i % whole.size] ^= i < whole.size ? 0 : 0xff;
            ASSERT_OK(zb_store_mem_set(outer, "d/x.zip", changed, size, &err), err);
            if (open_zip(outer, &store, &err) != ZB_OK) {
                assert_true(err.code == ZB_EFORMAT || err.code == ZB_ELIMIT);
                continue;
            }
            assert_int_equal(size, whole.size);
            char *data, text[400] = "";
            size_t got;
            if (zb_store_get(store, "a/c/0", 100, "children", &data, &got, NULL, &err) == ZB_OK) {
                assert_string_equal(data, "content");
                free(data);
            }
            if (zb_store_get(store, "zarr.json", 100, "children", &data, &got, NULL, &err) ==
                ZB_OK) {
                assert_string_equal(data, "{}");
                free(data);
            }
            ASSERT_OK(zb_store_list(store, "", note, text, &err), err);
            zb_store_release(store);
        }
    }
    zb_store_release(outer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_all_forms),
        cmocka_unit_test(reads_ranges),
        cmocka_unit_test(finds_the_root),
        cmocka_unit_test(opens_a_folder),
        cmocka_unit_test(follows_changes),
        cmocka_unit_test(refuses_what_it_cannot_read),
        cmocka_unit_test(unpacks_at_the_first_read),
        cmocka_unit_test(knows_whose_content_it_is),
        cmocka_unit_test(bears_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
