/* SPDX-License-Identifier: MIT */
/*
 * Requests by threads: what they give, how many go on at once, and what a cancel leaves. The store
 * around the one in memory holds its readers back until so many wait.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/check.h"
#include "zarrbridge/sys/store.h"

#define MOST 16 /* threads */

/* ---- A store whose reads wait for each other ---- */

typedef struct gate {
    zb_store base;
    zb_store *mem;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t inside, most_inside, awaited; /* a read goes on when `awaited` were inside at once */
    bool is_open;                        /* from then on */
    atomic_int canceller;                /* the thread that open_gate() waits for */
    bool packs;                          /* its objects say that they are packed */
    zb_fetch_serve_fn serve;             /* or NULL */
} gate;

typedef struct gate_object {
    zb_object base;
    zb_object *inner;
} gate_object;

static enum zb_code gate_open(zb_store *store, const zb_open *open, zb_object **out,
                              zb_object_info *info, zb_error *err) {
    gate_object *object = calloc(1, sizeof *object);
    object->base.store = store;
    enum zb_code code = zb_object_open_as(((gate *)store)->mem, open, &object->inner, info, err);
    info->is_packed = ((gate *)store)->packs;
    if (code)
        free(object);
    else
        *out = &object->base;
    return code;
}

static enum zb_code gate_read(zb_object *object, zb_range *ranges, size_t count, zb_error *err) {
    gate *g = (gate *)object->store;
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60;
    bool came = true;
    pthread_mutex_lock(&g->lock);
    g->inside++;
    g->most_inside = g->inside > g->most_inside ? g->inside : g->most_inside;
    g->is_open = g->is_open || g->inside >= g->awaited;
    pthread_cond_broadcast(&g->changed);
    while (!g->is_open && came)
        came = pthread_cond_timedwait(&g->changed, &g->lock, &end) == 0;
    g->inside--;
    pthread_mutex_unlock(&g->lock);
    return came ? zb_object_read(((gate_object *)object)->inner, ranges, count, err)
                : zb_fail(err, ZB_EIO, "too few requests went on at once");
}

static void gate_close(zb_object *object) {
    zb_object_close(((gate_object *)object)->inner);
    free(object);
}

static void gate_destroy(zb_store *store) {
    zb_store_release(((gate *)store)->mem);
    free(store);
}

static enum zb_code gate_submit(zb_store *store, zb_fetch *list, zb_fetch_fn done, void *context,
                                zb_error *err) {
    return zb_store_submit_by_threads(store, list, done, context, ((gate *)store)->serve, err);
}

static const zb_store_ops gate_ops = {.version = ZB_STORE_OPS_VERSION,
                                      .name = "gate",
                                      .open = gate_open,
                                      .read = gate_read,
                                      .close = gate_close,
                                      .submit = gate_submit,
                                      .cancel = zb_store_cancel_by_threads,
                                      .destroy = gate_destroy};

/* With the object "k" of 1 000 bytes. */
static gate *new_gate(size_t awaited) {
    zb_error err;
    char content[1000];
    gate *g = calloc(1, sizeof *g);
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (char)(i % 251);
    ASSERT_OK(zb_store_init(&g->base, &gate_ops, (zb_store_hints){0}, "gate", &err), err);
    ASSERT_OK(zb_store_new_mem("mem", &g->mem, &err), err);
    g->awaited = awaited;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
    ASSERT_OK(zb_store_mem_set(g->mem, "k", content, sizeof content, &err), err);
    return g;
}

/* ---- Requests ---- */

typedef struct answers {
    pthread_mutex_t lock;
    pthread_cond_t came;
    size_t count;
} answers;

static void note(void *context, zb_fetch *fetch) {
    (void)fetch;
    answers *a = context;
    pthread_mutex_lock(&a->lock);
    a->count++;
    pthread_cond_signal(&a->came);
    pthread_mutex_unlock(&a->lock);
}

static void await(answers *a, size_t count) {
    pthread_mutex_lock(&a->lock);
    while (a->count < count)
        pthread_cond_wait(&a->came, &a->lock);
    pthread_mutex_unlock(&a->lock);
}

static answers new_answers(void) {
    return (answers){.lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER};
}

static void link_all(zb_fetch *fetches, size_t count) {
    for (size_t i = 0; i + 1 < count; i++)
        fetches[i].next = &fetches[i + 1];
}

static bool has_bytes(const zb_fetch *fetch, size_t from, size_t count) {
    const unsigned char *bytes = fetch->range.buffer;
    bool right = fetch->range.got == count;
    for (size_t i = 0; i < count && right; i++)
        right = bytes[i] == (from + i) % 251;
    return right;
}

