/* SPDX-License-Identifier: MIT */
/*
 * A fetch is one request, or several of equal parts where that is faster. The parts answer on the
 * I/O thread, one after the other, so that a job needs no lock.
 */
#include "fetch.h"

#include <stdlib.h>
#include <string.h>

#include "io.h"
#include "object.h"
#include "remote.h"
#include "util/latch.h"
#include "zarrbridge/limits.h"

#define MOST_PARTS 65536
#define MOST_LOOKS 16

typedef struct job {
    zb_fetch *fetch;
    zb_fetch_fn done;
    void *context;
    zb__remote_object *opened; /* the handle to hand out; NULL where the fetch has one */
    struct job *next;          /* while they are made */
    bool owns_buffer;          /* the one of the fetch, until the job has begun */
    unsigned looks;            /* tries to find the end of an object of a service that takes no
                                  range from there */
    uint64_t size;             /* of the object, by the last of them */
    size_t count, left;
    zb__request parts[];
} job;

bool zb__key_is_document(const char *key) {
    static const char *const names[] = {"zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"};
    const char *slash = strrchr(key, '/'), *name = slash ? slash + 1 : key;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

/* ---- The end of a job ---- */

static void free_job(job *j) {
    zb__object_free(j->opened);
    free(j);
}

/* The first error of the parts; and the versions of all are one. */
static void judge(const job *j, zb_fetch *fetch) {
    fetch->code = ZB_OK;
    for (size_t i = 0; i < j->count; i++) {
        if (j->parts[i].code) {
            fetch->code = j->parts[i].code;
            fetch->error = j->parts[i].error;
            return;
        }
        if (i && !zb__version_same(&j->parts[0].version, &j->parts[i].version)) {
            fetch->code = zb_fail(&fetch->error, ZB_ECONFLICT,
                                  "%s/%s: the object has changed while it was read",
                                  j->parts[i].store->base.label, j->parts[i].key);
            return;
        }
    }
}

/* The bytes of all parts lie one behind the other; only at the object's end some are missing. */
static size_t bytes_of(const job *j) {
    size_t got = 0;
    for (size_t i = 0; i < j->count; i++)
        got += j->parts[i].got;
    return got;
}

static bool is_cancelled(const job *j) {
    for (size_t i = 0; i < j->count; i++) {
        if (j->parts[i].code == ZB_ECANCELLED)
            return true;
    }
    return false;
}

static void hand_out(job *j) {
    zb_fetch *fetch = j->fetch;
    j->opened->version = j->parts[0].version;
    j->opened->version.size = j->parts[0].size;
    fetch->info = zb__object_info(&j->opened->version);
    fetch->object = &j->opened->base;
    j->opened = NULL;
}

static void tell(const job *j) {
    zb__remote *store = j->parts[0].store;
    if (j->opened && store->protocol->answered)
        store->protocol->answered(store, j->opened->key, j->fetch->code, &j->parts[0].version);
}

/* One that is taken back keeps the code that its caller has set. */
static void finish(job *j) {
    zb_fetch *fetch = j->fetch;
    if (j->count == 1 && !fetch->range.buffer)
        fetch->range.buffer = j->parts[0].buffer;
    if (!is_cancelled(j)) {
        judge(j, fetch);
        tell(j);
        fetch->range.got = fetch->code ? 0 : bytes_of(j);
        if (!fetch->code && j->opened)
            hand_out(j);
        j->done(j->context, fetch);
    }
    free_job(j);
}

static void part_done(zb__request *part);

static void fill(job *j, size_t i, zb_store *store, const zb__remote_object *object) {
    zb_fetch *fetch = j->fetch;
    j->parts[i] = (zb__request){.store = (zb__remote *)store,
                                .method = ZB__GET,
                                .key = object ? object->key : fetch->key,
                                .pin = object ? &object->version : NULL,
                                .group = j->context,
                                .done = part_done,
                                .context = j};
}

/* Asks for the end of an object of that size. */
static enum zb_code ask_for_end(job *j, uint64_t size) {
    zb__request *part = &j->parts[0];
    const zb_range *range = &j->fetch->range;
    if (part->buffer != range->buffer)
        free(part->buffer);
    fill(j, 0, &part->store->base, NULL);
    part->span = ZB__RANGE;
    part->length = range->length < size ? range->length : (size_t)size;
    part->offset = size - part->length;
    part->buffer = range->buffer;
    j->size = size;
    j->left = 1;
    return zb__io_submit(part, &part->error);
}

/* Of a service that takes no range from the end the size is asked for first. Where the object has
   another one when its end comes, that was not the end, and it is asked for again. True: a request
   has been begun. */
static bool goes_on(job *j) {
    zb__request *part = &j->parts[0];
    const bool is_look = part->method == ZB__HEAD;
    if (!j->looks || part->code)
        return false;
    if (is_look) {
        part->size = part->reply.length;
        part->version = part->reply.version;
    }
    if (is_look && !part->reply.has_length)
        part->code = zb_fail(&part->error, ZB_EIO, "%s/%s: the service does not tell the size",
                             part->store->base.label, part->key);
    else if (!part->size || (!is_look && part->size == j->size))
        return false;
    else if (j->looks++ == MOST_LOOKS)
        part->code = zb_fail(&part->error, ZB_ECONFLICT, "%s/%s: the object keeps changing",
                             part->store->base.label, part->key);
    else
        part->code = ask_for_end(j, part->size);
    return !part->code;
}

static void part_done(zb__request *part) {
    job *j = part->context;
    if (--j->left == 0 && !goes_on(j))
        finish(j);
}

/* ---- Making jobs ---- */

static size_t parts_of(const zb_fetch *fetch, uint64_t length) {
    const uint64_t part = zb_limits_get()->remote_part_bytes;
    if (!part || length <= zb_part_most(part) ||
        (!fetch->object && fetch->range.offset == ZB_FROM_END))
        return 1;
    const uint64_t count = (length - 1) / part + 1;
    return count < MOST_PARTS ? (size_t)count : MOST_PARTS;
}

/* A range of known place in equal parts. */
static enum zb_code fill_range(job *j, zb_store *store, uint64_t first, uint64_t length,
                               zb_error *err) {
    const zb__remote_object *object = (const zb__remote_object *)j->fetch->object;
    if (j->count > 1 && !j->fetch->range.buffer) {
        j->fetch->range.buffer = ((zb__remote *)store)->take_buffer((size_t)length + 1);
        if (!j->fetch->range.buffer)
            return zb_fail(err, ZB_ENOMEM, "no memory for a reply");
        j->owns_buffer = true;
    }
    char *buffer = j->fetch->range.buffer;
    const uint64_t each = length / j->count;
    for (size_t i = 0; i < j->count; i++) {
        fill(j, i, store, object);
        const uint64_t begin = i * each, end = i + 1 < j->count ? begin + each : length;
        j->parts[i].span = ZB__RANGE;
        j->parts[i].offset = first + begin;
        j->parts[i].length = (size_t)(end - begin);
        j->parts[i].buffer = buffer ? buffer + begin : NULL;
    }
    return ZB_OK;
}

/* Of an object whose size is not known yet. */
static enum zb_code fill_open(job *j, zb_store *store, zb_error *err) {
    zb_fetch *fetch = j->fetch;
    if (fetch->range.length != ZB_WHOLE && fetch->range.offset != ZB_FROM_END)
        return fill_range(j, store, fetch->range.offset, fetch->range.length, err);
    fill(j, 0, store, NULL);
    zb__request *request = &j->parts[0];
    if (fetch->range.length == ZB_WHOLE) {
        request->span = ZB__ALL;
        request->most = fetch->most;
        request->any_encoding = zb__key_is_document(fetch->key);
    } else {
        j->looks = request->store->protocol->lacks_suffixes;
        request->method = j->looks ? ZB__HEAD : ZB__GET;
        request->span = ZB__SUFFIX;
        request->length = fetch->range.length;
        request->buffer = fetch->range.buffer;
    }
    return ZB_OK;
}

/* The part of a known object that the fetch means. */
static enum zb_code place_of(const zb_fetch *fetch, uint64_t *first, uint64_t *length,
                             zb_error *err) {
    const zb__remote_object *object = (const zb__remote_object *)fetch->object;
    const uint64_t size = object->version.size;
    const zb_range *range = &fetch->range;
    if (range->length == ZB_WHOLE && size > fetch->most)
        return zb_fail(err, ZB_ELIMIT, "%s/%s: the object is larger than it may be",
                       object->base.store->label, object->key);
    *first = range->offset < size ? range->offset : size;
    if (range->length == ZB_WHOLE)
        *first = 0;
    else if (range->offset == ZB_FROM_END)
        *first = range->length < size ? size - range->length : 0;
    *length = size - *first < range->length ? size - *first : range->length;
    return ZB_OK;
}

static job *new_job(zb_fetch *fetch, uint64_t length, zb_store *store, zb_error *err) {
    const size_t count = parts_of(fetch, length);
    job *j = calloc(1, sizeof *j + count * sizeof *j->parts);
    if (j && !fetch->object)
        j->opened = zb__object_new(store, fetch->key);
    if (!j || (!fetch->object && !j->opened)) {
        free(j);
        zb_fail(err, ZB_ENOMEM, "no memory for a request");
        return NULL;
    }
    j->fetch = fetch;
    j->count = j->left = count;
    return j;
}

/* NULL: code is set; ZB_OK then means that nothing has to be asked for. */
static job *make_job(zb_store *store, zb_fetch *fetch, zb_fetch_fn done, void *context,
                     enum zb_code *code, zb_error *err) {
    uint64_t first = fetch->range.offset, length = fetch->range.length;
    *code = fetch->object ? place_of(fetch, &first, &length, err) : ZB_OK;
    fetch->range.got = 0;
    if (*code || (fetch->object && !length))
        return NULL;
    if (!length) {
        *code = zb_fail(err, ZB_EINVAL, "an empty range opens no object");
        return NULL;
    }
    if (length == ZB_WHOLE)
        length = 0; /* one part */
    job *j = new_job(fetch, length, store, err);
    *code = j ? ZB_OK : ZB_ENOMEM;
    if (!j)
        return NULL;
    j->done = done;
    j->context = context;
    *code = fetch->object ? fill_range(j, store, first, length, err) : fill_open(j, store, err);
    if (!*code)
        return j;
    free_job(j);
    return NULL;
}

/* ---- Submitting ---- */

static enum zb_code prepare(zb__remote *store, zb_error *err) {
    return store->protocol->prepare ? store->protocol->prepare(store, err) : ZB_OK;
}

/* All requests of the jobs as one list. */
static zb__request *chain(job *jobs) {
    zb__request *first = NULL, **end = &first;
    for (job *j = jobs; j; j = j->next) {
        for (size_t i = 0; i < j->count; i++) {
            *end = &j->parts[i];
            end = &j->parts[i].next;
        }
    }
    return first;
}

static void free_jobs(job *jobs) {
    for (job *next; jobs; jobs = next) {
        next = jobs->next;
        if (jobs->owns_buffer) {
            free(jobs->fetch->range.buffer);
            jobs->fetch->range.buffer = NULL;
        }
        free_job(jobs);
    }
}

/* A fetch with nothing to ask for, or that cannot be made, is done at once: the list is begun as a
   whole or not at all, and not for what is wrong with one of it. */
enum zb_code zb__fetch_submit(zb_store *store, zb_fetch *list, zb_fetch_fn done, void *context,
                              zb_error *err) {
    job *jobs = NULL, **end = &jobs;
    zb_fetch *at_once = NULL, *next;
    enum zb_code code = prepare((zb__remote *)store, err);
    for (zb_fetch *fetch = list; fetch && !code; fetch = next) {
        enum zb_code made;
        next = fetch->next;
        *end = make_job(store, fetch, done, context, &made, &fetch->error);
        if (*end) {
            end = &(*end)->next;
        } else {
            fetch->code = made;
            fetch->next = at_once;
            at_once = fetch;
        }
    }
    if (!code && jobs)
        code = zb__io_submit(chain(jobs), err);
    if (code)
        free_jobs(jobs);
    for (zb_fetch *fetch = code ? NULL : at_once; fetch; fetch = next) {
        next = fetch->next;
        done(context, fetch);
    }
    return code;
}

void zb__fetch_cancel(zb_store *store, void *context) {
    zb__io_cancel((zb__remote *)store, context);
}

/* ---- Waiting ---- */

static void fetch_done(void *context, zb_fetch *fetch) {
    (void)fetch;
    zb__latch_count_down(context);
}

enum zb_code zb__fetch_one(zb_store *store, zb_fetch *fetch, zb_error *err) {
    enum zb_code code = zb__fetch_wait(store, fetch, err);
    if (!code && fetch->code) {
        code = fetch->code;
        if (err)
            *err = fetch->error;
    }
    return code;
}

/* One byte tells as much as a HEAD, and errors come with their words. */
enum zb_code zb__fetch_probe(zb_store *store, zb_probe *probe, zb_error *err) {
    if (probe->asks >= ZB_ASK_HOLDER)
        return ZB_EUNSUPPORTED;
    char byte;
    zb_fetch fetch = {.key = probe->name, .range = {.length = 1, .buffer = &byte}};
    enum zb_code code = zb__fetch_one(store, &fetch, err);
    if (!code)
        probe->info = fetch.info;
    zb__object_free((zb__remote_object *)fetch.object);
    return code;
}

static void request_done(zb__request *request) {
    zb__latch_count_down(request->context);
}

enum zb_code zb__fetch_wait(zb_store *store, zb_fetch *list, zb_error *err) {
    zb__latch done;
    size_t count = 0;
    for (zb_fetch *fetch = list; fetch; fetch = fetch->next, count++)
        fetch->code = zb__fail_stopped(&fetch->error); /* unless it is answered */
    zb__latch_begin(&done, count);
    enum zb_code code = zb__fetch_submit(store, list, fetch_done, &done, err);
    if (!code && !zb__latch_wait(&done, ((zb__remote *)store)->stopper()))
        zb__fetch_cancel(store, &done);
    zb__latch_end(&done);
    return code;
}

static enum zb_code send_list(zb__request *list, zb_error *err) {
    const enum zb_code code = prepare(list->store, err);
    return code ? code : zb__io_submit(list, err);
}

enum zb_code zb__requests_wait(zb__request *requests, size_t count, zb_error *err) {
    zb__latch done;
    zb__latch_begin(&done, count);
    for (size_t i = 0; i < count; i++) {
        requests[i].next = i + 1 < count ? &requests[i + 1] : NULL;
        requests[i].done = request_done;
        requests[i].context = &done;
        requests[i].group = &done;
    }
    const enum zb_code code = send_list(requests, err);
    if (!code && !zb__latch_wait(&done, requests->store->stopper()))
        zb__io_cancel(requests->store, &done); /* which answers all of them */
    zb__latch_end(&done);
    return code;
}

enum zb_code zb__request_send(zb__request *request, zb_error *err) {
    request->next = NULL;
    return send_list(request, err);
}

enum zb_code zb__request_wait(zb__request *request, zb_error *err) {
    enum zb_code code = zb__requests_wait(request, 1, err);
    if (!code && request->code && err)
        *err = request->error;
    return code ? code : request->code;
}

enum zb_code zb__request_wait_checked(zb__request *request, const zb_put *put, bool *is_refused,
                                      zb_error *err) {
    zb__latch done;
    zb__latch_begin(&done, 1);
    request->is_held = true;
    request->done = request_done;
    request->context = &done;
    request->group = &done;
    enum zb_code code = zb__request_send(request, err);
    const bool was_sent = !code;
    if (was_sent)
        code = zb_batch_check(put->batch, put->key, err);
    *is_refused = was_sent && code;
    if (*is_refused)
        zb__io_cancel(request->store, request->group);
    else if (was_sent)
        zb__io_release(request);
    zb__stopper goes_on = {.is_stopped = false}; /* a put is sent to its end */
    if (was_sent)
        zb__latch_wait(&done, &goes_on);
    zb__latch_end(&done);
    if (!code && request->code && err)
        *err = request->error;
    return code ? code : request->code;
}
