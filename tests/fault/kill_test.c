/* SPDX-License-Identifier: MIT */
/*
 * SIGKILL before and after every write-side system call of every scenario, each time in a store of
 * its own: a child begins the change and is killed; then every chunk is the old or the new one, the
 * same change succeeds at once in another process and leaves exactly what an undisturbed run
 * leaves, and the next writer in each directory removes the files that the killed one left. Every
 * second time the store is repaired before, which must make all of it readable and remove all
 * remains.
 *
 * About every twelfth point is taken, of the long tests every fourth, of the full ones every one
 * (check.h). ZB_FAULT_ONLY=NAME runs one scenario, ZB_FAULT_POINT=N one point of it.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios.h"
#include "shim.h"
#include "zarrbridge/check.h"

static char *place;           /* directory for the stores */
static char root[256];        /* of the current one */
static uint64_t *counted;     /* by the child, in memory that both see */
static int points, unreached; /* killed; the child came to its end before */

/* The change in a child process. Returns its status from waitpid. */
static int run_in_child(const scenario *s, enum shim_mode mode, uint64_t nth) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        zb_error err;
        shim_begin(mode, nth, 0, root);
        enum zb_code code = scenario_run(s, root, &err);
        *counted = shim_end();
        if (code)
            fprintf(stderr, "%s: %s: %s\n", s->name, zb_code_name(code), err.message);
        _exit(code ? 1 : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* The next writer must not wait for a dead one. It would wait for lock_seconds, which are so many
   here (main) that its end shows that it has not waited. */
#define HANG_SECONDS 600

static void rerun(const scenario *s, const char *what) {
    alarm(HANG_SECONDS); /* ends the whole test */
    int status = run_in_child(s, SHIM_OFF, 0);
    alarm(0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("%s: the next writer failed: status %d", what, status);
}

static int ignore(void *context, const zb_finding *finding) {
    (void)context;
    (void)finding;
    return 0;
}

static void repair(const scenario *s, const world_snapshot *before, const world_snapshot *after,
                   const char *what) {
    zb_hierarchy *hierarchy;
    zb_error err;
    ASSERT_OK(zb_hierarchy_open(root, &hierarchy, &err), err);
    ASSERT_OK(zb_hierarchy_repair(hierarchy, ignore, NULL, &err), err);
    zb_hierarchy_release(hierarchy);
    world_snapshot all; /* reads everything, now without any error */
    world_snapshot_take(root, &all);
    world_snapshot_free(&all);
    if (s->live)
        world_check_live(root, s->live, before, after, what);
    else
        world_check(root, before, after, what);
    /* A lock's file stays until the key is locked again: it may be another machine's. */
    if (world_left_over(root, false) > 0)
        fail_msg("%s: repairing left %d files", what, world_left_over(root, false));
}

static void run_point(const scenario *s, bool consolidated, enum shim_mode mode, uint64_t nth,
                      const world_snapshot *before, const world_snapshot *after) {
    char what[128];
    snprintf(what, sizeof what, "%s%s, killed %s call %d", s->name,
             consolidated ? " (consolidated)" : "", mode == SHIM_KILL_BEFORE ? "before" : "after",
             (int)nth);
    world_make(root, consolidated);
    int status = run_in_child(s, mode, nth);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        unreached++;
    else if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        fail_msg("%s: it ended with status %d instead", what, status);
    points++;
    if (s->live)
        world_check_live(root, s->live, before, after, what);
    else
        world_check(root, before, after, what);
    if (mode == SHIM_KILL_AFTER)
        repair(s, before, after, what);
    rerun(s, what);
    world_check(root, after, after, what);
    if (s->verify)
        s->verify(root);
    world_sweep(root);
    if (world_left_over(root, true) > 0)
        fail_msg("%s: the next writers left %d files of the killed one", what,
                 world_left_over(root, true));
    world_remove(root);
}

static void run_scenario(const scenario *s, bool consolidated, uint64_t stride) {
    world_snapshot before, after;
    world_make(root, consolidated);
    world_snapshot_take(root, &before);
    scenario_split(s, &before);
    int status = run_in_child(s, SHIM_COUNT, 0);
    uint64_t calls = *counted;
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0 && calls > 0);
    world_snapshot_take(root, &after);
    assert_int_equal(world_left_over(root, true), 0);
    world_remove(root);
    const char *only = getenv("ZB_FAULT_POINT");
    /* Different points in each scenario, so that a stride leaves out no kind of call. */
    uint64_t first = 1 + (uint64_t)(s - scenarios) % stride, done = 0;
    for (uint64_t nth = first; nth <= calls; nth += stride, done++) {
        if (only && strtoull(only, NULL, 10) != nth)
            continue;
        run_point(s, consolidated, SHIM_KILL_BEFORE, nth, &before, &after);
        run_point(s, consolidated, SHIM_KILL_AFTER, nth, &before, &after);
    }
    print_message("%s%s: %d calls, killed at %d\n", s->name, consolidated ? " (consolidated)" : "",
                  (int)calls, (int)done);
    world_snapshot_free(&before);
    world_snapshot_free(&after);
}

static void test_kill(void **state) {
    (void)state;
    scenarios_each(run_scenario, 4);
    print_message("%d points, %d of them not reached\n", points, unreached);
    assert_true(points > unreached * 20);
    if (!getenv("ZB_FAULT_ONLY"))
        assert_true(points >= (check_test_length() == CHECK_FULL ? 2000 : 300));
}

int main(void) {
    setenv("ZARRBRIDGE_NUM_THREADS", "1", 0); /* then calls always come in the same order */
    setenv("ZARRBRIDGE_LOCK_SECONDS", "3600", 1);
    place = world_new_place();
    snprintf(root, sizeof root, "%s/store", place);
    counted =
        mmap(NULL, sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (counted == MAP_FAILED)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kill)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (!failed)
        check_remove_directory(place);
    return failed;
}
