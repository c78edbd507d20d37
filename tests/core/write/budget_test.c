/* SPDX-License-Identifier: MIT */
/*
 * The memory of writers: the accounts, the memory that a process really takes, and that no thread
 * waits for ever. The budget is read once per process, so that each case runs in a child.
 */
#include "write/budget.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "util/pool.h"
#include "zarrbridge/change.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"
#include "zarrbridge/write.h"

#define MIB ((uint64_t)1 << 20)
#define CHILD_OK(call, err) CHILD_CHECK((call) == ZB_OK, "%s", (err).message)

static const zb_dtype number = {.kind = ZB_KIND_UINT, .size = 2};

/* ---- The accounts ---- */

static void check_idle(void *unused) {
    (void)unused;
    CHILD_CHECK(zb__idle_begin(200), "the first");
    CHILD_CHECK(!zb__idle_begin(51), "more than a quarter");
    CHILD_CHECK(zb__idle_begin(50), "a quarter");
    zb__idle_end(200);
    CHILD_CHECK(zb__idle_begin(200), "again");
}

static void check_work(void *unused) {
    (void)unused;
    CHILD_CHECK(zb__work_try(5000), "what is too large runs alone");
    CHILD_CHECK(!zb__work_try(1), "beside it");
    zb__work_end(4000, false);
    CHILD_CHECK(zb__work_try(500), "within one and a half budgets");
    CHILD_CHECK(!zb__work_try(1), "beyond");
    zb__work_end(500, true);
    zb__waiting_bytes(400);
    CHILD_CHECK(!zb__work_try(101), "with what waits");
    CHILD_CHECK(zb__work_try(100), "with what waits");
    zb__work_end(100, true);
    zb__work_end(1000, true);
    CHILD_CHECK(zb__work_bytes() == 0, "%" PRIu64, zb__work_bytes());
    zb__work_begin(UINT64_MAX / 4); /* one more than all memory, which does not wait */
    CHILD_CHECK(!zb__work_try(1), "beside it");
}

typedef struct waiter {
    atomic_int thread;
    atomic_bool is_granted;
} waiter;

static void *begin_work(void *context) {
    waiter *w = context;
    atomic_store(&w->thread, gettid());
    zb__work_begin(800);
    atomic_store(&w->is_granted, true);
    zb__work_end(800, true);
    return NULL;
}

static void check_waits(void *unused) {
    (void)unused;
    pthread_t thread;
    waiter w = {.thread = 0};
    zb__work_begin(800);
    CHILD_CHECK(pthread_create(&thread, NULL, begin_work, &w) == 0, "no thread");
    CHILD_CHECK(check_await_sleep(&w.thread) && !w.is_granted, "granted too early");
    zb__work_end(800, true);
    pthread_join(thread, NULL);
    CHILD_CHECK(w.is_granted, "not granted");
}

static atomic_bool all_worked;

static void *change_waiting(void *unused) {
    (void)unused;
    while (!atomic_load(&all_worked)) {
        zb__waiting_bytes(1000);
        zb__waiting_bytes(-1000);
    }
    return NULL;
}

static void *work_again_and_again(void *unused) {
    (void)unused;
    for (int i = 0; i < 100000; i++) {
        zb__work_begin(400);
        CHILD_CHECK(zb__work_bytes() <= 800, "%" PRIu64, zb__work_bytes());
        zb__work_end(400, true);
    }
    return NULL;
}

/* What waits changes without the lock of the work, also while a reservation is granted. */
static void check_changes(void *unused) {
    (void)unused;
    pthread_t threads[3];
    alarm(600); /* accounts that are wrong make all wait */
    CHILD_CHECK(pthread_create(&threads[0], NULL, change_waiting, NULL) == 0, "no thread");
    for (int i = 1; i < 3; i++)
        CHILD_CHECK(pthread_create(&threads[i], NULL, work_again_and_again, NULL) == 0,
                    "no thread");
    for (int i = 1; i < 3; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&all_worked, true);
    pthread_join(threads[0], NULL);
    CHILD_CHECK(zb__work_bytes() == 0, "%" PRIu64, zb__work_bytes());
}

