/* SPDX-License-Identifier: MIT */
#include "hierarchy/path.h"

#include <stdlib.h>
#include <string.h>

#include "util/json_excerpt.h"
#include "util/utf8.h"

/* The names that the specification reserves ("__x", "zarr.json") may be read: they do no harm.
   Names of dots only are refused, since "." and ".." mean something to stores. */
enum zb_code zb__path_check(const char *path, zb_error *err) {
    char excerpt[ZB__BRIEF_SIZE];
    size_t left = strlen(path);
    for (const char *c = path; left > 0;) {
        size_t length = zb__utf8_length(c, left);
        if (length == 0)
            return zb_fail(err, ZB_EINVAL, "the path is not UTF-8 at byte %zu", (size_t)(c - path));
        c += length;
        left -= length;
    }
    if (*path == '\0')
        return ZB_OK;
    for (const char *part = path;; part++) {
        size_t length = strcspn(part, "/");
        if (length == 0)
            return zb_fail(err, ZB_EINVAL, "path %s has an empty part",
                           zb__name_excerpt(path, excerpt));
        if (strspn(part, ".") >= length)
            return zb_fail(err, ZB_EINVAL, "path %s has a part of dots only",
                           zb__name_excerpt(path, excerpt));
        part += length;
        if (*part == '\0')
            return ZB_OK;
    }
}

char *zb__path_join(const char *prefix, const char *name) {
    const size_t front = strlen(prefix), back = strlen(name) + 1;
    char *path = malloc(front + 1 + back);
    if (!path)
        return NULL;
    memcpy(path, prefix, front);
    path[front] = '/';
    memcpy(path + front + (front > 0), name, back);
    return path;
}

size_t zb__path_depth(const char *path) {
    size_t depth = *path != '\0';
    for (; *path; path++)
        depth += *path == '/';
    return depth;
}

void zb__path_up(char *path) {
    char *slash = strrchr(path, '/');
    *(slash ? slash : path) = '\0';
}

const char *zb__path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *zb__path_below(const char *path, const char *prefix) {
    size_t length = strlen(prefix);
    if (length == 0)
        return *path ? path : NULL;
    return strncmp(path, prefix, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

bool zb__path_is_aside(const char *path) {
    const size_t tail = strlen(ZB__ASIDE_TAIL);
    for (const char *at = path; (at = strstr(at, ZB__ASIDE_TAIL)) != NULL; at += tail)
        if (at > path && at[-1] != '/' && (at[tail] == '/' || !at[tail]))
            return true;
    return false;
}
