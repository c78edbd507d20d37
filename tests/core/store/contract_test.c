/* SPDX-License-Identifier: MIT */
/*
 * What every backend promises (zarrbridge/sys/store.h), asked of all that the core has. A new one
 * is one more in the list of stores_that_are_read(), or stores_that_are_written():
 * docs/adding-a-store.md.
 */
#include <errno.h>
#include <pthread.h>

#include "store/fixture.h"
#include "store/zip_write.h"

/* What a store that is read holds: the key of each object is its content. */
static const char *const objects[] = {"zarr.json", "a/zarr.json", "a/b/c/0", "a/b/c/1", "a/b-x/c",
                                      "a/b.c",     "a.b/x",       "ab/x",    "a/s/stop"};
#define OBJECTS (sizeof objects / sizeof *objects)

/* ---- The stores ---- */

static zb_store *new_mem(void) {
    zb_error err;
    zb_store *store = NULL;
    ASSERT_OK(zb_store_new_mem("mem", &store, &err), err);
    return store;
}

static void set(zb_store *store, const char *key, const char *text) {
    zb_error err;
    const zb_part part = {text, strlen(text)};
    ASSERT_OK(zb_store_put(store, key, &part, 1, ZB_SYNC_NONE, &err), err);
}

static zb_store *new_zip(const fixture *f, zb_store *content) {
    zb_error err;
    zb_store *store = NULL;
    zb__zip_writer writer;
    char path[512];
    snprintf(path, sizeof path, "%s/all.zip", f->outside);
    ASSERT_OK(zb__zip_begin(&writer, path, NULL, &err), err);
    for (size_t i = 0; i < OBJECTS; i++)
        ASSERT_OK(zb__zip_add(&writer, content, objects[i], &err), err);
    ASSERT_OK(zb__zip_end(&writer, &err), err);
    ASSERT_OK(zb_store_open_with(path, &(zb_store_settings){.options = NULL}, &store, &err), err);
    return store;
}

/* ---- Names ---- */

typedef struct names {
    char text[16][32];
    size_t count;
} names;

static int add_name(void *context, const zb_list_entry *entry) {
    names *n = context;
    snprintf(n->text[n->count++], sizeof *n->text, "%s%s ", entry->name,
             entry->is_prefix ? "/" : "");
    return strcmp(entry->name, "stop") == 0;
}

static int by_text(const void *a, const void *b) {
    return strcmp(a, b);
}

static void assert_lists(zb_store *store, const char *prefix, const char *expected) {
    zb_error err;
    names n = {.count = 0};
    char text[512] = "";
    ASSERT_OK(zb_store_list(store, prefix, add_name, &n, &err), err);
    qsort(n.text, n.count, sizeof *n.text, by_text);
    for (size_t i = 0; i < n.count; i++)
        strcat(text, n.text[i]);
    assert_string_equal(text, expected);
}

/* ---- Reading ---- */

static void opens(zb_store *store) {
    zb_error err;
    zb_object *object;
    zb_object_info info;
    for (size_t i = 0; i < OBJECTS; i++)
        assert_holds(store, objects[i], objects[i]);
    ASSERT_FAILS(zb_object_open(store, "a/b/c/2", &object, &info, &err), ZB_ENOTFOUND, err,
                 "a/b/c/2");
    ASSERT_FAILS(zb_object_open(store, "../k", &object, &info, &err), ZB_EINVAL, err, "../k");
}

/* Ranges from the front and from the end, beyond it and of nothing. */
static void reads_ranges(zb_store *store) {
    zb_error err;
    zb_object *object;
    zb_object_info info;
    char buffer[8] = "", tail[8] = "", all[8] = "";
    zb_range ranges[] = {{.offset = 0, .length = 7, .buffer = buffer},
                         {.offset = ZB_FROM_END, .length = 2, .buffer = tail},
                         {.offset = 5, .length = 1, .buffer = tail + 4},
                         {.offset = 3, .length = 0, .buffer = NULL},
                         {.offset = ZB_FROM_END, .length = 7, .buffer = all}};
    static const size_t got[] = {5, 2, 0, 0, 5};
    ASSERT_OK(zb_object_open(store, "a.b/x", &object, &info, &err), err);
    assert_int_equal(info.size, 5);
    ASSERT_OK(zb_object_read(object, ranges, 5, &err), err);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(ranges[i].got, got[i]);
    assert_string_equal(buffer, "a.b/x");
    assert_string_equal(all, "a.b/x");
    assert_string_equal(tail, "/x");
    zb_object_close(object);
    zb_object_close(NULL);
}

