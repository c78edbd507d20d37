/* SPDX-License-Identifier: MIT */
/*
 * Pyramids: one raster at several resolutions. Which arrays are its levels, what they are called,
 * and where that is written.
 *
 * A list on a group says it. Read are the convention "multiscales" (by its UUID; an asset is an
 * array, or a group with arrays of the same names), OME-NGFF 0.5 (`attributes.ome`), ndpyramid's
 * list, and the names of groups in ESA's EOPF products; written is the convention. The GDAL driver,
 * zb_pyramid_build (pyramid.h) and so the program `zarrbridge` go by these calls, and so agree on
 * names, shapes and lists. docs/conventions.md, "Pyramids", has the rules.
 *
 * All calls may be made from any thread. Texts that a call gives are malloc'ed, and the caller
 * frees them. Lists in a store may be hostile: a member of another form than expected counts as
 * missing, and time and memory grow with the document alone.
 */
#ifndef ZARRBRIDGE_MULTISCALES_H
#define ZARRBRIDGE_MULTISCALES_H

#include "zarrbridge/conventions.h"
#include "zarrbridge/node.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A list of texts; all zeros is an empty one. zb_strings_clear frees the texts, and empties it. */
typedef struct zb_strings {
    char **text;
    size_t count, capacity;
} zb_strings;
ZB_API void zb_strings_clear(zb_strings *strings);
/* Adds a copy. False, with nothing changed, when memory runs out. */
ZB_API bool zb_strings_add(zb_strings *strings, const char *text);
ZB_API bool zb_strings_have(const zb_strings *strings, const char *text);

/* The nodes of a hierarchy, by paths: the caller opens them in its way, and may remember them. at()
   gives NULL for what is not there; a node is valid as long as the caller says. */
typedef struct zb_nodes {
    const zb_node *(*at)(void *context, const char *path);
    void *context;
} zb_nodes;

/* Zarr's conventions of geography that are declared by entries of the attribute `zarr_conventions`,
   by UUID, or else by the address of a schema. */
enum zb_convention { ZB_CONVENTION_PROJ, ZB_CONVENTION_SPATIAL, ZB_CONVENTION_MULTISCALES };

/* The convention's UUID. Static. */
ZB_API const char *zb_convention_uuid(enum zb_convention convention);

/* The entry of `zarr_conventions` that declares it, revision v0.1, as JSON. Static. */
ZB_API const char *zb_convention_entry(enum zb_convention convention);

/* True if a node, or a group above it, declares the convention. False for NULL. A group with
   ZB_GDAL_REPEATS_PLACE says nothing by ZB_CONVENTION_PROJ and ZB_CONVENTION_SPATIAL. */
ZB_API bool zb_convention_holds(const zb_node *node, enum zb_convention convention,
                                const zb_nodes *nodes);

/* True of a group that only repeats what its rasters say of their place. */
ZB_API bool zb_group_repeats_place(const zb_node *group);

/* The path of an array's mask (ZB_GDAL_MASK): an array beside it of bytes, 0 where nothing is
   valid. NULL for none, and when memory runs out. */
ZB_API char *zb_array_mask(const zb_node *array);

/* ---- Rows and columns ----------------------------------------------------------------------- */

/* The dimensions of an array that are its columns and rows. -1: it has none. */
typedef struct zb_axes {
    int x, y;
} zb_axes;

/* Names by which columns and rows are known, in any case of letters. */
ZB_API bool zb_name_is_x(const char *name);
ZB_API bool zb_name_is_y(const char *name);

/* 'X' for units that CF knows as degrees east, 'Y' for degrees north, in any case of letters; else
   0. */
ZB_API char zb_degrees_axis(const char *units);

/* 'X' or 'Y' for a coordinate array that lies along columns or rows by its CF attributes (axis,
   standard_name, units); else 0, also for NULL. */
ZB_API char zb_coordinate_axis(const zb_node *coordinate);

