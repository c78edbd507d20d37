/* SPDX-License-Identifier: MIT */
/*
 * System calls that fail, at every call of every scenario: an error reaches the caller, or the
 * change was made whole; every chunk is the old or the new one; no descriptor is left open (memory
 * is watched by the address sanitizer's run); and once the fault is over the same change can be
 * made, also through the same handles. Calls that are interrupted or done in part are completed.
 *
 * About every 21st point is taken, of long scenarios every 45th; of the long tests every seventh
 * and 17th, of the full ones every one (check.h). ZB_FAULT_ONLY=NAME runs one scenario.
 */
#include <errno.h>
#include <unistd.h>

#include "scenarios.h"
#include "shim.h"
#include "zarrbridge/change.h"
#include "zarrbridge/limits.h"

typedef struct trouble {
    const char *name;
    enum shim_mode mode;
    int error;
} trouble;

static const trouble troubles[] = {
    {"one EIO", SHIM_FAIL, EIO},
    {"EIO from there on", SHIM_FAIL_FROM, EIO},
    {"disk full", SHIM_FULL, ENOSPC},
    {"one EDQUOT", SHIM_FAIL, EDQUOT},
    {"no more descriptors", SHIM_FAIL_FROM, EMFILE},
    {"one ENOLCK", SHIM_FAIL, ENOLCK},
};

static char *place;
static char root[256];
static int points;

/* The outcomes that a fault may have. Where there are no locks (ENOLCK), parts of shards are not
   written. */
static bool is_expected(enum zb_code code, const trouble *t) {
    return code == ZB_EIO ||
           (t->error == ENOLCK && (code == ZB_ECONFLICT || code == ZB_EUNSUPPORTED));
}

static void over(void) {
    shim_end();
}

/* A note that a block is dirty stays until the next writer changes something below its group. */
static void change_once_more(void) {
    char note[512];
    zb_hierarchy *hierarchy;
    zb_node *node, *changed;
    zb_error err;
    snprintf(note, sizeof note, "%s/.zarrbridge-consolidated", root);
    if (access(note, F_OK) != 0)
        return;
    ASSERT_OK(zb_hierarchy_open(root, &hierarchy, &err), err);
    ASSERT_OK(zb_node_open(hierarchy, "g", &node, &err), err);
    ASSERT_OK(zb_node_set_attribute(node, "seen", "true", &changed, &err), err);
    zb_node_release(changed);
    zb_node_release(node);
    ASSERT_OK(zb_hierarchy_write_back(hierarchy, &err), err);
    zb_hierarchy_release(hierarchy);
}

/* In place: the scenario tries again through the same handles. */
static void run_point(const scenario *s, bool consolidated, const trouble *t, uint64_t nth,
                      bool in_place, const world_snapshot *before, const world_snapshot *after) {
    char what[160];
    zb_error err = {.message = ""};
    snprintf(what, sizeof what, "%s%s, %s at call %d%s", s->name,
             consolidated ? " (consolidated)" : "", t->name, (int)nth,
             in_place ? ", tried again" : "");
    world_make(root, consolidated);
    zb_cache_clear(); /* cached chunks are not read, and reading them cannot fail */
    int descriptors = check_descriptors();
    scenario_over = in_place ? over : NULL;
    shim_begin(t->mode, nth, t->error, root);
    enum zb_code code = scenario_run(s, root, &err);
    shim_end();
    scenario_over = NULL;
    points++;
    if (check_descriptors() != descriptors)
        fail_msg("%s: %d descriptors are open, %d before", what, check_descriptors(), descriptors);
    if (code && (in_place || !is_expected(code, t)))
        fail_msg("%s: %s: %s", what, zb_code_name(code), err.message);
    if (code && strlen(err.message) < 10)
        fail_msg("%s: the message is '%s'", what, err.message);
    if (s->live && code)
        world_check_live(root, s->live, before, after, what);
    else
        world_check(root, code ? before : after, after, what);
    if (code) {
        enum zb_code again = scenario_run(s, root, &err);
        if (again)
            fail_msg("%s: afterwards: %s: %s", what, zb_code_name(again), err.message);
        world_check(root, after, after, what);
    }
    if (s->verify)
        s->verify(root);
    /* A lock's file that could not be unlinked stays until the key is locked again. */
    change_once_more();
    world_sweep(root);
    if (world_left_over(root, false) > 0)
        fail_msg("%s: %d files are left over", what, world_left_over(root, false));
    world_remove(root);
}

/* All calls are interrupted and move a few bytes at a time. */
static void run_interrupted(const scenario *s, bool consolidated, const world_snapshot *after) {
    static const uint64_t sizes[] = {1, 7, 4096};
    for (size_t i = 0; i < 3; i++) {
        char what[128];
        zb_error err = {.message = ""};
        snprintf(what, sizeof what, "%s, interrupted, %d bytes at a time", s->name, (int)sizes[i]);
        world_make(root, consolidated);
        zb_cache_clear();
        shim_begin(SHIM_INTERRUPT, sizes[i], 0, root);
        enum zb_code code = scenario_run(s, root, &err);
        shim_end();
        if (code)
            fail_msg("%s: %s: %s", what, zb_code_name(code), err.message);
        assert_true(shim_struck() > 0);
        world_check(root, after, after, what);
        world_remove(root);
    }
}

/* The number of calls that a fault concerns. */
static uint64_t count_calls(const scenario *s, bool consolidated, const trouble *t) {
    zb_error err;
    world_make(root, consolidated);
    zb_cache_clear();
    shim_begin(t->mode, UINT64_MAX, t->error, root);
    ASSERT_OK(scenario_run(s, root, &err), err);
    world_remove(root);
    return shim_end();
}

static void run_scenario(const scenario *s, bool consolidated, uint64_t stride) {
    world_snapshot before, after;
    zb_error err;
    world_make(root, consolidated);
    world_snapshot_take(root, &before);
    scenario_split(s, &before);
    ASSERT_OK(scenario_run(s, root, &err), err);
    world_snapshot_take(root, &after);
    world_remove(root);
    run_interrupted(s, consolidated, &after);
    int first_point = points;
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        uint64_t calls = count_calls(s, consolidated, &troubles[i]);
        /* Long scenarios repeat their calls. */
        uint64_t step = stride > 1 && calls > 10 * stride ? 2 * stride + 3 : stride;
        uint64_t first = 1 + ((uint64_t)(s - scenarios) + i) % step;
        for (uint64_t nth = first; nth <= calls; nth += step) {
            run_point(s, consolidated, &troubles[i], nth, false, &before, &after);
            run_point(s, consolidated, &troubles[i], nth, true, &before, &after);
        }
    }
    print_message("%s%s: %d points\n", s->name, consolidated ? " (consolidated)" : "",
                  points - first_point);
    world_snapshot_free(&before);
    world_snapshot_free(&after);
}

static void test_errors(void **state) {
    (void)state;
    scenarios_each(run_scenario, 7);
    print_message("%d points\n", points);
    assert_true(getenv("ZB_FAULT_ONLY") || points >= 2000);
}

int main(void) {
    setenv("ZARRBRIDGE_NUM_THREADS", "1", 0);
    place = world_new_place();
    snprintf(root, sizeof root, "%s/store", place);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_errors)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (!failed)
        check_remove_directory(place);
    return failed;
}