static void answers_are_right(void **state) {
    (void)state;
    zb_error err;
    gate *g = new_gate(1);
    answers a = new_answers();
    char buffer[64];
    zb_fetch fetches[] = {
        {.key = "k", .range = {.offset = 10, .length = 64, .buffer = buffer}},
        {.key = "k", .range = {.offset = ZB_FROM_END, .length = 100}},
        {.key = "k", .range = {.length = ZB_WHOLE}, .most = 1000},
        {.key = "k", .range = {.length = ZB_WHOLE}, .most = 999},
        {.key = "absent", .range = {.length = ZB_WHOLE}, .most = 999},
        {.key = "k", .range = {.offset = 990, .length = 64}},
    };
    enum { COUNT = sizeof fetches / sizeof *fetches };
    link_all(fetches, COUNT);
    assert_true(zb_store_can_submit(&g->base));
    ASSERT_OK(zb_store_submit(&g->base, fetches, note, &a, &err), err);
    await(&a, COUNT);
    assert_true(has_bytes(&fetches[0], 10, 64));
    assert_ptr_equal(fetches[0].range.buffer, buffer);
    assert_true(has_bytes(&fetches[1], 900, 100));
    assert_true(has_bytes(&fetches[2], 0, 1000));
    assert_int_equal(fetches[2].info.size, 1000);
    assert_int_equal(fetches[3].code, ZB_ELIMIT);
    assert_int_equal(fetches[4].code, ZB_ENOTFOUND);
    assert_null(fetches[4].object);
    assert_true(has_bytes(&fetches[5], 990, 10));
    zb_fetch again = {.object = fetches[0].object, .range = {.offset = 1, .length = 9}};
    ASSERT_OK(zb_store_submit(&g->base, &again, note, &a, &err), err);
    await(&a, COUNT + 1);
    assert_true(has_bytes(&again, 1, 9));
    free(again.range.buffer);
    zb_fetch bad = {.key = "../x", .range = {.length = ZB_WHOLE}};
    ASSERT_FAILS(zb_store_submit(&g->base, &bad, note, &a, &err), ZB_EINVAL, err, "..");
    ASSERT_OK(zb_store_submit(&g->base, NULL, note, &a, &err), err);
    for (size_t i = 0; i < COUNT; i++) {
        zb_object_close(fetches[i].object);
        if (i > 0)
            free(fetches[i].range.buffer);
    }
    zb_store_release(&g->base);
}

/* A range of a packed object would make all of it in memory. */
static void packed_objects_have_a_bound(void **state) {
    (void)state;
    zb_error err;
    gate *g = new_gate(1000);
    answers a = new_answers();
    g->packs = g->is_open = true;
    zb_fetch fetches[] = {
        {.key = "k", .range = {.offset = 10, .length = 64}, .most = 1000},
        {.key = "k", .range = {.offset = 10, .length = 64}, .most = 999},
        {.key = "k", .range = {.offset = ZB_FROM_END, .length = 64}, .most = 999},
    };
    link_all(fetches, 3);
    ASSERT_OK(zb_store_submit(&g->base, fetches, note, &a, &err), err);
    await(&a, 3);
    assert_true(has_bytes(&fetches[0], 10, 64));
    assert_int_equal(g->most_inside, 1);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(fetches[i].code, i ? ZB_ELIMIT : ZB_OK);
        zb_object_close(fetches[i].object);
        free(fetches[i].range.buffer);
    }
    zb_store_release(&g->base);
}

/* Each waits until 16 are inside; of twice as many, never more are. */
static void check_sixteen(bool one_by_one) {
    zb_error err;
    gate *g = new_gate(MOST);
    answers a = new_answers();
    zb_fetch fetches[2 * MOST] = {{.key = NULL}};
    for (size_t i = 0; i < 2 * MOST; i++)
        fetches[i] = (zb_fetch){.key = "k", .range = {.length = ZB_WHOLE}, .most = 1000};
    for (size_t i = 0; i < 2 * MOST && one_by_one; i++)
        ASSERT_OK(zb_store_submit(&g->base, &fetches[i], note, &a, &err), err);
    if (!one_by_one) {
        link_all(fetches, 2 * MOST);
        ASSERT_OK(zb_store_submit(&g->base, fetches, note, &a, &err), err);
    }
    await(&a, 2 * MOST);
    for (size_t i = 0; i < 2 * MOST; i++) {
        assert_int_equal(fetches[i].code, ZB_OK);
        assert_true(has_bytes(&fetches[i], 0, 1000));
        zb_object_close(fetches[i].object);
        free(fetches[i].range.buffer);
    }
    assert_int_equal(g->most_inside, MOST);
    zb_store_release(&g->base);
}

/* The threads of the test before this one are free, and fewer. */
static void sixteen_of_single_ones_go_on_at_once(void **state) {
    (void)state;
    check_sixteen(true);
}

static void sixteen_go_on_at_once(void **state) {
    (void)state;
    check_sixteen(false);
}