/* The dimensions of an array that a node's `spatial:dimensions` names; both -1 for none. */
ZB_API zb_axes zb_axes_listed(const zb_array_info *info, const zb_node *node);

/* ---- Reading lists -------------------------------------------------------------------------- */

/* A list of an array's levels. zb_pyramid_clear frees what it has; all zeros is none. */
typedef struct zb_pyramid {
    zb_strings levels;   /* paths of the arrays, finest first; empty: there is no list */
    char *group;         /* the path of the group that has the list */
    size_t self;         /* the place of the array itself among them */
    bool of_groups;      /* the convention's list has the array's group, not the array */
    zb_strings ome_axes; /* names of the axes; empty unless OME-NGFF */
    bool has_transform;  /* of the array's own entry: `spatial:transform` */
    double transform[6]; /* [a, b, c, d, e, f] */
    char *registration;  /* `spatial:registration`, or NULL */
    bool has_shape;      /* `spatial:shape` */
    double shape[2];     /* rows and columns */
} zb_pyramid;
ZB_API void zb_pyramid_clear(zb_pyramid *pyramid);

/* Steps from an array up to a group that may describe it: asset/variable and one group between. */
#define ZB_PYRAMID_REACH 3

/* True below the root of one of ESA's EOPF products, which is known by its STAC item. */
ZB_API bool zb_is_eopf_product(const zb_nodes *nodes);

/* A member of OME-NGFF's metadata of a group ("multiscales", "omero"): of the attribute `ome`, or
   in 0.4 an attribute itself. NULL: none. */
ZB_API const zb_json *zb_ome_member(const zb_node *group, const char *name);

/* The pyramid that an array is a level of, by what the groups above say: the nearest one that knows
   it, up to ZB_PYRAMID_REACH steps. An empty one for an array of fewer dimensions, such as
   coordinates of levels. Only ZB_ENOMEM. */
ZB_API enum zb_code zb_pyramid_find(const zb_node *array, uint32_t fewest_dimensions,
                                    const zb_nodes *nodes, zb_pyramid *out, zb_error *err);

/* The columns and rows of an array: by `spatial:dimensions` (of the array, its group, the group of
   its pyramid), the axes of an OME-NGFF image, names of dimensions, CF attributes of coordinate
   arrays, bands that stand last; else the last two dimensions. pyramid: zb_pyramid_find. */
ZB_API zb_axes zb_axes_find(const zb_node *array, const zb_pyramid *pyramid, const zb_nodes *nodes);

/* The pyramids that a group's list tells of: assets relative to the group, finest first. A list of
   the convention is one pyramid; but where its entries form two or more families by `derived_from`,
   each family is one. The caller frees by zb_asset_lists_clear. Only ZB_ENOMEM. */
typedef struct zb_asset_lists {
    zb_strings *list;
    size_t count;
} zb_asset_lists;
ZB_API enum zb_code zb_group_pyramids(const zb_node *group, const zb_nodes *nodes,
                                      zb_asset_lists *out, zb_error *err);
ZB_API void zb_asset_lists_clear(zb_asset_lists *lists);

/* False for an array that cannot be the finest one at a lower resolution: what has fewer elements
   has them by one factor along all dimensions, or by whole ones. Other programs round up or down,
   from level to level, so that it may be two off. Both have the same number of dimensions. */
ZB_API bool zb_array_may_be_level(const zb_array_info *finest, const zb_array_info *level);

/* ---- Where a raster lies -------------------------------------------------------------------- */

/* A place is an affine map in the order of `spatial:transform`, of the corners of pixels:
   x = p[0]*column + p[1]*row + p[2], y = p[3]*column + p[4]*row + p[5]. It is finite, and can be
   inverted. */

/* True if the numbers are a place. */
ZB_API bool zb_place_is_usable(const double place[6]);

/* An array with its columns and rows; all is borrowed. */
typedef struct zb_raster {
    const zb_node *array;
    zb_axes axes; /* both are dimensions */
    uint64_t width, height;
    const zb_pyramid *pyramid; /* the array's, or an empty one */
    const zb_nodes *nodes;
} zb_raster;