/* Work of the parent's other threads does not keep a child's waiting. */
static void check_fork(void *unused) {
    (void)unused;
    zb__work_begin(5000);
    pid_t child = fork();
    CHILD_CHECK(child >= 0, "no child");
    CHILD_CHECK(child > 0 ? zb__work_bytes() == 5000 : zb__work_bytes() == 0, "%" PRIu64,
                zb__work_bytes());
    CHILD_CHECK(child > 0 || zb__work_try(800), "the child waits");
    if (child == 0)
        _exit(0);
    int status;
    CHILD_CHECK(waitpid(child, &status, 0) == child && status == 0, "the child failed");
}

static void accounts_are_kept(void **state) {
    (void)state;
    static void (*const checks[])(void *) = {check_idle, check_work, check_waits, check_changes,
                                             check_fork};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        assert_true(check_in_child(checks[i], NULL, "ZARRBRIDGE_WRITE_CACHE_BYTES", "1000"));
}

/* ---- Arrays to write ---- */

typedef struct scene {
    uint64_t side, shard, inner;
    const char *codecs;
    zb_hierarchy *store;
    zb_node *node;
} scene;

/* root: a directory, or NULL for memory. */
static void begin(scene *s, const char *root) {
    zb_error err = {.code = ZB_OK};
    const uint64_t shape[2] = {s->side, s->side}, inner[2] = {s->inner, s->inner};
    const uint64_t shard[2] = {s->shard, s->shard};
    zb_array_spec spec = {.ndim = 2,
                          .shape = shape,
                          .inner_shape = inner,
                          .shard_shape = s->shard > s->inner ? shard : NULL,
                          .dtype = number,
                          .codecs = s->codecs};
    CHILD_OK(root ? zb_hierarchy_create(root, NULL, &s->store, &err)
                  : zb_hierarchy_new_mem("mem", &s->store, &err),
             err);
    CHILD_OK(zb_array_create(s->store, "a", &spec, &s->node, &err), err);
}

static void end(scene *s) {
    zb_node_release(s->node);
    zb_hierarchy_release(s->store);
}

/* Values that no codec makes smaller, different in each row. */
static void fill_row(uint16_t *row, uint64_t number_of_row, uint64_t side) {
    check_random random = {.state = number_of_row};
    for (uint64_t i = 0; i < side; i++)
        row[i] = (uint16_t)check_random_next(&random);
}

static void write_box(zb_writer *writer, uint64_t row, uint64_t column, uint64_t height,
                      uint64_t width, const uint16_t *data) {
    zb_error err = {.code = ZB_OK};
    uint64_t start[2] = {row, column}, count[2] = {height, width};
    zb_write write = {.start = start, .count = count, .data = data, .dtype = number};
    CHILD_OK(zb_writer_write(writer, &write, &err), err);
}

static void check_row(const scene *s, uint64_t i) {
    zb_error err = {.code = ZB_OK};
    uint16_t *row = malloc(s->side * 2), *expected = malloc(s->side * 2);
    uint64_t start[2] = {i, 0}, count[2] = {1, s->side};
    zb_read read = {
        .node = s->node, .start = start, .count = count, .view = {.data = row, .dtype = number}};
    CHILD_OK(zb_array_read(&read, 1, &err), err);
    fill_row(expected, i, s->side);
    CHILD_CHECK(memcmp(row, expected, s->side * 2) == 0, "row %" PRIu64 " is wrong", i);
    free(row);
    free(expected);
}

/* Writes `rows` different rows in random order, the step being odd and the side a power of 2. */
static uint64_t row_at(const scene *s, uint64_t i) {
    return (i * 0x9e3779b1u + 77) % s->side;
}

static void write_rows(const scene *s, uint64_t rows) {
    zb_error err = {.code = ZB_OK};
    zb_writer *writer;
    uint16_t *row = malloc(s->side * 2);
    CHILD_OK(zb_writer_open(s->node, NULL, &writer, &err), err);
    for (uint64_t i = 0; i < rows; i++) {
        fill_row(row, row_at(s, i), s->side);
        write_box(writer, row_at(s, i), 0, 1, s->side, row);
    }
    CHILD_OK(zb_writer_close(writer, &err), err);
    CHILD_CHECK(zb__waiting_bytes(0) == 0, "%" PRIu64 " wait", zb__waiting_bytes(0));
    CHILD_CHECK(zb__work_bytes() == 0, "%" PRIu64 " reserved", zb__work_bytes());
    free(row);
}

