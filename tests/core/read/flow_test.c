/* SPDX-License-Identifier: MIT */
/*
 * Reads of a store that answers later: how many requests they take and how many are under way, what
 * is known without asking, and what becomes of failures and of objects that change meanwhile.
 */
#include <pthread.h>

#include "support/arrays.h"
#include "support/later.h"
#include "support/stores.h"
#include "util/clock.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/read.h"
#include "zarrbridge/sys/hierarchy.h"

#define HOUR ((int64_t)3600 * 1000000000)

typedef struct setup {
    zb_hierarchy *mem, *store; /* store: answers later, around mem */
    zb_node *node;             /* array "a" of store */
    arrays_sample sample;
    check_random random;
} setup;

static setup begin(const arrays_spec *spec, later_options options) {
    setup s = {.random = {.state = 7}, .mem = stores_new_mem()};
    s.store = later_over(s.mem, options);
    s.sample = arrays_write(spec, &s.random, s.mem, "a");
    s.node = stores_open_node(s.store, "a");
    zb_cache_clear();
    later_take(zb_hierarchy_store(s.store));
    return s;
}

static void end(setup *s) {
    zb_node_release(s->node);
    zb_hierarchy_release(s->store);
    zb_hierarchy_release(s->mem);
    arrays_free(&s->sample);
}

/* Reads a box of a two-dimensional array and compares. */
static enum zb_code try_box(const setup *s, uint64_t y, uint64_t x, uint64_t rows, uint64_t columns,
                            zb_error *err) {
    const arrays_sample *a = &s->sample;
    size_t item = a->dtype.size;
    unsigned char *values = malloc((size_t)(rows * columns) * item + 1);
    const uint64_t start[2] = {y, x}, count[2] = {rows, columns};
    zb_read read = {.node = s->node,
                    .start = start,
                    .count = count,
                    .view = {.data = values, .dtype = a->dtype}};
    enum zb_code code = zb_array_read(&read, 1, err);
    for (uint64_t i = 0; i < rows && code == ZB_OK; i++)
        assert_memory_equal(values + i * columns * item, arrays_at(a, (uint64_t[]){y + i, x}),
                            columns * item);
    free(values);
    return code;
}

static later_counts read_box(const setup *s, uint64_t y, uint64_t x, uint64_t rows,
                             uint64_t columns) {
    zb_error err;
    ASSERT_OK(try_box(s, y, x, rows, columns, &err), err);
    later_counts counts = later_take(zb_hierarchy_store(s->store));
    assert_int_equal(counts.calls, 0); /* the caller waited for no call */
    return counts;
}

/* An inner chunk has 8 KiB, a shard 512 KiB. */
static const arrays_spec sharded = {.ndim = 2,
                                    .shape = {1024, 1024},
                                    .chunk = {{512, 512}, {64, 64}},
                                    .depth = 1,
                                    .type = "int16",
                                    .codec = ARRAYS_CRC32C};
static const arrays_spec plain = {
    .ndim = 2, .shape = {512, 512}, .chunk = {{64, 64}}, .type = "int16", .codec = ARRAYS_ZSTD};
static const later_options fresh = {.fresh = HOUR, .in_flight = 64, .part = 2 << 20};

/* ---- Requests ---- */

static void a_window_takes_two_requests_and_the_next_one(void **state) {
    (void)state;
    for (int is_fresh = 0; is_fresh < 2; is_fresh++) {
        setup s = begin(&sharded, (later_options){.fresh = is_fresh * HOUR});
        later_counts c = read_box(&s, 0, 0, 64, 64); /* index, data */
        assert_int_equal(c.requests, 2);
        assert_int_equal(c.opens, 1);
        c = read_box(&s, 64, 0, 64, 64);
        assert_int_equal(c.requests, 1);
        c = read_box(&s, 5, 5, 3, 3); /* a part: decoded and kept */
        assert_int_equal(c.requests, 1);
        c = read_box(&s, 6, 6, 2, 2);
        assert_int_equal(c.requests, is_fresh ? 0 : 1);
        end(&s);
    }
}

