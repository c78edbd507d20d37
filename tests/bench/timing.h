/* SPDX-License-Identifier: MIT */
/* The common part of both benchmark programs: a clock, a line of output, blocks of memory,
   opening. */
#ifndef ZB_BENCH_TIMING_H
#define ZB_BENCH_TIMING_H

#include "zarrbridge/zarrbridge.h"

double now_ms(void);
double cpu_ms(void); /* of all threads of this process together */

/* The least of several times. */
typedef struct least {
    double ms, cpu;
} least;
#define LEAST_NONE ((least){.ms = 1e30, .cpu = 1e30})

/* Times one call: begin, the call, end, which keeps the lesser ones. */
typedef struct moment {
    double ms, cpu;
} moment;
moment moment_now(void);
void moment_end(moment start, least *kept);

/* Ends the program with the error's message unless code is ZB_OK. */
void check(enum zb_code code, const zb_error *err);

/* Prints {"peer", "dataset", "what", "ms", "cpu", "extra"}; extra is memory in bytes, left out when
 * negative. */
void report(const char *peer, const char *dataset, const char *what, least time, int64_t extra);

/* A fresh block as numpy makes one: from malloc, so not aligned to a cache line, with huge pages
   asked for and no page touched. */
void *new_block(size_t bytes);

/* The array at the root of a store directory; it keeps the store. *bytes is its decoded size,
   without the bytes that elements of variable length point at. */
zb_node *open_array(const char *directory, size_t *bytes);

/* Threads that a calibration may use: as many as the core. */
unsigned thread_count(void);

/* The last part of a path. */
const char *name_of(const char *directory);

#endif
