/* SPDX-License-Identifier: MIT */
#include "queue.h"

#include "util/clock.h"
#include "zarrbridge/limits.h"

#define SUCCESSES_FOR_ONE 16
#define FIRST_TYPICAL 262144

static unsigned widest(void) {
    const uint64_t most = zb_limits_get()->remote_requests;
    return most < 1 ? 1 : most < 4096 ? (unsigned)most : 4096;
}

void zb__queue_begin(zb__queue *queue, zb__remote *next) {
    *queue = (zb__queue){.width = widest(), .typical = FIRST_TYPICAL, .next = next};
}

void zb__queue_append(zb__queue *queue, zb__request *request) {
    request->next = NULL;
    request->previous = queue->last;
    *(queue->last ? &queue->last->next : &queue->first) = request;
    queue->last = request;
}

void zb__queue_return(zb__queue *queue, zb__request *request) {
    request->previous = NULL;
    request->next = queue->first;
    *(queue->first ? &queue->first->previous : &queue->last) = request;
    queue->first = request;
}

static void take_out(zb__queue *queue, zb__request *request) {
    *(request->previous ? &request->previous->next : &queue->first) = request->next;
    *(request->next ? &request->next->previous : &queue->last) = request->previous;
    request->next = request->previous = NULL;
}

const zb__request *zb__queue_first(const zb__queue *queue) {
    return queue->running < queue->width ? queue->first : NULL;
}

zb__request *zb__queue_take(zb__queue *queue) {
    zb__request *request = queue->first;
    take_out(queue, request);
    if (queue->running++ == 0)
        zb__throughput_begin(&queue->throughput, zb__now());
    return request;
}

/* Many requests are refused together: only those that began after the width was halved tell that it
   is still too wide. */
void zb__queue_left(zb__queue *queue, const zb__request *request) {
    const int status = request->reply.status;
    queue->running--;
    const bool came = request->method == ZB__GET && status >= 200 && status < 300;
    zb__throughput_sample(&queue->throughput, zb__now(), came ? request->waited : 0,
                          came ? request->got : 0, queue->running == 0);
    __atomic_store_n(&queue->reach, zb__throughput_bandwidth_delay(&queue->throughput),
                     __ATOMIC_RELAXED);
    if (request->span == ZB__ALL && status == 200)
        queue->typical += (request->got >> 3) - (queue->typical >> 3);
    if ((status == 429 || status == 503) && request->try_begun > queue->halved) {
        queue->width = queue->width > 1 ? queue->width / 2 : 1;
        queue->successes = 0;
        queue->halved = zb__now();
    } else if (status >= 200 && status < 300 && ++queue->successes >= SUCCESSES_FOR_ONE) {
        queue->width += queue->width < widest();
        queue->successes = 0;
    }
}

void zb__queue_step_aside(zb__queue *queue) {
    queue->running--;
}

void zb__queue_step_back(zb__queue *queue) {
    queue->running++;
}

void zb__queue_wait(zb__queue *queue, zb__request *request) {
    request->previous = NULL;
    request->next = queue->waiting;
    queue->waiting = request;
}

void zb__queue_wake(zb__queue *queue) {
    while (queue->waiting) {
        zb__request *request = queue->waiting;
        queue->waiting = request->next;
        zb__queue_return(queue, request);
    }
}

static void end(zb__request *request, zb__request **ended) {
    request->previous = NULL;
    request->next = *ended;
    *ended = request;
}

void zb__queue_drop(zb__queue *queue, const void *const *group, zb__request **ended) {
    for (zb__request *request = queue->first, *next; request; request = next) {
        next = request->next;
        if (!group || request->group == *group) {
            take_out(queue, request);
            end(request, ended);
        }
    }
    for (zb__request **at = &queue->waiting; *at;) {
        zb__request *request = *at;
        if (!group || request->group == *group) {
            *at = request->next;
            end(request, ended);
        } else {
            at = &request->next;
        }
    }
}
