/* SPDX-License-Identifier: MIT */
/* A file system that several machines use, of which this one knows what it has seen lately. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fixture.h"
#include "store/fs_path.h"
#include "store/fs_store.h"
#include "store/outdated.h"
#include "zarrbridge/change.h"
#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/sys/staging.h"
#include "zarrbridge/write.h"

/* ---- Stores ---- */

static void set_reach(const fixture *f, enum zb__fs_reach reach) {
    ((zb__fs *)f->store)->reach = reach;
}

static int set_up(void **state) {
    memset(&outdated_now, 0, sizeof outdated_now);
    fixture_set_up(state);
    set_reach(*state, ZB__FS_SHARED);
    return 0;
}

#define SHARED_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, fixture_tear_down)

static ino_t number_of(const fixture *f, const char *path) {
    char whole[600];
    struct stat st;
    snprintf(whole, sizeof whole, "%s/%s", f->root, path);
    assert_int_equal(stat(whole, &st), 0);
    return st.st_ino;
}

/* The name in the directory was made by another machine, and this one does not know. */
static void hide(const fixture *f, const char *directory, const char *name) {
    outdated_now.directory = number_of(f, directory);
    snprintf(outdated_now.name, sizeof outdated_now.name, "%s", name);
}

static bool exists(const fixture *f, const char *path) {
    char whole[600];
    snprintf(whole, sizeof whole, "%s/%s", f->root, path);
    return access(whole, F_OK) == 0;
}

static zb_home home_of(const fixture *f, const char *prefix) {
    return (zb_home){.identity = zb_store_identify(f->store, prefix), .length = strlen(prefix)};
}

/* ---- Reading ---- */

static int note_holds(void *context, const zb_list_entry *entry) {
    *(bool *)context |= entry->holds;
    return 0;
}

/* What is asked of an object of the array at "a/b": true if it is found. */
static bool is_opened(const fixture *f) {
    zb_object *object;
    zb_object_info info;
    zb_error err;
    const enum zb_code code = zb_object_open(f->store, "a/b/c/0", &object, &info, &err);
    if (!code)
        zb_object_close(object);
    return !code;
}

static bool is_opened_in(const fixture *f) {
    const ino_t hidden = outdated_now.directory;
    outdated_now.directory = 0;
    const zb_open opening = {.key = "a/b/c/0", .home = home_of(f, "a/b")};
    outdated_now.directory = hidden;
    zb_object *object;
    zb_object_info info;
    zb_error err;
    const enum zb_code code = zb_object_open_as(f->store, &opening, &object, &info, &err);
    if (!code)
        zb_object_close(object);
    return !code;
}

static bool has_stat(const fixture *f) {
    zb_object_info info;
    return zb_store_stat(f->store, "a/b/c/0", &info, NULL) == ZB_OK;
}

static bool is_peeked(const fixture *f) {
    zb_probe probe = {.asks = ZB_ASK_NAME, .name = "a/b/c/0"};
    return zb_store_probe(f->store, &probe, NULL) == ZB_OK;
}

static bool is_not_lacked(const fixture *f) {
    const ino_t hidden = outdated_now.directory;
    outdated_now.directory = 0;
    const zb_home home = home_of(f, "a/b");
    outdated_now.directory = hidden;
    const char *const keys[] = {"a/b/none/0", "a/b/none/1", "a/b/c/0"};
    return !zb_store_confirm_absent(f->store, "a/b", home.identity, keys, 3);
}

static bool is_there(const fixture *f) {
    return !zb_store_is_absent(f->store, "a/b/c/0");
}

static bool is_held(const fixture *f) {
    static const char *const objects[] = {"0", NULL};
    bool holds = false;
    zb_error err;
    const zb_list list = {.prefix = "a/b", .objects = objects};
    ASSERT_OK(zb_store_list_as(f->store, &list, note_holds, &holds, &err), err);
    return holds;
}

typedef bool (*question)(const fixture *f);
static const question questions[] = {is_opened, is_opened_in,  has_stat, is_peeked,
                                     is_there,  is_not_lacked, is_held};
#define QUESTIONS (sizeof questions / sizeof *questions)

/* A name that is not known of is looked for at the server before it counts as missing: it must not
   become fill values. */
