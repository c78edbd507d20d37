/* SPDX-License-Identifier: MIT */
/* Copies with other shards: elements, documents and other files are those of the source, and damage
   ends the copy. A store that is new has its name when all of it is there. */
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/fixture.h"
#include "support/store.h"
#include "support/wrappers.h"
#include "zarrbridge/change.h"
#include "zarrbridge/encoded.h"
#include "zarrbridge/sys/hierarchy.h"

#define ROWS 21
#define COLUMNS 34
#define ELEMENTS (ROWS * COLUMNS)

static const zb_dtype type = {.kind = ZB_KIND_INT, .size = 2};
static const uint64_t inner[] = {4, 5};

static zb_node *new_array(zb_hierarchy *h, const char *path, const uint64_t *shards,
                          const char *codecs) {
    static const uint64_t shape[] = {ROWS, COLUMNS};
    const int16_t fill = -3;
    const zb_array_spec spec = {.ndim = 2,
                                .shape = shape,
                                .inner_shape = inner,
                                .shard_shape = shards,
                                .dtype = type,
                                .fill_value = &fill,
                                .codecs = codecs,
                                .attributes = "{\"unit\":\"m\"}"};
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_array_create(h, path, &spec, &node, &err), err);
    return node;
}

/* Some chunks are all fill, and not stored. */
static void fill_in(const zb_node *node, int16_t *values) {
    for (size_t i = 0; i < ELEMENTS; i++)
        values[i] = i % COLUMNS < 12 && i / COLUMNS > 7 ? -3 : (int16_t)(i * 7);
    const zb_write all = {.data = values, .dtype = type};
    zb_writer *writer;
    zb_error err;
    ASSERT_OK(zb_writer_open(node, NULL, &writer, &err), err);
    ASSERT_OK(zb_writer_write(writer, &all, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
}

static zb_node *assert_copy(zb_hierarchy *h, const char *path, const int16_t *values) {
    int16_t read[ELEMENTS];
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_node_open(h, path, &node, &err), err);
    const zb_read all = {.node = node, .view = {.data = read, .dtype = type}};
    ASSERT_OK(zb_array_read(&all, 1, &err), err);
    assert_memory_equal(read, values, sizeof read);
    return node;
}

static void count_chunk(void *context) {
    ++*(size_t *)context;
}

static void test_shards(void **state) {
    static const uint64_t old[][2] = {{0, 0}, {8, 10}, {4, 5}, {24, 40}};
    static const uint64_t new[][2] = {{0, 0}, {9, 30}, {1, 1}, {100, 7}, {8, 10}};
    int16_t values[ELEMENTS];
    zb_error err;
    (void)state;
    for (size_t a = 0; a < 4; a++) {
        for (size_t b = 0; b < 5; b++) {
            zb_hierarchy *from = store_new(), *to = store_new();
            size_t told = 0;
            zb_node *group = store_group(from, "g", "{\"whose\":\"ours\"}");
            zb_node *node = new_array(from, "g/a", old[a][0] ? old[a] : NULL, NULL);
            fill_in(node, values);
            store_set(from, "g/a/readme", "kept");
            ASSERT_OK(zb_group_consolidate(from, "g", &err), err);
            zb_hierarchy_tell_chunks(from, count_chunk, &told);
            const zb_copy_options options = {
                .reshards = true, .ndim = new[b][0] ? 2 : 0, .shard_shape = new[b]};
            ASSERT_OK(zb_node_copy_as(from, "g", to, "h", &options, &err), err);
            zb_node *copy = assert_copy(to, "h/a", values);
            const zb_array_info *info = zb_node_array(copy);
            assert_int_equal(info->shard_depth, new[b][0] ? 1 : 0);
            for (uint32_t d = 0; d < 2; d++) {
                assert_int_equal(info->inner_shape[d], inner[d]);
                const uint64_t least = new[b][0] ? new[b][d] : inner[d];
                assert_int_equal(info->chunk_shape[d],
                                 (least + inner[d] - 1) / inner[d] * inner[d]);
            }
            assert_true(told > 0);
            zb_stored stored;
            ASSERT_OK(zb_array_stored(node, &stored, &err), err);
            assert_true(told >= stored.chunks);
            char *text = store_text(to, "h/a/readme");
            assert_string_equal(text, "kept");
            free(text);
            text = store_text(to, "h/zarr.json");
            assert_non_null(strstr(text, "consolidated_metadata"));
            assert_non_null(strstr(text, "ours"));
            free(text);
            zb_node_release(copy);
            zb_node_release(node);
            zb_node_release(group);
            zb_hierarchy_release(from);
            zb_hierarchy_release(to);
        }
    }
}

/* Shards of which one is more than a copy has in hand without need: so many as there are threads
   are put together, and what is left at the end. */
static void test_large_shards(void **state) {
    static const uint64_t shape[] = {3000, 2000}, chunk[] = {64, 64}, shards[] = {2048, 1024};
    static const uint64_t whole[2];
    const zb_array_spec spec = {.ndim = 2, .shape = shape, .inner_shape = chunk, .dtype = type};
    const zb_copy_options options = {.reshards = true, .ndim = 2, .shard_shape = shards};
    const size_t bytes = 3000 * 2000 * sizeof(int16_t);
    int16_t *values = malloc(bytes), *read = malloc(bytes);
    zb_hierarchy *from = store_new(), *to = store_new();
    zb_writer *writer;
    zb_node *node, *copy;
    zb_error err;
    (void)state;
    assert_true(values && read);
    for (size_t i = 0; i < bytes / sizeof *values; i++)
        values[i] = (int16_t)(i * 7 % 9973);
    ASSERT_OK(zb_array_create(from, "a", &spec, &node, &err), err);
    ASSERT_OK(zb_writer_open(node, NULL, &writer, &err), err);
    const zb_write box = {.start = whole, .count = shape, .data = values, .dtype = type};
    ASSERT_OK(zb_writer_write(writer, &box, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    ASSERT_OK(zb_node_copy_as(from, "", to, "", &options, &err), err);
    ASSERT_OK(zb_node_open(to, "a", &copy, &err), err);
    const zb_read all = {
        .node = copy, .start = whole, .count = shape, .view = {.data = read, .dtype = type}};
    ASSERT_OK(zb_array_read(&all, 1, &err), err);
    assert_memory_equal(read, values, bytes);
    zb_node_release(copy);
    zb_node_release(node);
    zb_hierarchy_release(from);
    zb_hierarchy_release(to);
    free(values);
    free(read);
}

/* Chunks that the source has not stored are not asked for, one by one, when a shard is made. */
static void test_few_of_many(void **state) {
    static const uint64_t shape[] = {1000, 1000}, chunk[] = {10, 10}, part[] = {10, 10};
    static const uint64_t places[][2] = {{0, 0}, {500, 700}};
    const zb_array_spec spec = {.ndim = 2, .shape = shape, .inner_shape = chunk, .dtype = type};
    int16_t values[100];
    zb_hierarchy *inside = store_new(), *from, *to = store_new();
    zb_writer *writer;
    zb_node *node, *copy;
    zb_error err;
    (void)state;
    for (size_t i = 0; i < 100; i++)
        values[i] = (int16_t)(i + 1);
    ASSERT_OK(zb_array_create(inside, "a", &spec, &node, &err), err);
    ASSERT_OK(zb_writer_open(node, NULL, &writer, &err), err);
    for (size_t i = 0; i < 2; i++) {
        const zb_write box = {.start = places[i], .count = part, .data = values, .dtype = type};
        ASSERT_OK(zb_writer_write(writer, &box, &err), err);
    }
    ASSERT_OK(zb_writer_close(writer, &err), err);
    zb_node_release(node);
    ASSERT_OK(wrap(zb_store_new_count, inside, &from, &err), err);
    const zb_copy_options options = {.reshards = true, .ndim = 2, .shard_shape = shape};
    ASSERT_OK(zb_node_copy_as(from, "a", to, "b", &options, &err), err);
    const zb_store_counts counts = zb_store_count_take(zb_hierarchy_store(from));
    assert_true(counts.opens + counts.reads + counts.ranges + counts.stats + counts.lists < 40);
    ASSERT_OK(zb_node_open(to, "b", &copy, &err), err);
    for (size_t i = 0; i < 2; i++) {
        int16_t read[100];
        const zb_read box = {
            .node = copy, .start = places[i], .count = part, .view = {.data = read, .dtype = type}};
        ASSERT_OK(zb_array_read(&box, 1, &err), err);
        assert_memory_equal(read, values, sizeof read);
    }
    zb_node_release(copy);
    zb_hierarchy_release(from);
    zb_hierarchy_release(inside);
    zb_hierarchy_release(to);
}

/* Arrays of other dimensions, and those that have these shards already, are the same documents. */
static void test_others_stay(void **state) {
    static const uint64_t shards[] = {8, 10};
    int16_t values[ELEMENTS];
    zb_hierarchy *from = store_new(), *to = store_new();
    zb_error err;
    (void)state;
    zb_node *node = new_array(from, "a", shards, NULL);
    fill_in(node, values);
    store_set(from, "one/zarr.json",
              "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[4],\"data_type\":\"int8\","
              "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[2]}},"
              "\"chunk_key_encoding\":{\"name\":\"default\"},\"fill_value\":0,"
              "\"codecs\":[{\"name\":\"bytes\"}]}");
    const zb_copy_options options = {.reshards = true, .ndim = 2, .shard_shape = shards};
    ASSERT_OK(zb_node_copy_as(from, "a", to, "a", &options, &err), err);
    ASSERT_OK(zb_node_copy_as(from, "one", to, "one", &options, &err), err);
    static const char *const documents[] = {"a/zarr.json", "one/zarr.json"};
    for (size_t i = 0; i < 2; i++) {
        char *x = store_text(from, documents[i]), *y = store_text(to, documents[i]);
        assert_string_equal(x, y);
        free(x);
        free(y);
    }
    zb_node_release(node);
    zb_hierarchy_release(from);
    zb_hierarchy_release(to);
}

/* A chunk whose checksum does not fit ends the copy, in the words of reading, and nothing stays. */
static void test_damage(void **state) {
    static const char *const codecs[] = {
        "[{\"name\":\"gzip\",\"configuration\":{\"level\":5}}]",
        "[{\"name\":\"zstd\",\"configuration\":{\"level\":3,\"checksum\":true}}]",
        "[{\"name\":\"crc32c\"}]", "[{\"name\":\"numcodecs.fletcher32\"}]"};
    static const uint64_t shards[] = {8, 10}, first[2];
    int16_t values[ELEMENTS];
    zb_error err;
    (void)state;
    for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++) {
        zb_hierarchy *from = store_new(), *to = store_new();
        zb_node *node = new_array(from, "a", NULL, codecs[i]), *copy;
        fill_in(node, values);
        zb_encoded chunk = {.index = first};
        ASSERT_OK(zb_array_get_encoded(node, NULL, &chunk, 1, &err), err);
        char *bytes = malloc(chunk.size);
        memcpy(bytes, chunk.data, chunk.size);
        bytes[chunk.size / 2] ^= 4;
        const zb_part part = {.data = bytes, .size = chunk.size};
        ASSERT_OK(zb_store_put(zb_hierarchy_store(from), "a/c/0/0", &part, 1, ZB_SYNC_NONE, &err),
                  err);
        const zb_copy_options options = {.reshards = true, .ndim = 2, .shard_shape = shards};
        assert_int_not_equal(zb_node_copy_as(from, "a", to, "a", &options, &err), ZB_OK);
        assert_non_null(strstr(err.message, "array /a, chunk c/0/0"));
        assert_int_equal(zb_node_open(to, "a", &copy, NULL), ZB_ENOTFOUND);
        free(bytes);
        zb_encoded_clear(&chunk, 1);
        zb_node_release(node);
        zb_hierarchy_release(from);
        zb_hierarchy_release(to);
    }
}

/* Codecs around shards leave inner chunks without bytes of their own. */
static void test_refused(void **state) {
    static const uint64_t shards[] = {8, 10}, zero[] = {0, 1};
    zb_hierarchy *from = store_new(), *to = store_new();
    zb_error err;
    (void)state;
    zb_node *node = new_array(
        from, "a", NULL,
        "[{\"name\":\"sharding_indexed\",\"configuration\":{\"chunk_shape\":[2,5],\"codecs\":"
        "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}],\"index_codecs\":"
        "[{\"name\":\"bytes\",\"configuration\":{\"endian\":\"little\"}}]}},"
        "{\"name\":\"gzip\",\"configuration\":{\"level\":1}}]");
    zb_copy_options options = {.reshards = true, .ndim = 2, .shard_shape = shards};
    assert_int_equal(zb_node_copy_as(from, "a", to, "a", &options, &err), ZB_EUNSUPPORTED);
    options.shard_shape = zero;
    assert_int_equal(zb_node_copy_as(from, "a", to, "a", &options, &err), ZB_EINVAL);
    zb_node_release(node);
    zb_hierarchy_release(from);
    zb_hierarchy_release(to);
}

/* ---- A new directory ---- */

typedef struct seen {
    char place[PATH_MAX], staged[PATH_MAX]; /* of the copy, and what it is until then */
    size_t told, last;                      /* the chunk that a program is killed at; 0: none */
} seen;

static seen places(const fixture *f) {
    seen s = {.told = 0};
    snprintf(s.place, sizeof s.place, "%s/b.zarr", f->root);
    snprintf(s.staged, sizeof s.staged, "%s/.b.zarr.0.zarrbridge-new", f->root);
    return s;
}

static bool is_there(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0;
}

static void look(void *context) {
    seen *s = context;
    int ours;
    assert_false(is_there(s->place));
    assert_true(fixture_files(s->staged, &ours) > 0);
    assert_true(ours <= 1); /* the hierarchy's lock: chunks have neither locks nor other names */
    if (++s->told == s->last)
        _exit(0);
}

/* A group with an array of shards, at the root, as one of chunks at s->place. */
static enum zb_code copy_to_directory(seen *s, zb_hierarchy *from, enum zb_sync sync) {
    const zb_copy_options options = {.reshards = true};
    zb_hierarchy *to;
    zb_error err;
    ASSERT_OK(zb_hierarchy_create(s->place, NULL, &to, &err), err);
    zb_hierarchy_set_sync(to, sync);
    zb_hierarchy_tell_chunks(from, look, s);
    const enum zb_code code = zb_node_copy_as(from, "", to, "", &options, &err);
    assert_int_equal(is_there(s->place), code == ZB_OK);
    if (!code)
        ASSERT_OK(zb_hierarchy_flush(to, &err), err);
    zb_hierarchy_release(to);
    return code;
}

static zb_hierarchy *new_source(int16_t *values) {
    static const uint64_t shards[] = {8, 10};
    zb_hierarchy *from = store_new();
    zb_node_release(store_group(from, "", NULL));
    zb_node *node = new_array(from, "a", shards, "[{\"name\":\"crc32c\"}]");
    fill_in(node, values);
    zb_node_release(node);
    return from;
}

static void test_new_directory(void **state) {
    static const enum zb_sync syncs[] = {ZB_SYNC_NONE, ZB_SYNC_CLOSE, ZB_SYNC_ALWAYS};
    int16_t values[ELEMENTS];
    for (size_t i = 0; i < 3; i++) {
        zb_hierarchy *from = new_source(values), *to;
        seen s = places(*state);
        zb_error err;
        assert_int_equal(copy_to_directory(&s, from, syncs[i]), ZB_OK);
        assert_true(s.told > 4);
        assert_false(is_there(s.staged));
        ASSERT_OK(zb_hierarchy_open(s.place, &to, &err), err);
        zb_node_release(assert_copy(to, "a", values));
        ASSERT_OK(zb_node_delete(to, "", &err), err);
        zb_hierarchy_release(to);
        assert_true(zb_store_remove_directory(s.place));
        zb_hierarchy_release(from);
    }
}

static void test_new_directory_of_damage(void **state) {
    int16_t values[ELEMENTS];
    zb_hierarchy *from = new_source(values);
    seen s = places(*state);
    const char bytes[4] = {0};
    const zb_part parts[] = {{.data = bytes, .size = 4}};
    zb_error err;
    ASSERT_OK(zb_store_put(zb_hierarchy_store(from), "a/c/2/0", parts, 1, ZB_SYNC_NONE, &err), err);
    assert_int_not_equal(copy_to_directory(&s, from, ZB_SYNC_CLOSE), ZB_OK);
    assert_false(is_there(s.place));
    assert_false(is_there(s.staged));
    zb_hierarchy_release(from);
}

/* Nobody meets what it leaves, and the name is free. */
static void test_killed(void **state) {
    int16_t values[ELEMENTS];
    seen s = places(*state);
    int status;
    const pid_t child = fork();
    if (child == 0) {
        s.last = 3;
        (void)copy_to_directory(&s, new_source(values), ZB_SYNC_CLOSE);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_false(is_there(s.place));
    assert_true(is_there(s.staged));
    zb_hierarchy *from = new_source(values);
    assert_int_equal(copy_to_directory(&s, from, ZB_SYNC_CLOSE), ZB_OK);
    zb_hierarchy_release(from);
}

int main(void) {
    const struct CMUnitTest tests[] = {FIXTURE_TEST(test_killed),
                                       FIXTURE_TEST(test_new_directory),
                                       FIXTURE_TEST(test_new_directory_of_damage),
                                       cmocka_unit_test(test_shards),
                                       cmocka_unit_test(test_large_shards),
                                       cmocka_unit_test(test_others_stay),
                                       cmocka_unit_test(test_damage),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_few_of_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
