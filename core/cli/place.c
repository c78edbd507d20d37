/* SPDX-License-Identifier: MIT */
#include "place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "zarrbridge/conventions.h"

static bool holds_document(void *unused, const char *directory) {
    static const char *const documents[] = {"zarr.json", ".zgroup", ".zarray"};
    bool found = false;
    (void)unused;
    for (size_t i = 0; i < sizeof documents / sizeof *documents && !found; i++) {
        char *name;
        if (asprintf(&name, "%s/%s", directory, documents[i]) < 0)
            return false;
        found = access(name, F_OK) == 0;
        free(name);
    }
    return found;
}

void place_clear(place *where) {
    zb_hierarchy_release(where->hierarchy);
    free(where->root);
    free(where->node);
}

enum zb_code place_find(const char *path, const place *other, place *out, zb_error *err) {
    *out = (place){.hierarchy = NULL};
    enum zb_code code = zb_path_split(path, holds_document, NULL, &out->root, &out->node, err);
    if (code)
        return code;
    char *root = realpath(out->root, NULL), *used = other ? realpath(other->root, NULL) : NULL;
    if (root && used && strcmp(root, used) == 0)
        out->hierarchy = zb_hierarchy_retain(other->hierarchy);
    else
        code = other ? zb_hierarchy_create(out->root, NULL, &out->hierarchy, err)
                     : zb_hierarchy_open(out->root, &out->hierarchy, err);
    free(root);
    free(used);
    return code;
}
