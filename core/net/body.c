/* SPDX-License-Identifier: MIT */
#include "body.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "remote.h"

/* Of an error's body, so that the connection can serve the next request. */
#define MOST_SPILLED 65536

/* A server that answers a range with all of the object: its worth taking when it is not much more
   than what was asked for. */
#define MOST_TIMES 4
#define MOST_MORE (1024u * 1024u)

static bool stop(zb__request *request, enum zb_code code, const char *why) {
    request->stop = zb_fail(&request->stop_error, code, "%s", why);
    return false;
}

/* The bound version that another one has answered instead of: of a pin, or of a cut reply. */
static bool check_version(zb__request *request) {
    const zb__version *now = &request->version;
    if (request->pin && !zb__version_same(request->pin, now))
        return stop(request, ZB_ECONFLICT, "the object has changed meanwhile");
    if (request->started && !zb__version_identical(&request->seen, now))
        return stop(request, ZB_ECONFLICT, "the object has changed meanwhile");
    return true;
}

/* A buffer for all of the goal, unless the asker has brought one. Another try may have found
   another version of the object, of another size. */
static bool make_room(zb__request *request) {
    if (request->buffer && (!request->room || request->room > request->goal))
        return true;
    if (request->goal >= SIZE_MAX)
        return stop(request, ZB_ENOMEM, "no memory for the reply");
    free(request->buffer); /* bytes are kept only of a version of the same size */
    request->room = (size_t)request->goal + 1;
    request->buffer = request->store->take_buffer(request->room);
    return request->buffer || stop(request, ZB_ENOMEM, "no memory for the reply");
}

static bool set_goal(zb__request *request, uint64_t goal) {
    request->goal = goal;
    request->has_goal = true;
    return make_room(request);
}

/* The first byte that is asked for in an object of this size, cut replies apart; and how many the
   object has from there. */
static uint64_t place_of(const zb__request *request, uint64_t size, uint64_t *count) {
    uint64_t first = 0, most = UINT64_MAX;
    if (request->span == ZB__RANGE) {
        first = request->offset < size ? request->offset : size;
        most = request->length;
    } else if (request->span == ZB__SUFFIX) {
        first = request->length < size ? size - request->length : 0;
    }
    *count = size - first < most ? size - first : most;
    return first;
}

/* ---- 206 ---- */

static bool take_partial(zb__request *request) {
    const zb__reply *reply = &request->reply;
    const zb__content_range *range = &reply->range;
    uint64_t count;
    if (strncasecmp(reply->content_type, "multipart/", 10) == 0)
        return stop(request, ZB_EIO, "the server answers one range in several parts");
    if (request->method != ZB__GET || (request->span == ZB__ALL && !request->started))
        return stop(request, ZB_EIO, "the server answers with a range that was not asked for");
    if (!reply->has_range || !reply->range_is_good || !range->satisfied)
        return stop(request, ZB_EIO, "the server answers a range without a valid Content-Range");
    if (!range->has_size)
        return stop(request, ZB_EIO, "the server does not tell the object's size");
    if (reply->encoding[0])
        return stop(request, ZB_EIO, "the server sends a range of the object in another encoding");
    request->size = request->version.size = range->size;
    if (!check_version(request))
        return false;
    const uint64_t first = place_of(request, range->size, &count);
    if (range->first != first + request->got || range->last - first >= count)
        return stop(request, ZB_EIO, "the server answers with another range than it was asked for");
    if (reply->has_length && reply->length != range->last - range->first + 1)
        return stop(request, ZB_EIO, "the reply's length is not that of its range");
    if (request->span == ZB__SUFFIX)
        request->offset = first; /* for the rest of a cut reply */
    return set_goal(request, count);
}

/* ---- 200 ---- */

/* All of the object where a part of it was asked for. */
static bool take_slice(zb__request *request) {
    const zb__reply *reply = &request->reply;
    uint64_t count, asked = request->length;
    if (!reply->has_length || reply->encoding[0] ||
        (reply->length > MOST_MORE && (reply->length - MOST_MORE) / MOST_TIMES > asked))
        return stop(
            request, ZB_EIO,
            "the server sends all of the object for a range: does it answer range requests?");
    request->size = request->version.size = reply->length;
    if (!check_version(request))
        return false;
    const uint64_t first = place_of(request, reply->length, &count);
    request->skip = first + request->got;
    if (request->span == ZB__SUFFIX)
        request->offset = first;
    if (!set_goal(request, count))
        return false;
    return request->got < request->goal; /* else there is nothing to wait for */
}

