/* SPDX-License-Identifier: MIT */
/* Ways from node to node as texts: see place_text.h. */
#include "links/place_text.h"

#include "tree/moved.h"
#include "tree/tree.h"

#include <stdlib.h>
#include <string.h>

bool vol_place_is_below(const vol_node *node, const vol_node *above) {
    while (node && node != above)
        node = node->parent;
    return node != NULL;
}

enum zb_code vol_place_fail_taken(const vol_node *group, const char *name, zb_error *err) {
    return zb_fail(err, ZB_ECONFLICT, "name already exists: '%s%s%s'", group->path,
                   group->parent ? "/" : "", name);
}

/* ---- Making ---- */

/* The length of what two paths have in common: whole parts, with the slash that ends them. */
static size_t common_length(const char *a, const char *b) {
    size_t common = 0, i = 0;
    for (; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            common = i + 1;
    if ((!a[i] || a[i] == '/') && (!b[i] || b[i] == '/'))
        common = i + (a[i] == '/' && b[i] == '/');
    return common;
}

static size_t count_parts(const char *path) {
    size_t count = *path && *path != '/';
    for (; *path; path++)
        count += *path == '/' && path[1];
    return count;
}

/* zb_path_resolve is the way back. */
static char *relative(const char *from, const char *to) {
    const size_t common = common_length(from, to);
    const char *below = from + common, *rest = to + common;
    rest += *rest == '/';
    const size_t ups = count_parts(below);
    char *text = malloc(3 * ups + strlen(rest) + 2), *end = text;
    if (!text)
        return NULL;
    for (size_t i = 0; i < ups; i++, end += 3)
        memcpy(end, "../", 3);
    strcpy(end, rest);
    if (!*rest)
        strcpy(ups > 0 ? end - 1 : end, ups > 0 ? "" : ".");
    return text;
}

/* The name of the link at a place in the store; malloc'ed. */
static enum zb_code place_in(const vol_node *group, const char *above, const char *link, char **out,
                             zb_error *err) {
    char *path;
    enum zb_code code = vol_node_child_path(group, link, &path, err);
    if (code)
        return code;
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    *out = *above ? vol_path_join(above, "/", last) : strdup(last);
    free(path);
    return *out ? ZB_OK : zb_fail(err, ZB_ENOMEM, "no memory for a link");
}

enum zb_code vol_place_text(const vol_node *from, const vol_node *to, const char *name, char **out,
                            zb_error *err) {
    char *base = NULL, *end = NULL, *place = NULL;
    enum zb_code code = vol_moved_refer_node(from, &base, err);
    if (!code)
        code = vol_moved_refer_node(to, &end, err);
    if (!code && name)
        code = place_in(to, end, name, &place, err);
    *out = code ? NULL : relative(base, name ? place : end);
    free(base);
    free(end);
    free(place);
    return code || *out ? code : zb_fail(err, ZB_ENOMEM, "no memory for a link");
}