static void bytes_beside_the_index_come_with_it(void **state) {
    (void)state;
    for (int at_start = 0; at_start < 2; at_start++) {
        arrays_spec spec = sharded;
        spec.index_at_start = at_start;
        spec.chunk[1][0] = spec.chunk[1][1] = 16; /* 516 bytes, in shards with an index of 16 KiB */
        setup s = begin(&spec, fresh);
        later_counts c = at_start ? read_box(&s, 0, 0, 16, 64) : read_box(&s, 496, 448, 16, 64);
        assert_int_equal(c.requests, 1);
        assert_true(c.bytes <= 21 << 10);
        end(&s);
    }
}

static void a_shard_is_one_request_when_most_of_it_is_wanted(void **state) {
    (void)state;
    setup s = begin(&sharded, fresh);
    later_counts c = read_box(&s, 0, 0, 1024, 1024);
    assert_int_equal(c.requests, 4);
    zb_cache_clear();
    c = read_box(&s, 0, 0, 496, 512); /* all but 16 KiB */
    assert_int_equal(c.requests, 1);
    zb_cache_clear();
    c = read_box(&s, 0, 0, 448, 512); /* all but 64 KiB: the index and one range */
    assert_int_equal(c.requests, 2);
    end(&s);
}

/* As the store says which are small. */
static void a_small_shard_is_one_request(void **state) {
    (void)state;
    setup s = begin(&sharded, fresh);
    zb_hierarchy_store(s.store)->hints.small = 512 * 512 * 2 - 1;
    assert_int_equal(read_box(&s, 70, 70, 2, 2).requests, 2);
    zb_cache_clear();
    zb_hierarchy_store(s.store)->hints.small = 512 * 512 * 2;
    assert_int_equal(read_box(&s, 70, 70, 2, 2).requests, 1);
    assert_int_equal(read_box(&s, 300, 300, 2, 2).requests, 1); /* its index is known by now */
    end(&s);
}

/* At the edge of the array, only what is inside counts. */
static void a_shard_at_the_edge_is_one_request(void **state) {
    (void)state;
    arrays_spec spec = sharded;
    spec.shape[0] = 512 + 64;
    setup s = begin(&spec, fresh);
    assert_int_equal(read_box(&s, 512, 0, 64, 512).requests, 1);
    end(&s);
}

static void a_chunk_is_one_request(void **state) {
    (void)state;
    for (int codec = 0; codec < ARRAYS_CODECS; codec++) {
        arrays_spec spec = plain;
        spec.codec = (enum arrays_codec)codec;
        setup s = begin(&spec, fresh);
        later_counts c = read_box(&s, 0, 0, 512, 512);
        assert_int_equal(c.requests, 64);
        assert_int_equal(c.opens, 64);
        zb_cache_clear();
        assert_int_equal(read_box(&s, 70, 70, 2, 2).requests, 1);
        assert_int_equal(read_box(&s, 71, 70, 1, 2).requests, codec == ARRAYS_RAW);
        end(&s);
    }
}

static void missing_chunks_are_asked_for_once(void **state) {
    (void)state;
    zb_error err;
    for (int is_fresh = 0; is_fresh < 2; is_fresh++) {
        const arrays_spec *specs[] = {&plain, &sharded};
        for (int i = 0; i < 2; i++) {
            setup s = begin(specs[i], (later_options){.fresh = is_fresh * HOUR});
            size_t size;
            char *text = stores_get(s.mem, "a/zarr.json", &size);
            ASSERT_OK(
                zb_store_mem_set(zb_hierarchy_store(s.mem), "empty/zarr.json", text, size, &err),
                err);
            free(text);
            zb_node *empty = stores_open_node(s.store, "empty");
            int16_t value = 0;
            zb_read read = {.node = empty,
                            .start = (uint64_t[]){9, 9},
                            .count = (uint64_t[]){1, 1},
                            .view = {.data = &value, .dtype = s.sample.dtype}};
            later_take(zb_hierarchy_store(s.store));
            for (int round = 0; round < 3; round++) {
                ASSERT_OK(zb_array_read(&read, 1, &err), err);
                assert_int_equal(value, 7);
                assert_int_equal(later_take(zb_hierarchy_store(s.store)).requests,
                                 round == 0 || !is_fresh);
            }
            zb_node_release(empty);
            end(&s);
        }
    }
}

