/* SPDX-License-Identifier: MIT */
/*
 * Arrays that are moved, deleted and made anew between any two system calls of a writer. What it
 * was told to be stored is there, in its array, wherever that is; no other array gets or loses an
 * element; and nothing is damaged. The program is linked with --wrap for each call of the store.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/fixture.h"
#include "zarrbridge/change.h"
#include "zarrbridge/check.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/hierarchy.h"
#include "zarrbridge/write.h"

enum { SIDE = 8, SHARD = 4, INNER = 2, OLD = 7, NEW = 99, OTHER = 42, FILL = -1 };

static const zb_dtype int_type = {.kind = ZB_KIND_INT, .size = 4};

/* ---- System calls, and what happens between them ---- */

static struct {
    void (*first)(void), (*second)(void);
    unsigned first_at, second_at; /* before so many calls more; 0: not, or not any more */
    unsigned count;               /* calls since the start */
    bool is_on;
} seam;

static void strike(unsigned *at, void (*event)(void)) {
    if (*at == 0 || --*at > 0)
        return;
    seam.is_on = false; /* calls of the event do not count */
    event();
    seam.is_on = true;
}

/* Called before each call. The threads of the pool have no work here: one chunk at a time. */
static void step(void) {
    const int saved = errno;
    if (seam.is_on) {
        seam.count++;
        strike(&seam.first_at, seam.first);
        strike(&seam.second_at, seam.second);
    }
    errno = saved;
}

#define WRAP(type, name, parameters, arguments)                                                    \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters {                                                                \
        step();                                                                                    \
        return __real_##name arguments;                                                            \
    }

