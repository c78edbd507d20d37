/* SPDX-License-Identifier: MIT */
/* Merging lists of names: see merge_names.h. */
#include "extension/merge_names.h"

#include <stdlib.h>
#include <string.h>

/* The names of a list, sorted; borrowed from it. */
typedef struct names {
    const char **name;
    size_t count;
} names;

static int compare(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const zb_json *first_of(const zb_json *list) {
    return zb_json_kind_of(list) == ZB_JSON_ARRAY ? zb_json_first(list) : NULL;
}

static bool names_of(const zb_json *list, names *out) {
    *out = (names){.name = malloc((zb_json_count(list) + 1) * sizeof *out->name)};
    for (const zb_json *one = out->name ? first_of(list) : NULL; one; one = zb_json_next(one))
        if (zb_json_string(one))
            out->name[out->count++] = zb_json_string(one);
    if (out->name)
        qsort(out->name, out->count, sizeof *out->name, compare);
    return out->name != NULL;
}

static bool has(const names *list, const char *name) {
    return bsearch(&name, list->name, list->count, sizeof *list->name, compare) != NULL;
}

bool zb__merge_names(zb_json_writer *out, const zb_json *base, const zb_json *ours,
                     const zb_json *theirs, bool numbered) {
    names old, mine, other;
    bool complete = names_of(base, &old);
    complete &= names_of(ours, &mine);
    complete &= names_of(theirs, &other);
    zb_json_begin_array(out);
    for (const zb_json *one = complete ? first_of(ours) : NULL; one; one = zb_json_next(one)) {
        const char *name = zb_json_string(one);
        if (name && (has(&other, name) || !has(&old, name)))
            zb_json_write_string(out, name);
        else if (numbered && name)
            zb_json_write_uint64(out, 1);
        else if (numbered)
            zb_json_write_value(out, one);
    }
    for (const zb_json *one = complete ? first_of(theirs) : NULL; one; one = zb_json_next(one)) {
        const char *name = zb_json_string(one);
        if (name && !has(&mine, name) && !has(&old, name))
            zb_json_write_string(out, name);
    }
    zb_json_end_array(out);
    free(old.name);
    free(mine.name);
    free(other.name);
    return complete;
}
