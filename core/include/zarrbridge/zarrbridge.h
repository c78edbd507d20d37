/* SPDX-License-Identifier: MIT */
/*
 * zarrbridge: read Zarr v3 stores from C.
 *
 *     zb_error err;
 *     zb_hierarchy *hierarchy;
 *     zb_node *node;
 *     if (zb_hierarchy_open("x.zarr", &hierarchy, &err) ||
 *         zb_node_open(hierarchy, "temp", &node, &err))
 *         die(err.message);
 *     zb_read read = {.node = node, .start = start, .count = count,
 *                     .view = {.data = doubles, .dtype = {ZB_KIND_FLOAT, sizeof *doubles}}};
 *     if (zb_array_read(&read, 1, &err))
 *         die(err.message);
 *
 * The first things to know:
 * - Hierarchies, nodes and JSON documents are reference-counted, and any number of threads may use
 *   them at once. A node sees the metadata that it was opened with; its data
 *   are read anew at each call (caches are revalidated, so another process's rewrite is seen).
 * - A missing chunk reads as the fill value. A damaged one is an error, never fill values; so is
 *   reading an array that has been deleted, moved or made anew since its node was opened.
 * - All content of a store is bounded by zb_limits.
 * - The library never prints, never exits, and starts its threads at the first large read.
 *
 * The format is the Zarr core specification, version 3.1 (which 3.0 documents satisfy as well).
 */
#ifndef ZARRBRIDGE_ZARRBRIDGE_H
#define ZARRBRIDGE_ZARRBRIDGE_H

#include "zarrbridge/array.h"
#include "zarrbridge/change.h"
#include "zarrbridge/check.h"
#include "zarrbridge/companions.h"
#include "zarrbridge/conventions.h"
#include "zarrbridge/door.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/encoded.h"
#include "zarrbridge/error.h"
#include "zarrbridge/file_shard.h"
#include "zarrbridge/hdf5_extension.h"
#include "zarrbridge/hidden_chunks.h"
#include "zarrbridge/hierarchy.h"
#include "zarrbridge/json.h"
#include "zarrbridge/limits.h"
#include "zarrbridge/location.h"
#include "zarrbridge/moved.h"
#include "zarrbridge/multiscales.h"
#include "zarrbridge/node.h"
#include "zarrbridge/node_edit.h"
#include "zarrbridge/pyramid.h"
#include "zarrbridge/read.h"
#include "zarrbridge/stop.h"
#include "zarrbridge/values.h"
#include "zarrbridge/version.h"
#include "zarrbridge/write.h"

#endif
