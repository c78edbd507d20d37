/* SPDX-License-Identifier: MIT */
/* CRC-32C (Castagnoli), the checksum of shard indexes and of the crc32c codec. */
#ifndef ZB_UTIL_CRC32C_H
#define ZB_UTIL_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The CRC of data[0..size), by the fastest way that this processor has. Any thread. */
uint32_t zb__crc32c(const void *data, size_t size);

/* The same by tables alone, whatever the processor has: the fallback, under a name that tests can
   call where it would not be chosen. */
uint32_t zb__crc32c_portable(const void *data, size_t size);

#endif
