/* SPDX-License-Identifier: MIT */
/*
 * The lists of extents of a `rectilinear` grid (`chunk_shapes`), and of the draft `rectangular`
 * from which it came (`chunk_shape`). For each dimension there is an integer, which divides all of
 * it, or a list of integers and of runs [extent, count].
 */
#ifndef ZB_MODEL_RECTILINEAR_H
#define ZB_MODEL_RECTILINEAR_H

#include "model/runs.h"
#include "zarrbridge/json.h"

/* Reads one list for each dimension. extent[d] gets the integer, or 0 where runs[d] gets a list;
   runs must be zeros. `what` names the member in messages. */
enum zb_code zb__chunk_shapes_parse(const zb_json *value, const char *what, bool has_counts,
                                    uint32_t ndim, uint64_t *extent, zb__runs *runs, zb_error *err);

/* Writes the `rectilinear` grid: for a dimension without runs its extent, else the list, in which
   single cells are integers and others [extent, count]. */
void zb__rectilinear_print(zb_json_writer *writer, uint32_t ndim, const uint64_t *extent,
                           const zb__runs *runs);

#endif
