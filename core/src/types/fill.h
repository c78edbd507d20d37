/* SPDX-License-Identifier: MIT */
/*
 * Fill values in metadata.
 *
 * Every JSON form is read exactly: integers from their digits, floats rounded once to the type's
 * own width, NaNs with the bits that are written. Beyond the specification, forms that writers are
 * known to produce or that other readers take are taken: integers as 7.0 or "7", booleans as 0 and
 * 1, complex numbers as one real number, "+Infinity", the bare tokens NaN, Infinity and -Infinity,
 * and null or no value at all (zero). Not taken are forms that readers disagree about, such as
 * hexadecimal strings of another length than the type's.
 *
 * They are written in the forms of the core specification only, which read back to the same bits. A
 * NaN other than the canonical one needs the hexadecimal form, which zarr-python 3.0 does not read;
 * no other form is exact.
 */
#ifndef ZB_TYPES_FILL_H
#define ZB_TYPES_FILL_H

#include "util/arena.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* Parses a `fill_value` into out, dtype.size bytes in host byte order. NULL (no such member) and
   null give zeros and *is_default true. A string's bytes stay in the document, other bytes that it
   points at are made in `memory`. *is_packed: the fill value of a struct is the element as chunks
   have it, in whose byte order it still is. What is written on failure does not matter. */
typedef struct zb__fill_form {
    bool is_default, is_packed;
} zb__fill_form;
enum zb_code zb__fill_parse(const zb_json *value, zb_dtype dtype, zb__arena *memory, void *out,
                            zb__fill_form *form, zb_error *err);

/* Can a document hold the element as a fill value? Not some texts. */
bool zb__fill_fits(zb_dtype dtype, const void *element);

/* Writes an element that fits, in host byte order. */
void zb__fill_print(zb_json_writer *writer, zb_dtype dtype, const void *element);

#endif
