/* SPDX-License-Identifier: MIT */
/* Scratch: buffers grow and never shrink, idle ones are handed out again, forks leave a usable
 * list. */
#include "util/scratch.h"

#include <pthread.h>

#include "support/check.h"

static void buffers_grow(void **state) {
    (void)state;
    zb__buffer buffer = {0};
    zb_error err;
    ASSERT_OK(zb__buffer_reserve(&buffer, 1, &err), err);
    assert_true(buffer.capacity >= 1);
    uint8_t *first = buffer.data;
    ASSERT_OK(zb__buffer_reserve(&buffer, buffer.capacity, &err), err);
    assert_ptr_equal(buffer.data, first); /* room enough: the same memory */
    static const size_t sizes[] = {5000, ((size_t)2 << 20) - 1, (size_t)2 << 20, (size_t)9 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ASSERT_OK(zb__buffer_reserve(&buffer, sizes[i], &err), err);
        assert_true(buffer.capacity >= sizes[i]);
        buffer.data[0] = buffer.data[sizes[i] - 1] = 1;
    }
    size_t capacity = buffer.capacity;
    ASSERT_OK(zb__buffer_reserve(&buffer, 10, &err), err);
    assert_int_equal(buffer.capacity, capacity);
    zb__buffer_free(&buffer);
    assert_null(buffer.data);
    assert_int_equal(buffer.capacity, 0);
}

/* A size that cannot be had, or would overflow when rounded up, leaves the buffer as it was. */
static void refuses_what_cannot_be_had(void **state) {
    (void)state;
    zb__buffer buffer = {0};
    zb_error err;
    ASSERT_OK(zb__buffer_reserve(&buffer, 100, &err), err);
    uint8_t *data = buffer.data;
    ASSERT_FAILS(zb__buffer_reserve(&buffer, SIZE_MAX, &err), ZB_ENOMEM, err, "no memory");
    ASSERT_FAILS(zb__buffer_reserve(&buffer, SIZE_MAX / 2, &err), ZB_ENOMEM, err, "no memory");
    assert_ptr_equal(buffer.data, data);
    buffer.data[99] = 1;
    zb__buffer_free(&buffer);
}

static void idle_ones_come_back(void **state) {
    (void)state;
    zb_error err;
    zb__scratch *a = zb__scratch_take(), *b = zb__scratch_take();
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    ASSERT_OK(zb__buffer_reserve(&a->decoded, 100, &err), err);
    uint8_t *data = a->decoded.data;
    zb__scratch_put(b);
    zb__scratch_put(a);
    zb__scratch *again = zb__scratch_take(); /* the last used: its pages are warm */
    assert_ptr_equal(again, a);
    assert_ptr_equal(again->decoded.data, data);
    zb__scratch_put(again);
    zb__scratch_clear();
    again = zb__scratch_take();
    assert_null(again->decoded.data);
    zb__scratch_put(again);
    zb__scratch_clear();
}

/* ---- Contexts ----------------------------------------------------------------------------- */

static int created, freed;
static bool refuses;

static enum zb_code create_context(void **context, zb_error *err) {
    if (refuses)
        return zb_fail(err, ZB_EUNSUPPORTED, "not now");
    created++;
    *context = malloc(1);
    return ZB_OK;
}

static void free_context(void *context) {
    freed++;
    free(context);
}

/* Each scratch has one of each slot, made when it is asked for and freed with the scratch. */
static void contexts_stay(void **state) {
    (void)state;
    static zb__scratch_slot slots[40];
    void *first[40], *again;
    zb_error err;
    created = freed = 0;
    zb__scratch *a = zb__scratch_take(), *b = zb__scratch_take();
    for (int i = 0; i < 40; i++) {
        slots[i] = (zb__scratch_slot){.create = create_context, .free = free_context};
        refuses = true;
        ASSERT_FAILS(zb__scratch_use(a, &slots[i], &again, &err), ZB_EUNSUPPORTED, err, "not now");
        refuses = false;
        ASSERT_OK(zb__scratch_use(a, &slots[i], &first[i], &err), err);
    }
    for (int i = 0; i < 40; i++) {
        ASSERT_OK(zb__scratch_use(a, &slots[i], &again, &err), err);
        assert_ptr_equal(again, first[i]);
        for (int j = 0; j < i; j++)
            assert_ptr_not_equal(first[i], first[j]);
    }
    assert_int_equal(created, 40);
    ASSERT_OK(zb__scratch_use(b, &slots[39], &again, &err), err);
    assert_ptr_not_equal(again, first[39]);
    zb__scratch_put(a);
    zb__scratch_put(b);
    assert_int_equal(freed, 0);
    zb__scratch_clear();
    assert_int_equal(created, 41);
    assert_int_equal(freed, 41);
}

static void *take_and_put(void *argument) {
    int *wrong = argument;
    for (int i = 0; i < 5000; i++) {
        zb__scratch *scratch = zb__scratch_take();
        if (!scratch || zb__buffer_reserve(&scratch->encoded, 64, NULL) != ZB_OK) {
            ++*wrong;
            continue;
        }
        memcpy(scratch->encoded.data, &i, sizeof i);
        int seen;
        memcpy(&seen, scratch->encoded.data, sizeof seen);
        *wrong += seen != i;
        zb__scratch_put(scratch);
    }
    return NULL;
}

static void use_in_child(void *unused) {
    (void)unused;
    for (int i = 0; i < 100; i++) {
        zb__scratch *scratch = zb__scratch_take();
        CHILD_CHECK(scratch, "no scratch");
        zb__scratch_put(scratch);
    }
    zb__scratch_clear();
}

static void threads_and_forks(void **state) {
    (void)state;
    pthread_t threads[4];
    int wrong[4] = {0};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_put, &wrong[i]), 0);
    if (!CHECK_FORKS_WHILE_BUSY)
        print_message("address sanitizer: no forks while threads are busy\n");
    for (int i = 0; CHECK_FORKS_WHILE_BUSY && i < 10; i++)
        assert_true(check_in_child(use_in_child, NULL, NULL, NULL));
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(wrong[i], 0);
    }
    zb__scratch_clear();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_grow),        cmocka_unit_test(refuses_what_cannot_be_had),
        cmocka_unit_test(idle_ones_come_back), cmocka_unit_test(contexts_stay),
        cmocka_unit_test(threads_and_forks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
