/* SPDX-License-Identifier: MIT */
/*
 * How much room an array takes in its store. The objects that exist are listed and added up: a walk
 * over the grid would take as long as the shape, which is untrusted, says.
 */
#include <stdlib.h>
#include <string.h>

#include "meta/array.h"

typedef struct listing {
    char **names; /* of objects and prefixes, full keys */
    bool *is_prefix;
    size_t count, capacity;
    const char *prefix;
    uint64_t limit;
    enum zb_code code;
} listing;

static char *join(const char *prefix, const char *name) {
    size_t head = strlen(prefix), tail = strlen(name);
    char *key = malloc(head + 1 + tail + 1);
    if (!key)
        return NULL;
    memcpy(key, prefix, head);
    if (head)
        key[head++] = '/';
    memcpy(key + head, name, tail + 1);
    return key;
}

static bool grow(listing *l) {
    if (l->count < l->capacity)
        return true;
    size_t capacity = l->capacity ? l->capacity * 2 : 64;
    char **names = realloc(l->names, capacity * sizeof *names);
    if (!names)
        return false;
    l->names = names;
    bool *is_prefix = realloc(l->is_prefix, capacity * sizeof *is_prefix);
    if (!is_prefix)
        return false;
    l->is_prefix = is_prefix;
    l->capacity = capacity;
    return true;
}

static int add_name(void *context, const char *name, bool is_prefix) {
    listing *l = context;
    if (name[0] == '.' || strcmp(name, "zarr.json") == 0)
        return 0;
    if (l->count >= l->limit)
        return l->code = ZB_ELIMIT, 1;
    char *key = grow(l) ? join(l->prefix, name) : NULL;
    if (!key)
        return l->code = ZB_ENOMEM, 1;
    l->names[l->count] = key;
    l->is_prefix[l->count++] = is_prefix;
    return 0;
}

/* Adds what lies directly below prefix to the listing. */
static enum zb_code list_below(listing *l, zb_store *store, const char *prefix, zb_error *err) {
    l->prefix = prefix;
    enum zb_code code = zb_store_list(store, prefix, add_name, l, err);
    if (code == ZB_OK && l->code == ZB_ELIMIT)
        code = zb_fail(err, ZB_ELIMIT, "more than %llu objects, limit children",
                       (unsigned long long)l->limit);
    else if (code == ZB_OK && l->code != ZB_OK)
        code = zb_fail(err, l->code, "no memory for a listing");
    return code;
}

/* Adds an entry's size, or what lies below it. An object that vanished meanwhile counts nothing. */
static enum zb_code add_entry(listing *l, size_t i, zb_store *store, uint64_t *bytes,
                              zb_error *err) {
    if (l->is_prefix[i])
        return list_below(l, store, l->names[i], err);
    zb_object_info info;
    enum zb_code code = zb_store_stat(store, l->names[i], &info, err);
    if (code == ZB_OK)
        *bytes += info.size;
    return code == ZB_ENOTFOUND ? ZB_OK : code;
}

enum zb_code zb_array_storage_size(const zb_node *node, uint64_t *bytes, zb_error *err) {
    if (!node->array)
        return zb_fail(err, ZB_EINVAL, "/%s is a group, not an array", node->path);
    if (!node->store->hints.can_list)
        return zb_fail(err, ZB_EUNSUPPORTED, "store %s cannot be listed", node->store->label);
    listing l = {.limit = zb_limits_get()->children};
    *bytes = 0;
    enum zb_code code = list_below(&l, node->store, node->path, err);
    for (size_t i = 0; i < l.count && code == ZB_OK; i++) /* the listing grows meanwhile */
        code = add_entry(&l, i, node->store, bytes, err);
    for (size_t i = 0; i < l.count; i++)
        free(l.names[i]);
    free(l.names);
    free(l.is_prefix);
    return code;
}
