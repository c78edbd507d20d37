/* SPDX-License-Identifier: MIT */
/* Files that stay open between reads: what they spare, that nothing else comes of it than of
   opening the file anew, and when they are closed. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fixture.h"
#include "support/check.h"
#include "support/clocks.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/sys/store.h"

enum { SIZE = 8192, MOST_KEPT = 16 };

static char *path_of(const fixture *f, const char *key, char path[512]) {
    snprintf(path, 512, "%s/%s", f->root, key);
    return path;
}

static void write_file(const fixture *f, const char *key, char fill, size_t size) {
    char data[2 * SIZE];
    memset(data, fill, sizeof data);
    check_write_file(f->root, key, data, size);
}

/* Opens the object, and reads its first byte: '\0' when there is none. */
static char read_first(const fixture *f, const char *key, uint64_t *size) {
    zb_error err;
    zb_object *object;
    zb_object_info info;
    char first = '\0';
    zb_range range = {.length = 1, .buffer = &first};
    enum zb_code code = zb_object_open(f->store, key, &object, &info, &err);
    *size = 0;
    if (code == ZB_ENOTFOUND)
        return '\0';
    ASSERT_OK(code, err);
    ASSERT_OK(zb_object_read(object, &range, 1, &err), err);
    zb_object_close(object);
    *size = info.size;
    return first;
}

static void assert_first(const fixture *f, const char *key, char expected, uint64_t size) {
    uint64_t found;
    assert_int_equal(read_first(f, key, &found), expected);
    assert_int_equal(found, size);
}

/* Makes a file "c/0" that has been read, and is kept. Returns how many descriptors were open
   before. */
static int begin(const fixture *f) {
    clocks_reset();
    write_file(f, "c/0", 'a', SIZE);
    clocks_let_files_age();
    const int before = check_descriptors();
    for (int i = 0; i < 3; i++)
        assert_first(f, "c/0", 'a', SIZE);
    assert_int_equal(check_descriptors(), before + 1);
    return before;
}

/* ---- What others do to the file -------------------------------------------------------------- */

static void a_file_in_its_place(void **state) {
    const fixture *f = *state;
    char from[512], to[512];
    begin(f);
    write_file(f, "new", 'b', SIZE);
    assert_int_equal(rename(path_of(f, "new", from), path_of(f, "c/0", to)), 0);
    assert_first(f, "c/0", 'b', SIZE);
    /* One that is as old, and whose predecessor has another name now. */
    write_file(f, "other", 'c', SIZE);
    clocks_let_files_age();
    assert_first(f, "c/0", 'b', SIZE);
    assert_int_equal(link(to, path_of(f, "linked", from)), 0);
    assert_int_equal(rename(path_of(f, "other", from), to), 0);
    assert_first(f, "c/0", 'c', SIZE);
}

static void other_bytes_in_it(void **state) {
    const fixture *f = *state;
    char path[512];
    begin(f);
    const int fd = open(path_of(f, "c/0", path), O_WRONLY);
    assert_int_equal(pwrite(fd, "z", 1, 0), 1);
    assert_first(f, "c/0", 'z', SIZE);
    assert_int_equal(ftruncate(fd, SIZE / 2), 0);
    close(fd);
    assert_first(f, "c/0", 'z', SIZE / 2);
}

static void none_in_its_place(void **state) {
    const fixture *f = *state;
    char from[512], to[512];
    begin(f);
    assert_int_equal(unlink(path_of(f, "c/0", from)), 0);
    assert_first(f, "c/0", '\0', 0);
    begin(f);
    assert_int_equal(rename(path_of(f, "c", from), path_of(f, "away", to)), 0);
    assert_first(f, "c/0", '\0', 0);
    assert_int_equal(mkdir(from, 0777), 0);
    write_file(f, "c/0", 'n', SIZE);
    assert_first(f, "c/0", 'n', SIZE);
    assert_first(f, "away/0", 'a', SIZE);
}

