/* SPDX-License-Identifier: MIT */
/*
 * The bounds of writing strings: a chunk above the limit chunk_bytes is refused by the write that
 * makes it so, the budget holds for text, too, and shards of strings are changed by the strategies
 * that can.
 */
#include <unistd.h>

#include "support/check.h"
#include "util/pool.h"
#include "write/budget.h"
#include "zarrbridge/change.h"
#include "zarrbridge/limits.h"

#define CHILD_OK(call, err) CHILD_CHECK((call) == ZB_OK, "%s", (err).message)
#define MIB ((uint64_t)1 << 20)

static const zb_dtype text_type = {.kind = ZB_KIND_STRING, .size = sizeof(zb_slice)};

/* ---- One-dimensional arrays ---- */

typedef struct scene {
    uint64_t length, chunk, shard; /* shard 0: none */
    const char *codecs;
    zb_slice fill;
    zb_hierarchy *store;
    zb_node *node;
} scene;

static void begin(scene *s, const char *root) {
    zb_error err = {.code = ZB_OK};
    zb_array_spec spec = {.ndim = 1,
                          .shape = &s->length,
                          .inner_shape = &s->chunk,
                          .shard_shape = s->shard > 0 ? &s->shard : NULL,
                          .dtype = text_type,
                          .fill_value = &s->fill,
                          .codecs = s->codecs};
    CHILD_OK(root ? zb_hierarchy_create(root, NULL, &s->store, &err)
                  : zb_hierarchy_new_mem("mem", &s->store, &err),
             err);
    CHILD_OK(zb_array_create(s->store, "a", &spec, &s->node, &err), err);
}

static void end(scene *s) {
    zb_node_release(s->node);
    zb_hierarchy_release(s->store);
}

static enum zb_code write_some(zb_writer *writer, uint64_t start, uint64_t count,
                               const zb_slice *text, zb_error *err) {
    const zb_write write = {.start = &start, .count = &count, .data = text, .dtype = text_type};
    return zb_writer_write(writer, &write, err);
}

/* `size` times the character. */
static zb_slice text_of(char character, size_t size) {
    static char room[26][4096];
    memset(room[character - 'a'], character, size);
    return (zb_slice){room[character - 'a'], size};
}

static void expect(const scene *s, uint64_t at, zb_slice expected) {
    zb_error err = {.code = ZB_OK};
    zb_values *values;
    zb_slice found;
    const uint64_t one = 1;
    CHILD_OK(zb_values_new(&values, &err), err);
    const zb_read read = {
        .node = s->node, .start = &at, .count = &one, .view = {&found, text_type, NULL, values}};
    CHILD_OK(zb_array_read(&read, 1, &err), err);
    CHILD_CHECK(found.size == expected.size &&
                    (found.size == 0 || memcmp(found.data, expected.data, found.size) == 0),
                "element %d has %zu bytes: %.*s", (int)at, found.size, (int)found.size, found.data);
    zb_values_free(values);
}

/* ---- The limit of a chunk ---- */

static void check_refused(enum zb_code code, const zb_error *err) {
    CHILD_CHECK(code == ZB_ELIMIT && strstr(err->message, "limit chunk_bytes") &&
                    strstr(err->message, " c/0: "),
                "%d: %s", code, err->message);
}

