/* SPDX-License-Identifier: MIT */
/* The module's entry: stores on the network by their names, and the operations that wait. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "document.h"
#include "fetch.h"
#include "http.h"
#include "io.h"
#include "object.h"
#include "remote.h"
#include "util/clock.h"
#ifdef ZB_HAVE_CLOUDS
#include "azure.h"
#include "conditional.h"
#include "conditional_erase.h"
#include "conditional_put.h"
#include "s3_open.h"
#endif
#include "store/module.h"
#include "zarrbridge/limits.h"

/* The bytes of an object that come with its opening: most small ones, whole. */
#define HEAD_BYTES 65536

/* ---- Operations ---- */

static enum zb_code remote_open(zb_store *store, const zb_open *open, zb_object **out,
                                zb_object_info *info, zb_error *err) {
    const char *key = open->key;
    if (zb__key_is_document(key))
        return zb__document_open(store, key, out, info, err);
    zb_fetch fetch = {.key = key, .range = {.length = HEAD_BYTES}};
    enum zb_code code = zb__fetch_one(store, &fetch, err);
    if (code) {
        free(fetch.range.buffer);
        return code;
    }
    zb__remote_object *object = (zb__remote_object *)fetch.object;
    object->head = fetch.range.buffer;
    object->head_size = fetch.range.got;
    *out = &object->base;
    if (info)
        *info = fetch.info;
    return ZB_OK;
}

static void remote_close(zb_object *object) {
    zb__object_free((zb__remote_object *)object);
}

static enum zb_code first_error(const zb_fetch *list, zb_error *err) {
    for (; list; list = list->next) {
        if (list->code) {
            if (err)
                *err = list->error;
            return list->code;
        }
    }
    return ZB_OK;
}

static enum zb_code remote_read(zb_object *object, zb_range *ranges, size_t count, zb_error *err) {
    zb_fetch *fetches = calloc(count ? count : 1, sizeof *fetches), *list = NULL, **end = &list;
    if (!fetches)
        return zb_fail(err, ZB_ENOMEM, "no memory for requests");
    for (size_t i = 0; i < count; i++) {
        if (zb__object_from_head((zb__remote_object *)object, &ranges[i]))
            continue;
        fetches[i] = (zb_fetch){.object = object, .range = ranges[i]};
        *end = &fetches[i];
        end = &fetches[i].next;
    }
    /* The order of the list is lost where some are done at once; the places stay. */
    enum zb_code code = list ? zb__fetch_wait(object->store, list, err) : ZB_OK;
    for (size_t i = 0; i < count && !code; i++) {
        if (fetches[i].object)
            ranges[i].got = fetches[i].range.got;
        fetches[i].next = i + 1 < count ? &fetches[i + 1] : NULL;
    }
    if (!code)
        code = first_error(count ? fetches : NULL, err);
    free(fetches);
    return code;
}

static enum zb_code remote_list(zb_store *store, const zb_list *list, zb_list_fn fn, void *context,
                                zb_error *err) {
    zb__remote *remote = (zb__remote *)store;
    if (!remote->protocol->list)
        return zb_fail(err, ZB_EUNSUPPORTED,
                       "%s: names cannot be listed over plain HTTP: only nodes that consolidated "
                       "metadata name, or whose path is given, can be found",
                       store->label);
    return remote->protocol->list(remote, list, fn, context, err);
}

static void remote_destroy(zb_store *store) {
    zb__remote *remote = (zb__remote *)store;
    zb__io_leave(remote);
    zb__remote_free(remote);
}

static const zb_store_ops remote_ops = {
    .version = ZB_STORE_OPS_VERSION,
    .name = "remote",
    .open = remote_open,
    .read = remote_read,
    .close = remote_close,
    .probe = zb__fetch_probe,
    .list = remote_list,
    .submit = zb__fetch_submit,
    .cancel = zb__fetch_cancel,
    .destroy = remote_destroy,
};

/* ---- Opening ---- */

