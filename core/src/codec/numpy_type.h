/* SPDX-License-Identifier: MIT */
/* numpy's names of data types, which stand in the configurations of numcodecs. */
#ifndef ZB_CODEC_NUMPY_TYPE_H
#define ZB_CODEC_NUMPY_TYPE_H

#include "zarrbridge/dtype.h"
#include "zarrbridge/json.h"

/* Reads the member of that name: "<f4", "|u1", "float32". Only numbers in the byte order of the
   host are taken, since zarr-python, too, reads no other in a codec. A missing or null member
   leaves *out as it is. */
enum zb_code zb__numpy_type(const zb_json *configuration, const char *name, zb_dtype *out,
                            zb_error *err);

/* The same for a member that says what the codec is given, which must be `expected`, or an integer
   of another sign. */
enum zb_code zb__numpy_type_check(const zb_json *configuration, const char *name, zb_dtype expected,
                                  zb_error *err);

#endif