static void missing_names_are_looked_for_again(void **state) {
    const fixture *f = *state;
    static const char *const hidden[][2] = {{"a/b/c", "0"}, {"a/b", "c"}};
    fixture_must_put(f->store, "a/b/c/0", "1", PUT_LATER);
    for (size_t i = 0; i < QUESTIONS; i++) {
        for (int h = 0; h < 2; h++) {
            if (questions[i] == is_held && h == 1)
                continue; /* listings come from the directory itself */
            hide(f, hidden[h][0], hidden[h][1]);
            assert_true(questions[i](f));
            assert_int_equal(outdated_now.directory, 0);
        }
    }
    fixture_must_put(f->store, "a/b/c/1", "1", PUT_LATER);
    zb_error err;
    ASSERT_OK(zb_store_erase(f->store, "a/b/c/0", &err), err);
    for (size_t i = 0; i < QUESTIONS; i++)
        assert_false(questions[i](f));
}

/* Where names are as they are seen, the server is not asked, by nobody. */
static void local_stores_ask_nothing_more(void **state) {
    const fixture *f = *state;
    zb_error err;
    zb_lock *lock;
    for (int reach = ZB__FS_LOCAL; reach <= ZB__FS_NODE; reach++) {
        set_reach(f, (enum zb__fs_reach)reach);
        fixture_must_put(f->store, "a/b/c/0", "1", PUT_NOW);
        outdated_now.forced = 0;
        for (size_t i = 0; i < QUESTIONS; i++) {
            hide(f, "a/b/c", "0");
            assert_false(questions[i](f)); /* the seam works */
            outdated_now.directory = 0;
        }
        ASSERT_OK(zb_store_lock(f->store, "a/b/c/0", &lock, &err), err);
        fixture_must_put(f->store, "a/b/c/0", "2", PUT_WAITS);
        zb_store_unlock(lock);
        ASSERT_OK(zb_store_lock(f->store, "zarr.json", &lock, &err), err);
        fixture_must_put(f->store, "a/zarr.json", "{}", PUT_LATER);
        zb_store_unlock(lock);
        ASSERT_OK(zb_store_flush(f->store, &err), err);
        assert_int_equal(outdated_now.forced, 0);
        int ours;
        fixture_files(f->root, &ours);
        assert_int_equal(ours, 0);
    }
}

/* What is known of a file is asked for again where a version is compared. */
static void stats_are_new(void **state) {
    const fixture *f = *state;
    static const enum zb_question asks[] = {ZB_ASK_INFO, ZB_ASK_INFO_AGAIN};
    zb_error err;
    fixture_must_put(f->store, "zarr.json", "{}", PUT_LATER);
    for (int i = 0; i < 2; i++) {
        zb_probe probe = {.asks = asks[i], .name = "zarr.json"};
        outdated_now.file = number_of(f, "zarr.json");
        outdated_now.old_size = 17;
        ASSERT_OK(zb_store_probe(f->store, &probe, &err), err);
        assert_int_equal(probe.info.size, 2);
    }
}

/* ---- Locks ---- */

/* A lock file stays, and with the lock comes what others have done in its directory. */
static void lock_files_stay(void **state) {
    const fixture *f = *state;
    zb_error err;
    zb_lock *lock;
    for (int i = 0; i < 3; i++) {
        memset(outdated_now.log, 0, sizeof outdated_now.log);
        ASSERT_OK(zb_store_lock(f->store, "a/k", &lock, &err), err);
        assert_non_null(strstr(outdated_now.log, "LF"));
        zb_store_unlock(lock);
        ASSERT_OK(zb_store_lock(f->store, "zarr.json", &lock, &err), err);
        zb_store_unlock(lock);
        ASSERT_OK(zb_store_flush(f->store, &err), err);
        assert_null(strchr(outdated_now.log, 'U'));
        assert_true(exists(f, "a/.k.zb-lock"));
        assert_true(exists(f, ".zarr.json.zb-lock"));
    }
    zb_store *other;
    ASSERT_OK(zb_store_open_fs(f->root, &other, &err), err);
    ((zb__fs *)other)->reach = ZB__FS_SHARED;
    ASSERT_OK(zb_store_lock(other, "zarr.json", &lock, &err), err);
    zb_store_unlock(lock);
    zb_store_release(other);
    assert_true(exists(f, ".zarr.json.zb-lock"));
}

static int count_one(void *context, const zb_list_entry *entry) {
    (void)entry;
    ++*(int *)context;
    return 0;
}

/* Neither repair nor verify takes them for left over, however old they are. They go with their
   directories, and with a store that is deleted. */