/* With what changes a store where the service has conditions; the table lies in the store. */
static const zb_store_ops *ops_of(zb__remote *remote) {
    remote->ops = remote_ops;
#ifdef ZB_HAVE_CLOUDS
    const zb__service *service = remote->protocol->service;
    if (service) {
        remote->ops.probe = zb__conditional_probe;
        remote->ops.put = zb__conditional_put;
        remote->ops.erase = zb__conditional_erase;
        remote->ops.erase_chosen = zb__conditional_erase_chosen;
        remote->ops.flush = zb__conditional_flush;
        remote->ops.lock = zb__conditional_lock;
        remote->ops.unlock = zb__conditional_unlock;
        remote->ops.copy = service->copy;
        remote->ops.sweep = service->sweep;
    }
#endif
    return &remote->ops;
}

#define KIB 1024u

static int64_t fresh_of(const zb_limits *limits) {
    const uint64_t most = INT64_MAX / ZB__SECOND;
    const uint64_t seconds = limits->remote_fresh_seconds;
    return seconds < most ? (int64_t)seconds * ZB__SECOND : INT64_MAX;
}

static zb_store_hints hints_of(const zb__remote *remote) {
    const zb_limits *limits = zb_limits_get();
    return (zb_store_hints){.gap = 32 * KIB,
                            .small = 16 * KIB,
                            .max_request = 8 * KIB * KIB,
                            .can_list = remote->protocol->list != NULL,
                            .in_flight = limits->remote_requests < UINT32_MAX
                                             ? (uint32_t)limits->remote_requests
                                             : UINT32_MAX,
                            .part = limits->remote_part_bytes,
                            .window = limits->remote_window_bytes,
                            .reach = &remote->queue.reach,
                            .fresh = fresh_of(limits)};
}

/* A bound that was meant, and mistyped, is not passed over. */
static enum zb_code check_limits(zb_error *err) {
    zb_limit_row row;
    for (size_t i = 0; zb_limit_describe(i, &row); i++) {
        if (row.is_ignored && strncmp(row.name, "remote_", 7) == 0)
            return zb_fail(err, ZB_EINVAL, "%s is neither a number nor inf", row.variable);
    }
    return ZB_OK;
}

/* Sets protocol and state of the store, which are its own then, after an error, too. */
typedef enum zb_code (*open_fn)(const char *name, const zb_store_settings *settings,
                                zb__remote *store, char **label, zb_error *err);

static const struct {
    const char *scheme;
    open_fn open; /* NULL: its libraries were missing */
} protocols[] = {
    {"https://", zb__http_open},
    {"http://", zb__http_open},
#ifdef ZB_HAVE_CLOUDS
    {"s3://", zb__s3_open},
    {"az://", zb__azure_open},
#else
    {"s3://", NULL},
    {"az://", NULL},
#endif
};

static enum zb_code open_protocol(const char *name, const zb_store_settings *settings,
                                  zb__remote *remote, char **label, zb_error *err) {
    size_t i = 0;
    while (i < sizeof protocols / sizeof *protocols &&
           strncasecmp(name, protocols[i].scheme, strlen(protocols[i].scheme)) != 0)
        i++;
    if (i == sizeof protocols / sizeof *protocols) /* whose error tells */
        i = 0;
    if (protocols[i].open)
        return protocols[i].open(name, settings, remote, label, err);
    return zb_fail(err, ZB_EUNSUPPORTED,
                   "%s names are not understood: libexpat or libinih was missing when this library "
                   "was built",
                   protocols[i].scheme);
}

static enum zb_code open_url(const char *name, const zb_store_settings *settings,
                             const zb__module_host *host, zb_store **out, zb_error *err) {
    char *label = NULL;
    if (check_limits(err))
        return ZB_EINVAL;
    zb__remote *remote = calloc(1, sizeof *remote);
    if (!remote)
        return zb_fail(err, ZB_ENOMEM, "no memory for a store");
    remote->take_buffer = host->take_buffer;
    remote->stopper = host->stopper;
    enum zb_code code = open_protocol(name, settings, remote, &label, err);
    if (!code)
        code = host->store_init(&remote->base, ops_of(remote), hints_of(remote), label, err);
    if (!code) {
        code = zb__io_enter(remote, err);
        if (code)
            free(remote->base.label);
    }
    free(label);
    if (!code) {
        *out = &remote->base;
        return ZB_OK;
    }
    zb__remote_free(remote);
    return code;
}

ZB_API const zb__module zb__remote_module = {
    .version = ZB_VERSION, .store_size = sizeof(zb_store), .open = open_url};