/* Chunks of ten elements, of which less than 4000 bytes can be stored. */
static void check_limit(void *context) {
    scene *s = context;
    zb_error err = {.code = ZB_OK};
    zb_writer *writer;
    begin(s, NULL);
    CHILD_OK(zb_writer_open(s->node, NULL, &writer, &err), err);
    const zb_slice a = text_of('a', 900), b = text_of('b', 900), c = text_of('c', 10);
    /* What is written over does not count, and neither does the other chunk. */
    for (int i = 0; i < 20; i++)
        CHILD_OK(write_some(writer, 1, 1, i & 1 ? &a : &b, &err), err);
    for (uint64_t i = 2; i < 5; i++)
        CHILD_OK(write_some(writer, i, 1, &a, &err), err);
    CHILD_OK(write_some(writer, 12, 1, &b, &err), err);
    check_refused(write_some(writer, 7, 1, &a, &err), &err);
    check_refused(write_some(writer, 0, 1, &a, &err), &err);
    const zb_slice both[2] = {c, a};
    check_refused(write_some(writer, 5, 2, both, &err), &err);
    /* Nothing of it waits, so that the rest can be stored. */
    CHILD_OK(zb_writer_flush(writer, &err), err);
    CHILD_CHECK(zb__waiting_bytes(0) == 0, "%d wait", (int)zb__waiting_bytes(0));
    expect(s, 1, a);
    expect(s, 4, a);
    expect(s, 5, s->fill);
    expect(s, 12, b);
    /* What is stored is known to the flush alone. Shorter text makes room. */
    CHILD_OK(write_some(writer, 7, 1, &b, &err), err);
    check_refused(zb_writer_flush(writer, &err), &err);
    CHILD_OK(write_some(writer, 3, 1, &c, &err), err);
    CHILD_OK(zb_writer_flush(writer, &err), err);
    expect(s, 7, b);
    /* A whole chunk, which never waits. */
    zb_slice all[10];
    for (int i = 0; i < 10; i++)
        all[i] = a;
    CHILD_CHECK(write_some(writer, 0, 10, all, &err) == ZB_ELIMIT, "a whole chunk");
    CHILD_OK(zb_writer_close(writer, &err), err);
    expect(s, 7, b);
    end(s);
}

/* The array's edge cuts the chunk: the eight elements beyond are fill values of 450 bytes. */
static void check_edge(void *unused) {
    (void)unused;
    zb_error err = {.code = ZB_OK};
    zb_writer *writer;
    scene s = {.length = 2, .chunk = 10, .codecs = "[]", .fill = text_of('f', 450)};
    begin(&s, NULL);
    CHILD_OK(zb_writer_open(s.node, NULL, &writer, &err), err);
    const zb_slice a = text_of('a', 500), c = text_of('c', 100);
    check_refused(write_some(writer, 0, 1, &a, &err), &err);
    CHILD_OK(write_some(writer, 0, 1, &c, &err), err);
    CHILD_OK(write_some(writer, 1, 1, &c, &err), err);
    CHILD_OK(zb_writer_close(writer, &err), err);
    expect(&s, 1, c);
    end(&s);
}

static void a_chunk_above_the_limit_is_refused_at_once(void **state) {
    (void)state;
    scene scenes[] = {
        {.length = 20, .chunk = 10, .codecs = "[]"},
        {.length = 20, .chunk = 10, .codecs = "[{\"name\":\"zstd\"}]", .fill = {"some", 4}},
        {.length = 20, .chunk = 10, .shard = 20, .codecs = "[]"},
    };
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        assert_true(check_in_child(check_limit, &scenes[i], "ZARRBRIDGE_CHUNK_BYTES", "4000"));
    assert_true(check_in_child(check_edge, NULL, "ZARRBRIDGE_CHUNK_BYTES", "4000"));
}

/* ---- The budget ---- */

enum { LENGTH = 40000, LONGEST = 2000 };

/* In random order: chunks and shards are open side by side, and merged as often as there is no more
   room. */
static uint64_t place_of(uint64_t i) {
    return i * 15485863 % LENGTH;
}

static zb_slice text_at(uint64_t place, char *room) {
    const size_t size = (size_t)(place * 7919 % LONGEST);
    check_random random = {.state = place};
    for (size_t i = 0; i < size; i++)
        room[i] = (char)('a' + check_random_next(&random) % 26);
    return (zb_slice){room, size};
}

static uint64_t status_bytes(const char *format) {
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    unsigned long long kib = 0;
    while (file && kib == 0 && fgets(line, sizeof line, file))
        sscanf(line, format, &kib);
    if (file)
        fclose(file);
    return (uint64_t)kib * 1024;
}

static void check_budget(void *context) {
    scene *s = context;
    char *root = check_new_directory(), room[LONGEST];
    zb_error err = {.code = ZB_OK};
    zb_writer *writer;
    const uint64_t budget = zb_limits_get()->write_cache_bytes;
    begin(s, root);
    CHILD_OK(zb_writer_open(s->node, NULL, &writer, &err), err);
    const uint64_t before = status_bytes("VmRSS: %llu kB");
    for (uint64_t i = 0; i < LENGTH; i++) {
        const zb_slice text = text_at(place_of(i), room);
        CHILD_OK(write_some(writer, place_of(i), 1, &text, &err), err);
        CHILD_CHECK(zb__waiting_bytes(0) <= budget, "%llu bytes wait after %d elements",
                    (unsigned long long)zb__waiting_bytes(0), (int)i);
    }
    CHILD_OK(zb_writer_close(writer, &err), err);
    CHILD_CHECK(zb__waiting_bytes(0) == 0 && zb__work_bytes() == 0, "something is left");
    const uint64_t growth = status_bytes("VmHWM: %llu kB") - before;
    const uint64_t most = budget + budget / 2 + zb__pool_width() * 6 * MIB;
    CHILD_CHECK(CHECK_SANITIZED_MALLOC || growth <= most, "%.1f MiB, at most %.1f",
                (double)growth / (double)MIB, (double)most / (double)MIB);
    for (uint64_t i = 0; i < LENGTH; i += 997)
        expect(s, place_of(i), text_at(place_of(i), room));
    end(s);
    check_remove_directory(root);
}