/* ---- What this program does ------------------------------------------------------------------ */

static void own_changes_close_it(void **state) {
    const fixture *f = *state;
    zb_error err;
    int before = begin(f);
    fixture_must_put(f->store, "c/0", "put", PUT_LATER);
    assert_int_equal(check_descriptors(), before);
    assert_holds(f->store, "c/0", "put");
    before = begin(f);
    ASSERT_OK(zb_store_erase(f->store, "c/0", &err), err);
    assert_int_equal(check_descriptors(), before);
    before = begin(f);
    ASSERT_OK(zb_store_erase_below(f->store, "c", &err), err);
    assert_int_equal(check_descriptors(), before);
    assert_first(f, "c/0", '\0', 0);
    before = begin(f);
    zb_cache_clear();
    assert_int_equal(check_descriptors(), before);
}

/* By its old name nobody finds it any more. */
static void a_move_closes_it(void **state) {
    const fixture *f = *state;
    zb_error err;
    const int before = begin(f);
    ASSERT_OK(zb_store_rename(f->store, "c", "moved", &err), err);
    assert_int_equal(check_descriptors(), before);
    assert_first(f, "moved/0", 'a', SIZE);
}

/* What waits for a flush is read, and not the file that is still there. */
static void objects_that_wait_go_first(void **state) {
    const fixture *f = *state;
    zb_error err;
    begin(f);
    fixture_must_put(f->store, "c/0", "put", PUT_WAITS);
    assert_holds(f->store, "c/0", "put");
    ASSERT_OK(zb_store_flush(f->store, &err), err);
    assert_holds(f->store, "c/0", "put");
}

/* An object that is open stays what it is. */
static void open_objects_stay_as_they_are(void **state) {
    const fixture *f = *state;
    zb_error err;
    zb_object *object;
    zb_object_info info;
    char first = '\0';
    zb_range range = {.length = 1, .buffer = &first};
    const int before = begin(f);
    ASSERT_OK(zb_object_open(f->store, "c/0", &object, &info, &err), err);
    fixture_must_put(f->store, "c/0", "put", PUT_LATER);
    assert_holds(f->store, "c/0", "put");
    ASSERT_OK(zb_object_read(object, &range, 1, &err), err);
    assert_int_equal(first, 'a');
    zb_object_close(object);
    assert_int_equal(check_descriptors(), before);
}

/* ---- Forks ----------------------------------------------------------------------------------- */

static atomic_bool is_over;

static void *clear_again_and_again(void *unused) {
    while (!atomic_load(&is_over))
        zb_cache_clear();
    return unused;
}

static void put_in_child(void *context) {
    const fixture *f = context;
    alarm(300); /* ends the child where it waits for ever */
    fixture_must_put(f->store, "c/0", "put", PUT_LATER);
}

static void fork_while_nothing_was_kept(void *context) {
    pthread_t thread;
    CHILD_CHECK(pthread_create(&thread, NULL, clear_again_and_again, NULL) == 0, "a thread");
    for (int i = 0; CHECK_FORKS_WHILE_BUSY && i < 200; i++)
        CHILD_CHECK(check_in_child(put_in_child, context, NULL, NULL), "fork %d", i);
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
}

/* The first test: later ones have kept files, so that the process knows of the lock. */
static void children_change_objects_of_a_process_that_kept_none(void **state) {
    assert_true(check_in_child(fork_while_nothing_was_kept, *state, NULL, NULL));
}

/* ---- How many stay open ---------------------------------------------------------------------- */

