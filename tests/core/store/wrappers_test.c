/* SPDX-License-Identifier: MIT */
/* The wrappers that other tests rely on: they count, fail and wait just as told, and pass all other
   calls on. */
#include <errno.h>
#include <time.h>

#include "support/check.h"
#include "support/wrappers.h"
#include "zarrbridge/sys/store.h"

static zb_store *new_mem(void) {
    zb_error err;
    zb_store *mem = NULL;
    ASSERT_OK(zb_store_new_mem("inner", &mem, &err), err);
    ASSERT_OK(zb_store_mem_set(mem, "a/k", "0123456789", 10, &err), err);
    return mem;
}

static int count_name(void *context, const zb_list_entry *entry) {
    (void)entry;
    ++*(int *)context;
    return 0;
}

/* One of each call; returns the number of calls that succeeded before one failed. */
static int use(zb_store *store, zb_error *err) {
    zb_object *object;
    zb_object_info info;
    int names = 0;
    if (zb_store_stat(store, "a/k", &info, err) != ZB_OK)
        return 0;
    if (zb_store_list(store, "a", count_name, &names, err) != ZB_OK)
        return 1;
    assert_int_equal(names, 1);
    if (zb_object_open(store, "a/k", &object, &info, err) != ZB_OK)
        return 2;
    assert_int_equal(info.size, 10);
    char buffer[10];
    zb_range ranges[] = {{.offset = 2, .length = 3, .buffer = buffer},
                         {.offset = ZB_FROM_END, .length = 4, .buffer = buffer + 3},
                         {.offset = 9, .length = 3, .buffer = buffer + 7}};
    enum zb_code code = zb_object_read(object, ranges, 3, err);
    zb_object_close(object);
    if (code != ZB_OK)
        return 3;
    assert_memory_equal(buffer, "23467899", 8);
    return 4;
}

/* One of each call that writes, in the same way. */
static int write_all(zb_store *store, zb_error *err) {
    zb_part parts[] = {{"01234", 5}, {"567", 3}};
    zb_lock *lock = NULL;
    if (zb_store_lock(store, "w", &lock, err) != ZB_OK)
        return 0;
    enum zb_code code = zb_store_put(store, "w", parts, 2, ZB_SYNC_NONE, err);
    zb_store_unlock(lock);
    if (code != ZB_OK)
        return 1;
    if (zb_store_erase(store, "w", err) != ZB_OK)
        return 2;
    if (zb_store_erase_below(store, "w", err) != ZB_OK)
        return 3;
    return zb_store_flush(store, err) == ZB_OK ? 5 : 4;
}

static void counts_writes(void **state) {
    (void)state;
    zb_error err;
    zb_store *mem = new_mem(), *count;
    ASSERT_OK(zb_store_new_count(mem, &count, &err), err);
    assert_int_equal(write_all(count, &err), 5);
    zb_store_counts c = zb_store_count_take(count);
    assert_int_equal(c.puts, 1);
    assert_int_equal(c.put_bytes, 8);
    assert_int_equal(c.erases, 2);
    assert_int_equal(c.flushes, 1);
    assert_int_equal(c.locks, 1);
    assert_int_equal(c.opens + c.reads + c.stats + c.lists, 0);
    zb_part bad = {"x", SIZE_MAX};
    assert_int_equal(zb_store_put(count, "w", &bad, 1, ZB_SYNC_NONE, &err), ZB_ENOMEM);
    c = zb_store_count_take(count);
    assert_int_equal(c.puts, 1);
    assert_int_equal(c.put_bytes, 0);
    zb_store_release(count);
    zb_store_release(mem);
}

