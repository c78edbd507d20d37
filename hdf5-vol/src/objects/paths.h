/* SPDX-License-Identifier: MIT */
/*
 * Following paths. The links on the way are followed; the last one is found, and followed only when
 * its node is asked for.
 */
#ifndef ZARRBRIDGE_HDF5_VOL_OBJECTS_PATHS_H
#define ZARRBRIDGE_HDF5_VOL_OBJECTS_PATHS_H

#include "tree/tree.h"

/* HDF5's default for H5Pset_nlinks. */
#define VOL_LINKS_FOLLOWED 16

/* The end of a path. */
typedef struct vol_found {
    vol_node *node; /* what the path leads to, where that is known without following the link */
    vol_link *link; /* the last one of the path; NULL when that is itself, as "/" and "a/." */
} vol_found;

/* The way of one path. */
typedef struct vol_route {
    size_t left; /* links that may still be followed: chains and circles end */
    /* With ZB_ENOTFOUND: another name than the last one leads to no group. What a soft link names
       counts as a path of its own. */
    bool is_cut;
    /* Where the way has left the file: the link, and the path to go on there. Only a caller that
       has set `may_leave` gets these, with ZB_EUNSUPPORTED, and frees the path. */
    bool may_leave;
    const vol_link *external;
    char *rest;
} vol_route;

/* Follows an HDF5 path, relative to `from` unless it begins with '/'. ZB_ENOTFOUND when there is no
   such link; a link on the way that cannot be opened gives its reason. */
enum zb_code vol_path_find(vol_node *from, const char *path, vol_route *route, vol_found *out,
                           zb_error *err);

/* Follows the link to which a path has led, unless the node is known. */
enum zb_code vol_path_enter(vol_route *route, vol_found *found, zb_error *err);

/* Whether the path names an object and no link: it has no names, or ends in ".". */
bool vol_path_is_itself(const char *path);

/* The node at the end of the path; NULL also when the last link cannot be opened. */
vol_node *vol_node_find(vol_node *from, const char *path, zb_error *err);

#endif
