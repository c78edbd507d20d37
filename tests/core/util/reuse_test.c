/* SPDX-License-Identifier: MIT */
/* Buffers that have been used serve again; what is kept is bounded. */
#include "util/reuse.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "zarrbridge/limits.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

static int end(void **state) {
    (void)state;
    zb__reuse_clear();
    return 0;
}

static void *take(size_t size) {
    unsigned char *buffer = zb__reuse_take(size);
    assert_non_null(buffer);
    buffer[0] = buffer[size - 1] = 1;
    return buffer;
}

static void a_buffer_serves_again(void **state) {
    (void)state;
    /* Less than a huge page, behind whose end malloc() has a random number of bytes. */
    void *first = take(900 * KIB), *second = take(600 * KIB);
    zb__reuse_give(first);
    zb__reuse_give(second);
    assert_ptr_equal(take(600 * KIB - 100), second); /* the smallest that will do */
    assert_ptr_equal(take(600 * KIB), first);
    void *third = take(600 * KIB);
    zb__reuse_give(first);
    void *small = take(300 * KIB); /* does not hold three times what it needs */
    assert_ptr_not_equal(small, first);
    zb__reuse_give(NULL);
    free(second);
    free(third);
    free(small);
}

/* A quarter of the window of replies; the oldest buffers go. */
static void what_is_kept_is_bounded(void **state) {
    (void)state;
    const uint64_t most = zb_limits_get()->remote_window_bytes / 16;
    const size_t count = 3 * (size_t)most / MIB;
    void **all = calloc(count, sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < count; i++)
        all[i] = take(MIB);
    for (size_t i = 0; i < count; i++) {
        zb__reuse_give(all[i]);
        assert_true(zb__reuse_kept() <= most);
    }
    assert_true(zb__reuse_kept() > most - 2 * MIB);
    void *last = take(MIB - 4096);
    size_t at = 0;
    while (at < count && all[at] != last)
        at++;
    assert_true(at >= count - most / MIB && at < count);
    free(last);
    zb__reuse_clear();
    assert_int_equal(zb__reuse_kept(), 0);
    zb__reuse_give(take(2 * (size_t)most)); /* larger than all that may be kept */
    zb__reuse_give(take(1000));
    assert_int_equal(zb__reuse_kept(), 0);
    free(all);
}

static void a_child_goes_on(void **state) {
    (void)state;
    zb__reuse_give(take(MIB));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        void *buffer = zb__reuse_take(MIB);
        zb__reuse_give(buffer);
        zb__reuse_clear();
        _exit(buffer ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_buffer_serves_again, end),
        cmocka_unit_test_teardown(what_is_kept_is_bounded, end),
        cmocka_unit_test_teardown(a_child_goes_on, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
