/* SPDX-License-Identifier: MIT */
/* The resident memory of this process, in bytes. */
#ifndef ZB_BENCH_MEMORY_H
#define ZB_BENCH_MEMORY_H

#include <stdint.h>

int64_t memory_now(void);
void memory_reset_peak(void); /* the peak is measured from here on */
int64_t memory_peak(void);

#endif