/* All three questions about an object; and what is not known counts as no answer. */
static void answers_questions(zb_store *store) {
    static const enum zb_question asks[] = {ZB_ASK_INFO, ZB_ASK_INFO_AGAIN, ZB_ASK_NAME};
    zb_error err;
    for (int i = 0; i < 3; i++) {
        zb_probe there = {.asks = asks[i], .name = "a/b/c/1"},
                 missing = {.asks = asks[i], .name = "a/none"};
        ASSERT_OK(zb_store_probe(store, &there, &err), err);
        assert_true(asks[i] == ZB_ASK_NAME || there.info.size == strlen("a/b/c/1"));
        ASSERT_FAILS(zb_store_probe(store, &missing, &err), ZB_ENOTFOUND, err, "a/none");
    }
    const char *const some[] = {"a/b/none", "a/b/c/0"};
    const uint64_t holder = zb_store_identify(store, "a");
    assert_true(holder == zb_store_identify(store, "a"));
    assert_true(zb_store_confirm_absent(store, "a", holder, some, 1));
    assert_true(!holder || !zb_store_confirm_absent(store, "a", holder, some, 2));
    assert_true(!holder || !zb_store_confirm_absent(store, "a", holder + 1, some, 1));
    assert_false(zb_store_is_link(store, "a"));
    assert_false(zb_store_is_absent(store, "a"));
    assert_false(zb_store_is_absent(store, "a/b/c/1"));
}

static void lists_names(zb_store *store) {
    assert_lists(store, "", "a.b/ a/ ab/ zarr.json ");
    assert_lists(store, "a", "b-x/ b.c b/ s/ zarr.json ");
    assert_lists(store, "a/b", "c/ ");
    assert_lists(store, "a/b/c", "0 1 ");
    assert_lists(store, "a/b/c/0", "");
    assert_lists(store, "nothing", "");
    assert_lists(store, "a/s", "stop ");
}

/* Either all keys below a prefix, or nothing at all. */
static void lists_all_levels(zb_store *store) {
    const zb_list all = {.prefix = "a/b", .is_recursive = true};
    names n = {.count = 0};
    const enum zb_code code = zb_store_list_as(store, &all, add_name, &n, NULL);
    assert_true(code == ZB_OK || code == ZB_EUNSUPPORTED);
    assert_int_equal(n.count, code ? 0 : 2);
}

/* ---- Writing ---- */

static void puts_parts(zb_store *store) {
    zb_error err;
    zb_part parts[] = {{"one ", 4}, {NULL, 0}, {"two", 3}}, absurd[] = {{"x", 1}, {"x", SIZE_MAX}};
    set(store, "k", "old");
    ASSERT_OK(zb_store_put(store, "k", parts, 3, ZB_SYNC_ALWAYS, &err), err);
    assert_holds(store, "k", "one two");
    ASSERT_OK(zb_store_put(store, "none", NULL, 0, ZB_SYNC_CLOSE, &err), err);
    assert_holds(store, "none", "");
    assert_int_not_equal(zb_store_put(store, "k", absurd, 2, ZB_SYNC_NONE, &err), ZB_OK);
    ASSERT_FAILS(zb_store_put(store, "a//b", parts, 1, ZB_SYNC_NONE, &err), ZB_EINVAL, err, "a//b");
    ASSERT_FAILS(zb_store_put(store, "", parts, 1, ZB_SYNC_NONE, &err), ZB_EINVAL, err, "key");
    ASSERT_OK(zb_store_flush(store, &err), err);
    assert_holds(store, "k", "one two");
}

