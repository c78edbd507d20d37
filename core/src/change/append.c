/* SPDX-License-Identifier: MIT */
/*
 * Appending: a place at the end of one or several arrays, reserved and filled in one lock scope.
 * Nobody else resizes the arrays meanwhile, so that two programs never get the same place.
 *
 * A program that is killed between the first document and the last chunk leaves fill values. Where
 * it has made some of the arrays longer and not the others, the next append begins behind the
 * longest, so that they agree again.
 *
 * Where no lock keeps other programs out (S3), one of them could grow one of the arrays between the
 * others, and shrinking them again would erase what it has put there. There appending is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "node/current.h"
#include "node/node.h"
#include "zarrbridge/change.h"
#include "zarrbridge/write.h"

typedef struct appending {
    const zb_append *appends;
    size_t n;
    uint64_t count, start;
    zb_node **now, **then; /* [n]: before and after; NULL while there is none */
} appending;

static enum zb_code check(const zb_append *appends, size_t n, uint64_t count, zb_error *err) {
    if (n == 0 || count == 0)
        return zb_fail(err, ZB_EINVAL, "there is nothing to append");
    for (size_t i = 0; i < n; i++) {
        const zb_node *one = appends[i].array;
        if (!one->array)
            return zb_fail(err, ZB_EINVAL, "store %s: /%s is a group, not an array",
                           one->hierarchy->store->label, one->path);
        if (appends[i].dim >= one->array->info.ndim)
            return zb_fail(err, ZB_EINVAL, "store %s: array /%s has no dimension %u",
                           one->hierarchy->store->label, one->path, appends[i].dim);
        if (one->hierarchy->store->ops->put && !one->hierarchy->store->hints.is_local)
            return zb_fail(err, ZB_EUNSUPPORTED,
                           "store %s has no locks, so that programs cannot append at once: let one "
                           "program change the shape of /%s, and write the new elements",
                           one->hierarchy->store->label, one->path);
        if (one->hierarchy != appends[0].array->hierarchy)
            return zb_fail(err, ZB_EINVAL, "arrays of two stores cannot grow in one step");
        for (size_t j = 0; j < i; j++)
            if (strcmp(one->path, appends[j].array->path) == 0)
                return zb_fail(err, ZB_EINVAL, "store %s: array /%s is named twice",
                               one->hierarchy->store->label, one->path);
    }
    return ZB_OK;
}

/* The sum is no overflow. */
static enum zb_code check_length(const appending *a, const zb_append *one, zb_error *err) {
    const uint64_t most = one->most ? one->most[one->dim] : UINT64_MAX;
    if (a->start + a->count <= most)
        return ZB_OK;
    return zb_fail(
        err, ZB_EINVAL, "store %s: dimension %u of array /%s cannot exceed its maximal size (%llu)",
        one->array->hierarchy->store->label, one->dim, one->array->path, (unsigned long long)most);
}

/* Finds where the new elements begin. */
static enum zb_code look(appending *a, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < a->n && !code; i++) {
        code = zb__array_now(a->appends[i].array, &a->now[i], NULL, NULL, NULL, err);
        const uint64_t length = code ? 0 : a->now[i]->array->info.shape[a->appends[i].dim];
        a->start = length > a->start ? length : a->start;
    }
    if (!code && a->count > UINT64_MAX - a->start)
        code = zb_fail(err, ZB_EINVAL, "the arrays would be too long");
    for (size_t i = 0; i < a->n && !code; i++)
        code = check_length(a, &a->appends[i], err);
    return code;
}

static enum zb_code reserve(appending *a, zb_error *err) {
    enum zb_code code = ZB_OK;
    for (size_t i = 0; i < a->n && !code; i++) {
        const zb_array_info *info = &a->now[i]->array->info;
        uint64_t shape[ZB_MAX_NDIM];
        memcpy(shape, info->shape, info->ndim * sizeof *shape);
        shape[a->appends[i].dim] = a->start + a->count;
        code = zb_array_resize(a->now[i], shape, &a->then[i], err);
        if (code)
            a->then[i] = NULL;
    }
    return code;
}

static enum zb_code fill_one(const appending *a, size_t i, const zb_write_options *options,
                             zb_error *err) {
    const zb_append *one = &a->appends[i];
    const zb_array_info *info = &a->then[i]->array->info;
    uint64_t start[ZB_MAX_NDIM] = {0}, count[ZB_MAX_NDIM];
    zb_writer *writer;
    if (!one->data)
        return ZB_OK;
    memcpy(count, info->shape, info->ndim * sizeof *count);
    start[one->dim] = a->start;
    count[one->dim] = a->count;
    const zb_write write = {.start = start,
                            .count = count,
                            .data = one->data,
                            .dtype = one->dtype,
                            .strides = one->strides};
    enum zb_code code = zb_writer_open(a->then[i], options, &writer, err);
    if (code)
        return code;
    code = zb_writer_write(writer, &write, err);
    if (!code)
        return zb_writer_close(writer, err);
    zb_writer_abandon(writer);
    return code;
}

/* Makes the arrays that have grown as long as they were; nobody else has been there. */
static enum zb_code take_back(const appending *a, enum zb_code code, zb_error *err) {
    zb_error why;
    for (size_t i = 0; i < a->n; i++) {
        zb_node *back;
        if (!a->then[i])
            continue;
        if (zb_array_resize(a->then[i], a->now[i]->array->info.shape, &back, &why) == ZB_OK)
            zb_node_release(back);
        else
            zb_error_prefix(err, code,
                            "array /%s keeps its new length, without the new elements (%s)",
                            a->then[i]->path, why.message);
    }
    return code;
}

/* Called in the lock scope. */
static enum zb_code append(appending *a, const zb_write_options *options, zb_error *err) {
    enum zb_code code = look(a, err);
    if (code)
        return code;
    code = reserve(a, err);
    for (size_t i = 0; i < a->n && !code; i++)
        code = fill_one(a, i, options, err);
    return code ? take_back(a, code, err) : ZB_OK;
}

static void clear(zb_node **nodes, size_t n) {
    for (size_t i = 0; i < n && nodes; i++)
        zb_node_release(nodes[i]);
    free(nodes);
}

enum zb_code zb_array_append(const zb_append *appends, size_t n, uint64_t count,
                             const zb_write_options *options, uint64_t *start, zb_node **grown,
                             zb_error *err) {
    zb_lock_scope lock_scope;
    enum zb_code code = check(appends, n, count, err);
    if (code)
        return code;
    zb_hierarchy *hierarchy = appends[0].array->hierarchy;
    appending a = {.appends = appends, .n = n, .count = count};
    a.now = calloc(n, sizeof(zb_node *));
    a.then = calloc(n, sizeof(zb_node *));
    code = a.now && a.then ? zb_lock_scope_begin(hierarchy, &lock_scope, err)
                           : zb_fail(err, ZB_ENOMEM, "out of memory for a list of arrays");
    if (!code)
        code = zb_lock_scope_end(hierarchy, &lock_scope, append(&a, options, err), err);
    if (!code)
        *start = a.start;
    for (size_t i = 0; i < n && grown; i++) {
        grown[i] = code ? NULL : a.then[i];
        if (!code)
            a.then[i] = NULL;
    }
    clear(a.then, n);
    clear(a.now, n);
    return code;
}
