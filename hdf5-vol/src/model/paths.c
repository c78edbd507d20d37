/* SPDX-License-Identifier: MIT */
/* Following paths: see paths.h. */
#include "model/paths.h"

#include "model/aliases.h"
#include "model/links.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What its own path names, seen from its group. */
static enum zb_code follow_soft(vol_route *route, const vol_link *link, vol_node **out,
                                zb_error *err) {
    vol_found target;
    if (route->left == 0)
        return zb_fail(err, ZB_ELIMIT,
                       "too many links: '%s' in %s is one more than may be followed", link->name,
                       link->group->path);
    route->left--;
    enum zb_code code = vol_path_find(link->group, link->target, route, &target, err);
    if (!code)
        code = vol_path_enter(route, &target, err);
    *out = target.node;
    return code == ZB_ENOTFOUND ? zb_fail(err, ZB_ENOTFOUND,
                                          "the soft link '%s' in %s leads to '%s', which does not "
                                          "exist",
                                          link->name, link->group->path, link->target)
                                : code;
}

/* The path goes on in another file: that of the link, and what comes after it. */
static enum zb_code leave(vol_route *route, const vol_link *link, zb_error *err) {
    if (route->left == 0)
        return zb_fail(err, ZB_ELIMIT,
                       "too many links: '%s' in %s is one more than may be followed", link->name,
                       link->group->path);
    route->left--;
    route->external = route->may_leave ? link : NULL;
    route->rest = route->may_leave ? strdup(link->target) : NULL;
    return zb_fail(
        err, ZB_EUNSUPPORTED,
        "the external link '%s' in %s leads to '%s' in the file '%s': for this operation, "
        "open the object first",
        link->name, link->group->path, link->target, link->external);
}

/* Adds to a path that goes on in another file. */
static void lengthen(vol_route *route, const char *part, const char *rest) {
    char *longer = NULL;
    if (asprintf(&longer, "%s/%s%s%s", route->rest, part, rest ? "/" : "", rest ? rest : "") < 0)
        longer = NULL;
    free(route->rest);
    route->rest = longer;
}

/* Recursion ends with the links that may be followed. */
enum zb_code vol_path_enter(vol_route *route, vol_found *found, zb_error *err) {
    const vol_link *link = found->link;
    if (link && link->reason)
        return vol_link_add_context(link, err);
    if (found->node)
        return ZB_OK;
    if (link->kind == VOL_LINK_EXTERNAL)
        return leave(route, link, err);
    if (link->kind == VOL_LINK_ALIAS)
        return zb_fail(err, ZB_ENOTFOUND,
                       "the hard link '%s' in %s has lost its node, which was %s", link->name,
                       link->group->path, link->target);
    return follow_soft(route, link, &found->node, err);
}

/* One step: into the group that has been found, to the name in it. `is_last`: no other one
   follows. */
static enum zb_code step(const char *part, bool is_last, vol_route *route, vol_found *out,
                         zb_error *err) {
    enum zb_code code = out->link ? vol_path_enter(route, out, err) : ZB_OK;
    if (code) {
        route->is_cut |= code == ZB_ENOTFOUND;
        return code;
    }
    code = vol_child_find(out->node, part, &out->link, err);
    route->is_cut |= code == ZB_ENOTFOUND && (!is_last || out->node->kind != VOL_GROUP);
    return code ? code : vol_link_node(out->link, &out->node, err);
}

bool vol_path_is_itself(const char *path) {
    size_t size = strlen(path);
    while (size > 0 && path[size - 1] == '/')
        size--;
    return size == 0 || (path[size - 1] == '.' && (size == 1 || path[size - 2] == '/'));
}

/* HDF5's rules for paths: empty parts and "." mean nothing, but a last "." is the object to which
   the path before it leads; ".." is a name like any other. */
enum zb_code vol_path_find(vol_node *from, const char *path, vol_route *route, vol_found *out,
                           zb_error *err) {
    enum zb_code code = ZB_OK;
    char *copy = strdup(path), *rest = copy, *part;
    *out = (vol_found){.node = path[0] == '/' ? from->file->root : from};
    if (!copy)
        return zb_fail(err, ZB_ENOMEM, "no memory for path %s", path);
    while (!code && (part = strsep(&rest, "/"))) {
        if (!*part || strcmp(part, ".") == 0)
            continue;
        code = step(part, !rest || !rest[strspn(rest, "/")], route, out, err);
        if (code && route->rest)
            lengthen(route, part, rest);
    }
    free(copy);
    if (!code && out->link && vol_path_is_itself(path)) {
        code = vol_path_enter(route, out, err);
        out->link = NULL;
    }
    return code;
}

vol_node *vol_node_find(vol_node *from, const char *path, zb_error *err) {
    vol_route route = {.left = VOL_LINKS_FOLLOWED};
    vol_found found;
    enum zb_code code = vol_path_find(from, path, &route, &found, err);
    if (!code && !found.node)
        code = vol_path_enter(&route, &found, err);
    return code ? NULL : found.node;
}
