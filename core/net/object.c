/* SPDX-License-Identifier: MIT */
#include "object.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"

static zb__remote_object *object_of(zb__answer *answer) {
    return (zb__remote_object *)((char *)answer - offsetof(zb__remote_object, answer));
}

static void free_object(zb__answer *answer) {
    zb__remote_object *object = object_of(answer);
    if (object->owner)
        zb__answer_drop(object->owner);
    else
        free(object->head);
    free(object->key);
    free(object);
}

zb__remote_object *zb__object_new(zb_store *store, const char *key) {
    zb__remote_object *object = calloc(1, sizeof *object);
    char *copy = object ? strdup(key) : NULL;
    if (!copy) {
        free(object);
        return NULL;
    }
    object->base.store = store;
    object->answer.free = free_object;
    object->key = copy;
    return object;
}

zb__remote_object *zb__object_share(zb_store *store, zb__answer *answer) {
    const zb__remote_object *from = object_of(answer);
    zb__remote_object *object = zb__object_new(store, from->key);
    if (!object) {
        zb__answer_drop(answer);
        return NULL;
    }
    object->version = from->version;
    object->head = from->head;
    object->head_size = from->head_size;
    object->owner = answer;
    return object;
}

void zb__object_free(zb__remote_object *object) {
    if (object)
        zb__answer_drop(&object->answer);
}

/* The age by the server's own clock. */
zb_object_info zb__object_info(const zb__version *version) {
    const bool known = version->modified && version->dated;
    return (zb_object_info){.size = version->size,
                            .validator = zb__version_validator(version),
                            .age = known ? (version->dated - version->modified) * ZB__SECOND : 0};
}

bool zb__object_from_head(const zb__remote_object *object, zb_range *range) {
    const uint64_t size = object->version.size;
    uint64_t first = range->offset, count = range->length;
    if (first == ZB_FROM_END)
        first = count < size ? size - count : 0;
    else if (first > size)
        first = size;
    if (count > size - first)
        count = size - first;
    if (count && (!object->head || first > object->head_size || count > object->head_size - first))
        return false;
    if (count)
        memcpy(range->buffer, object->head + first, (size_t)count);
    range->got = (size_t)count;
    return true;
}
