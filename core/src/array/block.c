/* SPDX-License-Identifier: MIT */
#include "array/block.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b) {
    return strcmp(zb_json_name(*(const zb_json *const *)a),
                  zb_json_name(*(const zb_json *const *)b));
}

static int name_is(const void *name, const void *entry) {
    return strcmp(name, zb_json_name(*(const zb_json *const *)entry));
}

const zb_json **zb__block_entries(const zb_json *map, size_t *count) {
    const zb_json **entries = malloc((zb_json_count(map) + 1) * sizeof *entries);
    *count = 0;
    if (!entries)
        return NULL;
    for (const zb_json *m = zb_json_first(map); m; m = zb_json_next(m))
        entries[(*count)++] = m;
    qsort(entries, *count, sizeof *entries, by_name);
    return entries;
}

const zb_json *zb__block_find(const zb_json *const *entries, size_t count, const char *name) {
    const zb_json *const *found =
        count ? bsearch(name, entries, count, sizeof *entries, name_is) : NULL;
    return found ? *found : NULL;
}

/* Their names stand together, behind those that go on with a character before the slash. */
size_t zb__block_below(const zb_json *const *entries, size_t count, const char *name) {
    const size_t length = strlen(name);
    size_t low = 0, high = length ? count : 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const char *at = zb_json_name(entries[middle]);
        const int order = strncmp(at, name, length);
        if (order < 0 || (order == 0 && (unsigned char)at[length] < '/'))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool zb__block_knows(const zb_json *const *entries, size_t count, const char *name) {
    if (zb__block_find(entries, count, name))
        return true;
    const size_t length = strlen(name), below = zb__block_below(entries, count, name);
    const char *at = below < count ? zb_json_name(entries[below]) : "";
    return strncmp(at, name, length) == 0 && at[length] == '/';
}

void zb__block_begin(zb_json_writer *w) {
    zb_json_begin_object(w);
    zb_json_write_name(w, "kind");
    zb_json_write_string(w, "inline");
    zb_json_write_name(w, "must_understand");
    zb_json_write_bool(w, false);
    zb_json_write_name(w, "metadata");
    zb_json_begin_object(w);
}

void zb__block_end(zb_json_writer *w) {
    zb_json_end_object(w);
    zb_json_end_object(w);
}
