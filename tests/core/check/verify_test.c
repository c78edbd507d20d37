/* SPDX-License-Identifier: MIT */
/*
 * Verifying and repairing: each kind of damage is put into a store that is all right, found, named,
 * and after a repair gone if it was a left-over, or still there if it was not.
 */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fixture.h"
#include "support/store.h"
#include "support/wrappers.h"
#include "zarrbridge/change.h"
#include "zarrbridge/check.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/store.h"
#include "zarrbridge/write.h"

static const zb_dtype int_type = {.kind = ZB_KIND_INT, .size = 4};

/* The findings, by kind. */
typedef struct findings {
    int of[ZB_FINDING_FOREIGN + 1], total, most;
    char last_key[600], last_message[ZB_MESSAGE_SIZE];
} findings;

static int take(void *context, const zb_finding *finding) {
    findings *f = context;
    f->of[finding->kind]++;
    snprintf(f->last_key, sizeof f->last_key, "%s", finding->key);
    snprintf(f->last_message, sizeof f->last_message, "%s", finding->message);
    return ++f->total == f->most;
}

static findings verify(zb_hierarchy *hierarchy, zb_verify_summary *summary) {
    findings found = {.most = 0};
    zb_error err;
    ASSERT_OK(zb_hierarchy_verify(hierarchy, take, &found, summary, &err), err);
    return found;
}

static findings repair(zb_hierarchy *hierarchy) {
    findings found = {.most = 0};
    zb_error err;
    ASSERT_OK(zb_hierarchy_repair(hierarchy, take, &found, &err), err);
    return found;
}

/* Exactly one finding, of this kind, with this key, and a message that has the text. */
static void assert_found(const findings *f, enum zb_finding_kind kind, const char *key,
                         const char *text) {
    if (f->total != 1 || f->of[kind] != 1 || strcmp(f->last_key, key) != 0 ||
        !strstr(f->last_message, text))
        fail_msg("%d findings, %d %s, the last '%s': %s; expected '%s' with '%s'", f->total,
                 f->of[kind], zb_finding_name(kind), f->last_key, f->last_message, key, text);
}