static void lock_files_go_with_their_directory(void **state) {
    const fixture *f = *state;
    static const char *const keys[] = {"a/k", "0.0", "zarr.json"};
    const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    zb_error err;
    zb_lock *lock;
    int found = 0, ours;
    fixture_must_put(f->store, "zarr.json", "{}", PUT_LATER);
    fixture_must_put(f->store, "a/k", "1", PUT_LATER);
    for (int i = 0; i < 3; i++) {
        ASSERT_OK(zb_store_lock(f->store, keys[i], &lock, &err), err);
        zb_store_unlock(lock);
    }
    char path[600];
    snprintf(path, sizeof path, "%s/a/.k.zb-lock", f->root);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    ASSERT_OK(zb_store_sweep(f->store, "a", ZB_SWEEP_REMOVE, count_one, &found, &err), err);
    ASSERT_OK(zb_store_sweep(f->store, "", ZB_SWEEP_REMOVE, count_one, &found, &err), err);
    assert_int_equal(found, 0);
    fixture_files(f->root, &ours);
    assert_int_equal(ours, 3);
    ASSERT_OK(zb_store_erase_below(f->store, "a", &err), err);
    fixture_files(f->root, &ours);
    assert_int_equal(ours, 2);
    ASSERT_OK(zb_store_lock(f->store, "zarr.json", &lock, &err), err);
    ASSERT_OK(zb_store_erase_below(f->store, "", &err), err);
    zb_store_unlock(lock);
    assert_int_equal(fixture_files(f->root, &ours), 0);
}

/* A store that nobody else knows is removed without its lock, as that of a new archive. */
static void stores_aside_leave_nothing(void **state) {
    const fixture *f = *state;
    char path[600];
    zb_staging staging;
    zb_store *store;
    zb_lock *lock;
    zb_error err;
    snprintf(path, sizeof path, "%s/x", f->root);
    ASSERT_OK(zb_staging_make(path, true, &staging, &err), err);
    ASSERT_OK(zb_store_open_fs(staging.path, &store, &err), err);
    ((zb__fs *)store)->reach = ZB__FS_SHARED;
    ASSERT_OK(zb_store_lock(store, "zarr.json", &lock, &err), err);
    zb_store_unlock(lock);
    ASSERT_OK(zb_store_erase_below(store, "", &err), err);
    zb_store_release(store);
    assert_int_equal(rmdir(staging.path), 0);
    zb_staging_close(&staging);
}

/* A lock file follows the rights of its directory: it is there when they change. */
static void lock_files_follow_rights(void **state) {
    const fixture *f = *state;
    static const mode_t rows[][2] = {{0700, 0600}, {0775, 0664}, {0755, 0644}};
    char path[600];
    struct stat st;
    zb_lock *lock;
    zb_error err;
    snprintf(path, sizeof path, "%s/.k.zb-lock", f->root);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(chmod(f->root, rows[i][0]), 0);
        ASSERT_OK(zb_store_lock(f->store, "k", &lock, &err), err);
        zb_store_unlock(lock);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, rows[i][1]);
    }
}

static void sweep_alone(void *context) {
    zb_store *store;
    zb_error err;
    int found = 0;
    CHILD_CHECK(zb_store_open_fs(context, &store, &err) == ZB_OK, "%s", err.message);
    ((zb__fs *)store)->is_remote = true;
    CHILD_CHECK(zb_store_sweep(store, "a", ZB_SWEEP_REMOVE, count_one, &found, &err) == ZB_OK, "%s",
                err.message);
    CHILD_CHECK(found == 1, "%d", found);
    zb_store_release(store);
}

/* A user who is alone gets rid of them. */
static void who_is_alone_removes_lock_files(void **state) {
    (void)state;
    char *root = check_new_directory();
    int ours;
    check_write_file(root, "a/.k.zb-lock", "", 0);
    assert_true(check_in_child(sweep_alone, root, "ZARRBRIDGE_LOCKS", "none"));
    fixture_files(root, &ours);
    assert_int_equal(ours, 0);
    check_remove_directory(root);
}

/* Those who wait ask in turns of their own: nobody is told by the server that the lock is free. */
static void waiting_is_asking_again(void **state) {
    const fixture *f = *state;
    enum { DENIALS = 40 };
    zb_error err;
    zb_lock *lock;
    outdated_now.denials = DENIALS;
    ASSERT_OK(zb_store_lock(f->store, "a/k", &lock, &err), err);
    zb_store_unlock(lock);
    assert_int_equal(outdated_now.paused, DENIALS);
    unsigned differ = 0;
    for (int i = 0; i < DENIALS; i++) {
        assert_in_range(outdated_now.pauses[i], 1000000, 50000000);
        differ += i > 10 && outdated_now.pauses[i] != outdated_now.pauses[i - 1];
    }
    assert_true(differ > DENIALS / 2);
}