static void few_stay_open(void **state) {
    fixture *f = *state;
    char key[20];
    for (int i = 0; i < 150; i++) {
        snprintf(key, sizeof key, "d/%d", i);
        write_file(f, key, (char)(' ' + i % 90), SIZE);
    }
    write_file(f, "small", 's', 100);
    clocks_let_files_age();
    const int before = check_descriptors();
    for (int i = 0; i < 3; i++)
        assert_first(f, "small", 's', 100);
    for (int i = 0; i < 300; i++) { /* the first hundred files are opened once each */
        snprintf(key, sizeof key, "d/%d", i < 100 ? i : i / 2);
        assert_first(f, key, (char)(' ' + (i < 100 ? i : i / 2) % 90), SIZE);
        assert_true(i >= 100 || check_descriptors() == before);
    }
    assert_int_equal(check_descriptors(), before + MOST_KEPT);
    zb_hierarchy_release(f->hierarchy); /* with the root's own */
    assert_int_equal(check_descriptors(), before - 1);
    fixture_open(f);
}

static void they_give_way_where_descriptors_lack(void **state) {
    const fixture *f = *state;
    struct rlimit limit;
    write_file(f, "c/1", 'b', SIZE);
    begin(f);
    const int next = dup(0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const struct rlimit few = {.rlim_cur = (rlim_t)next, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    uint64_t size;
    const char first = read_first(f, "c/1", &size);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(first, 'b');
}

/* Two files are kept, and so many descriptors are free. */
static void act_with_few(const fixture *f, int more, void (*act)(const fixture *f, zb_error *err)) {
    struct rlimit limit;
    zb_error err = {.code = ZB_OK};
    const int before = begin(f);
    for (int i = 0; i < 3; i++)
        assert_first(f, "second", 's', SIZE);
    assert_int_equal(check_descriptors(), before + 2);
    const int next = dup(0);
    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const struct rlimit few = {.rlim_cur = (rlim_t)(next + more), .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    act(f, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    if (err.code)
        fail_msg("with %d descriptors more: %s", more, err.message);
    assert_int_equal(check_descriptors(), before);
}

static void put(const fixture *f, zb_error *err) {
    (void)fixture_put(f->store, "c/1", "put", PUT_LATER, err);
}

static void take_lock(const fixture *f, zb_error *err) {
    zb_lock *lock;
    if (zb_store_lock(f->store, "c/1", &lock, err) == ZB_OK)
        zb_store_unlock(lock);
}

static void change_in_place(const fixture *f, zb_error *err) {
    zb_object *object;
    zb_object_info info;
    const zb_open opening = {.key = "third", .is_live = true};
    if (zb_object_open_as(f->store, &opening, &object, &info, err) == ZB_OK)
        zb_object_close(object);
}

/* A put takes three: of the directory, of the file, and a copy of that to ask whether all is well.
   A lock, and a file that is changed in place, take two. */
static void they_give_way_to_changes(void **state) {
    const fixture *f = *state;
    write_file(f, "second", 's', SIZE);
    write_file(f, "third", 't', SIZE);
    act_with_few(f, 2, put);
    act_with_few(f, 1, put);
    act_with_few(f, 1, take_lock);
    act_with_few(f, 1, change_in_place);
}

static void read_in_child(void *context) {
    const fixture *f = context;
    uint64_t size;
    CHILD_CHECK(read_first(f, "c/0", &size) == 'a', "in the child");
}

static void children_read_them(void **state) {
    const fixture *f = *state;
    begin(f);
    assert_true(check_in_child(read_in_child, *state, NULL, NULL));
    assert_first(f, "c/0", 'a', SIZE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(children_change_objects_of_a_process_that_kept_none),
        FIXTURE_TEST(a_file_in_its_place),
        FIXTURE_TEST(other_bytes_in_it),
        FIXTURE_TEST(none_in_its_place),
        FIXTURE_TEST(own_changes_close_it),
        FIXTURE_TEST(a_move_closes_it),
        FIXTURE_TEST(objects_that_wait_go_first),
        FIXTURE_TEST(open_objects_stay_as_they_are),
        FIXTURE_TEST(few_stay_open),
        FIXTURE_TEST(they_give_way_where_descriptors_lack),
        FIXTURE_TEST(they_give_way_to_changes),
        FIXTURE_TEST(children_read_them),
    };
    return cmocka_run_group_tests_name("store/fs_kept", tests, NULL, NULL);
}