static bool take_all(zb__request *request) {
    const zb__reply *reply = &request->reply;
    request->got = 0;
    request->has_goal = false;
    request->started = false; /* the rest of a cut reply may have been asked for */
    if (request->any_encoding && strncasecmp(reply->content_type, "text/html", 9) == 0)
        return stop(request, ZB_EFORMAT,
                    "the server answers with a page of HTML (text/html) where JSON was asked for");
    if (reply->encoding[0] && !request->any_encoding)
        return stop(request, ZB_EIO, "the server sends the object in another encoding");
    if (!reply->has_length && !reply->is_chunked && !reply->is_framed && !request->any_encoding &&
        request->method == ZB__GET)
        return stop(request, ZB_EIO, "the server does not tell the length of its reply");
    if (!reply->has_length || reply->encoding[0])
        return true; /* the end tells */
    request->size = request->version.size = reply->length;
    if (!check_version(request))
        return false;
    if (reply->length > request->most)
        return stop(request, ZB_ELIMIT, "the object is larger than it may be");
    return set_goal(request, reply->length);
}

bool zb__body_judge_head(zb__request *request) {
    const int status = request->reply.status;
    request->judged = true;
    if (request->reply.contradicts)
        return stop(request, ZB_EIO, "the reply has two lengths that differ");
    request->refused = status < 200 || status >= 300;
    if (request->refused)
        return true;
    request->version = request->reply.version;
    if (status == 206)
        return take_partial(request);
    if (request->method == ZB__GET && status != 200)
        return stop(request, ZB_EIO, "the server answers with an unexpected HTTP status");
    if (request->method == ZB__GET && request->span != ZB__ALL)
        return take_slice(request);
    return request->method == ZB__HEAD || take_all(request);
}

/* ---- Bytes ---- */

static bool spill(zb__request *request, const char *data, size_t size) {
    if (request->spilled < ZB__SPILL) {
        const size_t left = ZB__SPILL - request->spilled, taken = size < left ? size : left;
        memcpy(request->reply.body + request->spilled, data, taken);
        request->reply.body[request->spilled + taken] = '\0';
    }
    request->spilled += size;
    return request->spilled <= MOST_SPILLED;
}

/* Room for a body of unknown length. */
static bool grow(zb__request *request, size_t size) {
    if (size > request->most - request->got)
        return stop(request, ZB_ELIMIT, "the object is larger than it may be");
    const size_t needed = request->got + size + 1;
    if (needed <= request->room)
        return true;
    const size_t room = needed < 32768 ? 65536 : 2 * needed;
    char *larger = realloc(request->buffer, room);
    if (!larger)
        return stop(request, ZB_ENOMEM, "no memory for the reply");
    request->buffer = larger;
    request->room = room;
    return true;
}

bool zb__body_take(zb__request *request, const void *data, size_t size) {
    const char *bytes = data;
    if (!request->judged && !zb__body_judge_head(request))
        return false;
    if (request->refused)
        return spill(request, bytes, size);
    const size_t dropped = request->skip < size ? (size_t)request->skip : size;
    request->skip -= dropped;
    bytes += dropped;
    size -= dropped;
    if (request->has_goal) {
        const uint64_t left = request->goal - request->got;
        if (size > left)
            size = (size_t)left;
    } else if (!grow(request, size)) {
        return false;
    }
    memcpy((char *)request->buffer + request->got, bytes, size);
    request->got += size;
    const bool goes_on = !request->has_goal || request->got < request->goal;
    return goes_on || request->span == ZB__ALL || request->reply.status == 206;
}

bool zb__body_finish(zb__request *request) {
    if (!request->has_goal && request->method == ZB__GET) {
        request->size = request->version.size = request->got;
        if (!check_version(request))
            return false;
    }
    if (request->room)
        ((char *)request->buffer)[request->got] = '\0';
    return true;
}
