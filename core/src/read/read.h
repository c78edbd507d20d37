/* SPDX-License-Identifier: MIT */
#ifndef ZB_READ_READ_H
#define ZB_READ_READ_H

#include "zarrbridge/read.h"

/* As zb_array_read, for a writer that holds the locks of the chunks that it reads: past the caches,
   and from the home of the array alone, whatever comes to its path meanwhile. */
enum zb_code zb__array_read_fresh(const zb_read *reads, size_t count, zb_error *err);

#endif