/* ---- The memory of a process ---- */

/* A thread's scratch and compressor, and the block that it writes to. */
#define PER_THREAD (6 * MIB)

static uint64_t status_bytes(const char *format) {
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    unsigned long long kib = 0;
    while (file && kib == 0 && fgets(line, sizeof line, file))
        sscanf(line, format, &kib);
    if (file)
        fclose(file);
    return (uint64_t)kib * 1024;
}

/* Checks the peak growth of this process's memory since it was `before`. */
static void check_growth(const scene *s, uint64_t before) {
    uint64_t budget = zb_limits_get()->write_cache_bytes;
    uint64_t most = budget + budget / 2 + zb__pool_width() * PER_THREAD;
    uint64_t peak = status_bytes("VmHWM: %llu kB");
    CHILD_CHECK(before > 0 && peak >= before, "/proc does not tell");
    CHILD_CHECK(peak - before <= most,
                "shards of %" PRIu64 ", inner chunks of %" PRIu64 ", %s: %.1f MiB, at most %.1f",
                s->shard, s->inner, s->codecs, (double)(peak - before) / (double)MIB,
                (double)most / (double)MIB);
}

typedef struct growth_case {
    scene scene;
    const char *root;
    uint64_t rows; /* in random order; 0: all shards, each as a whole */
} growth_case;

static void write_shards(const scene *s) {
    zb_error err = {.code = ZB_OK};
    zb_writer *writer;
    uint64_t across = s->side / s->shard;
    uint16_t *box = malloc(s->shard * s->side * 2);
    CHILD_OK(zb_writer_open(s->node, NULL, &writer, &err), err);
    fill_row(box, 1, s->shard * s->side);
    uint64_t before = status_bytes("VmRSS: %llu kB");
    for (uint64_t i = 0; i < across; i++) /* several in one call */
        write_box(writer, i * s->shard, 0, s->shard, s->side, box);
    CHILD_OK(zb_writer_close(writer, &err), err);
    check_growth(s, before);
    free(box);
}

static void check_case(void *context) {
    growth_case *c = context;
    begin(&c->scene, c->root);
    if (c->rows == 0) {
        write_shards(&c->scene);
    } else {
        uint64_t before = status_bytes("VmRSS: %llu kB");
        write_rows(&c->scene, c->rows);
        check_growth(&c->scene, before);
        check_row(&c->scene, row_at(&c->scene, 0));
        check_row(&c->scene, row_at(&c->scene, c->rows - 1));
    }
    end(&c->scene);
}

static void a_process_keeps_to_its_budget(void **state) {
    (void)state;
    if (CHECK_SANITIZED_MALLOC) {
        print_message("a sanitizer's own memory hides what the writers take\n");
        skip();
    }
    static const char *const codecs[] = {"[]",
                                         "[{\"name\":\"zstd\",\"configuration\":{\"level\":1}}]"};
    static const struct {
        uint64_t shard, inner, rows;
        const char *budget;
    } cases[] = {{1024, 128, 48, "33554432"},  /* rows open inner chunks of many shards */
                 {1024, 1024, 20, "33554432"}, /* and chunks that are large */
                 {256, 256, 100, "33554432"},
                 {1024, 128, 0, "8388608"},
                 {1024, 1024, 0, "8388608"}};
    for (int i = 0; i < 20; i++) {
        growth_case c = {.scene = {.side = 8192,
                                   .shard = cases[i / 4].shard,
                                   .inner = cases[i / 4].inner,
                                   .codecs = codecs[i & 1]},
                         .rows = cases[i / 4].rows};
        char *root = check_new_directory();
        c.root = root;
        setenv("ZARRBRIDGE_NUM_THREADS", i & 2 ? "2" : "1", 1);
        bool good =
            check_in_child(check_case, &c, "ZARRBRIDGE_WRITE_CACHE_BYTES", cases[i / 4].budget);
        unsetenv("ZARRBRIDGE_NUM_THREADS");
        check_remove_directory(root);
        if (!good)
            fail_msg("case %d with %d threads", i / 4, i & 2 ? 2 : 1);
    }
}