/* One that waits is seen through its store at once, and may be given up with its batch. */
static void puts_what_waits(zb_store *store) {
    zb_error err;
    zb_batch batch;
    zb_batch_begin(&batch, store, NULL, NULL);
    ASSERT_OK(fixture_put_as(store, &batch, "w", "text", PUT_WAITS, &err), err);
    assert_holds(store, "w", "text");
    ASSERT_OK(zb_store_flush_batch(store, &batch, &err), err);
    assert_holds(store, "w", "text");
    ASSERT_OK(fixture_put_as(store, &batch, "w", "again", PUT_WAITS, &err), err);
    zb_batch_end(&batch);
    char *data;
    ASSERT_OK(fixture_get(store, "w", &data, &err), err);
    assert_true(strcmp(data, "text") == 0 || strcmp(data, "again") == 0);
    free(data);
}

static enum zb_code refuse(void *context, const char *key, zb_error *err) {
    return zb_fail(err, ZB_ECONFLICT, "not '%s', %s", key, (const char *)context);
}

/* The batch is asked before anything becomes visible, or goes. */
static void asks_before_changes(zb_store *store) {
    zb_error err;
    zb_batch batch;
    set(store, "c", "old");
    zb_batch_begin(&batch, store, refuse, (void *)(uintptr_t)"please");
    const zb_erase erase = {.key = "c", .batch = &batch};
    ASSERT_FAILS(fixture_put_as(store, &batch, "c", "new", PUT_NOW, &err), ZB_ECONFLICT, err,
                 "not 'c', please");
    ASSERT_FAILS(zb_store_erase_as(store, &erase, &err), ZB_ECONFLICT, err, "not 'c', please");
    zb_batch_end(&batch);
    assert_holds(store, "c", "old");
}

/* What is expected is kept to, or the operation refused without a trace. */
static void keeps_to_expectations(zb_store *store) {
    zb_error err;
    const zb_part part = {"x", 1};
    const zb_put first = {
        .key = "e/zarr.json", .parts = &part, .count = 1, .expected = ZB_EXPECT_NOTHING};
    enum zb_code code = zb_store_put_as(store, &first, &err);
    assert_int_equal(code, zb_store_is_tree(store) ? ZB_OK : ZB_EUNSUPPORTED);
    assert_holds(store, "e/zarr.json", code ? NULL : "x");
    set(store, "e/other", "1");
    code = zb_store_put_as(store, &first, &err);
    assert_int_equal(code, zb_store_is_tree(store) ? ZB_ECONFLICT : ZB_EUNSUPPORTED);
    const zb_put none = {.key = "e/none", .parts = &part, .count = 1, .expected = ZB_EXPECT_FREE};
    code = zb_store_put_as(store, &none, &err);
    assert_true(code == ZB_OK || code == ZB_EUNSUPPORTED);
    assert_holds(store, "e/none", code ? NULL : "x");
    set(store, "e/none", "old");
    code = zb_store_put_as(store, &none, &err);
    assert_true(code == ZB_ECONFLICT || code == ZB_EUNSUPPORTED);
    assert_holds(store, "e/none", "old");
}

/* In the holder that the caller has seen, or not at all. */
static void works_in_homes(zb_store *store) {
    zb_error err;
    zb_object *object;
    zb_object_info info;
    set(store, "h/zarr.json", "{}");
    set(store, "h/c", "old");
    const zb_home home = {.identity = zb_store_identify(store, "h"), .length = 1};
    const zb_part part = {"new", 3};
    const zb_put put = {.key = "h/c", .parts = &part, .count = 1, .home = home};
    const zb_erase erase = {.key = "h/c", .home = home};
    const zb_open open = {.key = "h/c", .home = home};
    if (!home.identity)
        return;
    ASSERT_OK(zb_object_open_as(store, &open, &object, &info, &err), err);
    zb_object_close(object);
    ASSERT_OK(zb_store_put_as(store, &put, &err), err);
    ASSERT_OK(zb_store_erase_below(store, "h", &err), err);
    set(store, "h/zarr.json", "another");
    ASSERT_FAILS(zb_store_put_as(store, &put, &err), ZB_ECONFLICT, err, "h/c");
    assert_int_equal(err.sys_errno, ESTALE);
    set(store, "h/c", "theirs");
    ASSERT_FAILS(zb_store_erase_as(store, &erase, &err), ZB_ECONFLICT, err, "h/c");
    assert_holds(store, "h/c", "theirs");
}