/* An index that knows of no chunk at a place may be old: it is asked for again unless it is
   fresh. */
static void a_missing_inner_chunk_is_looked_for_again(void **state) {
    (void)state;
    for (int is_fresh = 0; is_fresh < 2; is_fresh++) {
        arrays_spec spec = sharded;
        spec.fill_boxes = 3;
        setup s = begin(&spec, (later_options){.fresh = is_fresh * HOUR});
        read_box(&s, 0, 0, 1, 1024);
        for (uint64_t y = 0; y < 512; y += 64) {
            for (uint64_t x = 0; x < 512; x += 64)
                assert_true(read_box(&s, y, x, 1, 1).requests >= (is_fresh ? 0 : 1));
        }
        end(&s);
    }
}

static void long_ranges_come_in_parts(void **state) {
    (void)state;
    const later_options parts = {
        .fresh = HOUR, .in_flight = 5, .part = 1 << 18, .window = 1 << 20, .microseconds = 300};
    const arrays_spec raw = {
        .ndim = 2, .shape = {1024, 512}, .chunk = {{1024, 512}}, .type = "int64"};
    arrays_spec one = sharded; /* a shard of 8 MiB, its index known */
    one.shape[0] = one.shape[1] = one.chunk[0][0] = one.chunk[0][1] = 2048;
    one.chunk[1][0] = one.chunk[1][1] = 1024;
    for (int i = 0; i < 2; i++) {
        setup s = begin(i ? &one : &raw, parts);
        if (i)
            read_box(&s, 0, 0, 1, 1);
        later_counts c = read_box(&s, 0, 0, s.sample.spec.shape[0], s.sample.spec.shape[1]);
        assert_true(c.requests >= 15);
        assert_true(c.longest <= 3 << 17);     /* the last one may be half longer */
        assert_int_equal(c.most_under_way, 4); /* of 256 KiB in a window of 1 MiB */
        assert_true(c.most_bytes <= 1 << 20);
        end(&s);
    }
}

static void requests_go_on_together(void **state) {
    (void)state;
    setup s = begin(&plain, (later_options){.in_flight = 16, .microseconds = 3000});
    later_counts c = read_box(&s, 0, 0, 512, 512);
    assert_int_equal(c.requests, 64);
    assert_int_equal(c.most_under_way, 16);
    end(&s);
    s = begin(&sharded, (later_options){.in_flight = 16, .microseconds = 3000});
    c = read_box(&s, 448, 448, 200, 200); /* four shards, a part of each */
    assert_true(c.most_under_way >= 4);
    end(&s);
}

/* Inner chunks that lie apart: a wider gap than the store's saves requests, where most of the bytes
   are wanted. */
static void runs_apart_are_joined(void **state) {
    (void)state;
    arrays_spec spec = {.ndim = 2,
                        .shape = {1024, 1024},
                        .chunk = {{1024, 1024}, {8, 8}},
                        .depth = 1,
                        .type = "int16"};
    setup s = begin(&spec, (later_options){.fresh = HOUR, .gap = 1, .part = 2 << 20});
    later_counts c = read_box(&s, 0, 0, 1024, 400); /* 128 runs of 6 400 bytes each, of 16 384 */
    assert_true(c.requests > 120);                  /* joined they would be mostly unwanted */
    c = read_box(&s, 0, 0, 1024, 500); /* of 8 064: two and what is between are read as one */
    assert_true(c.requests >= 64 && c.requests < 70);
    assert_true(c.bytes < (uint64_t)64 * 24600 + (64 << 10));
    end(&s);
    spec = (arrays_spec){.ndim = 2,
                         .shape = {1024, 1024},
                         .chunk = {{1024, 1024}, {8, 128}},
                         .depth = 1,
                         .type = "int16"};
    s = begin(&spec, (later_options){.fresh = HOUR, .gap = 1, .part = 2 << 20});
    zb_error err;
    int16_t value;
    zb_read one = {.node = s.node,
                   .start = (uint64_t[]){0, 0},
                   .count = (uint64_t[]){1, 1},
                   .view = {.data = &value, .dtype = s.sample.dtype}};
    ASSERT_OK(zb_array_read(&one, 1, &err), err); /* the index */
    later_take(zb_hierarchy_store(s.store));
    c = read_box(&s, 0, 0, 1024, 896); /* 7 of 8 in each of 128 rows: an eighth is not wanted */
    assert_true(c.requests <= 3);      /* 2 MiB, in parts */
    assert_true(c.bytes <= (uint64_t)1024 * 1024 * 2);
    end(&s);
}

