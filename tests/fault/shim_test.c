/* SPDX-License-Identifier: MIT */
/* The conditions of the shim themselves, on which other tests rely. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "shim_conditions.h"
#include "world.h"

static char *place;
static char inside[256], outside[256]; /* a file below the directory, and one beside it */

static int open_file(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    assert_true(fd >= 0);
    return fd;
}

static void set(shim_conditions conditions) {
    char below[256];
    snprintf(below, sizeof below, "%s/d", place);
    shim_set_conditions(&conditions, below);
}

static int make_files(void **state) {
    (void)state;
    char below[256];
    snprintf(below, sizeof below, "%s/d", place);
    mkdir(below, 0777);
    snprintf(inside, sizeof inside, "%s/d/file", place);
    snprintf(outside, sizeof outside, "%s/file", place);
    close(open_file(inside));
    close(open_file(outside));
    return 0;
}

static int reset(void **state) {
    (void)state;
    set((shim_conditions){.lock_error = 0});
    return 0;
}

/* ---- Clocks ------------------------------------------------------------------------------- */

static const struct timespec odd = {.tv_sec = 1700000001, .tv_nsec = 123456789};

static void check_time(struct timespec t, time_t second, long nanosecond) {
    assert_int_equal(t.tv_sec, second);
    assert_int_equal(t.tv_nsec, nanosecond);
}

static void check_times(const char *path, time_t second, long nanosecond) {
    struct stat st;
    struct statx stx;
    int fd = open_file(path);
    assert_int_equal(stat(path, &st), 0);
    check_time(st.st_mtim, second, nanosecond);
    assert_int_equal(lstat(path, &st), 0);
    check_time(st.st_mtim, second, nanosecond);
    assert_int_equal(fstat(fd, &st), 0);
    check_time(st.st_mtim, second, nanosecond);
    assert_int_equal(fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW), 0);
    check_time(st.st_mtim, second, nanosecond);
    assert_int_equal(statx(AT_FDCWD, path, 0, STATX_MTIME, &stx), 0);
    assert_int_equal(stx.stx_mtime.tv_sec, second);
    assert_int_equal(stx.stx_mtime.tv_nsec, nanosecond);
    close(fd);
}

static void test_clock(void **state) {
    (void)state;
    const struct timespec times[2] = {odd, odd};
    struct stat st;
    assert_int_equal(utimensat(AT_FDCWD, inside, times, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, outside, times, 0), 0);
    check_times(inside, odd.tv_sec, odd.tv_nsec);
    set((shim_conditions){.clock_seconds = 1});
    check_times(inside, odd.tv_sec, 0);
    assert_int_equal(stat(inside, &st), 0);
    assert_int_equal(st.st_ctim.tv_nsec, 0);
    set((shim_conditions){.clock_seconds = 2});
    check_times(inside, odd.tv_sec - 1, 0);
    check_times(outside, odd.tv_sec, odd.tv_nsec);
}

/* Also for programs without the shim. */
static void test_setting_times(void **state) {
    (void)state;
    const struct timespec times[2] = {odd, odd};
    int fd = open_file(inside);
    set((shim_conditions){.clock_seconds = 1});
    assert_int_equal(futimens(fd, times), 0);
    set((shim_conditions){.clock_seconds = 0});
    check_times(inside, odd.tv_sec, 0);
    set((shim_conditions){.clock_seconds = 2});
    assert_int_equal(utimensat(AT_FDCWD, inside, times, 0), 0);
    set((shim_conditions){.clock_seconds = 0});
    check_times(inside, odd.tv_sec - 1, 0);
    close(fd);
}

/* ---- Locks -------------------------------------------------------------------------------- */

static int lock(int fd) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &whole) == 0 ? 0 : errno;
}

static void test_refused_locks(void **state) {
    (void)state;
    int in = open_file(inside), out = open_file(outside);
    static const int errors[] = {ENOLCK, ENOSYS, 524};
    for (size_t i = 0; i < 3; i++) {
        set((shim_conditions){.lock_error = errors[i]});
        assert_int_equal(lock(in), errors[i]);
        assert_int_equal(lock(out), 0);
    }
    set((shim_conditions){.lock_error = 0});
    assert_int_equal(lock(in), 0);
    close(in);
    close(out);
}

static void read_boot_id(char text[64]) {
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t length = read(fd, text, 63);
    assert_true(length > 30);
    text[length] = '\0';
    close(fd);
}

static void test_nodes(void **state) {
    (void)state;
    char first_id[64], second_id[64];
    int first = open_file(inside), neighbour = open_file(inside), distant = open_file(inside);
    set((shim_conditions){.lock_node = 1});
    read_boot_id(first_id);
    assert_int_equal(lock(first), 0);
    assert_int_equal(lock(neighbour), EAGAIN);
    set((shim_conditions){.lock_node = 2});
    read_boot_id(second_id);
    assert_int_equal(lock(distant), 0);
    assert_int_equal(lock(neighbour), EAGAIN);
    assert_string_not_equal(first_id, second_id);
    close(first);
    close(neighbour);
    close(distant);
}

/* ---- Renames ------------------------------------------------------------------------------ */

/* Makes the file that is awaited, when the other thread waits for it. */
static void *let_go(void *renaming) {
    assert_true(check_await_sleep(renaming));
    assert_int_not_equal(access(outside, F_OK), 0);
    assert_int_equal(access(inside, F_OK), 0); /* not yet renamed */
    close(open_file(outside));
    return NULL;
}

static void test_renames_wait(void **state) {
    (void)state;
    char below[256], target[256];
    snprintf(below, sizeof below, "%s/d", place);
    snprintf(target, sizeof target, "%s/d/target", place);
    int directory = open(below, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    atomic_int renaming = gettid();
    for (int form = 0; form < 3; form++) {
        pthread_t thread;
        make_files(NULL);
        unlink(outside);
        shim_set_conditions(&(shim_conditions){.until = outside}, target);
        assert_int_equal(pthread_create(&thread, NULL, let_go, &renaming), 0);
        assert_int_equal(form == 0   ? rename(inside, target)
                         : form == 1 ? renameat(directory, "file", directory, "target")
                                     : renameat2(directory, "file", directory, "target", 0),
                         0);
        assert_int_equal(access(outside, F_OK), 0);
        pthread_join(thread, NULL);
        unlink(outside);
        /* Onto another name it does not wait. */
        assert_int_equal(renameat(directory, "target", directory, "file"), 0);
    }
    close(directory);
}

int main(void) {
    place = world_new_place();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_clock, make_files, reset),
        cmocka_unit_test_setup_teardown(test_setting_times, make_files, reset),
        cmocka_unit_test_setup_teardown(test_refused_locks, make_files, reset),
        cmocka_unit_test_setup_teardown(test_nodes, make_files, reset),
        cmocka_unit_test_setup_teardown(test_renames_wait, make_files, reset)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (!failed)
        check_remove_directory(place);
    return failed;
}
