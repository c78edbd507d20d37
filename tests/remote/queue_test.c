/* SPDX-License-Identifier: MIT */
/* Lines of requests, the times of tries, and what a link brings in a round trip. */
#include "support/check.h"

#include "queue.h"
#include "retry.h"
#include "throughput.h"
#include "util/clock.h"

static void requests_keep_their_order(void **state) {
    (void)state;
    zb__queue queue;
    zb__request r[4] = {{.got = 0}};
    zb__queue_begin(&queue, NULL);
    for (int i = 0; i < 3; i++)
        zb__queue_append(&queue, &r[i]);
    zb__queue_return(&queue, &r[3]); /* one that was tried before */
    assert_ptr_equal(zb__queue_take(&queue), &r[3]);
    assert_ptr_equal(zb__queue_take(&queue), &r[0]);
    zb__queue_wait(&queue, &r[0]);
    assert_ptr_equal(zb__queue_first(&queue), &r[1]);
    zb__queue_wake(&queue);
    assert_ptr_equal(zb__queue_first(&queue), &r[0]);
}

static void groups_are_dropped(void **state) {
    (void)state;
    zb__queue queue;
    const int a = 1, b = 2;
    const void *group = &a;
    zb__request r[4] = {{.group = &a}, {.group = &b}, {.group = &a}, {.group = &a}}, *ended = NULL;
    zb__queue_begin(&queue, NULL);
    for (int i = 0; i < 3; i++)
        zb__queue_append(&queue, &r[i]);
    zb__queue_wait(&queue, &r[3]);
    zb__queue_drop(&queue, &group, &ended);
    int count = 0;
    for (zb__request *at = ended; at; at = at->next) {
        assert_ptr_equal(at->group, &a);
        count++;
    }
    assert_int_equal(count, 3);
    assert_ptr_equal(zb__queue_first(&queue), &r[1]);
    assert_null(queue.waiting);
    ended = NULL;
    zb__queue_drop(&queue, NULL, &ended);
    assert_ptr_equal(ended, &r[1]);
    assert_null(queue.first);
    assert_null(queue.last);
}

/* The bytes that come in a round trip, from the time of one and the bytes of all requests. */
static void the_reach_follows_the_link(void **state) {
    (void)state;
    const int64_t ms = 1000000, trip = 50 * ms;
    zb__throughput throughput = {.trip = 0};
    zb__throughput_begin(&throughput, 1000 * ms);
    assert_int_equal(zb__throughput_bandwidth_delay(&throughput), 0);
    zb__throughput_sample(&throughput, 1050 * ms, trip, 65536, true);
    /* too few to tell more than the trip */
    assert_int_equal(zb__throughput_bandwidth_delay(&throughput), 500000);
    zb__throughput_begin(&throughput, 2000 * ms);
    zb__throughput_sample(&throughput, 2100 * ms, 90 * ms, 1000000, false);
    /* 2 MB in 100 ms and a trip */
    zb__throughput_sample(&throughput, 2150 * ms, 70 * ms, 1000000, true);
    assert_int_equal(zb__throughput_bandwidth_delay(&throughput), 1000000);
    zb__throughput_begin(&throughput, 3000 * ms);
    /* half as fast: counts for a quarter */
    zb__throughput_sample(&throughput, 3250 * ms, trip, 2000000, true);
    assert_int_equal(zb__throughput_bandwidth_delay(&throughput), 875000);
    zb__throughput_begin(&throughput, 4000 * ms);
    /* as if in no time: no overflow */
    zb__throughput_sample(&throughput, 4050 * ms, 0, 40000000, true);
    assert_true(zb__throughput_bandwidth_delay(&throughput) > 1000000);
}

/* Answers that share a link end in bursts. */
static void bursts_are_measured_from_one_to_the_next(void **state) {
    (void)state;
    const int64_t ms = 1000000, trip = 50 * ms;
    zb__throughput throughput = {.trip = 0};
    zb__throughput_begin(&throughput, 1000 * ms);
    int64_t now = 1050 * ms;
    for (int burst = 0; burst < 10; burst++) {
        now += 160 * ms; /* 32 MB by 200 MB/s */
        for (int i = 0; i < 16; i++)
            zb__throughput_sample(&throughput, now, trip, 2000000, false);
    }
    assert_true(zb__throughput_bandwidth_delay(&throughput) >= 8000000 &&
                zb__throughput_bandwidth_delay(&throughput) <= 16000000);
}

