/* SPDX-License-Identifier: MIT */
/* What programs that start together make at once: see absent.h. */
#include "file/absent.h"

#include "objects/paths.h"
#include "objects/tokens.h"

#include "zarrbridge/change.h"

#include <stdio.h>
#include <string.h>

#define LONGEST 1000  /* longer names are not kept: their creation is exclusive */
#define MOST_MADE 100 /* after so many all creations are */

static _Thread_local struct {
    uint64_t number;    /* of the file; 0: the path is the name of one */
    char path[LONGEST]; /* what was not there; "": nothing is kept */
    uint64_t
        made[MOST_MADE]; /* the hashes of paths there and below at which this thread has made */
    size_t count;        /* something since */
} absent;

/* False: it is too long. */
static bool print_path(const vol_node *base, const char *name, char path[LONGEST]) {
    const bool is_relative = base && name[0] != '/';
    return snprintf(path, LONGEST, "%s%s%s", is_relative ? base->path : "",
                    is_relative && base->parent ? "/" : "", name) < LONGEST;
}

void vol_absent_tell(const vol_node *base, const char *name) {
    absent.number = base ? base->file->number : 0;
    absent.count = 0;
    if (!print_path(base, name, absent.path))
        absent.path[0] = '\0';
}

/* *hash: of the path. */
static bool was_told(const vol_node *base, const char *name, uint64_t *hash) {
    char path[LONGEST];
    const size_t length = strlen(absent.path);
    if (!length || absent.number != (base ? base->file->number : 0) ||
        !print_path(base, name, path) || strncmp(path, absent.path, length) != 0)
        return false;
    *hash = vol_hash(VOL_HASH_START, path, strlen(path));
    return !path[length] || (base && path[length] == '/');
}

static bool is_own(uint64_t hash) {
    for (size_t i = 0; i < absent.count; i++)
        if (absent.made[i] == hash)
            return true;
    return false;
}

static void note_made(uint64_t hash) {
    if (absent.count < MOST_MADE)
        absent.made[absent.count++] = hash;
    else
        absent.path[0] = '\0';
}

bool vol_absent_is_others(const vol_node *base, const char *name) {
    uint64_t hash;
    return was_told(base, name, &hash) && !is_own(hash);
}

void vol_absent_made(const vol_node *base, const char *name) {
    uint64_t hash;
    if (was_told(base, name, &hash))
        note_made(hash);
}

static bool is_what_was_wanted(const vol_node *node, const zb_array_spec *spec) {
    bool is = node->kind == VOL_GROUP;
    if (spec)
        is = node->zarr && node->kind == VOL_DATASET &&
             zb_array_is_as(node->zarr, spec, &is, NULL) == ZB_OK && is;
    return is;
}

enum zb_code vol_absent_end(vol_node *base, const char *name, const zb_array_spec *spec,
                            enum zb_code code, vol_node **out, zb_error *err) {
    if (code == ZB_ECONFLICT && vol_absent_is_others(base, name)) {
        vol_node *node = vol_node_find(base, name, NULL);
        if (!node || !is_what_was_wanted(node, spec))
            return code;
        *err = (zb_error){0};
        *out = node;
        code = ZB_OK;
    }
    if (!code)
        vol_absent_made(base, name);
    return code;
}