WRAP(int, openat, (int at, const char *name, int flags, mode_t mode), (at, name, flags, mode))
WRAP(int, mkdirat, (int at, const char *name, mode_t mode), (at, name, mode))
WRAP(int, fcntl, (int fd, int command, void *argument), (fd, command, argument))
WRAP(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
WRAP(int, ftruncate, (int fd, off_t size), (fd, size))
WRAP(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
WRAP(int, unlinkat, (int at, const char *name, int flags), (at, name, flags))
WRAP(int, fstatat, (int at, const char *name, struct stat *out, int flags), (at, name, out, flags))
WRAP(int, name_to_handle_at,
     (int at, const char *name, struct file_handle *handle, int *mount, int flags),
     (at, name, handle, mount, flags))
WRAP(long, syscall, (long number, long a, long b, long c, long d), (number, a, b, c, d))

/* ---- The arrays ---- */

typedef struct scene {
    zb_hierarchy *actor; /* of another process, as it were */
    enum zb_strategy strategy;
} scene;
static scene now;

static enum zb_code write_to(zb_writer *writer, const uint64_t *start, const uint64_t *count,
                             int32_t value, zb_error *err) {
    const int64_t strides[2] = {0, 0};
    zb_write write = {
        .start = start, .count = count, .data = &value, .dtype = int_type, .strides = strides};
    return zb_writer_write(writer, &write, err);
}

/* Stores a box by a writer of its own. */
static void store_box(const zb_node *node, const uint64_t *start, const uint64_t *count,
                      int32_t value) {
    zb_write_options options = {0};
    zb_error err;
    zb_writer *writer;
    ASSERT_OK(zb_writer_open(node, &options, &writer, &err), err);
    ASSERT_OK(write_to(writer, start, count, value, &err), err);
    ASSERT_OK(zb_writer_close(writer, &err), err);
}

/* Array of one value, in shards, that all strategies can write. */
static void make(zb_hierarchy *hierarchy, const char *path, int32_t value) {
    const uint64_t shape[2] = {SIDE, SIDE}, shard[2] = {SHARD, SHARD}, inner[2] = {INNER, INNER},
                   start[2] = {0, 0};
    const int32_t fill = FILL;
    const bool in_place = now.strategy == ZB_INPLACE;
    zb_array_spec spec = {.ndim = 2,
                          .shape = shape,
                          .inner_shape = inner,
                          .shard_shape = shard,
                          .dtype = int_type,
                          .fill_value = &fill,
                          .codecs = in_place ? "[{\"name\":\"crc32c\"}]" : "[]"};
    zb_error err;
    zb_node *node;
    ASSERT_OK(zb_array_create(hierarchy, path, &spec, &node, &err), err);
    store_box(node, start, shape, value);
    zb_node_release(node);
}

/* What a writer may have changed is as before. */
static void make_old(void) {
    const uint64_t start[2] = {0, 0}, count[2] = {SHARD, SHARD};
    zb_error err;
    zb_node *node;
    ASSERT_OK(zb_node_open(now.actor, "u", &node, &err), err);
    store_box(node, start, count, OLD);
    zb_node_release(node);
}

static void read_all(zb_hierarchy *hierarchy, const char *path, int32_t values[SIDE * SIDE]) {
    zb_error err;
    zb_node *node;
    ASSERT_OK(zb_node_open(hierarchy, path, &node, &err), err);
    zb_read read = {.node = node, .view = {.data = values, .dtype = int_type}};
    ASSERT_OK(zb_array_read(&read, 1, &err), err);
    zb_node_release(node);
}

/* ---- What a writer does: a box of one value, in the shard at the origin ---- */

static const struct work {
    const char *name;
    enum zb_strategy strategy;
    enum zb_sync sync;
    uint64_t start[2], count[2];
    int32_t value;
} works[] = {
    {"a part of a shard", ZB_REWRITE, ZB_SYNC_NONE, {1, 1}, {2, 2}, NEW},
    {"an inner chunk", ZB_REWRITE, ZB_SYNC_ALWAYS, {2, 2}, {2, 2}, NEW},
    {"a shard", ZB_REWRITE, ZB_SYNC_NONE, {0, 0}, {4, 4}, NEW},
    {"a shard that waits", ZB_REWRITE, ZB_SYNC_CLOSE, {0, 0}, {4, 4}, NEW},
    {"a shard of fill", ZB_REWRITE, ZB_SYNC_ALWAYS, {0, 0}, {4, 4}, FILL},
    {"an inner chunk appended", ZB_APPEND, ZB_SYNC_NONE, {2, 2}, {2, 2}, NEW},
    {"a part appended", ZB_APPEND, ZB_SYNC_ALWAYS, {1, 1}, {2, 2}, NEW},
    {"an inner chunk in place", ZB_INPLACE, ZB_SYNC_NONE, {2, 2}, {2, 2}, NEW},
    {"a part in place", ZB_INPLACE, ZB_SYNC_CLOSE, {1, 1}, {2, 2}, NEW},
};
enum { WORKS = sizeof works / sizeof *works };

static bool is_written(const struct work *w, int i) {
    const uint64_t row = (uint64_t)i / SIDE, column = (uint64_t)i % SIDE;
    return row >= w->start[0] && row < w->start[0] + w->count[0] && column >= w->start[1] &&
           column < w->start[1] + w->count[1];
}

/* Elements are as before, or as written; all of them written where that was acknowledged. */
static void check_array(zb_hierarchy *hierarchy, const char *path, const struct work *w,
                        bool is_stored) {
    int32_t values[SIDE * SIDE];
    read_all(hierarchy, path, values);
    for (int i = 0; i < SIDE * SIDE; i++) {
        const bool as_before = values[i] == OLD && !(is_stored && is_written(w, i));
        if (!as_before && !(is_written(w, i) && values[i] == w->value))
            fail_msg("%s: element %d of /%s is %d, and the write was %s", w->name, i, path,
                     (int)values[i], is_stored ? "acknowledged" : "refused");
    }
}

static void check_other(zb_hierarchy *hierarchy, const char *path, const struct work *w) {
    int32_t values[SIDE * SIDE];
    read_all(hierarchy, path, values);
    for (int i = 0; i < SIDE * SIDE; i++) {
        if (values[i] != OTHER)
            fail_msg("%s: element %d of the other array /%s is %d", w->name, i, path,
                     (int)values[i]);
    }
}

/* Journals of changes that were refused half-way are left to the next writer. */
static int no_damage(void *context, const zb_finding *finding) {
    const struct work *w = context;
    if (finding->kind != ZB_FINDING_STALE)
        fail_msg("%s: verify finds '%s': %s", w->name, finding->key, finding->message);
    return 0;
}

/* ---- Events ---- */

static void move(const char *from, const char *to) {
    zb_error err;
    ASSERT_OK(zb_node_move(now.actor, from, to, &err), err);
}

static void go_away(void) {
    move("u", "away");
}

static void come_back(void) {
    move("away", "u");
}

/* To a place where a file of the user's is. */
static void go_beside(void) {
    const zb_part part = {.data = "notes", .size = 5};
    zb_error err;
    ASSERT_OK(
        zb_store_put(zb_hierarchy_store(now.actor), "away/README", &part, 1, ZB_SYNC_NONE, &err),
        err);
    go_away();
}

static void come_back_alone(void) {
    zb_error err;
    ASSERT_OK(zb_store_erase(zb_hierarchy_store(now.actor), "away/README", &err), err);
    come_back();
}

static void swap_in(void) {
    move("u", "away");
    move("other", "u");
}

static void swap_out(void) {
    move("u", "other");
    move("away", "u");
}

static void make_anew(void) {
    zb_error err;
    ASSERT_OK(zb_node_delete(now.actor, "u", &err), err);
    make(now.actor, "u", OTHER);
}

static enum zb_code do_work(zb_writer *writer, const struct work *w, zb_error *err) {
    enum zb_code code = write_to(writer, w->start, w->count, w->value, err);
    return code ? code : zb_writer_flush(writer, err);
}

/* The writer, with the first event before its n-th call, and the second one `more` calls later;
   true while there are so many. */
static bool run(const fixture *f, const struct work *w, void (*first)(void), void (*second)(void),
                unsigned nth, unsigned more, enum zb_code *code) {
    zb_error err;
    zb_node *node;
    zb_writer *writer;
    zb_write_options options = {.strategy = w->strategy, .sync = w->sync};
    ASSERT_OK(zb_node_open(f->hierarchy, "u", &node, &err), err);
    ASSERT_OK(zb_writer_open(node, &options, &writer, &err), err);
    seam.first = first;
    seam.second = second;
    seam.first_at = nth;
    seam.second_at = second ? nth + more : 0;
    seam.is_on = true;
    *code = do_work(writer, w, &err);
    seam.is_on = false;
    const bool struck = seam.first_at == 0;
    if (struck && seam.second_at > 0)
        second();
    seam.first_at = seam.second_at = 0;
    if (*code && *code != ZB_ECONFLICT)
        fail_msg("%s, call %u and %u more: %s", w->name, nth, more, err.message);
    /* What was refused waits, and is stored when the array is there again. */
    if (*code && second) {
        const enum zb_code again = zb_writer_flush(writer, &err);
        if (again && !strstr(err.message, "earlier flush"))
            fail_msg("%s, call %u and %u more, again: %s", w->name, nth, more, err.message);
    }
    zb_writer_abandon(writer);
    zb_node_release(node);
    return struck;
}

static void begin_scene(const fixture *f, const struct work *w) {
    zb_error err;
    now.strategy = w->strategy;
    ASSERT_OK(zb_hierarchy_open(f->root, &now.actor, &err), err);
    make(now.actor, "u", OLD);
    make(now.actor, "other", OTHER);
}

static void end_scene(const fixture *f, const struct work *w) {
    zb_error err;
    ASSERT_OK(zb_hierarchy_verify(f->hierarchy, no_damage, (void *)(uintptr_t)w, NULL, &err), err);
    zb_node_delete(now.actor, "u", NULL);
    zb_node_delete(now.actor, "away", NULL);
    zb_node_delete(now.actor, "other", NULL);
    zb_hierarchy_release(now.actor);
}

/* The array, or another one in its place, is there again some calls later. */
static void for_a_while(void **state, void (*first)(void), void (*second)(void)) {
    const fixture *f = *state;
    for (int i = 0; i < WORKS; i++) {
        const struct work *w = &works[i];
        bool struck = true;
        begin_scene(f, w);
        for (unsigned nth = 1; struck; nth++) {
            for (unsigned more = 1; more <= 16 && struck; more *= 2) {
                enum zb_code code;
                make_old();
                struck = run(f, w, first, second, nth, more, &code);
                check_array(f->hierarchy, "u", w, code == ZB_OK);
                check_other(f->hierarchy, "other", w);
            }
        }
        end_scene(f, w);
    }
}

static void arrays_that_are_away_for_a_while(void **state) {
    for_a_while(state, go_away, come_back);
}

static void arrays_that_are_beside_files_for_a_while(void **state) {
    for_a_while(state, go_beside, come_back_alone);
}

static void arrays_that_stand_in_for_a_while(void **state) {
    for_a_while(state, swap_in, swap_out);
}

/* What was acknowledged before the move is in the array. */
static void arrays_that_go_for_good(void **state) {
    const fixture *f = *state;
    for (int i = 0; i < WORKS; i++) {
        const struct work *w = &works[i];
        bool struck = true;
        for (unsigned nth = 1; struck; nth++) {
            enum zb_code code;
            begin_scene(f, w);
            struck = run(f, w, swap_in, NULL, nth, 0, &code);
            check_array(f->hierarchy, struck ? "away" : "u", w, code == ZB_OK);
            check_other(f->hierarchy, struck ? "u" : "other", w);
            end_scene(f, w);
        }
    }
}

static void arrays_that_are_made_anew(void **state) {
    const fixture *f = *state;
    for (int i = 0; i < WORKS; i++) {
        const struct work *w = &works[i];
        bool struck = true;
        for (unsigned nth = 1; struck; nth++) {
            enum zb_code code;
            begin_scene(f, w);
            struck = run(f, w, make_anew, NULL, nth, 0, &code);
            if (struck)
                check_other(f->hierarchy, "u", w);
            end_scene(f, w);
        }
    }
}

/* ---- Kills ---- */

static void end_process(void) {
    _Exit(0);
}

static int repaired(void *context, const zb_finding *finding) {
    (void)context;
    (void)finding;
    return 0;
}

/* A writer whose array has been moved is killed some calls later. Its status tells whether it was;
   any other one is that of a failure, or of a sanitizer's report, and no acknowledgement. */
static void writers_that_are_killed_after_a_move(void **state) {
    const fixture *f = *state;
    for (int i = 0; i < WORKS; i++) {
        const struct work *w = &works[i];
        bool struck = w->strategy != ZB_REWRITE;
        begin_scene(f, w);
        for (unsigned nth = 1; struck; nth++) {
            for (unsigned more = 1; more <= 16 && struck; more *= 4) {
                zb_error err;
                enum zb_code code;
                int status;
                make_old();
                const pid_t child = fork();
                if (child == 0)
                    _Exit(run(f, w, go_away, end_process, nth, more, &code) ? 0 : 1);
                assert_int_equal(waitpid(child, &status, 0), child);
                if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
                    fail_msg("%s, call %u and %u more: the writer itself failed (status %d)",
                             w->name, nth, more, status);
                struck = WEXITSTATUS(status) == 0;
                ASSERT_OK(zb_hierarchy_repair(f->hierarchy, repaired, NULL, &err), err);
                check_array(f->hierarchy, struck ? "away" : "u", w, !struck);
                check_other(f->hierarchy, "other", w);
                if (struck)
                    come_back();
            }
        }
        end_scene(f, w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(arrays_that_are_away_for_a_while),
        FIXTURE_TEST(arrays_that_are_beside_files_for_a_while),
        FIXTURE_TEST(arrays_that_stand_in_for_a_while),
        FIXTURE_TEST(arrays_that_go_for_good),
        FIXTURE_TEST(arrays_that_are_made_anew),
        FIXTURE_TEST(writers_that_are_killed_after_a_move),
    };
    if (access("/dev/shm", R_OK | W_OK | X_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 0);      /* a sync costs nothing there */
    setenv("ZARRBRIDGE_NUM_THREADS", "1", 1); /* the calls come in one order */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
