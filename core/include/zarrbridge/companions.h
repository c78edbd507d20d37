/* SPDX-License-Identifier: MIT */
/*
 * What belongs to an array alone: its companions are the levels that were made of it
 * (multiscales.h), and its mask. They go with it; and as they are known by its name, it keeps that
 * while it has them. The GDAL driver, the HDF5 connector and C programs go by these calls.
 *
 * What goes is marked on both sides: the list, or the raster, names the companion, and that says in
 * its GDAL extension whose it is (ZB_GDAL_LEVEL_OF, ZB_GDAL_MASK_OF). So no attribute of another
 * program, nor a copy, takes data along.
 *
 * All calls may be made from any thread.
 */
#ifndef ZARRBRIDGE_COMPANIONS_H
#define ZARRBRIDGE_COMPANIONS_H

#include "zarrbridge/multiscales.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a caller deletes a node, by its path. ZB_ENOTFOUND is as good as ZB_OK. */
typedef struct zb_deleter {
    enum zb_code (*delete_node)(void *context, const char *path, zb_error *err);
    void *context;
} zb_deleter;

/* To be called before a node is deleted. Deletes the companions of an array, and those of the
   arrays in a group that lie outside of it; then what the list of levels says of them. Stay: what
   does not say that it is the array's, and a mask that another array beside has, too.
   deleter: NULL for zb_node_delete. *listed (may be NULL): the path of the group whose list has
   changed, for the caller to free; NULL for none, also after an error. Change errors. */
ZB_API enum zb_code zb_companions_delete(const zb_node *node, const zb_deleter *deleter,
                                         char **listed, zb_error *err);

/* To be called before a node moves. ZB_EUNSUPPORTED, with a message that says what to do, for an
   array with levels, a node that is on a list of levels above, and an array with a mask that moves
   to another group. Store errors. */
ZB_API enum zb_code zb_companions_may_move(const zb_node *node, const char *to, zb_error *err);

/* To be called before a node moves within its group, when it may: its mask says the name that it
   will have. Change errors. */
ZB_API enum zb_code zb_companions_follow(const zb_node *node, const char *to, zb_error *err);

/* The first two reasons alone, for other changes that levels do not follow: "/path has overviews
   <overviews>; ...", "/path is in the list of levels of a group above, <listed>: ...". listed: NULL
   where that is no reason. */
ZB_API enum zb_code zb_companions_refuse(const zb_node *node, const char *overviews,
                                         const char *listed, zb_error *err);

#ifdef __cplusplus
}
#endif
#endif