/* ---- Progress ---- */

typedef struct listener {
    double told, stop; /* cancels from `stop` on */
    size_t calls;
    pthread_t thread;
} listener;

static int listen_to(void *context, double done) {
    listener *l = context;
    assert_true(pthread_equal(pthread_self(), l->thread));
    assert_true(done >= l->told && done <= 1);
    l->told = done;
    l->calls++;
    return done >= l->stop;
}

static enum zb_code read_with(const setup *s, listener *l, zb_error *err) {
    const arrays_sample *a = &s->sample;
    const size_t size = (size_t)(a->spec.shape[0] * a->spec.shape[1]) * a->dtype.size;
    unsigned char *values = malloc(size);
    zb_read read = {.node = s->node, .view = {.data = values, .dtype = a->dtype}};
    l->thread = pthread_self();
    enum zb_code code = zb_array_read_with(&read, 1, listen_to, l, err);
    if (!code)
        assert_memory_equal(values, arrays_at(a, (uint64_t[]){0, 0}), size);
    free(values);
    return code;
}

/* Rounds of requests, each of which takes a fifth of a second; of one shard likewise. */
static void a_caller_hears_of_its_read(void **state) {
    (void)state;
    zb_error err;
    arrays_spec one = sharded; /* of 32 MiB: too large to be read whole */
    one.shape[0] = one.shape[1] = one.chunk[0][0] = one.chunk[0][1] = 2048;
    one.chunk[1][0] = one.chunk[1][1] = 256;
    one.type = "int64";
    const arrays_spec *specs[] = {&plain, &one};
    for (int i = 0; i < 2; i++) {
        setup s = begin(
            specs[i],
            (later_options){.in_flight = i ? 4 : 16, .part = 2 << 20, .microseconds = 220000});
        listener l = {.stop = 2};
        ASSERT_OK(read_with(&s, &l, &err), err);
        assert_true(l.calls >= 3 && l.told == 1);
        l = (listener){.stop = 0.2};
        zb_cache_clear();
        ASSERT_FAILS(read_with(&s, &l, &err), ZB_ECANCELLED, err, "cancelled");
        assert_true(l.told >= 0.2 && l.told < 1);
        later_take(zb_hierarchy_store(s.store));
        read_box(&s, 0, 0, 1, 1);
        end(&s);
    }
}

/* A server that does not answer at all. */
static void a_read_that_hangs_is_cancelled(void **state) {
    (void)state;
    zb_error err;
    setup s = begin(&sharded, (later_options){.in_flight = 16});
    zb_node_release(s.node);
    zb_hierarchy_release(s.store);
    s.store = later_over(s.mem, (later_options){.in_flight = 16, .microseconds = 300000000});
    s.node = stores_open_node(s.store, "a"); /* by a call that waits, as all of this store */
    listener l = {.stop = 0};
    ASSERT_FAILS(read_with(&s, &l, &err), ZB_ECANCELLED, err, "cancelled");
    assert_int_equal(l.calls, 1);
    assert_int_equal(later_take(zb_hierarchy_store(s.store)).bytes, 0); /* no answer has come */
    end(&s);
}

