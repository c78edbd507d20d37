/* SPDX-License-Identifier: MIT */
#include "line.h"

#include "util/clock.h"
#include "zarrbridge/limits.h"

#define SUCCESSES_FOR_ONE 16
#define FIRST_TYPICAL 262144

static unsigned widest(void) {
    const uint64_t most = zb_limits_get()->remote_requests;
    return most < 1 ? 1 : most < 4096 ? (unsigned)most : 4096;
}

void zb__line_begin(zb__line *line, zb__remote *next) {
    *line = (zb__line){.width = widest(), .typical = FIRST_TYPICAL, .next = next};
}

void zb__line_append(zb__line *line, zb__request *request) {
    request->next = NULL;
    request->previous = line->last;
    *(line->last ? &line->last->next : &line->first) = request;
    line->last = request;
}

void zb__line_return(zb__line *line, zb__request *request) {
    request->previous = NULL;
    request->next = line->first;
    *(line->first ? &line->first->previous : &line->last) = request;
    line->first = request;
}

static void take_out(zb__line *line, zb__request *request) {
    *(request->previous ? &request->previous->next : &line->first) = request->next;
    *(request->next ? &request->next->previous : &line->last) = request->previous;
    request->next = request->previous = NULL;
}

const zb__request *zb__line_first(const zb__line *line) {
    return line->running < line->width ? line->first : NULL;
}

zb__request *zb__line_take(zb__line *line) {
    zb__request *request = line->first;
    take_out(line, request);
    if (line->running++ == 0)
        zb__pace_begin(&line->pace, zb__now());
    return request;
}

/* Many requests are refused together: only those that began after the width was halved tell that it
   is still too wide. */
void zb__line_left(zb__line *line, const zb__request *request) {
    const int status = request->reply.status;
    line->running--;
    const bool came = request->method == ZB__GET && status >= 200 && status < 300;
    zb__pace_note(&line->pace, zb__now(), came ? request->waited : 0, came ? request->got : 0,
                  line->running == 0);
    __atomic_store_n(&line->reach, zb__pace_reach(&line->pace), __ATOMIC_RELAXED);
    if (request->span == ZB__ALL && status == 200)
        line->typical += (request->got >> 3) - (line->typical >> 3);
    if ((status == 429 || status == 503) && request->try_begun > line->halved) {
        line->width = line->width > 1 ? line->width / 2 : 1;
        line->successes = 0;
        line->halved = zb__now();
    } else if (status >= 200 && status < 300 && ++line->successes >= SUCCESSES_FOR_ONE) {
        line->width += line->width < widest();
        line->successes = 0;
    }
}

void zb__line_step_aside(zb__line *line) {
    line->running--;
}

void zb__line_step_back(zb__line *line) {
    line->running++;
}

void zb__line_park(zb__line *line, zb__request *request) {
    request->previous = NULL;
    request->next = line->parked;
    line->parked = request;
}

void zb__line_unpark(zb__line *line) {
    while (line->parked) {
        zb__request *request = line->parked;
        line->parked = request->next;
        zb__line_return(line, request);
    }
}

static void end(zb__request *request, zb__request **ended) {
    request->previous = NULL;
    request->next = *ended;
    *ended = request;
}

void zb__line_drop(zb__line *line, const void *const *group, zb__request **ended) {
    for (zb__request *request = line->first, *next; request; request = next) {
        next = request->next;
        if (!group || request->group == *group) {
            take_out(line, request);
            end(request, ended);
        }
    }
    for (zb__request **at = &line->parked; *at;) {
        zb__request *request = *at;
        if (!group || request->group == *group) {
            *at = request->next;
            end(request, ended);
        } else {
            at = &request->next;
        }
    }
}
