/* SPDX-License-Identifier: MIT */
#include "model/block.h"

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