/* A store that cannot be written says so, through a wrapper as well. */
static void read_only_stores_refuse(void **state) {
    (void)state;
    zb_error err;
    zb_store *mem = new_mem(), *count;
    zb_store_ops read_only = *mem->ops;
    read_only.put = NULL;
    read_only.erase = NULL;
    read_only.flush = NULL;
    read_only.lock = NULL;
    read_only.unlock = NULL;
    const zb_store_ops *ops = mem->ops;
    mem->ops = &read_only;
    ASSERT_OK(zb_store_new_count(mem, &count, &err), err);
    zb_store *const stores[] = {mem, count};
    for (int i = 0; i < 2; i++) {
        zb_part part = {"x", 1};
        zb_lock *lock = NULL;
        ASSERT_FAILS(zb_store_put(stores[i], "k", &part, 1, ZB_SYNC_NONE, &err), ZB_EUNSUPPORTED,
                     err, "store inner (mem) cannot be written");
        ASSERT_FAILS(zb_store_erase(stores[i], "k", &err), ZB_EUNSUPPORTED, err, "inner");
        ASSERT_FAILS(zb_store_erase_below(stores[i], "", &err), ZB_EUNSUPPORTED, err, "inner");
        ASSERT_FAILS(zb_store_flush(stores[i], &err), ZB_EUNSUPPORTED, err, "inner");
        ASSERT_FAILS(zb_store_lock(stores[i], "k", &lock, &err), ZB_EUNSUPPORTED, err, "inner");
        assert_null(lock);
    }
    mem->ops = ops;
    zb_store_release(count);
    zb_store_release(mem);
}

static void counts(void **state) {
    (void)state;
    zb_error err;
    zb_store *mem = new_mem(), *count;
    ASSERT_OK(zb_store_new_count(mem, &count, &err), err);
    assert_string_equal(count->label, "inner");
    assert_true(count->id != mem->id); /* caches do not mix the two */
    zb_store_release(mem);             /* the wrapper keeps its own reference */
    assert_int_equal(use(count, &err), 4);
    assert_int_equal(use(count, &err), 4);
    zb_store_counts c = zb_store_count_take(count);
    assert_int_equal(c.opens, 2);
    assert_int_equal(c.reads, 2);
    assert_int_equal(c.ranges, 6);
    assert_int_equal(c.bytes, 2 * (3 + 4 + 1));
    assert_int_equal(c.stats, 2);
    assert_int_equal(c.lists, 2);
    c = zb_store_count_take(count);
    assert_int_equal(c.opens + c.reads + c.ranges + c.bytes + c.stats + c.lists, 0);
    zb_object *object;
    zb_object_info info;
    assert_int_equal(zb_object_open(count, "none", &object, &info, &err), ZB_ENOTFOUND);
    assert_int_equal(zb_object_open(count, "..", &object, &info, &err), ZB_EINVAL);
    assert_int_equal(zb_store_count_take(count).opens, 1); /* a bad key goes nowhere */
    zb_store_release(count);
}

static void fails_the_nth_call(void **state) {
    (void)state;
    zb_error err;
    zb_store *mem = new_mem(), *fault;
    ASSERT_OK(zb_store_new_fault(mem, &fault, &err), err);
    assert_int_equal(use(fault, &err), 4);
    for (int n = 1; n <= 4; n++) {
        zb_store_fault_set(fault, (uint64_t)n);
        err = (zb_error){.code = ZB_OK};
        assert_int_equal(use(fault, &err), n - 1);
        assert_int_equal(err.code, ZB_EIO);
        assert_int_equal(err.sys_errno, EIO);
        assert_non_null(strstr(err.message, "injected fault"));
        assert_int_equal(use(fault, &err), 4); /* once only */
    }
    for (int n = 1; n <= 5; n++) {
        zb_store_fault_set(fault, (uint64_t)n);
        err = (zb_error){.code = ZB_OK};
        assert_int_equal(write_all(fault, &err), n - 1);
        assert_non_null(strstr(err.message, "injected fault"));
        assert_int_equal(write_all(fault, &err), 5);
    }
    zb_store_fault_set(fault, 0);
    assert_int_equal(use(fault, &err), 4);
    zb_store_release(fault);
    zb_store_release(mem);
}