/* By the convention `spatial:`, from the most specific to the most general: what is said of the
   array, of its entry in the pyramid, of its group, of the pyramid's group. False without. */
ZB_API bool zb_place_by_convention(const zb_raster *raster, double place[6]);

/* True where the convention states the place; *of_nodes: each pixel is a node (a point) by
   `spatial:registration`, not a cell. */
ZB_API bool zb_place_is_of_nodes(const zb_raster *raster, bool *of_nodes);

/* True if the node states a place by the convention. */
ZB_API bool zb_place_is_stated(const zb_node *node, const zb_nodes *nodes);

/* By the attributes of the array itself, declared or not, as far as they hold for its shape. The
   pyramid and the nodes are not looked at. */
ZB_API bool zb_place_own(const zb_raster *raster, double place[6]);

/* True if the node states its place for other columns and rows. */
ZB_API bool zb_place_is_of_other_shape(const zb_node *node, uint64_t width, uint64_t height);

/* By `GeoTransform` of a grid mapping (NULL: none), which counts where the convention says
   nothing. */
ZB_API bool zb_place_of_mapping(const zb_node *mapping, double place[6]);

/* By the attribute `_TRANSFORM` of an array, which some programs write beside `_CRS`. */
ZB_API bool zb_place_of_attribute(const zb_node *array, double place[6]);

/* By scale and translation of an OME-NGFF image, in its own units, with rows downwards. No map: for
   callers that ask for it. */
ZB_API bool zb_place_of_ome(const zb_raster *raster, double place[6]);

/* False for a coordinate array that cannot lie along columns or rows of a map, by its type, its CF
   attributes, or else its name: of times, heights, depths, bands; and for NULL. */
ZB_API bool zb_coordinate_is_horizontal(const zb_node *coordinate);

/* Lets longitudes that run across 360 (or 180) go on: those before the drop lie a turn lower. */
ZB_API void zb_coordinate_unwrap(const zb_node *coordinate, double *values, uint64_t count);

/* True if both put every corner within half a pixel (of the second one) of the same place. */
ZB_API bool zb_places_agree(const double a[6], const double b[6], uint64_t width, uint64_t height);

/* True if a place by regular coordinates, which xarray plots by, contradicts one that attributes
   state: these were left behind when data were cropped or turned round. Coordinates that count
   pixels contradict nothing. */
ZB_API bool zb_place_contradicts(const double stated[6], const double plotted[6], uint64_t width,
                                 uint64_t height);

/* True if the raster was put elsewhere in spite of coordinates that say this, which other arrays
   need (ZB_GDAL_OVERRULED). */
ZB_API bool zb_place_is_overruled(const zb_raster *raster, const double plotted[6]);

/* ---- Writing lists -------------------------------------------------------------------------- */

/* What the list says of a level. */
typedef struct zb_level_entry {
    const char *asset;        /* relative to the group */
    const char *derived_from; /* the asset of the finest level; NULL for that itself */
    const char *method;       /* of resampling; NULL: as the list says so far */
    uint32_t ndim;
    const double *scale; /* [ndim], relative to the finest level */
    uint64_t width, height;
    const double *transform; /* [6] in the order of `spatial:transform`, or NULL */
} zb_level_entry;

/* The attributes of a group after a change, as JSON; NULL: it has none of that name any more. */
typedef struct zb_level_list {
    char *multiscales, *zarr_conventions;
} zb_level_list;
ZB_API void zb_level_list_clear(zb_level_list *list);

/* Puts entries into the list: in the place of those with the same asset and size, whose other
   members stay, else behind those of the same finest level that are not coarser. Entries and
   members of others stay word for word. Only ZB_ENOMEM. */
ZB_API enum zb_code zb_level_list_put(const zb_node *group, const zb_level_entry *entries,
                                      size_t count, zb_level_list *out, zb_error *err);

