/* SPDX-License-Identifier: MIT */
/* Reads of objects that are being changed are tried again, for some time and for some tries. */
#include "read/retry.h"
#include "support/store.h"
#include "support/stores.h"
#include "util/clock.h"
#include "zarrbridge/sys/hierarchy.h"

#define KEY "a/c/0/0"

typedef struct damaged {
    zb_hierarchy *store;
    zb_node *array;
    uint64_t index[2];
    zb__stored_chunk chunk;
} damaged;

static int begin(void **state) {
    static damaged d;
    zb_error err;
    d = (damaged){.store = store_new()};
    d.array = store_array(d.store, "a");
    store_write_all(d.array, 3);
    d.chunk = (zb__stored_chunk){.node = d.array, .index = d.index};
    ASSERT_OK(zb_store_stat(zb_hierarchy_store(d.store), KEY, &d.chunk.info, &err), err);
    *state = &d;
    return 0;
}

static int end(void **state) {
    damaged *d = *state;
    zb_node_release(d->array);
    zb_hierarchy_release(d->store);
    return 0;
}

static void change(damaged *d) {
    store_let_age(d->store, KEY);
    store_set(d->store, KEY, "changed");
}

static bool pays(const damaged *d, zb__retry *retry) {
    return zb__retry_pays(retry, &d->chunk, 1, ZB_ECHECKSUM);
}

static void what_does_not_change_is_not_tried_again(void **state) {
    zb__retry retry = {0};
    assert_false(pays(*state, &retry));
}

static void other_failures_stand(void **state) {
    damaged *d = *state;
    zb__retry retry = {0};
    change(d);
    assert_false(zb__retry_pays(&retry, &d->chunk, 1, ZB_ENOMEM));
}

/* A process that was stopped after its first try has tried too seldom. */
static void tries_count_whatever_time_they_take(void **state) {
    damaged *d = *state;
    const int64_t long_ago = zb__now() - INT64_C(10000000000);
    zb__retry retry = {.first = long_ago, .changed = long_ago, .tries = 1};
    unsigned tries = 1;
    change(d);
    while (tries < 1000 && pays(d, &retry))
        tries++;
    assert_in_range(tries, 10, 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_does_not_change_is_not_tried_again, begin, end),
        cmocka_unit_test_setup_teardown(other_failures_stand, begin, end),
        cmocka_unit_test_setup_teardown(tries_count_whatever_time_they_take, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