/* From the wrapped store and from others, wrapped or not. */
static void copies(void **state) {
    (void)state;
    zb_error err;
    zb_object_info info;
    zb_store *mem = new_mem(), *other = new_mem(), *count, *source;
    ASSERT_OK(zb_store_new_count(mem, &count, &err), err);
    ASSERT_OK(zb_store_new_count(other, &source, &err), err);
    ASSERT_OK(zb_store_copy(count, "1", count, "a/k", &err), err);
    ASSERT_OK(zb_store_copy(count, "2", other, "a/k", &err), err);
    ASSERT_OK(zb_store_copy(count, "3", source, "a/k", &err), err);
    zb_store_counts c = zb_store_count_take(count);
    assert_int_equal(c.copies, 3);
    assert_int_equal(c.opens + c.puts, 0);
    ASSERT_OK(zb_store_stat(mem, "3", &info, &err), err);
    assert_int_equal(info.size, 10);
    zb_store_fault_set(count, 1);
    ASSERT_FAILS(zb_store_copy(count, "4", other, "a/k", &err), ZB_EIO, err, "injected fault");
    assert_int_equal(zb_store_stat(mem, "4", &info, &err), ZB_ENOTFOUND);
    zb_store_ops none = *mem->ops;
    const zb_store_ops *ops = mem->ops;
    none.copy = NULL;
    mem->ops = &none;
    ASSERT_FAILS(zb_store_copy(count, "4", count, "a/k", &err), ZB_EUNSUPPORTED, err,
                 "cannot copy");
    mem->ops = ops;
    zb_store_release(source);
    zb_store_release(count);
    zb_store_release(other);
    zb_store_release(mem);
}

static const zb_store_ops *level_by_level;

static enum zb_code list_flat(zb_store *store, const zb_list *list, zb_list_fn fn, void *context,
                              zb_error *err) {
    return level_by_level->list(store, &(zb_list){.prefix = list->prefix}, fn, context, err);
}

/* A store without it is not asked, and the caller lists level by level. */
static void lists_below(void **state) {
    (void)state;
    zb_error err;
    zb_store *mem = new_mem(), *count;
    int names = 0;
    ASSERT_OK(zb_store_new_count(mem, &count, &err), err);
    const zb_list below = {.prefix = "a", .is_recursive = true};
    const zb_list bad = {.prefix = "a//", .is_recursive = true};
    assert_int_equal(zb_store_list_as(count, &below, count_name, &names, &err), ZB_EUNSUPPORTED);
    assert_int_equal(zb_store_count_take(count).lists, 0);
    zb_store_ops flat = *mem->ops;
    level_by_level = mem->ops;
    flat.list = list_flat;
    mem->ops = &flat;
    ASSERT_OK(zb_store_list_as(count, &below, count_name, &names, &err), err);
    ASSERT_FAILS(zb_store_list_as(count, &bad, count_name, &names, &err), ZB_EINVAL, err, "a//");
    mem->ops = level_by_level;
    assert_int_equal(names, 1);
    assert_int_equal(zb_store_count_take(count).lists, 1);
    zb_store_release(count);
    zb_store_release(mem);
}

static void waits(void **state) {
    (void)state;
    zb_error err;
    zb_store *mem = new_mem(), *delay;
    ASSERT_OK(zb_store_new_delay(mem, 5000, &delay, &err), err);
    assert_false(delay->hints.is_local);
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    assert_int_equal(use(delay, &err), 4);
    clock_gettime(CLOCK_MONOTONIC, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    assert_true(seconds >= 0.02);
    zb_store_release(delay);
    zb_store_release(mem);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(counts_writes),
        cmocka_unit_test(read_only_stores_refuse),
        cmocka_unit_test(fails_the_nth_call),
        cmocka_unit_test(copies),
        cmocka_unit_test(lists_below),
        cmocka_unit_test(waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