/* 40 x 40 in shards of 16 x 16 with inner chunks of 8 x 8: 9 shards. */
static zb_node *create(zb_hierarchy *hierarchy, const char *path, const char *codecs) {
    const uint64_t shape[2] = {40, 40}, inner[2] = {8, 8}, shard[2] = {16, 16};
    zb_array_spec spec = {.ndim = 2,
                          .shape = shape,
                          .inner_shape = inner,
                          .shard_shape = shard,
                          .dtype = int_type,
                          .codecs = codecs};
    zb_error err;
    zb_node *node = NULL;
    zb_writer *writer = NULL;
    int32_t values[1600];
    for (int i = 0; i < 1600; i++)
        values[i] = i * 31 + 1;
    ASSERT_OK(zb_array_create(hierarchy, path, &spec, &node, &err), err);
    ASSERT_OK(zb_writer_open(node, NULL, &writer, &err), err);
    zb_write write = {.data = values, .dtype = int_type};
    ASSERT_OK(zb_writer_write(writer, &write, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
    return node;
}

static void a_good_store_has_no_findings(void **state) {
    fixture *f = *state;
    zb_verify_summary summary;
    zb_node *node = create(f->hierarchy, "g/a", NULL);
    zb_node_release(create(f->hierarchy, "b", "[{\"name\":\"crc32c\"}]"));
    findings found = verify(f->hierarchy, &summary);
    assert_int_equal(found.total, 0);
    assert_int_equal(summary.nodes, 4); /* the root and g, too */
    assert_int_equal(summary.objects, 18);
    assert_int_equal(summary.inner_chunks, 50);
    assert_int_equal(summary.findings, 0);
    uint64_t a = 0;
    zb_error err;
    ASSERT_OK(zb_array_storage_size(node, &a, &err), err);
    assert_true(summary.bytes > a);
    zb_node_release(node);
    found = repair(f->hierarchy);
    assert_int_equal(found.total, 0);
}

/* Puts an object made of the first `size` bytes of the one at key, byte `at` being flipped. */
static void spoil(zb_hierarchy *hierarchy, const char *key, size_t size, size_t at) {
    zb_error err;
    char *data;
    size_t whole;
    ASSERT_OK(zb_store_get(zb_hierarchy_store(hierarchy), key, 1 << 20, "limit", &data, &whole,
                           NULL, &err),
              err);
    size = size < whole ? size : whole;
    if (at < size)
        data[at] ^= 0x55;
    zb_part part = {data, size};
    ASSERT_OK(zb_store_put(zb_hierarchy_store(hierarchy), key, &part, 1, ZB_SYNC_NONE, &err), err);
    free(data);
}

static void damage_is_found_and_left(void **state) {
    fixture *f = *state;
    static const struct {
        size_t size, at; /* of the rest of the shard */
        enum zb_finding_kind kind;
        const char *text;
    } rows[] = {{SIZE_MAX, 30, ZB_FINDING_DAMAGED, "shard c/1/2, inner chunk (0,0)"},
                {SIZE_MAX, 300, ZB_FINDING_DAMAGED, "shard c/1/2, inner chunk (1,0)"},
                {300, SIZE_MAX, ZB_FINDING_DAMAGED, "index"},
                {40, SIZE_MAX, ZB_FINDING_TRUNCATED, "fewer than its index"},
                {0, SIZE_MAX, ZB_FINDING_TRUNCATED, "0 bytes"}};
    zb_node_release(create(f->hierarchy, "a", "[{\"name\":\"crc32c\"}]"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_node_release(create(f->hierarchy, "x", "[{\"name\":\"crc32c\"}]"));
        spoil(f->hierarchy, "x/c/1/2", rows[i].size, rows[i].at);
        findings found = verify(f->hierarchy, NULL);
        assert_found(&found, rows[i].kind, "x/c/1/2", rows[i].text);
        assert_int_equal(repair(f->hierarchy).total, 0);
        assert_int_equal(verify(f->hierarchy, NULL).total, 1);
        zb_error err;
        ASSERT_OK(zb_node_delete(f->hierarchy, "x", &err), err);
    }
    spoil(f->hierarchy, "a/c/0/0", SIZE_MAX, 30);
    spoil(f->hierarchy, "a/c/0/0", SIZE_MAX, 600);
    spoil(f->hierarchy, "a/c/2/2", SIZE_MAX, 30);
    zb_verify_summary summary;
    findings all = verify(f->hierarchy, &summary);
    assert_int_equal(all.of[ZB_FINDING_DAMAGED], 3); /* one shard after the other, to the end */
    assert_int_equal(summary.findings, 3);
    findings few = {.most = 2};
    zb_error err;
    ASSERT_OK(zb_hierarchy_verify(f->hierarchy, take, &few, NULL, &err), err);
    assert_int_equal(few.total, 2);
}

static void orphans_are_found_and_left(void **state) {
    fixture *f = *state;
    static const struct {
        const char *key, *text;
    } rows[] = {{"a/c/3/0", "beyond the array"},
                {"a/c/0/99", "beyond the array"},
                {"a/c/0/c.1", "no chunk of the array"},
                {"a/7", "no chunk of the array"},
                {"a/sub/zarr.json", "a node below an array"},
                {"a/c/.zz.zb-journal", "a journal of no chunk"},
                {"lost/c/0/0", "belongs to no array"},
                {"lost/0.0.12", "belongs to no array"},
                {"lone/c", "belongs to no array"}};
    zb_node_release(create(f->hierarchy, "a", NULL));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        zb_error err;
        fixture_must_put(f->store, rows[i].key, "?", PUT_LATER);
        findings found = verify(f->hierarchy, NULL);
        assert_found(&found, ZB_FINDING_ORPHANED, rows[i].key, rows[i].text);
        assert_int_equal(repair(f->hierarchy).total, 0);
        assert_holds(f->store, rows[i].key, "?");
        ASSERT_OK(zb_store_erase(f->store, rows[i].key, &err), err);
    }
}

static const char root_group[] = "{\"zarr_format\":3,\"node_type\":\"group\"}";

/* Files that no array can take for its own are no fault of the store, and told of in a store
   alone. */
static void foreign_files_are_told_apart(void **state) {
    fixture *f = *state;
    static const char *const keys[] = {"a/c/0/x", "a/readme.txt", ".DS_Store", "other/c/1-2.tif",
                                       "1st"};
    zb_verify_summary summary;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        fixture_must_put(f->store, keys[i], "?", PUT_LATER);
    assert_int_equal(verify(f->hierarchy, &summary).total, 0);
    assert_int_equal(summary.nodes + summary.foreign + summary.findings, 0);
    fixture_must_put(f->store, "zarr.json", root_group, PUT_LATER);
    const findings found = verify(f->hierarchy, &summary);
    assert_int_equal(found.of[ZB_FINDING_FOREIGN], 5);
    assert_int_equal(found.total, 5);
    assert_int_equal(summary.foreign, 5);
    assert_int_equal(summary.findings, 0);
}

/* What looks like a chunk lacks its array in a store; without a node it is somebody's file. */
static void without_a_node_nothing_is_an_orphan(void **state) {
    fixture *f = *state;
    zb_verify_summary summary;
    fixture_must_put(f->store, "c/0/0", "?", PUT_LATER);
    fixture_must_put(f->store, "lost/0.0.12", "?", PUT_LATER);
    assert_int_equal(verify(f->hierarchy, &summary).total, 0);
    assert_int_equal(summary.nodes + summary.foreign + summary.findings, 0);
    zb_node_release(create(f->hierarchy, "deep/a", NULL));
    assert_int_equal(verify(f->hierarchy, NULL).of[ZB_FINDING_ORPHANED], 2);
}

/* Of each kind one in the place of a chunk, and the rest of the store is checked. */
static void what_is_no_file_is_damage(void **state) {
    fixture *f = *state;
    zb_node_release(create(f->hierarchy, "a", NULL));
    for (int i = 0; i < 3; i++) {
        char path[PATH_MAX], key[16];
        zb_error err;
        snprintf(key, sizeof key, "a/c/%d/0", i);
        ASSERT_OK(zb_store_erase(f->store, key, &err), err);
        snprintf(path, sizeof path, "%s/%s", f->root, key);
        if (i == 0)
            assert_int_equal(mkdir(path, 0700), 0);
        else
            assert_int_equal(mknod(path, (i == 1 ? S_IFIFO : S_IFSOCK) | 0600, 0), 0);
        zb_verify_summary summary;
        const findings found = verify(f->hierarchy, &summary);
        assert_int_equal(found.of[ZB_FINDING_DAMAGED], i + 1);
        assert_int_equal(found.total, i + 1);
        assert_int_equal(summary.objects, 8 - i);
    }
    assert_int_equal(repair(f->hierarchy).total, 0);
}

static void documents_are_checked(void **state) {
    fixture *f = *state;
    zb_node_release(create(f->hierarchy, "a", NULL));
    fixture_must_put(f->store, "bad/zarr.json", "{\"zarr_format\":3,", PUT_LATER);
    findings found = verify(f->hierarchy, NULL);
    assert_found(&found, ZB_FINDING_DAMAGED, "bad/zarr.json", "zarr.json");
    fixture_must_put(f->store, "bad/zarr.json",
                     "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[4],\"data_type\":"
                     "\"text\",\"chunk_grid\":{\"name\":\"regular\",\"configuration\":"
                     "{\"chunk_shape\":[4]}},\"chunk_key_encoding\":{\"name\":\"default\"},"
                     "\"fill_value\":\"\",\"codecs\":[{\"name\":\"vlen-utf8\"}]}",
                     PUT_LATER);
    fixture_must_put(f->store, "bad/c/0", "?", PUT_LATER);
    found = verify(f->hierarchy, NULL);
    assert_found(&found, ZB_FINDING_UNCHECKED, "bad/zarr.json", "text");
}

static const char scalar[] =
    "{\"zarr_format\":3,\"node_type\":\"array\",\"shape\":[],\"data_type\":\"uint8\","
    "\"chunk_grid\":{\"name\":\"regular\",\"configuration\":{\"chunk_shape\":[]}},"
    "\"chunk_key_encoding\":{\"name\":\"v2\"},\"fill_value\":0,\"codecs\":[{\"name\":\"bytes\"},"
    "{\"name\":\"gzip\",\"configuration\":{\"level\":1}}]}";

/* No chunk of a byte has a megabyte: it is refused by its size, before memory is taken for it. */
static void bombs_are_not_read(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node *node = NULL;
    uint8_t value;
    char *bomb = calloc(1, 1 << 20);
    zb_part part = {bomb, 1 << 20};
    fixture_must_put(f->store, "zarr.json", root_group, PUT_LATER);
    fixture_must_put(f->store, "a/zarr.json", scalar, PUT_LATER);
    ASSERT_OK(zb_store_put(f->store, "a/0", &part, 1, ZB_SYNC_NONE, &err), err);
    free(bomb);
    findings found = verify(f->hierarchy, NULL);
    assert_found(&found, ZB_FINDING_UNCHECKED, "a/0", "more than the 65538 that its decoded size");
    ASSERT_OK(zb_node_open(f->hierarchy, "a", &node, &err), err);
    zb_read read = {.node = node, .view = {.data = &value, .dtype = zb_node_array(node)->dtype}};
    ASSERT_FAILS(zb_array_read(&read, 1, &err), ZB_ELIMIT, err, "1048576 stored bytes");
    zb_node_release(node);
}

/* Keys of the old form; a scalar's is "0". */
static void old_keys_are_told_apart(void **state) {
    fixture *f = *state;
    zb_verify_summary summary;
    zb_error err;
    fixture_must_put(f->store, "zarr.json", root_group, PUT_LATER);
    fixture_must_put(f->store, "a/zarr.json", scalar, PUT_LATER);
    zb_part part = {"\x1f\x8b\x08\0\0\0\0\0\0\x03\x63\x04\0\x1b\xdf\x05\xa5\x01\0\0\0", 21};
    ASSERT_OK(zb_store_put(f->store, "a/0", &part, 1, ZB_SYNC_NONE, &err), err);
    findings found = verify(f->hierarchy, &summary);
    assert_int_equal(found.total, 0);
    assert_int_equal(summary.inner_chunks, 1);
    fixture_must_put(f->store, "a/00", "?", PUT_LATER);
    found = verify(f->hierarchy, NULL);
    assert_found(&found, ZB_FINDING_ORPHANED, "a/00", "no chunk of the array");
}

/* As a link that leads back would make them. */
static void deep_directories_are_left(void **state) {
    fixture *f = *state;
    char key[2 * 300 + 8] = "";
    for (int i = 0; i < 300; i++)
        strcat(key, "d/");
    strcat(key, "x");
    fixture_must_put(f->store, key, "?", PUT_LATER);
    key[2 * 256 - 1] = '\0';
    findings found = verify(f->hierarchy, NULL);
    assert_found(&found, ZB_FINDING_UNCHECKED, key, "nested too deep");
    assert_int_equal(repair(f->hierarchy).total, 0);
}

/* ---- Left-overs -------------------------------------------------------------------- */

/* A writer that is killed in the middle of changing a shard, as the store sees it. */
static void kill_a_writer(zb_hierarchy *hierarchy, enum zb_strategy strategy, uint64_t nth) {
    zb_hierarchy *fault = NULL;
    zb_node *node = NULL;
    zb_writer *writer = NULL;
    zb_error err;
    zb_write_options options = {.strategy = strategy};
    int32_t value = 5;
    uint64_t start[2] = {3, 3}, one[2] = {1, 1};
    zb_write write = {.start = start, .count = one, .data = &value, .dtype = int_type};
    ASSERT_OK(wrap(zb_store_new_fault, hierarchy, &fault, &err), err);
    ASSERT_OK(zb_node_open(fault, "a", &node, &err), err);
    ASSERT_OK(zb_writer_open(node, &options, &writer, &err), err);
    ASSERT_OK(zb_writer_write(writer, &write, &err), err);
    zb_store_fault_from(zb_hierarchy_store(fault), nth);
    (void)zb_writer_flush(writer, &err);
    zb_writer_abandon(writer);
    zb_node_release(node);
    zb_hierarchy_release(fault);
}

static void journals_are_replayed(void **state) {
    fixture *f = *state;
    zb_object_info before, after;
    zb_error err;
    zb_node_release(create(f->hierarchy, "a", NULL));
    findings found = {.total = 0};
    /* The number of calls in front of the right one depends on the age of files, so that a round
       may miss it, and the shard grow. */
    const uint64_t calls = 100; /* more than a flush makes */
    for (uint64_t nth = 1; found.of[ZB_FINDING_DAMAGED] == 0; nth = nth % calls + 1) {
        ASSERT_OK(zb_store_stat(f->store, "a/c/0/0", &before, &err), err);
        kill_a_writer(f->hierarchy, ZB_APPEND, nth);
        found = verify(f->hierarchy, NULL);
        if (found.of[ZB_FINDING_DAMAGED] == 0) /* not far enough yet */
            repair(f->hierarchy);
    }
    assert_int_equal(found.of[ZB_FINDING_STALE], 1);
    assert_int_equal(found.total, 2);
    found = repair(f->hierarchy);
    assert_found(&found, ZB_FINDING_STALE, "a/c/0/0", "undone");
    assert_int_equal(verify(f->hierarchy, NULL).total, 0);
    ASSERT_OK(zb_store_stat(f->store, "a/c/0/0", &after, &err), err);
    assert_int_equal(before.size, after.size);
}

static void left_overs_are_removed(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node_release(create(f->hierarchy, "a", NULL));
    /* A day old, of another machine. */
    check_write_file(f->root, "a/c/0/.1.0000000000000001.0000000000000002.zb-tmp", "half", 4);
    check_write_file(f->root, "a/.zarr.json.zb-lock", "", 0);
    /* A moment old, of this one: no process holds it. */
    check_write_file(f->root, "a/c/0/.1.zb-lock", "", 0);
    char path[512];
    const char *names[] = {"a/c/0/.1.0000000000000001.0000000000000002.zb-tmp",
                           "a/.zarr.json.zb-lock"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "touch -d '2 days ago' '%s/%s'", f->root, names[i]);
        assert_int_equal(system(path), 0);
    }
    assert_int_equal(verify(f->hierarchy, NULL).of[ZB_FINDING_STALE], 3);
    assert_int_equal(repair(f->hierarchy).total, 3);
    assert_int_equal(verify(f->hierarchy, NULL).total, 0);
    ASSERT_OK(zb_hierarchy_flush(f->hierarchy, &err), err); /* the hierarchy's lock goes */
    int ours;
    fixture_files(f->root, &ours);
    assert_int_equal(ours, 0);
    /* A shrink that was killed: its note, and a chunk that lies beyond the edge by now. */
    fixture_must_put(f->store, "a/.zarrbridge-resize", "[80,40]", PUT_LATER);
    fixture_must_put(f->store, "a/c/4/0", "?", PUT_LATER);
    findings found = verify(f->hierarchy, NULL);
    assert_int_equal(found.of[ZB_FINDING_STALE], 1);
    assert_int_equal(found.of[ZB_FINDING_ORPHANED], 1);
    found = repair(f->hierarchy);
    assert_found(&found, ZB_FINDING_STALE, "a/.zarrbridge-resize", "finished");
    assert_int_equal(verify(f->hierarchy, NULL).total, 0);
    ASSERT_FAILS(zb_store_stat(f->store, "a/c/4/0", &(zb_object_info){.size = 0}, &err),
                 ZB_ENOTFOUND, err, "");
}

/* ---- Consolidated metadata ---------------------------------------------------------------- */

static void put_block(zb_hierarchy *hierarchy, const char *map) {
    char text[4096];
    snprintf(text, sizeof text,
             "{\"attributes\":{\"kept\":1},\"zarr_format\":3,\"consolidated_metadata\":{\"kind\":"
             "\"inline\",\"must_understand\":false,\"metadata\":{%s}},\"node_type\":\"group\"}",
             map);
    fixture_must_put(zb_hierarchy_store(hierarchy), "zarr.json", text, PUT_LATER);
}

static void stale_blocks_are_refreshed(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node_release(create(f->hierarchy, "g/a", NULL));
    fixture_must_put(f->store, "g/zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\"}",
                     PUT_LATER);
    char *array, map[3000];
    size_t size;
    ASSERT_OK(zb_store_get(f->store, "g/a/zarr.json", 4096, "x", &array, &size, NULL, &err), err);
    const char *group = "\"node_type\":\"group\",\"zarr_format\":3,\"consolidated_metadata\":"
                        "{\"kind\":\"inline\",\"must_understand\":false,\"metadata\":{}}";
    snprintf(map, sizeof map, "\"g/a\":%s,\"g\":{%s}", array, group);
    put_block(f->hierarchy, map);
    assert_int_equal(verify(f->hierarchy, NULL).total, 0); /* another order is not a difference */
    const char *texts[] = {"does not know", "otherwise", "gone"};
    for (int i = 0; i < 3; i++) {
        if (i == 0)
            snprintf(map, sizeof map, "\"g\":{%s}", group);
        else if (i == 1)
            snprintf(map, sizeof map, "\"g\":{%s,\"attributes\":{\"x\":1}},\"g/a\":%s", group,
                     array);
        else
            snprintf(map, sizeof map, "\"g\":{%s},\"g/a\":%s,\"h\":{%s}", group, array, group);
        put_block(f->hierarchy, map);
        findings found = verify(f->hierarchy, NULL);
        assert_found(&found, ZB_FINDING_STALE, "zarr.json", texts[i]);
        found = repair(f->hierarchy);
        assert_found(&found, ZB_FINDING_STALE, "zarr.json", "up to date");
        assert_int_equal(verify(f->hierarchy, NULL).total, 0);
        char *text;
        ASSERT_OK(zb_store_get(f->store, "zarr.json", 8192, "x", &text, &size, NULL, &err), err);
        assert_non_null(strstr(text, "\"kept\":1"));
        free(text);
    }
    free(array);
}

/* A document that cannot be read does not keep the others from being consolidated. */
static void unreadable_documents_are_left_out(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_node_release(create(f->hierarchy, "a", NULL));
    fixture_must_put(f->store, "b/zarr.json", "", PUT_LATER);
    put_block(f->hierarchy, "");
    findings found = verify(f->hierarchy, NULL);
    assert_int_equal(found.of[ZB_FINDING_STALE], 1);
    assert_int_equal(found.of[ZB_FINDING_DAMAGED], 1);
    found = repair(f->hierarchy);
    assert_found(&found, ZB_FINDING_STALE, "zarr.json", "up to date");
    found = verify(f->hierarchy, NULL);
    assert_int_equal(found.total, 1);
    assert_found(&found, ZB_FINDING_DAMAGED, "b/zarr.json", "zarr.json");
    char *text;
    size_t size;
    ASSERT_OK(zb_store_get(f->store, "zarr.json", 8192, "x", &text, &size, NULL, &err), err);
    assert_non_null(strstr(text, "\"a\""));
    free(text);
}

/* A store whose documents are that old. */
static struct {
    const zb_store_ops *ops;
    int64_t age; /* nanoseconds; 0: not known */
} aged;

static enum zb_code probe_aged(zb_store *store, zb_probe *probe, zb_error *err) {
    enum zb_code code = aged.ops->probe(store, probe, err);
    probe->info.age = aged.age;
    return code;
}

/* Repairs with all documents that old. */
static findings repair_aged(zb_hierarchy *hierarchy, int64_t seconds) {
    zb_store_ops ops = *zb_hierarchy_store(hierarchy)->ops;
    aged.ops = zb_hierarchy_store(hierarchy)->ops;
    aged.age = seconds * 1000000000;
    ops.probe = probe_aged;
    zb_hierarchy_store(hierarchy)->ops = &ops;
    const findings found = repair(hierarchy);
    zb_hierarchy_store(hierarchy)->ops = aged.ops;
    return found;
}

#define NAMED "__attribute.0000000000000001"
#define UNNAMED "__attribute.0000000000000002"

/* A writer may be about to name it: repairing waits for a day. */
static void hidden_arrays_without_a_name_go_after_a_day(void **state) {
    fixture *f = *state;
    const int64_t day = 24 * 60 * 60;
    zb_error err;
    const char *names[] = {NAMED, UNNAMED};
    const uint64_t shape = 4;
    const zb_array_spec spec = {
        .ndim = 1, .shape = &shape, .inner_shape = &shape, .dtype = int_type};
    zb_node *node = NULL,
            *group = store_group(f->hierarchy, "g", "{\"large\":{\"array\":\"" NAMED "\"}}");
    for (size_t i = 0; i < 2; i++) {
        ASSERT_OK(zb_hidden_create(group, names[i], &spec, &node, &err), err);
        zb_node_release(node);
    }
    findings found = verify(f->hierarchy, NULL);
    assert_found(&found, ZB_FINDING_STALE, "g/" UNNAMED, "no attribute names this hidden array");
    assert_int_equal(repair(f->hierarchy).total, 0);
    assert_int_equal(repair_aged(f->hierarchy, 0).total, 0);
    assert_int_equal(repair_aged(f->hierarchy, day - 1).total, 0);
    found = repair_aged(f->hierarchy, day + 1);
    assert_found(&found, ZB_FINDING_STALE, "g/" UNNAMED, "removed");
    for (size_t i = 0; i < 2; i++) {
        const enum zb_code code = zb_hidden_open(group, names[i], &node, &err);
        assert_int_equal(code, i == 1 ? ZB_ENOTFOUND : ZB_OK);
        if (!code)
            zb_node_release(node);
    }
    zb_node_release(group);
    assert_int_equal(verify(f->hierarchy, NULL).total, 0);
    assert_int_equal(repair_aged(f->hierarchy, day + 1).total, 0);
}

/* Every failing call gives an error or a finding, never silence about damage. */
static void errors_of_the_store_are_reported(void **state) {
    fixture *f = *state;
    zb_error err;
    zb_hierarchy *fault = NULL;
    zb_node_release(create(f->hierarchy, "g/a", NULL));
    spoil(f->hierarchy, "g/a/c/1/1", SIZE_MAX, 20);
    ASSERT_OK(wrap(zb_store_new_fault, f->hierarchy, &fault, &err), err);
    bool hit = true;
    for (uint64_t nth = 1; hit; nth++) {
        findings found = {.most = 0};
        zb_store_fault_set(zb_hierarchy_store(fault), nth);
        enum zb_code code = zb_hierarchy_verify(fault, take, &found, NULL, &err);
        hit = code != ZB_OK || found.total > 1;
        assert_true(code != ZB_OK || found.of[ZB_FINDING_DAMAGED] > 0);
        assert_true(nth < 1000);
    }
    zb_hierarchy_release(fault);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_good_store_has_no_findings),
        FIXTURE_TEST(damage_is_found_and_left),
        FIXTURE_TEST(orphans_are_found_and_left),
        FIXTURE_TEST(foreign_files_are_told_apart),
        FIXTURE_TEST(without_a_node_nothing_is_an_orphan),
        FIXTURE_TEST(what_is_no_file_is_damage),
        FIXTURE_TEST(documents_are_checked),
        FIXTURE_TEST(bombs_are_not_read),
        FIXTURE_TEST(old_keys_are_told_apart),
        FIXTURE_TEST(deep_directories_are_left),
        FIXTURE_TEST(journals_are_replayed),
        FIXTURE_TEST(left_overs_are_removed),
        FIXTURE_TEST(stale_blocks_are_refreshed),
        FIXTURE_TEST(unreadable_documents_are_left_out),
        FIXTURE_TEST(hidden_arrays_without_a_name_go_after_a_day),
        FIXTURE_TEST(errors_of_the_store_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