/* Without a round trip there is the end to hear of, and a cancelled end is an error as well. */
static void a_short_read_tells_its_end(void **state) {
    (void)state;
    zb_error err;
    setup s = begin(&plain, fresh);
    listener l = {.stop = 2};
    ASSERT_OK(read_with(&s, &l, &err), err);
    assert_true(l.calls >= 1 && l.told == 1);
    l = (listener){.stop = 1};
    ASSERT_FAILS(read_with(&s, &l, &err), ZB_ECANCELLED, err, "cancelled");
    end(&s);
}

/* ---- Changes ---- */

static void own_changes_are_seen_at_once(void **state) {
    (void)state;
    zb_error err;
    setup s = begin(&plain, fresh);
    read_box(&s, 0, 0, 2, 2);
    assert_int_equal(read_box(&s, 0, 0, 1, 1).requests, 0);
    ASSERT_OK(zb_store_put(zb_hierarchy_store(s.store), "a/x", NULL, 0, ZB_SYNC_NONE, &err), err);
    assert_int_equal(read_box(&s, 0, 0, 1, 1).requests, 1);
    end(&s);
}

static const arrays_spec counters = {.ndim = 2,
                                     .shape = {256, 256},
                                     .chunk = {{256, 256}, {32, 32}},
                                     .depth = 1,
                                     .type = "int64",
                                     .codec = ARRAYS_CRC32C,
                                     .scrambled = true};

typedef struct changer {
    setup *s;
    int64_t value;
} changer;

static void change_all(void *context) {
    changer *c = context;
    arrays_set_all(&c->s->sample, ++c->value, c->s->mem, "a");
}

/* Reads a window; all of it is of one version, which is returned. */
static enum zb_code read_counters(const setup *s, uint64_t extent, int64_t *value, zb_error *err) {
    static int64_t values[256 * 256];
    const uint64_t start[2] = {0, 0}, count[2] = {extent, extent};
    zb_read read = {.node = s->node,
                    .start = start,
                    .count = count,
                    .view = {.data = values, .dtype = s->sample.dtype}};
    enum zb_code code = zb_array_read(&read, 1, err);
    for (uint64_t i = 1; i < extent * extent && !code; i++)
        assert_int_equal(values[i], values[0]);
    *value = values[0];
    return code;
}

/* Whatever the moment of a change is, index and data are of one version. */
static void versions_do_not_mix(void **state) {
    (void)state;
    zb_error err;
    int64_t value;
    for (int i = 0; i < 8; i++) {
        setup s = begin(&counters, (later_options){.fresh = i & 1 ? HOUR : 0,
                                                   .shuffles = i & 2,
                                                   .is_unversioned = i & 4,
                                                   .part = 300,
                                                   .in_flight = 32});
        changer c = {.s = &s};
        change_all(&c);
        for (uint64_t nth = 1; nth < 12; nth++) {
            for (uint64_t extent = 40; extent <= 256; extent += 108) {
                later_hook(zb_hierarchy_store(s.store), nth, 0, change_all, &c);
                ASSERT_OK(read_counters(&s, extent, &value, &err), err);
                assert_true(value <= c.value);
            }
        }
        later_hook(zb_hierarchy_store(s.store), 0, 0, NULL, NULL);
        end(&s);
    }
}

/* Another program's change is noticed by the answer itself, though the index is cached. */
static void an_old_index_is_dropped(void **state) {
    (void)state;
    zb_error err;
    int64_t value;
    setup s = begin(&counters, (later_options){.fresh = 0});
    changer c = {.s = &s};
    change_all(&c);
    for (int round = 0; round < 4; round++) {
        ASSERT_OK(read_counters(&s, 40, &value, &err), err);
        assert_int_equal(value, c.value);
        change_all(&c);
    }
    end(&s);
}

