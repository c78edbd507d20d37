/* SPDX-License-Identifier: MIT */
/* Objects whose content is in a file already. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/fixture.h"
#include "zarrbridge/sys/store.h"

/* ---- The system, as it is to be ---- */

static bool can_share, can_copy = true;
static int shared, copied;

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...);
ssize_t __real_copy_file_range(int from, loff_t *from_at, int to, loff_t *to_at, size_t size,
                               unsigned flags);
ssize_t __wrap_copy_file_range(int from, loff_t *from_at, int to, loff_t *to_at, size_t size,
                               unsigned flags);

/* A file system that shares blocks, seen from outside. */
int __wrap_ioctl(int fd, unsigned long request, ...) {
    va_list args;
    va_start(args, request);
    const int from = va_arg(args, int);
    va_end(args);
    char byte;
    assert_int_equal(request, FICLONE);
    if (!can_share) {
        errno = EOPNOTSUPP;
        return -1;
    }
    shared++;
    for (off_t at = 0; pread(from, &byte, 1, at) == 1; at++)
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    return 0;
}

ssize_t __wrap_copy_file_range(int from, loff_t *from_at, int to, loff_t *to_at, size_t size,
                               unsigned flags) {
    if (!can_copy) {
        errno = EXDEV;
        return -1;
    }
    copied++;
    return __real_copy_file_range(from, from_at, to, to_at, size > 3 ? 3 : size, flags);
}

static int set_up(void **state) {
    can_share = false;
    can_copy = true;
    shared = copied = 0;
    return fixture_set_up(state);
}

/* ---- Tests ---- */

/* A file outside of the store. */
static int other_file(const fixture *fx, const char *content) {
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/file", fx->outside);
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), (ssize_t)strlen(content));
    assert_int_equal(unlink(path), 0);
    return fd;
}

static enum zb_code put_file(zb_store *store, const char *key, int fd, uint64_t size,
                             enum zb_file_use use, zb_error *err) {
    const zb_put_file file = {.fd = fd, .use = use, .size = size};
    const zb_part part = {.data = "+", .size = 1};
    const zb_put put = {.key = key,
                        .parts = &part,
                        .count = use == ZB_FILE_NAME ? 0 : 1,
                        .file = &file,
                        .sync = ZB_SYNC_CLOSE};
    return zb_store_put_as(store, &put, err);
}

/* Parts come behind as much of the file as is wanted, by each way. */
static void takes_content(void **state) {
    const fixture *fx = *state;
    zb_error err;
    const int fd = other_file(fx, "0123456789");
    ASSERT_OK(put_file(fx->store, "a/b", fd, 10, ZB_FILE_COPY, &err), err);
    assert_holds(fx->store, "a/b", "0123456789+");
    assert_int_equal(copied, 4);
    can_copy = false;
    ASSERT_OK(put_file(fx->store, "a/b", fd, 4, ZB_FILE_COPY, &err), err);
    assert_holds(fx->store, "a/b", "0123+");
    can_share = true;
    ASSERT_OK(put_file(fx->store, "a/b", fd, 5, ZB_FILE_SHARE, &err), err);
    assert_holds(fx->store, "a/b", "01234+");
    assert_int_equal(shared, 1);
    close(fd);
}

/* A file that is shorter than was said, and blocks that cannot be shared, leave what was there. */
static void refuses_content(void **state) {
    const fixture *fx = *state;
    zb_error err;
    zb_object_info info;
    const int fd = other_file(fx, "0123456789");
    ASSERT_FAILS(put_file(fx->store, "a", fd, 10, ZB_FILE_SHARE, &err), ZB_EUNSUPPORTED, err,
                 "share the blocks");
    ASSERT_FAILS(put_file(fx->store, "a", fd, 11, ZB_FILE_COPY, &err), ZB_EIO, err, "write");
    assert_int_equal(zb_store_stat(fx->store, "a", &info, &err), ZB_ENOTFOUND);
    zb_store *mem;
    ASSERT_OK(zb_store_new_mem("mem", &mem, &err), err);
    ASSERT_FAILS(put_file(mem, "a", fd, 10, ZB_FILE_COPY, &err), ZB_EUNSUPPORTED, err,
                 "takes no files");
    zb_store_release(mem);
    close(fd);
}

/* Both names are of one file, and a name that is taken stays what it was. */
static void gets_a_name(void **state) {
    const fixture *fx = *state;
    zb_error err;
    struct stat st;
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/file", fx->outside);
    const int fd = open(path, O_RDWR | O_CREAT, 0600);
    assert_int_equal(write(fd, "abc", 3), 3);
    ASSERT_OK(put_file(fx->store, "c/0/0", fd, 0, ZB_FILE_NAME, &err), err);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_nlink, 2);
    assert_holds(fx->store, "c/0/0", "abc");
    ASSERT_FAILS(put_file(fx->store, "c/0/0", fd, 0, ZB_FILE_NAME, &err), ZB_ECONFLICT, err,
                 "there already");
    close(fd);
    const int other = memfd_create("elsewhere", MFD_CLOEXEC); /* on another file system */
    ASSERT_FAILS(put_file(fx->store, "c/0/1", other, 0, ZB_FILE_NAME, &err), ZB_EUNSUPPORTED, err,
                 "further name");
    close(other);
}

/* Between directories the program sees no bytes. */
static void copies(void **state) {
    const fixture *fx = *state;
    zb_error err;
    const zb_part part = {.data = "content", .size = 7};
    ASSERT_OK(zb_store_put(fx->store, "x", &part, 1, ZB_SYNC_NONE, &err), err);
    ASSERT_OK(zb_store_copy(fx->store, "y/z", fx->store, "x", &err), err);
    assert_holds(fx->store, "y/z", "content");
    assert_int_equal(copied, 3);
    assert_int_equal(zb_store_copy(fx->store, "y/z", fx->store, "none", &err), ZB_ENOTFOUND);
    ASSERT_OK(zb_store_flush(fx->store, &err), err);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(takes_content, set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(refuses_content, set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(gets_a_name, set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(copies, set_up, fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
