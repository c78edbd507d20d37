/* SPDX-License-Identifier: MIT */
/* Ways from node to node as texts, as places.h describes them: nothing is opened. */
#ifndef ZARRBRIDGE_HDF5_VOL_LINKS_PLACE_TEXT_H
#define ZARRBRIDGE_HDF5_VOL_LINKS_PLACE_TEXT_H

#include "tree/node.h"

/* The way from one node to the place `name` in another (NULL: to that node itself), malloc'ed; the
   root keeps track of both from now on. */
enum zb_code vol_place_text(const vol_node *from, const vol_node *to, const char *name, char **out,
                            zb_error *err);

/* The error of a place that a new link cannot have: ZB_ECONFLICT. */
enum zb_code vol_place_fail_taken(const vol_node *group, const char *name, zb_error *err);

/* Whether a node is `above` or lies below it. */
bool vol_place_is_below(const vol_node *node, const vol_node *above);

#endif