static void *open_gate(void *context) {
    gate *g = context;
    assert_true(check_await_sleep(&g->canceller));
    pthread_mutex_lock(&g->lock);
    g->is_open = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

/* Those under way are waited for, the others are never begun, and another caller's stay. */
static void cancelled_requests_are_left_alone(void **state) {
    (void)state;
    zb_error err;
    gate *g = new_gate(1000);
    answers a = new_answers(), other = new_answers();
    zb_fetch fetches[3 * MOST] = {{.key = NULL}};
    zb_fetch one = {.key = "k", .range = {.length = 5}};
    for (size_t i = 0; i < 3 * MOST; i++)
        fetches[i] = (zb_fetch){.key = "k", .range = {.length = ZB_WHOLE}, .most = 1000};
    link_all(fetches, 3 * MOST);
    ASSERT_OK(zb_store_submit(&g->base, fetches, note, &a, &err), err);
    ASSERT_OK(zb_store_submit(&g->base, &one, note, &other, &err), err);
    pthread_mutex_lock(&g->lock);
    while (g->inside < MOST)
        pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
    pthread_t opener;
    g->canceller = gettid();
    assert_int_equal(pthread_create(&opener, NULL, open_gate, g), 0);
    zb_store_cancel(&g->base, &a);
    size_t begun = 0;
    const size_t answered = a.count;
    for (size_t i = 0; i < 3 * MOST; i++) {
        begun += fetches[i].object != NULL;
        zb_object_close(fetches[i].object);
        free(fetches[i].range.buffer);
    }
    assert_int_equal(begun, MOST);
    assert_int_equal(answered, begun);
    await(&other, 1);
    assert_true(has_bytes(&one, 0, 5));
    zb_object_close(one.object);
    free(one.range.buffer);
    zb_store_cancel(&g->base, &a); /* of nothing */
    pthread_join(opener, NULL);
    zb_store_release(&g->base);
}

static void fetch_in_child(void *context) {
    gate *g = context;
    zb_error err;
    answers a = new_answers();
    zb_fetch fetch = {.key = "k", .range = {.length = ZB_WHOLE}, .most = 1000};
    CHILD_CHECK(zb_store_submit(&g->base, &fetch, note, &a, &err) == ZB_OK, "%s", err.message);
    await(&a, 1);
    CHILD_CHECK(has_bytes(&fetch, 0, 1000), "%s", fetch.error.message);
    zb_object_close(fetch.object);
    free(fetch.range.buffer);
}

/* ---- A store that answers some requests at once ---- */

static atomic_size_t at_once; /* calls */

/* "k" whole; all else by open() and read(). */
static enum zb_code fetch_at_once(zb_store *store, zb_fetch *fetch) {
    at_once++;
    if (strcmp(fetch->key, "k") != 0 || fetch->range.length != ZB_WHOLE)
        return ZB_EUNSUPPORTED;
    enum zb_code code = gate_open(store, &(zb_open){.key = fetch->key}, &fetch->object,
                                  &fetch->info, &fetch->error);
    fetch->range.buffer = malloc(1000);
    zb_range range = {.length = 1000, .buffer = fetch->range.buffer};
    if (!code)
        code = zb_object_read(((gate_object *)fetch->object)->inner, &range, 1, &fetch->error);
    fetch->range.got = range.got;
    return code;
}

static void what_is_not_answered_at_once_goes_the_usual_way(void **state) {
    (void)state;
    zb_error err;
    gate *g = new_gate(1);
    answers a = new_answers();
    g->serve = fetch_at_once;
    zb_fetch fetches[] = {
        {.key = "k", .range = {.length = ZB_WHOLE}, .most = 1000},
        {.key = "k", .range = {.offset = 10, .length = 64}},
        {.key = "absent", .range = {.length = ZB_WHOLE}, .most = 1000},
    };
    link_all(fetches, 3);
    at_once = 0;
    ASSERT_OK(zb_store_submit(&g->base, fetches, note, &a, &err), err);
    await(&a, 3);
    assert_true(has_bytes(&fetches[0], 0, 1000));
    assert_true(has_bytes(&fetches[1], 10, 64));
    assert_int_equal(fetches[2].code, ZB_ENOTFOUND);
    zb_fetch again = {.object = fetches[0].object, .range = {.offset = 1, .length = 9}};
    ASSERT_OK(zb_store_submit(&g->base, &again, note, &a, &err), err);
    await(&a, 4);
    assert_true(has_bytes(&again, 1, 9));
    assert_int_equal(at_once, 3); /* never for an open object */
    free(again.range.buffer);
    for (size_t i = 0; i < 3; i++) {
        zb_object_close(fetches[i].object);
        free(fetches[i].range.buffer);
    }
    zb_store_release(&g->base);
}

static void a_child_has_threads_of_its_own(void **state) {
    (void)state;
    gate *g = new_gate(1);
    fetch_in_child(g);
    assert_true(check_in_child(fetch_in_child, g, NULL, NULL));
    fetch_in_child(g);
    zb_store_release(&g->base);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_right),
        cmocka_unit_test(packed_objects_have_a_bound),
        cmocka_unit_test(sixteen_of_single_ones_go_on_at_once),
        cmocka_unit_test(sixteen_go_on_at_once),
        cmocka_unit_test(cancelled_requests_are_left_alone),
        cmocka_unit_test(what_is_not_answered_at_once_goes_the_usual_way),
        cmocka_unit_test(a_child_has_threads_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