static void bytes_under_way_follow_the_link(void **state) {
    (void)state;
    const int64_t second = 1000000000;
    zb__throughput throughput = {.trip = 0};
    const uint64_t mib = 1 << 20, most = 128 * mib;
    assert_int_equal(zb__throughput_in_flight(&throughput, most), 32 * mib);
    throughput = (zb__throughput){.trip = second / 20, .rate = 100 * mib};
    assert_int_equal(zb__throughput_in_flight(&throughput, most), 32 * mib);
    throughput.rate = 320 * mib;
    assert_int_equal(zb__throughput_in_flight(&throughput, most), 64 * mib);
    assert_int_equal(zb__throughput_in_flight(&throughput, 8 * mib), 8 * mib);
    throughput.rate = 10000 * mib;
    assert_int_equal(zb__throughput_in_flight(&throughput, most), most);
}

static void left(zb__queue *queue, int status, int64_t begun) {
    zb__request request = {.reply = {.status = status}, .try_begun = begun};
    queue->running++;
    zb__queue_left(queue, &request);
}

/* Refusals of requests that were under way together halve the width once. */
static void the_width_follows_the_server(void **state) {
    (void)state;
    zb__queue queue;
    zb__queue_begin(&queue, NULL);
    const unsigned widest = queue.width;
    const int64_t begun = zb__now();
    for (int i = 0; i < 10; i++)
        left(&queue, 503, begun);
    assert_int_equal(queue.width, widest / 2);
    left(&queue, 429, zb__now());
    assert_int_equal(queue.width, widest / 4);
    for (int i = 0; i < 16; i++)
        left(&queue, 206, begun);
    assert_int_equal(queue.width, widest / 4 + 1);
    left(&queue, 500, zb__now());
    assert_int_equal(queue.width, widest / 4 + 1);
    for (int i = 0; i < 20; i++)
        left(&queue, 503, zb__now() + 1);
    assert_int_equal(queue.width, 1);
    zb__request waiting = {.got = 0};
    zb__queue_append(&queue, &waiting);
    assert_non_null(zb__queue_first(&queue));
    (void)zb__queue_take(&queue);
    zb__queue_append(&queue, &waiting);
    assert_null(zb__queue_first(&queue));
}

/* A request that is held back leaves its place to others, and comes back above the width. */
static void a_place_goes_to_others_meanwhile(void **state) {
    (void)state;
    zb__queue queue;
    zb__request r[2] = {{.got = 0}, {.got = 0}};
    zb__queue_begin(&queue, NULL);
    queue.width = 1;
    zb__queue_append(&queue, &r[0]);
    zb__queue_append(&queue, &r[1]);
    (void)zb__queue_take(&queue);
    assert_null(zb__queue_first(&queue));
    zb__queue_step_aside(&queue);
    assert_ptr_equal(zb__queue_first(&queue), &r[1]);
    (void)zb__queue_take(&queue);
    zb__queue_step_back(&queue);
    assert_int_equal(queue.running, 2);
    r[0].reply.status = r[1].reply.status = 200;
    zb__queue_left(&queue, &r[0]);
    zb__queue_left(&queue, &r[1]);
    assert_int_equal(queue.running, 0);
}

static void statuses(void **state) {
    (void)state;
    static const int again[] = {408, 429, 500, 502, 503, 504, 507, 599};
    static const int final[] = {200, 304, 400, 401, 403, 404, 412, 416, 501, 505, 600};
    for (size_t i = 0; i < sizeof again / sizeof *again; i++)
        assert_true(zb__retry_status(again[i]));
    for (size_t i = 0; i < sizeof final / sizeof *final; i++)
        assert_false(zb__retry_status(final[i]));
}

static void pauses(void **state) {
    (void)state;
    int64_t longest = 0;
    for (unsigned tries = 1; tries < 40; tries++) {
        for (int i = 0; i < 50; i++) {
            const int64_t pause = zb__retry_pause(tries, -1);
            const int64_t bound = tries < 7 ? (ZB__SECOND / 10) << tries : 8 * ZB__SECOND;
            assert_true(pause >= 0 && pause < bound);
            longest = pause > longest ? pause : longest;
        }
    }
    assert_true(longest > 4 * ZB__SECOND);
    assert_true(zb__retry_pause(1, 3) >= 3 * ZB__SECOND);
    assert_true(zb__retry_pause(1, 3000) < 31 * ZB__SECOND);
    assert_true(zb__retry_may(1, 0, ZB__SECOND) && zb__retry_may(5, 0, 59 * ZB__SECOND));
    assert_false(zb__retry_may(6, 0, ZB__SECOND) || zb__retry_may(1, 0, 60 * ZB__SECOND));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_keep_their_order),
        cmocka_unit_test(groups_are_dropped),
        cmocka_unit_test(the_reach_follows_the_link),
        cmocka_unit_test(bursts_are_measured_from_one_to_the_next),
        cmocka_unit_test(bytes_under_way_follow_the_link),
        cmocka_unit_test(the_width_follows_the_server),
        cmocka_unit_test(a_place_goes_to_others_meanwhile),
        cmocka_unit_test(statuses),
        cmocka_unit_test(pauses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
