/* SPDX-License-Identifier: MIT */
/*
 * The root of the hierarchy that a path leads into.
 *
 * Part of an array's description lies above it (conventions of its group, coordinates, consolidated
 * metadata), so that a path into the middle of a hierarchy is followed up to its root. Only names
 * are looked at: "." and ".." are not followed, because the name that the way back down needs is
 * not in them. A caller that wants more passes an absolute path.
 */
#include <stdlib.h>
#include <string.h>

#include "zarrbridge/conventions.h"

/* The length of a path without the slashes at its end; the root directory keeps its one. */
static size_t trimmed(const char *path, size_t length) {
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length;
}

/* The place where the last name of path[0..length) begins. */
static size_t name_start(const char *path, size_t length) {
    while (length > 0 && path[length - 1] != '/')
        length--;
    return length;
}

static bool is_plain_name(const char *name, size_t length) {
    return length > 0 && !(length == 1 && name[0] == '.') &&
           !(length == 2 && name[0] == '.' && name[1] == '.');
}

/* The directory above path[0..end), malloc'ed: "a/b" gives "a", "a" gives ".", "/a" gives "/". */
static char *above(const char *path, size_t end) {
    const size_t start = name_start(path, end);
    return start == 0 ? strdup(".") : strndup(path, trimmed(path, start));
}

/* The part of the path from `below` on, with one slash between names. malloc'ed. */
static char *inner_path(const char *path, size_t below, size_t end) {
    char *inner = strndup(path + below, end - below);
    char *to = inner;
    for (const char *from = inner; inner && *from; from++)
        if (*from != '/' || from[1] != '/')
            *to++ = *from;
    if (inner)
        *to = '\0';
    return inner;
}

static enum zb_code fail_memory(char *root, zb_error *err) {
    free(root);
    return zb_fail(err, ZB_ENOMEM, "no memory for a path");
}

enum zb_code zb_path_split(const char *path, zb_holds_fn holds, void *context, char **root,
                           char **node, zb_error *err) {
    if (zb_name_is_url(path))
        return zb_url_split(path, root, node, err);
    const size_t whole = trimmed(path, strlen(path));
    size_t end = whole, below = whole; /* of the root so far; where the node's path begins */
    char *directory = strndup(path, whole);
    *root = *node = NULL;
    for (bool found = directory != NULL; found;) {
        const size_t start = name_start(path, end);
        if (!is_plain_name(path + start, end - start))
            break;
        char *next = above(path, end);
        if (!next)
            return fail_memory(directory, err);
        found = holds(context, next);
        if (found) {
            free(directory);
            directory = next;
            below = start;
            end = trimmed(path, start); /* 0 behind ".", which has no name */
        } else {
            free(next);
        }
    }
    *node = directory ? inner_path(path, below, whole) : NULL;
    if (!*node)
        return fail_memory(directory, err);
    *root = directory;
    return ZB_OK;
}
