/* SPDX-License-Identifier: MIT */
/* What types are, beyond zarrbridge/dtype.h, and types in documents. */
#ifndef ZB_TYPES_DTYPE_H
#define ZB_TYPES_DTYPE_H

#include "util/arena.h"
#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* True if an element is a zb_slice. */
static inline bool zb__is_slice(zb_dtype dtype) {
    return dtype.kind == ZB_KIND_STRING || dtype.kind == ZB_KIND_BYTES;
}

/* True if the bytes of an element, or of one of its fields, have an order. */
bool zb__dtype_has_order(zb_dtype dtype);

/* Is it a bool, or a struct with one? Their bytes are made 0 or 1 on every way. */
bool zb__dtype_holds_bool(zb_dtype dtype);

/* Has a struct all fields of the other, by their names, and structs in it likewise? True of other
   types. */
bool zb__dtype_has_fields(zb_dtype dtype, zb_dtype other);

/* The name without detail, which is static; NULL for raw bytes and sizes that no type has. */
const char *zb__dtype_own_name(zb_dtype dtype);

/* Parses a `data_type`. Names that we do not know are ZB_EUNSUPPORTED. Details are made in
   `memory`; names of fields stay in the document. */
enum zb_code zb__dtype_parse(const zb_json *value, zb__arena *memory, zb_dtype *out, zb_error *err);

/* Can a document say it? Else ZB_EINVAL, or ZB_EUNSUPPORTED for a struct with fields of variable
   length. */
enum zb_code zb__dtype_check(zb_dtype dtype, zb_error *err);

/* Writes a `data_type` that has been checked: of types of several names the one that most readers
   know. */
void zb__dtype_write(zb_json_writer *writer, zb_dtype dtype);

#endif
