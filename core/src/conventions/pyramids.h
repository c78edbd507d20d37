/* SPDX-License-Identifier: MIT */
/* Shared by the sources about pyramids: texts, paths and numbers of attributes. */
#ifndef ZB_CONVENTIONS_PYRAMIDS_H
#define ZB_CONVENTIONS_PYRAMIDS_H

#include "util/map.h"
#include "zarrbridge/companions.h"

/* An attribute, or NULL; also of NULL. */
const zb_json *zb__attribute(const zb_node *node, const char *name);

/* The text of a string attribute, else "". */
const char *zb__attribute_text(const zb_node *node, const char *name);

/* True if the value is a list of so many finite numbers, which *out gets. */
bool zb__number_list(const zb_json *value, size_t count, double *out);

/* The path without its last part; "" for that of a child of the root. malloc'ed, or NULL. */
char *zb__parent_path(const char *path);

/* Opens a node; NULL where there is none. */
zb_node *zb__node_at(zb_hierarchy *hierarchy, const char *path);

/* True if the group of a level says that it is one of this raster. */
bool zb__level_is_marked(const zb_level_places *places, zb_hierarchy *hierarchy, const char *level);

/* True if a mask (NULL: none) says that it is that of the array of this name. */
bool zb__mask_is_of(const zb_node *mask, const char *array);

/* True for what can be the name of a child. */
bool zb__is_child_name(const char *name);

/* The coordinate array of a dimension; NULL for none. */
const zb_node *zb__coordinate_of(const zb_node *array, uint32_t dim, const zb_nodes *nodes);

/* True if a group's `spatial:` attributes are meant for this array. A group that names the
   dimensions they are for means arrays that have these, or rows and columns by other names. True
   for NULL. */
bool zb__suits_dimensions(const zb_node *group, const zb_node *array, zb_axes axes);

/* The convention's list on a group, whether it is declared or not; NULL for none. */
const zb_json *zb__level_layout(const zb_node *group);

/* The same only where the convention is declared. */
const zb_json *zb__declared_layout(const zb_node *group, const zb_nodes *nodes);

/* Adds the names of the axes of a group's OME-NGFF image. False without memory. */
bool zb__ome_axes(const zb_node *group, zb_strings *out);

/* The list of its levels; NULL for none. */
const zb_json *zb__ome_datasets(const zb_node *group);

/* Changes the list of a group in one turn: `change` makes the new one of the group as the store has
   it now. */
typedef enum zb_code (*zb__level_list_fn)(const void *context, const zb_node *group,
                                          zb_level_list *out, zb_error *err);
enum zb_code zb__level_list_change(zb_hierarchy *hierarchy, const char *path,
                                   zb__level_list_fn change, const void *context, zb_error *err);

/* Nodes that were opened once, absent ones as well. What cannot be read counts as absent; a lack of
   memory, of the network or of patience is kept: nothing may be left out of a level for it, and
   nothing be taken for absent. */
typedef struct zb__opened {
    zb_hierarchy *hierarchy; /* not owned */
    zb__map by_path;
    zb_error failure; /* code ZB_OK: none */
} zb__opened;
zb_nodes zb__opened_nodes(zb__opened *opened);
/* The failure. To be called after the last question for a node whose answer makes a difference. */
enum zb_code zb__opened_check(const zb__opened *opened, zb_error *err);
void zb__opened_clear(zb__opened *opened);

/* True if the group has the convention's list, or may get one: no attribute of that name means
   something else. */
bool zb__group_may_list(const zb_node *group, const zb_nodes *nodes);

/* The path of the group for a new level, none of `taken`. ZB_ECONFLICT where all names are taken;
   store errors. */
enum zb_code zb__level_free_group(const zb_level_places *places, zb_hierarchy *hierarchy,
                                  uint64_t factor, const zb_strings *taken, char **group,
                                  zb_error *err);

/* The attributes of a level's group, by the path that it gets: a JSON object; NULL without
   memory. */
char *zb__level_group_attributes(const zb_level_places *places, const char *group);

/* The second form survives programs that rewrite the attributes of a group, and its list with them:
   where no list has the array, but a group beside its own says that it is a level of it, the
   pyramid becomes one without levels, and of groups. Only ZB_ENOMEM. */
enum zb_code zb__pyramid_complete(zb_pyramid *pyramid, zb_hierarchy *hierarchy, const char *array,
                                  zb_error *err);

/* Moves a node in the making to its place. What is there goes when the new one has come, and is
   there again after an error; what cannot be deleted of it stays under a name of zb_aside_name.
   Change errors. */
enum zb_code zb__level_take_place(zb_hierarchy *hierarchy, const char *aside, const char *target,
                                  zb_error *err);

/* The codecs of the innermost chunks, for zb_array_spec.codecs: JSON. NULL where the pipeline
   cannot be kept beside the extents of shards, and without memory. */
char *zb__level_codecs(const zb_node *model);

/* The extents of inner chunks and shards, [ndim] each, for another shape of the same dimensions, of
   no extent 0. A shard is no larger than the array needs, for an index has a place for each chunk.
   False: without shards, of which `shard` then may have any. */
bool zb__level_extents(const zb_array_info *model, const uint64_t *shape, uint64_t *inner,
                       uint64_t *shard);

/* The coordinate of a level: the middle of the cells that a cell of the level stands for where they
   lie at equal distances, else the value of the one in the middle. Both counts are at least 1. */
void zb__level_coordinate(const double *values, uint64_t count, zb_dtype dtype, double *out,
                          uint64_t out_count);

/* Removes made levels, by the paths of their arrays: first their data, by `deleter` (NULL:
   zb_node_delete), then their entries in the list. A process that is killed between leaves entries
   that lead to nothing, which readers pass over. Change errors. */
enum zb_code zb__levels_remove(zb_hierarchy *hierarchy, const zb_level_places *places,
                               const zb_strings *levels, const zb_deleter *deleter, zb_error *err);

/* Removes the levels of an array that are on no list: a killed process has left them. Those that a
   process is making stay. Change errors. */
enum zb_code zb__levels_remove_lost(zb_hierarchy *hierarchy, const zb_level_places *places,
                                    const zb_pyramid *pyramid, zb_error *err);

/* Deletes a node. One that is not there, or not any more, is as good as deleted. */
enum zb_code zb__companion_delete(zb_hierarchy *hierarchy, const zb_deleter *deleter,
                                  const char *path, zb_error *err);

/* Takes entries out of the list of a group: zb_level_list_take_out. */
enum zb_code zb__level_list_leave(zb_hierarchy *hierarchy, const char *group,
                                  const zb_strings *assets, bool finest_stays, zb_error *err);

enum zb_code zb__no_memory(zb_error *err);

#endif
