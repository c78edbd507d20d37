/* SPDX-License-Identifier: MIT */

/* New nodes, and the place of a new array. */
#ifndef ZB_CHANGE_CREATE_H
#define ZB_CHANGE_CREATE_H

#include "zarrbridge/change.h"

/* Before an array comes to the node's path: ZB_ECONFLICT when nodes lie there or below; chunks that
   a killed deletion has left are erased. create.c. */
enum zb_code zb__array_clear_place(const zb_node *node, zb_error *err);

/* zb_group_create and zb_array_create for a copy, which has the name of its source
   (zb__path_check_copy). */
enum zb_code zb__group_create_copy(zb_hierarchy *hierarchy, const char *path,
                                   const char *attributes, zb_node **out, zb_error *err);
enum zb_code zb__array_create_copy(zb_hierarchy *hierarchy, const char *path,
                                   const zb_array_spec *spec, zb_node **out, zb_error *err);

/* Creates a node of the text of a document, likewise. */
enum zb_code zb__node_create_copy(zb_hierarchy *hierarchy, const char *path, const char *text,
                                  size_t size, zb_node **out, zb_error *err);

#endif