static void an_object_that_never_stays_is_an_error(void **state) {
    (void)state;
    zb_error err;
    int64_t value;
    setup s = begin(&counters, (later_options){.fresh = HOUR});
    changer c = {.s = &s};
    change_all(&c);
    later_hook(zb_hierarchy_store(s.store), 2, 1, change_all, &c);
    ASSERT_FAILS(read_counters(&s, 40, &value, &err), ZB_ECONFLICT, err,
                 "store mem, array /a, shard c/0/0: the object is replaced each time");
    assert_true(later_take(zb_hierarchy_store(s.store)).requests <= 64);
    later_hook(zb_hierarchy_store(s.store), 0, 0, NULL, NULL);
    ASSERT_OK(read_counters(&s, 40, &value, &err), err);
    assert_int_equal(value, c.value);
    end(&s);
}

static void erase_shard(void *context) {
    setup *s = context;
    zb_error err;
    ASSERT_OK(zb_store_erase(zb_hierarchy_store(s->mem), "a/c/0/0", &err), err);
}

static void an_object_may_go(void **state) {
    (void)state;
    zb_error err;
    int64_t value;
    for (int at_data = 0; at_data < 2; at_data++) {
        setup s = begin(&counters, (later_options){.fresh = 0});
        changer c = {.s = &s};
        change_all(&c);
        if (!at_data) /* the index is cached, and the next answer is that there is nothing */
            ASSERT_OK(read_counters(&s, 40, &value, &err), err);
        later_hook(zb_hierarchy_store(s.store), at_data ? 2 : 1, 0, erase_shard, &s);
        ASSERT_OK(read_counters(&s, 40, &value, &err), err);
        assert_memory_equal(&value, zb_node_array(s.node)->fill_value, sizeof value);
        end(&s);
    }
}

/* ---- Failures ---- */

/* Every answer of a read fails once: an error each time, no wrong data, and the next read is
   right. */
static void every_failing_answer_is_an_error(void **state) {
    (void)state;
    arrays_spec specs[] = {plain, sharded, arrays_nested, sharded, plain};
    specs[3].codec = ARRAYS_RAW;
    specs[4].codec = ARRAYS_RAW;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        setup s = begin(&specs[i], (later_options){.fresh = i % 2 ? HOUR : 0, .shuffles = true});
        const uint64_t rows = specs[i].shape[0] - 4, columns = specs[i].shape[1] - 3;
        zb_error err;
        uint64_t n = 1;
        for (;; n++) {
            zb_cache_clear();
            later_fail(zb_hierarchy_store(s.store), n, ZB_EIO);
            enum zb_code code = try_box(&s, 3, 2, rows, columns, &err);
            later_fail(zb_hierarchy_store(s.store), 0, ZB_OK);
            if (code == ZB_OK)
                break;
            assert_int_equal(code, ZB_EIO);
            assert_non_null(strstr(err.message, "injected fault"));
            assert_non_null(strstr(err.message, "store mem, array /a, "));
            assert_non_null(strstr(err.message, specs[i].depth ? "shard c/" : "chunk c/"));
            ASSERT_OK(try_box(&s, 3, 2, rows, columns, &err), err);
        }
        assert_true(n > (specs[i].depth ? 4 : 64));
        end(&s);
    }
}

/* Flips a bit of an object, counted from its end. */
static void damage(setup *s, const char *key, size_t at) {
    zb_error err;
    size_t size;
    char *data = stores_get(s->mem, key, &size);
    data[size - 1 - at] ^= 1;
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(s->mem), key, data, size, &err), err);
    free(data);
}

static void errors_name_the_place(void **state) {
    (void)state;
    zb_error err;
    arrays_spec spec = arrays_nested;
    spec.shape[0] = spec.shape[1] = 128;
    spec.codec = ARRAYS_CRC32C;
    spec.index_at_start = spec.scrambled = false;
    const size_t outer = 4 * 16 + 4, inner = 16 * 16 + 4; /* bytes of the indexes */
    const struct {
        size_t at;
        const char *place;
    } rows[] = {{4, "store mem, array /a, shard c/1/0: index"},
                {outer, "store mem, array /a, shard c/1/0, inner chunk (1,1): index"},
                {outer + inner,
                 "store mem, array /a, shard c/1/0, inner chunk (1,1), inner chunk (3,3): "}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setup s = begin(&spec, fresh);
        damage(&s, "a/c/1/0", rows[i].at);
        for (int round = 0; round < 2; round++)
            ASSERT_FAILS(try_box(&s, 0, 0, 128, 128, &err), ZB_ECHECKSUM, err, rows[i].place);
        read_box(&s, 0, 0, 64, 128); /* the rest still reads */
        end(&s);
    }
}