static void erases(zb_store *store) {
    static const char *const keys[] = {"zarr.json", "a/x", "a/b/y", "a.b/x", "ab/x"};
    zb_error err;
    zb_object *object;
    zb_object_info info;
    ASSERT_OK(zb_store_erase_below(store, "", &err), err);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        set(store, keys[i], keys[i]);
    ASSERT_OK(zb_object_open(store, "a/x", &object, &info, &err), err);
    ASSERT_OK(zb_store_erase(store, "none", &err), err);
    ASSERT_OK(zb_store_erase(store, "a/b", &err), err); /* a prefix, not a key */
    assert_lists(store, "", "a.b/ a/ ab/ zarr.json ");
    ASSERT_OK(zb_store_erase_below(store, "a", &err), err);
    ASSERT_OK(zb_store_erase_below(store, "a", &err), err);
    assert_lists(store, "", "a.b/ ab/ zarr.json ");
    ASSERT_OK(zb_store_erase(store, "zarr.json", &err), err);
    assert_lists(store, "", "a.b/ ab/ ");
    char buffer[4] = "";
    zb_range range = {.length = 3, .buffer = buffer};
    ASSERT_OK(zb_object_read(object, &range, 1, &err), err);
    assert_string_equal(buffer, "a/x"); /* an open handle keeps its version */
    zb_object_close(object);
    ASSERT_FAILS(zb_store_erase(store, "..", &err), ZB_EINVAL, err, "key");
    ASSERT_FAILS(zb_store_erase_below(store, "a/", &err), ZB_EINVAL, err, "key");
    ASSERT_OK(zb_store_erase_below(store, "", &err), err);
    assert_lists(store, "", "");
    set(store, "again", "1");
    assert_holds(store, "again", "1");
}

/* A handle keeps its version; another version has another validator, or none. */
static void keeps_versions_apart(zb_store *store) {
    zb_error err;
    zb_object *object;
    zb_object_info before, after;
    char buffer[8] = "";
    zb_range range = {.length = 7, .buffer = buffer};
    set(store, "v", "old");
    ASSERT_OK(zb_object_open(store, "v", &object, &before, &err), err);
    set(store, "v", "newer");
    ASSERT_OK(zb_store_stat(store, "v", &after, &err), err);
    assert_false(zb_validator_same(&before.validator, &after.validator));
    ASSERT_OK(zb_object_read(object, &range, 1, &err), err);
    assert_string_equal(buffer, "old");
    zb_object_close(object);
}

static void change(zb_object *live, uint64_t offset, const char *text, bool is_end) {
    zb_error err;
    const zb_part part = {text, strlen(text)};
    ASSERT_OK(zb_object_change(live,
                               &(zb_change){.offset = offset,
                                            .parts = &part,
                                            .count = *text ? 1 : 0,
                                            .is_end = is_end,
                                            .sync = ZB_SYNC_ALWAYS},
                               &err),
              err);
}

static void changes_live_objects(zb_store *store) {
    zb_error err;
    zb_object *live;
    zb_object_info info;
    zb_lock *lock;
    char buffer[12] = "";
    zb_range range = {.length = 11, .buffer = buffer};
    const zb_open open = {.key = "l", .is_live = true};
    if (!zb_store_can_change(store))
        return;
    set(store, "l", "0123456789");
    ASSERT_OK(zb_store_lock(store, "l", &lock, &err), err);
    ASSERT_OK(zb_object_open_as(store, &open, &live, &info, &err), err);
    change(live, 2, "ab", false);
    change(live, 8, "YZ!", false);
    ASSERT_OK(zb_object_read(live, &range, 1, &err), err); /* it sees its own changes */
    assert_string_equal(buffer, "01ab4567YZ!");
    change(live, 6, "end", true);
    assert_holds(store, "l", "01ab45end");
    change(live, 4, "", true);
    assert_holds(store, "l", "01ab");
    change(live, 6, "", true);
    zb_object_close(live);
    zb_store_unlock(lock);
    ASSERT_OK(zb_store_stat(store, "l", &info, &err), err);
    assert_int_equal(info.size, 6);
}

