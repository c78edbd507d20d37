/* SPDX-License-Identifier: MIT */
#ifndef ZB_READ_READ_H
#define ZB_READ_READ_H

#include "zarrbridge/read.h"

/* As zb_array_read, for a writer that holds the locks of what it reads: past the caches, and
   without asking whether the array is still the same. */
enum zb_code zb__array_read_fresh(const zb_read *reads, size_t count, zb_error *err);

#endif