/* Whoever changes documents sees all of them as they are, also in directories that were moved. */
static void changes_see_what_is_there(void **state) {
    const fixture *f = *state;
    zb_error err;
    zb_lock *lock;
    fixture_must_put(f->store, "g/a/zarr.json", "{}", PUT_LATER);
    ASSERT_OK(zb_store_lock(f->store, "zarr.json", &lock, &err), err);
    outdated_now.forced = 0;
    assert_holds(f->store, "g/a/zarr.json", "{}");
    assert_int_equal(outdated_now.forced, 3); /* root, g, a: though nothing was missed */
    outdated_now.forced = 0;
    fixture_must_put(f->store, "g/a/zarr.json", "[]", PUT_LATER);
    assert_true(outdated_now.forced >= 2);
    zb_store_unlock(lock);
    outdated_now.forced = 0;
    assert_holds(f->store, "g/a/zarr.json", "[]");
    assert_int_equal(outdated_now.forced, 0); /* reading alone does not ask for what it finds */
}

/* ---- Putting ---- */

static void renames_are_tried_again(void **state) {
    const fixture *f = *state;
    static const int errors[] = {ETXTBSY, EBUSY, ESTALE};
    zb_error err;
    for (int i = 0; i < 3; i++) {
        outdated_now.rename_error = errors[i];
        outdated_now.rename_failures = 9;
        ASSERT_OK(fixture_put(f->store, "a/k", "1", PUT_LATER, &err), err);
        outdated_now.rename_failures = 9;
        ASSERT_OK(fixture_put(f->store, "a/k", "2", PUT_WAITS, &err), err);
        ASSERT_OK(zb_store_flush(f->store, &err), err);
        assert_int_equal(outdated_now.rename_failures, 0);
        assert_holds(f->store, "a/k", "2");
        /* An end, of which the writer is told. */
        outdated_now.rename_failures = 1000;
        assert_int_not_equal(fixture_put(f->store, "a/k", "3", PUT_LATER, &err), ZB_OK);
        assert_int_equal(outdated_now.rename_failures, 990);
        outdated_now.rename_failures = 0;
        assert_holds(f->store, "a/k", "2");
    }
    outdated_now.rename_error = EIO; /* that is no reason */
    outdated_now.rename_failures = 1;
    ASSERT_FAILS(fixture_put(f->store, "a/k", "3", PUT_LATER, &err), ZB_EIO, err, "a/k");
    set_reach(f, ZB__FS_LOCAL);
    outdated_now.rename_error = EBUSY;
    outdated_now.rename_failures = 2;
    assert_int_not_equal(fixture_put(f->store, "a/k", "3", PUT_LATER, &err), ZB_OK);
    assert_int_equal(outdated_now.rename_failures, 1);
    outdated_now.rename_failures = 0;
}

static enum zb_code allow(void *context, const char *key, zb_error *err) {
    (void)context;
    (void)key;
    (void)err;
    return ZB_OK;
}

/* Whether the directory still is at its path is no question for this machine's memory. */
static void the_last_look_is_new(void **state) {
    const fixture *f = *state;
    zb_batch batch;
    zb_error err;
    zb_batch_begin(&batch, f->store, allow, NULL);
    ASSERT_OK(fixture_put_as(f->store, &batch, "a/k", "1", PUT_LATER, &err), err);
    zb_batch_end(&batch);
    assert_non_null(strstr(outdated_now.log, "RF"));
}

/* Temporary files are neither locked nor swept by writers; repair takes old ones. */
static void temporary_files_are_left_to_repair(void **state) {
    const fixture *f = *state;
    const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    zb_error err;
    char name[NAME_MAX + 1], key[300], left[600];
    fixture_must_put(f->store, "a/k", "1", PUT_LATER);
    zb__fs_temp_name("k", name); /* of this kernel */
    snprintf(key, sizeof key, "a/%s", name);
    snprintf(left, sizeof left, "%s/%s", f->root, key);
    memset(outdated_now.log, 0, sizeof outdated_now.log);
    fixture_must_put(f->store, "a/k", "2", PUT_LATER);
    assert_null(strchr(outdated_now.log, 'L'));
    check_write_file(f->root, key, "x", 1); /* left by a process that was killed */
    fixture_must_put(f->store, "a/k", "3", PUT_LATER);
    int found = 0;
    ASSERT_OK(zb_store_sweep(f->store, "a", ZB_SWEEP_REMOVE, count_one, &found, &err), err);
    assert_int_equal(found, 0); /* its writer may be alive, here as elsewhere */
    assert_int_equal(utimensat(AT_FDCWD, left, old, 0), 0);
    zb_store *other; /* its first put into the directory */
    ASSERT_OK(zb_store_open_fs(f->root, &other, &err), err);
    ((zb__fs *)other)->reach = ZB__FS_SHARED;
    fixture_must_put(other, "a/k", "4", PUT_LATER);
    zb_store_release(other);
    assert_int_equal(access(left, F_OK), 0);
    ASSERT_OK(zb_store_sweep(f->store, "a", ZB_SWEEP_REMOVE, count_one, &found, &err), err);
    assert_int_equal(found, 1);
    assert_int_not_equal(access(left, F_OK), 0);
}