/* Adds to a number under the lock of its key, by reading and writing it as text. */
static void *add_under_lock(void *argument) {
    zb_store *store = argument;
    for (int i = 0; i < 200; i++) {
        zb_lock *lock, *other;
        zb_error err;
        char *data, text[20];
        if (zb_store_lock(store, "n", &lock, &err) != ZB_OK ||
            fixture_get(store, "n", &data, &err) != ZB_OK)
            return argument;
        const int length = snprintf(text, sizeof text, "%d", atoi(data) + 1);
        free(data);
        if (zb_store_lock(store, "other", &other, &err) != ZB_OK) /* locks of keys are apart */
            return argument;
        zb_store_unlock(other);
        const zb_part part = {text, (size_t)length};
        if (zb_store_put(store, "n", &part, 1, ZB_SYNC_NONE, &err) != ZB_OK)
            return argument;
        zb_store_unlock(lock);
    }
    return NULL;
}

/* The last one is followed by a wait for all of them, which is over at once. */
static void locks_exclude_threads(zb_store *store) {
    pthread_t threads[4];
    zb_error err;
    set(store, "n", "0");
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_under_lock, store), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_holds(store, "n", "800");
    const zb_locking all = {.key = "", .only_waits = true};
    ASSERT_OK(zb_store_lock_as(store, &all, NULL, &err), err);
    zb_store_unlock(NULL);
}

/* One thread sets, others read: each sees a whole version. */
static void *read_versions(void *argument) {
    zb_store *store = zb_store_retain(argument);
    uintptr_t wrong = 0;
    for (int i = 0; i < 1000; i++) {
        char *data;
        zb_error err;
        if (fixture_get(store, "r", &data, &err) != ZB_OK) {
            wrong++;
            continue;
        }
        const size_t size = strlen(data);
        wrong += size < 1 || size > 9 || strspn(data, (char[]){data[0], 0}) != size ||
                 data[0] != (char)('0' + size);
        free(data);
    }
    zb_store_release(store);
    return (void *)wrong;
}

static void readers_see_whole_versions(zb_store *store) {
    pthread_t threads[3];
    set(store, "r", "1");
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_versions, store), 0);
    for (int i = 0; i < 1000; i++) {
        char text[10] = "";
        memset(text, '1' + i % 9, (size_t)(1 + i % 9));
        set(store, "r", text);
    }
    for (int i = 0; i < 3; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
}

/* Nothing of a killed writer is there, and nothing has been erased out of sight. */
static void sweeps(zb_store *store) {
    zb_error err;
    names n = {.count = 0};
    for (enum zb_sweep what = ZB_SWEEP_TELL; what <= ZB_SWEEP_ERASED; what++)
        ASSERT_OK(zb_store_sweep(store, "", what, add_name, &n, &err), err);
    assert_int_equal(n.count, 0);
}

/* ---- All of it ---- */

static void (*const reading[])(zb_store *store) = {opens, reads_ranges, answers_questions,
                                                   lists_names, lists_all_levels};
static void (*const writing[])(zb_store *store) = {puts_parts,
                                                   puts_what_waits,
                                                   asks_before_changes,
                                                   keeps_to_expectations,
                                                   works_in_homes,
                                                   erases,
                                                   keeps_versions_apart,
                                                   changes_live_objects,
                                                   sweeps,
                                                   locks_exclude_threads,
                                                   readers_see_whole_versions};

static void stores_that_are_read(void **state) {
    const fixture *f = *state;
    zb_store *mem = new_mem();
    for (size_t i = 0; i < OBJECTS; i++) {
        set(mem, objects[i], objects[i]);
        set(f->store, objects[i], objects[i]);
    }
    zb_store *stores[] = {mem, f->store, new_zip(f, mem)};
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        for (size_t test = 0; test < sizeof reading / sizeof *reading; test++)
            reading[test](stores[i]);
    }
    zb_store_release(stores[2]);
    zb_store_release(mem);
}

static void stores_that_are_written(void **state) {
    const fixture *f = *state;
    zb_store *stores[] = {new_mem(), f->store};
    for (size_t i = 0; i < sizeof stores / sizeof *stores; i++) {
        for (size_t test = 0; test < sizeof writing / sizeof *writing; test++)
            writing[test](stores[i]);
    }
    zb_store_release(stores[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {FIXTURE_TEST(stores_that_are_read),
                                       FIXTURE_TEST(stores_that_are_written)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