/* Takes entries out, and with the last coarser level the finest one, too, unless that stays. A
   group whose list has become empty follows the convention no more. Only ZB_ENOMEM. */
ZB_API enum zb_code zb_level_list_take_out(const zb_node *group, const zb_strings *assets,
                                           bool finest_stays, zb_level_list *out, zb_error *err);

/* ---- Places of levels ----------------------------------------------------------------------- */

/* A level that gdaladdo or zb_pyramid_build makes is a group, of one raster alone, with the array,
   its coordinates and its CRS:

       beside the raster            groups alone (GDAL's OVERVIEW_LAYOUT=GROUPS)
       x.zarr/out                   x.zarr/0/out       the raster
       x.zarr/ovr_2x/out            x.zarr/1/out       half of its columns and rows
       x.zarr/ovr_4x/out            x.zarr/2/out

   The list is on the group that has the groups of levels. It names arrays in the first form, where
   the group of a second raster has its name behind: ovr_2x_slope. In the second it names groups. A
   made level is known by an attribute of its group, ZB_GDAL_LEVEL_OF; in the first form by its
   name, too, for older ones and those of GDAL's own driver have no more. */
typedef struct zb_level_places {
    char *array;    /* the raster's path */
    char *above;    /* the path of the group with the list */
    bool of_groups; /* the second form */
    bool has_list;
    bool leads; /* levels may be added: the raster is the first of its pyramid, or has none */
} zb_level_places;

/* Of a raster, by its pyramid or an empty one. zb_level_places_clear frees. Only ZB_ENOMEM. */
ZB_API enum zb_code zb_level_places_find(const zb_pyramid *pyramid, const char *array,
                                         zb_level_places *out, zb_error *err);
ZB_API void zb_level_places_clear(zb_level_places *places);

/* The name in the list of the raster, or of a level, by its path. NULL without memory. */
ZB_API char *zb_level_asset(const zb_level_places *places, const char *array);

/* True if the array at a path was made to be a level of the raster. */
ZB_API bool zb_level_is_made(const zb_level_places *places, zb_hierarchy *hierarchy,
                             const char *level);

/* The path that a level's group says it is a level of, by ZB_GDAL_LEVEL_OF, {"raster": "0/out",
   "group": "1"}: a path and a name in the group that has the list, in the first form "out" and
   "ovr_2x". A copy of the group has another name, and is none. The path is relative to the group
   with the list; NULL without, of a copy of a group, and when memory runs out. */
ZB_API char *zb_level_raster(const zb_node *group);

/* The node that holds all of a level, or of a raster, and nothing else: its group, or the array
   where the group has other rasters. NULL without memory. */
ZB_API char *zb_level_home(zb_hierarchy *hierarchy, const char *level);

/* True for the name of a level's group in the first form: "ovr_2x", "ovr_16x_slope". */
ZB_API bool zb_name_is_level(const char *name);

/* Of a group that has the name or the attribute of a made level, or of one in the making, and
   inside an array called like the raster that this leads to: the path of that raster, relative to
   the group that both are in. NULL for all else. children: of that group. */
ZB_API char *zb_level_raster_of(const zb_children *children, const zb_node *group);

/* Names of nodes in the making, which move to their places when they are whole:
   "path.<process>-<number>.zarr3-new". NULL without memory. */
ZB_API char *zb_aside_name(const char *path);
ZB_API bool zb_name_is_aside(const char *name);
/* True if the process that made it is no more. */
ZB_API bool zb_aside_is_abandoned(const char *name);

/* ---- Coordinates ---------------------------------------------------------------------------- */

/* True if the values of a coordinate of this type lie at equal distances, within what the type can
   express: *first is the first one, *step the distance. One value alone has none. */
ZB_API bool zb_coordinate_is_regular(const double *values, uint64_t count, zb_dtype dtype,
                                     double *first, double *step);

#ifdef __cplusplus
}
#endif
#endif