/* Objects of another size than their form allows, and shards shorter than their index. */
static void sizes_are_checked(void **state) {
    (void)state;
    zb_error err;
    static const char zeros[1 << 16];
    const arrays_spec raw = {.ndim = 2, .shape = {64, 64}, .chunk = {{64, 64}}, .type = "int16"};
    const struct {
        const arrays_spec *spec;
        size_t size;
        enum zb_code code;
        const char *text;
    } rows[] = {{&raw, 8191, ZB_EFORMAT, "it has 8191 bytes, expected 8192"},
                {&raw, 8193, ZB_EFORMAT, "it has 8193 bytes, expected 8192"},
                {&raw, 0, ZB_EFORMAT, "it has 0 bytes, expected 8192"},
                {&sharded, 100, ZB_EFORMAT, "the shard has 100 bytes, fewer than its index"},
                {&sharded, 0, ZB_EFORMAT, "the shard has 0 bytes, fewer than its index"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (uint64_t extent = 1; extent <= 64; extent += 63) {
            setup s = begin(rows[i].spec, fresh);
            ASSERT_OK(
                zb_store_mem_set(zb_hierarchy_store(s.mem), "a/c/0/0", zeros, rows[i].size, &err),
                err);
            ASSERT_FAILS(try_box(&s, 0, 0, extent, extent, &err), rows[i].code, err, rows[i].text);
            end(&s);
        }
    }
    setup s = begin(&plain, fresh); /* far above what 8 KiB can be encoded in */
    char *much = calloc(1, 1 << 20);
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(s.mem), "a/c/0/0", much, 1 << 20, &err), err);
    free(much);
    ASSERT_FAILS(try_box(&s, 0, 0, 1, 1, &err), ZB_ELIMIT, err, "array /a, chunk c/0/0");
    end(&s);
}

/* A shard with so many dead bytes that it is not read whole. */
static void a_shard_of_dead_bytes_is_read_by_its_index(void **state) {
    (void)state;
    zb_error err;
    setup s = begin(&sharded, fresh);
    size_t size, dead = 4 << 20;
    char *data = stores_get(s.mem, "a/c/0/0", &size), *more = calloc(1, size + dead);
    const size_t index = 64 * 16 + 4;
    memcpy(more, data, size - index);
    memcpy(more + size - index + dead, data + size - index, index);
    ASSERT_OK(zb_store_mem_set(zb_hierarchy_store(s.mem), "a/c/0/0", more, size + dead, &err), err);
    free(more);
    free(data);
    later_counts c = read_box(&s, 0, 0, 512, 512);
    assert_int_equal(c.requests, 3);
    assert_true(c.bytes < (2 << 20));
    end(&s);
}

/* ---- Threads ---- */

static void *read_windows(void *context) {
    setup s = *(setup *)context;
    zb_error err;
    for (uint64_t i = 0; i < 40; i++) {
        uint64_t y = i * 37 % 900, x = i * 71 % 900;
        ASSERT_OK(try_box(&s, y, x, 124, 100, &err), err);
    }
    return NULL;
}

static void many_threads_share_a_store(void **state) {
    (void)state;
    setup s = begin(&sharded, (later_options){.fresh = HOUR / 3600 / 1000,
                                              .shuffles = true,
                                              .part = 1 << 16,
                                              .window = 1 << 18,
                                              .in_flight = 6});
    pthread_t threads[6];
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_windows, &s), 0);
    for (size_t i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    end(&s);
}

typedef struct window {
    pthread_t thread;
    const setup *s;
    uint64_t x; /* of an inner chunk far from the index */
    enum zb_code code;
} window;

static void *read_one(void *context) {
    window *w = context;
    zb_error err;
    w->code = try_box(w->s, 0, w->x, 64, 64, &err);
    return NULL;
}