/* ---- Locks that keep out one machine alone ---- */

static const zb_dtype byte_type = {.kind = ZB_KIND_UINT, .size = 1};

static enum zb_code store_elements(const zb_node *node, uint64_t count, bool without_lock,
                                   zb_error *err) {
    const uint64_t start = 0;
    const int64_t stride = 0;
    const uint8_t value = 7;
    const zb_write_options options = {.without_lock = without_lock};
    zb_write write = {
        .start = &start, .count = &count, .data = &value, .dtype = byte_type, .strides = &stride};
    zb_writer *writer;
    ASSERT_OK(zb_writer_open(node, &options, &writer, err), *err);
    enum zb_code code = zb_writer_write(writer, &write, err);
    code = code ? code : zb_writer_flush(writer, err);
    zb_error other;
    (void)zb_writer_close(writer, &other);
    return code;
}

/* Whole chunks and documents are written; parts of chunks are refused, with a way out. */
static void write_on_a_node(void *context) {
    const uint64_t shape = 8, chunk = 4;
    const uint8_t fill = 0;
    const zb_array_spec spec = {.ndim = 1,
                                .shape = &shape,
                                .inner_shape = &chunk,
                                .dtype = byte_type,
                                .fill_value = &fill,
                                .codecs = "[]"};
    const bool many = context != NULL;
    char *root = check_new_directory();
    zb_hierarchy *hierarchy;
    zb_node *node;
    zb_error err;
    ASSERT_OK(zb_hierarchy_open(root, &hierarchy, &err), err);
    assert_int_equal(((zb__fs *)zb_hierarchy_store(hierarchy))->reach, ZB__FS_NODE);
    ASSERT_OK(zb_array_create(hierarchy, "a", &spec, &node, &err), err);
    ASSERT_OK(store_elements(node, 4, false, &err), err);
    if (many) {
        ASSERT_FAILS(store_elements(node, 3, false, &err), ZB_ECONFLICT, err,
                     "ZARRBRIDGE_MACHINES=one");
        ASSERT_FAILS(store_elements(node, 3, false, &err), ZB_ECONFLICT, err, "write whole chunks");
        ASSERT_OK(store_elements(node, 3, true, &err), err);
    } else {
        ASSERT_OK(store_elements(node, 3, false, &err), err);
    }
    zb_node_release(node);
    zb_hierarchy_release(hierarchy);
    check_remove_directory(root);
}

static void write_on_one(void *context) {
    (void)context;
    setenv("ZARRBRIDGE_LOCKS", "node", 1);
    write_on_a_node(NULL);
}

static void write_on_many(void *context) {
    setenv("ZARRBRIDGE_LOCKS", "node", 1);
    write_on_a_node(context);
}

static void locks_of_one_machine_keep_out_no_other(void **state) {
    (void)state;
    unsetenv("ZARRBRIDGE_MACHINES");
    assert_true(check_in_child(write_on_one, NULL, "SLURM_JOB_NUM_NODES", "1"));
    assert_true(check_in_child(write_on_many, &outdated_now, "SLURM_JOB_NUM_NODES", "2"));
    assert_true(check_in_child(write_on_many, &outdated_now, "ZARRBRIDGE_MACHINES", "many"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        /* before this process reads the environment */
        cmocka_unit_test(locks_of_one_machine_keep_out_no_other),
        cmocka_unit_test(who_is_alone_removes_lock_files),
        SHARED_TEST(missing_names_are_looked_for_again),
        SHARED_TEST(local_stores_ask_nothing_more),
        SHARED_TEST(stats_are_new),
        SHARED_TEST(lock_files_stay),
        SHARED_TEST(lock_files_go_with_their_directory),
        SHARED_TEST(stores_aside_leave_nothing),
        SHARED_TEST(lock_files_follow_rights),
        SHARED_TEST(waiting_is_asking_again),
        SHARED_TEST(changes_see_what_is_there),
        SHARED_TEST(renames_are_tried_again),
        SHARED_TEST(the_last_look_is_new),
        SHARED_TEST(temporary_files_are_left_to_repair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
