/* SPDX-License-Identifier: MIT */
/*
 * The memory of all writers of the process, in three accounts against write_cache_bytes:
 *
 * - What *waits* stays between two calls: buffered chunks and idle memory. A writer that finds it
 *   above the budget stores its own buffered chunks until it is not.
 * - *Idle* memory is the part of that which is kept only to spare the next chunks the first touch
 *   of fresh pages: at most a quarter of the budget, in all writers together, since no writer can
 *   take the memory of another.
 * - *Work* is the further memory that encoding and merging need while they run. It is reserved
 *   before it is allocated: all that waits and all work together stay within one and a half
 *   budgets. A reservation of more than that by itself is granted when no other work runs.
 *
 * No deadlock: a thread that waits for a reservation holds no lock and no other reservation for the
 * same work; so each thread with a granted one can finish. (A writer that works while the
 * hierarchy's lock is held waits for others that never ask for that lock.)
 */
#ifndef ZB_WRITE_BUDGET_H
#define ZB_WRITE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes that wait in all writers of the process; adds and returns the new sum. */
uint64_t zb__waiting_bytes(int64_t change);

/* True if that many bytes more may be kept idle. They count as idle then, until zb__idle_end. (The
   caller decides whether they count as waiting.) */
bool zb__idle_begin(uint64_t bytes);
void zb__idle_end(uint64_t bytes);

/* Reserves memory for work; waits for other work to end when it has to. */
void zb__work_begin(uint64_t bytes);
/* Likewise, for a thread that may not wait: false when the memory cannot be had now. */
bool zb__work_try(uint64_t bytes);
/* Gives a reservation back, or a part of it. `whole`: it was the reservation's last part. */
void zb__work_end(uint64_t bytes, bool whole);

/* Bytes reserved at present. */
uint64_t zb__work_bytes(void);

/* a * b, or a number beyond every budget. */
static inline uint64_t zb__work_product(uint64_t a, uint64_t b) {
    uint64_t out;
    return __builtin_mul_overflow(a, b, &out) || out > UINT64_MAX / 4 ? UINT64_MAX / 4 : out;
}

#endif
