/* SPDX-License-Identifier: MIT */
#include "hierarchy/markers.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "hierarchy/path.h"
#include "store/fs_path.h"
#include "zarrbridge/sys/store.h"

#define TAIL ".zb-journal"

/* Longer markers are not ours, and are another program's in any case. */
#define MARKER_MAX 4096

bool zb__marker_is_name(const char *name) {
    return strcmp(name, ZB__MARKER_RESIZE) == 0 || strcmp(name, ZB__MARKER_COPY) == 0 ||
           strcmp(name, ZB__MARKER_CONSOLIDATED) == 0;
}

enum zb_code zb__marker_look(zb_store *store, const char *key, const char *token, bool *is_there,
                             bool *is_ours, zb_error *err) {
    char *text = NULL;
    size_t size = 0;
    enum zb_code code =
        zb_store_get(store, key, MARKER_MAX, "of a marker", &text, &size, NULL, err);
    *is_there = code != ZB_ENOTFOUND;
    *is_ours = !code && size > 0 && size == strlen(token) && memcmp(text, token, size) == 0;
    free(text);
    return code == ZB_ENOTFOUND || code == ZB_ELIMIT ? ZB_OK : code;
}

char *zb__journal_key(const char *shard) {
    const char *name = zb__path_name(shard);
    size_t above = (size_t)(name - shard), length = strlen(name);
    char *out = malloc(above + 1 + length + sizeof TAIL);
    if (!out)
        return NULL;
    memcpy(out, shard, above);
    out[above] = '.';
    memcpy(out + above + 1, name, length);
    memcpy(out + above + 1 + length, TAIL, sizeof TAIL);
    return out;
}

char *zb__journal_shard(const char *journal) {
    char *out = strdup(journal);
    if (out) {
        size_t at = (size_t)(zb__path_name(journal) - journal);
        size_t length = strlen(journal + at) - sizeof TAIL;
        memmove(out + at, journal + at + 1, length);
        out[at + length] = '\0';
    }
    return out;
}

bool zb__journal_is_name(const char *name) {
    size_t length = strlen(name), tail = sizeof TAIL - 1;
    return name[0] == '.' && length > 1 + tail && strcmp(name + length - tail, TAIL) == 0;
}

bool zb__hidden_is_name(const char *name) {
    const size_t length = sizeof ZB__HIDDEN - 1, digits = 16;
    return strncmp(name, ZB__HIDDEN, length) == 0 && strlen(name + length) == digits &&
           strspn(name + length, "0123456789abcdef") == digits;
}

/* A name that is longer than those of files is none of ours. */
bool zb__name_is_ours(const char *name) {
    char part[NAME_MAX + 1];
    const size_t length = strcspn(name, "/");
    if ((name[0] != '.' && name[0] != '_') || length > NAME_MAX)
        return false;
    memcpy(part, name, length);
    part[length] = '\0';
    return zb__fs_is_ours(part) || zb__fs_is_staging(part) || zb__marker_is_name(part) ||
           zb__journal_is_name(part) || zb__hidden_is_name(part);
}

bool zb__object_is_ours(const char *name) {
    return zb__name_is_ours(name) || strncmp(name, ZB__TEST_OBJECT, strlen(ZB__TEST_OBJECT)) == 0;
}