static void text_keeps_to_the_budget(void **state) {
    (void)state;
    scene scenes[] = {
        {.length = LENGTH, .chunk = 500, .codecs = "[]"},
        {.length = LENGTH, .chunk = 100, .shard = 2000, .codecs = "[]"},
    };
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        assert_true(
            check_in_child(check_budget, &scenes[i], "ZARRBRIDGE_WRITE_CACHE_BYTES", "16777216"));
}

/* A row of a sharded array touches few of its inner chunks: their shards are stored when the budget
   is full, and not with each write because all their inner chunks would be too much. */
static void check_few_units(void *unused) {
    (void)unused;
    zb_error err = {.code = ZB_OK};
    zb_writer *writer;
    scene s = {.length = 100000, .chunk = 1000, .shard = 100000, .codecs = "[]"};
    const zb_slice a = text_of('a', 3);
    begin(&s, NULL);
    CHILD_OK(zb_writer_open(s.node, NULL, &writer, &err), err);
    for (uint64_t i = 0; i < 10; i++)
        CHILD_OK(write_some(writer, i, 1, &a, &err), err);
    CHILD_CHECK(zb__waiting_bytes(0) > 0, "nothing waits");
    CHILD_OK(zb_writer_close(writer, &err), err);
    end(&s);
}

static void only_units_that_are_touched_count(void **state) {
    (void)state;
    assert_true(check_in_child(check_few_units, NULL, "ZARRBRIDGE_WRITE_CACHE_BYTES", "1000000"));
}

/* ---- Strategies ---- */

static void check_strategies(void *unused) {
    (void)unused;
    zb_error err = {.code = ZB_OK};
    zb_writer *writer;
    char *root = check_new_directory(), room[LONGEST];
    scene s = {.length = 60, .chunk = 5, .shard = 20, .codecs = "[\"crc32c\"]"};
    begin(&s, root);
    zb_write_options options = {.strategy = ZB_INPLACE};
    CHILD_CHECK(zb_writer_open(s.node, &options, &writer, &err) == ZB_EUNSUPPORTED &&
                    strstr(err.message, "cannot be written by inplace: its inner chunks must be of "
                                        "fixed size"),
                "%s", err.message);
    options.strategy = ZB_APPEND;
    for (uint64_t round = 0; round < 4; round++) {
        CHILD_OK(zb_writer_open(s.node, &options, &writer, &err), err);
        for (uint64_t i = round; i < s.length; i += round + 2) {
            const zb_slice text = text_at(i + round * 100, room);
            CHILD_OK(write_some(writer, i, 1, &text, &err), err);
        }
        CHILD_OK(zb_writer_close(writer, &err), err);
        for (uint64_t i = round; i < s.length; i += round + 2)
            expect(&s, i, text_at(i + round * 100, room));
    }
    uint64_t reclaimed = 0;
    CHILD_OK(zb_array_compact(s.node, ZB_SYNC_NONE, &reclaimed, &err), err);
    CHILD_CHECK(reclaimed > 0, "nothing was appended");
    for (uint64_t i = 3; i < s.length; i += 5)
        expect(&s, i, text_at(i + 300, room));
    end(&s);
    check_remove_directory(root);
}

static void shards_are_appended_to_and_not_overwritten(void **state) {
    (void)state;
    assert_true(check_in_child(check_strategies, NULL, NULL, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chunk_above_the_limit_is_refused_at_once),
        cmocka_unit_test(text_keeps_to_the_budget),
        cmocka_unit_test(only_units_that_are_touched_count),
        cmocka_unit_test(shards_are_appended_to_and_not_overwritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
