/* SPDX-License-Identifier: MIT */
/* Complex integers, which Zarr has no type of: structs of a real and an imaginary part, two
   integers of 16 or 32 bits. New ones have the fields `re` and `im`; `real` and `imag`, `r` and `i`
   are known, too. */
#ifndef ZARR3_PAIRS_H
#define ZARR3_PAIRS_H

#include "base/compat.h"
#include "zarrbridge/zarrbridge.h"

namespace zarr3 {

/* The GDAL type of such structs; GDT_Unknown for any other type. */
GDALDataType pair_type(zb_dtype dtype);

/* A pair in memory as GDAL has it, with the same names of fields. Its detail is static, and so
   outlives the node that `stored` came from. */
zb_dtype pair_in_memory(zb_dtype stored);

/* That of a new array of GDT_CInt16 or GDT_CInt32; size 0 for other types. */
zb_dtype new_pair(GDALDataType type);

} // namespace zarr3

#endif
