/* SPDX-License-Identifier: MIT */
#include "listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

enum zb_code zb__finds_add(zb__finds *finds, const char *below, const char *name, const char *etag,
                           zb_error *err) {
    char *key = NULL, *tag = strdup(etag);
    if (!tag || asprintf(&key, "%s%s%s", below, *below ? "/" : "", name) < 0 ||
        !zb__list_grow(&finds->found, finds->count, &finds->capacity, sizeof *finds->found)) {
        free(tag);
        free(key);
        return zb_fail(err, ZB_ENOMEM, "no memory for keys");
    }
    finds->found[finds->count++] = (zb__found){.key = key, .etag = tag};
    return ZB_OK;
}

void zb__finds_free(zb__finds *finds) {
    for (size_t i = 0; i < finds->count; i++) {
        free(finds->found[i].key);
        free(finds->found[i].etag);
    }
    free(finds->found);
}

enum zb_code zb__listed_name(const zb__entry *entry, const char *prefix, bool is_deep,
                             char name[ZB__LISTED_NAME], zb_error *err) {
    const size_t begins = strlen(prefix);
    const char *key = strncmp(entry->key, prefix, begins) == 0 ? entry->key + begins : NULL;
    size_t length = key ? strlen(key) : 0;
    if (entry->is_prefix && length && key[length - 1] == '/')
        length--;
    if (!key || length >= ZB__LISTED_NAME || (!is_deep && memchr(key, '/', length)))
        return zb_fail(err, ZB_EIO, "the server lists names that were not asked for");
    memcpy(name, key, length);
    name[length] = '\0';
    return ZB_OK;
}

enum zb_code zb__look_at(void *looking, const zb__entry *found, zb_error *err) {
    zb__looking *l = looking;
    const char *key = found->key;
    (void)err;
    const bool begins = strncmp(key, l->prefix, l->length) == 0;
    const unsigned char next = begins ? (unsigned char)key[l->length] : 0;
    l->is_there |= begins && (!next || next == '/');
    l->is_past |= begins && next > '/';
    return ZB_OK;
}
