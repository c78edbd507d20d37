/* SPDX-License-Identifier: MIT */
/*
 * The way of a store that answers while its caller waits, in microseconds as a rule: the stored
 * chunks of a bundle are opened and expanded by the pool, and then the ranged reads of all of them
 * run on it, each of which reads its bytes itself.
 */
#ifndef ZB_READ_AT_ONCE_H
#define ZB_READ_AT_ONCE_H

#include "read/leaf.h"

/* Reads a bundle of stored chunks of one store once. ranged reads: empty room to work in, for
   bundle after bundle. */
enum zb_code zb__at_once_run(zb__stored_chunk *chunks, size_t count,
                             zb__ranged_read_list *ranged_reads, zb_error *err);

#endif