/* ---- Writes larger than the budget; many writers ---- */

static void check_larger(void *context) {
    scene *s = context;
    begin(s, NULL);
    write_rows(s, s->side);
    for (uint64_t i = 0; i < s->side; i++)
        check_row(s, i);
    end(s);
}

static void one_shard_may_be_larger(void **state) {
    (void)state;
    scene scenes[] = {{128, 64, 16, "[]", NULL, NULL},
                      {128, 64, 16, NULL, NULL, NULL},
                      {128, 64, 64, "[]", NULL, NULL},
                      {128, 64, 64, NULL, NULL, NULL},
                      {64, 64, 1, NULL, NULL, NULL}};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        assert_true(
            check_in_child(check_larger, &scenes[i], "ZARRBRIDGE_WRITE_CACHE_BYTES", "3000"));
        assert_true(check_in_child(check_larger, &scenes[i], "ZARRBRIDGE_WRITE_CACHE_BYTES", "0"));
    }
}

enum { WRITERS = 4 };

typedef struct worker {
    pthread_t thread;
    const scene *scene;
    uint64_t which;
} worker;

/* Writes every fourth row, some of them over the width of a column of shards only after the rest,
   so that whole shards, parts and merges of several writers meet. */
static void *work(void *context) {
    const worker *w = context;
    const scene *s = w->scene;
    zb_error err = {.code = ZB_OK};
    zb_writer *writer;
    uint16_t *row = malloc(s->side * 2);
    CHILD_OK(zb_writer_open(s->node, NULL, &writer, &err), err);
    for (uint64_t i = w->which; i < s->side; i += WRITERS) {
        fill_row(row, i, s->side);
        write_box(writer, i, s->shard, 1, s->side - s->shard, row + s->shard);
    }
    for (uint64_t i = w->which; i < s->side; i += WRITERS) {
        fill_row(row, i, s->side);
        write_box(writer, i, 0, 1, s->shard, row);
    }
    CHILD_OK(zb_writer_close(writer, &err), err);
    free(row);
    return NULL;
}

static void check_many(void *context) {
    scene *s = context;
    worker workers[WRITERS];
    begin(s, NULL);
    for (uint64_t i = 0; i < WRITERS; i++) {
        workers[i] = (worker){.scene = s, .which = i};
        CHILD_CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0, "no thread");
    }
    for (uint64_t i = 0; i < WRITERS; i++)
        pthread_join(workers[i].thread, NULL);
    CHILD_CHECK(zb__waiting_bytes(0) == 0, "%" PRIu64 " wait", zb__waiting_bytes(0));
    CHILD_CHECK(zb__work_bytes() == 0, "%" PRIu64 " reserved", zb__work_bytes());
    for (uint64_t i = 0; i < s->side; i++)
        check_row(s, i);
    end(s);
}

static void writers_do_not_wait_for_ever(void **state) {
    (void)state;
    static const char *const budgets[] = {"0", "20000", "60000"};
    scene scenes[] = {{128, 32, 8, "[]", NULL, NULL},
                      {128, 32, 8, NULL, NULL, NULL},
                      {128, 32, 32, NULL, NULL, NULL},
                      {128, 1, 1, NULL, NULL, NULL}};
    setenv("ZARRBRIDGE_NUM_THREADS", "3", 1);
    for (size_t i = 0; i < 12; i++) {
        if (!check_in_child(check_many, &scenes[i / 3], "ZARRBRIDGE_WRITE_CACHE_BYTES",
                            budgets[i % 3]))
            fail_msg("scene %zu with a budget of %s", i / 3, budgets[i % 3]);
    }
    unsetenv("ZARRBRIDGE_NUM_THREADS");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accounts_are_kept),
        cmocka_unit_test(a_process_keeps_to_its_budget),
        cmocka_unit_test(one_shard_may_be_larger),
        cmocka_unit_test(writers_do_not_wait_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
