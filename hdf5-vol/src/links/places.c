/* SPDX-License-Identifier: MIT */
/* Nodes at paths: see places.h. */
#include "links/places.h"

#include "links/links.h"
#include "links/place_text.h"
#include "tree/moved.h"

#include "zarrbridge/conventions.h"

#include <stdlib.h>
#include <string.h>

/* By its name in the store. */
static vol_node *child_at(vol_node *group, const char *stored) {
    vol_link *link;
    char *name = zb_name_shown(stored);
    const bool is_there = name && vol_child_find(group, name, &link, NULL) == ZB_OK &&
                          vol_link_is_stored_as(link, stored) && vol_link_open(link, NULL) == ZB_OK;
    free(name);
    return is_there ? link->node : NULL;
}

/* The same among what has been opened. */
static vol_node *known_at(vol_node *group, const char *stored) {
    char *name = zb_name_shown(stored);
    const vol_link *link = name ? vol_links_find(group, name) : NULL;
    free(name);
    return link && vol_link_is_stored_as(link, stored) ? link->node : NULL;
}

/* Only places are entered, no links of another kind: so no path goes round. */
static vol_node *node_at(vol_file *file, char *path,
                         vol_node *(*enter)(vol_node *group, const char *stored)) {
    vol_node *node = file->root;
    char *rest = path, *part;
    while (node && (part = strsep(&rest, "/")))
        if (*part)
            node = enter(node, part);
    return node;
}

/* The name that a way leads to; malloc'ed. NULL when it leaves what the file shows, or begins at a
   node to which nothing has led yet. */
static char *name_at(const vol_node *from, const char *text) {
    char *base = from->zarr && from->file->root->zarr ? vol_moved_name_of(from) : NULL;
    char *name = base ? zb_path_resolve(base, text) : NULL;
    free(base);
    return name;
}

static vol_node *node_called(vol_file *file, const char *name,
                             vol_node *(*enter)(vol_node *group, const char *stored)) {
    char *path = vol_moved_place(file, name);
    vol_node *node = path ? node_at(file, path, enter) : NULL;
    free(path);
    return node;
}

vol_node *vol_place_at(vol_file *file, const char *path) {
    const char *rest = vol_moved_below_root(file, path);
    char *below = rest ? strdup(rest) : NULL;
    vol_node *node = below ? node_at(file, below, child_at) : NULL;
    free(below);
    return node;
}

vol_node *vol_place_node(const vol_node *from, const char *text) {
    char *name = name_at(from, text);
    vol_node *node = name ? node_called(from->file, name, child_at) : NULL;
    free(name);
    return node;
}

vol_node *vol_place_opened(const vol_node *from, const char *text) {
    char *name = name_at(from, text);
    vol_node *node = name ? node_called(from->file, name, known_at) : NULL;
    free(name);
    return node;
}

bool vol_place_leads_to(const vol_node *from, const char *text, const vol_node *group,
                        const char *name) {
    char *of = name_at(from, text), *wanted = NULL;
    char *path = of ? vol_moved_place(from->file, of) : NULL;
    const bool leads = path && vol_node_child_path(group, name, &wanted, NULL) == ZB_OK &&
                       strcmp(path, vol_moved_below_root(from->file, wanted)) == 0;
    free(of);
    free(path);
    free(wanted);
    return leads;
}

vol_node *vol_place_parent(const vol_node *from, const char *text, char **name) {
    char *path = name_at(from, text);
    char *slash = path ? strrchr(path, '/') : NULL;
    *name = path ? zb_name_shown(slash ? slash + 1 : path) : NULL;
    if (path)
        *(slash ? slash : path) = '\0';
    vol_node *group = *name && **name ? node_called(from->file, path, child_at) : NULL;
    free(path);
    return group && group->kind == VOL_GROUP ? group : NULL;
}
