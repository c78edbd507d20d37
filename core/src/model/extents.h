/* SPDX-License-Identifier: MIT */
/* A list of extents in JSON: the shape of an array or of a chunk. */
#ifndef ZB_MODEL_EXTENTS_H
#define ZB_MODEL_EXTENTS_H

#include "model/runs.h"
#include "zarrbridge/json.h"

/* Reads a list, whose length the caller has looked at, into out: each extent at least `least`
   (ZB_EFORMAT) and below 2^63 (ZB_ELIMIT). `what` names the list in messages. */
enum zb_code zb__extents_parse(const zb_json *list, const char *what, uint64_t least, uint64_t *out,
                               zb_error *err);

/*
 * The lists of extents of a `rectilinear` grid (`chunk_shapes`), and of the draft `rectangular`
 * from which it came (`chunk_shape`). For each dimension there is an integer, which divides all of
 * it, or a list of integers and of runs [extent, count].
 */

/* Reads one list for each dimension. extent[d] gets the integer, or 0 where runs[d] gets a list;
   runs must be zeros. `what` names the member in messages. */
enum zb_code zb__chunk_shapes_parse(const zb_json *value, const char *what, bool has_counts,
                                    uint32_t ndim, uint64_t *extent, zb__runs *runs, zb_error *err);

/* Writes the `rectilinear` grid: for a dimension without runs its extent, else the list, in which
   single cells are integers and others [extent, count]. */
void zb__rectilinear_print(zb_json_writer *writer, uint32_t ndim, const uint64_t *extent,
                           const zb__runs *runs);

#endif