/* Windows of one shard: its index is asked for once. When that fails for the one, the next one
   asks. An index of no version is not kept. */
static void an_index_is_asked_for_once(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        const bool fails = i & 1, unversioned = i & 2;
        setup s = begin(
            &sharded,
            (later_options){.fresh = HOUR, .microseconds = 20000, .is_unversioned = unversioned});
        window windows[6];
        later_fail(zb_hierarchy_store(s.store), fails, ZB_EIO);
        for (size_t n = 0; n < 6; n++) {
            windows[n] = (window){.s = &s, .x = 64 * n};
            assert_int_equal(pthread_create(&windows[n].thread, NULL, read_one, &windows[n]), 0);
        }
        size_t failed = 0;
        for (size_t n = 0; n < 6; n++) {
            pthread_join(windows[n].thread, NULL);
            failed += windows[n].code != ZB_OK;
        }
        assert_int_equal(failed, fails);
        uint64_t requests = later_take(zb_hierarchy_store(s.store)).requests;
        if (!unversioned)
            assert_int_equal(requests, fails ? 2 + 5 : 1 + 6);
        else
            assert_true(requests >= 7 && requests <= 12);
        end(&s);
    }
}

typedef struct again {
    const setup *s;
    size_t calls;
    enum zb_code code;
} again;

static int read_again(void *context, double done) {
    again *a = context;
    zb_error err;
    (void)done;
    if (a->calls++ == 0)
        a->code = try_box(a->s, 0, 64, 64, 64, &err);
    return 0;
}

/* The read that has called the function leads the request for the index, and goes on after it. */
static void a_progress_function_reads_the_same_shard(void **state) {
    (void)state;
    zb_error err;
    setup s = begin(&sharded, (later_options){.fresh = HOUR, .microseconds = 300000});
    again a = {.s = &s, .code = ZB_EIO};
    int16_t value;
    zb_read read = {.node = s.node,
                    .start = (uint64_t[]){0, 0},
                    .count = (uint64_t[]){1, 1},
                    .view = {.data = &value, .dtype = s.sample.dtype}};
    ASSERT_OK(zb_array_read_with(&read, 1, read_again, &a, &err), err);
    assert_true(a.calls >= 1);
    assert_int_equal(a.code, ZB_OK);
    end(&s);
}

int main(void) {
    setenv("ZARRBRIDGE_NUM_THREADS", "4", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_takes_two_requests_and_the_next_one),
        cmocka_unit_test(bytes_beside_the_index_come_with_it),
        cmocka_unit_test(a_shard_is_one_request_when_most_of_it_is_wanted),
        cmocka_unit_test(a_small_shard_is_one_request),
        cmocka_unit_test(a_shard_at_the_edge_is_one_request),
        cmocka_unit_test(a_chunk_is_one_request),
        cmocka_unit_test(missing_chunks_are_asked_for_once),
        cmocka_unit_test(a_missing_inner_chunk_is_looked_for_again),
        cmocka_unit_test(long_ranges_come_in_parts),
        cmocka_unit_test(requests_go_on_together),
        cmocka_unit_test(runs_apart_are_joined),
        cmocka_unit_test(a_caller_hears_of_its_read),
        cmocka_unit_test(a_read_that_hangs_is_cancelled),
        cmocka_unit_test(a_short_read_tells_its_end),
        cmocka_unit_test(own_changes_are_seen_at_once),
        cmocka_unit_test(versions_do_not_mix),
        cmocka_unit_test(an_old_index_is_dropped),
        cmocka_unit_test(an_object_that_never_stays_is_an_error),
        cmocka_unit_test(an_object_may_go),
        cmocka_unit_test(every_failing_answer_is_an_error),
        cmocka_unit_test(errors_name_the_place),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(a_shard_of_dead_bytes_is_read_by_its_index),
        cmocka_unit_test(many_threads_share_a_store),
        cmocka_unit_test(an_index_is_asked_for_once),
        cmocka_unit_test(a_progress_function_reads_the_same_shard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
